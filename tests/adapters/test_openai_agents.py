"""Sessions of OpenAI's Agents SDK, which the SDK itself uses."""

from __future__ import annotations

import asyncio
import contextlib
from itertools import count
from typing import TYPE_CHECKING, Any, cast

import pytest
import redis.asyncio
from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
from agents.memory import Session as SessionProtocol
from agents.memory import SessionSettings
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from graphcodec import Conversation, errors
from graphcodec.adapters.openai_agents import Session
from graphcodec.cache import AsyncTurnCache

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine

    from agents.items import TResponseInputItem

    from tests.cache.servers import Server

QUIET = RunConfig(tracing_disabled=True)
ITEMS: list[Any] = [
    {"role": "user", "content": "Wie spät?\u2028 😀"},
    {"type": "reasoning", "id": "rs-1", "summary": [], "encrypted_content": "q" * 900},
    {"type": "function_call", "call_id": "c", "name": "now", "arguments": '{"a": 1}'},
    {"type": "function_call_output", "call_id": "c", "output": "noon", "$ref": 1.5},
    {
        "role": "user",
        "content": [
            {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}
        ],
    },
]


@contextlib.asynccontextmanager
async def opened(server: Server, **options: Any) -> AsyncGenerator[AsyncTurnCache]:
    """Open a cache that has saved nothing."""
    async with redis.asyncio.Redis(port=server.port) as client:
        yield AsyncTurnCache(client, **options)


@pytest.fixture
def run(server: Server) -> Callable[[Callable[[AsyncTurnCache], Any]], Any]:
    """Run a coroutine with a cache on an empty server."""
    with server.client() as client:
        client.flushall()

    async def main(talk: Callable[[AsyncTurnCache], Coroutine[Any, Any, Any]]) -> Any:
        async with opened(server) as cache:
            return await talk(cache)

    return lambda talk: asyncio.run(main(talk))


