"""What is fed: each function takes any bytes, and may raise nothing but our errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Final, Literal

from attrs import frozen

from graphcodec import Codec, Limits, Seal
from graphcodec._bulk._upgrade import Renewal
from graphcodec._compressing import Compression
from graphcodec._documents._converting import convert
from graphcodec._documents._differing import differences
from graphcodec._documents._validating import validate
from graphcodec._frames import MAGIC, compress, framed, opened
from graphcodec._graphs._comparing import difference
from graphcodec.cli import _inspect
from graphcodec.cli._tree import Tree
from graphcodec.errors import (
    CyclicGraphError,
    GraphCodecError,
    LimitExceededError,
    UndecodableValueError,
)
from graphcodec.queues._workers import CodecSource
from graphcodec.testing import same_graph
from tests.codec.test_mutations import TYPES, Samples
from tests.codec.test_unknown_members import (
    NEW,
    NEWER,
    RELAY,
    STRICT,
    WRITER,
    NewBits,
    NewText,
)
from tests.wire_corpus.classes import CODEC
from tests.wire_corpus.corpus import DOCUMENTS

LIMITS: Final = Limits(max_bytes=100_000, max_nodes=1_000, max_decompressed=1_000_000)
LONGEST: Final = 800
"""Characters that an error may have."""


@frozen
class Target:
    """One thing that reads bytes.

    Attributes:
        run: Reads them.
        seeds: Gives valid documents to begin with.
    """

    run: Callable[[bytes], object]
    seeds: Callable[[], list[bytes]]

    def feed(self, data: bytes) -> bool:
        """Return whether *data* was taken; an error of ours says that it was not.

        Args:
            data: Any bytes.
        """
        try:
            self.run(data)
        except GraphCodecError as exc:
            text = str(exc)
            if len(text) > LONGEST or not text.isprintable():
                msg = f"an error of {len(text)} characters: {text[:100]!r}"
                raise AssertionError(msg) from exc
            return False
        return True


@lru_cache(maxsize=1)
def _codecs() -> tuple[Codec, ...]:
    strict = Codec(types=TYPES, limits=LIMITS)
    kept = strict.replace(unknown_types="keep", unknown_fields="ignore")
    return strict, kept, CODEC.replace(limits=LIMITS)


def _decode(data: bytes) -> None:
    """Decode with the codec that the length chooses, so that each gets its share."""
    codecs = _codecs()
    codecs[len(data) % len(codecs)].decode(data)


def _validate(data: bytes) -> None:
    validate(data, _codecs()[len(data) % 2])


def _convert(data: bytes) -> None:
    codec = _codecs()[0]
    for format_ in ("json", "msgpack"):
        out = convert(data, format=format_, codec=codec)
        convert(out, format="json", codec=codec)


def _look_into(data: bytes) -> None:
    document = _inspect.inspected("fuzz", data)
    tree = Tree(document.nodes, depth=6, binary=document.binary)
    json.dumps(_inspect.facts(document, tree))
    for _ in tree.lines(document.part, document.path):
        pass


def _diff(data: bytes) -> None:
    for other in _binary_documents()[:2]:
        differences(data, other, limits=LIMITS)
        differences(other, data, limits=LIMITS)
    differences(data, data, limits=LIMITS)


# What is kept of the unknown, and members of Enums


@lru_cache(maxsize=1)
def _relays() -> tuple[Codec, ...]:
    keeping = {"unknown_types": "keep", "limits": LIMITS}
    return (
        CODEC.replace(**keeping),
        Codec(types=TYPES, limits=LIMITS, unknown_types="keep"),
        RELAY.replace(limits=LIMITS),
    )


def _keep(data: bytes) -> None:
    """Decode with a codec that keeps the unknown; what it took must come back."""
    relays = _relays()
    codec = relays[len(data) % len(relays)]
    _come_back(codec, codec.decode(data))


def _come_back(codec: Codec, graph: object) -> None:
    try:
        again = codec.decode(codec.encode(graph))
    except (CyclicGraphError, LimitExceededError):
        # What was made by hand may hold a cycle through a hash by identity, and its
        # shorter spelling may have been within the limits.
        return
    except UndecodableValueError as exc:
        # An owner that is kept as a whole can't close a cycle everywhere.
        assert "of unknown type is part of a cycle" in str(exc), exc  # noqa: PT017
        return
    found = difference(graph, again)
    assert found is None, found


def _members(data: bytes) -> None:
    """Decode members of Enums: who keeps the unknown takes what a strict one takes."""
    relay = _relays()[2]
    try:
        strict = _strict().decode(data)
    except GraphCodecError:
        _come_back(relay, relay.decode(data))
        return
    assert same_graph(relay.decode(data), strict)


@lru_cache(maxsize=1)
def _strict() -> Codec:
    return STRICT.replace(limits=LIMITS)


def _member_documents() -> list[bytes]:
    values = [values for values, _, _ in NEWER.values()]
    graphs: list[object] = [
        NEW.owner(NEW.item(**given), any=[NEW.item(), {NewText.BLUE}, NewBits(3)])
        for given in [{}, *values]
    ]
    codecs = [WRITER, WRITER.replace(format="msgpack")]
    return [codec.encode(graph) for codec in codecs for graph in graphs]


# Upgrades


@lru_cache(maxsize=1)
def _renewal() -> Renewal:
    return Renewal(codec=CodecSource(CODEC.replace(limits=LIMITS)))


def _upgrade(data: bytes) -> None:
    """Write a document anew: what comes of it needs nothing more."""
    out, why = _renewal().of(data)
    if why:
        again, more = _renewal().of(out)
        assert (again, more) == (out, []), more


# Sealed frames

_KEYS: Final = {"fuzz-1": bytes(range(32)), "fuzz-2": bytes(range(32, 64))}


@lru_cache(maxsize=1)
def _sealing() -> dict[int, Codec]:
    """Return a codec for each kind of seal, by the kind's number in a frame."""
    modes: dict[int, Literal["sign", "encrypt"]] = {16: "sign", 17: "encrypt"}
    return {
        kind: CODEC.replace(
            limits=LIMITS, seal=Seal(_KEYS, mode=mode, current="fuzz-1")
        )
        for kind, mode in modes.items()
    }


