"""Checkpoints of LangGraph are documents, whatever the checkpointer."""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false
# LangGraph leaves type variables of its builders open.

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import ipaddress
import operator
import os
import pathlib
import re
import sqlite3
import uuid
import zoneinfo
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import ormsgpack
import pydantic
import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.cache.memory import InMemoryCache
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.serde.types import (
    _DeltaSnapshot,  # pyright: ignore[reportPrivateUsage]
)
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.store.base import GetOp, Item
from langgraph.types import (
    CachePolicy,
    Command,
    Interrupt,
    Overwrite,
    PregelTask,
    Send,
    StateSnapshot,
    TimeoutPolicy,
    interrupt,
)

from graphcodec import Codec, Limits, Message, Seal, decode, errors
from graphcodec.adapters.langgraph import Serializer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import BaseCheckpointSaver

Builder: Any = StateGraph
NOW = dt.datetime(2026, 5, 4, 12, tzinfo=dt.UTC)


class Size(enum.Enum):
    """An Enum of the user."""

    SMALL = "s"


@dataclasses.dataclass
class Order:
    """A dataclass of the user."""

    number: int
    lines: list[str]


class Parcel(pydantic.BaseModel):
    """A pydantic model of the user."""

    weight: float
    sent: dt.datetime
    order: Order | None = None


TYPES: dict[str, type] = {"shop.Size": Size, "shop.Order": Order, "shop.Parcel": Parcel}


def serializer(**options: Any) -> Serializer:
    """Return a serializer that knows the classes of this module."""
    return Serializer(Codec(types=TYPES, **options), earlier=TYPES.values())


def earlier() -> JsonPlusSerializer:
    """Return LangGraph's own serializer, with the classes of this module allowed."""
    return JsonPlusSerializer(allowed_msgpack_modules=list(TYPES.values()))


@pytest.fixture(params=["memory", "sqlite"])
def saver(request: pytest.FixtureRequest) -> Iterator[BaseCheckpointSaver[Any]]:
    """A checkpointer with our serializer."""
    if request.param == "memory":
        yield InMemorySaver(serde=serializer())
        return
    with sqlite3.connect(":memory:", check_same_thread=False) as connection:
        yield SqliteSaver(connection, serde=serializer())
    connection.close()


def thread(name: str = "t") -> RunnableConfig:
    """Return the configuration of one thread."""
    return {"configurable": {"thread_id": name}}


# Values

ITEM = Item(value={"a": 1}, key="k", namespace=("n",), created_at=NOW, updated_at=NOW)
SNAPSHOT = StateSnapshot(
    values={"a": 1},
    next=("n",),
    config=thread(),
    metadata={"source": "loop", "step": 1, "parents": {}},
    created_at="2026",
    parent_config=None,
    tasks=(PregelTask("i", "n", ("__pregel_pull", "n"), interrupts=(Interrupt(1),)),),
    interrupts=(),
)
# What a tuple is for, LangGraph's own format forgets.
LISTED = [
    GetOp(("n",), "k"),
    PregelTask("i", "n", ("a", 1)),
    SNAPSHOT,
    ITEM,
    Command(goto=[Send("n", 1)]),
]
VALUES: list[Any] = [
    None,
    True,
    2**70,
    1.5,
    "text",
    b"bytes",
    bytearray(b"array"),
    {"a": [1, (2, 3)], "b": {4}},
    {1: "one", (1, 2): "two"},
    {1, 2},
    frozenset([1]),
    collections.deque([1, 2]),
    uuid.UUID(int=7),
    NOW,
    dt.datetime(2026, 5, 4),  # noqa: DTZ001
    NOW.date(),
    dt.time(1, 2, 3, tzinfo=dt.UTC),
    dt.timedelta(days=1, microseconds=2),
    dt.UTC,
    dt.timezone(dt.timedelta(hours=2)),
    dt.timezone(dt.timedelta(hours=2), "far"),
    zoneinfo.ZoneInfo("Europe/Berlin"),
    decimal.Decimal("1.20"),
    ipaddress.ip_address("10.0.0.1"),
    ipaddress.ip_network("10.0.0.0/8"),
    ipaddress.ip_interface("10.0.0.1/8"),
    ipaddress.ip_address("::1"),
    ipaddress.ip_network("fe80::/10"),
    ipaddress.ip_interface("::1/128"),
    pathlib.Path("a") / "b",
    re.compile(r"a+", re.IGNORECASE),
    Size.SMALL,
    Order(1, ["tea"]),
    Parcel(weight=1.5, sent=NOW, order=Order(2, [])),
    Send("n", {"a": 1}),
    Send("n", 1, timeout=3.0),
    Command(resume={"id": "yes"}),
    Command(update={"a": 1}, graph=Command.PARENT),
    Interrupt("why?", id="i"),
    Interrupt("why?", id="i", response_schema={"type": "object"}),
    Overwrite([1]),
    TimeoutPolicy(run_timeout=1.5, idle_timeout=dt.timedelta(seconds=2)),
    _DeltaSnapshot([HumanMessage("hi", id="1")]),
    HumanMessage([{"type": "text", "text": "hi"}], id="1"),
    AIMessage("", tool_calls=[{"name": "f", "args": {"a": 1}, "id": "c"}]),
    ToolMessage("r", tool_call_id="c", artifact={"a": b"1"}),
    Document(page_content="p", metadata={"a": 1}),
]


