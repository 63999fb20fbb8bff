"""Values that belong to one event loop: connections, mostly."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

T = TypeVar("T")


class PerLoop(Generic[T]):
    """Makes a value on first use, once in every event loop, and closes it there.

    Args:
        make: A generator function that yields the value and then closes it. The loop
            runs its end when it shuts down, as `asyncio.run` does.
    """

    __slots__ = ("_made", "_make")

    def __init__(self, make: Callable[[], AsyncGenerator[T]]) -> None:
        self._make = make
        # A forked child keeps what its parent's loops hold, and never touches it.
        self._made: dict[
            tuple[int, asyncio.AbstractEventLoop], tuple[AsyncGenerator[T], T]
        ] = {}

    async def get(self) -> T:
        """Return the running loop's value, made now if this is the first call."""
        here = os.getpid(), asyncio.get_running_loop()
        for pid, loop in list(self._made):
            if pid == here[0] and loop.is_closed():
                self._made.pop((pid, loop), None)
        if here not in self._made:
            keeper = self._make()
            self._made[here] = keeper, await anext(keeper)
        return self._made[here][1]

    async def close(self) -> None:
        """Close this loop's value if there is one, and forget it."""
        found = self._made.pop((os.getpid(), asyncio.get_running_loop()), None)
        if found is not None:
            await found[0].aclose()
