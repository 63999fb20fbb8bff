import asyncio
import functools
import io
import pickle
import queue
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import closing
from typing import Any

import pytest
from attrs import define

from graphcodec import Codec, encodable
from graphcodec.errors import (
    GateNotEncodableError,
    HandlerNotEncodableError,
    ReaderNotDescribableError,
    UnencodableValueError,
)
from graphcodec.primitives import GateRecord, Media, Registry, TurnGate
from graphcodec.readers import StreamReader
from tests.codec.samples import CODEC, OneShot, in_args, round_trip
from tests.primitives.builders import make


@encodable("test.Holds")
@define(eq=False)
class Holds:
    """A typed field and an untyped one, for what can't be written."""

    number: int = 0
    any: Any = None


HOLDS = Codec(types=[Holds])


def numbers() -> Iterator[int]:
    """Yield nothing much."""
    yield 1


async def later() -> None:
    """Do nothing."""


async def numbers_later() -> AsyncIterator[int]:
    """Yield nothing much."""
    yield 1


class Caller:
    """An instance that can be called."""

    def method(self) -> None:
        """Do nothing."""

    def __call__(self) -> None:
        """Do nothing."""


def closure() -> Any:
    """Return a function that remembers."""
    kept = Caller()

    def inner() -> Caller:
        return kept

    return inner


def nested_function() -> Any:
    """Return a function that nobody could import."""

    def inner() -> None:
        """Do nothing."""

    return inner


LIVE: dict[str, Any] = {
    "lock": threading.Lock(),
    "rlock": threading.RLock(),
    "event": threading.Event(),
    "condition": threading.Condition(),
    "thread": threading.Thread(),
    "queue": queue.Queue[int](),
    "future": Future[int](),
    "generator": numbers(),
    "async generator": numbers_later(),
    "iterator": iter([1]),
    "map": map(str, [1]),
    "file": io.BytesIO(),
    "text file": io.StringIO(),
    "asyncio lock": asyncio.Lock(),
    "module": io,
}

HANDLERS: dict[str, tuple[Any, str]] = {
    "lambda": (lambda: 1, "lambda"),
    "closure": (closure(), "closes over kept"),
    "nested": (nested_function(), "nested"),
    "bound method": (Caller().method, "bound method method"),
    "partial": (functools.partial(print, 1), "partial"),
    "builtin": (print, "native function print"),
    "builtin method": (list[int]().append, "append"),
    "function": (nested_function, "nested_function"),
}


@pytest.mark.parametrize("value", LIVE.values(), ids=LIVE)
def test_live_thing_is_refused_with_path_and_reason(value: object) -> None:
    """In a field and deep in arguments."""
    for graph, path in (
        (in_args({"k": (value,)}), "$.args.first[0].second.k[0]"),
        (Holds(any=value), "$.any"),
        (Holds(number=value), "$.number"),  # type: ignore[arg-type]
        (Registry({"k": value}), "$.data.k"),
        (value, "$"),
    ):
        with pytest.raises(GateNotEncodableError) as caught:
            HOLDS.encode(graph)

        assert caught.value.path == path
        assert caught.value.code == "E_GATE_NOT_ENCODABLE"
        assert caught.value.hint


def test_future_coroutine_and_socket_are_refused() -> None:
    """What needs a loop, or to be closed."""
    loop = asyncio.new_event_loop()
    coroutine = later()
    with closing(loop), closing(coroutine), closing(socket.socket()) as connection:
        for value in (loop.create_future(), coroutine, connection):
            with pytest.raises(GateNotEncodableError) as caught:
                CODEC.encode(in_args(value))

            assert caught.value.path == "$.args.first[0].second"


@pytest.mark.parametrize(("handler", "reason"), HANDLERS.values(), ids=HANDLERS)
def test_function_is_refused_with_its_own_reason(handler: object, reason: str) -> None:
    """Which kind it is, and what to do."""
    with pytest.raises(HandlerNotEncodableError, match=reason) as caught:
        CODEC.encode(in_args([handler]))

    assert caught.value.path == "$.args.first[0].second[0]"
    assert caught.value.code == "E_HANDLER_NOT_ENCODABLE"


@pytest.mark.parametrize("value", [Caller(), Caller, int])
def test_callable_object_and_class_are_refused(value: object) -> None:
    """An instance is data first, a class is code."""
    with pytest.raises(UnencodableValueError, match=r"Caller|the class int"):
        CODEC.encode(in_args(value))


def test_gate_is_refused_wherever_it_stands() -> None:
    """The hint names what can be encoded instead."""

    async def scenario() -> GateRecord:
        gate = TurnGate(turn_id="t", reason="approval")
        for graph in (gate, in_args({"k": [gate]}), Holds(any=gate)):
            with pytest.raises(GateNotEncodableError, match=r"record\(\)") as caught:
                HOLDS.encode(graph)
            assert caught.value.path.startswith("$")
        with pytest.raises(GateNotEncodableError):
            pickle.dumps(gate)
        return gate.record()

    record = asyncio.run(scenario())

    assert round_trip(record) == record


@pytest.mark.parametrize("reader", [StreamReader(io.BytesIO(b"x")), OneShot()])
def test_reader_without_a_handle_is_refused(reader: Any) -> None:
    """The hint is to store the bytes."""
    with pytest.raises(ReaderNotDescribableError, match="persist") as caught:
        CODEC.encode([make(Media, reader=reader)])

    assert caught.value.path == "$[0].reader"
    assert caught.value.code == "E_READER_NOT_DESCRIBABLE"
