"""From the chat format to a conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from graphcodec.adapters._contents import Content, PartsReader
from graphcodec.adapters._draft import Draft, Role
from graphcodec.adapters._notes import (
    Fields,
    Note,
    as_fields,
    as_list,
    as_name,
    noted,
    refused,
)
from graphcodec.adapters._openai_calls import read_call
from graphcodec.adapters._openai_parts import DIALECT
from graphcodec.adapters._results import text_results

if TYPE_CHECKING:
    from graphcodec.primitives import Conversation

KEY: Final = "openai_chat"
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
        self._is_list = isinstance(data, list)
        self._whole = _whole(data)
        self._spool_above = spool_above
        self._parts = PartsReader(DIALECT)
        self._draft = Draft(KEY, self._whole, created="created")

    def read(self) -> Conversation:
        """Return the conversation.

        Raises:
            InvalidValueError: If it is no chat.
        """
        messages = as_list(self._whole["messages"]) or []
        for position, item in enumerate(messages):
            self._message(position, item)
        note = noted(self._whole, ("messages",))
        if self._is_list:
            note["list"] = True
        return self._draft.conversation(note)

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
        self._draft.keep(position, message=dict(message))

    def _instruct(self, position: int, message: Fields) -> None:
        content = self._content(position, message)
        if not content.text:
            self._keep(position, message)
            return
        note = noted(message, ("role", "content"))
        role = message["role"]
        note = {"at": position, "role": role, **note, **content.note}
        self._draft.instruct(content.text, note)

    def _speak(self, position: int, message: Fields) -> None:
        """Take a message of the user or the assistant apart."""
        path = f"$.messages[{position}]"
        content = self._content(position, message, f"msg-{position}")
        role = cast("Role", message["role"])
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
            whole = {"at": position, **note, **content.note}
            self._draft.say(f"msg-{position}", role, content, whole, name or role)
        for index, call in enumerate(calls):
            first = {"message": note} if index == 0 and not says else {}
            self._call(position, index, call, {"at": position, **first}, path)

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
        name = given or f"msg-{position}-call-{index}"
        self._draft.ask(name, tool, args, note, answered_as=given)

    def _answer(self, position: int, message: Fields) -> None:
        given = message.get("tool_call_id")
        content = self._content(position, message)
        if self._draft.asked(given) is None:
            self._keep(position, message)
            return
        placed = ("role", "tool_call_id", *(("content",) if content.text else ()))
        note: Note = {"at": position, **noted(message, placed), **content.note}
        results = text_results(content.text, self._spool_above)
        self._draft.answer(cast("str", given), results, note)

    def _content(self, position: int, message: Fields, prefix: str = "") -> Content:
        path = f"$.messages[{position}].content"
        return self._parts.content(message.get("content"), path, prefix)


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
