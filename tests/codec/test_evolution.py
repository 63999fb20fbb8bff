import json
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from attrs import define, field, frozen

from graphcodec import Codec, OpaqueNode, encodable, extra
from graphcodec.errors import (
    GraphCodecError,
    InvalidValueError,
    UndecodableValueError,
    VersionError,
)
from graphcodec.primitives import (
    Conversation,
    Message,
    Registry,
    Thought,
    Tokenizable,
)
from graphcodec.testing import same_graph
from tests.codec.samples import (
    CODEC,
    FORMATS,
    document,
    full,
    read,
    root,
    written,
)
from tests.primitives.builders import NOW, make

TEXT = {"$type": "Tokenizable", "text": "hi"}
KEEP = CODEC.replace(unknown_types="keep")


def msgpack(root: object, *nodes: object) -> bytes:
    """Return a MessagePack document with any root and nodes."""
    return msgspec.msgpack.encode({"graphcodec": 1, "nodes": nodes, "root": root})


def first(fields: dict[str, Any]) -> dict[str, Any]:
    """Rename a field."""
    return {"b": fields.pop("a"), **fields}


def second(fields: dict[str, Any]) -> dict[str, Any]:
    """Compute a field from another one."""
    return {**fields, "c": fields["b"] + 1}


@encodable("test.Now", version=3, aliases=["test.Then"], upgrades={1: first, 2: second})
@define
class Now:
    """The third version of a class."""

    b: int
    c: int = 0
    text: Tokenizable | None = None
    table: dict[int, str] = field(factory=dict[int, str])
    when: datetime | None = None
    any: Any = None
    data: bytes = b""
    many: set[int] = field(factory=set[int])
    pair: tuple[int, str] = (1, "a")
    now: "Now | None" = None
    rest: dict[str, object] = extra()  # noqa: RUF009 - an attrs field


NOWS = Codec(types=[Now])

UNKNOWN = [
    1,
    "text",
    None,
    [1, [2]],
    {"a": {"b": 1}},
    {"$any": {"$date": "2026-01-01"}},
    {"$any": [{"$type": "Tokenizable", "text": "hi"}]},
    TEXT,
    [TEXT, {"k": TEXT}],
    {"$dict": [[1, TEXT]]},
    {"$bytes": "aGk="},
    [{"$bytes": "aGk="}],
    {"$type": "$ref", "n": 0},
    [{"$type": "$ref", "n": 0}],
    {"$any": {"$type": "$ref", "n": 1}},
    {"$any": [{"$type": "$ref", "n": 1}, {"$type": "$ref", "n": 1}]},
    {"$type": "$reader", "tag": "media:in-memory", "locator": {"base64": "aGk="}},
]


# Unknown fields


@pytest.mark.parametrize("value", UNKNOWN, ids=json.dumps)
def test_unknown_field_is_kept_and_written_back(value: object) -> None:
    """As it came, also after a journey through the other format."""
    wire = {**root(make(Message)), "content": {"$type": "$ref", "n": 0}, "new": value}
    again = read(wire, TEXT, ["shared"])
    expected = root(again)["new"]
    for name in FORMATS:
        codec = CODEC.replace(format=name)
        again = codec.decode(codec.encode(again))

    assert root(again)["new"] == expected
    assert "$ref" in json.dumps(value) or expected == value


@pytest.mark.parametrize("cls", full())
def test_every_primitive_keeps_unknown_fields(cls: type) -> None:
    """All have a place for them."""
    wire = {**root(full()[cls]), "new": TEXT}
    nodes = written(full()[cls]).get("nodes", [])

    assert root(read(wire, *nodes))["new"] == TEXT


def test_unknown_fields_can_be_ignored() -> None:
    """They are gone, then."""
    codec = CODEC.replace(unknown_fields="ignore")

    again = read({**TEXT, "new": TEXT}, codec=codec)

    assert root(again) == TEXT


def test_unknown_fields_can_be_refused() -> None:
    """With path and name."""
    codec = CODEC.replace(unknown_fields="raise")
    wire = {**root(make(Message)), "content": {**TEXT, "new": 1}}

    with pytest.raises(UndecodableValueError, match="unknown field 'new'") as caught:
        read(wire, codec=codec)

    assert caught.value.path == "$.content"
    assert caught.value.tag == "Tokenizable"


