"""What a store of conversations does in Redis, and what is done to it there."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, assert_type, cast

import pytest
import redis
import redis.asyncio
from pydantic_ai import Agent, Conversation, ToolReturn, conversation_store
from pydantic_ai import messages as pa
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
)
from pydantic_ai.models.test import TestModel

from graphcodec import Codec, Limits, Media, Redaction, Seal, errors
from graphcodec._cache._arguments import digest_of
from graphcodec.adapters.pydantic_ai import TYPES, ConversationStore
from graphcodec.cache import AsyncTurnCache
from graphcodec_resolvers import FsspecResolver, FsspecStore
from tests.cache.servers import Client, Server, clustered

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine

    from graphcodec._seal import Mode

    Talk = Callable[[ConversationStore, Client], Coroutine[Any, Any, None]]

ROOT: Final = Path(__file__).parents[2]
PREFIX: Final = "{graphcodec:conversations}:"
PNG: Final = b"\x89PNG\r\n\x1a\n"


def key(kind: str, name: str, prefix: str = PREFIX) -> str:
    """Return a key of the store."""
    return f"{prefix}{kind}:{digest_of(name)}"


@contextlib.asynccontextmanager
async def opened(
    server: Server, **options: Any
) -> AsyncGenerator[tuple[ConversationStore, Client]]:
    """Open a store, and its client."""
    async with redis.asyncio.Redis(port=server.port) as client:
        yield ConversationStore(client, **options), client


@pytest.fixture
def run(server: Server) -> Callable[..., None]:
    """Run a coroutine with a store, and its client, on an empty server."""
    with server.client() as client:
        client.flushall()

    async def main(talk: Talk, options: dict[str, Any]) -> None:
        async with opened(server, **options) as (store, client):
            await talk(store, client)

    def runs(talk: Talk, **options: Any) -> None:
        asyncio.run(main(talk, options))

    return runs


def said(*lines: str, name: str = "c") -> Conversation:
    """Return a conversation in which a user says some lines."""
    messages: list[pa.ModelMessage] = [
        pa.ModelRequest([pa.UserPromptPart(line)]) for line in lines
    ]
    return Conversation(conversation_id=name, messages=messages)


async def add(store: ConversationStore, name: str, line: str) -> None:
    """Add a line to a conversation, whoever else adds to it."""
    while True:
        talk = await store.load(name) or Conversation(conversation_id=name)
        talk.messages += said(line).messages
        try:
            await store.save(talk)
        except ConversationConflict:
            continue
        return


async def lines_of(store: ConversationStore, name: str = "c") -> list[str]:
    """Return what was said in a conversation."""
    talk = await store.load(name)
    assert talk is not None
    return [str(getattr(each.parts[0], "content", "")) for each in talk.messages]


# What is kept


def test_a_document_for_each_message(run: Any) -> None:
    """A save sends what is new; a fork, nothing of what is there; a delete, all."""

    async def talk(store: ConversationStore, client: Client) -> None:
        conversation = said("one", "two")
        first = await store.save(conversation)
        kept = {
            name: await client.hget(name, "document")
            for name in [key("entry", entry.id) for entry in first]
        }
        conversation.messages += said("three").messages
        await store.save(conversation)
        await store.fork("c", new_conversation_id="f")

        assert len(await client.keys(f"{PREFIX}entry:*")) == 3
        for name, document in kept.items():
            assert await client.hget(name, "document") == document
        assert b'"content":"one"' in kept[key("entry", first[0].id)]
        await store.delete("c")
        assert await lines_of(store, "f") == ["one", "two", "three"]
        await store.delete("f")
        assert await client.keys() == []

    run(talk)


def test_a_rewrite_frees_what_it_lets_go(run: Any) -> None:
    """A record that no longer names a branch takes its entries away."""

    async def talk(store: ConversationStore, client: Client) -> None:
        entries = await store.save(said("one", "two"))
        record = await store.read_record("c")
        assert record is not None
        shorter = dataclasses.replace(record, head_id=entries[0].id, revision="r")
        await store.write_record(shorter, expected_revision=record.revision)
        assert await lines_of(store) == ["one"]
        assert len(await client.keys(f"{PREFIX}entry:*")) == 1

    run(talk)


def test_a_long_history(run: Any) -> None:
    """A history of more than one answer of Redis comes whole, or its last part."""

    async def talk(store: ConversationStore, _: Client) -> None:
        lines = [str(number) for number in range(600)]
        await store.save(said(*lines))
        window = await store.load_entries("c", limit=300)
        assert window is not None
        assert len(window) == 300
        assert await lines_of(store) == lines
        assert getattr(window[0].message.parts[0], "content", "") == "300"
        await store.delete("c")

    run(talk)


def test_an_entry_is_never_written_over(run: Any) -> None:
    """An id that is taken is a conflict: others may have that entry, too."""

    async def talk(store: ConversationStore, _: Client) -> None:
        (entry,) = await store.save(said("one"))
        other = dataclasses.replace(entry, message=said("other").messages[0])
        record = ConversationRecord(conversation_id="d", head_id=entry.id)
        with pytest.raises(ConversationConflict):
            await store.write_record(
                record, new_entries=[other], expected_revision=None
            )
        assert await lines_of(store) == ["one"]

    run(talk)


def test_what_is_written_must_be_led_to(run: Any) -> None:
    """An entry after one that is not there, or a branch that is not, is a conflict."""

    async def talk(store: ConversationStore, client: Client) -> None:
        message = said("one").messages[0]
        entry = ConversationEntry(id="e", parent_id="gone", message=message)
        record = ConversationRecord(conversation_id="c", head_id="e")
        with pytest.raises(ConversationConflict):
            await store.write_record(
                record, new_entries=[entry], expected_revision=None
            )
        record = ConversationRecord(
            conversation_id="c", head_id=None, branches=["gone"]
        )
        with pytest.raises(ConversationConflict):
            await store.write_record(record, expected_revision=None)
        assert await client.keys() == []

    run(talk)


def test_a_save_that_is_sent_twice(run: Any) -> None:
    """A client that sends a save again after a lost answer is told that it is saved."""

    async def talk(store: ConversationStore, client: Client) -> None:
        send = client.execute_command

        async def twice(*words: Any, **options: Any) -> Any:
            if words[0] in ("EVAL", "EVALSHA"):
                await send(*words, **options)
            return await send(*words, **options)

        client.execute_command = twice
        await store.save(said("one"))
        await add(store, "c", "two")
        assert await lines_of(store) == ["one", "two"]
        await store.delete("c")
        assert await client.keys() == []

    run(talk)


def test_two_namespaces(run: Any, server: Server) -> None:
    """Stores of two namespaces share nothing; the name may be any text."""

    async def talk(store: ConversationStore, _: Client) -> None:
        await store.save(said("one"))
        for name in ("", "a b", "{x}:*", "ü\ud800"):
            async with opened(server, namespace=name) as (other, _):
                assert await other.load("c") is None
                await other.save(said("two"))
                assert await other.list_conversations() != []
        assert await lines_of(store) == ["one"]
        assert len(await store.list_conversations()) == 1

    run(talk)


def test_a_cache_beside_it(run: Any) -> None:
    """A cache of the same namespace, and of the same ids, is not touched."""

    async def talk(store: ConversationStore, client: Client) -> None:
        cache = AsyncTurnCache(client)
        await cache.save("c", 1, ["kept"])
        await store.save(said("one"))
        assert [session.id async for session in cache.sessions()] == ["c"]
        await store.delete("c")
        assert await cache.load("c") == ["kept"]

    run(talk)


# Writers


def test_no_writer_undoes_another(run: Any, server: Server) -> None:
    """Three writers at once, through two clients: each line is there once."""

    async def talk(store: ConversationStore, _: Client) -> None:
        async def write(which: ConversationStore, numbers: range) -> None:
            for number in numbers:
                await add(which, "c", str(number))

        async with opened(server) as (other, _):
            await asyncio.gather(
                write(store, range(10)),
                write(other, range(10, 20)),
                write(other, range(20, 30)),
            )
        assert sorted(map(int, await lines_of(store))) == list(range(30))

    run(talk)


TALKER: Final = """
import asyncio, sys
from tests.adapters.test_conversations_in_redis import talks

