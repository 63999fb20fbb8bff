"""The classes of Pydantic AI that lie in documents."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pydantic_ai import Conversation, conversation_store, messages, usage

_BESIDE: Final = (
    # Narrower classes that stand where the union names a wider one.
    messages.BinaryAudio,
    messages.BinaryImage,
    usage.RunUsage,
    # What messages are kept in.
    Conversation,
    conversation_store.ConversationEntry,
    conversation_store.ConversationRecord,
)


def _reached(*annotations: object) -> dict[str, type]:
    """Return all dataclasses that annotations lead to, by name."""
    found: dict[str, type] = {}
    waiting = list(annotations)
    # By id, since not all can be hashed; held, so that no id is used again.
    done: dict[int, object] = {}
    while waiting:
        annotation = waiting.pop()
        if id(annotation) in done:
            continue
        done[id(annotation)] = annotation
        waiting += typing.get_args(annotation)
        waiting.append(getattr(annotation, "__value__", None))
        cls = typing.get_origin(annotation) or annotation
        if isinstance(cls, type) and dataclasses.is_dataclass(cls):
            found[cls.__name__] = cls
            waiting += typing.get_type_hints(cls, include_extras=True).values()
    return found


TYPES: Final[Mapping[str, type]] = MappingProxyType(
    {
        f"pydantic_ai.{name}": cls
        for name, cls in sorted(_reached(messages.ModelMessage, *_BESIDE).items())
    }
)
"""The messages of Pydantic AI and what they hold, by tag, for ``Codec(types=TYPES)``.

The classes are those that ``ModelMessage`` leads to in the version that is installed,
``Conversation``, and what a store of conversations keeps.
"""
