"""The contracts: readers re-open bytes, resolvers make readers, stores keep bytes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from typing import BinaryIO, Protocol, Self, TypeAlias, cast, runtime_checkable

from attrs import field, frozen

from graphcodec.errors import InvalidValueError, ReaderNotDescribableError
from graphcodec.readers._threads import in_thread

__all__ = ["CHUNK_SIZE", "JSON", "ByteStore", "Reader", "ReaderDescriptor", "Resolver"]

Scalar: TypeAlias = str | int | float | bool | None

JSON: TypeAlias = "Scalar | Mapping[str, JSON] | list[JSON] | tuple[JSON, ...]"
"""A value that JSON holds as it is."""

CHUNK_SIZE = 1 << 16
"""How many bytes a reader yields at a time unless told otherwise."""

HASHED_PREFIX = 1024
"""How many characters of a locator's text count for its hash."""


def _owned(locator: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """Return a copy of *locator*, so that the caller's later changes don't reach it."""
    given = cast("object", locator)
    if not isinstance(given, Mapping):
        raise InvalidValueError(
            f"locator must be a mapping, not {type(given).__name__}",
            type_name="ReaderDescriptor",
        )
    return dict(locator)


def hash_part(value: object) -> object:
    """Return what of a locator's value counts for its hash.

    Equal values give equal parts. Only the length and the beginning of a text count:
    a locator may inline megabytes, which equality compares but nobody wants to hash.
    """
    if isinstance(value, str):
        return len(value), value[:HASHED_PREFIX]
    return value if isinstance(value, int | float) else None


@frozen(repr=False)
class ReaderDescriptor:
    """Where bytes live, without the live binding that opens them.

    The owner of a reader puts its family before the scheme: a `Media` whose reader
    has the scheme ``http`` is written with the tag ``media:http``.

    Attributes:
        scheme: The kind of place, such as ``http`` or ``in-memory``.
        locator: What a resolver needs to find the bytes, as plain JSON. It never holds
            a credential.

    Raises:
        InvalidValueError: If *scheme* is no name or holds a family, or if *locator*
            is no mapping.
    """

    scheme: str
    locator: Mapping[str, JSON] = field(converter=_owned)

    def __attrs_post_init__(self) -> None:
        scheme = cast("object", self.scheme)
        if not isinstance(scheme, str) or not scheme or ":" in scheme:
            raise InvalidValueError(
                f"scheme must be a name such as 'http', not {scheme!r:.60}",
                hint="leave 'media:' and 'spool:' to the owner of the reader",
                type_name="ReaderDescriptor",
            )

    def __hash__(self) -> int:
        parts = {(key, hash_part(value)) for key, value in self.locator.items()}
        return hash((self.scheme, frozenset(parts)))

    def __repr__(self) -> str:
        # A locator may inline megabytes or show where a customer keeps things.
        return f"ReaderDescriptor({self.scheme!r}, <{len(self.locator)} fields>)"


class Reader(ABC):
    """Opens the same bytes again and again.

    `open` is the only method an implementation must have. Readers are values: they are
    equal if their descriptors are, pickle as their descriptor and are their own copies.
    One without a descriptor equals only itself and does not pickle.
    """

    __slots__ = ("__weakref__",)

    @abstractmethod
    def open(self) -> BinaryIO:
        """Return a new binary stream, positioned at the first byte.

        Raises:
            HandleError: If the bytes are gone, changed or out of reach.
        """

    def iter_bytes(self, chunk_size: int = CHUNK_SIZE) -> Iterator[bytes]:
        """Yield the content in order.

        Args:
            chunk_size: The most bytes in one piece.

        Raises:
            InvalidValueError: If *chunk_size* is not at least 1.
        """
        count = piece_size(chunk_size)
        with self.open() as stream:
            while chunk := stream.read(count):
                yield chunk

    def read_range(self, start: int, end: int) -> bytes:
        """Return the bytes from *start* up to, but without, *end*.

        Args:
            start: Offset of the first byte, counted from 0.
            end: Offset behind the last byte; what lies beyond the content is left out.
        """
        start = max(0, start)
        if end <= start:
            return b""
        with self.open() as stream:
            skip(stream, start)
            return _read_fully(stream, end - start)

    def byte_length(self) -> int | None:
        """Return the number of bytes, or None if only reading would tell."""
        return None

    def describe(self) -> ReaderDescriptor | None:
        """Say where the bytes live, without I/O; None if others could not open them."""
        return None

    def url(self, *, expires: float = 3600) -> str:
        """Return a URL under which anybody can fetch the bytes for a while.

        Args:
            expires: How long the URL holds, in seconds.

        Raises:
            ReaderNotDescribableError: If this kind of reader has no URL.
        """
        msg = f"{type(self).__name__} has no URL (asked for one of {expires} seconds)"
        raise ReaderNotDescribableError(msg, type_name=type(self).__name__)

    async def aopen(self) -> BinaryIO:
        """Do what `open` does without blocking the event loop."""
        return await in_thread(self.open)

    async def aiter_bytes(self, chunk_size: int = CHUNK_SIZE) -> AsyncIterator[bytes]:
        """Do what `iter_bytes` does without blocking the event loop.

        Args:
            chunk_size: The most bytes in one piece.
        """
        chunks = self.iter_bytes(chunk_size)
        while (chunk := await in_thread(next, chunks, None)) is not None:
            yield chunk

    async def aread_range(self, start: int, end: int) -> bytes:
        """Do what `read_range` does without blocking the event loop.

        Args:
            start: Offset of the first byte, counted from 0.
            end: Offset behind the last byte.
        """
        return await in_thread(self.read_range, start, end)

    async def abyte_length(self) -> int | None:
        """Do what `byte_length` does without blocking the event loop."""
        return await in_thread(self.byte_length)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Reader):
            return NotImplemented
        mine = self.describe()
        return mine is not None and mine == other.describe()

    def __hash__(self) -> int:
        mine = self.describe()
        return object.__hash__(self) if mine is None else hash(mine)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        # The contract knows one implementation: what a pickled handle comes back as.
        from graphcodec.readers._unbound import UnboundReader  # noqa: PLC0415

        descriptor = self.describe()
        if descriptor is None:
            name = type(self).__name__
            raise ReaderNotDescribableError(
                f"{name} can't be pickled: no other process could open its bytes",
                hint="graphcodec.persist(graph, store) moves them to a store first",
                type_name=name,
            )
        return UnboundReader, (descriptor,)


