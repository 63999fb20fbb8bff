"""What a cache keeps, gives back, refuses and forgets."""

from __future__ import annotations

import asyncio
import logging
import time
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any, cast

import pytest
import redis
import redis.asyncio
from attrs import define
from redis.backoff import NoBackoff
from redis.crc import key_slot
from redis.exceptions import ConnectionError as NotThere
from redis.retry import Retry

from graphcodec import Codec, Conversation, Registry, TurnGate, encodable, errors
from graphcodec.cache import AsyncTurnCache, Change, TurnCache
from graphcodec.log import SessionId
from graphcodec.testing import same_graph
from tests.cache.graphs import chunk_key, grown, needed, there, turn_key
from tests.codec.samples import FORMATS, Link, Node

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    from tests.cache.servers import Client, Server

ODD_IDS = ["a:b", "*", "s*", "a\nb", "😀", "", "\ud800", "{a}b", "a" * 10_000, "\x00"]


@encodable("test.Stranger")
@define
class Stranger:
    """A class that no codec of these tests is told of."""


# Save and load


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("compression", [None, "gzip", "zstd"])
def test_every_turn_comes_back(
    client: Client,
    format_: Literal["json", "msgpack"],
    compression: Literal["gzip", "zstd"] | None,
) -> None:
    """Each turn is the graph that was saved, whatever was saved after it."""
    codec = Codec(format=format_, compression=compression)
    cache = TurnCache(client, codec=codec)
    turns = grown(30)
    for number, graph in enumerate(turns):
        cache.save("s", number, graph)

    assert cache.turns("s") == list(range(30))
    for number in range(0, 30, 3):
        assert same_graph(cache.load("s", number), turns[number])


def test_newest_turn(cache: TurnCache) -> None:
    """Without a turn, the one with the highest number is loaded."""
    for turn in (9, 10, 2):
        cache.save("s", turn, [turn])

    assert cache.load("s") == [10]
    assert cache.turns("s") == [2, 9, 10]


def test_version(client: Client, cache: TurnCache) -> None:
    """The version is that of the newest save, whatever became of its turn."""
    assert cache.version("s") == 0
    for turn in (9, 2, 2):
        saved = cache.save("s", turn, [turn])
        assert cache.version("s") == saved.version
    cache.prune("s", keep=1)
    assert cache.version("s") == 3
    assert cache.save("s", 10, [], expected=cache.version("s")).version == 4
    client.hset(turn_key("s"), "version", "many")
    assert cache.version("s") == 0
    cache.delete("s")
    assert cache.version("s") == 0


def test_a_chain_takes_few_questions(client: Client) -> None:
    """Where each object leads to the next, none costs a round trip of its own."""
    chain = Node()
    for _ in range(5_000):
        chain = Node(next=chain)
    codec, ask, asked = Codec(types=[Node, Link]), client.execute_command, count()

    def counted(*args: object, **options: object) -> object:
        next(asked)
        return ask(*args, **options)

    client.execute_command = counted
    TurnCache(client, codec=codec).save("s", 1, chain)
    TurnCache(client, codec=codec).save("s", 2, chain)
    document = TurnCache(client, codec=codec).document("s", 1)

    assert document == codec.encode(chain)
    assert next(asked) < 150


def test_another_cache_reads(client: Client) -> None:
    """What one process saved, another loads, and goes on from."""
    first, *_, last = turns = grown(40)
    TurnCache(client).save("s", 1, first)
    for number, graph in enumerate(turns, 2):
        TurnCache(client).save("s", number, graph)

    assert same_graph(TurnCache(client).load("s"), last)


def test_class(cache: TurnCache) -> None:
    """What comes out can be asked to be of a class."""
    cache.save("s", 1, Registry({"a": 1}))

    assert cache.load("s", 1, cls=Registry).get("a") == 1
    with pytest.raises(errors.UndecodableValueError, match="Conversation was asked"):
        cache.load("s", 1, cls=Conversation)


def test_not_there(cache: TurnCache) -> None:
    """A session and a turn that were not saved are told apart from an error."""
    with pytest.raises(
        errors.SnapshotNotFoundError, match="no turn of the session 's'"
    ):
        cache.load("s")
    cache.save("s", 1, None)
    with pytest.raises(errors.SnapshotNotFoundError, match="no turn 2 of the session"):
        cache.load("s", 2)
    assert cache.load("s", 1) is None


