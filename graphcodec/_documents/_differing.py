"""Two documents compared by meaning: what was added, removed, changed, moved, shared.

The order of keys, the numbers of nodes, the format and the frame mean nothing. No class
is known and nothing is decoded, so documents of any codec can be compared.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false
# A parsed document is Any until it was looked at.

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, Final, Literal, TypeAlias

import msgspec
from attrs import define, field, frozen

from graphcodec import _formats, _frames
from graphcodec._documents._aligning import Pair, align
from graphcodec._documents._classless import reference, tag_of, unwrapped
from graphcodec._documents._converting import as_json
from graphcodec._documents._rules import levels
from graphcodec._limits import Limits, exceeded
from graphcodec._paths import Step, Trail, path_of
from graphcodec._values import write_int
from graphcodec.errors import LimitExceededError

Change: TypeAlias = Literal[
    "added", "removed", "changed", "moved", "shared", "unshared"
]

_DEEPEST: Final = 100
_MOST: Final = 1_000_000
_MARK: Final = b"$ref"
_ORDERED: Final = frozenset({"$tuple", "$deque"})
_UNORDERED: Final = frozenset({"$set", "$frozenset"})
_IDENTITIES: Final = ("id", "identifier")

_packed: Final = msgspec.msgpack.Encoder(order="sorted").encode


@frozen(kw_only=True)
class Difference:
    """One thing in which two documents differ.

    Attributes:
        change: What happened to it. ``shared`` means that what were two objects is now
            one, which also stands at `other`; ``unshared`` is the opposite.
        path: Where it is in the new document; in the old one, if it was removed.
        old_path: Where it was in the old document, if that is another place.
        other: For sharing, the first place at which the one object stands.
        before: What stood there, as on the wire, references at the top followed; None
            if it was added.
        after: The same of what stands there; None if it was removed.
    """

    change: Change
    path: str
    old_path: str = ""
    other: str = ""
    before: object = None
    after: object = None


def differences(
    old: bytes, new: bytes, *, limits: Limits | None = None
) -> tuple[Difference, ...]:
    """Return in what two documents differ, in the order of the new one.

    Args:
        old: A document, in a frame or not.
        new: Another one.
        limits: What each may cost.

    Raises:
        UndecodableValueError: If one is no document.
        LimitExceededError: If one breaks a limit, or nests deeper than documents do;
            or if there are more than a million differences.
        VersionError: If one is of a later version.
    """
    limits = limits or Limits()
    comparison = _Comparison(_Side.of(old, limits), _Side.of(new, limits))
    return tuple(comparison.run())


@define
class _Side:
    """One of the two documents.

    Attributes:
        root: Its root.
        nodes: Its nodes.
    """

    root: Any
    nodes: list[Any]
    _digests: list[Hashable] = field(factory=list[Hashable], init=False)

    @classmethod
    def of(cls, data: bytes, limits: Limits) -> _Side:
        if len(data) > limits.max_bytes:
            raise exceeded("max_bytes", limits.max_bytes, len(data), "$")
        document = _frames.opened(data, limits)
        wire = _formats.read(document)
        if _formats.is_binary(document):
            wire = as_json(wire)
        nodes: list[Any] = wire.get("nodes", [])
        for part in (*nodes, wire["root"]):
            if levels(part) > _DEEPEST:
                msg = f"the document nests deeper than {_DEEPEST} levels"
                raise LimitExceededError(msg, path="$", limit="nesting")
        return cls(wire["root"], nodes)

    def number(self, value: Any) -> int | None:
        """Return the number of the node that *value* refers to, if there is one."""
        number = reference(value)
        return number if number is not None and self._is_node(number) else None

    def _is_node(self, number: int) -> bool:
        return 0 <= number < len(self.nodes)

    def target(self, value: Any) -> Any:
        """Return what *value* refers to; itself, if it is no reference."""
        number = self.number(value)
        return value if number is None else unwrapped(self.nodes[number])

    def digest(self, value: Any) -> Hashable:
        """Return what equal values have in common: their canonical form, or its hash.

        Args:
            value: A part of the document.
        """
        while len(self._digests) < len(self.nodes):
            self._digests.append(self._digest(self.nodes[len(self._digests)]))
        return self._digest(value)

    def _digest(self, value: Any) -> Hashable:
        text = _canonical(value)
        if _MARK in text:
            text = _canonical(self._unfolded(value))
        return hash(text)

    def _unfolded(self, value: Any) -> Any:
        """Return *value* with the digests of nodes instead of their numbers."""
        number = reference(value)
        if number is not None:
            # A number that is not known yet closes a cycle, which is compared later.
            ready = 0 <= number < len(self._digests)
            return {"$ref": self._digests[number] if ready else None}
        if type(value) is dict:
            return {key: self._unfolded(item) for key, item in value.items()}
        if type(value) is list:
            return [self._unfolded(item) for item in value]
        return value


def _canonical(value: Any) -> bytes:
    """Return what equal values have in common, and no others."""
    try:
        return _packed(value)
    except OverflowError:
        return _packed(_fitted(value))


def _fitted(value: Any) -> Any:
    """Return *value* with the marker for ints that JSON may have, and nothing else."""
    if type(value) is int:
        return write_int(value)
    if type(value) is dict:
        return {key: _fitted(item) for key, item in value.items()}
    if type(value) is list:
        return [_fitted(item) for item in value]
    return value


@frozen
class _View:
    """What a value on the wire is.

    Attributes:
        kind: ``map``, ``list``, ``set`` or ``leaf``.
        head: The tag or the marker: values that differ in it have nothing in common.
        parts: What is in it, with the step to it; None for a mere wrapper.
    """

    kind: str
    head: Hashable
    parts: list[tuple[Step | None, Any]] = field(factory=list[tuple[Step | None, Any]])


def _view(value: Any) -> _View:
    if type(value) is list:
        return _View("list", "list", list(enumerate(value)))
    if type(value) is not dict:
        return _View("leaf", type(value).__name__)
    tag = tag_of(value)
    if tag is not None:
        return _View(
            "map", tag, [_named(k, v) for k, v in value.items() if k != "$type"]
        )
    marker = next((key for key in value if key[:1] == "$"), "")
    items = value.get(marker)
    if marker == "$dict" and type(items) is list:
        return _View("map", "map", list(_pairs(items)))
    if marker in _ORDERED and type(items) is list:
        head = (marker, value.get("maxlen"))
        return _View("list", head, list(enumerate(items)))
    if marker in _UNORDERED and type(items) is list:
        return _View("set", marker, list(enumerate(items)))
    if marker:
        return _View("leaf", marker)
    return _View("map", "map", list(value.items()))


def _named(key: str, value: Any) -> tuple[Step | None, Any]:
    return (None if key == "$value" else key), value


def _pairs(items: list[Any]) -> Iterator[tuple[Step, Any]]:
    for index, pair in enumerate(items):
        match pair:
            case [str(key), value]:
                yield key, value
            case [key, value]:
                yield (
                    _Odd(
                        str(msgspec.json.encode(_fitted(key), order="sorted"), "utf-8")
                    ),
                    value,
                )
            case _:
                yield _Odd(f"pair {index}"), pair


class _Odd(str):
    """The step to the value of a key that is no text, and equals none that is."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Odd) and str.__eq__(self, other)

    def __hash__(self) -> int:
        return hash((_Odd, str(self)))


