"""From events to a run, whoever sends them and in whichever order."""

import threading
from datetime import datetime
from typing import Final
from uuid import uuid4

from graphcodec.runs._bus import EventBus, Subscription
from graphcodec.runs._data import EvaluationData, ExceptionData, RunData, ScenarioData
from graphcodec.runs._drafts import ExampleDraft
from graphcodec.runs._events import (
    AgentResponse,
    EvaluationRecorded,
    Event,
    ExampleAborted,
    ExampleEvent,
    ExampleFailed,
    ExamplePassed,
    ExamplePending,
    ExampleStarted,
    GroupFinished,
    GroupStarted,
    SimulationEnded,
    SimulationStarted,
    SuiteStarted,
    SuiteStopped,
    SuiteSummary,
    ToolCallCompleted,
    TopicChanged,
    UserMessage,
)
from graphcodec.runs._portable import portable
from graphcodec.runs._suites import SuiteDraft

__all__ = ["RunDataBuilder"]

ASSERTION: Final = "AssertionError"


class RunDataBuilder:
    """Builds a run from events: in one process, of several workers, or from a file.

    It may be told of events by any thread. Nothing is dropped: what comes in an odd
    order finds its place by the numbers it carries, and what is odd is noted in
    `anomalies`.

    Args:
        bus: The bus to listen to; without one, call `handle`.
        run_id: A name for the run; what `SuiteStarted` says, or a new one.
    """

    def __init__(
        self, bus: EventBus | None = None, *, run_id: str | None = None
    ) -> None:
        self._lock = threading.Lock()
        self._run_id = run_id
        self._made_id = str(uuid4())
        self._anomalies: list[str] = []
        self._suite = SuiteDraft(self._anomalies)
        self._began: datetime | None = None
        self._latest_time: datetime | None = None
        self._is_resumed = False
        self._scenarios: dict[str, ScenarioData] = {}
        self._examples: dict[str, ExampleDraft] = {}
        # Which example is meant by an id that has been used before.
        self._latest: dict[str, ExampleDraft] = {}
        self._subscription: Subscription | None = None
        if bus is not None:
            self._subscription = bus.subscribe(handler=self.handle)

    def __repr__(self) -> str:
        # Without the lock, which a thread may hold that shows this.
        counts = f"{len(self._examples)} examples, {len(self._anomalies)} anomalies"
        name = self._known_id()
        run_id = "" if name is None else f"run_id={name[:80]!r}, "
        return f"{type(self).__name__}({run_id}<{counts}>)"

    @property
    def anomalies(self) -> tuple[str, ...]:
        """What was odd about the events so far."""
        with self._lock:
            return tuple(self._anomalies)

    @property
    def run_data(self) -> RunData | None:
        """What `snapshot` gives, or None if nothing has happened yet."""
        return None if self._began is None else self.snapshot()

    def detach(self) -> None:
        """Listen to the bus no more."""
        if self._subscription is not None:
            self._subscription.cancel()

    def handle(self, event: Event) -> None:
        """Take one event.

        Args:
            event: Any; what says nothing about a run's data is left alone.
        """
        event = portable(event)
        with self._lock:
            if self._began is None:
                self._began = event.time
            if isinstance(event, ExampleStarted):
                self._begin(event)
            elif isinstance(event, ExampleEvent):
                _tell(self._example(event), event)
            else:
                self._tell_suite(event)
            self._latest_time = max(filter(None, (self._latest_time, event.time)))

    def note(self, what: str) -> None:
        """Add to `anomalies` what was odd about where the events come from.

        Args:
            what: It, in words.
        """
        with self._lock:
            self._anomalies.append(what)

    def snapshot(self) -> RunData:
        """Return the run as it is now, open turns included; it never changes again."""
        with self._lock:
            suite, began = self._suite, self._suite.started
            found = len(self._examples)
            return RunData(
                run_id=self._known_id() or self._made_id,
                started_at=began.time if began else self._began,
                finished_at=suite.finished_at,
                seed=began.seed if began else None,
                git_commit=began.git_commit if began else None,
                scenarios=dict(self._scenarios),
                examples={
                    name: example.frozen() for name, example in self._examples.items()
                },
                parent_run_id=began.parent_run_id if began else None,
                tags=tuple(suite.tags),
                environment=began.environment.to_dict() if began else None,
                suite=suite.facts(found),
                groups=suite.frozen_groups(),
                anomalies=(*self._anomalies, *suite.missing(found)),
            )

    def _known_id(self) -> str | None:
        """Return the name that somebody gave the run."""
        began = self._suite.started
        return self._run_id or (began.run_id if began else None) or None

    # The suite

    def _tell_suite(self, event: Event) -> None:
        """Tell the suite what happened to it."""
        match event:
            case SuiteStarted():
                self._suite.began(event)
                if event.is_resumed:
                    self._resume(event)
            case SuiteStopped():
                self._suite.stopped(event)
            case SuiteSummary():
                self._suite.summed_up(event)
            case GroupStarted():
                self._suite.group_began(event)
            case GroupFinished():
                self._suite.group_ended(event)
            case _:
                pass

    def _resume(self, event: SuiteStarted) -> None:
        """Close what an earlier session left open, as it will not go on."""
        self._is_resumed = True
        message = "the session ended in the middle of it"
        time = self._latest_time or event.time
        for name, example in self._latest.items():
            if example.status == "running":
                left = ExampleAborted(example_id=name, message=message, time=time)
                _tell(example, left)

    # Examples

    def _begin(self, event: ExampleStarted) -> ExampleDraft:
        name = event.example_id
        again = self._latest.get(name)
        if again is not None and again.is_assumed:
            again.is_assumed = False
            return self._describe(again, event)
        number = 1
        while name in self._examples:
            number += 1
            name = f"{event.example_id}#{number}"
        if self._is_resumed:
            event = event.replace(attempt=max(event.attempt, number))
        elif again is not None and event.attempt == 1:
            self._anomalies.append(f"{event.example_id}: it began twice, now as {name}")
        example = ExampleDraft(name, event, None, self._anomalies)
        self._examples[name] = self._latest[event.example_id] = example
        return self._describe(example, event)

    def _describe(self, example: ExampleDraft, event: ExampleStarted) -> ExampleDraft:
        """Note what the first event of an example says of it."""
        example.started = event
        example.scenario_id = self._scenario(event)
        if event.worker is not None:
            example.metadata["worker"] = event.worker
        if event.attempt > 1:
            example.metadata["attempt"] = event.attempt
        if event.group_id is not None:
            example.metadata["group"] = event.group_id
        return example

    def _scenario(self, event: ExampleStarted) -> str | None:
        given = event.scenario
        try:
            scenario = ScenarioData.from_scenario(given)
        except TypeError as exc:
            # It must not cost the example.
            self._anomalies.append(f"{event.example_id}: {exc}")
            return None
        if scenario is None:
            return None
        return self._scenarios.setdefault(scenario.id, scenario).id

    def _example(self, event: ExampleEvent) -> ExampleDraft:
        """Return the example of an event; one that nobody began begins now."""
        known = self._latest.get(event.example_id)
        if known is not None:
            return known
        kind = type(event).__name__
        self._anomalies.append(f"{event.example_id}: {kind} came before it began")
        example = self._begin(
            ExampleStarted(
                example_id=event.example_id,
                stable_id=getattr(event, "stable_id", None),
                description=getattr(event, "description", ""),
                location=getattr(event, "location", ""),
                time=event.time,
            )
        )
        example.is_assumed = True
        return example


