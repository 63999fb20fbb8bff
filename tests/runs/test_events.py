from __future__ import annotations

import pickle
from typing import Any

import pytest

import graphcodec
from graphcodec import Codec
from graphcodec.errors import InvalidValueError, UndecodableValueError
from graphcodec.runs import (
    EVENTS,
    TYPES,
    AgentResponse,
    Event,
    ExampleAborted,
    ExamplePending,
    ExampleStarted,
    GroupFinished,
    GroupStarted,
    Metadata,
    SimulationEnded,
    SimulationStarted,
    SuiteSummary,
    ToolCallCompleted,
    ToolCallData,
    TopicChanged,
    UnknownEvent,
    UserMessage,
    event_from_dict,
)
from tests.runs.events import answered, at, said, started, topic, whole_run

ALL: list[Event] = [
    *whole_run(),
    SuiteSummary(duration=1.5, example_count=2, failure_count=1, time=at(1)),
    GroupStarted(description="A", file_path="spec/x.py", line_number=3, time=at(1)),
    GroupFinished(description="A", time=at(1)),
    ExamplePending(example_id="e1", message="later", time=at(1)),
    ExampleAborted(example_id="e1", message="killed", time=at(1)),
    SimulationStarted(example_id="e1", goal="buy tea", max_turns=5, time=at(1)),
    SimulationEnded(
        example_id="e1", turn_count=5, termination_reason="max_turns", time=at(1)
    ),
    ToolCallCompleted(
        example_id="e1",
        turn_number=1,
        tool_name="search",
        arguments={"q": {1, 2}},
        result=b"\xff",
        error="no",
        call_id="c1",
        metadata={"at": at(1)},
    ),
    UnknownEvent(name="FarFuture", payload={"x": 1}),
]


def test_all_events_are_here() -> None:
    """Those of the design, and the one for examples whose process died."""
    assert sorted(EVENTS) == [
        "AgentResponse",
        "EvaluationRecorded",
        "ExampleAborted",
        "ExampleFailed",
        "ExamplePassed",
        "ExamplePending",
        "ExampleStarted",
        "GroupFinished",
        "GroupStarted",
        "SimulationEnded",
        "SimulationStarted",
        "SuiteStarted",
        "SuiteStopped",
        "SuiteSummary",
        "ToolCallCompleted",
        "TopicChanged",
        "UserMessage",
    ]
    assert {type(event) for event in ALL} == {*EVENTS.values(), UnknownEvent}


@pytest.mark.parametrize("event", ALL, ids=lambda event: type(event).__name__)
@pytest.mark.parametrize("form", ["json", "msgpack"])
def test_every_event_travels(event: Event, form: Any) -> None:
    """Through any codec, without telling it of the classes."""
    codec = Codec(format=form, write_unregistered=False)

    codec.check(event)
    assert codec.decode(codec.encode(event), type(event)) == event
    assert pickle.loads(pickle.dumps(event)) == event


@pytest.mark.parametrize("event", ALL, ids=lambda event: type(event).__name__)
def test_every_event_comes_back_from_its_plain_form(event: Event) -> None:
    """To the millisecond, which is what the form has."""
    name = event.name if isinstance(event, UnknownEvent) else type(event).__name__
    again = event_from_dict(name, event.to_dict())

    assert again.to_dict() == event.to_dict()
    assert type(again) is type(event)


def test_codec_loads_the_classes_when_a_document_names_them() -> None:
    """A tag that begins with ``run:`` and names nothing is unknown like any other."""
    data = graphcodec.encode_text(said(1))

    assert graphcodec.decode(data) == said(1)
    with pytest.raises(UndecodableValueError, match="run:Nothing"):
        graphcodec.decode(data.replace("run:UserMessage", "run:Nothing"))


def test_tags_are_unique() -> None:
    """One class each."""
    tags = [vars(cls)["__graphcodec_tag__"] for cls in TYPES]

    assert len(set(tags)) == len(tags)
    assert all(
        tag == f"run:{cls.__name__}" for tag, cls in zip(tags, TYPES, strict=True)
    )


