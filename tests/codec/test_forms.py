"""Maps as Structs: what they make quick, they must not make different."""

# pyright: reportPrivateUsage=false, reportUnknownLambdaType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from graphcodec import BytesReader, Codec, errors
from graphcodec._coding._read_forms import FormProgram
from graphcodec._formats import encoder
from graphcodec.primitives import Conversation, Message
from graphcodec.testing import same_graph, strategies
from tests.bench import graphs
from tests.primitives.builders import PRIMITIVES, make, parts

if TYPE_CHECKING:
    from graphcodec.primitives._base import Primitive

CODECS = [Codec(), Codec(format="msgpack")]
formats = pytest.mark.parametrize("codec", CODECS, ids=["json", "msgpack"])


def as_dicts(codec: Codec, data: bytes) -> object:
    """Return what a document means to a codec that has no forms."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FormProgram, "parser", lambda *_, **__: None)
        return codec.decode(data)


def as_forms(codec: Codec, data: bytes) -> object:
    """Return what the forms alone make of a document."""
    return codec._engine._read_forms(data, binary=codec.format == "msgpack")


@formats
@given(graph=strategies.graphs())
@settings(deadline=None)
def test_both_ways_read_the_same(codec: Codec, graph: object) -> None:
    """With forms and without."""
    data = codec.encode(graph)

    assert same_graph(codec.decode(data), as_dicts(codec, data))


@formats
@given(graph=strategies.graphs())
@settings(deadline=None)
def test_both_builds_write_the_same(codec: Codec, graph: object) -> None:
    """The fast one, of forms, and the careful one, of dicts."""
    engine = codec._engine
    careful = engine._current().write_carefully
    write = encoder(codec.format)

    def finish(wire: Any) -> tuple[bytes, int]:
        data = write(wire)
        return data, len(data)

    written = engine._write(graph, careful, codec.format, finish, "max_bytes")

    assert codec.encode(graph) == written


@formats
def test_usual_documents_fit(codec: Codec) -> None:
    """Messages, calls and media are read by forms from end to end."""
    graph = graphs.ours(6)

    assert same_graph(as_forms(codec, codec.encode(graph)), graph)


def edited(edit: Callable[[dict[str, Any]], object]) -> bytes:
    """Return the document of a conversation, changed by *edit*."""
    document = json.loads(Codec().encode(Conversation(id="c", items=[make(Message)])))
    edit(document)
    return json.dumps(document, separators=(",", ":")).encode()


def put_type_last(document: dict[str, Any]) -> None:
    """Move the tag of the message behind its fields."""
    item = document["root"]["items"][0]
    item["$type"] = item.pop("$type")


UNUSUAL: dict[str, Callable[[dict[str, Any]], object]] = {
    "an unknown field": lambda d: d["root"]["items"][0].update(mood="glad"),
    "a field left out": lambda d: d["root"]["items"][0].pop("attachments"),
    "the type last": put_type_last,
    "an unused node": lambda d: d.update(nodes=[[1]]),
    "keys in another order": lambda d: d.update(root=d.pop("root")),
}


@pytest.mark.parametrize("edit", UNUSUAL.values(), ids=UNUSUAL)
def test_unusual_documents_are_read(edit: Callable[[dict[str, Any]], object]) -> None:
    """Whether they fit a form or not."""
    data = edited(edit)
    out = Codec().decode(data, Conversation)

    assert type(out.items[0]) is Message
    assert same_graph(out, as_dicts(Codec(), data))


WRONG: dict[str, Callable[[dict[str, Any]], object]] = {
    "no type": lambda d: d["root"]["items"][0].pop("$type"),
    "no type in a place for one class": lambda d: d["root"]["stash"].pop("$type"),
    "another class": lambda d: d["root"].update(stash=d["root"]["items"][0]),
    "a reference that is more": lambda d: d["root"].update(
        stash={"$type": "$ref", "n": 0, "m": 0}
    ),
    "a reference to nothing": lambda d: d["root"].update(
        stash={"$type": "$ref", "n": 7}
    ),
    "a reference by a bool": lambda d: d.update(
        nodes=[d["root"]["stash"]], root={"$type": "$ref", "n": False}
    ),
    "a newer version": lambda d: d["root"]["items"][0].update({"$v": 2}),
    "null for a list": lambda d: d["root"].update(items=None),
    "an empty id": lambda d: d["root"]["items"][0].update(id=""),
    "a number for text": lambda d: d["root"]["items"][0].update(id=1),
    "a wrong wire version": lambda d: d.update(graphcodec=2),
    "a part too many": lambda d: d.update(leaves=[]),
}


@pytest.mark.parametrize("edit", WRONG.values(), ids=WRONG)
def test_wrong_documents_are_refused_alike(
    edit: Callable[[dict[str, Any]], object],
) -> None:
    """By the same error, at the same place, as without forms."""
    data = edited(edit)
    with pytest.raises(errors.GraphCodecError) as expected:
        as_dicts(Codec(), data)

    with pytest.raises(errors.GraphCodecError) as found:
        Codec().decode(data)
    assert type(found.value) is type(expected.value)
    assert str(found.value) == str(expected.value)


ODDITIES: tuple[object, ...] = (
    *(None, True, 0, -1, 0.5, 2**60, "", "x", "user", "image", [], [None], {}),
    "2026-01-01T00:00:00.000000+00:00",
    {"a": {"$any": 1}},
    {"$any": {"$tuple": []}},
    {"$any": {"$dict": [[1, 2]]}},
    {"$any": {"$type": "Tokenizable", "text": ""}},
    {"$type": "Tokenizable", "text": ""},
    {"$type": "Tokenizable", "text": "x"},
    {"$type": "Registry", "data": {}},
    {"$type": "$ref", "n": 0},
    {"$type": "$reader", "tag": "media:in-memory", "locator": {"base64": "YR=="}},
    {"$type": "$reader", "tag": "spool:in-memory", "locator": {"base64": "YQ=="}},
    [{"$type": "$ref", "n": 0}],
)
NODE = {"$type": "Tokenizable", "text": "t"}


@formats
@pytest.mark.parametrize("cls", PRIMITIVES, ids=lambda cls: cls.__name__)
def test_no_field_lets_through_more(codec: Codec, cls: type[Primitive]) -> None:
    """What a form takes in any field means the same without forms."""
    reader = {"reader": BytesReader(b"x")} if "reader" in parts(cls) else {}
    wire = json.loads(Codec().encode(make(cls, **reader)))
    write = encoder(codec.format)
    taken = 0
    for key in wire["root"]:
        for odd in ODDITIES:
            root = {**wire["root"], key: odd}
            data = write({**wire, "nodes": [NODE], "root": root})
            try:
                found = as_forms(codec, data)
            except Exception:  # noqa: BLE001, S112 - the dicts decide then
                continue
            taken += 1
            assert same_graph(found, as_dicts(codec, data)), (key, odd)

    assert taken


def test_last_of_two_keys_wins() -> None:
    """As it does in a dict."""
    data = edited(lambda _: None).replace(b'"id":"c"', b'"id":"b","id":"c"')

    assert Codec().decode(data, Conversation).id == "c"
    assert as_forms(Codec(), data) == as_dicts(Codec(), data)


def test_tags_of_strangers_leave_no_trace() -> None:
    """A codec does not grow with the documents that it refuses."""
    codec = Codec()
    for number in range(5):
        with pytest.raises(
            errors.UndecodableValueError, match="is unknown to this codec"
        ):
            codec.decode(b'{"graphcodec":1,"root":{"$type":"x.T%d"}}' % number)

    assert codec._engine._programs.forms[False]._parsers == {}


def test_text_that_looks_like_a_root_misleads_nobody() -> None:
    """What stands first may be in a node."""
    data = edited(lambda d: d.update(nodes=[{"$dict": [["a", {"root": 1}]]}]))
    text = data.replace(b'{"root":1}', b'{"root":{"$type":"Identity"}}')

    with pytest.raises(errors.UndecodableValueError) as expected:
        as_dicts(Codec(), text)
    with pytest.raises(errors.UndecodableValueError) as found:
        Codec().decode(text)
    assert str(found.value) == str(expected.value)
