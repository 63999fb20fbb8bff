"""Frames over a pipe and its locks, as in `multiprocessing.Queue`: for other systems.

It promises less than sockets do. Whoever takes from a pipe holds a lock meanwhile, and
a process that is killed while it does leaves the lock held: the others wait for ever.
"""

from __future__ import annotations

import queue
from multiprocessing import synchronize
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from graphcodec._process import PerProcess
from graphcodec.errors import QueueClosedError
from graphcodec.queues._channel import (
    Deadline,
    Sender,
    nobody_puts,
    not_receiving,
    not_sending,
    require_parent,
)

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import BaseContext
    from multiprocessing.synchronize import Lock, Semaphore

    _Locks: TypeAlias = tuple[Lock, Lock, Semaphore]
    _State: TypeAlias = tuple[Connection, Connection | None, _Locks, int]

# The stubs leave it out.
_MOST: Final = cast("int", vars(synchronize)["SEM_VALUE_MAX"])


class PipeChannel:
    """A `Channel` for systems that lack what the better one needs.

    Args:
        maxsize: How many frames may be under way; 0 for any number.
        context: Whose locks to use.
    """

    def __init__(self, maxsize: int, context: BaseContext) -> None:
        receiving, sending = context.Pipe(duplex=False)
        most = min(maxsize, _MOST) if maxsize > 0 else _MOST
        locks = context.Lock(), context.Lock(), context.Semaphore(most)
        self.__setstate__((receiving, sending, locks, most))

    def __getstate__(self) -> _State:
        sending = None if self._line.stopped else self._line.sending
        return self._open(), sending, self._locks, self._most

    def __setstate__(self, state: _State) -> None:
        self._receiving, sending, self._locks, self._most = state
        self._reading, writing, self._places = self._locks
        self._line = line = _PipeLine(sending, writing)
        self._sender = PerProcess(lambda: Sender(line))

    def send(self, frame: bytes, deadline: Deadline) -> None:
        """Do what `Channel.send` says."""
        self._line.require_open()
        while not self._places.acquire(timeout=(seconds := deadline.left())):
            if not seconds:
                raise queue.Full
            self._line.require_open()
            require_parent()
        try:
            self._sender.get().send(frame)
        except QueueClosedError:
            self._places.release()
            raise

    def receive(self, deadline: Deadline) -> bytes:
        """Do what `Channel.receive` says."""
        while (frame := self._received(deadline)) is None:
            if not deadline.left():
                raise queue.Empty
            require_parent()
        self._places.release()
        return frame

    def _received(self, deadline: Deadline) -> bytes | None:
        receiving = self._open()
        try:
            if not receiving.poll(deadline.left()):
                return None
            # The lock is held for as short a time as may be: who dies in it, keeps it.
            if not self._reading.acquire(timeout=deadline.left()):
                return None
            try:
                return receiving.recv_bytes() if receiving.poll() else None
            finally:
                self._reading.release()
        except EOFError:
            raise nobody_puts() from None
        except OSError:
            if receiving.closed:
                raise not_receiving() from None
            raise

    def _open(self) -> Connection:
        if self._receiving.closed:
            raise not_receiving()
        return self._receiving

    def stop_sending(self) -> None:
        """Do what `Channel.stop_sending` says."""
        self._sender.get().stop()

    def close(self) -> None:
        """Do what `Channel.close` says."""
        self.stop_sending()
        self._receiving.close()

    def count(self) -> int:
        """Do what `Channel.count` says."""
        self._open()
        return self._most - self._places.get_value()

    def empty(self) -> bool:
        """Do what `Channel.empty` says."""
        return not self._open().poll()

    def full(self) -> bool:
        """Do what `Channel.full` says."""
        self._open()
        return self._places.get_value() == 0


class _PipeLine:
    """The sending end; a pipe can't promise to take anything at once."""

    def __init__(self, sending: Connection | None, writing: Lock) -> None:
        self.sending = sending
        self.stopped = sending is None
        self._writing = writing
        self._broken = False

    def try_send(self, frame: bytes) -> bool:
        del frame
        if self._broken:
            raise BrokenPipeError
        return False

    def wait(self, frame: bytes) -> bool:
        if self.sending is None:
            return False
        try:
            with self._writing:
                self.sending.send_bytes(frame)
        except OSError:
            # Nobody takes it, nor what stands behind it.
            self._broken = True
            return False
        return True

    def hang_up(self) -> None:
        if self.sending is not None:
            self.sending.close()

    def require_open(self) -> None:
        if self.stopped:
            raise not_sending()
