import math
from collections import OrderedDict, defaultdict, deque
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag, IntEnum, IntFlag, StrEnum
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from attrs import define

from graphcodec import Codec, encodable
from graphcodec.errors import UndecodableValueError, UnencodableValueError
from graphcodec.primitives import (
    Conversation,
    GateRecord,
    Memory,
    Message,
    Registry,
    Tokenizable,
)
from graphcodec.testing import same_graph
from tests.codec.samples import (
    CODEC,
    full,
    in_args,
    read,
    root,
    round_trip,
    through_args,
)
from tests.primitives.builders import NOW, make


class Color(StrEnum):
    """Members that are text."""

    RED = "red"


class Size(IntEnum):
    """Members that are ints."""

    BIG = 3


class Perm(Flag):
    """Members that are combined."""

    READ = 1
    WRITE = 2
    FAR = 1 << 70


class Bits(IntFlag):
    """Members that are combined and ints."""

    A = 1
    B = 2


class Huge(Enum):
    """A value beyond 64 bits."""

    FAR = 2**70
    NEAR = 1


class Torn(Enum):
    """A value that is no Unicode text."""

    TORN = "\ud800"
    WHOLE = "a"


@encodable("test.Enums")
@define
class Enums:
    """Enums in typed slots."""

    perm: Perm = Perm.READ
    huge: Huge = Huge.NEAR
    torn: Torn = Torn.WHOLE
    bits: Bits = Bits.A


@encodable("test.Loose")
@define
class Loose:
    """Fields whose annotation leaves open how a str is meant."""

    data: bytes | str = ""
    when: datetime | str = ""


@encodable("test.Strict")
@define
class Strict:
    """Fields of which the wire must be exact."""

    flag: bool = False
    number: int = 0
    items: list[int] | None = None
    score: float = 0.0
    text: str = ""
    maybe: float | None = None
    when: datetime | None = None
    uuid: UUID | None = None
    amount: Decimal | None = None
    data: bytes | None = None


ENUMS = Codec(
    types={
        f"test.{cls.__name__}": cls
        for cls in (Color, Size, Perm, Bits, Huge, Torn, Enums, Loose, Strict)
    }
)

