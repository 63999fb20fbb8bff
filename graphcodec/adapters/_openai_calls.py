"""Tool calls of the chat format, whose arguments are JSON inside a str.

A primitive has the arguments as a dict. How the text was spelled is noted: by name if
that is one of the usual ways, else as it stands, since models write what no parser
would.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NoReturn, cast

from graphcodec.adapters._notes import (
    Fields,
    Note,
    as_fields,
    as_name,
    fields_of,
    noted,
    restored,
)
from graphcodec.adapters._openai_parts import refused
from graphcodec.errors import UnencodableValueError

if TYPE_CHECKING:
    from collections.abc import Mapping

_USUAL: Final = "compact"
_SPELLINGS: Final[Mapping[str, tuple[tuple[str, str], bool]]] = {
    _USUAL: ((",", ":"), False),
    "spaced": ((", ", ": "), False),
    "compact-ascii": ((",", ":"), True),
    "spaced-ascii": ((", ", ": "), True),
}


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
    args, rest = (_read_input if key == "custom" else _read_arguments)(inner)
    if rest or key == "custom":
        note[key] = rest
    return tool, args, note


def _placed(call: Fields, key: str) -> list[str]:
    """Return the keys of a call that need not be noted."""
    placed = ["id"] if as_name(call.get("id")) else []
    return [*placed, *(["type"] if call.get("type", key) == key else []), key]


def _read_input(inner: Fields) -> tuple[dict[str, object], Note]:
    if "input" not in inner:
        return {}, noted(inner, ("name",))
    return {"input": inner["input"]}, noted(inner, ("name", "input"))


def _read_arguments(inner: Fields) -> tuple[dict[str, object], Note]:
    given = inner.get("arguments", "")
    if isinstance(given, str):
        note = noted(inner, ("name", "arguments"))
        args = _parsed(given)
        spelling = None if args is None else _spelling(given, args)
        if spelling is None:
            note["raw"] = given
        elif spelling != _USUAL:
            note["spelling"] = spelling
        return args or {}, note
    fields = as_fields(given)
    if fields is None:
        return {}, noted(inner, ("name",))
    # Off the format, but some servers send it.
    return dict(fields), {**noted(inner, ("name", "arguments")), "spelling": "dict"}


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
    inner: dict[str, object] = {"name": tool}
    if key == "custom":
        inner |= {"input": args["input"]} if "input" in args else {}
    else:
        inner["arguments"] = _written_arguments(args, rest)
    return restored(note, {"id": name, "type": key, key: restored(rest, inner)})


def _written_arguments(args: Mapping[str, object], note: Fields) -> object:
    spelling, raw = note.get("spelling"), note.get("raw")
    if spelling == "dict":
        return dict(args)
    text = _dumped(args, _USUAL)
    # The text as it was serves as long as it says what the arguments say now.
    if isinstance(raw, str) and _dumped(_parsed(raw) or {}, _USUAL) == text:
        return raw
    if isinstance(spelling, str) and spelling in _SPELLINGS:
        return _dumped(args, spelling)
    return text


def _spelling(text: str, args: Mapping[str, object]) -> str | None:
    """Return the name of the way in which *text* spells *args*, if it has one."""
    for name in _SPELLINGS:
        if _dumped(args, name) == text:
            return name
    return None


def _parsed(text: str) -> dict[str, object] | None:
    """Return the arguments that *text* gives, None if it gives none."""
    try:
        value: object = json.loads(text, parse_constant=_refuse_constant)
        json.dumps(value)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def _refuse_constant(name: str) -> NoReturn:
    msg = f"JSON has no {name}"
    raise ValueError(msg)


def _dumped(args: Mapping[str, object], spelling: str) -> str:
    separators, ascii_only = _SPELLINGS[spelling]
    try:
        return json.dumps(
            args, allow_nan=False, ensure_ascii=ascii_only, separators=separators
        )
    except (TypeError, ValueError, RecursionError) as exc:
        raise UnencodableValueError(
            f"the arguments of a call can't be written as JSON: {exc}",
            hint="use str, numbers, bool, None, lists and dicts",
            type_name="ToolCall",
        ) from exc