def test_class_without_a_place_refuses_unknown_fields() -> None:
    """Unless they are ignored."""
    wire = {"$type": "test.Bare", "x": 1, "new": 2}

    with pytest.raises(UndecodableValueError, match="no place to keep") as caught:
        read(wire)
    assert "graphcodec.extra()" in caught.value.hint
    assert read(wire, codec=CODEC.replace(unknown_fields="ignore")).x == 1


def test_references_in_unknown_fields_are_numbered_anew() -> None:
    """What they refer to is shared with the rest of the graph."""
    reference = {"$type": "$ref", "n": 0}
    wire = {**root(make(Message)), "content": reference, "new": {"$any": [reference]}}
    message = read(wire, TEXT)
    again: Any = CODEC.decode(CODEC.encode([Registry(), message, message.content]))
    kept: Any = again[1]._unknown["new"]
    assert kept[0] is again[1].content is again[2]


@pytest.mark.parametrize("value", [b"hi", [b"hi"], {"k": b"hi"}])
def test_unknown_bytes_come_back_as_the_slot_they_stood_in(value: object) -> None:
    """A newer reader with a typed slot finds what it wrote."""
    wire = {**TEXT, "new": value}
    again = CODEC.decode(msgpack(wire))
    binary = CODEC.replace(format="msgpack").encode(again)

    assert msgspec.msgpack.decode(binary)["root"] == wire
    assert same_graph(CODEC.decode(CODEC.encode(again)), again)


# Unknown types


def test_unknown_tag_is_an_error_by_default() -> None:
    """It says the tag, the place and the remedy."""
    with pytest.raises(
        UndecodableValueError, match=r"'test\.New' is unknown"
    ) as caught:
        read({"$any": [1, {"$type": "test.New"}]})

    assert caught.value.path == "$[1]"
    assert caught.value.tag == "test.New"
    assert "unknown_types='keep'" in caught.value.hint


@pytest.mark.parametrize("value", UNKNOWN, ids=json.dumps)
def test_unknown_type_becomes_an_opaque_node(value: object) -> None:
    """Which encodes to an equal value."""
    wire = {"$type": "test.New", "$v": 7, "field": value}
    again = read(wire, TEXT, ["shared"], codec=KEEP)

    assert type(again) is OpaqueNode
    assert (again.tag, again.version) == ("test.New", 7)
    for name in FORMATS:
        codec = KEEP.replace(format=name)
        assert same_graph(codec.decode(codec.encode(again)), again)


def test_opaque_nodes_are_shared_and_cyclic_like_others() -> None:
    """A node of unknown type that refers to itself."""
    reference = {"$type": "$ref", "n": 0}
    node = {"$type": "test.New", "me": reference, "any": {"$any": [reference]}}
    again = read({"$any": [reference, reference]}, node, codec=KEEP)

    assert again[0] is again[1]
    assert again[0].fields["any"][0] is again[0]
    assert same_graph(KEEP.decode(KEEP.encode(again)), again)


def test_owner_becomes_opaque_where_it_admits_no_opaque_node() -> None:
    """Up to the root, and everything is written back."""
    wire = root(make(Conversation, items=[make(Message), make(Thought)]))
    wire["items"][0]["identity"] = {"$type": "test.New", "inner": TEXT}
    again = read(wire, codec=KEEP)

    assert type(again) is OpaqueNode
    assert again.tag == "Conversation"
    assert root(again, KEEP) == wire


def test_owner_stays_where_the_slot_is_untyped() -> None:
    """Only the unknown object itself is opaque."""
    wire = root(make(Conversation, items=[make(Message)]))
    wire["items"][0]["stash"]["data"] = {"$any": {"k": {"$type": "test.New"}}}
    again = read(wire, codec=KEEP)

    assert type(again) is Conversation
    assert type(again.items[0].stash.get("k")) is OpaqueNode
    assert root(again, KEEP) == wire


def test_mutable_owner_in_a_cycle_becomes_opaque_or_is_refused() -> None:
    """References to it never lead to an empty instance."""
    node = {
        "$type": "test.Node",
        "next": {"$type": "$ref", "n": 0},
        "any": {"$any": {"$type": "$ref", "n": 0}},
        "nodes": [{"$type": "test.New"}],
    }
    try:
        again = read({"$type": "$ref", "n": 0}, node, codec=KEEP)
    except GraphCodecError:
        return

    assert type(again) is OpaqueNode
    assert again.fields["any"] is again
    assert same_graph(KEEP.decode(KEEP.encode(again)), again)


