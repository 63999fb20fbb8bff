"""Messages of LangChain: their classes, for a codec that writes them as they are.

`graphcodec.adapters.from_langchain` and `graphcodec.adapters.to_langchain` make
conversations of them, and messages of conversations.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from graphcodec._extras import from_extra

with from_extra("langchain", "messages of LangChain need langchain-core"):
    from langchain_core import messages
    from langchain_core.documents import Document

__all__ = ["TYPES"]


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
