"""How each class looks in JSON, read off its annotations.

The forms are those of Rust's serde, in which the first logs were written. A class is a
map of its fields. A union of classes is external, ``{"User": {...}}``, with the variant
that each class names, unless `_INTERNAL` says under which key the variant stands among
the fields. What looks otherwise has a form of its own in `_OWN`.

Only the outline is read here: the constructors verify the values, so nothing is tested
twice. A field that no class knows is kept and written back.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false
# A parsed document is Any until it was looked at.

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Union, cast, get_args, get_origin, get_type_hints

from attrs import NOTHING, fields, frozen

from graphcodec._unknown import Kept
from graphcodec.errors import InvalidValueError
from graphcodec.log._content import ArgValue
from graphcodec.log._failures import ERROR_DETAILS, ERROR_TEXTS, AgenticError
from graphcodec.log._moments import Timestamp
from graphcodec.log._records import SessionMemory, SessionRecord
from graphcodec.log._rules import CUSTOM
from graphcodec.log._tools import Args, MultiCommands, ToolDefinition
from graphcodec.log._usage import ModelId, TokenSnapshot
from graphcodec.log._words import Custom, GenKind
from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import excerpt

__all__ = ["Form", "Misfit", "UnknownVariantError", "form_of"]

Convert = Callable[[Any], Any]
_NANOS: Final = 1_000_000_000


class Misfit(Exception):  # noqa: N818 - it never leaves this package
    """A value is not what its form says.

    Attributes:
        reason: What is wrong.
        steps: Where, innermost first.
    """

    def __init__(self, reason: str, *steps: str | int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.steps = list(steps)


class UnknownVariantError(Misfit):
    """A variant that this version does not know."""


@frozen
class Form:
    """How one annotation is read and written; None where a value stands as it is."""

    read: Convert | None = None
    write: Convert | None = None


_PLAIN: Final = Form()


@contextmanager
def _at(step: str | int) -> Generator[None]:
    try:
        yield
    except Misfit as exc:
        exc.steps.append(step)
        raise


@cache
def form_of(hint: Any, custom: str = "Custom") -> Form:
    """Return the form of an annotation.

    Args:
        hint: A class, a union of classes, a tuple or mapping of them.
        custom: How the variant for words of one's own is called.
    """
    arms = [arm for arm in _arms(hint) if arm is not NoneType]
    if len(arms) > 1:
        if Custom in arms:
            return _word_form(custom)
        return _union_form(arms, _INTERNAL.get(cast("type", arms[0]).__name__))
    (arm,) = arms
    if get_origin(arm) is tuple:
        return _list_form(form_of(get_args(arm)[0]))
    if get_origin(arm) is Mapping:
        return _map_form(form_of(get_args(arm)[1]))
    if arm in _OWN:
        return _OWN[arm]
    if isinstance(arm, type) and issubclass(arm, Enum):
        return _enum_form(arm)
    if isinstance(arm, type) and issubclass(arm, Primitive):
        return _struct_form(arm)
    return _PLAIN


def _arms(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


# Containers


def _list_form(item: Form) -> Form:
    read, write = item.read, item.write

    def read_list(value: object) -> object:
        if type(value) is not list:
            raise Misfit(f"there must be a list, not {excerpt(value)}")
        if read is None:
            return tuple(value)
        out: list[object] = []
        for index, entry in enumerate(value):
            try:
                out.append(read(entry))
            except Misfit as exc:
                exc.steps.append(index)
                raise
        return tuple(out)

    def write_list(value: tuple[object, ...]) -> object:
        return list(value) if write is None else [write(entry) for entry in value]

    return Form(read_list, write_list)


def _map_form(item: Form) -> Form:
    read, write = item.read, item.write
    if read is None or write is None:
        return _PLAIN

    def read_map(value: object) -> object:
        out: dict[str, object] = {}
        for name, entry in _as_map(value).items():
            with _at(name):
                out[name] = read(entry)
        return out

    def write_map(value: Mapping[str, object]) -> object:
        return {name: write(entry) for name, entry in value.items()}

    return Form(read_map, write_map)


def _as_map(value: object) -> dict[str, Any]:
    if type(value) is not dict:
        raise Misfit(f"there must be an object, not {excerpt(value)}")
    return cast("dict[str, Any]", value)


# Words


def _enum_form(cls: type[Enum]) -> Form:
    members = {member.value: member for member in cls}

    def read(value: object) -> object:
        if type(value) is str and value in members:
            return members[value]
        if type(value) is str:
            raise UnknownVariantError(f"there is no {cls.__name__} {excerpt(value)}")
        raise Misfit(f"there must be a word, not {excerpt(value)}")

    return Form(read, lambda member: member.value)


def _word_form(custom: str) -> Form:
    """Return the form of a known word, or of one's own under the name *custom*."""

    def read(value: object) -> object:
        if type(value) is str:
            return value
        variant, text = _only_item(value)
        if variant != custom:
            raise UnknownVariantError(f"there is no variant {excerpt(variant)}")
        if type(text) is not str:
            raise Misfit(f"there must be text, not {excerpt(text)}", custom)
        return Custom(text)

    def write(value: str | Custom) -> object:
        return {custom: value.text} if isinstance(value, Custom) else value

    return Form(read, write)


