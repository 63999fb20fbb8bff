"""Connections to a database, lent to one thread at a time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Generic, Protocol, TypeVar

__all__ = ["Pool"]


class _Connection(Protocol):
    def close(self) -> None:
        """Close it."""
        ...


C = TypeVar("C", bound=_Connection)


class Pool(Generic[C]):
    """The connections of a process that nobody uses at the moment.

    Args:
        connect: Makes one.
        is_usable: Whether one that was used can be lent again.
    """

    def __init__(
        self, connect: Callable[[], C], is_usable: Callable[[C], bool]
    ) -> None:
        self._connect = connect
        self._is_usable = is_usable
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._free: list[C] = []

    @contextmanager
    def borrow(self) -> Generator[C]:
        """Lend a connection, made now if there is none."""
        with self._lock:
            found = self._free.pop() if self._free else None
        connection = self._connect() if found is None else found
        try:
            yield connection
        finally:
            if self._is_usable(connection):
                with self._lock:
                    self._free.append(connection)
            else:
                connection.close()

    def close(self) -> None:
        """Close what is not lent."""
        with self._lock:
            free, self._free = self._free, []
        for connection in free:
            connection.close()

    def __del__(self) -> None:
        # A forked child leaves the connections of its parent alone.
        if self._pid == os.getpid():
            self.close()
