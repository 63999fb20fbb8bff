from __future__ import annotations

import asyncio
import io
import json
import threading
from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast

import attrs
import msgspec
import pydantic
import pytest

from graphcodec import Codec, OpaqueNode, encodable, extra
from graphcodec._graphs._handles import handles
from graphcodec._graphs._persist import apersist, persist
from graphcodec.errors import (
    CyclicGraphError,
    HandleNotFoundError,
    InvalidValueError,
    ReaderNotDescribableError,
    StorageError,
)
from graphcodec.primitives import (
    Conversation,
    Identity,
    Media,
    Message,
    Registry,
    SpooledArtifact,
    SpooledJsonArtifact,
    SpooledMarkdownArtifact,
    ToolCall,
    TurnGate,
)
from graphcodec.readers import BytesReader, BytesStore, Reader, StreamReader
from graphcodec.testing import same_graph

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphcodec.readers import ReaderDescriptor

NOW: Final = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
LARGE: Final = b"x" * 40_000


def upload(data: bytes = b"upload") -> StreamReader:
    """Return a reader that can't travel."""
    return StreamReader(io.BytesIO(data))


def media(reader: Reader, **parts: Any) -> Media:
    """Return an image over *reader*."""
    return Media.user_attachment(
        kind="image", mime_type="image/png", filename="a.png", reader=reader, **parts
    )


def message(*attachments: Media, identity: str | Identity = "user") -> Message:
    """Return a message with attachments."""
    return Message(
        id="msg-1",
        role="user",
        content="hi",
        attachments=attachments,
        identity=identity,
        created_at=NOW,
        updated_at=NOW,
    )


def call(args: dict[str, object]) -> ToolCall:
    """Return a pending call."""
    return ToolCall(
        id="call-1",
        tool="look",
        args=args,
        is_complete=False,
        is_error=False,
        created_at=NOW,
        updated_at=NOW,
    )


class Store(BytesStore):
    """A store that counts what is written to it, and how."""

    __slots__ = ("media_types", "threads")

    def __init__(self) -> None:
        super().__init__()
        self.media_types: list[str | None] = []
        self.threads: set[int] = set()

    def write(
        self, data: bytes | BinaryIO | Reader, *, media_type: str | None = None
    ) -> BytesReader:
        """Keep the data, and take note."""
        self.media_types.append(media_type)
        self.threads.add(threading.get_ident())
        return super().write(data)


class Broken(Store):
    """A store that fails for one content."""

    __slots__ = ("error",)

    def __init__(self, error: Callable[[], Exception]) -> None:
        super().__init__()
        self.error = error

    def write(
        self, data: bytes | BinaryIO | Reader, *, media_type: str | None = None
    ) -> BytesReader:
        """Fail for what says so."""
        kept = super().write(data, media_type=media_type)
        if kept.data == b"broken":
            raise self.error()
        return kept


def content(reader: object) -> bytes:
    """Return all bytes of a reader."""
    assert isinstance(reader, Reader)
    return b"".join(reader.iter_bytes())


# What moves


def test_a_stream_moves_to_the_store_and_the_graph_can_be_encoded() -> None:
    """Media made from an upload is refused by encode until persist has moved it."""
    conversation = Conversation(id="c", items=[message(media(upload()))])
    codec = Codec()
    with pytest.raises(ReaderNotDescribableError, match="persist"):
        codec.encode(conversation)

    moved = persist(conversation, BytesStore())

    back = codec.decode(codec.encode(moved), Conversation)
    assert back == moved
    assert cast("Message", back.items[0]).attachments[0].read() == b"upload"


def test_the_original_is_untouched() -> None:
    """The graph that was given still holds its own readers."""
    reader = upload()
    original = message(media(reader))

    persist(original, BytesStore())

    assert original.attachments[0].reader is reader
    assert original.attachments[0].read() == b"upload"


