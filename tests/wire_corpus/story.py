"""What six releases of a class have written, read by the classes of today.

The documents are those of `tests.wire_corpus.releases`, which tells how they came.
"""

from __future__ import annotations

from tests.wire_corpus.builders import READ
from tests.wire_corpus.releases import RELEASES, Basket, Paint


def today() -> object:
    """Return what each of the documents stands for today."""
    basket = Basket(7, "Ada", "Lovelace", Paint.CRIMSON)
    return [basket, basket, Paint.CRIMSON]


for _name, _release in RELEASES.items():
    READ[_name] = _release.codec.encode_text(_release.wrote), today
