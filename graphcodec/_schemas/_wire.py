"""The JSON Schema of a codec's documents: what it reads, for other languages.

It is made of the same shapes and slots that the code generators see. Beside what
validators look at, each class carries notes (``x-graphcodec-…``) on its versions and
aliases, so that two schemas tell whether a change breaks old documents.
"""

from __future__ import annotations

import enum
import json
from collections import deque
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from pathlib import PurePath
from typing import TYPE_CHECKING, Final, cast
from uuid import UUID

from attrs import frozen

from graphcodec._classes._slots import (
    Choice,
    ClassPlace,
    HandlerPlace,
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
)
from graphcodec._handlers import Handlers
from graphcodec._live import type_name
from graphcodec._schemas import _parts as parts
from graphcodec._schemas._parts import Schema, refer
from graphcodec._values import MARKERS, MOST_INT, write_scalar
from graphcodec.errors import InvalidValueError

if TYPE_CHECKING:
    from graphcodec._classes._hooks import Hooks
    from graphcodec._classes._registry import TypeRegistry
    from graphcodec._classes._shapes import Field, Shape

NOTE: Final = "x-graphcodec-"
"""What the names of our own keywords begin with, which validators pass over."""

_BARE: Final[dict[type, list[Schema]]] = {
    type(None): [parts.NULL],
    bool: [parts.BOOL],
    int: [parts.INT, refer("$int")],
    float: [parts.NUMBER, refer("$float")],
    str: [parts.TEXT, refer("$str")],
    datetime: [parts.MOMENT, refer("$datetime")],
    UUID: [parts.UUID],
    Decimal: [parts.DECIMAL],
}
_MARKED: Final = {cls: marker for marker, (cls, _, _) in MARKERS.items()}


@frozen(kw_only=True)
class Reading:
    """What a codec reads, as far as a schema can say it.

    Attributes:
        registry: Its classes.
        hooks: The hooks of its users.
        handlers: What names of functions stand for.
        opaque: Whether unknown types are kept.
        unknown_fields: ``keep``, ``ignore`` or ``raise``.
    """

    registry: TypeRegistry
    hooks: Hooks
    handlers: Handlers
    opaque: bool
    unknown_fields: str


def json_schema(reading: Reading, cls: type | None = None) -> Schema:
    """Return the JSON Schema of documents, in JSON and outside frames.

    Args:
        reading: What the codec reads.
        cls: What must stand at the root; anything, if left out.

    Raises:
        InvalidValueError: If no instance of *cls* can be read.
    """
    # Parts are used many times; a caller may change one place and no other.
    own: Schema = json.loads(json.dumps(_Schemas(reading).document(cls)))
    return own


