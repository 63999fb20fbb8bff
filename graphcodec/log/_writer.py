"""The way of a record from `append` into the store.

Records wait in a buffer, as JSON, in the order in which they came. One flush at a time
writes them, and whoever reads waits for it: so a reader sees what it appended, also
while another thread flushes. A record leaves the buffer only once it is stored, so none
is lost when the store fails, and the next flush goes on with the same one.

If a batch fails, its documents are tried one by one, each twice. One that fails where a
later one succeeds is at fault itself: it goes into quarantine and the ones behind it go
on. If none succeeds the store is at fault, and all of them wait.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from attrs import frozen

from graphcodec._loggers import logger
from graphcodec.errors import GraphCodecError, JsonError, StorageError
from graphcodec.log._documents import Document, DocumentStore
from graphcodec.log._events import Appended, Event, Failed, Flushed, Subscription
from graphcodec.log._records import SessionRecord

__all__ = ["Waiting", "Writer"]

_LOGGER: Final = logger("log")
_BATCH: Final = 1000
_MEMORY: Final = 1000
"""How many records that were put aside are kept to be looked at."""
_PATIENCE: Final = 1.0
"""Seconds after which a store that only fails is not tried any further."""


@frozen
class Waiting:
    """A record on its way."""

    document: Document
    record: SessionRecord


class Writer:
    """Buffers the records of one session and writes them.

    Args:
        store: Where to.
        key: The collection.
        flush_at: How many records start a flush.
        flush_interval: After how many seconds a record is flushed at the latest.
        journal: Whether each record is written before `add` returns.
        max_unflushed: How many records may wait.
    """

    def __init__(
        self,
        store: DocumentStore,
        key: str,
        *,
        flush_at: int,
        flush_interval: float | None,
        journal: bool,
        max_unflushed: int,
    ) -> None:
        self._store = store
        self._key = key
        self._flush_at = flush_at
        self._interval = flush_interval
        self._journal = journal
        self._most = max(max_unflushed, flush_at)
        self._buffer: deque[Waiting] = deque()
        self._names: set[str] = set()
        self._due = flush_at
        self._timer: threading.Timer | None = None
        self._quarantined: deque[Failed] = deque(maxlen=_MEMORY)
        self._subscriptions: list[Subscription] = []
        self._closed = False
        # What is above; never held while the store works.
        self._lock = threading.Lock()
        # The store's turn; taken before the lock.
        self._turn = threading.RLock()

    @property
    def quarantined(self) -> tuple[Failed, ...]:
        """What could not be written lately, oldest first."""
        with self._lock:
            return tuple(self._quarantined)

    def unflushed(self) -> int:
        """Return how many records wait."""
        with self._lock:
            return len(self._buffer)

    # In

    def add(self, waiting: Waiting) -> None:
        """Take a record, and write what waits if it is time to.

        Args:
            waiting: The record.

        Raises:
            StorageError: If the log is closed, or no more records may wait; with a
                journal, also if the record could not be written: it waits then.
        """
        self._make_room()
        with self._lock:
            if self._closed:
                msg = "this log is closed"
                raise StorageError(msg, hint="open it anew: SessionLog(store, ...)")
            new = waiting.document.id not in self._names
            if new:
                self._names.add(waiting.document.id)
                self._buffer.append(waiting)
                document = waiting.document
                self._tell(
                    Appended(
                        id=document.id,
                        variant=document.record_type or "",
                        record=waiting.record,
                    )
                )
            full = len(self._buffer) >= self._due
            if not self._journal:
                self._set_timer()
        if self._journal:
            self._flush_one(waiting)
        elif full and new:
            self.flush_quietly()

    def _make_room(self) -> None:
        """Write what waits if no more may.

        Raises:
            StorageError: If the store failed.
        """
        waiting = self.unflushed()
        if waiting < self._most:
            return
        try:
            self.flush()
        except StorageError as exc:
            msg = f"the record was not taken, since {waiting:,} wait already: {exc}"
            hint = "append it again once the store is well"
            raise StorageError(msg, hint=hint) from exc

    def _flush_one(self, waiting: Waiting) -> None:
        # Whoever had the turn before may have written this one too.
        with self._turn:
            with self._lock:
                waits = waiting.document.id in self._names
            if waits:
                self.flush()

    def refuse(self, failed: Failed) -> None:
        """Put a record that has no JSON into quarantine.

        Args:
            failed: The record and its error.

        Raises:
            JsonError: With a journal, the error itself.
        """
        self._quarantine(failed)
        if self._journal:
            raise failed.error

    def _set_timer(self) -> None:
        if self._interval is None or self._timer is not None:
            return
        self._timer = threading.Timer(self._interval, self._on_time)
        self._timer.daemon = True
        self._timer.start()

    def _on_time(self) -> None:
        with self._lock:
            self._timer = None
        self.flush_quietly()
        with self._lock:
            if self._buffer and not self._closed:
                self._set_timer()

    # Out

    def flush_quietly(self) -> None:
        """Write what waits; a failure is told to listeners and logged."""
        try:
            self.flush()
        except GraphCodecError as exc:
            _LOGGER.warning("a log could not be flushed: %s", exc)

    def flush(self) -> int:
        """Write what waits now, and return how many records were new to the store.

        Raises:
            StorageError: If the store failed; what was not written waits.
        """
        written = 0
        with self._turn:
            todo = self.unflushed()
            while todo > 0:
                with self._lock:
                    batch = list(islice(self._buffer, min(todo, _BATCH)))
                if not batch:
                    break
                written += self._write(batch)
                todo -= len(batch)
            with self._lock:
                self._due = self._flush_at
        return written

    def _write(self, batch: Sequence[Waiting]) -> int:
        try:
            numbers = self._store.append(self._key, [w.document for w in batch])
        except Exception:  # noqa: BLE001 - a store may be anybody's
            return self._write_singly(batch)
        return self._written(batch, numbers)

    def _write_singly(self, batch: Sequence[Waiting]) -> int:
        """Write what can be written of a batch that failed as a whole."""
        failures: list[tuple[Waiting, Exception]] = []
        count = 0
        deadline = time.monotonic() + _PATIENCE
        for waiting in batch:
            found = self._write_one(waiting, deadline)
            if not isinstance(found, Exception):
                # It works: those before were at fault themselves.
                self._discard(failures)
                failures = []
                count += self._written([waiting], found)
            elif _is_at_fault(found):
                self._discard([(waiting, found)])
            else:
                failures.append((waiting, found))
                if time.monotonic() > deadline:
                    break
        if failures:
            raise self._failure(failures[0][1])
        return count

    def _write_one(
        self, waiting: Waiting, deadline: float
    ) -> Sequence[int | None] | Exception:
        """Write one record, at the second attempt if need be, or return the error."""
        again = False
        while True:
            try:
                return self._store.append(self._key, [waiting.document])
            except Exception as exc:  # noqa: BLE001 - a store may be anybody's
                if _is_at_fault(exc) or again or time.monotonic() > deadline:
                    return exc
                again = True

    def _failure(self, cause: Exception) -> StorageError:
        error = StorageError(
            f"flushing the message log of session {self._key[:80]!r} failed: {cause}",
            hint="the records wait: flush again once the store is well",
        )
        error.__cause__ = cause
        with self._lock:
            # Not at every append again while the store is down.
            self._due = len(self._buffer) + self._flush_at
            self._tell(Failed(id=None, error=error))
        return error

    def _written(self, batch: Sequence[Waiting], numbers: Sequence[int | None]) -> int:
        """Let go of records that are stored."""
        new = [number for number in numbers if number is not None]
        with self._lock:
            self._forget(batch)
            if new:
                self._tell(Flushed(count=len(new), seq=new[-1]))
        return len(new)

    def _discard(self, failures: Sequence[tuple[Waiting, Exception]]) -> None:
        for waiting, exc in failures:
            with self._lock:
                self._forget([waiting])
            name = waiting.document.id
            self._quarantine(Failed(id=name, error=exc, record=waiting.record))

    def _quarantine(self, failed: Failed) -> None:
        _LOGGER.error(
            "record %r can't be written and was put aside: %s",
            failed.id,
            type(failed.error).__name__,
        )
        with self._lock:
            self._quarantined.append(failed)
            self._tell(failed)

    def _forget(self, batch: Sequence[Waiting]) -> None:
        gone = {waiting.document.id for waiting in batch}
        self._names -= gone
        if all(w.document.id in gone for w in islice(self._buffer, len(batch))):
            for _ in batch:
                self._buffer.popleft()
        else:
            kept = [w for w in self._buffer if w.document.id not in gone]
            self._buffer = deque(kept)

    # Listeners

    def subscribe(self, maxsize: int, since: int | None) -> Subscription:
        """Return a new listener.

        Args:
            maxsize: How many events it holds.
            since: Tell first what was stored behind this number.

        Raises:
            StorageError: If the store can't be read.
        """
        with self._turn:
            replay: Iterator[Appended] = iter(())
            if since is not None:
                self.flush()
                last = next(
                    self._store.scan(self._key, limit=1, newest_first=True), None
                )
                replay = self._replay(since, 0 if last is None else last.seq)
            subscription = Subscription(maxsize, replay, self._leave)
            with self._lock:
                self._subscriptions.append(subscription)
                if self._closed:
                    subscription.end()
        return subscription

    def _replay(self, since: int, last: int) -> Iterator[Appended]:
        from graphcodec.log._reading import entry_of  # noqa: PLC0415 - it reads us too

        for document in self._store.scan(self._key, after=since):
            if document.seq > last:
                return
            try:
                record = entry_of(self._key, document).record
            except JsonError:
                record = None
            yield Appended(
                id=document.id,
                variant=document.record_type or "",
                record=record,
                seq=document.seq,
            )

    def _leave(self, subscription: Subscription) -> None:
        with self._lock:
            if subscription in self._subscriptions:
                self._subscriptions.remove(subscription)

    def _tell(self, event: Event) -> None:
        for subscription in self._subscriptions:
            subscription.put(event)

    # The end

    def close(self) -> None:
        """Write what waits, take no more records and end all listeners.

        Raises:
            StorageError: If the store failed; the records wait, and `close` may be
                called again.
        """
        with self._turn:
            self.flush()
            with self._lock:
                self._closed = True
                timer, self._timer = self._timer, None
                ended, self._subscriptions = self._subscriptions, []
        if timer is not None:
            timer.cancel()
        for subscription in ended:
            subscription.end()


def _is_at_fault(exc: Exception) -> bool:
    """Say whether an error is about the document and not about the store."""
    if isinstance(exc, StorageError):
        return False
    return isinstance(exc, (GraphCodecError, UnicodeError, JsonError))
