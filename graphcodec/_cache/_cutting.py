"""From a document to chunks, of which most are known from the last save.

Cut is the wire, not the graph: what the codec wrote is taken apart where an object is
large, and where a list is long, and put together again as it was. So the
cache neither walks graphs nor knows classes.

A long list is cut into runs of 8 entries, of 8 runs, of 8 times 8 runs and so on, as
many of the largest as are full; the entries after the last full run stay. So a full run
is stored once and never again, and a list of n entries that grows by one has a few
dozen links at most in what is rewritten.

What has been cut before is recognised by the hash of its wire. That says what it is if
it refers to nothing, or to nodes that are the same objects as then: `Memo`.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false
# A document is Any.

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from attrs import field, frozen

from graphcodec._cache._chunks import Address, Entry, pack
from graphcodec._coding._document import reference
from graphcodec._coding._ordering import cycles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from graphcodec._cache._documents import Documents

Wire: TypeAlias = dict[str, Any]
Node: TypeAlias = tuple[Address, int]
"""Where a node is: the address of its chunk, and which of its objects it is."""

RUN: Final = 8
"""How many entries, or runs, a run has."""

_DIGITS: Final = 8
"""How much longer a reference may be in the whole document."""


@frozen
class Piece:
    """Something that has a chunk of its own.

    Attributes:
        address: The address of the chunk.
        size: How many bytes of documents it holds, with all that is in its place.
        top: The highest number of a node that it refers to, -1 if there is none.
    """

    address: Address
    size: int
    top: int


@frozen
class Memo:
    """What the last save of a session cut.

    Attributes:
        pieces: What became of each part, by the hash of its wire.
        nodes: Where the nodes are to which the numbers in that wire refer.
    """

    pieces: Mapping[bytes, Piece] = field(factory=dict[bytes, Piece])
    nodes: tuple[Node, ...] = ()


@frozen
class Cut:
    """A snapshot as it is stored.

    Attributes:
        chunks: The chunks that were not known, by address, children first.
        root: What is stored for the turn.
        memo: What the next save is told.
    """

    chunks: Mapping[Address, bytes]
    root: bytes
    memo: Memo


class _Forward(Exception):  # noqa: N818 - a signal, and no error
    """A node refers to itself or to a later one."""


class _Links:
    """The entries of one chunk that is being made.

    Args:
        own: The nodes that the chunk itself holds, with their numbers in it.
    """

    def __init__(self, own: Mapping[int, int]) -> None:
        self.entries: list[Entry] = []
        self.size = 0
        self.top = -1
        self._own = own
        self._shared: dict[int, Wire] = {}

    def place(self, pieces: list[Piece]) -> Wire:
        """Return the reference in whose place the contents of *pieces* belong."""
        self.size += sum(piece.size for piece in pieces)
        self.top = max(self.top, *(piece.top for piece in pieces))
        return self._add(Entry(tuple(piece.address for piece in pieces)))

    def share(self, number: int, nodes: Mapping[int, Node]) -> Wire:
        """Return the reference to a node.

        Args:
            number: Its number in the whole document.
            nodes: Where the nodes are.
        """
        self.size += _DIGITS
        if number in self._own:
            return {"$type": "$ref", "n": self._own[number]}
        if number not in nodes:
            raise _Forward
        self.top = max(self.top, number)
        if number not in self._shared:
            address, copy = nodes[number]
            self._shared[number] = self._add(Entry((address,), copy))
        return self._shared[number]

    def _add(self, entry: Entry) -> Wire:
        self.entries.append(entry)
        return {"$type": "$ref", "n": len(self._own) + len(self.entries) - 1}


class Cutter:
    """Cuts one document.

    Args:
        documents: Writes the documents of the chunks.
        memo: What the last save of the session cut.
    """

    def __init__(self, documents: Documents, memo: Memo) -> None:
        self._write = documents.write
        self._encode = documents.encode
        self._small = documents.small
        self._address_of = documents.addresses.of
        self._memo = memo
        self._start()

    def _start(self) -> None:
        self._chunks: dict[Address, bytes] = {}
        self._pieces: dict[bytes, Piece] = {}
        self._nodes: dict[int, Node] = {}
        self._copies: Counter[Address] = Counter()
        self._group: Mapping[int, int] = {}
        self._same = 0
        self._size = 0

    def cut(self, wire: Wire) -> tuple[Cut, int]:
        """Return the chunks of a document, and its size in bytes at most.

        Args:
            wire: Its outermost map.
        """
        nodes = wire.get("nodes", [])
        try:
            self._start()
            for number, node in enumerate(nodes):
                self._add_node(number, node)
            memo_nodes = tuple(self._nodes.values())
        except _Forward:
            self._start()
            self._add_groups(nodes)
            # Numbers say little of a graph with cycles, in which all may shift.
            memo_nodes = ()
        links = _Links({})
        root = self._inner(wire["root"], links)
        document, length = self._write({"graphcodec": 1, "root": root})
        value = pack(links.entries, document)
        size = self._size + links.size + length
        memo = Memo(self._pieces, memo_nodes)
        return Cut(self._chunks, value, memo), size

    # Nodes

    def _add_node(self, number: int, node: Any) -> None:
        piece = self._piece(node, self._encode(node), self._inner)
        self._size += piece.size
        self._copies[piece.address] += 1
        self._nodes[number] = link = (piece.address, self._copies[piece.address])
        known = self._memo.nodes
        if self._same == number < len(known) and known[number] == link:
            self._same += 1

    def _add_groups(self, nodes: list[Any]) -> None:
        """Add the nodes of a graph with cycles: those of one cycle share a chunk."""
        children = {
            number: list(_references(node)) for number, node in enumerate(nodes)
        }
        for group in cycles(len(nodes), children.__getitem__):
            if len(group) == 1 and group[0] not in children[group[0]]:
                self._add_node(group[0], nodes[group[0]])
                self._same = 0
            else:
                self._add_knot(group, nodes)

    def _add_knot(self, group: list[int], nodes: list[Any]) -> None:
        self._group = {number: index for index, number in enumerate(group)}
        links = _Links(self._group)
        inner = [self._inner(nodes[number], links) for number in group]
        self._group = {}
        wire = {"graphcodec": 1, "nodes": inner, "root": None}
        document, length = self._write(wire)
        self._size += links.size + length
        address = self._store(pack(links.entries, document))
        first = self._copies[address] * len(group) + 1
        self._copies[address] += 1
        for index, number in enumerate(group):
            self._nodes[number] = (address, first + index)

    # Parts

    def _part(self, value: Any, links: _Links) -> Any:
        """Return what is left of a value: itself, or the piece that it became."""
        if type(value) is dict and _is_object(value):
            wire = self._encode(value)
            if not self._stays(value, wire):
                return self._piece(value, wire, self._inner)
        return self._inner(value, links)

    def _inner(self, value: Any, links: _Links) -> Any:
        """Return a value with references in the places of its pieces."""
        if type(value) is list:
            return self._grouped(self._runs(value, links), links)
        if type(value) is not dict or value.get("$type") == "$reader":
            return value
        number = reference(value)
        if number is not None:
            return links.share(number, self._nodes)
        return {key: self._placed(item, links) for key, item in value.items()}

    def _placed(self, value: Any, links: _Links) -> Any:
        if type(value) is not dict and type(value) is not list:
            return value
        part = self._part(value, links)
        return links.place([part]) if type(part) is Piece else part

    def _stays(self, value: Any, wire: bytes) -> bool:
        """Say whether a value is small, or tied to the cycle around it."""
        if len(wire) <= self._small:
            return True
        inside = _references(value) if self._group else ()
        return not self._group.keys().isdisjoint(inside)

    # Lists

    def _runs(self, items: list[Any], links: _Links) -> Iterator[Any]:
        """Yield what is left of the entries of a list, largest runs first."""
        at, length = 0, RUN
        while length * RUN <= len(items):
            length *= RUN
        while length >= RUN:
            while at + length <= len(items):
                yield from self._run(items[at : at + length], links)
                at += length
            length //= RUN
        for item in items[at:]:
            yield self._part(item, links)

    def _run(self, items: list[Any], links: _Links) -> Iterator[Any]:
        wire = self._encode(items)
        if self._stays(items, wire):
            yield from self._within(items, links)
        else:
            yield self._piece(items, wire, self._entries)

    def _entries(self, items: list[Any], links: _Links) -> list[Any]:
        return self._grouped(self._within(items, links), links)

    def _within(self, items: list[Any], links: _Links) -> Iterator[Any]:
        if len(items) == RUN:
            for item in items:
                yield self._part(item, links)
            return
        length = len(items) // RUN
        for at in range(0, len(items), length):
            yield from self._run(items[at : at + length], links)

    def _grouped(self, parts: Iterable[Any], links: _Links) -> list[Any]:
        """Return the entries of a list, with one reference for pieces in a row."""
        out: list[Any] = []
        for kind, group in groupby(parts, type):
            found = list(group)
            out += [links.place(found)] if kind is Piece else found
        return out

    # Pieces

    def _piece(
        self, value: Any, wire: bytes, inner: Callable[[Any, _Links], Any]
    ) -> Piece:
        """Return the piece that *value* is, from the last time or made now.

        Args:
            value: A part of the document.
            wire: The same in bytes.
            inner: Gives its contents with references in the places of pieces.
        """
        digest = hashlib.sha256(wire).digest()
        piece = self._pieces.get(digest) or self._memo.pieces.get(digest)
        if piece is None or (piece.top >= self._same and digest not in self._pieces):
            piece = self._new_piece(value, inner)
        self._pieces[digest] = piece
        return piece

    def _new_piece(self, value: Any, inner: Callable[[Any, _Links], Any]) -> Piece:
        links = _Links({})
        wire = {"graphcodec": 1, "root": inner(value, links)}
        document, length = self._write(wire)
        address = self._store(pack(links.entries, document))
        return Piece(address, links.size + length, links.top)

    def _store(self, value: bytes) -> Address:
        address = self._address_of(value)
        self._chunks.setdefault(address, value)
        return address


def _is_object(value: Wire) -> bool:
    tag = value.get("$type")
    return type(tag) is str and tag not in ("$ref", "$reader")


def _references(value: Any) -> Iterator[int]:
    """Yield the number of every reference in a part of a document."""
    stack = [value]
    while stack:
        item = stack.pop()
        if type(item) is list:
            stack += item
        elif type(item) is dict and item.get("$type") != "$reader":
            number = reference(item)
            if number is None:
                stack += item.values()
            else:
                yield number
