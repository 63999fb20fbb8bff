"""Conversations to look at."""

from __future__ import annotations

import io
import struct
import zlib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypedDict

from graphcodec import (
    BytesReader,
    Conversation,
    Identity,
    Media,
    Memory,
    Message,
    Reader,
    Registry,
    Retrievable,
    SpooledArtifact,
    Thought,
    ToolCall,
    ToolRegistry,
)
from graphcodec.readers import ReaderDescriptor

if TYPE_CHECKING:
    from typing import BinaryIO

START: Final = datetime(2025, 6, 1, 12, 30, tzinfo=UTC)
EVIL: Final = '</script><img src=x onerror="window.hit=1"><script>window.hit=1</script>'
SVG: Final = b'<svg xmlns="http://www.w3.org/2000/svg" onload="window.hit=1"/>'
ANA: Final = Identity(identifier="u-42", representation="Ana")


class Times(TypedDict):
    """The two times that everything has."""

    created_at: datetime
    updated_at: datetime


def when(minutes: float = 0) -> Times:
    """Return the times of what happened some minutes after the start."""
    at = START + timedelta(minutes=minutes)
    return {"created_at": at, "updated_at": at}


def png(width: int = 4, height: int = 3) -> bytes:
    """Return a grey picture."""

    def chunk(name: bytes, data: bytes) -> bytes:
        length = struct.pack(">I", len(data))
        return length + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(b"".join(b"\0" + b"\x80" * width for _ in range(height)))
    signature = b"\x89PNG\r\n\x1a\n"
    return b"".join(
        [signature, chunk(b"IHDR", head), chunk(b"IDAT", rows), chunk(b"IEND", b"")]
    )


def wav(seconds: float = 0.1) -> bytes:
    """Return silence."""
    data = b"\x80" * int(8000 * seconds)
    form = struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
    body = b"WAVEfmt " + form + b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


def media(reader: Reader, mime_type: str = "image/png", name: str = "a.png") -> Media:
    """Return a media that somebody has attached."""
    kind: Any = mime_type.partition("/")[0]
    return Media(
        id=f"media-{name}",
        kind=kind if kind in ("image", "audio", "video") else "document",
        mime_type=mime_type,
        filename=name,
        reader=reader,
        trust_tier="third-party-public",
        modality_hazard="inert",
    )


def call(number: int, tool: str, results: Any, *, failed: bool = False) -> ToolCall:
    """Return a call that took two seconds."""
    done = START + timedelta(minutes=number, seconds=2)
    return ToolCall(
        id=f"c-{number}",
        tool=tool,
        args={"shard": number, "at": START, "raw": b"abc"},
        is_complete=True,
        is_error=failed,
        results=results,
        completed_at=done,
        **when(number),
    )


def rich() -> Conversation:
    """Return a conversation in which there is one of each."""
    log = "\n".join(f"line {number}" for number in range(500)).encode()
    pictures = [
        media(BytesReader(png())),
        media(BytesReader(wav()), "audio/wav", "call.wav"),
        media(BytesReader(SVG), "image/svg+xml", "plan.svg"),
        media(BytesReader(b"%PDF-1.4"), "application/pdf", "report.pdf"),
    ]
    plan = "## Plan\n\n1. **stop** it\n2. look\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    return Conversation(
        id="talk-1",
        items=[
            Message(
                id="m-1",
                role="user",
                identity=ANA,
                content="Why does it hang?",
                attachments=pictures,
                **when(),
            ),
            Thought(id="t-1", content="Locks, surely.", **when(1)),
            call(2, "query", '{"rows": [1]}'),
            call(3, "read_log", SpooledArtifact(BytesReader(log))),
            call(4, "kill", "permission denied", failed=True),
            ToolCall(
                id="c-5",
                tool="ask",
                args={},
                is_complete=False,
                is_error=False,
                **when(5),
            ),
            Retrievable(
                id="r-1",
                content="Drain the queue.",
                trust_tier="third-party-public",
                source="wiki/queues",
                score=0.5,
                **when(6),
            ),
            Message(
                id="m-2",
                role="assistant",
                content=plan,
                stash=Registry({"model": "m-9"}),
                **when(7),
            ),
            Message(id="m-3", role="user", identity=ANA, content="Go.", **when(2000)),
        ],
        instructions=["Be brief."],
        memories=[
            Memory(
                id="me-1",
                content="Ana is on call.",
                confidence=0.5,
                importance=1,
                **when(),
            )
        ],
        tools=ToolRegistry(),
        stash=Registry({"tenant": "blue"}),
    )


def hostile() -> Conversation:
    """Return a conversation in which everything is an attack."""
    link = f"[{EVIL}](javascript:window.hit=1) `{EVIL}` **{EVIL}** ![x](//a.example/x)"
    turned = "a\u202eb\x1b[31mc\u2066d\U000e0041"
    return Conversation(
        id=EVIL,
        items=[
            Message(
                id=EVIL,
                role="user",
                identity=Identity(identifier=EVIL, representation=EVIL),
                content=EVIL,
                attachments=[
                    media(BytesReader(SVG), "image/svg+xml", EVIL),
                    media(BytesReader(EVIL.encode()), "text/html", EVIL),
                    media(BytesReader(EVIL.encode()), "image/png", EVIL),
                ],
                stash=Registry({"x": {"evil": EVIL}}),
                **when(),
            ),
            ToolCall(
                id=EVIL,
                tool=EVIL,
                args={EVIL: EVIL, "__proto__": EVIL},
                is_complete=True,
                is_error=False,
                results=EVIL,
                completed_at=START,
                **when(),
            ),
            Retrievable(
                id=EVIL,
                content=link,
                source=EVIL,
                kind=EVIL,
                trust_tier="third-party-public",
                **when(),
            ),
            Message(id="m", role="assistant", content=link, **when()),
            Message(id="turned", role="assistant", content=turned, **when()),
        ],
        instructions=[EVIL],
    )


class Shelf(Reader):
    """A reader that counts how often it was opened.

    Args:
        key: The name of what is on the shelf.
        content: The bytes, or what is raised instead.
        known: Whether it is known how many bytes there are.
    """

    __slots__ = ("content", "key", "known", "opened")

    def __init__(
        self, key: str, content: bytes | Exception, *, known: bool = True
    ) -> None:
        self.key = key
        self.content = content
        self.known = known
        self.opened = 0

    def open(self) -> BinaryIO:
        """Return a stream over the bytes."""
        self.opened += 1
        if isinstance(self.content, Exception):
            raise self.content
        return io.BytesIO(self.content)

    def byte_length(self) -> int | None:
        """Return the number of bytes, if it is known."""
        return (
            len(self.content)
            if self.known and isinstance(self.content, bytes)
            else None
        )

    def describe(self) -> ReaderDescriptor:
        """Say where it is."""
        return ReaderDescriptor("shelf", {"shelf": self.key})


class Shelves:
    """Resolves the handles of shelves.

    Args:
        *shelves: What there is.
    """

    tags = ("media:shelf", "spool:shelf")

    def __init__(self, *shelves: Shelf) -> None:
        self._shelves = {shelf.key: shelf for shelf in shelves}

    def resolve(self, descriptor: ReaderDescriptor, /) -> Reader | None:
        """Return what is on a shelf."""
        return self._shelves.get(str(descriptor.locator["shelf"]))
