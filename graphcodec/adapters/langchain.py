"""Messages of LangChain as objects.

`graphcodec.adapters.from_langchain` takes them, and `to_messages` gives them back.
`TYPES` is for a codec that writes the objects themselves.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast

from graphcodec._extras import from_extra
from graphcodec.adapters._langchain import to_langchain
from graphcodec.adapters._langchain_forms import CLASSES, opened
from graphcodec.adapters._notes import as_list
from graphcodec.errors import UnencodableValueError

with from_extra("langchain", "messages of LangChain need langchain-core"):
    from langchain_core import messages
    from langchain_core.documents import Document

if TYPE_CHECKING:
    from graphcodec.primitives import Conversation

__all__ = ["TYPES", "to_messages"]


def _message_classes() -> dict[str, type]:
    """Return the message classes that LangChain exports, by name."""
    exported = {name: getattr(messages, name) for name in messages.__all__}
    return {
        name: cls
        for name, cls in exported.items()
        if inspect.isclass(cls)
        and issubclass(cls, messages.BaseMessage)
        and cls not in (messages.BaseMessage, messages.BaseMessageChunk)
    }


TYPES: Final[Mapping[str, type]] = MappingProxyType(
    {
        f"langchain.{name}": cls
        for name, cls in sorted({**_message_classes(), "Document": Document}.items())
    }
)
"""LangChain's messages and its ``Document``, by tag, for ``Codec(types=TYPES)``.

The classes are those of the version that is installed. An instance is made by its own
validation, so `AIMessage` parses calls from ``additional_kwargs`` again where
``tool_calls`` was emptied afterwards; ``codec.check(message)`` finds that.
"""


def to_messages(conversation: Conversation) -> list[messages.BaseMessage]:
    """Return *conversation* as messages of LangChain.

    Messages that `from_langchain` took come back equal.

    Args:
        conversation: The conversation.

    Raises:
        UnencodableValueError: If it holds something that messages have no place for, or
            LangChain has no such message; says where.
        HandleError: If bytes are gone, changed or out of reach.
    """
    found = to_langchain(conversation)
    given = as_list(found["messages"] if isinstance(found, dict) else found) or []
    return [_made(each, index) for index, each in enumerate(given)]


def _made(given: object, index: int) -> messages.BaseMessage:
    path = f"$[{index}]"
    data, _, _ = opened(given, path)
    kind = str(data.get("type"))
    cls = TYPES.get(f"langchain.{CLASSES.get(kind, kind)}")
    if cls is None or not issubclass(cls, messages.BaseMessage):
        msg = f"LangChain has no message of type {kind!r:.40}"
        raise UnencodableValueError(msg, path=path)
    make = cast("Callable[..., messages.BaseMessage]", cls)
    try:
        return make(**data)
    except (TypeError, ValueError) as exc:
        msg = f"LangChain refuses a message: {str(exc)[:160]!r}"
        raise UnencodableValueError(msg, path=path) from exc
