from __future__ import annotations

import pytest

from graphcodec_resolvers._urls import ascii_host, carried_secret, origin_of, shown_url


@pytest.mark.parametrize(
    "query",
    [
        "X-Amz-Signature=abc",
        "x-amz-credential=abc",
        "X-Amz-Security-Token=abc",
        "X-Goog-Signature=abc",
        "Signature=abc",
        "sig=abc",
        "a=1&sig=abc",
        "a=1;sig=abc",
        "%73ig=abc",
        "AWSAccessKeyId=abc",
        "Key-Pair-Id=abc",
        "token=abc",
        "access_token=abc",
        "q-signature=abc",
        "key=AIzaSyA1234567890123456789012345678901",
    ],
)
def test_signed_queries_are_secrets(query: str) -> None:
    """Whoever reads such a URL can use it, so it may not be written down."""
    assert carried_secret(f"https://h.example/a?{query}") is not None
    assert carried_secret(f"https://h.example/a#{query}") is not None


@pytest.mark.parametrize("user", ["user@", "user:password@", ":password@"])
def test_users_in_urls_are_secrets(user: str) -> None:
    """A URL with a user or a password may not be written down."""
    assert carried_secret(f"https://{user}h.example/a") == "a user name or password"


@pytest.mark.parametrize(
    "url",
    [
        "https://h.example/a?size=3&page=2",
        "https://h.example/signature.png",
        "https://h.example/a?key=logo",
        "https://h.example/@user/a",
        "https://[",
        "",
    ],
)
def test_ordinary_urls_are_not(url: str) -> None:
    """A name in the path, or a query without credentials, is no secret."""
    assert carried_secret(url) is None


def test_shown_urls_have_no_query_and_no_user() -> None:
    """What errors and reprs show of a URL can't let anybody in."""
    url = "https://user:password@h.example:8443/a/b?sig=abc#token=abc"

    assert shown_url(url) == "https://h.example:8443/a/b"


def test_shown_urls_are_printable_and_short() -> None:
    """A URL can't forge a line of a log, nor fill it."""
    assert "\x1b" not in shown_url("https://h.example/\x1b[2J")
    assert len(shown_url("https://h.example/" + "a" * 5000)) < 200
    assert shown_url("https://[") == "an unreadable URL"


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://H.example/a", "https://h.example"),
        ("https://h.example.:443", "https://h.example"),
        ("https://h.example:8443/a?b", "https://h.example:8443"),
        ("http://user@h.example:80/", "http://h.example"),
        ("https://[::1]:444/", "https://[::1]:444"),
        (
            "https://b\N{LATIN SMALL LETTER U WITH DIAERESIS}.example/",
            "https://xn--b-eha.example",
        ),
    ],
)
def test_origins_have_one_spelling(url: str, origin: str) -> None:
    """Scheme, host and unusual port, in the form in which they are compared."""
    assert origin_of(url) == origin


def test_hosts_that_have_no_ascii_form_stay_as_they_are() -> None:
    """Such a host is refused later, by those who would connect to it."""
    host = "\N{LATIN SMALL LETTER U WITH DIAERESIS}" * 80

    assert ascii_host(host) == host
