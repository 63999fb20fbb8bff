from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.s3_server import S3Server

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


@pytest.fixture(scope="module")
def root(s3_server: S3Server) -> str:
    """Where the store of all processes is."""
    return f"s3://{s3_server.bucket()}/shared"


def run(
    server: S3Server, root: str, *arguments: str, who: str = "admin", given: bytes = b""
) -> bytes:
    """Run a program that knows the store, with the rights of *who*."""
    key, secret = server.credentials(who)
    result = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "tests.resolvers.s3_children", *arguments],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "STORE": root,
            "S3_KEY": key,
            "S3_SECRET": secret,
            "S3_ENDPOINT": server.endpoint,
        },
        input=given,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, result.stderr.decode()
    assert not result.stderr, result.stderr.decode()
    return result.stdout


def test_children_read_what_was_encoded(s3_server: S3Server, root: str) -> None:
    """Whichever way they are started."""
    run(s3_server, root, "share", *multiprocessing.get_all_start_methods())


@needs_fork
def test_open_readers_and_streams_are_used_on_both_sides_of_a_fork(
    s3_server: S3Server, root: str
) -> None:
    """At the same time, while threads of the parent read: no wrong byte."""
    run(s3_server, root, "inherit")


@needs_fork
def test_a_lock_of_fsspec_held_at_a_fork_does_not_hang_the_child(
    s3_server: S3Server, root: str
) -> None:
    """Which is what happens with fsspec alone."""
    run(s3_server, root, "hold")


@needs_fork
def test_a_child_that_exits_leaves_the_parents_connections_alone(
    s3_server: S3Server, root: str
) -> None:
    """Finalizers of the parent's client run in the child, and do nothing."""
    run(s3_server, root, "leave")


def test_another_program_reads_it_with_its_own_credentials(
    s3_server: S3Server, root: str
) -> None:
    """Neither credentials nor endpoint are in the document, a pickle or a repr."""
    document = run(s3_server, root, "write")

    run(s3_server, root, "read", who="reader", given=document)
