"""What a session remembers and what it has spent."""

from __future__ import annotations

import logging
from collections.abc import Iterator, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from graphcodec import decode, encode, log
from graphcodec.errors import ConflictError, InvalidValueError, StorageError
from graphcodec.log import (
    MemoryCoordinator,
    MemoryDocumentStore,
    MemoryHierarchy,
    MemoryStore,
    MemoryTier,
    SessionLog,
    SessionMemory,
    TokenLedger,
    TokenSnapshot,
    UsageReport,
)
from tests.log.records import observation, reflection, summary, user, working

SESSION = "s"


class Broken(MutableMapping[str, str]):
    """A mapping that fails to write while it is told to."""

    def __init__(self) -> None:
        self.values_: dict[str, str] = {}
        self.broken = False

    def __getitem__(self, key: str) -> str:
        return self.values_[key]

    def __setitem__(self, key: str, value: str) -> None:
        if self.broken:
            raise OSError("no room")
        self.values_[key] = value

    def __delitem__(self, key: str) -> None:
        del self.values_[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)


@pytest.fixture
def audit() -> MemoryDocumentStore:
    """The store of the log."""
    return MemoryDocumentStore()


@pytest.fixture
def copies() -> MemoryStore:
    """Where the latest copies are."""
    return MemoryStore()


@pytest.fixture
def coordinator(copies: MemoryStore, audit: MemoryDocumentStore) -> MemoryCoordinator:
    """What keeps the memories of the tests."""
    return MemoryCoordinator(copies, audit)


# Tiers and keys


def test_tier_of_a_record() -> None:
    """Three kinds of records are memories, the others are not."""
    records: list[Any] = [working("x"), observation("x"), reflection("x"), user()]

    assert [MemoryTier.of(record) for record in records] == [*MemoryTier, None]


def test_keys() -> None:
    """The keys are those of the first logs."""
    assert log.memory_key("s") == "memory:s"
    assert log.audit_key("s") == "session:s"


# The copies


def test_copies_of_a_session(copies: MemoryStore) -> None:
    """A session has one memory of each tier, the last that was set, or none."""
    assert copies.hydrate(SESSION) == SessionMemory()
    first, second, seen = working("a"), working("b", version=2), observation("c")
    for record in (first, second, seen):
        copies.set(SESSION, record)

    assert copies.get(SESSION, MemoryTier.WORKING) == second
    assert copies.get(SESSION, MemoryTier.REFLECTION) is None
    assert copies.hydrate(SESSION) == SessionMemory(working=second, observation=seen)
    copies.clear(SESSION)
    assert copies.hydrate(SESSION) == SessionMemory()


def test_bundle_as_json() -> None:
    """The bundle holds whole records, and leaves out what there is not."""
    values: dict[str, str] = {}
    record = working("a")
    MemoryStore(values).set(SESSION, record)

    assert values == {"memory:s": f'{{"working":{log.to_json(record)}}}'}
    assert decode(encode(SessionMemory(working=record))) == SessionMemory(
        working=record
    )


def test_copies_are_memories(copies: MemoryStore) -> None:
    """Another record is no memory."""
    other: Any = summary()
    with pytest.raises(InvalidValueError, match="is no memory record"):
        copies.set(SESSION, other)


def test_tiers_set_at_once(copies: MemoryStore) -> None:
    """Two tiers that are set at the same time do not lose one another."""
    records: list[Any] = [working("a"), observation("b"), reflection("c")]
    with ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(copies.set, SESSION, r) for r in records * 20]:
            done.result()

    assert copies.hydrate(SESSION) == SessionMemory(
        working=records[0], observation=records[1], reflection=records[2]
    )


# The coordinator


def test_memories_are_written_twice(
    coordinator: MemoryCoordinator, copies: MemoryStore, audit: MemoryDocumentStore
) -> None:
    """Each tier is in the log and among the copies; the latest counts."""
    records: list[Any] = [
        working("a"),
        observation("b"),
        reflection("c"),
        observation("d"),
    ]
    for record in records:
        coordinator.record(SESSION, record)
    memory = coordinator.hydrate(SESSION)

    assert memory == SessionMemory(
        working=records[0], observation=records[3], reflection=records[2]
    )
    assert copies.hydrate(SESSION) == memory
    assert SessionLog(audit, SESSION).all() == records
    assert coordinator.hydrate("other") == SessionMemory()


def test_other_records_are_refused_before_the_log(
    coordinator: MemoryCoordinator, audit: MemoryDocumentStore
) -> None:
    """What is no memory is written nowhere."""
    other: Any = user()
    with pytest.raises(InvalidValueError, match="is no memory record"):
        coordinator.record(SESSION, other)

    assert audit.count(SESSION) == 0


def test_missing_copy_is_made_anew(
    coordinator: MemoryCoordinator, copies: MemoryStore
) -> None:
    """Copies that were lost come back from the log, and stay."""
    record = working("a")
    coordinator.record(SESSION, record)
    copies.clear(SESSION)

    assert coordinator.hydrate(SESSION).working == record
    assert copies.get(SESSION, MemoryTier.WORKING) == record


