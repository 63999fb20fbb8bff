"""A document that is served, and its handles, opened when they are asked for."""

from __future__ import annotations

import http.client
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from socket import create_connection
from threading import Event, Lock, Semaphore
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from graphcodec import SpooledArtifact, encode
from graphcodec.errors import (
    GraphCodecError,
    HandleNotFoundError,
    InvalidValueError,
    ResolverDeniedError,
    StaleHandleError,
)
from graphcodec.view import ViewServer
from graphcodec.view._ranges import Range, parse_range
from tests import browser
from tests.view.talks import Shelf, Shelves, media, png, wav

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

TEXT = b"0123456789" * 30_000


class Answer:
    """What a server has answered.

    Args:
        response: The response.
    """

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()


def ask(
    server: ViewServer, path: str = "", method: str = "GET", **headers: str
) -> Answer:
    """Ask a server for a path below its address, or for one that begins with a slash.

    Args:
        server: The server.
        path: The path.
        method: The method.
        **headers: Headers, with ``_`` for ``-``.
    """
    url = urlsplit(server.url)
    connection = http.client.HTTPConnection(url.netloc, timeout=20)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    where = path if path[:1] == "/" else url.path + path
    connection.request(method, where, headers=sent)
    try:
        return Answer(connection.getresponse())
    finally:
        connection.close()


class Served:
    """A document that is served, with what is on its shelves."""

    def __init__(self) -> None:
        self.shelves = [
            Shelf("picture", png()),
            Shelf("report", b"%PDF-1.4"),
            Shelf("page", b"<script>1</script>"),
            Shelf("log", TEXT),
            Shelf("stream", TEXT, known=False),
            Shelf("gone", HandleNotFoundError("nothing is there")),
            Shelf("denied", ResolverDeniedError("not for you", hint="ask ana")),
            Shelf("stale", StaleHandleError("other bytes")),
            Shelf("odd", RuntimeError("hunter2")),
            Shelf("sound", wav()),
        ]
        types = ["image/png", "application/pdf", "text/html; charset=latin-1"]
        graph: list[object] = [
            media(shelf, kind, f"{shelf.key}.x")
            for shelf, kind in zip(self.shelves[:3], types, strict=True)
        ]
        graph += [SpooledArtifact(shelf) for shelf in self.shelves[3:9]]
        graph.append(media(self.shelves[9], "audio/wav", "sound"))
        graph.append(media(Shelf("unknown", b""), "image/png", "unknown"))
        self.server = ViewServer(encode(graph), resolvers=[Shelves(*self.shelves)])


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """A document of all kinds of handles, which is served."""
    found = Served()
    with found.server:
        yield found


def test_page_is_served_and_nothing_is_opened() -> None:
    """Under a path that is made anew each time."""
    one, two = Served(), Served()
    with one.server, two.server:
        answer = ask(one.server)

    assert answer.status == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert b"shelf=picture" in answer.body
    assert [shelf.opened for shelf in one.shelves] == [0] * 10
    paths = [urlsplit(each.server.url).path for each in (one, two)]
    assert paths[0] != paths[1]
    assert min(map(len, paths)) > 32
    assert paths[0] not in repr(one.server)


def test_handle_is_opened_when_it_is_asked_for(served: Served) -> None:
    """With headers that let nobody else have it, keep it, or run it."""
    answer = ask(served.server, "handle/0")

    assert (answer.status, answer.body) == (200, png())
    assert {name: answer.headers[name] for name in answer.headers} == {
        "Server": "graphcodec",
        "Date": answer.headers["Date"],
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Content-Type": "image/png",
        "Content-Length": str(len(png())),
        "Accept-Ranges": "bytes",
        "Content-Security-Policy": "default-src 'none'; sandbox",
    }


def test_what_a_browser_could_run_is_text_or_saved(served: Served) -> None:
    """HTML is text; what is not shown has a name to be saved under."""
    report, page = ask(served.server, "handle/1"), ask(served.server, "handle/2")

    assert report.headers["Content-Type"] == "application/octet-stream"
    assert (
        report.headers["Content-Disposition"] == "attachment; filename*=UTF-8''report.x"
    )
    assert page.headers["Content-Type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize(
    ("header", "status", "start", "end"),
    [
        ("bytes=0-9", 206, 0, 10),
        ("bytes=299990-", 206, 299_990, 300_000),
        ("bytes=299990-999999", 206, 299_990, 300_000),
        ("bytes=-5", 206, 299_995, 300_000),
        ("bytes=0-1,4-5", 200, 0, 300_000),
        ("lines=1-2", 200, 0, 300_000),
    ],
)
def test_ranges(served: Served, header: str, status: int, start: int, end: int) -> None:
    """A part that is asked for comes alone; what makes no sense counts for nothing."""
    answer = ask(served.server, "handle/3", Range=header)

    assert (answer.status, answer.body) == (status, TEXT[start:end])
    expected = f"bytes {start}-{end - 1}/300000" if status == 206 else None
    assert answer.headers["Content-Range"] == expected
    assert answer.headers["Content-Length"] == str(end - start)


