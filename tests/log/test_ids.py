"""Names that sort by time."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from graphcodec.errors import InvalidValueError
from graphcodec.log import SessionId, new_id


def test_ids_grow() -> None:
    """A thousand session ids, made within milliseconds, strictly increase."""
    names = [SessionId.new() for _ in range(1000)]

    assert all(a < b for a, b in pairwise(names))
    assert {len(name) for name in names} == {25}


def test_threads_share_no_id() -> None:
    """Eight threads make no id twice."""
    with ThreadPoolExecutor(8) as pool:
        names = [
            future.result() for future in [pool.submit(new_id) for _ in range(4000)]
        ]

    assert len(set(names)) == 4000


def test_forks_share_no_id() -> None:
    """Two children of one fork make different ids."""
    code = (
        "import os, sys\n"
        "from graphcodec.log import new_id\n"
        "new_id()\n"
        "for _ in range(2):\n"
        "    if os.fork() == 0:\n"
        "        print(*(new_id() for _ in range(100)), flush=True)\n"
        "        os._exit(0)\n"
        "    os.wait()\n"
    )
    if not hasattr(os, "fork"):
        pytest.skip("no fork here")
    done = subprocess.run(  # noqa: S603 - our own interpreter and text
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert len(set(done.stdout.split())) == 200


def test_machine_is_told() -> None:
    """All ids of one process bear the same machine."""
    assert len({SessionId.new().machine_id for _ in range(10)}) == 1


def test_name_gives_one_id() -> None:
    """A session is resumed by its name, now and at any later time."""
    assert SessionId.from_name("nightly") == SessionId.from_name("nightly")
    assert SessionId.from_name("nightly") != SessionId.from_name("weekly")
    assert SessionId.from_name("nightly") == "0000000000wh58l98o3rkww9v"


def test_text_round_trip() -> None:
    """A session id is its text."""
    name = SessionId.new()

    assert SessionId(str(name)) == name
    assert SessionId(name.upper()) == name


@pytest.mark.parametrize("text", ["", "x", "z" * 25, "é" * 25, " " * 25])
def test_other_text_is_refused(text: str) -> None:
    """What is no id does not become one."""
    with pytest.raises(InvalidValueError, match="25 digits of base 36"):
        SessionId(text)
