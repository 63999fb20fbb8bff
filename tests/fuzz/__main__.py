"""Look for what must not come out: ``python -m tests.fuzz [SECONDS]``.

Each target is fed by both fuzzers, each for that time. What they find, cut down, and a
corpus that grows, is kept in ``.fuzz``. A find that was mended goes, as small as it is,
into ``tests/fuzz/regressions``, which every target is fed in each run of the tests.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

from tests.fuzz.mutating import Found, fuzz, minimised
from tests.fuzz.targets import TARGETS

FOLDER = Path(".fuzz")
_STAT = re.compile(r"stat::(\w+):\s+(\d+)")
_GRACE = 120.0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _structured(name: str, seconds: float) -> bool:
    try:
        done = fuzz(
            TARGETS[name], seconds, seed=time.time_ns(), corpus=FOLDER / "corpus" / name
        )
    except Found as exc:
        path = FOLDER / f"found-{name}-{time.time_ns()}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(minimised(TARGETS[name], exc.data))
        _say(f"{name:15} mutations  FOUND {exc}; kept in {path}")
        return False
    _say(
        f"{name:15} mutations  {done.executions:>9,} executions, {done.taken:,} taken,"
        f" slowest {done.slowest * 1000:.0f} ms, peak +{done.grown / 1e6:.1f} MB"
    )
    return True


def guided(name: str, seconds: float, folder: Path) -> tuple[int, dict[str, int], str]:
    """Run the coverage-guided fuzzer; return its exit code, numbers and last words.

    Args:
        name: The target.
        seconds: How long.
        folder: Where its corpus lies.
    """
    done = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-m", "tests.fuzz.guided", name, str(int(seconds)), folder],
        capture_output=True,
        check=False,
        timeout=seconds + _GRACE,
    )
    text = (done.stdout + done.stderr).decode(errors="replace")
    stats = {key: int(value) for key, value in _STAT.findall(text)}
    return done.returncode, stats, text[-2000:]


def _guided(name: str, seconds: float) -> bool:
    code, stats, words = guided(name, seconds, FOLDER / "corpus" / name)
    if code:
        _say(f"{name:15} coverage   FOUND; kept in {FOLDER}\n{words}")
        return False
    _say(
        f"{name:15} coverage   {stats['number_of_executed_units']:>9,} executions,"
        f" {stats['new_units_added']:,} new paths, peak {stats['peak_rss_mb']} MB"
    )
    return True


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("seconds", nargs="?", type=float, default=30.0)
    parser.add_argument("--target", choices=TARGETS, action="append")
    wanted = parser.parse_args()
    names: list[str] = wanted.target or [*TARGETS]
    well = [_structured(name, wanted.seconds) for name in names]
    if find_spec("atheris") is None:
        _say("no coverage-guided run: there is no atheris for this Python")
    else:
        well += [_guided(name, wanted.seconds) for name in names]
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main())
