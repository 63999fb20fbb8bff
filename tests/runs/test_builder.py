from __future__ import annotations

import random
import threading
from itertools import permutations

import pytest

from graphcodec.runs import (
    AgentResponse,
    EvaluationRecorded,
    Event,
    EventBus,
    ExampleAborted,
    ExampleData,
    ExampleFailed,
    ExamplePending,
    RunDataBuilder,
    SimulationEnded,
    SimulationStarted,
    SuiteStarted,
    SuiteStopped,
    ToolCallCompleted,
    TurnData,
)
from tests.runs.events import (
    START,
    answered,
    at,
    built,
    passed,
    said,
    started,
    topic,
    whole_run,
)


def example(*events: Event) -> ExampleData:
    """Return the example that events tell."""
    return built(SuiteStarted(time=START), started(), *events).examples["e1"]


def turns(*events: Event) -> tuple[TurnData, ...]:
    """Return the turns that events tell."""
    conversation = example(*events).conversation
    assert conversation is not None
    return conversation.turns


def tool(number: int = 1, name: str = "search") -> ToolCallCompleted:
    """Return a call that completed."""
    return ToolCallCompleted(
        example_id="e1",
        turn_number=number,
        tool_name=name,
        arguments={"q": 1},
        call_id="c1",
        time=at(2.5),
    )


# The suite


def test_first_event_of_a_suite_begins_the_run() -> None:
    """With its time, seed and commit; the last one ends it."""
    run = built(*whole_run())

    assert (run.run_id, run.seed, run.git_commit) == ("run-1", 42, "abc123")
    assert (run.started_at, run.finished_at) == (START, at(6))
    assert list(run.examples) == ["e1", "e2"]
    assert run.anomalies == ()


def test_run_is_named_by_its_first_event() -> None:
    """If nobody said otherwise."""
    builder = RunDataBuilder()
    builder.handle(SuiteStarted(run_id="mine"))

    assert builder.snapshot().run_id == "mine"


def test_name_of_a_run_may_come_late() -> None:
    """After the first examples, as from workers."""
    builder = RunDataBuilder()
    builder.handle(started())
    unnamed = builder.snapshot().run_id
    assert builder.snapshot().run_id == unnamed
    builder.handle(SuiteStarted(run_id="nightly"))

    assert builder.snapshot().run_id == "nightly"


def test_nothing_has_happened_yet() -> None:
    """There is no run before its first event."""
    assert RunDataBuilder().run_data is None


def test_repr() -> None:
    """The name of the run, if anybody gave it one, and how much there is of it."""
    assert repr(RunDataBuilder()) == "RunDataBuilder(<0 examples, 0 anomalies>)"
    assert repr(RunDataBuilder(run_id="mine")) == (
        "RunDataBuilder(run_id='mine', <0 examples, 0 anomalies>)"
    )
    builder = RunDataBuilder()
    for event in (SuiteStarted(run_id="nightly"), started(), passed()):
        builder.handle(event)
    builder.note("odd")
    expected = "RunDataBuilder(run_id='nightly', <1 examples, 1 anomalies>)"
    assert repr(builder) == expected


def test_second_suite_of_another_seed_is_odd() -> None:
    """The first one counts; one of the same seed is another worker's."""
    run = built(
        SuiteStarted(seed=1, time=START), SuiteStarted(seed=1), SuiteStarted(seed=2)
    )

    assert run.seed == 1
    assert run.anomalies == ("a second suite began, with seed 2 and not 1",)


def test_run_begins_with_the_first_suite() -> None:
    """Whichever order the news arrive in, and before the examples of others."""
    first = SuiteStarted(seed=1, run_id="first", time=at(1))
    for order in permutations([first, SuiteStarted(time=at(2)), started(time=at(0))]):
        builder = RunDataBuilder()
        for event in order:
            builder.handle(event)
        run = builder.snapshot()
        assert (run.started_at, run.seed, run.run_id) == (at(1), 1, "first")


def test_run_ends_with_the_last_suite() -> None:
    """Whichever order the news arrive in."""
    run = built(
        SuiteStarted(time=START), SuiteStopped(time=at(9)), SuiteStopped(time=at(5))
    )

    assert run.finished_at == at(9)


