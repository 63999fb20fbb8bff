"""What a log is written to: documents in order, in collections by key."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

from attrs import evolve, field, frozen

__all__ = ["Document", "DocumentStore", "MemoryDocumentStore"]


@frozen(kw_only=True)
class Document:
    """A record as a store keeps it.

    Attributes:
        id: Its name, which its collection has once.
        content: The record as JSON.
        record_type: The kind of the record.
        title: What it is about, if it says so.
        summary: What it says, in short.
        created_at: When it was made, in milliseconds since 1970; 0 if it does not say.
        seq: Its place in the order, which the store gives; 0 before it did.
    """

    id: str
    content: str = field(repr=False)
    record_type: str | None = None
    title: str | None = field(default=None, repr=False)
    summary: str | None = field(default=None, repr=False)
    created_at: int = 0
    seq: int = 0


@runtime_checkable
class DocumentStore(Protocol):
    """Keeps documents in the order in which they came.

    The order of a collection is that of ``seq``: numbers from 1 that grow, with gaps
    perhaps, and are never given twice. Whoever has read up to one and reads on from
    there misses nothing, whatever other processes write meanwhile. All methods may be
    called from any thread. `graphcodec.testing.DocumentStoreContract` tests a store.
    """

    def append(
        self, key: str, documents: Sequence[Document], /
    ) -> Sequence[int | None]:
        """Write documents behind all others, all of them or none, and number them.

        The result has the number of each, None for one that was skipped.

        Args:
            key: The collection.
            documents: What to write; one whose id the collection has is skipped.

        Raises:
            StorageError: If the store can't write now.
            InvalidValueError: If it can never write one of these documents.
        """
        ...

    def scan(
        self,
        key: str,
        /,
        *,
        after: int = 0,
        limit: int | None = None,
        newest_first: bool = False,
        record_type: str | None = None,
    ) -> Iterator[Document]:
        """Yield documents in order, in bounded memory.

        Args:
            key: The collection.
            after: Leave out those up to this number.
            limit: The most documents: None for all, 0 for none.
            newest_first: Begin at the end.
            record_type: Only records of this kind.

        Raises:
            StorageError: If the store can't be read.
        """
        ...

    def find(self, key: str, name: str, /) -> Document | None:
        """Return the document of an id, None if there is none.

        Args:
            key: The collection.
            name: The id.

        Raises:
            StorageError: If the store can't be read.
        """
        ...

    def count(self, key: str, /) -> int:
        """Return how many documents a collection has.

        Args:
            key: The collection.

        Raises:
            StorageError: If the store can't be read.
        """
        ...

    def keys(self) -> Iterator[str]:
        """Yield the keys of all collections that have documents.

        Raises:
            StorageError: If the store can't be read.
        """
        ...

    def delete(self, key: str, name: str, /) -> bool:
        """Remove a document, and say whether there was one.

        Args:
            key: The collection.
            name: The id.

        Raises:
            StorageError: If the store can't write now.
        """
        ...

    def delete_all(self, key: str, /) -> int:
        """Remove all documents of a collection, and return how many there were.

        Args:
            key: The collection.

        Raises:
            StorageError: If the store can't write now.
        """
        ...


class MemoryDocumentStore:
    """Keeps documents in the memory of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0
        self._collections: dict[str, dict[str, Document]] = {}

    def __repr__(self) -> str:
        with self._lock:
            count = sum(map(len, self._collections.values()))
        return f"{type(self).__name__}(<{count} documents>)"

    def append(
        self, key: str, documents: Sequence[Document], /
    ) -> Sequence[int | None]:
        """Write documents behind all others; see `DocumentStore.append`."""
        with self._lock:
            collection = self._collections.setdefault(key, {})
            return [self._add(collection, document) for document in documents]

    def _add(self, collection: dict[str, Document], document: Document) -> int | None:
        if document.id in collection:
            return None
        self._last += 1
        collection[document.id] = evolve(document, seq=self._last)
        return self._last

    def scan(
        self,
        key: str,
        /,
        *,
        after: int = 0,
        limit: int | None = None,
        newest_first: bool = False,
        record_type: str | None = None,
    ) -> Iterator[Document]:
        """Yield documents in order; see `DocumentStore.scan`."""
        with self._lock:
            found = list(self._collections.get(key, {}).values())
        chosen = [
            document
            for document in (reversed(found) if newest_first else found)
            if document.seq > after and record_type in (None, document.record_type)
        ]
        yield from chosen if limit is None else chosen[:limit]

    def find(self, key: str, name: str, /) -> Document | None:
        """Return the document of an id; see `DocumentStore.find`."""
        with self._lock:
            return self._collections.get(key, {}).get(name)

    def count(self, key: str, /) -> int:
        """Return how many documents a collection has."""
        with self._lock:
            return len(self._collections.get(key, {}))

    def keys(self) -> Iterator[str]:
        """Yield the keys of all collections that have documents."""
        with self._lock:
            found = [key for key, held in self._collections.items() if held]
        yield from found

    def delete(self, key: str, name: str, /) -> bool:
        """Remove a document, and say whether there was one."""
        with self._lock:
            return self._collections.get(key, {}).pop(name, None) is not None

    def delete_all(self, key: str, /) -> int:
        """Remove all documents of a collection, and return how many there were."""
        with self._lock:
            return len(self._collections.pop(key, {}))
