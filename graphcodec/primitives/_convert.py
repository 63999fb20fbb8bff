"""The conversions that several constructors make.

Each leaves a final value untouched, the very same object, and also what it can't
convert: to refuse is the business of the check.
"""

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import TypeVar, cast

__all__ = ["to_moment", "to_optional_moment", "to_tuple"]

T = TypeVar("T")


def to_tuple(value: Sequence[T]) -> tuple[T, ...]:
    """Turn a list into a tuple; other sequences are left for the check to refuse."""
    kind = type(value)
    return tuple(value) if kind is list else cast("tuple[T, ...]", value)


def to_moment(value: datetime) -> datetime:
    """Turn an aware datetime into a plain one of the same instant and fixed offset.

    A zone name says more than an instant needs and less than it seems to: its rules
    change with the time zone database. Subclasses of datetime become plain too, unless
    they hold nanoseconds, which a datetime has no place for.
    """
    if type(value) is datetime and type(value.tzinfo) is timezone and not value.fold:
        return value
    offset = value.utcoffset() if isinstance(cast("object", value), datetime) else None
    nanosecond: object = getattr(value, "nanosecond", None)
    if offset is None or nanosecond:
        return value
    return datetime(
        value.year,
        value.month,
        value.day,
        value.hour,
        value.minute,
        value.second,
        value.microsecond,
        tzinfo=timezone(offset),
    )


def to_optional_moment(value: datetime | None) -> datetime | None:
    """Do what `to_moment` does, and leave None."""
    return None if value is None else to_moment(value)
