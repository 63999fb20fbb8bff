"""Graphs and documents that several test modules need."""

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, BinaryIO, Final, Literal

from attrs import define, field, frozen

from graphcodec import Codec, encodable, extra
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
from graphcodec.readers import BytesReader, Reader, ReaderDescriptor
from graphcodec.testing import same_graph
from tests.primitives.builders import NOW, make

FORMATS: Final[tuple[Literal["json", "msgpack"], ...]] = ("json", "msgpack")

LATER: Final = datetime(2026, 5, 2, 8, 0, 0, 1, tzinfo=timezone(timedelta(hours=5.5)))


@encodable("test.Node")
@define(eq=False)
class Node:
    """A mutable class that can be linked in any way."""

    next: "Node | None" = None
    any: Any = None
    nodes: "list[Node]" = field(factory=list["Node"])
    rest: dict[str, object] = extra()  # noqa: RUF009 - an attrs field


@encodable("test.Link")
@frozen(eq=False)
class Link:
    """A frozen class that can be linked to what was made before it."""

    next: "Link | Node | None" = None
    any: Any = None
    items: list[Any] = field(factory=list[Any])


@encodable("test.Bare")
@frozen
class Bare:
    """A slotted class that has no place for unknown fields."""

    x: int = 0


CODEC: Final = Codec(types=[Node, Link, Bare])


def written(obj: object, codec: Codec = CODEC) -> Any:
    """Return the document of *obj*, parsed."""
    return json.loads(codec.encode_text(obj))


def root(obj: object, codec: Codec = CODEC) -> Any:
    """Return what stands at the root of the document of *obj*."""
    return written(obj, codec)["root"]


def document(root: object, *nodes: object) -> str:
    """Return a JSON document with any root and nodes."""
    return json.dumps({"graphcodec": 1, "nodes": nodes, "root": root})


def read(root: object, *nodes: object, codec: Codec = CODEC) -> Any:
    """Decode a document with any root and nodes."""
    return codec.decode(document(root, *nodes))


def in_args(value: object) -> ToolCall:
    """Return a call with *value* deep in its arguments."""
    return make(ToolCall, args={"first": [{"second": value}]})


def out_of_args(call: object) -> Any:
    """Return what `in_args` put in."""
    assert isinstance(call, ToolCall)
    first: Any = call.args["first"]
    return first[0]["second"]


def round_trip(obj: object, codec: Codec = CODEC) -> Any:
    """Return *obj* after a round trip in each format, verified each time."""
    again: object = None
    for name in FORMATS:
        again = codec.decode(codec.replace(format=name).encode(obj))
        assert same_graph(again, obj)
    return again


def through_args(value: object, codec: Codec = CODEC) -> Any:
    """Return *value* after a round trip inside the arguments of a call."""
    return out_of_args(round_trip(in_args(value), codec))


def nested(levels: int, wrap: Callable[[object], object]) -> object:
    """Return *levels* wrappers around 1."""
    value: object = 1
    for _ in range(levels):
        value = wrap(value)
    return value


class OneShot(Reader):
    """A reader that no other process could open."""

    def open(self) -> BinaryIO:
        """Return an empty stream."""
        return io.BytesIO()


class Named(Reader):
    """A reader that travels by its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def open(self) -> BinaryIO:
        """Return a stream over the name."""
        return io.BytesIO(self.name.encode())

    def describe(self) -> ReaderDescriptor:
        """Say the name."""
        return ReaderDescriptor("named", {"name": self.name})


class NamedResolver:
    """Makes readers of names."""

    tags = ("media:named", "spool:named")

    def resolve(self, descriptor: ReaderDescriptor, /) -> Reader | None:
        """Return the reader of a name."""
        return Named(str(descriptor.locator["name"]))


_TIMES: Final = {"created_at": NOW, "updated_at": LATER}


def full() -> dict[type, Any]:
    """Return one of each primitive, no field of which has its default."""
    stash = Registry({"model": "m", "usage": {"tokens": 5}, "raw": (1, b"\xff")})
    ada = make(Identity, identifier=2**70, representation="Ada")
    found = MediaStash(
        {"ocr": {"value": "x", "trust_tier": "first-party", "derived_from_media": "p"}}
    )
    media = make(
        Media,
        kind="document",
        mime_type="application/pdf",
        modality_hazard="extractable-instructions",
        trust_tier="first-party",
        reader=BytesReader(b"%PDF"),
        source="https://example.org/a.pdf",
        stash=found,
    )
    message = make(
        Message,
        role="assistant",
        attachments=(media,),
        identity=ada,
        stash=stash,
        **_TIMES,
    )
    thought = make(
        Thought,
        identity=ada,
        payload={"opaque": (1, 2)},
        replay_compatibility="vendor",
        stash=stash,
        **_TIMES,
    )
    artifact = make(SpooledArtifact, reader=BytesReader(b"one\ntwo"))
    call = make(
        ToolCall,
        checksum="0" * 64,
        is_error=True,
        results=(artifact, artifact),
        from_artifact_tool=True,
        inline=False,
        stash=stash,
        **_TIMES,
    )
    memory = make(Memory, confidence=1, importance=0.25, **_TIMES)
    retrievable = make(
        Retrievable, source="s", kind="k", score=0.75, stash=stash, **_TIMES
    )
    return {
        Conversation: make(
            Conversation,
            items=(message, call, thought, retrievable),
            instructions=(Tokenizable("be brief"),),
            memories=(memory,),
            stash=stash,
        ),
        GateRecord: make(GateRecord, payload={"at": NOW}),
        Identity: ada,
        Media: media,
        MediaStash: found,
        Memory: memory,
        Message: message,
        Registry: stash,
        Retrievable: retrievable,
        SpooledArtifact: artifact,
        SpooledJsonArtifact: make(
            SpooledJsonArtifact, reader=BytesReader(b"{}"), format="json5"
        ),
        SpooledMarkdownArtifact: make(
            SpooledMarkdownArtifact, reader=BytesReader(b"# one")
        ),
        Thought: thought,
        Tokenizable: Tokenizable("text"),
        ToolCall: call,
    }


def utc(year: int) -> datetime:
    """Return the first moment of a year."""
    return datetime(year, 1, 1, tzinfo=UTC)
