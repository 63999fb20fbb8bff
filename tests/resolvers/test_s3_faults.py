from __future__ import annotations

import asyncio
import logging
import random
import ssl
import time
from typing import TYPE_CHECKING, Any

import pytest
import trustme

from graphcodec.errors import (
    HandleError,
    HandleNotFoundError,
    ResolverDeniedError,
    StaleHandleError,
)
from graphcodec_resolvers import FsspecReader, FsspecResolver, FsspecStore
from graphcodec_resolvers import _s3_session as session
from tests.resolvers.servers import FaultyServer
from tests.s3_server import Wire

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.s3_server import S3Server

DATA = random.Random(1).randbytes(3 << 20)  # noqa: S311 - no secret


@pytest.fixture(scope="module")
def bucket(s3_server: S3Server) -> str:
    """A bucket with one object in it."""
    name = s3_server.bucket()
    s3_server.client().put_object(Bucket=name, Key="a", Body=DATA)
    return name


@pytest.fixture(scope="module")
def the_wire(s3_server: S3Server) -> Iterator[Wire]:
    """One wire for all, so that clients need not be made for each test."""
    with Wire(s3_server.endpoint) as wire:
        yield wire


@pytest.fixture
def s3_wire(the_wire: Wire) -> Iterator[Wire]:
    """The wire, undisturbed as yet."""
    the_wire.calm()
    yield the_wire
    the_wire.calm()


@pytest.fixture(scope="module")
def store(s3_server: S3Server, the_wire: Wire, bucket: str) -> FsspecStore:
    """A store behind the wire."""
    options = s3_server.options() | {"endpoint_url": the_wire.endpoint}
    return FsspecStore(f"s3://{bucket}", alias="media", options=options)


@pytest.fixture
def reader(store: FsspecStore, s3_wire: Wire) -> FsspecReader:
    """A reader of that object, pinned."""
    reader = store.reader("a")
    s3_wire.calm()
    return reader


def answer(status: int, code: str = "", header: str = "", etag: str = "") -> bytes:
    """Return an answer of S3 that reports a failure."""
    body = f"<Error><Code>{code}</Code><Message>secret-account</Message></Error>"
    fields = f"{header}ETag: {etag}\r\n" if etag else header
    length = f"Content-Length: {len(body)}\r\n"
    return f"HTTP/1.1 {status} X\r\n{length}{fields}\r\n{body}".encode()


BUSY = [
    answer(503, "SlowDown"),
    answer(503),
    answer(500, "InternalError"),
    answer(429, "Throttling"),
    answer(502, "<nonsense"),
    answer(400, "RequestTimeout"),
    b"",
    b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n",
    b"this is not HTTP\r\n\r\n",
]


@pytest.mark.parametrize("busy", BUSY, ids=range(len(BUSY)))
def test_a_busy_server_is_asked_again(
    reader: FsspecReader, s3_wire: Wire, busy: bytes
) -> None:
    """Whether it says so, answers nonsense or hangs up."""
    s3_wire.answer(busy, busy)

    assert reader.read_range(10, 20) == DATA[10:20]
    assert len(s3_wire.requests) == 3


def test_writes_are_tried_again_as_well(store: FsspecStore, s3_wire: Wire) -> None:
    """They are named by their content, so that twice is once."""
    s3_wire.answer(answer(503, "SlowDown"), b"", answer(500, "InternalError"))

    assert store.write(b"tried again").open().read() == b"tried again"


def test_a_write_whose_answer_was_lost_succeeds(
    store: FsspecStore, s3_wire: Wire
) -> None:
    """The second time, the server says that it is there already."""
    s3_wire.swallow("PUT ")

    reader = store.write(b"the answer was lost")

    assert reader.open().read() == b"the answer was lost"
    assert [line.split()[0] for line in s3_wire.requests[:3]] == ["PUT", "PUT", "HEAD"]