def _only_item(value: object) -> tuple[str, Any]:
    """Return the variant and the content of an external union."""
    entries = _as_map(value)
    if len(entries) != 1:
        raise Misfit(f"there must be one variant, not {len(entries)}")
    return next(iter(entries.items()))


# Classes


@frozen
class _Part:
    """One field of a class.

    Attributes:
        attribute: Its name in the class.
        alias: Its name in the constructor.
        key: Its name in JSON.
        form: Its form.
        required: Whether every document has it.
        omitted: Whether None and empty are left out.
        must_be_given: Whether the constructor has no default.
    """

    attribute: str
    alias: str
    key: str
    form: Form
    required: bool
    omitted: bool
    must_be_given: bool


def _parts(cls: Any) -> list[_Part]:
    hints = get_type_hints(cls)
    return [
        _part(attribute, hints[attribute.name])
        for attribute in fields(cls)
        if "graphcodec" not in attribute.metadata
    ]


def _part(attribute: Any, hint: Any) -> _Part:
    rules = attribute.metadata
    optional = NoneType in _arms(hint)
    return _Part(
        attribute=attribute.name,
        alias=attribute.alias or attribute.name,
        key=rules.get("log_key", attribute.name),
        form=form_of(hint, rules.get(CUSTOM, "Custom")),
        required=not (optional or "log_default" in rules or "log_omit" in rules),
        omitted="log_omit" in rules,
        must_be_given=attribute.default is NOTHING,
    )


def _struct_form(cls: Any, tag: str | None = None) -> Form:
    """Return the form of a class as a map of its fields.

    Args:
        cls: The class.
        tag: The key that the variant stands under, among the fields.
    """
    parts = _parts(cls)
    known = {part.key for part in parts} | ({tag} if tag else set())
    variant = getattr(cls, "__log_variant__", None)
    legacy = _LEGACY.get(cls.__name__)

    def read(value: object) -> object:
        raw = _as_map(value)
        if legacy is not None:
            raw = legacy(raw)
        given: dict[str, object] = {}
        for part in parts:
            if part.key in raw:
                given[part.alias] = _read_part(part, raw[part.key])
            elif part.required:
                raise Misfit(f"the field {part.key!r} is missing")
            elif part.must_be_given:
                given[part.alias] = None
        out = _made(cls, given, parts)
        if not raw.keys() <= known:
            extras = {k: v for k, v in raw.items() if k not in known}
            object.__setattr__(out, "_unknown", extras)
        return out

    def write(obj: Any) -> object:
        out: dict[str, object] = {} if tag is None else {tag: variant}
        for part in parts:
            value = getattr(obj, part.attribute)
            if part.omitted and (value is None or value == ()):
                continue
            convert = part.form.write
            out[part.key] = (
                value if value is None or convert is None else convert(value)
            )
        if obj._unknown is not None:  # noqa: SLF001 - most have none
            out.update(_extras_of(obj))
        return out

    return Form(read, write)


def _read_part(part: _Part, value: object) -> object:
    if value is None and part.form.read is None:
        return None
    if value is None and not part.required:
        return None
    read = part.form.read
    if read is None:
        return value
    try:
        return read(value)
    except Misfit as exc:
        exc.steps.append(part.key)
        raise


def _made(cls: Any, given: Mapping[str, object], parts: list[_Part]) -> Any:
    try:
        return cls(**given)
    except InvalidValueError as exc:
        name = exc.path.removeprefix("$.")
        where = [part.key for part in parts if part.attribute == name.split("[")[0]]
        raise Misfit(exc.message, *where) from exc


