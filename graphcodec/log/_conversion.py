"""Session records made of the primitives of a conversation, and the way back.

A record can't say all that a primitive does: identities, media, stashes. Where the way
back would not give an equal primitive, the record bears the primitive's own document
beside its message. The first logs' readers ignore that field.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Literal, cast

from graphcodec import primitives as p
from graphcodec._graphs._comparing import difference
from graphcodec.codec import Codec, encode_text
from graphcodec.errors import JsonError
from graphcodec.log._content import (
    ArgValue,
    ImageContent,
    ModelOutput,
    TextContent,
    ThinkingContent,
    ToolCall,
    UserModelContent,
)
from graphcodec.log._ids import derived_id, milliseconds_of, new_id
from graphcodec.log._json import mended
from graphcodec.log._moments import Timestamp
from graphcodec.log._offload import inlined, opened, reader_of
from graphcodec.log._records import (
    Assistant,
    Conversation,
    MemoryFact,
    SessionRecord,
    ToolResult,
    User,
    WorkingMemory,
)
from graphcodec.log._usage import ModelId, UsageReport
from graphcodec.log._words import Custom, mime_type_of
from graphcodec.primitives._base import Primitive
from graphcodec.readers import BytesReader, Reader

__all__ = ["Item", "from_primitives", "to_primitives"]

Item = p.Message | p.ToolCall | p.Thought | p.Retrievable

_UNKNOWN: Final = "unknown"


def from_primitives(
    items: Iterable[Item | p.Tokenizable | p.Memory] | p.Conversation,
    *,
    codec: Codec | None = None,
) -> list[SessionRecord]:
    """Return the session records of some primitives.

    A complete tool call becomes two, the call and its result; all else becomes one. An
    instruction is a message with the role ``system``, a memory a working memory. Of a
    conversation its instructions come first, then its items, then its memories.

    Args:
        items: The primitives, or a conversation.
        codec: What writes the documents of the primitives. What its rules redact is
            redacted in all of the record.

    Raises:
        UnencodableValueError: If one of them has no wire form.
        InvalidValueError: If one is of another class.
    """
    maker = _Maker(codec)
    if codec is not None and codec.redact:
        given = items if isinstance(items, p.Conversation) else list(items)
        items, _ = codec.redacted(given)
    if isinstance(items, p.Conversation):
        memories = maker.memories(items.memories)
        items = (*items.instructions, *items.items)
    else:
        memories = []
    return [record for item in items for record in maker.records(item)] + memories


class _Maker:
    """Makes records of primitives with one codec."""

    def __init__(self, codec: Codec | None) -> None:
        self._encode = encode_text if codec is None else codec.encode_text

    def records(self, item: Primitive) -> list[SessionRecord]:
        """Return the records of one primitive."""
        if isinstance(item, p.Memory):
            return self.memories([item])
        records = [
            cast("Conversation", mended(Conversation(message=message)))
            for message in _messages(item)
        ]
        if difference(_restored(records), item) is None:
            return list(records)
        *first, last = records
        return [*first, last.replace(primitive=self._document(item))]

    def memories(self, memories: Sequence[p.Memory]) -> list[SessionRecord]:
        """Return one working memory for several memories, none for none."""
        if not memories:
            return []
        facts = [self._fact(memory) for memory in memories]
        latest = max(memory.updated_at for memory in memories)
        return [WorkingMemory(facts=facts, version=1, timestamp=Timestamp.of(latest))]

    def _fact(self, memory: p.Memory) -> MemoryFact:
        return MemoryFact(
            fact=_whole_text(memory.content.text),
            asserted_at=Timestamp.of(memory.created_at),
            source_message_id=_whole_text(memory.id),
            confidence=memory.confidence,
            primitive=self._document(memory),
        )

    def _document(self, item: Primitive) -> Mapping[str, object]:
        return cast("Mapping[str, object]", json.loads(self._encode(item)))


def _whole_text(text: str) -> str:
    """Return text without half surrogate pairs, which JSON can't hold."""
    return text.encode("utf-8", "replace").decode()


def _messages(item: Primitive) -> list[User | Assistant | ToolResult]:
    if isinstance(item, p.Tokenizable):
        text = TextContent(content=item.text)
        return [User(id=new_id(), role="system", content=text)]
    if isinstance(item, p.Retrievable):
        content = item.content
        said = content.text if isinstance(content, p.Tokenizable) else ""
        return [User(id=item.id, role="system", content=TextContent(content=said))]
    if isinstance(item, p.Message):
        return [_message(item)]
    if isinstance(item, p.Thought):
        signature = item.payload if isinstance(item.payload, str) else None
        thinking = ThinkingContent(thinking=item.content.text, signature=signature)
        return [_answer(item, thinking)]
    call = cast("p.ToolCall", item)
    asked = ToolCall(id=call.id, name=call.tool, arguments=_arguments(call.args))
    return [_answer(call, asked), *([_result(call)] if call.is_complete else [])]