_Task: TypeAlias = tuple[Any, Any, Trail, Trail]
_Identity: TypeAlias = tuple[str, int]


class _Comparison:
    """Compares two documents, with a work list: graphs are deeper than the stack."""

    def __init__(self, old: _Side, new: _Side) -> None:
        self._old = old
        self._new = new
        # What each node was first met as on the other side, and where.
        self._of_old: dict[int, tuple[_Identity, Trail]] = {}
        self._of_new: dict[int, tuple[_Identity, Trail]] = {}
        self._compared: set[tuple[_Identity, _Identity]] = set()

    def run(self) -> Iterator[Difference]:
        stack: list[_Task | Difference] = [(self._old.root, self._new.root, None, None)]
        count = 0
        while stack:
            task = stack.pop()
            if isinstance(task, Difference):
                count += 1
                if count > _MOST:
                    # References can pair every node with every other one.
                    msg = f"there are more than {_MOST:,} differences"
                    raise LimitExceededError(msg, limit="differences", value=count)
                yield task
            else:
                stack.extend(reversed(list(self._steps(*task))))

    def _steps(
        self, old: Any, new: Any, at_old: Trail, at_new: Trail
    ) -> Iterator[_Task | Difference]:
        """Yield what two parts differ in, and the parts of theirs to compare."""
        old, new = unwrapped(old), unwrapped(new)
        if self._old.number(old) is not None or self._new.number(new) is not None:
            found = self._met(old, new, at_old, at_new)
            if found is not None:
                yield found
            if not self._is_due(old, new, known=found is not None):
                return
            old, new = self._old.target(old), self._new.target(new)
        text = _canonical(old)
        if _MARK not in text and text == _canonical(new):
            return
        one, two = _view(old), _view(new)
        if one.kind == "leaf" or (one.kind, one.head) != (two.kind, two.head):
            if text != _canonical(new):
                yield _difference("changed", at_old, at_new, old, new)
        elif one.kind == "map":
            yield from self._maps(one, two, at_old, at_new)
        else:
            yield from self._lists(one, two, at_old, at_new)

    # Sharing

    def _met(
        self, old: Any, new: Any, at_old: Trail, at_new: Trail
    ) -> Difference | None:
        """Return the difference if one of two was met before as something else."""
        a, b = self._old.number(old), self._new.number(new)
        one, two = _identity(a, old), _identity(b, new)
        known_b = None if a is None else self._of_old.get(a)
        known_a = None if b is None else self._of_new.get(b)
        if a is not None:
            self._of_old.setdefault(a, (two, at_old))
        if b is not None:
            self._of_new.setdefault(b, (one, at_new))
        if known_b is not None and known_b[0] != two:
            change: Change = "unshared"
            other = known_b[1]
        elif known_a is not None and known_a[0] != one:
            change, other = "shared", known_a[1]
        else:
            return None
        return Difference(
            change=change,
            path=path_of(at_new),
            old_path=_other_path(at_old, at_new),
            other=path_of(other),
        )

    def _is_due(self, old: Any, new: Any, *, known: bool) -> bool:
        """Say whether two objects are to be compared, which happens once."""
        pair = (
            _identity(self._old.number(old), old),
            _identity(self._new.number(new), new),
        )
        if pair in self._compared:
            return False
        self._compared.add(pair)
        return not known or self._old.digest(self._old.target(old)) != self._new.digest(
            self._new.target(new)
        )

    # Maps

    def _maps(
        self, one: _View, two: _View, at_old: Trail, at_new: Trail
    ) -> Iterator[_Task | Difference]:
        before, after = dict(one.parts), dict(two.parts)
        for step, value in one.parts:
            if step not in after:
                trail = _inner(at_old, step)
                gone = self._old.target(value)
                yield _difference("removed", trail, None, gone, None)
        for step, value in two.parts:
            inner = _inner(at_new, step)
            if step in before:
                yield before[step], value, _inner(at_old, step), inner
            else:
                come = self._new.target(value)
                yield _difference("added", None, inner, None, come)

    # Lists and sets

    def _lists(
        self, one: _View, two: _View, at_old: Trail, at_new: Trail
    ) -> Iterator[_Task | Difference]:
        old = [item for _, item in one.parts]
        new = [item for _, item in two.parts]
        for pair in self._aligned(old, new, ordered=one.kind == "list"):
            a, b = pair.old, pair.new
            if b is None and a is not None:
                gone = self._old.target(old[a])
                yield _difference("removed", (at_old, a), None, gone, None)
            elif a is None and b is not None:
                come = self._new.target(new[b])
                yield _difference("added", None, (at_new, b), None, come)
            elif a is not None and b is not None:
                if pair.moved and one.kind == "list":
                    trails = (at_old, a), (at_new, b)
                    yield _difference("moved", *trails, old[a], new[b])
                yield old[a], new[b], (at_old, a), (at_new, b)

    def _aligned(self, old: list[Any], new: list[Any], *, ordered: bool) -> list[Pair]:
        ours, kinds = _keys(old, self._old, ordered=ordered)
        theirs, others = _keys(new, self._new, ordered=ordered)
        return align(ours, theirs, (kinds, others))


