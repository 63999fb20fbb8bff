"""The contract of Pydantic AI's stores of conversations, by its own store and by ours.

What the one in memory does is what agents rely on, so each case runs with both.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
import redis.asyncio
from pydantic_ai import Agent, Conversation, DeferredToolRequests
from pydantic_ai import messages as pa
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
    InMemoryConversationStore,
)
from pydantic_ai.conversation_store import ConversationStore as Contract
from pydantic_ai.exceptions import UserError
from pydantic_ai.models.test import TestModel

from graphcodec import Codec, Seal
from graphcodec.adapters.pydantic_ai import ConversationStore

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine

    from tests.cache.servers import Server

    Run = Callable[[Callable[[Contract], Coroutine[Any, Any, None]]], None]

SEAL = Seal({"k": os.urandom(32)}, mode="encrypt", current="k")
CODECS: dict[str, Codec | None] = {
    "json": None,
    "msgpack": Codec(format="msgpack", compression="gzip"),
    "sealed": Codec(seal=SEAL),
}


@contextlib.asynccontextmanager
async def opened(server: Server, kind: str) -> AsyncGenerator[Contract]:
    """Open a store that is empty."""
    if kind == "memory":
        yield InMemoryConversationStore()
        return
    async with redis.asyncio.Redis(port=server.port) as client:
        emptied: Any = client
        await emptied.flushall()
        yield ConversationStore(client, codec=CODECS[kind])


@pytest.fixture(params=["memory", *CODECS])
def run(request: pytest.FixtureRequest, server: Server) -> Run:
    """Run a coroutine with an empty store."""

    async def main(talk: Callable[[Contract], Coroutine[Any, Any, None]]) -> None:
        async with opened(server, request.param) as store:
            await talk(store)

    return lambda talk: asyncio.run(main(talk))


def shepherd() -> Agent[None, str]:
    """Return an agent that calls a tool and then says what it gave."""
    agent = Agent(TestModel())

    @agent.tool_plain
    def count_sheep() -> int:
        return 3

    return agent


def asked(text: str) -> pa.ModelRequest:
    """Return what a user says."""
    return pa.ModelRequest([pa.UserPromptPart(text)])


def told(text: str) -> pa.ModelResponse:
    """Return what a model says."""
    return pa.ModelResponse([pa.TextPart(text)])


def texts(conversation: Conversation | None) -> list[str]:
    """Return what was said."""
    assert conversation is not None
    return [
        str(getattr(each.parts[0], "content", "")) for each in conversation.messages
    ]


async def saved(store: Contract, name: str, *lines: str, **options: Any) -> None:
    """Save a conversation of some lines, as a new one or in place of another one."""
    old = await store.load(name)
    messages: list[pa.ModelMessage] = [
        told(line) if at % 2 else asked(line) for at, line in enumerate(lines)
    ]
    talk = Conversation(conversation_id=name, messages=messages)
    talk.revision = old.revision if old is not None else None
    await store.save(talk, **options)


def linked(*names: str, after: str | None = None) -> list[ConversationEntry]:
    """Return entries, each after the one before it."""
    parents = [after, *names]
    return [
        ConversationEntry(id=name, parent_id=parent, message=asked(name))
        for name, parent in zip(names, parents, strict=False)
    ]


# With an agent


def test_two_runs_are_one_conversation(run: Run) -> None:
    """The second run is given what the first one said, and its usage is added."""

    async def talk(store: Contract) -> None:
        agent = shepherd()
        assert await store.load("c") is None
        first = await agent.run(
            "How many?", conversation=Conversation(conversation_id="c")
        )
        new = await store.save(first)
        again = await store.load("c")
        second = await agent.run("Sure?", conversation=again)
        newer = await store.save(second)

        loaded = await store.load("c")
        assert loaded is not None
        assert loaded == second.conversation
        assert loaded.messages == second.all_messages()
        assert loaded.messages[: len(new)] == first.all_messages()
        assert loaded.usage.tool_calls == 1
        assert loaded.usage.requests == 3
        assert [entry.message for entry in [*new, *newer]] == loaded.messages

    run(talk)


def test_a_result_is_saved_again_and_again(run: Run) -> None:
    """What was saved knows its new revision, and goes on."""

    async def talk(store: Contract) -> None:
        agent = shepherd()
        result = await agent.run("One")
        await store.save(result)
        assert await store.save(result) == []
        result = await agent.run("Two", conversation=result.conversation)
        assert len(await store.save(result)) == 2

    run(talk)


def test_what_a_paused_run_waits_for(run: Run) -> None:
    """A call that needs approval is approved after the conversation was loaded."""
    outputs: Any = [str, DeferredToolRequests]
    agent = Agent(TestModel(), output_type=outputs)

    @agent.tool_plain(requires_approval=True)
    def shear(sheep: int) -> str:
        return f"{sheep} is shorn"

    async def talk(store: Contract) -> None:
        paused = await agent.run("Shear one.")
        await store.save(paused)
        name = paused.conversation.conversation_id
        again = await store.load(name)
        assert again is not None
        waiting = again.deferred_tool_requests
        assert waiting == paused.output
        assert waiting is not None
        answers = waiting.build_results(approve_all=True)
        done = await agent.run(conversation=again, deferred_tool_results=answers)
        await store.save(done)

        again = await store.load(name)
        assert again is not None
        assert again.deferred_tool_requests is None
        assert "0 is shorn" in str(again.messages[-1])

    run(talk)


# What a history is


def test_entries_lead_to_each_other(run: Run) -> None:
    """Each message has an entry that names the one before it, and keeps its id."""

    async def talk(store: Contract) -> None:
        await saved(store, "c", "a", "b", "c")
        entries = await store.load_entries("c")
        assert entries is not None
        ids = [entry.id for entry in entries]
        assert [entry.parent_id for entry in entries] == [None, *ids[:-1]]
        assert [await store.read_entry(name) for name in ids] == entries
        assert await store.load_entries("other") is None

    run(talk)


@pytest.mark.parametrize(("limit", "first"), [(0, 3), (1, 2), (2, 1), (9, 0)])
def test_limit(run: Run, limit: int, first: int) -> None:
    """A limit gives the last messages, and what is saved then goes to the end."""

    async def talk(store: Contract) -> None:
        await saved(store, "c", "a", "b", "c")
        window = await store.load("c", limit=limit)
        assert texts(window) == ["a", "b", "c"][first:]
        assert window is not None
        window.messages.append(told("d"))
        await store.save(window)
        assert texts(await store.load("c")) == ["a", "b", "c", "d"]
        with pytest.raises(UserError, match="negative"):
            await store.load("c", limit=-1)

    run(talk)


def test_an_empty_history(run: Run) -> None:
    """A conversation without messages is one."""

    async def talk(store: Contract) -> None:
        await saved(store, "c")
        assert texts(await store.load("c")) == []
        assert await store.load_entries("c") == []
        assert await store.read_history(None) == []

    run(talk)


def test_what_was_saved_is_a_copy(run: Run) -> None:
    """Changes to what was given, or was returned, do not reach the store."""

    async def talk(store: Contract) -> None:
        mine = asked("a")
        conversation = Conversation(conversation_id="c", messages=[mine])
        (entry,) = await store.save(conversation)
        mine.metadata = {"changed": True}
        conversation.usage.requests = 7
        first = await store.load("c")
        assert first is not None
        first.messages.clear()
        first.usage.requests = 8

        again = await store.load("c")
        assert again is not None
        assert again.messages[0].metadata is None
        assert again.usage.requests == 0
        assert (await store.read_entry(entry.id)).message == again.messages[0]

    run(talk)


def test_no_such_entry(run: Run) -> None:
    """An entry that is not there is a LookupError."""

    async def talk(store: Contract) -> None:
        with pytest.raises(LookupError):
            await store.read_entry("e")
        with pytest.raises(LookupError):
            await store.read_history("e")

    run(talk)


# Writers


def test_the_later_of_two_is_refused(run: Run) -> None:
    """Nothing is lost: who comes second loads again, and adds to what is there."""

    async def talk(store: Contract) -> None:
        await saved(store, "c", "a")
        mine, yours = await store.load("c"), await store.load("c")
        assert mine is not None
        assert yours is not None
        mine.messages.append(told("mine"))
        yours.messages.append(told("yours"))
        await store.save(mine)
        with pytest.raises(ConversationConflict, match="'c' was saved"):
            await store.save(yours)
        assert texts(await store.load("c")) == ["a", "mine"]

        again = await store.load("c")
        assert again is not None
        again.messages.append(told("yours"))
        await store.save(again)
        assert texts(await store.load("c")) == ["a", "mine", "yours"]

    run(talk)


def test_what_was_not_loaded_replaces_nothing(run: Run) -> None:
    """A new conversation can't take the id of one that is there."""

    async def talk(store: Contract) -> None:
        await saved(store, "c", "a")
        with pytest.raises(ConversationConflict):
            await store.save(Conversation(conversation_id="c", messages=[asked("b")]))
        assert texts(await store.load("c")) == ["a"]

    run(talk)