def test_unknown_event_is_kept() -> None:
    """A newer writer's; it is written back as it came."""
    event = event_from_dict("FarFuture", {"x": [1]})

    assert event == UnknownEvent(name="FarFuture", payload={"x": [1]}, time=event.time)
    assert event.to_dict() == {"x": [1]}


def test_unknown_field_is_kept() -> None:
    """And written back."""
    form = {**said(1).to_dict(), "mood": "good"}

    assert event_from_dict("UserMessage", form).to_dict() == form


def test_missing_field_takes_the_default() -> None:
    """An older writer did not have it."""
    form = {"example_id": "e1", "turn_number": 1, "text": "Hello"}

    event = event_from_dict("UserMessage", form)

    assert isinstance(event, UserMessage)
    assert event.source == "unknown"
    assert event.metadata == {}


@pytest.mark.parametrize(
    ("form", "path", "reason"),
    [
        ({"turn_number": 1, "text": ""}, "$.example_id", "example_id is missing"),
        (
            {"example_id": "e", "turn_number": "1", "text": ""},
            "$.turn_number",
            "must be a finite number, not '1'",
        ),
        (
            {"example_id": "e", "turn_number": 1, "text": "", "time": "noon"},
            "$.time",
            "a time is written as",
        ),
    ],
)
def test_wrong_field_is_refused(form: dict[str, Any], path: str, reason: str) -> None:
    """With the place and the reason."""
    with pytest.raises(UndecodableValueError, match=reason) as caught:
        event_from_dict("UserMessage", form)

    assert caught.value.path == path


def test_constructor_checks() -> None:
    """No coercion."""
    with pytest.raises(InvalidValueError, match=r"UserMessage\.turn_number must be"):
        UserMessage(example_id="e1", turn_number="1", text="")  # type: ignore[arg-type]


def test_dicts_of_tool_calls_become_data() -> None:
    """With the answer's time, and what is no field as metadata."""
    event = AgentResponse(
        example_id="e1",
        turn_number=1,
        text="Hi!",
        tool_calls=[{"name": "greet", "id": "c1", "arguments": None}],
        time=at(3),
    )

    assert event.tool_calls == (
        ToolCallData(name="greet", timestamp=at(3), metadata={"id": "c1"}),
    )


@pytest.mark.parametrize("call", [{"arguments": {}}, {"name": "t", 1: 2}, {}])
def test_dict_that_is_no_tool_call_is_refused(call: Any) -> None:
    """With the way to write one."""
    with pytest.raises(InvalidValueError, match="texts as keys, and a name") as caught:
        AgentResponse(example_id="e", turn_number=1, text="", tool_calls=[call])

    assert caught.value.path == "$.tool_calls"


@pytest.mark.parametrize("name", ["UserMessage", "Newer"])
def test_payload_is_a_map(name: str) -> None:
    """Also that of an event which nobody knows."""
    payload: Any = ["no map"]
    with pytest.raises(UndecodableValueError, match="written as a map, not a list"):
        event_from_dict(name, payload)


def test_plain_tool_calls_have_the_time_of_the_answer() -> None:
    """The documented payload says none."""
    form: dict[str, Any] = {
        **answered(1).to_dict(),
        "tool_calls": [{"name": "greet", "arguments": {}}],
    }

    event = event_from_dict("AgentResponse", form)

    assert isinstance(event, AgentResponse)
    assert event.tool_calls[0].timestamp == at(3)


def test_metadata_takes_mappings() -> None:
    """And nothing for empty."""
    assert said(1).replace(metadata={"a": 1}).metadata == Metadata(a=1)
    assert said(1).replace(metadata=None).metadata == Metadata()


def test_events_are_values() -> None:
    """Equal by content, and frozen."""
    assert said(1) == said(1) != said(2)
    assert topic(0, "a") != topic(0, "b")
    with pytest.raises(AttributeError):
        said(1).text = "x"  # type: ignore[misc]


def test_repr_shows_no_content() -> None:
    """What was said may be a customer's."""
    assert repr(said(1, "secret")) == "UserMessage('e1', 1)"
    assert repr(started()) == "ExampleStarted('e1')"
    assert isinstance(started(), ExampleStarted)
    assert isinstance(topic(0, "x"), TopicChanged)
