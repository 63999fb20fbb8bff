"""Programs that share handles to S3 across processes; run by the tests as a module."""

from __future__ import annotations

import io
import multiprocessing
import os
import pickle
import sys
import threading
import traceback
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphcodec import Codec, Media, SpooledArtifact, StreamReader, persist
from graphcodec_resolvers import FsspecResolver, FsspecStore

if TYPE_CHECKING:
    from collections.abc import Callable

CONTENT = b"".join(b"line %d\n" % number for number in range(100_000))


def make_store() -> FsspecStore:
    """Return the store of this process, with the credentials of its environment."""
    return FsspecStore(os.environ["STORE"], alias="media", options=_options())


def _options() -> dict[str, object]:
    names = {"key": "S3_KEY", "secret": "S3_SECRET", "endpoint_url": "S3_ENDPOINT"}
    return {name: os.environ[variable] for name, variable in names.items()}


def make_codec() -> Codec:
    """Return a codec that knows the store."""
    return Codec(resolvers=[FsspecResolver({"media": make_store})])


@cache
def graph() -> dict[str, Any]:
    """Return a graph whose bytes lie in the store."""
    image = Media.user_attachment(
        kind="image",
        mime_type="image/png",
        filename="a.png",
        reader=StreamReader(io.BytesIO(CONTENT)),
    )
    uploaded = {"image": image, "log": SpooledArtifact(image.reader)}
    return persist(uploaded, make_store())


def check(document: bytes) -> None:
    """Decode the graph, and read everything in every way."""
    found: Any = make_codec().decode(document)
    check_reader(found["image"].reader)
    assert found["log"].tail(2) == ["line 99999", ""]


def check_reader(reader: Any) -> None:
    """Read everything in every way."""
    assert reader.open().read() == CONTENT
    assert reader.read_range(5, 500_000) == CONTENT[5:500_000]
    asyncio: Any = import_module("asyncio")
    assert asyncio.run(reader.aread_range(1, 9)) == CONTENT[1:9]


def start(method: str) -> None:
    """Encode here, decode in a child that is started by a method."""
    document = make_codec().encode(graph())
    _run(multiprocessing.get_context(method), check, document)


def inherit() -> None:
    """Use what was opened before a fork on both sides of it, at the same time."""
    reader = graph()["image"].reader
    stream = reader.open()
    begun = stream.read(1000)
    stop = threading.Event()
    wrong: list[bool] = []

    def read_on() -> None:
        while not stop.is_set():
            wrong.append(reader.read_range(7, 70_000) != CONTENT[7:70_000])

    def in_child() -> None:
        check_reader(reader)
        assert begun + stream.read() == CONTENT

    threads = [threading.Thread(target=read_on) for _ in range(3)]
    for thread in threads:
        thread.start()
    context: Any = multiprocessing.get_context("fork")
    try:
        _run(context, in_child, count=3)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert wrong
    assert not any(wrong)
    assert begun + stream.read() == CONTENT


def hold() -> None:
    """Fork while another thread holds the lock of fsspec."""
    reader = graph()["image"].reader
    asyn: Any = import_module("fsspec.asyn")
    held, done = threading.Event(), threading.Event()

    def keep() -> None:
        with asyn.get_lock():
            held.set()
            done.wait()

    thread = threading.Thread(target=keep)
    thread.start()
    held.wait()
    try:
        _run(multiprocessing.get_context("fork"), check_reader, reader)
    finally:
        done.set()
        thread.join()


def leave() -> None:
    """Fork a child that ends like a program, not like a worker."""
    reader = graph()["image"].reader
    child = os.fork()
    if child == 0:
        check_reader(reader)
        sys.exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    check_reader(reader)


def write(path: str) -> None:
    """Write the document to where the others find it."""
    document = make_codec().encode(graph())
    for secret in _options().values():
        for text in (document, pickle.dumps(graph()), repr(graph()).encode()):
            assert str(secret).removeprefix("http://").encode() not in text
    Path(path).write_bytes(document)


def read(path: str) -> None:
    """Read the document that another process wrote."""
    check(Path(path).read_bytes())


def _run(
    context: Any, target: Callable[..., None], *args: object, count: int = 1
) -> None:
    children = [context.Process(target=target, args=args) for _ in range(count)]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    codes = [child.exitcode for child in children]
    for child in children:
        child.kill()
        child.join()
    assert codes == [0] * count, codes


def main() -> None:
    """Do what each line of the input says, and answer with a line: what went wrong.

    One program does many things, since loading s3fs takes longer than most of them.
    """
    done: dict[str, Callable[..., None]] = {
        each.__name__: each for each in (start, inherit, hold, leave, write, read)
    }
    for line in sys.stdin:
        name, *arguments = line.split()
        try:
            done[name](*arguments)
        except Exception:  # noqa: BLE001 - the test shows it
            sys.stdout.write(repr(traceback.format_exc()))
        sys.stdout.write("\n")
        sys.stdout.flush()


if __name__ == "__main__":
    # By its own name, so that children can import what they are to run.
    import_module("tests.resolvers.s3_children").main()
