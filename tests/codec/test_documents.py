import json
from typing import Any

import msgspec
import pytest

from graphcodec import Codec
from graphcodec.errors import (
    GraphCodecError,
    LimitExceededError,
    UndecodableValueError,
    UnencodableValueError,
)
from graphcodec.primitives import Media, Message, Tokenizable
from tests.codec.samples import CODEC, FORMATS, document, full, read, root
from tests.primitives.builders import make

TEXT: dict[Any, Any] = {"$type": "Tokenizable", "text": "hi"}
SECRET = "hunter2-" * 20
MIXED: dict[Any, Any] = {"$tuple": [], 1: 2}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "no bytes at all"),
        (b" ", "no JSON document"),
        (b"null", "no version"),
        (b"[]", "no version"),
        (b'"graphcodec"', "no version"),
        (b"{}", "no version"),
        (b'{"root":1}', "no version"),
        (b'{"graphcodec":1}', "no root"),
        (b'{"graphcodec":"1","root":1}', "version '1'"),
        (b'{"graphcodec":true,"root":1}', "version True"),
        (b'{"graphcodec":1.0,"root":1}', r"version 1\.0"),
        (b'{"graphcodec":1,"root":1,"more":2}', "do not belong"),
        (b'{"graphcodec":1,"root":1,"nodes":{}}', "do not belong"),
        (b'{"graphcodec":1,"root":1,"nodes":null}', "do not belong"),
        (b'{"graphcodec":1,"root":1} x', "trailing"),
        (b'{"graphcodec":1,"root":1}\x00', "trailing"),
        (b'\xef\xbb\xbf{"graphcodec":1,"root":1}', "JSON"),
        ('{"graphcodec":1,"root":1}'.encode("utf-16"), "JSON"),
        (b'{"graphcodec":1,"root":"\xff"}', "JSON"),
        (b'{"graphcodec":1,"root":"\\ud800"}', "JSON"),
        (b'{"graphcodec":1,"root":NaN}', "JSON"),
        (b'{"graphcodec":1,"root":1e999}', "JSON"),
        (b"{'graphcodec':1,'root':1}", "JSON"),
        (b"\x80", "no version"),
        (b"\xc1", "cut off"),
        (b"\x93\x01\x02\x03", "JSON"),
        (b"\xdf\xff\xff\xff\xff", "MessagePack"),
        (b"\x82\xaagraphcodec\x01\xa4root\xdd\xff\xff\xff\xff", "MessagePack"),
        (b"\x82\xaagraphcodec\x01\xa4root\xc6\xff\xff\xff\xff", "MessagePack"),
        (b"\x82\xaagraphcodec\x01\xa4root\xdb\xff\xff\xff\xff", "MessagePack"),
        (b"\x82\xaagraphcodec\x01\xa4root\xc9\xff\xff\xff\xff\x05", "MessagePack"),
        (b"\x82\xaagraphcodec\x01\xa4root\xc1", "MessagePack"),
        (b"\x82\xaagraphcodec\x01\xa4root\x01\x01", "MessagePack"),
    ],
    ids=repr,
)
def test_what_is_no_document_is_refused(data: bytes, reason: str) -> None:
    """With the reason, in few words."""
    with pytest.raises(UndecodableValueError, match=reason) as caught:
        CODEC.decode(data)

    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("data", [None, 1, ["x"], {}], ids=repr)
def test_what_is_no_data_is_refused(data: Any) -> None:
    """Only bytes and text are decoded."""
    with pytest.raises(GraphCodecError, match=r"bytes or str.*read_bytes\(\)"):
        CODEC.decode(data)


def test_every_buffer_of_bytes_is_read() -> None:
    """And text."""
    data = CODEC.encode(Tokenizable("é"))
    for form in (data, bytearray(data), memoryview(data), data.decode()):
        assert CODEC.decode(form) == Tokenizable("é")


def test_odd_buffers_are_read_or_refused() -> None:
    """Not contiguous, of other items, released, empty."""
    data = CODEC.encode([1, 2])
    released = memoryview(data)
    released.release()
    doubled = memoryview(bytes(byte for byte in data for _ in range(2)))[::2]
    for form in (doubled, released, memoryview(b"")):
        try:
            assert CODEC.decode(form) == [1, 2]
        except GraphCodecError as exc:
            assert exc.code == "E_UNDECODABLE_VALUE"  # noqa: PT017 - either is right


@pytest.mark.parametrize("name", FORMATS)
def test_document_cut_anywhere_is_refused(name: Any) -> None:
    """At every byte."""
    data = CODEC.replace(format=name).encode(list(full().values()))
    for length in range(len(data)):
        with pytest.raises(GraphCodecError):
            CODEC.decode(data[:length])


