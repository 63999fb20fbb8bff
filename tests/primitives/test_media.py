from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from graphcodec.errors import InvalidValueError
from graphcodec.primitives import Media, MediaStash, ModalityHazard, Registry, TrustTier
from tests.primitives.builders import FixedReader, make, parts

if TYPE_CHECKING:
    from collections.abc import Callable

ENTRY = {"value": "a cat", "trust_tier": "third-party-public"}


def test_defaults_of_a_media() -> None:
    """What need not be known is None or empty, and the id is made."""
    media = make(Media, id=None)

    assert media.source is None
    assert media.stash == MediaStash()
    assert len(media.id) == 32


def test_made_ids_differ() -> None:
    """Two media are two."""
    assert make(Media, id=None).id != make(Media, id=None).id


@pytest.mark.parametrize("field", ["trust_tier", "modality_hazard"])
def test_judgements_have_no_default(field: str) -> None:
    """The constructor guesses neither where bytes come from nor what they can do."""
    arguments = parts(Media)
    del arguments[field]

    with pytest.raises(TypeError, match=field):
        Media(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("hazard", [*ModalityHazard, *map(str, ModalityHazard)])
def test_hazard_is_given_as_member_or_value(hazard: str) -> None:
    """Either way it is kept as the member."""
    kept = make(Media, modality_hazard=hazard).modality_hazard

    assert type(kept) is ModalityHazard
    assert kept == hazard


@pytest.mark.parametrize(
    ("factory", "tier"),
    [
        (Media.user_attachment, TrustTier.THIRD_PARTY_PRIVATE),
        (Media.tool_generated, TrustTier.FIRST_PARTY),
        (Media.retrieved_public, TrustTier.THIRD_PARTY_PUBLIC),
        (Media.retrieved_private, TrustTier.THIRD_PARTY_PRIVATE),
    ],
)
def test_factory_knows_the_tier(factory: Callable[..., Media], tier: TrustTier) -> None:
    """Who brought the bytes says how far to trust them."""
    media = factory(
        kind="image", mime_type="image/png", filename="x", reader=FixedReader()
    )

    assert media.trust_tier is tier
    assert media.modality_hazard is ModalityHazard.OPAQUE_PERCEPTUAL


@pytest.mark.parametrize(
    ("kind", "hazard"),
    [
        ("document", ModalityHazard.EXTRACTABLE_INSTRUCTIONS),
        ("image", ModalityHazard.OPAQUE_PERCEPTUAL),
        ("audio", ModalityHazard.OPAQUE_PERCEPTUAL),
        ("video", ModalityHazard.OPAQUE_PERCEPTUAL),
    ],
)
def test_factory_derives_the_hazard_from_the_kind(
    kind: str, hazard: ModalityHazard
) -> None:
    """Text in a document can be taken for instructions."""
    arguments: dict[str, object] = {**parts(Media), "kind": kind}
    del arguments["trust_tier"], arguments["modality_hazard"]

    assert Media.user_attachment(**arguments).modality_hazard is hazard  # type: ignore[arg-type]


def test_factory_takes_the_other_fields() -> None:
    """Id, source and stash are passed on."""
    media = Media.retrieved_public(
        id="m",
        kind="image",
        mime_type="image/png",
        filename="x",
        reader=FixedReader(),
        source="https://example.org",
        stash=Registry({"ocr": ENTRY}),
    )

    assert (media.id, media.source) == ("m", "https://example.org")
    assert media.stash.get("ocr.value") == "a cat"


def test_factory_does_not_take_a_tier() -> None:
    """It would contradict the factory."""
    with pytest.raises(TypeError, match="trust_tier"):
        Media.user_attachment(**parts(Media))  # type: ignore[arg-type]


def test_bytes_come_from_the_reader() -> None:
    """Every blocking face gives the same bytes, again and again."""
    media = make(Media, reader=FixedReader(b"abcde"))

    with media.open() as stream:
        assert stream.read() == b"abcde"
    assert list(media.iter_bytes(2)) == [b"ab", b"cd", b"e"]
    assert media.read() == media.read() == b"abcde"
    assert media.byte_length() == 5


def test_base64_is_padded() -> None:
    """It is the standard alphabet, as chat APIs take it."""
    assert make(Media, reader=FixedReader(b"\xff\xfe")).as_base64() == "//4="


def test_async_faces_give_the_same() -> None:
    """Nobody blocks the event loop."""
    media = make(Media, reader=FixedReader(b"abcde"))

    async def read() -> tuple[bytes, list[bytes], bytes]:
        with await media.aopen() as stream:
            opened = stream.read()
        pieces = [piece async for piece in media.aiter_bytes(2)]
        return opened, pieces, await media.aread()

    assert asyncio.run(read()) == (b"abcde", [b"ab", b"cd", b"e"], b"abcde")


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("id", "", "a non-empty str"),
        ("kind", "text", "'image', 'audio', 'video' or 'document', not 'text'"),
        ("mime_type", "", "a non-empty str"),
        ("filename", None, "a non-empty str"),
        ("reader", b"bytes", "a Reader, not a bytes"),
        ("trust_tier", "trusted", "'first-party', 'third-party-public' or"),
        ("modality_hazard", "safe", "'inert', 'extractable-instructions' or"),
        ("modality_hazard", TrustTier.FIRST_PARTY, "'inert', 'extractable-"),
        ("source", "", "a non-empty str or None"),
        ("stash", {"ocr": ENTRY}, "a MediaStash, not a dict"),
    ],
)
def test_wrong_field_of_a_media_is_named(
    field: str, value: object, reason: str
) -> None:
    """The error says the field and what belongs there."""
    with pytest.raises(InvalidValueError, match=rf"^Media\.{field} must be {reason}"):
        make(Media, **{field: value})


