"""Seals: what one lets through, and everything that it must not."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import given, settings

from graphcodec import Codec, Limits, Seal, decode, encode, errors
from graphcodec._documents._converting import convert
from graphcodec._documents._validating import validate
from graphcodec._frames import Layer, header_of, parse
from graphcodec.primitives import Message, Registry, Tokenizable
from graphcodec.testing import same_graph, strategies
from tests.primitives.builders import make

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphcodec._compressing import Compression
    from graphcodec._seal import Mode

OLD: Final = bytes(range(32))
NEW: Final = bytes(range(100, 132))
KEYS: Final = {"old": OLD, "new": NEW}
GRAPH: Final = {"said": ["hello"] * 9}
SESSION: Final = b"session-1"

MODES: Final[tuple[Mode, ...]] = ("sign", "encrypt")
METHODS: Final[tuple[Compression | None, ...]] = (None, "gzip", "zstd")

modes = pytest.mark.parametrize("mode", MODES)
methods = pytest.mark.parametrize("method", METHODS)


def sealing(mode: Mode, method: Compression | None = None) -> Codec:
    """Return a codec that seals with the new key."""
    return Codec(seal=Seal(KEYS, mode=mode, current="new"), compression=method)


def other(mode: Mode) -> Mode:
    """Return the other mode."""
    return "encrypt" if mode == "sign" else "sign"


def refused(codec: Codec, data: bytes, context: bytes = b"") -> None:
    """Verify that a document is refused, and that no key is told."""
    with pytest.raises(errors.GraphCodecError, match=r".") as caught:
        codec.decode(data, context=context)
    told = f"{caught.value} {caught.value.__dict__!r}"
    for key in KEYS.values():
        assert key.hex() not in told
        assert repr(key)[2:-1] not in told


# What it is for


@modes
@methods
def test_comes_back(mode: Mode, method: Compression | None) -> None:
    """A sealed document is read by a codec with the same key, in every form."""
    for format_ in ("json", "msgpack"):
        codec = sealing(mode, method).replace(format=format_)
        graph = [make(Message, content="the same words again") for _ in range(9)]

        data = codec.encode(graph, context=SESSION)

        for given_ in (data, bytearray(data), memoryview(data)):
            assert same_graph(sealing(mode).decode(given_, context=SESSION), graph)


@modes
@settings(max_examples=40, deadline=None)
@given(graph=strategies.graphs())
def test_any_graph_comes_back(mode: Mode, graph: object) -> None:
    """A seal changes nothing about what a document holds."""
    codec = sealing(mode)

    assert same_graph(codec.decode(codec.encode(graph)), graph)


@modes
def test_readable_only_if_signed(mode: Mode) -> None:
    """Signed text stands there for all to read, encrypted text does not."""
    data = sealing(mode).encode(GRAPH)

    assert (b"hello" in data) is (mode == "sign")
    assert b"new" in data


def test_signed_twice_is_the_same() -> None:
    """Equal graphs are equal bytes when signed."""
    assert sealing("sign").encode(GRAPH) == sealing("sign").encode(GRAPH)


def test_encrypted_twice_is_another() -> None:
    """Nobody sees that two encrypted documents are equal."""
    first, second = (sealing("encrypt").encode(GRAPH) for _ in range(2))

    assert first != second
    assert parse(first).layers[0].parameters != parse(second).layers[0].parameters


@modes
def test_says_byte_by_byte_what_it_is(mode: Mode) -> None:
    """The header names the kind and the key, and the compression below it."""
    data = sealing(mode, "gzip").encode([1])
    outer, inner = parse(data).layers

    assert data[:6] == b"\xc1GCF\x01\x02"
    assert outer.kind == {"sign": 16, "encrypt": 17}[mode]
    assert outer.parameters[0 if mode == "sign" else 32 :] == b"new"
    assert inner == Layer(1, len(encode([1])).to_bytes(8, "big"))


# Rotation


@modes
def test_rotation(mode: Mode) -> None:
    """Every key opens, one of them seals, and a key that was taken away opens none."""
    before = Codec(seal=Seal({"old": OLD}, mode=mode, current="old"))
    between = before.replace(seal=Seal(KEYS, mode=mode, current="new"))
    after = before.replace(seal=Seal({"new": NEW}, mode=mode, current="new"))
    written = before.encode(GRAPH)

    assert between.decode(written) == GRAPH
    assert after.decode(between.encode(GRAPH)) == GRAPH
    with pytest.raises(errors.SealError, match="a key 'old', which this seal lacks"):
        after.decode(written)
    with pytest.raises(errors.SealError, match="a key 'new', which this seal lacks"):
        before.decode(between.encode(GRAPH))


@modes
def test_another_key_of_the_same_id(mode: Mode) -> None:
    """The id alone opens nothing."""
    codec = Codec(seal=Seal({"new": OLD}, mode=mode, current="new"))

    with pytest.raises(errors.SealError, match="the seal does not fit"):
        codec.decode(sealing(mode).encode(GRAPH))


# Whatever was changed


@modes
@methods
def test_changed_anywhere(mode: Mode, method: Compression | None) -> None:
    """Every byte counts: each bit of each of them, and all bits at once."""
    codec = sealing(mode, method)
    data = codec.encode(GRAPH, context=SESSION)

    for index in range(len(data)):
        for mask in (*(1 << bit for bit in range(8)), 0xFF):
            changed = bytearray(data)
            changed[index] ^= mask
            refused(codec, bytes(changed), SESSION)


@modes
@methods
def test_cut_or_extended_anywhere(mode: Mode, method: Compression | None) -> None:
    """Truncated at every byte, doubled, prefixed or with more behind it."""
    codec = sealing(mode, method)
    data = codec.encode(GRAPH, context=SESSION)

    for length in range(len(data)):
        refused(codec, data[:length], SESSION)
    for more in (b"\x00", b" ", b"}", data):
        refused(codec, data + more, SESSION)
        refused(codec, more + data, SESSION)


@modes
@methods
def test_bytes_taken_out(mode: Mode, method: Compression | None) -> None:
    """Without one of its bytes, or with one of them twice."""
    codec = sealing(mode, method)
    data = codec.encode(GRAPH, context=SESSION)

    for index in range(len(data)):
        refused(codec, data[:index] + data[index + 1 :], SESSION)
        refused(codec, data[: index + 1] + data[index:], SESSION)


@modes
@pytest.mark.parametrize(
    "context", [b"", b"session-2", b"session-", b"session-1\x00", b"SESSION-1"]
)
def test_moved_to_another_context(mode: Mode, context: bytes) -> None:
    """What was sealed for one session is refused in every other, and in none."""
    codec = sealing(mode)

    with pytest.raises(errors.SealError, match="its context is another"):
        codec.decode(codec.encode(GRAPH, context=SESSION), context=context)
    if context:
        with pytest.raises(errors.SealError, match="its context is another"):
            codec.decode(codec.encode(GRAPH), context=context)


def test_context_and_document_have_a_border() -> None:
    """Bytes can't be moved from the context to the document, or back."""
    codec = sealing("sign")
    frame = parse(codec.encode(GRAPH, context=b"abc"))
    tag, document = frame.payload[:32], frame.payload[32:]

    refused(codec, frame.header + tag + b"c" + document, b"ab")
    refused(codec, frame.header + tag + b"abc" + document)
    refused(codec, frame.header + tag + document[1:], b"abc" + document[:1])


