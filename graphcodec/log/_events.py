"""What happens in a log, told to whoever listens."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Self

from attrs import field, frozen

from graphcodec.log._records import SessionRecord

__all__ = ["Appended", "Event", "Failed", "Flushed", "Subscription"]


@frozen(kw_only=True)
class Appended:
    """A record was appended.

    Attributes:
        id: Its id.
        variant: Its kind.
        record: The record; None if it can't be read.
        seq: Its place in the log if it came out of the store, else None: a record gets
            its place when it is flushed.
    """

    id: str
    variant: str
    record: SessionRecord | None = field(default=None, repr=False)
    seq: int | None = None


@frozen(kw_only=True)
class Flushed:
    """Records were written.

    Attributes:
        count: How many.
        seq: The place of the last one, where to go on from; 0 if it can't be told.
    """

    count: int
    seq: int = 0


@frozen(kw_only=True)
class Failed:
    """A record could not be written, or a flush failed.

    Attributes:
        id: The id of the record that was put into quarantine; None if the store failed
            as a whole, and the records wait.
        error: What went wrong.
        record: The record.
    """

    id: str | None
    error: BaseException
    record: SessionRecord | None = field(default=None, repr=False)


Event = Appended | Flushed | Failed


class Subscription:
    """An iterator over the events of a log; it ends when the log is closed.

    It holds a bounded number of events. When a listener is too slow the oldest ones are
    dropped and counted; the log never waits.

    Attributes:
        dropped: How many events were dropped.
    """

    dropped: int

    def __init__(
        self,
        maxsize: int,
        replay: Iterator[Appended],
        leave: Callable[[Subscription], None],
    ) -> None:
        self.dropped = 0
        self._events: deque[Event] = deque()
        self._maxsize = maxsize
        self._replay = replay
        self._leave = leave
        self._closed = False
        self._changed = threading.Condition()
        self._waiters: list[Callable[[], object]] = []

    def put(self, event: Event) -> None:
        """Add an event, in place of the oldest one if there is no room.

        Args:
            event: The event.
        """
        with self._changed:
            if len(self._events) >= self._maxsize:
                self._events.popleft()
                self.dropped += 1
            self._events.append(event)
            self._wake()

    def end(self) -> None:
        """Let the iteration end behind the events that are there."""
        with self._changed:
            self._closed = True
            self._wake()

    def close(self) -> None:
        """Stop listening."""
        self._leave(self)
        self._replay = iter(())
        with self._changed:
            self._events.clear()
        self.end()

    def poll(self, timeout: float = 0.0) -> Event | None:
        """Return the next event, None if there is none in time.

        Args:
            timeout: How many seconds to wait.
        """
        replayed = next(self._replay, None)
        if replayed is not None:
            return replayed
        deadline = time.monotonic() + timeout
        with self._changed:
            while not self._events and not self._closed:
                left = deadline - time.monotonic()
                if left <= 0 or not self._changed.wait(
                    min(left, threading.TIMEOUT_MAX)
                ):
                    break
            return self._events.popleft() if self._events else None

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        while True:
            event = self.poll(threading.TIMEOUT_MAX)
            if event is not None:
                return event
            if self._closed:
                raise StopIteration

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        loop = asyncio.get_running_loop()
        while True:
            ready = asyncio.Event()

            def wake(ready: asyncio.Event = ready) -> None:
                loop.call_soon_threadsafe(ready.set)

            with self._changed:
                self._waiters.append(wake)
            try:
                event = self.poll()
                if event is not None:
                    return event
                if self._closed:
                    raise StopAsyncIteration
                await ready.wait()
            finally:
                with self._changed:
                    if wake in self._waiters:
                        self._waiters.remove(wake)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _wake(self) -> None:
        self._changed.notify_all()
        waiters, self._waiters = self._waiters, []
        for wake in waiters:
            try:
                wake()
            except RuntimeError:
                # The event loop that waited is closed; nobody listens there any more.
                continue
