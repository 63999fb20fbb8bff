"""Whether a value that came out is of the annotation that was asked for."""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# A parsed document, and a user's object, is Any until it was looked at.

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from graphcodec._paths import Step
from graphcodec._slots import (
    Choice,
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
from graphcodec.readers._contracts import Reader

Mismatch: TypeAlias = "tuple[tuple[Step, ...], object, Slot]"


def mismatch(value: Any, slot: Slot) -> Mismatch | None:
    """Return the first part of *value* that does not belong into *slot*, if any.

    Args:
        value: Any value.
        slot: The slot.

    Returns:
        The steps to it, the part, and the slot that it should fit.
    """
    if not _fits(value, slot):
        return (), value, slot
    parts: Iterable[tuple[Step, object, Slot]]
    match slot:
        case Sequence(item=item):
            parts = ((index, part, item) for index, part in enumerate(value))
        case Row(items=items):
            parts = (
                (index, part, item)
                for index, (part, item) in enumerate(zip(value, items, strict=True))
            )
        case Table(key=key, value=item):
            parts = (
                (str(name), part, place)
                for name, entry in value.items()
                for part, place in ((name, key), (entry, item))
            )
        case OneOf(scalars=scalars, other=other) if type(value) not in scalars:
            return None if other is None else mismatch(value, other)
        case _:
            return None
    for step, part, place in parts:
        found = mismatch(part, place)
        if found is not None:
            return (step, *found[0]), found[1], found[2]
    return None


def _fits(value: Any, slot: Slot) -> bool:
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
            return type(value) in scalars or (other is not None and _fits(value, other))
