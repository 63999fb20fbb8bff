"""The classes that records are made of."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from graphcodec import log
from graphcodec.errors import InvalidValueError
from tests.log.records import assistant, failed, observation, result, user


def test_roles_are_words() -> None:
    """The four known roles are their words."""
    assert [role.value for role in log.MessageRole] == [
        "user",
        "agent",
        "system",
        "tool",
    ]
    assert user(role=log.MessageRole.SYSTEM, id="m") == user(role="system", id="m")


def test_role_is_user_by_default() -> None:
    """A message is the user's if nothing else is said."""
    message = log.User(content=log.TextContent(content="x"))

    assert message.role == "user"
    assert type(message.role) is str


@pytest.mark.parametrize("role", [*log.MessageRole, "critic", ""])
def test_any_role_comes_back(role: str) -> None:
    """A role of one's own is the bare word."""
    text = log.to_json(user(role=role))

    assert f'"role":"{role}"' in text
    assert log.to_json(log.from_json(text)) == text


def test_custom_word_differs_from_the_known() -> None:
    """A custom word with the letters of a known one stays custom."""
    record = assistant(stop_reason=log.Custom("Stop"))

    assert record.message != assistant(id=record.id).message
    assert log.from_json(log.to_json(record)) == record


def test_hints_and_kinds_are_words() -> None:
    """Closed sets take their words, and refuse others."""
    assert log.ToolCall(id="t", name="n").execution_hint == "unspecified"
    assert log.ToolCall(id="t", name="n", execution_hint="parallel").execution_hint is (
        log.ExecutionHint.PARALLEL
    )
    assert [kind.value for kind in log.ObservationKind] == ["assertion", "question"]
    with pytest.raises(InvalidValueError, match="'parallel' or 'sequential', not 'x'"):
        log.ToolCall(id="t", name="n", execution_hint="x")


def test_every_message_has_an_id() -> None:
    """Messages are told apart in one way, and later ids are greater."""
    records = [user(), assistant(), result()]
    names = [record.message.id for record in records]

    assert [record.id for record in records] == names
    assert names == sorted(set(names))


def test_repr_shows_no_content() -> None:
    """What was said does not get into logs and tracebacks."""
    records: list[Any] = [user("secret"), assistant("secret"), result(text="secret")]

    assert "secret" not in repr([*records, observation("secret"), failed("secret")])


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("a", "Text"),
        (1, "I64"),
        (2**63, "U64"),
        (2**64, "I128"),
        (2**127, "U128"),
        (2**128, "JSON"),
        (0.5, "Float64"),
        (True, "JSON"),
        (None, "JSON"),
        ([1, "é"], "JSON"),
        ({"a": {}}, "JSON"),
    ],
)
def test_plain_arguments_come_back(value: object, kind: str) -> None:
    """A plain value finds its kind and comes back as it was."""
    argument = log.ArgValue.of(value)

    assert argument.kind == kind
    assert argument.plain() == value
    assert type(argument.plain()) is type(value)


def test_arguments_as_json() -> None:
    """Kinds that JSON lacks become what is nearest."""
    argument = log.ArgValue(
        "JSONMap",
        {
            "d": log.ArgValue("Duration", (1, 500_000_000)),
            "t": log.ArgValue("JSON", "{"),
        },
    )

    assert argument.plain() == {"d": 1.5, "t": "{"}


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("Text", 1),
        ("U8", 256),
        ("I8", -129),
        ("Usize", -1),
        ("I64", True),
        ("Float32", 1e39),
        ("Float64", 1),
        ("Duration", (1, 10**9)),
        ("Duration", (1,)),
        ("JSONMap", {"a": 1}),
        ("List", []),
    ],
)
def test_argument_is_what_its_kind_says(kind: str, value: object) -> None:
    """An argument that its reader would refuse can't be made."""
    with pytest.raises(InvalidValueError, match=r"ArgValue\.value must be"):
        log.ArgValue(kind, value)


def test_argument_that_json_lacks() -> None:
    """An object is no argument."""
    with pytest.raises(InvalidValueError, match="a value that JSON has, not an object"):
        log.ArgValue.of(object())


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        ("Heat", "x", "kind must be a known kind, not 'Heat'"),
        ("Memory", {}, "value must be a str"),
        ("ToolCall", "x", "value must be a dict of tool_name, reason"),
        ("ToolCall", {"tool_name": "x"}, "value must be a dict"),
        ("Budget", {"limit": -1}, "value must be a dict"),
        ("Generation", {"kind": "hot", "message": "m"}, "value must be a dict"),
    ],
)
def test_error_is_what_its_kind_says(kind: str, value: object, message: str) -> None:
    """An error that its reader would refuse can't be made."""
    with pytest.raises(InvalidValueError, match=f"AgenticError.{message}"):
        log.AgenticError(kind, value)


def test_error_reads_as_text() -> None:
    """An error tells its kind and its details."""
    assert str(failed().error) == "ToolCall: tool_name=x, reason=y"
    assert str(log.AgenticError("Memory", "full")) == "Memory: full"


def test_cost_is_summed() -> None:
    """The total of a cost is the sum of its four parts."""
    cost = log.UsageCosting(input=1, output=2, cache_read=3, cache_write=4)

    assert cost.total() == 10
    assert type(cost.input) is float


def test_moment_of_a_datetime() -> None:
    """A datetime is turned into the same point in time."""
    moment = datetime(2025, 6, 1, 12, 0, 0, 1, tzinfo=UTC)
    stamp = log.Timestamp.of(moment)

    assert stamp.datetime == moment
    assert log.Retracted(reason="x", timestamp=moment).timestamp == stamp
    assert stamp < log.Timestamp(stamp.nanoseconds + 1)
    assert log.Timestamp(-1).datetime.year == 1969
    assert log.Timestamp(10**9 << 63).datetime == datetime.max.replace(tzinfo=UTC)


def test_naive_moment_is_refused() -> None:
    """A datetime without a zone is no point in time."""
    with pytest.raises(InvalidValueError, match="naive datetime"):
        log.Timestamp.of(datetime(2025, 6, 1))  # noqa: DTZ001 - what is refused
