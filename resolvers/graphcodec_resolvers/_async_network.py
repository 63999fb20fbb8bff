"""The connections of an event loop: vetted like those that block."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

import httpcore
import httpx

from graphcodec.readers._threads import in_thread
from graphcodec_resolvers._network import (
    KEPT,
    KEPT_FOR,
    Network,
    core_request,
    vetted_addresses,
)
from graphcodec_resolvers._tally import Tally

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterable, AsyncIterator, Iterable


class _CountedStream(httpcore.AsyncNetworkStream):
    """A connection that counts what comes; whoever awaits it keeps the deadline."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        self.tally = Tally()

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - the interface of httpcore
        data = await self._stream.read(max_bytes, timeout)
        self.tally.came(data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109 - the same
        self.tally.sent()
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 - the same
    ) -> httpcore.AsyncNetworkStream:
        inner = await self._stream.start_tls(ssl_context, server_hostname, timeout)
        return _CountedStream(inner)

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


class _AsyncVettedBackend(httpcore.AsyncNetworkBackend):
    """Connects to addresses that were checked, whatever the name is."""

    def __init__(self, network: Network, *, allow_private: bool) -> None:
        self._network = network
        self._allow_private = allow_private

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the interface of httpcore
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Resolve, check, and connect to the first address that answers."""
        del local_address, socket_options
        addresses = await in_thread(
            vetted_addresses,
            self._network,
            host,
            port,
            allow_private=self._allow_private,
        )
        for address in addresses[:-1]:
            try:
                return await self._connect(address, port, timeout)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._connect(addresses[-1], port, timeout)

    async def _connect(
        self, address: str, port: int, longest: float | None
    ) -> httpcore.AsyncNetworkStream:
        return _CountedStream(await self._network.aconnect(address, port, longest))


class _Closing(Protocol):
    async def aclose(self) -> None: ...


class _Body(httpx.AsyncByteStream):
    """The body of a response of httpcore, as httpx wants it."""

    def __init__(
        self, stream: AsyncIterable[bytes], connection: _CountedStream
    ) -> None:
        self._stream = stream
        self._connection = connection
        self._length = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._length += len(chunk)
            yield chunk

    async def aclose(self) -> None:
        if not self._connection.tally.is_exact(self._length):
            # Before it goes back to the pool, which drops those that are closed.
            await self._connection.aclose()
        await cast("_Closing", self._stream).aclose()


class AsyncVettedTransport(httpx.AsyncBaseTransport):
    """Sends requests over a pool of vetted connections; reads no environment.

    Args:
        network: Resolves and connects.
        allow_private: Whether all addresses are good.
    """

    def __init__(self, network: Network, *, allow_private: bool) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=network.trust(),
            max_connections=None,
            max_keepalive_connections=KEPT,
            keepalive_expiry=KEPT_FOR,
            network_backend=_AsyncVettedBackend(network, allow_private=allow_private),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send *request*; errors are those of httpcore."""
        response = await self._pool.handle_async_request(core_request(request))
        extensions = cast("dict[str, object]", response.extensions)  # pyright: ignore[reportUnknownMemberType] - httpcore says dict
        connection = cast("_CountedStream", extensions["network_stream"])
        body = _Body(cast("AsyncIterable[bytes]", response.stream), connection)
        return httpx.Response(response.status, headers=response.headers, stream=body)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()
