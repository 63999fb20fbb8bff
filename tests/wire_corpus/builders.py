"""What each document of the corpus holds: one function for each file."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from math import inf, nan
from pathlib import PosixPath, PurePosixPath, PureWindowsPath
from typing import Final, TypedDict, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

from graphcodec import (
    ArtifactTool,
    BytesReader,
    Conversation,
    GateRecord,
    Identity,
    Media,
    Memory,
    Message,
    ModalityHazard,
    OpaqueNode,
    Registry,
    Retrievable,
    SpooledArtifact,
    SpooledJsonArtifact,
    SpooledMarkdownArtifact,
    Thought,
    Tokenizable,
    Tool,
    ToolCall,
    ToolRegistry,
    TrustTier,
)
from graphcodec.primitives import MediaStash
from graphcodec.readers import JSON, ReaderDescriptor
from graphcodec_resolvers import FsspecReader, FsspecResolver, HttpReader
from tests.wire_corpus.classes import (
    Box,
    Choices,
    Colour,
    Containers,
    Counter,
    Leaf,
    Level,
    Link,
    Money,
    Note,
    Person,
    Point,
    Record,
    Rights,
    Scalars,
    Shape,
    Size,
    first_lines,
    look_at,
)

Builder = Callable[[], object]
B = TypeVar("B", bound=Builder)


class Moments(TypedDict):
    """The times that nearly every primitive has."""

    created_at: datetime
    updated_at: datetime


WRITTEN: Final[dict[str, Builder]] = {}
"""What is written as it stands in its files, by their name."""

OUTGROWN: Final[set[str]] = set()
"""Those of them whose class has more fields today, which are written with them."""

READ: Final[dict[str, tuple[str, Builder]]] = {}
"""What is read, but written in another way: the text of a JSON document, the value."""

NOW = datetime(2025, 6, 1, 12, 30, 15, 250_000, tzinfo=UTC)
LATER = datetime(2025, 6, 1, 14, 0, tzinfo=timezone(timedelta(hours=2)))
SHA256 = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"


def written(build: B) -> B:
    """Add a value that today's codec writes as it stands in the files."""
    WRITTEN[build.__name__] = build
    return build


def outgrown(build: B) -> B:
    """Add a value of a class that had fewer fields when its files were made."""
    OUTGROWN.add(build.__name__)
    return written(build)


def read(root: str, *, nodes: str = "") -> Callable[[B], B]:
    """Add a document that is accepted, but would not be written like that.

    Args:
        root: What stands at ``root``.
        nodes: What stands at ``nodes``, if anything does.
    """
    shared = f'"nodes":{nodes},' if nodes else ""

    def add(build: B) -> B:
        document = f'{{"graphcodec":1,{shared}"root":{root}}}'
        READ[build.__name__] = (document, build)
        return build

    return add


# Values in untyped slots


@written
def plain() -> object:
    """Everything that JSON holds as it is."""
    return {
        "null": None,
        "yes": True,
        "text": "naïve \N{SNOWMAN} \U0001f600 \x00 \u2028",
        "empty": "",
        "least": -(2**63),
        "most": 2**64 - 1,
        "zero": 0,
        "negative zero": -0.0,
        "whole float": 3.0,
        "small float": 5e-324,
        "large float": 1.7976931348623157e308,
        "list": [1, [2, list[object]()]],
        "map": {
            "": dict[str, object](),
            "a$": 1,
            "looks like a time": "2025-06-01T12:00:00+00:00",
        },
    }


@written
def null() -> object:
    """The smallest root there is."""
    return None


@written
def tuples() -> object:
    """Tuples, nested and empty."""
    return (1, (), ("a", [(2,)]))


@written
def sets() -> object:
    """Sets and frozensets."""
    return [{1, 2, 10}, {"b", "a"}, set[int](), frozenset({(1, "x")}), frozenset[int]()]


@written
def deques() -> object:
    """Deques with and without a greatest length."""
    return [deque([1, 2]), deque([3], 5), deque[int]()]


@written
def dict_keys() -> object:
    """Keys that JSON does not have."""
    return {1: "int", (1, 2): "tuple", None: "none", 2.5: "float", b"k": "bytes"}


@written
def dollar_keys() -> object:
    """Data that looks like markup."""
    return {"$any": {"$type": "Message"}, "$ref": [{"$tuple": [1]}]}


@written
def dollar_keys_beside_markers() -> object:
    """Data that looks like markup, where markers are read."""
    return [(), {"$tuple": [{"$set": list[object]()}]}, {"a": {"$": 0}}]


