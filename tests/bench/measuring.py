"""Times, ratios and peaks, as fair as one process allows."""

from __future__ import annotations

import gc
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Mapping

from attrs import frozen

Job = Callable[[], object]


@frozen
class Timing:
    """What a job took.

    Attributes:
        seconds: The median, in seconds of this process's CPU.
        ratio: The median of its ratios to the base in the same round.
    """

    seconds: float
    ratio: float


def timings(jobs: Mapping[str, Job], *, base: str, rounds: int) -> dict[str, Timing]:
    """Return what each job took; the jobs take turns, so that all are slowed alike.

    The garbage collector is on, as in any program, but starts from nothing: what lives
    already, the graphs of the benchmark among it, it does not look at.

    Args:
        jobs: What to time, by name.
        base: The name of the one that others are compared with.
        rounds: How often.
    """
    for job in jobs.values():
        job()
    gc.collect()
    gc.freeze()
    try:
        found = [
            {name: _seconds(job) for name, job in jobs.items()} for _ in range(rounds)
        ]
    finally:
        gc.unfreeze()
    return {
        name: Timing(
            statistics.median(each[name] for each in found),
            statistics.median(each[name] / each[base] for each in found),
        )
        for name in jobs
    }


def _seconds(job: Job) -> float:
    start = time.process_time()
    result = job()
    taken = time.process_time() - start
    # To let go of it is the caller's affair, with every codec.
    del result
    return taken


def peak(job: Job) -> tuple[int, int]:
    """Return the most memory that a job had at once, and what its result has, in bytes.

    Args:
        job: What to run.
    """
    gc.collect()
    tracemalloc.start()
    try:
        result = job()
        _, most = tracemalloc.get_traced_memory()
        gc.collect()
        kept, _ = tracemalloc.get_traced_memory()
        del result
    finally:
        tracemalloc.stop()
    return most, kept


def import_seconds(statement: str, rounds: int) -> float:
    """Return the CPU seconds that a statement takes in a new interpreter.

    Args:
        statement: An import.
        rounds: How often it is tried; the median counts.
    """
    script = (
        "import time; start = time.process_time()\n"
        f"{statement}\n"
        "print(time.process_time() - start)"
    )

    def once() -> float:
        command = [sys.executable, "-I", "-c", script]
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
        return float(done.stdout)

    return statistics.median(once() for _ in range(rounds))
