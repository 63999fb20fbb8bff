"""Changes to classes, and whether documents from before them still decode.

Each class stands here twice. What the comparison says is held against what happens to
a document that the old codec wrote.
"""

import enum
from collections.abc import Callable
from typing import Any, Final, NamedTuple
from uuid import UUID

import pytest
from attrs import field, frozen, make_class

from graphcodec import Codec, encodable, extra
from graphcodec._schemas._diff import Change, compare
from graphcodec.errors import GraphCodecError, InvalidValueError

Make = Callable[[], Codec]


class Colour(enum.Enum):
    """Written by value."""

    RED = "red"
    BLUE = "blue"


class Fewer(enum.Enum):
    """Without a member."""

    RED = "red"


class More(enum.Enum):
    """With one more."""

    RED = "red"
    BLUE = "blue"
    GREEN = "green"


class Default(NamedTuple):
    """An annotation and the default beside it."""

    kind: Any
    value: object

    def attribute(self) -> Any:
        """Return the attribute."""
        return field(type=self.kind, default=self.value)


def item(
    fields: dict[str, Any], tag: str = "shop.Item", *, rest: bool = False, **mark: Any
) -> type:
    """Return a class with these annotations; some have a default."""
    attributes: dict[str, Any] = {
        name: given.attribute() if isinstance(given, Default) else field(type=given)
        for name, given in fields.items()
    }
    if rest:
        attributes["rest"] = extra()
    cls = make_class("Item", attributes, frozen=True, slots=True, kw_only=True)
    return encodable(tag, **mark)(cls)


def dropped(fields: dict[str, object]) -> dict[str, object]:
    """Drop a field."""
    fields.pop("b", None)
    return fields


class Case(NamedTuple):
    """A prepared change: two classes, an object of the older one, the verdict."""

    before: type
    after: type | None
    values: dict[str, Any]
    breaks: bool
    kind: str


AB: Final[dict[str, Any]] = {"a": int, "b": Default(str, "")}
ONE: Final[dict[str, Any]] = {"a": 1, "b": "x"}

CASES: Final[dict[str, Case]] = {
    "a field with a default is added": Case(
        item({"a": int}), item(AB), {"a": 1}, breaks=False, kind="field"
    ),
    "a field without a default is added": Case(
        item({"a": int}),
        item({"a": int, "b": str}),
        {"a": 1},
        breaks=True,
        kind="field",
    ),
    "a field is removed": Case(
        item(AB), item({"a": int}), ONE, breaks=True, kind="field"
    ),
    "a field is removed from a class with a place": Case(
        item(AB, rest=True),
        item({"a": int}, rest=True),
        ONE,
        breaks=False,
        kind="field",
    ),
    "a field is removed by an upgrade": Case(
        item(AB),
        item({"a": int}, version=2, upgrades={1: dropped}),
        ONE,
        breaks=False,
        kind="version",
    ),
    "the version is raised without an upgrade": Case(
        item(AB), item(AB, version=2), ONE, breaks=True, kind="version"
    ),
    "the version is lowered": Case(
        item(AB, version=2), item(AB), ONE, breaks=True, kind="version"
    ),
    "the tag is renamed": Case(
        item(AB), item(AB, "shop.Thing"), ONE, breaks=True, kind="tag"
    ),
    "the tag is renamed with an alias": Case(
        item(AB),
        item(AB, "shop.Thing", aliases=["shop.Item"]),
        ONE,
        breaks=False,
        kind="tag",
    ),
    "the class is gone": Case(item(AB), None, ONE, breaks=True, kind="tag"),
    "a type is narrowed": Case(
        item({"a": int | None}), item({"a": int}), {"a": None}, breaks=True, kind="type"
    ),
    "a type is widened": Case(
        item({"a": int}), item({"a": int | None}), {"a": 1}, breaks=False, kind=""
    ),
    "a type becomes another": Case(
        item({"a": list[int]}),
        item({"a": list[str]}),
        {"a": [1]},
        breaks=True,
        kind="type",
    ),
    "an int becomes a float": Case(
        item({"a": dict[str, list[int]]}),
        item({"a": dict[str, list[float]]}),
        {"a": {"k": [1]}},
        breaks=False,
        kind="type",
    ),
    "any value becomes text": Case(
        item({"a": object}), item({"a": str}), {"a": (1,)}, breaks=True, kind="type"
    ),
    "an id becomes text": Case(
        item({"a": UUID}), item({"a": str}), {"a": UUID(int=1)}, breaks=False, kind=""
    ),
    "an enum member is removed": Case(
        item({"a": Colour}),
        item({"a": Fewer}),
        {"a": Colour.BLUE},
        breaks=True,
        kind="type",
    ),
    "an enum member is added": Case(
        item({"a": Colour}), item({"a": More}), {"a": Colour.RED}, breaks=False, kind=""
    ),
    "a default is removed": Case(
        item(AB), item({"a": int, "b": str}), {"a": 1}, breaks=True, kind="field"
    ),
}


def codec(cls: type | None) -> Codec:
    """Return a codec of one class."""
    return Codec(types=[] if cls is None else [cls])


