"""Messages of Pydantic AI as objects, and a store of its conversations.

`from_messages` makes conversations of messages, and `to_messages` gives them back.
`TYPES` is for a codec that writes the objects themselves, as `ConversationStore` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphcodec._extras import from_extra

with from_extra("pydantic-ai", "messages of Pydantic AI need pydantic-ai-slim"):
    from pydantic_ai import messages

    from graphcodec.adapters._pydantic_ai_objects import noted_objects, restored_objects
    from graphcodec.adapters._pydantic_ai_store import ConversationStore
    from graphcodec.adapters._pydantic_ai_types import TYPES

from graphcodec.adapters._notes import list_of, stash_note
from graphcodec.adapters._pydantic_ai import from_pydantic_ai, to_pydantic_ai
from graphcodec.adapters._pydantic_ai_read import KEY

if TYPE_CHECKING:
    from graphcodec.primitives import Conversation

__all__ = ["TYPES", "ConversationStore", "from_messages", "to_messages"]

# Tracebacks and pickles should show the public path of a name.
ConversationStore.__module__ = __name__


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
