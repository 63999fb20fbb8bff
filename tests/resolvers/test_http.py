from __future__ import annotations

import asyncio
import hashlib
import io
import multiprocessing
import pickle
import sys
from typing import TYPE_CHECKING

import httpx
import pytest

from graphcodec import Codec
from graphcodec.errors import (
    HandleError,
    InvalidValueError,
    ReaderNotDescribableError,
    ResolverDeniedError,
    UndecodableValueError,
    UnencodableValueError,
)
from graphcodec.readers import Reader, ReaderDescriptor, Resolver, UnboundReader
from graphcodec_resolvers import HttpReader, HttpResolver
from tests.resolvers.servers import DATA, ETAG

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphcodec.readers import JSON
    from tests.resolvers.servers import FakeNetwork, FaultyServer

SHA256 = hashlib.sha256(DATA).hexdigest()


def resolved(resolver: HttpResolver, url: str, **pins: JSON) -> Reader:
    """Return the reader that a decoded handle would be."""
    reader = resolver.resolve(ReaderDescriptor("http", {"url": url, **pins}))
    assert reader is not None
    return reader


def test_the_handle_is_the_url_with_its_pins() -> None:
    """What was not pinned is left out."""
    url = "https://h.example/a"

    assert HttpReader(url).describe() == ReaderDescriptor("http", {"url": url})
    assert HttpReader(url, size=3, etag=ETAG, sha256=SHA256).describe().locator == {
        "url": url,
        "size": 3,
        "etag": ETAG,
        "sha256": SHA256,
    }


@pytest.mark.parametrize(
    "make",
    [
        lambda: HttpReader(""),
        lambda: HttpReader("https://h.example/" + "a" * 9000),
        lambda: HttpReader("https://h.example/", size=-1),
        lambda: HttpReader("https://h.example/", size=True),
        lambda: HttpReader("https://h.example/", etag="a\r\nX: y"),
        lambda: HttpReader("https://h.example/", sha256="abc"),
    ],
)
def test_odd_arguments_are_refused(make: Callable[[], HttpReader]) -> None:
    """A reader that could never be opened is not made."""
    with pytest.raises(InvalidValueError, match="must be"):
        make()


def test_readers_are_equal_if_their_handles_are(local: HttpResolver) -> None:
    """A reader made by hand equals the decoded one, whatever opens them."""
    url = "https://h.example/a"
    reader = HttpReader(url, size=3)

    assert reader == resolved(local, url, size=3)
    assert hash(reader) == hash(resolved(local, url, size=3))
    assert reader == UnboundReader(reader.describe())
    assert reader != HttpReader(url)


def test_readers_with_signed_urls_compare_without_being_described() -> None:
    """A URL that can't be written down can still be compared."""
    reader = HttpReader("https://h.example/a?sig=1")

    assert reader == HttpReader("https://h.example/a?sig=1")
    assert hash(reader) == hash(HttpReader("https://h.example/a?sig=1"))
    assert reader != HttpReader("https://h.example/a?sig=2")
    assert reader != UnboundReader(ReaderDescriptor("http", {"url": "https://x"}))


def test_a_reader_pickles_as_its_handle() -> None:
    """Another process binds it anew."""
    reader = HttpReader("https://h.example/a", etag=ETAG)

    assert pickle.loads(pickle.dumps(reader)) == reader


def test_resolving_ten_thousand_handles_sends_nothing(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """Only the caller's own open reaches out."""
    readers = [resolved(local, http_server.url(f"plain/{i}")) for i in range(10_000)]

    assert len(set(readers)) == 10_000
    assert http_server.seen == []


def test_it_is_a_resolver_for_its_two_tags(local: HttpResolver) -> None:
    """It takes media and spools under http, and leaves other schemes to others."""
    assert isinstance(local, Resolver)
    assert set(local.tags) == {"media:http", "spool:http"}
    assert local.resolve(ReaderDescriptor("fsspec", {"url": "https://x"})) is None


@pytest.mark.parametrize(
    "locator",
    [
        {},
        {"url": 1},
        {"url": ""},
        {"url": None},
        {"url": "https://h.example/" + "a" * 9000},
        {"url": "https://h.example/", "size": "3"},
        {"url": "https://h.example/", "size": True},
        {"url": "https://h.example/", "size": -1},
        {"url": "https://h.example/", "etag": "a\nb"},
        {"url": "https://h.example/", "sha256": "A" * 64},
        {"url": "https://h.example/", "headers": {"Authorization": "x"}},
        {"url": "https://h.example/", "storage_options": {}},
        {"url": "https://h.example/", "version": "1"},
    ],
)
def test_malformed_handles_are_undecodable(
    local: HttpResolver, locator: dict[str, JSON]
) -> None:
    """Unknown fields and odd values are errors, not ignored."""
    with pytest.raises(UndecodableValueError, match="locator"):
        local.resolve(ReaderDescriptor("http", locator))


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("plain/a b", "/plain/a%20b"),
        ("plain/a+b", "/plain/a+b"),
        ("plain/a%2Fb", "/plain/a%2Fb"),
        ("plain/a%20b", "/plain/a%20b"),
        ("plain/a#b", "/plain/a"),
        ("plain/a?b=c&d=%26", "/plain/a?b=c&d=%26"),
        ("plain/\N{GRINNING FACE}", "/plain/%F0%9F%98%80"),
        ("plain//x/../y", "/plain//y"),
    ],
)
def test_urls_are_kept_as_they_are(
    local: HttpResolver, http_server: FaultyServer, path: str, asked: str
) -> None:
    """A handle holds the URL as it was given; a server is asked for what it names."""
    url = http_server.url(path)
    codec = Codec(resolvers=[local])
    reader = codec.decode(codec.encode(HttpReader(url)), HttpReader)

    assert reader.describe().locator == {"url": url}
    assert reader.open().read() == DATA
    assert http_server.seen[-1][1] == asked


