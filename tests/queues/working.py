"""What the worker processes of the tests run; importable, so that spawn finds it."""

from __future__ import annotations

import contextlib
import os
import queue as queues
import signal
import struct
import time
from multiprocessing import connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from attrs import define

from graphcodec import Codec, Media, Seal, SpooledArtifact, encodable, handles
from graphcodec.errors import GraphCodecError, QueueClosedError
from graphcodec.queues import worker_codec
from graphcodec_resolvers import FsspecResolver

if TYPE_CHECKING:
    from collections.abc import Generator
    from multiprocessing.connection import Connection
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

    from graphcodec.queues import GraphQueue

    Pipe = Connection[bytes, bytes]

METHODS = ("fork", "forkserver", "spawn")
READY = b"ready"
PATIENCE = 60
"""Seconds until a test that hangs fails."""


@encodable("test.Job")
@define
class Job:
    """A class that only some codecs know."""

    number: int


def make_codec() -> Codec:
    """Return a codec with a class and a hook of its own, which can't be pickled."""
    codec = Codec(types=[Job])
    codec.converter.register_unstructure_hook(Job, lambda job: {"number": job.number})
    codec.converter.register_structure_hook(Job, lambda data, _: Job(data["number"]))
    return codec


def make_sealed_codec() -> Codec:
    """Return a codec that encrypts; each process makes its own."""
    seal = Seal({"test": bytes(range(32))}, mode="encrypt", current="test")
    return Codec(types=[Job], seal=seal)


ONE_CODEC = Codec(types=[Job])
NOT_A_CODEC = 5


class Starts(Protocol):
    """What every multiprocessing context has, and the stubs do not say."""

    def Process(self, *, target: Any, args: Any) -> BaseProcess: ...  # noqa: D102, N802


@contextlib.contextmanager
def running(
    context: BaseContext, target: Any, *args: Any
) -> Generator[BaseProcess, None, None]:
    """Run a function in a process of its own; it must have ended well at the end."""
    process = cast("Starts", context).Process(target=target, args=args)
    process.start()
    try:
        yield process
        process.join(PATIENCE)
        assert process.exitcode in {0, -signal.SIGKILL}
    finally:
        process.kill()
        process.join()
        process.close()


def double(tasks: GraphQueue, results: GraphQueue) -> None:
    """Send back each graph twice."""
    for graph in tasks:
        results.put([graph, graph])


def hash_all(tasks: GraphQueue, results: GraphQueue, folder: str) -> None:
    """Send back the hash of each graph and the bytes that its media have."""
    codec = Codec()
    for graph in tasks:
        size = sum(
            len(b"".join(reader.iter_bytes())) for _, _, reader in handles(graph)
        )
        results.put([codec.content_hash(graph), size, Path(folder).is_dir()])


def put_numbers(queue: GraphQueue, name: str, count: int) -> None:
    """Put a producer's name with the numbers from 0."""
    for number in range(count):
        queue.put({"from": name, "number": number})


def put_and_hang(queue: GraphQueue) -> None:
    """Put a graph and go on living."""
    queue.put("before")
    time.sleep(PATIENCE)


def message(number: int) -> dict[str, Any]:
    """Return the graph of a number; every fiftieth is too large for one message."""
    return {"number": number, "text": str(number) * (50_000 if number % 50 == 9 else 9)}


def report(queue: GraphQueue, pipe: Pipe) -> None:
    """Write down the number of each graph that arrived as it was sent."""
    pipe.send_bytes(READY)
    for graph in queue:
        assert graph == message(graph["number"])
        pipe.send_bytes(struct.pack("I", graph["number"]))


def reported(pipe: Pipe) -> list[int]:
    """Return what a process wrote down until its end."""
    numbers: list[int] = []
    assert pipe.recv_bytes() == READY
    with contextlib.suppress(EOFError):
        while pipe.poll():
            numbers += struct.unpack("I", pipe.recv_bytes())
    return numbers


def try_to_get(queue: GraphQueue, pipe: Pipe) -> None:
    """Tell how `get` ended."""
    try:
        queue.get(timeout=PATIENCE)
    except (queues.Empty, QueueClosedError) as exc:
        pipe.send_bytes(str(exc).encode())


def start_and_die(method: str, queue: GraphQueue, pipe: Pipe) -> None:
    """Start a consumer and be killed, so that it loses the process that started it."""
    import multiprocessing  # noqa: PLC0415 - only this process starts another

    context = multiprocessing.get_context(method)
    process = cast("Starts", context).Process(target=try_to_get, args=(queue, pipe))
    process.start()
    pipe.send_bytes(b"started")
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGKILL)


def take_without(queue: GraphQueue, pipe: Pipe) -> None:
    """Tell what `get` raises, and whether the document came along."""
    try:
        queue.get(timeout=PATIENCE)
    except GraphCodecError as exc:
        pipe.send_bytes(f"{type(exc).__name__} {exc.data == b'[1,'}".encode())


def bind_folder(folder: str) -> None:
    """Bind the store of the tests, as an initializer of a pool."""
    worker_codec(Codec(resolvers=[FsspecResolver({"media": folder})]))


def read_media(media: Media | SpooledArtifact) -> tuple[bytes, Any]:
    """Return what a handle holds, and the handle."""
    return b"".join(media.reader.iter_bytes()), media


def same(graph: Any) -> Any:
    """Return what came."""
    return graph


def fail(path: str) -> None:
    """Raise an error with all that one may have."""
    cause = ZeroDivisionError("nothing to divide by")
    raise GraphCodecError(
        "it failed", path=path, hint="do not", tag="t", limit="l", value=3, alias="a"
    ) from cause


def wait_for(sentinel: int | Connection) -> None:
    """Wait until a process ended or a pipe has something."""
    assert connection.wait([sentinel], PATIENCE)


def put_messages(queue: GraphQueue, count: int) -> None:
    """Put the graphs of the numbers from 0."""
    for number in range(count):
        queue.put(message(number))


def put_until_refused(queue: GraphQueue, pipe: Pipe) -> None:
    """Put for as long as somebody else takes, and tell how it ended."""
    # The end of a process that only puts, as spawn would leave it: without receiving.
    queue._channel._receiving.close()  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]
    try:
        while True:
            queue.put("again", timeout=PATIENCE)
    except QueueClosedError as exc:
        pipe.send_bytes(str(exc).encode())
