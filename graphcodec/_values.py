"""Values that JSON lacks, each with the marker that stands for it.

A marker is a map with one ``$`` key, such as ``{"$decimal": "1.10"}``. This module has
the leaves only; containers are the walker's, because what they hold is a graph.
Reading is strict: one spelling for each value, so that equal documents are equal bytes.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# A parsed document, and a user's object, is Any until it was looked at.

from __future__ import annotations

import re
import zoneinfo
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from functools import lru_cache
from math import isfinite
from pathlib import (
    Path,
    PosixPath,
    PurePath,
    PurePosixPath,
    PureWindowsPath,
    WindowsPath,
)
from types import MappingProxyType
from typing import Any, Final, NoReturn, TypeAlias, TypeVar
from uuid import UUID

from graphcodec._paths import excerpt
from graphcodec.errors import UndecodableValueError, UnencodableValueError

Wire: TypeAlias = dict[str, object]

LEAST_INT: Final = -(2**63)
MOST_INT: Final = 2**64 - 1

_PATHS: Final = {
    cls.__name__: cls
    for cls in (PurePosixPath, PureWindowsPath, PosixPath, WindowsPath)
}
_LONE = re.compile("[\\\\\ud800-\udfff]")
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})|\\")
_HEX = re.compile(r"-?0x(0|[1-9a-f][0-9a-f]*)")
_DECIMAL = re.compile(r"-?\d+(\.\d+)?(E[+-]\d+)?|-?Infinity|-?s?NaN\d*", re.ASCII)
_UUID = re.compile("[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}")
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_OFFSET = r"(Z|[+-]\d\d:\d\d(:\d\d(\.\d{6})?)?)"
# Python's own parser drops digits beyond the sixth, hence the exact count.
_CLOCK_TEXT = r"\d\d:\d\d:\d\d(\.\d{1,6})?"
_CLOCK = re.compile(rf"{_CLOCK_TEXT}{_OFFSET}?", re.ASCII)
_FINE_OFFSET = re.compile(r"([+-])(\d\d):(\d\d):(\d\d)\.(\d{6})$", re.ASCII)
_ISO = re.compile(rf"{_DATE.pattern}T{_CLOCK_TEXT}{_OFFSET}?", re.ASCII)
_AWARE = re.compile(rf"{_DATE.pattern}T{_CLOCK_TEXT}{_OFFSET}", re.ASCII)


# Writing


def write_int(value: int) -> object:
    """Return *value* itself if it has 64 bits, else its marker."""
    return value if LEAST_INT <= value <= MOST_INT else {"$int": hex(value)}


def write_float(value: float) -> object:
    """Return *value* itself if JSON can hold it, else its marker."""
    return value if isfinite(value) else {"$float": repr(value)}


def write_text(value: str) -> object:
    """Return *value* itself, or its marker if it has lone surrogates."""
    try:
        value.encode()
    except UnicodeEncodeError:
        escaped = _LONE.sub(lambda found: f"\\u{ord(found[0]):04x}", value)
        return {"$str": escaped}
    return value


def write_datetime(value: datetime) -> object:
    """Return bare text if the offset of *value* is all there is, else its marker."""
    zone = value.tzinfo
    if not value.fold:
        if zone is UTC:
            return value.isoformat(timespec="microseconds")
        if type(zone) is timezone and not _has_name(zone):
            return value.isoformat(timespec="microseconds")
    return _marked_datetime(value)


def _marked_datetime(value: datetime) -> Wire:
    zone = value.tzinfo
    bare = value if type(zone) is timezone else value.replace(tzinfo=None)
    out: Wire = {"$datetime": bare.isoformat(timespec="microseconds")}
    return _add_zone(out, zone, value.fold)


def _write_time(value: time) -> Wire:
    zone = value.tzinfo
    bare = value if type(zone) is timezone else value.replace(tzinfo=None)
    out: Wire = {"$time": bare.isoformat(timespec="microseconds")}
    return _add_zone(out, zone, value.fold)


def _add_zone(out: Wire, zone: tzinfo | None, fold: int) -> Wire:
    if type(zone) is zoneinfo.ZoneInfo:
        out["zone"] = _zone_key(zone)
    elif type(zone) is timezone:
        if _has_name(zone):
            out["name"] = write_text(zone.tzname(None))
    elif zone is not None:
        name = f"{type(zone).__module__}.{type(zone).__qualname__}"
        msg = f"a time with a tzinfo of type {name} has no wire form"
        hint = "use zoneinfo.ZoneInfo or datetime.timezone"
        raise UnencodableValueError(msg, type_name=name, hint=hint)
    if fold:
        out["fold"] = 1
    return out


def _has_name(zone: timezone) -> bool:
    # A timezone equals its nameless twin, so only the arguments tell them apart.
    return zone is not UTC and len(zone.__reduce__()[1]) == 2  # noqa: PLR2004


def _zone_key(zone: zoneinfo.ZoneInfo) -> str:
    if zone.key not in _zone_keys():
        msg = f"the zone {zone.key!r} is not in zoneinfo.available_timezones()"
        hint = "use ZoneInfo('Area/City')"
        raise UnencodableValueError(msg, type_name="ZoneInfo", hint=hint)
    return zone.key


@lru_cache(maxsize=1)
def _zone_keys() -> frozenset[str]:
    # Reads the time zone database, which takes milliseconds and does not change.
    return frozenset(zoneinfo.available_timezones())


def _write_path(value: PurePath) -> Wire:
    return {"$path": write_text(str(value)), "kind": type(value).__name__}


def _write_complex(value: complex) -> Wire:
    return {"$complex": [write_float(value.real), write_float(value.imag)]}


def _write_timedelta(value: timedelta) -> Wire:
    return {"$timedelta": [value.days, value.seconds, value.microseconds]}


MARKED: Final[Mapping[type, Callable[..., object]]] = MappingProxyType(
    {
        datetime: _marked_datetime,
        date: lambda value: {"$date": value.isoformat()},
        time: _write_time,
        timedelta: _write_timedelta,
        zoneinfo.ZoneInfo: lambda value: {"$zoneinfo": _zone_key(value)},
        Decimal: lambda value: {"$decimal": str(value)},
        UUID: lambda value: {"$uuid": str(value)},
        complex: _write_complex,
        bytearray: lambda value: {"$bytearray": b64encode(value).decode()},
        **dict.fromkeys(_PATHS.values(), _write_path),
    }
)
"""How a leaf is written as a marker, by its exact type."""

BARE: Final[Mapping[type, Callable[..., object]]] = MappingProxyType(
    {
        datetime: write_datetime,
        UUID: str,
        Decimal: str,
    }
)
"""How a leaf is written where its type is known from the slot."""


def write_scalar(value: int | str) -> object:
    """Return the value of an Enum member, marked if JSON can't hold it."""
    return write_int(value) if isinstance(value, int) else write_text(value)


