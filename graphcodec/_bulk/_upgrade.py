"""Documents written anew by the classes of today, where that makes a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from attrs import field, frozen

from graphcodec import _formats, _frames
from graphcodec._bulk._contexts import context_of
from graphcodec._bulk._files import Document, Files
from graphcodec._documents._names import COMPRESSIONS
from graphcodec._documents._outdated import outdated, same_form
from graphcodec._limits import exceeded
from graphcodec._process import PerProcess
from graphcodec.codec import Codec
from graphcodec.errors import InvalidValueError
from graphcodec.queues._workers import CodecSource

if TYPE_CHECKING:
    from graphcodec._bulk._conversion import Compress
    from graphcodec._compressing import Compression
    from graphcodec._formats import Format
    from graphcodec._frames import Layer
    from graphcodec._seal import Seal

__all__ = ["Renewal", "Upgrade"]

_FORM: Final = "form: it is written in another way now"


class _Codecs:
    """The codecs of one process that read a document and write it anew.

    Args:
        source: What gives the codec of the user.
    """

    def __init__(self, source: CodecSource) -> None:
        self._source = source
        self._made = PerProcess(self._make)

    def __reduce__(self) -> tuple[type[_Codecs], tuple[CodecSource]]:
        return _Codecs, (self._source,)

    def _make(self) -> tuple[Codec, dict[Format, Codec]]:
        given = self._source.get()
        # What reading would drop or lower without a word, stays as it is.
        bare = given.replace(
            seal=None, compression=None, trust=None, unknown_fields=_kept(given)
        )
        return given, {name: bare.replace(format=name) for name in ("json", "msgpack")}

    @property
    def given(self) -> Codec:
        """The codec of the user."""
        return self._made.get()[0]

    def writing(self, format_: Format) -> Codec:
        """Return the codec that writes a format, without a frame."""
        return self._made.get()[1][format_]


def _kept(codec: Codec) -> str:
    options = codec._options  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    return "keep" if options.unknown_fields == "ignore" else options.unknown_fields


@frozen(kw_only=True)
class Renewal:
    """What becomes of one document.

    Attributes:
        codec: Whose classes, limits and keys count.
        format: The format that all are to have; None where each keeps its own.
        compress: How all are to be compressed; None where each stays as it is.
        reseal: Whether what is sealed with another key than the current one is sealed
            with that.
        context: What sealed documents are bound to: see `context_of`.
    """

    codec: CodecSource = field(factory=lambda: CodecSource(Codec))
    format: Format | None = None
    compress: Compress | None = None
    reseal: bool = False
    context: str = ""
    _codecs: _Codecs = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "_codecs", _Codecs(self.codec))

    def of(self, data: bytes, path: str = "") -> tuple[bytes, list[str]]:
        """Return the new document, and why it is another one; no reason, no change.

        Args:
            data: The document as it is.
            path: Where it is.

        Raises:
            GraphCodecError: If the codec refuses it, or what would become of it.
        """
        codec = self._codecs.given
        limits = codec.limits
        if len(data) > limits.max_bytes:
            raise exceeded("max_bytes", limits.max_bytes, len(data), "$")
        context = context_of(self.context, path)
        document = bytes(_frames.opened(data, limits, codec.seal, context))
        binary = _formats.is_binary(document)
        wire = _formats.read(document)
        was = _formats.name_of(binary=binary)
        format_ = self.format or was
        layers = _frames.parse(data).layers if _frames.is_frame(data) else ()
        reading, writing = self._codecs.writing(was), self._codecs.writing(format_)
        graph = reading.decode(document)
        why = self._differences(wire, document, reading.encode(graph))
        if why and reading.redact:
            why = _with_rules(why, reading, graph)
        if format_ != was:
            why.append(f"format: {was}, now {format_}")
        compression = self._compression(layers, why)
        seal = self._seal(codec.seal, layers, why)
        if not why:
            return data, why
        new = writing.encode(graph)
        if compression is None and seal is None:
            return new, why
        framed = _frames.framed(
            new, limits, compression=compression, seal=seal, context=context
        )
        return framed, why

    def _differences(self, wire: dict[str, Any], old: bytes, new: bytes) -> list[str]:
        """Say why a document is written in another way now."""
        if new == old:
            return []
        now = _formats.read(new)
        if same_form(wire, now):
            return []
        shape_of = self._codecs.given.shape_of
        # Where it is part of what is kept as a whole, a class of old stays as it is.
        left = set(outdated(now, shape_of))
        why = [reason for reason in outdated(wire, shape_of) if reason not in left]
        return why or [_FORM]

    def _compression(
        self, layers: tuple[Layer, ...], why: list[str]
    ) -> Compression | None:
        """Return how to compress the new document: as the old one, unless told."""
        shown = _frames.names(layers)
        was = shown[-1] if shown and shown[-1] in COMPRESSIONS else "none"
        now = self.compress or was
        if now != was:
            why.append(f"compression: {was}, now {now}")
        return None if now == "none" else cast("Compression", now)

    def _seal(
        self, seal: Seal | None, layers: tuple[Layer, ...], why: list[str]
    ) -> Seal | None:
        """Return what seals the new document: the key of the old one, unless told."""
        if seal is None:
            return None
        name = seal.name_in(layers[0].parameters)
        if not self.reseal:
            return seal.using(name)
        if name != seal.current:
            why.append(f"key: {name}, now {seal.current}")
        return seal


def _with_rules(why: list[str], codec: Codec, graph: object) -> list[str]:
    """Return the reasons with the rules of a redaction that take something out."""
    _, report = codec.redacted(graph)
    rules = sorted({place.rule for place in report.places})
    others = [reason for reason in why if not rules or reason != _FORM]
    return [*others, *(f"redaction: {rule}" for rule in rules)]


@frozen(kw_only=True)
class Upgrade:
    """Writes documents anew that are of earlier classes: a work.

    Attributes:
        source: Where the documents are.
        renewal: What becomes of each.
        target: Where the results go, with those that need no change as they are; None
            to replace the documents.
        backup: Where a document goes before it is replaced, if anywhere.
        dry: Whether to write nothing, and say why it would be.
    """

    source: Files
    renewal: Renewal
    target: Files | None = None
    backup: Files | None = None
    dry: bool = False

    def __call__(self, document: Document) -> list[str]:
        """Do one document; say why there was anything to do."""
        there = self.target is not None and self.target.exists(document.target)
        if there and not self.dry:
            # It came there as a whole, so it is the record of what was done.
            return []
        data = self._read(document)
        out, why = self.renewal.of(data, document.source)
        if self.dry:
            return why
        if self.target is not None:
            self.target.write(document.target, out)
        elif why:
            self._back_up(document, data)
            if self._read(document) != data:
                msg = "somebody else has changed it meanwhile; it is as they left it"
                raise InvalidValueError(msg, hint="upgrade it again")
            self.source.write(document.source, out)
        return why

    def _read(self, document: Document) -> bytes:
        return self.source.read(document.source, self.renewal.codec.get().limits)

    def _back_up(self, document: Document, data: bytes) -> None:
        if self.backup is None:
            return
        limits = self.renewal.codec.get().limits
        if not self.backup.exists(document.target):
            self.backup.write(document.target, data)
        elif self.backup.read(document.target, limits) != data:
            msg = f"there is another backup at {document.target!r:.200}"
            raise InvalidValueError(msg, hint="give another folder for this one")
