from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import graphcodec
from graphcodec.errors import UndecodableValueError, UnencodableValueError
from graphcodec.runs import (
    ConversationData,
    EvaluationData,
    ExampleData,
    ExampleStarted,
    ExceptionData,
    MessageData,
    RunData,
    ScenarioData,
    SummaryStats,
    ToolCallData,
    TurnData,
)
from tests.runs.events import START, at, built, whole_run

RUN = built(*whole_run())
PARTS: list[Any] = [
    RUN,
    *RUN.scenarios.values(),
    *RUN.examples.values(),
    RUN.examples["e1"].conversation,
    *RUN.examples["e1"].conversation.turns,  # type: ignore[union-attr]
    RUN.examples["e1"].conversation.turns[0].user_message,  # type: ignore[union-attr]
    *RUN.examples["e1"].conversation.turns[0].tool_calls,  # type: ignore[union-attr]
    *RUN.examples["e1"].evaluations,
    RUN.examples["e2"].exception,
]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: type(part).__name__)
def test_every_part_comes_back(part: Any) -> None:
    """From its documented form, and through the codec: equal."""
    assert part.from_dict(part.to_dict()) == part
    assert graphcodec.decode(graphcodec.encode(part)) == part


def test_documented_form() -> None:
    """Its keys in their order, nulls included."""
    form: Any = RUN.to_dict()
    example: Any = form["examples"]["e1"]
    turn: Any = example["conversation"]["turns"][0]

    assert " ".join(form) == (
        "run_id started_at finished_at seed git_commit scenarios examples"
    )
    assert " ".join(example) == (
        "id stable_id canonical_path scenario_id file description location status "
        "started_at finished_at duration_ms exception conversation evaluations metadata"
    )
    assert " ".join(example["evaluations"][0]) == (
        "name description passed reasoning timestamp mode type failure_message metadata"
    )
    assert " ".join(turn) == (
        "number user_message agent_response tool_calls topic metadata"
    )
    assert turn["agent_response"] == {
        "role": "agent",
        "content": "Hi!",
        "timestamp": "2026-01-27T08:46:43.123+00:00",
        "source": None,
        "metadata": {"tracing": {"model": "m", "tokens": {"input": 1, "output": 2}}},
    }
    assert turn["tool_calls"] == [
        {
            "name": "greet",
            "arguments": {"who": "you"},
            "result": "ok",
            "error": None,
            "timestamp": "2026-01-27T08:46:43.123+00:00",
            "metadata": {"id": "c1"},
        }
    ]


def test_form_is_that_of_the_golden_file() -> None:
    """Every key of every part, as another writer puts them; read and written back."""
    text = (Path(__file__).parent / "golden" / "run.json").read_text("utf-8")

    run = RunData.from_dict(json.loads(text))

    assert json.dumps(run.to_dict(), indent=2) + "\n" == text
    assert run.summary() == SummaryStats(
        example_count=3,
        passed_count=1,
        failed_count=1,
        pending_count=0,
        total_duration_ms=750,
    )
    talk = run.examples["sells"].conversation
    assert talk is not None
    assert talk.turns[0].agent_response is not None
    assert talk.turns[0].agent_response.metadata.dig("custom", "a", 0, "b") == 1


def test_form_of_another_writer_is_read() -> None:
    """Missing lists and statuses have defaults; what nobody knows is kept."""
    form = {
        "run_id": "r",
        "started_at": "2026-01-27T08:46:40.123+01:00",
        "examples": {"a": {"id": "a", "file": None, "status": "odd", "mood": 1}},
    }

    run = RunData.from_dict(form)

    zone = timezone(timedelta(hours=1))
    assert run.started_at == datetime(2026, 1, 27, 8, 46, 40, 123000, tzinfo=zone)
    assert run.examples["a"].status == "odd"
    assert run.examples["a"].evaluations == ()
    assert run.to_dict()["examples"]["a"]["mood"] == 1  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "offset"),
    [("2026-01-27 08:46:40 +0100", 1), ("2026-01-27 08:46:40.5 UTC", 0)],
)
def test_times_as_ruby_writes_them_are_read(text: str, offset: int) -> None:
    """A parallel run of the original holds such."""
    message = MessageData.from_dict({"role": "user", "content": "", "timestamp": text})

    assert message.timestamp.utcoffset() == timedelta(hours=offset)


