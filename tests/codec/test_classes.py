import dataclasses
import json
from collections.abc import Sequence
from dataclasses import InitVar, dataclass
from datetime import datetime
from enum import Enum, IntEnum, StrEnum
from typing import (
    Annotated,
    Any,
    ClassVar,
    Final,
    Generic,
    Literal,
    NewType,
    Optional,
    Protocol,
    TypeVar,
)

import attrs
import msgspec
import pydantic
import pytest
from attrs import define, field, frozen

from graphcodec import Codec, encodable, extra
from graphcodec.errors import (
    CyclicGraphError,
    DuplicateTagError,
    InvalidValueError,
    UndecodableValueError,
    UnencodableValueError,
)
from graphcodec.primitives import Memory, Message, Tokenizable
from tests.codec.samples import document, read, root, round_trip
from tests.primitives.builders import NOW, make

T = TypeVar("T")
UserId = NewType("UserId", str)


def codec_of(*classes: type) -> Codec:
    """Return a codec for classes that have no marks."""
    return Codec(types={f"test.{cls.__name__}": cls for cls in classes})


# attrs


@define
class Private:
    """A private attribute, an alias, a field outside the constructor."""

    _x: int
    y: int = field(alias="why", default=2)
    z: list[int] = field(init=False, factory=list[int])

    def __attrs_post_init__(self) -> None:
        if not self.z:
            self.z = [self._x]


def test_wire_of_attrs_has_the_names_of_the_constructor() -> None:
    """A field that it does not take is written and set afterwards."""
    codec = codec_of(Private)
    private = Private(1, why=3)
    private.z = [7]

    assert root(private, codec) == {"$type": "test.Private", "x": 1, "why": 3, "z": [7]}
    assert round_trip(private, codec) == private


@define(slots=False, kw_only=True)
class Open:
    """An instance with a dict, and a converter."""

    a: int = field(converter=int)
    b: frozenset[tuple[int, int]] = frozenset()
    c: dict[tuple[int, int], list[Private]] = field(
        factory=dict[tuple[int, int], list[Private]]
    )


def test_class_without_slots_comes_back() -> None:
    """With containers in containers."""
    codec = codec_of(Open, Private)
    value = Open(a=1, b=frozenset({(1, 2)}), c={(1, 2): [Private(1)]})

    assert round_trip(value, codec) == value


@frozen(cache_hash=True)
class Cached:
    """A class that remembers its hash."""

    x: int


def test_class_that_caches_its_hash_comes_back() -> None:
    """And can be hashed."""
    again = round_trip(Cached(1), codec_of(Cached))

    assert hash(again) == hash(Cached(1))


class Plain:
    """A base that gives its subclasses a dict."""


@define
class Mixed(Plain):
    """A slotted class whose instances have a dict all the same."""

    x: int


def test_slotted_class_with_a_base_that_is_not_comes_back() -> None:
    """Twice over."""
    codec = codec_of(Mixed)
    again = round_trip(round_trip(Mixed(1), codec), codec)

    assert again == Mixed(1)
    assert vars(again) == {}


@define
class Positive:
    """A class that validates and counts."""

    x: int = field(validator=attrs.validators.gt(0))
    made: ClassVar[int] = 0

    def __attrs_post_init__(self) -> None:
        type(self).made += 1


def test_constructor_runs_with_its_validators() -> None:
    """On decode as on construction."""
    codec = codec_of(Positive)
    before = Positive.made

    assert read({"$type": "test.Positive", "x": 1}, codec=codec) == Positive(1)
    assert Positive.made == before + 2
    with pytest.raises(UndecodableValueError, match="refuses its data: ValueError"):
        read({"$type": "test.Positive", "x": -1}, codec=codec)


@define(init=False)
class OwnInit:
    """A constructor written by hand."""

    x: int

    def __init__(self, x: int) -> None:
        self.x = x
        if x < 0:
            raise ValueError


