"""Logs that several processes write, and processes that are killed."""

from __future__ import annotations

import asyncio
import random
import signal
import subprocess
import sys
import time
from contextlib import aclosing
from pathlib import Path

import pytest

from graphcodec import log
from graphcodec.log import SessionLog, SqliteDocumentStore

ROOT = Path(__file__).parents[2]


def start(path: Path, first: int, count: int, mode: str) -> subprocess.Popen[bytes]:
    """Start a process that appends numbered messages."""
    words = ["-m", "tests.log.faults", str(path), "s", str(first), str(count), mode]
    return subprocess.Popen(  # noqa: S603 - our own interpreter and text
        [sys.executable, *words], stdout=subprocess.PIPE, cwd=ROOT
    )


def message(name: str) -> log.Conversation:
    """Return a message of an id."""
    return log.Conversation(
        message=log.User(id=name, content=log.TextContent(content="x"))
    )


def numbers(path: Path) -> list[int]:
    """Return the numbers that a log holds, in order."""
    with SqliteDocumentStore(path) as store, SessionLog(store, "s") as session:
        return [int(entry.id.removeprefix("m-")) for entry in session.entries()]


def kill_at(path: Path, first: int, delay: float) -> int:
    """Kill a writer with a journal after some seconds; return what it had reached."""
    with start(path, first, 1_000_000, "journal") as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == f"{first}\n".encode()
        time.sleep(delay)
        writer.send_signal(signal.SIGKILL)
        said = writer.stdout.read().split(b"\n")[:-1]
    return int(said[-1]) if said else first


def survive(path: Path, kills: int) -> None:
    """Kill writers at random moments, and compare what they said with what is there."""
    chance = random.Random(7)  # noqa: S311 - the same moments every time
    first = 0
    for _ in range(kills):
        reached = kill_at(path, first, chance.uniform(0, 0.1))
        found = numbers(path)

        # One more may have been stored than could be told.
        assert found == list(range(len(found)))
        assert reached < len(found) <= reached + 2
        first = len(found)


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_killed_writer_loses_nothing(tmp_path: Path) -> None:
    """What `append` returned for is there after a kill, in order and once."""
    survive(tmp_path / "log.db", 3)


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_hundred_kills_lose_nothing(tmp_path: Path) -> None:
    """A hundred kills at random moments lose and double nothing."""
    survive(tmp_path / "log.db", 100)


def write_at_once(path: Path, each: int) -> None:
    """Let four processes append to one log, and compare."""
    writers = [start(path, n * each, each, "buffer") for n in range(4)]
    for writer in writers:
        with writer:
            assert writer.wait(300) == 0
    found = numbers(path)

    assert len(found) == len(set(found)) == 4 * each
    for n in range(4):
        own = [number for number in found if number // each == n]
        assert own == list(range(n * each, (n + 1) * each))


def test_four_processes(tmp_path: Path) -> None:
    """Four processes append to one log: none is lost, none is there twice."""
    write_at_once(tmp_path / "log.db", 250)


@pytest.mark.long
def test_four_processes_at_length(tmp_path: Path) -> None:
    """Four processes by 2,500 records: none is lost, none is there twice."""
    write_at_once(tmp_path / "log.db", 2500)


def test_tail_follows_another_process(tmp_path: Path) -> None:
    """What another process writes arrives, in order and whole."""
    path = tmp_path / "log.db"
    with SqliteDocumentStore(path) as store:
        follower = log.tail(store, "s", since=0, poll=0.01, timeout=30)
        with start(path, 0, 120, "buffer") as writer:
            found = [next(follower).id for _ in range(120)]
            assert writer.wait(60) == 0

    assert found == [f"m-{number}" for number in range(120)]


def test_tail_goes_on_from_a_place(tmp_path: Path) -> None:
    """Whoever knows a place reads on from there; without one, what is new."""
    with (
        SqliteDocumentStore(tmp_path / "log.db") as store,
        SessionLog(store, "s") as session,
    ):
        session.append(message("a"))
        from_now = session.tail(poll=0.001, timeout=0.05)
        (place,) = [entry.seq for entry in session.entries()]
        session.append(message("b"))
        session.flush()

        assert [e.id for e in from_now] == ["b"]
        assert [e.id for e in session.tail(since=place, timeout=0)] == ["b"]
        assert [e.id for e in session.tail(since=0, timeout=0)] == ["a", "b"]


def test_tail_on_an_event_loop(tmp_path: Path) -> None:
    """An event loop follows without blocking, and ends after some silence."""

    async def work(store: SqliteDocumentStore) -> list[str]:
        session = SessionLog(store, "s")
        found: list[str] = []
        async with aclosing(log.atail(store, "s", since=0, timeout=0.3)) as entries:
            await session.aappend(message("a"))
            await session.aflush()
            async for entry in entries:
                found.append(entry.id)
                if entry.id == "a":
                    await session.aappend(message("b"))
                    await session.aclose()
        return found

    with SqliteDocumentStore(tmp_path / "log.db") as store:
        assert asyncio.run(work(store)) == ["a", "b"]
