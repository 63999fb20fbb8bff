"""The blocks of LangChain's messages that are text or media.

Besides the standard blocks, those of OpenAI's chats are common, and so are the standard
ones of earlier versions, which say with ``source_type`` where the bytes are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphcodec.adapters._contents import Dialect
from graphcodec.adapters._media import Place, Sources, url_of, web_address
from graphcodec.adapters._notes import (
    Fields,
    Note,
    as_fields,
    as_list,
    as_name,
    fields_of,
    noted,
    restored,
)
from graphcodec.errors import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphcodec.primitives import Media

_BARE: Final = "bare-text"
_ESCAPED: Final = f"{_BARE}+"

_KINDS: Final[Mapping[str, str]] = {
    "image": "image",
    "audio": "audio",
    "video": "video",
    "file": "document",
}
_TYPES: Final = {kind: name for name, kind in _KINDS.items()}
_OPENAI: Final = "image_url"

# The keys of a block, by the form in which it says where its bytes are.
_PLACED: Final[Mapping[str, tuple[str, ...]]] = {
    "base64": ("type", "base64", "mime_type"),
    "url": ("type", "url"),
    "earlier-base64": ("type", "source_type", "data", "mime_type"),
    "earlier-url": ("type", "source_type", "url"),
    _OPENAI: ("type", "image_url"),
}


def wrapped(value: object) -> object:
    """Return blocks of which none is only a str; anything else as it is.

    Args:
        value: The content of a message.
    """
    blocks = as_list(value)
    return value if blocks is None else [_wrapped(block) for block in blocks]


def _wrapped(block: object) -> object:
    if isinstance(block, str):
        return {"type": _BARE, "text": block}
    fields = as_fields(block) or {}
    kind = as_name(fields.get("type")) or ""
    # Nobody has such a block, but then it would come back as another one.
    taken = kind == _BARE or kind.startswith(_ESCAPED)
    return {**fields, "type": f"{_ESCAPED}{kind}"} if taken else block


def unwrapped(value: object) -> object:
    """Return a content as it was before `wrapped`.

    Args:
        value: A str, or a list of blocks.
    """
    blocks = as_list(value)
    return value if blocks is None else [_unwrapped(block) for block in blocks]


def _unwrapped(block: object) -> object:
    fields = as_fields(block) or {}
    kind = as_name(fields.get("type")) or ""
    if kind == _BARE:
        return fields["text"]
    taken = kind.startswith(_ESCAPED)
    return {**fields, "type": kind.removeprefix(_ESCAPED)} if taken else block


def _form(part: Fields) -> str:
    if part.get("type") == _OPENAI:
        return _OPENAI
    if "source_type" in part:
        return f"earlier-{part['source_type']}"
    return next((form for form in ("base64", "url") if form in part), "")


def _read(sources: Sources, part: Fields) -> tuple[Place, Note] | None:
    form = _form(part)
    if form == _OPENAI:
        return _read_openai(sources, part)
    kind = _KINDS.get(str(part.get("type")))
    if kind is None:
        return None
    name = as_name(part.get("filename")) or as_name(part.get("name"))
    mime_type = as_name(part.get("mime_type"))
    if form not in _PLACED:
        raise InvalidValueError("the block says nowhere where its bytes are")
    given = part.get("data" if form == "earlier-base64" else form.split("-")[-1])
    if not isinstance(given, str):
        raise InvalidValueError("the block says nowhere where its bytes are")
    note: Note = {"form": form, **noted(part, _PLACED[form])}
    if form.endswith("url"):
        return sources.url(kind, given, name), note
    if mime_type is None:
        raise InvalidValueError("the block does not say what its bytes are")
    return sources.base64(kind, given, mime_type, name), note


def _read_openai(sources: Sources, part: Fields) -> tuple[Place, Note] | None:
    given = part.get("image_url")
    inner = as_fields(given)
    url = given if inner is None else inner.get("url")
    if not isinstance(url, str):
        return None
    note: Note = {"form": _OPENAI, **noted(part, _PLACED[_OPENAI])}
    if inner is None:
        note["bare"] = True
    elif rest := noted(inner, ("url",)):
        note["inner"] = rest
    return sources.url("image", url), note


def _write(media: Media, note: Fields) -> dict[str, object] | None:
    form = as_name(note.get("form")) or ""
    if form == _OPENAI and media.kind == "image":
        url = url_of(media, note)
        inner = restored(fields_of(note, "inner"), {"url": url})
        return restored(
            note, {"type": form, "image_url": url if note.get("bare") else inner}
        )
    placed: dict[str, object] = {"type": _TYPES[media.kind]}
    earlier = "earlier-" if form.startswith("earlier-") else ""
    address = url_of(media, note) if form.endswith("url") else web_address(media)
    if earlier:
        placed["source_type"] = "base64" if address is None else "url"
    if address is not None:
        placed["url"] = address
    else:
        placed["data" if earlier else "base64"] = media.as_base64()
        placed["mime_type"] = media.mime_type
    # The bytes may have gone to a store, or come from an address, since then.
    same = form == f"{earlier}{'base64' if address is None else 'url'}"
    return restored(note, placed) if same or not note else placed


DIALECT: Final = Dialect(
    name="a message of LangChain's",
    texts={"text": "text", _BARE: "text"},
    media=frozenset({*_KINDS, _OPENAI}),
    read=_read,
    write=_write,
)
