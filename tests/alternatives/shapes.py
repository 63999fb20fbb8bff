"""The classes with which codecs are compared: dataclasses, which all of them take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass
class Person:
    """Somebody whom several notes may be by."""

    name: str


@dataclass
class Note:
    """Something that was written, with room for anything."""

    author: Person
    text: str
    count: int
    at: datetime
    extra: Any = None


@dataclass
class Talk:
    """Notes in order."""

    notes: list[Note] = field(default_factory=list[Note])


@dataclass
class Link:
    """One of a chain, or of a ring."""

    name: str
    next: Link | None = None


@dataclass
class Moved:
    """A class that will not be where it was when its documents were written."""

    name: str


SPRUNG: list[str] = []


def trap(word: str = "code ran") -> str:
    """Note that a document made somebody call this."""
    SPRUNG.append(word)
    return word


class Bait:
    """Pickles as a call of `trap`."""

    def __reduce__(self) -> tuple[Callable[[str], str], tuple[str]]:
        """Return what any pickle may name."""
        return trap, ("code ran",)
