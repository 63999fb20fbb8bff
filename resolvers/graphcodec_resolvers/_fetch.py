"""GET requests under a policy: hops, retries, deadlines, and errors of ours."""

from __future__ import annotations

import re
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

import httpcore
import httpx

from graphcodec._process import PerProcess
from graphcodec.errors import GraphCodecError, HandleError, ResolverDeniedError
from graphcodec_resolvers._network import (
    DEADLINE,
    ForbiddenAddressError,
    Network,
    VettedTransport,
    vetted_addresses,
)
from graphcodec_resolvers._urls import MAX_URL, origin_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from graphcodec_resolvers._places import Place
    from graphcodec_resolvers._policy import Policy

_MAX_HOPS: Final = 3
_ATTEMPTS: Final = 3
_BACKOFF: Final = 0.2
_LONGEST_WAIT: Final = 5.0
_ONE_READ: Final = 10.0

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_BUSY: Final = frozenset({429, 500, 502, 503, 504})
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_.-])?|[0-9a-f:.]+")

TIMEOUTS: Final = (httpx.TimeoutException, httpcore.TimeoutException)
"""Nothing came in time."""

BROKEN: Final = (
    httpx.NetworkError,
    httpx.RemoteProtocolError,
    httpcore.NetworkError,
    httpcore.RemoteProtocolError,
)
"""A connection could not be made or was cut: worth another try."""

_FOREIGN: Final = (
    httpx.HTTPError,
    httpx.InvalidURL,
    httpx.StreamError,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
    httpcore.ConnectionNotAvailable,
)


@contextmanager
def translated(place: Place) -> Generator[None]:
    """Turn what httpx and httpcore raise inside into errors of ours.

    Their texts show URLs and headers, so nothing of them is kept but the name.

    Args:
        place: Where the request goes.
    """
    try:
        yield
    except GraphCodecError:
        raise
    except ForbiddenAddressError:
        reason = "the host has an address that is not public"
        hint = "HttpResolver(allow_private=True) opens what an intranet serves"
        raise place.error(ResolverDeniedError, reason, hint=hint) from None
    except TIMEOUTS as exc:
        reason = f"the server did not answer in time ({type(exc).__name__})"
        raise place.error(HandleError, reason) from None
    except _FOREIGN as exc:
        reason = f"the connection failed ({type(exc).__name__})"
        raise place.error(HandleError, reason) from None


class Budget:
    """What one open or range may still take: bytes, and time spent waiting.

    Only waiting for the network counts. A caller that takes its time between two
    reads uses nothing up; a server that drips bytes does.

    Args:
        policy: Says how much there is.
        place: Where the bytes come from, for errors.
    """

    def __init__(self, policy: Policy, place: Place) -> None:
        self._place = place
        self._max_bytes = policy.max_bytes
        self._bytes = 0
        self._timeout = policy.timeout
        self._waited = 0.0

    @contextmanager
    def waiting(self) -> Generator[None]:
        """Count the time inside, and raise after it if there is none left."""
        began = time.monotonic()
        token = DEADLINE.set(began + self._timeout - self._waited)
        try:
            yield
        except TIMEOUTS:
            self._waited += time.monotonic() - began
            self.check()
            raise
        finally:
            DEADLINE.reset(token)
        self._waited += time.monotonic() - began
        self.check()

    def check(self) -> None:
        """Raise if the time is up."""
        if self._waited >= self._timeout:
            raise self._place.error(
                HandleError,
                f"it took longer than the {self._timeout:g} seconds allowed",
                hint="HttpResolver(timeout=...) sets how long",
                limit="timeout",
                value=self._timeout,
            )

    def receive(self, count: int) -> None:
        """Count received bytes, and raise if they are too many."""
        self._bytes += count
        if self._bytes > self._max_bytes:
            raise self._place.error(
                ResolverDeniedError,
                f"the server sent more than the {self._max_bytes} bytes allowed",
                hint="HttpResolver(max_bytes=...) sets how many",
                limit="max_bytes",
                value=self._max_bytes,
            )

    def pause(self, seconds: float) -> float:
        """Use up and return *seconds*, or what time is left if that is less."""
        seconds = min(seconds, max(0.0, self._timeout - self._waited))
        self._waited += seconds
        return seconds

    def timeouts(self) -> dict[str, float]:
        """Return how long httpcore may wait for each single step."""
        longest = min(_ONE_READ, self._timeout)
        return dict.fromkeys(("connect", "read", "write", "pool"), longest)


class Sender(Protocol):
    """Sends one request; follows nothing, adds nothing."""

    def send(self, request: httpx.Request, /) -> httpx.Response:
        """Return the response, with its body still unread."""
        ...

    def close(self) -> None:
        """Let go of connections that are ours."""
        ...


class _OwnSender:
    """Sends over connections that were vetted, and logs nothing."""

    def __init__(self, network: Network, policy: Policy) -> None:
        self._transport = VettedTransport(network, allow_private=policy.allow_private)

    def send(self, request: httpx.Request, /) -> httpx.Response:
        return self._transport.handle_request(request)

    def close(self) -> None:
        self._transport.close()


