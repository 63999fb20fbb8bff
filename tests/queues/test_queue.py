"""A queue within one process; what several do with it stands in test_processes.py."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import contextlib
import copy
import gc
import pickle
import queue as queues
import resource
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from graphcodec import Codec, Conversation, encode, errors
from graphcodec.queues import GraphQueue, _queue
from graphcodec.queues._channel import Deadline
from tests.bench import graphs
from tests.queues.working import ONE_CODEC, PATIENCE, Job, make_codec, make_sealed_codec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from graphcodec.errors import GraphCodecError

NO_DOCUMENT = b"[1,"
NOW = Deadline(block=False, timeout=None)
SOON = Deadline(block=True, timeout=None)


@pytest.fixture(params=["sockets", "pipes"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let the test run over sockets, and over what other systems have."""
    if request.param == "pipes":
        monkeypatch.setattr(_queue, "_sockets_work", lambda: False)
    return str(request.param)


@pytest.fixture
def queue(kind: str) -> Iterator[GraphQueue]:
    """Return a queue for built-in classes."""
    del kind
    with GraphQueue() as made:
        yield made


def send(queue: GraphQueue, data: bytes) -> None:
    """Send what no `put` would."""
    queue._channel.send(data, NOW)


def soon(queue: GraphQueue) -> Any:
    """Return the next graph."""
    return queue.get(timeout=PATIENCE)


def descriptors() -> set[tuple[str, str]]:
    """Return the files that this process has open, by number and by what they are."""
    found: set[tuple[str, str]] = set()
    for number in list(Path("/proc/self/fd").iterdir()):
        # The one that listed the folder is closed by now.
        with contextlib.suppress(FileNotFoundError):
            found.add((number.name, str(number.readlink())))
    return found


# Graphs


def test_graphs_arrive_in_order(queue: GraphQueue) -> None:
    """What was put comes back equal, the first one first."""
    conversation = graphs.ours(3)
    for graph in (conversation, {"n": 1}, None):
        queue.put(graph)

    assert [soon(queue) for _ in range(3)] == [conversation, {"n": 1}, None]


