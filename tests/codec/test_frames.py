"""Frames: compressed documents, and everything that can be wrong with one."""

from __future__ import annotations

import gzip
import io
import pickle
import subprocess
import sys
import tracemalloc
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import pytest
from backports import zstd
from hypothesis import given, settings

from graphcodec import Codec, Limits, decode, encode, errors
from graphcodec._frames import MAGIC, Layer, header_of
from graphcodec.primitives import Message, Registry, Tokenizable
from graphcodec.testing import same_graph, strategies
from tests.codec.samples import FORMATS
from tests.primitives.builders import make

if TYPE_CHECKING:
    from graphcodec._compressing import Compression
    from graphcodec._formats import Format

METHODS: Final[tuple[Compression, ...]] = ("gzip", "zstd")
KINDS: Final[dict[Compression, int]] = {"gzip": 1, "zstd": 2}
DOCUMENT: Final = encode({"said": ["hello"] * 50})

both = pytest.mark.parametrize("method", METHODS)


def packed(method: Compression, data: bytes) -> bytes:
    """Return compressed data as some other writer makes it."""
    return zstd.compress(data) if method == "zstd" else gzip.compress(data)


def framed(method: Compression, payload: bytes, size: int) -> bytes:
    """Return a frame around a payload that says a size."""
    return header_of((Layer(KINDS[method], size.to_bytes(8, "big")),)) + payload


def refused(data: bytes, words: str, limits: Limits | None = None) -> None:
    """Verify that a document is refused by an error of ours."""
    with pytest.raises(errors.UndecodableValueError, match=words):
        Codec(limits=limits).decode(data)


# What it is for


@both
@pytest.mark.parametrize("format_", FORMATS)
def test_comes_back(method: Compression, format_: Format) -> None:
    """A compressed document is smaller, and any codec reads it."""
    graph = [make(Message, content="the same words again") for _ in range(50)]

    data = Codec(format=format_, compression=method).encode(graph)

    assert len(data) * 5 < len(Codec(format=format_).encode(graph))
    assert same_graph(decode(data), graph)
    assert same_graph(decode(bytearray(data)), graph)
    assert same_graph(decode(memoryview(data)), graph)


@both
@settings(max_examples=40, deadline=None)
@given(graph=strategies.graphs())
def test_any_graph_comes_back(method: Compression, graph: object) -> None:
    """Compression changes nothing about what a document holds."""
    codec = Codec(format="msgpack", compression=method)

    assert same_graph(codec.decode(codec.encode(graph)), graph)


@both
def test_says_byte_by_byte_what_it_is(method: Compression) -> None:
    """The header is magic, version, number of layers, kind, length, size."""
    data = Codec(compression=method).encode([1, 2, 3])
    document = encode([1, 2, 3])

    assert data[:4] == b"\xc1GCF"
    assert data[4:6] == b"\x01\x01"
    assert data[6] == KINDS[method]
    assert data[7:9] == b"\x00\x08"
    assert int.from_bytes(data[9:17], "big") == len(document)
    unpack = zstd.decompress if method == "zstd" else gzip.decompress
    assert unpack(data[17:]) == document


@both
def test_takes_what_others_compressed(method: Compression) -> None:
    """A frame of another writer, at another level, is read."""
    strong = (
        zstd.compress(DOCUMENT, 19)
        if method == "zstd"
        else gzip.compress(DOCUMENT, compresslevel=1, mtime=1_700_000_000)
    )
    assert decode(framed(method, strong, len(DOCUMENT))) == decode(DOCUMENT)


@both
def test_is_the_same_every_time(method: Compression) -> None:
    """No time and no name gets into it, so equal graphs are equal bytes."""
    codec = Codec(compression=method)

    assert codec.encode([1, "a"]) == codec.encode([1, "a"])
    if method == "gzip":
        assert codec.encode([1])[17:27] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"


@both
def test_text_and_hash_leave_it_aside(method: Compression) -> None:
    """``encode_text`` is plain JSON and ``content_hash`` the same."""
    codec = Codec(compression=method)

    assert codec.encode_text([1]) == Codec().encode_text([1])
    assert codec.content_hash([1]) == Codec().content_hash([1])


@both
def test_option_comes_along(method: Compression) -> None:
    """Copies, pickled ones too, compress as the original does."""
    codec = Codec(compression=method)
    data = codec.encode([1])

    assert codec.replace(unknown_types="keep").encode([1]) == data
    assert pickle.loads(pickle.dumps(codec)).encode([1]) == data
    assert codec.replace(compression=None).encode([1]) == encode([1])
    codec.check(Registry({"a": Tokenizable("b")}))


