"""What commands over many documents have in common."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from graphcodec._bulk import BATCH, Document, Files, Found
from graphcodec.cli._files import STDIN, errors_console
from graphcodec.errors import InvalidValueError
from graphcodec.queues._workers import CodecSource

if TYPE_CHECKING:
    from graphcodec._bulk import Progress as Told
    from graphcodec._bulk import Report
    from graphcodec.codec import Codec

dask_option = click.option(
    "--dask",
    metavar="ADDRESS|local",
    help="Let a Dask cluster do it: the address of its scheduler, or a process on each"
    " core of this machine.",
)

batch_option = click.option(
    "--batch",
    type=click.IntRange(1),
    default=BATCH,
    show_default=True,
    help="How many documents a process of Dask takes at once.",
)

context_option = click.option(
    "--context",
    default="",
    help="What sealed documents are bound to; UTF-8. {name} in it stands for the name"
    " of each file, without folder and suffix.",
)

_MANY: Final = 2


def located(files: Sequence[str]) -> tuple[Files, list[Found]]:
    """Return the file system of some arguments, and the documents that are there.

    Args:
        files: Files, folders, patterns and URLs.

    Raises:
        click.UsageError: If there is none.
    """
    if STDIN in files:
        msg = (
            "the standard input can't be replaced, and has no name to go by in a folder"
        )
        raise click.UsageError(msg)
    for file in files:
        if "://" not in file and not set(file) & set("*?["):
            click.Path(exists=True).convert(file, None, None)
    try:
        source = Files(files[0])
        return source, source.find(files)
    except InvalidValueError as exc:
        raise click.UsageError(str(exc)) from None


def opened_folder(folder: str, *, must_exist: bool = True) -> tuple[Files, str]:
    """Return the file system of a folder, and what it calls the folder.

    Args:
        folder: A path or URL.
        must_exist: Whether one of this machine must be there.

    Raises:
        click.UsageError: If there is no such file system or folder.
    """
    try:
        target = Files(folder)
        if target.is_local:
            kind = click.Path(exists=must_exist, file_okay=False)
            kind.convert(folder, None, None)
        return target, target.path(folder)
    except InvalidValueError as exc:
        raise click.UsageError(str(exc)) from None


def check_context(context: str, codec: Codec | None) -> None:
    """Refuse a context that nothing would be bound to.

    Args:
        context: What was given; may be empty.
        codec: The codec that was named.

    Raises:
        click.UsageError: If the codec has no seal.
    """
    if context and (codec is None or codec.seal is None):
        msg = "--context needs a codec with a seal: --codec package.module:name"
        raise click.UsageError(msg)


def check_targets(
    documents: Sequence[Document], *, in_place: bool, one_system: bool
) -> None:
    """Refuse to write two results to one place, or over what is read.

    Args:
        documents: The jobs.
        in_place: Whether to write over what is read is what is wanted.
        one_system: Whether results go where documents are.

    Raises:
        click.UsageError: If that would happen.
    """
    seen: set[str] = set()
    for document in documents:
        if document.target in seen:
            msg = f"two files would become {document.target}"
            raise click.UsageError(msg)
        seen.add(document.target)
    if in_place or not one_system:
        return
    for document in documents:
        if document.source in seen:
            msg = f"{document.source} is read and would be replaced; say --in-place"
            raise click.UsageError(msg)


@contextmanager
def watched(total: int, doing: str) -> Generator[Told]:
    """Give what shows on a terminal how far a job is; a single document shows nothing.

    Args:
        total: How many documents there are.
        doing: What is done with them: ``converting``.
    """
    shown = sys.stderr.isatty() and total >= _MANY
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(
        doing, *columns, console=errors_console(), transient=True, disable=not shown
    ) as bar:
        task = bar.add_task(doing, total=total)

        def tell(done: int, all_of_them: int) -> None:
            bar.update(task, completed=done, total=all_of_them)

        yield tell


def tell(report: Report) -> int:
    """Say what could not be done; return the exit code.

    Args:
        report: What came of a job.
    """
    for failure in sorted(report.failures, key=lambda failure: failure.name):
        click.echo(f"graphcodec: {' '.join(str(failure).split())}", err=True)
    return 1 if report.failures else 0


def codec_source(codec: Codec | None, dask: str | None) -> CodecSource | None:
    """Return the codec of a job; another process makes it by its name.

    Args:
        codec: What the option ``--codec`` gave.
        dask: What the option ``--dask`` gave.
    """
    if codec is None:
        return None
    name: str | None = click.get_current_context().meta.get("graphcodec.codec")
    return CodecSource(codec if dask is None or name is None else name)
