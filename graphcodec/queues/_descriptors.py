"""File descriptors that travel to a process while it is being started."""

from __future__ import annotations

import os
import select
import socket
from multiprocessing import reduction
from typing import Protocol


class Duplicate(Protocol):
    """A descriptor on its way to a process that is being started."""

    def detach(self) -> int:
        """Return its number there."""
        ...


class HasFileno(Protocol):
    """A socket or a file."""

    def fileno(self) -> int:
        """Return the number of the descriptor."""
        ...


def hand(end: HasFileno) -> Duplicate:
    """Return what becomes a copy of a descriptor in the process being started.

    Args:
        end: What to copy.
    """
    return reduction.DupFd(end.fileno())


def adopt(handed: Duplicate) -> int:
    """Return the copied descriptor; the children of this process do not get it.

    Args:
        handed: What `hand` returned.
    """
    number = handed.detach()
    os.set_inheritable(number, False)  # noqa: FBT003 - takes no keyword
    return number


def adopt_socket(handed: Duplicate | None) -> socket.socket:
    """Return the copied socket, a closed one if nothing was handed.

    Args:
        handed: What `hand` returned.
    """
    if handed is not None:
        return socket.socket(fileno=adopt(handed))
    closed = socket.socket(socket.AF_UNIX)
    closed.close()
    return closed


def ready(end: HasFileno, events: int, seconds: float) -> bool:
    """Wait until something happened to a descriptor; say whether it did.

    Args:
        end: The socket or file. A closed one counts as if something happened.
        events: ``select.POLLIN`` or ``select.POLLOUT``; that the other side hung up is
            noticed in any case.
        seconds: How long to wait at most.
    """
    watch = select.poll()
    try:
        watch.register(end.fileno(), events)
    except ValueError:
        return True
    return bool(watch.poll(seconds * 1000))
