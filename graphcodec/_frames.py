"""Frames: a document in layers that say how its bytes were changed.

A frame is a header and a payload. The header begins with four bytes with which neither
JSON nor MessagePack can, and lists the layers, outermost first. Whoever reads a frame
takes the layers off in that order; what is left is a document. Each layer has a kind
and parameters of its own, so a new kind changes nothing for the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from attrs import frozen

from graphcodec._compressing import Compression, deflated, inflater, is_damage
from graphcodec._limits import Limits, exceeded
from graphcodec._paths import excerpt
from graphcodec.errors import SealError, UndecodableValueError, VersionError

if TYPE_CHECKING:
    from graphcodec._seal import Mode, Seal

Data: TypeAlias = bytes | bytearray | memoryview

# 0xC1 begins no text in UTF-8 and no value in MessagePack.
MAGIC: Final = b"\xc1GCF"
VERSION: Final = 1
MOST_LAYERS: Final = 8

_KINDS: Final[Mapping[Compression, int]] = MappingProxyType({"gzip": 1, "zstd": 2})
_NAMES: Final[Mapping[int, Compression]] = MappingProxyType(
    {kind: name for name, kind in _KINDS.items()}
)
_SEALS: Final[Mapping[Mode, int]] = MappingProxyType({"sign": 16, "encrypt": 17})
_SEALED: Final[Mapping[int, str]] = MappingProxyType({16: "signed", 17: "encrypted"})
_SHOWN: Final[Mapping[int, str]] = MappingProxyType({**_NAMES, **_SEALED})
_SIZE: Final = 8
_START: Final = len(MAGIC) + 2
_BEFORE_PARAMETERS: Final = 3


@frozen
class Layer:
    """One change that was made to the bytes of a document.

    Attributes:
        kind: The number of the kind.
        parameters: What its reader needs; what they mean depends on the kind.
    """

    kind: int
    parameters: bytes


@frozen
class Frame:
    """A frame that was taken apart; nothing in it is undone yet.

    Attributes:
        layers: The layers, outermost first.
        payload: The bytes behind the header.
        header: The bytes of the header, which a layer may authenticate.
    """

    layers: tuple[Layer, ...]
    payload: memoryview
    header: bytes


def is_frame(data: Data) -> bool:
    """Say whether *data* begins as no document but a frame does."""
    return bytes(data[:1]) == MAGIC[:1]


def header_of(layers: tuple[Layer, ...]) -> bytes:
    """Return the header of a frame.

    Args:
        layers: Its layers, outermost first.
    """
    out = bytearray(MAGIC)
    out += bytes((VERSION, len(layers)))
    for layer in layers:
        out.append(layer.kind)
        out += len(layer.parameters).to_bytes(2, "big") + layer.parameters
    return bytes(out)


def parse(data: Data) -> Frame:
    """Take a frame apart.

    Args:
        data: Bytes for which `is_frame` is true.

    Raises:
        UndecodableValueError: If the header is cut off or malformed.
        VersionError: If the frame is of a later version.
    """
    view = memoryview(data).cast("B")
    start = bytes(view[:_START])
    if len(start) < _START or not start.startswith(MAGIC):
        what = "cut off" if MAGIC.startswith(start[: len(MAGIC)]) else "not ours"
        msg = f"this is neither a document nor a frame: its first bytes are {what}"
        raise UndecodableValueError(msg)
    version, count = start[len(MAGIC) :]
    if version != VERSION:
        msg = f"the frame is of version {version}; this codec reads {VERSION}"
        raise VersionError(msg, value=version, hint="update graphcodec")
    if not 0 < count <= MOST_LAYERS:
        msg = f"a frame has 1 to {MOST_LAYERS} layers, and this has {count}"
        raise UndecodableValueError(msg, value=count)
    layers, end = _layers(view, count)
    return Frame(layers, view[end:], bytes(view[:end]))


def _layers(view: memoryview, count: int) -> tuple[tuple[Layer, ...], int]:
    layers: list[Layer] = []
    position = _START
    for _ in range(count):
        begin = position + _BEFORE_PARAMETERS
        length = int.from_bytes(view[position + 1 : begin], "big")
        if begin + length > len(view):
            msg = "the frame is cut off within its header"
            raise UndecodableValueError(msg)
        layers.append(Layer(view[position], bytes(view[begin : begin + length])))
        position = begin + length
    return tuple(layers), position


def names(layers: tuple[Layer, ...]) -> tuple[str, ...]:
    """Return what the layers are called, for people.

    Args:
        layers: The layers of a frame.
    """
    return tuple(_SHOWN.get(layer.kind, f"kind {layer.kind}") for layer in layers)


# Out


def compress(document: bytes, compression: Compression, limits: Limits) -> bytes:
    """Return the frame of a compressed document.

    Args:
        document: The document.
        compression: How to compress it.
        limits: What a reader would accept.

    Raises:
        LimitExceededError: If a reader with the same limits would refuse the frame.
    """
    return framed(document, limits, compression=compression)


def framed(
    document: bytes,
    limits: Limits,
    *,
    compression: Compression | None = None,
    seal: Seal | None = None,
    context: bytes = b"",
) -> bytes:
    """Return the frame of a document that is compressed, sealed or both.

    Args:
        document: The document.
        limits: What a reader would accept.
        compression: How to compress it.
        seal: What to seal it with.
        context: What the seal binds it to.

    Raises:
        LimitExceededError: If a reader with the same limits would refuse the frame.
    """
    layers: tuple[Layer, ...] = ()
    payload = document
    if compression is not None:
        if len(document) > limits.max_decompressed:
            most = limits.max_decompressed
            raise exceeded("max_decompressed", most, len(document), "$")
        size = len(document).to_bytes(_SIZE, "big")
        layers = (Layer(_KINDS[compression], size),)
        payload = deflated(document, compression)
    if seal is not None:
        parameters = seal.parameters()
        layers = (Layer(_SEALS[seal.mode], parameters), *layers)
        payload = seal.close(parameters, payload, header_of(layers), context)
    frame = header_of(layers) + payload
    if len(frame) > limits.max_bytes:
        raise exceeded("max_bytes", limits.max_bytes, len(frame), "$")
    return frame


# In


def opened(
    data: Data, limits: Limits, seal: Seal | None = None, context: bytes = b""
) -> Data:
    """Return the document in a frame; what is no frame is returned as it is.

    With a seal, nothing but what that seal made is opened, and nothing of it is looked
    at before.

    Args:
        data: What arrived.
        limits: What it may cost.
        seal: What it must be sealed with.
        context: What it must be bound to.

    Raises:
        UndecodableValueError: If the frame is malformed, or has a layer that this
            codec can't undo.
        SealError: If it is not sealed as it should be.
        LimitExceededError: If the document in it is too large.
        VersionError: If it is of a later version.
    """
    if not is_frame(data):
        if seal is not None:
            raise _unsealed("not sealed", seal)
        return data
    frame = parse(data)
    layers, payload = frame.layers, frame.payload
    if seal is not None:
        payload = memoryview(_unseal(frame, seal, context))
        layers = layers[1:]
    _require_known(layers)
    document: Data = payload
    for layer in layers:
        document = _undone(layer, payload, limits)
    if is_frame(document):
        msg = "the frame holds another frame; what is in it must be a document"
        raise UndecodableValueError(msg)
    return document


def _unseal(frame: Frame, seal: Seal, context: bytes) -> bytes | memoryview:
    outermost = frame.layers[0]
    if outermost.kind != _SEALS[seal.mode]:
        shown = _SEALED.get(outermost.kind)
        raise _unsealed(f"only {shown}" if shown else "not sealed", seal)
    return seal.open(outermost.parameters, frame.payload, frame.header, context)


def _unsealed(what: str, seal: Seal) -> SealError:
    wanted = _SEALED[_SEALS[seal.mode]]
    msg = f"the document is {what}, and this codec reads {wanted} ones alone"
    return SealError(msg, hint="let a codec with a seal of that mode write it")


def _require_known(layers: tuple[Layer, ...]) -> None:
    """Refuse layers that are not, at most, one compression."""
    for layer in layers:
        if layer.kind in _SEALED:
            msg = f"the document is {_SEALED[layer.kind]}, and nothing here opens that"
            hint = "a codec with the right Seal does: Codec(seal=Seal(...))"
            raise SealError(msg, hint=hint)
        if layer.kind not in _NAMES:
            msg = (
                f"the frame has a layer of kind {layer.kind},"
                " which this codec can't undo"
            )
            raise UndecodableValueError(msg, value=layer.kind, hint="update graphcodec")
    if len(layers) > 1:
        shown = ", ".join(names(layers))
        msg = f"only one layer of a frame may compress, and this has {shown}"
        raise UndecodableValueError(msg)


def _undone(layer: Layer, payload: memoryview, limits: Limits) -> bytes:
    name = _NAMES[layer.kind]
    if len(layer.parameters) != _SIZE:
        found = len(layer.parameters)
        msg = f"a {name} layer has {_SIZE} bytes of parameters, and this has {found}"
        raise UndecodableValueError(msg)
    size = int.from_bytes(layer.parameters, "big")
    if size > limits.max_decompressed:
        raise exceeded("max_decompressed", limits.max_decompressed, size, "$")
    return _inflated(name, payload, size)


def _inflated(name: Compression, payload: memoryview, size: int) -> bytes:
    """Return what was compressed, and never make more of it than it should be."""
    stream = inflater(name)
    try:
        # One byte more, to see whether there is more.
        out: bytes = stream.decompress(payload, size + 1)
    except Exception as exc:
        if not is_damage(exc):
            raise
        msg = f"the {name} data in the frame is damaged: {excerpt(str(exc))}"
        raise UndecodableValueError(msg) from None
    if len(out) > size:
        msg = f"the frame says {size:,} bytes, and its {name} data has more"
        raise UndecodableValueError(msg)
    if not stream.eof:
        msg = f"the {name} data in the frame is cut off"
        raise UndecodableValueError(msg)
    if stream.unused_data:
        msg = f"something follows the {name} data in the frame"
        raise UndecodableValueError(msg, hint="one stream belongs there, and no more")
    if len(out) < size:
        msg = f"the frame says {size:,} bytes, and its {name} data has {len(out):,}"
        raise UndecodableValueError(msg)
    return out