@modes
def test_relabelled_with_another_key(mode: Mode) -> None:
    """The id of the key counts, even if both ids have the same key."""
    codec = Codec(seal=Seal({"aaa": NEW, "bbb": NEW}, mode=mode, current="aaa"))
    # What is encrypted may hold any bytes, those of the id among them.
    frame = parse(codec.encode(GRAPH))

    assert frame.header.count(b"aaa") == 1
    with pytest.raises(errors.SealError, match="the seal does not fit"):
        codec.decode(frame.header.replace(b"aaa", b"bbb") + frame.payload)


@modes
def test_relabelled_with_another_mode(mode: Mode) -> None:
    """A signed document is no encrypted one, whatever it says."""
    data = sealing(mode).encode(GRAPH)
    kind, payload = parse(data).layers[0].kind, parse(data).payload
    wanted = "encrypted" if mode == "sign" else "signed"
    had = "signed" if mode == "sign" else "encrypted"

    with pytest.raises(errors.SealError, match=f"only {had}, and .* {wanted} ones"):
        sealing(other(mode)).decode(data)
    for parameters in (b"new", bytes(32) + b"new"):
        relabelled = header_of((Layer(33 - kind, parameters),)) + bytes(payload)
        refused(sealing(other(mode)), relabelled)
        refused(sealing(mode), relabelled)


@modes
def test_layers_put_on_and_taken_off(mode: Mode) -> None:
    """The layers below the seal are part of what is sealed, and so is their order."""
    plain, packed = sealing(mode), sealing(mode, "gzip")
    seal = parse(plain.encode(GRAPH)).layers[0]
    compression = parse(packed.encode(GRAPH)).layers[1]
    for codec in (plain, packed):
        payload = bytes(parse(codec.encode(GRAPH)).payload)
        for layers in (
            (seal,),
            (seal, compression),
            (compression, seal),
            (compression,),
            (seal, seal),
            (seal, compression, compression),
        ):
            if len(layers) != len(parse(codec.encode(GRAPH)).layers):
                refused(plain, header_of(layers) + payload)


