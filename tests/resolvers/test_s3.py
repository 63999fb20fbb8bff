from __future__ import annotations

import asyncio
import hashlib
import io
import math
import random
import threading
import tracemalloc
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import pytest

from graphcodec import Media, SpooledArtifact, StreamReader, apersist, persist
from graphcodec.errors import (
    HandleError,
    HandleNotFoundError,
    InvalidValueError,
    ReaderNotDescribableError,
    ResolverDeniedError,
    StaleHandleError,
    StorageError,
    UnencodableValueError,
)
from graphcodec_resolvers import FsspecResolver, FsspecStore
from tests.resolvers.filesystems import filesystem

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphcodec_resolvers import FsspecReader
    from tests.s3_server import S3Server, Wire

MiB = 1 << 20
TEXT = b"".join(b"line %d\n" % number for number in range(200_000))


@pytest.fixture(scope="module")
def bucket(s3_server: S3Server) -> str:
    """A bucket that keeps one version of each object."""
    return s3_server.bucket()


@pytest.fixture(scope="module")
def versioned(s3_server: S3Server) -> str:
    """A bucket that keeps all versions."""
    return s3_server.bucket(versioned=True)


@pytest.fixture(scope="module")
def client(s3_server: S3Server) -> Any:
    """A client that has nothing to do with ours."""
    return s3_server.client()


@pytest.fixture(scope="module")
def store(s3_server: S3Server, bucket: str) -> FsspecStore:
    """A store below a prefix."""
    root = f"s3://{bucket}/some/prefix"
    return FsspecStore(root, alias="media", options=s3_server.options())


@pytest.fixture(scope="module")
def keeping(s3_server: S3Server, versioned: str) -> FsspecStore:
    """A store in the bucket that keeps versions."""
    root = f"s3://{versioned}"
    return FsspecStore(root, alias="versions", options=s3_server.options())


def key_of(reader: Any) -> str:
    """Return where an object of the store lies in its bucket."""
    return f"some/prefix/{reader.describe().locator['key']}"


def test_what_is_written_is_read(store: FsspecStore, client: Any, bucket: str) -> None:
    """It lies under its hash, with its type, and the handle names neither of both."""
    reader = store.write(b"hello", media_type="text/x-greeting")
    digest = hashlib.sha256(b"hello").hexdigest()

    assert dict(reader.describe().locator) == {
        "store": "media",
        "key": f"sha256/{digest[:2]}/{digest}",
        "size": 5,
        "sha256": digest,
    }
    assert reader.open().read() == b"hello"
    assert reader.read_range(1, 3) == b"el"
    found = client.head_object(Bucket=bucket, Key=key_of(reader))
    assert found["ContentType"] == "text/x-greeting"


def test_a_type_that_is_no_header_is_left_out(store: FsspecStore) -> None:
    """What could break a request is not sent; the bytes are kept."""
    reader = store.write(b"odd type", media_type="text/x\r\nX-Injected: 1")

    assert reader.open().read() == b"odd type"


