"""Members of Enums, bits of Flags, values of Literals that only a newer writer has."""

import enum
import json
from typing import Any, Literal, NamedTuple

import pytest
from attrs import Factory, field, frozen, make_class
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from graphcodec import Codec, Media, OpaqueMember, OpaqueNode, Tool, TrustPolicy
from graphcodec._documents._validating import validate
from graphcodec._schemas._diff import compare
from graphcodec.errors import (
    GraphCodecError,
    InvalidValueError,
    UndecodableValueError,
    UnencodableValueError,
)
from graphcodec.testing import same_graph
from tests.codec.samples import FORMATS, document, read, root
from tests.primitives.builders import make


class OldText(enum.Enum):
    """By value, text."""

    RED = "red"


class NewText(enum.Enum):
    """With one more."""

    RED = "red"
    BLUE = "blue"


class OldInt(enum.IntEnum):
    """By value, ints."""

    LOW = 1


class NewInt(enum.IntEnum):
    """With one more, beyond 64 bits."""

    LOW = 1
    HIGH = 2**70


class OldName(enum.Enum):
    """By name."""

    ONE = (1,)


class NewName(enum.Enum):
    """With one more."""

    ONE = (1,)
    TWO = (2,)


class OldBits(enum.Flag):
    """A Flag."""

    A = 1


class NewBits(enum.Flag):
    """With one more."""

    A = 1
    B = 2


class Classes(NamedTuple):
    """The classes of one side, by what they are."""

    item: Any
    owner: Any
    text: Any
    int: Any
    name: Any
    bits: Any


def classes(text: Any, int_: Any, name: Any, bits: Any, kind: Any) -> Classes:
    """Return the classes of a reader, or of a newer writer."""
    defaults: dict[str, tuple[Any, Any]] = {
        "text": (text, text.RED),
        "number": (int_, int_.LOW),
        "name": (name, name.ONE),
        "bits": (bits, bits.A),
        "kind": (kind, "a"),
        "table": (dict[text, int], Factory(dict)),
        "several": (tuple[name, ...], ()),
        "maybe": (bits | None, None),
    }
    fields = {
        key: field(type=type_, default=default)
        for key, (type_, default) in defaults.items()
    }
    item: Any = make_class("Item", fields, frozen=True, slots=True)
    parts: dict[str, Any] = {
        "item": field(type=item),
        "items": field(type=list[item], factory=list),
        "any": field(default=None),
    }
    owner: Any = make_class("Owner", parts, slots=True)
    return Classes(item, owner, text, int_, name, bits)


def codec_of(side: Classes, **options: Any) -> Codec:
    """Return the codec of one side."""
    tags = {
        "new.Item": side.item,
        "new.Owner": side.owner,
        "new.Text": side.text,
        "new.Int": side.int,
        "new.Name": side.name,
        "new.Bits": side.bits,
    }
    return Codec(types=tags, **options)


OLD = classes(OldText, OldInt, OldName, OldBits, Literal["a", 1] | None)
NEW = classes(NewText, NewInt, NewName, NewBits, Literal["a", "b", 1, 2, True] | None)
WRITER, STRICT = codec_of(NEW), codec_of(OLD)
RELAY = STRICT.replace(unknown_types="keep")
SCHEMA: Any = Draft202012Validator(RELAY.json_schema())
STRICT_SCHEMA: Any = Draft202012Validator(STRICT.json_schema())

