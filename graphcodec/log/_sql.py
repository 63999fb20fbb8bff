"""What the stores in SQL databases have in common: all but connecting and inserting."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Final, Self

from graphcodec.log._documents import Document

__all__ = ["SqlDocuments"]

_PAGE: Final = 1000
_COLUMNS: Final = "seq, doc_id, content, title, summary, record_type, created_at"


class SqlDocuments(ABC):
    """Documents in one table, read a page at a time.

    Only texts of this package become part of a query; what was given is passed beside
    it.
    """

    _table: ClassVar[str]
    _mark: ClassVar[str]
    """What stands for a value in a query."""

    @abstractmethod
    def close(self) -> None:
        """Close this process's connections; the next call opens new ones."""

    @abstractmethod
    def _rows(self, query: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        """Return what a query finds."""

    @abstractmethod
    def _change(self, query: str, values: Sequence[str]) -> int:
        """Change a collection, whose key comes first, and return how many rows."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

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
        """Yield documents in order, a page at a time; see `DocumentStore.scan`."""
        wanted: dict[str, object] = {"collection_key =": key, "seq >": after}
        if record_type is not None:
            wanted["record_type ="] = record_type
        while limit is None or limit > 0:
            size = _PAGE if limit is None else min(_PAGE, limit)
            page = self._page(wanted, size, newest_first=newest_first)
            yield from page
            if len(page) < size:
                return
            limit = None if limit is None else limit - size
            wanted["seq <" if newest_first else "seq >"] = page[-1].seq

    def _page(
        self, wanted: dict[str, object], size: int, *, newest_first: bool = False
    ) -> list[Document]:
        order = "DESC" if newest_first else "ASC"
        query = (
            f"SELECT {_COLUMNS} FROM {self._table} WHERE {self._where(wanted)} "  # noqa: S608 - our own text
            f"ORDER BY seq {order} LIMIT {self._mark}"
        )
        return [_document(row) for row in self._rows(query, [*wanted.values(), size])]

    def _where(self, wanted: dict[str, object]) -> str:
        return " AND ".join(f"{column} {self._mark}" for column in wanted)

    def find(self, key: str, name: str, /) -> Document | None:
        """Return the document of an id; see `DocumentStore.find`."""
        found = self._page({"collection_key =": key, "doc_id =": name}, 1)
        return found[0] if found else None

    def count(self, key: str, /) -> int:
        """Return how many documents a collection has."""
        wanted: dict[str, object] = {"collection_key =": key}
        query = f"SELECT count(*) FROM {self._table} WHERE {self._where(wanted)}"  # noqa: S608 - our own text
        ((number,),) = self._rows(query, [key])
        return int(number)

    def keys(self) -> Iterator[str]:
        """Yield the keys of all collections that have documents."""
        query = f"SELECT DISTINCT collection_key FROM {self._table} ORDER BY 1"  # noqa: S608 - our own text
        for (key,) in self._rows(query, []):
            yield str(key)

    def delete(self, key: str, name: str, /) -> bool:
        """Remove a document, and say whether there was one."""
        return self._delete({"collection_key =": key, "doc_id =": name}) > 0

    def delete_all(self, key: str, /) -> int:
        """Remove all documents of a collection, and return how many there were."""
        return self._delete({"collection_key =": key})

    def _delete(self, wanted: dict[str, str]) -> int:
        query = f"DELETE FROM {self._table} WHERE {self._where({**wanted})}"  # noqa: S608 - our own text
        return self._change(query, list(wanted.values()))


def _document(row: tuple[Any, ...]) -> Document:
    seq, name, content, title, summary, record_type, created_at = row
    return Document(
        id=name,
        content=content,
        title=title,
        summary=summary,
        record_type=record_type,
        created_at=created_at,
        seq=seq,
    )
