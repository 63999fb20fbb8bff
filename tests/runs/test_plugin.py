from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import cast

import pytest

from graphcodec.runs import EventFile, JsonFile, RunData

SUITE = Path(__file__).with_name("suite.py")
ASIDE = {
    "run_id",
    "started_at",
    "finished_at",
    "ended_at",
    "timestamp",
    "duration_ms",
    "worker",
}
PER_ROUND = 14


def command(folder: Path, *options: str) -> list[str]:
    """Return the command that runs the suite, copied into a folder."""
    (folder / "test_suite.py").write_text(SUITE.read_text())
    base = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    return [*base, "--rootdir", str(folder), *options, str(folder)]


def environment(**more: str) -> dict[str, str]:
    """Return the environment of a session; it imports what this one does."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **more}


def recorded(folder: Path, *options: str, **more: str) -> RunData:
    """Return the run of the suite."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(  # noqa: S603 - our own text
        command(folder, "--graphcodec-run", str(folder / "run.json"), *options),
        cwd=folder,
        env=environment(**more),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "examples recorded in" in done.stdout
    return JsonFile.read(folder / "run.json")


def comparable(part: object) -> object:
    """Return a part of a run without times and workers."""
    if isinstance(part, dict):
        entries = cast("dict[str, object]", part)
        return {key: comparable(entries[key]) for key in entries if key not in ASIDE}
    if isinstance(part, list):
        return [comparable(item) for item in cast("list[object]", part)]
    return part


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the suite was run in one process."""
    folder = tmp_path_factory.mktemp("single")
    recorded(folder)
    return folder


@pytest.fixture(scope="module")
def run(folder: Path) -> RunData:
    """Return the run of the suite in one process."""
    return JsonFile.read(folder / "run.json")


def found(run: RunData, name: str) -> RunData:
    """Return a run with only the examples of a kind."""
    return run.replace(
        examples={key: run.examples[key] for key in run.examples if name in key}
    )


# One process


@pytest.mark.parametrize(
    ("kind", "status", "message"),
    [
        ("pass", "passed", None),
        ("fail", "failed", "as it should"),
        ("error", "failed", "no set-up"),
        ("crash", "failed", "0"),
        ("teardown", "failed", "no tear-down"),
        ("open", "failed", "the agent never answered"),
        ("xpass", "failed", "[XPASS(strict)] known"),
        ("agent first", "passed", None),
        ("odd values", "passed", None),
    ],
)
def test_examples_end_as_tests_do(
    run: RunData, kind: str, status: str, message: str | None
) -> None:
    """A set-up that fails is a failure, and so is a tear-down."""
    example = run.examples[f"test_suite.py::test_talk[{kind}-0]"]

    assert example.status == status
    assert example.duration_ms is not None
    assert (message is None) is (example.exception is None)
    if message is not None:
        assert example.exception is not None
        assert message in str(example.exception.message)


@pytest.mark.parametrize(("kind", "reason"), [("skip", "later"), ("xfail", "known")])
def test_skips_and_expected_failures_are_pending(
    run: RunData, kind: str, reason: str
) -> None:
    """With the reason."""
    example = run.examples[f"test_suite.py::test_talk[{kind}-0]"]

    assert (example.status, example.metadata["message"]) == ("pending", reason)


def test_exceptions_say_where_they_come_from(run: RunData) -> None:
    """Class, place, and what caused them."""
    failure = run.examples["test_suite.py::test_talk[crash-1]"].exception

    assert failure is not None
    assert failure.class_name == "KeyError"
    assert failure.backtrace[0].startswith("test_suite.py:")
    assert failure.backtrace[0].endswith(": in test_talk")
    assert failure.backtrace[1] == "caused by ValueError: first"


def test_conversation_is_recorded(run: RunData) -> None:
    """As it was said."""
    example = run.examples["test_suite.py::test_talk[pass-1]"]
    conversation = example.conversation

    assert conversation is not None
    (turn,) = conversation.turns
    assert turn.user_message is not None
    assert turn.agent_response is not None
    assert (turn.user_message.content, turn.agent_response.content) == (
        "Hello 1",
        "Hi!",
    )
    assert turn.user_message.source == "script"
    assert turn.agent_response.metadata.dig("tracing", "tokens", "output") == 2
    assert [(call.name, call.result) for call in turn.tool_calls] == [("search", "ok")]
    assert (turn.topic, conversation.final_topic) == ("greeting", "tea")
    (verdict,) = example.evaluations
    assert (verdict.name, verdict.passed, verdict.is_soft) == ("friendly", False, True)
    assert verdict.reasoning == "it smiled"


def test_open_turn_keeps_its_calls(run: RunData) -> None:
    """Nobody answered."""
    conversation = run.examples["test_suite.py::test_talk[open-0]"].conversation

    assert conversation is not None
    assert [call.name for call in conversation.turns[0].tool_calls] == ["search"]


def test_examples_have_names_and_places(run: RunData) -> None:
    """Stable ones, too."""
    example = run.examples["test_suite.py::test_talk[pass-0]"]

    assert example.description == "test_talk[pass-0]"
    assert example.canonical_path == "test_talk[pass-0]"
    assert str(example.stable_id).startswith("example:")
    assert len(str(example.stable_id)) == len("example:") + 12
    assert example.file == "test_suite.py"
    assert str(example.location).startswith("test_suite.py:")


def test_retries_are_attempts(run: RunData) -> None:
    """Each is kept; the last one counts for pytest."""
    first = run.examples["test_suite.py::test_retry[0]"]
    second = run.examples["test_suite.py::test_retry[0]#2"]

    assert (first.status, second.status) == ("failed", "passed")
    assert second.metadata["attempt"] == 2
    assert run.anomalies == ()


def test_scenarios_come_from_marks_and_parameters(run: RunData) -> None:
    """Registered once each."""
    names = sorted(scenario.name for scenario in run.scenarios.values())
    example = run.examples["test_suite.py::test_scenario_of_a_mark[0]"]

    assert names == ["buy", "s0", "s1"]
    assert run.scenarios[str(example.scenario_id)].goal == "buy tea"


def test_nothing_is_recorded_unless_asked(tmp_path: Path) -> None:
    """The fixture works all the same; no codec and no bus is loaded for it."""
    (tmp_path / "test_quiet.py").write_text(
        "import sys\n"
        "def test_quiet(conversation):\n"
        "    conversation.user('Hello')\n"
        "    conversation.agent('Hi!')\n"
        "    assert not conversation.is_recording\n"
        "def test_light():\n"
        "    assert 'graphcodec.codec' not in sys.modules\n"
    )
    done = subprocess.run(  # noqa: S603 - our own text
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert done.returncode == 0, done.stdout
    assert [path.name for path in tmp_path.glob("*.json")] == []


# Many


@pytest.mark.long
def test_workers_tell_the_same_run(tmp_path: Path) -> None:
    """Equal to that of one process, times and workers aside."""
    rounds = str(300 // PER_ROUND + 1)
    one = recorded(tmp_path / "0", "-n", "0", ROUNDS=rounds)

    assert len(one.examples) >= 300
    for workers in ("1", "4"):
        many = recorded(tmp_path / workers, "-n", workers, ROUNDS=rounds)
        assert comparable(many.to_dict()) == comparable(one.to_dict())


def test_killed_worker_costs_only_its_example(run: RunData, tmp_path: Path) -> None:
    """It is aborted, with what was said until then; all else is complete."""
    killed = recorded(tmp_path, "-n", "2", KILL="1")

    example = killed.examples.pop("test_suite.py::test_kill")
    assert example.status == "aborted"
    assert "ended in the middle of it" in str(example.metadata["message"])
    assert example.conversation is not None
    assert [call.name for call in example.conversation.turns[0].tool_calls] == [
        "search"
    ]
    run = run.replace(examples=dict(run.examples))
    run.examples.pop("test_suite.py::test_kill")
    assert comparable(killed.to_dict()) == comparable(run.to_dict())


def test_killed_run_leaves_its_events(tmp_path: Path) -> None:
    """Whatever was published by then can be read."""
    events = tmp_path / "run.events"
    options = ("--graphcodec-run", str(tmp_path / "run.json"))
    with subprocess.Popen(  # noqa: S603 - our own text
        command(tmp_path, *options),
        cwd=tmp_path,
        env=environment(ROUNDS="200"),
        stdout=subprocess.DEVNULL,
    ) as session:
        deadline = time.monotonic() + 60
        while not events.exists() or events.stat().st_size < 100_000:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        session.send_signal(signal.SIGKILL)

    run = EventFile.rebuild(events)
    assert not (tmp_path / "run.json").exists()
    assert len(run.examples) > 10
    assert run.finished_at is None
    assert run.anomalies == ()


def test_finished_run_can_be_rebuilt_from_its_events(
    folder: Path, run: RunData
) -> None:
    """Equal, its name included."""
    assert EventFile.rebuild(folder / "run.events") == run
