"""The programs in the documentation of queues do what stands beneath them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "queues.md"
PROGRAMS = re.findall(
    r"^```python\n(\"\"\".*?)^```\n\n```text\n(.*?)^```",
    PAGE.read_text(),
    re.MULTILINE | re.DOTALL,
)


@pytest.mark.parametrize(("program", "output"), PROGRAMS, ids=["queue", "pool"])
def test_program(program: str, output: str, tmp_path: Path) -> None:
    """It runs as it stands, with warnings as errors, and prints what the page says."""
    path = tmp_path / "program.py"
    path.write_text(program)

    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-W", "error", str(path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert (done.stdout, done.stderr) == (output, "")