def test_what_was_deleted_does_not_come_back(run: Run) -> None:
    """A copy that was loaded before can't be saved, even if there is a new one."""

    async def talk(store: Contract) -> None:
        await saved(store, "c", "a")
        copy = await store.load("c")
        assert copy is not None
        await store.delete("c")
        assert await store.load("c") is None
        with pytest.raises(ConversationConflict):
            await store.save(copy)
        await saved(store, "c", "b")
        with pytest.raises(ConversationConflict):
            await store.save(copy)
        assert texts(await store.load("c")) == ["b"]
        await store.delete("not there")

    run(talk)


def test_a_record_is_written_over_the_expected_one_only(run: Run) -> None:
    """The revision that is there must be the one that is expected, None included."""

    async def talk(store: Contract) -> None:
        first = ConversationRecord(conversation_id="c", head_id=None)
        second = dataclasses.replace(first, scope="s", revision="2")
        with pytest.raises(ConversationConflict):
            await store.write_record(first, expected_revision="0")
        await store.write_record(first, expected_revision=None)
        for wrong in (None, "0", "2"):
            with pytest.raises(ConversationConflict):
                await store.write_record(second, expected_revision=wrong)
        assert await store.read_record("c") == first
        await store.write_record(second, expected_revision=first.revision)
        assert await store.read_record("c") == second

        with pytest.raises(ConversationConflict):
            await store.delete_record("c", expected_revision=first.revision)
        await store.delete_record("c", expected_revision="2")
        with pytest.raises(ConversationConflict):
            await store.delete_record("c", expected_revision="2")
        assert await store.read_record("c") is None

    run(talk)


