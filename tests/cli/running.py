"""Runs the command line as a user does: in a process of its own, 80 columns wide."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

WIDTH = 80


def environment() -> dict[str, str]:
    """Return an environment in which a new interpreter finds what this one does."""
    path = os.pathsep.join(filter(None, sys.path))
    ours = {"COLUMNS": str(WIDTH), "PYTHONPATH": path, "PYTHONUTF8": "1"}
    return {**os.environ, **ours}


def run(*args: str, given: bytes = b"", **env: str) -> subprocess.CompletedProcess[str]:
    """Run ``graphcodec`` and return what it wrote and how it ended.

    Args:
        *args: What stands behind the name of the program.
        given: What it reads from its standard input.
        **env: Changes to the environment.
    """
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "graphcodec", *args],
        input=given,
        capture_output=True,
        check=False,
        timeout=60,
        env={**environment(), **env},
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def facts(*args: str, given: bytes = b"", **env: str) -> dict[str, Any]:
    """Return what a command says with ``--json``.

    Args:
        *args: The command and its arguments.
        given: What it reads from its standard input.
        **env: Changes to the environment.
    """
    done = run(*args, "--json", given=given, **env)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def widest(text: str) -> int:
    """Return the length of the longest line."""
    return max(map(len, text.splitlines()))
