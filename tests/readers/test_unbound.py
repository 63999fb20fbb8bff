"""Handles that arrived by pickle."""

from __future__ import annotations

import asyncio
import pickle
from typing import TYPE_CHECKING, BinaryIO

import pytest

from graphcodec import errors
from graphcodec.readers import BytesReader, Reader, ReaderDescriptor, UnboundReader

if TYPE_CHECKING:
    from collections.abc import Iterator

DESCRIPTOR = ReaderDescriptor("fsspec", {"store": "media", "key": "private/a.png"})


class Linked(BytesReader):
    """A reader with a URL."""

    def url(self, *, expires: float = 3600) -> str:
        """Return a URL that says how long it holds."""
        return f"https://example.org/?{expires:g}"


@pytest.fixture(autouse=True)
def _unbound() -> Iterator[None]:
    """Each test starts and ends in a process that binds nothing."""
    before = UnboundReader.bind_process(None)
    yield
    UnboundReader.bind_process(before)


def test_opening_says_what_is_missing() -> None:
    """The error names scheme, alias and remedy, and nothing else of the locator."""
    with pytest.raises(errors.NoReaderResolverError) as caught:
        UnboundReader(DESCRIPTOR).open()

    assert (caught.value.tag, caught.value.alias) == ("fsspec", "media")
    assert "'fsspec' handle of the store 'media' has no resolver" in str(caught.value)
    assert "worker_codec" in caught.value.hint
    assert "private" not in str(caught.value)


def test_without_a_store_no_alias() -> None:
    """A handle without an alias is named by its scheme alone."""
    with pytest.raises(
        errors.NoReaderResolverError, match="'http' handle has no"
    ) as caught:
        UnboundReader(ReaderDescriptor("http", {"url": "x"})).byte_length()

    assert caught.value.alias is None


def test_binds_on_first_use() -> None:
    """Once the process binds handles, one that failed before opens."""
    handle = UnboundReader(DESCRIPTOR)
    with pytest.raises(errors.NoReaderResolverError):
        handle.open()
    asked: list[ReaderDescriptor] = []

    def bind(descriptor: ReaderDescriptor) -> Reader:
        asked.append(descriptor)
        return Linked(b"0123456789")

    assert UnboundReader.bind_process(bind) is None

    assert handle.open().read() == b"0123456789"
    assert list(handle.iter_bytes(6)) == [b"012345", b"6789"]
    assert handle.read_range(2, 4) == b"23"
    assert handle.byte_length() == 10
    assert handle.url(expires=5) == "https://example.org/?5"
    assert asked == [DESCRIPTOR]


def test_async_faces_bind_too() -> None:
    """The async methods are those of the bound reader."""
    UnboundReader.bind_process(lambda _: BytesReader(b"0123456789"))
    handle = UnboundReader(DESCRIPTOR)

    async def all_of_it() -> tuple[BinaryIO, list[bytes], bytes, int | None]:
        chunks = [chunk async for chunk in handle.aiter_bytes(6)]
        return (
            await handle.aopen(),
            chunks,
            await handle.aread_range(1, 3),
            await handle.abyte_length(),
        )

    stream, *rest = asyncio.run(all_of_it())
    assert stream.read() == b"0123456789"
    assert rest == [[b"012345", b"6789"], b"12", 10]


def test_a_binder_may_know_nothing() -> None:
    """A binder that has no reader, or only another handle, counts as none."""
    UnboundReader.bind_process(lambda _: None)
    with pytest.raises(errors.NoReaderResolverError):
        UnboundReader(DESCRIPTOR).open()

    UnboundReader.bind_process(UnboundReader)
    with pytest.raises(errors.NoReaderResolverError):
        UnboundReader(DESCRIPTOR).open()


def test_pickles_on() -> None:
    """A handle that nobody bound can be passed on, bound or not."""
    UnboundReader.bind_process(lambda _: BytesReader(b"x"))
    handle = UnboundReader(DESCRIPTOR)
    handle.open()

    arrived = pickle.loads(pickle.dumps(handle))

    assert arrived == handle
    assert arrived.describe() == DESCRIPTOR


def test_takes_a_descriptor() -> None:
    """Anything but a descriptor is refused."""
    with pytest.raises(errors.InvalidValueError, match="must be a ReaderDescriptor"):
        UnboundReader("media:http")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


def test_repr_is_discreet() -> None:
    """The repr shows the scheme and nothing of the locator."""
    assert repr(UnboundReader(DESCRIPTOR)) == (
        "UnboundReader(ReaderDescriptor('fsspec', <2 fields>))"
    )
