"""Logs in PostgreSQL."""

from __future__ import annotations

import uuid
import weakref
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from graphcodec.errors import InvalidValueError, StorageError
from graphcodec.log import (
    Document,
    DocumentStore,
    PostgresDocumentStore,
    SessionLog,
    tail,
)
from graphcodec.testing import DocumentStoreContract
from tests.log.records import one_of_each, user


@pytest.fixture
def uri(postgres_uri: str) -> str:
    """The address of an empty schema."""
    name = f"s{uuid.uuid4().hex}"
    with psycopg.connect(postgres_uri, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
    return f"{postgres_uri}&options=-csearch_path%3D{name}"


class TestPostgres(DocumentStoreContract):
    """`PostgresDocumentStore` keeps the contract."""

    @pytest.fixture(autouse=True)
    def _address(self, uri: str) -> None:
        self.uri = uri

    def make_store(self) -> DocumentStore:
        """Return a store in an empty schema."""
        return PostgresDocumentStore(self.uri)

    def reopen(self, store: DocumentStore) -> DocumentStore | None:
        """Return a store over the same schema."""
        del store
        return PostgresDocumentStore(self.uri)


def test_log_in_postgres(uri: str) -> None:
    """Records of every kind come back from PostgreSQL equal, in order."""
    records = one_of_each()
    with PostgresDocumentStore(uri) as store, SessionLog(store, "s") as session:
        for record in records:
            session.append(record)

        assert session.all() == records
        assert [e.record for e in tail(store, "s", since=0, timeout=0)] == records


def test_writers_take_turns(uri: str) -> None:
    """Whoever follows eight writers at once misses nothing."""
    with PostgresDocumentStore(uri) as store:

        def write(thread: int) -> None:
            with SessionLog(store, "s", journal=True) as session:
                for number in range(10):
                    session.append(user(id=f"{thread}-{number}"))

        with ThreadPoolExecutor(8) as pool:
            follower = tail(store, "s", since=0, poll=0.001, timeout=30)
            done = [pool.submit(write, thread) for thread in range(8)]
            found = [next(follower).id for _ in range(80)]
            for future in done:
                future.result()

    assert len(set(found)) == 80


def test_refused_text(uri: str) -> None:
    """An id that PostgreSQL can't hold is the document's fault, not the store's."""
    with PostgresDocumentStore(uri) as store:
        with pytest.raises(InvalidValueError, match="can't hold this document"):
            store.append(
                "k", [Document(id="a", content="{}"), Document(id="\0", content="")]
            )

        assert store.count("k") == 0


def test_forgotten_store_closes_its_connections(uri: str) -> None:
    """A store that nobody closed is gone at once, and its pool closes what it has."""
    known = weakref.ref(PostgresDocumentStore(uri))

    assert known() is None


def test_refused_session(uri: str) -> None:
    """Records of a session that PostgreSQL can't hold wait; none is put aside."""
    with PostgresDocumentStore(uri) as store:
        session = SessionLog(store, "a\0b")
        session.append(user())
        with pytest.raises(StorageError, match="session id with a NUL"):
            session.flush()

        assert (session.unflushed(), session.quarantined) == (1, ())


def test_unreachable_server() -> None:
    """An error tells neither the address nor the password."""
    with pytest.raises(StorageError, match="could not open the documents") as caught:
        PostgresDocumentStore("postgresql://ann:secret@127.0.0.1:9/db")

    shown = f"{caught.value!s} {caught.value!r} {caught.value.__cause__!r}"
    assert "secret" not in shown
    assert "127.0.0.1" not in shown


def test_lost_connection(uri: str, postgres_uri: str) -> None:
    """A connection that the server ended fails one call, and is replaced."""
    with PostgresDocumentStore(uri) as store:
        store.append("k", [Document(id="a", content="{}")])
        with psycopg.connect(postgres_uri, autocommit=True) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
        with pytest.raises(StorageError, match="could not read the documents"):
            store.count("k")

        assert store.count("k") == 1


def test_repr_shows_nothing(uri: str) -> None:
    """What a store shows is not how to reach it."""
    with PostgresDocumentStore(uri) as store:
        assert repr(store) == "PostgresDocumentStore(<conninfo>)"
