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
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

import attrs

from graphcodec._classes._layouts import Kind, Layout, is_made_plainly, layout_of
from graphcodec._classes._marks import Mark
from graphcodec._classes._slots import (
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
from graphcodec._live import type_name
from graphcodec.errors import InvalidValueError


@attrs.frozen(kw_only=True)
class Field:
    """One field of a class: a part of its layout, and what may stand there.

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
        layout: How an instance is taken apart and made.
        fields: Its fields in the order of their declaration.
        direct: Whether an instance may be made by setting its slots.
        checked: Whether one function verifies all that the slots say, and more.
        family: The family of its readers.
        encode: A function that gives the value to write, for a class with its own.
        decode: A function that takes that value back.
    """

    cls: type
    mark: Mark
    layout: Layout
    fields: tuple[Field, ...] = ()
    direct: bool = False
    checked: bool = False
    family: str = "media"
    encode: Callable[[Any], object] | None = None
    decode: Callable[[Any], object] | None = None

    @property
    def kind(self) -> Kind:
        """What made the class."""
        return self.layout.kind

    @property
    def extra(self) -> str | None:
        """Where an instance keeps unknown fields."""
        return self.layout.extra

    @property
    def mutable(self) -> bool:
        """Whether an instance can exist before its fields do."""
        return self.layout.mutable


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
        own = Layout(kind="custom")
        return Shape(cls=cls, mark=mark, layout=own, encode=encode, decode=decode)
    if hasattr(cls, "__graphcodec_encode__"):
        return _protocol(cls, mark)
    if issubclass(cls, enum.Enum):
        return Shape(cls=cls, mark=mark, layout=Layout(kind="enum"))
    layout = layout_of(cls)
    if layout.kind != "leaf":
        return _from_layout(cls, mark, layout, _Hints(cls, is_object, names))
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
        layout=Layout(kind="custom"),
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
        self._defaults = _scalar_defaults(cls)

    def slot(self, name: str) -> Slot:
        """Return the slot of the field *name*."""
        if name not in self._hints:
            return UNTYPED
        slot = slot_of(self._hints[name], self._is_object)
        default = self._defaults.get(name)
        # ``seconds: float = 0`` says by itself that an int may stand there.
        if slot == Scalar(float) and default is int:
            return OneOf((float, int), None)
        return slot


def _scalar_defaults(cls: Any) -> dict[str, type]:
    """Return the types of the defaults of a dataclass, which nobody else checks."""
    if not dataclasses.is_dataclass(cls):
        return {}
    return {item.name: type(item.default) for item in dataclasses.fields(cls)}


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


def _from_layout(cls: Any, mark: Mark, layout: Layout, hints: _Hints) -> Shape:
    refuse = _REFUSALS.get(layout.kind)
    if refuse is not None:
        refuse(cls, mark)
    checked = "__graphcodec_check__" in vars(cls)
    # A subclass that is not decorated itself is made by the constructor of its base.
    own = layout.kind == "attrs" and "__attrs_attrs__" in vars(cls)
    direct = own and attrs.inspect(cls).is_slotted
    return Shape(
        cls=cls,
        mark=mark,
        layout=layout,
        fields=tuple(
            Field(
                name=part.name,
                key=part.key or part.name,
                slot=hints.slot(part.name),
                argument=part.argument,
                required=part.required,
            )
            for part in layout.parts
        ),
        direct=direct and (checked or _is_plain(cls)),
        checked=checked,
        family=getattr(cls, "__graphcodec_family__", "media"),
    )


def _is_plain(cls: Any) -> bool:
    """Say whether the constructor of *cls* does nothing but set its slots."""
    return (
        type(cls) is type
        and attrs.inspect(cls).added_init
        and is_made_plainly(cls)
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


def _refuse_dataclass(cls: Any, mark: Mark) -> None:
    for item in dataclasses.fields(cls):
        _refuse_attrs_extra(item, cls)
    _refuse_init_vars(cls, mark)


def _refuse_attrs_extra(item: dataclasses.Field[Any], cls: type) -> None:
    if type(item.default).__module__.startswith("attr"):
        msg = f"{type_name(cls)}.{item.name} is declared with graphcodec.extra()"
        hint = (
            "that is for attrs classes; in a dataclass write"
            " field(default_factory=dict, metadata={'graphcodec': 'extra'})"
        )
        raise InvalidValueError(msg, type_name=type_name(cls), hint=hint)


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


def _refuse_private_state(cls: Any, mark: Mark) -> None:
    if cls.__private_attributes__:
        names = ", ".join(sorted(cls.__private_attributes__))
        msg = f"{type_name(cls)} has private state ({names}), which is not kept"
        hint = "make it fields, or register(cls, tag, encode=, decode=)"
        raise InvalidValueError(msg, type_name=type_name(cls), tag=mark.tag, hint=hint)


_REFUSALS: Final[Mapping[Kind, Callable[[Any, Mark], None]]] = {
    "dataclass": _refuse_dataclass,
    "pydantic": _refuse_private_state,
}


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
