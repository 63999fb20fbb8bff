"""A queue between real processes, some of which are killed."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import queue as queues
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from graphcodec import Codec, Media, errors, persist
from graphcodec.queues import GraphQueue, _queue
from graphcodec.queues._channel import Deadline
from graphcodec_resolvers import FsspecResolver, FsspecStore
from tests.bench import graphs
from tests.queues import working
from tests.queues.working import METHODS, PATIENCE, Job, running, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection
    from multiprocessing.context import BaseContext
    from pathlib import Path

NOW = Deadline(block=False, timeout=None)


@pytest.fixture(params=METHODS)
def context(request: pytest.FixtureRequest) -> BaseContext:
    """Run the test with each way to start a process."""
    return multiprocessing.get_context(str(request.param))


@pytest.fixture(params=[*METHODS, "spawn over pipes"])
def beneath(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> BaseContext:
    """Run the test also with what other systems have."""
    method, _, pipes = str(request.param).partition(" over ")
    monkeypatch.setattr(_queue, "_sockets_work", lambda: not pipes)
    return multiprocessing.get_context(method)


@pytest.fixture
def fork() -> BaseContext:
    """Return the quickest way to start a process."""
    return multiprocessing.get_context("fork")


def pipe(context: BaseContext) -> tuple[Connection[bytes, bytes], Any]:
    """Return a receiving and a sending end."""
    return context.Pipe(duplex=False)


# Graphs through processes


def conversation_with_media(store: FsspecStore, turns: int) -> Any:
    """Return a conversation whose media lie in a store."""
    return persist(graphs.ours(turns), store, inline_limit=1)


@pytest.mark.parametrize("turns", [10, pytest.param(1_000, marks=pytest.mark.long)])
def test_graphs_with_media(context: BaseContext, turns: int, tmp_path: Path) -> None:
    """Four consumers get equal graphs, and open their media by a codec of their own."""
    store = FsspecStore(str(tmp_path), alias="media")
    codec = Codec(resolvers=[FsspecResolver({"media": str(tmp_path)})])
    graph = conversation_with_media(store, turns)
    tasks = GraphQueue(codec=codec, context=context)
    results = GraphQueue(context=context)
    with contextlib.ExitStack() as stack:
        for _ in range(4):
            worker = running(context, working.hash_all, tasks, results, str(tmp_path))
            stack.enter_context(worker)
        for _ in range(12):
            tasks.put(graph)
        tasks.close()
        answers = list(results)

    media = turns // 5 * 64
    assert answers == [[codec.content_hash(graph), media, True]] * 12


def test_order_of_each_producer(beneath: BaseContext) -> None:
    """Two producers' graphs arrive in the order of each, and then the queue ends."""
    context = beneath
    queue = GraphQueue(context=context)
    with (
        running(context, working.put_numbers, queue, "a", 400),
        running(context, working.put_numbers, queue, "b", 400),
    ):
        got = list(queue)

    for name in "ab":
        numbers = [graph["number"] for graph in got if graph["from"] == name]
        assert numbers == list(range(400))
    assert len(got) == 800


def test_there_and_back(beneath: BaseContext) -> None:
    """Bounded queues, several consumers that produce, and large graphs among small."""
    context = beneath
    tasks, results = (GraphQueue(5, context=context) for _ in range(2))
    sent = [working.message(number) for number in range(100)]
    with contextlib.ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(running(context, working.double, tasks, results))
        producer = running(context, working.put_messages, tasks, 100)
        stack.enter_context(producer)
        tasks.close()
        got = sorted(results, key=lambda pair: pair[0]["number"])

    assert got == [[graph, graph] for graph in sent]


