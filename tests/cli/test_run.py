"""`graphcodec run` shows, compares and exports what agent tests recorded."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from graphcodec.runs import AgentResponse, EventFile, ExampleFailed, JsonFile
from tests.cli.running import facts, run, widest
from tests.runs.events import (
    answered,
    at,
    built,
    passed,
    said,
    started,
    topic,
    whole_run,
)


@pytest.fixture
def recorded(tmp_path: Path) -> str:
    """A file with a run."""
    path = tmp_path / "run.json"
    JsonFile.write(path, built(*whole_run()))
    return str(path)


def test_shows_the_figures_and_the_examples(recorded: str) -> None:
    """Within the width of the terminal."""
    shown = run("run", "show", recorded)

    assert shown.returncode == 0, shown.stderr
    assert "2 examples  1 passed  1 failed" in shown.stdout
    assert "seed 42" in shown.stdout
    assert "expected tea" in shown.stdout
    assert widest(shown.stdout) <= 80


def test_shows_what_was_said(recorded: str) -> None:
    """Of the examples whose id holds a text."""
    shown = run("run", "show", recorded, "--example", "e1").stdout

    for text in ("user  Hello", 'greet {"who": "you"} → "ok"', "agent  Hi!"):
        assert text in shown
    assert "✗ friendly  no smile" in shown
    assert "expected tea" not in shown


def test_shows_values_as_people_read_them(tmp_path: Path) -> None:
    """Bytes and tuples without marks of the wire; nothing that moves a cursor."""
    escape = "\x1b[31m"
    response = AgentResponse(
        example_id="e1",
        turn_number=1,
        text=f"l1{escape}",
        tool_calls=[
            {
                "name": f"t{escape}",
                "arguments": {"b": b"\xff", "at": at(1), "big": 2**60},
                "result": (1, {2: Decimal("1.5")}),
            }
        ],
    )
    failure = ExampleFailed(
        example_id="e1", message=escape, exception_class=f"E{escape}"
    )
    said_so = built(started(), topic(0, escape), said(1, escape), response, failure)
    JsonFile.write(tmp_path / "run.json", said_so)

    shown = run("run", "show", str(tmp_path / "run.json"), "--example", "e1").stdout

    assert "\x1b" not in shown
    text = " ".join(shown.split())
    assert '{"b": "<1 byte: ff>", "at": "2026-01-27T08:46:41.123000+00:00"' in text
    assert '"big": "1152921504606846976"} → [1, {"2": "1.5"}]' in text


def test_shows_only_some_statuses(recorded: str) -> None:
    """And says so if there are none."""
    assert "e1" not in run("run", "show", recorded, "--status", "failed").stdout
    shown = run("run", "show", recorded, "--status", "aborted").stdout
    assert "no such example" in shown


def test_shows_json(recorded: str) -> None:
    """With the summary."""
    found = facts("run", "show", recorded)

    assert found["summary"]["failed_count"] == 1
    assert list(found["examples"]) == ["e1", "e2"]


def test_reads_events(tmp_path: Path) -> None:
    """As a killed session leaves them."""
    path = tmp_path / "run.events"
    with EventFile(path) as file:
        for event in (started(), said(1)):
            file.write(event)

    shown = run("run", "show", str(path)).stdout

    assert "never finished" in shown
    assert "running" in shown


def test_writes_a_page(recorded: str, tmp_path: Path) -> None:
    """To a file or to the standard output."""
    done = run("run", "report", recorded, "-o", str(tmp_path / "r.html"))
    streamed = run("run", "report", recorded, "-o", "-")

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "r.html").read_text() == streamed.stdout
    assert streamed.stdout.startswith("<!doctype html>")


def test_names_what_changed(recorded: str, tmp_path: Path) -> None:
    """The example whose status changed, and the answer; exit code 1."""
    changed = tmp_path / "changed.json"
    events = [started(), said(1), answered(1, "Bye!"), passed()]
    run_data = JsonFile.read(recorded)
    new = built(*events, started("e2"), passed("e2"))
    JsonFile.write(changed, run_data.replace(examples=new.examples))

    shown = run("run", "diff", recorded, str(changed))
    found = run("run", "diff", recorded, str(changed), "--json")

    assert shown.returncode == found.returncode == 1
    assert "failed → passed  e2" in shown.stdout
    assert "$.examples.e1.conversation.turns[0].agent_response.content" in shown.stdout
    assert json.loads(found.stdout)["statuses"] == {"e2": ["failed", "passed"]}


def test_equal_runs_have_no_differences(recorded: str) -> None:
    """Exit code 0."""
    shown = run("run", "diff", recorded, recorded)

    assert (shown.returncode, shown.stdout) == (0, "no differences\n")


def test_merges(recorded: str, tmp_path: Path) -> None:
    """Into a file that can be read again."""
    out = tmp_path / "merged.json"
    done = run("run", "merge", recorded, recorded, "-o", str(out))

    assert done.returncode == 0, done.stderr
    assert list(JsonFile.read(out).examples) == ["e1", "e2", "e1#2", "e2#2"]


@pytest.mark.parametrize("form", ["parquet", "csv", "arrow"])
def test_exports_tables(recorded: str, tmp_path: Path, form: str) -> None:
    """A file for each kind of row."""
    out = tmp_path / "tables"
    done = run("run", "export", recorded, "-o", str(out), "--format", form)

    assert done.returncode == 0, done.stderr
    assert "2 examples" in done.stdout
    assert len(list(out.glob(f"*.{form}"))) == 7


@pytest.mark.parametrize("command", ["show", "report", "merge", "export"])
def test_what_is_no_run_is_told(tmp_path: Path, command: str) -> None:
    """Exit code 1, the name of the file, no traceback."""
    path = tmp_path / "run.json"
    path.write_text("{}")
    more = [] if command == "show" else ["-o", str(tmp_path / "out")]

    done = run("run", command, str(path), *more)

    assert done.returncode == 1
    assert "run.json: RunData.run_id is missing" in done.stderr
    assert "Traceback" not in done.stderr


def test_missing_file_is_a_wrong_call() -> None:
    """Exit code 2."""
    assert run("run", "show", "nowhere.json").returncode == 2
