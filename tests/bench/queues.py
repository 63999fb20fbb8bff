"""Compare `GraphQueue` with `multiprocessing.Queue`: ``python -m tests.bench.queues``.

Both carry the same conversations from this process to one other, ours as documents,
theirs as pickles of plain attrs classes of the same shape. What counts is the ratio of
the throughputs of one run, each at its best: the two sides take turns. Where other
programs keep the processors busy, the processor time of the busier of the two processes
tells more than the time that passed: it is what bounds the throughput.
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

Seconds = tuple[float, float]
"""Elapsed, and of the processor in the busier process."""

METHODS = ("fork", "forkserver", "spawn")
ROUNDS = 9
TURNS = 2_000


def consume(queue: Any, answers: Any) -> None:
    """Take everything; answer at each mark with the items and seconds since."""
    count, start = 0, time.process_time()
    while (graph := queue.get()) != "end":
        if graph == "mark":
            answers.send((count, time.process_time() - start))
            count, start = 0, time.process_time()
        else:
            count += len(graph.items)


class Side:
    """A queue and the process that takes from it."""

    def __init__(self, context: BaseContext, queue: Any) -> None:
        self.queue = queue
        self.answers, answers = context.Pipe(duplex=False)
        starts: Any = context
        process: BaseProcess = starts.Process(target=consume, args=(queue, answers))
        self.process = process
        self.process.start()

    def seconds(self, graph: Any, times: int) -> Seconds:
        """Return how long it takes until *times* graphs have been received."""
        start, busy = time.perf_counter(), time.process_time()
        for _ in range(times):
            self.queue.put(graph)
        self.queue.put("mark")
        count, other = self.answers.recv()
        if count != times * len(graph.items):
            raise AssertionError("items were lost")
        busy = time.process_time() - busy
        return time.perf_counter() - start, max(busy, other)

    def end(self) -> None:
        """Let the process end."""
        self.queue.put("end")
        self.process.join()
        self.queue.close()


def best(rounds: list[Seconds]) -> Seconds:
    """Return the least of both."""
    return min(elapsed for elapsed, _ in rounds), min(busy for _, busy in rounds)


def measure(method: str, turns: int) -> Seconds:
    """Return the throughput as multiples of that of `multiprocessing.Queue`."""
    context = multiprocessing.get_context(method)
    graph = graphs.ours(turns)
    twin = graphs.plain(graph)
    times = max(TURNS // turns, 3)
    ours = Side(context, GraphQueue(context=context))
    theirs = Side(context, context.Queue())
    rounds = [
        (ours.seconds(graph, times), theirs.seconds(twin, times)) for _ in range(ROUNDS)
    ]
    ours.end()
    theirs.end()
    elapsed, busy = best([one for one, _ in rounds])
    their_elapsed, their_busy = best([other for _, other in rounds])
    return their_elapsed / elapsed, their_busy / busy


def main(sizes: list[int]) -> None:
    """Print a table for the given numbers of turns."""
    sys.stdout.write(
        "throughput as a multiple of multiprocessing.Queue with pickle:\n"
        "by the time that passed / by the processor time of the busier process\n"
    )
    sys.stdout.write(
        f"{'turns':>8}" + "".join(f"{name:>14}" for name in METHODS) + "\n"
    )
    for turns in sizes:
        sys.stdout.write(f"{turns:>8}")
        for method in METHODS:
            elapsed, busy = measure(method, turns)
            sys.stdout.write(f"{elapsed:>7.2f} /{busy:>5.2f}")
            sys.stdout.flush()
        sys.stdout.write("\n")


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [1, 10, 100, 1_000])