@pytest.mark.parametrize(("size", "moves"), [(0, 0), (4, 0), (5, 1)])
def test_bytes_over_the_limit_move(size: int, moves: int) -> None:
    """A BytesReader moves if it has more bytes than inline_limit, not as many."""
    store = Store()

    persist([BytesReader(b"x" * size)], store, inline_limit=4)

    assert len(store.media_types) == moves


def test_the_default_limit_is_32_kib() -> None:
    """Without a limit, 32,768 bytes stay and one more moves."""
    store = Store()

    persist([BytesReader(b"x" * 32_768), BytesReader(b"x" * 32_769)], store)

    assert [len(d.locator["base64"]) for d in store.descriptors()] == [43_692]  # type: ignore[arg-type]


def test_a_reader_that_refuses_to_describe_itself_moves() -> None:
    """A reader whose describe() raises, as a signed URL's does, is stored."""

    class Signed(Reader):
        def open(self) -> BinaryIO:
            return io.BytesIO(b"signed")

        def describe(self) -> ReaderDescriptor:
            raise ReaderNotDescribableError

        def __hash__(self) -> int:
            raise NotImplementedError

    assert content(persist(Signed(), BytesStore())) == b"signed"


def test_nothing_to_move_gives_the_same_graph() -> None:
    """A graph in which every reader travels comes back as the very same object."""
    graph = [message(media(BytesReader(b"small")))]

    assert persist(graph, BytesStore()) is graph


def test_running_it_again_changes_nothing() -> None:
    """What persist returned comes back as it is from a second run."""
    store = BytesStore()
    moved = persist(message(media(upload()), media(BytesReader(LARGE))), store)

    assert persist(moved, store) is moved


def test_one_image_in_fifty_messages_is_stored_once() -> None:
    """One reader object is written once and is one reader afterwards."""
    store = Store()
    picture = media(upload())
    items = [message(picture) for _ in range(25)]
    items += [message(media(picture.reader)) for _ in range(25)]

    moved = persist(Conversation(id="c", items=items), store)

    assert len(store.media_types) == 1
    readers = {id(cast("Message", item).attachments[0].reader) for item in moved.items}
    assert len(readers) == 1


def test_equal_bytes_are_written_once() -> None:
    """Distinct readers of equal bytes make one write."""
    store = Store()
    graph = [media(BytesReader(LARGE[:-1] + b"x")) for _ in range(50)]

    persist(graph, store)

    assert len(store.media_types) == 1


def test_the_store_is_told_the_media_type() -> None:
    """The MIME type of the owner goes to the store; an artifact has none."""
    store = Store()

    persist(media(upload()), store)
    persist(SpooledArtifact(upload()), store)

    assert store.media_types == ["image/png", None]


# What is kept


def test_what_holds_no_replaced_reader_stays_the_same_object() -> None:
    """Only objects on the way to a replaced reader are made anew."""
    plain = message(media(BytesReader(b"small")))
    identity = Identity(identifier="ada", representation="Ada")
    moving = message(media(upload()), identity=identity)

    moved = persist([plain, moving], BytesStore())

    assert moved[0] is plain
    assert moved[1] is not moving
    assert moved[1].identity is identity
    assert moved[1].stash is moving.stash


def test_sharing_is_kept() -> None:
    """An object met twice is one object afterwards; two equal ones stay two."""
    one, other = media(upload(), id="m"), media(upload(), id="m")

    first, second, third = persist([one, one, other], BytesStore())

    assert first is second
    assert first is not third


def test_unknown_fields_are_kept() -> None:
    """Fields that a newer version wrote survive, and readers in them move."""
    codec = Codec()
    text = codec.encode_text(message(media(BytesReader(b"small"))))
    text = text.replace('"role":', '"new":{"$any":{"$tuple":[1]}},"role":')
    old = codec.decode(text, Message)

    moved = persist(old, BytesStore(), inline_limit=0)

    assert moved is not old
    assert '"new":{"$any":{"$tuple":[1]}}' in codec.encode_text(moved)