@pytest.mark.parametrize(
    "codec",
    [
        working.make_codec,
        "tests.queues.working:make_codec",
        working.make_sealed_codec,
    ],
    ids=["function", "name", "sealed"],
)
def test_the_codec_is_made_in_each_process(context: BaseContext, codec: Any) -> None:
    """A codec with hooks or a seal can't be pickled, what makes it can."""
    tasks, results = (GraphQueue(codec=codec, context=context) for _ in range(2))
    with running(context, working.double, tasks, results):
        tasks.put(Job(7))
        tasks.close()

        assert list(results) == [[Job(7), Job(7)]]


@pytest.mark.parametrize("make", [working.make_codec, working.make_sealed_codec])
def test_a_codec_that_can_not_be_pickled(make: Callable[[], Codec]) -> None:
    """Starting the process says what to do instead."""
    context = multiprocessing.get_context("spawn")
    queue = GraphQueue(codec=make())

    with (
        pytest.raises(pickle.PicklingError, match="pass a factory"),
        running(context, working.double, queue, queue),
    ):
        pass


def test_a_closed_queue_is_not_passed_on(context: BaseContext) -> None:
    """With fork the process has it all the same, and it is closed there too."""
    queue = GraphQueue(context=context)
    answer, answers = pipe(context)
    queue.close()

    with contextlib.ExitStack() as stack:
        if context.get_start_method() == "fork":
            stack.enter_context(running(context, working.try_to_get, queue, answers))
            wait_for(answer)
            assert answer.recv_bytes() == b"this process closed the queue"
        else:
            with pytest.raises(errors.QueueClosedError, match="closed the queue"):
                stack.enter_context(running(context, working.double, queue, queue))


def test_errors_of_documents_come_up_in_the_consumer(context: BaseContext) -> None:
    """A document that fails raises there, with its data."""
    queue = GraphQueue(context=context)
    queue._channel.send(b"[1,", NOW)
    answer, answers = pipe(context)
    with running(context, working.take_without, queue, answers):
        wait_for(answer)

        assert answer.recv_bytes() == b"UndecodableValueError True"


# The end


def test_consumers_end_when_the_queue_is_closed(context: BaseContext) -> None:
    """Those who wait in a loop come out of it."""
    tasks, results = (GraphQueue(context=context) for _ in range(2))
    with (
        running(context, working.double, tasks, results) as one,
        running(context, working.double, tasks, results) as two,
    ):
        time.sleep(0.1)
        tasks.close()
        for process in (one, two):
            process.join(PATIENCE)
            assert process.exitcode == 0


def test_a_killed_producer_ends_the_loop(fork: BaseContext) -> None:
    """What it sent is there; that it will send no more is seen by its death."""
    queue = GraphQueue()
    with running(fork, working.put_and_hang, queue) as producer:
        got = queue.get(timeout=PATIENCE)
        assert producer.pid is not None
        os.kill(producer.pid, signal.SIGKILL)

        assert [got, *queue] == ["before"]


def test_a_producer_ends_when_nobody_takes(fork: BaseContext) -> None:
    """Neither what it could not send nor its own end keeps a process from ending."""
    queue = GraphQueue()
    with running(fork, working.put_numbers, queue, "a", 20_000) as producer:
        wait_for(queue._channel._receiving)  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]
        queue.close()
        producer.join(PATIENCE)

        assert producer.exitcode == 0


def test_a_process_that_nobody_takes_from_ends() -> None:
    """What was put into the void keeps no process, and says nothing."""
    program = """
from graphcodec.queues import GraphQueue
queue = GraphQueue()
for number in range(5_000):
    queue.put([number, "x" * 500])
print("put")
"""
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "put\n", "")


def test_all_consumers_killed(fork: BaseContext) -> None:
    """A process that gave up taking learns that nobody else will."""
    queue = GraphQueue(1)
    answer, answers = pipe(fork)
    with running(fork, working.put_until_refused, queue, answers):
        queue.get(timeout=PATIENCE)
        queue.close()
        wait_for(answer)

        assert b"no process is left that could take" in answer.recv_bytes()


