"""The records of a session: messages, memory, retractions, failures, summaries."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from attrs import field, frozen

from graphcodec.log._content import ModelOutput, UserModelContent
from graphcodec.log._failures import AgenticError, StructuredErrorTrace
from graphcodec.log._ids import new_id
from graphcodec.log._moments import Timestamp, to_timestamp
from graphcodec.log._rules import (
    ANY_TEXT,
    ID,
    OMIT_NONE,
    U64,
    key,
    to_float,
)
from graphcodec.log._usage import (
    GenerationMetadata,
    ModelId,
    TokenSnapshot,
    UsageReport,
)
from graphcodec.log._words import (
    Custom,
    MessageRole,
    ObservationKind,
    StopReason,
    to_observation_kind,
    to_word,
)
from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import checked, excerpt
from graphcodec.primitives._convert import to_tuple

__all__ = [
    "Assistant",
    "Conversation",
    "FailedAction",
    "MemoryFact",
    "Messages",
    "Observation",
    "ObservationEntry",
    "Reflection",
    "ReflectionEntry",
    "Retracted",
    "SessionMemory",
    "SessionRecord",
    "Summary",
    "TimeRange",
    "ToolResult",
    "UnknownRecord",
    "User",
    "WorkingMemory",
    "id_of",
]


def _to_role(value: str) -> str:
    return str(to_word(value)) if isinstance(value, MessageRole) else value


@checked
@frozen(kw_only=True, eq=False, repr=False)
class User(Primitive):
    """What the user said, and all else that the model is told.

    Attributes:
        id: A name of its own.
        role: One of `MessageRole`, or any other text.
        content: What was said.
        signature: What it was signed with.
    """

    __graphcodec_tag__: ClassVar[str] = "log:User"
    __log_variant__: ClassVar[str] = "User"

    id: str = field(factory=new_id, metadata=ID)
    role: str = field(default="user", converter=_to_role, metadata=ANY_TEXT)
    content: UserModelContent
    signature: str | None = field(default=None, metadata=ANY_TEXT)

    def _summary(self) -> str:
        return f"id={excerpt(self.id)}, role={excerpt(self.role)}"


def _to_metadata(
    value: Sequence[GenerationMetadata] | None,
) -> tuple[GenerationMetadata, ...] | None:
    return None if value is None else to_tuple(value)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class Assistant(Primitive):
    """One part of what a model answered.

    Attributes:
        id: A name of its own.
        model: Which model.
        timestamp: When.
        usage: What the whole turn took.
        content: The part.
        stop_reason: Why it stopped: one of `StopReason`, or `Custom`.
        provider: Who runs the model: a word such as ``ANTHROPIC``, or `Custom`.
        error_detail: What went wrong.
        signature: What it was signed with.
        metadata: What the provider says about it.
    """

    __graphcodec_tag__: ClassVar[str] = "log:Assistant"
    __log_variant__: ClassVar[str] = "Assistant"

    id: str = field(factory=new_id, metadata=ID)
    model: ModelId
    timestamp: Timestamp = field(factory=Timestamp.now, converter=to_timestamp)
    usage: UsageReport = field(factory=UsageReport)
    content: ModelOutput
    stop_reason: str | Custom = field(
        default=StopReason.STOP.value,
        converter=to_word,
        metadata={"log_custom": "Message"},
    )
    provider: str | Custom = field(converter=to_word)
    error_detail: str | None = field(default=None, metadata=ANY_TEXT)
    signature: str | None = field(default=None, metadata=ANY_TEXT)
    metadata: tuple[GenerationMetadata, ...] | None = field(
        default=None, converter=_to_metadata
    )

    def _summary(self) -> str:
        return f"id={excerpt(self.id)}, model={excerpt(self.model.name)}"


@checked
@frozen(kw_only=True, eq=False, repr=False)
class ToolResult(Primitive):
    """What a tool gave back.

    Attributes:
        id: A name of its own.
        tool_call_id: The id of the call.
        name: The tool.
        timestamp: When.
        details: More about it.
        content: What it gave back.
        error_detail: What went wrong.
        signature: What it was signed with.
    """

    __graphcodec_tag__: ClassVar[str] = "log:ToolResult"
    __log_variant__: ClassVar[str] = "ToolResult"

    id: str = field(factory=new_id, metadata=ID)
    tool_call_id: str = field(metadata=ANY_TEXT)
    name: str = field(metadata=ANY_TEXT)
    timestamp: Timestamp = field(factory=Timestamp.now, converter=to_timestamp)
    details: str | None = field(default=None, metadata=ANY_TEXT)
    content: UserModelContent
    error_detail: str | None = field(default=None, metadata=ANY_TEXT)
    signature: str | None = field(default=None, metadata=ANY_TEXT)

    def _summary(self) -> str:
        return f"id={excerpt(self.id)}, name={excerpt(self.name)}"


Messages = User | Assistant | ToolResult


@checked
@frozen(kw_only=True, eq=False, repr=False)
class MemoryFact(Primitive):
    """Something that is known.

    Attributes:
        fact: What.
        asserted_at: Since when.
        source_message_id: The message it comes from; None only in old logs.
        confidence: How sure it is.
        primitive: The document of the memory that it was made of.
    """

    __graphcodec_tag__: ClassVar[str] = "log:MemoryFact"

    fact: str = field(metadata=ANY_TEXT)
    asserted_at: Timestamp = field(factory=Timestamp.now, converter=to_timestamp)
    source_message_id: str | None = field(metadata=OMIT_NONE)
    confidence: float = field(converter=to_float)
    primitive: Mapping[str, object] | None = field(default=None, metadata=OMIT_NONE)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class ObservationEntry(Primitive):
    """Something that was noticed.

    Attributes:
        kind: What it is; called ``type`` in JSON.
        content: What was noticed.
        timestamp: When.
        source_message_id: The message it comes from; None only in old logs.
        scope: What it is about.
    """

    __graphcodec_tag__: ClassVar[str] = "log:ObservationEntry"

    kind: ObservationKind = field(converter=to_observation_kind, metadata=key("type"))
    content: str = field(metadata=ANY_TEXT)
    timestamp: Timestamp = field(factory=Timestamp.now, converter=to_timestamp)
    source_message_id: str | None = field(metadata=OMIT_NONE)
    scope: str | None = field(default=None, metadata={**ANY_TEXT, **OMIT_NONE})


@checked
@frozen(kw_only=True, eq=False, repr=False)
class TimeRange(Primitive):
    """From when until when.

    Attributes:
        start: The beginning; called ``from`` in JSON.
        end: The end; called ``to`` in JSON.
    """

    __graphcodec_tag__: ClassVar[str] = "log:TimeRange"

    start: Timestamp = field(converter=to_timestamp, metadata=key("from"))
    end: Timestamp = field(converter=to_timestamp, metadata=key("to"))


def _to_refs(value: Sequence[str]) -> tuple[str, ...]:
    return to_tuple(value)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class ReflectionEntry(Primitive):
    """What observations come to.

    Attributes:
        summary: The gist.
        time_range: The time it is about.
        observation_refs: The observations it was made of.
        importance: How much it matters.
    """

    __graphcodec_tag__: ClassVar[str] = "log:ReflectionEntry"

    summary: str = field(metadata=ANY_TEXT)
    time_range: TimeRange | None = field(default=None, metadata=OMIT_NONE)
    observation_refs: tuple[str, ...] = field(default=(), converter=_to_refs)
    importance: float = field(converter=to_float)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class Conversation(Primitive):
    """A message.

    Attributes:
        message: The message.
        primitive: The document of the primitive that the message was made of, where the
            message does not say all; see `from_primitives`. A large one is in a store,
            and here is the handle; see `offload`.
    """

    __graphcodec_tag__: ClassVar[str] = "log:Conversation"
    __log_variant__: ClassVar[str] = "conversation"

    message: Messages
    primitive: Mapping[str, object] | None = field(default=None, metadata=OMIT_NONE)

    @property
    def id(self) -> str:
        """The id of the message."""
        return self.message.id

    def _summary(self) -> str:
        return repr(self.message)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class Retracted(Primitive):
    """The model's answer in this turn up to here does not count.

    Attributes:
        id: A name of its own.
        reason: Why.
        timestamp: When.
        targets: The ids of the messages that are taken back; if there are none, all of
            the model in this turn.
    """

    __graphcodec_tag__: ClassVar[str] = "log:Retracted"
    __log_variant__: ClassVar[str] = "retracted"

    id: str = field(factory=new_id, metadata=ID)
    reason: str = field(metadata=ANY_TEXT)
    timestamp: Timestamp = field(factory=Timestamp.now, converter=to_timestamp)
    targets: tuple[str, ...] = field(default=(), converter=_to_refs, metadata=OMIT_NONE)

    def _summary(self) -> str:
        return f"id={excerpt(self.id)}"


def _to_facts(value: Sequence[MemoryFact]) -> tuple[MemoryFact, ...]:
    return to_tuple(value)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class WorkingMemory(Primitive):
    """What is known now.

    Attributes:
        id: A name of its own.
        facts: The facts.
        version: Counts the changes.
        timestamp: When.
    """

    __graphcodec_tag__: ClassVar[str] = "log:WorkingMemory"
    __log_variant__: ClassVar[str] = "working_memory"

    id: str = field(factory=new_id, metadata=ID)
    facts: tuple[MemoryFact, ...] = field(converter=_to_facts)
    version: int = field(metadata=U64)
    timestamp: Timestamp = field(factory=Timestamp.now, converter=to_timestamp)

    def _summary(self) -> str:
        return f"id={excerpt(self.id)}, version={self.version}"


def _to_observations(
    value: Sequence[ObservationEntry],
) -> tuple[ObservationEntry, ...]:
    return to_tuple(value)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class Observation(Primitive):
    """What was noticed since the last one.

    Attributes:
        id: A name of its own.
        observations: What was noticed.
        token_count: How many tokens that is.
        timestamp: When.
    """

    __graphcodec_tag__: ClassVar[str] = "log:Observation"
    __log_variant__: ClassVar[str] = "observation"

    id: str = field(factory=new_id, metadata=ID)
    observations: tuple[ObservationEntry, ...] = field(converter=_to_observations)
    token_count: int = field(metadata=U64)
    timestamp: Timestamp = field(factory=Timestamp.now, converter=to_timestamp)

    def _summary(self) -> str:
        return f"id={excerpt(self.id)}"


def _to_reflections(value: Sequence[ReflectionEntry]) -> tuple[ReflectionEntry, ...]:
    return to_tuple(value)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class Reflection(Primitive):
    """What the observations come to.

    Attributes:
        id: A name of its own.
        reflections: The gist, in parts.
        generated_at: When.
        observation_token_count_before: How many tokens the observations were.
        reflection_token_count_after: How many tokens the gist is.
    """

    __graphcodec_tag__: ClassVar[str] = "log:Reflection"
    __log_variant__: ClassVar[str] = "reflection"

    id: str = field(factory=new_id, metadata=ID)
    reflections: tuple[ReflectionEntry, ...] = field(converter=_to_reflections)
    generated_at: Timestamp = field(factory=Timestamp.now, converter=to_timestamp)
    observation_token_count_before: int = field(metadata=U64)
    reflection_token_count_after: int = field(metadata=U64)

    def _summary(self) -> str:
        return f"id={excerpt(self.id)}"


@checked
@frozen(kw_only=True, eq=False, repr=False)
class FailedAction(Primitive):
    """The turn ended with an error.

    Attributes:
        error: Which.
        trace: How it came about.
    """

    __graphcodec_tag__: ClassVar[str] = "log:FailedAction"
    __log_variant__: ClassVar[str] = "failed_action"

    error: AgenticError
    trace: StructuredErrorTrace

    def _summary(self) -> str:
        return repr(self.error)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class Summary(Primitive):
    """The turn ended well.

    Attributes:
        message_count: How many messages the session has.
        usage: The tokens of the whole session, not those of the turn.
    """

    __graphcodec_tag__: ClassVar[str] = "log:Summary"
    __log_variant__: ClassVar[str] = "summary"

    message_count: int = field(metadata=U64)
    usage: TokenSnapshot

    def _summary(self) -> str:
        return f"<{self.message_count} messages>"


@checked
@frozen(kw_only=True, eq=False, repr=False)
class UnknownRecord(Primitive):
    """A record that this version can't read, kept as it is.

    Attributes:
        kind: Its ``message_type``.
        content: Its JSON text, which is written back unchanged.
        id: Its id, if it has one.
    """

    __graphcodec_tag__: ClassVar[str] = "log:UnknownRecord"

    kind: str = field(metadata=ANY_TEXT)
    content: str
    id: str | None = None

    def _summary(self) -> str:
        return f"kind={excerpt(self.kind)}"


@checked
@frozen(kw_only=True, eq=False, repr=False)
class SessionMemory(Primitive):
    """What is remembered of a session: the latest record of each tier.

    Attributes:
        working: What is known.
        observation: What was noticed.
        reflection: What it comes to.
    """

    __graphcodec_tag__: ClassVar[str] = "log:SessionMemory"

    working: WorkingMemory | None = None
    observation: Observation | None = None
    reflection: Reflection | None = None


SessionRecord = (
    Conversation
    | Retracted
    | WorkingMemory
    | Observation
    | Reflection
    | FailedAction
    | Summary
    | UnknownRecord
)


def id_of(record: SessionRecord) -> str | None:
    """Return the id of a record; failed actions and summaries have none.

    Args:
        record: The record.
    """
    return None if isinstance(record, FailedAction | Summary) else record.id
