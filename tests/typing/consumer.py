"""How a project uses graphcodec, for mypy and pyright; it is checked and never run."""

# pyright: strict, reportUnnecessaryTypeIgnoreComment=true
from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import UTC, datetime
from fractions import Fraction
from io import BytesIO
from typing import BinaryIO, Literal, assert_type

import cattrs
from attrs import define, frozen

import graphcodec
from graphcodec import (
    BytesReader,
    BytesStore,
    ByteStore,
    Codec,
    Conversation,
    GateRecord,
    Identity,
    Limits,
    Media,
    Memory,
    Message,
    ModalityHazard,
    OpaqueNode,
    Reader,
    ReaderDescriptor,
    Registry,
    Resolver,
    Retrievable,
    SpooledArtifact,
    SpooledJsonArtifact,
    SpooledMarkdownArtifact,
    StreamReader,
    Thought,
    Tokenizable,
    Tool,
    ToolCall,
    ToolEnded,
    ToolRegistry,
    ToolStarted,
    TrustTier,
    TurnGate,
    apersist,
    decode,
    encodable,
    encode,
    encode_text,
    errors,
    extra,
    forge_tools,
    handles,
    persist,
    verify,
)
from graphcodec.testing import same_graph
from graphcodec_resolvers import (
    FsspecReader,
    FsspecResolver,
    FsspecStore,
    HttpReader,
    HttpResolver,
)

NOW = datetime(2025, 6, 1, 12, tzinfo=UTC)


@encodable("shop.Line")
@frozen
class Line:
    """A class with attrs."""

    article: str
    count: int = 1


@encodable(
    "shop.Order", version=2, upgrades={1: lambda fields: {**fields, "lines": []}}
)
@define
class Order:
    """A class that has changed, and keeps what it does not know."""

    number: int
    lines: list[Line]
    rest: dict[str, object] = extra()  # noqa: RUF009 - it is a field


@encodable("shop.Customer", aliases=["crm.Contact"])
@dataclasses.dataclass(frozen=True)
class Customer:
    """A dataclass."""

    name: str


def marking_keeps_the_class() -> None:
    """A decorator that hid the constructor would be no help."""
    assert_type(Line("tea"), Line)
    assert_type(Line("tea").count, int)
    assert_type(Order(1, [Line("tea")]).rest, dict[str, object])
    assert_type(Customer(name="Ada"), Customer)


def documents(data: bytes, text: str) -> None:
    """What must come out is what comes out."""
    assert_type(encode(data), bytes)
    assert_type(encode_text(data), str)
    assert_type(decode(data), object)
    assert_type(decode(text, Conversation), Conversation)
    assert_type(decode(bytearray(data), Message), Message)
    assert_type(decode(memoryview(data), list[Message]), list[Message])
    assert_type(decode(data, dict[str, Message]), dict[str, Message])
    assert_type(decode(data, tuple[Message, ...]), tuple[Message, ...])
    either: Message | ToolCall = decode(data, Message | ToolCall)
    assert_type(either.id, str)


def codecs(data: bytes) -> None:
    """The methods have the types of the functions."""
    codec = Codec(
        types=[Line, Order, Customer],
        resolvers=[FsspecResolver({"media": "/srv/media"}), HttpResolver()],
        limits=Limits(max_bytes=1 << 20),
        unknown_types="keep",
        unknown_fields="ignore",
        references="none",
        format="msgpack",
        builtin_resolvers=False,
    )
    assert_type(codec, Codec)
    assert_type(codec.encode(Line("tea")), bytes)
    assert_type(codec.encode_text(Line("tea")), str)
    assert_type(codec.decode(data), object)
    assert_type(codec.decode(data, Line), Line)
    assert_type(codec.decode(data, list[Line]), list[Line])
    perhaps: Line | None = codec.decode(data, Line | None)
    assert_type(None if perhaps is None else perhaps.count, int | None)
    assert_type(codec.content_hash(Line("tea")), str)
    assert_type(codec.replace(format="json"), Codec)
    codec.check(Line("tea"))
    converter: cattrs.Converter = codec.converter
    converter.register_unstructure_hook(Line, lambda line: line.article)
    Codec(types={"math.Fraction": Fraction})


