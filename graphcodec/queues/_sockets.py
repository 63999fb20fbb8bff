"""Frames over sockets that keep messages whole, so that nothing needs a lock.

`multiprocessing.Queue` guards a pipe with semaphores, and a process that is killed
while it holds one stops all others. Here only the kernel holds anything, and it lets
go of what a dead process had:

* A frame is one message of a ``SOCK_SEQPACKET`` pair. Whoever receives gets a whole
  one, and the next receiver the next.
* A frame that is too large for a message lies in an anonymous file, whose descriptor
  travels. It has no name that could be guessed or left behind: when the last process
  that holds it, or the message, is gone, so is the file.
* The places of a bounded queue are the count of an eventfd.
"""

from __future__ import annotations

import errno
import os
import queue
import select
import socket
import struct
import threading
import time
from io import FileIO
from typing import Final

from graphcodec._process import PerProcess
from graphcodec.errors import QueueClosedError, StorageError
from graphcodec.queues._channel import (
    SLICE,
    Deadline,
    Sender,
    nobody_puts,
    not_receiving,
    not_sending,
    require_parent,
)
from graphcodec.queues._descriptors import Duplicate, adopt_socket, hand, ready
from graphcodec.queues._places import Places, State, new_places

MESSAGE_BYTES: Final = 60_000
"""The largest frame that travels as a message.

Beyond, a file is as fast and leaves more room in the socket, which takes about 200 kB
where the system's settings are untouched.
"""

_BUFFER_BYTES: Final = 1 << 20
_DESCRIPTOR: Final = struct.Struct("i")
_ROOM_FOR_ONE: Final = socket.CMSG_LEN(_DESCRIPTOR.size)
_PAUSE: Final = 0.02
_FILE: Final = b"file"
_SCARCE: Final = frozenset(
    {errno.ETOOMANYREFS, errno.ENOBUFS, errno.ENOMEM, errno.EMFILE, errno.ENFILE}
)
"""What is short now and not for ever: the system counts the descriptors under way.

Source: unix(7), ``ETOOMANYREFS``.
"""


class SocketChannel:
    """A `Channel` that no dead process can block.

    Args:
        maxsize: How many frames may be under way; 0 for any number.
    """

    def __init__(self, maxsize: int) -> None:
        sending, receiving = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        sending.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_BYTES)
        self._hold(sending, receiving, new_places(maxsize))

    def _hold(
        self, sending: socket.socket, receiving: socket.socket, places: Places
    ) -> None:
        for end in (sending, receiving):
            if end.fileno() >= 0:
                end.settimeout(0)
        self._line = line = _SocketLine(sending, receiving)
        self._receiving = receiving
        self._places = places
        self._sender = PerProcess(lambda: Sender(line))

    def __getstate__(self) -> tuple[Duplicate | None, Duplicate, State]:
        self._require_open()
        sending = None if self._line.stopped else hand(self._line.sending)
        return sending, hand(self._receiving), self._places.hand()

    def __setstate__(self, state: tuple[Duplicate | None, Duplicate, State]) -> None:
        sending, receiving, places = state
        self._hold(adopt_socket(sending), adopt_socket(receiving), Places.adopt(places))

    def send(self, frame: bytes, deadline: Deadline) -> None:
        """Do what `Channel.send` says."""
        if self._line.stopped:
            raise not_sending()
        self._places.take(deadline, self._line.sending)
        try:
            self._sender.get().send(frame)
        except QueueClosedError:
            self._places.give()
            raise

    def receive(self, deadline: Deadline) -> bytes:
        """Do what `Channel.receive` says."""
        while (frame := self._received()) is None:
            seconds = deadline.left()
            if not seconds:
                raise queue.Empty
            if not ready(self._receiving, select.POLLIN, seconds):
                require_parent()
        return frame

    def _received(self) -> bytes | None:
        self._require_open()
        try:
            message, extra, flags, _ = self._receiving.recvmsg(
                MESSAGE_BYTES, _ROOM_FOR_ONE, socket.MSG_CMSG_CLOEXEC
            )
        except BlockingIOError:
            return None
        except OSError:
            # Another thread closed the queue at this very moment.
            self._require_open()
            raise
        if not message:
            raise nobody_puts()
        # Before anything else, so that hardly any moment is left to die in between.
        self._places.give()
        if flags & socket.MSG_CTRUNC:
            raise StorageError(
                "a graph was lost: this process has no room for another descriptor",
                hint="close files, or raise the limit of open files (ulimit -n)",
            )
        return _contents(extra[0][2]) if extra else message

    def _require_open(self) -> None:
        if self._receiving.fileno() < 0:
            raise not_receiving()

    def stop_sending(self) -> None:
        """Do what `Channel.stop_sending` says."""
        self._sender.get().stop()

    def close(self) -> None:
        """Do what `Channel.close` says."""
        self.stop_sending()
        self._receiving.close()
        self._places.close()

    def count(self) -> int:
        """Do what `Channel.count` says."""
        self._require_open()
        return self._places.taken()

    def empty(self) -> bool:
        """Do what `Channel.empty` says."""
        self._require_open()
        return not ready(self._receiving, select.POLLIN, 0)

    def full(self) -> bool:
        """Do what `Channel.full` says."""
        self._require_open()
        return self._places.all_taken()


class _SocketLine:
    """The sending end, and what waits until there is room in it."""

    def __init__(self, sending: socket.socket, receiving: socket.socket) -> None:
        self.sending = sending
        self.stopped = sending.fileno() < 0
        self._receiving = receiving
        self._scarce = False

    def try_send(self, frame: bytes) -> bool:
        self._scarce = False
        try:
            self._send(frame)
        except BlockingIOError:
            return False
        except OSError as exc:
            self._scarce = exc.errno in _SCARCE
            if not self._scarce:
                raise
        return not self._scarce

    def wait(self, frame: bytes) -> bool:
        del frame
        if not threading.main_thread().is_alive():
            # The process wants to end: it takes nothing more, so that its own end is
            # not the one that keeps it waiting.
            self._receiving.close()
        if ready(self.sending, select.POLLOUT, SLICE) and self._scarce:
            time.sleep(_PAUSE)
        return False

    def _send(self, frame: bytes) -> None:
        if len(frame) <= MESSAGE_BYTES:
            self.sending.send(frame)
            return
        if not ready(self.sending, select.POLLOUT, 0):
            # Not even a file is made that would have to be thrown away.
            raise BlockingIOError
        number = _stored(frame)
        try:
            ticket = (socket.SOL_SOCKET, socket.SCM_RIGHTS, _DESCRIPTOR.pack(number))
            self.sending.sendmsg([_FILE], [ticket])
        finally:
            os.close(number)

    def hang_up(self) -> None:
        self.sending.close()


def _stored(frame: bytes) -> int:
    """Return the descriptor of a new anonymous file that holds a frame."""
    number = os.memfd_create("graphcodec", os.MFD_CLOEXEC)
    try:
        rest = memoryview(frame)
        while rest:
            rest = rest[os.write(number, rest) :]
    except BaseException:
        os.close(number)
        raise
    return number


def _contents(descriptor: bytes) -> bytes:
    """Return what the file holds whose descriptor arrived, and close it."""
    (number,) = _DESCRIPTOR.unpack(descriptor)
    with FileIO(number) as file:
        file.seek(0)
        return file.readall()
