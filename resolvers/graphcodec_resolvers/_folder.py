"""A local folder as a store, which symbolic links can't lead out of.

Each segment of a key is opened by itself, relative to the folder before it and without
following links, so there is no moment between a check and its use. Where the system
has no such calls (Windows), the resolved path is compared with the root instead; there,
somebody who can change folders of the store at the right moment can still mislead it.

A hard link can't be told from a file, and is read.
"""

# pathlib has no calls relative to an open folder.
# ruff: noqa: PTH100, PTH103, PTH114, PTH118, PTH120, PTH123
from __future__ import annotations

import os
import stat
import uuid
from contextlib import contextmanager, suppress
from errno import EACCES, ELOOP, ENOENT, ENOTDIR
from typing import TYPE_CHECKING, ClassVar, TypedDict

from graphcodec_resolvers._backends import CONTENT, WHOLE, Hashed, Kept, Span
from graphcodec_resolvers._keys import content_key
from graphcodec_resolvers._pins import Pins, is_sha256

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

_INCOMING = "incoming"
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
# A pipe that somebody put in the store must not block the one who opens it.
_READ = os.O_RDONLY | _NO_FOLLOW | _BINARY | getattr(os, "O_NONBLOCK", 0)
_ENTER = os.O_RDONLY | _NO_FOLLOW | getattr(os, "O_DIRECTORY", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW | _BINARY


class _Within(TypedDict, total=False):
    dir_fd: int
    follow_symlinks: bool


class Folder:
    """Keeps objects as files below one folder.

    Args:
        root: The folder, as an absolute path; made on the first write.
    """

    relative: ClassVar[bool] = os.open in os.supports_dir_fd

    def __init__(self, root: str) -> None:
        self._root = root

    @property
    def process(self) -> None:
        """None: files outlive the process."""
        return

    def open(self, key: str, _pins: Pins, _span: Span = WHOLE, /) -> tuple[_File, Pins]:
        """Open a regular file; its facts are those of the opened descriptor."""
        with self._parent(key) as (folder, name):
            descriptor = _open(name, folder)
        file, facts = _File(descriptor), os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            file.close()
            raise PermissionError(EACCES, "it is not a regular file")
        return file, Pins(size=facts.st_size, mtime_ns=facts.st_mtime_ns)

    def keep(self, chunks: Iterable[bytes], _media_type: str | None = None, /) -> Kept:
        """Write a temporary file and give it its name when it is complete."""
        os.makedirs(self._root, exist_ok=True)
        incoming = f"{_INCOMING}/{uuid.uuid4().hex}"
        with self._parent(incoming, make=True) as (folder, name):
            try:
                kept = _spill(name, folder, chunks)
                self._name(name, folder, kept)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=folder)
        return kept

    def _name(self, temporary: str, folder: int | None, kept: Kept) -> None:
        if self._stands(kept):
            return
        with self._parent(content_key(kept.sha256), make=True) as (home, name):
            # Replaces what a crash or a stranger left there with another size.
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=home)

    def _stands(self, kept: Kept) -> bool:
        """Say whether the content is there, and make it look new if it is."""
        try:
            with self._parent(content_key(kept.sha256)) as (folder, name):
                facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if not stat.S_ISREG(facts.st_mode) or facts.st_size != kept.size:
                    return False
                # Else it might be collected before whoever wrote it has told where.
                os.utime(name, **_within(folder))
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def delete(self, key: str, /) -> bool:
        """Remove a file, or a link itself rather than what it leads to."""
        try:
            with self._parent(key) as (folder, name):
                os.unlink(name, dir_fd=folder)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def contents(self) -> Iterator[Kept]:
        """Yield what has a hash for its name."""
        for _, _, names in os.walk(os.path.join(self._root, CONTENT)):
            for name in filter(is_sha256, names):
                # A link that a stranger put there is not ours, and stops nobody.
                if (facts := self._facts(content_key(name))) is not None:
                    yield Kept(name, facts.st_size, facts.st_mtime)

    def _facts(self, key: str) -> os.stat_result | None:
        """Return what is known of a regular file; None if there is none."""
        try:
            with self._parent(key) as (folder, name):
                facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError as exc:
            if exc.errno in {ENOENT, ENOTDIR, ELOOP}:
                return None
            raise
        return facts if stat.S_ISREG(facts.st_mode) else None

    def discard(self, kept: Kept, before: float, /) -> bool:
        """Move a file out of the way, look how old it is, and remove it or put it back.

        A writer that finds it gone writes it anew; one that found it before has made it
        look new.
        """
        away = f"{_INCOMING}/{uuid.uuid4().hex}"
        try:
            with (
                self._parent(content_key(kept.sha256)) as (home, name),
                self._parent(away, make=True) as (folder, temporary),
            ):
                os.rename(name, temporary, src_dir_fd=home, dst_dir_fd=folder)
                facts = os.stat(temporary, dir_fd=folder, follow_symlinks=False)
                if facts.st_mtime < before:
                    os.unlink(temporary, dir_fd=folder)
                    return True
                os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=home)
        except (FileNotFoundError, NotADirectoryError):
            pass
        return False

    def leftovers(self, before: float, /, *, dry_run: bool) -> int:
        """Remove the temporary files of writers that were killed."""
        found = 0
        for name in _listed(os.path.join(self._root, _INCOMING)):
            with (
                suppress(FileNotFoundError, NotADirectoryError),
                self._parent(f"{_INCOMING}/{name}") as (folder, temporary),
            ):
                facts = os.stat(temporary, dir_fd=folder, follow_symlinks=False)
                if stat.S_ISREG(facts.st_mode) and facts.st_mtime < before:
                    found += 1
                    if not dry_run:
                        os.unlink(temporary, dir_fd=folder)
        return found

    def url(self, _key: str, _pins: Pins, _expires: float, /) -> None:
        """Return None: nobody else could use a path of this machine."""
        return

    @contextmanager
    def _parent(
        self, key: str, *, make: bool = False
    ) -> Generator[tuple[int | None, str]]:
        """Yield the folder that holds *key*, and how the key is called in there."""
        *folders, name = key.split("/")
        if not self.relative:
            yield None, self._confined(folders, name, make=make)
            return
        here = os.open(self._root, os.O_RDONLY)
        try:
            for folder in folders:
                inner = _enter(folder, here, make=make)
                os.close(here)
                here = inner
            yield here, name
        finally:
            os.close(here)

    def _confined(self, folders: list[str], name: str, *, make: bool) -> str:
        root = os.path.realpath(self._root)
        home = os.path.join(root, *folders)
        if os.path.realpath(home) != home:
            raise PermissionError(ELOOP, "a link leads out of the store")
        if make:
            os.makedirs(home, exist_ok=True)
        path = os.path.join(home, name)
        if os.path.islink(path) or os.path.dirname(os.path.abspath(path)) != home:
            raise PermissionError(ELOOP, "it is a symbolic link")
        return path


