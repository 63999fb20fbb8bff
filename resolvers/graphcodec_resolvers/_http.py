"""Handles to what servers serve over http and https.

A handle is a URL with what was known of its bytes. Who may be asked, and with which
credentials, is the policy of the resolver on the side that opens it.
"""

from __future__ import annotations

import os
from contextlib import aclosing
from functools import cache, partial
from typing import TYPE_CHECKING, BinaryIO, Final, Self, cast

from graphcodec.errors import (
    HandleError,
    InvalidValueError,
    ReaderNotDescribableError,
    UndecodableValueError,
    UnencodableValueError,
)
from graphcodec.readers import Reader, ReaderDescriptor
from graphcodec.readers._contracts import CHUNK_SIZE, piece_size
from graphcodec_resolvers._pins import (
    PIN_CHECKS,
    Check,
    Pins,
    check_locator,
    is_count,
    is_sha256,
    is_text,
    pins_of,
)
from graphcodec_resolvers._places import Place
from graphcodec_resolvers._policy import Policy, by_origin, host_list, scheme_set
from graphcodec_resolvers._urls import MAX_URL, carried_secret, origin_of, shown_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping

    import httpx

    from graphcodec_resolvers._content import Content
    from graphcodec_resolvers._fetch import Fetcher
    from graphcodec_resolvers._network import Network

SCHEME: Final = "http"
"""The scheme of every handle to a URL, https ones included."""

MAX_BYTES: Final = 256 << 20
TIMEOUT: Final = 120.0

_CHECKS: Final[Mapping[str, Check]] = {
    "url": lambda value: isinstance(value, str) and 0 < len(value) <= MAX_URL,
    **{name: PIN_CHECKS[name] for name in ("size", "etag", "sha256")},
}


class HttpReader(Reader):
    """Re-opens what a URL serves, if a policy allows it.

    A reader made by hand opens public https URLs; one made by an `HttpResolver` opens
    what that allows. It holds no credentials: those belong to the resolver, or are
    made when a handle is opened.

    A URL that carries a signature, a token or a password can be opened, but neither
    described, encoded nor pickled.

    Args:
        url: The URL.
        size: How many bytes there must be.
        etag: The ETag that the server must send, as it stands in the header.
        sha256: The hash that the bytes must have, as 64 hexadecimal digits.

    Raises:
        InvalidValueError: If an argument is not what it should be.
    """

    __slots__ = ("_fetcher", "_pins", "_place", "_url")

    def __init__(
        self,
        url: str,
        *,
        size: int | None = None,
        etag: str | None = None,
        sha256: str | None = None,
        _fetcher: Callable[[], Fetcher] | None = None,
    ) -> None:
        _check("url", url or "", _CHECKS["url"], "a URL of a sane length")
        _check("size", size, is_count, "a number of bytes")
        _check("etag", etag, is_text, "the text of an ETag")
        _check("sha256", sha256, is_sha256, "64 hexadecimal digits in small letters")
        self._url = url
        self._pins = Pins(size=size, etag=etag, sha256=sha256)
        self._place = Place(_origin(url), shown_url(url))
        self._fetcher = _fetcher or _strict().fetcher

    def open(self) -> BinaryIO:
        """Return a new stream; the request is sent and its answer checked now.

        The body is read as it is asked for. Going to another position asks the server
        for a range; a hash is checked before the last bytes are handed out.

        Raises:
            HandleNotFoundError: If the server has nothing there.
            StaleHandleError: If it is not what was pinned.
            ResolverDeniedError: If the policy or the server forbids it.
            HandleError: If the server can't be reached or makes no sense.
        """
        return self._content().opened()

    async def aopen(self) -> BinaryIO:
        """Receive everything, and return it as a stream that waits for no network.

        More than 1 MiB goes to a temporary file, which closing the stream deletes.
        `aiter_bytes` and `aread_range` receive no more than they are asked for.

        Raises:
            HandleError: As for `open`.
        """
        return await self._content().aopened()

    async def aiter_bytes(self, chunk_size: int = CHUNK_SIZE) -> AsyncIterator[bytes]:
        """Yield the content in order, as it arrives.

        Args:
            chunk_size: The most bytes in one piece.

        Raises:
            HandleError: As for `open`.
        """
        count = piece_size(chunk_size)
        async with aclosing(self._content().apieces(count)) as pieces:
            async for piece in pieces:
                yield piece

    def read_range(self, start: int, end: int) -> bytes:
        """Return the bytes from *start* up to, but without, *end*.

        Size and ETag are checked, a hash is not: only a full read can prove it. If the
        server ignores ranges, up to 8 MiB before *start* are read and dropped.

        Args:
            start: Offset of the first byte, counted from 0.
            end: Offset behind the last byte; what lies beyond the content is left out.

        Raises:
            HandleError: As for `open`.
        """
        return self._content().range(start, end)

    async def aread_range(self, start: int, end: int) -> bytes:
        """Do what `read_range` does without blocking the event loop.

        Args:
            start: Offset of the first byte, counted from 0.
            end: Offset behind the last byte.

        Raises:
            HandleError: As for `open`.
        """
        return await self._content().arange(start, end)

    def byte_length(self) -> int | None:
        """Return the size that was pinned, or ask the server with a GET of one byte.

        None if the server does not tell. HEAD is not used: many servers refuse it.
        """
        if self._pins.size is not None:
            return self._pins.size
        return self._content().length()

    async def abyte_length(self) -> int | None:
        """Do what `byte_length` does without blocking the event loop."""
        if self._pins.size is not None:
            return self._pins.size
        return await self._content().alength()

    def describe(self) -> ReaderDescriptor:
        """Return the URL and the pins.

        Raises:
            ReaderNotDescribableError: If the URL carries a secret.
        """
        if (secret := carried_secret(self._url)) is not None:
            raise self._place.error(
                ReaderNotDescribableError,
                f"the URL carries {secret}",
                hint="store the bucket and key (FsspecStore) and sign on open with"
                " reader.url(expires=...), or use HttpResolver(headers=...)",
            )
        return ReaderDescriptor(SCHEME, {"url": self._url, **self._pins.fields()})

    def url(self, *, expires: float = 3600) -> str:
        """Return the URL itself.

        Args:
            expires: Without effect: the URL holds as long as the server says.
        """
        del expires
        return self._url

    def _content(self) -> Content:
        try:
            from graphcodec_resolvers._content import Content  # noqa: PLC0415

            fetcher = self._fetcher()
        except ImportError:
            reason = "httpx is not installed"
            hint = "pip install httpx"
            raise self._place.error(HandleError, reason, hint=hint) from None
        return Content(fetcher, self._url, self._pins, self._place)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, HttpReader):
            return self._url == other._url and self._pins == other._pins
        return not carried_secret(self._url) and super().__eq__(other)

    def __hash__(self) -> int:
        return hash(self._url) if carried_secret(self._url) else super().__hash__()

    def __repr__(self) -> str:
        return f"HttpReader({self._place.text!r})"


