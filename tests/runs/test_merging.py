from __future__ import annotations

import pytest

from graphcodec.errors import InvalidValueError
from graphcodec.runs import (
    AgentResponse,
    Event,
    GroupFinished,
    GroupStarted,
    RunData,
    SuiteData,
    SuiteStarted,
    SuiteStopped,
    SuiteSummary,
    diff_runs,
    merge_runs,
)
from tests.runs.events import START, at, built, passed, said, started, whole_run


def talk(name: str, article: str = "tea", text: str = "Here.") -> list[Event]:
    """Return the events of an example with a tool call."""
    response = AgentResponse(
        example_id=name,
        turn_number=2,
        text=text,
        tool_calls=[{"name": "sell", "arguments": {"article": article, "n": 1}}],
        time=at(3),
    )
    first = AgentResponse(example_id=name, turn_number=1, text="Hi!", time=at(2))
    return [
        started(name),
        said(1, "Hello", name),
        first,
        said(2, "A tea.", name),
        response,
        passed(name),
    ]


def test_runs_that_differ_in_times_are_equal() -> None:
    """And in workers, durations, names."""
    one = built(*talk("e1"))
    two = built(
        started("e1", worker="gw3", time=at(100)),
        *[event.replace(time=at(101)) for event in talk("e1")[1:-1]],
        passed("e1").replace(duration=9.0, time=at(102)),
    ).replace(run_id="another")

    assert diff_runs(one, two) == ()


def test_changes_are_named_exactly() -> None:
    """The example, the turn, the argument; the answer; and nothing else."""
    names = [f"e{number}" for number in range(20)]
    old = built(*(event for name in names for event in talk(name)))
    new = built(
        *(
            event
            for name in names
            for event in talk(
                name,
                article="coffee" if name == "e7" else "tea",
                text="There." if name == "e9" else "Here.",
            )
        )
    )

    found = diff_runs(old, new)

    assert [(change.change, change.path) for change in found] == [
        (
            "changed",
            "$.examples.e7.conversation.turns[1].tool_calls[0].arguments.article",
        ),
        ("changed", "$.examples.e9.conversation.turns[1].agent_response.content"),
    ]
    assert (found[0].before, found[0].after) == ("tea", "coffee")


def test_what_users_recorded_is_compared_whatever_it_is_called() -> None:
    """A seed or a time among the arguments is no seed or time of the run."""

    def run(value: int) -> RunData:
        asked = {"seed": value, "timestamp": value, "worker": value}
        response = AgentResponse(
            example_id="e1",
            turn_number=1,
            text="Hi!",
            tool_calls=[{"name": "t", "arguments": asked, "metadata": asked}],
            metadata={"tracing": {"latency_ms": value, "model": "m"}},
            time=at(value),
        )
        line = started(location=f"spec/x.py:{value}")
        return built(line, said(1), response, passed())

    call = "$.examples.e1.conversation.turns[0].tool_calls[0]"
    assert {change.path for change in diff_runs(run(1), run(2))} == {
        f"{call}.{part}.{key}"
        for part in ("arguments", "metadata")
        for key in ("seed", "timestamp", "worker")
    }


def test_added_and_removed_examples_are_named() -> None:
    """By id."""
    old, new = built(*talk("e1"), *talk("e2")), built(*talk("e2"), *talk("e3"))

    assert {(change.change, change.path) for change in diff_runs(old, new)} == {
        ("added", "$.examples.e3"),
        ("removed", "$.examples.e1"),
    }


def test_shards_are_brought_together() -> None:
    """From the first beginning to the last end."""
    one = built(SuiteStarted(seed=7, time=at(5)), *talk("e1"), SuiteStopped(time=at(9)))
    two = built(SuiteStarted(seed=7, time=START), *talk("e2"), SuiteStopped(time=at(8)))

    merged = merge_runs([one, two])

    assert list(merged.examples) == ["e1", "e2"]
    assert (merged.run_id, merged.seed) == (one.run_id, 7)
    assert (merged.started_at, merged.finished_at) == (START, at(9))
    assert merged.anomalies == ()


def test_examples_of_one_id_are_both_kept() -> None:
    """The later one under another id, and noted."""
    merged = merge_runs([built(*talk("e1")), built(*talk("e1", article="coffee"))])

    assert [example.id for example in merged.examples.values()] == ["e1", "e1#2"]
    assert merged.anomalies == ("e1: it is in several runs, now also as e1#2",)


def test_what_differs_is_nobodys() -> None:
    """Seeds, commits; and a run that never ended makes one that never ended."""
    one = built(SuiteStarted(seed=1, git_commit="a"), *talk("e1"), SuiteStopped())
    two = built(SuiteStarted(seed=2, git_commit="b"), *talk("e2"))

    merged = merge_runs([one, two])

    assert (merged.seed, merged.git_commit, merged.finished_at) == (None, None, None)


def test_one_run_merges_to_itself() -> None:
    """Scenarios included; none is an error."""
    run = built(*whole_run())

    assert merge_runs([run]) == run
    with pytest.raises(InvalidValueError, match="there are no runs to merge"):
        merge_runs([])


def test_empty_runs_differ_in_nothing() -> None:
    """Nor do they fail."""
    assert diff_runs(RunData(run_id="a"), RunData(run_id="b")) == ()
    assert merge_runs([RunData(run_id="a"), RunData(run_id="b")]).examples == {}


def test_shards_of_one_suite_have_their_groups_and_tags_together() -> None:
    """Of a group that is in several, all its time; figures are summed up."""

    def shard(name: str, seconds: float, tag: str) -> RunData:
        begin = SuiteStarted(
            example_count=2,
            load_time=1,
            tags=["nightly", tag],
            parent_run_id="r0",
            time=at(seconds),
        )
        group = GroupStarted(description="G", group_id="g", time=at(seconds))
        end = GroupFinished(group_id="g", time=at(seconds + 5))
        count = SuiteSummary(duration=2, example_count=1, time=at(9))
        return built(begin, group, *talk(name), end, count, SuiteStopped(time=at(9)))

    merged = merge_runs([shard("e1", 3, "a"), shard("e2", 0, "b")])

    (group,) = merged.groups.values()
    assert (group.started_at, group.finished_at) == (START, at(8))
    assert (merged.tags, merged.parent_run_id) == (("nightly", "a", "b"), "r0")
    assert merged.suite == SuiteData(
        started_at=at(-1), example_count=4, duration_ms=4000
    )


def test_figures_that_one_shard_lacks_are_nobodys() -> None:
    """A sum without it would be wrong."""
    suite = SuiteData(example_count=2, duration_ms=1)
    one = RunData(run_id="a", suite=suite)

    assert merge_runs([one, RunData(run_id="b")]).suite is None
    merged = merge_runs([one, RunData(run_id="b", suite=SuiteData(example_count=1))])
    assert merged.suite == SuiteData(example_count=3)


def test_where_a_run_took_place_is_no_difference() -> None:
    """Nor what it is called, how it is tagged, and how long finding examples took."""
    begin = SuiteStarted(
        environment={"python": "3"}, tags=["a"], parent_run_id="p", load_time=1
    )
    group = GroupStarted(description="G", group_id="g", line_number=3)

    assert diff_runs(built(begin, group, *talk("e1")), built(*talk("e1"))) == ()
