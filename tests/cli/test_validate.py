"""`graphcodec validate` finds everything that is wrong, with its place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphcodec import Codec, Limits, Media, Message, Registry, encode, errors
from graphcodec._documents._findings import Finding
from graphcodec._documents._scanning import duplicates, end_of_first
from graphcodec._documents._validating import validate
from graphcodec.testing import strategies
from graphcodec_resolvers import HttpReader
from tests.cli.calling import call
from tests.cli.running import WIDTH, environment, run, widest
from tests.cli.test_tree import VALUES
from tests.codec.samples import CODEC, Node
from tests.primitives.builders import make
from tests.wire_corpus.classes import CODEC as CORPUS
from tests.wire_corpus.corpus import DOCUMENTS, SEALED

TEXT = {"$type": "Tokenizable", "text": "a"}
JSON_START = b'{"graphcodec":1,"root":'


def document(root: object, nodes: list[Any] | None = None) -> bytes:
    """Return a document that no codec has written."""
    envelope = {"graphcodec": 1, "nodes": nodes or [], "root": root}
    return json.dumps(envelope).encode()


def packed(root: object, nodes: list[Any] | None = None) -> bytes:
    """Return such a document in MessagePack."""
    return msgspec.msgpack.encode({"graphcodec": 1, "nodes": nodes or [], "root": root})


def found(data: bytes, codec: Codec | None = None, **options: Any) -> list[Finding]:
    """Return what is wrong with a document."""
    return list(validate(data, codec, **options).findings)


def told(data: bytes, codec: Codec | None = None, **options: Any) -> list[str]:
    """Return what is wrong with a document, each thing in a word and with its place."""
    return [
        f"{finding.severity} {finding.kind} {finding.path}".rstrip()
        for finding in found(data, codec, **options)
    ]


# What is right


OPEN = sorted(path for path in DOCUMENTS.iterdir() if path.name not in SEALED)
"""The documents that can be read without a key."""


@pytest.mark.parametrize("file", OPEN, ids=lambda f: f.name)
def test_all_of_the_corpus_is_valid(file: Path) -> None:
    """Documents of every shape have no errors."""
    report = validate(file.read_bytes(), CORPUS, allow_unknown=True)

    assert report.errors == 0


@settings(max_examples=40, deadline=None)
@given(graph=strategies.graphs(), packs=st.booleans())
def test_what_encode_writes_is_valid(graph: object, *, packs: bool) -> None:
    """Nothing is found in a document of ours."""
    codec = Codec(format="msgpack" if packs else "json", compression="gzip")

    assert found(codec.encode(graph)) == []


def test_handles_need_no_resolver() -> None:
    """What lies in stores that nobody bound here is taken for good."""
    locator = {"store": "files", "key": "a/b.txt"}

    data = document({"$type": "$reader", "tag": "media:fsspec", "locator": locator})

    assert found(data) == []
    assert told(data, Codec()) == ["error value $"]


def test_unknown_class_of_an_artifact_is_found() -> None:
    """A tag that is no object's is an error too where decode refuses it."""
    tool: dict[str, object] = {
        "$type": "Tool",
        "name": "t",
        "description": "d",
        "input_schema": {"type": "object"},
        "handler": None,
        "artifact": "corpus.Nowhere",
    }

    for codec in (None, Codec()):
        assert told(document(tool), codec) == ["error value $.artifact"]
        assert told(document(tool), codec, allow_unknown=True) == []


def test_handlers_need_no_function() -> None:
    """What a tool calls is bound elsewhere; with a codec, it must be bound there."""
    data = (DOCUMENTS / "conversation_with_tools.json").read_bytes()

    assert found(data) == []
    assert told(data, Codec()) == [
        "error value $.tools.tools[0].handler",
        "error value $.tools.tools[1].handler",
    ]
    odd = data.replace(b'"handler":"', b'"handler":1,"was":"', 1)
    assert "error value $.tools.tools[0].handler" in told(odd)


# Duplicate keys