def test_stale_copy_is_made_anew(
    audit: MemoryDocumentStore, caplog: pytest.LogCaptureFixture
) -> None:
    """A copy that could not be written does not stay old for ever."""
    values = Broken()
    coordinator = MemoryCoordinator(copies := MemoryStore(values), audit)
    coordinator.record(SESSION, working("a"))
    values.broken = True
    with caplog.at_level(logging.WARNING, "graphcodec.log"):
        coordinator.record(SESSION, latest := working("b", version=2))
    values.broken = False

    assert "a working memory was not kept" in caplog.text
    assert copies.get(SESSION, MemoryTier.WORKING) != latest
    assert coordinator.hydrate(SESSION).working == latest
    assert copies.get(SESSION, MemoryTier.WORKING) == latest


def test_broken_copy_is_made_anew(audit: MemoryDocumentStore) -> None:
    """A copy that can't be read is replaced; where it can't be, the log is enough."""
    values = Broken()
    coordinator = MemoryCoordinator(copies := MemoryStore(values), audit)
    coordinator.record(SESSION, record := working("a"))
    values.values_["memory:s"] = "{"
    values.broken = True
    assert coordinator.hydrate(SESSION).working == record
    values.broken = False

    assert coordinator.hydrate(SESSION).working == record
    assert copies.hydrate(SESSION).working == record


def test_memories_of_the_log_are_found(
    coordinator: MemoryCoordinator, audit: MemoryDocumentStore
) -> None:
    """A memory that was appended to the log itself is the latest one too."""
    coordinator.record(SESSION, observation("a"))
    with SessionLog(audit, SESSION) as session:
        session.append(later := observation("b"))

    assert coordinator.hydrate(SESSION).observation == later


def test_old_collection_is_read(
    coordinator: MemoryCoordinator, audit: MemoryDocumentStore
) -> None:
    """Memories that were kept apart are found until there are newer ones."""
    with SessionLog(audit, log.audit_key(SESSION)) as old:
        old.append(record := observation("old"))

    assert coordinator.hydrate(SESSION).observation == record
    coordinator.record(SESSION, newer := observation("new"))
    assert coordinator.hydrate(SESSION).observation == newer


def test_old_version_is_refused(
    coordinator: MemoryCoordinator, audit: MemoryDocumentStore
) -> None:
    """Whoever changed an old working memory is told so."""
    coordinator.record(SESSION, working("a", version=2))
    for version in (1, 2):
        with pytest.raises(ConflictError, match="is at version 2 already") as caught:
            coordinator.record(SESSION, working("b", version=version))

    assert caught.value.value == 2
    assert audit.count(SESSION) == 1


def test_later_of_two_processes_is_refused(audit: MemoryDocumentStore) -> None:
    """Of two that write one version at once, the later is undone."""

    class Racing(MemoryDocumentStore):
        def append(self, key: str, documents: Any, /) -> Any:
            if not self.count(key):
                super().append(key, [log_document])
            return super().append(key, documents)

    source = SessionLog(audit, SESSION)
    source.append(theirs := working("theirs"))
    source.flush()
    (log_document,) = audit.scan(SESSION)
    coordinator = MemoryCoordinator(MemoryStore(), Racing())

    with pytest.raises(ConflictError, match="is at version 1 already"):
        coordinator.record(SESSION, working("mine"))
    assert coordinator.hydrate(SESSION).working == theirs


def test_failing_log_leaves_the_copy(copies: MemoryStore) -> None:
    """A memory that is not in the log is not among the copies."""

    class Down(MemoryDocumentStore):
        def append(self, key: str, documents: Any, /) -> Any:
            raise StorageError(f"{key} is down with {len(documents)}")

    with pytest.raises(StorageError, match="s is down with 1"):
        MemoryCoordinator(copies, Down()).record(SESSION, observation("a"))

    assert copies.hydrate(SESSION) == SessionMemory()


# The hierarchy


@pytest.fixture
def ledger() -> TokenLedger:
    """A ledger without a budget."""
    return TokenLedger()


@pytest.fixture
def hierarchy(coordinator: MemoryCoordinator, ledger: TokenLedger) -> MemoryHierarchy:
    """A hierarchy with the usual thresholds."""
    return MemoryHierarchy(coordinator, SESSION, ledger)


def test_nothing_is_due_below(hierarchy: MemoryHierarchy, ledger: TokenLedger) -> None:
    """Below the thresholds no memory is due."""
    ledger.record(UsageReport(input=29_999))

    assert hierarchy.check_triggers() is None


def test_observation_is_due_first(
    hierarchy: MemoryHierarchy, ledger: TokenLedger
) -> None:
    """At 30,000 tokens an observation is due, also where a reflection is."""
    hierarchy.persist_observation([], 40_000)
    assert hierarchy.check_triggers() is MemoryTier.REFLECTION
    ledger.record(UsageReport(input=20_000, output=10_000))

    assert hierarchy.check_triggers() is MemoryTier.OBSERVATION


