"""Events and run data as the plain maps that a run file holds.

Where a value of the user's own stands (arguments, results, metadata), what JSON has is
written as it is, and anything else as in an untyped slot of the wire.
"""

from __future__ import annotations

import json
import re
import types
from collections.abc import Callable, Container, Hashable, Mapping
from datetime import datetime
from functools import cache
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)

from attrs import NOTHING, Attribute, fields, frozen, resolve_types

from graphcodec.errors import GraphCodecError, InvalidValueError, UndecodableValueError
from graphcodec.primitives._base import Primitive
from graphcodec.runs._metadata import Metadata

if TYPE_CHECKING:
    from graphcodec.codec import Codec

P = TypeVar("P", bound=Primitive)

_ANY: Final = "$any"
_RUBY_TIME: Final = re.compile(
    r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?) ?(?:UTC|([+-]\d\d):?(\d\d))"
)


# Out

Untyped: TypeAlias = Callable[[object, str], object]
"""What writes a value of the user's own, which stands at a path."""


def to_form(
    record: Primitive,
    *,
    without: Container[str] = (),
    untyped: Untyped | None = None,
) -> dict[str, object]:
    """Return the fields of a record as JSON has them, nulls included.

    Args:
        record: An event or a part of a run.
        without: The names of fields to leave out, at every depth.
        untyped: What writes the values of the user's own; so that they can be read
            again, if left out.

    Raises:
        UnencodableValueError: If a value of the user's own has no wire form.
    """
    return _Writer(without, untyped or untyped_out).form(record)


@frozen
class _Writer:
    """Writes a record and all that is in it.

    Attributes:
        without: The names of fields to leave out.
        untyped: What writes the values of the user's own.
    """

    without: Container[str]
    untyped: Untyped

    def form(self, record: Primitive) -> dict[str, object]:
        """Return the fields of a record, and those that nobody knows."""
        form: dict[str, object] = {}
        for attribute in _attributes(type(record)):
            value = getattr(record, attribute.name)
            is_spared = _is_spared(attribute) and not value
            if not is_spared and attribute.name not in self.without:
                form[attribute.name] = self._value(
                    value, attribute.type, attribute.name
                )
        return {**form, **(record._unknown or {})}  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]

    def _value(self, value: object, hint: object, path: str) -> object:
        if isinstance(value, Metadata):
            return self.untyped(value.to_dict(), path)
        if _is_untyped(hint):
            return self.untyped(value, path)
        if isinstance(value, datetime):
            return value.isoformat(timespec="milliseconds")
        if isinstance(value, Primitive):
            return self.form(value)
        if isinstance(value, tuple):
            items = cast("tuple[object, ...]", value)
            return [self._value(item, None, path) for item in items]
        if isinstance(value, dict):
            entries = cast("dict[str, object]", value)
            return {key: self._value(item, None, path) for key, item in entries.items()}
        return value


def _is_spared(attribute: Attribute[object]) -> bool:
    """Say whether a field is one that the documented form has not."""
    return bool(attribute.metadata.get("spared"))


def _is_untyped(hint: object) -> bool:
    return hint is object or hint == Mapping[str, object]


def untyped_out(value: object, path: str) -> object:
    """Return a value of the user's own as JSON from which it can be read again.

    Args:
        value: Arguments, a result, metadata.
        path: Where it stands, for errors.

    Raises:
        UnencodableValueError: If it has no wire form.
    """
    if value is None or type(value) in (bool, int, str):
        return value
    try:
        document: dict[str, object] = json.loads(tree_codec().encode_text(value))
    except GraphCodecError as exc:
        exc.path = f"$.{path}{exc.path[1:]}"
        raise
    root = document["root"]
    # The root of a document may be an object; an entry of a dict may not.
    return {_ANY: root} if _is_object(root) else root


def _is_object(wire: object) -> bool:
    return isinstance(wire, dict) and "$type" in wire


# In


def from_form(cls: type[P], form: object, path: str = "$") -> P:
    """Return the record that `to_form` wrote. Fields that are not known are kept.

    Args:
        cls: Its class.
        form: The map.
        path: Where it stands, for errors.

    Raises:
        UndecodableValueError: If it is none, a field is missing, or one is not what it
            should be.
    """
    if not isinstance(form, Mapping):
        msg = f"{cls.__name__} is written as a map, not a {type(form).__name__}"
        raise UndecodableValueError(msg, path=path, type_name=cls.__name__)
    entries = cast("Mapping[str, object]", form)
    values = {
        attribute.name: _read(attribute, entries[attribute.name], path)
        for attribute in _attributes(cls)
        if not _is_missing(attribute, entries, cls, path)
    }
    try:
        record = cls(**values)
    except InvalidValueError as exc:
        where = f"{path}{exc.path[1:]}"
        raise UndecodableValueError(exc.message, path=where, hint=exc.hint) from exc
    known = {attribute.name for attribute in _attributes(cls)}
    if unknown := {key: entries[key] for key in entries if key not in known}:
        object.__setattr__(record, "_unknown", unknown)
    return record


