from __future__ import annotations

from collections import OrderedDict, deque
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from graphcodec.primitives import Tokenizable
from graphcodec.primitives._containers import copy_containers

DEPTH = 5_000

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.lists(inner, max_size=3).map(deque)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
        | st.sets(st.integers(), max_size=3)
        | st.frozensets(st.integers(), max_size=3)
    ),
    max_leaves=20,
)


def _mutable_ids(value: object) -> set[int]:
    kind = type(value)
    members: list[object] = []
    if kind is dict:
        members += cast("dict[object, object]", value).values()
    elif kind in (list, tuple, deque):
        members += cast("list[object]", value)
    own = {id(value)} if kind in (dict, list, deque, set) else set[int]()
    return own.union(*map(_mutable_ids, members))


@given(values)
def test_copy_is_equal_and_shares_nothing_mutable(value: object) -> None:
    """Whatever is done to a copy, the original does not change."""
    copy = copy_containers(value)

    assert copy == value
    assert type(copy) is type(value)
    assert not _mutable_ids(copy) & _mutable_ids(value)


def test_sharing_is_kept() -> None:
    """A list that is met twice is one list in the copy too."""
    shared: list[int] = []

    first, (second,) = copy_containers((shared, (shared,)))

    assert first is second
    assert first is not shared


def test_cycle_comes_round_in_the_copy() -> None:
    """A list within itself is copied to a list within itself."""
    loop: list[object] = []
    loop.append((loop,))

    copy = copy_containers(loop)

    assert cast("tuple[object]", copy[0])[0] is copy
    assert copy is not loop


def test_tuple_closes_a_cycle() -> None:
    """A tuple is made after its members, also where it is within one of them."""
    inner: list[object] = []
    loop: tuple[list[object], dict[str, object]] = (inner, {"again": inner})
    inner.append(loop)

    first, second = copy = copy_containers(loop)

    assert first[0] is copy
    assert second["again"] is first


def test_shared_tuples_are_made_once() -> None:
    """Twenty levels of pairs are twenty tuples, not a million."""
    pair: tuple[object, ...] = ([],)
    for _ in range(20):
        pair = (pair, pair)

    first, second = cast("tuple[object, object]", copy_containers(pair))

    assert first is second
    assert first is not pair[0]


def test_tuple_without_mutable_members_is_kept() -> None:
    """There is nothing to protect in it."""
    value = (1, ("a", frozenset({2})))

    assert copy_containers(value) is value


def test_deep_nesting_is_no_recursion() -> None:
    """Lists and tuples nested deeper than Python's stack are copied."""
    value: object = 0
    for _ in range(DEPTH):
        value = ([value],)

    copy = copy_containers(value)
    for _ in range(DEPTH):
        (copy,) = cast("tuple[list[object]]", copy)[0]

    assert copy == 0


def test_objects_in_containers_stay_themselves() -> None:
    """Neither primitives nor subclasses of builtins are copied."""
    objects = [Tokenizable("x"), OrderedDict[str, int](a=1)]

    copy = copy_containers(objects)

    assert copy is not objects
    assert all(a is b for a, b in zip(copy, objects, strict=True))


def test_deque_keeps_its_bound() -> None:
    """The copy drops old entries as the original would."""
    assert copy_containers(deque([1, 2], maxlen=2)).maxlen == 2
