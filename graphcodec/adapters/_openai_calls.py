"""Tool calls of the chat format: of functions, and of tools that take a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphcodec.adapters._arguments import read_arguments, written_arguments
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


def read_call(call: Fields, path: str) -> tuple[str, dict[str, object], Note]:
    """Return the tool, the arguments and the note of a call.

    Args:
        call: An entry of ``tool_calls``.
        path: Where it stands.

    Raises:
        InvalidValueError: If it names no function or custom tool.
    """
    key = "custom" if "custom" in call else "function"
    inner = as_fields(call.get(key))
    if inner is None:
        hint = "functions and custom tools are known"
        raise refused("a tool call needs a dict", call.get(key), f"{path}.{key}", hint)
    tool = as_name(inner.get("name"))
    if tool is None:
        where = f"{path}.{key}.name"
        raise refused("a tool needs a name", inner.get("name"), where)
    note = noted(call, _placed(call, key))
    args, rest = (_read_input if key == "custom" else _read_function)(inner)
    if rest or key == "custom":
        note[key] = rest
    return tool, args, note


def read_function_call(message: Fields) -> tuple[str, dict[str, object], Note] | None:
    """Return the tool, the arguments and the note of a call without an id.

    That is how calls were written before there were several in one message.

    Args:
        message: What the assistant said.
    """
    inner = as_fields(message.get("function_call")) or {}
    tool = as_name(inner.get("name"))
    return None if tool is None else (tool, *_read_function(inner))


def _placed(call: Fields, key: str) -> list[str]:
    """Return the keys of a call that need not be noted."""
    placed = ["id"] if as_name(call.get("id")) else []
    return [*placed, *(["type"] if call.get("type", key) == key else []), key]


def _read_input(inner: Fields) -> tuple[dict[str, object], Note]:
    if "input" not in inner:
        return {}, noted(inner, ("name",))
    return {"input": inner["input"]}, noted(inner, ("name", "input"))


def _read_function(inner: Fields) -> tuple[dict[str, object], Note]:
    found = read_arguments(inner.get("arguments", ""))
    if found is None:
        return {}, noted(inner, ("name",))
    return found[0], {**noted(inner, ("name", "arguments")), **found[1]}


def written_call(
    name: str, tool: str, args: Mapping[str, object], note: Fields
) -> dict[str, object]:
    """Return an entry of ``tool_calls``.

    Args:
        name: The id of the call.
        tool: The name of the tool.
        args: The arguments.
        note: What `read_call` noted, or nothing.

    Raises:
        UnencodableValueError: If the arguments hold what JSON has not.
    """
    key = "custom" if "custom" in note else "function"
    rest = fields_of(note, key)
    if key == "custom":
        given = {"input": args["input"]} if "input" in args else {}
        inner = restored(rest, {"name": tool, **given})
    else:
        inner = written_function(tool, args, rest)
    return restored(note, {"id": name, "type": key, key: inner})


def written_function(
    tool: str, args: Mapping[str, object], note: Fields
) -> dict[str, object]:
    """Return a function that is called.

    Args:
        tool: The name of the tool.
        args: The arguments.
        note: What `read_function_call` noted, or nothing.

    Raises:
        UnencodableValueError: If the arguments hold what JSON has not.
    """
    arguments = written_arguments(args, note)
    return restored(note, {"name": tool, "arguments": arguments})
