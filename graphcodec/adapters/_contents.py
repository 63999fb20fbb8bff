"""The content of a message: one text and some media, and parts for the way back.

Formats have the content of a message as a str or as a list of parts. A primitive has
one text and a tuple of media. The texts of the parts are joined, and the note says for
each part how many characters of the whole it takes, which kind of media stood there,
or, for what has no place in a primitive, what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from attrs import field, frozen

from graphcodec.adapters._homeless import HomelessError
from graphcodec.adapters._media import Place, Sources
from graphcodec.adapters._notes import (
    Fields,
    Note,
    as_fields,
    as_list,
    as_name,
    count_of,
    list_of,
    noted,
    refused,
    restored,
)
from graphcodec.errors import GraphCodecError
from graphcodec.primitives import Media

JOINER: Final = "\n"


@frozen(kw_only=True)
class Dialect:
    """How a format writes the parts of a content.

    Attributes:
        name: What to call a message of it in an error.
        texts: The types of the parts that are text, with the key of the text.
        media: The types of the parts that are media.
        text: The type of a text that comes from elsewhere.
        read: Returns where the bytes of a part are, with a note on the rest of it; None
            if it is no part for media.
        write: Returns the part for a media, by that note; None if there is none for
            media of its kind.
    """

    name: str
    texts: Mapping[str, str]
    media: frozenset[str]
    text: str = "text"
    read: Callable[[Sources, Fields], tuple[Place, Note] | None]
    write: Callable[[Media, Fields], dict[str, object] | None]

    def knows(self, part: object) -> bool:
        """Say whether *part* is of a type that has a text or media."""
        kind = (as_fields(part) or {}).get("type")
        return isinstance(kind, str) and (kind in self.texts or kind in self.media)


@frozen
class Content:
    """What a message says.

    Attributes:
        text: The text; empty if there is none.
        media: The media, in order.
        parts: What the note has to say of the parts; None if the content was a str.
        joiner: What stands between the texts of parts.
    """

    text: str = ""
    media: tuple[Media, ...] = ()
    parts: list[Note] | None = None
    joiner: str = JOINER

    @property
    def note(self) -> Note:
        """What the note on the message says of its content."""
        return {} if self.parts is None else {"parts": self.parts}


# Reading


@frozen
class PartsReader:
    """Reads the contents of one conversation.

    Attributes:
        dialect: How the format writes them.
        sources: Makes the readers.
    """

    dialect: Dialect
    sources: Sources = field(factory=Sources)

    def content(
        self, value: object, path: str, prefix: str = "", joiner: str = JOINER
    ) -> Content:
        """Return what *value* says; nothing if it is null or empty.

        Args:
            value: The content of a message.
            path: Where it stands.
            prefix: What the ids of its media begin with; none are made without one.
            joiner: What to put between the texts of parts.

        Raises:
            InvalidValueError: If it is neither text nor a list of parts.
        """
        if value is None or isinstance(value, str):
            return Content(value or "", joiner=joiner)
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
            text, note = self._text(part)
            if text is not None:
                texts.append(text)
                notes.append(note)
                continue
            name = f"{prefix}-media-{len(media)}" if prefix else ""
            found = self._media(part, name)
            media += found[0]
            notes.append(found[1])
        whole = joiner.join(filter(None, texts))
        return Content(whole, tuple(media), notes, joiner)

    def _text(self, part: Fields) -> tuple[str | None, Note]:
        kind = part.get("type")
        key = self.dialect.texts.get(kind) if isinstance(kind, str) else None
        text = part.get(key) if key else None
        if key is None or not isinstance(text, str):
            return None, {}
        named = {} if kind == self.dialect.text else {"type": kind}
        return text, {"text": len(text), **named, **noted(part, ("type", key))}

    def _media(self, part: Fields, name: str) -> tuple[list[Media], Note]:
        """Return the media of a part, if it has one, and the note on the part."""
        try:
            found = self.dialect.read(self.sources, part) if name else None
        except (GraphCodecError, ValueError) as exc:
            why = getattr(exc, "message", str(exc))
            return [], {"kept": dict(part), "why": why}
        if found is None:
            return [], {"kept": dict(part)}
        place, note = found
        media = attached(place, name)
        return [media], {"media": part.get("type"), **note, **place.note}


def attached(place: Place, name: str) -> Media:
    """Return the media that lies at a place.

    Args:
        place: The place.
        name: The id of the media.
    """
    return Media.user_attachment(
        id=name,
        kind=place.kind,  # type: ignore[arg-type]  # one of the four
        mime_type=place.mime_type,
        filename=place.filename,
        reader=place.reader,
    )


# Writing


def content_value(content: Content, dialect: Dialect) -> object:
    """Return the str or the list of parts that *content* was read from.

    Args:
        content: The text, the media, and the parts of the note, if there is one.
        dialect: How the format writes them.

    Raises:
        HomelessError: If a message has no place for one of the media.
        HandleError: If the bytes of one are gone, changed or out of reach.
    """
    if content.parts is not None and _fits(content):
        return list(_as_noted(content, dialect))
    if content.media or any("kept" in part for part in content.parts or ()):
        return _usual(content, dialect)
    return content.text


def parts_list(content: Content, dialect: Dialect) -> list[object]:
    """Return the list of parts that *content* is.

    Args:
        content: The text, the media, and the parts of the note, if there is one.
        dialect: How the format writes them.

    Raises:
        HomelessError: If a message has no place for one of the media.
        HandleError: If the bytes of one are gone, changed or out of reach.
    """
    if content.parts is None or not _fits(content):
        return _usual(content, dialect)
    return list(_as_noted(content, dialect))


def _usual(content: Content, dialect: Dialect) -> list[object]:
    kept = [part["kept"] for part in content.parts or () if "kept" in part]
    media = [media_part(each, {}, dialect) for each in content.media]
    return [*_text_part(content.text, {}, dialect), *media, *kept]


def _text_part(text: str, note: Fields, dialect: Dialect) -> list[object]:
    if not text and not note:
        return []
    kind = as_name(note.get("type")) or dialect.text
    key = dialect.texts.get(kind, "text")
    return [restored(note, {"type": kind, key: text})]


def _fits(content: Content) -> bool:
    """Say whether the note is on this content, and not on one that it had before."""
    parts = content.parts or []
    lengths = [n for part in parts if (n := count_of(part, "text"))]
    expected = sum(lengths) + len(content.joiner) * max(0, len(lengths) - 1)
    media = sum("media" in part for part in parts)
    return expected == len(content.text) and media == len(content.media)


def _as_noted(content: Content, dialect: Dialect) -> Iterator[object]:
    start = 0
    media = iter(content.media)
    for part in content.parts or ():
        if "kept" in part:
            yield part["kept"]
        elif "media" in part:
            yield media_part(next(media), part, dialect)
        else:
            length = count_of(part, "text") or 0
            text = content.text[start : start + length]
            start += length + len(content.joiner) if length else 0
            yield from _text_part(text, {"text": 0, **part}, dialect)


def media_part(media: Media, note: Fields, dialect: Dialect) -> dict[str, object]:
    """Return one part of a message.

    Args:
        media: What stands there.
        note: How it was written, or nothing.
        dialect: How the format writes it.

    Raises:
        HomelessError: If there are no parts for media of its kind.
    """
    part = dialect.write(media, note)
    if part is None:
        hint = (
            "send pictures of it, or leave it out, as graphcodec.adapters.fitted does"
        )
        raise HomelessError(dialect.name, _kind(media), hint, (media,))
    return part


def _kind(media: Media) -> str:
    article = "an" if media.kind[0] in "aeiou" else "a"
    return f"{article} {media.kind}"


def parts_of(note: Fields) -> list[Note] | None:
    """Return what *note* says of the parts of a content; None if that was a str.

    Args:
        note: The note on a message.
    """
    if "parts" not in note:
        return None
    return [dict(part) for item in list_of(note, "parts") if (part := as_fields(item))]
