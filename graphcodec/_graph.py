"""The fields of any object that can be part of a graph, without a registry."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final

import attrs

from graphcodec._marks import IN_DICT, SKIP

_UNSET: Final = object()


def object_fields(obj: object) -> Iterator[tuple[str, object]]:
    """Yield the name and value of each data field of *obj* that is set.

    Args:
        obj: An instance of an attrs class, dataclass, pydantic model or msgspec Struct;
            anything else has no fields.
    """
    cls: type = type(obj)
    for name, attribute in field_names(cls):
        value = getattr(obj, attribute, _UNSET)
        if value is not _UNSET:
            yield name, value
    yield from (getattr(obj, "__pydantic_extra__", None) or {}).items()
    if IN_DICT in getattr(obj, "__dict__", ()):
        yield IN_DICT, vars(obj)[IN_DICT]


@lru_cache(maxsize=1024)
def field_names(cls: type) -> tuple[tuple[str, str], ...]:
    """Return the wire key and the attribute of each field that instances of *cls* have.

    Args:
        cls: Any class.
    """
    for test, names in _KINDS:
        if test(cls):
            return tuple(names(cls))
    return ()


def _attrs_names(cls: Any) -> Iterator[tuple[str, str]]:
    for item in attrs.fields(cls):
        if item.metadata.get("graphcodec") != SKIP:
            key = item.metadata.get("graphcodec_key", item.alias or item.name)
            yield key, item.name


def _dataclass_names(cls: Any) -> Iterator[tuple[str, str]]:
    for item in dataclasses.fields(cls):
        if item.metadata.get("graphcodec") != SKIP:
            yield item.name, item.name


_KINDS: Final[
    tuple[tuple[Callable[[Any], bool], Callable[[Any], Iterator[tuple[str, str]]]], ...]
] = (
    (
        lambda cls: hasattr(cls, "__pydantic_validator__"),
        lambda cls: ((name, name) for name in cls.model_fields),
    ),
    (
        lambda cls: hasattr(cls, "__struct_fields__"),
        lambda cls: ((name, name) for name in cls.__struct_fields__),
    ),
    (attrs.has, _attrs_names),
    (dataclasses.is_dataclass, _dataclass_names),
)
