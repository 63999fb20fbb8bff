"""Values of untyped slots: everything that has a form on the wire."""

from __future__ import annotations

from collections import deque
from datetime import UTC, timedelta, timezone
from decimal import Decimal
from functools import lru_cache
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Final, TypeVar
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime, time, tzinfo
    from pathlib import PurePath

    from hypothesis.strategies import SearchStrategy

T = TypeVar("T")

Value = object


def named(make: Callable[[], SearchStrategy[T]]) -> Callable[[], SearchStrategy[T]]:
    """Build a strategy once, and show it by its name.

    Spelled out, as Hypothesis does, the larger ones take megabytes.

    Args:
        make: Builds the strategy.
    """
    built = lru_cache(maxsize=1)(make)

    def drawn(draw: st.DrawFn) -> T:
        return draw(built())

    drawn.__name__ = drawn.__qualname__ = make.__name__
    drawn.__doc__ = make.__doc__
    return st.composite(drawn)


_EDGES: Final = (2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 2**9_000)

_TEXTS: Final = (
    *("", "\ud800", "\udfff", "\ud83d\ude00", "\\ud800", "\x00", "\r\n", "\u2028"),
    *("$type", "$any", "nan", "2026-05-01T12:00:00+00:00", "aGk=", "\U0001f600"),
)
"""Texts that are none, or that look like something else."""

_MARKERS: Final = (
    *("$type", "$ref", "$any", "$reader", "$value", "$v", "$str", "$int", "$float"),
    *("$dict", "$set", "$tuple", "$bytes", "$datetime", "$enum", "$path", "$"),
    *("graphcodec", "root", "nodes", "n", "tag", "locator", "kind", "id", "zone"),
    *("py/object", "lc", "__type__"),
)
"""Keys that mean something on the wire, ours or that of other libraries."""

_TAGS: Final = ("Message", "Registry", "$ref", "$reader", "media:http", "nan", "0x1f")


def texts(min_size: int = 0) -> SearchStrategy[str]:
    """Return a strategy for texts, lone surrogates among them.

    Args:
        min_size: The fewest characters.
    """
    everything = st.characters(exclude_categories=())
    texts = st.text(everything, min_size=min_size, max_size=12)
    return st.one_of(texts, st.sampled_from([t for t in _TEXTS if len(t) >= min_size]))


@named
def fixed_offsets() -> SearchStrategy[timezone]:
    """Return a strategy for fixed offsets, some to the microsecond, some with names."""
    most, second = timedelta(hours=23, minutes=59), timedelta(seconds=1)
    offsets = st.one_of(
        st.integers(-14 * 4, 14 * 4).map(lambda n: timedelta(minutes=15 * n)),
        # Python's own parser takes an offset below a second for none at all.
        st.timedeltas(-most, most).filter(lambda offset: abs(offset) >= second),
    )
    return st.one_of(
        st.just(UTC),
        st.builds(timezone, offsets),
        st.builds(timezone, offsets, st.text(max_size=6)),
    )


@named
def _zones() -> SearchStrategy[tzinfo | None]:
    return st.one_of(st.none(), fixed_offsets(), _known_zones())


@named
def _known_zones() -> SearchStrategy[ZoneInfo]:
    return st.timezone_keys(allow_prefix=False).map(ZoneInfo)


@st.composite
def _datetimes(draw: st.DrawFn) -> datetime:
    moment = draw(st.datetimes())
    return moment.replace(tzinfo=draw(_zones()), fold=draw(st.integers(0, 1)))


@st.composite
def _times(draw: st.DrawFn) -> time:
    clock = draw(st.times())
    return clock.replace(tzinfo=draw(_zones()), fold=draw(st.integers(0, 1)))


@named
def _paths() -> SearchStrategy[PurePath]:
    kinds = st.sampled_from((PurePosixPath, PureWindowsPath, Path))
    parts = st.lists(texts(), max_size=3)
    return st.builds(_joined, kinds, parts)


def _joined(kind: type[PurePath], parts: list[str]) -> PurePath:
    return kind(*parts)


@named
def _hashed_scalars() -> SearchStrategy[Value]:
    """Return a strategy for scalars with a hash: all but a bytearray and sNaN."""
    return st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.sampled_from(_EDGES),
        st.floats(),
        st.sampled_from((-0.0, float("nan"), float("-inf"), 5e-324)),
        st.complex_numbers(),
        texts(),
        st.binary(max_size=12),
        st.decimals(allow_nan=False),
        st.just(Decimal("NaN")),
        _datetimes(),
        st.dates(),
        _times(),
        st.timedeltas(),
        _known_zones(),
        st.uuids(),
        _paths(),
    )


@named
def scalars() -> SearchStrategy[Value]:
    """Return a strategy for everything that holds nothing else."""
    return st.one_of(
        _hashed_scalars(),
        st.builds(Decimal, st.sampled_from(("sNaN", "-sNaN12", "NaN7", "1.10", "-0"))),
        st.binary(max_size=12).map(bytearray),
    )


@named
def hashables() -> SearchStrategy[Value]:
    """Return a strategy for what may be a member of a set or the key of a dict."""
    return st.recursive(
        _hashed_scalars(),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3).map(tuple),
            st.frozensets(inner, max_size=3),
        ),
        max_leaves=4,
    )


@named
def plain() -> SearchStrategy[Value]:
    """Return a strategy for what JSON holds as it is, under keys without a ``$``."""
    keys = st.text(max_size=6).filter(lambda key: key[:1] != "$")
    leaves = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**64 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=12),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4),
            st.dictionaries(keys, inner, max_size=4),
        ),
        max_leaves=10,
    )


@named
def values() -> SearchStrategy[Value]:
    """Return a strategy for whatever may stand in an untyped slot, without objects.

    Numbers and texts that JSON lacks, times with and without zones, paths, bytes,
    containers of all kinds, odd keys, and dicts that look like markers of the wire.
    """
    return st.recursive(st.one_of(scalars(), plain()), containers, max_leaves=8)


def containers(inner: SearchStrategy[Value]) -> SearchStrategy[Value]:
    """Return a strategy for containers of every kind.

    Args:
        inner: What they hold; what is hashed comes from `hashables`.
    """

    @named
    def held() -> SearchStrategy[Value]:
        return inner

    return st.one_of(
        st.lists(held(), max_size=4),
        st.lists(held(), max_size=4).map(tuple),
        st.builds(_bounded, st.lists(held(), max_size=4), st.integers(-1, 3)),
        st.sets(hashables(), max_size=4),
        st.frozensets(hashables(), max_size=4),
        st.dictionaries(texts(), held(), max_size=4),
        st.dictionaries(hashables(), held(), max_size=3),
        _lookalikes(held()),
    )


def _lookalikes(inner: SearchStrategy[Value]) -> SearchStrategy[Value]:
    """Return a strategy for dicts that look like something on the wire."""
    payloads = st.one_of(inner, st.sampled_from(_TAGS), st.integers(0, 3))
    some = st.dictionaries(st.sampled_from(_MARKERS), payloads, min_size=1, max_size=3)
    # As somebody would place it who wants an object made of it.
    types = st.sampled_from(_TAGS)
    return st.one_of(some, st.builds(_typed, types, some), st.builds(_typed, types))


def _typed(tag: str, more: dict[str, Value] | None = None) -> dict[str, Value]:
    return {**(more or {}), "$type": tag}


def _bounded(items: list[Value], room: int) -> deque[Value]:
    """Return a deque with a bound; without one if *room* is negative."""
    return deque(items, None if room < 0 else room)
