"""A handle to an object in a store, which each process opens with its own binding."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, BinaryIO, Final, Protocol, cast

from graphcodec.errors import (
    InvalidValueError,
    ProcessLocalHandleError,
    ResolverDeniedError,
)
from graphcodec.readers import Reader, ReaderDescriptor
from graphcodec.readers._contracts import CHUNK_SIZE, piece_size
from graphcodec.readers._threads import in_thread
from graphcodec_resolvers._backends import FACTS, WHOLE, AsyncBackend, Span
from graphcodec_resolvers._keys import key_problem, shown
from graphcodec_resolvers._pins import Pins, pins_of
from graphcodec_resolvers._places import Place
from graphcodec_resolvers._streams import (
    AsyncSource,
    PinnedStream,
    Source,
    aread_exactly,
    buffered,
    read_exactly,
    sha256_of,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from graphcodec_resolvers._backends import Backend

SCHEME: Final = "fsspec"
"""The scheme of every handle to a store."""


class Store(Protocol):
    """What a reader needs of its store."""

    def backend(self) -> Backend:
        """Return the live binding of this process."""
        ...


class FsspecReader(Reader):
    """Re-opens an object of a store.

    Stores and resolvers make it. It holds no file system: each process binds its own
    when it opens the reader, so a reader may be used on both sides of a fork. Pickled,
    it is its descriptor.

    Args:
        descriptor: The handle, with a locator that has been checked.
        store: Returns the store, in the process that asks.
    """

    __slots__ = ("_descriptor", "_key", "_pins", "_place", "_store")

    def __init__(
        self, descriptor: ReaderDescriptor, store: Callable[[], Store]
    ) -> None:
        locator = descriptor.locator
        self._descriptor = descriptor
        self._key = str(locator["key"])
        self._pins = pins_of(locator)
        self._place = store_place(str(locator["store"]), self._key)
        self._store = store

    def open(self) -> BinaryIO:
        """Return a new stream that checks what was pinned.

        The pins that cost nothing are checked now; a hash is checked while the stream
        is read, before its last bytes are handed out.

        Raises:
            HandleNotFoundError: If the object is gone.
            StaleHandleError: If it is not the one that was pinned.
            ResolverDeniedError: If it is out of bounds or not readable.
            ProcessLocalHandleError: If it lies in the memory of another process.
            HandleError: If the store failed otherwise.
        """
        return buffered(self._stream(*self._opened(WHOLE)))

    def read_range(self, start: int, end: int) -> bytes:
        """Return the bytes from *start* up to, but without, *end*.

        The size and the other pins are checked, a hash is not: only a full read can
        prove it.

        Args:
            start: Offset of the first byte, counted from 0.
            end: Offset behind the last byte; what lies beyond the content is left out.

        Raises:
            HandleError: As for `open`.
        """
        start = max(0, start)
        source, found = self._opened((start, end))
        try:
            with self._place.mapped():
                return read_exactly(source, start, _within(end, found))
        finally:
            source.close()

    def byte_length(self) -> int | None:
        """Return the size that was pinned, or ask the store if none was."""
        if self._pins.size is not None:
            return self._pins.size
        source, found = self._opened(FACTS)
        source.close()
        return found.size

    async def aopen(self) -> BinaryIO:
        """Do what `open` does without blocking the event loop.

        Reading the stream blocks; `aiter_bytes` and `aread_range` do not.
        """
        if (backend := await self._awaitable()) is None:
            return await super().aopen()
        return buffered(self._stream(*await self._aopened(backend, WHOLE)))

    async def aiter_bytes(self, chunk_size: int = CHUNK_SIZE) -> AsyncIterator[bytes]:
        """Do what `iter_bytes` does without blocking the event loop.

        Args:
            chunk_size: The most bytes in one piece.
        """
        count = piece_size(chunk_size)
        if (backend := await self._awaitable()) is None:
            async for chunk in super().aiter_bytes(count):
                yield chunk
            return
        with self._stream(*await self._aopened(backend, WHOLE)) as stream:
            while chunk := await stream.aread(count):
                yield chunk

    async def aread_range(self, start: int, end: int) -> bytes:
        """Do what `read_range` does without blocking the event loop.

        Args:
            start: Offset of the first byte, counted from 0.
            end: Offset behind the last byte.
        """
        if (backend := await self._awaitable()) is None:
            return await super().aread_range(start, end)
        start = max(0, start)
        source, found = await self._aopened(backend, (start, end))
        with self._place.mapped():
            return await aread_exactly(source, start, _within(end, found))

    def describe(self) -> ReaderDescriptor:
        """Return alias, key and pins, without I/O."""
        return self._descriptor

    def url(self, *, expires: float = 3600) -> str:
        """Return a signed URL, from stores that can make one.

        Args:
            expires: How long the URL holds, in seconds.

        Raises:
            ReaderNotDescribableError: If the store has no URLs.
            InvalidValueError: If *expires* is no time, or longer than the store takes.
        """
        number = isinstance(cast("object", expires), int | float)
        if not (number and 1 <= expires < math.inf):
            msg = f"expires: must be a number of seconds, at least 1, not {expires!r}"
            raise InvalidValueError(msg, value=expires)
        backend = self._backend()
        with self._place.mapped():
            url = backend.url(self._key, self._pins, expires)
        return url or super().url(expires=expires)

    def _backend(self) -> Backend:
        if problem := key_problem(self._key):
            raise self._place.error(ResolverDeniedError, problem)
        store = self._store()
        with self._place.mapped():
            backend = store.backend()
        process = self._descriptor.locator.get("process")
        if process is not None and process != backend.process:
            raise self._place.error(
                ProcessLocalHandleError,
                "the bytes lie in the memory of another process",
                hint="persist them in a store that both processes reach",
            )
        return backend

    async def _awaitable(self) -> AsyncBackend | None:
        """Return the backend if it can be awaited; a thread serves the others."""
        # The first time, it may load packages and ask for credentials.
        backend = await in_thread(self._backend)
        return backend if isinstance(backend, AsyncBackend) else None

    def _stream(self, source: Source, found: Pins) -> PinnedStream:
        return PinnedStream(source, self._pins, self._place, size=found.size)

    async def _aopened(
        self, backend: AsyncBackend, span: Span
    ) -> tuple[AsyncSource, Pins]:
        with self._place.mapped():
            source, found = await backend.aopen(self._key, self._pins, span)
            if self._pins.mismatch(found):
                # It may have to be read to its end.
                await in_thread(self._check, source, found)
        return source, found

    def _opened(self, span: Span) -> tuple[Source, Pins]:
        backend = self._backend()
        with self._place.mapped():
            source, found = backend.open(self._key, self._pins, span)
            try:
                self._check(source, found)
            except BaseException:
                source.close()
                raise
        return source, found

    def _check(self, source: Source, found: Pins) -> None:
        problem = self._pins.mismatch(found)
        if problem is None:
            return
        # Copied or touched, it may have another name and time, and be the same still.
        hopeful = self._pins.sha256 and self._pins.size in {None, found.size}
        if hopeful and self._pins.sha256 == sha256_of(source):
            return
        raise self._place.stale(problem)

    def __repr__(self) -> str:
        return f"FsspecReader({self._place.text})"


def _within(end: int, found: Pins) -> int:
    # As much as is asked for is allocated.
    return end if found.size is None else min(end, found.size)


def store_place(alias: str, key: str) -> Place:
    """Return the place of an object, for errors.

    Args:
        alias: The alias of its store.
        key: Its key.
    """
    return Place(alias, f"{shown(alias)}, {shown(key)}")


# Pickles and tracebacks show the public path of a name.
for _public in (FsspecReader,):
    _public.__module__ = "graphcodec_resolvers"
