"""The graph that crosses boundaries."""

from collections.abc import Sequence
from typing import ClassVar

from attrs import field, frozen

from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import checked, excerpt, hinted
from graphcodec.primitives._convert import to_tuple
from graphcodec.primitives._message import Message, Thought
from graphcodec.primitives._registry import Registry
from graphcodec.primitives._retrieval import Memory, Retrievable
from graphcodec.primitives._tokenizable import Tokenizable, to_texts
from graphcodec.primitives._tool_call import ToolCall
from graphcodec.primitives._tool_registry import ToolRegistry

__all__ = ["Conversation"]


def _to_items(
    value: Sequence[Message | ToolCall | Thought | Retrievable],
) -> tuple[Message | ToolCall | Thought | Retrievable, ...]:
    return to_tuple(value)


def _item_hint(value: object) -> str:
    if not isinstance(value, dict):
        return ""
    return "graphcodec.adapters.from_openai_chat takes chats in OpenAI's format"


def _to_memories(value: Sequence[Memory]) -> tuple[Memory, ...]:
    return to_tuple(value)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class Conversation(Primitive):
    """Everything that was said, done, thought and looked up, in order.

    Attributes:
        id: A name of its own.
        items: What happened, in order.
        instructions: What the developer says to the model.
        memories: What the model is reminded of.
        tools: What the model may ask for; None if that is not known.
        stash: What else belongs to it.
    """

    __graphcodec_tag__: ClassVar[str] = "Conversation"

    id: str
    items: tuple[Message | ToolCall | Thought | Retrievable, ...] = field(
        converter=_to_items, metadata=hinted(_item_hint)
    )
    instructions: tuple[Tokenizable, ...] = field(default=(), converter=to_texts)
    memories: tuple[Memory, ...] = field(default=(), converter=_to_memories)
    tools: ToolRegistry | None = field(
        default=None, metadata=hinted("wrap them: ToolRegistry(tools)")
    )
    stash: Registry = field(
        factory=Registry, metadata=hinted("wrap it: Registry(mapping)")
    )

    def __hash__(self) -> int:
        return hash(self.id)

    def _summary(self) -> str:
        count = len(self.items)
        return f"id={excerpt(self.id)}, <{count} item{'' if count == 1 else 's'}>"
