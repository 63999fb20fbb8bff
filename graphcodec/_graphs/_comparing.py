"""Whether two graphs are the same: types, values and sharing, in linear time.

``==`` answers another question: it holds for ``1`` and ``True``, not for two NaNs, says
nothing about sharing, and takes exponential time where tuples share each other.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# A parsed document, and a user's object, is Any until it was looked at.

from __future__ import annotations

import enum
import typing
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, TypeAlias

from graphcodec._classes import _slots as slots
from graphcodec._classes._layouts import layout_of, object_fields
from graphcodec._classes._slots import SCALARS, OneOf, Row, Slot, Table, slot_of
from graphcodec._live import type_name
from graphcodec._paths import Step, Trail, excerpt, steps_of
from graphcodec._unknown import Kept, OpaqueMember, OpaqueNode, Shared
from graphcodec.readers._contracts import Reader

Difference: TypeAlias = "tuple[tuple[Step, ...], str]"

_CONTAINERS: Final = (list, tuple, set, frozenset, deque, dict)


def difference(a: object, b: object) -> Difference | None:
    """Return where two graphs first differ and how; None if they are the same.

    The identity of a container counts within one untyped field only, as on the wire;
    that of a reader, which is a value, does not count.

    Args:
        a: A graph.
        b: Another one.
    """
    return _Comparison().run(a, b)


class _Comparison:
    """One comparison; those of set members are comparisons of their own.

    Args:
        depth: How many comparisons stand around this one.
    """

    def __init__(self, depth: int = 0) -> None:
        self._depth = depth
        self._ours: dict[tuple[int, int], int] = {}
        self._theirs: dict[tuple[int, int], int] = {}
        # What is compared stays alive, so that no id is used twice.
        self._held: list[object] = []
        self._stack: list[tuple[Any, Any, Trail, int]] = []
        self._pairs: set[tuple[int, int]] = set()
        self._scopes = 0

    def run(self, a: object, b: object) -> Difference | None:
        self._stack.append((a, b, None, 0))
        while self._stack:
            a, b, trail, scope = self._stack.pop()
            reason = self._compare(a, b, trail, scope)
            if reason is not None:
                return tuple(steps_of(trail)), reason
        return None

    def _compare(self, a: Any, b: Any, trail: Trail, scope: int) -> str | None:
        # A container in a kept value counts for itself.
        a = a.value if type(a) is Shared else a
        b = b.value if type(b) is Shared else b
        kind = type(a)
        if kind is not type(b):
            return f"{type_name(kind)} became {type_name(type(b))}"
        if kind in SCALARS or isinstance(a, (enum.Enum, OpaqueMember)):
            return None if _same_scalar(a, b) else f"{excerpt(a)} became {excerpt(b)}"
        if kind in _CONTAINERS and not a and not b and kind in (tuple, frozenset):
            return None
        if isinstance(a, Reader):
            return None if a == b else "a reader opens something else"
        if kind in _CONTAINERS and scope < 0:
            return None if self._paired(a, b) else self._parts(a, b, trail, scope)
        seen = self._seen(a, b, scope if kind in _CONTAINERS else 0)
        if seen is not None:
            return seen or None
        return self._parts(a, b, trail, scope)

    def _paired(self, a: object, b: object) -> bool:
        """Say whether two containers in a typed field were compared before."""
        pair = id(a), id(b)
        if pair in self._pairs:
            return True
        self._pairs.add(pair)
        self._held += (a, b)
        return False

    def _seen(self, a: object, b: object, scope: int) -> str | None:
        """Say '' if the pair was met before, a reason if it was not a pair then."""
        mine, yours = (scope, id(a)), (scope, id(b))
        known, back = self._ours.get(mine), self._theirs.get(yours)
        if known is None and back is None:
            self._ours[mine], self._theirs[yours] = id(b), id(a)
            self._held += (a, b)
            return None
        if known == id(b) and back == id(a):
            return ""
        return f"two references to one {type(a).__name__} became references to two"

    def _parts(self, a: Any, b: Any, trail: Trail, scope: int) -> str | None:
        match a:
            case list() | tuple() | deque() if type(a) in _CONTAINERS:
                return self._sequences(a, b, trail, scope)
            case dict() if type(a) in _CONTAINERS:
                return self._dicts(a, b, trail, scope)
            case set() | frozenset() if type(a) in _CONTAINERS:
                return self._matched(a, b, trail, scope)
            case Kept():
                self._scopes += 1
                return self._later([("", a.tree, b.tree)], trail, -self._scopes)
            case OpaqueNode():
                return self._opaque(a, b, trail)
            case _:
                return self._objects(a, b, trail)

    def _sequences(self, a: Any, b: Any, trail: Trail, scope: int) -> str | None:
        if len(a) != len(b):
            return f"{len(a)} items became {len(b)}"
        if type(a) is deque and a.maxlen != b.maxlen:
            return f"maxlen {a.maxlen} became {b.maxlen}"
        pairs = [(i, x, y) for i, (x, y) in enumerate(zip(a, b, strict=True))]
        return self._later(pairs, trail, scope)

    def _dicts(self, a: Any, b: Any, trail: Trail, scope: int) -> str | None:
        if all(type(key) is str for key in a):
            if a.keys() != b.keys():
                return "the keys differ"
            return self._later([(k, v, b[k]) for k, v in a.items()], trail, scope)
        reason, pairs = _match(a, b, self._depth)
        if reason is not None:
            return reason
        self._later([(excerpt(x), x, y) for x, y in pairs], trail, scope)
        return self._later([(excerpt(x), a[x], b[y]) for x, y in pairs], trail, scope)

    def _matched(self, a: Any, b: Any, trail: Trail, scope: int) -> str | None:
        reason, pairs = _match(a, b, self._depth)
        if reason is not None:
            return reason
        return self._later([(excerpt(x), x, y) for x, y in pairs], trail, scope)

    def _opaque(self, a: OpaqueNode, b: OpaqueNode, trail: Trail) -> str | None:
        if (a.tag, a.version) != (b.tag, b.version):
            return f"{a.tag} {a.version} became {b.tag} {b.version}"
        self._scopes += 1
        return self._dicts(dict(a.fields), dict(b.fields), trail, self._scopes)

    def _objects(self, a: Any, b: Any, trail: Trail) -> str | None:
        mine, yours = dict(object_fields(a)), dict(object_fields(b))
        if not mine and not yours:
            return self._own(a, b, trail)
        if mine.keys() != yours.keys():
            return "other fields are set"
        typed = _typed_containers(type(a))
        for name in reversed(mine):
            self._scopes += 1
            scope = -self._scopes if name in typed else self._scopes
            self._stack.append((mine[name], yours[name], (trail, name), scope))
        return None

    def _own(self, a: Any, b: Any, trail: Trail) -> str | None:
        encode = getattr(type(a), "__graphcodec_encode__", None)
        if encode is not None:
            self._scopes += 1
            self._stack.append((encode(a), encode(b), trail, self._scopes))
            return None
        return None if a == b else f"a {type_name(type(a))} became another one"

    def _later(
        self, pairs: Sequence[tuple[Step, Any, Any]], trail: Trail, scope: int
    ) -> str | None:
        """Put parts on the stack; what they differ in is not known yet."""
        for step, x, y in reversed(pairs):
            self._stack.append((x, y, trail if step == "" else (trail, step), scope))
        return None


def _typed_container_names(cls: Any) -> frozenset[str]:
    """Return the fields of *cls* whose containers are written one by one."""
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except NameError:
        return frozenset()
    return frozenset(
        part.key or part.name
        for part in layout_of(cls).parts
        if _is_container(slot_of(hints.get(part.name), lambda _: True))
    )


def _is_container(slot: Slot) -> bool:
    if isinstance(slot, OneOf):
        return slot.other is not None and _is_container(slot.other)
    return isinstance(slot, (slots.Sequence, Row, Table))


# Not as a decorator: type checkers hold that a class might not be hashable.
_typed_containers: Final[Callable[[type], frozenset[str]]] = lru_cache(maxsize=1024)(
    _typed_container_names
)


def _match(
    a: Iterable[Any], b: Iterable[Any], depth: int
) -> tuple[str | None, list[Any]]:
    """Pair the members of two sets, or the keys of two dicts."""
    pairs: list[tuple[Any, Any]] = []
    left, right = list(a), list(b)
    # Those that hash by identity are alike in nothing but their class.
    for likeness in (_equality, _likeness, type):
        left, right = _pair_off(left, right, likeness, pairs, depth)
    if left:
        return f"{excerpt(left[0])} is missing", []
    return (f"{len(right)} members too many" if right else None), pairs


def _pair_off(
    left: list[Any],
    right: list[Any],
    likeness: Callable[[Any], object],
    pairs: list[tuple[Any, Any]],
    depth: int,
) -> tuple[list[Any], list[Any]]:
    """Add to *pairs* what is the same, and return what is left on both sides."""
    ours, theirs = _grouped(left, likeness), _grouped(right, likeness)
    lonely: list[Any] = []
    for key, members in ours.items():
        group = theirs.get(key, [])
        # No other can be meant; what two differ in is found where they stand.
        if likeness is not type and len(members) == len(group) == 1:
            pairs.append((members[0], group.pop()))
            continue
        for member in members:
            found = (i for i, x in enumerate(group) if _alike(member, x, depth))
            index = next(found, None)
            if index is None:
                lonely.append(member)
            else:
                pairs.append((member, group.pop(index)))
    return lonely, [member for group in theirs.values() for member in group]


def _grouped(
    members: Iterable[Any], likeness: Callable[[Any], object]
) -> dict[object, list[Any]]:
    groups: dict[object, list[Any]] = {}
    for member in members:
        groups.setdefault(likeness(member), []).append(member)
    return groups


def _alike(a: object, b: object, depth: int) -> bool:
    # A set may hold what holds the set; pairs are compared again in their place.
    return depth > _DEEPEST or _Comparison(depth + 1).run(a, b) is None


_DEEPEST: Final = 2


def _equality(member: Any) -> object:
    """Return something that members have in common if they are equal.

    A frozenset knows its hash; that of a tuple may take exponential time.
    """
    return hash(member) if type(member) is frozenset else _likeness(member)


def _likeness(member: Any, depth: int = 3) -> object:
    """Return something that members have in common if they may be the same.

    Not the hash: two NaNs, alone or in a tuple, have different ones.
    """
    kind = type(member)
    if kind is int:
        # Not its text, which is slow and has a limit.
        return kind, member
    if kind in SCALARS:
        return kind, repr(member)
    if kind is tuple and depth:
        return kind, tuple(_likeness(item, depth - 1) for item in member)
    if kind is frozenset and depth:
        counts = Counter(_likeness(item, depth - 1) for item in member)
        return kind, frozenset(counts.items())
    if kind in (tuple, frozenset):
        return kind, len(member)
    return kind, hash(member)


def _same_scalar(a: Any, b: Any) -> bool:
    match a:
        case float() | complex() | Decimal():
            return repr(a) == repr(b)
        case datetime() | time():
            return (
                a.replace(tzinfo=None) == b.replace(tzinfo=None)
                and a.fold == b.fold
                and repr(a.tzinfo) == repr(b.tzinfo)
            )
        case enum.Enum():
            return a is b or a == b
        case _:
            return bool(a == b)