def test_readers_in_unknown_fields_move() -> None:
    """A reader in a field that the class does not know is replaced, too."""
    codec = Codec()
    reader = codec.encode_text(BytesReader(b"small")).partition('"root":')[2][:-1]
    text = codec.encode_text(message()).replace('"role":', f'"new":{reader},"role":')
    old = codec.decode(text, Message)
    store = BytesStore()

    moved = persist(old, store, inline_limit=0)

    assert len(store) == 1
    assert json.loads(codec.encode_text(moved)) == json.loads(text)


def test_readers_in_unknown_objects_move() -> None:
    """An OpaqueNode is looked into and made anew."""
    codec = Codec(unknown_types="keep")
    node = OpaqueNode("shop.Order", 2, {"scan": upload()})

    moved = persist(node, BytesStore())

    assert (moved.tag, moved.version) == ("shop.Order", 2)
    assert content(moved.fields["scan"]) == b"upload"
    assert same_graph(codec.decode(codec.encode(moved)), moved)


# Kinds of objects


@attrs.frozen
class Frozen:
    """A frozen attrs class with a private, a late and an extra field."""

    reader: object
    _size: int = attrs.field(
        default=1, validator=attrs.validators.ge(1), alias="extent"
    )
    late: object = attrs.field(init=False, default=None)
    rest: dict[str, object] = extra()  # noqa: RUF009 - what attrs wants


@attrs.define(slots=False)
class Open:
    """An attrs class with a ``__dict__``."""

    reader: object


@dataclass
class Data:
    """A dataclass with a field that its constructor does not take."""

    reader: object
    late: object = field(init=False, default=None)


@dataclass(frozen=True)
class FrozenData:
    """A frozen dataclass."""

    reader: object


class Model(pydantic.BaseModel):
    """A pydantic model that keeps extras."""

    model_config = pydantic.ConfigDict(
        arbitrary_types_allowed=True, extra="allow", populate_by_name=False
    )

    reader: Reader | None = pydantic.Field(alias="Reader")
    note: str = "-"


class Struct(msgspec.Struct, rename="camel", frozen=True):
    """A msgspec Struct with renamed fields."""

    the_reader: Reader


class Own:
    """A class with functions of its own."""

    __graphcodec_tag__ = "test.Own"

    def __init__(self, reader: object) -> None:
        self.hidden = reader

    def __graphcodec_encode__(self) -> object:
        return {"reader": self.hidden}

    @classmethod
    def __graphcodec_decode__(cls, data: dict[str, object]) -> Own:
        return cls(data["reader"])


MADE: Final[dict[str, tuple[Callable[[Reader], object], Callable[[Any], object]]]] = {
    "attrs": (Frozen, lambda obj: obj.reader),
    "attrs with a dict": (Open, lambda obj: obj.reader),
    "dataclass": (Data, lambda obj: obj.reader),
    "frozen dataclass": (FrozenData, lambda obj: obj.reader),
    "pydantic": (lambda r: Model(Reader=r), lambda obj: obj.reader),
    "msgspec": (Struct, lambda obj: obj.the_reader),
    "own functions": (Own, lambda obj: obj.hidden),
    "list": (lambda r: [1, r], lambda obj: obj[1]),
    "tuple": (lambda r: (1, r), lambda obj: obj[1]),
    "dict": (lambda r: {"a": r}, lambda obj: obj["a"]),
    "dict key": (lambda r: {(1, r): 1}, lambda obj: next(iter(obj))[1]),
    "set": (lambda r: {r}, lambda obj: next(iter(obj))),
    "frozenset": (lambda r: frozenset({r}), lambda obj: next(iter(obj))),
    "deque": (lambda r: deque([r], maxlen=3), lambda obj: obj[0]),
    "registry": (lambda r: Registry({"a": r}), lambda obj: obj.get("a")),
    "artifact": (SpooledArtifact, lambda obj: obj.reader),
    "JSON": (lambda r: SpooledJsonArtifact(r, "jsonl"), lambda obj: obj.reader),
    "Markdown": (SpooledMarkdownArtifact, lambda obj: obj.reader),
    "reader": (lambda r: r, lambda obj: obj),
}


