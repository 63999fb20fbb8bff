"""A cluster, of one node: keys of two slots can't meet in one command there either."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import pytest
import redis
import redis.asyncio
import redis.cluster

from graphcodec.cache import AsyncTurnCache, TurnCache
from graphcodec.testing import same_graph
from tests.cache.graphs import grown
from tests.cache.servers import Client, Server, clustered

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def cluster() -> Iterator[Server]:
    """A server that is a cluster by itself."""
    with clustered() as server:
        yield server


def test_cluster(cluster: Server) -> None:
    """Both caches do all they do through clients of a cluster."""
    turns = grown(12)
    options: dict[str, Any] = {"host": "127.0.0.1", "port": cluster.port}
    for decode in (False, True):
        client = redis.cluster.RedisCluster(**options, decode_responses=decode)
        cache = TurnCache(client)
        for number, graph in enumerate(turns):
            cache.save("s", number, graph)
        assert cache.fork("s", 5, "t") == 6
        assert same_graph(cache.load("t"), turns[5])
        assert sorted(session.id for session in cache.sessions()) == ["s", "t"]
        assert cache.prune("s", keep=1).turns == 11
        assert cache.delete("t")
        client.close()

    async def talk() -> None:
        client = cast("Client", redis.asyncio.RedisCluster(**options))
        cache = AsyncTurnCache(client)
        assert same_graph(await cache.load("s"), turns[-1])
        assert [session.id async for session in cache.sessions()] == ["s"]
        assert await cache.delete("s")
        await client.aclose()

    asyncio.run(talk())