def test_builder_listens_to_a_bus() -> None:
    """Until it is detached."""
    bus = EventBus()
    builder = RunDataBuilder(bus)
    bus.publish(SuiteStarted(seed=7))
    builder.detach()
    bus.publish(started())

    run = builder.run_data
    assert run is not None
    assert (run.seed, run.examples) == (7, {})


# An example


def test_running_example_has_a_conversation() -> None:
    """From its first event."""
    found = example()

    assert found.status == "running"
    assert found.conversation is not None
    assert found.conversation.started_at == at(1)
    assert (found.file, found.location) == ("spec/x.py", "spec/x.py:12")


@pytest.mark.parametrize(
    ("location", "file"),
    [("C:\\x.py:3", "C:\\x.py"), ("odd:name.py", "odd:name.py"), ("", "")],
)
def test_file_is_what_stands_before_the_line(location: str, file: str) -> None:
    """A colon in a path is no end."""
    assert built(started(location=location)).examples["e1"].file == file


def test_passing_ends_an_example() -> None:
    """With a duration that is rounded, not cut."""
    found = example(passed().replace(duration=1.0006))

    assert (found.status, found.duration_ms) == ("passed", 1001)
    assert found.finished_at == at(4)
    assert found.conversation is not None
    assert found.conversation.ended_at == at(4)


def test_failing_keeps_the_exception() -> None:
    """Its class, its message, ten lines, and the rest as metadata."""
    found = built(*whole_run()).examples["e2"]

    assert found.status == "failed"
    assert found.exception is not None
    assert found.exception.class_name == "ValueError"
    assert found.exception.message == "expected tea"
    assert len(found.exception.backtrace) == 10
    assert len(found.metadata["backtrace"]) == 12  # type: ignore[arg-type]


def test_failing_without_words() -> None:
    """No exception is made up; an unnamed one is an assertion."""
    assert example(ExampleFailed(example_id="e1")).exception is None
    failure = example(ExampleFailed(example_id="e1", message="m")).exception
    assert failure is not None
    assert failure.class_name == "AssertionError"


@pytest.mark.parametrize(
    ("event", "status"),
    [
        (ExamplePending(example_id="e1", message="why", time=at(4)), "pending"),
        (ExampleAborted(example_id="e1", message="why", time=at(4)), "aborted"),
    ],
)
def test_other_ends_keep_open_turns(event: Event, status: str) -> None:
    """Skipped or cut off in the middle of a turn."""
    found = example(said(1), event)

    assert (found.status, found.finished_at) == (status, at(4))
    assert found.metadata["message"] == "why"
    assert found.conversation is not None
    assert len(found.conversation.turns) == 1


def test_scenarios_are_registered_once() -> None:
    """Two examples play through one of them."""
    scenario = {"name": "s", "goal": "g"}
    run = built(started(scenario=scenario), started("e2", scenario=dict(scenario)))

    assert len(run.scenarios) == 1
    assert run.examples["e1"].scenario_id == run.examples["e2"].scenario_id


def test_scenario_that_is_none_does_not_cost_the_example() -> None:
    """It is noted."""
    run = built(started(scenario=7), passed())

    assert run.examples["e1"].status == "passed"
    assert run.anomalies == ("e1: a scenario is a mapping or has to_dict, not a int",)


def test_examples_of_one_id_are_both_kept() -> None:
    """What comes later is about the later one; it is noted."""
    run = built(started(), said(1, "first"), passed(), started(), said(1, "second"))

    assert list(run.examples) == ["e1", "e1#2"]
    assert run.examples["e1"].status == "passed"
    conversation = run.examples["e1#2"].conversation
    assert conversation is not None
    assert conversation.turns[0].user_message is not None
    assert conversation.turns[0].user_message.content == "second"
    assert run.anomalies == ("e1: it began twice, now as e1#2",)


def test_retries_are_no_anomaly() -> None:
    """They say which attempt they are."""
    run = built(started(), passed(), started(attempt=2), passed())

    assert run.examples["e1#2"].metadata["attempt"] == 2
    assert run.anomalies == ()


