"""A document served to the browsers of this machine; handles are opened on demand."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from socket import SHUT_RDWR
from threading import BoundedSemaphore, Event, Thread
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from attrs import field, frozen

from graphcodec._graphs._handles import detail_of
from graphcodec.errors import InvalidValueError, NoReaderResolverError, StaleHandleError
from graphcodec.view._html import page_of, viewed
from graphcodec.view._kinds import served_type, shown_as
from graphcodec.view._ranges import parse_range

if TYPE_CHECKING:
    from socket import socket
    from types import TracebackType
    from typing import Self

    from graphcodec.codec import Codec
    from graphcodec.readers import Reader, Resolver
    from graphcodec.view._html import Viewed
    from graphcodec.view._model import Handle
    from graphcodec.view._ranges import Range

__all__ = ["ViewServer"]

_LOOPBACK: Final = "127.0.0.1"
_PIECE: Final = 1 << 20
_IDLE: Final = 60.0
"""After how many seconds of silence a connection is given up."""
_HIGHEST_PORT: Final = 65_535
_MOST_CONNECTIONS: Final = 64
_MOST_OPEN: Final = 8
"""How many handles are open at a time: more than one browser asks for at once."""
_PATIENCE: Final = 20.0
"""How many seconds a handle waits for its turn."""
# Nothing but this page may use what is served, and nothing keeps it.
_ALWAYS: Final = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_OWN_SITES: Final = frozenset({None, "none", "same-origin"})


class ViewServer:
    """Serves the page of a document on this machine, and opens handles when asked to.

    A handle is opened when the reader of the page clicks it, by the resolvers of the
    caller, and not before. The server listens on the loopback interface alone, under a
    path that nobody can guess, and answers no request that names another host or comes
    from another site. It runs within a ``with`` statement, on threads of its own. Eight
    handles are open at a time, and 64 connections.

    Args:
        document: JSON or MessagePack, in a frame or not.
        codec: See `view_html`.
        context: See `view_html`.
        resolvers: See `view_html`.
        title: What the page is called.
        port: Where to listen; 0 for any port that is free.

    Raises:
        UndecodableValueError: If it is no document.
        SealError: If it is not sealed as the codec wants it.
        InvalidValueError: If *port* is none.
        OSError: If the port is taken.
    """

    def __init__(
        self,
        document: bytes | bytearray | memoryview | str,
        *,
        codec: Codec | None = None,
        context: bytes = b"",
        resolvers: Iterable[Resolver] = (),
        title: str = "",
        port: int = 0,
    ) -> None:
        if not 0 <= port <= _HIGHEST_PORT:
            msg = f"port: must be between 0 and {_HIGHEST_PORT}, not {port}"
            raise InvalidValueError(msg, value=port)
        found = viewed(document, codec=codec, context=context, resolvers=resolvers)
        page = page_of(found, title=title, is_served=True)
        token = secrets.token_urlsafe(24)
        served = _Served(found, page.encode("utf-8", "replace"), token)
        self._server = _Server((_LOOPBACK, port), partial(_Handler, served))
        self._stopped = Event()
        self.url: str = f"http://{_LOOPBACK}:{self._server.server_port}/{token}/"
        """Where the page is. Who knows it can open every handle of the document."""

    def wait(self) -> None:
        """Return when the server was closed."""
        self._stopped.wait()

    def close(self) -> None:
        """Stop; requests that run are cut off."""
        if not self._stopped.is_set():
            self._server.shutdown()
            self._server.server_close()
            self._stopped.set()

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, args=(0.1,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        # The path of the URL is a secret.
        return f"{type(self).__name__}(port={self._server.server_port})"


@frozen
class _Served:
    """What a server has to give.

    Attributes:
        document: The document, with its handles.
        page: The page.
        token: What every path begins with.
        turns: Those of the handles that are open at a time.
    """

    document: Viewed
    page: bytes
    token: str
    turns: BoundedSemaphore = field(factory=lambda: BoundedSemaphore(_MOST_OPEN))


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = _MOST_CONNECTIONS

    def __init__(self, *args: Any) -> None:
        self._connections: set[socket] = set()
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer on a thread of its own, if there are not too many."""
        if len(self._connections) >= _MOST_CONNECTIONS:
            return self.shutdown_request(request)
        self._connections.add(request)
        return super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Hang up, and make room for another one."""
        self._connections.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        """Stop, and hang up on browsers, which keep their connections."""
        super().server_close()
        for connection in tuple(self._connections):
            with suppress(OSError):
                connection.shutdown(SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of browsers that hang up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _IDLE

    def __init__(self, served: _Served, *args: Any) -> None:
        # The base answers the request right in its constructor.
        self._served = served
        super().__init__(*args)

    def do_GET(self) -> None:
        """Answer with the page, or with the bytes of a handle."""
        served = self._served
        port = self.connection.getsockname()[1]
        if self.headers.get("Host") not in (f"{_LOOPBACK}:{port}", f"localhost:{port}"):
            # Some name that leads here: https://en.wikipedia.org/wiki/DNS_rebinding
            return self._refuse(403, "this server is called by another name")
        if self.headers.get("Sec-Fetch-Site") not in _OWN_SITES:
            return self._refuse(403, "another site has no business here")
        _, token, *rest = [*self.path.split("/"), ""]
        if not hmac.compare_digest(token.encode(), served.token.encode()):
            return self._refuse(404, "there is nothing here")
        match rest:
            case ["", ""]:
                return self._page(served.page)
            case ["handle", number, ""] if number.isascii() and number.isdigit():
                return self._in_turn(int(number[:9]))
            case _:
                return self._refuse(404, "there is nothing here")

    do_HEAD = do_GET  # noqa: N815 - the names are the library's

    def version_string(self) -> str:
        """Say as little as there is to say of the server."""
        return "graphcodec"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Write nothing: the path is a secret."""

    def _page(self, page: bytes) -> None:
        # The page says itself what it may load; only the header can forbid frames.
        headers = {"Content-Security-Policy": "frame-ancestors 'none'"}
        self._begin(200, "text/html; charset=utf-8", len(page), headers)
        self._send([page])

    def _in_turn(self, number: int) -> None:
        """Open a handle once fewer than so many are, which may never end."""
        if not self._served.turns.acquire(timeout=_PATIENCE):
            why = (
                f"{_MOST_OPEN} others are open, and none of them ends; try again later"
            )
            return self._refuse(503, why)
        try:
            return self._handle(number)
        finally:
            self._served.turns.release()

    def _handle(self, number: int) -> None:
        document = self._served.document
        if number >= len(document.model.handles):
            return self._refuse(404, "there is nothing here")
        handle = document.model.handles[number]
        try:
            reader = document.reader(number)
            size = reader.byte_length()
            wanted = parse_range(self.headers.get("Range"), size)
            # What can't be opened must be known before the headers are written.
            pieces = _pieces(reader, wanted)
            first = next(pieces, b"")
        except Exception as exc:  # noqa: BLE001 - a user's reader may raise anything
            return self._refuse(_status(exc), detail_of(exc))
        if wanted is not None and not first:
            return self._refuse(416, "there are not so many bytes")
        return self._answer(handle, size, wanted, chain([first], pieces), len(first))

    def _answer(
        self,
        handle: Handle,
        size: int | None,
        wanted: Range | None,
        pieces: Iterator[bytes],
        first: int,
    ) -> None:
        headers = {
            "Accept-Ranges": "bytes",
            "Content-Security-Policy": "default-src 'none'; sandbox",
        }
        if shown_as(handle.mime_type) == "file":
            headers["Content-Disposition"] = _attachment(handle.filename)
        length = size
        if wanted is not None:
            # Of a size that nobody knows, the first piece is what there is.
            end = wanted.end if size is not None else wanted.start + first
            length = end - wanted.start
            whole = "*" if size is None else size
            headers["Content-Range"] = f"bytes {wanted.start}-{end - 1}/{whole}"
        status = 200 if wanted is None else 206
        self._begin(status, served_type(handle.mime_type), length, headers)
        self._send(pieces)

    def _refuse(self, status: int, why: str) -> None:
        body = why.encode("utf-8", "replace")
        self._begin(status, "text/plain; charset=utf-8", len(body), {})
        self._send([body])

    def _begin(
        self, status: int, kind: str, length: int | None, headers: dict[str, str]
    ) -> None:
        self.send_response(status)
        for name, value in {**_ALWAYS, "Content-Type": kind, **headers}.items():
            self.send_header(name, value)
        if length is None:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def _send(self, pieces: Iterable[bytes]) -> None:
        if self.command == "HEAD":
            return
        try:
            for piece in pieces:
                self.wfile.write(piece)
        except Exception:  # noqa: BLE001 - a user's reader may raise anything
            # The headers are gone; a body that ends too early says that it failed.
            self.close_connection = True


def _pieces(reader: Reader, wanted: Range | None) -> Iterator[bytes]:
    """Yield the bytes that are wanted; as long as somebody wants them."""
    if wanted is None:
        yield from reader.iter_bytes()
        return
    for start in range(wanted.start, wanted.end, _PIECE):
        yield reader.read_range(start, min(start + _PIECE, wanted.end))


def _status(exc: Exception) -> int:
    match exc:
        case FileNotFoundError() | NoReaderResolverError():
            return 404
        case PermissionError():
            return 403
        case StaleHandleError():
            return 409
        case _:
            return 502


def _attachment(filename: str) -> str:
    """Return the header that has a browser save a file (RFC 6266)."""
    if not filename:
        return "attachment"
    name = quote(filename.encode("utf-8", "replace"), safe="")
    return f"attachment; filename*=UTF-8''{name}"