def test_own_constructor_is_called() -> None:
    """Nothing goes round it."""
    codec = codec_of(OwnInit)

    assert round_trip(OwnInit(1), codec) == OwnInit(1)
    with pytest.raises(UndecodableValueError, match="OwnInit refuses its data"):
        read({"$type": "test.OwnInit", "x": -1}, codec=codec)


@define
class Box(Generic[T]):
    """A generic class."""

    item: T
    boxes: "list[Box[T]]" = field(factory=list["Box[T]"])


@define
class Shelf:
    """A field of a generic class with an argument."""

    box: Box[int]
    forward: "Later | None" = None


@define
class Later:
    """Defined after it was mentioned."""

    shelf: Shelf | None = None


def test_generic_classes_and_forward_references_come_back() -> None:
    """A type variable is an untyped slot."""
    codec = codec_of(Box, Shelf, Later)
    shelf = Shelf(Box((1,), [Box(2)]), Later(Shelf(Box(NOW))))  # type: ignore[arg-type]

    assert round_trip(shelf, codec) == shelf


@define
class Annotations:
    """Annotations around annotations."""

    a: Annotated[int, "note"] = 1
    b: UserId = UserId("u")
    c: Final[int] = 2
    d: Literal["x", 3] | None = "x"
    e: Sequence[int] = (1,)
    f: Optional["Tokenizable | Memory"] = None
    g: list = field(factory=list[Any])  # type: ignore[type-arg]
    h: dict[str, Annotated[list[UserId], "ids"]] = field(
        factory=dict[str, list[UserId]]
    )
    i: tuple[()] = ()


def test_annotations_are_looked_through() -> None:
    """What can't be known from the annotation is an untyped slot."""
    value = Annotations(
        f=Tokenizable("x"), d=3, e=[1, 2], g=[(1,)], h={"k": [UserId("i")]}
    )
    codec = codec_of(Annotations)

    assert round_trip(value, codec) == value
    assert root(value, codec)["h"] == {"k": ["i"]}


def test_unset_field_is_refused_with_its_path() -> None:
    """Nothing is written for what has no value."""
    empty = Open.__new__(Open)

    with pytest.raises(UnencodableValueError, match="has no value") as caught:
        codec_of(Open).encode([empty])

    assert caught.value.path == "$[0].a"


@define(slots=False)
class Both:
    """A class marked for extras and one whose extras have a field."""

    x: int = 1
    rest: dict[str, object] = extra()  # noqa: RUF009 - an attrs field


def test_extra_is_no_field() -> None:
    """What it holds stands beside the fields."""
    wire = {"$type": "test.Both", "x": 1, "new": [1]}
    again = read(wire, codec=codec_of(Both))

    assert again.rest == {"new": [1]}
    assert root(again, codec_of(Both)) == wire


# Subclasses, tags, registration


class Child(Open):
    """A subclass that nobody registered."""


@define
class Owner:
    """Fields that admit more than one class."""

    base: Open | None = None
    many: list[Open] = field(factory=list[Open])
    either: Message | Memory | None = None


def test_unregistered_subclass_is_refused() -> None:
    """Nothing is cut down to its base."""
    codec = codec_of(Open, Owner)
    for owner, path in (
        (Child(a=1), "$"),
        (Owner(base=Child(a=1)), "$.base"),
        (Owner(many=[Open(a=1), Child(a=2)]), "$.many[1]"),
    ):
        with pytest.raises(UnencodableValueError, match=r"Child") as caught:
            codec.encode(owner)

        assert caught.value.path == path


def test_mark_of_a_base_does_not_count() -> None:
    """A tag is looked up in the class itself."""
    marked = encodable("test.Marked")(type("Marked", (), {"__slots__": ()}))
    child = type("Sub", (marked,), {})

    with pytest.raises(UnencodableValueError, match="no tag of its own"):
        Codec().encode(child())
    with pytest.raises(InvalidValueError, match="has no tag"):
        Codec(types=[child])