def test_get_ends_with_the_parent(context: BaseContext) -> None:
    """A worker whose parent was killed does not wait for ever."""
    queue = GraphQueue(context=context)
    answer, answers = pipe(context)
    method = context.get_start_method()
    with running(context, working.start_and_die, method, queue, answers):
        wait_for(answer)
        assert answer.recv_bytes() == b"started"
        wait_for(answer)

        assert answer.recv_bytes() == b"the process that started this one is gone"


# Killed consumers


def kill_while_receiving(context: BaseContext, count: int, after: float) -> int:
    """Send to four consumers, kill one, and return how many messages went with it."""
    queue = GraphQueue(context=context)
    ends = [pipe(context) for _ in range(4)]
    with contextlib.ExitStack() as stack:
        consumers = [
            stack.enter_context(running(context, working.report, queue, end))
            for _, end in ends
        ]
        for answer, _ in ends:
            wait_for(answer)
        for number in range(count):
            queue.put(working.message(number))
            if number == int(count * after):
                victim = consumers[0].pid
                assert victim is not None
                os.kill(victim, signal.SIGKILL)
        queue.close()
        for consumer in consumers:
            consumer.join(PATIENCE)
    for _, end in ends:
        end.close()
    numbers = [number for answer, _ in ends for number in working.reported(answer)]
    assert len(set(numbers)) == len(numbers)
    assert set(numbers) <= set(range(count))
    return count - len(numbers)


def test_a_killed_consumer_stops_nobody(context: BaseContext) -> None:
    """The rest take all that it had not taken; what it had taken is one at most."""
    assert kill_while_receiving(context, 200, 0.5) in {0, 1}


@pytest.mark.long
@pytest.mark.parametrize("seed", range(5))
def test_consumers_killed_at_any_moment(context: BaseContext, seed: int) -> None:
    """Ten thousand messages in all, each is received once and equal."""
    after = random.Random(seed).random()  # noqa: S311 - no secret

    assert kill_while_receiving(context, 2_000, after) in {0, 1}


@pytest.mark.parametrize("kills", [3, pytest.param(100, marks=pytest.mark.long)])
def test_a_bound_survives_kills(fork: BaseContext, kills: int) -> None:
    """Whenever consumers are killed, all puts find a place in the end."""
    chance = random.Random(kills)  # noqa: S311 - no secret
    queue = GraphQueue(2)
    lost = 0
    for _ in range(kills):
        answer, answers = pipe(fork)
        with running(fork, working.report, queue, answers) as consumer:
            wait_for(answer)
            until = time.monotonic() + chance.random() / 10
            sent = 0
            while time.monotonic() < until:
                with contextlib.suppress(queues.Full):
                    queue.put(working.message(sent), timeout=0.05)
                    sent += 1
            assert consumer.pid is not None
            os.kill(consumer.pid, signal.SIGKILL)
            consumer.join(PATIENCE)
        left = 0
        while not queue.empty():
            queue.get(timeout=PATIENCE)
            left += 1
        answers.close()
        missing = sent - left - len(working.reported(answer))
        assert missing in {0, 1}
        lost += missing

    assert lost <= kills
    for number in range(2):
        queue.put(number, timeout=PATIENCE)
    with pytest.raises(queues.Full):
        queue.put(2, timeout=0.05)
    assert [queue.get(timeout=PATIENCE) for _ in range(2)] == [0, 1]


def test_media_equal_after_the_queue(tmp_path: Path) -> None:
    """A handle to a store names it on both sides."""
    store = FsspecStore(str(tmp_path), alias="media")
    media = Media.user_attachment(
        kind="image", mime_type="image/png", filename="a", reader=store.write(b"png")
    )
    codec = Codec(resolvers=[FsspecResolver({"media": str(tmp_path)})])
    with GraphQueue(codec=codec) as queue:
        queue.put(media)
        got = queue.get(timeout=PATIENCE)

    assert (got, got.read()) == (media, b"png")
