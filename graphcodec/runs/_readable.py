"""Runs as people read them: what JSON lacks as texts, not as it is on the wire."""

from collections.abc import Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePath
from typing import Final, cast
from uuid import UUID

from graphcodec.primitives._base import Primitive
from graphcodec.runs._forms import to_form, untyped_out

__all__ = ["readable", "readable_value"]

_SAFE_INTEGER: Final = 2**53
"""Up to here, the numbers of a browser are exact."""
_SHOWN_BYTES: Final = 64
_TEXTS: Final = (timedelta, Decimal, Fraction, complex, PurePath, UUID)


def readable(record: Primitive) -> dict[str, object]:
    """Return the documented form of a part of a run, made to be looked at.

    It is plain JSON, but what can't be told from it, such as a tuple from a list, is
    not kept.

    Args:
        record: A part of a run.

    Raises:
        UnencodableValueError: If a value in it has no wire form.
    """
    return to_form(record, untyped=readable_value)


def readable_map(values: Mapping[str, object]) -> dict[str, object]:
    """Return a map of the user's own, made to be looked at.

    Args:
        values: Metadata, an environment.

    Raises:
        UnencodableValueError: If a value in it has no wire form.
    """
    return {key: readable_value(values[key], key) for key in values}


def readable_value(value: object, path: str = "") -> object:
    """Return a value of the user's own, made to be looked at.

    Args:
        value: Arguments, a result, metadata.
        path: Where it stands, for errors.

    Raises:
        UnencodableValueError: If it has no wire form.
    """
    if value is None or isinstance(value, str | bool):
        return value
    if type(value) in (int, float):
        number = cast("float", value)
        return number if abs(number) <= _SAFE_INTEGER else str(number)
    if isinstance(value, bytes | bytearray):
        more = "…" if len(value) > _SHOWN_BYTES else ""
        plural = "" if len(value) == 1 else "s"
        shown = value[:_SHOWN_BYTES].hex()
        return f"<{len(value):,} byte{plural}: {shown}{more}>"
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, _TEXTS):
        return str(value)
    if isinstance(value, Mapping):
        entries = cast("Mapping[object, object]", value)
        return {
            str(readable_value(key, path)): readable_value(entries[key], path)
            for key in entries
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [readable_value(item, path) for item in cast("list[object]", value)]
    return untyped_out(value, path)