@pytest.mark.parametrize("name", FORMATS)
def test_bytes_behind_a_document_are_refused(name: Any) -> None:
    """Whatever they are."""
    data = CODEC.replace(format=name).encode(full()[Message])
    for rest in (b"\x00", b"x", b"{}", data):
        with pytest.raises(UndecodableValueError):
            CODEC.decode(data + rest)


@pytest.mark.parametrize(
    "number", [1, -1, True, False, 0.0, "0", None, [], {}, 2**70, -(2**70)], ids=repr
)
def test_reference_that_is_no_index_is_refused(number: object) -> None:
    """At the root, in the wrapper, in a typed slot and among unknown fields."""
    reference = {"$type": "$ref", "n": number}
    message = root(make(Message))
    for wire in (
        reference,
        {"$any": [reference]},
        {**message, "content": reference},
        {**message, "new": reference},
        {"$any": {"$type": "$ref"}},
        {"$any": {"$type": "$ref", "n": 0, "m": 1}},
    ):
        with pytest.raises(UndecodableValueError, match="reference"):
            read(wire, "node")


def test_reference_to_another_class_is_refused() -> None:
    """What it finds is checked against the slot it stands in."""
    wire = {**root(make(Message)), "identity": {"$type": "$ref", "n": 0}}

    with pytest.raises(UndecodableValueError, match="Identity belongs") as caught:
        read(wire, TEXT)

    assert caught.value.path == "$.identity"


@pytest.mark.parametrize(
    "nodes",
    [
        [{"$type": "$ref", "n": 0}],
        [{"$type": "$ref", "n": 1}, {"$type": "$ref", "n": 0}],
        [{"$tuple": [{"$type": "$ref", "n": 0}]}],
        [{"$set": [{"$type": "$ref", "n": 0}]}],
        [{"$dict": [[{"$type": "$ref", "n": 0}, 1]]}],
        [
            {"$tuple": [{"$type": "$ref", "n": 1}]},
            {"$tuple": [{"$type": "$ref", "n": 0}]},
        ],
        [{"$type": "test.Link", "next": {"$type": "$ref", "n": 0}}],
    ],
)
def test_cycle_that_nothing_could_rebuild_is_refused(nodes: list[Any]) -> None:
    """Encode never writes one."""
    with pytest.raises(UndecodableValueError):
        read({"$type": "$ref", "n": 0}, *nodes)


@pytest.mark.parametrize(
    "wire",
    [
        {"$any": 1, "x": 2},
        {"$any": {"$any": 1}},
        {"$any": {"$unknown": 1}},
        {"$any": {"a": 1, "$tuple": []}},
        {"$any": {"$tuple": [], "a": 1}},
        {"$any": {"$tuple": 1}},
        {"$any": {"$tuple": {}}},
        {"$any": {"$set": [1, 1]}},
        {"$any": {"$set": [1, True]}},
        {"$any": {"$frozenset": "ab"}},
        {"$any": {"$deque": [1, 2], "maxlen": 1}},
        {"$any": {"$deque": [], "maxlen": -1}},
        {"$any": {"$deque": [], "maxlen": True}},
        {"$any": {"$deque": [], "maxlen": 2**63}},
        {"$any": {"$deque": [], "maxlen": 2**64 - 1}},
        {"$any": {"$deque": {}, "maxlen": None}},
        {"$any": {"$dict": [[1, 2], [1, 3]]}},
        {"$any": {"$dict": [[1]]}},
        {"$any": {"$dict": [1]}},
        {"$any": {"$dict": {"a": 1}}},
        {"$any": {"$dict": [], "a": 1}},
        {"$any": {"$int": "1"}},
        {"$any": {"$int": "0x1"}},
        {"$any": {"$int": "0x_1"}},
        {"$any": {"$int": 1}},
        {"$any": {"$float": "1.5"}},
        {"$any": {"$float": "NaN"}},
        {"$any": {"$str": "\\"}},
        {"$any": {"$str": 1}},
        {"$any": {"$bytes": "aGk"}},
        {"$any": {"$bytes": "aG k="}},
        {"$any": {"$bytes": "aGl="}},
        {"$any": {"$bytes": "é"}},
        {"$any": {"$bytearray": 1}},
        {"$any": {"$datetime": "2026-13-01T00:00:00"}},
        {"$any": {"$datetime": "2026-05-01"}},
        {"$any": {"$datetime": "2026-05-01T00:00:00+00:00", "zone": "Europe/Paris"}},
        {"$any": {"$datetime": "2026-05-01T00:00:00+25:00"}},
        {"$any": {"$datetime": "2026-05-01T00:00:00", "fold": 2}},
        {"$any": {"$datetime": "2026-05-01T00:00:00", "fold": True}},
        {"$any": {"$datetime": "2026-05-01T00:00:00", "name": "x"}},
        {"$any": {"$date": "2026-02-30"}},
        {"$any": {"$time": "25:00:00"}},
        {"$any": {"$timedelta": [0, 86_400, 0]}},
        {"$any": {"$timedelta": [10**10, 0, 0]}},
        {"$any": {"$timedelta": [1.0, 0, 0]}},
        {"$any": {"$decimal": "ten"}},
        {"$any": {"$decimal": 1}},
        {"$any": {"$uuid": "5"}},
        {"$any": {"$complex": [1, 2]}},
        {"$any": {"$complex": [1.0]}},
        {"$any": {"$path": "a", "kind": "Path"}},
        {"$any": {"$path": "a", "kind": "WindowsPath"}},
        {"$any": {"$path": "a"}},
        {"$any": {"$enum": "test.Nope", "name": "A"}},
        {"$any": {"$enum": ["x"], "name": "A"}},
        {"$any": {"$enum": None}},
        {"$type": None},
        {"$type": 5},
        {"$type": []},
        {"$type": "$foo"},
        {"$type": "$value"},
        {"$type": "$reader"},
        {"$type": "$reader", "tag": "media:in-memory", "locator": None},
        {"$type": "$reader", "tag": "media:in-memory", "locator": {}},
        {"$type": "$reader", "tag": "media:in-memory", "locator": {"base64": "aGk"}},
        {"$type": "$reader", "tag": "in-memory", "locator": {"base64": ""}},
        {"$type": "$reader", "tag": "other:in-memory", "locator": {"base64": ""}},
        {"$type": "$reader", "tag": 1, "locator": {}},
    ],
    ids=json.dumps,
)
def test_malformed_markup_is_refused(wire: Any) -> None:
    """Strictly: one spelling for each value."""
    for form in (
        document(wire),
        msgspec.msgpack.encode({"graphcodec": 1, "root": wire}),
    ):
        with pytest.raises(GraphCodecError) as caught:
            CODEC.decode(form)

        assert caught.value.path.startswith("$")
        assert len(str(caught.value)) < 400


