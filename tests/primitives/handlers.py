"""Functions that stand behind the tools of the tests, found by name in any process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from graphcodec.primitives import Tool

SCHEMA: dict[str, object] = {
    "type": "object",
    "properties": {"q": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["q"],
    "additionalProperties": False,
}


def search(args: Mapping[str, Any]) -> str:
    """Find something."""
    return f"found {args['q']}"


async def search_later(args: Mapping[str, Any]) -> str:
    """Find something, after a while."""
    await asyncio.sleep(0)
    return f"found {args['q']} later"


def failing(args: Mapping[str, Any]) -> str:
    """Fail."""
    msg = f"no {args['q']} here"
    raise LookupError(msg)


def giving(value: object) -> Callable[[object], object]:
    """Return a handler that gives *value*, whatever it is asked."""

    def give(_: object) -> object:
        return value

    return give


class Shop:
    """Something with a state, and methods of all kinds."""

    def find(self, args: Mapping[str, Any]) -> str:
        """Find something in this shop."""
        return f"found {args['q']} in {type(self).__name__}"

    @staticmethod
    def hours(args: Mapping[str, Any]) -> str:
        """Need no shop."""
        return f"open for {args['q']}"

    def __call__(self, args: Mapping[str, Any]) -> str:
        """Be a handler."""
        return self.find(args)


def tool(handler: Any = search, **changes: Any) -> Tool:
    """Return a tool with this handler."""
    fields: dict[str, Any] = {
        "name": "search",
        "description": "Searches the shop.",
        "input_schema": SCHEMA,
        "handler": handler,
        **changes,
    }
    return Tool(**fields)


def answer(document: bytes) -> str:
    """Decode a tool in another process, run it there, and return what it says."""
    from graphcodec import Codec, Tokenizable  # noqa: PLC0415 - as a worker would

    codec = Codec(handlers={"search": search, f"{__name__}:search": search})
    found = codec.decode(document, Tool)
    results = found.call({"q": "tea"})
    assert isinstance(results, Tokenizable)
    return results.text


def pickled_answer(found: Tool) -> str:
    """Run a tool that came by pickle, and return what it says."""
    return str(found.call({"q": "tea"}))
