"""What 500 turns cost when they are saved one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graphcodec import Codec
from graphcodec.cache import TurnCache
from graphcodec.testing import same_graph
from tests.cache.graphs import chunk_key, grown, turn_key

if TYPE_CHECKING:
    from tests.cache.servers import Client


def check_cost(client: Client, count: int) -> None:
    """Verify what *count* turns cost, and that each of them can be loaded."""
    turns = grown(count)
    cache = TurnCache(client)
    written: list[int] = []
    received: list[int] = []
    for number, graph in enumerate(turns, 1):
        before = client.info("stats")["total_net_input_bytes"]
        written.append(cache.save("s", number, graph).bytes_written)
        received.append(client.info("stats")["total_net_input_bytes"] - before)
    final = len(Codec().encode(turns[-1]))
    tables = [client.hgetall(key) for key in (chunk_key(), turn_key())]
    stored = sum(len(f) + len(v) for table in tables for f, v in table.items())

    assert sum(written) <= 3 * final
    assert stored <= 3 * final
    assert received[-1] <= 1.5 * received[count // 10 - 1]
    for number in range(1, count + 1, max(1, count // 50)):
        assert same_graph(cache.load("s", number), turns[number - 1])


def test_growing_conversation(client: Client) -> None:
    """All saves together cost three times the last snapshot, and the last no more."""
    check_cost(client, 150)


@pytest.mark.long
def test_five_hundred_turns(client: Client) -> None:
    """The same with 500 turns."""
    check_cost(client, 500)
