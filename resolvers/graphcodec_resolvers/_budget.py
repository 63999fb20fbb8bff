"""What one open may take, and how the errors of httpx become ours."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import httpcore
import httpx

from graphcodec.errors import GraphCodecError, HandleError, ResolverDeniedError
from graphcodec_resolvers._network import DEADLINE, ForbiddenAddressError

if TYPE_CHECKING:
    from collections.abc import Generator

    from graphcodec_resolvers._places import Place
    from graphcodec_resolvers._policy import Policy

_ONE_READ: Final = 10.0

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

    def allows(self, seconds: float) -> bool:
        """Say whether there is time to wait so long and then to do something."""
        return self._waited + seconds < self._timeout

    def spend(self, seconds: float) -> None:
        """Count time that is waited on purpose."""
        self._waited += seconds

    def timeouts(self) -> dict[str, float]:
        """Return how long httpcore may wait for each single step."""
        longest = min(_ONE_READ, self._timeout)
        return dict.fromkeys(("connect", "read", "write", "pool"), longest)
