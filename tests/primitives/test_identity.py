from __future__ import annotations

import math

import pytest

from graphcodec.errors import InvalidValueError
from graphcodec.primitives import Identity, Tokenizable
from tests.primitives.builders import make


def test_number_and_text_stay_what_they_are() -> None:
    """42 and "42" are two identifiers."""
    number, text = make(Identity, identifier=42), make(Identity, identifier="42")

    assert (type(number.identifier), type(text.identifier)) == (int, str)
    assert number != text


@pytest.mark.parametrize("identifier", ["x", 0, -1, 2**70, 1.5])
def test_identifier_is_text_or_number(identifier: object) -> None:
    """A non-empty str and every finite number will do."""
    assert make(Identity, identifier=identifier).identifier == identifier


@pytest.mark.parametrize("identifier", ["", True, None, math.nan, math.inf, b"x", ()])
def test_identifier_is_nothing_else(identifier: object) -> None:
    """Neither empty text, nor a bool, nor what is not a number."""
    with pytest.raises(
        InvalidValueError,
        match=r"Identity\.identifier must be a non-empty str or a finite number, not",
    ) as caught:
        make(Identity, identifier=identifier)
    assert caught.value.path == "$.identifier"


def test_str_becomes_the_representation() -> None:
    """The name for the model may be given as str."""
    assert make(Identity, representation="Ada").representation == Tokenizable("Ada")


def test_live_representation_is_kept() -> None:
    """A Tokenizable is not copied."""
    name = Tokenizable("Ada")

    assert make(Identity, representation=name).representation is name


@pytest.mark.parametrize("representation", ["", Tokenizable(""), None, 1])
def test_representation_is_not_empty(representation: object) -> None:
    """Empty text is refused in both forms."""
    with pytest.raises(
        InvalidValueError,
        match=r"Identity\.representation must be a non-empty Tokenizable, not",
    ):
        make(Identity, representation=representation)


def test_hash_is_that_of_the_identifier() -> None:
    """Identities can be counted."""
    assert len({make(Identity), make(Identity), make(Identity, identifier=1)}) == 2


def test_repr_shows_the_identifier_only() -> None:
    """The name that a model sees may be a person's."""
    assert repr(make(Identity)) == "Identity(identifier='ada')"
