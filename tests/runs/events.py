"""Events of one small run, for the tests of what is made of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from graphcodec.runs import (
    AgentResponse,
    EvaluationRecorded,
    Event,
    ExampleFailed,
    ExamplePassed,
    ExampleStarted,
    RunData,
    RunDataBuilder,
    SuiteStarted,
    SuiteStopped,
    TopicChanged,
    UserMessage,
)

START = datetime(2026, 1, 27, 8, 46, 40, 123000, tzinfo=UTC)


def at(seconds: float) -> datetime:
    """Return a time some seconds after the start of the run."""
    return START + timedelta(seconds=seconds)


def started(name: str = "e1", **changes: object) -> ExampleStarted:
    """Return the first event of an example."""
    event = ExampleStarted(
        example_id=name,
        stable_id=f"example:{name}",
        canonical_path=f"A::{name}",
        description=name,
        full_description=f"A {name}",
        location="spec/x.py:12",
        time=at(1),
    )
    return event.replace(**changes)


def said(number: int, text: str = "Hello", name: str = "e1") -> UserMessage:
    """Return what a user says."""
    return UserMessage(
        example_id=name, turn_number=number, text=text, source="script", time=at(2)
    )


def answered(number: int, text: str = "Hi!", name: str = "e1") -> AgentResponse:
    """Return what an agent answers."""
    return AgentResponse(example_id=name, turn_number=number, text=text, time=at(3))


def topic(number: int, to: str, name: str = "e1") -> TopicChanged:
    """Return a change of topic."""
    return TopicChanged(example_id=name, turn_number=number, to_topic=to, time=at(3))


def passed(name: str = "e1") -> ExamplePassed:
    """Return a good end."""
    return ExamplePassed(example_id=name, duration=0.5, time=at(4))


def whole_run() -> list[Event]:
    """Return the events of a run with a conversation, a failure and a scenario."""
    scenario = {"name": "buy", "goal": "buy a tea", "personality": "calm"}
    response = AgentResponse(
        example_id="e1",
        turn_number=1,
        text="Hi!",
        tool_calls=[
            {"name": "greet", "arguments": {"who": "you"}, "result": "ok", "id": "c1"}
        ],
        metadata={"tracing": {"model": "m", "tokens": {"input": 1, "output": 2}}},
        time=at(3),
    )
    verdict = EvaluationRecorded(
        example_id="e1",
        turn_number=1,
        mode="hard",
        type="quality",
        description="friendly",
        passed=False,
        failure_message="it was not",
        reasoning="no smile",
        metadata={"score": 0.25},
        time=at(3.5),
    )
    failure = ExampleFailed(
        example_id="e2",
        duration=0.25,
        message="expected tea",
        backtrace=[f"line {number}" for number in range(1, 13)],
        exception_class="ValueError",
        time=at(5),
    )
    return [
        SuiteStarted(example_count=2, seed=42, git_commit="abc123", time=START),
        started(scenario=scenario),
        topic(0, "greeting"),
        said(1),
        response,
        verdict,
        passed(),
        started("e2"),
        failure,
        SuiteStopped(time=at(6)),
    ]


def built(*events: Event) -> RunData:
    """Return the run that events tell."""
    builder = RunDataBuilder(run_id="run-1")
    for event in events:
        builder.handle(event)
    return builder.snapshot()
