"""One generated function per class that turns a map into an object.

The usual map has exactly the fields of its class; it is taken apart, each value read by
an expression, and the object made in the cheapest way that runs every check of the
constructor. A map that is not usual (a field missing or unknown, another version) goes
to `Evolving.uneven`, which takes its time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from graphcodec._classes._making import make_model, make_struct
from graphcodec._classes._marks import IN_DICT
from graphcodec._classes._shapes import Field, Shape
from graphcodec._classes._slots import (
    Choice,
    ClassPlace,
    HandlerPlace,
    Member,
    Objects,
    OneOf,
    ReaderPlace,
    Row,
    Scalar,
    Sequence,
    Slot,
    Table,
    Untyped,
)
from graphcodec._coding._source import Build, Namespace
from graphcodec._graphs._trust import WATCHED, TrustPolicy
from graphcodec._live import type_name

if TYPE_CHECKING:
    from graphcodec._classes._hooks import Hooks
    from graphcodec._classes._registry import TypeRegistry
    from graphcodec._handlers import Handlers

Read: TypeAlias = "Callable[..., Any]"


class Unready(Exception):  # noqa: N818 - a signal between frames, never an outcome
    """A reference to an object that can't exist yet."""


class Again(Exception):  # noqa: N818 - likewise
    """Something that only the careful build can do."""


class OpaqueOwner(Exception):  # noqa: N818 - likewise
    """A field that has no room for an `OpaqueNode`."""


class Known(dict[str, Any]):
    """The functions met so far in one place, by tag; filled by `ReadCall.instance`."""


class ReadProgram:
    """The compiled functions of one build, for the classes met so far.

    Args:
        registry: The classes that are read.
        hooks: What users registered with the converter.
        handlers: What names of functions stand for.
        build: Whether to keep a path.
        opaque: Whether unknown types become `OpaqueNode`.
        trust: What is not believed of documents; None if all is.
    """

    def __init__(
        self,
        registry: TypeRegistry,
        hooks: Hooks,
        handlers: Handlers,
        build: Build,
        *,
        opaque: bool,
        trust: TrustPolicy | None = None,
    ) -> None:
        self.registry = registry
        self.hooks = hooks
        self.handlers = handlers
        self.careful = build == "careful"
        self.opaque = opaque
        self.trust = trust
        self.by_tag: dict[str, Read] = {}
        self._by_shape: dict[Shape, Read] = {}
        self.space = Namespace(f"{build} read")
        self.space.names.update(
            put=object.__setattr__,
            Unready=Unready,
            OpaqueOwner=OpaqueOwner,
            make_model=make_model,
            make_struct=make_struct,
        )

    def reader(self, tag: str) -> Read | None:
        """Return the function for *tag*, None if no class is registered under it."""
        found = self.by_tag.get(tag)
        if found is None:
            shape = self.registry.by_tag(tag)
            if shape is not None and shape.kind != "enum":
                with self.space.together():
                    self.function_name(shape)
                found = self.by_tag[tag] = self._by_shape[shape]
        return found

    def function_name(self, shape: Shape) -> str:
        """Return the name that the function for a class has in generated source."""
        name = f"read_{self.space.name(shape, 'shape')}"

        def publish() -> None:
            self._by_shape[shape] = self.space.names[name]

        # A class may refer to itself: its name counts before there is a function.
        if shape not in self._by_shape and self.space.begin(name, publish):
            source = Function(self, shape).source(name)
            self.space.compile(shape.mark.tag, source)
        return name

    def place(self, slot: Slot, family: str, *, soft: bool) -> Read:
        """Return the function that reads any value of *slot*.

        Args:
            slot: A place inside a container.
            family: The family of the readers in it.
            soft: Whether containers may be filled after their owner was made.
        """
        name = f"{family}_{soft}_{self.space.name(slot, 'slot')}"

        def source() -> str:
            value = Expressions(self, family, soft=soft).value(slot, "v", "v")
            return f"def {name}(v, r):\n    times = r.times\n    return {value}\n"

        function: Read = self.space.once(name, source)
        return function


