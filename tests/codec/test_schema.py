"""The JSON Schema of the wire: it takes what a codec writes, and refuses mistakes."""

# pyright: reportUnknownMemberType=false
# The types of jsonschema leave a part of its arguments open.

import copy
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import pytest
from attrs import Factory, define
from hypothesis import given, settings
from jsonschema import Draft202012Validator

from graphcodec import Codec, Message, SpooledArtifact, SpooledJsonArtifact
from graphcodec._schemas._diff import compare
from graphcodec.errors import InvalidValueError, UndecodableValueError
from graphcodec.testing import strategies
from tests.cli.running import environment
from tests.codec.samples import full
from tests.codec.test_mutations import TYPES, graphs
from tests.wire_corpus.classes import CODEC, Leaf
from tests.wire_corpus.corpus import DOCUMENTS

Schema = dict[str, Any]

MIXED: Final = Codec(types=TYPES)
DOCUMENT: Final = Draft202012Validator(Codec().json_schema())
CORPUS: Final = Draft202012Validator(CODEC.replace(unknown_types="raise").json_schema())
KEPT: Final = Draft202012Validator(CODEC.json_schema())


def valid(root: object, *nodes: object, validator: Any = CORPUS) -> bool:
    """Say whether a document with this root and these nodes fits the schema."""
    document = {"graphcodec": 1, "nodes": list(nodes), "root": root}
    return bool(validator.is_valid(document))


def codec_reads(root: object, codec: Codec) -> bool:
    """Say whether a codec decodes a document with this root."""
    try:
        codec.decode(json.dumps({"graphcodec": 1, "root": root}))
    except UndecodableValueError:
        return False
    return True


def parsed(name: str) -> Schema:
    """Return a document of the corpus."""
    found: Schema = json.loads((DOCUMENTS / f"{name}.json").read_text("utf-8"))
    return found


def test_is_a_json_schema() -> None:
    """Of draft 2020-12, also for a codec that keeps what it does not know."""
    loose = CODEC.replace(unknown_types="keep", unknown_fields="ignore")
    for codec in (CODEC, MIXED, loose):
        schema = codec.json_schema()
        Draft202012Validator.check_schema(schema)
        assert json.loads(json.dumps(schema)) == schema


@pytest.mark.parametrize(
    "path", sorted(DOCUMENTS.glob("*.json")), ids=lambda path: path.stem
)
def test_every_document_of_the_corpus_fits(path: Path) -> None:
    """Also those of old versions, with aliases, and with missing fields."""
    KEPT.validate(json.loads(path.read_text("utf-8")))


@settings(max_examples=60, deadline=None)
@given(strategies.graphs())
def test_every_graph_fits_as_it_is_written(graph: object) -> None:
    """Whatever a graph may hold."""
    DOCUMENT.validate(json.loads(Codec().encode(graph)))


@pytest.mark.parametrize("graph", graphs(), ids=lambda graph: type(graph).__name__)
def test_graphs_of_many_kinds_fit(graph: object) -> None:
    """Cycles, odd keys, typed slots of many kinds."""
    schema = MIXED.json_schema()

    Draft202012Validator(schema).validate(json.loads(MIXED.encode(graph)))


@pytest.mark.parametrize("cls", full(), ids=lambda cls: cls.__name__)
def test_every_primitive_fits_the_schema_of_its_class(cls: type) -> None:
    """With every field at a value of its own."""
    document = json.loads(Codec().encode(full()[cls]))

    Draft202012Validator(Codec().json_schema(cls)).validate(document)


