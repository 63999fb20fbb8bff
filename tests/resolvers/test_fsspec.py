from __future__ import annotations

import asyncio
import hashlib
import io
import os
import pickle
import subprocess
import sys
import threading
import tracemalloc
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias, cast

import pytest

from graphcodec.errors import (
    HandleError,
    HandleNotFoundError,
    InvalidValueError,
    ProcessLocalHandleError,
    ReaderNotDescribableError,
    ResolverDeniedError,
    StaleHandleError,
    StorageError,
    UndecodableValueError,
    UnencodableValueError,
)
from graphcodec.readers import (
    BytesReader,
    ByteStore,
    Reader,
    ReaderDescriptor,
    Resolver,
)
from graphcodec_resolvers import FsspecReader, FsspecResolver, FsspecStore
from graphcodec_resolvers._objects import bind
from tests.resolvers.filesystems import (
    FORBIDDEN,
    PLAIN,
    FileSystem,
    RemoteFileSystem,
    filesystem,
    split,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from graphcodec.readers import JSON

Root: TypeAlias = str | tuple[FileSystem, str]

DATA = bytes(range(256)) * 1000
SHA256 = hashlib.sha256(DATA).hexdigest()
KEY = f"sha256/{SHA256[:2]}/{SHA256}"
MiB = 1 << 20


@pytest.fixture(params=["folder", "memory", "dir", "plain"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Root]:
    """A local folder, a prefix in memory, or a file system over another one."""
    memory = filesystem("memory", skip_instance_cache=True)
    if request.param == "folder":
        yield str(tmp_path / "store")
    elif request.param == "memory":
        yield "memory://tests/store"
    elif request.param == "dir":
        yield filesystem("dir", path="/tests/other", fs=memory), ""
    else:
        yield PLAIN, "/tests/plain"
    if memory.exists("/tests"):
        memory.rm("/tests", recursive=True)


@pytest.fixture
def store(root: Root) -> FsspecStore:
    """A store of each kind, under the alias ``media``."""
    return FsspecStore(root, alias="media")


def put(root: Root, key: str, data: bytes) -> None:
    """Put an object there without the store."""
    if isinstance(root, tuple):
        fs, base = root
    else:
        fs, base = split(root)
    path = f"{base}/{key}".lstrip("/") if base == "" else f"{base}/{key}"
    fs.makedirs(path.rpartition("/")[0], exist_ok=True)
    fs.pipe_file(path, data)


def handle(**locator: JSON) -> ReaderDescriptor:
    """Return the descriptor that a document holds."""
    return ReaderDescriptor("fsspec", locator)


def test_it_keeps_the_contracts(store: FsspecStore) -> None:
    """It is a byte store, and its readers are readers."""
    reader = store.write(DATA)

    assert store.alias == "media"
    assert isinstance(store, ByteStore)
    assert isinstance(reader, FsspecReader)
    assert isinstance(FsspecResolver({}), Resolver)


@pytest.mark.parametrize(
    "given",
    [
        lambda: DATA,
        lambda: bytearray(DATA),
        lambda: memoryview(DATA),
        lambda: io.BytesIO(DATA),
        lambda: BytesReader(DATA),
    ],
)
def test_what_is_written_is_named_by_its_content(
    store: FsspecStore, given: Callable[[], bytes]
) -> None:
    """The handle is alias, key, size and hash, whatever the bytes came from."""
    reader = store.write(given(), media_type="image/png")

    locator = dict(reader.describe().locator)
    locator.pop("process", None)
    assert locator == {
        "store": "media",
        "key": KEY,
        "size": len(DATA),
        "sha256": SHA256,
    }
    assert reader.open().read() == DATA


def test_the_same_bytes_are_kept_once(store: FsspecStore) -> None:
    """Writing again, or from several threads at once, changes nothing."""
    threads = [threading.Thread(target=store.write, args=(DATA,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert store.write(DATA) == store.write(io.BytesIO(DATA))
    assert [item.locator["key"] for item in store.descriptors()] == [KEY]


def test_descriptors_are_those_of_the_readers(store: FsspecStore, root: Root) -> None:
    """What the store wrote is listed, what others put there is not."""
    assert list(store.descriptors()) == []
    written = {store.write(data).describe() for data in (b"", b"a", DATA)}
    put(root, "other/file", b"mine")
    put(root, "sha256/aa/not-a-hash", b"mine")

    assert set(store.descriptors()) == written


def test_delete_says_whether_it_was_there(store: FsspecStore) -> None:
    """Readers and descriptors of this store are deleted, others are not touched."""
    first, second = store.write(b"1"), store.write(b"2")

    assert store.delete(first)
    assert not store.delete(first)
    assert store.delete(second.describe())
    assert list(store.descriptors()) == []
    with pytest.raises(HandleNotFoundError, match="nothing is there"):
        first.open()


def test_delete_leaves_other_stores_alone(store: FsspecStore) -> None:
    """A handle with another alias, process or scheme names something else."""
    store.write(DATA)

    for item in (
        BytesReader(DATA),
        BytesReader(DATA).describe(),
        handle(store="other", key=KEY),
        handle(store="media", key=KEY, process="another"),
        handle(store="media", key=1),
    ):
        assert not store.delete(item)
    with pytest.raises(ResolverDeniedError, match=r"'\.\.'"):
        store.delete(handle(store="media", key="../x"))
    assert len(list(store.descriptors())) == 1


def test_a_resolved_handle_opens_the_same_bytes(store: FsspecStore, root: Root) -> None:
    """The other side knows the alias, and nothing else of where the bytes are."""
    written = store.write(DATA)
    resolver = FsspecResolver({"media": FsspecStore(root, alias="there")})

    reader = resolver.resolve(written.describe())

    assert reader is not None
    assert reader == written
    assert hash(reader) == hash(written)
    assert reader.open().read() == DATA
    assert reader.describe() == written.describe()


def test_streams_are_independent(store: FsspecStore) -> None:
    """Two streams of one object have two positions; they seek like files."""
    reader = store.write(DATA)

    with reader.open() as one, reader.open() as two:
        assert one.read(100) == DATA[:100]
        assert two.read(50) == DATA[:50]
        assert one.seek(-5, io.SEEK_END) == len(DATA) - 5
        assert one.read() == DATA[-5:]
        assert two.read(50) == DATA[50:100]
        assert one.seek(0) == 0
        assert one.read() == DATA
        with pytest.raises(ValueError, match="negative seek"):
            one.seek(-1)


@pytest.mark.parametrize(
    ("start", "end"), [(0, 5), (-3, 5), (5, 5), (9, 3), (7, 10**9)]
)
def test_ranges_are_slices(store: FsspecStore, start: int, end: int) -> None:
    """A range is what slicing the content would give."""
    assert store.write(DATA).read_range(start, end) == DATA[max(0, start) : end]


def test_lengths_come_from_the_handle_or_from_the_store(
    store: FsspecStore, root: Root
) -> None:
    """A pinned size costs nothing."""
    put(root, "a", b"12345")

    assert store.write(DATA).byte_length() == len(DATA)
    assert store.reader("a", pin="none").byte_length() == 5


def test_an_empty_object_is_an_object(store: FsspecStore) -> None:
    """It is written, found, listed and read."""
    reader = store.write(io.BytesIO(b""))

    assert reader.open().read() == b""
    assert reader.byte_length() == 0
    assert list(reader.iter_bytes()) == []
    assert store.reader(str(reader.describe().locator["key"])).open().read() == b""


def test_the_async_face_reads_the_same(store: FsspecStore) -> None:
    """Nothing is bound to an event loop."""
    reader = store.write(DATA)

    async def read() -> bytes:
        return b"".join([piece async for piece in reader.aiter_bytes()])

    assert asyncio.run(read()) == asyncio.run(read()) == DATA


@pytest.mark.parametrize(
    "key", ["a b", "a+b", "100%2F.png", "\N{GRINNING FACE}/x", "deep/er/~", "a:b"]
)
def test_odd_keys_are_read_as_they_are(
    store: FsspecStore, root: Root, key: str
) -> None:
    """Nothing in a key is unescaped."""
    put(root, key, b"odd")

    reader = store.reader(key)

    assert reader.open().read() == b"odd"
    assert reader.describe().locator["key"] == key


@pytest.mark.parametrize(
    "key",
    [
        "../../etc/passwd",
        "/etc/passwd",
        "a/../../x",
        "simplecache::s3://bucket/x",
        "s3://bucket/x",
        "a?b",
        "a#b",
        "a\\b",
        "a\0b",
        "",
    ],
)
def test_keys_out_of_bounds_are_denied(store: FsspecStore, key: str) -> None:
    """On opening, with alias and key; resolving such a handle opens nothing."""
    reader = FsspecResolver({"media": store}).resolve(handle(store="media", key=key))
    assert reader is not None

    for attempt in (
        reader.open,
        reader.byte_length,
        lambda: reader.read_range(0, 1),
        lambda: store.reader(key),
    ):
        with pytest.raises(ResolverDeniedError, match="the key") as caught:
            attempt()
        assert caught.value.alias == "media"


PINS = ["stat", "content"]


@pytest.mark.parametrize("pin", PINS)
@pytest.mark.parametrize("now", [b"1234", b"123456", b"54321", b""])
def test_a_changed_object_is_stale(
    store: FsspecStore,
    root: Root,
    pin: str,
    now: bytes,
) -> None:
    """Truncated, longer or just other bytes: not one of them is handed out."""
    put(root, "a", b"12345")
    reader = store.reader("a", pin=pin)  # type: ignore[arg-type]
    assert reader.open().read() == b"12345"

    put(root, "a", now)

    with pytest.raises(StaleHandleError, match=r"was|sha256 pinned"):
        reader.open().read()


@pytest.mark.parametrize("pin", ["none", *PINS])
def test_a_deleted_object_is_not_found(
    store: FsspecStore, root: Root, pin: str
) -> None:
    """Gone is gone, whatever was pinned."""
    put(root, "a", b"12345")
    reader = store.reader("a", pin=pin)  # type: ignore[arg-type]

    assert store.delete(reader)

    with pytest.raises(HandleNotFoundError, match="'media', 'a'"):
        reader.open()
    with pytest.raises(HandleNotFoundError, match="nothing is there"):
        reader.read_range(0, 1)
    with pytest.raises(HandleNotFoundError, match="nothing is there"):
        store.reader("a")


def test_an_object_that_is_not_pinned_is_read_as_it_is(
    store: FsspecStore, root: Root
) -> None:
    """With pin="none" the handle names a place, not bytes."""
    put(root, "a", b"12345")
    reader = store.reader("a", pin="none")
    put(root, "a", b"other")

    assert reader.open().read() == b"other"
    assert not {"size", "sha256", "etag"} & set(reader.describe().locator)


def test_the_same_bytes_are_good_however_they_got_there(
    store: FsspecStore, root: Root
) -> None:
    """A hash outweighs names and times: a copy is the same content."""
    put(root, "a", b"12345")
    reader = store.reader("a", pin="content")
    store.delete(reader)
    put(root, "a", b"12345")

    assert reader.open().read() == b"12345"
    assert reader.read_range(1, 3) == b"23"


def test_pins_are_named(store: FsspecStore) -> None:
    """A typing error in an option is an error."""
    with pytest.raises(InvalidValueError, match="pin: must be"):
        store.reader("a", pin="hash")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "locator",
    [
        {},
        {"store": "media"},
        {"key": "a"},
        {"store": 1, "key": "a"},
        {"store": "media", "key": 1},
        {"store": "media", "key": None},
        {"store": "media", "key": "a", "size": "1"},
        {"store": "media", "key": "a", "size": -1},
        {"store": "media", "key": "a", "size": True},
        {"store": "media", "key": "a", "size": 1.0},
        {"store": "media", "key": "a", "etag": 1},
        {"store": "media", "key": "a", "version": ""},
        {"store": "media", "key": "a", "sha256": "abc"},
        {"store": "media", "key": "a", "mtime_ns": 1 << 63},
        {"store": "media", "key": "a", "process": 1},
        {"store": "media", "key": "a", "storage_options": {"key": "x"}},
        {"store": "media", "key": "a", "endpoint_url": "http://127.0.0.1"},
        {"store": "media", "key": "a", "protocol": "s3"},
    ],
)
def test_malformed_handles_are_undecodable(locator: dict[str, JSON]) -> None:
    """Unknown fields and odd values are errors, not ignored."""
    resolver = FsspecResolver({"media": "memory://tests"})

    with pytest.raises(UndecodableValueError, match="locator"):
        resolver.resolve(ReaderDescriptor("fsspec", locator))


def test_unknown_aliases_and_schemes_are_left_to_others() -> None:
    """The codec names the alias when nobody knows it."""
    resolver = FsspecResolver({"media": "memory://tests"})

    assert resolver.resolve(handle(store="other", key="a")) is None
    assert resolver.resolve(ReaderDescriptor("http", {"url": "x"})) is None
    assert set(resolver.tags) == {"media:fsspec", "spool:fsspec"}


def test_stores_are_made_on_first_open(tmp_path: Path) -> None:
    """A function is called once, and not before somebody opens."""
    made: list[FsspecStore] = []

    def make() -> FsspecStore:
        made.append(FsspecStore(str(tmp_path), alias="media"))
        return made[-1]

    written = FsspecStore(str(tmp_path), alias="media").write(DATA)
    resolver = FsspecResolver({"media": make})
    readers = [resolver.resolve(written.describe()) for _ in range(10_000)]
    assert made == []

    for reader in readers[:3]:
        assert reader is not None
        assert reader.read_range(0, 3) == DATA[:3]
    assert len(made) == 1


def test_errors_of_such_a_function_are_its_own(tmp_path: Path) -> None:
    """They come out as they are, with a note; the next open tries again."""

    def make() -> FsspecStore:
        raise KeyError("the secret manager is down")

    reader = FsspecResolver({"media": make}).resolve(handle(store="media", key="a"))
    assert reader is not None

    with pytest.raises(KeyError, match="secret manager") as caught:
        reader.open()
    assert caught.value.__notes__ == ["raised while making the store 'media'"]
    assert not list(tmp_path.iterdir())


def test_only_bytes_are_written(store: FsspecStore) -> None:
    """Text has no bytes until somebody chooses an encoding, and nothing has none."""
    nothing: list[object] = ["", io.StringIO(), None, [], 0]
    for bad in ("text", io.StringIO("text"), 5, *nothing):
        with pytest.raises(InvalidValueError, match=r"data: (must be|the .* gave)"):
            store.write(cast("bytes", bad))
    assert list(store.descriptors()) == []


def test_a_stream_that_must_be_awaited_is_refused(store: FsspecStore) -> None:
    """Its coroutine is never made, so none is left unawaited."""

    class Upload:
        async def read(self, count: int = -1) -> bytes:
            return bytes(count)

    with pytest.raises(InvalidValueError, match="not Upload"):
        store.write(Upload())  # type: ignore[arg-type]


def test_every_buffer_is_written(store: FsspecStore) -> None:
    """Also one that skips every other byte."""
    for data in (bytearray(b"abcd"), memoryview(b"abcd"), memoryview(b"a-b-c-d-")[::2]):
        assert store.write(cast("bytes", data)).open().read() == b"abcd"


class _Failing(io.RawIOBase):
    """Gives some bytes, then fails like a disk."""

    def read(self, size: int = -1, /) -> bytes:  # noqa: ARG002
        if self.tell():
            raise OSError(5, "Input/output error")
        self._read = True
        return b"x" * 1000

    def tell(self) -> int:
        return int(hasattr(self, "_read"))


def test_a_source_that_fails_leaves_nothing_behind(
    store: FsspecStore, tmp_path: Path
) -> None:
    """Half of an object is never seen, nor left lying about."""
    with pytest.raises(StorageError, match="Input/output error"):
        store.write(cast("BinaryIO", _Failing()))

    assert list(store.descriptors()) == []
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_reader_pickles_as_its_handle(store: FsspecStore) -> None:
    """Another process binds it anew."""
    reader = store.write(DATA)

    copy = pickle.loads(pickle.dumps(reader))

    assert type(copy).__name__ == "UnboundReader"
    assert copy == reader


def test_stores_without_secrets_pickle(tmp_path: Path) -> None:
    """A path is no secret; options and live file systems may hold some."""
    reader = FsspecStore(tmp_path, alias="media").write(DATA)
    resolver = FsspecResolver({"media": FsspecStore(tmp_path, alias="media")})

    copy = pickle.loads(pickle.dumps(resolver)).resolve(reader.describe())
    assert copy.open().read() == DATA

    for store in (
        FsspecStore("memory://x", alias="m", options={"secret": "geheim"}),
        FsspecStore((filesystem("memory"), "x"), alias="m"),
    ):
        with pytest.raises(UnencodableValueError, match="live file system"):
            pickle.dumps(store)


def test_reprs_show_aliases_and_nothing_else() -> None:
    """Endpoints, options and credentials in URLs stay out of logs."""
    store = FsspecStore(
        "s3://user:geheim@bucket/prefix",
        alias="media",
        options={"secret": "geheim", "endpoint_url": "http://geheim"},
    )

    assert repr(store) == "FsspecStore(alias='media')"
    assert repr(FsspecResolver({"media": store})) == "FsspecResolver('media')"


@pytest.mark.parametrize("alias", ["", "a\nb", None, b"a", 5])
def test_an_alias_is_a_name(alias: Any) -> None:
    """It stands in documents and errors."""
    with pytest.raises(InvalidValueError, match="alias"):
        FsspecStore("memory://x", alias=alias)
    with pytest.raises(InvalidValueError, match="alias"):
        FsspecResolver({alias: "memory://x"})


@pytest.mark.parametrize("root", ["", None, b"/tmp", 5, ("a", "b"), ("a",), ()])
def test_a_root_is_a_place(root: Any) -> None:
    """A setting that is missing does not mean the current folder."""
    with pytest.raises(InvalidValueError, match="root: must be a path"):
        FsspecStore(root, alias="media")
    with pytest.raises(InvalidValueError, match="root: must be a path"):
        FsspecResolver({"media": root})


@pytest.mark.parametrize("options", ["geheim", 5, [("secret", "geheim")]])
def test_options_are_named(options: Any) -> None:
    """What they are instead is not shown."""
    with pytest.raises(InvalidValueError, match="options: must be") as caught:
        FsspecStore("memory://x", alias="media", options=options)
    assert "geheim" not in repr(caught.value)


@pytest.mark.parametrize("stores", [None, "media", [("media", "memory://x")]])
def test_a_resolver_maps_aliases(stores: Any) -> None:
    """Anything else binds nothing."""
    with pytest.raises(InvalidValueError, match=r"stores: must map.*; FsspecResolver"):
        FsspecResolver(stores)


def test_a_function_makes_a_store() -> None:
    """Or an error that says what it made."""
    resolver = FsspecResolver({"media": lambda: cast("FsspecStore", "memory://x")})
    reader = resolver.resolve(handle(store="media", key="a"))
    assert reader is not None

    with pytest.raises(InvalidValueError, match="'media' made a str, no FsspecStore"):
        reader.open()


def test_a_relative_root_stays_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bound to a resolver, it follows neither the current folder nor a pickle."""
    monkeypatch.chdir(tmp_path)
    resolver = FsspecResolver({"media": "root"})
    written = FsspecStore("root", alias="media").write(b"here").describe()
    monkeypatch.chdir("/")

    for each in (resolver, pickle.loads(pickle.dumps(resolver))):
        found = each.resolve(written)
        assert found is not None
        assert found.open().read() == b"here"


def test_items_and_keys_have_types(store: FsspecStore) -> None:
    """A key is no handle, and a handle no key."""
    with pytest.raises(InvalidValueError, match="item: must be a Reader"):
        store.delete("sha256/ab/abcd")  # type: ignore[arg-type]
    with pytest.raises(InvalidValueError, match="key: must be a str"):
        store.reader(5)  # type: ignore[arg-type]


def test_pieces_have_a_size(store: FsspecStore) -> None:
    """With 0, all content would look empty."""
    reader = store.write(DATA)

    for size in (0, -1, 1.5, None):
        with pytest.raises(InvalidValueError, match="chunk_size: must be"):
            list(reader.iter_bytes(cast("int", size)))
        with pytest.raises(InvalidValueError, match="chunk_size: must be"):
            asyncio.run(anext(reader.aiter_bytes(cast("int", size))))  # type: ignore[arg-type]


def test_a_range_takes_no_more_memory_than_there_is(store: FsspecStore) -> None:
    """The end of a range may be anywhere."""
    reader = store.write(DATA)

    assert reader.read_range(0, 1 << 62) == DATA
    assert asyncio.run(reader.aread_range(3, 10**30)) == DATA[3:]
    assert reader.read_range(1 << 62, 10**30) == b""


def test_a_missing_package_is_named_on_open() -> None:
    """A proxy that only passes handles on needs no file system."""
    resolver = FsspecResolver({"media": "gdrive://x"})
    reader = resolver.resolve(handle(store="media", key="a"))
    assert reader is not None

    with pytest.raises(HandleError, match="package is missing"):
        reader.open()


def test_an_unknown_protocol_is_our_error() -> None:
    """A root that nobody can read is reported on open."""
    with pytest.raises(InvalidValueError, match="root: fsspec knows no"):
        FsspecStore("nosuch://x", alias="media").reader("a")


def test_stores_without_urls_say_so(store: FsspecStore, root: Root) -> None:
    """A path of this machine helps nobody else; a service signs."""
    reader = store.write(DATA)
    if isinstance(root, tuple) and root[0] is PLAIN:
        assert (
            reader.url(expires=60) == f"https://h.example//tests/plain/{KEY}?expires=60"
        )
        return
    with pytest.raises(ReaderNotDescribableError, match="has no URL"):
        reader.url(expires=60)


def test_memory_of_another_process_is_not_looked_for() -> None:
    """The error says so, instead of saying that the object is gone."""
    resolver = FsspecResolver({"media": "memory://tests/store"})
    locator = dict(
        FsspecStore("memory://tests/store", alias="media")
        .write(b"1")
        .describe()
        .locator
    )
    reader = resolver.resolve(handle(**{**locator, "process": "another"}))
    assert reader is not None

    for attempt in (reader.open, lambda: reader.read_range(0, 1)):
        with pytest.raises(ProcessLocalHandleError, match="another process"):
            attempt()


def test_two_memories_of_one_process_are_told_apart() -> None:
    """A file system in memory may have a store of its own."""
    fs = filesystem("memory", global_store=False, skip_instance_cache=True)
    reader = FsspecStore((fs, "/x"), alias="media").write(b"1")
    resolver = FsspecResolver({"media": "memory://x"})
    elsewhere = resolver.resolve(reader.describe())
    assert elsewhere is not None

    assert reader.open().read() == b"1"
    with pytest.raises(ProcessLocalHandleError, match="another process"):
        elsewhere.open()


def test_memory_written_to_in_place_is_stale() -> None:
    """Nothing but the bytes tells, so they are hashed."""
    fs = filesystem("memory")
    fs.pipe_file("/tests/place/a", b"12345")
    reader = FsspecStore("memory://tests/place", alias="media").reader("a")

    with fs.open("/tests/place/a", "r+b") as file:
        file.write(b"54321")

    with pytest.raises(StaleHandleError, match="sha256 pinned"):
        reader.open().read()
    fs.rm("/tests/place", recursive=True)


def test_memory_replaced_while_it_is_read_is_stale() -> None:
    """One stream never mixes two versions."""
    fs = filesystem("memory")
    fs.pipe_file("/tests/replaced/a", bytes(MiB))
    reader = FsspecStore("memory://tests/replaced", alias="media").reader(
        "a", pin="none"
    )

    with reader.open() as stream:
        assert stream.read(5) == bytes(5)
        fs.pipe_file("/tests/replaced/a", b"x" * MiB)
        with pytest.raises(StaleHandleError, match="replaced while"):
            stream.read()
    fs.rm("/tests/replaced", recursive=True)


def test_file_systems_with_connections_are_made_anew_in_a_child() -> None:
    """One that was given is used where it was made; its connections stay there."""
    fs = filesystem("memory")

    def made(fs: object, made_in: int) -> Any:
        return bind(lambda: ((fs, "x"), {}), pytest.fail, made_in)

    kept = made(fs, os.getpid())
    inherited = made(fs, -1)
    remote = RemoteFileSystem("host", token="secret")  # noqa: S106 - not a real one
    remade = cast("Any", vars(made(remote, -1))["_fs"])

    assert vars(kept)["_fs"] is vars(inherited)["_fs"] is fs
    assert remade is not remote
    assert remade.given == ("host", "secret", True)


def test_folders_are_not_objects(store: FsspecStore, root: Root) -> None:
    """A prefix of keys has no bytes."""
    put(root, "folder/a", b"1")

    with pytest.raises((ResolverDeniedError, HandleNotFoundError), match="'folder'"):
        store.reader("folder")


def test_links_behind_a_dir_file_system_are_refused(tmp_path: Path) -> None:
    """A folder is a folder, whatever it is wrapped in."""
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "link").symlink_to("/etc/passwd")
    local = filesystem("file")
    fs = filesystem("dir", path=str(tmp_path), fs=local)

    with pytest.raises(ResolverDeniedError, match="link"):
        FsspecStore((fs, "root"), alias="media").reader("link")


def test_a_store_that_forbids_is_not_one_that_has_nothing() -> None:
    """Forbidden is denied, not missing."""
    store = FsspecStore((FORBIDDEN, "x"), alias="media")

    with pytest.raises(ResolverDeniedError, match="Forbidden") as caught:
        store.reader("a")
    assert caught.value.alias == "media"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_forked_children_read_files_and_not_memory(tmp_path: Path) -> None:
    """A reader made before a fork works in the child, unless its bytes are local."""
    program = """
import os, sys, multiprocessing as mp
from graphcodec.errors import ProcessLocalHandleError
from graphcodec_resolvers import FsspecStore
readers = [FsspecStore(r, alias="m").write(b"hi") for r in (sys.argv[1], "memory://x")]
assert [r.open().read() for r in readers] == [b"hi", b"hi"]
pid = os.fork()
if pid == 0:
    assert readers[0].open().read() == b"hi"
    try:
        readers[1].open()
    except ProcessLocalHandleError:
        os._exit(0)
    os._exit(1)
assert os.waitpid(pid, 0)[1] == 0
assert readers[1].open().read() == b"hi"
"""
    result = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-W", "error", "-c", program, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert result.returncode == 0, result.stderr.decode()


def test_a_hundred_megabytes_pass_in_constant_memory(tmp_path: Path) -> None:
    """Writing and reading a large object takes no more than a few buffers."""

    class Zeros(io.RawIOBase):
        left = 100 * MiB

        def read(self, size: int = -1, /) -> bytes:
            size = min(size, self.left)
            self.left -= size
            return bytes(size)

    store = FsspecStore(tmp_path, alias="media")
    tracemalloc.start()
    try:
        reader = store.write(cast("BinaryIO", Zeros()))
        total = sum(len(chunk) for chunk in reader.iter_bytes())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert total == reader.byte_length() == 100 * MiB
    assert peak < 4 * MiB
    assert isinstance(reader, Reader)
