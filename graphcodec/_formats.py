"""JSON and MessagePack: the same maps, lists and scalars in two spellings."""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# A parsed document, and a user's object, is Any until it was looked at.

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

import msgspec

from graphcodec._live import type_name
from graphcodec._paths import excerpt
from graphcodec.errors import (
    LimitExceededError,
    UndecodableValueError,
    VersionError,
)

Buffer: TypeAlias = bytes | bytearray | memoryview
Data: TypeAlias = Buffer | str
Format: TypeAlias = Literal["json", "msgpack"]

VERSION: Final = 1

# What messages have in the formats of others.
_MESSAGES: Final = ({"role"}, {"type", "data"}, {"kind", "parts"}, {"lc", "kwargs"})

_write_json: Final = msgspec.json.Encoder().encode
_write_sorted: Final = msgspec.json.Encoder(order="sorted").encode
_write_msgpack: Final = msgspec.msgpack.Encoder().encode
_read_json: Final = msgspec.json.Decoder().decode
_read_msgpack: Final = msgspec.msgpack.Decoder().decode


def write(wire: dict[str, Any], format: Format) -> bytes:  # noqa: A002
    """Return the bytes of a document.

    Args:
        wire: The outermost map.
        format: ``json`` or ``msgpack``.
    """
    return _write_json(wire) if format == "json" else _write_msgpack(wire)


def encoder(format: Format) -> Callable[[object], bytes]:  # noqa: A002
    """Return what writes a part of a document.

    Args:
        format: ``json`` or ``msgpack``.
    """
    return _write_json if format == "json" else _write_msgpack


def write_canonical(wire: object) -> bytes:
    """Return JSON with the keys of every map in the order of their bytes.

    Args:
        wire: A document, or a part of one.
    """
    return _write_sorted(wire)


def is_binary(data: Buffer) -> bool:
    """Say whether *data* is MessagePack: whether it begins with one of its maps."""
    first = bytes(data[:1])
    return b"\x80" <= first <= b"\x8f" or first in (b"\xde", b"\xdf")


def name_of(*, binary: bool) -> Format:
    """Return the name of the format that is, or is not, MessagePack."""
    return "msgpack" if binary else "json"


def read(data: Buffer) -> dict[str, Any]:
    """Return the outermost map of a document.

    Args:
        data: JSON or MessagePack.

    Raises:
        UndecodableValueError: If it is neither, or no document of this version.
        LimitExceededError: If it nests deeper than any document does.
    """
    binary = is_binary(data)
    try:
        wire: object = _read_msgpack(data) if binary else _read_json(data)
    except RecursionError:
        msg = "the document nests deeper than the parser goes"
        raise LimitExceededError(msg, path="$", limit="nesting") from None
    except (msgspec.DecodeError, ValueError, TypeError) as exc:
        name = "MessagePack" if binary else "JSON"
        msg = f"this is no {name} document: {exc}"
        hint = "" if data else "there are no bytes at all"
        raise UndecodableValueError(msg, hint=hint) from None
    return _envelope(wire)


def _envelope(wire: object) -> dict[str, Any]:
    if type(wire) is not dict or "graphcodec" not in wire:
        msg = "this is no graphcodec document: it has no version"
        hint = "a document is a map with graphcodec, nodes and root"
        if type(wire) is dict and wire.keys() >= {"run_id", "examples"}:
            msg = "this is a run of agent tests, and no graphcodec document"
            hint = "graphcodec run show reads it"
        elif _is_chat(wire):
            msg = "this looks like a conversation, and is no graphcodec document"
            hint = "graphcodec import makes one of it"
        raise UndecodableValueError(msg, hint=hint)
    version = wire["graphcodec"]
    if type(version) is int and version > VERSION:
        shown = excerpt(version)
        msg = f"the document is of wire version {shown}; this codec reads {VERSION}"
        raise VersionError(msg, value=shown, hint="update graphcodec")
    if type(version) is not int or version != VERSION:
        shown = excerpt(version)
        msg = f"the document is of wire version {shown}; this codec reads {VERSION}"
        raise UndecodableValueError(msg, value=shown)
    unknown = wire.keys() - {"graphcodec", "nodes", "root"}
    if "root" not in wire or unknown or type(wire.get("nodes", [])) is not list:
        what = "no root" if "root" not in wire else "parts that do not belong there"
        msg = f"the document has {what}"
        raise UndecodableValueError(msg)
    return wire


def _is_chat(wire: object) -> bool:
    """Say whether something looks like what the adapters take."""
    entries = wire.get("messages", wire.get("input")) if type(wire) is dict else wire
    first = entries[0] if type(entries) is list and entries else None
    return type(first) is dict and any(first.keys() >= keys for keys in _MESSAGES)


def as_bytes(data: Data) -> Buffer:
    """Return a document as bytes.

    Args:
        data: What was given for one.

    Raises:
        UndecodableValueError: If it is nothing that holds bytes, or has no UTF-8.
    """
    if isinstance(data, str):
        try:
            return data.encode()
        except UnicodeEncodeError:
            msg = "the text of the document has lone surrogates"
            raise UndecodableValueError(msg) from None
    given: object = data
    if not isinstance(given, (bytes, bytearray, memoryview)):  # pyright: ignore[reportUnnecessaryIsInstance]
        msg = f"a document is bytes or str, not a {type_name(type(data))}"
        hint = "of a file: decode(path.read_bytes())"
        raise UndecodableValueError(msg, hint=hint)
    if isinstance(data, memoryview):
        return _bytes_of(data)
    return data


def _bytes_of(view: memoryview) -> bytes | memoryview:
    try:
        plain = view.contiguous and view.itemsize == 1
    except ValueError:
        msg = "the memoryview was released"
        raise UndecodableValueError(msg) from None
    return view if plain else view.tobytes()
