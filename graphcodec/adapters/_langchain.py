"""Conversations from and to messages of LangChain, without loss.

Where things go:

* ``human`` and ``ai`` messages become `Message`, reasoning `Thought`, tool calls
  `ToolCall` with the answer of the ``tool`` message, ``system`` messages instructions.
* Images, audio, videos and files become `Media`: of base64 and data URLs the bytes, of
  web addresses a handle that is opened when somebody asks.
* All else stays in stashes, under ``langchain``: ids, usage, metadata, artifacts, calls
  that are invalid, messages of other types.

Messages have no times, so all times are the Unix epoch. Ids tell the place: ``msg-3``
is ``$.messages[3]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphcodec.adapters._langchain_read import LangchainReader
from graphcodec.adapters._langchain_write import LangchainWriter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graphcodec.primitives import Conversation


def from_langchain(
    data: Mapping[str, object] | Sequence[object], *, spool_above: int = 4_096
) -> Conversation:
    """Return the conversation that messages of LangChain are.

    What is JSON comes back from `to_langchain` as it was, with the keys in the same
    order. Nothing that the data names is imported, and LangChain need not be there.

    Args:
        data: Messages, as objects or as what ``messages_to_dict``, ``dumpd`` or
            ``model_dump`` made of them; or a mapping with ``messages``, as of a state.
        spool_above: Answers of tools that have more bytes than this in UTF-8 become
            artifacts.

    Raises:
        InvalidValueError: If it is none of these; says where.
    """
    return LangchainReader(data, spool_above=spool_above).read()


def to_langchain(conversation: Conversation) -> list[object] | dict[str, object]:
    """Return *conversation* as messages in plain JSON.

    Each is in the form that it was read in, or, if it comes from elsewhere, in that of
    ``messages_to_dict``. For objects see `graphcodec.adapters.langchain.to_messages`.

    Args:
        conversation: The conversation.

    Raises:
        UnencodableValueError: If it holds something that messages have no place for;
            says where.
        HandleError: If bytes are gone, changed or out of reach.
    """
    return LangchainWriter(conversation).write()
