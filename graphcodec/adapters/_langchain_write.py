"""From a conversation to messages of LangChain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from attrs import define, field

from graphcodec.adapters._contents import Content, content_value, parts_list, parts_of
from graphcodec.adapters._langchain_forms import closed
from graphcodec.adapters._langchain_parts import DIALECT, unwrapped
from graphcodec.adapters._langchain_read import KEY, REASONS, THINKING, USUAL
from graphcodec.adapters._notes import (
    Fields,
    as_fields,
    as_list,
    as_name,
    count_of,
    fields_of,
    restored,
)
from graphcodec.adapters._results import answer_value
from graphcodec.adapters._writer import FIRST, Writer

if TYPE_CHECKING:
    from graphcodec.primitives import Message, Thought, ToolCall

_LAST: Final = float("inf")


@define
class _Turn:
    """A message that is being written.

    Attributes:
        position: Where it stood.
        role: Who says it.
        note: What was noted of it.
        placed: What the graph says of it beside content and calls.
        blocks: Its blocks, or the text that is all of it, by where they stood.
        calls: Its tool calls.
        whole: All fields, of a message that is not put together.
    """

    position: int
    role: str = ""
    note: Fields = field(factory=dict[str, object])
    placed: dict[str, object] = field(factory=dict[str, object])
    blocks: list[tuple[float, object]] = field(factory=list[tuple[float, object]])
    calls: list[object] = field(factory=list[object])
    whole: dict[str, object] | None = None

    def add(self, note: Fields, block: object) -> None:
        """Add a block, or several, or a text."""
        index = count_of(note, "block")
        self.blocks.append((_LAST if index is None else index, block))

    def message(self) -> dict[str, object]:
        """Return the whole message."""
        outer = fields_of(self.note, "outer")
        if self.whole is not None:
            return closed(self.whole, outer)
        blocks = [block for _, block in sorted(self.blocks, key=lambda each: each[0])]
        data: dict[str, object] = {"content": self._content(blocks)}
        data["type"] = as_name(self.note.get("type")) or USUAL[self.role]
        data |= self.placed
        if self.calls:
            data["tool_calls"] = self.calls
        return closed(restored(self.note, data), outer)

    def _content(self, blocks: list[object]) -> object:
        if self.note.get("form") != "list" and len(blocks) < 2:  # noqa: PLR2004
            return unwrapped(blocks[0]) if blocks else ""
        found: list[object] = []
        for block in blocks:
            if isinstance(block, str):
                found.append({"type": "text", "text": block})
            else:
                found += as_list(block) or [block]
        return unwrapped(found)


class LangchainWriter(Writer[_Turn]):
    """Writes one conversation."""

    key = KEY
    name = "LangChain"
    _current: _Turn | None = None

    def write(self) -> list[object] | dict[str, object]:
        """Return the messages, or the mapping that had them.

        Raises:
            UnencodableValueError: If something has no place in them.
            HandleError: If bytes are gone, changed or out of reach.
        """
        self._turns: dict[int, _Turn] = {}
        messages: list[object] = [turn.message() for turn in self._write()]
        is_list = not self._note or self._note.get("form") == "list"
        return messages if is_list else restored(self._note, {"messages": messages})

    def _turn(self, note: Fields, role: str) -> _Turn:
        """Return the message that something belongs to, a new one if there is none."""
        position = self._place(note)
        is_noted = "at" in note
        found = self._turns.get(position) if is_noted else self._current
        fits = found is not None and found.role == role == "assistant"
        if found is None or not (is_noted or fits):
            found = _Turn(position, role)
            self._add(position, found)
            if is_noted:
                self._turns[position] = found
        found.note = found.note or fields_of(note, "message")
        self._current = found
        return found

    def _instruct(self, text: str, note: Fields) -> None:
        content = unwrapped(content_value(Content(text, (), parts_of(note)), DIALECT))
        kind = as_name(note.get("type")) or "system"
        data = restored(note, {"content": content, "type": kind})
        position = count_of(note, "at")
        place = FIRST if position is None else position
        self._add(place, _Turn(place, note=note, whole=data))

    def _keep(self, position: int, entry: Fields) -> None:
        message, block = as_fields(entry.get("message")), entry.get("kept")
        if message is not None:
            self._add(position, _Turn(position, note=entry, whole=dict(message)))
        elif block is not None and (turn := self._turns.get(position)) is not None:
            turn.add(entry, block)

    def _say(self, message: Message, note: Fields) -> None:
        if "at" not in note:
            self._current = None
        turn = self._turn(note, message.role)
        text = "" if message.content is None else message.content.text
        content = Content(text, message.attachments, parts_of(note))
        is_list = turn.note.get("form") == "list"
        written = (parts_list if is_list else content_value)(content, DIALECT)
        turn.add(note, written)
        speaker = message.identity.representation.text
        if speaker != message.role:
            turn.placed["name"] = speaker

    def _think(self, thought: Thought, note: Fields) -> None:
        payload = as_fields(thought.payload) or {}
        if thought.replay_compatibility not in (None, THINKING):
            raise self._homeless("a Thought with the payload of another format")
        signature = payload.get("signature")
        kind = as_name(note.get("type")) or "reasoning"
        block: dict[str, object] = {"type": kind}
        if thought.content.text:
            block[REASONS.get(kind, kind)] = thought.content.text
        if signature is not None:
            block["signature"] = signature
        self._turn(note, "assistant").add(note, restored(note, block))

    def _call(self, call: ToolCall, note: Fields) -> None:
        written: dict[str, object] = {"name": call.tool, "args": {**call.args}}
        written |= {"id": call.id, "type": "tool_call"}
        turn = self._turn(note, "assistant")
        turn.calls.append(restored(note, written))
        if call.is_complete:
            given = fields_of(note, "fields").get("id", call.id)
            self._answer(call, given, fields_of(note, "answer"), turn.position)

    def _answer(self, call: ToolCall, given: object, note: Fields, asked: int) -> None:
        data: dict[str, object] = {"content": answer_value(call.results, note, DIALECT)}
        data["type"] = as_name(note.get("type")) or "tool"
        data["tool_call_id"] = given
        data["status"] = "error" if call.is_error else "success"
        position = self._place_answer(note, asked)
        whole = restored(note, data)
        self._add(position, _Turn(position, note=note, whole=whole))
