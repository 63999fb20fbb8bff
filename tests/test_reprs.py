"""What objects say of themselves: enough to know them by, and no content."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import redis
import redis.asyncio
from rich.pretty import pretty_repr

from graphcodec import Codec, Registry, Seal
from graphcodec.adapters.pydantic_ai import ConversationStore
from graphcodec.cache import AsyncTurnCache, TurnCache
from graphcodec.log import MemoryDocumentStore
from graphcodec.runs import EventBus
from graphcodec_resolvers import FsspecResolver
from tests.view import talks
from tests.view.talks import EVIL

# What redis says of the types of its own is not whole.
SYNC: Any = redis.Redis
ASYNC: Any = redis.asyncio.Redis
SERVER = "redis://:hunter2@localhost:1/0"


@pytest.mark.parametrize(
    ("thing", "expected"),
    [
        (Codec(), "Codec(<json>)"),
        (
            Codec(
                format="msgpack",
                compression="gzip",
                seal=Seal({"k": bytes(32)}, mode="encrypt", current="k"),
                resolvers=[FsspecResolver({"a": "/nowhere"})],
                handlers={"print": print},
            ),
            "Codec(<msgpack, gzip, encrypt, 1 resolvers, 1 handlers>)",
        ),
        (TurnCache(SYNC.from_url(SERVER)), "TurnCache(namespace='graphcodec')"),
        (
            AsyncTurnCache(ASYNC.from_url(SERVER), namespace="n"),
            "AsyncTurnCache(namespace='n')",
        ),
        (
            ConversationStore(ASYNC.from_url(SERVER), namespace="n"),
            "ConversationStore(namespace='n')",
        ),
        (MemoryDocumentStore(), "MemoryDocumentStore(<0 documents>)"),
        (EventBus(), "EventBus(<0 subscriptions>)"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_reprs(thing: object, expected: str) -> None:
    """No address in memory, no key, no password."""
    assert repr(thing) == expected


def test_rich_shows_no_content() -> None:
    """Primitives say to rich what they say in a traceback."""
    talk = talks.rich()

    assert pretty_repr(talk) == repr(talk)
    assert pretty_repr(talk.items[0]) == repr(talk.items[0])


def html(thing: Any) -> str:
    """Return what a notebook shows."""
    shown: str = thing._repr_html_()
    return shown


def test_notebooks_show_the_content() -> None:
    """Of a conversation its items with their texts, of a message its fields."""
    talk: Any = talks.rich()

    assert "Why does it hang?" in html(talk)
    assert "Ana is on call." in html(talk)
    assert "Media(id=" in html(talk.items[0])
    assert "a.png" in html(talk.items[0].attachments[0])
    assert "<table>" in html(Registry({"a": 1}))


def test_nothing_in_a_notebook_is_markup() -> None:
    """Nor does it turn around what stands beside it."""
    talk = talks.hostile()
    for thing in (talk, *talk.items):
        shown = html(thing)
        assert EVIL not in shown
        assert "<script" not in shown
        assert "\u202e" not in shown


def test_long_contents_are_cut_in_notebooks() -> None:
    """After fifty items."""
    said = talks.rich().items[0]
    many = talks.rich().replace(items=[said] * 60)

    assert html(many).count("Why does it hang?") == 50
    assert "… 10 more" in html(many)


@pytest.mark.parametrize("part", ["cache", "log", "runs"])
def test_loggers_are_silent_until_somebody_listens(part: str) -> None:
    """A warning does not fall through to the standard error."""
    line = f"import logging, graphcodec.{part} as part\n"
    line += f"logging.getLogger('graphcodec.{part}').warning('lost')"
    done = subprocess.run(  # noqa: S603 - our own line
        [sys.executable, "-c", line], capture_output=True, text=True, check=True
    )

    assert (done.stdout, done.stderr) == ("", "")
