"""A server that is killed, writers that race, and what must hold afterwards."""

from __future__ import annotations

import random
import threading
import time
from typing import TYPE_CHECKING

import pytest
from redis.exceptions import ConnectionError as NotThere

from graphcodec import errors
from graphcodec.cache import TurnCache
from graphcodec.testing import same_graph
from tests.cache.graphs import chunk_key, grown, needed, there

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphcodec import Conversation
    from tests.cache.servers import Client, Server


def check_whole(client: Client, returned: dict[int, Conversation]) -> None:
    """Verify that nothing is lost, nothing half there, and that `gc` leaves no more."""
    cache = TurnCache(client)

    assert returned.keys() <= {*cache.turns("s")}
    for turn in cache.turns("s"):
        found = cache.load("s", turn)
        assert turn not in returned or same_graph(found, returned[turn])
    assert needed(client) <= there(client)
    cache.gc("s")
    assert needed(client) == there(client)
    assert all(same_graph(cache.load("s", turn), g) for turn, g in returned.items())


def killed_while_saving(server: Server, saves: int, kills: int) -> None:
    """Save turn after turn while the server is killed at random moments."""
    chance = random.Random(saves)  # noqa: S311 - for moments, not for secrets
    turns = grown(saves)
    deadly = set(chance.sample(range(saves), kills))
    returned: dict[int, Conversation] = {}
    with server.client(retry=None) as client:
        cache = TurnCache(client)
        for number, graph in enumerate(turns):
            killer = threading.Timer(chance.random() * 0.02, server.kill)
            if number in deadly:
                killer.start()
            try:
                cache.save("s", number, graph)
            except NotThere:
                pass
            else:
                returned[number] = graph
            if number in deadly:
                killer.join()
                server.start()
        check_whole(client, returned)
    assert len(returned) >= saves - kills


def test_killed_server(durable: Server) -> None:
    """Every turn whose save returned is there, whole, after the server was killed."""
    killed_while_saving(durable, 10, 4)


@pytest.mark.long
def test_server_killed_often(durable: Server) -> None:
    """The same with 200 saves."""
    killed_while_saving(durable, 200, 60)


def test_server_that_lost_its_last_saves(durable: Server) -> None:
    """A cache that remembers more than the server does sends it again."""
    turns = grown(12)
    with durable.client() as client:
        cache = TurnCache(client)
        for number, graph in enumerate(turns[:6]):
            cache.save("s", number, graph)
        lost = client.dump(chunk_key())
        for number, graph in enumerate(turns[6:11], 6):
            cache.save("s", number, graph)
        # As after a failover to a replica that is behind.
        client.restore(chunk_key(), 0, lost, replace=True)
        for number in range(6, 11):
            cache.delete("s", number)
        cache.save("s", 11, turns[11])

        check_whole(client, {11: turns[11], **dict(enumerate(turns[:6]))})


# Races


def race(*jobs: Callable[[], None]) -> None:
    """Run jobs at the same time, and raise what one of them raises."""
    failures: list[BaseException] = []

    def guarded(job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException as exc:  # noqa: BLE001 - raised below
            failures.append(exc)

    threads = [threading.Thread(target=guarded, args=[job]) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    for failure in failures:
        raise failure


def test_two_writers(client: Client) -> None:
    """Of two writers of one turn, one wins and the other is told."""
    turns = grown(25)
    won: list[dict[int, Conversation]] = [{}, {}]
    start = threading.Barrier(2)

    def write(mine: int) -> Callable[[], None]:
        cache = TurnCache(client)

        def job() -> None:
            for number, graph in enumerate(turns):
                own = graph.replace(id=f"writer-{mine}")
                start.wait(30)
                try:
                    cache.save("s", number, own, expected=0)
                except errors.ConflictError:
                    continue
                won[mine][number] = own

        return job

    race(write(0), write(1))

    assert not won[0].keys() & won[1].keys()
    assert won[0].keys() | won[1].keys() == set(range(25))
    check_whole(client, won[0] | won[1])


@pytest.mark.parametrize("shared", [True, False])
def test_saves_and_sweeps(client: Client, *, shared: bool) -> None:
    """Sweeps in the middle of saves take nothing that a turn needs."""
    turns = grown(30)
    cache = TurnCache(client)
    done = threading.Event()

    def write(first: int) -> Callable[[], None]:
        own = cache if shared else TurnCache(client)

        def job() -> None:
            for number in range(first, 30, 2):
                own.save("s", number, turns[number])
                # Another graph in between, so that what was known is known no more.
                own.save("s", 100 + first, turns[-number])
                own.delete("s", 100 + first)

        return job

    def sweep() -> None:
        other = TurnCache(client)
        while not done.wait(0.001):
            other.gc("s")

    def writers() -> None:
        try:
            race(write(0), write(1))
        finally:
            done.set()

    race(writers, sweep)

    check_whole(client, dict(enumerate(turns)))


def test_two_versions_count_every_save(client: Client) -> None:
    """Without an expected version the last writer wins, and all saves are counted."""
    versions: list[int] = []

    def write() -> None:
        cache = TurnCache(client)
        versions.extend(cache.save("s", 1, [n]).version for n in range(50))

    race(write, write)

    assert sorted(versions) == list(range(1, 101))


def test_reading_beside_pruning(client: Client) -> None:
    """A reader meets a whole turn or none, whatever is deleted meanwhile."""
    turns = grown(40)
    cache = TurnCache(client)
    end = time.monotonic() + 1
    for number, graph in enumerate(turns):
        cache.save("s", number, graph)

    def prune() -> None:
        for keep in range(39, 0, -1):
            cache.prune("s", keep=keep)
            cache.save("s", 1_000 - keep, turns[keep])
            cache.delete("s", 1_000 - keep)

    def read() -> None:
        other = TurnCache(client)
        while time.monotonic() < end:
            for turn in (0, 10, 20):
                try:
                    found = other.load("s", turn)
                except errors.SnapshotNotFoundError:
                    continue
                assert same_graph(found, turns[turn])

    race(prune, read)
