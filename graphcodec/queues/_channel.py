"""What carries the frames of a queue from process to process."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections import deque
from contextlib import suppress
from typing import Final, Protocol

from graphcodec.errors import QueueClosedError

SLICE: Final = 0.2
"""Seconds between two looks at what nothing wakes us for: a close, a dead parent."""


class Deadline:
    """When a call gives up.

    Args:
        block: Whether it waits at all.
        timeout: For how many seconds; None for ever.
    """

    __slots__ = ("_end",)

    def __init__(self, *, block: bool, timeout: float | None) -> None:
        self._end: float | None = None
        if not block or timeout is not None:
            wait = timeout if block and timeout is not None else 0
            self._end = time.monotonic() + max(wait, 0)

    def left(self) -> float:
        """Return how many seconds to wait before the next look; 0 if it is over."""
        if self._end is None:
            return SLICE
        return min(max(self._end - time.monotonic(), 0), SLICE)


class Channel(Protocol):
    """Whole frames, from any process that sends to any one that receives.

    Each process that holds a channel holds two ends of it. When every sending end is
    closed and every frame is taken, the channel is at its end.
    """

    def send(self, frame: bytes, deadline: Deadline) -> None:
        """Hand a frame over, now or as soon as there is room.

        Raises:
            queue.Full: If there was no place until the deadline.
            QueueClosedError: If nothing can be sent any more.
        """

    def receive(self, deadline: Deadline) -> bytes:
        """Take the next frame.

        Raises:
            queue.Empty: If there was none until the deadline.
            QueueClosedError: If none will come any more.
        """
        ...

    def stop_sending(self) -> None:
        """Close the sending end of this process, once all its frames are over."""

    def close(self) -> None:
        """Close both ends of this process."""

    def count(self) -> int:
        """Return how many frames were put and not taken."""
        ...

    def empty(self) -> bool:
        """Say whether there is no frame to take."""
        ...

    def full(self) -> bool:
        """Say whether there is no place for a frame."""
        ...


class Line(Protocol):
    """The sending end of a channel, without a memory."""

    stopped: bool

    def try_send(self, frame: bytes) -> bool:
        """Send a frame if that takes no waiting; say whether it was sent.

        Raises:
            OSError: If nobody is left to take it.
        """
        ...

    def wait(self, frame: bytes) -> bool:
        """Wait for room; say whether the frame had to be sent to learn of it."""
        ...

    def hang_up(self) -> None:
        """Close the end."""


class Sender:
    """Sends the frames of one process in order, and keeps none of its callers waiting.

    As with `multiprocessing.Queue`, what finds no room is sent by a thread, which the
    process waits for when it exits. Callers help it along: a thread that has to ask for
    the interpreter after each frame is slow while another one computes.

    Args:
        line: Where to.
    """

    def __init__(self, line: Line) -> None:
        self._line = line
        self._lock = threading.Lock()
        self._pending: deque[bytes] = deque()
        self._running = False

    def send(self, frame: bytes) -> None:
        """Send a frame after those before it.

        Args:
            frame: What to send.

        Raises:
            QueueClosedError: If sending was stopped, or nobody is left to take it.
        """
        with self._lock:
            if self._line.stopped:
                raise not_sending()
            self._pending.append(frame)
            self._flush()
            if self._pending and not self._running:
                self._running = True
                threading.Thread(target=self._run, name="graphcodec-queue").start()

    def stop(self) -> None:
        """Close the line once everything is sent."""
        with self._lock:
            if not self._line.stopped:
                self._line.stopped = True
                if not self._running:
                    self._line.hang_up()

    def _flush(self) -> None:
        try:
            while self._pending and self._line.try_send(self._pending[0]):
                self._pending.popleft()
        except OSError:
            self._pending.clear()
            raise nobody_takes() from None

    def _run(self) -> None:
        sent = False
        while (frame := self._next(sent=sent)) is not None:
            sent = self._line.wait(frame)

    def _next(self, *, sent: bool) -> bytes | None:
        """Send what can be sent, and return what can't; None if there is nothing."""
        with self._lock:
            if sent:
                self._pending.popleft()
            with suppress(QueueClosedError):
                self._flush()
            if self._pending:
                return self._pending[0]
            self._running = False
            if self._line.stopped:
                self._line.hang_up()
            return None


def not_sending() -> QueueClosedError:
    """Return the error for a put where the sending end is closed."""
    return QueueClosedError(
        "this process can't put into the queue any more",
        hint="it closed the queue, or iterates over it and so takes only",
    )


def nobody_takes() -> QueueClosedError:
    """Return the error for a put where every receiving end is closed."""
    return QueueClosedError("no process is left that could take from the queue")


def nobody_puts() -> QueueClosedError:
    """Return the error for a get where every sending end is closed."""
    return QueueClosedError(
        "the queue is empty, and no process is left that could put into it"
    )


def not_receiving() -> QueueClosedError:
    """Return the error for a get where the receiving end is closed."""
    return QueueClosedError("this process closed the queue")


def require_parent() -> None:
    """Raise if the process that started this one is dead.

    A worker holds both ends, so that without its parent it would wait for itself.

    Raises:
        QueueClosedError: If it is.
    """
    parent = multiprocessing.parent_process()
    if parent is not None and not parent.is_alive():
        raise QueueClosedError("the process that started this one is gone")
