"""The places of a bounded queue, counted by the kernel and held by no lock."""

from __future__ import annotations

import fcntl
import os
import queue
import re
import select
import struct
import sys
import termios
import time
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from graphcodec.queues._channel import Deadline, nobody_takes, require_parent
from graphcodec.queues._descriptors import Duplicate, adopt, hand, ready

if TYPE_CHECKING:
    import socket

UNBOUNDED: Final = 1 << 62
_SIZE: Final = 8
_LOOKS: Final = 20
_LOOK_SECONDS: Final = 0.05

State: TypeAlias = tuple[int, Duplicate]


def new_places(maxsize: int) -> Places:
    """Return as many places as a queue has.

    Args:
        maxsize: How many; none and less mean any number.
    """
    most = min(maxsize, UNBOUNDED) if maxsize > 0 else UNBOUNDED
    number = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK | os.EFD_SEMAPHORE)
    places = Places(number, most)
    places.give(most)
    return places


class Places:
    """How many frames may still be put.

    A frame's place is taken before it is sent and given back as soon as it is received,
    before it is decoded. A process that is killed in between takes the place with it.
    So a put that again and again finds no place, while no frame is under way, knows
    that all are lost, and brings them back.

    Args:
        number: The descriptor of an eventfd that counts the free places.
        most: How many there are.
    """

    def __init__(self, number: int, most: int) -> None:
        # As a file, and not a number, it can be used by one thread while another closes
        # it, and nobody's else descriptor is met.
        self._file = FileIO(number, "r+")
        self.most = most
        self._quiet = 0
        self._looked = 0.0

    @classmethod
    def adopt(cls, state: State) -> Places:
        """Return the places that another process handed over."""
        most, handed = state
        return cls(adopt(handed), most)

    def hand(self) -> State:
        """Return what another process can `adopt`."""
        return self.most, hand(self._file)

    def give(self, count: int = 1) -> None:
        """Let *count* more frames be put."""
        try:
            self._file.write(count.to_bytes(_SIZE, sys.byteorder))
        except ValueError:
            # Another thread closed the queue while this one took its last frame.
            return

    def take(self, deadline: Deadline, sending: socket.socket) -> None:
        """Take a place.

        Args:
            deadline: How long to wait for one.
            sending: The sending end of the queue.

        Raises:
            queue.Full: If there was none.
            QueueClosedError: If none will be given any more.
        """
        while not self._taken():
            if sending.fileno() >= 0 and ready(sending, 0, 0):
                raise nobody_takes()
            self._look(sending)
            seconds = min(deadline.left(), _LOOK_SECONDS)
            if not seconds:
                raise queue.Full
            if not ready(self._file, select.POLLIN, seconds):
                require_parent()

    def _taken(self) -> bool:
        try:
            taken = self._file.read(_SIZE) is not None
        except ValueError:
            # The queue was closed; the line itself will say so.
            return True
        self._quiet = 0 if taken else self._quiet
        return taken

    def _look(self, sending: socket.socket) -> None:
        """Count how often no place was free although no frame was under way."""
        now = time.monotonic()
        if _under_way(sending):
            self._quiet = 0
        elif now - self._looked >= _LOOK_SECONDS / 2:
            self._looked = now
            self._quiet += 1
        if self._quiet >= _LOOKS:
            self._quiet = 0
            self._bring_back(sending)

    def _bring_back(self, sending: socket.socket) -> None:
        # The lock keeps two from doing this at once. The kernel takes it from the dead.
        try:
            fcntl.lockf(sending, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return
        try:
            if not ready(self._file, select.POLLIN, 0) and not _under_way(sending):
                self.give(self.most)
        finally:
            fcntl.lockf(sending, fcntl.LOCK_UN)

    def taken(self) -> int:
        """Return how many places are taken.

        Raises:
            NotImplementedError: If this system does not tell.
        """
        told = Path(f"/proc/self/fdinfo/{self._file.fileno()}")
        try:
            free = re.search(r"eventfd-count:\s*([0-9a-f]+)", told.read_text())
        except OSError:
            free = None
        if free is None:
            raise NotImplementedError
        return max(self.most - int(free[1], 16), 0)

    def all_taken(self) -> bool:
        """Say whether no place is free."""
        return not ready(self._file, select.POLLIN, 0)

    def close(self) -> None:
        """Forget the places in this process."""
        self._file.close()


def _under_way(sending: socket.socket) -> bool:
    """Say whether a frame was sent and not received.

    Source: unix(7) and ``SIOCOUTQ``, which is ``TIOCOUTQ``.
    """
    try:
        answer = fcntl.ioctl(sending, termios.TIOCOUTQ, bytes(4))
    except (OSError, ValueError):
        return True
    return struct.unpack("i", answer) != (0,)
