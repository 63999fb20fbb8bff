"""Calls to an S3 server: a client per process, one layer of retries.

s3fs makes the clients; it knows all ways to give credentials. Calls go by its
coroutine for them, since its open files lose their guard against changes when they are
pickled, and its ranges have none. All clients of a process live on the event loop of
fsspec, in a thread of its own: so no event loop of a caller owns a connection, and
both blocking and awaiting callers share one pool.
"""

from __future__ import annotations

import asyncio
import ctypes
import importlib
import os
import random
import threading
import weakref
from contextlib import suppress
from errno import EIO
from itertools import count
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, TypeVar, cast

from graphcodec._process import PerProcess
from graphcodec.readers._threads import in_thread
from graphcodec_resolvers._s3_errors import ExpiredError, TransientError, translated

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping
    from typing import Any

    Answer: TypeAlias = Mapping[str, Any]

T = TypeVar("T")

ATTEMPTS: Final = 6
DEADLINE: Final = 120.0
_FIRST_PAUSE: Final = 0.1
_LONGEST_PAUSE: Final = 5.0
_PARTS_AT_ONCE: Final = 4
_CLOSING: Final = 1.0

_CONFIG: Final[Mapping[str, object]] = {
    "signature_version": "s3v4",
    "connect_timeout": 5,
    "read_timeout": 15,
    "max_pool_connections": 32,
    # Not all servers know the checksums that botocore adds of its own accord.
    "request_checksum_calculation": "when_required",
    "response_checksum_validation": "when_required",
}


class S3Client(Protocol):
    """The part of a client of aiobotocore that is used here."""

    async def generate_presigned_url(self, method: str, /, **options: object) -> str:
        """Return a URL that anybody can use for a while."""
        ...

    async def close(self) -> None:
        """Close its connections."""
        ...


class S3FileSystem(Protocol):
    """The part of s3fs that is used here."""

    storage_args: tuple[object, ...]
    storage_options: Mapping[str, object]
    retries: int

    async def set_session(self) -> S3Client:
        """Return the client, made on first use."""
        ...

    async def _call_s3(self, method: str, /, **parameters: object) -> Answer:
        """Call a method of the client."""
        ...


def settled(template: S3FileSystem) -> S3FileSystem:
    """Return a file system like *template* that is ours alone.

    Args:
        template: One that the application made; nothing but its options is used.
    """
    options = dict(template.storage_options)
    given = cast("dict[str, object]", options.pop("config_kwargs", None) or {})
    options.update(
        config_kwargs={
            **_CONFIG,
            **given,
            # s3fs and botocore would each try again, and multiply.
            "retries": {"total_max_attempts": 1, "mode": "standard"},
        },
        asynchronous=True,
        loop=None,
        skip_instance_cache=True,
        use_listings_cache=False,
    )
    fs = type(template)(*template.storage_args, **options)
    fs.retries = 1
    return fs


class Session:
    """One client, in one process, with one set of credentials.

    Its coroutines run on the event loop of fsspec.

    Args:
        fs: The file system, which nobody else uses.

    Attributes:
        loop: The event loop.
        slots: Bounds how many parts are uploaded, and so are in memory, at once.
        conditional: Whether the server is believed to know writes with conditions.
    """

    def __init__(self, fs: S3FileSystem) -> None:
        self._fs = fs
        self._client: list[S3Client] = []
        asyn = importlib.import_module("fsspec.asyn")
        self.loop: asyncio.AbstractEventLoop = asyn.get_loop()
        self.conditional = True
        self.slots = asyncio.Semaphore(_PARTS_AT_ONCE)
        weakref.finalize(self, _close, os.getpid(), self.loop, self._client)

    async def client(self) -> S3Client:
        """Return the client, connected on first use."""
        client = await self._fs.set_session()
        self._client[:] = [client]
        return client

    async def once(self, method: str, **parameters: object) -> Answer:
        """Call a method of the client; failures are those of the builtins.

        Args:
            method: Its name, such as ``get_object``.
            **parameters: As botocore names them.
        """
        try:
            await self.client()
            return await self._fs._call_s3(method, **parameters)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - fsspec marks coroutines so
        except Exception as exc:  # noqa: BLE001 - what is not known passes on as it is
            raise translated(exc) from None

    async def call(self, method: str, **parameters: object) -> Answer:
        """Do what `once` does, and try again while that makes sense.

        Args:
            method: Its name; calling it twice must do no harm.
            **parameters: As botocore names them.
        """
        return await patiently(lambda: self.once(method, **parameters))


