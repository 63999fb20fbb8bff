"""What stands in the content of Pydantic AI's parts: texts and files.

Such an item is a str, or a dict that says with ``kind`` what it is. What is shared by
all formats looks at ``type``, so items are taken in under names of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from graphcodec.adapters._contents import Dialect
from graphcodec.adapters._media import Place, Sources, web_address
from graphcodec.adapters._notes import (
    Fields,
    Note,
    as_fields,
    as_list,
    as_name,
    noted,
    restored,
)
from graphcodec.errors import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphcodec.primitives import Media

_PREFIX: Final = "item:"
_TEXT: Final = "item:"
_OTHER: Final = "item:?"
_BINARY: Final = "item:binary"
_URLS: Final[Mapping[str, str]] = {
    "item:image-url": "image",
    "item:audio-url": "audio",
    "item:video-url": "video",
    "item:document-url": "document",
}
_TYPES: Final = {kind: name for name, kind in _URLS.items()}
_TO_URL_SAFE: Final = str.maketrans("+/", "-_")
_FROM_URL_SAFE: Final = str.maketrans("-_", "+/")


def wrapped(item: object) -> object:
    """Return an item under a name of its own.

    Args:
        item: What stands in a content.
    """
    if isinstance(item, str):
        return {"type": _TEXT, "text": item}
    fields = as_fields(item)
    if fields is None or "type" in fields or as_name(fields.get("kind")) is None:
        return {"type": _OTHER, "item": item}
    return _renamed(fields, "kind", "type", f"{_PREFIX}{fields['kind']}")


def unwrapped(item: object) -> object:
    """Return an item as it was.

    Args:
        item: What `wrapped` gave, or a str.
    """
    fields = as_fields(item)
    if fields is None:
        return item
    kind = str(fields["type"])
    if kind == _TEXT:
        return fields["text"]
    if kind == _OTHER:
        return fields["item"]
    return _renamed(fields, "type", "kind", kind.removeprefix(_PREFIX))


def _renamed(fields: Fields, old: str, new: str, value: str) -> dict[str, object]:
    """Return *fields* with another key and value in the same place."""
    found = {(new if key == old else key): given for key, given in fields.items()}
    found[new] = value
    return found


def all_wrapped(value: object) -> object:
    """Return a content with its items wrapped; one that has none as it is.

    Args:
        value: The content of a part.
    """
    items = as_list(value)
    return value if items is None else [wrapped(item) for item in items]


def all_unwrapped(value: object) -> object:
    """Return a content as it was.

    Args:
        value: A str, an item, or a list of items.
    """
    items = as_list(value)
    return unwrapped(value) if items is None else [unwrapped(item) for item in items]


def _kind_of(mime_type: str) -> str:
    kind = mime_type.partition("/")[0]
    return kind if kind in ("image", "audio", "video") else "document"


def _read(sources: Sources, part: Fields) -> tuple[Place, Note] | None:
    kind = str(part.get("type"))
    mime_type = as_name(part.get("media_type"))
    if kind in _URLS:
        url = part.get("url")
        if not isinstance(url, str):
            return None
        place = sources.url(_URLS[kind], url)
        if mime_type is not None:
            place = attrs.evolve(place, mime_type=mime_type)
        return place, {"form": "url", **noted(part, ("url", "type"))}
    data = part.get("data")
    if kind != _BINARY or not isinstance(data, str) or mime_type is None:
        return None
    # The library writes the alphabet for URLs, and reads both.
    usual = data.translate(_FROM_URL_SAFE)
    note: Note = {"form": "data", **noted(part, ("data", "media_type", "type"))}
    if usual.translate(_TO_URL_SAFE) != data:
        if usual != data:
            raise InvalidValueError("the bytes are in two alphabets of base64")
        note["plain"] = True
    return sources.base64(_kind_of(mime_type), usual, mime_type), note


def _write(media: Media, note: Fields) -> dict[str, object] | None:
    address = web_address(media)
    placed: dict[str, object]
    if address is not None:
        placed = {"url": address, "type": _TYPES[media.kind]}
    else:
        data = media.as_base64()
        if note.get("plain") is not True:
            data = data.translate(_TO_URL_SAFE)
        placed = {"data": data, "media_type": media.mime_type, "type": _BINARY}
    # The bytes may have gone to a store, or come from an address, since then.
    same = note.get("form") == ("data" if address is None else "url")
    return restored(note, placed) if same else placed


DIALECT: Final = Dialect(
    name="a message of Pydantic AI's",
    texts={_TEXT: "text", "item:text-content": "content"},
    media=frozenset({*_URLS, _BINARY}),
    text=_TEXT,
    read=_read,
    write=_write,
)
