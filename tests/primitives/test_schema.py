"""Schemas of strangers, held against arguments within bounds."""

from __future__ import annotations

import socket
import time
from typing import Any

import pytest

from graphcodec.errors import InvalidValueError, LimitExceededError, ToolArgsError
from graphcodec.primitives import Tool

# pyright: reportUnknownArgumentType=false
# The schemas and arguments of a table have no type in common.

BACKTRACKING = "^(a|a)*$"
LONG = "a" * 40 + "b"
HANG = 15.0
"""Seconds after which a test takes something for endless."""


def tool(**schema: Any) -> Tool:
    """Return a definition with this schema."""
    return Tool("t", "d", {"type": "object", **schema}, None)


def refused(found: Tool, args: dict[str, Any]) -> ToolArgsError:
    """Return the error for arguments that do not fit."""
    with pytest.raises(ToolArgsError) as caught:
        found.validate(args)
    return caught.value


DIALECT = "https://json-schema.org/draft/2020-12/schema"

ENDLESS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "pattern": ({"properties": {"x": {"pattern": BACKTRACKING}}}, {"x": LONG}),
    "patternProperties": ({"patternProperties": {BACKTRACKING: True}}, {LONG: 1}),
    "additionalProperties": (
        {"patternProperties": {BACKTRACKING: True}, "additionalProperties": False},
        {LONG: 1},
    ),
    "propertyNames": ({"propertyNames": {"pattern": BACKTRACKING}}, {LONG: 1}),
    "an inner $schema": (
        {"properties": {"x": {"$schema": DIALECT, "pattern": BACKTRACKING}}},
        {"x": LONG},
    ),
    "references that double": (
        {
            "$ref": "#/$defs/d0",
            "$defs": {
                **{
                    f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2}
                    for n in range(40)
                },
                "d40": {},
            },
        },
        {},
    ),
    "draft 7": (
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "properties": {"x": {"pattern": BACKTRACKING}},
        },
        {"x": LONG},
    ),
}


@pytest.mark.parametrize(("schema", "args"), ENDLESS.values(), ids=ENDLESS)
def test_endless_schema_ends_in_an_error(
    schema: dict[str, Any], args: dict[str, Any]
) -> None:
    """A quarter of a second of processor time is all that one check may take."""
    before = time.monotonic()

    with pytest.raises(
        LimitExceededError, match=r"took more than 0\.25 seconds"
    ) as caught:
        tool(**schema).validate(args)

    assert caught.value.limit == "schema_timeout"
    assert time.monotonic() - before < HANG


def test_many_different_items_are_compared_quickly() -> None:
    """The library compares each with each, which takes minutes."""
    unique = tool(properties={"x": {"uniqueItems": True}})
    items: list[Any] = [{"n": n, "l": [n]} for n in range(20_000)]
    before = time.monotonic()

    unique.validate({"x": items})

    assert time.monotonic() - before < HANG


@pytest.mark.parametrize(
    ("items", "fits"),
    [
        ([1, 1.0], False),
        ([1, True], True),
        ([0, False], True),
        ([[1], [True]], True),
        ([{"a": 1}, {"a": 1.0}], False),
        ([[1, 2], [2, 1]], True),
        (["a", "a"], False),
        ([None, 0, "", [], {}], True),
    ],
)
def test_items_are_equal_as_json_has_it(items: list[object], *, fits: bool) -> None:
    """1 and 1.0 are one number, and true is none."""
    unique = tool(properties={"x": {"uniqueItems": True}})
    if fits:
        unique.validate({"x": items})
    else:
        assert "not all different" in str(refused(unique, {"x": items}))


@pytest.mark.parametrize(
    "ref",
    [
        "http://{}/schema.json",
        "http://{}/schema.json#/$defs/a",
        "other.json",
        "file:///etc/passwd",
        "#/$defs/missing",
        "#nowhere",
    ],
)
def test_reference_to_elsewhere_is_never_followed(ref: str) -> None:
    """A server that listens hears nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        port = server.getsockname()[1]
        found = tool(properties={"x": {"$ref": ref.format(f"127.0.0.1:{port}")}})

        with pytest.raises(InvalidValueError, match="which is not in it") as caught:
            found.validate({"x": 1})

        assert caught.value.path == "$.input_schema"
        assert "copy what it refers to into $defs" in caught.value.hint
        with pytest.raises(TimeoutError):
            server.accept()


def test_identifiers_are_not_fetched() -> None:
    """An ``$id`` is a name, and so is an unknown ``$schema``."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        base = f"http://127.0.0.1:{server.getsockname()[1]}"
        found = tool(
            **{
                "$id": f"{base}/a.json",
                "$schema": f"{base}/dialect.json",
                "properties": {"x": {"$ref": "#/$defs/y", "format": "uri"}},
                "$defs": {"y": {"type": "string"}},
            }
        )

        found.validate({"x": "text"})
        assert refused(found, {"x": 1}).path == "$.x"
        with pytest.raises(TimeoutError):
            server.accept()