class _ClientSender:
    """Sends with a client of the application's.

    The client connects by itself, so it is given the address that was checked instead
    of the name. A connection made for one name must not serve another one at the same
    address, whose certificate was never looked at: none is kept.
    """

    def __init__(self, client: httpx.Client, network: Network, policy: Policy) -> None:
        self._client = client
        self._network = network
        self._allow_private = policy.allow_private

    def send(self, request: httpx.Request, /) -> httpx.Response:
        if not self._allow_private:
            request = self._addressed(request)
        # The headers, cookies and credentials of the client are not for any server.
        return self._client.send(
            request, stream=True, auth=None, follow_redirects=False
        )

    def _addressed(self, request: httpx.Request) -> httpx.Request:
        url = request.url
        host, port = url.raw_host.decode("ascii"), _port(url)
        address = vetted_addresses(self._network, host, port, allow_private=False)[0]
        headers = httpx.Headers(request.headers)
        headers["Connection"] = "close"
        extensions = {**request.extensions, "sni_hostname": host}
        return httpx.Request(
            "GET", url.copy_with(host=address), headers=headers, extensions=extensions
        )

    def close(self) -> None:
        """Do nothing: the client is the application's."""


class Fetcher:
    """Sends GET requests as the policy of one resolver allows.

    Args:
        policy: The rules.
        network: What reaches the outside.
        client: Makes the client to use, in each process; None for our own.
    """

    def __init__(
        self,
        policy: Policy,
        network: Network | None = None,
        client: Callable[[], httpx.Client] | None = None,
    ) -> None:
        self.policy = policy
        self._network = network or Network()
        self._client = client
        self._sender = PerProcess(self._connect)

    def _connect(self) -> Sender:
        if self._client is None:
            return _OwnSender(self._network, self.policy)
        return _ClientSender(self._client(), self._network, self.policy)

    def close(self) -> None:
        """Close the connections of this process; the next request makes new ones."""
        sender = self._sender.take()
        if sender is not None:
            sender.close()

    def get(
        self, url: str, fields: Mapping[str, str], budget: Budget, place: Place
    ) -> httpx.Response:
        """Return the last response of a chain of redirects, with its body unread.

        Args:
            url: Where to begin.
            fields: The headers of the request.
            budget: What the request may take.
            place: The URL as errors may show it.

        Raises:
            ResolverDeniedError: If the policy forbids a URL of the chain.
            HandleError: If there is no response.
        """
        with translated(place):
            first = self._checked(url, place)
            for attempt in range(_ATTEMPTS - 1):
                try:
                    response = self._follow(first, fields, budget, place)
                except BROKEN:
                    wait = None
                else:
                    if response.status_code not in _BUSY:
                        return response
                    wait = _retry_after(response)
                    response.close()
                pause = _BACKOFF * 2**attempt if wait is None else wait
                self._network.sleep(budget.pause(min(pause, _LONGEST_WAIT)))
                budget.check()
            return self._follow(first, fields, budget, place)

    def _follow(
        self, url: httpx.URL, fields: Mapping[str, str], budget: Budget, place: Place
    ) -> httpx.Response:
        for _ in range(_MAX_HOPS + 1):
            response = self._send(url, fields, budget)
            if response.status_code not in _REDIRECTS:
                return response
            location = response.headers.get("location", "")
            response.close()
            url = self._hop(url, location, place)
        reason = f"there are more than {_MAX_HOPS} redirects"
        raise place.error(ResolverDeniedError, reason)

    def _send(
        self, url: httpx.URL, fields: Mapping[str, str], budget: Budget
    ) -> httpx.Response:
        headers = httpx.Headers({"Accept": "*/*", "User-Agent": "graphcodec"})
        headers.update(self.policy.headers.get(origin_of(str(url)), {}))
        headers.update({"Accept-Encoding": "identity", **fields})
        extensions = {"timeout": budget.timeouts()}
        request = httpx.Request("GET", url, headers=headers, extensions=extensions)
        with budget.waiting():
            return self._sender.get().send(request)

    def _hop(self, url: httpx.URL, location: str, place: Place) -> httpx.URL:
        try:
            target = str(url.join(location))
        except (httpx.InvalidURL, ValueError):
            target = ""
        following = self._checked(target, place, what="a redirect leads to")
        if url.scheme == "https" and following.scheme != "https":
            reason = "a redirect leads from https to http"
            raise place.error(ResolverDeniedError, reason)
        return following

    def _checked(self, text: str, place: Place, what: str = "this is") -> httpx.URL:
        try:
            url = httpx.URL(text if len(text) <= MAX_URL else "")
            problem = _problem(url, self.policy)
        except (httpx.InvalidURL, ValueError):
            problem = "something that is not a URL"
        else:
            if problem is None:
                return url
        raise place.error(ResolverDeniedError, f"{what} {problem}")


def _problem(url: httpx.URL, policy: Policy) -> str | None:
    """Say why a URL may not be asked for; whether its address may be, is seen later."""
    if url.scheme not in policy.schemes:
        return f"a URL whose scheme is none of {', '.join(sorted(policy.schemes))}"
    if url.userinfo:
        return "a URL with a user name or password, which belong in headers="
    host = url.raw_host.decode("ascii")
    if not _HOST.fullmatch(host):
        return "a URL without a proper host"
    if not policy.allows_host(host):
        return "a URL whose host is not among those allowed"
    return None if 0 < _port(url) < 1 << 16 else "a URL whose port is out of range"


def _port(url: httpx.URL) -> int:
    if url.port is not None:
        return url.port
    return 443 if url.scheme == "https" else 80


def _retry_after(response: httpx.Response) -> float | None:
    text = response.headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() else None
