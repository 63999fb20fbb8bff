from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import unittest
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from graphcodec import testing
from graphcodec.readers import (
    BytesReader,
    BytesStore,
    ByteStore,
    InMemoryResolver,
    Reader,
    Resolver,
)
from graphcodec.testing import ByteStoreContract, ResolverContract
from graphcodec_resolvers import FsspecResolver, FsspecStore, HttpReader, HttpResolver
from tests.resolvers.filesystems import split
from tests.resolvers.servers import DATA, ETAG, FaultyServer
from tests.suites.shelves import (
    ShelfResolverSuite,
    ShelfSuite,
    key_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.s3_server import S3Server

SECRET = "geheim-1"  # noqa: S105 - nobody's


class TestBytesStore(ByteStoreContract):
    """Bytes in memory that travel in the document."""

    inline = True

    def make_store(self) -> ByteStore:
        """Return an empty one."""
        return BytesStore()

    def make_resolver(self, store: ByteStore) -> Resolver:
        """Return the built-in one: a handle is all that is needed."""
        del store
        return InMemoryResolver()


class StoreOfFsspec(ByteStoreContract):
    """A store of fsspec under the alias ``media``."""

    store: FsspecStore

    def make_store(self) -> ByteStore:
        """Return the one that the fixture made."""
        return self.store

    def make_resolver(self, store: ByteStore) -> Resolver:
        """Return one that knows the alias."""
        assert isinstance(store, FsspecStore)
        return FsspecResolver({"media": store})


class TestFolder(StoreOfFsspec):
    """A local folder."""

    secrets = ("folder-of-the-store",)

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "folder-of-the-store"
        self.store = FsspecStore(str(self.folder), alias="media")

    def overwrite(self, store: ByteStore, reader: Reader, content: bytes) -> bool:
        """Write into the file."""
        del store
        (self.folder / key_of(reader)).write_bytes(content)
        return True


class TestMemory(StoreOfFsspec):
    """A prefix in the memory of fsspec."""

    @pytest.fixture(autouse=True)
    def _prefix(self, tmp_path: Path) -> Iterator[None]:
        self.fs, self.root = split(f"memory://{tmp_path.name}/suite")
        self.store = FsspecStore((self.fs, self.root), alias="media")
        yield
        if self.fs.exists(self.root):
            self.fs.rm(self.root, recursive=True)

    def overwrite(self, store: ByteStore, reader: Reader, content: bytes) -> bool:
        """Put it there without the store."""
        del store
        self.fs.pipe_file(f"{self.root}/{key_of(reader)}", content)
        return True


class TestS3(StoreOfFsspec):
    """A prefix in a bucket of a real server, with credentials."""

    @pytest.fixture(autouse=True)
    def _bucket(self, s3_server: S3Server, tmp_path: Path) -> None:
        self.client = s3_server.client()
        self.bucket = s3_server.bucket()
        self.prefix = tmp_path.name
        root = f"s3://{self.bucket}/{self.prefix}"
        options = s3_server.options()
        self.store = FsspecStore(root, alias="media", options=options)
        self.secrets = (s3_server.endpoint, self.bucket, str(options["secret"]))

    def overwrite(self, store: ByteStore, reader: Reader, content: bytes) -> bool:
        """Put it there without the store."""
        del store
        key = f"{self.prefix}/{key_of(reader)}"
        self.client.put_object(Bucket=self.bucket, Key=key, Body=content)
        return True


class TestInMemoryResolver(ResolverContract):
    """Handles that hold their bytes."""

    def make_resolver(self) -> Resolver:
        """Return the built-in one."""
        return InMemoryResolver()

    def examples(self) -> Iterator[tuple[Reader, bytes]]:
        """Yield some, one of them empty."""
        for content in (b"", b"some bytes", DATA):
            yield BytesReader(content), content


class TestFsspecResolver(ResolverContract):
    """Handles to objects that were put there by others."""

    secrets = ("folder-of-the-store",)

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "folder-of-the-store"
        self.folder.mkdir()
        self.store = FsspecStore(str(self.folder), alias="media")

    def make_resolver(self) -> Resolver:
        """Return one that knows the alias."""
        return FsspecResolver({"media": str(self.folder)})

    def examples(self) -> Iterator[tuple[Reader, bytes]]:
        """Yield keys that are hard to write."""
        for name, content in (("a b+%2F.bin", DATA), ("\N{GRINNING FACE}", b"")):
            (self.folder / name).write_bytes(content)
            yield self.store.reader(name), content
            yield self.store.reader(name, pin="content"), content

    def missing(self) -> Reader:
        """Return one whose file was deleted."""
        return self.put("missing", gone=True)

    def stale(self) -> Reader:
        """Return one whose file was written again."""
        return self.put("stale", gone=False)

    def put(self, name: str, *, gone: bool) -> Reader:
        """Return a handle to a file that was changed since."""
        path = self.folder / name
        path.write_bytes(b"before")
        reader = self.store.reader(name, pin="content")
        path.write_bytes(b"after!")
        if gone:
            path.unlink()
        return reader


class TestHttpResolver(ResolverContract):
    """Handles to what a server serves."""

    secrets = (SECRET,)

    @pytest.fixture(autouse=True)
    def _server(self) -> Iterator[None]:
        with FaultyServer() as self.server:
            yield

    def make_resolver(self) -> Resolver:
        """Return one that may open what this machine serves, with a token for it."""
        return HttpResolver(
            schemes=["http"],
            allow_private=True,
            headers={self.server.url(""): {"Authorization": f"Bearer {SECRET}"}},
        )

    def examples(self) -> Iterator[tuple[Reader, bytes]]:
        """Yield servers that know ranges, and such that do not."""
        sha256 = hashlib.sha256(DATA).hexdigest()
        for path in ("plain", "no-range", "chunked", "cut/1"):
            yield HttpReader(self.server.url(path)), DATA
        pinned = {"size": len(DATA), "etag": ETAG, "sha256": sha256}
        yield HttpReader(self.server.url("plain"), **pinned), DATA  # type: ignore[arg-type]

    def missing(self) -> Reader:
        """Return what is not found."""
        return HttpReader(self.server.url("status/404"))

    def stale(self) -> Reader:
        """Return what had another ETag."""
        return HttpReader(self.server.url("plain"), etag='"v0"')

    def denied(self) -> Reader:
        """Return what the server forbids."""
        return HttpReader(self.server.url("echo"))


class TestShelf(ShelfSuite):
    """A store that a third party wrote."""


class TestShelfResolver(ShelfResolverSuite):
    """And its resolver."""


class ShelfCase(TestShelf, unittest.TestCase):
    """The same under unittest."""

    __test__ = False


def test_the_suites_run_under_unittest() -> None:
    """They need no pytest."""
    result = unittest.TestResult()

    unittest.defaultTestLoader.loadTestsFromTestCase(ShelfCase).run(result)

    assert result.testsRun == len([n for n in dir(TestShelf) if n.startswith("test_")])
    assert result.wasSuccessful()


def test_the_suites_need_no_pytest() -> None:
    """Importing them loads neither pytest nor hypothesis."""
    program = (
        "import sys, graphcodec.testing as t; t.ByteStoreContract; t.ResolverContract;"
        "assert not {'pytest', 'hypothesis', 'graphcodec_resolvers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env=paths(), timeout=60)  # noqa: S603 - our own program


def paths() -> dict[str, str]:
    """Return an environment in which this process's modules are found."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def test_the_suites_have_public_names() -> None:
    """Tracebacks and documentation show where to import them."""
    assert {"ByteStoreContract", "ResolverContract"} <= set(dir(testing))
    assert ByteStoreContract.__module__ == "graphcodec.testing"
    assert ResolverContract.__module__ == "graphcodec.testing"


@pytest.mark.parametrize(
    "call",
    [
        lambda: ResolverContract().make_resolver(),
        lambda: ResolverContract().test_readers_are_values(),
        lambda: ByteStoreContract().make_store(),
        lambda: ByteStoreContract().make_resolver(BytesStore()),
    ],
)
def test_hooks_that_are_missing_are_named(call: Callable[[], object]) -> None:
    """The error says what to return."""
    with pytest.raises(NotImplementedError, match=r"^return "):
        call()


def test_checks_without_a_handle_are_skipped_aloud() -> None:
    """A test that could not run does not look like one that passed."""
    suite = TestInMemoryResolver()

    for test in (
        suite.test_what_is_missing_is_not_found,
        suite.test_what_was_changed_is_stale,
        suite.test_what_is_forbidden_is_denied,
        TestBytesStore().test_what_was_changed_is_stale,
    ):
        with pytest.raises(unittest.SkipTest):
            test()
