"""Bytes inside URLs: ``data:image/png;base64,...``."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final
from urllib.parse import unquote_to_bytes

from attrs import field, frozen

_SCHEME: Final = "data:"
_PLAIN_TYPE: Final = "text/plain"
_TYPE: Final = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)

_ENDINGS: Final = {
    "application/json": ".json",
    "application/pdf": ".pdf",
    "audio/mp3": ".mp3",
    "audio/mpeg": ".mp3",
    "audio/wav": ".wav",
    "image/gif": ".gif",
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/svg+xml": ".svg",
    "image/webp": ".webp",
    "text/csv": ".csv",
    "text/html": ".html",
    "text/markdown": ".md",
    "text/plain": ".txt",
}
_TYPES: Final = {ending: mime_type for mime_type, ending in _ENDINGS.items()}


@frozen
class DataUrl:
    """What a data URL says.

    Attributes:
        mime_type: The type, without parameters.
        content: The bytes.
        head: What stands before the comma.
        exact: Whether `written` gives the URL again, to the last character.
    """

    mime_type: str
    content: bytes = field(repr=False)
    head: str
    exact: bool


def is_data_url(url: str) -> bool:
    """Say whether *url* holds its bytes itself."""
    return url[: len(_SCHEME)].lower() == _SCHEME


def parsed(url: str) -> DataUrl | None:
    """Return what a data URL says, None if it makes no sense.

    Args:
        url: The URL.
    """
    head, comma, payload = url.partition(",")
    if not comma:
        return None
    content = _content(payload, in_base64=head.lower().endswith(";base64"))
    if content is None:
        return None
    given = head[len(_SCHEME) :].partition(";")[0]
    mime_type = given.lower() if _TYPE.fullmatch(given) else _PLAIN_TYPE
    return DataUrl(mime_type, content, head, written(head, content) == url)


def written(head: str, content: bytes) -> str:
    """Return a data URL in base64.

    Args:
        head: What stands before the comma.
        content: The bytes.
    """
    return f"{head},{base64.b64encode(content).decode('ascii')}"


def head_of(mime_type: str) -> str:
    """Return the head that data URLs of *mime_type* usually have."""
    return f"{_SCHEME}{mime_type};base64"


def unbased(text: str) -> bytes | None:
    """Return the bytes of *text*, None if it is not strict base64."""
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    # The last character may hold bits that mean nothing.
    return content if base64.b64encode(content).decode("ascii") == text else None


def _content(payload: str, *, in_base64: bool) -> bytes | None:
    try:
        content = unquote_to_bytes(payload)
    except UnicodeEncodeError:
        return None
    if not in_base64:
        return content
    # As browsers do: white space is skipped, and padding may be missing.
    compact = b"".join(content.split()).rstrip(b"=")
    try:
        return base64.b64decode(compact + b"=" * (-len(compact) % 4), validate=True)
    except binascii.Error:
        return None


def ending_of(mime_type: str) -> str:
    """Return what names of files of *mime_type* end with; nothing if it is unusual."""
    return _ENDINGS.get(mime_type, "")


def type_of(filename: str) -> str:
    """Return the MIME type that the name of a file promises."""
    ending = "." + filename.rpartition(".")[2].lower()
    return _TYPES.get(ending.replace(".jpeg", ".jpg"), "application/octet-stream")
