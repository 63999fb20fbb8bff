"""Small questions about pieces of a parsed document."""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# A parsed document, and a user's object, is Any until it was looked at.

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from typing import Any, Final

from graphcodec._classes._slots import Objects, OneOf, Slot
from graphcodec._values import Wire, malformed

ATOMS: Final = frozenset({str, int, float, bool, type(None), bytes})
"""What a parser gives that is neither a map nor a list."""


def shell_kind(wire: Wire) -> type | None:
    """Return the mutable container that a map stands for, if it stands for one."""
    if "$dict" in wire:
        return dict
    if "$deque" in wire:
        return deque
    for key in wire:
        if type(key) is not str:
            malformed("a map needs text keys", key)
        if key[:1] == "$":
            return None
    return dict


def empty_shell(kind: type, wire: Wire) -> Any:
    """Return the empty container that a map is going to fill."""
    if kind is deque:
        return deque(maxlen=longest_deque(wire))
    if "$dict" in wire and len(wire) != 1:
        malformed("$dict stands alone")
    return {}


def longest_deque(wire: Wire) -> int | None:
    """Return the maxlen of a deque."""
    longest = wire.get("maxlen")
    if wire.keys() - {"$deque", "maxlen"} or not (
        longest is None or (type(longest) is int and 0 <= longest <= sys.maxsize)
    ):
        malformed("$deque needs a maxlen of None or an int from 0", longest)
    items = wire["$deque"]
    if type(items) is list and longest is not None and len(items) > longest:
        malformed("$deque has more items than its maxlen", longest)
    return longest


def admits(slot: Slot, cls: type) -> bool:
    """Say whether an instance of *cls* may stand in *slot*."""
    match slot:
        case Objects(bases=bases):
            return issubclass(cls, bases)
        case OneOf(scalars=scalars, other=other):
            return cls in scalars or (other is not None and admits(other, cls))
        case _:
            return False


_PLAIN: Final = ATOMS - {bytes}


def require_plain(value: Any) -> None:
    """Refuse what MessagePack can hold and JSON can't, where no marker may stand."""
    stack = [] if type(value) in _PLAIN else [value]
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind is dict:
            for key, part in item.items():
                if type(key) is not str:
                    malformed("a map needs text keys", key)
                if type(part) not in _PLAIN:
                    stack.append(part)
        elif kind is list:
            stack += [part for part in item if type(part) not in _PLAIN]
        else:
            malformed("a plain slot of MessagePack holds what JSON can hold", item)


def drained(items: list[Any]) -> Iterator[Any]:
    """Yield the items of a list, which loses them on the way.

    Args:
        items: The list.
    """
    items.reverse()
    while items:
        yield items.pop()


_PAIR: Final = 2


def split_pairs(pairs: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the keys and values of a ``$dict``.

    Args:
        pairs: What stands there.
    """
    if type(pairs) is not list:
        malformed("$dict needs a list of pairs", pairs)
    for pair in pairs:
        if type(pair) is not list or len(pair) != _PAIR:
            malformed("$dict needs [key, value] pairs", pair)
        yield pair[0], pair[1]


def short(exc: Exception) -> str:
    """Return the first line of an exception's text, cut."""
    text = str(exc).partition("\n")[0]
    return text if len(text) <= 160 else f"{text[:159]}…"  # noqa: PLR2004
