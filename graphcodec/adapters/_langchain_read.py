"""From messages of LangChain to a conversation."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from attrs import define, field

from graphcodec.adapters._contents import Content, PartsReader
from graphcodec.adapters._draft import Draft, Role
from graphcodec.adapters._langchain_forms import opened
from graphcodec.adapters._langchain_parts import DIALECT, wrapped
from graphcodec.adapters._notes import (
    Fields,
    Note,
    as_fields,
    as_list,
    as_name,
    noted,
    refused,
)
from graphcodec.adapters._results import ResultsReader

if TYPE_CHECKING:
    from graphcodec.primitives import Conversation

KEY: Final = "langchain"
"""The key of everything that this format has in a stash."""

THINKING: Final = "langchain-thinking-v1"
"""The wire shape of what only the vendor can read of a thought."""

ROLES: Final[dict[str, Role]] = {
    "human": "user",
    "HumanMessageChunk": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
}
USUAL: Final = {"user": "human", "assistant": "ai"}
CALL: Final = ("name", "args", "id", "type")
ANSWER: Final = ("content", "type", "tool_call_id", "status")
REASONS: Final = {"reasoning": "reasoning", "thinking": "thinking"}
"""The types of blocks that are thoughts, with the key of the text."""

_SYSTEM: Final = ("system", "SystemMessageChunk")
_TOOL: Final = ("tool", "ToolMessageChunk")


@define
class _Turn:
    """A message that is being read.

    Attributes:
        position: Where it stands.
        role: Who says it.
        path: Where its content is.
        rest: What goes to what is read of it first.
        has_landed: Whether anything was.
        kept: Blocks that no primitive can hold.
    """

    position: int
    role: Role
    path: str
    rest: Note
    has_landed: bool = False
    kept: list[Note] = field(factory=list[Note])

    def note(self, **place: int) -> Note:
        """Return the note on something that was made of a part of the message."""
        note: Note = {"at": self.position, **place}
        if self.rest and not self.has_landed:
            note["message"] = self.rest
        self.has_landed = True
        return note


_Piece: TypeAlias = tuple[int, Content | Fields]


class LangchainReader:
    """Reads the messages of one conversation.

    Args:
        data: Messages, or a mapping with them.
        spool_above: The most bytes of an answer that stays a text.
    """

    def __init__(self, data: object, *, spool_above: int) -> None:
        self._whole, self._messages = _whole(data)
        self._is_list = as_list(data) is not None
        self._parts = PartsReader(DIALECT)
        self._results = ResultsReader(self._parts, spool_above)

    def read(self) -> Conversation:
        """Return the conversation.

        Raises:
            InvalidValueError: If it is none; says where.
        """
        found = [
            opened(given, f"$.messages[{index}]")
            for index, given in enumerate(self._messages)
        ]
        self._draft = Draft(KEY, {"id": self._whole.get("id") or _name(found)})
        for position, (data, path, outer) in enumerate(found):
            self._message(position, data, path, outer)
        note = noted(self._whole, ("messages",))
        return self._draft.conversation({"form": "list"} if self._is_list else note)

    def _message(self, position: int, data: Fields, path: str, outer: Note) -> None:
        kind = as_name(data.get("type"))
        if kind is None:
            hint = "HumanMessage has human, AIMessage has ai"
            raise refused("a message needs a type", data.get("type"), path, hint)
        rest: Note = {"outer": outer} if outer else {}
        if kind in ROLES:
            self._speak(position, kind, data, path, rest)
        elif kind in _SYSTEM:
            self._instruct(position, data, path, rest)
        elif kind in _TOOL and self._draft.asked(data.get("tool_call_id")):
            self._answer(position, data, path, rest)
        else:
            self._keep(position, data, rest)

    def _keep(self, position: int, data: Fields, rest: Note) -> None:
        self._draft.keep(position, message=dict(data), **rest)

    def _instruct(self, position: int, data: Fields, path: str, rest: Note) -> None:
        value = wrapped(data.get("content"))
        content = self._parts.content(value, f"{path}.content")
        if not content.text:
            self._keep(position, data, rest)
            return
        kind = _kind_note(data, "system")
        placed = noted(data, ("content", "type"))
        note: Note = {"at": position, **placed, **kind, **rest, **content.note}
        self._draft.instruct(content.text, note)

    def _answer(self, position: int, data: Fields, path: str, rest: Note) -> None:
        value = data.get("content")
        prefix = f"msg-{position}"
        results, form = self._results.results(value, f"{path}.content", prefix)
        failed = data.get("status") == "error"
        odd = "status" in data and data["status"] not in ("error", "success")
        placed = ANSWER[:-1] if odd else ANSWER
        kind = _kind_note(data, "tool")
        note: Note = {"at": position, **noted(data, placed), **kind, **rest, **form}
        given = cast("str", data["tool_call_id"])
        self._draft.answer(given, results, note, is_error=failed)

    # What is said

    def _speak(
        self, position: int, kind: str, data: Fields, path: str, rest: Note
    ) -> None:
        turn = _Turn(position, ROLES[kind], f"{path}.content", rest)
        value = data.get("content")
        pieces = self._pieces(turn, wrapped(value))
        calls = _calls(data.get("tool_calls")) if turn.role == "assistant" else []
        name = as_name(data.get("name"))
        says = any(isinstance(piece, Content) for _, piece in pieces)
        speaker = name if name and says and name != turn.role else ""
        placed = ["content", "type"]
        placed += ["name"] if speaker else []
        placed += ["tool_calls"] if calls else []
        form: Note = {} if isinstance(value, str) else {"form": "list"}
        usual = USUAL[turn.role]
        turn.rest = {**rest, **noted(data, placed), **_kind_note(data, usual), **form}
        for start, piece in pieces:
            if isinstance(piece, Content):
                name = f"msg-{position}-{start}" if start else f"msg-{position}"
                note = {**turn.note(block=start), **piece.note}
                self._draft.say(name, turn.role, piece, note, speaker)
            else:
                self._think(turn, start, piece)
        for index, call in enumerate(calls):
            self._call(turn, index, call)
        if not turn.has_landed:
            self._keep(position, data, rest)
            return
        for entry in turn.kept:
            self._draft.keep(position, **entry)

    def _pieces(self, turn: _Turn, value: object) -> list[_Piece]:
        """Return what is said and thought in a content, and where each begins."""
        blocks = as_list(value)
        if blocks is None:
            if not isinstance(value, str):
                reason = "content must be a str or a list of blocks"
                raise refused(reason, value, turn.path)
            return [(0, Content(value))] if value else []
        pieces: list[_Piece] = []
        run: list[object] = []
        for index, block in enumerate(blocks):
            fields = as_fields(block)
            if fields is None:
                reason = "a block must be a str or a dict"
                raise refused(reason, block, f"{turn.path}[{index}]")
            if turn.role == "assistant" and _reasons(fields):
                pieces += self._run(turn, run, index - len(run))
                pieces.append((index, fields))
                run = []
            else:
                run.append(block)
        return pieces + self._run(turn, run, len(blocks) - len(run))

    def _run(self, turn: _Turn, blocks: list[object], start: int) -> list[_Piece]:
        """Return one message of blocks that go together, if they say anything."""
        prefix = f"msg-{turn.position}-{start}"
        content = self._parts.content(blocks, turn.path, prefix)
        if content.text or content.media:
            return [(start, content)]
        for index, part in enumerate(content.parts or ()):
            entry = part if "kept" in part else {"kept": blocks[index]}
            turn.kept.append({"block": start + index, **entry})
        return []

    def _think(self, turn: _Turn, index: int, block: Fields) -> None:
        key = REASONS[str(block["type"])]
        text = as_name(block.get(key))
        signature = as_name(block.get("signature"))
        placed = ("type", *([key] if text else []))
        placed += ("signature",) if signature else ()
        note = {**turn.note(block=index), **noted(block, placed)}
        if key != "reasoning":
            note["type"] = block["type"]
        payload = {"signature": signature} if signature else None
        name = f"msg-{turn.position}-thought-{index}"
        self._draft.think(name, text or "", note, payload, THINKING)

    def _call(self, turn: _Turn, index: int, call: Fields) -> None:
        given = as_name(call.get("id"))
        placed = list(CALL)
        if not given:
            placed.remove("id")
        if call.get("type", "tool_call") != "tool_call":
            placed.remove("type")
        note = {**turn.note(call=index), **noted(call, placed)}
        name = given or f"msg-{turn.position}-call-{index}"
        args = dict(cast("Fields", call["args"]))
        self._draft.ask(name, cast("str", call["name"]), args, note, given)


def _name(found: list[tuple[Fields, str, Note]]) -> str:
    """Return an id that the same messages have in every form.

    Objects in them have no place in JSON; then their types have to do.
    """
    plain = [dict(data) for data, _, _ in found]
    text = json.dumps(plain, sort_keys=True, default=lambda each: type(each).__name__)
    return f"chat-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _kind_note(data: Fields, usual: str) -> Note:
    kind = data["type"]
    return {} if kind == usual else {"type": kind}


def _calls(value: object) -> list[Fields]:
    """Return the tool calls of a message, none if one of them is no call."""
    found = [as_fields(call) for call in as_list(value) or ()]
    calls = [call for call in found if call is not None]
    whole = len(calls) == len(found) and all(map(_is_call, calls))
    return calls if whole else []


def _is_call(call: Fields) -> bool:
    return bool(as_name(call.get("name"))) and as_fields(call.get("args")) is not None


def _reasons(block: Fields) -> bool:
    """Say whether a block is a thought, and has anything that one can hold."""
    key = REASONS.get(str(block.get("type")))
    return key is not None and any(
        map(as_name, (block.get(key), block.get("signature")))
    )


def _whole(data: object) -> tuple[Fields, list[object]]:
    """Return the mapping that *data* is, or is short for, and its messages.

    Raises:
        InvalidValueError: If it has none.
    """
    if (messages := as_list(data)) is not None:
        return {"messages": messages}, messages
    whole = as_fields(data)
    if whole is None:
        reason = "it must be a list of messages or a mapping with one"
        raise refused(reason, data, "$")
    found = as_list(whole.get("messages"))
    if found is None:
        raise refused("messages must be a list", whole.get("messages"), "$.messages")
    return whole, found
