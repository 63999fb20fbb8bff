"""``graphcodec upgrade``: a store of old documents, written by the classes of today."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click
from rich import box
from rich.table import Table

from graphcodec._bulk import Document, Files, Report, run
from graphcodec._bulk._conversion import Compress, Conversion
from graphcodec._bulk._upgrade import Renewal, Upgrade
from graphcodec._documents._names import COMPRESSIONS, FORMATS
from graphcodec.cli._bulk import (
    batch_option,
    check_context,
    check_targets,
    codec_source,
    context_option,
    dask_option,
    located,
    opened_folder,
    tell,
    watched,
)
from graphcodec.cli._files import codec_option
from graphcodec.cli._text import console, counted, cut

if TYPE_CHECKING:
    from graphcodec._formats import Format
    from graphcodec.codec import Codec

_LONGEST = 100


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="IN...")
@click.option(
    "-o",
    "--out",
    "--output",
    metavar="FOLDER",
    help="A folder, or a URL that fsspec knows, for all documents, upgraded or not;"
    " without it, those that need it are replaced.",
)
@click.option("--in-place", is_flag=True, help="Replace documents, as without --out.")
@click.option(
    "--backup",
    metavar="FOLDER",
    help="A folder or URL for what is replaced, as it was.",
)
@click.option("--dry-run", is_flag=True, help="Write nothing; say how many, and why.")
@click.option("--to", type=click.Choice(FORMATS), help="The format for all of them.")
@click.option(
    "--compress",
    type=click.Choice(("none", *COMPRESSIONS)),
    help="How to compress all of them.",
)
@click.option(
    "--reseal", is_flag=True, help="Seal with the current key what another one seals."
)
@context_option
@click.option("--json", "as_json", is_flag=True, help="Write JSON for a script.")
@dask_option
@batch_option
@codec_option
def upgrade(
    files: tuple[str, ...],
    out: str | None,
    backup: str | None,
    to: Format | None,
    compress: Compress | None,
    *,
    codec: Codec | None,
    context: str,
    in_place: bool,
    dry_run: bool,
    reseal: bool,
    as_json: bool,
    dask: str | None,
    batch: int,
) -> int:
    """Write old documents as the classes of today write them.

    IN is a file, a folder, a pattern such as "talks/**/*.json", or a URL that fsspec
    knows. Documents that would be written as they are, are left alone. Each of the
    others is replaced as a whole or not at all, and keeps its format, compression and
    seal. A run that was broken off goes on where it was when it is started again.
    """
    if out is not None and (in_place or backup is not None):
        msg = "--out leaves the documents alone; --in-place and --backup are without it"
        raise click.UsageError(msg)
    source = codec_source(codec, dask)
    if reseal and (codec is None or codec.seal is None):
        msg = "--reseal needs a codec with a seal: --codec package.module:name"
        raise click.UsageError(msg)
    check_context(context, codec)
    more = {} if source is None else {"codec": source}
    renewal = Renewal(
        format=to, compress=compress, reseal=reseal, context=context, **more
    )
    work, documents = _planned(files, renewal, out, backup, dry=dry_run)
    with watched(len(documents), "upgrading") as progress:
        report = run(work, documents, cluster=dask, batch=batch, progress=progress)
    if as_json:
        click.echo(json.dumps(_facts(report, dry=dry_run)))
    else:
        _show(report, dry=dry_run)
    return tell(report)


def _planned(
    files: tuple[str, ...],
    renewal: Renewal,
    out: str | None,
    backup: str | None,
    *,
    dry: bool,
) -> tuple[Upgrade, list[Document]]:
    """Return what to do, and with which documents."""
    source, found = located(files)
    elsewhere = out if out is not None else backup
    if elsewhere is None:
        documents = [Document(one.name, one.path, one.path) for one in found]
        return Upgrade(source=source, renewal=renewal, dry=dry), documents
    other, folder = opened_folder(elsewhere, must_exist=False)
    named = Conversion(format=renewal.format, compress=renewal.compress).named
    documents = [
        Document(
            one.name,
            one.path,
            f"{folder}/{one.below if out is None else named(one.below)}",
        )
        for one in found
    ]
    check_targets(documents, in_place=False, one_system=source.is_local)
    _check_apart(source, files, other, folder)
    target, kept = (None, other) if out is None else (other, None)
    work = Upgrade(source=source, renewal=renewal, target=target, backup=kept, dry=dry)
    return work, documents


def _check_apart(
    source: Files, files: tuple[str, ...], other: Files, folder: str
) -> None:
    """Refuse a folder below one that is read: the next run would read it, too."""
    if source.is_local is not other.is_local:
        return
    for file in files:
        path = source.path(file)
        if f"{folder}/".startswith(f"{path}/"):
            msg = f"{folder} lies in {path}, which is read; take another folder"
            raise click.UsageError(msg)


def _facts(report: Report, *, dry: bool) -> dict[str, object]:
    return {
        "documents": report.total,
        "outdated" if dry else "upgraded": report.done,
        "current": report.skipped,
        "failed": len(report.failures),
        "dry_run": dry,
        "reasons": dict(_by_number(report)),
        "failures": [
            {
                "document": failure.name,
                "code": getattr(failure.error, "code", type(failure.error).__name__),
                "error": str(failure.error),
            }
            for failure in sorted(report.failures, key=lambda failure: failure.name)
        ],
    }


def _by_number(report: Report) -> list[tuple[str, int]]:
    return sorted(report.reasons.items(), key=lambda reason: (-reason[1], reason[0]))


def _show(report: Report, *, dry: bool) -> None:
    shown = console()
    if report.reasons:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("documents", justify="right", no_wrap=True)
        table.add_column("because of", style="cyan")
        for reason, count in _by_number(report):
            table.add_row(f"{count:,}", cut(reason, _LONGEST))
        shown.print(table)
    done = "would be upgraded" if dry else "upgraded"
    failed = f", {len(report.failures):,} failed" if report.failures else ""
    total = counted(report.total, "document")
    words = f"{total}: {report.done:,} {done}, {report.skipped:,} as they were{failed}"
    shown.print(words, style="dim")