asyncio.run(talks(int(sys.argv[1])))
"""


async def talks(port: int) -> None:
    """Ask an agent eight times in one conversation, whoever else does."""
    agent = Agent(TestModel())
    async with redis.asyncio.Redis(port=port) as client:
        store = ConversationStore(client)
        asked = 0
        while asked < 8:
            talk = await store.load("c") or Conversation(conversation_id="c")
            result = await agent.run(str(asked), conversation=talk)
            with contextlib.suppress(ConversationConflict):
                await store.save(result)
                asked += 1


def test_two_processes(run: Any, server: Server) -> None:
    """Two processes run agents in one conversation: each turn is there, in order."""

    async def talk(store: ConversationStore, _: Client) -> None:
        words = (sys.executable, "-c", TALKER, str(server.port))
        other = await asyncio.create_subprocess_exec(*words, cwd=ROOT)
        # Both have something to do: the other one needs a moment to begin.
        while await store.load("c") is None:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await talks(server.port)
        assert await other.wait() == 0

        again = await store.load("c")
        assert again is not None
        asked = (await lines_of(store))[::2]
        assert sorted(asked) == sorted(2 * [str(number) for number in range(8)])
        assert again.usage.requests == 16

    run(talk)


def test_a_delete_in_the_middle_of_a_read(run: Any) -> None:
    """Who reads while others delete and save anew gets one or the other, whole."""

    async def talk(store: ConversationStore, _: Client) -> None:
        done = False

        async def change() -> None:
            nonlocal done
            for _ in range(30):
                await store.save(said("one", "two"))
                await store.delete("c")
            done = True

        async def read() -> None:
            while not done:
                found = await store.load("c")
                assert found is None or len(found.messages) == 2

        await asyncio.gather(change(), read(), read())

    run(talk)


# Time


def test_a_conversation_passes(run: Any) -> None:
    """With its time, a conversation is gone; so is its place in the lists."""

    async def talk(store: ConversationStore, client: Client) -> None:
        await store.save(said("one"), scope="s")
        async with asyncio.timeout(20):
            # Redis tells nobody.
            while await store.load("c") is not None:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            assert await store.list_conversations(scope="s") == []
            assert await store.list_conversations() == []
            while await client.keys():  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    run(talk, ttl=timedelta(milliseconds=200))


async def left(client: Client, pattern: str) -> list[int]:
    """Return how many milliseconds keys have left, -1 for those that stay."""
    return [await client.pttl(name) for name in await client.keys(pattern)]


def test_entries_last_as_long_as_what_needs_them(run: Any, server: Server) -> None:
    """Each save puts off the end of all its history, and of no other record."""

    async def talk(store: ConversationStore, client: Client) -> None:
        await store.save(said("one", "two"))
        await store.fork("c", at=1, new_conversation_id="f")
        async with opened(server, ttl=1_000) as (longer, _):
            await add(longer, "f", "three")

        times = sorted(await left(client, f"{PREFIX}entry:*"))
        assert 100_000 < times[0] <= 113_500
        assert 1_000_000 < times[1] <= times[2] <= 1_126_000
        assert await client.pttl(key("record", "c")) <= 100_000
        assert 999_000 < await client.pttl(key("record", "f")) <= 1_000_000
        assert await client.pttl(f"{PREFIX}records") > 1_000_000

    run(talk, ttl=100)


def test_no_entry_passes_before_what_follows_it(run: Any) -> None:
    """However often a history was added to, its beginning lasts as long as its end."""

    async def talk(store: ConversationStore, client: Client) -> None:
        for number in range(40):
            await add(store, "c", str(number))
            # As if time went by: a little of it, and then most of it.
            for name in await client.keys(f"{PREFIX}entry:*"):
                end = await client.pexpiretime(name)
                await client.pexpireat(name, end - (70_000 if number == 30 else 3_000))
            entries = await store.load_entries("c")
            assert entries is not None
            places = [key("entry", entry.id) for entry in entries]
            ends = [await client.pexpiretime(place) for place in places]
            assert ends == sorted(ends, reverse=True)
        await add(store, "c", "last")
        assert min(await left(client, f"{PREFIX}entry:*")) > 100_000

    run(talk, ttl=100)


def test_what_is_saved_without_a_time_stays(run: Any, server: Server) -> None:
    """A store without a time keeps what one with a time would have let pass."""

    async def talk(store: ConversationStore, client: Client) -> None:
        await store.save(said("one", "two"), scope="s")
        async with opened(server) as (forever, _):
            await add(forever, "c", "three")
        assert set(await left(client, "*")) == {-1}
        await store.fork("c", at=1, new_conversation_id="f")
        assert set(await left(client, f"{PREFIX}entry:*")) == {-1}
        assert set(await left(client, f"{PREFIX}records")) == {-1}

    run(talk, ttl=100)


def test_lists_forget_what_has_passed(run: Any) -> None:
    """A list does not grow with conversations that are gone."""

    async def talk(store: ConversationStore, client: Client) -> None:
        for number in range(10):
            await store.save(said("one", name=str(number)))
            await client.delete(key("record", str(number)))
        assert await client.zcard(f"{PREFIX}records") <= 2
        await client.zadd(f"{PREFIX}records", {digest_of("gone"): 1e18})
        assert await store.list_conversations(limit=1) == []
        assert await client.zcard(f"{PREFIX}records") == 0

    run(talk, ttl=100)


# The codec


@dataclasses.dataclass
class Hours:
    """What a tool gives back."""

    first: int
    last: int


def test_classes_come_with_the_codec(run: Any) -> None:
    """What a tool gave back is what comes back, if the codec knows its class."""
    agent = Agent(TestModel())

    @agent.tool_plain
    def opening_hours() -> Hours:
        return Hours(9, 17)

    async def talk(store: ConversationStore, _: Client) -> None:
        result = await agent.run("When?")
        await store.save(result)
        again = await store.load(result.conversation.conversation_id)
        assert again is not None
        assert again == result.conversation
        assert again.messages[2].parts[0] == pa.ToolReturnPart(
            "opening_hours",
            Hours(9, 17),
            tool_call_id=cast("Any", again.messages[2].parts[0]).tool_call_id,
            timestamp=cast("Any", again.messages[2].parts[0]).timestamp,
        )

    run(talk, codec=Codec(types={**TYPES, "shop.Hours": Hours}))


def test_an_unknown_class_is_refused(run: Any) -> None:
    """Nothing is written if one message can't be read again; the error says where."""

    async def talk(store: ConversationStore, client: Client) -> None:
        conversation = said("one", "two")
        conversation.messages[1].metadata = {"hours": Hours(9, 17)}
        with pytest.raises(errors.UnencodableValueError) as caught:
            await store.save(conversation)
        assert caught.value.path == "$.message.metadata.hours"
        assert await client.keys() == []

    run(talk)


