# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false
# What breaks a rule is put into classes by name, where no type is known.

from __future__ import annotations

import hashlib
import io
import itertools
import time
from functools import partialmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pytest

from graphcodec.errors import (
    HandleNotFoundError,
)
from graphcodec.readers import (
    Reader,
    ReaderDescriptor,
)
from tests.suites.shelves import (
    Shelf,
    ShelfReader,
    ShelfResolver,
    ShelfResolverSuite,
    ShelfSuite,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRET = "geheim-1"  # noqa: S105 - nobody's


# For each rule there is something that breaks it, and the suite says so


def broken(kind: type[Shelf], **methods: Any) -> type[Shelf]:
    """Return a shelf that does some things otherwise."""
    return type("Broken", (kind,), methods)


def broken_reader(**methods: Any) -> type[Shelf]:
    """Return a shelf whose readers do some things otherwise."""
    reader: type[ShelfReader] = type("BrokenReader", (ShelfReader,), methods)
    return broken(Shelf, reader=partialmethod(reader))


def broken_resolver(**methods: Any) -> type[ShelfResolver]:
    """Return a resolver that does some things otherwise."""
    return type("BrokenResolver", (ShelfResolver,), methods)


def _write_twice(shelf: Shelf, data: bytes, **_: object) -> Reader:
    content = shelf.content_of(data)
    key = f"{len(shelf.kept)}"
    shelf.kept[key] = content
    return shelf.reader(key)


def _write_slowly(shelf: Shelf, data: bytes, **_: object) -> Reader:
    """Lose what others wrote meanwhile."""
    content = shelf.content_of(data)
    kept = dict(shelf.kept)
    time.sleep(0.01)
    key = hashlib.sha256(content).hexdigest()
    shelf.kept = {**kept, key: content}
    return shelf.reader(key)


def _half(shelf: Shelf, data: Any, **_: object) -> Reader:
    try:
        content = shelf.content_of(data)
    except OSError:
        content = b"half of it"
    return Shelf.write(shelf, content)


def _keep_half(shelf: Shelf, data: Any, **_: object) -> Reader:
    try:
        return Shelf.write(shelf, data)
    except OSError:
        shelf.kept["half"] = b"half of it"
        raise


def _take_nothing(shelf: Shelf, data: Any, **_: object) -> Reader:
    """Take whatever is empty for empty bytes."""
    return Shelf.write(shelf, data or b"")


def _stop_early(shelf: Shelf, data: Any, **_: object) -> Reader:
    """Take a stream that is not ready for one that is over."""
    if isinstance(data, io.RawIOBase):
        data = b"".join(iter(lambda: data.read(1 << 16) or b"", b""))
    return Shelf.write(shelf, data)


def _from_the_start(shelf: Shelf, data: Any, **_: object) -> Reader:
    if isinstance(data, io.BytesIO):
        data.seek(0)
    return Shelf.write(shelf, data)


def _encode_text(shelf: Shelf, data: Any, **_: object) -> Reader:
    return Shelf.write(shelf, data.encode() if isinstance(data, str) else data)


def _open_file(*_: object) -> ReaderDescriptor:
    with Path(__file__).open("rb"):
        return ReaderDescriptor("shelf", {"key": "a"})


def _describe_file(reader: ShelfReader) -> ReaderDescriptor:
    with Path(__file__).open("rb"):
        return ReaderDescriptor("shelf", {"key": reader.key})


def _found(shelf: Shelf, key: str) -> bytes:
    return shelf.kept.get(key, b"")


def _any_bytes(shelf: Shelf, key: str) -> bytes:
    if key not in shelf.kept:
        raise HandleNotFoundError("nothing is there")
    return shelf.kept[key]


COUNT = itertools.count()
SHARED: dict[str, BinaryIO] = {}


def _shared(reader: ShelfReader) -> BinaryIO:
    """Give the same stream to everybody."""
    stream = SHARED.get(reader.key)
    if stream is None or stream.closed or not stream.read(1):
        stream = SHARED[reader.key] = io.BytesIO(reader.shelf.find(reader.key))
    else:
        stream.seek(-1, 1)
    return stream


def _once(reader: ShelfReader) -> BinaryIO:
    """Give the content the first time only."""
    content = b"" if hasattr(reader, "opened") else reader.shelf.find(reader.key)
    reader.opened = True  # type: ignore[attr-defined]
    return io.BytesIO(content)


def _whole(reader: ShelfReader, chunk_size: int = 0) -> Iterator[bytes]:
    del chunk_size
    yield reader.shelf.find(reader.key)


async def _nothing(reader: ShelfReader, start: int, end: int) -> bytes:
    del reader, start, end
    return b""


def _no_key(resolver: ShelfResolver, descriptor: ReaderDescriptor) -> Reader | None:
    """Look only at what it knows."""
    if descriptor.scheme != "shelf":
        return None
    return resolver.reader(str(descriptor.locator.get("key")))


def _looks(resolver: ShelfResolver, descriptor: ReaderDescriptor) -> Reader | None:
    reader = ShelfResolver.resolve(resolver, descriptor)
    if reader is not None:
        reader.open()
    return reader


def _reads_disk(resolver: ShelfResolver, descriptor: ReaderDescriptor) -> Reader | None:
    if descriptor.scheme == "shelf":
        _open_file()
    return ShelfResolver.resolve(resolver, descriptor)


STORES: list[tuple[type[Shelf], str, str]] = [
    (broken(Shelf, descriptors=None), "it_is_a_store", "it has write, delete"),
    (
        broken(Shelf, descriptors=lambda _: iter([ReaderDescriptor("a", {})])),
        "it_is_a_store",
        "gives an empty store",
    ),
    (broken(Shelf, find=_found), "what_was_deleted_is_gone", "HandleNotFoundError"),
    (broken(Shelf, find=_any_bytes), "what_was_changed_is_stale", "StaleHandleError"),
    (
        broken(Shelf, find=lambda *_: b"a"),
        "what_is_written_is_read",
        r"open\(\) gives the content",
    ),
    (broken(Shelf, write=_from_the_start), "a_file_is_read_from", "where it stands"),
    (broken(Shelf, write=_write_twice), "the_same_bytes_are_kept", "have one handle"),
    (broken(Shelf, write=_write_slowly), "threads_write_at_once", "threads"),
    (broken(Shelf, write=_half), "what_breaks_off", "is not swallowed"),
    (broken(Shelf, write=_keep_half), "what_breaks_off", "half of an object"),
    (broken(Shelf, write=_stop_early), "what_breaks_off", "that is not ready"),
    (broken(Shelf, write=_encode_text), "what_has_no_bytes", "refuses a str"),
    (broken(Shelf, write=_take_nothing), "what_has_no_bytes", "refuses a str"),
    (
        broken(Shelf, descriptors=lambda _: iter(())),
        "what_is_kept_is_listed",
        "lists what is kept",
    ),
    (broken(Shelf, delete=lambda *_: True), "deleting_says", "it was gone"),
    (broken(Shelf, delete=lambda *_: False), "deleting_says", "it was there"),
    (broken(Shelf, delete=lambda *_: True), "what_is_of_others", "leaves others"),
    (broken_reader(describe=lambda _: None), "readers_are_values", "Descriptor"),
    (broken_reader(describe=_describe_file), "readers_are_values", "no I/O"),
    (
        broken_reader(describe=lambda _: ReaderDescriptor("shelf", {"key": f"{time}"})),
        "what_is_kept_is_listed",
        "lists what is kept",
    ),
    (
        broken_reader(describe=lambda _: ReaderDescriptor("a", {"b": next(COUNT)})),
        "readers_are_values",
        "the same each time",
    ),
    (broken_reader(__eq__=object.__eq__), "readers_are_values", "hash|equal"),
    (
        broken_reader(__deepcopy__=lambda r, _: ShelfReader(r.shelf, r.key)),
        "readers_are_values",
        "its own copy",
    ),
    (
        broken_reader(__hash__=object.__hash__),
        "readers_are_values",
        "equal hashes",
    ),
    (broken_reader(open=_once), "what_is_written_is_read", "each time"),
    (broken_reader(open=_shared), "streams_are_independent", "positions of their own"),
    (broken_reader(iter_bytes=_whole), "what_is_written_is_read", "at most n bytes"),
    (broken_reader(byte_length=lambda _: 7), "what_is_written_is_read", "byte_length"),
    (
        broken_reader(read_range=lambda *_: b""),
        "what_is_written_is_read",
        "what slicing would",
    ),
    (broken_reader(aread_range=_nothing), "event_loops_read", "aread_range"),
    (
        broken(Shelf, __repr__=lambda _: f"<Shelf of {SECRET}>"),
        "it_shows_no_secrets",
        "secrets are in no",
    ),
]


@pytest.mark.parametrize(("kind", "test", "rule"), STORES)
def test_a_store_that_breaks_a_rule_fails(
    kind: type[Shelf], test: str, rule: str
) -> None:
    """The suite names the rule."""
    (name,) = (name for name in dir(ShelfSuite) if name.startswith(f"test_{test}"))
    suite = type("Suite", (ShelfSuite,), {"kind": kind, "secrets": (SECRET,)})()

    with pytest.raises(AssertionError, match=rule):
        getattr(suite, name)()


RESOLVERS: list[tuple[type[ShelfResolver], str, str]] = [
    (broken_resolver(tags=("media:shelf",)), "it_has_tags", "both families"),
    (broken_resolver(tags="media:shelf"), "it_has_tags", "tags are several"),
    (broken_resolver(tags=("media:b", "spool:b")), "it_has_tags", "name the schemes"),
    (
        broken_resolver(resolve=lambda r, d: r.reader(str(d.locator.get("key")))),
        "it_leaves_other_schemes",
        "None for a scheme of others",
    ),
    (broken_resolver(resolve=_reads_disk), "resolving_touches", "does no I/O"),
    (broken_resolver(resolve=_no_key), "malformed_handles", "refuses a locator"),
    (
        broken_resolver(resolve=lambda r, d: r.reader(d.locator["key"])),
        "malformed_handles",
        r"refuses a locator with \[\]; it raised KeyError",
    ),
    (broken_resolver(resolve=lambda *_: None), "readers_are_values", "gives a Reader"),
    (
        broken_resolver(reader=lambda r, _: r.shelf.write(b"another")),
        "readers_are_values",
        "has the same handle",
    ),
    (
        broken_resolver(__repr__=lambda _: SECRET),
        "it_shows_no_secrets",
        "secrets are in no",
    ),
]


@pytest.mark.parametrize(("resolver", "test", "rule"), RESOLVERS)
def test_a_resolver_that_breaks_a_rule_fails(
    resolver: type[ShelfResolver], test: str, rule: str
) -> None:
    """The suite names the rule."""
    names = dir(ShelfResolverSuite)
    (name,) = (name for name in names if name.startswith(f"test_{test}"))
    options = {"resolver": resolver, "secrets": (SECRET,)}
    suite = type("Suite", (ShelfResolverSuite,), options)()

    with pytest.raises(AssertionError, match=rule):
        getattr(suite, name)()


def test_a_resolver_that_looks_fails() -> None:
    """Handles to nothing would not decode."""
    options = {"resolver": broken_resolver(resolve=_looks)}
    suite = type("Suite", (ShelfResolverSuite,), options)()

    with pytest.raises(HandleNotFoundError, match="nothing is there"):
        suite.test_handles_to_nothing_resolve()


@pytest.mark.parametrize(
    ("find", "test", "rule"),
    [
        (_found, "what_is_missing", "HandleNotFoundError"),
        (_any_bytes, "what_was_changed", "StaleHandleError"),
    ],
)
def test_a_resolver_that_finds_anything_fails(
    find: object, test: str, rule: str
) -> None:
    """Nothing is not empty, and other bytes are not the same."""
    names = dir(ShelfResolverSuite)
    (name,) = (name for name in names if name.startswith(f"test_{test}"))
    suite = type("Suite", (ShelfResolverSuite,), {"kind": broken(Shelf, find=find)})()

    with pytest.raises(AssertionError, match=rule):
        getattr(suite, name)()