def registration(codec: Codec) -> None:
    """The two functions must fit each other and the class."""

    def write(value: Fraction) -> list[int]:
        return [value.numerator, value.denominator]

    def read(value: list[int]) -> Fraction:
        return Fraction(*value)

    codec.register(Fraction, "math.Fraction", encode=write, decode=read)
    codec.register(Line, "shop.Row", aliases=["shop.Line"], version=2, replace=True)
    codec.register_resolver(HttpResolver(hosts=["example.org"]))
    converter = graphcodec.configure_converter(cattrs.Converter(), codec=codec)
    converter.unstructure(Line("tea"))


def messages() -> None:
    """Constructors take what they convert; fields have what it becomes."""
    message = Message(
        id="m-1",
        role="user",
        content="Hello!",
        identity="ada",
        attachments=[],
        created_at=NOW,
        updated_at=NOW,
    )
    assert_type(message.id, str)
    assert_type(message.role, Literal["user", "assistant"])
    assert_type(message.content, Tokenizable | None)
    assert_type(message.identity, Identity)
    assert_type(message.attachments, tuple[Media, ...])
    assert_type(message.created_at, datetime)
    assert_type(message.stash, Registry)
    assert_type(message.replace(content="Bye!"), Message)

    thought = Thought(id="t", content="Hm.", created_at=NOW, updated_at=NOW)
    assert_type(thought.content, Tokenizable)
    assert_type(thought.payload, object)
    assert_type(thought.replay_compatibility, str | None)

    talk = Conversation(id="c", items=[message, thought], instructions=["Be brief."])
    assert_type(talk.items, tuple[Message | ToolCall | Thought | Retrievable, ...])
    assert_type(talk.instructions, tuple[Tokenizable, ...])
    assert_type(talk.memories, tuple[Memory, ...])


def calls() -> None:
    """Results may be given as text."""
    call = ToolCall(
        id="t-1",
        tool="search",
        args={"query": "tea"},
        is_complete=True,
        is_error=False,
        results="nothing found",
        created_at=NOW,
        updated_at=NOW,
        completed_at=NOW,
    )
    assert_type(call.args, Mapping[str, object])
    assert_type(call.completed_at, datetime | None)
    assert_type(
        call.results,
        Tokenizable
        | SpooledArtifact
        | Media
        | tuple[SpooledArtifact | Media, ...]
        | None,
    )


def search(args: Mapping[str, object]) -> str:
    """Be the handler of a tool."""
    return str(args)


def tools() -> None:
    """A tool is made by position, and decoded as what it is."""
    tool = Tool("search", "Searches.", {"type": "object"}, search, trusted=True)
    codec = Codec(handlers={"search": search})
    assert_type(codec.decode(codec.encode(tool), Tool), Tool)
    assert_type(tool.artifact, type[SpooledArtifact] | None)
    assert_type(tool.describe(), dict[str, object])
    registry = ToolRegistry([tool], hidden=["search"])
    assert_type(registry.get("search"), Tool | None)
    assert_type(registry.visible(), list[Tool])
    assert_type(ToolRegistry.merge([registry], on_collision="keep"), ToolRegistry)
    talk = Conversation(id="c", items=[], tools=registry)
    assert_type(talk.tools, ToolRegistry | None)
    events: list[ToolStarted | ToolEnded] = []
    assert_type(
        tool.call({}, ctx=1, on_event=events.append),
        Tokenizable | SpooledArtifact | Media | tuple[SpooledArtifact | Media, ...],
    )


def sums(call: ToolCall) -> None:
    """The checksum is text, its check a bool."""
    assert_type(ToolCall.compute_checksum("search", call.args), str)
    assert_type(call.verify_checksum(), bool)