VALUES: list[Any] = [
    math.nan,
    math.inf,
    -math.inf,
    -0.0,
    5e-324,
    1e22,
    2**63,
    2**64 - 1,
    -(2**63),
    2**70,
    -(2**70),
    7**6000,
    Decimal("1.10"),
    Decimal("-0"),
    Decimal("sNaN"),
    Decimal("-Infinity"),
    Decimal("1E+1000"),
    1 + 2j,
    complex(math.nan, -0.0),
    b"",
    b"\xff\x00",
    bytearray(b"a"),
    (),
    (1, (2, 3)),
    {1, 2},
    set[int](),
    frozenset({(1, 2)}),
    deque([1], maxlen=3),
    deque[int](),
    {1: "a"},
    {(1, 2): "a"},
    {None: 1, True: 2},
    {"": {}},
    {1.5: 1, b"a": 2, NOW: 3},
    datetime(2026, 1, 1),  # noqa: DTZ001
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(2026, 10, 25, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Paris")),
    datetime(2026, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Paris")),
    datetime(2026, 10, 25, 2, 30, tzinfo=timezone(timedelta(hours=2))),
    datetime(
        2026, 10, 25, tzinfo=timezone(timedelta(seconds=1, microseconds=1), "odd")
    ),
    date(2026, 1, 1),
    time(1, 2, 3, 4, tzinfo=UTC),
    time(1, fold=1),
    timedelta(-1, 2, 3),
    timedelta.max,
    ZoneInfo("Europe/Paris"),
    UUID(int=2**128 - 1),
    PurePosixPath("/a/../b"),
    PureWindowsPath("c:\\a"),
    Color.RED,
    Size.BIG,
    Perm.READ | Perm.WRITE,
    Perm(0),
    Bits.A | Bits.B,
    Huge.FAR,
    Torn.TORN,
    "\ud800",
    "a\\ud800",
    {"\ud800": 1},
    "\x00\x7f\u2028\U0001f600",
    Tokenizable("\ud800"),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda v: type(v).__name__)
def test_value_in_an_untyped_slot_comes_back(value: object) -> None:
    """Same value, same type, in either format."""
    assert type(through_args(value, ENUMS)) is type(value)


def test_all_values_together_come_back() -> None:
    """One beside the other they don't disturb each other."""
    again = through_args(list(VALUES), ENUMS)

    assert same_graph(again, VALUES)


def test_values_in_a_registry_come_back() -> None:
    """The data of a registry is a slot like any other."""
    metadata = {
        "at": NOW,
        "raw": b"\xff",
        "who": Tokenizable("ada"),
        "m": make(Message),
    }

    assert round_trip(Registry({"metadata": metadata})).get("metadata.at") == NOW


@pytest.mark.parametrize("value", [Perm.FAR, Perm.READ | Perm.FAR], ids=str)
def test_flag_beyond_64_bits_comes_back(value: Perm) -> None:
    """A flag may have any number of bits."""
    assert through_args(value, ENUMS) is value
    assert round_trip(Enums(perm=value), ENUMS).perm is value


@pytest.mark.parametrize(
    ("wire", "wanted"),
    [
        ({"$enum": "test.Perm", "name": "READ"}, "the value of a Flag"),
        ({"$enum": "test.Huge", "value": 1}, "the name of a member"),
    ],
)
def test_member_is_read_as_its_kind_is_written(wire: object, wanted: str) -> None:
    """A Flag by value, all others by name."""
    with pytest.raises(
        UndecodableValueError, match=rf"\$enum needs a tag, and {wanted}"
    ):
        read({"$any": wire}, codec=ENUMS)


def test_enum_value_beyond_64_bits_comes_back() -> None:
    """In a typed slot its value stands for the member."""
    assert round_trip(Enums(huge=Huge.FAR), ENUMS).huge is Huge.FAR


def test_enum_value_with_a_lone_surrogate_comes_back() -> None:
    """In a typed slot its value stands for the member."""
    assert round_trip(Enums(torn=Torn.TORN), ENUMS).torn is Torn.TORN


def test_every_primitive_with_every_field_set_comes_back() -> None:
    """Equal, and the same graph."""
    for primitive in full().values():
        again = round_trip(primitive)

        assert again == primitive
        assert type(again) is type(primitive)


def test_encoding_what_was_decoded_gives_the_same_bytes() -> None:
    """A document is stable."""
    data = CODEC.encode(full()[Conversation])

    assert CODEC.encode(CODEC.decode(data)) == data


class Text(str):
    """More than a str."""

    __slots__ = ()


class Number(float):
    """What a scalar of an array library looks like."""


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (defaultdict(list, a=[1]), "collections.defaultdict"),
        (OrderedDict[str, int](a=1), "collections.OrderedDict"),
        (Text("a"), "Text"),
        (Number(1.5), "Number"),
        (ValueError("secret"), "ValueError"),
        (Color.RED, "Color"),
        (object(), "object"),
        (range(3), "range"),
        (memoryview(b"a"), "memoryview"),
        (int, "int"),
        (NotImplemented, "NotImplementedType"),
    ],
    ids=lambda v: type(v).__name__,
)
def test_what_can_not_be_carried_is_refused_by_name(value: object, name: str) -> None:
    """Never null, repr, or a base class; the path leads to it."""
    with pytest.raises(UnencodableValueError, match=name) as caught:
        CODEC.encode(in_args({"k": (value,)}))

    assert caught.value.path == "$.args.first[0].second.k[0]"
    assert "secret" not in str(caught.value)


def test_subclass_of_a_builtin_can_be_registered() -> None:
    """With functions of its own it comes back as what it was."""
    codec = Codec()
    codec.register(
        OrderedDict,
        "test.OrderedDict",
        encode=lambda value: list(value.items()),
        decode=OrderedDict[Any, Any],
    )
    value = OrderedDict[str, int](b=1, a=2)
    again: Any = codec.decode(codec.encode([value]))

    assert again == [value]
    assert type(again[0]) is OrderedDict


