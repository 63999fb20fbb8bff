"""Events that any process could have sent: what no document can hold is set aside.

An agent's test may put anything into its metadata. A lock in there must not cost the
event, let alone the whole run when it is written at the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from graphcodec.errors import GraphCodecError
from graphcodec.runs._data import ToolCallData
from graphcodec.runs._events import AgentResponse, Event
from graphcodec.runs._forms import tree_codec
from graphcodec.runs._metadata import Metadata

if TYPE_CHECKING:
    from graphcodec.codec import Codec

__all__ = ["portable"]

_OPEN: Final = ("metadata", "arguments", "result", "scenario", "environment")
_HARMLESS: Final = (str, int, float, bool)
_DEEPEST: Final = 50

R = TypeVar("R", Event, ToolCallData)


def portable(event: Event, values: Codec | None = None) -> Event:
    """Return *event*, or a copy in which a text stands for what can't be written.

    Args:
        event: Any event.
        values: What knows the classes of the values in it: a codec made by
            `tree_codec`, or None for the built-in classes.
    """
    values = values or tree_codec()
    if isinstance(event, AgentResponse) and event.tool_calls:
        calls = tuple(_cleaned(call, values) for call in event.tool_calls)
        if any(
            new is not old for new, old in zip(calls, event.tool_calls, strict=True)
        ):
            event = event.replace(tool_calls=calls)
    return _cleaned(event, values)


def _cleaned(record: R, values: Codec) -> R:
    changes: dict[str, Any] = {
        name: _stand_in(value, values, _DEEPEST)
        for name in _OPEN
        if _problem(value := getattr(record, name, None), values) is not None
    }
    return record.replace(**changes) if changes else record


def _problem(value: object, values: Codec) -> GraphCodecError | None:
    if value is None or type(value) in _HARMLESS:
        return None
    try:
        values.encode(value)
    except GraphCodecError as exc:
        return exc
    return None


def _stand_in(value: object, values: Codec, depth: int) -> object:
    """Return *value* with a text in place of each part that can't be written."""
    if isinstance(value, Metadata):
        value = value.to_dict()
    if depth and type(value) is dict:
        entries = cast("dict[object, object]", value)
        return {
            str(key): _stand_in(entry, values, depth - 1)
            for key, entry in entries.items()
        }
    if depth and type(value) in (list, tuple):
        items = cast("list[object]", value)
        return [_stand_in(item, values, depth - 1) for item in items]
    problem = _problem(value, values)
    return value if problem is None else f"<not recorded: {problem.message}>"