def test_a_stream_reads_seeks_and_ends(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """It is a binary file like any other."""
    reader = resolved(local, http_server.url("plain"), sha256=SHA256, size=len(DATA))

    with reader.open() as stream:
        assert stream.read() == DATA
        assert stream.read() == b""
        assert stream.seek(5000) == 5000
        assert stream.read(10) == DATA[5000:5010]
        assert stream.seek(-10, io.SEEK_END) == len(DATA) - 10
        assert stream.read() == DATA[-10:]
        assert stream.seek(0) == 0
        assert stream.read(4) == DATA[:4]
        assert stream.seek(len(DATA) + 5) == len(DATA) + 5
        assert stream.read() == b""
    with pytest.raises(ValueError, match="closed file"):
        stream.read()


def test_a_stream_is_not_read_ahead(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """Opening costs one request, not the whole content."""
    http_server.data = bytes(30 << 20)

    with resolved(local, http_server.url("plain")).open() as stream:
        assert stream.read(100) == bytes(100)
    assert len(http_server.seen) == 1


def test_the_tail_of_a_large_file_costs_its_own_bytes(
    http_server: FaultyServer,
) -> None:
    """Reading from the end asks for a range, so a small budget is enough."""
    http_server.data = bytes(3 << 20) + b"the end"
    with HttpResolver(
        schemes=["http"], allow_private=True, max_bytes=1 << 20
    ) as resolver:
        reader = resolved(resolver, http_server.url("plain"))
        with reader.open() as stream:
            stream.seek(-7, io.SEEK_END)

            assert stream.read() == b"the end"
        assert reader.read_range(3 << 20, (3 << 20) + 100) == b"the end"


@pytest.mark.parametrize(
    ("start", "end"),
    [(0, 4), (10, 20), (10_000, 20_000), (-5, 4), (20_000, 20_001), (10_240, 10_241)],
)
def test_ranges_are_those_of_the_content(
    local: HttpResolver, http_server: FaultyServer, start: int, end: int
) -> None:
    """A range is what slicing the content would give."""
    reader = resolved(local, http_server.url("plain"))
    pinned = resolved(local, http_server.url("plain"), size=len(DATA), etag=ETAG)

    assert reader.read_range(start, end) == DATA[max(0, start) : end]
    assert pinned.read_range(start, end) == DATA[max(0, start) : end]


def test_empty_ranges_send_nothing(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """Nobody is asked for what can't hold a byte."""
    reader = resolved(local, http_server.url("plain"), size=3)

    assert reader.read_range(5, 5) == reader.read_range(9, 3) == b""
    assert reader.read_range(3, 10) == b""
    assert http_server.seen == []


def test_lengths_are_pinned_or_asked_for_without_head(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """Servers refuse HEAD, so one byte is asked for; a pinned size costs nothing."""
    assert resolved(local, http_server.url("plain"), size=3).byte_length() == 3
    assert http_server.seen == []
    for path in ("plain", "no-range"):
        assert resolved(local, http_server.url(path)).byte_length() == len(DATA)
    assert resolved(local, http_server.url("chunked")).byte_length() is None
    assert {method for method, _, _ in http_server.seen} == {"GET"}


def test_empty_content_is_content(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """Nothing is read from an empty file, and its length is 0."""
    http_server.data = b""
    empty = hashlib.sha256(b"").hexdigest()

    for path in ("plain", "no-range", "chunked"):
        reader = resolved(local, http_server.url(path), sha256=empty)
        assert reader.open().read() == b""
        assert reader.read_range(0, 5) == b""
    assert resolved(local, http_server.url("plain")).byte_length() == 0


def test_the_end_of_a_body_without_length_is_unknown(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """Seeking from such an end is our error."""
    with resolved(local, http_server.url("chunked")).open() as stream:
        with pytest.raises(HandleError, match="length is not known"):
            stream.seek(-1, io.SEEK_END)
        assert stream.read() == DATA


def test_the_async_face_reads_the_same(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """The event loop is not blocked, and the bytes are the same."""
    reader = resolved(local, http_server.url("plain"))

    async def read() -> tuple[bytes, bytes, bytes]:
        with await reader.aopen() as stream:
            opened = stream.read()
        pieces = [piece async for piece in reader.aiter_bytes(1000)]
        return opened, b"".join(pieces), await reader.aread_range(5, 9)

    assert asyncio.run(read()) == (DATA, DATA, DATA[5:9])
    assert asyncio.run(read()) == (DATA, DATA, DATA[5:9])


def test_a_client_of_the_application_is_used_for_its_connections(
    http_server: FaultyServer,
) -> None:
    """Its cookies, headers and credentials stay with it, and it stays open."""
    with httpx.Client(
        headers={"X-Own": "1"}, cookies={"c": "1"}, auth=("user", "password")
    ) as client:
        resolver = HttpResolver(client, schemes=["http"], allow_private=True)
        assert resolved(resolver, http_server.url("plain")).open().read() == DATA
        resolver.close()

        assert not client.is_closed
    _, _, headers = http_server.seen[-1]
    assert not {"x-own", "cookie", "authorization"} & set(headers)


def test_a_closed_client_is_our_error(http_server: FaultyServer) -> None:
    """The hint says to give a function instead."""
    client = httpx.Client()
    client.close()
    resolver = HttpResolver(client, schemes=["http"], allow_private=True)

    with pytest.raises(HandleError, match="function that makes the client"):
        resolved(resolver, http_server.url("plain")).open()


def test_a_mock_transport_serves_without_a_network() -> None:
    """People test their own code with httpx.MockTransport."""
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=DATA))
    with httpx.Client(transport=transport) as client:
        resolver = HttpResolver(lambda: client, allow_private=True)

        assert resolved(resolver, "https://h.example/a").open().read() == DATA


def test_connections_are_kept_and_closed(
    local: HttpResolver, local_network: FakeNetwork, http_server: FaultyServer
) -> None:
    """Ranges of one file share a connection; a closed resolver makes new ones."""
    reader = resolved(local, http_server.url("plain"))

    for _ in range(3):
        assert reader.read_range(0, 4) == DATA[:4]
    assert len(local_network.connected) == 1
    local.close()
    assert reader.read_range(0, 4) == DATA[:4]
    assert len(local_network.connected) == 2


def _read_in_child(reader: Reader, sender: object) -> None:
    sender.send(reader.read_range(0, 4))  # type: ignore[attr-defined]


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_makes_its_own_connections(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """Parent and child read from the same reader, and both go on."""
    reader = resolved(local, http_server.url("plain"))
    assert reader.read_range(0, 4) == DATA[:4]
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    child = context.Process(target=_read_in_child, args=(reader, sender))
    child.start()

    assert receiver.poll(20)
    assert receiver.recv() == DATA[:4]
    child.join(20)
    assert child.exitcode == 0
    assert reader.read_range(0, 4) == DATA[:4]


def test_a_stream_goes_on_in_another_process(
    local: HttpResolver, http_server: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stream that was open at a fork asks again from where it was."""
    http_server.data = bytes(range(256)) * 4000
    stream = resolved(local, http_server.url("plain")).open()
    beginning = stream.read(1000)

    with monkeypatch.context() as child:
        child.setattr("os.getpid", lambda: -1)
        with stream:
            assert beginning + stream.read() == http_server.data
        local.close()
    assert "range" in http_server.seen[-1][2]


def test_a_resolver_without_secrets_pickles() -> None:
    """The policy travels; connections do not."""
    resolver = HttpResolver(hosts=["h.example"], max_bytes=5)

    copy = pickle.loads(pickle.dumps(resolver))

    assert copy.fetcher().policy == resolver.fetcher().policy
    assert repr(copy) == "HttpResolver(hosts=['h.example'], schemes=['https'])"


@pytest.mark.parametrize(
    "make",
    [
        lambda: HttpResolver(headers={"https://h.example": {"Cookie": "c"}}),
        lambda: HttpResolver(httpx.Client),
    ],
)
def test_a_resolver_with_secrets_does_not(make: Callable[[], HttpResolver]) -> None:
    """Credentials and clients are not for pickles."""
    with pytest.raises(UnencodableValueError, match="credentials or a client"):
        pickle.dumps(make())


def test_a_missing_package_is_named_on_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that only passes handles on needs no client."""
    monkeypatch.setitem(sys.modules, "graphcodec_resolvers._content", None)

    with pytest.raises(HandleError, match="pip install httpx"):
        HttpReader("https://h.example/").open()


def test_the_url_of_a_reader_is_its_url() -> None:
    """There is nothing to sign."""
    assert HttpReader("https://h.example/a").url(expires=5) == "https://h.example/a"


def test_a_reader_made_by_hand_is_strict() -> None:
    """Without a resolver, only public https URLs are opened."""
    with pytest.raises(ResolverDeniedError, match="scheme"):
        HttpReader("http://h.example/").open()
    with pytest.raises(ResolverDeniedError, match="not public"):
        HttpReader("https://127.0.0.1/").open()


def test_signed_urls_are_not_described() -> None:
    """The hint says what to store instead."""
    with pytest.raises(ReaderNotDescribableError, match="bucket and key") as caught:
        HttpReader("https://h.example/a?X-Amz-Signature=geheim").describe()

    assert "geheim" not in str(caught.value)
