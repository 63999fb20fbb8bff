"""Session records as JSON, in the forms of the first logs."""

from __future__ import annotations

import json
from typing import Any, Final, NoReturn, TypeVar, cast, get_args, overload

import msgspec

from graphcodec._paths import format_path
from graphcodec.errors import JsonError, StorageError
from graphcodec.log._events import Appended, Event, Failed, Flushed
from graphcodec.log._forms import Form, Misfit, UnknownVariantError, form_of
from graphcodec.log._ids import derived_id
from graphcodec.log._records import (
    Assistant,
    Messages,
    Observation,
    Reflection,
    Retracted,
    SessionRecord,
    ToolResult,
    UnknownRecord,
    User,
    WorkingMemory,
)
from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import excerpt

__all__ = ["from_json", "mended", "to_json"]

T = TypeVar("T")
Data = str | bytes

PREFIX: Final = "json serialization: "
"""What the message of a `JsonError` of this module begins with."""

_TAGS: Final = ("message_type", "type")
_WITH_ID: Final = ("retracted", "working_memory", "observation", "reflection")
_MESSAGES: Final = ("User", "Assistant", "ToolResult")


def to_json(value: Primitive | Event, cls: Any = None) -> str:
    """Return a session record, or a part of one, as JSON.

    Whatever the first logs could hold is written as they wrote it. An `UnknownRecord`
    is written as it was read.

    Args:
        value: A record, a message, or any other class of this package; also an event.
        cls: What it is written as: the union that it belongs to, such as `Messages` or
            `Tool`, which adds the name of the variant. By default records are written
            as `SessionRecord` and all else as its own class.

    Raises:
        JsonError: If it holds text that JSON can't, such as half a surrogate pair.
    """
    if isinstance(value, UnknownRecord):
        return value.content
    if isinstance(value, Appended | Flushed | Failed):
        return msgspec.json.encode(_event_tree(value)).decode()
    if cls is None:
        cls = SessionRecord if isinstance(value, _RECORDS) else type(value)
    form = form_of(cls)
    try:
        tree = value if form.write is None else form.write(value)
        return msgspec.json.encode(tree).decode()
    except (KeyError, TypeError, ValueError, RecursionError) as exc:
        msg = f"{PREFIX}the {type(value).__name__} can't be written: {exc}"
        raise JsonError(msg, type_name=type(value).__name__) from exc


def _event_tree(event: Event) -> object:
    if isinstance(event, Appended):
        return {"Appended": {"id": event.id, "variant": event.variant}}
    if isinstance(event, Flushed):
        return {"Flushed": {"count": event.count}}
    return {"Error": {"msg": str(event.error)}}


def _event_of(raw: object) -> Event:
    """Return the event of a parsed document."""
    match raw:
        case {"Appended": {"id": str(name), "variant": str(variant)}}:
            return Appended(id=name, variant=variant)
        case {"Flushed": {"count": int(count)}}:
            return Flushed(count=count)
        case {"Error": {"msg": str(text)}}:
            return Failed(id=None, error=StorageError(text))
        case _:
            raise Misfit(f"there must be an event, not {excerpt(raw)}")


_RECORDS: Final = get_args(SessionRecord)
_EVENTS: Final = (*get_args(Event), Event)


def mended(record: SessionRecord) -> SessionRecord:
    """Return a record that can be written: half surrogate pairs become ``?``.

    Args:
        record: The record.
    """
    try:
        to_json(record)
    except JsonError:
        tree = cast("Any", form_of(SessionRecord).write)(record)
        text = json.dumps(tree, ensure_ascii=False)
        return from_json(text.encode("utf-8", "replace"))
    return record


