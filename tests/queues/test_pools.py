"""Primitives, handles and errors through the pools of the standard library."""

from __future__ import annotations

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from graphcodec import (
    Codec,
    Media,
    SpooledArtifact,
    Tool,
    ToolRegistry,
    TurnGate,
    errors,
)
from graphcodec.errors import GraphCodecError
from graphcodec.queues import worker_codec
from graphcodec.readers import UnboundReader
from graphcodec_resolvers import FsspecResolver, FsspecStore
from tests.primitives.builders import PRIMITIVES, make
from tests.queues import working
from tests.queues.working import METHODS, PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from multiprocessing.context import BaseContext
    from pathlib import Path

    Run = Callable[[Callable[[Any], Any], Any], Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the store ``media``."""
    return tmp_path_factory.mktemp("media")


def codec_for(folder: Path) -> Codec:
    """Return a codec that knows the store."""
    return Codec(resolvers=[FsspecResolver({"media": str(folder)})])


@contextmanager
def pool(context: BaseContext, folder: Path) -> Generator[Run, None, None]:
    """Give what runs a function in a `multiprocessing.Pool` with a codec."""
    with context.Pool(1, worker_codec, (codec_for(folder),)) as pool:
        yield lambda job, arg: pool.apply_async(job, (arg,)).get(PATIENCE)
        pool.close()
        pool.join()


@contextmanager
def executor(context: BaseContext, folder: Path) -> Generator[Run, None, None]:
    """Give what runs a function in a `ProcessPoolExecutor` with a codec."""
    bind, args = working.bind_folder, (str(folder),)
    with ProcessPoolExecutor(1, context, bind, args) as executor:
        yield lambda job, arg: executor.submit(job, arg).result(PATIENCE)


@pytest.fixture(
    scope="module",
    params=product([pool, executor], METHODS),
    ids=lambda param: f"{param[0].__name__}-{param[1]}",
)
def run(request: pytest.FixtureRequest, folder: Path) -> Iterator[Run]:
    """Return what calls a function with one argument in a worker."""
    kind, method = request.param
    with kind(multiprocessing.get_context(method), folder) as run:
        yield run


@pytest.fixture
def _bound(folder: Path) -> Iterator[None]:
    """Give this process the codec too, for the time of a test."""
    before = UnboundReader.bind_process(None)
    worker_codec(codec_for(folder))
    yield
    UnboundReader.bind_process(before)


def media(folder: Path) -> Media:
    """Return media in the store."""
    reader = FsspecStore(str(folder), alias="media").write(b"png")
    return Media.user_attachment(
        kind="image", mime_type="image/png", filename="a.png", reader=reader
    )


def test_primitives(run: Run) -> None:
    """Every primitive pickles as the class that it is, there and back."""
    every: list[object] = [make(cls) for cls in PRIMITIVES]

    got = run(working.same, every)

    assert got == every
    assert [type(one) for one in got] == list(PRIMITIVES)


def tool(handler: Callable[..., object] | None) -> Tool:
    """Return a tool with a handler."""
    return Tool("look", "looks", {"type": "object"}, handler)


def test_tools(run: Run) -> None:
    """A tool goes with a handler that has a name, and a registry with its tools."""
    tools = ToolRegistry([tool(working.same)])

    assert run(working.same, tools) == tools


def test_handlers_without_a_name_are_refused(run: Run) -> None:
    """A tool whose handler no other process could find stays where it is."""
    with pytest.raises(
        errors.HandlerNotEncodableError, match=r"look.*can.t be pickled"
    ):
        run(working.same, tool(lambda: "x"))


@pytest.mark.usefixtures("_bound")
def test_a_worker_opens_handles(run: Run, folder: Path) -> None:
    """Media arrive without a binding, and the worker's codec has one."""
    sent = media(folder)

    content, got = run(working.read_media, sent)

    assert (content, got) == (b"png", sent)
    assert got.read() == b"png"


def test_a_worker_opens_artifacts(run: Run, folder: Path) -> None:
    """The same for the other family of handles."""
    reader = FsspecStore(str(folder), alias="media").write(b"a\nb")

    content, _ = run(working.read_media, SpooledArtifact(reader))

    assert content == b"a\nb"


def test_an_unknown_store_is_refused_in_the_worker(run: Run, tmp_path: Path) -> None:
    """A handle that the codec of the worker does not know says which."""
    reader = FsspecStore(str(tmp_path), alias="other").write(b"x")

    with pytest.raises(errors.NoReaderResolverError, match="store 'other' has no") as e:
        run(working.read_media, SpooledArtifact(reader))

    assert (e.value.alias, e.value.tag) == ("other", "fsspec")


def test_errors_arrive_whole(run: Run) -> None:
    """Attributes, path, hint and cause of what a worker raises are there."""
    with pytest.raises(GraphCodecError, match=r"it failed \(at \$.a\); do not") as e:
        run(working.fail, "$.a")

    error = e.value
    assert type(error) is GraphCodecError
    assert (error.path, error.hint, error.tag) == ("$.a", "do not", "t")
    assert (error.limit, error.value, error.alias) == ("l", 3, "a")
    # Pools put the worker's traceback, as text, in place of the cause.
    # Dask, once a process has loaded it, pickles all exceptions in its own way (tblib),
    # without what came before them, and a fork inherits that.
    if "tblib.pickling_support" not in sys.modules:
        assert repr(error.__context__) == "ZeroDivisionError('nothing to divide by')"
    assert "nothing to divide by" in str(error.__cause__)


def test_gates_are_refused(run: Run) -> None:
    """A gate is live, and stays where it is."""
    gate = TurnGate(turn_id="t", reason="r")

    with pytest.raises(errors.GateNotEncodableError, match=r"gate\.record"):
        run(working.same, gate)


@pytest.mark.usefixtures("_bound")
@pytest.mark.parametrize("given", [codec_for, None], ids=["function", "name"])
def test_ways_to_give_a_codec(given: Any, folder: Path) -> None:
    """The codec is made, or looked up, when a handle is first opened."""
    made: list[Path] = []

    def make_it() -> Codec:
        made.append(folder)
        return codec_for(folder)

    worker_codec(make_it if given else "tests.queues.working:ONE_CODEC")
    arrived = UnboundReader(media(folder).reader.describe())  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    assert made == []

    if given:
        assert arrived.open().read() == b"png"
        assert made == [folder]
    else:
        with pytest.raises(errors.NoReaderResolverError, match="'media' has no"):
            arrived.open()


def test_what_is_no_codec() -> None:
    """It is refused where it is given."""
    with pytest.raises(errors.InvalidValueError, match="must be a Codec or a function"):
        worker_codec(5)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
