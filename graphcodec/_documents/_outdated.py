"""Why a document would be written in another way today."""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false
# A parsed document is Any until it was looked at.

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from graphcodec._classes._slots import Untyped
from graphcodec._coding._document import Document, Place
from graphcodec._paths import excerpt

if TYPE_CHECKING:
    from graphcodec._classes._shapes import Shape
    from graphcodec._documents._rules import ShapeOf


def outdated(wire: dict[str, Any], shape_of: ShapeOf) -> list[str]:
    """Return what of a document is of earlier classes, each reason once.

    A reason is a kind and what it is about: ``version: shop.Cart 1, now 3``. Kinds are
    ``version``, ``alias``, ``member`` and ``field``.

    Args:
        wire: The outermost map.
        shape_of: Gives the shape of the class that is written under a tag.
    """
    found: dict[str, None] = {}

    def visit(value: Any, place: Place, trail: object, level: int) -> None:
        del trail, level
        # In an untyped slot a map is data.
        if type(value) is dict and not isinstance(place, Untyped):
            found.update(dict.fromkeys(_of_map(value, shape_of)))

    Document(wire, shape_of).walk(visit)
    return list(found)


def _of_map(value: dict[str, Any], shape_of: ShapeOf) -> Iterator[str]:
    tag = value.get("$type", value.get("$enum"))
    shape = shape_of(tag) if type(tag) is str and tag[:1] != "$" else None
    if shape is None:
        return
    if tag != shape.mark.tag:
        yield f"alias: {tag}, now {shape.mark.tag}"
    yield from (
        _of_member(value, shape) if "$enum" in value else _of_object(value, shape)
    )


def _of_member(value: dict[str, Any], shape: Shape) -> Iterator[str]:
    name: Any = value.get("name")
    if issubclass(shape.cls, enum.Enum) and type(name) is str:
        member = {**shape.cls.__members__}.get(name)
        if member is not None and member.name != name:
            yield f"member: {name} of {shape.mark.tag}, now {member.name}"


def _of_object(value: dict[str, Any], shape: Shape) -> Iterator[str]:
    tag, version = shape.mark.tag, value.get("$v", 1)
    if type(version) is int and version < shape.mark.version:
        yield f"version: {tag} {version}, now {shape.mark.version}"
    elif version == shape.mark.version and "$value" not in value:
        for item in shape.fields:
            if item.key not in value:
                yield f"field: {tag} lacks {excerpt(item.key)}"


def same_form(one: Any, other: Any) -> bool:
    """Say whether two documents of one graph are written in the same way.

    The order of keys says nothing, and that of set members, and with it the numbers of
    nodes, may be another one in each process: neither is looked at.

    Args:
        one: The outermost map of a document.
        other: That of another one.
    """
    try:
        return _form(one) == _form(other)
    except RecursionError:
        # What nests so deep is not written like that.
        return False


def _form(value: Any) -> int:
    kind = type(value)
    if kind is dict:
        if value.get("$type") == "$ref":
            return hash("$ref")
        return hash(("map", *sorted(hash((k, _form(v))) for k, v in value.items())))
    if kind is list:
        return hash(("list", *sorted(map(_form, value))))
    # 1, 1.0 and True have one hash, and so have 0.0 and -0.0.
    return hash((kind.__name__, repr(value) if kind is float else value))
