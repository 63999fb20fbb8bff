"""The log of one session."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Self, cast, get_args

from graphcodec import primitives
from graphcodec._graphs._persist import persist
from graphcodec.codec import Codec
from graphcodec.errors import InvalidValueError, JsonError, StorageError
from graphcodec.log._conversion import Item, from_primitives
from graphcodec.log._documents import Document, DocumentStore
from graphcodec.log._events import Failed, Subscription
from graphcodec.log._ids import new_id
from graphcodec.log._json import to_json
from graphcodec.log._offload import offload
from graphcodec.log._reading import Entry, OnUnreadable, entries_of, tail
from graphcodec.log._records import SessionRecord, id_of
from graphcodec.log._rows import kind_of, moment_of, titles_of
from graphcodec.log._writer import Waiting, Writer
from graphcodec.primitives._checks import excerpt
from graphcodec.readers import ByteStore
from graphcodec.readers._threads import in_thread

__all__ = ["Appendable", "SessionLog", "document_of"]

Appendable = (
    SessionRecord
    | primitives.Message
    | primitives.ToolCall
    | primitives.Thought
    | primitives.Retrievable
    | primitives.Tokenizable
    | primitives.Memory
)
_RECORDS = get_args(SessionRecord)
_PRIMITIVES = tuple(cls for cls in get_args(Appendable) if cls not in _RECORDS)


def document_of(record: SessionRecord, *, name: str | None = None) -> Document:
    """Return what a store keeps of a record.

    Args:
        record: The record.
        name: The id of a record that has none itself; a new one if left out.

    Raises:
        JsonError: If the record can't be written.
    """
    title, summary = titles_of(record)
    return Document(
        id=id_of(record) or name or new_id(),
        content=to_json(record),
        record_type=kind_of(record),
        title=title,
        summary=summary,
        created_at=moment_of(record) or 0,
    )


class SessionLog:
    """The log of one session: records in the order in which they were appended.

    It is thread-safe. What is appended waits in a buffer and is written by `flush`:
    when enough waits, before every read, when the log is closed, and when the program
    ends.
    Several logs, in several processes, may write to one session.

    Args:
        store: Where to write.
        session_id: The session: any text; `SessionId.new` makes one.
        codec: What writes and reads the documents of primitives. What its rules
            redact is redacted in records as well.
        flush_at: How many records start a flush.
        flush_interval: Flush after so many seconds at the latest; None for no limit.
        journal: Write each record before `append` returns, so that a killed process
            loses nothing. Threads that append at once share a write.
        max_unflushed: How many records may wait while the store fails; `append` raises
            then. At least *flush_at*.
        media: Where images, other media and large outputs of tools are put, so that
            records hold handles in their place; see `offload`.
        on_unreadable: Told of each stored document that is no record, with an error
            that says which and why; reading goes on behind it. Without it, reading
            raises that error.

    Raises:
        InvalidValueError: If an option can't be used.
    """

    def __init__(
        self,
        store: DocumentStore,
        session_id: str,
        *,
        codec: Codec | None = None,
        flush_at: int = 50,
        flush_interval: float | None = None,
        journal: bool = False,
        max_unflushed: int = 10_000,
        media: ByteStore | None = None,
        on_unreadable: OnUnreadable | None = None,
    ) -> None:
        _check_store(store)
        _check_options(session_id, flush_at, flush_interval, max_unflushed)
        self._store = store
        self._key = str(session_id)
        self._codec = codec
        self._media = media
        self._on_unreadable = on_unreadable
        self._writer = Writer(
            store,
            self._key,
            flush_at=flush_at,
            flush_interval=flush_interval,
            journal=journal,
            max_unflushed=max_unflushed,
        )
        # The writer knows nothing of this object, so it can outlive it.
        self._at_end = weakref.finalize(self, self._writer.flush_quietly)

    def __repr__(self) -> str:
        return f"SessionLog({self._key[:80]!r}, <{self.unflushed()} unflushed>)"

    @property
    def session_id(self) -> str:
        """The session."""
        return self._key

    @property
    def quarantined(self) -> tuple[Failed, ...]:
        """The last 1,000 records that could not be written, with their errors."""
        return self._writer.quarantined

    # Writing

    def append(self, record: Appendable) -> str:
        """Append a record, or the records of a primitive, and return its id.

        A record whose id the session has already changes nothing. One that can't be
        written is put into quarantine, see `quarantined`; listeners are told. If the
        store fails, records wait for a later flush.

        The id is the one under which it is stored: its own, or a new one if it has
        none; of several records the first one's.

        Args:
            record: The record or primitive.

        Raises:
            InvalidValueError: If it is neither.
            UnencodableValueError: If a primitive has no wire form.
            StorageError: If the log is closed, the store for media failed, or so many
                records wait that this one was not taken. With a journal also if the
                store failed: the record waits then.
            JsonError: With a journal, if the record can't be written.
        """
        names = [self._append(one) for one in self._records(record)]
        return names[0]

    def _records(self, record: Appendable) -> Sequence[SessionRecord]:
        if self._codec is not None and self._codec.redact:
            # Before its media go to their store, and before it is shown to listeners.
            record, _ = self._codec.redacted(record)
        if isinstance(record, _RECORDS):
            return [self._offloaded(cast("SessionRecord", record))]
        if isinstance(record, _PRIMITIVES):
            item = cast("Item", record)
            if self._media is not None:
                item = persist(item, self._media, inline_limit=0)
            made = from_primitives([item], codec=self._codec)
            return [self._offloaded(one) for one in made]
        msg = f"a log takes session records and primitives, not {excerpt(record)}"
        hint = "for a whole conversation: for record in from_primitives(it): ..."
        raise InvalidValueError(msg, hint=hint)

    def _offloaded(self, record: SessionRecord) -> SessionRecord:
        if self._media is None:
            return record
        return offload(record, self._media, codec=self._codec)

    def _append(self, record: SessionRecord) -> str:
        name = id_of(record) or new_id()
        try:
            document = document_of(record, name=name)
        except JsonError as exc:
            self._writer.refuse(Failed(id=name, error=exc, record=record))
        else:
            self._writer.add(Waiting(document, record))
        return name

    def flush(self) -> int:
        """Write what waits, and return how many records were new to the store.

        Raises:
            StorageError: If the store failed; what was not written waits.
        """
        return self._writer.flush()

    def unflushed(self) -> int:
        """Return how many records wait to be written."""
        return self._writer.unflushed()

    def clear(self) -> int:
        """Remove all records of the session, and return how many there were.

        Raises:
            StorageError: If the store failed.
        """
        self.flush()
        return self._store.delete_all(self._key)

    def close(self) -> None:
        """Write what waits and take no more.

        Raises:
            StorageError: If the store failed; the records wait, and `close` may be
                called again.
        """
        self._writer.close()
        self._at_end.detach()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    # Reading

    def recent(self, n: int) -> list[SessionRecord]:
        """Return the last records, newest first.

        Args:
            n: How many.

        Raises:
            StorageError: If the store failed.
            JsonError: If a document is no record, and nobody is told of it.
        """
        return [entry.record for entry in self.entries(limit=n, newest_first=True)]

    def all(self) -> list[SessionRecord]:
        """Return all records, oldest first.

        Raises:
            StorageError: If the store failed.
            JsonError: If a document is no record, and nobody is told of it.
        """
        return [entry.record for entry in self.entries()]

    def scan_from(self, id: str, n: int | None = None) -> list[SessionRecord]:  # noqa: A002 - the field's name
        """Return the record of an id and what follows it, oldest first.

        Args:
            id: What `append` returned.
            n: The most records: None for all, 0 for none.

        Raises:
            StorageError: If there is no such record, or the store failed.
            JsonError: If a document is no record, and nobody is told of it.
        """
        self.flush()
        found = self._store.find(self._key, id)
        if found is None:
            msg = f"the session has no record {excerpt(id)}"
            raise StorageError(msg, value=id[:80])
        return [entry.record for entry in self.entries(after=found.seq - 1, limit=n)]

    def entries(
        self,
        *,
        after: int = 0,
        limit: int | None = None,
        newest_first: bool = False,
        record_type: str | None = None,
    ) -> Iterator[Entry]:
        """Yield records with their places, in bounded memory.

        Args:
            after: Leave out those up to this place.
            limit: The most records: None for all, 0 for none.
            newest_first: Begin at the end.
            record_type: Only records of this kind.

        Raises:
            InvalidValueError: If *after* or *limit* is no count.
            StorageError: If the store failed.
            JsonError: If a document is no record, and nobody is told of it.
        """
        _check_count("after", after)
        if limit is not None:
            _check_count("limit", limit)
        self.flush()
        documents = self._store.scan(
            self._key,
            after=after,
            # Who passes some over looks further for as many.
            limit=limit if self._on_unreadable is None else None,
            newest_first=newest_first,
            record_type=record_type,
        )
        found = entries_of(self._key, documents, self._on_unreadable)
        return found if limit is None else islice(found, limit)

    def count(self) -> int:
        """Return how many records the session has.

        Raises:
            StorageError: If the store failed.
        """
        self.flush()
        return self._store.count(self._key)

    # Following

    def subscribe(
        self, *, maxsize: int = 256, since: int | None = None
    ) -> Subscription:
        """Return an iterator over what happens in this log from now on.

        What other processes append is not among it; see `tail`.

        Args:
            maxsize: How many events it holds before it drops the oldest.
            since: Tell first of all records behind this place, from the store.

        Raises:
            InvalidValueError: If *maxsize* is below 1.
            StorageError: If the store failed.
        """
        if maxsize < 1:
            msg = f"maxsize must be 1 or more, not {maxsize!r}"
            raise InvalidValueError(msg)
        return self._writer.subscribe(maxsize, since)

    def tail(
        self,
        *,
        since: int | None = None,
        poll: float = 0.1,
        timeout: float | None = None,
    ) -> Iterator[Entry]:
        """Yield the records of this session as they are written, by whatever process.

        Args:
            since: The place behind which to begin: 0 for the first record, None for
                what is written from now on.
            poll: How many seconds to wait before looking again.
            timeout: End after so many seconds in which nothing came; None for never.
        """
        self.flush()
        return tail(
            self._store,
            self._key,
            since=since,
            poll=poll,
            timeout=timeout,
            on_unreadable=self._on_unreadable,
        )

    # The async face

    async def aappend(self, record: Appendable) -> str:
        """Do what `append` does without blocking the event loop."""
        return await in_thread(self.append, record)

    async def aflush(self) -> int:
        """Do what `flush` does without blocking the event loop."""
        return await in_thread(self.flush)

    async def arecent(self, n: int) -> list[SessionRecord]:
        """Do what `recent` does without blocking the event loop."""
        return await in_thread(self.recent, n)

    async def aall(self) -> list[SessionRecord]:
        """Do what `all` does without blocking the event loop."""
        return await in_thread(self.all)

    async def ascan_from(self, id: str, n: int | None = None) -> list[SessionRecord]:  # noqa: A002 - the field's name
        """Do what `scan_from` does without blocking the event loop."""
        return await in_thread(self.scan_from, id, n)

    async def aclear(self) -> int:
        """Do what `clear` does without blocking the event loop."""
        return await in_thread(self.clear)

    async def aclose(self) -> None:
        """Do what `close` does without blocking the event loop."""
        await in_thread(self.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()


def _check_store(store: object) -> None:
    """Verify that records can be kept.

    Raises:
        InvalidValueError: If it is no store.
    """
    if isinstance(store, type) or not isinstance(store, DocumentStore):
        msg = f"a log needs a document store, not {excerpt(store)}"
        hint = "pass one: SqliteDocumentStore('sessions.db')"
        raise InvalidValueError(msg, hint=hint)


def _check_options(
    session_id: object, flush_at: object, interval: object, most: object
) -> None:
    """Verify the options of a log.

    Raises:
        InvalidValueError: If one can't be used.
    """
    if not isinstance(session_id, str) or not session_id:
        msg = f"session_id must be a non-empty str, not {excerpt(session_id)}"
        raise InvalidValueError(msg)
    try:
        session_id.encode()
    except UnicodeEncodeError as exc:
        msg = "session_id must be text that UTF-8 has, without half a surrogate pair"
        raise InvalidValueError(msg) from exc
    for name, value in (("flush_at", flush_at), ("max_unflushed", most)):
        if type(value) is not int or value < 1:
            msg = f"{name} must be an int from 1, not {excerpt(value)}"
            raise InvalidValueError(msg)
    good = interval is None or (isinstance(interval, (int, float)) and interval > 0)
    if not good:
        msg = f"flush_interval must be seconds above 0, not {excerpt(interval)}"
        raise InvalidValueError(msg)


def _check_count(name: str, value: object) -> None:
    """Verify how many, or behind which.

    Raises:
        InvalidValueError: If it is no count.
    """
    if type(value) is not int or value < 0:
        msg = f"{name} must be an int from 0, not {excerpt(value)}"
        raise InvalidValueError(msg)
