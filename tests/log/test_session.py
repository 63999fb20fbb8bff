"""The log of a session."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import graphcodec as g
from graphcodec import log
from graphcodec.errors import InvalidValueError, JsonError, StorageError
from graphcodec.log import (
    Appended,
    Document,
    Failed,
    Flushed,
    MemoryDocumentStore,
    SessionLog,
    SqliteDocumentStore,
)
from graphcodec_resolvers import FsspecResolver, FsspecStore
from tests.log.faults import FailingStore, always, holding, never
from tests.log.records import (
    observation,
    one_of_each,
    summary,
    user,
    working,
)

SESSION = "036z968fu2tugy7svkfznewkk"
NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture
def store() -> MemoryDocumentStore:
    """A store in memory."""
    return MemoryDocumentStore()


def texts(records: Any) -> list[str]:
    """Return the texts of some messages."""
    return [record.message.content.content for record in records]


# Writing


def test_append_returns_the_id_and_flush_persists(store: MemoryDocumentStore) -> None:
    """An id of 25 characters is returned, and is there after the flush."""
    session = SessionLog(store, SESSION)
    name = session.append(user())

    assert len(name) == 25
    assert (store.count(SESSION), session.unflushed()) == (0, 1)
    assert session.flush() == 1
    assert [d.id for d in store.scan(SESSION)] == [name]


@pytest.mark.parametrize("record", one_of_each(), ids=lambda r: type(r).__name__)
def test_returned_id_is_the_stored_one(
    store: MemoryDocumentStore, record: log.SessionRecord
) -> None:
    """Whatever the kind, the id that was returned finds the record."""
    session = SessionLog(store, SESSION)
    session.append(user("before"))
    name = session.append(record)

    assert session.scan_from(name) == [record]
    assert log.id_of(record) in (name, None)


def test_full_buffer_is_flushed(store: MemoryDocumentStore) -> None:
    """Three appends at a threshold of three are written by themselves."""
    session = SessionLog(store, SESSION, flush_at=3)
    for text in "abc":
        session.append(user(text))

    assert texts(map(log.from_json, (d.content for d in store.scan(SESSION)))) == [
        "a",
        "b",
        "c",
    ]
    assert session.unflushed() == 0


def test_memories_fill_the_buffer(store: MemoryDocumentStore) -> None:
    """Memories count as any record: two at a threshold of two are written."""
    records: list[log.SessionRecord] = [working("a"), observation("b")]
    session = SessionLog(store, SESSION, flush_at=2)
    for record in records:
        session.append(record)

    assert session.unflushed() == 0
    kinds = [d.record_type for d in store.scan(SESSION)]
    assert kinds == ["working_memory", "observation"]
    assert session.all() == records


def test_fifty_by_default(store: MemoryDocumentStore) -> None:
    """The fiftieth record starts a flush."""
    session = SessionLog(store, SESSION)
    for number in range(50):
        assert store.count(SESSION) == 0
        session.append(user(str(number)))

    assert store.count(SESSION) == 50


def test_flush_returns_how_many(store: MemoryDocumentStore) -> None:
    """Twenty that wait are written by one flush."""
    session = SessionLog(store, SESSION, flush_at=1000)
    for number in range(20):
        session.append(user(str(number)))

    assert session.flush() == 20
    assert session.flush() == 0
    assert len(session.all()) == 20


def test_order_is_that_of_append(store: MemoryDocumentStore) -> None:
    """Records of all kinds come back in the order in which they were appended."""
    records = one_of_each()
    session = SessionLog(store, SESSION)
    # The message is made last and appended first: its id is the greatest.
    late = user("late")
    for record in [late, *records]:
        session.append(record)

    assert session.all() == [late, *records]
    assert session.recent(3) == records[:-4:-1]


def test_same_id_changes_nothing(store: MemoryDocumentStore) -> None:
    """To append a record again, before or after a flush, does nothing."""
    session = SessionLog(store, SESSION)
    record = user()
    names = [session.append(record), session.append(record)]
    session.flush()
    names += [session.append(record), session.append(user("other", id=record.id))]

    assert set(names) == {record.id}
    assert session.all() == [record]


def test_records_without_an_id_may_repeat(store: MemoryDocumentStore) -> None:
    """Two equal summaries are two records."""
    session = SessionLog(store, SESSION)
    names = {session.append(summary()), session.append(summary())}

    assert len(names) == 2
    assert session.all() == [summary(), summary()]


def test_sessions_share_a_store(store: MemoryDocumentStore) -> None:
    """Each session has its own records."""
    one, other = SessionLog(store, "one"), SessionLog(store, "other")
    one.append(user("a"))
    other.append(user("b"))

    assert (texts(one.all()), texts(other.all())) == (["a"], ["b"])


def test_clear(store: MemoryDocumentStore) -> None:
    """Clearing leaves nothing, and says how much there was."""
    session = SessionLog(store, SESSION)
    session.append(user())
    session.flush()
    session.append(user())

    assert session.clear() == 2
    assert (session.all(), session.count()) == ([], 0)


def test_closed_log_takes_no_more(store: MemoryDocumentStore) -> None:
    """Leaving the block writes what waits; what comes later is refused."""
    with SessionLog(store, SESSION) as session:
        session.append(user())

    assert store.count(SESSION) == 1
    with pytest.raises(StorageError, match="this log is closed"):
        session.append(user())


def test_forgotten_log_is_written(store: MemoryDocumentStore) -> None:
    """A log that nobody closed writes what waits when it is let go."""
    session = SessionLog(store, SESSION)
    session.append(user())
    del session
    gc.collect()

    assert store.count(SESSION) == 1


def test_interval(store: MemoryDocumentStore) -> None:
    """A record does not wait longer than the interval."""
    session = SessionLog(store, SESSION, flush_interval=0.01)
    for _ in range(2):
        session.append(user())
        deadline = time.monotonic() + 30
        while session.unflushed() and time.monotonic() < deadline:
            time.sleep(0.005)

    assert store.count(SESSION) == 2
    session.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"session_id": ""}, "session_id must be a non-empty str"),
        ({"session_id": "\ud800"}, "session_id must be text that UTF-8 has"),
        ({"session_id": 7}, "session_id must be a non-empty str"),
        ({"flush_at": 0}, "flush_at must be an int from 1"),
        ({"max_unflushed": 0}, "max_unflushed must be an int from 1"),
        ({"flush_at": 1.5}, "flush_at must be an int from 1"),
        ({"flush_interval": 0}, "flush_interval must be seconds above 0"),
    ],
)
def test_options_are_verified(options: dict[str, Any], message: str) -> None:
    """An option that can't work is refused at once."""
    given: dict[str, Any] = {"session_id": "s", **options}

    with pytest.raises(InvalidValueError, match=message):
        SessionLog(MemoryDocumentStore(), **given)