@written
def large_ints() -> object:
    """Ints beyond 64 bits."""
    return [2**64, -(2**63) - 1, 10**40, -(2**200)]


@written
def floats() -> object:
    """Floats that JSON does not have, among others."""
    return [nan, inf, -inf, -0.0, 1.5]


@written
def lone_surrogates() -> object:
    """Text that UTF-8 can't hold, and keys of that kind."""
    return ["\ud800", "a\\\udfff\\u0041", {"\udc00": "key"}]


@written
def binary() -> object:
    """Bytes and bytearrays."""
    return [b"", b"\x00\xff", bytearray(b"abc"), bytearray()]


@written
def datetimes() -> object:
    """Every kind of zone, and both of two equal local times."""
    berlin = ZoneInfo("Europe/Berlin")
    return [
        NOW,
        LATER,
        datetime(2025, 6, 1),  # noqa: DTZ001 - a naive one is what is meant
        datetime(2025, 6, 1, tzinfo=timezone(timedelta(seconds=-5025, microseconds=7))),
        datetime(2025, 6, 1, tzinfo=timezone(timedelta(hours=-5), "EST")),
        datetime(2025, 10, 26, 2, 30, tzinfo=berlin),
        datetime(2025, 10, 26, 2, 30, fold=1, tzinfo=berlin),
        datetime(2025, 10, 26, 2, 30, fold=1),  # noqa: DTZ001 - likewise
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    ]


@written
def times() -> object:
    """Times of day with and without a zone."""
    return [
        time(1, 2, 3, 4),
        time(12, tzinfo=UTC),
        time(12, tzinfo=ZoneInfo("Asia/Tokyo")),
        time(2, 30, fold=1),
        time(12, tzinfo=timezone(timedelta(hours=1), "CET")),
    ]


@written
def dates_and_spans() -> object:
    """Dates, spans and zones."""
    spans = [timedelta(0), timedelta(days=-1, microseconds=1), timedelta.max]
    return [date(2025, 6, 1), date.min, *spans, ZoneInfo("UTC"), ZoneInfo("Asia/Tokyo")]


@written
def decimals() -> object:
    """Decimals keep their digits."""
    texts = ["1.10", "-0", "1E+5", "0E-10", "Infinity", "-Infinity", "NaN", "sNaN12"]
    return [Decimal(text) for text in texts]


@written
def other_leaves() -> object:
    """UUIDs, complex numbers and pure paths."""
    return [
        UUID("12345678-1234-5678-1234-567812345678"),
        complex(1.5, -0.0),
        complex(nan, inf),
        PurePosixPath("a/b.txt"),
        PureWindowsPath("C:\\a\\b.txt"),
        PurePosixPath("/\udcff"),
    ]


@written
def posix_path() -> object:
    """A path that can be opened, where there are such paths."""
    return PosixPath("/srv/media")


@written
def enums() -> object:
    """Members where any value may stand."""
    return [Colour.RED, Rights.READ | Rights.WRITE, Rights(0)]


# Identity


@written
def equal_objects() -> object:
    """Two equal objects are not one."""
    return [Leaf(1), Leaf(1)]


@written
def shared_object() -> object:
    """One object in two places."""
    leaf = Leaf(1)
    return [leaf, {"again": leaf}]


@written
def shared_list() -> object:
    """One list in two places of one slot."""
    items = [1, (2,)]
    return {"a": items, "b": [items]}


@written
def shared_tuple_and_set() -> object:
    """One tuple, one set and one deque in two places."""
    parts = ((1, 2), frozenset({1}), {3}, deque([4]))
    return [*parts, *parts]


@written
def cycle_of_a_list() -> object:
    """A list that contains itself."""
    items: list[object] = [1]
    items.append(items)
    return items


@written
def cycle_of_dicts() -> object:
    """Two dicts, one with odd keys, that contain each other."""
    first: dict[object, object] = {}
    second: dict[object, object] = {1: first}
    first["second"] = second
    return first


@written
def cycle_of_a_deque() -> object:
    """A deque that contains itself in a tuple."""
    line = deque[object]([], 3)
    line.append((line,))
    return line


@written
def cycle_of_mutable_objects() -> object:
    """Instances that exist before their fields do."""
    first, second = Link("first"), Link("second")
    first.following, second.following = second, first
    return first


@written
def cycle_of_a_frozen_object() -> object:
    """A frozen object that its own list leads back to."""
    items: list[object] = []
    box = Box(items)
    items.append(box)
    return box