def test_families_of_readers_never_mix() -> None:
    """A spool handle is none for a media."""
    wire = root(make(Media, reader=full()[Media].reader))
    wire["reader"]["tag"] = "spool:in-memory"

    with pytest.raises(UndecodableValueError, match="media:") as caught:
        read(wire)

    assert caught.value.path == "$.reader"


# MessagePack has more than JSON


@pytest.mark.parametrize(
    "value",
    [
        b"x",
        [b"x"],
        {"a": [b"x"]},
        {1: 2},
        {"a": {b"x": 1}},
        msgspec.msgpack.Ext(5, b"x"),
        msgspec.msgpack.Ext(-1, b"\x00" * 4),
        {"$any": [msgspec.msgpack.Ext(5, b"x")]},
        {"$any": {1: 2}},
        {"$any": MIXED},
        TEXT | MIXED,
        {**TEXT, "new": {1: 2}},
        {**TEXT, "new": msgspec.msgpack.Ext(5, b"x")},
        {"$type": b"Tokenizable", "text": "x"},
        {"$type": "Tokenizable", "text": b"x"},
        {"$type": "Registry", "data": {"k": b"x"}},
        {"$type": "Registry", "data": {1: 2}},
    ],
)
def test_what_only_msgpack_could_say_is_refused(value: object) -> None:
    """Bytes stand where bytes belong, and nothing else is new."""
    data = msgspec.msgpack.encode({"graphcodec": 1, "root": value})

    for codec in (CODEC, CODEC.replace(unknown_types="keep")):
        with pytest.raises(UndecodableValueError):
            codec.decode(data)


def test_last_of_duplicate_keys_wins() -> None:
    """As in every parser beneath."""
    assert CODEC.decode('{"graphcodec":1,"root":1,"root":2}') == 2


# Errors


def test_error_for_a_large_document_is_short_and_holds_no_secret() -> None:
    """Ten megabytes of it."""
    message = make(Message, content=SECRET * 50_000)
    wire = root(message)
    for change in (
        {"role": SECRET},
        {"identity": [SECRET] * 1_000},
        {"created_at": SECRET},
        {"attachments": SECRET},
        {"content": {"$type": SECRET * 100}},
        {"content": {"$type": "$ref", "n": SECRET}},
        {"id": None, SECRET: SECRET},
        {"stash": {"$type": "Registry", "data": {"$any": {"$bytes": SECRET}}}},
    ):
        with pytest.raises(GraphCodecError) as caught:
            read({**wire, **change})

        assert len(str(caught.value)) < 800
        assert SECRET not in str(caught.value)


