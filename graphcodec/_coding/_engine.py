"""One codec at work: what a call runs through, from a graph to bytes and back."""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# What a parser gives, and what cattrs hands over, is Any.

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal, TypeAlias, TypeVar

from graphcodec import _formats, _frames
from graphcodec._classes._hooks import Hooks
from graphcodec._classes._registry import TypeRegistry
from graphcodec._classes._slots import (
    SCALARS,
    Objects,
    OneOf,
    ReaderPlace,
    Scalar,
    slot_of,
)
from graphcodec._coding._document import Document, Sizes, check_limits, may_break
from graphcodec._coding._ordering import order_nodes
from graphcodec._coding._read_call import ReadCall
from graphcodec._coding._read_forms import FormProgram
from graphcodec._coding._read_program import Again, OpaqueOwner, ReadProgram
from graphcodec._coding._write_call import WriteCall
from graphcodec._coding._write_forms import maps
from graphcodec._coding._write_program import WriteProgram
from graphcodec._compressing import Compression
from graphcodec._formats import Format
from graphcodec._graphs._conforming import fits
from graphcodec._graphs._trust import TrustPolicy
from graphcodec._handlers import Handlers
from graphcodec._limits import Limits, exceeded
from graphcodec._paths import format_path
from graphcodec._resolving import Resolvers
from graphcodec._seal import Seal
from graphcodec.errors import (
    GraphCodecError,
    InvalidValueError,
    LimitExceededError,
    UndecodableValueError,
    UnencodableValueError,
)

T = TypeVar("T")

Finish: TypeAlias = Callable[[dict[str, Any]], tuple[T, int]]
"""Takes the outermost map of a document; returns a result and the document's bytes."""

_Bound: TypeAlias = Literal["max_bytes", "max_decompressed"]


class Programs:
    """The compiled functions for one state of the registry and the hooks."""

    def __init__(
        self,
        registry: TypeRegistry,
        hooks: Hooks,
        handlers: Handlers,
        *,
        opaque: bool,
        trust: TrustPolicy | None,
    ) -> None:
        self.generation = registry.generation
        parts = registry, hooks, handlers
        self.write = WriteProgram(*parts, "fast")
        self.write_carefully = WriteProgram(*parts, "careful")
        self.read = ReadProgram(*parts, "fast", opaque=opaque, trust=trust)
        self.forms = {
            binary: FormProgram(self.read, binary=binary) for binary in (False, True)
        }
        self.read_carefully = ReadProgram(*parts, "careful", opaque=opaque, trust=trust)