def test_duplicate_keys_are_warnings() -> None:
    """Each is told with its place and byte, nested ones too."""
    data = b'{"graphcodec":1,"root":{"a":1,"b":[{"x":1,"\\u0078":2}],"a":2},"root":3}'

    first, second, third = found(data)

    assert {f.severity for f in (first, second, third)} == {"warning"}
    assert (first.path, first.offset) == ("$.b[0]", data.index(b'"\\u0078"'))
    assert (second.path, second.offset) == ("$", data.index(b'"a":2'))
    assert (third.path, third.offset) == ("$", data.index(b'"root":3'))
    assert "'x' stands there twice; the last one wins" in first.message


def test_duplicate_keys_of_message_pack() -> None:
    """They are found in all forms of maps, text and what lies between."""
    inner = b"\x83\xa1x\xcb" + bytes(8) + b"\xd9\x01y\xc4\x03abc\xda\x00\x01x\x01"
    data = b"\x82\xaagraphcodec\x01\xa4root\x81\xa4$any" + inner

    (duplicate,) = found(data)

    assert duplicate.kind == "duplicate-key"
    assert duplicate.offset == data.index(b"\xda\x00\x01x")


@settings(max_examples=100, deadline=None)
@given(value=VALUES, packs=st.booleans())
def test_no_duplicates_where_there_are_none(value: object, *, packs: bool) -> None:
    """Whatever a document holds, the bytes are read as the parser reads them."""
    text = msgspec.json.decode(msgspec.json.encode(value, enc_hook=repr))
    data = (
        msgspec.msgpack.encode([text, value]) if packs else msgspec.json.encode([text])
    )

    assert list(duplicates(data, binary=packs)) == []
    assert end_of_first(data + b"1", binary=packs) == len(data)


# The bytes


@pytest.mark.parametrize(
    ("data", "kind", "words", "offset"),
    [
        (b"", "syntax", "no JSON document", None),
        (b"{", "syntax", "truncated", None),
        (b'{"graphcodec":1,}', "syntax", "trailing comma", 16),
        (JSON_START + b'"\xff"}', "syntax", "Invalid UTF-8", None),
        (JSON_START + b"1} x", "syntax", "2 bytes follow", 25),
        (b"\xef\xbb\xbf" + JSON_START + b"1}", "syntax", "byte order mark", 0),
        (packed(1) + b"\x00\x00", "syntax", "2 bytes follow", len(packed(1))),
        (b"\x82\xaagraphcodec", "syntax", "truncated", None),
        (b"[]", "syntax", "it has no version", None),
        (b'{"graphcodec":1}', "syntax", "has no root", None),
        (b'{"graphcodec":1,"root":1,"x":2}', "syntax", "do not belong there", None),
        (b'{"graphcodec":2,"root":1}', "version", "of wire version 2", None),
        (b"\xc1GCF\x02\x01xxx", "version", "frame is of version 2", None),
        (b"\xc1GCF\x01\x01", "frame", "cut off within its header", None),
        (b"[" * 1_000_000, "limit", "nests deeper than the parser goes", None),
        (JSON_START + b'{"a":' * 100_000, "limit", "nests deeper", None),
    ],
)
def test_what_is_no_document(
    data: bytes, kind: str, words: str, offset: int | None
) -> None:
    """Bytes that can't be read are an error, with the byte where that is known."""
    first = found(data)[0]

    assert (first.severity, first.kind) == ("error", kind)
    assert words in first.message
    assert first.offset == offset


def test_goes_on_behind_what_it_can_skip() -> None:
    """A byte order mark and trailing bytes hide nothing."""
    data = b"\xef\xbb\xbf" + document({"$type": "shop.Order"}) + b"!"

    assert told(data) == [
        "error syntax",
        "error syntax",
        "error unknown-tag $",
    ]


def test_truncated_anywhere() -> None:
    """Cut off at every byte, a document has exactly one error."""
    for codec in (Codec(), Codec(format="msgpack"), Codec(compression="zstd")):
        data = codec.encode({"a": [1, "text", (2,)]})
        for length in range(len(data)):
            assert validate(data[:length]).errors == 1


