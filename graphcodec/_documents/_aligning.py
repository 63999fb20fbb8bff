"""Two lists side by side: what was kept, moved, changed, removed and added.

In time that grows with the length of the lists, and hardly faster.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from typing import TypeAlias

from attrs import frozen

Key: TypeAlias = Hashable


@frozen
class Pair:
    """An entry of the new list, of the old one, or of both.

    Attributes:
        old: Its index in the old list; None if it was added.
        new: Its index in the new list; None if it was removed.
        moved: Whether others that it stood among stand on its other side.
    """

    old: int | None
    new: int | None
    moved: bool = False


def align(
    old: Sequence[Key], new: Sequence[Key], kinds: tuple[Sequence[Key], Sequence[Key]]
) -> list[Pair]:
    """Return the entries of two lists by pairs, in the order of the new list.

    Entries of equal keys belong together: the first to the first, the second to the
    second. What is left between two of them is paired in order if of one kind.

    Args:
        old: What tells the entries of the old list apart: an id, or the content.
        new: The same of the new list.
        kinds: What each entry is, of both lists; None if it has an id, and is nobody
            else.
    """
    matches = _matches(old, new)
    kept = _longest_rising(matches)
    moved = {b: a for a, b in matches if (a, b) not in kept}
    taken = set(moved.values())
    out: list[Pair] = []
    begin_a = begin_b = 0
    for a, b in [*sorted(kept), (len(old), len(new))]:
        gap_a = [i for i in range(begin_a, a) if i not in taken]
        gap_b = range(begin_b, b)
        out += _between(gap_a, gap_b, moved, kinds)
        if a < len(old):
            out.append(Pair(a, b))
        begin_a, begin_b = a + 1, b + 1
    return out


def _matches(old: Sequence[Key], new: Sequence[Key]) -> list[tuple[int, int]]:
    """Return the indices of entries with equal keys, in the order of the old list."""
    where: dict[Key, list[int]] = {}
    for b in range(len(new) - 1, -1, -1):
        where.setdefault(new[b], []).append(b)
    found: list[tuple[int, int]] = []
    for a, key in enumerate(old):
        places = where.get(key)
        if places:
            found.append((a, places.pop()))
    return found


def _longest_rising(matches: list[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return the most matches that have the same order in both lists."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, (_, b) in enumerate(matches):
        place = bisect_left(tails, b)
        before.append(ends[place - 1] if place else -1)
        if place == len(tails):
            tails.append(b)
            ends.append(number)
        else:
            tails[place] = b
            ends[place] = number
    found: set[tuple[int, int]] = set()
    number = ends[-1] if ends else -1
    while number >= 0:
        found.add(matches[number])
        number = before[number]
    return found


def _between(
    old: list[int],
    new: range,
    moved: dict[int, int],
    kinds: tuple[Sequence[Key], Sequence[Key]],
) -> Iterator[Pair]:
    """Yield what lies between two entries that both lists have."""
    left: dict[Key, list[int]] = {}
    for a in reversed(old):
        left.setdefault(kinds[0][a], []).append(a)
    paired: dict[int, int] = {}
    for b in new:
        kind = kinds[1][b]
        if b not in moved and kind is not None and left.get(kind):
            paired[b] = left[kind].pop()
    gone = set(old) - set(paired.values())
    yield from (Pair(a, None) for a in old if a in gone)
    for b in new:
        if b in moved:
            yield Pair(moved[b], b, moved=True)
        else:
            yield Pair(paired.get(b), b)
