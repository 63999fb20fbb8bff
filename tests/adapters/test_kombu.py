"""Celery with real workers on a real Redis, and media on a real S3 server."""

from __future__ import annotations

import gc
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from base64 import b64decode
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from kombu.exceptions import DecodeError, EncodeError

from graphcodec import Conversation, Media, Message, encode, errors
from graphcodec.adapters.kombu import CONTENT_TYPE, install, register
from graphcodec_resolvers import FsspecStore
from tests.adapters import celery_app
from tests.cache.servers import Server, started
from tests.primitives.builders import make

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.s3_server import S3Server

ROOT = Path(__file__).parents[2]
WAIT = 60


class Place:
    """A Redis, a bucket, and what the processes must know of them."""

    def __init__(self, s3: S3Server, redis: Server) -> None:
        self.redis = redis
        self.root = f"{s3.bucket()}/media"
        self.options = s3.options()
        self.settings = {
            "TEST_REDIS": f"redis://127.0.0.1:{redis.port}",
            "TEST_ROOT": f"s3://{self.root}",
            "TEST_S3": json.dumps(self.options),
        }

    def talk(self, data: bytes = b"a picture") -> Conversation:
        """Return a conversation with media in the bucket."""
        store = FsspecStore(f"s3://{self.root}", alias="media", options=self.options)
        media = make(Media, reader=store.write(data))
        message = make(Message, id="m0", attachments=(media,))
        return Conversation(id="talk", items=(message,))


@pytest.fixture(scope="module")
def place(s3_server: S3Server) -> Iterator[Place]:
    """The servers; this process has the same settings as the workers."""
    redis = started()
    with pytest.MonkeyPatch.context() as patch:
        found = Place(s3_server, redis)
        for name, value in found.settings.items():
            patch.setenv(name, value)
        yield found
    redis.stop()


def worker(place: Place, kind: str, log: Path) -> Iterator[Path]:
    """Run a worker of one process, and stop it; yield where it logs."""
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    words = [
        *(sys.executable, "-m", "celery", "-A", "tests.adapters.celery_app"),
        *("worker", "--pool=prefork", "--concurrency=1", "--loglevel=INFO"),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
        *("--hostname", f"{kind}@here"),
    ]
    env = {**os.environ, **place.settings, "TEST_APP": kind, "PYTHONPATH": path}
    with log.open("wb") as out:
        process = subprocess.Popen(words, stdout=out, stderr=out, cwd=ROOT, env=env)  # noqa: S603 - ours
        try:
            yield log
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.fixture(scope="module")
def plain_log(place: Place) -> Iterator[Path]:
    """A worker without keys."""
    with tempfile.TemporaryDirectory() as folder:
        yield from worker(place, "plain", Path(folder) / "log")


@pytest.fixture(scope="module")
def sealed_log(place: Place) -> Iterator[Path]:
    """A worker with keys."""
    with tempfile.TemporaryDirectory() as folder:
        yield from worker(place, "sealed", Path(folder) / "log")


def client(number: int, codec: str) -> Iterator[Any]:
    """Make an app that sends to a worker, and close all that it has opened."""
    made = celery_app.make(number, codec)
    yield made
    gc.collect()
    # A result that is collected later would wake the connection once more.
    made.backend.remove_pending_result = id
    made.backend.result_consumer.stop()
    made.backend.client.connection_pool.disconnect()
    made.close()
    import_module("kombu.pools").reset()


@pytest.fixture(scope="module")
def plain_app(plain_log: Path) -> Iterator[Any]:
    """An app that sends to the worker without keys."""
    assert plain_log
    yield from client(0, "codec")


@pytest.fixture(scope="module")
def keyed_app(sealed_log: Path) -> Iterator[Any]:
    """An app that sends to the worker with keys."""
    assert sealed_log
    yield from client(1, "sealed")


@pytest.fixture
def app(plain_app: Any) -> Any:
    """The app without keys; the serializer of this process is its own."""
    register(f"{celery_app.__name__}:codec")
    return plain_app