NEWER: dict[str, tuple[dict[str, Any], str, str]] = {
    "text": (
        {"text": NewText.BLUE},
        "a member of OldText belongs here, not 'blue'; OldText has 'red'",
        "text",
    ),
    "int": (
        {"number": NewInt.HIGH},
        "a member of OldInt belongs here, not <dict>; OldInt has 1",
        "number",
    ),
    "name": (
        {"name": NewName.TWO},
        "a member of OldName belongs here, not 'TWO'; OldName has 'ONE'",
        "name",
    ),
    "bits": (
        {"bits": NewBits.B},
        "OldBits belongs here, not 2; OldBits has the bits of 1",
        "bits",
    ),
    "more bits": (
        {"bits": NewBits.A | NewBits.B},
        "OldBits belongs here, not 3; OldBits has the bits of 1",
        "bits",
    ),
    "literal": (
        {"kind": "b"},
        "one of 'a', 1 belongs here, not 'b'",
        "kind",
    ),
    "int literal": ({"kind": 2}, "one of 'a', 1 belongs here, not 2", "kind"),
    "bool literal": ({"kind": True}, "one of 'a', 1 belongs here, not True", "kind"),
    "key": (
        {"table": {NewText.BLUE: 1}},
        "OldText belongs here, not 'blue'",
        "table.blue",
    ),
    "item": (
        {"several": (NewName.TWO,)},
        "OldName belongs here, not 'TWO'",
        "several[0]",
    ),
    "optional": ({"maybe": NewBits.B}, "OldBits belongs here, not 2", "maybe"),
}


# Typed slots


@pytest.mark.parametrize("name", NEWER)
def test_unknown_member_is_refused(name: str) -> None:
    """It says the Enum, the value, the known members, the place and the remedy."""
    values, words, where = NEWER[name]
    data = WRITER.encode(NEW.owner(NEW.item(**values)))

    with pytest.raises(UndecodableValueError, match=words) as caught:
        STRICT.decode(data)

    assert caught.value.path == f"$.item.{where}"
    assert caught.value.hint == "update the reader, or use unknown_types='keep'"


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("name", NEWER)
def test_owner_of_an_unknown_member_is_kept(name: str, format_: Any) -> None:
    """Up to a place that has room for it; written back, it is the same document."""
    graph = NEW.owner(NEW.item(), any=[NEW.item(**NEWER[name][0]), NEW.item()])
    data = WRITER.replace(format=format_).encode(graph)
    relay = RELAY.replace(format=format_)

    again: Any = relay.decode(data)

    assert [type(item) for item in again.any] == [OpaqueNode, OLD.item]
    assert relay.encode(again) == data
    relay.check(again)


def test_unknown_member_of_an_object_in_a_typed_list() -> None:
    """Every owner above it is opaque, the root too; what is beside it is not."""
    graph = NEW.owner(NEW.item(), items=[NEW.item(), NEW.item(kind="b")])
    data = WRITER.encode(graph)

    again: Any = RELAY.decode(data)

    assert type(again) is OpaqueNode
    assert RELAY.encode(again) == data
    assert same_graph(WRITER.decode(RELAY.encode(again)), graph)


def test_error_after_an_opaque_object_has_its_own_path() -> None:
    """What was given up midway leaves no step behind."""
    graph = NEW.owner(NEW.item(), any=[NEW.item(kind="b"), NEW.item()])
    wire = root(graph, WRITER)
    wire["any"]["$any"][1]["number"] = "many"

    with pytest.raises(UndecodableValueError) as caught:
        read(
            {**wire, "any": {"$any": [*wire["any"]["$any"], {"$date": 1}]}}, codec=RELAY
        )

    assert caught.value.path == "$.any[2]"


@pytest.mark.parametrize("wire", [1.5, [], {}, True, {"$int": "0x1"}], ids=repr)
def test_what_is_no_member_of_any_enum_is_refused(wire: object) -> None:
    """Also where unknown ones are kept: no newer writer can have written it."""
    with pytest.raises(GraphCodecError):
        read({"$type": "new.Item", "text": wire}, codec=RELAY)