@pytest.mark.parametrize(
    ("change", "path", "reason"),
    [
        ({"run_id": None}, "$.run_id", r"RunData\.run_id is missing"),
        ({"examples": {"a": {}}}, "$.examples['a'].id", r"ExampleData\.id is missing"),
        ({"examples": {"a": 1}}, "$.examples['a']", "is written as a map, not a int"),
        ({"seed": "7"}, "$.seed", "must be a finite number or None"),
        (
            {"examples": {"a": {"id": "a", "evaluations": [{"passed": 1}]}}},
            "$.examples['a'].evaluations[0].timestamp",
            "timestamp is missing",
        ),
        (
            {"examples": {"a": {"id": "a", "metadata": [1]}}},
            "$.examples['a'].metadata",
            "metadata is a map, not a list",
        ),
        (
            {"examples": {"a": {"id": "a", "metadata": {"$any": 1}}}},
            "$.examples['a'].metadata",
            "metadata is a map, not a int",
        ),
        ({"environment": ""}, "$.environment", "metadata is a map, not a str"),
    ],
)
def test_wrong_form_is_refused(change: dict[str, Any], path: str, reason: str) -> None:
    """With the place and the reason."""
    with pytest.raises(UndecodableValueError, match=reason) as caught:
        RunData.from_dict({"run_id": "r", **change})

    assert caught.value.path == path


def test_values_that_json_lacks_come_back() -> None:
    """And only they change the form."""
    arguments = {"a": b"\xff", "b": (1, {2}), "c": at(1)}
    call = ToolCallData(name="t", arguments=arguments, timestamp=at(1))

    form = call.to_dict()

    assert form["metadata"] == {}
    assert list(form["arguments"]) == ["$any"]  # type: ignore[call-overload]
    assert ToolCallData.from_dict(form) == call


def test_value_that_nothing_can_hold_is_refused() -> None:
    """With its place in the form."""
    call = ToolCallData(name="t", arguments={"a": [print]}, timestamp=at(1))

    with pytest.raises(UnencodableValueError, match="native function print") as caught:
        call.to_dict()

    assert caught.value.path == "$.arguments.a[0]"


def test_exception_keeps_ten_lines() -> None:
    """The first ten."""
    lines = [f"line{number}" for number in range(1, 15)]
    failure = ExceptionData(class_name="E", message="m", backtrace=lines)

    assert len(failure.backtrace) == 10
    assert failure.backtrace[-1] == "line10"
    assert ExceptionData(class_name="E").backtrace == ()


@pytest.mark.parametrize(
    ("mode", "soft", "hard"),
    [("soft", True, False), ("hard", False, True), (None, False, False)],
)
def test_evaluations_are_soft_or_hard(
    mode: str | None, *, soft: bool, hard: bool
) -> None:
    """Or neither, if nobody said."""
    verdict = EvaluationData(passed=True, timestamp=START, mode=mode)

    assert (verdict.is_soft, verdict.is_hard) == (soft, hard)


def test_times_are_cut_to_milliseconds() -> None:
    """So that what was read is equal to what was written."""
    message = MessageData(
        role="user", content="", timestamp=START.replace(microsecond=123_999)
    )

    assert message.timestamp.microsecond == 123_000
    assert MessageData.from_dict(message.to_dict()) == message


def test_arguments_may_be_none() -> None:
    """For none."""
    assert ToolCallData(name="t", arguments=None, timestamp=START).arguments == {}


