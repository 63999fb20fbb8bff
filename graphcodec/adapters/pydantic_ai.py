"""Messages of Pydantic AI as objects.

`from_messages` makes conversations of them, and `to_messages` gives them back. `TYPES`
is for a codec that writes the objects themselves.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from graphcodec._extras import from_extra

with from_extra("pydantic-ai", "messages of Pydantic AI need pydantic-ai-slim"):
    from pydantic_ai import messages, usage

    from graphcodec.adapters._pydantic_ai_objects import noted_objects, restored_objects

from graphcodec.adapters._notes import list_of, stash_note
from graphcodec.adapters._pydantic_ai import from_pydantic_ai, to_pydantic_ai
from graphcodec.adapters._pydantic_ai_read import KEY

if TYPE_CHECKING:
    from graphcodec.primitives import Conversation

__all__ = ["TYPES", "from_messages", "to_messages"]

_BESIDE: Final = (
    # Narrower classes that stand where the union names a wider one.
    messages.BinaryAudio,
    messages.BinaryImage,
    usage.RunUsage,
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

The classes are those that ``ModelMessage`` leads to in the version that is installed.
"""


def from_messages(
    given: Sequence[messages.ModelMessage], *, spool_above: int = 4_096
) -> Conversation:
    """Return the conversation that messages of Pydantic AI are.

    ``to_messages(from_messages(given)) == given``. What JSON has no form for, such as
    an object that a tool gave back, is kept as it is; to encode the conversation, its
    class has to be one that the codec can write.

    Args:
        given: The messages, such as ``result.all_messages()``.
        spool_above: Answers of tools that have more bytes than this in UTF-8 become
            artifacts.

    Raises:
        InvalidValueError: If Pydantic AI can't write a message as JSON; says which.
    """
    plain, notes = noted_objects(given)
    conversation = from_pydantic_ai(plain, spool_above=spool_above)
    if notes:
        stash = conversation.stash
        stash.set(KEY, {**stash_note(stash, KEY), "objects": notes})
    return conversation


def to_messages(conversation: Conversation) -> list[messages.ModelMessage]:
    """Return *conversation* as messages of Pydantic AI.

    Args:
        conversation: The conversation.

    Raises:
        UnencodableValueError: If it holds something that messages have no place for, or
            Pydantic AI refuses; says where.
        HandleError: If bytes are gone, changed or out of reach.
    """
    notes = list_of(stash_note(conversation.stash, KEY), "objects")
    return restored_objects(to_pydantic_ai(conversation), notes)
