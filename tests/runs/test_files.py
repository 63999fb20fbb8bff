from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from graphcodec import Codec, encodable
from graphcodec.errors import UndecodableValueError, VersionError
from graphcodec.runs import (
    Event,
    EventBus,
    EventFile,
    JsonFile,
    RunData,
    RunDataBuilder,
    SuiteStopped,
    UnknownEvent,
    UserMessage,
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


SOME = """
import sys
from graphcodec.runs import EventFile
from tests.runs.events import said
path, name = sys.argv[1:]
with EventFile(path) as file:
    for number in range(1, 101):
        file.write(said(number, name * 5000, name))
"""

OVERWRITER = """
import sys
from graphcodec.runs import JsonFile
from tests.runs.events import built, whole_run
for number in range(100_000):
    JsonFile.write(sys.argv[1], built(*whole_run()).replace(run_id=f"run-{number}"))
    print(number, flush=True)
"""

FILLER = """
import errno, resource, sys
from pathlib import Path
from typing import Any
from graphcodec.runs import EventFile, JsonFile, RunData
from tests.runs.events import built, said, started, whole_run

def refused(write, *args):
    try:
        write(*args)
    except OSError as exc:
        print(errno.errorcode[exc.errno])

folder = Path(sys.argv[1])
JsonFile.write(folder / "run.json", RunData(run_id="small"))
file = EventFile(folder / "run.events")
file.write(started())
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
refused(file.write, said(1, "x" * 5000))
refused(JsonFile.write, folder / "run.json", built(*whole_run()))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
file.write(said(2))
"""


def started_python(text: str, *args: str) -> subprocess.Popen[str]:
    """Start a program that imports what this one does."""
    root = Path(__file__).parents[2]
    return subprocess.Popen(  # noqa: S603 - our own text
        [sys.executable, "-c", text, *args],
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *sys.path])},
    )


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


def test_killed_writer_leaves_a_whole_file(tmp_path: Path) -> None:
    """The old one or the new one."""
    path = tmp_path / "run.json"
    with started_python(OVERWRITER, str(path)) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if int(line) == 5:
                break
        writer.send_signal(signal.SIGKILL)

    assert JsonFile.read(path).run_id in {"run-4", "run-5", "run-6"}


def test_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    """And nothing beside it; events from before and after it can be read."""
    with started_python(FILLER, str(tmp_path)) as filler:
        out, _ = filler.communicate(timeout=60)

    assert out.split() == ["EFBIG", "EFBIG"]
    assert JsonFile.read(tmp_path / "run.json").run_id == "small"
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "run.events",
        "run.json",
    ]
    assert list(EventFile.read(tmp_path / "run.events")) == [started(), said(2)]


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
    """Cut here and there in a line, also within a character."""
    path = tmp_path / "run.events"
    with EventFile(path) as file:
        file.write(started())
        file.write(said(1, "äöüß" * 3))
    whole = path.read_bytes()
    begin = whole.index(b"\n") + 1
    for end in range(begin + 1, len(whole) - 1, 7):
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


@encodable("shop.Article")
@frozen
class Article:
    """A class that only a codec of one's own knows."""

    name: str


def test_values_of_classes_of_ones_own(tmp_path: Path) -> None:
    """With a codec that knows them they come back; without one, a text is there."""
    event = said(1).replace(metadata={"article": Article("tea")})
    codec = Codec(types=[Article])
    with EventFile(tmp_path / "known", codec=codec) as file:
        file.write(event)
    with EventFile(tmp_path / "unknown") as file:
        file.write(event)

    assert list(EventFile.read(tmp_path / "known", codec=codec)) == [event]
    (other,) = EventFile.read(tmp_path / "unknown")
    assert isinstance(other, UserMessage)
    assert "not recorded" in str(other.metadata["article"])


def test_several_processes_write_one_file(tmp_path: Path) -> None:
    """Their lines don't mix."""
    path = tmp_path / "run.events"
    writers = [started_python(SOME, str(path), name) for name in ("a", "b")]
    for writer in writers:
        with writer:
            writer.communicate(timeout=60)

    events = list(EventFile.read(path))
    assert len(events) == 200
    for name in ("a", "b"):
        expected = [said(number, name * 5000, name) for number in range(1, 101)]
        assert [event for event in events if event in expected] == expected


