"""Batches in the workers of a Dask cluster, few of them under way at a time."""

# mypy: disable-error-code="no-untyped-call"
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# Dask's annotations are partial.

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final, TypeVar, cast

from graphcodec._bulk._report import Report
from graphcodec._bulk._running import Cluster, Job, Work, do, failure
from graphcodec._extras import from_extra
from graphcodec.errors import InvalidValueError

with from_extra("dask", "work in a cluster needs dask and distributed"):
    import distributed
    from distributed.protocol import pickle as by_value
    from distributed.scheduler import KilledWorker

__all__ = ["connected", "spread"]

J = TypeVar("J", bound=Job)

_LEAST: Final = 8
_FOR_EACH_THREAD: Final = 2


def spread(
    work: Work[J], batches: Iterator[Sequence[J]], cluster: Cluster
) -> Iterator[Report]:
    """Yield the report of each batch, as they are done.

    A batch whose worker is lost goes to another one. If it keeps losing its workers,
    its jobs go one by one at the end, so that only the job that does it is reported.

    Args:
        work: What is done.
        batches: The jobs.
        cluster: A client, an address or ``local``.

    Raises:
        InvalidValueError: If there is no such cluster, or the work can't be sent.
    """
    packed = _packed(work)
    with connected(cluster) as client:
        flight = _Flight(client, packed, batches)
        try:
            yield from flight
        finally:
            flight.cancel()


@contextmanager
def connected(cluster: Cluster) -> Generator[distributed.Client]:
    """Give a client, and close what was opened for it.

    Args:
        cluster: A client, which stays open; an address; or ``local``, for a process of
            one thread on each core of this machine.

    Raises:
        InvalidValueError: If there is none.
    """
    if isinstance(cluster, distributed.Client):
        if cluster.asynchronous:
            msg = "the client must be one that waits for results"
            hint = "make it with asynchronous=False, outside of any event loop"
            raise InvalidValueError(msg, hint=hint)
        yield cluster
    elif cluster == "local":
        # Threads would wait for each other: codecs compute.
        with (
            distributed.LocalCluster(
                processes=True,
                threads_per_worker=1,
                # A port that is free, for this machine alone; None would be 8787.
                dashboard_address="127.0.0.1:0",
            ) as processes,
            distributed.Client(processes) as client,
        ):
            yield client
    else:
        with _client(cluster) as client:
            yield client


def _client(address: object) -> distributed.Client:
    if not isinstance(address, str) or not address:
        msg = f"cluster must be a Client, an address or 'local', not {address!r:.80}"
        raise InvalidValueError(msg)
    try:
        return distributed.Client(address)
    except (OSError, ValueError) as exc:
        msg = f"there is no Dask scheduler at {address!r:.80}: {exc}"
        hint = "it is of the form tcp://host:8786, or 'local'"
        raise InvalidValueError(msg, hint=hint) from exc


class _Flight(Iterator[Report]):
    """The batches that are under way."""

    def __init__(
        self, client: distributed.Client, packed: bytes, batches: Iterator[Sequence[J]]
    ) -> None:
        self._client = client
        self._packed = packed
        self._batches = cast("Iterator[Sequence[Job]]", batches)
        self._alone: deque[Job] = deque()
        self._jobs: dict[str, Sequence[Job]] = {}
        self._running: Any = distributed.as_completed(loop=client.loop)

    def __next__(self) -> Report:
        self._fill()
        if not self._jobs:
            raise StopIteration
        future: Any = next(self._running)
        jobs = self._jobs.pop(future.key)
        try:
            report: Report = future.result()
        except KilledWorker as exc:
            return self._lost(jobs, exc)
        return report

    def _lost(self, jobs: Sequence[Job], error: Exception) -> Report:
        if len(jobs) > 1:
            self._alone += jobs
            return Report()
        return Report(failures=(failure(jobs[0], error),))

    def _fill(self) -> None:
        """Have two batches for each thread there is now, so that none waits."""
        threads: Any = self._client.nthreads()
        most = max(_LEAST, _FOR_EACH_THREAD * sum(threads.values()))
        while len(self._jobs) < most:
            jobs = next(self._batches, None)
            if jobs is None:
                break
            self._submit(jobs)
        # Alone, so that no other job is lost, and blamed, with the same worker.
        if not self._jobs and self._alone:
            self._submit([self._alone.popleft()])

    def _submit(self, jobs: Sequence[Job]) -> None:
        future: Any = self._client.submit(_do, self._packed, jobs, pure=False)
        self._jobs[future.key] = jobs
        self._running.add(future)

    def cancel(self) -> None:
        """Take back what is not done."""
        self._jobs.clear()
        self._running.clear()


def _do(packed: bytes, jobs: Sequence[Job]) -> Report:
    """Do the jobs of a batch, in a worker."""
    return do(_unpacked(packed), jobs)


def _packed(work: Work[J]) -> bytes:
    try:
        packed: bytes = by_value.dumps(work)
    except Exception as exc:
        msg = f"the work can't be sent to other processes: {exc}"
        hint = "use functions of a module; name the codec as 'package.module:name'"
        raise InvalidValueError(msg, hint=hint) from exc
    return packed


# A worker makes the codec, and what else belongs to the work, for its first batch.
@lru_cache(maxsize=4)
def _unpacked(packed: bytes) -> Work[Job]:
    work: Work[Job] = pickle.loads(packed)  # noqa: S301 - as Dask does with functions
    return work
