"""What a document at a limit costs: ``python -m tests.bench.limits``.

For each default, a document that just keeps to it; the time and the memory are those of
decoding it, in a process of its own, on Linux.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from graphcodec import BytesReader, Codec, Limits, Registry

_MANY: Final = Limits(max_bytes=1 << 30, max_nodes=1 << 30)


def _plain() -> bytes:
    """Return `max_bytes` of plain data, in texts of a kilobyte."""
    text = "x" * 1_000
    return _sized(Codec().encode([text] * 1_000), lambda n: [text] * n)


def _small() -> bytes:
    """Return `max_bytes` of the smallest values that are walked."""
    return _sized(Codec().encode([(1,)] * 1_000), lambda n: [(1,) for _ in range(n)])


def _sized(sample: bytes, make: Callable[[int], object]) -> bytes:
    """Return a document a little below `max_bytes`, given one of a thousand parts."""
    count = Limits().max_bytes * 999 // len(sample)
    return Codec(limits=_MANY).encode(make(count))


def _nodes() -> bytes:
    """Return `max_nodes` nodes, each an object that is met twice."""
    shared = [Registry() for _ in range(Limits().max_nodes - 1)]
    return Codec().encode([shared, shared])


def _chain() -> bytes:
    """Return a million levels, one in the other."""
    graph: list[object] = []
    for _ in range(1_000_000):
        graph = [graph]
    return Codec().encode(graph)


def _inline() -> bytes:
    """Return one reader with `max_inline_bytes`."""
    return Codec().encode(BytesReader(bytes(Limits().max_inline_bytes)))


def _inflated() -> bytes:
    """Return a frame that holds `max_decompressed`."""
    text = "0" * (Limits().max_decompressed // 8 - 100)
    return Codec(compression="gzip").encode([text] * 8)


CASES: Final[Mapping[str, Callable[[], bytes]]] = {
    "max_bytes, long texts": _plain,
    "max_bytes, small tuples": _small,
    "max_nodes": _nodes,
    "max_depth, a million": _chain,
    "max_inline_bytes": _inline,
    "max_decompressed": _inflated,
}


def cost(name: str) -> tuple[float, float, float]:
    """Return megabytes of a document, seconds to decode it, megabytes that it takes.

    Args:
        name: Of the case.
    """
    data = CASES[name]()
    child = subprocess.run(
        [sys.executable, "-m", "tests.bench.limits", "-"],
        input=data,
        capture_output=True,
        check=True,
    )
    seconds, megabytes = map(float, child.stdout.split())
    return len(data) / (1 << 20), seconds, megabytes


def _measured() -> tuple[float, float]:
    codec = Codec()
    codec.decode(codec.encode([(1,), Registry()]))
    data = sys.stdin.buffer.read()
    before = _kilobytes("VmRSS")
    # Else the peak would be that of the process that started this one.
    Path("/proc/self/clear_refs").write_text("5")
    start = time.process_time()
    codec.decode(data)
    spent = time.process_time() - start
    return spent, (_kilobytes("VmHWM") - before) / 1024


def _kilobytes(name: str) -> int:
    """Return a figure of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))


def main() -> None:
    """Print the table, or the figures of what comes in."""
    if sys.argv[1:] == ["-"]:
        spent, grown = _measured()
        sys.stdout.write(f"{spent} {grown}\n")
        return
    for name in sys.argv[1:] or CASES:
        size, seconds, megabytes = cost(name)
        sys.stdout.write(
            f"{name:26} {size:8.1f} MiB {seconds:7.2f} s {megabytes:8.0f} MiB\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