def changes(before: Codec, after: Codec) -> list[Change]:
    """Return what was changed between two codecs."""
    return compare(before.json_schema(), after.json_schema())


@pytest.mark.parametrize("name", CASES)
def test_change_is_judged_right(name: str) -> None:
    """An error where documents break, none where they do not."""
    case = CASES[name]

    found = changes(codec(case.before), codec(case.after))

    assert any(change.severity == "error" for change in found) is case.breaks, found
    assert [change.kind for change in found[:1]] == [case.kind] * bool(case.kind)


@pytest.mark.parametrize("name", CASES)
def test_verdict_is_what_happens(name: str) -> None:
    """A document from before decodes exactly if the change breaks nothing."""
    case = CASES[name]
    data = codec(case.before).encode(case.before(**case.values))
    if name == "a default is removed":
        # Written before the field was there.
        data = data.replace(b',"b":""', b"")

    if case.breaks:
        with pytest.raises(GraphCodecError):
            codec(case.after).decode(data)
    else:
        assert type(codec(case.after).decode(data)) is case.after


def test_equal_schemas_have_no_changes() -> None:
    """The order of registration is none."""
    a, b = item({"a": int}, "shop.A"), item({"a": int}, "shop.B")

    assert changes(Codec(types=[a, b]), Codec(types=[b, a])) == []


def test_object_in_an_untyped_slot_would_become_data() -> None:
    """It would decode, and be a dict: that breaks silently, so it is an error."""
    inner = item({"a": int}, "shop.Inner")
    before = item({"a": inner}, "shop.Outer")
    after = item({"a": object}, "shop.Outer")
    (change,) = changes(Codec(types=[inner, before]), Codec(types=[inner, after]))

    assert (change.severity, change.where) == ("error", "shop.Outer.a")
    assert "shop.Inner would be read as plain data" in change.message


def test_renamed_class_fits_the_slots_it_stood_in() -> None:
    """Its alias leads to it."""
    inner = item({"a": int}, "shop.Inner")
    renamed = item({"a": int}, "shop.Core", aliases=["shop.Inner"])
    before = item({"a": inner}, "shop.Outer")
    after = item({"a": renamed}, "shop.Outer")

    found = changes(Codec(types=[inner, before]), Codec(types=[renamed, after]))

    assert [(c.severity, c.where) for c in found] == [("note", "shop.Inner")]


def test_member_of_a_union_that_is_gone() -> None:
    """The slot is narrower, and the class is unknown."""
    a, b = item({"a": int}, "shop.A"), item({"a": int}, "shop.B")
    before = item({"x": a | b}, "shop.Outer")
    after = item({"x": a}, "shop.Outer")
    found = changes(Codec(types=[a, b, before]), Codec(types=[a, b, after]))

    assert [c.message for c in found if c.severity == "error"] == [
        "Item or Item became Item: shop.B no longer fits"
    ]


def test_alias_that_is_gone() -> None:
    """Documents with the old tag are refused."""
    before = item(AB, aliases=["shop.Old"])
    (change,) = changes(codec(before), codec(item(AB)))

    assert (change.severity, change.kind) == ("error", "alias")
    assert change.hint == "aliases=['shop.Old']"


def test_upgrade_that_is_gone() -> None:
    """The oldest version that is read may not rise."""
    steps = {1: dropped, 2: dropped}
    before = item({"a": int}, version=3, upgrades=steps)
    after = item({"a": int}, version=3, upgrades={2: dropped})
    (change,) = changes(codec(before), codec(after))

    assert change.message == "documents of version 1 are refused: there is no upgrade"


def test_member_of_a_registered_enum_that_is_gone() -> None:
    """By its name, as it stands where any value may stand."""
    before = Codec(types={"shop.Colour": Colour})
    after = Codec(types={"shop.Colour": Fewer})

    assert [c.message for c in changes(before, after)] == [
        "the member BLUE is gone: documents with it are refused"
    ]
    assert [c.severity for c in changes(after, before)] == ["note"]


def test_class_that_is_written_by_a_function_now() -> None:
    """Fields and a value are different forms."""

    @frozen
    class Plain:
        a: int

    before, after = Codec(types={"shop.P": Plain}), Codec()
    after.register(Plain, "shop.P", encode=lambda p: p.a, decode=Plain)
    (change,) = changes(before, after)

    assert (change.severity, change.kind) == ("error", "form")


def test_policies_that_are_stricter_now() -> None:
    """They break documents that hold what is unknown, which most do not."""
    kept = Codec(unknown_types="keep", unknown_fields="ignore")
    found = changes(kept, Codec(unknown_fields="raise"))

    assert {change.severity for change in found} == {"warning"}
    assert {change.kind for change in found} == {"unknown"}


@pytest.mark.parametrize("wrong", [None, [], {}, {"$defs": {}}])
def test_other_schemas_are_refused(wrong: object) -> None:
    """They carry no versions."""
    with pytest.raises(InvalidValueError, match="the new schema was not written by"):
        compare(Codec().json_schema(), wrong)
