"""What counts, and what a turn came to."""

from __future__ import annotations

from graphcodec import log
from tests.log.records import (
    assistant,
    called,
    failed,
    result,
    summary,
    user,
    working,
)


def retracted(*targets: str) -> log.Retracted:
    """Return a retraction."""
    return log.Retracted(reason="no usable answer", targets=targets)


def test_retraction_takes_back_the_turn() -> None:
    """What the model said since the user spoke does not count, all else does."""
    before: list[log.SessionRecord] = [user(), assistant("kept"), user("again")]
    facts, retry = working("x"), assistant("better")
    turn: list[log.SessionRecord] = [
        assistant("bad"),
        called(),
        result(),
        facts,
        retracted(),
    ]
    records: list[log.SessionRecord] = [*before, *turn, retry]

    assert log.effective(records) == [*before, turn[2], facts, retry]
    assert len(records) == 9


def test_turn_ends_with_its_summary() -> None:
    """A retraction does not reach behind the end of the last turn."""
    records: list[log.SessionRecord] = [
        user(),
        assistant(),
        summary(),
        assistant("bad"),
        retracted(),
    ]

    assert log.effective(records) == records[:3]


def test_steering_begins_no_turn() -> None:
    """What the system says within a turn leaves it the same turn."""
    steering = user("hurry", role="system")
    records: list[log.SessionRecord] = [
        user(),
        assistant("bad"),
        steering,
        retracted(),
        assistant("good"),
    ]

    assert log.effective(records) == [records[0], steering, records[4]]


def test_targets_are_taken_back_exactly() -> None:
    """A retraction that names messages takes back those and no other."""
    first, second = assistant("a"), assistant("b")
    records: list[log.SessionRecord] = [user(), first, second, retracted(first.id)]

    assert log.effective(records) == [records[0], second]


def test_targets_of_an_earlier_turn() -> None:
    """What is taken back of an earlier turn does not move where this one began."""
    first, second, bad = assistant("a"), assistant("b"), assistant("bad")
    asked, again = user(), user("again")
    named = retracted(first.id, second.id)

    records: list[log.SessionRecord] = [asked, first, second, again, bad]
    assert log.effective([*records, named, retracted()]) == [asked, again]


def test_orphans_are_told() -> None:
    """A tool result whose call was taken back is found."""
    kept, lost = result("t1"), result("t2")
    records: list[log.SessionRecord] = [
        user(),
        called("t2"),
        lost,
        retracted(),
        called("t1"),
        kept,
    ]
    counting = log.effective(records)

    assert lost in counting
    assert log.orphans(counting) == [lost.message]


def test_turn_collects() -> None:
    """A turn knows its text, calls, results and usage."""
    records: list[log.SessionRecord] = [
        user(),
        assistant("a"),
        called(),
        result(),
        assistant("b"),
        summary(),
    ]
    turn = log.Turn.collect(iter(records))

    assert turn.completed
    assert turn.text == "ab"
    assert [call.id for call in turn.tool_calls] == ["t1"]
    assert [found.tool_call_id for found in turn.tool_results] == ["t1"]
    assert turn.usage == summary().usage


def test_turn_applies_retraction() -> None:
    """What was retracted is not in the turn, nor is the retraction."""
    turn = log.Turn.collect([assistant("bad"), retracted(), assistant("good")])

    assert turn.text == "good"
    assert len(turn.records) == 1


def test_turn_stops_at_a_failure() -> None:
    """What came before a failure is kept, what follows is not read."""
    records: list[log.SessionRecord] = [user(), assistant("half"), failed(), user()]
    stream = iter(records)
    turn = log.Turn.collect(stream)

    assert not turn.completed
    assert turn.failure == failed()
    assert turn.text == "half"
    assert turn.usage is None
    assert next(stream) is not None


def test_answer() -> None:
    """An answer is the text, and whether that is all."""
    good = log.Answer.collect([assistant("bad"), retracted(), assistant("good")])
    bad = log.Answer.collect([assistant("half"), failed()])

    assert (good.text, good.complete) == ("good", True)
    assert (bad.text, bad.complete) == ("half", False)
    assert (bad.error, bad.trace) == (failed().error, failed().trace)