def handle_of(item: Reader | ReaderDescriptor) -> ReaderDescriptor | None:
    """Return the descriptor that *item* is or has; None if it can't be described.

    Args:
        item: A reader or a descriptor.

    Raises:
        InvalidValueError: If it is neither.
    """
    given = cast("object", item)
    if isinstance(given, ReaderDescriptor):
        return given
    if not isinstance(given, Reader):
        name = type(given).__name__
        msg = f"item: must be a Reader or a ReaderDescriptor, not {name}"
        raise InvalidValueError(msg, type_name=name)
    try:
        return given.describe()
    except ReaderNotDescribableError:
        # A URL with a signature, say: it opens here and now, and nowhere later.
        return None


def piece_size(chunk_size: int) -> int:
    """Return *chunk_size* if pieces can have it: with 0, there would be no content.

    Args:
        chunk_size: The most bytes in one piece.

    Raises:
        InvalidValueError: If it is not at least 1.
    """
    if type(chunk_size) is not int or chunk_size < 1:
        msg = f"chunk_size: must be a number of bytes, at least 1, not {chunk_size!r}"
        raise InvalidValueError(msg, value=chunk_size)
    return chunk_size


def skip(stream: BinaryIO, count: int) -> None:
    """Move *stream*, which stands at its beginning, on to the offset *count*."""
    if count and stream.seekable():
        stream.seek(count)
        return
    while count > 0 and (chunk := stream.read(min(count, CHUNK_SIZE))):
        count -= len(chunk)


def _read_fully(stream: BinaryIO, count: int) -> bytes:
    """Read *count* bytes, or up to the end; a raw stream may give them in pieces."""
    chunks: list[bytes] = []
    while count > 0 and (chunk := stream.read(count)):
        chunks.append(chunk)
        count -= len(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


@runtime_checkable
class Resolver(Protocol):
    """Turns descriptors back into readers.

    A resolver holds the live binding (a file system, a client, secrets) and the policy
    of what may be opened. Resolving does no I/O: the reader opens when it is asked to.
    """

    @property
    def tags(self) -> Collection[str]:
        """The tags it takes, with the family, such as ``media:http``."""
        ...

    def resolve(self, descriptor: ReaderDescriptor, /) -> Reader | None:
        """Return a lazy reader for *descriptor*, or None to let the next one try.

        Raises:
            UndecodableValueError: If the locator is malformed.
        """
        ...


@runtime_checkable
class ByteStore(Protocol):
    """Keeps bytes and gives a describable reader for them."""

    def write(
        self, data: bytes | BinaryIO | Reader, *, media_type: str | None = None
    ) -> Reader:
        """Keep *data* and return a reader for it; the same bytes are kept once.

        Args:
            data: The content, or something to read it from.
            media_type: The MIME type, for stores that keep one.
        """
        ...

    def delete(self, item: Reader | ReaderDescriptor) -> bool:
        """Forget *item*; say whether it was there."""
        ...

    def descriptors(self) -> Iterator[ReaderDescriptor]:
        """Yield a descriptor for everything that is kept."""
        ...
