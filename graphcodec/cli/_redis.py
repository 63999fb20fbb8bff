"""A client of Redis, for commands that are given its URL."""

from __future__ import annotations

from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Generator

    import redis


@contextmanager
def connected(url: str) -> Generator[redis.Redis]:
    """Give a client of a server that answers, and tell errors of Redis in one line.

    Args:
        url: The URL of the server. Nothing that quotes it is shown: it may have a
            password.
    """
    if find_spec("redis") is None:
        msg = "this needs redis: pip install 'graphcodec[redis]'"
        raise click.UsageError(msg)
    import redis  # noqa: PLC0415 - an extra

    try:
        with _client(url) as client:
            yield client
    except redis.RedisError as exc:
        msg = f"{type(exc).__name__}: {' '.join(str(exc).split())}"
        raise click.ClickException(msg) from None


def _client(url: str) -> redis.Redis:
    import redis  # noqa: PLC0415 - an extra

    try:
        client: redis.Redis = redis.Redis.from_url(url)  # pyright: ignore[reportUnknownMemberType]
        # What is wrong with an option in the URL is found when it is used.
        client.ping()  # pyright: ignore[reportUnknownMemberType]
    except (ValueError, TypeError):
        msg = "--redis is no URL of the form redis://host:port/database"
        raise click.UsageError(msg) from None
    return client
