"""What is fed: each function takes any bytes, and may raise nothing but our errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from attrs import frozen

from graphcodec import Codec, Limits
from graphcodec._documents._converting import convert
from graphcodec._documents._differing import differences
from graphcodec._documents._validating import validate
from graphcodec._frames import MAGIC, compress
from graphcodec.cli import _inspect
from graphcodec.cli._tree import Tree
from graphcodec.errors import GraphCodecError
from tests.codec.test_mutations import TYPES, Samples
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
}
