"""Functions whose text says all there is to them, and others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

LIMIT = 3


def upper(args: Mapping[str, Any], ctx: object = None) -> str:
    """Shout."""

    # A comment stays behind.
    class Words(list[str]):
        mark = "!"
        marks = mark * 2

    words: list[str] = Words(str(word).upper() for word in args["q"].split())
    return f"{' '.join(words)} {ctx}"


async def later(args: Mapping[str, Any]) -> str:
    """Need something of the standard library, and import it."""
    import asyncio  # noqa: PLC0415 - what a function that travels has to do

    await asyncio.sleep(0)
    return f"later {args['q']}"


def countdown(args: Mapping[str, Any], start: int = 2, *, end: str = "go") -> str:
    """Call itself, and have defaults."""
    if not start:
        return end
    return f"{start} {countdown(args, start - 1)}"


def with_module(args: Mapping[str, Any]) -> str:
    """Use a module that was imported outside."""
    return json.dumps(args)


def with_constant(args: Mapping[str, Any]) -> str:
    """Use a constant of the module, in a function inside."""

    def inner() -> int:
        return LIMIT

    return f"{args} {inner()}"


def with_default(args: Mapping[str, Any], limit: int = LIMIT) -> str:
    """Have a default that is no literal."""
    return f"{args} {limit}"


def registered(function: Any) -> Any:
    """Return the very function, as decorators that register it do."""
    return function


@registered
def decorated(args: Mapping[str, Any]) -> str:
    """Be itself under a decorator."""
    return f"decorated {args['q']}"
