"""From a document to a graph: the state of one call.

Nodes are decoded in order, children first, then the root. A reference backwards finds
an object; one forwards, or to the node that is being decoded, closes a cycle:

* if a list, dict, deque or instance of a mutable class stands there, it is made empty
  now and filled when its own turn comes;
* else the nearest owner that can wait is made empty and filled once all nodes exist;
* else the document has a cycle that nothing could rebuild, and is refused.

Each piece is decoded at most twice, so hostile references cost no more than their size.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NoReturn
from uuid import UUID

from graphcodec._document import Sizes
from graphcodec._limits import exceeded
from graphcodec._live import type_name
from graphcodec._makers import Known, OpaqueOwner, ReadProgram, Unready
from graphcodec._marks import Mark
from graphcodec._paths import Step, excerpt, format_path
from graphcodec._registry import loaded_class
from graphcodec._shapes import IN_DICT, Field, Shape
from graphcodec._slots import (
    Member,
    Objects,
    OneOf,
    Row,
    Scalar,
    Sequence,
    Slot,
    Table,
)
from graphcodec._unknown import Kept, OpaqueNode, Shared
from graphcodec._values import (
    MARKERS,
    Wire,
    malformed,
    read_bare_datetime,
    read_bare_decimal,
    read_bare_uuid,
    read_marker,
)
from graphcodec._write import describe
from graphcodec.errors import (
    UndecodableValueError,
    VersionError,
)
from graphcodec.readers._contracts import Reader, ReaderDescriptor

if TYPE_CHECKING:
    from graphcodec._limits import Limits
    from graphcodec._resolving import Resolvers

_BARE: Final[dict[type, Callable[[object], object]]] = {
    datetime: read_bare_datetime,
    UUID: read_bare_uuid,
    Decimal: read_bare_decimal,
}
_ATOMS: Final = frozenset({str, int, float, bool, type(None), bytes})
_MARKS: Final = {int: "$int", float: "$float", str: "$str"}
_ANYTHING: Final = Objects((object,))


class _Times(dict[str, datetime]):
    """The times of one document by their text: few differ, so each is parsed once."""

    def __missing__(self, text: Any) -> datetime:
        with suppress(ValueError, TypeError):
            usual = datetime.fromisoformat(text)
            # Our own spelling needs no pattern.
            if usual.tzinfo and usual.isoformat("T", "microseconds") == text:
                self[text] = usual
                return usual
        out = _bare(datetime, text)
        if type(out) is not datetime or type(text) is not str:
            malformed("a time belongs here", text)
        self[text] = out
        return out


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
        self.times = _Times()
        self.jobs: list[Callable[[], None]] = []
        self.shells: dict[int, Any] = {}
        self._program = program
        self._resolvers = resolvers
        self._limits = limits
        self._wire = nodes
        self._nodes: list[Any] = []
        self._owners: list[tuple[Any, list[tuple[str, Any]]]] = []
        self._binary = binary
        self._unknown_fields = unknown_fields
        self._sizes: Sizes | None = None
        self._settling = 0
        self._fillings = 0
        self._steps: list[Step] = []

    # The whole document

    def root(self, wire: object) -> object:
        """Decode all nodes, then the root, and return it.

        Args:
            wire: What stands at ``root``.
        """
        nodes = self._nodes
        for number, node in enumerate(self._wire):
            self._steps.clear()
            nodes.append(self._node(node, number))
        if self.jobs and not self._program.careful:
            raise Unready
        for job in self.jobs:
            job()
        self._steps.clear()
        if type(wire) is dict and "$type" in wire:
            out = self.object(wire, _ANYTHING)
        else:
            out = self.untyped(wire, soft=True)
        for obj, fields in self._owners:
            self._look_again(obj, fields)
        return out

    @property
    def current(self) -> int | None:
        """The number of the node that is being decoded; None for the root."""
        number = len(self._nodes)
        return number if number < len(self._wire) else None

    def _node(self, wire: Any, number: int) -> object:
        try:
            if type(wire) is dict and type(tag := wire.get("$type")) is str:
                read = self._program.reader(tag)
                if read is not None:
                    return read(wire, self, number)
                if tag == "$ref":
                    malformed("a node can't be a reference", tag)
                if tag != "$reader" and self._program.opaque:
                    return self.opaque(wire, number)
            elif type(wire) is list:
                return self._fill_list(self.shells.setdefault(number, []), wire, True)
            elif type(wire) is dict and (kind := _shell_kind(wire)) is not None:
                shell = self.shells.setdefault(number, _empty(kind, wire))
                return self._fill(shell, wire, soft=True)
            return self.walk(wire, soft=True)
        except Unready:
            msg = "a reference to something that can't exist before this node does"
            raise UndecodableValueError(msg) from None

    # References

    def _ref(self, wire: Wire) -> object:
        number = wire.get("n")
        if type(number) is not int or len(wire) != 2:  # noqa: PLR2004
            malformed("a reference needs one int, n", number)
        if 0 <= number < len(self._nodes):
            return self._nodes[number]
        if not 0 <= number < len(self._wire):
            total = len(self._wire)
            malformed(f"a reference needs a number from 0 to {total - 1}", number)
        return self._early(number)

    def _early(self, number: int) -> object:
        """Return the empty form of a node whose turn has not come."""
        if number in self.shells:
            return self.shells[number]
        wire = self._wire[number]
        shell: object
        if type(wire) is list:
            shell = []
        elif type(wire) is dict and (kind := _shell_kind(wire)) is not None:
            shell = _empty(kind, wire)
        else:
            shell = self._empty_object(wire)
        self.shells[number] = shell
        return shell

    def _empty_object(self, wire: Any) -> object:
        tag = wire.get("$type") if type(wire) is dict else None
        shape = self._program.registry.by_tag(tag) if type(tag) is str else None
        if shape is None and self._program.opaque and type(tag) is str:
            if not tag.startswith("$"):
                return OpaqueNode.__new__(OpaqueNode)
        if shape is None or not shape.mutable:
            raise Unready
        if self._program.hooks.structure(shape) is not None:
            raise Unready
        return shape.cls.__new__(shape.cls)

    def later(
        self, read: Callable[..., Any], wire: Wire, cls: type, node: int | None
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
        if type(value) is dict and "$any" in value and not self._settling:
            if len(value) != 1:
                malformed("$any stands alone", next(k for k in value if k != "$any"))
            inner = value["$any"]
            if type(inner) is dict and type(tag := inner.get("$type")) is str:
                read = self._program.by_tag.get(tag)
                if read is not None:
                    return read(inner, self)
            return self.walk(inner, soft)
        if self._binary and not self._settling:
            _require_plain(value)
        return value

    def walk(self, value: Any, soft: bool = False) -> object:
        """Return what a piece of wire inside ``$any`` stands for.

        Args:
            value: The piece.
            soft: Whether containers may be filled after their owner was made.
        """
        kind = type(value)
        if kind in _ATOMS:
            return value
        if kind is list:
            return self._fill_list([], value, soft)
        if kind is not dict:
            malformed("MessagePack has only plain values here", value)
        if "$type" in value:
            return self.object(value, _ANYTHING)
        shell = _shell_kind(value)
        if shell is not None:
            return self._fill(_empty(shell, value), value, soft)
        marker = next((k for k in value if k[:1] == "$"), "")
        if marker in MARKERS:
            return read_marker(marker, value)
        return self._frozen(marker, value, soft)

    def _fill(self, out: Any, wire: Wire, soft: bool) -> object:
        """Fill an empty dict or deque from its wire."""
        if "$deque" in wire:
            return self._fill_list(out, wire["$deque"], soft)
        steps = len(self._steps)
        try:
            if "$dict" in wire:
                self._fill_pairs(out, wire["$dict"], soft)
            else:
                for key, value in wire.items():
                    self._steps.append(key)
                    out[key] = self.walk(value, soft)
                    self._steps.pop()
        except Unready:
            if not soft:
                raise
            del self._steps[steps:]
            out.clear()
            self.jobs.append(lambda: self._refill(out, wire))
        return out

    def _refill(self, out: Any, wire: Any) -> None:
        if type(wire) is list:
            self._fill_list(out, wire, False)
        else:
            self._fill(out, wire, False)

    def _fill_list(self, out: Any, items: Any, soft: bool) -> object:
        if type(items) is not list:
            malformed("a sequence needs a list", items)
        steps = len(self._steps)
        try:
            self._add_items(out, items, soft)
        except Unready:
            if not soft:
                raise
            del self._steps[steps:]
            out.clear()
            self.jobs.append(lambda: self._refill(out, items))
        return out

    def _add_items(self, out: Any, items: list[Any], soft: bool) -> None:
        for index, item in enumerate(items):
            self._steps.append(index)
            out.append(self.walk(item, soft))
            self._steps.pop()

    def _fill_pairs(self, out: dict[Any, Any], pairs: Any, soft: bool) -> None:
        for key, value in self._split(pairs):
            # What is hashed must be complete, hence not soft.
            name = self._hashable(key, self.walk(key))
            self._steps.append(excerpt(name))
            out[name] = self.walk(value, soft)
            self._steps.pop()
        if len(out) != len(pairs):
            malformed("$dict needs distinct keys", None)

    def _split(self, pairs: Any) -> Iterable[tuple[Any, Any]]:
        if type(pairs) is not list:
            malformed("$dict needs a list of pairs", pairs)
        for pair in pairs:
            if type(pair) is not list or len(pair) != 2:  # noqa: PLR2004
                malformed("$dict needs [key, value] pairs", pair)
            yield pair[0], pair[1]

    def _frozen(self, marker: str, value: Wire, soft: bool) -> object:
        """Return the value of a marker for something that must be complete."""
        if marker == "$enum":
            return self._enum(value)
        kinds: dict[str, type] = {"$tuple": tuple, "$set": set, "$frozenset": frozenset}
        kind = kinds.get(marker)
        if kind is None or len(value) != 1:
            malformed("expected a marker that stands alone", marker)
        wire = value[marker]
        if type(wire) is not list:
            malformed(f"{marker} needs a list", wire)
        items: list[Any] = []
        # What is hashed must be complete, hence not soft.
        self._add_items(items, wire, soft and kind is tuple)
        return tuple(items) if kind is tuple else self._hashed(kind, wire, items)

    def _hashed(self, kind: type, wire: list[object], items: list[object]) -> object:
        members = {
            self._hashable(*pair): None for pair in zip(wire, items, strict=True)
        }
        if len(members) != len(items):
            malformed(f"a {kind.__name__} needs distinct members", None)
        return kind(items)

    def _hashable(self, wire: object, value: object) -> Any:
        """Return *value* if it can be hashed at a cost that is bounded."""
        if self._sizes is None:
            by_identity = self._program.registry.hashed_by_identity()
            self._sizes = Sizes(self._wire, by_identity)
        self._sizes.check(wire)
        try:
            hash(value)
        except Exception as exc:  # a user's __hash__ may raise anything
            name = type_name(type(value))
            msg = f"a {name} can't be a set member or dict key"
            raise UndecodableValueError(msg, type_name=name) from exc
        return value

    def _enum(self, wire: Wire) -> object:
        tag = wire["$enum"]
        shape = self._program.registry.by_tag(tag) if type(tag) is str else None
        if shape is None or not issubclass(shape.cls, enum.Enum):
            raise self._unknown_tag(tag)
        match wire:
            case {"name": str(name)} if len(wire) == 2:  # noqa: PLR2004
                if name in shape.cls.__members__:
                    return shape.cls[name]
            case {"value": int(value)} if len(wire) == 2:  # noqa: PLR2004
                return self.member(value, Member(shape.cls))
        msg = f"{shape.mark.tag} has no such member"
        return malformed(msg, wire.get("name", wire.get("value")))

    # Objects

    def object(
        self, value: Any, slot: Objects | OneOf, known: Known | None = None
    ) -> Any:
        """Return the object that a map with ``$type`` stands for.

        Args:
            value: The piece of wire.
            slot: Where it stands.
            known: The functions met in this place so far, to be added to.
        """
        if self._settling and self._fits(value, slot):
            return value
        tag = value.get("$type") if type(value) is dict else None
        if tag == "$ref":
            # What most references are: backwards, and to the right thing.
            number = value.get("n")
            if type(number) is int and 0 <= number < len(self._nodes):
                out = self._nodes[number]
                if isinstance(out, slot.bases) and len(value) == 2:  # noqa: PLR2004
                    return out
        if type(tag) is not str:
            return self._no_object(value, slot)
        if tag == "$ref":
            out = self._ref(value)
        elif tag == "$reader":
            out = self.reader(value, "")
        else:
            out = self._tagged(tag, value, slot, known)
        if not self._fits(out, slot):
            if type(out) is OpaqueNode:
                raise OpaqueOwner
            name = type_name(type(out))
            msg = f"a {name} stands where {describe(slot)} belongs"
            raise UndecodableValueError(msg, tag=tag, type_name=name)
        return out

    def _tagged(
        self, tag: str, value: Wire, slot: Objects | OneOf, known: Known | None
    ) -> Any:
        read = self._program.reader(tag)
        if read is None:
            if self._program.opaque:
                return self.opaque(value)
            raise self._unknown_tag(tag)
        shape = self._program.registry.by_tag(tag)
        if known is not None and shape is not None and _admits(slot, shape.cls):
            known[tag] = read
        return read(value, self)

    def _fits(self, value: object, slot: Slot) -> bool:
        return _admits(slot, type(value))

    def _no_object(self, value: Any, slot: Slot) -> Any:
        if isinstance(slot, OneOf):
            return self.one_of(value, slot, "", soft=False)
        return self.refuse(value, slot)

    def _unknown_tag(self, tag: object) -> UndecodableValueError:
        msg = f"the tag {excerpt(tag)} is unknown to this codec"
        if type(tag) is not str:
            return UndecodableValueError(msg)
        cls = loaded_class(tag)
        hint = "register its class: Codec(types={tag: cls}), or unknown_types='keep'"
        if cls is not None:
            hint = (
                f"{type_name(cls)} is marked with it and loaded: decode with a codec"
                f" that knows it, Codec(types=[{cls.__name__}])"
            )
        return UndecodableValueError(msg, tag=tag[:80], hint=hint)

    def reader(self, value: Any, family: str) -> Reader:
        """Return a reader, made by a resolver and not opened.

        Args:
            value: The piece of wire.
            family: ``media`` or ``spool``; empty where either may stand.
        """
        if self._settling and isinstance(value, Reader):
            return value
        kind = value.get("$type") if type(value) is dict else None
        if kind == "$ref":
            found = self._ref(value)
            if isinstance(found, Reader):
                return found
        elif kind == "$reader" and len(value) == 3:  # noqa: PLR2004
            tag, locator = value.get("tag"), value.get("locator")
            if type(tag) is str and type(locator) is dict:
                return self._resolve(tag, locator, family)
        return malformed("a reader belongs here", value)

    def _resolve(self, tag: str, locator: Wire, family: str) -> Reader:
        own, colon, scheme = tag.partition(":")
        if not colon or own not in ("media", "spool") or (family and own != family):
            wanted = f"{family}:" if family else "media: or spool:"
            malformed(f"the tag of this reader must begin with {wanted}", tag)
        if self._binary:
            _require_plain(locator)
        if scheme == "in-memory":
            self._check_inline(locator)
        descriptor = ReaderDescriptor(scheme, locator)  # type: ignore[arg-type]
        return self._resolvers.resolve(tag, descriptor)

    def _check_inline(self, locator: Wire) -> None:
        text = locator.get("base64")
        size = len(text) * 3 // 4 - text[-2:].count("=") if isinstance(text, str) else 0
        if size > self._limits.max_inline_bytes:
            raise exceeded("max_inline_bytes", self._limits.max_inline_bytes, size)

    def own(self, hook: Callable[[Any], object], value: Any, cls: type | None) -> Any:
        """Return what a user's function makes of a value that its pair gave.

        Args:
            hook: The function.
            value: The untyped slot with the value.
            cls: The class that must come out, if one must.
        """
        given = self.untyped(value)
        try:
            with self._program.hooks.calling():
                out = hook(given)
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
        msg = f"{name} refuses its data: {type(exc).__name__}: {_short(exc)}"
        path = getattr(exc, "path", "")
        return UndecodableValueError(msg, type_name=name, path=path)

    def validated(self, cls: Any, table: Wire, shell: Any) -> object:
        """Return a pydantic model, made by its own validation."""
        target = cls.__new__(cls) if shell is None else shell
        cls.__pydantic_validator__.validate_python(
            table, self_instance=target, by_alias=False, by_name=True
        )
        return target

    # Maps that are not usual

    def uneven(self, wire: Wire, shape: Shape, node: int | None = None) -> Any:
        """Return the object of a map that has not exactly the fields of its class.

        Args:
            wire: The map.
            shape: Its class.
            node: The number of the node that it is, if it is one.
        """
        mark = shape.mark
        version = wire.get("$v", 1)
        if type(version) is not int or version < 1:
            malformed(f"the version of {mark.tag} must be an int from 1", version)
        if version > mark.version:
            return self._newer(wire, mark, version)
        if self._program.hooks.structure(shape) is not None:
            return malformed(f"{mark.tag} needs $value and nothing else", None)
        if version < mark.version and mark.upgrades:
            return self._upgraded(wire, shape, version, node)
        given = {k: v for k, v in wire.items() if k not in ("$type", "$v")}
        return self._from_fields(given, shape, node)

    def _newer(self, wire: Wire, mark: Mark, version: int) -> OpaqueNode:
        if self._program.opaque:
            return self.opaque(wire)
        msg = f"{mark.tag} was written at version {version}; this codec reads {mark.version}"
        hint = "update the reader, or use unknown_types='keep'"
        raise VersionError(msg, tag=mark.tag, value=version, hint=hint)

    def _upgraded(
        self, wire: Wire, shape: Shape, version: int, node: int | None
    ) -> Any:
        mark = shape.mark
        if version not in mark.upgrades:
            oldest = min(mark.upgrades)
            msg = f"{mark.tag} was written at version {version}; the upgrades start at {oldest}"
            raise VersionError(msg, tag=mark.tag, value=version)
        fields = {
            key: self._natural(value)
            for key, value in wire.items()
            if key not in ("$type", "$v")
        }
        for step in range(version, mark.version):
            try:
                fields = mark.upgrades[step](fields)
            except Exception as exc:  # a user's function may raise anything
                raise self.invalid(exc, shape.cls) from exc
        self._settling += 1
        try:
            return self._from_fields(fields, shape, node)
        finally:
            self._settling -= 1

    def _from_fields(
        self, given: dict[str, object], shape: Shape, node: int | None
    ) -> Any:
        """Make an object from the fields that are there."""
        soft = False
        values: dict[str, object] = {}
        for item in shape.fields:
            if item.key in given:
                read = self._program.place(item.slot, shape.family, soft=soft)
                self._steps.append(item.key)
                values[item.name] = read(given[item.key], self)
                self._steps.pop()
            elif item.required:
                msg = f"{shape.mark.tag} lacks its field {item.key!r}"
                hint = "give the field a default, or an upgrade"
                raise UndecodableValueError(msg, tag=shape.mark.tag, hint=hint)
        known = {item.key for item in shape.fields}
        unknown = {k: v for k, v in given.items() if k not in known}
        out = self._construct(values, shape, node)
        if unknown and self._unknown_fields != "ignore":
            self._keep(out, unknown, shape)
        return out

    def _construct(self, values: Wire, shape: Shape, node: int | None) -> Any:
        cls: Any = shape.cls
        shell = None if node is None else self.shells.pop(node, None)
        table = {
            item.argument: values[item.name]
            for item in shape.fields
            if item.argument is not None and item.name in values
        }
        try:
            out = self._call(cls, shape.kind, table, shell)
        except Exception as exc:  # a constructor may raise anything
            raise self.invalid(exc, cls) from exc
        for item in shape.fields:
            if item.argument is None and item.name in values:
                object.__setattr__(out, item.name, values[item.name])
        return out

    def _call(self, cls: Any, kind: str, table: Any, shell: Any) -> Any:
        match kind:
            case "pydantic":
                return self.validated(cls, table, shell)
            case "struct":
                from msgspec import convert

                return convert(table, cls)
            case _ if shell is None:
                return cls(**table)
            case _:
                cls.__init__(shell, **table)
                return shell

    def _keep(self, out: Any, unknown: dict[str, object], shape: Shape) -> None:
        name = next(iter(unknown))
        if self._unknown_fields == "raise" or shape.extra is None:
            why = "" if shape.extra else ", and its class has no place to keep one"
            msg = f"{shape.mark.tag} has the unknown field {excerpt(name)}{why}"
            hint = "use unknown_fields='ignore', or declare one with graphcodec.extra()"
            raise UndecodableValueError(msg, tag=shape.mark.tag, hint=hint)
        kept = {key: self.kept(value) for key, value in unknown.items()}
        if shape.extra == IN_DICT:
            out.__dict__[IN_DICT] = kept
        elif shape.kind == "pydantic":
            out.__pydantic_extra__.update(kept)
        else:
            object.__setattr__(out, shape.extra, kept)

    # What is kept

    def opaque(self, wire: Wire, node: int | None = None) -> OpaqueNode:
        """Return the stand-in for an object whose class is not known.

        Args:
            wire: Its map.
            node: The number of the node that it is, if it is one.
        """
        tag, version = wire["$type"], wire.get("$v", 1)
        if type(tag) is not str or type(version) is not int:
            malformed("an object needs a tag and a version", version)
        fields = {
            key: self.kept(value)
            for key, value in wire.items()
            if key not in ("$type", "$v")
        }
        shell = None if node is None else self.shells.pop(node, None)
        if shell is None:
            return OpaqueNode(tag, version, fields)
        if type(shell) is not OpaqueNode:
            malformed("an object of unknown type is part of a cycle", tag)
        OpaqueNode.__init__(shell, tag, version, fields)
        return shell

    def kept(self, wire: Any) -> object:
        """Return a value that can be written back as it came.

        Args:
            wire: The piece of wire.
        """
        if type(wire) is dict and "$any" in wire and len(wire) == 1:
            return self.walk(wire["$any"])
        if type(wire) in _ATOMS and type(wire) is not bytes:
            return wire
        tree = self._tree(wire)
        return tree if tree is wire else Kept(tree)

    def _tree(self, wire: Any) -> Any:
        """Return *wire* with its objects decoded; *wire* itself if it is plain."""
        if type(wire) is list:
            items = [self._tree(item) for item in wire]
            same = all(new is old for new, old in zip(items, wire, strict=True))
            return wire if same else items
        if type(wire) is not dict:
            if type(wire) not in _ATOMS:
                malformed("MessagePack has only plain values here", wire)
            return wire
        if type(wire.get("$type")) is str:
            out = self.object(wire, _ANYTHING)
            container = type(out) in (list, dict, tuple, set, frozenset, deque)
            return Shared(out) if container else out
        table: Wire = {}
        for key, value in wire.items():
            if type(key) is not str:
                malformed("a map needs text keys", key)
            table[key] = self._tree(value)
        marked = any(key[:1] == "$" for key in table)
        same = not marked and all(table[key] is wire[key] for key in wire)
        return wire if same else table

    def _natural(self, wire: Any) -> object:
        """Return the value of a field whose slot is not known, for an upgrade."""
        if type(wire) is dict and any(k[:1] == "$" for k in wire if type(k) is str):
            return self.walk(wire.get("$any", wire))
        if type(wire) is list:
            return [self._natural(item) for item in wire]
        if type(wire) is dict:
            return {key: self._natural(value) for key, value in wire.items()}
        return wire

    # Rarer slots

    def refuse(self, value: object, slot: Slot) -> NoReturn:
        """Raise the error for something that does not belong into *slot*."""
        return malformed(f"{describe(slot)} belongs here", value)

    def scalar(self, value: Any, slot: Scalar) -> object:
        """Return a scalar that is not of the usual form.

        Args:
            value: The piece of wire.
            slot: Where it stands.
        """
        cls = slot.cls
        if type(value) is cls and (self._settling or cls in _ATOMS):
            return value
        if cls is float and type(value) is int:
            with suppress(OverflowError):
                if float(value) == value:
                    return float(value)
        if type(value) is str and cls in _BARE:
            return self.times[value] if cls is datetime else _bare(cls, value)
        if type(value) is dict:
            marker = next((k for k in value if type(k) is str and k[:1] == "$"), "")
            if marker in MARKERS and issubclass(cls, MARKERS[marker][0]):
                out = read_marker(marker, value)
                if type(out) is cls:
                    return out
        self.refuse(value, slot)

    def member(self, value: Any, slot: Member) -> object:
        """Return an Enum member that is not among the named ones."""
        if type(value) is slot.cls and self._settling:
            return value
        if issubclass(slot.cls, enum.Flag) and type(value) is int:
            with suppress(ValueError):
                return slot.cls(value)
        return malformed(f"{describe(slot)} belongs here", value)

    def one_of(self, value: Any, slot: OneOf, family: str, soft: bool) -> object:
        """Return a value of a union that is not of the usual form."""
        kind = type(value)
        if kind in slot.scalars:
            return value
        if kind is int and float in slot.scalars:
            return self.scalar(value, Scalar(float))
        if kind is dict:
            for cls, marker in _MARKS.items():
                if cls in slot.scalars and marker in value:
                    return self.scalar(value, Scalar(cls))
        if slot.other is None or isinstance(slot.other, Objects):
            if self._settling and self._fits(value, slot):
                return value
            self.refuse(value, slot)
        return self._program.place(slot.other, family, soft=soft)(value, self)

    def typed(self, value: Any, slot: Slot, family: str, soft: bool) -> object:
        """Return a container of a typed slot.

        Args:
            value: The piece of wire.
            slot: Where it stands.
            family: The family of the readers in it.
            soft: Whether it may be filled after its owner was made.
        """
        match slot:
            case Row(items=slots):
                items = self._listed(value, slot, len(slots))
                return tuple(
                    self._placed(index, part, item, family, soft=False)
                    for index, (part, item) in enumerate(zip(slots, items, strict=True))
                )
            case Sequence(kind=kind):
                return self._sequence(kind, value, slot, family, soft)
            case Table():
                return self._table(value, slot, family, soft)
            case _:
                return self.refuse(value, slot)

    def _listed(self, value: Any, slot: Slot, length: int | None = None) -> list[Any]:
        if self._settling and isinstance(value, (tuple, set, frozenset, deque)):
            value = list(value)
        if type(value) is not list or length not in (None, len(value)):
            self.refuse(value, slot)
        return value

    def _placed(
        self, step: Step, slot: Slot, value: object, family: str, *, soft: bool
    ) -> object:
        read = self._program.place(slot, family, soft=soft)
        self._steps.append(step)
        out = read(value, self)
        self._steps.pop()
        return out

    def _sequence(
        self, kind: type, value: Any, slot: Sequence, family: str, soft: bool
    ) -> object:
        longest = None
        if kind is deque and type(value) is dict and "$deque" in value:
            longest, value = _maxlen(value), value["$deque"]
        items = self._listed(value, slot)
        late = soft and kind in (list, deque)

        def fill(out: Any) -> Any:
            for index, item in enumerate(items):
                out.append(self._placed(index, slot.item, item, family, soft=late))
            return out

        if late:
            return self._patient(deque([], longest) if kind is deque else [], fill)
        out = fill([])
        if kind in (set, frozenset):
            return self._hashed(kind, items, out)
        return deque(out, longest) if kind is deque else kind(out)

    def _patient(self, out: Any, fill: Callable[[Any], Any]) -> object:
        """Fill *out* now, or when all nodes exist."""
        steps = len(self._steps)
        try:
            return fill(out)
        except Unready:
            del self._steps[steps:]
            out.clear()
            self.jobs.append(lambda: fill(out))
            return out

    def _table(self, value: Any, slot: Table, family: str, soft: bool) -> object:
        if type(value) is not dict:
            self.refuse(value, slot)
        bare = "$dict" not in value
        if not bare and len(value) != 1:
            malformed("$dict stands alone", None)
        if bare and any(type(k) is not str or k[:1] == "$" for k in value):
            malformed("a dict in a typed slot has no bare keys that begin with $", None)

        def fill(out: Any) -> Any:
            pairs = list(value.items() if bare else self._split(value["$dict"]))
            for key, item in pairs:
                name = self._placed(excerpt(key), slot.key, key, family, soft=False)
                self._hashable(key, name)
                out[name] = self._placed(str(name), slot.value, item, family, soft=soft)
            if len(out) != len(pairs):
                malformed("$dict needs distinct keys", None)
            return out

        return self._patient({}, fill) if soft else fill({})

    # The path, in the careful build

    def enter(self, step: Step) -> None:
        """Add a step to the path."""
        self._steps.append(step)

    def leave(self, _: None, value: object) -> object:
        """Take the last step back and return *value*."""
        self._steps.pop()
        return value

    def steps(self) -> list[Step]:
        """Return the steps from the current node, or the root, to where it failed."""
        return self._steps


def _bare(cls: type, value: object) -> object:
    """Return the scalar that text stands for in a slot of its type."""
    try:
        return _BARE[cls](value)
    except UndecodableValueError:
        raise
    except (ValueError, ArithmeticError) as exc:
        msg = f"{excerpt(value)} is no {cls.__name__}: {_short(exc)}"
        raise UndecodableValueError(msg, type_name=cls.__name__) from exc


def _shell_kind(wire: Wire) -> type | None:
    """Return the mutable container that a map stands for, if it stands for one."""
    if "$dict" in wire:
        return dict
    if "$deque" in wire:
        return deque
    for key in wire:
        if type(key) is not str:
            malformed("a map needs text keys", key)
        if key[:1] == "$":
            return None
    return dict


def _empty(kind: type, wire: Wire) -> Any:
    if kind is deque:
        return deque([], _maxlen(wire))
    if "$dict" in wire and len(wire) != 1:
        malformed("$dict stands alone", None)
    return {}


def _maxlen(wire: Wire) -> int | None:
    longest = wire.get("maxlen")
    if len(wire) > 2 or not (longest is None or type(longest) is int and longest >= 0):  # noqa: PLR2004
        malformed("$deque needs a maxlen of None or an int from 0", longest)
    items = wire["$deque"]
    if type(items) is list and longest is not None and len(items) > longest:
        malformed("$deque has more items than its maxlen", longest)
    return longest


def _admits(slot: Slot, cls: type) -> bool:
    match slot:
        case Objects(bases=bases):
            return issubclass(cls, bases)
        case OneOf(scalars=scalars, other=other):
            return cls in scalars or (other is not None and _admits(other, cls))
        case _:
            return False


def _require_plain(value: Any) -> None:
    """Refuse what MessagePack can hold and JSON can't, where no marker may stand."""
    stack = [value]
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind is list:
            stack.extend(item)
        elif kind is dict:
            for key in item:
                if type(key) is not str:
                    malformed("a map needs text keys", key)
            stack.extend(item.values())
        elif kind is bytes or kind not in _ATOMS:
            malformed("a plain slot of MessagePack holds what JSON can hold", item)


def _short(exc: Exception) -> str:
    text = str(exc).partition("\n")[0]
    return text if len(text) <= 160 else f"{text[:159]}…"  # noqa: PLR2004


def node_prefix(path: Iterable[Step], steps: Iterable[Step]) -> str:
    """Return the path of a place inside a node."""
    return format_path([*path, *steps])


__all__ = ["ReadCall", "node_prefix", "Field"]
