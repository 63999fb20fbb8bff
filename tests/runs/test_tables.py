from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from typing import Any

import pytest

from graphcodec.runs import TABLES, GroupStarted, RunData, to_tables
from tests.runs.events import at, built, said, started, whole_run

pytest.importorskip("pyarrow", reason="graphcodec[arrow] is not installed")


def rows(run: RunData, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table."""
    found: Any = to_tables(run)[table]
    return list(found.to_pylist())


def test_every_kind_of_row_has_a_table() -> None:
    """Also if there are none."""
    tables: dict[str, Any] = to_tables(built(*whole_run()))
    empty: dict[str, Any] = to_tables()

    assert tuple(tables) == TABLES
    counts = {name: tables[name].num_rows for name in TABLES}
    assert counts == {
        "runs": 1,
        "groups": 0,
        "scenarios": 1,
        "examples": 2,
        "turns": 1,
        "messages": 2,
        "tool_calls": 1,
        "evaluations": 1,
    }
    for name in TABLES:
        assert empty[name].schema == tables[name].schema
        assert empty[name].num_rows == 0


def test_rows_say_what_the_run_says() -> None:
    """Each of its parts."""
    run = built(*whole_run())

    (message,) = [row for row in rows(run, "messages") if row["role"] == "agent"]
    assert (message["model"], message["input_tokens"], message["output_tokens"]) == (
        "m",
        1,
        2,
    )
    assert message["timestamp"] == at(3)
    (call,) = rows(run, "tool_calls")
    assert (call["name"], json.loads(call["arguments"])) == ("greet", {"who": "you"})
    assert json.loads(call["result"]) == "ok"
    (verdict,) = rows(run, "evaluations")
    assert (verdict["name"], verdict["passed"], verdict["turn"]) == (
        "friendly",
        False,
        1,
    )
    failed = rows(run, "examples")[1]
    assert (failed["exception_class"], failed["status"]) == ("ValueError", "failed")
    (whole,) = rows(run, "runs")
    assert (whole["failed_count"], whole["total_duration_ms"]) == (1, 750)


def test_odd_tracing_is_left_to_the_metadata() -> None:
    """A text for a number, no map at all."""
    odd = {"tracing": {"model": 7, "tokens": {"input": "many"}, "latency_ms": True}}
    run = built(started(), said(1).replace(metadata=odd))

    (message,) = rows(run, "messages")
    assert (message["model"], message["input_tokens"], message["latency_ms"]) == (
        None,
        None,
        None,
    )
    assert json.loads(message["metadata"]) == odd


def test_duckdb_asks_the_tables() -> None:
    """The slowest tools, the tokens of each model."""
    duckdb = import_module("duckdb")
    tables = to_tables(built(*whole_run()), built(*whole_run()).replace(run_id="r2"))
    with duckdb.connect() as database:
        for name, table in tables.items():
            database.register(name, table)
        found = database.execute(
            "select model, sum(input_tokens + output_tokens), count(distinct run_id)"
            " from messages where model is not null group by model"
        ).fetchall()
        failing = database.execute(
            "select description from examples where status = 'failed' group by all"
        ).fetchall()

    assert found == [("m", 6, 2)]
    assert failing == [("e2",)]


def test_missing_package_is_named() -> None:
    """With the command that installs it."""
    code = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from graphcodec.runs import to_tables\n"
        "to_tables()"
    )
    done = subprocess.run(  # noqa: S603 - our own text
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )

    assert "tables need pyarrow: pip install 'graphcodec[arrow]'" in done.stderr


def test_groups_are_rows() -> None:
    """And the examples say in which they stand."""
    group = GroupStarted(
        description="TestTea", file_path="a.py", line_number=3, group_id="g", time=at(0)
    )
    run = built(group, started(group_id="g"))

    (row,) = rows(run, "groups")
    (example,) = rows(run, "examples")
    assert (row["group_id"], row["location"], row["parent_id"]) == ("g", "a.py:3", None)
    assert (row["started_at"], row["finished_at"]) == (at(0), None)
    assert example["group_id"] == "g"


def test_runs_say_where_they_come_from() -> None:
    """Tags and environments as JSON."""
    run = built().replace(
        parent_run_id="r0", tags=("a", "b"), environment={"packages": {"p": "1"}}
    )

    (row,) = rows(run, "runs")
    assert row["parent_run_id"] == "r0"
    assert json.loads(row["tags"]) == ["a", "b"]
    assert json.loads(row["environment"]) == {"packages": {"p": "1"}}