# The rules


@pytest.mark.parametrize(
    ("root", "kind", "words"),
    [
        ({"$type": "shop.Order"}, "unknown-tag", "the tag 'shop.Order' is unknown"),
        ({"$type": 5}, "shape", "$type needs text, not 5"),
        ({"$type": ""}, "shape", "$type needs text, not ''"),
        ({"$type": "$odd"}, "marker", "there is no markup '$odd'"),
        ({**TEXT, "$x": 1}, "shape", "an object has no field '$x'"),
        ({**TEXT, "$v": 2}, "version", "is of version 2, and 1 is known"),
        ({**TEXT, "$v": 0}, "version", "$v needs an int from 1, not 0"),
        ({**TEXT, "$v": True}, "version", "$v needs an int from 1, not True"),
        ({"$type": "$ref", "n": 0}, "reference", "to node 0, of which there are 0"),
        ({"$type": "$ref", "n": -1}, "reference", "to node -1"),
        ({"$type": "$ref", "n": True}, "reference", "one int, n, and not True"),
        ({"$type": "$ref"}, "reference", "one int, n, and not None"),
        ({"$type": "$ref", "n": 0, "m": 1}, "reference", "one int, n"),
        ({"$type": "$reader", "tag": "media:x"}, "reader", "$type, tag and locator"),
        (
            {"$type": "$reader", "tag": "x", "locator": {}},
            "reader",
            "begins with media: or spool:, not 'x'",
        ),
        (
            {"$type": "$reader", "tag": "media:x", "locator": []},
            "reader",
            "locator is a map",
        ),
        ({"$any": {"$bytes": "a"}}, "marker", "$bytes needs standard base64"),
        ({"$any": {"$bytes": "aGk=", "x": 1}}, "marker", "stands with nothing but"),
        ({"$any": {"$set": 1}}, "marker", "$set needs a list"),
        ({"$any": {"$tuple": [], "x": 1}}, "marker", "$tuple stands alone"),
        ({"$any": {"$dict": [[1]]}}, "marker", "$dict needs [key, value] pairs"),
        ({"$any": {"$deque": [], "maxlen": -1}}, "marker", "$deque needs a maxlen"),
        ({"$any": {"$odd": 1}}, "marker", "there is no marker '$odd'"),
        ({"$any": {"$enum": "x.Y"}}, "marker", "$enum needs a tag, and a name"),
        ({"$any": {"$enum": "x.Y", "name": "A"}}, "unknown-tag", "'x.Y' is unknown"),
        ({"$any": 1, "x": 2}, "marker", "$any stands alone, and here 'x' is beside"),
        ({"$any": {"$zoneinfo": "Mars/Base"}}, "marker", "a known time zone"),
        ({**TEXT, "text": 5}, "value", "a str belongs here, not 5"),
    ],
)
def test_rules(root: object, kind: str, words: str) -> None:
    """What breaks a rule of the wire is an error that says which."""
    first = found(document(root))[0]

    assert (first.severity, first.kind) == ("error", kind)
    assert words in first.message
    assert first.path.startswith("$")
    with pytest.raises(errors.GraphCodecError):
        Codec().decode(document(root))


@pytest.mark.parametrize(
    ("root", "words"),
    [
        ({"$any": {1: 2}}, "a map needs text keys, not 1"),
        ({1: 2}, "a map needs text keys, not 1"),
        ([b"x"], "holds what JSON can hold"),
        ({"$any": [msgspec.msgpack.Ext(7, b"")]}, "holds what JSON can hold"),
        (
            {"$type": "$reader", "tag": "media:x", "locator": {"a": b""}},
            "holds what JSON can hold",
        ),
        ({**TEXT, "text": msgspec.msgpack.Ext(7, b"")}, "holds what JSON can hold"),
    ],
)
def test_rules_of_message_pack(root: object, words: str) -> None:
    """MessagePack holds nothing beyond JSON but bytes, and those where markup is."""
    assert words in found(packed(root))[0].message


