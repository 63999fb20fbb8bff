"""What a session remembers: the latest record of each tier, and how it is kept.

Each memory record is appended to the log of the session, where it stays, and copied to
where it is found quickly. The log decides: a copy that is missing, stale or broken is
made anew from it.
"""

from __future__ import annotations

import threading
from collections.abc import MutableMapping, Sequence
from enum import StrEnum
from typing import Final, Self, cast

from graphcodec._loggers import logger
from graphcodec.errors import ConflictError, InvalidValueError
from graphcodec.log._documents import DocumentStore
from graphcodec.log._json import from_json, to_json
from graphcodec.log._ledger import TokenLedger
from graphcodec.log._reading import entry_of
from graphcodec.log._records import (
    MemoryFact,
    Observation,
    ObservationEntry,
    Reflection,
    ReflectionEntry,
    SessionMemory,
    SessionRecord,
    WorkingMemory,
)
from graphcodec.log._session import document_of
from graphcodec.primitives._checks import excerpt

__all__ = [
    "MemoryCoordinator",
    "MemoryHierarchy",
    "MemoryRecord",
    "MemoryStore",
    "MemoryTier",
    "audit_key",
    "memory_key",
]

_LOGGER: Final = logger("log")

MemoryRecord = WorkingMemory | Observation | Reflection


class MemoryTier(StrEnum):
    """How far back a memory reaches."""

    WORKING = "working"
    OBSERVATION = "observation"
    REFLECTION = "reflection"

    @classmethod
    def of(cls, record: SessionRecord) -> Self | None:
        """Return the tier of a record, None if it is no memory.

        Args:
            record: The record.
        """
        name = _TIERS.get(type(record))
        return None if name is None else cls(name)


_TIERS: Final[dict[type, str]] = {
    WorkingMemory: "working",
    Observation: "observation",
    Reflection: "reflection",
}


def memory_key(session_id: str) -> str:
    """Return the key of the copies: ``memory:{session_id}``.

    Args:
        session_id: The session.
    """
    return f"memory:{session_id}"


def audit_key(session_id: str) -> str:
    """Return the collection in which the first logs kept memories apart.

    Args:
        session_id: The session.
    """
    return f"session:{session_id}"


class MemoryStore:
    """Keeps the latest memory of each tier, as JSON under one key for each session.

    Args:
        values: Where the JSON is kept; by default in the memory of this process.
    """

    def __init__(self, values: MutableMapping[str, str] | None = None) -> None:
        self._values: MutableMapping[str, str] = {} if values is None else values
        # Two tiers that are set at once share a key.
        self._lock = threading.Lock()

    def hydrate(self, session_id: str) -> SessionMemory:
        """Return what is remembered of a session.

        Args:
            session_id: The session.

        Raises:
            JsonError: If what is kept can't be read.
        """
        text = self._values.get(memory_key(session_id))
        return SessionMemory() if text is None else from_json(text, SessionMemory)

    def get(self, session_id: str, tier: MemoryTier) -> MemoryRecord | None:
        """Return the latest memory of a tier, None if there is none.

        Args:
            session_id: The session.
            tier: The tier.

        Raises:
            JsonError: If what is kept can't be read.
        """
        found: MemoryRecord | None = getattr(self.hydrate(session_id), tier.value)
        return found

    def set(self, session_id: str, record: MemoryRecord) -> None:
        """Keep a memory in place of the one of its tier.

        Args:
            session_id: The session.
            record: The memory.

        Raises:
            InvalidValueError: If it is no memory.
            JsonError: If what is kept can't be read.
        """
        tier = _tier_of(record)
        with self._lock:
            memory = self.hydrate(session_id).replace(**{tier.value: record})
            self._values[memory_key(session_id)] = to_json(memory)

    def replace(self, session_id: str, memory: SessionMemory) -> None:
        """Keep these memories in place of all others.

        Args:
            session_id: The session.
            memory: The memories.
        """
        with self._lock:
            self._values[memory_key(session_id)] = to_json(memory)

    def clear(self, session_id: str) -> None:
        """Forget a session.

        Args:
            session_id: The session.
        """
        with self._lock:
            self._values.pop(memory_key(session_id), None)


