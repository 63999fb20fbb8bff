from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from multiprocessing.connection import Connection
from typing import Any

import pytest

from graphcodec import Codec
from graphcodec.queues import GraphQueue
from graphcodec.runs import (
    Event,
    EventBus,
    EventForwarder,
    EventReceiver,
    ExampleAborted,
    ExampleStarted,
    Forwarded,
    RunDataBuilder,
    ToolCallCompleted,
    UserMessage,
)
from tests.runs.events import answered, built, passed, said, started, whole_run
from tests.runs.test_events import ALL


def receiving() -> tuple[EventReceiver, list[Event]]:
    """Return a receiver and what it publishes."""
    bus, seen = EventBus(), list[Event]()
    bus.subscribe(handler=seen.append)
    return EventReceiver(bus), seen


def sent(number: int, event: object, worker: str = "w1") -> Forwarded:
    """Return an event on its way."""
    return Forwarded(worker=worker, number=number, event=event)


class Box:
    """A queue that keeps graphs."""

    def __init__(self) -> None:
        self.items: list[object] = []

    def put(self, item: object, /) -> None:
        """Keep one."""
        self.items.append(item)


def work(connection: Connection, events: list[Event]) -> None:
    """Publish events in a worker process."""
    bus = EventBus()
    forwarder = EventForwarder(bus, connection, worker="w1")
    for event in events:
        bus.publish(event)
    forwarder.close()


def put_all(queue: GraphQueue, events: list[Event], worker: str) -> None:
    """Publish events in a worker process that has a queue."""
    bus = EventBus()
    forwarder = EventForwarder(bus, queue, worker=worker)
    for event in events:
        bus.publish(event)
    forwarder.close()


def put_and_die(queue: GraphQueue, worker: str) -> None:
    """Die in the middle of a turn, when what was put has been sent."""
    bus = EventBus()
    EventForwarder(bus, queue, worker=worker)
    bus.publish(started("cut"))
    bus.publish(said(1, "Hello", "cut"))
    bus.publish(ToolCallCompleted(example_id="cut", turn_number=1, tool_name="search"))
    os.kill(os.getpid(), signal.SIGKILL)


def _next(connection: Connection) -> bytes:
    """Return the next message; none at the end."""
    try:
        return connection.recv_bytes()
    except EOFError:
        return b""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_events_cross_a_pipe(method: str) -> None:
    """And make the same run, worker aside."""
    context: Any = multiprocessing.get_context(method)
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(there, whole_run()))
    process.start()
    there.close()
    bus = EventBus()
    builder = RunDataBuilder(bus, run_id="run-1")
    receiver = EventReceiver(bus)
    for message in iter(lambda: _next(here), b""):
        receiver.take(message)
    receiver.lost("w1")
    process.join(30)

    run = builder.snapshot()
    assert {e.metadata.pop("worker") for e in run.examples.values()} == {"w1"}
    assert run == built(*whole_run())
    assert receiver.gaps == ()


@pytest.mark.parametrize("event", ALL, ids=lambda event: type(event).__name__)
def test_every_kind_of_event_is_received(event: Event) -> None:
    """As the value that it was, whatever it holds; its beginning names the worker."""
    bus, data = EventBus(), list[bytes]()
    EventForwarder(bus, data.append, worker="w1")
    bus.publish(event)
    receiver, seen = receiving()
    receiver.take(data[0])

    is_start = isinstance(event, ExampleStarted)
    assert seen == [event.replace(worker="w1") if is_start else event]
    assert receiver.gaps == ()


