import os
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from graphcodec import Codec, Limits
from graphcodec._limits import read_bounded
from graphcodec.errors import InvalidValueError, LimitExceededError
from graphcodec.primitives import (
    Conversation,
    Identity,
    Media,
    Message,
    SpooledArtifact,
    Tokenizable,
    ToolCall,
)
from graphcodec.readers import BytesReader
from tests.codec.samples import CODEC, FORMATS, Link, Node, in_args
from tests.primitives.builders import make

NAMES = (
    "max_bytes",
    "max_depth",
    "max_nodes",
    "max_string",
    "max_container",
    "max_inline_bytes",
    "max_decompressed",
)


def chain(length: int) -> Link | None:
    """Return the last of a chain of objects."""
    link = None
    for _ in range(length):
        link = Link(next=link)
    return link


def shared(count: int) -> list[Identity]:
    """Return a list in which every object is met twice."""
    people = [make(Identity, identifier=str(n)) for n in range(count)]
    return people + people


def call(args: dict[str, Any]) -> ToolCall:
    """Return a call with the given arguments."""
    return make(ToolCall, args=args)


def _tuples(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = (value,)
    return value


def _conversation(count: int) -> Conversation:
    return make(Conversation, items=[make(Message) for _ in range(count)])


def _media(size: int) -> Media:
    return make(Media, reader=BytesReader(b"x" * size))


def _artifact(size: int) -> SpooledArtifact:
    return make(SpooledArtifact, reader=BytesReader(b"x" * size))


Case = tuple[str, int, Callable[[int], object], str]
"""The limit, its value, a graph of any size, and the path of what is too large."""

CASES: dict[str, Case] = {
    "bytes": ("max_bytes", 1_000, lambda n: ["x"] * n, "$"),
    "links": ("max_depth", 200, lambda n: chain(n - 1), ""),
    "levels": ("max_depth", 8, lambda n: (1,) if n < 9 else _tuples(n), ""),
    "nodes": ("max_nodes", 10, shared, ""),
    "text": ("max_string", 40, lambda n: Tokenizable("x" * n), "$.text"),
    "root text": ("max_string", 40, lambda n: "x" * n, "$"),
    "walked text": ("max_string", 40, lambda n: ("x" * n,), "$[0]"),
    "marked text": ("max_string", 40, lambda n: ["\ud800" + "x" * n], ""),
    "items": ("max_container", 20, _conversation, "$.items"),
    "list": ("max_container", 20, lambda n: [(1,), *range(n - 1)], "$"),
    "dict": ("max_container", 20, lambda n: {str(i): (i,) for i in range(n)}, "$"),
    "tuple": ("max_container", 20, lambda n: tuple(range(n)), "$"),
    "set": ("max_container", 20, lambda n: set(range(n)), "$"),
    "frozenset": ("max_container", 20, lambda n: frozenset(range(n)), "$"),
    "deque": ("max_container", 20, lambda n: deque(range(n)), "$"),
    "pairs": ("max_container", 20, lambda n: dict.fromkeys(range(n), 1), "$"),
    "media": ("max_inline_bytes", 100, _media, "$.reader"),
    "spool": ("max_inline_bytes", 100, _artifact, "$.reader"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("name", FORMATS)
def test_both_sides_refuse_what_breaks_a_limit(case: Case, name: Any) -> None:
    """With the limit, its value and the path."""
    limit, most, build, path = case
    graph = build(most + 1)
    codec = CODEC.replace(limits=Limits(**{limit: most}), format=name)
    data = CODEC.replace(format=name).encode(graph)

    works: list[Callable[[], object]] = [
        lambda: codec.encode(graph),
        lambda: codec.decode(data),
    ]
    for work in works:
        with pytest.raises(LimitExceededError, match=limit) as caught:
            work()
        assert caught.value.limit == limit
        assert caught.value.value is not None
        assert not path or caught.value.path == path


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("name", FORMATS)
def test_what_encode_accepts_decode_accepts(case: Case, name: Any) -> None:
    """Around every limit, by the same codec."""
    limit, most, build, _ = case
    codec = CODEC.replace(limits=Limits(**{limit: most}), format=name)
    accepted = 0
    for size in {1, 2, most // 2, *range(most - 3, most + 4)}:
        try:
            data = codec.encode(build(size))
        except LimitExceededError:
            with pytest.raises(LimitExceededError):
                codec.decode(CODEC.replace(format=name).encode(build(size)))
        else:
            codec.decode(data)
            accepted += 1

    assert accepted > 0


@pytest.mark.parametrize(
    ("limits", "graph"),
    [
        (Limits(max_string=32), call({"k": "x" * 1_000})),
        (Limits(max_container=15), call({"k": list(range(1_000))})),
        (Limits(max_depth=5), call({"k": [[[[[[[[[["deep"]]]]]]]]]]})),
    ],
    ids=["string", "container", "depth"],
)
def test_plain_slots_are_bounded_by_bytes_only(limits: Limits, graph: object) -> None:
    """Nothing walks them."""
    codec = CODEC.replace(limits=limits)

    assert codec.decode(codec.encode(graph)) == graph


def test_limit_is_checked_before_the_bytes_are_parsed() -> None:
    """Otherwise it would not help."""
    codec = CODEC.replace(limits=Limits(max_bytes=100))

    with pytest.raises(LimitExceededError, match="max_bytes"):
        codec.decode(b"this is no document " * 6)


def test_tree_of_shared_lists_is_bounded() -> None:
    """Without references thirty doublings would be a billion lists."""
    value: list[Any] = []
    for _ in range(30):
        value = [value, value]
    codec = CODEC.replace(references="none", limits=Limits(max_nodes=10_000))

    with pytest.raises(LimitExceededError):
        codec.encode(in_args(value))


def test_tree_of_shared_objects_is_bounded() -> None:
    """The same through fields."""
    node = Node()
    for _ in range(25):
        node = Node(nodes=[node, node])
    codec = CODEC.replace(references="none", limits=Limits(max_nodes=10_000))

    with pytest.raises(LimitExceededError):
        codec.encode(node)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [0, -1, True, 1.5, "1", None])
def test_limit_is_a_positive_int(name: str, value: Any) -> None:
    """Zero would be a codec that can do nothing."""
    with pytest.raises(InvalidValueError, match=f"Limits.{name}"):
        Limits(**{name: value})


def test_limits_have_defaults() -> None:
    """Each of them, generous and finite."""
    assert all(getattr(Limits(), name) >= 10**6 for name in NAMES)


def test_hint_of_an_inline_limit_is_to_store_the_bytes() -> None:
    """Raising it is the second remedy."""
    codec = Codec(limits=Limits(max_inline_bytes=3))

    with pytest.raises(LimitExceededError, match="persist") as caught:
        codec.encode(_media(4))

    assert caught.value.value == 4


def test_a_stream_without_an_end_is_read_up_to_a_limit() -> None:
    """Of a pipe that never ends, no more is held than the limit and one piece."""
    source, target = os.pipe()
    os.write(target, b"x" * 5_000)

    with open(source, "rb", buffering=0) as stream:  # noqa: PTH123 - a descriptor
        with pytest.raises(LimitExceededError, match="at most 4,000 bytes") as caught:
            read_bounded(stream, 4_000)
        os.write(target, b"yz")
        os.close(target)
        assert read_bounded(stream, 2) == b"yz"
    assert caught.value.limit == "file_bytes"
