"""A run as data: its examples, what was said in them, and how they were judged."""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Final, Literal, Self, cast

from attrs import field, frozen

from graphcodec.errors import UndecodableValueError, VersionError
from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import ALLOW_EMPTY, checked, excerpt
from graphcodec.runs._fields import (
    SPARED,
    optional_text,
    text,
    to_dict,
    to_metadata,
    to_milliseconds,
    to_optional_milliseconds,
    to_tuple,
)
from graphcodec.runs._forms import from_form, to_form
from graphcodec.runs._metadata import Metadata

__all__ = [
    "ConversationData",
    "EvaluationData",
    "ExampleData",
    "ExceptionData",
    "GroupData",
    "MessageData",
    "RunData",
    "ScenarioData",
    "SuiteData",
    "SummaryStats",
    "ToolCallData",
    "TurnData",
]

SCHEMA_VERSION: Final = 1
"""The version of the documented form, as run files say it under ``schema_version``.

A field more is no new version: older readers keep it. It goes up when an older reader
would take what is written for something else.
"""

BACKTRACE: Final = 10
"""How many lines of a backtrace are kept."""

Status = Literal["pending", "running", "passed", "failed", "aborted"]


@frozen(kw_only=True, eq=False, repr=False)
class Data(Primitive):
    """The base of all parts of a run."""

    def to_dict(self) -> dict[str, object]:
        """Return the documented form, as JSON has it.

        Raises:
            UnencodableValueError: If a value in it has no wire form.
        """
        return to_form(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Return what `to_dict` wrote. Fields that are not known are kept.

        Args:
            data: The documented form.

        Raises:
            UndecodableValueError: If a field is missing or is not what it should be.
        """
        return from_form(cls, data)


def _first_lines(value: object) -> Any:
    lines: object = to_tuple(value)
    is_tuple = isinstance(lines, tuple)
    return cast("tuple[str, ...]", lines)[:BACKTRACE] if is_tuple else lines


@checked
@frozen(kw_only=True, eq=False, repr=False)
class ExceptionData(Data):
    """Why an example failed.

    Attributes:
        class_name: The name of the exception's class.
        message: What it says.
        backtrace: The first ten lines of where it came from.
    """

    __graphcodec_tag__: ClassVar[str] = "run:ExceptionData"

    class_name: str = text()
    message: str | None = optional_text()
    backtrace: tuple[str, ...] = field(
        default=(), converter=_first_lines, metadata=ALLOW_EMPTY
    )

    def _summary(self) -> str:
        return excerpt(self.class_name)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class MessageData(Data):
    """Something that was said.

    Attributes:
        role: ``user`` or ``agent``.
        content: What was said.
        timestamp: When.
        source: Who wrote what the user says: ``simulator``, ``script``.
        metadata: What else there is to know, such as ``tracing``.
    """

    __graphcodec_tag__: ClassVar[str] = "run:MessageData"

    role: str
    content: str = field(metadata=ALLOW_EMPTY)
    timestamp: datetime = field(converter=to_milliseconds)
    source: str | None = None
    metadata: Metadata = field(factory=Metadata, converter=to_metadata)

    def _summary(self) -> str:
        return excerpt(self.role)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class ToolCallData(Data):
    """One use of a tool.

    Attributes:
        name: The tool.
        arguments: What it was asked.
        result: What it gave.
        error: What went wrong.
        timestamp: When it had answered.
        metadata: What else there is to know, such as ``call_id``.
    """

    __graphcodec_tag__: ClassVar[str] = "run:ToolCallData"

    name: str
    arguments: Mapping[str, object] = field(
        factory=dict[str, object], converter=to_dict
    )
    result: object = None
    error: str | None = optional_text()
    timestamp: datetime = field(converter=to_milliseconds)
    metadata: Metadata = field(factory=Metadata, converter=to_metadata)

    def _summary(self) -> str:
        return excerpt(self.name)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class EvaluationData(Data):
    """One verdict.

    Attributes:
        name: What was judged, in short.
        description: What was judged.
        passed: The verdict.
        reasoning: Why, in the words of the judge.
        timestamp: When.
        mode: ``hard`` if the example fails with it, ``soft`` if not.
        type: ``quality``, ``grounding``, ``tool_call``, or another word.
        failure_message: What to tell people.
        metadata: What else there is to know, such as ``turn_number``.
    """

    __graphcodec_tag__: ClassVar[str] = "run:EvaluationData"

    name: str = text()
    description: str = text()
    passed: bool
    reasoning: str | None = optional_text()
    timestamp: datetime = field(converter=to_milliseconds)
    mode: str | None = None
    type: str | None = None
    failure_message: str | None = optional_text()
    metadata: Metadata = field(factory=Metadata, converter=to_metadata)

    @property
    def is_soft(self) -> bool:
        """Whether the example goes on without it."""
        return self.mode == "soft"

    @property
    def is_hard(self) -> bool:
        """Whether the example fails with it."""
        return self.mode == "hard"

    def _summary(self) -> str:
        return f"{excerpt(self.name)}, <{'passed' if self.passed else 'failed'}>"


@checked
@frozen(kw_only=True, eq=False, repr=False)
class ScenarioData(Data):
    """What is to be played through in an example.

    Attributes:
        id: A name made from its content.
        name: What people call it.
        goal: What the user wants.
        personality: How the user talks.
        context: What the user knows.
        verification: How success is told.
        data: All of it, as it was given.
    """

    __graphcodec_tag__: ClassVar[str] = "run:ScenarioData"

    id: str
    name: str = text()
    goal: str | None = optional_text()
    personality: object = None
    context: object = None
    verification: object = None
    data: Mapping[str, object] = field(factory=dict[str, object], converter=to_dict)

    @classmethod
    def from_scenario(cls, scenario: object) -> Self | None:
        """Return the data of a scenario, None for None.

        Its id is made from its content: ``scenario_`` and the first eight digits of
        SHA-256 over its JSON with sorted keys.

        Args:
            scenario: A mapping, an object with ``to_dict``, or scenario data.

        Raises:
            TypeError: If it is something else.
        """
        if scenario is None or isinstance(scenario, cls):
            return scenario
        data = _data_of(scenario)
        canonical = json.dumps(_sorted(data), default=repr)
        digest = hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()
        own_id = f"scenario_{digest[:8]}"
        goal = data.get("goal")
        return cls(
            id=own_id,
            name=str(data.get("name") or own_id),
            goal=None if goal is None else str(goal),
            personality=data.get("personality"),
            context=data.get("context"),
            verification=data.get("verification"),
            data=data,
        )

    def _summary(self) -> str:
        return excerpt(self.id)


def _sorted(value: object) -> object:
    """Return *value* with the keys of its dicts in order, whatever they are."""
    if isinstance(value, Mapping):
        entries = cast("Mapping[object, object]", value)
        return {str(key): _sorted(entries[key]) for key in sorted(entries, key=str)}
    if isinstance(value, list | tuple):
        return [_sorted(item) for item in cast("list[object]", value)]
    if isinstance(value, set | frozenset):
        return sorted(map(repr, cast("set[object]", value)))
    return value


def _data_of(scenario: object) -> dict[str, object]:
    as_dict = getattr(scenario, "to_dict", None)
    given: object = as_dict() if callable(as_dict) else scenario
    if not isinstance(given, Mapping):
        msg = f"a scenario is a mapping or has to_dict, not a {type(given).__name__}"
        raise TypeError(msg)
    entries = cast("Mapping[object, object]", given)
    return {str(key): value for key, value in entries.items()}


@checked
@frozen(kw_only=True, eq=False, repr=False)
class TurnData(Data):
    """What the user says, what the agent does and what it answers.

    Attributes:
        number: Its number, counted from 1.
        user_message: What the user said; None if the agent spoke first.
        agent_response: What the agent answered; None if it did not.
        tool_calls: What the agent did on the way.
        topic: What the turn was about.
        metadata: What else there is to know.
    """

    __graphcodec_tag__: ClassVar[str] = "run:TurnData"

    number: int
    user_message: MessageData | None = None
    agent_response: MessageData | None = None
    tool_calls: tuple[ToolCallData, ...] = field(default=(), converter=to_tuple)
    topic: str | None = None
    metadata: Metadata = field(factory=Metadata, converter=to_metadata)

    def _summary(self) -> str:
        return f"number={self.number}"


@checked
@frozen(kw_only=True, eq=False, repr=False)
class ConversationData(Data):
    """All that was said in an example.

    Attributes:
        started_at: When it began.
        ended_at: When it ended.
        turns: Its turns, in order.
        final_topic: What it was about in the end.
        metadata: What else there is to know.
    """

    __graphcodec_tag__: ClassVar[str] = "run:ConversationData"

    started_at: datetime | None = field(
        default=None, converter=to_optional_milliseconds
    )
    ended_at: datetime | None = field(default=None, converter=to_optional_milliseconds)
    turns: tuple[TurnData, ...] = field(default=(), converter=to_tuple)
    final_topic: str | None = None
    metadata: Metadata = field(factory=Metadata, converter=to_metadata)

    @property
    def current_turn(self) -> TurnData | None:
        """The last turn, if there is one."""
        return self.turns[-1] if self.turns else None

    def _summary(self) -> str:
        return f"<{len(self.turns)} turns>"


@checked
@frozen(kw_only=True, eq=False, repr=False)
class ExampleData(Data):
    """One example and what became of it.

    Attributes:
        id: A name of its own.
        stable_id: A name that survives moving it to another line.
        canonical_path: The names of its groups and its own, joined.
        scenario_id: Which scenario it plays through.
        file: Where it is.
        description: What people call it.
        location: ``file:line``.
        status: ``pending`` (skipped, or not begun), ``running``, ``passed``,
            ``failed``, or ``aborted`` (the process that ran it died).
        started_at: When it began.
        finished_at: When it ended.
        duration_ms: How long it took, in milliseconds.
        exception: Why it failed.
        conversation: What was said.
        evaluations: How it was judged.
        metadata: What else there is to know, such as ``worker``, ``attempt`` and
            ``group``, the id of the innermost group it stands in.
    """

    __graphcodec_tag__: ClassVar[str] = "run:ExampleData"

    id: str
    stable_id: str | None = None
    canonical_path: str | None = None
    scenario_id: str | None = None
    file: str | None = optional_text()
    description: str = text()
    location: str | None = optional_text()
    status: str = "pending"
    started_at: datetime | None = field(
        default=None, converter=to_optional_milliseconds
    )
    finished_at: datetime | None = field(
        default=None, converter=to_optional_milliseconds
    )
    duration_ms: int | None = None
    exception: ExceptionData | None = None
    conversation: ConversationData | None = None
    evaluations: tuple[EvaluationData, ...] = field(default=(), converter=to_tuple)
    metadata: Metadata = field(factory=Metadata, converter=to_metadata)

    def _summary(self) -> str:
        return f"id={excerpt(self.id)}, <{self.status}>"


@checked
@frozen(kw_only=True, eq=False, repr=False)
class GroupData(Data):
    """A group of examples: a file, a class.

    Attributes:
        id: A name of its own.
        description: What people call it.
        file: Where it is.
        location: ``file:line``; the file alone if nobody knows the line.
        parent_id: The group in which it stands.
        started_at: When its first example began.
        finished_at: When its last example had ended; None if that is not known.
    """

    __graphcodec_tag__: ClassVar[str] = "run:GroupData"

    id: str
    description: str = text()
    file: str | None = optional_text()
    location: str | None = optional_text()
    parent_id: str | None = None
    started_at: datetime | None = field(
        default=None, converter=to_optional_milliseconds
    )
    finished_at: datetime | None = field(
        default=None, converter=to_optional_milliseconds
    )

    def _summary(self) -> str:
        return f"id={excerpt(self.id)}"


@checked
@frozen(kw_only=True, eq=False, repr=False)
class SuiteData(Data):
    """What a suite said of itself; what can be counted is in `RunData.summary`.

    Attributes:
        started_at: When it began to look for examples, which is before the run.
        example_count: How many there were to run; more than the run has if it was
            killed.
        duration_ms: How long it took, in milliseconds; None if it never came to an
            end.
    """

    __graphcodec_tag__: ClassVar[str] = "run:SuiteData"

    started_at: datetime | None = field(
        default=None, converter=to_optional_milliseconds
    )
    example_count: int | None = None
    duration_ms: int | None = None

    def _summary(self) -> str:
        return f"example_count={self.example_count}"


def _check_version(version: object) -> None:
    if type(version) is not int or version < 1:
        msg = f"a schema version is a number from 1, not {version!r:.60}"
        raise UndecodableValueError(msg, path="$.schema_version")
    if version > SCHEMA_VERSION:
        msg = f"the run is of schema version {version}; {SCHEMA_VERSION} can be read"
        where, hint = "$.schema_version", "update graphcodec"
        raise VersionError(msg, path=where, value=version, hint=hint)


@frozen(kw_only=True)
class SummaryStats:
    """A run in numbers.

    Attributes:
        example_count: How many examples there are.
        passed_count: How many passed.
        failed_count: How many failed.
        pending_count: How many were skipped.
        total_duration_ms: How long they took together, in milliseconds.
        aborted_count: How many were cut off.
    """

    example_count: int
    passed_count: int
    failed_count: int
    pending_count: int
    total_duration_ms: int
    aborted_count: int = 0


@checked
@frozen(kw_only=True, eq=False, repr=False)
class RunData(Data):
    """One run of a suite.

    Attributes:
        run_id: A name of its own.
        started_at: When it began.
        finished_at: When it ended; None while it runs, or if it was killed.
        seed: The seed of the order of its examples.
        git_commit: What was checked out.
        scenarios: What was played through, by id.
        examples: Its examples by id, in the order in which they began.
        parent_run_id: The run of which this is a part or a repetition.
        tags: Words by which to find it.
        environment: Where it ran: ``python``, ``platform``, ``packages``.
        suite: What the suite said of itself; None if its examples say it all.
        groups: The files and classes of its examples, by id.
        anomalies: What was odd about the events of which it was built.

    The last six are not in the documented form; each is written only if there is
    something in it.
    """

    __graphcodec_tag__: ClassVar[str] = "run:RunData"

    run_id: str
    started_at: datetime | None = field(
        default=None, converter=to_optional_milliseconds
    )
    finished_at: datetime | None = field(
        default=None, converter=to_optional_milliseconds
    )
    seed: int | None = None
    git_commit: str | None = None
    scenarios: dict[str, ScenarioData] = field(factory=dict[str, ScenarioData])
    examples: dict[str, ExampleData] = field(factory=dict[str, ExampleData])
    parent_run_id: str | None = field(default=None, metadata=SPARED)
    tags: tuple[str, ...] = field(
        default=(), converter=to_tuple, metadata={**SPARED, **ALLOW_EMPTY}
    )
    environment: Metadata = field(
        factory=Metadata, converter=to_metadata, metadata=SPARED
    )
    suite: SuiteData | None = field(default=None, metadata=SPARED)
    groups: dict[str, GroupData] = field(factory=dict[str, GroupData], metadata=SPARED)
    anomalies: tuple[str, ...] = field(
        default=(), converter=to_tuple, metadata={**SPARED, **ALLOW_EMPTY}
    )

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Self:
        """Return what `to_dict` wrote, or `JsonFile.write`. Unknown fields are kept.

        Args:
            data: The documented form; if it does not say its ``schema_version``, that
                is 1.

        Raises:
            UndecodableValueError: If a field is missing or is not what it should be.
            VersionError: If it is of a later version.
        """
        if isinstance(cast("object", data), Mapping) and "schema_version" in data:
            _check_version(data["schema_version"])
            data = {key: data[key] for key in data if key != "schema_version"}
        return super().from_dict(data)

    def example(self, example_id: str) -> ExampleData | None:
        """Return an example, None if there is none of that id.

        Args:
            example_id: Its id.
        """
        return self.examples.get(example_id)

    def scenario(self, scenario_id: str) -> ScenarioData | None:
        """Return a scenario, None if there is none of that id.

        Args:
            scenario_id: Its id.
        """
        return self.scenarios.get(scenario_id)

    def summary(self) -> SummaryStats:
        """Return the run in numbers, counted now."""
        examples = self.examples.values()
        statuses = [example.status for example in examples]
        return SummaryStats(
            example_count=len(statuses),
            passed_count=statuses.count("passed"),
            failed_count=statuses.count("failed"),
            pending_count=statuses.count("pending"),
            aborted_count=statuses.count("aborted"),
            total_duration_ms=sum(example.duration_ms or 0 for example in examples),
        )

    def _summary(self) -> str:
        return f"run_id={excerpt(self.run_id)}, <{len(self.examples)} examples>"