def write_leaf(value: object) -> object:
    """Return a scalar of a rarer type as it stands in a slot of that type.

    Args:
        value: One of the types in `BARE` or `MARKED`.
    """
    kind = type(value)
    write = BARE.get(kind) or MARKED[kind]
    return write(value)


def write_bytes(value: bytes) -> Wire:
    """Return the marker that JSON has for *value*; MessagePack has bytes of its own."""
    return {"$bytes": b64encode(value).decode()}


# Reading


_NOTHING: Final = object()


def malformed(what: str, payload: object = _NOTHING) -> NoReturn:
    """Raise the error for a piece of wire that does not hold what it should.

    Args:
        what: What it should hold.
        payload: What it holds, if that helps.

    Raises:
        UndecodableValueError: Always.
    """
    msg = what if payload is _NOTHING else f"{what}, not {excerpt(payload)}"
    raise UndecodableValueError(msg)


def _text(payload: object, marker: str) -> str:
    if type(payload) is not str:
        malformed(f"{marker} needs text", payload)
    return payload


def read_int(payload: object) -> int:
    """Return the int that ``$int`` stands for."""
    text = _text(payload, "$int")
    if not _HEX.fullmatch(text):
        malformed("$int needs hexadecimal text such as '0x1f'", payload)
    value = int(text, 16)
    if LEAST_INT <= value <= MOST_INT:
        malformed("$int is for ints beyond 64 bits", payload)
    return value


