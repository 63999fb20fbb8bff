"""The files of the corpus, and what would be written into them today."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal, TypeAlias

from graphcodec import Limits, Seal
from graphcodec._compressing import Compression
from graphcodec._frames import compress, framed
from graphcodec._seal import Mode
from tests.wire_corpus import newer, story
from tests.wire_corpus.builders import OUTGROWN, READ, WRITTEN
from tests.wire_corpus.classes import CODEC

__all__ = ["newer", "story"]

Format: TypeAlias = Literal["json", "msgpack"]

DOCUMENTS: Final = Path(__file__).with_name("documents")
FORMATS: Final[tuple[Format, ...]] = ("json", "msgpack")

FRAMED: Final[dict[str, tuple[Compression, ...]]] = {
    "conversation.json": ("gzip", "zstd"),
    "conversation.msgpack": ("gzip", "zstd"),
    "null.json": ("gzip", "zstd"),
}
"""Which files also stand there compressed, with one more suffix."""

SEALED: Final[dict[str, tuple[Compression | None, Mode]]] = {
    "conversation.json.signed": (None, "sign"),
    "conversation.msgpack.encrypted": (None, "encrypt"),
    "conversation.json.zstd.signed": ("zstd", "sign"),
    "conversation.json.gzip.encrypted": ("gzip", "encrypt"),
}
"""Which files hold a sealed document, and how it is."""

CONTEXT: Final = b"corpus"

_KEY: Final = bytes(range(32))
"""No secret: it seals nothing but these files."""

_CODECS: Final = {name: CODEC.replace(format=name) for name in FORMATS}


def seal_of(name: str) -> Seal:
    """Return what opens a sealed file.

    Args:
        name: The name of the file.
    """
    _, mode = SEALED[name]
    return Seal({"corpus-1": _KEY}, mode=mode, current="corpus-1")


def sealed(name: str) -> bytes:
    """Return a sealed file, of the document that lies beside it.

    Args:
        name: The name of the file.
    """
    document = (DOCUMENTS / document_in(name)).read_bytes()
    return framed(
        document,
        Limits(),
        compression=SEALED[name][0],
        seal=seal_of(name),
        context=CONTEXT,
    )


def document_in(name: str) -> str:
    """Return the name of the file that holds the document in a frame alone.

    Args:
        name: The name of the file with the frame.
    """
    return ".".join(name.split(".")[:2])


def written_now(name: str, format_: Format) -> bytes:
    """Return the document that today's codec writes for a value of the corpus.

    Args:
        name: The name of the value.
        format_: The format of the document.
    """
    return _CODECS[format_].encode(WRITTEN[name]())


def all_files() -> dict[str, bytes]:
    """Return what the corpus would hold if it were made today, by file name."""
    files = {f"{name}.json": text.encode() for name, (text, _) in READ.items()}
    for name in WRITTEN:
        for format_ in FORMATS:
            file = f"{name}.{format_}"
            old = name in OUTGROWN
            files[file] = (
                (DOCUMENTS / file).read_bytes() if old else written_now(name, format_)
            )
    for name, methods in FRAMED.items():
        for method in methods:
            files[f"{name}.{method}"] = compress(files[name], method, Limits())
    files |= {name: sealed(name) for name in SEALED}
    return files
