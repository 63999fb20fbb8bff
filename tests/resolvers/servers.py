"""A real HTTP server with faults, and a network that gives it public addresses."""

from __future__ import annotations

import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self
from urllib.parse import unquote

from graphcodec_resolvers._network import Network

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping

    import httpcore

DATA = bytes(range(256)) * 40
PUBLIC = "93.184.216.34"
ETAG = '"v1"'
FORGED = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"


class FaultyServer(ThreadingHTTPServer):
    """Serves `DATA` with the fault that the path names.

    Attributes:
        seen: The method, path and headers of each request.
        data: What is served.
        etag: The ETag that is sent with it.
        target: Where ``to`` leads if its path does not say.
        retry_after: How long ``busy`` wants to be left alone.
        peak: How many requests ``slow`` has served at the same time.
    """

    daemon_threads = True

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seen: list[tuple[str, str, dict[str, str]]] = []
        self.data = DATA
        self.etag = ETAG
        self.target = ""
        self.retry_after = "1"
        self.counting = threading.Lock()
        self.now = self.peak = 0
        self.scheme = "http" if context is None else "https"
        if context is not None:
            self.socket = context.wrap_socket(self.socket, server_side=True)

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.server_address[1])

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        """Return the URL of a path."""
        return f"{self.scheme}://{host}:{self.port}/{path}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients that turn away are what the tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: FaultyServer  # pyright: ignore[reportIncompatibleVariableOverride]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""

    def do_HEAD(self) -> None:
        """Refuse HEAD, as many servers do."""
        self._record()
        self._head(405, {"Content-Length": "0"})

    def do_GET(self) -> None:
        """Serve the fault that the path names."""
        self._record()
        name, _, rest = self.path.lstrip("/").partition("?")[0].partition("/")
        serve: Callable[[str], None] = getattr(self, f"_{name.replace('-', '_')}")
        serve(rest)

    def _record(self) -> None:
        headers = {name.casefold(): value for name, value in self.headers.items()}
        self.server.seen.append((self.command, self.path, headers))

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self._head(status, {"Content-Length": str(len(body)), **headers})
        self.wfile.write(body)

    def _whole(self, headers: Mapping[str, str] | None = None) -> None:
        self._send(200, {"ETag": self.server.etag, **(headers or {})}, self.server.data)

    def _range(self) -> tuple[int, int] | None:
        found = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if found is None or self.headers.get("If-Range", ETAG) != self.server.etag:
            return None
        last = len(self.server.data) - 1
        return int(found[1]), min(last, int(found[2] or last))

    def _plain(self, _rest: str) -> None:
        wanted = self._range()
        if wanted is None:
            self._whole()
            return
        first, last = wanted
        total = len(self.server.data)
        if first >= total:
            self._send(416, {"Content-Range": f"bytes */{total}"}, b"")
            return
        where = f"bytes {first}-{last}/{total}"
        headers = {"ETag": self.server.etag, "Content-Range": where}
        self._send(206, headers, self.server.data[first : last + 1])

    def _no_range(self, _rest: str) -> None:
        self._whole()

    def _no_etag(self, _rest: str) -> None:
        self._send(200, {}, self.server.data)

    def _content_range(self, rest: str) -> None:
        """Answer 206 with whatever Content-Range the path says, and four bytes."""
        headers = {"Content-Range": unquote(rest)} if rest else {}
        self._send(206, {"ETag": self.server.etag, **headers}, b"abcd")

    def _short(self, _rest: str) -> None:
        self._head(200, {"Content-Length": "10240"})
        self.wfile.write(DATA[:100])
        self.close_connection = True

    def _long(self, _rest: str) -> None:
        self._head(206, {"Content-Range": "bytes 10-13/10240", "Connection": "close"})
        self.wfile.write(b"0123456789")
        self.close_connection = True

    def _echo(self, _rest: str) -> None:
        """Send back what it was sent, where a careless client would show it."""
        sent = ", ".join(map(str, self.headers.values()))
        headers = {"ETag": f'"{sent}"', "X-Sent": sent, "Set-Cookie": sent}
        self._send(403, headers, sent.encode())

    def _smuggle(self, _rest: str) -> None:
        """Send more than was announced: what looks like the next answer."""
        self._head(200, {"Content-Length": "4", "ETag": self.server.etag})
        self.wfile.write(b"abcd" + FORGED)

    def _smuggle_chunked(self, _rest: str) -> None:
        """Do the same behind a body in chunks."""
        self._head(200, {"Transfer-Encoding": "chunked", "ETag": self.server.etag})
        self.wfile.write(b"4\r\nabcd\r\n0\r\n\r\n" + FORGED)

    def _smuggle_half(self, _rest: str) -> None:
        """Send a head to which the next answer would be the body."""
        self._head(200, {"Content-Length": "4", "ETag": self.server.etag})
        self.wfile.write(b"abcd" + FORGED.partition(b"\r\n\r\n")[0] + b"\r\nX: ")

    def _gzip(self, _rest: str) -> None:
        self._whole({"Content-Encoding": "gzip"})

    def _to(self, rest: str) -> None:
        self._send(302, {"Location": unquote(rest) or self.server.target}, b"")

    def _loop(self, _rest: str) -> None:
        self._send(302, {"Location": "/loop"}, b"")

    def _status(self, rest: str) -> None:
        self._send(int(rest), {}, b"what happened")

    def _drip(self, _rest: str) -> None:
        self._head(200, {"Content-Length": "10240"})
        for byte in DATA:
            self.wfile.write(bytes([byte]))
            time.sleep(0.02)

    def _drip_headers(self, _rest: str) -> None:
        for byte in b"HTTP/1.1 200 OK\r\nX: " + b"y" * 1000:
            self.wfile.write(bytes([byte]))
            time.sleep(0.02)

    def _silent(self, _rest: str) -> None:
        time.sleep(1)
        self.close_connection = True

    def _slow(self, _rest: str) -> None:
        """Count how many are served at the same time."""
        with self.server.counting:
            self.server.now += 1
            self.server.peak = max(self.server.peak, self.server.now)
        time.sleep(0.1)
        with self.server.counting:
            self.server.now -= 1
        self._plain("")

    def _chunked(self, _rest: str) -> None:
        self._head(200, {"Transfer-Encoding": "chunked"})
        for start in range(0, len(self.server.data), 1000):
            piece = self.server.data[start : start + 1000]
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")

    def _cut(self, rest: str) -> None:
        """Serve half of what is asked for, as often as the path says."""
        before = sum(path == self.path for _, path, _ in self.server.seen)
        if before > int(rest):
            self._plain("")
            return
        first, last = self._range() or (0, len(DATA) - 1)
        where = {"Content-Range": f"bytes {first}-{last}/{len(DATA)}"} if first else {}
        length = {"Content-Length": str(last + 1 - first), "ETag": self.server.etag}
        self._head(206 if first else 200, {**length, **where})
        self.wfile.write(DATA[first : (first + last) // 2])
        self.close_connection = True

    def _busy(self, rest: str) -> None:
        """Be too busy, as often as the path says."""
        before = sum(path == self.path for _, path, _ in self.server.seen)
        if before > int(rest):
            self._plain("")
        else:
            self._send(503, {"Retry-After": self.server.retry_after}, b"")

    def _hang_up(self, _rest: str) -> None:
        self.close_connection = True

    def _nonsense(self, _rest: str) -> None:
        self.wfile.write(b"this is not HTTP\r\n\r\n")
        self.close_connection = True


class FakeNetwork(Network):
    """Resolves names as it is told, and connects every address to this machine.

    Attributes:
        asked: The names that were resolved.
        connected: The addresses that were connected to.
        slept: The pauses that were made, which take no time.
    """

    def __init__(self, **names: str | list[str]) -> None:
        self.names = {key.replace("_", "."): value for key, value in names.items()}
        self.names["localhost."] = "127.0.0.1"
        self.asked: list[str] = []
        self.connected: list[str] = []
        self.slept: list[float] = []
        self.context: ssl.SSLContext | None = None
        self.local_is_public = False

    def addresses(self, host: str, port: int) -> list[str]:
        """Return what the test said, or what the system says of an address."""
        self.asked.append(host)
        known = self.names.get(host)
        if known is None:
            return super().addresses(host, port)
        return [known] if isinstance(known, str) else known

    def admits(self, address: str) -> bool:
        """Admit public addresses, and this machine if the test says so."""
        return super().admits(address) or (
            self.local_is_public and address == "127.0.0.1"
        )

    def connect(
        self, address: str, port: int, timeout: float | None
    ) -> httpcore.NetworkStream:
        """Connect to this machine instead."""
        self.connected.append(address)
        return super().connect("127.0.0.1", port, timeout)

    async def aconnect(
        self, address: str, port: int, longest: float | None
    ) -> httpcore.AsyncNetworkStream:
        """Connect to this machine instead."""
        self.connected.append(address)
        return await super().aconnect("127.0.0.1", port, longest)

    async def asleep(self, seconds: float) -> None:
        """Take a note instead of waiting."""
        self.slept.append(seconds)

    def trust(self) -> ssl.SSLContext:
        """Trust what the test trusts."""
        return self.context or super().trust()

    def sleep(self, seconds: float) -> None:
        """Take a note instead of waiting."""
        self.slept.append(seconds)
