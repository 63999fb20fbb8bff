"""Who answered, what it cost, and what the provider says about it."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from attrs import field, frozen

from graphcodec.log._rules import (
    ANY_TEXT,
    OMIT_NONE,
    U8,
    U64,
    to_float,
    to_optional_float,
)
from graphcodec.log._words import CostStatus, Custom, to_cost_status, to_word
from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import checked, excerpt
from graphcodec.primitives._convert import to_tuple

__all__ = [
    "ContentLogProb",
    "GenerationMetadata",
    "LogProbs",
    "ModelId",
    "RefusalLogProb",
    "RefusalReason",
    "SystemFingerprint",
    "Timing",
    "TokenSnapshot",
    "TopLogProb",
    "UsageCosting",
    "UsageReport",
]


def _to_optional_word(value: str | Custom | None) -> str | Custom | None:
    return None if value is None else to_word(value)


@checked
@frozen(eq=False, repr=False)
class ModelId(Primitive):
    """A model.

    Attributes:
        name: Its name.
        kind: What the name is: ``Name``, ``Alias``, ``Group`` or ``Architecture``.
        quantization: How its weights are stored: a known word, or `Custom`.
    """

    __graphcodec_tag__: ClassVar[str] = "log:ModelId"

    name: str = field(metadata=ANY_TEXT)
    kind: Literal["Name", "Alias", "Group", "Architecture"] = "Name"
    quantization: str | Custom | None = field(default=None, converter=_to_optional_word)

    def __str__(self) -> str:
        return self.name

    def _summary(self) -> str:
        return excerpt(self.name)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class UsageCosting(Primitive):
    """What a message cost.

    Attributes:
        currency: In which currency.
        input: For what the model read.
        output: For what it wrote.
        cache_read: For what it read from the cache.
        cache_write: For what was put into the cache.
        total_tokens: The total that the provider reports.
        status: How sure it is.
    """

    __graphcodec_tag__: ClassVar[str] = "log:UsageCosting"

    currency: str = field(default="USD", metadata=ANY_TEXT)
    input: float = field(default=0.0, converter=to_float)
    output: float = field(default=0.0, converter=to_float)
    cache_read: float = field(default=0.0, converter=to_float)
    cache_write: float = field(default=0.0, converter=to_float)
    total_tokens: float = field(default=0.0, converter=to_float)
    status: CostStatus = field(default=CostStatus.UNKNOWN, converter=to_cost_status)

    def total(self) -> float:
        """Return the sum of the four parts."""
        return self.input + self.output + self.cache_read + self.cache_write


@checked
@frozen(kw_only=True, eq=False, repr=False)
class UsageReport(Primitive):
    """How many tokens a turn took.

    Every message of one turn bears the same report.

    Attributes:
        input: Read by the model.
        output: Written by it.
        cache_read: Read from the cache.
        cache_write: Put into the cache.
        total_tokens: The total that the provider reports.
        cost: What it cost.
    """

    __graphcodec_tag__: ClassVar[str] = "log:UsageReport"

    input: float = field(default=0.0, converter=to_float)
    output: float = field(default=0.0, converter=to_float)
    cache_read: float = field(default=0.0, converter=to_float)
    cache_write: float = field(default=0.0, converter=to_float)
    total_tokens: float = field(default=0.0, converter=to_float)
    cost: UsageCosting = field(factory=UsageCosting)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class TokenSnapshot(Primitive):
    """The tokens of a session up to now.

    Attributes:
        total: All of them.
        input: Read by models.
        output: Written by them.
        rolling: Since the last observation.
        budget: The most that may be spent.
        remaining: What is left of it.
        cost: What they cost.
    """

    __graphcodec_tag__: ClassVar[str] = "log:TokenSnapshot"

    total: int = field(metadata=U64)
    input: int = field(metadata=U64)
    output: int = field(metadata=U64)
    rolling: int = field(metadata=U64)
    budget: int | None = field(default=None, metadata=U64)
    remaining: int | None = field(default=None, metadata=U64)
    cost: float = field(default=0.0, converter=to_float)


def _to_octets(value: Sequence[int] | None) -> tuple[int, ...] | None:
    return None if value is None else to_tuple(value)


@frozen(kw_only=True, eq=False, repr=False)
class _LogProb(Primitive):
    token: str = field(metadata=ANY_TEXT)
    logprob: float = field(converter=to_float)
    bytes: tuple[int, ...] | None = field(
        default=None, converter=_to_octets, metadata={**U8, **OMIT_NONE}
    )


@checked
@frozen(kw_only=True, eq=False, repr=False)
class TopLogProb(_LogProb):
    """One token that was likely at some place.

    Attributes:
        token: The token.
        logprob: The logarithm of its probability.
        bytes: Its bytes.
    """

    __graphcodec_tag__: ClassVar[str] = "log:TopLogProb"


@checked
@frozen(kw_only=True, eq=False, repr=False)
class RefusalLogProb(_LogProb):
    """One token of a refusal.

    Attributes:
        token: The token.
        logprob: The logarithm of its probability.
        bytes: Its bytes.
    """

    __graphcodec_tag__: ClassVar[str] = "log:RefusalLogProb"


def _to_tops(value: Sequence[TopLogProb] | None) -> tuple[TopLogProb, ...] | None:
    return None if value is None else to_tuple(value)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class ContentLogProb(_LogProb):
    """One token of an answer.

    Attributes:
        token: The token.
        logprob: The logarithm of its probability.
        bytes: Its bytes.
        top_logprobs: What else was likely there.
    """

    __graphcodec_tag__: ClassVar[str] = "log:ContentLogProb"

    top_logprobs: tuple[TopLogProb, ...] | None = field(
        default=None, converter=_to_tops, metadata=OMIT_NONE
    )


def _to_contents(value: Sequence[ContentLogProb]) -> tuple[ContentLogProb, ...]:
    return to_tuple(value)


def _to_refusals(
    value: Sequence[RefusalLogProb] | None,
) -> tuple[RefusalLogProb, ...] | None:
    return None if value is None else to_tuple(value)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class LogProbs(Primitive):
    """How likely the tokens of an answer were.

    Attributes:
        content: For each token of the text.
        refusal: For each token of the refusal.
    """

    __graphcodec_tag__: ClassVar[str] = "log:LogProbs"
    __log_variant__: ClassVar[str] = "log_probs"

    content: tuple[ContentLogProb, ...] = field(converter=_to_contents)
    refusal: tuple[RefusalLogProb, ...] | None = field(
        default=None, converter=_to_refusals, metadata=OMIT_NONE
    )


@checked
@frozen(kw_only=True, eq=False, repr=False)
class Timing(Primitive):
    """How long an answer took.

    Attributes:
        total_ms: All of it, in milliseconds.
        time_to_first_ms: Until the first token, in milliseconds.
        tokens_per_sec: Tokens in a second.
    """

    __graphcodec_tag__: ClassVar[str] = "log:Timing"
    __log_variant__: ClassVar[str] = "timing"

    total_ms: int = field(metadata=U64)
    time_to_first_ms: int | None = field(default=None, metadata=U64)
    tokens_per_sec: float | None = field(default=None, converter=to_optional_float)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class SystemFingerprint(Primitive):
    """What the provider calls the system that answered.

    Attributes:
        value: The fingerprint.
    """

    __graphcodec_tag__: ClassVar[str] = "log:SystemFingerprint"
    __log_variant__: ClassVar[str] = "system_fingerprint"

    value: str = field(metadata=ANY_TEXT)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class RefusalReason(Primitive):
    """Why the model refused.

    Attributes:
        value: The reason.
    """

    __graphcodec_tag__: ClassVar[str] = "log:RefusalReason"
    __log_variant__: ClassVar[str] = "refusal_reason"

    value: str = field(metadata=ANY_TEXT)


GenerationMetadata = LogProbs | Timing | SystemFingerprint | RefusalReason