def test_registered_subclass_comes_back_as_itself() -> None:
    """The tag follows the object, never the annotation."""
    codec = codec_of(Open, Owner, attrs.define(slots=False)(Child))

    assert type(round_trip(Owner(base=Child(a=1)), codec).base) is Child


@frozen
class Still:
    """A frozen, slotted base."""

    a: int


class Bare(Still):
    """A subclass that is not decorated itself, as one writes exceptions."""


class Flagged(Message):
    """The same of a primitive."""


def test_subclass_without_a_decorator_comes_back_as_itself() -> None:
    """It has the fields of its base, and is made and checked by its constructor."""
    codec = Codec(types={"test.Bare": Bare, "test.Flagged": Flagged})
    flagged = Flagged(id="m", role="user", content="x", created_at=NOW, updated_at=NOW)

    assert type(round_trip(Bare(1), codec)) is Bare
    again = round_trip(flagged, codec)
    assert (type(again), again.content) == (Flagged, flagged.content)
    wire = {**root(flagged, codec), "role": "system"}
    with pytest.raises(UndecodableValueError, match="belongs here, not 'system'"):
        read(wire, codec=codec)


def test_union_takes_each_of_its_members() -> None:
    """And nothing else."""
    codec = codec_of(Owner, Open)
    for part in (make(Message), make(Memory), None):
        assert round_trip(Owner(either=part), codec).either == part
    wrong: Any = Tokenizable("x")

    with pytest.raises(UnencodableValueError, match="Message or Memory belongs"):
        codec.encode(Owner(either=wrong))
    with pytest.raises(UndecodableValueError, match="Message or Memory belongs"):
        read({"$type": "test.Owner", "either": root(wrong)}, codec=codec)


def test_union_with_an_unknown_member_is_refused_by_tag() -> None:
    """The codec knows Owner, but not Open."""
    codec = codec_of(Owner)
    wire = {"$type": "test.Owner", "base": {"$type": "test.Open", "a": 1}}

    with pytest.raises(UndecodableValueError, match=r"test\.Open.*unknown") as caught:
        read(wire, codec=codec)

    assert caught.value.path == "$.base"
    assert caught.value.tag == "test.Open"


def test_two_classes_of_one_name_are_two_classes() -> None:
    """Only the tag tells them apart."""
    one = define(type("Same", (), {"__annotations__": {"x": int}}))
    two = define(type("Same", (), {"__annotations__": {"x": int}}))
    codec = Codec(types={"a.Same": one, "b.Same": two})

    again: list[object] = round_trip([one(1), two(1)], codec)

    assert [type(value) for value in again] == [one, two]


def test_tag_of_another_class_is_refused() -> None:
    """Unless it is replaced on purpose."""
    codec = codec_of(Open)

    with pytest.raises(DuplicateTagError, match=r"test\.Open.*belongs to") as caught:
        codec.register(Owner, "test.Open")

    assert caught.value.tag == "test.Open"
    with pytest.raises(DuplicateTagError):
        codec.register(Owner, "test.Owner", aliases=["test.Open"])
    with pytest.raises(DuplicateTagError, match="is registered as"):
        codec.register(Open, "test.Second")


def test_replaced_class_is_forgotten() -> None:
    """What it would be written as, another class would be read from."""
    codec = codec_of(Open)
    codec.register(Owner, "test.Open", replace=True)

    assert read({"$type": "test.Open"}, codec=codec) == Owner()
    with pytest.raises(UnencodableValueError, match="Open"):
        codec.encode(Open(a=1))


def test_class_registered_after_the_first_encode_is_known() -> None:
    """Hooks are compiled anew."""
    codec = codec_of(Owner)
    codec.encode(Owner())
    codec.decode(codec.encode(Owner()))
    with pytest.raises(UnencodableValueError, match="Open"):
        codec.encode(Owner(base=Open(a=1)))
    codec.register(Open, "test.Open")

    assert round_trip(Owner(base=Open(a=1)), codec) == Owner(base=Open(a=1))


