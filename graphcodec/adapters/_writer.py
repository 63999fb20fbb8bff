"""Conversations on their way out: what all writers of formats do alike.

Items go where they stood in what was read. What was added since follows the item before
it, and so does a second conversation behind the first: its places are moved.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final, Generic, TypeVar

from graphcodec.adapters._homeless import (
    MEMORIES,
    HomelessError,
    Item,
    LeftOut,
    left_of,
    lightened,
    no_place,
)
from graphcodec.adapters._notes import (
    Fields,
    as_fields,
    count_of,
    list_of,
    stash_note,
)
from graphcodec.errors import GraphCodecError
from graphcodec.primitives import (
    Conversation,
    Media,
    Message,
    Retrievable,
    Thought,
    ToolCall,
)

T = TypeVar("T")

FIRST: Final = -1
"""The place before all others."""

_LEAVE_OUT: Final = "leave it out, with --leave-out or graphcodec.adapters.fitted"


class Writer(ABC, Generic[T]):
    """Writes one conversation, as entries with places.

    Args:
        conversation: The conversation.
    """

    key: str
    """What the notes are called in stashes."""

    name: str
    """What to call the format in an error."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._note = stash_note(conversation.stash, self.key)
        self._entries: list[tuple[int, T]] = []
        self._cursor = 0
        self._latest = 0
        self._shift = 0
        self._first: HomelessError | None = None
        self._left: list[LeftOut] = []

    @abstractmethod
    def _instruct(self, text: str, note: Fields) -> None:
        """Write what the developer says."""

    @abstractmethod
    def _say(self, message: Message, note: Fields) -> None:
        """Write what somebody says."""

    @abstractmethod
    def _call(self, call: ToolCall, note: Fields) -> None:
        """Write a call, and its answer if there is one."""

    @abstractmethod
    def _keep(self, position: int, entry: Fields) -> None:
        """Write what was kept."""

    def _think(self, thought: Thought, note: Fields) -> None:
        """Write what a model reasoned."""
        del thought, note
        raise self._homeless("a Thought")

    def _look_up(self, passage: Retrievable, note: Fields) -> None:
        """Write a passage."""
        del passage, note
        raise self._homeless("a Retrievable")

    def _write(self) -> list[T]:
        """Return the entries in order.

        Raises:
            NoPlaceError: If something has no place in the format; names all of it.
            UnencodableValueError: If something can't be written for another reason.
            HandleError: If bytes are gone, changed or out of reach.
        """
        if self._conversation.memories:
            what = "memories" if len(self._conversation.memories) > 1 else "a Memory"
            self._refuse(self._homeless(what), [LeftOut(what, MEMORIES)])
        notes = list_of(self._note, "instructions")
        for index, text in enumerate(self._conversation.instructions):
            note = as_fields(notes[index]) if index < len(notes) else None
            self._instruct(text.text, note or {})
        for index, item in enumerate(self._conversation.items):
            path = f"$.items[{index}]"
            try:
                self._try(item, path)
            except GraphCodecError as exc:
                exc.at(path)
                raise
        if self._first is not None:
            raise no_place(self._first, self._left)
        for entry in list_of(self._note, "kept"):
            kept = as_fields(entry) or {}
            self._keep(count_of(kept, "at") or 0, kept)
        # Sorting is stable: what has one place stays in the order of the items.
        self._entries.sort(key=lambda entry: entry[0])
        return [entry for _, entry in self._entries]

    def _try(self, item: Item, path: str) -> None:
        """Write an item, or find all of it that has no place."""
        rest: Item | None = item
        while rest is not None:
            try:
                self._item(rest)
            except HomelessError as exc:
                found = list(left_of(exc, item, path))
                self._refuse(exc, found)
                gone = {each.path for each in self._left}
                rest = lightened(item, path, gone) if exc.media else None
            else:
                return

    def _refuse(self, found: HomelessError, left: list[LeftOut]) -> None:
        self._first = self._first or found
        self._left += left

    def _item(self, item: Item) -> None:
        note = stash_note(item.stash, self.key)
        match item:
            case Message():
                self._say(item, note)
            case ToolCall():
                self._call(item, note)
            case Thought():
                self._think(item, note)
            case _:
                self._look_up(item, note)

    def _add(self, position: int, entry: T) -> None:
        self._entries.append((position, entry))

    def _place(self, note: Fields) -> int:
        """Return where an item goes, by where it stood."""
        noted = count_of(note, "at")
        if noted is None:
            return self._latest
        if noted + self._shift < self._cursor:
            self._shift = self._latest + 1 - noted
        self._cursor = noted + self._shift
        self._latest = max(self._latest, self._cursor)
        return self._cursor

    def _place_answer(self, note: Fields, asked: int) -> int:
        """Return where an answer goes, by where it stood, or behind what was asked."""
        noted = count_of(note, "at")
        position = asked if noted is None else noted + self._shift
        self._latest = max(self._latest, position)
        return position

    def _homeless(self, what: str, media: tuple[Media, ...] = ()) -> HomelessError:
        return HomelessError(self.name, what, _LEAVE_OUT, media)