@modes
def test_sealed_around_a_seal(mode: Mode) -> None:
    """A document is sealed once: what the layers leave must be a document."""
    codec = sealing(mode)
    inner = codec.encode(GRAPH)
    seal = codec.seal
    assert seal is not None
    parameters = seal.parameters()
    header = header_of((Layer({"sign": 16, "encrypt": 17}[mode], parameters),))

    data = header + seal.close(parameters, inner, header, b"")

    with pytest.raises(errors.UndecodableValueError, match="holds another frame"):
        codec.decode(data)


# Whatever has no seal


@modes
def test_refuses_what_is_not_sealed(mode: Mode) -> None:
    """Plain documents in every form, and what is none at all, are refused alike."""
    for data in (
        encode(GRAPH),
        encode(GRAPH).decode(),
        Codec(format="msgpack").encode(GRAPH),
        Codec(compression="gzip").encode(GRAPH),
        Codec(compression="zstd").encode(GRAPH),
        b"",
        "",
        b"null",
        b"[" * 100_000,
    ):
        with pytest.raises(errors.SealError, match="not sealed, and this codec reads"):
            sealing(mode).decode(data)


@modes
def test_codec_without_a_seal(mode: Mode) -> None:
    """It refuses what is sealed, and says what would open it."""
    had = "signed" if mode == "sign" else "encrypted"

    for method in METHODS:
        with pytest.raises(errors.SealError, match=f"the document is {had}") as caught:
            decode(sealing(mode, method).encode(GRAPH))
        assert "Codec(seal=Seal(...))" in caught.value.hint


@modes
def test_nothing_is_inflated_before(mode: Mode) -> None:
    """A bomb that nobody sealed is not even looked at; one that was is measured."""
    seal = parse(sealing(mode).encode(1)).layers[0]
    bomb = header_of((seal, Layer(1, (1 << 40).to_bytes(8, "big")))) + bytes(99)

    with pytest.raises(errors.SealError, match="the seal does not fit"):
        sealing(mode).decode(bomb)
    small = sealing(mode).replace(limits=Limits(max_decompressed=1_000))
    with pytest.raises(errors.LimitExceededError, match="max_decompressed is 1,000"):
        small.decode(sealing(mode, "gzip").encode("0" * 10_000))


@modes
@methods
@pytest.mark.parametrize("room", [-1, 0])
def test_max_bytes_counts_the_seal(
    mode: Mode, method: Compression | None, room: int
) -> None:
    """The sealed document is measured, on both sides, to the byte."""
    codec = sealing(mode, method)
    data = codec.encode(GRAPH)
    limited = codec.replace(limits=Limits(max_bytes=len(data) + room))

    if room < 0:
        with pytest.raises(errors.LimitExceededError, match="max_bytes"):
            limited.encode(GRAPH)
        with pytest.raises(errors.LimitExceededError, match="max_bytes"):
            limited.decode(data)
    else:
        assert limited.decode(limited.encode(GRAPH)) == GRAPH


# The codec


@modes
def test_text_is_refused(mode: Mode) -> None:
    """There is no sealed text, and never an unsealed one instead."""
    with pytest.raises(errors.SealError, match="writes no text"):
        sealing(mode).encode_text(GRAPH)


@modes
def test_hash_and_check(mode: Mode) -> None:
    """The content hash says nothing of seals, and a check goes through one."""
    assert sealing(mode).content_hash(GRAPH) == Codec().content_hash(GRAPH)
    sealing(mode).check(Registry({"a": Tokenizable("b")}))


@modes
def test_tools_take_the_seal_of_the_codec(mode: Mode) -> None:
    """A document is validated and converted by who has the key, and by nobody else."""
    codec = sealing(mode)
    data = codec.encode(GRAPH)

    assert validate(data, codec).findings == ()
    for found in (validate(data), validate(encode(GRAPH), codec)):
        assert [finding.kind for finding in found.findings] == ["frame"]
    assert codec.decode(convert(data, format="msgpack", codec=codec)) == GRAPH
    for wrong, given_ in ((data, None), (encode(GRAPH), codec)):
        with pytest.raises(errors.SealError, match="document is"):
            convert(wrong, codec=given_)


@pytest.mark.parametrize("act", ["encode", "decode"])
@pytest.mark.parametrize("given_", ["session-1", 1, None, bytearray(b"s")])
def test_context_is_bytes(act: str, given_: object) -> None:
    """Text has many spellings in bytes, so none is guessed."""
    with pytest.raises(errors.InvalidValueError, match="context must be bytes"):
        getattr(sealing("sign"), act)(b"", context=given_)


