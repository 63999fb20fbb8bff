"""What may be shown of the locators of handles: no URL with its user or its query.

graphcodec writes no signed URL, but any document can be looked at, and in a document of
somebody else a query may be as good as a password.
"""

from __future__ import annotations

from typing import Any, Final

from graphcodec._documents._classless import READER, is_list, is_map, tag_of
from graphcodec_resolvers._urls import shown_url

_DEEPEST: Final = 20


def shown_text(text: str) -> str:
    """Return a text of a locator; if it is a URL, with a mark instead of its query.

    Args:
        text: The text.
    """
    if "://" not in text:
        return text
    return shown_url(text) + "?…" * ("?" in text)


def shown_part(part: Any, depth: int = 0) -> Any:
    """Return a part of a locator with what may be shown of its texts.

    Args:
        part: The part.
        depth: How deep it is in the locator; what is too deep is not shown.
    """
    if type(part) is str:
        return shown_text(part)
    if depth == _DEEPEST and (is_map(part) or is_list(part)):
        return "…"
    if is_map(part):
        return {key: shown_part(item, depth + 1) for key, item in part.items()}
    if is_list(part):
        return [shown_part(item, depth + 1) for item in part]
    return part


def shown_reader(value: Any) -> Any:
    """Return what stands for a reader with what may be shown of its locator.

    Args:
        value: Anything on the wire; what is no reader comes back as it is.
    """
    if tag_of(value) != READER:
        return value
    return {**value, "locator": shown_part(value.get("locator"))}


def shown_graph(value: Any) -> Any:
    """Return a part of a document with what may be shown of all readers in it.

    Args:
        value: The part, which nests no deeper than the stack goes.
    """
    if is_map(value):
        reader = shown_reader(value)
        if reader is not value:
            return reader
        return {key: shown_graph(item) for key, item in value.items()}
    return [shown_graph(item) for item in value] if is_list(value) else value
