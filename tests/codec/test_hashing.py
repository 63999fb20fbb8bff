import contextlib
import hashlib
import json
import os
import subprocess
import sys
import time
from typing import Any

import pytest
from attrs import define, frozen

from graphcodec import Codec, encodable
from graphcodec.errors import LimitExceededError, UndecodableValueError
from graphcodec.primitives import (
    Identity,
    Message,
    Registry,
    Tokenizable,
    ToolCall,
)
from graphcodec.testing import same_graph
from tests.codec.samples import CODEC, Link, Node, full, read
from tests.primitives.builders import make

FACTOR = 2**61 - 1
"""All multiples of it have one hash."""


def shared_tuples(levels: int) -> tuple[Any, ...]:
    """Return a tuple that holds another one twice, and so on."""
    value: tuple[Any, ...] = (1,)
    for _ in range(levels):
        value = (value, value)
    return value


def shared_nodes(levels: int) -> list[Any]:
    """Return the nodes of such a tuple."""
    references = [{"$type": "$ref", "n": number} for number in range(levels)]
    pairs = [{"$tuple": [reference, reference]} for reference in references]
    return [{"$tuple": [1]}, *pairs]


LAST = {"$type": "$ref", "n": 60}


@pytest.mark.parametrize(
    "wire",
    [
        {"$set": [LAST]},
        {"$frozenset": [LAST]},
        {"$dict": [[LAST, 1]]},
        {"$set": [{"$tuple": [LAST]}]},
    ],
    ids=["set", "frozenset", "key", "inner"],
)
def test_shared_tuples_in_a_set_are_refused_on_decode(wire: object) -> None:
    """A kilobyte of them would be hashed for hours."""
    with pytest.raises(LimitExceededError, match="unfolds") as caught:
        read({"$any": wire}, *shared_nodes(60))

    assert caught.value.limit == "max_hashed"


def test_shared_tuples_in_a_set_are_refused_on_encode() -> None:
    """Encode refuses what decode would refuse, in linear time."""
    value = {shared_tuples(14)}
    before = time.process_time()

    with pytest.raises(LimitExceededError, match="unfolds"):
        CODEC.encode(value)
    with pytest.raises(LimitExceededError, match="unfolds"):
        CODEC.content_hash(value)

    assert time.process_time() - before < 5


def test_set_member_of_moderate_size_comes_back() -> None:
    """Ten thousand values are allowed."""
    value = {shared_tuples(10), tuple(range(4_000))}

    assert same_graph(CODEC.decode(CODEC.encode(value)), value)


def test_many_values_of_one_hash_are_refused_or_read_quickly() -> None:
    """A set of them would be built in quadratic time."""
    members = [{"$int": hex(FACTOR * n)} for n in range(100, 20_100)]
    before = time.process_time()
    with contextlib.suppress(LimitExceededError):
        read({"$any": {"$set": members}})

    assert time.process_time() - before < 3


def test_graphs_with_shared_tuples_are_compared_in_linear_time() -> None:
    """Each shared tuple once."""
    assert same_graph([shared_tuples(200)], [shared_tuples(200)])
    assert not same_graph([shared_tuples(200)], [shared_tuples(199)])


@pytest.mark.parametrize("value", [float("nan"), (1, float("nan")), frozenset({1.5})])
def test_odd_members_are_compared_by_value(value: object) -> None:
    """NaN hashes by identity, and is still the same member."""
    codec = Codec()
    for graph in ({value}, {value: 1}):
        again = codec.decode(codec.encode(graph))

        assert same_graph(again, graph)
        codec.check(graph)


def test_decode_compares_nothing() -> None:
    """Objects are not asked whether they are equal."""

    class Loud:
        def __eq__(self, other: object) -> bool:
            raise AssertionError

        __hash__ = object.__hash__

        def __graphcodec_encode__(self) -> object:
            return 1

        @classmethod
        def __graphcodec_decode__(cls, data: object) -> "Loud":
            assert data == 1
            return cls()

        __graphcodec_tag__ = "test.Loud"

    codec = Codec(types=[Loud])
    loud = Loud()
    again: Any = codec.decode(codec.encode([loud, loud, {Loud(): 1}, {Loud()}]))

    assert again[0] is again[1]


@encodable("test.Sick")
@frozen(eq=False)
class Sick:
    """A class whose hash fails."""

    x: int = 0

    def __hash__(self) -> int:
        raise RuntimeError


def test_hash_that_fails_is_an_error_of_ours() -> None:
    """Whatever it raises."""
    with pytest.raises(UndecodableValueError, match="can't be a set member"):
        read({"$any": {"$set": [{"$type": "test.Sick"}]}}, codec=Codec(types=[Sick]))


def test_unhashable_member_is_an_error_of_ours() -> None:
    """A list, a dict, a set."""
    members: list[Any] = [
        *([1], {"a": 1}, {"$set": [1]}, {"$type": []}, {"$tuple": [[]]})
    ]
    for member in members:
        with pytest.raises(UndecodableValueError):
            read({"$any": {"$set": [member]}}, {"$type": []})


# content_hash


@encodable("test.Bag")
@define(eq=False)
class Bag:
    """A class that hashes by identity."""

    x: Any = None