def test_killed_writer_leaves_all_that_it_had_written(tmp_path: Path) -> None:
    """A real process, killed while it writes."""
    path = tmp_path / "run.events"
    with started_python(WRITER, str(path)) as writer:
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


def test_a_document_is_no_run(tmp_path: Path) -> None:
    """The error says which command shows it."""
    (tmp_path / "chat.json").write_bytes(Codec().encode({"a": 1}))

    with pytest.raises(UndecodableValueError, match=r"no run.*; graphcodec inspect"):
        JsonFile.read(tmp_path / "chat.json")


# What other versions write


def test_file_says_its_version(tmp_path: Path) -> None:
    """After the documented keys; a file without one is of the first."""
    path = tmp_path / "run.json"
    run = built(*whole_run())
    JsonFile.write(path, run)
    form = json.loads(path.read_text())

    assert list(form) == [*run.to_dict(), "schema_version"]
    assert form.pop("schema_version") == 1
    path.write_text(json.dumps(form))
    assert JsonFile.read(path) == run


@pytest.mark.parametrize("version", [0, "1", None, True, 1.0])
def test_version_that_is_none_is_refused(version: object) -> None:
    """With its place."""
    with pytest.raises(UndecodableValueError, match="a number from 1, not") as caught:
        RunData.from_dict({"run_id": "r", "schema_version": version})

    assert caught.value.path == "$.schema_version"


def test_later_version_is_refused_in_words(tmp_path: Path) -> None:
    """It may mean something else by the same names."""
    path = tmp_path / "run.json"
    path.write_text('{"run_id": "r", "schema_version": 2}')

    with pytest.raises(VersionError, match=r"schema version 2; 1 can be read") as got:
        JsonFile.read(path)

    assert (got.value.hint, got.value.value) == ("update graphcodec", 2)


def test_fields_of_a_later_version_are_written_back(tmp_path: Path) -> None:
    """At every depth; also when something else is changed."""
    path = tmp_path / "run.json"
    JsonFile.write(path, built(*whole_run()))
    form = json.loads(path.read_text())
    example = form["examples"]["e1"]
    turn = example["conversation"]["turns"][0]
    places = [form, example, example["conversation"], turn, turn["tool_calls"][0]]
    places += [turn["user_message"], example["evaluations"][0], example["metadata"]]
    for place in places:
        place["later"] = {"n": 1}
    path.write_text(json.dumps(form))

    JsonFile.write(path, JsonFile.read(path).replace(seed=7))

    assert json.loads(path.read_text()) == {**form, "seed": 7}


@pytest.mark.parametrize(
    ("drop", "path", "reason"),
    [
        (("run_id",), "$.run_id", "RunData.run_id is missing"),
        (("examples", "e1", "id"), "$.examples['e1'].id", "ExampleData.id is missing"),
        (
            ("examples", "e1", "conversation", "turns", 0, "user_message", "content"),
            "$.examples['e1'].conversation.turns[0].user_message.content",
            "MessageData.content is missing",
        ),
        (
            ("examples", "e1", "evaluations", 0, "passed"),
            "$.examples['e1'].evaluations[0].passed",
            "EvaluationData.passed is missing",
        ),
    ],
)
def test_missing_field_is_named(
    drop: tuple[str | int, ...], path: str, reason: str
) -> None:
    """Where it is required."""
    form: Any = built(*whole_run()).to_dict()
    place = form
    for key in drop[:-1]:
        place = place[key]
    del place[drop[-1]]

    with pytest.raises(UndecodableValueError, match=reason) as caught:
        RunData.from_dict(form)

    assert caught.value.path == path


def line(root: Mapping[str, object]) -> bytes:
    """Return a line of an event file, as another version might write it."""
    return json.dumps({"graphcodec": 1, "root": root}).encode() + b"\n"