def named(value: object) -> str:
    """Return the name of a test."""
    return type(value).__name__


@pytest.mark.parametrize("value", [*VALUES, *LISTED], ids=named)
@pytest.mark.parametrize("form", ["json", "msgpack"])
def test_values_of_a_state_come_back(value: object, form: str) -> None:
    """What LangGraph's own serializer takes comes back with its type."""
    serde = serializer(format=form)
    there = serde.loads_typed(serde.dumps_typed(value))

    assert there == value
    assert type(there) is type(value)


def test_it_is_a_serializer_of_langgraph() -> None:
    """LangGraph takes it as it is, and does not wrap it."""
    serde = serializer()

    assert isinstance(serde, SerializerProtocol)
    assert InMemorySaver(serde=serde).serde is serde


def test_primitives_come_back() -> None:
    """A state may hold graphcodec's own objects, without telling the codec."""
    message = Message(id="m", role="user", content="Hi", created_at=NOW, updated_at=NOW)
    kind, data = Serializer().dumps_typed({"last": message})

    assert kind == "graphcodec"
    assert decode(data) == {"last": message}
    assert Serializer().loads_typed((kind, data)) == {"last": message}


def test_sharing_is_kept() -> None:
    """Two fields with one object have one object again."""
    order = Order(1, [])
    serde = serializer()
    there: Any = serde.loads_typed(serde.dumps_typed([order, order]))

    assert there[0] is there[1]


def test_an_exception_becomes_its_text() -> None:
    """As LangGraph's own serializer does it with a task that failed."""
    serde = serializer()

    assert serde.loads_typed(serde.dumps_typed(ValueError("no"))) == "ValueError('no')"


def test_the_codec_is_left_alone() -> None:
    """LangGraph's classes are registered with a copy."""
    codec = Codec()
    data = Serializer(codec).dumps_typed(Overwrite(1))[1]

    with pytest.raises(errors.UndecodableValueError, match=r"langgraph\.Overwrite"):
        codec.decode(data)


def test_a_taken_tag_is_refused() -> None:
    """A codec that gave LangGraph's tag to another class can't be used."""
    with pytest.raises(errors.DuplicateTagError, match=r"'langgraph.Send' belongs to"):
        Serializer(Codec(types={"langgraph.Send": Order}))


def test_what_could_not_be_read_is_not_written() -> None:
    """A class that the codec does not know stops the save, with its path."""
    with pytest.raises(errors.UnencodableValueError, match=r"write a .*Order") as got:
        Serializer().dumps_typed({"orders": [Order(1, [])]})

    assert got.value.path == "$.orders[0]"


# Graphs


