"""What the operations of a cache return."""

from __future__ import annotations

from attrs import frozen


@frozen
class Saved:
    """What a save did.

    Attributes:
        turn: The turn that was saved.
        version: Its version: the number of the save within its session, from 1.
        bytes_written: How many bytes of fields and values were sent to be stored.
    """

    turn: int
    version: int
    bytes_written: int


@frozen
class Freed:
    """What was taken away.

    Attributes:
        turns: How many turns.
        chunks: How many chunks that no turn needs any more.
        bytes: How many bytes of fields and values these were.
    """

    turns: int
    chunks: int
    bytes: int


@frozen(kw_only=True)
class Session:
    """What is stored of one session.

    Attributes:
        id: Its id.
        turns: How many turns there are.
        version: The version of the newest save.
        chunks: How many chunks there are.
        bytes: How many bytes of fields and values.
        ttl: The seconds until it passes; None if it stays.
    """

    id: str
    turns: int
    version: int
    chunks: int
    bytes: int
    ttl: float | None