@pytest.mark.parametrize(
    "arguments",
    [
        ("$ref", 1, {"n": 0}),
        ("", 1, {}),
        ("test.New", 0, {}),
        ("test.New", True, {}),
        ("test.New", 1, {1: 2}),
        ("test.New", 1, {"$type": "Message"}),
        ("test.New", 1, {"$v": 2}),
    ],
    ids=repr,
)
def test_opaque_node_that_says_something_else_is_refused(
    arguments: tuple[Any, ...],
) -> None:
    """Made by hand it can't be written as a reference or another object."""
    with pytest.raises(GraphCodecError):
        KEEP.encode(OpaqueNode(*arguments))


def test_opaque_node_made_by_hand_is_written() -> None:
    """Its fields are untyped slots."""
    node = OpaqueNode("test.New", 1, {"a": b"x", "b": NOW, "c": Tokenizable("x")})

    assert same_graph(KEEP.decode(KEEP.encode(node)), node)


# Versions


def test_newer_version_is_an_error_with_both_numbers() -> None:
    """It says what to do."""
    with pytest.raises(VersionError, match=r"at version 4.*reads 3") as caught:
        read({"$any": [{"$type": "test.Now", "$v": 4, "b": 1}]}, codec=NOWS)

    assert caught.value.path == "$[0]"
    assert caught.value.tag == "test.Now"
    assert caught.value.value == 4


def test_newer_version_is_kept_like_an_unknown_type() -> None:
    """If unknown types are."""
    wire = {"$type": "test.Now", "$v": 4, "zzz": TEXT}
    codec = NOWS.replace(unknown_types="keep")
    again = read(wire, codec=codec)

    assert type(again) is OpaqueNode
    assert root(again, codec) == wire


def test_newer_document_is_an_error_with_both_numbers() -> None:
    """The wire has a version, too."""
    with pytest.raises(GraphCodecError, match=r"version 2.*reads 1"):
        CODEC.decode('{"graphcodec": 2, "root": null}')


def test_upgrades_are_chained() -> None:
    """From any version to the last, under a tag or an alias."""
    assert read({"$type": "test.Now", "a": 5}, codec=NOWS) == Now(5, 6)
    assert read({"$type": "test.Now", "$v": 2, "b": 5}, codec=NOWS) == Now(5, 6)
    assert read({"$type": "test.Then", "$v": 1, "a": 5}, codec=NOWS) == Now(5, 6)
    assert read({"$type": "test.Then", "$v": 3, "b": 5}, codec=NOWS) == Now(5, 0)


def test_alias_is_read_and_the_tag_is_written() -> None:
    """A renamed class writes its new name."""
    again = read({"$type": "test.Then", "$v": 3, "b": 5}, codec=NOWS)

    assert root(again, NOWS)["$type"] == "test.Now"


@pytest.mark.parametrize(
    "changes",
    [
        {"table": {1: "a", 2: "b"}},
        {"table": {}},
        {"when": datetime(2026, 1, 1, tzinfo=UTC)},
        {"when": datetime(2026, 1, 1, tzinfo=UTC, fold=1)},
        {"any": {1: (2, {"$type": "x"}), None: b"x"}},
        {"any": {"$any": {"$type": "Tokenizable"}}},
        {"any": NOW},
        {"data": b"\xff"},
        {"many": {1, 2}},
        {"pair": (2, "b")},
        {"text": Tokenizable("x")},
        {"now": Now(1, any=[NOW, {1}], table={1: "a"})},
    ],
    ids=repr,
)
def test_upgraded_object_keeps_the_values_of_its_other_fields(
    changes: dict[str, Any],
) -> None:
    """Every kind of slot is read before the upgrade, and kept as it is after it."""
    now = Now(b=5, c=6, **changes)
    for name in FORMATS:
        codec = NOWS.replace(format=name)
        data = codec.encode(now)
        older = data.replace(b'"$v":3', b'"$v":2').replace(b"\xa2$v\x03", b"\xa2$v\x02")

        again = codec.decode(older)

        assert older != data
        assert isinstance(again, Now)
        assert same_graph(_fixed(again), now)


