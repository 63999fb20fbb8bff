"""Several blocking jobs at once: in threads of a pool, or awaited."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextvars import copy_context
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

J = TypeVar("J")
R = TypeVar("R")

AT_ONCE: Final = 16
"""How many jobs run at the same time: enough that small writes to a server overlap."""


def run(
    jobs: Sequence[J], work: Callable[[J], R], done: Callable[[J, R], None]
) -> None:
    """Do *work* on each job; the first that fails ends it, once the others stand still.

    Args:
        jobs: The jobs.
        work: Is called in a thread, with the context variables of the caller.
        done: Is called with a job and its result by the caller's own thread.
    """
    if len(jobs) < 2:  # noqa: PLR2004 - a single job needs no thread
        for job in jobs:
            done(job, work(job))
        return
    pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="graphcodec")
    try:
        futures = {pool.submit(copy_context().run, work, job): job for job in jobs}
        for future in as_completed(futures):
            done(futures[future], future.result())
    finally:
        pool.shutdown(cancel_futures=True)


async def arun(
    jobs: Iterable[J], work: Callable[[J], R], done: Callable[[J, R], None]
) -> None:
    """Do what `run` does without blocking the event loop.

    Args:
        jobs: The jobs.
        work: Is called in a thread, with the context variables of the caller.
        done: Is called with a job and its result on the event loop.
    """
    turn = asyncio.Semaphore(AT_ONCE)

    async def one(job: J) -> tuple[J, R]:
        async with turn:
            return job, await asyncio.to_thread(work, job)

    tasks = [asyncio.ensure_future(one(job)) for job in jobs]
    try:
        for finished in asyncio.as_completed(tasks):
            done(*await finished)
    finally:
        for task in tasks:
            task.cancel()
        # Collected, so that no failure is reported as one that nobody looked at.
        await asyncio.gather(*tasks, return_exceptions=True)
