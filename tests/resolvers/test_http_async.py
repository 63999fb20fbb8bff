from __future__ import annotations

import asyncio
import gc
import hashlib
import logging
import multiprocessing
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx
import pytest

from graphcodec.errors import (
    HandleError,
    HandleNotFoundError,
    ResolverDeniedError,
    StaleHandleError,
)
from graphcodec_resolvers import HttpResolver
from graphcodec_resolvers._senders import finish
from tests.resolvers.servers import DATA, ETAG, PUBLIC, FakeNetwork
from tests.resolvers.test_http import SHA256, resolved

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    import httpcore

    from graphcodec.readers import JSON, Reader
    from tests.resolvers.servers import FaultyServer

    Read = Callable[[Reader], Coroutine[object, object, bytes]]

OTHER = hashlib.sha256(b"other").hexdigest()


class DeadNetwork(FakeNetwork):
    """A network in which nobody listens at one of the addresses."""

    async def aconnect(
        self,
        address: str,
        port: int,
        longest: float | None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to this machine instead, or to nobody."""
        port = 1 if address == "1.1.1.1" else port
        return await super().aconnect(address, port, longest)


async def content(reader: Reader, chunk_size: int = 1000) -> bytes:
    """Return all that a reader yields to an event loop."""
    return b"".join([piece async for piece in reader.aiter_bytes(chunk_size)])


async def opened(reader: Reader) -> bytes:
    """Return what a stream gives that was opened on an event loop."""
    with await reader.aopen() as stream:
        return stream.read()


async def in_range(reader: Reader) -> bytes:
    """Return four bytes from the middle."""
    return await reader.aread_range(10, 14)


def test_an_event_loop_reads_the_same(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """In pieces, as a stream that seeks, as a range, and by its length."""
    reader = resolved(local, http_server.url("plain"), sha256=SHA256)

    async def read() -> None:
        pieces = [piece async for piece in reader.aiter_bytes(1000)]
        assert b"".join(pieces) == DATA
        assert max(map(len, pieces)) <= 1000
        with await reader.aopen() as stream:
            assert stream.read() == DATA
            assert stream.seek(-4, 2) == len(DATA) - 4
            assert stream.read() == DATA[-4:]
        for start, end in ((5, 9), (-5, 4), (10_000, 20_000), (20_000, 20_001), (5, 5)):
            assert await reader.aread_range(start, end) == DATA[max(0, start) : end]
        assert await reader.abyte_length() == len(DATA)
        assert await resolved(local, "http://h/", size=7).abyte_length() == 7

    asyncio.run(read())


def test_what_blocks_does_not_wait_for_a_loop() -> None:
    """Requests are written once; run without a loop, they must never need one."""
    with pytest.raises(RuntimeError, match="waited for an event loop"):
        finish(asyncio.sleep(0))


def test_each_loop_has_its_own_connections(
    local: HttpResolver, local_network: FakeNetwork, http_server: FaultyServer
) -> None:
    """They are shared within a loop, end with it, and the next loop makes new ones."""
    reader = resolved(local, http_server.url("plain"))

    async def read() -> None:
        for _ in range(3):
            assert await in_range(reader) == DATA[10:14]

    for loops in (1, 2, 3):
        asyncio.run(read())
        gc.collect()
        assert len(local_network.connected) == loops


def test_connections_of_a_loop_can_be_closed_before_it_ends(
    local_network: FakeNetwork, http_server: FaultyServer
) -> None:
    """A resolver is an async context manager, and goes on after its end."""

    async def read() -> None:
        resolver = HttpResolver(
            schemes=["http"], allow_private=True, _network=local_network
        )
        for connections in (1, 2):
            async with resolver:
                reader = resolved(resolver, http_server.url("plain"))
                assert await in_range(reader) == DATA[10:14]
            assert len(local_network.connected) == connections

    asyncio.run(read())


def test_many_reads_run_at_once(local: HttpResolver, http_server: FaultyServer) -> None:
    """Requests of one loop do not wait for each other."""
    reader = resolved(local, http_server.url("slow"))

    async def read() -> list[bytes]:
        return await asyncio.gather(*[in_range(reader) for _ in range(20)])

    assert asyncio.run(read()) == [DATA[10:14]] * 20
    assert http_server.peak > 1


def test_a_cancelled_read_lets_go(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """The task ends at once, and the next one is served."""
    silent = resolved(local, http_server.url("silent"))
    reader = resolved(local, http_server.url("plain"))

    async def read() -> None:
        task = asyncio.create_task(in_range(silent))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async for _ in reader.aiter_bytes(10):
            break
        assert await in_range(reader) == DATA[10:14]

    asyncio.run(read())


@pytest.mark.parametrize("read", [content, opened, in_range])
@pytest.mark.parametrize(
    "case",
    [
        ("status/403", {}, ResolverDeniedError, "status 403"),
        ("status/404", {}, HandleNotFoundError, "status 404"),
        ("status/412", {}, StaleHandleError, "412"),
        ("status/500", {}, HandleError, "status 500"),
        ("plain", {"size": 9999}, StaleHandleError, "the size was"),
        ("plain", {"etag": '"v0"'}, StaleHandleError, "etag was"),
        ("no-etag", {"etag": ETAG}, StaleHandleError, "can't be told"),
        ("gzip", {}, HandleError, "compressed"),
        ("content-range/", {}, HandleError, "status 206|without saying which"),
        ("loop", {}, ResolverDeniedError, "more than 3 redirects"),
        ("to/file:%2F%2F%2Fetc%2Fpasswd", {}, ResolverDeniedError, "scheme is none of"),
        ("hang-up", {}, HandleError, "connection failed"),
        ("nonsense", {}, HandleError, "connection failed"),
    ],
)
def test_what_is_wrong_is_refused_there_too(
    local: HttpResolver,
    http_server: FaultyServer,
    read: Read,
    case: tuple[str, dict[str, JSON], type[HandleError], str],
) -> None:
    """Every check holds on both faces."""
    path, pins, error, match = case
    reader = resolved(local, http_server.url(path), **pins)

    with pytest.raises(error, match=match) as caught:
        asyncio.run(read(reader))
    assert type(caught.value) is error


@pytest.mark.parametrize("read", [content, opened])
@pytest.mark.parametrize(
    "case",
    [
        ("plain", {"sha256": OTHER}, "sha256 pinned"),
        ("chunked", {"size": 10_000}, "more than the 10000 bytes"),
        ("chunked", {"size": 20_000}, "only 10240 of the 20000 bytes"),
        ("short", {}, "was cut"),
        ("cut/9", {}, "was cut"),
    ],
)
def test_other_bodies_are_refused_there_too(
    local: HttpResolver,
    http_server: FaultyServer,
    read: Read,
    case: tuple[str, dict[str, JSON], str],
) -> None:
    """What only the body shows is seen before its last bytes are handed out."""
    path, pins, match = case
    reader = resolved(local, http_server.url(path), **pins)

    with pytest.raises(HandleError, match=match):
        asyncio.run(read(reader))


def test_cut_and_busy_servers_are_tried_again_there_too(
    local: HttpResolver, local_network: FakeNetwork, http_server: FaultyServer
) -> None:
    """A body is resumed where it was cut; pauses do not block the loop."""
    assert asyncio.run(content(resolved(local, http_server.url("cut/2")))) == DATA
    assert asyncio.run(content(resolved(local, http_server.url("busy/2")))) == DATA
    assert local_network.slept == [1.0, 1.0]


@pytest.mark.parametrize("path", ["drip", "drip-headers", "silent"])
def test_time_runs_out_there_too(http_server: FaultyServer, path: str) -> None:
    """However little comes at a time, all of it has one deadline."""
    resolver = HttpResolver(schemes=["http"], allow_private=True, timeout=0.3)

    with pytest.raises(HandleError, match=r"than the 0\.3 seconds") as caught:
        asyncio.run(content(resolved(resolver, http_server.url(path))))
    assert caught.value.limit == "timeout"


def test_bytes_run_out_there_too(http_server: FaultyServer) -> None:
    """The cap counts what arrives."""
    resolver = HttpResolver(schemes=["http"], allow_private=True, max_bytes=5000)

    with pytest.raises(ResolverDeniedError, match="5000 bytes allowed"):
        asyncio.run(opened(resolved(resolver, http_server.url("plain"))))


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "169.254.169.254", "::ffff:10.0.0.1", "64:ff9b::a00:1", "10.0.0.1"],
)
def test_private_addresses_are_denied_there_too(
    http_server: FaultyServer, address: str
) -> None:
    """Directly, beside a public one, and as the target of a redirect."""
    network = FakeNetwork(
        inside_example=address,
        mixed_example=[PUBLIC, address],
        public_example=PUBLIC,
    )
    resolver = HttpResolver(schemes=["http"], _network=network)
    inside = http_server.url("plain", "inside.example")
    redirect = f"to/{quote(inside, safe='')}"

    for url in (
        inside,
        http_server.url("plain", "mixed.example"),
        http_server.url(redirect, "public.example"),
    ):
        with pytest.raises(ResolverDeniedError, match="not public"):
            asyncio.run(content(resolved(resolver, url)))
    assert network.connected == [PUBLIC]
    assert [path for _, path, _ in http_server.seen] == [f"/{redirect}"]


def test_another_address_is_tried_there_too(http_server: FaultyServer) -> None:
    """One dead address among two is enough."""
    network = DeadNetwork(public_example=["1.1.1.1", PUBLIC])
    resolver = HttpResolver(schemes=["http"], _network=network)
    reader = resolved(resolver, http_server.url("plain", "public.example"))

    assert asyncio.run(in_range(reader)) == DATA[10:14]
    assert network.connected[-1] == PUBLIC


def test_signed_urls_are_not_logged_there_either(
    http_server: FaultyServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Nor the target of a redirect, which httpcore logs as a header."""
    caplog.set_level(logging.DEBUG)
    resolver = HttpResolver(schemes=["http"], allow_private=True)
    http_server.target = http_server.url("plain?sig=geheim")

    assert asyncio.run(content(resolved(resolver, http_server.url("to")))) == DATA
    assert http_server.seen[-1][1] == "/plain?sig=geheim"
    assert "geheim" not in caplog.text


def test_a_given_client_is_used_in_threads(http_server: FaultyServer) -> None:
    """It blocks, so the event loop does not wait for it."""
    with httpx.Client() as client:
        resolver = HttpResolver(client, schemes=["http"], allow_private=True)
        reader = resolved(resolver, http_server.url("plain"))

        assert asyncio.run(content(reader)) == DATA
        assert asyncio.run(opened(reader)) == DATA
        assert asyncio.run(in_range(reader)) == DATA[10:14]
        assert asyncio.run(reader.abyte_length()) == len(DATA)


def _read_in_child(reader: Reader, sender: object) -> None:
    sender.send(asyncio.run(in_range(reader)))  # type: ignore[attr-defined]


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_has_a_loop_of_its_own(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """Forked from a running loop, it reads the same while the parent goes on."""
    reader = resolved(local, http_server.url("plain"))
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    async def read() -> None:
        assert await in_range(reader) == DATA[10:14]
        child = context.Process(target=_run_forked, args=(reader, sender))
        child.start()
        assert await asyncio.to_thread(receiver.poll, 20)
        assert receiver.recv() == DATA[10:14]
        child.join(20)
        assert child.exitcode == 0
        assert await in_range(reader) == DATA[10:14]

    asyncio.run(read())


def _run_forked(reader: Reader, sender: object) -> None:
    # A forked child believes that the loop of its parent is running in it.
    asyncio._set_running_loop(None)
    _read_in_child(reader, sender)