def passages() -> None:
    """Tiers may be given by their values."""
    passage = Retrievable(
        id="r",
        content="Tea is a drink.",
        trust_tier="third-party-public",
        score=0.5,
        created_at=NOW,
        updated_at=NOW,
    )
    assert_type(passage.content, Tokenizable | SpooledArtifact)
    assert_type(passage.trust_tier, TrustTier)
    assert_type(passage.score, int | float | None)
    memory = Memory(
        id="m",
        content="Likes tea.",
        confidence=1,
        importance=0.5,
        created_at=NOW,
        updated_at=NOW,
    )
    assert_type(memory.content, Tokenizable)
    assert_type(memory.confidence, int | float)
    assert_type(
        Identity(identifier=7, representation="Ada").identifier, str | int | float
    )
    assert_type(Tokenizable("tea").estimate_tokens("chars/4"), int)


def registries(registry: Registry) -> None:
    """What is in a registry can be anything."""
    assert_type(Registry({"a": 1}), Registry)
    assert_type(registry.get("usage.input_tokens", 0), object)
    assert_type(registry.has("usage"), bool)
    assert_type(registry.delete("usage"), bool)
    registry.set("usage.input_tokens", 12)


async def media(reader: Reader) -> None:
    """Media read in both worlds."""
    image = Media.user_attachment(
        kind="image", mime_type="image/png", filename="a.png", reader=reader
    )
    assert_type(image, Media)
    assert_type(image.kind, Literal["image", "audio", "video", "document"])
    assert_type(image.trust_tier, TrustTier)
    assert_type(image.modality_hazard, ModalityHazard)
    assert_type(image.reader, Reader)
    assert_type(image.open(), BinaryIO)
    assert_type(image.read(), bytes)
    assert_type(image.iter_bytes(), Iterator[bytes])
    assert_type(image.byte_length(), int | None)
    assert_type(image.as_base64(), str)
    assert_type(await image.aopen(), BinaryIO)
    assert_type(await image.aread(), bytes)
    assert_type(image.aiter_bytes(), AsyncIterator[bytes])


async def artifacts(reader: Reader) -> None:
    """Artifacts read lines in both worlds."""
    artifact = SpooledArtifact(reader)
    assert_type(artifact.head(5), list[str])
    assert_type(artifact.tail(), list[str])
    assert_type(artifact.cat(1, 3), list[str])
    assert_type(artifact.grep("ERROR", flags="i", max_matches=3), list[str])
    assert_type(artifact.line_count(), int)
    assert_type(artifact.text(), str)
    assert_type(await artifact.agrep("ERROR"), list[str])


async def queries(reader: Reader, talk: Conversation) -> None:
    """Artifacts that answer queries say what they give."""
    log = SpooledJsonArtifact(reader, format="ndjson")
    assert_type(log.format, Literal["json", "json5", "jsonl"] | None)
    assert_type(log.json_type(), Literal["json", "json5", "jsonl"])
    assert_type(log.json_keys(), list[str] | None)
    assert_type(log.json_get("$.a", max_matches=1), list[object])
    assert_type(log.json_records(), Iterator[object])
    assert_type(await log.ajson_filter("$.a"), list[object])
    text = SpooledMarkdownArtifact(reader)
    assert_type(text.md_headings(2)[0].start_line, int)
    assert_type(text.md_code_blocks()[0].lang, str | None)
    assert_type(await text.amd_text(), str)
    assert_type(forge_tools(talk, max_chars=1000), ToolRegistry)


async def gates() -> None:
    """A gate is awaited, its record is written down."""
    gate = TurnGate("turn-1", "approval", {"amount": 3}, timeout=2.5)
    assert_type(await gate, object)
    assert_type(gate.resolve(True), bool)  # noqa: FBT003
    assert_type(gate.record(), GateRecord)
    assert_type(gate.record().reopen(timeout=1), TurnGate)