@pytest.fixture
def sealed_app(keyed_app: Any) -> Any:
    """The app with keys; the serializer of this process is its own."""
    register(f"{celery_app.__name__}:sealed")
    return keyed_app


def send(app: Any, task: str, *args: object, **options: Any) -> Any:
    """Send a task and return what its result will be."""
    return app.tasks[task].apply_async(args, **options)


def done(result: Any) -> Any:
    """Wait for a result and return it, or raise what the task raised."""
    return result.get(timeout=WAIT, disable_sync_subtasks=False)


def text_of(message: Any) -> str:
    """Return the text of a message."""
    text: str = message.content.text
    return text


# What arrives


def test_a_conversation_with_media_on_s3(app: Any, place: Place) -> None:
    """The worker reads the picture; what it gives back is read here."""
    talk = place.talk()

    answer = done(send(app, "append", talk, "bytes:"))

    assert isinstance(answer, Conversation)
    assert answer.items[0] == talk.items[0]
    assert text_of(answer.items[1]) == "bytes: [9]"
    assert celery_app.attachments(answer)[0].read() == b"a picture"


def test_one_object_stays_one(app: Any, place: Place) -> None:
    """What two arguments share, they share in the worker and in its result."""
    talk = place.talk()

    first, second, same = done(send(app, "join", talk, talk))

    assert same is True
    assert first is second
    assert first == talk


def test_message_is_a_document(app: Any, place: Place) -> None:
    """What waits in Redis is JSON of the declared type, without bytes of media."""
    send(app, "append", place.talk(b"secret" * 9), "x", queue="nobody")

    with place.redis.client() as client:
        message = json.loads(client.lindex("nobody", 0))
    assert message["content-type"] == CONTENT_TYPE
    body = b64decode(message["body"])
    wire = json.loads(body)
    assert wire["graphcodec"] == 1
    assert b'"store":"media"' in body
    assert b"secret" not in body
    assert str(place.options["secret"]) not in body.decode()


def test_chain(app: Any, place: Place) -> None:
    """Each task of a chain gets the conversation of the one before."""
    append = app.tasks["append"]

    answer = done((append.s(place.talk(), "one") | append.s("two"))())

    assert [text_of(item) for item in answer.items[1:]] == ["one [9]", "two [9]"]


def test_chord_of_groups(app: Any, place: Place) -> None:
    """The body of a chord gets the conversations of its header, as a list."""
    canvas: Any = import_module("celery")
    chain, chord, group = canvas.chain, canvas.chord, canvas.group
    append, total = app.tasks["append"], app.tasks["total"]
    talk = place.talk()
    header = group(append.s(talk, "a"), chain(append.s(talk, "b"), append.s("c")))

    assert done(chord(header)(total.s())) == 5
    counted = group(total.s([talk]), total.s([talk, talk]))()
    assert counted.get(timeout=WAIT) == [1, 2]


def test_retry_with_a_countdown(app: Any, place: Place) -> None:
    """A task that is retried later gets the same arguments again."""
    talk = place.talk()

    assert done(send(app, "ask_again", talk)) == [talk, 1]


# What does not


def test_our_errors_arrive_whole(app: Any) -> None:
    """Class, code, path, hint, facts, cause and notes come back."""
    with pytest.raises(errors.StaleHandleError, match="it changed") as info:
        done(send(app, "fail", "ours"))

    error = info.value
    assert str(error) == "it changed (at $.items[3]); fetch it anew"
    assert (error.code, error.path) == ("E_STALE_HANDLE", "$.items[3]")
    assert (error.hint, error.alias) == ("fetch it anew", "media")
    assert isinstance(error.__cause__, KeyError)
    assert error.__cause__.args == ("gone",)
    assert error.__notes__ == ["while the test looked"]


def test_other_exceptions_arrive(app: Any) -> None:
    """Exceptions of Python come back with their arguments, and files with names."""
    with pytest.raises(ValueError, match="no such way") as info:
        done(send(app, "fail", "somehow"))
    assert info.value.args == ("no such way", 3)

    with pytest.raises(FileNotFoundError, match="No such file") as missing:
        done(send(app, "fail", "file"))
    assert missing.value.filename == "/nowhere/at/all"


