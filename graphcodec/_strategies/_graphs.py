"""Graphs with sharing, cycles and depth."""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, cast

from hypothesis import strategies as st

from graphcodec._strategies._primitives import (
    identities,
    media,
    messages,
    primitives,
    readers,
)
from graphcodec._strategies._values import Value, hashables, named, texts, values
from graphcodec.primitives import Conversation, Message, Registry, ToolCall

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

_NOW: Final = datetime(2026, 5, 1, 12, 30, tzinfo=UTC)

_KINDS: Final = ("list", "dict", "deque", "odd", "registry", "call")


@named
def graphs() -> SearchStrategy[object]:
    """Return a strategy for graphs: primitives that share parts, cycles and depth.

    An identity in several messages, a media attached to several, one list at two places
    of a call's arguments, a list or registry that holds itself, a call whose arguments
    hold it, knots of all these, and chains a hundred levels deep.
    """
    return st.one_of(primitives(), values(), _shared(), _aliased(), knots(), _deep())


@st.composite
def _shared(draw: st.DrawFn) -> Conversation:
    """Return a conversation of messages that share what messages can share."""
    people = draw(st.lists(identities(), min_size=1, max_size=2))
    pictures = draw(st.lists(media(), min_size=1, max_size=2))
    first = draw(messages())
    said = [
        first.replace(
            identity=draw(st.sampled_from(people)),
            attachments=tuple(draw(st.lists(st.sampled_from(pictures), max_size=3))),
            content="again",
        )
        for _ in range(draw(st.integers(1, 4)))
    ]
    # One stash in all of them, and some messages more than once.
    items: list[Message] = draw(st.lists(st.sampled_from(said), min_size=1, max_size=6))
    return Conversation(id="shared", items=items)


@st.composite
def knots(draw: st.DrawFn) -> object:
    """Return containers and objects that hold each other, and themselves, at random."""
    kinds = draw(st.lists(st.sampled_from(_KINDS), min_size=1, max_size=5))
    nodes = [_empty(kind) for kind in kinds]
    for node in nodes:
        for place in range(draw(st.integers(0, 3))):
            _put(node, place, draw(_held(nodes)), draw)
    return draw(st.sampled_from(nodes))


@st.composite
def _aliased(draw: st.DrawFn) -> ToolCall:
    """Return a call whose arguments hold one list in several places."""
    call = _call()
    args = cast("dict[str, object]", call.args)
    alias = draw(st.lists(values(), max_size=3))
    args.update(one=alias, two=alias, three=(alias, {"in": [alias]}))
    if draw(st.booleans()):
        args["me"] = [call]
    return call


def _call() -> ToolCall:
    return ToolCall(
        id="call-1",
        tool="look",
        args=dict[str, object](),
        is_complete=False,
        is_error=False,
        created_at=_NOW,
        updated_at=_NOW,
    )


def _empty(kind: str) -> object:
    match kind:
        case "list":
            return list[object]()
        case "deque":
            return deque[object]()
        case "registry":
            return Registry()
        case "call":
            return _call()
        case "odd":
            return {(): kind}
        case _:
            return dict[object, object]()


def _held(nodes: list[object]) -> SearchStrategy[object]:
    """Return a strategy for what a node may hold: mostly nodes."""
    node = st.sampled_from(nodes)
    return st.one_of(
        node,
        st.lists(node, max_size=2).map(tuple),
        st.tuples(node, readers()),
        values(),
    )


def _put(node: object, place: int, value: Value, draw: st.DrawFn) -> None:
    match node:
        case Registry():
            # It would copy a container that is not filled yet.
            node.set(f"key-{place}", value if isinstance(value, _OBJECTS) else place)
        case ToolCall():
            cast("dict[str, object]", node.args)[draw(texts())] = value
        case dict():
            table = cast("dict[object, object]", node)
            table[draw(hashables()) if () in table else f"key-{place}"] = value
        case _:
            cast("list[object]", node).append(value)


_OBJECTS: Final = (Registry, ToolCall)


@st.composite
def _deep(draw: st.DrawFn) -> object:
    """Return something under some dozens of levels, of one kind or of several."""
    inner: object = draw(st.one_of(values(), primitives()))
    kinds = draw(
        st.lists(st.sampled_from(("list", "tuple", "dict", "registry")), min_size=1)
    )
    for level in range(draw(st.integers(1, 120))):
        inner = _around(inner, kinds[level % len(kinds)])
    return inner


def _around(inner: object, kind: str) -> object:
    match kind:
        case "list":
            return [inner]
        case "tuple":
            return (inner, 1)
        case "dict":
            return {"$in": inner}
        case _:
            return Registry({"in": inner})