def test_an_upload_whose_last_answer_was_lost_succeeds(
    store: FsspecStore, s3_wire: Wire
) -> None:
    """Completed in parts, which the server does not tell twice."""
    data = DATA * 3
    s3_wire.swallow("POST ", "uploadId=")

    assert store.write(data).open().read() == data


def test_a_server_without_conditional_writes_is_written_to(
    s3_server: S3Server, s3_wire: Wire
) -> None:
    """It says so once, and is not asked for it again."""
    bucket = s3_server.bucket()
    options = s3_server.options() | {"endpoint_url": s3_wire.endpoint}
    store = FsspecStore(f"s3://{bucket}", alias="media", options=options)
    s3_wire.answer(answer(501, "NotImplemented"))

    assert store.write(b"first").open().read() == b"first"
    s3_wire.requests.clear()
    assert store.write(b"second").open().read() == b"second"
    assert [line.split()[0] for line in s3_wire.requests] == ["PUT", "GET"]


def test_waiting_for_a_silent_server_can_be_cancelled(
    reader: FsspecReader, s3_wire: Wire
) -> None:
    """At once, and the event loop was free all the while."""
    s3_wire.hang()

    async def give_up() -> int:
        waiting = asyncio.ensure_future(reader.aread_range(0, 10))
        turns = 0
        while turns < 20:
            await asyncio.sleep(0.005)
            turns += 1
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        return turns

    assert asyncio.run(give_up()) == 20


def test_there_is_one_layer_of_retries(reader: FsspecReader, s3_wire: Wire) -> None:
    """Not ours times that of s3fs times that of botocore."""
    s3_wire.refuse("GET ", 503)

    with pytest.raises(HandleError, match=r"the server answered with status 503"):
        reader.open()
    assert len(s3_wire.requests) == session.ATTEMPTS


@pytest.mark.parametrize("status", [401, 403, 404, 410, 412, 501])
def test_a_clear_answer_is_not_asked_for_again(
    reader: FsspecReader, s3_wire: Wire, status: int
) -> None:
    """What is denied, gone or changed now will be so in a second."""
    s3_wire.refuse("GET ", status)

    with pytest.raises(HandleError, match=r"status|nothing is there"):
        reader.open()
    assert len(s3_wire.requests) == 1


def test_the_server_may_say_how_long_to_wait(
    reader: FsspecReader, s3_wire: Wire
) -> None:
    """Retry-After is kept to."""
    s3_wire.answer(answer(503, "SlowDown", "Retry-After: 1\r\n"))
    begun = time.monotonic()

    assert reader.read_range(0, 5) == DATA[:5]
    assert time.monotonic() - begun >= 1


