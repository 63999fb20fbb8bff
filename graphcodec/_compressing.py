"""Compression: what makes bytes fewer, and what makes them again within bounds."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from graphcodec.errors import InvalidValueError, UndecodableValueError

if TYPE_CHECKING:
    from types import ModuleType

Compression: TypeAlias = Literal["gzip", "zstd"]

# As much as every reader of zstd is told to handle (RFC 8878, section 3.1.1.1.2).
WINDOW_LOG: Final = 23
_INSTALL: Final = "pip install 'graphcodec[zstd]'"

GZIP_LEVEL: Final = 6
WITH_GZIP_HEADER: Final = 31
_UNKNOWN_SYSTEM: Final = 255


def check_compression(compression: Compression | None) -> None:
    """Refuse what can't be written here, so that a codec tells when it is made.

    Args:
        compression: What `compress` is going to be asked for.

    Raises:
        InvalidValueError: If it needs what is not installed.
    """
    if compression != "zstd":
        return
    try:
        zstd_module()
    except ImportError:
        msg = "compression='zstd' needs a package that is not installed"
        raise InvalidValueError(msg, hint=_INSTALL) from None


def deflated(document: bytes, compression: Compression) -> bytes:
    """Return compressed bytes, the same for the same bytes.

    Args:
        document: What to compress.
        compression: How.
    """
    return _DEFLATE[compression](document)


def _gzip(document: bytes) -> bytes:
    packed = bytearray(zlib.compress(document, GZIP_LEVEL, WITH_GZIP_HEADER))
    # Which system it was made on would be the one thing that is not the same anywhere.
    packed[9] = _UNKNOWN_SYSTEM
    return bytes(packed)


def _zstd(document: bytes) -> bytes:
    zstd = zstd_module()
    # gzip has one always: what was damaged on the way must not be another document.
    options = {zstd.CompressionParameter.checksum_flag: 1}
    packed: bytes = zstd.compress(document, options=options)
    return packed


_DEFLATE: Final[Mapping[Compression, Callable[[bytes], bytes]]] = MappingProxyType(
    {"gzip": _gzip, "zstd": _zstd}
)


def zstd_module() -> ModuleType:
    """Return the module that knows zstd.

    Raises:
        ModuleNotFoundError: If it is not installed.
    """
    # Loaded late: few documents are compressed, and it is an extra before Python 3.14.
    if sys.version_info >= (3, 14):
        from compression import zstd  # noqa: PLC0415
    else:
        from backports import zstd  # noqa: PLC0415

    return zstd


def is_damage(exc: Exception) -> bool:
    """Say whether an inflater raised as what it was given is damaged."""
    return isinstance(exc, (zlib.error, EOFError)) or type(exc).__name__ == "ZstdError"


def inflater(name: Compression) -> Any:
    """Return what inflates one stream, up to a length."""
    if name == "gzip":
        return zlib.decompressobj(WITH_GZIP_HEADER)
    try:
        zstd = zstd_module()
    except ImportError:
        msg = "the document is compressed with zstd, which is not installed"
        raise UndecodableValueError(msg, hint=_INSTALL) from None
    window = zstd.DecompressionParameter.window_log_max
    return zstd.ZstdDecompressor(options={window: WINDOW_LOG})
