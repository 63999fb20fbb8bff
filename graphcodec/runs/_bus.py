"""Who tells whom what happens."""

import re
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Final, TypeAlias

from attrs import define

from graphcodec._loggers import logger
from graphcodec.runs._events import EVENTS, Event
from graphcodec.runs._mailbox import Mailbox

__all__ = ["EventBus", "Subscription", "current_bus", "use_bus"]

Handler: TypeAlias = Callable[[Event], object]
OnError: TypeAlias = Callable[[Exception, Event, Handler], object]

_log: Final = logger("runs")
_current: Final[ContextVar["EventBus | None"]] = ContextVar(
    "graphcodec_current_bus", default=None
)


@define(eq=False)
class Subscription:
    """One handler on one bus, until it is cancelled.

    Attributes:
        types: What it is called for, subclasses included; everything, if empty.
        handler: What is called.
    """

    types: tuple[type[Event], ...]
    handler: Handler
    _bus: "EventBus"
    _mailbox: Mailbox[Event] | None = None

    def cancel(self) -> None:
        """Call the handler no more. Cancelling twice does no harm."""
        self._bus._drop(self)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        if self._mailbox is not None:
            self._mailbox.close()

    def drain(self, timeout: float | None = None) -> bool:
        """Wait until a handler with a queue has taken all that was published.

        Args:
            timeout: How many seconds to wait at most; None for as long as it takes.

        Returns:
            Whether it has. A handler without a queue always has.
        """
        return self._mailbox is None or self._mailbox.drain(timeout)


class EventBus:
    """Hands events to whoever asked for them.

    Handlers run in the thread of the one who publishes, unless they have a queue: first
    those for everything, then those for certain types, each in the order in which they
    subscribed. One that raises stops neither the others nor the publisher.

    Args:
        on_error: Called with the exception, the event and the handler that raised;
            without it, the logger ``graphcodec.runs`` is told.
    """

    def __init__(self, *, on_error: OnError | None = None) -> None:
        self._on_error = on_error or _report
        self._lock = threading.Lock()
        # Replaced, never changed: who publishes goes through what there was.
        self._subscriptions: tuple[Subscription, ...] = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(<{len(self._subscriptions)} subscriptions>)"

    def subscribe(
        self, *types: type[Event], handler: Handler, queue: int = 0
    ) -> Subscription:
        """Call *handler* for each event, and return a handle to end that.

        Args:
            *types: For which events, subclasses included; for all, if there are none.
            handler: Takes the event. Subscribed twice, it is called twice.
            queue: For a handler that takes its time: how many events may wait for it.
                It runs in a thread of its own then, in the order of publishing, and
                holds a publisher up only while that many wait. What waits when the
                program ends is lost, unless `Subscription.drain` waits for it.

        Raises:
            TypeError: If one of the types is none of events.
            ValueError: If *queue* is below 0.
        """
        for cls in types:
            if not (isinstance(cls, type) and issubclass(cls, Event)):  # pyright: ignore[reportUnnecessaryIsInstance]
                msg = f"only types of events can be subscribed to, not {cls!r:.60}"
                raise TypeError(msg)
        if queue < 0:
            msg = f"queue must be a number of events from 0, not {queue!r:.60}"
            raise ValueError(msg)
        mailbox = Mailbox(partial(self._call, handler), queue) if queue else None
        subscription = Subscription(types, handler, self, mailbox)
        with self._lock:
            everything = [
                s for s in (*self._subscriptions, subscription) if not s.types
            ]
            some = [s for s in (*self._subscriptions, subscription) if s.types]
            self._subscriptions = (*everything, *some)
        return subscription

    def add_observer(self, observer: object) -> tuple[Subscription, ...]:
        """Call ``observer.on_user_message(event)`` and the like, where it has them.

        Args:
            observer: An object with methods named after the events.
        """
        methods = {
            cls: getattr(observer, f"on_{_snake_case(name)}", None)
            for name, cls in EVENTS.items()
        }
        return tuple(
            self.subscribe(cls, handler=method)
            for cls, method in methods.items()
            if callable(method)
        )

    def publish(self, event: Event | None) -> None:
        """Hand *event* to everybody who asked for it.

        Args:
            event: The event; None is ignored.
        """
        if event is None:
            return
        for subscription in self._subscriptions:
            if subscription.types and not isinstance(event, subscription.types):
                continue
            mailbox = subscription._mailbox  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            if mailbox is None:
                self._call(subscription.handler, event)
            else:
                mailbox.put(event)

    def clear(self) -> None:
        """End all subscriptions."""
        for subscription in self._subscriptions:
            subscription.cancel()

    def _call(self, handler: Handler, event: Event) -> None:
        try:
            handler(event)
        except Exception as exc:  # noqa: BLE001 - a foreign handler's, reported
            self._on_error(exc, event, handler)

    def _drop(self, subscription: Subscription) -> None:
        with self._lock:
            self._subscriptions = tuple(
                other for other in self._subscriptions if other is not subscription
            )


def _report(exc: Exception, event: Event, handler: Handler) -> None:
    name = getattr(handler, "__qualname__", type(handler).__name__)
    _log.error("%s failed on %s", name, type(event).__name__, exc_info=exc)


def _snake_case(name: str) -> str:
    """Return ``user_message`` for ``UserMessage``, ``http_call`` for ``HTTPCall``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def current_bus() -> EventBus | None:
    """Return the bus of this context (thread or task), if one is in use."""
    return _current.get()


@contextmanager
def use_bus(bus: EventBus) -> Generator[EventBus]:
    """Make *bus* the current one within a ``with`` statement.

    Args:
        bus: The bus.
    """
    token = _current.set(bus)
    try:
        yield bus
    finally:
        _current.reset(token)
