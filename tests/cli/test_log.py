"""``graphcodec log``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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
from tests.cli.calling import call
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
    done = call("log", "ls", path)

    assert done.code == 0, done.err
    assert "second" in done.text
    assert "2 sessions" in done.text
    assert widest(done.text) <= 80
    found = call("log", "ls", path, "--json").json
    assert [(s["session"], s["records"]) for s in found] == [
        ("first", 11),
        ("second", 4),
    ]


def test_show(path: str) -> None:
    """Records are shown with their place, time, role and text."""
    done = call("log", "show", path, "first")

    assert done.code == 0, done.err
    assert 'read {"path": "a.txt"}' in done.text
    assert "1 fact(s) · likes dark mode" in done.text
    assert "11 records" in done.text
    assert widest(done.text) <= 80


def test_show_last(path: str) -> None:
    """The last records come in their order, as JSON lines if wanted."""
    lines = call(
        "log", "show", path, "second", "--last", "2", "--json"
    ).text.splitlines()
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
    done = call("log", "show", name, "s", "--effective")

    assert "good" in done.text
    assert "bad" not in done.text
    assert "2 records" in done.text


def test_tail(path: str) -> None:
    """A session is followed from a place, until nothing comes any more."""
    done = call("log", "tail", path, "second", "--since", "13", "--timeout", "0")

    assert done.code == 0, done.err
    assert [line.split()[0] for line in done.text.splitlines()] == ["14", "15"]
    as_json = call(
        "log", "tail", path, "second", "--since", "14", "--timeout", "0", "--json"
    )
    assert json.loads(as_json.text)["seq"] == 15


def test_stats(path: str) -> None:
    """The tokens of a turn are counted once."""
    (found,) = call("log", "stats", path, "second", "--json").json

    assert (found["turns"], found["input_tokens"], found["output_tokens"]) == (1, 12, 5)
    assert found["kinds"] == {"conversation": 3, "summary": 1}
    done = call("log", "stats", path)
    assert done.code == 0, done.err
    assert "second" in done.text


def test_export_and_import_lines(path: str, tmp_path: Path) -> None:
    """Records go out as lines and come in again, once."""
    lines, other = str(tmp_path / "out.jsonl"), str(tmp_path / "other.db")
    assert call("log", "export", path, lines, "--session", "first").code == 0
    assert Path(lines).read_text().splitlines() == list(map(to_json, records_of(path)))
    done = call("log", "import", other, "copy", lines)
    again = call("log", "import", other, "copy", lines)

    assert done.text == "11 records, 11 of them new\n"
    assert again.text == "11 records, 0 of them new\n"
    assert records_of(other, "copy") == records_of(path)
    assert call("log", "export", other, "-").text == Path(lines).read_text()


def records_of(path: str, session: str = "first") -> list[SessionRecord]:
    """Return the records of a session."""
    with SqliteDocumentStore(path) as store, SessionLog(store, session) as opened:
        return opened.all()


def test_export_parquet(path: str, tmp_path: Path) -> None:
    """Records go out as Parquet files too."""
    folder = str(tmp_path / "out")
    done = call("log", "export", path, folder)

    assert done.text == "15 records in 2 files\n", done.err
    found = [r for batch in read_parquet(folder) for r in from_record_batch(batch)]
    assert found == records_of(path) + records_of(path, "second")


@pytest.mark.parametrize("parts", [("session",), ("date", "session")])
def test_export_parquet_with_dask(
    path: str, tmp_path: Path, dask_client: Any, parts: tuple[str, ...]
) -> None:
    """A cluster writes the same files with the same records, and tells the same."""
    here, there = tmp_path / "here", tmp_path / "there"
    words = [word for part in parts for word in ("--partition-by", part)]
    address = dask_client.scheduler.address

    one = call("log", "export", path, here, *words)
    other = call("log", "export", path, there, *words, "--dask", address)

    assert (one.text, one.code) == (other.text, other.code)
    names = sorted(str(file.relative_to(here)) for file in here.rglob("*.parquet"))
    assert names == sorted(
        str(file.relative_to(there)) for file in there.rglob("*.parquet")
    )
    for name in names:
        first, second = (
            [r for batch in read_parquet(f / name) for r in from_record_batch(batch)]
            for f in (here, there)
        )
        assert first == second
    full = call("log", "export", path, there, *words, "--dask", address)
    assert (full.code, "holds Parquet files already" in full.err) == (1, True)


def test_export_lines_with_dask(path: str, tmp_path: Path, dask_client: Any) -> None:
    """A cluster writes the same lines in the same order, and leaves nothing else."""
    lines, address = tmp_path / "a.jsonl", dask_client.scheduler.address
    order = ["--session", "second", "--session", "first"]

    done = call("log", "export", path, lines, *order, "--dask", address)

    assert (done.code, done.out, done.err) == (0, b"", "")
    plain = call("log", "export", path, "-", *order).out
    assert lines.read_bytes() == plain
    assert call("log", "export", path, "-", *order, "--dask", address).out == plain
    assert {file.name for file in tmp_path.iterdir()} <= {
        "a.jsonl",
        *(f"log.db{end}" for end in ("", "-shm", "-wal")),
    }


def test_failed_export_with_dask(path: str, tmp_path: Path, dask_client: Any) -> None:
    """A record that can't be read ends the export as it does without, all undone."""
    with SqliteDocumentStore(path) as store:
        content = '{"message_type":"summary","message_count":1}'
        store.append("second", [Document(id="bad", content=content)])
    there, address = tmp_path / "there", dask_client.scheduler.address

    plain = call("log", "export", path, tmp_path / "here")
    done = call("log", "export", path, there, "--dask", address)
    lines = call("log", "export", path, tmp_path / "a.jsonl", "--dask", address)

    assert (done.code, lines.code) == (1, 1)
    assert done.err == lines.err == plain.err
    assert not list(there.rglob("*.parquet"))
    assert not (tmp_path / "a.jsonl").exists()
    dates = call("log", "export", path, there, "--partition-by", "date", "--dask", "x")
    assert (dates.code, "one folder for each session" in dates.err) == (1, True)


def test_verify(path: str) -> None:
    """A log without faults is told so, with what is odd in it."""
    done = call("log", "verify", path)

    assert done.code == 0, done.err
    assert done.text == (
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
    done = call("log", "verify", path)

    assert done.code == 1
    assert (
        "second at 16: json serialization: the field 'usage' is missing (at $)"
        in done.text
    )
    assert "1 broken, 1 of unknown kinds, 1 tool result without a call" in done.text
    reports = call("log", "verify", path, "--json").json
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
    done = call("log", *(path if arg == "LOG" else arg for arg in args))

    assert done.code == 1
    assert message in done.err


def test_bad_line_is_named(path: str, tmp_path: Path) -> None:
    """A line that is no record is told with its number; nothing of it is imported."""
    (tmp_path / "in.jsonl").write_text(f"{to_json(summary())}\n\n{{\n")
    done = call("log", "import", path, "new", str(tmp_path / "in.jsonl"))

    assert done.code == 1
    assert "line 3: json serialization" in done.err
    assert [s["session"] for s in call("log", "ls", path, "--json").json] == [
        "first",
        "second",
    ]


def test_help_names_the_commands() -> None:
    """The help of the program that is installed lists what there is."""
    text = run("log", "--help").stdout

    assert [
        name
        for name in ("ls", "show", "tail", "stats", "export", "import", "verify")
        if name not in text
    ] == []
