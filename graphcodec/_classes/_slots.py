"""What may stand in a place: the annotations of fields, made explicit.

A slot is *typed* if its annotation alone says how every value is written; everything
else is `UNTYPED`, where values carry their own types. Nothing is ever guessed from
the look of a value: an annotation such as ``bytes | str`` is untyped.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# A parsed document, and a user's object, is Any until it was looked at.

from __future__ import annotations

import enum
import sys
import types
import typing
import zoneinfo
from collections import deque
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import PosixPath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import Annotated, Final, Literal, TypeAlias, TypeVar, Union
from uuid import UUID

from attrs import frozen

from graphcodec._classes._marks import HANDLER, JSON
from graphcodec._paths import with_article
from graphcodec._values import LEAST_INT, MOST_INT, write_text
from graphcodec.readers._contracts import Reader

PLAIN_SCALARS: Final = (str, int, float, bool, type(None))
SCALARS: Final[frozenset[type]] = frozenset(
    {
        *PLAIN_SCALARS,
        bytes,
        bytearray,
        datetime,
        date,
        time,
        timedelta,
        zoneinfo.ZoneInfo,
        Decimal,
        UUID,
        complex,
        PurePosixPath,
        PureWindowsPath,
        PosixPath,
        WindowsPath,
    }
)
SEQUENCES: Final[tuple[type, ...]] = (list, tuple, set, frozenset, deque)


@frozen
class Untyped:
    """A place for any value that the codec can carry.

    Attributes:
        dollars: Whether it is data of another format, in which a ``$`` means something
            else: dicts stand as they are, whatever their keys begin with.
    """

    dollars: bool = False


@frozen
class Scalar:
    """A place for exactly one scalar type."""

    cls: type


@frozen
class Member:
    """A place for the members of one Enum."""

    cls: type[enum.Enum]

    @property
    def by_value(self) -> bool:
        """Whether a member is written by its value, not by its name."""
        if issubclass(self.cls, enum.Flag):
            return True
        values = [member.value for member in self.cls]
        return any(all(type(v) is kind for v in values) for kind in (str, int))

    @property
    def is_odd(self) -> bool:
        """Whether a member's value may need a marker."""
        if issubclass(self.cls, enum.Flag):
            return True
        values = [member.value for member in self.cls]
        return self.by_value and not all(is_plain_scalar(value) for value in values)


@frozen
class Choice:
    """A place for a few literal values."""

    values: tuple[object, ...]


@frozen
class Objects:
    """A place for registered objects of these classes, and their subclasses."""

    bases: tuple[type, ...]


@frozen
class ReaderPlace:
    """A place for a reader."""


@frozen
class HandlerPlace:
    """A place for a function, which is written by its name."""


@frozen
class ClassPlace:
    """A place for a registered class itself, which is written as its tag.

    Attributes:
        base: What the class is, or derives from.
    """

    base: type


@frozen
class Sequence:
    """A place for a list, tuple, set, frozenset or deque of one kind of item."""

    kind: type
    item: Slot


@frozen
class Row:
    """A place for a tuple of fixed length."""

    items: tuple[Slot, ...]


@frozen
class Table:
    """A place for a dict."""

    key: Slot
    value: Slot


@frozen
class OneOf:
    """A place for None or another slot's value; or for objects and plain scalars."""

    scalars: tuple[type, ...]
    other: Slot | None

    @property
    def bases(self) -> tuple[type, ...]:
        """The classes whose instances may stand here."""
        return self.other.bases if isinstance(self.other, Objects) else ()


Slot: TypeAlias = (
    Untyped
    | Scalar
    | Member
    | Choice
    | Objects
    | ReaderPlace
    | HandlerPlace
    | ClassPlace
    | Sequence
    | Row
    | Table
    | OneOf
)

UNTYPED: Final = Untyped()
ANYTHING: Final = Objects((object,))

IsObject: TypeAlias = Callable[[type], bool]
"""Says whether a class is registered, marked, or a base of a registered one."""


def is_plain_scalar(value: object) -> bool:
    """Say whether JSON holds a str or int as it is."""
    if isinstance(value, int):
        return LEAST_INT <= value <= MOST_INT
    return isinstance(value, str) and write_text(value) is value


def slot_of(annotation: object, is_object: IsObject) -> Slot:
    """Return the slot that *annotation* describes.

    Args:
        annotation: A resolved annotation.
        is_object: What the codec knows of a class.
    """
    if annotation is None:
        return Scalar(type(None))
    if isinstance(annotation, typing.NewType):
        return slot_of(annotation.__supertype__, is_object)
    if type(annotation).__name__ == "TypeAliasType":
        return slot_of(annotation.__value__, is_object)  # type: ignore[attr-defined]
    origin = typing.get_origin(annotation)
    args = typing.get_args(annotation)
    if origin is Annotated and HANDLER in args[1:]:
        return HandlerPlace()
    if origin is Annotated and JSON in args[1:]:
        return Untyped(dollars=True)
    if origin in (Annotated, typing.Final, typing.ClassVar, typing.Required):
        return slot_of(args[0], is_object)
    if origin is Literal:
        return _choice(args)
    if origin in (Union, types.UnionType):
        return _union([slot_of(arg, is_object) for arg in args])
    if origin in SEQUENCES or origin is dict:
        return _container(origin, args, is_object)
    if origin is type and isinstance(args[0], type):
        kept = _class(args[0], is_object)
        return ClassPlace(args[0]) if isinstance(kept, Objects) else UNTYPED
    cls = annotation if origin is None else origin
    return _class(cls, is_object) if isinstance(cls, type) else UNTYPED