@pytest.mark.parametrize("store", ["sessions.db", None, MemoryDocumentStore])
def test_what_is_no_store_is_refused(store: Any) -> None:
    """At once, and with a store to take."""
    with pytest.raises(InvalidValueError, match="a log needs a document store") as got:
        SessionLog(store, "s")

    assert got.value.hint == "pass one: SqliteDocumentStore('sessions.db')"


# Reading


def test_scan_from(store: MemoryDocumentStore) -> None:
    """A scan begins with the record of the id; None is all and 0 is none."""
    session = SessionLog(store, SESSION)
    names = [session.append(user(text)) for text in "abc"]

    assert texts(session.scan_from(names[1])) == ["b", "c"]
    assert texts(session.scan_from(names[0], 2)) == ["a", "b"]
    assert session.scan_from(names[0], 0) == []
    with pytest.raises(StorageError, match="the session has no record 'nobody'"):
        session.scan_from("nobody")


@pytest.mark.parametrize("n", [-1, 1.5, "3", True])
def test_limit_is_a_count(store: MemoryDocumentStore, n: Any) -> None:
    """How many records are wanted is an int from 0."""
    session = SessionLog(store, SESSION)
    name = session.append(user())
    with pytest.raises(InvalidValueError, match="limit must be an int from 0"):
        session.recent(n)
    with pytest.raises(InvalidValueError, match="limit must be an int from 0"):
        session.scan_from(name, n)
    with pytest.raises(InvalidValueError, match="after must be an int from 0"):
        session.entries(after=n)


