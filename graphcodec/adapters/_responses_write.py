"""From a conversation to the Responses API."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from attrs import define, field

from graphcodec.adapters._arguments import written_arguments
from graphcodec.adapters._contents import (
    Content,
    content_value,
    parts_list,
    parts_of,
)
from graphcodec.adapters._notes import (
    Fields,
    Note,
    as_fields,
    as_list,
    as_name,
    count_of,
    fields_of,
    restored,
)
from graphcodec.adapters._responses_items import (
    ANSWER_OF,
    ANSWERS,
    CALLS,
    FUNCTION,
    REASONING,
    CallKind,
)
from graphcodec.adapters._responses_parts import DIALECT
from graphcodec.adapters._responses_read import KEY
from graphcodec.adapters._results import answer_value, answered
from graphcodec.adapters._writer import FIRST, Writer
from graphcodec.primitives import Media

if TYPE_CHECKING:
    from graphcodec.primitives import Message, Retrievable, Thought, ToolCall


@define
class _Search:
    """A search whose results are passages that follow it.

    Attributes:
        position: Where it stood.
        note: What was noted of it.
        placed: What the graph says of it.
        results: The results, by where they stood among them.
    """

    position: int
    note: Fields
    placed: dict[str, object]
    results: list[object] = field(factory=list[object])

    def item(self) -> dict[str, object]:
        """Return the whole item."""
        return restored(self.note, {**self.placed, "results": self.results})


_Entry: TypeAlias = dict[str, object] | _Search


class ResponsesWriter(Writer[_Entry]):
    """Writes one conversation."""

    key = KEY
    name = "the Responses API"
    _search: _Search | None = None
    _instructions: str | None = None

    def write(self) -> dict[str, object]:
        """Return the request or response.

        Raises:
            UnencodableValueError: If something has no place in it.
            HandleError: If bytes are gone, changed or out of reach.
        """
        items: object = [
            entry.item() if isinstance(entry, _Search) else entry
            for entry in self._write()
        ]
        if self._note.get("text") is True:
            items = _as_text(items)
        section = "output" if self._note.get("section") == "output" else "input"
        said = self._instructions
        tops: dict[str, object] = {} if said is None else {"instructions": said}
        return restored(self._note, {**tops, section: items})

    def _instruct(self, text: str, note: Fields) -> None:
        if note.get("from") == "instructions" and self._instructions is None:
            self._instructions = text
            return
        position = count_of(note, "at")
        content = content_value(Content(text, (), parts_of(note)), DIALECT)
        placed: dict[str, object] = {}
        if position is not None:
            placed |= {"id": note.get("id"), "type": "message"}
        role = as_name(note.get("role")) or "system"
        placed |= {"role": role, "content": content}
        self._add(FIRST if position is None else position, restored(note, placed))

    def _keep(self, position: int, entry: Fields) -> None:
        if (item := as_fields(entry.get("kept"))) is not None:
            self._add(position, dict(item))

    def _say(self, message: Message, note: Fields) -> None:
        text = "" if message.content is None else message.content.text
        content = Content(text, message.attachments, parts_of(note))
        placed: dict[str, object] = {}
        if "at" in note:
            placed |= {"id": message.id, "type": "message"}
        placed |= {"role": message.role, "content": content_value(content, DIALECT)}
        self._add(self._place(note), restored(note, placed))

    def _think(self, thought: Thought, note: Fields) -> None:
        payload = as_fields(thought.payload) or {}
        sealed = as_name(payload.get("encrypted_content"))
        if thought.payload is not None and (
            sealed is None or thought.replay_compatibility != REASONING
        ):
            raise self._homeless("a Thought of another vendor")
        key = "content" if note.get("key") == "content" else "summary"
        kind = "reasoning_text" if key == "content" else "summary_text"
        placed: dict[str, object] = {"id": thought.id, "type": "reasoning"}
        text = thought.content.text
        parts = parts_of(note)
        if parts is None and text:
            usual: Note = {"text": len(text), "type": kind}
            parts = [usual]
        placed[key] = parts_list(Content(text, (), parts), DIALECT)
        if sealed:
            placed["encrypted_content"] = sealed
        self._add(self._place(note), restored(note, placed))

    # Calls

    def _call(self, call: ToolCall, note: Fields) -> None:
        position = self._place(note)
        kind = as_name(note.get("type")) or FUNCTION
        how = CALLS.get(kind)
        if how is None or (how.tool and how.tool != call.tool):
            kind, how, note = FUNCTION, CALLS[FUNCTION], dict[str, object]()
        placed: dict[str, object] = {"type": kind, how.given: call.id}
        placed |= {} if how.tool else {"name": call.tool}
        if how.text:
            placed[how.text] = written_arguments(call.args, note)
        else:
            placed |= self._args(call, how)
        answer = fields_of(note, "answer")
        if not how.is_hosted:
            self._add(position, restored(note, placed))
            if call.is_complete:
                given = fields_of(note, "fields").get(how.given, call.id)
                self._answer(call, kind, answer, position, given)
            return
        if how.result == "results" and call.is_complete:
            self._search = _Search(position, note, placed)
            self._add(position, self._search)
            return
        if call.is_complete and how.result:
            placed[how.result] = self._result(call.results, answer, how)
        self._add(position, restored(note, placed))

    def _result(self, results: object, note: Fields, how: CallKind) -> object:
        if how.tool == "image_generation" and isinstance(results, Media):
            return results.as_base64()
        return answer_value(results, note, DIALECT)

    def _args(self, call: ToolCall, how: CallKind) -> dict[str, object]:
        for name in call.args:
            if name not in how.args:
                raise self._homeless(f"the argument {name!r} of {call.tool}")
        return {key: call.args[key] for key in how.args if key in call.args}

    def _answer(
        self, call: ToolCall, asked: str, note: Fields, place: int, given: object
    ) -> None:
        usual = ANSWER_OF.get(asked, f"{asked}_output")
        kind = as_name(note.get("type")) or usual
        if kind not in ANSWERS:
            kind = usual
        by = "id" if note.get("by") == "id" else "call_id"
        value = answer_value(call.results, note, DIALECT)
        placed: dict[str, object] = {"type": kind, by: given, ANSWERS[kind]: value}
        position = self._place_answer(note, place)
        self._add(position, restored(note, placed))

    def _look_up(self, passage: Retrievable, note: Fields) -> None:
        position = self._place(note)
        search = self._search
        if search is None or search.position != position or "result" not in note:
            raise self._homeless("a Retrievable")
        placed: dict[str, object] = {}
        placed |= {} if passage.source is None else {"filename": passage.source}
        placed |= {} if passage.score is None else {"score": passage.score}
        content = answered(passage.content, {})
        search.results.append(restored(note, {**placed, "text": content.text}))


def _as_text(items: object) -> object:
    """Return the text that *items* are short for, if they still are."""
    entries = as_list(items) or []
    only = as_fields(entries[0]) if len(entries) == 1 else None
    text = "" if only is None else only.get("content")
    if only is not None and only != {"role": "user", "content": text}:
        return items
    return text if isinstance(text, str) and len(entries) <= 1 else items