class _File:
    """An open file, read by position: a forked child can't disturb its parent."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def read_at(self, position: int, count: int, /) -> bytes:
        """Return up to *count* bytes from *position*."""
        if hasattr(os, "pread"):
            return os.pread(self._descriptor, count, position)
        os.lseek(self._descriptor, position, os.SEEK_SET)
        return os.read(self._descriptor, count)

    def close(self) -> None:
        """Close the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _within(folder: int | None) -> _Within:
    """Return the options for a call that must not follow links."""
    # Where there are no such calls, the path was checked before.
    return {} if folder is None else {"dir_fd": folder, "follow_symlinks": False}


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - of str
    except (FileNotFoundError, NotADirectoryError):
        return []


def _open(name: str, folder: int | None) -> int:
    try:
        return os.open(name, _READ, dir_fd=folder)
    except OSError as exc:
        if exc.errno == ELOOP:
            raise PermissionError(ELOOP, "it is a symbolic link") from None
        raise


def _enter(name: str, folder: int, *, make: bool) -> int:
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
    try:
        return os.open(name, _ENTER, dir_fd=folder)
    except OSError:
        # Systems disagree on the error for a link, so look at what it is.
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            msg = "a symbolic link stands in the way"
            raise PermissionError(ELOOP, msg) from None
        raise


def _spill(name: str, folder: int | None, chunks: Iterable[bytes]) -> Kept:
    hashed = Hashed(chunks)
    descriptor = os.open(name, _CREATE, 0o666, dir_fd=folder)
    with open(descriptor, "wb") as file:
        file.writelines(hashed)
        file.flush()
        # The name must never outlive a power cut that the bytes did not survive.
        os.fsync(descriptor)
    return hashed.kept()
