"""Documents in PostgreSQL."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# psycopg is imported when it is needed, so it is Any here.

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any, Final, cast

from graphcodec._extras import from_extra
from graphcodec._process import PerProcess
from graphcodec.errors import InvalidValueError, StorageError
from graphcodec.log._documents import Document
from graphcodec.log._pool import Pool
from graphcodec.log._sql import SqlDocuments

__all__ = ["PostgresDocumentStore"]

_SCHEMA_LOCK: Final = 0x67726170
_SCHEMA: Final = """
    CREATE TABLE IF NOT EXISTS graphcodec_documents (
        seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        collection_key TEXT NOT NULL,
        doc_id TEXT NOT NULL,
        content TEXT NOT NULL,
        title TEXT,
        summary TEXT,
        record_type TEXT,
        created_at BIGINT NOT NULL DEFAULT 0,
        UNIQUE (collection_key, doc_id)
    );
    CREATE INDEX IF NOT EXISTS graphcodec_documents_in_order
    ON graphcodec_documents (collection_key, seq);
    CREATE INDEX IF NOT EXISTS graphcodec_documents_by_type
    ON graphcodec_documents (collection_key, record_type, seq);
"""
_INSERT: Final = """
    INSERT INTO graphcodec_documents
    (collection_key, doc_id, content, title, summary, record_type, created_at)
    SELECT %s, doc_id, content, title, summary, record_type, created_at
    FROM unnest(
        %s::text[], %s::text[], %s::text[], %s::text[], %s::text[], %s::bigint[]
    ) WITH ORDINALITY
    AS given (doc_id, content, title, summary, record_type, created_at, place)
    ORDER BY place
    ON CONFLICT (collection_key, doc_id) DO NOTHING
    RETURNING doc_id, seq
"""


class PostgresDocumentStore(SqlDocuments):
    """Keeps documents in a table of PostgreSQL, ``graphcodec_documents``.

    The table is made if it is not there. Each `append` is one transaction, and those of
    one collection take turns, so that numbers become visible in their order.

    Args:
        conninfo: What psycopg connects with: a URL or ``key=value`` pairs. Options in
            it choose the schema (``options=-csearch_path=audit``). It is never shown.

    Raises:
        ModuleNotFoundError: If psycopg is not installed.
        StorageError: If the database can't be reached.
    """

    _table = "graphcodec_documents"
    _mark = "%s"

    def __init__(self, conninfo: str) -> None:
        self._psycopg = _psycopg()
        # A pool that knew the store would make a cycle, and connections in a cycle may
        # be collected before the pool has closed them.
        self._pool = PerProcess(partial(_pool, self._psycopg, conninfo))
        with self._transaction("open", _SCHEMA_LOCK) as connection:
            connection.execute(_SCHEMA)

    def __repr__(self) -> str:
        return "PostgresDocumentStore(<conninfo>)"

    def close(self) -> None:
        """Close this process's connections; the next call opens new ones."""
        self._pool.get().close()

    @contextmanager
    def _connection(self, what: str) -> Generator[Any]:
        """Lend a connection, and turn the errors of psycopg into ours."""
        try:
            with self._pool.get().borrow() as connection:
                yield connection
        except (self._psycopg.DataError, UnicodeError) as exc:
            msg = f"PostgreSQL can't hold this document: {exc}"
            raise InvalidValueError(msg) from exc
        except self._psycopg.Error as exc:
            # The text of a connection's error may name hosts and users.
            reason = exc.diag.message_primary or type(exc).__name__
            msg = f"could not {what} the documents in PostgreSQL: {reason}"
            raise StorageError(msg) from None

    @contextmanager
    def _transaction(self, what: str, turn: int | str | None = None) -> Generator[Any]:
        """Lend a connection for one transaction.

        Args:
            what: What it is for.
            turn: Wait for others with the same one.
        """
        with self._connection(what) as connection, connection.transaction():
            if isinstance(turn, str):
                query = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
                connection.execute(query, (turn,))
            elif turn is not None:
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (turn,))
            yield connection

    # What a store does

    def append(
        self, key: str, documents: Sequence[Document], /
    ) -> Sequence[int | None]:
        """Write documents behind all others; see `DocumentStore.append`."""
        if "\0" in key:
            # It is no fault of the documents.
            msg = "PostgreSQL can't hold a session id with a NUL in it"
            raise StorageError(msg)
        columns: list[list[object]] = [
            [document.id for document in documents],
            [document.content for document in documents],
            [document.title for document in documents],
            [document.summary for document in documents],
            [document.record_type for document in documents],
            [document.created_at for document in documents],
        ]
        with self._transaction("write", key) as connection:
            rows = connection.execute(_INSERT, (key, *columns)).fetchall()
        numbers: dict[str, int] = dict(cast("list[tuple[str, int]]", rows))
        return [numbers.pop(document.id, None) for document in documents]

    def _rows(self, query: str, values: Sequence[object]) -> list[tuple[Any, ...]]:
        with self._connection("read") as connection:
            return cast(
                "list[tuple[Any, ...]]", connection.execute(query, values).fetchall()
            )

    def _change(self, query: str, values: Sequence[str]) -> int:
        with self._transaction("write", values[0]) as connection:
            return int(connection.execute(query, values).rowcount)


def _pool(psycopg: Any, conninfo: str) -> Pool[Any]:
    return Pool(
        lambda: psycopg.connect(conninfo, autocommit=True),
        lambda connection: not connection.closed,
    )


def _psycopg() -> Any:
    with from_extra("postgres", "PostgreSQL needs psycopg"):
        return import_module("psycopg")
