"""Documents from and to files, the standard streams included."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.progress import Progress

from graphcodec._documents._names import name_parts
from graphcodec._limits import read_bounded
from graphcodec._replacing import replace_file
from graphcodec.codec import Codec
from graphcodec.errors import GraphCodecError, LimitExceededError

STDIN: Final = "-"

DOCUMENT: Final = click.Path(exists=True, dir_okay=False, allow_dash=True)
"""The type of an argument that is a document."""

_WORTH_A_WORD: Final = 4 << 20


def read_bytes(file: str) -> bytes:
    """Return what is in a file.

    Args:
        file: Its name; ``-`` is the standard input.

    Raises:
        LimitExceededError: If there is more than a gigabyte.
    """
    try:
        if file == STDIN:
            return read_bounded(sys.stdin.buffer)
        with Path(file).open("rb") as stream:
            return read_bounded(stream)
    except LimitExceededError as exc:
        raise about(exc, file) from None


def title(file: str) -> str:
    """Return what to call a file."""
    return "standard input" if file == STDIN else file


def about(exc: GraphCodecError, file: str) -> GraphCodecError:
    """Return an error that says which file it is about.

    Args:
        exc: The error.
        file: The name of the file.
    """
    exc.message = f"{title(file)}: {exc.message}"
    return exc


def once(files: Sequence[str]) -> None:
    """Refuse to read the standard input twice.

    Args:
        files: The names of all files that are read.
    """
    if files.count(STDIN) > 1:
        msg = "the standard input can be read once"
        raise click.UsageError(msg)


def write_bytes(file: str, data: bytes) -> None:
    """Write a file as a whole: it has either the old or the new content.

    Args:
        file: Its name; ``-`` is the standard output.
        data: What it is to hold.
    """
    if file == STDIN:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    path = Path(file).resolve()
    try:
        mode = path.stat().st_mode & 0o7777 if path.exists() else None
        replace_file(path, data, mode=mode)
    except OSError as exc:
        raise click.FileError(file, exc.strerror) from exc


def targets(files: Sequence[str], output: str, suffix: str) -> dict[str, str]:
    """Return where the result for each file goes.

    Args:
        files: The files that are read.
        output: A file, ``-``, or a folder.
        suffix: What names of results in a folder end with.

    Raises:
        click.UsageError: If two would go to one place, or over what is read.
    """
    once(files)
    if output == STDIN or not Path(output).is_dir():
        if len(files) > 1:
            raise click.UsageError("several files need a folder: --output DIRECTORY")
        found = {files[0]: output}
    else:
        if STDIN in files:
            msg = "the standard input has no name to go by in a folder"
            raise click.UsageError(msg)
        found = {
            file: str(Path(output, _stem(Path(file).name) + suffix)) for file in files
        }
    _check_targets(found)
    return found


def _stem(name: str) -> str:
    """Return a name without what it says of the content: ``v1.2`` of ``v1.2.jsonl``."""
    stem, format_, compression = name_parts(name)
    # Of other names the last suffix is as much.
    return stem if format_ or compression else Path(name).stem


def _check_targets(found: Mapping[str, str]) -> None:
    sources = {Path(file).resolve() for file in found if file != STDIN}
    seen: set[str] = set()
    for target in found.values():
        if target in seen:
            msg = f"two files would become {target}: write them to several folders"
            raise click.UsageError(msg)
        if target != STDIN and Path(target).resolve() in sources:
            raise click.UsageError(f"{target} is read and would be replaced")
        seen.add(target)


# On long work


def each(files: Sequence[str], doing: str) -> Iterator[str]:
    """Yield the files, with a bar on a terminal if there are several.

    Args:
        files: Their names.
        doing: What is done with them: ``converting``.
    """
    bar = Progress(
        console=errors_console(), transient=True, disable=not _is_watched(files)
    )
    with bar:
        task = bar.add_task(doing, total=len(files))
        for file in files:
            yield file
            bar.advance(task)


def busy(data: Iterable[bytes], doing: str) -> AbstractContextManager[object]:
    """Return what says on a terminal that large documents take a while.

    Args:
        data: The documents.
        doing: What is done with them: ``comparing``.
    """
    if sum(map(len, data)) < _WORTH_A_WORD or not sys.stderr.isatty():
        return nullcontext()
    return errors_console().status(f"{doing} …")


def errors_console() -> Console:
    """Return a console for what is not the result."""
    return Console(stderr=True, markup=False, highlight=False, emoji=False)


def _is_watched(files: Sequence[str]) -> bool:
    return len(files) > 1 and sys.stderr.isatty()


# The codec of the caller


def named_codec(ctx: click.Context, param: click.Parameter, value: str) -> Codec | None:
    """Return the codec that an option names as ``package.module:name``.

    The name is of a `Codec`, or of a function without arguments that gives one. It
    comes from the command line, never from a document.

    Args:
        ctx: The call.
        param: The option.
        value: Its text.

    Raises:
        click.BadParameter: If there is none of that name.
    """
    if not value:
        return None
    module, _, name = value.partition(":")
    if not module or not name:
        msg = f"{value!r} is not of the form package.module:name"
        raise click.BadParameter(msg, ctx, param)
    try:
        found = _loaded(module, name)
    except Exception as exc:
        told = " ".join(f"{type(exc).__name__}: {exc}".split())
        msg = f"{value!r} can't be had: {told}"
        raise click.BadParameter(msg, ctx, param) from exc
    if not isinstance(found, Codec):
        msg = f"{value!r} gives a {type(found).__name__}, and no Codec"
        raise click.BadParameter(msg, ctx, param)
    # What another process makes the same codec with.
    ctx.meta["graphcodec.codec"] = value
    return found


def _loaded(module: str, name: str) -> object:
    # As `python -m` does: what is called by name lies where one works.
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    found: object = import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found() if callable(found) else found


codec_option = click.option(
    "--codec",
    metavar="MODULE:NAME",
    callback=named_codec,
    help="The codec that knows the tags, or a function that gives one; looked for in"
    " this folder too.",
)


# The stores of the caller


def named_stores(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> dict[str, str]:
    """Return the roots by alias that an option names as ``ALIAS=ROOT``.

    Args:
        ctx: The call.
        param: The option.
        value: Its texts.

    Raises:
        click.BadParameter: If one is no such text, or an alias stands twice.
    """
    pairs = [text.partition("=") for text in value]
    for alias, _, root in pairs:
        if not alias or not root:
            raise click.BadParameter("it must be ALIAS=ROOT", ctx, param)
    if len({alias for alias, _, _ in pairs}) < len(pairs):
        raise click.BadParameter("an alias has one root", ctx, param)
    return {alias: root for alias, _, root in pairs}


stores_option = click.option(
    "--store",
    "stores",
    multiple=True,
    metavar="ALIAS=ROOT",
    callback=named_stores,
    help="Where the objects of a store are: a folder, or a URL such as s3://bucket/"
    "prefix, whose credentials come from the environment. May be repeated.",
)
