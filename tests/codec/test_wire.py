import json
from collections import deque
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Literal
from uuid import UUID

import msgspec
import pytest
from attrs import define, field

from graphcodec import Codec, encodable
from graphcodec.primitives import (
    GateRecord,
    Identity,
    Media,
    Message,
    Registry,
    Thought,
    Tokenizable,
)
from graphcodec.readers import BytesReader
from tests.codec.samples import CODEC, Node, read, root, written
from tests.primitives.builders import NOW, make

TEXT = {"$type": "Tokenizable", "text": "hi"}


class Level(Enum):
    """Written by value."""

    LOW = 1
    HIGH = 2


class Mixed(Enum):
    """Written by name, since the values are of two types."""

    ONE = 1
    TWO = "two"


@encodable("test.Slots", version=2)
@define
class Slots:
    """One typed slot of each kind, at its default."""

    text: str = "t"
    number: int = 1
    share: float = 0.5
    flag: bool = True
    nothing: None = None
    when: datetime = NOW
    uuid: UUID = field(default=UUID(int=5))
    amount: Decimal = Decimal("1.10")
    data: bytes = b"\xff"
    level: Level = Level.HIGH
    mixed: Mixed = Mixed.TWO
    choice: Literal["a", 1] = "a"
    numbers: list[int] = field(factory=lambda: [1, 2])
    pair: tuple[int, str] = (1, "a")
    many: tuple[float, ...] = (1.5,)
    unique: set[int] = field(factory=lambda: {1})
    frozen: frozenset[str] = frozenset({"a"})
    last: deque[int] = field(factory=lambda: deque([1], 3))
    table: dict[str, int] = field(factory=lambda: {"a": 1})
    keyed: dict[int, str] = field(factory=lambda: {1: "a"})
    maybe: Tokenizable | None = None
    either: Tokenizable | Identity | int | None = 5


SLOTS = Codec(types=[Slots])

WIRE = {
    "$type": "test.Slots",
    "$v": 2,
    "text": "t",
    "number": 1,
    "share": 0.5,
    "flag": True,
    "nothing": None,
    "when": "2026-05-01T12:30:15.123456+00:00",
    "uuid": "00000000-0000-0000-0000-000000000005",
    "amount": "1.10",
    "data": {"$bytes": "/w=="},
    "level": 2,
    "mixed": "TWO",
    "choice": "a",
    "numbers": [1, 2],
    "pair": [1, "a"],
    "many": [1.5],
    "unique": [1],
    "frozen": ["a"],
    "last": {"$deque": [1], "maxlen": 3},
    "table": {"a": 1},
    "keyed": {"$dict": [[1, "a"]]},
    "maybe": None,
    "either": 5,
}


def test_document_is_a_map_with_version_and_root() -> None:
    """Nodes are left out when there are none."""
    assert CODEC.encode(None) == b'{"graphcodec":1,"root":null}'


def test_object_is_a_map_whose_tag_comes_first() -> None:
    """A tag, then the fields in the order of their declaration."""
    assert root(Tokenizable("hi")) == TEXT
    assert next(iter(root(make(Message)))) == "$type"


def test_every_field_is_written() -> None:
    """Defaults are written, too."""
    message = Message(role="user", id="m", created_at=NOW, updated_at=NOW, content="hi")

    assert root(message) == {
        "$type": "Message",
        "id": "m",
        "role": "user",
        "content": TEXT,
        "attachments": [],
        "identity": {
            "$type": "Identity",
            "identifier": "user",
            "representation": {"$type": "Tokenizable", "text": "user"},
        },
        "created_at": "2026-05-01T12:30:15.123456+00:00",
        "updated_at": "2026-05-01T12:30:15.123456+00:00",
        "stash": {"$type": "Registry", "data": {}},
    }


def test_tag_is_read_wherever_it_stands() -> None:
    """Databases reorder keys."""
    assert read({"text": "hi", "$type": "Tokenizable"}) == Tokenizable("hi")


def test_typed_slots_hold_bare_values() -> None:
    """What the annotation says need not be said again."""
    assert root(Slots(), SLOTS) == WIRE


def test_typed_slots_are_read_back() -> None:
    """Every kind of typed slot gives the value it had."""
    document = json.dumps({"graphcodec": 1, "root": WIRE})

    assert SLOTS.decode(document) == Slots()


def test_msgpack_holds_the_same_maps_with_bytes_as_bin() -> None:
    """Only bytes are spelled differently."""
    data = SLOTS.replace(format="msgpack").encode(Slots())

    assert msgspec.msgpack.decode(data)["root"] == {**WIRE, "data": b"\xff"}


def test_object_met_twice_is_one_node_and_references() -> None:
    """A reference is an index into the nodes."""
    text = Tokenizable("hi")
    reference = {"$type": "$ref", "n": 0}

    assert written([text, text]) == {
        "graphcodec": 1,
        "nodes": [TEXT],
        "root": {"$any": [reference, reference]},
    }


def test_root_object_met_again_is_a_reference() -> None:
    """The root may refer to itself."""
    node = Node()
    node.next = node

    assert written(node)["root"] == {"$type": "$ref", "n": 0}


