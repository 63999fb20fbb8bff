"""Documents compared by meaning."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from attrs import evolve
from hypothesis import given, settings

from graphcodec import Codec, Registry, errors
from graphcodec._documents._differing import changed_part, differences
from graphcodec.primitives import Identity, Message, Tokenizable
from graphcodec.testing import strategies
from tests.codec.samples import CODEC, Link, Node
from tests.primitives.builders import make
from tests.test_properties import has_unsorted_set

JSON = CODEC
PACKED = CODEC.replace(format="msgpack", compression="zstd")


def told(old: object, new: object) -> list[tuple[str, str]]:
    """Return the changes between two graphs, with their paths."""
    found = differences(JSON.encode(old), PACKED.encode(new))
    return [(difference.change, difference.path) for difference in found]


def said(name: str, text: str = "hello", **fields: Any) -> Message:
    """Return a message with an id."""
    return make(Message, id=name, content=text, **fields)


@settings(max_examples=100, deadline=None)
@given(graph=strategies.graphs())
def test_nothing_differs_from_itself(graph: object) -> None:
    """The format and the frame mean nothing."""
    assert differences(Codec().encode(graph), PACKED.encode(graph)) == ()


@settings(max_examples=150, deadline=None)
@given(strategies.values(), strategies.values())
def test_no_difference_is_one_hash(old: object, new: object) -> None:
    """Two graphs have no differences exactly if they have one content hash."""
    if has_unsorted_set([old, new]):
        return
    same = Codec().content_hash(old) == Codec().content_hash(new)
    found = differences(Codec().encode(old), Codec().encode(new))

    assert (found == ()) is same


def test_one_item_in_the_middle_is_one_addition() -> None:
    """What stands behind an inserted item is not changed by it, with ids or without."""
    items = [said(f"m-{n}", f"text {n}") for n in range(9)]
    texts = [[n, {"a": n}] for n in range(9)]

    assert told(items, [*items[:4], said("new"), *items[4:]]) == [("added", "$[4]")]
    assert told(texts, [*texts[:4], "new", *texts[4:]]) == [("added", "$[4]")]
    assert told(items, [*items[:4], *items[5:]]) == [("removed", "$[4]")]
    assert told(texts, [*texts[:4], *texts[5:]]) == [("removed", "$[4]")]


def test_item_with_an_id_is_followed() -> None:
    """A changed item that moved is one move and one change, by its id."""
    items = [said(f"m-{n}", f"text {n}") for n in range(6)]
    moved = [*items[1:], evolve(items[0], role="assistant")]

    (first, second) = differences(JSON.encode(items), JSON.encode(moved))

    assert (first.change, first.path, first.old_path) == ("moved", "$[5]", "$[0]")
    assert (second.change, second.path, second.old_path) == (
        "changed",
        "$[5].role",
        "$[0].role",
    )
    assert (second.before, second.after) == ("user", "assistant")


def test_item_without_an_id_is_compared_in_place() -> None:
    """A change within an item is told where it is, not as another item."""
    old = [{"a": n, "b": ["x", n]} for n in range(5)]
    new = [*old[:2], {"a": 2, "b": ["y", 2]}, *old[3:]]

    assert told(old, new) == [("changed", "$[2].b[0]")]


def test_other_id_is_another_item() -> None:
    """Two messages are never taken for one because they stand in one place."""
    assert told([said("a")], [said("b")]) == [("removed", "$[0]"), ("added", "$[0]")]


def test_keys() -> None:
    """Keys are added, removed and changed; their order means nothing."""
    old = {"gone": 1, "same": 2, "other": 3}
    new = {"other": 4, "same": 2, "new": 1}

    assert told(old, new) == [
        ("removed", "$.gone"),
        ("changed", "$.other"),
        ("added", "$.new"),
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [(1, 1.0), (1, True), ("1", 1), (0.0, -0.0), ([1], (1,)), (b"a", "YQ=="), ({}, [])],
)
def test_types_differ(old: object, new: object) -> None:
    """Values that Python takes for equal are not, if their types differ."""
    assert told({"a": old}, {"a": new}) == [("changed", "$.a")]


def test_sets_and_odd_dicts() -> None:
    """Members have no places that change, and pairs are found by their keys."""
    assert told({1, 2, 3}, {3, 2, 4}) == [("removed", "$[0]"), ("added", "$[2]")]
    assert told({1: "a", (2,): "b"}, {(2,): "c", 1: "a"}) == [
        ("changed", "$['{\"$tuple\":[2]}']")
    ]
    assert told({1: "a", "b": 2}, {"1": "a", "b": 2}) == [
        ("removed", "$['1']"),
        ("added", "$['1']"),
    ]


def test_sharing() -> None:
    """One object that became two, and two that became one, are told."""
    ana = make(Identity, identifier="ana")
    other = make(Identity, identifier="ana")
    one = [said("a", identity=ana), said("b", identity=ana)]
    two = [said("a", identity=ana), said("b", identity=other)]

    (split,) = differences(JSON.encode(one), JSON.encode(two))
    (joined,) = differences(JSON.encode(two), JSON.encode(one))

    assert (split.change, split.path, split.other) == (
        "unshared",
        "$[1].identity",
        "$[0].identity",
    )
    assert (joined.change, joined.path, joined.other) == (
        "shared",
        "$[1].identity",
        "$[0].identity",
    )


def test_numbers_of_nodes_mean_nothing() -> None:
    """A new shared object that renumbers the others is one addition."""
    ana, ben = (make(Identity, identifier=name) for name in ("ana", "ben"))
    old = [said("a", identity=ana), said("b", identity=ana)]
    new = [said("0", identity=ben), said("1", identity=ben), *old]

    assert told(old, new) == [("added", "$[0]"), ("added", "$[1]")]


def test_change_in_a_shared_object_is_told_once() -> None:
    """What many refer to is compared where it is first met."""
    old, new = (make(Identity, identifier="ana", representation=n) for n in ("a", "b"))
    before = [said(str(n), identity=old) for n in range(5)]
    after = [said(str(n), identity=new) for n in range(5)]

    assert told(before, after) == [("changed", "$[0].identity.representation.text")]


def test_cycles_and_depth() -> None:
    """Graphs that hold themselves, or are deeper than the stack, are compared."""
    loop, other = Registry(), Registry()
    loop.set("me", loop)
    other.set("me", Registry({"me": other}))
    chain = changed = None
    for number in range(3_000):
        chain = Link(next=chain, any=number)
        changed = Link(next=changed, any=-1 if number == 0 else number)

    assert told(loop, loop) == []
    assert told(loop, other) != []
    (found,) = told(chain, changed)
    assert found[0] == "changed"
    assert ".any" in found[1]
    twin, pair = Node(), Node()
    twin.next = twin
    pair.next = Node(next=pair)
    assert told(twin, pair) != []


def test_unknown_tags() -> None:
    """No class is needed."""
    old = (
        b'{"graphcodec":1,"root":{"$type":"x.Y","$v":2,"a":{"$any":[1,{"$set":[1]}]}}}'
    )
    new = old.replace(b'"$v":2', b'"$v":3').replace(b"[1]", b"[2]")

    found = [(d.change, d.path) for d in differences(old, new)]

    assert found == [
        ("changed", "$['$v']"),
        ("removed", "$.a[1][0]"),
        ("added", "$.a[1][0]"),
    ]


def test_other_tag_is_another_object() -> None:
    """Objects of two classes have nothing in common."""
    assert told(Tokenizable("a"), Registry()) == [("changed", "$")]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"[]", "no graphcodec document"),
        (b'{"graphcodec":1,"root":' + b"[" * 200 + b"]" * 200 + b"}", "nests deeper"),
        (msgspec.msgpack.encode({"graphcodec": 1, "root": {1: 2}}), "needs text keys"),
        (
            msgspec.msgpack.encode({"graphcodec": 1, "root": float("nan")}),
            "JSON has no nan",
        ),
        (
            msgspec.msgpack.encode(
                {"graphcodec": 1, "root": [msgspec.msgpack.Ext(5, b"")]}
            ),
            "JSON has no Ext of MessagePack",
        ),
    ],
)
def test_what_can_not_be_compared(data: bytes, words: str) -> None:
    """What is no document is refused, on either side."""
    good = Codec().encode(None)

    with pytest.raises(errors.GraphCodecError, match=words):
        differences(data, good)
    with pytest.raises(errors.GraphCodecError, match=words):
        differences(good, data)


def test_differences_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """References that pair every node with every other one are given up."""
    monkeypatch.setattr("graphcodec._documents._differing._MOST", 50)
    lists: list[list[Any]] = [[0]]
    others: list[list[Any]] = [[1]]
    for number in range(30):
        lists.append([lists[-1], lists[number // 2]])
        others.append([others[number // 3], others[-1]])

    with pytest.raises(errors.LimitExceededError, match="more than 50 differences"):
        told(lists[-1], others[-1])


def test_what_changed_of_a_text() -> None:
    """Of long texts, the part that differs is shown with a little around it."""
    before = "a" * 100 + "old" + "b" * 100
    after = "a" * 100 + "newer" + "b" * 100

    assert changed_part(before, after) == (
        f"…{'a' * 24}old{'b' * 24}…",
        f"…{'a' * 24}newer{'b' * 24}…",
    )
    assert changed_part("aa", "aaa") == ("aa", "aaa")
    assert changed_part("", "x") == ("", "x")


def test_ints_that_only_json_holds_are_told_apart() -> None:
    """A document made by hand may have them, where MessagePack can't."""
    old = b'{"graphcodec":1,"root":{"a":[99999999999999999999999]}}'
    (found,) = differences(old, old.replace(b"999]", b"998]"))

    assert differences(old, old) == ()
    assert found.path == "$.a[0]"


def test_head_that_is_no_text_is_compared_all_the_same() -> None:
    """A length of a deque that is a dict, in a list whose entries are told apart."""
    deque_ = b'{"$deque":[1],"maxlen":{"a":1}}'
    old = b'{"graphcodec":1,"root":{"$any":[%b,{"x":1}]}}' % deque_
    new = b'{"graphcodec":1,"root":{"$any":[{"x":2},%b]}}' % deque_.replace(
        b"1]", b"2]"
    )

    assert differences(old, new) != ()