@pytest.mark.parametrize("tag", ["Order", "$ref", "", "$shop.Order"])
def test_tag_of_a_user_has_a_dot(tag: str) -> None:
    """The others are ours."""
    with pytest.raises(InvalidValueError, match="tag"):
        Codec(types={tag: Open})
    with pytest.raises(InvalidValueError, match="tag"):
        encodable(tag)


@pytest.mark.parametrize("tag", ["", "$x.Y", "a.\x00", "a.b\nc", "a.\ud800", 7])
def test_tag_is_text_of_one_line(tag: Any) -> None:
    """It stands in documents, messages and the names of generated code."""
    with pytest.raises(InvalidValueError, match="a tag must be a non-empty, printable"):
        Codec(types={tag: Point})
    with pytest.raises(InvalidValueError, match="a tag must be a non-empty, printable"):
        Codec().register(Point, "test.New", aliases=[tag])


def test_class_of_no_known_kind_is_refused() -> None:
    """When it is registered."""
    with pytest.raises(InvalidValueError, match="no class that graphcodec can read"):
        Codec(types={"test.Plain": Plain})
    with pytest.raises(InvalidValueError, match="only a class can be registered"):
        Codec(types={"test.Plain": Plain()})  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidValueError, match="come together"):
        Codec().register(Plain, "test.Plain", encode=vars)


def test_marked_class_is_encoded_by_any_codec_and_decoded_by_none() -> None:
    """The error says that the class is loaded."""

    @encodable("test.Loaded")
    @define
    class Loaded:
        x: int = 1

    data = Codec().encode(Loaded())

    with pytest.raises(UndecodableValueError, match=r"Loaded is marked") as caught:
        Codec().decode(data)
    assert "types=[Loaded]" in caught.value.hint
    assert Codec(types=[Loaded]).decode(data) == Loaded()


def test_unknown_annotation_is_refused() -> None:
    """A name that leads nowhere is a mistake in the class."""

    @define
    class Lost:
        x: "Nowhere"  # type: ignore[name-defined]  # noqa: F821

    codec = Codec(types={"test.Lost": Lost})

    with pytest.raises(InvalidValueError, match="unknown name 'Nowhere'"):
        codec.encode(Lost(1))  # pyright: ignore[reportUnknownArgumentType]


# Dataclasses


@dataclass
class Derived:
    """A field that the constructor computes from an argument that is not kept."""

    a: int
    scale: InitVar[int] = 5
    b: int = dataclasses.field(init=False, default=0)

    def __post_init__(self, scale: int) -> None:
        self.b = self.a * scale


@dataclass
class Needs:
    """An argument that is not kept."""

    a: int
    scale: InitVar[int]


@dataclass(slots=True, frozen=True, kw_only=True, order=True)
class Strict:
    """A frozen dataclass with slots."""

    a: int
    kids: "list[Strict]" = dataclasses.field(default_factory=list["Strict"])
    limit: ClassVar[int] = 3


def test_dataclasses_come_back() -> None:
    """What the constructor computed is set to what it was."""
    codec = codec_of(Derived, Strict)
    derived = Derived(1)
    derived.b = 77

    assert round_trip(derived, codec) == derived
    assert round_trip(Strict(a=1, kids=[Strict(a=2)]), codec).kids[0].a == 2


def test_init_var_without_default_is_refused() -> None:
    """There is nothing to give it on decode."""
    with pytest.raises(InvalidValueError, match="InitVar 'scale'"):
        codec_of(Needs)


def test_frozen_dataclass_closes_a_cycle_through_its_list() -> None:
    """As a frozen attrs class does."""
    strict = Strict(a=1)
    strict.kids.append(strict)
    again = round_trip(strict, codec_of(Strict))

    assert again.kids[0] is again


