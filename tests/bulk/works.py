"""Works that other processes import."""

from __future__ import annotations

import os
from pathlib import Path

from attrs import frozen


@frozen
class Number:
    """A job: a number."""

    name: str
    value: int


def fails_at_odd(job: Number) -> bool:
    """Raise for odd numbers; there is nothing to do for zero."""
    if job.value % 2:
        msg = f"{job.value} is odd"
        raise ValueError(msg)
    return job.value != 0


@frozen
class Deadly:
    """Ends the process at one number; notes in a folder what it did of the others."""

    folder: Path
    at: int

    def __call__(self, job: Number) -> bool:
        """Do it."""
        if job.value == self.at:
            os._exit(1)
        note = self.folder / job.name
        if note.exists():
            return False
        note.touch()
        return True


class Unfinished(Exception):  # noqa: N818 - what users raise has such names
    """An exception that does not survive pickling."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what}: {why}")


def fails_oddly(job: Number) -> bool:
    """Raise what can't be sent to another process."""
    raise Unfinished(job.name, "no reason")
