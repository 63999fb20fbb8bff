from __future__ import annotations

import asyncio
import copy
import pickle
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from graphcodec.errors import (
    GateAbortedError,
    GateNotEncodableError,
    GateTimeoutError,
    InvalidValueError,
)
from graphcodec.primitives import GateRecord, Registry, TurnGate
from graphcodec.primitives._gates import Outcome, Settlement
from tests.primitives.builders import NOW, make

if TYPE_CHECKING:
    from collections.abc import Callable


def _gate() -> TurnGate:
    return TurnGate("turn-1", "approval")


async def _await(gate: TurnGate) -> object:
    return await gate


def test_defaults_of_a_gate() -> None:
    """The id and the time are made, and nothing limits the wait."""
    gate = _gate()

    assert (gate.turn_id, gate.reason, gate.payload) == ("turn-1", "approval", None)
    assert (gate.schema, gate.timeout, gate.is_settled) == (None, None, False)
    assert len(gate.id) == 32
    assert abs((datetime.now(UTC) - gate.created_at).total_seconds()) < 60


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("turn_id", "", "a non-empty str"),
        ("reason", None, "a non-empty str"),
        ("id", "", "a non-empty str"),
        ("schema", "int", "a callable or None"),
        ("timeout", 0, "a finite number above 0 or None, not 0"),
        ("timeout", -1.5, "a finite number above 0 or None"),
        ("timeout", True, "a finite number above 0 or None"),
        ("timeout", float("inf"), "a finite number above 0 or None"),
        ("timeout", float("nan"), "a finite number above 0 or None"),
        ("created_at", "now", "an aware datetime"),
    ],
)
def test_wrong_field_of_a_gate_is_named(field: str, value: object, reason: str) -> None:
    """The error says the field and what belongs there."""
    arguments = {"turn_id": "t", "reason": "r", field: value}

    with pytest.raises(InvalidValueError, match=rf"TurnGate\.{field} must be {reason}"):
        TurnGate(**arguments)  # type: ignore[arg-type]


def test_value_that_was_there_first_is_returned_at_once() -> None:
    """A gate may be settled before anybody waits, and awaited again."""
    gate = _gate()

    assert gate.resolve("yes")
    assert gate.is_settled
    assert asyncio.run(_await(gate)) == "yes"
    assert asyncio.run(_await(gate)) == "yes"


def test_all_waiting_tasks_get_the_value() -> None:
    """One resolve wakes everybody."""
    gate = _gate()

    async def run() -> list[object]:
        tasks = [asyncio.create_task(_await(gate)) for _ in range(3)]
        await asyncio.sleep(0)
        gate.resolve(42)
        return await asyncio.gather(*tasks)

    assert asyncio.run(run()) == [42, 42, 42]


def test_another_thread_can_resolve() -> None:
    """The waiting loop is woken, it does not poll."""
    gate = _gate()

    async def run() -> object:
        task = asyncio.create_task(_await(gate))
        await asyncio.sleep(0)
        threading.Thread(target=gate.resolve, args=("from outside",)).start()
        return await asyncio.wait_for(task, timeout=30)

    assert asyncio.run(run()) == "from outside"


def test_two_loops_can_wait() -> None:
    """A gate belongs to no loop."""
    gate = _gate()
    results: list[object] = []

    def wait() -> None:
        results.append(asyncio.run(_await(gate)))

    threads = [threading.Thread(target=wait) for _ in range(2)]
    for thread in threads:
        thread.start()
    gate.resolve("x")
    for thread in threads:
        thread.join()

    assert results == ["x", "x"]


def test_rejection_raises_the_very_exception() -> None:
    """Whoever waits gets what was given to reject."""
    gate, error = _gate(), KeyError("no")
    gate.reject(error)

    with pytest.raises(KeyError, match="no") as caught:
        asyncio.run(_await(gate))
    assert caught.value is error


