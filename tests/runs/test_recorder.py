"""What a test tells of its conversation, and the events that come of it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from graphcodec.errors import InvalidValueError
from graphcodec.runs import (
    AgentResponse,
    ConversationRecorder,
    EvaluationRecorded,
    Event,
    EventBus,
    SimulationEnded,
    SimulationStarted,
    ToolCallCompleted,
    ToolCallData,
    TopicChanged,
    UserMessage,
)
from tests.runs.events import START

MILLISECOND = timedelta(milliseconds=1)


def recording() -> tuple[ConversationRecorder, list[Event]]:
    """Return a recorder and what it publishes."""
    bus, seen = EventBus(), list[Event]()
    bus.subscribe(handler=seen.append)
    return ConversationRecorder(bus, "e1"), seen


def test_nothing_is_published_before_anything_is_told() -> None:
    """Nor without a bus."""
    recorder, seen = recording()
    assert (seen, recorder.is_recording) == ([], True)

    silent = ConversationRecorder(None, "e1")
    silent.user("Hello")
    silent.agent("Hi!")
    assert not silent.is_recording


def test_user_message_has_its_source_and_metadata() -> None:
    """And the example; a script is the usual source."""
    recorder, seen = recording()
    recorder.user("Hello", source="simulator", metadata={"mood": "calm"})
    recorder.agent("Hi!")
    recorder.user("Bye")

    first, _, second = seen
    assert isinstance(first, UserMessage)
    assert (first.example_id, first.turn_number, first.text) == ("e1", 1, "Hello")
    assert first.source == "simulator"
    assert first.metadata == {"mood": "calm"}
    assert isinstance(second, UserMessage)
    assert (second.turn_number, second.source) == (2, "script")
    assert second.metadata == {}


def test_answer_has_its_calls_and_metadata() -> None:
    """As dicts or as data; none is an empty tuple."""
    recorder, seen = recording()
    call = ToolCallData(name="two", timestamp=START)
    recorder.user("Hello")
    recorder.agent("Hi!", tool_calls=[{"name": "one"}, call], metadata={"a": {"b": 1}})
    recorder.agent("Anything else?")

    _, first, second = seen
    assert isinstance(first, AgentResponse)
    assert (first.turn_number, first.metadata.dig("a", "b")) == (1, 1)
    assert [made.name for made in first.tool_calls] == ["one", "two"]
    # Run data has milliseconds.
    assert timedelta(0) <= first.time - first.tool_calls[0].timestamp < MILLISECOND
    assert first.tool_calls[1] is call
    assert isinstance(second, AgentResponse)
    assert (second.turn_number, second.tool_calls) == (2, ())


def test_call_is_of_the_turn_that_is_open() -> None:
    """With all that is known of it."""
    recorder, seen = recording()
    recorder.user("Hello")
    recorder.tool_call(
        "search", {"q": 1}, result=[2], error="late", call_id="c1", metadata={"ms": 3}
    )

    call = seen[1]
    assert isinstance(call, ToolCallCompleted)
    assert (call.turn_number, call.tool_name, call.call_id) == (1, "search", "c1")
    assert (call.arguments, call.result, call.error) == ({"q": 1}, [2], "late")
    assert call.metadata == {"ms": 3}


def test_topic_is_news_only_if_it_changes() -> None:
    """With where it came from, and what made it turn."""
    recorder, seen = recording()
    recorder.topic("greeting", trigger="initial")
    recorder.topic("greeting")
    recorder.user("Hello")
    recorder.agent("Hi!")
    recorder.topic("tea")

    first, second = (event for event in seen if isinstance(event, TopicChanged))
    assert (first.from_topic, first.to_topic, first.trigger) == (
        None,
        "greeting",
        "initial",
    )
    assert (second.from_topic, second.to_topic) == ("greeting", "tea")
    assert (first.turn_number, second.turn_number) == (0, 1)
    assert second.trigger == "unknown"
    assert recorder.topic_name == "tea"


def test_verdict_is_hard_unless_said_otherwise() -> None:
    """Its name describes it unless something else does; a wrong mode is refused."""
    recorder, seen = recording()
    recorder.evaluate("friendly", passed=True)
    recorder.evaluate(
        "grounded",
        passed=False,
        description="all is true",
        reasoning="it is not",
        mode="soft",
        type="grounding",
        failure_message="untrue",
        metadata={"score": 0.5},
    )

    first, second = seen
    assert isinstance(first, EvaluationRecorded)
    assert (first.name, first.description, first.mode) == (
        "friendly",
        "friendly",
        "hard",
    )
    assert isinstance(second, EvaluationRecorded)
    assert (second.description, second.mode, second.type) == (
        "all is true",
        "soft",
        "grounding",
    )
    assert (second.reasoning, second.failure_message) == ("it is not", "untrue")
    assert second.metadata == {"score": 0.5}
    with pytest.raises(InvalidValueError, match="mode must be 'soft' or 'hard'"):
        recorder.evaluate("x", passed=True, mode="odd")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_whole_conversation_in_order() -> None:
    """As it was told."""
    recorder, seen = recording()
    recorder.topic("greeting", trigger="initial")
    recorder.user("Hello")
    recorder.tool_call("search")
    recorder.agent("Hi!")
    recorder.evaluate("friendly", passed=True)
    recorder.topic("tea")

    assert [type(event).__name__ for event in seen] == [
        "TopicChanged",
        "UserMessage",
        "ToolCallCompleted",
        "AgentResponse",
        "EvaluationRecorded",
        "TopicChanged",
    ]
    assert {event.example_id for event in seen} == {"e1"}  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]


def test_simulation_is_told() -> None:
    """Its goal and bound; the turns so far and why it ended."""
    recorder, seen = recording()
    recorder.simulation_started("buy tea", max_turns=4)
    recorder.agent("Hi!")
    recorder.simulation_ended("goal_reached")

    first, _, last = seen
    assert first == SimulationStarted(
        example_id="e1", goal="buy tea", max_turns=4, time=first.time
    )
    assert last == SimulationEnded(
        example_id="e1",
        turn_count=1,
        termination_reason="goal_reached",
        time=last.time,
    )