def test_repr_of_a_media_shows_what_kind_it_is() -> None:
    """The file name may be private."""
    expected = "Media(id='med-1', kind='image', mime_type='image/png')"

    assert repr(make(Media)) == expected


def test_plain_registry_becomes_a_stash() -> None:
    """Its entries are verified on the way."""
    media = make(Media, stash=Registry({"ocr": ENTRY}))

    assert type(media.stash) is MediaStash
    assert media.stash.all() == {"ocr": ENTRY}


def test_live_stash_is_kept() -> None:
    """A stash stays the object that it is; None is a new one."""
    stash = MediaStash()

    assert make(Media, stash=stash).stash is stash
    assert make(Media, stash=None).stash == stash


def test_tier_of_an_entry_is_kept_as_text() -> None:
    """A member may be given, but any format can hold a str."""
    stash = MediaStash({"a": {"value": 1, "trust_tier": TrustTier.FIRST_PARTY}})
    stash.set("b", {"value": 1, "trust_tier": TrustTier.FIRST_PARTY})

    tiers = [stash.get("a.trust_tier"), stash.get("b.trust_tier")]
    assert tiers == ["first-party", "first-party"]
    assert {type(tier) for tier in tiers} == {str}


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("a cat", "must be a dict, not 'a cat'"),
        ({"trust_tier": "first-party"}, "has no value"),
        ({"value": 1}, "needs a trust_tier, not None"),
        ({"value": 1, "trust_tier": "high"}, "needs a trust_tier, not 'high'"),
        ({"value": 1, "trust_tier": []}, "needs a trust_tier, not a list"),
        ({**ENTRY, "note": "x"}, "has the unknown field 'note'"),
        ({"value": 1, 1: "x"}, "has the unknown field 1"),
        ({**ENTRY, "derived_from_media": ""}, "has '' for derived_from_media"),
        ({**ENTRY, "derived_from_media": None}, "has None for derived_from_media"),
    ],
)
def test_every_write_verifies_the_entry(entry: object, reason: str) -> None:
    """The constructor, a registry and set() refuse alike, and change nothing."""
    stash = MediaStash()

    for write in (
        lambda: MediaStash({"ocr": entry}),
        lambda: make(Media, stash=Registry({"ocr": entry})),
        lambda: stash.set("ocr", entry),
    ):
        with pytest.raises(InvalidValueError, match=f"the entry 'ocr'.* {reason}"):
            write()
    assert stash.all() == {}


def test_part_of_an_entry_can_be_set() -> None:
    """The entry has to be valid afterwards."""
    stash = MediaStash({"ocr": ENTRY})
    stash.set("ocr.value", ["a", "cat"])
    stash.set("ocr.derived_from_media", "med-2")

    with pytest.raises(InvalidValueError, match="needs a trust_tier, not 1"):
        stash.set("ocr.trust_tier", 1)
    assert stash.all() == {
        "ocr": {**ENTRY, "value": ["a", "cat"], "derived_from_media": "med-2"}
    }


def test_dotted_name_needs_its_escape() -> None:
    r"""``a.b`` would be a part of the entry ``a``; ``a\.b`` is an entry."""
    stash = MediaStash()
    stash.set(r"a\.b", ENTRY)

    with pytest.raises(InvalidValueError, match="has no value"):
        stash.set("a.b", ENTRY)
    assert stash.all() == {"a.b": ENTRY}


def test_only_what_an_entry_can_miss_is_deleted() -> None:
    """Whole entries and the note on their origin, but no tier."""
    stash = MediaStash({"a": {**ENTRY, "derived_from_media": "m"}, "b": ENTRY})

    assert stash.delete("a.derived_from_media")
    assert stash.delete("b")
    assert not stash.delete("b")
    with pytest.raises(InvalidValueError, match="needs a trust_tier"):
        stash.delete("a.trust_tier")
    assert stash.all() == {"a": ENTRY}


def test_set_copies_what_is_in_an_entry() -> None:
    """What is done to the entry later does not reach the stash."""
    value = ["cat"]
    stash = MediaStash()
    stash.set("ocr", {**ENTRY, "value": value})
    value.append("dog")

    assert stash.get("ocr.value") == ["cat"]


@pytest.mark.parametrize("initial", [None, [], {1: ENTRY}])
def test_stash_has_named_entries(initial: object) -> None:
    """Anything but a mapping with str keys is refused."""
    with pytest.raises(
        InvalidValueError, match=r"MediaStash\.data must be a dict with str keys"
    ):
        MediaStash(initial)  # type: ignore[arg-type]
