"""A document looked at without its classes.

A document of any codec can be looked at, so nothing is known of the classes. Whether a
map is markup is told by its keys that begin with ``$``, which data hardly ever has.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any, Final, TypeGuard

from graphcodec._paths import Step, excerpt, format_path
from graphcodec.errors import InvalidValueError

# What is read from a document is Any until it was looked at.

REFERENCE: Final = "$ref"
READER: Final = "$reader"

# Wrappers that say how to read what is in them, and are no step of a path.
WRAPPERS: Final = frozenset({"$any", "$value"})


def is_map(value: object) -> TypeGuard[dict[Any, Any]]:
    """Say whether *value* is a map."""
    return type(value) is dict


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Say whether *value* is a list."""
    return type(value) is list


def tag_of(value: object) -> str | None:
    """Return the tag of an object on the wire, None for all else."""
    tag = value.get("$type") if is_map(value) else None
    return tag if type(tag) is str else None


def reference(value: object) -> int | None:
    """Return the number of the node that *value* refers to, if it is a reference."""
    if not is_map(value) or value.get("$type") != REFERENCE:
        return None
    number = value.get("n")
    return number if type(number) is int else -1


def unwrapped(value: Any) -> Any:
    """Return what is in a mere wrapper, and all else as it is."""
    while is_map(value) and len(value) == 1:
        key, inner = next(iter(value.items()))
        if key not in WRAPPERS:
            break
        value = inner
    return value


def steps(value: Any) -> Iterator[tuple[Step | None, Any]]:
    """Yield the parts of *value* with their steps; None for a mere wrapper.

    Args:
        value: Anything on the wire.
    """
    if is_list(value):
        yield from enumerate(value)
    elif is_map(value):
        for key, item in value.items():
            if key in WRAPPERS or _is_container(key, item):
                yield None, item
            elif key not in ("$type", "$v"):
                yield str(key), item


def _is_container(key: object, item: Any) -> bool:
    """Say whether it is the list in ``{"$tuple": [...]}`` or one of its kind."""
    return type(key) is str and key[:1] == "$" and is_list(item)


# Paths that people write

_PART = re.compile(
    r"""\.(?P<name>[^\W\d]\w*)
      | \[(?P<index>\d+)\]
      | \[(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\]""",
    re.VERBOSE,
)


def parse_path(text: str) -> tuple[Step, ...]:
    """Return the steps of a path such as ``$.items[3].args["odd key"]``.

    Args:
        text: The path, as errors and `format_path` write it.

    Raises:
        InvalidValueError: If it is none.
    """
    if text[:1] != "$":
        msg = f"a path begins with $, as in $.items[3], and not {excerpt(text)}"
        raise InvalidValueError(msg)
    found: list[Step] = []
    position = 1
    while position < len(text):
        part = _PART.match(text, position)
        if part is None:
            msg = f"the path makes no sense from {excerpt(text[position:])}"
            hint = "its parts are .name, [3] and ['any key']"
            raise InvalidValueError(msg, hint=hint)
        found.append(_step(part))
        position = part.end()
    return tuple(found)


def _step(part: re.Match[str]) -> Step:
    if part["index"] is not None:
        return int(part["index"])
    if part["name"] is not None:
        return part["name"]
    try:
        return str(ast.literal_eval(part["text"]))
    except (ValueError, SyntaxError):
        msg = f"the path has the malformed key {excerpt(part['text'])}"
        raise InvalidValueError(msg) from None


_NOTHING: Final = object()


class Finder:
    """Follows paths through a document, from the root through wrappers and references.

    Args:
        wire: The outermost map.
    """

    def __init__(self, wire: dict[str, Any]) -> None:
        self._root: Any = wire["root"]
        self._nodes: list[Any] = wire.get("nodes", [])

    def chain(self, path: tuple[Step, ...]) -> list[tuple[Any, Any]]:
        """Return what the path leads through, as containers with the key of the next.

        Args:
            path: The steps.

        Raises:
            LookupError: With the number of steps that could be gone.
        """
        found: list[tuple[Any, Any]] = []
        value = self._root
        if path[:1] == ("nodes",) and not self._has(value, "nodes"):
            value, path = self._nodes, path[1:]
        for count, step in enumerate(path):
            holder = self.entered(value)
            key = _key(holder, step)
            if key is _NOTHING:
                raise LookupError(count)
            found.append((holder, key))
            value = holder[key]
        return found

    def _has(self, value: Any, step: Step) -> bool:
        return _key(self.entered(value), step) is not _NOTHING

    def value(self, path: tuple[Step, ...]) -> Any:
        """Return what stands at a path, references followed.

        Args:
            path: The steps.

        Raises:
            InvalidValueError: If nothing stands there.
        """
        try:
            chain = self.chain(path)
        except LookupError as exc:
            count: int = exc.args[0]
            parent, gone = format_path(path[:count]), format_path(path[: count + 1])
            msg = f"the document has nothing at {gone}"
            hint = f"look at what is in {parent}"
            raise InvalidValueError(msg, hint=hint) from None
        if not chain:
            return self._nodes if path == ("nodes",) else self._root
        holder, key = chain[-1]
        return holder[key]

    def entered(self, value: Any) -> Any:
        """Return the map or list in which the parts of *value* stand.

        Args:
            value: Anything on the wire.
        """
        seen: set[int] = set()
        while is_map(value):
            inner = _inside(value)
            number = reference(value)
            if inner is not _NOTHING:
                value = inner
            elif number is None or number in seen or not 0 <= number < len(self._nodes):
                break
            else:
                seen.add(number)
                value = self._nodes[number]
        return value


def _inside(value: dict[Any, Any]) -> Any:
    """Return what a wrapper or the marker of a container holds."""
    if "$type" in value:
        return value.get("$value", _NOTHING)
    for key, item in value.items():
        if key in WRAPPERS or (_is_container(key, item) and key != "$dict"):
            return item
    pairs = value.get("$dict")
    if not is_list(pairs):
        return _NOTHING
    return _Pairs(pairs)


class _Pairs:
    """The pairs of a ``$dict``, taken by key."""

    def __init__(self, pairs: list[Any]) -> None:
        self.pairs = pairs

    def find(self, step: Step) -> Any:
        for index, pair in enumerate(self.pairs):
            match pair:
                case [key, _] if key == step or repr(key) == step:
                    return index
                case _:
                    pass
        return _NOTHING

    def __getitem__(self, index: int) -> Any:
        return self.pairs[index][1]


def _key(holder: Any, step: Step) -> Any:
    """Return the key under which a step is found in a map or list."""
    if isinstance(holder, _Pairs):
        return holder.find(step)
    if is_list(holder):
        there = type(step) is int and 0 <= step < len(holder)
        return step if there else _NOTHING
    if is_map(holder):
        key = step if step in holder else str(step)
        return key if key in holder else _NOTHING
    return _NOTHING
