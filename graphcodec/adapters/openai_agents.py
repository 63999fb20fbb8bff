"""Sessions of OpenAI's Agents SDK, kept in Redis.

The SDK gives each run a session, from which it takes the history and to which it adds
what became of the run. This one keeps it in a `graphcodec.cache.AsyncTurnCache`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from graphcodec._cache._arguments import invalid
from graphcodec._extras import from_extra

with from_extra("openai-agents", "sessions need openai-agents"):
    from agents.memory import SessionSettings

from graphcodec.cache import AsyncTurnCache
from graphcodec.errors import ConflictError, SnapshotNotFoundError

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

__all__ = ["Session"]

T = TypeVar("T")

_HISTORY: Final[type[list[Any]]] = list
_MOST_ATTEMPTS: Final = 100
"""How often a change is made again. Each time, somebody else's went through."""


class Session:
    """Keeps the history of a conversation: the ``session`` of ``Runner.run``.

    Each change is a turn of the cache, so a long history costs what is new in it, and
    earlier ones can still be loaded. Items come back as they were given. Any number of
    sessions of one id, in any number of processes, may change it at once: no change
    undoes another.

    Errors of Redis are raised as redis-py raises them. Errors of the cache, such as
    `UndecodableValueError` for a history that was damaged, come from every method.

    Args:
        session_id: Any text: the session of the cache.
        cache: Where it is kept.
        session_settings: The SDK's settings: how many items a run is given.

    Attributes:
        session_id: The session of the cache.
        session_settings: The settings.

    Raises:
        InvalidValueError: If an argument can't be used.
    """

    session_id: str
    session_settings: SessionSettings | None

    def __init__(
        self,
        session_id: str,
        cache: AsyncTurnCache,
        *,
        session_settings: SessionSettings | None = None,
    ) -> None:
        if not isinstance(session_id, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise invalid("session_id", "text", session_id)
        if not isinstance(cache, AsyncTurnCache):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise invalid("cache", "an AsyncTurnCache", cache)
        self.session_id = session_id
        self.session_settings = session_settings
        self._cache = cache

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.session_id!r}, {self._cache!r})"

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items of the history, oldest first.

        Args:
            limit: How many of the newest; if it is left out, what the settings say, and
                without that, all.
        """
        try:
            items = await self._load(None)
        except SnapshotNotFoundError:
            return []
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        return items if limit is None else items[max(len(items) - max(limit, 0), 0) :]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items to the end of the history: all of them, or none.

        Args:
            items: The items, as dicts.

        Raises:
            UnencodableValueError: If one has no wire form; says what and where.
            LimitExceededError: If the history breaks a limit of the cache's codec.
            ConflictError: If others change the session as often as this tries to.
        """
        if items:
            await self._change(lambda history: history.extend(items))

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the newest item away, and return it; None if there is none.

        Raises:
            ConflictError: If others change the session as often as this tries to.
        """
        return await self._change(lambda history: history.pop() if history else None)

    async def clear_session(self) -> None:
        """Take all items away, and free them, earlier turns included.

        An empty turn stays, by which a change that began before is known to be late.

        Raises:
            ConflictError: If others change the session as often as this tries to.
        """
        await self._change(list[Any].clear)
        await self._cache.prune(self.session_id, keep=1)

    async def _load(self, turn: int | None) -> list[TResponseInputItem]:
        return await self._cache.load(self.session_id, turn, cls=_HISTORY)

    async def _change(self, change: Callable[[list[TResponseInputItem]], T]) -> T:
        """Save the history as a new turn, changed; return what the change returns."""
        for _ in range(_MOST_ATTEMPTS):
            # Before the history: what is saved after this line is a conflict.
            version = await self._cache.version(self.session_id)
            turns = await self._cache.turns(self.session_id)
            last = turns[-1] if turns else 0
            try:
                history = await self._load(last) if turns else []
            except SnapshotNotFoundError:
                continue
            before = len(history)
            result = change(history)
            if len(history) == before:
                return result
            if await self._saved(last + 1, history, version):
                return result
        msg = f"the session {self.session_id!r:.60} was changed by others each time"
        hint = (
            f"this was tried {_MOST_ATTEMPTS} times; try again, or with fewer writers"
        )
        raise ConflictError(msg, hint=hint)

    async def _saved(
        self, turn: int, history: list[TResponseInputItem], version: int
    ) -> bool:
        """Save a turn unless something else was saved since; say whether it was."""
        saving = self._cache.save(self.session_id, turn, history, expected=version)
        try:
            saved = await saving
        except ConflictError:
            return False
        if saved.version == version + 1:
            return True
        # Version 0 is also expected of a session of which this turn was pruned since.
        await self._cache.delete(self.session_id, turn)
        return False
