from __future__ import annotations

import asyncio
import hashlib
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpcore
import httpx
import pytest

from graphcodec.errors import (
    HandleError,
    HandleNotFoundError,
    ResolverDeniedError,
    StaleHandleError,
)
from graphcodec_resolvers import HttpResolver
from graphcodec_resolvers._budget import translated
from graphcodec_resolvers._places import Place
from tests.resolvers.servers import DATA, ETAG
from tests.resolvers.test_http import SHA256, resolved

if TYPE_CHECKING:
    from tests.resolvers.servers import FakeNetwork, FaultyServer


def test_a_server_that_ignores_ranges_is_read_from_the_start(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """The bytes before the range are dropped, not taken for it."""
    reader = resolved(local, http_server.url("no-range"))

    assert reader.read_range(5000, 5010) == DATA[5000:5010]
    assert reader.read_range(1 << 40, 1 << 41) == b""
    with reader.open() as stream:
        stream.seek(9000)
        assert stream.read(5) == DATA[9000:9005]


def test_a_far_range_of_such_a_server_is_an_error(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """Nobody downloads a gigabyte to drop it."""
    http_server.data = bytes(20 << 20)
    reader = resolved(local, http_server.url("no-range"))

    with pytest.raises(HandleError, match="ignores Range"):
        reader.read_range(19 << 20, 20 << 20)
    with reader.open() as stream:
        stream.seek(-4, 2)
        with pytest.raises(HandleError, match="ignores Range"):
            stream.read()


@pytest.mark.parametrize(
    "where",
    [
        "",
        "bytes 0-3/10240",
        "bytes 11-14/10240",
        "bytes 10-12/10240",
        "bytes 10-14/10240",
        "bytes 10-9/10240",
        "bytes 10-13/12",
        "bytes 10-13/5",
        "bytes 10-13",
        "bytes */10240",
        "items 10-13/10240",
    ],
)
def test_a_206_must_say_exactly_what_was_asked(
    local: HttpResolver, http_server: FaultyServer, where: str
) -> None:
    """Another range, or none, is not taken for the right one."""
    path = f"content-range/{quote(where, safe='')}"

    with pytest.raises(HandleError, match=r"without saying which|another range"):
        resolved(local, http_server.url(path)).read_range(10, 14)


def test_a_206_may_leave_the_total_open(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """A server need not know how long the whole is."""
    path = f"content-range/{quote('bytes 10-13/*', safe='')}"

    assert resolved(local, http_server.url(path)).read_range(10, 14) == b"abcd"


def test_a_206_must_have_the_pinned_total(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """A part of something longer or shorter is a part of something else."""
    path = f"content-range/{quote('bytes 10-13/9999', safe='')}"

    with pytest.raises(StaleHandleError, match="size was '10240', and is '9999'"):
        resolved(local, http_server.url(path), size=10240).read_range(10, 14)


def test_a_206_that_nobody_asked_for_is_refused(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """A part is not the whole."""
    with pytest.raises(HandleError, match="status 206"):
        resolved(local, http_server.url("content-range/bytes%200-3%2F4")).open()


def test_more_bytes_than_announced_are_refused(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """A range of four bytes has four bytes."""
    with pytest.raises(HandleError, match="more than it said"):
        resolved(local, http_server.url("long")).read_range(10, 14)


@pytest.mark.parametrize("path", ["smuggle", "smuggle-chunked", "smuggle-half"])
def test_what_follows_a_body_is_not_taken_for_the_next_answer(
    local: HttpResolver, http_server: FaultyServer, path: str
) -> None:
    """Nobody who can make a server send too much answers for its other URLs."""
    first = resolved(local, http_server.url(path))
    second = resolved(local, http_server.url("plain"))

    for _ in range(3):
        assert first.open().read() == b"abcd"
        assert second.open().read() == DATA
        assert first.open().read() == b"abcd"
        assert second.read_range(0, 6) == DATA[:6]

    async def read() -> None:
        for _ in range(3):
            with await first.aopen() as stream:
                assert stream.read() == b"abcd"
            assert await second.aread_range(0, 6) == DATA[:6]

    asyncio.run(read())


@pytest.mark.parametrize("pins", [{}, {"size": len(DATA)}, {"sha256": SHA256}])
def test_fewer_bytes_than_announced_are_an_error(
    local: HttpResolver, http_server: FaultyServer, pins: dict[str, int | str]
) -> None:
    """A connection that is cut never looks like the end."""
    reader = resolved(local, http_server.url("short"), **pins)

    with reader.open() as stream, pytest.raises(HandleError, match="was cut"):
        stream.read()
    with pytest.raises(HandleError, match="was cut"):
        list(reader.iter_bytes())


def test_a_compressed_answer_is_refused(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """We asked for the bytes as they are, and offsets in others mean nothing."""
    reader = resolved(local, http_server.url("gzip"))

    with pytest.raises(HandleError, match="compressed"):
        reader.open()
    with pytest.raises(HandleError, match="compressed"):
        reader.read_range(0, 4)
    assert http_server.seen[0][2]["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, ResolverDeniedError),
        (403, ResolverDeniedError),
        (404, HandleNotFoundError),
        (410, HandleNotFoundError),
        (412, StaleHandleError),
        (204, HandleError),
        (400, HandleError),
        (418, HandleError),
        (416, HandleError),
        (500, HandleError),
    ],
)
def test_statuses_are_errors_of_ours(
    local: HttpResolver,
    http_server: FaultyServer,
    status: int,
    error: type[HandleError],
) -> None:
    """Forbidden is not missing, missing is not broken."""
    reader = resolved(local, http_server.url(f"status/{status}"))

    for attempt in (reader.open, lambda: reader.read_range(5, 9)):
        with pytest.raises(error, match=r"status|refuses a range") as caught:
            attempt()
        assert type(caught.value) is error
    assert caught.value.alias == f"http://127.0.0.1:{http_server.port}"


def test_the_wrong_size_is_stale(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """Whether it is announced or not, another length is noticed."""
    for path in ("plain", "no-etag"):
        for size in (len(DATA) - 1, len(DATA) + 1):
            with pytest.raises(StaleHandleError, match="the size was"):
                resolved(local, http_server.url(path), size=size).open()
    with pytest.raises(StaleHandleError, match="more than the 10000 bytes pinned"):
        resolved(local, http_server.url("chunked"), size=10_000).open().read()
    with pytest.raises(StaleHandleError, match="only 10240 of the 20000 bytes"):
        resolved(local, http_server.url("chunked"), size=20_000).open().read()


def test_another_etag_is_stale(local: HttpResolver, http_server: FaultyServer) -> None:
    """Changed content is noticed before a byte of it is handed out."""
    reader = resolved(local, http_server.url("plain"), etag=ETAG)
    assert reader.open().read() == DATA

    http_server.etag = '"v2"'
    for attempt in (reader.open, lambda: reader.read_range(5, 9)):
        with pytest.raises(StaleHandleError, match="etag was"):
            attempt()
    with pytest.raises(StaleHandleError, match="can't be told"):
        resolved(local, http_server.url("no-etag"), etag=ETAG).open()


def test_an_etag_may_be_pinned_without_its_quotes(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """People copy what is between them."""
    assert resolved(local, http_server.url("plain"), etag="v1").open().read() == DATA


def test_weak_etags_are_compared_but_not_sent(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """If-Range takes strong ones only."""
    http_server.etag = 'W/"v1"'
    reader = resolved(local, http_server.url("plain"), etag='W/"v1"')

    assert reader.read_range(0, 4) == DATA[:4]
    assert "if-range" not in http_server.seen[-1][2]


@pytest.mark.parametrize("path", ["plain", "no-etag", "chunked"])
def test_other_content_is_stale(
    local: HttpResolver, http_server: FaultyServer, path: str
) -> None:
    """A hash is checked before the last bytes are handed out."""
    other = hashlib.sha256(b"other").hexdigest()
    with resolved(local, http_server.url(path), sha256=other).open() as stream:
        for _ in range(2):
            with pytest.raises(StaleHandleError, match="sha256 pinned"):
                list(iter(partial(stream.read, 1000), b""))


def test_a_change_while_reading_is_stale(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """One stream never mixes two versions, pinned or not."""
    http_server.data = bytes(2 << 20)
    with resolved(local, http_server.url("plain")).open() as stream:
        assert stream.read(10) == bytes(10)
        http_server.etag = '"v2"'
        stream.seek(1 << 20)

        with pytest.raises(StaleHandleError, match="etag was"):
            stream.read(10)


def test_a_cut_connection_is_resumed(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """What is missing is asked for, of the same version."""
    reader = resolved(local, http_server.url("cut/2"), sha256=SHA256)

    assert reader.open().read() == DATA
    assert [headers.get("if-range") for _, _, headers in http_server.seen] == [
        None,
        ETAG,
        ETAG,
    ]


def test_a_cut_connection_is_not_resumed_for_ever(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """After two new tries the error is reported."""
    with pytest.raises(HandleError, match="was cut"):
        resolved(local, http_server.url("cut/9")).open().read()
    assert len(http_server.seen) == 3


def test_a_cut_connection_to_something_else_is_stale(
    local: HttpResolver, http_server: FaultyServer
) -> None:
    """The second half of another version is not appended to the first."""
    stream = resolved(local, http_server.url("cut/1")).open()
    http_server.etag = '"v2"'

    with stream, pytest.raises(StaleHandleError, match="etag was"):
        stream.read()


def test_a_busy_server_is_asked_again(
    local: HttpResolver, local_network: FakeNetwork, http_server: FaultyServer
) -> None:
    """There is one layer of retries, which waits as long as the server says."""
    assert resolved(local, http_server.url("busy/2")).open().read() == DATA
    assert local_network.slept == [1.0, 1.0]

    with pytest.raises(HandleError, match="status 503"):
        resolved(local, http_server.url("busy/9")).open()
    assert len(http_server.seen) == 6


@pytest.mark.parametrize(
    "text", ["", "soon", "-1", "Mon, 99 Foo 2025", "\N{SUPERSCRIPT TWO}", "0"]
)
def test_pauses_that_nobody_set_are_short_and_random(
    local: HttpResolver,
    local_network: FakeNetwork,
    http_server: FaultyServer,
    text: str,
) -> None:
    """Clients that were sent away together do not come back together."""
    http_server.retry_after = text.encode("utf-8").decode("latin-1")

    for _ in range(10):
        http_server.seen.clear()
        assert resolved(local, http_server.url("busy/2")).open().read() == DATA
    assert len(set(local_network.slept)) == 20
    assert 0 <= min(local_network.slept) <= max(local_network.slept) <= 0.8


def test_a_server_may_say_when_to_come_back(
    local: HttpResolver, local_network: FakeNetwork, http_server: FaultyServer
) -> None:
    """As a date, too."""
    soon = datetime.now(UTC) + timedelta(seconds=3)
    http_server.retry_after = format_datetime(soon, usegmt=True)

    assert resolved(local, http_server.url("busy/1")).open().read() == DATA
    (pause,) = local_network.slept
    assert 0 < pause <= 3


@pytest.mark.parametrize("after", ["60", "9" * 400, "Fri, 31 Dec 2999 23:59:59 GMT"])
def test_a_server_that_wants_too_long_a_pause_is_given_up(
    local: HttpResolver,
    local_network: FakeNetwork,
    http_server: FaultyServer,
    after: str,
) -> None:
    """Nobody comes back earlier than asked, or waits beyond the deadline."""
    http_server.retry_after = after

    with pytest.raises(HandleError, match="status 503"):
        resolved(local, http_server.url("busy/9")).open()
    assert len(http_server.seen) == 1
    assert local_network.slept == []


@pytest.mark.parametrize("path", ["hang-up", "nonsense"])
def test_broken_answers_are_errors_of_ours(
    local: HttpResolver, http_server: FaultyServer, path: str
) -> None:
    """What is not HTTP is reported as such after three tries."""
    with pytest.raises(HandleError, match="connection failed"):
        resolved(local, http_server.url(path)).open()
    assert len(http_server.seen) == 3


def test_a_refused_connection_is_an_error_of_ours(local: HttpResolver) -> None:
    """Nobody listens there."""
    with pytest.raises(HandleError, match=r"connection failed \(ConnectError\)"):
        resolved(local, "http://127.0.0.1:1/").open()


@pytest.mark.parametrize("path", ["drip", "drip-headers"])
def test_a_server_that_drips_runs_out_of_time(
    http_server: FaultyServer, path: str
) -> None:
    """Each byte comes in time, but all of them would take minutes."""
    with HttpResolver(schemes=["http"], allow_private=True, timeout=0.3) as resolver:
        reader = resolved(resolver, http_server.url(path))

        with pytest.raises(HandleError, match=r"than the 0\.3 seconds") as caught:
            reader.open().read()
    assert caught.value.limit == "timeout"


def test_a_silent_server_runs_out_of_time(http_server: FaultyServer) -> None:
    """No single wait is longer than all of them together may be."""
    with HttpResolver(schemes=["http"], allow_private=True, timeout=0.2) as resolver:
        reader = resolved(resolver, http_server.url("silent"))

        with pytest.raises(HandleError, match=r"than the 0\.2 seconds"):
            reader.open()


@pytest.mark.parametrize("path", ["plain", "chunked"])
def test_more_bytes_than_allowed_are_not_received(
    http_server: FaultyServer, path: str
) -> None:
    """The cap counts what arrives, whatever was announced."""
    with HttpResolver(schemes=["http"], allow_private=True, max_bytes=5000) as resolver:
        reader = resolved(resolver, http_server.url(path))
        with (
            reader.open() as stream,
            pytest.raises(ResolverDeniedError, match="5000 bytes allowed") as caught,
        ):
            stream.read()
    assert (caught.value.limit, caught.value.value) == ("max_bytes", 5000)


def _answering(answer: httpx.Response | Exception) -> HttpResolver:
    """Return a resolver whose client gets one answer to everything."""

    def answer_all(_: httpx.Request) -> httpx.Response:
        if isinstance(answer, Exception):
            raise answer
        return answer

    transport = httpx.MockTransport(answer_all)
    return HttpResolver(lambda: httpx.Client(transport=transport), allow_private=True)


def test_a_part_that_ends_early_is_an_error() -> None:
    """Also where the transport beneath does not count."""
    where = {"Content-Range": "bytes 0-9/10"}
    resolver = _answering(httpx.Response(206, headers=where, content=b"abc"))

    with pytest.raises(HandleError, match="was cut"):
        resolved(resolver, "https://h.example/").read_range(0, 10)


def test_a_step_that_takes_too_long_is_an_error() -> None:
    """A client may have shorter limits than the budget."""
    resolver = _answering(httpx.ReadTimeout("https://h.example/?sig=geheim"))

    with pytest.raises(HandleError, match=r"in time \(ReadTimeout\)") as caught:
        resolved(resolver, "https://h.example/").open()
    assert "geheim" not in str(caught.value)


FOREIGN = {
    cls
    for module in (httpx, httpcore)
    for cls in vars(module).values()
    if isinstance(cls, type)
    and issubclass(cls, Exception)
    and cls.__module__.startswith(module.__name__)
} - {httpx.CookieConflict}


@pytest.mark.parametrize("kind", sorted(FOREIGN, key=repr))
def test_foreign_errors_become_ours(kind: type[Exception]) -> None:
    """No exception of httpx or httpcore gets out, nor any of its text."""
    error = kind.__new__(kind)
    error.args = ("https://h.example/?sig=geheim",)

    with (
        pytest.raises(HandleError, match=r"connection failed|in time") as caught,
        translated(Place("a", "b")),
    ):
        raise error
    assert "geheim" not in str(caught.value)
    assert caught.value.__cause__ is None
