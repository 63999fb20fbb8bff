"""``graphcodec import``: conversations in the formats of others become documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from graphcodec._documents._names import COMPRESSIONS, name_parts
from graphcodec._graphs._persist import persist
from graphcodec.cli._chats import AUTO, NAMES, Told, all_kept, read_chats, told
from graphcodec.cli._chats import show as show_reports
from graphcodec.cli._files import (
    DOCUMENT,
    STDIN,
    about,
    each,
    read_bytes,
    stores_option,
    targets,
    title,
    write_bytes,
)
from graphcodec.codec import Codec
from graphcodec.errors import GraphCodecError, LimitExceededError

if TYPE_CHECKING:
    from graphcodec._formats import Format as Wire


@click.command(name="import")
@click.argument("files", nargs=-1, required=True, type=DOCUMENT, metavar="FILE...")
@click.option(
    "--from",
    "name",
    type=click.Choice((*NAMES, AUTO)),
    required=True,
    help="The format of the files; auto if what is in them makes it clear.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    default=STDIN,
    help="A file for the document, or a folder for those of several files; its suffix"
    " may say msgpack, gzip, zstd.",
)
@stores_option
@click.option("--json", "as_json", is_flag=True, help="Write JSON for a script.")
def import_(
    files: tuple[str, ...],
    name: str,
    output: str,
    stores: dict[str, str],
    *,
    as_json: bool,
) -> int:
    """Make documents of conversations in the formats of others.

    Each FILE holds a conversation as JSON, or one on each line; "-" is the standard
    input. The document of the latter holds a list. What no primitive has a place for
    is kept in stashes and listed: "export" writes it again. With --store, larger bytes
    go to that store.
    """
    if len(stores) > 1:
        raise click.UsageError("bytes go to one store")
    jobs = targets(files, output, ".json")
    if as_json and STDIN in jobs.values():
        raise click.UsageError("--json needs --output, since the document comes out")
    reports: list[Told] = []
    for file in each(files, "importing"):
        try:
            reports.append(_import(file, jobs[file], name, stores))
        except GraphCodecError as exc:
            shown = about(exc, file)
            click.echo(f"graphcodec: {' '.join(str(shown).split())}", err=True)
    kept, aside = "kept aside in stashes", STDIN in jobs.values()
    show_reports(reports, kept=kept, as_json=as_json, aside=aside)
    return 1 if len(reports) < len(files) else 0


def _import(file: str, target: str, wanted: str, stores: dict[str, str]) -> Told:
    found = read_chats(file, read_bytes(file), wanted)
    graph = found.graph
    for alias, root in stores.items():
        from graphcodec_resolvers import FsspecStore  # noqa: PLC0415

        graph = persist(graph, FsspecStore(root, alias=alias))
    try:
        document = _codec(target).encode(graph)
    except LimitExceededError as exc:
        if exc.limit == "max_inline_bytes":
            exc.hint = "name a store for them: --store ALIAS=ROOT"
        raise
    write_bytes(target, document)
    kept = all_kept(found.graph, found.conversations)
    return told(title(file), target, found.format, found.conversations, kept)


def _codec(target: str) -> Codec:
    """Return a codec that writes what the name of a file says."""
    _, format_, compression = name_parts(Path(target).name)
    return Codec(
        format=cast("Wire", format_ or "json"),
        compression=COMPRESSIONS.get(compression),
    )
