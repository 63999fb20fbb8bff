"""Messages of Pydantic AI as JSON and back, without losing what JSON does not tell.

The library writes what a tool gave back as JSON and reads dicts, and it reads images as
``BinaryImage`` whatever they were. Where what it reads differs from what there was, a
note says where and what there was.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false
# What a message holds is Any until it was looked at.

from __future__ import annotations

import dataclasses
import hashlib
from typing import TYPE_CHECKING, Any, Final

import pydantic
import pydantic_core
from pydantic_ai import messages

from graphcodec.adapters._notes import Note, as_fields, as_list
from graphcodec.errors import InvalidValueError, UnencodableValueError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FILES: Final[dict[str, Any]] = {
    "BinaryAudio": messages.BinaryAudio,
    "BinaryContent": messages.BinaryContent,
    "BinaryImage": messages.BinaryImage,
}
_ADAPTER: Final = messages.ModelMessagesTypeAdapter


def noted_objects(
    given: Sequence[messages.ModelMessage],
) -> tuple[list[object], list[Note]]:
    """Return messages as JSON, and notes on what that does not tell.

    Args:
        given: The messages.

    Raises:
        InvalidValueError: If one can't be written as JSON; says which.
    """
    plain: list[object] = []
    notes: list[Note] = []
    for index, message in enumerate(given):
        try:
            # What is not as the library would have it shows when it is read.
            (written,) = _ADAPTER.dump_python([message], mode="json", warnings=False)
            (read,) = _ADAPTER.validate_python([written])
        except (ValueError, TypeError, AttributeError, RecursionError) as exc:
            msg = f"Pydantic AI can't write a message as JSON: {str(exc)[:160]!r}"
            hint = "Codec(types=graphcodec.adapters.pydantic_ai.TYPES) writes objects"
            raise InvalidValueError(msg, path=f"$[{index}]", hint=hint) from exc
        plain.append(written)
        notes += [_note(index, *found) for found in _differences(message, read)]
    return plain, notes


def restored_objects(
    plain: list[object], notes: list[object]
) -> list[messages.ModelMessage]:
    """Return the messages that JSON and notes are.

    Args:
        plain: The messages as JSON.
        notes: What `noted_objects` noted, or nothing.

    Raises:
        UnencodableValueError: If Pydantic AI refuses a message; says which.
    """
    found: list[messages.ModelMessage] = []
    for index, each in enumerate(plain):
        try:
            found += _ADAPTER.validate_python([each])
        except pydantic.ValidationError as exc:
            reason = exc.errors(include_url=False)[0]["msg"]
            msg = f"Pydantic AI refuses a message: {reason:.160}"
            raise UnencodableValueError(msg, path=f"$[{index}]") from exc
    for note in notes:
        _restore(found, note)
    return found


_Steps = tuple["int | str", ...]


def _note(index: int, steps: _Steps, value: object, read: object) -> Note:
    note: Note = {"steps": [index, *steps], "instead_of": _digest(read)}
    name = type(value).__name__
    if _FILES.get(name) is type(value):
        return {**note, "class": name}
    return {**note, "value": value}


def _digest(value: object) -> str:
    """Return what tells whether a value is still the one that was read."""
    plain = pydantic_core.to_json(value, bytes_mode="base64", inf_nan_mode="strings")
    return hashlib.sha256(plain).hexdigest()


def _differences(was: Any, read: Any) -> Iterator[tuple[_Steps, object, object]]:
    """Yield the places at which two messages differ, what was there, and what is."""
    if isinstance(was, messages.BinaryContent) and was.data == _data(read):
        if type(was) is not type(read):
            yield (), was, read
        return
    pairs = _pairs(was, read)
    if pairs is None:
        # Usage counts seconds from 0, and reads 0.0.
        number = type(was) is int and type(read) is float
        if was != read or not (number or type(was) is type(read)):
            yield (), was, read
        return
    for step, inner, other in pairs:
        for steps, value, found in _differences(inner, other):
            yield (step, *steps), value, found


def _data(value: object) -> bytes | None:
    return value.data if isinstance(value, messages.BinaryContent) else None


def _pairs(was: Any, read: Any) -> list[tuple[int | str, Any, Any]] | None:
    """Return what two values of one shape hold, None for all others."""
    if type(was) is not type(read):
        return None
    if dataclasses.is_dataclass(was):
        names = [item.name for item in dataclasses.fields(was) if item.compare]
        return [(name, getattr(was, name), getattr(read, name)) for name in names]
    if isinstance(was, dict) and list(was) == list(read):
        return [(key, value, read[key]) for key, value in was.items()]
    if isinstance(was, list) and len(was) == len(read):
        return [(index, value, read[index]) for index, value in enumerate(was)]
    return None


def _restore(found: list[messages.ModelMessage], note: object) -> None:
    """Put one thing back, if what stands in its place is what was made of it."""
    fields = as_fields(note) or {}
    steps = as_list(fields.get("steps")) or []
    try:
        *way, last = steps
        holder: Any = found
        for step in way:
            holder = _at(holder, step)
        now = _at(holder, last)
        value = fields.get("value")
        if (cls := _FILES.get(str(fields.get("class")))) is not None:
            value = cls(
                now.data,
                media_type=now.media_type,
                vendor_metadata=now.vendor_metadata,
                identifier=now.identifier,
            )
        if _digest(now) == fields.get("instead_of"):
            _put(holder, last, value)
    except (LookupError, AttributeError, TypeError, ValueError):
        # The conversation is another one by now.
        return


def _at(holder: Any, step: Any) -> Any:
    is_object = dataclasses.is_dataclass(holder)
    return getattr(holder, step) if is_object else holder[step]


def _put(holder: Any, step: Any, value: object) -> None:
    if dataclasses.is_dataclass(holder):
        setattr(holder, step, value)
    else:
        holder[step] = value
