"""A store and a resolver of a third party, with the suites for them."""

from __future__ import annotations

import hashlib
import io
import threading
from collections.abc import Iterator
from typing import Any, BinaryIO, ClassVar

from graphcodec.errors import (
    HandleNotFoundError,
    InvalidValueError,
    StaleHandleError,
    UndecodableValueError,
)
from graphcodec.readers import ByteStore, Reader, ReaderDescriptor, Resolver
from graphcodec.testing import ByteStoreContract, ResolverContract


def key_of(reader: Reader) -> str:
    """Return the key in a handle."""
    described = reader.describe()
    assert described is not None
    return str(described.locator["key"])


class Shelf:
    """Keeps bytes in a dict; subclasses break a rule each."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.lock = threading.Lock()

    def write(
        self, data: bytes | BinaryIO | Reader, *, media_type: str | None = None
    ) -> Reader:
        """Keep it under its hash."""
        del media_type
        content = self.content_of(data)
        key = hashlib.sha256(content).hexdigest()
        with self.lock:
            self.kept[key] = content
        return self.reader(key)

    def content_of(self, data: bytes | BinaryIO | Reader) -> bytes:
        """Return the bytes of what is to be kept."""
        if isinstance(data, Reader):
            return b"".join(data.iter_bytes())
        if isinstance(data, bytes):
            return data
        content = b""
        while (piece := getattr(data, "read", str)(1 << 16)) != b"":
            if not isinstance(piece, bytes):
                raise InvalidValueError("a shelf keeps bytes")
            content += piece
        return content

    def reader(self, key: str) -> Reader:
        """Return a reader for a key."""
        return ShelfReader(self, key)

    def delete(self, item: Reader | ReaderDescriptor) -> bool:
        """Forget it."""
        described = item.describe() if isinstance(item, Reader) else item
        if described is None or described.scheme != "shelf":
            return False
        return self.kept.pop(str(described.locator["key"]), None) is not None

    def descriptors(self) -> Iterator[ReaderDescriptor]:
        """List it."""
        for key in list(self.kept):
            yield ReaderDescriptor("shelf", {"key": key})

    def find(self, key: str) -> bytes:
        """Return what is kept, if it is still what it was."""
        content = self.kept.get(key)
        if content is None:
            raise HandleNotFoundError("nothing is there")
        if hashlib.sha256(content).hexdigest() != key:
            raise StaleHandleError("it is something else")
        return content


class ShelfReader(Reader):
    """Finds its bytes on a shelf."""

    def __init__(self, shelf: Shelf, key: str) -> None:
        self.shelf = shelf
        self.key = key

    def open(self) -> BinaryIO:
        """Look for them."""
        return io.BytesIO(self.shelf.find(self.key))

    def describe(self) -> ReaderDescriptor | None:
        """Give the key."""
        return ReaderDescriptor("shelf", {"key": self.key})


class ShelfResolver:
    """Knows one shelf."""

    tags: Any = ("media:shelf", "spool:shelf")

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    def resolve(self, descriptor: ReaderDescriptor, /) -> Reader | None:
        """Take a key and nothing else."""
        if descriptor.scheme != "shelf":
            return None
        if set(descriptor.locator) != {"key"}:
            raise UndecodableValueError("a shelf has keys")
        key = descriptor.locator["key"]
        if not isinstance(key, str):
            raise UndecodableValueError("a key is a str")
        return self.reader(key)

    def reader(self, key: str) -> Reader:
        """Return a reader for a key."""
        return self.shelf.reader(key)


class ShelfSuite(ByteStoreContract):
    """The suite for the store, in one class with what it needs."""

    kind: ClassVar[type[Shelf]] = Shelf
    resolver: ClassVar[type[ShelfResolver]] = ShelfResolver

    def make_store(self) -> ByteStore:
        """Return an empty shelf."""
        return self.kind()

    def make_resolver(self, store: ByteStore) -> Resolver:
        """Return what knows it."""
        assert isinstance(store, Shelf)
        return self.resolver(store)

    def overwrite(self, store: ByteStore, reader: Reader, content: bytes) -> bool:
        """Exchange it."""
        assert isinstance(store, Shelf)
        store.kept[key_of(reader)] = content
        return True


class ShelfResolverSuite(ResolverContract):
    """The suite for its resolver."""

    kind: ClassVar[type[Shelf]] = Shelf
    resolver: ClassVar[type[ShelfResolver]] = ShelfResolver

    @property
    def shelf(self) -> Shelf:
        """One shelf for a test."""
        return vars(self).setdefault("_shelf", self.kind())  # type: ignore[no-any-return]

    def make_resolver(self) -> Resolver:
        """Return what knows the shelf."""
        return self.resolver(self.shelf)

    def examples(self) -> Iterator[tuple[Reader, bytes]]:
        """Yield two."""
        for content in (b"", b"some bytes" * 1000):
            yield self.shelf.write(content), content

    def missing(self) -> Reader:
        """Return one that was never there."""
        return self.shelf.reader("0" * 64)

    def stale(self) -> Reader:
        """Return one that was exchanged."""
        reader = self.shelf.write(b"before")
        self.shelf.kept[key_of(reader)] = b"after"
        return reader
