"""Records out of a store, and following what others write to it."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from typing import TypeAlias

from attrs import field, frozen

from graphcodec.errors import JsonError
from graphcodec.log._documents import Document, DocumentStore
from graphcodec.log._json import from_json
from graphcodec.log._records import SessionRecord
from graphcodec.readers._threads import in_thread

__all__ = ["Entry", "OnUnreadable", "atail", "entries_of", "entry_of", "tail"]

OnUnreadable: TypeAlias = Callable[[JsonError], object]


@frozen(kw_only=True)
class Entry:
    """A record with its place in a log.

    Attributes:
        session_id: The session.
        seq: The place: it grows, with gaps perhaps.
        id: The id of the record, or of its document if it has none itself.
        record: The record.
        created_at: When it was made, in milliseconds since 1970; 0 if it is silent.
    """

    session_id: str
    seq: int
    id: str
    record: SessionRecord = field(repr=False)
    created_at: int = 0


def entry_of(key: str, document: Document) -> Entry:
    """Return the record of a document.

    Args:
        key: The session.
        document: The document.

    Raises:
        JsonError: If it holds none; says in which document.
    """
    try:
        record = from_json(document.content, id=document.id)
    except JsonError as exc:
        exc.hint = f"this is the document {document.id[:80]!r} at {document.seq}"
        raise
    return Entry(
        session_id=key,
        seq=document.seq,
        id=document.id,
        record=record,
        created_at=document.created_at,
    )


def entries_of(
    key: str, documents: Iterable[Document], on_unreadable: OnUnreadable | None
) -> Iterator[Entry]:
    """Yield the records of documents.

    Args:
        key: The session.
        documents: What a store gave.
        on_unreadable: Told of a document that is no record, which is passed over then.

    Raises:
        JsonError: If a document is no record, and there is nobody to tell.
    """
    for document in documents:
        try:
            entry = entry_of(key, document)
        except JsonError as exc:
            if on_unreadable is None:
                raise
            on_unreadable(exc)
        else:
            yield entry


def tail(
    store: DocumentStore,
    session_id: str,
    *,
    since: int | None = None,
    poll: float = 0.1,
    timeout: float | None = None,
    on_unreadable: OnUnreadable | None = None,
) -> Iterator[Entry]:
    """Yield the records of a session as they are written, by whatever process.

    Args:
        store: Where they are written to.
        session_id: The session.
        since: The number behind which to begin: 0 for the first record, None for what
            is written from now on.
        poll: How many seconds to wait before looking again.
        timeout: End after so many seconds in which nothing came; None for never.
        on_unreadable: Told of a document that is no record, which is passed over then.

    Raises:
        StorageError: If the store can't be read.
        JsonError: If a document is no record, and there is nobody to tell.
    """
    after = _last(store, session_id) if since is None else since
    return _follow(store, session_id, after, poll, timeout, on_unreadable=on_unreadable)


def _last(store: DocumentStore, session_id: str) -> int:
    found = next(store.scan(session_id, limit=1, newest_first=True), None)
    return 0 if found is None else found.seq


def _follow(
    store: DocumentStore,
    session_id: str,
    after: int,
    poll: float,
    timeout: float | None,
    *,
    on_unreadable: OnUnreadable | None,
) -> Iterator[Entry]:
    quiet_since = time.monotonic()
    while True:
        for document in store.scan(session_id, after=after):
            after = document.seq
            yield from entries_of(session_id, [document], on_unreadable)
            quiet_since = time.monotonic()
        if timeout is not None and time.monotonic() - quiet_since >= timeout:
            return
        time.sleep(poll)


async def atail(
    store: DocumentStore,
    session_id: str,
    *,
    since: int | None = None,
    poll: float = 0.1,
    timeout: float | None = None,  # noqa: ASYNC109 - of silence, not of the call
    on_unreadable: OnUnreadable | None = None,
) -> AsyncGenerator[Entry]:
    """Do what `tail` does without blocking the event loop.

    Args:
        store: Where they are written to.
        session_id: The session.
        since: See `tail`.
        poll: See `tail`.
        timeout: See `tail`.
        on_unreadable: See `tail`; called in another thread.
    """
    import asyncio  # noqa: PLC0415 - most have no use for it

    after = await in_thread(_last, store, session_id) if since is None else since
    quiet_since = time.monotonic()
    while True:
        page = await in_thread(_page, store, session_id, after, on_unreadable)
        for entry in page.entries:
            quiet_since = time.monotonic()
            yield entry
        if page.last > after:
            after = page.last
        else:
            if timeout is not None and time.monotonic() - quiet_since >= timeout:
                return
            await asyncio.sleep(poll)


@frozen
class _Page:
    entries: list[Entry]
    last: int


def _page(
    store: DocumentStore,
    session_id: str,
    after: int,
    on_unreadable: OnUnreadable | None,
) -> _Page:
    found = list(store.scan(session_id, after=after, limit=100))
    entries = list(entries_of(session_id, found, on_unreadable))
    return _Page(entries, found[-1].seq if found else after)
