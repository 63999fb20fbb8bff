"""The demo with a Redis and a store of the user's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graphcodec_resolvers import FsspecStore
from tests.cache.servers import started
from tests.cli.running import facts, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.s3_server import S3Server


@pytest.fixture(scope="module")
def redis_url() -> Iterator[str]:
    """The URL of a server that is started for these tests."""
    server = started()
    yield server.url
    server.stop()


def test_redis_is_sent_what_is_new(redis_url: str) -> None:
    """All snapshots load; together they cost less than half of whole documents."""
    found = facts("demo", "--redis", redis_url)

    assert found["cached"]["equal"] is True
    assert found["cached"]["turns"] > 5
    assert found["cached"]["bytes_sent"] < found["cached"]["bytes_whole"] / 2
    assert "saved one by one" in run("demo", "--redis", redis_url).stdout


def test_without_redis_nothing_is_said_of_it() -> None:
    """The default needs no server."""
    assert facts("demo")["cached"] is None
    assert "redis" not in run("demo").stdout


def test_redis_that_is_not_there_is_told_without_the_password() -> None:
    """Exit code 1, no traceback."""
    done = run("demo", "--redis", "redis://:hunter2@127.0.0.1:1/0")

    assert done.returncode == 1
    assert done.stderr.startswith("Error: ConnectionError: ")
    assert "hunter2" not in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_what_is_no_url_is_told_without_quoting_it() -> None:
    """A slash in a password ends the host, and what stands before is no port."""
    done = run("demo", "--redis", "redis://:hunter2/x@127.0.0.1:1/0")

    assert (done.returncode, done.stdout) == (2, "")
    assert "--redis is no URL of the form redis://host:port/" in done.stderr
    assert "hunter2" not in done.stderr


def test_store_may_be_a_folder(tmp_path: Path) -> None:
    """What is stored aside stays there."""
    found = facts("demo", "--store", str(tmp_path / "aside"))

    assert found["back"] == {"equal": True, "same_graph": True, "same_chat": True}
    store = FsspecStore(str(tmp_path / "aside"), alias="demo")
    assert len(list(store.descriptors())) == 2


def test_store_may_be_a_bucket(s3_server: S3Server) -> None:
    """The worker reads from it, with credentials of its own environment."""
    key, secret = s3_server.credentials()
    root = f"s3://{s3_server.bucket()}/demo"
    found = facts(
        *("demo", "--store", root),
        AWS_ACCESS_KEY_ID=key,
        AWS_SECRET_ACCESS_KEY=secret,
        AWS_ENDPOINT_URL=s3_server.endpoint,
        AWS_DEFAULT_REGION="us-east-1",
    )

    assert found["back"] == {"equal": True, "same_graph": True, "same_chat": True}
    assert found["worker"]["quote"]["errors"] > 0
    store = FsspecStore(root, alias="demo", options=s3_server.options())
    assert len(list(store.descriptors())) == 2
