"""``graphcodec inspect``: a document as a tree, without decoding it."""

from __future__ import annotations

import json
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import click
from attrs import frozen
from rich.text import Text

from graphcodec import _formats
from graphcodec._documents._classless import (
    READER,
    Finder,
    parse_path,
    tag_of,
)
from graphcodec._documents._survey import Survey, survey, survey_of
from graphcodec._paths import Step, Trail, path_of
from graphcodec.cli._files import (
    DOCUMENT,
    about,
    busy,
    codec_option,
    read_bytes,
    title,
)
from graphcodec.cli._search import Match, compiled, matching, of_type
from graphcodec.cli._talk import Talk
from graphcodec.cli._text import console, counted, cut, size
from graphcodec.cli._tree import MOST_ITEMS, Line, Tree, headline, located, scalar
from graphcodec.codec import Codec
from graphcodec.errors import GraphCodecError, InvalidValueError
from graphcodec.view._binding import layers, opened
from graphcodec.view._locators import shown_part

if TYPE_CHECKING:
    from collections.abc import Iterator

    import regex
    from rich.console import Console

_DEPTH: Final = 2
_MOST_ITEMS_SAID: Final = 100
_MOST_MATCHES: Final = 200
_WIDEST_LEAD: Final = 30


@frozen(kw_only=True)
class Inspected:
    """A document that was read.

    Attributes:
        name: What to call it.
        bytes: Its size as it arrived.
        layers: The layers of its frame.
        binary: Whether it is MessagePack.
        wire: Its outermost map.
        survey: What was counted in the part that is looked at.
        part: That part; the root if nothing else was asked for.
        trail: Where it is.
    """

    name: str
    bytes: int
    layers: tuple[str, ...]
    binary: bool
    wire: dict[str, Any]
    survey: Survey
    part: Any
    trail: Trail

    @property
    def path(self) -> str:
        """Where the part is that is looked at."""
        return path_of(self.trail)

    @property
    def nodes(self) -> list[Any]:
        """The nodes of the document."""
        nodes: list[Any] = self.wire.get("nodes", [])
        return nodes

    @property
    def format(self) -> Literal["json", "msgpack"]:
        """The format, in one word."""
        return "msgpack" if self.binary else "json"


