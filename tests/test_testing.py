from __future__ import annotations

import copy
import json
import operator
import random
import subprocess
import sys
from collections import deque
from datetime import datetime, time, timedelta, timezone
from decimal import Decimal
from functools import partial
from math import copysign, isnan
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID
from zoneinfo import ZoneInfo

import hypothesis
import pytest
from hypothesis import given
from hypothesis.errors import NoSuchExample

from graphcodec import primitives, testing
from graphcodec._graphs._traverse import CONTAINERS, Walk, edges
from graphcodec._strategies._primitives import readers_of
from graphcodec.primitives import Conversation, Identity, Registry, ToolCall
from graphcodec.readers import BytesReader, Reader
from graphcodec.testing import same_graph, strategies
from graphcodec_resolvers import HttpReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hypothesis.strategies import SearchStrategy

FEW: Final = hypothesis.settings(
    max_examples=3_000,
    deadline=None,
    database=None,
    derandomize=True,
    phases=(hypothesis.Phase.generate,),
)


brief = hypothesis.settings(max_examples=80, deadline=None, database=None)


def exists(strategy: SearchStrategy[Any], test: Callable[[Any], bool]) -> bool:
    """Say whether a strategy gives a value that passes a test."""
    try:
        hypothesis.find(strategy, test, settings=FEW)
    except NoSuchExample:
        return False
    return True


def of(kind: object, value: object) -> bool:
    """Say whether *value* is of exactly this kind."""
    return bool(operator.is_(type(value), kind))


# same_graph


def test_types_count() -> None:
    """Values that are equal but of two types are not the same."""
    assert same_graph([1, "a"], [1, "a"])
    assert not same_graph([1], [True])
    assert not same_graph(1, 1.0)
    assert not same_graph((1,), [1])


def test_odd_numbers_are_the_same_as_themselves() -> None:
    """A NaN is the same as another one; zeros of two signs are not."""
    assert same_graph(float("nan"), float("nan"))
    assert same_graph(Decimal("sNaN"), Decimal("sNaN"))
    assert not same_graph(0.0, -0.0)
    assert not same_graph(Decimal("1.1"), Decimal("1.10"))


def test_sharing_counts() -> None:
    """One list twice is not the same as two equal lists."""
    one: list[object] = []

    assert same_graph([one, one], [one, one])
    two: list[object] = []
    assert not same_graph([one, one], [one, two])


def test_cycles_are_compared() -> None:
    """Two lists that hold themselves are the same."""
    one: list[object] = []
    two: list[object] = []
    one.append(one)
    two.append(two)

    assert same_graph(one, two)
    assert not same_graph(one, [two])


def test_shared_tuples_take_linear_time() -> None:
    """Graphs of sixty doublings are compared at once."""

    def doubled() -> object:
        inner: object = (1,)
        for _ in range(60):
            inner = (inner, inner)
        return inner

    assert same_graph(doubled(), doubled())


def test_nested_sets_take_linear_time() -> None:
    """A set of a set of a set, a thousand times, is no work at all."""

    def nested(value: object) -> object:
        for _ in range(1000):
            value = frozenset({value})
        return value

    assert same_graph(nested(1), nested(1))
    assert not same_graph(nested(1), nested(2))


@pytest.mark.parametrize("seed", range(8))
def test_members_of_nested_sets_are_found(seed: int) -> None:
    """In whatever order they stand, also those that are not equal to themselves."""
    one, again = (odd_sets(seed, order) for order in (1, 2))

    assert same_graph(one, again)
    assert not same_graph({one, 7}, {again, 8})


def odd_sets(seed: int, order: int) -> frozenset[object]:
    """Return sets of sets with members of one hash, and with such as have a new one.

    Args:
        seed: What is in them.
        order: In which order it comes.
    """
    chance, mixed = random.Random(seed), random.Random(order)  # noqa: S311 - no secret

    def leaf() -> object:
        number = chance.choice([-1, -2, float("nan")])
        return chance.choice([number, (number,)])

    def made(depth: int) -> frozenset[object]:
        inner = [made(depth - 1) if depth else leaf() for _ in range(3)]
        mixed.shuffle(inner)
        return frozenset(inner)

    return made(4)


# The module