class Script(Model):
    """A model that says what it was given, and calls a tool where it has one."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    async def get_response(self, *_: Any, **asked: Any) -> ModelResponse:
        """Answer without a network."""
        given, tools = asked["input"], asked["tools"]
        self.seen.append(given)
        answer: Any = ResponseOutputMessage(
            id=f"msg-{len(self.seen)}",
            role="assistant",
            status="completed",
            type="message",
            content=[
                ResponseOutputText(
                    annotations=[], text=f"{len(given)} items", type="output_text"
                )
            ],
        )
        if tools and given[-1].get("role") == "user":
            answer = ResponseFunctionToolCall(
                arguments="{}",
                call_id=f"call-{len(self.seen)}",
                name=tools[0].name,
                type="function_call",
            )
        return ModelResponse(output=[answer], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        """Answer in pieces, which nobody asks for here."""
        raise NotImplementedError


@function_tool
def count_sheep() -> str:
    """Count the sheep."""
    return "3"


def said(number: int) -> Any:
    """Return an item that says a number."""
    return {"role": "user", "content": str(number)}


def test_two_runs_are_one_conversation(run: Any) -> None:
    """The second run is given what the first one was given, called and said."""

    async def talk(cache: AsyncTurnCache) -> None:
        model = Script()
        agent = Agent(name="shepherd", model=model, tools=[count_sheep])
        first = await Runner.run(
            agent, "How many?", session=Session("s", cache), run_config=QUIET
        )
        second = await Runner.run(
            agent, "Sure?", session=Session("s", cache), run_config=QUIET
        )

        history = await Session("s", cache).get_items()
        assert first.final_output == "3 items"
        assert second.final_output == "7 items"
        assert model.seen[2] == [
            *first.to_input_list(),
            {"role": "user", "content": "Sure?"},
        ]
        assert history == second.to_input_list()
        assert [item.get("type") for item in cast("list[dict[str, Any]]", history)] == [
            *(None, "function_call", "function_call_output", "message"),
            *(None, "function_call", "function_call_output", "message"),
        ]

    run(talk)


def test_the_settings_limit_a_run(run: Any) -> None:
    """A run gets no more of the history than the settings of the session say."""

    async def talk(cache: AsyncTurnCache) -> None:
        model = Script()
        session = Session("s", cache, session_settings=SessionSettings(limit=2))
        await session.add_items([said(number) for number in range(5)])
        agent = Agent(name="reader", model=model)
        await Runner.run(agent, "5", session=session, run_config=QUIET)

        assert model.seen == [[said(3), said(4), said(5)]]

    run(talk)


def test_it_is_what_the_sdk_calls_a_session(run: Any) -> None:
    """The protocol of the SDK is kept, for type checkers and at run time."""

    async def talk(cache: AsyncTurnCache) -> None:
        session: SessionProtocol = Session("s", cache)
        assert isinstance(session, SessionProtocol)
        assert session.session_id == "s"
        assert session.session_settings is None
        assert repr(session) == "Session('s', AsyncTurnCache(namespace='graphcodec'))"

    run(talk)


def test_items_come_back_as_they_were(run: Any) -> None:
    """Keys, their order, and what looks like the wire are those that were given."""

    async def talk(cache: AsyncTurnCache) -> None:
        await Session("s", cache).add_items(ITEMS)
        again: list[Any] = await Session("s", cache).get_items()
        assert again == ITEMS
        assert list(map(list, again)) == list(map(list, ITEMS))

    run(talk)


@pytest.mark.parametrize(
    ("limit", "first"), [(None, 0), (2, 3), (5, 0), (9, 0), (0, 5), (-1, 5)]
)
def test_limit(run: Any, limit: int | None, first: int) -> None:
    """A limit leaves the newest items, in their order."""

    async def talk(cache: AsyncTurnCache) -> None:
        session = Session("s", cache)
        assert await session.get_items(limit) == []
        await session.add_items(ITEMS)
        assert await session.get_items(limit) == ITEMS[first:]

    run(talk)


def test_pop(run: Any) -> None:
    """The newest item is taken away; from an empty session, nothing."""

    async def talk(cache: AsyncTurnCache) -> None:
        session = Session("s", cache)
        assert await session.pop_item() is None
        await session.add_items(ITEMS[:2])
        assert await session.pop_item() == ITEMS[1]
        assert await session.get_items() == ITEMS[:1]
        assert await session.pop_item() == ITEMS[0]
        assert await session.pop_item() is None
        assert await session.get_items() == []

    run(talk)


def test_clear_frees_everything(run: Any) -> None:
    """Nothing that was said stays in Redis, and the session goes on."""

    async def talk(cache: AsyncTurnCache) -> None:
        session, other = Session("s", cache), Session("t", cache)
        await other.add_items(ITEMS)
        for item in ITEMS:
            await session.add_items([item])
        await session.clear_session()

        assert await session.get_items() == []
        kept = {one.id: one async for one in cache.sessions()}
        assert (kept["s"].turns, kept["s"].chunks) == (1, 0)
        await session.add_items(ITEMS[:1])
        assert await session.get_items() == ITEMS[:1]
        assert await other.get_items() == ITEMS

    run(talk)


def test_each_change_is_a_turn(run: Any) -> None:
    """Earlier histories can be loaded; what changes nothing is no turn."""

    async def talk(cache: AsyncTurnCache) -> None:
        session = Session("s", cache)
        await session.add_items([])
        assert await cache.turns("s") == []
        await session.add_items(ITEMS[:1])
        await session.add_items(ITEMS[1:3])
        await session.pop_item()

        assert await cache.turns("s") == [1, 2, 3]
        assert await cache.load("s", 2) == ITEMS[:3]

    run(talk)


def test_a_fork_goes_on_by_itself(run: Any) -> None:
    """A session may be forked, pruned or not, and both can be added to."""

    async def talk(cache: AsyncTurnCache) -> None:
        session = Session("s", cache)
        for number in range(4):
            await session.add_items([said(number)])
        await cache.prune("s", keep=2)
        await cache.fork("s", 4, "t")
        await Session("t", cache).add_items([said(4)])

        assert await session.get_items() == [said(number) for number in range(4)]
        assert await Session("t", cache).get_items() == list(map(said, range(5)))

    run(talk)


def test_no_writer_undoes_another(server: Server, run: Any) -> None:
    """Two clients add and take at once: each item is there, or was popped, once."""

    async def add(cache: AsyncTurnCache, numbers: range) -> None:
        for number in numbers:
            await Session("s", cache).add_items([said(number)])

    async def pop(cache: AsyncTurnCache, popped: list[Any]) -> None:
        while len(popped) < 5:
            item = await Session("s", cache).pop_item()
            popped += [] if item is None else [item]

    async def talk(cache: AsyncTurnCache) -> None:
        popped: list[TResponseInputItem] = []
        async with opened(server) as other:
            await asyncio.gather(
                add(cache, range(20)),
                add(other, range(20, 40)),
                pop(other, popped),
            )
        left: list[Any] = [*await Session("s", cache).get_items(), *popped]
        assert sorted(int(item["content"]) for item in left) == list(range(40))

    run(talk)


class Interrupted(AsyncTurnCache):
    """A cache that lets others act between what a change reads and what it saves."""

    act: Callable[[], Coroutine[Any, Any, Any]] | None = None
    always = False

    async def save(self, *args: Any, **options: Any) -> Any:
        """Save, after somebody else was let in."""
        act, self.act = self.act, self.act if self.always else None
        if act is not None:
            await act()
        return await super().save(*args, **options)


@pytest.mark.parametrize("before", [0, 1, 2])
def test_a_late_change_does_not_bring_back_what_was_cleared(
    server: Server, run: Any, before: int
) -> None:
    """A session that is cleared, and filled anew, in the middle of a change."""

    async def talk(cache: AsyncTurnCache) -> None:
        quick = Session("s", cache)
        for number in range(before):
            await quick.add_items([said(number)])

        async def act() -> None:
            await quick.add_items([said(7)])
            await quick.clear_session()
            await quick.add_items([said(8)])

        async with redis.asyncio.Redis(port=server.port) as client:
            late = Interrupted(client)
            late.act = act
            await Session("s", late).add_items([said(9)])
        assert await quick.get_items() == [said(8), said(9)]
        await quick.add_items([said(10)])
        assert await quick.get_items() == [said(8), said(9), said(10)]

    run(talk)


def test_a_change_gives_up(server: Server, run: Any) -> None:
    """A change that others are always ahead of is refused, and did nothing."""

    async def talk(cache: AsyncTurnCache) -> None:
        quick, numbers = Session("s", cache), count()
        async with redis.asyncio.Redis(port=server.port) as client:
            late = Interrupted(client)
            late.always = True
            late.act = lambda: quick.add_items([said(next(numbers))])
            with pytest.raises(errors.ConflictError, match="'s' was changed by others"):
                await Session("s", late).add_items([said(-1)])
        assert await quick.get_items() == [said(number) for number in range(100)]

    run(talk)


def test_what_is_no_item_is_refused(run: Any) -> None:
    """Nothing is added if one item can't be written."""

    async def talk(cache: AsyncTurnCache) -> None:
        session = Session("s", cache)
        with pytest.raises(errors.UnencodableValueError) as caught:
            await session.add_items([said(1), cast("Any", {"content": object()})])
        assert caught.value.path == "$[1].content"
        assert await session.get_items() == []

    run(talk)


def test_another_snapshot_is_no_history(run: Any) -> None:
    """A session of the cache that holds something else is not taken for a history."""

    async def talk(cache: AsyncTurnCache) -> None:
        await cache.save("s", 1, Conversation(id="c", items=[]))
        with pytest.raises(errors.UndecodableValueError):
            await Session("s", cache).get_items()
        with pytest.raises(errors.UndecodableValueError):
            await Session("s", cache).add_items(ITEMS)
        assert await cache.turns("s") == [1]

    run(talk)


def test_arguments_are_checked(run: Any) -> None:
    """The error says what is wanted."""

    async def talk(cache: AsyncTurnCache) -> None:
        with pytest.raises(errors.InvalidValueError, match="session_id must be text"):
            Session(cast("Any", 1), cache)
        with pytest.raises(errors.InvalidValueError, match="must be an AsyncTurnCache"):
            Session("s", cast("Any", {}))

    run(talk)
