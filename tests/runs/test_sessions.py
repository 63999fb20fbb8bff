"""Sessions of pytest in which something is odd; one process runs them all."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from graphcodec.runs import ExampleData, JsonFile

if TYPE_CHECKING:
    from pathlib import Path

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
        """\
def test_a(conversation):
    conversation.user('Hello')
    raise KeyboardInterrupt
def test_b(): pass
""",
    ),
    "left": (
        [],
        """\
import pytest
def test_a(): pytest.exit('enough')
""",
    ),
    "stopped": (
        ["-x"],
        """\
def test_a(): assert 0
def test_b(): pass
""",
    ),
    "uncollected": (
        [],
        """\
import nothing_of_that_name
""",
    ),
    "empty": ([], ""),
    "elsewhere": (
        [],
        """\
import os
def test_a(tmp_path): os.chdir(tmp_path)
""",
    ),
    "unittest": (
        [],
        """\
import unittest, pytest
class TestShop(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def _talk(self, conversation): self.conversation = conversation
    def test_a(self): self.conversation.user('Hello')
    @unittest.skip('later')
    def test_b(self): pass
    @unittest.expectedFailure
    def test_c(self): pass
""",
    ),
    "errors": (
        ["--doctest-modules"],
        """\
import pytest
class Mute(Exception):
    def __str__(self): raise RuntimeError('no')
def test_mute(): raise Mute
def test_group(): raise ExceptionGroup('two', [ValueError(1), Mute()])
def test_xfail(): pytest.xfail('known')
@pytest.mark.scenario('a name')
def test_scenario(): pass
def example():
    \"\"\"
    >>> 1
    2
    \"\"\"
""",
    ),
    "listed": (
        ["--collect-only"],
        """\
def test_a(): pass
""",
    ),
    "nested": (
        ["-p", "pytester"],
        """\
def test_a(pytester, conversation):
    conversation.user('outer')
    pytester.makepyfile('def test_i(conversation):'
                        '    conversation.user(\\'inner\\')')
    done = pytester.inline_run('--graphcodec-run', 'in.json', '-p', 'no:xdist')
    assert done.ret == 0
    assert 'inner' in (pytester.path / 'in.json').read_text()
""",
    ),
    "unwritable": (["--graphcodec-run", "/proc/none/run.json"], ""),
    "a folder": (["--graphcodec-run", "."], ""),
    "its own events": (["--graphcodec-run", "run.events"], ""),
    "lost": (
        ["--graphcodec-run", "deep/run.json"],
        """\
import pathlib, shutil
def test_a():
    shutil.rmtree('deep')
    pathlib.Path('deep').touch()
""",
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
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
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
