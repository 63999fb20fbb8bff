"""Images and large outputs of tools, moved out of records into a store of bytes.

The handle stands in a field of its own, which the first logs' readers ignore, beside
what they look at: an image without bytes, or the beginning of a text. It is the
document of the store's reader, so whoever has the store's resolver can open it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Final, cast

from graphcodec._graphs._persist import INLINE_LIMIT
from graphcodec.codec import Codec, decode, encode_text
from graphcodec.errors import InvalidValueError, JsonError
from graphcodec.log._content import ImageContent, TextContent
from graphcodec.log._records import Conversation, Messages, SessionRecord, ToolResult
from graphcodec.log._words import mime_type_of
from graphcodec.primitives._checks import excerpt
from graphcodec.readers import ByteStore, Reader

__all__ = ["inline", "inlined", "offload", "opened", "reader_of"]

Handle = Mapping[str, object]

_HEAD: Final = 1000
"""How many characters of a text stay in its record."""


def offload(
    record: SessionRecord,
    store: ByteStore,
    *,
    inline_limit: int = INLINE_LIMIT,
    codec: Codec | None = None,
) -> SessionRecord:
    """Return a record whose image or large output of a tool is in a store.

    An image that is not in base64 as usual stays, since it would not come back equal.

    Args:
        record: The record.
        store: Where the bytes go.
        inline_limit: How many bytes the text of a tool may have to stay, and the
            primitive's document beside a message. Images always go.
        codec: What writes the handles.

    Returns:
        The new record; the very same one if nothing in it had to move.

    Raises:
        InvalidValueError: If the limit is no size.
        StorageError: If the bytes could not be written.
    """
    if type(inline_limit) is not int or inline_limit < 0:
        msg = f"inline_limit must be an int from 0, not {excerpt(inline_limit)}"
        raise InvalidValueError(msg)
    if not isinstance(record, Conversation):
        return record
    return _Mover(store, inline_limit, codec).moved(record)


class _Mover:
    """Puts what is in records into one store."""

    def __init__(self, store: ByteStore, limit: int, codec: Codec | None) -> None:
        self._store = store
        self._limit = limit
        self._encode = encode_text if codec is None else codec.encode_text

    def moved(self, record: Conversation) -> Conversation:
        """Return a record without what belongs into the store."""
        message = self._message(record.message)
        primitive = record.primitive
        if primitive is not None:
            primitive = self._document(primitive)
        if message is record.message and primitive is record.primitive:
            return record
        return record.replace(message=message, primitive=primitive)

    def _message(self, message: Messages) -> Messages:
        content = message.content
        if isinstance(content, ImageContent):
            image = self._image(content)
            return message if image is content else message.replace(content=image)
        if isinstance(message, ToolResult) and isinstance(content, TextContent):
            return _with_text(message, self._text(content))
        return message

    def _image(self, image: ImageContent) -> ImageContent:
        try:
            data = base64.b64decode(image.b64, validate=True)
        except ValueError:
            return image
        if not data or base64.b64encode(data).decode() != image.b64:
            return image
        handle = self._write(data, mime_type_of(image.mime_type))
        return image.replace(b64="", handle=handle)

    def _text(self, text: TextContent) -> TextContent:
        # Half a surrogate pair is refused later, as in any record.
        data = text.content.encode("utf-8", "replace")
        if len(data) <= self._limit or data.decode() != text.content:
            return text
        handle = self._write(data, "text/plain")
        left = len(text.content) - _HEAD
        if left <= 0:
            return text.replace(content="", handle=handle)
        head = f"{text.content[:_HEAD]}\n[{left:,} more characters are in a store]"
        return text.replace(content=head, handle=handle)

    def _document(self, document: Handle) -> Handle:
        data = json.dumps(document, separators=(",", ":")).encode()
        if len(data) <= self._limit or _is_reader(document):
            return document
        return self._write(data, "application/json")

    def _write(self, data: bytes, media_type: str) -> Handle:
        reader = self._store.write(data, media_type=media_type)
        return cast("Handle", json.loads(self._encode(reader)))


def _is_reader(document: Handle) -> bool:
    root = document.get("root")
    known = isinstance(root, Mapping)
    return known and cast("Handle", root).get("$type") == "$reader"


def _with_text(message: Messages, text: TextContent) -> Messages:
    """Return a message with another text, also where its error repeats the text."""
    old = cast("TextContent", message.content)
    if text is old:
        return message
    if isinstance(message, ToolResult) and message.error_detail == old.content:
        return message.replace(content=text, error_detail=text.content)
    return message.replace(content=text)


def inline(record: SessionRecord, *, codec: Codec | None = None) -> SessionRecord:
    """Return a record with what `offload` took out of it.

    Args:
        record: The record.
        codec: What opens handles: one with the store's resolver.

    Returns:
        The new record; the very same one if it has no handle.

    Raises:
        HandleError: If the bytes can't be found or read.
        JsonError: If what stands for a handle is none.
    """
    record = inlined(record, codec)
    if not isinstance(record, Conversation):
        return record
    image = record.message.content
    if not isinstance(image, ImageContent) or image.handle is None:
        return record
    data = base64.b64encode(_read(image.handle, codec)).decode()
    image = image.replace(b64=data, handle=None)
    return record.replace(message=record.message.replace(content=image))


def inlined(record: SessionRecord, codec: Codec | None) -> SessionRecord:
    """Do what `inline` does, and leave images where they are.

    Args:
        record: The record.
        codec: What opens handles.
    """
    if not isinstance(record, Conversation):
        return record
    primitive = record.primitive
    if primitive is not None and _is_reader(primitive):
        document = _parsed(_read_text(primitive, codec))
        record = record.replace(primitive=document)
    message = record.message
    text = message.content
    if not isinstance(text, TextContent) or text.handle is None:
        return record
    text = text.replace(content=_read_text(text.handle, codec), handle=None)
    return record.replace(message=_with_text(message, text))


def reader_of(handle: Handle, *, codec: Codec | None = None) -> Reader:
    """Return the reader of a handle; nothing is read yet.

    Args:
        handle: The document of the reader.
        codec: What opens handles.

    Raises:
        JsonError: If it is the document of anything else.
    """
    found = opened(handle, codec=codec)
    if not isinstance(found, Reader):
        msg = "what stands for a handle is the document of something else"
        raise JsonError(msg, type_name=type(found).__name__)
    return found


def opened(document: Handle, *, codec: Codec | None = None) -> object:
    """Return what a document inside a record holds.

    Args:
        document: The document.
        codec: What opens handles.
    """
    text = json.dumps(document)
    return decode(text) if codec is None else codec.decode(text)


def _read(handle: Handle, codec: Codec | None) -> bytes:
    with reader_of(handle, codec=codec).open() as stream:
        return stream.read()


def _read_text(handle: Handle, codec: Codec | None) -> str:
    try:
        return _read(handle, codec).decode()
    except UnicodeDecodeError as exc:
        msg = "the handle of a text leads to bytes that are no text"
        raise JsonError(msg, type_name="TextContent") from exc


def _parsed(text: str) -> Handle:
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        msg = "the handle of a primitive's document leads to something else"
        raise JsonError(msg, type_name="Conversation")
    return cast("Handle", found)