def test_failed_save_leaves_what_was(client: Client, cache: TurnCache) -> None:
    """A graph that can't be written changes nothing."""
    cache.save("s", 1, ["old"])
    before = client.dbsize()

    with pytest.raises(errors.GateNotEncodableError, match="TurnGate") as caught:
        cache.save("s", 1, {"gate": TurnGate("t", "why")})
    with pytest.raises(errors.GateNotEncodableError):
        cache.save("new", 1, {"gate": TurnGate("t", "why")})
    assert caught.value.path == "$.gate"
    assert cache.load("s", 1) == ["old"]
    assert client.dbsize() == before


def test_unreadable_tag_is_refused(client: Client) -> None:
    """What the codec of the cache could not read, it does not write."""
    with pytest.raises(errors.UnencodableValueError, match=r"test\.Stranger"):
        TurnCache(client).save("s", 1, [Stranger()])
    known = TurnCache(client, codec=Codec(types=[Stranger]))
    known.save("s", 1, [Stranger()])
    assert known.load("s") == [Stranger()]


def test_lone_surrogates(cache: TurnCache) -> None:
    """Text that JSON can't hold takes the careful way through."""
    graph = {"text": "\ud800", "many": ["\udfff" * 100] * 100}
    cache.save("s", 1, graph)

    assert cache.load("s") == graph


def test_limit(client: Client) -> None:
    """What is larger than a document may be is refused before it is sent."""
    from graphcodec import Limits  # noqa: PLC0415 - only here

    cache = TurnCache(client, codec=Codec(limits=Limits(max_bytes=2_000)))

    with pytest.raises(errors.LimitExceededError, match="max_bytes is 2,000"):
        cache.save("s", 1, grown(5)[-1])
    assert client.dbsize() == 0


# Clients


@pytest.mark.parametrize("options", [{"decode_responses": True}, {"protocol": 3}])
def test_client_of_any_kind(server: Server, options: dict[str, Any]) -> None:
    """Values are bytes, whatever the client makes of answers."""
    with server.client(**options) as client:
        client.flushdb()
        cache = TurnCache(client)
        graph = grown(20)[-1]
        cache.save("ä", 1, graph)

        assert same_graph(cache.load("ä"), graph)
        assert cache.turns("ä") == [1]
        assert [session.id for session in cache.sessions()] == ["ä"]
        assert cache.fork("ä", 1, "b") == 1
        assert cache.gc("ä").chunks == 0


@pytest.mark.parametrize("decode", [False, True])
def test_async(server: Server, *, decode: bool) -> None:
    """The async cache does what the other does, on the same data."""

    async def talk() -> None:
        options: dict[str, Any] = {"port": server.port, "decode_responses": decode}
        async with cast("Client", redis.asyncio.Redis(**options)) as client:
            await client.flushall()
            cache = AsyncTurnCache(client)
            turns = grown(10)
            for number, graph in enumerate(turns, 1):
                saved = await cache.save("s", number, graph)
                assert saved.version == number
            with pytest.raises(errors.ConflictError):
                await cache.save("s", 1, None, expected=0)
            assert same_graph(await cache.load("s", 3), turns[2])
            assert same_graph(await cache.get("s"), turns[-1])
            assert await cache.get("s", 99, "none") == "none"
            assert await cache.turns("s") == list(range(1, 11))
            assert await cache.version("s") == 10
            assert await cache.document("s") == Codec().encode(turns[-1])
            assert len(await cache.diff("s", 1, 2)) == 3
            assert await cache.fork("s", 5, "t") == 5
            assert sorted([one.id async for one in cache.sessions()]) == ["s", "t"]
            assert (await cache.prune("s", keep=1)).turns == 9
            assert (await cache.gc("s")).chunks == 0
            assert await cache.delete("s")
            assert cache.counters.misses == 1
            assert cache.counters.hits == 1

    asyncio.run(talk())


