"""What somebody might have meant who gave something of another form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphcodec._paths import excerpt
from graphcodec.adapters._notes import as_fields
from graphcodec.errors import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from graphcodec.adapters._notes import Fields


def meant(whole: Fields) -> str:
    """Return a hint on a mapping that is no conversation; empty if nothing tells.

    Args:
        whole: The mapping.
    """
    if "messages" in whole:
        return "this has messages: openai-chat or anthropic"
    if "preferred_output" in whole:
        return "this is a pair of answers: add one of them to the messages of its input"
    if "conversations" in whole:
        return "this has other words: make messages with role and content of them"
    if "choices" in whole:
        return "this is an answer of the chat format: openai-chat"
    if "input" in whole or "output" in whole:
        return "this is of the Responses API: openai-responses"
    if "role" in whole:
        return "this is one message: put it into a list"
    if any(as_fields(whole.get(key)) is not None for key in ("body", "response")):
        return "this is a line of a batch: take the body out of it"
    return "this is an error, with nothing said" if "error" in whole else ""


def wrong_role(
    entry: Fields, known: Iterable[str], path: str, hints: Mapping[str, str]
) -> InvalidValueError:
    """Return the error for a message of nobody that a format knows.

    Args:
        entry: The message.
        known: The roles.
        path: Where the message is.
        hints: What other roles tell.
    """
    role = entry.get("role")
    found = excerpt(role) if isinstance(role, str) else type(role).__name__
    hint = hints.get(role, "") if isinstance(role, str) else ""
    if "messages" in entry:
        hint = "these are several conversations: write each on a line of its own"
    msg = f"role must be one of {', '.join(known)}, not {found}"
    return InvalidValueError(msg, path=f"{path}.role", hint=hint)