@dataclass
class Measured:
    """A default that is an int where the annotation says float."""

    seconds: float = 0
    metres: float = 0.0


def test_a_default_says_what_may_stand_in_its_field() -> None:
    """An int is no float, but where the class itself has one, it comes back as one."""
    codec = codec_of(Measured)
    there = [round_trip(Measured(value), codec).seconds for value in (0, 7, 0.0, 1.5)]

    assert [(type(value), value) for value in there] == [
        (int, 0),
        (int, 7),
        (float, 0.0),
        (float, 1.5),
    ]
    with pytest.raises(UnencodableValueError, match=r"an int stands where a float"):
        codec.encode(Measured(metres=1))


# Enums


class Words(StrEnum):
    """Text."""

    A = "a"


class Numbers(IntEnum):
    """Numbers, two of one value."""

    ONE = 1
    UNO = 1
    TWO = 2


class Objects(Enum):
    """Values of no one type."""

    A = object()
    B = (1, 2)


@define
class Members:
    """One of each."""

    words: Words = Words.A
    numbers: Numbers = Numbers.TWO
    objects: Objects = Objects.A
    table: dict[Words, set[Numbers]] = field(factory=dict[Words, set[Numbers]])


def test_members_come_back_as_themselves() -> None:
    """In typed slots, and where they are registered in untyped ones."""
    codec = codec_of(Members, Words, Numbers, Objects)
    members = Members(numbers=Numbers.UNO, table={Words.A: {Numbers.ONE}})
    again = round_trip([members, Objects.A, {Objects.B: Words.A}], codec)

    assert again == [members, Objects.A, {Objects.B: Words.A}]
    assert again[1] is Objects.A


@pytest.mark.parametrize(
    ("name", "wire"),
    [
        ("words", "A"),
        ("words", 1),
        ("numbers", True),
        ("numbers", 1.0),
        ("numbers", "ONE"),
        ("objects", "C"),
        ("objects", [1, 2]),
        ("objects", "__class__"),
    ],
)
def test_what_is_no_member_is_refused(name: str, wire: object) -> None:
    """By its exact value or name only."""
    with pytest.raises(UndecodableValueError, match="a member of") as caught:
        read({"$type": "test.Members", name: wire}, codec=codec_of(Members))

    assert caught.value.path == f"$.{name}"


def test_unregistered_member_in_an_untyped_slot_is_refused() -> None:
    """Not written as its value."""
    with pytest.raises(UnencodableValueError, match=r"the Enum .*Words has no tag"):
        Codec().encode([Words.A])


# pydantic


class Model(pydantic.BaseModel):
    """Aliases, extras, other models."""

    model_config = pydantic.ConfigDict(extra="allow", arbitrary_types_allowed=True)

    a_b: int = pydantic.Field(1, alias="aB")
    message: Message | None = None
    items: list[Any] = []
    parent: "Model | None" = None
    pair: tuple[int, ...] = ()


class Sealed(pydantic.BaseModel):
    """A model that allows neither changes nor extras, and validates."""

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    x: int = pydantic.Field(default=1, alias="ex", ge=0)
    items: list[Any] = []


class Secret(pydantic.BaseModel):
    """A model with private state."""

    _token: int = 1


class Numbered(pydantic.RootModel[list[int]]):
    """A model that is one value."""


PYDANTIC = codec_of(Model, Sealed, Numbered)


def test_models_come_back() -> None:
    """With aliases, extras and primitives in them."""
    model = Model(aB=3, message=make(Message), pair=(1, 2), note=NOW, more={1: 2})  # type: ignore[call-arg]
    again = round_trip([model, Sealed(ex=2)], PYDANTIC)

    assert again == [model, Sealed(ex=2)]
    assert again[0].note == NOW


def test_root_model_comes_back() -> None:
    """Its value has the name root."""
    assert round_trip(Numbered([1, 2]), PYDANTIC) == Numbered([1, 2])


