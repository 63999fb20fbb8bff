"""``graphcodec schema``: the wire as a JSON Schema, and what a change to it breaks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import attrs
import click
from rich.table import Table
from rich.text import Text

from graphcodec._schemas._diff import Change, compare
from graphcodec.cli._files import (
    DOCUMENT,
    STDIN,
    about,
    codec_option,
    once,
    read_bytes,
    title,
    write_bytes,
)
from graphcodec.cli._text import console, counted
from graphcodec.codec import Codec
from graphcodec.errors import InvalidValueError

if TYPE_CHECKING:
    from graphcodec._schemas._parts import Schema

_STYLES: Final = {"error": "red", "warning": "yellow", "note": "dim"}


@click.group(invoke_without_command=True)
@click.option("--type", "tag", metavar="TAG", help="What stands at the root.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True),
    default=STDIN,
    help="A file for the schema.",
)
@codec_option
@click.pass_context
def schema(
    ctx: click.Context, tag: str | None, output: str, codec: Codec | None
) -> int | None:
    """Write the JSON Schema of what a codec reads.

    It is for validators of other languages, and for "schema diff": keep it beside the
    code, and let a build compare it with what the classes say now.
    """
    if ctx.invoked_subcommand is not None:
        return None
    codec = codec or Codec()
    found = codec.json_schema(_class(codec, tag) if tag else None)
    text = json.dumps(found, indent=2, ensure_ascii=False)
    write_bytes(output, f"{text}\n".encode())
    return 0


def _class(codec: Codec, tag: str) -> type:
    shape = codec.shape_of(tag)
    if shape is None:
        msg = f"the codec knows no tag {tag!r}; --codec names another one"
        raise click.BadParameter(msg, param_hint="--type")
    return shape.cls


@schema.command()
@click.argument("old", type=DOCUMENT, metavar="OLD")
@click.argument("new", type=DOCUMENT, metavar="[NEW]", required=False)
@codec_option
@click.option("--json", "as_json", is_flag=True, help="Write JSON for a script.")
def diff(old: str, new: str | None, codec: Codec | None, *, as_json: bool) -> int:
    """Say whether a change to classes breaks old documents.

    OLD is the schema of the codec that wrote them; NEW is that of the codec that is to
    read them, or --codec names this codec itself. The exit code is 1 if there are
    errors: documents that are refused, or read as something else.
    """
    if (new is None) is (codec is None):
        msg = "give NEW or --codec, one of them"
        raise click.UsageError(msg)
    once([old, *([new] if new else [])])
    before = _read(old)
    after: object = _read(new) if new else (codec or Codec()).json_schema()
    changes = compare(before, after)
    if as_json:
        click.echo(json.dumps(_facts(changes)))
    else:
        _show(changes)
    return 1 if _count(changes, "error") else 0


def _read(file: str) -> Schema:
    try:
        found: Schema = json.loads(read_bytes(file))
    except ValueError as exc:
        msg = f"it is no JSON: {exc}"
        raise about(InvalidValueError(msg), title(file)) from None
    return found


def _count(changes: list[Change], severity: str) -> int:
    return sum(change.severity == severity for change in changes)


def _facts(changes: list[Change]) -> dict[str, object]:
    return {
        "changes": [attrs.asdict(change) for change in changes],
        "errors": _count(changes, "error"),
        "warnings": _count(changes, "warning"),
    }


def _show(changes: list[Change]) -> None:
    out = console()
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold", ratio=1)
    table.expand = True
    for change in changes:
        what = Text(change.message)
        if change.hint:
            what.append(f"; {change.hint}", "dim")
        style = _STYLES[change.severity]
        table.add_row(Text(change.severity, style), Text(change.where, "cyan"), what)
    if changes:
        out.print(table)
    errors = _count(changes, "error")
    if errors:
        out.print(f"{counted(errors, 'change')} would break old documents", style="red")
    else:
        out.print("old documents can still be read", style="green")