def test_recent_is_newest_first(store: MemoryDocumentStore) -> None:
    """The last records come newest first, all of them oldest first."""
    session = SessionLog(store, SESSION)
    for text in "abc":
        session.append(user(text))

    assert texts(session.recent(2)) == ["c", "b"]
    assert session.recent(0) == []
    assert texts(session.all()) == ["a", "b", "c"]


def test_entries_have_places(store: MemoryDocumentStore) -> None:
    """An entry tells the session, the place and the id, also of a summary."""
    session = SessionLog(store, SESSION)
    names = [session.append(working("x")), session.append(summary())]
    first, second = session.entries()

    assert [first.id, second.id] == names
    assert first.seq < second.seq
    assert {first.session_id, second.session_id} == {SESSION}
    assert first.created_at > 0
    assert [e.id for e in session.entries(record_type="summary")] == names[1:]


def test_store_knows_what_records_are_about(store: MemoryDocumentStore) -> None:
    """Kind, title and summary are filled for every kind that has them."""
    session = SessionLog(store, SESSION)
    for record in one_of_each():
        session.append(record)
    session.flush()
    found = [(d.record_type, d.title, d.summary) for d in store.scan(SESSION)]

    assert found == [
        ("conversation", None, None),
        ("conversation", None, None),
        ("conversation", "read", None),
        ("conversation", None, None),
        ("retracted", None, "no"),
        ("working_memory", "1 fact(s)", "likes dark mode"),
        ("observation", "1 observation(s)", "it rains"),
        ("reflection", "1 reflection(s)", "it is autumn"),
        ("failed_action", "failed_action", "ToolCall: tool_name=x, reason=y"),
        ("summary", "summary (7 msgs)", None),
        ("vote", None, None),
    ]


def test_legacy_document_has_its_own_id(store: MemoryDocumentStore) -> None:
    """A record from before ids has that of its document, at every reading."""
    text = '{"User":{"role":"user","content":{"Text":{"content":"hi"}}}}'
    content = f'{{"message_type":"conversation","message":{text}}}'
    store.append(SESSION, [Document(id=name, content=content) for name in "ab"])
    session = SessionLog(store, SESSION)

    assert list(map(log.id_of, session.all())) == ["a", "b"]
    assert session.all() == session.all()


def test_broken_document_is_named(store: MemoryDocumentStore) -> None:
    """A document that is no record is told with its id and place."""
    store.append(SESSION, [Document(id="bad", content="{")])
    session = SessionLog(store, SESSION)

    with pytest.raises(JsonError, match="json serialization: ") as caught:
        session.all()
    assert caught.value.hint == "this is the document 'bad' at 1"


# Primitives


def test_primitives_are_appended(store: MemoryDocumentStore) -> None:
    """Primitives and records go into one log, and come out as a conversation."""
    times: dict[str, Any] = {"created_at": NOW, "updated_at": NOW}
    message = g.Message(id="m-1", role="user", content="hi", **times)
    call = g.ToolCall(
        id="t-1",
        tool="read",
        args={},
        is_complete=True,
        is_error=False,
        results="ok",
        completed_at=NOW,
        **times,
    )
    session = SessionLog(store, SESSION)
    names = [session.append(item) for item in (message, summary(), call)]

    assert names[::2] == ["m-1", "t-1"]
    assert log.to_primitives(session.all()).items == (message, call)


