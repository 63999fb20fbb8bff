"""How an object is taken apart and made again, whatever class it is of.

Attrs classes, dataclasses, pydantic models and msgspec Structs are read into the same
`Layout`: the fields, what the constructor calls them, where unknown ones are kept. The
codec adds tags and annotations to it (`graphcodec._classes._shapes`); what compares
graphs and moves readers about needs no more than this, and must not refuse a class.
"""

from __future__ import annotations

import dataclasses
import enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

import attrs
import msgspec

from graphcodec._classes._marks import EXTRA, IN_DICT, SKIP
from graphcodec._unknown import Kept, OpaqueMember, OpaqueNode, Shared, Spooled
from graphcodec.readers._contracts import Reader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

Kind: TypeAlias = Literal[
    "attrs", "dataclass", "pydantic", "struct", "enum", "custom", "leaf"
]


@attrs.frozen
class Part:
    """One field of a class.

    Attributes:
        key: The key on the wire; None where the wire has the value without one.
        name: The attribute.
        argument: The constructor's keyword; None for a field that is set afterwards.
        required: Whether it has no default.
    """

    key: str | None
    name: str
    argument: str | None
    required: bool = False


@attrs.frozen(kw_only=True)
class Layout:
    """One class, as far as it takes to make an instance again.

    Attributes:
        kind: What made the class; ``leaf`` if there is nothing to look into.
        parts: Its fields in the order of their declaration.
        extra: The attribute, or the key in ``__dict__``, that keeps unknown fields.
        mutable: Whether an instance can exist before its fields do.
        skipped: Attributes that are no data, with the value they start with.
    """

    kind: Kind
    parts: tuple[Part, ...] = ()
    extra: str | None = None
    mutable: bool = False
    skipped: Mapping[str, object] = attrs.field(factory=dict[str, object])


_LEAF: Final = Layout(kind="leaf")
_LEAVES: Final = (Reader, enum.Enum, OpaqueMember, type)


def _layout_of(cls: Any) -> Layout:
    """Return the layout of *cls*; that of a leaf for a class that can't be read.

    Args:
        cls: Any class.
    """
    if any(issubclass(cls, base) for base in _LEAVES):
        return _LEAF
    if getattr(cls, "__graphcodec_live__", False):
        # Made again, it would be another one than those who wait for it hold.
        return _LEAF
    if hasattr(cls, "__graphcodec_encode__") and hasattr(cls, "__graphcodec_decode__"):
        return Layout(kind="custom")
    for test, read in _KINDS:
        if test(cls):
            return read(cls)
    return _LEAF


# Not as a decorator: type checkers hold that a class might not be hashable.
layout_of: Final[Callable[[type], Layout]] = lru_cache(maxsize=1024)(_layout_of)


def kept_fields(obj: object, layout: Layout) -> Mapping[str, object] | None:
    """Return the fields of *obj* that its class does not know, None if there are none.

    Args:
        obj: An instance.
        layout: That of its class.
    """
    if layout.extra is None:
        return None
    if layout.extra == IN_DICT:
        found: object = vars(obj).get(IN_DICT)
    else:
        found = getattr(obj, layout.extra, None)
    return cast("Mapping[str, object]", found) if found else None


_BARE: Final[Mapping[type, str]] = {
    OpaqueNode: "fields",
    Kept: "tree",
    Shared: "value",
    Spooled: "value",
}
"""The fields of our own classes that the wire holds without a key."""


def object_fields(obj: object) -> Iterator[tuple[str, object]]:
    """Yield the name and value of each data field of *obj* that is set.

    Args:
        obj: Anything; what is no object with fields has none.
    """
    layout = layout_of(type(obj))
    for part in layout.parts:
        value = getattr(obj, part.name, _UNSET)
        if value is not _UNSET:
            yield part.key or part.name, value
    yield from (kept_fields(obj, layout) or {}).items()


_UNSET: Final = object()


def _by_role(
    items: Iterable[Any], part: Callable[[Any], Part]
) -> tuple[tuple[Part, ...], dict[str, object], str | None]:
    """Return the data fields, the skipped ones and their values, the place of extras.

    Args:
        items: The fields of an attrs class or dataclass.
        part: Makes the part of one.
    """
    parts: list[Part] = []
    skipped: dict[str, object] = {}
    extra = None
    for item in items:
        role = item.metadata.get("graphcodec")
        if role == EXTRA:
            extra = item.name
        elif role == SKIP:
            skipped[item.name] = item.default
        else:
            parts.append(part(item))
    return tuple(parts), skipped, extra


def _attrs(cls: Any) -> Layout:
    parts, skipped, extra = _by_role(
        attrs.fields(cls), lambda item: _attrs_part(cls, item)
    )
    return Layout(
        kind="attrs",
        parts=parts,
        extra=extra or _dict_place(cls),
        mutable=not _is_frozen(cls) and is_made_plainly(cls),
        skipped=skipped,
    )


def _is_frozen(cls: type) -> bool:
    # A subclass that is not decorated has the fields of the base that is.
    made = next(base for base in cls.__mro__ if "__attrs_attrs__" in vars(base))
    return attrs.inspect(made).is_frozen


def _attrs_part(cls: type, item: attrs.Attribute[object]) -> Part:
    alias = item.alias or item.name
    bare = _BARE.get(cls) == item.name
    return Part(
        key=None if bare else item.metadata.get("graphcodec_key", alias),
        name=item.name,
        argument=alias if item.init else None,
        required=item.init and item.default is attrs.NOTHING,
    )


def _dataclass(cls: Any) -> Layout:
    parts, skipped, extra = _by_role(dataclasses.fields(cls), _dataclass_part)
    return Layout(
        kind="dataclass",
        parts=parts,
        extra=extra or _dict_place(cls),
        mutable=not cls.__dataclass_params__.frozen and is_made_plainly(cls),
        skipped=skipped,
    )


def _dataclass_part(item: dataclasses.Field[Any]) -> Part:
    missing = item.default is item.default_factory is dataclasses.MISSING
    argument = item.name if item.init else None
    return Part(item.name, item.name, argument, item.init and missing)


def _pydantic(cls: Any) -> Layout:
    return Layout(
        kind="pydantic",
        parts=tuple(
            Part(name, name, name, info.is_required())
            for name, info in cls.model_fields.items()
        ),
        extra=(
            "__pydantic_extra__" if cls.model_config.get("extra") == "allow" else None
        ),
        mutable=not cls.model_config.get("frozen"),
    )


def _struct(cls: Any) -> Layout:
    parts = tuple(
        Part(item.name, item.name, item.name, item.required)
        for item in msgspec.structs.fields(cls)
    )
    return Layout(kind="struct", parts=parts)


def _dict_place(cls: type) -> str | None:
    return IN_DICT if cls.__dictoffset__ else None


def is_made_plainly(cls: type) -> bool:
    """Say whether making an instance of *cls* runs no code of its own."""
    new: object = cls.__new__
    return new is object.__new__


def _is_pydantic(cls: type) -> bool:
    return hasattr(cls, "__pydantic_validator__") and hasattr(cls, "model_fields")


# A pydantic model or Struct may look like a dataclass, but not the other way round.
_KINDS: Final[tuple[tuple[Callable[[type], bool], Callable[[Any], Layout]], ...]] = (
    (_is_pydantic, _pydantic),
    (lambda cls: hasattr(cls, "__struct_fields__"), _struct),
    (attrs.has, _attrs),
    (dataclasses.is_dataclass, _dataclass),
)
