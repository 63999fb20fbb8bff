"""``graphcodec convert``: documents in another format, compressed or not."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from graphcodec import _formats, _frames
from graphcodec._bulk import Document, Found, Rewrite, run
from graphcodec._bulk._conversion import Compress, Conversion
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
from graphcodec.cli._files import (
    DOCUMENT,
    STDIN,
    about,
    busy,
    codec_option,
    once,
    read_bytes,
    write_bytes,
)
from graphcodec.errors import GraphCodecError

if TYPE_CHECKING:
    from graphcodec._formats import Format
    from graphcodec.codec import Codec

_TWO: Final = 2


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="IN... [OUT]")
@click.option(
    "--to",
    type=click.Choice(FORMATS),
    help="The format; else OUT's suffix says it.",
)
@click.option(
    "--compress",
    type=click.Choice(("none", *COMPRESSIONS)),
    help="How to compress; else OUT's suffix says it, or it stays as it is.",
)
@click.option("--pretty", is_flag=True, help="Break JSON into lines.")
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    help="A folder, or a URL that fsspec knows, for the results; all arguments are"
    " read.",
)
@click.option("--in-place", is_flag=True, help="Replace the files that are read.")
@click.option("--resume", is_flag=True, help="Leave out results that are there.")
@context_option
@dask_option
@batch_option
@codec_option
def convert(
    files: tuple[str, ...],
    to: Format | None,
    compress: Compress | None,
    output: str | None,
    codec: Codec | None,
    *,
    context: str,
    pretty: bool,
    in_place: bool,
    resume: bool,
    dask: str | None,
    batch: int,
) -> int:
    """Write documents in another format, compressed or not.

    Reads IN and writes OUT; "-" stands for the standard streams. With --output or
    --in-place, IN may also be a folder, a pattern such as "talks/**/*.json", and a URL
    that fsspec knows; what lies in folders goes into folders of the same names. Tags
    that are not known are taken along. What is no valid document is refused, and
    nothing is written for it. OUT is replaced as a whole or not at all.
    """
    if pretty and to == "msgpack":
        msg = "--pretty is for JSON"
        raise click.UsageError(msg)
    if output is not None and in_place:
        msg = "--output and --in-place exclude each other"
        raise click.UsageError(msg)
    check_context(context, codec)
    source = codec_source(codec, dask)
    more = {} if source is None else {"codec": source}
    wanted = Conversion(
        format=to, compress=compress, pretty=pretty, context=context, **more
    )
    if output is None and not in_place:
        if resume or dask is not None:
            msg = "--resume and --dask are for --output"
            raise click.UsageError(msg)
        return _convert_one(files, wanted)
    if in_place and resume:
        msg = "--resume is for --output; to convert in place again changes nothing"
        raise click.UsageError(msg)
    work, documents = _planned(files, output, wanted, resume=resume)
    with watched(len(documents), "converting") as progress:
        report = run(work, documents, cluster=dask, batch=batch, progress=progress)
    return tell(report)


# Many


def _planned(
    files: Sequence[str], output: str | None, wanted: Conversion, *, resume: bool
) -> tuple[Rewrite, list[Document]]:
    """Return what to do, and with which documents."""
    source, found = located(files)
    target, folder = (source, None) if output is None else opened_folder(output)
    documents = [_document(one, folder, wanted) for one in found]
    check_targets(documents, in_place=folder is None, one_system=source.is_local)
    limits = wanted.codec.get().limits
    work = Rewrite(
        source=source, target=target, make=wanted, limits=limits, replace=not resume
    )
    return work, documents


def _document(one: Found, folder: str | None, wanted: Conversion) -> Document:
    if folder is None:
        return Document(one.name, one.path, one.path)
    return Document(one.name, one.path, f"{folder}/{wanted.named(one.below)}")


# One


def _convert_one(files: tuple[str, ...], wanted: Conversion) -> int:
    if len(files) != _TWO:
        msg = "give IN and OUT, or several files with --output FOLDER"
        raise click.UsageError(msg)
    source, target = files
    once([source])
    DOCUMENT.convert(source, None, None)
    if STDIN not in files and Path(source).resolve() == Path(target).resolve():
        msg = f"{target} is read and would be replaced; say --in-place to do so"
        raise click.UsageError(msg)
    data = read_bytes(source)
    try:
        with busy([data], "converting"):
            out = wanted.convert(data, source, "" if target == STDIN else target)
    except GraphCodecError as exc:
        raise about(exc, source) from None
    if target == STDIN and _is_binary(out) and sys.stdout.isatty():
        msg = "the result is binary; send it to a file or a pipe"
        raise click.UsageError(msg)
    write_bytes(target, out)
    return 0


def _is_binary(data: bytes) -> bool:
    return _frames.is_frame(data) or _formats.is_binary(data)