def test_models_in_cycles_come_back() -> None:
    """Through a field, a list, and what it does not know."""
    model = Model(aB=1)
    model.parent = model
    model.items.append(model)
    assert model.__pydantic_extra__ is not None
    model.__pydantic_extra__["me"] = model
    again = round_trip(model, PYDANTIC)

    assert again.parent is again
    assert again.items[0] is again
    assert again.me is again


def test_frozen_model_in_a_cycle_is_refused() -> None:
    """Its validation copies the list, so it can't be filled later."""
    sealed = Sealed()
    sealed.items.append(sealed)

    with pytest.raises(CyclicGraphError, match="contains itself"):
        PYDANTIC.encode(sealed)


def test_model_validates_what_it_is_given() -> None:
    """The wire is strict before the model is lax; an error shows no input."""
    with pytest.raises(UndecodableValueError, match=r"an? int") as caught:
        read({"$type": "test.Sealed", "x": "1"}, codec=PYDANTIC)
    assert caught.value.path == "$.x"
    with pytest.raises(UndecodableValueError, match="Sealed refuses its data"):
        read({"$type": "test.Sealed", "x": -1}, codec=PYDANTIC)


def test_private_state_of_a_model_is_refused() -> None:
    """It would be lost."""
    with pytest.raises(InvalidValueError, match=r"private state \(_token\)"):
        codec_of(Secret)


def test_model_that_forbids_extras_has_no_place_for_unknown_fields() -> None:
    """While another keeps them."""
    wire = {"$type": "test.Model", "a_b": 1, "new": {"$any": {"$date": "2026-01-01"}}}

    with pytest.raises(UndecodableValueError, match="unknown field 'new'"):
        read({"$type": "test.Sealed", "new": 1}, codec=PYDANTIC)
    assert root(read(wire, codec=PYDANTIC), PYDANTIC)["new"] == wire["new"]


# msgspec


class Camel(msgspec.Struct, rename="camel", tag=True, forbid_unknown_fields=True):
    """Renamed fields."""

    my_field: int = 1
    second: str = msgspec.field(name="other", default="x")


class Holder(msgspec.Struct):
    """Primitives and containers."""

    message: Message | None = None
    texts: list[Tokenizable] = []
    table: dict[int, tuple[int, str]] = {}
    any: Any = None
    when: datetime | None = None
    kids: list["Holder"] = []


class Arrayed(msgspec.Struct, array_like=True):
    """A Struct that msgspec itself would write as a list."""

    a: int = 1


class Bounded(msgspec.Struct, frozen=True):
    """Constraints and a check of its own."""

    a: Annotated[int, msgspec.Meta(ge=0)] = 1

    def __post_init__(self) -> None:
        if self.a == 13:
            msg = "unlucky"
            raise ValueError(msg)


STRUCTS = codec_of(Camel, Holder, Arrayed, Bounded)


@pytest.mark.parametrize(
    "struct",
    [
        Camel(5),
        Holder(),
        Holder(message=make(Message), texts=[Tokenizable("a")]),
        Holder(table={1: (1, "a")}, any={1: make(Message)}, when=NOW),
        Holder(kids=[Holder(kids=[Holder()])]),
        Arrayed(2),
        Bounded(3),
    ],
    ids=lambda struct: type(struct).__name__,
)
def test_structs_come_back(struct: msgspec.Struct) -> None:
    """With all that they hold; the wire has the names of the attributes."""
    assert round_trip(struct, STRUCTS) == struct


@pytest.mark.parametrize("number", [-1, 13])
def test_struct_validates_what_it_is_given(number: int) -> None:
    """Though its constructor checks no constraint."""
    with pytest.raises(UndecodableValueError, match="Bounded refuses its data"):
        read({"$type": "test.Bounded", "a": number}, codec=STRUCTS)


def test_struct_keeps_the_objects_it_is_given() -> None:
    """They are not made again, so sharing survives."""
    text = Tokenizable("a")
    again = round_trip(Holder(texts=[text, text], any=text), STRUCTS)

    assert again.texts[0] is again.texts[1] is again.any


