"""What the benchmark measures: one row for each peer, kind of graph and figure."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from attrs import frozen

import graphcodec
from graphcodec._compressing import zstd_module
from tests.bench import graphs
from tests.bench.measuring import Timing, import_seconds, peak, timings
from tests.bench.peers import MAKERS, Peer

BASE = "pickle"
"""What all are compared with: pickle protocol 5 of the very same objects."""

JSON, MSGPACK = "graphcodec JSON", "graphcodec MessagePack"
_SLOW_FROM = 5_000


@frozen
class Row:
    """One peer with one graph.

    Attributes:
        name: The peer.
        encode: What writing took; None if it failed.
        decode: What reading took.
        size: The bytes of the document.
        packed: The bytes after zstd.
        remark: What it leaves out, or why it failed.
    """

    name: str
    encode: Timing | None = None
    decode: Timing | None = None
    size: int = 0
    packed: int = 0
    remark: str = ""

    @property
    def trip(self) -> float:
        """Seconds for both ways."""
        if self.encode is None or self.decode is None:
            return 0.0
        return self.encode.seconds + self.decode.seconds


@frozen
class _Ready:
    peer: Peer
    form: object
    data: bytes


def peer_rows(
    turns: int, names: tuple[str, ...] = (), *, rounds: int | None = None
) -> list[Row]:
    """Return a row for each peer with a conversation.

    Args:
        turns: How many turns it has.
        names: The peers, all if there are none.
        rounds: How often each is timed; by default the fewer, the larger it is.
    """
    return _rows(graphs.ours(turns), turns, names, rounds)


def kind_rows(kind: str, count: int, *, rounds: int | None = None) -> list[Row]:
    """Return a row for graphcodec and for pickle with a graph of another kind.

    Args:
        kind: A name from `graphs.KINDS`.
        count: How large it is.
        rounds: How often each is timed.
    """
    return _rows(graphs.KINDS[kind](count), count, (JSON, MSGPACK, BASE), rounds)


def _rows(
    graph: graphcodec.Conversation,
    count: int,
    names: tuple[str, ...],
    rounds: int | None,
) -> list[Row]:
    ready: dict[str, _Ready] = {}
    failed: list[Row] = []
    for name, make in MAKERS:
        if names and name not in names:
            continue
        try:
            peer = make()
            if peer.slow and count >= _SLOW_FROM:
                failed.append(Row(name, remark="left out at this size"))
                continue
            ready[name] = _ready(peer, graph)
        except Exception as exc:  # noqa: BLE001 - whatever it is, the row says it
            reason = str(exc).partition("\n")[0][:80]
            failed.append(Row(name, remark=f"fails: {type(exc).__name__}: {reason}"))
    rounds = rounds or max(3, min(25, 20_000 // count))
    base = BASE if BASE in ready else JSON
    encode = timings(
        {name: partial(each.peer.dumps, each.form) for name, each in ready.items()},
        base=base,
        rounds=rounds,
    )
    decode = timings(
        {name: partial(each.peer.loads, each.data) for name, each in ready.items()},
        base=base,
        rounds=rounds,
    )
    done = [
        Row(
            name,
            encode[name],
            decode[name],
            len(each.data),
            len(zstd_module().compress(each.data)),
            each.peer.remark,
        )
        for name, each in ready.items()
    ]
    return done + failed


def _ready(peer: Peer, graph: graphcodec.Conversation) -> _Ready:
    form = peer.form(graph)
    data = peer.dumps(form)
    if not peer.same(form, peer.loads(data)):
        msg = "what it reads is not what it wrote"
        raise ValueError(msg)
    return _Ready(peer, form, data)


@frozen
class Figure:
    """One of the figures that the design asks for.

    Attributes:
        name: What it is.
        found: What was measured.
        wanted: What to reach, at most.
    """

    name: str
    found: float
    wanted: float

    @property
    def reached(self) -> bool:
        """Whether it is."""
        return self.found <= self.wanted


_WANTED = {
    "encode": {1_000: 0.55, 20_000: 0.55},
    "decode": {1_000: 0.9, 20_000: 0.5},
    "round trip": {1_000: 0.75, 20_000: 0.55},
}


def figures_of(turns: int, rows: list[Row]) -> Iterator[Figure]:
    """Yield the figures that the rows of one size give.

    Args:
        turns: The size.
        rows: Its rows.
    """
    by_name = {row.name: row for row in rows if row.encode and row.decode}
    ours, base = by_name[JSON], by_name[BASE]
    assert ours.encode
    assert ours.decode
    at = f"{turns:,} turns"
    wanted = {name: limits.get(turns) for name, limits in _WANTED.items()}
    found = {
        "encode": ours.encode.ratio,
        "decode": ours.decode.ratio,
        "round trip": ours.trip / base.trip,
    }
    for name, limit in wanted.items():
        if limit is not None:
            yield Figure(f"{name} / pickle, {at}", found[name], limit)
    if turns not in _WANTED["encode"]:
        return
    others = {
        "jsonpickle": 1 / 12,
        "cattrs + orjson": 0.6,
        "msgspec Structs (floor)": 3.0,
    }
    for name, limit in others.items():
        if name in by_name:
            ratio = ours.trip / by_name[name].trip
            yield Figure(f"round trip / {name}, {at}", ratio, limit)
    yield Figure(f"zstd size / pickle, {at}", ours.packed / base.packed, 1.1)


def growth(small: list[Row], large: list[Row], sizes: tuple[int, int]) -> Figure:
    """Return how much longer one turn takes in a larger conversation.

    Args:
        small: The rows of the smaller one.
        large: Those of the larger one.
        sizes: How many turns they have.
    """
    trips = [next(r.trip for r in rows if r.name == JSON) for rows in (small, large)]
    ratio = trips[1] / sizes[1] / (trips[0] / sizes[0])
    return Figure(f"time per turn, {sizes[1]:,} / {sizes[0]:,}", ratio, 1.2)


def args_figures(rows: list[Row]) -> Iterator[Figure]:
    """Yield the figures of a graph with large arguments."""
    ours = next(row for row in rows if row.name == JSON)
    if ours.encode and ours.decode:
        yield Figure("args-heavy encode / pickle", ours.encode.ratio, 8)
        yield Figure("args-heavy decode / pickle", ours.decode.ratio, 1.5)


def memory_figure(turns: int) -> Figure:
    """Return the peak of memory while decoding, against the size of the graph."""
    codec = graphcodec.Codec()
    data = codec.encode(graphs.ours(turns))
    codec.decode(codec.encode(graphs.ours(1)))
    most, kept = peak(lambda: codec.decode(data))
    return Figure(f"peak memory of decode / graph, {turns:,} turns", most / kept, 2)


def import_figures(rounds: int | None = None) -> Iterator[Figure]:
    """Yield how long imports take, against that of what graphcodec builds on.

    Args:
        rounds: How often each is timed.
    """
    base = import_seconds("import cattrs, attrs, msgspec", rounds or 7)
    for statement in ("import graphcodec", "from graphcodec import Codec"):
        ours = import_seconds(statement, rounds or 7)
        yield Figure(f"{statement} / cattrs, attrs, msgspec", ours / base, 1.5)
