"""From the chat format to a conversation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, TypeAlias, cast

from graphcodec.adapters._notes import (
    Fields,
    Note,
    as_fields,
    as_list,
    as_name,
    noted,
    stashed,
)
from graphcodec.adapters._openai_calls import read_call
from graphcodec.adapters._openai_parts import Content, PartsReader, refused
from graphcodec.errors import InvalidValueError
from graphcodec.primitives import (
    Conversation,
    Identity,
    Message,
    Registry,
    SpooledArtifact,
    Tokenizable,
    ToolCall,
)
from graphcodec.readers import BytesReader

NAME: Final = "openai_chat"
"""The key of everything that this format has in a stash."""

_Say: TypeAlias = Callable[[int, Fields], None]


class ChatReader:
    """Reads one chat.

    Args:
        data: A mapping with messages, or the messages.
        spool_above: The most bytes of an answer that stays a text.
    """

    def __init__(
        self, data: Mapping[str, object] | Sequence[object], *, spool_above: int
    ) -> None:
        self._whole = _whole(data)
        self._spool_above = spool_above
        self._moment = _created(self._whole)
        self._parts = PartsReader()
        self._identities: dict[tuple[str, str], Identity] = {}
        self._items: list[Message | ToolCall] = []
        self._pending: dict[str, list[int]] = {}
        self._instructions: list[str] = []
        self._instruction_notes: list[Note] = []
        self._kept: list[Note] = []

    def read(self) -> Conversation:
        """Return the conversation.

        Raises:
            InvalidValueError: If it is no chat.
        """
        messages = as_list(self._whole["messages"]) or []
        for position, item in enumerate(messages):
            self._message(position, item)
        note = noted(self._whole, ("messages",))
        if self._instruction_notes:
            note["instructions"] = self._instruction_notes
        if self._kept:
            note["kept"] = self._kept
        return Conversation(
            id=as_name(self._whole.get("id")) or _digest(self._whole),
            items=tuple(self._items),
            instructions=tuple(map(Tokenizable, self._instructions)),
            stash=stashed(NAME, note),
        )

    def _message(self, position: int, item: object) -> None:
        path = f"$.messages[{position}]"
        message = as_fields(item)
        if message is None:
            hint = "objects of a client library have a model_dump()"
            raise refused("a message must be a dict", item, path, hint)
        role = message.get("role")
        say = self._roles().get(role) if isinstance(role, str) else None
        if say is None:
            known = ", ".join(self._roles())
            reason = f"role must be one of {known}"
            raise refused(reason, role, f"{path}.role")
        say(position, message)

    def _roles(self) -> dict[str, _Say]:
        return {
            "system": self._instruct,
            "developer": self._instruct,
            "user": self._speak,
            "assistant": self._speak,
            "tool": self._answer,
            "function": self._keep,
        }

    def _keep(self, position: int, message: Fields) -> None:
        self._kept.append({"at": position, "message": dict(message)})

    def _instruct(self, position: int, message: Fields) -> None:
        content = self._content(position, message)
        if not content.text:
            self._keep(position, message)
            return
        self._instructions.append(content.text)
        note = noted(message, ("role", "content"))
        role = message["role"]
        note = {"at": position, "role": role, **note, **_parts_note(content)}
        self._instruction_notes.append(note)

    def _speak(self, position: int, message: Fields) -> None:
        """Take a message of the user or the assistant apart."""
        path = f"$.messages[{position}]"
        content = self._content(position, message, f"msg-{position}")
        role = cast("str", message["role"])
        given = message.get("tool_calls") if role == "assistant" else None
        calls = as_list(given) or []
        says = bool(content.text or content.media)
        if not calls and not says:
            self._keep(position, message)
            return
        name = as_name(message.get("name")) if says else None
        placed = ["role"]
        placed += ["content"] if says else []
        placed += ["name"] if name and name != role else []
        placed += ["tool_calls"] if calls else []
        note = noted(message, placed)
        if says:
            note |= _parts_note(content)
            identity = self._identity(role, name or role)
            self._items.append(self._said(position, role, identity, content, note))
        for index, call in enumerate(calls):
            first = {"message": note} if index == 0 and not says else {}
            self._call(position, index, call, {"at": position, **first}, path)

    def _said(
        self, position: int, role: str, identity: Identity, content: Content, note: Note
    ) -> Message:
        return Message(
            id=f"msg-{position}",
            role=role,  # type: ignore[arg-type]  # one of the two
            content=content.text or None,
            attachments=content.media,
            identity=identity,
            created_at=self._moment,
            updated_at=self._moment,
            stash=stashed(NAME, {"at": position, **note}),
        )

    def _call(
        self, position: int, index: int, item: object, note: Note, path: str
    ) -> None:
        where = f"{path}.tool_calls[{index}]"
        call = as_fields(item)
        if call is None:
            raise refused("a tool call must be a dict", item, where)
        given = call.get("id")
        if not isinstance(given, str):
            raise refused("a tool call needs the id that answers name", given, where)
        tool, args, rest = read_call(call, where)
        if rest:
            note["call"] = rest
        self._pending.setdefault(given, []).append(len(self._items))
        self._items.append(
            ToolCall(
                id=given or f"msg-{position}-call-{index}",
                tool=tool,
                args=args,
                is_complete=False,
                is_error=False,
                created_at=self._moment,
                updated_at=self._moment,
                stash=stashed(NAME, note),
            )
        )

    def _answer(self, position: int, message: Fields) -> None:
        given = message.get("tool_call_id")
        waiting = self._pending.get(given) if isinstance(given, str) else None
        content = self._content(position, message)
        if not waiting:
            self._keep(position, message)
            return
        index = waiting.pop()
        call = cast("ToolCall", self._items[index])
        placed = ("role", "tool_call_id", *(("content",) if content.text else ()))
        note: Note = {"at": position, **noted(message, placed), **_parts_note(content)}
        whole = {**cast("Note", call.stash.get(NAME)), "answer": note}
        self._items[index] = call.replace(
            is_complete=True,
            results=self._results(content.text),
            completed_at=self._moment,
            stash=Registry({NAME: whole}),
        )

    def _results(self, text: str) -> Tokenizable | SpooledArtifact:
        try:
            data = text.encode()
        except UnicodeEncodeError:
            # Half a character has no bytes.
            return Tokenizable(text)
        if len(data) > self._spool_above:
            return SpooledArtifact(BytesReader(data))
        return Tokenizable(text)

    def _content(self, position: int, message: Fields, prefix: str = "") -> Content:
        path = f"$.messages[{position}].content"
        return self._parts.content(message.get("content"), path, prefix)

    def _identity(self, role: str, name: str) -> Identity:
        """Return who speaks: one object for one person, however often they do."""
        identity = Identity(identifier=name, representation=name)
        return self._identities.setdefault((role, name), identity)


def _parts_note(content: Content) -> Note:
    return {} if content.parts is None else {"parts": content.parts}


def _whole(data: object) -> Fields:
    """Return the mapping with messages that *data* is, or is short for.

    Raises:
        InvalidValueError: If it is neither a mapping nor a list.
    """
    if isinstance(data, list):
        return {"messages": cast("list[object]", data)}
    whole = as_fields(data)
    if whole is None:
        raise refused("a chat must be a mapping or a list of messages", data, "$")
    if not isinstance(whole.get("messages"), list):
        hint = ""
        if "choices" in whole:
            hint = "this is an answer: put choices[0].message behind what it answers"
        raise refused(
            "messages must be a list", whole.get("messages"), "$.messages", hint
        )
    return whole


def _created(whole: Fields) -> datetime:
    created = whole.get("created")
    if type(created) in (int, float):
        try:
            return datetime.fromtimestamp(cast("float", created), UTC)
        except (OverflowError, ValueError, OSError):
            # Kept among the fields, as everything is.
            pass
    return datetime.fromtimestamp(0, UTC)


def _digest(whole: Fields) -> str:
    """Return an id that the same chat always has.

    Raises:
        InvalidValueError: If the chat holds what JSON has not.
    """
    try:
        text = json.dumps(dict(whole), sort_keys=True)
    except (TypeError, ValueError, RecursionError) as exc:
        raise InvalidValueError(f"a chat must be plain JSON: {exc}", path="$") from exc
    return f"chat-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
