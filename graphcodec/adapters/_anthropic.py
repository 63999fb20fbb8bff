"""Conversations from and to the Messages API of Anthropic, without loss.

Where things go:

* Text, images and documents that follow each other in a message become one `Message`,
  the prompt ``system`` an instruction, blocks of thinking `Thought`, with the signature
  as its payload.
* Uses of tools, those of the server too, become `ToolCall` with their results; search
  results become `Retrievable`.
* Of images and documents in base64 the bytes are held, of web addresses a handle that
  is opened when somebody asks.
* All else stays in stashes, under ``anthropic``: the model, usage, the reason to stop,
  citations, marks for the cache.

The format has no times; all are the Unix epoch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphcodec.adapters._anthropic_read import MessagesReader
from graphcodec.adapters._anthropic_write import MessagesWriter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graphcodec.primitives import Conversation


def from_anthropic(
    data: Mapping[str, object] | Sequence[object], *, spool_above: int = 4_096
) -> Conversation:
    """Return the conversation that a request or a response of the Messages API holds.

    ``to_anthropic(from_anthropic(data)) == data`` for every mapping, with the keys in
    the same order.

    Args:
        data: The body of a request, with ``messages``, or a message, such as a
            response. A list is taken as messages.
        spool_above: Results of tools that have more bytes than this in UTF-8 become
            artifacts.

    Raises:
        InvalidValueError: If it is neither; says where.
    """
    return MessagesReader(data, spool_above=spool_above).read()


def to_anthropic(conversation: Conversation) -> dict[str, object]:
    """Return *conversation* as a mapping with ``messages``, ready for JSON.

    It need not have come from there: what has no note is written in the usual way. What
    was read from a single message becomes one again. The bytes of media and artifacts
    are read from where they lie.

    Args:
        conversation: The conversation.

    Raises:
        UnencodableValueError: If it holds something that the format has no place for,
            such as a `Thought` of another vendor; says where.
        HandleError: If bytes are gone, changed or out of reach.
    """
    return MessagesWriter(conversation).write()