@pytest.mark.parametrize(("make", "take"), MADE.values(), ids=MADE)
def test_every_kind_of_holder_is_made_anew(
    make: Callable[[Reader], object], take: Callable[[Any], object]
) -> None:
    """A reader is replaced in containers and objects of every kind, type kept."""
    old = make(upload())

    new = persist(old, BytesStore())

    assert isinstance(take(new), BytesReader)
    assert content(take(new)) == b"upload"
    assert isinstance(take(old), StreamReader)
    assert type(new) is type(old) or isinstance(old, Reader)


def test_fields_that_the_constructor_does_not_take_are_set() -> None:
    """``init=False`` and extra fields go over, private ones by their alias."""
    old = Frozen(upload(), extent=7, rest={"more": [upload(b"more")]})
    object.__setattr__(old, "late", upload(b"late"))

    new = persist(old, BytesStore())

    assert attrs.astuple(new, recurse=False)[1] == 7
    assert content(new.late) == b"late"
    assert content(cast("list[object]", new.rest["more"])[0]) == b"more"


def test_a_struct_may_hold_objects() -> None:
    """A Struct around a primitive is made anew by its constructor."""

    class Holder(msgspec.Struct, rename="camel"):
        the_scan: Media
        size: int = 1

    new = persist(Holder(media(upload()), size=7), BytesStore())

    assert new.size == 7
    assert new.the_scan.read() == b"upload"


def test_extras_of_a_pydantic_model_move() -> None:
    """What a model keeps beside its fields is looked into and goes over."""
    old = Model.model_validate({"Reader": None, "note": "n", "scan": upload()})

    new = persist(old, BytesStore())

    assert new.note == "n"
    assert content((new.__pydantic_extra__ or {})["scan"]) == b"upload"


def test_a_late_field_of_a_dataclass_moves() -> None:
    """A reader in an ``init=False`` field of a dataclass is replaced."""
    old = Data(None)
    old.late = upload()

    assert content(persist(old, BytesStore()).late) == b"upload"


def test_a_deque_keeps_its_bound() -> None:
    """The maxlen of a deque is kept."""
    assert persist(deque([upload()], maxlen=3), BytesStore()).maxlen == 3


def test_live_objects_are_left_alone() -> None:
    """What can't be looked into, such as a lock, stays the object it is."""
    lock = threading.Lock()

    assert persist([upload(), lock], BytesStore())[1] is lock


def test_classes_that_say_they_are_live_are_not_made_anew() -> None:
    """An object marked as live keeps its identity, whatever it holds."""

    @attrs.define
    class Live:
        __graphcodec_live__ = True
        reader: object

    live = Live(upload())

    assert persist(live, BytesStore()) is live


def test_objects_are_validated_again() -> None:
    """A constructor that refuses its own object's data is heard, with the path."""
    old = Frozen(upload())
    object.__setattr__(old, "_size", 0)

    with pytest.raises(ValueError, match="'_size' must be >= 1") as caught:
        persist({"a": [old]}, BytesStore())
    assert "$.a[0]" in caught.value.__notes__[0]


def test_primitives_are_validated_again_with_their_path() -> None:
    """The path of a primitive's refusal begins at the root."""
    old = message(media(upload()))
    object.__setattr__(old, "role", "system")

    with pytest.raises(InvalidValueError) as caught:
        persist([old], BytesStore())
    assert caught.value.path == "$[0].role"


# Depth and cycles


