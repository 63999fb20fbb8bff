"""From the Messages API to a conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from attrs import define, field

from graphcodec.adapters._anthropic_parts import DIALECT, THINKING
from graphcodec.adapters._contents import JOINER, Content, PartsReader
from graphcodec.adapters._draft import Draft, Role
from graphcodec.adapters._meant import meant, wrong_role
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

KEY: Final = "anthropic"
"""The key of everything that this format has in a stash."""

ROLES: Final = ("user", "assistant", "system")
CALL: Final = "tool_use"
ANSWER: Final = "tool_result"

_CALLS: Final = frozenset({CALL, "server_tool_use", "mcp_tool_use"})
_THOUGHTS: Final = frozenset({"thinking", "redacted_thinking"})


def joiner_of(role: object) -> str:
    """Return what stands between the texts of one message.

    Blocks of the model are cut where a citation begins or ends, so they go on; those of
    others are texts of their own.

    Args:
        role: Who says it.
    """
    return "" if role == "assistant" else JOINER


@define
class _Turn:
    """A message that is being read.

    Attributes:
        position: Where it stands.
        role: Who says it.
        path: The path of its content.
        rest: What it has beside role and content; it goes to what is read first.
        run: Blocks that may become one message, and where the first stood.
        start: Where the first block of the run stood.
        kept: Blocks that no primitive can hold.
        has_said: Whether a message was made of it.
        has_landed: Whether anything was.
    """

    position: int
    role: Role
    path: str
    rest: Note
    run: list[Fields] = field(factory=list[Fields])
    start: int = 0
    kept: list[Note] = field(factory=list[Note])
    has_said: bool = False
    has_landed: bool = False

    def note(self, block: int, usual: str) -> Note:
        """Return the note on something that was made of a block.

        Args:
            block: Where the block stands.
            usual: Whose messages have such blocks.
        """
        note: Note = {"at": self.position, "block": block}
        if self.role != usual:
            note["role"] = self.role
        if self.rest and not self.has_landed:
            note["message"] = self.rest
        self.has_landed = True
        return note

    def name(self, block: int, kind: str) -> str:
        """Return the id of something that was made of a block."""
        return f"msg-{self.position}-{kind}-{block}"


_Take: TypeAlias = Callable[[_Turn, int, Fields], None]


class MessagesReader:
    """Reads one request, one response or a list of messages.

    Args:
        data: What holds the messages, or a message.
        spool_above: The most bytes of an answer that stays a text.
    """

    def __init__(
        self, data: Mapping[str, object] | Sequence[object], *, spool_above: int
    ) -> None:
        self._is_list = isinstance(data, list)
        self._whole, self._messages = _whole(data)
        self._parts = PartsReader(DIALECT)
        self._results = ResultsReader(self._parts, spool_above)
        self._draft = Draft(KEY, self._whole)

    def read(self) -> Conversation:
        """Return the conversation.

        Raises:
            InvalidValueError: If it is none; says where.
        """
        note: Note = {"form": "message"}
        if "messages" in self._whole:
            note = noted(self._whole, (*self._system(), "messages"))
        if self._is_list:
            note["list"] = True
        for position, item in enumerate(self._messages):
            self._message(position, item)
        return self._draft.conversation(note)

    def _system(self) -> tuple[str, ...]:
        """Read the prompt, and return its key if it is an instruction now."""
        given = self._whole.get("system")
        content = self._parts.content(given, "$.system")
        if not content.text:
            return ()
        self._draft.instruct(content.text, {"from": "system", **content.note})
        return ("system",)

    def _message(self, position: int, item: object) -> None:
        path = f"$.messages[{position}]" if "messages" in self._whole else "$"
        message = as_fields(item)
        if message is None:
            hint = "objects of a client library have a model_dump()"
            raise refused("a message must be a dict", item, path, hint)
        role = message.get("role")
        if not isinstance(role, str) or role not in ROLES:
            hints = {"tool": "of a request to OpenAI: openai-chat"}
            raise wrong_role(message, ROLES, path, hints)
        given = message.get("content")
        if role == "system":
            self._instruct(position, message, f"{path}.content")
        elif isinstance(given, list):
            rest = noted(message, ("role", "content"))
            who = cast("Role", message["role"])
            turn = _Turn(position, who, f"{path}.content", rest)
            self._blocks(turn, cast("list[object]", given), message)
        else:
            self._text(position, message, f"{path}.content")

    def _instruct(self, position: int, message: Fields, path: str) -> None:
        content = self._parts.content(message.get("content"), path)
        if not content.text:
            self._draft.keep(position, message=dict(message))
            return
        rest = noted(message, ("role", "content"))
        note: Note = {"at": position, **rest, **content.note}
        self._draft.instruct(content.text, note)

    def _text(self, position: int, message: Fields, path: str) -> None:
        """Read a message whose content is a str, or nothing."""
        content = self._parts.content(message.get("content"), path)
        if not content.text:
            self._draft.keep(position, message=dict(message))
            return
        turn = _Turn(
            position,
            cast("Role", message["role"]),
            path,
            noted(message, ("role", "content")),
        )
        self._draft.say(f"msg-{position}", turn.role, content, turn.note(0, turn.role))

    # Blocks

    def _blocks(self, turn: _Turn, blocks: list[object], message: Fields) -> None:
        for index, given in enumerate(blocks):
            block = as_fields(given)
            if block is None:
                path = f"{turn.path}[{index}]"
                raise refused("a block must be a dict", given, path)
            take = self._taker(block)
            if take is None:
                turn.start = turn.start if turn.run else index
                turn.run.append(block)
                continue
            self._say(turn)
            take(turn, index, block)
        self._say(turn)
        if not turn.has_landed:
            self._draft.keep(turn.position, message=dict(message))
            return
        for note in turn.kept:
            self._draft.keep(turn.position, **note)

    def _taker(self, block: Fields) -> _Take | None:
        """Return what reads a block, None if it is part of what is said."""
        kind = as_name(block.get("type")) or ""
        if kind in _THOUGHTS:
            return self._think if _has_thought(block) else None
        if kind in _CALLS:
            return self._call
        if kind.endswith(ANSWER):
            is_asked = self._draft.asked(block.get("tool_use_id")) is not None
            return self._answer if is_asked else None
        if kind == "search_result":
            return self._look_up if _passage_texts(block) else None
        return None

    def _say(self, turn: _Turn) -> None:
        run, turn.run = turn.run, []
        if not run:
            return
        name = (
            turn.name(turn.start, "text") if turn.has_said else f"msg-{turn.position}"
        )
        content = self._parts.content(run, turn.path, name, joiner_of(turn.role))
        if content.text or content.media:
            note = {**turn.note(turn.start, turn.role), **content.note}
            self._draft.say(name, turn.role, content, note)
            turn.has_said = True
            return
        for index, (block, part) in enumerate(
            zip(run, content.parts or (), strict=True)
        ):
            why = {"why": part["why"]} if "why" in part else {}
            at: Note = {"block": turn.start + index, "role": turn.role}
            turn.kept.append({**at, "kept": dict(block), **why})

    def _think(self, turn: _Turn, index: int, block: Fields) -> None:
        kind = str(block["type"])
        sealed = "data" if kind == "redacted_thinking" else "signature"
        payload = as_name(block.get(sealed))
        text = block.get("thinking", "") if sealed == "signature" else ""
        placed = ["type"]
        if sealed == "signature" and isinstance(text, str):
            placed.append("thinking")
        placed += [sealed] if payload or sealed not in block else []
        note = {**turn.note(index, "assistant"), "type": kind, **noted(block, placed)}
        self._draft.think(
            turn.name(index, "thought"),
            text if isinstance(text, str) else "",
            note,
            {sealed: payload} if payload else None,
            THINKING,
        )

    def _call(self, turn: _Turn, index: int, block: Fields) -> None:
        path = f"{turn.path}[{index}]"
        tool = as_name(block.get("name"))
        if tool is None:
            raise refused("a tool needs a name", block.get("name"), f"{path}.name")
        given, args = block.get("id"), as_fields(block.get("input"))
        placed = ["type"]
        placed += ["id"] if "id" not in block or as_name(given) else []
        placed.append("name")
        placed += ["input"] if "input" not in block or args is not None else []
        kind = block["type"]
        named = {} if kind == CALL else {"type": kind}
        note = {**turn.note(index, "assistant"), **named, **noted(block, placed)}
        name = as_name(given) or turn.name(index, "call")
        by = given if isinstance(given, str) else name
        self._draft.ask(name, tool, dict(args or {}), note, answered_as=by)

    def _answer(self, turn: _Turn, index: int, block: Fields) -> None:
        value = block.get("content")
        path = f"{turn.path}[{index}].content"
        prefix = turn.name(index, "result")
        results, rest = self._results.results(value, path, prefix)
        kind, flag = block["type"], block.get("is_error") is True
        placed = ["type", "tool_use_id"]
        placed += ["content"] if "content" not in block or value is not None else []
        placed += ["is_error"] if flag else []
        note = {**turn.note(index, "user"), **noted(block, placed), **rest}
        note |= {} if kind == ANSWER else {"type": kind}
        found = as_name((as_fields(value) or {}).get("type")) or ""
        if found.endswith("_error") and not flag:
            note["says_error"] = True
        is_error = flag or "says_error" in note
        given = cast("str", block["tool_use_id"])
        self._draft.answer(given, results, note, is_error=is_error)

    def _look_up(self, turn: _Turn, index: int, block: Fields) -> None:
        content = _passage_texts(block) or Content()
        source = as_name(block.get("source"))
        placed = ["type", *(["source"] if source else []), "content"]
        note = {**turn.note(index, "user"), **noted(block, placed), **content.note}
        name = turn.name(index, "passage")
        self._draft.look_up(name, content.text, note, source=source)


def _has_thought(block: Fields) -> bool:
    """Say whether a block of thinking has anything that a `Thought` can hold."""
    sealed = "data" if block["type"] == "redacted_thinking" else "signature"
    readable = as_name(block.get("thinking")) if sealed == "signature" else None
    return bool(as_name(block.get(sealed)) or readable)


def _passage_texts(block: Fields) -> Content | None:
    """Return the text of a search result, None if there is more, or none."""
    parts = as_list(block.get("content"))
    if parts is None or not all(map(DIALECT.knows, parts)):
        return None
    content = PartsReader(DIALECT).content(parts, "")
    return content if content.text else None


def _whole(data: object) -> tuple[Fields, list[object]]:
    """Return the mapping that *data* is, or is short for, and its messages.

    Raises:
        InvalidValueError: If it has none.
    """
    if isinstance(data, list):
        messages = cast("list[object]", data)
        return {"messages": messages}, messages
    whole = as_fields(data)
    if whole is None:
        reason = "it must be a request, a message or a list of messages"
        raise refused(reason, data, "$")
    if "messages" not in whole and "role" in whole:
        return whole, [whole]
    found = as_list(whole.get("messages"))
    if found is None:
        reason = "messages must be a list"
        raise refused(reason, whole.get("messages"), "$.messages", meant(whole))
    return whole, found
