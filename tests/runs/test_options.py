"""What a session of pytest is asked to record, and what it says of itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

import pytest

from graphcodec.runs import EventFile, JsonFile, RunData, SuiteStarted

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import contextlib, io, json, os, sys
from pathlib import Path
import pytest
home, told = Path(sys.argv[1]), {}
for number, session in enumerate(json.loads(sys.argv[2])):
    os.environ["SESSION"] = str(number)
    sys.path[:] = [path for path in sys.path if not path.startswith(str(home))]
    for name in [n for n, m in sys.modules.items() if n.startswith("test_")]:
        del sys.modules[name]
    where = home / session["folder"]
    (where / session.get("cwd", ".")).mkdir(parents=True, exist_ok=True)
    os.chdir(where / session.get("cwd", "."))
    out = io.StringIO()
    base = ["-q", "-W", "error", "-p", "no:cacheprovider", "-p", "no:xdist"]
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        code = pytest.main([*base, "--rootdir", str(where), *session["options"]])
    told.setdefault(session["folder"], []).append([int(code), out.getvalue()])
(home / "told.json").write_text(json.dumps(told))
"""

SHOP = '''\
import os
import pytest
from graphcodec.runs import EvaluationRecorded, current_bus

def test_alone(conversation):
    conversation.user("Hello")

class TestTea:
    """What is sold hot."""

    def test_black(self, conversation):
        conversation.user("Black tea")
        conversation.simulation_started("buy tea", max_turns=4)
        conversation.agent("Here")
        conversation.simulation_ended("goal_reached")

    class TestIced:
        def test_green(self, conversation, request):
            bus = current_bus()
            if bus is not None:
                bus.publish(EvaluationRecorded(example_id=request.node.nodeid,
                            turn_number=0, description="by the agent", passed=True))

def test_last():
    pass
'''

AGAIN = """\
import os
def test_fragile(conversation):
    conversation.user("Hello")
    assert os.environ["SESSION"] != "{first}"
def test_other(): pass
"""

SEEDED = """\
def pytest_addoption(parser):
    # As pytest-randomly does, which would shuffle the tests of whoever installs it.
    parser.addoption("--randomly-seed", dest="randomly_seed", type=int)
"""