@pytest.mark.parametrize("cls", [Frozen, Open])
def test_a_long_chain_is_made_anew(cls: type) -> None:
    """100,000 linked objects, the last of which holds a reader."""
    chain: Any = upload()
    for _ in range(100_000):
        chain = cls(chain)

    moved = persist(chain, BytesStore())

    for _ in range(100_000):
        moved = moved.reader
    assert content(moved) == b"upload"


def test_deep_lists_are_made_anew() -> None:
    """Lists nested 5,000 deep around a reader."""
    nested: Any = upload()
    for _ in range(5_000):
        nested = [nested]

    moved = persist(nested, BytesStore())

    for _ in range(5_000):
        moved = moved[0]
    assert content(moved) == b"upload"


def test_shared_lists_take_linear_time() -> None:
    """Sixty doublings of a list around a reader are sixty lists afterwards."""
    doubled: Any = [upload()]
    for _ in range(60):
        doubled = [doubled, doubled]

    moved = persist(doubled, BytesStore())

    assert moved[0] is moved[1]
    assert same_graph(persist(moved, BytesStore(), inline_limit=0), moved)


def test_a_list_that_holds_itself() -> None:
    """The copy of a list that holds itself holds itself."""
    old: list[object] = [upload()]
    old.append(old)

    new = persist(old, BytesStore())

    assert new[1] is new
    assert content(new[0]) == b"upload"


def test_a_registry_that_holds_itself() -> None:
    """The new registry holds itself, not the old one."""
    old = Registry({"scan": media(upload())})
    old.set("self", old)

    new = persist(old, BytesStore())

    assert new.get("self") is new
    assert cast("Media", new.get("scan")).read() == b"upload"


def test_arguments_that_hold_their_own_call() -> None:
    """A frozen object in a cycle through its dict is made around the new dict."""
    args: dict[str, object] = {"scan": upload()}
    old = call(args)
    args["me"] = [old, (old, args), deque([args])]

    new = persist(old, BytesStore())

    me = cast("list[Any]", new.args["me"])
    assert me[0] is me[1][0] is new
    assert me[1][1] is me[2][0] is new.args
    assert content(new.args["scan"]) == b"upload"


@pytest.mark.parametrize("cls", [Open, Data])
def test_parent_and_child(cls: type) -> None:
    """Mutable objects that refer to each other do so afterwards."""
    parent, child = cls(None), cls(upload())
    parent.reader = [child, child.reader]
    child.reader = parent

    new = persist(parent, BytesStore())

    assert new is not parent
    assert new.reader[0].reader is new
    assert content(new.reader[1]) == b"upload"


def test_pydantic_models_in_a_cycle() -> None:
    """A model in a cycle is validated into an instance that exists already."""

    class Link(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)
        other: Link | None = None
        reader: Reader | None = None

    old = Link(reader=upload())
    old.other = Link(other=old)

    new = persist(old, BytesStore())

    assert new.other is not None
    assert new.other.other is new
    assert content(new.reader) == b"upload"


def test_a_cycle_of_frozen_objects_is_refused() -> None:
    """A cycle through frozen objects alone can't be made, and the error says where."""
    first, second = Frozen(None), Frozen(upload())
    object.__setattr__(first, "reader", (second,))
    object.__setattr__(second, "late", first)

    with pytest.raises(CyclicGraphError, match="contains itself") as caught:
        persist({"a": [first]}, BytesStore())
    assert caught.value.path.startswith("$.a[0]")


def test_a_cycle_of_frozen_objects_without_a_moving_reader_is_no_concern() -> None:
    """A part of the graph that need not be made anew may be of any form."""
    frozen = Frozen(None)
    object.__setattr__(frozen, "reader", frozen)

    assert persist([upload(), frozen], BytesStore())[1] is frozen


