from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from graphcodec.errors import UndecodableValueError
from graphcodec.runs import (
    Event,
    EventBus,
    EventFile,
    JsonFile,
    RunData,
    RunDataBuilder,
    SuiteStopped,
)
from graphcodec.testing import same_graph
from tests.runs.events import at, built, said, started, whole_run

WRITER = """
import sys
from graphcodec.runs import EventFile
from tests.runs.events import said, started
with EventFile(sys.argv[1]) as file:
    file.write(started())
    for number in range(1, 100_000):
        file.write(said(number))
        print(number, flush=True)
"""


# A whole run


def test_run_comes_back(tmp_path: Path) -> None:
    """Equal; folders are made."""
    path = tmp_path / "deep" / "folder" / "run.json"
    run = built(*whole_run())

    JsonFile.write(path, run)

    assert JsonFile.read(path) == run
    assert [file.name for file in path.parent.iterdir()] == ["run.json"]


def test_run_with_values_that_json_lacks_comes_back(tmp_path: Path) -> None:
    """Not-a-number, bytes, times and lone surrogates in metadata."""
    odd = {"nan": float("nan"), "bytes": b"\xff", "time": at(1), "text": "\ud800"}
    run = built(started(), said(1, "\ud800").replace(metadata=odd))

    JsonFile.write(tmp_path / "run.json", run)

    assert same_graph(JsonFile.read(tmp_path / "run.json"), run)


def test_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    """And nothing beside it."""
    path = tmp_path / "run.json"
    JsonFile.write(path, built(*whole_run()))
    before = path.read_bytes()
    path.chmod(0o600)

    class Broken(RunData):
        def to_dict(self) -> dict[str, object]:
            return {"x": object()}

    with pytest.raises(TypeError, match="not JSON serializable"):
        JsonFile.write(path, Broken(run_id="r"))

    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"1", b"[" * 100_000, b"\xff"])
def test_file_without_a_run_is_refused(tmp_path: Path, content: bytes) -> None:
    """With the name of the file."""
    path = tmp_path / "run.json"
    path.write_bytes(content)

    with pytest.raises(UndecodableValueError, match=r"run\.json (is no JSON|holds no)"):
        JsonFile.read(path)


# Events as they come


def test_events_come_back_in_order(tmp_path: Path) -> None:
    """From a bus."""
    bus = EventBus()
    with EventFile(tmp_path / "deep" / "run.events", bus=bus):
        for event in whole_run():
            bus.publish(event)
    bus.publish(said(9))

    assert list(EventFile.read(tmp_path / "deep" / "run.events")) == whole_run()


def test_run_is_rebuilt(tmp_path: Path) -> None:
    """As whoever listened to the bus saw it."""
    bus = EventBus()
    builder = RunDataBuilder(bus, run_id="r")
    with EventFile(tmp_path / "run.events", bus=bus, fsync=True):
        for event in whole_run():
            bus.publish(event)

    rebuilt = EventFile.rebuild(tmp_path / "run.events")

    assert rebuilt.replace(run_id="r") == builder.snapshot()


def test_cut_line_costs_nothing_else(tmp_path: Path) -> None:
    """Cut at every byte of the last line."""
    path = tmp_path / "run.events"
    with EventFile(path) as file:
        file.write(started())
        file.write(said(1))
    whole = path.read_bytes()
    begin = whole.index(b"\n") + 1
    for end in range(begin, len(whole)):
        path.write_bytes(whole[:end])
        assert list(EventFile.read(path)) == [started()]


def test_file_goes_on_after_a_cut_line(tmp_path: Path) -> None:
    """Cut at every byte of a line."""
    path = tmp_path / "run.events"
    with EventFile(path) as file:
        file.write(started())
        file.write(said(1))
    whole = path.read_bytes()
    begin = whole.index(b"\n") + 1
    for end in range(begin + 1, len(whole) - 1):
        path.write_bytes(whole[:end])
        with EventFile(path) as file:
            file.write(said(2))
        assert list(EventFile.read(path)) == [started(), said(2)]


def test_damage_within_a_file_is_told(tmp_path: Path) -> None:
    """Which line, and what it holds."""
    path = tmp_path / "run.events"
    path.write_bytes(b'{"graphcodec":1,"root":7}\n')
    with pytest.raises(UndecodableValueError, match="line 1 holds a int, which is no"):
        list(EventFile.read(path))

    path.write_bytes(b'\n{"graphcodec":1,"root":{"$type":"Nothing"}}\n')
    with pytest.raises(UndecodableValueError, match="line 2 is no event: "):
        list(EventFile.read(path))


def test_event_that_can_not_be_written_whole_is_written(tmp_path: Path) -> None:
    """With a text in place of the part."""
    with EventFile(tmp_path / "run.events") as file:
        file.write(said(1).replace(metadata={"f": print, "n": 1}))

    (event,) = EventFile.read(tmp_path / "run.events")
    assert event.metadata["n"] == 1  # type: ignore[attr-defined]
    assert "native function" in event.metadata["f"]  # type: ignore[attr-defined]


def test_killed_writer_leaves_all_that_it_had_written(tmp_path: Path) -> None:
    """A real process, killed while it writes."""
    path = tmp_path / "run.events"
    root = Path(__file__).parents[2]
    with subprocess.Popen(  # noqa: S603 - our own text
        [sys.executable, "-c", WRITER, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *sys.path])},
    ) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if int(line) == 100:
                writer.send_signal(signal.SIGKILL)
                break
        told = [100, *map(int, writer.stdout.read().split())][-1]

    events: list[Event] = list(EventFile.read(path))
    run = EventFile.rebuild(path)
    assert len(events) >= told + 1
    assert len(run.examples["e1"].conversation.turns) == len(events) - 1  # type: ignore[union-attr]
    assert run.examples["e1"].status == "running"
    assert run.finished_at is None
    assert events[0] == started()


def test_lines_are_documents(tmp_path: Path) -> None:
    """Which any reader of JSON can take apart."""
    with EventFile(tmp_path / "run.events") as file:
        file.write(SuiteStopped(time=at(1)))

    assert json.loads((tmp_path / "run.events").read_text()) == {
        "graphcodec": 1,
        "root": {
            "$type": "run:SuiteStopped",
            "time": "2026-01-27T08:46:41.123000+00:00",
        },
    }
