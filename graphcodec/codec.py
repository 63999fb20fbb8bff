"""The codec: graphs to bytes, and back."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from types import UnionType
from typing import Any, Final, Literal, TypeAlias, TypeVar, overload

import attrs

from graphcodec import _formats
from graphcodec._comparing import difference
from graphcodec._conforming import mismatch
from graphcodec._document import Document, Sizes, check_limits
from graphcodec._formats import Format
from graphcodec._hooks import CodecConverter, Hooks, install
from graphcodec._limits import Limits, exceeded
from graphcodec._live import type_name
from graphcodec._makers import OpaqueOwner, ReadProgram, Unready
from graphcodec._marks import Upgrade, mark_of
from graphcodec._ordering import order_nodes
from graphcodec._paths import format_path
from graphcodec._read import ReadCall
from graphcodec._registry import TypeRegistry
from graphcodec._resolving import Resolvers
from graphcodec._slots import (
    SCALARS,
    UNTYPED,
    Objects,
    OneOf,
    ReaderPlace,
    Scalar,
    slot_of,
)
from graphcodec._write import WriteCall, describe
from graphcodec._writers import WriteProgram
from graphcodec.errors import (
    GraphCodecError,
    InvalidValueError,
    LimitExceededError,
    RoundTripError,
    UndecodableValueError,
    UnencodableValueError,
)
from graphcodec.readers._contracts import Resolver

T = TypeVar("T")
Data: TypeAlias = bytes | bytearray | memoryview | str
Types: TypeAlias = Iterable[type] | Mapping[str, type]

# What the fast build may raise for data that only the careful build understands.
_RETRIED: Final = (
    GraphCodecError,
    RecursionError,
    RuntimeError,
    UnicodeEncodeError,
    OverflowError,
    AttributeError,
    TypeError,
    KeyError,
)


@attrs.frozen(kw_only=True)
class _Options:
    """How a codec was made, so that it can be made again."""

    types: Mapping[str, type] | tuple[type, ...] = ()
    resolvers: tuple[Resolver, ...] = ()
    limits: Limits = attrs.field(factory=Limits)
    unknown_types: str = "raise"
    unknown_fields: str = "keep"
    references: str = "objects"
    format: Format = "json"
    builtin_resolvers: bool = True


_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "unknown_types": ("raise", "keep"),
    "unknown_fields": ("keep", "ignore", "raise"),
    "references": ("objects", "none"),
    "format": ("json", "msgpack"),
}


class _Programs:
    """The compiled functions for one state of the registry and the hooks."""

    def __init__(self, registry: TypeRegistry, hooks: Hooks, *, opaque: bool) -> None:
        self.generation = registry.generation
        self.write = WriteProgram(registry, hooks, "fast")
        self.write_carefully = WriteProgram(registry, hooks, "careful")
        self.read = ReadProgram(registry, hooks, "fast", opaque=opaque)
        self.read_carefully = ReadProgram(registry, hooks, "careful", opaque=opaque)


class Codec:
    """Writes graphs of primitives as bytes and reads them back.

    A codec is made once, in a module of its own, and used from any thread.

    Args:
        types: Classes to read beside the built-in ones: marked classes, or a mapping
            that gives tags to classes one does not own.
        resolvers: What re-opens handles, asked in this order before the built-in ones.
        limits: What one document may cost.
        unknown_types: What to do with a tag that no class is registered under:
            ``raise``, or ``keep`` it as an `OpaqueNode`.
        unknown_fields: What to do with a field that its class does not have: ``keep``
            it and write it back, ``ignore`` it, or ``raise``.
        references: ``objects`` keeps sharing and cycles; ``none`` writes a tree.
        format: What `encode` writes; `decode` recognises both.
        builtin_resolvers: Whether in-memory and public https handles work as they are.

    Raises:
        InvalidValueError: If an option or a class can't be used.
        DuplicateTagError: If two classes have one tag.
    """

    def __init__(
        self,
        *,
        types: Types = (),
        resolvers: Iterable[Resolver] = (),
        limits: Limits | None = None,
        unknown_types: Literal["raise", "keep"] = "raise",
        unknown_fields: Literal["keep", "ignore", "raise"] = "keep",
        references: Literal["objects", "none"] = "objects",
        format: Format = "json",  # noqa: A002 - the word that users know
        builtin_resolvers: bool = True,
    ) -> None:
        self._options = options = _Options(
            types=dict(types) if isinstance(types, Mapping) else tuple(types),
            resolvers=tuple(resolvers),
            limits=limits or Limits(),
            unknown_types=unknown_types,
            unknown_fields=unknown_fields,
            references=references,
            format=format,
            builtin_resolvers=builtin_resolvers,
        )
        _check_options(options)
        self._limits = options.limits
        self._registered: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
        self._registry = _builtin_registry().copy()
        self._resolvers = Resolvers(options.resolvers, builtin=builtin_resolvers)
        self._converter = CodecConverter(detailed_validation=False)
        self._hooks = Hooks(self._converter)
        self._programs = self._compile()
        configure_converter(self._converter, codec=self)
        self._converter.watch(self._customized, self._passes)
        self._add_types(options.types)

    def _add_types(self, types: Mapping[str, type] | tuple[type, ...]) -> None:
        if isinstance(types, Mapping):
            for tag, cls in types.items():
                self._registry.add(cls, tag)
        else:
            for cls in types:
                self._registry.add(cls)

    # The main job

    def encode(self, obj: object) -> bytes:
        """Return *obj*, and everything it refers to, as one document.

        Args:
            obj: A primitive, a registered object or any value that a graph may hold.

        Raises:
            UnencodableValueError: If something in it has no wire form; says what,
                where, and what to do instead.
            CyclicGraphError: If it has a cycle that nothing could rebuild.
            LimitExceededError: If it breaks a limit of this codec.
        """
        return self._encode(obj, self._options.format)

    def encode_text(self, obj: object) -> str:
        """Return what `encode` gives as JSON text, for JSON columns.

        Args:
            obj: See `encode`.
        """
        return self._encode(obj, "json").decode()

    def _encode(self, obj: object, format: Format) -> bytes:  # noqa: A002
        programs = self._current()
        try:
            return self._write(obj, programs.write, format)
        except _RETRIED:
            pass
        return self._write(obj, programs.write_carefully, format)

    def _write(self, obj: object, program: WriteProgram, format: Format) -> bytes:  # noqa: A002
        call = WriteCall(
            program,
            self._limits,
            binary=format == "msgpack",
            references=self._options.references == "objects",
        )
        wire = self._document(obj, call)
        data = _formats.write(wire, format)
        limits = self._limits
        if len(data) > limits.max_bytes:
            raise exceeded("max_bytes", limits.max_bytes, len(data), "$")
        check_limits(Document(wire, self._registry), len(data), limits)
        return data

    def _document(self, obj: object, call: WriteCall) -> dict[str, Any]:
        try:
            wire = call.document(obj)
            if not call.numbers:
                return self._sized(wire, call)
            if call.tangled:
                return self._sized(self._ordered(wire, call), call)
            return self._sized(_with_nodes(wire, call, call.finished_order()), call)
        except RecursionError:
            msg = "the stack of the caller leaves no room for the walk"
            hint = "call encode from a frame that is not so deep"
            raise LimitExceededError(msg, limit="nesting", hint=hint) from None
        except GraphCodecError as exc:
            raise exc.at(call.path())
        except RuntimeError as exc:
            if "during iteration" not in str(exc):
                raise
            msg = "something in the graph was changed while it was encoded"
            hint = "encode a copy, or keep other threads from changing it"
            raise UnencodableValueError(msg, path=call.path(), hint=hint) from exc

    def _ordered(self, wire: dict[str, Any], call: WriteCall) -> dict[str, Any]:
        """Number the nodes of a deep or cyclic graph so that children come first."""
        anyhow = _with_nodes(wire, call, list(range(len(call.references))))
        order = order_nodes(Document(anyhow, self._registry))
        nodes = [anyhow["nodes"][number] for number in order]
        call.renumber(order)
        return {"graphcodec": 1, "nodes": nodes, "root": anyhow["root"]}

    def _sized(self, wire: dict[str, Any], call: WriteCall) -> dict[str, Any]:
        if call.hashed:
            by_identity = self._registry.hashed_by_identity()
            sizes = Sizes(wire.get("nodes", []), by_identity)
            for member in call.hashed:
                sizes.check(member)
        return wire

    @overload
    def decode(self, data: Data) -> object: ...
    @overload
    def decode(self, data: Data, cls: type[T]) -> T: ...
    @overload
    def decode(self, data: Data, cls: UnionType) -> Any: ...
    def decode(self, data: Data, cls: Any = object) -> Any:
        """Return the graph that a document holds.

        Nothing is imported, called or opened because the document says so; handles
        come back as readers that open when they are asked to.

        Args:
            data: A document in either format.
            cls: What must come out: any annotation of classes, lists, tuples, dicts
                and unions.

        Raises:
            UndecodableValueError: If it is no document, or does not hold what it
                should; says where.
            VersionError: If an object was written by a newer version of its class.
            NoReaderResolverError: If nobody can re-open a handle in it.
            LimitExceededError: If it breaks a limit of this codec.
        """
        data = _as_bytes(data)
        if len(data) > self._limits.max_bytes:
            raise exceeded("max_bytes", self._limits.max_bytes, len(data), "$")
        wire = _formats.read(data)
        check_limits(Document(wire, self._registry), len(data), self._limits)
        out = self._read(wire, binary=_formats.is_binary(data))
        if cls is not object:
            self._require(out, cls)
        return out

    def _read(self, wire: dict[str, Any], *, binary: bool) -> object:
        programs = self._current()
        try:
            return self._reading(wire, programs.read, binary=binary).root(wire["root"])
        except (*_RETRIED, OpaqueOwner, Unready):
            pass
        call = self._reading(wire, programs.read_carefully, binary=binary)
        try:
            return call.root(wire["root"])
        except RecursionError:
            msg = "the document nests deeper than the stack goes"
            raise LimitExceededError(msg, limit="nesting") from None
        except OpaqueOwner:
            msg = "an object of unknown type stands where it can't be kept"
            raise self._placed(UndecodableValueError(msg), wire, call) from None
        except InvalidValueError as exc:
            error = UndecodableValueError(
                exc.message, path=exc.path, hint=exc.hint, type_name=exc.type_name
            )
            raise self._placed(error, wire, call) from exc
        except GraphCodecError as exc:
            raise self._placed(exc, wire, call)

    def _placed(
        self, error: GraphCodecError, wire: dict[str, Any], call: ReadCall
    ) -> GraphCodecError:
        """Give *error* the path from the root, through nodes, to where it happened."""
        number = call.current
        before = (
            ()
            if number is None
            else Document(wire, self._registry).node_path(number)
        )
        error.path = format_path([*before, *call.steps()]) + error.path[1:]
        return error

    def _reading(
        self, wire: dict[str, Any], program: ReadProgram, *, binary: bool
    ) -> ReadCall:
        return ReadCall(
            program,
            self._resolvers,
            self._limits,
            wire.get("nodes", []),
            binary=binary,
            unknown_fields=self._options.unknown_fields,
        )

    def _require(self, out: object, cls: Any) -> None:
        slot = slot_of(cls, self._registry.is_object)
        if slot == UNTYPED and isinstance(cls, type):
            slot = Objects((cls,))
        found = mismatch(out, slot)
        if found is not None:
            steps, value, wanted = found
            name = type_name(type(value))
            msg = f"the document holds a {name} where {describe(wanted)} was asked for"
            raise UndecodableValueError(msg, path=format_path(steps), type_name=name)

    # Further questions

    def check(self, obj: object) -> None:
        """Verify that *obj* comes back as it is: types, values and sharing.

        Args:
            obj: See `encode`.

        Raises:
            RoundTripError: If it does not, with the path of the first difference.
            UnencodableValueError: If it can't even be encoded.
        """
        again = self.decode(self.encode(obj))
        found = difference(obj, again)
        if found is not None:
            steps, reason = found
            msg = f"the graph does not come back as it was: {reason}"
            hint = "make the constructor and its converters leave their own output alone"
            raise RoundTripError(msg, path=format_path(steps), hint=hint)

    def content_hash(self, obj: object) -> str:
        """Return SHA-256 over the canonical form of *obj*, in hexadecimal.

        Graphs of equal types, values and sharing have equal hashes, whatever the
        format and the process. For comparing, not for storing: the canonical form
        forgets the order of dicts.

        Args:
            obj: See `encode`.
        """
        return hashlib.sha256(self._canonical(obj, references=True)).hexdigest()

    def _canonical(self, obj: object, *, references: bool) -> bytes:
        def rank(member: object) -> bytes:
            tree = self._canonical(member, references=False)
            return hashlib.sha256(tree).digest()

        program = self._current().write_carefully
        call = WriteCall(
            program, self._limits, references=references, canonical=rank
        )
        return _formats.write_canonical(self._document(obj, call))

    def replace(self, **changes: Any) -> Codec:
        """Return a codec that differs in some options; classes registered later stay.

        Args:
            **changes: Options of the constructor.
        """
        options = {
            field.name: getattr(self._options, field.name)
            for field in attrs.fields(_Options)
        }
        new = Codec(**{**options, **changes})
        for args, kwargs in self._registered:
            new.register(*args, **kwargs)
        return new

    def __reduce__(self) -> tuple[object, ...]:
        if self._hooks.custom:
            msg = "a codec with hooks of its own can't be pickled; pass a factory"
            raise pickle.PicklingError(msg)
        return _remade, (self._options, self._registered)

    # Registration

    def register(
        self,
        cls: type[T],
        tag: str | None = None,
        *,
        version: int = 1,
        aliases: Iterable[str] = (),
        upgrades: Mapping[int, Upgrade] | None = None,
        replace: bool = False,
        encode: Callable[[T], object] | None = None,
        decode: Callable[[Any], T] | None = None,
    ) -> None:
        """Teach this codec to read and write a class.

        Args:
            cls: An attrs class, dataclass, Enum, pydantic model or msgspec Struct; any
                class if *encode* and *decode* are given.
            tag: Its name on the wire, with a dot; without one, the class must be marked.
            version: The version that is written.
            aliases: Further tags that are read.
            upgrades: For each older version, the step to the next one.
            replace: Take the tag over from another class.
            encode: Gives a value to write in place of the fields.
            decode: Takes that value back.

        Raises:
            DuplicateTagError: If the tag belongs to another class.
            InvalidValueError: If the class can't be read.
        """
        if (encode is None) is not (decode is None):
            msg = "encode and decode come together"
            raise InvalidValueError(msg, type_name=type_name(cls))
        functions = () if encode is None or decode is None else (encode, decode)
        self._registry.add(
            cls,
            tag,
            version=version,
            aliases=aliases,
            upgrades=upgrades,
            replace=replace,
            functions=functions,
        )
        options = {
            "version": version,
            "aliases": tuple(aliases),
            "upgrades": upgrades,
            "replace": True,
            "encode": encode,
            "decode": decode,
        }
        self._registered.append(((cls, tag), options))

    def register_resolver(self, resolver: Resolver) -> None:
        """Let *resolver* re-open handles; those given earlier are asked before it.

        Args:
            resolver: What takes descriptors with its tags.
        """
        self._resolvers.add(resolver)

    @property
    def converter(self) -> CodecConverter:
        """The cattrs converter: hooks registered here shape the wire."""
        return self._converter

    # The compiled functions

    def _compile(self) -> _Programs:
        opaque = self._options.unknown_types == "keep"
        return _Programs(self._registry, self._hooks, opaque=opaque)

    def _current(self) -> _Programs:
        if self._programs.generation != self._registry.generation:
            self._programs = self._compile()
        return self._programs

    def _customized(self) -> None:
        self._hooks.custom = True
        self._programs = self._compile()

    # What the converter's hooks do

    def _passes(self, value: object) -> bool:
        kind = type(value)
        return self._hooks.in_call and (self._knows(kind) or kind in SCALARS)

    def _knows(self, cls: type) -> bool:
        shape = self._registry.shape(cls)
        return shape is not None and shape.kind != "enum"

    def _is_ours(self, annotation: Any) -> bool:
        match slot_of(annotation, self._registry.is_object):
            case Objects(bases=bases) | OneOf(other=Objects(bases=bases)):
                return all(map(self._knows, bases))
            case ReaderPlace():
                return True
            case _:
                return False

    def _tree(self, obj: Any) -> object:
        kind = type(obj)
        if self._passes(obj):
            return obj
        program = self._current().write_carefully
        call = WriteCall(program, self._limits, references=False)
        try:
            if kind in SCALARS:
                return program.place(Scalar(kind), "media")(obj, call, 1)
            return call.walk(obj, 1, {}, {}, "")
        except GraphCodecError as exc:
            raise exc.at(call.path())

    def _from_tree(self, value: Any, annotation: Any) -> object:
        slot = slot_of(annotation, self._registry.is_object)
        if mismatch(value, slot) is None and not isinstance(value, str):
            return value
        program = self._current().read_carefully
        call = self._reading({}, program, binary=False)
        try:
            return program.place(slot, "media", soft=False)(value, call)
        except GraphCodecError as exc:
            raise exc.at(format_path(call.steps()))


def _check_options(options: _Options) -> None:
    for name, choices in _CHOICES.items():
        value = getattr(options, name)
        if value not in choices:
            wanted = " or ".join(map(repr, choices))
            msg = f"{name} must be {wanted}, not {value!r}"
            raise InvalidValueError(msg)


def _with_nodes(
    wire: dict[str, Any], call: WriteCall, order: list[int]
) -> dict[str, Any]:
    return {"graphcodec": 1, "nodes": call.place_nodes(order), "root": wire["root"]}


def _as_bytes(data: Data) -> bytes | bytearray | memoryview:
    if isinstance(data, str):
        try:
            return data.encode()
        except UnicodeEncodeError:
            msg = "the text of the document has lone surrogates"
            raise UndecodableValueError(msg) from None
    if not isinstance(data, (bytes, bytearray, memoryview)):
        msg = f"a document is bytes or str, not a {type_name(type(data))}"
        raise UndecodableValueError(msg)
    return data


def _remade(
    options: _Options, registered: list[tuple[tuple[Any, ...], dict[str, Any]]]
) -> Codec:
    names = [field.name for field in attrs.fields(_Options)]
    codec = Codec(**{name: getattr(options, name) for name in names})
    for args, kwargs in registered:
        codec.register(*args, **kwargs)
    return codec


@lru_cache(maxsize=1)
def _builtin_registry() -> TypeRegistry:
    from graphcodec import primitives

    registry = TypeRegistry()
    for name in primitives.__all__:
        cls = getattr(primitives, name)
        if isinstance(cls, type) and mark_of(cls) is not None:
            registry.add(cls, builtin=True)
    return registry


def configure_converter(converter: Any, *, codec: Codec | None = None) -> Any:
    """Register the hooks of a codec's classes with a cattrs converter.

    With them the converter gives and takes the tagged tree, without references:
    ``converter.unstructure(message)``. A cycle raises `CyclicGraphError`.

    Args:
        converter: Any cattrs converter.
        codec: Whose classes; the built-in ones if left out.

    Returns:
        The converter.
    """
    codec = codec or Codec()
    install(converter, is_ours=codec._is_ours, write=codec._tree, read=codec._from_tree)  # noqa: SLF001
    return converter


@lru_cache(maxsize=1)
def _default() -> Codec:
    return Codec()


def encode(obj: object) -> bytes:
    """Return *obj*, and everything it refers to, as one JSON document.

    Args:
        obj: See `Codec.encode`.
    """
    return _default().encode(obj)


def encode_text(obj: object) -> str:
    """Return what `encode` gives as text.

    Args:
        obj: See `Codec.encode`.
    """
    return _default().encode_text(obj)


@overload
def decode(data: Data) -> object: ...
@overload
def decode(data: Data, cls: type[T]) -> T: ...
@overload
def decode(data: Data, cls: UnionType) -> Any: ...
def decode(data: Data, cls: Any = object) -> Any:
    """Return the graph that a document of built-in primitives holds.

    For classes of your own make a `Codec`.

    Args:
        data: A document in either format.
        cls: What must come out. See `Codec.decode`.
    """
    return _default().decode(data, cls)
