"""Documents in files: found, read within limits, written whole."""

from __future__ import annotations

import gzip
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from graphcodec import Limits, errors
from graphcodec._bulk import Document, Files, Rewrite
from graphcodec._bulk._contexts import context_of

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(params=["local", "memory"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A folder, of this machine or in memory."""
    if request.param == "local":
        yield str(tmp_path)
        return
    memory: Any = import_module("fsspec").filesystem("memory")
    memory.makedirs(f"/{tmp_path.name}")
    yield f"memory://{tmp_path.name}"
    memory.rm(f"/{tmp_path.name}", recursive=True)


def filled(root: str, *names: str) -> Files:
    """Return the files below a folder, made to hold their names."""
    files = Files(root)
    for name in names:
        files.write(f"{files.path(root)}/{name}", name.encode())
    return files


def test_folders_and_patterns(root: str) -> None:
    """Places below what was asked for are kept; what is hidden is left out."""
    files = filled(root, "a.json", "b/c.json", "b/d.txt", ".e.json", "b/.f/g.json")

    assert [one.below for one in files.find([root])] == [
        "a.json",
        "b/c.json",
        "b/d.txt",
    ]
    assert [one.below for one in files.find([f"{root}/*.json"])] == ["a.json"]
    assert [one.below for one in files.find([f"{root}/**/*.json"])] == [
        "a.json",
        "b/c.json",
    ]
    assert [one.below for one in files.find([f"{root}/b/*"])] == ["c.json", "d.txt"]
    assert [one.below for one in files.find([f"{root}/b/c.json"])] == ["c.json"]


def test_nothing_there(root: str) -> None:
    """What matches nothing is a mistake, not an empty job."""
    files = filled(root, "a.json")

    with pytest.raises(errors.InvalidValueError, match=r"no document at '.*\*\.txt'"):
        files.find([f"{root}/*.txt"])


def test_one_file_system(root: str) -> None:
    """Places of another file system are refused, and so are unknown ones."""
    with pytest.raises(errors.InvalidValueError, match="is not of the file system of"):
        Files(root).path("s3://bucket/a")
    with pytest.raises(errors.InvalidValueError, match="no file system for 'odd://a'"):
        Files("odd://a").find(["odd://a"])


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_compressed_files(root: str, suffix: str) -> None:
    """A file is compressed as its name says, each time into the same bytes."""
    name, data = f"a.json{suffix}", b"word " * 1000
    files = filled(root)
    path = f"{files.path(root)}/{name}"

    files.write(path, data)
    first = files.system.cat_file(path)
    files.write(path, data)

    assert files.system.cat_file(path) == first
    assert (len(first) < len(data)) is bool(suffix)
    assert files.read(path, Limits()) == data


def test_limits(root: str) -> None:
    """Neither a large file nor one that becomes large is read to its end."""
    files = filled(root)
    large, bomb = (f"{files.path(root)}/{name}" for name in ("a.json", "b.json.gz"))
    for path in (large, bomb):
        files.write(path, b"0" * 10_000)

    with pytest.raises(errors.LimitExceededError, match="max_bytes is 999, and this"):
        files.read(large, Limits(max_bytes=999))
    with pytest.raises(errors.LimitExceededError, match="max_decompressed is 999, and"):
        files.read(bomb, Limits(max_decompressed=999))


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize(
    "data",
    [b'{"graphcodec":1}', gzip.compress(b"x" * 99, mtime=0)[:20]],
    ids=["plain", "cut"],
)
def test_not_what_the_name_says(root: str, suffix: str, data: bytes) -> None:
    """Data that is not compressed as its name says is told as that."""
    files = filled(root, "a")
    path = f"{files.path(root)}/a{suffix}"
    files.system.pipe_file(path, data)

    with pytest.raises(errors.UndecodableValueError, match=f"is named {suffix}, and"):
        files.read(path, Limits())


def test_a_result_is_the_record(root: str) -> None:
    """What has a result is left alone; without one it is done, unless there is none."""
    files = filled(root, "a", "b", "none")
    here = files.path(root)
    files.write(f"{here}/out/a", b"old")
    work = Rewrite(source=files, target=files, make=_louder)

    done = [
        work(Document(name, f"{here}/{name}", f"{here}/out/{name}"))
        for name in ("a", "b", "none")
    ]

    assert done == [False, True, False]
    assert sorted(files.there(f"{here}/out")) == [f"{here}/out/a", f"{here}/out/b"]
    assert files.system.cat_file(f"{here}/out/a") == b"old"
    assert files.system.cat_file(f"{here}/out/b") == b"B"


def _louder(data: bytes, document: Document) -> bytes | None:
    return None if document.name == "none" else data.upper()


@pytest.mark.parametrize(
    ("path", "context"),
    [
        ("/talks/7/s-1.json", "s:s-1"),
        ("s-1.msgpack.zstd", "s:s-1"),
        ("bucket/s-1.json.gz", "s:s-1"),
        ("s.1.json.zst", "s:s.1"),
        ("s-1", "s:s-1"),
        ("-", "s:-"),
    ],
)
def test_context_has_the_name_without_its_suffixes(path: str, context: str) -> None:
    """Which say how the file is written; other words stay as they are."""
    assert context_of("s:{name}", path) == context.encode()
    assert context_of("{x} \u00e9", path) == "{x} \u00e9".encode()