def test_node_that_is_a_reference() -> None:
    """A node is no reference itself."""
    reference = {"$type": "$ref", "n": 0}

    assert told(document(reference, [reference]))[0] == "error reference $.nodes[0]"


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (document({"$bytes": "aGk="}), "warning plain $"),
        (document({"$type": "Registry", "data": {"$x": 1}}), "warning plain $.data"),
        (document({**TEXT, "more": 1}), "warning unknown-field $.more"),
        (document(1, [[]]), "warning unused-node $.nodes[0]"),
        (
            JSON_START + b"[" * 61 + b"]" * 61 + b"}",
            "warning nesting $",
        ),
    ],
)
def test_warnings(data: bytes, wanted: str) -> None:
    """What a reader takes, but a writer would not write, is a warning."""
    assert wanted in told(data)
    assert validate(data).errors == 0


def test_all_of_it_is_found() -> None:
    """One error hides no other, and each has the path that it has in the document."""
    message = json.loads(encode(make(Media)))["root"]
    items = [dict(message, id=f"m-{n}") for n in range(8)]
    for index in (1, 3, 6):
        items[index]["kind"] = "nothing"
    items[4]["source"] = {"$type": "x.Y"}
    items[5] = {"$type": "$ref", "n": 4}

    assert sorted(told(document({"$any": items}))) == [
        "error reference $[5]",
        "error unknown-tag $[4].source",
        "error value $[1].kind",
        "error value $[3].kind",
        "error value $[6].kind",
    ]


def test_what_follows_from_another_error_says_so() -> None:
    """A message whose only picture was left out lacks content for that reason alone."""
    picture = Media.user_attachment(
        kind="image",
        mime_type="image/png",
        filename="a.png",
        reader=HttpReader("https://example.org/a.png"),
    )
    data = encode(make(Message, content=None, attachments=[picture]))
    nobody = Codec(builtin_resolvers=False)

    first, second = found(data, nobody)

    assert (first.path, second.path) == ("$.attachments[0].reader", "$.content")
    assert "Codec(resolvers=" in first.hint
    assert (
        second.hint == "a part of it was left out for an error above; mend that first"
    )


def test_is_bounded() -> None:
    """No more is kept than somebody reads, and that there is more is said."""
    data = document({"$any": [{"$type": "x.Y"}] * 5_000})

    report = validate(data, most=10)

    assert (len(report.findings), report.more) == (10, True)
    shown = call("validate", "-", "--most", "3", given=data).text
    assert "… there may be more; --most shows them" in shown


def test_unknown_can_be_allowed() -> None:
    """With ``allow_unknown``, tags and versions of others are warnings."""
    data = document({"$any": [{"$type": "x.Y"}, {**TEXT, "$v": 7}]})

    assert told(data, allow_unknown=True) == [
        "warning unknown-tag $[0]",
        "warning version $[1]",
    ]


def test_limits_are_those_of_the_codec() -> None:
    """The caller's codec says what is too much."""
    tiny = Codec(limits=Limits(max_bytes=50))
    assert told(encode(["word"] * 100), tiny) == ["error limit"]
    nodes = Codec(limits=Limits(max_nodes=1))
    shared = [Registry() for _ in range(3)]
    assert told(encode(shared * 2), nodes)[0] == "error limit $.nodes"
    packed_ = Codec(compression="gzip").encode(["word"] * 100)
    small = Codec(limits=Limits(max_decompressed=100))
    assert told(packed_, small) == ["error limit $"]


@settings(max_examples=100, deadline=None)
@given(root=VALUES, nodes=st.lists(VALUES, max_size=3), packs=st.booleans())
def test_any_document_can_be_examined(
    root: object, nodes: list[Any], *, packs: bool
) -> None:
    """What decode refuses is an error here, and what it takes is none."""
    data = packed(root, nodes)
    if not packs:
        data = msgspec.json.encode(
            {"graphcodec": 1, "nodes": nodes, "root": root}, enc_hook=repr
        )
    try:
        Codec().decode(data)
    except errors.NoReaderResolverError:
        return
    except errors.GraphCodecError:
        assert validate(data).errors > 0
    else:
        assert validate(data).errors == 0