def _fixed(now: Now) -> Now:
    """Undo what the upgrade computed in a nested object."""
    if now.now is not None:
        now.now.c = 0
    return now


@pytest.mark.parametrize("value", UNKNOWN[:12], ids=json.dumps)
def test_upgraded_object_keeps_unknown_fields(value: object) -> None:
    """They are values like others on their way through an upgrade."""
    old = read({"$type": "test.Now", "$v": 2, "b": 5, "new": value}, codec=NOWS)
    same = read({"$type": "test.Now", "$v": 3, "b": 5, "new": value}, codec=NOWS)
    again = NOWS.decode(NOWS.encode(old))
    want: Any = same.rest["new"]
    have: Any = again.rest["new"]  # type: ignore[attr-defined]

    assert same_graph(_plain(have), _plain(want))


def _plain(kept: Any) -> object:
    """Look through what keeps the form of a value on the wire."""
    tree = getattr(kept, "tree", kept)
    if isinstance(tree, dict) and "$bytes" in tree:
        return b"hi"
    if isinstance(tree, dict) and "$dict" in tree:
        return dict(tree["$dict"])  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if isinstance(tree, list):
        return [_plain(item) for item in tree]  # pyright: ignore[reportUnknownVariableType]
    return tree  # pyright: ignore[reportUnknownVariableType]


@pytest.mark.parametrize(
    "returned", [None, 1, [], "fields", {1: 2}, {"b": Tokenizable}, {}], ids=repr
)
def test_upgrade_that_gives_no_field_map_is_an_error(returned: object) -> None:
    """Whatever it gives."""
    codec = Codec()

    def upgrade(_: object) -> Any:
        return returned

    codec.register(Now, "test.Up", version=2, upgrades={1: upgrade}, replace=True)

    with pytest.raises(GraphCodecError):
        read({"$type": "test.Up", "b": 1}, codec=codec)


def test_upgrade_that_raises_is_an_error_of_ours() -> None:
    """With the class, the path, and the exception as its cause."""
    with pytest.raises(UndecodableValueError, match="KeyError") as caught:
        read({"$any": [{"$type": "test.Now", "$v": 1}]}, codec=NOWS)

    assert caught.value.path.startswith("$[0]")
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize(
    "value",
    [NOW, msgspec.msgpack.Ext(5, b"x"), {1: 2}, [NOW], {"k": b"x"}],
    ids=["timestamp", "ext", "int key", "list", "bin"],
)
def test_old_version_is_read_as_strictly(value: object) -> None:
    """An upgrade is no way in for what MessagePack alone has."""
    with pytest.raises(UndecodableValueError):
        NOWS.decode(msgpack({"$type": "test.Now", "$v": 2, "b": 1, "any": value}))


def test_gap_in_the_upgrades_is_found_at_registration() -> None:
    """Not when the first old document comes."""
    keep: Any = dict

    with pytest.raises(InvalidValueError, match="lack the step from 2"):
        encodable("test.Gap", version=4, upgrades={1: keep, 3: keep})
    with pytest.raises(InvalidValueError, match="lead from 4"):
        encodable("test.Gap", version=4, upgrades={3: keep, 4: keep})
    with pytest.raises(InvalidValueError, match="version"):
        encodable("test.Gap", version=0)


def test_version_before_the_first_upgrade_is_refused() -> None:
    """With both numbers."""
    codec = Codec()
    codec.register(Now, "test.Late", version=4, upgrades={3: dict}, replace=True)

    with pytest.raises(VersionError, match=r"version 2.*reads them from 3"):
        read({"$type": "test.Late", "$v": 2, "b": 1}, codec=codec)


@pytest.mark.parametrize("version", [0, -1, True, 1.0, "3", None, [3]])
def test_version_is_a_positive_int(version: object) -> None:
    """For known and unknown types."""
    for tag in ("test.Now", "test.New"):
        with pytest.raises(UndecodableValueError, match="version"):
            read(
                {"$type": tag, "$v": version, "b": 1},
                codec=NOWS.replace(unknown_types="keep"),
            )


# Missing fields


def test_missing_field_takes_its_default() -> None:
    """As the constructor would."""
    wire = root(make(Message))
    del wire["attachments"], wire["identity"], wire["stash"]

    assert read(wire) == make(Message)


