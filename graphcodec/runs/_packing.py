"""Files that are compressed, as their names say; read by how they begin."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from graphcodec._compressing import (
    GZIP_LEVEL,
    WITH_GZIP_HEADER,
    Compression,
    check_compression,
    deflated,
    inflater,
    is_damage,
    zstd_module,
)
from graphcodec._limits import Limits, exceeded
from graphcodec._paths import excerpt
from graphcodec.errors import UndecodableValueError

if TYPE_CHECKING:
    from pathlib import PurePath

_NAMES: Final[dict[str, Compression]] = {".gz": "gzip", ".zst": "zstd"}
_STARTS: Final[dict[bytes, Compression]] = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
}
_PIECE: Final = 64 << 10
CAREFUL: Final = 64
"""So few bytes at once that damage costs little of what stands before it."""


def compression_of(path: PurePath) -> Compression | None:
    """Return how a file is compressed whose name ends in ``.gz`` or ``.zst``."""
    return _NAMES.get(path.suffix.lower())


def plain_name(path: PurePath) -> PurePath:
    """Return the name without the suffix that says how the file is compressed."""
    return path if compression_of(path) is None else path.with_suffix("")


def packed(data: bytes, path: PurePath) -> bytes:
    """Return what a file is to hold, compressed if its name says so.

    Args:
        data: The content.
        path: The file.

    Raises:
        InvalidValueError: If that needs what is not installed.
    """
    compression = compression_of(path)
    if compression is None:
        return data
    check_compression(compression)
    return deflated(data, compression)


# In


def found_compression(start: bytes) -> Compression | None:
    """Return how a file is compressed that begins with *start*."""
    for mark, name in _STARTS.items():
        if start.startswith(mark):
            return name
    return None


class Unpacked:
    """The content of a file, inflated piece by piece if it has to be.

    Iterating yields the pieces. What was written in several goes, as an event file that
    was opened again, is one after the other.

    Args:
        file: The file, at its start.
        limits: How much it may be when inflated.
        step: How many compressed bytes to inflate at once.

    Attributes:
        compression: How the file is compressed.
        is_cut: Whether the file ended before what is compressed in it did; known once
            all pieces have been had.
    """

    def __init__(self, file: BinaryIO, limits: Limits, *, step: int = _PIECE) -> None:
        self._file = file
        self._step = step
        self._most = limits.max_decompressed
        self._start = file.read(max(map(len, _STARTS)))
        self.compression: Final = found_compression(self._start)
        self.is_cut = False

    def __iter__(self) -> Iterator[bytes]:
        """Yield the pieces.

        Raises:
            UndecodableValueError: If what is compressed is damaged.
            LimitExceededError: If it is too large.
        """
        compression = self.compression
        if compression is None:
            yield self._start
            while piece := self._file.read(_PIECE):
                yield piece
            return
        size = 0
        for piece in self._inflated(compression):
            size += len(piece)
            if size > self._most:
                raise exceeded("max_decompressed", self._most, size, "$")
            yield piece

    def _inflated(self, compression: Compression) -> Iterator[bytes]:
        data, self._start = self._start, b""
        stream = inflater(compression)
        while data or (data := self._file.read(self._step)):
            if stream.eof:
                stream = inflater(compression)
            try:
                yield from _inflated(stream, data)
            except Exception as exc:
                if not is_damage(exc):
                    raise
                msg = f"the {compression} data is damaged: {excerpt(str(exc))}"
                raise UndecodableValueError(msg) from None
            data = stream.unused_data
        self.is_cut = not stream.eof


def _inflated(stream: Any, data: bytes) -> Iterator[bytes]:
    """Yield what comes of *data*, never more than a piece at once."""
    while True:
        piece: bytes = stream.decompress(data, _PIECE)
        if piece:
            yield piece
        # Of gzip, what is left of the input is ours to keep; of zstd, the stream's.
        data = getattr(stream, "unconsumed_tail", b"")
        if stream.eof or (len(piece) < _PIECE and not data):
            return


def unpacked(file: BinaryIO, limits: Limits) -> bytes:
    """Return the whole content of a file, inflated if it has to be.

    Args:
        file: The file, at its start.
        limits: How much it may be when inflated.

    Raises:
        UndecodableValueError: If what is compressed is damaged or cut off.
        LimitExceededError: If it is too large.
    """
    pieces = Unpacked(file, limits)
    content = b"".join(pieces)
    if pieces.is_cut:
        msg = f"the {pieces.compression} data is cut off"
        raise UndecodableValueError(msg)
    return content


def lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines, each with its end; the last one may have none."""
    begun: list[bytes] = []
    for piece in pieces:
        *ends, rest = piece.split(b"\n")
        for end in ends:
            yield b"".join((*begun, end, b"\n"))
            begun.clear()
        begun.append(rest)
    if last := b"".join(begun):
        yield last


# Out, as it comes


class Packer:
    """Compresses what is appended, so that it can be read up to any moment.

    Args:
        compression: How.

    Raises:
        InvalidValueError: If that needs what is not installed.
    """

    def __init__(self, compression: Compression) -> None:
        check_compression(compression)
        if compression == "gzip":
            stream = zlib.compressobj(GZIP_LEVEL, wbits=WITH_GZIP_HEADER)
            self._add, self._flush = stream.compress, zlib.Z_SYNC_FLUSH
            self._end = zlib.Z_FINISH
        else:
            stream = zstd_module().ZstdCompressor(
                options={zstd_module().CompressionParameter.checksum_flag: 1}
            )
            self._add, self._flush = stream.compress, stream.FLUSH_BLOCK
            self._end = stream.FLUSH_FRAME
        self._stream: Any = stream

    def add(self, data: bytes) -> bytes:
        """Return what to append so that *data* can be read."""
        packed: bytes = self._add(data) + self._stream.flush(self._flush)
        return packed

    def end(self) -> bytes:
        """Return what to append in the end, so that nothing seems to be missing."""
        rest: bytes = self._stream.flush(self._end)
        return rest
