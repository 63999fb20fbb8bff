"""Events of worker processes, brought together in one place.

A worker numbers its events and sends each as a document of its own, so that whoever
receives them sees at once if one is missing, and which worker stopped in the middle.
"""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from attrs import define, field, frozen

from graphcodec.errors import GraphCodecError, QueueClosedError
from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import checked, excerpt
from graphcodec.runs._bus import EventBus, Subscription
from graphcodec.runs._events import (
    Event,
    ExampleAborted,
    ExampleEvent,
    ExampleFailed,
    ExamplePassed,
    ExamplePending,
    ExampleStarted,
)
from graphcodec.runs._forms import plain_codec, tree_codec
from graphcodec.runs._portable import portable

if TYPE_CHECKING:
    from graphcodec.codec import Codec

__all__ = ["EventForwarder", "EventReceiver", "Forwarded"]


@checked
@frozen(kw_only=True, eq=False, repr=False)
class Forwarded(Primitive):
    """An event on its way from a worker.

    Attributes:
        worker: Who sends it.
        number: How many it has sent before.
        event: The event; None says that the worker is done.
    """

    __graphcodec_tag__: ClassVar[str] = "run:Forwarded"

    worker: str
    number: int
    event: object = None

    def _summary(self) -> str:
        return f"worker={excerpt(self.worker)}, number={self.number}"


@runtime_checkable
class BytesSender(Protocol):
    """Something like the end of a pipe."""

    def send_bytes(self, data: bytes, /) -> object:
        """Send one message."""
        ...


@runtime_checkable
class GraphSender(Protocol):
    """Something like a `GraphQueue`."""

    def put(self, item: object, /) -> object:
        """Send one graph."""
        ...


class EventForwarder:
    """Sends the events of a bus on to whoever brings them together.

    A receiver that is gone is not an error of the worker's: what it published before
    has arrived.

    Args:
        bus: The bus of this worker.
        to: The end of a pipe (``send_bytes``), a `GraphQueue` (``put``), or a function
            that takes bytes.
        worker: The name of this worker.
        codec: What encodes the events, for values of classes of your own.
    """

    def __init__(
        self,
        bus: EventBus,
        to: BytesSender | GraphSender | Callable[[bytes], object],
        *,
        worker: str,
        codec: "Codec | None" = None,
    ) -> None:
        self._to = to
        self._worker = worker
        self._codec = codec or plain_codec()
        self._values = tree_codec(codec)
        self._lock = threading.Lock()
        self._count = 0
        self._is_broken = False
        self._subscription: Subscription = bus.subscribe(handler=self.forward)

    def forward(self, event: Event) -> None:
        """Send one event.

        Args:
            event: Any. What can't be written in it is replaced by a text.
        """
        self._send(portable(event, self._values))

    def close(self) -> None:
        """Say that this worker is done, and listen to the bus no more."""
        self._subscription.cancel()
        self._send(None)

    def _send(self, event: Event | None) -> None:
        with self._lock:
            if self._is_broken:
                return
            item = Forwarded(worker=self._worker, number=self._count, event=event)
            self._count += 1
            try:
                self._deliver(item)
            except (OSError, QueueClosedError):
                # Nobody is there any more, and nobody will be.
                self._is_broken = True

    def _deliver(self, item: Forwarded) -> None:
        to = self._to
        if isinstance(to, BytesSender):
            to.send_bytes(self._codec.encode(item))
        elif isinstance(to, GraphSender):
            to.put(item)
        else:
            to(self._codec.encode(item))


@define
class _Worker:
    """What is known of one worker.

    Attributes:
        expected: The number of its next event.
        running: Its examples that have begun and not ended.
        renamed: What its examples are called here, where another worker was in the
            middle of one of the same name.
        is_done: Whether it said that it is done.
    """

    expected: int = 0
    running: dict[str, None] = field(factory=dict[str, None])
    renamed: dict[str, str] = field(factory=dict[str, str])
    is_done: bool = False