def test_pending_call_is_completed(store: MemoryDocumentStore) -> None:
    """A call that is logged pending and then complete is one call."""
    times: dict[str, Any] = {"created_at": NOW, "updated_at": NOW}
    call = g.ToolCall(
        id="t", tool="read", args={}, is_complete=False, is_error=False, **times
    )
    done = call.replace(is_complete=True, results=g.Tokenizable(""), completed_at=NOW)
    session = SessionLog(store, SESSION)
    session.append(call)
    assert log.to_primitives(session.all()).items == (call,)
    session.append(done)

    assert log.to_primitives(session.all()).items == (done,)


def test_media_are_handles(store: MemoryDocumentStore, tmp_path: Path) -> None:
    """With a store for media, large bytes are not in the record, and can be opened."""
    shelf = FsspecStore(str(tmp_path), alias="media")
    codec = g.Codec(resolvers=[FsspecResolver({"media": shelf})])
    image = g.Media.user_attachment(
        kind="image",
        mime_type="image/png",
        filename="a.png",
        reader=g.BytesReader(b"pixel" * 100_000),
    )
    message = g.Message(
        id="m", role="user", attachments=[image], created_at=NOW, updated_at=NOW
    )
    session = SessionLog(store, SESSION, codec=codec, media=shelf)
    session.append(message)
    (again,) = log.to_primitives(session.all(), codec=codec).items

    assert len(next(store.scan(SESSION)).content) < 2000
    assert isinstance(again, g.Message)
    assert again.attachments[0].read() == b"pixel" * 100_000


def test_other_things_are_refused(store: MemoryDocumentStore) -> None:
    """What is neither a record nor a part of a conversation is refused."""
    other: Any = {"message_type": "summary"}
    with pytest.raises(InvalidValueError, match="takes session records and primitives"):
        SessionLog(store, SESSION).append(other)


# Threads


def test_threads_lose_nothing(store: MemoryDocumentStore) -> None:
    """Four threads by ten appends at a threshold of five are forty records."""
    session = SessionLog(store, SESSION, flush_at=5)

    def work(thread: int) -> None:
        for number in range(10):
            session.append(user(f"{thread}{number}"))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    found = texts(session.all())

    assert len(found) == len(set(found)) == 40
    assert [text for text in found if text[0] == "2"] == [f"2{n}" for n in range(10)]


def test_reader_sees_its_own_while_another_flushes() -> None:
    """What was appended before a read is in it, though another thread is flushing."""
    started, go_on = threading.Event(), threading.Event()

    class SlowStore(MemoryDocumentStore):
        def append(self, key: str, documents: Any, /) -> Any:
            started.set()
            assert go_on.wait(30)
            return super().append(key, documents)

    session = SessionLog(SlowStore(), SESSION)
    session.append(user("a"))
    with ThreadPoolExecutor(2) as pool:
        flushing = pool.submit(session.flush)
        assert started.wait(30)
        session.append(user("b"))
        reading = pool.submit(session.all)
        go_on.set()

        assert texts(reading.result()) == ["a", "b"]
        flushing.result()


def test_async_face(store: MemoryDocumentStore) -> None:
    """Event loops append and read without blocking, with the same results."""

    async def work() -> None:
        async with SessionLog(store, SESSION) as session:
            names = [await session.aappend(user(text)) for text in "abc"]

            assert await session.aflush() == 3
            assert texts(await session.aall()) == ["a", "b", "c"]
            assert texts(await session.arecent(1)) == ["c"]
            assert texts(await session.ascan_from(names[1])) == ["b", "c"]
            assert await session.aclear() == 3

    asyncio.run(work())


# Failures


def test_failing_store_keeps_records() -> None:
    """Closing with a store that fails says so and loses nothing; later it succeeds."""
    store = FailingStore(always)
    session = SessionLog(store, SESSION)
    session.append(user("first"))
    with pytest.raises(StorageError, match="flushing the message log") as caught:
        session.close()

    assert "the disk is on fire" in str(caught.value)
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert session.unflushed() == 1
    session.append(user("second"))
    store.fails = never
    session.close()
    assert session.unflushed() == 0
    assert texts(SessionLog(store, SESSION).all()) == ["first", "second"]


