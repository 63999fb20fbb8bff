"""What has a number: objects that are met more than once, and those that lie too deep.

Numbers are given during the walk, in the order in which the need is seen. An object is
written where it is met first; if it is met again, its map is moved to ``nodes`` when
the walk is over, and a reference put in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from graphcodec._coding._write_forms import move, refer
from graphcodec._limits import exceeded
from graphcodec._values import Wire

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# What is written of an object is Any.

Key: TypeAlias = "int | tuple[str, int]"
"""An object's id; for a container, or a reader of both families, a name and an int."""

# Up to this many are searched for one by one.
_FEW: Final = 16


class Nodes:
    """The numbered parts of one document.

    Args:
        most: How many there may be.

    Attributes:
        numbers: The number of each.
        written: What is written of each, by number; None while it stands in its place.
    """

    __slots__ = ("_most", "_moved", "_references", "numbers", "written")

    def __init__(self, most: int) -> None:
        self.numbers: dict[Key, int] = {}
        self.written: list[Any] = []
        self._references: list[Wire] = []
        self._moved: list[tuple[int, Any]] = []
        self._most = most

    def reference(self, key: Key) -> Wire:
        """Return the one reference to something; it gets a number if it has none.

        Args:
            key: What stands for it.

        Raises:
            LimitExceededError: If there are too many.
        """
        number = self.numbers.get(key)
        if number is None:
            number = self.numbers[key] = len(self.written)
            if number >= self._most:
                raise exceeded("max_nodes", self._most, number + 1)
            self._references.append({"$type": "$ref", "n": number})
            self.written.append(None)
        return self._references[number]

    def place(self, memo: Mapping[Key, Any], order: list[int]) -> list[object]:
        """Move what stands where it was met first, and return the nodes.

        Args:
            memo: What is written of each object; for a container also where it is.
            order: The numbers, in the order of the nodes.
        """
        for key, number in self.numbers.items():
            written = memo[key]
            if self.written[number] is not None:
                continue
            if type(written) is tuple:
                written, holder, place = written
                holder[place] = self._references[number]
                self.written[number] = written
            else:
                self.written[number] = move(written)
                self._moved.append((number, written))
        self.renumber(order)
        return [self.written[number] for number in order]

    def renumber(self, order: list[int]) -> None:
        """Let all references say where their nodes stand.

        Args:
            order: The numbers, in the order of the nodes.
        """
        new = {number: place for place, number in enumerate(order)}
        for number, reference in (*enumerate(self._references), *self._moved):
            refer(reference, new[number])

    def finished(self, kept: list[Any], *, keyed: bool) -> list[int]:
        """Return the numbers in the order in which their objects were finished.

        Without cycles and without anything deferred, that order is children first.

        Args:
            kept: All objects in that order.
            keyed: Whether some of them are there as pairs with their key.
        """
        numbers = self.numbers
        if len(numbers) <= _FEW and not keyed:
            # Searching for a few at the speed of C beats looking at all.
            ids: list[Key] = list(map(id, kept))
            found = sorted((ids.index(key), number) for key, number in numbers.items())
            return [number for _, number in found]
        keys: Iterable[Key] = map(id, kept)
        if keyed:
            keys = [obj[0] if type(obj) is tuple else id(obj) for obj in kept]
        return [numbers[key] for key in keys if key in numbers]
