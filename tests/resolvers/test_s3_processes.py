from __future__ import annotations

import ast
import multiprocessing
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

    from tests.s3_server import S3Server

    Program: TypeAlias = Callable[..., None]

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


@pytest.fixture(scope="module")
def root(s3_server: S3Server) -> str:
    """Where the store of all processes is."""
    return f"s3://{s3_server.bucket()}/shared"


@contextmanager
def running(server: S3Server, root: str, who: str = "admin") -> Generator[Program]:
    """Run a program that knows the store, with the rights of *who*."""
    key, secret = server.credentials(who)
    with subprocess.Popen(
        [sys.executable, "-m", "tests.resolvers.s3_children"],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "STORE": root,
            "S3_KEY": key,
            "S3_SECRET": secret,
            "S3_ENDPOINT": server.endpoint,
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        told, answers = process.stdin, process.stdout

        def do(*words: object) -> None:
            guard = threading.Timer(120, process.kill)
            guard.start()
            print(*words, file=told, flush=True)
            answer = answers.readline()
            guard.cancel()
            assert answer == "\n", ast.literal_eval(answer or "'it was killed'")

        try:
            yield do
            _, shown = process.communicate(timeout=60)
        finally:
            process.kill()
        assert (process.returncode, shown) == (0, "")


@pytest.fixture(scope="module")
def program(s3_server: S3Server, root: str) -> Iterator[Program]:
    """One that writes to the store, and does what it is told."""
    with running(s3_server, root) as program:
        yield program


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_children_read_what_was_encoded(program: Program, method: str) -> None:
    """Whichever way they are started."""
    program("start", method)


@needs_fork
def test_open_readers_and_streams_are_used_on_both_sides_of_a_fork(
    program: Program,
) -> None:
    """At the same time, while threads of the parent read: no wrong byte."""
    program("inherit")


@needs_fork
def test_a_lock_of_fsspec_held_at_a_fork_does_not_hang_the_child(
    program: Program,
) -> None:
    """Which is what happens with fsspec alone."""
    program("hold")


@needs_fork
def test_a_child_that_exits_leaves_the_parents_connections_alone(
    program: Program,
) -> None:
    """Finalizers of the parent's client run in the child, and do nothing."""
    program("leave")


def test_another_program_reads_it_with_its_own_credentials(
    s3_server: S3Server, root: str, program: Program, tmp_path: Path
) -> None:
    """Neither credentials nor endpoint are in the document, a pickle or a repr."""
    program("write", tmp_path / "document")

    with running(s3_server, root, "reader") as other:
        other("read", tmp_path / "document")
