"""A fuzzer that knows documents: valid ones, with a few mistakes in them."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

from attrs import define

from graphcodec._frames import MAGIC, compress, opened
from graphcodec.errors import GraphCodecError
from tests.codec.test_mutations import Mutator
from tests.fuzz.targets import LIMITS, Target

LONGEST = 2.0
"""Seconds of processor time that one small document may take."""


class Found(Exception):  # noqa: N818 - it is what one hopes for
    """Something came out that must not, or too late.

    Args:
        why: What came out.
        data: What was fed.
    """

    def __init__(self, why: str, data: bytes) -> None:
        super().__init__(why)
        self.data = data


@define
class Outcome:
    """How a run went.

    Attributes:
        executions: How many documents were fed.
        taken: How many of them were taken.
        slowest: The longest processor time of one, in seconds.
        grown: By how many bytes the process became larger at its peak.
    """

    executions: int = 0
    taken: int = 0
    slowest: float = 0.0
    grown: int = 0


def mutated(data: bytes, mutator: Mutator) -> bytes:
    """Return a document with mistakes; of a frame, also inside it.

    Args:
        data: The document.
        mutator: Makes the mistakes.
    """
    if data[:1] != MAGIC[:1] or mutator.random.random() < 1 / 3:
        return _mistaken(data, mutator)
    try:
        inner = bytes(opened(data, LIMITS))
    except GraphCodecError:
        return _mistaken(data, mutator)
    wrong = _mistaken(inner, mutator)
    frame = compress(wrong, mutator.random.choice(("gzip", "zstd")), LIMITS)
    return _broken(frame, mutator) if mutator.random.random() < 1 / 2 else frame


def _mistaken(data: bytes, mutator: Mutator) -> bytes:
    try:
        return mutator.mistaken(data) if data else b"{"
    except (ValueError, OverflowError, RecursionError, TypeError):
        # It is no document, or the mistake can't be written: a byte will do.
        return _broken(data, mutator)


def _broken(data: bytes, mutator: Mutator) -> bytes:
    """Return bytes of which one, mostly of the header, is another."""
    out = bytearray(data)
    near = min(len(out), mutator.random.choice((16, 32, len(out))))
    index = mutator.random.randrange(max(near, 1))
    out[index : index + 1] = bytes([mutator.random.randrange(256)])
    if mutator.random.random() < 1 / 4:
        del out[mutator.random.randrange(len(out) + 1) :]
    return bytes(out)


def peak() -> int:
    """Return the most memory that this process had, in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def fuzz(
    target: Target, seconds: float, *, seed: int, corpus: Path | None = None
) -> Outcome:
    """Feed mutated documents for some time.

    Args:
        target: What they are fed to.
        seconds: How long.
        seed: Of the first one; the next ones count up.
        corpus: A folder with more documents to begin with.

    Raises:
        Found: If anything comes out that is no error of ours, or takes too long.
    """
    seeds = target.seeds()
    if corpus is not None and corpus.is_dir():
        seeds += [path.read_bytes() for path in sorted(corpus.iterdir())]
    for data in seeds:
        target.feed(data)
    outcome = Outcome()
    before, end = peak(), time.monotonic() + seconds
    while time.monotonic() < end:
        mutator = Mutator(seed + outcome.executions)
        data = mutated(mutator.random.choice(seeds), mutator)
        outcome.taken += _fed(target, data, outcome)
        outcome.executions += 1
    outcome.grown = peak() - before
    return outcome


def minimised(target: Target, data: bytes, seconds: float = 20.0) -> bytes:
    """Return what is left of a find when all is cut away that it does not need.

    Args:
        target: What it was fed to.
        data: The find.
        seconds: How long to try.
    """
    wanted, end = _came_out(target, data), time.monotonic() + seconds
    size = len(data) // 2
    while size and time.monotonic() < end:
        start, cut = 0, False
        while start < len(data) and time.monotonic() < end:
            shorter = data[:start] + data[start + size :]
            if wanted is not None and _came_out(target, shorter) is wanted:
                data, cut = shorter, True
            else:
                start += size
        size = size if cut and size > 1 else size // 2
    return data


def _came_out(target: Target, data: bytes) -> type[Exception] | None:
    try:
        target.feed(data)
    except Exception as exc:  # noqa: BLE001 - whatever it is
        return type(exc)
    return None


def _fed(target: Target, data: bytes, outcome: Outcome) -> bool:
    start = time.process_time()
    try:
        taken = target.feed(data)
    except Exception as exc:
        raise Found(f"{type(exc).__name__}: {exc}", data) from exc
    spent = time.process_time() - start
    outcome.slowest = max(outcome.slowest, spent)
    if spent > LONGEST:
        raise Found(f"it took {spent:.1f} seconds", data)
    return taken
