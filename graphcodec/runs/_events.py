"""What happens while a suite of conversations runs."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Final, Literal, TypeAlias, cast

from attrs import field, frozen

from graphcodec.errors import InvalidValueError, UndecodableValueError
from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import ALLOW_EMPTY, checked, excerpt
from graphcodec.primitives._convert import to_moment
from graphcodec.runs._data import ScenarioData, ToolCallData
from graphcodec.runs._fields import (
    SPARED,
    now,
    optional_text,
    text,
    to_dict,
    to_metadata,
    to_tuple,
)
from graphcodec.runs._forms import from_form, to_form
from graphcodec.runs._metadata import Metadata

__all__ = [
    "EVENTS",
    "AgentResponse",
    "EvaluationRecorded",
    "Event",
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
    "UnknownEvent",
    "UserMessage",
    "event_from_dict",
]


@frozen(kw_only=True, eq=False, repr=False)
class Event(Primitive):
    """The base of all events.

    Attributes:
        time: When it happened; now, if nobody says.
    """

    time: datetime = field(factory=now, converter=to_moment)

    def to_dict(self) -> dict[str, object]:
        """Return the fields as JSON has them, without the name of the event."""
        return to_form(self)

    def _summary(self) -> str:
        shown = [getattr(self, "example_id", ""), getattr(self, "turn_number", "")]
        return ", ".join(excerpt(value) for value in shown if value != "")


@checked
@frozen(kw_only=True, eq=False, repr=False)
class SuiteStarted(Event):
    """The first event of a run.

    Attributes:
        example_count: How many examples there are.
        load_time: How long finding them took, in seconds.
        seed: The seed of their order, if there is one.
        run_id: A name for the run; made if there is none.
        git_commit: What was checked out, if that is known.
        parent_run_id: The run of which this is a part or a repetition.
        tags: Words by which to find the run.
        environment: Where it runs: ``python``, ``platform``, ``packages``.
        is_resumed: Whether it goes on with a run that began before.
    """

    __graphcodec_tag__: ClassVar[str] = "run:SuiteStarted"

    example_count: int = 0
    load_time: int | float = 0
    seed: int | None = None
    run_id: str | None = None
    git_commit: str | None = None
    parent_run_id: str | None = field(default=None, metadata=SPARED)
    tags: tuple[str, ...] = field(
        default=(), converter=to_tuple, metadata={**SPARED, **ALLOW_EMPTY}
    )
    environment: Metadata = field(
        factory=Metadata, converter=to_metadata, metadata=SPARED
    )
    is_resumed: bool = field(default=False, metadata=SPARED)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class SuiteStopped(Event):
    """The last event of a run."""

    __graphcodec_tag__: ClassVar[str] = "run:SuiteStopped"


@checked
@frozen(kw_only=True, eq=False, repr=False)
class SuiteSummary(Event):
    """How a run went, in numbers.

    Attributes:
        duration: How long it took, in seconds.
        example_count: How many examples ran.
        failure_count: How many failed.
        pending_count: How many were skipped.
    """

    __graphcodec_tag__: ClassVar[str] = "run:SuiteSummary"

    duration: int | float = 0
    example_count: int = 0
    failure_count: int = 0
    pending_count: int = 0


@checked
@frozen(kw_only=True, eq=False, repr=False)
class GroupStarted(Event):
    """A group of examples, such as a module or a class, begins.

    Attributes:
        description: Its name.
        file_path: Where it is.
        line_number: At which line, counted from 1; 0 if nobody knows.
        group_id: A name of its own, which examples repeat; the file and the
            description if left out.
        parent_id: The group in which it stands.
    """

    __graphcodec_tag__: ClassVar[str] = "run:GroupStarted"

    description: str = text()
    file_path: str = text()
    line_number: int = 0
    group_id: str | None = field(default=None, metadata=SPARED)
    parent_id: str | None = field(default=None, metadata=SPARED)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class GroupFinished(Event):
    """A group of examples ends.

    Attributes:
        description: Its name.
        group_id: See `GroupStarted`; the group of that description that began last,
            if left out.
    """

    __graphcodec_tag__: ClassVar[str] = "run:GroupFinished"

    description: str = text()
    group_id: str | None = field(default=None, metadata=SPARED)


@frozen(kw_only=True, eq=False, repr=False)
class ExampleEvent(Event):
    """The base of all events of one example.

    Attributes:
        example_id: The example.
    """

    example_id: str


def _to_scenario(value: object) -> object:
    """Take the data of a foreign object, which could not travel."""
    as_dict = getattr(value, "to_dict", None)
    if isinstance(value, type | ScenarioData) or not callable(as_dict):
        return value
    return as_dict()


@checked
@frozen(kw_only=True, eq=False, repr=False)
class ExampleStarted(ExampleEvent):
    """An example begins.

    Attributes:
        example_id: The example.
        stable_id: A name that survives moving the example to another line.
        canonical_path: The names of its groups and its own, joined.
        description: Its own name.
        full_description: That with the names of its groups.
        location: ``file:line``.
        scenario: What is to be played through: a `ScenarioData`, or its data. Of an
            object with ``to_dict``, what that returns.
        worker: Which worker runs it, if several do.
        attempt: Which try this is, counted from 1.
        group_id: The innermost group it stands in.
    """

    __graphcodec_tag__: ClassVar[str] = "run:ExampleStarted"

    stable_id: str | None = None
    canonical_path: str | None = None
    description: str = text()
    full_description: str = text()
    location: str = text()
    scenario: object = field(default=None, converter=_to_scenario)
    worker: str | None = None
    attempt: int = 1
    group_id: str | None = field(default=None, metadata=SPARED)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class ExamplePassed(ExampleEvent):
    """An example ends well.

    Attributes:
        example_id: The example.
        stable_id: See `ExampleStarted`.
        description: See `ExampleStarted`.
        full_description: See `ExampleStarted`.
        duration: How long it took, in seconds.
    """

    __graphcodec_tag__: ClassVar[str] = "run:ExamplePassed"

    stable_id: str | None = None
    description: str = text()
    full_description: str = text()
    duration: int | float | None = None


@checked
@frozen(kw_only=True, eq=False, repr=False)
class ExampleFailed(ExampleEvent):
    """An example ends badly.

    Attributes:
        example_id: The example.
        stable_id: See `ExampleStarted`.
        description: See `ExampleStarted`.
        full_description: See `ExampleStarted`.
        location: See `ExampleStarted`.
        duration: How long it took, in seconds.
        message: What the exception says.
        backtrace: Where it came from, line by line.
        exception_class: The name of the exception's class.
    """

    __graphcodec_tag__: ClassVar[str] = "run:ExampleFailed"

    stable_id: str | None = None
    description: str = text()
    full_description: str = text()
    location: str = text()
    duration: int | float | None = None
    message: str | None = optional_text()
    backtrace: tuple[str, ...] = field(
        default=(), converter=to_tuple, metadata=ALLOW_EMPTY
    )
    exception_class: str | None = None


@checked
@frozen(kw_only=True, eq=False, repr=False)
class ExamplePending(ExampleEvent):
    """An example is skipped, or is expected to fail and does.

    Attributes:
        example_id: The example.
        stable_id: See `ExampleStarted`.
        description: See `ExampleStarted`.
        full_description: See `ExampleStarted`.
        message: Why.
    """

    __graphcodec_tag__: ClassVar[str] = "run:ExamplePending"

    stable_id: str | None = None
    description: str = text()
    full_description: str = text()
    message: str | None = optional_text()


@checked
@frozen(kw_only=True, eq=False, repr=False)
class ExampleAborted(ExampleEvent):
    """An example will not end: the process that ran it is gone.

    Attributes:
        example_id: The example.
        message: What is known of the end.
    """

    __graphcodec_tag__: ClassVar[str] = "run:ExampleAborted"

    message: str | None = optional_text()


@checked
@frozen(kw_only=True, eq=False, repr=False)
class SimulationStarted(ExampleEvent):
    """A simulated user begins to talk.

    Attributes:
        example_id: The example.
        goal: What the user wants.
        max_turns: After how many turns the simulation is ended.
    """

    __graphcodec_tag__: ClassVar[str] = "run:SimulationStarted"

    goal: str = text()
    max_turns: int | None = None


@checked
@frozen(kw_only=True, eq=False, repr=False)
class SimulationEnded(ExampleEvent):
    """A simulated user is done.

    Attributes:
        example_id: The example.
        turn_count: How many turns there were.
        termination_reason: ``max_turns``, ``stop_condition``, ``goal_reached``,
            ``error``, or another word.
    """

    __graphcodec_tag__: ClassVar[str] = "run:SimulationEnded"

    turn_count: int = 0
    termination_reason: str = text()


@frozen(kw_only=True, eq=False, repr=False)
class TurnEvent(ExampleEvent):
    """The base of all events within a turn.

    Attributes:
        example_id: The example.
        turn_number: The turn, counted from 1.
    """

    turn_number: int


@checked
@frozen(kw_only=True, eq=False, repr=False)
class UserMessage(TurnEvent):
    """The user says something; a turn begins.

    Attributes:
        example_id: The example.
        turn_number: The turn that begins, counted from 1.
        text: What is said.
        source: ``simulator``, ``script``, ``unknown``, or another word.
        metadata: What else there is to know.
    """

    __graphcodec_tag__: ClassVar[str] = "run:UserMessage"

    text: str = field(metadata=ALLOW_EMPTY)
    source: str | None = "unknown"
    metadata: Metadata = field(factory=Metadata, converter=to_metadata)


Calls: TypeAlias = Sequence[ToolCallData | Mapping[str, object]]


def _to_calls(value: Calls) -> tuple[ToolCallData, ...]:
    given: object = value
    # The dicts among them become data when the time of the answer is known.
    return cast("tuple[ToolCallData, ...]", to_tuple(given))


def _to_call(call: object, time: datetime) -> object:
    if not isinstance(call, Mapping):
        return call
    given = cast("Mapping[str, Any]", call)
    if "name" not in given or not all(type(key) is str for key in given):
        raise InvalidValueError(
            "a tool call that is a dict has texts as keys, and a name",
            path="$.tool_calls",
            hint='{"name": ..., "arguments": {...}, "result": ..., "error": ...}',
        )
    entries: dict[str, Any] = {"timestamp": time, **given}
    known = {name: entries.pop(name) for name in _CALL_FIELDS if name in entries}
    # What a call has beside its fields, such as an id, is not lost.
    known["metadata"] = {**entries, **(known.get("metadata") or {})}
    return ToolCallData(**known)


_CALL_FIELDS: Final = ("name", "arguments", "result", "error", "timestamp", "metadata")


@checked
@frozen(kw_only=True, eq=False, repr=False)
class AgentResponse(TurnEvent):
    """The agent answers. What it says of its tool calls counts.

    Attributes:
        example_id: The example.
        turn_number: The turn, counted from 1.
        text: What is said.
        tool_calls: The calls on the way to the answer; dicts are taken for
            `ToolCallData`.
        metadata: What else there is to know, such as ``tracing``.
    """

    __graphcodec_tag__: ClassVar[str] = "run:AgentResponse"

    text: str = field(metadata=ALLOW_EMPTY)
    tool_calls: tuple[ToolCallData, ...] = field(default=(), converter=_to_calls)
    metadata: Metadata = field(factory=Metadata, converter=to_metadata)

    def __attrs_post_init__(self) -> None:
        calls = cast("object", self.tool_calls)
        if isinstance(calls, tuple):
            given = cast("tuple[object, ...]", calls)
            made = tuple(_to_call(call, self.time) for call in given)
            object.__setattr__(self, "tool_calls", made)
        self.__graphcodec_check__()


@checked
@frozen(kw_only=True, eq=False, repr=False)
class TopicChanged(TurnEvent):
    """The conversation turns to another topic.

    Attributes:
        example_id: The example.
        turn_number: How many turns were complete.
        from_topic: What it was about.
        to_topic: What it is about now.
        trigger: ``initial``, ``classification``, ``trigger_match``, ``unknown``, or
            another word.
    """

    __graphcodec_tag__: ClassVar[str] = "run:TopicChanged"

    from_topic: str | None = None
    to_topic: str
    trigger: str = "unknown"


@checked
@frozen(kw_only=True, eq=False, repr=False)
class ToolCallCompleted(TurnEvent):
    """A tool has answered, while the agent is still at work.

    Attributes:
        example_id: The example.
        turn_number: The turn, counted from 1.
        tool_name: The tool.
        arguments: What it was asked.
        result: What it gave.
        error: What went wrong.
        call_id: A name of the call, which the agent's answer repeats.
        metadata: What else there is to know.
    """

    __graphcodec_tag__: ClassVar[str] = "run:ToolCallCompleted"

    tool_name: str
    arguments: Mapping[str, object] = field(
        factory=dict[str, object], converter=to_dict
    )
    result: object = None
    error: str | None = optional_text()
    call_id: str | None = None
    metadata: Metadata = field(factory=Metadata, converter=to_metadata)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class EvaluationRecorded(TurnEvent):
    """Something was judged.

    Attributes:
        example_id: The example.
        turn_number: How many turns were complete.
        name: A short name of what was judged; the description if there is none.
        mode: ``hard`` if the example fails with it, ``soft`` if not.
        type: ``quality``, ``grounding``, ``tool_call``, or another word.
        description: What was judged.
        passed: The verdict.
        reasoning: Why, in the words of the judge.
        failure_message: What to tell people.
        metadata: What else there is to know.
    """

    __graphcodec_tag__: ClassVar[str] = "run:EvaluationRecorded"

    name: str | None = None
    mode: Literal["soft", "hard"] | None = None
    type: str | None = None
    description: str = text()
    passed: bool
    reasoning: str | None = optional_text()
    failure_message: str | None = optional_text()
    metadata: Metadata = field(factory=Metadata, converter=to_metadata)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class UnknownEvent(Event):
    """An event of a kind that a newer version knows.

    Attributes:
        name: What it is called.
        payload: Its fields, as they came.
    """

    __graphcodec_tag__: ClassVar[str] = "run:UnknownEvent"

    name: str
    payload: Mapping[str, object] = field(factory=dict[str, object])

    def to_dict(self) -> dict[str, object]:
        """Return the fields as they came."""
        return dict(self.payload)


EVENTS: Final[Mapping[str, type[Event]]] = {
    cls.__name__: cls
    for cls in (
        SuiteStarted,
        SuiteStopped,
        SuiteSummary,
        GroupStarted,
        GroupFinished,
        ExampleStarted,
        ExamplePassed,
        ExampleFailed,
        ExamplePending,
        ExampleAborted,
        SimulationStarted,
        SimulationEnded,
        UserMessage,
        AgentResponse,
        TopicChanged,
        ToolCallCompleted,
        EvaluationRecorded,
    )
}
"""All kinds of events by the names they are written under."""


def event_from_dict(name: str, payload: Mapping[str, object]) -> Event:
    """Return the event that `Event.to_dict` described.

    Fields that are not known are kept; an event that is not known is kept whole.

    Args:
        name: The name of its class.
        payload: Its fields.

    Raises:
        UndecodableValueError: If a field is missing or is not what it should be.
    """
    if not isinstance(cast("object", payload), Mapping):
        msg = f"an event is written as a map, not a {type(payload).__name__}"
        raise UndecodableValueError(msg, path="$", type_name=str(name))
    cls = EVENTS.get(name)
    if cls is None:
        return UnknownEvent(name=name, payload=dict(payload))
    calls = payload.get("tool_calls")
    if isinstance(calls, list):
        dated = [_dated(call, payload) for call in cast("list[object]", calls)]
        payload = {**payload, "tool_calls": dated}
    return from_form(cls, payload)


def _dated(call: object, payload: Mapping[str, object]) -> object:
    """Give a call the time of the answer, if it has none of its own."""
    if not isinstance(call, Mapping):
        return call
    return {"timestamp": payload.get("time"), **cast("Mapping[str, object]", call)}
