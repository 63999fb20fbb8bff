from __future__ import annotations

import io
import time
from datetime import UTC, datetime
from threading import Event
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import attrs
import pytest

from graphcodec import Codec, OpaqueNode, persist
from graphcodec._graphs._handles import VerifyReport, handles, verify
from graphcodec._graphs._traverse import path_to
from graphcodec._paths import format_path
from graphcodec.errors import (
    GraphCodecError,
    HandleError,
    HandleNotFoundError,
    InvalidValueError,
    ReaderNotDescribableError,
    ResolverDeniedError,
    StaleHandleError,
)
from graphcodec.primitives import (
    Conversation,
    Media,
    Message,
    Registry,
    SpooledArtifact,
)
from graphcodec.readers import (
    BytesReader,
    BytesStore,
    Reader,
    ReaderDescriptor,
    StreamReader,
)
from graphcodec_resolvers import FsspecStore, HttpReader

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SMALL: Final = BytesReader(b"small")


def media(reader: Reader) -> Media:
    """Return an image over *reader*."""
    return Media.user_attachment(
        kind="image", mime_type="image/png", filename="a.png", reader=reader
    )


def message(*attachments: Media) -> Message:
    """Return a message with attachments."""
    now = datetime(2026, 5, 1, tzinfo=UTC)
    return Message(
        id="m",
        role="user",
        content="hi",
        attachments=attachments,
        created_at=now,
        updated_at=now,
    )


class Fails(Reader):
    """A reader that can't be opened."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.opened = 0

    def open(self) -> BinaryIO:
        """Fail."""
        self.opened += 1
        raise self.error

    def describe(self) -> ReaderDescriptor:
        """Say where it would be."""
        return ReaderDescriptor("test", {"n": id(self)})


# handles


def test_handles_come_in_the_order_of_the_document_with_path_and_owner() -> None:
    """Each handle is told with its path, the object that holds it, and itself."""
    readers = [BytesReader(bytes([n])) for n in range(3)]
    first, second = media(readers[0]), media(readers[2])
    artifact = SpooledArtifact(readers[1])
    said = message(first)
    said.stash.set("log", artifact)
    conversation = Conversation(id="c", items=[said, message(second)])

    assert list(handles(conversation)) == [
        ("$.items[0].attachments[0].reader", first, readers[0]),
        ("$.items[0].stash.data.log.reader", artifact, readers[1]),
        ("$.items[1].attachments[0].reader", second, readers[2]),
    ]


def test_a_reader_is_met_once_in_each_owner() -> None:
    """Two media over one reader are two handles; one media met twice is one."""
    one, two = media(SMALL), media(SMALL)

    found = list(handles([one, two, one, SMALL, SMALL]))

    assert [(path, owner) for path, owner, _ in found[:2]] == [
        ("$[0].reader", one),
        ("$[1].reader", two),
    ]
    assert [path for path, _, _ in found[2:]] == ["$[3]"]


def test_a_container_shared_by_two_owners_counts_for_both() -> None:
    """What two registered objects hold in common belongs to each."""
    shared = [SMALL]
    node = OpaqueNode("shop.Order", 1, {"files": shared})
    other = OpaqueNode("shop.Order", 1, {"files": shared})

    found = list(handles([node, other]))

    assert [(path, owner is node) for path, owner, _ in found] == [
        ("$[0].files[0]", True),
        ("$[1].files[0]", False),
    ]


def test_the_graph_itself_owns_what_lies_in_no_object() -> None:
    """Outside all objects the root is the owner; a lone reader is its own."""
    graph = {"a": (SMALL,)}

    assert list(handles(graph)) == [("$.a[0]", graph, SMALL)]
    assert list(handles(SMALL)) == [("$", SMALL, SMALL)]


def test_odd_keys_are_shown_as_the_codec_shows_them() -> None:
    """Keys that are no names are quoted in the path, and readers in keys are met."""
    assert [path for path, _, _ in handles([{"a b": SMALL}])] == ["$[0]['a b']"]
    assert [path for path, _, _ in handles([{1: SMALL}])] == ["$[0]['1']"]
    assert [path for path, _, _ in handles({(1, SMALL): 2})] == ["$['<tuple>'][1]"]


@pytest.mark.parametrize("depth", [0, 5, 22, 23, 24, 30, 100])
def test_deep_paths_look_as_those_of_the_codec(depth: int) -> None:
    """A path is cut in the middle exactly where `format_path` cuts it."""
    graph: Any = SMALL
    for _ in range(depth):
        graph = [graph]

    assert [path for path, _, _ in handles(graph)] == [format_path([0] * depth)]


def test_the_path_is_that_of_an_error() -> None:
    """Encode refuses a reader under the path that `handles` tells."""
    graph = [1, {"k": (1, message(media(StreamReader(io.BytesIO()))))}]

    with pytest.raises(ReaderNotDescribableError) as caught:
        Codec().encode(graph)
    assert [path for path, _, _ in handles(graph)] == [caught.value.path]


def test_cycles_end() -> None:
    """A graph that holds itself is gone through once."""
    registry = Registry({"a": SMALL})
    registry.set("self", [registry])

    assert [path for path, _, _ in handles(registry)] == ["$.data.a"]


def test_shared_containers_take_linear_time() -> None:
    """Sixty doublings around a reader hold one handle."""
    doubled: Any = [SMALL]
    for _ in range(60):
        doubled = [doubled, doubled]

    assert len(list(handles(doubled))) == 1


def test_a_reader_at_each_of_many_levels() -> None:
    """20,000 linked objects with a reader each take seconds, not minutes."""

    @attrs.define
    class Link:
        rest: object
        reader: Reader

    chain: object = None
    for _ in range(20_000):
        chain = Link(chain, SMALL)

    begin = time.perf_counter()
    found = list(handles(chain))

    assert len(found) == 20_000
    assert found[-1][0] == "$.reader"
    assert time.perf_counter() - begin < 10


def test_nothing_is_opened() -> None:
    """Listing handles calls no reader."""
    reader = Fails(OSError())

    list(handles([media(reader)]))

    assert reader.opened == 0


def test_what_is_not_in_the_graph_has_no_path() -> None:
    """An object that can't be found is placed at the root."""
    assert path_to([1], object()) == "$"


