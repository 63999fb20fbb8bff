"""Documents of every shape that was ever released decode for ever."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TypeAlias, cast

import pytest

from graphcodec import Limits, errors, primitives
from graphcodec._frames import names, opened, parse
from graphcodec._limits import NESTING
from graphcodec._values import MARKERS
from graphcodec.testing import same_graph
from tests.wire_corpus.builders import OUTGROWN, READ, WRITTEN
from tests.wire_corpus.classes import CODEC
from tests.wire_corpus.corpus import (
    CONTEXT,
    DOCUMENTS,
    FORMATS,
    FRAMED,
    SEALED,
    Format,
    document_in,
    seal_of,
    written_now,
)

Parsed: TypeAlias = dict[str, object]

STRUCTURE = {
    "$any",
    "$deque",
    "$dict",
    "$enum",
    "$frozenset",
    "$set",
    "$tuple",
    "$type",
    "$v",
    "$value",
}


HERE = [name for name in WRITTEN if name != "posix_path" or os.name == "posix"]
"""The names of the values that this system can build."""


FRAMES = [f"{name}.{method}" for name, methods in FRAMED.items() for method in methods]
"""The names of the files that hold a frame."""


def texts() -> list[str]:
    """Return every JSON document of the corpus."""
    return [path.read_text("utf-8") for path in DOCUMENTS.glob("*.json")]


def parts(value: object) -> Iterator[tuple[int, object]]:
    """Yield every part of a parsed document with its level, counted from 1."""
    stack = [(1, value)]
    while stack:
        level, item = stack.pop()
        yield level, item
        if isinstance(item, dict):
            stack += [(level + 1, part) for part in cast("Parsed", item).values()]
        elif isinstance(item, list):
            stack += [(level + 1, part) for part in cast("list[object]", item)]


def test_every_file_is_tested() -> None:
    """A file stands for a value, and every value has its files."""
    wanted = {f"{name}.{format_}" for name in WRITTEN for format_ in FORMATS}
    wanted |= {*FRAMES, *SEALED}

    assert {path.name for path in DOCUMENTS.iterdir()} == {
        *wanted,
        *(f"{name}.json" for name in READ),
    }


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("name", HERE)
def test_decodes_to_what_was_written(name: str, format_: Format) -> None:
    """A frozen document holds the types, values and sharing that it held."""
    data = (DOCUMENTS / f"{name}.{format_}").read_bytes()

    assert same_graph(CODEC.decode(data), WRITTEN[name]())


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("name", [name for name in HERE if name not in OUTGROWN])
def test_is_written_like_that_today(name: str, format_: Format) -> None:
    """What is written for the value has not changed by a byte."""
    data = (DOCUMENTS / f"{name}.{format_}").read_bytes()

    assert written_now(name, format_) == data


@pytest.mark.parametrize("name", FRAMES)
def test_frame_holds_what_was_compressed(name: str) -> None:
    """A frozen frame has the document that lies beside it, and decodes to the same.

    It is not written anew: other versions of zlib and zstd compress in other ways.
    """
    frame = (DOCUMENTS / name).read_bytes()
    inside, method = name.rsplit(".", 1)

    assert bytes(opened(frame, Limits())) == (DOCUMENTS / inside).read_bytes()
    assert names(parse(frame).layers) == (method,)
    assert same_graph(CODEC.decode(frame), WRITTEN[inside.partition(".")[0]]())


@pytest.mark.parametrize("name", SEALED)
def test_sealed_file_opens(name: str) -> None:
    """A frozen sealed document opens with its key and context, and else does not."""
    frame = (DOCUMENTS / name).read_bytes()
    codec = CODEC.replace(seal=seal_of(name))

    document = opened(frame, Limits(), codec.seal, CONTEXT)

    assert bytes(document) == (DOCUMENTS / document_in(name)).read_bytes()
    assert same_graph(codec.decode(frame, context=CONTEXT), WRITTEN["conversation"]())
    for wrong in (codec, CODEC):
        with pytest.raises(errors.SealError, match=r"seal does not fit|document is"):
            wrong.decode(frame)


@pytest.mark.parametrize("name", READ)
def test_reads_what_it_would_not_write(name: str) -> None:
    """Other spellings that are promised to be read, are."""
    data = (DOCUMENTS / f"{name}.json").read_bytes()
    text, build = READ[name]

    assert data.decode() == text
    assert same_graph(CODEC.decode(data), build())


def test_has_every_marker() -> None:
    """Each marker, and each part of the structure, is in some document."""
    keys: set[str] = set()
    for text in texts():
        for _, part in parts(json.loads(text)):
            keys.update(cast("Parsed", part) if isinstance(part, dict) else ())

    assert {*MARKERS, *STRUCTURE} <= keys


def test_has_every_primitive() -> None:
    """Each built-in tag is in some document."""
    tags: list[str] = [
        cls.__graphcodec_tag__
        for cls in (getattr(primitives, name) for name in primitives.__all__)
        if "__graphcodec_tag__" in vars(cls)
    ]
    together = "".join(texts())

    assert [tag for tag in tags if f'"$type":"{tag}"' not in together] == []


def test_nothing_nests_deeper_than_the_wire_allows() -> None:
    """The root and each node have at most 60 levels of maps and lists."""
    for text in texts():
        document = json.loads(text)
        for entry in [*document.get("nodes", []), document["root"]]:
            nested = [
                level for level, part in parts(entry) if isinstance(part, (dict, list))
            ]
            assert max(nested, default=0) <= NESTING
