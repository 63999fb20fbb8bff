"""Whatever fsspec reaches, as a store: the one module that touches fsspec."""

from __future__ import annotations

import importlib
import os
import tempfile
import time
import uuid
from datetime import datetime
from errno import EACCES, ESTALE
from functools import cache
from typing import IO, TYPE_CHECKING, Protocol, cast

from graphcodec._process import PerProcess
from graphcodec.errors import InvalidValueError
from graphcodec_resolvers._backends import (
    CONTENT,
    TOUCH_AFTER,
    WHOLE,
    Backend,
    Hashed,
    Kept,
    Span,
)
from graphcodec_resolvers._folder import Folder
from graphcodec_resolvers._keys import content_key
from graphcodec_resolvers._pins import Pins, is_sha256, is_text
from graphcodec_resolvers._streams import BLOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import TypeAlias

    from graphcodec_resolvers._s3_session import S3FileSystem

    Settings: TypeAlias = tuple[str | tuple[object, str], Mapping[str, object]]

_IN_MEMORY = 8 << 20

_memory_of = PerProcess(lambda: uuid.uuid4().hex)


class FileSystem(Protocol):
    """The part of fsspec's file systems that is used here."""

    protocol: str | tuple[str, ...]
    async_impl: bool
    storage_args: tuple[object, ...]
    storage_options: Mapping[str, object]

    def info(self, path: str, /) -> Mapping[str, object]:
        """Return facts about one object."""
        ...

    def ls(self, path: str, /, *, detail: bool) -> list[Mapping[str, object]]:
        """Return facts about the objects in a folder, or about one object."""
        ...

    def find(self, path: str, /, *, detail: bool) -> Mapping[str, Mapping[str, object]]:
        """Return facts about all objects below a folder."""
        ...

    def open(self, path: str, mode: str, /) -> IO[bytes]:
        """Open an object."""
        ...

    def cat_file(self, path: str, /, *, start: int, end: int) -> bytes:
        """Return a range of an object."""
        ...

    def pipe_file(self, path: str, value: bytes, /) -> None:
        """Write an object in one go."""
        ...

    def makedirs(self, path: str, /, *, exist_ok: bool) -> None:
        """Make a folder and those above it."""
        ...

    def rm_file(self, path: str, /) -> None:
        """Remove an object."""
        ...

    def modified(self, path: str, /) -> datetime:
        """Return when an object was changed."""
        ...

    def created(self, path: str, /) -> datetime:
        """Return when an object was made."""
        ...

    def sign(self, path: str, /, *, expiration: int) -> str:
        """Return a URL that anybody can use for a while."""
        ...


class _Directory(Protocol):
    """A file system that is a folder of another one."""

    fs: FileSystem
    path: str


class _Bucketed(Protocol):
    """A file system of buckets."""

    def split_path(self, path: str, /) -> tuple[str, str, str | None]:
        """Return the bucket, the key and the version that a path names."""
        ...