@pytest.mark.parametrize("act", ["encode", "decode"])
def test_context_needs_a_seal(act: str) -> None:
    """A context that would bind nothing is an error, and no silence."""
    with pytest.raises(errors.InvalidValueError, match="this codec has no seal"):
        getattr(Codec(), act)(b"", context=b"session-1")


# Keys


@modes
def test_keys_are_never_shown(mode: Mode) -> None:
    """Neither the seal nor what holds it shows, pickles or encodes a key."""
    codec = sealing(mode)
    seal = codec.seal

    assert repr(seal) == f"Seal(keys of 'old', 'new', mode='{mode}', current='new')"
    assert not hasattr(seal, "__dict__")
    for held in (seal, codec, {"codec": codec}):
        with pytest.raises(pickle.PicklingError, match="pass a factory"):
            pickle.dumps(held)
    with pytest.raises(errors.UnencodableValueError, match="Seal"):
        encode(seal)


def test_seal_is_shared_by_copies() -> None:
    """A copy of what holds a seal has the same one."""
    seal = Seal(KEYS, current="new")

    assert copy.copy(seal) is seal
    assert copy.deepcopy([seal])[0] is seal
    with pytest.raises(AttributeError):
        seal.current = "old"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]


def test_seal_keeps_its_own_keys() -> None:
    """What becomes of the given mapping changes nothing."""
    keys = {"new": NEW}
    codec = Codec(seal=Seal(keys, current="new"))
    data = codec.encode(GRAPH)

    keys["new"] = OLD

    assert codec.encode(GRAPH) == data


@pytest.mark.parametrize(
    ("make_seal", "words"),
    [
        (lambda: Seal({}, current="a"), "current must be the id of one of the keys"),
        (lambda: Seal(KEYS, current="SECRET"), "current must be the id"),
        (lambda: Seal({"a": b"SECRET"}, current="a"), "at least 16 bytes"),
        (lambda: Seal({"a": "SECRET" * 9}, current="a"), "a key must be bytes"),  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]
        (lambda: Seal({"a": bytearray(b"SECRET" * 9)}, current="a"), "must be bytes"),  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]
        (lambda: Seal({b"SECRET": "a"}, current="a"), "the id of a key must be text"),  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]
        (lambda: Seal({"": OLD}, current=""), "the id of a key must be text of 1"),
        (lambda: Seal({"x" * 256: OLD}, current="x"), "must be text of 1 to 255"),
        (lambda: Seal({"\ud800": OLD}, current="x"), "the id of a key must be text"),
        (lambda: Seal(b"SECRET", current="a"), "keys must map ids"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        (lambda: Seal(KEYS, mode="SECRET", current="old"), "mode must be"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        (lambda: Codec(seal=b"SECRET"), "seal must be Seal"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    ],
)
def test_wrong_arguments(make_seal: Callable[[], object], words: str) -> None:
    """Arguments are refused in words that show no value, since it may be a key."""
    with pytest.raises(errors.InvalidValueError, match=words) as caught:
        make_seal()
    assert "SECRET" not in f"{caught.value} {caught.value.__dict__!r}"


def test_uses_do_not_share_keys() -> None:
    """From one key, each mode and use derives another."""
    ciphers = pytest.importorskip("graphcodec._ciphers")
    sealed = ciphers.encrypt(OLD, bytes(32), b"", b"")

    assert ciphers.signing_key(OLD) != OLD
    assert ciphers.tag(OLD, b"") != ciphers.tag(ciphers.signing_key(OLD), b"")
    assert ciphers.encrypt(OLD, b"\x01" * 32, b"", b"") != sealed
    for mode in MODES:
        one, two = (Seal(KEYS, mode=m, current="old") for m in (mode, other(mode)))
        assert one.address(b"x") != two.address(b"x")


MISSING = """
import sys
sys.modules["cryptography"] = None
from graphcodec import Codec, Seal, decode, errors
try:
    Seal({"a": bytes(32)}, current="a")
except ModuleNotFoundError as exc:
    print(exc)
try:
    decode(bytes.fromhex(DATA))
except errors.SealError as exc:
    print(exc)
"""


def test_says_how_to_get_cryptography() -> None:
    """Without the package, making a seal says what to install."""
    code = MISSING.replace("DATA", repr(sealing("encrypt").encode([1]).hex()))
    done = subprocess.run(  # noqa: S603 - our own interpreter and text
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    first, second = done.stdout.splitlines()
    assert first.startswith("a Seal needs cryptography")
    assert first.endswith("pip install 'graphcodec[crypto]'")
    assert second.startswith("the document is encrypted")
