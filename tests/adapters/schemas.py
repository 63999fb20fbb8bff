"""Examples of the types of client libraries, made from the schemas of their models."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, Union, get_args, get_origin

from pydantic import TypeAdapter

if TYPE_CHECKING:
    from collections.abc import Iterator

JSON: TypeAlias = Any

_DEEPEST = 6
_VALUES: dict[str, JSON] = {"integer": 1, "number": 0.5, "boolean": True}
_TEXTS = {"date-time": "2026-05-04T00:00:00Z"}


def members(union: Any) -> Iterator[Any]:
    """Yield the classes of a union, through whatever is annotated."""
    origin = get_origin(union)
    if origin is Annotated:
        yield from members(get_args(union)[0])
    elif origin in {Union, types.UnionType}:
        for member in get_args(union):
            yield from members(member)
    else:
        yield union


def example(model: Any, *, full: bool) -> JSON:
    """Return an example of a class, as its schema says.

    Args:
        model: A model or a TypedDict.
        full: Whether optional keys are there, too.
    """
    schema = TypeAdapter(model).json_schema()
    return _value(schema, schema.get("$defs", {}), full=full, depth=0)


def _value(schema: JSON, definitions: JSON, *, full: bool, depth: int) -> JSON:
    def inner(part: JSON) -> JSON:
        return _value(part, definitions, full=full, depth=depth + 1)

    if "$ref" in schema:
        return inner(definitions[schema["$ref"].rpartition("/")[2]])
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if "enum" in schema:
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            options = [each for each in schema[key] if each.get("type") != "null"]
            return inner(options[0])
    match schema.get("type"):
        case "object":
            return _object(schema, inner, full=full and depth < _DEEPEST)
        case "array":
            return [inner(schema["items"])] if depth < _DEEPEST else []
        case "string":
            return _TEXTS.get(schema.get("format", ""), "aGk=")
        case kind:
            return _VALUES.get(str(kind), {})


def _object(schema: JSON, inner: Any, *, full: bool) -> JSON:
    required = schema.get("required", ())
    return {
        key: _unset(key, part, inner)
        for key, part in schema.get("properties", {}).items()
        if full or key in required
    }


def _unset(key: str, part: JSON, inner: Any) -> JSON:
    # Optional keys of a response have the default null; a value says more.
    if part.get("default", key) is None:
        part = {name: value for name, value in part.items() if name != "default"}
    return inner(part)
