"""Bytes that would not travel well, moved to a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar, cast

import attrs

from graphcodec import _parallel
from graphcodec._graphs._rebuild import with_readers
from graphcodec._graphs._traverse import Walk
from graphcodec._live import type_name
from graphcodec.errors import (
    GraphCodecError,
    InvalidValueError,
)
from graphcodec.readers._contracts import Reader, handle_of
from graphcodec.readers._memory import BytesReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphcodec.readers._contracts import ByteStore

    Progress = Callable[[int, int], None]

__all__ = ["apersist", "persist"]

T = TypeVar("T")

INLINE_LIMIT = 32_768
"""How many bytes may stay inside a document unless told otherwise."""


def persist(
    graph: T,
    store: ByteStore,
    *,
    inline_limit: int = INLINE_LIMIT,
    progress: Progress | None = None,
) -> T:
    """Move bytes that should not travel inside a document to a store.

    Every reader that can't be described, such as a `StreamReader`, and every
    `BytesReader` over the limit is written to the store, several at once and equal
    bytes once. What comes back is a graph with the store's readers in their places:
    objects that hold one, at any distance, are made anew by their constructors, with
    the sharing and the cycles among them; all else is the same object as before. The
    original is left as it is. If it fails half-way, calling it again goes on, because
    a store keeps the same bytes once.

    Args:
        graph: A primitive, or any value that a graph may be. Only builtin containers,
            attrs classes, dataclasses, pydantic models, msgspec Structs and classes
            with ``__graphcodec_encode__`` are looked into.
        store: Where the bytes go; its `write` is called from several threads.
        inline_limit: How many bytes a `BytesReader` may have to stay as it is.
        progress: Is called after each write with the number of those done and of all.

    Returns:
        The new graph; the very same one if nothing in it had to move.

    Raises:
        CyclicGraphError: If a reader lies in a cycle through frozen objects alone.
        InvalidValueError: If an argument makes no sense, or a constructor refuses.
        HandleError: If the bytes could not be read.
        StorageError: If they could not be written. Its path is that of the reader.
    """
    moving = _Moving(graph, store, inline_limit, progress)
    _parallel.run(moving.jobs, moving.write, moving.done)
    return moving.result()


async def apersist(
    graph: T,
    store: ByteStore,
    *,
    inline_limit: int = INLINE_LIMIT,
    progress: Progress | None = None,
) -> T:
    """Do what `persist` does without blocking the event loop while bytes move.

    Args:
        graph: See `persist`.
        store: Where the bytes go.
        inline_limit: How many bytes a `BytesReader` may have to stay as it is.
        progress: Is called on the event loop.
    """
    moving = _Moving(graph, store, inline_limit, progress)
    await _parallel.arun(moving.jobs, moving.write, moving.done)
    return moving.result()


@attrs.define(eq=False)
class _Job:
    """One write: bytes that are stored once, and whoever reads them.

    Attributes:
        path: Where they are met first.
        media_type: Their MIME type, if their owner says.
        readers: All readers of them; the first is written.
    """

    path: str
    media_type: str | None
    readers: list[Reader] = attrs.field(factory=list[Reader])


class _Moving(Generic[T]):
    """One call of `persist`, whatever does the waiting."""

    def __init__(
        self,
        graph: T,
        store: ByteStore,
        inline_limit: int,
        progress: Progress | None,
    ) -> None:
        _check(store, inline_limit)
        self._graph = graph
        self._store = store
        self._progress = progress
        self._replaced: dict[int, Reader] = {}
        self._finished = 0
        self.jobs = _jobs(graph, inline_limit)

    def write(self, job: _Job) -> Reader:
        """Write the bytes of *job* and return the store's reader."""
        try:
            written = self._store.write(job.readers[0], media_type=job.media_type)
        except GraphCodecError as exc:
            exc.path = job.path + exc.path[1:]
            raise
        except Exception as exc:
            exc.add_note(f"while the reader at {job.path} was written to the store")
            raise
        given = cast("object", written)
        if not isinstance(given, Reader):
            name = type_name(type(given))
            msg = f"the store's write gave a {name}, which is no Reader"
            raise InvalidValueError(msg, path=job.path, type_name=name)
        return written

    def done(self, job: _Job, written: Reader) -> None:
        """Take note of the reader that stands in for those of *job*."""
        for reader in job.readers:
            if reader is not written:
                self._replaced[id(reader)] = written
        self._finished += 1
        if self._progress is not None:
            self._progress(self._finished, len(self.jobs))

    def result(self) -> T:
        """Return the graph with the readers that were given."""
        if not self._replaced:
            return self._graph
        return with_readers(self._graph, self._replaced)


def _jobs(graph: object, inline_limit: int) -> list[_Job]:
    """Return what has to be written, in the order of the document."""
    jobs: dict[object, _Job] = {}
    walk = Walk(graph)
    for owner, reader in walk:
        if not isinstance(reader, Reader) or _travels(reader, inline_limit):
            continue
        # Equal bytes are found before they are written; of others, only the store
        # can tell.
        key = reader if isinstance(reader, BytesReader) else id(reader)
        if key not in jobs:
            jobs[key] = _Job(walk.path(), _media_type(owner))
        jobs[key].readers.append(reader)
    return list(jobs.values())


def _travels(reader: Reader, inline_limit: int) -> bool:
    """Say whether *reader* may be written into a document as it is."""
    if isinstance(reader, BytesReader):
        return len(reader.data) <= inline_limit
    return handle_of(reader) is not None


def _media_type(owner: object) -> str | None:
    found: object = getattr(owner, "mime_type", None)
    return found if isinstance(found, str) else None


def _check(store: object, inline_limit: object) -> None:
    if not callable(getattr(store, "write", None)):
        name = type_name(type(store))
        hint = "pass a ByteStore, such as FsspecStore(root, alias='media')"
        msg = f"store must have a write method, which {name} has not"
        raise InvalidValueError(msg, type_name=name, hint=hint)
    if type(inline_limit) is not int or inline_limit < 0:
        msg = f"inline_limit must be a number of bytes, not {inline_limit!r:.40}"
        raise InvalidValueError(msg, limit="inline_limit")