def test_the_total_time_is_bounded(
    reader: FsspecReader, s3_wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that wants to be left alone for an hour is given up at once."""
    s3_wire.answer(answer(503, "SlowDown", "Retry-After: 3600\r\n"))
    with pytest.raises(HandleError, match="SlowDown"):
        reader.read_range(0, 5)
    assert len(s3_wire.requests) == 1

    monkeypatch.setattr(session, "DEADLINE", 0.2)
    s3_wire.hang()
    with pytest.raises(HandleError, match="took more than"):
        reader.read_range(0, 5)


def test_a_silent_server_is_left(
    s3_server: S3Server, s3_wire: Wire, bucket: str
) -> None:
    """Timeouts can be set, and each try keeps to them."""
    times = {"connect_timeout": 1, "read_timeout": 0.1}
    options = s3_server.options(config_kwargs=times)
    store = FsspecStore(
        f"s3://{bucket}",
        alias="media",
        options=options | {"endpoint_url": s3_wire.endpoint},
    )
    s3_wire.hang()

    with pytest.raises(HandleError, match="can't be reached, or hung up"):
        store.reader("a")


def test_reading_resumes_where_it_was_cut(reader: FsspecReader, s3_wire: Wire) -> None:
    """Not from the beginning, and of the same upload."""
    s3_wire.cut(200_000, 300_000)

    assert reader.read_range(0, 1_000_000) == DATA[:1_000_000]
    assert len(s3_wire.requests) == 3
    assert 1_000_000 <= s3_wire.sent < 1_200_000

    s3_wire.cut(1000, 1000)
    with reader.open() as stream:
        assert stream.read() == DATA

    async def read() -> bytes:
        return b"".join([piece async for piece in reader.aiter_bytes()])

    s3_wire.cut(1000, 1000)
    assert asyncio.run(read()) == DATA


def test_a_cut_is_not_resumed_with_another_upload(
    s3_server: S3Server, s3_wire: Wire
) -> None:
    """Overwritten between the two halves, it is stale."""
    client = s3_server.client()
    bucket = s3_server.bucket()
    client.put_object(Bucket=bucket, Key="a", Body=b"a" * 1_000_000)
    options = s3_server.options() | {"endpoint_url": s3_wire.endpoint}
    reader = FsspecStore(f"s3://{bucket}", alias="m", options=options).reader("a")
    s3_wire.cut(500_000)
    s3_wire.then(
        lambda: client.put_object(Bucket=bucket, Key="a", Body=b"b" * 1_000_000)
    )

    with pytest.raises(StaleHandleError, match="changed"):
        reader.read_range(0, 1_000_000)


def ranged(first: int, last: int, etag: str, *, says: str | None = None) -> bytes:
    """Return an answer with a part of the data."""
    body = DATA[first : last + 1]
    where = f"bytes {first}-{last}/{len(DATA)}" if says is None else says
    head = (
        f"HTTP/1.1 206 X\r\nContent-Length: {len(body)}\r\nETag: {etag}\r\n"
        + (f"Content-Range: {where}\r\n" if where else "")
        + "\r\n"
    )
    return head.encode() + body


def test_a_server_that_ignores_conditions_is_seen_through(
    reader: FsspecReader, s3_wire: Wire
) -> None:
    """Every answer says of which upload it is; no probing is needed."""
    with reader.open() as stream:
        stream.read(100_000)
        s3_wire.answer(ranged(65536, 327679, '"another"'))
        s3_wire.answer(ranged(65536 * 5, 65536 * 21 - 1, '"another"'))
        with pytest.raises(StaleHandleError, match="etag was"):
            stream.read()


@pytest.mark.parametrize(
    "says", ["bytes 0-99/3145728", "bytes x-y/z", "", "bytes 10-19/*"]
)
def test_a_server_that_ignores_ranges_is_seen_through(
    reader: FsspecReader, s3_wire: Wire, says: str
) -> None:
    """Bytes of another range than was asked for are not handed out."""
    etag = str(reader.describe().locator["etag"])
    s3_wire.answer(ranged(10, 19, etag, says=says))

    with pytest.raises((HandleError, StaleHandleError), match=r"another range|size"):
        reader.read_range(10, 20)


def test_expired_credentials_are_asked_for_once_more(
    s3_server: S3Server, s3_wire: Wire, bucket: str
) -> None:
    """The function for the options is called again, in the middle of a stream."""
    asked: list[int] = []

    def options() -> dict[str, object]:
        asked.append(1)
        return s3_server.options() | {"endpoint_url": s3_wire.endpoint}

    store = FsspecStore(f"s3://{bucket}", alias="media", options=options)
    reader = store.reader("a")
    with reader.open() as stream:
        assert stream.read(10) == DATA[:10]
        assert len(asked) == 1
        s3_wire.answer(answer(400, "ExpiredToken"))
        assert stream.read() == DATA[10:]
    assert len(asked) == 2

    # HEAD is answered without a body, and so without the reason.
    s3_wire.answer(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    store.reader("a")
    assert len(asked) == 3

    s3_wire.answer(answer(403, "ExpiredToken"), answer(403, "ExpiredToken"))
    with pytest.raises(ResolverDeniedError, match=r"not accepted \(ExpiredToken\)"):
        reader.open()
    assert len(asked) == 4


def test_a_function_that_makes_the_store_is_asked_once_more(
    s3_server: S3Server, s3_wire: Wire, bucket: str
) -> None:
    """For a resolver: its readers go on, awaited as well."""
    made: list[FsspecStore] = []

    def make() -> FsspecStore:
        options = s3_server.options() | {"endpoint_url": s3_wire.endpoint}
        made.append(FsspecStore(f"s3://{bucket}", alias="media", options=options))
        return made[-1]

    resolver = FsspecResolver({"media": make})
    reader = resolver.resolve(make().reader("a").describe())
    assert reader is not None
    made.clear()
    assert reader.read_range(0, 3) == DATA[:3]
    assert len(made) == 1
    s3_wire.answer(answer(400, "ExpiredToken"))
    assert reader.read_range(3, 5) == DATA[3:5]
    assert len(made) == 2
    s3_wire.answer(answer(400, "ExpiredToken"))
    assert asyncio.run(reader.aread_range(3, 5)) == DATA[3:5]
    assert len(made) == 3

    resolver.refresh("media")
    resolver.refresh("unknown")
    assert reader.read_range(0, 3) == DATA[:3]
    assert len(made) == 4


def test_a_store_can_be_made_to_ask_again(s3_server: S3Server, bucket: str) -> None:
    """For credentials that were changed without having expired."""
    who = ["stranger"]
    store = FsspecStore(
        f"s3://{bucket}", alias="media", options=lambda: s3_server.options(who[0])
    )
    with pytest.raises(ResolverDeniedError, match="does not let us"):
        store.reader("a")
    who[0] = "admin"
    with pytest.raises(ResolverDeniedError, match="does not let us"):
        store.reader("a")
    store.refresh()
    assert store.reader("a").byte_length() == len(DATA)


FAULTS = [
    answer(403, "AccessDenied"),
    answer(403, "InvalidAccessKeyId"),
    answer(404, "NoSuchKey"),
    answer(412, "PreconditionFailed"),
    answer(418, "Something<else"),
    answer(400, "AuthorizationHeaderMalformed"),
]


def test_errors_and_logs_hold_no_secret(
    s3_server: S3Server,
    s3_wire: Wire,
    reader: FsspecReader,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Neither where we asked, nor as whom, nor what the server said about us."""
    caplog.set_level(logging.INFO)
    texts: list[str] = []
    for fault in FAULTS:
        s3_wire.answer(fault)
        with pytest.raises(HandleError, match=r"\('media', 'a'\)") as caught:
            reader.open()
        error: Any = caught.value
        assert error.__cause__ is None
        assert error.__suppress_context__
        texts += [str(error), repr(error), error.hint]
        texts += [repr(error.__reduce__())]

    secrets = (*s3_server.credentials(), s3_wire.endpoint[7:], "secret-account")
    for text in (*texts, caplog.text, repr(reader)):
        assert not [secret for secret in secrets if secret in text]


def test_a_port_where_nobody_listens_is_given_up(s3_server: S3Server) -> None:
    """Within seconds, and without naming it."""
    options = s3_server.options() | {"endpoint_url": "http://127.0.0.1:9"}
    store = FsspecStore("s3://bucket", alias="media", options=options)

    with pytest.raises(HandleError, match="can't be reached") as caught:
        store.reader("a")
    assert "127.0.0.1" not in str(caught.value)


def test_an_object_that_is_deleted_while_it_is_read_is_gone(
    s3_server: S3Server,
) -> None:
    """It is not found, and the stream does not end as if it were complete."""
    bucket = s3_server.bucket()
    client = s3_server.client()
    client.put_object(Bucket=bucket, Key="a", Body=bytes(1_000_000))
    options = s3_server.options()
    reader = FsspecStore(f"s3://{bucket}", alias="m", options=options).reader("a")
    with reader.open() as stream:
        stream.read(10)
        client.delete_object(Bucket=bucket, Key="a")
        with pytest.raises(HandleNotFoundError, match="nothing is there"):
            stream.read()


def test_a_whole_object_is_taken_for_its_first_range(
    reader: FsspecReader, s3_wire: Wire
) -> None:
    """From a server that ignores Range, as far as the bytes are those asked for."""
    etag = reader.describe().locator["etag"]
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(DATA)}\r\nETag: {etag}\r\n\r\n"
    s3_wire.answer(head.encode() + DATA)

    assert reader.read_range(0, 10) == DATA[:10]


