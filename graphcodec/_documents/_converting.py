"""Documents from one format to the other, and into frames, without their classes.

The formats differ in one thing: bytes are a marker in JSON and of their own in
MessagePack. Where a map with the key ``$bytes`` is that marker, the rules of the wire
say, and the classes where they are known.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false
# A parsed document is Any until it was looked at.

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any, Final

import msgspec

from graphcodec import _formats, _frames
from graphcodec._classes._slots import Untyped
from graphcodec._coding._document import Document, Inside, Place
from graphcodec._coding._pieces import ATOMS
from graphcodec._compressing import Compression
from graphcodec._documents._findings import Findings
from graphcodec._documents._rules import Rules, ShapeOf
from graphcodec._documents._validating import wire_path
from graphcodec._formats import Format
from graphcodec._limits import exceeded
from graphcodec._paths import Trail, excerpt, steps_of
from graphcodec._values import LEAST_INT, MOST_INT, read_bytes, write_bytes
from graphcodec.codec import Codec
from graphcodec.errors import LimitExceededError, UndecodableValueError

_INDENT: Final = 2


def convert(
    data: bytes,
    *,
    format: Format | None = None,  # noqa: A002 - the word that users know
    compression: Compression | None = None,
    pretty: bool = False,
    codec: Codec | None = None,
    context: bytes = b"",
) -> bytes:
    """Return a document in another format or frame.

    What no class is known for is taken along. A document that stays in its format
    keeps its bytes, in a new frame or without one.

    Args:
        data: A document, in a frame or not.
        format: The format it is to have; the one it has if left out.
        compression: How to compress it.
        pretty: Whether JSON is broken into lines.
        codec: Whose classes and limits count; if left out, the built-in ones. With a
            seal, it opens what that seal made and seals it anew.
        context: What the document was sealed with, and is to be.

    Raises:
        SealError: If it is not sealed as the codec seals.
        UndecodableValueError: If it breaks a rule of the wire, or holds what the other
            format can't.
        LimitExceededError: If it breaks a limit of the codec.
        VersionError: If its version is a later one.
    """
    codec = codec or Codec()
    shape_of, limits = codec.shape_of, codec.limits
    if len(data) > limits.max_bytes:
        raise exceeded("max_bytes", limits.max_bytes, len(data), "$")
    document = bytes(_frames.opened(data, limits, codec.seal, context))
    binary = _formats.is_binary(document)
    wire = _formats.read(document)
    _require_valid(wire, shape_of, binary=binary)
    if format is not None and format != _formats.name_of(binary=binary):
        # A key may be spelled with escapes; most documents have neither.
        some = not binary and (b"$bytes" in document or b"\\u" in document)
        markers = _markers(wire, shape_of) if some else set[int]()
        document = _written(wire, format, markers)
        binary = not binary
    if pretty and not binary:
        document = msgspec.json.format(document, indent=_INDENT)
    if compression is not None or codec.seal is not None:
        return _frames.framed(
            document,
            limits,
            compression=compression,
            seal=codec.seal,
            context=context,
        )
    if len(document) > limits.max_bytes:
        raise exceeded("max_bytes", limits.max_bytes, len(document), "$")
    return document


def _require_valid(wire: dict[str, Any], shape_of: ShapeOf, *, binary: bool) -> None:
    """Refuse a document that breaks a rule: what came out of it would, too."""
    findings = Findings()
    Rules(wire, shape_of, findings, binary=binary, allow_unknown=True).check()
    for finding in findings.found:
        if finding.severity == "error":
            raise UndecodableValueError(
                finding.message, path=finding.path, hint="graphcodec validate shows all"
            )


def _written(wire: dict[str, Any], format: Format, markers: set[int]) -> bytes:  # noqa: A002 - as in `convert`
    _replace(wire, markers, to_json=format == "json")
    try:
        return _formats.write(wire, format)
    except RecursionError:
        msg = "the document nests deeper than the formatter goes"
        raise LimitExceededError(msg, path="$", limit="nesting") from None


def _markers(wire: dict[str, Any], shape_of: ShapeOf) -> set[int]:
    """Return the ids of the maps that stand for bytes.

    Args:
        wire: The outermost map of a JSON document, which holds them.
        shape_of: Gives the shape of the class that is written under a tag.
    """
    document = Document(wire, shape_of)
    found: set[int] = set()
    stack: list[tuple[Any, Place]] = [
        (value, place) for _, value, place in document.entries()
    ]
    while stack:
        value, place = stack.pop()
        plain = isinstance(place, Untyped) or place is Inside.ROOT
        if type(value) is dict and not plain and value.keys() == {"$bytes"}:
            found.add(id(value))
            continue
        stack.extend((part.value, part.place) for part in document.parts(value, place))
    return found


def _replace(wire: dict[str, Any], markers: set[int], *, to_json: bool) -> None:
    """Put bytes into the form of the other format, in place.

    Args:
        wire: The outermost map.
        markers: The ids of the markers to replace.
        to_json: Whether the other format is JSON.
    """
    stack: list[tuple[Any, Trail]] = [(wire, None)]
    while stack:
        holder, trail = stack.pop()
        if type(holder) is dict:
            _require_text(holder, trail)
        for key, item in holder.items() if type(holder) is dict else enumerate(holder):
            kind = type(item)
            if id(item) in markers:
                holder[key] = read_bytes(item["$bytes"])
            elif kind is dict or kind is list:
                stack.append((item, (trail, key)))
            elif to_json:
                holder[key] = _for_json(item, (trail, key))
            elif kind is int and not LEAST_INT <= item <= MOST_INT:
                msg = f"MessagePack can't hold {excerpt(item)} in 64 bits"
                raise UndecodableValueError(msg, path=wire_path(steps_of((trail, key))))


def _require_text(keys: Iterable[Any], trail: Trail) -> None:
    for key in keys:
        if type(key) is not str:
            msg = f"a map needs text keys, not {excerpt(key)}"
            raise UndecodableValueError(msg, path=wire_path(steps_of(trail)))


def as_json(wire: dict[str, Any]) -> dict[str, Any]:
    """Return a document with its bytes as JSON has them, changed in place.

    Args:
        wire: The outermost map of a document in either format.
    """
    _replace(wire, set(), to_json=True)
    return wire


def _for_json(item: Any, trail: Trail) -> Any:
    if type(item) is bytes:
        return write_bytes(item)
    if type(item) not in ATOMS or (type(item) is float and not isfinite(item)):
        shown = item if type(item) is float else f"{type(item).__name__} of MessagePack"
        msg = f"JSON has no {shown} without a marker"
        raise UndecodableValueError(msg, path=wire_path(steps_of(trail)))
    return item
