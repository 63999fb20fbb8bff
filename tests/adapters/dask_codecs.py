"""Codecs, classes and functions that workers of Dask import."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, NoReturn

from attrs import define, frozen

from graphcodec import Codec, Conversation, Message, Seal, TurnGate, encodable, errors
from graphcodec_resolvers import FsspecResolver


@encodable("test.Heavy")
@define
class Heavy:
    """Something that pickle refuses."""

    name: str
    talk: Conversation | None = None

    def __reduce__(self) -> NoReturn:
        msg = "a Heavy is not pickled"
        raise TypeError(msg)


def codec() -> Codec:
    """Return the codec of all processes."""
    root = os.environ.get("TEST_DASK_ROOT", "memory://nothing")
    return Codec(types=[Heavy], resolvers=[FsspecResolver({"media": root})])


def sealed() -> Codec:
    """Return the same codec with keys."""
    return codec().replace(seal=Seal({"a": b"0123456789abcdef"}, current="a"))


def heavy(name: str) -> Heavy:
    """Make one."""
    return Heavy(name)


def told(one: Heavy) -> Heavy:
    """Return another one, with the name of this."""
    return Heavy(f"{one.name} in {os.getpid()}")


def same(pairs: list[list[Conversation]]) -> bool:
    """Say whether each pair is one object."""
    return all(first is second for first, second in pairs)


def last_attachment(talk: Conversation) -> bytes:
    """Return what hangs on the last message."""
    message = talk.items[-1]
    assert isinstance(message, Message)
    return message.attachments[0].read()


def gate() -> TurnGate:
    """Return what can't be sent."""
    return TurnGate("turn", reason="approval")


def fail() -> None:
    """Raise an error of ours with a cause."""
    cause = KeyError("gone")
    msg = "it changed"
    raise errors.StaleHandleError(msg, path="$.a", hint="fetch it anew") from cause


# Over stored documents


def shout(graph: Any) -> Any:
    """Return a text in capitals; there is none of a number."""
    return {"text": graph["text"].upper()}


@frozen
class Slowly:
    """Does `shout`, and notes each call in a file."""

    notes: Path
    seconds: float = 0.0

    def __call__(self, graph: Any) -> Any:
        """Return a text in capitals."""
        time.sleep(self.seconds)
        with self.notes.open("a") as notes:
            notes.write(f"{graph['text']}\n")
        return shout(graph)