@pytest.mark.parametrize("read", ["recent", "all", "scan_from", "count", "flush"])
def test_failing_store_gives_no_stale_read(read: str) -> None:
    """No read succeeds without what was appended."""
    store = FailingStore(never)
    session = SessionLog(store, SESSION)
    name = session.append(user("a"))
    session.flush()
    store.fails = always
    session.append(user("b"))
    call = getattr(session, read)
    args: dict[str, tuple[Any]] = {"recent": (5,), "scan_from": (name,)}

    with pytest.raises(StorageError, match="flushing the message log"):
        call(*args.get(read, ()))
    session.append(user("c"))
    store.fails = never
    assert texts(session.all()) == ["a", "b", "c"]


def test_append_never_fails_with_the_store(caplog: pytest.LogCaptureFixture) -> None:
    """An append that starts a flush that fails returns; the failure is logged."""
    session = SessionLog(store := FailingStore(always), SESSION, flush_at=2)
    with caplog.at_level(logging.WARNING, "graphcodec.log"):
        for text in "abc":
            session.append(user(text))

    assert "could not be flushed" in caplog.text
    assert session.unflushed() == 3
    store.fails = never
    assert texts(session.all()) == ["a", "b", "c"]


@pytest.mark.parametrize("journal", [False, True])
def test_no_more_wait_than_may(
    journal: bool,  # noqa: FBT001 - one of two
) -> None:
    """A store that is down for long does not fill the memory: `append` refuses."""
    store = FailingStore(always)
    session = SessionLog(store, SESSION, flush_at=2, max_unflushed=5, journal=journal)
    for text in "abcde":
        with suppress(StorageError):
            session.append(user(text))
    for _ in range(3):
        with pytest.raises(StorageError, match="not taken, since 5 wait already"):
            session.append(user("f"))

    assert session.unflushed() == 5
    store.fails = never
    session.append(user("g"))
    assert texts(session.all()) == list("abcdeg")


def test_last_of_many_put_aside_are_kept(store: MemoryDocumentStore) -> None:
    """However many records are at fault, a thousand of them are kept."""
    session = SessionLog(store, SESSION)
    for number in range(1001):
        session.append(user("\ud800", id=f"m-{number}"))

    assert [failed.id for failed in session.quarantined[::999]] == ["m-1", "m-1000"]


def test_interval_goes_on_after_a_failure() -> None:
    """A store that fails when the time has come is asked again in due time."""
    store = FailingStore(always)
    session = SessionLog(store, SESSION, flush_interval=0.01)
    session.append(user())
    while not store.calls:
        time.sleep(0.001)
    store.fails = never
    deadline = time.monotonic() + 30
    while session.unflushed() and time.monotonic() < deadline:
        time.sleep(0.001)

    assert session.unflushed() == 0


def test_store_that_is_down_is_not_asked_at_every_append() -> None:
    """After a failed flush the next one waits for more records."""
    store = FailingStore(always)
    session = SessionLog(store, SESSION, flush_at=2)
    session.append(user())
    session.append(user())
    calls = store.calls
    session.append(user())

    assert store.calls == calls
    store.fails = never
    session.close()


