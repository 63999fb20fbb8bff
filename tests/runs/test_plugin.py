from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import cast

import pytest

from graphcodec.runs import EventFile, ExampleData, JsonFile, RunData

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


# Sessions in which something else is odd: one process runs them all

PROGRAM = """
import contextlib, io, json, os, sys, warnings
from pathlib import Path
import pytest
home, told = Path(sys.argv[1]), {}
for folder in sorted(home.iterdir()):
    os.chdir(folder)
    sys.path[:] = [path for path in sys.path if path != str(folder)]
    options = json.loads((folder / "options.json").read_text())
    base = ["-q", "-W", "error", "-p", "no:cacheprovider", "-p", "no:xdist"]
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = pytest.main([*base, "--rootdir", str(folder), *options, str(folder)])
    told[folder.name] = [int(code), out.getvalue()]
print(json.dumps(told))
"""

SESSIONS: dict[str, tuple[list[str], str]] = {
    "interrupted": (
        [],
        "def test_a(conversation):\n"
        "    conversation.user('Hello')\n"
        "    raise KeyboardInterrupt\n"
        "def test_b(): pass\n",
    ),
    "left": (
        [],
        "import pytest\ndef test_a(): pytest.exit('enough')\n",
    ),
    "stopped": (["-x"], "def test_a(): assert 0\ndef test_b(): pass\n"),
    "uncollected": ([], "import nothing_of_that_name\n"),
    "empty": ([], ""),
    "elsewhere": (
        [],
        "import os\ndef test_a(tmp_path): os.chdir(tmp_path)\n",
    ),
    "unittest": (
        [],
        "import unittest, pytest\n"
        "class TestShop(unittest.TestCase):\n"
        "    @pytest.fixture(autouse=True)\n"
        "    def _talk(self, conversation): self.conversation = conversation\n"
        "    def test_a(self): self.conversation.user('Hello')\n"
        "    @unittest.skip('later')\n"
        "    def test_b(self): pass\n"
        "    @unittest.expectedFailure\n"
        "    def test_c(self): pass\n",
    ),
    "errors": (
        ["--doctest-modules"],
        "import pytest\n"
        "class Mute(Exception):\n"
        "    def __str__(self): raise RuntimeError('no')\n"
        "def test_mute(): raise Mute\n"
        "def test_group(): raise ExceptionGroup('two', [ValueError(1), Mute()])\n"
        "def test_xfail(): pytest.xfail('known')\n"
        "@pytest.mark.scenario('a name')\n"
        "def test_scenario(): pass\n"
        "def example():\n"
        "    '''\n"
        "    >>> 1\n"
        "    2\n"
        "    '''\n",
    ),
    "listed": (["--collect-only"], "def test_a(): pass\n"),
    "nested": (
        ["-p", "pytester"],
        "def test_a(pytester, conversation):\n"
        "    conversation.user('outer')\n"
        "    pytester.makepyfile('def test_i(conversation):'\n"
        "                        '    conversation.user(\\'inner\\')')\n"
        "    done = pytester.inline_run('--graphcodec-run', 'in.json', '-p', 'no:xdist')\n"
        "    assert done.ret == 0\n"
        "    assert 'inner' in (pytester.path / 'in.json').read_text()\n",
    ),
    "unwritable": (["--graphcodec-run", "/proc/none/run.json"], ""),
    "a folder": (["--graphcodec-run", "."], ""),
    "its own events": (["--graphcodec-run", "run.events"], ""),
    "lost": (
        ["--graphcodec-run", "deep/run.json"],
        "import pathlib, shutil\n"
        "def test_a():\n"
        "    shutil.rmtree('deep')\n"
        "    pathlib.Path('deep').touch()\n",
    ),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where odd sessions have run, a folder each."""
    home = tmp_path_factory.mktemp("odd")
    for name, (options, text) in SESSIONS.items():
        folder = home / name
        folder.mkdir()
        (folder / f"test_{name.replace(' ', '_')}.py").write_text(text)
        given = ["--graphcodec-run", "run.json", *options]
        (folder / "options.json").write_text(json.dumps(given))
    done = subprocess.run(  # noqa: S603 - our own text
        [sys.executable, "-c", PROGRAM, str(home)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    (home / "told.json").write_text(done.stdout)
    return home


def told(home: Path, name: str) -> tuple[int, str]:
    """Return the exit code of a session and what it said."""
    code, output = json.loads((home / "told.json").read_text())[name]
    return code, output


def of(home: Path, name: str) -> dict[str, ExampleData]:
    """Return the examples that a session recorded, by their own names."""
    run = JsonFile.read(home / name / "run.json")
    assert run.finished_at is not None
    return {example.description: example for example in run.examples.values()}


@pytest.mark.parametrize("name", ["interrupted", "left"])
def test_interrupted_example_is_aborted(home: Path, name: str) -> None:
    """What was said until then is there, and so is the run."""
    (example,) = of(home, name).values()

    assert told(home, name)[0] == pytest.ExitCode.INTERRUPTED
    assert example.status == "aborted"
    assert example.metadata["message"] == "the session ended in the middle of it"
    assert example.conversation is not None
    assert len(example.conversation.turns) == (1 if name == "interrupted" else 0)


def test_stopped_session_has_what_ran(home: Path) -> None:
    """With ``-x``, up to the first failure."""
    assert [(e.id, e.status) for e in of(home, "stopped").values()] == [
        ("test_stopped.py::test_a", "failed")
    ]


def test_file_that_can_not_be_collected_fails(home: Path) -> None:
    """A run without it would look as if all were well."""
    (example,) = of(home, "uncollected").values()

    assert (example.id, example.status) == ("test_uncollected.py", "failed")
    assert example.exception is not None
    assert "No module named 'nothing_of_that_name'" in str(example.exception.message)


def test_session_without_examples_is_a_run(home: Path) -> None:
    """An empty one."""
    assert of(home, "empty") == {}


def test_suite_may_go_elsewhere(home: Path) -> None:
    """The run is where the session began."""
    assert [e.status for e in of(home, "elsewhere").values()] == ["passed"]


def test_unittest_is_recorded(home: Path) -> None:
    """With its own skips; the fixture is had by way of another."""
    examples = of(home, "unittest")

    assert examples["test_a"].conversation.turns[0].user_message.content == "Hello"  # type: ignore[union-attr]
    assert examples["test_b"].metadata["message"] == "later"
    assert examples["test_c"].status == "failed"
    assert examples["test_c"].canonical_path == "TestShop::test_c"


def test_errors_are_told_whatever_they_are(home: Path) -> None:
    """One that can't say what it is, a group, a doctest, an expected one."""
    examples = of(home, "errors")
    mute, group = examples["test_mute"].exception, examples["test_group"].exception

    assert mute is not None
    assert mute.message == "<Mute.__str__ raised RuntimeError>"
    assert group is not None
    assert group.message == "two (2 sub-exceptions)"
    assert "one of them: ValueError: 1" in group.backtrace
    assert examples["test_errors.example"].status == "failed"
    assert examples["test_xfail"].metadata["message"] == "known"


def test_scenario_of_a_mark_may_be_a_name(home: Path) -> None:
    """It is no map, and costs nothing."""
    run = JsonFile.read(home / "errors" / "run.json")

    assert [scenario.name for scenario in run.scenarios.values()] == ["a name"]


def test_list_of_tests_is_no_run(home: Path) -> None:
    """The last run stays as it is."""
    assert told(home, "listed")[0] == 0
    assert not list((home / "listed").glob("run.*"))


def test_session_within_a_session_is_another_run(home: Path) -> None:
    """Each has what was said in it."""
    (example,) = of(home, "nested").values()

    assert (example.status, len(example.conversation.turns)) == ("passed", 1)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("unwritable", r"run\.events can't be written: No such file"),
        ("a folder", "can be no run"),
        ("its own events", "can be no run"),
    ],
)
def test_wrong_path_is_a_wrong_call(home: Path, name: str, reason: str) -> None:
    """Told at once, in a line."""
    code, output = told(home, name)

    assert code == pytest.ExitCode.USAGE_ERROR
    assert re.search(f"^ERROR: --graphcodec-run: .*{reason}", output, re.MULTILINE)
    assert "Traceback" not in output


def test_run_that_can_not_be_written_is_told(home: Path) -> None:
    """At the end, and nobody takes it for a success."""
    code, output = told(home, "lost")

    assert code == pytest.ExitCode.INTERNAL_ERROR
    assert "problem: the run could not be written: " in output
    assert "Traceback" not in output