@written
def cycle_of_a_registry() -> object:
    """A registry that an object in it refers to."""
    registry = Registry()
    registry.set("box", Box(registry))
    return registry


@written
def deep_list() -> object:
    """A list nested deeper than a node goes."""
    value: list[object] = []
    for _ in range(150):
        value = [value]
    return value


@written
def deep_objects() -> object:
    """A chain of objects that is longer than a node is deep."""
    link = Link("last")
    for number in range(150):
        link = Link(str(number), link)
    return link


# Typed slots


@written
def scalars() -> object:
    """Every kind of scalar in a slot of its type."""
    return Scalars(
        text="text",
        lone="\ud800",
        flag=False,
        small=-1,
        large=2**80,
        fraction=1.0,
        infinite=-inf,
        data=b"\x00",
        buffer=bytearray(b"\x01"),
        moment=NOW,
        local=datetime(2025, 6, 1),  # noqa: DTZ001 - a naive one is what is meant
        day=date(2025, 6, 1),
        clock=time(12, 30),
        span=timedelta(hours=36),
        price=Decimal("9.90"),
        key=UUID(int=7),
        number=1j,
        size=Size.LARGE,
        level=Level.HIGH,
        shape=Shape.FLAT,
        rights=Rights.READ | Rights.WRITE,
        role=7,
    )


@written
def containers() -> object:
    """Every kind of container in a slot of its type."""
    leaf = Leaf(1)
    return Containers(
        listed=[1, 2],
        fixed=(1, "a"),
        many=(leaf, leaf, Leaf(2)),
        members={"b", "a"},
        frozen=frozenset({3}),
        line=deque([1]),
        bounded=deque([1], 2),
        table={"a": leaf, "": Leaf(3)},
        numbered={1: "one", 2: "two"},
        dollars={"$a": 1},
    )


@written
def choices() -> object:
    """Unions, typed and untyped."""
    return Choices(
        nothing=None,
        something=Leaf(1),
        either=Box(Leaf(2)),
        scalar=nan,
        mixed=Leaf(3),
        maybe=LATER,
        untyped=b"bytes",
        anything=(1,),
        mapping={"plain": [1]},
    )


@written
def kinds_of_classes() -> object:
    """A dataclass, a Struct, a protocol, a field that is set afterwards."""
    counter = Counter(3)
    counter.count = 5
    return [Point(1.0), Record("r", Leaf(1)), Money(250), counter]


@written
def versioned() -> object:
    """A class at its second version."""
    return Person("Ada", "Lovelace")


@written
def kept_fields() -> object:
    """Fields that the class does not know, one of them an object met before."""
    ada = Identity(identifier="ada", representation="Ada")
    note = Note("hi", ada)
    note.rest = {"colour": "red", "size": {"$any": 1}, "signed": [ada], "at": (1, 2)}
    return note


@written
def opaque_node() -> object:
    """An object of a class that nobody knows."""
    return OpaqueNode("corpus.Stranger", 3, {"name": "x", "parts": {"a": [1, None]}})


# Readers


@written
def readers() -> object:
    """A handle of each kind, in both families."""
    return [
        BytesReader(b""),
        BytesReader(b"foo"),
        web_reader(),
        stored_reader(),
        SpooledArtifact(BytesReader(b"foo")),
        SpooledArtifact(web_reader()),
        SpooledArtifact(stored_reader()),
    ]


@written
def shared_readers() -> object:
    """One reader of each family, met twice."""
    image, log = BytesReader(b"foo"), BytesReader(b"foo")
    return [image, SpooledArtifact(log), image, SpooledArtifact(log)]


@written
def json_artifact() -> object:
    """Each format that can be declared, none, and a shared one in a call's results."""
    log = SpooledJsonArtifact(BytesReader(b'{"a": 1}\n{"a": 2}\n'), "jsonl")
    return [
        SpooledJsonArtifact(BytesReader(b"{}"), "json"),
        SpooledJsonArtifact(stored_reader(), "json5"),
        SpooledJsonArtifact(web_reader()),
        log,
        log,
    ]


@written
def markdown_artifact() -> object:
    """Texts at each place where they can be, as the content of a passage too."""
    text = SpooledMarkdownArtifact(BytesReader(b"# Title\n"))
    passage = Retrievable(
        id="r-1",
        content=text,
        trust_tier="first-party",
        created_at=NOW,
        updated_at=NOW,
    )
    return [SpooledMarkdownArtifact(stored_reader()), text, passage]


def web_reader() -> HttpReader:
    """Return a handle to a URL, with every pin."""
    return HttpReader("https://example.org/a?b=c", size=3, etag='"x"', sha256=SHA256)