@lru_cache(maxsize=1)
def _sealed_documents() -> list[bytes]:
    return [
        framed(data, LIMITS, compression=compression, seal=codec.seal)
        for codec in _sealing().values()
        for data in _documents()
        for compression in _COMPRESSIONS
    ]


@lru_cache(maxsize=1)
def _known() -> frozenset[bytes]:
    return frozenset(_documents())


def _sealed(data: bytes) -> None:
    """Open a sealed frame: nothing comes out that was not sealed with the keys."""
    kind = data[6] if len(data) > 6 else 0
    codec = _sealing().get(kind, _sealing()[16])
    document = bytes(opened(data, LIMITS, codec.seal))
    assert document in _known(), "a frame opens that nobody has sealed"
    codec.decode(data)


def _inside(data: bytes) -> None:
    """Seal a document, whatever it is, and decode it."""
    for codec in _sealing().values():
        compression = _COMPRESSIONS[len(data) % len(_COMPRESSIONS)]
        codec.decode(framed(data, LIMITS, compression=compression, seal=codec.seal))


_COMPRESSIONS: Final[tuple[Compression | None, ...]] = (None, "gzip", "zstd")


@lru_cache(maxsize=1)
def _documents() -> list[bytes]:
    frozen_ = [path.read_bytes() for path in sorted(DOCUMENTS.iterdir())]
    small = [data for data in frozen_ if len(data) < 20_000]
    return [*Samples().documents, *small]


def _json_documents() -> list[bytes]:
    return [data for data in _documents() if data[:1] == b"{"]


def _binary_documents() -> list[bytes]:
    return [data for data in _documents() if data[:1] not in (b"{", MAGIC[:1])]


def _frames() -> list[bytes]:
    return [*_made(_documents())]


def _made(documents: list[bytes]) -> Iterator[bytes]:
    for data in documents:
        if data[:1] == MAGIC[:1]:
            yield data
        else:
            yield compress(data, "gzip", LIMITS)
            yield compress(data, "zstd", LIMITS)


TARGETS: Final[Mapping[str, Target]] = {
    "decode-json": Target(_decode, _json_documents),
    "decode-msgpack": Target(_decode, _binary_documents),
    "frames": Target(_decode, _frames),
    "validate": Target(_validate, _documents),
    "convert": Target(_convert, _documents),
    "inspect": Target(_look_into, _documents),
    "diff": Target(_diff, _documents),
    "keep": Target(_keep, _documents),
    "members": Target(_members, _member_documents),
    "upgrade": Target(_upgrade, _documents),
    "sealed": Target(_sealed, _sealed_documents),
    "inside-seals": Target(_inside, _documents),
}