WRONG: Final[dict[str, object]] = {
    "unknown tag": {"$type": "corpus.Nobody"},
    "no text for a tag": {"$type": 1},
    "missing field": {"$type": "corpus.Leaf"},
    "int as text": {"$type": "corpus.Leaf", "number": "1"},
    "int as bool": {"$type": "corpus.Leaf", "number": True},
    "unknown field without a place": {"$type": "corpus.Leaf", "number": 1, "x": 1},
    "dollar field": {"$type": "corpus.Leaf", "number": 1, "$x": 1},
    "newer version": {"$type": "corpus.Leaf", "$v": 2, "number": 1},
    "version of text": {"$type": "corpus.Person", "$v": "2", "first": "", "last": ""},
    "fields of an old version": {"$type": "corpus.Person", "$v": 2, "name": "A B"},
    "value beside fields": {"$type": "corpus.Money", "$value": 1, "x": 1},
    "no value": {"$type": "corpus.Money"},
    "negative reference": {"$type": "$ref", "n": -1},
    "reference with a bool": {"$type": "$ref", "n": True},
    "reference with more": {"$type": "$ref", "n": 0, "x": 1},
    "reader without locator": {"$type": "$reader", "tag": "media:http"},
    "reader of no family": {"$type": "$reader", "tag": "http", "locator": {}},
    "any beside others": {"$any": 1, "x": 1},
    "unknown marker": {"$any": {"$nothing": 1}},
    "marker with more": {"$any": {"$tuple": [], "x": 1}},
    "tuple of text": {"$any": {"$tuple": "abc"}},
    "pair of three": {"$any": {"$dict": [[1, 2, 3]]}},
    "pair of one": {"$any": {"$dict": [[1]]}},
    "wrong base64": {"$any": {"$bytes": "a"}},
    "int in decimal": {"$any": {"$int": "12"}},
    "float of text": {"$any": {"$float": "Nan"}},
    "half a date": {"$any": {"$date": "2025-06"}},
    "time without seconds": {"$any": {"$time": "12:00"}},
    "datetime with a space": {"$any": {"$datetime": "2025-06-01 12:00:00"}},
    "fold of two": {"$any": {"$datetime": "2025-06-01T12:00:00", "fold": 2}},
    "span of text": {"$any": {"$timedelta": ["1", 0, 0]}},
    "span beyond a day": {"$any": {"$timedelta": [0, 86_400, 0]}},
    "uuid in capitals": {"$any": {"$uuid": "ABCDEF00-0000-0000-0000-000000000000"}},
    "decimal with a comma": {"$any": {"$decimal": "1,5"}},
    "path of no kind": {"$any": {"$path": "a", "kind": "Path"}},
    "deque of negative length": {"$any": {"$deque": [], "maxlen": -1}},
    "unknown enum": {"$any": {"$enum": "corpus.Nobody", "name": "RED"}},
    "unknown member": {"$any": {"$enum": "corpus.Colour", "name": "GREEN"}},
    "flag by name": {"$any": {"$enum": "corpus.Rights", "name": "READ"}},
    "wrong inside any": {"$any": [1, {"$tuple": [{"$type": "corpus.Leaf"}]}]},
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_document_does_not_fit(name: str) -> None:
    """What breaks a rule of the wire, or does not fit its class."""
    assert not valid(WRONG[name], [])


@pytest.mark.parametrize(
    "change",
    [
        {"graphcodec": 2},
        {"graphcodec": "1"},
        {"nodes": {}},
        {"nodes": [{"$type": "$ref"}]},
        {"extra": 1},
    ],
    ids=str,
)
def test_wrong_envelope_does_not_fit(change: Schema) -> None:
    """Three keys, and what belongs under each."""
    assert not CORPUS.is_valid({"graphcodec": 1, "root": None, **change})
    assert CORPUS.is_valid({"graphcodec": 1, "root": None})


SCALARS: Final[dict[str, object]] = {
    "text": 1,
    "flag": "false",
    "small": 1.5,
    "large": "1",
    "fraction": "1.5",
    "data": "aGk=",
    "moment": "2025-06-01T12:00:00",
    "local": {"$datetime": "x"},
    "day": "2025-06-01",
    "span": 36,
    "price": 9.9,
    "key": "7",
    "number": [1.0, 0.0],
    "size": "xl",
    "level": 3,
    "shape": "ROUNDED",
    "rights": "READ",
    "role": 8,
}


@pytest.mark.parametrize("key", SCALARS)
def test_scalar_of_another_type_does_not_fit(key: str) -> None:
    """A typed slot takes nothing for anything else."""
    document = parsed("scalars")
    document["root"][key] = SCALARS[key]

    assert not CORPUS.is_valid(document)


def test_bare_dict_fits_where_its_keys_do() -> None:
    """As it is read: keys that are written as text are, may stand as they are."""

    @define
    class Prices:
        by_id: dict[UUID, int] = Factory(dict[UUID, int])
        by_size: dict[int, int] = Factory(dict[int, int])

    codec = Codec(types={"test.Prices": Prices})
    schema = Draft202012Validator(codec.json_schema())
    key, other = UUID(int=7), {"7": 1}
    for field, table, fits in (
        ("by_id", {str(key): 1}, True),
        ("by_id", {}, True),
        ("by_id", other, False),
        ("by_size", {}, True),
        ("by_size", other, False),
    ):
        root = {"$type": "test.Prices", field: table}
        assert valid(root, validator=schema) is fits
        assert codec_reads(root, codec) is fits


CONTAINERS: Final[dict[str, object]] = {
    "listed": "12",
    "fixed": [1, "a", 2],
    "many": [1],
    "members": {"a": 1},
    "frozen": [["3"]],
    "bounded": {"$deque": [1], "maxlen": "2"},
    "table": {"$a": 1},
    "numbered": {"1": "one"},
}


@pytest.mark.parametrize("key", CONTAINERS)
def test_container_of_another_type_does_not_fit(key: str) -> None:
    """Neither as a whole nor by what is in it."""
    document = parsed("containers")
    document["root"][key] = CONTAINERS[key]

    assert not CORPUS.is_valid(document)


def test_data_is_not_looked_at() -> None:
    """Nothing is markup in plain data, so anything fits there."""
    assert valid({"a": {"$type": "corpus.Nobody"}, "b": [{"$any": 1, "x": 2}]})


def test_root_may_be_one_class() -> None:
    """Then nothing else stands there, except by reference."""
    validator = Draft202012Validator(CODEC.json_schema(Leaf))
    leaf = {"$type": "corpus.Leaf", "number": 1}

    assert valid(leaf, validator=validator)
    assert valid({"$type": "$ref", "n": 0}, leaf, validator=validator)
    assert not valid(None, validator=validator)
    assert not valid({"$type": "corpus.Money", "$value": 1}, validator=validator)


def test_root_may_be_a_base() -> None:
    """Then it may be any class below it."""
    validator = Draft202012Validator(Codec().json_schema(SpooledArtifact))
    wire = json.loads(Codec().encode(full()[SpooledJsonArtifact]))

    validator.validate(wire)


def test_class_that_is_not_read_has_no_schema() -> None:
    """It would have to be registered."""
    with pytest.raises(InvalidValueError, match=r"reads no .*Leaf") as found:
        Codec().json_schema(Leaf)

    assert "Codec(types=[...])" in found.value.hint


def test_kept_types_fit() -> None:
    """Unknown tags and newer versions are read by a codec that keeps them."""
    assert valid({"$type": "corpus.Nobody", "x": 1}, validator=KEPT)
    assert valid({"$type": "corpus.Leaf", "$v": 7, "x": 1}, validator=KEPT)
    assert not valid({"$type": "corpus.Leaf", "x": 1}, validator=KEPT)


def test_unknown_fields_fit_as_the_codec_takes_them() -> None:
    """Kept where there is a place, ignored everywhere, refused everywhere."""
    leaf = {"$type": "corpus.Leaf", "number": 1, "x": 1}
    text = {"$type": "Tokenizable", "text": "a", "x": 1}
    fits: dict[str, tuple[bool, bool]] = {}
    for chosen in ("keep", "ignore", "raise"):
        codec = CODEC.replace(unknown_fields=chosen)
        validator = Draft202012Validator(codec.json_schema())
        one, other = (valid(root, validator=validator) for root in (leaf, text))
        fits[chosen] = one, other

    assert fits == {
        "keep": (False, True),
        "ignore": (True, True),
        "raise": (False, False),
    }


@pytest.mark.parametrize(
    "tag",
    ["shop.Box[int]", "a/b.C~D", "50%.off", "two words.#1?", "\u00e9t\u00e9.\u65e5"],
)
def test_any_tag_has_an_address_in_the_schema(tag: str) -> None:
    """Of letters that may stand in one, whichever the tag has."""
    codec = Codec(types={tag: Leaf})
    schema: Any = codec.json_schema(Leaf)
    address = schema["properties"]["root"]["anyOf"][0]["$ref"]

    assert re.fullmatch(r"#/\$defs/[\w.~!$&'()*+,;=:@%-]+", address, re.ASCII)
    Draft202012Validator(schema).validate(json.loads(codec.encode(Leaf(1))))
    assert not Draft202012Validator(schema).is_valid({"graphcodec": 1, "root": 1})
    assert compare(schema, codec.replace().json_schema(Leaf)) == []


def test_hook_of_a_user_shapes_the_schema() -> None:
    """A class that a hook writes has a value instead of fields."""
    codec = CODEC.replace()
    codec.converter.register_unstructure_hook(Leaf, lambda leaf: [leaf.number])
    codec.converter.register_structure_hook(Leaf, lambda value, _: Leaf(*value))
    validator = Draft202012Validator(codec.json_schema())

    validator.validate(json.loads(codec.encode(Leaf(1))))
    assert not valid({"$type": "corpus.Leaf", "number": 1}, validator=validator)


def test_carries_what_evolution_needs() -> None:
    """Tag, version, the oldest version that is read, aliases, place for fields."""
    classes: Any = CODEC.json_schema()["$defs"]
    notes = classes["corpus.Person"]

    assert {key: notes[key] for key in notes if key.startswith("x-")} == {
        "x-graphcodec-tag": "corpus.Person",
        "x-graphcodec-version": 2,
        "x-graphcodec-reads-from": 1,
        "x-graphcodec-aliases": [],
        "x-graphcodec-unknown-fields": "raise",
    }
    assert classes["corpus.Note"]["x-graphcodec-aliases"] == ["old.Note"]


def test_is_the_same_in_every_process() -> None:
    """Whatever was loaded before, and under any seed of hashes."""
    code = (
        "import json; from tests.wire_corpus.classes import CODEC;"
        "print(json.dumps(CODEC.json_schema()))"
    )
    here = json.dumps(CODEC.replace().json_schema())
    for seed in ("1", "2"):
        done = subprocess.run(  # noqa: S603 - our own code
            [sys.executable, "-c", code],
            capture_output=True,
            check=True,
            env={**environment(), "PYTHONHASHSEED": seed},
        )
        assert done.stdout.decode().strip() == here


def test_is_of_the_caller() -> None:
    """What a caller does to it changes no other."""
    schema: Any = Codec().json_schema(Message)
    untouched = copy.deepcopy(schema)
    schema["$defs"]["$bytes"]["properties"].clear()
    schema["$defs"]["Message"].clear()

    assert Codec().json_schema(Message) == untouched
