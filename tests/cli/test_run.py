"""`graphcodec run` shows, compares and exports what agent tests recorded."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from graphcodec.runs import (
    AgentResponse,
    EventFile,
    ExampleFailed,
    GroupStarted,
    JsonFile,
    RunData,
    SuiteStarted,
)
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
    assert len(list(out.glob(f"*.{form}"))) == 8


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


def elsewhere(run_data: RunData) -> RunData:
    """Return a run with all that there is to say of where it comes from."""
    return run_data.replace(
        parent_run_id="run-0",
        tags=("nightly", "gpu"),
        environment={"python": "3.12.1", "packages": {"openai": "1.0", "none": None}},
    )


def test_shows_where_a_run_comes_from(recorded: str, tmp_path: Path) -> None:
    """The run it is a part of, tags, environment."""
    path = tmp_path / "named.json"
    JsonFile.write(path, elsewhere(JsonFile.read(recorded)))

    shown = run("run", "show", str(path)).stdout

    assert "part of run-0  tags nightly, gpu" in shown
    assert "python 3.12.1, openai 1.0, none none" in shown


def test_tells_where_environments_differ(recorded: str, tmp_path: Path) -> None:
    """In a line, which is no difference of the runs."""
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    named = elsewhere(JsonFile.read(recorded))
    JsonFile.write(one, named)
    newer = {"python": "3.13.0", "packages": {"openai": "1.0", "none": "2"}}
    JsonFile.write(two, named.replace(environment=newer))

    shown = run("run", "diff", str(one), str(two))
    found = facts("run", "diff", str(one), str(two), "--json")

    assert shown.returncode == 0
    assert shown.stdout.splitlines() == [
        "environment: python 3.12.1 → 3.13.0, none none → 2",
        "no differences",
    ]
    assert found["environment"] == {
        "python": ["3.12.1", "3.13.0"],
        "packages.none": [None, "2"],
    }


def test_shows_groups(tmp_path: Path) -> None:
    """Each with its examples and what became of them; empty ones are left out."""
    groups = [
        GroupStarted(description=name, group_id=name, time=at(0))
        for name in ("test_a.py", "test_b.py", "test_c.py")
    ]
    path = tmp_path / "run.json"
    examples = [
        *(started("e1", group_id="test_a.py"), passed("e1")),
        *(started("e2", group_id="test_a.py"), ExampleFailed(example_id="e2")),
        *(started("e3", group_id="test_b.py"), passed("e3")),
    ]
    JsonFile.write(path, built(*groups, *examples))

    shown = run("run", "show", str(path), "--groups").stdout

    rows = [line.split() for line in shown.splitlines() if "test_" in line]
    assert rows == [
        ["test_a.py", "2", "1", "1", "500", "ms"],
        ["test_b.py", "1", "1", "0", "500", "ms"],
    ]


def test_killed_run_says_how_many_were_planned(tmp_path: Path) -> None:
    """Beside that it never finished."""
    path = tmp_path / "run.events"
    with EventFile(path) as file:
        for event in (SuiteStarted(example_count=300, time=at(0)), started()):
            file.write(event)

    shown = run("run", "show", str(path)).stdout

    assert "never finished, 300 examples were planned" in shown


def test_reads_past_damaged_lines(tmp_path: Path) -> None:
    """And says which they are."""
    path = tmp_path / "run.jsonl"
    with EventFile(path) as file:
        file.write(started())
    with path.open("ab") as stream:
        stream.write(b"no event\n")

    shown = run("run", "show", str(path))

    assert shown.returncode == 0
    assert "odd: run.jsonl: line 2 is no event: " in shown.stdout


@pytest.mark.parametrize("suffix", ["gz", "zst"])
def test_compressed_runs_are_runs(recorded: str, tmp_path: Path, suffix: str) -> None:
    """For every command, and as what is written."""
    packed, events = tmp_path / f"r.json.{suffix}", tmp_path / f"r.events.{suffix}"
    out, page = tmp_path / f"merged.json.{suffix}", tmp_path / "r.html"
    run_data = JsonFile.read(recorded)
    JsonFile.write(packed, run_data)
    with EventFile(events) as file:
        for event in whole_run():
            file.write(event)

    merged = run("run", "merge", str(packed), str(events), "-o", str(out))

    assert merged.returncode == 0, merged.stderr
    assert out.read_bytes()[:1] in (b"\x1f", b"\x28")
    assert len(JsonFile.read(out).examples) == 4
    assert "2 examples" in run("run", "show", str(events)).stdout
    assert run("run", "diff", str(packed), recorded).returncode == 0
    assert run("run", "report", str(packed), "-o", str(page)).returncode == 0
    assert page.read_text().startswith("<!doctype html>")
    tables = run("run", "export", str(packed), "-o", str(tmp_path / "tables"))
    assert "2 examples" in tables.stdout


@pytest.mark.parametrize("command", ["inspect", "validate"])
def test_other_commands_say_which_reads_runs(recorded: str, command: str) -> None:
    """A run is no document."""
    shown = run(command, recorded)

    words = " ".join((shown.stdout + shown.stderr).split())
    assert shown.returncode == 1
    assert "this is a run of agent tests, and no graphcodec document" in words
    assert "graphcodec run show reads it" in words