def _keys(
    items: list[Any], side: _Side, *, ordered: bool
) -> tuple[list[Hashable], list[Hashable]]:
    """Return what tells the entries of a list apart, and of what kind each is."""
    keys: list[Hashable] = []
    kinds: list[Hashable] = []
    for item in items:
        value = side.target(unwrapped(item))
        name = _name(value)
        keys.append(("content", side.digest(value)) if name is None else name)
        known = name is not None or not ordered
        # In a document made by hand, a head may be anything, also a dict.
        view = _view(value)
        kinds.append(None if known else (view.kind, repr(view.head)))
    return keys, kinds


def _name(value: Any) -> Hashable | None:
    """Return what an object is called in its list, if it has an id."""
    tag = tag_of(value)
    if tag is None:
        return None
    for key in _IDENTITIES:
        name = value.get(key)
        if type(name) in (str, int):
            return tag, name
    return None


def _identity(number: int | None, value: Any) -> _Identity:
    return ("inline", id(value)) if number is None else ("node", number)


def _inner(trail: Trail, step: Step | None) -> Trail:
    return trail if step is None else (trail, step)


def _other_path(at_old: Trail, at_new: Trail) -> str:
    old = path_of(at_old)
    return "" if old == path_of(at_new) else old


def _difference(
    change: Change, at_old: Trail, at_new: Trail, before: Any, after: Any
) -> Difference:
    match change:
        case "removed":
            path, old_path = path_of(at_old), ""
        case "added":
            path, old_path = path_of(at_new), ""
        case _:
            path, old_path = path_of(at_new), _other_path(at_old, at_new)
    return Difference(
        change=change, path=path, old_path=old_path, before=before, after=after
    )


# For people


_AROUND: Final = 24


def changed_part(before: str, after: str) -> tuple[str, str]:
    """Return of two texts the part in which they differ, with a little around it.

    Args:
        before: A text.
        after: Another one.
    """
    shortest = min(len(before), len(after))
    start = next((i for i in range(shortest) if before[i] != after[i]), shortest)
    room = shortest - start
    end = next((i for i in range(room) if before[-1 - i] != after[-1 - i]), room)
    return _part(before, start, end), _part(after, start, end)


def _part(text: str, start: int, end: int) -> str:
    first = max(0, start - _AROUND)
    last = min(len(text), len(text) - end + _AROUND)
    return f"{'…' * (first > 0)}{text[first:last]}{'…' * (last < len(text))}"
