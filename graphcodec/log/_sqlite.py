"""Documents in a SQLite file, which many threads and processes may share."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from graphcodec._process import PerProcess
from graphcodec.errors import InvalidValueError, StorageError
from graphcodec.log._documents import Document
from graphcodec.log._pool import Pool
from graphcodec.log._sql import SqlDocuments

__all__ = ["SqliteDocumentStore"]

_VERSION: Final = 1

# The sequence is one for all collections: AUTOINCREMENT gives no number twice, and
# since writers take turns, numbers become visible in their order.
_SCHEMA: Final = (
    """
    CREATE TABLE IF NOT EXISTS documents (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        collection_key TEXT NOT NULL,
        doc_id TEXT NOT NULL,
        content TEXT NOT NULL,
        metadata TEXT NOT NULL DEFAULT '{}',
        title TEXT,
        summary TEXT,
        record_type TEXT,
        created_at INTEGER NOT NULL DEFAULT 0,
        UNIQUE (collection_key, doc_id)
    )
    """,
    """
    CREATE INDEX IF NOT EXISTS documents_by_type
    ON documents (collection_key, record_type, seq)
    """,
    """
    CREATE INDEX IF NOT EXISTS documents_in_order
    ON documents (collection_key, seq)
    """,
    f"PRAGMA user_version = {_VERSION}",
)
_INSERT: Final = """
    INSERT INTO documents
    (collection_key, doc_id, content, title, summary, record_type, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (collection_key, doc_id) DO NOTHING
"""


class SqliteDocumentStore(SqlDocuments):
    """Keeps documents in a SQLite file, in one transaction for each `append`.

    The file is in write-ahead mode: readers and a writer do not wait for each other,
    and writers take turns, in whatever process they are. What `append` returned for
    survives the end of the process, whichever it is; with *sync* also that of the
    machine.

    Args:
        path: The file; it is made if it is not there.
        timeout: How many seconds to wait for another writer.
        sync: Whether each transaction waits for the disk.

    Raises:
        StorageError: If the file can't be opened or is no such store.
    """

    _table = "documents"
    _mark = "?"

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        timeout: float = 30.0,
        sync: bool = False,
    ) -> None:
        self._path = os.fspath(path)
        if self._path == ":memory:" or not self._path:
            msg = "a SqliteDocumentStore needs a file"
            raise InvalidValueError(msg, hint="in memory: MemoryDocumentStore()")
        self._timeout = timeout
        self._sync = sync
        # A pool that knew the store would make a cycle, and connections in a cycle may
        # be collected before the pool has closed them.
        level = "FULL" if sync else "NORMAL"
        self._pool = PerProcess(partial(_pool, self._path, timeout, level))
        with self._connection("open") as connection:
            self._prepare(connection)

    def __repr__(self) -> str:
        return f"SqliteDocumentStore({Path(self._path).name!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return _remade, (self._path, self._timeout, self._sync)

    def close(self) -> None:
        """Close this process's connections; the next call opens new ones."""
        self._pool.get().close()

    # The connections

    @contextmanager
    def _connection(self, what: str) -> Generator[sqlite3.Connection]:
        """Lend a connection, and turn the errors of SQLite into ours."""
        try:
            with self._pool.get().borrow() as connection:
                yield connection
        except (sqlite3.DataError, sqlite3.InterfaceError, UnicodeError) as exc:
            msg = f"SQLite can't hold this document: {exc}"
            raise InvalidValueError(msg) from exc
        except StorageError:
            raise
        except (sqlite3.Error, OSError, OverflowError) as exc:
            msg = f"could not {what} {self!r}: {exc}"
            raise StorageError(msg) from exc

    def _prepare(self, connection: sqlite3.Connection) -> None:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > _VERSION:
            msg = f"the file is of version {version}, this reads up to {_VERSION}"
            raise StorageError(msg, hint="update graphcodec", value=version)
        if version < _VERSION:
            with self._writing(connection):
                for statement in _SCHEMA:
                    connection.execute(statement)

    @contextmanager
    def _writing(self, connection: sqlite3.Connection) -> Generator[None]:
        """Make a transaction of what is done in it."""
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    # What a store does

    def append(
        self, key: str, documents: Sequence[Document], /
    ) -> Sequence[int | None]:
        """Write documents behind all others; see `DocumentStore.append`."""
        with self._connection("write to") as connection, self._writing(connection):
            return [_insert(connection, key, document) for document in documents]

    def _rows(self, query: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        with self._connection("read") as connection:
            return connection.execute(query, values).fetchall()

    def _change(self, query: str, values: Sequence[str]) -> int:
        with self._connection("write to") as connection, self._writing(connection):
            return connection.execute(query, values).rowcount


def _pool(path: str, timeout: float, level: str) -> Pool[sqlite3.Connection]:
    return Pool(lambda: _connect(path, timeout, level), lambda _: True)


def _connect(path: str, timeout: float, level: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path,
        timeout=timeout,
        isolation_level=None,
        # Closed by whoever closes the store.
        check_same_thread=False,
    )
    deadline = time.monotonic() + timeout
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as exc:
            # The switch to this mode does not wait for its turn by itself.
            if "locked" not in str(exc) or time.monotonic() > deadline:
                connection.close()
                raise
            time.sleep(0.01)
    connection.execute(f"PRAGMA synchronous = {level}")
    return connection


def _insert(connection: sqlite3.Connection, key: str, document: Document) -> int | None:
    row = (
        key,
        document.id,
        document.content,
        document.title,
        document.summary,
        document.record_type,
        document.created_at,
    )
    cursor = connection.execute(_INSERT, row)
    return cursor.lastrowid if cursor.rowcount else None


def _remade(path: str, timeout: float, sync: bool) -> SqliteDocumentStore:  # noqa: FBT001 - pickle passes no keywords
    return SqliteDocumentStore(path, timeout=timeout, sync=sync)
