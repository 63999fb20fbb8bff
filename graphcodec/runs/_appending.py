"""Files that are appended to, line by line, and that a kill leaves readable."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, Protocol

from graphcodec._compressing import Compression, deflated
from graphcodec._limits import Limits
from graphcodec._replacing import replace_file
from graphcodec.errors import UndecodableValueError
from graphcodec.runs._packing import Packer, Unpacked, compression_of

if TYPE_CHECKING:
    from pathlib import Path

CUT: Final = b" # cut\n"
"""What ends a line that a kill left open; no document ends like that."""


class Appender(Protocol):
    """Where lines go."""

    def append(self, line: bytes) -> None:
        """Append a line; it is in the file when this returns."""
        ...

    def sync(self) -> None:
        """Have the disk keep what was appended."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...


def appender(path: Path) -> Appender:
    """Open a file to append to, compressed if its name says so.

    Args:
        path: The file. A last line that was cut off, as a kill leaves it, is ended.

    Raises:
        UndecodableValueError: If it is there and not compressed as its name says, or
            damaged.
        OSError: If it can't be opened.
    """
    compression = compression_of(path)
    if compression is None:
        return _PlainFile(path)
    return _PackedFile(path, compression)


class _PlainFile:
    """A file whose lines may come from several processes."""

    def __init__(self, path: Path) -> None:
        # Without a buffer: what was written, no kill takes back.
        self._file = path.open("ab", buffering=0)
        self._is_cut = _ends_open(path)

    def append(self, line: bytes) -> None:
        if self._is_cut:
            line = CUT + line
        # One call: lines of several processes don't mix.
        written = self._file.write(line)
        if written < len(line):
            self._write_rest(line[written:])
        self._is_cut = False

    def _write_rest(self, rest: bytes) -> None:
        """Write what a disk that is nearly full did not take at once, or say why."""
        self._is_cut = True
        while rest:
            rest = rest[self._file.write(rest) :]

    def sync(self) -> None:
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()


def _ends_open(path: Path) -> bool:
    """Say whether the last line of a file was cut off."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if not size:
            return False
        file.seek(size - 1)
        return file.read(1) != b"\n"


class _PackedFile:
    """A compressed file of one process, whose lines can be read as they come."""

    def __init__(self, path: Path, compression: Compression) -> None:
        self._packer = Packer(compression)
        start = _mended(path, compression)
        self._file = path.open("ab", buffering=0)
        # What a full disk did not take: without it, nothing after it could be read.
        self._rest = self._packer.add(start) if start else b""

    def append(self, line: bytes) -> None:
        self._rest += self._packer.add(line)
        self._write()

    def _write(self) -> None:
        while self._rest:
            self._rest = self._rest[self._file.write(self._rest) :]

    def sync(self) -> None:
        os.fsync(self._file.fileno())

    def close(self) -> None:
        try:
            self._rest += self._packer.end()
            self._write()
        finally:
            self._file.close()


def _mended(path: Path, compression: Compression) -> bytes:
    """Make a whole file of one that was cut off; return what ends its last line."""
    if not path.exists() or not path.stat().st_size:
        return b""
    with path.open("rb") as file:
        pieces = Unpacked(file, Limits())
        if pieces.compression != compression:
            msg = f"{path.name} is there, and is no {compression} file"
            raise UndecodableValueError(msg, hint="give another name")
        content = b"".join(pieces)
    if pieces.is_cut:
        replace_file(path, deflated(content, compression))
    return b"" if content.endswith(b"\n") or not content else CUT
