from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from graphcodec.errors import InvalidValueError
from graphcodec.primitives import Tokenizable


def test_text_is_positional_and_kept() -> None:
    """The one argument is the text, and str() gives it back."""
    text = Tokenizable("hello")

    assert text.text == "hello"
    assert str(text) == "hello"


def test_text_may_be_empty() -> None:
    """Whether emptiness is allowed is for the field that holds the text to say."""
    assert Tokenizable("").text == ""


@pytest.mark.parametrize("text", [None, 1, b"x", ["x"]])
def test_text_is_nothing_but_a_str(text: object) -> None:
    """Nothing is turned into text."""
    with pytest.raises(
        InvalidValueError, match=r"Tokenizable\.text must be a str, not"
    ):
        Tokenizable(text)  # type: ignore[arg-type]


def test_text_is_no_subclass_of_str() -> None:
    """A subclass would come back as a plain str, so it does not go in."""

    class Markup(str):
        __slots__ = ()

    with pytest.raises(InvalidValueError, match=r"must be a str, not '<b>'"):
        Tokenizable(Markup("<b>"))


def test_equality_and_hash_are_those_of_the_text() -> None:
    """Two texts are one key of a dict; a str is not a Tokenizable."""
    assert Tokenizable("a") == Tokenizable("a")
    assert {Tokenizable("a"), Tokenizable("a"), Tokenizable("b")} == {
        Tokenizable("a"),
        Tokenizable("b"),
    }
    assert Tokenizable("a") != "a"


def test_repr_shows_the_length_only() -> None:
    """What was said does not end up in logs."""
    assert repr(Tokenizable("hello, world")) == "Tokenizable(<12 chars>)"


@pytest.mark.parametrize(
    ("encoding", "expected"), [("claude", 3), ("chars/4", 2)], ids=str
)
def test_heuristics_round_up(encoding: str, expected: int) -> None:
    """The heuristics divide the number of code points."""
    assert Tokenizable("abcd🙂efg").estimate_tokens(encoding) == expected


def test_no_text_takes_no_tokens() -> None:
    """Rounding up does not make something of nothing."""
    assert Tokenizable("").estimate_tokens("claude") == 0


def test_own_estimators_are_asked_first() -> None:
    """A function that is passed stands before a heuristic of the same name."""
    estimators = {"mine": str.__len__, "claude": str.__len__}

    assert Tokenizable("abcde").estimate_tokens("mine", estimators=estimators) == 5
    assert Tokenizable("abcde").estimate_tokens("claude", estimators=estimators) == 5


def test_unknown_encoding_names_the_known_ones() -> None:
    """A misspelt encoding raises instead of guessing."""
    text = Tokenizable("x")

    with pytest.raises(InvalidValueError, match=r"unknown encoding 'cl100k'") as caught:
        text.estimate_tokens("cl100k", estimators={"mine": len})
    assert "known are mine, claude, chars/4, gpt2" in caught.value.hint


def test_missing_tiktoken_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is named in the error."""
    monkeypatch.setitem(sys.modules, "tiktoken", None)

    with pytest.raises(
        ModuleNotFoundError, match=r"pip install 'graphcodec\[tokens\]'"
    ):
        Tokenizable("x").estimate_tokens("cl100k_base")


def test_tiktoken_counts_special_tokens_as_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a user writes never acts as a control token, so the plain face is used."""
    asked: list[str] = []

    def get_encoding(name: str) -> SimpleNamespace:
        asked.append(name)
        return SimpleNamespace(encode_ordinary=str.split)

    fake = SimpleNamespace(get_encoding=get_encoding)
    monkeypatch.setitem(sys.modules, "tiktoken", fake)

    assert Tokenizable("a <|x|> b").estimate_tokens("o200k_base") == 3
    assert asked == ["o200k_base"]
