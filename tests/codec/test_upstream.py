"""The cases that the design's origin tests, each with what it leaves out."""

from typing import Any

import pytest

from graphcodec import Codec, decode, encode
from graphcodec.errors import (
    GateNotEncodableError,
    GraphCodecError,
    NoReaderResolverError,
    ReaderNotDescribableError,
    UndecodableValueError,
)
from graphcodec.primitives import (
    Conversation,
    Identity,
    Media,
    MediaStash,
    Memory,
    Message,
    Registry,
    Retrievable,
    SpooledArtifact,
    Thought,
    Tokenizable,
    ToolCall,
    TurnGate,
)
from graphcodec.readers import BytesReader
from tests.codec.samples import (
    LATER,
    Named,
    NamedResolver,
    OneShot,
    document,
    full,
    read,
    root,
    written,
)
from tests.primitives.builders import NOW, make

ADA = make(Identity, identifier=42, representation=Tokenizable("Ada"))
ARTIFACT = make(SpooledArtifact, reader=BytesReader(b"one\ntwo\n"))
IMAGE = make(Media, reader=BytesReader(b"\x89PNG\x00"))

CASES: dict[str, Any] = {
    "text": Tokenizable("hello"),
    "registry": Registry({"a": {"b": [1, {"c": 2**200}]}, "d": None}),
    "identity with a number": ADA,
    "thought of a live identity": make(Thought, identity=ADA),
    "message of a live identity": make(Message, identity=ADA),
    "memory with times": make(Memory, created_at=NOW, updated_at=LATER),
    "thought with a payload only": make(
        Thought, content="", payload={"sig": b"\x00"}, replay_compatibility="vendor"
    ),
    "message with text only": make(Message, content=Tokenizable("hi"), identity=ADA),
    "message with media": make(Message, attachments=(IMAGE,)),
    "message with media only": make(Message, content=None, attachments=(IMAGE,)),
    "retrievable with a score": make(Retrievable, score=0.5),
    "retrievable artifact": make(Retrievable, content=ARTIFACT),
    "call with text": make(ToolCall, results=Tokenizable("found"), checksum="0" * 64),
    "call with an artifact": make(ToolCall, results=ARTIFACT),
    "call with media": make(ToolCall, results=IMAGE),
    "call with many media": make(ToolCall, results=(IMAGE, IMAGE)),
    "call with many artifacts": make(ToolCall, results=(ARTIFACT, ARTIFACT)),
    "call with no results": make(
        ToolCall, is_complete=False, results=None, completed_at=None
    ),
    "artifact": ARTIFACT,
    "registry of instances": Registry({"who": ADA, "pages": [ARTIFACT, IMAGE]}),
}


@pytest.mark.parametrize("primitive", CASES.values(), ids=CASES)
def test_case_comes_back_equal(primitive: object) -> None:
    """Field by field."""
    assert decode(encode(primitive)) == primitive


@pytest.mark.parametrize("primitive", CASES.values(), ids=CASES)
def test_case_is_encoded_again_to_the_same_bytes(primitive: object) -> None:
    """After decoding, and a second time."""
    data = encode(primitive)

    assert encode(decode(data)) == encode(primitive) == data


def test_media_comes_back_with_bytes_stash_and_source() -> None:
    """Not only with its type and name."""
    media = full()[Media]
    again = decode(encode(media), Media)

    assert again.read() == b"%PDF"
    assert again.source == "https://example.org/a.pdf"
    assert type(again.stash) is MediaStash
    assert again.stash.get("ocr.value") == "x"


def test_artifact_comes_back_with_its_text() -> None:
    """Byte for byte, whatever the bytes are."""
    content = b"\xef\xbb\xbfone\r\ntw\xff\n\x85"
    artifact = make(SpooledArtifact, reader=BytesReader(content))
    again = decode(encode(artifact), SpooledArtifact)

    assert again.reader.read_range(0, 100) == content
    assert again.line_count() == artifact.line_count()


def test_reader_of_an_upload_is_refused() -> None:
    """By our own error, with its path, not by one that wraps it."""
    message = make(Message, attachments=(IMAGE, make(Media, id="x", reader=OneShot())))

    with pytest.raises(ReaderNotDescribableError, match="persist") as caught:
        encode(message)

    assert caught.value.path == "$.attachments[1].reader"


@pytest.mark.parametrize(
    ("cls", "tag"), [(SpooledArtifact, "spool:named"), (Media, "media:named")]
)
def test_handle_without_a_resolver_is_refused(cls: type[Any], tag: str) -> None:
    """For media and for artifacts."""
    owner: Any = make(cls, reader=Named("x"))
    data = encode(owner)

    with pytest.raises(NoReaderResolverError, match=tag) as caught:
        decode(data)

    assert caught.value.path == "$.reader"


@pytest.mark.parametrize("cls", [SpooledArtifact, Media])
def test_handle_with_a_registered_resolver_comes_back(cls: type[Any]) -> None:
    """It opens the same bytes."""
    codec = Codec(resolvers=[NamedResolver()])
    owner: Any = make(cls, reader=Named("x"))
    again: Any = codec.decode(codec.encode(owner))

    assert again == owner
    assert again.reader.open().read() == b"x"


def test_gate_has_no_wire_form() -> None:
    """Only its record has."""
    gate = TurnGate(turn_id="t", reason="approval")

    with pytest.raises(GateNotEncodableError, match="record"):
        encode(Registry({"gate": gate}))


@pytest.mark.parametrize(
    "identity",
    [
        {"identifier": "ada", "representation": {"$type": "Tokenizable", "text": "A"}},
        {"$type": "shop.Identity", "identifier": "ada"},
        {"$type": "Identity", "identifier": True, "representation": "x"},
        {"$type": "Identity"},
        "ada",
        None,
    ],
    ids=str,
)
def test_lookalike_of_an_identity_is_refused(identity: object) -> None:
    """Neither a name nor a shape makes an object."""
    wire = {**root(make(Message)), "identity": identity}

    with pytest.raises(UndecodableValueError) as caught:
        read(wire)

    assert caught.value.path.startswith("$.identity")


def test_lookalike_class_is_no_identity() -> None:
    """A class of the same name has no tag of ours."""

    class Identity:  # the name is the point
        identifier = "ada"

    with pytest.raises(GraphCodecError, match="no way to write"):
        encode([Identity()])


def test_whole_conversation_is_decoded_and_encoded_again() -> None:
    """Each kind of entry, with what it shares."""
    conversation = full()[Conversation]
    again = decode(encode(conversation), Conversation)

    assert again == conversation
    assert written(again) == written(conversation)


def test_tampered_document_is_validated_like_a_constructor() -> None:
    """Every rule of a primitive holds for what was decoded."""
    changes: list[tuple[type, dict[str, Any]]] = [
        (Memory, {"confidence": 1.5}),
        (Memory, {"importance": -0.5}),
        (Memory, {"id": ""}),
        (Message, {"content": None, "attachments": []}),
        (Message, {"role": "system"}),
        (Thought, {"replay_compatibility": None}),
        (ToolCall, {"is_complete": False}),
        (Retrievable, {"score": -5, "trust_tier": "trusted"}),
        (Media, {"mime_type": ""}),
        (Media, {"kind": "film"}),
        (Identity, {"identifier": ""}),
    ]
    for cls, change in changes:
        wire = {**root(full()[cls]), **change}
        with pytest.raises(UndecodableValueError) as caught:
            decode(document(wire, *written(full()[cls]).get("nodes", [])))

        assert caught.value.path.startswith("$")
