from __future__ import annotations

import copy
import pickle
from collections import deque
from types import MappingProxyType
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphcodec.errors import InvalidValueError
from graphcodec.primitives import Registry, Tokenizable
from tests.primitives.builders import FixedReader

DEPTH = 5_000


def test_new_registry_is_empty() -> None:
    """Without an argument there is nothing in it."""
    assert Registry().all() == {}


def test_each_new_registry_has_data_of_its_own() -> None:
    """Two empty registries share nothing."""
    first, second = Registry(), Registry()
    first.set("a", 1)

    assert not second.has("a")


def test_initial_is_copied() -> None:
    """What is done to the mapping later does not reach the registry."""
    initial = {"usage": {"tokens": 1}}
    registry = Registry(initial)
    initial["usage"]["tokens"] = 2

    assert registry.get("usage.tokens") == 1


def test_empty_initial_is_copied_too() -> None:
    """An empty dict does not become the registry's own."""
    initial: dict[str, object] = {}
    registry = Registry(initial)
    initial["a"] = 1

    assert registry.all() == {}


def test_any_mapping_will_do_to_start_from() -> None:
    """A read-only view is turned into data of the registry's own."""
    assert Registry(MappingProxyType({"a": 1})).all() == {"a": 1}


@pytest.mark.parametrize("initial", [None, [], [("a", 1)], "ab", Registry()])
def test_initial_is_a_mapping(initial: object) -> None:
    """Pairs, text and other registries are no data."""
    with pytest.raises(
        InvalidValueError, match=r"Registry\.data must be a dict with str keys, not"
    ) as caught:
        Registry(initial)  # type: ignore[arg-type]
    assert caught.value.path == "$.data"


def test_initial_has_str_keys() -> None:
    """A key that no path could name is refused."""
    with pytest.raises(InvalidValueError, match=r"not one with 1"):
        Registry(cast("dict[str, object]", {"a": 0, 1: 0}))


def test_set_makes_the_mappings_on_the_way() -> None:
    """A path may be longer than what is there."""
    registry = Registry()
    registry.set("a.b.c", 1)

    assert registry.all() == {"a": {"b": {"c": 1}}}


def test_huge_int_comes_back() -> None:
    """Numbers are not rounded."""
    registry = Registry({"usage": {"big": 2**200}})

    assert registry.get("usage.big") == 2**200


def test_get_gives_the_default_for_what_is_missing() -> None:
    """None without one; but None that was stored is there."""
    registry = Registry({"a": None})

    assert registry.get("b") is None
    assert registry.get("b", 7) == 7
    assert registry.get("a", 7) is None


@pytest.mark.parametrize("value", [None, 0, "", False, [], {}])
def test_has_says_whether_something_stands_there(value: object) -> None:
    """Whatever was stored counts, be it falsy."""
    registry = Registry({"a": value})

    assert registry.has("a")
    assert not registry.has("a.b")


def test_set_copies_containers() -> None:
    """A list that is changed after set is not changed in the registry."""
    registry, value = Registry(), [1, [2]]
    registry.set("a", value)
    cast("list[int]", value[1]).append(3)

    assert registry.get("a") == [1, [2]]


@pytest.mark.parametrize("value", [[1], {"x": 1}, {1}, deque([1])])
def test_get_copies_containers(value: object) -> None:
    """What is done to a result does not reach the registry."""
    registry = Registry({"a": value})

    assert registry.get("a") == value
    assert registry.get("a") is not registry.get("a")


def test_all_copies_containers() -> None:
    """Changing the result changes nothing, at any depth."""
    registry = Registry({"a": {"b": 1}})
    cast("dict[str, int]", registry.all()["a"])["b"] = 2

    assert registry.get("a.b") == 1


def test_aliases_survive_the_copies() -> None:
    """What is one list in the initial mapping is one list in all()."""
    shared = [1]
    data = Registry({"a": shared, "b": {"c": shared}}).all()

    assert data["a"] is cast("dict[str, object]", data["b"])["c"]


def test_primitives_are_never_cloned() -> None:
    """Going in and coming out, an object stays the object that it is."""
    text, reader = Tokenizable("x"), FixedReader()
    registry = Registry({"text": [text]})
    registry.set("reader", reader)

    assert registry.get("text.0") is text
    assert registry.get("reader") is reader


def test_registry_can_hold_itself() -> None:
    """A cycle through the registry is data like any other."""
    registry = Registry()
    registry.set("self", registry)

    assert registry.get("self") is registry
    assert registry.keys() == ["self"]


def test_data_can_hold_itself() -> None:
    """A cycle of containers is copied as one, and keys stop where it comes round."""
    loop: dict[str, object] = {"leaf": 1}
    loop["again"] = loop
    registry = Registry({"loop": loop})

    assert registry.keys() == ["loop.leaf", "loop.again"]
    assert registry.get("loop.again.again.leaf") == 1


def test_escaped_dot_belongs_to_the_name() -> None:
    r"""``\.`` is a dot, and not the end of a name."""
    registry = Registry({"a.b": {"c": 1}})

    assert registry.get(r"a\.b.c") == 1
    assert registry.get("a.b.c") is None
    assert registry.keys() == [r"a\.b.c"]


def test_escaped_backslash_is_a_backslash() -> None:
    r"""A name that ends in a backslash can be told from an escaped dot."""
    registry = Registry()
    registry.set(r"a\\.b", 1)

    assert registry.all() == {"a\\": {"b": 1}}


