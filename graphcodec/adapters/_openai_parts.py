"""The parts of a chat message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphcodec.adapters._contents import Dialect
from graphcodec.adapters._media import Place, Sources, data_url, url_of
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

_KEYS: Final[Mapping[str, tuple[str, str]]] = {
    "image": ("image_url", "url"),
    "audio": ("input_audio", "data"),
    "document": ("file", "file_data"),
}
_KINDS: Final = {key: (kind, inner) for kind, (key, inner) in _KEYS.items()}
_AUDIO_FORMATS: Final = {"mpeg": "mp3", "x-wav": "wav", "wave": "wav"}


def _read(sources: Sources, part: Fields) -> tuple[Place, Note] | None:
    key = part.get("type")
    found = _KINDS.get(key) if isinstance(key, str) else None
    inner = as_fields(part.get(str(key)))
    if found is None or inner is None:
        return None
    kind, inner_key = found
    where = inner.get(inner_key)
    if not isinstance(where, str):
        return None
    note = noted(part, ("type", str(key)))
    if rest := noted(inner, (inner_key,)):
        note[str(key)] = rest
    return _place(sources, kind, where, inner), note


def _place(sources: Sources, kind: str, where: str, inner: Fields) -> Place:
    if kind == "audio":
        return audio_place(sources, where, inner)
    name = as_name(inner.get("filename"))
    if kind == "document" and not where.lower().startswith("data:"):
        raise InvalidValueError("the file is not in a data URL")
    return sources.url(kind, where, name)


def audio_place(sources: Sources, text: str, inner: Fields) -> Place:
    """Return the place that sound in base64 is.

    Args:
        sources: Makes the readers.
        text: The base64.
        inner: What says its format.

    Raises:
        InvalidValueError: If it is not strict base64.
    """
    name = as_name(inner.get("format")) or "octet-stream"
    return sources.base64("audio", text, f"audio/{name}", f"audio.{name}")


def audio_format(media: Media) -> str:
    """Return what the formats of OpenAI call the kind of sound that *media* is."""
    name = media.mime_type.partition("/")[2]
    return _AUDIO_FORMATS.get(name, name)


def _write(media: Media, note: Fields) -> dict[str, object] | None:
    if media.kind not in _KEYS:
        return None
    key, inner_key = _KEYS[media.kind]
    inner: dict[str, object] = {inner_key: _where(media, note)}
    if not note and media.kind == "audio":
        inner["format"] = audio_format(media)
    if not note and media.kind == "document":
        inner["filename"] = media.filename
    return restored(note, {"type": key, key: restored(fields_of(note, key), inner)})


def _where(media: Media, note: Fields) -> str:
    if media.kind == "audio":
        return media.as_base64()
    return url_of(media, note) if media.kind == "image" else data_url(media, note)


DIALECT: Final = Dialect(
    name="a chat message",
    texts={"text": "text"},
    media=frozenset(_KINDS),
    read=_read,
    write=_write,
)
