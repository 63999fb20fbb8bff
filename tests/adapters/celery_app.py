"""The app of the Celery workers that tests start; the environment says with what."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, Final

from graphcodec import Codec, Conversation, Media, Message, Seal, errors
from graphcodec.adapters.kombu import install
from graphcodec_resolvers import FsspecResolver, FsspecStore

MOMENT: Final = datetime(2026, 5, 1, tzinfo=UTC)


def codec() -> Codec:
    """Return the codec of both sides."""
    options: dict[str, Any] = json.loads(os.environ.get("TEST_S3", "{}"))
    root = os.environ.get("TEST_ROOT", "memory://nothing")
    return Codec(
        resolvers=[
            FsspecResolver(
                {"media": FsspecStore(root, alias="media", options=options or None)}
            )
        ]
    )


def sealed() -> Codec:
    """Return the same codec with keys."""
    seal = Seal({"a": b"0123456789abcdef"}, mode="encrypt", current="a")
    return codec().replace(seal=seal)


def _url(where: str) -> str:
    return f"{os.environ.get('TEST_REDIS', 'redis://127.0.0.1:1')}/{where}"


def make(number: int, name: str) -> Any:
    """Return an app in a database of its own.

    Args:
        number: Which database.
        name: What makes its codec.
    """
    made: Any = import_module("celery").Celery(
        "tests", broker=_url(str(number)), backend=_url(str(number))
    )
    made.conf.update(
        broker_connection_retry_on_startup=False, broker_connection_max_retries=20
    )
    install(made, codec=f"{__name__}:{name}")
    for task in (append, total, join, fail, ask_again, leave_note, give):
        made.task(name=task.__name__, bind=task is ask_again)(task)
    return made


def append(talk: Conversation, text: str) -> Conversation:
    """Add a message that says how long the attachments are."""
    sizes = [len(media.read()) for media in attachments(talk)]
    more = Message(
        id=f"m{len(talk.items)}",
        role="assistant",
        content=f"{text} {sizes}",
        created_at=MOMENT,
        updated_at=MOMENT,
    )
    return Conversation(id=talk.id, items=(*talk.items, more))


def attachments(talk: Conversation) -> list[Media]:
    """Return what hangs on its messages."""
    return [
        media
        for item in talk.items
        if isinstance(item, Message)
        for media in item.attachments
    ]


def total(talks: list[Conversation]) -> int:
    """Count the messages of several conversations."""
    return sum(len(talk.items) for talk in talks)


def join(first: object, second: object) -> list[object]:
    """Return both, and say whether they are one object."""
    return [first, second, first is second]


def fail(how: str) -> None:
    """Raise."""
    if how == "ours":
        try:
            dict[str, int]()["gone"]
        except KeyError as exc:
            error = errors.StaleHandleError(
                "it changed", path="$.items[3]", hint="fetch it anew", alias="media"
            )
            error.add_note("while the test looked")
            raise error from exc
    if how == "file":
        open("/nowhere/at/all")  # noqa: PTH123, SIM115 - raises
    msg = "no such way"
    raise ValueError(msg, 3)


def ask_again(self: Any, talk: Conversation) -> list[object]:
    """Retry once, a moment later."""
    if not self.request.retries:
        raise self.retry(countdown=0.1, exc=ValueError("not yet"))
    return [talk, self.request.retries]


def leave_note(request: Any, exc: Exception, traceback: object) -> None:
    """Tell in Redis that a task failed, and how."""
    del traceback
    client: Any = import_module("redis").Redis.from_url(_url("9"))
    with client:
        client.rpush(f"note-{request.id}", f"{type(exc).__name__}: {exc}")


def give(what: str) -> object:
    """Return what can't be sent."""
    return {"held": [give]} if what == "function" else None


app: Any = make(0, "codec") if os.environ.get("TEST_APP") == "plain" else None
if os.environ.get("TEST_APP") == "sealed":
    app = make(1, "sealed")
