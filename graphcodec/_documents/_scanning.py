"""Documents byte by byte: what a parser swallows, with the place where it stands.

A parser lets the last of two equal keys win and says nothing. Here both formats become
one stream of events, without recursion, from which duplicate keys and the end of a
document are found. Slow, so it runs only where somebody asks for findings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from attrs import define, frozen

from graphcodec._paths import Step


class Event(NamedTuple):
    """Something in the bytes of a document.

    Attributes:
        kind: ``map``, ``list``, ``leaf``, or ``end``, of the innermost of the former.
        offset: The byte at which it begins; for ``end``, the one behind it.
        value: The bytes of text, which may be a key.
    """

    kind: str
    offset: int
    value: object = None


@frozen
class Duplicate:
    """A key that stands in its map a second time.

    Attributes:
        steps: The way to its map.
        key: The key.
        offset: The byte at which it begins.
    """

    steps: tuple[Step, ...]
    key: str
    offset: int


# JSON

_TOKEN: Final = re.compile(
    rb"""[\s,:]*
    (?: (?P<text>"[^"\\]*(?:\\.[^"\\]*)*")
      | (?P<begin>[\[{])
      | (?P<end>[\]}])
      | (?P<scalar>[^\s,:\[\]{}"]+) )""",
    re.VERBOSE | re.DOTALL,
)


def json_events(data: bytes) -> Iterator[Event]:
    """Yield the events of JSON, until it ends or makes no sense.

    Args:
        data: The bytes.
    """
    position = 0
    while found := _TOKEN.match(data, position):
        position = found.end()
        kind = found.lastgroup
        begin = found.start(kind) if kind else position
        match kind:
            case "text":
                yield Event("leaf", begin, found["text"])
            case "begin":
                yield Event("map" if found["begin"] == b"{" else "list", begin)
            case "end":
                yield Event("end", position)
            case _:
                yield Event("leaf", begin)


# MessagePack: the first byte of a value says what it is and how long.


@frozen
class _Form:
    """How a kind of value is laid out.

    Attributes:
        kind: The kind of its event; ``text`` for a leaf that may be a key.
        count: How many bytes hold its length.
        extra: Bytes behind the length that belong to it.
    """

    kind: str
    count: int = 0
    extra: int = 0


_FORMS: Final[dict[int, _Form]] = {
    0xC4: _Form("leaf", 1),
    0xC5: _Form("leaf", 2),
    0xC6: _Form("leaf", 4),
    0xC7: _Form("leaf", 1, 1),
    0xC8: _Form("leaf", 2, 1),
    0xC9: _Form("leaf", 4, 1),
    0xD9: _Form("text", 1),
    0xDA: _Form("text", 2),
    0xDB: _Form("text", 4),
    0xDC: _Form("list", 2),
    0xDD: _Form("list", 4),
    0xDE: _Form("map", 2),
    0xDF: _Form("map", 4),
}
_FIXED: Final[dict[int, int]] = {
    **dict.fromkeys((0xCC, 0xD0), 1),
    **dict.fromkeys((0xCD, 0xD1), 2),
    **dict.fromkeys((0xCA, 0xCE, 0xD2), 4),
    **dict.fromkeys((0xCB, 0xCF, 0xD3), 8),
    **{0xD4 + power: 1 + 2**power for power in range(5)},
}


def _head(data: bytes, position: int) -> tuple[str, int, int]:
    """Return the kind of a value, its count or length, and where its content begins."""
    first = data[position]
    after = position + 1
    if first in _FORMS:
        form = _FORMS[first]
        end = after + form.count
        return form.kind, int.from_bytes(data[after:end], "big"), end + form.extra
    if 0x80 <= first <= 0x8F:  # noqa: PLR2004 - as in the specification
        return "map", first & 0x0F, after
    if 0x90 <= first <= 0x9F:  # noqa: PLR2004 - likewise
        return "list", first & 0x0F, after
    if 0xA0 <= first <= 0xBF:  # noqa: PLR2004 - likewise
        return "text", first & 0x1F, after
    return "leaf", _FIXED.get(first, 0), after


def msgpack_events(data: bytes) -> Iterator[Event]:
    """Yield the events of MessagePack, until its first value or the data ends.

    Args:
        data: The bytes.
    """
    position = 0
    open_: list[int] = []
    while position < len(data):
        kind, length, content = _head(data, position)
        if kind in ("map", "list"):
            yield Event(kind, position)
            open_.append(length * 2 if kind == "map" else length)
            position = content
        else:
            end = content + length
            yield Event("leaf", position, data[content:end] if kind == "text" else None)
            position = end
            if open_:
                open_[-1] -= 1
        while open_ and open_[-1] == 0:
            open_.pop()
            yield Event("end", position)
            if open_:
                open_[-1] -= 1
        if not open_:
            return


# What is found in the events


@define
class _Open:
    """A map or list that is being read.

    Attributes:
        keys: The keys met so far; None in a list.
        step: The way to what is being read in it.
        due: Whether a key comes next.
    """

    keys: set[object] | None
    step: Step = -1
    due: bool = True


def events(data: bytes, *, binary: bool) -> Iterator[Event]:
    """Yield what stands in the bytes of a document, in their order.

    Args:
        data: The document.
        binary: Whether it is MessagePack.
    """
    return msgpack_events(data) if binary else json_events(data)


def end_of_first(data: bytes, *, binary: bool) -> int | None:
    """Return where the first map or list ends; None if it does not.

    Args:
        data: A document, with something behind it.
        binary: Whether it is MessagePack.
    """
    depth = 0
    for event in events(data, binary=binary):
        if event.kind == "end":
            depth -= 1
        elif event.kind != "leaf":
            depth += 1
        if depth <= 0:
            return event.offset if event.kind == "end" else None
    return None


def duplicates(data: bytes, *, binary: bool) -> Iterator[Duplicate]:
    """Yield the keys that stand twice in one map, in the order of the document.

    Args:
        data: A document that can be parsed.
        binary: Whether it is MessagePack.
    """
    if not binary and not _has_duplicates(data):
        return
    stack: list[_Open] = []
    for event in events(data, binary=binary):
        if event.kind == "end":
            stack.pop()
            continue
        if stack:
            top = stack[-1]
            if top.keys is None:
                top.step = int(top.step) + 1
            elif not top.due:
                top.due = True
            else:
                top.due = False
                key = _key(event, binary=binary)
                top.step = key
                if key in top.keys:
                    steps = tuple(o.step for o in stack[:-1])
                    yield Duplicate(steps, key, event.offset)
                top.keys.add(key)
                if event.kind == "leaf":
                    continue
        if event.kind != "leaf":
            stack.append(_Open(set() if event.kind == "map" else None))


def _key(event: Event, *, binary: bool) -> str:
    """Return a key as text, different for different keys."""
    raw = event.value
    if not isinstance(raw, bytes):
        # Nothing but text is a key in a document; what else there is, others say.
        return f"<key at byte {event.offset}>"
    if binary:
        return raw.decode(errors="backslashreplace")
    return str(json.loads(raw))


def _has_duplicates(data: bytes) -> bool:
    """Say whether the fast parser of the standard library meets a key twice."""
    found = False

    def look(pairs: list[tuple[str, object]]) -> None:
        nonlocal found
        found = found or len(dict(pairs)) != len(pairs)

    try:
        # The digits of large ints are of no interest, and slow.
        json.loads(data, object_pairs_hook=look, parse_int=len)
    except (RecursionError, ValueError):
        return True
    return found
