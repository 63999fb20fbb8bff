from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import graphcodec
from graphcodec.runs import Metadata


def test_begins_empty() -> None:
    """Nothing in it, and falsy."""
    assert Metadata() == {}
    assert not Metadata()


@pytest.mark.parametrize("metadata", [Metadata({"a": 1}), Metadata(a=1)])
def test_entries_are_items_and_attributes(metadata: Metadata) -> None:
    """Both ways lead to the same entry."""
    metadata.b = 2

    assert metadata.a == metadata["a"] == 1
    assert metadata.b == metadata["b"] == 2
    assert list(metadata) == ["a", "b"]


def test_missing_entries_say_so() -> None:
    """A typo is no None."""
    metadata = Metadata(model="m")

    with pytest.raises(AttributeError, match="no entry 'modle'"):
        _ = metadata.modle
    with pytest.raises(KeyError, match="modle"):
        metadata["modle"]
    assert metadata.get("modle", 7) == 7


def test_names_of_methods_are_reached_as_items() -> None:
    """Setting one as an attribute is refused, with the way to do it."""
    metadata = Metadata({"keys": [1]})

    assert metadata["keys"] == [1]
    with pytest.raises(AttributeError, match=r"write metadata\['scope'\]"):
        metadata.scope = 1  # type: ignore[method-assign,assignment]


def test_keys_are_text() -> None:
    """As in JSON."""
    with pytest.raises(TypeError, match="a key of metadata is a str, not 1"):
        Metadata()[1] = "x"  # type: ignore[index]


def test_entries_can_be_deleted() -> None:
    """Both ways."""
    metadata = Metadata(a=1, b=2)
    del metadata.a
    del metadata["b"]

    assert metadata == {}
    with pytest.raises(AttributeError, match="a"):
        del metadata.a


def test_maps_are_metadata_also_in_lists() -> None:
    """So that what was just made and what was read look the same."""
    metadata = Metadata(tracing={"tokens": {"input": 1}}, steps=[{"n": 1}, ({"n": 2},)])

    assert metadata.dig("tracing", "tokens", "input") == 1
    assert metadata.dig("steps", 0, "n") == 1
    assert metadata.dig("steps", 1, 0, "n") == 2
    assert isinstance(metadata["tracing"], Metadata)


def test_dicts_with_other_keys_stay_dicts() -> None:
    """They can't have attributes."""
    assert Metadata(counts={1: {"a": 2}})["counts"] == {1: Metadata(a=2)}


def test_what_is_taken_is_copied() -> None:
    """Later changes of the original don't show."""
    original = {"a": {"b": [1]}}
    metadata = Metadata(original)
    original["a"]["b"].append(2)

    assert metadata.dig("a", "b") == [1]


@pytest.mark.parametrize(
    "keys", [("missing",), ("a", "missing"), ("a", "b", "c"), ("list", 9), ()]
)
def test_digging_where_nothing_is_gives_none(keys: tuple[str, ...]) -> None:
    """Missing, partial, too deep, and no keys at all."""
    assert Metadata(a={"b": 1}, list=[1]).dig(*keys) is None


def test_scopes_are_made_and_found_again() -> None:
    """One key or several; as a statement or as an expression."""
    metadata = Metadata()
    with metadata.scope("tracing") as tracing:
        tracing.model = "m"
        tracing.scope("tokens").input = 12
    metadata.scope("tracing", "tokens").output = 3

    assert metadata.to_dict() == {
        "tracing": {"model": "m", "tokens": {"input": 12, "output": 3}}
    }


def test_scope_needs_keys_that_lead_to_metadata() -> None:
    """No keys, and a key in the way."""
    with pytest.raises(TypeError, match="at least one key"):
        Metadata().scope()
    with pytest.raises(TypeError, match="'a' holds a int, not metadata"):
        Metadata(a=1).scope("a", "b")


def test_merging_leaves_the_originals_alone() -> None:
    """The later one wins."""
    first, second = Metadata(a=1, b=1), Metadata(b=2)

    assert first.merge(second) == {"a": 1, "b": 2}
    assert first == {"a": 1, "b": 1}


def test_equality_is_deep() -> None:
    """With metadata and with plain mappings."""
    assert Metadata(a={"b": 1}) == Metadata(a={"b": 1}) == {"a": {"b": 1}}
    assert Metadata(a={"b": 1}) != Metadata(a={"b": 2})
    assert Metadata() != 1


def test_plain_form_has_plain_dicts() -> None:
    """At every depth."""
    plain = Metadata(a={"b": [{"c": 1}]}, d=({"e": 1},), f={1: Metadata(g=2)}).to_dict()

    assert type(plain["a"]) is dict
    assert plain == {"a": {"b": [{"c": 1}]}, "d": ({"e": 1},), "f": {1: {"g": 2}}}
    assert type(plain["f"][1]) is dict  # type: ignore[index]


def test_copies_are_independent() -> None:
    """Pickled, copied, encoded: equal, and not the same."""
    metadata = Metadata(a={"b": [1, b"\xff"]})
    copies: list[Any] = [
        pickle.loads(pickle.dumps(metadata)),
        copy.copy(metadata),
        copy.deepcopy(metadata),
        graphcodec.decode(graphcodec.encode(metadata)),
    ]

    assert copies == [metadata] * 4
    metadata.c = 1
    assert all("c" not in other for other in copies)


def test_repr_shows_no_content() -> None:
    """It may be a customer's."""
    assert repr(Metadata(note="hunter2")) == "Metadata(<1 entries>)"
