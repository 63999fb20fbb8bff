"""What a document holds, seen from the wire: nothing is decoded and nothing opened.

A document of any codec can be looked at, so nothing is known of the classes. Whether a
map is markup is told by its keys that begin with ``$``, which data hardly ever has.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeGuard

from attrs import define, field, frozen

from graphcodec._paths import Step, format_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Trail: TypeAlias = "tuple[Trail, Step] | None"

REFERENCE: Final = "$ref"
READER: Final = "$reader"

# Wrappers that say how to read what is in them, and are no step of a path.
_WRAPPERS: Final = frozenset({"$any", "$value"})


@frozen
class Handle:
    """Bytes that lie elsewhere.

    Attributes:
        path: Where the handle is.
        tag: Family and scheme.
        locator: What its resolver needs.
    """

    path: str
    tag: str
    locator: Mapping[str, object]


@define
class Survey:
    """What was counted in a document.

    Attributes:
        tags: How many objects there are of each tag.
        handles: All handles, in the order of the document.
        uses: How often each node is referred to.
        places: The path by which each node is first reached.
        dangling: Paths of references to nodes that are not there.
    """

    tags: Counter[str] = field(factory=Counter[str])
    handles: list[Handle] = field(factory=list[Handle])
    uses: Counter[int] = field(factory=Counter[int])
    places: dict[int, str] = field(factory=dict[int, str])
    dangling: list[str] = field(factory=list[str])


def survey(wire: Mapping[str, Any]) -> Survey:
    """Count what a document holds, each node once and where it is first reached.

    Args:
        wire: The outermost map.
    """
    nodes = wire.get("nodes", [])
    found = Survey()
    _walk(wire["root"], None, nodes, found)
    for number, node in enumerate(nodes):
        # What nothing refers to is not part of the graph, but it is in the document.
        if number not in found.places:
            found.places[number] = f"$.nodes[{number}]"
            _walk(node, ((None, "nodes"), number), nodes, found)
    return found


def _walk(value: Any, trail: Trail, nodes: list[Any], found: Survey) -> None:
    stack: list[tuple[Any, Trail]] = [(value, trail)]
    while stack:
        value, trail = stack.pop()
        number = reference(value)
        if number is None:
            _note(value, trail, found)
        elif not 0 <= number < len(nodes):
            found.dangling.append(path_of(trail))
            continue
        else:
            found.uses[number] += 1
            if number not in found.places:
                found.places[number] = path_of(trail)
                stack.append((nodes[number], trail))
            continue
        inner = [
            (item, trail if step is None else (trail, step))
            for step, item in steps(value)
            if type(item) in (dict, list)
        ]
        stack.extend(reversed(inner))


def _note(value: Any, trail: Trail, found: Survey) -> None:
    tag = tag_of(value)
    if tag == READER and is_map(value):
        kind, locator = value.get("tag"), value.get("locator")
        fields = locator if is_map(locator) else {}
        found.handles.append(Handle(path_of(trail), str(kind), fields))
    elif tag is not None:
        found.tags[tag] += 1


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


def steps(value: Any) -> Iterator[tuple[Step | None, Any]]:
    """Yield the parts of *value* with their steps; None for a mere wrapper.

    Args:
        value: Anything on the wire.
    """
    if is_list(value):
        yield from enumerate(value)
    elif is_map(value):
        for key, item in value.items():
            if key in _WRAPPERS or _is_container(key, item):
                yield None, item
            elif key not in ("$type", "$v"):
                yield str(key), item


def _is_container(key: object, item: Any) -> bool:
    """Say whether it is the list in ``{"$tuple": [...]}`` or one of its kind."""
    return type(key) is str and key[:1] == "$" and is_list(item)


def path_of(trail: Trail) -> str:
    """Return the path that a trail is."""
    found: list[Step] = []
    while trail is not None:
        trail, step = trail
        found.append(step)
    return format_path(reversed(found))