def stored_reader() -> FsspecReader:
    """Return a handle with every pin."""
    locator: dict[str, JSON] = {
        "store": "media",
        "key": f"sha256/2c/{SHA256}",
        "size": 3,
        "etag": "abc",
        "version": "v1",
        "mtime_ns": 1_748_781_015_250_000_000,
        "sha256": SHA256,
    }
    resolver = FsspecResolver({"media": "memory://corpus"})
    found = resolver.resolve(ReaderDescriptor("fsspec", locator))
    assert found is not None
    return found


# Primitives


@written
def tokenizable() -> object:
    """Text, also none."""
    return [Tokenizable("text"), Tokenizable("")]


@written
def identity() -> object:
    """Every kind of identifier."""
    return [
        Identity(identifier="u-42", representation="Alice"),
        Identity(identifier=42, representation="Bob"),
        Identity(identifier=4.5, representation="Carol"),
    ]


@written
def registry() -> object:
    """Plain data and data that needs markers."""
    return [
        Registry(),
        Registry({"usage": {"input_tokens": 12}, "tags": ["a"]}),
        Registry({"at": NOW, "leaf": Leaf(1), "$x": (1,)}),
    ]


@written
def media() -> object:
    """Everything that a media has."""
    return Media(
        id="media-1",
        kind="audio",
        mime_type="audio/ogg",
        filename="call.ogg",
        reader=BytesReader(b"OggS"),
        trust_tier=TrustTier.THIRD_PARTY_PUBLIC,
        modality_hazard=ModalityHazard.INERT,
        source="https://example.org/call.ogg",
        stash=MediaStash(
            {
                "transcript": {
                    "value": "Hello!",
                    "trust_tier": "third-party-public",
                    "derived_from_media": "media-1",
                }
            }
        ),
    )


def attachment() -> Media:
    """Return a media with as little as there can be."""
    return Media.user_attachment(
        id="media-2",
        kind="image",
        mime_type="image/png",
        filename="a.png",
        reader=BytesReader(b"\x89PNG"),
    )


@written
def message() -> object:
    """Messages with text, with media, with both."""
    common: Moments = {"created_at": NOW, "updated_at": LATER}
    return [
        Message(id="m-1", role="user", content="Hello!", **common),
        Message(id="m-2", role="assistant", attachments=[attachment()], **common),
        Message(
            id="m-3",
            role="user",
            content="Look!",
            identity=Identity(identifier=7, representation="Ada"),
            attachments=[attachment()],
            stash=Registry({"model": "m"}),
            **common,
        ),
    ]


@written
def thought() -> object:
    """Thoughts with text and with a payload."""
    return [
        Thought(id="t-1", content="Hm.", created_at=NOW, updated_at=NOW),
        Thought(
            id="t-2",
            identity="planner",
            payload={"signature": "c2ln", "parts": [b"\x00"]},
            replay_compatibility="example-v1",
            created_at=NOW,
            updated_at=NOW,
            stash=Registry({"tokens": 7}),
        ),
    ]


@written
def tool_call() -> object:
    """Calls that are pending, that failed, and with each kind of result."""
    args = {"query": "tea", "limit": 3}
    pending = ToolCall(
        id="c-1",
        tool="search",
        args=args,
        checksum=ToolCall.compute_checksum("search", args),
        is_complete=False,
        is_error=False,
        created_at=NOW,
        updated_at=NOW,
    )
    artifact = SpooledArtifact(BytesReader(b"a long log\n"))
    results = ["", artifact, attachment(), [artifact, artifact], [attachment()]]
    done = {"is_complete": True, "completed_at": LATER, "updated_at": LATER}
    complete = [
        pending.replace(id=f"c-{number}", results=result, **done)
        for number, result in enumerate(results, 2)
    ]
    failed = pending.replace(
        id="c-9",
        args={"when": NOW, "items": {1, 2}},
        checksum=None,
        is_error=True,
        results="no such tool",
        from_artifact_tool=True,
        inline=False,
        stash=Registry({"attempt": 2}),
        **done,
    )
    return [pending, *complete, failed]


@written
def retrievable() -> object:
    """Passages as text and as an artifact."""
    common: Moments = {"created_at": NOW, "updated_at": NOW}
    return [
        Retrievable(id="r-1", content="x", trust_tier="first-party", **common),
        Retrievable(
            id="r-2",
            content=SpooledArtifact(BytesReader(b"long")),
            trust_tier=TrustTier.THIRD_PARTY_PRIVATE,
            source="wiki",
            kind="page",
            score=0.75,
            stash=Registry({"citations": [1]}),
            **common,
        ),
    ]


