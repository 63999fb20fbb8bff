"""Numbers and texts for people."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphcodec.cli._text import counted, cut, size, tallied


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (12_345, "12.3 kB"),
        (999_960, "1.0 MB"),
        (4_100_000, "4.1 MB"),
        (1_234_000_000_000, "1,234.0 GB"),
    ],
)
def test_sizes_have_three_digits(count: int, text: str) -> None:
    """Sizes are given in the unit that people would choose."""
    assert size(count) == text


def test_nouns_follow_their_number() -> None:
    """One is singular, everything else plural; media is a plural already."""
    assert counted(1, "node") == "1 node"
    assert counted(4_321, "node") == "4,321 nodes"
    assert counted(0, "Identity") == "0 Identities"
    assert tallied({"Media": 1, "Message": 2}) == "1 Media, 2 Messages"


@given(st.text(st.characters()), st.integers(1, 30))
def test_cut_text_is_one_printable_line(text: str, longest: int) -> None:
    """No control characters reach a terminal, and nothing is too long."""
    line = cut(text, longest)

    assert len(line) <= longest
    assert line.isprintable()
    assert (len(text) > longest) == (line[-1:] == "…" and len(line) != len(text)) or (
        text[-1:] == "…" or len(text) >= longest
    )
