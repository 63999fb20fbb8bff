"""The words of session records: closed sets, and open ones with a way out."""

import re
from enum import Enum, StrEnum
from typing import ClassVar, Final, TypeVar, cast

from attrs import field, frozen

from graphcodec.log._rules import ANY_TEXT
from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import checked, excerpt

__all__ = [
    "CostStatus",
    "Custom",
    "ExecutionHint",
    "GenKind",
    "MessageRole",
    "ObservationKind",
    "StopReason",
    "mime_type_of",
    "to_cost_status",
    "to_hint",
    "to_observation_kind",
    "to_word",
]

E = TypeVar("E", bound=Enum)

_MIME_TYPE: Final = re.compile(r"[\w.+-]+/[\w.+-]+", re.ASCII)
_NO_MIME_TYPE: Final = "application/octet-stream"


class MessageRole(StrEnum):
    """The roles that are known by name; any other text is a role too."""

    USER = "user"
    AGENT = "agent"
    SYSTEM = "system"
    TOOL = "tool"


class StopReason(StrEnum):
    """Why a model stopped; for a reason in words there is `Custom`."""

    STOP = "Stop"
    LENGTH = "Length"
    TOOL_USE = "ToolUse"
    ERROR = "Error"
    ABORTED = "Aborted"


class ExecutionHint(StrEnum):
    """How a tool call may run beside others."""

    UNSPECIFIED = "unspecified"
    PARALLEL = "parallel"
    SEQUENTIAL = "sequential"


class CostStatus(StrEnum):
    """How sure a cost is."""

    ESTIMATED = "Estimated"
    ACTUAL = "Actual"
    UNKNOWN = "Unknown"


class ObservationKind(StrEnum):
    """What an observation is."""

    ASSERTION = "assertion"
    QUESTION = "question"


class GenKind(StrEnum):
    """Why a generation failed."""

    CONTEXT_OVERFLOW = "context_overflow"
    RATE_LIMIT = "rate_limit"
    PROVIDER = "provider"
    NETWORK = "network"
    OTHER = "other"


@checked
@frozen(eq=False, repr=False)
class Custom(Primitive):
    """A word of one's own where there is a list of known ones.

    It differs from the known word of the same letters.

    Attributes:
        text: The word.
    """

    __graphcodec_tag__: ClassVar[str] = "log:Custom"

    text: str = field(metadata=ANY_TEXT)

    def __str__(self) -> str:
        return self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def _summary(self) -> str:
        return excerpt(self.text)


def to_word(value: str | Custom) -> str | Custom:
    """Turn a member of a StrEnum into the str that it is."""
    return value.value if isinstance(value, StrEnum) else value


def mime_type_of(word: str | Custom) -> str:
    """Return the usual name of a type of media: ``image/png`` for ``ImagePng``."""
    if isinstance(word, Custom):
        name = word.text
    else:
        main, *rest = re.findall("[A-Z][^A-Z]*", word) or [word]
        name = f"{main}/{''.join(rest)}".lower()
    return name if _MIME_TYPE.fullmatch(name) else _NO_MIME_TYPE


def _to_member(cls: type[E], value: object) -> E:
    if type(value) is str and value in {member.value for member in cls}:
        return cls(value)
    return cast("E", value)


def to_hint(value: str | ExecutionHint) -> ExecutionHint:
    """Turn the word for a hint into the member."""
    return _to_member(ExecutionHint, value)


def to_cost_status(value: str | CostStatus) -> CostStatus:
    """Turn the word for a status into the member."""
    return _to_member(CostStatus, value)


def to_observation_kind(value: str | ObservationKind) -> ObservationKind:
    """Turn the word for a kind into the member."""
    return _to_member(ObservationKind, value)
