"""A graph with some of its parts replaced, and all else as it was.

The problem: whatever holds a replaced part, at any distance, has to be made again,
through its constructor; sharing and cycles must come out as they went in; what holds
none should stay the very same object; and nothing may recurse along the data.

The choice. Tarjan's algorithm yields the strongly connected components of the graph,
children first. A component is one object, or all objects of a knot of cycles. When it
is its turn, whatever it refers to outside is finished. So it has to be made again
exactly if one of its references leads to something that was; no pass marks the way to
the readers first. One object is simply made. In a knot

* lists, dicts, deques and instances of mutable classes are made empty;
* then what is frozen is made, each after what it needs; if that is itself, nothing
  could make it, and the graph is refused;
* then the containers are filled and the mutable objects initialised;
* then the frozen ones are looked at again, because what they hold is complete now.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from contextlib import contextmanager
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar, cast

import attrs

from graphcodec._classes._layouts import Layout, kept_fields, layout_of
from graphcodec._classes._making import make
from graphcodec._graphs._traverse import CONTAINERS, Edge, edges, path_to
from graphcodec._live import type_name
from graphcodec.errors import CyclicGraphError, GraphCodecError, InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from graphcodec.readers._contracts import Reader

T = TypeVar("T")

Functions: TypeAlias = "tuple[Callable[[Any], object], Callable[[Any], object]]"
"""What turns an instance of a class into a value, and a value back."""

_FILLABLE: Final = frozenset({list, dict, deque})
_NO_REPLACEMENTS: Final[Mapping[int, object]] = MappingProxyType({})


def with_readers(graph: T, replaced: Mapping[int, Reader]) -> T:
    """Return *graph* with other readers; itself if it holds none of those replaced.

    Args:
        graph: Any graph; it is left as it is.
        replaced: The new readers, by the ids of those that they stand in for.

    Raises:
        CyclicGraphError: If something to be replaced lies in a cycle through frozen
            objects alone.
        InvalidValueError: If a constructor refuses what its own object held.
    """
    return rebuilt(graph, Rewriting(graph), replaced)


class Rewriting:
    """What changes in a graph, place by place; nothing, unless a subclass says so.

    Args:
        root: The graph.
    """

    def __init__(self, root: object) -> None:
        self._root = root

    def edges(self, obj: object) -> list[Edge]:
        """Return what *obj* holds and its new form may hold.

        Args:
            obj: A part of the graph.
        """
        return edges(obj)

    def changes(self, obj: object) -> Mapping[object, object]:
        """Return what *obj* holds instead, by `Edge.place`; `DROPPED` for nothing.

        Args:
            obj: A part of the graph.
        """
        del obj
        return _NO_CHANGES

    def functions(self, kind: type) -> Functions | None:
        """Return what turns an instance of a class into a value and back, if needed.

        Args:
            kind: A class that can't be looked into otherwise.
        """
        del kind
        return None

    def path(self, obj: object) -> str:
        """Return where a part lies.

        Args:
            obj: A part of the graph.
        """
        return path_to(self._root, obj)

    def told(self, obj: object, exc: Exception) -> Exception:
        """Return the error for a part whose new form its own class refuses.

        Args:
            obj: A part of the graph.
            exc: What its constructor raised.
        """
        if isinstance(exc, GraphCodecError):
            exc.path = self.path(obj) + exc.path[1:]
        else:
            name = type_name(type(obj))
            exc.add_note(f"while the {name} at {self.path(obj)} was made again")
        return exc


DROPPED: Final = object()
"""What a place has whose value is to go: an entry goes, a field gets its default."""

_NO_CHANGES: Final[Mapping[object, object]] = {}


def rebuilt(
    graph: T, rewriting: Rewriting, replaced: Mapping[int, object] = _NO_REPLACEMENTS
) -> T:
    """Return *graph* with other parts; itself if nothing in it changes.

    Args:
        graph: Any graph; it is left as it is.
        rewriting: What changes, place by place.
        replaced: New objects, by the ids of those that they stand in for.

    Raises:
        CyclicGraphError: If something to be replaced lies in a cycle through frozen
            objects alone.
        InvalidValueError: If a constructor refuses what its own object held.
    """
    return cast("T", _Rebuild(graph, rewriting, replaced).run())


@attrs.define(eq=False)
class _Node:
    """One object, and where Tarjan's algorithm is with it."""

    obj: object
    edges: list[Edge]
    index: int
    low: int
    is_open: bool = True