class Engine:
    """What a codec is made of, and the two ways through it.

    Args:
        registry: The classes.
        hooks: What users registered with the converter.
        resolvers: What re-opens handles.
        handlers: What names of functions stand for.
        limits: What one document may cost.
        references: Whether sharing and cycles are kept.
        opaque: Whether unknown types become `OpaqueNode`.
        unknown_fields: ``keep``, ``ignore`` or ``raise``.
        trust: What is believed of documents.
        prepare: Returns what is written of a graph; all of it if left out.
    """

    def __init__(
        self,
        registry: TypeRegistry,
        hooks: Hooks,
        resolvers: Resolvers,
        handlers: Handlers,
        limits: Limits,
        *,
        references: bool,
        opaque: bool,
        unknown_fields: str,
        trust: TrustPolicy,
        prepare: Callable[[object], object] | None = None,
    ) -> None:
        self.registry = registry
        self.hooks = hooks
        self.resolvers = resolvers
        self._handlers = handlers
        self._limits = limits
        self._references = references
        self._opaque = opaque
        self._unknown_fields = unknown_fields
        self._trust = trust if trust.limits_something() else None
        self._prepare = prepare
        self._programs = self._compile()

    def _compile(self) -> Programs:
        return Programs(
            self.registry,
            self.hooks,
            self._handlers,
            opaque=self._opaque,
            trust=self._trust,
        )

    def _current(self) -> Programs:
        if self._programs.generation != self.registry.generation:
            self._programs = self._compile()
        return self._programs

    def customized(self) -> None:
        """Compile anew: a user registered a hook."""
        self.hooks.custom = True
        self._programs = self._compile()

    # Out

    def encode(
        self,
        obj: object,
        format: Format,  # noqa: A002 - the word that users know
        compression: Compression | None = None,
        seal: Seal | None = None,
        context: bytes = b"",
    ) -> bytes:
        """Return the document of *obj* as bytes, in a frame if it needs one.

        Args:
            obj: The root.
            format: ``json`` or ``msgpack``.
            compression: How to compress the document.
            seal: What to seal it with.
            context: What the seal binds it to.
        """

        def finish(wire: dict[str, Any]) -> tuple[bytes, int]:
            data = _formats.write(wire, format)
            return data, len(data)

        if compression is None and seal is None:
            return self.written(obj, format, finish)
        # The frame is what arrives; the document is bounded by what it inflates to.
        bound: _Bound = "max_bytes" if compression is None else "max_decompressed"
        return _frames.framed(
            self.written(obj, format, finish, bound),
            self._limits,
            compression=compression,
            seal=seal,
            context=context,
        )

    def written(
        self,
        obj: object,
        format: Format,  # noqa: A002 - likewise
        finish: Finish[T],
        bound: _Bound = "max_bytes",
    ) -> T:
        """Return what *finish* makes of the document of *obj*, within the limits.

        Args:
            obj: The root.
            format: ``json`` or ``msgpack``.
            finish: Takes the outermost map, in which maps may be forms, and returns its
                result and the bytes of the document; called again if text in the map is
                none that JSON can hold.
            bound: The limit for the bytes of the document.
        """
        if self._prepare is not None:
            obj = self._prepare(obj)
        programs = self._current()
        # Whatever fails, a user's function included, is told with its place.
        with suppress(Exception):
            return self._write(obj, programs.write, format, finish, bound)
        return self._write(obj, programs.write_carefully, format, finish, bound)

    def _write(
        self,
        obj: object,
        program: WriteProgram,
        format: Format,  # noqa: A002 - likewise
        finish: Finish[T],
        bound: _Bound,
    ) -> T:
        call = WriteCall(
            program,
            self._limits,
            binary=format == "msgpack",
            tree=not self._references,
        )
        wire = self._document(obj, call)
        try:
            out, size = finish(wire)
        except UnicodeEncodeError as exc:
            # Text has been looked at; what is left are names that classes chose.
            msg = "a tag, or the name of an Enum member, is not text that JSON can hold"
            raise UnencodableValueError(msg, path="$") from exc
        limits = self._limits
        most = limits.max_bytes if bound == "max_bytes" else limits.max_decompressed
        if size > most:
            raise exceeded(bound, most, size, "$")
        if may_break(limits, len(wire.get("nodes", [])), size):
            check_limits(Document(maps(wire), program.shape_of), size, limits)
        return out

    def _document(self, obj: object, call: WriteCall) -> dict[str, Any]:
        try:
            wire = call.document(obj)
            if not call.nodes.numbers:
                return self._sized(wire, call)
            if call.tangled:
                return self._sized(self._ordered(wire, call), call)
            return self._sized(_with_nodes(wire, call, call.finished_order()), call)
        except RecursionError:
            msg = "the stack of the caller leaves no room for the walk"
            hint = "call encode from a frame that is not so deep"
            raise LimitExceededError(msg, limit="nesting", hint=hint) from None
        except GraphCodecError as exc:
            exc.at(call.path())
            raise
        except RuntimeError as exc:
            if "during iteration" not in str(exc):
                exc.add_note(f"while graphcodec encoded {call.path()}")
                raise
            msg = "something in the graph was changed while it was encoded"
            hint = "encode a copy, or keep other threads from changing it"
            raise UnencodableValueError(msg, path=call.path(), hint=hint) from exc
        except Exception as exc:  # from a user's function
            exc.add_note(f"while graphcodec encoded {call.path()}")
            raise

    def _ordered(self, wire: dict[str, Any], call: WriteCall) -> dict[str, Any]:
        """Number the nodes of a deep or cyclic graph so that children come first."""
        anyhow = _with_nodes(wire, call, list(range(len(call.nodes.written))))
        order = order_nodes(Document(maps(anyhow), call.program.shape_of))
        nodes = [anyhow["nodes"][number] for number in order]
        call.nodes.renumber(order)
        return {"graphcodec": 1, "nodes": nodes, "root": anyhow["root"]}

    def _sized(self, wire: dict[str, Any], call: WriteCall) -> dict[str, Any]:
        if call.hashed:
            by_identity = self.registry.hashed_by_identity()
            sizes = Sizes(maps(wire.get("nodes", [])), by_identity)
            for member in call.hashed:
                sizes.check(maps(member))
        return wire

    def canonical(self, obj: object) -> bytes:
        """Return the form of *obj* that equal graphs have in common.

        Args:
            obj: The root.
        """
        if self._prepare is not None:
            obj = self._prepare(obj)
        return self._ranked(obj, {})

    def _ranked(self, obj: object, ranks: dict[int, tuple[object, bytes]]) -> bytes:
        """Return the canonical form, given the ranks of members met so far.

        Sets, and dicts with keys of all kinds, are put in the order of the hashes of
        their members, each taken as a document of its own.
        """

        def rank(member: object) -> bytes:
            known = ranks.get(id(member))
            if known is None:
                digest = hashlib.sha256(self._ranked(member, ranks)).digest()
                # Held, so that its id is not used again.
                known = ranks[id(member)] = (member, digest)
            return known[1]

        call = WriteCall(self._current().write_carefully, self._limits, canonical=rank)
        return _formats.write_canonical(self._document(obj, call))

    # In

    def decode(
        self,
        data: bytes | bytearray | memoryview,
        seal: Seal | None = None,
        context: bytes = b"",
    ) -> object:
        """Return the graph that a document holds.

        Args:
            data: A document in either format, in a frame or not.
            seal: What it must be sealed with.
            context: What the seal must bind it to.
        """
        if len(data) > self._limits.max_bytes:
            raise exceeded("max_bytes", self._limits.max_bytes, len(data), "$")
        data = _frames.opened(data, self._limits, seal, context)
        binary = _formats.is_binary(data)
        # Whatever is unusual about a document, the dicts say what it means.
        with suppress(Exception):
            return self._read_forms(data, binary=binary)
        wire = _formats.read(data)
        check_limits(Document(wire, self.registry.by_tag), len(data), self._limits)
        program = self._current().read
        nodes = wire.get("nodes", [])
        try:
            return self._reading(nodes, program, binary=binary).root(wire["root"])
        except Exception:  # noqa: BLE001 - likewise, the careful build
            # The fast one may have taken the parsed document apart.
            return self._read_carefully(_formats.read(data), binary=binary)

    def _read_forms(self, data: _formats.Buffer, *, binary: bool) -> object:
        programs = self._current()
        parser = programs.forms[binary].parser(data)
        if parser is None:
            raise Again
        wire = parser.parse(data)
        if may_break(self._limits, len(wire.nodes), len(data)):
            raise Again
        call = self._reading(wire.nodes, programs.read, binary=binary)
        return call.parsed(parser, wire.root)

    def _read_carefully(self, wire: dict[str, Any], *, binary: bool) -> object:
        programs = self._current()
        nodes = wire.get("nodes", [])
        call = self._reading(nodes, programs.read_carefully, binary=binary)
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
            self._placed(exc, wire, call)
            raise

    def _placed(
        self, error: GraphCodecError, wire: dict[str, Any], call: ReadCall
    ) -> GraphCodecError:
        """Give *error* the path from the root, through nodes, to where it happened."""
        number = call.current
        before = (
            ()
            if number is None
            else Document(wire, self.registry.by_tag).node_path(number)
        )
        error.path = format_path([*before, *call.steps]) + error.path[1:]
        return error

    def _reading(
        self, nodes: list[Any], program: ReadProgram, *, binary: bool
    ) -> ReadCall:
        return ReadCall(
            program,
            self.resolvers,
            self._limits,
            nodes,
            binary=binary,
            unknown_fields=self._unknown_fields,
        )

    # What the converter's hooks do

    def passes(self, value: object) -> bool:
        """Say whether the converter hands *value* through as it is."""
        kind = type(value)
        return self.hooks.in_call and (self._knows(kind) or kind in SCALARS)

    def _knows(self, cls: type) -> bool:
        shape = self.registry.shape(cls)
        return shape is not None and shape.kind != "enum"

    def is_ours(self, annotation: Any) -> bool:
        """Say whether our hooks are for an annotation."""
        match slot_of(annotation, self.registry.is_object):
            case Objects(bases=bases) | OneOf(other=Objects(bases=bases)):
                return all(map(self._knows, bases))
            case ReaderPlace():
                return True
            case _:
                return False

    def tree(self, obj: Any) -> object:
        """Return the tagged tree of *obj*, without references."""
        kind = type(obj)
        if self.passes(obj):
            return obj
        program = self._current().write_carefully
        call = WriteCall(program, self._limits, tree=True)
        try:
            if kind in SCALARS:
                return program.place(Scalar(kind), "media")(obj, call, 1)
            return call.walk(obj, 1, {}, {}, "")
        except GraphCodecError as exc:
            exc.at(call.path())
            raise

    def from_tree(self, value: Any, annotation: Any) -> object:
        """Return what a tagged tree stands for."""
        slot = slot_of(annotation, self.registry.is_object)
        if type(value) is not str and fits(value, slot):
            return value
        program = self._current().read_carefully
        call = self._reading([], program, binary=False)
        try:
            out: object = program.place(slot, "media", soft=False)(value, call)
            call.limit_trust(out)
        except GraphCodecError as exc:
            exc.at(format_path(call.steps))
            raise
        return out


def _with_nodes(
    wire: dict[str, Any], call: WriteCall, order: list[int]
) -> dict[str, Any]:
    return {"graphcodec": 1, "nodes": call.place_nodes(order), "root": wire["root"]}
