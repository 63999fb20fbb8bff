"""A queue of graphs between processes."""

from __future__ import annotations

import multiprocessing
import os
import sys
import weakref
from multiprocessing.context import get_spawning_popen
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from graphcodec._process import PerProcess
from graphcodec.errors import (
    GateNotEncodableError,
    GraphCodecError,
    InvalidValueError,
    QueueClosedError,
)
from graphcodec.queues._channel import Channel, Deadline
from graphcodec.queues._workers import CodecSource, GivenCodec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from multiprocessing.context import BaseContext

    OnError: TypeAlias = Callable[[GraphCodecError], object]


class GraphQueue:
    """Carries graphs from the processes that put them to those that take them.

    It is passed on as `multiprocessing.Queue` is: ``Process(target=work,
    args=(queue,))``, or as an argument of a pool's initializer. What travels are
    documents of the codec, and nothing is unpickled. The graphs of one process arrive
    in its order, each at one receiver and at most once: what a killed process had
    taken, or put and not yet sent, is gone.

    Every process that has the queue may put and take, until it says that it is done:
    by `close`, by iterating over it (which takes only), or by its end. When no process
    can put any more and everything is taken, iterations end, and `get` raises
    `QueueClosedError`.

    Args:
        maxsize: How many graphs may wait; 0 for any number.
        codec: A codec; a function that makes one in each process; where to import
            either from, as ``package.module:name``; None for the built-in classes, in
            MessagePack. A codec given as it is must be pickled for processes that are
            not forked.
        context: The multiprocessing context whose processes will have the queue. It
            matters only where the system has no sockets that keep messages whole.
        on_error: Is called with the error of a document that can't be decoded, and then
            the next is taken. ``error.data`` is the document. Without it, `get` raises
            the error.

    Raises:
        InvalidValueError: If an argument can't be used.
    """

    def __init__(
        self,
        maxsize: int = 0,
        *,
        codec: GivenCodec = None,
        context: BaseContext | None = None,
        on_error: OnError | None = None,
    ) -> None:
        if type(maxsize) is not int:
            raise InvalidValueError(f"maxsize must be an int, not {maxsize!r:.80}")
        if on_error is not None and not callable(on_error):
            raise InvalidValueError(
                f"on_error must be a function, not {on_error!r:.80}"
            )
        self._hold(CodecSource(codec), on_error, _new_channel(maxsize, context))

    def _hold(
        self, source: CodecSource, on_error: OnError | None, channel: Channel
    ) -> None:
        self._source = source
        # What can be put is what the other side can take.
        self._writer = PerProcess(
            lambda: source.get().replace(write_unregistered=False)
        )
        self._on_error = on_error
        self._channel = channel
        weakref.finalize(self, channel.close)

    def __repr__(self) -> str:
        try:
            state = f"{self.qsize()} waiting"
        except QueueClosedError:
            state = "closed"
        except NotImplementedError:
            state = "open"
        return f"{type(self).__name__}(<{state}>)"

    def put(
        self,
        obj: object,
        block: bool = True,  # noqa: FBT001, FBT002 - as in multiprocessing.Queue
        timeout: float | None = None,
    ) -> None:
        """Encode a graph and hand it over.

        Args:
            obj: What `Codec.encode` takes.
            block: Whether to wait for a place, if `maxsize` graphs are waiting.
            timeout: For how many seconds; None for as long as it takes.

        Raises:
            queue.Full: If there was no place in time.
            QueueClosedError: If this process can't put any more, or no process is left
                that could take.
            UnencodableValueError: If the graph can't be encoded, or holds a class that
                the codec of the queue could not read. The queue stays as it is.
            GraphCodecError: Whatever else `Codec.encode` raises.
        """
        deadline = Deadline(block=block, timeout=timeout)
        self._channel.send(self._writer.get().encode(obj), deadline)

    def put_nowait(self, obj: object) -> None:
        """Do what `put` does without waiting for a place.

        Args:
            obj: What `Codec.encode` takes.
        """
        self.put(obj, block=False)

    def get(
        self,
        block: bool = True,  # noqa: FBT001, FBT002 - as in multiprocessing.Queue
        timeout: float | None = None,
    ) -> Any:
        """Take the next graph.

        Args:
            block: Whether to wait for one.
            timeout: For how many seconds; None for as long as it takes.

        Raises:
            queue.Empty: If there was none in time.
            QueueClosedError: If none will come: no process is left that could put, this
                process closed the queue, or the queue is empty and the process that
                started this one is gone.
            GraphCodecError: What `Codec.decode` raises; ``error.data`` is the document.
        """
        deadline = Deadline(block=block, timeout=timeout)
        codec = self._source.get()
        while True:
            data = self._channel.receive(deadline)
            try:
                return codec.decode(data)
            except GraphCodecError as exc:
                exc.data = data
                if self._on_error is None:
                    raise
                self._on_error(exc)

    def get_nowait(self) -> Any:
        """Do what `get` does without waiting."""
        return self.get(block=False)

    def __iter__(self) -> Iterator[Any]:
        """Take graphs until no process can put any more.

        This process gives up putting: it could not wait for its own end.
        """
        self._channel.stop_sending()
        return self._rest()

    def _rest(self) -> Iterator[Any]:
        while True:
            try:
                graph = self.get()
            except QueueClosedError:
                return
            yield graph

    def qsize(self) -> int:
        """Return about how many graphs wait; others may put and take at any time.

        What a killed process had in its hands may be counted for a while.

        Raises:
            NotImplementedError: If the system does not tell, as on macOS.
        """
        return self._channel.count()

    def empty(self) -> bool:
        """Say whether no graph waits right now, as far as this process can see."""
        return self._channel.empty()

    def full(self) -> bool:
        """Say whether `put` would have to wait right now."""
        return self._channel.full()

    def close(self) -> None:
        """Say that this process neither puts nor takes any more.

        What it has put is still sent. To do so twice changes nothing.
        """
        self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> tuple[CodecSource, OnError | None, Channel]:
        if get_spawning_popen() is None:
            raise GateNotEncodableError(
                "a GraphQueue reaches a process only while that is being started",
                hint="pass it as an argument of Process or of a pool's initializer",
                type_name="GraphQueue",
            )
        return self._source, self._on_error, self._channel

    def __setstate__(self, state: tuple[CodecSource, OnError | None, Channel]) -> None:
        self._hold(*state)


def _new_channel(maxsize: int, context: BaseContext | None) -> Channel:
    if _sockets_work():
        from graphcodec.queues._sockets import SocketChannel  # noqa: PLC0415 - Unix only

        return SocketChannel(maxsize)
    from graphcodec.queues._pipes import PipeChannel  # noqa: PLC0415 - rarely used

    return PipeChannel(maxsize, context or multiprocessing.get_context())


def _sockets_work() -> bool:
    """Say whether this system is Linux, with all that a `SocketChannel` needs."""
    needed = ("eventfd", "memfd_create")
    return sys.platform == "linux" and all(hasattr(os, name) for name in needed)