BAGS = Codec(types=[Bag, Node, Link])


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 1.0),
        (1, True),
        (0.0, -0.0),
        ([1], (1,)),
        ({1}, frozenset({1})),
        (b"a", bytearray(b"a")),
        (b"a", "a"),
        ({"a": 1}, {1: "a"}),
        ([Tokenizable("a")] * 2, [Tokenizable("a"), Tokenizable("a")]),
        ([["x"]] * 2, [["x"], ["x"]]),
        ({"$type": "Tokenizable", "text": "a"}, Tokenizable("a")),
        (None, "None"),
    ],
)
def test_different_graphs_have_different_hashes(a: object, b: object) -> None:
    """In type, value or sharing."""
    assert CODEC.content_hash(a) != CODEC.content_hash(b)


def test_equal_graphs_have_equal_hashes() -> None:
    """Whatever the format and the order of dicts and sets."""
    a = {"x": 1, "y": {2, "two"}, (1, 2): {"k": 1, "l": 2}, None: {b"b", b"c"}}
    b = {None: {b"c", b"b"}, (1, 2): {"l": 2, "k": 1}, "y": {"two", 2}, "x": 1}
    binary = CODEC.replace(format="msgpack")

    assert CODEC.content_hash(a) == CODEC.content_hash(b) == binary.content_hash(b)


def test_every_primitive_has_the_hash_of_its_copy() -> None:
    """Decoding changes no hash, of the whole or of the parts."""
    for primitive in full().values():
        again = CODEC.decode(CODEC.encode(primitive))

        assert CODEC.content_hash(again) == CODEC.content_hash(primitive)


def test_hash_is_sha256_of_canonical_json() -> None:
    """For a plain value the canonical form can be written by hand."""
    wanted = hashlib.sha256(b'{"graphcodec":1,"root":{"a":1,"b":[2.5,null]}}')

    assert CODEC.content_hash({"b": [2.5, None], "a": 1}) == wanted.hexdigest()


def test_hash_of_nested_sets_takes_linear_time() -> None:
    """Each set is put in order once, not once for each set around it."""
    value: object = frozenset({1})
    for _ in range(40):
        value = frozenset({value})
    before = time.process_time()

    CODEC.content_hash(value)

    assert time.process_time() - before < 5


def test_hash_of_a_deep_member_is_taken() -> None:
    """What can be encoded can be hashed."""
    value: object = 1
    for _ in range(100):
        value = (value,)

    assert CODEC.content_hash({value}) == CODEC.content_hash({value})
    assert CODEC.content_hash({value: 1}) == CODEC.content_hash({value: 1})


def test_hash_of_a_cyclic_and_a_deep_graph_is_taken() -> None:
    """Through mutable objects; and along ten thousand links."""
    node = Node()
    node.any = [node, {"x": node}]
    chain = None
    for _ in range(10_000):
        chain = Link(next=chain)

    assert CODEC.content_hash(node) == CODEC.content_hash(
        CODEC.decode(CODEC.encode(node))
    )
    assert CODEC.content_hash(chain)


def test_order_of_unknown_fields_does_not_count() -> None:
    """They are a map like any other."""
    codec = CODEC.replace(unknown_types="keep")
    a, b = {"$type": "$ref", "n": 0}, {"$type": "$ref", "n": 1}
    nodes = [{"$type": "Tokenizable", "text": text} for text in "ab"]
    one = read({"$type": "x.New", "a": [a, a], "b": [b, b]}, *nodes, codec=codec)
    two = read({"b": [b, b], "$type": "x.New", "a": [a, a]}, *nodes, codec=codec)

    assert codec.content_hash(one) == codec.content_hash(two)


SCRIPT = """
from graphcodec import Codec
from graphcodec.primitives import Identity, Registry, Tokenizable

words = {"set": {"a", "b", 1, (2, "d")}, "dict": {("k", i): {str(i)} for i in range(9)}}
people = {Identity(identifier=i, representation="x") for i in range(9)}
texts = {Tokenizable(text) for text in "abcdef"}
print(Codec().content_hash([Registry(words), people | texts]))
"""


def test_hash_does_not_depend_on_the_process() -> None:
    """Under any PYTHONHASHSEED."""
    outputs = {
        subprocess.run(  # noqa: S603 - our own script
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "12345")
    }

    assert len(outputs) == 1


def test_hash_of_messages_differs_with_any_field() -> None:
    """Every field counts."""
    messages = [
        make(Message),
        make(Message, id="other"),
        make(Message, content="other"),
        make(Message, identity=make(Identity)),
        make(Message, stash=Registry({"a": 1})),
        make(ToolCall),
    ]

    assert len({CODEC.content_hash(message) for message in messages}) == len(messages)


def test_canonical_form_sorts_keys_by_their_bytes() -> None:
    """Not by code units of UTF-16."""
    keys = {"\uffff": 1, "\U00010000": 2}
    text = json.dumps(keys, ensure_ascii=False, separators=(",", ":"))
    document = '{"graphcodec":1,"root":' + text + "}"

    found = CODEC.content_hash(dict(reversed(keys.items())))

    assert found == hashlib.sha256(document.encode()).hexdigest()
