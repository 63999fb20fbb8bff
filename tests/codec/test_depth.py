import inspect
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from graphcodec import Codec
from graphcodec.errors import GraphCodecError, LimitExceededError
from graphcodec.primitives import Registry, Tokenizable, ToolCall
from graphcodec.testing import same_graph
from tests.codec.samples import (
    CODEC,
    Link,
    Node,
    in_args,
    nested,
    out_of_args,
    written,
)
from tests.primitives.builders import make

WRAPS: dict[str, Callable[[Any], Any]] = {
    "list": lambda value: [value],
    "dict": lambda value: {"a": value},
    "tuple": lambda value: (value,),
    "keyed": lambda value: {1: value},
    "mixed": lambda value: {"a": [(value,)]},
}


def levels_of(wire: object) -> int:
    """Return how deep a piece of a document nests, without recursion."""
    deepest, stack = 0, [(wire, 1)]
    while stack:
        value, level = stack.pop()
        if isinstance(value, (dict, list)):
            deepest = max(deepest, level)
            parts: Any = value.values() if isinstance(value, dict) else value  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            stack += [(part, level + 1) for part in parts]
    return deepest


def linked(cls: type[Any], length: int) -> Any:
    """Return the last of a chain of objects."""
    link = None
    for _ in range(length):
        link = cls(next=link)
    return link


def test_hundred_thousand_linked_objects_come_back() -> None:
    """No recursion follows the data."""
    chain = linked(Link, 100_000)

    assert same_graph(CODEC.decode(CODEC.encode(chain)), chain)


def test_long_chain_of_mutable_objects_comes_back() -> None:
    """In the other format, too."""
    chain = linked(Node, 20_000)
    codec = CODEC.replace(format="msgpack")

    assert same_graph(codec.decode(codec.encode(chain)), chain)


def test_long_ring_comes_back() -> None:
    """The same with a cycle."""
    last = linked(Node, 20_000)
    first = last
    while first.next is not None:
        first = first.next
    first.next = last

    assert same_graph(CODEC.decode(CODEC.encode(last)), last)


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
def test_arguments_nested_five_thousand_levels_come_back(
    wrap: Callable[[object], object],
) -> None:
    """Whatever they are nested in."""
    call = in_args(nested(5_000, wrap))

    assert same_graph(CODEC.decode(CODEC.encode(call)), call)


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
def test_any_number_of_levels_comes_back(wrap: Callable[[object], object]) -> None:
    """In particular around the bound of a node."""
    for levels in range(130):
        value = {"plain": nested(levels, wrap), "any": (nested(levels, wrap),)}
        call = in_args(value)

        again = CODEC.decode(CODEC.encode(call))

        assert same_graph(out_of_args(again), value)


@pytest.mark.parametrize("wrap", WRAPS.values(), ids=WRAPS)
def test_root_and_nodes_nest_at_most_sixty_levels(
    wrap: Callable[[object], object],
) -> None:
    """Every map and list counted."""
    for levels in (20, 50, 57, 58, 59, 60, 61, 300):
        document = written(in_args([nested(levels, wrap), linked(Link, levels)]))
        pieces = [*document.get("nodes", []), document["root"]]

        assert max(map(levels_of, pieces)) <= 60


def test_shallow_graphs_stay_trees() -> None:
    """A person can read them in a JSON column."""
    assert "nodes" not in written(in_args(nested(40, WRAPS["list"])))


def test_deep_registry_comes_back() -> None:
    """A registry in a registry, five hundred times over."""
    registry = Registry()
    for _ in range(500):
        registry = Registry({"inner": registry})

    assert same_graph(CODEC.decode(CODEC.encode(registry)), registry)


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 10**7,
        b'{"a":' * 10**5,
        b'{"graphcodec":1,"root":' + b"[" * 10**6,
        b'{"graphcodec":1,"root":' + b"[" * 9_000 + b"]" * 9_000 + b"}",
        b'{"graphcodec":1,"root":' + b'{"$any":' * 9_000 + b"1" + b"}" * 9_001,
        b"\x81" + b"\x91" * 10**7,
        b"\x81\xa1a" * 10**5,
    ],
    ids=["lists", "dicts", "root", "closed", "wrappers", "msgpack", "msgpack maps"],
)
def test_hostile_nesting_is_refused_at_once(data: bytes) -> None:
    """Neither a RecursionError nor a crash."""
    before = time.process_time()

    with pytest.raises(GraphCodecError, match=r"nests|no graphcodec|MessagePack|JSON"):
        CODEC.decode(data)
    assert time.process_time() - before < 2


@pytest.mark.parametrize("levels", [100, 200, 300, 450, 900])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[", "]"),
        ('{"$tuple":[', "]}"),
        ('{"$dict":[[1,', "]]}"),
        ('{"$type":"test.Node","any":{"$any":', "}}"),
        ('{"$type":"test.Node","unknown":', "}"),
        ('{"$type":"test.Unknown","x":', "}"),
    ],
    ids=["list", "tuple", "dict", "object", "unknown field", "unknown type"],
)
def test_document_that_nests_too_deep_is_read_or_refused(
    levels: int, before: str, after: str
) -> None:
    """And what was read can be written again."""
    codec = CODEC.replace(unknown_types="keep")
    inner = f"{before * levels}1{after * levels}"
    try:
        found = codec.decode(f'{{"graphcodec":1,"root":{{"$any":{inner}}}}}')
    except LimitExceededError as exc:
        assert exc.limit == "nesting"  # noqa: PT017 - either is right
    else:
        assert same_graph(codec.decode(codec.encode(found)), found)


def _deep_call(levels: int, work: Callable[[], object]) -> object:
    return work() if levels == 0 else _deep_call(levels - 1, work)


def test_deep_caller_gets_an_error_of_ours_or_a_result() -> None:
    """The stack of the caller may leave no room; that harms no later call."""
    codec = Codec()
    call = make(ToolCall, args={"x": nested(50, WRAPS["tuple"])})
    data = Codec().encode(call)
    most = sys.getrecursionlimit()
    outcomes = set[str]()
    for left in range(10, 600, 15):
        for work in (lambda: codec.encode(call), lambda: codec.decode(data)):
            try:
                _deep_call(most - left - _used(), work)
                outcomes.add("done")
            except LimitExceededError:
                outcomes.add("refused")
            except RecursionError:
                # Not even the first frames of ours had room.
                assert left < 100

    assert outcomes == {"done", "refused"}
    assert codec.encode(call) == data
    assert same_graph(codec.decode(data), call)


def _used() -> int:
    return len(inspect.stack(0))


def test_small_stack_of_a_thread_is_enough() -> None:
    """Worker threads have less room than the main one."""
    failures: list[BaseException] = []
    chain = linked(Link, 20_000)

    def work() -> None:
        try:
            assert same_graph(CODEC.decode(CODEC.encode(chain)), chain)
        except BaseException as exc:  # noqa: BLE001 - handed to the test
            failures.append(exc)

    old = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(old)

    assert failures == []


def test_wide_graph_comes_back() -> None:
    """Width is no depth."""
    wide = [Tokenizable(str(n)) for n in range(50_000)]

    assert Codec().decode(Codec().encode(wide)) == wide
