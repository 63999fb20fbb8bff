"""The documents in chunks: in the format of the codec, compressed, encrypted as by it.

Short texts do not compress. A codec that compresses therefore has larger pieces: most
messages stay in the run that they are in, and the run is compressed as a whole.

What is signed needs no frame: the address of a chunk is its signature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from attrs import evolve

from graphcodec import _formats, _frames
from graphcodec._cache._chunks import Addresses

if TYPE_CHECKING:
    from graphcodec._compressing import Compression
    from graphcodec._formats import Format
    from graphcodec._limits import Limits
    from graphcodec._seal import Seal

_SMALL: Final = 256
_SMALL_COMPRESSED: Final = 2_048

_WORTH_IT: Final = 512
"""What is shorter than this, in bytes, is not compressed."""

_CONTEXT: Final = b"a chunk of "


class Documents:
    """Writes and reads the documents of one session.

    Args:
        format: What the codec writes.
        compression: How it compresses.
        limits: What one document may cost.
        seal: What it seals with.
        session: The id of the session.

    Attributes:
        encode: Gives the bytes of a part of a document, never compressed.
        small: What is no larger than this, in bytes, has no chunk of its own.
        limits: What one document may cost.
        addresses: Gives the chunks of the session their addresses.
    """

    def __init__(
        self,
        format: Format,  # noqa: A002 - the word that users know
        compression: Compression | None,
        limits: Limits,
        seal: Seal | None = None,
        session: bytes = b"",
    ) -> None:
        self.encode = _formats.encoder(format)
        self.small = _SMALL if compression is None else _SMALL_COMPRESSED
        self.limits = limits
        self.addresses = Addresses(seal, session)
        self._compression: Compression | None = compression
        encrypts = seal is not None and seal.mode == "encrypt"
        self._cipher = seal if encrypts else None
        self._context = _CONTEXT + session if encrypts else b""

    def write(self, wire: dict[str, Any]) -> tuple[bytes, int]:
        """Return a document as it is stored, and its size before it was compressed.

        Args:
            wire: Its outermost map.
        """
        data = self.encode(wire)
        return self.stored(data), len(data)

    def stored(self, document: bytes) -> bytes:
        """Return a document as it is stored.

        Args:
            document: Its bytes.
        """
        compression = self._compression if len(document) >= _WORTH_IT else None
        if compression is None and self._cipher is None:
            return document
        return _frames.framed(
            document,
            self.limits,
            compression=compression,
            seal=self._cipher,
            context=self._context,
        )

    def opened(self, stored: bytes) -> bytes:
        """Return a document as it was before it was stored.

        Args:
            stored: What is in a chunk.
        """
        if self._cipher is None and not _frames.is_frame(stored):
            return stored
        within = evolve(self.limits, max_decompressed=self.limits.max_bytes)
        return bytes(_frames.opened(stored, within, self._cipher, self._context))
