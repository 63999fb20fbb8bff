from __future__ import annotations

import logging
import pickle
import traceback
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx
import pytest

from graphcodec import SpooledArtifact, encode
from graphcodec.errors import (
    GraphCodecError,
    InvalidValueError,
    ReaderNotDescribableError,
    ResolverDeniedError,
)
from graphcodec_resolvers import HttpReader, HttpResolver
from tests.resolvers.servers import DATA, PUBLIC, FakeNetwork
from tests.resolvers.test_http import resolved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.resolvers.servers import FaultyServer

SECRETS = {
    "Authorization": "Bearer geheim-1",
    "Cookie": "session=geheim-2",
    "X-Api-Key": "geheim-3",
}


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error with all that it came from, also what tracebacks leave out."""
    if error is not None:
        yield error
        yield from chain(error.__cause__)
        yield from chain(error.__context__)


def everything_of(error: BaseException) -> str:
    """Return whatever an error and those before it would tell somebody who looks."""
    texts = [repr(pickle.dumps(error)), *traceback.format_exception(error)]
    for each in chain(error):
        texts += [str(each), repr(each), repr(each.args), repr(vars(each))]
        texts += getattr(each, "__notes__", [])
    return "".join(texts)


@pytest.fixture
def private(http_server: FaultyServer) -> Iterator[HttpResolver]:
    """A resolver with credentials for one origin."""
    with HttpResolver(
        schemes=["http"],
        headers={http_server.url("", "public.example"): SECRETS},
        timeout=0.5,
        _network=FakeNetwork(public_example=PUBLIC, other_example=PUBLIC),
    ) as resolver:
        yield resolver


def test_credentials_are_sent_to_their_origin(
    private: HttpResolver, http_server: FaultyServer
) -> None:
    """They reach the server that they are for."""
    reader = resolved(private, http_server.url("plain", "public.example"))

    assert reader.open().read() == DATA
    _, _, headers = http_server.seen[0]
    assert {headers[name.casefold()] for name in SECRETS} == set(SECRETS.values())


def test_credentials_are_sent_nowhere_else(
    private: HttpResolver, http_server: FaultyServer
) -> None:
    """Another host does not get them, nor does a redirect to one."""
    other = http_server.url("plain", "other.example")
    redirect = http_server.url(f"to/{quote(other, safe='')}", "public.example")

    for url in (other, redirect):
        assert resolved(private, url).open().read() == DATA
        _, path, headers = http_server.seen[-1]
        assert path == "/plain"
        assert not {name.casefold() for name in SECRETS} & set(headers)


@pytest.mark.parametrize(
    "path",
    [
        "plain",
        "status/403",
        "status/404",
        "status/500",
        "short",
        "gzip",
        "hang-up",
        "nonsense",
        "loop",
        "silent",
        "echo",
        "content-range/",
    ],
)
def test_credentials_appear_nowhere(
    private: HttpResolver,
    http_server: FaultyServer,
    caplog: pytest.LogCaptureFixture,
    path: str,
) -> None:
    """Not in handles, reprs, errors, tracebacks, pickles or logs of any level."""
    caplog.set_level(logging.DEBUG)
    url = http_server.url(path, "public.example")
    reader = resolved(private, url)
    shown = [repr(reader), str(reader.describe()), repr(private), repr(private.tags)]

    try:
        reader.open().read()
    except GraphCodecError as exc:
        shown.append(everything_of(exc))
    shown += [repr(pickle.dumps(reader)), caplog.text]

    assert "geheim" not in "".join(shown)


@pytest.mark.parametrize(
    "url",
    [
        "https://public.example/a?X-Amz-Signature=geheim",
        "https://public.example/a?Signature=geheim",
        "https://public.example/a?sig=geheim",
        "https://user:geheim@public.example/a",
        "https://geheim@public.example/a",
    ],
)
def test_urls_with_secrets_are_not_written(url: str) -> None:
    """They are refused at encode, with the hint, and shown without the secret."""
    reader = HttpReader(url)

    for write in (reader.describe, lambda: pickle.dumps(reader)):
        with pytest.raises(ReaderNotDescribableError, match="sign on open") as caught:
            write()
        assert "geheim" not in everything_of(caught.value)
    assert "geheim" not in repr(reader)


@pytest.mark.parametrize("owner", ["media", "spool"])
@pytest.mark.parametrize(
    "query",
    [
        "X-Amz-Signature=geheim",
        "x-amz-security-token=geheim",
        "X-Goog-Signature=geheim",
        "Signature=geheim&Expires=1",
        "sv=2024&sig=geheim",
        "a=1;sig=geheim",
        "%73ig=geheim",
        "access_token=geheim",
        "a=1#access_token=geheim",
    ],
)
def test_documents_with_such_urls_are_refused_both_ways(owner: str, query: str) -> None:
    """Encode says where and what to do; a document that holds one is never shown."""
    reader = HttpReader(f"https://public.example/a?{query}")
    graph = SpooledArtifact(reader) if owner == "spool" else {"deep": [reader]}

    with pytest.raises(ReaderNotDescribableError, match="sign on open") as caught:
        encode(graph)
    assert caught.value.path == ("$.reader" if owner == "spool" else "$.deep[0]")
    assert "geheim" not in everything_of(caught.value)


def test_the_target_of_a_redirect_is_not_logged(
    strict: HttpResolver, http_server: FaultyServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Servers send us to signed URLs, which httpcore logs among the headers."""
    caplog.set_level(logging.DEBUG)
    http_server.target = http_server.url("plain?sig=geheim", "public.example")
    url = http_server.url("to", "public.example")

    assert resolved(strict, url).open().read() == DATA
    assert http_server.seen[-1][1] == "/plain?sig=geheim"
    assert "geheim" not in caplog.text