def test_a_cycle_through_a_set_is_refused() -> None:
    """A member of a set must be complete before it is hashed."""
    args: dict[str, object] = {"scan": upload()}
    args["me"] = {call(args)}

    with pytest.raises(CyclicGraphError) as caught:
        persist(args, BytesStore())
    assert caught.value.path == "$.me"


def test_a_frozen_object_that_copies_its_list_is_refused_in_a_cycle() -> None:
    """If the constructor copies the container, the copy would stay empty."""

    @attrs.frozen
    class Copies:
        items: list[object] = attrs.field(converter=list)

    items: list[object] = []
    old = Copies([])
    object.__setattr__(old, "items", items)
    items += [old, upload()]

    with pytest.raises(CyclicGraphError, match="copies its items"):
        persist(old, BytesStore())


def test_keys_that_become_one_are_refused() -> None:
    """Two uploads of equal bytes as keys of a dict: no entry is dropped in silence."""
    with pytest.raises(InvalidValueError, match="same bytes") as caught:
        persist([{upload(): 1, upload(): 2}], BytesStore())
    assert caught.value.path == "$[0]"


# Progress and failure


def test_progress_is_told_after_each_write() -> None:
    """The callback gets the number of writes done and of all, on this thread."""
    told: list[tuple[int, int]] = []
    threads: set[int] = set()

    def progress(done: int, total: int) -> None:
        told.append((done, total))
        threads.add(threading.get_ident())

    persist([upload(bytes([n])) for n in range(20)], BytesStore(), progress=progress)

    assert told == [(n, 20) for n in range(1, 21)]
    assert threads == {threading.get_ident()}


def test_a_failing_store_is_told_with_the_path() -> None:
    """An error of a store carries the path of the reader that was to be written."""
    items = [message(), message(media(upload()), media(upload(b"broken")))]
    store = Broken(lambda: StorageError("the disk is full", hint="free some"))

    with pytest.raises(StorageError, match="disk is full") as caught:
        persist(Conversation(id="c", items=items), store)
    assert caught.value.path == "$.items[1].attachments[1].reader"


def test_a_foreign_error_gets_a_note_with_the_path() -> None:
    """An exception that is not ours passes as it is, with a note."""
    with pytest.raises(KeyError) as caught:
        persist({"a": upload(b"broken")}, Broken(lambda: KeyError("bucket")))
    assert "$.a" in caught.value.__notes__[0]


def test_a_closed_upload_is_told_with_the_path() -> None:
    """A stream that was closed meanwhile is named by its path."""
    file = io.BytesIO(b"gone")
    graph = [media(StreamReader(file))]
    file.close()

    with pytest.raises(HandleNotFoundError) as caught:
        persist(graph, BytesStore())
    assert caught.value.path == "$[0].reader"


def test_it_can_be_run_again_after_a_failure() -> None:
    """What was written before a failure is not lost; the second run finishes."""
    graph = [upload(b"first"), upload(b"broken")]
    store = Broken(StorageError)
    with pytest.raises(StorageError):
        persist(graph, store)

    kept = persist(graph[:1], store)

    assert content(kept[0]) == b"first"
    assert kept[0].describe() in list(store.descriptors())


def test_a_store_must_give_readers() -> None:
    """A store that gives something else is named as the culprit."""

    class Wrong(BytesStore):
        def write(self, *_: object, **__: object) -> Any:
            return "key"

    with pytest.raises(InvalidValueError, match="gave a str, which is no Reader"):
        persist(upload(), Wrong())


def test_arguments_are_checked() -> None:
    """Something that is no store, or no number of bytes, is refused at once."""
    with pytest.raises(InvalidValueError, match="must have a write method"):
        persist([], cast("BytesStore", object()))
    for limit in (-1, 1.5, True):
        with pytest.raises(InvalidValueError, match="inline_limit"):
            persist([], BytesStore(), inline_limit=cast("int", limit))


# The async face


