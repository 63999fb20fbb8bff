"""A run in which all goes wrong that ever did: two processes, of which one dies."""

from __future__ import annotations

import math
import multiprocessing
from pathlib import Path
from typing import Any

import pytest

from graphcodec.queues import GraphQueue
from graphcodec.runs import (
    Event,
    EventBus,
    EventReceiver,
    JsonFile,
    RunData,
    RunDataBuilder,
)
from tests.runs.events import (
    answered,
    built,
    passed,
    said,
    started,
    topic,
)
from tests.runs.test_files import OVERWRITER, started_python
from tests.runs.test_forwarding import put_all, put_and_die


def hard() -> list[Event]:
    """Return the events of the worker that lives."""
    return [
        started("buy", scenario={"name": "buy", "goal": "buy tea"}),
        topic(0, "greeting", "buy"),
        said(1, "A tea, please.", "buy").replace(metadata={"score": math.nan}),
        answered(1, "Here.", "buy"),
        passed("buy"),
        started("welcome"),
        answered(1, "Welcome!", "welcome"),
        said(2, "Hello", "welcome"),
        passed("welcome"),
        started("twice"),
        said(1, "the first", "twice"),
        passed("twice"),
        started("twice"),
        said(1, "the second", "twice"),
        passed("twice"),
    ]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunData:
    """Return the run as it was received, written and read again."""
    context: Any = multiprocessing.get_context("spawn")
    queue = GraphQueue(context=context)
    workers = [
        context.Process(target=put_all, args=(queue, hard(), "w1")),
        context.Process(target=put_and_die, args=(queue, "w2")),
    ]
    for worker in workers:
        worker.start()
    bus = EventBus()
    builder = RunDataBuilder(bus, run_id="run-1")
    receiver = EventReceiver(bus)
    for item in queue:
        receiver.take(item)
    for worker in workers:
        worker.join(30)
    receiver.close()
    path = tmp_path_factory.mktemp("hard") / "run.json"
    JsonFile.write(path, builder.snapshot())
    return JsonFile.read(path)


def texts(run: RunData, example: str) -> list[tuple[str | None, str | None]]:
    """Return what both sides said in an example, turn by turn."""
    talk = run.examples[example].conversation
    assert talk is not None
    return [
        (
            turn.user_message.content if turn.user_message else None,
            turn.agent_response.content if turn.agent_response else None,
        )
        for turn in talk.turns
    ]


def test_scenario_of_another_process_is_kept(run: RunData) -> None:
    """With the example that plays through it."""
    scenario = run.scenarios[str(run.examples["buy"].scenario_id)]

    assert (scenario.name, scenario.goal) == ("buy", "buy tea")


def test_topic_before_the_first_message_is_that_turns(run: RunData) -> None:
    """And the last one of the conversation."""
    talk = run.examples["buy"].conversation

    assert talk is not None
    assert (talk.turns[0].topic, talk.final_topic) == ("greeting", "greeting")


def test_agent_that_speaks_first_is_heard(run: RunData) -> None:
    """In a turn without a user."""
    assert texts(run, "welcome") == [(None, "Welcome!"), ("Hello", None)]


def test_worker_that_dies_in_a_turn_leaves_it(run: RunData) -> None:
    """The example is aborted."""
    assert run.examples["cut"].status == "aborted"
    assert texts(run, "cut") == [("Hello", None)]


def test_two_examples_of_one_id_are_two(run: RunData) -> None:
    """Their turns don't mix, and it is noted."""
    assert texts(run, "twice") == [("the first", None)]
    assert texts(run, "twice#2") == [("the second", None)]
    assert run.anomalies == ("twice: it began twice, now as twice#2",)


def test_number_that_is_none_is_kept(run: RunData) -> None:
    """In metadata, through the queue and the file."""
    talk = run.examples["buy"].conversation

    assert talk is not None
    assert talk.turns[0].user_message is not None
    score = talk.turns[0].user_message.metadata["score"]
    assert isinstance(score, float)
    assert math.isnan(score)


def test_it_is_the_run_of_one_process(run: RunData) -> None:
    """But for the workers and what died."""
    examples = {
        name: one.replace(metadata={})
        for name, one in run.examples.items()
        if name != "cut"
    }
    alone = built(*hard())

    assert examples.keys() == alone.examples.keys()
    for name, one in examples.items():
        assert one.to_dict() == alone.examples[name].to_dict()


def test_kill_while_the_file_is_written_leaves_a_whole_one(tmp_path: Path) -> None:
    """The old one or the new one, again and again."""
    path = tmp_path / "run.json"
    for last in range(3):
        with started_python(OVERWRITER, str(path)) as writer:
            assert writer.stdout is not None
            for line in writer.stdout:
                if int(line) == last:
                    break
            writer.kill()
        assert JsonFile.read(path).run_id.startswith("run-")
