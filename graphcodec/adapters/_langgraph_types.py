"""What a codec needs to know to carry the state of a graph of LangGraph."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import timedelta, timezone
from typing import TYPE_CHECKING, Any, Final

from langgraph.checkpoint.serde.types import (
    _DeltaSnapshot,  # pyright: ignore[reportPrivateUsage]  # lies in checkpoints
)
from langgraph.store.base import GetOp, Item
from langgraph.types import (
    Command,
    Interrupt,
    Overwrite,
    PregelTask,
    Send,
    StateSnapshot,
    TimeoutPolicy,
)

from graphcodec.adapters.langchain import TYPES as MESSAGES

if TYPE_CHECKING:
    from graphcodec.codec import Codec

ROWS: Final[Mapping[str, type]] = {
    "langgraph.DeltaSnapshot": _DeltaSnapshot,
    "langgraph.GetOp": GetOp,
    "langgraph.PregelTask": PregelTask,
    "langgraph.StateSnapshot": StateSnapshot,
}
"""Named tuples."""

ADDRESSES: Final[tuple[type, ...]] = (
    ipaddress.IPv4Address,
    ipaddress.IPv4Interface,
    ipaddress.IPv4Network,
    ipaddress.IPv6Address,
    ipaddress.IPv6Interface,
    ipaddress.IPv6Network,
)


def register(codec: Codec) -> None:
    """Teach *codec* the classes of LangGraph and LangChain, and a few of Python.

    Args:
        codec: The codec.

    Raises:
        DuplicateTagError: If it has given one of the tags to another class.
    """
    for tag, cls in MESSAGES.items():
        codec.register(cls, tag)
    codec.register(Command, "langgraph.Command")
    codec.register(Overwrite, "langgraph.Overwrite")
    codec.register(TimeoutPolicy, "langgraph.TimeoutPolicy")
    _with_functions(codec, Interrupt, "langgraph.Interrupt", _interrupt, Interrupt)
    _with_functions(codec, Send, "langgraph.Send", _send, Send)
    _with_functions(codec, Item, "langgraph.Item", _item, Item)
    for tag, row in ROWS.items():
        codec.register(row, tag, encode=list, decode=_maker(row))
    for cls in ADDRESSES:
        codec.register(cls, f"ipaddress.{cls.__name__}", encode=str, decode=cls)
    codec.register(timezone, "datetime.timezone", encode=_zone, decode=_made_zone)
    codec.register(re.Pattern, "re.Pattern", encode=_pattern, decode=_made_pattern)


def _with_functions(
    codec: Codec,
    cls: type[Any],
    tag: str,
    fields: Callable[[Any], dict[str, object]],
    make: Callable[..., Any],
) -> None:
    codec.register(cls, tag, encode=fields, decode=lambda data: make(**data))


def _maker(cls: Callable[..., Any]) -> Callable[[list[object]], Any]:
    return lambda values: cls(*values)


def _interrupt(value: Interrupt[Any]) -> dict[str, object]:
    fields: dict[str, object] = {"value": value.value, "id": value.id}
    schema = getattr(value, "response_schema", None)
    return fields if schema is None else {**fields, "response_schema": schema}


def _send(value: Send) -> dict[str, object]:
    fields: dict[str, object] = {"node": value.node, "arg": value.arg}
    timeout = getattr(value, "timeout", None)
    return fields if timeout is None else {**fields, "timeout": timeout}


def _item(value: Item) -> dict[str, object]:
    return {name: getattr(value, name) for name in Item.__slots__}


def _zone(value: timezone) -> list[object]:
    return [value.utcoffset(None), value.tzname(None)]


def _made_zone(data: list[Any]) -> timezone:
    offset, name = data
    plain = timezone(offset)
    if offset == timedelta(0) and name == "UTC":
        return timezone.utc  # noqa: UP017 - the zone itself
    return plain if plain.tzname(None) == name else timezone(offset, name)


def _pattern(value: re.Pattern[Any]) -> list[object]:
    return [value.pattern, value.flags]


def _made_pattern(data: list[Any]) -> re.Pattern[Any]:
    pattern, flags = data
    return re.compile(pattern, flags)
