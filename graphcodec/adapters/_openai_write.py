"""From a conversation to the chat format."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from attrs import define, field

from graphcodec.adapters._contents import Content, content_value, parts_of
from graphcodec.adapters._notes import (
    Fields,
    as_fields,
    as_name,
    count_of,
    fields_of,
    restored,
    stash_note,
)
from graphcodec.adapters._openai_calls import written_call, written_function
from graphcodec.adapters._openai_parts import DIALECT
from graphcodec.adapters._openai_read import CHOICES, KEY
from graphcodec.adapters._results import answered
from graphcodec.adapters._writer import FIRST, Writer

if TYPE_CHECKING:
    from graphcodec.primitives import Message, ToolCall


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

    @property
    def is_legacy(self) -> bool:
        """Whether its call is written as there was one for each message."""
        return "function_call" in self.placed

    def message(self) -> dict[str, object]:
        """Return the whole message."""
        placed = (
            {**self.placed, "tool_calls": self.calls} if self.calls else self.placed
        )
        return restored(self.note, placed)


_Entry: TypeAlias = dict[str, object] | _Group


class ChatWriter(Writer[_Entry]):
    """Writes one conversation."""

    key = KEY
    name = "the chat format"
    _group: _Group | None = None

    def write(self) -> dict[str, object]:
        """Return the chat, or the response.

        Raises:
            UnencodableValueError: If something has no place in it.
            HandleError: If bytes are gone, changed or out of reach.
        """
        messages = [
            entry.message() if isinstance(entry, _Group) else entry
            for entry in self._write()
        ]
        if self._note.get("section") == CHOICES and len(messages) == 1:
            choice = restored(fields_of(self._note, "choice"), {"message": messages[0]})
            return restored(self._note, {CHOICES: [choice]})
        return restored(self._note, {"messages": messages})

    def _instruct(self, text: str, note: Fields) -> None:
        position = count_of(note, "at")
        content = content_value(Content(text, (), parts_of(note)), DIALECT)
        role = as_name(note.get("role")) or "system"
        message = restored(note, {"role": role, "content": content})
        self._add(FIRST if position is None else position, message)

    def _keep(self, position: int, entry: Fields) -> None:
        if (message := as_fields(entry.get("message"))) is not None:
            self._add(position, dict(message))

    def _say(self, message: Message, note: Fields) -> None:
        position = self._place(note)
        text = "" if message.content is None else message.content.text
        content = Content(text, message.attachments, parts_of(note))
        placed: dict[str, object] = {"role": message.role}
        placed["content"] = content_value(content, DIALECT)
        name = message.identity.representation.text
        if name != message.role:
            placed["name"] = name
        group = _Group(position, note, placed)
        self._add(position, group)
        self._group = group if message.role == "assistant" else None

    def _call(self, call: ToolCall, note: Fields) -> None:
        position = self._place(note)
        group = self._group
        # A message has one call in the old way, or any number in the new one.
        if group is None or group.position != position or group.is_legacy:
            first = as_fields(note.get("message"))
            placed: dict[str, object] = {"role": "assistant"}
            if first is None:
                placed["content"] = None
            group = self._group = _Group(position, first or {}, placed)
            self._add(position, group)
        is_legacy = "function_call" in note and not group.calls
        if is_legacy:
            rest = fields_of(note, "function_call")
            function = written_function(call.tool, call.args, rest)
            group.placed = {**group.placed, "function_call": function}
        else:
            rest = fields_of(note, "call")
            group.calls.append(written_call(call.id, call.tool, call.args, rest))
        if call.is_complete:
            answer = fields_of(note, "answer")
            by = self._named(call, is_legacy=is_legacy)
            self._answer(call, answer, position, by)

    def _named(self, call: ToolCall, *, is_legacy: bool) -> dict[str, object]:
        """Return who answers, and how the answer names the call."""
        if is_legacy:
            return {"role": "function", "name": call.tool}
        rest = fields_of(fields_of(stash_note(call.stash, self.key), "call"), "fields")
        return {"role": "tool", "tool_call_id": rest.get("id", call.id)}

    def _answer(
        self, call: ToolCall, note: Fields, asked: int, placed: dict[str, object]
    ) -> None:
        content = answered(call.results, note)
        if content.media:
            raise self._homeless("media that a tool gave back", content.media)
        position = self._place_answer(note, asked)
        if content.text or not note:
            placed["content"] = content_value(content, DIALECT)
        self._add(position, restored(note, placed))