def test_wrong_client(client: Client) -> None:
    """A client of the other kind, or none, is refused when the cache is made."""
    with pytest.raises(errors.InvalidValueError, match=r"sync.*give it to TurnCache"):
        AsyncTurnCache(client)
    with pytest.raises(errors.InvalidValueError, match=r"asyncio.*to AsyncTurnCache"):
        TurnCache(redis.asyncio.Redis())
    pipelines = [client.pipeline(), redis.asyncio.Redis().pipeline()]
    for other in ("redis://localhost", None, redis.Redis, *pipelines):
        for kind in (TurnCache, AsyncTurnCache):
            with pytest.raises(errors.InvalidValueError, match=r"client of.*from_url"):
                kind(other)


def test_lost_connection_is_not_a_miss() -> None:
    """A server that is not there raises what redis-py raises, in `get` as well."""
    cache = TurnCache(redis.Redis(port=1, retry=Retry(NoBackoff(), 0)))

    with pytest.raises(NotThere):
        cache.get("s")
    with pytest.raises(NotThere):
        cache.save("s", 1, None)
    assert cache.counters.misses == 0


# Keys


def test_odd_ids(client: Client, cache: TurnCache) -> None:
    """Any text is an id, and no two of them meet."""
    for id_ in ODD_IDS:
        cache.save(id_, 1, [id_.encode(errors="surrogatepass")])

    for id_ in ODD_IDS:
        assert cache.load(id_) == [id_.encode(errors="surrogatepass")]
    assert sorted(one.id for one in cache.sessions()) == sorted(ODD_IDS)
    assert client.dbsize() == len(ODD_IDS)


def test_id_of_a_log(cache: TurnCache) -> None:
    """The name of a session in the log is one here too, as any kind of text is."""
    name = SessionId.new()
    cache.save(name, 1, [1])

    assert cache.load(str(name)) == [1]
    assert cache.fork(str(name), 1, SessionId.new()) == 1


def test_odd_namespaces(client: Client) -> None:
    """Sessions of namespaces whose joined keys would be equal stay apart."""
    pairs = [
        ("a", "b:c"),
        ("a:b", "c"),
        ("a{x}", "c"),
        ("", "c"),
        ("*", "c"),
        ("é", ""),
    ]
    for namespace, id_ in pairs:
        TurnCache(client, namespace=namespace).save(id_, 1, [namespace])

    for namespace, id_ in pairs:
        cache = TurnCache(client, namespace=namespace)
        assert cache.load(id_) == [namespace]
        assert [one.id for one in cache.sessions()] == [id_]


@pytest.mark.parametrize("namespace", ["graphcodec", "a{b}", "{}", "{", "}{"])
def test_keys_of_a_session_share_a_slot(namespace: str) -> None:
    """In a cluster, everything of one session lies in one place."""
    for id_ in ODD_IDS:
        keys = (chunk_key(id_, namespace), turn_key(id_, namespace))
        assert len({key_slot(key.encode()) for key in keys}) == 1
    slots = {key_slot(chunk_key(id_, namespace).encode()) for id_ in ODD_IDS}
    assert len(slots) > 1


@pytest.mark.parametrize("turn", [-1, True, 1.0, "1", 2**53])
def test_turn_that_is_none(cache: TurnCache, turn: Any) -> None:
    """A turn is an int from 0."""
    calls: list[Callable[[], object]] = [
        lambda: cache.save("s", turn, None),
        lambda: cache.load("s", turn),
        lambda: cache.get("s", turn),
        lambda: cache.delete("s", turn),
        lambda: cache.fork("s", turn, "t"),
    ]
    for call in calls:
        with pytest.raises(
            errors.InvalidValueError, match="turn must be an int from 0"
        ):
            call()


def test_arguments(client: Client, cache: TurnCache) -> None:
    """What can't be meant is refused with its name."""
    bad: Any = b"bytes"
    with pytest.raises(errors.InvalidValueError, match="session_id must be text"):
        cache.load(bad)
    with pytest.raises(errors.InvalidValueError, match="namespace must be text"):
        TurnCache(client, namespace=bad)
    with pytest.raises(errors.InvalidValueError, match="codec must be a Codec"):
        TurnCache(client, codec=bad)
    with pytest.raises(errors.InvalidValueError, match="expected must be a version"):
        cache.save("s", 1, None, expected=-1)
    with pytest.raises(errors.InvalidValueError, match="keep must be how many"):
        cache.prune("s", keep=-1)
    for ttl in (0, -1, True, "1", float("nan"), float("inf")):
        with pytest.raises(errors.InvalidValueError, match="ttl must be a positive"):
            TurnCache(client, ttl=cast("Any", ttl))


