"""GET requests of one resolver, over connections of this process and its loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphcodec._process import PerProcess
from graphcodec_resolvers._budget import translated
from graphcodec_resolvers._chain import Chain
from graphcodec_resolvers._loops import PerLoop
from graphcodec_resolvers._network import Network
from graphcodec_resolvers._senders import (
    AwaitedSender,
    ClientSender,
    OwnSender,
    Sender,
    finish,
    hush,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping

    import httpx

    from graphcodec_resolvers._budget import Budget
    from graphcodec_resolvers._places import Place
    from graphcodec_resolvers._policy import Policy
    from graphcodec_resolvers._senders import Answer


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
        hush()
        self.policy = policy
        self._network = network or Network()
        self._client = client
        self._blocking = PerProcess[Sender](self._connect)
        self._awaited = PerLoop[Sender](self._keep)

    @property
    def awaits(self) -> bool:
        """Whether requests can be awaited; the application's client blocks."""
        return self._client is None

    def _connect(self) -> Sender:
        if self._client is None:
            return OwnSender(self._network, self.policy)
        return ClientSender(self._client(), self._network, self.policy)

    async def _keep(self) -> AsyncGenerator[Sender]:
        sender = AwaitedSender(self._network, self.policy)
        try:
            yield sender
        finally:
            await sender.close()

    def close(self) -> None:
        """Close the connections of this process; the next request makes new ones."""
        sender = self._blocking.take()
        if sender is not None:
            finish(sender.close())

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        await self._awaited.close()

    async def get(
        self,
        url: str,
        fields: Mapping[str, str],
        budget: Budget,
        place: Place,
        *,
        awaited: bool,
    ) -> Answer:
        """Return the last answer of a chain of redirects, with its body unread.

        Args:
            url: Where to begin.
            fields: The headers of the request.
            budget: What the request may take.
            place: The URL as errors may show it.
            awaited: Whether the running event loop does other things meanwhile.

        Raises:
            ResolverDeniedError: If the policy forbids a URL of the chain.
            HandleError: If there is no answer.
        """
        with translated(place):
            sender = await self._awaited.get() if awaited else self._blocking.get()
            chain = Chain(
                sender=sender,
                policy=self.policy,
                fields=fields,
                budget=budget,
                place=place,
            )
            return await chain.answer(url)
