"""The one way in which blocking readers get an async face."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(
    function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
) -> T:
    """Run *function* in a worker thread and return what it returns."""
    # asyncio is most of what importing the readers would cost; who awaits this has it.
    import asyncio  # noqa: PLC0415

    return await asyncio.to_thread(function, *args, **kwargs)