async def patiently(attempt: Callable[[], Awaitable[T]]) -> T:
    """Await *attempt*, again after transient errors, within a total deadline.

    Args:
        attempt: Starts from the beginning, or where it was cut off.
    """
    until = asyncio.get_running_loop().time() + DEADLINE
    for tried in count(1):
        try:
            async with asyncio.timeout_at(until):
                return await attempt()
        except TransientError as exc:
            pause = max(exc.pause, _jitter(tried))
            late = asyncio.get_running_loop().time() + pause >= until
            if tried >= ATTEMPTS or late:
                raise
        except TimeoutError:
            msg = f"the server took more than {DEADLINE:.0f} seconds"
            raise OSError(EIO, msg) from None
        await asyncio.sleep(pause)
    raise AssertionError  # pragma: no cover - count() has no end


def _jitter(tried: int) -> float:
    """Return a pause: exponential with full jitter, so that clients don't march."""
    longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (tried - 1))
    return random.uniform(0, longest)  # noqa: S311 - no secret


class Sessions:
    """The sessions of all processes that reach one store, and the way to them.

    Args:
        make: Makes a file system with the credentials of now. It is called in the
            thread of a caller, once in each process, and again when a server says that
            the credentials have expired.
    """

    def __init__(self, make: Callable[[], S3FileSystem]) -> None:
        self._session = PerProcess(lambda: Session(settled(make())))

    def run(self, work: Callable[[Session], Coroutine[object, object, T]]) -> T:
        """Do *work* on the event loop of fsspec, and wait for it.

        Args:
            work: Is given the session; begun anew if credentials expire meanwhile.
        """
        session = self._session.get()
        try:
            return _wait(session, work)
        except ExpiredError:
            pass  # left here, so that the next error is not chained to this one
        return _wait(self._session.renew(session), work)

    async def arun(self, work: Callable[[Session], Coroutine[object, object, T]]) -> T:
        """Do what `run` does, awaited on any event loop.

        Args:
            work: Is given the session.
        """
        session = await in_thread(self._session.get)
        try:
            return await _awaited(session, work)
        except ExpiredError:
            pass  # left here, so that the next error is not chained to this one
        return await _awaited(await in_thread(self._session.renew, session), work)


def _wait(
    session: Session, work: Callable[[Session], Coroutine[object, object, T]]
) -> T:
    asyn = importlib.import_module("fsspec.asyn")
    done: T = asyn.sync(session.loop, work, session)
    return done


async def _awaited(
    session: Session, work: Callable[[Session], Coroutine[object, object, T]]
) -> T:
    future = asyncio.run_coroutine_threadsafe(work(session), session.loop)
    return await asyncio.wrap_future(future)


def _close(
    process: int, loop: asyncio.AbstractEventLoop, clients: list[S3Client]
) -> None:
    """Close the connections of this process; those of a parent are left alone."""
    if process != os.getpid():
        # Kept for ever, because destroying them would close what the parent uses.
        for client in clients:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(client))
        return
    if not loop.is_running():
        return
    for client in clients:
        closing = asyncio.run_coroutine_threadsafe(client.close(), loop)
        # Collected on the loop itself, waiting would be for ever.
        if threading.current_thread().name != "fsspecIO":
            with suppress(Exception):
                closing.result(_CLOSING)