def test_bad_record_in_the_middle_is_put_aside(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A record that the store refuses is reported; the ones around it are written."""
    session = SessionLog(FailingStore(holding("poison")), SESSION)
    names = [session.append(user(text)) for text in ("a", "poison", "b", "c")]
    with caplog.at_level(logging.ERROR, "graphcodec.log"):
        count = session.flush()

    assert count == 3
    assert texts(session.all()) == ["a", "b", "c"]
    (bad,) = session.quarantined
    assert (bad.id, str(bad.error)) == (names[1], "the disk is on fire")
    assert texts([bad.record]) == ["poison"]
    assert f"record '{names[1]}' can't be written and was put aside" in caplog.text
    assert "poison" not in caplog.text


def test_bad_record_at_the_end_waits_for_proof() -> None:
    """A record waits until something shows that the store is well."""
    session = SessionLog(FailingStore(holding("poison")), SESSION)
    session.append(user("a"))
    session.append(user("poison"))
    with pytest.raises(StorageError, match="flushing the message log"):
        session.flush()
    assert (session.unflushed(), session.quarantined) == (1, ())
    session.append(user("b"))

    assert texts(session.all()) == ["a", "b"]
    assert len(session.quarantined) == 1


def test_record_that_sqlite_refuses_is_put_aside(tmp_path: Path) -> None:
    """A store that says whose fault it is needs no proof."""

    class Picky(SqliteDocumentStore):
        def append(self, key: str, documents: Any, /) -> Any:
            if holding("poison")(documents):
                raise InvalidValueError("too odd")
            return super().append(key, documents)

    with Picky(tmp_path / "log.db") as store, SessionLog(store, SESSION) as session:
        session.append(user("poison"))

        assert session.flush() == 0
        assert len(session.quarantined) == 1
        assert session.all() == []


def test_record_without_json_is_put_aside(store: MemoryDocumentStore) -> None:
    """Text that is no Unicode is reported, and does not block what follows."""
    session = SessionLog(store, SESSION)
    session.append(user("a"))
    name = session.append(user("\ud800"))
    session.append(user("b"))

    assert texts(session.all()) == ["a", "b"]
    (bad,) = session.quarantined
    assert bad.id == name
    assert isinstance(bad.error, JsonError)


def test_hiccup_loses_and_doubles_nothing() -> None:
    """A store that fails once in the middle leaves the order as it was."""
    failures = iter([True, False, True])
    store = FailingStore(lambda _: next(failures, False))
    session = SessionLog(store, SESSION)
    for text in "abcd":
        session.append(user(text))
    session.flush()

    assert texts(session.all()) == ["a", "b", "c", "d"]
    assert session.quarantined == ()


# The journal


def test_journal_writes_at_once(store: MemoryDocumentStore) -> None:
    """With a journal a record is stored when `append` returns."""
    session = SessionLog(store, SESSION, journal=True)
    session.append(user())

    assert store.count(SESSION) == 1


def test_journal_says_what_it_could_not_keep() -> None:
    """With a journal a failure is the caller's to know, and nothing is lost."""
    store = FailingStore(always)
    session = SessionLog(store, SESSION, journal=True)
    record = user("a")
    with pytest.raises(StorageError, match="flushing the message log"):
        session.append(record)
    store.fails = never

    assert session.append(record) == record.id
    assert store.count(SESSION) == 1
    with pytest.raises(JsonError, match="can't be written"):
        session.append(user("\ud800"))


def test_journal_with_threads(store: MemoryDocumentStore) -> None:
    """Threads that append at once find their own records stored."""
    session = SessionLog(store, SESSION, journal=True)

    def work(number: int) -> bool:
        name = session.append(user(str(number)))
        return store.find(SESSION, name) is not None

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(200)))
    assert store.count(SESSION) == 200


# Listeners


def test_events_in_order(store: MemoryDocumentStore) -> None:
    """Two appends and a flush are told as two appends and a flush."""
    session = SessionLog(store, SESSION)
    events = session.subscribe()
    names = [session.append(user()), session.append(summary())]
    session.flush()
    session.close()

    first, second, third = events
    assert isinstance(first, Appended)
    assert (first.id, first.variant) == (names[0], "conversation")
    assert isinstance(second, Appended)
    assert (second.id, second.variant, second.record) == (
        names[1],
        "summary",
        summary(),
    )
    assert third == Flushed(count=2, seq=2)


def test_events_as_json() -> None:
    """Events have the form that they always had."""
    appended = Appended(id="x", variant="summary")

    assert log.to_json(appended) == '{"Appended":{"id":"x","variant":"summary"}}'
    assert log.to_json(Flushed(count=2, seq=9)) == '{"Flushed":{"count":2}}'
    assert log.to_json(Failed(id=None, error=OSError("m"))) == '{"Error":{"msg":"m"}}'


