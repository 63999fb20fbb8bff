"""Conversations of Pydantic AI, kept in Redis."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
)
from pydantic_ai.conversation_store import ConversationStore as Contract

from graphcodec._cache._arguments import (
    Namespace,
    digest_of,
    invalid,
    milliseconds,
)
from graphcodec._cache._clients import Argument, Call, Client, check_client
from graphcodec._cache._scripts import Script
from graphcodec._paths import excerpt
from graphcodec.adapters import _pydantic_ai_scripts as scripts
from graphcodec.adapters._pydantic_ai_documents import Documents, changed
from graphcodec.codec import Codec
from graphcodec.errors import SnapshotNotFoundError

_ALL: Final = 1 << 53
_BATCH_ENTRIES: Final = 256
_BATCH_BYTES: Final = 4 << 20
"""How much of a history one script gives: about so many bytes, or so many entries."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class ConversationStore(Contract):
    """Keeps conversations in Redis: a ``ConversationStore`` of Pydantic AI.

    Each message is one document and is stored once, however many forks and branches
    have it in their history. A save writes its messages and the record in one step, or
    nothing at all. To delete a conversation takes away every message that no other one
    and no branch needs, at once.

    The classes of Pydantic AI are known; yours come with the codec. Only what can be
    read may be written. A document that was changed in Redis, or put in the place of
    another one, raises `UndecodableValueError`, or with a seal `SealError`. Errors of
    Redis are raised as redis-py raises them.

    Args:
        redis: A client: ``redis.asyncio.Redis``, or ``redis.asyncio.RedisCluster``.
        codec: Knows your classes, and has the options: limits for each document,
            compression, a seal, rules of redaction. It is copied.
        namespace: What the keys begin with. All of one namespace lie in one slot of a
            cluster.
        ttl: How many seconds a conversation stays after it was last saved, or a
            timedelta; for ever if it is left out.

    Raises:
        InvalidValueError: If an argument can't be used.
        DuplicateTagError: If the codec has given one of Pydantic AI's classes, or their
            tags, away.
    """

    def __init__(
        self,
        redis: Any,
        *,
        codec: Codec | None = None,
        namespace: str = "graphcodec",
        ttl: float | timedelta | None = None,
    ) -> None:
        hint = "take one of redis.asyncio"
        check_client(redis, "a store of conversations", is_async=True, hint=hint)
        if not isinstance(codec, Codec | None):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise invalid("codec", "a Codec", codec)
        # Mangled: the class above has private names of its own, and will get more.
        self.__documents = Documents(codec or Codec(), Namespace(namespace))
        self.__client = Client(redis)
        self.__namespace = namespace
        self.__ttl = milliseconds(ttl)

    def __repr__(self) -> str:
        # The client's own repr may tell its password.
        return f"{type(self).__name__}(namespace={self.__namespace!r})"

    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        """Return the record of a conversation; None if there is none.

        Args:
            conversation_id: The conversation.

        Raises:
            UndecodableValueError: If it was damaged; and what else `Codec.decode`
                raises.
        """
        key = self.__documents.key("record", conversation_id)
        document = await self.__client.ask_async(("HGET", key, "document"))
        return None if document is None else self.__documents.record(key, document)

    async def read_records(
        self, *, scope: str | None = None, limit: int | None = None
    ) -> Sequence[ConversationRecord]:
        """Return records, the last saved first.

        Args:
            scope: Only those that were saved with it.
            limit: At most so many.

        Raises:
            UndecodableValueError: If one was damaged; and what else `Codec.decode`
                raises.
        """
        key = (
            f"{self.__documents.prefix}records"
            if scope is None
            else self.__documents.key("scope", scope)
        )
        most = _ALL if limit is None else max(limit, 0)
        found: list[bytes] = await self.__run(scripts.RECORDS, key, most)
        records = [
            self.__documents.record(
                f"{self.__documents.prefix}record:{name.decode()}", document
            )
            for name, document in zip(found[::2], found[1::2], strict=True)
        ]
        for record in records:
            if scope is not None and record.scope != scope:
                raise changed(key)
        return records

    async def write_record(
        self,
        record: ConversationRecord,
        *,
        new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:
        """Store a record and new entries: all of them, or nothing.

        Args:
            record: The record.
            new_entries: The entries, each after the one that it follows.
            expected_revision: The revision of the record that this one replaces; None
                if there must be none.

        Raises:
            ConversationConflict: If there is another revision, one of the entries is
                there already, or one that the record or an entry points to is not.
            UnencodableValueError: If a message can't be written, or not be read again.
            LimitExceededError: If one breaks a limit of the codec.
        """
        key = self.__documents.key("record", record.conversation_id)
        tips = [*([] if record.head_id is None else [record.head_id]), *record.branches]
        words: list[Argument] = [
            digest_of(record.conversation_id),
            _digest(expected_revision),
            digest_of(record.revision),
            os.urandom(16),
            self.__documents.written(key, record, "deferred_tool_requests"),
            " ".join(map(digest_of, tips)),
            _digest(record.scope),
            (record.updated_at.astimezone(UTC) - _EPOCH) // timedelta(microseconds=1),
            self.__ttl,
        ]
        for entry in new_entries:
            document = self.__documents.written(
                self.__documents.key("entry", entry.id), entry, "message"
            )
            words += (digest_of(entry.id), _digest(entry.parent_id), document)
        if not await self.__run(scripts.WRITE, key, *words):
            raise ConversationConflict(record.conversation_id)

    async def delete_record(
        self, conversation_id: str, *, expected_revision: str
    ) -> None:
        """Take a record away, and each entry that no other record needs.

        Args:
            conversation_id: The conversation.
            expected_revision: The revision that it must have.

        Raises:
            ConversationConflict: If it has another one, or is not there.
        """
        key = self.__documents.key("record", conversation_id)
        words = digest_of(conversation_id), digest_of(expected_revision)
        if not await self.__run(scripts.DELETE, key, *words):
            raise ConversationConflict(conversation_id)

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        """Return an entry.

        Args:
            entry_id: Its id.

        Raises:
            SnapshotNotFoundError: If there is none.
            UndecodableValueError: If it was damaged; and what else `Codec.decode`
                raises.
        """
        (entry,) = await self.read_history(entry_id, limit=1)
        return entry

    async def read_history(
        self, head_id: str | None, *, limit: int | None = None
    ) -> list[ConversationEntry]:
        """Return the entries up to one, oldest first.

        Args:
            head_id: The last one; None for none at all.
            limit: Only so many of the last.

        Raises:
            SnapshotNotFoundError: If one is not there.
            UndecodableValueError: If one was damaged; and what else `Codec.decode`
                raises.
        """
        most = _ALL if limit is None else limit
        found: dict[str, ConversationEntry] = {}
        wanted = head_id
        while wanted is not None and len(found) < most:
            for document in await self.__before(wanted, most - len(found)):
                key = self.__documents.key("entry", wanted or "")
                entry = self.__documents.entry(key, document)
                # What leads back to itself would be followed for ever.
                if wanted is None or wanted in found:
                    raise changed(key)
                found[wanted] = entry
                wanted = entry.parent_id
        return list(reversed(found.values()))

    async def __before(self, head_id: str, most: int) -> list[bytes]:
        """Return the documents of an entry and of some before it, newest first."""
        key = self.__documents.key("entry", head_id)
        words = digest_of(head_id), min(most, _BATCH_ENTRIES), _BATCH_BYTES
        documents: list[bytes] = await self.__run(scripts.HISTORY, key, *words)
        if not documents:
            raise _not_found(head_id)
        return documents

    async def __run(self, script: Script, key: str, *words: Argument) -> Any:
        return await self.__client.ask_async(
            Call(script, (key,), (self.__documents.prefix, *words))
        )


def _digest(text: str | None) -> str:
    return "" if text is None else digest_of(text)


def _not_found(entry_id: str) -> SnapshotNotFoundError:
    msg = f"there is no entry {excerpt(entry_id)} in Redis"
    hint = "it was never saved, was deleted, or its time has passed"
    return SnapshotNotFoundError(msg, hint=hint)
