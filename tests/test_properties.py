from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Final, cast

import pytest
from hypothesis import HealthCheck, given, settings

from graphcodec import Codec
from graphcodec._graphs._handles import handles
from graphcodec._graphs._persist import persist
from graphcodec._graphs._traverse import Walk
from graphcodec.readers import BytesStore
from graphcodec.testing import same_graph, strategies

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

JSON: Final = Codec()
MSGPACK: Final = Codec(format="msgpack")

formats = pytest.mark.parametrize("codec", [JSON, MSGPACK], ids=["json", "msgpack"])

# Deadlines say more about the machine than about the code; and a test that is run for
# both formats is fine with the same examples.
relaxed = settings(
    deadline=None,
    max_examples=150,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.differing_executors,
    ],
)

_SORTED: Final = frozenset({str, int, bytes, bool, float})


def has_unsorted_set(graph: object) -> bool:
    """Say whether a set in *graph* is written in the order in which it iterates."""
    sets = [
        cast("AbstractSet[object]", met)
        for _, met in Walk(graph)
        if isinstance(met, (set, frozenset))
    ]
    return any(len(s) > 1 and not _SORTED.issuperset(map(type, s)) for s in sets)


def check_round_trip(graph: object, codec: Codec) -> None:
    """Verify that a graph comes back as it is, and is written again as it was."""
    data = codec.encode(graph)
    back = codec.decode(data)
    again = codec.encode(back)

    assert same_graph(back, graph)
    assert has_unsorted_set(graph) or again == data
    assert same_graph(codec.decode(again), graph)


@formats
@given(strategies.values())
@relaxed
def test_values_come_back(codec: Codec, value: object) -> None:
    """Any value comes back with its types, values and sharing."""
    check_round_trip(value, codec)


@formats
@given(strategies.primitives())
@relaxed
def test_primitives_come_back(codec: Codec, primitive: object) -> None:
    """A primitive with arbitrary fields comes back, and equals the original."""
    check_round_trip(primitive, codec)


@formats
@given(strategies.graphs())
@relaxed
def test_graphs_come_back(codec: Codec, graph: object) -> None:
    """Sharing, cycles and depth come back."""
    check_round_trip(graph, codec)


@given(strategies.plain())
@relaxed
def test_plain_values_are_written_as_they_are(value: object) -> None:
    """A value that JSON has stands in the document without a marker."""
    text = JSON.encode_text({"value": value})

    assert "$any" not in text or "$any" in repr(value)
    assert JSON.decode(text) == {"value": value}


@given(strategies.graphs())
@relaxed
def test_both_formats_hold_the_same(graph: object) -> None:
    """A document of either format is decoded by a codec of the other."""
    assert same_graph(JSON.decode(MSGPACK.encode(graph)), graph)
    assert same_graph(MSGPACK.decode(JSON.encode(graph)), graph)


@given(strategies.graphs())
@relaxed
def test_the_content_hash_survives_the_round_trip(graph: object) -> None:
    """The hash is that of the graph: not of the format, not of the objects."""
    expected = JSON.content_hash(graph)

    assert MSGPACK.content_hash(graph) == expected
    assert JSON.content_hash(JSON.decode(JSON.encode(graph))) == expected
    assert JSON.content_hash(MSGPACK.decode(MSGPACK.encode(graph))) == expected


@given(strategies.values(), strategies.values())
@relaxed
def test_equal_hashes_mean_the_same_graph(one: object, other: object) -> None:
    """Two values have one hash exactly if they are the same."""
    equal = JSON.content_hash(one) == JSON.content_hash(other)

    assert equal == same_graph(one, other)


@given(strategies.graphs())
@relaxed
def test_graphs_are_the_same_as_themselves(graph: object) -> None:
    """`same_graph` holds for a graph and itself, and `check` agrees."""
    assert same_graph(graph, graph)
    JSON.check(graph)


@given(strategies.graphs())
@relaxed
def test_persisted_graphs_come_back(graph: object) -> None:
    """What persist makes of a graph has readers where it had them, and travels."""
    moved = persist(graph, BytesStore(), inline_limit=0)

    before = {path for path, _, _ in handles(graph)}
    assert {path for path, _, _ in handles(moved)} <= before
    assert same_graph(JSON.decode(JSON.encode(moved)), moved)


SEEDED: Final = """
from collections import deque
from graphcodec import Codec, Identity, Registry

words = {f"word {n}" for n in range(50)}
shared = [words, frozenset(words), {word: {word} for word in words}]
mixed = {None, "a", 1, (1, "b"), frozenset({"c", b"d"}), 2.5, ("e",)}
graph = Registry({"shared": shared, "again": shared, "mixed": mixed,
                  "keys": {(word, 1): deque([word]) for word in words},
                  "who": Identity(identifier="ada", representation="Ada")})
print(Codec().content_hash(graph), Codec(format="msgpack").content_hash(graph))
"""


def run_seeded(seed: str) -> str:
    """Return what `SEEDED` prints under a hash seed."""
    return subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", SEEDED],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_the_content_hash_does_not_depend_on_the_hash_seed() -> None:
    """Sets and dicts hash alike in processes that order them differently."""
    printed = {run_seeded(seed) for seed in ("0", "1", "2", "4242")}

    assert len(printed) == 1
    first, second = printed.pop().split()
    assert first == second


@pytest.mark.parametrize(
    "make",
    [
        lambda: 10**5_000 - 1,
        lambda: "\ud83d\ude00",
        lambda: {"\ud800": ["\udfff"]},
    ],
    ids=["digits", "a split pair", "keys"],
)
@formats
def test_what_hypothesis_could_not_print(
    codec: Codec, make: Callable[[], object]
) -> None:
    """Ints of 5,000 digits and text that is no text come back."""
    check_round_trip(make(), codec)