@pytest.mark.parametrize("size", [0, 1, 65_536, 65_537, 8 * MiB, 8 * MiB + 1, 17 * MiB])
def test_every_size_comes_back(store: FsspecStore, size: int) -> None:
    """Empty, in one request, and in parts of a stream of unknown length."""
    data = random.Random(size).randbytes(size)  # noqa: S311 - no secret

    reader = store.write(io.BufferedReader(cast("Any", io.BytesIO(data))))

    assert reader.byte_length() == size
    assert reader.open().read() == data
    with reader.open() as stream:
        assert stream.seek(-min(size, 10), io.SEEK_END) == max(0, size - 10)
        assert stream.read() == data[-10:]
        assert stream.seek(size // 2) == size // 2
        assert stream.read(100) == data[size // 2 :][:100]


@pytest.mark.parametrize(
    ("start", "end"), [(0, 5), (-3, 5), (5, 5), (9, 3), (7, 10**9), (10**9, 2 * 10**9)]
)
def test_ranges_are_slices(store: FsspecStore, start: int, end: int) -> None:
    """A range is what slicing the content would give, also when awaited."""
    reader = store.write(TEXT)

    expected = TEXT[max(0, start) : max(0, end)]
    assert reader.read_range(start, end) == expected
    assert asyncio.run(reader.aread_range(start, end)) == expected


def test_the_same_bytes_are_kept_once(
    store: FsspecStore, client: Any, bucket: str
) -> None:
    """Whoever comes second, or at the same time, changes nothing."""
    with ThreadPoolExecutor(8) as pool:
        readers = list(pool.map(store.write, [b"the same"] * 8))

    assert len(set(readers)) == 1
    first = client.head_object(Bucket=bucket, Key=key_of(readers[0]))
    store.write(b"the same", media_type="text/plain")
    again = client.head_object(Bucket=bucket, Key=key_of(readers[0]))
    assert first["ContentType"] == again["ContentType"]
    assert first["LastModified"] == again["LastModified"]


@pytest.mark.parametrize("size", [100, 9 * MiB])
def test_what_a_stranger_put_there_is_replaced(
    store: FsspecStore, client: Any, bucket: str, size: int
) -> None:
    """An object under a hash that has another size can't be that content."""
    data = b"x" * size
    digest = hashlib.sha256(data).hexdigest()
    key = f"some/prefix/sha256/{digest[:2]}/{digest}"
    client.put_object(Bucket=bucket, Key=key, Body=b"half")

    assert store.write(data).open().read() == data


def test_an_upload_that_fails_leaves_nothing_behind(
    s3_server: S3Server, s3_wire: Wire, client: Any
) -> None:
    """An upload in parts that a server refuses half-way is aborted."""
    bucket = s3_server.bucket()
    options = s3_server.options() | {"endpoint_url": s3_wire.endpoint}
    store = FsspecStore(f"s3://{bucket}", alias="media", options=options)
    store.write(b"warm")
    s3_wire.refuse("partNumber=2", 505)

    with pytest.raises(StorageError, match="status 505"):
        store.write(bytes(20 * MiB))
    assert "Uploads" not in client.list_multipart_uploads(Bucket=bucket)
    assert len(list(store.descriptors())) == 1


def test_delete_says_whether_it_was_there(store: FsspecStore) -> None:
    """What is deleted is gone, and is not found again."""
    reader = store.write(b"to be deleted")

    assert reader.describe() in list(store.descriptors())
    assert store.delete(reader)
    assert not store.delete(reader)
    assert reader.describe() not in list(store.descriptors())
    with pytest.raises(HandleNotFoundError, match="nothing is there"):
        reader.open()


def test_all_pages_are_listed(s3_server: S3Server) -> None:
    """More objects than one answer holds; others' objects are not listed."""
    bucket = s3_server.bucket()
    store = FsspecStore(f"s3://{bucket}", alias="m", options=s3_server.options())
    client = s3_server.client()
    digests = [hashlib.sha256(b"%d" % number).hexdigest() for number in range(1010)]

    def put(digest: str) -> None:
        client.put_object(Bucket=bucket, Key=f"sha256/{digest[:2]}/{digest}", Body=b"")

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(put, digests))
    client.put_object(Bucket=bucket, Key="sha256/aa/other", Body=b"")

    found = [item.locator["sha256"] for item in store.descriptors()]
    assert sorted(map(str, found)) == sorted(digests)


@pytest.mark.parametrize(
    "key",
    ["a b", "a+b", "100%2F.png", "%2e%2e", "\N{GRINNING FACE}/é", "deep/er/~", "a:b&c"],
)
def test_odd_keys_are_read_as_they_are(
    store: FsspecStore, client: Any, bucket: str, key: str
) -> None:
    """Nothing in a key is unescaped, also not in a signed URL."""
    client.put_object(Bucket=bucket, Key=f"some/prefix/{key}", Body=key.encode())

    reader = store.reader(key)

    assert reader.open().read() == key.encode()
    assert fetched(reader.url(expires=60)) == key.encode()


@pytest.mark.parametrize("key", ["../x", "a?versionId=1", "a#b", "s3://other/x", "/a"])
def test_keys_out_of_bounds_are_denied(
    store: FsspecStore, client: Any, bucket: str, key: str
) -> None:
    """What might be read as more than a key is refused, even if it is there."""
    client.put_object(Bucket=bucket, Key="x", Body=b"outside")

    with pytest.raises(ResolverDeniedError, match="the key"):
        store.reader(key)


def test_an_empty_object_is_an_object(
    store: FsspecStore, client: Any, bucket: str
) -> None:
    """Although it has no range that could be asked for."""
    client.put_object(Bucket=bucket, Key="some/prefix/empty", Body=b"")
    for pin in ("none", "stat", "content"):
        reader = store.reader("empty", pin=pin)

        assert reader.open().read() == b""
        assert reader.byte_length() == 0
        assert reader.read_range(0, 10) == b""


def test_pins_are_taken_when_the_reader_is_made(
    store: FsspecStore, keeping: FsspecStore, client: Any, bucket: str, versioned: str
) -> None:
    """Size and ETag; the version where there are some; the hash if it is asked for."""
    for where, key in ((bucket, "some/prefix/pins"), (versioned, "pins")):
        client.put_object(Bucket=where, Key=key, Body=b"12345")

    once = dict(store.reader("pins").describe().locator)
    assert set(once) == {"store", "key", "size", "etag"}
    assert once["size"] == 5
    assert set(keeping.reader("pins").describe().locator) == {*once, "version"}
    assert "sha256" in store.reader("pins", pin="content").describe().locator
    assert set(store.reader("pins", pin="none").describe().locator) == {"store", "key"}


@pytest.mark.parametrize("now", [b"1234", b"123456", b"54321", b""])
def test_a_changed_object_is_stale(
    store: FsspecStore, client: Any, bucket: str, now: bytes
) -> None:
    """Truncated, longer or just other bytes: not one of them is handed out."""
    client.put_object(Bucket=bucket, Key="some/prefix/stale", Body=b"12345")
    readers = [store.reader("stale"), store.reader("stale", pin="content")]

    client.put_object(Bucket=bucket, Key="some/prefix/stale", Body=now)

    for reader in readers:
        for attempt in (
            reader.open,
            lambda reader=reader: reader.read_range(0, 3),
            lambda reader=reader: asyncio.run(reader.aopen()),
            lambda reader=reader: asyncio.run(reader.aread_range(0, 3)),
        ):
            with pytest.raises(StaleHandleError, match="was") as caught:
                attempt()
            assert caught.value.alias == "media"


def test_the_same_bytes_are_good_however_they_got_there(
    store: FsspecStore, client: Any, bucket: str
) -> None:
    """Uploaded again in parts, they have another ETag and the same hash."""
    key = "some/prefix/again"
    client.put_object(Bucket=bucket, Key=key, Body=b"12345")
    reader = store.reader("again", pin="content")
    names = {"Bucket": bucket, "Key": key}
    names["UploadId"] = client.create_multipart_upload(**names)["UploadId"]
    part = client.upload_part(**names, PartNumber=1, Body=b"12345")
    parts = {"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]}
    client.complete_multipart_upload(**names, MultipartUpload=parts)

    assert store.reader("again").describe() != reader.describe()
    assert reader.open().read() == b"12345"
    assert asyncio.run(reader.aread_range(1, 3)) == b"23"


def test_an_open_stream_does_not_mix_two_uploads(
    store: FsspecStore, client: Any, bucket: str
) -> None:
    """Overwritten while it is read: stale, not the head of one and tail of another."""
    key = "some/prefix/torn"
    client.put_object(Bucket=bucket, Key=key, Body=b"a" * MiB)
    reader = store.reader("torn", pin="none")

    with reader.open() as stream:
        assert stream.read(10) == b"a" * 10
        client.put_object(Bucket=bucket, Key=key, Body=b"b" * MiB)
        with pytest.raises(StaleHandleError, match="changed"):
            stream.read()


def test_large_ranges_are_never_torn(
    store: FsspecStore, client: Any, bucket: str
) -> None:
    """A range of many requests is of one upload or stale, while writers are at it."""
    key = "some/prefix/races"
    client.put_object(Bucket=bucket, Key=key, Body=b"0" * 6 * MiB)
    reader = store.reader("races", pin="none")
    stop = threading.Event()

    def overwrite() -> None:
        for letter in b"123456789" * 100:
            if stop.is_set():
                return
            client.put_object(Bucket=bucket, Key=key, Body=bytes([letter]) * 6 * MiB)

    thread = threading.Thread(target=overwrite)
    thread.start()
    outcomes: set[int] = set()
    try:
        for _ in range(12):
            try:
                outcomes.add(len(set(reader.read_range(0, 6 * MiB))))
            except StaleHandleError:
                outcomes.add(0)
    finally:
        stop.set()
        thread.join()
    assert outcomes <= {0, 1}


def test_the_pinned_version_is_read(
    keeping: FsspecStore, client: Any, versioned: str
) -> None:
    """Overwritten or deleted, the version that was pinned is still there."""
    client.put_object(Bucket=versioned, Key="doc", Body=b"first")
    reader = keeping.reader("doc")
    client.put_object(Bucket=versioned, Key="doc", Body=b"other")
    assert reader.open().read() == b"first"
    assert reader.read_range(0, 3) == b"fir"
    assert fetched(reader.url()) == b"first"

    client.delete_object(Bucket=versioned, Key="doc")
    assert reader.open().read() == b"first"
    with pytest.raises(HandleNotFoundError, match="nothing is there"):
        keeping.reader("doc")

    version = reader.describe().locator["version"]
    client.delete_object(Bucket=versioned, Key="doc", VersionId=version)
    for attempt in (reader.open, lambda: reader.read_range(0, 1)):
        with pytest.raises(HandleNotFoundError, match="pinned was erased"):
            attempt()


@pytest.mark.parametrize("who", ["reader", "stranger"])
def test_denial_is_told_as_such(
    s3_server: S3Server, store: FsspecStore, bucket: str, who: str
) -> None:
    """With alias and key, and without a word of where and as whom we asked."""
    written = store.write(b"denied or not")
    options = s3_server.options(who)
    other = FsspecStore(f"s3://{bucket}/some/prefix", alias="media", options=options)
    reader = FsspecResolver({"media": other}).resolve(written.describe())
    assert reader is not None

    def denied() -> None:
        reader.open()
        other.write(b"new")  # where reading is allowed

    with pytest.raises(ResolverDeniedError, match="does not let us") as caught:
        denied()
    text = f"{caught.value!r} {caught.value} {other!r} {reader!r}"
    assert caught.value.alias == "media"
    for secret in (*s3_server.credentials(who), s3_server.endpoint[7:], bucket):
        assert secret not in text
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_a_wrong_secret_is_denied(s3_server: S3Server, bucket: str) -> None:
    """The server checks signatures."""
    options = {**s3_server.options(), "secret": "wrong"}
    store = FsspecStore(f"s3://{bucket}", alias="media", options=options)

    with pytest.raises(ResolverDeniedError, match="does not let us"):
        store.write(b"x")


def test_a_missing_bucket_is_told(s3_server: S3Server) -> None:
    """What is read there is not found."""
    options = s3_server.options()
    store = FsspecStore("s3://no-such-bucket", alias="media", options=options)

    with pytest.raises(HandleNotFoundError, match="nothing is there"):
        store.reader("a")


def test_two_tenants_share_nothing(s3_server: S3Server, bucket: str) -> None:
    """Made in the same process for the same endpoint, each has its own rights."""
    root = f"s3://{bucket}/tenants"
    mine = FsspecStore(root, alias="mine", options=s3_server.options())
    others = FsspecStore(root, alias="others", options=s3_server.options("stranger"))
    reader = mine.write(b"mine alone")

    for _ in range(2):
        assert reader.open().read() == b"mine alone"
        with pytest.raises(ResolverDeniedError, match="does not let us"):
            others.reader(str(reader.describe().locator["key"]))


def fetched(url: str) -> bytes:
    """Return what anybody gets from a URL."""
    with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 - ours
        return bytes(answer.read())


def test_urls_are_signed_and_expire(store: FsspecStore) -> None:
    """Anybody can read with it, for a while; it never gets into a handle."""
    reader = store.write(b"for anybody")

    url = reader.url(expires=60)

    assert "X-Amz-Algorithm=AWS4-HMAC-SHA256" in url
    assert "X-Amz-Expires=60" in url
    assert fetched(url) == b"for anybody"
    assert "X-Amz" not in repr(reader) + repr(reader.describe().locator)
    for tampered in (
        url.replace("X-Amz-Expires=60", "X-Amz-Expires=600"),
        url.replace("sha256", "sha257"),
    ):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            fetched(tampered)
    for bad in (0, -1, 8 * 24 * 3600, 0.3, math.nan, math.inf, "60", None):
        with pytest.raises(InvalidValueError, match="expires"):
            reader.url(expires=cast("float", bad))


def test_a_file_system_that_is_given_lends_its_options(
    s3_server: S3Server, bucket: str
) -> None:
    """Its own connections, caches and settings are not used."""
    fs = filesystem("s3", **s3_server.options(), skip_instance_cache=True)
    nested = filesystem("dir", path=f"{bucket}/some", fs=fs)

    written = FsspecStore((fs, f"s3://{bucket}/some/prefix/"), alias="a").write(b"fs")
    there = FsspecStore((nested, "prefix"), alias="a")

    reader = there.reader(str(written.describe().locator["key"]))
    assert reader.open().read() == b"fs"
    assert vars(fs)["_s3"] is None


def test_a_store_with_credentials_does_not_pickle(store: FsspecStore) -> None:
    """Secrets don't travel; a function that makes the store does."""
    with pytest.raises(UnencodableValueError, match="holds a live file system or"):
        store.__reduce__()


def test_the_missing_extra_is_named_on_first_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without s3fs a handle can be passed on; opening it says what to install."""
    monkeypatch.setitem(import_module("sys").modules, "s3fs", None)
    store = FsspecStore("s3://bucket/x", alias="media")
    resolver = FsspecResolver({"media": store})
    handle = FsspecStore("memory://x", alias="media").write(b"1").describe()
    locator = {k: v for k, v in handle.locator.items() if k != "process"}
    reader = resolver.resolve(type(handle)(handle.scheme, locator))
    assert reader is not None

    for attempt in (reader.open, lambda: store.reader("a")):
        with pytest.raises(HandleError, match="a package is missing") as caught:
            attempt()
        assert caught.value.hint == "pip install 'graphcodec[s3]'"


# Many at once


def test_threads_read_ranges_of_one_reader(store: FsspecStore) -> None:
    """Eight threads, one reader, no wrong byte."""
    reader = store.write(TEXT)

    def read(seed: int) -> int:
        chance, wrong = random.Random(seed), 0  # noqa: S311 - no secret
        for _ in range(40):
            start = chance.randrange(len(TEXT))
            end = start + chance.randrange(100_000)
            wrong += reader.read_range(start, end) != TEXT[start:end]
        return wrong

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(read, range(8))) == 0


def test_event_loops_come_and_go(store: FsspecStore) -> None:
    """No loop of a caller owns a connection; ranges of one loop overlap."""
    reader = store.write(TEXT)

    async def read() -> list[bytes]:
        spans = [(start, start + 1000) for start in range(0, 20_000, 1000)]
        pieces = [piece async for piece in reader.aiter_bytes(100_000)]
        assert b"".join(pieces) == TEXT
        assert max(map(len, pieces)) <= 100_000
        assert (await reader.aopen()).read(4) == TEXT[:4]
        assert await reader.abyte_length() == len(TEXT)
        return await asyncio.gather(*(reader.aread_range(*span) for span in spans))

    assert b"".join(asyncio.run(read())) == TEXT[:20_000]
    assert b"".join(asyncio.run(read())) == TEXT[:20_000]


def test_uploads_of_apersist_overlap(s3_server: S3Server, s3_wire: Wire) -> None:
    """The second upload begins before the first is answered."""
    bucket = s3_server.bucket()
    options = s3_server.options() | {"endpoint_url": s3_wire.endpoint}
    store = FsspecStore(f"s3://{bucket}", alias="media", options=options)
    store.write(b"warm")
    uploads = [StreamReader(io.BytesIO(b"%d" % number)) for number in range(3)]
    told: list[tuple[int, int]] = []
    s3_wire.gather("PUT", 3)

    def progress(done: int, total: int) -> None:
        told.append((done, total))

    moved = asyncio.run(apersist(uploads, store, progress=progress))

    assert [reader.open().read() for reader in moved] == [b"0", b"1", b"2"]
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_an_image_attached_fifty_times_is_stored_once(s3_server: S3Server) -> None:
    """Each from an upload of its own, which travels after persist and not before."""
    bucket = s3_server.bucket()
    store = FsspecStore(f"s3://{bucket}", alias="media", options=s3_server.options())
    images = [
        Media.user_attachment(
            kind="image",
            mime_type="image/png",
            filename="a.png",
            reader=StreamReader(io.BytesIO(b"\x89PNG" * 10_000)),
        )
        for _ in range(50)
    ]
    with pytest.raises(ReaderNotDescribableError, match="persist"):
        import_module("graphcodec").encode(images)

    moved = persist(images, store)

    assert len({media.reader for media in moved}) == 1
    found = s3_server.client().list_objects_v2(Bucket=bucket)["Contents"]
    assert [item["Size"] for item in found] == [40_000]


def test_text_is_read_from_where_it_is_asked(
    s3_server: S3Server, s3_wire: Wire, bucket: str
) -> None:
    """The tail of a log reads kilobytes from its end, its head from the start."""
    text = TEXT * 5
    writing = FsspecStore(f"s3://{bucket}", alias="log", options=s3_server.options())
    options = s3_server.options() | {"endpoint_url": s3_wire.endpoint}
    reading = FsspecStore(f"s3://{bucket}", alias="log", options=options)
    handle = writing.write(text).describe()
    reader = FsspecResolver({"log": reading}).resolve(handle)
    assert reader is not None
    log = SpooledArtifact(reader)

    assert log.tail(3) == ["line 199998", "line 199999", ""]
    assert log.head(2) == ["line 0", "line 1"]
    assert s3_wire.sent < 300_000
    assert log.line_count() == 5 * 200_000 + 1
    assert log.cat(200_000, 200_002) == ["line 0", "line 1"]
    assert log.grep("^line 123456$", max_matches=20) == ["line 123456"] * 5
    assert log.text() == text.decode()


class _Endless(io.RawIOBase):
    """A log of a given size that is made while it is read."""

    def __init__(self, size: int) -> None:
        self._left = size

    def read(self, size: int = -1, /) -> bytes:
        data = (b"INFO worker handled a request\n" * 3000)[: min(size, self._left)]
        self._left -= len(data)
        return data


def peak_of(work: Callable[[], object]) -> int:
    """Return the most bytes that were taken at a time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "size", [40 * MiB, pytest.param(1024 * MiB, marks=pytest.mark.long)]
)
def test_memory_does_not_grow_with_the_object(store: FsspecStore, size: int) -> None:
    """Written from a stream in a few parts at once, and read in windows."""
    store.write(b"warm").open().read()
    written: list[FsspecReader] = []

    def write() -> None:
        written.append(store.write(cast("BinaryIO", _Endless(size))))

    def read() -> None:
        log = SpooledArtifact(written[0])
        assert log.tail(1) != log.head(1)
        assert log.grep("nothing like it") == []
        assert sum(map(len, written[0].iter_bytes())) == size

    # Uploading, a part is also in the buffer of its connection.
    assert peak_of(write) < 90 * MiB
    assert peak_of(read) < 20 * MiB
