"""The forms in which messages of LangChain lie about.

``messages_to_dict`` gives a type beside the data, ``dumpd`` and ``dumps`` name a
constructor and its arguments, and a state of LangGraph in JSON has the bare fields.
The constructor is read as data: what it names is never imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from graphcodec.adapters._notes import (
    Fields,
    Note,
    as_fields,
    as_name,
    fields_of,
    noted,
    refused,
    restored,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

CLASSES: Final[Mapping[str, str]] = {
    "ai": "AIMessage",
    "chat": "ChatMessage",
    "function": "FunctionMessage",
    "human": "HumanMessage",
    "remove": "RemoveMessage",
    "system": "SystemMessage",
    "tool": "ToolMessage",
}
"""The names of classes by the types of messages; a chunk has its name as type."""

_MODULE: Final = ("langchain", "schema", "messages")
_DATA: Final = ("type", "data")
_CONSTRUCTOR: Final = ("lc", "type", "id", "kwargs")


def fields_of_object(message: Any) -> Fields | None:
    """Return the fields of a message that is an object, None for anything else.

    What LangChain calls ``model_dump`` would turn objects in it into dicts.

    Args:
        message: A message of LangChain, or anything.
    """
    known = as_fields(getattr(message.__class__, "model_fields", None))
    if known is None or not hasattr(message, "response_metadata"):
        return None
    extra = as_fields(getattr(message, "__pydantic_extra__", None)) or {}
    return {**{name: getattr(message, name) for name in known}, **extra}


def opened(given: object, path: str) -> tuple[Fields, str, Note]:
    """Return the fields of a message, where they are, and a note on its form.

    Args:
        given: A message in any of the forms, or an object.
        path: Where it stands.

    Raises:
        InvalidValueError: If it is no message.
    """
    if (fields := fields_of_object(given)) is not None:
        return fields, path, {}
    outer = as_fields(given)
    if outer is None:
        raise refused("a message must be a dict or an object of LangChain", given, path)
    if (data := as_fields(outer.get("data"))) is not None:
        kind = outer.get("type") == data.get("type")
        return data, f"{path}.data", noted(outer, _DATA if kind else ("data",))
    if (data := as_fields(outer.get("kwargs"))) is not None:
        placed = {**_constructor(data), "kwargs": data}
        same = tuple(key for key in _CONSTRUCTOR if outer.get(key) == placed[key])
        return data, f"{path}.kwargs", {"form": "kwargs", **noted(outer, same)}
    return outer, path, {"form": "bare"}


def closed(data: dict[str, object], note: Fields) -> dict[str, object]:
    """Return a message in the form that it was read in.

    Args:
        data: The fields of the message.
        note: What `opened` noted, or nothing.
    """
    form = note.get("form")
    if form == "bare":
        return data
    if form == "kwargs":
        return restored(note, {**_constructor(data), "kwargs": data})
    return restored(note, {"type": data.get("type"), "data": data})


def _constructor(data: Fields) -> dict[str, object]:
    kind = as_name(data.get("type")) or ""
    return {"lc": 1, "type": "constructor", "id": [*_MODULE, CLASSES.get(kind, kind)]}


def form_of(note: Fields) -> Fields:
    """Return what a note on a message says of its form.

    Args:
        note: The note.
    """
    return fields_of(note, "outer")
