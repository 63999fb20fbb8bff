"""The alternatives, each set up as well as its documentation shows how."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# pyright: reportUnknownLambdaType=false, reportOptionalMemberAccess=false

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import attrs
import cloudpickle
import jsonpickle
import msgspec
import pyfory
from cattrs.preconf.json import make_converter
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from pydantic import TypeAdapter

from graphcodec import Codec
from tests.alternatives.shapes import Link, Moved, Note, Person, Talk

_CLASSES = (Person, Note, Talk, Link, Moved)


@attrs.frozen(kw_only=True)
class Peer:
    """A codec, and how it is used.

    Attributes:
        name: What it is called.
        dumps: Writes an object of a class.
        loads: Reads an object of a class.
        bait: A document that names a function to be called, where its form has a way
            to name one.
    """

    name: str
    dumps: Callable[[Any, type], bytes]
    loads: Callable[[bytes, type], Any]
    bait: Callable[[str, str], bytes] | None = None


def _graphcodec() -> Peer:
    codec = Codec(types={f"peers.{cls.__name__}": cls for cls in _CLASSES})
    return Peer(
        name="graphcodec",
        dumps=lambda obj, _: codec.encode(obj),
        loads=codec.decode,
        bait=lambda module, name: (
            b'{"graphcodec":1,"root":{"$type":"%s.%s"}}'
            % (module.encode(), name.encode())
        ),
    )


def _pickled(module: str, name: str) -> bytes:
    return f"c{module}\n{name}\n(S'code ran'\ntR.".encode()


def _pickle() -> Peer:
    return Peer(
        name="pickle",
        dumps=lambda obj, _: pickle.dumps(obj, protocol=5),
        loads=lambda data, _: pickle.loads(data),
        bait=_pickled,
    )


def _cloudpickle() -> Peer:
    return Peer(
        name="cloudpickle",
        dumps=lambda obj, _: cloudpickle.dumps(obj),
        loads=lambda data, _: pickle.loads(data),
        bait=_pickled,
    )


def _jsonpickle() -> Peer:
    def bait(module: str, name: str) -> bytes:
        called = f'{{"py/function": "{module}.{name}"}}'
        return f'{{"py/reduce": [{called}, {{"py/tuple": ["code ran"]}}]}}'.encode()

    return Peer(
        name="jsonpickle",
        dumps=lambda obj, _: jsonpickle.encode(obj, keys=True).encode(),
        loads=lambda data, _: jsonpickle.decode(data.decode(), keys=True),
        bait=bait,
    )


def _cattrs() -> Peer:
    converter = make_converter()
    return Peer(
        name="cattrs",
        dumps=lambda obj, cls: converter.dumps(obj, cls).encode(),
        loads=converter.loads,
    )


def _msgspec() -> Peer:
    return Peer(
        name="msgspec",
        dumps=lambda obj, _: msgspec.json.encode(obj),
        loads=lambda data, cls: msgspec.json.decode(data, type=cls),
    )


def _pydantic() -> Peer:
    return Peer(
        name="pydantic",
        dumps=lambda obj, cls: TypeAdapter(cls).dump_json(obj),
        loads=lambda data, cls: TypeAdapter(cls).validate_json(data, strict=True),
    )


def _pyfory() -> Peer:
    fory = pyfory.Fory(xlang=False, ref=True, strict=True)
    for cls in _CLASSES:
        fory.register(cls)
    return Peer(
        name="pyfory",
        dumps=lambda obj, _: fory.dumps(obj),
        loads=lambda data, _: fory.loads(data),
    )


def _langgraph() -> Peer:
    serde = JsonPlusSerializer()

    def bait(module: str, name: str) -> bytes:
        import ormsgpack  # noqa: PLC0415 - a part of langgraph, which is there

        named = ormsgpack.packb([module, name, "code ran"])
        return bytes(ormsgpack.packb(ormsgpack.Ext(0, named)))

    return Peer(
        name="langgraph",
        dumps=lambda obj, _: serde.dumps_typed(obj)[1],
        loads=lambda data, _: serde.loads_typed(("msgpack", data)),
        bait=bait,
    )


def peers() -> list[Peer]:
    """Return all of them, ours first."""
    makers = (
        _graphcodec,
        _pickle,
        _cloudpickle,
        _jsonpickle,
        _pyfory,
        _langgraph,
        _cattrs,
        _pydantic,
        _msgspec,
    )
    return [make() for make in makers]