def test_apersist_writes_several_at_once_and_off_the_loop() -> None:
    """Writes overlap, in other threads, and the result is that of persist."""
    meeting = threading.Barrier(2, timeout=10)

    class Meeting(Store):
        def write(
            self, data: bytes | BinaryIO | Reader, *, media_type: str | None = None
        ) -> BytesReader:
            meeting.wait()
            return super().write(data, media_type=media_type)

    store = Meeting()
    told: list[tuple[int, int]] = []
    graph = [upload(b"1"), upload(b"2")]

    def progress(done: int, total: int) -> None:
        told.append((done, total))

    moved = asyncio.run(apersist(graph, store, progress=progress))

    assert [content(reader) for reader in moved] == [b"1", b"2"]
    assert threading.get_ident() not in store.threads
    assert told == [(1, 2), (2, 2)]


def test_persist_writes_several_at_once() -> None:
    """The writes of persist overlap, too."""
    meeting = threading.Barrier(2, timeout=10)

    class Meeting(BytesStore):
        def write(
            self, data: bytes | BinaryIO | Reader, *, media_type: str | None = None
        ) -> BytesReader:
            meeting.wait()
            return super().write(data, media_type=media_type)

    moved = persist([upload(b"1"), upload(b"2")], Meeting())

    assert [content(reader) for reader in moved] == [b"1", b"2"]


def test_apersist_fails_as_persist_does() -> None:
    """The first error comes out, with the path, and no other is left behind."""
    graph = {"a": [upload(b"broken")], "b": upload(b"broken")}

    with pytest.raises(StorageError) as caught:
        asyncio.run(apersist(graph, Broken(StorageError)))
    assert caught.value.path in {"$.a[0]", "$.b"}


def test_apersist_returns_a_graph_that_travels_as_it_is() -> None:
    """Without anything to move, the very same graph comes back."""
    graph = [BytesReader(b"small")]

    assert asyncio.run(apersist(graph, BytesStore())) is graph


def test_a_gate_in_the_graph_stays_itself() -> None:
    """A live gate beside an upload is not copied."""
    gate = TurnGate("turn-1", "approval")

    assert persist([gate, upload()], BytesStore())[0] is gate


@dataclass
class Counted:
    """A dataclass with a field that is no data."""

    reader: object
    opened: int = field(default=0, metadata={"graphcodec": "skip"})


def test_fields_that_are_no_data_start_anew() -> None:
    """What belongs to the old reader, such as a count, does not go over."""
    assert persist(Counted(upload(), opened=3), BytesStore()).opened == 0


@dataclass
class Newer:
    """A dataclass with a place for what it does not know."""

    reader: object
    rest: dict[str, object] = field(
        default_factory=dict[str, object], metadata={"graphcodec": "extra"}
    )


@pytest.mark.parametrize("cls", [Data, Newer])
def test_unknown_fields_of_users_classes_are_kept(cls: type) -> None:
    """They go over from ``__dict__`` or the field for them, readers replaced."""
    codec = Codec(types={"test.Data": cls})
    text = codec.encode_text(cls(BytesReader(b"1")))
    wire = json.loads(text)
    wire["root"]["new"] = json.loads(json.dumps(wire["root"]["reader"]))
    wire["root"]["new"]["$any"]["locator"]["base64"] = "Mg=="
    old = codec.decode(json.dumps(wire))

    moved = persist(old, BytesStore(), inline_limit=0)

    assert moved is not old
    assert json.loads(codec.encode_text(moved)) == wire
    assert {id(r) for _, _, r in handles(moved)} & {
        id(r) for _, _, r in handles(old)
    } == set()


@encodable("test.Order")
@attrs.frozen
class Order:
    """A marked class."""

    scan: Media


def test_marked_classes_round_trip_after_persist() -> None:
    """A user's class around an upload goes through the codec after persist."""
    codec = Codec(types=[Order])

    moved = persist(Order(media(upload())), BytesStore())

    assert codec.decode(codec.encode(moved)) == moved