# The command


def test_shows_findings(tmp_path: Path) -> None:
    """Files are told with their findings, and errors end with 1."""
    good, bad = tmp_path / "good.json", tmp_path / "bad.gz"
    good.write_bytes(encode(Registry({"a": 1})))
    bad.write_bytes(
        JSON_START
        + b'{"$type":"Registry","data":{"x":1,"x":2},"extra":{"$type":"a.B"}}}'
    )

    done = call("validate", good, bad)

    assert done.code == 1
    assert "good.json  JSON · 1 object · " in done.text
    assert "valid" in done.text.splitlines()[0]
    assert "1 error, 2 warnings" in done.text
    assert "byte 57" in done.text
    assert widest(done.text) <= WIDTH


def test_warnings_are_no_failure() -> None:
    """The exit code is 0 if there are only warnings."""
    data = b'{"graphcodec":1,"root":1,"root":2}'

    assert call("validate", "-", given=data).code == 0


def test_json_for_scripts() -> None:
    """``--json`` tells every field of every finding."""
    done = call("validate", "-", "--json", given=document({"$type": "a.B"}))

    assert done.code == 1
    (file,) = done.json["files"]
    assert (file["file"], file["format"], file["layers"]) == (
        "standard input",
        "json",
        [],
    )
    assert (done.json["errors"], done.json["warnings"]) == (1, 0)
    assert file["findings"][0]["kind"] == "unknown-tag"
    assert file["findings"][0]["offset"] is None


def test_codec_of_the_caller(tmp_path: Path) -> None:
    """A codec, or a function that gives one, is named on the command line."""
    file = tmp_path / "node.json"
    file.write_bytes(CODEC.encode(Node()))

    assert call("validate", file).code == 1
    assert call("validate", file, "--allow-unknown").code == 0
    assert call("validate", file, "--codec", "tests.codec.samples:CODEC").code == 0
    assert call("validate", file, "--codec", "graphcodec:Codec").code == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nothing", "is not of the form package.module:name"),
        ("no.such.module:x", "ModuleNotFoundError"),
        ("graphcodec:nothing", "AttributeError"),
        ("graphcodec:encode", "TypeError"),
        ("os:getcwd", "gives a str, and no Codec"),
    ],
)
def test_codec_that_is_none(name: str, words: str) -> None:
    """What can't be had, or is no codec, is a wrong call."""
    done = call("validate", "-", "--codec", name)

    assert done.code == 2
    assert words in done.err


def test_codec_of_this_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module in the folder where one works is found."""
    (tmp_path / "my_codec_here.py").write_text(
        "from graphcodec import Codec\ndef make():\n    return Codec()\n"
    )
    monkeypatch.chdir(tmp_path)

    done = run("validate", "-", "--codec", "my_codec_here:make", given=encode([1]))

    assert done.returncode == 0


def test_standard_input_once() -> None:
    """It can't be read twice."""
    done = call("validate", "-", "-")

    assert (done.code, done.out) == (2, b"")
    assert "the standard input can be read once" in done.err


def test_no_control_characters() -> None:
    """Keys and tags of a stranger are made printable."""
    done = call("validate", "-", given=document({"$type": "\x1b[31mevil\u202e"}))

    assert "\x1b" not in done.text
    assert "\u202e" not in done.text


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_bar_on_a_terminal(tmp_path: Path) -> None:
    """Work over several files shows a bar on a terminal, and none elsewhere."""
    files = [tmp_path / name for name in ("a.json", "b.json")]
    for file in files:
        file.write_bytes(encode(1))
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "graphcodec", "validate", *map(str, files)]
    env = {**environment(), "TERM": "xterm"}
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            command,
            stdout=subprocess.PIPE,
            stderr=theirs,
            check=True,
            env=env,
            timeout=60,
        )
        shown = os.read(ours, 100_000).decode()
    finally:
        os.close(ours)
        os.close(theirs)

    assert "validating" in shown
    assert b"validating" not in done.stdout
    assert call("validate", *files).err == ""