@pytest.mark.parametrize("value", ["no", KeyError, None])
def test_only_exceptions_reject(value: object) -> None:
    """Neither a message nor a class; the gate stays open."""
    gate = _gate()

    with pytest.raises(InvalidValueError, match="rejected with an exception, not"):
        gate.reject(value)  # type: ignore[arg-type]
    assert not gate.is_settled


@pytest.mark.parametrize(
    ("reason", "message"), [("shut down", "aborted: shut down$"), ("", "aborted$")]
)
def test_abort_says_why(reason: str, message: str) -> None:
    """The reason is in the error, if there is one."""
    gate = TurnGate("t", "r", id="gate-1")
    gate.abort(reason)

    with pytest.raises(
        GateAbortedError, match=f"gate 'gate-1' was {message}"
    ) as caught:
        asyncio.run(_await(gate))
    assert caught.value.code == "E_GATE_ABORTED"


def test_timeout_raises_in_whoever_waits() -> None:
    """The error names the gate and the seconds."""
    gate = TurnGate("t", "r", id="gate-1", timeout=0.01)

    with pytest.raises(
        GateTimeoutError, match=r"nobody settled the gate 'gate-1' in 0\.01 seconds"
    ) as caught:
        asyncio.run(_await(gate))
    assert caught.value.value == 0.01
    assert isinstance(caught.value, TimeoutError)


def test_timeout_counts_without_anybody_waiting() -> None:
    """A gate that timed out can't be resolved any more."""
    gate = TurnGate("t", "r", timeout=1e-9)

    assert gate.is_settled
    assert not gate.resolve("too late")


def test_gate_settled_in_time_does_not_time_out() -> None:
    """The clock does not undo an outcome."""
    gate = TurnGate("t", "r", timeout=30)
    gate.resolve(1)

    assert asyncio.run(_await(gate)) == 1


@pytest.mark.parametrize(
    "settle",
    [TurnGate.resolve, TurnGate.reject, TurnGate.abort],
)
def test_only_the_first_outcome_counts(
    settle: Callable[[TurnGate, object], bool],
) -> None:
    """Later calls do nothing and say so."""
    gate = _gate()
    gate.resolve(1)

    assert settle(gate, KeyError("late")) is False
    assert asyncio.run(_await(gate)) == 1


def test_schema_has_the_last_word() -> None:
    """What it returns is the value."""
    gate = TurnGate("t", "r", schema=str)
    gate.resolve(5)

    assert asyncio.run(_await(gate)) == "5"


def test_value_that_the_schema_refuses_leaves_the_gate_open() -> None:
    """The next value may do."""

    def positive(value: object) -> object:
        if value != 1:
            msg = "not 1"
            raise ValueError(msg)
        return value

    gate = TurnGate("t", "r", schema=positive)

    with pytest.raises(InvalidValueError, match="schema of the gate refuses 2") as e:
        gate.resolve(2)
    assert str(e.value.__cause__) == "not 1"
    assert gate.resolve(1)


def test_schema_is_not_asked_once_settled() -> None:
    """A late value is nobody's business."""
    asked: list[object] = []
    gate = TurnGate("t", "r", schema=asked.append)
    gate.abort()

    assert not gate.resolve(1)
    assert asked == []


def test_schema_that_settles_the_gate_goes_first() -> None:
    """What happened while the value was looked at counts; the value does not."""
    gates: list[TurnGate] = []

    def abort(value: object) -> object:
        gates[0].abort("while asked")
        return value

    gates.append(TurnGate("t", "r", schema=abort))

    assert not gates[0].resolve(1)
    with pytest.raises(GateAbortedError, match="while asked"):
        asyncio.run(_await(gates[0]))


def test_outcome_between_the_look_and_the_wait_is_seen() -> None:
    """Another thread may settle the gate just before the queue is joined."""
    settlement = Settlement()
    settlement.settle(Outcome(value=1))

    asyncio.run(asyncio.wait_for(settlement.wait(None), timeout=30))
    assert not settlement.settle(Outcome(value=2))


