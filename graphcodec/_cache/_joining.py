"""From chunks to the document that they were cut from.

Whoever can write to Redis can write chunks. A link can't close a circle, since an
address is the hash of what it leads to; but a few chunks could unfold to a great many
bytes, or nest deeper than any document does. Both are counted.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false
# A document is Any.

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from graphcodec import _formats
from graphcodec._cache._chunks import Address, Chunk, Entry, shown
from graphcodec._coding._document import reference
from graphcodec._limits import NESTING, exceeded
from graphcodec.errors import LimitExceededError, UndecodableValueError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from graphcodec._cache._documents import Documents

Wire: TypeAlias = dict[str, Any]
Member: TypeAlias = tuple[Address, int]

_DEEPEST: Final = 3 * NESTING
"""Levels of a document, and of runs that stand for parts of its lists."""


def children_first(
    roots: Iterable[Address], chunks: Mapping[Address, Chunk]
) -> list[Address]:
    """Return all addresses that *roots* lead to, each behind what it links to.

    Args:
        roots: Addresses.
        chunks: The chunk at each address.
    """
    order: list[Address] = []
    met: set[Address] = set()
    stack: list[tuple[Address, Iterator[Address]]] = []
    for root in roots:
        if root not in met:
            met.add(root)
            stack.append((root, _linked(chunks[root])))
        while stack:
            address, rest = stack[-1]
            child = next((child for child in rest if child not in met), None)
            if child is None:
                order.append(address)
                stack.pop()
            else:
                met.add(child)
                stack.append((child, _linked(chunks[child])))
    return order


def _linked(chunk: Chunk) -> Iterator[Address]:
    return (address for entry in chunk.entries for address in entry.addresses)


class Joiner:
    """Makes one document of its chunks.

    Args:
        root: The root of the snapshot.
        chunks: All chunks that it leads to.
        documents: Opens the documents in them.
    """

    def __init__(
        self, root: Chunk, chunks: Mapping[Address, Chunk], documents: Documents
    ) -> None:
        self._root = root
        self._chunks = chunks
        self._open = documents.opened
        self._limits = documents.limits
        self._binary = _formats.is_binary(self._open(root.document))
        self._left = self._limits.max_bytes
        self._numbers: dict[Member, int] = {}

    def wire(self) -> Wire:
        """Return the outermost map of the document.

        Raises:
            UndecodableValueError: If the chunks are not what a save writes.
            LimitExceededError: If they unfold to more than the limits allow.
        """
        try:
            nodes = self._nodes()
            root = self._contents(self._root, "the root", 1)
        except RecursionError:
            raise _too_deep() from None
        return {"graphcodec": 1, **({"nodes": nodes} if nodes else {}), "root": root}

    @property
    def format(self) -> _formats.Format:
        """The format that the snapshot was written in."""
        return "msgpack" if self._binary else "json"

    def _nodes(self) -> list[Any]:
        copies = self._shared()
        roots = list(_linked(self._root))
        nodes: list[Any] = []
        for address in children_first(roots, self._chunks):
            for number in sorted(copies.get(address, ())):
                # A number of one copy of a cycle brings all of that copy.
                if (address, number) not in self._numbers:
                    nodes += self._members(address, number, len(nodes))
        return nodes

    def _shared(self) -> dict[Address, set[int]]:
        """Return which objects of each address are referred to."""
        found: dict[Address, set[int]] = {}
        for chunk in (self._root, *self._chunks.values()):
            for entry in chunk.entries:
                if entry.number:
                    found.setdefault(entry.addresses[0], set()).add(entry.number)
        return found

    def _members(self, address: Address, number: int, first: int) -> list[Any]:
        """Return the objects of one copy of a chunk, which get numbers from *first*."""
        chunk, wire = self._opened(address)
        members = wire.get("nodes") or [wire["root"]]
        if first + len(members) > self._limits.max_nodes:
            most = self._limits.max_nodes
            raise exceeded("max_nodes", most, first + len(members), "$")
        own = range(first, first + len(members)) if "nodes" in wire else range(0)
        start = number - (number - 1) % len(members)
        for index in range(len(members)):
            self._numbers[address, start + index] = first + index
        filler = _Filler(self, chunk, own, shown(address))
        return [filler.filled(member, 1) for member in members]

    def number(self, entry: Entry) -> int:
        """Return the number of the node that an entry refers to."""
        return self._numbers[entry.addresses[0], entry.number]

    def contents(self, address: Address, level: int) -> Any:
        """Return what stands in the place of a link.

        Args:
            address: Where the link leads.
            level: The level at which it stands.
        """
        return self._contents(self._chunks[address], shown(address), level)

    def _contents(self, chunk: Chunk, name: str, level: int) -> Any:
        document = self._open(chunk.document)
        wire = self._parsed(document, name)
        if "nodes" in wire:
            raise malformed(name, "it has nodes of its own in the place of a link")
        if not chunk.entries and b"$ref" not in document:
            return wire["root"]
        return _Filler(self, chunk, range(0), name).filled(wire["root"], level)

    def _opened(self, address: Address) -> tuple[Chunk, Wire]:
        chunk = self._chunks[address]
        return chunk, self._parsed(self._open(chunk.document), shown(address))

    def _parsed(self, document: bytes, name: str) -> Wire:
        self._left -= len(document)
        if self._left < 0:
            most = self._limits.max_bytes
            raise exceeded("max_bytes", most, most - self._left, "$")
        if _formats.is_binary(document) is not self._binary:
            raise malformed(name, "it is in another format than the snapshot")
        return _formats.read(document)


class _Filler:
    """Puts what was cut out of one chunk back where it was.

    Args:
        joiner: The whole.
        chunk: The chunk.
        own: The numbers that the nodes of the chunk itself have in the whole.
        name: What to call it in errors.
    """

    def __init__(self, joiner: Joiner, chunk: Chunk, own: range, name: str) -> None:
        self._joiner = joiner
        self._entries = chunk.entries
        self._own = own
        self._name = name

    def filled(self, value: Any, level: int) -> Any:
        """Return *value*, of which nobody else holds anything, with its references.

        Args:
            value: A part of the document of the chunk.
            level: The level at which it stands in the whole.
        """
        if level > _DEEPEST:
            raise _too_deep()
        if type(value) is list:
            return list(self._items(value, level))
        if type(value) is not dict or value.get("$type") == "$reader":
            return value
        number = reference(value)
        if number is not None:
            return self._referred(number, level)
        for key, item in value.items():
            if item and (type(item) is dict or type(item) is list):
                value[key] = self.filled(item, level + 1)
        return value

    def _items(self, items: list[Any], level: int) -> Iterator[Any]:
        for item in items:
            number = reference(item) if type(item) is dict else None
            if number is None or self._is_own(number) or self._entry(number).number:
                yield self.filled(item, level + 1)
                continue
            for address in self._entry(number).addresses:
                part = self._joiner.contents(address, level + 1)
                yield from part if type(part) is list else (part,)

    def _referred(self, number: int, level: int) -> Any:
        if self._is_own(number):
            return {"$type": "$ref", "n": self._own[number]}
        entry = self._entry(number)
        if entry.number:
            return {"$type": "$ref", "n": self._joiner.number(entry)}
        part = self._joiner.contents(entry.addresses[0], level)
        if len(entry.addresses) > 1 or type(part) is not dict:
            raise malformed(self._name, "it has a run where one object belongs")
        return part

    def _is_own(self, number: int) -> bool:
        return 0 <= number < len(self._own)

    def _entry(self, number: int) -> Entry:
        index = number - len(self._own)
        if not 0 <= index < len(self._entries):
            raise malformed(self._name, f"it has no link {index}")
        return self._entries[index]


def malformed(name: str, reason: str) -> UndecodableValueError:
    """Return the error for a chunk that no save wrote.

    Args:
        name: What to call it.
        reason: What is wrong.
    """
    hint = "save the turn anew, from the log"
    return UndecodableValueError(f"{name} in Redis is malformed: {reason}", hint=hint)


def _too_deep() -> LimitExceededError:
    msg = "the chunks of the snapshot nest deeper than any document does"
    return LimitExceededError(msg, limit="nesting", value=_DEEPEST)
