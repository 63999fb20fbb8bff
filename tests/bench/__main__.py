"""Compare graphcodec with pickle in one run: ``python -m tests.bench [TURNS ...]``.

Every result is checked before it is timed. What counts are the ratios of one run: the
two sides take turns, so that a machine that slows down slows both.
"""

from __future__ import annotations

import pickle
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

import graphcodec
from graphcodec.testing import same_graph
from tests.bench import graphs


def _seconds(job: Callable[[], object]) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def ratio(job: Callable[[], object], other: Callable[[], object], rounds: int) -> float:
    """Return the median of *rounds* paired ratios of the times of two jobs."""
    job()
    other()
    return statistics.median(_seconds(job) / _seconds(other) for _ in range(rounds))


def measure(turns: int) -> list[tuple[str, float, float, float]]:
    """Return name, encode ratio, decode ratio and size ratio for each format."""
    graph = graphs.ours(turns)
    twin = graphs.plain(graph)
    pickled = pickle.dumps(twin, protocol=5)
    if pickle.loads(pickled) != twin:
        raise AssertionError("pickle changed the graph")
    rounds = max(5, 30_000 // turns)
    rows: list[tuple[str, float, float, float]] = []
    for name in ("json", "msgpack"):
        codec = graphcodec.Codec(format="json" if name == "json" else "msgpack")
        data = codec.encode(graph)
        if not same_graph(graph, codec.decode(data)):
            raise AssertionError(f"{name} changed the graph")
        encode = ratio(
            partial(codec.encode, graph), partial(pickle.dumps, twin, 5), rounds
        )
        decode = ratio(
            partial(codec.decode, data), partial(pickle.loads, pickled), rounds
        )
        rows.append((name, encode, decode, len(data) / len(pickled)))
    return rows


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def main(sizes: list[int]) -> None:
    """Print one table for the given numbers of turns."""
    _say("ratios against pickle protocol 5 of plain attrs classes, lower is better")
    _say(f"{'turns':>8} {'format':<8} {'encode':>8} {'decode':>8} {'bytes':>8}")
    for turns in sizes:
        for name, encode, decode, size in measure(turns):
            _say(f"{turns:>8} {name:<8} {encode:>8.2f} {decode:>8.2f} {size:>8.2f}")


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [100, 1_000])
