"""What a browser may be given to show, and as what."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

Shown: TypeAlias = Literal["image", "audio", "video", "text", "file"]

# Formats that browsers decode and that hold nothing to run; so, no SVG and no PDF.
_SHOWN: Final[dict[str, Shown]] = {
    **dict.fromkeys(
        ["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"], "image"
    ),
    **dict.fromkeys(
        ["audio/mpeg", "audio/mp4", "audio/ogg", "audio/wav", "audio/x-wav"], "audio"
    ),
    **dict.fromkeys(["audio/webm", "audio/flac", "audio/aac"], "audio"),
    **dict.fromkeys(["video/mp4", "video/webm", "video/ogg"], "video"),
}
_TEXTS: Final = frozenset(
    {
        "application/json",
        "application/xml",
        "application/yaml",
        "application/x-ndjson",
        "application/javascript",
        "image/svg+xml",
    }
)


def plain_type(mime_type: str) -> str:
    """Return a mime type without its parameters, in small letters.

    Args:
        mime_type: What somebody says it is.
    """
    return mime_type.partition(";")[0].strip().lower()


def shown_as(mime_type: str) -> Shown:
    """Say as what bytes are shown; a ``file`` is not shown, it can be saved.

    What is text, and be it HTML, is shown as a text.

    Args:
        mime_type: What somebody says it is.
    """
    kind = plain_type(mime_type)
    if kind in _SHOWN:
        return _SHOWN[kind]
    return "text" if kind.startswith("text/") or kind in _TEXTS else "file"


def served_type(mime_type: str) -> str:
    """Return the type to serve bytes with: nothing that a browser would run.

    Args:
        mime_type: What somebody says it is.
    """
    match shown_as(mime_type):
        case "text":
            return "text/plain; charset=utf-8"
        case "file":
            return "application/octet-stream"
        case _:
            return plain_type(mime_type)