@pytest.mark.parametrize(
    "text",
    [
        '{"Appended":{"id":"x","variant":"a kind of tomorrow"}}',
        '{"Flushed":{"count":2}}',
        '{"Error":{"msg":"no room"}}',
    ],
)
def test_events_out_of_json(text: str) -> None:
    """Events can be read, whatever the kind of the record."""
    event = log.from_json(text, log.Event)

    assert isinstance(event, log.Event)
    assert log.to_json(event) == text


def test_other_json_is_no_event() -> None:
    """What is no event is refused."""
    with pytest.raises(JsonError, match="there must be an event, not a dict"):
        log.from_json('{"Flushed":{"count":"2"}}', log.Event)


def test_end_of_a_log_is_told(store: MemoryDocumentStore) -> None:
    """A listener hears of what the end of the log wrote, and then of the end."""
    session = SessionLog(store, SESSION)
    events = session.subscribe()
    session.append(user())
    session.close()

    assert [type(event) for event in events] == [Appended, Flushed]


def test_failures_are_told() -> None:
    """A store that fails, and a record that was put aside, are events."""
    store = FailingStore(always)
    session = SessionLog(store, SESSION)
    events = session.subscribe()
    session.append(user("a"))
    with pytest.raises(StorageError, match="flushing"):
        session.flush()
    store.fails = holding("poison")
    bad = session.append(user("poison"))
    session.append(user("b"))
    session.close()

    told = [(type(event).__name__, getattr(event, "id", 0)) for event in events]
    assert ("Failed", None) in told
    assert ("Failed", bad) in told
    assert told[-1][0] == "Flushed"


def test_slow_listener_loses_the_oldest(store: MemoryDocumentStore) -> None:
    """A full queue drops the oldest events and counts them; the log does not wait."""
    session = SessionLog(store, SESSION)
    events = session.subscribe(maxsize=2)
    names = [session.append(user()) for _ in range(5)]
    kept = [events.poll(), events.poll()]

    assert [getattr(event, "id", None) for event in kept] == names[3:]
    assert events.dropped == 3
    assert events.poll() is None


def test_replay(store: MemoryDocumentStore) -> None:
    """A listener that knows a place is told first what was stored behind it."""
    session = SessionLog(store, SESSION)
    session.append(user("a"))
    session.flush()
    (place,) = [entry.seq for entry in session.entries()]
    session.append(user("b"))
    events = session.subscribe(since=place)
    session.append(user("c"))
    session.close()
    found = list(events)

    assert [type(event).__name__ for event in found] == [
        "Appended",
        "Appended",
        "Flushed",
    ]
    assert texts(e.record for e in found if isinstance(e, Appended)) == ["b", "c"]
    assert [e.seq for e in found if isinstance(e, Appended)] == [place + 1, None]


def test_left_subscription_ends(store: MemoryDocumentStore) -> None:
    """Whoever leaves is told nothing more."""
    session = SessionLog(store, SESSION)
    with session.subscribe() as events:
        session.append(user())
    session.append(user())

    assert list(events) == []


def test_listener_on_an_event_loop(store: MemoryDocumentStore) -> None:
    """An event loop waits for events that another thread causes."""

    async def work() -> list[str]:
        session = SessionLog(store, SESSION)
        events = session.subscribe()

        async def listen() -> list[str]:
            return [type(event).__name__ async for event in events]

        task = asyncio.create_task(listen())
        await asyncio.sleep(0)
        await session.aappend(user())
        await session.aclose()
        return await task

    assert asyncio.run(work()) == ["Appended", "Flushed"]


@pytest.mark.parametrize("maxsize", [0, -1])
def test_queue_has_room(store: MemoryDocumentStore, maxsize: int) -> None:
    """A queue without room is refused."""
    with pytest.raises(InvalidValueError, match="maxsize must be 1 or more"):
        SessionLog(store, SESSION).subscribe(maxsize=maxsize)
