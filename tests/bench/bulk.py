"""What `graphcodec convert` does in a second, with Dask and without, in one run.

``python -m tests.bench.bulk`` converts 100,000 documents both ways, which takes
minutes; ``python -m tests.bench.bulk 2000`` as many as that. Nothing else should run
meanwhile.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from attrs import frozen

from graphcodec import Codec
from tests.bench.graphs import ours

_EACH = 1_000


@frozen
class Run:
    """One run of the command.

    Attributes:
        seconds: How long it took.
        work: How many seconds of processors it and its processes took.
        most: The peak memory of its largest process, in MiB, among all runs so far.
    """

    seconds: float
    work: float
    most: float


def store(folder: Path, count: int, turns: int) -> int:
    """Store documents, a thousand in a folder; return how large one is.

    Args:
        folder: Where.
        count: How many.
        turns: How many turns each conversation has.
    """
    data = Codec().encode(ours(turns))
    for number in range(count):
        place = folder / f"{number // _EACH:03}"
        place.mkdir(exist_ok=True)
        (place / f"{number:06}.json").write_bytes(data)
    return len(data)


def timed(*words: str) -> Run:
    """Run the command to its end.

    Args:
        *words: Its arguments.
    """
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-m", "graphcodec", *words], check=True)  # noqa: S603 - ours
    seconds = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    work = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(seconds, work, after.ru_maxrss / 1024)


def names(folder: Path) -> list[tuple[str, int]]:
    """Return what is in a folder: names and sizes."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return sorted((str(f.relative_to(folder)), f.stat().st_size) for f in files)


def main() -> None:
    """Convert both ways and print rates, work and their ratios."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.bulk")
    parser.add_argument("documents", type=int, nargs="?", default=100_000)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--batch", default="100")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        source, plain, spread = (Path(name) / part for part in ("in", "plain", "dask"))
        for folder in (source, plain, spread):
            folder.mkdir()
        size = store(source, given.documents, given.turns)
        count, cores = given.documents, len(os.sched_getaffinity(0))
        tell(f"{count:,} documents of {size:,} bytes, {cores} cores, by {given.batch}")
        words = ["convert", str(source), "--to", "msgpack", "-o"]
        one = timed(*words, str(plain))
        other = timed(*words, str(spread), "--dask", "local", "--batch", given.batch)
        assert names(plain) == names(spread)
    for what, run in (("plain", one), ("--dask local", other)):
        rate = f"{what:14}{count / run.seconds:8,.0f} a second {run.seconds:8.1f} s"
        tell(f"{rate}{run.work:8.1f} s of processors, {run.most:6.0f} MiB at most")
    tell(f"rate {one.seconds / other.seconds:.2f}x, work {other.work / one.work:.2f}x")


def tell(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
