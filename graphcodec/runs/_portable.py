"""Events that any process could have sent: what no document can hold is set aside.

An agent's test may put anything into its metadata. A lock in there must not cost the
event, let alone the whole run when it is written at the end.
"""

from typing import Any, Final, TypeVar, cast

from attrs import evolve

from graphcodec.errors import GraphCodecError
from graphcodec.runs._data import ToolCallData
from graphcodec.runs._events import AgentResponse, Event
from graphcodec.runs._forms import tree_codec
from graphcodec.runs._metadata import Metadata

__all__ = ["portable"]

_OPEN: Final = ("metadata", "arguments", "result", "scenario")
_DEEPEST: Final = 50

R = TypeVar("R", Event, ToolCallData)


def portable(event: Event) -> Event:
    """Return *event*, or a copy in which a text stands for what can't be written.

    Args:
        event: Any event.
    """
    if isinstance(event, AgentResponse) and event.tool_calls:
        calls = tuple(_cleaned(call) for call in event.tool_calls)
        if any(
            new is not old for new, old in zip(calls, event.tool_calls, strict=True)
        ):
            event = evolve(event, tool_calls=calls)
    return _cleaned(event)


def _cleaned(record: R) -> R:
    changes: dict[str, Any] = {
        name: _stand_in(value, _DEEPEST)
        for name in _OPEN
        if (value := getattr(record, name, None)) and not _is_portable(value)
    }
    return evolve(record, **changes) if changes else record


def _is_portable(value: object) -> bool:
    return _problem(value) is None


def _problem(value: object) -> GraphCodecError | None:
    try:
        tree_codec().encode(value)
    except GraphCodecError as exc:
        return exc
    return None


def _stand_in(value: object, depth: int) -> object:
    """Return *value* with a text in place of each part that can't be written."""
    if isinstance(value, Metadata):
        value = value.to_dict()
    if depth and type(value) is dict:
        entries = cast("dict[object, object]", value)
        return {str(key): _stand_in(entry, depth - 1) for key, entry in entries.items()}
    if depth and type(value) in (list, tuple):
        return [_stand_in(item, depth - 1) for item in cast("list[object]", value)]
    problem = _problem(value)
    return value if problem is None else f"<not recorded: {problem.message}>"