class State(TypedDict):
    """What the graphs of this module carry."""

    messages: Annotated[list[AnyMessage], add_messages]
    parcels: Annotated[list[Parcel], operator.add]
    seen: set[str]
    when: dt.datetime


def ask(state: State) -> dict[str, object]:
    """Stop and ask; then note what was answered."""
    answer = interrupt({"question": "send it?", "parcel": state["parcels"][-1]})
    return {"messages": [AIMessage(f"You said {answer}", id="a")], "seen": {"ask"}}


def pack(state: State) -> dict[str, object]:
    """Add a parcel."""
    order = Order(len(state["messages"]), ["tea"])
    return {"parcels": [Parcel(weight=1.0, sent=NOW, order=order)], "when": NOW}


def shop(saver: BaseCheckpointSaver[Any]) -> Any:
    """Return a graph that packs, asks and is done."""
    builder = Builder(State)
    builder.add_node("pack", pack)
    builder.add_node("ask", ask)
    builder.add_edge(START, "pack")
    builder.add_edge("pack", "ask")
    builder.add_edge("ask", END)
    return builder.compile(checkpointer=saver)


def begin(saver: BaseCheckpointSaver[Any]) -> Any:
    """Run the graph up to its question."""
    hello = HumanMessage("Hi", id="h", additional_kwargs={"from": "ann"})
    return shop(saver).invoke({"messages": [hello], "seen": set()}, thread())


def finish(saver: BaseCheckpointSaver[Any]) -> Any:
    """Answer the question."""
    return shop(saver).invoke(Command(resume="yes"), thread())


def test_a_graph_stops_and_goes_on(saver: BaseCheckpointSaver[Any]) -> None:
    """The state has its objects again when the question was answered."""
    stopped = begin(saver)
    parcel = Parcel(weight=1.0, sent=NOW, order=Order(1, ["tea"]))
    (question,) = stopped["__interrupt__"]
    assert question.value == {"question": "send it?", "parcel": parcel}

    state = finish(saver)
    assert [message.text for message in state["messages"]] == ["Hi", "You said yes"]
    assert state["messages"][0].additional_kwargs == {"from": "ann"}
    assert (state["parcels"], state["seen"], state["when"]) == ([parcel], {"ask"}, NOW)


def test_history_can_be_read_and_forked(saver: BaseCheckpointSaver[Any]) -> None:
    """Earlier states are there, and one can be changed and gone on from."""
    begin(saver)
    finish(saver)
    graph = shop(saver)
    states = list(graph.get_state_history(thread()))
    asked = next(state for state in states if state.next == ("ask",))
    forked = graph.update_state(asked.config, {"seen": {"fork"}})

    assert [state.next for state in states] == [(), ("ask",), ("pack",), ("__start__",)]
    assert graph.get_state(forked).values["seen"] == {"fork"}
    assert graph.get_state(forked).values["parcels"] == asked.values["parcels"]


def test_tasks_that_were_sent(saver: BaseCheckpointSaver[Any]) -> None:
    """Send and Command work, with arguments of the user's classes."""

    class Sum(TypedDict):
        total: Annotated[int, operator.add]

    def split(_: Sum) -> Command[Any]:
        return Command(goto=[Send("one", Order(n, [])) for n in (1, 2, 3)])

    def one(order: Order) -> dict[str, int]:
        return {"total": order.number}

    builder = Builder(Sum)
    builder.add_node("split", split, destinations=("one",))
    builder.add_node("one", one)
    builder.add_edge(START, "split")
    graph = builder.compile(checkpointer=saver)

    assert graph.invoke({"total": 0}, thread())["total"] == 6


