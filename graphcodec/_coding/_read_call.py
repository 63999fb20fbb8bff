"""From a document to a graph: the state of one call.

Nodes are decoded in order, children first, then the root. A reference backwards finds
an object; one forwards, or to the node that is being decoded, closes a cycle:

* if a list, dict, deque or instance of a mutable class stands there, it is made empty
  now and filled when its own turn comes;
* else the nearest owner that can wait is made empty and filled once all nodes exist;
* else the document has a cycle that nothing could rebuild, and is refused.

Each piece is decoded at most twice, so hostile references cost no more than their size.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# A parsed document, and a user's object, is Any until it was looked at.

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from graphcodec._classes._registry import unknown_tag
from graphcodec._classes._slots import ANYTHING, Objects, OneOf, describe
from graphcodec._coding._document import Sizes, check_collisions
from graphcodec._coding._evolving import Evolving
from graphcodec._coding._pieces import (
    ATOMS,
    admits,
    drained,
    empty_shell,
    require_plain,
    shell_kind,
    short,
    split_pairs,
)
from graphcodec._coding._read_program import (
    Again,
    Known,
    OpaqueOwner,
    ReadProgram,
    Unready,
)
from graphcodec._coding._read_rare import RareSlots, Times
from graphcodec._live import type_name
from graphcodec._paths import Step, excerpt, with_article
from graphcodec._unknown import OpaqueNode
from graphcodec._values import MARKERS, Wire, malformed, read_marker
from graphcodec.errors import GraphCodecError, UndecodableValueError

if TYPE_CHECKING:
    from graphcodec._coding._read_forms import Parser, Reference
    from graphcodec._limits import Limits
    from graphcodec._resolving import Resolvers


_LONG: Final = 32


class ReadCall:
    """The state of one call; nothing of it outlives the call.

    Args:
        program: The compiled functions.
        resolvers: What turns descriptors into readers.
        limits: What one reader may carry.
        nodes: The nodes of the document.
        binary: Whether the document is MessagePack.
        unknown_fields: ``keep``, ``ignore`` or ``raise``.
    """

    # The generated functions ask for these all the time.
    __slots__ = (
        "_fillings",
        "_nodes",
        "_owners",
        "_sizes",
        "_wire",
        "binary",
        "evolving",
        "jobs",
        "limits",
        "program",
        "rare",
        "resolvers",
        "settling",
        "shells",
        "steps",
        "times",
        "watched",
    )

    def __init__(
        self,
        program: ReadProgram,
        resolvers: Resolvers,
        limits: Limits,
        nodes: list[Any],
        *,
        binary: bool,
        unknown_fields: str,
    ) -> None:
        self.times = Times()
        self.jobs: list[Callable[[], None]] = []
        self.shells: dict[int, Any] = {}
        self.program = program
        self.resolvers = resolvers
        self.limits = limits
        self._wire = nodes
        self._nodes: list[Any] = []
        self._owners: list[tuple[Any, list[tuple[str, Any]]]] = []
        self.binary = binary
        self.rare = RareSlots(self)
        self.evolving = Evolving(self, unknown_fields)
        self._sizes: Sizes | None = None
        self.settling = 0
        self._fillings = 0
        self.steps: list[Step] = []
        self.watched: list[object] = []

    # The whole document

    def root(self, wire: object) -> object:
        """Decode all nodes, then the root, and return it.

        Args:
            wire: What stands at ``root``.
        """
        if type(wire) is dict and "$type" in wire:
            return self._complete(lambda: self.instance(wire, ANYTHING))
        return self._complete(lambda: self.untyped(wire, soft=True))

    def parsed(self, parser: Parser, root: Any) -> object:
        """Do what `root` does, for a root that was parsed into a form.

        Args:
            parser: What parsed it.
            root: Its form, or a reference.
        """
        fits = type(root) is parser.form
        return self._complete(
            lambda: parser.read(root, self) if fits else self.referred(root, ANYTHING)
        )

    def _complete(self, read: Callable[[], object]) -> object:
        for number, node in enumerate(self._wire):
            self.steps.clear()
            self._nodes.append(self._node(node, number))
        self._run_jobs()
        self.steps.clear()
        out = read()
        self._run_jobs()
        for obj, fields in self._owners:
            self._look_again(obj, fields)
        self.limit_trust(out)
        return out

    def limit_trust(self, root: object) -> None:
        """Have the policy of trust look at what was read.

        Args:
            root: The graph, complete.
        """
        if self.watched and self.program.trust is not None:
            self.program.trust.apply(self.watched, root)

    def _run_jobs(self) -> None:
        """Fill what had to wait for all nodes."""
        if self.jobs and not self.program.careful:
            raise Again
        for job in self.jobs:
            job()
        self.jobs.clear()

    @property
    def current(self) -> int | None:
        """The number of the node that is being decoded; None for the root."""
        number = len(self._nodes)
        return number if number < len(self._wire) else None

    def _node(self, wire: Any, number: int) -> object:
        try:
            if type(wire) is dict and type(tag := wire.get("$type")) is str:
                read = self.program.reader(tag)
                if read is not None:
                    return read(wire, self, number)
                if tag == "$ref":
                    malformed("a node can't be a reference", tag)
                if tag != "$reader" and self.program.opaque:
                    return self.evolving.opaque(wire, number)
            elif type(wire) is list:
                return self._fill_list(self.shells.setdefault(number, []), wire, True)
            elif type(wire) is dict and (kind := shell_kind(wire)) is not None:
                shell = self.shells.setdefault(number, empty_shell(kind, wire))
                return self._fill(shell, wire, soft=True)
            return self.walk(wire, soft=True)
        except Unready:
            msg = "a reference to something that can't exist before this node does"
            raise UndecodableValueError(msg) from None

    def each(self, items: list[Any]) -> Iterable[Any]:
        """Return what yields the items of a list; a long one loses them on the way.

        The parsed form of one object then dies before the next is made, which spares
        the garbage collector most of its work. Only the fast build does so, and only
        below the root, which nobody reads twice.

        Args:
            items: A list of the document.
        """
        if len(items) < _LONG or self.current is not None:
            return items
        return drained(items)

    # References

    def ref(self, wire: Wire) -> object:
        """Return what a reference refers to.

        Args:
            wire: The map that is the reference.
        """
        number = wire.get("n")
        if type(number) is not int or len(wire) != 2:  # noqa: PLR2004
            malformed("a reference needs one int, n", number)
        if 0 <= number < len(self._nodes):
            return self._nodes[number]
        if not 0 <= number < len(self._wire):
            total = len(self._wire)
            shown = excerpt(number)
            malformed(f"a reference to node {shown}, of which there are {total}")
        return self._early(number)

    def told_of(self, wire: Any) -> Any:
        """Return the piece of wire that a reference leads to, or *wire* if it is none.

        Args:
            wire: The map of an object, a reader or a reference, which has been read.
        """
        return self._wire[wire["n"]] if wire["$type"] == "$ref" else wire

    def referred(self, found: Reference, slot: Objects | OneOf) -> Any:
        """Return what a reference among forms refers to.

        Args:
            found: The reference.
            slot: Where it stands.
        """
        if found.n < len(self._nodes):
            out = self._nodes[found.n]
            if isinstance(out, slot.bases):
                return out
        return self.instance({"$type": "$ref", "n": found.n}, slot)

    def _early(self, number: int) -> object:
        """Return the empty form of a node whose turn has not come."""
        if number in self.shells:
            return self.shells[number]
        wire = self._wire[number]
        shell: object
        if type(wire) is list:
            shell = []
        elif type(wire) is dict and (kind := shell_kind(wire)) is not None:
            shell = empty_shell(kind, wire)
        else:
            shell = self._empty_object(wire)
        self.shells[number] = shell
        return shell

    def _empty_object(self, wire: Any) -> object:
        tag = wire.get("$type") if type(wire) is dict else None
        shape = self.program.registry.by_tag(tag) if type(tag) is str else None
        if (
            shape is None
            and self.program.opaque
            and type(tag) is str
            and tag[:1] != "$"
        ):
            return OpaqueNode.__new__(OpaqueNode)
        if shape is None or not shape.mutable:
            raise Unready
        if self.program.hooks.structure(shape) is not None:
            raise Unready
        cls: Any = shape.cls
        return cls.__new__(cls)

    def later(
        self, read: Callable[..., Any], wire: Wire, cls: Any, node: int | None
    ) -> object:
        """Return an empty instance, to be filled when all nodes exist.

        Args:
            read: The function of its class.
            wire: Its map.
            cls: Its class.
            node: The number of the node that it is, if it is one.
        """
        shell = None if node is None else self.shells.pop(node, None)
        if shell is None:
            shell = cls.__new__(cls)
        self._fillings -= 1
        filling = self._fillings

        def fill() -> None:
            self.shells[filling] = shell
            read(wire, self, filling)

        self.jobs.append(fill)
        return shell

    def owner(self, obj: object, fields: list[tuple[str, Any]]) -> None:
        """Remember a frozen object some of whose containers are not filled yet.

        Args:
            obj: The object.
            fields: Its attributes with the values it was made from.
        """
        self._owners.append((obj, fields))

    def _look_again(self, obj: Any, fields: list[tuple[str, Any]]) -> None:
        """Check an object once what it holds is complete."""
        name = type_name(type(obj))
        for attribute, value in fields:
            held = type(value) in (list, dict, deque)
            if held and getattr(obj, attribute) is not value:
                msg = f"{name} copies its {attribute}, so it can't be part of a cycle"
                raise UndecodableValueError(msg, type_name=name)
        check = vars(type(obj)).get("__graphcodec_check__")
        if check is not None:
            check(obj)

    # Untyped slots

    def untyped(self, value: Any, soft: bool = False) -> object:
        """Return what stands in an untyped slot.

        Args:
            value: The piece of wire.
            soft: Whether containers may be filled after their owner was made.
        """
        if type(value) is dict and "$any" in value and not self.settling:
            if len(value) != 1:
                malformed("$any stands alone", next(k for k in value if k != "$any"))
            inner = value["$any"]
            if type(inner) is dict and type(tag := inner.get("$type")) is str:
                read = self.program.by_tag.get(tag)
                if read is not None:
                    return read(inner, self)
            return self.walk(inner, soft)
        if self.binary and not self.settling:
            require_plain(value)
        return value

    def walk(self, value: Any, soft: bool = False) -> object:
        """Return what a piece of wire inside ``$any`` stands for.

        Args:
            value: The piece.
            soft: Whether containers may be filled after their owner was made.
        """
        kind = type(value)
        if kind in ATOMS:
            return value
        if kind is list:
            return self._fill_list([], value, soft)
        if kind is not dict:
            malformed("MessagePack has only plain values here", value)
        if "$type" in value:
            return self.instance(value, ANYTHING)
        shell = shell_kind(value)
        if shell is not None:
            return self._fill(empty_shell(shell, value), value, soft)
        marker = next((k for k in value if k[:1] == "$"), "")
        if marker in MARKERS:
            return read_marker(marker, value)
        return self._frozen(marker, value, soft)

    def _fill(self, out: Any, wire: Wire, soft: bool) -> object:
        """Fill an empty dict or deque from its wire."""
        if "$deque" in wire:
            return self._fill_list(out, wire["$deque"], soft)

        def fill(soft: bool) -> None:
            if "$dict" in wire:
                self._fill_pairs(out, wire["$dict"], soft)
                return
            for key, value in wire.items():
                self.steps.append(key)
                out[key] = self.walk(value, soft)
                self.steps.pop()

        return self.patiently(out, fill, soft)

    def _fill_list(self, out: Any, items: Any, soft: bool) -> object:
        if type(items) is not list:
            malformed("a sequence needs a list", items)
        return self.patiently(out, lambda soft: self._add_items(out, items, soft), soft)

    def patiently(self, out: Any, fill: Callable[[bool], None], soft: bool) -> Any:
        """Fill a container now or, if it may wait and must, when all nodes exist.

        Args:
            out: The container, empty.
            fill: Fills it; told whether what is inside may wait, too.
            soft: Whether it may.
        """
        steps = len(self.steps)
        try:
            fill(soft)
        except Unready:
            if not soft:
                raise
            del self.steps[steps:]
            out.clear()
            self.jobs.append(lambda: fill(False))
        return out

    def _add_items(self, out: Any, items: list[Any], soft: bool) -> None:
        for index, item in enumerate(items):
            self.steps.append(index)
            out.append(self.walk(item, soft))
            self.steps.pop()

    def _fill_pairs(self, out: dict[Any, Any], pairs: Any, soft: bool) -> None:
        keys: list[Any] = []
        for key, _ in split_pairs(pairs):
            self.check_sizes([key])
            # What is hashed must be complete, hence not soft.
            keys.append(self.hashable(self.walk(key)))
        check_collisions(keys)
        for name, (_, value) in zip(keys, pairs, strict=True):
            self.steps.append(name if type(name) is str else excerpt(name))
            self.guarded(out.__setitem__, name, self.walk(value, soft))
            self.steps.pop()
        if len(out) != len(pairs):
            malformed("$dict needs distinct keys")

    def _frozen(self, marker: str, value: Wire, soft: bool) -> object:
        """Return the value of a marker for something that must be complete."""
        if marker == "$enum":
            return self.rare.marked_member(value)
        kinds: dict[str, type] = {"$tuple": tuple, "$set": set, "$frozenset": frozenset}
        kind = kinds.get(marker)
        if kind is None:
            malformed(f"there is no marker {excerpt(marker)}")
        if len(value) != 1:
            malformed(f"{marker} stands alone")
        wire = value[marker]
        if type(wire) is not list:
            malformed(f"{marker} needs a list", wire)
        items: list[Any] = []
        if kind is not tuple:
            self.check_sizes(wire)
        # What is hashed must be complete, hence not soft.
        self._add_items(items, wire, soft and kind is tuple)
        return tuple(items) if kind is tuple else self.hashed(kind, items)

    def hashed(self, kind: type, items: list[object]) -> object:
        """Return the set of *items*, whose sizes have been checked.

        Args:
            kind: set or frozenset.
            items: The members.
        """
        for item in items:
            self.hashable(item)
        check_collisions(items)
        out: set[object] | frozenset[object] = self.guarded(kind, items)
        if len(out) != len(items):
            malformed(f"a {kind.__name__} needs distinct members")
        return out

    def guarded(self, put: Callable[..., Any], *args: object) -> Any:
        """Call what compares values that have one hash, which may raise anything.

        Args:
            put: Makes a set, or puts an entry into a dict.
            args: Its arguments.
        """
        try:
            return put(*args)
        except Exception as exc:
            msg = f"set members or dict keys can't be compared: {short(exc)}"
            raise UndecodableValueError(msg) from exc

    def check_sizes(self, members: list[object]) -> None:
        """Refuse set members or dict keys that are too large to be hashed.

        Args:
            members: They, as they stand in the document.
        """
        if self._sizes is None:
            by_identity = self.program.registry.hashed_by_identity()
            self._sizes = Sizes(self._wire, by_identity)
        for member in members:
            self._sizes.check(member)

    def hashable(self, value: object) -> Any:
        """Return *value* if it can be hashed."""
        try:
            hash(value)
        except Exception as exc:  # a user's __hash__ may raise anything
            name = type_name(type(value))
            msg = f"{with_article(name)} can't be a set member or dict key"
            raise UndecodableValueError(msg, type_name=name) from exc
        return value

    # Objects

    def instance(
        self, value: Any, slot: Objects | OneOf, known: Known | None = None
    ) -> Any:
        """Return the object that a map with ``$type`` stands for.

        Args:
            value: The piece of wire.
            slot: Where it stands.
            known: The functions met in this place so far, to be added to.
        """
        if self.settling and admits(slot, type(value)):
            return value
        if self.program.opaque and self.settling and type(value) is OpaqueNode:
            raise OpaqueOwner
        tag = value.get("$type") if type(value) is dict else None
        if type(tag) is not str:
            if isinstance(slot, OneOf):
                return self.rare.one_of(value, slot, "", soft=False)
            return self.rare.refuse(value, slot)
        if tag == "$ref":
            out = self.ref(value)
            if isinstance(out, slot.bases):
                return out
        elif tag == "$reader":
            out = self.rare.reader(value, "")
        else:
            out = self._tagged(tag, value, slot, known)
        if not admits(slot, type(out)):
            if type(out) is OpaqueNode:
                raise OpaqueOwner
            name = type_name(type(out))
            msg = f"{with_article(name)} stands where {describe(slot)} belongs"
            raise UndecodableValueError(msg, tag=tag, type_name=name)
        return out

    def _tagged(
        self, tag: str, value: Wire, slot: Objects | OneOf, known: Known | None
    ) -> Any:
        made = self.evolving.made(value)
        if made is not None:
            return made
        read = self.program.reader(tag)
        if read is None:
            if self.program.opaque:
                return self.evolving.opaque(value)
            raise unknown_tag(tag)
        shape = self.program.registry.by_tag(tag)
        if known is not None and shape is not None and admits(slot, shape.cls):
            known[tag] = read
        return read(value, self)

    def own(self, hook: Callable[[Any], object], value: Any, cls: type | None) -> Any:
        """Return what a user's function makes of a value that its pair gave.

        Args:
            hook: The function.
            value: The untyped slot with the value.
            cls: The class that must come out, if one must.
        """
        given = self.untyped(value)
        try:
            with self.program.hooks.calling():
                out = hook(given)
        except GraphCodecError:
            raise
        except Exception as exc:  # a user's function may raise anything
            raise self.invalid(exc, cls or type(given)) from exc
        if cls is not None and not isinstance(out, cls):
            name = type_name(cls)
            msg = f"the decoder of {name} gave a {type_name(type(out))}"
            raise UndecodableValueError(msg, type_name=name)
        return out

    def invalid(self, exc: Exception, cls: type) -> UndecodableValueError:
        """Return the error for a constructor or function that refuses its data."""
        name = type_name(cls)
        msg = f"{name} refuses its data: {type(exc).__name__}: {short(exc)}"
        path = getattr(exc, "path", "")
        return UndecodableValueError(msg, type_name=name, path=path)

    # The path, in the careful build

    def enter(self, step: Step) -> None:
        """Add a step to the path."""
        self.steps.append(step)

    def leave(self, _: None, value: object) -> object:
        """Take the last step back and return *value*."""
        self.steps.pop()
        return value