def test_limits(run: Any) -> None:
    """A message that breaks a limit is refused, and nothing is written."""

    async def talk(store: ConversationStore, client: Client) -> None:
        await store.save(said("one"))
        before = await client.keys()
        with pytest.raises(errors.LimitExceededError, match="max_bytes"):
            await store.save(said("x" * 5_000, name="d"))
        assert sorted(await client.keys()) == sorted(before)
        assert await store.load("d") is None

    run(talk, codec=Codec(limits=Limits(max_bytes=4_000)))


def test_files_and_handles(run: Any, tmp_path: Path) -> None:
    """Bytes come back as bytes, and a handle opens what is in the store of media."""
    media = FsspecStore(str(tmp_path), alias="media")
    agent = Agent(TestModel())

    @agent.tool_plain
    def report() -> ToolReturn:
        picture = Media.tool_generated(
            kind="image",
            mime_type="image/png",
            filename="p.png",
            reader=media.write(PNG),
        )
        return ToolReturn("It is drawn.", metadata={"picture": picture})

    async def talk(store: ConversationStore, client: Client) -> None:
        picture = pa.BinaryContent(b"\0\xff", media_type="image/png")
        prompt: list[pa.UserContent] = ["What is this?", picture]
        result = await agent.run(prompt)
        await store.save(result)
        again = await store.load(result.conversation.conversation_id)
        assert again is not None
        assert again == result.conversation
        answer = cast("pa.ToolReturnPart", again.messages[2].parts[0])
        assert answer.metadata["picture"].read() == PNG
        for name in await client.keys(f"{PREFIX}entry:*"):
            assert PNG[:4] not in await client.hget(name, "document")

    run(talk, codec=Codec(resolvers=[FsspecResolver({"media": media})]))