def _extras_of(obj: Any) -> dict[str, object]:
    """Return the unknown fields of an object, to be written back."""
    extras: Mapping[str, object] = obj._unknown or {}  # noqa: SLF001 - what it is for
    return {
        name: value.tree if isinstance(value, Kept) else value
        for name, value in extras.items()
    }


def _union_form(classes: list[Any], tag: str | None) -> Form:
    variants = {cls.__log_variant__: cls for cls in classes if _has_variant(cls)}
    forms = {name: _variant_form(cls, tag) for name, cls in variants.items()}
    reads = {name: form.read for name, form in forms.items()}
    writes = {cls: (name, forms[name].write) for name, cls in variants.items()}

    def read(value: object) -> object:
        if tag is None:
            variant, inner = _only_item(value)
        else:
            variant, inner = _tagged(value, tag), value
        convert = reads.get(variant)
        if convert is None:
            raise UnknownVariantError(f"there is no variant {excerpt(variant)}")
        if tag is not None:
            return convert(inner)
        with _at(variant):
            return convert(inner)

    def write(obj: object) -> object:
        name, convert = writes[type(obj)]
        tree = obj if convert is None else convert(obj)
        return tree if tag is not None else {name: tree}

    return Form(read, write)


def _has_variant(cls: Any) -> bool:
    return hasattr(cls, "__log_variant__")


def _variant_form(cls: Any, tag: str | None) -> Form:
    return form_of(cls) if tag is None else _struct_form(cls, tag)


def _tagged(value: object, tag: str) -> str:
    raw = _as_map(value)
    if tag not in raw:
        raise Misfit(f"the field {tag!r} is missing")
    variant = raw[tag]
    if type(variant) is not str:
        raise Misfit(f"there must be a word, not {excerpt(variant)}", tag)
    return variant


# Under which key a variant stands among the fields, by the first class of the union.
_INTERNAL: Final[Mapping[str, str]] = {
    "Conversation": "message_type",
    "LogProbs": "type",
}


# What looks like nothing else


def _read_moment(value: object) -> Timestamp:
    raw = _as_map(value)
    parts: list[int] = []
    for name in ("secs_since_epoch", "nanos_since_epoch"):
        if name not in raw:
            raise Misfit(f"the field {name!r} is missing")
        if type(raw[name]) is not int:
            raise Misfit(f"there must be an int, not {excerpt(raw[name])}", name)
        parts.append(raw[name])
    seconds, nanos = parts
    if not 0 <= nanos < 1 << 32:
        raise Misfit(f"there must be less, not {nanos}", "nanos_since_epoch")
    return cast(
        "Timestamp", _made(Timestamp, {"nanoseconds": seconds * _NANOS + nanos}, [])
    )


def _write_moment(value: Timestamp) -> object:
    seconds, nanos = divmod(value.nanoseconds, _NANOS)
    return {"secs_since_epoch": seconds, "nanos_since_epoch": nanos}


def _read_model(value: object) -> object:
    kind, pair = _only_item(value)
    if kind not in {"Name", "Alias", "Group", "Architecture"}:
        raise UnknownVariantError(f"there is no variant {excerpt(kind)}")
    with _at(kind):
        name, quantization = _pair(pair, "name and quantization")
        if quantization is not None:
            quantization = cast("Convert", _word_form("Custom").read)(quantization)
        given = {"kind": kind, "name": name, "quantization": quantization}
        return _made(ModelId, given, [])


def _pair(value: object, of: str) -> tuple[Any, Any]:
    if type(value) is not list or len(value) != 2:  # noqa: PLR2004 - a pair
        raise Misfit(f"there must be a pair of {of}")
    first, second = value
    return first, second


def _write_model(model: ModelId) -> object:
    quantization: object = model.quantization
    if quantization is not None:
        quantization = cast("Convert", _word_form("Custom").write)(quantization)
    return {model.kind: [model.name, quantization]}


def _read_argument(value: object) -> object:
    kind, inner = _only_item(value)
    with _at(kind):
        if kind == "JSONMap":
            inner = {
                name: _read_argument(item) for name, item in _as_map(inner).items()
            }
        elif kind == "Duration":
            raw = _as_map(inner)
            inner = (raw.get("secs"), raw.get("nanos"))
        elif kind in {"Float32", "Float64"} and type(inner) is int:
            inner = float(inner)
        try:
            return ArgValue(kind, inner)
        except InvalidValueError as exc:
            if exc.message.startswith("ArgValue.value must be of a kind"):
                raise UnknownVariantError(exc.message) from exc
            raise Misfit(exc.message) from exc