def components(
    root: object, edges: Callable[[object], list[Edge]] = edges
) -> Iterator[list[_Node]]:
    """Yield the strongly connected components of a graph, children first.

    Temporary objects met on the way stay alive until the last one is taken.

    Args:
        root: The graph.
        edges: What an object holds.
    """
    nodes: dict[int, _Node] = {}
    unfinished: list[_Node] = []
    stack: list[tuple[_Node, Iterator[Edge]]] = []

    def enter(obj: object) -> None:
        number = len(nodes)
        node = nodes[id(obj)] = _Node(obj, edges(obj), number, number)
        unfinished.append(node)
        stack.append((node, iter(node.edges)))

    enter(root)
    while stack:
        node, rest = stack[-1]
        edge = next(rest, None)
        if edge is not None:
            child = nodes.get(id(edge.value))
            if child is None:
                enter(edge.value)
            elif child.is_open:
                node.low = min(node.low, child.index)
            continue
        stack.pop()
        if stack:
            stack[-1][0].low = min(stack[-1][0].low, node.low)
        if node.low == node.index:
            yield _close(unfinished, node)


def _close(unfinished: list[_Node], first: _Node) -> list[_Node]:
    """Take the component that begins with *first* off the stack of unfinished ones."""
    members: list[_Node] = []
    while not members or members[-1] is not first:
        members.append(unfinished.pop())
        members[-1].is_open = False
    return members


