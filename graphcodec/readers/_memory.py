"""Bytes that the process itself holds: readers, their resolver and a store."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from attrs import frozen

from graphcodec.errors import InvalidValueError, UndecodableValueError
from graphcodec.readers._chunks import chunks_of
from graphcodec.readers._contracts import (
    CHUNK_SIZE,
    HASHED_PREFIX,
    Reader,
    ReaderDescriptor,
    handle_of,
    piece_size,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = ["BytesReader", "BytesStore", "InMemoryResolver"]

SCHEME = "in-memory"

# The characters without unused bits set, behind which one or two odd bytes end.
_WHOLE: Final = ("", "AQgw", "AEIMQUYcgkosw048")


@frozen(eq=False, repr=False)
class BytesReader(Reader):
    """Bytes that travel inside the document.

    Attributes:
        data: The content.

    Raises:
        InvalidValueError: If *data* is not `bytes`.
    """

    data: bytes

    def __attrs_post_init__(self) -> None:
        data = cast("object", self.data)
        if not isinstance(data, bytes):
            raise InvalidValueError(
                f"data must be bytes, not {type(data).__name__}",
                hint="bytes(data) copies a buffer; StreamReader takes an open file",
                type_name="BytesReader",
            )

    def open(self) -> BinaryIO:
        """Return a stream over the bytes, which are not copied."""
        return io.BytesIO(self.data)

    def iter_bytes(self, chunk_size: int = CHUNK_SIZE) -> Iterator[bytes]:
        """Yield the content in slices.

        Args:
            chunk_size: The most bytes in one piece.
        """
        count = piece_size(chunk_size)
        for start in range(0, len(self.data), count):
            yield self.data[start : start + count]

    def read_range(self, start: int, end: int) -> bytes:
        """Return the bytes from *start* up to, but without, *end*.

        Args:
            start: Offset of the first byte, counted from 0.
            end: Offset behind the last byte.
        """
        return self.data[max(0, start) : max(0, end)]

    def byte_length(self) -> int:
        """Return the number of bytes."""
        return len(self.data)

    def describe(self) -> ReaderDescriptor:
        """Return a descriptor that holds the bytes themselves."""
        text = base64.b64encode(self.data).decode("ascii")
        return ReaderDescriptor(SCHEME, {"base64": text})

    def __eq__(self, other: object) -> bool:
        if isinstance(other, BytesReader):
            return self.data == other.data
        return super().__eq__(other)

    def __hash__(self) -> int:
        # Must be that of the descriptor, but costs no more than its beginning.
        beginning = base64.b64encode(self.data[: HASHED_PREFIX // 4 * 3])
        size = -(-len(self.data) // 3) * 4
        part = size, beginning.decode("ascii")
        return hash((SCHEME, frozenset({("base64", part)})))

    def __reduce__(self) -> tuple[object, ...]:
        return BytesReader, (self.data,)

    def __repr__(self) -> str:
        return f"BytesReader(<{len(self.data)} bytes>)"


class InMemoryResolver:
    """Makes a `BytesReader` of a descriptor that holds its bytes."""

    __slots__ = ()

    @property
    def tags(self) -> Collection[str]:
        """The tags it takes."""
        return (f"media:{SCHEME}", f"spool:{SCHEME}")

    def resolve(self, descriptor: ReaderDescriptor, /) -> BytesReader | None:
        """Return a reader for *descriptor*, or None if its scheme is another.

        Raises:
            UndecodableValueError: If the locator holds anything but strict base64.
        """
        if descriptor.scheme != SCHEME:
            return None
        text = descriptor.locator.get("base64")
        if len(descriptor.locator) != 1 or not isinstance(text, str):
            raise UndecodableValueError(
                "an in-memory locator has exactly one field, the text 'base64'",
                tag=SCHEME,
            )
        return BytesReader(_strict_base64(text))

    def __repr__(self) -> str:
        return "InMemoryResolver()"


def _strict_base64(text: str) -> bytes:
    """Return the bytes of *text*, which must be what encoding them gives."""
    try:
        data = binascii.a2b_base64(text, strict_mode=True)
    except ValueError as exc:
        reason = str(exc)
        raise UndecodableValueError(
            f"an in-memory locator is not strict base64 ({reason:.80})", tag=SCHEME
        ) from None

    # The unused bits of the last character may be anything to the decoder: two texts
    # for the same bytes would be two equal handles that differ.
    odd = len(data) % 3
    if odd and text[odd - 4] not in _WHOLE[odd]:
        raise UndecodableValueError(
            "an in-memory locator is not strict base64 (stray bits at its end)",
            tag=SCHEME,
        )
    return data


class BytesStore:
    """A `ByteStore` in memory, for tests and for graphs that inline all they hold.

    The same bytes are kept once, under their SHA-256. Thread-safe.
    """

    __slots__ = ("_readers",)

    def __init__(self) -> None:
        self._readers: dict[str, BytesReader] = {}

    def write(
        self, data: bytes | BinaryIO | Reader, *, media_type: str | None = None
    ) -> BytesReader:
        """Keep *data* and return a reader for it.

        Args:
            data: The content, or something to read it from.
            media_type: Taken for the sake of other stores; not kept.

        Raises:
            InvalidValueError: If *data* is not or does not give bytes.
        """
        del media_type
        reader = BytesReader(_drained(data))
        # One dict operation, so that two writers of the same bytes get one reader.
        return self._readers.setdefault(_address(reader), reader)

    def delete(self, item: Reader | ReaderDescriptor) -> bool:
        """Forget *item*; say whether it was there."""
        reader = _in_memory(item)
        if reader is None:
            return False
        return self._readers.pop(_address(reader), None) is not None

    def descriptors(self) -> Iterator[ReaderDescriptor]:
        """Yield a descriptor for everything that is kept at this moment."""
        for reader in list(self._readers.values()):
            yield reader.describe()

    def __len__(self) -> int:
        return len(self._readers)

    def __repr__(self) -> str:
        return f"BytesStore(<{len(self)} items>)"


def _address(reader: BytesReader) -> str:
    return hashlib.sha256(reader.data).hexdigest()


def _drained(data: object) -> bytes:
    # Bytes that are held already need no copy.
    if isinstance(data, BytesReader):
        return data.data
    return data if isinstance(data, bytes) else b"".join(chunks_of(data))


def _in_memory(item: Reader | ReaderDescriptor) -> BytesReader | None:
    """Return *item* as a `BytesReader`, or None if its bytes live elsewhere."""
    if isinstance(item, BytesReader):
        return item
    descriptor = handle_of(item)
    return None if descriptor is None else InMemoryResolver().resolve(descriptor)