def test_a_failed_run_goes_on(saver: BaseCheckpointSaver[Any]) -> None:
    """What finished beside a task that failed is not done again."""
    runs: list[str] = []

    class Log(TypedDict):
        done: Annotated[list[str], operator.add]

    def fine(_: Log) -> dict[str, list[str]]:
        runs.append("fine")
        return {"done": ["fine"]}

    def wrong(_: Log) -> dict[str, list[str]]:
        runs.append("wrong")
        if runs.count("wrong") == 1:
            msg = "not yet"
            raise ValueError(msg)
        return {"done": ["wrong"]}

    builder = Builder(Log)
    builder.add_node("fine", fine)
    builder.add_node("wrong", wrong)
    builder.add_edge(START, "fine")
    builder.add_edge(START, "wrong")
    graph = builder.compile(checkpointer=saver)

    # The first task is saved before the second one can end the run.
    one_by_one: RunnableConfig = {**thread(), "max_concurrency": 1}
    with pytest.raises(ValueError, match="not yet"):
        graph.invoke({"done": []}, one_by_one)
    failed = [t.error for t in graph.get_state(thread()).tasks if t.name == "wrong"]
    assert failed == ["ValueError('not yet')"]
    assert sorted(graph.invoke(None, thread())["done"]) == ["fine", "wrong"]
    assert runs.count("fine") == 1


def joined(state: list[str], writes: Sequence[list[str]]) -> list[str]:
    """Return the words of a state and of what was written since."""
    return [*state, *(word for write in writes for word in write)]


class Words(TypedDict):
    """A state of which differences are saved, and every other time all."""

    words: Annotated[list[str], DeltaChannel(joined, snapshot_frequency=2)]


def test_channels_of_differences(saver: BaseCheckpointSaver[Any]) -> None:
    """A channel that saves differences comes back whole."""

    def more(state: Words) -> dict[str, list[str]]:
        return {"words": [str(len(state["words"]))]}

    builder = Builder(Words)
    builder.add_node("more", more)
    builder.add_edge(START, "more")
    graph = builder.compile(checkpointer=saver)
    for _ in range(4):
        graph.invoke({"words": ["in"]}, thread())

    words = graph.get_state(thread()).values["words"]
    assert words == ["in", "1", "in", "3", "in", "5", "in", "7"]


def test_functions_as_graphs(saver: BaseCheckpointSaver[Any]) -> None:
    """The functional interface keeps results of tasks and what came last."""
    runs: list[int] = []

    @task(cache_policy=CachePolicy())  # type: ignore[arg-type]
    def order(number: int) -> Order:
        runs.append(number)
        return Order(number, [])

    def work(number: int, *, previous: Order | None = None) -> Order:
        made: Order = order(number).result()  # type: ignore[arg-type]
        answer = interrupt("lines?")
        return Order(made.number + (previous.number if previous else 0), answer)

    cache: InMemoryCache[Any] = InMemoryCache(serde=serializer())
    graph: Any = entrypoint(checkpointer=saver, cache=cache)(work)
    for expected in (Order(2, ["a"]), Order(4, ["a"])):
        graph.invoke(2, thread())
        assert graph.invoke(Command(resume=["a"]), thread()) == expected
    assert runs == [2]


def test_a_node_that_returns_what_is_unknown_says_so() -> None:
    """The run fails, instead of a state that can't be loaded again."""
    saver = InMemorySaver(serde=Serializer())

    with pytest.raises(errors.UnencodableValueError, match=r"write a .*Parcel"):
        begin(saver)


@pytest.mark.parametrize("mode", ["sign", "encrypt"])
def test_sealed_checkpoints(mode: Any) -> None:
    """With a seal, what others wrote is refused, whatever they call it."""
    seal = Seal({"k": os.urandom(32)}, mode=mode, current="k")
    saver = InMemorySaver(serde=serializer(seal=seal))
    begin(saver)
    assert finish(saver)["seen"] == {"ask"}

    with pytest.raises(errors.SealError):
        saver.serde.loads_typed(serializer().dumps_typed(1))
    with pytest.raises(errors.UndecodableValueError, match="with a seal reads no"):
        saver.serde.loads_typed(("bytes", b"mine"))


# Checkpoints from before


def listed(value: Any) -> Any:
    """Return *value* as MessagePack knows it: without tuples."""
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return [listed(item) for item in value]
    if isinstance(value, dict):
        return {key: listed(item) for key, item in value.items()}
    return value


