"""In which order the nodes of a document stand: children first.

A tree with shared parts needs no work: what is finished first comes first. Only a graph
with cycles, or one so deep that parts of it were deferred, is ordered here, by a pass
over its references.

Inside a cycle "children first" means nothing; what matters is what must exist before a
node can be made. A list, a dict or an instance of a mutable class can exist while it is
still empty, so a reference from inside it is soft; one from a tuple, a set or a field
of a frozen class is hard. A graph can be rebuilt exactly if its hard references have no
cycle, and then the nodes stand in an order in which they point backwards.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# A parsed document, and a user's object, is Any until it was looked at.

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Final

from graphcodec._coding._document import Document, Inside
from graphcodec._paths import format_path
from graphcodec.errors import CyclicGraphError


def order_nodes(document: Document) -> list[int]:
    """Return the numbers of the nodes in the order in which they can be decoded.

    Args:
        document: The document, its nodes in any order.

    Raises:
        CyclicGraphError: If there is no such order.
    """

    @cache
    def everything(number: int) -> list[int]:
        return document.edges(document.nodes[number], Inside.ANY)

    def needed(number: int) -> list[int]:
        return document.edges(document.nodes[number], Inside.ANY, hard=True)

    reached = document.edges(document.root, Inside.ROOT)
    order, cycle = _children_first(reached, everything)
    if cycle is None:
        return order
    _refuse_hashed(document, order, everything)
    ordered, cycle = _children_first(order, needed)
    if cycle is not None:
        # What is not known here may be mutable where it is.
        document.lenient = True
        ordered, cycle = _children_first(order, needed)
    if cycle is not None:
        raise _cyclic(document, cycle, _FROZEN)
    return ordered


_HASHED: Final = (
    "a set member or dict key, which can't be hashed before it is complete",
    "keep the members in a list, or refer to one of them by its id",
)
_FROZEN: Final = (
    "frozen objects, tuples or sets alone",
    "let one object of the cycle be mutable, or refer to it by its id",
)


def _refuse_hashed(
    document: Document, order: list[int], children: Callable[[int], list[int]]
) -> None:
    """Refuse a cycle through a set member or key: a hash needs all of an object."""
    knots = _knots(order, children)
    for number in order:
        hashed = document.edges(document.nodes[number], Inside.ANY, hashed=True)
        if any(knots[other] == knots[number] for other in hashed):
            raise _cyclic(document, number, _HASHED)


def _knots(order: list[int], children: Callable[[int], list[int]]) -> dict[int, int]:
    """Return for each number one that all of its cycles have in common.

    Kosaraju's algorithm: against the edges, and from the last in post-order, one
    reaches just what lies on a common cycle.
    """
    parents: dict[int, list[int]] = {number: [] for number in order}
    for number in order:
        for child in children(number):
            parents[child].append(number)
    found: dict[int, int] = {}
    for first in reversed(order):
        stack = [first]
        while stack:
            number = stack.pop()
            if number not in found:
                found[number] = first
                stack.extend(parents[number])
    return found


def cycles(count: int, children: Callable[[int], list[int]]) -> list[list[int]]:
    """Return numbers in groups, children first: those of common cycles are together.

    Args:
        count: How many numbers there are, from 0.
        children: Gives those that a number refers to.
    """
    order, _ = _children_first(range(count), children)
    knots = _knots(order, children)
    groups: dict[int, list[int]] = {}
    for number in range(count):
        groups.setdefault(knots[number], []).append(number)
    # A group is known by the one of its numbers that was finished last.
    return [groups[number] for number in order if number in groups]


def _children_first(
    roots: Iterable[int], children: Callable[[int], list[int]]
) -> tuple[list[int], int | None]:
    """Return a post-order, and a number on a cycle if there is one."""
    order: list[int] = []
    cycle: int | None = None
    finished: dict[int, bool] = {}
    stack: list[tuple[int, Iterator[int]]] = []
    for root in roots:
        if root in finished:
            continue
        finished[root] = False
        stack.append((root, iter(children(root))))
        while stack:
            number, rest = stack[-1]
            child = next(rest, None)
            if child is None:
                stack.pop()
                finished[number] = True
                order.append(number)
            elif child not in finished:
                finished[child] = False
                stack.append((child, iter(children(child))))
            elif not finished[child]:
                cycle = child
    return order, cycle


def _cyclic(document: Document, number: int, why: tuple[str, str]) -> CyclicGraphError:
    node = document.nodes[number]
    tag = node.get("$type") if type(node) is dict else None
    path = format_path(document.node_path(number))
    what = f"the {tag}" if tag else "the value"
    through, hint = why
    msg = f"{what} contains itself through {through}"
    return CyclicGraphError(msg, path=path, hint=hint, tag=tag)
