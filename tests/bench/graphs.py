"""The benchmark's graph, once in our primitives and once in plain attrs classes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any

import attrs

import graphcodec

START = datetime(2026, 1, 1, tzinfo=UTC)


@attrs.define
class Text:
    """A plain twin of Tokenizable."""

    text: str


@attrs.define
class Person:
    """A plain twin of Identity."""

    identifier: str
    representation: Text


@attrs.define
class Stash:
    """A plain twin of Registry."""

    data: dict[str, object]


@attrs.define
class Bytes:
    """A plain twin of BytesReader."""

    data: bytes


class Tier(Enum):
    """A plain twin of TrustTier."""

    PRIVATE = "third-party-private"


class Hazard(Enum):
    """A plain twin of ModalityHazard."""

    OPAQUE = "opaque-perceptual"


@attrs.define
class File:
    """A plain twin of Media."""

    id: str
    kind: str
    mime_type: str
    filename: str
    reader: Bytes
    trust_tier: Tier
    modality_hazard: Hazard
    source: str | None
    stash: Stash


@attrs.define
class Said:
    """A plain twin of Message."""

    id: str
    role: str
    content: Text
    attachments: tuple[File, ...]
    identity: Person
    created_at: datetime
    updated_at: datetime
    stash: Stash


@attrs.define
class Call:
    """A plain twin of ToolCall."""

    id: str
    tool: str
    args: dict[str, object]
    checksum: str | None
    results: Text
    is_complete: bool
    is_error: bool
    from_artifact_tool: bool
    inline: bool
    created_at: datetime
    updated_at: datetime
    completed_at: datetime
    stash: Stash


@attrs.define
class Chat:
    """A plain twin of Conversation."""

    id: str
    items: tuple[object, ...]
    instructions: tuple[Text, ...]
    memories: tuple[object, ...]
    stash: Stash


def _args(turn: int) -> dict[str, object]:
    return {"query": f"orders of customer {turn}", "limit": 20, "fields": ["id", "sum"]}


def ours(turns: int) -> graphcodec.Conversation:
    """Return a conversation of *turns* turns in our primitives."""
    user = graphcodec.Identity(identifier="u-42", representation="Alice")
    agent = graphcodec.Identity(identifier="assistant", representation="Helper")
    items: list[Any] = []
    for turn in range(turns):
        at = START + timedelta(seconds=turn)
        attachments: tuple[graphcodec.Media, ...] = ()
        if turn % 5 == 0:
            attachments = (
                graphcodec.Media.user_attachment(
                    id=f"media-{turn}",
                    kind="image",
                    mime_type="image/png",
                    filename="chart.png",
                    reader=graphcodec.BytesReader(
                        b"\x89PNG" + turn.to_bytes(60, "big")
                    ),
                ),
            )
        items += [
            graphcodec.Message(
                id=f"user-{turn}",
                role="user",
                content=f"What about the orders of customer {turn}?",
                attachments=attachments,
                identity=user,
                created_at=at,
                updated_at=at,
            ),
            graphcodec.ToolCall(
                id=f"call-{turn}",
                tool="search_orders",
                args=_args(turn),
                results=graphcodec.Tokenizable(f"{turn} orders found, 3 open"),
                is_complete=True,
                is_error=False,
                created_at=at,
                updated_at=at,
                completed_at=at,
            ),
            graphcodec.Message(
                id=f"assistant-{turn}",
                role="assistant",
                content=f"Customer {turn} has {turn} orders, of which three are open.",
                identity=agent,
                created_at=at,
                updated_at=at,
            ),
        ]
    return graphcodec.Conversation(id="bench", items=tuple(items))


def plain(graph: graphcodec.Conversation) -> Chat:
    """Return the same graph in plain attrs classes."""
    people: dict[int, Person] = {}

    def person(one: graphcodec.Identity) -> Person:
        if id(one) not in people:
            name = Text(one.representation.text)
            people[id(one)] = Person(str(one.identifier), name)
        return people[id(one)]

    makers: dict[type, Callable[[Any], object]] = {
        graphcodec.Message: lambda m: _said(m, person(m.identity)),
        graphcodec.ToolCall: _call,
    }
    items = tuple(makers[type(item)](item) for item in graph.items)
    return Chat(graph.id, items, (), (), Stash({}))


def _said(message: graphcodec.Message, identity: Person) -> Said:
    content = Text(message.content.text if message.content else "")
    return Said(
        message.id,
        message.role,
        content,
        tuple(_file(media) for media in message.attachments),
        identity,
        message.created_at,
        message.updated_at,
        Stash({}),
    )


def _file(media: graphcodec.Media) -> File:
    return File(
        media.id,
        media.kind,
        media.mime_type,
        media.filename,
        Bytes(media.read()),
        Tier.PRIVATE,
        Hazard.OPAQUE,
        media.source,
        Stash({}),
    )


def _call(call: Any) -> Call:
    return Call(
        call.id,
        call.tool,
        dict(call.args),
        call.checksum,
        Text(call.results.text),
        call.is_complete,
        call.is_error,
        call.from_artifact_tool,
        call.inline,
        call.created_at,
        call.updated_at,
        call.completed_at,
        Stash({}),
    )
