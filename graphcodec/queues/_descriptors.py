"""File descriptors that travel to a process while it is being started."""

from __future__ import annotations

import os
import select
import socket
from multiprocessing import reduction
from typing import Protocol, TypeAlias


class Duplicate(Protocol):
    """A descriptor on its way to a process that is being started."""

    def detach(self) -> int:
        """Return its number there."""
        ...


Handed: TypeAlias = Duplicate | None


class HasFileno(Protocol):
    """A socket or file; the number is negative once it is closed."""

    def fileno(self) -> int:
        """Return the number of the descriptor."""
        ...


def hand(end: HasFileno) -> Handed:
    """Return what becomes a copy of a descriptor in the process being started.

    Args:
        end: What to copy; nothing is handed if it is closed.
    """
    return reduction.DupFd(end.fileno()) if end.fileno() >= 0 else None


def adopt(handed: Handed) -> int:
    """Return the copied descriptor; the children of this process do not get it.

    Args:
        handed: What `hand` returned; -1 is returned if that was nothing.
    """
    if handed is None:
        return -1
    number = handed.detach()
    os.set_inheritable(number, False)  # noqa: FBT003 - takes no keyword
    return number


def adopt_socket(handed: Handed) -> socket.socket:
    """Return the copied socket, a closed one if nothing was handed.

    Args:
        handed: What `hand` returned.
    """
    if handed is None:
        closed = socket.socket(socket.AF_UNIX)
        closed.close()
        return closed
    return socket.socket(fileno=adopt(handed))


def ready(end: HasFileno, events: int, seconds: float) -> bool:
    """Wait until something happened to a descriptor; say whether it did.

    Args:
        end: The socket or file. A closed one counts as if something happened.
        events: ``select.POLLIN`` or ``select.POLLOUT``; that the other side hung up is
            noticed in any case.
        seconds: How long to wait at most.
    """
    number = end.fileno()
    if number < 0:
        return True
    watch = select.poll()
    watch.register(number, events)
    return bool(watch.poll(seconds * 1000))