class HttpResolver:
    """Re-opens URLs under a policy; without arguments, public https ones.

    Every address that a host resolves to must be public, on each redirect anew, and
    the connection goes to an address that was checked. No environment is read, so no
    proxy is used. At most three redirects are followed, none from https to http.

    Connections are made on the first open, in each process and in each event loop
    anew. Busy servers and broken connections are tried three times, with pauses as long
    as the server says. What httpx and httpcore log of URLs and headers is held back.

    Args:
        client: A client to send with, for its certificates or proxy, or a function
            that makes one in each process. Its headers, cookies and credentials are
            not used, and it is not closed. It blocks, so the async faces of readers
            use it in worker threads.
        hosts: The hosts that may be asked, as ``example.org`` or, with all below it,
            ``.example.org``; None for every public one.
        schemes: The schemes that may be used.
        allow_private: Whether hosts may have addresses that are not public: for
            intranets and tests.
        max_bytes: How many bytes one open or range may receive.
        timeout: How long one open or range may wait for the network, in seconds.
        headers: What is sent to exactly one origin, such as
            ``{"https://api.example.org": {"Authorization": "..."}}``.

    Raises:
        InvalidValueError: If an argument is not what it should be.
    """

    __slots__ = ("_client", "_fetcher", "_made_in", "_network", "_policy")

    @property
    def tags(self) -> tuple[str, str]:
        """The tags it takes."""
        return f"media:{SCHEME}", f"spool:{SCHEME}"

    def __init__(
        self,
        client: httpx.Client | Callable[[], httpx.Client] | None = None,
        *,
        hosts: Iterable[str] | None = None,
        schemes: Iterable[str] = ("https",),
        allow_private: bool = False,
        max_bytes: int = MAX_BYTES,
        timeout: float = TIMEOUT,
        headers: Mapping[str, Mapping[str, str]] | None = None,
        _network: Network | None = None,
    ) -> None:
        self._policy = Policy(
            hosts=host_list(hosts),
            schemes=scheme_set(schemes),
            allow_private=allow_private,
            max_bytes=max_bytes,
            timeout=timeout,
            headers=by_origin(headers or {}),
        )
        if not (client is None or callable(client) or _sends(client)):
            name = type(client).__name__
            msg = f"client: must be an httpx.Client, or make one, not {name}"
            raise InvalidValueError(msg)
        self._client = client
        self._made_in = os.getpid()
        self._network = _network
        self._fetcher: Fetcher | None = None

    def resolve(self, descriptor: ReaderDescriptor, /) -> HttpReader | None:
        """Return a lazy reader, or None for another scheme.

        Whether the URL may be opened is decided when it is.

        Raises:
            UndecodableValueError: If the locator has unknown fields or odd values.
        """
        if descriptor.scheme != SCHEME:
            return None
        check_locator(SCHEME, descriptor.locator, _CHECKS)
        url = descriptor.locator.get("url")
        if not isinstance(url, str):
            msg = "a locator of scheme 'http' must have a url"
            raise UndecodableValueError(msg, tag=SCHEME)
        pins = pins_of(descriptor.locator)
        return HttpReader(
            url,
            size=pins.size,
            etag=pins.etag,
            sha256=pins.sha256,
            _fetcher=self.fetcher,
        )

    def close(self) -> None:
        """Close the connections of this process; the next open makes new ones."""
        if self._fetcher is not None:
            self._fetcher.close()

    async def aclose(self) -> None:
        """Close the connections of the running event loop.

        Not needed where the loop is shut down, as `asyncio.run` does.
        """
        if self._fetcher is not None:
            await self._fetcher.aclose()

    def fetcher(self) -> Fetcher:
        """Return what sends requests under this policy; imports httpx on first use."""
        if self._fetcher is None:
            from graphcodec_resolvers._fetch import Fetcher  # noqa: PLC0415

            client = _factory(self._client, self._made_in)
            # Two threads may both make one: either is good.
            self._fetcher = Fetcher(self._policy, self._network, client)
        return self._fetcher

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    def __reduce__(self) -> tuple[object, ...]:
        if self._policy.headers or self._client is not None:
            raise UnencodableValueError(
                "this HttpResolver holds credentials or a client",
                hint="pickle a function that makes it, and call it over there",
            )
        policy = self._policy
        make = partial(
            HttpResolver,
            hosts=policy.hosts,
            schemes=policy.schemes,
            allow_private=policy.allow_private,
            max_bytes=policy.max_bytes,
            timeout=policy.timeout,
        )
        return make, ()

    def __repr__(self) -> str:
        policy = self._policy
        hosts = "public" if policy.hosts is None else sorted(policy.hosts)
        return f"HttpResolver(hosts={hosts}, schemes={sorted(policy.schemes)})"


