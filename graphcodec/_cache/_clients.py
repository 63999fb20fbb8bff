"""What is asked of Redis, through a client of either kind."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from attrs import frozen

from graphcodec._extras import from_extra
from graphcodec.errors import InvalidValueError

if TYPE_CHECKING:
    from graphcodec._cache._scripts import Script

Argument: TypeAlias = bytes | str | int
Words: TypeAlias = "tuple[Argument, ...]"

_AS_BYTES: Final = {"NEVER_DECODE": True}
"""What has redis-py return bytes whatever the client decodes."""


@frozen
class Call:
    """A script to run.

    Attributes:
        script: The script.
        keys: The keys that it is for, all in one slot of a cluster.
        args: What it is told.
    """

    script: Script
    keys: tuple[str, ...]
    args: Words = ()

    def words(self) -> Words:
        """Return what stands behind the name of the script in a command."""
        return (len(self.keys), *self.keys, *self.args)


class Client:
    """Sends commands, and scripts by their hash if Redis knows them.

    Args:
        redis: Any client of redis-py.
    """

    def __init__(self, redis: Any) -> None:
        self._redis = redis
        with from_extra("redis", "what is kept in Redis needs redis"):
            exceptions: Any = import_module("redis.exceptions")
        self._unknown: type[Exception] = exceptions.NoScriptError

    def ask(self, asked: Words | Call) -> Any:
        """Return the answer of a client that blocks.

        Args:
            asked: A command, or a script.
        """
        execute = self._redis.execute_command
        if not isinstance(asked, Call):
            return execute(*asked, **_AS_BYTES)
        words = asked.words()
        try:
            return execute("EVALSHA", asked.script.sha, *words, **_AS_BYTES)
        except self._unknown:
            return execute("EVAL", asked.script.text, *words, **_AS_BYTES)

    async def ask_async(self, asked: Words | Call) -> Any:
        """Return the answer of a client for asyncio.

        Args:
            asked: A command, or a script.
        """
        execute = self._redis.execute_command
        if not isinstance(asked, Call):
            return await execute(*asked, **_AS_BYTES)
        words = asked.words()
        try:
            return await execute("EVALSHA", asked.script.sha, *words, **_AS_BYTES)
        except self._unknown:
            return await execute("EVAL", asked.script.text, *words, **_AS_BYTES)


def check_client(redis: object, who: str, *, is_async: bool, hint: str) -> None:
    """See to it that *redis* is a client, and one of the right kind.

    Args:
        redis: What was given.
        who: Who needs it, as in ``a cache``.
        is_async: Whether it must be one for asyncio.
        hint: What to do with one of the other kind.

    Raises:
        InvalidValueError: If it is not.
    """
    execute = getattr(redis, "execute_command", None)
    if execute is None or isinstance(redis, type) or hasattr(redis, "execute"):
        # What collects commands, to execute them later, gives no answers.
        example = "redis.asyncio" if is_async else "redis"
        msg = f"{who} needs a client of redis-py, such as {example}.Redis()"
        of_url = f"neither a class nor a pipeline is one; of a URL, {example}.from_url"
        raise InvalidValueError(msg, hint=f"{of_url}(url)")
    if inspect.iscoroutinefunction(execute) is not is_async:
        kind = "sync" if is_async else "asyncio"
        raise InvalidValueError(f"the client is one for {kind} code", hint=hint)