def test_redaction(run: Any) -> None:
    """Rules hold for what was said, and leave the ids by which things are found."""

    async def talk(store: ConversationStore, client: Client) -> None:
        await store.save(said("my key is sk-1234", name="sk-9"), scope="sk-0")
        assert await lines_of(store, "sk-9") == ["my key is [key]"]
        assert len(await store.list_conversations(scope="sk-0")) == 1
        for name in await client.keys(f"{PREFIX}entry:*"):
            assert b"1234" not in await client.hget(name, "document")

    rule = Redaction("keys", pattern=r"sk-\d+", replacement="[key]")
    run(talk, codec=Codec(redact=[rule]))


# Strangers


def sealed(mode: Mode, key_: bytes = bytes(32)) -> Codec:
    """Return a codec with a seal."""
    return Codec(seal=Seal({"k": key_}, mode=mode, current="k"))


@pytest.mark.parametrize("mode", ["sign", "encrypt"])
def test_nobody_moves_what_is_sealed(run: Any, server: Server, mode: Mode) -> None:
    """Documents fit only in the place they were written for, and with the key."""

    async def talk(store: ConversationStore, client: Client) -> None:
        first, second = await store.save(said("secret", "two"))
        await store.save(said("three", name="d"))
        stored = await client.hget(key("entry", first.id), "document")
        assert (b"secret" in stored) is (mode == "sign")

        await client.hset(key("entry", second.id), "document", stored)
        with pytest.raises(errors.SealError):
            await store.load("c")
        other = await client.hget(key("record", "d"), "document")
        await client.hset(key("record", "c"), "document", other)
        with pytest.raises(errors.SealError):
            await store.load("c")
        moved = key("record", "d", "{n:conversations}:")
        await client.hset(moved, "document", other)
        async with opened(server, codec=sealed(mode), namespace="n") as (away, _):
            with pytest.raises(errors.SealError):
                await away.load("d")
        async with opened(server, codec=sealed(mode, os.urandom(32))) as (thief, _):
            with pytest.raises(errors.SealError):
                await thief.load("d")
        async with opened(server) as (plain, _):
            with pytest.raises(errors.SealError) as caught:
                await plain.load("d")
        assert caught.value.__notes__ == [
            f"this is what Redis holds at {key('record', 'd')}"
        ]

    run(talk, codec=sealed(mode))


