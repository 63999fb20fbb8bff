"""Documents parsed straight into msgspec Structs.

While it parses, msgspec finds the class of an object by its tag and the place of a
value by its key. No dict is made and none is looked into, the garbage collector leaves
alone what is made, and parsing takes half of the time or less.

A form fits only the usual map of its class: exactly its fields, of its version, under
its tag. Where a document has anything else, it is parsed again as dicts, which is what
decides whether it is right. So nothing is refused here, and nothing let through: what
the dicts would not have become, a form does not become either.

Places that hold something else than objects or readers are left as they come and read
by the same expressions as in a dict. What a class tests of one value, such as that a
text is not empty, the parser tests in its place.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false
# A form is made from a class; checkers do not know its attributes.

from __future__ import annotations

import re
from collections.abc import Callable
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    Optional,
    Union,
)

import msgspec

from graphcodec._classes._shapes import Field, Shape
from graphcodec._classes._slots import (
    Objects,
    OneOf,
    ReaderPlace,
    Sequence,
    Slot,
    Untyped,
)
from graphcodec._coding._read_program import Function, Read, ReadProgram
from graphcodec._formats import VERSION
from graphcodec.primitives._checks import FilledText

if TYPE_CHECKING:
    from graphcodec._formats import Buffer


class Reference(
    msgspec.Struct, tag_field="$type", tag="$ref", forbid_unknown_fields=True, gc=False
):
    """A reference, as it is parsed."""

    n: Annotated[int, msgspec.Meta(ge=0)]


class ParsedReader(
    msgspec.Struct,
    tag_field="$type",
    tag="$reader",
    forbid_unknown_fields=True,
    gc=False,
):
    """A reader, as it is parsed."""

    tag: str
    locator: dict[str, Any]


class Parser(NamedTuple):
    """What takes documents whose root is of one class.

    Attributes:
        parse: Returns the outermost map, as a Struct with ``root`` and ``nodes``.
        read: Turns the root's form into the object.
        form: The root's form.
    """

    parse: Callable[[Buffer], Any]
    read: Read
    form: type[msgspec.Struct]


# Where most documents have the tag of their root. What is found may be something else
# that looks alike: then the document does not fit.
_ROOT_IN_JSON: Final = re.compile(rb'"root":\s?\{"\$type":\s?"([\w.:-]{1,200})"')
_ROOT_IN_MSGPACK: Final = re.compile(
    rb"\xa4root(?:[\x80-\x8f]|\xde..)\xa5\$type(?:[\xa0-\xbf]|\xd9.)([\w.:-]{1,200})",
    re.DOTALL,
)


_VERSION: Final = "__v"
_LEVELS: Final = 6
_FILLED: Final = Annotated[str, msgspec.Meta(min_length=1)]


def _plain(levels: int) -> Any:
    """Return the type of what JSON can hold, up to some levels of maps and lists."""
    scalars: Any = str | int | float | bool | None
    if not levels:
        return scalars
    inner = _plain(levels - 1)
    return Union[scalars, list[inner], dict[str, inner]]  # type: ignore[valid-type]  # noqa: UP007


# Where MessagePack holds more than JSON can, a parser that is told so need not be
# followed by a walk. Data of more levels than these are read as dicts, and walked.
_PLAIN: Final = _plain(_LEVELS)


class FormProgram:
    """The forms and the functions that read them, for the classes met so far.

    Args:
        program: Reads what is no form.
        binary: Whether documents are MessagePack.
    """

    def __init__(self, program: ReadProgram, *, binary: bool) -> None:
        self._program = program
        self.untyped: Any = _PLAIN if binary else Any
        self._binary = binary
        self._forms: dict[tuple[Shape, bool], type[msgspec.Struct] | None] = {}
        self._parsers: dict[str, Parser | None] = {}
        self.readers: dict[type[msgspec.Struct], Read] = {}

    def parser(self, data: Buffer) -> Parser | None:
        """Return what may take a document, None if nothing does.

        Args:
            data: The document.
        """
        hint = (_ROOT_IN_MSGPACK if self._binary else _ROOT_IN_JSON).search(data)
        if hint is None or self._program.opaque:
            return None
        tag = hint[1].decode()
        if tag in self._parsers:
            return self._parsers[tag]
        shape = self._program.registry.by_tag(tag)
        if shape is None or shape.mark.tag != tag:
            return None
        parser = self._parsers[tag] = self._parser(shape)
        return parser

    def _parser(self, shape: Shape) -> Parser | None:
        with self._program.space.together():
            form = self.form(shape, outermost=True)
        if form is None:
            return None
        fields: list[Any] = [
            ("graphcodec", Literal[VERSION]),
            # A tag that is missing is an error only where there is a choice.
            ("root", Union[form, Reference]),  # noqa: UP007 - the classes are values
            ("nodes", list[Any], msgspec.field(default_factory=list)),
        ]
        envelope = msgspec.defstruct(
            "Envelope", fields, forbid_unknown_fields=True, gc=False
        )
        decoder = msgspec.msgpack.Decoder if self._binary else msgspec.json.Decoder
        return Parser(decoder(envelope).decode, self.readers[form], form)

    # Forms

    def form(
        self, shape: Shape, *, outermost: bool = False
    ) -> type[msgspec.Struct] | None:
        """Return the form of a class; None if it has none, or is just getting it.

        Args:
            shape: The class.
            outermost: Whether it is that of the root.
        """
        key = shape, outermost
        if key not in self._forms:
            # A form can't contain itself: there the map is left a dict.
            self._forms[key] = None
            if self._suits(shape):
                self._forms[key] = self._compile(shape, outermost=outermost)
        return self._forms[key]

    def _suits(self, shape: Shape) -> bool:
        registered = self._program.registry.by_tag(shape.mark.tag)
        return (
            registered is shape
            and shape.kind not in ("enum", "custom")
            and self._program.hooks.structure(shape) is None
        )

    def _compile(self, shape: Shape, *, outermost: bool) -> type[msgspec.Struct]:
        function = _FormFunction(self, self._program, shape, outermost=outermost)
        fields: list[Any] = [
            (item.key, function.type_of(item)) for item in shape.fields
        ]
        if shape.mark.version > 1:
            fields.append((_VERSION, Literal[shape.mark.version]))
        form = msgspec.defstruct(
            shape.cls.__name__,
            fields,
            rename={_VERSION: "$v"},
            tag_field="$type",
            tag=shape.mark.tag,
            forbid_unknown_fields=True,
            gc=False,
        )
        space = self._program.space
        name = f"read_form_of_{space.name(shape, 'shape')}"
        name += "_as_root" * outermost + "_in_msgpack" * self._binary
        space.compile(f"form {shape.mark.tag}", function.source(name))
        self.readers[form] = space.names[name]
        return form

    def reader(self, form: type[msgspec.Struct]) -> str:
        """Return the name of the function that reads a form."""
        return self.readers[form].__name__

    def below(self, bases: tuple[type, ...]) -> list[type[msgspec.Struct]]:
        """Return the forms of all that may stand in a place; none if one has none.

        Args:
            bases: What the objects in the place derive from.
        """
        shapes = self._program.registry.below(bases) if object not in bases else []
        forms = [form for shape in shapes if (form := self.form(shape)) is not None]
        return forms if len(forms) == len(shapes) else []


class _FormFunction(Function):
    """The definition of the function that reads one class's form."""

    def __init__(
        self,
        forms: FormProgram,
        program: ReadProgram,
        shape: Shape,
        *,
        outermost: bool,
    ) -> None:
        super().__init__(program, shape)
        self._forms = forms
        self._outermost = outermost
        self._typed = False
        self._values: list[str] = []
        self._parsed = vars(shape.cls).get("__graphcodec_parsed__", {})

    def annotation(self, slot: Slot) -> Any:
        """Return the type of what stands in a slot; Any if it is read as in a dict.

        Args:
            slot: What may stand there.
        """
        match slot:
            case Objects(bases=bases):
                forms = self._forms.below(bases)
                return Union[(*forms, Reference)] if forms else Any
            case Untyped():
                return self._forms.untyped
            case ReaderPlace():
                return ParsedReader | Reference
            case OneOf(scalars=(cls,), other=other) if (
                cls is type(None) and other is not None
            ):
                found = self.annotation(other)
                return found if found is Any else Optional[found]  # noqa: UP045
            case Sequence(kind=kind, item=item) if kind is tuple or (
                kind is list and not self._soft
            ):
                found = self.annotation(item)
                if found is Any:
                    return Any
                # A list can be emptied on the way, which pays for the long one in the
                # root; an empty tuple costs nothing, and most of the others are empty.
                if kind is tuple and not self._outermost:
                    return tuple.__class_getitem__((found, ...))
                return list.__class_getitem__(found)
            case _:
                return Any

    def type_of(self, item: Field) -> Any:
        """Return the type of a field.

        Where the class tests a value by itself, the parser does so in its place.

        Args:
            item: The field.
        """
        if self._checked and item.name in self._parsed:
            told = self._parsed[item.name]
            arms = (_FILLED if arm is FilledText else arm for arm in told)
            return Union[tuple(arms)]  # noqa: UP007 - they are values
        return self.annotation(item.slot)

    def _fields(self) -> list[str]:
        fields = self._shape.fields
        self._values = [self._value(i, item) for i, item in enumerate(fields)]
        times = ["times = r.times"] * any("times[" in value for value in self._values)
        if self._shape.direct:
            return [*times, *self._by_slots(), "return o"]
        read = [f"f{index} = {value}" for index, value in enumerate(self._values)]
        # No form is a node, so none was begun before its turn.
        return [*times, *read, "shell = None", *self._by_constructor(), "return o"]

    def _value(self, index: int, item: Field) -> str:
        self._typed = self.annotation(item.slot) is not Any
        name = f"m{index}"
        piece = f"({name} := m.{item.key})"
        value = self.value(item.slot, piece, name)
        once = len(re.findall(rf"\b{name}\b", value)) == 1
        return value.replace(piece, f"m.{item.key}") if once else value

    def _field(self, index: int) -> str:
        # A form is complete, so what is read goes where it belongs at once.
        return self._values[index]

    def _checking(self) -> Callable[[Any], None] | None:
        whole = super()._checking()
        if not self._checked:
            return whole
        rest: Callable[[Any], None] | None = vars(self._shape.cls).get(
            "__graphcodec_check_parsed__", whole
        )
        return rest

    def value(self, slot: Slot, source: str, v: str, depth: int = 0) -> str:
        """Return the expression for a value, as `Expressions.value` does."""
        if self._typed and isinstance(slot, ReaderPlace):
            return f"r.rare.parsed_reader({source}, {self._family!r})"
        return super().value(slot, source, v, depth)

    def _untyped(self, source: str, v: str) -> str:
        # The parser lets through nothing that is not plain.
        return (
            f"({v} if type({source}) is not dict or '$any' not in {v}"
            f" else r.untyped({v}, {self._soft}))"
        )

    def _sequence(
        self, slot: Sequence, source: str, v: str, place: str, depth: int
    ) -> str:
        if not self._typed:
            return super()._sequence(slot, source, v, place, depth)
        element = f"e{depth}"
        value = self.value(slot.item, element, element, depth + 1)
        each = f"r.each({v})" if self._outermost else v
        items = f"[{value} for {element} in {each}]"
        if slot.kind is tuple:
            return f"(tuple({items}) if {source} else ())"
        return f"({items} if {source} else [])"

    def _objects(self, slot: Objects, source: str, v: str, place: str) -> str:
        if not self._typed:
            return super()._objects(slot, source, v, place)
        forms = self._forms.below(slot.bases)
        if len(forms) == 1:
            name = self._name(forms[0], "form")
            found = (
                f"{self._forms.reader(forms[0])}({v}, r) if type({source}) is {name}"
            )
        else:
            readers = self._name(self._forms.readers, "readers")
            found = f"f({v}, r) if (f := {readers}.get(type({source})))"
        return f"({found} else r.referred({v}, {place}))"