def test_field_of_a_later_version_breaks_no_event(tmp_path: Path) -> None:
    """It is kept, and written back."""
    wire = {"$type": "run:UserMessage", "example_id": "e1", "turn_number": 1}
    (tmp_path / "a.events").write_bytes(line({**wire, "text": "Hello", "mood": "good"}))

    (event,) = EventFile.read(tmp_path / "a.events")
    with EventFile(tmp_path / "b.events") as file:
        file.write(event)

    assert isinstance(event, UserMessage)
    root = json.loads((tmp_path / "b.events").read_text())["root"]
    assert (root["text"], root["mood"]) == ("Hello", "good")


def test_event_of_a_later_version_is_kept_whole(tmp_path: Path) -> None:
    """And costs nothing of the run."""
    later = {"$type": "run:JudgeAsked", "time": "2026-01-27T08:46:40Z", "n": [1]}
    path = tmp_path / "run.events"
    with EventFile(path) as file:
        file.write(started())
    with path.open("ab") as stream:
        stream.write(line(later))
        stream.write(line({"$type": "run:JudgeAsked"}))

    _, event, other = EventFile.read(path)

    assert event == UnknownEvent(name="JudgeAsked", payload={"n": [1]}, time=event.time)
    assert event.time.isoformat() == "2026-01-27T08:46:40+00:00"
    assert isinstance(other, UnknownEvent)
    assert EventFile.rebuild(path).anomalies == ()


def test_line_of_a_later_wire_is_refused_in_words(tmp_path: Path) -> None:
    """It is no damage that could be passed over."""
    path = tmp_path / "run.events"
    with EventFile(path) as file:
        file.write(started())
    with path.open("ab") as stream:
        stream.write(b'{"graphcodec":2,"root":1}\n')

    with pytest.raises(VersionError, match="line 2: the document is of wire version 2"):
        EventFile.rebuild(path)


# Damage


def test_damaged_line_costs_itself(tmp_path: Path) -> None:
    """The lines after it are read; a run that is rebuilt says which are missing."""
    path = tmp_path / "run.events"
    with EventFile(path) as file:
        for event in (started(), said(1), said(2), said(3), said(4)):
            file.write(event)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = b"\x00" * (len(lines[1]) - 1) + b"\n"
    lines[3] = lines[3][:20] + lines[3][30:]
    path.write_bytes(b"".join(lines))
    gaps: list[UndecodableValueError] = []

    events = list(EventFile.read(path, on_gap=gaps.append))
    run = EventFile.rebuild(path)

    assert events == [started(), said(2), said(4)]
    assert [gap.message[:19] for gap in gaps] == [
        "line 2 is no event:",
        "line 4 is no event:",
    ]
    talk = run.examples["e1"].conversation
    assert talk is not None
    assert [turn.number for turn in talk.turns] == [2, 4]
    assert [anomaly[:31] for anomaly in run.anomalies] == [
        "run.events: line 2 is no event:",
        "run.events: line 4 is no event:",
    ]


def test_damaged_lines_in_a_row_are_one_gap(tmp_path: Path) -> None:
    """At the end of a file, too."""
    path = tmp_path / "run.events"
    with EventFile(path) as file:
        file.write(started())
    whole = path.read_bytes()
    path.write_bytes(b"x\ny\n" + whole + b"z\n" * 300)

    run = EventFile.rebuild(path)

    assert [anomaly.partition(";")[0] for anomaly in run.anomalies] == [
        "run.events: lines 1 to 2 are no events",
        "run.events: lines 4 to 303 are no events",
    ]
    assert "of the first, line 4 is no event: " in run.anomalies[1]


def test_file_of_something_else_is_no_run(tmp_path: Path) -> None:
    """If no line is an event, that is an error and no run with a note."""
    path = tmp_path / "run.events"
    path.write_text("a poem\nof two lines\n")

    with pytest.raises(UndecodableValueError, match="lines 1 to 2 are no events"):
        EventFile.rebuild(path)


def test_empty_event_file_is_an_empty_run(tmp_path: Path) -> None:
    """A session that was killed before anything happened."""
    path = tmp_path / "run.events"
    EventFile(path).close()

    assert EventFile.rebuild(path).examples == {}
