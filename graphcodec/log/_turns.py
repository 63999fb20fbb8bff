"""What counts of a log, and what a turn came to.

A turn begins with a message whose role is ``user``, ends with a summary or a failure. A
retraction takes back what the model said in its turn, or exactly its targets if it
names some. What tools gave back stays: they did run. A result whose call was taken back
is an orphan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

from attrs import frozen

from graphcodec.log._content import TextContent, ToolCall
from graphcodec.log._failures import AgenticError, StructuredErrorTrace
from graphcodec.log._records import (
    Assistant,
    Conversation,
    FailedAction,
    Retracted,
    SessionRecord,
    Summary,
    ToolResult,
    User,
    id_of,
)
from graphcodec.log._usage import TokenSnapshot

__all__ = ["Answer", "Turn", "effective", "orphans"]


def effective(records: Iterable[SessionRecord]) -> list[SessionRecord]:
    """Return the records that count, without retractions and what they take back.

    Args:
        records: The records, oldest first; they are left as they are.
    """
    kept: list[SessionRecord] = []
    start = 0
    for record in records:
        if isinstance(record, Retracted):
            before = _without(kept[:start], start, record)
            kept = [*before, *_without(kept[start:], 0, record)]
            start = len(before)
            continue
        if _begins_turn(record):
            start = len(kept)
        kept.append(record)
        if isinstance(record, Summary | FailedAction):
            start = len(kept)
    return kept


def _begins_turn(record: SessionRecord) -> bool:
    if not isinstance(record, Conversation):
        return False
    message = record.message
    return isinstance(message, User) and message.role == "user"


def _without(
    kept: list[SessionRecord], start: int, retraction: Retracted
) -> list[SessionRecord]:
    if retraction.targets:
        return [record for record in kept if id_of(record) not in retraction.targets]
    turn = [record for record in kept[start:] if not _is_answer(record)]
    return kept[:start] + turn


def _is_answer(record: SessionRecord) -> bool:
    return isinstance(record, Conversation) and isinstance(record.message, Assistant)


def orphans(records: Iterable[SessionRecord]) -> list[ToolResult]:
    """Return the tool results whose call is not among the records before them.

    Args:
        records: The records, oldest first, such as `effective` gives.
    """
    called: set[str] = set()
    found: list[ToolResult] = []
    for record in records:
        message = record.message if isinstance(record, Conversation) else None
        if isinstance(message, Assistant) and isinstance(message.content, ToolCall):
            called.add(message.content.id)
        elif isinstance(message, ToolResult) and message.tool_call_id not in called:
            found.append(message)
    return found


@frozen(kw_only=True)
class Turn:
    """One turn, collected from a stream of records.

    Attributes:
        records: What counts of it, oldest first.
        failure: What it ended with, if it failed.
    """

    records: tuple[SessionRecord, ...]
    failure: FailedAction | None = None

    @classmethod
    def collect(cls, stream: Iterable[SessionRecord]) -> Self:
        """Read a stream to its end, or to the first failure, and keep what counts.

        Args:
            stream: The records of one turn, in order.
        """
        seen: list[SessionRecord] = []
        for record in stream:
            if isinstance(record, FailedAction):
                return cls(records=_counting(seen), failure=record)
            seen.append(record)
        return cls(records=_counting(seen))

    @property
    def completed(self) -> bool:
        """Whether it did not fail."""
        return self.failure is None

    @property
    def text(self) -> str:
        """All that the model said in words."""
        parts = [message.content for message in self._answers()]
        return "".join(part.content for part in parts if isinstance(part, TextContent))

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The tools that the model wished to use."""
        parts = [message.content for message in self._answers()]
        return [part for part in parts if isinstance(part, ToolCall)]

    @property
    def tool_results(self) -> list[ToolResult]:
        """What the tools gave back."""
        messages = [r.message for r in self.records if isinstance(r, Conversation)]
        return [message for message in messages if isinstance(message, ToolResult)]

    @property
    def usage(self) -> TokenSnapshot | None:
        """The tokens of the session at its end, as the last summary tells them."""
        found = [r.usage for r in self.records if isinstance(r, Summary)]
        return found[-1] if found else None

    def _answers(self) -> list[Assistant]:
        messages = [r.message for r in self.records if isinstance(r, Conversation)]
        return [message for message in messages if isinstance(message, Assistant)]


def _counting(seen: Sequence[SessionRecord]) -> tuple[SessionRecord, ...]:
    """Return what counts within one turn, whoever speaks in it."""
    kept: list[SessionRecord] = []
    for record in seen:
        if isinstance(record, Retracted):
            kept = _without(kept, 0, record)
        else:
            kept.append(record)
    return tuple(kept)


@frozen(kw_only=True)
class Answer:
    """What a turn said: all of it, or what there was when it failed.

    Attributes:
        text: The text.
        error: Why it failed; None if it is complete.
        trace: How that came about.
    """

    text: str
    error: AgenticError | None = None
    trace: StructuredErrorTrace | None = None

    @classmethod
    def collect(cls, stream: Iterable[SessionRecord]) -> Self:
        """Read a stream to its end, or to the first failure.

        Args:
            stream: The records of one turn, in order.
        """
        turn = Turn.collect(stream)
        if turn.failure is None:
            return cls(text=turn.text)
        return cls(text=turn.text, error=turn.failure.error, trace=turn.failure.trace)

    @property
    def complete(self) -> bool:
        """Whether the turn did not fail."""
        return self.error is None
