"""One document through the years: what was written once is read after each change."""

import enum
from typing import Any, Final

import pytest
from attrs import frozen

from graphcodec import Codec, encodable
from graphcodec._schemas._diff import compare
from graphcodec.errors import UndecodableValueError

FIRST: Final = (
    '{"graphcodec":1,"nodes":[{"$type":"shop.Cart","number":7,"name":"Ada Lovelace",'
    '"gift":true,"colour":"red"}],"root":{"$any":[{"$type":"$ref","n":0},'
    '{"$type":"$ref","n":0},{"$enum":"shop.Colour","name":"RED"}]}}'
)
"""Written by the first release: never to be changed."""


class Colour(enum.Enum):
    """What there was in the beginning."""

    RED = "red"
    BLUE = "blue"


@frozen
class Cart:
    """The first release."""

    number: int
    name: str
    gift: bool = False
    colour: Colour = Colour.RED


class Paint(enum.Enum):
    """A member has another name and value now, and one is new."""

    CRIMSON = "crimson"
    RED = CRIMSON
    BLUE = "blue"
    GREEN = "green"


def second(fields: dict[str, Any]) -> dict[str, Any]:
    """Split the name, and drop what is no longer wanted."""
    first, _, last = fields.pop("name").partition(" ")
    fields.pop("gift", None)
    return {**fields, "first": first, "last": last}


def third(fields: dict[str, Any]) -> dict[str, Any]:
    """Use the new value of the member."""
    colour = fields.get("colour", "red")
    return {**fields, "colour": "crimson" if colour == "red" else colour}


@encodable(
    "shop.Basket", version=3, upgrades={1: second, 2: third}, aliases=["shop.Cart"]
)
@frozen
class Basket:
    """The fourth release: renamed, one field split, one gone, one new."""

    number: int
    first: str
    last: str
    colour: Paint = Paint.CRIMSON
    notes: tuple[str, ...] = ()


THEN: Final = Codec(types={"shop.Cart": Cart, "shop.Colour": Colour})
NOW: Final = Codec(types=[Basket])
NOW.register(Paint, "shop.Paint", aliases=["shop.Colour"])


def test_first_release_wrote_it() -> None:
    """The document is what the classes of then give."""
    cart = Cart(7, "Ada Lovelace", gift=True)

    assert THEN.encode_text([cart, cart, Colour.RED]) == FIRST


def test_last_release_reads_it() -> None:
    """Renamed, split, dropped, added, and with another member; still one object."""
    basket, again, paint = NOW.decode(FIRST, list[object])

    assert basket == Basket(7, "Ada", "Lovelace", Paint.CRIMSON)
    assert basket is again
    assert paint is Paint.CRIMSON


def test_it_is_written_anew() -> None:
    """With the tag and the version of now, and read back."""
    graph = NOW.decode(FIRST)
    text = NOW.encode_text(graph)

    assert '"$type":"shop.Basket","$v":3' in text
    assert '{"$enum":"shop.Paint","name":"CRIMSON"}' in text
    assert NOW.decode(text) == graph


def test_comparison_of_the_schemas_agrees() -> None:
    """No change breaks it."""
    found = compare(THEN.json_schema(), NOW.json_schema())

    assert [change for change in found if change.severity == "error"] == []


def test_member_that_is_new_is_refused_by_old_readers() -> None:
    """They say which; it is for readers to be updated first."""
    codec = Codec(types={"shop.Paint": Colour})
    text = NOW.encode_text([Paint.GREEN, ()])

    with pytest.raises(UndecodableValueError, match="has no member 'GREEN'"):
        codec.decode(text)
