"""Valid primitives with as little as they need, and any field changed on demand."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import TYPE_CHECKING, BinaryIO, Final, TypeVar, cast

from graphcodec.primitives import (
    Conversation,
    GateRecord,
    Identity,
    Media,
    MediaStash,
    Memory,
    Message,
    Registry,
    Retrievable,
    SpooledArtifact,
    SpooledJsonArtifact,
    SpooledMarkdownArtifact,
    Thought,
    Tokenizable,
    ToolCall,
)
from graphcodec.readers import Reader, ReaderDescriptor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from graphcodec.primitives._base import Primitive

P = TypeVar("P", bound="Primitive")
T = TypeVar("T")

UNKNOWN: Final = "_unknown"

NOW: Final = datetime(2026, 5, 1, 12, 30, 15, 123456, tzinfo=UTC)


class FixedReader(Reader):
    """A reader over bytes that are given."""

    __slots__ = ("content",)

    def __init__(self, content: bytes = b"bytes") -> None:
        self.content = content

    def open(self) -> BinaryIO:
        """Return a stream over the bytes."""
        return io.BytesIO(self.content)

    def byte_length(self) -> int:
        """Return how many bytes were given."""
        return len(self.content)

    def describe(self) -> ReaderDescriptor:
        """Say where nothing else can be found: here."""
        return ReaderDescriptor("fixed", {"content": self.content.hex()})


def _times() -> dict[str, object]:
    return {"created_at": NOW, "updated_at": NOW}


_PARTS: Final[Mapping[type, Callable[[], dict[str, object]]]] = {
    Conversation: lambda: {"id": "con-1", "items": (), "instructions": ()},
    GateRecord: lambda: {
        "id": "gate-1",
        "turn_id": "turn-1",
        "reason": "approval",
        "created_at": NOW,
    },
    Identity: lambda: {"identifier": "ada", "representation": "Ada"},
    Media: lambda: {
        "id": "med-1",
        "kind": "image",
        "mime_type": "image/png",
        "filename": "cat.png",
        "reader": FixedReader(),
        "trust_tier": "third-party-private",
        "modality_hazard": "opaque-perceptual",
    },
    MediaStash: dict[str, object],
    Memory: lambda: {
        "id": "mem-1",
        "content": "likes tea",
        "confidence": 0.5,
        "importance": 1,
        **_times(),
    },
    Message: lambda: {"id": "msg-1", "role": "user", "content": "hello", **_times()},
    Registry: dict[str, object],
    Retrievable: lambda: {
        "id": "ret-1",
        "content": "a passage",
        "trust_tier": "third-party-public",
        **_times(),
    },
    SpooledArtifact: lambda: {"reader": FixedReader()},
    SpooledJsonArtifact: lambda: {"reader": FixedReader(), "format": "jsonl"},
    SpooledMarkdownArtifact: lambda: {"reader": FixedReader()},
    Thought: lambda: {"id": "tho-1", "content": "hm", **_times()},
    Tokenizable: lambda: {"text": "text"},
    ToolCall: lambda: {
        "id": "call-1",
        "tool": "search",
        "args": {"q": "tea"},
        "is_complete": True,
        "is_error": False,
        "results": "found",
        "completed_at": NOW,
        **_times(),
    },
}

PRIMITIVES: Final = tuple(_PARTS)
"""Every class that can be written."""


def parts(cls: type) -> dict[str, object]:
    """Return arguments with which the constructor of *cls* succeeds."""
    return _PARTS[cls]()


def unknown(primitive: Primitive) -> object:
    """Return what the codec has put aside for fields that it does not know."""
    return getattr(primitive, UNKNOWN)


def with_unknown(primitive: P, extra: object) -> P:
    """Return *primitive* as if a document had brought fields that nobody knows."""
    object.__setattr__(primitive, UNKNOWN, extra)
    return primitive


def make(cls: type[T], **changes: object) -> T:
    """Return a valid *cls*, but for the changes."""
    return cast("Callable[..., T]", cls)(**{**parts(cls), **changes})
