"""From a conversation to the chat format."""

from __future__ import annotations

from typing import Final, cast

from attrs import define, field

from graphcodec.adapters._notes import (
    Fields,
    as_fields,
    as_name,
    count_of,
    fields_of,
    list_of,
    restored,
    stash_note,
)
from graphcodec.adapters._openai_calls import written_call
from graphcodec.adapters._openai_parts import (
    JOINER,
    Content,
    content_value,
    parts_of,
)
from graphcodec.adapters._openai_read import NAME
from graphcodec.errors import GraphCodecError, UnencodableValueError
from graphcodec.primitives import (
    Conversation,
    Message,
    SpooledArtifact,
    Tokenizable,
    ToolCall,
)

_TOP: Final = -1
_LEAVE_OUT: Final = "leave it out: conversation.replace(...) makes a copy without it"


@define
class _Group:
    """A message of the assistant that may still get tool calls.

    Attributes:
        position: Where it stood in the chat.
        note: What was noted of it.
        placed: What the graph says of it.
        calls: Its tool calls.
    """

    position: int
    note: Fields
    placed: dict[str, object]
    calls: list[object] = field(factory=list[object])

    def message(self) -> dict[str, object]:
        """Return the whole message."""
        placed = (
            {**self.placed, "tool_calls": self.calls} if self.calls else self.placed
        )
        return restored(self.note, placed)


class ChatWriter:
    """Writes one conversation.

    Items go where they stood in the chat. What was added since follows the item before
    it, and so does a second chat behind the first: its places are moved.

    Args:
        conversation: The conversation.
    """

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._note = stash_note(conversation.stash, NAME)
        self._entries: list[tuple[int, dict[str, object] | _Group]] = []
        self._group: _Group | None = None
        self._cursor = 0
        self._latest = 0
        self._shift = 0

    def write(self) -> dict[str, object]:
        """Return the chat.

        Raises:
            UnencodableValueError: If something has no place in it.
        """
        if self._conversation.memories:
            raise _homeless("Memory", "$.memories")
        self._instructions()
        for index, item in enumerate(self._conversation.items):
            try:
                self._item(item)
            except GraphCodecError as exc:
                exc.at(f"$.items[{index}]")
                raise
        for entry in list_of(self._note, "kept"):
            kept = as_fields(entry) or {}
            if (message := as_fields(kept.get("message"))) is not None:
                self._add(count_of(kept, "at") or 0, dict(message))
        # Sorting is stable: what has one place stays in the order of the items.
        self._entries.sort(key=lambda entry: entry[0])
        messages = [
            entry.message() if isinstance(entry, _Group) else entry
            for _, entry in self._entries
        ]
        return restored(self._note, {"messages": messages})

    def _add(self, position: int, message: dict[str, object] | _Group) -> None:
        self._entries.append((position, message))

    def _instructions(self) -> None:
        notes = list_of(self._note, "instructions")
        for index, text in enumerate(self._conversation.instructions):
            note = as_fields(notes[index]) if index < len(notes) else None
            note = note or {}
            position = count_of(note, "at")
            content = content_value(Content(text.text, (), parts_of(note)))
            role = as_name(note.get("role")) or "system"
            message = restored(note, {"role": role, "content": content})
            self._add(_TOP if position is None else position, message)

    def _item(self, item: object) -> None:
        match item:
            case Message():
                self._say(item)
            case ToolCall():
                self._call(item)
            case _:
                raise _homeless(type(item).__name__, "")

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

    def _say(self, message: Message) -> None:
        note = stash_note(message.stash, NAME)
        position = self._place(note)
        text = "" if message.content is None else message.content.text
        content = Content(text, message.attachments, parts_of(note))
        placed: dict[str, object] = {"role": message.role}
        placed["content"] = content_value(content)
        name = message.identity.representation.text
        if name != message.role:
            placed["name"] = name
        group = _Group(position, note, placed)
        self._add(position, group)
        self._group = group if message.role == "assistant" else None

    def _call(self, call: ToolCall) -> None:
        note = stash_note(call.stash, NAME)
        position = self._place(note)
        group = self._group
        if group is None or group.position != position:
            first = as_fields(note.get("message"))
            placed: dict[str, object] = {"role": "assistant"}
            if first is None:
                placed["content"] = None
            group = self._group = _Group(position, first or {}, placed)
            self._add(position, group)
        rest = fields_of(note, "call")
        group.calls.append(written_call(call.id, call.tool, call.args, rest))
        if call.is_complete:
            self._answer(call, fields_of(note, "answer"), position)

    def _answer(self, call: ToolCall, note: Fields, asked: int) -> None:
        text = _result_text(call.results)
        noted = count_of(note, "at")
        position = asked if noted is None else noted + self._shift
        self._latest = max(self._latest, position)
        rest = fields_of(fields_of(stash_note(call.stash, NAME), "call"), "fields")
        placed: dict[str, object] = {"role": "tool"}
        placed["tool_call_id"] = rest.get("id", call.id)
        if text or not note:
            placed["content"] = content_value(Content(text, (), parts_of(note)))
        self._add(position, restored(note, placed))


def _result_text(results: object) -> str:
    match results:
        case Tokenizable():
            return results.text
        case SpooledArtifact():
            return results.text()
        case tuple():
            return JOINER.join(map(_result_text, cast("tuple[object, ...]", results)))
        case _:
            raise _homeless("media that a tool gave back", "")


def _homeless(what: str, path: str) -> UnencodableValueError:
    msg = f"the chat format has no place for {what}"
    return UnencodableValueError(msg, path=path, hint=_LEAVE_OUT)
