"""What a suite says of itself: groups, figures, environment, tags, resumption."""

from __future__ import annotations

from datetime import timedelta

import pytest

from graphcodec.runs import (
    ExampleStarted,
    GroupData,
    GroupFinished,
    GroupStarted,
    RunData,
    SuiteData,
    SuiteStarted,
    SuiteStopped,
    SuiteSummary,
)
from tests.runs.events import START, at, built, passed, said, started


def group(name: str = "TestTea", seconds: float = 0, **more: object) -> GroupStarted:
    """Return the beginning of a group."""
    event = GroupStarted(
        description=name,
        file_path="test_shop.py",
        line_number=7,
        group_id=f"test_shop.py::{name}",
        time=at(seconds),
    )
    return event.replace(**more)


def group_end(name: str = "TestTea", seconds: float = 9) -> GroupFinished:
    """Return the end of a group."""
    return GroupFinished(
        description=name, group_id=f"test_shop.py::{name}", time=at(seconds)
    )


# Groups


def test_groups_are_kept() -> None:
    """With their place, the group around them, their beginning and end."""
    run = built(
        group(parent_id="test_shop.py"),
        started(group_id="test_shop.py::TestTea"),
        passed(),
        group_end(),
    )

    assert run.groups == {
        "test_shop.py::TestTea": GroupData(
            id="test_shop.py::TestTea",
            description="TestTea",
            file="test_shop.py",
            location="test_shop.py:7",
            parent_id="test_shop.py",
            started_at=START,
            finished_at=at(9),
        )
    }
    assert run.examples["e1"].metadata["group"] == "test_shop.py::TestTea"
    assert RunData.from_dict(run.to_dict()) == run


def test_group_of_several_workers_is_one() -> None:
    """From the first beginning to the last end, in whichever order they arrive."""
    run = built(group(seconds=3), group_end(seconds=8), group(), group_end(seconds=5))

    (kept,) = run.groups.values()
    assert (kept.started_at, kept.finished_at) == (START, at(8))
    assert run.anomalies == ()


def test_groups_without_ids_are_told_apart_by_file_and_name() -> None:
    """As the documented events have them; an end is that of the latest of its name."""
    run = built(
        GroupStarted(description="Tea", file_path="a.py", time=START),
        GroupStarted(description="Tea", file_path="b.py", time=at(1)),
        GroupFinished(description="Tea", time=at(2)),
    )

    ends = {name: kept.finished_at for name, kept in run.groups.items()}
    assert ends == {"a.py::Tea": None, "b.py::Tea": at(2)}
    assert run.groups["a.py::Tea"].location == "a.py"


def test_group_without_anything_is_kept() -> None:
    """Under a name that is none."""
    (kept,) = built(GroupStarted(time=START)).groups.values()

    assert (kept.id, kept.file, kept.location) == ("?", None, None)


@pytest.mark.parametrize("end", [group_end(), GroupFinished(description="TestTea")])
def test_group_that_never_began_is_odd(end: GroupFinished) -> None:
    """It is noted, and is no group."""
    run = built(end)

    assert run.groups == {}
    (anomaly,) = run.anomalies
    assert anomaly.startswith("the group 'test_shop.py::TestTea' ended") or (
        anomaly == "the group 'TestTea' ended before it began"
    )


# Figures


def test_figures_of_the_suite_are_kept() -> None:
    """When it began to look for examples, how many, how long it took."""
    run = built(
        SuiteStarted(example_count=1, load_time=2.5, time=START),
        started(),
        passed(),
        SuiteSummary(duration=4.25, example_count=1, time=at(5)),
        SuiteStopped(time=at(5)),
    )

    began = START - timedelta(seconds=2.5)
    assert run.suite == SuiteData(started_at=began, example_count=1, duration_ms=4250)
    assert run.anomalies == ()


def test_killed_suite_says_how_many_were_planned() -> None:
    """So that it is seen how much is missing."""
    run = built(SuiteStarted(example_count=300, time=START), started())

    assert run.suite is not None
    assert (run.suite.example_count, run.suite.duration_ms) == (300, None)


@pytest.mark.parametrize("seconds", [1e308, 10**30])
def test_times_that_nothing_takes_do_not_cost_the_run(seconds: float) -> None:
    """Of finding the examples, of one of them, of the whole suite."""
    run = built(
        SuiteStarted(load_time=seconds, time=START),
        started(),
        passed().replace(duration=seconds),
        SuiteSummary(duration=seconds, example_count=1),
    )

    assert run.suite is not None
    assert run.suite.started_at is None
    assert run.suite.duration_ms == int(seconds) * 1000
    assert run.examples["e1"].duration_ms == int(seconds) * 1000
    assert RunData.from_dict(run.to_dict()) == run