def test_worker_is_noted() -> None:
    """As metadata."""
    assert built(started(worker="gw1")).examples["e1"].metadata == {"worker": "gw1"}


def test_simulations_are_noted() -> None:
    """Goal, bound, count and reason."""
    found = example(
        SimulationStarted(example_id="e1", goal="g", max_turns=3),
        SimulationEnded(example_id="e1", turn_count=2, termination_reason="error"),
    )

    assert found.metadata == {
        "simulation": {
            "goal": "g",
            "max_turns": 3,
            "turn_count": 2,
            "termination_reason": "error",
        }
    }


# Turns


def test_turn_has_both_sides_and_the_calls() -> None:
    """Of the answer."""
    (turn,) = built(*whole_run()).examples["e1"].conversation.turns  # type: ignore[union-attr]

    assert turn.user_message is not None
    assert turn.agent_response is not None
    assert (turn.user_message.content, turn.agent_response.content) == ("Hello", "Hi!")
    assert turn.user_message.source == "script"
    assert [call.name for call in turn.tool_calls] == ["greet"]


def test_open_turn_is_visible() -> None:
    """Before it is answered."""
    (turn,) = turns(said(1))

    assert turn.agent_response is None


def test_answer_replaces_the_calls_before_it() -> None:
    """It is the authority."""
    (turn,) = turns(said(1), tool(), answered(1))

    assert turn.tool_calls == ()


def test_calls_are_kept_while_there_is_no_answer() -> None:
    """Crashes and timeouts are what one wants to look into."""
    (turn,) = turns(said(1), tool(), ExampleFailed(example_id="e1", message="timeout"))

    (call,) = turn.tool_calls
    assert (call.name, call.arguments) == ("search", {"q": 1})
    assert call.timestamp == at(2.5)
    assert call.metadata == {"call_id": "c1"}


def test_agent_may_speak_first() -> None:
    """With and without calls; the user's turn comes after."""
    first, second = turns(tool(), answered(1, "Welcome"), said(2), answered(2))

    assert first.user_message is None
    assert first.agent_response is not None
    assert first.agent_response.content == "Welcome"
    assert (first.number, second.number) == (1, 2)
    assert second.agent_response is not None


def test_agent_may_speak_twice() -> None:
    """Nothing is overwritten."""
    first, second = turns(said(1), answered(1, "One"), answered(2, "Two"))

    assert first.agent_response is not None
    assert second.agent_response is not None
    assert first.agent_response.content == "One"
    assert (second.number, second.user_message) == (2, None)
    assert second.agent_response.content == "Two"


def test_late_answer_finds_its_turn() -> None:
    """By number, though another turn has begun."""
    first, second = turns(said(1), said(2), answered(1, "One"), answered(2, "Two"))

    assert first.agent_response is not None
    assert first.agent_response.content == "One"
    assert second.agent_response is not None
    assert second.agent_response.content == "Two"


def test_answer_of_another_number_is_odd() -> None:
    """It belongs to the turn that waits."""
    run = built(started(), said(1), answered(5))

    (turn,) = run.examples["e1"].conversation.turns  # type: ignore[union-attr]
    assert turn.agent_response is not None
    assert run.anomalies == ("e1: the answer to turn 5 came in turn 1",)


def test_second_message_of_one_number_is_odd() -> None:
    """Both are kept."""
    run = built(started(), said(1), said(1, "again"))

    assert [turn.number for turn in run.examples["e1"].conversation.turns] == [1, 2]  # type: ignore[union-attr]
    assert run.anomalies == ("e1: a second user message came for turn 1",)


def test_answer_to_two_messages_is_the_laters() -> None:
    """Of one number; the turns after it keep theirs in step."""
    first, second, third = turns(
        said(1), said(1, "and"), answered(1, "One"), said(2), answered(2, "Two")
    )

    assert first.agent_response is None
    assert second.agent_response is not None
    assert second.agent_response.content == "One"
    assert third.agent_response is not None
    assert third.agent_response.content == "Two"


