"""``graphcodec export``: documents become conversations in the formats of others."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from graphcodec.adapters._formats import FORMATS
from graphcodec.cli._chats import (
    NAMES,
    Told,
    all_kept,
    conversations,
    told,
    written_chats,
)
from graphcodec.cli._chats import show as show_reports
from graphcodec.cli._files import (
    DOCUMENT,
    STDIN,
    about,
    codec_option,
    each,
    read_bytes,
    stores_option,
    targets,
    title,
    write_bytes,
)
from graphcodec.codec import Codec
from graphcodec.errors import GraphCodecError

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphcodec.adapters import LeftOut


@click.command()
@click.argument("files", nargs=-1, required=True, type=DOCUMENT, metavar="FILE...")
@click.option(
    "--to",
    "name",
    type=click.Choice(NAMES),
    required=True,
    help="The format to write.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    default=STDIN,
    help="A file for the result, or a folder for those of several files.",
)
@click.option(
    "--leave-out",
    is_flag=True,
    help="Go on without what the format has no place for, and list it.",
)
@click.option("--pretty", is_flag=True, help="Break a conversation into lines.")
@codec_option
@stores_option
@click.option("--json", "as_json", is_flag=True, help="Write JSON for a script.")
def export(
    files: tuple[str, ...],
    name: str,
    output: str,
    codec: Codec | None,
    stores: dict[str, str],
    *,
    leave_out: bool,
    pretty: bool,
    as_json: bool,
) -> int:
    """Write documents as conversations in the formats of others.

    Each FILE is a document with a conversation, or with a list of them, which become
    one line each; "-" is the standard input. What was imported from the format comes
    out as it was. What another format kept in stashes is not written, and is listed.
    What the format has no place for at all, such as thoughts, is refused, or left out
    and listed with --leave-out. Bytes of media are read: name their stores.
    """
    jobs = targets(files, output, ".json")
    if as_json and STDIN in jobs.values():
        raise click.UsageError("--json needs --output, since the result comes out")
    write = partial(
        written_chats, format_=FORMATS[name], pretty=pretty, leave_out=leave_out
    )
    reader = _codec(codec, stores)
    reports: list[Told] = []
    for file in each(files, "exporting"):
        try:
            reports.append(_export(file, jobs[file], name, reader, write))
        except GraphCodecError as exc:
            shown = about(exc, file)
            click.echo(f"graphcodec: {' '.join(str(shown).split())}", err=True)
    kept, aside = "not written: kept by another format", STDIN in jobs.values()
    show_reports(reports, kept=kept, as_json=as_json, aside=aside)
    return 1 if len(reports) < len(files) else 0


def _export(
    file: str,
    target: str,
    name: str,
    codec: Codec,
    write: Callable[[object], tuple[bytes, tuple[LeftOut, ...]]],
) -> Told:
    graph = codec.decode(read_bytes(file))
    found = conversations(graph)
    data, left = write(graph)
    write_bytes(target, data)
    lost = tuple(kept for kept in all_kept(graph, found) if kept.format != name)
    return told(title(file), target, name, found, lost, left_out=left)


def _codec(codec: Codec | None, stores: dict[str, str]) -> Codec:
    """Return the codec that reads the documents and knows their stores."""
    codec = codec or Codec()
    if stores:
        from graphcodec_resolvers import FsspecResolver  # noqa: PLC0415

        codec = codec.replace()
        codec.register_resolver(FsspecResolver(stores))
    return codec