def test_suite_whose_examples_say_it_all_says_nothing() -> None:
    """The documented form stays as it is."""
    run = built(SuiteStarted(example_count=1, time=START), started(), passed())

    assert run.suite is None
    assert "suite" not in run.to_dict()


def test_examples_that_nobody_told_of_are_missed() -> None:
    """If those who ran them counted more."""
    events = [SuiteStarted(time=START), started(), passed()]
    counted = [SuiteSummary(example_count=2, time=at(5)) for _ in range(2)]

    run = built(*events, *counted)

    assert run.anomalies == ("the suite counted 4 examples, and 1 are here",)


# Where it comes from


def test_environment_tags_and_parent_are_kept() -> None:
    """In the file, too; tags of all processes, each once."""
    begin = SuiteStarted(
        environment={"python": "3.12.1", "packages": {"openai": "1.0"}},
        tags=["nightly", "gpu"],
        parent_run_id="run-0",
        time=START,
    )
    run = built(begin, begin.replace(tags=("gpu", "shard"), time=at(1)))

    assert run.environment.dig("packages", "openai") == "1.0"
    assert run.tags == ("nightly", "gpu", "shard")
    assert run.parent_run_id == "run-0"
    assert RunData.from_dict(run.to_dict()) == run


def test_environment_that_no_document_holds_does_not_cost_the_run() -> None:
    """A text says why it is not there."""
    run = built(SuiteStarted(environment={"python": "3", "lock": print}, time=START))

    assert run.environment["python"] == "3"
    assert "not recorded" in str(run.environment["lock"])


def test_run_without_them_has_the_documented_form() -> None:
    """No key that it does not need."""
    begin = SuiteStarted(time=START)
    form = built(begin, started()).to_dict()

    assert " ".join(form) == (
        "run_id started_at finished_at seed git_commit scenarios examples"
    )
    assert "tags" not in begin.to_dict()
    assert "group_id" not in ExampleStarted(example_id="e").to_dict()


# Resumption


def test_resumed_run_is_one_run() -> None:
    """With the first beginning and the last end, whatever the seed of the second."""
    run = built(
        SuiteStarted(seed=1, tags=["a"], time=START),
        started(),
        passed(),
        SuiteStopped(time=at(5)),
        SuiteStarted(seed=2, tags=["b"], is_resumed=True, time=at(10)),
        started("e2", time=at(11)),
        passed("e2"),
        SuiteStopped(time=at(12)),
    )

    assert (run.started_at, run.finished_at, run.seed) == (START, at(12), 1)
    assert run.tags == ("a", "b")
    assert list(run.examples) == ["e1", "e2"]
    assert run.anomalies == ()


def test_resumed_run_is_not_finished_by_its_first_session() -> None:
    """It goes on."""
    run = built(
        SuiteStarted(time=START),
        SuiteStopped(time=at(5)),
        SuiteStarted(is_resumed=True, time=at(10)),
    )

    assert run.finished_at is None


def test_resuming_closes_what_was_open() -> None:
    """An example that a kill cut off will not go on; what was said of it is kept."""
    run = built(
        SuiteStarted(time=START),
        started(),
        said(1),
        SuiteStarted(is_resumed=True, time=at(10)),
    )

    example = run.examples["e1"]
    assert (example.status, example.finished_at) == ("aborted", at(2))
    assert example.metadata["message"] == "the session ended in the middle of it"
    assert example.conversation is not None
    assert len(example.conversation.turns) == 1


def test_example_of_a_resumed_run_is_another_attempt() -> None:
    """Which is no oddity there; the earlier one is kept."""
    run = built(
        SuiteStarted(time=START),
        started(),
        SuiteStarted(is_resumed=True, time=at(10)),
        started(time=at(11)),
        passed(),
    )

    assert [(one.id, one.status) for one in run.examples.values()] == [
        ("e1", "aborted"),
        ("e1#2", "passed"),
    ]
    assert run.examples["e1#2"].metadata["attempt"] == 2
    assert run.anomalies == ()


def test_another_environment_of_a_resumed_run_is_noted() -> None:
    """That of the first session counts."""
    begin = SuiteStarted(environment={"python": "3.11", "os": "a"}, time=START)
    again = SuiteStarted(
        environment={"python": "3.12", "os": "a"}, is_resumed=True, time=at(9)
    )

    run = built(begin, again)

    assert run.environment["python"] == "3.11"
    assert run.anomalies == ("it was resumed in another environment: python 3.12",)


def test_resuming_nothing_is_beginning() -> None:
    """If there was no beginning before it."""
    run = built(SuiteStarted(seed=3, is_resumed=True, time=START), started(), passed())

    assert (run.seed, run.anomalies) == (3, ())