@overload
def from_json(data: Data, *, id: str | None = None) -> SessionRecord: ...
@overload
def from_json(data: Data, cls: type[T], *, id: str | None = None) -> T: ...
@overload
def from_json(data: Data, cls: Any, *, id: str | None = None) -> Any: ...
def from_json(
    data: Data,
    cls: Any = SessionRecord,
    *,
    id: str | None = None,  # noqa: A002 - the field's name
) -> Any:
    """Return the session record that some JSON holds.

    The rules of reading are those of the first logs. A record of an unknown kind, or
    with an unknown variant in it, is kept as an `UnknownRecord`; unknown fields are
    kept and written back.

    Args:
        data: The JSON.
        cls: What it holds: a record, or a class or union of this package. Of an event
            it tells no place and no record.
        id: The id of a record that bears none, as the oldest don't: that of its
            document. By default it is derived from the JSON, so that reading twice
            gives one id.

    Raises:
        JsonError: If it is no JSON, or does not say what it should; says where.
    """
    raw = _parsed(data)
    _fill_id(raw, cls, data, id)
    try:
        return _event_of(raw) if cls in _EVENTS else _read(form_of(cls), raw)
    except UnknownVariantError as exc:
        if cls is SessionRecord:
            return _unknown(raw, data)
        _refuse(exc)
    except Misfit as exc:
        _refuse(exc)
    except RecursionError as exc:
        raise JsonError(f"{PREFIX}the document nests too deep") from exc


def _read(form: Form, raw: object) -> object:
    return raw if form.read is None else form.read(raw)


def _refuse(exc: Misfit) -> NoReturn:
    path = format_path(tuple(reversed(exc.steps)))
    raise JsonError(f"{PREFIX}{exc.reason}", path=path) from exc


def _parsed(data: Data) -> object:
    """Return what a JSON text says.

    Args:
        data: The text.

    Raises:
        JsonError: If it is no JSON, or names a tag twice.
    """
    try:
        raw = msgspec.json.decode(data)
        text = data if isinstance(data, str) else data.decode()
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as exc:
        raise JsonError(f"{PREFIX}{exc}") from exc
    # A parser takes the last of two; the rules say that a tag stands once.
    if any(text.count(f'"{tag}"') > 1 for tag in _TAGS):
        json.loads(text, object_pairs_hook=_without_second_tag)
    return raw


def _without_second_tag(pairs: list[tuple[str, object]]) -> None:
    names = [name for name, _ in pairs]
    for tag in _TAGS:
        if names.count(tag) > 1:
            raise JsonError(f"{PREFIX}the field {tag!r} stands twice", value=tag)


def _unknown(raw: object, data: Data) -> UnknownRecord:
    entries = cast("dict[str, object]", raw)
    name = entries.get("id")
    return UnknownRecord(
        kind=str(entries.get("message_type")),
        content=data if isinstance(data, str) else data.decode(),
        id=name if isinstance(name, str) and name else None,
    )


def _fill_id(raw: object, cls: object, data: Data, name: str | None) -> None:
    """Give what should have an id, and lacks one, the same id at every reading."""
    bearer = _bearer(raw, cls)
    if bearer is None:
        return
    if "name" in bearer and "tool_call_id" not in bearer and "id" in bearer:
        # An early version of a tool result called the id of the call its id.
        bearer["tool_call_id"] = bearer.pop("id")
    if "id" not in bearer:
        text = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
        bearer["id"] = name or derived_id(text, milliseconds=_moment(bearer))


def _bearer(raw: object, cls: object) -> dict[str, object] | None:
    """Return the map in *raw* that the id belongs into; None if there is none."""
    if type(raw) is not dict:
        return None
    entries = cast("dict[str, object]", raw)
    if cls is SessionRecord:
        kind = entries.get("message_type")
        if kind == "conversation":
            return _bearer(entries.get("message"), Messages)
        return entries if kind in _WITH_ID else None
    if cls is Messages:
        inner = [entries[name] for name in _MESSAGES if name in entries]
        return _bearer(inner[0], User) if len(inner) == 1 else None
    return entries if cls in _CLASSES_WITH_ID else None


def _moment(bearer: dict[str, object]) -> int:
    """Return the milliseconds of the time that a record without an id bears."""
    moment = bearer.get("timestamp", bearer.get("generated_at"))
    if type(moment) is not dict:
        return 0
    seconds = cast("dict[str, object]", moment).get("secs_since_epoch")
    return seconds * 1000 if type(seconds) is int else 0


_CLASSES_WITH_ID: Final[tuple[object, ...]] = (
    Assistant,
    Observation,
    Reflection,
    Retracted,
    ToolResult,
    User,
    WorkingMemory,
)