def test_second_answer_to_a_turn_is_a_turn_of_its_own() -> None:
    """It does not take the place of the next one's."""
    run = built(
        started(),
        said(1),
        answered(1, "One"),
        said(2),
        answered(1, "Again"),
        answered(2, "Two"),
    )

    found = run.examples["e1"].conversation.turns  # type: ignore[union-attr]
    assert [turn.agent_response.content for turn in found] == ["One", "Two", "Again"]  # type: ignore[union-attr]
    assert run.anomalies == ("e1: a second answer came for turn 1",)


def test_late_message_joins_its_turn() -> None:
    """After a call, which is no wonder; after the answer, which is noted."""
    (turn,) = turns(tool(), said(1), answered(1))
    assert (turn.number, turn.user_message is None) == (1, False)

    run = built(started(), answered(1), said(1))
    (turn,) = run.examples["e1"].conversation.turns  # type: ignore[union-attr]
    assert turn.user_message is not None
    assert run.anomalies == ("e1: the user message of turn 1 came after the answer",)


def test_late_call_finds_its_turn() -> None:
    """By number; an answer that came before it had the last word."""
    first, second = turns(said(1), said(2), tool(1), answered(2))
    assert [len(first.tool_calls), len(second.tool_calls)] == [1, 0]

    run = built(started(), said(1), answered(1), tool(1))
    (turn,) = run.examples["e1"].conversation.turns  # type: ignore[union-attr]
    assert turn.tool_calls == ()
    assert run.anomalies == ("e1: search completed after the answer of turn 1",)


# Topics


def test_topic_before_the_first_message_is_kept() -> None:
    """It is the first turn's, and stays until it changes."""
    first, second = turns(
        topic(0, "greeting"), said(1), answered(1), said(2), answered(2)
    )

    assert (first.topic, second.topic) == ("greeting", "greeting")


def test_topic_after_an_answer_is_the_next_turns() -> None:
    """A turn that is over keeps its own."""
    found = example(
        topic(0, "greeting"),
        said(1),
        answered(1),
        topic(1, "tea"),
        said(2),
        answered(2),
    )

    assert found.conversation is not None
    assert [turn.topic for turn in found.conversation.turns] == ["greeting", "tea"]
    assert found.conversation.final_topic == "tea"


def test_first_topic_after_an_answer_is_that_turns() -> None:
    """Which has none yet."""
    (turn,) = turns(said(1), answered(1), topic(1, "greeting"))

    assert turn.topic == "greeting"


def test_topic_within_a_turn() -> None:
    """Changes it."""
    (turn,) = turns(topic(0, "a"), said(1), topic(0, "b"), answered(1))

    assert turn.topic == "b"


def test_topic_of_an_agent_that_speaks_first() -> None:
    """And of a conversation in which nothing was said."""
    first, second = turns(topic(0, "a"), answered(1), topic(1, "b"), said(2))

    assert (first.topic, second.topic) == ("a", "b")
    assert example(topic(0, "a")).conversation.final_topic == "a"  # type: ignore[union-attr]


# Evaluations


def test_evaluations_are_kept_with_their_turn() -> None:
    """Mode, type, reasoning, metadata."""
    (verdict,) = built(*whole_run()).examples["e1"].evaluations

    assert (verdict.name, verdict.description) == ("friendly", "friendly")
    assert (verdict.is_hard, verdict.type, verdict.passed) == (True, "quality", False)
    assert (verdict.reasoning, verdict.failure_message) == ("no smile", "it was not")
    assert verdict.metadata == {"turn_number": 1, "score": 0.25}


def test_every_evaluation_of_an_example_is_kept() -> None:
    """In order, each with its mode; a hard one that fails, with its message."""
    soft = EvaluationRecorded(
        example_id="e1",
        turn_number=1,
        mode="soft",
        description="friendly",
        passed=True,
    )
    hard = soft.replace(
        mode="hard",
        description="sells tea",
        passed=False,
        failure_message="no tea was sold",
    )

    verdicts = example(said(1), soft, hard, soft).evaluations

    assert [(v.name, v.is_hard) for v in verdicts] == [
        ("friendly", False),
        ("sells tea", True),
        ("friendly", False),
    ]
    assert [v.failure_message for v in verdicts] == [None, "no tea was sold", None]


