"""Where logs are kept."""

from __future__ import annotations

import pickle
import sqlite3
import subprocess
import sys
import tempfile
import threading
import weakref
from contextlib import closing
from pathlib import Path

import pytest

from graphcodec.errors import InvalidValueError, StorageError
from graphcodec.log import (
    Document,
    DocumentStore,
    MemoryDocumentStore,
    SqliteDocumentStore,
)
from graphcodec.testing import DocumentStoreContract


class TestMemory(DocumentStoreContract):
    """`MemoryDocumentStore` keeps the contract."""

    def make_store(self) -> DocumentStore:
        """Return a store in memory."""
        return MemoryDocumentStore()


class TestSqlite(DocumentStoreContract):
    """`SqliteDocumentStore` keeps the contract."""

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def make_store(self) -> DocumentStore:
        """Return a store in a new file."""
        return SqliteDocumentStore(tempfile.mkdtemp(dir=self.folder) + "/log.db")

    def reopen(self, store: DocumentStore) -> DocumentStore | None:
        """Return a store over the same file."""
        again: DocumentStore = pickle.loads(pickle.dumps(store))
        return again


def document(name: str, content: str = "{}") -> Document:
    """Return a document."""
    return Document(id=name, content=content)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file that is not there yet."""
    return tmp_path / "log.db"


def test_transaction_is_all_or_nothing(path: Path) -> None:
    """A document that SQLite can't hold takes the whole call back."""
    with SqliteDocumentStore(path) as store:
        with pytest.raises(InvalidValueError, match="SQLite can't hold this document"):
            store.append("k", [document("a"), document("b", "\ud800")])

        assert store.count("k") == 0


def test_file_is_in_write_ahead_mode(path: Path) -> None:
    """Readers do not wait for a writer."""
    with SqliteDocumentStore(path) as store:
        store.append("k", [document("a")])
        with closing(sqlite3.connect(path)) as writer:
            writer.execute("BEGIN IMMEDIATE")

            assert store.count("k") == 1


def test_locked_file(path: Path) -> None:
    """A writer that does not get its turn in time says so, and can go on later."""
    with (
        SqliteDocumentStore(path, timeout=0.05) as store,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match=r"could not write to .*log\.db.*locked"):
            store.append("k", [document("a")])
        other.execute("ROLLBACK")
        store.append("k", [document("a")])

        assert store.count("k") == 1


def test_full_disk(path: Path) -> None:
    """A write that does not fit leaves the file as it was."""
    with SqliteDocumentStore(path) as store:
        store.append("k", [document("a")])
        with store._connection("test") as connection:  # pyright: ignore[reportPrivateUsage]
            connection.execute("PRAGMA max_page_count = 20")
        with pytest.raises(StorageError, match="database or disk is full"):
            store.append("k", [document("b", "x" * 1_000_000)])

        assert [d.id for d in store.scan("k")] == ["a"]


@pytest.mark.parametrize("name", [":memory:", ""])
def test_memory_is_no_file(name: str) -> None:
    """A SQLite in memory would be another one for each connection."""
    with pytest.raises(InvalidValueError, match="needs a file") as caught:
        SqliteDocumentStore(name)

    assert caught.value.hint == "in memory: MemoryDocumentStore()"


def test_no_such_folder(tmp_path: Path) -> None:
    """A file that can't be made is told at once."""
    with pytest.raises(StorageError, match="could not open SqliteDocumentStore"):
        SqliteDocumentStore(tmp_path / "none" / "log.db")


def test_no_database(path: Path) -> None:
    """A file of another kind is left alone."""
    path.write_text("something else, and long enough to be looked at" * 100)
    with pytest.raises(StorageError, match="not a database"):
        SqliteDocumentStore(path)

    assert path.read_text().startswith("something else")


def test_newer_file(path: Path) -> None:
    """A file of a later version is not touched."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 9")
    with pytest.raises(StorageError, match="the file is of version 9") as caught:
        SqliteDocumentStore(path)

    assert caught.value.hint == "update graphcodec"


def test_repr_shows_no_folder(path: Path) -> None:
    """What a store shows is the name of its file."""
    with SqliteDocumentStore(path) as store:
        assert repr(store) == "SqliteDocumentStore('log.db')"


def test_closed_store_opens_again(path: Path) -> None:
    """Closing ends connections; the next call opens new ones."""
    store = SqliteDocumentStore(path, sync=True)
    store.append("k", [document("a")])
    store.close()

    assert store.count("k") == 1
    store.close()


def test_forgotten_store_closes_its_connections(path: Path) -> None:
    """A store that nobody closed is gone at once, and its pool closes what it has."""
    known = weakref.ref(SqliteDocumentStore(path))

    assert known() is None


def test_files_opened_at_once(path: Path) -> None:
    """Many may open a file that is not there yet at one moment."""
    gate = threading.Barrier(8)
    counts: list[int] = []

    def work(number: int) -> None:
        gate.wait(30)
        with SqliteDocumentStore(path) as store:
            store.append("k", [document(str(number))])
            counts.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    with SqliteDocumentStore(path) as store:
        assert (sorted(counts), store.count("k")) == (list(range(8)), 8)


def test_fork_gets_connections_of_its_own(path: Path) -> None:
    """A child of a fork writes beside its parent."""
    code = (
        "import os, sys\n"
        "from graphcodec.log import Document, SqliteDocumentStore\n"
        "store = SqliteDocumentStore(sys.argv[1])\n"
        "store.append('k', [Document(id='parent', content='{}')])\n"
        "child = os.fork()\n"
        "name = 'child' if child == 0 else 'again'\n"
        "store.append('k', [Document(id=name, content='{}')])\n"
        "if child == 0:\n"
        "    os._exit(0)\n"
        "sys.exit(os.waitpid(child, 0)[1])\n"
    )
    if sys.platform == "win32":
        pytest.skip("no fork here")
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)  # noqa: S603 - our own interpreter and text

    with SqliteDocumentStore(path) as store:
        assert {d.id for d in store.scan("k")} == {"parent", "child", "again"}
