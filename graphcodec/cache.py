"""Snapshots of sessions in Redis, of which each save sends only what is new.

Redis 6.2 or newer, or Valkey, through a client of redis-py: the extra ``redis``.
"""

from __future__ import annotations

from datetime import timedelta
from types import UnionType
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

from attrs import define

from graphcodec._cache._clients import Client, check_client
from graphcodec._cache._differing import Change
from graphcodec._cache._plans import Plans
from graphcodec._cache._results import Freed, Saved, Session
from graphcodec._loggers import logger
from graphcodec.codec import Codec
from graphcodec.errors import (
    GraphCodecError,
    InvalidValueError,
    SnapshotNotFoundError,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from graphcodec._cache._plans import Plan

__all__ = [
    "AsyncTurnCache",
    "Change",
    "Counters",
    "Freed",
    "Saved",
    "Session",
    "TurnCache",
]

T = TypeVar("T")

_LOG: Final = logger("cache")

_KEYS: Final[dict[str, Any]] = {"count": 1_000, "_type": "hash"}
"""How to look for keys: a thousand in one step, and no others than can be ours."""


@define
class Counters:
    """How often `TurnCache.get` found what it was asked for.

    Attributes:
        hits: It did.
        misses: It did not, for whatever reason.
        undecodable: There was something, which could not be read: also a miss.
    """

    hits: int = 0
    misses: int = 0
    undecodable: int = 0

    def hit(self) -> None:
        """Count a hit."""
        self.hits += 1

    def miss(self, session_id: str, turn: int | None, error: GraphCodecError) -> None:
        """Count a miss, and log it.

        Args:
            session_id: The session.
            turn: The turn, None for the newest.
            error: Why it is one.
        """
        self.misses += 1
        if isinstance(error, SnapshotNotFoundError):
            _LOG.debug("miss: %s", error)
            return
        self.undecodable += 1
        which = "newest turn" if turn is None else f"turn {turn}"
        _LOG.warning(
            "the %s of the session %.60r can't be read: %s: %s",
            which,
            session_id,
            error.code,
            error,
        )


class _Face:
    """What both caches are made of.

    Attributes:
        counters: How often `get` found something.
    """

    def __init__(
        self,
        redis: Any,
        *,
        codec: Codec | None = None,
        namespace: str = "graphcodec",
        ttl: float | timedelta | None = None,
    ) -> None:
        is_async = isinstance(self, AsyncTurnCache)
        other = "TurnCache" if is_async else "AsyncTurnCache"
        check_client(redis, "a cache", is_async=is_async, hint=f"give it to {other}")
        self._redis = redis
        self._client = Client(redis)
        self._plans = Plans(codec, namespace, ttl)
        self._namespace = namespace
        self.counters: Counters = Counters()

    def __repr__(self) -> str:
        # The client's own repr may tell its password.
        return f"{type(self).__name__}(namespace={self._namespace!r})"


class TurnCache(_Face):
    """Keeps the snapshots of sessions in Redis.

    A snapshot is a graph as it was at the end of a turn. A save stores what is new in
    it, so a conversation that grows costs its growth and not its length.

    It may be used from several threads. Errors of Redis, such as a lost connection, are
    raised as redis-py raises them.

    Args:
        redis: A client: ``redis.Redis``, or ``redis.cluster.RedisCluster``.
        codec: What writes and reads. Classes that it can't read are not written.
        namespace: What the keys begin with.
        ttl: How many seconds a session stays after it was last saved, or a timedelta;
            for ever if it is left out.

    Attributes:
        counters: How often `get` found what it was asked for.

    Raises:
        InvalidValueError: If an argument can't be used.
    """

    def _run(self, plan: Plan[T]) -> T:
        answer: Any = None
        while True:
            try:
                asked = plan.send(answer)
            except StopIteration as done:
                result: T = done.value
                return result
            answer = self._client.ask(asked)

    def save(
        self,
        session_id: str,
        turn: int,
        snapshot: object,
        *,
        expected: int | None = None,
    ) -> Saved:
        """Store a graph as the state of a session at a turn.

        Either all of it is stored or nothing: what was there before stays readable
        until then, and if the save fails.

        Args:
            session_id: Any text.
            turn: A number from 0; one that is there is replaced.
            snapshot: The graph.
            expected: The version that the turn must have, or the session if nobody may
                have saved anything since; 0 if there must be no such turn.

        Raises:
            ConflictError: If there is another version than the expected one.
            UnencodableValueError: If the graph can't be written, or not be read again.
            LimitExceededError: If it breaks a limit of the codec.
            StorageError: If something deletes chunks as fast as they are stored.
        """
        return self._run(self._plans.save(session_id, turn, snapshot, expected))

    @overload
    def load(self, session_id: str, turn: int | None = None) -> object: ...
    @overload
    def load(self, session_id: str, turn: int | None = None, *, cls: type[T]) -> T: ...
    @overload
    def load(
        self, session_id: str, turn: int | None = None, *, cls: UnionType
    ) -> Any: ...
    def load(
        self, session_id: str, turn: int | None = None, *, cls: Any = object
    ) -> Any:
        """Return the graph that was saved.

        Args:
            session_id: The session.
            turn: The turn; the one with the highest number if it is left out.
            cls: What must come out: see `Codec.decode`.

        Raises:
            SnapshotNotFoundError: If there is none.
            UndecodableValueError: If it was damaged, or is not what it should be; and
                what else `Codec.decode` raises.
        """
        return self._run(self._plans.load(session_id, turn, cls))

    def get(
        self, session_id: str, turn: int | None = None, default: object = None
    ) -> Any:
        """Return the graph that was saved, or a default.

        What can't be read counts as a miss, is counted in `counters` and logged to
        ``graphcodec.cache``. Errors of Redis are raised all the same.

        Args:
            session_id: The session.
            turn: The turn; the one with the highest number if it is left out.
            default: What a miss gives.
        """
        plan = self._plans.load(session_id, turn, object)
        try:
            found = self._run(plan)
        except InvalidValueError:
            raise
        except GraphCodecError as exc:
            self.counters.miss(session_id, turn, exc)
            return default
        self.counters.hit()
        return found

    def turns(self, session_id: str) -> list[int]:
        """Return the numbers of the turns of a session, in order.

        Args:
            session_id: The session; one that is not there has no turns.
        """
        return self._run(self._plans.turns(session_id))

    def version(self, session_id: str) -> int:
        """Return the version of the newest save of a session, 0 if there is none.

        Asked for before a load, it is what to expect in the save that follows.

        Args:
            session_id: The session.
        """
        return self._run(self._plans.version(session_id))

    def delete(self, session_id: str, turn: int | None = None) -> bool:
        """Delete a session, or one turn; say whether it was there.

        What only that turn needed is freed by `gc`.

        Args:
            session_id: The session.
            turn: The turn; if it is left out, the whole session.
        """
        return self._run(self._plans.delete(session_id, turn))

    def prune(self, session_id: str, *, keep: int) -> Freed:
        """Delete all turns but the last ones, and free what only they needed.

        Args:
            session_id: The session.
            keep: How many turns stay: those with the highest numbers.
        """
        return self._run(self._plans.sweep(session_id, keep))

    def gc(self, session_id: str) -> Freed:
        """Free what no turn needs: what deleted, replaced or failed saves left.

        One step for everybody else, however long it takes, and safe beside saves.

        Args:
            session_id: The session.
        """
        return self._run(self._plans.sweep(session_id, None))

    def fork(self, session_id: str, turn: int, new_session_id: str) -> int:
        """Copy a session up to a turn into a new session; return how many turns.

        The two share nothing from then on.

        Args:
            session_id: The session.
            turn: The last turn that is copied.
            new_session_id: The new session.

        Raises:
            SnapshotNotFoundError: If there is no such turn.
            ConflictError: If the new session is there already.
        """
        return self._run(self._plans.fork(session_id, turn, new_session_id))

    def diff(self, session_id: str, a: int, b: int) -> tuple[Change, ...]:
        """Return where one turn differs from another, in the order of the document.

        Nothing is decoded. What has one address in both is not looked at.

        Args:
            session_id: The session.
            a: A turn.
            b: Another one.

        Raises:
            SnapshotNotFoundError: If one of them is not there.
            UndecodableValueError: If one of them was damaged.
        """
        return self._run(self._plans.diff(session_id, a, b))

    def document(self, session_id: str, turn: int | None = None) -> bytes:
        """Return a snapshot as one document, without decoding it.

        Args:
            session_id: The session.
            turn: The turn; the one with the highest number if it is left out.

        Raises:
            SnapshotNotFoundError: If there is none.
            UndecodableValueError: If it was damaged.
        """
        return self._run(self._plans.document(session_id, turn))

    def sessions(self) -> Iterator[Session]:
        """Yield what is stored of each session in the namespace, in no order.

        For looking around: it goes through all keys of the server.
        """
        scan: Any = self._redis
        for key in scan.scan_iter(**_KEYS, match=self._plans.pattern):
            found = self._run(self._plans.survey(_text(key)))
            if found is not None:
                yield found


class AsyncTurnCache(_Face):
    """Keeps the snapshots of sessions in Redis, for code with async and await.

    The same as `TurnCache`, with a client of ``redis.asyncio``. Encoding and decoding
    run in the event loop.

    Args:
        redis: A client: ``redis.asyncio.Redis``, or ``redis.asyncio.RedisCluster``.
        codec: See `TurnCache`.
        namespace: See `TurnCache`.
        ttl: See `TurnCache`.

    Attributes:
        counters: How often `get` found what it was asked for.
    """

    async def _run(self, plan: Plan[T]) -> T:
        answer: Any = None
        while True:
            try:
                asked = plan.send(answer)
            except StopIteration as done:
                result: T = done.value
                return result
            answer = await self._client.ask_async(asked)

    async def save(
        self,
        session_id: str,
        turn: int,
        snapshot: object,
        *,
        expected: int | None = None,
    ) -> Saved:
        """Store a graph as the state of a session at a turn: see `TurnCache.save`."""
        return await self._run(self._plans.save(session_id, turn, snapshot, expected))

    @overload
    async def load(self, session_id: str, turn: int | None = None) -> object: ...
    @overload
    async def load(
        self, session_id: str, turn: int | None = None, *, cls: type[T]
    ) -> T: ...
    @overload
    async def load(
        self, session_id: str, turn: int | None = None, *, cls: UnionType
    ) -> Any: ...
    async def load(
        self, session_id: str, turn: int | None = None, *, cls: Any = object
    ) -> Any:
        """Return the graph that was saved: see `TurnCache.load`."""
        return await self._run(self._plans.load(session_id, turn, cls))

    async def get(
        self, session_id: str, turn: int | None = None, default: object = None
    ) -> Any:
        """Return the graph that was saved, or a default: see `TurnCache.get`."""
        plan = self._plans.load(session_id, turn, object)
        try:
            found = await self._run(plan)
        except InvalidValueError:
            raise
        except GraphCodecError as exc:
            self.counters.miss(session_id, turn, exc)
            return default
        self.counters.hit()
        return found

    async def turns(self, session_id: str) -> list[int]:
        """Return the numbers of the turns of a session, in order."""
        return await self._run(self._plans.turns(session_id))

    async def version(self, session_id: str) -> int:
        """Return the version of the newest save: see `TurnCache.version`."""
        return await self._run(self._plans.version(session_id))

    async def delete(self, session_id: str, turn: int | None = None) -> bool:
        """Delete a session, or one turn: see `TurnCache.delete`."""
        return await self._run(self._plans.delete(session_id, turn))

    async def prune(self, session_id: str, *, keep: int) -> Freed:
        """Delete all turns but the last ones: see `TurnCache.prune`."""
        return await self._run(self._plans.sweep(session_id, keep))

    async def gc(self, session_id: str) -> Freed:
        """Free what no turn needs: see `TurnCache.gc`."""
        return await self._run(self._plans.sweep(session_id, None))

    async def fork(self, session_id: str, turn: int, new_session_id: str) -> int:
        """Copy a session up to a turn into a new session: see `TurnCache.fork`."""
        return await self._run(self._plans.fork(session_id, turn, new_session_id))

    async def diff(self, session_id: str, a: int, b: int) -> tuple[Change, ...]:
        """Return where one turn differs from another: see `TurnCache.diff`."""
        return await self._run(self._plans.diff(session_id, a, b))

    async def document(self, session_id: str, turn: int | None = None) -> bytes:
        """Return a snapshot without decoding it: see `TurnCache.document`."""
        return await self._run(self._plans.document(session_id, turn))

    async def sessions(self) -> AsyncIterator[Session]:
        """Yield what is stored of each session: see `TurnCache.sessions`."""
        scan: Any = self._redis
        async for key in scan.scan_iter(**_KEYS, match=self._plans.pattern):
            found = await self._run(self._plans.survey(_text(key)))
            if found is not None:
                yield found


def _text(key: bytes | str) -> str:
    return key if isinstance(key, str) else key.decode()
