"""Data URLs are read as browsers read them, and written again to the letter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphcodec.adapters import _data_urls as data_urls


@given(st.binary(max_size=40), st.sampled_from(["image/png", "a/b+c.d"]))
def test_what_is_written_is_read_again(content: bytes, mime_type: str) -> None:
    """The usual spelling is exact."""
    url = data_urls.written(data_urls.head_of(mime_type), content)
    found = data_urls.parsed(url)

    assert found is not None
    assert (found.mime_type, found.content, found.exact) == (mime_type, content, True)


@pytest.mark.parametrize(
    ("url", "content", "mime_type", "exact"),
    [
        ("data:,a%20b", b"a b", "text/plain", False),
        ("data:text/html,<p>", b"<p>", "text/html", False),
        ("data:;base64,aGk=", b"hi", "text/plain", True),
        ("data:image/png;base64,aGk", b"hi", "image/png", False),
        ("DATA:Image/PNG;Base64,aG%6B=", b"hi", "image/png", False),
        ("data:image/png;base64,aG\nk=", b"hi", "image/png", False),
        ("data:nonsense;base64,aGk=", b"hi", "text/plain", True),
    ],
)
def test_odd_spellings_are_understood(
    url: str, content: bytes, mime_type: str, *, exact: bool
) -> None:
    """White space, missing padding, capitals and percent signs are no obstacle."""
    found = data_urls.parsed(url)

    assert found is not None
    assert (found.content, found.mime_type) == (content, mime_type)
    assert found.exact is exact


@pytest.mark.parametrize(
    "url", ["data:", "data:image/png;base64", "data:;base64,a", "data:;base64,\udcff"]
)
def test_nonsense_is_none(url: str) -> None:
    """What holds no bytes is not guessed at."""
    assert data_urls.parsed(url) is None


def test_strict_base64_is_what_encoding_gives() -> None:
    """Only the one text that encoding gives is taken; others would not come back."""
    assert data_urls.unbased("aGk=") == b"hi"
    assert [data_urls.unbased(text) for text in ("aGk", "aGl=", "a Gk=", "é")] == [
        None
    ] * 4


def test_names_and_types_go_together() -> None:
    """Endings give types and types endings, where they are usual."""
    assert data_urls.type_of("a.b.JPEG") == data_urls.type_of("x.jpg") == "image/jpeg"
    assert data_urls.type_of("noending") == "application/octet-stream"
    assert data_urls.ending_of("audio/mpeg") == ".mp3"
    assert data_urls.ending_of("video/odd") == ""