# verify


def test_verify_tells_what_became_of_each_handle(tmp_path: Path) -> None:
    """Handles are alive, stale, gone, denied or failed, each with path and tag."""
    store = FsspecStore(str(tmp_path), alias="media")
    alive, stale, gone = (store.write(data) for data in (b"alive", b"stale", b"gone"))
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.read_bytes() == b"stale":
            path.write_bytes(b"other bytes")
        elif path.is_file() and path.read_bytes() == b"gone":
            path.unlink()
    denied = HttpReader("https://127.0.0.1/private")
    graph = [media(reader) for reader in (alive, stale, gone, denied)]

    report = verify([*graph, Fails(HandleError("broken pipe", hint="try again"))])

    assert [(f.path, f.tag) for f in report.alive] == [("$[0].reader", "media:fsspec")]
    assert [f.path for f in report.stale] == ["$[1].reader"]
    assert [f.path for f in report.gone] == ["$[2].reader"]
    assert [(f.path, f.tag) for f in report.denied] == [("$[3].reader", "media:http")]
    (failed,) = report.failed
    assert failed[:3] == ("$[4]", "media:test", "broken pipe; try again")
    assert not report.ok


def test_a_graph_of_live_handles_is_ok() -> None:
    """A report without bad news is ok, and so is one of an empty graph."""
    assert verify([SMALL]).ok
    assert verify([]) == VerifyReport()
    assert VerifyReport().ok


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (StaleHandleError("x"), "stale"),
        (HandleNotFoundError("x"), "gone"),
        (FileNotFoundError(2, "x"), "gone"),
        (ResolverDeniedError("x"), "denied"),
        (PermissionError(1, "x"), "denied"),
        (GraphCodecError("x"), "failed"),
        (RuntimeError("https://user:secret@example.org/?sig=secret"), "failed"),
    ],
)
def test_every_error_has_its_place(error: Exception, state: str) -> None:
    """Our errors and those of Python are sorted; foreign text is not shown."""
    (finding,) = getattr(verify(Fails(error)), state)

    assert "secret" not in finding.detail
    assert finding.detail


def test_details_are_short() -> None:
    """A report shows no more of an error than fits on a few lines."""
    (finding,) = verify(Fails(GraphCodecError("x" * 10_000))).failed

    assert len(finding.detail) == 300


