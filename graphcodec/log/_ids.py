"""Names for records and sessions whose order as text is the order in time.

An id is a SCRU128: 128 bits as 25 digits of base 36. The first 48 bits are the time in
milliseconds since 1970; what follows is chosen so that ids of one process only grow.
"""

import hashlib
import os
import platform
import secrets
import threading
import time
from typing import Final, Self

from graphcodec.errors import InvalidValueError

__all__ = ["SessionId", "derived_id", "milliseconds_of", "new_id"]

_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_LENGTH: Final = 25
_AFTER_TIME: Final = 80
_AFTER_MACHINE: Final = 64
_STEP_BITS: Final = 32


class _Generator:
    """Makes ids that grow, also within one millisecond and when the clock goes back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0
        self._machine = _machine_bits()
        # Two children of one fork must not wait for a lock that nobody holds.
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        self._lock = threading.Lock()

    def next(self) -> int:
        """Return a number above all that were returned before."""
        with self._lock:
            now = time.time_ns() // 1_000_000
            if now > self._last >> _AFTER_TIME:
                start = now << 16 | self._machine
                rest = secrets.randbits(_AFTER_MACHINE - 1)
                self._last = start << _AFTER_MACHINE | rest
            else:
                # A random step is hard to guess and can't meet that of a fork.
                self._last += 1 + secrets.randbits(_STEP_BITS)
            return self._last


def _machine_bits() -> int:
    """Return 16 bits that tell machines apart; random where one has no name."""
    name = platform.node().encode()
    if not name:
        return secrets.randbits(16)
    return int.from_bytes(hashlib.sha256(name).digest()[:2])


# Ids only grow within a process if the process has one generator.
_GENERATOR: Final = _Generator()


def new_id() -> str:
    """Return a new id, above all others that this process made."""
    return _text(_GENERATOR.next())


def derived_id(data: bytes, *, milliseconds: int = 0) -> str:
    """Return the id that belongs to some bytes, the same in every process.

    Args:
        data: What the id is made of.
        milliseconds: The time that it shall bear, since 1970.
    """
    rest = int.from_bytes(hashlib.sha256(data).digest()[: _AFTER_TIME // 8])
    return _text(min(max(milliseconds, 0), (1 << 48) - 1) << _AFTER_TIME | rest)


def milliseconds_of(name: str) -> int | None:
    """Return the time that an id bears, since 1970; None if it is no such id.

    Args:
        name: The id, in either case.
    """
    if len(name) != _LENGTH or not (name.isascii() and name.isalnum()):
        return None
    number = int(name, 36)
    return None if number >> 128 else number >> _AFTER_TIME


def _text(number: int) -> str:
    digits: list[str] = []
    for _ in range(_LENGTH):
        number, digit = divmod(number, 36)
        digits.append(_DIGITS[digit])
    return "".join(reversed(digits))


class SessionId(str):
    """The name of a session: a str of 25 digits that can tell when and where it began.

    Any non-empty str may name a session. This one sorts by time.
    """

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        """Take a text that is an id.

        Raises:
            InvalidValueError: If it is none.
        """
        if milliseconds_of(text) is None:
            msg = f"a session id has {_LENGTH} digits of base 36, not {text[:40]!r}"
            raise InvalidValueError(msg, type_name="SessionId", value=text[:40])
        return super().__new__(cls, text.lower())

    @classmethod
    def new(cls) -> Self:
        """Return a new one, above all others that this process made."""
        return cls(new_id())

    @classmethod
    def from_name(cls, name: str) -> Self:
        """Return the one that belongs to a name, the same always and everywhere.

        So a program that knows its session by a name resumes it. It bears no time.

        Args:
            name: The name.
        """
        return cls(derived_id(name.encode("utf-8", "surrogatepass")))

    @property
    def timestamp_ms(self) -> int:
        """The time when it was made, in milliseconds since 1970."""
        return int(self, 36) >> _AFTER_TIME

    @property
    def machine_id(self) -> int:
        """A number from 0 to 65,535 of the machine that made it."""
        return int(self, 36) >> _AFTER_MACHINE & 0xFFFF