def test_lone_backslash_is_itself() -> None:
    r"""What is not ``\.`` or ``\\`` needs no escape."""
    registry = Registry({"C:\\dir": 1})

    assert registry.get("C:\\dir") == 1
    assert registry.keys() == ["C:\\\\dir"]


@given(st.dictionaries(st.text(alphabet=".\\ab0\n"), st.integers(), max_size=5))
def test_keys_can_be_read_back(data: dict[str, int]) -> None:
    """Every path that keys() gives leads to its leaf, whatever is in the names."""
    registry = Registry({"data": data} if data else {})
    paths = registry.keys()

    assert [registry.get(path) for path in paths] == list(data.values())


def test_keys_are_those_of_the_leaves() -> None:
    """Lists, empty mappings and mappings with other keys are leaves."""
    registry = Registry({"a": {"b": 1, "c": [1]}, "d": {}, "e": {1: 2}, "f": None})

    assert registry.keys() == ["a.b", "a.c", "d", "e", "f"]


def test_number_is_a_name_in_a_mapping() -> None:
    """A numeric segment makes no list."""
    registry = Registry()
    registry.set("a.0", 1)

    assert registry.all() == {"a": {"0": 1}}


def test_number_is_an_index_in_a_list() -> None:
    """It reads, replaces and, behind the end, appends."""
    registry = Registry({"a": [1, {"b": 2}]})
    registry.set("a.0", 10)
    registry.set("a.1.b", 20)
    registry.set("a.2", 30)

    assert registry.get("a") == [10, {"b": 20}, 30]
    assert registry.get("a.1.b") == 20


@pytest.mark.parametrize("index", ["2", "-1", "x", "", "²", "9" * 5_000])
def test_list_has_no_other_index(index: str) -> None:
    """Reading there finds nothing; nothing counts from the end."""
    registry = Registry({"a": [1]})

    assert not registry.has(f"a.{index}")
    with pytest.raises(InvalidValueError, match="for a list of 1") as caught:
        registry.set(f"a.{index}", 0)
    assert caught.value.hint == "an index is a number up to 1"


def test_set_does_not_write_over_what_is_no_container() -> None:
    """A longer path does not make a mapping out of a number."""
    registry = Registry({"a": {"b": 1}})

    with pytest.raises(InvalidValueError, match=r"'a\.b\.c' leads through 1, which"):
        registry.set("a.b.c", 2)
    assert registry.all() == {"a": {"b": 1}}


@pytest.mark.parametrize("path", ["counts.x", "counts.1", "counts.x.y"])
def test_other_keys_are_not_passed_over(path: str) -> None:
    """A path into a mapping whose keys are no str raises, instead of missing them."""
    registry = Registry({"counts": {1: "one"}})

    for call in (registry.get, registry.has, registry.delete):
        with pytest.raises(InvalidValueError, match="a mapping that has the key 1"):
            call(path)
    with pytest.raises(InvalidValueError, match="a mapping that has the key 1"):
        registry.set(path, 0)
    assert registry.get("counts") == {1: "one"}


@pytest.mark.parametrize("path", [None, 1, ("a", "b"), b"a"])
def test_path_is_a_str(path: str) -> None:
    """Nothing else is taken for a path."""
    with pytest.raises(InvalidValueError, match="a path in a registry must be a str"):
        Registry().get(path)


def test_delete_says_whether_something_was_there() -> None:
    """It removes entries of mappings and of lists, once."""
    registry = Registry({"a": {"b": 1}, "c": [1, 2]})

    assert registry.delete("a.b")
    assert registry.delete("c.0")
    assert not registry.delete("a.b")
    assert not registry.delete("x.y")
    assert registry.all() == {"a": {}, "c": [2]}


def _deep(depth: int) -> object:
    value: object = 0
    for level in range(depth):
        value = [value] if level % 2 else {"k": value}
    return value


def test_deep_data_needs_no_recursion() -> None:
    """Data nested deeper than Python's stack goes in, comes out and compares."""
    first, second = Registry(), Registry({"deep": _deep(DEPTH)})
    first.set("deep", _deep(DEPTH))

    assert first == second
    assert first != Registry({"deep": _deep(DEPTH + 2)})


def test_deep_mappings_have_keys() -> None:
    """A path can be as long as the data is deep."""
    path = ".".join("k" * DEPTH)
    registry = Registry()
    registry.set(path, 1)

    assert registry.keys() == [path]
    assert registry.delete(path)


def test_cyclic_registries_are_equal_if_their_cycles_are() -> None:
    """Comparing ends where it comes round."""

    def loop(leaf: int) -> Registry:
        registry = Registry({"leaf": leaf})
        registry.set("self", [registry])
        return registry

    assert loop(1) == loop(1)
    assert loop(1) != loop(2)


def test_registry_is_not_hashable() -> None:
    """It can change, so it is no key."""
    with pytest.raises(TypeError, match="unhashable"):
        hash(Registry())


def test_copy_is_independent() -> None:
    """copy.copy copies the containers, replace() does too."""
    registry = Registry({"a": 1})
    other = copy.copy(registry)
    other.set("a", 2)

    assert registry.get("a") == 1
    assert registry.replace(initial={"b": 1}).all() == {"b": 1}


def test_pickling_keeps_the_cycle() -> None:
    """A registry that holds itself does so in another process."""
    registry = Registry({"a": 1})
    registry.set("self", registry)

    loaded = pickle.loads(pickle.dumps(registry))

    assert loaded == registry
    assert loaded.get("self") is loaded


def test_repr_counts_the_keys() -> None:
    """The data is not shown."""
    assert repr(Registry({"secret": 1, "b": 2})) == "Registry(<2 keys>)"
