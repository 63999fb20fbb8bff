"""A server for all tests of the cache, and clients of every kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graphcodec.cache import TurnCache
from tests.cache.servers import Client, Server, started

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session", params=["valkey", "redis"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server without files."""
    kind: str = request.param
    server = started(kind)
    yield server
    server.stop()


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    """A client of a server that holds nothing."""
    with server.client() as client:
        client.flushall()
        yield client


@pytest.fixture
def cache(client: Client) -> TurnCache:
    """A cache that has saved nothing."""
    return TurnCache(client)


@pytest.fixture
def durable() -> Iterator[Server]:
    """A server on which each write is on disk before it is answered."""
    server = started(durable=True)
    yield server
    server.stop()
