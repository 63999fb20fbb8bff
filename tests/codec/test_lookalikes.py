import json
from typing import Any

import pytest
from attrs import define

from graphcodec import Codec, encodable
from graphcodec.primitives import GateRecord, Identity, Registry, ToolCall
from tests.codec.samples import CODEC, read, root, round_trip, through_args
from tests.primitives.builders import make

LOOKALIKES: list[dict[str, Any]] = [
    {"$type": "Message", "id": "x"},
    {"$type": "$ref", "n": 0},
    {"$type": "$reader", "tag": "media:in-memory", "locator": {"base64": ""}},
    {"$ref": 0},
    {"$any": 1},
    {"$any": {"$type": "Tokenizable", "text": "x"}},
    {"$value": 1},
    {"$dict": [[1, 2]]},
    {"$tuple": [1]},
    {"$bytes": "aGk="},
    {"$enum": "x", "name": "y"},
    {"$unknown": 1},
    {"$": 1},
    {"a": 1, "$b": 2},
    {"graphcodec": 1, "root": None},
    {"graphcodec": 1, "nodes": [1], "root": {"$type": "$ref", "n": 0}},
    {"py/object": "builtins.set"},
    {"lc": 1, "type": "secret", "id": ["PATH"]},
    {"kind": "binary", "data": "aGk=", "media_type": "image/png"},
    {"__class__": "os.system", "__reduce__": ["os.system", ["true"]]},
    {"type": "Message", "id": "x"},
]


@encodable("test.Words")
@define
class Words:
    """Fields named like the words of the wire."""

    type: str = "t"
    tag: str = "g"
    id: int = 1
    ref: Any = None
    v: int = 7
    n: int = 8
    root: Any = None
    nodes: Any = None
    any: Any = None
    value: Any = None
    graphcodec: int = 9


@pytest.mark.parametrize("value", LOOKALIKES, ids=json.dumps)
def test_data_that_looks_like_markup_comes_back(value: dict[str, Any]) -> None:
    """As a dict, at the root and deep in arguments."""
    assert through_args(value) == value
    assert round_trip(value) == value


@pytest.mark.parametrize("value", LOOKALIKES, ids=json.dumps)
def test_lookalike_beside_what_must_be_walked_comes_back(value: dict[str, Any]) -> None:
    """A dict inside the wrapper is a dict, too."""
    mixed = [value, {"k": value}, (value,), {1: value}]

    assert through_args(mixed) == mixed


@pytest.mark.parametrize("value", LOOKALIKES, ids=json.dumps)
def test_lookalike_in_a_registry_and_a_payload_comes_back(
    value: dict[str, Any],
) -> None:
    """Every untyped slot is the same."""
    assert round_trip(Registry({"k": value})).get("k") == value
    assert round_trip(make(GateRecord, payload=value)).payload == value


@pytest.mark.parametrize("value", LOOKALIKES, ids=json.dumps)
def test_markup_in_a_plain_slot_means_nothing(value: dict[str, Any]) -> None:
    """By hand it can be put there; it stays data."""
    wire = root(make(ToolCall))

    assert read({**wire, "args": {"k": [value]}}).args == {"k": [value]}


def test_markup_in_a_plain_slot_of_msgpack_means_nothing() -> None:
    """Both formats agree."""
    import msgspec  # noqa: PLC0415 - the only use

    wire = root(make(ToolCall))
    args = {"k": LOOKALIKES}
    data = msgspec.msgpack.encode({"graphcodec": 1, "root": {**wire, "args": args}})

    again = CODEC.decode(data)

    assert isinstance(again, ToolCall)
    assert again.args == args


def test_root_list_of_references_is_data() -> None:
    """Only inside the wrapper, or as the root itself, is a reference one."""
    reference = {"$type": "$ref", "n": 0}

    assert read([reference], "node") == [reference]
    assert read({"$any": [reference]}, "node") == ["node"]


def test_fields_named_like_markup_keep_their_values() -> None:
    """Nothing is overwritten, in either direction."""
    codec = Codec(types=[Words])
    words = Words(root={"$type": "x"}, nodes=[1], any={"$any": 2}, value=(1,))

    assert round_trip(words, codec) == words


def test_kept_data_is_not_taken_for_markup_by_an_upgrade() -> None:
    """A dict that only looks like an object stays a dict on its way through one."""
    codec = Codec()
    codec.register(Identity, "test.Who", version=2, upgrades={1: dict}, replace=True)
    lookalike = {"$any": {"$dict": [["$type", "Tokenizable"], ["text", "hi"]]}}
    wire = {**root(make(Identity)), "$type": "test.Who", "note": lookalike}

    again = codec.decode(json.dumps({"graphcodec": 1, "root": wire}))
    written = json.loads(codec.encode(again))["root"]

    assert written["note"] == lookalike
