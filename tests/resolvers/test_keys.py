from __future__ import annotations

import pytest

from graphcodec_resolvers._keys import content_key, key_problem, shown


@pytest.mark.parametrize(
    "key",
    [
        "a",
        "a/b.png",
        "with space/ and another ",
        "a+b",
        "100%2F",
        "..a/b..",
        "...",
        "emoji-\N{GRINNING FACE}.png",
        "~root",
        "a:b",
        "k" * 1024,
    ],
)
def test_odd_names_are_fine(key: str) -> None:
    """A key is opaque: nothing in it is unescaped or expanded."""
    assert key_problem(key) is None


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("", "empty"),
        ("/etc/passwd", "absolute"),
        ("../../etc/passwd", "'..'"),
        ("a/../b", "'..'"),
        ("a/./b", "'.'"),
        ("a//b", "empty"),
        ("a/", "empty"),
        ("s3://bucket/a", "empty"),
        ("simplecache::s3://bucket/a", "::"),
        ("a?versionId=1", "?"),
        ("a#b", "#"),
        ("a\\b", "\\"),
        ("a\0b", "control"),
        ("a\nb", "control"),
        ("a\x85b", "control"),
        ("\ud800", "surrogates"),
        ("k" * 1025, "1025 bytes"),
        ("\N{GRINNING FACE}" * 257, "1028 bytes"),
    ],
)
def test_keys_that_lead_elsewhere_are_refused(key: str, reason: str) -> None:
    """What a file system could read as more than a name is refused."""
    problem = key_problem(key)

    assert problem is not None
    assert reason in problem


def test_content_keys_are_spread_over_folders() -> None:
    """Content is found by its hash, under the first two digits of it."""
    assert content_key("abcd" * 16) == "sha256/ab/" + "abcd" * 16


def test_errors_quote_keys_escaped_and_in_part() -> None:
    """An error can't be forged with a newline, nor fill a log."""
    assert shown("a\nb") == "'a\\nb'"
    assert len(shown("k" * 1000)) < 100
