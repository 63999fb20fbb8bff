from __future__ import annotations

import math

import pytest

from graphcodec.errors import InvalidValueError
from graphcodec.primitives import (
    Memory,
    Registry,
    Retrievable,
    SpooledArtifact,
    Tokenizable,
    TrustTier,
)
from tests.primitives.builders import NOW, FixedReader, make


@pytest.mark.parametrize("value", [0, 1, 0.0, 0.25, 1.0, -0.0])
def test_shares_reach_from_0_to_1(value: float) -> None:
    """Both ends are in, as int and as float, and the type is kept."""
    memory = make(Memory, confidence=value, importance=value)

    assert (memory.confidence, type(memory.importance)) == (value, type(value))


@pytest.mark.parametrize(
    "value", [-0.1, 1.1, 2, True, False, None, "0.8", math.nan, math.inf]
)
@pytest.mark.parametrize("field", ["confidence", "importance"])
def test_shares_are_nothing_else(field: str, value: object) -> None:
    """A bool, text and what is no number are refused."""
    with pytest.raises(
        InvalidValueError, match=rf"^Memory\.{field} must be a number from 0 to 1, not"
    ) as caught:
        make(Memory, **{field: value})
    assert caught.value.path == f"$.{field}"


def test_memory_keeps_text_and_times() -> None:
    """A str becomes text, a Tokenizable and datetimes are kept."""
    text = Tokenizable("x")

    assert make(Memory, content="x").content == text
    assert make(Memory, content=text).content is text
    assert make(Memory).created_at is NOW


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("id", "", "a non-empty str"),
        ("content", "", "a non-empty Tokenizable"),
        ("content", Tokenizable(""), "a non-empty Tokenizable"),
        ("content", None, "a non-empty Tokenizable"),
        ("created_at", None, "an aware datetime"),
        ("updated_at", "now", "an aware datetime"),
    ],
)
def test_wrong_field_of_a_memory_is_named(
    field: str, value: object, reason: str
) -> None:
    """The error says the field and what belongs there."""
    with pytest.raises(InvalidValueError, match=rf"^Memory\.{field} must be {reason}"):
        make(Memory, **{field: value})


def test_repr_of_a_memory_has_no_content() -> None:
    """What is remembered may be private."""
    assert repr(make(Memory)) == "Memory(id='mem-1')"


def test_defaults_of_a_retrievable() -> None:
    """What need not be known is None."""
    passage = make(Retrievable)

    assert (passage.source, passage.kind, passage.score) == (None, None, None)
    assert passage.stash == Registry()


def test_trust_tier_has_no_default() -> None:
    """Where a passage comes from is never guessed."""
    with pytest.raises(TypeError, match="trust_tier"):
        Retrievable(id="r", content="x", created_at=NOW, updated_at=NOW)  # type: ignore[call-arg]


@pytest.mark.parametrize("tier", [*TrustTier, *map(str, TrustTier)])
def test_tier_is_given_as_member_or_value(tier: str) -> None:
    """Either way it is kept as the member."""
    kept = make(Retrievable, trust_tier=tier).trust_tier

    assert type(kept) is TrustTier
    assert kept == tier


def test_content_may_be_an_artifact() -> None:
    """A long passage stays where it lies."""
    artifact = SpooledArtifact(FixedReader())

    assert make(Retrievable, content=artifact).content is artifact
    assert make(Retrievable, content="x").content == Tokenizable("x")


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("id", "", "a non-empty str"),
        ("content", "", "a non-empty Tokenizable or a SpooledArtifact"),
        ("content", FixedReader(), "a non-empty Tokenizable or a SpooledArtifact"),
        ("trust_tier", "trusted", "'first-party', 'third-party-public' or 'third-part"),
        ("trust_tier", None, "'first-party', "),
        ("trust_tier", ["first-party"], "'first-party', "),
        ("source", "", "a non-empty str or None"),
        ("kind", 1, "a non-empty str or None"),
        ("score", 1.5, "a number from 0 to 1 or None"),
        ("score", True, "a number from 0 to 1 or None"),
        ("stash", None, "a Registry"),
    ],
)
def test_wrong_field_of_a_retrievable_is_named(
    field: str, value: object, reason: str
) -> None:
    """The error says the field and what belongs there."""
    with pytest.raises(
        InvalidValueError, match=rf"^Retrievable\.{field} must be {reason}"
    ):
        make(Retrievable, **{field: value})


def test_repr_of_a_retrievable_shows_the_tier() -> None:
    """How far to trust it matters to whoever debugs; its content is not theirs."""
    expected = "Retrievable(id='ret-1', trust_tier='third-party-public')"

    assert repr(make(Retrievable)) == expected