def _message(message: p.Message) -> User | Assistant:
    text = TextContent(content=message.content.text if message.content else "")
    if message.role == "user":
        return User(id=message.id, content=text)
    return _answer(message, text)


def _answer(
    item: p.Message | p.Thought | p.ToolCall, content: ModelOutput
) -> Assistant:
    model, provider = item.stash.get("model"), item.stash.get("provider")
    return Assistant(
        id=item.id,
        model=ModelId(model if type(model) is str else _UNKNOWN),
        timestamp=Timestamp.of(item.created_at),
        usage=_usage(item.stash.get("usage")),
        content=content,
        stop_reason="ToolUse" if isinstance(content, ToolCall) else "Stop",
        provider=Custom(provider if type(provider) is str else _UNKNOWN),
    )


def _usage(noted: object) -> UsageReport:
    """Return the usage that a stash tells in one of the usual ways."""
    usage: Mapping[str, object] = {}
    if isinstance(noted, Mapping):
        usage = cast("Mapping[str, object]", noted)
    got = _count(usage, "input_tokens", "prompt_tokens", "input")
    gave = _count(usage, "output_tokens", "completion_tokens", "output")
    return UsageReport(input=got, output=gave, total_tokens=got + gave)


def _count(usage: Mapping[str, object], *names: str) -> float:
    for name in names:
        value = usage.get(name)
        if type(value) in (int, float) and 0 <= cast("float", value) < 1 << 53:
            return float(cast("float", value))
    return 0.0


def _arguments(args: Mapping[str, object]) -> dict[str, ArgValue]:
    return {name: _argument(value) for name, value in args.items()}


def _argument(value: object) -> ArgValue:
    try:
        return ArgValue.of(value)
    except ValueError:
        # What JSON has not stands in the primitive's own document.
        return ArgValue("JSON", "null")


def _result(call: p.ToolCall) -> ToolResult:
    results = call.results
    text = results.text if isinstance(results, p.Tokenizable) else ""
    return ToolResult(
        id=derived_id(f"result of {call.id}".encode("utf-8", "surrogatepass")),
        tool_call_id=call.id,
        name=call.tool,
        timestamp=Timestamp.of(cast("datetime", call.completed_at)),
        content=TextContent(content=text),
        error_detail=text if call.is_error else None,
    )


# The way back


def to_primitives(
    records: Iterable[SessionRecord],
    *,
    id: str | None = None,  # noqa: A002 - the field's name
    codec: Codec | None = None,
) -> p.Conversation:
    """Return the conversation that some session records hold.

    What was made by `from_primitives` comes back equal. Of other records, messages
    with the role ``system`` become instructions, and the last working memory becomes
    the memories. Retractions are not applied: pass what `effective` gives. Tool results
    without their call, failures, summaries, observations and reflections are left out.

    Args:
        records: The records, oldest first.
        id: The id of the conversation; a new one if left out.
        codec: What reads the documents of the primitives, and opens handles.

    Raises:
        UndecodableValueError: If a document of a primitive can't be read.
        HandleError: If the handle of a text or document can't be opened; those of media
            are not opened yet.
    """
    reader = _Reader(codec)
    for record in records:
        reader.take(record)
    return p.Conversation(
        id=id or new_id(),
        items=tuple(reader.items),
        instructions=tuple(reader.instructions),
        memories=tuple(reader.memories),
    )


def _restored(records: Sequence[SessionRecord]) -> Primitive | None:
    """Return the primitive that some records alone come back as."""
    reader = _Reader(None)
    for record in records:
        reader.take(record)
    found = [*reader.items, *reader.instructions]
    return found[0] if len(found) == 1 else None