def test_the_client_of_an_application_does_not_log_for_us(
    http_server: FaultyServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Whole URLs stay out of it; what the application asks for is logged as ever."""
    caplog.set_level(logging.DEBUG)
    url = http_server.url("plain?sig=geheim")
    with httpx.Client() as client:
        resolver = HttpResolver(client, schemes=["http"], allow_private=True)

        assert resolved(resolver, url).open().read() == DATA
        assert "geheim" not in caplog.text
        client.get(http_server.url("plain?a=own"))
        assert "a=own" in caplog.text


def test_signed_urls_can_be_opened_and_are_not_logged(
    strict: HttpResolver, http_server: FaultyServer, caplog: pytest.LogCaptureFixture
) -> None:
    """A URL that was signed for this moment works; nobody writes it down."""
    caplog.set_level(logging.DEBUG)
    url = http_server.url("plain?sig=geheim", "public.example")

    assert resolved(strict, url).open().read() == DATA
    assert http_server.seen[0][1] == "/plain?sig=geheim"
    assert "geheim" not in caplog.text


@pytest.mark.parametrize(
    "path", ["status/404", "status/500", "hang-up", "gzip", "loop", "short", "nonsense"]
)
def test_errors_show_no_queries(
    strict: HttpResolver, http_server: FaultyServer, path: str
) -> None:
    """A failed open of a signed URL does not give the signature away."""
    url = http_server.url(f"{path}?sig=geheim", "public.example")

    with pytest.raises(GraphCodecError) as caught:
        resolved(strict, url).open().read()
    assert "geheim" not in everything_of(caught.value)
    assert "public.example" in str(caught.value)


def test_passwords_in_urls_are_denied_unseen(strict: HttpResolver) -> None:
    """They belong in the headers of the resolver."""
    with pytest.raises(ResolverDeniedError, match="headers=") as caught:
        resolved(strict, "https://user:geheim@public.example/").open()
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: HttpResolver(headers={"h.example": {"A": "geheim"}}),
        lambda: HttpResolver(headers={"ftp://h.example": {"A": "geheim"}}),
        lambda: HttpResolver(headers={"https://h.example/geheim": {"A": "b"}}),
        lambda: HttpResolver(headers={"https://u:geheim@h.example": {"A": "b"}}),
        lambda: HttpResolver(headers={"https://[geheim": {"A": "b"}}),
        lambda: HttpResolver(headers={"https://h.example": {"Host": "geheim"}}),
        lambda: HttpResolver(headers={"https://h.example": {"Range": "geheim"}}),
        lambda: HttpResolver(headers={"https://h.example": {"A": "geheim\r\nB: c"}}),
        lambda: HttpResolver(headers={"https://h.example": {"A": "geheim\u20ac"}}),
        lambda: HttpResolver(headers={"https://h.example": {"A": " geheim"}}),
        lambda: HttpResolver(headers={"https://h.example": {"A": "geheim "}}),
        lambda: HttpResolver(headers={"https://h.example": {"A b": "geheim"}}),
        lambda: HttpResolver(headers={"https://h.example": {"": "geheim"}}),
    ],
)
def test_headers_that_could_not_be_sent_are_refused(
    make: Callable[[], HttpResolver],
) -> None:
    """When the resolver is made, and without showing their values."""
    with pytest.raises(InvalidValueError, match="headers") as caught:
        make()
    assert "geheim" not in str(caught.value)