def test_ranges_of_a_stream(served: Served) -> None:
    """Where nobody knows how long it is, parts can be had, and all of it."""
    part = ask(served.server, "handle/4", Range="bytes=5-8")
    whole = ask(served.server, "handle/4")
    last = ask(served.server, "handle/4", Range="bytes=299998-300007")

    assert (part.status, part.body) == (206, b"5678")
    assert part.headers["Content-Range"] == "bytes 5-8/*"
    assert (whole.status, whole.body) == (200, TEXT)
    assert whole.headers["Connection"] == "close"
    assert last.headers["Content-Range"] == "bytes 299998-299999/*"


@pytest.mark.parametrize("number", [3, 4])
def test_range_behind_the_end(served: Served, number: int) -> None:
    """Is refused as the standard says."""
    answer = ask(served.server, f"handle/{number}", Range="bytes=300000-300009")

    assert answer.status == 416


@pytest.mark.parametrize(
    ("header", "size", "expected"),
    [
        (None, 5, None),
        ("bytes=-", 5, None),
        ("bytes=3-1", 5, None),
        ("bytes=1-3", 5, Range(1, 4)),
        ("bytes=7-9", 5, Range(7, 5)),
        ("bytes=-0", 5, Range(5, 5)),
        ("bytes=-9", 5, Range(0, 5)),
        ("bytes=-9", None, None),
        ("bytes=3-", None, Range(3, 3 + (1 << 20))),
        ("bytes=0-99999999999999", None, Range(0, 1 << 20)),
        ("bytes=0-" + "9" * 40, 5, None),
        ("bytes=\u0661-2", 5, None),
    ],
)
def test_range_headers(
    header: str | None, size: int | None, expected: Range | None
) -> None:
    """What a header asks for."""
    assert parse_range(header, size) == expected


def test_head_says_what_would_come(served: Served) -> None:
    """Without the bytes."""
    answer = ask(served.server, "handle/3", "HEAD")

    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["Content-Length"] == "300000"


@pytest.mark.parametrize(
    ("number", "status", "words"),
    [
        (5, 404, "nothing is there"),
        (6, 403, "not for you; ask ana"),
        (7, 409, "other bytes"),
        (8, 502, "RuntimeError"),
        (10, 404, "no resolver takes 'media:shelf'"),
        (11, 404, "there is nothing here"),
        (10**30, 404, "there is nothing here"),
    ],
)
def test_what_does_not_open_says_why(
    served: Served, number: int, status: int, words: str
) -> None:
    """Without what may be secret."""
    answer = ask(served.server, f"handle/{number}")

    assert answer.status == status
    assert answer.body.decode().startswith(words)
    assert b"hunter2" not in answer.body


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/x",
        "/x/handle/0",
        "handle/",
        "handle/x",
        "handle/0/1",
        "handle/%D9%A1",
        "x",
    ],
)
def test_other_paths_lead_nowhere(served: Served, path: str) -> None:
    """Least of all those without the token."""
    assert ask(served.server, path).status == 404


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "", "127.0.0.1"])
def test_other_names_of_this_machine_are_refused(served: Served, host: str) -> None:
    """A name of somebody else's that leads here must not make the page theirs."""
    answer = ask(served.server, Host=host)

    assert answer.status == 403
    assert b"shelf" not in answer.body


def test_names_of_this_machine_are_taken(served: Served) -> None:
    """By number and by name."""
    port = urlsplit(served.server.url).port

    assert ask(served.server, Host=f"localhost:{port}").status == 200
    assert ask(served.server, Host=f"127.0.0.1:{port}").status == 200


@pytest.mark.parametrize(
    ("site", "status"),
    [("cross-site", 403), ("same-site", 403), ("none", 200), ("same-origin", 200)],
)
def test_other_sites_are_refused(served: Served, site: str, status: int) -> None:
    """Even if they know the path."""
    assert ask(served.server, Sec_Fetch_Site=site).status == status


def test_only_reading_is_possible(served: Served) -> None:
    """No other method is known."""
    assert ask(served.server, method="POST").status == 501


