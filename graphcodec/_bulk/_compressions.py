"""Files that are compressed as a whole, as their names say: ``talk.json.gz``."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import BinaryIO, Final, cast

from graphcodec._compressing import zstd_module
from graphcodec.errors import LimitExceededError, UndecodableValueError

__all__ = ["deflated", "inflated", "is_compressed"]


def _zstd_file(stream: BinaryIO) -> BinaryIO:
    return cast("BinaryIO", zstd_module().ZstdFile(stream))


def _zstd_bytes(data: bytes) -> bytes:
    return cast("bytes", zstd_module().compress(data))


_OPEN: Final[Mapping[str, Callable[[BinaryIO], BinaryIO]]] = MappingProxyType(
    {
        ".gz": lambda stream: cast("BinaryIO", gzip.GzipFile(fileobj=stream)),
        ".bz2": lambda stream: cast("BinaryIO", bz2.BZ2File(stream)),
        ".xz": lambda stream: cast("BinaryIO", lzma.LZMAFile(stream)),  # noqa: SIM115 - closed by who asked
        ".zst": _zstd_file,
    }
)
# The time of writing would make every run another file.
_PACK: Final[Mapping[str, Callable[[bytes], bytes]]] = MappingProxyType(
    {
        ".gz": lambda data: gzip.compress(data, mtime=0),
        ".bz2": bz2.compress,
        ".xz": lzma.compress,
        ".zst": _zstd_bytes,
    }
)


def is_compressed(name: str) -> bool:
    """Say whether the name of a file is that of a compressed one."""
    return PurePosixPath(name).suffix in _OPEN


def bare_name(path: str) -> str:
    """Return the name of a file without what says that all of it is compressed.

    Args:
        path: Where it is, with slashes.
    """
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] if is_compressed(name) else name


def inflated(name: str, data: bytes, most: int) -> bytes:
    """Return what a file holds.

    Args:
        name: Its name, which says how it is compressed, if it is.
        data: What is in it.
        most: How many bytes may come out.

    Raises:
        UndecodableValueError: If it is damaged, or not what its name says.
        LimitExceededError: If more comes out.
    """
    suffix = PurePosixPath(name).suffix
    if suffix not in _OPEN:
        return data
    try:
        with _OPEN[suffix](BytesIO(data)) as stream:
            out = stream.read(most + 1)
    except Exception as exc:
        if not _is_damage(exc):
            raise
        msg = f"the file is named {suffix}, and its data is not that, or damaged: {exc}"
        raise UndecodableValueError(msg) from None
    if len(out) > most:
        msg = f"max_decompressed is {most:,}, and more comes out of this"
        hint = "raise it with Limits(max_decompressed=...) if the data is yours"
        raise LimitExceededError(msg, limit="max_decompressed", hint=hint)
    return out


def deflated(name: str, data: bytes) -> bytes:
    """Return what a file is to hold.

    Args:
        name: Its name, which says how to compress.
        data: What comes out of it.
    """
    pack = _PACK.get(PurePosixPath(name).suffix)
    return data if pack is None else pack(data)


def _is_damage(exc: Exception) -> bool:
    known = isinstance(exc, (EOFError, OSError, lzma.LZMAError))
    return known or type(exc).__name__ in ("ZstdError", "error")
