"""A document as a tree of lines, with a work list instead of recursion."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec
from attrs import define, frozen

from graphcodec._documents import _classless as wire_level
from graphcodec._documents._classless import is_list, is_map, unwrapped
from graphcodec.cli._text import counted, cut
from graphcodec.view._locators import shown_part, shown_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Parts: TypeAlias = list[tuple[str, Any]]

MOST_ITEMS: Final = 12
"""How many entries of a list or a map are shown before the rest is folded."""

_EXCERPT: Final = 200
_LARGE: Final = 1_000
_SHOWN_BY_LINE: Final = frozenset({"$type", "$v"})


@frozen
class Line:
    """One line of a tree.

    Attributes:
        lead: The branches that lead to it.
        label: The name of the part in its owner.
        text: What it is.
        bytes: How many bytes it takes in the document; None if that is not said.
        path: Where it is.
    """

    lead: str
    label: str
    text: str
    bytes: int | None = None
    path: str = ""


@define
class _Open:
    """A part whose own parts are being given out.

    Attributes:
        lead: What stands before the branches of its parts.
        path: Where it is.
        level: How far it is from the root.
        parts: Those that are shown.
        folded: How many more there are.
        position: Which of them comes next.
    """

    lead: str
    path: str
    level: int
    parts: Parts
    folded: int
    position: int = 0


class Tree:
    """Gives out the lines of one document.

    Args:
        nodes: The nodes of the document.
        depth: How many levels are unfolded.
        binary: Whether sizes are those of MessagePack.
    """

    def __init__(self, nodes: list[Any], *, depth: int, binary: bool) -> None:
        self._nodes = nodes
        self._depth = depth
        self._encode: Callable[[Any], bytes] = (
            msgspec.msgpack.encode if binary else msgspec.json.encode
        )

    def lines(self, value: Any, path: str = "$", title: str = "") -> Iterator[Line]:
        """Yield the line of *value* and those of its parts.

        Args:
            value: The root or a node.
            path: Where it is.
            title: What to call it.
        """
        yield self._line("", title, value, path, folded=self._depth == 0)
        stack = [self._opened("", value, path, 0)]
        while stack:
            top = stack[-1]
            if top.position == len(top.parts):
                stack.pop()
                if top.folded:
                    yield Line(f"{top.lead}└─ ", "", f"… {top.folded:,} more")
                continue
            label, part = top.parts[top.position]
            top.position += 1
            yield self._part(top, label, part, stack)

    def _part(self, top: _Open, label: str, part: Any, stack: list[_Open]) -> Line:
        """Return the line of one part, and have its own parts follow."""
        more = top.position < len(top.parts) or top.folded
        branch, below = ("├─ ", "│  ") if more else ("└─ ", "   ")
        path = _joined(top.path, label)
        level = top.level + 1
        if not _is_inline(part):
            stack.append(self._opened(top.lead + below, part, path, level))
        folded = level >= self._depth
        return self._line(top.lead + branch, label, part, path, folded=folded)

    def _opened(self, lead: str, value: Any, path: str, level: int) -> _Open:
        parts = parts_of(value) if level < self._depth else []
        shown = parts if len(parts) <= MOST_ITEMS + 1 else parts[:MOST_ITEMS]
        return _Open(lead, path, level, shown, len(parts) - len(shown))

    def _line(
        self, lead: str, label: str, value: Any, path: str, *, folded: bool
    ) -> Line:
        text = self.brief(value) if folded or _is_inline(value) else headline(value)
        return Line(lead, label, text, self._size(value), path)

    def _size(self, value: Any) -> int | None:
        """Return the size of what is worth one: containers, and long scalars."""
        if type(value) not in (dict, list, str, bytes):
            return None
        try:
            count = len(self._encode(value))
        except (RecursionError, ValueError, TypeError):
            return None
        worth = type(value) in (dict, list) or count >= _LARGE
        return count if worth and not _is_small(value) else None

    def brief(self, value: Any) -> str:
        """Return what *value* is and as much of its content as goes on a line.

        Args:
            value: Anything on the wire.
        """
        value = unwrapped(value)
        number = wire_level.reference(value)
        if number is not None:
            return self._target(number)
        if type(value) not in (dict, list):
            return scalar(value)
        return self._summary(value, deep=True)

    def _target(self, number: int) -> str:
        if not 0 <= number < len(self._nodes):
            return f"→ node {number}, which is not there"
        return f"→ node {number}  {self._summary(self._nodes[number], deep=False)}"

    def _summary(self, value: Any, *, deep: bool) -> str:
        head = headline(value)
        parts = parts_of(unwrapped(value))
        if wire_level.tag_of(value) == wire_level.READER:
            tag = cut(str(value.get("tag")), _EXCERPT)
            return f"{tag}  {located(value.get('locator'))}"
        if _is_single(value):
            return f"{head}  {scalar(unwrapped(parts[0][1]))}"
        if is_list(unwrapped(value)):
            return head
        if not deep:
            named = next((item for _, item in parts if type(item) is str), None)
            return head if named is None else f"{head}  {scalar(named)}"
        shown: list[str] = []
        for label, part in islice(parts, MOST_ITEMS):
            text = self._short(part)
            if text and len(" ".join(shown)) < _EXCERPT:
                shown.append(f"{label} {text}")
        return "  ".join([head, *shown])

    def _short(self, part: Any) -> str:
        """Return a part within a line, nothing if it says nothing there."""
        part = unwrapped(part)
        if part is None or part in ({}, []):
            return ""
        if type(part) not in (dict, list):
            return scalar(part, 48)
        number = wire_level.reference(part)
        if number is not None:
            return f"→ {number}"
        inner = parts_of(part)
        if _is_single(part):
            return scalar(unwrapped(inner[0][1]), 48)
        if len(inner) == 1 and unwrapped(inner[0][1]) in ({}, []):
            return ""
        return f"({headline(part)})"


# What a value on the wire is


def headline(value: Any) -> str:
    """Return the tag of an object, or the kind of a container with its length.

    Args:
        value: Anything on the wire.
    """
    value = unwrapped(value)
    if is_list(value):
        return counted(len(value), "item")
    if not is_map(value):
        return scalar(value)
    tag = wire_level.tag_of(value)
    if tag is not None:
        version = value.get("$v", 1)
        name = tag or scalar(tag)
        return cut(name if version == 1 else f"{name} v{version}", _EXCERPT)
    marker = _marker(value)
    if marker is None:
        return counted(len(value), "key")
    inner = value[marker]
    name = cut(marker[1:] or marker, _EXCERPT)
    return f"{name} of {counted(len(inner), 'item')}" if is_list(inner) else name


def parts_of(value: Any) -> Parts:
    """Return the parts of *value* by name, without the markup around them.

    Args:
        value: Anything on the wire.
    """
    value = unwrapped(value)
    if is_list(value):
        return [(f"[{index}]", item) for index, item in enumerate(value)]
    if not is_map(value) or wire_level.reference(value) is not None:
        return []
    if wire_level.tag_of(value) == wire_level.READER:
        return []
    marker = _marker(value)
    inner = None if marker is None else value[marker]
    if marker == "$dict" and is_list(inner):
        return [_pair(index, pair) for index, pair in enumerate(inner)]
    if is_list(inner):
        return [(f"[{index}]", item) for index, item in enumerate(inner)]
    return [
        (_label(key), item) for key, item in value.items() if key not in _SHOWN_BY_LINE
    ]


def _marker(value: dict[Any, Any]) -> str | None:
    key = next(iter(value), None)
    is_marker = type(key) is str and key[:1] == "$" and key not in _SHOWN_BY_LINE
    return key if is_marker and "$type" not in value else None


def _pair(index: int, pair: Any) -> tuple[str, Any]:
    match pair:
        case [key, item] if type(key) not in (dict, list):
            return f"[{scalar(key, 24)}]", item
        case _:
            return f"[{index}]", pair


def _label(key: object) -> str:
    if type(key) is not str:
        return f"[{scalar(key, 24)}]"
    return cut(key, 24) if key.isprintable() and key else scalar(key, 24)


def _joined(path: str, label: str) -> str:
    if label[:1] in ("[", "$"):
        return path + (label if label[:1] == "[" else "")
    return f"{path}.{label}" if label.isidentifier() else f"{path}[{label!r}]"


def _is_plain(value: Any) -> bool:
    return type(unwrapped(value)) not in (dict, list)


def _is_small(value: Any) -> bool:
    """Say whether nobody would ask how large it is: a reference, an empty thing."""
    return not value or wire_level.reference(value) is not None


def _is_inline(value: Any) -> bool:
    """Say whether all of *value* goes on its own line."""
    return not parts_of(value) or _is_single(value)


def _is_single(value: Any) -> bool:
    """Say whether *value* is an object, or a marker, around a single scalar."""
    value = unwrapped(value)
    if not is_map(value) or not (wire_level.tag_of(value) or _marker(value)):
        return False
    parts = parts_of(value)
    return len(parts) == 1 and _is_plain(parts[0][1])


def scalar(value: Any, longest: int = _EXCERPT) -> str:
    """Return a scalar as JSON writes it, cut to a length.

    Args:
        value: A scalar, or what MessagePack has beside them.
        longest: The most characters.
    """
    if type(value) is str:
        text = cut(value, longest)
        return f'"{text}"' if len(value) <= longest else f'"{text}'
    if isinstance(value, bytes):
        return counted(len(value), "byte")
    if value is None or isinstance(value, (bool, int, float)):
        return json.dumps(value)
    return cut("{}" if value == {} else "[]" if value == [] else repr(value), longest)


def located(locator: Any) -> str:
    """Return where a handle points, in the words of its locator.

    Args:
        locator: The locator; inlined bytes are not shown.
    """
    if not is_map(locator):
        return ""
    match locator:
        case {"base64": str(text), **rest} if not rest:
            padding = len(text) - len(text.rstrip("="))
            return f"{counted(len(text) // 4 * 3 - padding, 'byte')} inline"
        case {"store": store, "key": key}:
            return cut(f"{store}:{key}", _EXCERPT)
        case {"url": str(url)}:
            return cut(shown_text(url), _EXCERPT)
        case _:
            shown = islice(locator.items(), MOST_ITEMS)
            return " ".join(
                f"{_label(key)}={scalar(shown_part(item), 32)}" for key, item in shown
            )
