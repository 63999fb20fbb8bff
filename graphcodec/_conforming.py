"""Whether a value that came out is of the annotation that was asked for."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable
from typing import Any, TypeAlias, Union

from graphcodec._paths import Step
from graphcodec._slots import (
    UNTYPED,
    Choice,
    IsObject,
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
    describe,
    slot_of,
)
from graphcodec.errors import InvalidValueError
from graphcodec.readers._contracts import Reader

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# What came out is Any until it was looked at.

Mismatch: TypeAlias = tuple[tuple[Step, ...], object, str]


def mismatch(value: Any, annotation: Any, is_object: IsObject) -> Mismatch | None:
    """Return the first part of *value* that does not fit *annotation*, if any.

    Args:
        value: Any value.
        annotation: Any annotation of classes, lists, tuples, dicts and unions.
        is_object: What the codec knows of a class.

    Returns:
        The steps to it, the part, and what was wanted in words.

    Raises:
        InvalidValueError: If it is no annotation.
    """
    slot = slot_of(annotation, is_object)
    if slot != UNTYPED:
        return _slot_mismatch(value, slot)
    if annotation is Any or annotation is object:
        return None
    origin = typing.get_origin(annotation)
    if origin in (Union, types.UnionType):
        arms = typing.get_args(annotation)
        if any(mismatch(value, arm, is_object) is None for arm in arms):
            return None
        return (), value, str(annotation)
    cls = annotation if origin is None else origin
    if isinstance(cls, type):
        return None if isinstance(value, cls) else ((), value, cls.__name__)
    msg = f"decode needs a class or an annotation of classes, not {annotation!r:.60}"
    raise InvalidValueError(msg, hint="such as decode(data, list[Message])")


def _slot_mismatch(value: Any, slot: Slot) -> Mismatch | None:
    if not fits(value, slot):
        return (), value, describe(slot)
    if isinstance(slot, OneOf):
        if type(value) in slot.scalars or slot.other is None:
            return None
        return _slot_mismatch(value, slot.other)
    for step, part, place in _parts(value, slot):
        found = _slot_mismatch(part, place)
        if found is not None:
            return (step, *found[0]), found[1], found[2]
    return None


def _parts(value: Any, slot: Slot) -> Iterable[tuple[Step, object, Slot]]:
    match slot:
        case Sequence(item=item):
            return ((index, part, item) for index, part in enumerate(value))
        case Row(items=items):
            pairs = zip(value, items, strict=True)
            return ((index, part, item) for index, (part, item) in enumerate(pairs))
        case Table(key=key, value=item):
            return (
                (str(name), part, place)
                for name, entry in value.items()
                for part, place in ((name, key), (entry, item))
            )
        case _:
            return ()


def fits(value: Any, slot: Slot) -> bool:
    """Say whether *value* itself, not what it holds, belongs into *slot*.

    Args:
        value: Any value.
        slot: The slot.
    """
    match slot:
        case Untyped():
            return True
        case Scalar(cls=cls) | Member(cls=cls):
            return type(value) is cls
        case Choice(values=values):
            return any(type(v) is type(value) and v == value for v in values)
        case Objects(bases=bases):
            return isinstance(value, bases)
        case ReaderPlace():
            return isinstance(value, Reader)
        case Sequence(kind=kind):
            return type(value) is kind
        case Row(items=items):
            return type(value) is tuple and len(value) == len(items)
        case Table():
            return type(value) is dict
        case OneOf(scalars=scalars, other=other):
            return type(value) in scalars or (other is not None and fits(value, other))
