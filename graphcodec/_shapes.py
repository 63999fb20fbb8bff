"""What the codec knows of a class: its fields, how one is made, where extras go.

Each kind of class (attrs, dataclass, pydantic model, msgspec Struct, Enum, a class with
functions of its own) is read into the same `Shape`; the code generators see nothing
else of it.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# A parsed document, and a user's object, is Any until it was looked at.

from __future__ import annotations

import dataclasses
import enum
import sys
import typing
from collections import ChainMap, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias
from uuid import UUID

import attrs
import msgspec

from graphcodec._live import type_name
from graphcodec._marks import EXTRA, IN_DICT, SKIP, Mark
from graphcodec._slots import (
    UNTYPED,
    Choice,
    IsObject,
    Member,
    OneOf,
    Row,
    Scalar,
    Sequence,
    Slot,
    Table,
    slot_of,
)
from graphcodec.errors import InvalidValueError

Kind: TypeAlias = Literal["attrs", "dataclass", "pydantic", "struct", "enum", "custom"]


@attrs.frozen(kw_only=True)
class Field:
    """One field of a class.

    Attributes:
        name: The attribute.
        key: The key on the wire.
        slot: What may stand there.
        argument: The constructor's keyword; None for one that is set afterwards.
        required: Whether it has no default.
    """

    name: str
    key: str
    slot: Slot
    argument: str | None
    required: bool = False


@attrs.frozen(kw_only=True, eq=False)
class Shape:
    """One class, as the code generators see it.

    Attributes:
        cls: The class.
        mark: Its tag and versions.
        kind: What made it.
        fields: Its fields in the order of their declaration.
        extra: The attribute that keeps unknown fields; `IN_DICT` if that is a key in
            ``__dict__``; None if there is no place.
        mutable: Whether an instance can exist before its fields do.
        direct: Whether an instance may be made by setting its slots.
        checked: Whether one function verifies all that the slots say, and more.
        skipped: Attributes that are no data, with the value they start with.
        family: The family of its readers.
        encode: A function that gives the value to write, for a class with its own.
        decode: A function that takes that value back.
    """

    cls: type
    mark: Mark
    kind: Kind
    fields: tuple[Field, ...] = ()
    extra: str | None = None
    mutable: bool = False
    direct: bool = False
    checked: bool = False
    skipped: Mapping[str, object] = attrs.field(factory=dict[str, object])
    family: str = "media"
    encode: Callable[[Any], object] | None = None
    decode: Callable[[Any], object] | None = None


def shape_of(
    cls: type,
    mark: Mark,
    is_object: IsObject,
    *,
    names: Mapping[str, object],
    encode: Callable[[Any], object] | None = None,
    decode: Callable[[Any], object] | None = None,
) -> Shape:
    """Read a class.

    Args:
        cls: An attrs class, dataclass, Enum, pydantic model, msgspec Struct or a class
            with the three methods of the protocol; any class if functions are given.
        mark: Its tag and versions.
        is_object: What the codec knows of other classes.
        names: Further names that its annotations may use.
        encode: Gives the value to write instead of the fields.
        decode: Takes that value back.

    Raises:
        InvalidValueError: If the class can't be read, with the reason.
    """
    if encode is not None and decode is not None:
        return Shape(cls=cls, mark=mark, kind="custom", encode=encode, decode=decode)
    if hasattr(cls, "__graphcodec_encode__"):
        return _protocol(cls, mark)
    if issubclass(cls, enum.Enum):
        return Shape(cls=cls, mark=mark, kind="enum")
    for test, read in _KINDS:
        if test(cls):
            return read(cls, mark, _Hints(cls, is_object, names))
    msg = f"{type_name(cls)} is no class that graphcodec can read"
    hint = (
        "make it an attrs class or dataclass, or register(cls, tag, encode=, decode=)"
    )
    raise InvalidValueError(msg, type_name=type_name(cls), tag=mark.tag, hint=hint)


def _protocol(cls: type, mark: Mark) -> Shape:
    decode = getattr(cls, "__graphcodec_decode__", None)
    if decode is None:
        msg = f"{type_name(cls)} has __graphcodec_encode__ but no __graphcodec_decode__"
        raise InvalidValueError(msg, type_name=type_name(cls), tag=mark.tag)
    return Shape(
        cls=cls,
        mark=mark,
        kind="custom",
        encode=lambda obj: obj.__graphcodec_encode__(),
        decode=decode,
    )


class _Hints:
    """The slots of one class's fields."""

    def __init__(
        self, cls: type, is_object: IsObject, names: Mapping[str, object]
    ) -> None:
        self._is_object = is_object
        self._hints = _resolve(cls, names)

    def slot(self, name: str) -> Slot:
        """Return the slot of the field *name*."""
        if name not in self._hints:
            return UNTYPED
        return slot_of(self._hints[name], self._is_object)


