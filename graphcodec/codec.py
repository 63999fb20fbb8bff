"""The codec: graphs to bytes, and back."""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# A parsed document, and a user's object, is Any until it was looked at.

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, overload

import attrs

from graphcodec._classes._builtin import builtin_registry
from graphcodec._classes._hooks import CodecConverter, Hooks, install
from graphcodec._classes._marks import Upgrade
from graphcodec._classes._shapes import Shape
from graphcodec._coding._engine import Engine, Finish
from graphcodec._coding._write_forms import maps
from graphcodec._compressing import Compression
from graphcodec._formats import Data, Format, as_bytes
from graphcodec._graphs._comparing import difference
from graphcodec._graphs._conforming import mismatch
from graphcodec._graphs._trust import TrustPolicy
from graphcodec._handlers import as_handlers
from graphcodec._limits import Limits
from graphcodec._live import type_name
from graphcodec._options import (
    Options,
    Types,
    as_rules,
    check_options,
    frozen_types,
    listed,
)
from graphcodec._paths import format_path, with_article
from graphcodec._resolving import Resolvers
from graphcodec._seal import Seal, check_context
from graphcodec.errors import (
    InvalidValueError,
    RoundTripError,
    SealError,
    UndecodableValueError,
)
from graphcodec.readers._contracts import Reader, ReaderDescriptor, Resolver

if TYPE_CHECKING:
    from graphcodec._redaction._reports import RedactionReport
    from graphcodec._redaction._rules import Redaction

T = TypeVar("T")


