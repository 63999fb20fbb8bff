"""What went wrong in a turn."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, cast

from attrs import field, frozen

from graphcodec.errors import InvalidValueError
from graphcodec.log._rules import ANY_TEXT, OMIT_NONE
from graphcodec.log._usage import TokenSnapshot
from graphcodec.log._words import GenKind
from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import checked, excerpt
from graphcodec.primitives._convert import to_tuple

__all__ = [
    "ERROR_DETAILS",
    "ERROR_TEXTS",
    "AgenticError",
    "StructuredErrorTrace",
    "StructuredFrame",
]

ERROR_TEXTS: Final = (
    "MessageStore",
    "Memory",
    "VectorStore",
    "Embedding",
    "Session",
    "SessionNotFound",
    "Queue",
    "Routing",
    "Provider",
    "Unexpected",
)
"""The kinds of errors that hold a text."""

ERROR_DETAILS: Final[Mapping[str, Mapping[str, object]]] = {
    "Generation": {"kind": GenKind, "message": str},
    "ToolCall": {"tool_name": str, "reason": str},
    "ToolNotAuthorized": {"tool_name": str, "user": str},
    "LoopDetected": {"kind": str, "occurrences": int},
    "Auth": {"reason": str},
    "Budget": {"limit": int},
    "BudgetExhausted": {"snapshot": TokenSnapshot},
}
"""The kinds of errors that hold named details, and the types of those."""


@checked
@frozen(eq=False, repr=False)
class AgenticError(Primitive):
    """Why an action failed.

    Attributes:
        kind: ``MessageStore``, ``Memory``, ``VectorStore``, ``Embedding``, ``Session``,
            ``SessionNotFound``, ``Queue``, ``Routing``, ``Provider`` or ``Unexpected``
            with a text; ``Generation`` (kind, message), ``ToolCall`` (tool_name,
            reason), ``ToolNotAuthorized`` (tool_name, user), ``LoopDetected`` (kind,
            occurrences), ``Auth`` (reason), ``Budget`` (limit) or ``BudgetExhausted``
            (snapshot) with a dict of details.
        value: The text or the details.
    """

    __graphcodec_tag__: ClassVar[str] = "log:AgenticError"

    kind: str
    value: object

    def __str__(self) -> str:
        if isinstance(self.value, str):
            return f"{self.kind}: {self.value}"
        details = cast("Mapping[str, object]", self.value)
        shown = ", ".join(f"{name}={value}" for name, value in details.items())
        return f"{self.kind}: {shown}"

    def _summary(self) -> str:
        return self.kind

    def _check_together(self) -> None:
        if self.kind in ERROR_TEXTS:
            good, wanted = type(self.value) is str, "a str"
        else:
            details = ERROR_DETAILS.get(self.kind)
            if details is None:
                self._refuse("kind", "a known kind", self.kind)
            good = _matches(self.value, details or {})
            wanted = f"a dict of {', '.join(details or {})}"
        if not good:
            self._refuse("value", wanted, self.value)

    def _refuse(self, name: str, wanted: str, value: object) -> None:
        shown = excerpt(value)
        raise InvalidValueError(
            f"AgenticError.{name} must be {wanted}, not {shown}",
            path=f"$.{name}",
            type_name="AgenticError",
            value=shown,
        )


def _matches(value: object, details: Mapping[str, object]) -> bool:
    if type(value) is not dict:
        return False
    given = cast("dict[str, object]", value)
    return given.keys() == details.keys() and all(
        _is_detail(item, details[name]) for name, item in given.items()
    )


def _is_detail(value: object, kind: object) -> bool:
    if kind is GenKind:
        return type(value) is str and value in {member.value for member in GenKind}
    if kind is int:
        return type(value) is int and 0 <= value < 1 << 64
    return isinstance(kind, type) and isinstance(value, kind)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class StructuredFrame(Primitive):
    """One frame of a trace.

    Attributes:
        kind: ``context``, ``printable`` or ``opaque``.
        message: What it says.
        location: Where, as ``file:line:column``.
    """

    __graphcodec_tag__: ClassVar[str] = "log:StructuredFrame"

    kind: str = field(metadata=ANY_TEXT)
    message: str = field(metadata=ANY_TEXT)
    location: str | None = field(default=None, metadata=ANY_TEXT)


def _to_frames(value: Sequence[StructuredFrame]) -> tuple[StructuredFrame, ...]:
    return to_tuple(value)


@checked
@frozen(kw_only=True, eq=False, repr=False)
class StructuredErrorTrace(Primitive):
    """How an error came about.

    Attributes:
        current_context: What was being done.
        frames: How it got there.
        backtrace: The stack as text, if it was taken.
    """

    __graphcodec_tag__: ClassVar[str] = "log:StructuredErrorTrace"

    current_context: str = field(metadata=ANY_TEXT)
    frames: tuple[StructuredFrame, ...] = field(default=(), converter=_to_frames)
    backtrace: str | None = field(default=None, metadata={**ANY_TEXT, **OMIT_NONE})