def _resolve(cls: type, names: Mapping[str, object]) -> dict[str, object]:
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except NameError:
        # A class made inside a function: its neighbours may be registered, too.
        module = vars(sys.modules.get(cls.__module__, typing))
        known = ChainMap(dict(module), {**names, cls.__name__: cls})
    try:
        return typing.get_type_hints(cls, localns=known, include_extras=True)
    except NameError as exc:
        msg = f"an annotation of {type_name(cls)} uses the unknown name {exc.name!r}"
        hint = "define it at the top of the module, or register its class first"
        raise InvalidValueError(msg, type_name=type_name(cls), hint=hint) from None


def _attrs(cls: type, mark: Mark, hints: _Hints) -> Shape:
    props = attrs.inspect(cls)
    fields: list[Field] = []
    skipped: dict[str, object] = {}
    extra = None
    for attribute in attrs.fields(cls):
        role = attribute.metadata.get("graphcodec")
        if role == EXTRA:
            extra = attribute.name
        elif role == SKIP:
            skipped[attribute.name] = attribute.default
        else:
            fields.append(_attrs_field(attribute, hints))
    checked = "__graphcodec_check__" in vars(cls)
    return Shape(
        cls=cls,
        mark=mark,
        kind="attrs",
        fields=tuple(fields),
        extra=extra or _dict_place(cls),
        mutable=not props.is_frozen and _has_plain_new(cls),
        direct=props.is_slotted and (checked or _is_plain(cls, props)),
        checked=checked,
        skipped=skipped,
        family=getattr(cls, "__graphcodec_family__", "media"),
    )


def _attrs_field(attribute: attrs.Attribute[object], hints: _Hints) -> Field:
    name = attribute.name
    alias = attribute.alias or name
    key = attribute.metadata.get("graphcodec_key", alias)
    argument = alias if attribute.init else None
    return Field(
        name=name,
        key=key,
        slot=hints.slot(name),
        argument=argument,
        required=attribute.init and attribute.default is attrs.NOTHING,
    )


def _is_plain(cls: type, props: attrs.ClassProps) -> bool:
    """Say whether the constructor of *cls* does nothing but set its slots."""
    return (
        type(cls) is type
        and props.added_init
        and _has_plain_new(cls)
        and not hasattr(cls, "__attrs_post_init__")
        and not hasattr(cls, "__attrs_pre_init__")
        and not hasattr(cls.__init_subclass__, "__func__")
        and _all_slots(cls) == {attribute.name for attribute in attrs.fields(cls)}
        and all(
            attribute.init
            and attribute.converter is None
            and attribute.validator is None
            and attribute.metadata.get("graphcodec") is None
            for attribute in attrs.fields(cls)
        )
    )


def _all_slots(cls: type) -> set[str]:
    """Return all slots of *cls*: a cached hash, say, is one beside the fields."""
    found: set[str] = set()
    for base in cls.__mro__:
        slots: Iterable[str] = vars(base).get("__slots__", ())
        found.update([slots] if isinstance(slots, str) else slots)
    return found - {"__weakref__"}


def _has_plain_new(cls: Any) -> bool:
    return cls.__new__ is object.__new__


def _dict_place(cls: type) -> str | None:
    return IN_DICT if cls.__dictoffset__ else None


def _dataclass(cls: type, mark: Mark, hints: _Hints) -> Shape:
    fields: list[Field] = []
    extra = None
    skipped: dict[str, object] = {}
    _refuse_init_vars(cls, mark)
    for item in dataclasses.fields(cls):
        _refuse_attrs_extra(item, cls)
        role = item.metadata.get("graphcodec")
        if role == EXTRA:
            extra = item.name
        elif role == SKIP:
            skipped[item.name] = item.default
        else:
            fields.append(_dataclass_field(item, hints))
    params: Any = vars(cls).get("__dataclass_params__")
    frozen = params is None or params.frozen
    return Shape(
        cls=cls,
        mark=mark,
        kind="dataclass",
        fields=tuple(fields),
        extra=extra or _dict_place(cls),
        mutable=not frozen and _has_plain_new(cls),
        skipped=skipped,
        family=getattr(cls, "__graphcodec_family__", "media"),
    )


def _refuse_attrs_extra(item: dataclasses.Field[Any], cls: type) -> None:
    if type(item.default).__module__.startswith("attr"):
        msg = f"{type_name(cls)}.{item.name} is declared with graphcodec.extra()"
        hint = (
            "that is for attrs classes; in a dataclass write"
            " field(default_factory=dict, metadata={'graphcodec': 'extra'})"
        )
        raise InvalidValueError(msg, type_name=type_name(cls), hint=hint)


