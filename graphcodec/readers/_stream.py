"""Bytes that came in as an open file and live nowhere addressable."""

from __future__ import annotations

import inspect
import io
import threading
import weakref
from typing import TYPE_CHECKING, BinaryIO, cast

from graphcodec.errors import HandleNotFoundError, InvalidValueError
from graphcodec.readers._contracts import CHUNK_SIZE, Reader

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["StreamReader"]

SPOOL_IN_MEMORY = 1 << 20
"""How many bytes of a one-shot stream stay in memory; more go to a temporary file."""


class StreamReader(Reader):
    """Stands for something that lives nowhere addressable, such as an upload.

    It can be opened again and again, but not described, encoded or pickled:
    `graphcodec.persist` moves the bytes to a store first. A seekable file is read from
    its beginning, through independent views; one that can't seek is copied to a
    temporary file when it is first opened. The reader owns the file from then on:
    nobody else may move it while a view is read. Thread-safe.

    Args:
        file_object: A binary file, which must stay open as long as it is read.

    Raises:
        InvalidValueError: If *file_object* is no binary file with a plain ``read``.
    """

    __slots__ = ("_file", "_lock", "_one_shot")

    def __init__(self, file_object: BinaryIO) -> None:
        _check_binary(file_object)
        self._file = file_object
        self._lock = threading.Lock()
        self._one_shot = None if _can_seek(file_object) else _OneShot(file_object)

    def open(self) -> BinaryIO:
        """Return a new view of the file, positioned at its first byte.

        Raises:
            HandleNotFoundError: If the file was closed.
            InvalidValueError: If the file gives text.
        """
        with self._lock:
            file = self._one_shot.copied() if self._one_shot else self._file
            _read_at(file, 0, 0)
        return io.BufferedReader(_View(self, file, self._lock), CHUNK_SIZE)

    def byte_length(self) -> int | None:
        """Return the number of bytes; None for a one-shot stream not yet opened.

        Raises:
            HandleNotFoundError: If the file was closed.
        """
        with self._lock:
            return self._one_shot.length if self._one_shot else _length(self._file)

    def __repr__(self) -> str:
        return f"StreamReader(<{type(self._file).__name__}>)"


class _OneShot:
    """A seekable copy of a stream that can be read only once."""

    __slots__ = ("__weakref__", "_source", "_spool", "length")

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._spool: BinaryIO | None = None
        self.length: int | None = None

    def copied(self) -> BinaryIO:
        """Return the copy, which is made now if it was not made before.

        What was copied before a failure stays, so that a second try goes on from there.
        """
        if self._spool is None:
            self._spool = self._new_spool()
        if self.length is None:
            self._spool.seek(0, io.SEEK_END)
            while chunk := _read(self._source, CHUNK_SIZE):
                self._spool.write(chunk)
            self.length = self._spool.tell()
        return self._spool

    def _new_spool(self) -> BinaryIO:
        # tempfile pulls in shutil and random, and most readers are not of this kind.
        import tempfile  # noqa: PLC0415

        spool = tempfile.SpooledTemporaryFile(SPOOL_IN_MEMORY)  # noqa: SIM115
        weakref.finalize(self, spool.close)
        return cast("BinaryIO", spool)


class _View(io.RawIOBase):
    """A position of its own in a file that others read too."""

    def __init__(
        self, owner: StreamReader, file: BinaryIO, lock: threading.Lock
    ) -> None:
        super().__init__()
        self._owner = owner  # keeps the temporary file of a one-shot stream alive
        self._file = file
        self._lock = lock
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_CUR:
            offset += self._position
        elif whence == io.SEEK_END:
            with self._lock:
                offset += _length(self._file)
        if offset < 0:
            raise ValueError(f"negative seek position {offset}")
        self._position = offset
        return offset

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        target = memoryview(buffer).cast("B")
        with self._lock:
            data = _read_at(self._file, self._position, len(target))
        target[: len(data)] = data
        self._position += len(data)
        return len(data)


def _check_binary(file: object) -> None:
    read = getattr(file, "read", None)
    if inspect.iscoroutinefunction(read):
        hint = "pass the file beneath it, such as upload.file"
    elif isinstance(file, io.TextIOBase):
        hint = "open it in binary mode"
    elif not callable(read):
        hint = "BytesReader takes bytes"
    else:
        return
    raise InvalidValueError(
        f"file_object must be a binary file, not {type(file).__name__}",
        hint=hint,
        type_name="StreamReader",
    )


def _can_seek(file: BinaryIO) -> bool:
    # Uploads of some frameworks have no `seekable`; copying them always works.
    seekable = getattr(file, "seekable", None)
    return callable(seekable) and bool(seekable())


def _length(file: BinaryIO) -> int:
    _check_open(file)
    return file.seek(0, io.SEEK_END)


def _read_at(file: BinaryIO, position: int, count: int) -> bytes:
    _check_open(file)
    file.seek(position)
    return _read(file, count)


def _read(file: BinaryIO, count: int) -> bytes:
    _check_open(file)
    data = cast("object", file.read(count))
    if not isinstance(data, bytes):
        raise InvalidValueError(
            f"{type(file).__name__}.read() gave {type(data).__name__} instead of bytes",
            hint="StreamReader takes a binary, blocking file",
            type_name="StreamReader",
        )
    return data


def _check_open(file: BinaryIO) -> None:
    if getattr(file, "closed", False):
        raise HandleNotFoundError(
            f"the {type(file).__name__} behind a StreamReader was closed",
            hint="graphcodec.persist(graph, store) keeps the bytes while it is open",
            type_name="StreamReader",
        )
