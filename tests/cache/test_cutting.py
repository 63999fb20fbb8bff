"""Documents that are cut and joined again, without a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphcodec import Codec, Limits, Registry, errors
from graphcodec._cache._chunks import Entry, address_of, pack, unpack
from graphcodec._cache._cutting import RUN, Cut, Cutter, Memo
from graphcodec._cache._documents import Documents
from graphcodec._cache._joining import Joiner
from graphcodec.testing import same_graph, strategies
from tests.cache.graphs import grown
from tests.codec.samples import Link, Node
from tests.test_properties import formats, relaxed

if TYPE_CHECKING:
    from collections.abc import Mapping

JSON = Codec(types=[Node, Link])


def documents_of(codec: Codec) -> Documents:
    """Return what writes and reads the documents of chunks."""
    return Documents(codec.format, codec.compression, codec.limits)


def cut(graph: object, memo: Memo | None = None, codec: Codec = JSON) -> Cut:
    """Return what a graph is cut into."""
    return codec.written(graph, Cutter(documents_of(codec), memo or Memo()).cut)


def joined(
    cut: Cut, chunks: Mapping[bytes, bytes], codec: Codec = JSON
) -> dict[str, Any]:
    """Return the document that a graph was cut from."""
    unpacked = {address: unpack(value) for address, value in chunks.items()}
    return Joiner(unpack(cut.root), unpacked, documents_of(codec)).wire()


def check_again(graph: object, codec: Codec = JSON) -> Cut:
    """Verify that what was cut can be put together again."""
    done = cut(graph, codec=codec)
    wire = joined(done, done.chunks, codec)
    write = msgspec.json if codec.format == "json" else msgspec.msgpack

    assert same_graph(codec.decode(write.encode(wire)), graph)
    return done


few = settings(relaxed, max_examples=60)


@formats
@few
@given(graph=strategies.graphs())
def test_any_graph(graph: object, codec: Codec) -> None:
    """Any graph that can be encoded can be cut and joined."""
    check_again(graph, codec)


@settings(relaxed, max_examples=40)
@given(graphs=st.lists(strategies.graphs(), min_size=2, max_size=5))
def test_any_graphs_after_each_other(graphs: list[object]) -> None:
    """What was cut before never changes what comes back."""
    chunks: dict[bytes, bytes] = {}
    memo = Memo()
    for graph in [*graphs, graphs, graphs * 5, graphs[0]]:
        done = cut(graph, memo)
        memo = done.memo
        chunks |= done.chunks
        wire = joined(done, chunks)
        assert same_graph(JSON.decode(msgspec.json.encode(wire)), graph)


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 63, 64, 65, 511, 512, 513, 600])
@pytest.mark.parametrize("width", [1, 100, 300])
def test_lists_of_any_length(length: int, width: int) -> None:
    """A list is cut into full runs, and comes back as it was."""
    check_again([{"n": f"{n:{width}}"} for n in range(length)])
    check_again([Registry({"n": f"{n:{width}}"}) for n in range(length)])


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_compressed(compression: Literal["gzip", "zstd"]) -> None:
    """A codec that compresses has larger chunks, which are compressed."""
    graph = grown(60)[-1]
    codec = Codec(compression=compression)
    done = check_again(graph, codec)
    plain = check_again(graph)

    assert len(done.chunks) < len(plain.chunks) / 5
    assert sum(map(len, done.chunks.values())) < len(JSON.encode(graph)) / 2


def test_small_things_stay() -> None:
    """What is small has no chunk of its own."""
    assert len(check_again([Registry({"a": 1})] * 1).chunks) == 0
    assert len(check_again(list(range(50))).chunks) == 0
    assert len(check_again(list(range(64))).chunks) == 0
    assert len(check_again(list(range(1_000))).chunks) <= 1_000 // 64 + 2
    assert len(check_again(Registry({"a": [Registry({"a": "x" * 256})]})).chunks) == 1


def test_equal_is_not_same() -> None:
    """Equal objects that are not one have one chunk, and stay two."""
    one, two = Registry({"a": "x" * 300}), Registry({"a": "x" * 300})
    done = check_again([one, one, two, two, Registry({"a": "x" * 300})])

    assert len(done.chunks) == 1


def test_cycles_share_a_chunk() -> None:
    """Objects of one cycle are together, and equal cycles stay apart."""
    graph: list[object] = []
    for _ in range(3):
        first, second = Node(any="x" * 300), Node()
        first.next, second.next = second, first
        graph += [first, second, [first]]
    done = check_again(graph)

    assert len(done.chunks) == 1


def test_what_hangs_on_a_cycle_is_cut() -> None:
    """A large cycle does not keep what merely hangs on it from being cut."""
    center = Node()
    center.nodes = [Node(next=center, any=Registry({"a": "x" * 300})) for _ in range(9)]
    shared = Registry({"b": "y" * 300})
    center.any = [shared, shared, [Registry({"c": "z" * 300})] * 20]
    done = check_again(center)

    assert len(done.chunks) == 4


def test_deep_chain() -> None:
    """No recursion follows a chain of objects."""
    chain = Node()
    for _ in range(5_000):
        chain = Node(next=chain)
    done = cut(chain)
    wire = joined(done, done.chunks)

    assert JSON.encode(JSON.decode(msgspec.json.encode(wire))) == JSON.encode(chain)


def test_deep_in_place() -> None:
    """Sixty levels of large objects are a chunk in a chunk in a chunk."""
    graph = Registry({"a": "x" * 300})
    for _ in range(100):
        graph = Registry({"in": [graph, *range(RUN)], "text": "y" * 300})
    check_again(graph)


def test_a_growing_conversation_costs_its_growth() -> None:
    """Nothing that was stored is cut again, and the last save is as small as any."""
    memo, total, sizes = Memo(), 0, list[int]()
    for graph in (turns := grown(100)):
        done = cut(graph, memo)
        memo = done.memo
        sizes.append(sum(map(len, done.chunks.values())) + len(done.root))
        total += sizes[-1]

    assert total <= 2 * len(JSON.encode(turns[-1]))
    assert max(sizes[50:]) <= 2 * max(sizes[:50])


def test_numbers_that_shift() -> None:
    """Where nodes have other numbers than the last time, nothing is mistaken."""
    people = [Registry({"who": n, "text": "x" * 300}) for n in range(30)]
    memo, chunks = Memo(), dict[bytes, bytes]()
    for at in (0, 20, 5, 11, 29):
        # What is met twice becomes a node, before or behind those that were one.
        graph = [[p, p] if n in (at, 10) else p for n, p in enumerate(people)]
        graph += [people[at], people[10]]
        done = cut(graph, memo)
        memo = done.memo
        chunks |= done.chunks
        wire = joined(done, chunks)
        assert same_graph(JSON.decode(msgspec.json.encode(wire)), graph)


# Chunks that no save wrote


def forged(
    document: object, entries: list[Entry], chunks: Mapping[bytes, bytes], most: int
) -> object:
    """Return what is made of a root that somebody wrote by hand."""
    root = pack(entries, msgspec.json.encode(document))
    unpacked = {address: unpack(value) for address, value in chunks.items()}
    documents = Documents("json", None, Limits(max_bytes=most))
    return Joiner(unpack(root), unpacked, documents).wire()


def ref(number: int) -> dict[str, object]:
    """Return a reference."""
    return {"$type": "$ref", "n": number}


def test_bomb_of_runs() -> None:
    """A few chunks that unfold to a great many bytes are refused by a limit."""
    chunks: dict[bytes, bytes] = {}
    address, entries = b"", list[Entry]()
    for level in range(40):
        wire = {"graphcodec": 1, "root": [ref(0)] if level else [1]}
        value = pack(entries, msgspec.json.encode(wire))
        address = address_of(value)
        chunks[address] = value
        entries = [Entry((address,) * 100)]

    with pytest.raises(errors.LimitExceededError, match="max_bytes is 100,000"):
        forged({"graphcodec": 1, "root": [ref(0)]}, entries, chunks, 100_000)


@pytest.mark.parametrize("shared", [0, 1])
def test_chain_of_chunks(shared: int) -> None:
    """Chunks that nest deeper than a document are refused; a chain of nodes is not."""
    chunks: dict[bytes, bytes] = {}
    entries: list[Entry] = []
    for level in range(5_000):
        root = {"$type": "a.B", "in": ref(0) if level else None}
        value = pack(entries, msgspec.json.encode({"graphcodec": 1, "root": root}))
        chunks[address_of(value)] = value
        entries = [Entry((address_of(value),), shared)]
    document = {"graphcodec": 1, "root": ref(0)}

    if shared:
        wire: Any = forged(document, entries, chunks, 10_000_000)
        assert len(wire["nodes"]) == 5_000
    else:
        with pytest.raises(errors.LimitExceededError, match="deeper than any document"):
            forged(document, entries, chunks, 10_000_000)


RUN_CHUNK = pack([], b'{"graphcodec":1,"root":[1]}')
KNOT_CHUNK = pack([], b'{"graphcodec":1,"nodes":[[]],"root":null}')
BINARY_CHUNK = pack([], msgspec.msgpack.encode({"graphcodec": 1, "root": {}}))


@pytest.mark.parametrize(
    ("chunk", "document", "message"),
    [
        (
            RUN_CHUNK,
            {"graphcodec": 1, "root": ref(0)},
            "a run where one object belongs",
        ),
        (RUN_CHUNK, {"graphcodec": 1, "root": ref(1)}, "it has no link 1"),
        (RUN_CHUNK, {"graphcodec": 1, "root": [ref(-1)]}, "it has no link -1"),
        (RUN_CHUNK, {"graphcodec": 2, "root": 1}, "wire version 2"),
        (RUN_CHUNK, {"root": 1}, "no graphcodec document"),
        (RUN_CHUNK, {"graphcodec": 1, "nodes": [], "root": 1}, "nodes of its own"),
        (KNOT_CHUNK, {"graphcodec": 1, "root": [ref(0)]}, "nodes of its own"),
        (BINARY_CHUNK, {"graphcodec": 1, "root": [ref(0)]}, "in another format"),
    ],
)
def test_malformed(chunk: bytes, document: object, message: str) -> None:
    """Chunks that no save writes are refused in words."""
    entries = [Entry((address_of(chunk),))]
    with pytest.raises(errors.GraphCodecError, match=message):
        forged(document, entries, {address_of(chunk): chunk}, 1_000)
