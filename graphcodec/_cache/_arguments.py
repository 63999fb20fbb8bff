"""What the operations of a cache are told, and what it means to Redis."""

from __future__ import annotations

import hashlib
import re
from datetime import timedelta
from typing import Final, NamedTuple
from urllib.parse import quote

from graphcodec._live import type_name
from graphcodec._paths import excerpt
from graphcodec.errors import (
    ConflictError,
    InvalidValueError,
    SnapshotNotFoundError,
)

_MOST_TURN: Final = 2**53 - 1
"""What a script in Redis can count without loss."""

_TURN: Final = re.compile(rb"0|[1-9][0-9]{0,15}")
_LEAST: Final = 0.001
"""The shortest time to live, in seconds."""


class Keys(NamedTuple):
    """The keys of one session, which lie in one slot of a cluster.

    Attributes:
        chunks: The key of the hash of chunks.
        turns: The key of the hash of turns.
    """

    chunks: str
    turns: str


class Namespace:
    """Gives sessions their keys.

    Args:
        name: What the keys begin with, written so that nothing in it has a meaning to
            Redis.

    Attributes:
        prefix: What the keys begin with, as it is written.
        pattern: A pattern for the keys of the turns of all sessions.
    """

    def __init__(self, name: str) -> None:
        if type(name) is not str:
            raise invalid("namespace", "text", name)
        self.prefix = quote(name, safe="", errors="surrogatepass")
        self.pattern = f"{self.prefix}:{{*}}:turns"

    def keys(self, session_id: str) -> Keys:
        """Return the keys of a session.

        Args:
            session_id: Any text. It is hashed, so nothing in it can lead elsewhere.

        Raises:
            InvalidValueError: If it is no text.
        """
        if not isinstance(session_id, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise invalid("session_id", "text", session_id)
        digest = digest_of(session_id)
        key = f"{self.prefix}:{{{digest}}}"
        return Keys(f"{key}:chunks", f"{key}:turns")

    def session_of(self, keys: Keys, name: bytes | None) -> str | None:
        """Return the session that *keys* are of; None if they are of none.

        Args:
            keys: Keys that were found.
            name: What is stored there as the id of the session.
        """
        try:
            session_id = (name or b"").decode(errors="surrogatepass")
        except UnicodeDecodeError:
            return None
        return (
            session_id if name is not None and self.keys(session_id) == keys else None
        )


def digest_of(text: str) -> str:
    """Return what stands for any text in a key: SHA-256, in hexadecimal."""
    return hashlib.sha256(as_bytes(text)).hexdigest()


def as_bytes(text: str) -> bytes:
    """Return any text as bytes, lone surrogates included."""
    return text.encode(errors="surrogatepass")


def field_of(turn: int) -> str:
    """Return the field of a turn.

    Args:
        turn: Its number.

    Raises:
        InvalidValueError: If it can't be one.
    """
    if type(turn) is not int or not 0 <= turn <= _MOST_TURN:
        raise invalid("turn", "an int from 0", turn)
    return str(turn)


def turn_of(name: bytes) -> int | None:
    """Return the turn whose field has this name; None if it is another field."""
    turn = int(name) if _TURN.fullmatch(name) else None
    return None if turn is None or turn > _MOST_TURN else turn


def milliseconds(ttl: float | timedelta | None) -> int:
    """Return a time to live as Redis takes it, 0 for none.

    Args:
        ttl: In seconds.

    Raises:
        InvalidValueError: If it is no time.
    """
    if ttl is None:
        return 0
    seconds = ttl.total_seconds() if isinstance(ttl, timedelta) else ttl
    if type(seconds) not in (int, float) or not _LEAST <= seconds < _MOST_TURN / 1000:
        raise invalid("ttl", "a positive number of seconds", ttl)
    return int(seconds * 1000)


def invalid(name: str, wanted: str, value: object) -> InvalidValueError:
    """Return the error for an argument.

    Args:
        name: Its name.
        wanted: What it must be.
        value: What it is.
    """
    kind = type_name(type(value))
    msg = f"{name} must be {wanted}, not {excerpt(value)}"
    return InvalidValueError(msg, type_name=kind)


def not_found(session_id: str, turn: int | None) -> SnapshotNotFoundError:
    """Return the error for a snapshot that is not there.

    Args:
        session_id: The session.
        turn: The turn, None for the newest.
    """
    what = "no turn" if turn is None else f"no turn {turn}"
    msg = f"there is {what} of the session {excerpt(session_id)}"
    hint = "it was never saved, was deleted, or its time has passed"
    return SnapshotNotFoundError(msg, hint=hint, value=turn)


def conflict(expected: str, actual: int, version: int) -> ConflictError:
    """Return the error for a version that is not the expected one.

    Args:
        expected: The version, or ``new`` for a session that must not be there.
        actual: The version of the turn.
        version: The version of the session.
    """
    if expected == "new":
        msg = f"there is a session of that id, at version {version}"
        return ConflictError(msg, value=version, hint="fork to another id")
    state = f"at version {actual}" if actual else "not there yet (version 0)"
    msg = (
        f"version {expected} was expected, but the turn is {state},"
        f" and the session at version {version}"
    )
    hint = "load what is there now, and decide what becomes of it"
    return ConflictError(msg, value=actual, hint=hint)
