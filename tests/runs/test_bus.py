from __future__ import annotations

import asyncio
import logging
import threading

import pytest

from graphcodec.runs import (
    Event,
    EventBus,
    ExampleStarted,
    UserMessage,
    current_bus,
    use_bus,
)
from graphcodec.runs._bus import _snake_case  # pyright: ignore[reportPrivateUsage]
from graphcodec.runs._events import ExampleEvent
from tests.runs.events import said, started, topic


def test_handlers_for_everything_come_first() -> None:
    """Then those for types; each in the order in which they subscribed."""
    bus, calls = EventBus(), list[str]()
    bus.subscribe(UserMessage, handler=lambda _: calls.append("typed"))
    bus.subscribe(handler=lambda _: calls.append("first"))
    bus.subscribe(handler=lambda _: calls.append("second"))

    bus.publish(said(1))

    assert calls == ["first", "second", "typed"]


def test_handler_with_a_queue_holds_nobody_up() -> None:
    """It gets everything in order, in a thread of its own, when it is ready."""
    bus, ready, got = EventBus(), threading.Event(), list[tuple[Event, int]]()

    def slow(event: Event) -> None:
        ready.wait()
        got.append((event, threading.get_ident()))

    subscription = bus.subscribe(handler=slow, queue=10)
    events: list[Event] = [said(1), topic(0, "a"), started()]
    for event in events:
        bus.publish(event)

    assert got == []
    assert not subscription.drain(timeout=0.01)
    ready.set()
    assert subscription.drain()
    assert [event for event, _ in got] == events
    assert threading.get_ident() not in {thread for _, thread in got}


def test_full_queue_loses_nothing() -> None:
    """A publisher waits until there is room."""
    bus, got = EventBus(), list[Event]()
    subscription = bus.subscribe(handler=got.append, queue=1)
    events = [said(n) for n in range(1, 200)]
    for event in events:
        bus.publish(event)

    assert subscription.drain()
    assert got == events


def test_handler_with_a_queue_may_raise() -> None:
    """That is told, and the next event is handed out."""
    told = list[Event]()

    def broken(_: Event) -> None:
        raise ValueError

    def tell(_exc: Exception, event: Event, _handler: object) -> None:
        told.append(event)

    bus = EventBus(on_error=tell)
    subscription = bus.subscribe(handler=broken, queue=5)
    bus.publish(said(1))
    bus.publish(said(2))

    assert subscription.drain()
    assert len(told) == 2


def test_cancelled_queue_lets_its_publisher_go() -> None:
    """Who waits for room waits no more, and what waited is dropped."""
    bus, ready, got = EventBus(), threading.Event(), list[Event]()

    def stuck(event: Event) -> None:
        got.append(event)
        ready.wait()

    subscription = bus.subscribe(handler=stuck, queue=1)
    events = [said(n) for n in range(1, 5)]

    def publish() -> None:
        for event in events:
            bus.publish(event)

    publisher = threading.Thread(target=publish)
    publisher.start()
    publisher.join(0.1)
    assert publisher.is_alive()

    bus.clear()
    publisher.join()
    ready.set()

    assert not subscription.drain()
    assert got == events[:1]


def test_queue_must_have_room() -> None:
    """Zero is no queue; less is a mistake."""
    with pytest.raises(ValueError, match="queue must be a number of events from 0"):
        EventBus().subscribe(handler=print, queue=-1)
    assert EventBus().subscribe(handler=print).drain()


def test_handler_gets_what_it_asked_for() -> None:
    """Subclasses included, other events not."""
    bus, typed, family = EventBus(), list[Event](), list[Event]()
    bus.subscribe(UserMessage, ExampleStarted, handler=typed.append)
    bus.subscribe(ExampleEvent, handler=family.append)
    events = [said(1), topic(0, "a"), started()]
    for event in events:
        bus.publish(event)

    assert typed == [events[0], events[2]]
    assert family == events


def test_none_is_ignored() -> None:
    """As if nothing had been published."""
    bus, seen = EventBus(), list[Event]()
    bus.subscribe(handler=seen.append)
    bus.publish(None)

    assert seen == []


def test_subscription_can_be_cancelled() -> None:
    """Only that one, and twice without harm."""
    bus, seen = EventBus(), list[Event]()
    first = bus.subscribe(handler=seen.append)
    bus.subscribe(handler=seen.append)
    first.cancel()
    first.cancel()
    bus.publish(said(1))

    assert seen == [said(1)]


def test_clearing_ends_all_subscriptions() -> None:
    """Typed ones, too."""
    bus, seen = EventBus(), list[Event]()
    bus.subscribe(handler=seen.append)
    bus.subscribe(UserMessage, handler=seen.append)
    bus.clear()
    bus.publish(said(1))

    assert seen == []


def test_handler_that_raises_stops_nobody(caplog: pytest.LogCaptureFixture) -> None:
    """It is logged, and the others are served."""
    bus, seen = EventBus(), list[Event]()

    def broken(event: Event) -> None:
        raise ValueError(event)

    bus.subscribe(handler=broken)
    bus.subscribe(handler=seen.append)
    with caplog.at_level(logging.ERROR, "graphcodec.runs"):
        bus.publish(said(1))

    assert seen == [said(1)]
    assert "broken failed on UserMessage" in caplog.text


def test_errors_can_be_taken() -> None:
    """With the event and the handler."""
    errors: list[tuple[object, ...]] = []

    def take(*what: object) -> None:
        errors.append(what)

    bus = EventBus(on_error=take)

    def broken(event: Event) -> None:
        raise ValueError(event)

    bus.subscribe(handler=broken)
    bus.publish(said(1))

    ((exc, event, handler),) = errors
    assert isinstance(exc, ValueError)
    assert (event, handler) == (said(1), broken)


def test_only_events_can_be_subscribed_to() -> None:
    """A wrong type would never be called."""
    with pytest.raises(TypeError, match="only types of events"):
        EventBus().subscribe(int, handler=print)  # type: ignore[arg-type]


def test_observers_have_methods_named_after_events() -> None:
    """Those that are missing are not missed."""
    bus, seen = EventBus(), list[Event]()

    class Observer:
        def on_user_message(self, event: Event) -> None:
            seen.append(event)

    subscriptions = bus.add_observer(Observer())
    bus.publish(said(1))
    bus.publish(started())

    assert seen == [said(1)]
    assert len(subscriptions) == 1


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("UserMessage", "user_message"),
        ("HTTPCall", "http_call"),
        ("LLMCallHTTP2Ended", "llm_call_http2_ended"),
    ],
)
def test_names_of_methods_keep_acronyms_together(name: str, method: str) -> None:
    """Words are parted, letters are not."""
    assert _snake_case(name) == method


def test_many_threads_publish_and_subscribe() -> None:
    """Nothing is lost, nothing is called twice."""
    bus, seen = EventBus(), list[Event]()
    bus.subscribe(handler=seen.append)

    def work() -> None:
        for number in range(1, 201):
            bus.subscribe(UserMessage, handler=lambda _: None).cancel()
            bus.publish(said(number))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(seen) == 800


def test_current_bus_belongs_to_the_context() -> None:
    """Inside a with statement, and not in another task that began before."""

    async def other(ready: asyncio.Event) -> EventBus | None:
        await ready.wait()
        return current_bus()

    async def main() -> EventBus | None:
        ready = asyncio.Event()
        task = asyncio.create_task(other(ready))
        with use_bus(EventBus()):
            ready.set()
            return await task

    bus = EventBus()
    with use_bus(bus):
        assert current_bus() is bus
    assert current_bus() is None
    assert asyncio.run(main()) is None
