"""What all primitives have in common: unknown fields, copies and comparison."""

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Final, Self, TypeVar, cast

from attrs import Attribute, define, evolve, field

__all__ = ["Primitive"]

P = TypeVar("P", bound="type[Primitive]")

Pairs = list[tuple[object, object]]


def _slotted(cls: P) -> P:
    """Make an attrs class, without type checkers taking it for one.

    They would hold frozen subclasses against mutable ones, where only the latter two
    are meant to be constructed at all.
    """
    return define(cls, eq=False, repr=False)


class _Summary(str):
    """A text that is its own repr."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@_slotted
class Primitive:  # noqa: PLW1641 - what a hash is made of, each class knows
    """The base of everything that a conversation is made of.

    A subclass is an attrs class with ``__graphcodec_tag__``, the name under which it is
    written. Two primitives are equal if they are of one class and their fields are
    equal; neither depth nor cycles make the comparison raise a `RecursionError`.
    """

    if TYPE_CHECKING:
        # It is an attrs class all the same.
        __attrs_attrs__: ClassVar[tuple[Attribute[object], ...]]

    # Fields that a newer version wrote and this one does not know: the codec's to use.
    _unknown: Mapping[str, object] | None = field(
        default=None,
        init=False,
        eq=False,
        repr=False,
        metadata={"graphcodec": "extra"},
    )

    def __attrs_post_init__(self) -> None:
        self.__graphcodec_check__()

    def __graphcodec_check__(self) -> None:
        """Verify the final values of all fields; `checked` puts a generated one here.

        Raises:
            InvalidValueError: If a field breaks a rule.
        """

    def replace(self, **changes: object) -> Self:
        """Return a copy with other values in some fields, validated again.

        The fields that are not named are shared with the original, among them a
        ``stash``, and so are the unknown fields that came with a document.

        Args:
            **changes: The new values, by the names of the constructor.

        Raises:
            InvalidValueError: If the result breaks a rule.
            TypeError: If there is no such field.
        """
        copy = evolve(self, **changes)  # type: ignore[misc]  # see _slotted
        object.__setattr__(copy, "_unknown", self._unknown)
        return copy

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not type(self):
            return NotImplemented
        return _same(self, other)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._summary()})"

    def __rich_repr__(self) -> Iterator[object]:
        # rich would show all fields of an attrs class, and so its content.
        yield _Summary(self._summary())

    def _repr_html_(self) -> str:
        """Return what a notebook shows, which is for looking: with the content."""
        from graphcodec.primitives._notebook import html_of  # noqa: PLC0415 - rarely

        return html_of(self)

    def _summary(self) -> str:
        """Return what a repr shows: what identifies the object, never its content."""
        return ""


def _same(left: object, right: object) -> bool:
    """Compare two graphs with a work list instead of recursion.

    A pair that is met again is taken as equal: if it is not, its first visit finds out.
    That ends cycles, and compares what is shared once.
    """
    seen: set[tuple[int, int]] = set()
    todo: Pairs = [(left, right)]
    while todo:
        a, b = todo.pop()
        if a is b:
            continue
        kind = type(a)
        pairs = _pairing(kind)
        if pairs is None or type(b) is not kind:
            if a == b:
                continue
            return False
        if (id(a), id(b)) in seen:
            continue
        seen.add((id(a), id(b)))
        found = pairs(a, b)
        if found is None:
            return False
        todo += found
    return True


def _pairing(kind: type) -> Callable[[object, object], Pairs | None] | None:
    """Return what pairs the parts of two values of *kind*; None if ``==`` will do."""
    if cast("object", kind.__eq__) is Primitive.__eq__:
        return _field_pairs
    return _PAIRINGS.get(kind)


def _field_pairs(a: object, b: object) -> Pairs:
    attributes = cast("Primitive", a).__attrs_attrs__
    names = [attribute.name for attribute in attributes if attribute.eq]
    return [(getattr(a, name), getattr(b, name)) for name in names]


def _sequence_pairs(a: object, b: object) -> Pairs | None:
    left, right = cast("Collection[object]", a), cast("Collection[object]", b)
    if len(left) != len(right):
        return None
    return list(zip(left, right, strict=True))


def _dict_pairs(a: object, b: object) -> Pairs | None:
    left, right = cast("dict[object, object]", a), cast("dict[object, object]", b)
    keys = _set_pairs(left, right)
    if keys is None:
        return None
    return keys + [(left[mine], right[theirs]) for mine, theirs in keys]


def _set_pairs(a: object, b: object) -> Pairs | None:
    """Pair members by hash; a lookup would compare deep members recursively."""
    left, right = cast("Collection[object]", a), cast("Collection[object]", b)
    if len(left) != len(right):
        return None
    groups: dict[int, list[object]] = {}
    for member in right:
        groups.setdefault(hash(member), []).append(member)
    found: Pairs = []
    for member in left:
        match = _take(groups.get(hash(member), []), member)
        if match is None:
            return None
        found.append((member, match[0]))
    return found


def _take(group: list[object], wanted: object) -> tuple[object] | None:
    """Remove from *group* the one that may equal *wanted*, and return it in a tuple."""
    if len(group) == 1:
        return (group.pop(),)
    for index, candidate in enumerate(group):
        if _same(wanted, candidate):
            return (group.pop(index),)
    return None


_PAIRINGS: Final[Mapping[type, Callable[[object, object], Pairs | None]]] = {
    dict: _dict_pairs,
    list: _sequence_pairs,
    tuple: _sequence_pairs,
    deque: _sequence_pairs,
    set: _set_pairs,
    frozenset: _set_pairs,
}
