"""One loop over many jobs, which runs here or hands batches to Dask."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, TypeVar

from graphcodec._bulk._report import Failure, Report
from graphcodec._portable import portable
from graphcodec.errors import InvalidValueError

if TYPE_CHECKING:
    import distributed

    Cluster: TypeAlias = "distributed.Client | str | None"
    """Where: a client, an address of a scheduler, ``local``, or None for here."""
else:
    Cluster: TypeAlias = object

Progress: TypeAlias = Callable[[int, int], object]
"""Is told how many of how many jobs are over."""

BATCH: Final = 100
"""How many jobs a process takes at once, unless told otherwise."""

_LONGEST: Final = 20_000


class Job(Protocol):
    """One thing to do. It is pickled on its way to another process."""

    @property
    def name(self) -> str:
        """What to call it in a report."""
        ...


J = TypeVar("J", bound=Job)

Work: TypeAlias = Callable[[J], bool | Sequence[str]]
"""Does one job; False if there was nothing to do. Raises if it can't be done.

Instead of True it may give the reasons for which there was something to do, which are
counted: there are few of them, whatever the number of jobs.

It may be called again for a job it has done, when a process was killed before it could
say so. It is pickled on its way to another process.
"""


def run(
    work: Work[J],
    jobs: Sequence[J],
    *,
    cluster: Cluster = None,
    batch: int = BATCH,
    progress: Progress | None = None,
) -> Report:
    """Do *work* on every job, and report; a job that fails stops no other.

    Args:
        work: What is done.
        jobs: The jobs.
        cluster: Where: a Dask client, the address of a scheduler, ``local`` for one
            process on each core, or None for this process.
        batch: How many jobs another process takes at once.
        progress: Is told how many of how many jobs are over.

    Raises:
        InvalidValueError: If an argument can't be used, there is no such cluster, or
            its workers can't be given the work.
        ModuleNotFoundError: If a cluster is wanted and Dask is not installed.
    """
    if type(batch) is not int or batch < 1:
        msg = f"batch must be a number of documents, not {batch!r:.40}"
        raise InvalidValueError(msg)
    reports: Iterator[Report]
    if cluster is None:
        reports = (do(work, [job]) for job in jobs)
    else:
        # Dask takes a second to import, and may not be there.
        from graphcodec._bulk._cluster import spread  # noqa: PLC0415

        reports = spread(work, _batches(jobs, batch), cluster)
    return _added(reports, len(jobs), progress)


def do(work: Work[J], jobs: Iterable[J]) -> Report:
    """Do *work* on some jobs, one after the other.

    Args:
        work: What is done.
        jobs: The jobs.
    """
    done = skipped = 0
    failures: list[Failure] = []
    reasons = Counter[str]()
    for job in jobs:
        try:
            changed = work(job)
        except Exception as exc:  # noqa: BLE001 - reported; the work is anybody's
            failures.append(failure(job, exc))
        else:
            done += bool(changed)
            skipped += not changed
            reasons.update(changed if not isinstance(changed, bool) else ())
    return _report(done, skipped, failures, reasons)


def failure(job: Job, error: Exception) -> Failure:
    """Return what to report of a job that could not be done.

    Args:
        job: The job.
        error: What was raised.
    """
    told = "".join(traceback.format_exception(error))[-_LONGEST:]
    return Failure(name=job.name, error=portable(error), traceback=told)


def _batches(jobs: Sequence[J], size: int) -> Iterator[Sequence[J]]:
    for start in range(0, len(jobs), size):
        yield jobs[start : start + size]


def _added(reports: Iterable[Report], total: int, progress: Progress | None) -> Report:
    done = skipped = 0
    failures: list[Failure] = []
    reasons = Counter[str]()
    for report in reports:
        done += report.done
        skipped += report.skipped
        failures += report.failures
        reasons.update(report.reasons)
        if progress is not None:
            progress(done + skipped + len(failures), total)
    return _report(done, skipped, failures, reasons)


def _report(
    done: int, skipped: int, failures: list[Failure], reasons: Counter[str]
) -> Report:
    return Report(
        done=done, skipped=skipped, failures=tuple(failures), reasons=dict(reasons)
    )
