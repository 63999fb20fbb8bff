"""A handler that takes its time, in a thread of its own."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

_PATIENCE = 0.05


class Mailbox(Generic[T]):
    """Hands what is put into it to a function, in order, from a thread of its own.

    Args:
        handle: What takes each. It must not raise.
        most: How many may wait; who puts one more waits until there is room.
    """

    def __init__(self, handle: Callable[[T], object], most: int) -> None:
        self._handle = handle
        self._waiting: queue.Queue[T] = queue.Queue(most)
        self._closed = threading.Event()
        # A daemon: what is not awaited by `drain` must not keep a program from ending.
        self._thread = threading.Thread(
            target=self._run, name="graphcodec-events", daemon=True
        )
        self._thread.start()

    def put(self, item: T) -> None:
        """Put something in; nothing, once it is closed.

        Args:
            item: What the function is to take.
        """
        while not self._closed.is_set():
            try:
                self._waiting.put(item, timeout=_PATIENCE)
            except queue.Full:
                continue
            return

    def drain(self, timeout: float | None = None) -> bool:
        """Wait until all that was put in has been taken, and say whether it was.

        Args:
            timeout: How many seconds to wait at most; None for as long as it takes.
        """
        end = None if timeout is None else time.monotonic() + timeout
        with self._waiting.all_tasks_done:
            while self._waiting.unfinished_tasks and not self._closed.is_set():
                left = _PATIENCE if end is None else end - time.monotonic()
                if left <= 0:
                    return False
                self._waiting.all_tasks_done.wait(min(left, _PATIENCE))
        return not self._waiting.unfinished_tasks

    def close(self) -> None:
        """Hand out no more; what still waits is dropped."""
        self._closed.set()

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                item = self._waiting.get(timeout=_PATIENCE)
            except queue.Empty:
                continue
            try:
                self._handle(item)
            finally:
                self._waiting.task_done()