class GreetingReader(Reader):
    """A reader of the project's own."""

    def __init__(self, name: str) -> None:
        self.name = name

    def open(self) -> BinaryIO:
        """Return the greeting."""
        return BytesIO(f"Hello, {self.name}!".encode())

    def describe(self) -> ReaderDescriptor:
        """Return the name."""
        return ReaderDescriptor("greeting", {"name": self.name})


class GreetingResolver:
    """A resolver of the project's own."""

    tags = ("media:greeting", "spool:greeting")

    def resolve(self, descriptor: ReaderDescriptor, /) -> Reader | None:
        """Return the reader of a greeting."""
        name = descriptor.locator.get("name")
        return GreetingReader(name) if isinstance(name, str) else None


async def readers() -> None:
    """Readers, resolvers and stores fit their contracts."""
    resolver: Resolver = GreetingResolver()
    assert_type(resolver.resolve(ReaderDescriptor("greeting", {})), Reader | None)
    Codec(resolvers=[GreetingResolver()])
    stores: list[ByteStore] = [BytesStore(), FsspecStore("/srv/media", alias="media")]
    for store in stores:
        assert_type(store.write(b"tea", media_type="text/plain"), Reader)
        assert_type(store.delete(BytesReader(b"tea")), bool)
        assert_type(store.descriptors(), Iterator[ReaderDescriptor])
    assert_type(BytesStore().write(b"tea"), BytesReader)
    assert_type(BytesReader(b"tea").read_range(0, 1), bytes)
    assert_type(StreamReader(BytesIO(b"tea")).byte_length(), int | None)
    assert_type(await GreetingReader("Ada").aread_range(0, 5), bytes)
    assert_type(HttpReader("https://example.org/a", size=3).url(expires=60), str)
    shop = FsspecStore("/srv/media", alias="media")
    assert_type(shop.write(BytesReader(b"tea")), FsspecReader)
    assert_type(shop.reader("tea.txt", pin="content"), FsspecReader)


async def moving(talk: Conversation, store: ByteStore) -> None:
    """What is persisted is of the type that it was."""

    def progress(done: int, total: int) -> None:
        del done, total

    assert_type(persist(talk, store, inline_limit=0, progress=progress), Conversation)
    assert_type(persist([talk], store), list[Conversation])
    assert_type(await apersist(talk, store), Conversation)
    for path, owner, reader in handles(talk):
        assert_type(path, str)
        assert_type(owner, object)
        assert_type(reader, Reader)
    report = verify(talk)
    assert_type(report.ok, bool)
    assert_type([finding.path for finding in report.gone], list[str])
    assert_type(same_graph(talk, talk), bool)


def failures(data: bytes) -> None:
    """Facts about an error are attributes."""
    try:
        decode(data)
    except errors.LimitExceededError as exc:
        assert_type(exc.limit, str | None)
    except errors.NoReaderResolverError as exc:
        assert_type(exc.alias, str | None)
    except errors.GraphCodecError as exc:
        assert_type(exc.code, str)
        assert_type(exc.path, str)
        assert_type(exc.hint, str)
        assert_type(exc.value, object)
    node = OpaqueNode("shop.Line", 1, {})
    assert_type(node.fields, Mapping[str, object])


def mistakes(message: Message) -> None:
    """Both checkers see these; a comment that is not needed is an error."""
    Codec([Line])  # type: ignore[call-arg]
    Codec(format="yaml")  # type: ignore[arg-type]
    Codec(unknown_types="ignore")  # type: ignore[arg-type]
    Limits(1)  # type: ignore[call-arg]
    decode(7)  # type: ignore[call-overload]
    message.id = "m-2"  # type: ignore[misc]
    Message(id="m", role="system", created_at=NOW, updated_at=NOW)  # type: ignore[arg-type]
    Message(id=7, role="user", created_at=NOW, updated_at=NOW)  # type: ignore[arg-type]
    Message("m", "user")  # type: ignore[call-arg]
    Tokenizable(7)  # type: ignore[arg-type]
    Reader()  # type: ignore[abstract]
    persist(message, "/srv/media")  # type: ignore[arg-type]
