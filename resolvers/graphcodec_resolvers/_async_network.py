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

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator, Iterable


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
                return await self._network.aconnect(address, port, timeout)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._network.aconnect(addresses[-1], port, timeout)


class _Closing(Protocol):
    async def aclose(self) -> None: ...


class _Body(httpx.AsyncByteStream):
    """The body of a response of httpcore, as httpx wants it."""

    def __init__(self, stream: AsyncIterable[bytes]) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            yield chunk

    async def aclose(self) -> None:
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
        body = _Body(cast("AsyncIterable[bytes]", response.stream))
        return httpx.Response(response.status, headers=response.headers, stream=body)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()
