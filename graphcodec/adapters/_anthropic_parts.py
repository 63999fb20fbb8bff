"""The blocks of the Messages API that are text or media."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphcodec.adapters._contents import Dialect
from graphcodec.adapters._media import PLAIN, Place, Sources, web_address
from graphcodec.adapters._notes import (
    Fields,
    Note,
    as_fields,
    as_name,
    fields_of,
    noted,
    restored,
)
from graphcodec.errors import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphcodec.primitives import Media

THINKING: Final = "anthropic-messages-thinking-v1"
"""The wire shape of what only the vendor can read of a thought."""

_KINDS: Final = frozenset({"image", "document"})

_TEXT: Final = ("document", PLAIN)

# The keys of a source, by its type.
_PLACED: Final[Mapping[str, tuple[str, ...]]] = {
    "base64": ("type", "media_type", "data"),
    "text": ("type", "media_type", "data"),
    "url": ("type", "url"),
}


def _read(sources: Sources, part: Fields) -> tuple[Place, Note] | None:
    kind, source = part.get("type"), as_fields(part.get("source"))
    if source is None or not isinstance(kind, str) or kind not in _KINDS:
        return None
    form = source.get("type")
    place = _place(sources, kind, source, as_name(part.get("title")))
    note = {"form": form, **noted(part, ("type", "source"))}
    if rest := noted(source, _PLACED[str(form)]):
        note["source"] = rest
    return place, note


def _place(sources: Sources, kind: str, source: Fields, title: str | None) -> Place:
    mime_type = as_name(source.get("media_type"))
    match source:
        case {"type": "url", "url": str() as url}:
            return _web(sources.url(kind, url, title), url)
        case {"type": "base64", "data": str() as data} if mime_type:
            return sources.base64(kind, data, mime_type, title)
        case {"type": "text", "data": str() as data} if (kind, mime_type) == _TEXT:
            return sources.text(data, title or "document.txt")
        case {"type": "file"}:
            reason = "its bytes are with the vendor, under its file_id"
        case {"type": "content"}:
            reason = "its source is made of blocks"
        case _:
            reason = "its source says nowhere where its bytes are"
    raise InvalidValueError(reason)


def _web(place: Place, url: str) -> Place:
    """Return a place that is no data URL, which the format does not have.

    Raises:
        InvalidValueError: If it is one.
    """
    if place.reader.describe() is None or url[:5].lower() == "data:":
        raise InvalidValueError("a data URL is no URL here")
    return place


def _write(media: Media, note: Fields) -> dict[str, object] | None:
    if media.kind not in _KINDS:
        return None
    source = _source(media, note)
    # The bytes may have gone to a store, or come from an address, since then.
    same = source["type"] == note.get("form")
    rest: Fields = fields_of(note, "source") if same else {}
    placed: dict[str, object] = {"type": media.kind, "source": restored(rest, source)}
    if not note and media.kind == "document":
        placed["title"] = media.filename
    return restored(note, placed)


def _source(media: Media, note: Fields) -> dict[str, object]:
    if url := web_address(media):
        return {"type": "url", "url": url}
    form = note.get("form", "text")
    if media.kind == "document" and media.mime_type == PLAIN and form == "text":
        text = media.read().decode()
        return {"type": "text", "media_type": PLAIN, "data": text}
    data = media.as_base64()
    return {"type": "base64", "media_type": media.mime_type, "data": data}


DIALECT: Final = Dialect(
    name="a message of Anthropic's",
    texts={"text": "text"},
    media=_KINDS,
    read=_read,
    write=_write,
)
