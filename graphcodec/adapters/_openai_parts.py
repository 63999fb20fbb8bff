"""The content of a chat message: one text and some media, and parts for the way back.

A message has its content as a str or as a list of parts. A primitive has one text and a
tuple of media. The texts of the parts are joined, and the note says for each part how
many characters of the whole it takes, which kind of media stood there, or, for what has
no place in a primitive, what it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from attrs import field, frozen

from graphcodec.adapters import _data_urls as data_urls
from graphcodec.adapters._notes import (
    Fields,
    Note,
    as_fields,
    as_list,
    as_name,
    count_of,
    fields_of,
    list_of,
    noted,
    restored,
)
from graphcodec.errors import GraphCodecError, InvalidValueError, UnencodableValueError
from graphcodec.primitives import Media
from graphcodec.readers import BytesReader, Reader
from graphcodec_resolvers import HttpReader

if TYPE_CHECKING:
    from collections.abc import Iterator

JOINER: Final = "\n"

_WEB: Final = ("https://", "http://")
_KINDS: Final = {
    "image": ("image_url", "url"),
    "audio": ("input_audio", "data"),
    "document": ("file", "file_data"),
}
_AUDIO_FORMATS: Final = {"mpeg": "mp3", "x-wav": "wav", "wave": "wav"}


@frozen
class Content:
    """What a message says.

    Attributes:
        text: The text; empty if there is none.
        media: The media, in order.
        parts: What the note has to say of the parts; None if the content was a str.
    """

    text: str = ""
    media: tuple[Media, ...] = ()
    parts: list[Note] | None = None


@frozen
class _Place:
    """Where the bytes of a part are.

    Attributes:
        reader: Opens them.
        mime_type: What they are.
        filename: What to call them.
        note: How the URL is written, if that is not the usual way.
    """

    reader: Reader
    mime_type: str
    filename: str
    note: Note = field(factory=dict[str, object])


# Reading


class PartsReader:
    """Reads the contents of one conversation; the same bytes become one reader."""

    def __init__(self) -> None:
        self._readers: dict[str, Reader] = {}

    def content(self, value: object, path: str, prefix: str = "") -> Content:
        """Return what *value* says; nothing if it is null or empty.

        Args:
            value: The content of a message.
            path: Where it stands.
            prefix: What the ids of its media begin with; none are made without one.

        Raises:
            InvalidValueError: If it is neither text nor a list of parts.
        """
        if value is None or isinstance(value, str):
            return Content(value or "")
        parts = as_list(value)
        if parts is None:
            raise refused("content must be a str, a list of parts or null", value, path)
        texts: list[str] = []
        media: list[Media] = []
        notes: list[Note] = []
        for index, item in enumerate(parts):
            part = as_fields(item)
            if part is None:
                raise refused(
                    "a part of content must be a dict", item, f"{path}[{index}]"
                )
            text = part.get("text") if part.get("type") == "text" else None
            if isinstance(text, str):
                texts.append(text)
                notes.append({"text": len(text), **noted(part, ("type", "text"))})
                continue
            name = f"{prefix}-media-{len(media)}" if prefix else ""
            found = self._media(part, name)
            media += found[0]
            notes.append(found[1])
        return Content(JOINER.join(filter(None, texts)), tuple(media), notes)

    def _media(self, part: Fields, name: str) -> tuple[list[Media], Note]:
        """Return the media of a part, if it has one, and the note on the part."""
        for kind, (key, inner_key) in _KINDS.items():
            inner = as_fields(part.get(key))
            if part.get("type") != key or inner is None or not name:
                continue
            where = inner.get(inner_key)
            if not isinstance(where, str):
                continue
            try:
                place = self._place(kind, where, inner)
            except (GraphCodecError, ValueError) as exc:
                why = getattr(exc, "message", str(exc))
                return [], {"kept": dict(part), "why": why}
            media = Media.user_attachment(
                id=name,
                kind=kind,  # type: ignore[arg-type]  # a key of _KINDS
                mime_type=place.mime_type,
                filename=place.filename,
                reader=place.reader,
            )
            note: Note = {"media": key, **noted(part, ("type", key)), **place.note}
            if rest := noted(inner, (inner_key,)):
                note[key] = rest
            return [media], note
        return [], {"kept": dict(part)}

    def _place(self, kind: str, where: str, inner: Fields) -> _Place:
        if kind == "audio":
            return self._audio(where, inner)
        if data_urls.is_data_url(where):
            return self._inline(kind, where, as_name(inner.get("filename")))
        if kind == "image":
            return self._remote(where)
        raise InvalidValueError("the file is not in a data URL")

    def _audio(self, text: str, inner: Fields) -> _Place:
        content = data_urls.unbased(text)
        if content is None:
            raise InvalidValueError("the audio is not base64")
        name = as_name(inner.get("format")) or "octet-stream"
        reader = self._reader(text, content)
        return _Place(reader, f"audio/{name}", f"audio.{name}")

    def _inline(self, kind: str, url: str, filename: str | None) -> _Place:
        found = data_urls.parsed(url)
        if found is None:
            raise InvalidValueError("the data URL makes no sense")
        note: Note = {}
        if not found.exact:
            note["url"] = url
        elif found.head != data_urls.head_of(found.mime_type):
            note["head"] = found.head
        name = filename or f"{kind}{data_urls.ending_of(found.mime_type)}"
        reader = self._reader(url, found.content)
        return _Place(reader, found.mime_type, name, note)

    def _remote(self, url: str) -> _Place:
        if not url.lower().startswith(_WEB):
            raise InvalidValueError("it is neither a data URL nor one of http or https")
        reader = HttpReader(url)
        # Refused here and not when the graph is encoded: a URL with a signature.
        reader.describe()
        name = urlsplit(url).path.rpartition("/")[2] or "image"
        shared = self._readers.setdefault(url, reader)
        return _Place(shared, data_urls.type_of(name), name)

    def _reader(self, key: str, content: bytes) -> Reader:
        return self._readers.setdefault(key, BytesReader(content))


# Writing


def content_value(content: Content) -> object:
    """Return the str or the list of parts that *content* was read from.

    Args:
        content: The text, the media, and the parts of the note, if there is one.

    Raises:
        UnencodableValueError: If a chat message has no place for one of the media.
        HandleError: If the bytes of one are gone, changed or out of reach.
    """
    if content.parts is None or not _fits(content):
        return _usual(content)
    return list(_as_noted(content))


def _usual(content: Content) -> object:
    kept = [part["kept"] for part in content.parts or () if "kept" in part]
    if not content.media and not kept:
        return content.text
    first = [{"type": "text", "text": content.text}] if content.text else []
    return [*first, *(media_part(media, {}) for media in content.media), *kept]


def _fits(content: Content) -> bool:
    """Say whether the note is on this content, and not on one that it had before."""
    parts = content.parts or []
    lengths = [n for part in parts if (n := count_of(part, "text"))]
    expected = sum(lengths) + len(JOINER) * max(0, len(lengths) - 1)
    media = sum("media" in part for part in parts)
    return expected == len(content.text) and media == len(content.media)


def _as_noted(content: Content) -> Iterator[object]:
    start = 0
    media = iter(content.media)
    for part in content.parts or ():
        if "kept" in part:
            yield part["kept"]
        elif "media" in part:
            yield media_part(next(media), part)
        else:
            length = count_of(part, "text") or 0
            text = content.text[start : start + length]
            start += length + len(JOINER) if length else 0
            yield restored(part, {"type": "text", "text": text})


def media_part(media: Media, note: Fields) -> dict[str, object]:
    """Return one part of a message.

    Args:
        media: What stands there.
        note: How it was written, or nothing.

    Raises:
        UnencodableValueError: If there are no parts for media of its kind.
    """
    if media.kind not in _KINDS:
        raise UnencodableValueError(
            f"a chat message has no place for a {media.kind}",
            hint="send pictures of it, or leave it out",
            type_name="Media",
        )
    key, inner_key = _KINDS[media.kind]
    inner: dict[str, object] = {inner_key: _where(media, note)}
    if not note:
        inner.update(_usual_fields(media))
    return restored(note, {"type": key, key: restored(fields_of(note, key), inner)})


def _usual_fields(media: Media) -> dict[str, object]:
    if media.kind == "audio":
        name = media.mime_type.partition("/")[2]
        return {"format": _AUDIO_FORMATS.get(name, name)}
    return {"filename": media.filename} if media.kind == "document" else {}


def _where(media: Media, note: Fields) -> str:
    if media.kind == "audio":
        return media.as_base64()
    handle = media.reader.describe()
    if handle is not None and handle.scheme == "http" and media.kind == "image":
        return str(handle.locator["url"])
    content = media.read()
    url = as_name(note.get("url"))
    if url and (found := data_urls.parsed(url)) and found.content == content:
        return url
    head = as_name(note.get("head")) or data_urls.head_of(media.mime_type)
    return data_urls.written(head, content)


def parts_of(note: Fields) -> list[Note] | None:
    """Return what *note* says of the parts of a content; None if that was a str.

    Args:
        note: The note on a message.
    """
    if "parts" not in note:
        return None
    return [dict(part) for item in list_of(note, "parts") if (part := as_fields(item))]


def refused(reason: str, value: object, path: str, hint: str = "") -> InvalidValueError:
    """Return the error for a chat that is not as it should be.

    Args:
        reason: What should be.
        value: What is, of which only the type is shown.
        path: Where.
        hint: What to do about it.
    """
    found = type(value).__name__
    return InvalidValueError(f"{reason}, not {found}", path=path, hint=hint)
