"""The registry of tools: order, names, what is hidden, and what merging does."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any, cast

import pytest

from graphcodec.errors import InvalidValueError
from graphcodec.primitives import Conversation, Registry, Tool, ToolRegistry
from tests.primitives.handlers import tool

REGISTRY: Any = ToolRegistry
"""The class, for what type checkers would not let pass."""


def named(*names: str, **changes: Any) -> list[Tool]:
    """Return definitions with these names."""
    return [tool(None, name=name, **changes) for name in names]


def test_registry_keeps_the_order() -> None:
    """Of what it was made from, and of what came later."""
    registry = ToolRegistry(named("b", "a"))
    registry.register(named("c")[0])

    assert [found.name for found in registry] == ["b", "a", "c"]
    assert registry.all() == named("b", "a", "c")
    assert len(registry) == 3
    assert repr(registry) == "ToolRegistry(<3 tools>)"


def test_registry_finds_by_name() -> None:
    """Hidden or not."""
    registry = ToolRegistry(named("a", "b"), hidden=["b"])

    assert registry.get("b") == named("b")[0]
    assert registry.get("c") is None
    assert (registry.has("a"), registry.has("c")) == (True, False)
    assert "b" in registry
    assert "c" not in registry


def test_name_is_taken_once() -> None:
    """Unless it is to be overwritten, which keeps the place."""
    registry = ToolRegistry(named("a", "b"))
    other = tool(None, name="a", description="Another.")

    with pytest.raises(InvalidValueError, match=r"named 'a' is .*overwrite=True"):
        registry.register(other)
    registry.register(other, overwrite=True)

    assert registry.all() == [other, *named("b")]
    with pytest.raises(InvalidValueError, match="named 'a' is registered already"):
        ToolRegistry([*named("a"), other])


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: REGISTRY(5), "must be a list, not 5"),
        (lambda: REGISTRY({"a": named("a")[0]}), "must be a list, not a dict"),
        (lambda: REGISTRY(["a"]), "holds tools, not 'a'"),
        (lambda: REGISTRY().register("a"), "holds tools, not 'a'"),
        (lambda: REGISTRY(hidden="ab"), "must be a set, not 'ab'"),
        (lambda: REGISTRY(hidden=[1]), "hides are names, not 1"),
        (lambda: REGISTRY().hide(1), "hides are names, not 1"),
        (lambda: REGISTRY().set_hidden("ab"), r"names, not 'ab'.*\[name\]"),
        (lambda: REGISTRY.merge([], on_collision="drop"), "on_collision must be"),
        (
            lambda: Conversation(id="c", items=[], tools=cast("Any", named("a"))),
            r"ToolRegistry\(tools\)",
        ),
    ],
)
def test_what_is_no_tool_or_name_is_refused(
    make: Callable[[], object], reason: str
) -> None:
    """When it goes in."""
    with pytest.raises(InvalidValueError, match=reason):
        make()


def test_unregister_takes_the_tool_away() -> None:
    """Its name is not hidden any more, should it come back."""
    registry = ToolRegistry(named("a", "b"), hidden=["a"])

    assert registry.unregister("a")
    assert not registry.unregister("a")
    registry.register(named("a")[0])

    assert registry.visible() == named("b", "a")


def test_hidden_tools_are_there_and_not_visible() -> None:
    """A model is told of the others only."""
    registry = ToolRegistry(named("a", "b", "c"))

    registry.hide("c", "a")
    assert registry.visible() == named("b")
    assert registry.hidden() == named("a", "c")
    assert [each["name"] for each in registry.describe()] == ["b"]
    registry.unhide("a", "unknown")
    assert registry.visible() == named("a", "b")
    registry.set_hidden(["b"])
    assert registry.hidden() == named("b")
    registry.clear_hidden()
    assert registry.hidden() == []


def test_name_is_hidden_before_its_tool_comes() -> None:
    """The tool that comes under it is hidden from the start."""
    registry = ToolRegistry()
    registry.hide("danger")

    assert registry.hidden() == []
    registry.register(named("danger")[0])
    assert registry.visible() == []


def test_ephemeral_tools_are_pruned() -> None:
    """They come back as what was removed; a second time there are none."""
    registry = ToolRegistry([*named("a"), *named("b", "c", ephemeral=True)])

    assert registry.prune_ephemeral() == named("b", "c", ephemeral=True)
    assert registry.all() == named("a")
    assert registry.prune_ephemeral() == []


def test_iteration_survives_changes() -> None:
    """It goes through what was there when it began."""
    registry = ToolRegistry(named("a", "b"))

    for found in registry:
        registry.unregister(found.name)

    assert len(registry) == 0


def test_registries_are_equal_by_value() -> None:
    """Order and hidden names count."""
    assert ToolRegistry(named("a", "b")) == ToolRegistry(tuple(named("a", "b")))
    assert ToolRegistry(named("a", "b")) != ToolRegistry(named("b", "a"))
    assert ToolRegistry(named("a")) != ToolRegistry(named("a"), hidden=["a"])
    with pytest.raises(TypeError, match="unhashable"):
        hash(ToolRegistry())


def test_registry_is_independent_of_what_it_was_made_from() -> None:
    """And so are its copies."""
    given = named("a")
    registry = ToolRegistry(given)
    given += named("b")
    shallow = copy.copy(registry)
    registry.hide("a")

    assert len(registry) == 1
    assert shallow.visible() == named("a")
    assert pickle.loads(pickle.dumps(registry)) == registry
    assert copy.deepcopy(registry) == registry


# Merging


def variants(policy: str) -> tuple[ToolRegistry, ToolRegistry]:
    """Return two registries that both have a tool ``a``, the later with a policy."""
    old = tool(None, name="a", meta=Registry({"old": True}))
    new = tool(None, name="a", on_collision=policy)
    return ToolRegistry([old, *named("b")]), ToolRegistry([*named("c"), new])


@pytest.mark.parametrize(
    ("policy", "option", "kept"),
    [
        ("replace", "throw", "new"),
        ("replace", "keep", "new"),
        ("keep", "throw", "old"),
        ("keep", "replace", "old"),
        ("throw", "replace", "new"),
        ("throw", "keep", "old"),
    ],
)
def test_later_tool_says_what_happens(policy: str, option: Any, kept: str) -> None:
    """Only where it says throw, the option does; a replaced one keeps its place."""
    old, new = variants(policy)

    merged = ToolRegistry.merge([old, new], on_collision=option)

    assert [found.name for found in merged] == ["a", "b", "c"]
    assert merged.get("a") == (new if kept == "new" else old).get("a")
    assert (len(old), len(new)) == (2, 2)


def test_collision_throws_by_default() -> None:
    """Neither tool says otherwise."""
    with pytest.raises(InvalidValueError, match=r"'a' is registered already.*merge"):
        ToolRegistry.merge(variants("throw"))


@pytest.mark.parametrize(("option", "hidden"), [("keep", ["a"]), ("replace", ["c"])])
def test_hiding_goes_with_the_tool_that_survives(
    option: Any, hidden: list[str]
) -> None:
    """Not with the one that made way."""
    old, new = variants("throw")
    old.hide("a")
    new.hide("c") if option == "replace" else None

    merged = ToolRegistry.merge([old, new], on_collision=option)

    assert [found.name for found in merged.hidden()] == hidden


def test_names_hidden_early_stay_hidden_when_merged() -> None:
    """Wherever the tool comes from."""
    early = ToolRegistry(hidden=["danger", "later"])

    for order in (
        [early, ToolRegistry(named("danger"))],
        [ToolRegistry(named("danger")), early],
    ):
        merged = ToolRegistry.merge(order)
        assert merged.visible() == []
        merged.register(named("later")[0])
        assert merged.visible() == []


def test_merge_of_nothing_is_empty() -> None:
    """And that of one is a copy."""
    one = ToolRegistry(named("a"), hidden=["a"])

    assert ToolRegistry.merge([]) == ToolRegistry()
    assert ToolRegistry.merge([one]) == one
    assert ToolRegistry.merge([one]) is not one
