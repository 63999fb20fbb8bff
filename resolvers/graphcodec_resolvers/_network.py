"""Connections that go to the address that was checked.

A check of the name in a URL proves nothing: names resolve to what their owner likes,
and to something else the next time. So the name is resolved once, all its addresses
are checked, and the connection is made to one of these; the certificate and the Host
header still go by the name.
"""

from __future__ import annotations

import math
import os
import socket
import time
import weakref
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, Protocol, cast

import anyio
import httpcore
import httpx

from graphcodec_resolvers._addresses import is_public
from graphcodec_resolvers._tally import Tally

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable, Iterator


KEPT: Final = 8
"""How many connections are kept for the next request."""

KEPT_FOR: Final = 15.0
"""How long they are kept, in seconds."""

DEADLINE: ContextVar[float] = ContextVar("DEADLINE", default=math.inf)
"""When the request that is waited for must be over, on the monotonic clock."""


class ForbiddenAddressError(Exception):
    """A host has an address that the policy does not let us connect to."""


class Network:
    """What reaches the outside; tests put another in its place."""

    def addresses(self, host: str, port: int) -> list[str]:
        """Return the addresses of *host*, in the order of preference.

        Args:
            host: A name or address.
            port: The port that will be used.
        """
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(entry[4][0]) for entry in found))

    def admits(self, address: str) -> bool:
        """Say whether a strict policy lets us connect to *address*.

        Args:
            address: An IP address.
        """
        return is_public(address)

    def connect(
        self, address: str, port: int, timeout: float | None
    ) -> httpcore.NetworkStream:
        """Return a connection.

        Args:
            address: An IP address that was checked.
            port: The port.
            timeout: How long to wait, in seconds.
        """
        return httpcore.SyncBackend().connect_tcp(address, port, timeout)

    async def aconnect(
        self, address: str, port: int, longest: float | None
    ) -> httpcore.AsyncNetworkStream:
        """Return a connection of the running event loop.

        Args:
            address: An IP address that was checked.
            port: The port.
            longest: How long to wait, in seconds.
        """
        backend = cast("httpcore.AsyncNetworkBackend", httpcore.AnyIOBackend())
        return await backend.connect_tcp(address, port, longest)

    def trust(self) -> ssl.SSLContext:
        """Return what decides which certificates are good."""
        return httpx.create_ssl_context(trust_env=False)

    def sleep(self, seconds: float) -> None:
        """Wait.

        Args:
            seconds: How long.
        """
        time.sleep(seconds)

    async def asleep(self, seconds: float) -> None:
        """Wait without blocking the event loop.

        Args:
            seconds: How long.
        """
        await anyio.sleep(seconds)


def vetted_addresses(
    network: Network, host: str, port: int, *, allow_private: bool
) -> list[str]:
    """Return the addresses of *host* if every one of them may be used.

    Args:
        network: Resolves the name.
        host: A name or address.
        port: The port that will be used.
        allow_private: Whether all addresses are good.

    Raises:
        ForbiddenAddressError: If one may not be used; a mixed answer is a trick.
        httpcore.ConnectError: If the name has no address.
    """
    try:
        addresses = network.addresses(host, port)
    except (OSError, UnicodeError):
        addresses = []
    if not addresses:
        raise httpcore.ConnectError("the host has no address")
    if not allow_private and not all(map(network.admits, addresses)):
        raise ForbiddenAddressError
    return addresses


class _TimedStream(httpcore.NetworkStream):
    """A connection that keeps the deadline of whoever uses it at the moment.

    httpcore limits each single read, so a server that sends a byte of a header now and
    then could hold us for hours.
    """

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream
        self.tally = Tally()

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = self._stream.read(max_bytes, _left(timeout, httpcore.ReadTimeout))
        self.tally.came(data)
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.tally.sent()
        self._stream.write(buffer, _left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        left = _left(timeout, httpcore.ConnectTimeout)
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


def _left(timeout: float | None, late: type[httpcore.TimeoutException]) -> float:
    left = DEADLINE.get() - time.monotonic()
    if left <= 0:
        raise late
    return left if timeout is None else min(timeout, left)


class _VettedBackend(httpcore.NetworkBackend):
    """Connects to addresses that were checked, whatever the name is."""

    def __init__(self, network: Network, *, allow_private: bool) -> None:
        self._network = network
        self._allow_private = allow_private

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Resolve, check, and connect to the first address that answers."""
        del local_address, socket_options
        addresses = vetted_addresses(
            self._network, host, port, allow_private=self._allow_private
        )
        for address in addresses[:-1]:
            try:
                return self._connect(address, port, timeout)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return self._connect(addresses[-1], port, timeout)

    def _connect(
        self, address: str, port: int, timeout: float | None
    ) -> httpcore.NetworkStream:
        left = _left(timeout, httpcore.ConnectTimeout)
        return _TimedStream(self._network.connect(address, port, left))


class _Closing(Protocol):
    def close(self) -> None: ...


class _Body(httpx.SyncByteStream):
    """The body of a response of httpcore, as httpx wants it."""

    def __init__(self, stream: Iterable[bytes], connection: _TimedStream) -> None:
        self._stream = stream
        self._connection = connection
        self._length = 0

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            self._length += len(chunk)
            yield chunk

    def close(self) -> None:
        if not self._connection.tally.is_exact(self._length):
            # Before it goes back to the pool, which drops those that are closed.
            self._connection.close()
        cast("_Closing", self._stream).close()


def core_request(request: httpx.Request) -> httpcore.Request:
    """Return a request without a body as httpcore wants it.

    Args:
        request: The request.
    """
    return httpcore.Request(
        request.method,
        httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        ),
        headers=request.headers.raw,
        extensions=request.extensions,
    )


class VettedTransport(httpx.BaseTransport):
    """Sends requests over a pool of vetted connections; reads no environment.

    Args:
        network: Resolves and connects.
        allow_private: Whether all addresses are good.
    """

    def __init__(self, network: Network, *, allow_private: bool) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=network.trust(),
            max_connections=None,
            max_keepalive_connections=KEPT,
            keepalive_expiry=KEPT_FOR,
            network_backend=_VettedBackend(network, allow_private=allow_private),
        )
        # A child that was forked must not say goodbye on its parent's connections.
        self._closing = weakref.finalize(self, _close_pool, self._pool, os.getpid())

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send *request*; errors are those of httpcore."""
        response = self._pool.handle_request(core_request(request))
        extensions = cast("dict[str, object]", response.extensions)  # pyright: ignore[reportUnknownMemberType] - httpcore says dict
        connection = cast("_TimedStream", extensions["network_stream"])
        body = _Body(cast("Iterable[bytes]", response.stream), connection)
        return httpx.Response(response.status, headers=response.headers, stream=body)

    def close(self) -> None:
        """Close all connections."""
        self._closing()


def _close_pool(pool: httpcore.ConnectionPool, made_in: int) -> None:
    if made_in == os.getpid():
        pool.close()