def test_repr(queue: GraphQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    """How many graphs wait, of which nothing is shown; closed is closed."""
    queue.put("secret")
    queue.put("secret")
    assert repr(queue) == "GraphQueue(<2 waiting>)"
    assert soon(queue) == "secret"
    assert repr(queue) == "GraphQueue(<1 waiting>)"

    with monkeypatch.context() as patch:

        def count() -> int:
            raise NotImplementedError

        # As on macOS.
        patch.setattr(queue._channel, "count", count)
        assert repr(queue) == "GraphQueue(<open>)"
    queue.close()
    assert repr(queue) == "GraphQueue(<closed>)"


def test_large_graphs_arrive(queue: GraphQueue) -> None:
    """Frames of any size keep their order: 50 MB between two small ones."""
    large = "0123456789" * 5_000_000
    for graph in ("a", large, "b"):
        queue.put(graph)

    assert [soon(queue) == wanted for wanted in ("a", large, "b")] == [True] * 3


def test_bytes_travel_as_they_are(queue: GraphQueue) -> None:
    """Without a codec of the user's, no byte becomes text on the way."""
    queue.put([b"\0\xff" * 1_000])

    assert b"\0\xff" * 1_000 in queue._channel.receive(SOON)


@pytest.mark.parametrize("size", [59_990, 59_997, 59_998, 60_010, 300_000])
def test_sizes_about_the_limit_of_a_message(queue: GraphQueue, size: int) -> None:
    """It can't be seen from outside which way a frame takes."""
    queue.put("x" * size)

    assert soon(queue) == "x" * size


def test_put_without_a_bound_never_waits(queue: GraphQueue) -> None:
    """Far more than the system holds can be put before anybody takes."""
    for number in range(3_000):
        queue.put([number, "x" * 500], block=False)

    assert [soon(queue)[0] for _ in range(3_000)] == list(range(3_000))


def test_an_unencodable_graph_is_refused_in_put(queue: GraphQueue) -> None:
    """The error has the path, and the queue goes on."""
    with pytest.raises(errors.GateNotEncodableError, match=r"lock.*\$\.held\[1\]"):
        queue.put({"held": [1, threading.Lock()]})
    queue.put("next")

    assert soon(queue) == "next"


def test_what_the_codec_could_not_read_is_refused_in_put(queue: GraphQueue) -> None:
    """A class that any codec could write, but this one not read."""
    assert encode(Job(1))

    with pytest.raises(errors.UnencodableValueError, match=r"Job.*\$\[0\]"):
        queue.put([Job(1)])

    assert queue.empty()


@pytest.mark.parametrize(
    "codec",
    [
        ONE_CODEC,
        make_codec,
        "tests.queues.working:make_codec",
        "tests.queues.working:ONE_CODEC",
    ],
    ids=["codec", "factory", "name of a factory", "name of a codec"],
)
def test_ways_to_give_a_codec(codec: Codec | Callable[[], Codec] | str) -> None:
    """A codec, a function, or the name of either."""
    with GraphQueue(codec=codec) as queue:
        queue.put(Job(3))

        assert soon(queue) == Job(3)


def test_sealed_queue_takes_nothing_unsealed(kind: str) -> None:
    """What travels is encrypted, and what a stranger puts is refused."""
    del kind
    with GraphQueue(codec=make_sealed_codec) as queue:
        queue.put(Job(3))
        data = queue._channel.receive(Deadline(block=True, timeout=PATIENCE))
        assert b"Job" not in data
        for sent in (data, encode({"n": 1})):
            send(queue, sent)

        assert soon(queue) == Job(3)
        with pytest.raises(errors.SealError, match="is not sealed"):
            soon(queue)


# Documents that fail


def test_a_document_that_fails_raises_with_its_data(queue: GraphQueue) -> None:
    """The error holds the document, and the next get takes the next one."""
    send(queue, NO_DOCUMENT)
    queue.put("next")

    with pytest.raises(errors.UndecodableValueError, match="no JSON") as caught:
        soon(queue)

    assert caught.value.data == NO_DOCUMENT
    assert pickle.loads(pickle.dumps(caught.value)).data == NO_DOCUMENT
    assert soon(queue) == "next"


def test_a_document_that_fails_goes_to_on_error(kind: str) -> None:
    """With a function for errors, get takes the next one by itself."""
    del kind
    seen: list[GraphCodecError] = []
    with GraphQueue(on_error=seen.append) as queue:
        send(queue, NO_DOCUMENT)
        send(queue, encode(Job(1)))
        queue.put("next")

        assert soon(queue) == "next"
        assert [type(error).__name__ for error in seen] == ["UndecodableValueError"] * 2
        assert seen[1].data == encode(Job(1))


def test_an_error_leaves_an_iteration_that_can_be_resumed(queue: GraphQueue) -> None:
    """After the error of one document, a new loop gives the rest."""
    queue.put(1)
    send(queue, NO_DOCUMENT)
    queue.put(2)
    seen: list[object] = []

    with pytest.raises(errors.UndecodableValueError, match="no JSON"):
        seen.extend(graph for graph in queue)
    seen.extend(queue)

    assert seen == [1, 2]


# Waiting


def test_get_gives_up(queue: GraphQueue) -> None:
    """Like other queues, it raises queue.Empty, at once or after the timeout."""
    for give_up in (
        queue.get_nowait,
        lambda: queue.get(block=False),
        lambda: queue.get(True, 0.05),
        lambda: queue.get(timeout=-1),
    ):
        with pytest.raises(queues.Empty):
            give_up()


def test_put_gives_up(kind: str) -> None:
    """A full queue raises queue.Full, and has room again after a get."""
    del kind
    with GraphQueue(2) as queue:
        queue.put("a")
        queue.put_nowait("b")

        with pytest.raises(queues.Full):
            queue.put_nowait("c")
        with pytest.raises(queues.Full):
            queue.put("c", timeout=0.05)
        assert soon(queue) == "a"
        queue.put("c", timeout=PATIENCE)
        assert [soon(queue), soon(queue)] == ["b", "c"]


def test_what_it_says_about_itself(kind: str) -> None:
    """The size, and whether it is empty or full."""
    with GraphQueue(2) as queue:
        assert (queue.qsize(), queue.empty(), queue.full()) == (0, True, False)
        queue.put("a")
        assert (queue.qsize(), queue.full()) == (1, False)
        if kind == "sockets":
            assert not queue.empty()
        queue.put("b")
        assert (queue.qsize(), queue.full()) == (2, True)
        assert [soon(queue), soon(queue)] == ["a", "b"]
        assert (queue.qsize(), queue.empty(), queue.full()) == (0, True, False)


def test_size_without_a_bound(queue: GraphQueue) -> None:
    """An unbounded queue is never full and counts as well."""
    for number in range(5):
        queue.put(number)

    assert (queue.qsize(), queue.full()) == (5, False)


@pytest.mark.parametrize("most", [2**31, 2**63, 10**30])
def test_a_bound_above_what_a_system_counts(kind: str, most: int) -> None:
    """It is as good as none."""
    del kind
    with GraphQueue(most) as queue:
        queue.put(1)

        assert (queue.qsize(), queue.full(), soon(queue)) == (1, False, 1)


def test_a_put_waits_for_a_get(kind: str) -> None:
    """A thread that waits for a place goes on when there is one."""
    del kind
    with GraphQueue(1) as queue:
        queue.put(1)
        thread = threading.Thread(target=queue.put, args=(2,))
        thread.start()

        assert [soon(queue), soon(queue)] == [1, 2]
        thread.join(PATIENCE)


# The end


def test_iteration_ends_when_nobody_can_put(queue: GraphQueue) -> None:
    """The process that iterates gives up putting, and takes what is there."""
    large = "x" * 100_000
    for graph in ("a", large, "b"):
        queue.put(graph)

    assert list(queue) == ["a", large, "b"]
    assert list(queue) == []
    with pytest.raises(errors.QueueClosedError, match="no process is left that could"):
        soon(queue)
    with pytest.raises(errors.QueueClosedError, match=r"can't put .* takes only"):
        queue.put("c")


def test_a_closed_queue(queue: GraphQueue) -> None:
    """After close nothing goes; the error is one that users of other queues catch."""
    queue.put("a")
    queue.close()
    queue.close()

    with pytest.raises(ValueError, match="this process can't put into the queue"):
        queue.put("b")
    with pytest.raises(EOFError, match="this process closed the queue"):
        queue.get()
    for job in (queue.qsize, queue.empty, queue.full):
        with pytest.raises(errors.QueueClosedError, match="this process closed"):
            job()
    assert list(queue) == []


def test_close_wakes_those_who_wait(kind: str) -> None:
    """A thread that waits in get or put ends when another closes the queue."""
    del kind
    seen: list[str] = []

    def end(job: Callable[[], object]) -> None:
        with pytest.raises(errors.QueueClosedError) as caught:
            job()
        seen.append(caught.value.code)

    empty, full = GraphQueue(), GraphQueue(1)
    full.put("x")
    jobs: list[Callable[[], object]] = [empty.get, lambda: full.put("y")]
    threads = [threading.Thread(target=end, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    empty.close()
    full.close()
    for thread in threads:
        thread.join(PATIENCE)

    assert seen == ["E_QUEUE_CLOSED"] * 2


def test_nothing_is_left_open(kind: str) -> None:
    """A queue that is forgotten closes itself, with what it still held."""
    del kind
    queue = GraphQueue(5)
    queue.put("x" * 100_000)
    queue.get(timeout=PATIENCE)
    del queue
    gc.collect()
    before = descriptors()
    queue = GraphQueue(5)
    queue.put("x" * 100_000)
    # Only what the queue opened: what earlier tests left may be closed meanwhile.
    opened = descriptors() - before
    assert opened
    queue.get(timeout=PATIENCE)

    del queue
    gc.collect()

    assert not descriptors() & opened


# What the kernel holds


def test_lost_places_come_back() -> None:
    """Places that killed processes took with them return once nothing is under way."""
    with GraphQueue(2) as queue:
        for _ in range(2):
            queue._channel._places._file.read(8)  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue]
        assert queue.full()
        queue.put("a", timeout=PATIENCE)
        queue.put("b", timeout=PATIENCE)

        assert queue.full()
        with pytest.raises(queues.Full):
            queue.put("c", timeout=0.3)
        assert [soon(queue), soon(queue), queue.qsize()] == ["a", "b", 0]


@pytest.fixture
def no_descriptors() -> Iterator[Callable[[], None]]:
    """Return what lets no file be opened any more, and what undoes that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    def toggle() -> None:
        now = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        resource.setrlimit(resource.RLIMIT_NOFILE, (3 if now == soft else soft, hard))

    yield toggle
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_put_waits_for_descriptors(no_descriptors: Callable[[], None]) -> None:
    """A large graph that the system can't store now is sent later."""
    with GraphQueue() as queue:
        no_descriptors()
        queue.put("x" * 100_000)
        queue.put("y")
        assert queue.empty()
        no_descriptors()

        assert [len(soon(queue)), soon(queue)] == [100_000, "y"]


def test_get_without_descriptors(no_descriptors: Callable[[], None]) -> None:
    """A large graph for which there is no descriptor is lost, and get says so."""
    with GraphQueue(1) as queue:
        queue.put("x" * 100_000)
        no_descriptors()
        with pytest.raises(errors.StorageError, match=r"no room .*ulimit -n"):
            queue.get(timeout=PATIENCE)
        no_descriptors()
        queue.put("y", timeout=PATIENCE)

        assert soon(queue) == "y"


# What is refused


def test_it_can_not_be_pickled(queue: GraphQueue) -> None:
    """A queue is passed on while a process starts, and never as data."""
    for job in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(
            errors.GateNotEncodableError, match=r"being started.*Process"
        ):
            job(queue)
    with pytest.raises(errors.UnencodableValueError, match="GraphQueue"):
        encode(queue)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"maxsize": "3"}, "maxsize must be an int, not '3'"),
        ({"maxsize": True}, "maxsize must be an int, not True"),
        ({"on_error": 3}, "on_error must be a function, not 3"),
        ({"codec": 3}, "codec must be a Codec or a function, not 3"),
        ({"codec": "module"}, "codec must be a Codec .*'package.module:name'"),
    ],
)
def test_arguments(options: dict[str, Any], message: str) -> None:
    """What can't be used is refused where the queue is made."""
    with pytest.raises(errors.InvalidValueError, match=message):
        GraphQueue(**options)


@pytest.mark.parametrize(
    ("codec", "message"),
    [
        ("no.such.module:codec", "there is no 'no.such.module:codec'"),
        ("tests.queues.working:nothing", "there is no 'tests.queues.working:nothing'"),
        ("tests.queues.working:NOT_A_CODEC", "gave a .*int, no Codec"),
        (dict, "gave a .*dict, no Codec"),
    ],
)
def test_a_codec_that_can_not_be_made(codec: Any, message: str) -> None:
    """It is found when the codec is first needed, before anything is taken."""
    with GraphQueue(codec=codec) as queue:
        send(queue, encode("kept"))
        for job in (lambda: queue.put(1), queue.get):
            with pytest.raises(errors.InvalidValueError, match=message):
                job()

        assert not queue.empty()


def test_what_comes_out_is_typed() -> None:
    """The classes are those that went in."""
    with GraphQueue() as queue:
        queue.put(graphs.ours(1))

        assert isinstance(soon(queue), Conversation)
