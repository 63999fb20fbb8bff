"""Documents in another format, compressed or not, under names that say so."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from attrs import field, frozen

from graphcodec import _frames
from graphcodec._bulk._contexts import context_of
from graphcodec._bulk._files import Document
from graphcodec._documents._converting import convert
from graphcodec._documents._names import COMPRESSIONS, name_parts
from graphcodec.codec import Codec
from graphcodec.queues._workers import CodecSource

if TYPE_CHECKING:
    from graphcodec._compressing import Compression
    from graphcodec._formats import Format

__all__ = ["Compress", "Conversion"]

Compress: TypeAlias = Literal["none", "gzip", "zstd"]


@frozen(kw_only=True)
class Conversion:
    """What documents are to become; None where they stay as they are.

    Attributes:
        format: The format.
        compress: The compression.
        pretty: Whether JSON is broken into lines.
        context: What sealed documents are bound to: see `context_of`.
        codec: Whose classes, limits and keys count.
    """

    format: Format | None = None
    compress: Compress | None = None
    pretty: bool = False
    context: str = ""
    codec: CodecSource = field(factory=lambda: CodecSource(Codec))

    def named(self, name: str) -> str:
        """Return the name of a result, which says what is in it.

        Args:
            name: That of the document; folders in front stay.
        """
        folder, slash, last = name.rpartition("/")
        stem, format_, compression = name_parts(last)
        format_ = self.format or format_
        if self.compress is not None:
            compression = "" if self.compress == "none" else self.compress
        return folder + slash + ".".join(filter(None, (stem, format_, compression)))

    def convert(self, data: bytes, source: str, target: str) -> bytes:
        """Return what becomes of a document.

        Args:
            data: The document.
            source: Where it is.
            target: The name of the result, which says what was not said otherwise.

        Raises:
            GraphCodecError: If it is no valid document, or can't become that.
        """
        _, format_, compression = name_parts(PurePosixPath(target).name)
        return convert(
            data,
            format=self.format or cast("Format | None", format_ or None),
            compression=self._compression(data, compression),
            pretty=self.pretty,
            codec=self.codec.get(),
            context=context_of(self.context, source),
        )

    def __call__(self, data: bytes, document: Document) -> bytes:
        """Return what becomes of a document of a job."""
        return self.convert(data, document.source, document.target)

    def _compression(self, data: bytes, suffix: str) -> Compression | None:
        """Return how to compress: as asked, as the name says, or as it was."""
        if self.compress is not None:
            return None if self.compress == "none" else self.compress
        if suffix:
            return cast("Compression", suffix)
        if not _frames.is_frame(data):
            return None
        # The innermost layer; what is sealed around it is opened or refused.
        name = _frames.names(_frames.parse(data).layers)[-1]
        return COMPRESSIONS.get(name)