def test_evaluation_after_the_end_is_kept() -> None:
    """A judge may be slow."""
    event = EvaluationRecorded(example_id="e1", turn_number=1, passed=True)

    assert len(example(passed(), event).evaluations) == 1


# Odd orders


@pytest.mark.parametrize(
    "event",
    [
        said(1),
        answered(1),
        passed(),
        EvaluationRecorded(example_id="e1", turn_number=0, passed=True),
    ],
    ids=lambda event: type(event).__name__,
)
def test_example_that_nobody_began_begins_with_its_first_event(event: Event) -> None:
    """Nothing is dropped; it is noted."""
    run = built(SuiteStarted(), event)

    assert list(run.examples) == ["e1"]
    assert run.anomalies == (f"e1: {type(event).__name__} came before it began",)


def test_ending_twice_is_odd() -> None:
    """The later end counts."""
    run = built(started(), passed(), ExampleFailed(example_id="e1", message="teardown"))

    assert run.examples["e1"].status == "failed"
    assert run.anomalies == ("e1: it ended as failed after it had ended as passed",)


def test_any_order_makes_the_same_example() -> None:
    """Whatever came first, it is noted and finds its place."""
    events = [started(scenario={"goal": "tea"}), said(1), answered(1), passed()]
    expected = built(*events)
    for order in permutations(events):
        run = built(*order)
        assert run.examples == expected.examples
        assert run.scenarios == expected.scenarios
        assert bool(run.anomalies) is (
            order[0] != events[0] or order.index(events[1]) > order.index(events[2])
        )


def test_interleaved_examples_are_told_apart() -> None:
    """In whatever way their events mix."""
    names = [f"e{number}" for number in range(5)]
    queues = [
        [started(name), said(1, name, name), answered(1, name, name), passed(name)]
        for name in names
    ]
    chance = random.Random(7)  # noqa: S311 - for a test
    mixed: list[Event] = []
    while any(queues):
        mixed.append(chance.choice([queue for queue in queues if queue]).pop(0))

    run = built(*mixed)

    apart = built(*(event for name in names for event in mixed if name in repr(event)))
    assert dict(sorted(run.examples.items())) == apart.examples
    assert run.anomalies == ()


def test_many_threads_tell_one_builder() -> None:
    """Nothing is lost while snapshots are taken."""
    builder = RunDataBuilder()

    def work(worker: int) -> None:
        for number in range(50):
            name = f"{worker}-{number}"
            for event in (started(name), said(1, "x", name), answered(1, "y", name)):
                builder.handle(event)
            builder.snapshot()
            builder.handle(passed(name))

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    run = builder.snapshot()
    assert run.summary().passed_count == 200
    assert all(len(e.conversation.turns) == 1 for e in run.examples.values())  # type: ignore[union-attr]
    assert run.anomalies == ()


# What is handed out


def test_snapshot_never_changes() -> None:
    """Whatever comes after it."""
    builder = RunDataBuilder(run_id="r")
    for event in whole_run()[:5]:
        builder.handle(event)
    snapshot = builder.snapshot()
    before = snapshot.to_dict()
    for event in whole_run()[5:]:
        builder.handle(event)

    assert snapshot.to_dict() == before
    assert builder.snapshot() != snapshot


def test_what_no_document_holds_does_not_cost_the_run() -> None:
    """A text says why it is not there; all else is."""
    event = AgentResponse(
        example_id="e1",
        turn_number=1,
        text="Hi!",
        tool_calls=[{"name": "t", "arguments": {"f": print, "n": 1}}],
        metadata={"lock": threading.Lock(), "model": "m", "deep": [1, {"x": print}]},
    )
    run = built(started(), said(1), event)

    form = run.to_dict()
    assert type(run).from_dict(form) == run
    (turn,) = run.examples["e1"].conversation.turns  # type: ignore[union-attr]
    assert turn.agent_response is not None
    metadata = turn.agent_response.metadata
    assert metadata["model"] == "m"
    assert "a _thread.lock guards" in str(metadata["lock"])
    assert str(metadata.dig("deep", 1, "x")).startswith("<not recorded: ")
    assert turn.tool_calls[0].arguments["n"] == 1
    assert str(turn.tool_calls[0].arguments["f"]).startswith("<not recorded: ")
