"""Where two snapshots differ: what has the same address is the same."""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false
# A document is Any.

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from attrs import frozen

from graphcodec import _formats
from graphcodec._cache._chunks import Address, Chunk, Entry
from graphcodec._cache._joining import malformed
from graphcodec._coding._document import reference
from graphcodec._limits import exceeded
from graphcodec._paths import Trail, path_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from graphcodec._cache._documents import Documents

Kind: TypeAlias = Literal["added", "removed", "changed"]


@frozen
class Change:
    """One difference between two snapshots.

    Attributes:
        kind: ``added``, ``removed`` or ``changed``.
        path: Where, as ``$.items[3].content``.
    """

    kind: Kind
    path: str


@frozen
class Side:
    """One of the two snapshots.

    Attributes:
        root: Its root.
        chunks: All chunks that it leads to.
    """

    root: Chunk
    chunks: Mapping[Address, Chunk]


@frozen(eq=False)
class _Part:
    """A part of a snapshot that is not unfolded.

    Attributes:
        value: A part of a document.
        chunk: The chunk in which references in it count.
        own: The nodes of that chunk itself.
    """

    value: Any
    chunk: Chunk
    own: list[Any]


@frozen
class _Link:
    """A part of a snapshot that has a chunk of its own.

    Attributes:
        address: Its address.
        number: Which object of the address it is, 0 if it is in its place.
    """

    address: Address
    number: int


_Some: TypeAlias = _Part | _Link


class _View:
    """Unfolds a snapshot where it is looked at.

    Args:
        side: The snapshot.
        documents: Opens the documents in it.
    """

    def __init__(self, side: Side, documents: Documents) -> None:
        self._open = documents.opened
        self._chunks = side.chunks
        self._most = self._left = documents.limits.max_bytes
        self._parts: dict[_Link, _Part] = {}
        self.root = self._part(side.root, 0)

    def opened(self, some: _Some) -> _Part:
        """Return a part that is no reference."""
        while True:
            if isinstance(some, _Link):
                some = self._unfolded(some)
            number = reference(some.value)
            if number is None:
                return some
            if number < len(some.own):
                return _Part(some.own[number], some.chunk, some.own)
            entry = _entry(some, number)
            some = _Link(entry.addresses[0], entry.number)

    def items(self, part: _Part) -> list[_Some]:
        """Return the entries of a list, with those of its runs."""
        found: list[_Some] = []
        stack: list[_Some] = [self._within(part, item) for item in reversed(part.value)]
        while stack:
            some = stack.pop()
            links = self._links(some)
            if len(links) == 1 and not self._is_run(links[0]):
                found.append(links[0])
            elif links:
                runs = (self._opened_run(link) for link in reversed(links))
                stack += [item for run in runs for item in reversed(run)]
            else:
                found.append(some)
        return found

    def _opened_run(self, link: _Link) -> list[_Some]:
        if not self._is_run(link):
            return [link]
        part = self._unfolded(link)
        return [self._within(part, item) for item in part.value]

    def _is_run(self, link: _Link) -> bool:
        return not link.number and type(self._at(link).value) is list

    def _links(self, some: _Some) -> list[_Link]:
        """Return the links that a reference stands for, none if it is no reference."""
        if isinstance(some, _Link):
            return [some]
        number = reference(some.value)
        if number is None or number < len(some.own):
            return []
        entry = _entry(some, number)
        return [_Link(address, entry.number) for address in entry.addresses]

    def fields(self, part: _Part) -> dict[str, _Some]:
        """Return the entries of a map."""
        return {key: self._within(part, item) for key, item in part.value.items()}

    def _within(self, part: _Part, value: Any) -> _Some:
        return _Part(value, part.chunk, part.own)

    def _at(self, link: _Link) -> _Part:
        if link not in self._parts:
            self._parts[link] = self._part(self._chunks[link.address], link.number)
        return self._parts[link]

    def _unfolded(self, link: _Link) -> _Part:
        """Return what is at a link, and count it: a few chunks may unfold to many."""
        part = self._at(link)
        self._left -= len(part.chunk.document)
        if self._left < 0:
            raise exceeded("max_bytes", self._most, self._most - self._left)
        return part

    def _part(self, chunk: Chunk, number: int) -> _Part:
        wire = _formats.read(self._open(chunk.document))
        nodes: list[Any] = wire.get("nodes", [])
        value = nodes[(number - 1) % len(nodes)] if nodes else wire["root"]
        return _Part(value, chunk, nodes)


def _entry(part: _Part, number: int) -> Entry:
    index = number - len(part.own)
    if not 0 <= index < len(part.chunk.entries):
        raise malformed("a chunk", f"it has no link {index}")
    return part.chunk.entries[index]


def differences(a: Side, b: Side, documents: Documents) -> Iterator[Change]:
    """Yield where *b* differs from *a*, in the order of the document.

    Args:
        a: A snapshot.
        b: Another one.
        documents: Opens the documents in them.
    """
    old, new = _View(a, documents), _View(b, documents)
    met: set[tuple[int, int]] = set()
    stack: list[tuple[_Some | None, _Some | None, Trail]] = [(old.root, new.root, None)]
    while stack:
        before, after, trail = stack.pop()
        if before is None or after is None:
            yield Change("added" if before is None else "removed", path_of(trail))
            continue
        if isinstance(before, _Link) and before == after:
            continue
        one, two = old.opened(before), new.opened(after)
        pair = (id(one.value), id(two.value))
        kind = type(one.value)
        if _differs(one.value, two.value):
            yield Change("changed", path_of(trail))
        elif kind is list and pair not in met:
            met.add(pair)
            stack += reversed([*_listed(old.items(one), new.items(two), trail)])
        elif kind is dict and pair not in met:
            met.add(pair)
            stack += reversed([*_mapped(old.fields(one), new.fields(two), trail)])


def _differs(one: Any, two: Any) -> bool:
    """Say whether two parts differ by themselves, whatever is in them."""
    if type(one) is not type(two):
        return True
    if type(one) is dict:
        differs: bool = one.get("$type") != two.get("$type")
        return differs
    return type(one) is not list and one != two


def _listed(
    one: list[_Some], two: list[_Some], trail: Trail
) -> Iterator[tuple[_Some | None, _Some | None, Trail]]:
    for index, (before, after) in enumerate(zip_longest(one, two)):
        yield before, after, (trail, index)


def _mapped(
    one: dict[str, _Some], two: dict[str, _Some], trail: Trail
) -> Iterator[tuple[_Some | None, _Some | None, Trail]]:
    for key in {**one, **two}:
        step = trail if key[:1] == "$" else (trail, key)
        yield one.get(key), two.get(key), step
