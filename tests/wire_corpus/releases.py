"""One class through six releases, as it was in each of them.

What each release wrote lies in ``documents/story_*.json``; the last one reads it all.
"""

from __future__ import annotations

import enum
from typing import Any, Final, NamedTuple

from attrs import frozen

from graphcodec import Codec


class Dye(enum.Enum):
    """The Enum of the first five releases."""

    RED = "red"
    BLUE = "blue"


class Paint(enum.Enum):
    """That of the last: a member has another name and value, and one is new."""

    CRIMSON = "crimson"
    RED = CRIMSON
    BLUE = "blue"
    GREEN = "green"


@frozen
class Cart:
    """Of the first release, and of the second under another tag."""

    number: int
    name: str
    gift: bool = False
    colour: Dye = Dye.RED


@frozen
class CartWithNotes:
    """Of the third, which added a field."""

    number: int
    name: str
    gift: bool = False
    colour: Dye = Dye.RED
    notes: tuple[str, ...] = ()


@frozen
class CartWithoutGift:
    """Of the fourth, which removed one."""

    number: int
    name: str
    colour: Dye = Dye.RED
    notes: tuple[str, ...] = ()


@frozen
class CartOfTwoNames:
    """Of the fifth, which split one."""

    number: int
    first: str
    last: str
    colour: Dye = Dye.RED
    notes: tuple[str, ...] = ()


@frozen
class Basket:
    """Of the sixth, which changed an Enum: the class of today."""

    number: int
    first: str
    last: str
    colour: Paint = Paint.CRIMSON
    notes: tuple[str, ...] = ()


def without_gift(fields: dict[str, Any]) -> dict[str, Any]:
    """Drop what is no longer wanted."""
    fields.pop("gift", None)
    return fields


def with_two_names(fields: dict[str, Any]) -> dict[str, Any]:
    """Split the name."""
    first, _, last = fields.pop("name").partition(" ")
    return {**fields, "first": first, "last": last}


def with_paint(fields: dict[str, Any]) -> dict[str, Any]:
    """Use the new value of the member."""
    colour = fields.get("colour", "red")
    return {**fields, "colour": "crimson" if colour == "red" else colour}


UPGRADES: Final[list[Any]] = [without_gift, with_two_names, with_paint]


class Release(NamedTuple):
    """One release: the codec that it had, and what it wrote."""

    codec: Codec
    wrote: object


def _codec(cls: type, version: int) -> Codec:
    codec = Codec(types={"corpus.Dye": Dye})
    upgrades = {n + 1: UPGRADES[n] for n in range(version - 1)}
    codec.register(
        cls,
        "corpus.Basket",
        version=version,
        upgrades=upgrades,
        aliases=["corpus.Cart"],
    )
    return codec


def register(codec: Codec) -> None:
    """Let a codec know the classes of the last release.

    Args:
        codec: The codec.
    """
    codec.register(Paint, "corpus.Paint", aliases=["corpus.Dye"])
    upgrades = {n + 1: step for n, step in enumerate(UPGRADES)}
    codec.register(
        Basket,
        "corpus.Basket",
        version=4,
        upgrades=upgrades,
        aliases=["corpus.Cart"],
    )


def _last() -> Codec:
    codec = Codec()
    register(codec)
    return codec


def _twice(cart: object, dye: enum.Enum) -> list[object]:
    """Return a graph in which a cart stands twice, beside a member of the Enum."""
    return [cart, cart, dye]


RELEASES: Final[dict[str, Release]] = {
    "story_1_first": Release(
        Codec(types={"corpus.Cart": Cart, "corpus.Dye": Dye}),
        _twice(Cart(7, "Ada Lovelace", gift=True), Dye.RED),
    ),
    "story_2_tag_renamed": Release(
        _codec(Cart, 1), _twice(Cart(7, "Ada Lovelace", gift=True), Dye.RED)
    ),
    "story_3_field_added": Release(
        _codec(CartWithNotes, 1), _twice(CartWithNotes(7, "Ada Lovelace"), Dye.RED)
    ),
    "story_4_field_removed": Release(
        _codec(CartWithoutGift, 2), _twice(CartWithoutGift(7, "Ada Lovelace"), Dye.RED)
    ),
    "story_5_field_split": Release(
        _codec(CartOfTwoNames, 3), _twice(CartOfTwoNames(7, "Ada", "Lovelace"), Dye.RED)
    ),
    "story_6_enum_changed": Release(
        _last(), _twice(Basket(7, "Ada", "Lovelace"), Paint.CRIMSON)
    ),
}
"""The releases by the name of the document that each one wrote."""
