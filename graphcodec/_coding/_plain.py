"""Values that JSON holds as they are."""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# A parsed document, and a user's object, is Any until it was looked at.

from __future__ import annotations

import enum
from collections.abc import Mapping
from math import isfinite
from typing import Any, Final, TypeAlias

from graphcodec._classes._slots import SCALARS
from graphcodec._values import LEAST_INT, MOST_INT, write_text

FLAT: Final = frozenset({str, bool, type(None)})
NOT_PLAIN: Final = object()
_LONG: Final = 8


def is_bare_key(key: object) -> bool:
    """Say whether a key may stand in a map as it is."""
    return type(key) is str and key[:1] != "$"


def is_text(value: str) -> bool:
    """Say whether text has no lone surrogates."""
    return write_text(value) is value


def levels(value: object) -> int:
    """Return how many maps and lists lie in each other."""
    if isinstance(value, Mapping):
        return 1 + max(map(levels, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(levels, value), default=0)
    return 0


def plain(  # noqa: PLR0912
    value: Any,
    room: int,
    seen: set[int] | None,
    careful: bool,
    dollars: bool = False,
) -> Any:
    """Return a copy of a list or dict that JSON holds as it is, or `NOT_PLAIN`.

    A copy, because another thread may change the original before it is formatted, and
    the formatter would write a set or a date without a word. Kept whole: this loop is
    most of the time that a graph with large arguments takes.

    Args:
        value: A list or dict.
        room: How many levels it may have.
        seen: The ids of the containers met in this slot; None at the outermost one.
        careful: Whether to look for lone surrogates.
        dollars: Whether keys may begin with one.
    """
    if room <= 0:
        return NOT_PLAIN
    out = value.copy()
    is_map = type(out) is dict
    # It pays to look at the types of many items before the items.
    long = len(out) > _LONG and not is_map and not careful
    if long and FLAT.issuperset(map(type, out)):
        return out
    for key, item in out.items() if is_map else enumerate(out):
        if is_map:
            if type(key) is not str or ("$" in key and key[0] == "$" and not dollars):
                return NOT_PLAIN
            if careful and not is_text(key):
                return NOT_PLAIN
        kind = type(item)
        if kind is str:
            if careful and not is_text(item):
                return NOT_PLAIN
        elif kind is int:
            if not LEAST_INT <= item <= MOST_INT:
                return NOT_PLAIN
        elif kind is dict or kind is list:
            if seen is None:
                seen = {id(value)}
            if id(item) in seen:
                return NOT_PLAIN
            seen.add(id(item))
            copy = item.copy() if kind is list and room > 1 and not careful else None
            if copy is None or not FLAT.issuperset(map(type, copy)):
                copy = plain(item, room - 1, seen, careful, dollars)
            if copy is NOT_PLAIN:
                return NOT_PLAIN
            out[key] = copy
        elif kind is float:
            if not isfinite(item):
                return NOT_PLAIN
        elif kind is not bool and item is not None:
            return NOT_PLAIN
    return out


Order: TypeAlias = "tuple[str, int | str | tuple[Order, ...]]"


def order_key(member: Any, room: int = 20) -> Order | None:
    """Return what set members are ordered by on the wire, None if there is no order.

    Args:
        member: A set member.
        room: How deep it may nest.
    """
    kind = type(member)
    if kind is int:
        return "int", member
    if kind in SCALARS or isinstance(member, enum.Enum):
        return kind.__name__, repr(member)
    if kind not in (tuple, frozenset) or room == 0:
        return None
    parts = [order_key(part, room - 1) for part in member]
    known = [part for part in parts if part is not None]
    if len(known) != len(parts):
        return None
    return kind.__name__, tuple(sorted(known) if kind is frozenset else known)