def test_nodes_stand_children_first() -> None:
    """What a node refers to stands before it."""
    inner = Tokenizable("inner")
    outer = make(Identity, representation=inner)
    nodes = written([outer, inner, outer])["nodes"]

    assert [node["$type"] for node in nodes] == ["Tokenizable", "Identity"]


def test_reader_is_a_tag_and_a_locator() -> None:
    """It stands where its media has it; the tag begins with the owner's family."""
    media = root(make(Media, reader=BytesReader(b"hi")))

    assert media["reader"] == {
        "$type": "$reader",
        "tag": "media:in-memory",
        "locator": {"base64": "aGk="},
    }


@pytest.mark.parametrize(
    "plain",
    [None, True, "$ref", 0, -(2**63), 2**64 - 1, 1.5, -0.0, [1, [2]], {"a": {}}],
)
def test_plain_values_stand_as_they_are(plain: object) -> None:
    """Nothing wraps what JSON can hold."""
    assert json.dumps(root(plain)) == json.dumps(plain)


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        ((1, (2,)), {"$tuple": [1, {"$tuple": [2]}]}),
        ({1}, {"$set": [1]}),
        (frozenset({"a"}), {"$frozenset": ["a"]}),
        (deque([1], 2), {"$deque": [1], "maxlen": 2}),
        (deque([1]), {"$deque": [1], "maxlen": None}),
        (b"\xff\x00", {"$bytes": "/wA="}),
        (bytearray(b"a"), {"$bytearray": "YQ=="}),
        (NOW, {"$datetime": "2026-05-01T12:30:15.123456+00:00"}),
        (datetime(2026, 5, 1), {"$datetime": "2026-05-01T00:00:00.000000"}),  # noqa: DTZ001
        (date(2026, 5, 1), {"$date": "2026-05-01"}),
        (timedelta(-1, 5, 6), {"$timedelta": [-1, 5, 6]}),
        (Decimal("1.10"), {"$decimal": "1.10"}),
        (UUID(int=5), {"$uuid": "00000000-0000-0000-0000-000000000005"}),
        (2**64, {"$int": "0x10000000000000000"}),
        (float("-inf"), {"$float": "-inf"}),
        ("a\\\ud800", {"$str": "a\\u005c\\ud800"}),
        ({1: "a"}, {"$dict": [[1, "a"]]}),
        ({"$ref": 0}, {"$dict": [["$ref", 0]]}),
        ([Tokenizable("hi")], [TEXT]),
        ({"a": (1,)}, {"a": {"$tuple": [1]}}),
    ],
)
def test_everything_else_is_wrapped_and_marked(value: object, wire: object) -> None:
    """Inside the wrapper a marker says what JSON can't."""
    assert root(value) == {"$any": wire}


def test_enum_in_an_untyped_slot_has_its_tag() -> None:
    """A registered member is written by name."""
    codec = Codec(types={"test.Level": Level})

    assert root([Level.LOW], codec) == {
        "$any": [{"$enum": "test.Level", "name": "LOW"}]
    }


def test_object_in_an_untyped_slot_is_wrapped() -> None:
    """Data that looks like an object is not wrapped, and so no object."""
    assert root(make(GateRecord, payload=Tokenizable("hi")))["payload"] == {
        "$any": TEXT
    }
    assert root(make(GateRecord, payload={"text": "hi"}))["payload"] == {"text": "hi"}


def test_registry_is_written_under_its_public_name() -> None:
    """The private attribute of a registry is called data on the wire."""
    assert root(Registry({"a": 1})) == {"$type": "Registry", "data": {"a": 1}}


def test_times_keep_their_offset_and_microseconds() -> None:
    """Another offset than UTC stays."""
    text = "2026-05-01T00:00:00.000001+05:30"

    assert root(make(Thought, updated_at=datetime.fromisoformat(text)))[
        "updated_at"
    ] == (text)


def test_markers_stand_in_typed_slots_where_bare_values_can_not() -> None:
    """A huge int, text with lone surrogates and an odd time are marked."""
    odd = datetime(2026, 5, 1, tzinfo=UTC, fold=1)
    slots = Slots(number=2**70, text="\ud800", share=float("inf"), when=odd)
    wire: dict[str, Any] = root(slots, SLOTS)

    assert wire["number"] == {"$int": hex(2**70)}
    assert wire["text"] == {"$str": "\\ud800"}
    assert wire["share"] == {"$float": "inf"}
    assert wire["when"] == {"$datetime": "2026-05-01T00:00:00.000000+00:00", "fold": 1}


def test_marked_values_in_typed_slots_come_back() -> None:
    """What is marked is read as what it was."""
    slots = Slots(number=2**70, text="\ud800", share=float("inf"))

    assert SLOTS.decode(SLOTS.encode(slots)) == slots


def test_dict_with_a_dollar_key_in_a_typed_slot_is_a_list_of_pairs() -> None:
    """A map with such a key would be taken for a marker."""
    assert root(Slots(table={"$a": 1}), SLOTS)["table"] == {"$dict": [["$a", 1]]}
    assert SLOTS.decode(SLOTS.encode(Slots(table={"$a": 1}))) == Slots(table={"$a": 1})


def test_the_text_is_the_bytes() -> None:
    """For JSON columns; also from a codec that writes MessagePack."""
    codec = CODEC.replace(format="msgpack")

    assert codec.encode_text([1]) == CODEC.encode([1]).decode()
