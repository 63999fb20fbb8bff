"""Runs the command line in this process: quick, with streams of its own."""

from __future__ import annotations

import io
import json
from typing import Any, NamedTuple

import pytest

from graphcodec.cli import main


class Done(NamedTuple):
    """How a command ended.

    Attributes:
        code: The exit code.
        out: What it wrote to standard output.
        err: What it wrote to standard error.
    """

    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        """The output as text."""
        return self.out.decode()

    @property
    def json(self) -> Any:
        """The output as JSON."""
        return json.loads(self.out)


def call(*args: object, given: bytes = b"", width: int = 80) -> Done:
    """Run ``graphcodec`` and return what it wrote and how it ended.

    Args:
        *args: What stands behind the name of the program.
        given: What it reads from its standard input.
        width: How wide the terminal is.
    """
    out, err = io.BytesIO(), io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
        patch.setattr("sys.stdout", io.TextIOWrapper(out, "utf-8", write_through=True))
        patch.setattr("sys.stderr", io.TextIOWrapper(err, "utf-8", write_through=True))
        code = main([str(arg) for arg in args])
        done = Done(code, out.getvalue(), err.getvalue().decode())
    assert "Traceback" not in done.err
    return done
