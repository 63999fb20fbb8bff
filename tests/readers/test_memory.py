"""Readers over bytes that the process holds, their resolver and their store."""

from __future__ import annotations

import copy
import io
import pickle
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphcodec import errors
from graphcodec.readers import (
    BytesReader,
    BytesStore,
    InMemoryResolver,
    Reader,
    ReaderDescriptor,
    StreamReader,
    UnboundReader,
)

AHI = ReaderDescriptor("in-memory", {"base64": "aGk="})


@given(st.binary(max_size=100), st.integers(-5, 120), st.integers(-5, 120))
def test_reads_like_a_reader(data: bytes, start: int, end: int) -> None:
    """The short cuts of `BytesReader` give what the general methods give."""
    reader = BytesReader(data)

    assert reader.open().read() == data
    assert b"".join(reader.iter_bytes(7)) == data
    assert reader.byte_length() == len(data)
    assert reader.read_range(start, end) == Reader.read_range(reader, start, end)


@given(st.binary(max_size=3000))
def test_comes_back_from_its_descriptor(data: bytes) -> None:
    """The resolver makes an equal reader of a descriptor."""
    reader = BytesReader(data)

    resolved = InMemoryResolver().resolve(reader.describe())

    assert resolved == reader
    assert resolved is not None
    assert resolved.data == data


@given(st.binary(max_size=3000))
def test_equal_to_its_unbound_self(data: bytes) -> None:
    """Equality and hash agree with those of the descriptor."""
    reader, handle = BytesReader(data), UnboundReader(BytesReader(data).describe())

    assert reader == handle
    assert handle == reader
    assert hash(reader) == hash(handle)


def test_equality() -> None:
    """Two readers of the same bytes are equal, of other bytes they are not."""
    assert BytesReader(b"a" * 2000) == BytesReader(b"a" * 2000)
    assert BytesReader(b"a" * 2000) != BytesReader(b"a" * 1999 + b"b")
    assert BytesReader(b"a") != b"a"


def test_equality_makes_no_copies() -> None:
    """Comparing and hashing megabytes takes no base64 of them."""
    one, other = BytesReader(bytes(8_000_000)), BytesReader(bytes(8_000_000))

    tracemalloc.start()
    assert one == other
    assert hash(one) == hash(other)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 100_000


def test_repr_shows_only_the_size() -> None:
    """Neither the reader nor the store shows content."""
    store = BytesStore()
    store.write(b"secret")

    assert repr(BytesReader(b"secret")) == "BytesReader(<6 bytes>)"
    assert repr(store) == "BytesStore(<1 items>)"
    assert repr(InMemoryResolver()) == "InMemoryResolver()"


@pytest.mark.parametrize("data", ["text", bytearray(b"a"), memoryview(b"a"), None])
def test_takes_bytes_only(data: bytes) -> None:
    """Nothing is coerced: a buffer that may change is refused."""
    with pytest.raises(errors.InvalidValueError, match="data must be bytes, not "):
        BytesReader(data)


def test_pickles_as_data() -> None:
    """Bytes pickle as bytes and need no binding on the other side."""
    reader = BytesReader(b"\x00\xff")

    arrived = pickle.loads(pickle.dumps(reader))

    assert type(arrived) is BytesReader
    assert arrived == reader
    assert copy.deepcopy(reader) is reader


def test_resolver_leaves_other_schemes() -> None:
    """Another scheme is the next resolver's business."""
    assert InMemoryResolver().resolve(ReaderDescriptor("http", {})) is None
    assert set(InMemoryResolver().tags) == {"media:in-memory", "spool:in-memory"}


@pytest.mark.parametrize(
    "locator",
    [{}, {"base64": 1}, {"base64": None}, {"base64": "", "x": 1}, {"bytes": "aGk="}],
)
def test_locator_has_one_field(locator: dict[str, str]) -> None:
    """Missing, mistyped and unknown locator fields are errors."""
    with pytest.raises(errors.UndecodableValueError, match="exactly one field"):
        InMemoryResolver().resolve(ReaderDescriptor("in-memory", locator))


@pytest.mark.parametrize(
    "text",
    [
        "aGk",
        "aGk=\n",
        " aGk=",
        "aG k=",
        "aGk==",
        "aGl=",
        "aR==",
        "a-_=",
        "é===",
        "aGk=aGk=",
        "=",
        "\ud800",
    ],
)
def test_base64_is_strict(text: str) -> None:
    """A text that encoding would not give is refused, and not shown."""
    with pytest.raises(
        errors.UndecodableValueError, match="not strict base64"
    ) as caught:
        InMemoryResolver().resolve(ReaderDescriptor("in-memory", {"base64": text}))

    assert caught.value.tag == "in-memory"
    assert caught.value.__suppress_context__ or caught.value.__cause__ is None


def test_store_keeps_the_same_bytes_once() -> None:
    """Bytes, files and readers with one content are one item."""
    store = BytesStore()

    written = [
        store.write(b"hi"),
        store.write(io.BytesIO(b"hi"), media_type="text/plain"),
        store.write(BytesReader(b"hi")),
        store.write(StreamReader(io.BytesIO(b"hi"))),
    ]

    assert len(store) == 1
    assert all(reader is written[0] for reader in written)
    assert list(store.descriptors()) == [AHI]


@pytest.mark.parametrize(
    "item",
    [BytesReader(b"hi"), AHI, UnboundReader(AHI)],
    ids=["reader", "descriptor", "handle"],
)
def test_store_deletes(item: Reader | ReaderDescriptor) -> None:
    """An item is deleted by reader or descriptor, and only once."""
    store = BytesStore()
    kept = store.write(b"kept")
    store.write(b"hi")

    assert store.delete(item) is True
    assert store.delete(item) is False
    assert list(store.descriptors()) == [kept.describe()]


def test_store_does_not_delete_what_it_never_had() -> None:
    """A handle on another place or on no place is not there."""
    store = BytesStore()

    assert (
        store.delete(ReaderDescriptor("http", {"url": "https://example.org"})) is False
    )
    assert store.delete(StreamReader(io.BytesIO(b"hi"))) is False


@pytest.mark.parametrize("data", ["", None, 3, io.StringIO("text"), io.StringIO()])
def test_store_takes_bytes(data: bytes) -> None:
    """What is not and does not give bytes is refused."""
    with pytest.raises(errors.InvalidValueError, match=r"data: (must|the .* gave)"):
        BytesStore().write(data)


def test_store_is_thread_safe() -> None:
    """Threads that write the same bytes get the same reader."""
    store = BytesStore()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            readers = list(pool.map(store.write, [b"a", b"b"] * 200))
    finally:
        sys.setswitchinterval(interval)

    assert len(store) == 2
    assert len({id(reader) for reader in readers}) == 2
