"""Classes of a user, one for each way in which a class can be written."""

from __future__ import annotations

import dataclasses
import enum
from collections import deque
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Literal, Self
from uuid import UUID

import msgspec
from attrs import define, field, frozen

from graphcodec import Codec, Identity, encodable, extra
from graphcodec_resolvers import FsspecResolver
from tests.wire_corpus.releases import register


class Size(enum.Enum):
    """Written by value: all values are text."""

    SMALL = "s"
    LARGE = "l"


class Level(enum.IntEnum):
    """Written by value: all values are ints."""

    LOW = 1
    HIGH = 2


class Shape(enum.Enum):
    """Written by name: values are neither all text nor all ints."""

    ROUND = (1,)
    FLAT = "flat"


@encodable("corpus.Colour")
class Colour(enum.Enum):
    """May stand where any value may."""

    RED = (255, 0, 0)
    BLUE = (0, 0, 255)


@encodable("corpus.Rights")
class Rights(enum.Flag):
    """Written by value, so that members can be combined."""

    READ = enum.auto()
    WRITE = enum.auto()


@encodable("corpus.Leaf")
@frozen
class Leaf:
    """A frozen object of scalars."""

    number: int


@encodable("corpus.Box")
@frozen
class Box:
    """A frozen object that holds anything."""

    content: object


@encodable("corpus.Link")
@define
class Link:
    """A mutable object that can be part of a cycle."""

    name: str
    following: Link | None = None


@encodable("corpus.Scalars")
@frozen(kw_only=True)
class Scalars:
    """One typed slot for each kind of scalar."""

    text: str
    lone: str
    flag: bool
    small: int
    large: int
    fraction: float
    infinite: float
    data: bytes
    buffer: bytearray
    moment: datetime
    local: datetime
    day: date
    clock: time
    span: timedelta
    price: Decimal
    key: UUID
    number: complex
    size: Size
    level: Level
    shape: Shape
    rights: Rights
    role: Literal["user", 7, True]


@encodable("corpus.Containers")
@frozen(kw_only=True)
class Containers:
    """One typed slot for each kind of container."""

    listed: list[int]
    fixed: tuple[int, str]
    many: tuple[Leaf, ...]
    members: set[str]
    frozen: frozenset[int]
    line: deque[int]
    bounded: deque[int]
    table: dict[str, Leaf]
    numbered: dict[int, str]
    dollars: dict[str, int]


@encodable("corpus.Choices")
@frozen(kw_only=True)
class Choices:
    """Unions, typed and untyped."""

    nothing: Leaf | None
    something: Leaf | None
    either: Leaf | Box
    scalar: int | float | str | None
    mixed: str | Leaf
    maybe: datetime | None
    untyped: bytes | str
    anything: Any
    mapping: Mapping[str, object]


def split_name(old: dict[str, object]) -> dict[str, object]:
    """Turn the fields of a person's first version into those of the second."""
    first, _, last = str(old.pop("name")).partition(" ")
    return {**old, "first": first, "last": last}


@encodable("corpus.Person", version=2, upgrades={1: split_name})
@frozen
class Person:
    """A class that has changed its shape."""

    first: str
    last: str


@encodable("corpus.Note", aliases=["old.Note"])
@define
class Note:
    """A class that keeps what it does not know, and had another tag."""

    text: str
    by: Identity | None = None
    rest: dict[str, object] = extra()  # noqa: RUF009 - it is a field


@encodable("corpus.Counter")
@define
class Counter:
    """A class with a field that its constructor does not take."""

    start: int
    count: int = field(init=False, default=0)


@encodable("corpus.Point")
@dataclasses.dataclass
class Point:
    """A dataclass."""

    x: float
    y: float = 0.0


@encodable("corpus.Record")
class Record(msgspec.Struct):
    """A msgspec Struct."""

    name: str
    leaf: Leaf


class Money:
    """A class that says by itself how it is written."""

    __graphcodec_tag__ = "corpus.Money"

    def __init__(self, cents: int) -> None:
        self.cents = cents

    def __graphcodec_encode__(self) -> object:
        return {"cents": self.cents}

    @classmethod
    def __graphcodec_decode__(cls, data: dict[str, int]) -> Self:
        return cls(data["cents"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Money) and self.cents == other.cents

    def __hash__(self) -> int:
        return hash(self.cents)


def look_at(args: Mapping[str, str]) -> str:
    """Say which media was looked at; bound by a name of its own."""
    return args["media"]


def first_lines(args: Mapping[str, str]) -> str:
    """Give the first lines; bound by its module and name."""
    return args["text"]


CODEC = Codec(
    types=[
        Box,
        Choices,
        Colour,
        Containers,
        Counter,
        Leaf,
        Link,
        Money,
        Note,
        Person,
        Point,
        Record,
        Rights,
        Scalars,
    ],
    resolvers=[FsspecResolver({"media": "memory://corpus"})],
    handlers={
        "look": look_at,
        # What a function is called that is bound nowhere where it is written.
        "tests.wire_corpus.classes:first_lines": first_lines,
    },
    unknown_types="keep",
)
register(CODEC)