def test_a_conflict_leaves_nothing_behind(run: Run) -> None:
    """The entries of a record that was refused are not there."""

    async def talk(store: Contract) -> None:
        record = ConversationRecord(conversation_id="c", head_id="b")
        with pytest.raises(ConversationConflict):
            await store.write_record(
                record, new_entries=linked("a", "b"), expected_revision="0"
            )
        with pytest.raises(LookupError):
            await store.read_entry("a")
        with pytest.raises(ConversationConflict):
            await store.write_record(
                record, new_entries=linked("a"), expected_revision=None
            )
        with pytest.raises(LookupError):
            await store.read_entry("a")

    run(talk)


# Branches and forks


def test_a_branch(run: Run) -> None:
    """An earlier turn is asked again; the one it replaces stays, to branch back to."""

    async def talk(store: Contract) -> None:
        await saved(store, "c", "a", "b", "c", "d")
        before = await store.load_entries("c")
        left = await store.load("c")
        assert before is not None
        assert left is not None
        branch = await store.branch("c", at=2, expected_revision=left.revision)
        branch.messages.append(asked("e"))
        await store.save(branch)
        assert texts(await store.load("c")) == ["a", "b", "e"]
        record = await store.read_record("c")
        assert record is not None
        assert record.branches == [before[-1].id]
        with pytest.raises(ConversationConflict):
            await store.branch("c", at=1, expected_revision=left.revision)

        back = await store.branch(
            "c", from_entry=before[2].id, expected_revision=branch.revision
        )
        assert texts(back) == ["a", "b", "c"]
        assert texts(await store.load("c")) == ["a", "b", "c"]
        record = await store.read_record("c")
        assert record is not None
        assert len(record.branches) == 2

    run(talk)


def test_a_history_that_was_rewritten(run: Run) -> None:
    """What differs goes on from what is shared, and the old end stays."""

    async def talk(store: Contract) -> None:
        messages: list[pa.ModelMessage] = [asked("a"), told("b"), asked("c")]
        conversation = Conversation(conversation_id="c", messages=messages)
        old = await store.save(conversation)
        conversation.messages = [messages[0], told("other")]
        conversation.new_message_index = None
        (new,) = await store.save(conversation)
        assert new.parent_id == old[0].id
        assert texts(await store.load("c")) == ["a", "other"]
        history = await store.read_history(old[-1].id)
        assert [entry.id for entry in history] == [entry.id for entry in old]

    run(talk)