class Expressions:
    """Expressions for the value of a piece of wire."""

    def __init__(
        self, program: ReadProgram, family: str, *, soft: bool, checked: bool = False
    ) -> None:
        self._program = program
        self._name = program.space.name
        self._family = family
        self._soft = soft
        # What a class verifies itself need not be verified here: what it refuses is
        # read again by the careful build.
        self._checked = checked and not program.careful and not program.hooks.custom

    def at(self, step: str, value: str) -> str:
        """Return the expression *value*, evaluated with *step* on the path."""
        careful = self._program.careful
        return f"r.leave(r.enter({step}), {value})" if careful else value

    def value(self, slot: Slot, source: str, v: str, depth: int = 0) -> str:
        """Return the expression for a value.

        Args:
            slot: Where the piece stands.
            source: The piece's expression, which also binds it to *v*; evaluated first.
            v: The name that holds it from then on.
            depth: How many comprehensions stand around it.
        """
        place = self._name(slot, "slot")
        match slot:
            case Untyped():
                return self._untyped(source, v)
            case Scalar(cls=cls):
                return self._scalar(cls, source, v, place)
            case Member():
                return self._member(slot, source, v, place)
            case Choice() if self._checked:
                return source
            case Choice(values=values):
                kinds = self._name(frozenset(map(type, values)), "kinds")
                pairs = self._name(frozenset((type(c), c) for c in values), "choices")
                return (
                    f"({v} if type({source}) in {kinds} and (type({v}), {v}) in {pairs}"
                    f" else r.rare.literal({v}, {place}))"
                )
            case Objects():
                return self._objects(slot, source, v, place)
            case ReaderPlace():
                return f"r.rare.reader({source}, {self._family!r})"
            case HandlerPlace():
                return f"r.rare.handler({source})"
            case ClassPlace():
                return f"r.rare.class_of({source}, {place})"
            case Sequence(kind=kind) if kind is tuple or (
                kind is list and not self._soft
            ):
                return self._sequence(slot, source, v, place, depth)
            case OneOf():
                return self._one_of(slot, source, v, place, depth)
            case Sequence() | Row() | Table():
                return (
                    f"r.rare.typed({source}, {place}, {self._family!r}, {self._soft})"
                )

    def _untyped(self, source: str, v: str) -> str:
        if self._program.careful:
            return f"r.untyped({source}, {self._soft})"
        # Written out: most untyped values are text, an empty stash or plain arguments.
        return (
            f"({v} if (t := type({source})) is str or t is dict"
            f" and (not {v} or '$any' not in {v} and not r.binary)"
            f" else r.untyped({v}, {self._soft}))"
        )

    def _scalar(self, cls: type, source: str, v: str, place: str) -> str:
        rest = f"r.rare.scalar({v}, {place})"
        hooks = self._program.hooks.scalar(cls)
        if hooks is not None:
            return f"r.own({self._name(hooks[1], 'hook')}, {source}, None)"
        match cls.__name__:
            case "str" | "int" | "float" | "bool" if self._checked:
                return source
            case "str" | "int" | "float" | "bool":
                return f"({v} if type({source}) is {cls.__name__} else {rest})"
            case "datetime" if not self._program.careful:
                return f"times[{source}]"
            case _:
                return f"r.rare.scalar({source}, {place})"

    def _member(self, slot: Member, source: str, v: str, place: str) -> str:
        if slot.by_value:
            table = {member._value_: member for member in slot.cls}
        else:
            table = dict(slot.cls.__members__)
        kinds = self._name(frozenset(map(type, table)), "kinds")
        name = self._name(table, "members")
        return (
            f"(c if type({source}) in {kinds} and (c := {name}.get({v})) is not None"
            f" else r.rare.member({v}, {place}))"
        )

    def _objects(self, slot: Objects, source: str, v: str, place: str) -> str:
        if self._program.opaque or self._program.careful:
            return f"r.instance({source}, {place})"
        if len(slot.bases) == 1:
            shape = self._program.registry.shape(slot.bases[0])
            if shape is not None and self._is_read(shape):
                name = self._program.function_name(shape)
                return (
                    f"({name}({v}, r) if type({source}) is dict"
                    f" and {v}['$type'] == {shape.mark.tag!r}"
                    f" else r.instance({v}, {place}))"
                )
        known = self._name(Known(), "known")
        return (
            f"(f({v}, r) if type({source}) is dict"
            f" and (f := {known}.get({v}['$type']))"
            f" else r.instance({v}, {place}, {known}))"
        )

    def _is_read(self, shape: Shape) -> bool:
        registered = self._program.registry.by_tag(shape.mark.tag)
        return registered is shape and shape.kind != "enum"

    def _sequence(
        self, slot: Sequence, source: str, v: str, place: str, depth: int
    ) -> str:
        element, index = f"e{depth}", f"i{depth}"
        value = self.value(slot.item, element, element, depth + 1)
        each = f"for {element} in {v}"
        if self._program.careful:
            each = f"for {index}, {element} in enumerate({v})"
            value = self.at(index, value)
        elif isinstance(slot.item, Objects) and not self._program.opaque:
            each = f"for {element} in r.each({v})"
        items, empty = f"[{value} {each}]", "[]"
        if slot.kind is tuple:
            items, empty = f"tuple({items})", "()"
        return (
            f"(({items} if {v} else {empty}) if type({source}) is list"
            f" else r.rare.typed({v}, {place}, {self._family!r}, {self._soft}))"
        )

    def _one_of(self, slot: OneOf, source: str, v: str, place: str, depth: int) -> str:
        tests = [
            ("{} is None", "None")
            if cls is type(None)
            else (f"type({{}}) is {cls.__name__}", v)
            for cls in slot.scalars
            if self._program.hooks.scalar(cls) is None
        ]
        if not tests:
            return f"r.rare.one_of({source}, {place}, {self._family!r}, {self._soft})"
        if self._checked and slot.other is None:
            return source
        chain = "".join(
            f"{good} if {test.format(v if index else source)} else "
            for index, (test, good) in enumerate(tests)
        )
        only_none = slot.scalars == (type(None),)
        if isinstance(slot.other, Objects) and not only_none:
            return f"({chain}{self._objects(slot.other, v, v, place)})"
        if slot.other is not None and only_none:
            return f"({chain}{self.value(slot.other, v, v, depth)})"
        return f"({chain}r.rare.one_of({v}, {place}, {self._family!r}, {self._soft}))"


