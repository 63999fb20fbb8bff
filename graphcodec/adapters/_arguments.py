"""Arguments of tool calls that formats write as JSON inside a str.

A primitive has the arguments as a dict. How the text was spelled is noted: by name if
that is one of the usual ways, else as it stands, since models write what no parser
would.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NoReturn, cast

from graphcodec.adapters._notes import Fields, Note, as_fields
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


def read_arguments(given: object) -> tuple[dict[str, object], Note] | None:
    """Return the arguments that *given* are, and how they were spelled.

    Args:
        given: A text that should be JSON, or a dict.

    Returns:
        None if they are neither.
    """
    if isinstance(given, str):
        args = parsed_arguments(given)
        spelling = None if args is None else _spelling(given, args)
        if spelling is None:
            return args or {}, {"raw": given}
        return args or {}, {} if spelling == _USUAL else {"spelling": spelling}
    fields = as_fields(given)
    # Off the format, but some servers send it.
    return None if fields is None else (dict(fields), {"spelling": "dict"})


def written_arguments(args: Mapping[str, object], note: Fields) -> object:
    """Return the text that *args* were read from.

    Args:
        args: The arguments.
        note: What `read_arguments` noted, or nothing.

    Raises:
        UnencodableValueError: If the arguments hold what JSON has not.
    """
    spelling, raw = note.get("spelling"), note.get("raw")
    if spelling == "dict":
        return dict(args)
    text = _dumped(args, _USUAL)
    # The text as it was serves as long as it says what the arguments say now.
    if isinstance(raw, str) and _dumped(parsed_arguments(raw) or {}, _USUAL) == text:
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


def parsed_arguments(text: str) -> dict[str, object] | None:
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
