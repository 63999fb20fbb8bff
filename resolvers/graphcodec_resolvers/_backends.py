"""What a store needs of the place where it keeps bytes."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Protocol

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from graphcodec_resolvers._pins import Pins
    from graphcodec_resolvers._streams import Source

CONTENT = "sha256"
"""The folder of everything that a store wrote itself."""


@frozen
class Kept:
    """Content that lies in a store.

    Attributes:
        sha256: Its hash, as 64 hexadecimal digits.
        size: How many bytes it has.
    """

    sha256: str
    size: int


class Backend(Protocol):
    """One root in one file system, in one process.

    Keys have been checked when they get here. Failures are those of the builtins:
    `FileNotFoundError`, `PermissionError` and other `OSError`.
    """

    @property
    def process(self) -> str | None:
        """The id of the process whose memory holds the bytes; None if they last."""
        ...

    def open(self, key: str, pins: Pins, /) -> tuple[Source, Pins]:
        """Open an object; return it with the facts of what was opened.

        The facts must be those of the very bytes that the source reads, not of what
        bears the name a moment earlier. *pins* says which version is wanted.
        """
        ...

    def keep(self, chunks: Iterable[bytes], /) -> Kept:
        """Write content under its hash, unless it is there already.

        Nobody may ever see a part of it, and a crash must leave nothing in the way.
        """
        ...

    def holds(self, kept: Kept, /) -> bool:
        """Say whether this content is there, with all its bytes."""
        ...

    def delete(self, key: str, /) -> bool:
        """Remove an object; say whether it was there."""
        ...

    def contents(self) -> Iterator[Kept]:
        """Yield everything that `keep` wrote."""
        ...

    def url(self, key: str, expires: float, /) -> str | None:
        """Return a URL for the object that holds for *expires* seconds, if any."""
        ...


class Hashed:
    """Passes chunks on and counts and hashes what goes by.

    Args:
        chunks: The content.
    """

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self._digest = hashlib.sha256()
        self._size = 0

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            self._digest.update(chunk)
            self._size += len(chunk)
            yield chunk

    def kept(self) -> Kept:
        """Return the hash and size of what has gone by."""
        return Kept(self._digest.hexdigest(), self._size)
