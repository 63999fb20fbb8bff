from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from graphcodec.errors import (
    HandleError,
    HandleNotFoundError,
    ResolverDeniedError,
    StaleHandleError,
)
from graphcodec_resolvers import FsspecStore
from graphcodec_resolvers._folder import Folder

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs links and pipes")


@pytest.fixture(params=["relative", "resolved"], autouse=True)
def calls(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The way links are kept out: by the system's calls, or by comparing paths."""
    monkeypatch.setattr(Folder, "relative", request.param == "relative")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of the store, beside a secret."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "file").write_bytes(b"geheim")
    (tmp_path / "root" / "a").mkdir(parents=True)
    (tmp_path / "root" / "a" / "file").write_bytes(b"12345")
    return tmp_path / "root"


@pytest.fixture
def store(root: Path) -> FsspecStore:
    """The store in that folder."""
    return FsspecStore(root, alias="media")


def test_files_of_the_folder_are_read(store: FsspecStore) -> None:
    """Size and time are pinned, to the nanosecond."""
    reader = store.reader("a/file")

    assert reader.open().read() == b"12345"
    assert set(reader.describe().locator) == {"store", "key", "size", "mtime_ns"}


@pytest.mark.parametrize(
    ("link", "target", "key"),
    [
        ("link", "../secret/file", "link"),
        ("link", "../secret", "link/file"),
        ("a/link", "../../secret", "a/link/file"),
        ("link", "/etc", "link/hostname"),
        ("link", "/etc/passwd", "link"),
        ("link", "a/file", "link"),
        ("link", "a", "link/file"),
        ("link", "nowhere", "link"),
    ],
)
def test_links_are_refused(
    root: Path, store: FsspecStore, link: str, target: str, key: str
) -> None:
    """Out of the root, and within it: a key names a file, not a way to one."""
    (root / link).symlink_to(target)

    with pytest.raises(ResolverDeniedError, match="link"):
        store.reader(key)


def test_a_link_planted_later_is_refused(root: Path, store: FsspecStore) -> None:
    """What was a file when the handle was made is looked at again on opening."""
    reader = store.reader("a/file", pin="none")
    (root / "a" / "file").unlink()
    (root / "a").rmdir()
    (root / "a").symlink_to(root.parent / "secret")

    with pytest.raises(ResolverDeniedError, match="link"):
        reader.open()


def test_links_are_not_written_through(root: Path, store: FsspecStore) -> None:
    """Nobody can make the store write somewhere else."""
    (root / "sha256").symlink_to(root.parent / "secret")

    with pytest.raises(ResolverDeniedError, match="link"):
        store.write(b"x")
    assert [path.name for path in (root.parent / "secret").iterdir()] == ["file"]
    assert not [
        path
        for path in root.rglob("*")
        if path.name not in {"a", "file"} and path.is_file()
    ]


def test_a_link_among_the_contents_is_not_listed(
    root: Path, store: FsspecStore
) -> None:
    """It bears the name of content and is none; nor does it stop who collects."""
    kept = store.write(b"kept")
    name = "ab" + "0" * 62
    (root / "sha256" / "ab").mkdir()
    (root / "sha256" / "ab" / name).symlink_to(root.parent / "secret" / "file")

    assert list(store.descriptors()) == [kept.describe()]
    assert store.gc([kept], grace=0).kept == 1
    assert (root / "sha256" / "ab" / name).is_symlink()


def test_deleting_through_a_link_is_refused(root: Path, store: FsspecStore) -> None:
    """The file that the link leads to stays."""
    reader = store.reader("a/file", pin="none")
    (root / "a" / "file").unlink()
    (root / "a").rmdir()
    (root / "a").symlink_to(root.parent / "secret")

    with pytest.raises(ResolverDeniedError, match="link"):
        store.delete(reader)
    assert (root.parent / "secret" / "file").exists()


def test_the_root_itself_may_be_a_link(root: Path) -> None:
    """The application chose it."""
    (root.parent / "root-link").symlink_to(root)
    store = FsspecStore(root.parent / "root-link", alias="media")

    assert store.reader("a/file").open().read() == b"12345"
    assert store.write(b"x").open().read() == b"x"


def test_only_regular_files_are_opened(root: Path, store: FsspecStore) -> None:
    """A pipe would block, a folder has no bytes."""
    os.mkfifo(root / "pipe")

    for key in ("pipe", "a"):
        with pytest.raises(ResolverDeniedError, match="not a regular file"):
            store.reader(key)


def test_a_file_is_not_a_folder(store: FsspecStore) -> None:
    """What would lie below a file is not there."""
    with pytest.raises(HandleNotFoundError, match="nothing is there"):
        store.reader("a/file/x")
    with pytest.raises(HandleNotFoundError, match="nothing is there"):
        store.reader("b/file")


def test_names_that_the_system_refuses_are_our_error(store: FsspecStore) -> None:
    """A segment may be longer than a file system takes."""
    with pytest.raises(HandleError, match="name too long"):
        store.reader("k" * 300)


def test_edits_within_the_same_size_are_stale(root: Path, store: FsspecStore) -> None:
    """The time tells, as long as nobody puts it back."""
    reader = store.reader("a/file")
    os.utime(root / "a" / "file", ns=(1, 1))

    with pytest.raises(StaleHandleError, match="mtime_ns was"):
        reader.open()


def test_edits_that_hide_are_stale_if_the_content_is_pinned(
    root: Path, store: FsspecStore
) -> None:
    """Whoever restores the time is found out by the hash."""
    reader = store.reader("a/file", pin="content")
    before = (root / "a" / "file").stat()
    (root / "a" / "file").write_bytes(b"54321")
    os.utime(root / "a" / "file", ns=(before.st_atime_ns, before.st_mtime_ns))

    with pytest.raises(StaleHandleError, match="sha256 pinned"):
        reader.open().read()


def test_ranges_of_a_touched_file_are_proved(root: Path, store: FsspecStore) -> None:
    """When the time says nothing any more, the whole is hashed first."""
    reader = store.reader("a/file", pin="content")
    os.utime(root / "a" / "file", ns=(1, 1))
    assert reader.read_range(1, 3) == b"23"

    (root / "a" / "file").write_bytes(b"54321")
    with pytest.raises(StaleHandleError, match="mtime_ns was"):
        reader.read_range(1, 3)


def test_an_open_stream_reads_the_file_that_was_opened(
    root: Path, store: FsspecStore
) -> None:
    """Replacing the file by renaming does not change what is being read."""
    with store.reader("a/file").open() as stream:
        (root / "new").write_bytes(b"other")
        (root / "new").replace(root / "a" / "file")

        assert stream.read() == b"12345"


def test_truncation_while_reading_is_stale(root: Path, store: FsspecStore) -> None:
    """A stream never ends early without a word."""
    (root / "big").write_bytes(bytes(1 << 20))
    with store.reader("big").open() as stream:
        stream.read(10)
        os.truncate(root / "big", 100_000)

        with pytest.raises(StaleHandleError, match="are left"):
            stream.read()


def test_growth_while_reading_is_stale(root: Path, store: FsspecStore) -> None:
    """Nor does it hand out more than was pinned."""
    with store.reader("a/file").open() as stream:
        with (root / "a" / "file").open("ab") as file:
            file.write(b"6")

        with pytest.raises(StaleHandleError, match="more than the 5 bytes"):
            stream.read()


def test_a_damaged_object_is_written_anew(root: Path, store: FsspecStore) -> None:
    """Running again after a crash heals what the crash left behind."""
    reader = store.write(b"12345")
    path = root / str(reader.describe().locator["key"])
    path.write_bytes(b"123")

    with pytest.raises(StaleHandleError, match="size was"):
        reader.open()
    assert store.write(b"12345").open().read() == b"12345"
    assert list((root / "incoming").iterdir()) == []


def test_the_environment_of_a_path_is_fixed_when_the_store_is_made(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative root does not wander with the working directory."""
    monkeypatch.chdir(root.parent)
    stores = [FsspecStore(r, alias="m") for r in ("root", f"file://{root}")]
    monkeypatch.chdir("/")

    assert [s.reader("a/file").open().read() for s in stores] == [b"12345"] * 2


def test_a_missing_root_is_an_empty_store(tmp_path: Path) -> None:
    """It is made by the first write, and not before."""
    store = FsspecStore(tmp_path / "not" / "yet", alias="media")

    assert list(store.descriptors()) == []
    with pytest.raises(HandleNotFoundError, match="nothing is there"):
        store.reader("a")
    assert not (tmp_path / "not").exists()
    assert store.write(b"x").open().read() == b"x"
