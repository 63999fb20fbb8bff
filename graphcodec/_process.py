"""Values that belong to one process: clients, connections, file systems."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class _Slot(Generic[T]):
    """The value of one process, and the lock under which it is made."""

    __slots__ = ("lock", "made")

    def __init__(self) -> None:
        # Re-entrant: a store's factory may open a handle of the same resolver.
        self.lock = threading.RLock()
        self.made: list[T] = []


class PerProcess(Generic[T]):
    """Makes a value on first use, once in every process that asks for it.

    A forked child inherits connections that its parent goes on using, and locks that
    a thread of the parent may have held at that moment. So each process gets a slot
    of its own, lock included. The parent's value stays in the table, out of use: to
    drop it for good would run its finalizers, which may write to the shared sockets.

    Args:
        make: Makes the value; called again if it raised.
    """

    __slots__ = ("_make", "_slots")

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._slots: dict[int, _Slot[T]] = {}

    def get(self) -> T:
        """Return this process's value, made now if this is the first call."""
        # setdefault is atomic, so the table needs no lock that a fork could copy
        # while it is held.
        slot = self._slots.setdefault(os.getpid(), _Slot())
        with slot.lock:
            if not slot.made:
                slot.made.append(self._make())
            return slot.made[0]

    def renew(self, old: T) -> T:
        """Make this process's value anew, unless another thread has replaced *old*.

        Args:
            old: The value that is no good any more.
        """
        slot = self._slots.setdefault(os.getpid(), _Slot())
        with slot.lock:
            if slot.made and slot.made[0] is old:
                slot.made[0] = self._make()
        return self.get()

    def take(self) -> T | None:
        """Return this process's value if there is one, and forget it."""
        slot = self._slots.pop(os.getpid(), None)
        return slot.made[0] if slot and slot.made else None
