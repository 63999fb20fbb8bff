"""Conversations from and to the chat format of OpenAI, without loss.

Where things go:

* ``user`` and ``assistant`` messages become `Message`, tool calls `ToolCall` with the
  answer of the ``tool`` message, ``system`` and ``developer`` messages instructions.
* Images, audio and files become `Media`: of data URLs the bytes, of web addresses a
  handle that is opened when somebody asks. A long answer of a tool becomes a
  `SpooledArtifact`.
* All else stays in stashes, under ``openai_chat``: fields without a place of their own,
  the order of messages, how a text was cut into parts. Messages that no primitive can
  hold (empty ones, answers to calls nobody made) are kept there whole, and so are
  images whose URL carries a signature, since a handle never does.

The format has no times of its own but ``created``, in seconds since the Unix epoch. All
times are that, or the epoch itself. Ids tell the place: ``msg-3`` is ``$.messages[3]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphcodec.adapters._openai_read import ChatReader
from graphcodec.adapters._openai_write import ChatWriter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graphcodec.primitives import Conversation


def from_openai_chat(
    data: Mapping[str, object] | Sequence[object], *, spool_above: int = 4_096
) -> Conversation:
    """Return the conversation that a chat, or an answer in one, holds.

    ``to_openai_chat(from_openai_chat(data)) == data`` for every mapping, with the keys
    in the same order.

    Args:
        data: A mapping with ``messages`` and whatever else, such as the body of a
            request or a line of a training file; or a response, which has one choice.
            A list is taken as messages.
        spool_above: Answers of tools that have more bytes than this in UTF-8 become
            artifacts.

    Raises:
        InvalidValueError: If it is no chat; says where.
    """
    return ChatReader(data, spool_above=spool_above).read()


def to_openai_chat(conversation: Conversation) -> dict[str, object]:
    """Return *conversation* as a mapping with ``messages``, ready for JSON.

    It need not have come from there: what has no note is written in the usual way. What
    was read from a response has ``choices`` instead, as long as it is one message. The
    bytes of media and artifacts are read from where they lie.

    Args:
        conversation: The conversation.

    Raises:
        UnencodableValueError: If it holds something that the format has no place for,
            such as a `Thought`; says where.
        HandleError: If bytes are gone, changed or out of reach.
    """
    return ChatWriter(conversation).write()
