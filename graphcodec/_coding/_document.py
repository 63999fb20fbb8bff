"""A document as data: its parts with their paths, its depth, its size.

The generated functions neither count nor keep paths, because they are the hot loop.
What is only seldom needed (exact limits, the place of a node, the order of nodes in a
cycle, the size of a set member) is answered here, by passes over the parsed document
that know from the classes which part of it is data and which is markup. Both sides use
the same passes, so what one accepts, the other does.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# A parsed document, and a user's object, is Any until it was looked at.

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from graphcodec._classes._slots import (
    UNTYPED,
    OneOf,
    Row,
    Sequence,
    Slot,
    Table,
    Untyped,
)
from graphcodec._limits import NESTING, exceeded
from graphcodec._paths import Step, excerpt, format_path
from graphcodec.errors import LimitExceededError

if TYPE_CHECKING:
    from graphcodec._classes._shapes import Shape
    from graphcodec._limits import Limits


class Inside(Enum):
    """Where markup stands without the help of an annotation."""

    ROOT = "root"
    ANY = "any"
    KEPT = "kept"


Place: TypeAlias = Slot | Inside

HARD_MARKERS: Final = frozenset({"$tuple", "$set", "$frozenset"})


class Part(NamedTuple):
    """A piece of a document inside another one.

    Attributes:
        step: The step of the path, None if the piece is the same value in a wrapper.
        value: The piece.
        place: Where it stands.
        soft: Whether the owner can exist before this piece does.
        sealed: Whether nothing inside is soft either, because the owner may copy it.
        hashed: Whether it is a set member or a dict key.
    """

    step: Step | None
    value: Any
    place: Place
    soft: bool = False
    sealed: bool = False
    hashed: bool = False


def reference(value: object) -> int | None:
    """Return the number if *value* is a well-formed reference."""
    match value:
        case {"$type": "$ref", "n": int(number), **rest} if not rest:
            return number
        case _:
            return None


class Document:
    """A parsed document, seen as a tree of parts.

    Args:
        wire: The outermost map.
        shape_of: Gives the shape of the class that is written under a tag.

    Attributes:
        lenient: Whether an object of unknown type counts as one that can exist before
            its fields do, as an `OpaqueNode` can.
    """

    def __init__(
        self, wire: dict[str, Any], shape_of: Callable[[str], Shape | None]
    ) -> None:
        self.root: Any = wire["root"]
        self.nodes: list[Any] = wire.get("nodes", [])
        self.lenient = False
        self._shape_of = shape_of

    def parts(self, value: Any, place: Place) -> list[Part]:
        """Return the pieces of *value* that are markup, in the order of the document.

        Args:
            value: A piece of the document.
            place: Where it stands.
        """
        match place:
            case Inside.ANY:
                return list(self._any_parts(value))
            case Inside.KEPT:
                return list(self._kept_parts(value))
            case Inside.ROOT if type(value) is dict and "$type" in value:
                return list(self._object_parts(value))
            case Inside() | Untyped():
                wrapped = type(value) is dict and "$any" in value
                return [Part(None, value["$any"], Inside.ANY)] if wrapped else []
            case Sequence(kind=kind, item=item):
                items = value
                if kind is deque and type(value) is dict:
                    items = value.get("$deque")
                soft, hashed = kind in (list, deque), kind in (set, frozenset)
                if type(items) is list:
                    return _listed(items, lambda _: item, soft=soft, hashed=hashed)
            case Row(items=slots) if type(value) is list and len(value) == len(slots):
                return _listed(value, lambda index: slots[index])
            case Table(key=key, value=item) if type(value) is dict:
                return list(_table_parts(value, key, item))
            case OneOf(other=other) if other is not None:
                return self.parts(value, other)
            case _ if type(value) is dict and "$any" in value:
                # What a user's hook made of a scalar.
                return [Part(None, value["$any"], Inside.ANY, sealed=True)]
            case _:
                pass
        # An object, or something that does not belong there: an object that could not
        # be read as its class says is kept as it came.
        return list(self._kept_parts(value))

    def _any_parts(self, value: Any) -> Iterator[Part]:
        if type(value) is list:
            yield from _listed(value, lambda _: Inside.ANY, soft=True)
        if type(value) is not dict:
            return
        if "$type" in value:
            yield from self._object_parts(value)
        elif "$dict" in value:
            yield from _table_parts(value, Inside.ANY, Inside.ANY)
        elif marker := next((key for key in value if _step(key)[:1] == "$"), None):
            if marker in HARD_MARKERS:
                hashed = marker != "$tuple"
                yield from _listed(value[marker], lambda _: Inside.ANY, hashed=hashed)
            elif marker == "$deque":
                yield from _listed(value[marker], lambda _: Inside.ANY, soft=True)
        else:
            for key, item in value.items():
                yield Part(_step(key), item, Inside.ANY, soft=True)

    def _kept_parts(self, value: Any) -> Iterator[Part]:
        if type(value) is list:
            yield from _listed(value, lambda _: Inside.KEPT)
        elif type(value) is dict and "$type" in value:
            yield from self._object_parts(value)
        elif type(value) is dict:
            for key, item in value.items():
                step = _step(key)
                yield Part(None if step[:1] == "$" else step, item, Inside.KEPT)

    def _object_parts(self, value: dict[str, Any]) -> Iterator[Part]:
        tag = value["$type"]
        if type(tag) is not str or tag in ("$ref", "$reader"):
            return
        shape = self._shape_of(tag)
        known = {item.key: item.slot for item in shape.fields} if shape else {}
        soft = self.lenient if shape is None else shape.mutable
        sealed = shape is not None and shape.kind not in ("attrs", "dataclass")
        for key, item in value.items():
            if key in known:
                yield Part(key, item, known[key], soft, sealed)
            elif key == "$value":
                yield Part(None, item, UNTYPED, sealed=True)
            elif type(item) is dict and item.keys() == {"$any"}:
                # What is unknown here, an untyped slot holds elsewhere.
                yield Part(_step(key), item, UNTYPED, soft)
            elif key not in ("$type", "$v"):
                yield Part(_step(key), item, Inside.KEPT, soft)

    # Passes

    def entries(self) -> Iterator[tuple[int | None, Any, Place]]:
        """Yield each node with its number, then the root with None."""
        for number, node in enumerate(self.nodes):
            yield number, node, Inside.ANY
        yield None, self.root, Inside.ROOT

    def edges(
        self, value: Any, place: Place, *, hard: bool = False, hashed: bool = False
    ) -> list[int]:
        """Return the numbers that *value* refers to, in the order of the document.

        Args:
            value: A node, or the root.
            place: Where it stands.
            hard: Leave out what may be filled in once *value* exists.
            hashed: Leave out what is not in a set member or dict key.
        """
        found: list[int] = []
        stack: list[Part] = [Part(None, value, place)]
        while stack:
            part = stack.pop()
            number = reference(part.value)
            if number is not None and _is_markup(part.place):
                if part.hashed or not hashed:
                    found.append(number)
                continue
            parts = self.parts(part.value, part.place)
            if part.sealed:
                parts = [p._replace(soft=False, sealed=True) for p in parts]
            if part.hashed:
                parts = [p._replace(hashed=True) for p in parts]
            stack.extend(p for p in reversed(parts) if not (hard and p.soft))
        return found

    def walk(
        self, visit: Callable[[Any, Place, tuple[Any, ...] | None, int], None]
    ) -> None:
        """Call *visit* for every part that the root reaches, each once.

        Args:
            visit: Takes the value, its place, its trail and its level from the root.
        """
        seen: set[int] = set()
        stack: list[tuple[Any, Place, tuple[Any, ...] | None, int]] = [
            (self.root, Inside.ROOT, None, 1)
        ]
        while stack:
            value, place, trail, level = stack.pop()
            number = reference(value) if _is_markup(place) else None
            if number is not None:
                if number in seen or not 0 <= number < len(self.nodes):
                    continue
                seen.add(number)
                value, place = self.nodes[number], Inside.ANY
            visit(value, place, trail, level)
            for part in reversed(self.parts(value, place)):
                if part.step is None:
                    stack.append((part.value, part.place, trail, level))
                else:
                    step = (trail, part.step)
                    stack.append((part.value, part.place, step, level + 1))

    def node_path(self, number: int) -> tuple[Step, ...]:
        """Return the steps by which the root first reaches a node.

        Args:
            number: The number of the node.
        """
        wanted = self.nodes[number]
        found: list[tuple[Any, ...] | None] = []

        def visit(
            value: Any, place: Place, trail: tuple[Any, ...] | None, level: int
        ) -> None:
            del place, level
            if value is wanted and not found:
                found.append(trail)

        self.walk(visit)
        return _steps(found[0]) if found else ("nodes", number)


def _is_markup(place: Place) -> bool:
    return not isinstance(place, Untyped)


def _listed(
    value: Any,
    place: Callable[[int], Place],
    *,
    soft: bool = False,
    hashed: bool = False,
) -> list[Part]:
    if type(value) is not list:
        return []
    return [
        Part(index, item, place(index), soft, hashed=hashed)
        for index, item in enumerate(value)
    ]


def _table_parts(value: Any, key_place: Place, item_place: Place) -> Iterator[Part]:
    if type(value) is not dict:
        return
    pairs = value.get("$dict")
    if pairs is None:
        for key, item in value.items():
            yield Part(_step(key), item, item_place, soft=True)
    elif type(pairs) is list:
        for index, pair in enumerate(pairs):
            if type(pair) is list and len(pair) == 2:  # noqa: PLR2004
                yield Part(index, pair[0], key_place, hashed=True)
                yield Part(index, pair[1], item_place, soft=True)


def _step(key: object) -> str:
    """Return the step to the value of *key*, which in MessagePack may be anything."""
    return key if type(key) is str else excerpt(key)


def _steps(trail: tuple[Any, ...] | None) -> tuple[Step, ...]:
    steps: list[Step] = []
    while trail is not None:
        trail, step = trail
        steps.append(step)
    return tuple(reversed(steps))


# What is asked of a whole document


def may_break(limits: Limits, nodes: int, size: int) -> bool:
    """Say whether a document is large or deep enough to break a limit at all.

    A text is no longer than its document, and `NESTING` levels fit into a node.

    Args:
        limits: What is allowed.
        nodes: How many nodes it has.
        size: Its length, in bytes.
    """
    deepest = (nodes + 1) * NESTING
    return (
        nodes > limits.max_nodes
        or deepest > limits.max_depth
        or size > min(limits.max_string, limits.max_container)
    )


def check_limits(document: Document, size: int, limits: Limits) -> None:
    """Refuse a document that breaks a limit; the exact pass runs only if it may.

    Args:
        document: The document.
        size: Its length, in bytes.
        limits: What is allowed.

    Raises:
        LimitExceededError: With the limit and the path.
    """
    nodes = len(document.nodes)
    if nodes > limits.max_nodes:
        raise exceeded("max_nodes", limits.max_nodes, nodes, "$.nodes")
    if may_break(limits, nodes, size):
        _check_parts(document, limits)


def _check_parts(document: Document, limits: Limits) -> None:
    def visit(
        value: Any, place: Place, trail: tuple[Any, ...] | None, level: int
    ) -> None:
        if level > limits.max_depth:
            path = format_path(_steps(trail))
            raise exceeded("max_depth", limits.max_depth, level, path)
        if isinstance(place, Untyped):
            return
        kind = type(value)
        text = value.get("$str") if kind is dict else value
        if type(text) is str and len(text) > limits.max_string:
            path = format_path(_steps(trail))
            raise exceeded("max_string", limits.max_string, len(text), path)
        if kind is dict:
            text = max((key for key in value if type(key) is str), key=len, default="")
            if len(text) > limits.max_string:
                path = format_path(_steps(trail))
                raise exceeded("max_string", limits.max_string, len(text), path)
        longest = _longest(value) if kind in (list, dict) else 0
        if longest > limits.max_container:
            path = format_path(_steps(trail))
            raise exceeded("max_container", limits.max_container, longest, path)

    document.walk(visit)


def _longest(value: Any) -> int:
    """Return how many entries a list or map has, or the list in its marker."""
    if type(value) is dict:
        for marker in ("$dict", "$deque", *HARD_MARKERS):
            if type(value.get(marker)) is list:
                return len(value[marker])
    return len(value)


MOST_HASHED: Final = 10_000
MOST_COLLIDING: Final = 100


def check_collisions(members: Collection[Any]) -> None:
    """Refuse members of a set, or keys of a dict, that were made to share a hash.

    A table of values with one hash takes quadratic time to fill. The hashes of numbers
    are the same everywhere, so whoever wants to can make such values.

    Args:
        members: What is going to be hashed.

    Raises:
        LimitExceededError: If too many have one hash.
    """
    if len(members) <= MOST_COLLIDING:
        return
    _, most = Counter(map(hash, members)).most_common(1)[0]
    if most > MOST_COLLIDING:
        msg = f"{most:,} set members or dict keys have one hash"
        hint = f"at most {MOST_COLLIDING} may; use a list of pairs"
        raise LimitExceededError(msg, limit="max_hashed", value=most, hint=hint)


class Sizes:
    """How large set members and dict keys are when their references are unfolded.

    Hashing a tuple hashes what it holds, shared or not: a kilobyte of tuples that share
    each other would take minutes. The size is counted without unfolding: a node's once.

    Args:
        nodes: The nodes of the document, children first.
        by_identity: Tags whose objects hash by an id of theirs, whatever they hold.
    """

    def __init__(self, nodes: list[Any], by_identity: frozenset[str]) -> None:
        self._nodes = nodes
        self._by_identity = by_identity
        self._known: list[int] = []

    def check(self, member: object) -> None:
        """Refuse a member that is too large to be hashed.

        Args:
            member: A set member or dict key, as it stands in the document.

        Raises:
            LimitExceededError: If it is.
        """
        if type(member) not in (dict, list):
            return
        while len(self._known) < len(self._nodes):
            self._known.append(self._size(self._nodes[len(self._known)]))
        if self._size(member) > MOST_HASHED:
            msg = (
                f"a set member or dict key unfolds to more than {MOST_HASHED:,} values"
            )
            hint = "use a list, or a key that is small"
            raise LimitExceededError(
                msg, limit="max_hashed", value=MOST_HASHED, hint=hint
            )

    def _size(self, value: Any) -> int:
        total = 0
        stack = [value]
        while stack and total <= MOST_HASHED:
            item = stack.pop()
            number = reference(item)
            if number is not None:
                # A number that is not known yet closes a cycle, which is refused later.
                ready = 0 <= number < len(self._known)
                total += self._known[number] if ready else 1
                continue
            total += 1
            if type(item) is list:
                stack.extend(item)
            elif type(item) is dict:
                tag = item.get("$type")
                if type(tag) is not str or tag not in self._by_identity:
                    stack.extend(item.values())
        return total