class EventReceiver:
    """Publishes the events of workers on the bus of the one who brings them together.

    The events of each worker keep their order. Numbers that are missing are noted in
    `gaps`; the examples of a worker that is lost are closed as aborted. If two workers
    run an example of one id at the same time, that of the second is ``id@worker``.

    Args:
        bus: Where to publish.
        codec: What decodes the events.
    """

    def __init__(self, bus: EventBus, *, codec: "Codec | None" = None) -> None:
        self._bus = bus
        self._codec = codec or plain_codec()
        self._lock = threading.RLock()
        self._workers: dict[str, _Worker] = {}
        self._gaps: list[str] = []

    @property
    def gaps(self) -> tuple[str, ...]:
        """What did not arrive, in words."""
        with self._lock:
            return tuple(self._gaps)

    def take(self, item: "bytes | Forwarded") -> None:
        """Take what a forwarder sent.

        Args:
            item: A message of a pipe, or what came out of a queue. One that can't be
                read is noted in `gaps`.
        """
        with self._lock:
            try:
                sent = self._codec.decode(item) if isinstance(item, bytes) else item
            except GraphCodecError as exc:
                self._gaps.append(f"a message could not be read: {exc}")
                return
            if isinstance(sent, Forwarded):
                self._publish(sent)
            else:
                self._gaps.append(f"a message held a {type(sent).__name__}")

    def _publish(self, sent: Forwarded) -> None:
        worker = self._workers.setdefault(sent.worker, _Worker())
        if sent.number < worker.expected:
            self._gaps.append(f"{sent.worker} sent event {sent.number} twice")
            return
        if sent.number > worker.expected:
            missing = sent.number - worker.expected
            self._gaps.append(
                f"{missing} events of {sent.worker} are missing before {sent.number}"
            )
        worker.expected = sent.number + 1
        if sent.event is None:
            self._done(sent.worker, worker)
        elif isinstance(sent.event, Event):
            event = self._renamed(sent.worker, worker, sent.event)
            self._bus.publish(_followed(worker, event, sent.worker))

    def _renamed(self, name: str, worker: _Worker, event: Event) -> Event:
        """Return *event* under a name that no other worker's running example has."""
        if not isinstance(event, ExampleEvent):
            return event
        own_id = event.example_id
        if isinstance(event, ExampleStarted):
            others = (one for one in self._workers.values() if one is not worker)
            if any(own_id in other.running for other in others):
                worker.renamed[own_id] = f"{own_id}@{name}"
            else:
                worker.renamed.pop(own_id, None)
        here = worker.renamed.get(own_id)
        return event if here is None else event.replace(example_id=here)

    def lost(self, name: str) -> None:
        """Close the examples of a worker whose connection ended, unless it was done.

        Args:
            name: The worker.
        """
        with self._lock:
            worker = self._workers.setdefault(name, _Worker())
            if not worker.is_done:
                self._done(name, worker)

    def close(self) -> None:
        """Close the examples of all workers that never said that they are done."""
        with self._lock:
            for name in list(self._workers):
                self.lost(name)

    def _done(self, name: str, worker: _Worker) -> None:
        worker.is_done = True
        for example_id in list(worker.running):
            message = f"worker {name} ended in the middle of it"
            self._bus.publish(ExampleAborted(example_id=example_id, message=message))
        worker.running.clear()


_ENDS = (ExamplePassed, ExampleFailed, ExamplePending, ExampleAborted)


def _followed(worker: _Worker, event: Event, name: str) -> Event:
    """Note what an event says of a worker's examples; it may learn who ran it."""
    if isinstance(event, ExampleStarted):
        worker.running[event.example_id] = None
        return event if event.worker else event.replace(worker=name)
    if isinstance(event, _ENDS):
        worker.running.pop(event.example_id, None)
    return event
