"""One class through the years: what was written once is read after each change."""

from itertools import pairwise

import pytest

from graphcodec import Codec
from graphcodec._schemas._diff import compare
from graphcodec.errors import GraphCodecError, UndecodableValueError, VersionError
from tests.wire_corpus.corpus import DOCUMENTS, FORMATS
from tests.wire_corpus.releases import RELEASES, Basket, Dye, Paint

LAST = RELEASES["story_6_enum_changed"].codec
BASKET = Basket(7, "Ada", "Lovelace", Paint.CRIMSON)


@pytest.mark.parametrize("name", RELEASES)
def test_release_wrote_its_document(name: str) -> None:
    """The frozen file is what the classes of then give."""
    codec, wrote = RELEASES[name]

    assert codec.encode(wrote) == (DOCUMENTS / f"{name}.json").read_bytes()


@pytest.mark.parametrize("name", RELEASES)
def test_last_release_reads_it(name: str) -> None:
    """Renamed, split, dropped, added, and with another member; still one object."""
    data = (DOCUMENTS / f"{name}.json").read_bytes()
    basket, again, paint = LAST.decode(data, list[object])

    assert basket == BASKET
    assert basket is again
    assert paint is Paint.CRIMSON


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("name", RELEASES)
def test_it_is_written_anew(name: str, format_: str) -> None:
    """Whatever release it is of, what is written is what the last one writes."""
    codec, wrote = RELEASES[name]
    writing = LAST.replace(format=format_)
    old = codec.replace(format=format_).encode(wrote)

    assert writing.encode(writing.decode(old)) == writing.encode(
        [BASKET, BASKET, Paint.CRIMSON]
    )


def test_comparison_of_the_schemas_agrees() -> None:
    """No step breaks what any release before it wrote."""
    schemas = [release.codec.json_schema() for release in RELEASES.values()]
    steps = [*pairwise(schemas), *((schema, schemas[-1]) for schema in schemas)]
    for before, after in steps:
        found = compare(before, after)
        assert [change for change in found if change.severity == "error"] == []


@pytest.mark.parametrize(("older", "newer"), [*pairwise(RELEASES)])
def test_older_release_refuses_what_it_can_not_read(older: str, newer: str) -> None:
    """It never takes a newer document for something else."""
    codec = RELEASES[older].codec
    data = (DOCUMENTS / f"{newer}.json").read_bytes()
    error: type[GraphCodecError] = UndecodableValueError
    if newer == "story_2_tag_renamed":
        words = "'corpus.Basket' is unknown"
    elif newer == "story_3_field_added":
        words = "unknown field 'notes'"
    else:
        error, words = VersionError, "was written at version"

    with pytest.raises(error, match=words):
        codec.decode(data)


def test_member_that_is_new_is_refused_by_old_readers() -> None:
    """They say which, and which they know; it is for readers to be updated first."""
    codec = Codec(types={"corpus.Paint": Dye})
    text = LAST.encode_text([Paint.GREEN, ()])

    with pytest.raises(
        UndecodableValueError, match="has no member 'GREEN'; it has 'RED', 'BLUE'"
    ):
        codec.decode(text)
