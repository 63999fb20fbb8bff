"""Which format something is of, told from what only that format has.

Many conversations are valid in several formats, and mean the same in them but for what
is added later. Those are not guessed.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from graphcodec.adapters._langchain_forms import CLASSES
from graphcodec.adapters._notes import Fields, as_fields, as_list
from graphcodec.adapters._responses_items import ANSWERS, CALLS
from graphcodec.errors import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_CHAT: Final = "openai-chat"
_RESPONSES: Final = "openai-responses"
_ANTHROPIC: Final = "anthropic"
_LANGCHAIN: Final = "langchain"
_PYDANTIC_AI: Final = "pydantic-ai"

# The types of entries and of their parts that one format alone has.
_TYPES: Final = {
    **dict.fromkeys((*CALLS, *ANSWERS), _RESPONSES),
    **dict.fromkeys(("reasoning", "item_reference"), _RESPONSES),
    **dict.fromkeys(
        ("input_text", "output_text", "input_image", "input_file"), _RESPONSES
    ),
    **dict.fromkeys(("tool_use", "tool_result", "thinking"), _ANTHROPIC),
    **dict.fromkeys(("redacted_thinking", "server_tool_use"), _ANTHROPIC),
    **dict.fromkeys(("image", "document", "search_result"), _ANTHROPIC),
    "image_url": _CHAT,
}
_ROLES: Final = {"tool": _CHAT, "function": _CHAT}
_KEYS: Final = {"tool_calls": _CHAT, "function_call": _CHAT}


def guess(values: Iterable[object]) -> str:
    """Return the name of the format that conversations of one file are of.

    Args:
        values: The conversations, as parsed JSON.

    Raises:
        InvalidValueError: If nothing tells, or several things that contradict.
    """
    found = sorted(set(chain.from_iterable(map(_signs, values))))
    if len(found) == 1:
        return found[0]
    reason = f"it has signs of {' and '.join(found)}" if found else "nothing tells it"
    hint = "name it, as in --from openai-chat"
    raise InvalidValueError(f"the format is not clear: {reason}", hint=hint)


def _signs(value: object) -> Iterator[str]:
    """Yield the formats that something in a conversation is a sign of."""
    whole = as_fields(value) or {}
    if "messages" in whole:
        yield from _top_signs(whole)
    elif "choices" in whole:
        yield _CHAT
    elif "output" in whole or "input" in whole:
        yield _RESPONSES
    elif whole.get("type") == "message" and "role" in whole:
        yield _ANTHROPIC
        return
    entries = as_list(whole.get("messages")) or as_list(value) or []
    for entry in entries:
        yield from _entry_signs(as_fields(entry) or {})


def _top_signs(whole: Fields) -> Iterator[str]:
    if "system" in whole:
        yield _ANTHROPIC
    messages = as_list(whole["messages"]) or [None]
    first = as_fields(messages[0]) or {}
    if first.get("role") in ("system", "developer"):
        yield _CHAT


def _framework(entry: Fields) -> str | None:
    """Return the framework whose messages look like *entry*, if there is one."""
    if as_list(entry.get("parts")) is not None and "kind" in entry:
        return _PYDANTIC_AI
    kind = entry.get("type")
    framed = "type" in entry and as_fields(entry.get("data")) is not None
    bare = "role" not in entry and isinstance(kind, str) and kind in CLASSES
    return _LANGCHAIN if framed or bare or "lc" in entry else None


def _entry_signs(entry: Fields) -> Iterator[str]:
    if (framework := _framework(entry)) is not None:
        yield framework
        return
    role, kind = entry.get("role"), entry.get("type")
    if isinstance(role, str) and role in _ROLES:
        yield _ROLES[role]
    yield from (_KEYS[key] for key in entry if key in _KEYS)
    parts = as_list(entry.get("content")) or []
    kinds = [kind, *((as_fields(part) or {}).get("type") for part in parts)]
    yield from (
        _TYPES[kind] for kind in kinds if isinstance(kind, str) and kind in _TYPES
    )
