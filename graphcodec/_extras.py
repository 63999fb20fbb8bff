"""Packages that come with an extra, and what to say where one is missing."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def from_extra(extra: str, message: str) -> Generator[None]:
    """Say which command installs what is imported in this ``with`` statement.

    Args:
        extra: The extra of graphcodec that brings it.
        message: What needs which package, as in ``counting needs tiktoken``.

    Raises:
        ModuleNotFoundError: If it is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as exc:
        msg = f"{message}: pip install 'graphcodec[{extra}]'"
        raise ModuleNotFoundError(msg, name=exc.name) from exc
