"""What holds for every reader with a handle, wherever its bytes are."""

from __future__ import annotations

import asyncio
import copy
import io
import pickle
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, cast

from graphcodec._suites._checks import (
    at_once,
    refused,
    require,
    told,
    touches_nothing,
)
from graphcodec.codec import Codec
from graphcodec.errors import HandleError
from graphcodec.primitives import Media, SpooledArtifact
from graphcodec.readers import Reader, ReaderDescriptor

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from graphcodec.readers import Resolver

_CHUNK: Final = 65_536


def check_reading(reader: Reader, content: bytes) -> None:
    """Require that a reader gives its content in every way that blocks.

    Args:
        reader: The reader.
        content: What it must give.
    """
    for _ in range(2):
        with reader.open() as stream:
            require(stream.read() == content, "open() gives the content, each time")
            require(stream.read() == b"", "a stream ends")
    pieces = list(reader.iter_bytes(_CHUNK))
    require(b"".join(pieces) == content, "iter_bytes() gives the content")
    longest = max(map(len, pieces), default=0)
    require(longest <= _CHUNK, "iter_bytes(n) gives pieces of at most n bytes")
    size = len(content)
    for start, end in _ranges(size):
        wanted = content[max(0, start) : max(0, end)]
        found = reader.read_range(start, end)
        require(found == wanted, "read_range(a, b) gives what slicing would")
    length = reader.byte_length()
    require(length in {None, size}, "byte_length() is right, or None")


def _ranges(size: int) -> list[tuple[int, int]]:
    middle = size // 2
    return [
        (0, 4),
        (0, size),
        (middle, middle + 10),
        (-5, 3),
        (max(0, size - 4), size + 4),
        (size, size + 1),
        (size + 5, size + 9),
        (3, 3),
        (5, 2),
        (0, 1 << 62),
    ]


def check_awaiting(reader: Reader, content: bytes) -> None:
    """Require that a reader gives the same to event loops, one after another.

    Args:
        reader: The reader.
        content: What it must give.
    """

    async def read() -> None:
        with await reader.aopen() as stream:
            require(stream.read() == content, "aopen() gives the content")
        pieces = [piece async for piece in reader.aiter_bytes(_CHUNK)]
        require(b"".join(pieces) == content, "aiter_bytes() gives the content")
        found = await reader.aread_range(1, 9)
        require(found == content[1:9], "aread_range(a, b) gives what slicing would")
        length = await reader.abyte_length()
        require(length in {None, len(content)}, "abyte_length() is right, or None")

    for _ in range(2):
        asyncio.run(read())


def check_streams(reader: Reader, content: bytes) -> None:
    """Require that two streams of one reader are independent, also in threads.

    Args:
        reader: The reader.
        content: What it must give.
    """
    half = len(content) // 2
    with reader.open() as one, reader.open() as other:
        first = one.read(half)
        require(other.read() == content, "streams have positions of their own")
        require(first + one.read() == content, "streams have positions of their own")
    with reader.open() as stream:
        if stream.seekable():
            stream.seek(half)
            require(stream.read() == content[half:], "a stream seeks")
            stream.seek(0)
            require(stream.read() == content, "a stream seeks back")

    def read(number: int) -> bool:
        start = number * 7
        part = reader.read_range(start, start + 5)
        whole = b"".join(reader.iter_bytes())
        return part == content[start : start + 5] and whole == content

    require(all(at_once(read)), "one reader serves several threads")


def descriptor_of(reader: Reader) -> ReaderDescriptor:
    """Return the descriptor that a reader must have.

    Args:
        reader: The reader.
    """
    found: object = reader.describe()
    if not isinstance(found, ReaderDescriptor):
        raise AssertionError("describe() gives a ReaderDescriptor")  # noqa: TRY004 - a broken rule
    return found


def resolved_by(resolver: Resolver, described: ReaderDescriptor) -> Reader:
    """Return the reader that a resolver must give for what is its own.

    Args:
        resolver: The resolver.
        described: The handle.
    """
    found: object = resolver.resolve(described)
    if not isinstance(found, Reader):
        raise AssertionError("resolve() gives a Reader for what is its own")  # noqa: TRY004 - a broken rule
    return found


def check_value(reader: Reader, resolver: Resolver) -> None:
    """Require that a reader is a value, and that its handle leads to an equal one.

    Args:
        reader: The reader.
        resolver: What re-opens its handle.
    """
    described = descriptor_of(reader)
    again = touches_nothing(reader.describe, "describe() does no I/O")
    require(again == described, "describe() gives the same each time")
    resolved = resolved_by(resolver, described)
    require(resolved.describe() == described, "a resolved reader has the same handle")
    require(resolved == reader, "readers are equal if their handles are")
    require(hash(resolved) == hash(reader), "equal readers have equal hashes")
    require(copy.deepcopy(reader) is reader, "a reader is its own copy")
    pickled = pickle.loads(pickle.dumps(reader))  # noqa: S301 - our own bytes
    require(pickled == reader, "a reader pickles as its handle")
    require(hash(pickled) == hash(reader), "equal readers have equal hashes")


def check_travel(reader: Reader, resolver: Resolver, content: bytes) -> None:
    """Require that a handle goes through documents, in both families.

    Args:
        reader: The reader.
        resolver: What re-opens its handle on the other side.
        content: What the decoded reader must give.
    """
    codec = Codec(resolvers=[resolver])
    media = Media.user_attachment(
        kind="document", mime_type="application/pdf", filename="a.pdf", reader=reader
    )
    graph = [media, media.replace(filename="b.pdf"), SpooledArtifact(reader)]
    for form in ("json", "msgpack"):
        data = codec.replace(format=form).encode(graph)
        decoded = touches_nothing(partial(codec.decode, data), "decode opens nothing")
        readers = [each.reader for each in cast("list[Media]", decoded)]
        require(readers[0] is readers[1], "a reader met twice is one reader again")
        for found in readers:
            require(found == reader, "a reader comes back equal")
            got = b"".join(found.iter_bytes())
            require(got == content, "a decoded reader gives the content")


def check_failing(reader: Reader, kind: type[HandleError]) -> str:
    """Require that every way of reading fails, and return what the errors show.

    Args:
        reader: A reader of what is gone, was changed or may not be read.
        kind: The error that says so.
    """
    ways: tuple[Callable[[], object], ...] = (
        lambda: _drained(reader),
        lambda: list(reader.iter_bytes()),
        lambda: asyncio.run(_awaited(reader)),
    )
    rule = f"reading it raises {kind.__name__}"
    return "".join(told(refused(read, kind, rule)) for read in ways)


def _drained(reader: Reader) -> bytes:
    with reader.open() as stream:
        return stream.read()


async def _awaited(reader: Reader) -> list[bytes]:
    return [piece async for piece in reader.aiter_bytes()]


class OneWay(io.RawIOBase):
    """A stream that can be read once, in small pieces, such as an upload.

    Args:
        content: What it gives.
        fails: Whether it breaks where it should end.
        stalls: Whether it has nothing to give there for now, as sockets may.
    """

    def __init__(
        self, content: bytes, *, fails: bool = False, stalls: bool = False
    ) -> None:
        super().__init__()
        self._beneath = io.BytesIO(content)
        self._fails = fails
        self._stalls = stalls

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        """Fill a part of *buffer*."""
        piece = self._beneath.read(min(4096, memoryview(buffer).nbytes))
        if self._fails and not piece:
            raise ConnectionResetError("the upload broke off")
        if self._stalls and not piece:
            return None
        memoryview(buffer).cast("B")[: len(piece)] = piece
        return len(piece)