def _is_missing(
    attribute: Attribute[object], form: Mapping[str, object], cls: type, path: str
) -> bool:
    """Say whether the default stands in for a field.

    Raises:
        UndecodableValueError: If there is no value and no default.
    """
    value = form.get(attribute.name)
    if value is not None or _admits_none(attribute.type):
        missing = attribute.name not in form
    else:
        missing = True
    if missing and attribute.default is NOTHING:
        msg = f"{cls.__name__}.{attribute.name} is missing"
        raise UndecodableValueError(
            msg, path=f"{path}.{attribute.name}", type_name=cls.__name__
        )
    return missing


def _read(attribute: Attribute[object], value: object, path: str) -> object:
    return _read_as(attribute.type, value, f"{path}.{attribute.name}")


def _read_as(hint: Any, value: object, path: str) -> object:
    arms = _arms(hint)
    if value is None and type(None) in arms:
        return None
    hint = next(arm for arm in arms if arm is not type(None))
    origin, args = get_origin(hint), get_args(hint)
    if _is_untyped(hint):
        return _untyped_in(value, path)
    if hint is Metadata:
        return _metadata_in(value, path)
    if hint is datetime:
        return to_time(value, path)
    if origin is tuple and isinstance(value, list):
        items = cast("list[object]", value)
        return tuple(
            _read_as(args[0], item, f"{path}[{index}]")
            for index, item in enumerate(items)
        )
    if origin is dict and isinstance(value, Mapping):
        entries = cast("Mapping[str, object]", value)
        return {
            key: _read_as(args[1], item, f"{path}[{key!r:.80}]")
            for key, item in entries.items()
        }
    if isinstance(hint, type) and issubclass(hint, Primitive):
        return from_form(hint, value, path)
    return value


def _metadata_in(value: object, path: str) -> Metadata:
    try:
        return Metadata.__graphcodec_decode__(_untyped_in(value, path))
    except TypeError as exc:
        name = Metadata.__name__
        raise UndecodableValueError(str(exc), path=path, type_name=name) from None


def _untyped_in(value: object, path: str) -> object:
    if not isinstance(value, dict | list):
        return value
    try:
        return tree_codec().decode(json.dumps({"graphcodec": 1, "root": value}))
    except GraphCodecError as exc:
        exc.path = f"{path}{exc.path[1:]}"
        raise


def to_time(value: object, path: str) -> datetime:
    """Return the time of an ISO text, or of the one that Ruby gives by itself.

    Args:
        value: The text, or a time already.
        path: Where it stands, for errors.

    Raises:
        UndecodableValueError: If it is neither.
    """
    if isinstance(value, datetime):
        return value
    if isinstance(value, str):
        text = value
        if found := _RUBY_TIME.fullmatch(value):
            day, time, hours, minutes = found.groups()
            text = f"{day}T{time}{hours}:{minutes}" if hours else f"{day}T{time}Z"
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            pass
    msg = f"a time is written as 2026-01-27T08:46:40.123+01:00, not {value!r:.60}"
    raise UndecodableValueError(msg, path=path)


# What is known of a class


def _attributes(cls: type[Primitive]) -> tuple[Attribute[object], ...]:
    return _read_attributes(cast("Hashable", cls))


@cache
def _read_attributes(cls: Any) -> tuple[Attribute[object], ...]:
    return tuple(
        attribute
        for attribute in fields(resolve_types(cls))
        if "graphcodec" not in attribute.metadata
    )


def _arms(hint: object) -> tuple[object, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _admits_none(hint: object) -> bool:
    return hint is object or type(None) in _arms(hint)


@cache
def plain_codec() -> Codec:
    """Return a codec for events, for those who bring none."""
    # The codec is heavy, and events can be published without it.
    from graphcodec.codec import Codec  # noqa: PLC0415

    return Codec()


def tree_codec(codec: Codec | None = None) -> Codec:
    """Return a codec for what users put into events: trees that it can read again.

    Args:
        codec: What knows their classes; the built-in ones alone, if left out.
    """
    return _plain_tree_codec() if codec is None else _as_tree_codec(codec)


@cache
def _plain_tree_codec() -> Codec:
    return _as_tree_codec(plain_codec())


def _as_tree_codec(codec: Codec) -> Codec:
    return codec.replace(references="none", write_unregistered=False)
