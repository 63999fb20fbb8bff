"""Conversations from and to messages of Pydantic AI, without loss.

Where things go:

* User prompts, texts and files of the model become `Message`, thinking `Thought`, tool
  calls `ToolCall` with what the tool returned, system prompts and instructions
  instructions.
* Binary content becomes `Media` with its bytes, a URL one with a handle that is opened
  when somebody asks.
* All else stays in stashes, under ``pydantic_ai``: usage, models, metadata, parts of
  other kinds.

Items have the time of their part or message. Ids tell the place: ``msg-3-0`` is
``$[3].parts[0]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphcodec.adapters._pydantic_ai_read import PydanticAiReader
from graphcodec.adapters._pydantic_ai_write import PydanticAiWriter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphcodec.primitives import Conversation


def from_pydantic_ai(
    data: Sequence[object], *, spool_above: int = 4_096
) -> Conversation:
    """Return the conversation that messages of Pydantic AI are, given as plain JSON.

    ``to_pydantic_ai(from_pydantic_ai(data)) == data``, with the keys in the same order.
    Pydantic AI need not be there. For objects see
    `graphcodec.adapters.pydantic_ai.from_messages`.

    Args:
        data: The messages as ``ModelMessagesTypeAdapter`` writes them, parsed.
        spool_above: Answers of tools that have more bytes than this in UTF-8 become
            artifacts.

    Raises:
        InvalidValueError: If they are none; says where.
    """
    return PydanticAiReader(data, spool_above=spool_above).read()


def to_pydantic_ai(conversation: Conversation) -> list[object]:
    """Return *conversation* as messages in plain JSON.

    ``ModelMessagesTypeAdapter`` reads them. For objects see
    `graphcodec.adapters.pydantic_ai.to_messages`.

    Args:
        conversation: The conversation.

    Raises:
        UnencodableValueError: If it holds something that messages have no place for;
            says where.
        HandleError: If bytes are gone, changed or out of reach.
    """
    return PydanticAiWriter(conversation).write()
