"""Who sends a request: blocking, with a client of the application's, or awaited.

Requests are made, followed and checked in one place, which awaits what is here. Two of
the senders never wait for an event loop, so that what awaits them can be run by
`finish`, without one.
"""

from __future__ import annotations

import logging
import math
import time
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

import anyio
import httpcore
import httpx

from graphcodec_resolvers._async_network import AsyncVettedTransport
from graphcodec_resolvers._network import DEADLINE, VettedTransport, vetted_addresses
from graphcodec_resolvers._urls import port_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Coroutine, Iterator

    from graphcodec_resolvers._network import Network
    from graphcodec_resolvers._policy import Policy

T = TypeVar("T")

_BEYOND: Final = 416


def finish(work: Coroutine[object, object, T]) -> T:
    """Run a coroutine that waits for no event loop, and return what it returns.

    Args:
        work: The coroutine; what it awaits blocks instead.
    """
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    work.close()
    raise RuntimeError("a blocking request waited for an event loop")


class Answer(Protocol):
    """A response, with its body still unread."""

    @property
    def status(self) -> int:
        """The status."""
        ...

    @property
    def headers(self) -> httpx.Headers:
        """The headers."""
        ...

    async def read(self) -> bytes:
        """Return the next bytes of the body as they came; none at its end."""
        ...

    async def close(self) -> None:
        """Let go of the connection, which is kept if the body was read to its end."""
        ...


class Sender(Protocol):
    """Sends one request; follows nothing, adds nothing."""

    async def send(self, request: httpx.Request, /) -> Answer:
        """Return the response."""
        ...

    async def sleep(self, seconds: float, /) -> None:
        """Wait before another try."""
        ...

    async def close(self) -> None:
        """Let go of connections that are ours."""
        ...


class _BlockingAnswer:
    def __init__(self, response: httpx.Response) -> None:
        self.status = response.status_code
        self.headers = response.headers
        self._response = response
        if response.status_code == _BEYOND:
            self._chunks: Iterator[bytes] = iter(())
        elif response.is_stream_consumed:
            # Transports that make answers up have read them already.
            self._chunks = iter([response.content])
        else:
            self._chunks = response.iter_raw()

    async def read(self) -> bytes:
        return next(self._chunks, b"")

    async def close(self) -> None:
        self._response.close()


class _BlockingSender:
    """What the two senders that block have in common."""

    def __init__(self, network: Network) -> None:
        self._network = network

    async def sleep(self, seconds: float, /) -> None:
        self._network.sleep(seconds)

    async def close(self) -> None:
        """Do nothing where the client is the application's."""


class OwnSender(_BlockingSender):
    """Sends over connections that were vetted.

    Args:
        network: Resolves and connects.
        policy: Says whether all addresses are good.
    """

    def __init__(self, network: Network, policy: Policy) -> None:
        super().__init__(network)
        self._transport = VettedTransport(network, allow_private=policy.allow_private)

    async def send(self, request: httpx.Request, /) -> Answer:
        """Return the response."""
        return _BlockingAnswer(self._transport.handle_request(request))

    async def close(self) -> None:
        """Close all connections."""
        self._transport.close()


class ClientSender(_BlockingSender):
    """Sends with a client of the application's.

    The client connects by itself, so it is given the address that was checked instead
    of the name. A connection made for one name must not serve another one at the same
    address, whose certificate was never looked at: none is kept.

    Args:
        client: What sends.
        network: Resolves names.
        policy: Says whether all addresses are good.
    """

    def __init__(self, client: httpx.Client, network: Network, policy: Policy) -> None:
        super().__init__(network)
        self._client = client
        self._allow_private = policy.allow_private

    async def send(self, request: httpx.Request, /) -> Answer:
        """Return the response."""
        if not self._allow_private:
            request = self._addressed(request)
        # The headers, cookies and credentials of the client are not for any server.
        response = self._client.send(
            request, stream=True, auth=None, follow_redirects=False
        )
        return _BlockingAnswer(response)

    def _addressed(self, request: httpx.Request) -> httpx.Request:
        url = request.url
        host, port = url.raw_host.decode("ascii"), port_of(url)
        address = vetted_addresses(self._network, host, port, allow_private=False)[0]
        headers = httpx.Headers(request.headers)
        headers["Connection"] = "close"
        extensions = {**request.extensions, "sni_hostname": host}
        return httpx.Request(
            "GET", url.copy_with(host=address), headers=headers, extensions=extensions
        )


class _AwaitedAnswer:
    def __init__(self, response: httpx.Response) -> None:
        self.status = response.status_code
        self.headers = response.headers
        self._response = response
        self._chunks = response.aiter_raw()

    async def read(self) -> bytes:
        if self.status == _BEYOND:
            return b""
        return await _in_time(anext(self._chunks, b""))

    async def close(self) -> None:
        await self._response.aclose()


class AwaitedSender:
    """Sends over connections that were vetted and belong to one event loop.

    Args:
        network: Resolves and connects.
        policy: Says whether all addresses are good.
    """

    def __init__(self, network: Network, policy: Policy) -> None:
        self._network = network
        self._transport = AsyncVettedTransport(
            network, allow_private=policy.allow_private
        )

    async def send(self, request: httpx.Request, /) -> Answer:
        """Return the response."""
        answer = self._transport.handle_async_request(request)
        return _AwaitedAnswer(await _in_time(answer))

    async def sleep(self, seconds: float, /) -> None:
        """Wait without blocking the event loop."""
        await self._network.asleep(seconds)

    async def close(self) -> None:
        """Close all connections."""
        await self._transport.aclose()


async def _in_time(work: Awaitable[T]) -> T:
    """Await *work*, but not beyond the deadline, however little it does at a time."""
    try:
        with anyio.fail_after(DEADLINE.get() - time.monotonic()):
            return await work
    except TimeoutError:
        raise httpcore.ReadTimeout from None


class _Quiet(logging.Filter):
    """Stops what httpx and httpcore log about a request of ours.

    They log whole URLs, and headers such as the signed target of a redirect.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        del record
        return DEADLINE.get() == math.inf


_QUIET: Final = _Quiet()
_LOUD: Final = ("connection", "http11", "http2", "proxy", "socks")


def hush() -> None:
    """Keep requests of ours out of the logs; calling it again does nothing."""
    for logger in ("httpx", *(f"httpcore.{name}" for name in _LOUD)):
        logging.getLogger(logger).addFilter(_QUIET)