def _tier_of(record: SessionRecord) -> MemoryTier:
    tier = MemoryTier.of(record)
    if tier is None:
        msg = f"a {excerpt(record)} is no memory record"
        hint = "memories are WorkingMemory, Observation and Reflection"
        raise InvalidValueError(msg, hint=hint)
    return tier


class MemoryCoordinator:
    """Writes memories to the log and to where they are found quickly.

    The audit is the log of the session, so `SessionLog.all` shows what is written here,
    and memories that are appended there are found here. Memories that the first logs
    kept in a collection of their own are found too.

    Args:
        memory: Where the latest copies are.
        audit: The store of the log.
    """

    def __init__(self, memory: MemoryStore, audit: DocumentStore) -> None:
        self._memory = memory
        self._audit = audit
        self._lock = threading.RLock()

    def record(self, session_id: str, record: MemoryRecord) -> None:
        """Append a memory to the log, and keep it as the latest of its tier.

        A copy that can't be written is logged and made anew by the next `hydrate`.

        Args:
            session_id: The session.
            record: The memory.

        Raises:
            InvalidValueError: If it is no memory; nothing is written then.
            ConflictError: If it is a working memory whose version is not above the
                latest one's.
            StorageError: If the log could not be written.
        """
        tier = _tier_of(record)
        with self._lock:
            self._write(session_id, record)
            try:
                self._memory.set(session_id, record)
            except Exception as exc:  # noqa: BLE001 - a mapping may be anybody's
                _LOGGER.warning("the copy of a %s memory was not kept: %s", tier, exc)

    def _write(self, session_id: str, record: MemoryRecord) -> None:
        if isinstance(record, WorkingMemory):
            self._refuse_old(session_id, record, None)
        numbers = self._audit.append(session_id, [document_of(record)])
        if isinstance(record, WorkingMemory) and numbers[0] is not None:
            # Another process may have been quicker; the earlier one counts.
            try:
                self._refuse_old(session_id, record, numbers[0])
            except ConflictError:
                self._audit.delete(session_id, record.id)
                raise

    def _refuse_old(
        self, session_id: str, record: WorkingMemory, place: int | None
    ) -> None:
        """Verify that a version is new among what stands before a place."""
        for document in self._audit.scan(
            session_id, newest_first=True, record_type="working_memory"
        ):
            if document.id == record.id or (place is not None and document.seq > place):
                continue
            known = cast("WorkingMemory", entry_of(session_id, document).record)
            if known.version >= record.version:
                msg = f"the working memory is at version {known.version} already"
                hint = "read it again and change that: hydrate(session_id).working"
                raise ConflictError(msg, hint=hint, value=known.version)
            return

    def hydrate(self, session_id: str) -> SessionMemory:
        """Return the latest memory of each tier, and repair the copies.

        Args:
            session_id: The session.

        Raises:
            StorageError: If the log could not be read.
            JsonError: If a document in it is no record.
        """
        with self._lock:
            found = {
                tier.value: self._latest(session_id, kind)
                for kind, tier in _KINDS.items()
            }
            memory = SessionMemory().replace(**found)
            try:
                if self._memory.hydrate(session_id) != memory:
                    self._memory.replace(session_id, memory)
            except Exception as exc:  # noqa: BLE001 - a mapping may be anybody's
                self._repair(session_id, memory, exc)
        return memory

    def _repair(self, session_id: str, memory: SessionMemory, cause: Exception) -> None:
        """Replace copies that could not be read."""
        try:
            self._memory.replace(session_id, memory)
        except Exception:  # noqa: BLE001 - a mapping may be anybody's
            _LOGGER.warning("the copies of memories are out of order: %s", cause)

    def _latest(self, session_id: str, kind: str) -> MemoryRecord | None:
        for key in (session_id, audit_key(session_id)):
            documents = self._audit.scan(
                key, limit=1, newest_first=True, record_type=kind
            )
            for document in documents:
                return cast("MemoryRecord", entry_of(session_id, document).record)
        return None