# Versions


def test_expected_version(cache: TurnCache) -> None:
    """A save goes through if nobody saved since the version that it expects."""
    assert cache.save("s", 1, ["a"], expected=0).version == 1
    assert cache.save("s", 1, ["b"], expected=1).version == 2
    assert cache.save("s", 2, ["c"], expected=2).version == 3

    with pytest.raises(errors.ConflictError) as caught:
        cache.save("s", 1, ["d"], expected=1)
    assert str(caught.value) == (
        "version 1 was expected, but the turn is at version 2, and the session at"
        " version 3; load what is there now, and decide what becomes of it"
    )
    assert caught.value.value == 2
    assert cache.load("s", 1) == ["b"]
    assert cache.save("s", 1, ["e"], expected=2).version == 4


def test_expected_none(cache: TurnCache) -> None:
    """Version 0 is that of a turn that does not exist."""
    cache.save("s", 1, None, expected=0)
    with pytest.raises(errors.ConflictError, match="turn is at version 1"):
        cache.save("s", 1, None, expected=0)
    with pytest.raises(errors.ConflictError, match=r"not there yet \(version 0\)"):
        cache.save("s", 2, None, expected=7)
    assert cache.save("s", 2, None, expected=0).version == 2


def test_a_save_that_is_sent_twice(client: Client, cache: TurnCache) -> None:
    """A client that sends a save again after a lost answer gets the first answer."""
    send, calls = client.execute_command, 0

    def twice(*args: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        send(*args, **options)
        return send(*args, **options)

    cache.save("s", 1, ["a"])
    client.execute_command = twice
    saved = cache.save("s", 1, ["b"], expected=1)

    assert (saved.version, calls > 0) == (2, True)
    assert cache.save("s", 1, ["c"], expected=2).version == 3


# Misses


def test_get(cache: TurnCache, caplog: pytest.LogCaptureFixture) -> None:
    """What is not there gives the default, and is counted."""
    assert cache.get("s") is None
    assert cache.get("s", 3, default="none") == "none"
    cache.save("s", 3, [3])
    assert cache.get("s", 3, default="none") == [3]

    counters = cache.counters
    assert (counters.hits, counters.misses, counters.undecodable) == (1, 2, 0)
    assert caplog.records == []


def test_get_of_what_can_not_be_read(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """A document that this codec can't read is a miss that is logged."""
    TurnCache(client, codec=Codec(types=[Stranger])).save("s", 1, [Stranger()])
    cache = TurnCache(client)

    with caplog.at_level(logging.WARNING, "graphcodec.cache"):
        assert cache.get("s", 1, "none") == "none"
    assert (cache.counters.misses, cache.counters.undecodable) == (1, 1)
    assert "turn 1 of the session 's' can't be read: E_UNDECODABLE" in caplog.text


# Deleting


def test_delete_session(client: Client, cache: TurnCache) -> None:
    """A session that is deleted leaves nothing, and can begin again."""
    cache.save("s", 1, grown(3)[-1])

    assert cache.delete("s") is True
    assert cache.delete("s") is False
    assert client.dbsize() == 0
    assert cache.save("s", 1, grown(3)[-1]).version == 1
    assert same_graph(cache.load("s"), grown(3)[-1])


def test_delete_turn(client: Client, cache: TurnCache) -> None:
    """A turn that is deleted is gone, and what only it needed goes with `gc`."""
    turns = grown(9)
    for number, graph in enumerate(turns):
        cache.save("s", number, graph)

    assert cache.delete("s", 8)
    assert not cache.delete("s", 8)
    freed = cache.gc("s")
    assert freed.chunks > 0
    assert freed.bytes > 0
    assert there(client) == needed(client)
    assert same_graph(cache.load("s"), turns[7])


def test_prune(client: Client, cache: TurnCache) -> None:
    """Old turns go, and what the newer ones need stays."""
    turns = grown(30)
    for number, graph in enumerate(turns):
        cache.save("s", number, graph)

    assert cache.prune("s", keep=2).turns == 28
    assert cache.turns("s") == [28, 29]
    assert there(client) == needed(client)
    assert same_graph(cache.load("s", 28), turns[28])
    assert cache.prune("s", keep=0).turns == 2
    assert there(client) == set()
    assert cache.gc("nobody").chunks == 0


def test_after_a_sweep_what_was_known_is_sent_again(cache: TurnCache) -> None:
    """A cache does not trust what it saved once to be there still."""
    turns = grown(40)
    for number, graph in enumerate(turns):
        cache.save("s", number, graph)
    cache.prune("s", keep=0)
    cache.save("s", 40, turns[-1])

    assert same_graph(cache.load("s"), turns[-1])


def test_time_to_live(client: Client) -> None:
    """A session lives as long as it is saved to, all of it or nothing."""
    cache = TurnCache(client, ttl=timedelta(seconds=0.6))
    old, new = grown(2)
    cache.save("s", 1, old)
    time.sleep(0.35)
    cache.save("s", 2, new)
    time.sleep(0.35)

    # The time of turn 1 would have passed, whose chunks turn 2 needs.
    assert same_graph(cache.load("s", 2), new)
    assert same_graph(cache.load("s", 1), old)
    time.sleep(0.4)
    with pytest.raises(errors.SnapshotNotFoundError):
        cache.load("s", 2)
    assert cache.save("s", 3, new).version == 1
    assert same_graph(cache.load("s", 3), new)


# Looking around


def test_fork(cache: TurnCache) -> None:
    """A fork has the turns up to one, and a life of its own."""
    turns = grown(30)
    for number, graph in enumerate(turns):
        cache.save("s", number, graph)

    assert cache.fork("s", 20, "t") == 21
    cache.delete("s")
    assert cache.turns("t") == list(range(21))
    assert same_graph(cache.load("t"), turns[20])
    assert cache.gc("t").chunks == 0
    cache.save("t", 21, turns[21])
    assert same_graph(cache.load("t"), turns[21])


def test_fork_refuses(cache: TurnCache) -> None:
    """A fork needs a turn that is there, and a session that is not."""
    cache.save("s", 1, [1])
    cache.save("t", 1, [2])

    with pytest.raises(errors.SnapshotNotFoundError, match="no turn 5"):
        cache.fork("s", 5, "u")
    with pytest.raises(errors.ConflictError, match=r"a session of that id.*version 1"):
        cache.fork("s", 1, "t")
    assert cache.load("t") == [2]


def test_diff(cache: TurnCache) -> None:
    """A diff has a path for each difference, in the order of the document."""
    old = grown(40)[-1]
    items: list[Any] = list(old.items)
    items[3] = items[3].replace(content="something else")
    new = old.replace(items=items[:-1], instructions=("be brief",))
    cache.save("s", 1, old)
    cache.save("s", 2, new)

    assert cache.diff("s", 1, 2) == (
        Change("changed", "$.items[3].content.text"),
        Change("removed", "$.items[119]"),
        Change("added", "$.instructions[0]"),
    )
    assert cache.diff("s", 1, 1) == ()
    assert cache.diff("s", 2, 1)[1] == Change("added", "$.items[119]")


def test_diff_of_cycles(cache: TurnCache) -> None:
    """Graphs that contain themselves are compared once all over."""
    graphs: list[list[Any]] = []
    for number in (1, 2):
        graph: list[Any] = [["x" * 300], number, "x" * 300]
        graph[0].append(graph)
        graphs.append(graph)
        cache.save("s", number, graph)

    assert cache.diff("s", 1, 2) == (Change("changed", "$[1]"),)


def test_sessions(client: Client) -> None:
    """Each session is told of with its size and its time."""
    cache = TurnCache(client, ttl=100)
    for number, graph in enumerate(grown(4)):
        cache.save("s", number, graph)
    client.set("graphcodec:{}:turn", "somebody else's")
    (one,) = cache.sessions()

    assert (one.id, one.turns, one.version) == ("s", 4, 4)
    assert one.chunks == len(there(client))
    assert one.bytes > 4_000
    assert one.ttl is not None
    assert 90 < one.ttl <= 100


def test_document(cache: TurnCache) -> None:
    """A snapshot can be had as the document that it was cut from."""
    graph = grown(40)[-1]
    cache.save("s", 1, graph)

    assert cache.document("s") == Codec().encode(graph)
