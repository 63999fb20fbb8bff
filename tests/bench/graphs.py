"""The benchmark's graph, once in our primitives and once in plain attrs classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Any, Final, Optional

import attrs

import graphcodec
from graphcodec_resolvers import HttpReader

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
    source: Optional[str]  # noqa: UP045 - what pyfory understands
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
    checksum: Optional[str]  # noqa: UP045 - likewise
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
    items: tuple[Said | Call, ...]
    instructions: tuple[Text, ...]
    memories: tuple[object, ...]
    stash: Stash


PLAIN: Final = (Text, Person, Stash, Bytes, File, Said, Call, Chat)
"""The plain classes, each after those that it holds."""


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
    items: Any = tuple(makers[type(item)](item) for item in graph.items)
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


# Graphs in which one thing counts


def text_heavy(count: int) -> graphcodec.Conversation:
    """Return messages of some kilobytes each."""
    page = "The quick brown fox, «said» nobody, in any order.\n" * 60
    return _chat(
        graphcodec.Message(
            id=f"m-{n}",
            role="assistant",
            content=f"{n} {page}",
            created_at=START,
            updated_at=START,
        )
        for n in range(count)
    )


def args_heavy(count: int) -> graphcodec.Conversation:
    """Return tool calls with a hundred records as their arguments."""
    return _chat(
        graphcodec.ToolCall(
            id=f"c-{n}",
            tool="insert_rows",
            args={
                "table": "orders",
                "rows": [
                    {
                        "id": n * 100 + row,
                        "sum": row / 7,
                        "open": True,
                        "of": f"u-{row}",
                    }
                    for row in range(100)
                ],
            },
            is_complete=False,
            is_error=False,
            created_at=START,
            updated_at=START,
        )
        for n in range(count)
    )


def small_objects(count: int) -> graphcodec.Conversation:
    """Return a hundred short texts for each of *count*."""
    texts = tuple(graphcodec.Tokenizable(f"text {n}") for n in range(count * 100))
    return graphcodec.Conversation(id="small", items=(), instructions=texts)


def deep(count: int) -> graphcodec.Conversation:
    """Return a chain of identities, each in the stash of the message before."""
    below: Any = "the end"
    for n in range(count * 10):
        below = graphcodec.Message(
            id=f"m-{n}",
            role="user",
            content="and before that",
            created_at=START,
            updated_at=START,
            stash=graphcodec.Registry({"before": below}),
        )
    return graphcodec.Conversation(id="deep", items=(below,))


def wide(count: int) -> graphcodec.Conversation:
    """Return one stash with a hundred entries, each a tuple, for each of *count*."""
    entries = {f"key-{n}": (n, f"value {n}") for n in range(count * 100)}
    stash = graphcodec.Registry(entries)
    return graphcodec.Conversation(id="wide", items=(), stash=stash)


def handles(count: int) -> graphcodec.Conversation:
    """Return messages with ten handles of files on the web each."""
    return _chat(
        graphcodec.Message(
            id=f"m-{n}",
            role="user",
            attachments=tuple(
                graphcodec.Media.user_attachment(
                    id=f"f-{n}-{part}",
                    kind="image",
                    mime_type="image/png",
                    filename="page.png",
                    reader=HttpReader(f"https://example.org/{n}/{part}.png"),
                )
                for part in range(10)
            ),
            created_at=START,
            updated_at=START,
        )
        for n in range(count)
    )


def _chat(items: Iterable[Any]) -> graphcodec.Conversation:
    return graphcodec.Conversation(id="bench", items=tuple(items))


KINDS: Final[Mapping[str, Callable[[int], graphcodec.Conversation]]] = {
    "turns": ours,
    "text-heavy": text_heavy,
    "args-heavy": args_heavy,
    "small objects": small_objects,
    "deep": deep,
    "wide": wide,
    "handles": handles,
}
"""Graphs by what counts in them; each takes how large it is to be."""
