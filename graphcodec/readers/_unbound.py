"""What a pickled handle comes back as: a reader that binds when it is first opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, ClassVar, TypeAlias, cast

from graphcodec.errors import InvalidValueError, NoReaderResolverError
from graphcodec.readers._contracts import CHUNK_SIZE, Reader, ReaderDescriptor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    Binder: TypeAlias = Callable[[ReaderDescriptor], Reader | None]

__all__ = ["UnboundReader"]


class UnboundReader(Reader):
    """A handle without the binding that opens it.

    Pickle carries no file systems, clients or secrets, so a reader arrives in another
    process as its descriptor. It binds when it is first opened, through the function
    that the process set with `bind_process`, and raises if there is none.

    Args:
        descriptor: Where the bytes live.
    """

    __slots__ = ("_bound", "_descriptor")

    # Pickle hands nothing to the objects it rebuilds, so the process itself must hold
    # what binds them. This is the one place where it does.
    _binder: ClassVar[Binder | None] = None

    def __init__(self, descriptor: ReaderDescriptor) -> None:
        given = cast("object", descriptor)
        if not isinstance(given, ReaderDescriptor):
            raise InvalidValueError(
                f"descriptor must be a ReaderDescriptor, not {type(given).__name__}",
                type_name="UnboundReader",
            )
        self._descriptor = descriptor
        self._bound: Reader | None = None

    @classmethod
    def bind_process(cls, binder: Binder | None) -> Binder | None:
        """Set what binds the unpickled readers of this process.

        Args:
            binder: Returns the reader for a descriptor, or None if it knows none.
                None takes the binding away.

        Returns:
            What was set before.
        """
        before = UnboundReader._binder
        UnboundReader._binder = binder
        return before

    def describe(self) -> ReaderDescriptor:
        """Return the descriptor that arrived."""
        return self._descriptor

    def open(self) -> BinaryIO:
        """Bind, then do what `Reader.open` says.

        Raises:
            NoReaderResolverError: If nothing in this process binds the descriptor.
        """
        return self._reader().open()

    def iter_bytes(self, chunk_size: int = CHUNK_SIZE) -> Iterator[bytes]:
        """Bind, then do what `Reader.iter_bytes` says."""
        return self._reader().iter_bytes(chunk_size)

    def read_range(self, start: int, end: int) -> bytes:
        """Bind, then do what `Reader.read_range` says."""
        return self._reader().read_range(start, end)

    def byte_length(self) -> int | None:
        """Bind, then do what `Reader.byte_length` says."""
        return self._reader().byte_length()

    def url(self, *, expires: float = 3600) -> str:
        """Bind, then do what `Reader.url` says."""
        return self._reader().url(expires=expires)

    async def aopen(self) -> BinaryIO:
        """Bind, then do what `Reader.aopen` says."""
        return await self._reader().aopen()

    def aiter_bytes(self, chunk_size: int = CHUNK_SIZE) -> AsyncIterator[bytes]:
        """Bind, then do what `Reader.aiter_bytes` says."""
        return self._reader().aiter_bytes(chunk_size)

    async def aread_range(self, start: int, end: int) -> bytes:
        """Bind, then do what `Reader.aread_range` says."""
        return await self._reader().aread_range(start, end)

    async def abyte_length(self) -> int | None:
        """Bind, then do what `Reader.abyte_length` says."""
        return await self._reader().abyte_length()

    def __repr__(self) -> str:
        return f"UnboundReader({self._descriptor!r})"

    def _reader(self) -> Reader:
        """Return the bound reader; what failed once is tried again the next time."""
        if self._bound is None:
            self._bound = self._bind()
        return self._bound

    def _bind(self) -> Reader:
        binder = UnboundReader._binder
        reader = None if binder is None else binder(self._descriptor)
        # A binder that answers with another unbound reader would send us in circles.
        if reader is None or isinstance(reader, UnboundReader):
            raise self._unresolved()
        return reader

    def _unresolved(self) -> NoReaderResolverError:
        scheme, alias = self._descriptor.scheme, self._descriptor.locator.get("store")
        store = f" of the store {alias!r:.60}" if isinstance(alias, str) else ""
        return NoReaderResolverError(
            f"an unpickled {scheme!r} handle{store} has no resolver in this process",
            hint="call graphcodec.queues.worker_codec(codec) where the worker starts,"
            " with a codec whose resolvers know it, or send encoded bytes",
            tag=scheme,
            alias=alias if isinstance(alias, str) else None,
        )
