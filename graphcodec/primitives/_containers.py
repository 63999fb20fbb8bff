"""Copies of containers that keep their aliasing and their cycles.

`copy.deepcopy` would do if it did not recurse and did not clone what lies in the
containers: a reader or a message in a registry is to stay the object that it is. Lists,
dicts and deques are made empty first and filled from a work list, so that a cycle finds
its own copy. A tuple can be made only after its members; tuples nest without cycles as
long as one does not look through the mutable containers between them. What is hashable
holds no mutable container, so frozensets, dict keys and members of sets stay as they
are.
"""

from collections import deque
from collections.abc import Iterator
from typing import Final, TypeGuard, TypeVar, cast

__all__ = ["copy_containers", "is_dict", "is_list", "unfolded"]

T = TypeVar("T")

_COPIED: Final[frozenset[object]] = frozenset({dict, list, tuple, set, deque})


def is_dict(value: object) -> TypeGuard[dict[object, object]]:
    """Say whether *value* is a dict and of no subclass."""
    return type(value) is dict


def is_list(value: object) -> TypeGuard[list[object]]:
    """Say whether *value* is a list and of no subclass."""
    return type(value) is list


def copy_containers(value: T) -> T:
    """Return *value* with new builtin containers around the same objects.

    Args:
        value: Anything. Subclasses of the builtins count as objects, not containers.
    """
    if type(value) not in _COPIED:
        return value
    return cast("T", _Copier().copy(value))


def unfolded(value: object, most: int) -> Iterator[object]:
    """Yield the lists and dicts in *value*, each as often as it is met.

    Args:
        value: Anything; only lists and dicts are looked into.
        most: How many to yield at most: a few that share each other stand for more
            than anybody could go through, and one that holds itself for no end.

    Raises:
        ValueError: If there are more.
    """
    todo, count = [value], 0
    while todo:
        item = todo.pop()
        if is_list(item):
            todo += item
        elif is_dict(item):
            todo += item.values()
        else:
            continue
        count += 1
        if count > most:
            msg = f"more than {most:,} lists and dicts when unfolded"
            raise ValueError(msg)
        yield item


class _Copier:
    """One copy of one graph of containers."""

    def __init__(self) -> None:
        # Holds the originals too: the id of a freed one could be given away again.
        self.made: dict[int, tuple[object, object]] = {}
        self.unfilled: list[tuple[object, object]] = []

    def copy(self, value: object) -> object:
        """Return the copy of *value*, complete."""
        result = self.counterpart(value)
        while self.unfilled:
            original, copy = self.unfilled.pop()
            if is_dict(copy):
                for key, member in list(cast("dict[object, object]", original).items()):
                    copy[key] = self.counterpart(member)
            else:
                members = list(cast("list[object]", original))
                cast("list[object]", copy).extend(map(self.counterpart, members))
        return result

    def counterpart(self, value: object) -> object:
        """Return what stands for *value* in the copy; it may still be empty."""
        if type(value) not in _COPIED:
            return value
        known = self.made.get(id(value))
        if known is not None:
            return known[1]
        if type(value) is tuple:
            return self.remade(cast("tuple[object, ...]", value))
        copy = _emptied(value)
        self.made[id(value)] = (value, copy)
        if type(value) is not set:
            self.unfilled.append((value, copy))
        return copy

    def remade(self, value: tuple[object, ...]) -> object:
        """Return the copy of a tuple, or itself if there is nothing to copy in it."""
        todo = [value]
        while todo:
            item = todo[-1]
            missing = [member for member in item if self.is_unmade_tuple(member)]
            if id(item) in self.made or not missing:
                self.finish(todo.pop())
            else:
                todo += cast("list[tuple[object, ...]]", missing)
        return self.made[id(value)][1]

    def is_unmade_tuple(self, value: object) -> bool:
        """Say whether *value* is a tuple that has to be made before its owner."""
        return type(value) is tuple and id(cast("object", value)) not in self.made

    def finish(self, value: tuple[object, ...]) -> None:
        """Keep the copy of a tuple, all of whose members can be had by now."""
        if id(value) not in self.made:
            members = tuple(map(self.counterpart, value))
            same = all(a is b for a, b in zip(value, members, strict=True))
            self.made[id(value)] = (value, value if same else members)


def _emptied(value: object) -> object:
    """Return a new container like *value*: without members, but a set with them."""
    kind = type(value)
    if kind is set:
        return set(cast("set[object]", value))
    if kind is deque:
        return deque[object](maxlen=cast("deque[object]", value).maxlen)
    return kind()
