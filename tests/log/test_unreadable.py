"""Stored documents that are no records: named, or passed over where one is told."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from graphcodec import log
from graphcodec.errors import JsonError
from graphcodec.log import Document, MemoryDocumentStore, SessionLog
from tests.log.records import user


@pytest.fixture
def store() -> MemoryDocumentStore:
    """A session of three documents, the second of which somebody broke."""
    store = MemoryDocumentStore()
    with SessionLog(store, "s") as session:
        session.append(user("first"))
    store.append("s", [Document(id="broken", content='{"message_type":')])
    with SessionLog(store, "s") as session:
        session.append(user("last"))
    return store


def _texts(records: list[Any]) -> list[str]:
    return [record.message.content.content for record in records]


def test_reading_names_the_document(store: MemoryDocumentStore) -> None:
    """Which one, and where."""
    with pytest.raises(JsonError, match="json serialization") as caught:
        SessionLog(store, "s").all()

    assert caught.value.hint == "this is the document 'broken' at 2"


def test_reading_goes_on_for_whoever_is_told(store: MemoryDocumentStore) -> None:
    """All others come, in their order, and `recent` looks further for as many."""
    told = list[JsonError]()
    session = SessionLog(store, "s", on_unreadable=told.append)

    assert _texts(session.all()) == ["first", "last"]
    assert _texts(session.recent(2)) == ["last", "first"]
    assert [entry.seq for entry in session.entries(limit=2)] == [1, 3]
    assert [error.hint for error in told] == ["this is the document 'broken' at 2"] * 3


def test_following_goes_on_as_well(store: MemoryDocumentStore) -> None:
    """`tail` and `atail` pass the document over once."""
    told = list[JsonError]()

    session = SessionLog(store, "s", on_unreadable=told.append)
    seen = [entry.seq for entry in session.tail(since=0, timeout=0)]

    async def follow() -> list[int]:
        entries = log.atail(
            store, "s", since=0, poll=0.01, timeout=0.05, on_unreadable=told.append
        )
        async with aclosing(entries):
            return [entry.seq async for entry in entries]

    assert seen == asyncio.run(follow()) == [1, 3]
    assert len(told) == 2


def test_replay_tells_of_it_without_a_record(store: MemoryDocumentStore) -> None:
    """A listener sees that there is one, and gets the others."""
    with SessionLog(store, "s").subscribe(since=0) as events:
        seen: list[Any] = [events.poll() for _ in range(3)]

    assert [event.record is None for event in seen] == [False, True, False]
