"""The programs in the documentation of Dask do what stands beneath them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "dask.md").read_text()
PROGRAMS = re.findall(
    r"^```python\n(\"\"\".*?)^```\n\n```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL
)


@pytest.mark.parametrize(("program", "output"), PROGRAMS, ids=["stored", "moved"])
def test_program(program: str, output: str, tmp_path: Path) -> None:
    """It runs as it stands, and prints what the page says."""
    path = tmp_path / "program.py"
    path.write_text(program)

    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, str(path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )

    assert (done.stdout, done.stderr) == (output, "")
