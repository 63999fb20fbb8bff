"""A record as a flat row: what can be sorted and summed without reading its JSON."""

from __future__ import annotations

import math
from typing import Final, Self

from attrs import frozen

from graphcodec.log._content import ToolCall
from graphcodec.log._ids import derived_id, milliseconds_of
from graphcodec.log._json import to_json
from graphcodec.log._records import (
    Assistant,
    Conversation,
    FailedAction,
    Observation,
    Reflection,
    Retracted,
    SessionRecord,
    Summary,
    ToolResult,
    UnknownRecord,
    User,
    WorkingMemory,
    id_of,
)

__all__ = ["SessionRecordRow", "kind_of", "moment_of", "titles_of"]

_U32_MAX: Final = (1 << 32) - 1
_I64_MAX: Final = (1 << 63) - 1


def kind_of(record: SessionRecord) -> str:
    """Return the ``message_type`` of a record.

    Args:
        record: The record.
    """
    if isinstance(record, UnknownRecord):
        return record.kind
    return record.__log_variant__


def moment_of(record: SessionRecord) -> int | None:
    """Return when a record was made, in milliseconds since 1970; None if it is silent.

    What was before counts as 1970.

    Args:
        record: The record.
    """
    known = _told(record)
    return None if known is None else min(max(known, 0), _I64_MAX)


def _told(record: SessionRecord) -> int | None:
    if isinstance(record, Retracted | WorkingMemory | Observation):
        return record.timestamp.milliseconds
    if isinstance(record, Reflection):
        return record.generated_at.milliseconds
    name = id_of(record)
    known = None if name is None else milliseconds_of(name)
    if known is None and isinstance(record, Conversation):
        message = record.message
        return None if isinstance(message, User) else message.timestamp.milliseconds
    return known


def titles_of(record: SessionRecord) -> tuple[str | None, str | None]:
    """Return the title and the summary of a record, None where it has none.

    Args:
        record: The record.
    """
    if isinstance(record, Conversation):
        content = record.message.content
        return (content.name if isinstance(content, ToolCall) else None), None
    if isinstance(record, WorkingMemory):
        facts = [fact.fact for fact in record.facts]
        return f"{len(facts)} fact(s)", _first(facts)
    if isinstance(record, Observation):
        texts = [entry.content for entry in record.observations]
        return f"{len(texts)} observation(s)", _first(texts)
    if isinstance(record, Reflection):
        texts = [entry.summary for entry in record.reflections]
        return f"{len(texts)} reflection(s)", _first(texts)
    if isinstance(record, FailedAction):
        return "failed_action", str(record.error)
    if isinstance(record, Summary):
        return f"summary ({record.message_count} msgs)", None
    return (None, record.reason) if isinstance(record, Retracted) else (None, None)


def _first(texts: list[str]) -> str | None:
    return texts[0] if texts else None


@frozen(kw_only=True)
class SessionRecordRow:
    """A record as a flat row.

    Token counts are whole numbers up to 2**32-1, rounded half away from zero. Those of
    an assistant message are those of its whole turn, and each message of the turn bears
    them; those of a summary are of the whole session.

    Attributes:
        id: The id of the record, or of its document if it has none itself.
        record_type: Its ``message_type``.
        role: The role of a message: its word, ``assistant`` or ``tool``.
        title: What it is about.
        summary: What it says, in short.
        model: Which model answered.
        input_tokens: What the model read.
        output_tokens: What it wrote.
        created_at: When it was made, in milliseconds since 1970; 0 if it is silent.
        content: The whole record as JSON.
        session_id: The session.
        seq: The place in the log.
        provider: Who runs the model.
        stop_reason: Why it stopped.
        cache_read: What it read from the cache.
        cache_write: What was put into the cache.
        cost: What the turn cost, in the currency of the record.
        error: What went wrong.
    """

    id: str
    record_type: str
    role: str | None = None
    title: str | None = None
    summary: str | None = None
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    created_at: int = 0
    content: str
    session_id: str | None = None
    seq: int | None = None
    provider: str | None = None
    stop_reason: str | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    cost: float | None = None
    error: str | None = None

    @classmethod
    def of(
        cls,
        record: SessionRecord,
        *,
        id: str | None = None,  # noqa: A002 - the field's name
        session_id: str | None = None,
        seq: int | None = None,
    ) -> Self:
        """Return the row of a record.

        Args:
            record: The record.
            id: The id of its document, for a record that has none itself; by default
                it is derived from the content.
            session_id: The session.
            seq: The place in the log.

        Raises:
            JsonError: If the record can't be written.
        """
        content = to_json(record)
        title, summary = titles_of(record)
        name = id_of(record) or id or derived_id(content.encode())
        return cls(
            id=name,
            record_type=kind_of(record),
            title=title,
            summary=summary,
            created_at=_moment(record, name),
            content=content,
            session_id=session_id,
            seq=seq,
            **_promoted(record),  # type: ignore[arg-type]  # by the names of the fields
        )


def _moment(record: SessionRecord, name: str) -> int:
    """Return the time of a row: of the record, else of its id, else 0."""
    known = moment_of(record)
    if known is None:
        known = milliseconds_of(name)
    return known or 0


def _promoted(record: SessionRecord) -> dict[str, object]:
    if isinstance(record, FailedAction):
        return {"error": str(record.error)}
    if isinstance(record, Summary):
        usage = record.usage
        return {
            "input_tokens": _whole(usage.input),
            "output_tokens": _whole(usage.output),
            "cost": usage.cost,
        }
    if not isinstance(record, Conversation):
        return {}
    message = record.message
    if isinstance(message, User):
        return {"role": message.role}
    if isinstance(message, ToolResult):
        return {"role": "tool", "error": message.error_detail}
    return _answered(message)


def _answered(message: Assistant) -> dict[str, object]:
    usage = message.usage
    return {
        "role": "assistant",
        "model": message.model.name,
        "input_tokens": _whole(usage.input),
        "output_tokens": _whole(usage.output),
        "provider": str(message.provider),
        "stop_reason": str(message.stop_reason),
        "cache_read": _whole(usage.cache_read),
        "cache_write": _whole(usage.cache_write),
        "cost": usage.cost.total(),
        "error": message.error_detail,
    }


def _whole(number: float) -> int:
    """Round half away from zero, within what 32 bits hold."""
    return min(max(math.floor(number + 0.5), 0), _U32_MAX)
