"""Compare `GraphQueue` with `multiprocessing.Queue`: ``python -m tests.bench.queues``.

Both carry the same conversations from this process to one other, ours as documents,
theirs as pickles of plain attrs classes of the same shape. What counts is the ratio of
the throughputs of one run, each at its best: the two sides take turns.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from typing import TYPE_CHECKING, Any

from graphcodec.queues import GraphQueue
from tests.bench import graphs

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

METHODS = ("fork", "forkserver", "spawn")
ROUNDS = 9
TURNS = 2_000


def consume(queue: Any, answers: Any) -> None:
    """Take everything, and answer at each mark with the number of items since."""
    count = 0
    while (graph := queue.get()) != "end":
        if graph == "mark":
            answers.send(count)
            count = 0
        else:
            count += len(graph.items)


def seconds(queue: Any, answers: Any, graph: Any, times: int) -> float:
    """Return how long it takes until *times* graphs have been received."""
    start = time.perf_counter()
    for _ in range(times):
        queue.put(graph)
    queue.put("mark")
    if answers.recv() != times * len(graph.items):
        raise AssertionError("items were lost")
    return time.perf_counter() - start


class Side:
    """A queue and the process that takes from it."""

    def __init__(self, context: BaseContext, queue: Any) -> None:
        self.queue = queue
        self.answers, answers = context.Pipe(duplex=False)
        starts: Any = context
        process: BaseProcess = starts.Process(target=consume, args=(queue, answers))
        self.process = process
        self.process.start()

    def seconds(self, graph: Any, times: int) -> float:
        """Return how long it takes until *times* graphs have been received."""
        return seconds(self.queue, self.answers, graph, times)

    def end(self) -> None:
        """Let the process end."""
        self.queue.put("end")
        self.process.join()
        self.queue.close()


def measure(method: str, turns: int) -> float:
    """Return the throughput as a multiple of that of `multiprocessing.Queue`."""
    context = multiprocessing.get_context(method)
    graph = graphs.ours(turns)
    twin = graphs.plain(graph)
    times = max(TURNS // turns, 3)
    ours = Side(context, GraphQueue(context=context))
    theirs = Side(context, context.Queue())
    for side, what in ((ours, graph), (theirs, twin)):
        side.seconds(what, 3)
    rounds = [
        (ours.seconds(graph, times), theirs.seconds(twin, times)) for _ in range(ROUNDS)
    ]
    ours.end()
    theirs.end()
    return min(b for _, b in rounds) / min(a for a, _ in rounds)


def main(sizes: list[int]) -> None:
    """Print a table for the given numbers of turns."""
    sys.stdout.write("throughput as a multiple of multiprocessing.Queue with pickle\n")
    sys.stdout.write(
        f"{'turns':>8}" + "".join(f"{name:>12}" for name in METHODS) + "\n"
    )
    for turns in sizes:
        sys.stdout.write(f"{turns:>8}")
        for method in METHODS:
            sys.stdout.write(f"{measure(method, turns):>12.2f}")
            sys.stdout.flush()
        sys.stdout.write("\n")


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [1, 10, 100, 1_000])