def read_float(payload: object) -> float:
    """Return the float that ``$float`` stands for."""
    if payload not in ("nan", "inf", "-inf") or type(payload) is not str:
        malformed("$float needs 'nan', 'inf' or '-inf'", payload)
    return float(payload)


def read_str(payload: object) -> str:
    """Return the text that ``$str`` stands for."""
    return _ESCAPE.sub(_unescape, _text(payload, "$str"))


def _unescape(found: re.Match[str]) -> str:
    if found[1] is None:
        malformed("$str needs its backslashes escaped", found.string)
    char = chr(int(found[1], 16))
    if not _LONE.match(char):
        malformed("$str escapes only surrogates and backslashes", found[0])
    return char


def read_bytes(payload: object) -> bytes:
    """Return the bytes that ``$bytes`` stands for."""
    text = _text(payload, "$bytes")
    try:
        data = b64decode(text, validate=True)
    except ValueError:
        malformed("$bytes needs standard base64", payload)
    if b64encode(data) != text.encode():
        malformed("$bytes needs canonical base64", payload)
    return data


def read_bytearray(payload: object) -> bytearray:
    """Return the bytearray that ``$bytearray`` stands for."""
    return bytearray(read_bytes(payload))


def read_bare_datetime(payload: object) -> datetime:
    """Return the aware time that bare text stands for in a slot of its type."""
    return _parse(datetime, _match(_AWARE, payload, "a time with an offset"))


def read_bare_uuid(payload: object) -> UUID:
    """Return the UUID that bare text stands for in a slot of its type."""
    return UUID(_match(_UUID, payload, "a UUID in its usual form"))


def read_bare_decimal(payload: object) -> Decimal:
    """Return the Decimal that bare text stands for in a slot of its type."""
    return Decimal(_match(_DECIMAL, payload, "a Decimal as text"))


def _match(pattern: re.Pattern[str], payload: object, what: str) -> str:
    if type(payload) is not str or not pattern.fullmatch(payload):
        malformed(f"expected {what}", payload)
    return payload


def _read_datetime(out: Wire) -> datetime:
    text = _match(_ISO, out["$datetime"], "a date and time")
    return _place(_parse(datetime, text), out)


def _read_time(out: Wire) -> time:
    return _place(
        time.fromisoformat(_match(_CLOCK, out["$time"], "a time of day")), out
    )


T = TypeVar("T", datetime, time)


def _parse(cls: type[T], text: str) -> T:
    value = cls.fromisoformat(text)
    found = _FINE_OFFSET.search(text)
    if found is None:
        return value
    # Python 3.11 takes an offset of less than a second for none.
    sign, hours, minutes, seconds, micros = found.groups()
    offset = timedelta(
        hours=int(hours),
        minutes=int(minutes),
        seconds=int(seconds),
        microseconds=int(micros),
    )
    return value.replace(tzinfo=timezone(-offset if sign == "-" else offset))


def _place(value: T, out: Wire) -> T:
    """Give *value* the zone, zone name and fold that its marker names."""
    if "zone" in out:
        if value.tzinfo is not None:
            malformed("a time has either an offset or a zone", out["zone"])
        value = value.replace(tzinfo=read_zone(out["zone"]))
    if "name" in out:
        offset, name = value.utcoffset(), _name(out["name"])
        if offset is None or type(name) is not str or "zone" in out:
            malformed("only an offset can have a name", name)
        value = value.replace(tzinfo=timezone(offset, name))
    if "fold" in out:
        if type(out["fold"]) is not int or out["fold"] != 1:
            malformed("fold needs 1", out["fold"])
        value = value.replace(fold=1)
    return value


def _name(payload: Any) -> object:
    """Return the text that stands bare or in a ``$str``."""
    if type(payload) is dict and payload.keys() == {"$str"}:
        return read_str(payload["$str"])
    return payload