class _Schemas:
    """The schemas of one codec's classes."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._shapes = reading.registry.known()

    def document(self, cls: type | None) -> Schema:
        root = refer("$root") if cls is None else self._root(cls)
        envelope: dict[str, Schema] = {
            "graphcodec": {"const": 1},
            "nodes": parts.listed(refer("$walked")),
            "root": root,
        }
        out: Schema = {
            "$schema": parts.DIALECT,
            "title": "A document of graphcodec",
            **parts.closed(envelope, optional=["nodes"]),
            f"{NOTE}wire": 1,
            f"{NOTE}unknown-types": "keep" if self._reading.opaque else "raise",
        }
        return {**out, "$defs": self._definitions()}

    def _root(self, cls: type) -> Schema:
        options = self._objects((cls,))
        if len(options) == 1 + self._reading.opaque:
            name = type_name(cls)
            msg = f"this codec reads no instance of {name}"
            hint = "register its class: Codec(types=[...])"
            raise InvalidValueError(msg, type_name=name, hint=hint)
        return {"anyOf": options}

    def _definitions(self) -> dict[str, Schema]:
        classes = {shape.mark.tag: self._class(shape) for shape in self._shapes}
        objects = [_object(s) for s in self._shapes if s.kind != "enum"]
        enums = [refer(s.mark.tag) for s in self._shapes if s.kind == "enum"]
        if self._reading.opaque:
            classes["$opaque"] = self._opaque()
            classes["$class"] = self._unknown_tag()
            classes["$member"] = {"anyOf": _MEMBER}
            classes["$literal"] = {
                "anyOf": [parts.TEXT, parts.INT, parts.BOOL, parts.NULL]
            }
            objects.append(refer("$opaque"))
            enums += self._unknown_enums()
        return {**parts.parts(objects, enums), **classes}

    def _opaque(self) -> Schema:
        return {
            "type": "object",
            "properties": {"$type": self._unknown_tag()},
            "required": ["$type"],
        }

    def _unknown_enums(self) -> Iterator[Schema]:
        tag = self._unknown_tag()
        yield parts.closed({"$enum": tag, "name": parts.TEXT})
        yield parts.closed({"$enum": tag, "value": {"anyOf": _ANY_BITS}})

    def _unknown_tag(self) -> Schema:
        tags = sorted(tag for shape in self._shapes for tag in _tags(shape))
        return {"type": "string", "pattern": r"^[^$]", "not": {"enum": tags}}

    # Classes

    def _class(self, shape: Shape) -> Schema:
        notes = self._notes(shape)
        if shape.kind == "enum":
            return {**self._enum(shape), **notes}
        mark = shape.mark
        properties: dict[str, object] = {"$type": {"enum": _tags(shape)}}
        start: Schema = {
            "type": "object",
            "properties": properties,
            "required": ["$type"],
        }
        now = self._fields(shape)
        if mark.version == 1 and not self._reading.opaque:
            properties["$v"] = {"const": 1}
            return {**start, **now, **_merged(start, now), **notes}
        properties["$v"] = {"type": "integer", "minimum": 1}
        current: Schema = {"properties": {"$v": {"const": mark.version}}}
        if mark.version > 1:
            current["required"] = ["$v"]
        others = list(self._other_versions(shape))
        return {
            **start,
            "if": current,
            "then": now,
            "else": {"anyOf": others} if others else False,
            **notes,
        }

    def _other_versions(self, shape: Shape) -> Iterator[Schema]:
        """Yield what is read of other versions: their fields are not known."""
        version = shape.mark.version
        oldest = min(shape.mark.upgrades, default=version)
        if oldest < version:
            older: Schema = {"minimum": oldest, "maximum": version - 1}
            needed = ["$v"] if oldest > 1 else []
            yield {"properties": {"$v": older}, "required": needed}
        if self._reading.opaque:
            yield {"properties": {"$v": {"minimum": version + 1}}, "required": ["$v"]}

    def _fields(self, shape: Shape) -> Schema:
        if self._own_form(shape):
            return {
                "properties": {"$value": refer("$untyped")},
                "required": ["$value"],
                "propertyNames": {"enum": ["$type", "$v", "$value"]},
            }
        out: Schema = {
            "properties": {f.key: self._field(f, shape) for f in shape.fields},
            "required": [f.key for f in shape.fields if f.required],
        }
        if self._unknown(shape) == "raise":
            keys = [field.key for field in shape.fields]
            out["propertyNames"] = {"enum": ["$type", "$v", *keys]}
        else:
            out["propertyNames"] = {"pattern": r"^(?!\$)|^\$(type|v)$"}
        return out

    def _field(self, field: Field, shape: Shape) -> Schema:
        untyped = isinstance(field.slot, Untyped)
        words = "anything" if untyped else describe(field.slot)
        return {"description": words, **self._slot(field.slot, shape.family)}

    def _own_form(self, shape: Shape) -> bool:
        return self._reading.hooks.structure(shape) is not None

    def _unknown(self, shape: Shape) -> str:
        chosen = self._reading.unknown_fields
        if self._own_form(shape) or (chosen == "keep" and shape.extra is None):
            return "raise"
        return chosen

    def _notes(self, shape: Shape) -> Schema:
        mark = shape.mark
        notes: Schema = {
            "tag": mark.tag,
            "version": mark.version,
            "reads-from": min(mark.upgrades, default=mark.version),
            "aliases": list(mark.aliases),
            "unknown-fields": self._unknown(shape),
        }
        return {f"{NOTE}{name}": value for name, value in notes.items()}

    # Members

    def _kept(self, part: str) -> list[Schema]:
        return [refer(part)] if self._reading.opaque else []

    def _enum(self, shape: Shape) -> Schema:
        tag: Schema = {"enum": _tags(shape)}
        cls = cast("type[enum.Enum]", shape.cls)
        if issubclass(cls, enum.Flag):
            bits = _ANY_BITS if self._reading.opaque else _bits(cls)
            return parts.closed({"$enum": tag, "value": {"anyOf": bits}})
        names: Schema = {"enum": [*cls.__members__]}
        if self._reading.opaque:
            names = {"anyOf": [names, parts.TEXT]}
        return parts.closed({"$enum": tag, "name": names})

    def _members(self, slot: Member) -> list[Schema]:
        if issubclass(slot.cls, enum.Flag):
            return _ANY_BITS if self._reading.opaque else _bits(slot.cls)
        if slot.by_value:
            values = [write_scalar(member.value) for member in slot.cls]
            return [{"enum": values}, *self._kept("$member")]
        return [{"enum": [*slot.cls.__members__]}, *self._kept("$member")]

    # Slots

    def _slot(self, slot: Slot, family: str) -> Schema:
        options = self._options(slot, family)
        return options[0] if len(options) == 1 else {"anyOf": options}

    def _options(self, slot: Slot, family: str) -> list[Schema]:
        match slot:
            case Untyped():
                return [refer("$untyped")]
            case Scalar(cls=cls):
                return self._scalar(cls)
            case Member():
                return self._members(slot)
            case Choice(values=values):
                known: Schema = {"enum": [_literal(value) for value in values]}
                return [known, *self._kept("$literal")]
            case Objects(bases=bases):
                return self._objects(bases)
            case ReaderPlace():
                tag = {"pattern": f"^{family}:"}
                own = {**refer("$reader"), "properties": {"tag": tag}}
                return [own, refer("$reference")]
            case HandlerPlace():
                return self._handler()
            case ClassPlace(base=base):
                tags: Schema = {"enum": self._tags_of((base,))}
                return [tags, *self._kept("$class")]
            case OneOf(scalars=scalars, other=other):
                options = [o for cls in scalars for o in self._scalar(cls)]
                return options + (self._options(other, family) if other else [])
            case _:
                return self._container(slot, family)

    def _container(self, slot: Sequence | Row | Table, family: str) -> list[Schema]:
        if isinstance(slot, Table):
            key, value = (self._slot(s, family) for s in (slot.key, slot.value))
            # Any text is one of these keys; others may be written as text is.
            bare = parts.table(value, None if slot.key == Scalar(str) else key)
            odd: Schema = {"type": "object", "required": ["$dict"]}
            return [{"if": odd, "then": parts.pairs(key, value), "else": bare}]
        if isinstance(slot, Row):
            items = [self._slot(item, family) for item in slot.items]
            row: Schema = {"type": "array", "minItems": len(items), "items": False}
            return [{**row, "prefixItems": items} if items else row]
        item = self._slot(slot.item, family)
        listed = parts.listed(item)
        return [listed, parts.bounded(item)] if slot.kind is deque else [listed]

    def _scalar(self, cls: type) -> list[Schema]:
        if self._reading.hooks.scalar(cls) is not None:
            return [refer("$untyped")]
        if issubclass(cls, PurePath):
            kind = {"kind": {"const": cls.__name__}}
            return [{**refer("$path"), "properties": kind}]
        return _BARE[cls] if cls in _BARE else [refer(_MARKED[cls])]

    def _objects(self, bases: tuple[type, ...]) -> list[Schema]:
        shapes = list(self._within(bases))
        alone = len(shapes) == 1
        options = [refer(s.mark.tag) if alone else _object(s) for s in shapes]
        if self._reading.opaque:
            options.append(refer("$opaque"))
        return [*options, refer("$reference")]

    def _handler(self) -> list[Schema]:
        options = [parts.TEXT, parts.NULL]
        if type(self._reading.handlers) is not Handlers:
            options.append(parts.closed({"$source": parts.TEXT}))
        return options

    def _within(self, bases: tuple[type, ...]) -> Iterator[Shape]:
        for shape in self._shapes:
            if issubclass(shape.cls, bases) and shape.kind != "enum":
                yield shape

    def _tags_of(self, bases: tuple[type, ...]) -> list[str]:
        return sorted(tag for shape in self._within(bases) for tag in _tags(shape))


def _merged(start: Schema, now: Schema) -> Schema:
    """Return the two keywords that both parts of a class's schema have."""
    properties = {
        **cast("Schema", start["properties"]),
        **cast("Schema", now["properties"]),
    }
    required = [
        *cast("list[str]", start["required"]),
        *cast("list[str]", now["required"]),
    ]
    return {"properties": properties, "required": required}


def _tags(shape: Shape) -> list[str]:
    return [shape.mark.tag, *shape.mark.aliases]


def _object(shape: Shape) -> Schema:
    return parts.by_tag(_tags(shape), shape.mark.tag)


_ANY_BITS: Final = [parts.INT, refer("$int")]
_MEMBER: Final = [parts.TEXT, refer("$str"), *_ANY_BITS]
"""What a member of an Enum can look like that is not known."""


def _bits(cls: type[enum.Flag]) -> list[Schema]:
    """Return the schemas of the ints that stand for members of a Flag."""
    known = 0
    for member in cls:
        known |= member.value
    try:
        # One bit more than there are: whether the class refuses it.
        refused = cls(known * 2 + 1).value != known * 2 + 1
    except (ValueError, AttributeError):
        refused = True
    if not refused or known > MOST_INT:
        return _ANY_BITS
    return [{"type": "integer", "minimum": 0, "maximum": known, f"{NOTE}bits": known}]


def _literal(value: object) -> object:
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return write_scalar(value)
    return value