def test_a_damaged_document(run: Any) -> None:
    """What is no document, or holds something else, is an error that names the key."""

    async def talk(store: ConversationStore, client: Client) -> None:
        first, second = await store.save(said("one", "two"))
        place = key("entry", second.id)
        whole = await client.hget(place, "document")
        for wrong in (b"", whole[:-9], b'{"graphcodec":1,"root":[]}'):
            await client.hset(place, "document", wrong)
            with pytest.raises(errors.UndecodableValueError) as caught:
                await store.load("c")
            assert caught.value.__notes__ == [f"this is what Redis holds at {place}"]

        other = await client.hget(key("entry", first.id), "document")
        await client.hset(place, "document", other)
        with pytest.raises(errors.UndecodableValueError, match="belongs elsewhere"):
            await store.read_entry(second.id)

    run(talk)


def test_a_record_in_the_place_of_another(run: Any) -> None:
    """A record is not taken for that of another conversation, or of another scope."""

    async def talk(store: ConversationStore, client: Client) -> None:
        await store.save(said("one"), scope="ana")
        await store.save(said("two", name="d"), scope="bob")
        await client.zadd(key("scope", "bob"), {digest_of("c"): 1})
        with pytest.raises(errors.UndecodableValueError, match="belongs elsewhere"):
            await store.list_conversations(scope="bob")
        document = await client.hget(key("record", "c"), "document")
        await client.hset(key("record", "d"), "document", document)
        with pytest.raises(errors.UndecodableValueError, match="belongs elsewhere"):
            await store.load("d")

    run(talk)