def test_struct_in_a_cycle_is_refused() -> None:
    """It can't exist before its fields do."""
    through_list, through_any = Holder(kids=[]), Holder()
    through_list.kids.append(through_list)
    through_any.any = through_any

    for holder in (through_list, through_any):
        with pytest.raises(CyclicGraphError, match="contains itself"):
            STRUCTS.encode(holder)


# Classes with functions of their own


class Point:
    """The three methods, without an import of graphcodec."""

    __graphcodec_tag__ = "test.Point"

    def __init__(self, x: int, y: object = None) -> None:
        self.x, self.y = x, y

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Point) and (self.x, self.y) == (other.x, other.y)

    __hash__ = None  # type: ignore[assignment]

    def __graphcodec_encode__(self) -> object:
        return (self.x, self.y)

    @classmethod
    def __graphcodec_decode__(cls, data: Any) -> "Point":
        x, y = data
        return cls(x, y)


def test_class_with_the_three_methods_comes_back() -> None:
    """What it gives is an untyped slot under $value."""
    codec = Codec(types=[Point])
    point = Point(1, Point(2, b"x"))

    assert root(Point(1), codec) == {
        "$type": "test.Point",
        "$value": {"$any": {"$tuple": [1, None]}},
    }
    assert round_trip(point, codec) == point


def test_methods_may_come_from_a_base_if_the_tag_does_not() -> None:
    """Each class has a tag of its own."""
    child = type("Child", (Point,), {"__graphcodec_tag__": "test.Child"})
    codec = Codec(types=[Point, child])

    assert type(round_trip([child(1)], codec)[0]) is child


def test_decoder_that_fails_is_an_error_of_ours() -> None:
    """With the path, and the exception as its cause."""
    with pytest.raises(UndecodableValueError, match="Point refuses its data") as caught:
        read(
            {"$any": [{"$type": "test.Point", "$value": 5}]}, codec=Codec(types=[Point])
        )

    assert caught.value.path.startswith("$[0]")
    assert isinstance(caught.value.__cause__, TypeError)


@pytest.mark.parametrize(
    "wire", [{}, {"$value": 1, "x": 2}, {"x": 1}, {"$value": {"$any": {"$foo": 1}}}]
)
def test_wrong_shape_of_own_class_is_refused(wire: dict[str, Any]) -> None:
    """It has exactly one value."""
    with pytest.raises(UndecodableValueError):
        read({"$type": "test.Point", **wire}, codec=Codec(types=[Point]))


def test_registered_functions_stand_for_the_fields() -> None:
    """For classes one does not own."""
    codec = Codec()
    codec.register(
        complex, "test.Complex", encode=lambda c: [c.real, c.imag], decode=_to_complex
    )
    codec.register(Plain, "test.Plain", encode=vars, decode=lambda _: Plain())

    assert type(codec.decode(codec.encode(Plain()))) is Plain


def _to_complex(parts: Any) -> complex:
    return complex(*parts)


def test_decoder_that_gives_another_class_is_refused() -> None:
    """What comes out must be what was registered."""
    codec = Codec()
    codec.register(Plain, "test.Plain", encode=vars, decode=lambda _: 5)  # type: ignore[arg-type, return-value]

    with pytest.raises(UndecodableValueError, match=r"gave a"):
        codec.decode(document({"$type": "test.Plain", "$value": {}}))


class HasName(Protocol):
    """A protocol is no class of objects."""

    name: str


@define
class Duck:
    """A field that is annotated with a protocol."""

    it: HasName | None = None


def test_protocol_is_an_untyped_slot() -> None:
    """Whatever fits is written with its own type."""
    value: Any = Tokenizable("x")

    assert json.loads(codec_of(Duck).encode(Duck(value)))["root"]["it"] == {
        "$any": root(value)
    }
