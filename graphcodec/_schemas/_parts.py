"""The JSON Schema of what every document may hold, whatever its classes are.

Names of definitions begin with ``$``, as no tag does. What JSON Schema can't say is
left to `decode`: that ``1.0`` is no int, that a reference is in range and fits its
slot, that times and base64 are possible ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias
from urllib.parse import quote, unquote

from graphcodec._values import LEAST_INT, MOST_INT

Schema: TypeAlias = dict[str, object]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

_DATE: Final = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK: Final = r"[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"
_OFFSET: Final = r"(Z|[+-][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{6})?)?)"
_DECIMAL: Final = r"-?[0-9]+(\.[0-9]+)?(E[+-][0-9]+)?|-?Infinity|-?s?NaN[0-9]*"
_UUID: Final = "[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}"
_BASE64: Final = "([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"
_NO_MARKUP: Final[Schema] = {"pattern": r"^(?!\$)"}
_DEFINITIONS: Final = "#/$defs/"
_ESCAPES: Final = str.maketrans({"~": "~0", "/": "~1"})
_BARE: Final = "~!$&'()*+,;=:@"
"""What may stand in the fragment of an address as it is, beside letters and digits."""

_HEX: Final = "-?0x[1-9a-f][0-9a-f]*"


def text(pattern: str) -> Schema:
    """Return the schema of a text that a pattern matches as a whole.

    Args:
        pattern: A regular expression that Python and ECMAScript read alike.
    """
    return {"type": "string", "pattern": f"^({pattern})$"}


def refer(name: str) -> Schema:
    """Return the schema that refers to a definition.

    Args:
        name: The name of the definition: a tag, or a part with a ``$``.
    """
    return {"$ref": f"{_DEFINITIONS}{quote(name.translate(_ESCAPES), safe=_BARE)}"}


def referred(schema: Mapping[str, object]) -> str | None:
    """Return the name of the definition that a schema refers to, if it does.

    Args:
        schema: What `refer` gave, or another one.
    """
    pointer = schema.get("$ref")
    if not isinstance(pointer, str):
        return None
    name = unquote(pointer.removeprefix(_DEFINITIONS))
    return name.replace("~1", "/").replace("~0", "~")


def closed(properties: Mapping[str, Schema], *, optional: Iterable[str] = ()) -> Schema:
    """Return the schema of a map that has these keys and no others.

    Args:
        properties: What stands under each key.
        optional: The keys that may be missing.
    """
    return {
        "type": "object",
        "properties": dict(properties),
        "required": sorted(properties.keys() - set(optional)),
        "additionalProperties": False,
    }


def listed(item: Schema) -> Schema:
    """Return the schema of a list of any length.

    Args:
        item: The schema of what is in it.
    """
    return {"type": "array", "items": item}


def table(value: Schema, key: Schema | None = None) -> Schema:
    """Return the schema of a map of data: no key of it begins with ``$``.

    Args:
        value: The schema of its values.
        key: The schema of its keys; any text, if left out.
    """
    names: Schema = _NO_MARKUP if key is None else {"allOf": [_NO_MARKUP, key]}
    return {
        "type": "object",
        "propertyNames": names,
        "additionalProperties": value,
    }


def pairs(key: Schema, value: Schema) -> Schema:
    """Return the schema of the marker of a dict.

    Args:
        key: The schema of its keys.
        value: The schema of its values.
    """
    pair: Schema = {
        "type": "array",
        "prefixItems": [key, value],
        "minItems": 2,
        "items": False,
    }
    return closed({"$dict": listed(pair)})


def bounded(item: Schema) -> Schema:
    """Return the schema of the marker of a deque.

    Args:
        item: The schema of what is in it.
    """
    longest: Schema = {"type": ["integer", "null"], "minimum": 0}
    parts = {"$deque": listed(item), "maxlen": longest}
    return closed(parts, optional=["maxlen"])


NULL: Final[Schema] = {"type": "null"}
BOOL: Final[Schema] = {"type": "boolean"}
TEXT: Final[Schema] = {"type": "string"}
NUMBER: Final[Schema] = {"type": "number"}
INT: Final[Schema] = {"type": "integer", "minimum": LEAST_INT, "maximum": MOST_INT}
MOMENT: Final[Schema] = text(f"{_DATE}T{_CLOCK}{_OFFSET}")
DECIMAL: Final[Schema] = text(_DECIMAL)
UUID: Final[Schema] = text(_UUID)


def _marker(name: str, value: Schema) -> Schema:
    return closed({name: value})


def _moment(name: str, pattern: str) -> Schema:
    beside: dict[str, Schema] = {
        "zone": TEXT,
        "name": {"anyOf": [TEXT, refer("$str")]},
        "fold": {"const": 1},
    }
    return closed({name: text(pattern), **beside}, optional=beside)


def _part_of_complex() -> Schema:
    return {"anyOf": [NUMBER, refer("$float")]}


PATHS: Final = ("PurePosixPath", "PureWindowsPath", "PosixPath", "WindowsPath")

SCALARS: Final[Mapping[str, Schema]] = {
    "$int": _marker("$int", text(_HEX)),
    "$float": _marker("$float", {"enum": ["nan", "inf", "-inf"]}),
    "$str": _marker("$str", TEXT),
    "$bytes": _marker("$bytes", text(_BASE64)),
    "$bytearray": _marker("$bytearray", text(_BASE64)),
    "$datetime": _moment("$datetime", f"{_DATE}T{_CLOCK}{_OFFSET}?"),
    "$time": _moment("$time", f"{_CLOCK}{_OFFSET}?"),
    "$date": _marker("$date", text(_DATE)),
    "$timedelta": _marker(
        "$timedelta",
        {
            "type": "array",
            "prefixItems": [
                {"type": "integer"},
                {"type": "integer", "minimum": 0, "maximum": 86_399},
                {"type": "integer", "minimum": 0, "maximum": 999_999},
            ],
            "minItems": 3,
            "items": False,
        },
    ),
    "$zoneinfo": _marker("$zoneinfo", TEXT),
    "$decimal": _marker("$decimal", DECIMAL),
    "$uuid": _marker("$uuid", UUID),
    "$complex": _marker(
        "$complex",
        {
            "type": "array",
            "prefixItems": [_part_of_complex(), _part_of_complex()],
            "minItems": 2,
            "items": False,
        },
    ),
    "$path": closed(
        {
            "$path": {"anyOf": [TEXT, refer("$str")]},
            "kind": {"enum": [*PATHS]},
        }
    ),
}
"""The markers of scalars."""

_WALKED: Final = refer("$walked")

_CONTAINERS: Final[Mapping[str, Schema]] = {
    "$tuple": _marker("$tuple", listed(_WALKED)),
    "$set": _marker("$set", listed(_WALKED)),
    "$frozenset": _marker("$frozenset", listed(_WALKED)),
    "$deque": bounded(_WALKED),
    "$dict": pairs(_WALKED, _WALKED),
}

_REFERENCE: Final = closed(
    {"$type": {"const": "$ref"}, "n": {"type": "integer", "minimum": 0}}
)

_READER: Final = closed(
    {
        "$type": {"const": "$reader"},
        "tag": text("(media|spool):.+"),
        "locator": {"type": "object"},
    }
)

_UNTYPED: Final[Schema] = {
    "$comment": "what stands without $any is plain data, in which nothing is markup",
    "if": {"type": "object", "required": ["$any"]},
    "then": _marker("$any", _WALKED),
}


def by_tag(tags: list[str], name: str) -> Schema:
    """Return the schema of an object of one of several classes.

    With `anyOf` alone a validator would look into an object once for each class, and
    again for each of these in what it holds.

    Args:
        tags: Under which tags it is written.
        name: The name of its definition.
    """
    tagged = {"properties": {"$type": {"enum": tags}}, "required": ["$type"]}
    return {"if": tagged, "then": refer(name), "else": False}


def parts(objects: list[Schema], enums: list[Schema]) -> dict[str, Schema]:
    """Return the definitions that do not depend on a class.

    Args:
        objects: What an object may be.
        enums: What the member of a registered Enum may be.
    """
    markers = [*SCALARS, *_CONTAINERS, *(["$enum"] if enums else [])]
    marked: Schema = {
        "anyOf": [{"required": [name]} for name in markers],
        "dependentSchemas": {name: refer(name) for name in markers},
    }
    untagged: Schema = {
        "if": {"propertyNames": _NO_MARKUP},
        "then": {"additionalProperties": _WALKED},
        "else": marked,
    }
    tagged: Schema = {"anyOf": [refer(n) for n in ("$reference", "$reader", "$object")]}
    walked: Schema = {
        "$comment": "what stands inside $any, where markers are read",
        "items": _WALKED,
        "if": {"type": "object"},
        "then": {"if": {"required": ["$type"]}, "then": tagged, "else": untagged},
    }
    root = {"if": {"type": "object", "required": ["$type"]}, "then": tagged}
    return {
        **SCALARS,
        **_CONTAINERS,
        **({"$enum": {"anyOf": enums}} if enums else {}),
        "$reference": _REFERENCE,
        "$reader": _READER,
        "$object": {"anyOf": objects},
        "$walked": walked,
        "$untyped": _UNTYPED,
        "$root": {**root, "else": refer("$untyped")},
    }