class _Reader:
    """Collects primitives from records.

    Args:
        codec: What reads the documents of the primitives.
    """

    def __init__(self, codec: Codec | None) -> None:
        self._codec = codec
        self.items: list[Item] = []
        self.instructions: list[p.Tokenizable] = []
        self.memories: list[p.Memory] = []
        self._calls: dict[str, int] = {}

    def take(self, record: SessionRecord) -> None:
        """Add what one record holds."""
        record = inlined(record, self._codec)
        if isinstance(record, WorkingMemory):
            self.memories = [self._memory(fact) for fact in record.facts]
        elif isinstance(record, Conversation):
            if record.primitive is None:
                self._message(record.message)
            else:
                self._place(self._whole(record.primitive), record.message)

    def _whole(self, document: Mapping[str, object]) -> Primitive:
        found = opened(document, codec=self._codec)
        if not isinstance(found, (*_ITEMS, p.Tokenizable, p.Memory)):
            msg = "the document beside a message holds no primitive of a conversation"
            raise JsonError(msg, type_name=type(found).__name__)
        return found

    def _place(self, found: Primitive, message: User | Assistant | ToolResult) -> None:
        if isinstance(found, p.Tokenizable):
            self.instructions.append(found)
        elif isinstance(message, ToolResult):
            if message.tool_call_id in self._calls:
                self.items[self._calls[message.tool_call_id]] = cast("Item", found)
        else:
            self._add(cast("Item", found), message)

    def _add(self, item: Item, message: User | Assistant) -> None:
        if isinstance(message.content, ToolCall):
            self._calls[message.content.id] = len(self.items)
        self.items.append(item)

    def _message(self, message: User | Assistant | ToolResult) -> None:
        if isinstance(message, ToolResult):
            self._complete(message)
        elif isinstance(message, Assistant):
            self._answer(message)
        elif message.role == "system":
            self.instructions.append(p.Tokenizable(_text(message.content)))
        else:
            self._say(message, "user", message.content, _when(message), p.Registry())

    def _answer(self, message: Assistant) -> None:
        content, moment = message.content, message.timestamp.datetime
        times: dict[str, Any] = {"created_at": moment, "updated_at": moment}
        if isinstance(content, ToolCall):
            self._add(
                p.ToolCall(
                    id=content.id,
                    tool=content.name or _UNKNOWN,
                    args=content.plain_arguments(),
                    is_complete=False,
                    is_error=False,
                    stash=_stash(message),
                    **times,
                ),
                message,
            )
        elif isinstance(content, ThinkingContent):
            if content.thinking:
                self.items.append(
                    p.Thought(
                        id=message.id,
                        content=content.thinking,
                        stash=_stash(message),
                        **times,
                    )
                )
        elif isinstance(content, TextContent | ImageContent):
            self._say(message, "assistant", content, moment, _stash(message))

    def _say(
        self,
        message: User | Assistant,
        role: Literal["user", "assistant"],
        content: UserModelContent,
        moment: datetime,
        stash: p.Registry,
    ) -> None:
        """Add a message, unless it is empty."""
        text = _text(content)
        image = content if isinstance(content, ImageContent) else None
        media = [] if image is None else [self._media(image, role)]
        if text or media:
            self.items.append(
                p.Message(
                    id=message.id,
                    role=role,
                    content=text or None,
                    attachments=media,
                    created_at=moment,
                    updated_at=moment,
                    stash=stash,
                )
            )

    def _complete(self, result: ToolResult) -> None:
        place = self._calls.get(result.tool_call_id)
        if place is None:
            return
        moment = result.timestamp.datetime
        call = cast("p.ToolCall", self.items[place])
        text = result.error_detail or _text(result.content)
        self.items[place] = call.replace(
            is_complete=True,
            is_error=result.error_detail is not None,
            results=p.Tokenizable(text),
            updated_at=moment,
            completed_at=moment,
        )

    def _media(self, image: ImageContent, role: str) -> p.Media:
        if image.handle is not None:
            reader = reader_of(image.handle, codec=self._codec)
            return _media(image, role, reader, json.dumps(image.handle).encode())
        data = _bytes_of(image)
        return _media(image, role, BytesReader(data), data)

    def _memory(self, fact: MemoryFact) -> p.Memory:
        if fact.primitive is not None:
            return cast("p.Memory", self._whole(fact.primitive))
        moment = fact.asserted_at.datetime
        share = min(max(fact.confidence, 0.0), 1.0)
        return p.Memory(
            id=fact.source_message_id or derived_id(fact.fact.encode()),
            content=fact.fact or _UNKNOWN,
            confidence=share,
            importance=share,
            created_at=moment,
            updated_at=moment,
        )


_ITEMS: Final = (p.Message, p.ToolCall, p.Thought, p.Retrievable)


def _when(message: User) -> datetime:
    """Return the time that the id of a message bears."""
    return datetime.fromtimestamp((milliseconds_of(message.id) or 0) / 1000, UTC)


def _text(content: UserModelContent) -> str:
    return content.content if isinstance(content, TextContent) else ""


def _bytes_of(image: ImageContent) -> bytes:
    """Return the bytes of an image.

    Raises:
        JsonError: If they are not in base64.
    """
    try:
        return base64.b64decode(image.b64, validate=True)
    except ValueError as exc:
        msg = "an image of the log is not in base64"
        raise JsonError(msg, type_name="ImageContent") from exc


def _media(image: ImageContent, role: str, reader: Reader, name: bytes) -> p.Media:
    """Return an image as a media.

    Args:
        image: The image.
        role: Who shows it.
        reader: Where its bytes are.
        name: What its id is derived from.
    """
    mime_type = mime_type_of(image.mime_type)
    make = p.Media.user_attachment if role == "user" else p.Media.tool_generated
    return make(
        id=derived_id(name),
        kind="image",
        mime_type=mime_type,
        filename=f"image.{mime_type.rpartition('/')[2]}",
        reader=reader,
    )


def _stash(message: Assistant) -> p.Registry:
    """Return what a message says about the model that answered."""
    known = {"model": message.model.name, "provider": str(message.provider)}
    noted: dict[str, object] = {k: v for k, v in known.items() if v != _UNKNOWN}
    usage = message.usage
    if usage.input or usage.output:
        noted["usage"] = {"input_tokens": usage.input, "output_tokens": usage.output}
    return p.Registry(noted)