class Codec:
    """Writes graphs of primitives as bytes and reads them back.

    A codec is made once, in a module of its own, and used from any thread.

    Args:
        types: Classes to read beside the built-in ones: marked classes, or a mapping
            that gives tags to classes one does not own.
        resolvers: What re-opens handles, asked in this order. Where one of them takes a
            tag, the built-in one is not asked.
        handlers: The functions of tools, by name. A function is written as the name it
            has here, else as ``module:qualname``; only what stands here is ever read.
        limits: What one document may cost.
        trust: What is believed of the trust that documents claim; all by default.
        unknown_types: What to do with a tag that no class is registered under:
            ``raise``, or ``keep`` it as an `OpaqueNode`.
        unknown_fields: What to do with a field that its class does not have: ``keep``
            it and write it back, ``ignore`` it, or ``raise``.
        references: ``objects`` keeps sharing and cycles; ``none`` writes a tree.
        format: What `encode` writes; `decode` recognises both.
        compression: How `encode` compresses: ``gzip``, or ``zstd``, which needs the
            extra of that name before Python 3.14. `decode` recognises all of them,
            whatever this is; `encode_text` and `content_hash` leave it aside.
        seal: What `encode` signs or encrypts with. With it, `decode` refuses whatever
            is not sealed so; without it, whatever is sealed.
        builtin_resolvers: Whether in-memory and public https handles work as they are.
        plugins: Whether the resolvers that installed packages publish are loaded, now.
            They are asked after *resolvers* and before the built-in ones.
        write_unregistered: Whether a marked class that is not among *types* may be
            written. Who reads what they wrote, such as a cache or a queue, says no.
        redact: What is never written: rules that every graph goes through first, also
            for `content_hash`. See `graphcodec.redact`.

    Raises:
        InvalidValueError: If an option, a class or a plug-in can't be used.
        DuplicateTagError: If two classes have one tag.
    """

    def __init__(
        self,
        *,
        types: Types = (),
        resolvers: Iterable[Resolver] = (),
        handlers: Mapping[str, Callable[..., object]] | None = None,
        limits: Limits | None = None,
        trust: TrustPolicy | None = None,
        unknown_types: Literal["raise", "keep"] = "raise",
        unknown_fields: Literal["keep", "ignore", "raise"] = "keep",
        references: Literal["objects", "none"] = "objects",
        format: Format = "json",  # noqa: A002 - the word that users know
        compression: Compression | None = None,
        seal: Seal | None = None,
        builtin_resolvers: bool = True,
        plugins: bool = False,
        write_unregistered: bool = True,
        redact: Iterable[Redaction] = (),
    ) -> None:
        self._options = options = Options(
            types=frozen_types(types),
            resolvers=listed(resolvers, "resolvers"),
            handlers=as_handlers(handlers),
            limits=Limits() if limits is None else limits,
            trust=TrustPolicy() if trust is None else trust,
            unknown_types=unknown_types,
            unknown_fields=unknown_fields,
            references=references,
            format=format,
            compression=compression,
            seal=seal,
            builtin_resolvers=builtin_resolvers,
            plugins=plugins,
            write_unregistered=write_unregistered,
            redact=as_rules(redact),
        )
        check_options(options)
        self._registered: _Registered = []
        self._added_resolvers: list[Resolver] = []
        # With "keep", there is no tag that this codec can't read.
        closed = not write_unregistered and unknown_types == "raise"
        self._registry = builtin_registry().copy(closed=closed)
        self._converter = CodecConverter(detailed_validation=False)
        self._engine = engine = Engine(
            self._registry,
            Hooks(self._converter),
            Resolvers(
                options.resolvers,
                _published() if plugins else (),
                builtin=builtin_resolvers,
            ),
            options.handlers,
            options.limits,
            references=references == "objects",
            opaque=unknown_types == "keep",
            unknown_fields=unknown_fields,
            trust=options.trust,
            prepare=(lambda obj: self.redacted(obj)[0]) if options.redact else None,
        )
        configure_converter(self._converter, codec=self)
        self._converter.watch(engine.customized, engine.passes)
        self._add_types(options.types)

    def _add_types(self, types: Mapping[str, type] | tuple[type, ...]) -> None:
        if isinstance(types, Mapping):
            for tag, cls in types.items():
                self._registry.add(cls, tag)
        else:
            for cls in types:
                self._registry.add(cls)

    # The main job

    def encode(self, obj: object, *, context: bytes = b"") -> bytes:
        """Return *obj*, and everything it refers to, as one document.

        Args:
            obj: A primitive, a registered object or any value that a graph may hold.
            context: What a seal binds the document to, such as the id of a session:
                only `decode` with the same context reads it. It is not written.

        Raises:
            UnencodableValueError: If something in it has no wire form; says what,
                where, and what to do instead. `HandlerNotEncodableError` if it is the
                handler of a tool.
            CyclicGraphError: If it has a cycle that nothing could rebuild.
            LimitExceededError: If it breaks a limit of this codec.
            InvalidValueError: If the fields of a class in it can't be read, or a
                context is given and there is no seal.
        """
        options = self._options
        seal = options.seal
        if context != b"":
            check_context(context, seal)
        form = options.format, options.compression
        return self._engine.encode(obj, *form, seal, context)

    def encode_text(self, obj: object) -> str:
        """Return what `encode` gives as JSON text, never compressed, for JSON columns.

        Args:
            obj: See `encode`.

        Raises:
            SealError: If this codec has a seal: what is sealed is bytes, and a database
                may change JSON text.
        """
        if self._options.seal is not None:
            msg = "a codec with a seal writes no text"
            hint = "take the bytes of encode; in a text column, as base64"
            raise SealError(msg, hint=hint)
        return self._engine.encode(obj, "json").decode()

    @overload
    def decode(self, data: Data, *, context: bytes = b"") -> object: ...
    @overload
    def decode(self, data: Data, cls: type[T], *, context: bytes = b"") -> T: ...
    @overload
    def decode(self, data: Data, cls: UnionType, *, context: bytes = b"") -> Any: ...
    def decode(self, data: Data, cls: Any = object, *, context: bytes = b"") -> Any:
        """Return the graph that a document holds.

        Nothing is imported, called or opened because the document says so; handles
        come back as readers that open when they are asked to.

        Args:
            data: A document in either format, compressed or not.
            cls: What must come out: any annotation of classes, lists, tuples, dicts
                and unions.
            context: What the document was sealed with: see `encode`.

        Raises:
            SealError: If it is not sealed as this codec seals, was changed, or was
                sealed with another context.
            UndecodableValueError: If it is no document, or does not hold what it
                should; says where.
            VersionError: If an object was written by a newer version of its class.
            NoHandlerError: If nobody bound the handler of a tool in it.
            NoReaderResolverError: If nobody can re-open a handle in it.
            LimitExceededError: If it breaks a limit of this codec.
        """
        seal = self._options.seal
        if context != b"":
            check_context(context, seal)
        out = self._engine.decode(as_bytes(data), seal, context)
        if cls is not object:
            self._require(out, cls)
        return out

    def _require(self, out: object, cls: Any) -> None:
        found = mismatch(out, cls, self._registry.is_object)
        if found is not None:
            steps, value, wanted = found
            name = type_name(type(value))
            msg = (
                f"the document holds {with_article(name)} where {wanted} was asked for"
            )
            raise UndecodableValueError(msg, path=format_path(steps), type_name=name)

    # Further questions

    def check(self, obj: object) -> None:
        """Verify that *obj* comes back as it is: types, values and sharing.

        Of containers, sharing counts within one untyped field, as on the wire. With
        rules for a redaction, what they leave must come back.

        Args:
            obj: See `encode`.

        Raises:
            RoundTripError: If it does not, with the path of the first difference.
            UnencodableValueError: If it can't even be encoded.
        """
        if self._options.redact:
            obj, _ = self.redacted(obj)
        again = self.decode(self.encode(obj))
        found = difference(obj, again)
        if found is not None:
            steps, reason = found
            msg = f"the graph does not come back as it was: {reason}"
            hint = (
                "make the constructor and its converters leave their own output alone"
            )
            raise RoundTripError(msg, path=format_path(steps), hint=hint)

    def content_hash(self, obj: object) -> str:
        """Return SHA-256 over the canonical form of *obj*, in hexadecimal.

        Graphs of equal types, values and sharing have equal hashes, whatever the
        format and the process. For comparing, not for storing: the canonical form
        forgets the order of dicts. It is that of what would be written: what a rule
        takes out has no part in it, since a hash of it could be guessed from.

        Args:
            obj: See `encode`.
        """
        return hashlib.sha256(self._engine.canonical(obj)).hexdigest()

    def redacted(self, obj: T) -> tuple[T, RedactionReport]:
        """Return what of *obj* is written, and what the rules of this codec found.

        As `graphcodec.redact` with these rules; the functions that a class was
        registered with are used to look into its instances.

        Args:
            obj: See `encode`.

        Raises:
            GraphCodecError: See `graphcodec.redact`.
        """
        from graphcodec._redaction._running import redacted  # noqa: PLC0415 - if used

        rules = self._options.redact
        return redacted(obj, rules, functions=self._registry.functions_of)

    def json_schema(self, cls: type | None = None) -> dict[str, object]:
        """Return the JSON Schema of the documents that this codec reads.

        It is of draft 2020-12, for JSON outside frames, and equal for equal codecs.
        What is only known when a document is decoded, it can't say: whether
        references, times and base64 are possible ones.

        Args:
            cls: What must stand at the root: a class that this codec reads, or a base
                of some. Anything, if left out.

        Raises:
            InvalidValueError: If no instance of *cls* can be read.
        """
        # Whoever only writes and reads documents need not load it.
        from graphcodec._schemas._wire import Reading, json_schema  # noqa: PLC0415

        options = self._options
        reading = Reading(
            registry=self._registry,
            hooks=self._engine.hooks,
            handlers=options.handlers,
            opaque=options.unknown_types == "keep",
            unknown_fields=options.unknown_fields,
        )
        return json_schema(reading, cls)

    def replace(self, **changes: Any) -> Codec:
        """Return a codec that differs in some options.

        Classes, resolvers and hooks that were registered later come along.

        Args:
            **changes: Options of the constructor.
        """
        options = {
            field.name: getattr(self._options, field.name)
            for field in attrs.fields(Options)
        }
        new = Codec(**{**options, **changes})
        _add(new, self._registered, self._added_resolvers)
        for name, args, kwargs in self._converter.registrations:
            getattr(new.converter, name)(*args, **kwargs)
        return new

    def __repr__(self) -> str:
        given = self._options
        seal = None if given.seal is None else given.seal.mode
        parts: list[str | None] = [given.format, given.compression, seal]
        named: dict[str, int] = {
            "types": len(given.types) + len(self._registered),
            "resolvers": len(given.resolvers) + len(self._added_resolvers),
            "handlers": len(given.handlers),
        }
        parts += [f"{count} {what}" for what, count in named.items() if count]
        return f"{type(self).__name__}(<{', '.join(filter(None, parts))}>)"

    def __reduce__(self) -> tuple[object, ...]:
        if self._options.seal is not None:
            msg = "a codec with a seal can't be pickled, since keys never are; pass a"
            raise pickle.PicklingError(f"{msg} factory")
        if self._engine.hooks.custom:
            msg = "a codec with hooks of its own can't be pickled; pass a factory"
            raise pickle.PicklingError(msg)
        return _remade, (self._options, self._registered, self._added_resolvers)

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
            tag: Its name on the wire, with a dot; if left out, the class is marked.
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
        aliases = tuple(aliases)
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
            "aliases": aliases,
            "upgrades": upgrades,
            # A copy repeats what was done, also where it took a tag over.
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
        self._engine.resolvers.add(resolver)
        self._added_resolvers.append(resolver)

    def resolve(self, tag: str, descriptor: ReaderDescriptor) -> Reader:
        """Return the reader that this codec makes of a handle; nothing is opened.

        Args:
            tag: The family and the scheme, such as ``media:fsspec``.
            descriptor: The scheme and the locator.

        Raises:
            NoReaderResolverError: If no resolver takes it.
            UndecodableValueError: If its locator is malformed.
        """
        return self._engine.resolvers.resolve(tag, descriptor)

    # For the other modules of this package

    def shape_of(self, tag: str) -> Shape | None:
        """Return what is known of the class under *tag*; for this package alone.

        Args:
            tag: A tag, or an alias of one.
        """
        return self._engine.registry.by_tag(tag)

    def written(self, obj: object, finish: Finish[T]) -> T:
        """Return what *finish* makes of a document; for this package alone.

        Args:
            obj: See `encode`.
            finish: Takes the outermost map, which it must leave as it is, and returns
                its result and the bytes of the document.
        """
        return self._engine.written(
            obj, self._options.format, lambda wire: finish(maps(wire))
        )

    @property
    def format(self) -> Format:
        """What `encode` writes."""
        return self._options.format

    @property
    def compression(self) -> Compression | None:
        """How `encode` compresses."""
        return self._options.compression

    @property
    def seal(self) -> Seal | None:
        """What `encode` signs or encrypts with."""
        return self._options.seal

    @property
    def redact(self) -> tuple[Redaction, ...]:
        """What is never written."""
        return self._options.redact

    @property
    def limits(self) -> Limits:
        """What one document may cost."""
        return self._options.limits

    @property
    def converter(self) -> CodecConverter:
        """The cattrs converter; hooks registered on it shape the wire."""
        return self._converter


def _published() -> list[Resolver]:
    # Installed packages are looked through only where somebody asks for that.
    from graphcodec._plugins import published_resolvers  # noqa: PLC0415

    return published_resolvers()


_Registered: TypeAlias = list[tuple[tuple[Any, ...], dict[str, Any]]]


def _remade(
    options: Options, registered: _Registered, resolvers: list[Resolver]
) -> Codec:
    names = [field.name for field in attrs.fields(Options)]
    codec = Codec(**{name: getattr(options, name) for name in names})
    _add(codec, registered, resolvers)
    return codec


def _add(codec: Codec, registered: _Registered, resolvers: list[Resolver]) -> None:
    for args, kwargs in registered:
        codec.register(*args, **kwargs)
    for resolver in resolvers:
        codec.register_resolver(resolver)


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
    engine = codec._engine  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    install(converter, is_ours=engine.is_ours, write=engine.tree, read=engine.from_tree)
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
        data: A document in either format, compressed or not.
        cls: What must come out. See `Codec.decode`.
    """
    return _default().decode(data, cls)