def test_missing_field_without_default_is_named() -> None:
    """With path, tag and remedy."""
    wire = root(make(Conversation, items=[make(Message)]))
    del wire["items"][0]["role"]

    with pytest.raises(UndecodableValueError, match="lacks its field 'role'") as caught:
        read(wire)

    assert caught.value.path == "$.items[0]"
    assert caught.value.tag == "Message"


def test_document_read_by_an_older_reader_passes_through() -> None:
    """A proxy that knows less loses nothing."""
    data = document({"$type": "test.Now", "$v": 3, "b": 1, "rest": 5, "x": [TEXT]})
    proxy = Codec(unknown_types="keep")

    assert NOWS.encode(NOWS.decode(proxy.encode(proxy.decode(data)))) == (
        NOWS.encode(NOWS.decode(data))
    )


def test_older_version_needs_an_upgrade() -> None:
    """A class at a later version without upgrades reads no older document."""

    @encodable("test.Bumped", version=3)
    @define
    class Bumped:
        a: int = 0

    codec = Codec(types=[Bumped])

    with pytest.raises(VersionError, match=r"version 1.*at 3"):
        codec.decode('{"graphcodec":1,"root":{"$type":"test.Bumped","a":1}}')


def test_opaque_owner_need_not_fit_its_class() -> None:
    """What is kept of it is looked into all the same, wherever it stands."""
    codec = Codec(unknown_types="keep")
    shared = {"$type": "Tokenizable", "text": "x"}
    wire = {
        "graphcodec": 1,
        "nodes": [shared],
        "root": {
            "$type": "Conversation",
            "id": "c",
            "new": {"$type": "test.Strange"},
            "items": [{"$type": "test.Strange"}, [{"$type": "$ref", "n": 0}]],
            "instructions": {"a": {"$type": "$ref", "n": 0}},
        },
    }
    kept = codec.decode(json.dumps(wire))

    assert isinstance(kept, OpaqueNode)
    assert same_graph(codec.decode(codec.encode(kept)), kept)


@encodable("test.Chained", version=2, upgrades={1: dict})
@frozen
class Chained:
    """One of many that hold each other."""

    next: "Chained | None" = None
    others: "list[Chained]" = field(factory=list["Chained"])


@pytest.mark.parametrize("key", ["next", "others"])
@pytest.mark.parametrize(
    ("inner", "version"),
    [({"$type": "test.Unheard"}, 2), ({"$type": "test.Chained", "$v": 9}, 2), ({}, 1)],
    ids=["unknown", "newer", "old"],
)
def test_owners_of_owners_are_read_in_linear_time(
    key: str, inner: dict[str, object], version: int
) -> None:
    """What is opaque or old is read twice, but not twice at each level above it."""
    wire: dict[str, object] = inner or {"$type": "test.Chained"}
    for _ in range(80):
        held = wire if key == "next" else [wire]
        wire = {"$type": "test.Chained", "$v": version, key: held}
    codec = Codec(types=[Chained], unknown_types="keep")
    data = json.dumps({"graphcodec": 1, "root": wire})

    found = codec.decode(data)

    assert type(found) is (OpaqueNode if version == 2 else Chained)
    assert codec.decode(codec.encode(found)) == found


def test_owner_of_an_old_version_becomes_opaque_too() -> None:
    """Its upgrade has no room for an unknown object either."""
    codec = Codec(types=[Chained], unknown_types="keep")
    wire: dict[str, object] = {"$type": "test.Unheard"}
    for _ in range(3):
        wire = {"$type": "test.Chained", "next": wire}
    again = read(wire, codec=codec)

    assert type(again) is OpaqueNode
    assert root(again, codec) == wire


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_bare_number_that_json_lacks_is_not_kept(value: float) -> None:
    """MessagePack can hold it; how JSON would mark it depends on the unknown slot."""
    for size in (value, [value], {"$x": [value]}):
        refused_to_keep(size, value)


def refused_to_keep(size: object, value: float) -> None:
    """See that a field of an unknown class is refused for a number in it."""
    data = msgpack({"$type": "x.Unknown", "size": size})

    with pytest.raises(
        UndecodableValueError, match=rf"^{value} stands here without a marker"
    ) as caught:
        KEEP.decode(data)
    assert caught.value.path == "$.size"