@pytest.mark.parametrize("given", ["lzma", "", True, ["gzip"]])
def test_unknown_compression(given: object) -> None:
    """Only the names that are documented are taken."""
    with pytest.raises(errors.InvalidValueError, match="compression must be None or"):
        Codec(compression=given)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


# Limits


def bomb(method: Compression, size: int) -> bytes:
    """Return a megabyte of nothing, many times over, compressed."""
    out = io.BytesIO()
    chunk = bytes(1 << 20)
    opened = (
        zstd.ZstdFile(out, "w")
        if method == "zstd"
        else gzip.GzipFile(fileobj=out, mode="w")
    )
    with opened as file:
        for _ in range(size >> 20):
            file.write(chunk)
    return out.getvalue()


@both
def test_declared_size_is_refused_early(method: Compression) -> None:
    """A size over the limit is refused before anything is inflated."""
    data = framed(method, b"not even looked at", 1 << 40)

    with pytest.raises(errors.LimitExceededError, match="max_decompressed") as caught:
        decode(data)

    assert (caught.value.limit, caught.value.value) == ("max_decompressed", 1 << 40)
    assert "Limits(max_decompressed=" in caught.value.hint


@both
def test_bomb_that_lies_is_stopped(method: Compression) -> None:
    """What inflates to more than it says is refused without making all of it."""
    data = framed(method, bomb(method, 64 << 20), 100)

    tracemalloc.start()
    try:
        refused(data, f"the frame says 100 bytes, and its {method} data has more")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 << 20


@both
def test_bomb_within_a_limit_of_its_own(method: Compression) -> None:
    """The bound is that of the codec, and a bomb costs no more than it."""
    data = framed(method, bomb(method, 16 << 20), 16 << 20)

    with pytest.raises(
        errors.LimitExceededError, match="max_decompressed is 1,000,000"
    ):
        Codec(limits=Limits(max_decompressed=1_000_000)).decode(data)


@both
@pytest.mark.parametrize("room", [-1, 0])
def test_both_sides_count_the_document(method: Compression, room: int) -> None:
    """Encode refuses what decode would, to the byte."""
    graph = ["words"] * 1_000
    most = len(encode(graph)) + room
    limited = Codec(limits=Limits(max_decompressed=most), compression=method)
    data = Codec(compression=method).encode(graph)

    if room < 0:
        with pytest.raises(errors.LimitExceededError, match="max_decompressed"):
            limited.encode(graph)
        with pytest.raises(errors.LimitExceededError, match="max_decompressed"):
            limited.decode(data)
    else:
        assert limited.encode(graph) == data
        assert limited.decode(data) == graph


@both
@pytest.mark.parametrize("room", [-1, 0])
def test_max_bytes_counts_what_travels(method: Compression, room: int) -> None:
    """The frame is measured, not what is in it."""
    graph = ["words"] * 1_000
    data = Codec(compression=method).encode(graph)
    limited = Codec(limits=Limits(max_bytes=len(data) + room), compression=method)

    if room < 0:
        with pytest.raises(errors.LimitExceededError, match="max_bytes"):
            limited.encode(graph)
        with pytest.raises(errors.LimitExceededError, match="max_bytes"):
            limited.decode(data)
    else:
        assert limited.decode(limited.encode(graph)) == graph


def test_window_is_bounded() -> None:
    """A stream that asks for a window of 128 megabytes gets none."""
    options: dict[int, int] = {zstd.CompressionParameter.window_log: 27}
    compressor = zstd.ZstdCompressor(options=options)
    stream = compressor.compress(DOCUMENT) + compressor.flush()

    refused(framed("zstd", stream, len(DOCUMENT)), "zstd data in the frame is damaged")


# What is wrong with it


@both
@pytest.mark.parametrize("format_", FORMATS)
def test_cut_off_anywhere(method: Compression, format_: Format) -> None:
    """Truncated at every byte, it is refused in words."""
    data = Codec(format=format_, compression=method).encode(list(range(100)))

    for length in range(len(data)):
        refused(data[:length], "no bytes at all" if not length else "cut off|damaged")