def read_zone(payload: object) -> zoneinfo.ZoneInfo:
    """Return the zone of the time zone database that *payload* names."""
    if type(payload) is not str or payload not in _zone_keys():
        malformed("expected the key of a known time zone", payload)
    return zoneinfo.ZoneInfo(payload)


def _read_timedelta(payload: object) -> timedelta:
    match payload:
        case [int(days), int(seconds), int(micros)] if bool not in map(type, payload):
            value = timedelta(days, seconds, micros)
            if (value.days, value.seconds, value.microseconds) == (
                days,
                seconds,
                micros,
            ):
                return value
        case _:
            pass
    malformed("$timedelta needs normalized [days, seconds, microseconds]", payload)


def _read_complex(payload: object) -> complex:
    match payload:
        case [real, imag]:
            return complex(_part(real), _part(imag))
        case _:
            malformed("$complex needs [real, imaginary]", payload)


def _part(value: object) -> float:
    match value:
        case float():
            return value
        case {"$float": payload, **rest} if not rest:
            return read_float(payload)
        case _:
            malformed("$complex needs two floats", value)


def _read_path(out: Wire) -> PurePath:
    kind, text = out.get("kind"), _name(out["$path"])
    if type(kind) is not str or kind not in _PATHS or type(text) is not str:
        malformed("$path needs text and a known kind", kind)
    if issubclass(_PATHS[kind], Path) and not isinstance(Path(), _PATHS[kind]):
        malformed("this system has no such paths", kind)
    return _PATHS[kind](text)


MARKERS: Final[Mapping[str, tuple[type, frozenset[str], Callable[[Wire], object]]]] = (
    MappingProxyType(
        {
            "$int": (int, frozenset(), lambda out: read_int(out["$int"])),
            "$float": (float, frozenset(), lambda out: read_float(out["$float"])),
            "$str": (str, frozenset(), lambda out: read_str(out["$str"])),
            "$bytes": (bytes, frozenset(), lambda out: read_bytes(out["$bytes"])),
            "$bytearray": (
                bytearray,
                frozenset(),
                lambda out: read_bytearray(out["$bytearray"]),
            ),
            "$datetime": (
                datetime,
                frozenset({"zone", "name", "fold"}),
                _read_datetime,
            ),
            "$time": (time, frozenset({"zone", "name", "fold"}), _read_time),
            "$date": (
                date,
                frozenset(),
                lambda out: date.fromisoformat(_match(_DATE, out["$date"], "a date")),
            ),
            "$timedelta": (
                timedelta,
                frozenset(),
                lambda out: _read_timedelta(out["$timedelta"]),
            ),
            "$zoneinfo": (
                zoneinfo.ZoneInfo,
                frozenset(),
                lambda out: read_zone(out["$zoneinfo"]),
            ),
            "$decimal": (
                Decimal,
                frozenset(),
                lambda out: read_bare_decimal(out["$decimal"]),
            ),
            "$uuid": (UUID, frozenset(), lambda out: read_bare_uuid(out["$uuid"])),
            "$complex": (
                complex,
                frozenset(),
                lambda out: _read_complex(out["$complex"]),
            ),
            "$path": (PurePath, frozenset({"kind"}), _read_path),
        }
    )
)
"""For each marker: its type, what may stand beside it, and how it is read."""


def read_marker(marker: str, out: Wire) -> object:
    """Return the leaf that the map *out* stands for.

    Args:
        marker: Its ``$`` key, one of `MARKERS`.
        out: The whole map.

    Raises:
        UndecodableValueError: If it does not hold what the marker needs.
    """
    _, beside, read = MARKERS[marker]
    for key in out:
        if key != marker and key not in beside:
            malformed(f"{marker} stands with nothing but {sorted(beside)}", key)
    try:
        return read(out)
    except (ValueError, ArithmeticError) as exc:
        if isinstance(exc, UndecodableValueError):
            raise
        msg = f"{marker} holds an impossible value: {excerpt(str(exc))}"
        raise UndecodableValueError(msg) from exc