def test_nothing_is_due_while_one_is_made(
    hierarchy: MemoryHierarchy, ledger: TokenLedger
) -> None:
    """One at a time makes memories, and nothing is due meanwhile."""
    ledger.record(UsageReport(input=30_000))
    with ThreadPoolExecutor(8) as pool:
        turns = [pool.submit(hierarchy.begin_generation) for _ in range(8)]
    assert sorted(turn.result() for turn in turns) == [False] * 7 + [True]
    assert hierarchy.check_triggers() is None
    hierarchy.end_generation()

    assert hierarchy.check_triggers() is MemoryTier.OBSERVATION
    assert hierarchy.begin_generation()


def test_memories_reset_what_called_for_them(
    hierarchy: MemoryHierarchy, ledger: TokenLedger, coordinator: MemoryCoordinator
) -> None:
    """An observation resets the rolling count, a reflection that of observations."""
    ledger.record(UsageReport(input=30_000))
    seen = hierarchy.persist_observation(observation("x").observations, 7)
    assert (ledger.rolling, hierarchy.observation_tokens) == (0, 7)
    gist = hierarchy.persist_reflection(reflection("x" * 9, "é" * 4).reflections, 7)

    assert hierarchy.observation_tokens == 0
    assert gist.observation_token_count_before == 7
    assert gist.reflection_token_count_after == 4
    assert coordinator.hydrate(SESSION) == SessionMemory(
        observation=seen, reflection=gist
    )


def test_working_memory_counts_up(
    hierarchy: MemoryHierarchy, coordinator: MemoryCoordinator
) -> None:
    """Each change of the working memory is a version above the one it changed."""
    first = hierarchy.update_working_memory(working("a").facts, 0)
    second = hierarchy.update_working_memory(working("b").facts, first.version)

    assert (first.version, second.version) == (1, 2)
    assert coordinator.hydrate(SESSION).working == second
    with pytest.raises(ConflictError, match="is at version 2 already"):
        hierarchy.update_working_memory(working("c").facts, 1)


# The ledger


def test_ledger_accumulates() -> None:
    """Tokens and cost add up; resetting the rolling count leaves the total."""
    ledger = TokenLedger()
    cost = log.UsageCosting(input=0.001, output=0.002)
    for _ in range(2):
        ledger.record(
            UsageReport(input=10, output=5, cache_read=2, cache_write=1, cost=cost)
        )
    assert (ledger.total, ledger.rolling) == (36, 30)
    ledger.reset_rolling()

    assert (ledger.total, ledger.rolling) == (36, 0)
    assert ledger.snapshot().cost == 0.006


@pytest.mark.parametrize(
    ("budget", "spent", "exhausted"),
    [
        (10, 9, False),
        (10, 10, True),
        (10, 11, True),
        (0, 0, True),
        (None, 10**9, False),
    ],
)
def test_budget(budget: int | None, spent: int, exhausted: bool) -> None:  # noqa: FBT001 - what is expected
    """A budget is exhausted exactly when all of it is spent; no budget never is."""
    ledger = TokenLedger(budget)
    ledger.record(UsageReport(input=spent))

    assert ledger.is_exhausted is exhausted
    assert ledger.remaining == (None if budget is None else max(budget - spent, 0))


def test_clamp() -> None:
    """A model is asked for no more than what is left."""
    ledger = TokenLedger(100)
    ledger.record(UsageReport(input=40))

    assert (ledger.clamp(1000), ledger.clamp(50)) == (60, 50)
    assert TokenLedger().clamp(1000) == 1000


def test_halves_are_rounded_up() -> None:
    """Counts are rounded half away from zero; what is below zero counts as nothing."""
    ledger = TokenLedger()
    for number in (0.5, 1.5, 2.5, 2.4, -3):
        ledger.record(UsageReport(input=number))

    assert ledger.total == 1 + 2 + 3 + 2


def test_snapshot() -> None:
    """A snapshot has the present counts, and comes back from JSON."""
    ledger = TokenLedger(100)
    ledger.record(UsageReport(input=10, output=5))
    snapshot = ledger.snapshot()

    assert snapshot == TokenSnapshot(
        total=15, input=10, output=5, rolling=15, budget=100, remaining=85, cost=0.0
    )
    assert log.from_json(log.to_json(snapshot), TokenSnapshot) == snapshot


def test_threads_count_exactly() -> None:
    """Eight threads by a thousand turns are counted to the token."""
    ledger = TokenLedger()

    def work(_: int) -> None:
        for _ in range(1000):
            ledger.record(UsageReport(input=2, output=1))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))

    assert ledger.total == 24_000


@pytest.mark.parametrize("budget", [-1, 1.5, "x"])
def test_budget_is_a_number(budget: Any) -> None:
    """A budget that is none is refused."""
    with pytest.raises(InvalidValueError, match="budget must be an int from 0"):
        TokenLedger(budget)