class _Rebuild:
    """One rebuilding of one graph."""

    def __init__(
        self, root: object, rewriting: Rewriting, replaced: Mapping[int, object]
    ) -> None:
        self._root = root
        self._rewriting = rewriting
        self._made: dict[int, object] = dict(replaced)

    def run(self) -> object:
        for members in components(self._root, self._rewriting.edges):
            if any(map(self._is_touched, members)):
                self._remake(members)
        return self._new(self._root)

    def _is_touched(self, node: _Node) -> bool:
        return any(id(edge.value) in self._made for edge in node.edges) or bool(
            self._rewriting.changes(node.obj)
        )

    def _new(self, value: object) -> Any:
        return self._made.get(id(value), value)

    def _remake(self, members: list[_Node]) -> None:
        node = members[0]
        inside = {id(member.obj): member for member in members}
        if len(members) == 1 and all(id(e.value) not in inside for e in node.edges):
            self._made[id(node.obj)] = self._make(node)
        else:
            self._untie(members, inside)

    def _untie(self, members: list[_Node], inside: dict[int, _Node]) -> None:
        """Make the objects of a knot of cycles."""
        self._refuse_hashed(members, inside)
        empty = [node for node in members if _is_fillable(node.obj)]
        mutable = [node for node in members if layout_of(type(node.obj)).mutable]
        for node in (*empty, *mutable):
            self._made[id(node.obj)] = _shell(node.obj)
        frozen = self._ordered(members, inside)
        for node in frozen:
            self._made[id(node.obj)] = self._make(node)
        for node in empty:
            self._fill(node.obj)
        for node in mutable:
            self._make(node, self._made[id(node.obj)])
        for node in frozen:
            self._look_again(node, inside)

    def _refuse_hashed(self, members: list[_Node], inside: dict[int, _Node]) -> None:
        for node in members:
            if any(edge.hashed and id(edge.value) in inside for edge in node.edges):
                raise self._cyclic(node.obj)

    def _ordered(self, members: list[_Node], inside: dict[int, _Node]) -> list[_Node]:
        """Return those that can't be made empty, each after what it needs."""
        needs = {
            id(node.obj): [
                id(edge.value)
                for edge in node.edges
                if id(edge.value) in inside and id(edge.value) not in self._made
            ]
            for node in members
            if id(node.obj) not in self._made
        }
        try:
            order = list(TopologicalSorter(needs).static_order())
        except CycleError as exc:
            number = cast("list[int]", exc.args[1])[0]
            raise self._cyclic(inside[number].obj) from None
        return [inside[number] for number in order]

    def _cyclic(self, obj: object) -> CyclicGraphError:
        name = type_name(type(obj))
        msg = (
            f"this {name} contains itself through frozen objects, tuples or sets alone"
        )
        hint = "let one object of the cycle be mutable, or refer to it by its id"
        path = self._rewriting.path(obj)
        return CyclicGraphError(msg, path=path, hint=hint, type_name=name)

    def _make(self, node: _Node, shell: object = None) -> object:
        """Return the new form of one object, all of whose parts can be had."""
        obj: Any = node.obj
        kind: Any = type(node.obj)
        if kind is dict:
            return self._table(obj)
        if kind is deque:
            return deque[Any](self._items(obj), obj.maxlen)
        if kind in CONTAINERS:
            return kind(self._items(obj))
        with self._telling(obj):
            return self._instance(node, layout_of(kind), shell)

    @contextmanager
    def _telling(self, obj: object) -> Generator[None]:
        try:
            yield
        except Exception as exc:
            told = self._rewriting.told(obj, exc)
            if told is exc:
                raise
            raise told from exc

    def _items(self, items: Iterable[Any]) -> Iterable[Any]:
        changes = self._rewriting.changes(items)
        if not changes:
            return map(self._new, items)
        made = [changes.get(i, self._new(item)) for i, item in enumerate(items)]
        return [item for item in made if item is not DROPPED]

    def _table(self, table: dict[object, object]) -> dict[object, object]:
        changes = self._rewriting.changes(table)
        made: dict[object, object] = {}
        left_out = 0
        for position, (key, value) in enumerate(tuple(table.items())):
            new_key = changes.get(~position, self._new(key))
            new_value = changes.get(position, self._new(value))
            if new_key is DROPPED or new_value is DROPPED:
                left_out += 1
            else:
                made[new_key] = new_value
        if len(made) + left_out < len(table):
            raise InvalidValueError(
                "two keys of one dict turn out to be the same, as two readers do that"
                " have the same bytes",
                path=self._rewriting.path(table),
                hint="use something else as keys, such as an id",
            )
        return made

    def _fill(self, obj: object) -> None:
        made = self._new(obj)
        if isinstance(obj, dict):
            made.update(self._table(cast("dict[object, object]", obj)))
        else:
            made.extend(self._items(cast("Iterable[object]", obj)))

    def _instance(self, node: _Node, layout: Layout, shell: object) -> object:
        obj = node.obj
        changes = self._rewriting.changes(obj)
        functions = self._rewriting.functions(type(obj))
        if layout.kind == "custom" or functions is not None:
            changed = None in changes
            value = changes[None] if changed else self._new(node.edges[0].value)
            if functions is not None:
                return functions[1](value)
            return make(type(obj), layout, {"": value})
        values: dict[str, object] = {}
        for part in layout.parts:
            if not hasattr(obj, part.name):
                continue
            value = changes.get(part.name, self._new(getattr(obj, part.name)))
            if value is not DROPPED:
                values[part.name] = value
            elif part.required:
                values[part.name] = None
        kept = self._new(kept_fields(obj, layout))
        return make(type(obj), layout, values, kept=kept, shell=shell)

    def _look_again(self, node: _Node, inside: dict[int, _Node]) -> None:
        """Verify an object that was made before what it holds was complete."""
        made: object = self._new(node.obj)
        changes = self._rewriting.changes(node.obj)
        for part in layout_of(type(node.obj)).parts:
            value = getattr(node.obj, part.name, None)
            waited = id(value) in inside and _is_fillable(value)
            if not waited or part.name in changes:
                continue
            if getattr(made, part.name) is not self._new(value):
                name = type_name(type(made))
                raise CyclicGraphError(
                    f"{name} copies its {part.name}, so it can't be part of a cycle",
                    path=self._rewriting.path(node.obj),
                    type_name=name,
                )
        check = vars(type(made)).get("__graphcodec_check__")
        if check is not None:
            with self._telling(node.obj):
                check(made)


def _is_fillable(obj: object) -> bool:
    return type(obj) in _FILLABLE


def _shell(obj: object) -> object:
    """Return an empty object of the class of *obj*."""
    if isinstance(obj, deque):
        return deque[object](maxlen=cast("deque[object]", obj).maxlen)
    return type(obj).__new__(type(obj))