def test_errback_gets_the_error(app: Any, place: Place) -> None:
    """A callback for failures is told what went wrong."""
    result = send(app, "fail", "ours", link_error=app.tasks["leave_note"].s())

    with place.redis.client(db=9) as client:
        _, note = client.blpop(f"note-{result.id}", WAIT)
    assert (
        note.decode() == "StaleHandleError: it changed (at $.items[3]); fetch it anew"
    )


def test_result_that_can_not_be_sent(app: Any) -> None:
    """A result that no document can hold fails the task with the path in it."""
    with pytest.raises(errors.UnencodableValueError, match="function") as info:
        done(send(app, "give", "function"))
    assert info.value.path.endswith(".held[0]")


def test_argument_that_can_not_be_sent(app: Any) -> None:
    """An argument that no document can hold is refused where the task is sent."""
    with pytest.raises(EncodeError, match="guards the memory of this process") as info:
        send(app, "join", [threading.Lock()], 1)
    inner = info.value.args[0]
    assert isinstance(inner, errors.GateNotEncodableError)


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_pickle_is_refused(app: Any, plain_log: Path, tmp_path: Path) -> None:
    """A message in pickle is not unpickled, and the worker goes on."""
    trap = tmp_path / "sprung"
    pickle.loads(pickle.dumps(Trap(tmp_path / "would spring")))
    assert (tmp_path / "would spring").exists()

    app.send_task("join", (Trap(trap), 1), serializer="pickle")
    app.send_task("join", (2, 3), serializer="json")

    assert done(send(app, "join", 4, 4))[:2] == [4, 4]
    assert not trap.exists()
    log = plain_log.read_text()
    assert "Refusing to deserialize untrusted content of type pickle" in log
    assert "Refusing to deserialize untrusted content of type json" in log


# With keys


def test_sealed_both_ways(sealed_app: Any, place: Place) -> None:
    """Nobody who reads along reads anything, and chains work as without."""
    append = sealed_app.tasks["append"]

    answer = done((append.s(place.talk(), "one") | append.s("two"))())

    assert len(answer.items) == 3
    send(sealed_app, "append", place.talk(), "told", queue="nobody")
    with place.redis.client(db=1) as client:
        message = json.loads(client.lindex("nobody", 0))
    body = b64decode(message["body"]).decode()
    assert isinstance(json.loads(body), str)
    assert "told" not in body


def test_unsealed_is_refused(sealed_app: Any, sealed_log: Path, place: Place) -> None:
    """A message that is not sealed is not run where keys are set."""
    register(f"{celery_app.__name__}:codec")
    lost = send(sealed_app, "append", place.talk(), "forged")
    register(f"{celery_app.__name__}:sealed")

    assert done(send(sealed_app, "join", 4, 4))[:2] == [4, 4]
    assert "the document is not sealed, and this codec reads" in sealed_log.read_text()
    assert lost.state != "SUCCESS"


def test_unsealed_result_is_refused(sealed_app: Any, place: Place) -> None:
    """A result that somebody put into Redis is not believed."""
    result = send(sealed_app, "join", 1, 2, queue="nobody")
    forged = {"status": "SUCCESS", "result": "forged", "task_id": result.id}
    with place.redis.client(db=1) as client:
        client.set(sealed_app.backend.get_key_for_task(result.id), encode(forged))

    with pytest.raises(DecodeError, match="the document is not sealed") as info:
        result.get(timeout=WAIT)
    assert isinstance(info.value.args[0], errors.SealError)


# Setting up


def test_accepts_nothing_else(app: Any) -> None:
    """One line narrows what the app takes to documents."""
    conf = app.conf

    assert conf.accept_content == conf.result_accept_content == ["graphcodec"]
    assert conf.task_serializer == conf.result_serializer == "graphcodec"


def test_no_app() -> None:
    """What is no app is told as that."""
    with pytest.raises(errors.InvalidValueError, match="app must be a Celery app, not"):
        install(object())
    with pytest.raises(errors.InvalidValueError, match="codec must be a Codec or a"):
        register("nonsense")
