"""Records to put into logs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from graphcodec import log

GOLDEN: Final = Path(__file__).parent / "golden"
KINDS: Final = (
    "conversation",
    "retracted",
    "working_memory",
    "observation",
    "reflection",
    "failed_action",
    "summary",
)
MOMENT: Final = log.Timestamp(1_700_000_000_123_456_789)
SOURCE: Final = "036z951mhjikzik2gsl81gr7l"


def golden_lines() -> list[str]:
    """Return every line of every golden file."""
    return [
        line
        for kind in KINDS
        for line in (GOLDEN / f"{kind}.jsonl").read_text().split("\n")[:-1]
    ]


def user(text: str = "hi", **fields: Any) -> log.Conversation:
    """Return what a user said."""
    content = log.TextContent(content=text)
    return log.Conversation(message=log.User(content=content, **fields))


def assistant(
    content: log.ModelOutput | str = "hello",
    *,
    got: float = 12,
    gave: float = 5,
    **fields: Any,
) -> log.Conversation:
    """Return what a model answered."""
    if isinstance(content, str):
        content = log.TextContent(content=content)
    message = log.Assistant(
        model=log.ModelId("claude-x"),
        provider="ANTHROPIC",
        usage=log.UsageReport(input=got, output=gave, total_tokens=got + gave),
        content=content,
        **fields,
    )
    return log.Conversation(message=message)


def called(name: str = "t1", **args: object) -> log.Conversation:
    """Return a model's wish to use a tool."""
    call = log.ToolCall(id=name, name="read", arguments=args)
    return assistant(call, stop_reason=log.StopReason.TOOL_USE)


def result(name: str = "t1", text: str = "ok", **fields: Any) -> log.Conversation:
    """Return what a tool gave back."""
    content = log.TextContent(content=text)
    message = log.ToolResult(tool_call_id=name, name="read", content=content, **fields)
    return log.Conversation(message=message)


def working(*facts: str, version: int = 1, **fields: Any) -> log.WorkingMemory:
    """Return a working memory."""
    entries = [
        log.MemoryFact(fact=fact, source_message_id=SOURCE, confidence=0.9)
        for fact in facts
    ]
    return log.WorkingMemory(facts=entries, version=version, **fields)


def observation(*texts: str, tokens: int = 5, **fields: Any) -> log.Observation:
    """Return an observation."""
    entries = [
        log.ObservationEntry(
            kind=log.ObservationKind.ASSERTION, content=text, source_message_id=SOURCE
        )
        for text in texts
    ]
    return log.Observation(observations=entries, token_count=tokens, **fields)


def reflection(*texts: str, **fields: Any) -> log.Reflection:
    """Return a reflection."""
    entries = [log.ReflectionEntry(summary=text, importance=0.8) for text in texts]
    return log.Reflection(
        reflections=entries,
        observation_token_count_before=10,
        reflection_token_count_after=4,
        **fields,
    )


def snapshot(got: int = 100, gave: int = 40) -> log.TokenSnapshot:
    """Return the tokens of a session."""
    total = got + gave
    return log.TokenSnapshot(total=total, input=got, output=gave, rolling=total)


def summary(count: int = 7, got: int = 100, gave: int = 40) -> log.Summary:
    """Return the summary of a turn."""
    return log.Summary(message_count=count, usage=snapshot(got, gave))


def failed(reason: str = "y") -> log.FailedAction:
    """Return the failure of a turn."""
    error = log.AgenticError("ToolCall", {"tool_name": "x", "reason": reason})
    trace = log.StructuredErrorTrace(current_context="running x")
    return log.FailedAction(error=error, trace=trace)


def one_of_each() -> list[log.SessionRecord]:
    """Return a record of every kind."""
    return [
        user(),
        assistant(),
        called(path="a.txt"),
        result(),
        log.Retracted(reason="no"),
        working("likes dark mode"),
        observation("it rains"),
        reflection("it is autumn"),
        failed(),
        summary(),
        log.UnknownRecord(kind="vote", content='{"message_type":"vote","by":1}'),
    ]
