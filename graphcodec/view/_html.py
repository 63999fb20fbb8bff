"""A document as one page that needs nothing but a browser."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any, Final

from attrs import frozen

from graphcodec import _formats, _page
from graphcodec._graphs._handles import detail_of
from graphcodec.codec import Codec
from graphcodec.errors import InvalidValueError
from graphcodec.readers import Reader, Resolver
from graphcodec.view._binding import Resolve, bound, layers, opened, resolvers_of
from graphcodec.view._kinds import shown_as
from graphcodec.view._model import Handle, Model, model_of, where

__all__ = ["Viewed", "page_of", "view_html", "viewed"]

_BEGINNING: Final = 1 << 16
"""How much of a text is embedded that is too long as a whole, in bytes."""
_SCRIPTS: Final = ("wire", "handles", "cards")
_SOURCES: Final = {"img-src": "data:", "media-src": "data:"}


@frozen(kw_only=True)
class Viewed:
    """A document that was read, and who opens its handles.

    Attributes:
        bytes: Its size as it arrived.
        layers: The layers of its frame.
        format: ``json`` or ``msgpack``.
        model: What is in it.
        resolvers: Who knows its handles.
    """

    bytes: int
    layers: tuple[str, ...]
    format: str
    model: Model
    resolvers: list[Resolve]

    def reader(self, number: int) -> Reader:
        """Return a reader for a handle; nothing is opened.

        Args:
            number: The number of the handle.

        Raises:
            GraphCodecError: If nobody knows it.
        """
        handle = self.model.handles[number]
        found = bound(handle.tag, handle.locator, self.resolvers)
        if isinstance(found, Reader):
            return found
        raise found


def view_html(
    document: bytes | bytearray | memoryview | str,
    *,
    codec: Codec | None = None,
    context: bytes = b"",
    resolvers: Iterable[Resolver] = (),
    title: str = "",
    embed_limit: int = 0,
) -> str:
    """Return a page that shows a document: one file, which loads nothing from anywhere.

    Nothing is decoded, so no class is needed, and any document can be looked at. What
    is in it stands in the page as data and is shown as text. Media and artifacts whose
    bytes are in the document are shown at once. Other handles are not opened, unless
    *embed_limit* says so.

    Args:
        document: JSON or MessagePack, in a frame or not.
        codec: Whose keys open a sealed document, whose limits are kept, and whose
            resolvers open handles; by default a `Codec` without options.
        context: What a sealed document is bound to.
        resolvers: Who is asked for handles before those of the codec.
        title: What the page is called.
        embed_limit: Up to how many bytes of handles are opened now and put into the
            page, all together: images, sound, video and text, in the order of the
            document. Of a text that is too long, the beginning.

    Raises:
        UndecodableValueError: If it is no document.
        SealError: If it is not sealed as the codec wants it.
        InvalidValueError: If *embed_limit* is negative.
    """
    if embed_limit < 0:
        msg = f"embed_limit: must be 0 or more bytes, not {embed_limit}"
        raise InvalidValueError(msg, value=embed_limit)
    found = viewed(document, codec=codec, context=context, resolvers=resolvers)
    embedded = _embedded(found, embed_limit) if embed_limit else {}
    return page_of(found, title=title, embedded=embedded)


def viewed(
    document: bytes | bytearray | memoryview | str,
    *,
    codec: Codec | None,
    context: bytes,
    resolvers: Iterable[Resolver],
) -> Viewed:
    """Return a document that was read; see `view_html`.

    Raises:
        UndecodableValueError: If it is no document.
        SealError: If it is not sealed as the codec wants it.
    """
    codec = codec or Codec()
    data = _formats.as_bytes(document)
    wire, binary = opened(data, codec, context)
    return Viewed(
        bytes=len(data),
        layers=layers(data),
        format=_formats.name_of(binary=binary),
        model=model_of(wire),
        resolvers=resolvers_of(codec, resolvers),
    )


def page_of(
    found: Viewed,
    *,
    title: str,
    embedded: Mapping[int, Mapping[str, Any]] | None = None,
    is_served: bool = False,
) -> str:
    """Return the page of a document that was read.

    Args:
        found: The document.
        title: What the page is called.
        embedded: What else is known of handles, by their numbers.
        is_served: Whether a server opens handles when the reader asks for them.
    """
    more = embedded or {}
    data = {
        "bytes": found.bytes,
        "format": found.format,
        "layers": found.layers,
        "root": found.model.root,
        "nodes": found.model.nodes,
        "handles": [
            {**_facts(handle), **more.get(number, {})}
            for number, handle in enumerate(found.model.handles)
        ],
        "served": is_served,
    }
    own = " 'self'" if is_served else ""
    sources = {name: what + own for name, what in _SOURCES.items()}
    if is_served:
        sources["connect-src"] = "'self'"
    return _page.made(
        "graphcodec.view",
        "view",
        data,
        title=title or "Document",
        scripts=_SCRIPTS,
        sources=sources,
    )


def _facts(handle: Handle) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "tag": handle.tag,
        "where": where(handle),
        "as": shown_as(handle.mime_type),
        "mime": handle.mime_type,
        "name": handle.filename,
    }
    if handle.size is not None:
        facts["size"] = handle.size
    if handle.inline is not None:
        facts["data"] = handle.inline
    return facts


# Opening now what the page will show


def _embedded(found: Viewed, left: int) -> dict[int, dict[str, Any]]:
    more: dict[int, dict[str, Any]] = {}
    for number, handle in enumerate(found.model.handles):
        if handle.inline is not None or shown_as(handle.mime_type) == "file":
            continue
        try:
            data, is_whole = _read(found.reader(number), handle, left)
        except Exception as exc:  # noqa: BLE001 - a user's reader may raise anything
            more[number] = {"fault": detail_of(exc)}
        else:
            left -= len(data)
            more[number] = _content(data, is_whole=is_whole)
    return more


def _read(reader: Reader, handle: Handle, left: int) -> tuple[bytes, bool]:
    """Return as much of a handle as may be embedded, and whether that is all of it."""
    data = reader.read_range(0, left + 1)
    if len(data) <= left:
        return data, True
    is_text = shown_as(handle.mime_type) == "text"
    return (data[: min(left, _BEGINNING)] if is_text else b""), False


def _content(data: bytes, *, is_whole: bool) -> dict[str, Any]:
    if not is_whole and not data:
        return {"fault": "larger than what was to be embedded"}
    text = base64.b64encode(data).decode()
    return (
        {"data": text, "size": len(data)} if is_whole else {"data": text, "cut": True}
    )
