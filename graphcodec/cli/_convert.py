"""``graphcodec convert``: documents in another format, compressed or not."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

import click
from attrs import frozen

from graphcodec import _formats, _frames
from graphcodec._documents._converting import convert as rewrite
from graphcodec.cli._files import (
    COMPRESSIONS,
    DOCUMENT,
    FORMATS,
    STDIN,
    about,
    busy,
    codec_option,
    each,
    name_parts,
    once,
    read_bytes,
    write_bytes,
)
from graphcodec.errors import GraphCodecError

if TYPE_CHECKING:
    from graphcodec._formats import Format
    from graphcodec._frames import Compression
    from graphcodec.codec import Codec

Compress: TypeAlias = Literal["none", "gzip", "zstd"]

_TWO: Final = 2


@frozen(kw_only=True)
class _Wanted:
    """What documents are to become; None where they stay as they are.

    Attributes:
        format: The format.
        compress: The compression.
        pretty: Whether JSON is broken into lines.
        codec: Whose classes count.
    """

    format: Format | None
    compress: Compress | None
    pretty: bool
    codec: Codec | None


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="IN... [OUT]")
@click.option(
    "--to", type=click.Choice(FORMATS), help="The format; else OUT's suffix says it."
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
    type=click.Path(exists=True, file_okay=False),
    help="A folder for the results; all arguments are read.",
)
@click.option("--in-place", is_flag=True, help="Replace the files that are read.")
@codec_option
def convert(
    files: tuple[str, ...],
    to: Format | None,
    compress: Compress | None,
    output: str | None,
    codec: Codec | None,
    *,
    pretty: bool,
    in_place: bool,
) -> int:
    """Write documents in another format, compressed or not.

    Reads IN and writes OUT; "-" stands for the standard streams. Tags that are not
    known are taken along. What is no valid document is refused, and nothing is written
    for it. OUT is replaced as a whole or not at all.
    """
    wanted = _Wanted(format=to, compress=compress, pretty=pretty, codec=codec)
    if pretty and to == "msgpack":
        msg = "--pretty is for JSON"
        raise click.UsageError(msg)
    jobs = _jobs(files, output, wanted, in_place=in_place)
    _check_jobs(jobs, in_place=in_place)
    failed = 0
    targets = dict(jobs)
    for source in each([source for source, _ in jobs], "converting"):
        try:
            _convert(source, targets[source], wanted)
        except GraphCodecError as exc:
            click.echo(f"graphcodec: {' '.join(str(exc).split())}", err=True)
            failed += 1
    return 1 if failed else 0


def _jobs(
    files: tuple[str, ...], output: str | None, wanted: _Wanted, *, in_place: bool
) -> list[tuple[str, str]]:
    """Return what to read, and what to write it to."""
    if output is not None and in_place:
        msg = "--output and --in-place exclude each other"
        raise click.UsageError(msg)
    if in_place:
        return [(file, file) for file in files]
    if output is not None:
        return [(file, _target(Path(output), file, wanted)) for file in files]
    if len(files) != _TWO:
        msg = "give IN and OUT, or several files with --output DIRECTORY"
        raise click.UsageError(msg)
    return [(files[0], files[1])]


def _target(folder: Path, file: str, wanted: _Wanted) -> str:
    """Return the name of a result, which says what is in it."""
    if file == STDIN:
        msg = "the standard input has no name to go by in a folder"
        raise click.UsageError(msg)
    stem, format_, compression = name_parts(Path(file).name)
    format_ = wanted.format or format_
    if wanted.compress is not None:
        compression = "" if wanted.compress == "none" else wanted.compress
    return str(folder / ".".join(filter(None, (stem, format_, compression))))


def _check_jobs(jobs: list[tuple[str, str]], *, in_place: bool) -> None:
    once([source for source, _ in jobs])
    seen: set[str] = set()
    for source, target in jobs:
        DOCUMENT.convert(source, None, None)
        if target != STDIN and target in seen:
            msg = f"two files would become {target}"
            raise click.UsageError(msg)
        seen.add(target)
    if in_place:
        if STDIN in seen:
            msg = "the standard input can't be replaced"
            raise click.UsageError(msg)
        return
    sources = {Path(source).resolve() for source, _ in jobs if source != STDIN}
    for target in seen - {STDIN}:
        if Path(target).resolve() in sources:
            msg = f"{target} is read and would be replaced; say --in-place to do so"
            raise click.UsageError(msg)


def _convert(source: str, target: str, wanted: _Wanted) -> None:
    data = read_bytes(source)
    _, format_, compression = name_parts("" if target == STDIN else Path(target).name)
    try:
        with busy([data], "converting"):
            out = rewrite(
                data,
                format=wanted.format or cast("Format | None", format_ or None),
                compression=_compression(data, wanted.compress, compression),
                pretty=wanted.pretty,
                codec=wanted.codec,
            )
    except GraphCodecError as exc:
        raise about(exc, source) from None
    if target == STDIN and _is_binary(out) and sys.stdout.isatty():
        msg = "the result is binary; send it to a file or a pipe"
        raise click.UsageError(msg)
    write_bytes(target, out)


def _compression(
    data: bytes, wanted: Compress | None, suffix: str
) -> Compression | None:
    """Return how to compress: as asked, as the name says, or as it was."""
    if wanted is not None:
        return None if wanted == "none" else wanted
    if suffix:
        return cast("Compression", suffix)
    if not _frames.is_frame(data):
        return None
    # The innermost layer; what is sealed around it, `rewrite` opens or refuses.
    name = _frames.names(_frames.parse(data).layers)[-1]
    return COMPRESSIONS.get(name)


def _is_binary(data: bytes) -> bool:
    return _frames.is_frame(data) or _formats.is_binary(data)