def test_server_stops() -> None:
    """At the end of the statement, or when it is closed; again is no harm."""
    found = Served()
    with found.server as server:
        assert ask(server).status == 200
        server.close()
        server.wait()
    with pytest.raises(ConnectionRefusedError):
        ask(server)


def test_server_that_stops_hangs_up() -> None:
    """Who has a connection can't go on opening handles."""
    with Served().server as server:
        url = urlsplit(server.url)
        connection = http.client.HTTPConnection(url.netloc, timeout=20)
        connection.request("GET", url.path + "handle/0")
        assert connection.getresponse().read() == png()
    with closing(connection):
        assert connection.sock is not None
        assert connection.sock.recv(1) == b""


def test_ports() -> None:
    """One can be chosen, if it is one and free."""
    with pytest.raises(InvalidValueError, match="port: must be between 0 and 65535"):
        ViewServer(encode(1), port=70_000)
    with ViewServer(encode(1)) as server:
        port = urlsplit(server.url).port
        with pytest.raises(OSError, match="in use"):
            ViewServer(encode(1), port=port or 0)


def test_no_document_is_not_served() -> None:
    """The error comes at once."""
    with pytest.raises(GraphCodecError, match="no JSON document"):
        ViewServer(b"{")


def test_reader_that_fails_in_the_middle_cuts_the_answer() -> None:
    """So that a browser does not take half for all."""

    class Half(Shelf):
        def iter_bytes(self, chunk_size: int = 1) -> Iterator[bytes]:
            del chunk_size
            yield b"half"
            raise OSError

    shelf = Half("half", b"half of it")
    graph = encode(media(shelf))
    with (
        ViewServer(graph, resolvers=[Shelves(shelf)]) as server,
        pytest.raises(http.client.IncompleteRead),
    ):
        ask(server, "handle/0")


class Slow(Shelf):
    """A shelf that is far away.

    Args:
        content: The bytes.
    """

    __slots__ = ("at_once", "free", "inside", "most", "turn")

    def __init__(self, content: bytes) -> None:
        super().__init__("slow", content)
        self.inside = Semaphore(0)
        self.free = Event()
        self.turn = Lock()
        self.at_once = self.most = 0

    def open(self) -> BinaryIO:
        """Return a stream, when it may."""
        with self.turn:
            self.at_once += 1
            self.most = max(self.most, self.at_once)
        self.inside.release()
        assert self.free.wait(30)
        with self.turn:
            self.at_once -= 1
        return super().open()


def test_eight_handles_are_open_at_a_time() -> None:
    """Others wait for their turn, and all are answered; the page is, meanwhile."""
    shelf = Slow(b"far away")
    graph = encode(SpooledArtifact(shelf))
    with (
        ViewServer(graph, resolvers=[Shelves(shelf)]) as server,
        ThreadPoolExecutor(12) as pool,
    ):
        answers = [pool.submit(ask, server, "handle/0") for _ in range(12)]
        for _ in range(8):
            assert shelf.inside.acquire(timeout=20)
        assert ask(server).status == 200
        shelf.free.set()
        bodies = {answer.result().body for answer in answers}

    assert bodies == {b"far away"}
    assert shelf.most == 8


def test_handles_that_never_open_do_not_keep_others_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those are told to come later."""
    monkeypatch.setattr("graphcodec.view._server._PATIENCE", 0.05)
    shelf = Slow(b"")
    graph = encode(SpooledArtifact(shelf))
    with (
        ViewServer(graph, resolvers=[Shelves(shelf)]) as server,
        ThreadPoolExecutor(8) as pool,
    ):
        for _ in range(8):
            pool.submit(ask, server, "handle/0")
            assert shelf.inside.acquire(timeout=20)
        answer = ask(server, "handle/0")
        shelf.free.set()

    assert answer.status == 503
    assert answer.body == (b"8 others are open, and none of them ends; try again later")


def test_connections_are_limited() -> None:
    """Those beyond are closed at once; when one ends, there is room again."""
    with ViewServer(encode(1)) as server, ExitStack() as held:
        place = urlsplit(server.url)
        for _ in range(64):
            held.enter_context(closing(create_connection((place.hostname, place.port))))
        with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
            ask(server)
        held.close()
        assert answers_soon(server)


def answers_soon(server: ViewServer) -> bool:
    """Say whether a server answers, within ten seconds."""
    end = monotonic() + 10
    while monotonic() < end:
        with suppress(http.client.RemoteDisconnected, ConnectionResetError):
            return ask(server).status == 200
    return False


# In a browser


@pytest.fixture
def page(chromium: Any, served: Served) -> Iterator[Any]:
    """The page, as it is served; with what it asks for."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.asked = []

    def requested(request: Any) -> None:
        page.asked.append(request.url)

    errors: list[str] = []

    def failed(error: Any) -> None:
        errors.append(str(error))

    page.on("request", requested)
    page.on("pageerror", failed)
    page.goto(served.server.url)
    page.wait_for_selector("body[data-ready]")
    page.keyboard.press("Shift+O")
    page.evaluate("for (const x of document.querySelectorAll('details')) x.open = true")
    yield page
    context.close()
    assert errors == []