def test_cancelled_task_does_not_disturb_the_others() -> None:
    """It leaves the queue; the gate stays open for the rest."""
    gate = _gate()

    async def run() -> object:
        first, second = (asyncio.create_task(_await(gate)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.sleep(0)
        gate.resolve("x")
        with pytest.raises(asyncio.CancelledError):
            await first
        return await second

    assert asyncio.run(run()) == "x"


def test_loop_that_closed_is_passed_over() -> None:
    """Somebody who waited in a loop that is gone does not stop the outcome."""
    gate = _gate()
    loop = asyncio.new_event_loop()
    waiting = _await(gate)
    loop.call_soon(waiting.send, None)
    loop.call_soon(loop.stop)
    loop.run_forever()
    loop.close()

    assert gate.resolve(1)
    waiting.close()


def _pickled(value: object) -> object:
    return pickle.dumps([value])


def _copied(value: object) -> object:
    return copy.copy(value)


def _deeply_copied(value: object) -> object:
    return copy.deepcopy({"gate": value})


@pytest.mark.parametrize("attempt", [_pickled, _copied, _deeply_copied])
def test_gate_does_not_leave_its_process(attempt: Callable[[object], object]) -> None:
    """Neither pickled nor copied; the hint names what can be."""
    with pytest.raises(GateNotEncodableError, match="TurnGate is live") as caught:
        attempt(_gate())
    assert "gate.record()" in caught.value.hint


def test_gates_are_equal_to_themselves_only() -> None:
    """Two waits are two."""
    gate = TurnGate("t", "r", id="x", created_at=NOW)

    assert gate == gate  # noqa: PLR0124 - that is the fact
    assert gate != TurnGate("t", "r", id="x", created_at=NOW)
    assert len({gate, _gate()}) == 2


def test_repr_says_whether_it_is_open() -> None:
    """The payload is not in it."""
    gate = TurnGate("turn-1", "r", "secret", id="g")

    assert repr(gate) == "TurnGate(id='g', turn_id='turn-1', <open>)"
    gate.abort()
    assert repr(gate) == "TurnGate(id='g', turn_id='turn-1', <settled>)"


def test_record_holds_what_can_be_written_down() -> None:
    """Everything but who waits, the schema and the timeout."""
    payload = {"ask": "ok?"}
    gate = TurnGate("turn-1", "approval", payload, id="gate-1", created_at=NOW)

    assert gate.record() == make(GateRecord, payload=payload)
    assert gate.record().payload is payload


def test_record_reopens_as_a_new_gate() -> None:
    """It has the same id, is open and takes a schema and a timeout."""
    record = make(GateRecord, payload=1)
    gate = record.reopen(schema=str, timeout=30)

    assert not gate.is_settled
    assert (gate.schema, gate.timeout) == (str, 30)
    assert gate.record() == record


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("id", "", "a non-empty str"),
        ("turn_id", 1, "a non-empty str"),
        ("reason", "", "a non-empty str"),
        ("created_at", None, "an aware datetime"),
    ],
)
def test_wrong_field_of_a_record_is_named(
    field: str, value: object, reason: str
) -> None:
    """The error says the field and what belongs there."""
    with pytest.raises(
        InvalidValueError, match=rf"^GateRecord\.{field} must be {reason}"
    ):
        make(GateRecord, **{field: value})


def test_payload_of_a_record_is_anything() -> None:
    """By default it is None."""
    registry = Registry()

    assert make(GateRecord).payload is None
    assert make(GateRecord, payload=registry).payload is registry


def test_repr_of_a_record_shows_the_ids() -> None:
    """Neither reason nor payload are in it."""
    assert repr(make(GateRecord)) == "GateRecord(id='gate-1', turn_id='turn-1')"
