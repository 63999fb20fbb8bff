"""One GET under a policy: new tries, redirects, and what is sent to whom."""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final

import httpx
from attrs import frozen

from graphcodec.errors import ResolverDeniedError
from graphcodec_resolvers._budget import BROKEN
from graphcodec_resolvers._urls import MAX_URL, origin_of, port_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphcodec_resolvers._budget import Budget
    from graphcodec_resolvers._places import Place
    from graphcodec_resolvers._policy import Policy
    from graphcodec_resolvers._senders import Answer, Sender

_MAX_HOPS: Final = 3
_ATTEMPTS: Final = 3
_BACKOFF: Final = 0.4

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_BUSY: Final = frozenset({429, 500, 502, 503, 504})
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_.-])?|[0-9a-f:.]+")


@frozen(kw_only=True)
class Chain:
    """Asks until there is an answer, wherever that leads.

    Attributes:
        sender: Sends.
        policy: The rules, for each URL anew.
        fields: The headers of the request.
        budget: What all of it may take.
        place: The first URL, as errors may show it.
    """

    sender: Sender
    policy: Policy
    fields: Mapping[str, str]
    budget: Budget
    place: Place

    async def answer(self, url: str) -> Answer:
        """Return the last answer, with its body unread.

        Args:
            url: Where to begin.

        Raises:
            ResolverDeniedError: If the policy forbids a URL of the chain.
        """
        first = self._checked(url)
        for attempt in range(_ATTEMPTS - 1):
            # A random wait, so that those who were sent away do not return together.
            wait = random.uniform(0, _BACKOFF * 2**attempt)  # noqa: S311 - no secret
            try:
                answer = await self._followed(first)
            except BROKEN:
                pass
            else:
                wait = _retry_after(answer.headers) or wait
                if answer.status not in _BUSY or not self.budget.allows(wait):
                    return answer
                await answer.close()
            self.budget.spend(wait)
            self.budget.check()
            await self.sender.sleep(wait)
        return await self._followed(first)

    async def _followed(self, url: httpx.URL) -> Answer:
        for _ in range(_MAX_HOPS + 1):
            answer = await self._sent(url)
            if answer.status not in _REDIRECTS:
                return answer
            location = answer.headers.get("location", "")
            await answer.close()
            url = self._hop(url, location)
        reason = f"there are more than {_MAX_HOPS} redirects"
        raise self.place.error(ResolverDeniedError, reason)

    async def _sent(self, url: httpx.URL) -> Answer:
        headers = httpx.Headers({"Accept": "*/*", "User-Agent": "graphcodec"})
        headers.update(self.policy.headers.get(origin_of(str(url)), {}))
        headers.update({"Accept-Encoding": "identity", **self.fields})
        extensions = {"timeout": self.budget.timeouts()}
        request = httpx.Request("GET", url, headers=headers, extensions=extensions)
        with self.budget.waiting():
            return await self.sender.send(request)

    def _hop(self, url: httpx.URL, location: str) -> httpx.URL:
        try:
            target = str(url.join(location))
        except (httpx.InvalidURL, ValueError):
            target = ""
        following = self._checked(target, what="a redirect leads to")
        if url.scheme == "https" and following.scheme != "https":
            reason = "a redirect leads from https to http"
            raise self.place.error(ResolverDeniedError, reason)
        return following

    def _checked(self, text: str, what: str = "this is") -> httpx.URL:
        try:
            url = httpx.URL(text if len(text) <= MAX_URL else "")
            problem = _problem(url, self.policy)
        except (httpx.InvalidURL, ValueError):
            problem = "something that is not a URL"
        else:
            if problem is None:
                return url
        raise self.place.error(ResolverDeniedError, f"{what} {problem}")


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
    return None if 0 < port_of(url) < 1 << 16 else "a URL whose port is out of range"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return how many seconds the server wants to be left alone, if it says."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        when = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if when.tzinfo is None:
        return None
    return max(0.0, (when - datetime.now(UTC)).total_seconds())
