"""Streams that check, while they are read, what was pinned."""

from __future__ import annotations

import hashlib
import io
from typing import TYPE_CHECKING, BinaryIO, Protocol, cast, runtime_checkable

from graphcodec.errors import HandleError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from graphcodec_resolvers._pins import Pins
    from graphcodec_resolvers._places import Place

BLOCK = 1 << 16
"""How many bytes are asked for at a time."""


class Source(Protocol):
    """One opened object. It is used by one stream, and keeps no position of its own."""

    def read_at(self, position: int, count: int, /) -> bytes:
        """Return up to *count* bytes from *position*; none only behind the end."""
        ...

    def close(self) -> None:
        """Let go of the file or connection; calling it again does nothing."""
        ...


@runtime_checkable
class AsyncSource(Source, Protocol):
    """One that can be awaited as well."""

    async def aread_at(self, position: int, count: int, /) -> bytes:
        """Do what `read_at` does without blocking the event loop."""
        ...


async def aread_exactly(source: AsyncSource, start: int, end: int) -> bytes:
    """Do what `read_exactly` does without blocking the event loop.

    Args:
        source: What to read.
        start: Offset of the first byte.
        end: Offset behind the last byte.
    """
    pieces: list[bytes] = []
    while start < end and (piece := await source.aread_at(start, end - start)):
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)


def read_exactly(source: Source, start: int, end: int) -> bytes:
    """Return the bytes from *start* to *end*, fewer only where the content ends.

    Args:
        source: What to read.
        start: Offset of the first byte.
        end: Offset behind the last byte.
    """
    pieces: list[bytes] = []
    while start < end and (piece := source.read_at(start, end - start)):
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)


def sha256_of(source: Source) -> str:
    """Return the hash of the whole content, read in constant memory.

    Args:
        source: What to read.
    """
    digest = hashlib.sha256()
    position = 0
    while piece := source.read_at(position, BLOCK):
        digest.update(piece)
        position += len(piece)
    return digest.hexdigest()


class PinnedStream(io.RawIOBase):
    """Reads a source, and raises rather than end with bytes that were not pinned.

    The hash grows while the bytes go by in order, also over several passes; it is
    compared before the last piece is handed out. Jumps leave it unfinished: only a
    full read proves the content.

    Args:
        source: What to read; closed with the stream.
        pins: What the bytes must be.
        place: Where they are, for errors.
        size: The number of bytes that was found on opening, if it was told.
    """

    def __init__(
        self, source: Source, pins: Pins, place: Place, *, size: int | None
    ) -> None:
        super().__init__()
        self._source = source
        self._pins = pins
        self._place = place
        self._size = size
        self._position = 0
        self._digest = hashlib.sha256()
        self._digested = 0

    def readable(self) -> bool:
        """Say that the stream can be read."""
        return True

    def seekable(self) -> bool:
        """Say that the stream can be read from any position."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill *buffer* as far as the source gives bytes in one go."""
        view = memoryview(buffer).cast("B")
        with self._place.mapped():
            data = self._next(len(view))
        view[: len(data)] = data
        self._position += len(data)
        return len(data)

    async def aread(self, count: int) -> bytes:
        """Do what `read` does without blocking the event loop.

        Args:
            count: How many bytes at most, at least 1.
        """
        source = cast("AsyncSource", self._source)
        with self._place.mapped():
            data = await source.aread_at(self._position, count)
            self._admit(data, count)
        self._position += len(data)
        return data

    def _next(self, count: int) -> bytes:
        data = self._source.read_at(self._position, count) if count else b""
        self._admit(data, count)
        return data

    def _admit(self, data: bytes, count: int) -> None:
        end = self._position + len(data)
        pinned = self._pins.size
        if data and pinned is not None and end > pinned:
            raise self._place.stale(f"there are more than the {pinned} bytes pinned")
        if count and not data and pinned is not None and end < pinned:
            raise self._place.stale(f"only {end} of the {pinned} bytes pinned are left")
        self._prove(data, at_end=bool(count) and not data)

    def _prove(self, data: bytes, *, at_end: bool) -> None:
        skipped = self._digested - self._position
        if self._pins.sha256 is None or skipped < 0:
            return
        fresh = memoryview(data)[skipped:]
        self._digest.update(fresh)
        self._digested += len(fresh)
        complete = self._digested == self._size or at_end
        if complete and self._digest.hexdigest() != self._pins.sha256:
            raise self._place.stale("the content does not have the sha256 pinned")

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go to a position, counted from the start, from here or from the end."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}
        start = base[whence]
        if start is None:
            reason = "the length is not known, so there is no end to count from"
            raise self._place.error(HandleError, reason)
        if start + offset < 0:
            msg = f"negative seek position {start + offset}"
            raise ValueError(msg)
        self._position = start + offset
        return self._position

    def tell(self) -> int:
        """Return the position of the next byte."""
        return self._position

    def close(self) -> None:
        """Close the stream and its source."""
        if not self.closed:
            self._source.close()
        super().close()


def buffered(stream: PinnedStream) -> BinaryIO:
    """Return *stream* with a buffer, as the file object that readers give out.

    Args:
        stream: The raw stream.
    """
    return io.BufferedReader(stream, BLOCK)
