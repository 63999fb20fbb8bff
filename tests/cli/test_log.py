"""``graphcodec log``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphcodec.log import (
    Document,
    Retracted,
    SessionLog,
    SessionRecord,
    SqliteDocumentStore,
    from_record_batch,
    read_parquet,
    to_json,
)
from tests.cli.running import run, widest
from tests.log.records import assistant, called, one_of_each, result, summary, user


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A log with two sessions."""
    name = str(tmp_path / "log.db")
    with SqliteDocumentStore(name) as store:
        with SessionLog(store, "first") as session:
            for record in one_of_each():
                session.append(record)
        with SessionLog(store, "second") as session:
            session.append(user("what is it?"))
            for part in ("hm", "it is a log"):
                session.append(assistant(part))
            session.append(summary())
    return name


def test_ls(path: str) -> None:
    """Sessions are listed with their sizes."""
    done = run("log", "ls", path)

    assert done.returncode == 0, done.stderr
    assert "second" in done.stdout
    assert "2 sessions" in done.stdout
    assert widest(done.stdout) <= 80
    found = json.loads(run("log", "ls", path, "--json").stdout)
    assert [(s["session"], s["records"]) for s in found] == [
        ("first", 11),
        ("second", 4),
    ]


def test_show(path: str) -> None:
    """Records are shown with their place, time, role and text."""
    done = run("log", "show", path, "first")

    assert done.returncode == 0, done.stderr
    assert 'read {"path": "a.txt"}' in done.stdout
    assert "1 fact(s) · likes dark mode" in done.stdout
    assert "11 records" in done.stdout
    assert widest(done.stdout) <= 80


def test_show_last(path: str) -> None:
    """The last records come in their order, as JSON lines if wanted."""
    lines = run(
        "log", "show", path, "second", "--last", "2", "--json"
    ).stdout.splitlines()
    found = [json.loads(line) for line in lines]

    assert [entry["seq"] for entry in found] == [14, 15]
    assert found[1]["record"] == json.loads(to_json(summary()))


def test_show_effective(tmp_path: Path) -> None:
    """What was retracted is left out if wanted."""
    name = str(tmp_path / "log.db")
    with SqliteDocumentStore(name) as store, SessionLog(store, "s") as session:
        for record in (
            user("q"),
            assistant("bad"),
            Retracted(reason="r"),
            assistant("good"),
        ):
            session.append(record)
    done = run("log", "show", name, "s", "--effective")

    assert "good" in done.stdout
    assert "bad" not in done.stdout
    assert "2 records" in done.stdout


def test_tail(path: str) -> None:
    """A session is followed from a place, until nothing comes any more."""
    done = run("log", "tail", path, "second", "--since", "13", "--timeout", "0")

    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["14", "15"]
    as_json = run(
        "log", "tail", path, "second", "--since", "14", "--timeout", "0", "--json"
    )
    assert json.loads(as_json.stdout)["seq"] == 15


def test_stats(path: str) -> None:
    """The tokens of a turn are counted once."""
    (found,) = json.loads(run("log", "stats", path, "second", "--json").stdout)

    assert (found["turns"], found["input_tokens"], found["output_tokens"]) == (1, 12, 5)
    assert found["kinds"] == {"conversation": 3, "summary": 1}
    done = run("log", "stats", path)
    assert done.returncode == 0, done.stderr
    assert "second" in done.stdout


def test_export_and_import_lines(path: str, tmp_path: Path) -> None:
    """Records go out as lines and come in again, once."""
    lines, other = str(tmp_path / "out.jsonl"), str(tmp_path / "other.db")
    assert run("log", "export", path, lines, "--session", "first").returncode == 0
    assert Path(lines).read_text().splitlines() == list(map(to_json, records_of(path)))
    done = run("log", "import", other, "copy", lines)
    again = run("log", "import", other, "copy", lines)

    assert done.stdout == "11 records, 11 of them new\n"
    assert again.stdout == "11 records, 0 of them new\n"
    assert records_of(other, "copy") == records_of(path)
    assert run("log", "export", other, "-").stdout == Path(lines).read_text()


def records_of(path: str, session: str = "first") -> list[SessionRecord]:
    """Return the records of a session."""
    with SqliteDocumentStore(path) as store, SessionLog(store, session) as opened:
        return opened.all()


def test_export_parquet(path: str, tmp_path: Path) -> None:
    """Records go out as Parquet files too."""
    folder = str(tmp_path / "out")
    done = run("log", "export", path, folder)

    assert done.stdout == "15 records in 2 files\n", done.stderr
    found = [r for batch in read_parquet(folder) for r in from_record_batch(batch)]
    assert found == records_of(path) + records_of(path, "second")


def test_verify(path: str) -> None:
    """A log without faults is told so, with what is odd in it."""
    done = run("log", "verify", path)

    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "15 records, 0 broken, 1 of unknown kinds, 0 tool results without a call\n"
    )


def test_verify_finds_what_is_broken(path: str) -> None:
    """A document that is no record is found, with its place, and the exit code is 1."""
    with SqliteDocumentStore(path) as store:
        content = '{"message_type":"summary","message_count":1}'
        store.append("second", [Document(id="bad", content=content)])
        with SessionLog(store, "third") as session:
            session.append(called("t1"))
            session.append(result("t2"))
    done = run("log", "verify", path)

    assert done.returncode == 1
    assert (
        "second at 16: json serialization: the field 'usage' is missing (at $)"
        in done.stdout
    )
    assert "1 broken, 1 of unknown kinds, 1 tool result without a call" in done.stdout
    reports = json.loads(run("log", "verify", path, "--json").stdout)
    assert list(reports[1]["broken"]) == ["16"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["ls", "none.db"], "there is no such file"),
        (["show", "LOG", "nobody"], "the log has no session 'nobody'"),
        (["export", "LOG", "-", "--session", "x"], "the log has no session 'x'"),
        (["stats", "LOG", "nobody"], "the log has no session 'nobody'"),
    ],
)
def test_mistakes_are_told(path: str, args: list[str], message: str) -> None:
    """A user's mistake is told in a line, without a traceback."""
    done = run("log", *(path if arg == "LOG" else arg for arg in args))

    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_bad_line_is_named(path: str, tmp_path: Path) -> None:
    """A line that is no record is told with its number; nothing of it is imported."""
    (tmp_path / "in.jsonl").write_text(f"{to_json(summary())}\n\n{{\n")
    done = run("log", "import", path, "new", str(tmp_path / "in.jsonl"))

    assert done.returncode == 1
    assert "line 3: json serialization" in done.stderr
    assert [
        s["session"] for s in json.loads(run("log", "ls", path, "--json").stdout)
    ] == [
        "first",
        "second",
    ]


def test_help_names_the_commands() -> None:
    """The help lists what there is."""
    text = run("log", "--help").stdout

    assert [
        name
        for name in ("ls", "show", "tail", "stats", "export", "import", "verify")
        if name not in text
    ] == []
