"""Generated instances of other libraries' classes, made from their own annotations."""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false
# An annotation is Any until it was looked at.

from __future__ import annotations

import collections.abc
import dataclasses
import datetime as dt
import decimal
import types
import typing
from typing import Any, Union

import pydantic
import typing_extensions
from hypothesis import strategies as st

texts = st.text(max_size=5)
values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), texts, st.floats(allow_nan=False)
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(texts, inner, max_size=2)
    ),
    max_leaves=4,
)
_SCALARS: dict[type, st.SearchStrategy[Any]] = {
    str: texts,
    bytes: st.binary(max_size=4),
    bool: st.booleans(),
    int: st.integers(),
    float: st.floats(allow_nan=False),
    type(None): st.none(),
    dt.timedelta: st.timedeltas(),
    dt.datetime: st.datetimes(timezones=st.just(dt.UTC)),
    decimal.Decimal: st.decimals(allow_nan=False, allow_infinity=False),
}
_SEQUENCES = (list, collections.abc.Sequence)


def of(annotation: Any) -> st.SearchStrategy[Any]:
    """Return values that an annotation allows.

    Args:
        annotation: Any annotation of plain values, dataclasses, models, typed dicts.
    """
    if type(annotation).__name__ == "TypeAliasType":
        # Recursive aliases are those of any JSON.
        recursive = annotation.__name__ in str(annotation.__value__)
        return values if recursive else of(annotation.__value__)
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated or origin in (typing.NotRequired, typing.Required):
        return of(args[0])
    if origin in (Union, types.UnionType):
        return st.one_of([of(arg) for arg in args])
    if origin is typing.Literal:
        return st.sampled_from(args)
    if origin in _SEQUENCES:
        return st.lists(of(args[0]), max_size=2)
    if origin is tuple:
        return st.lists(of(args[0]), max_size=2).map(tuple)
    if origin is dict:
        keys = texts if args[0] is Any else of(args[0])
        return st.dictionaries(keys, of(args[1]), max_size=2)
    return _of_class(origin or annotation)


def _of_class(cls: Any) -> st.SearchStrategy[Any]:
    if cls is Any or isinstance(cls, typing.TypeVar):
        return values
    if cls in _SCALARS:
        return _SCALARS[cls]
    return st.deferred(lambda: instances(cls))


def instances(cls: Any) -> st.SearchStrategy[Any]:
    """Return instances of a class; what its constructor refuses is left out.

    Args:
        cls: A dataclass, a pydantic model or a typed dict.
    """
    if typing_extensions.is_typeddict(cls):
        hints = typing_extensions.get_type_hints(cls)
        fields = {name: of(hint) for name, hint in hints.items()}
        optional = {name: fields[name] for name in cls.__optional_keys__}
        required = {name: fields[name] for name in cls.__required_keys__}
        return st.fixed_dictionaries(required, optional=optional)
    if issubclass(cls, pydantic.BaseModel):
        fields = {name: of(info.annotation) for name, info in cls.model_fields.items()}
    else:
        hints = typing.get_type_hints(cls, include_extras=True)
        names = [item.name for item in dataclasses.fields(cls) if item.init]
        fields = {name: of(hints[name]) for name in names}
    return (
        st.fixed_dictionaries(fields).map(lambda given: _made(cls, given)).filter(bool)
    )


def _made(cls: Any, given: dict[str, Any]) -> object:
    try:
        return cls(**given)
    except (TypeError, ValueError):
        return None
