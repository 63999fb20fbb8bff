"""From messages of Pydantic AI to a conversation."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from attrs import define

from graphcodec.adapters._arguments import read_arguments
from graphcodec.adapters._contents import Content, PartsReader
from graphcodec.adapters._draft import Draft
from graphcodec.adapters._notes import (
    Fields,
    Note,
    as_fields,
    as_list,
    as_name,
    noted,
    refused,
)
from graphcodec.adapters._pydantic_ai_parts import DIALECT, all_wrapped, wrapped
from graphcodec.adapters._results import ResultsReader

if TYPE_CHECKING:
    from graphcodec.primitives import Conversation

KEY: Final = "pydantic_ai"
"""The key of everything that this format has in a stash."""

THINKING: Final = "pydantic-ai-thinking-v1"
"""The wire shape of what only the vendor can read of a thought."""

KINDS: Final = ("request", "response")
ANSWER: Final = ("tool_name", "content", "tool_call_id", "outcome", "part_kind")
CALL: Final = ("tool_name", "args", "tool_call_id", "part_kind")
FAILURES: Final = frozenset({"failed", "denied", "interrupted", "retried"})


@define
class _Turn:
    """A message that is being read.

    Attributes:
        position: Where it stands.
        kind: Whether it is a request or a response.
        rest: What it has beside its kind and parts; it goes to what is read first.
        has_landed: Whether anything was.
    """

    position: int
    kind: str
    rest: Note
    has_landed: bool = False

    def note(self, index: int) -> Note:
        """Return the note on something that was made of a part."""
        note: Note = {"at": self.position, "part": index}
        if self.rest and not self.has_landed:
            note["message"] = self.rest
        self.has_landed = True
        return note

    def name(self, index: int) -> str:
        """Return the id of something that was made of a part."""
        return f"msg-{self.position}-{index}"


_Take: TypeAlias = Callable[[_Turn, int, Fields], bool]


class PydanticAiReader:
    """Reads the messages of one conversation.

    Args:
        data: The messages.
        spool_above: The most bytes of an answer that stays a text.
    """

    def __init__(self, data: object, *, spool_above: int) -> None:
        messages = as_list(data)
        if messages is None:
            raise refused("it must be a list of messages", data, "$")
        self._messages = messages
        self._parts = PartsReader(DIALECT)
        self._results = ResultsReader(self._parts, spool_above)
        self._draft = Draft(KEY, {"messages": messages})
        self._told: set[str] = set()
        self._takes: dict[tuple[str, str], _Take] = {
            ("request", "system-prompt"): self._instruct,
            ("request", "user-prompt"): self._say_user,
            ("request", "tool-return"): self._answer,
            ("request", "retry-prompt"): self._answer,
            ("response", "text"): self._say,
            ("response", "file"): self._file,
            ("response", "thinking"): self._think,
            ("response", "tool-call"): self._call,
            ("response", "builtin-tool-call"): self._call,
            ("response", "builtin-tool-return"): self._answer,
        }

    def read(self) -> Conversation:
        """Return the conversation.

        Raises:
            InvalidValueError: If it is none; says where.
        """
        for position, item in enumerate(self._messages):
            self._message(position, item)
        return self._draft.conversation({})

    def _message(self, position: int, item: object) -> None:
        path = f"$[{position}]"
        message = as_fields(item)
        if message is None:
            raise refused("a message must be a dict", item, path)
        kind, parts = message.get("kind"), as_list(message.get("parts"))
        if kind not in KINDS:
            raise refused("kind must be request or response", kind, f"{path}.kind")
        if parts is None:
            raise refused("parts must be a list", message.get("parts"), f"{path}.parts")
        self._tell(message.get("instructions"))
        turn = _Turn(position, kind, noted(message, ("parts", "kind")))
        kept: list[Note] = []
        for index, given in enumerate(parts):
            part = as_fields(given)
            if part is None:
                raise refused("a part must be a dict", given, f"{path}.parts[{index}]")
            self._time(part, message)
            take = self._takes.get((turn.kind, str(part.get("part_kind"))))
            if take is None or not take(turn, index, part):
                kept.append({"part": index, "kept": dict(part), "kind": turn.kind})
        if not turn.has_landed:
            self._draft.keep(position, message=dict(message))
            return
        for note in kept:
            self._draft.keep(position, **note)

    def _tell(self, text: object) -> None:
        """Take instructions; they stand in each request, and once in a conversation."""
        if isinstance(text, str) and text and text not in self._told:
            self._told.add(text)
            self._draft.instruct(text, {"from": "instructions"})

    def _time(self, part: Fields, message: Fields) -> None:
        for given in (part.get("timestamp"), message.get("timestamp")):
            if (moment := _moment(given)) is not None:
                self._draft.moment = moment
                return

    # Parts: each says whether it found a place

    def _instruct(self, turn: _Turn, index: int, part: Fields) -> bool:
        text = as_name(part.get("content"))
        if text is None:
            return False
        rest = noted(part, ("content", "part_kind"))
        self._draft.instruct(text, {**turn.note(index), **rest})
        return True

    def _say_user(self, turn: _Turn, index: int, part: Fields) -> bool:
        path = f"$[{turn.position}].parts[{index}].content"
        value = all_wrapped(part.get("content"))
        content = self._parts.content(value, path, turn.name(index))
        if not content.text and not content.media:
            return False
        rest = noted(part, ("content", "part_kind"))
        note = {**turn.note(index), **rest, **content.note}
        self._draft.say(turn.name(index), "user", content, note)
        return True

    def _say(self, turn: _Turn, index: int, part: Fields) -> bool:
        text = as_name(part.get("content"))
        if text is None:
            return False
        note = {**turn.note(index), **noted(part, ("content", "part_kind"))}
        self._draft.say(turn.name(index), "assistant", Content(text), note)
        return True

    def _file(self, turn: _Turn, index: int, part: Fields) -> bool:
        path = f"$[{turn.position}].parts[{index}].content"
        item = [wrapped(part.get("content"))]
        content = self._parts.content(item, path, turn.name(index))
        if not content.media:
            return False
        rest = noted(part, ("content", "part_kind"))
        note = {**turn.note(index), **rest, **content.note, "kind": "file"}
        self._draft.say(turn.name(index), "assistant", content, note)
        return True

    def _think(self, turn: _Turn, index: int, part: Fields) -> bool:
        text, signature = as_name(part.get("content")), as_name(part.get("signature"))
        if text is None and signature is None:
            return False
        placed = ["content"] if text is not None else []
        placed += ["signature"] if signature is not None else []
        note = {**turn.note(index), **noted(part, (*placed, "part_kind"))}
        payload = None if signature is None else {"signature": signature}
        self._draft.think(turn.name(index), text or "", note, payload, THINKING)
        return True

    def _call(self, turn: _Turn, index: int, part: Fields) -> bool:
        tool, given = as_name(part.get("tool_name")), as_name(part.get("tool_call_id"))
        if tool is None or given is None:
            return False
        found = read_arguments(part.get("args"))
        placed = CALL if found is not None else (CALL[0], *CALL[2:])
        args, spelled = found or ({}, {})
        note = {**turn.note(index), **noted(part, placed), **spelled}
        if part["part_kind"] != "tool-call":
            note["kind"] = part["part_kind"]
        self._draft.ask(given, tool, args, note, given)
        return True

    def _answer(self, turn: _Turn, index: int, part: Fields) -> bool:
        given = part.get("tool_call_id")
        call = self._draft.asked(given)
        if call is None:
            return False
        path = f"$[{turn.position}].parts[{index}].content"
        results, form = self._results.results(
            _answered(part.get("content")), path, turn.name(index)
        )
        kind, outcome = part.get("part_kind"), part.get("outcome", "success")
        failed = kind == "retry-prompt" or outcome in FAILURES
        odd = kind == "retry-prompt" or outcome not in ("success", "failed")
        placed = [key for key in ANSWER if not (key == "outcome" and odd)]
        if part.get("tool_name") != call.tool:
            placed.remove("tool_name")
        if part.get("content") is None:
            placed.remove("content")
        note = {**turn.note(index), **noted(part, placed), **form}
        if kind != "tool-return":
            note["kind"] = kind
        self._draft.answer(cast("str", given), results, note, is_error=failed)
        return True


def _answered(value: object) -> object:
    """Return what a tool gave back, with its files under names that are known."""
    if value is None or isinstance(value, str):
        return value
    items = as_list(value)
    if items is None:
        single = wrapped(value)
        return single if DIALECT.knows(single) else value
    found = [wrapped(item) for item in items]
    files = [item for item in items if not isinstance(item, str)]
    return found if files and all(map(DIALECT.knows, found)) else value


def _moment(value: object) -> datetime | None:
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
