"""Graphs that move between the processes of a Dask cluster."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from graphcodec import BytesReader, Conversation, Media, Message, errors
from graphcodec.adapters.dask import connect, register
from graphcodec.readers import UnboundReader
from graphcodec_resolvers import FsspecStore
from tests.adapters import dask_codecs
from tests.adapters.dask_codecs import Heavy
from tests.primitives.builders import make

if TYPE_CHECKING:
    from collections.abc import Iterator

CODEC = "tests.adapters.dask_codecs:codec"


@pytest.fixture(scope="module")
def client(dask_client: Any) -> Iterator[Any]:
    """A client of the cluster that moves graphs as documents."""
    before = UnboundReader.bind_process(None)
    with connect(dask_client.cluster, codec=CODEC) as made:
        yield made
    UnboundReader.bind_process(before)


def talk(*readers: Any) -> Conversation:
    """Return a conversation with a medium for each reader."""
    media = tuple(
        make(Media, id=f"med-{number}", reader=reader)
        for number, reader in enumerate(readers)
    )
    return Conversation(id="talk", items=(make(Message, attachments=media),))


def both(client: Any) -> list[str]:
    """Return the addresses of the two workers; another test may have killed one."""
    client.wait_for_workers(2, timeout=60)
    return sorted(client.nthreads())


def protocol() -> Any:
    """Return what Dask writes messages with."""
    return import_module("distributed.protocol")


def test_between_workers_and_back(client: Any) -> None:
    """What can't be pickled goes to a worker, from it to another one, and back."""
    first, second = both(client)

    (sent,) = client.scatter([Heavy("ours")], workers=[first])
    moved = client.submit(dask_codecs.told, sent, workers=[second], pure=False)
    again = client.submit(dask_codecs.told, moved, workers=[first], pure=False)

    pids = client.run(import_module("os").getpid)
    assert again.result() == Heavy(f"ours in {pids[second]} in {pids[first]}")


def test_sharing_in_a_list(client: Any) -> None:
    """One conversation in two places of an entry is one in the worker, too."""
    one = talk(BytesReader(b"x"))

    (sent,) = client.scatter([[[one, one]]])

    assert client.submit(dask_codecs.same, sent).result() is True
    ((first, second),) = client.gather(sent)
    assert first is second
    assert first == one


def test_large_bytes_lie_beside_the_document(client: Any) -> None:
    """Bytes over 64 KiB become frames, equal ones one, and no byte is copied."""
    assert client
    data = b"0" * 1_000_000
    graph = talk(BytesReader(data), BytesReader(data), BytesReader(b"small"))
    write = ["graphcodec", "dask", "pickle"]

    header, frames = protocol().serialize(graph, serializers=write)

    assert header["serializer"] == "graphcodec"
    assert len(frames) == 2
    assert len(frames[0]) < 2_000
    assert frames[1].obj is data
    again = protocol().deserialize(header, frames)
    assert again == graph
    assert all(type(m.reader) is BytesReader for m in again.items[0].attachments)


def test_large_bytes_through_a_worker(client: Any) -> None:
    """A worker reads them as they were."""
    data = bytes(range(256)) * 4096

    (sent,) = client.scatter([talk(BytesReader(data))])

    assert client.submit(dask_codecs.last_attachment, sent).result() == data


def test_nothing_outside_a_seal(client: Any) -> None:
    """With keys, everything lies in the sealed document."""
    assert client
    family = import_module("graphcodec.adapters._dask_family").Family
    source = import_module("graphcodec.queues._workers").CodecSource
    sealed = family(source(dask_codecs.sealed))
    graph = talk(BytesReader(b"0" * 1_000_000))

    header, frames = sealed.dumps(graph)

    assert len(frames) == 1
    assert sealed.loads(header, frames) == graph
    with pytest.raises(errors.SealError, match="not sealed"):
        sealed.loads({}, family(source(dask_codecs.codec)).dumps(graph)[1])


def test_what_is_not_ours_goes_as_ever(client: Any) -> None:
    """Numbers, sets, and lists that hold ours and what no document can, are Dask's."""
    assert client.submit(sum, [1, 2]).result() == 3
    write = ["graphcodec", "dask", "pickle"]
    for value in (1, {1, 2}, ["text"], [talk(), object]):
        header, frames = protocol().serialize(value, serializers=write)
        assert header["serializer"] == "pickle"
        assert protocol().deserialize(header, frames) == value


def test_handles_in_arguments_open(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that is pickled with a task opens in the worker."""
    client.run(_set_root, str(tmp_path))
    monkeypatch.setenv("TEST_DASK_ROOT", str(tmp_path))
    client.register_plugin(import_module(FAMILY).Plugin(CODEC))
    reader = FsspecStore(str(tmp_path), alias="media").write(b"a picture")

    assert (
        client.submit(dask_codecs.last_attachment, talk(reader)).result()
        == b"a picture"
    )


FAMILY = "graphcodec.adapters._dask_family"


def _set_root(root: str) -> None:
    import_module("os").environ["TEST_DASK_ROOT"] = root


def test_errors_of_tasks_arrive_whole(client: Any) -> None:
    """Class, path, hint and cause of an error that a task raises are there."""
    with pytest.raises(errors.StaleHandleError, match="it changed") as info:
        client.submit(dask_codecs.fail, pure=False).result()

    assert (info.value.path, info.value.hint) == ("$.a", "fetch it anew")
    assert repr(info.value.__cause__) == "KeyError('gone')"


def test_result_that_can_not_be_sent(client: Any) -> None:
    """A result that no document can hold raises our error where it is wanted."""
    future = client.submit(dask_codecs.gate, pure=False)

    with pytest.raises(errors.GateNotEncodableError, match="TurnGate"):
        future.result()


def test_frames_that_are_not_there(client: Any) -> None:
    """A handle of a frame is good for nothing outside of its message."""
    assert client
    header, frames = protocol().serialize(
        talk(BytesReader(b"0" * 100_000)), serializers=["graphcodec"]
    )

    with pytest.raises(errors.UndecodableValueError, match="has no such frame"):
        protocol().deserialize(header, frames[:1])


def test_codec_is_checked() -> None:
    """What makes no codec is told before anything is registered."""
    with pytest.raises(errors.InvalidValueError, match="codec must be a Codec or a"):
        register("nonsense")