def test_events_go_into_a_queue() -> None:
    """As graphs; the queue encodes them."""
    bus, box = EventBus(), Box()
    forwarder = EventForwarder(bus, box, worker="w1")
    bus.publish(said(1))
    forwarder.close()
    bus.publish(said(2))

    assert box.items == [sent(0, said(1)), sent(1, None)]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_events_cross_a_graph_queue(method: str) -> None:
    """Of two workers, of which one dies in the middle of a turn."""
    context: Any = multiprocessing.get_context(method)
    queue = GraphQueue(context=context)
    workers = [
        context.Process(target=put_all, args=(queue, whole_run(), "w1")),
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

    run = builder.snapshot()
    cut = run.examples.pop("cut")
    assert cut.status == "aborted"
    assert [call.name for call in cut.conversation.turns[0].tool_calls] == ["search"]  # type: ignore[union-attr]
    assert {e.metadata.pop("worker") for e in run.examples.values()} == {"w1"}
    assert run == built(*whole_run())
    assert receiver.gaps == ()


def test_queue_without_receivers_is_no_error_of_the_worker() -> None:
    """As a pipe whose other end is gone."""
    queue = GraphQueue()
    queue.close()
    errors: list[object] = []

    def take(*what: object) -> None:
        errors.append(what)

    bus = EventBus(on_error=take)
    forwarder = EventForwarder(bus, queue, worker="w1")
    bus.publish(said(1))
    forwarder.close()

    assert errors == []


def test_workers_may_run_the_same_example() -> None:
    """At the same time; what is said in one is not said in the other."""
    bus = EventBus()
    builder = RunDataBuilder(bus)
    receiver = EventReceiver(bus)
    for number, event in enumerate([started(), said(1), answered(1), passed()]):
        receiver.take(sent(number, event, "w1"))
        receiver.take(sent(number, event, "w2"))

    run = builder.snapshot()
    assert list(run.examples) == ["e1", "e1@w2"]
    assert [len(e.conversation.turns) for e in run.examples.values()] == [1, 1]  # type: ignore[union-attr]
    assert run.summary().passed_count == 2
    assert run.anomalies == ()


def test_events_go_to_a_function() -> None:
    """As bytes."""
    bus, data = EventBus(), list[bytes]()
    EventForwarder(bus, data.append, worker="w1")
    bus.publish(said(1))

    assert [Codec().decode(item) for item in data] == [sent(0, said(1))]


def test_receiver_that_is_gone_is_no_error_of_the_worker() -> None:
    """It goes on, and sends no more."""
    here, there = multiprocessing.Pipe(duplex=False)
    here.close()
    errors: list[object] = []

    def take(*what: object) -> None:
        errors.append(what)

    bus = EventBus(on_error=take)
    forwarder = EventForwarder(bus, there, worker="w1")
    bus.publish(said(1))
    bus.publish(said(2))
    forwarder.close()

    assert errors == []


def test_what_can_not_be_written_is_told() -> None:
    """The event is sent all the same."""
    bus, box = EventBus(), Box()
    EventForwarder(bus, box, worker="w1")
    bus.publish(said(1).replace(metadata={"lock": threading.Lock(), "n": 1}))

    (item,) = box.items
    assert isinstance(item, Forwarded)
    assert isinstance(item.event, UserMessage)
    assert item.event.metadata["n"] == 1
    assert "not recorded" in str(item.event.metadata["lock"])


def test_worker_is_named_by_the_receiver() -> None:
    """Unless the event says."""
    receiver, seen = receiving()
    receiver.take(sent(0, started()))
    receiver.take(sent(1, started("e2", worker="mine")))

    assert isinstance(seen[0], ExampleStarted)
    assert isinstance(seen[1], ExampleStarted)
    assert (seen[0].worker, seen[1].worker) == ("w1", "mine")


def test_missing_events_are_noticed() -> None:
    """How many, of whom, and before which."""
    receiver, seen = receiving()
    receiver.take(sent(0, said(1)))
    receiver.take(sent(3, said(2)))
    receiver.take(sent(0, said(1), "w2"))

    assert len(seen) == 3
    assert receiver.gaps == ("2 events of w1 are missing before 3",)


def test_event_that_comes_twice_counts_once() -> None:
    """And is noted."""
    receiver, seen = receiving()
    receiver.take(sent(0, said(1)))
    receiver.take(sent(0, said(1)))

    assert seen == [said(1)]
    assert receiver.gaps == ("w1 sent event 0 twice",)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (b"junk", "a message could not be read: "),
        (Codec().encode({"a": 1}), "a message held a dict"),
    ],
)
def test_junk_is_noted(message: bytes, reason: str) -> None:
    """Nothing else happens."""
    receiver, seen = receiving()
    receiver.take(message)

    assert seen == []
    assert receiver.gaps[0].startswith(reason)


def test_examples_of_a_lost_worker_are_aborted() -> None:
    """Those that had begun and not ended; of the others, none."""
    receiver, seen = receiving()
    events = [started(), passed(), started("e2"), said(1, "Hello", "e2")]
    for number, event in enumerate(events):
        receiver.take(sent(number, event))
    receiver.take(sent(0, started("e3"), "w2"))
    receiver.lost("w1")
    receiver.lost("w1")

    (aborted,) = seen[5:]
    assert isinstance(aborted, ExampleAborted)
    assert aborted.example_id == "e2"
    assert aborted.message == "worker w1 ended in the middle of it"


def test_worker_that_says_it_is_done_is_not_lost() -> None:
    """Closing aborts what the others left."""
    receiver, seen = receiving()
    receiver.take(sent(0, started()))
    receiver.take(sent(1, passed()))
    receiver.take(sent(2, None))
    receiver.take(sent(0, started("e2"), "w2"))
    receiver.take(sent(1, answered(1, "Hi!", "e2"), "w2"))
    before = len(seen)
    receiver.lost("w1")
    receiver.close()

    assert [event.example_id for event in seen[before:]] == ["e2"]  # type: ignore[attr-defined]


def test_unknown_sender_may_be_lost() -> None:
    """A connection may end before it said anything."""
    receiver, seen = receiving()
    receiver.lost("")

    assert seen == []
