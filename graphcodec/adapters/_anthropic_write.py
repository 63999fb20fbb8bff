"""From a conversation to the Messages API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphcodec.adapters._anthropic_parts import DIALECT, THINKING
from graphcodec.adapters._anthropic_read import ANSWER, CALL, KEY, ROLES, joiner_of
from graphcodec.adapters._contents import Content, content_value, parts_list, parts_of
from graphcodec.adapters._notes import (
    Fields,
    as_fields,
    as_list,
    as_name,
    count_of,
    fields_of,
    restored,
)
from graphcodec.adapters._results import answer_value, answered
from graphcodec.adapters._turns import Turn, TurnWriter

if TYPE_CHECKING:
    from graphcodec.primitives import Message, Retrievable, Thought, ToolCall


class _Turn(Turn):
    """A message of blocks, or of a text that is all of it."""

    piece = "block"

    def _made_of(self, pieces: list[object]) -> dict[str, object]:
        return {"role": self.role, "content": _joined(pieces)}


def _joined(blocks: list[object]) -> object:
    """Return the text that is all, or one list of all blocks."""
    if len(blocks) == 1 and isinstance(blocks[0], str):
        return blocks[0]
    found: list[object] = []
    for block in blocks:
        if isinstance(block, str):
            found.append({"type": "text", "text": block})
        else:
            found += as_list(block) or [block]
    return found


class MessagesWriter(TurnWriter[_Turn]):
    """Writes one conversation."""

    key = KEY
    name = "the Messages API"
    turn = _Turn

    def write(self) -> dict[str, object]:
        """Return the request, or the message.

        Raises:
            UnencodableValueError: If something has no place in it.
            HandleError: If bytes are gone, changed or out of reach.
        """
        self._system: list[object] = []
        messages = [turn.message() for turn in self._write()]
        if self._note.get("form") == "message" and len(messages) == 1:
            return messages[0]
        tops = {"system": _joined(self._system)} if self._system else {}
        return restored(self._note, {**tops, "messages": messages})

    def _instruct(self, text: str, note: Fields) -> None:
        content = content_value(Content(text, (), parts_of(note)), DIALECT)
        position = count_of(note, "at")
        if position is None:
            self._system.append(content)
            return
        turn = _Turn(position, "system", {**note})
        turn.pieces.append((0, content))
        self._add(position, turn)

    def _keep(self, position: int, entry: Fields) -> None:
        message, block = as_fields(entry.get("message")), as_fields(entry.get("kept"))
        if message is not None:
            self._add(position, _Turn(position, "", whole=dict(message)))
        role = as_name(entry.get("role")) or ""
        if block is not None and role in ROLES:
            self._turn(position, role, is_noted=True).add(entry, dict(block))

    def _say(self, message: Message, note: Fields) -> None:
        position = self._place(note)
        is_noted = "at" in note
        self._say_anew(note)
        if not is_noted and message.role == "user":
            self._current = None
        turn = self._turn(position, message.role, is_noted=is_noted)
        text = "" if message.content is None else message.content.text
        joiner = joiner_of(message.role)
        content = Content(text, message.attachments, parts_of(note), joiner)
        turn.add(note, content_value(content, DIALECT))

    def _think(self, thought: Thought, note: Fields) -> None:
        payload = as_fields(thought.payload) or {}
        data, signature = as_name(payload.get("data")), payload.get("signature")
        is_ours = thought.replay_compatibility == THINKING or (
            thought.payload is None and "at" in note
        )
        if not is_ours:
            raise self._homeless("a Thought without a signature of its own")
        self._say_anew(note)
        kind = "redacted_thinking" if data else "thinking"
        block: dict[str, object] = {"type": as_name(note.get("type")) or kind}
        if block["type"] == "redacted_thinking":
            block["data"] = data or ""
        else:
            block["thinking"] = thought.content.text
            block["signature"] = signature or ""
        self._put(note, "assistant", restored(note, block))

    def _put(self, note: Fields, role: str, piece: object) -> _Turn:
        return super()._put(note, as_name(note.get("role")) or role, piece)

    def _call(self, call: ToolCall, note: Fields) -> None:
        kind = as_name(note.get("type")) or CALL
        block = {"type": kind, "id": call.id, "name": call.tool, "input": {**call.args}}
        turn = self._put(note, "assistant", restored(note, block))
        if call.is_complete:
            given = fields_of(note, "fields").get("id", call.id)
            self._answer(call, fields_of(note, "answer"), turn, given)

    def _answer(
        self, call: ToolCall, note: Fields, asked: _Turn, given: object
    ) -> None:
        kind = as_name(note.get("type")) or ANSWER
        value = answer_value(call.results, note, DIALECT)
        block: dict[str, object] = {"type": kind, "tool_use_id": given}
        block["content"] = value
        if call.is_error and note.get("says_error") is not True:
            block["is_error"] = True
        position = self._place_answer(note, asked.position)
        if "at" in note:
            role = as_name(note.get("role")) or "user"
            key = (position, role)
            if key not in self._turns:
                self._turns[key] = self._open(position, role)
            turn = self._turns[key]
        else:
            turn = asked.answers = asked.answers or self._open(position, "user")
        turn.add(note, restored(note, block))

    def _look_up(self, passage: Retrievable, note: Fields) -> None:
        text = answered(passage.content, {}).text
        source = passage.source or passage.id
        block: dict[str, object] = {"type": "search_result"}
        if "at" not in note:
            block |= {"source": source, "title": source}
        elif passage.source is not None:
            block["source"] = passage.source
        block["content"] = parts_list(Content(text, (), parts_of(note)), DIALECT)
        self._put(note, "user", restored(note, block))
