"""From a graph to a document: the walk of one call.

The problem: a graph has sharing, cycles and any depth; the document is a tree with
references; and nearly every object is none of that, so it must cost next to nothing.

The choice. A generated function (`graphcodec._coding._write_program`) builds the map of
an object and remembers it by the object's identity. An object that is met again gets a
number, and only when the walk is over is its map moved to ``nodes``: no pass goes
before the walk.
The walk recurses until `NESTING` levels are written; what lies deeper becomes a node
that is walked later, from a work list, so that no recursion follows the data.

The functions come in two builds. The fast one leaves out what costs and seldom matters:
the path, and the look for lone surrogates, at which the formatter fails anyway. When
anything fails, the careful build starts again from the root and either succeeds or says
where. (A path kept in the fast build costs a tenth of all time; searching the graph for
the culprit afterwards fails for values that are not unique, such as small ints.)
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# A parsed document, and a user's object, is Any until it was looked at.

from __future__ import annotations

import enum
from binascii import b2a_base64
from collections import deque
from collections.abc import Callable, Iterable
from datetime import UTC
from math import isfinite
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from graphcodec._classes._slots import Objects, OneOf
from graphcodec._coding._document import check_collisions
from graphcodec._coding._nodes import Key, Nodes
from graphcodec._coding._plain import (
    FLAT,
    NOT_PLAIN,
    is_bare_key,
    is_text,
    levels,
    order_key,
    plain,
)
from graphcodec._coding._write_kept import KeptWriter
from graphcodec._coding._write_program import Known, WriteProgram
from graphcodec._coding._write_rare import RareWriter
from graphcodec._limits import NESTING, ROOM, exceeded
from graphcodec._live import refusal, type_name, unreadable
from graphcodec._paths import Step, excerpt, format_path
from graphcodec._unknown import Kept, OpaqueMember, OpaqueNode
from graphcodec._values import (
    LEAST_INT,
    MARKED,
    MOST_INT,
    Wire,
    write_bytes,
    write_datetime,
    write_float,
    write_int,
    write_scalar,
    write_text,
)
from graphcodec.errors import (
    CyclicGraphError,
    LimitExceededError,
    ReaderNotDescribableError,
    UnencodableValueError,
)
from graphcodec.readers._contracts import Reader
from graphcodec.readers._memory import SCHEME, BytesReader

if TYPE_CHECKING:
    from graphcodec._limits import Limits

Trail: TypeAlias = "tuple[Trail | None, tuple[Step, ...]]"

_CONTAINERS: Final = frozenset({list, dict, tuple, set, frozenset, deque})


class WriteCall:
    """The state of one walk; nothing of it outlives the call."""

    # The generated functions ask for these all the time.
    __slots__ = (
        "_base",
        "_binary",
        "_canonical",
        "_containers",
        "_keyed",
        "_limits",
        "_repeated_ids",
        "_repeats",
        "_work",
        "careful",
        "hashed",
        "kept",
        "kept_fields",
        "memo",
        "met",
        "nodes",
        "program",
        "rare",
        "steps",
        "tangled",
        "times",
        "tree",
    )

    def __init__(
        self,
        program: WriteProgram,
        limits: Limits,
        *,
        binary: bool = False,
        tree: bool = False,
        canonical: Callable[[object], bytes] | None = None,
    ) -> None:
        self.memo: dict[Key, Any] = {}
        self.kept: list[Any] = []
        self.times: dict[int, object] = {}
        self.nodes = Nodes(limits.max_nodes)
        self.met: dict[Key, Wire] = {}
        self.hashed: list[object] = []
        self.tangled = False
        self.program = program
        self._limits = limits
        self._binary = binary
        self.tree = tree
        self._canonical = canonical
        self.careful = program.careful
        self._work: list[tuple[Key, Any, dict[int, Key] | None, Trail | None]] = []
        self._containers = 0
        self._keyed = False
        self._repeats = 0
        self._repeated_ids: set[int] = set()
        self._base: Trail | None = None
        self.rare = RareWriter(self)
        self.kept_fields = KeptWriter(self)
        self.steps: list[Step] = []

    # The whole document

    def document(self, obj: object) -> Wire:
        """Return the document of *obj*, its nodes not yet in order.

        Args:
            obj: The root.
        """
        out: Wire = {"graphcodec": 1}
        writer = self.program.writer(type(obj))
        if writer is not None:
            out["root"] = writer(obj, self, 1)
        elif isinstance(obj, (Reader, OpaqueNode)):
            out["root"] = self.walk(obj, 1, {}, out, "root")
        else:
            out["root"] = self.untyped(obj, 1)
        while self._work:
            self._write_deferred(*self._work.pop())
        return out

    def _write_deferred(
        self, key: Key, value: Any, slot: dict[int, Key] | None, trail: Trail | None
    ) -> None:
        self._base, self.steps = trail, []
        number, written = self.nodes.numbers[key], self.nodes.written
        del self.memo[key]
        if slot is None:
            written[number] = self.walk(value, 1, {}, written, number)
        else:
            written[number] = self._container(value, key, 1, slot)

    def place_nodes(self, order: list[int]) -> list[object]:
        """Return the nodes, each moved from where it was met first.

        Args:
            order: The numbers given during the walk, in the order of the nodes.
        """
        return self.nodes.place(self.memo, order)

    def finished_order(self) -> list[int]:
        """Return the numbers of the nodes in the order in which they were finished."""
        return self.nodes.finished(self.kept, keyed=self._keyed)

    # Identity

    def again(self, key: Key, obj: object, level: int) -> Wire:
        """Return a reference to something that was met before.

        Generated functions look into `met` first.
        """
        if self.tree:
            return self._repeat(key, obj, level)
        found = self.met.get(key)
        if found is None:
            # Something that is first met again while it is walked contains itself.
            self.tangled = self.tangled or self.memo[key] is None
            found = self.met[key] = self.nodes.reference(key)
        return found

    def _repeat(self, key: Key, obj: object, level: int) -> Wire:
        if self.memo[key] is None:
            msg = f"a {type_name(type(obj))} contains itself, and references are off"
            raise CyclicGraphError(msg, type_name=type_name(type(obj)))
        written = self.memo.pop(key)
        self._repeated()
        if isinstance(obj, Reader):
            return self.reader(obj, written["tag"].partition(":")[0], level)
        found: Any = self.walk(obj, level, {}, {}, "")
        return found  # type: ignore[no-any-return]

    def _repeated(self) -> None:
        """Count what a tree writes more than once: it may double at every level."""
        self._repeats += 1
        if self._repeats > self._limits.max_nodes:
            raise exceeded("max_nodes", self._limits.max_nodes, self._repeats)

    def defer(self, key: Key, obj: object, slot: dict[int, Key] | None = None) -> Wire:
        """Put something that would nest too deep on the work list."""
        if self.tree:
            msg = (
                f"the graph nests deeper than {NESTING} levels, and references are off"
            )
            raise LimitExceededError(msg, limit="nesting", value=NESTING)
        self.tangled = True
        self.memo[key] = _DEFERRED
        trail = (self._base, tuple(self.steps)) if self.careful else None
        self._work.append((key, obj, slot, trail))
        return self.nodes.reference(key)

    # Untyped slots

    def untyped(self, value: Any, level: int) -> object:
        """Return the wire form of a value in an untyped slot.

        Args:
            value: Anything.
            level: The level at which its outermost map or list stands.
        """
        kind = type(value)
        if kind in FLAT:
            if kind is not str or not self.careful or is_text(value):
                return value
        elif kind is dict or kind is list:
            room = NESTING - level + 1
            same = plain(value, room, None, self.careful)
            if same is not NOT_PLAIN:
                return same
        elif kind is int:
            if LEAST_INT <= value <= MOST_INT:
                return value
        elif kind is float and isfinite(value):
            return value
        writer = self.program.writers.get(kind)
        if writer is not None:
            return {"$any": writer(value, self, level + 1)}
        wrapper: Wire = {}
        wrapper["$any"] = self.walk(value, level + 1, {}, wrapper, "$any")
        return wrapper

    def walk(
        self, value: Any, level: int, slot: dict[int, Key], holder: Any, place: Any
    ) -> object:
        """Return the wire form of a value inside ``$any``.

        Args:
            value: Anything.
            level: The level at which its outermost map or list stands.
            slot: The containers met in this slot.
            holder: The map or list that the result is put into.
            place: The key or index it is put at.
        """
        kind = type(value)
        if kind in _CONTAINERS:
            return self._contained(value, level, slot, holder, place)
        if kind in FLAT:
            return write_text(value) if kind is str and self.careful else value
        if kind is int:
            return write_int(value)
        if kind is float:
            return write_float(value)
        writer = self.program.writer(kind)
        if writer is not None:
            return writer(value, self, level)
        mark = MARKED.get(kind)
        if mark is not None:
            return mark(value)
        return self._other(value, level)

    def _other(self, value: Any, level: int) -> object:
        match value:
            case bytes() if type(value) is bytes:
                return self.as_bytes(value)
            case Reader():
                return self.reader(value, "media", level)
            case enum.Enum():
                return self._member(value)
            case OpaqueNode():
                return self.kept_fields.opaque(value, level)
            case OpaqueMember():
                return self.kept_fields.member(value)
            case Kept():
                return self.kept_fields.tree(value.tree, level, {}, "", {})
            case _:
                raise refusal(value)

    def _member(self, value: enum.Enum) -> Wire:
        cls = type(value)
        shape = self.program.registry.shape(cls)
        if shape is None:
            raise refusal(value)
        if not self.program.registry.may_write(cls):
            raise unreadable(shape.mark.tag, type_name(cls))
        if isinstance(value, enum.Flag):
            return {"$enum": shape.mark.tag, "value": write_scalar(value.value)}
        return {"$enum": shape.mark.tag, "name": value.name}

    # Containers in untyped slots

    def _contained(
        self, value: Any, level: int, slot: dict[int, Key], holder: Any, place: Any
    ) -> object:
        if not value and type(value) in (tuple, frozenset):
            # There is one empty tuple; to meet it again says nothing.
            return {f"${type(value).__name__}": []}
        key = slot.get(id(value))
        if key is not None:
            return self.again(key, value, level)
        key = self._new_key(value, slot)
        if level > NESTING - ROOM:
            return self.defer(key, value, slot)
        out = self._container(value, key, level, slot)
        self.memo[key] = (out, holder, place)
        if self.tree:
            del slot[id(value)]
            if id(value) in self._repeated_ids:
                self._repeated()
            self._repeated_ids.add(id(value))
        return out

    def _new_key(self, value: object, slot: dict[int, Key]) -> Key:
        self._containers += 1
        key = slot[id(value)] = ("container", self._containers)
        return key

    def shared(self, value: Any, slot: dict[int, Key]) -> object:
        """Return the reference to a container that was one when it was read.

        Args:
            value: The container.
            slot: The containers met in this slot.
        """
        key = slot.get(id(value))
        if key is not None:
            return self.again(key, value, 1)
        key = self._new_key(value, slot)
        if self.tree:
            return self._container(value, key, 1, slot)
        return self.defer(key, value, slot)

    def _container(
        self, value: Any, key: Key, level: int, slot: dict[int, Key]
    ) -> object:
        self.memo[key] = None
        out: object
        if type(value) is list:
            out = self._items(value, level, slot)
        elif type(value) is dict:
            out = self._dict(value, level, slot)
        else:
            out = self._marked_items(value, level, slot)
        self.memo[key] = out
        self._finish(key, value)
        return out

    def _items(
        self, items: Iterable[Any], level: int, slot: dict[int, Key]
    ) -> list[object]:
        out: list[object] = []
        for index, item in enumerate(items):
            self.steps.append(index)
            out.append(self.walk(item, level + 1, slot, out, index))
            self.steps.pop()
        return out

    def _marked_items(self, value: Any, level: int, slot: dict[int, Key]) -> Wire:
        kind = type(value)
        members = value if kind in (tuple, deque) else self.members(value)
        items = self._items(members, level + 1, slot)
        out: Wire = {f"${kind.__name__}": items}
        if kind is deque:
            out["maxlen"] = value.maxlen
        elif kind is not tuple:
            check_collisions(value)
            self.hashed += items
        return out

    def _dict(self, value: dict[Any, Any], level: int, slot: dict[int, Key]) -> Wire:
        # A copy: another thread may add a key after the keys were looked at.
        value = value.copy()
        pairs = self.pairs(value)
        if all(map(is_bare_key, value)) and (
            not self.careful or all(map(is_text, value))
        ):
            out: Wire = {}
            for key, item in pairs:
                self.steps.append(key)
                out[key] = self.walk(item, level + 1, slot, out, key)
                self.steps.pop()
            return out
        check_collisions(value)
        listed: list[object] = []
        for key, item in pairs:
            pair: list[object] = [None, None]
            self.steps.append(key if type(key) is str else excerpt(key))
            pair[0] = self.walk(key, level + 3, slot, pair, 0)
            pair[1] = self.walk(item, level + 3, slot, pair, 1)
            self.steps.pop()
            self.hashed.append(pair[0])
            listed.append(pair)
        return {"$dict": listed}

    def pairs(self, value: dict[Any, Any]) -> Iterable[tuple[Any, Any]]:
        """Return the entries of a dict, for hashing in an order equal dicts share."""
        if self._canonical is None:
            return value.items()
        if all(map(is_bare_key, value)) and all(map(is_text, value)):
            return sorted(value.items(), key=lambda pair: pair[0].encode())
        if len(value) == 1:
            return value.items()
        canonical = self._canonical
        return sorted(value.items(), key=lambda pair: canonical(pair[0]))

    def members(self, value: Iterable[Any]) -> list[Any]:
        """Return the members of a set, in the same order whenever that is cheap.

        Args:
            value: A set or frozenset.
        """
        members = list(value)
        if self._canonical is not None and len(members) > 1:
            members.sort(key=self._canonical)
            return members
        ranked: list[tuple[Any, Any]] = [(order_key(m), m) for m in members]
        keyed = [pair for pair in ranked if pair[0] is not None]
        keyed.sort(key=itemgetter(0))
        # Objects have no order; they follow those values that have one.
        return [m for _, m in keyed] + [m for key, m in ranked if key is None]

    # What generated functions call for a value that is not the usual one

    def instance(
        self,
        value: Any,
        slot: Objects | OneOf,
        level: int,
        known: Known | None = None,
    ) -> Any:
        """Return the map of an object in a slot for objects.

        Args:
            value: What stands in the slot.
            slot: The slot.
            level: The level at which the map stands.
            known: The functions met in this place so far, to be added to.
        """
        if not isinstance(value, slot.bases):
            if type(value) is OpaqueNode:
                return self.kept_fields.opaque(value, level)
            self.rare.refuse(value, slot)
        writer = self.program.writer(type(value))
        if writer is None:
            raise refusal(value)
        if known is not None:
            known[type(value)] = writer
        return writer(value, self, level)

    def reader(self, value: object, family: str, level: int) -> Wire:
        """Return the map of a reader: its tag and locator, never its bytes.

        Args:
            value: The reader.
            family: ``media`` or ``spool``.
            level: The level at which the map stands.
        """
        if not isinstance(value, Reader):
            raise refusal(value)
        key: Key = id(value)
        known = self.memo.get(key)
        if known is not None and not known["tag"].startswith(family):
            # The same reader in both families stands for two.
            key = (family, id(value))
            known = self.memo.get(key)
        if known is not None:
            return self.again(key, value, level)
        scheme, locator = self._describe(value)
        out: Wire = {
            "$type": "$reader",
            "tag": f"{family}:{scheme}",
            "locator": locator,
        }
        self.memo[key] = out
        self._finish(key, value)
        if level + 1 > NESTING // 2 and level + 1 + levels(locator) > NESTING:
            return self._aside(key, out)
        return out

    def _finish(self, key: Key, value: object) -> None:
        """Note that something is written, in the order in which that happens."""
        if type(key) is int:
            self.kept.append(value)
        else:
            self._keyed = True
            self.kept.append((key, value))

    def _aside(self, key: Key, out: Wire) -> Wire:
        """Put the map of a reader whose locator nests too deep among the nodes."""
        if self.tree:
            return out
        reference = self.nodes.reference(key)
        self.nodes.written[self.nodes.numbers[key]] = out
        return reference

    def _describe(self, value: Reader) -> tuple[str, Wire]:
        """Return the scheme and the locator of a reader."""
        if type(value) is BytesReader:
            self._check_inline(len(value.data))
            return SCHEME, {"base64": b2a_base64(value.data, newline=False).decode()}
        descriptor = value.describe()
        name = type_name(type(value))
        if descriptor is None:
            msg = f"the bytes behind this {name} live nowhere that others can open"
            hint = "store them first: graph = persist(graph, store)"
            raise ReaderNotDescribableError(msg, type_name=name, hint=hint)
        locator = plain(dict(descriptor.locator), NESTING - 1, set(), True)  # noqa: FBT003
        if locator is NOT_PLAIN:
            msg = f"the locator of a {descriptor.scheme!r} reader is not plain JSON"
            raise UnencodableValueError(msg, type_name=name)
        if descriptor.scheme == SCHEME:
            self._check_inline(value.byte_length() or 0)
        return descriptor.scheme, locator

    def _check_inline(self, size: int) -> None:
        most = self._limits.max_inline_bytes
        if size > most:
            error = exceeded("max_inline_bytes", most, size)
            error.hint = f"store the bytes: persist(graph, store); or {error.hint}"
            raise error

    def own(self, hook: Callable[[Any], object], obj: object, level: int) -> object:
        """Return the wire form of what a user's function makes of *obj*."""
        with self.program.hooks.calling():
            value = hook(obj)
        # Its identity is in the memo; once freed, another object could have the same.
        self._finish(("temporary", id(value)), value)
        return self.untyped(value, level)

    # Leaves

    def as_bytes(self, value: bytes) -> object:
        """Return bytes as the format at hand has them."""
        return value if self._binary else write_bytes(value)

    def as_time(self, value: Any) -> object:
        """Return a time; the same object is formatted once."""
        if value.tzinfo is UTC and not value.fold:
            text: object = value.isoformat("T", "microseconds")
        else:
            text = write_datetime(value)
        self.times[id(value)] = text
        # A mutable owner may let go of it, and its id be used again.
        self.kept.append(value)
        return text

    # The path, in the careful build

    def enter(self, step: Step) -> None:
        """Add a step to the path."""
        self.steps.append(step)

    def leave(self, _: None, value: object) -> object:
        """Take the last step back and return *value*."""
        self.steps.pop()
        return value

    def path(self) -> str:
        """Return where the walk is, or where it failed."""
        segments: list[tuple[Step, ...]] = [tuple(self.steps)]
        base = self._base
        while base is not None:
            base, steps = base
            segments.append(steps)
        return format_path(step for steps in reversed(segments) for step in steps)


_DEFERRED: Final = object()