def test_error_for_what_can_not_be_encoded_holds_no_secret() -> None:
    """Long keys and values are cut."""

    class Secret:
        def __repr__(self) -> str:
            return SECRET

    with pytest.raises(GraphCodecError) as caught:
        CODEC.encode({SECRET: [{SECRET * 100: Secret()}] * 3})

    assert len(str(caught.value)) < 800
    assert SECRET not in str(caught.value)


def test_path_of_an_error_leads_through_nodes() -> None:
    """To where the document order first reaches the object."""
    wire = {**root(make(Message)), "content": {"$type": "$ref", "n": 0}}

    with pytest.raises(UndecodableValueError) as caught:
        read({"$any": [1, wire, {"$type": "$ref", "n": 0}]}, {**TEXT, "text": 5})

    assert caught.value.path == "$[1].content.text"


def test_path_of_an_unreachable_node_names_the_node() -> None:
    """Nodes are decoded, used or not."""
    with pytest.raises(UndecodableValueError) as caught:
        read(1, 2, {"$tuple": [{"$unknown": 1}]})

    assert caught.value.path == "$.nodes[1][0]"


def test_path_is_found_among_keys_that_are_no_text() -> None:
    """What MessagePack can hold does not get into the way of an error."""
    link = {
        "$type": "test.Link",
        "items": {"$type": "$ref", "n": 0},
        "new": {1: {2: 3}},
    }
    for node in (link, {"$type": "test.New", "new": {1: 2}, "ref": {"$type": "$ref"}}):
        data = msgspec.msgpack.encode({"graphcodec": 1, "nodes": [node], "root": 1})

        for codec in (CODEC, CODEC.replace(unknown_types="keep")):
            with pytest.raises(UndecodableValueError) as caught:
                codec.decode(data)
            assert caught.value.path.startswith("$")


def test_registry_that_is_its_own_data_is_refused() -> None:
    """Though it can't even be shown."""
    reference = {"$type": "$ref", "n": 0}

    with pytest.raises(UndecodableValueError, match="data"):
        read(reference, {"$type": "Registry", "data": {"$any": reference}})


def test_long_path_fits_on_a_line() -> None:
    """Its middle is left out."""
    value: object = object()
    for _ in range(500):
        value = [value]

    with pytest.raises(GraphCodecError) as caught:
        CODEC.encode(value)

    assert len(caught.value.path) < 300


# No state


def test_nothing_of_one_document_is_left_in_the_next() -> None:
    """After success, after failure, in either format."""
    codec = Codec()
    shared = document({"$any": [{"$type": "$ref", "n": 0}]}, TEXT)
    first: Any = codec.decode(shared)
    with pytest.raises(UndecodableValueError):
        codec.decode(document({"$any": [{"$type": "$ref", "n": 0}, {"$x": 1}]}, TEXT))
    second: Any = codec.decode(shared)

    assert first == second
    assert first[0] is not second[0]
    with pytest.raises(UndecodableValueError, match="reference"):
        codec.decode(document({"$type": "$ref", "n": 0}))


def test_failed_encode_leaves_nothing_behind() -> None:
    """The next call starts anew."""
    codec = Codec()
    text = Tokenizable("hi")
    data = codec.encode([text])
    with pytest.raises(GraphCodecError):
        codec.encode([text, text, object()])

    assert codec.encode([text]) == data


def test_hostile_length_takes_no_memory() -> None:
    """A declared length is no reason to allocate."""
    data = b"\x82\xaagraphcodec\x01\xa4root" + b"\xdd\xff\xff\xff\xff" * 50

    with pytest.raises((UndecodableValueError, LimitExceededError)):
        CODEC.decode(data)


def test_error_is_short_however_long_the_keys_are() -> None:
    """Keys are data, too."""
    wire = {"$any": {"TOPSECRET" * 100_000: {"$bogus": 1}}}
    with pytest.raises(UndecodableValueError) as caught:
        CODEC.decode(json.dumps({"graphcodec": 1, "root": wire}))

    assert len(str(caught.value)) < 500
    assert len(caught.value.path) < 100

    graph: dict[str, object] = {"z": object()}
    for _ in range(30):
        graph = {"k" * 50_000: graph}
    with pytest.raises(UnencodableValueError) as refused:
        CODEC.encode(graph)

    assert len(str(refused.value)) < 2_000


def test_object_has_no_field_that_looks_like_a_marker() -> None:
    """A key that begins with ``$`` is never a field."""
    wire = {"$type": "Tokenizable", "text": "x", "$foo": 1}
    for codec in (CODEC, Codec(unknown_types="keep")):
        with pytest.raises(UndecodableValueError, match=r"no field '\$foo'"):
            codec.decode(json.dumps({"graphcodec": 1, "root": wire}))
