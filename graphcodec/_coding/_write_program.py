"""One generated function per class that turns an object into its map.

The source of a function makes a map with one expression per field, so its cost is that
of the map: a form in the fast build (`graphcodec._coding._write_forms`), a dict in the
careful one. It is put where tracebacks and debuggers find it. Two builds come from the
same text: see `graphcodec._coding._write_call` for what else sets them apart.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

from graphcodec._classes._marks import IN_DICT
from graphcodec._classes._shapes import Field, Shape
from graphcodec._classes._slots import (
    UNTYPED,
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
    height,
)
from graphcodec._coding._source import Build, Namespace
from graphcodec._coding._write_forms import Wrapper, form
from graphcodec._limits import NESTING
from graphcodec._live import type_name, unreadable
from graphcodec._values import (
    LEAST_INT,
    MOST_INT,
    Wire,
    write_float,
    write_int,
    write_leaf,
    write_scalar,
    write_text,
)

if TYPE_CHECKING:
    from graphcodec._classes._hooks import Hooks
    from graphcodec._classes._registry import TypeRegistry
    from graphcodec._coding._write_call import WriteCall
    from graphcodec._handlers import Handlers

Write: TypeAlias = "Callable[[Any, WriteCall, int], Wire]"


class WriteProgram:
    """The compiled functions of one build, for the classes met so far."""

    def __init__(
        self, registry: TypeRegistry, hooks: Hooks, handlers: Handlers, build: Build
    ) -> None:
        self.registry = registry
        self.hooks = hooks
        self.handlers = handlers
        self.careful = build == "careful"
        self.writers: dict[type, Write] = {}
        self._names: dict[type, str] = {}
        self._by_tag: dict[str, Shape] = {}
        self.space = Namespace(f"{build} write")
        self.space.names.update(
            isfinite=isfinite,
            LEAST=LEAST_INT,
            MOST=MOST_INT,
            # Nobody changes these, so one of each will do.
            NO_ITEMS=[],
            NO_ENTRIES={},
            anything=Wrapper,
            written=self.writers.get,
            write_float=write_float,
            write_int=write_int,
            write_leaf=write_leaf,
            write_scalar=write_scalar,
            write_text=write_text,
        )

    def writer(self, cls: type) -> Write | None:
        """Return the function that writes instances of exactly *cls*, if there is one.

        Args:
            cls: A class; one that is marked need not be registered.
        """
        found = self.writers.get(cls)
        if found is None:
            shape = self.registry.shape(cls)
            if shape is not None and shape.kind != "enum":
                with self.space.together():
                    self._compile(shape)
                found = self.writers[cls]
        return found

    def shape_of(self, tag: str) -> Shape | None:
        """Return the shape of the class that is written under a tag.

        Args:
            tag: The tag; its class may be marked and not registered.
        """
        return self._by_tag.get(tag) or self.registry.by_tag(tag)

    def function_name(self, cls: type) -> str | None:
        """Return the name that the function for *cls* has in generated source."""
        known = self._names.get(cls)
        if known is not None:
            return known
        shape = self.registry.shape(cls)
        if shape is None or shape.kind == "enum":
            return None
        return self._compile(shape)

    def _compile(self, shape: Shape) -> str:
        name = f"write_{self.space.name(shape, 'shape')}"

        def publish() -> None:
            self.writers[shape.cls] = self.space.names[name]
            self._names[shape.cls] = name
            self._by_tag[shape.mark.tag] = shape

        # A class may refer to itself: its name counts before there is a function.
        if not self.space.begin(name, publish):
            return name
        if self.registry.may_write(shape.cls):
            source = _Function(self, shape).source(name)
            self.space.compile(shape.mark.tag, source)
        else:
            self.space.names[name] = _refusing(shape)
        return name

    def place(self, slot: Slot, family: str) -> Write:
        """Return the function that writes any value of *slot*.

        Args:
            slot: A place inside a container.
            family: The family of the readers in it.
        """
        name = f"{family}_{self.space.name(slot, 'slot')}"

        def source() -> str:
            value = _Expressions(self, family).value(slot, "v", "v", 0)
            return (
                f"def {name}(v, w, level):\n    times, time = w.times, None\n"
                f"    return {value}\n"
            )

        function: Write = self.space.once(name, source)
        return function


def _refusing(shape: Shape) -> Write:
    """Return the function for a class that this codec could not read back."""

    def refuse(*_: object) -> Wire:
        raise unreadable(shape.mark.tag, type_name(shape.cls))

    return refuse


class _Expressions:
    """Expressions for the wire form of values."""

    def __init__(
        self, program: WriteProgram, family: str, *, trusting: bool = False
    ) -> None:
        self._program = program
        self._name = program.space.name
        self._family = family
        self._careful = program.careful
        # A frozen class with a check holds what its annotations say.
        self._trusting = trusting and not self._careful

    def _if(self, test: str, value: str, slot: Slot, v: str) -> str:
        """Return *value*, refused if *test* fails; the test binds *v*."""
        return (
            f"({value} if {test} else w.rare.refuse({v}, {self._name(slot, 'slot')}))"
        )

    def at(self, step: str, value: str) -> str:
        """Return the expression *value*, evaluated with *step* on the path."""
        return f"w.leave(w.enter({step}), {value})" if self._careful else value

    def value(self, slot: Slot, source: str, v: str, deeper: int) -> str:
        """Return the expression for the wire form of a value.

        Args:
            slot: Where the value stands.
            source: The value's expression, which also binds it to *v*; evaluated first.
            v: The name that holds it from then on.
            deeper: How many levels below its object's map the value stands.
        """
        level = f"level + {deeper}"
        match slot:
            case Untyped(dollars=dollars):
                return self._untyped(source, v, level, dollars=dollars)
            case Scalar(cls=cls):
                return self._scalar(cls, source, v, slot, level)
            case Member():
                return self._member(slot, source, v)
            case Choice(values=values):
                if self._trusting:
                    return source
                kinds = self._name(frozenset(map(type, values)), "kinds")
                pairs = self._name(frozenset((type(c), c) for c in values), "choices")
                test = f"type({source}) in {kinds} and (type({v}), {v}) in {pairs}"
                return self._if(test, v, slot, v)
            case Objects():
                return self._objects(slot, source, v, level)
            case ReaderPlace():
                return f"w.reader({source}, {self._family!r}, {level})"
            case HandlerPlace():
                return f"w.rare.handler({source})"
            case ClassPlace():
                return f"w.rare.class_tag({source}, {self._name(slot, 'slot')})"
            case Sequence(kind=kind) if kind is not deque:
                return self._sequence(slot, source, v, deeper)
            case OneOf():
                return self._one_of(slot, source, v, deeper)
            case Sequence() | Row() | Table():
                place = self._name(slot, "slot")
                return f"w.rare.typed({source}, {place}, {self._family!r}, {level})"

    def _untyped(self, source: str, v: str, level: str, *, dollars: bool) -> str:
        if dollars:
            return f"w.rare.json({source}, {level})"
        if self._careful:
            return f"w.untyped({source}, {level})"
        # Written out: most untyped values are text or an empty stash.
        return (
            f"({v} if type({source}) is str"
            f" else NO_ENTRIES if type({v}) is dict and not {v}"
            f" else anything(f({v}, w, {level} + 1)) if (f := written(type({v})))"
            f" else w.untyped({v}, {level}))"
        )

    def _scalar(self, cls: type, source: str, v: str, slot: Slot, level: str) -> str:
        if cls is type(None):
            return self._if(f"{source} is None", "None", slot, v)
        good = self._good_scalar(cls, v, level)
        if self._trusting and cls is not float:
            return (
                source if good == v else f"({good} if {source} is not None else None)"
            )
        return self._if(f"type({source}) is {self._name(cls, 'cls')}", good, slot, v)

    def _good_scalar(self, cls: type, v: str, level: str) -> str:
        hook = self._program.hooks.scalar(cls)
        if hook is not None:
            return f"w.own({self._name(hook[0], 'hook')}, {v}, {level})"
        match cls.__name__:
            case "str":
                return f"write_text({v})" if self._careful else v
            case "bool" | "NoneType":
                return v
            case "int":
                return f"({v} if LEAST <= {v} <= MOST else write_int({v}))"
            case "float":
                return f"({v} if isfinite({v}) else write_float({v}))"
            case "datetime":
                # The times of one object are often one time.
                return (
                    f"(text if {v} is time else"
                    f" (text := times.get(id(time := {v})) or w.as_time({v})))"
                )
            case "bytes":
                return f"w.as_bytes({v})"
            case _:
                return f"write_leaf({v})"

    def _member(self, slot: Member, source: str, v: str) -> str:
        attribute = "_value_" if slot.by_value else "_name_"
        if self._trusting and not slot.is_odd:
            return f"{source}.{attribute}"
        good = f"{v}.{attribute}"
        if slot.is_odd:
            good = f"write_scalar({good})"
        test = f"type({source}) is {self._name(slot.cls, 'cls')}"
        return self._if(test, good, slot, v)

    def _objects(self, slot: Objects, source: str, v: str, level: str) -> str:
        place = self._name(slot, "slot")
        if len(slot.bases) == 1:
            function = self._program.function_name(slot.bases[0])
            if function is not None:
                cls = self._name(slot.bases[0], "cls")
                return (
                    f"({function}({v}, w, {level}) if type({source}) is {cls}"
                    f" else w.instance({v}, {place}, {level}))"
                )
        table = self._name(Known(), "table")
        return (
            f"(f({v}, w, {level}) if (f := {table}.get(type({source})))"
            f" else w.instance({v}, {place}, {level}, {table}))"
        )

    def _sequence(self, slot: Sequence, source: str, v: str, deeper: int) -> str:
        item = slot.item
        members = v if slot.kind in (list, tuple) else f"w.members({v})"
        element, index = f"e{deeper}", f"i{deeper}"
        each = f"for {element} in {members}"
        value = self.value(item, element, element, deeper + 1)
        if self._careful:
            each = f"for {index}, {element} in enumerate({members})"
            value = self.at(index, value)
        if self._trusting:
            return f"([{value} {each}] if {source} else NO_ITEMS)"
        test = f"type({source}) is {self._name(slot.kind, 'cls')}"
        return self._if(test, f"([{value} {each}] if {v} else NO_ITEMS)", slot, v)

    def _one_of(self, slot: OneOf, source: str, v: str, deeper: int) -> str:
        place = self._name(slot, "slot")
        if self._trusting and slot.other is None and not {int, float} & {*slot.scalars}:
            # Text, bools and None stand as they are.
            return source
        kinds = [cls for cls in slot.scalars if cls is not type(None)]
        tests = [
            (
                f"type({{}}) is {self._name(cls, 'cls')}",
                self._good_scalar(cls, v, f"level + {deeper}"),
            )
            for cls in kinds
        ]
        if type(None) in slot.scalars:
            tests.insert(0, ("{} is None", "None"))
        chain = "".join(
            f"{good} if {test.format(v if index else source)} else "
            for index, (test, good) in enumerate(tests)
        )
        if slot.other is None:
            return f"({chain}w.rare.refuse({v}, {place}))"
        return f"({chain}{self.value(slot.other, v, v, deeper)})"


class _Function(_Expressions):
    """The definition of one class's function."""

    def __init__(self, program: WriteProgram, shape: Shape) -> None:
        trusting = shape.checked and not shape.mutable
        super().__init__(program, shape.family, trusting=trusting)
        self._shape = shape
        self._hook = program.hooks.unstructure(shape)

    def source(self, name: str) -> str:
        """Return the definition under the given name."""
        entries = self._entries()
        timed = any("times" in value for value in entries.values())
        display = self._dict(entries) if self._careful else self._form(entries)
        body = [
            *(["times, time = w.times, None"] if timed else []),
            *(self._leaf(display) if self._is_leaf() else self._node(display)),
            "w.kept.append(o)",
            "return out",
        ]
        head = f"def {name}(o, w, level):  # {type_name(self._shape.cls)}"
        return "\n".join([head, *(f"    {line}" for line in body), ""])

    def _dict(self, entries: dict[str, str]) -> list[str]:
        lines = (f"    {key!r}: {value}," for key, value in entries.items())
        return ["out = {", *lines, "}"]

    def _form(self, entries: dict[str, str]) -> list[str]:
        made = self._name(form(self._shape.cls.__name__, list(entries)), "form")
        lines = (f"    {value},  # {key!r}" for key, value in entries.items())
        return [f"out = {made}(", *lines, ")"]

    def _node(self, display: list[str]) -> list[str]:
        """Return the lines for an object that may contain others, or itself."""
        return [
            "key = id(o)",
            "memo = w.memo",
            "if key in memo:",
            "    return w.met.get(key) or w.again(key, o, level)",
            f"if level > {NESTING - self._height()}:",
            "    return w.defer(key, o)",
            # Whatever is met while this is None contains itself.
            "memo[key] = None",
            *display,
            *self._extra("out"),
            "memo[key] = out",
        ]

    def _leaf(self, display: list[str]) -> list[str]:
        """Return the lines for an object of scalars: cheap enough to be made twice."""
        return [
            *display,
            "if w.memo.setdefault(id(o), out) is not out:",
            "    return w.met.get(id(o)) or w.again(id(o), o, level)",
            # What is kept may refer to its owner.
            *self._extra("out = w.memo[id(o)]"),
        ]

    def _is_leaf(self) -> bool:
        return (
            self._hook is None
            and self._shape.extra not in (IN_DICT, "__pydantic_extra__")
            and all(_is_leaf_slot(item.slot) for item in self._shape.fields)
        )

    def _height(self) -> int:
        if self._hook is not None:
            return height(UNTYPED)
        return max((height(item.slot) for item in self._shape.fields), default=0)

    def _entries(self) -> dict[str, str]:
        """Return the expression for each key of the map."""
        entries = {"$type": repr(self._shape.mark.tag)}
        if self._shape.mark.version > 1:
            entries["$v"] = str(self._shape.mark.version)
        if self._hook is not None:
            hook = self._name(self._hook, "hook")
            return {**entries, "$value": f"w.own({hook}, o, level + 1)"}
        return {**entries, **{f.key: self._field(f) for f in self._shape.fields}}

    def _field(self, item: Field) -> str:
        source = f"(v := o.{item.name})"
        if self._careful:
            source = f"(v := w.rare.attribute(o, {item.name!r}))"
        value = self.value(item.slot, source, "v", 1)
        if value == f"(v := o.{item.name})":
            # Nothing looks at it again.
            value = f"o.{item.name}"
        return self.at(repr(item.key), value)

    def _extra(self, target: str) -> list[str]:
        place = self._shape.extra
        if place is None or self._hook is not None:
            return []
        if place == IN_DICT:
            test, found = f"{place!r} in o.__dict__", f"o.__dict__[{place!r}]"
        else:
            test = found = f"o.{place}"
        added = f"w.kept_fields.extras(out, {found}, level + 1)"
        return [f"if {test}:", f"    {target} = {added}"]


def _is_leaf_slot(slot: Slot) -> bool:
    match slot:
        case Scalar() | Member() | Choice() | OneOf(other=None):
            return True
        case _:
            return False


class Known(dict[type, Any]):
    """The functions met so far in one place; filled by `WriteCall.instance`."""
