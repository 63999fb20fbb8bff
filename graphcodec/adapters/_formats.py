"""The formats that there are adapters for, by the names they have on command lines.

An adapter is a pair of functions, ``from_<key>`` and ``to_<key>``, between plain JSON
and a `Conversation`. What it keeps in stashes lies under the same key.
"""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast

from attrs import frozen

from graphcodec.adapters._notes import as_fields, stash_note

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from graphcodec.primitives import Conversation


@frozen
class Format:
    """One format.

    Attributes:
        key: What its functions end with, and what its notes are called in a stash.
        entries: The key whose value a bare list is short for; empty if a list is short
            for nothing.
        tells_failures: Whether an answer can say that a tool failed.
        module: Where its functions are.
    """

    key: str
    entries: str = ""
    tells_failures: bool = True
    module: str = "graphcodec.adapters"

    def read(self, data: object) -> Conversation:
        """Return the conversation that *data* holds.

        Args:
            data: Parsed JSON.

        Raises:
            InvalidValueError: If it is not of this format; says where.
        """
        function = getattr(import_module(self.module), f"from_{self.key}")
        return cast("Callable[[object], Conversation]", function)(data)

    def write(self, conversation: Conversation) -> object:
        """Return *conversation* as plain JSON, a list if it was read from one.

        Args:
            conversation: The conversation.

        Raises:
            UnencodableValueError: If the format has no place for something in it.
            HandleError: If bytes are gone, changed or out of reach.
        """
        function = getattr(import_module(self.module), f"to_{self.key}")
        data = cast("Callable[[Conversation], object]", function)(conversation)
        whole = as_fields(data) or {}
        was_list = stash_note(conversation.stash, self.key).get("list") is True
        # What was short for a map is so again, if there is nothing else in it.
        return whole[self.entries] if was_list and [*whole] == [self.entries] else data


# One line for each; strings, so that a format nobody asks for costs nothing.
FORMATS: Final[Mapping[str, Format]] = MappingProxyType(
    {
        "openai-chat": Format("openai_chat", entries="messages", tells_failures=False),
        "openai-responses": Format(
            "openai_responses", entries="input", tells_failures=False
        ),
        "anthropic": Format("anthropic", entries="messages"),
        "langchain": Format("langchain", entries="messages"),
        "pydantic-ai": Format("pydantic_ai"),
    }
)
