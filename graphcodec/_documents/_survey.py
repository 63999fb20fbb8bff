"""What a document holds, seen from the wire: nothing is decoded and nothing opened."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from graphcodec._documents._classless import (
    READER,
    is_map,
    reference,
    steps,
    tag_of,
)
from graphcodec._paths import Trail, path_of

if TYPE_CHECKING:
    from collections.abc import Mapping


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


def survey_of(value: Any, wire: Mapping[str, Any], trail: Trail) -> Survey:
    """Count what one part of a document holds, and the nodes that it refers to.

    Args:
        value: The part.
        wire: The outermost map.
        trail: Where the part is.
    """
    found = Survey()
    _walk(value, trail, wire.get("nodes", []), found)
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