def _tell(example: ExampleDraft, event: ExampleEvent) -> None:
    """Tell an example what happened in it."""
    match event:
        case UserMessage():
            example.user_said(event)
        case AgentResponse():
            example.agent_said(event)
        case ToolCallCompleted():
            example.tool_answered(event)
        case TopicChanged():
            example.topic_changed(event)
        case EvaluationRecorded():
            _evaluated(example, event)
        case ExamplePassed():
            example.ended("passed", event.time, event.duration)
        case ExampleFailed():
            _failed(example, event)
        case ExamplePending():
            _set_aside(example, event, "pending")
        case ExampleAborted():
            _set_aside(example, event, "aborted")
        case SimulationStarted():
            _simulation_began(example, event)
        case SimulationEnded():
            _simulation_ended(example, event)
        case _:
            pass


def _evaluated(example: ExampleDraft, event: EvaluationRecorded) -> None:
    example.evaluations.append(
        EvaluationData(
            name=event.name or event.description,
            description=event.description,
            passed=event.passed,
            reasoning=event.reasoning,
            timestamp=event.time,
            mode=event.mode,
            type=event.type,
            failure_message=event.failure_message,
            metadata={"turn_number": event.turn_number, **event.metadata.to_dict()},
        )
    )


def _failed(example: ExampleDraft, event: ExampleFailed) -> None:
    example.ended("failed", event.time, event.duration)
    if event.message is None and not event.backtrace:
        return
    example.exception = ExceptionData(
        class_name=event.exception_class or ASSERTION,
        message=event.message,
        backtrace=event.backtrace,
    )
    if len(event.backtrace) > len(example.exception.backtrace):
        example.metadata["backtrace"] = list(event.backtrace)


def _set_aside(
    example: ExampleDraft, event: ExamplePending | ExampleAborted, status: str
) -> None:
    example.ended(status, event.time)
    if event.message is not None:
        example.metadata["message"] = event.message


def _simulation_began(example: ExampleDraft, event: SimulationStarted) -> None:
    simulation = example.metadata.scope("simulation")
    simulation.update(goal=event.goal, max_turns=event.max_turns)


def _simulation_ended(example: ExampleDraft, event: SimulationEnded) -> None:
    example.metadata.scope("simulation").update(
        turn_count=event.turn_count, termination_reason=event.termination_reason
    )