_CALLS: Final = {
    "pydantic": "make_model({cls}, {table}, shell)",
    "struct": "make_struct({cls}, {table})",
}


class Function(Expressions):
    """The definition of one class's function.

    It takes the map, the call, and the number of the node that the map is, if it is
    one: something inside may refer to it, and then its instance exists already.
    """

    def __init__(self, program: ReadProgram, shape: Shape) -> None:
        soft = shape.kind in ("attrs", "dataclass") and not shape.mutable
        super().__init__(program, shape.family, soft=soft, checked=shape.checked)
        self._shape = shape
        self._cls = program.space.name(shape.cls, "cls")
        self._hook = program.hooks.structure(shape)
        self._guarded = shape.mutable and self._hook is None

    def source(self, name: str) -> str:
        """Return the definition under the given name."""
        careful = self._program.careful
        body = self._own() if self._hook is not None else self._fields()
        if self._guarded:
            later = f"return r.later({name}, m, {self._cls}, node)"
            body = _guard(body, "Unready", later, careful=careful)
        if self._program.opaque:
            kept = "return r.evolving.opaque(m, node)"
            body = _guard(body, "OpaqueOwner", kept, careful=careful)
        if careful and (self._guarded or self._program.opaque):
            # Whatever was given up midway, the path goes on from here.
            body = ["depth = len(r.steps)", *body]
        shown = f"# {type_name(self._shape.cls)}"
        watched = self._program.trust and issubclass(self._shape.cls, WATCHED)
        own = f"{name}_itself" if watched else name
        return "\n".join(
            [
                f"def {own}(m, r, node=None):  {shown}",
                *(f"    {line}" for line in body),
                *([f"def {name}(m, r, node=None):", *_noting(own)] if watched else []),
                "",
            ]
        )

    def _uneven(self) -> str:
        return f"return r.evolving.uneven(m, {self._name(self._shape, 'shape')}, node)"

    def _frame(self, count: int) -> list[str]:
        """Return the lines that let only the usual map through."""
        version = self._shape.mark.version
        if version == 1:
            return [f"if len(m) != {count + 1}:", f"    {self._uneven()}"]
        return [
            f"if len(m) != {count + 2} or m.get('$v') != {version}:",
            f"    {self._uneven()}",
        ]

    def _own(self) -> list[str]:
        hook = self._name(self._hook, "hook")
        return [
            *self._frame(1),
            "if '$value' not in m:",
            f"    {self._uneven()}",
            f"return r.own({hook}, m['$value'], {self._cls})",
        ]

    def _fields(self) -> list[str]:
        read = [self._read(i, item) for i, item in enumerate(self._shape.fields)]
        return [
            *self._taken(),
            *(["times = r.times"] if any("times[" in line for line in read) else []),
            *(["mark = len(r.jobs)"] if self._looks_again() else []),
            *read,
            *self._make(),
            "return o",
        ]

    def _taken(self) -> list[str]:
        """Return the lines that take the map apart, if it is a usual one."""
        fields = self._shape.fields
        taken = [f"    m{i} = m[{item.key!r}]" for i, item in enumerate(fields)]
        lines = ["try:", *taken, "except KeyError:", f"    {self._uneven()}"]
        return [*self._frame(len(fields)), *(lines if taken else [])]

    def _read(self, index: int, item: Field) -> str:
        value = self.value(item.slot, f"m{index}", f"m{index}")
        return f"f{index} = {self.at(repr(item.key), value)}"

    def _make(self) -> list[str]:
        if self._shape.direct and not self._shape.mutable:
            return [*self._by_slots(), *self._owner()]
        shell = "shell = None if node is None else r.shells.pop(node, None)"
        if self._shape.direct:
            direct = [f"    {line}" for line in self._by_slots()]
            return [shell, "if shell is None:", *direct, "else:", *self._into_shell()]
        lines = [shell] if self._shape.mutable else ["shell = None"]
        return [*lines, *self._by_constructor(), *self._owner()]

    def _by_slots(self) -> list[str]:
        """Return the lines that set the slots of an instance.

        A subclass of the same layout takes them one by one; it costs half of what a
        frozen class's own constructor does.
        """
        maker = self._name(_maker(self._shape.cls), "maker")
        values = self._slot_values()
        return [
            f"o = {maker}()",
            *(f"o.{name} = {value}" for name, value in values),
            f"o.__class__ = {self._cls}",
            *self._check(),
        ]

    def _into_shell(self) -> list[str]:
        values = self._slot_values()
        return [
            "    o = shell",
            *(f"    put(o, {name!r}, {value})" for name, value in values),
            *(f"    {line}" for line in self._check()),
        ]

    def _field(self, index: int) -> str:
        """Return the expression for the value of a field, when all have been read."""
        return f"f{index}"

    def _slot_values(self) -> list[tuple[str, str]]:
        fields = [
            (item.name, self._field(i)) for i, item in enumerate(self._shape.fields)
        ]
        skipped = [
            (name, self._name(value, "default") if value is not None else "None")
            for name, value in self._shape.layout.skipped.items()
        ]
        extra = self._shape.extra
        if extra is None or extra == IN_DICT:
            return [*fields, *skipped]
        return [*fields, *skipped, (extra, "None")]

    def _check(self) -> list[str]:
        check = self._checking()
        return [] if check is None else [f"{self._name(check, 'check')}(o)"]

    def _checking(self) -> Callable[[Any], None] | None:
        """Return the class's own function that verifies an object, if it has one."""
        return vars(self._shape.cls).get("__graphcodec_check__")

    def _by_constructor(self) -> list[str]:
        fields = list(enumerate(self._shape.fields))
        call = _CALLS.get(self._shape.kind)
        if call is not None:
            table = ", ".join(f"{item.argument!r}: f{i}" for i, item in fields)
            made = call.format(cls=self._cls, table=f"{{{table}}}")
            lines = [f"o = {made}"]
        else:
            given = ", ".join(
                f"{item.argument}=f{i}" for i, item in fields if item.argument
            )
            lines = [
                "if shell is None:",
                f"    o = {self._cls}({given})",
                "else:",
                f"    {self._cls}.__init__(shell, {given})",
                "    o = shell",
                *(
                    f"put(o, {item.name!r}, f{i})"
                    for i, item in fields
                    if item.argument is None
                ),
            ]
        return [
            "try:",
            *(f"    {line}" for line in lines),
            "except Exception as exc:",
            f"    raise r.invalid(exc, {self._cls}) from exc",
        ]

    def _looks_again(self) -> bool:
        # The fast build leaves a document in which anything waits to the careful one.
        return self._soft and self._program.careful

    def _owner(self) -> list[str]:
        """Return the lines that look again at an object with unfinished containers."""
        if not self._looks_again():
            return []
        names = ", ".join(
            f"({item.name!r}, f{i})" for i, item in enumerate(self._shape.fields)
        )
        return ["if len(r.jobs) != mark:", f"    r.owner(o, [{names}])"]


def _guard(body: list[str], signal: str, handler: str, *, careful: bool) -> list[str]:
    return [
        "try:",
        *(f"    {line}" for line in body),
        f"except {signal}:",
        *(["    del r.steps[depth:]"] if careful else []),
        f"    {handler}",
    ]


def _noting(own: str) -> list[str]:
    """Return the lines that read an object and note it for the policy of trust."""
    return [f"    o = {own}(m, r, node)", "    r.watched.append(o)", "    return o"]


def _maker(cls: type) -> type:
    """Return a class of the same layout as *cls* whose slots can be assigned.

    CPython sets a slot in one step only if neither setting nor deleting attributes is
    overridden, and makes an instance in one step only if its ``__init__`` is native.
    """
    names = {
        "__slots__": (),
        "__init__": object.__init__,
        "__setattr__": object.__setattr__,
        "__delattr__": object.__delattr__,
    }
    return type(cls)(cls.__name__, (cls,), names)
