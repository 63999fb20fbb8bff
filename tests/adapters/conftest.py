"""A server for what adapters keep in Redis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cache.servers import Server, started

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="package")
def server() -> Iterator[Server]:
    """A Valkey without files."""
    server = started()
    yield server
    server.stop()
