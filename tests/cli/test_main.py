"""The program as a whole: exit codes, help, what is missing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graphcodec import __version__, encode
from graphcodec.cli import main
from graphcodec.runs import EventBus, JsonFile, RunDataBuilder
from tests.cli.running import environment, run

EXTRAS = """
import sys
sys.modules[{name!r}] = None
from graphcodec.cli import main
sys.exit(main(["demo"]))
"""


def test_says_its_version() -> None:
    """``--version`` gives name and version."""
    done = run("--version")

    assert (done.returncode, done.stdout) == (0, f"graphcodec, version {__version__}\n")


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_names_the_commands(option: str) -> None:
    """The help lists each command with what it does."""
    done = run(option)

    assert done.returncode == 0
    assert re.search("demo +Send a chat through another process", done.stdout)
    for name in ("inspect", "validate", "convert", "diff"):
        assert f"\n  {name} " in done.stdout


@pytest.mark.parametrize("group", [[], ["run"], ["log"], ["cache"]])
def test_commands_are_described_on_a_line(group: list[str]) -> None:
    """At 80 columns, none of them is cut."""
    _, commands = run(*group, "--help").stdout.split("Commands:")

    assert "..." not in commands


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["nothing"], "No such command 'nothing'"),
        (["insepct"], "No such command 'insepct'. (Did you mean 'inspect'?)"),
        (["inspect"], "Missing argument 'FILE'"),
        (["inspect", "no-such-file"], "does not exist"),
        (["inspect", "-", "--depth", "-1"], "-1 is not in the range"),
        (["demo", "--input", "no-such-file"], "does not exist"),
        (["demo", "--keep", "/dev/null/x"], "/dev/null/x"),
    ],
)
def test_wrong_call_ends_with_2(args: list[str], words: str) -> None:
    """A wrong call says what is wrong and ends with 2, without a traceback."""
    done = run(*args)

    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_no_command_shows_the_help() -> None:
    """Without a command, the help goes to standard error and the exit code is 2."""
    done = run()

    assert (done.returncode, done.stdout) == (2, "")
    assert "Usage: graphcodec" in done.stderr


@pytest.mark.parametrize("name", ["click", "rich"])
def test_says_how_to_get_the_extras(name: str) -> None:
    """Without click or rich, one line says what to install."""
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", EXTRAS.format(name=name)],
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
    )

    assert done.returncode == 2
    assert done.stderr == "graphcodec: pip install 'graphcodec[cli]'\n"


@pytest.mark.parametrize(
    ("name", "args", "words"),
    [
        ("psycopg", ["log", "ls", "postgresql://h/d"], "PostgreSQL needs psycopg"),
        ("pyarrow", ["run", "export", "run.json", "-o", "t"], "tables need pyarrow"),
    ],
)
def test_missing_extra_of_a_command_is_one_line(
    name: str, args: list[str], words: str, tmp_path: Path
) -> None:
    """It names the package and the extra, without a traceback."""
    JsonFile.write(tmp_path / "run.json", RunDataBuilder(EventBus()).snapshot())
    code = (
        f"import sys; sys.modules[{name!r}] = None\n"
        "from graphcodec.cli import main\n"
        f"sys.exit(main({args!r}))"
    )
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment(),
    )

    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"graphcodec: {words}: pip install 'graphcodec[")


def test_importing_it_loads_neither_click_nor_rich() -> None:
    """The entry point alone is as light as the core."""
    code = "import sys, graphcodec.cli; print({'click', 'rich'} & set(sys.modules))"
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
    )

    assert done.stdout == "set()\n"


def test_main_returns_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``main`` can be called with arguments and leaves the process alone."""
    file = tmp_path / "x.json"
    file.write_text("[]")

    assert main(["inspect", str(file)]) == 1
    assert main(["--version"]) == 0
    assert "this is no graphcodec document" in capsys.readouterr().err


def test_interrupt_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is no traceback."""

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("graphcodec.cli._inspect._read", interrupt)

    assert main(["inspect", "-"]) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has it")
@pytest.mark.parametrize("args", [["schema"], ["inspect", "-"]])
def test_full_disk_is_one_line(args: list[str]) -> None:
    """No traceback, neither then nor at exit."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "graphcodec", *args],
            input=encode(["x"]),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            env=environment(),
        )

    assert done.returncode == 1
    assert done.stderr == b"graphcodec: No space left on device\n"


def test_reader_may_leave_early() -> None:
    """A pipe that is closed, as by ``head``, is no traceback."""
    code = (
        "import sys; from graphcodec.cli import main; sys.stdin.buffer.read(1);"
        "sys.exit(main(['--help']))"
    )
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        _, errors = process.communicate(b"x", timeout=30)

    assert errors == b""
    assert process.returncode == 1


@pytest.mark.parametrize(
    ("shell", "expected"),
    [("bash", "plain,inspect"), ("zsh", "plain\ninspect"), ("fish", "plain,inspect")],
)
def test_shells_complete_commands(shell: str, expected: str) -> None:
    """With what they ask for when somebody presses the key."""
    asked: dict[str, Any] = {
        "_GRAPHCODEC_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": "graphcodec ins",
        "COMP_CWORD": "ins" if shell == "fish" else "1",
    }

    assert expected in run(**asked).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_installed(shell: str) -> None:
    """By a script that the program writes."""
    script = run(_GRAPHCODEC_COMPLETE=f"{shell}_source").stdout

    assert f"_GRAPHCODEC_COMPLETE={shell}_complete" in script