class _File:
    """An open object of fsspec."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read_at(self, position: int, count: int, /) -> bytes:
        """Return up to *count* bytes from *position*."""
        self._file.seek(position)
        return self._file.read(count)

    def close(self) -> None:
        """Close the object."""
        self._file.close()


class Objects:
    """Keeps objects below a prefix of any file system.

    Args:
        fs: The file system.
        root: The prefix, as the file system spells paths.
    """

    process: str | None = None

    def __init__(self, fs: FileSystem, root: str) -> None:
        self._fs = fs
        self._prefix = root if root in {"", "/"} else root.rstrip("/") + "/"

    def open(
        self, key: str, _pins: Pins, _span: Span = WHOLE, /
    ) -> tuple[_File | _Memory, Pins]:
        """Open an object; its facts are asked for just before."""
        path = self._path(key)
        facts = self._facts(path)
        return _File(self._fs.open(path, "rb")), facts

    def keep(self, chunks: Iterable[bytes], _media_type: str | None = None, /) -> Kept:
        """Spool the content on this machine, then write it under its hash."""
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as spool:
            hashed = Hashed(chunks)
            # Not writelines(), which keeps all of it in memory.
            for chunk in hashed:
                spool.write(chunk)
            kept = hashed.kept()
            if not self._stands(kept):
                spool.seek(0)
                self._upload(cast("IO[bytes]", spool), content_key(kept.sha256))
        return kept

    def _upload(self, spool: IO[bytes], key: str) -> None:
        path = self._path(key)
        self._fs.makedirs(path.rpartition("/")[0], exist_ok=True)
        with self._fs.open(path, "wb") as target:
            while chunk := spool.read(BLOCK):
                target.write(chunk)

    def _stands(self, kept: Kept) -> bool:
        """Say whether the content is there, and new enough not to be collected."""
        path = self._path(content_key(kept.sha256))
        try:
            facts, made = self._facts(path), self._modified(path)
        except (FileNotFoundError, PermissionError):
            return False
        young = made is None or made > time.time() - TOUCH_AFTER
        return young and facts.size == kept.size

    def delete(self, key: str, /) -> bool:
        """Remove an object."""
        path = self._path(key)
        try:
            self._facts(path)
            self._fs.rm_file(path)
        except FileNotFoundError:
            return False
        return True

    def contents(self) -> Iterator[Kept]:
        """Yield what has a hash for its name."""
        for path, info in self._fs.find(self._path(CONTENT), detail=True).items():
            name = path.rpartition("/")[2]
            if is_sha256(name):
                # Most listings tell the time; asking for each object costs a request.
                when = info.get("created") or info.get("LastModified")
                told = when.timestamp() if isinstance(when, datetime) else None
                modified = self._modified(path) if told is None else told
                yield Kept(name, _pins(info).size or 0, modified)

    def discard(self, kept: Kept, before: float, /) -> bool:
        """Remove content unless it was written again since, or its age is unknown."""
        key = content_key(kept.sha256)
        try:
            made = self._modified(self._path(key))
        except FileNotFoundError:
            return False
        return made is not None and made < before and self.delete(key)

    def leftovers(self, _before: float, /, *, dry_run: bool) -> int:  # noqa: ARG002 - nothing to do
        """Return 0: what a file system keeps of unfinished writes is its own affair."""
        return 0

    def _modified(self, path: str) -> float | None:
        try:
            return self._fs.modified(path).timestamp()
        except NotImplementedError:
            return None

    def url(self, key: str, _pins: Pins, expires: float, /) -> str | None:
        """Return a signed URL, if the file system can make one."""
        try:
            return self._fs.sign(self._path(key), expiration=round(expires))
        except NotImplementedError:
            return None

    def _path(self, key: str) -> str:
        return f"{self._prefix}{key}"

    def _facts(self, path: str) -> Pins:
        info = self._fs.info(path)
        if info.get("type") != "file":
            raise PermissionError(EACCES, "it is not an object")
        return _pins(info)


class MemoryObjects(Objects):
    """Keeps objects in the memory of this process.

    Args:
        fs: The file system.
        root: The prefix.
        process: The id of this process and file system.
    """

    def __init__(self, fs: FileSystem, root: str, *, process: str) -> None:
        super().__init__(fs, root)
        self.process = process

    def open(
        self, key: str, _pins: Pins, _span: Span = WHOLE, /
    ) -> tuple[_File | _Memory, Pins]:
        """Open an object without its shared position."""
        path = self._path(key)
        facts = self._facts(path)
        return _Memory(self._fs, path, facts), facts

    def _upload(self, spool: IO[bytes], key: str) -> None:
        # Opened for writing, the object would be there before its bytes are.
        self._fs.pipe_file(self._path(key), spool.read())

    def _facts(self, path: str) -> Pins:
        # Not info(): that looks at every name in the store.
        found = [item for item in self._fs.ls(path, detail=True) if _names(item, path)]
        if not found:
            raise FileNotFoundError(path)
        made = self._fs.created(path).isoformat()
        return Pins(size=_pins(found[0]).size, etag=made)


class _Memory:
    """An object in memory.

    All who open one get the same file, with one position; so ranges are asked for.
    """

    def __init__(self, fs: FileSystem, path: str, facts: Pins) -> None:
        self._fs = fs
        self._path = path
        self._facts = facts

    def read_at(self, position: int, count: int, /) -> bytes:
        """Return up to *count* bytes from *position*, none once it was replaced."""
        data = self._fs.cat_file(self._path, start=position, end=position + count)
        if self._fs.created(self._path).isoformat() != self._facts.etag:
            raise OSError(ESTALE, "it was replaced while it was read")
        return data

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


def _names(item: Mapping[str, object], path: str) -> bool:
    name = str(item["name"])
    return item.get("type") == "file" and name.strip("/") == path.strip("/")


def _pins(info: Mapping[str, object]) -> Pins:
    size = info.get("size")
    etag = info.get("ETag", info.get("etag"))
    return Pins(
        size=size if isinstance(size, int) else None,
        etag=cast("str", etag) if is_text(etag) else None,
    )


def bind(
    settings: Callable[[], Settings], renewed: Callable[[], Settings], made_in: int
) -> Backend:
    """Return the backend for the root of a store, in this process.

    Args:
        settings: Returns a path, a URL, or a file system with a path, and the options
            for the file system that a URL names. It is the application's: nothing that
            was decoded ever gets here.
        renewed: Returns them again when credentials have expired.
        made_in: The id of the process in which a given file system was made.
    """
    root, options = settings()
    if isinstance(root, str) and "://" not in root:
        return Folder(root)
    _heal_forks()
    fs, path = _located(root, options)
    if _is_s3(fs):
        return _s3(fs, path, lambda: _located(*renewed())[0])
    return _backend(fs if made_in == os.getpid() else _remade(fs), path)


@cache
def _heal_forks() -> None:
    """Give forked children a new lock and event loop of fsspec.

    fsspec means to do so itself, but resets a variable that nobody reads: a child
    forked while a thread holds the lock would wait for ever.
    """
    if hasattr(os, "register_at_fork"):
        asyn = importlib.import_module("fsspec.asyn")
        os.register_at_fork(after_in_child=asyn.reset_lock)


def _located(
    root: str | tuple[object, str], options: Mapping[str, object]
) -> tuple[FileSystem, str]:
    """Return the file system and the path in it; folders of others looked through."""
    if isinstance(root, str):
        fs, path = _from_url(root, options)
    else:
        fs, path = cast("FileSystem", root[0]), root[1].rpartition("://")[2]
    while "dir" in _protocols(fs):
        # So that what is said of folders and buckets holds behind it as well.
        outer = cast("_Directory", fs)
        fs, path = outer.fs, "/".join(filter(None, (outer.path, path.strip("/"))))
    return fs, path


def _protocols(fs: FileSystem) -> tuple[str, ...]:
    return (fs.protocol,) if isinstance(fs.protocol, str) else fs.protocol


def _is_s3(fs: FileSystem) -> bool:
    # Others bear the name as well, such as the one of pyarrow.
    return "s3" in _protocols(fs) and hasattr(fs, "call_s3")


def _from_url(url: str, options: Mapping[str, object]) -> tuple[FileSystem, str]:
    if url.startswith(("s3://", "s3a://")):
        # fsspec's own error does not name what is missing in a way to be looked up.
        importlib.import_module("s3fs")
    core = importlib.import_module("fsspec.core")
    # An instance of our own: the shared ones keep credentials, listings and event
    # loops of whoever made them first.
    try:
        fs, path = core.url_to_fs(
            url, skip_instance_cache=True, use_listings_cache=False, **options
        )
    except ValueError:
        msg = "root: fsspec knows no file system for this URL"
        raise InvalidValueError(msg) from None
    return cast("FileSystem", fs), cast("str", path)


def _remade(fs: FileSystem) -> FileSystem:
    """Return *fs* as it is, or made anew if it owns a connection of the parent."""
    if not fs.async_impl:
        return fs
    options = {**fs.storage_options, "skip_instance_cache": True}
    return type(fs)(*fs.storage_args, **options)


def _s3(fs: FileSystem, path: str, again: Callable[[], FileSystem]) -> Backend:
    # Here, because it costs nothing to those who have another store.
    from graphcodec_resolvers._s3 import S3Objects  # noqa: PLC0415
    from graphcodec_resolvers._s3_session import Sessions  # noqa: PLC0415

    first = [fs]

    def make() -> S3FileSystem:
        return cast("S3FileSystem", first.pop() if first else again())

    bucket, prefix, _ = cast("_Bucketed", fs).split_path(path)
    prefix = prefix.strip("/")
    return S3Objects(Sessions(make), bucket, f"{prefix}/" if prefix else "")


def _backend(fs: FileSystem, root: str) -> Backend:
    protocols = _protocols(fs)
    if "file" in protocols:
        return Folder(os.path.abspath(root))  # noqa: PTH100 - fsspec works with str
    if "memory" in protocols:
        own = not getattr(fs, "global_store", True)
        process = _memory_of.get() + (f"-{id(fs):x}" if own else "")
        return MemoryObjects(fs, root, process=process)
    return Objects(fs, root)
