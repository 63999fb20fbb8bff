from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from graphcodec import (
    BytesReader,
    Codec,
    Media,
    SpooledArtifact,
    StreamReader,
    encode,
    persist,
)
from graphcodec.errors import HandleNotFoundError, InvalidValueError
from graphcodec_resolvers import FsspecResolver, FsspecStore, GcReport, HttpReader
from tests.resolvers.filesystems import PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.s3_server import S3Server

LONG_AGO = 1_000_000_000


@pytest.fixture(params=["folder", "memory", "plain", "s3"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """Where a store of each kind is, and its options."""
    if request.param == "folder":
        yield str(tmp_path / "store"), {}
    elif request.param == "s3":
        server: S3Server = request.getfixturevalue("s3_server")
        yield f"s3://{server.bucket()}/a/b", server.options()
    elif request.param == "memory":
        yield f"memory://{tmp_path.name}", {}
    else:
        yield (PLAIN, f"/gc/{tmp_path.name}"), {}
        if PLAIN.exists("/gc"):
            PLAIN.rm("/gc", recursive=True)


@pytest.fixture
def store(root: Any) -> FsspecStore:
    """A store of each kind, under the alias ``media``."""
    return FsspecStore(root[0], alias="media", options=root[1])


def upload(data: bytes) -> Media:
    """Return media that has to be persisted."""
    return Media.user_attachment(
        kind="image",
        mime_type="image/png",
        filename="a.png",
        reader=StreamReader(io.BytesIO(data)),
    )


def test_what_no_graph_names_is_freed(store: FsspecStore) -> None:
    """And nothing else, however deep in a graph the handle lies."""
    kept: Any = persist({"a": [upload(b"1"), (upload(b"22"),)]}, store)
    lost = persist([upload(b"333"), upload(b"4444")], store)

    would = store.gc([kept], grace=0, dry_run=True)
    assert lost[0].read() == b"333"
    report = store.gc(iter([kept]), grace=0)

    assert would == report == GcReport(kept=2, freed=2, bytes=7)
    assert [media.read() for media in (kept["a"][0], kept["a"][1][0])] == [b"1", b"22"]
    for media in lost:
        with pytest.raises(HandleNotFoundError, match="nothing is there"):
            media.read()
    assert store.gc([kept], grace=0) == GcReport(kept=2)
    assert store.gc([], grace=0).freed == 2


def test_young_content_stays(store: FsspecStore) -> None:
    """Its graph may be about to be saved."""
    written = store.write(b"young")

    assert store.gc([]) == store.gc([], grace=60) == GcReport(kept=1)
    assert written.open().read() == b"young"


def test_other_objects_are_not_ours_to_free(store: FsspecStore, root: Any) -> None:
    """What somebody else put into the store stays, named or not."""
    if isinstance(root[0], tuple):
        pytest.skip("seen in the others")
    fs_store = FsspecStore(root[0], alias="x", options=root[1])
    written = fs_store.write(b"ours")
    fs, path = _file_system(root)
    for key in ("mine", "sha256/aa/mine", "incoming-mine"):
        fs.makedirs(f"{path}/{key}".rpartition("/")[0], exist_ok=True)
        fs.pipe_file(f"{path}/{key}", b"mine")

    assert store.gc([], grace=0) == GcReport(freed=1, bytes=4)
    assert store.reader("mine").open().read() == b"mine"
    assert store.reader("sha256/aa/mine").open().read() == b"mine"
    assert not store.delete(written)


def _file_system(root: Any) -> tuple[Any, str]:
    core: Any = __import__("fsspec").core
    found: tuple[Any, str] = core.url_to_fs(
        root[0], **root[1], skip_instance_cache=True
    )
    return found


def test_every_way_to_name_content_counts(store: FsspecStore, root: Any) -> None:
    """Readers, descriptors, another alias for the same place, unknown classes."""
    other = FsspecStore(root[0], alias="other", options=root[1])
    named = [
        store.write(b"a reader"),
        store.write(b"a descriptor").describe(),
        SpooledArtifact(other.write(b"another alias")),
        [
            Media.user_attachment(
                kind="image",
                mime_type="a/b",
                filename="x",
                reader=store.write(b"media"),
            )
        ],
        {"none": BytesReader(b"x"), "url": HttpReader("https://a.example/?sig=x")},
        upload(b"not stored"),
    ]
    document = encode(SpooledArtifact(store.write(b"unbound")))
    unbound = Codec(resolvers=[FsspecResolver({"media": store})]).decode(document)

    assert store.gc([*named, unbound], grace=0) == GcReport(kept=5)


@pytest.mark.parametrize("live", [{"a": 1}, "text", b"bytes", 5, BytesReader(b"")])
def test_one_graph_is_not_many(tmp_path: Path, live: Any) -> None:
    """A graph in place of a list of graphs would free what it names."""
    store = FsspecStore(tmp_path, alias="media")
    store.write(b"1")

    with pytest.raises(InvalidValueError, match="iterable of graphs"):
        store.gc(live, grace=0)
    assert len(list(store.descriptors())) == 1


@pytest.mark.parametrize("graph", [b"{}", "{}", None, 5, iter([{"a": 1}])])
def test_what_is_no_graph_frees_nothing(tmp_path: Path, graph: Any) -> None:
    """A document that was not decoded, or could not be, names nothing."""
    store = FsspecStore(tmp_path, alias="media")
    store.write(b"1")

    with pytest.raises(InvalidValueError, match="is no graph"):
        store.gc([graph], grace=0)
    assert len(list(store.descriptors())) == 1


@pytest.mark.parametrize("grace", [-1, float("nan"), float("inf"), "1", None])
def test_the_grace_period_is_a_time(tmp_path: Path, grace: Any) -> None:
    """Anything else is a mistake."""
    with pytest.raises(InvalidValueError, match="grace"):
        FsspecStore(tmp_path, alias="media").gc([], grace=grace)


def test_graphs_that_fail_free_nothing(store: FsspecStore) -> None:
    """All graphs are looked through first."""
    store.write(b"1")

    def graphs() -> Iterator[object]:
        yield []
        raise RuntimeError("a document could not be read")

    with pytest.raises(RuntimeError, match="could not be read"):
        store.gc(graphs(), grace=0)
    assert len(list(store.descriptors())) == 1


def test_content_that_is_written_again_is_young_again(tmp_path: Path) -> None:
    """Its old age does not count; otherwise the new handle would dangle."""
    store = FsspecStore(tmp_path, alias="media")
    old, again = store.write(b"old"), store.write(b"again")
    for reader in (old, again):
        os.utime(tmp_path / str(reader.describe().locator["key"]), (LONG_AGO, LONG_AGO))

    store.write(b"again")

    assert store.gc([]) == GcReport(kept=1, freed=1, bytes=3)
    assert again.open().read() == b"again"


def test_on_s3_it_is_young_again_as_well(
    s3_server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An object that is no longer young is copied onto itself."""
    bucket = s3_server.bucket()
    store = FsspecStore(f"s3://{bucket}", alias="media", options=s3_server.options())
    client = s3_server.client()
    names = {"Bucket": bucket}
    for data in (b"small", bytes(300_000)):
        reader = store.write(data, media_type="text/x")
        names["Key"] = str(reader.describe().locator["key"])
        first = client.head_object(**names)["LastModified"]
        time.sleep(1.1)
        with monkeypatch.context() as patch:
            patch.setattr("graphcodec_resolvers._s3.TOUCH_AFTER", 0.5)
            assert store.write(data) == reader

        found = client.head_object(**names)
        assert found["LastModified"] > first
        assert found["ContentType"] == "text/x"
        assert reader.open().read() == data


def test_killed_writers_leave_nothing_for_ever(tmp_path: Path) -> None:
    """Their temporary files go once they are old; those of others stay."""
    program = """
import os, sys
from graphcodec_resolvers import FsspecStore
class Dying:
    def read(self, size):
        self.n = getattr(self, "n", 0) + 1
        return b"x" * 1000 if self.n < 3 else os._exit(9)
FsspecStore(sys.argv[1], alias="media").write(Dying())
"""
    killed = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        timeout=60,
        check=False,
    )
    assert killed.returncode == 9
    left = list((tmp_path / "incoming").iterdir())
    assert len(left) == 1
    store = FsspecStore(tmp_path, alias="media")

    assert store.gc([]) == GcReport()
    os.utime(left[0], (LONG_AGO, LONG_AGO))
    assert store.gc([], dry_run=True) == GcReport(leftovers=1)
    assert left[0].exists()
    assert store.gc([]) == GcReport(leftovers=1)
    assert not left[0].exists()


def test_unfinished_uploads_are_aborted(s3_server: S3Server) -> None:
    """Those below the store; S3 would keep and bill their parts for ever."""
    bucket = s3_server.bucket()
    client = s3_server.client()
    for key in ("a/sha256/x", "a/sha256/y", "elsewhere"):
        client.create_multipart_upload(Bucket=bucket, Key=key)
    time.sleep(1.1)
    store = FsspecStore(f"s3://{bucket}/a", alias="media", options=s3_server.options())

    assert store.gc([]) == GcReport()
    assert store.gc([], grace=0, dry_run=True) == GcReport(leftovers=2)
    assert store.gc([], grace=0) == GcReport(leftovers=2)
    left = client.list_multipart_uploads(Bucket=bucket)["Uploads"]
    assert [item["Key"] for item in left] == ["elsewhere"]


def test_what_was_written_again_since_it_was_listed_stays(store: FsspecStore) -> None:
    """Between the listing and the removal somebody may have written it again."""
    reader = store.write(b"again")
    backend = store.backend()
    kept = next(iter(backend.contents()))

    assert not backend.discard(kept, time.time() - 60)
    assert reader.open().read() == b"again"
    assert backend.discard(kept, time.time() + 60)
    assert not backend.discard(kept, time.time() + 60)
    with pytest.raises(HandleNotFoundError, match="nothing is there"):
        reader.open()
