"""The types that users of graphcodec see, checked the way that they check them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

CONSUMER = Path(__file__).with_name("consumer.py")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that lies elsewhere and has nothing but graphcodec installed."""
    try:
        metadata.distribution("graphcodec")
    except metadata.PackageNotFoundError:
        pytest.skip("graphcodec is not installed")
    shutil.copy(CONSUMER, tmp_path)
    return tmp_path


def run(project: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a checker in the project, without the paths of this one."""
    hidden = {"MYPYPATH", "PYTHONPATH"}
    env = {name: value for name, value in os.environ.items() if name not in hidden}
    return subprocess.run(  # noqa: S603 - our own interpreter and arguments
        [sys.executable, "-m", *command],
        cwd=project,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


def test_mypy_understands_the_public_names(project: Path) -> None:
    """In strict mode mypy infers what the file says, and sees the mistakes in it."""
    done = run(project, "mypy", "--strict", "--cache-dir=cache", "consumer.py")

    assert (done.returncode, done.stdout) == (
        0,
        "Success: no issues found in 1 source file\n",
    )


def test_pyright_understands_the_public_names(project: Path) -> None:
    """In strict mode pyright infers what the file says, and sees the mistakes in it."""
    checked = run(project, "pyright", "--pythonpath", sys.executable, "consumer.py")

    assert checked.stdout.endswith("0 errors, 0 warnings, 0 informations\n")