@both
def test_changed_anywhere(method: Compression) -> None:
    """A flipped bit gives an error of ours, or the same graph."""
    data = Codec(compression=method).encode(["hello"] * 9)

    for index in range(len(data) * 8):
        changed = bytearray(data)
        changed[index // 8] ^= 1 << index % 8
        with suppress(errors.GraphCodecError):
            # Such as the time in the header of gzip.
            assert decode(changed) == ["hello"] * 9


@both
@pytest.mark.parametrize("more", [b"x", b"\x00", DOCUMENT, b"member"])
def test_trailing_bytes(method: Compression, more: bytes) -> None:
    """Nothing may follow the stream, another stream neither."""
    if more == b"member":
        more = packed(method, b"")
    data = framed(method, packed(method, DOCUMENT) + more, len(DOCUMENT))

    refused(data, f"something follows the {method} data")


@both
def test_smaller_than_it_says(method: Compression) -> None:
    """The size must be right."""
    data = framed(method, packed(method, DOCUMENT), len(DOCUMENT) + 1)

    refused(data, f"the frame says {len(DOCUMENT) + 1} bytes, .* has {len(DOCUMENT)}")


@both
def test_empty_payload(method: Compression) -> None:
    """No stream at all, and a stream of nothing, are no documents."""
    refused(framed(method, b"", 0), "is cut off")
    refused(framed(method, b"", 9), "is cut off")
    refused(framed(method, packed(method, b""), 0), "there are no bytes at all")


@both
def test_frame_in_a_frame(method: Compression) -> None:
    """Frames do not nest."""
    inner = Codec(compression=method).encode([1])

    refused(framed(method, packed(method, inner), len(inner)), "another frame")


def test_two_compressions() -> None:
    """A document is compressed once."""
    layers = (Layer(1, bytes(8)), Layer(2, bytes(8)))

    refused(header_of(layers) + b"x", "only one layer .* may compress, .* gzip, zstd")


@pytest.mark.parametrize("kind", [0, 3, 15, 18, 255])
def test_layer_that_nobody_knows(kind: int) -> None:
    """A layer of a later version is named, and never skipped."""
    known = Layer(1, (1).to_bytes(8, "big"))

    refused(header_of((Layer(kind, b""),)) + b"x", f"a layer of kind {kind}, which")
    refused(header_of((known, Layer(kind, b"key"))) + b"x", f"a layer of kind {kind}")


@pytest.mark.parametrize("length", [0, 7, 9])
def test_parameters_of_another_length(length: int) -> None:
    """The parameters of a compression are its size in eight bytes."""
    refused(header_of((Layer(1, bytes(length)),)), "has 8 bytes of parameters")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\xc1", "first bytes are cut off"),
        (b"\xc1GCF\x01", "first bytes are cut off"),
        (b"\xc1ABCDEFG", "first bytes are not ours"),
        (b"\xc1GCF\x01\x00", "has 1 to 8 layers, and this has 0"),
        (b"\xc1GCF\x01\xff" + bytes(900), "has 1 to 8 layers, and this has 255"),
        (b"\xc1GCF\x01\x01\x01\xff\xff" + bytes(99), "cut off within its header"),
    ],
)
def test_malformed_header(data: bytes, words: str) -> None:
    """A header that is cut off, or not ours, is refused in words."""
    refused(data, words)


def test_later_version() -> None:
    """A frame of another version is a version error with both numbers."""
    with pytest.raises(errors.VersionError, match="of version 2; this codec reads 1"):
        decode(b"\xc1GCF\x02\x01whatever comes then")


def test_nothing_else_is_inflated() -> None:
    """There is no guess: a bare stream of gzip or zstd is no document."""
    for data in (
        gzip.compress(DOCUMENT),
        zstd.compress(DOCUMENT),
        zlib.compress(DOCUMENT),
    ):
        refused(data, "this is no JSON document")
    assert not DOCUMENT.startswith(MAGIC)


MISSING = """
import sys
sys.modules["backports.zstd"] = sys.modules["compression.zstd"] = None
from graphcodec import Codec, decode, errors
data = bytes.fromhex({data!r})
for act in (lambda: decode(data), lambda: Codec(compression="zstd")):
    try:
        act()
    except errors.GraphCodecError as exc:
        print(type(exc).__name__, exc)
print(Codec(compression="gzip").encode([1])[:4])
"""


def test_says_how_to_get_zstd() -> None:
    """Without the package, reading and making a codec say what to install."""
    code = MISSING.format(data=Codec(compression="zstd").encode([1]).hex())
    done = subprocess.run(  # noqa: S603 - our own interpreter and text
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    first, second, third = done.stdout.splitlines()
    assert first.startswith("UndecodableValueError the document is compressed with")
    assert second.startswith("InvalidValueError compression='zstd' needs a package")
    assert first.endswith("pip install 'graphcodec[zstd]'")
    assert second.endswith("pip install 'graphcodec[zstd]'")
    assert third == "b'\\xc1GCF'"