def test_references_within_the_schema_are_followed() -> None:
    """Also where they lead back: trees of any depth are checked."""
    found = tool(
        properties={"root": {"$ref": "#/$defs/node"}},
        **{
            "$defs": {
                "node": {
                    "type": "object",
                    "properties": {
                        "children": {
                            "type": "array",
                            "items": {"$ref": "#/$defs/node"},
                        }
                    },
                }
            }
        },
    )

    found.validate({"root": {"children": [{"children": []}]}})
    error = refused(found, {"root": {"children": [{"children": [3]}]}})
    assert error.path == "$.root.children[0].children[0]"


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"properties": 5}, "5 is not of the type 'object'"),
        ({"properties": {"x": {"type": "strange"}}}, "is not valid under any"),
        ({"required": "q"}, "'q' is not of the type 'array'"),
        (
            {"patternProperties": {"a": True}, "unevaluatedProperties": False},
            "both unevaluatedProperties and patternProperties",
        ),
    ],
)
def test_schema_that_is_none_is_refused(schema: dict[str, Any], reason: str) -> None:
    """When it is first used, with the place in it."""
    with pytest.raises(InvalidValueError, match=reason) as caught:
        tool(**schema).validate({})

    assert caught.value.path.startswith("$.input_schema")


def doubling() -> object:
    """Return little that unfolds to more than anybody could look at."""
    part: object = {}
    for _ in range(60):
        part = {"anyOf": [part, part]}
    return part


def nested() -> object:
    """Return a schema that nests deeper than the stack."""
    part: object = {}
    for _ in range(5_000):
        part = {"not": part}
    return part


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        (doubling(), "it has more than 10,000 lists and dicts when unfolded"),
        (nested(), "it nests too deep"),
        ({"anyOf": [{}] * 10_001}, "it has more than 10,000 lists and dicts"),
    ],
    ids=["doubling", "nested", "large"],
)
def test_schema_that_is_too_large_is_refused(part: object, reason: str) -> None:
    """Before anybody walks through it."""
    with pytest.raises(InvalidValueError, match=reason):
        tool(properties={"x": part}).validate({})


@pytest.mark.parametrize(
    ("part", "value", "reason"),
    [
        ({"pattern": 5}, "text", "it has the pattern 5"),
        ({"properties": 5}, {}, "AttributeError"),
        ({"type": "strange"}, "text", "UnknownType"),
    ],
)
def test_what_is_no_schema_can_not_be_smuggled_in(
    part: object, value: object, reason: str
) -> None:
    """A reference may lead to where nobody looks for schemas."""
    found = tool(properties={"x": {"$ref": "#/default"}}, default=part)

    with pytest.raises(InvalidValueError, match=reason) as caught:
        found.validate({"x": value})

    assert caught.value.path == "$.input_schema"


def test_long_problem_is_cut() -> None:
    """A name may be as long as its writer likes."""
    error = refused(tool(required=["x" * 10_000]), {})

    assert "xxx…" in str(error)
    assert len(str(error)) < 300


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "not a regular expression"),
        ("a" * 1001, "1001 characters"),
        ("(a{1,100000}){1,100000}", "repeat a part more than"),
    ],
)
def test_bad_pattern_is_refused(pattern: str, reason: str) -> None:
    """Before it can fill the memory."""
    with pytest.raises(InvalidValueError, match=reason):
        tool(properties={"x": {"pattern": pattern}}).validate({"x": "a"})


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"properties": {"x": {"$ref": "#/properties/x"}}},
        {"allOf": [{"$ref": "#"}]},
    ],
)
def test_schema_that_refers_to_itself_ends(schema: dict[str, Any]) -> None:
    """Without a RecursionError."""
    with pytest.raises(
        LimitExceededError, match="refers to itself, or nests"
    ) as caught:
        tool(**schema).validate({"x": 1})

    assert caught.value.limit == "nesting"


def test_deep_arguments_end_in_an_error_of_ours() -> None:
    """A model may send brackets for ever."""
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    assert "hold what JSON has not" in str(refused(tool(), {"x": deep}))


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"patternProperties": {"^x": {"type": "integer"}}}, {"xa": 1}, {"xa": "1"}),
        (
            {"patternProperties": {"^x": True}, "additionalProperties": False},
            {"xa": 1},
            {"a": 1},
        ),
        (
            {
                "patternProperties": {"^x": True},
                "additionalProperties": {"type": "null"},
            },
            {"xa": 1, "b": None},
            {"b": 1},
        ),
        ({"properties": {"x": {"pattern": "^a+$"}}}, {"x": "aa"}, {"x": "ab"}),
        ({"properties": {"x": {"pattern": "^a+$"}}}, {"x": 5}, {"x": ""}),
        ({"unevaluatedProperties": False, "properties": {"a": {}}}, {"a": 1}, {"b": 1}),
        ({"properties": {"x": {"enum": [1, 2]}}}, {"x": 2}, {"x": 3}),
        ({"properties": {"x": {"const": None}}}, {"x": None}, {"x": 0}),
        ({"properties": {"x": False}}, {}, {"x": 1}),
    ],
)
def test_keywords_with_bounds_mean_what_they_mean(
    schema: dict[str, Any], good: dict[str, Any], bad: dict[str, Any]
) -> None:
    """What we took over from the library accepts and refuses the same."""
    found = tool(**schema)

    found.validate(good)
    refused(found, bad)


def test_formats_are_not_checked() -> None:
    """They are notes for whoever reads the schema, as JSON Schema has it."""
    tool(properties={"x": {"format": "ipv4"}}).validate({"x": "not an address"})


def test_dialect_of_the_root_counts() -> None:
    """In draft 7, a list of items is a tuple."""
    found = tool(
        **{"$schema": "http://json-schema.org/draft-07/schema#"},
        properties={"x": {"items": [{"type": "string"}, {"type": "integer"}]}},
    )

    found.validate({"x": ["a", 1]})
    assert refused(found, {"x": ["a", "b"]}).path == "$.x[1]"
