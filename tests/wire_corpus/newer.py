"""What a newer writer wrote and these classes do not know: kept, and written back."""

from __future__ import annotations

from graphcodec import BytesReader, OpaqueMember, OpaqueNode
from graphcodec._unknown import Kept, Spooled
from tests.wire_corpus.builders import written


@written
def opaque_members() -> object:
    """Members of Enums that are known and are not, of Flags, and as members of sets."""
    return [
        OpaqueMember("corpus.Colour", "GREEN"),
        OpaqueMember("corpus.Rights", 12),
        OpaqueMember("corpus.Mood", "MERRY"),
        OpaqueMember("corpus.Powers", 2**70),
        {OpaqueMember("corpus.Colour", "GREEN")},
    ]


@written
def opaque_owner() -> object:
    """A note of a newer version, beside one whose tag is new."""
    fields = {"text": "hi", "tags": Kept(["a", b"\x00"]), "mood": "merry"}
    return [
        OpaqueNode("corpus.Note", 7, {"text": "hi"}),
        OpaqueNode("corpus.N", 1, fields),
    ]


@written
def opaque_artifact() -> object:
    """The reader of an artifact stays one of the family ``spool``."""
    spooled = Kept(Spooled(BytesReader(b"foo")))
    return OpaqueNode(
        "corpus.Tape", 1, {"reader": spooled, "cover": BytesReader(b"bar")}
    )
