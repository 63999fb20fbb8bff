"""The content behind a URL, each way of reading it in its two faces."""

from __future__ import annotations

from contextlib import aclosing
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from attrs import frozen

from graphcodec.readers._threads import in_thread
from graphcodec_resolvers._body import HttpBody, HttpSource
from graphcodec_resolvers._senders import finish
from graphcodec_resolvers._streams import PinnedStream, buffered

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from graphcodec_resolvers._fetch import Fetcher
    from graphcodec_resolvers._pins import Pins
    from graphcodec_resolvers._places import Place

_IN_MEMORY: Final = 1 << 20


@frozen
class Content:
    """What a URL serves.

    Attributes:
        fetcher: Sends the requests.
        url: Where the bytes are.
        pins: What they must be.
        place: The URL as errors may show it.
    """

    fetcher: Fetcher
    url: str
    pins: Pins
    place: Place

    def _body(self, *, awaited: bool) -> HttpBody:
        return HttpBody(self.fetcher, self.url, self.pins, self.place, awaited=awaited)

    def opened(self) -> BinaryIO:
        """Return a stream over the content, which is received as it is read."""
        body = self._body(awaited=False)
        finish(body.begin())
        return buffered(self._pinned(body))

    def _pinned(self, body: HttpBody) -> PinnedStream:
        source = HttpSource(body)
        return PinnedStream(source, self.pins, self.place, size=body.size)

    async def aopened(self) -> BinaryIO:
        """Return a stream over the content, which was received and checked."""
        spool = cast("BinaryIO", SpooledTemporaryFile(_IN_MEMORY))  # noqa: SIM115 - returned
        try:
            async with aclosing(self.apieces(_IN_MEMORY)) as pieces:
                async for piece in pieces:
                    spool.write(piece)
        except BaseException:
            spool.close()
            raise
        spool.seek(0)
        return spool

    async def apieces(self, count: int) -> AsyncGenerator[bytes]:
        """Yield the content in order.

        Args:
            count: The most bytes in one piece.
        """
        if not self.fetcher.awaits:
            with await in_thread(self.opened) as stream:
                while data := await in_thread(stream.read, count):
                    yield data
            return
        body = self._body(awaited=True)
        try:
            await body.begin()
            pinned = self._pinned(body)
            while data := await pinned.aread(count):
                yield data
        finally:
            await body.close()

    def range(self, start: int, end: int) -> bytes:
        """Return the bytes from *start* up to *end*.

        Args:
            start: Offset of the first byte.
            end: Offset behind the last byte.
        """
        return finish(self._range(start, end, awaited=False))

    async def arange(self, start: int, end: int) -> bytes:
        """Do what `range` does without blocking the event loop.

        Args:
            start: Offset of the first byte.
            end: Offset behind the last byte.
        """
        if not self.fetcher.awaits:
            return await in_thread(self.range, start, end)
        return await self._range(start, end, awaited=True)

    async def _range(self, start: int, end: int, *, awaited: bool) -> bytes:
        start = max(0, start)
        if self.pins.size is not None:
            end = min(end, self.pins.size)
        if start >= end:
            return b""
        body = self._body(awaited=awaited)
        pieces: list[bytes] = []
        try:
            await body.begin(start, end - 1)
            while start < end and (piece := await body.read_at(start, end - start)):
                pieces.append(piece)
                start += len(piece)
        finally:
            await body.close()
        return b"".join(pieces)

    def length(self) -> int | None:
        """Return the number of bytes, None if the server does not tell."""
        return finish(self._length(awaited=False))

    async def alength(self) -> int | None:
        """Do what `length` does without blocking the event loop."""
        if not self.fetcher.awaits:
            return await in_thread(self.length)
        return await self._length(awaited=True)

    async def _length(self, *, awaited: bool) -> int | None:
        body = self._body(awaited=awaited)
        try:
            await body.begin(0, 0)
        finally:
            await body.close()
        return body.size
