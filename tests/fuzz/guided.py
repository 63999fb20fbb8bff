"""The coverage-guided fuzzer, in a process of its own: atheris never returns.

``python -m tests.fuzz.guided TARGET SECONDS CORPUS``; half of what it feeds are the
mutations of libFuzzer, and half those that know documents.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import atheris

# The types of atheris leave out what it says of itself.
with atheris.instrument_imports(include=["graphcodec"]):  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    from tests.fuzz.mutating import mutated
    from tests.fuzz.targets import TARGETS

from tests.codec.test_mutations import Mutator

_MOST_BYTES = 20_000
_MOST_MEMORY = 1024
"""Megabytes of the process, its instrumented code included."""


def _mutate(data: bytes, most: int, seed: int) -> bytes:
    if random.Random(seed).random() < 1 / 2:  # noqa: S311 - no secret
        return bytes(atheris.Mutate(data, most))
    return mutated(data, Mutator(seed))[:most]


def main(name: str, seconds: str, corpus: str) -> None:
    """Fuzz for some time, or until something is found.

    Args:
        name: The target.
        seconds: How long.
        corpus: A folder that begins with the seeds and grows.
    """
    target = TARGETS[name]
    folder = Path(corpus)
    folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(target.seeds()):
        (folder / f"seed-{number:03}").write_bytes(data)
    options = [
        f"-max_total_time={seconds}",
        f"-max_len={_MOST_BYTES}",
        f"-rss_limit_mb={_MOST_MEMORY}",
        "-timeout=20",
        "-print_final_stats=1",
        f"-artifact_prefix={folder.parent}/found-{folder.name}-",
    ]
    arguments = [sys.argv[0], *options, str(folder)]

    def feed(data: bytes) -> None:
        target.feed(data)

    atheris.Setup(arguments, feed, custom_mutator=_mutate)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
