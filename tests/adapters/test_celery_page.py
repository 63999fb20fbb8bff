"""The programs in the documentation of Celery do what stands beneath them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.cache.servers import started

PAGE = (Path(__file__).parents[2] / "docs" / "celery.md").read_text()
PROGRAMS = re.findall(
    r"^```python\n(\"\"\"(\w+\.py):.*?)^```", PAGE, re.MULTILINE | re.DOTALL
)


def test_programs(tmp_path: Path) -> None:
    """A worker runs the tasks of the page, and what sends prints what stands there."""
    for text, name in PROGRAMS:
        (tmp_path / name).write_text(text)
    redis = started()
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "SHOP_REDIS": redis.url,
        "SHOP_STORE": str(tmp_path / "store"),
    }
    words = ["-m", "celery", "-A", "tasks", "worker", "--pool=solo", "--loglevel=ERROR"]
    worker = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, *words], env=env, cwd=tmp_path, stderr=subprocess.DEVNULL
    )
    try:
        done = subprocess.run(
            [sys.executable, "send.py"],
            env=env,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        worker.terminate()
        worker.wait(30)
        redis.stop()

    output = re.findall(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert (done.stdout, done.stderr) == (output[0], "")
