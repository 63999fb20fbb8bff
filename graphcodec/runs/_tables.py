"""A run as tables, for questions that span many runs."""

import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Final

from graphcodec._extras import from_extra
from graphcodec.runs._data import ExampleData, MessageData, RunData, TurnData
from graphcodec.runs._forms import untyped_out

__all__ = ["TABLES", "to_tables"]

Row = dict[str, object]

_TIME: Final = "time"
_FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "runs": {
        "run_id": "text",
        "started_at": _TIME,
        "finished_at": _TIME,
        "seed": "int",
        "git_commit": "text",
        "example_count": "int",
        "passed_count": "int",
        "failed_count": "int",
        "pending_count": "int",
        "aborted_count": "int",
        "total_duration_ms": "int",
        "parent_run_id": "text",
        "tags": "text",
        "environment": "text",
    },
    "groups": {
        "run_id": "text",
        "group_id": "text",
        "parent_id": "text",
        "description": "text",
        "location": "text",
        "started_at": _TIME,
        "finished_at": _TIME,
    },
    "scenarios": {
        "run_id": "text",
        "scenario_id": "text",
        "name": "text",
        "goal": "text",
        "data": "text",
    },
    "examples": {
        "run_id": "text",
        "example_id": "text",
        "stable_id": "text",
        "scenario_id": "text",
        "group_id": "text",
        "file": "text",
        "description": "text",
        "status": "text",
        "started_at": _TIME,
        "finished_at": _TIME,
        "duration_ms": "int",
        "exception_class": "text",
        "exception_message": "text",
        "final_topic": "text",
        "turn_count": "int",
        "metadata": "text",
    },
    "turns": {
        "run_id": "text",
        "example_id": "text",
        "turn": "int",
        "topic": "text",
        "tool_call_count": "int",
        "is_answered": "bool",
    },
    "messages": {
        "run_id": "text",
        "example_id": "text",
        "turn": "int",
        "role": "text",
        "source": "text",
        "content": "text",
        "timestamp": _TIME,
        "model": "text",
        "input_tokens": "int",
        "output_tokens": "int",
        "latency_ms": "float",
        "metadata": "text",
    },
    "tool_calls": {
        "run_id": "text",
        "example_id": "text",
        "turn": "int",
        "position": "int",
        "name": "text",
        "arguments": "text",
        "result": "text",
        "error": "text",
        "timestamp": _TIME,
        "metadata": "text",
    },
    "evaluations": {
        "run_id": "text",
        "example_id": "text",
        "turn": "int",
        "name": "text",
        "mode": "text",
        "type": "text",
        "passed": "bool",
        "description": "text",
        "reasoning": "text",
        "failure_message": "text",
        "timestamp": _TIME,
        "metadata": "text",
    },
}

TABLES: Final = tuple(_FIELDS)
"""The names of the tables."""


def to_tables(*runs: RunData) -> dict[str, Any]:
    """Return runs as tables of Arrow: one of each kind, with the rows of all runs.

    Arguments, results, metadata, tags and environments are JSON texts, as in a run
    file; what is commonly asked for in an answer's ``tracing`` (model, tokens, latency)
    has columns of its own.

    Args:
        *runs: The runs.

    Raises:
        ModuleNotFoundError: If pyarrow is not installed.
        UnencodableValueError: If a value in a run has no wire form.
    """
    arrow = _arrow()
    rows: dict[str, list[Row]] = {name: [] for name in TABLES}
    for run in runs:
        for table, row in _rows(run):
            rows[table].append({"run_id": run.run_id, **row})
    return {
        name: arrow.Table.from_pylist(rows[name], schema=_schema(arrow, fields))
        for name, fields in _FIELDS.items()
    }


def _arrow() -> Any:
    with from_extra("arrow", "tables need pyarrow"):
        return import_module("pyarrow")


def _schema(arrow: Any, fields: Mapping[str, str]) -> Any:
    types = {
        "text": arrow.string(),
        "int": arrow.int64(),
        "float": arrow.float64(),
        "bool": arrow.bool_(),
        _TIME: arrow.timestamp("ms", tz="UTC"),
    }
    return arrow.schema([(name, types[kind]) for name, kind in fields.items()])


