"""``graphcodec schema`` and ``graphcodec schema diff``."""

import json
from pathlib import Path

import pytest

from graphcodec import Codec
from tests.cli.calling import call

CORPUS = "tests.wire_corpus.classes:CODEC"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Return a file with the schema of a codec that knows more."""
    path = tmp_path / "old.json"
    assert call("schema", "--codec", CORPUS, "-o", path).code == 0
    return path


def test_writes_what_the_codec_says() -> None:
    """To the standard output, as JSON in lines."""
    done = call("schema")

    assert done.code == 0
    assert done.json == Codec().json_schema()
    assert done.text.startswith("{\n  ")


def test_writes_to_a_file(old: Path) -> None:
    """And says nothing."""
    assert "corpus.Leaf" in json.loads(old.read_text())["$defs"]


def test_root_is_named_by_its_tag() -> None:
    """It is a tag, not the path of a class."""
    done = call("schema", "--codec", CORPUS, "--type", "corpus.Leaf")

    assert {"$ref": "#/$defs/corpus.Leaf"} in done.json["properties"]["root"]["anyOf"]


def test_unknown_tag_is_a_wrong_call() -> None:
    """With the tag."""
    done = call("schema", "--type", "corpus.Leaf")

    assert done.code == 2
    assert "knows no tag 'corpus.Leaf'" in done.err


def test_no_change_is_well(old: Path) -> None:
    """Whether the new one is a file or a codec."""
    for new in ([old], ["--codec", CORPUS]):
        done = call("schema", "diff", old, *new)
        assert (done.code, done.text) == (0, "old documents can still be read\n")


def test_change_that_breaks_fails(old: Path, tmp_path: Path) -> None:
    """It says which, and why."""
    new = tmp_path / "new.json"
    call("schema", "-o", new)
    done = call("schema", "diff", old, new, width=100)

    assert done.code == 1
    assert "error    corpus.Leaf" in done.text
    assert "19 changes would break old documents" in done.text


def test_change_for_a_script(old: Path, tmp_path: Path) -> None:
    """The counts and every change."""
    schema = json.loads(old.read_text())
    leaf = schema["$defs"]["corpus.Leaf"]
    leaf["then"]["properties"]["number"] = {"type": "string", "description": "a str"}
    new = tmp_path / "new.json"
    new.write_text(json.dumps(schema))
    done = call("schema", "diff", old, new, "--json")

    assert done.code == 1
    assert (done.json["errors"], done.json["warnings"]) == (1, 0)
    assert done.json["changes"] == [
        {
            "severity": "error",
            "kind": "type",
            "where": "corpus.Leaf.number",
            "message": "an int became a str: integer no longer fits",
            "hint": "raise the version, with an upgrade",
        }
    ]


@pytest.mark.parametrize("more", [[], ["new.json", "--codec", CORPUS]])
def test_one_new_schema_is_needed(more: list[str], old: Path) -> None:
    """Neither none nor two."""
    more = [str(old) if part == "new.json" else part for part in more]
    done = call("schema", "diff", old, *more)

    assert done.code == 2
    assert "give NEW or --codec, one of them" in done.err


def test_other_files_are_refused(old: Path, tmp_path: Path) -> None:
    """What is no JSON, and what is no schema of ours."""
    new = tmp_path / "new.json"
    new.write_text("{")
    done = call("schema", "diff", old, new)
    assert (done.code, "it is no JSON" in done.err) == (1, True)
    new.write_text("{}")
    done = call("schema", "diff", old, new)
    assert (done.code, "was not written by graphcodec" in done.err) == (1, True)