def test_the_strategies_need_hypothesis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without hypothesis the error says what to install."""
    monkeypatch.delitem(vars(testing), "strategies", raising=False)
    monkeypatch.setitem(sys.modules, "hypothesis", None)

    with pytest.raises(ModuleNotFoundError, match="pip install hypothesis"):
        _ = testing.strategies


def test_importing_the_module_imports_no_hypothesis() -> None:
    """`same_graph` is there for those who do not have hypothesis."""
    code = "import sys, graphcodec.testing; print('hypothesis' in sys.modules)"

    out = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "False"


def test_other_names_are_refused() -> None:
    """The module has the names that it says, and no others."""
    assert set(dir(testing)) >= {"same_graph", "strategies"}
    assert dir(testing) == sorted(testing.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = cast("Any", testing).nothing


# What the strategies give

SCALARS: Final[dict[str, Callable[[Any], bool]]] = {
    "nan": lambda v: of(float, v) and isnan(v),
    "-0.0": lambda v: of(float, v) and v == 0 and copysign(1, v) < 0,
    "beyond 64 bits": lambda v: of(int, v) and v.bit_length() > 64,
    "a lone surrogate": lambda v: of(str, v) and not v.isascii() and lone(v),
    "sNaN": lambda v: of(Decimal, v) and v.is_snan(),
    "Decimal": lambda v: of(Decimal, v) and v.is_finite(),
    "complex": lambda v: of(complex, v) and v.imag != 0,
    "bytes": lambda v: of(bytes, v) and len(v) > 1,
    "bytearray": lambda v: of(bytearray, v) and len(v) > 1,
    "naive datetime": lambda v: of(datetime, v) and v.tzinfo is None,
    "zoned datetime": lambda v: of(datetime, v) and type(v.tzinfo) is ZoneInfo,
    "folded datetime": lambda v: of(datetime, v) and v.fold == 1,
    "named offset": lambda v: (
        of(datetime, v) and of(timezone, v.tzinfo) and not v.tzname().startswith("UTC")
    ),
    "aware time": lambda v: of(time, v) and v.tzinfo is not None,
    "negative timedelta": lambda v: of(timedelta, v) and v < timedelta(0),
    "ZoneInfo": lambda v: of(ZoneInfo, v),
    "UUID": lambda v: of(UUID, v),
    "path": lambda v: isinstance(v, PurePath) and len(v.parts) > 1,
    "None": lambda v: v is None,
    "bool": lambda v: v is True,
}


def lone(text: str) -> bool:
    """Say whether *text* has a surrogate."""
    return any("\ud800" <= character <= "\udfff" for character in text)


@pytest.mark.parametrize("test", SCALARS.values(), ids=SCALARS)
def test_every_kind_of_scalar_is_given(test: Callable[[Any], bool]) -> None:
    """`scalars` gives the values that have a form of their own on the wire."""
    assert exists(strategies.scalars(), test)


VALUES: Final[dict[str, Callable[[Any], bool]]] = {
    **{kind.__name__: partial(of, kind) for kind in sorted(CONTAINERS, key=str)},
    "bounded deque": lambda v: of(deque, v) and v.maxlen is not None,
    "odd keys": lambda v: of(dict, v) and any(type(k) is tuple for k in v),
    "$ keys": lambda v: of(dict, v) and any(k == "$type" for k in v),
    "a lookalike": lambda v: of(dict, v) and v.get("$type") == "Message",
    "nested": lambda v: any(type(e.value) in CONTAINERS and e.value for e in edges(v)),
}


@pytest.mark.parametrize("test", VALUES.values(), ids=VALUES)
def test_every_kind_of_container_is_given(test: Callable[[Any], bool]) -> None:
    """`values` gives containers of all kinds, and dicts that look like markers."""
    assert exists(strategies.values(), test)


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in primitives.__all__
        if name not in {"ModalityHazard", "TrustTier", "TurnGate"}
    ],
)
def test_every_primitive_is_given(name: str) -> None:
    """`primitives` gives instances of every primitive that can be written."""
    cls = getattr(primitives, name)

    assert exists(strategies.primitives(), lambda v: of(cls, v))


@brief
@given(strategies.plain())
def test_plain_values_are_plain(value: object) -> None:
    """`plain` gives what JSON holds as it is."""
    assert json.loads(json.dumps(value)) == value


@brief
@given(strategies.hashables())
def test_hashables_can_be_hashed(value: object) -> None:
    """`hashables` gives what a set finds again by an equal value."""
    members = {value}

    assert copy.deepcopy(value) in members


@brief
@given(strategies.readers())
def test_readers_can_be_described(reader: Reader) -> None:
    """Every reader can be written, and none carries a secret."""
    assert reader.describe() is not None


def test_readers_of_urls_are_given_if_their_package_is_there() -> None:
    """`readers` gives HttpReaders as well as BytesReaders here."""
    assert exists(strategies.readers(), lambda v: of(HttpReader, v))
    assert exists(strategies.readers(), lambda v: of(BytesReader, v))


@brief
@given(readers_of(http=False))
def test_other_readers_need_no_package(reader: Reader) -> None:
    """Without the package of the resolvers there are BytesReaders."""
    assert of(BytesReader, reader)


def holds_itself(graph: object) -> bool:
    """Say whether *graph* is one of its own parts, at any distance."""
    inside = [met for edge in edges(graph) for _, met in Walk(edge.value)]
    return any(met is graph for met in inside)


def has_twins(values: Iterable[object]) -> bool:
    """Say whether some list is among *values* more than once."""
    lists = [id(value) for value in values if of(list, value)]
    return len(lists) > len(set(lists))


GRAPHS: Final[dict[str, Callable[[Any], bool]]] = {
    "a list that holds itself": lambda v: of(list, v) and holds_itself(v),
    "a registry that holds itself": lambda v: of(Registry, v) and holds_itself(v),
    "a call that holds itself": lambda v: of(ToolCall, v) and holds_itself(v),
    "a shared identity": lambda v: (
        of(Conversation, v)
        and len(v.items) > len({id(getattr(i, "identity", i)) for i in v.items})
    ),
    "an aliased list": lambda v: of(ToolCall, v) and has_twins(v.args.values()),
    "depth": lambda v: sum(1 for _ in Walk(v)) > 60,
    "a reader": lambda v: any(isinstance(met, Reader) for _, met in Walk(v)),
    "an identity": lambda v: any(isinstance(met, Identity) for _, met in Walk(v)),
}


@pytest.mark.parametrize("test", GRAPHS.values(), ids=GRAPHS)
def test_graphs_share_cycle_and_nest(test: Callable[[Any], bool]) -> None:
    """`graphs` gives sharing, cycles and depth of the kinds that it promises."""
    assert exists(strategies.graphs(), test)


@pytest.mark.parametrize("name", strategies.__all__)
def test_strategies_are_shown_by_their_names(name: str) -> None:
    """The repr of a strategy is short: some would take megabytes if spelled out."""
    assert repr(getattr(strategies, name)()) == f"{name}()"
