"""Whether a value that came out is of the annotation that was asked for."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable
from typing import Any, TypeAlias, TypeVar, Union

from graphcodec._classes._slots import (
    SEQUENCES,
    UNTYPED,
    Choice,
    ClassPlace,
    HandlerPlace,
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
from graphcodec._paths import Step
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
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (Union, types.UnionType):
        if any(mismatch(value, arm, is_object) is None for arm in args):
            return None
        return (), value, str(annotation)
    if origin in (*SEQUENCES, dict) and args:
        return _container_mismatch(value, origin, args, is_object)
    slot = slot_of(annotation, is_object)
    if slot != UNTYPED:
        return None if fits(value, slot) else ((), value, describe(slot))
    if annotation is Any or annotation is object or isinstance(annotation, TypeVar):
        return None
    cls = annotation if origin is None else origin
    if isinstance(cls, type):
        return None if isinstance(value, cls) else ((), value, cls.__name__)
    msg = f"decode needs a class or an annotation of classes, not {annotation!r:.60}"
    raise InvalidValueError(msg, hint="such as decode(data, list[Message])")


def _container_mismatch(
    value: Any, origin: Any, args: tuple[Any, ...], is_object: IsObject
) -> Mismatch | None:
    if type(value) is not origin:
        return (), value, origin.__name__
    for step, part, annotation in _parts(value, origin, args):
        found = mismatch(part, annotation, is_object)
        if found is not None:
            return (step, *found[0]), found[1], found[2]
    if origin is tuple and args[-1] is not ... and len(value) != len(args):
        return (), value, f"tuple of {len(args)}"
    return None


def _parts(
    value: Any, origin: Any, args: tuple[Any, ...]
) -> Iterable[tuple[Step, object, Any]]:
    if origin is dict:
        for key, item in value.items():
            yield str(key), key, args[0]
            yield str(key), item, args[1]
    else:
        fixed = origin is tuple and args[-1] is not ...
        for index, item in enumerate(value):
            if not fixed:
                yield index, item, args[0]
            elif index < len(args):
                yield index, item, args[index]


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
        case HandlerPlace():
            return callable(value)
        case ClassPlace(base=base):
            return isinstance(value, type) and issubclass(value, base)
        case Sequence(kind=kind):
            return type(value) is kind
        case Row(items=items):
            return type(value) is tuple and len(value) == len(items)
        case Table():
            return type(value) is dict
        case OneOf(scalars=scalars, other=other):
            return type(value) in scalars or (other is not None and fits(value, other))