@pytest.mark.parametrize("boundary", [enum.STRICT, enum.CONFORM, enum.EJECT])
def test_no_bit_is_dropped(boundary: enum.FlagBoundary) -> None:
    """Whatever a Flag does with bits that no member has."""

    class Some(enum.Flag, boundary=boundary):
        A = 1

    @frozen
    class Holder:
        bits: Some

    codec = Codec(types={"new.Holder": Holder})
    wire = {"$type": "new.Holder", "bits": 3}

    with pytest.raises(
        UndecodableValueError, match="Some belongs here, not 3; Some has the bits of 1"
    ):
        read(wire, codec=codec)
    keeping = codec.replace(unknown_types="keep")
    assert root(read(wire, codec=keeping), keeping) == wire


def test_flag_that_keeps_bits_keeps_them() -> None:
    """An IntFlag has room for all."""

    class Some(enum.IntFlag):
        A = 1

    @frozen
    class Holder:
        bits: Some

    codec = Codec(types={"new.Holder": Holder})
    again: Any = read({"$type": "new.Holder", "bits": 6}, codec=codec)

    assert type(again.bits) is Some
    assert again.bits == 6


def test_primitive_with_a_new_literal_is_kept() -> None:
    """Their constructors refuse it, and yet a relay carries it."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    wire = root(Tool(name="a", description="b", handler=None, input_schema=schema))
    wire["on_collision"] = "merge"
    wire["input_schema"] = {"type": "object", "$defs": {"$type": {"$type": "any"}}}
    codec = Codec(unknown_types="keep")

    assert root(read(wire, codec=codec), codec) == wire


def test_many_members_are_not_all_named() -> None:
    """An error stays short."""
    names = [f"M{n}" for n in range(500)]
    many: Any = enum.Enum("many", names)  # type: ignore[misc]
    item: Any = make_class("Item", {"one": field(type=many)})

    with pytest.raises(UndecodableValueError, match="and 488 more") as caught:
        read(
            {"$type": "new.Holder", "one": 501},
            codec=Codec(types={"new.Holder": item}),
        )

    assert len(str(caught.value)) < 800


# Untyped slots

MEMBERS = [
    {"$enum": "new.Text", "name": "BLUE"},
    {"$enum": "new.Bits", "value": 6},
    {"$enum": "other.Text", "name": "RED"},
    {"$enum": "other.Bits", "value": {"$int": "0x100000000000000000"}},
]


@pytest.mark.parametrize("wire", MEMBERS, ids=json.dumps)
def test_unknown_member_becomes_an_opaque_one(wire: dict[str, Any]) -> None:
    """As an item, a member of a set, a key; equal if it is the same member."""
    pairs = {"$dict": [[wire, 1]]}
    graph: Any = read({"$any": [wire, wire, {"$set": [wire]}, pairs]}, codec=RELAY)

    assert type(graph[0]) is OpaqueMember
    assert graph[2] == {graph[0]} == set(graph[3])
    for name in FORMATS:
        codec = RELAY.replace(format=name)
        assert same_graph(codec.decode(codec.encode(graph)), graph)
    assert root(graph, RELAY) == {"$any": [wire, wire, {"$set": [wire]}, pairs]}
    RELAY.check([graph[0], graph[0]])


@pytest.mark.parametrize(
    ("wire", "words"),
    [
        (MEMBERS[0], "new.Text has no member 'BLUE'; it has 'RED' "),
        (MEMBERS[1], "OldBits belongs here, not 6; OldBits has the bits of 1"),
        (MEMBERS[2], "'other.Text' is unknown"),
    ],
)
def test_unknown_member_in_an_untyped_slot_is_refused(
    wire: dict[str, Any], words: str
) -> None:
    """Unless it is kept."""
    with pytest.raises(UndecodableValueError, match=words) as caught:
        read({"$any": [wire]}, codec=STRICT)

    assert caught.value.path == "$[0]"


@pytest.mark.parametrize(
    "wire",
    [
        {"$enum": "new.Text"},
        {"$enum": "new.Text", "name": 1},
        {"$enum": "new.Text", "name": "BLUE", "value": 1},
        {"$enum": "new.Text", "value": "RED"},
        {"$enum": "new.Bits", "value": "A"},
        {"$enum": "new.Bits", "name": "A"},
        {"$enum": "other.Bits", "value": 1.0},
        {"$enum": "other.Bits", "value": True},
        {"$enum": "other.Text", "member": "RED"},
        {"$enum": "", "name": "RED"},
        {"$enum": "$any", "name": "RED"},
        {"$enum": 1, "name": "RED"},
    ],
    ids=json.dumps,
)
def test_marker_that_names_no_member_is_refused(wire: dict[str, Any]) -> None:
    """Also where unknown ones are kept."""
    with pytest.raises(GraphCodecError):
        read({"$any": wire}, codec=RELAY)


@pytest.mark.parametrize(
    "arguments",
    [
        ("", "A"),
        ("$enum", "A"),
        (1, "A"),
        ("a.B", 1.5),
        ("a.B", True),
        ("a.B", "\ud800"),
    ],
    ids=repr,
)
def test_opaque_member_that_can_not_be_written_is_refused(arguments: Any) -> None:
    """When it is made."""
    with pytest.raises(InvalidValueError, match=r"OpaqueMember\.(tag|member) must be"):
        OpaqueMember(*arguments)


def test_closed_writer_refuses_an_opaque_member() -> None:
    """It could not read it back."""
    codec = STRICT.replace(write_unregistered=False)

    for tag in ("other.Text", "new.Text"):
        with pytest.raises(UnencodableValueError, match=tag):
            codec.encode([OpaqueMember(tag, "BLUE"), ()])
    assert codec.replace(unknown_types="keep").encode(OpaqueMember("new.Text", "BLUE"))


# Trust


def test_unknown_tier_is_not_believed() -> None:
    """What is opaque here may be read by one who knows it as the most trusted."""
    wire = root(make(Media))
    wire["reader"] = {
        "$type": "$reader",
        "tag": "media:in-memory",
        "locator": {"base64": ""},
    }
    wire["trust_tier"] = "zeroth-party"
    policy = TrustPolicy(max_tier="third-party-public")
    codec = Codec(unknown_types="keep", trust=policy)

    again = root(read(wire, codec=codec), codec)

    assert again["trust_tier"] == "third-party-public"
    refusing = TrustPolicy(max_tier="third-party-public", on_excess="refuse")
    with pytest.raises(UndecodableValueError, match="the tier zeroth-party"):
        read(wire, codec=codec.replace(trust=refusing))


# What the tools say of it


@pytest.mark.parametrize("name", NEWER)
def test_validate_finds_unknown_members(name: str) -> None:
    """All of them, each with its path; warnings, where unknown things are allowed."""
    values, _, where = NEWER[name]
    items = [NEW.item(**values), NEW.item(), NEW.item(**values)]
    data = WRITER.encode(NEW.owner(NEW.item(), items=items))
    wanted = [f"$.items[{n}].{where}" for n in (0, 2)]

    report = validate(data, STRICT)
    allowed = validate(data, STRICT, allow_unknown=True)

    if name != "key":
        assert sorted(found.path for found in report.findings) == wanted
    assert {found.severity for found in report.findings} == {"error"}
    assert allowed.errors == 0


def test_schema_of_a_keeping_codec_takes_unknown_members() -> None:
    """And that of a strict one does not."""
    for values, _, _ in NEWER.values():
        graph = NEW.owner(NEW.item(**values), any=[NewBits.B, {NewText.BLUE}])
        wire = json.loads(WRITER.encode(graph))
        SCHEMA.validate(wire)
        assert not STRICT_SCHEMA.is_valid(wire)
    for member in MEMBERS:
        wire = document({"$any": [member]})
        SCHEMA.validate(json.loads(wire))


def test_schema_of_a_keeping_codec_takes_unknown_classes() -> None:
    """A tool whose artifact is of a class that is not known is kept."""
    schema = {"type": "object"}
    wire = root(Tool(name="a", description="b", handler=None, input_schema=schema))
    wire["artifact"] = "no.Such"
    text = json.loads(document(wire))

    read(wire, codec=RELAY)
    SCHEMA.validate(text)
    assert not STRICT_SCHEMA.is_valid(text)


def test_diff_of_schemas_tells_what_becomes_of_lost_members() -> None:
    """They break, or make what holds them opaque; to add some breaks nothing."""
    lost = compare(WRITER.json_schema(), STRICT.json_schema())
    kept = compare(
        WRITER.replace(unknown_types="keep").json_schema(), RELAY.json_schema()
    )
    added = compare(STRICT.json_schema(), WRITER.json_schema())
    places = {
        *(f"new.Item.{name}" for name in ("text", "number", "name", "bits", "kind")),
        *(f"new.Item.{name}" for name in ("table", "several", "maybe")),
        "new.Text",
        "new.Int",
        "new.Name",
        "new.Bits",
    }

    assert {change.where for change in lost if change.severity == "error"} == places
    assert {change.severity for change in kept} == {"warning"}
    assert "OpaqueNode" in " ".join(change.message for change in kept)
    assert {change.severity for change in added} <= {"note"}


# Properties


def leaves() -> st.SearchStrategy[Any]:
    """Return members, and values that are none."""
    return st.one_of(
        st.sampled_from([*NewText, *NewInt, *NewName]),
        st.sampled_from([NewBits(n) for n in range(4)]),
        st.text(max_size=3),
        st.integers(),
    )


def items() -> st.SearchStrategy[Any]:
    """Return objects, with members that an old reader knows and does not."""
    return st.builds(
        NEW.item,
        text=st.sampled_from([*NewText]),
        number=st.sampled_from([*NewInt]),
        name=st.sampled_from([*NewName]),
        bits=st.sampled_from([NewBits(n) for n in range(4)]),
        kind=st.sampled_from(["a", "b", 1, 2, None, True]),
        table=st.dictionaries(st.sampled_from([*NewText]), st.integers(0, 9)),
        several=st.lists(st.sampled_from([*NewName]), max_size=2).map(tuple),
        maybe=st.none() | st.sampled_from([NewBits.A, NewBits.B]),
    )


def graphs() -> st.SearchStrategy[Any]:
    """Return graphs of them, with sharing."""
    owners = st.builds(
        NEW.owner, item=items(), items=st.lists(items(), max_size=2), any=leaves()
    )
    parts = st.recursive(
        leaves() | items() | owners,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.lists(inner, max_size=2).map(tuple),
            st.dictionaries(leaves(), inner, max_size=2),
            st.frozensets(leaves(), max_size=2),
            inner.map(lambda one: [one, one]),
        ),
        max_leaves=8,
    )
    return st.tuples(parts, parts).map(list)


@settings(deadline=None)
@given(graphs(), st.sampled_from(FORMATS))
def test_whatever_is_unknown_comes_through_a_relay(graph: Any, format_: Any) -> None:
    """The newer reader finds what the newer writer wrote, and the relay's graph too."""
    writer, relay = WRITER.replace(format=format_), RELAY.replace(format=format_)
    data = writer.encode(graph)

    kept = relay.decode(data)
    written = relay.encode(kept)

    assert same_graph(writer.decode(written), writer.decode(data))
    assert same_graph(relay.decode(written), kept)
    SCHEMA.validate(json.loads(RELAY.encode(kept)))


@settings(deadline=None)
@given(graphs())
def test_validate_and_decode_agree(graph: Any) -> None:
    """A document has errors exactly if it is refused, and none that are allowed."""
    data = WRITER.encode(graph)
    try:
        STRICT.decode(data)
    except GraphCodecError:
        refused = True
    else:
        refused = False

    assert (validate(data, STRICT).errors > 0) is refused
    assert validate(data, STRICT, allow_unknown=True).errors == 0
    if not refused:
        STRICT_SCHEMA.validate(json.loads(data))
