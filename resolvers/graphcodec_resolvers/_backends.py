"""What a store needs of the place where it keeps bytes."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, runtime_checkable

from attrs import frozen

from graphcodec_resolvers._streams import BLOCK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from graphcodec_resolvers._pins import Pins
    from graphcodec_resolvers._streams import AsyncSource, Source

Span: TypeAlias = tuple[int, int]
"""Where a range begins and ends."""

WHOLE: Final[Span] = (0, BLOCK)
"""The span for somebody who reads from the beginning, nobody knows how far."""

FACTS: Final[Span] = (0, 0)
"""The span for somebody who reads nothing and wants to know about it."""

TOUCH_AFTER: Final = 3600
"""After how many seconds content that is written again has to be made to look new."""

CONTENT = "sha256"
"""The folder of everything that a store wrote itself."""


@frozen
class Kept:
    """Content that lies in a store.

    Attributes:
        sha256: Its hash, as 64 hexadecimal digits.
        size: How many bytes it has.
        modified: When it was written last, in seconds since 1970; None if the store
            can't tell.
    """

    sha256: str
    size: int
    modified: float | None = None


class ErasedError(FileNotFoundError):
    """The object may be there, but the version that was asked for is not."""


class Backend(Protocol):
    """One root in one file system, in one process.

    Keys have been checked when they get here. Failures are those of the builtins:
    `FileNotFoundError`, `PermissionError` and other `OSError`.
    """

    @property
    def process(self) -> str | None:
        """The id of the process whose memory holds the bytes; None if they last."""
        ...

    def open(self, key: str, pins: Pins, span: Span = WHOLE, /) -> tuple[Source, Pins]:
        """Open an object; return it with the facts of what was opened.

        The facts must be those of the very bytes that the source reads, not of what
        bears the name a moment earlier. *pins* says which version is wanted, *span*
        what will be read first, for those that may as well bring it along.
        """
        ...

    def keep(self, chunks: Iterable[bytes], media_type: str | None = None, /) -> Kept:
        """Write content under its hash, unless it is there already.

        Nobody may ever see a part of it, and a crash must leave nothing in the way.
        What is there already must look as new as what is written, or be written.
        """
        ...

    def delete(self, key: str, /) -> bool:
        """Remove an object; say whether it was there."""
        ...

    def contents(self) -> Iterator[Kept]:
        """Yield everything that `keep` wrote."""
        ...

    def discard(self, kept: Kept, before: float, /) -> bool:
        """Remove content, unless it was written after *before*; say whether it was."""
        ...

    def leftovers(self, before: float, /, *, dry_run: bool) -> int:
        """Remove what writers left half-written, and count it.

        Args:
            before: Writers that began later may still be at it.
            dry_run: Whether to count only.
        """
        ...

    def url(self, key: str, pins: Pins, expires: float, /) -> str | None:
        """Return a URL for the object that holds for *expires* seconds, if any."""
        ...


@runtime_checkable
class AsyncBackend(Protocol):
    """A backend that can be awaited."""

    async def aopen(
        self, key: str, pins: Pins, span: Span = WHOLE, /
    ) -> tuple[AsyncSource, Pins]:
        """Do what `Backend.open` does without blocking the event loop."""
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
