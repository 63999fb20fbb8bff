"""``graphcodec inspect``: a document as a tree, without decoding it."""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from attrs import frozen
from rich.text import Text

from graphcodec import _formats
from graphcodec.cli._survey import Survey, survey
from graphcodec.cli._text import console, counted, cut, size
from graphcodec.cli._tree import MOST_ITEMS, Line, Tree, headline, located
from graphcodec.errors import GraphCodecError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

_DEPTH: Final = 2
_STDIN: Final = "-"
_WIDEST_LEAD: Final = 30


@frozen(kw_only=True)
class _Inspected:
    """A document that was read.

    Attributes:
        name: What to call it.
        bytes: Its size.
        binary: Whether it is MessagePack.
        wire: Its outermost map.
        survey: What was counted in it.
    """

    name: str
    bytes: int
    binary: bool
    wire: dict[str, Any]
    survey: Survey

    @property
    def nodes(self) -> list[Any]:
        """The nodes of the document."""
        nodes: list[Any] = self.wire.get("nodes", [])
        return nodes

    @property
    def format(self) -> str:
        """The format, in one word."""
        return "msgpack" if self.binary else "json"


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option(
    "--depth",
    type=click.IntRange(min=0),
    default=_DEPTH,
    show_default=True,
    help="How many levels to unfold.",
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON for a script.")
def inspect(file: str, depth: int, *, as_json: bool) -> None:
    """Show what is in a document, as a tree.

    FILE holds JSON or MessagePack; "-" is the standard input. Nothing is decoded and no
    handle is opened, so any document can be looked at, whoever wrote it.
    """
    document = _read(file)
    tree = Tree(document.nodes, depth=depth, binary=document.binary)
    if as_json:
        click.echo(json.dumps(_facts(document, tree)))
    else:
        _show(document, tree)


def _read(file: str) -> _Inspected:
    """Return the document in *file*.

    Raises:
        UndecodableValueError: If it is none.
    """
    data = sys.stdin.buffer.read() if file == _STDIN else Path(file).read_bytes()
    name = "standard input" if file == _STDIN else file
    try:
        wire = _formats.read(data)
    except GraphCodecError as exc:
        exc.message = f"{name}: {exc.message}"
        raise
    binary = _formats.is_binary(data)
    return _Inspected(
        name=name, bytes=len(data), binary=binary, wire=wire, survey=survey(wire)
    )


# For people


def _show(document: _Inspected, tree: Tree) -> None:
    out = console()
    _head(out, document)
    out.print()
    _lines(out, tree.lines(document.wire["root"]))
    for number, node in islice(enumerate(document.nodes), MOST_ITEMS):
        out.print()
        uses = counted(document.survey.uses[number], "reference")
        place = document.survey.places[number]
        _row(out, Text(f"node {number}  {uses}, first at {place}", "dim"), None)
        _lines(out, tree.lines(node, f"$.nodes[{number}]"))
    _rest(out, len(document.nodes), "node")
    _handles(out, document.survey)
    for path in islice(document.survey.dangling, MOST_ITEMS):
        _row(out, Text(f"{path} refers to a node that is not there", "red"), None)


def _head(out: Console, document: _Inspected) -> None:
    name = "MessagePack" if document.binary else "JSON"
    objects = counted(document.survey.tags.total(), "object")
    facts = [name, objects, counted(len(document.nodes), "node")]
    facts.append(counted(len(document.survey.handles), "handle"))
    text = Text(cut(Path(document.name).name, out.width // 2), "bold")
    text.append(f"  {' · '.join(facts)}", "dim")
    _row(out, text, document.bytes)


def _lines(out: Console, lines: Iterator[Line]) -> None:
    for line in lines:
        text = Text(_lead(line.lead), "dim")
        if line.label:
            text.append(f"{line.label} ", "cyan" if line.label[0] != "[" else "dim")
        text.append(line.text, _style(line.text))
        _row(out, text, line.bytes)


def _lead(lead: str) -> str:
    """Return the branches before a line, folded where they would fill it."""
    if len(lead) <= _WIDEST_LEAD:
        return lead
    levels = (len(lead) - _WIDEST_LEAD) // 3 + 2
    return f"… {levels} levels … {lead[-(_WIDEST_LEAD - 15) :]}"


def _style(text: str) -> str:
    if text.startswith("…"):
        return "dim"
    return "green" if text.startswith('"') else "yellow" if text[:1] == "→" else ""


def _row(out: Console, text: Text, count: int | None) -> None:
    """Print one line, with a size at its right end."""
    shown = "" if count is None else f"  {size(count)}"
    text.truncate(out.width - len(shown), overflow="ellipsis", pad=bool(shown))
    text.append(shown, "dim")
    out.print(text, no_wrap=True, overflow="ignore", crop=False)


def _handles(out: Console, found: Survey) -> None:
    if not found.handles:
        return
    out.print()
    _row(out, Text("handles", "bold"), None)
    for handle in islice(found.handles, MOST_ITEMS):
        text = Text(f"{cut(handle.tag, 40)}  ", "magenta").append(
            located(handle.locator), ""
        )
        known = handle.locator.get("size")
        _row(out, text, known if type(known) is int else None)
        _row(out, Text(f"  {handle.path}", "dim"), None)
    _rest(out, len(found.handles), "handle")


def _rest(out: Console, count: int, noun: str) -> None:
    if count > MOST_ITEMS:
        out.print(f"… {counted(count - MOST_ITEMS, f'more {noun}')}", style="dim")


# For scripts


def _facts(document: _Inspected, tree: Tree) -> dict[str, Any]:
    found = document.survey
    nodes = [
        {"n": n, "uses": found.uses[n], "path": found.places[n], "is": headline(node)}
        for n, node in enumerate(document.nodes)
    ]
    handles = [
        {"path": handle.path, "tag": handle.tag, "where": located(handle.locator)}
        for handle in found.handles
    ]
    return {
        "file": document.name,
        "format": document.format,
        "version": document.wire["graphcodec"],
        "bytes": document.bytes,
        "root": headline(document.wire["root"]),
        "tags": dict(found.tags.most_common()),
        "references": found.uses.total(),
        "nodes": nodes,
        "handles": handles,
        "dangling": found.dangling,
        "parts": [
            {"path": line.path, "is": line.text, "bytes": line.bytes}
            for line in tree.lines(document.wire["root"])
            if line.path
        ],
    }