def test_a_fork(run: Run) -> None:
    """A fork has the entries of its source, and each goes on by itself."""

    async def talk(store: Contract) -> None:
        await saved(store, "c", "a", "b", "c", scope="s")
        fork = await store.fork("c", at=2, new_conversation_id="f")
        source = await store.load_entries("c")
        assert source is not None
        assert await store.load_entries("f") == source[:2]
        record = await store.read_record("f")
        assert record is not None
        assert (record.forked_from, record.forked_at) == ("c", source[1].id)
        assert record.scope == "s"
        with pytest.raises(ConversationConflict):
            await store.fork("c", new_conversation_id="f")

        fork.messages.append(asked("g"))
        await store.save(fork)
        assert texts(await store.load("f")) == ["a", "b", "g"]
        assert texts(await store.load("c")) == ["a", "b", "c"]

    run(talk)


def test_forks_outlive_their_source(run: Run) -> None:
    """What others need stays; what nobody needs goes with the last of them."""

    async def talk(store: Contract) -> None:
        await saved(store, "c", "a", "b", "c")
        await store.fork("c", at=1, new_conversation_id="f")
        await store.fork("f", new_conversation_id="g")
        source = await store.load_entries("c")
        assert source is not None
        await store.delete("c")
        for entry in source[1:]:
            with pytest.raises(LookupError):
                await store.read_entry(entry.id)
        await store.delete("f")
        assert texts(await store.load("g")) == ["a"]
        await store.delete("g")
        with pytest.raises(LookupError):
            await store.read_entry(source[0].id)

    run(talk)


def test_branches_keep_their_entries(run: Run) -> None:
    """An entry that only a branch reaches stays as long as a conversation has it."""

    async def talk(store: Contract) -> None:
        await saved(store, "c", "a", "b", "c")
        await saved(store, "c", "a", "x")
        await store.fork("c", at=1, new_conversation_id="f")
        record = await store.read_record("c")
        assert record is not None
        assert len(await store.read_history(record.branches[0])) == 3
        await store.delete("f")
        assert len(await store.read_history(record.branches[0])) == 3
        await store.delete("c")
        with pytest.raises(LookupError):
            await store.read_history(record.branches[0])

    run(talk)


def test_a_fork_of_what_was_just_deleted(run: Run) -> None:
    """A record can't point to an entry that is gone."""

    async def talk(store: Contract) -> None:
        await saved(store, "c", "a")
        record = await store.read_record("c")
        assert record is not None
        await store.delete("c")
        late = ConversationRecord(conversation_id="f", head_id=record.head_id)
        with pytest.raises(ConversationConflict):
            await store.write_record(late, expected_revision=None)
        assert await store.read_record("f") is None

    run(talk)


# Scopes and lists


def test_a_scope_is_kept_to(run: Run) -> None:
    """For anybody else, the conversation is not there."""

    async def talk(store: Contract) -> None:
        await saved(store, "c", "a", scope="ana")
        copy = await store.load("c", scope="ana")
        assert texts(copy) == ["a"]
        assert copy is not None
        assert await store.load("c", scope="bob") is None
        assert await store.load_entries("c", scope="bob") is None
        with pytest.raises(ConversationConflict):
            await store.save(copy, scope="bob")
        with pytest.raises(UserError, match="not in the store"):
            await store.fork("c", source_scope="bob")
        await store.delete("c", scope="bob")
        assert texts(await store.load("c")) == ["a"]
        await store.delete("c", scope="ana")
        assert await store.load("c") is None

    run(talk)


def test_lists_are_by_when_a_record_was_saved(run: Run) -> None:
    """The last saved comes first; a scope lists its own."""

    async def talk(store: Contract) -> None:
        then = datetime(2025, 6, 1, tzinfo=UTC)
        for number, name in enumerate("abcd"):
            record = ConversationRecord(
                conversation_id=name,
                head_id=None,
                scope="even" if number % 2 == 0 else None,
                revision="1",
                updated_at=then + timedelta(microseconds=number),
            )
            await store.write_record(record, expected_revision=None)

        async def listed(**options: Any) -> str:
            found = await store.list_conversations(**options)
            return "".join(record.conversation_id for record in found)

        assert await listed() == "dcba"
        assert await listed(limit=2) == "dc"
        assert await listed(limit=0) == ""
        assert await listed(scope="even") == "ca"
        assert await listed(scope="even", limit=1) == "c"
        assert await listed(scope="odd") == ""

        later = ConversationRecord(conversation_id="a", head_id=None, scope="odd")
        await store.write_record(later, expected_revision="1")
        await store.delete("d")
        assert await listed() == "acb"
        assert await listed(scope="even") == "c"
        assert await listed(scope="odd") == "a"

    run(talk)
