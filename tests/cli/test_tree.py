"""Whatever a document holds, a tree can be made of it."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graphcodec._documents._survey import survey
from graphcodec.cli._tree import Tree

KEYS = st.sampled_from(
    ["$type", "$v", "$any", "$value", "$dict", "$tuple", "n", "tag", "locator", "\x1b"]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 3),
    st.floats(),
    st.binary(max_size=3),
    st.sampled_from(["$ref", "$reader", "shop.Order", "x" * 300, "\n", ""]),
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=15),
        st.dictionaries(st.one_of(KEYS, st.integers(0, 2)), inner, max_size=4),
    ),
    max_leaves=20,
)


@given(
    root=VALUES,
    nodes=st.lists(VALUES, max_size=3),
    depth=st.integers(0, 9),
    binary=st.booleans(),
)
def test_any_document_has_a_tree(
    root: object, nodes: list[object], depth: int, *, binary: bool
) -> None:
    """Markup that makes no sense, cycles and odd keys are shown, and nothing raises."""
    tree = Tree(nodes, depth=depth, binary=binary)
    lines = [line for part in [root, *nodes] for line in tree.lines(part)]

    assert all((line.label + line.text).isprintable() for line in lines)
    assert all(line.text for line in lines)


@given(VALUES, st.lists(VALUES, max_size=3))
def test_any_document_can_be_surveyed(root: object, nodes: list[object]) -> None:
    """Every node has a place, whether something refers to it or not."""
    found = survey({"graphcodec": 1, "root": root, "nodes": nodes})

    assert sorted(found.places) == list(range(len(nodes)))
    assert all(
        path.startswith("$") for path in [*found.places.values(), *found.dangling]
    )
