"""A family of serializers for `distributed`: graphs as documents and frames.

A graph becomes one document in MessagePack. Inlined bytes that are large lie beside
it, in frames of their own, and in the document stands a handle with the number of the
frame; it is resolved while the frames are at hand, and nowhere else.
"""

# mypy: disable-error-code="no-untyped-call, misc"
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
# Dask's annotations are partial.

from __future__ import annotations

import pickle
from collections.abc import Collection, Mapping, Sequence
from contextvars import ContextVar
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast

import distributed
from distributed.protocol.serialize import register_serialization_family

from graphcodec._graphs._rebuild import with_readers
from graphcodec._graphs._traverse import Walk
from graphcodec._process import PerProcess
from graphcodec.codec import Codec
from graphcodec.errors import GraphCodecError, UndecodableValueError
from graphcodec.primitives import TurnGate
from graphcodec.queues._workers import CodecSource, worker_codec
from graphcodec.readers import BytesReader, Reader, ReaderDescriptor

if TYPE_CHECKING:
    from graphcodec.queues._workers import GivenCodec

__all__ = ["Plugin", "client", "register"]

NAME: Final = "graphcodec"
_WRITE: Final = (NAME, "dask", "pickle")
_READ: Final = (*_WRITE, "msgpack", "error")
_SCHEME: Final = "frame"
_LARGE: Final = 64 << 10
_LOOKED_AT: Final = 100

Frame = bytes | bytearray | memoryview


def register(codec: GivenCodec, *, worker: Any = None) -> None:
    """Register the family in this process, and bind pickled handles.

    Args:
        codec: What makes the codec.
        worker: The worker of this process, whose connections are to use it.
    """
    family = Family(CodecSource(codec))
    register_serialization_family(NAME, family.dumps, family.loads)
    worker_codec(codec)
    if worker is not None:
        worker.rpc.serializers = list(_WRITE)
        worker.rpc.deserializers = list(_READ)


def client(address: object, options: Mapping[str, Any]) -> distributed.Client:
    """Return a client whose connections use the family.

    Args:
        address: Of the scheduler.
        options: Further options.
    """
    ours: dict[str, Any] = {"serializers": list(_WRITE), "deserializers": list(_READ)}
    return distributed.Client(cast("Any", address), **{**ours, **options})


class Plugin(distributed.WorkerPlugin):
    """Registers the family in each worker.

    Args:
        codec: What makes the codec there.
    """

    name = NAME
    idempotent = False

    def __init__(self, codec: GivenCodec) -> None:
        self._codec = codec

    def setup(self, worker: Any) -> None:
        """Register it."""
        register(self._codec, worker=worker)


class Family:
    """What writes graphs as headers and frames, and reads them.

    Args:
        source: What makes the codec.
    """

    def __init__(self, source: CodecSource) -> None:
        self._source = source
        self._codec: PerProcess[Codec] = PerProcess(self._made)
        self._frames: ContextVar[Sequence[Frame]] = ContextVar("frames", default=())

    def _made(self) -> Codec:
        codec = self._source.get()
        changed = codec.replace(format="msgpack", write_unregistered=False)
        changed.register_resolver(_Frames(self._frames))
        return changed

    def dumps(self, value: object) -> tuple[dict[str, Any], list[Frame]]:
        """Return a header and frames.

        Args:
            value: A result, or what is scattered.

        Raises:
            NotImplementedError: If it is not ours; another family is asked.
        """
        codec = self._codec.get()
        if not _holds(codec, value):
            raise NotImplementedError
        try:
            lean, beside = _split(value, whole=codec.seal is not None)
            return {}, [codec.encode(lean), *beside]
        except GraphCodecError as exc:
            if type(value) in (list, tuple, dict):
                # With an array of NumPy in it, say. Pickle may be able to.
                raise NotImplementedError from exc
            # Dask would send the text of it.
            return {"failed": True}, [pickle.dumps(exc)]

    def loads(self, header: Mapping[str, Any], frames: Sequence[Frame]) -> object:
        """Return what the frames hold.

        Args:
            header: What `dumps` gave.
            frames: Likewise.

        Raises:
            GraphCodecError: If it could not be encoded, or can't be decoded.
        """
        if header.get("failed"):
            raise pickle.loads(b"".join(frames))  # noqa: S301 - as Dask does with errors
        token = self._frames.set(frames[1:])
        try:
            return self._codec.get().decode(frames[0])
        finally:
            self._frames.reset(token)


class _FrameReader(Reader):
    """Stands for bytes that lie in a frame, while a graph is encoded."""

    def __init__(self, number: int) -> None:
        self._number = number

    def describe(self) -> ReaderDescriptor:
        """Say which frame it is."""
        return ReaderDescriptor(_SCHEME, {"number": self._number})

    def open(self) -> BinaryIO:
        """Refuse: it is only ever described."""
        raise NotImplementedError


class _Frames:
    """Resolves the frames of the message that is being decoded."""

    tags: Collection[str] = (f"media:{_SCHEME}", f"spool:{_SCHEME}")

    def __init__(self, frames: ContextVar[Sequence[Frame]]) -> None:
        self._frames = frames

    def resolve(self, descriptor: ReaderDescriptor, /) -> Reader:
        """Return a reader of a frame."""
        number, frames = descriptor.locator.get("number"), self._frames.get()
        if type(number) is not int or not 0 <= number < len(frames):
            msg = "the message has no such frame"
            raise UndecodableValueError(msg, value=number)
        return BytesReader(bytes(frames[number]))


def _split(value: object, *, whole: bool) -> tuple[object, list[Frame]]:
    """Return a graph without its large bytes, and those.

    Args:
        value: The graph.
        whole: Whether nothing may lie outside the document, which a seal protects.
    """
    stands_in: dict[int, Reader] = {}
    numbers: dict[BytesReader, Reader] = {}
    if not whole:
        for _, reader in Walk(value):
            if isinstance(reader, BytesReader) and len(reader.data) > _LARGE:
                new = numbers.setdefault(reader, _FrameReader(len(numbers)))
                stands_in[id(reader)] = new
    lean = with_readers(value, stands_in) if stands_in else value
    return lean, [memoryview(reader.data) for reader in numbers]


def _holds(codec: Codec, value: object) -> bool:
    """Say whether *value* is, or holds near its beginning, what the codec knows."""
    is_object = codec._registry.is_object  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    left = _LOOKED_AT
    waiting: list[object] = [value]
    while waiting and left:
        left -= 1
        one = waiting.pop()
        if type(one) is dict:
            waiting += islice(cast("dict[Any, object]", one).values(), left)
        elif type(one) in (list, tuple):
            waiting += islice(cast("list[object]", one), left)
        elif is_object(type(one)) or isinstance(one, TurnGate):
            return True
    return False
