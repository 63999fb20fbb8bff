"""What commands over many documents have in common."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from graphcodec.cli._files import errors_console
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

_MANY: Final = 2


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
