"""The fields that events and run data have in common."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, cast

from attrs import field

from graphcodec.primitives._checks import ALLOW_EMPTY
from graphcodec.primitives._convert import to_moment
from graphcodec.runs._metadata import Metadata

SPARED: Final[Mapping[str, object]] = {"spared": True}
"""Metadata of a field that is written only if there is something in it."""


def to_metadata(value: Mapping[str, object] | None) -> Metadata:
    """Take a mapping, or nothing, for metadata; what is none is left for the check."""
    given = cast("object", {} if value is None else value)
    if isinstance(given, Mapping) and not isinstance(given, Metadata):
        return Metadata(cast("Mapping[str, object]", given))
    return cast("Metadata", given)


def to_dict(value: Mapping[str, object] | None) -> Mapping[str, object]:
    """Take nothing for an empty dict."""
    return {} if value is None else value


def to_tuple(value: object) -> Any:
    """Turn a list into a tuple, and nothing into an empty one."""
    if value is None:
        return ()
    return tuple(cast("list[object]", value)) if type(value) is list else value


def to_milliseconds(value: datetime) -> datetime:
    """Return the moment, cut to the milliseconds that a run file has."""
    moment = to_moment(value)
    if isinstance(cast("object", moment), datetime) and moment.microsecond % 1000:
        return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    return moment


def to_optional_milliseconds(value: datetime | None) -> datetime | None:
    """Do what `to_milliseconds` does, and leave None."""
    return None if value is None else to_milliseconds(value)


def in_milliseconds(seconds: float) -> int:
    """Return a number of seconds as whole milliseconds."""
    try:
        return round(seconds * 1000)
    except OverflowError:
        # No time that anything takes, but what was told is not lost over it.
        return int(seconds) * 1000


def now() -> datetime:
    """Return the present, in UTC."""
    return datetime.now(UTC)


def text() -> Any:
    """Declare a text that may be empty, and is if nobody says what it is."""
    return field(default="", metadata=ALLOW_EMPTY)


def optional_text() -> Any:
    """Declare a text that may be empty, or missing."""
    return field(default=None, metadata=ALLOW_EMPTY)