def test_scenario_is_named_by_its_content() -> None:
    """Whatever the order of its keys; the name falls back to the id."""
    one = ScenarioData.from_scenario({"goal": "g", "context": {"a": 1}})
    two = ScenarioData.from_scenario({"context": {"a": 1}, "goal": "g"})

    assert one is not None
    assert one == two
    assert one.id == one.name
    assert one.id.startswith("scenario_")
    assert len(one.id) == len("scenario_") + 8
    assert one.data == {"goal": "g", "context": {"a": 1}}


def test_scenario_of_an_object() -> None:
    """One with ``to_dict``; data as it is; None; and nothing else."""

    class Scenario:
        def to_dict(self) -> dict[str, object]:
            return {"name": "n", "goal": "g", "personality": "p", "verification": [1]}

    scenario = ScenarioData.from_scenario(Scenario())

    assert scenario is not None
    assert (scenario.name, scenario.personality) == ("n", "p")
    assert ScenarioData.from_scenario(scenario) is scenario
    event = ExampleStarted(example_id="e", scenario=Scenario())
    assert event.scenario == scenario.data
    assert ScenarioData.from_scenario(None) is None
    with pytest.raises(TypeError, match="a scenario is a mapping or has to_dict"):
        ScenarioData.from_scenario(7)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"x": {1: 2, "b": 3}}, {"x": {"b": 3, 1: 2}}),
        ({"x": {"a", "b", "c"}}, {"x": {"c", "b", "a"}}),
        ({"x": [{"b": b"1", "a": (1,)}]}, {"x": [{"a": (1,), "b": b"1"}]}),
    ],
)
def test_scenario_of_any_values_has_a_name(
    one: dict[str, object], other: dict[str, object]
) -> None:
    """Also of keys that are no texts, and the same in every process."""
    first, second = ScenarioData.from_scenario(one), ScenarioData.from_scenario(other)

    assert first is not None
    assert second is not None
    assert first.id == second.id


@pytest.mark.parametrize(
    "value",
    [datetime(2026, 1, 27, 8, 46, 40, 123456, tzinfo=UTC), b"", (), {"$type": "x"}],
)
def test_result_comes_back_as_it_was(value: object) -> None:
    """A time to the microsecond; it is the user's, not ours."""
    call = ToolCallData(name="t", result=value, timestamp=START)

    assert ToolCallData.from_dict(call.to_dict()) == call


def test_current_turn_is_the_last() -> None:
    """None if there is none."""
    turns = [TurnData(number=1), TurnData(number=2)]

    assert ConversationData(turns=turns).current_turn is turns[1]
    assert ConversationData().current_turn is None


def test_examples_and_scenarios_by_id() -> None:
    """None for an id that nobody has."""
    (scenario_id,) = RUN.scenarios

    assert RUN.example("e1") is RUN.examples["e1"]
    assert RUN.example("e9") is None
    assert RUN.scenario(scenario_id) is RUN.scenarios[scenario_id]
    assert RUN.scenario("s9") is None
    assert RUN.examples["e1"].scenario_id == scenario_id


def test_summary_counts() -> None:
    """What runs counts as an example and nothing else."""
    statuses = ["passed", "failed", "pending", "running", "aborted"]
    examples = {
        status: ExampleData(id=status, status=status, duration_ms=100)
        for status in statuses
    }
    examples["none"] = ExampleData(id="none", status="passed")

    assert RunData(run_id="r", examples=examples).summary() == SummaryStats(
        example_count=6,
        passed_count=2,
        failed_count=1,
        pending_count=1,
        total_duration_ms=500,
        aborted_count=1,
    )


def test_entries_of_examples_are_checked() -> None:
    """Whatever is in the dict."""
    with pytest.raises(ValueError, match=r"RunData\.examples\['a'\] must be"):
        RunData(run_id="r", examples={"a": 1})  # type: ignore[dict-item]