@pytest.mark.parametrize(
    ("field", "wire"),
    [
        ("flag", "false"),
        ("flag", 0),
        ("flag", None),
        ("number", 1.9),
        ("number", 1.0),
        ("number", True),
        ("number", "1"),
        ("number", {"$int": "0x1"}),
        ("items", "123"),
        ("items", {"0": 1}),
        ("items", [1, "2"]),
        ("items", [True]),
        ("score", True),
        ("score", "1"),
        ("score", 2**63 + 1),
        ("score", {"$float": "NaN"}),
        ("text", 1),
        ("text", None),
        ("text", {"$float": "nan"}),
        ("maybe", "nan"),
        ("when", 1767225600),
        ("when", "2026-05-01"),
        ("when", "2026-05-01T00:00:00"),
        ("when", "2026-05-01 00:00:00+00:00"),
        ("when", {"$date": "2026-05-01"}),
        ("uuid", "{00000000-0000-0000-0000-000000000005}"),
        ("uuid", 5),
        ("amount", 1.1),
        ("amount", "1_000"),
        ("amount", " 1"),
        ("data", "aGk="),
        ("data", {"$bytes": "aGk"}),
        ("data", {"$bytes": "aGk=\n"}),
        ("data", {"$bytes": "aGl="}),
        ("data", {"$bytearray": "aGk="}),
    ],
)
def test_reading_is_strict(field: str, wire: object) -> None:
    """Nothing is converted because it looks like what belongs there."""
    with pytest.raises(UndecodableValueError) as caught:
        read({"$type": "test.Strict", field: wire}, codec=ENUMS)

    assert caught.value.path.startswith(f"$.{field}")


def test_int_is_accepted_for_a_float_it_equals() -> None:
    """Some writers drop the fraction of a whole number."""
    again = read({"$type": "test.Strict", "score": 3, "maybe": 2}, codec=ENUMS)

    assert (again.score, type(again.score)) == (3.0, float)
    assert type(again.maybe) is float


def test_bool_is_no_score() -> None:
    """Primitives are as strict."""
    wire = root(make(Memory))

    with pytest.raises(UndecodableValueError, match="confidence"):
        read({**wire, "confidence": True})


@pytest.mark.parametrize("value", ["aGk=", b"hi", "$bytes"])
def test_union_of_bytes_and_str_is_never_guessed(value: bytes | str) -> None:
    """What went in comes out."""
    assert round_trip(Loose(data=value), ENUMS).data == value


@pytest.mark.parametrize("value", ["2026-05-01T12:30:15+00:00", NOW])
def test_union_of_time_and_str_is_never_guessed(value: datetime | str) -> None:
    """What went in comes out."""
    assert round_trip(Loose(when=value), ENUMS).when == value


@pytest.mark.parametrize(
    ("field", "value", "path"),
    [
        ("number", True, "$[0].number"),
        ("score", 3, "$[0].score"),
        ("text", Text("a"), "$[0].text"),
        ("items", (1,), "$[0].items"),
        ("items", [1, "a"], "$[0].items[1]"),
        ("when", date(2026, 1, 1), "$[0].when"),
    ],
)
def test_value_that_the_annotation_does_not_name_is_refused(
    field: str, value: object, path: str
) -> None:
    """What encode would write, decode would not read as what it was."""
    strict = Strict()
    setattr(strict, field, value)

    with pytest.raises(UnencodableValueError, match="belongs") as caught:
        ENUMS.encode([strict])

    assert caught.value.path == path


def test_zone_and_fixed_offset_are_not_confused() -> None:
    """A zone comes back as a zone, an offset as an offset."""
    zone = datetime(2026, 7, 1, tzinfo=ZoneInfo("Europe/Paris"))
    offset = zone.replace(tzinfo=timezone(timedelta(hours=2)))
    again = through_args([zone, offset])

    assert [type(value.tzinfo) for value in again] == [ZoneInfo, timezone]


def test_unknown_zone_is_refused() -> None:
    """Only keys of the time zone database are looked up, and paths are none."""
    for key in ("../../etc/passwd", "/etc/passwd", "Nowhere/City", ""):
        with pytest.raises(UndecodableValueError, match="time zone"):
            read({"$any": {"$zoneinfo": key}})


def test_payload_is_an_untyped_slot() -> None:
    """Any value comes back."""
    assert round_trip(make(GateRecord, payload={1: b"x"})).payload == {1: b"x"}


def test_name_that_is_no_text_is_refused() -> None:
    """Even where a class chose it."""
    odd = Enum("odd", {"\ud800": 1, "b": "x"})
    codec = Codec(types={"test.Odd": odd})

    with pytest.raises(UnencodableValueError, match="name of an Enum member"):
        codec.encode([odd["\ud800"]])
