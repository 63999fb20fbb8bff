"""Handles to objects in stores: local folders, memory and what else fsspec reaches.

A locator names a store by its alias and an object by its key; what the alias stands
for is bound by each process that opens the handle.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO, Final, Literal, TypeAlias, cast

from graphcodec._process import PerProcess
from graphcodec.errors import (
    InvalidValueError,
    ResolverDeniedError,
    StorageError,
    UndecodableValueError,
    UnencodableValueError,
)
from graphcodec.readers import JSON, Reader, ReaderDescriptor
from graphcodec.readers._chunks import chunks_of
from graphcodec.readers._contracts import handle_of
from graphcodec_resolvers._backends import CONTENT, FACTS, Backend, Kept
from graphcodec_resolvers._keys import content_key, key_problem
from graphcodec_resolvers._objects import bind
from graphcodec_resolvers._pins import (
    PIN_CHECKS,
    Check,
    Pins,
    check_locator,
    is_text,
)
from graphcodec_resolvers._settings import alias_of, options_of, root_of
from graphcodec_resolvers._stored import SCHEME, FsspecReader, store_place
from graphcodec_resolvers._streams import (
    Source,
    sha256_of,
)

if TYPE_CHECKING:
    # fsspec has neither annotations nor stubs.
    from collections.abc import Callable, Iterable, Iterator

    from fsspec import AbstractFileSystem  # pyright: ignore[reportMissingTypeStubs]

    from graphcodec_resolvers._collect import GcReport
    from graphcodec_resolvers._objects import Settings
    from graphcodec_resolvers._places import Place
    from graphcodec_resolvers._settings import Options

Pin: TypeAlias = Literal["none", "stat", "content"]
Binding: TypeAlias = "str | os.PathLike[str] | FsspecStore | Callable[[], FsspecStore]"
Stores: TypeAlias = "Mapping[str, Binding]"

DAY: Final = 86_400.0

_CHECKS: Final[Mapping[str, Check]] = MappingProxyType(
    {
        "store": lambda value: isinstance(value, str),
        "key": lambda value: isinstance(value, str),
        **PIN_CHECKS,
        "process": is_text,
    }
)


class FsspecStore:
    """Keeps bytes in a folder, in memory or in whatever else fsspec reaches.

    What it writes lies under ``sha256/``, named by its content, so writing the same
    bytes again changes nothing, nor does running a program again that was killed.
    Handles name the store by *alias*; where it is and how it is reached is never
    written.

    Objects in memory can't be opened by another process, not even by a forked one.

    Args:
        root: A local path, a URL such as ``memory://media``, or a file system of
            fsspec with a path in it.
        alias: The name by which other processes know the store.
        options: Options for the file system of a URL: endpoints, credentials; or a
            function that returns them. It is called once in each process, and again
            when a server says that the credentials have expired.

    Raises:
        InvalidValueError: If an argument is not what it should be.
    """

    __slots__ = ("__weakref__", "_again", "_alias", "_backend", "_options", "_root")

    def __init__(
        self,
        root: str | os.PathLike[str] | tuple[AbstractFileSystem, str],
        *,
        alias: str,
        options: Options | None = None,
    ) -> None:
        self._alias = alias_of(alias)
        self._root = root_of(root)
        self._options = options_of(options)
        self._again: Callable[[], FsspecStore] | None = None
        made_in = os.getpid()
        self._backend = PerProcess(lambda: bind(self._settings, self._renewed, made_in))

    @property
    def alias(self) -> str:
        """The name by which handles know the store."""
        return self._alias

    def backend(self) -> Backend:
        """Return the live binding of this process; made on first use."""
        return self._backend.get()

    def write(
        self, data: bytes | BinaryIO | Reader, *, media_type: str | None = None
    ) -> FsspecReader:
        """Keep *data* under its hash; the same bytes are kept once.

        Nobody sees a part of it: the key appears when all bytes are there. A stream
        is read from where it stands to its end, in constant memory except for stores
        in memory.

        Args:
            data: The content, or something to read it from.
            media_type: The MIME type, for stores that keep one.

        Raises:
            StorageError: If the store could not keep it.
            ResolverDeniedError: If the store may not be written.
            InvalidValueError: If *data* gives something other than bytes.
        """
        chunks = chunks_of(data)
        with store_place(self._alias, CONTENT).mapped(StorageError):
            backend = self.backend()
            kept = backend.keep(chunks, media_type)
        return self._bound(self._locator(kept, backend.process))

    def delete(self, item: Reader | ReaderDescriptor) -> bool:
        """Forget *item*; say whether it was there.

        Args:
            item: A reader or descriptor of this store; of any other, nothing is
                deleted.

        Raises:
            ResolverDeniedError: If the key is out of bounds, or may not be deleted.
            InvalidValueError: If *item* is neither.
        """
        descriptor = handle_of(item)
        if descriptor is None or descriptor.scheme != SCHEME:
            return False
        locator = descriptor.locator
        key = locator.get("key")
        if locator.get("store") != self._alias or not isinstance(key, str):
            return False
        place = self._admitted(key)
        with place.mapped(StorageError):
            backend = self.backend()
            if locator.get("process") not in {None, backend.process}:
                return False
            return backend.delete(key)

    def descriptors(self) -> Iterator[ReaderDescriptor]:
        """Yield a descriptor for everything that `write` has kept.

        Objects that somebody else put there are not listed: they are not ours to
        collect.
        """
        with store_place(self._alias, CONTENT).mapped(StorageError):
            backend = self.backend()
            for kept in backend.contents():
                locator = self._locator(kept, backend.process)
                yield ReaderDescriptor(SCHEME, locator)

    def gc(
        self, live: Iterable[object], *, grace: float = DAY, dry_run: bool = False
    ) -> GcReport:
        """Free what `write` has kept and no graph names any more.

        Only content under its hash is freed, never what others put into the store, and
        nothing that was written within the grace period, be it for the first time or
        again: its graph may not have been saved yet. Unfinished writes of programs
        that were killed are removed once they are as old. It may run while others
        write; if it fails, nothing is lost, and it can be run again.

        Args:
            live: Every graph that must stay readable, or descriptors of single
                handles; all are looked through before anything is freed. What
                `handles` does not find in a graph does not count. Handles of other
                stores to the same bytes do.
            grace: How long content stays although nobody names it, in seconds. It
                must be longer than anybody takes from the first write of `persist` to
                saving the graph, and than clocks differ. Where times can't be
                changed, such as on S3, at least two hours.
            dry_run: Whether to only say what would be freed.

        Raises:
            InvalidValueError: If *live* is one graph instead of many, or one of them
                is none, such as a document that was not decoded.
            StorageError: If the store can't be listed or something not removed.
            ResolverDeniedError: If that is not allowed.
        """
        # Here, because it loads asyncio, which reading and writing do without.
        from graphcodec_resolvers._collect import collect, live_keys  # noqa: PLC0415

        keys = live_keys(live)
        with store_place(self._alias, CONTENT).mapped(StorageError):
            return collect(self.backend(), keys, grace=grace, dry_run=dry_run)

    def reader(self, key: str, *, pin: Pin = "stat") -> FsspecReader:
        """Return a reader for an object that is already there.

        Args:
            key: Its path below the root.
            pin: What a later `open` insists on: nothing (``"none"``); what the store
                tells without reading, such as size and time (``"stat"``); or the
                hash, for which the object is read once now (``"content"``).

        Raises:
            HandleNotFoundError: If nothing is there.
            ResolverDeniedError: If the key is out of bounds, or not readable.
            InvalidValueError: If *key* is no str, or *pin* is something else.
        """
        if not isinstance(cast("object", key), str):
            raise InvalidValueError(f"key: must be a str, not {type(key).__name__}")
        if pin not in {"none", "stat", "content"}:
            msg = f"pin: must be 'none', 'stat' or 'content', not {pin!r}"
            raise InvalidValueError(msg)
        place = self._admitted(key)
        with place.mapped():
            backend = self.backend()
            source, found = backend.open(key, Pins(), FACTS)
            try:
                pins = _pinned(source, found, pin, lasting=backend.process is None)
            finally:
                source.close()
        locator: dict[str, JSON] = {"store": self._alias, "key": key, **pins.fields()}
        return self._bound(_local_to(locator, backend.process))

    def refresh(self) -> None:
        """Forget the live binding of this process: the next use makes another one.

        Streams that are open go on with the one that they have.
        """
        self._backend.take()

    def made_by(self, make: Callable[[], FsspecStore]) -> None:
        """Take note of what to call when credentials have expired; for resolvers.

        Args:
            make: Makes a store like this one, with the credentials of now.
        """
        self._again = make

    def _settings(self) -> Settings:
        options = self._options() if callable(self._options) else self._options
        return self._root, options

    def _renewed(self) -> Settings:
        """Return what `_settings` does, of the store made anew if that is possible."""
        now = self if self._again is None else self._again()
        return now._settings()  # noqa: SLF001 - of the same class

    def _admitted(self, key: str) -> Place:
        place = store_place(self._alias, key)
        if problem := key_problem(key):
            raise place.error(ResolverDeniedError, problem)
        return place

    def _locator(self, kept: Kept, process: str | None) -> dict[str, JSON]:
        key = content_key(kept.sha256)
        pins = Pins(size=kept.size, sha256=kept.sha256).fields()
        return _local_to({"store": self._alias, "key": key, **pins}, process)

    def _bound(self, locator: dict[str, JSON]) -> FsspecReader:
        return FsspecReader(ReaderDescriptor(SCHEME, locator), lambda: self)

    def __reduce__(self) -> tuple[object, ...]:
        if self._options or not isinstance(self._root, str):
            raise UnencodableValueError(
                f"store {self._alias!r} holds a live file system or its options",
                hint="pickle a function that makes the store, and call it over there",
                alias=self._alias,
            )
        return partial(FsspecStore, alias=self._alias), (self._root,)

    def __repr__(self) -> str:
        return f"FsspecStore(alias={self._alias!r})"


class FsspecResolver:
    """Re-opens handles to the stores that it knows by alias.

    Nothing but the alias and the key is taken from a handle; keys can't lead out of
    the store.

    Args:
        stores: For each alias, a local path or URL, a store, or a function that makes
            the store. A function is called when a handle is opened for the first time,
            once in each process, and again when a server says that the credentials
            have expired.

    Raises:
        InvalidValueError: If *stores* binds an alias to something else.
    """

    __slots__ = ("_given", "_stores")

    @property
    def tags(self) -> tuple[str, str]:
        """The tags it takes."""
        return f"media:{SCHEME}", f"spool:{SCHEME}"

    def __init__(self, stores: Stores) -> None:
        if not isinstance(cast("object", stores), Mapping):
            msg = f"stores: must map aliases to stores, not {type(stores).__name__}"
            hint = "FsspecResolver({alias: store}), with the alias that handles name"
            raise InvalidValueError(msg, hint=hint)
        self._given = {alias: _binding(alias, stores[alias]) for alias in stores}
        self._stores = {
            alias: PerProcess(partial(_made, alias, given))
            for alias, given in self._given.items()
        }

    def resolve(self, descriptor: ReaderDescriptor, /) -> FsspecReader | None:
        """Return a lazy reader, or None for a scheme or an alias it does not know.

        Raises:
            UndecodableValueError: If the locator has unknown fields or odd values.
        """
        if descriptor.scheme != SCHEME:
            return None
        alias = descriptor.locator.get("store")
        if not isinstance(alias, str) or "key" not in descriptor.locator:
            msg = "a locator of scheme 'fsspec' must name a store and a key"
            raise UndecodableValueError(msg, tag=SCHEME)
        if alias not in self._stores:
            return None
        check_locator(SCHEME, descriptor.locator, _CHECKS)
        return FsspecReader(descriptor, self._stores[alias].get)

    def refresh(self, alias: str) -> None:
        """Make the store anew on the next use, in this process.

        Streams that are open go on with the one that they have.

        Args:
            alias: The name of the store; one that is not known has none to forget.
        """
        if (stores := self._stores.get(alias)) is None:
            return
        store = stores.take()
        if store is not None:
            store.refresh()

    def __reduce__(self) -> tuple[object, ...]:
        return FsspecResolver, (self._given,)

    def __repr__(self) -> str:
        return f"FsspecResolver({', '.join(map(repr, sorted(self._given)))})"


def _binding(alias: str, given: Binding) -> FsspecStore | Callable[[], FsspecStore]:
    if isinstance(given, FsspecStore) or callable(given):
        alias_of(alias)
        return given
    return FsspecStore(given, alias=alias)


def _made(alias: str, given: FsspecStore | Callable[[], FsspecStore]) -> FsspecStore:
    if isinstance(given, FsspecStore):
        return given
    try:
        made = given()
    except Exception as exc:
        # The function is the application's, and so is its error.
        exc.add_note(f"raised while making the store {alias!r}")
        raise
    if not isinstance(cast("object", made), FsspecStore):
        name = type(made).__name__
        msg = f"the function for the store {alias!r} made a {name}, no FsspecStore"
        raise InvalidValueError(msg, type_name=name, alias=alias)
    made.made_by(given)
    return made


def _pinned(source: Source, found: Pins, pin: Pin, *, lasting: bool) -> Pins:
    if pin == "none":
        return Pins()
    if pin == "stat" and lasting:
        return found
    # Nothing tells that an object in memory was written to in place, but its bytes.
    digest = sha256_of(source)
    return Pins(**{**found.fields(), "sha256": digest})  # type: ignore[arg-type]


def _local_to(locator: dict[str, JSON], process: str | None) -> dict[str, JSON]:
    return locator if process is None else {**locator, "process": process}


# Pickles and tracebacks show the public path of a name.
for _public in (FsspecStore, FsspecResolver):
    _public.__module__ = "graphcodec_resolvers"