@written
def memory() -> object:
    """Shares as ints and as floats."""
    return Memory(
        id="y-1",
        content="Likes tea.",
        confidence=1,
        importance=0.5,
        created_at=NOW,
        updated_at=LATER,
    )


@written
def gate_record() -> object:
    """What is left of a gate."""
    return GateRecord(
        id="g-1",
        turn_id="turn-1",
        reason="approval",
        payload={"amount": Decimal("9.90")},
        created_at=NOW,
    )


@outgrown
def conversation() -> object:
    """One of everything, with an identity and a media that are shared."""
    ada = Identity(identifier="u-42", representation="Ada")
    image = attachment()
    common: Moments = {"created_at": NOW, "updated_at": NOW}
    return Conversation(
        id="talk-1",
        items=[
            Message(
                id="m-1",
                role="user",
                content="What is this?",
                identity=ada,
                attachments=[image],
                **common,
            ),
            Thought(id="t-1", content="An image.", **common),
            ToolCall(
                id="c-1",
                tool="look",
                args={"media": "media-2"},
                is_complete=True,
                is_error=False,
                results=image,
                completed_at=NOW,
                **common,
            ),
            Retrievable(id="r-1", content="PNG", trust_tier="first-party", **common),
            Message(id="m-2", role="user", content="Thanks.", identity=ada, **common),
        ],
        instructions=["Be brief."],
        memories=[
            Memory(id="y-1", content="Likes tea.", confidence=1, importance=0, **common)
        ],
        stash=Registry({"model": "example"}),
    )


@written
def conversation_with_tools() -> object:
    """Tools of both classes, one without handler, one hidden, and one early name."""
    look = Tool(
        "look",
        "Looks at a media.",
        {
            "type": "object",
            "properties": {"media": {"type": "string", "pattern": "^media-"}},
            "required": ["media"],
        },
        look_at,
        artifact=SpooledArtifact,
        meta=Registry({"cost": 2}),
        trusted=True,
        on_collision="keep",
    )
    head = ArtifactTool(
        "artifact_head", "First lines.", {"type": "object"}, first_lines, ephemeral=True
    )
    known = Tool("known", "Is run elsewhere.", {"type": "object", "$defs": {}}, None)
    return Conversation(
        id="talk-2",
        items=[],
        tools=ToolRegistry([look, head, known], hidden=["known", "not_yet"]),
    )


# Read, but written in another way


@read('{"number":1,"$type":"corpus.Leaf"}')
def type_last() -> object:
    """Databases change the order of keys."""
    return Leaf(1)


@read('{"$type":"corpus.Leaf","$v":1,"number":1}')
def first_version_named() -> object:
    """Version 1 may be written down."""
    return Leaf(1)


@read('{"$type":"corpus.Person","name":"Ada Lovelace"}')
def older_version() -> object:
    """An upgrade leads from version 1 to version 2."""
    return Person("Ada", "Lovelace")


@read('{"$type":"old.Note","text":"hi"}')
def alias_and_missing_field() -> object:
    """A tag of old, and a field that came later."""
    return Note("hi")


@read('{"$type":"corpus.Point","x":1,"y":2}')
def ints_for_floats() -> object:
    """Other languages may write whole floats without a point."""
    return Point(1.0, 2.0)


@read('{"$any":[1,{"a":"b"}]}')
def wrapped_plain() -> object:
    """What needs no wrapper may have one."""
    return [1, {"a": "b"}]


@read('{"$any":[{"$type":"$ref","n":0},{"$type":"$ref","n":1}]}', nodes="[[1],[2]]")
def single_references() -> object:
    """What is met once may stand in nodes."""
    return [[1], [2]]


@read(
    '{"$any":{"$type":"$ref","n":1}}',
    nodes='[[{"$type":"$ref","n":1}],[{"$type":"$ref","n":0}]]',
)
def forward_references() -> object:
    """A cycle may be entered anywhere."""
    first: list[object] = []
    first.append([first])
    return first


@read(
    '{"$type":"Message","id":"m","role":"user",'
    '"content":{"$type":"Tokenizable","text":"x"},'
    '"created_at":"2025-06-01T12:30:15.25Z","updated_at":"2025-06-01T14:00:00+02:00"}'
)
def short_times() -> object:
    """Fewer digits of a second, and Z; fields with defaults left out."""
    return Message(id="m", role="user", content="x", created_at=NOW, updated_at=LATER)