RUN = ["--graphcodec-run", "run.json"]
SESSIONS: list[dict[str, object]] = [
    {"folder": "groups", "options": RUN},
    {
        "folder": "named",
        "options": [
            *["--graphcodec-run", "deep/run.json.gz", "--graphcodec-run-id", "r-1"],
            *["--graphcodec-run-tag", "nightly", "--graphcodec-run-tag", "gpu"],
            *["--graphcodec-run-tag", "nightly", "--graphcodec-run-parent", "r-0"],
        ],
        "cwd": "inner",
    },
    {"folder": "again", "options": [*RUN, "--graphcodec-run-resume"]},
    {"folder": "again", "options": [*RUN, "--graphcodec-run-resume"]},
    {"folder": "again", "options": ["--graphcodec-run-resume"]},
    {"folder": "again", "options": [*RUN, "--graphcodec-run-resume", "-k", "other"]},
    {
        "folder": "again",
        "options": [*RUN, "--graphcodec-run-resume", "--graphcodec-run-id", "other"],
    },
    {"folder": "gone", "options": [*RUN, "--graphcodec-run-resume"]},
    {"folder": "wrong", "options": [*RUN, "--graphcodec-run-resume"]},
    {"folder": "lines", "options": ["--graphcodec-run", "run.jsonl"]},
    {"folder": "seeded", "options": [*RUN, "--randomly-seed", "77", "."]},
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where sessions have run."""
    home = tmp_path_factory.mktemp("options")
    for name in ("groups", "named", "again", "gone", "wrong", "lines", "seeded"):
        (home / name).mkdir()
    (home / "groups" / "test_shop.py").write_text(SHOP)
    (home / "named" / "inner").mkdir()
    (home / "named" / "inner" / "test_shop.py").write_text("def test_a(): pass\n")
    (home / "named" / "pytest.ini").write_text(
        "[pytest]\ngraphcodec_packages = attrs no-such-package\n"
    )
    repository(home / "named")
    (home / "seeded" / "conftest.py").write_text(SEEDED)
    (home / "seeded" / "test_shop.py").write_text("def test_a(): pass\n")
    (home / "again" / "test_again.py").write_text(AGAIN.format(first=2))
    JsonFile.write(home / "gone" / "run.json", RunData(run_id="r"))
    (home / "wrong" / "run.events").write_text("a poem\n")
    done = subprocess.run(  # noqa: S603 - our own text
        [sys.executable, "-c", PROGRAM, str(home), json.dumps(SESSIONS)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return home


def repository(folder: Path) -> None:
    """Make a git repository with one commit."""
    author = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], [*author, "commit", "-qm", "x", "--allow-empty"]):
        subprocess.run(  # noqa: S603 - our own text
            ["git", "-C", str(folder), *command],  # noqa: S607
            check=True,
            timeout=60,
        )


def told(home: Path, folder: str, number: int) -> tuple[int, str]:
    """Return the exit code of a session and what it said."""
    code, output = json.loads((home / "told.json").read_text())[folder][number]
    return code, output


# Groups


def test_groups_are_files_and_classes(home: Path) -> None:
    """The innermost stands in the examples; all have begun and ended."""
    run = JsonFile.read(home / "groups" / "run.json")

    assert [(g.id, g.parent_id, g.description) for g in run.groups.values()] == [
        ("test_shop.py", None, "test_shop.py"),
        ("test_shop.py::TestTea", "test_shop.py", "TestTea"),
        ("test_shop.py::TestTea::TestIced", "test_shop.py::TestTea", "TestIced"),
    ]
    assert [g.location for g in run.groups.values()] == [
        "test_shop.py",
        "test_shop.py:8",
        "test_shop.py:17",
    ]
    assert all(g.started_at and g.finished_at for g in run.groups.values())
    assert {e.description: e.metadata["group"] for e in run.examples.values()} == {
        "test_alone": "test_shop.py",
        "test_black": "test_shop.py::TestTea",
        "test_green": "test_shop.py::TestTea::TestIced",
        "test_last": "test_shop.py",
    }


def test_groups_begin_and_end_around_their_examples(home: Path) -> None:
    """In the file of the events, the outermost first."""
    order = [
        type(event).__name__.removeprefix("Group")
        + f" {getattr(event, 'description', '')}"
        for event in EventFile.read(home / "groups" / "run.events")
        if type(event).__name__ in ("GroupStarted", "GroupFinished", "ExampleStarted")
    ]

    assert order == [
        "Started test_shop.py",
        "ExampleStarted test_alone",
        "Started TestTea",
        "ExampleStarted test_black",
        "Started TestIced",
        "ExampleStarted test_green",
        "Finished TestIced",
        "Finished TestTea",
        "ExampleStarted test_last",
        "Finished test_shop.py",
    ]


def test_simulations_are_told_by_the_fixture(home: Path) -> None:
    """With the turns so far."""
    run = JsonFile.read(home / "groups" / "run.json")
    example = run.examples["test_shop.py::TestTea::test_black"]

    assert example.metadata["simulation"] == {
        "goal": "buy tea",
        "max_turns": 4,
        "turn_count": 1,
        "termination_reason": "goal_reached",
    }


def test_what_runs_in_a_test_may_publish(home: Path) -> None:
    """On the bus that is current there."""
    run = JsonFile.read(home / "groups" / "run.json")
    (verdict,) = run.examples["test_shop.py::TestTea::TestIced::test_green"].evaluations

    assert verdict.description == "by the agent"


# Where a run comes from


def test_run_is_named(home: Path) -> None:
    """By its id, its tags, the run it is a part of."""
    run = JsonFile.read(home / "named" / "inner" / "deep" / "run.json.gz")

    assert (run.run_id, run.parent_run_id) == ("r-1", "r-0")
    assert run.tags == ("nightly", "gpu")


def test_seed_is_that_of_the_order(home: Path) -> None:
    """If the examples stand in one that a seed made."""
    assert JsonFile.read(home / "seeded" / "run.json").seed == 77
    assert JsonFile.read(home / "groups" / "run.json").seed is None


def test_events_are_compressed_as_the_run_is(home: Path) -> None:
    """Beside it, and tell the same."""
    folder = home / "named" / "inner" / "deep"

    assert sorted(file.name for file in folder.iterdir()) == [
        "run.events.gz",
        "run.json.gz",
    ]
    rebuilt = EventFile.rebuild(folder / "run.events.gz")
    assert rebuilt == JsonFile.read(folder / "run.json.gz")


def test_commit_is_that_of_the_suite(home: Path) -> None:
    """Of its root, wherever the session was started."""
    run = JsonFile.read(home / "named" / "inner" / "deep" / "run.json.gz")
    done = subprocess.run(  # noqa: S603 - our own text
        ["git", "-C", str(home / "named"), "rev-parse", "HEAD"],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert run.git_commit == done.stdout.strip()


def test_environment_is_recorded(home: Path) -> None:
    """Python, pytest and its plug-ins, and the packages that the suite names."""
    environment = JsonFile.read(
        home / "named" / "inner" / "deep" / "run.json.gz"
    ).environment

    assert environment["python"] == ".".join(map(str, sys.version_info[:3]))
    packages = environment["packages"]
    assert isinstance(packages, dict | type(environment))
    assert packages["pytest"] == version("pytest")
    assert packages["attrs"] == version("attrs")
    assert packages["no-such-package"] is None


# Resumption


def test_resumed_run_has_both_sessions(home: Path) -> None:
    """One name, the examples of all, another try as another attempt."""
    folder = home / "again"
    run = JsonFile.read(folder / "run.json")
    starts = [
        e for e in EventFile.read(folder / "run.events") if isinstance(e, SuiteStarted)
    ]

    assert [start.is_resumed for start in starts] == [False, True, True]
    assert {start.run_id for start in starts} == {run.run_id}
    assert {name: one.status for name, one in run.examples.items()} == {
        "test_again.py::test_fragile": "failed",
        "test_again.py::test_other": "passed",
        "test_again.py::test_fragile#2": "passed",
        "test_again.py::test_other#2": "passed",
        "test_again.py::test_other#3": "passed",
    }
    assert run.examples["test_again.py::test_fragile#2"].metadata["attempt"] == 2
    assert run.anomalies == ()
    assert run.started_at is not None
    assert run.started_at <= starts[0].time
    assert EventFile.rebuild(folder / "run.events") == run


@pytest.mark.parametrize(
    ("folder", "number", "reason"),
    [
        ("again", 2, "says how to record a run; --graphcodec-run FILE says where"),
        ("again", 4, "--graphcodec-run-id: the run in run.json is "),
        ("gone", 0, "--graphcodec-run-resume: to go on with run.json, "),
        ("wrong", 0, "line 1 is no event: "),
        ("lines", 0, "can be no run"),
    ],
)
def test_what_can_not_be_recorded_is_a_wrong_call(
    home: Path, folder: str, number: int, reason: str
) -> None:
    """Told at once, in a line."""
    code, output = told(home, folder, number)

    assert code == pytest.ExitCode.USAGE_ERROR
    assert reason in output
    assert "Traceback" not in output


def test_nothing_is_touched_by_a_wrong_call(home: Path) -> None:
    """What was there is there."""
    assert JsonFile.read(home / "gone" / "run.json").run_id == "r"
    assert (home / "wrong" / "run.events").read_text() == "a poem\n"
