"""Conversations from and to the Responses API of OpenAI, without loss.

Where things go:

* Messages of the user and the assistant become `Message`, those of the system and the
  developer, and ``instructions``, instructions; reasoning becomes `Thought`, with what
  is encrypted as its payload.
* Calls become `ToolCall` with their answers, those of built-in tools too; what a search
  of files found becomes one `Retrievable` for each result.
* Images and files become `Media`: of data URLs the bytes, of web addresses a handle
  that is opened when somebody asks.
* All else stays in stashes, under ``openai_responses``.

All times are ``created_at``, in seconds since the Unix epoch, or the epoch itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphcodec.adapters._responses_read import ResponsesReader
from graphcodec.adapters._responses_write import ResponsesWriter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graphcodec.primitives import Conversation


def from_openai_responses(
    data: Mapping[str, object] | Sequence[object], *, spool_above: int = 4_096
) -> Conversation:
    """Return the conversation that a request or a response of the Responses API holds.

    ``to_openai_responses(from_openai_responses(data)) == data`` for every mapping, with
    the keys in the same order.

    Args:
        data: A mapping with ``input`` (a text or items) or with ``output``, and
            whatever else. A list is taken as the items of an input.
        spool_above: Answers of tools that have more bytes than this in UTF-8 become
            artifacts.

    Raises:
        InvalidValueError: If it is neither; says where.
    """
    return ResponsesReader(data, spool_above=spool_above).read()


def to_openai_responses(conversation: Conversation) -> dict[str, object]:
    """Return *conversation* as a mapping with ``input``, ready for JSON.

    It need not have come from there: what has no note is written in the usual way. What
    was read from a response has ``output`` instead. The bytes of media and artifacts
    are read from where they lie.

    Args:
        conversation: The conversation.

    Raises:
        UnencodableValueError: If it holds something that the format has no place for,
            such as a `Thought` of another vendor; says where.
        HandleError: If bytes are gone, changed or out of reach.
    """
    return ResponsesWriter(conversation).write()
