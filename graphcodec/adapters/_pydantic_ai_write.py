"""From a conversation to messages of Pydantic AI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphcodec.adapters._arguments import written_arguments
from graphcodec.adapters._contents import Content, content_value, media_part, parts_of
from graphcodec.adapters._notes import (
    Fields,
    as_fields,
    as_name,
    count_of,
    fields_of,
    restored,
)
from graphcodec.adapters._pydantic_ai_parts import DIALECT, all_unwrapped, unwrapped
from graphcodec.adapters._pydantic_ai_read import KEY, THINKING
from graphcodec.adapters._results import answer_value
from graphcodec.adapters._turns import Turn, TurnWriter
from graphcodec.adapters._writer import FIRST

if TYPE_CHECKING:
    from graphcodec.primitives import Message, Thought, ToolCall


class _Turn(Turn):
    """A request or a response, of parts."""

    piece = "part"

    def _made_of(self, pieces: list[object]) -> dict[str, object]:
        return {"parts": pieces, "kind": self.role}


class PydanticAiWriter(TurnWriter[_Turn]):
    """Writes one conversation."""

    key = KEY
    name = "Pydantic AI"
    turn = _Turn

    def write(self) -> list[object]:
        """Return the messages.

        Raises:
            UnencodableValueError: If something has no place in them.
            HandleError: If bytes are gone, changed or out of reach.
        """
        return [turn.message() for turn in self._write()]

    def _instruct(self, text: str, note: Fields) -> None:
        if note.get("from") == "instructions":
            # The requests have them, among their own fields.
            return
        part = restored(note, {"content": text, "part_kind": "system-prompt"})
        position = count_of(note, "at")
        place = FIRST if position is None else position
        self._turn(place, "request", is_noted=True).add(note, part)

    def _keep(self, position: int, entry: Fields) -> None:
        message, part = as_fields(entry.get("message")), as_fields(entry.get("kept"))
        if message is not None:
            self._add(position, _Turn(position, "", whole=dict(message)))
        elif part is not None:
            kind = as_name(entry.get("kind")) or "request"
            self._turn(position, kind, is_noted=True).add(entry, dict(part))

    def _say(self, message: Message, note: Fields) -> None:
        text = "" if message.content is None else message.content.text
        content = Content(text, message.attachments, parts_of(note))
        self._say_anew(note)
        if message.role == "user":
            if "at" not in note:
                self._current = None
            value = all_unwrapped(content_value(content, DIALECT))
            part = restored(note, {"content": value, "part_kind": "user-prompt"})
            self._put(note, "request", part)
            return
        if text:
            part = {"content": text, "part_kind": "text"}
            self._put(note, "response", restored(note, part))
        notes = [each for each in content.parts or () if "media" in each]
        for index, media in enumerate(message.attachments):
            rest = notes[index] if index < len(notes) else {}
            item = unwrapped(media_part(media, rest, DIALECT))
            part = {"content": item, "part_kind": "file"}
            self._put(note, "response", restored(note, part))

    def _think(self, thought: Thought, note: Fields) -> None:
        if thought.replay_compatibility not in (None, THINKING):
            raise self._homeless("a Thought with the payload of another format")
        self._say_anew(note)
        signature = (as_fields(thought.payload) or {}).get("signature")
        part: dict[str, object] = {"content": thought.content.text}
        if signature is not None:
            part["signature"] = signature
        part["part_kind"] = "thinking"
        self._put(note, "response", restored(note, part))

    def _call(self, call: ToolCall, note: Fields) -> None:
        kind = as_name(note.get("kind")) or "tool-call"
        spelled = note if "at" in note else {"spelling": "dict"}
        part: dict[str, object] = {"tool_name": call.tool}
        part["args"] = written_arguments(call.args, spelled)
        part |= {"tool_call_id": call.id, "part_kind": kind}
        turn = self._put(note, "response", restored(note, part))
        if call.is_complete:
            self._answer(call, fields_of(note, "answer"), turn)

    def _answer(self, call: ToolCall, note: Fields, asked: _Turn) -> None:
        kind = as_name(note.get("kind")) or "tool-return"
        value = answer_value(call.results, note, DIALECT)
        if note.get("json") is not True and not isinstance(value, str):
            value = all_unwrapped(value)
        part: dict[str, object] = {"tool_name": call.tool, "content": value}
        part["tool_call_id"] = call.id
        if kind != "retry-prompt":
            part["outcome"] = "failed" if call.is_error else "success"
        part["part_kind"] = kind
        position = self._place_answer(note, asked.position)
        if "at" in note:
            where = "response" if kind == "builtin-tool-return" else "request"
            current = self._current
            turn = self._turn(position, where, is_noted=True)
            self._current = current
        else:
            if asked.answers is None:
                asked.answers = self._open(position, "request")
            turn = asked.answers
        turn.add(note, restored(note, part))
