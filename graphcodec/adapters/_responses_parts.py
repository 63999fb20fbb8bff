"""The parts of messages, and of answers, in the Responses API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphcodec.adapters import _data_urls as data_urls
from graphcodec.adapters._contents import Dialect
from graphcodec.adapters._media import (
    Place,
    Sources,
    data_url,
    url_of,
    web_address,
)
from graphcodec.adapters._notes import (
    Fields,
    Note,
    as_fields,
    as_name,
    fields_of,
    noted,
    restored,
)
from graphcodec.adapters._openai_parts import audio_place
from graphcodec.errors import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphcodec.primitives import Media

# Pictures have their address in one of these keys, by the type of the part.
_PICTURES: Final[Mapping[str, str]] = {
    "input_image": "image_url",
    "computer_screenshot": "image_url",
    "image": "url",
}
_TEXTS: Final[Mapping[str, str]] = {
    "input_text": "text",
    "output_text": "text",
    "text": "text",
    "refusal": "refusal",
    "summary_text": "text",
    "reasoning_text": "text",
    "logs": "logs",
}


def _read(sources: Sources, part: Fields) -> tuple[Place, Note] | None:
    kind = part.get("type")
    if kind == "input_file":
        return _file(sources, part)
    if kind == "input_audio":
        return _audio(sources, part)
    key = _PICTURES.get(kind) if isinstance(kind, str) else None
    if key is None:
        return None
    url = part.get(key)
    if not isinstance(url, str):
        raise _elsewhere(part)
    return sources.url("image", url), noted(part, ("type", key))


def _file(sources: Sources, part: Fields) -> tuple[Place, Note]:
    name = as_name(part.get("filename"))
    for key in ("file_data", "file_url"):
        where = part.get(key)
        if not isinstance(where, str):
            continue
        note = noted(part, ("type", key))
        note["key"] = key
        if key == "file_url" or data_urls.is_data_url(where):
            return sources.url("document", where, name), note
        mime_type = data_urls.type_of(name or "")
        return sources.base64("document", where, mime_type, name), {**note, "bare": 1}
    raise _elsewhere(part)


def _audio(sources: Sources, part: Fields) -> tuple[Place, Note] | None:
    inner = as_fields(part.get("input_audio")) or {}
    data = inner.get("data")
    if not isinstance(data, str):
        return None
    note = noted(part, ("type", "input_audio"))
    if rest := noted(inner, ("data",)):
        note["input_audio"] = rest
    return audio_place(sources, data, inner), note


def _elsewhere(part: Fields) -> InvalidValueError:
    if as_name(part.get("file_id")):
        return InvalidValueError("its bytes are with the vendor, under its file_id")
    return InvalidValueError("it says nowhere where its bytes are")


def _write(media: Media, note: Fields) -> dict[str, object] | None:
    kind = as_name(note.get("media")) or ""
    if kind == "input_audio" and media.kind == "audio":
        rest = fields_of(note, "input_audio")
        inner = restored(rest, {"data": media.as_base64()})
        return restored(note, {"type": kind, "input_audio": inner})
    if media.kind == "image":
        kind = kind if kind in _PICTURES else "input_image"
        detail = {} if note else {"detail": "auto"}
        picture = {"type": kind, **detail, _PICTURES[kind]: url_of(media, note)}
        return restored(note, picture)
    return _written_file(media, note) if media.kind == "document" else None


def _written_file(media: Media, note: Fields) -> dict[str, object]:
    url = web_address(media)
    if not note:
        where = {"file_url": url} if url else {"file_data": data_url(media, note)}
        name: dict[str, object] = {} if url else {"filename": media.filename}
        return {"type": "input_file", **name, **where}
    if "bare" in note:
        return restored(note, {"type": "input_file", "file_data": media.as_base64()})
    # Bytes may have gone to a store, or come from an address, since then.
    key = "file_url" if url else "file_data"
    where = {key: url or data_url(media, note)}
    return restored(note, {"type": "input_file", **where})


DIALECT: Final = Dialect(
    name="a message of the Responses API",
    texts=_TEXTS,
    media=frozenset({*_PICTURES, "input_file", "input_audio"}),
    text="input_text",
    read=_read,
    write=_write,
)