def _write_argument(argument: ArgValue) -> object:
    value = argument.value
    if argument.kind == "JSONMap":
        inner = cast("Mapping[str, ArgValue]", value)
        value = {name: _write_argument(item) for name, item in inner.items()}
    elif argument.kind == "Duration":
        seconds, nanos = cast("tuple[int, int]", value)
        value = {"secs": seconds, "nanos": nanos}
    return {argument.kind: value}


def _read_error(value: object) -> object:
    kind, inner = _only_item(value)
    extras: dict[str, object] = {}
    with _at(kind):
        details = ERROR_DETAILS.get(kind)
        if details is not None:
            raw = _as_map(inner)
            extras = {k: v for k, v in raw.items() if k not in details}
            inner = {name: _read_detail(raw, name, details[name]) for name in details}
        elif kind not in ERROR_TEXTS:
            raise UnknownVariantError(f"there is no variant {excerpt(kind)}")
        error = _made(AgenticError, {"kind": kind, "value": inner}, [])
    if extras:
        object.__setattr__(error, "_unknown", extras)
    return error


def _read_detail(raw: Mapping[str, object], name: str, kind: object) -> object:
    if name not in raw:
        raise Misfit(f"the field {name!r} is missing")
    with _at(name):
        if kind is TokenSnapshot:
            return cast("Convert", form_of(TokenSnapshot).read)(raw[name])
        if kind is GenKind:
            return cast("Enum", cast("Convert", form_of(GenKind).read)(raw[name])).value
        return raw[name]


def _write_error(error: AgenticError) -> object:
    if error.kind in ERROR_TEXTS:
        return {error.kind: error.value}
    details = dict(cast("Mapping[str, object]", error.value))
    if error.kind == "BudgetExhausted":
        write = cast("Convert", form_of(TokenSnapshot).write)
        details["snapshot"] = write(details["snapshot"])
    return {error.kind: {**details, **_extras_of(error)}}


def _read_schema(value: object) -> object:
    return Args(_as_map(value))


def _read_commands(value: object) -> object:
    name, definitions = _pair(value, "name and definitions")
    with _at(1):
        definitions = cast("Convert", _definitions().read)(definitions)
    return _made(MultiCommands, {"name": name, "definitions": definitions}, [])


def _write_commands(tool: MultiCommands) -> object:
    return [tool.name, cast("Convert", _definitions().write)(tool.definitions)]


def _definitions() -> Form:
    return _list_form(form_of(ToolDefinition))


def _read_memory(value: object) -> object:
    read = cast("Convert", form_of(SessionRecord).read)
    found: dict[str, object] = {}
    for name, record in _as_map(value).items():
        if name in _TIERS and record is not None:
            with _at(name):
                found[name] = read(record)
    return _made(SessionMemory, found, [])


def _write_memory(memory: SessionMemory) -> object:
    write = cast("Convert", form_of(SessionRecord).write)
    records = {name: getattr(memory, name) for name in _TIERS}
    return {name: write(r) for name, r in records.items() if r is not None}


_TIERS: Final = ("working", "observation", "reflection")

_OWN: Final[Mapping[Any, Form]] = {
    Timestamp: Form(_read_moment, _write_moment),
    ModelId: Form(_read_model, _write_model),
    ArgValue: Form(_read_argument, _write_argument),
    AgenticError: Form(_read_error, _write_error),
    SessionMemory: Form(_read_memory, _write_memory),
    Args: Form(_read_schema, lambda args: args.schema),
    MultiCommands: Form(_read_commands, _write_commands),
}


# Shapes that were written by early versions


def _old_snapshot(raw: dict[str, Any]) -> dict[str, Any]:
    """Read ``total_input`` and ``total_output``."""
    if "total_input" not in raw or "total" in raw:
        return raw
    rest = {k: v for k, v in raw.items() if k not in {"total_input", "total_output"}}
    got, gave = raw["total_input"], raw.get("total_output")
    total = got + gave if type(got) is int and type(gave) is int else None
    return {**rest, "total": total, "input": got, "output": gave, "rolling": total}


_LEGACY: Final[Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "TokenSnapshot": _old_snapshot,
}