@cache
def _strict() -> HttpResolver:
    """Return what the readers that were made by hand open with."""
    return HttpResolver()


def _factory(
    client: httpx.Client | Callable[[], httpx.Client] | None, made_in: int
) -> Callable[[], httpx.Client] | None:
    """Return what makes the client of a process; a live one is good for one only."""
    if client is None:
        return None
    if callable(client):
        return lambda: _sending(client())

    def given() -> httpx.Client:
        if made_in == os.getpid() and not client.is_closed:
            return client
        raise HandleError(
            "the client of this HttpResolver is closed, or of another process",
            hint="give HttpResolver a function that makes the client",
        )

    return given


def _sending(made: object) -> httpx.Client:
    if _sends(made):
        return cast("httpx.Client", made)
    msg = f"the function for the client made a {type(made).__name__}, no httpx.Client"
    raise InvalidValueError(msg)


def _sends(client: object) -> bool:
    # One that must be awaited would be asked in vain.
    return hasattr(client, "send") and not hasattr(client, "__aenter__")


def _check(name: str, value: object, test: Check, what: str) -> None:
    if value is not None and not test(value):
        raise InvalidValueError(f"{name}: must be {what}", type_name="HttpReader")


def _origin(url: str) -> str:
    try:
        return origin_of(url)
    except ValueError:
        return ""


# Pickles and tracebacks show the public path of a name.
for _public in (HttpReader, HttpResolver):
    _public.__module__ = "graphcodec_resolvers"