def _choice(values: tuple[object, ...]) -> Slot:
    if all(type(v) in (str, int, bool, type(None)) for v in values):
        return Choice(values)
    return UNTYPED


def _container(origin: type, args: tuple[object, ...], is_object: IsObject) -> Slot:
    if any(isinstance(arg, TypeVar) for arg in args):
        return UNTYPED
    slots = tuple(slot_of(arg, is_object) for arg in args if arg is not ...)
    if origin is dict:
        return Table(*slots)
    if origin is tuple and args[-1:] != (...,):
        return Row(slots)
    return Sequence(origin, slots[0])


def _union(options: list[Slot]) -> Slot:
    scalars = tuple(
        slot.cls
        for slot in options
        if isinstance(slot, Scalar) and slot.cls in PLAIN_SCALARS
    )
    others = [
        slot
        for slot in options
        if not isinstance(slot, Scalar) or slot.cls not in PLAIN_SCALARS
    ]
    if not others:
        return OneOf(scalars, None)
    if all(isinstance(slot, Objects) for slot in others):
        bases = tuple(
            base for slot in others if isinstance(slot, Objects) for base in slot.bases
        )
        return OneOf(scalars, Objects(bases)) if scalars else Objects(bases)
    if len(others) == 1 and scalars == (type(None),) and others[0] != UNTYPED:
        return OneOf(scalars, others[0])
    return UNTYPED


def _class(cls: type, is_object: IsObject) -> Slot:
    if cls in SCALARS:
        return Scalar(cls)
    if issubclass(cls, Reader):
        return ReaderPlace()
    if issubclass(cls, enum.Enum):
        return Member(cls) if list(cls) or issubclass(cls, enum.Flag) else UNTYPED
    if cls is not object and (is_object(cls) or _is_users(cls)):
        return Objects((cls,))
    return UNTYPED


def _is_users(cls: type) -> bool:
    """Say whether only objects that need a registration can be instances of *cls*.

    Such a class is typed even before one of its subclasses is known, so that what a
    reading codec does not know is an error there, and never a dict.
    """
    if getattr(cls, "_is_protocol", False):
        return False
    if any(base in (*SCALARS, *SEQUENCES, dict) for base in cls.__mro__):
        return False
    return cls.__module__.partition(".")[0] not in sys.stdlib_module_names


_LEAF_HEIGHT: Final = 3
"""How many levels a leaf's marker takes at most: ``{"$complex": [{"$float"}]}``."""


def height(slot: Slot) -> int:
    """Return how many levels of maps and lists a value of *slot* takes at least.

    Readers, most objects and what an untyped slot holds can always become references,
    which take one level, and one more inside ``$any``. An object of nothing but scalars
    stays in place.

    Args:
        slot: The place.
    """
    match slot:
        case Untyped():
            return 2
        case Objects():
            return 1 + _LEAF_HEIGHT
        case ReaderPlace() | ClassPlace():
            return 1
        case Sequence(item=item):
            return 1 + height(item)
        case Row(items=items):
            return 1 + max(map(height, items), default=0)
        case Table(key=key, value=value):
            return _LEAF_HEIGHT + max(height(key), height(value))
        case OneOf(other=other):
            return _LEAF_HEIGHT if other is None else max(_LEAF_HEIGHT, height(other))
        case _:
            return _LEAF_HEIGHT


def describe(slot: Slot) -> str:
    """Say in words what belongs into *slot*."""
    match slot:
        case Scalar(cls=cls):
            return "None" if cls is type(None) else with_article(cls.__name__)
        case Member(cls=cls):
            return f"a member of {cls.__name__}"
        case Choice(values=values):
            return f"one of {', '.join(map(repr, values))}"
        case Objects(bases=bases):
            return " or ".join(base.__name__ for base in bases)
        case HandlerPlace():
            return "a handler"
        case ClassPlace(base=base):
            return f"the class {base.__name__} or a subclass of it"
        case Sequence(kind=kind, item=item):
            return f"{with_article(kind.__name__)} of {describe(item)}"
        case Row(items=items):
            return f"a tuple of {len(items)}"
        case Table():
            return "a dict"
        case OneOf(scalars=scalars, other=other):
            names = ["None" if cls is type(None) else cls.__name__ for cls in scalars]
            return " or ".join([*names, *([describe(other)] if other else [])])
        case _:
            return "a reader"
