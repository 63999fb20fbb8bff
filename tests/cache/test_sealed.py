"""A cache whose codec has a seal: what a stranger at Redis can do, and see."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import pytest

from graphcodec import Codec, Seal, errors
from graphcodec.cache import TurnCache
from graphcodec.testing import same_graph
from tests.cache.graphs import chunk_key, grown, turn_key
from tests.codec.samples import Link, Node

if TYPE_CHECKING:
    from graphcodec._compressing import Compression
    from graphcodec._seal import Mode
    from tests.cache.servers import Client

KEYS: Final = {"old": os.urandom(32), "new": os.urandom(32)}
MODES: Final[tuple[Mode, ...]] = ("sign", "encrypt")

modes = pytest.mark.parametrize("mode", MODES)


def sealed(
    client: Client,
    mode: Mode,
    *,
    keys: tuple[str, ...] = ("old", "new"),
    compression: Compression | None = None,
) -> TurnCache:
    """Return a cache that seals with the last of some keys."""
    seal = Seal({name: KEYS[name] for name in keys}, mode=mode, current=keys[-1])
    types = [Node, Link]
    return TurnCache(
        client, codec=Codec(types=types, seal=seal, compression=compression)
    )


def stored(client: Client, session: str = "s") -> dict[tuple[str, bytes], bytes]:
    """Return every value of a session by its key and field."""
    keys = (chunk_key(session), turn_key(session))
    return {(k, f): v for k in keys for f, v in client.hgetall(k).items()}


@modes
@pytest.mark.parametrize("compression", [None, "gzip"])
def test_comes_back(
    client: Client, mode: Mode, compression: Compression | None
) -> None:
    """Snapshots come back from the same cache, from another one, and from a fork."""
    turns = grown(12)
    cache = sealed(client, mode, compression=compression)
    for number, graph in enumerate(turns, 1):
        cache.save("s", number, graph)
    cache.fork("s", 9, "fork")

    for reader in (cache, sealed(client, mode)):
        for number in range(1, 13):
            assert same_graph(reader.load("s", number), turns[number - 1])
        assert reader.turns("fork") == list(range(1, 10))
        assert same_graph(reader.load("fork"), turns[8])
        kinds = {change.path for change in reader.diff("s", 2, 3)}
        assert kinds == {"$.items[6]", "$.items[7]", "$.items[8]"}
    assert cache.gc("s").chunks == cache.gc("fork").chunks == 0


@modes
def test_sharing_and_cycles_come_back(client: Client, mode: Mode) -> None:
    """Equal copies stay apart and cycles stay closed, in a fork as well."""
    knots = [Node(any="x" * 300) for _ in range(2)]
    for knot in knots:
        knot.nodes.append(knot)
    shared = Node(any="y" * 300)
    graph = [*knots, shared, shared, Node(any="y" * 300)]
    cache = sealed(client, mode)

    cache.save("s", 0, graph)
    cache.fork("s", 0, "fork")

    assert same_graph(cache.load("s"), graph)
    assert same_graph(cache.load("fork"), graph)


@modes
def test_each_save_sends_what_is_new(client: Client, mode: Mode) -> None:
    """A seal takes nothing from the point of it."""
    turns = grown(40)
    cache = sealed(client, mode)
    written = [cache.save("s", n, graph).bytes_written for n, graph in enumerate(turns)]

    assert written[-1] <= 1.6 * written[5]
    if mode == "sign":
        again = sealed(client, mode).save("s", 50, turns[-1])
        assert again.bytes_written <= written[-1]


def test_encrypted_says_nothing(client: Client) -> None:
    """No text of the graph, nor that two values are equal, can be seen."""
    text = "nobody else may read this, which is long enough for a chunk" * 6
    sealed(client, "encrypt").save("s", 0, [Node(any=text), Node(any=text)])
    sealed(client, "encrypt").save("t", 0, [Node(any=text), Node(any=text)])

    values = [*stored(client).values(), *stored(client, "t").values()]
    assert not [value for value in values if b"nobody" in value or b"Node" in value]
    chunks = [client.hkeys(chunk_key(session)) for session in ("s", "t")]
    assert not set(chunks[0]) & set(chunks[1])


@modes
def test_changed_anywhere(client: Client, mode: Mode) -> None:
    """Each byte of each value counts."""
    cache = sealed(client, mode)
    cache.save("s", 1, [Node(any="x" * 300), {"a": 1}])
    values = {place: v for place, v in stored(client).items() if len(v) > 40}

    assert len(values) == 2
    for (key, field), value in values.items():
        for index in range(len(value)):
            if key == turn_key() and index < 16:
                # The version of a save is Redis's own count, and is not sealed.
                continue
            changed = bytearray(value)
            changed[index] ^= 1
            client.hset(key, field, bytes(changed))
            with pytest.raises(errors.SealError, match="has not the seal"):
                cache.load("s", 1)
        client.hset(key, field, value)
    assert cache.get("s", 1)[1] == {"a": 1}


@modes
def test_moved_to_another_session(client: Client, mode: Mode) -> None:
    """All values of a session, copied to another one, are no snapshot there."""
    cache = sealed(client, mode)
    cache.save("s", 1, grown(5)[-1])
    for (key, field), value in stored(client).items():
        there = chunk_key("t") if key == chunk_key() else turn_key("t")
        client.hset(there, field, value)

    with pytest.raises(errors.SealError, match="has not the seal"):
        cache.load("t")
    with pytest.raises(errors.SealError, match="has not the seal"):
        cache.document("t")
    with pytest.raises(errors.SealError, match="has not the seal"):
        cache.fork("t", 1, "u")
    assert cache.get("t", default="miss") == "miss"
    assert cache.counters.undecodable == 1


@modes
def test_moved_to_another_turn(client: Client, mode: Mode) -> None:
    """The root of one turn is no root of another, and a chunk is no root."""
    cache = sealed(client, mode)
    cache.save("s", 1, [Node(any="x" * 300)])
    (chunk,) = client.hgetall(chunk_key()).items()
    client.hset(turn_key(), "2", client.hget(turn_key(), "1"))
    client.hset(turn_key(), "3", b"0" * 16 + chunk[0] + chunk[1])

    for turn in (2, 3, None):
        with pytest.raises(errors.SealError, match="has not the seal"):
            cache.load("s", turn)


@modes
def test_other_caches(client: Client, mode: Mode) -> None:
    """Without the seal, or with the other mode, nothing is read, and vice versa."""
    cache, plain = sealed(client, mode), TurnCache(client)
    cache.save("s", 1, [1])
    plain.save("p", 1, [1])
    other = sealed(client, "sign" if mode == "encrypt" else "encrypt")

    with pytest.raises(errors.UndecodableValueError, match="a codec with its seal"):
        plain.load("s")
    for reader, session in ((other, "s"), (cache, "p")):
        with pytest.raises(errors.SealError, match="has not the seal"):
            reader.load(session)


@modes
def test_rotation(client: Client, mode: Mode) -> None:
    """Old turns are read with the old key, and the session goes on with the new one."""
    turns = grown(3)
    sealed(client, mode, keys=("old",)).save("s", 1, turns[0])
    both, new = sealed(client, mode), sealed(client, mode, keys=("new",))
    both.save("s", 2, turns[1])

    assert same_graph(both.load("s", 1), turns[0])
    assert same_graph(new.load("s", 2), turns[1])
    with pytest.raises(errors.SealError, match="has not the seal"):
        new.load("s", 1)


@modes
def test_document_is_sealed(client: Client, mode: Mode) -> None:
    """A snapshot as one document is sealed for the session."""
    seal = Seal(KEYS, mode=mode, current="new")
    cache = TurnCache(client, codec=Codec(seal=seal))
    cache.save("s", 1, {"a": [1]})

    data = cache.document("s")

    assert Codec(seal=seal).decode(data, context=b"s") == {"a": [1]}
    with pytest.raises(errors.SealError, match="context is another"):
        Codec(seal=seal).decode(data)
