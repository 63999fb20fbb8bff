"""From the chat format to a conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from graphcodec.adapters._contents import Content, PartsReader
from graphcodec.adapters._draft import Draft, OfTool, Role
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
from graphcodec.adapters._openai_calls import read_call, read_function_call
from graphcodec.adapters._openai_parts import DIALECT
from graphcodec.adapters._results import text_results
from graphcodec.errors import InvalidValueError

if TYPE_CHECKING:
    from graphcodec.primitives import Conversation

KEY: Final = "openai_chat"
"""The key of everything that this format has in a stash."""

CHOICES: Final = "choices"
"""Where a response has its message; also what a note calls this form."""

_Say: TypeAlias = Callable[[int, Fields], None]


class ChatReader:
    """Reads one chat.

    Args:
        data: A mapping with messages or with choices, or the messages.
        spool_above: The most bytes of an answer that stays a text.
    """

    def __init__(
        self, data: Mapping[str, object] | Sequence[object], *, spool_above: int
    ) -> None:
        self._is_list = isinstance(data, list)
        self._whole = _whole(data)
        self._choice = None if "messages" in self._whole else _choice(self._whole)
        self._spool_above = spool_above
        self._parts = PartsReader(DIALECT)
        self._draft = Draft(KEY, self._whole, created="created")

    def read(self) -> Conversation:
        """Return the conversation.

        Raises:
            InvalidValueError: If it is no chat.
        """
        if self._choice is not None:
            self._message(0, self._choice["message"])
            note = noted(self._whole, (CHOICES,))
            rest = noted(self._choice, ("message",))
            return self._draft.conversation(
                {"section": CHOICES, "choice": rest, **note}
            )
        messages = as_list(self._whole["messages"]) or []
        for position, item in enumerate(messages):
            self._message(position, item)
        note = noted(self._whole, ("messages",))
        if self._is_list:
            note["list"] = True
        return self._draft.conversation(note)

    def _path(self, position: int) -> str:
        if self._choice is not None:
            return f"$.{CHOICES}[0].message"
        return f"$.messages[{position}]"

    def _message(self, position: int, item: object) -> None:
        path = self._path(position)
        message = as_fields(item)
        if message is None:
            hint = "objects of a client library have a model_dump()"
            raise refused("a message must be a dict", item, path, hint)
        role = message.get("role")
        say = self._roles().get(role) if isinstance(role, str) else None
        if say is None:
            raise wrong_role(message, self._roles(), path, {})
        say(position, message)

    def _roles(self) -> dict[str, _Say]:
        return {
            "system": self._instruct,
            "developer": self._instruct,
            "user": self._speak,
            "assistant": self._speak,
            "tool": self._answer,
            "function": self._answer_function,
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
        path = self._path(position)
        content = self._content(position, message, f"msg-{position}")
        role = cast("Role", message["role"])
        given = message.get("tool_calls") if role == "assistant" else None
        calls = as_list(given) or []
        can_call = role == "assistant" and not calls
        function = read_function_call(message) if can_call else None
        says = bool(content.text or content.media)
        if not calls and function is None and not says:
            self._keep(position, message)
            return
        name = as_name(message.get("name")) if says else None
        placed = ["role"]
        placed += ["content"] if says else []
        placed += ["name"] if name and name != role else []
        placed += ["tool_calls"] if calls else []
        placed += ["function_call"] if function else []
        note = noted(message, placed)
        if says:
            whole = {"at": position, **note, **content.note}
            self._draft.say(f"msg-{position}", role, content, whole, name or role)
        first: Note = {} if says else {"message": note}
        for index, call in enumerate(calls):
            self._call(position, index, call, {"at": position, **first}, path)
            first = {}
        if function is not None:
            tool, args, rest = function
            more: Note = {"at": position, **first, "function_call": rest}
            name = f"msg-{position}-call-0"
            self._draft.ask(name, tool, args, more, answered_as=OfTool(tool))

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
        named = given if isinstance(given, str) else None
        self._answered(position, message, "tool_call_id", named)

    def _answer_function(self, position: int, message: Fields) -> None:
        name = message.get("name")
        named = OfTool(name) if isinstance(name, str) else None
        self._answered(position, message, "name", named)

    def _answered(
        self, position: int, message: Fields, key: str, named: str | OfTool | None
    ) -> None:
        """Take the answer to a call, which it names under a key."""
        content = self._content(position, message)
        if named is None or self._draft.asked(named) is None:
            self._keep(position, message)
            return
        placed = ("role", key, *(("content",) if content.text else ()))
        note: Note = {"at": position, **noted(message, placed), **content.note}
        results = text_results(content.text, self._spool_above)
        self._draft.answer(named, results, note)

    def _content(self, position: int, message: Fields, prefix: str = "") -> Content:
        path = f"{self._path(position)}.content"
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
    if "messages" not in whole and CHOICES in whole:
        return whole
    if not isinstance(whole.get("messages"), list):
        reason = "messages must be a list"
        raise refused(reason, whole.get("messages"), "$.messages", meant(whole))
    return whole


def _choice(whole: Fields) -> Fields:
    """Return the only choice of a response.

    Raises:
        InvalidValueError: If there is none, or several, or it has no message.
    """
    path = f"$.{CHOICES}"
    choices = as_list(whole[CHOICES])
    if choices is None:
        raise refused("choices must be a list", whole[CHOICES], path)
    if len(choices) != 1:
        msg = f"a conversation has one choice, and here are {len(choices)}"
        hint = "take each by itself: {**response, 'choices': [choice]}"
        raise InvalidValueError(msg, path=path, hint=hint if choices else "")
    choice = as_fields(choices[0])
    if choice is None:
        raise refused("a choice must be a dict", choices[0], f"{path}[0]")
    if "message" not in choice:
        hint = "this is a piece of a stream: put the pieces together first"
        raise InvalidValueError(
            "a choice must have a message",
            path=f"{path}[0]",
            hint=hint if "delta" in choice else "",
        )
    return choice
