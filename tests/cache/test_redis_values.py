"""Values in Redis that were damaged, or written by somebody else."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from graphcodec import Codec, Limits, Registry, errors
from graphcodec._cache._chunks import address_of, addresses_in, pack
from graphcodec.cache import TurnCache
from graphcodec.testing import same_graph
from tests.cache.graphs import chunk_key, grown, turn_key

if TYPE_CHECKING:
    from tests.cache.servers import Client


def test_changed_chunk(client: Client, cache: TurnCache) -> None:
    """A chunk that was changed is an error that names it."""
    cache.save("s", 1, grown(9)[-1])
    stored: dict[bytes, bytes] = client.hgetall(chunk_key())
    address, value = next((a, v) for a, v in stored.items() if b"customer" in v)
    client.hset(chunk_key(), address, value.replace(b"customer", b"customes"))

    with pytest.raises(errors.UndecodableValueError, match="was changed") as caught:
        cache.load("s")
    assert address.hex()[:12] in str(caught.value)
    assert cache.get("s", 1, "none") == "none"


def test_missing_chunk(client: Client, cache: TurnCache) -> None:
    """A chunk that is missing is an error that names it, and a save brings it back."""
    graph = grown(9)[-1]
    cache.save("s", 1, graph)
    client.delete(chunk_key())

    with pytest.raises(errors.UndecodableValueError, match=r"chunk .* is not in Redis"):
        cache.load("s")
    cache.save("s", 2, graph)
    assert same_graph(cache.load("s", 1), graph)


def test_any_damage(client: Client, cache: TurnCache) -> None:
    """Whatever a byte becomes, the outcome is the graph or an error of ours."""
    graph = grown(3)[-1]
    cache.save("s", 1, graph)
    damage = random.Random(7)  # noqa: S311 - for damage, not for secrets
    for key in (chunk_key(), turn_key()):
        for field, value in client.hgetall(key).items():
            for _ in range(10):
                at = damage.randrange(len(value))
                how = damage.choice([bytes([damage.randrange(256)]), b"", b"\xff" * 9])
                client.hset(key, field, value[:at] + how + value[at + 1 :])
                try:
                    found = cache.load("s", 1)
                except errors.GraphCodecError:
                    continue
                assert same_graph(found, graph)
            client.hset(key, field, value)
    assert same_graph(cache.load("s", 1), graph)


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\xff\xff\xff\xff",
        b"\x00\x00\x00\x01short",
        b"\x00\x00\x00\x00",
        b"\x00\x00\x00\x00" + b"\x91" * 100_000,
        b"\x00\x00\x00\x00\x92\x91\x00\xc4\x00",
        b"\x00\x00\x00\x00\x92\x91\x05\xc4\x00",
        pack([], b""),
        pack([], b"[" * 1_000_000),
        pack([], b'{"graphcodec":1,"root":{"$type":"$ref","n":0}}'),
    ],
)
def test_forged_root(client: Client, cache: TurnCache, value: bytes) -> None:
    """A root that no save wrote is an error of ours, also with the right hash."""
    cache.save("s", 1, [1])
    stored = b"0" * 15 + b"1" + address_of(value) + value
    client.hset(turn_key(), "1", stored)

    with pytest.raises(errors.GraphCodecError):
        cache.load("s", 1)
    with pytest.raises(errors.GraphCodecError):
        cache.diff("s", 1, 1)


def test_planted_fields(client: Client, cache: TurnCache) -> None:
    """What somebody else wrote among the turns is no turn, and stops nothing."""
    graph = grown(3)[-1]
    cache.save("s", 1, graph)
    for name in ("007", "-1", "9" * 5_000, "9" * 16, "²", "1.0", ""):
        client.hset(turn_key(), name, "x")
    client.hset(turn_key(), "version", "many")

    assert cache.turns("s") == [1]
    assert same_graph(cache.load("s"), graph)
    assert [(one.turns, one.version) for one in cache.sessions()] == [(1, 0)]
    assert cache.save("s", 2, graph).version == 1
    assert cache.prune("s", keep=1).turns == 1
    assert same_graph(cache.load("s"), graph)


@pytest.mark.parametrize("value", [b"", b"x", b"\xff" * 4, b"\xff" * 100])
def test_sweep_of_forged_values(client: Client, cache: TurnCache, value: bytes) -> None:
    """A value that claims links which it has not is not followed, nor kills a sweep."""
    graph = grown(9)[-1]
    cache.save("s", 1, graph)
    client.hset(turn_key(), "2", b"0" * 48 + value)
    cache.save("s", 3, [Registry({"a": "x" * 300})])
    address = next(iter(addresses_in(client.hget(turn_key(), "3")[48:])))
    client.hset(chunk_key(), address, value)

    assert cache.gc("s").chunks == 0
    assert same_graph(cache.load("s", 1), graph)


def test_planted_keys(client: Client, cache: TurnCache) -> None:
    """Keys that look like those of sessions, and are none, are passed over."""
    cache.save("s", 1, [1])
    client.set("graphcodec:{a}:turns", "text")
    client.hset("graphcodec:{b}:turns", "session", "s")
    client.hset("graphcodec:{c}:turns", "session", b"\xff")
    client.hset("graphcodec:{d}:turns", "version", "1")

    assert [one.id for one in cache.sessions()] == ["s"]


def test_too_large(client: Client) -> None:
    """A snapshot that is larger than this codec allows is refused when it is read."""
    TurnCache(client).save("s", 1, grown(50)[-1])
    small = TurnCache(client, codec=Codec(limits=Limits(max_bytes=3_000)))

    with pytest.raises(errors.LimitExceededError, match="max_bytes is 3,000"):
        small.load("s")


def test_replaced_while_it_is_read(client: Client, cache: TurnCache) -> None:
    """A load that finds its chunks gone looks once more for what there is now."""
    cache.save("s", 1, grown(40)[-1])
    ask, other = client.execute_command, TurnCache(client)

    def meanwhile(*args: object, **options: object) -> object:
        if args[0] == "HMGET" and client.execute_command is meanwhile:
            client.execute_command = ask
            other.save("s", 1, ["new"])
            other.gc("s")
        return ask(*args, **options)

    client.execute_command = meanwhile
    assert cache.load("s", 1) == ["new"]


def test_swept_while_it_is_saved(client: Client, cache: TurnCache) -> None:
    """A sweep between the parts of a large save makes it send again what went."""
    graph = [grown(2)[-1], ["x" * 100_000 + str(n) for n in range(64)]]
    send, other, swept = client.execute_command, TurnCache(client), 0

    def meanwhile(*args: object, **options: object) -> object:
        nonlocal swept
        answer = send(*args, **options)
        if answer == [b"saved", 0] and swept < 3:
            swept += 1
            client.execute_command = send
            assert other.gc("s").chunks > 0
            client.execute_command = meanwhile
        return answer

    client.execute_command = meanwhile
    cache.save("s", 1, graph)
    client.execute_command = send

    assert swept == 3
    assert same_graph(cache.load("s"), graph)
    assert cache.gc("s").chunks == 0


def test_sweeps_without_end(client: Client, cache: TurnCache) -> None:
    """If what is stored vanishes every time, the save gives up in words."""
    graph = ["x" * 100_000 + str(n) for n in range(64)]
    send, key = client.execute_command, chunk_key()

    def meanwhile(*args: object, **options: object) -> object:
        answer = send(*args, **options)
        send("DEL", key)
        return answer

    client.execute_command = meanwhile
    with pytest.raises(errors.StorageError, match="vanish as fast as they are stored"):
        cache.save("s", 1, graph)


def test_early_change_sends_little(client: Client, cache: TurnCache) -> None:
    """A change of an early message does not send what is there already."""
    old = grown(200)[-1]
    items = list(old.items)
    items[3] = items[3].replace(id="changed")
    first = cache.save("s", 1, old).bytes_written
    second = cache.save("s", 2, old.replace(items=items)).bytes_written

    assert second < first / 20
    assert same_graph(cache.load("s", 2), old.replace(items=items))
    roots = client.hget(turn_key(), "2")
    assert isinstance(roots, bytes)
    assert len(addresses_in(roots[48:])) < 40
