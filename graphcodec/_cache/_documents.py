"""The documents in chunks: in the format of the codec, and compressed if it compresses.

Short texts do not compress. A codec that compresses therefore has larger pieces: most
messages stay in the run that they are in, and the run is compressed as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from attrs import evolve

from graphcodec import _formats, _frames

if TYPE_CHECKING:
    from graphcodec._formats import Format
    from graphcodec._frames import Compression
    from graphcodec._limits import Limits

_SMALL: Final = 256
_SMALL_COMPRESSED: Final = 2_048

_WORTH_IT: Final = 512
"""What is shorter than this, in bytes, is not compressed."""


class Documents:
    """Writes the documents of one cache.

    Args:
        format: What the codec writes.
        compression: How it compresses.
        limits: What one document may cost.

    Attributes:
        encode: Gives the bytes of a part of a document, never compressed.
        small: What is no larger than this, in bytes, has no chunk of its own.
    """

    def __init__(
        self,
        format: Format,  # noqa: A002 - the word that users know
        compression: Compression | None,
        limits: Limits,
    ) -> None:
        self.encode = _formats.encoder(format)
        self.small = _SMALL if compression is None else _SMALL_COMPRESSED
        self._compression: Compression | None = compression
        self._limits = limits

    def write(self, wire: dict[str, Any]) -> tuple[bytes, int]:
        """Return a document as it is stored, and its size before it was compressed.

        Args:
            wire: Its outermost map.
        """
        data = self.encode(wire)
        if self._compression is None or len(data) < _WORTH_IT:
            return data, len(data)
        return _frames.compress(data, self._compression, self._limits), len(data)


def inflated(stored: bytes, limits: Limits) -> bytes:
    """Return a document as it was before it was compressed.

    Args:
        stored: What is in a chunk.
        limits: What one document may cost.
    """
    if not _frames.is_frame(stored):
        return stored
    within = evolve(limits, max_decompressed=limits.max_bytes)
    return bytes(_frames.opened(stored, within))
