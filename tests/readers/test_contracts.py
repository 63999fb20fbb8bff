"""What every reader and descriptor can do without its own help."""

from __future__ import annotations

import asyncio
import copy
import io
import pickle
from typing import TYPE_CHECKING, BinaryIO, get_type_hints

import pytest

from graphcodec import errors
from graphcodec.readers import (
    BytesStore,
    ByteStore,
    InMemoryResolver,
    Reader,
    ReaderDescriptor,
    Resolver,
    UnboundReader,
)

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class Minimal(Reader):
    """A reader that implements `open` and nothing else."""

    def __init__(self, data: bytes, *, seekable: bool = True) -> None:
        """Keep the content."""
        self.data = data
        self.seekable = seekable

    def open(self) -> BinaryIO:
        """Return a stream that gives at most three bytes at a time."""
        return io.BufferedReader(Trickle(self.data, seekable=self.seekable), 1)


class Trickle(io.RawIOBase):
    """A raw stream that gives its bytes in short pieces."""

    def __init__(self, data: bytes, *, seekable: bool) -> None:
        """Keep the content."""
        super().__init__()
        self._inner = io.BytesIO(data)
        self._seekable = seekable

    def readable(self) -> bool:
        """Say yes."""
        return True

    def seekable(self) -> bool:
        """Say what was asked for."""
        return self._seekable

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move, if it can be moved."""
        assert self._seekable
        return self._inner.seek(offset, whence)

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Give three bytes at most."""
        target = memoryview(buffer)
        data = self._inner.read(min(3, len(target)))
        target[: len(data)] = data
        return len(data)


class Raw(Minimal):
    """A reader whose `open` gives a stream without a buffer."""

    def open(self) -> BinaryIO:
        """Return a stream whose reads may be short."""
        return Trickle(self.data, seekable=True)  # type: ignore[return-value]


class Placed(Minimal):
    """A reader with a descriptor."""

    def describe(self) -> ReaderDescriptor:
        """Say where the bytes live."""
        return ReaderDescriptor("placed", {"store": "media", "key": self.data.decode()})


@pytest.mark.parametrize(
    "reader",
    [
        Minimal(b"0123456789"),
        Minimal(b"0123456789", seekable=False),
        Raw(b"0123456789"),
    ],
    ids=["seekable", "not seekable", "short reads"],
)
@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, 10, b"0123456789"),
        (3, 9, b"345678"),
        (8, 99, b"89"),
        (50, 60, b""),
        (5, 5, b""),
        (7, 2, b""),
        (-4, 2, b"01"),
    ],
)
def test_ranges_come_from_open(
    reader: Reader, start: int, end: int, expected: bytes
) -> None:
    """A reader that only opens reads ranges, without wrapping at either end."""
    assert reader.read_range(start, end) == expected


def test_chunks_come_from_open() -> None:
    """A reader that only opens yields its content in pieces of the size asked for."""
    reader = Minimal(b"0123456789")

    assert list(reader.iter_bytes(4)) == [b"0123", b"4567", b"89"]
    assert reader.byte_length() is None
    assert reader.describe() is None


def test_async_faces() -> None:
    """Each blocking method has an async one with the same result."""
    reader = Minimal(b"0123456789")

    async def all_of_it() -> tuple[bytes, list[bytes], bytes, int | None]:
        with await reader.aopen() as stream:
            content = stream.read()
        chunks = [chunk async for chunk in reader.aiter_bytes(6)]
        return (
            content,
            chunks,
            await reader.aread_range(1, 3),
            await reader.abyte_length(),
        )

    expected = (b"0123456789", [b"012345", b"6789"], b"12", None)
    assert asyncio.run(all_of_it()) == expected


def test_no_url_by_default() -> None:
    """A reader that has no URL says so and names its class."""
    with pytest.raises(errors.ReaderNotDescribableError, match="Minimal has no URL"):
        Minimal(b"").url(expires=5)


def test_equality_by_descriptor() -> None:
    """Readers are equal if their descriptors are, and hash alike."""
    one, same, other = Placed(b"a"), Placed(b"a"), Placed(b"b")

    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != "a"


def test_equality_without_descriptor() -> None:
    """A reader without a descriptor equals only itself."""
    one, other = Minimal(b"a"), Minimal(b"a")

    assert one == one  # noqa: PLR0124 - that is the fact
    assert one != other
    assert len({one, other}) == 2


def test_copies_are_the_reader_itself() -> None:
    """Copying a graph does not copy the readers in it."""
    reader = Minimal(b"a")

    assert copy.copy(reader) is reader
    assert copy.deepcopy([reader]) == [reader]


def test_pickles_as_descriptor() -> None:
    """A reader arrives elsewhere as its descriptor, without its binding."""
    reader = Placed(b"secret.png")

    arrived = pickle.loads(pickle.dumps(reader))

    assert type(arrived) is UnboundReader
    assert arrived == reader
    assert hash(arrived) == hash(reader)


def test_without_descriptor_no_pickle() -> None:
    """A reader without a descriptor does not pickle, and the error names the remedy."""
    with pytest.raises(errors.ReaderNotDescribableError, match="persist") as caught:
        pickle.dumps(Minimal(b"a"))

    assert caught.value.type_name == "Minimal"


def test_locator_belongs_to_the_descriptor() -> None:
    """What the caller does to a locator afterwards does not reach the descriptor."""
    locator = {"url": "https://example.org/a"}
    descriptor = ReaderDescriptor("http", locator)

    locator["url"] = "https://example.org/b"

    assert descriptor.locator == {"url": "https://example.org/a"}


def test_descriptor_repr_is_discreet() -> None:
    """The repr of a descriptor shows nothing of the locator."""
    shown = repr(ReaderDescriptor("http", {"url": "https://host/?token=s3cret"}))

    assert shown == "ReaderDescriptor('http', <1 fields>)"


@pytest.mark.parametrize("scheme", ["", "media:http", "spool:x", 3, None])
def test_scheme_is_a_name(scheme: str) -> None:
    """A scheme is a name, and the family is not part of it."""
    with pytest.raises(errors.InvalidValueError, match="scheme must be a name"):
        ReaderDescriptor(scheme, {})


def test_locator_is_a_mapping() -> None:
    """A locator that is no mapping is refused."""
    with pytest.raises(errors.InvalidValueError, match="must be a mapping, not str"):
        ReaderDescriptor("http", "https://example.org")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"size": 1}, {"size": 1.0}),
        ({"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}),
        ({"text": "x" * 5000}, {"text": "x" * 5000}),
        ({"a": 1, "b": "2"}, {"b": "2", "a": 1}),
    ],
)
def test_equal_descriptors_hash_alike(
    left: dict[str, object], right: dict[str, object]
) -> None:
    """Equal descriptors have equal hashes, whatever their locators hold."""
    one = ReaderDescriptor("x", left)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    other = ReaderDescriptor("x", right)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]

    assert one == other
    assert hash(one) == hash(other)


def test_descriptors_of_one_scheme_hash_apart() -> None:
    """A dict of many handles of one kind is no linear search."""
    hashes = {hash(ReaderDescriptor("s", {"key": f"k{n}"})) for n in range(1000)}

    assert len(hashes) == 1000


def test_protocols() -> None:
    """The built-in resolver and store satisfy the protocols at run time."""
    assert isinstance(InMemoryResolver(), Resolver)
    assert isinstance(BytesStore(), ByteStore)


def test_hints_resolve() -> None:
    """Annotations of descriptors can be resolved at run time."""
    assert set(get_type_hints(ReaderDescriptor)) == {"scheme", "locator"}