def test_a_missing_entry(run: Any) -> None:
    """What was evicted is an error of a load, and never a shorter history."""

    async def talk(store: ConversationStore, client: Client) -> None:
        first, _, _ = await store.save(said("one", "two", "three"))
        await client.delete(key("entry", first.id))
        with pytest.raises(errors.SnapshotNotFoundError, match=first.id):
            await store.load("c")
        assert len(await store.load_entries("c", limit=2) or ()) == 2

    run(talk)


def test_a_history_that_bites_its_tail(run: Any) -> None:
    """Entries that lead to each other are refused, not followed for ever."""

    async def talk(store: ConversationStore, client: Client) -> None:
        first, second = await store.save(said("one", "two"))
        place = key("entry", first.id)
        turned = dataclasses.replace(first, parent_id=second.id)
        document = Codec(types=TYPES).encode(turned)
        names = {"document": document, "parent": digest_of(second.id)}
        await client.hset(place, mapping=names)
        with pytest.raises(errors.UndecodableValueError, match="was changed"):
            await store.load("c")
        await client.hset(place, "document", Codec(types=TYPES).encode(first))
        with pytest.raises(errors.UndecodableValueError, match="was changed"):
            await store.load("c")

    run(talk)


# Clients


@pytest.mark.parametrize("decode", [False, True])
def test_clients(decode: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Those of a cluster, and those that decode, do as all others do."""

    async def talk(server: Server) -> None:
        options: dict[str, Any] = {"port": server.port, "decode_responses": decode}
        client = cast("Client", redis.asyncio.RedisCluster("127.0.0.1", **options))
        store = ConversationStore(client, ttl=60)
        for line in ("one", "two"):
            await add(store, "c", line)
        await store.fork("c", at=1, new_conversation_id="f", scope="s")
        assert await lines_of(store) == ["one", "two"]
        assert len(await store.list_conversations(scope="s")) == 1
        for name in ("c", "f"):
            await store.delete(name)
        assert await client.dbsize() == 0
        await client.aclose()

    with clustered() as server:
        asyncio.run(talk(server))


def test_it_is_a_store_of_pydantic_ai(run: Any) -> None:
    """For type checkers and at run time; its other methods are those of the library."""

    async def talk(store: ConversationStore, _: Client) -> None:
        contract: conversation_store.ConversationStore = store
        assert isinstance(contract, conversation_store.ConversationStore)
        assert_type(await store.load("c"), Conversation | None)
        assert_type(await store.load_entries("c"), list[ConversationEntry] | None)

    run(talk)


def test_arguments_are_checked(run: Any) -> None:
    """The error says what is wanted."""

    async def talk(store: ConversationStore, client: Client) -> None:
        blocking: Any = redis.Redis()
        with pytest.raises(errors.InvalidValueError, match=r"one of redis\.asyncio"):
            ConversationStore(blocking)
        with pytest.raises(
            errors.InvalidValueError, match=r"redis\.asyncio\.Redis\(\)"
        ):
            ConversationStore(None)
        with pytest.raises(errors.InvalidValueError, match="codec must be a Codec"):
            ConversationStore(client, codec=cast("Any", TYPES))
        with pytest.raises(errors.InvalidValueError, match="ttl must be"):
            ConversationStore(client, ttl=0)
        with pytest.raises(errors.InvalidValueError, match="namespace must be text"):
            ConversationStore(client, namespace=cast("Any", 1))
        with pytest.raises(errors.InvalidValueError, match="an id must be text"):
            await store.load(cast("Any", 1))
        taken = Codec(types={"pydantic_ai.TextPart": Hours})
        with pytest.raises(errors.DuplicateTagError, match=r"pydantic_ai\.TextPart"):
            ConversationStore(client, codec=taken)
        assert repr(store) == "ConversationStore(namespace='graphcodec')"

    run(talk)