def _path(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[Step, ...]:
    try:
        return parse_path(value) if value else ()
    except InvalidValueError as exc:
        raise click.BadParameter(str(exc), ctx, param) from None


def _pattern(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> regex.Pattern[str] | None:
    try:
        return None if value is None else compiled(value)
    except InvalidValueError as exc:
        raise click.BadParameter(str(exc), ctx, param) from None


@click.command(short_help="Show a document: what was said, or a tree.")
@click.argument("file", type=DOCUMENT)
@click.option(
    "--depth",
    type=click.IntRange(min=0),
    help=f"Show a tree, unfolded to this level; a conversation is shown as it was said"
    f" otherwise, all else to level {_DEPTH}.",
)
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=_MOST_ITEMS_SAID,
    show_default=True,
    help="How many items of a conversation to show, half of them from its end.",
)
@click.option(
    "--path",
    metavar="PATH",
    callback=_path,
    help="Look at one part alone: $.items[3].attachments[0], as errors write it.",
)
@click.option(
    "--type", "tag", metavar="TAG", help="List the objects of a tag with their paths."
)
@click.option(
    "--grep",
    metavar="REGEX",
    callback=_pattern,
    help="List the texts in which a pattern is found; (?i) at its start ignores case.",
)
@codec_option
@click.option(
    "--context", default="", help="What a sealed document is bound to; UTF-8."
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON for a script.")
def inspect(
    file: str,
    *,
    depth: int | None,
    most: int,
    path: tuple[Step, ...],
    tag: str | None,
    grep: regex.Pattern[str] | None,
    codec: Codec | None,
    context: str,
    as_json: bool,
) -> None:
    """Show what is in a document: what was said in a conversation, or a tree.

    FILE holds JSON or MessagePack, compressed or not; "-" is the standard input.
    Nothing is decoded and no handle is opened, so any document can be looked at,
    whoever wrote it.
    """
    if tag is not None and grep is not None:
        msg = "--type and --grep exclude each other"
        raise click.UsageError(msg)
    document = _read(file, path, codec, context.encode())
    levels = _DEPTH if depth is None else depth
    tree = Tree(document.nodes, depth=levels, binary=document.binary)
    found = _sought(document, tag, grep)
    if as_json:
        told = facts(document, tree) if found is None else _hits(document, tree, found)
        click.echo(json.dumps(told))
    elif found is not None:
        _list(document, tag, tree, found)
    elif depth is None and not path and (talk := Talk(document.wire)).is_one:
        _said(document, talk, most, tree)
    else:
        show(document, tree)


def _sought(
    document: Inspected, tag: str | None, grep: regex.Pattern[str] | None
) -> list[Match] | None:
    """Return what was sought in the document, None if nothing was."""
    part, nodes, trail = document.part, document.nodes, document.trail
    if tag is not None:
        return list(of_type(part, nodes, tag, trail))
    if grep is not None:
        return list(matching(part, nodes, grep, trail))
    return None


def _read(
    file: str, path: tuple[Step, ...], codec: Codec | None, context: bytes
) -> Inspected:
    """Return the document in *file*.

    Raises:
        UndecodableValueError: If it is none.
        InvalidValueError: If it has nothing at *path*.
    """
    data = read_bytes(file)
    try:
        return inspected(title(file), data, path, codec=codec, context=context)
    except GraphCodecError as exc:
        raise about(exc, file) from None


def inspected(
    name: str,
    data: bytes,
    path: tuple[Step, ...] = (),
    *,
    codec: Codec | None = None,
    context: bytes = b"",
) -> Inspected:
    """Return what *data* holds.

    Args:
        name: What to call it.
        data: A document.
        path: Where the part is that is looked at.
        codec: Whose keys open a sealed document.
        context: What it is bound to.

    Raises:
        UndecodableValueError: If it is no document.
        InvalidValueError: If it has nothing at *path*.
    """
    with busy([data], "reading"):
        wire, binary = opened(data, codec or Codec(), context)
        part = _part(wire, path)
        found = survey(wire) if not path else survey_of(part, wire, _trail(path))
    return Inspected(
        name=name,
        bytes=len(data),
        layers=layers(data),
        binary=binary,
        wire=wire,
        survey=found,
        part=part,
        trail=_trail(path),
    )


def _part(wire: dict[str, Any], path: tuple[Step, ...]) -> Any:
    finder = Finder(wire)
    part = finder.value(path)
    holders = [holder for holder, _ in finder.chain(path)]
    # The locator of a handle, or what is in it.
    hides = any(tag_of(holder) == READER for holder in holders)
    return shown_part(part) if hides else part


def _trail(path: tuple[Step, ...]) -> Trail:
    trail: Trail = None
    for step in path:
        trail = (trail, step)
    return trail


# For people


def show(document: Inspected, tree: Tree) -> None:
    """Show a document to people.

    Args:
        document: The document.
        tree: What its lines come from.
    """
    out = console()
    _head(out, document)
    out.print()
    _lines(out, tree.lines(document.part, document.path))
    # Of a part, the nodes that are reached from it.
    numbers = [n for n in range(len(document.nodes)) if n in document.survey.places]
    for number in numbers[:MOST_ITEMS]:
        node = document.nodes[number]
        out.print()
        uses = counted(document.survey.uses[number], "reference")
        place = document.survey.places[number]
        _row(out, Text(f"node {number}  {uses}, first at {place}", "dim"), None)
        _lines(out, tree.lines(node, f"$.nodes[{number}]"))
    _rest(out, len(numbers), "node")
    _handles(out, document.survey)
    for path in islice(document.survey.dangling, MOST_ITEMS):
        _row(out, Text(f"{path} refers to a node that is not there", "red"), None)


def _said(document: Inspected, talk: Talk, most: int, tree: Tree) -> None:
    """Show what was said, and then where the bytes are."""
    out = console()
    _head(out, document)
    talk.show(out, most)
    out.print()
    _sizes(out, document, talk)
    _shared(out, document, tree)
    _handles(out, document.survey)
    for path in islice(document.survey.dangling, MOST_ITEMS):
        _row(out, Text(f"{path} refers to a node that is not there", "red"), None)


def _sizes(out: Console, document: Inspected, talk: Talk) -> None:
    """Show what takes how much room, the largest first."""
    encode = _formats.encoder(document.format)
    sizes = Counter[str]()
    for item in talk.items:
        sizes[tag_of(item) or "others"] += len(encode(item))
    for name, part in talk.whole.items():
        if name not in ("$type", "id", "items") and part not in (None, [], ()):
            sizes[cut(str(name), 40)] += len(encode(part))
    if document.nodes:
        sizes["shared"] += len(encode(document.nodes))
    _row(out, Text("sizes", "bold"), None)
    for name, count in sizes.most_common(MOST_ITEMS):
        _row(out, Text(name), count)


def _shared(out: Console, document: Inspected, tree: Tree) -> None:
    """Show what is met more than once, each on a line."""
    numbers = [n for n in range(len(document.nodes)) if n in document.survey.places]
    if not numbers:
        return
    out.print()
    _row(out, Text("shared", "bold"), None)
    for number in numbers[:MOST_ITEMS]:
        uses = counted(document.survey.uses[number], "reference")
        text = Text(tree.brief(document.nodes[number]))
        text.truncate(max(20, out.width - len(uses) - 2), overflow="ellipsis")
        _row(out, text.append(f"  {uses}", "dim"), None)
    _rest(out, len(numbers), "node")


def _head(out: Console, document: Inspected) -> None:
    name = "MessagePack" if document.binary else "JSON"
    objects = counted(document.survey.tags.total(), "object")
    facts = [
        name,
        *document.layers,
        objects,
        counted(len(document.survey.places), "node"),
    ]
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


def _list(document: Inspected, tag: str | None, tree: Tree, found: list[Match]) -> None:
    out = console()
    for match in found[:_MOST_MATCHES]:
        _row(out, Text(cut(match.path, 400), "cyan"), None)
        shown = scalar(match.excerpt) if match.excerpt else tree.brief(match.value)
        _row(out, Text("    ").append(shown), None)
    if len(found) > _MOST_MATCHES:
        out.print(f"… {len(found) - _MOST_MATCHES:,} more", style="dim")
    if not found:
        out.print(_nothing(document, tag), style="dim")


def _nothing(document: Inspected, tag: str | None) -> str:
    """Return what to say if nothing was found: which tags there are, if that helps."""
    if tag is None:
        return "nothing is found"
    there = [cut(name, 60) for name, _ in document.survey.tags.most_common(MOST_ITEMS)]
    return f"nothing has this tag; there are {', '.join(there) or 'none'}"


# For scripts


def _hits(document: Inspected, tree: Tree, found: list[Match]) -> dict[str, Any]:
    matches = [
        {"path": match.path, "is": match.excerpt or tree.brief(match.value)}
        for match in found
    ]
    return {"file": document.name, "path": document.path, "matches": matches}


def facts(document: Inspected, tree: Tree) -> dict[str, Any]:
    """Return a document for a script.

    Args:
        document: The document.
        tree: What its lines come from.
    """
    found = document.survey
    nodes = [
        {"n": n, "uses": found.uses[n], "path": found.places[n], "is": headline(node)}
        for n, node in enumerate(document.nodes)
        if n in found.places
    ]
    handles = [
        {"path": handle.path, "tag": handle.tag, "where": located(handle.locator)}
        for handle in found.handles
    ]
    return {
        "file": document.name,
        "format": document.format,
        "layers": document.layers,
        "version": document.wire["graphcodec"],
        "bytes": document.bytes,
        "path": document.path,
        "root": headline(document.part),
        "tags": dict(found.tags.most_common()),
        "references": found.uses.total(),
        "nodes": nodes,
        "handles": handles,
        "dangling": found.dangling,
        "parts": [
            {"path": line.path, "is": line.text, "bytes": line.bytes}
            for line in tree.lines(document.part, document.path)
            if line.path
        ],
    }