def _rows(run: RunData) -> Iterator[tuple[str, Row]]:
    yield "runs", _run(run)
    for group in run.groups.values():
        names = (name for name in _FIELDS["groups"] if hasattr(group, name))
        row = {name: getattr(group, name) for name in names}
        yield "groups", {"group_id": group.id, **row}
    for scenario in run.scenarios.values():
        yield (
            "scenarios",
            {
                "scenario_id": scenario.id,
                "name": scenario.name,
                "goal": scenario.goal,
                "data": _json(scenario.to_dict()["data"]),
            },
        )
    for example in run.examples.values():
        yield "examples", _example(example)
        for table, row in _inner(example):
            yield table, {"example_id": example.id, **row}


def _run(run: RunData) -> Row:
    summary = run.summary()
    counts = (name for name in _FIELDS["runs"] if hasattr(summary, name))
    environment = untyped_out(run.environment.to_dict(), "environment")
    return {
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "seed": run.seed,
        "git_commit": run.git_commit,
        "parent_run_id": run.parent_run_id,
        "tags": _json(list(run.tags)),
        "environment": _json(environment),
        **{name: getattr(summary, name) for name in counts},
    }


def _example(example: ExampleData) -> Row:
    failure, talk = example.exception, example.conversation
    return {
        "example_id": example.id,
        "stable_id": example.stable_id,
        "scenario_id": example.scenario_id,
        "group_id": _text(example.metadata.get("group")),
        "file": example.file,
        "description": example.description,
        "status": example.status,
        "started_at": example.started_at,
        "finished_at": example.finished_at,
        "duration_ms": example.duration_ms,
        "exception_class": failure.class_name if failure else None,
        "exception_message": failure.message if failure else None,
        "final_topic": talk.final_topic if talk else None,
        "turn_count": len(talk.turns) if talk else 0,
        "metadata": _json(example.to_dict()["metadata"]),
    }


def _inner(example: ExampleData) -> Iterator[tuple[str, Row]]:
    turns = example.conversation.turns if example.conversation else ()
    for turn in turns:
        yield (
            "turns",
            {
                "turn": turn.number,
                "topic": turn.topic,
                "tool_call_count": len(turn.tool_calls),
                "is_answered": turn.agent_response is not None,
            },
        )
        for table, row in _said(turn):
            yield table, {"turn": turn.number, **row}
    for verdict in example.evaluations:
        form = verdict.to_dict()
        turn_number = verdict.metadata.get("turn_number")
        yield (
            "evaluations",
            {
                **{name: form[name] for name in _FIELDS["evaluations"] if name in form},
                "turn": turn_number if type(turn_number) is int else None,
                "timestamp": verdict.timestamp,
                "metadata": _json(form["metadata"]),
            },
        )


def _said(turn: TurnData) -> Iterator[tuple[str, Row]]:
    for message in (turn.user_message, turn.agent_response):
        if message is not None:
            yield "messages", _message(message)
    for position, call in enumerate(turn.tool_calls):
        form = call.to_dict()
        yield (
            "tool_calls",
            {
                "position": position,
                "name": call.name,
                "arguments": _json(form["arguments"]),
                "result": _json(form["result"]),
                "error": call.error,
                "timestamp": call.timestamp,
                "metadata": _json(form["metadata"]),
            },
        )


def _message(message: MessageData) -> Row:
    dig = message.metadata.dig
    return {
        "role": message.role,
        "source": message.source,
        "content": message.content,
        "timestamp": message.timestamp,
        "model": _text(dig("tracing", "model")),
        "input_tokens": _whole(dig("tracing", "tokens", "input")),
        "output_tokens": _whole(dig("tracing", "tokens", "output")),
        "latency_ms": _number(dig("tracing", "latency_ms")),
        "metadata": _json(message.to_dict()["metadata"]),
    }


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _whole(value: object) -> int | None:
    return value if type(value) is int else None


def _number(value: object) -> float | None:
    return float(value) if type(value) in (int, float) else None  # type: ignore[arg-type]


def _json(form: object) -> str | None:
    """Return the JSON of a value that was brought into its documented form."""
    return None if form is None else json.dumps(form, ensure_ascii=False)