def card(page: Any, name: str) -> Any:
    """Return the card of one handle."""
    return page.locator(f".card:has-text('shelf={name}')")


def test_nothing_is_asked_for_until_it_is_clicked(page: Any, served: Served) -> None:
    """Then a picture is shown."""
    assert page.asked == [served.server.url]
    card(page, "picture").locator("text=Open").click()
    browser.until(page, "document.querySelector('img')?.naturalWidth === 4")
    assert page.asked == [served.server.url, f"{served.server.url}handle/0"]


def test_long_texts_come_in_parts(page: Any) -> None:
    """Each when it is asked for."""
    log = card(page, "log")
    log.locator("text=Open").click()
    log.locator("text=More (65.5 kB of 300.0 kB shown)").click()
    log.locator("text=More (131.1 kB of 300.0 kB shown)").click()
    log.locator("text=More (196.6 kB").click()
    log.locator("text=More (262.1 kB").click()
    browser.until(
        page,
        "[...document.querySelectorAll('pre')].some((x) => x.innerText.length === 3e5)",
    )
    assert log.locator("text=More").count() == 0


def test_html_is_shown_as_text(page: Any) -> None:
    """And does nothing."""
    found = card(page, "page")
    found.locator("text=Open").click()
    found.locator("pre").wait_for()

    assert found.locator("pre").text_content() == "<script>1</script>"


@pytest.mark.parametrize(
    ("name", "words"), [("gone", "nothing is there"), ("unknown", "no resolver takes")]
)
def test_failure_is_shown(page: Any, name: str, words: str) -> None:
    """In the words of the error."""
    found = card(page, name)
    found.locator("text=Open").click()
    found.locator(".fault").wait_for()

    assert words in found.locator(".fault").text_content()


def test_what_failed_can_be_tried_again(page: Any, served: Served) -> None:
    """Without loading the page anew."""
    shelf = served.shelves[0]
    there, shelf.content = shelf.content, HandleNotFoundError("not yet")
    try:
        found = card(page, "picture")
        found.locator("text=Open").click()
        found.locator("text=not yet").wait_for()
    finally:
        shelf.content = there
    found.locator("text=Try again").click()
    browser.until(page, "document.querySelector('img')?.naturalWidth === 4")
    assert found.locator(".fault").count() == 0
    assert found.locator("button").count() == 0


@pytest.mark.parametrize("name", ["picture", "log"])
def test_slow_handle_says_that_it_opens(page: Any, name: str) -> None:
    """Until it is there."""
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route("**/handle/*", hold)
    found = card(page, name)
    found.locator("text=Open").click()
    found.locator("text=opening …").wait_for()
    while not held:
        page.wait_for_timeout(20)
    held[0].continue_()
    found.locator(".waiting").wait_for(state="detached")


def test_server_that_was_stopped_is_told(chromium: Any) -> None:
    """In words, as a failure that can be tried again."""
    found = Served()
    context = chromium.new_context()
    page = context.new_page()
    with found.server as server:
        page.goto(server.url)
        page.wait_for_selector("body[data-ready]")
    for name in ("picture", "log"):
        page.evaluate(
            "for (const x of document.querySelectorAll('details')) x.open = true"
        )
        one = card(page, name)
        one.locator("text=Open").click()
        one.locator("text=the server does not answer").wait_for()
        assert one.locator("text=Try again").count() == 1
    context.close()


def test_file_can_be_saved(page: Any) -> None:
    """Under its name."""
    with page.expect_download() as download:
        card(page, "report").locator("text=Save").click()
    assert download.value.suggested_filename == "report.x"
    assert download.value.path().read_bytes() == b"%PDF-1.4"


def test_sound_is_played(page: Any) -> None:
    """By the browser, in parts."""
    card(page, "sound").locator("text=Open").click()
    browser.until(page, "document.querySelector('audio')?.duration > 0.09")