def test_content_that_can_not_be_touched_is_uploaded_again(
    store: FsspecStore, s3_wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copying may be denied where writing is not."""
    reader = store.write(b"written again")
    monkeypatch.setattr("graphcodec_resolvers._s3.TOUCH_AFTER", -10)
    s3_wire.calm()
    s3_wire.answer(None, None, answer(403, "AccessDenied"))

    assert store.write(b"written again") == reader
    methods = [line.split()[0] for line in s3_wire.requests]
    assert methods == ["PUT", "HEAD", "PUT", "PUT"]


def test_an_upload_that_is_lost_at_its_end_is_begun_again(
    store: FsspecStore, s3_wire: Wire
) -> None:
    """Somebody took it for a leftover, say."""
    data = bytes(9 << 20)
    # HEAD, the beginning and two parts are let pass.
    s3_wire.answer(None, None, None, None, answer(404, "NoSuchUpload"))

    assert store.write(data).open().read() == data


def test_all_unfinished_uploads_are_found(store: FsspecStore, s3_wire: Wire) -> None:
    """More than one answer holds; one that ended meanwhile is no failure."""
    upload = (
        "<Upload><Key>sha256/x</Key><UploadId>1</UploadId>"
        "<Initiated>{}</Initiated></Upload>"
    )
    body = (
        "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated>"
        "<NextKeyMarker>sha256/x</NextKeyMarker><NextUploadIdMarker>1"
        "</NextUploadIdMarker>"
        + upload.format("2020-01-01T00:00:00Z")
        + upload.format("2999-01-01T00:00:00Z")
        + "</ListMultipartUploadsResult>"
    )
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n"
    live = list(store.descriptors())
    s3_wire.calm()
    s3_wire.answer(None, head.encode() + body.encode(), None)
    s3_wire.answer(answer(404, "NoSuchUpload"))

    assert store.gc(live, grace=60).leftovers == 1
    assert "key-marker=sha256%2Fx" in s3_wire.requests[2]


def test_missing_credentials_are_told(
    s3_server: S3Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing is sent without them."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    options = {"endpoint_url": s3_server.endpoint}
    store = FsspecStore("s3://bucket", alias="media", options=options)

    with pytest.raises(ResolverDeniedError, match="no credentials were found"):
        store.reader("a")


def test_a_bucket_that_can_not_be_is_told(s3_server: S3Server) -> None:
    """What botocore refuses to send is a failure like others."""
    options = s3_server.options()
    store = FsspecStore("s3://no such bucket", alias="media", options=options)

    with pytest.raises(HandleError, match="ParamValidationError of botocore"):
        store.reader("a")


def test_a_certificate_that_nobody_trusts_is_told(s3_server: S3Server) -> None:
    """And not tried again."""
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate = authority.issue_cert("127.0.0.1")
    certificate.configure_cert(context)  # pyright: ignore[reportUnknownMemberType] - trustme names OpenSSL, which is not installed
    with FaultyServer(context) as server:
        options = s3_server.options() | {"endpoint_url": server.url("")}
        store = FsspecStore("s3://bucket", alias="media", options=options)

        with pytest.raises(HandleError, match="no certificate that we trust"):
            store.reader("a")
    assert server.seen == []
