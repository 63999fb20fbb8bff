"""What lies in a graph, in the order of the document, without recursion.

`edges` says what one object holds; `Walk` goes through all of it with a stack of its
own, so neither depth nor cycles matter.
"""

from __future__ import annotations

from collections import deque
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast
from uuid import UUID

from graphcodec._classes._layouts import kept_fields, layout_of
from graphcodec._paths import Step, excerpt, format_path
from graphcodec._unknown import Kept, Shared, Spooled
from graphcodec.errors import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CONTAINERS: Final = frozenset({list, dict, tuple, set, frozenset, deque})

LEAVES: Final[frozenset[type]] = frozenset(
    {
        *(str, int, float, bool, type(None), bytes, bytearray, complex),
        *(date, datetime, time, timedelta, Decimal, UUID),
    }
)
"""The types of what nothing lies in."""

_OWNERLESS: Final = CONTAINERS | {Kept, Shared, Spooled}

_SHOWN_STEPS: Final = 12
"""How many steps at either end of a path are shown, at least."""


class Edge(NamedTuple):
    """The way from an object to something that it holds.

    Attributes:
        step: What the path says of it; None if it says nothing.
        value: What is held.
        hashed: Whether its holder needs its hash: a member of a set or key of a dict.
        place: Where its holder has it: a position, which for a dict is that of the
            entry, and its complement for the key; the attribute of an object.
    """

    step: Step | None
    value: object
    hashed: bool = False
    place: int | str | None = None


def edges(obj: object, leaves: frozenset[type] = LEAVES) -> list[Edge]:
    """Return what *obj* holds, in the order of the document, without plain scalars.

    Args:
        obj: Anything. Builtin containers and instances of attrs classes, dataclasses,
            pydantic models, msgspec Structs and classes with functions of their own
            hold something; a reader and everything else do not.
        leaves: The types of what is left out.
    """
    kind = type(obj)
    if kind is dict:
        return list(_dict_edges(cast("dict[object, object]", obj), leaves))
    if kind not in CONTAINERS:
        return list(_object_edges(obj, leaves))
    hashed = kind is set or kind is frozenset
    # Copied, because another thread may change the original.
    items = tuple(cast("Iterable[object]", obj))
    return [
        Edge(index, item, hashed, index)
        for index, item in enumerate(items)
        if type(item) not in leaves
    ]


def _dict_edges(table: dict[object, object], leaves: frozenset[type]) -> Iterator[Edge]:
    for position, (key, value) in enumerate(tuple(table.items())):
        step = key if type(key) is str else excerpt(key)
        if type(key) not in leaves:
            yield Edge(step, key, hashed=True, place=~position)
        if type(value) not in leaves:
            yield Edge(step, value, place=position)


def _object_edges(obj: object, leaves: frozenset[type]) -> Iterator[Edge]:
    layout = layout_of(type(obj))
    if layout.kind == "custom":
        yield Edge(None, cast("Any", obj).__graphcodec_encode__())
        return
    for part in layout.parts:
        value = getattr(obj, part.name, None)
        if type(value) not in leaves:
            yield Edge(part.key, value, place=part.name)
    kept = kept_fields(obj, layout)
    if kept is not None:
        yield Edge(None, kept)


class _Frame(NamedTuple):
    rest: Iterator[Edge]
    owner: object
    shown: bool


class Walk:
    """A walk through a graph, each object once, that knows where it is.

    Iterating gives pairs: the owner of what was met, and what was met. An owner is the
    object in whose fields something lies, at any depth of containers; where there is
    none, it is the root.

    Args:
        root: The graph.
        per_owner: Whether containers and readers count anew for each owner, as they do
            on the wire.

    Raises:
        InvalidValueError: If *root* is an iterator.
    """

    def __init__(self, root: object, *, per_owner: bool = False) -> None:
        self._root = root
        kind = type(root)
        # Taken for a graph that holds nothing, it would hide all that it yields.
        if hasattr(kind, "__next__") and layout_of(kind).kind == "leaf":
            msg = f"a {kind.__name__} is no graph"
            raise InvalidValueError(msg, hint="make a list of what it yields")
        self._per_owner = per_owner
        self._frames: list[_Frame] = []
        self._steps: list[Step] = []
        # Holds what was met: some of it is made on the way, and its id must stay taken.
        self._met: dict[tuple[int, int], object] = {}

    def __iter__(self) -> Iterator[tuple[object, object]]:
        frames = self._frames
        frames.append(_Frame(iter([Edge(None, self._root)]), self._root, shown=False))
        while frames:
            frame = frames[-1]
            edge = next(frame.rest, None)
            if edge is None:
                self._leave(frames.pop())
            elif self._is_new(edge.value, frame.owner):
                self._enter(edge, frame.owner)
                yield frame.owner, edge.value

    def path(self) -> str:
        """Return where the last one met was, as errors of the codec show it."""
        steps = self._steps
        left_out = len(steps) - 2 * _SHOWN_STEPS
        if left_out <= 0:
            return format_path(steps)
        # A graph may be deep and have a reader at each level: format only the ends.
        head = format_path(steps[:_SHOWN_STEPS])
        tail = format_path(steps[-_SHOWN_STEPS:])[1:]
        return f"{head}…({left_out} more)…{tail}"

    def _is_new(self, value: object, owner: object) -> bool:
        scoped = self._per_owner and layout_of(type(value)).kind == "leaf"
        key = (id(owner) if scoped else 0, id(value))
        if key in self._met:
            return False
        self._met[key] = value
        return True

    def _enter(self, edge: Edge, owner: object) -> None:
        if edge.step is not None:
            self._steps.append(edge.step)
        inside = owner if type(edge.value) in _OWNERLESS else edge.value
        rest = iter(edges(edge.value))
        self._frames.append(_Frame(rest, inside, shown=edge.step is not None))

    def _leave(self, frame: _Frame) -> None:
        if frame.shown:
            self._steps.pop()


def path_to(root: object, target: object) -> str:
    """Return where *target* lies in a graph; ``$`` if it can't be found.

    Args:
        root: The graph.
        target: The very object.
    """
    walk = Walk(root)
    return next((walk.path() for _, met in walk if met is target), "$")
