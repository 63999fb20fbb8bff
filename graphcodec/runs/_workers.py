"""A pytest session whose tests run in the workers of pytest-xdist."""

import os
import secrets
import tempfile
import threading
from collections.abc import Generator
from contextlib import suppress
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any, Final

import pytest

from graphcodec.runs._bus import EventBus
from graphcodec.runs._forwarding import EventForwarder, EventReceiver

KEY: Final = "graphcodec_run"
"""Under which name a worker finds out where to send its events."""

_PATIENCE: Final = 10.0


class WorkerHost:
    """Receives the events of workers and publishes them here.

    Each worker connects to a socket that only this user can reach, and proves that it
    knows a key; nothing that arrives is unpickled.

    Args:
        bus: Where to publish.
    """

    def __init__(self, bus: EventBus) -> None:
        self._receiver = EventReceiver(bus)
        self._key = secrets.token_bytes(32)
        self._folder = tempfile.TemporaryDirectory(prefix="graphcodec-run-")
        self._listener = self._listen()
        self._threads: list[threading.Thread] = []
        self._run(self._accept)

    def _listen(self) -> Listener:
        if os.name == "posix":
            address = str(Path(self._folder.name) / "events")
            # The name of a socket may be too long, which depends on the system.
            with suppress(OSError):
                return Listener(address, "AF_UNIX", backlog=64, authkey=self._key)
        return Listener(("127.0.0.1", 0), backlog=64, authkey=self._key)

    def _run(self, work: Any, *args: object) -> threading.Thread:
        thread = threading.Thread(
            target=work, args=args, daemon=True, name="graphcodec-run"
        )
        thread.start()
        return thread

    def _accept(self) -> None:
        while True:
            try:
                connection = self._listener.accept()
            except (OSError, EOFError):
                return
            except Exception:  # noqa: BLE001, S112 - a stranger with another key
                continue
            self._threads.append(self._run(self._receive, connection))

    def _receive(self, connection: "Connection[Any, Any]") -> None:
        worker = ""
        try:
            worker = connection.recv_bytes(1024).decode()
            while True:
                self._receiver.take(connection.recv_bytes())
        except (OSError, EOFError):
            self._receiver.lost(worker)
        finally:
            connection.close()

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker that is about to start where to send its events."""
        address = self._listener.address
        node.workerinput[KEY] = {"address": address, "key": self._key.hex()}

    def settle(self) -> None:
        """Wait for what is still on its way, once the workers have stopped."""
        for thread in list(self._threads):
            thread.join(_PATIENCE)
        self._receiver.close()
        self._listener.close()
        self._folder.cleanup()

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        """Say what did not arrive."""
        for gap in self._receiver.gaps:
            terminalreporter.line(f"missing: {gap}")


class WorkerEnd:
    """Sends the events of this worker to the host.

    Args:
        bus: The bus of this worker.
        given: What the host said in ``workerinput``.
        worker: The name of this worker.
    """

    def __init__(self, bus: EventBus, given: dict[str, Any], worker: str) -> None:
        key = bytes.fromhex(given["key"])
        self._connection = Client(given["address"], authkey=key)
        self._connection.send_bytes(worker.encode())
        self._forwarder = EventForwarder(bus, self._connection, worker=worker)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None, Any, Any]:
        """Say that this worker is done, after everybody else here has ended."""
        try:
            return (yield)
        finally:
            self._forwarder.close()
            self._connection.close()
