"""What has no place in a format: found all at once, and left out if one wants that.

What is lost without harm to what was said, as the mark of a call that failed, is told
and no error.

Inside of a writer, a `HomelessError` is about one thing. The writer goes on, so that
the `NoPlaceError` that it raises in the end names all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from attrs import frozen

from graphcodec._paths import excerpt
from graphcodec.adapters._formats import FORMATS, Format
from graphcodec.adapters._notes import fields_of, stash_note
from graphcodec.errors import InvalidValueError, NoPlaceError
from graphcodec.primitives import (
    Media,
    Message,
    Retrievable,
    Thought,
    Tokenizable,
    ToolCall,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from graphcodec.primitives import Conversation

Item: TypeAlias = Message | ToolCall | Thought | Retrievable

MEMORIES: Final = "$.memories"


class HomelessError(Exception):
    """Something has no place in a format; never leaves a writer.

    Attributes:
        format: What to call the format.
        what: What it is.
        hint: What to do about it.
        media: The media that it is; empty if it is all of an item.
    """

    def __init__(
        self, format_: str, what: str, hint: str, media: tuple[Media, ...] = ()
    ) -> None:
        super().__init__(what)
        self.format = format_
        self.what = what
        self.hint = hint
        self.media = media


@frozen
class LeftOut:
    """Something that a format has no place for.

    Attributes:
        what: What it is: ``a Thought``, ``a video``, ``that a call failed``.
        path: Where it is in the conversation: ``$.items[3].attachments[0]``.
    """

    what: str
    path: str


def no_place(first: HomelessError, left: Sequence[LeftOut]) -> NoPlaceError:
    """Return the error about all that has no place.

    Args:
        first: What was found first.
        left: All that was found.
    """
    count = len(left) - 1
    more = f", nor for {count:,} more that it holds" if count else ""
    msg = f"{first.format} has no place for {first.what}{more}"
    error = NoPlaceError(msg, path=left[0].path, hint=first.hint)
    error.places = tuple((each.what, each.path) for each in left)
    return error


def left_of(found: HomelessError, item: Item, path: str) -> Iterator[LeftOut]:
    """Yield what has to go since something of an item has no place.

    Args:
        found: What it is.
        item: The item.
        path: Where the item is.
    """
    places = [
        place
        for place, media in _media_places(item, path)
        if any(media is each for each in found.media)
    ]
    yield from (LeftOut(found.what, place) for place in places or (path,))


def lightened(item: Item, path: str, without: Collection[str]) -> Item | None:
    """Return *item* without some of its media; None if there is nothing else to it.

    Args:
        item: The item.
        path: Where it is.
        without: Where the media are.
    """
    places = list(_media_places(item, path))
    stays = tuple(media for place, media in places if place not in without)
    if len(stays) == len(places):
        return item
    if isinstance(item, ToolCall):
        return item.replace(results=stays or Tokenizable(""))
    is_empty = isinstance(item, Message) and item.content is None and not stays
    return None if is_empty else item.replace(attachments=stays)


def _media_places(item: Item, path: str) -> Iterator[tuple[str, Media]]:
    match item:
        case Message():
            field, found = "attachments", item.attachments
        case ToolCall(results=Media() as only):
            yield f"{path}.results", only
            return
        case ToolCall(results=tuple() as several):
            field, found = "results", several
        case _:
            return
    for index, each in enumerate(found):
        if isinstance(each, Media):
            yield f"{path}.{field}[{index}]", each


def written(
    conversation: Conversation, format_: Format, *, leave_out: bool = True
) -> tuple[object, Conversation, tuple[LeftOut, ...]]:
    """Return what was written of a conversation, the rest of it, and what is left out.

    Args:
        conversation: The conversation.
        format_: The format.
        leave_out: Whether to go on without what the format has no place for.

    Raises:
        NoPlaceError: If there is such a thing, and that was not wanted.
        UnencodableValueError: If something can't be written for another reason.
        HandleError: If bytes are gone, changed or out of reach.
    """
    left: tuple[LeftOut, ...] = ()
    rest = conversation
    try:
        data = format_.write(conversation)
    except NoPlaceError as exc:
        if not leave_out:
            raise
        left = tuple(LeftOut(what, path) for what, path in exc.places)
        rest = _without(conversation, {each.path for each in left})
        data = format_.write(rest)
    unsaid = tuple(_unsaid(conversation, format_, {each.path for each in left}))
    if unsaid:
        items = [_unfailed(item, format_) for item in rest.items]
        rest = rest.replace(items=items)
    return data, rest, (*left, *unsaid)


def _unsaid(
    conversation: Conversation, format_: Format, gone: Collection[str]
) -> Iterator[LeftOut]:
    """Yield what is written without a word that its format has not."""
    for index, item in enumerate(conversation.items):
        path = f"$.items[{index}]"
        if path not in gone and _unfailed(item, format_) is not item:
            yield LeftOut("that a call failed", f"{path}.is_error")


def _unfailed(item: Item, format_: Format) -> Item:
    """Return an item as the format tells it: a call that failed may be one that ended.

    What was read from the format can say more than what is written anew.
    """
    if format_.tells_failures or not (isinstance(item, ToolCall) and item.is_error):
        return item
    note = stash_note(item.stash, format_.key)
    fields = [fields_of(each, "fields") for each in (note, fields_of(note, "answer"))]
    if any(each.get("status") == "failed" or each.get("error") for each in fields):
        return item
    return item.replace(is_error=False)


def fitted(
    conversation: Conversation, to: str
) -> tuple[Conversation, tuple[LeftOut, ...]]:
    """Return *conversation* without what a format has no place for, and what that is.

    A message that has nothing else goes with its media. A call that failed is one that
    was answered, if the format can't tell. The bytes of media are read.

    Args:
        conversation: The conversation; it stays as it is.
        to: The name of the format, such as ``openai-chat``.

    Raises:
        InvalidValueError: If there is no such format.
        UnencodableValueError: If something can't be written for another reason.
        HandleError: If bytes are gone, changed or out of reach.
    """
    format_ = FORMATS.get(to)
    if format_ is None:
        hint = f"there are {', '.join(FORMATS)}"
        raise InvalidValueError(f"there is no format {excerpt(to)}", hint=hint)
    _, rest, left = written(conversation, format_)
    return rest, left


def _without(conversation: Conversation, paths: Collection[str]) -> Conversation:
    """Return *conversation* without what is at some paths."""
    places = ((f"$.items[{i}]", item) for i, item in enumerate(conversation.items))
    found = [lightened(item, at, paths) for at, item in places if at not in paths]
    memories = () if MEMORIES in paths else conversation.memories
    items = [item for item in found if item is not None]
    return conversation.replace(items=items, memories=memories)