@pytest.mark.parametrize(
    "value", [v for v in VALUES if v != 2**70 and not isinstance(v, Command)], ids=named
)
def test_earlier_values_are_read(value: object) -> None:
    """What LangGraph's own serializer wrote is read as it reads it, or better."""
    there = serializer().loads_typed(earlier().dumps_typed(value))

    assert listed(there) == listed(value)
    assert type(there) is type(value)


def test_a_thread_goes_on_with_another_serializer() -> None:
    """A graph that stopped with LangGraph's own serializer is resumed with ours."""
    with sqlite3.connect(":memory:", check_same_thread=False) as connection:
        before = SqliteSaver(connection, serde=earlier())
        begin(before)
        state = finish(SqliteSaver(connection, serde=serializer()))
    connection.close()

    parcel = Parcel(weight=1.0, sent=NOW, order=Order(1, ["tea"]))
    assert [message.text for message in state["messages"]] == ["Hi", "You said yes"]
    assert (state["parcels"], state["when"]) == ([parcel], NOW)


def test_unknown_classes_of_earlier_values_are_refused() -> None:
    """Neither is the class imported, nor is a dict taken for it."""
    data = earlier().dumps_typed([Order(1, [])])
    hint = r"is not known here; if it is yours, name its class in Serializer\(earlier="

    with pytest.raises(errors.UndecodableValueError, match=f"Order, which {hint}"):
        Serializer().loads_typed(data)


def ext(code: int, *parts: object) -> tuple[str, bytes]:
    """Return what names something to call, as LangGraph's own format does it."""
    return "msgpack", ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb(parts)))


@pytest.mark.parametrize(
    ("code", "parts"),
    [
        (0, ("os", "system", "echo")),
        (1, ("subprocess", "run", (["echo"],))),
        (2, ("builtins", "dict", {})),
        (3, ("datetime", "datetime", "2026-05-04", "strptime")),
        (3, ("os", "path", "a", "exists")),
        (4, ("http.client", "HTTPConnection", {"host": "h"}, None)),
        (5, ("graphcodec.unsafe", "SourceHandlers", {"trusted": True}, "x")),
    ],
)
def test_nothing_that_the_data_names_is_called(code: int, parts: tuple[object]) -> None:
    """Only what stands in the table is ever called."""
    with pytest.raises(errors.UndecodableValueError, match="is not known here"):
        serializer().loads_typed(ext(code, *parts))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (("json", b"{}"), "no reading a checkpoint of kind 'json'"),
        (("pickle", b""), "no reading a checkpoint of kind 'pickle'"),
        (("msgpack", b""), "no checkpoint of LangGraph"),
        (("msgpack", b"\xc1"), "no checkpoint of LangGraph"),
        (ext(0, "uuid", "UUID", "x"), "can't be made: badly formed"),
        (ext(0, "uuid"), "can't be made: not enough values"),
        (ext(0, "uuid", ["UUID"], 1), "is not known here"),
        (ext(1, "re", "compile", ["(" * 2000, 0]), "a pattern is too long"),
        (ext(5, "langchain_core.messages.human", "HumanMessage", {}), "can't be made"),
        (ext(6, "<i4", [1], "C", b"0000"), "is not known here"),
        (ext(9, "uuid", "UUID", "x"), "extension type 9"),
        (("msgpack", b"0" * 100), "max_bytes is 64"),
    ],
)
def test_bad_checkpoints_are_refused(data: tuple[str, bytes], reason: str) -> None:
    """Whatever is wrong is one of our errors."""
    serde = serializer(limits=Limits(max_bytes=64 if b"000" in data[1][:4] else 9_999))

    with pytest.raises(errors.GraphCodecError, match=reason):
        serde.loads_typed(data)


def test_deep_checkpoints_are_refused() -> None:
    """Objects inside objects end in an error, not in a full stack."""
    data = b"\x01"
    for _ in range(5_000):
        data = ormsgpack.packb(ormsgpack.Ext(7, data))

    with pytest.raises(errors.UndecodableValueError, match="no checkpoint"):
        serializer().loads_typed(("msgpack", data))