_KINDS: Final[dict[str, MemoryTier]] = {
    "working_memory": MemoryTier.WORKING,
    "observation": MemoryTier.OBSERVATION,
    "reflection": MemoryTier.REFLECTION,
}


class MemoryHierarchy:
    """Says when what was said shall be condensed, and keeps the outcome; thread-safe.

    Args:
        coordinator: What keeps memories.
        session_id: The session.
        ledger: Counts the tokens of the session.
        observe_at: How many tokens since the last observation call for one.
        reflect_at: How many tokens of observations call for a reflection.
    """

    def __init__(
        self,
        coordinator: MemoryCoordinator,
        session_id: str,
        ledger: TokenLedger,
        *,
        observe_at: int = 30_000,
        reflect_at: int = 40_000,
    ) -> None:
        self._coordinator = coordinator
        self._session_id = session_id
        self._ledger = ledger
        self._observe_at = observe_at
        self._reflect_at = reflect_at
        self._lock = threading.Lock()
        self._generating = False
        self._observation_tokens = 0

    @property
    def observation_tokens(self) -> int:
        """The tokens of the observations since the last reflection."""
        with self._lock:
            return self._observation_tokens

    def check_triggers(self) -> MemoryTier | None:
        """Return which memory is due, None for none and while one is being made."""
        with self._lock:
            if self._generating:
                return None
            if self._ledger.rolling >= self._observe_at:
                return MemoryTier.OBSERVATION
            due = self._observation_tokens >= self._reflect_at
            return MemoryTier.REFLECTION if due else None

    def begin_generation(self) -> bool:
        """Take the turn to make a memory, and say whether it was free."""
        with self._lock:
            free = not self._generating
            self._generating = True
            return free

    def end_generation(self) -> None:
        """Give the turn back."""
        with self._lock:
            self._generating = False

    def persist_observation(
        self, entries: Sequence[ObservationEntry], token_count: int
    ) -> Observation:
        """Keep an observation of what was said since the last one.

        Args:
            entries: What was noticed.
            token_count: How many tokens that is.

        Raises:
            StorageError: If the log could not be written.
        """
        record = Observation(observations=tuple(entries), token_count=token_count)
        self._coordinator.record(self._session_id, record)
        with self._lock:
            self._observation_tokens += token_count
        self._ledger.reset_rolling()
        return record

    def persist_reflection(
        self, entries: Sequence[ReflectionEntry], before: int
    ) -> Reflection:
        """Keep a reflection on the observations since the last one.

        Its own size is told as four bytes to the token.

        Args:
            entries: The gist.
            before: How many tokens the observations were.

        Raises:
            StorageError: If the log could not be written.
        """
        sizes = [len(e.summary.encode("utf-8", "replace")) // 4 for e in entries]
        record = Reflection(
            reflections=tuple(entries),
            observation_token_count_before=before,
            reflection_token_count_after=sum(sizes),
        )
        self._coordinator.record(self._session_id, record)
        with self._lock:
            self._observation_tokens = 0
        return record

    def update_working_memory(
        self, facts: Sequence[MemoryFact], previous_version: int
    ) -> WorkingMemory:
        """Keep facts as the next version of the working memory.

        Args:
            facts: All that is known now.
            previous_version: The version that was changed, 0 if there was none.

        Raises:
            ConflictError: If somebody else changed it meanwhile.
            StorageError: If the log could not be written.
        """
        record = WorkingMemory(facts=tuple(facts), version=previous_version + 1)
        self._coordinator.record(self._session_id, record)
        return record