def test_one_byte_is_read_unless_the_content_is_asked_for() -> None:
    """The content is read to its end only with ``content=True``, and counted."""
    taken: list[int] = []

    class Counted(Reader):
        def open(self) -> BinaryIO:
            class Stream(io.BytesIO):
                def read(self, size: int | None = -1) -> bytes:
                    taken.append(size or 0)
                    return super().read(size)

            return Stream(b"x" * 1_000)

        def describe(self) -> ReaderDescriptor:
            return ReaderDescriptor("test", {})

    assert verify(Counted()).alive[0].detail == ""
    assert taken == [1]
    assert verify(Counted(), content=True).alive[0].detail == "1000 bytes"


def test_only_the_content_proves_a_hash(tmp_path: Path) -> None:
    """Bytes changed in place are found when all are read."""
    (tmp_path / "a.txt").write_bytes(b"before")
    store = FsspecStore(str(tmp_path), alias="media")
    reader = store.reader("a.txt", pin="content")
    assert verify(reader, content=True).ok

    (tmp_path / "a.txt").write_bytes(b"beyond")

    assert len(verify(reader, content=True).stale) == 1


def test_a_reader_met_twice_is_opened_once() -> None:
    """Each of its places is reported, after a single open."""
    reader = Fails(OSError(5, "broken"))
    told: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        told.append((done, total))

    report = verify([media(reader), media(reader)], progress=progress)

    assert [f.path for f in report.failed] == ["$[0].reader", "$[1].reader"]
    assert reader.opened == 1
    assert told == [(1, 1)]


def test_readers_without_a_tag_are_called_by_their_class() -> None:
    """A stream, or a URL with a signature, is named by its class."""
    stream = StreamReader(io.BytesIO(b"x"))
    signed = HttpReader("https://127.0.0.1/x?X-Amz-Signature=secret")

    report = verify([stream, signed])

    assert report.alive[0].tag == "media:StreamReader"
    assert report.denied[0].tag == "media:HttpReader"


def test_in_memory_readers_are_not_described() -> None:
    """The tag of a BytesReader is told without a copy of its bytes."""

    class Large(BytesReader):
        def describe(self) -> ReaderDescriptor:
            raise AssertionError

    (alive,) = verify(Large(b"x")).alive
    assert alive[:4] == ("$", "media:in-memory", "", 1)


class Hangs(Reader):
    """A reader that gives no answer until somebody sets it free."""

    def __init__(self) -> None:
        self.free = Event()

    def open(self) -> BinaryIO:
        """Wait."""
        self.free.wait(60)
        return io.BytesIO(b"late")


def test_one_that_hangs_does_not_hold_up_the_others() -> None:
    """It has failed, and the rest is told all the same."""
    hangs = Hangs()
    try:
        report = verify([hangs, BytesReader(b"here")], timeout=0.2)
    finally:
        hangs.free.set()

    assert [found.path for found in report.alive] == ["$[1]"]
    (failed,) = report.failed
    assert failed.detail == "there was no answer within 0.2 seconds"
    assert failed.seconds >= 0.2


def test_sizes_and_times_are_told(tmp_path: Path) -> None:
    """How many bytes there are is known from the handle or from reading them."""
    store = FsspecStore(str(tmp_path), alias="media")
    graph = [store.write(b"four"), BytesReader(b"fives"), StreamReader(io.BytesIO())]

    for content in (False, True):
        report = verify(graph, content=content)
        assert [found.bytes for found in report.alive] == [4, 5, 0]
        assert all(found.seconds > 0 for found in report.alive)
    assert verify(Fails(HandleError("no"))).failed[0].bytes is None


def test_the_family_is_that_of_the_owner() -> None:
    """The tag begins with the family that the owner's class names."""

    @attrs.frozen
    class Spool:
        __graphcodec_family__ = "spool"
        reader: Reader

    assert verify(Spool(SMALL)).alive[0].tag == "spool:in-memory"
    assert verify(media(SMALL)).alive[0].tag == "media:in-memory"


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_timeout_is_a_time(seconds: float) -> None:
    """In no time, every handle would have failed."""
    with pytest.raises(InvalidValueError, match="timeout: must be more"):
        verify(BytesReader(b"1"), timeout=seconds)


def _listed(graph: object) -> object:
    return list(handles(graph))


def _persisted(graph: object) -> object:
    return persist(graph, BytesStore())


@pytest.mark.parametrize("look", [verify, _listed, _persisted])
def test_a_generator_is_no_graph(look: Callable[[object], object]) -> None:
    """Nothing is found in it, which must not look like nothing being wrong."""
    with pytest.raises(InvalidValueError, match="a generator is no graph"):
        look(reader for reader in [BytesReader(b"1")])
