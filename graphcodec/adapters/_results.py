"""What tools give back: text, media, or JSON that has no other form."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeAlias, cast

from attrs import frozen

from graphcodec.adapters._contents import (
    JOINER,
    Content,
    Dialect,
    PartsReader,
    attached,
    content_value,
    parts_of,
)
from graphcodec.adapters._media import PLAIN, Place
from graphcodec.adapters._notes import Fields, Note, as_fields, as_list, count_of
from graphcodec.errors import InvalidValueError, UnencodableValueError
from graphcodec.primitives import Media, SpooledArtifact, Tokenizable
from graphcodec.readers import BytesReader

if TYPE_CHECKING:
    from collections.abc import Iterator

Results: TypeAlias = (
    Tokenizable | SpooledArtifact | Media | tuple[SpooledArtifact | Media, ...]
)


@frozen
class ResultsReader:
    """Reads the answers to the calls of one conversation.

    Attributes:
        parts: Reads those that have parts.
        spool_above: The most bytes of a text that is no artifact.
    """

    parts: PartsReader
    spool_above: int

    def results(self, value: object, path: str, prefix: str) -> tuple[Results, Note]:
        """Return what an answer becomes, and a note on how it was written.

        Args:
            value: The answer.
            path: Where it stands.
            prefix: What the ids of its media begin with.

        Raises:
            InvalidValueError: If it is more than JSON.
        """
        if value is None or isinstance(value, str):
            return text_results(value or "", self.spool_above), {}
        dialect = self.parts.dialect
        single = as_fields(value) if dialect.knows(value) else None
        entries = as_list(value) if single is None else [single]
        if entries is None or not all(map(dialect.knows, entries)):
            text = _dumped(value, path)
            return text_results(text, self.spool_above), {"json": True}
        content = self.parts.content(entries, path, prefix)
        note = content.note if single is None else {"single": True, **content.note}
        return results_of(content, self.spool_above), note


def _dumped(value: object, path: str) -> str:
    """Return a value that has no other form as JSON.

    Raises:
        InvalidValueError: If it is more than JSON.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        same = json.loads(text) == value
    except (TypeError, ValueError, RecursionError) as exc:
        raise InvalidValueError(f"this must be plain JSON: {exc}", path=path) from exc
    if not same:
        raise InvalidValueError("this must be plain JSON", path=path)
    return text


def results_of(content: Content, spool_above: int) -> Results:
    """Return the results of a call that was answered with *content*.

    They are one family: with media among them, texts become plain documents.

    Args:
        content: The answer.
        spool_above: The most bytes of a text that is no artifact.
    """
    if content.media:
        found = tuple(_all_media(content))
        return found[0] if len(found) == 1 else found
    return text_results(content.text, spool_above)


def text_results(text: str, spool_above: int) -> Tokenizable | SpooledArtifact:
    """Return the results of a call that was answered with a text.

    Args:
        text: The answer.
        spool_above: The most bytes of a text that is no artifact.
    """
    try:
        data = text.encode()
    except UnicodeEncodeError:
        # Half a character has no bytes.
        return Tokenizable(text)
    if len(data) > spool_above:
        return SpooledArtifact(BytesReader(data))
    return Tokenizable(text)


def _all_media(content: Content) -> Iterator[Media]:
    start = 0
    media = iter(content.media)
    for index, part in enumerate(content.parts or ()):
        if "media" in part:
            yield next(media)
        elif length := count_of(part, "text"):
            text = content.text[start : start + length]
            start += length + len(content.joiner)
            # Half a character has no bytes of its own in UTF-8.
            reader = BytesReader(text.encode("utf-8", "surrogatepass"))
            place = Place("document", reader, PLAIN, "text.txt")
            yield attached(place, f"{content.media[0].id}-text-{index}")


def answered(results: object, note: Fields) -> Content:
    """Return the content that *results* were read from.

    Args:
        results: The results of a call.
        note: The note on the answer.
    """
    parts = parts_of(note)
    if isinstance(results, Media):
        results = (results,)
    if not isinstance(results, tuple):
        return Content(_text(results), (), parts)
    found = cast("tuple[object, ...]", results)
    if not any(isinstance(each, Media) for each in found):
        return Content(JOINER.join(map(_text, found)), (), parts)
    return _sorted_out(cast("tuple[Media, ...]", found), parts)


def _sorted_out(found: tuple[Media, ...], parts: list[Note] | None) -> Content:
    """Return texts as texts again, and the rest as media."""
    # Of a note that fits, which are texts; else those that look like one.
    taken = [part for part in parts or () if count_of(part, "text") or "media" in part]
    if len(taken) == len(found):
        texts = ["media" not in part for part in taken]
    else:
        texts = [each.mime_type == PLAIN for each in found]
    pairs = list(zip(found, texts, strict=True))
    said = [_decoded(each) for each, text in pairs if text]
    media = tuple(each for each, text in pairs if not text)
    return Content(JOINER.join(said), media, parts)


def _decoded(media: Media) -> str:
    try:
        return media.read().decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as exc:
        raise UnencodableValueError(
            "a plain text that a tool gave back is not in UTF-8",
            hint="say what it is in its mime_type",
            type_name="Media",
        ) from exc


def _text(results: object) -> str:
    if isinstance(results, SpooledArtifact):
        return results.text()
    return cast("Tokenizable", results).text


def answer_value(results: object, note: Fields, dialect: Dialect) -> object:
    """Return the answer that *results* were read from.

    Args:
        results: The results of a call.
        note: What `ResultsReader` noted, or nothing.
        dialect: How the format writes parts.

    Raises:
        UnencodableValueError: If they are no JSON any more, and have to be.
        HomelessError: If a message has no place for one of the media.
        HandleError: If bytes are gone, changed or out of reach.
    """
    content = answered(results, note)
    if note.get("json") is True:
        try:
            return json.loads(content.text)
        except (ValueError, RecursionError) as exc:
            msg = f"the results of a call must be JSON, as they were: {exc}"
            raise UnencodableValueError(msg, type_name="ToolCall") from exc
    value = content_value(content, dialect)
    entries = as_list(value) or []
    return entries[0] if note.get("single") is True and len(entries) == 1 else value