def _dataclass_field(item: dataclasses.Field[Any], hints: _Hints) -> Field:
    missing = item.default is item.default_factory is dataclasses.MISSING
    return Field(
        name=item.name,
        key=item.name,
        slot=hints.slot(item.name),
        argument=item.name if item.init else None,
        required=item.init and missing,
    )


def _refuse_init_vars(cls: type, mark: Mark) -> None:
    every: dict[str, Any] = cls.__dataclass_fields__  # type: ignore[attr-defined]
    for name, item in every.items():
        if type(item.type) is dataclasses.InitVar or "InitVar" in str(item.type):
            missing = item.default is item.default_factory is dataclasses.MISSING
            if missing and name not in {f.name for f in dataclasses.fields(cls)}:
                msg = f"{type_name(cls)} needs the InitVar {name!r}, which is not kept"
                hint = "give it a default, or register(cls, tag, encode=, decode=)"
                raise InvalidValueError(
                    msg, type_name=type_name(cls), tag=mark.tag, hint=hint
                )


def _pydantic(cls: Any, mark: Mark, hints: _Hints) -> Shape:
    if cls.__private_attributes__:
        names = ", ".join(sorted(cls.__private_attributes__))
        msg = f"{type_name(cls)} has private state ({names}), which is not kept"
        hint = "make it fields, or register(cls, tag, encode=, decode=)"
        raise InvalidValueError(msg, type_name=type_name(cls), tag=mark.tag, hint=hint)
    fields = tuple(
        Field(
            name=name,
            key=name,
            slot=hints.slot(name),
            argument=name,
            required=info.is_required(),
        )
        for name, info in cls.model_fields.items()
    )
    allows = cls.model_config.get("extra") == "allow"
    return Shape(
        cls=cls,
        mark=mark,
        kind="pydantic",
        fields=fields,
        extra="__pydantic_extra__" if allows else None,
        mutable=not cls.model_config.get("frozen"),
        family=getattr(cls, "__graphcodec_family__", "media"),
    )


def _struct(cls: Any, mark: Mark, hints: _Hints) -> Shape:
    fields = tuple(
        Field(
            name=item.name,
            key=item.name,
            slot=hints.slot(item.name),
            argument=item.name,
            required=item.required,
        )
        for item in msgspec.structs.fields(cls)
    )
    return Shape(
        cls=cls,
        mark=mark,
        kind="struct",
        fields=fields,
        family=getattr(cls, "__graphcodec_family__", "media"),
    )


_KNOWN_TO_MSGSPEC: Final = frozenset(
    {
        str,
        int,
        float,
        bool,
        type(None),
        bytes,
        bytearray,
        datetime,
        date,
        time,
        timedelta,
        UUID,
        Decimal,
    }
)


@lru_cache(maxsize=1024)
def struct_checks(cls: type) -> tuple[tuple[str, object], ...]:
    """Return the fields of a Struct that msgspec can check, with their annotations.

    Args:
        cls: A msgspec Struct.
    """
    hints = typing.get_type_hints(cls, include_extras=True)
    return tuple(
        (name, hint)
        for name, hint in hints.items()
        if _is_checkable(slot_of(hint, lambda _: False))
    )


def _is_checkable(slot: Slot) -> bool:
    match slot:
        case Scalar(cls=cls):
            return cls in _KNOWN_TO_MSGSPEC
        case Member() | Choice():
            return True
        case OneOf(scalars=scalars, other=other):
            known = all(cls in _KNOWN_TO_MSGSPEC for cls in scalars)
            return known and (other is None or _is_checkable(other))
        case Sequence(kind=kind, item=item):
            return kind is not deque and _is_checkable(item)
        case Row(items=items):
            return all(map(_is_checkable, items))
        case Table(key=key, value=value):
            return _is_checkable(key) and _is_checkable(value)
        case _:
            return False


def _is_pydantic(cls: type) -> bool:
    return hasattr(cls, "__pydantic_validator__") and hasattr(cls, "model_fields")


# A pydantic model or Struct may look like a dataclass, but not the other way round.
_KINDS: Final[tuple[tuple[Callable[[type], bool], Callable[..., Shape]], ...]] = (
    (_is_pydantic, _pydantic),
    (lambda cls: hasattr(cls, "__struct_fields__"), _struct),
    (attrs.has, _attrs),
    (dataclasses.is_dataclass, _dataclass),
)


def field_values(shape: Shape, obj: object) -> Iterator[tuple[Field, object]]:
    """Yield each field of *obj* that is set, with its value.

    Args:
        shape: The shape of its class.
        obj: An instance.
    """
    for item in shape.fields:
        if hasattr(obj, item.name):
            yield item, getattr(obj, item.name)
