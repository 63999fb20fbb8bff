"""`graphcodec inspect` shows any document, without decoding it."""

from __future__ import annotations

import json
from collections import deque
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.cells import cell_len

from graphcodec import (
    BytesReader,
    Codec,
    Conversation,
    Identity,
    Media,
    Message,
    Registry,
    Retrievable,
    SpooledArtifact,
    Tokenizable,
    encode,
)
from graphcodec.adapters import from_openai_chat
from tests.cli.calling import call
from tests.cli.codecs import SEALED
from tests.cli.running import WIDTH, run, widest
from tests.view import talks

CHAT: Any = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "name": "ana", "content": "Hi!"},
        {"role": "assistant", "content": "Hello, Ana."},
        {"role": "user", "name": "ana", "content": "Bye."},
    ]
}


def document(root: object, nodes: list[object] | None = None) -> bytes:
    """Return a document that no codec has written."""
    envelope = {"graphcodec": 1, "nodes": nodes or [], "root": root}
    return json.dumps(envelope).encode()


def shown(data: bytes, *args: str) -> str:
    """Return the tree of a document."""
    done = call("inspect", "-", *args, given=data)
    assert (done.code, done.err) == (0, "")
    assert widest(done.text) <= WIDTH
    return done.text


def facts(data: bytes, *args: str) -> Any:
    """Return what is told of a document to scripts."""
    done = call("inspect", "-", *args, "--json", given=data)
    assert (done.code, done.err) == (0, "")
    return done.json


def test_shows_a_conversation() -> None:
    """Items, their tags and the beginnings of their texts are seen at a glance."""
    text = shown(encode(from_openai_chat(CHAT)), "--depth", "2")

    assert "JSON · 16 objects · 1 node · 0 handles" in text
    assert '├─ [0] Message  id "msg-1"  role "user"  content "Hi!"' in text
    assert '│  └─ [0] Tokenizable  "Be brief."' in text


def test_shows_nodes_and_references() -> None:
    """A reference says what it leads to, a node how often and where it is used."""
    text = shown(encode(from_openai_chat(CHAT)), "--depth", "3")

    assert text.count('identity → node 0  Identity  "ana"') == 2
    assert "node 0  2 references, first at $.items[0].identity" in text


def test_reads_message_pack(tmp_path: Path) -> None:
    """The format is recognised, and sizes are those of the format."""
    conversation = from_openai_chat(CHAT)
    data = Codec(format="msgpack").encode(conversation)
    file = tmp_path / "document.bin"
    file.write_bytes(data)

    found = call("inspect", file, "--json").json

    assert (found["format"], found["bytes"]) == ("msgpack", len(data))
    assert found["tags"] == facts(encode(conversation))["tags"]
    assert "document.bin  MessagePack" in run("inspect", str(file)).stdout


def test_facts_for_scripts() -> None:
    """``--json`` gives counts, nodes, and the size of each part to a depth."""
    found = facts(encode(from_openai_chat(CHAT)), "--depth", "1")

    assert found["root"] == "Conversation"
    assert (found["version"], found["references"]) == (1, 2)
    assert found["tags"]["Message"] == 3
    assert found["nodes"] == [
        {"n": 0, "uses": 2, "path": "$.items[0].identity", "is": "Identity"}
    ]
    assert [part["path"] for part in found["parts"]][:3] == ["$", "$.id", "$.items"]


def test_lists_handles() -> None:
    """A handle is shown with its tag, where it points and where it is."""
    media = Media.user_attachment(
        kind="image", mime_type="image/png", filename="x", reader=BytesReader(b"abcd")
    )
    data = encode(Registry({"a": [media, SpooledArtifact(BytesReader(b""))]}))

    found = facts(data)

    assert [handle["where"] for handle in found["handles"]] == [
        "4 bytes inline",
        "0 bytes inline",
    ]
    assert found["handles"][0]["path"] == "$.data.a[0].reader"
    assert "media:in-memory  4 bytes inline" in shown(data)
    assert "YWJjZA" not in shown(data, "--depth", "9")


@pytest.mark.parametrize(
    ("locator", "where"),
    [
        ({"store": "media", "key": "sha256/ab", "size": 9}, "media:sha256/ab"),
        ({"url": "https://example.org/a.png"}, "https://example.org/a.png"),
        ({"shelf": 3, "box": "blue"}, 'shelf=3 box="blue"'),
        (None, ""),
    ],
)
def test_says_where_a_handle_points(locator: object, where: str) -> None:
    """The locators of our own resolvers are put into words, others are listed."""
    reader = {"$type": "$reader", "tag": "media:x", "locator": locator}

    found = facts(document({"$type": "M", "reader": reader}))

    assert found["handles"] == [{"path": "$.reader", "tag": "media:x", "where": where}]


SIGNED = "https://ana:hunter2@example.org/a.png?X-Amz-Signature=hunter2&x=hunter2"
SHOWN = "https://example.org/a.png?…"


@pytest.mark.parametrize(
    "args",
    [
        ("inspect", "-"),
        ("inspect", "-", "--grep", "example"),
        ("inspect", "-", "--path", "$.reader"),
        ("inspect", "-", "--path", "$.reader.locator"),
        ("inspect", "-", "--path", "$.reader.locator.url"),
        ("inspect", "-", "--path", "$.reader.locator.more[0].url"),
        ("doctor", "-"),
    ],
)
@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_urls_of_handles_are_shown_without_their_secrets(
    args: tuple[str, ...], flags: tuple[str, ...]
) -> None:
    """Whatever is asked, neither the user nor the query of a handle is shown."""
    locator = {"url": SIGNED, "more": [{"url": SIGNED}]}
    reader = {"$type": "$reader", "tag": "media:http", "locator": locator}

    done = call(*args, *flags, given=document({"$type": "M", "reader": reader}))

    assert done.code == 0
    assert "hunter2" not in done.text
    assert (json.dumps(SHOWN)[1:-1] if flags else SHOWN) in done.text


def test_secrets_of_handles_are_not_found() -> None:
    """What is not shown of a handle can't be guessed by searching."""
    reader = {"$type": "$reader", "tag": "media:http", "locator": {"url": SIGNED}}

    found = facts(document({"$type": "M", "reader": reader}), "--grep", "hunter")

    assert found["matches"] == []


def test_knows_no_classes() -> None:
    """Tags and versions that no class here has are shown like all others."""
    order = {"$type": "shop.Order", "$v": 3, "lines": {"$any": {"$tuple": [1, [2]]}}}

    text = shown(document(order), "--depth", "3")

    assert "shop.Order v3" in text
    assert "└─ lines tuple of 2 items" in text
    assert "└─ [1] 1 item" in text


def test_shows_a_cycle_once() -> None:
    """A graph that leads back to itself is walked once."""
    loop: list[object] = [1]
    loop.append(loop)

    found = facts(encode(Registry({"loop": loop})))

    assert found["references"] == 2
    assert found["nodes"][0]["path"] == "$.data.loop"


def test_shows_what_is_deep() -> None:
    """Graphs that are deep in their nodes, or deep on the wire, are shown."""
    deep: list[object] = []
    for _ in range(5_000):
        deep = [deep]
    nested = b'{"graphcodec":1,"root":' + b"[" * 800 + b"]" * 800 + b"}"

    assert len(facts(encode(deep))["nodes"]) > 80
    assert "… 787 levels …" in shown(nested, "--depth", "1000")


def test_folds_what_is_long() -> None:
    """Of a long list, a map with many keys, and many nodes, the first few are shown."""
    data = encode(
        Registry({"list": list(range(4_333)), "map": dict.fromkeys("abcdefghijklmno")})
    )

    text = shown(data, "--depth", "3")

    assert "… 4,321 more" in text
    assert "… 3 more" in text
    texts = [Tokenizable(str(n)) for n in range(20)]
    assert "… 8 more nodes" in shown(encode(texts + texts))


def test_one_more_is_shown_and_not_folded() -> None:
    """Nothing is folded to save the line that says so."""
    assert "more" not in shown(encode(list(range(13))))


def test_is_quick_with_what_is_huge() -> None:
    """A document of ten megabytes is shown without trouble."""
    rows = [
        {"id": n, "text": "x" * 80, "more": [1, {"a": None}]} for n in range(80_000)
    ]

    text = shown(encode(rows))

    assert "80,000 items" in text
    assert "… 79,988 more" in text


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "there are no bytes at all"),
        (b"{", "this is no JSON document"),
        (b"\x81\xa1", "this is no MessagePack document"),
        (b"[1]", "this is no graphcodec document"),
        (b'{"graphcodec":7,"root":1}', "wire version 7"),
        (b'{"graphcodec":1}', "no root"),
        (b"[" * 100_000, "nests deeper than the parser goes"),
    ],
)
def test_malformed_file_ends_with_1(data: bytes, words: str) -> None:
    """What is no document is refused in one line."""
    done = call("inspect", "-", given=data)

    assert (done.code, done.out) == (1, b"")
    assert words in done.err
    assert done.err.count("\n") == 1
    assert done.err.startswith("graphcodec: standard input: ")


def test_names_the_file_that_is_wrong(tmp_path: Path) -> None:
    """The error says which file it is about."""
    file = tmp_path / "notes.txt"
    file.write_text("nothing")

    done = run("inspect", str(file))

    assert done.returncode == 1
    assert str(file) in done.stderr


def test_points_out_references_that_lead_nowhere() -> None:
    """A reference to a node that is not there is shown as what it is."""
    lost = {"$type": "$ref", "n": 5}
    odd = {"$type": "$ref", "n": True}

    text = shown(document({"$type": "A", "x": lost, "y": odd}))

    assert "x → node 5, which is not there" in text
    assert "$.x refers to a node that is not there" in text
    assert "$.y refers to a node that is not there" in text


def test_shows_nodes_that_nothing_refers_to() -> None:
    """What lies in the document without being part of the graph is seen too."""
    found = facts(document(1, [{"$type": "A", "x": 1}]))

    assert found["nodes"] == [{"n": 0, "uses": 0, "path": "$.nodes[0]", "is": "A"}]
    assert found["tags"] == {"A": 1}


def test_no_control_character_reaches_the_terminal() -> None:
    """Names, texts, tags and locators of a stranger are made printable."""
    evil = "\x1b[31m\n\u202e"
    reader = {"$type": "$reader", "tag": evil, "locator": {"url": evil, evil: evil}}
    other = {"$type": "$reader", "tag": evil, "locator": {evil: evil}}
    data = document(
        {"$type": evil, evil: evil, "r": reader, "o": other, "d": {evil: 1}}
    )

    text = shown(data, "--depth", "9")

    assert "\x1b" not in text
    assert "\u202e" not in text


def test_any_map_of_message_pack_is_shown() -> None:
    """Keys that are no text, binary data and times are shown as what they are."""
    root = {"$any": {1: b"abc", "": [None, 1.5], "$dict": [["k", 1], [[2], 3], 4]}}
    wire: object = {
        "graphcodec": 1,
        "root": {"$type": "A", "x": root, "y": {2: {}, "z": []}},
    }

    text = shown(msgspec.msgpack.encode(wire), "--depth", "9")

    assert "[1] 3 bytes" in text
    assert '"" 2 items' in text
    assert "[2] 0 keys" in text


def test_dict_pairs_are_named_by_their_keys() -> None:
    """The pairs of a dict with other keys are shown by key."""
    text = shown(encode({1: "one", (2, 3): "pair"}), "--depth", "3")

    assert '[1] "one"' in text
    assert "dict of 2 items" in text


def test_shows_something_without_unicode() -> None:
    """A terminal that has no box-drawing characters gets question marks."""
    done = run(
        "inspect", "-", given=encode([1]), PYTHONIOENCODING="ascii", PYTHONUTF8="0"
    )

    assert done.returncode == 0
    assert "[0] 1" in done.stdout


# Compressed documents, parts, and what is sought


TALK = encode(from_openai_chat(CHAT))


def test_compressed_documents_are_shown() -> None:
    """A frame is named, and what is in it is shown."""
    for method in ("gzip", "zstd"):
        data = Codec(compression=method).encode({"a": 1})
        done = call("inspect", "-", given=data)
        assert f"JSON · {method} · 0 objects" in done.text
        found = call("inspect", "-", "--json", given=data).json
        assert (found["layers"], found["bytes"]) == ([method], len(data))


def test_shows_one_part() -> None:
    """With a path, the tree begins there, through references."""
    done = call("inspect", "-", "--path", "$.items[2].identity", given=TALK)

    assert "Identity" in done.text
    assert 'identifier "ana"' in done.text
    assert "instructions" not in done.text
    found = call("inspect", "-", "--path", "$.items[0]", "--json", given=TALK).json
    assert (found["path"], found["root"]) == ("$.items[0]", "Message")
    assert found["parts"][0]["path"].startswith("$.items[0]")
    assert found["nodes"][0]["path"] == "$.items[0].identity"


def test_paths_go_through_all_containers() -> None:
    """Tuples, sets, odd keys and nodes are on the way."""
    graph = {"a b": ({1: ["found"]}, deque(["here"])), "x": 1}
    for path, shown_ in {
        "$['a b'][0]": "1 item",
        "$['a b'][0][1][0]": '"found"',
        '$["a b"][1][0]': '"here"',
        "$": "2 items",
    }.items():
        done = call("inspect", "-", "--path", path, "--json", given=encode(graph))
        assert shown_ in done.json["root"] or path == "$"
    stray = document(1, [{"$type": "A", "x": 5}])
    done = call("inspect", "-", "--path", "$.nodes[0].x", "--json", given=stray)
    assert done.json["root"] == "5"


@pytest.mark.parametrize(
    ("path", "code", "words"),
    [
        ("$.items[9].x", 1, "nothing at $.items[9]; look at what is in $.items"),
        ("$.nothing", 1, "the document has nothing at $.nothing"),
        ("items", 2, "a path begins with $"),
        ("$.items[x]", 2, "makes no sense from '[x]'"),
        ("$['\\x']", 2, "malformed key"),
    ],
)
def test_path_that_is_not_there(path: str, code: int, words: str) -> None:
    """What the document lacks ends with 1, what is no path with 2."""
    done = call("inspect", "-", "--path", path, given=TALK)

    assert done.code == code
    assert words in " ".join(done.err.split())


def test_lists_objects_of_a_tag() -> None:
    """Each object of a tag is listed once, with its path."""
    done = call("inspect", "-", "--type", "Identity", given=TALK)

    assert done.text.splitlines()[0] == "$.items[0].identity"
    assert '    Identity  identifier "ana"' in done.text
    found = call("inspect", "-", "--type", "Message", "--json", given=TALK).json
    assert [match["path"] for match in found["matches"]] == [
        "$.items[0]",
        "$.items[1]",
        "$.items[2]",
    ]


def test_finds_text() -> None:
    """Texts are found by a pattern, with their path and what stands around."""
    done = call("inspect", "-", "--grep", "(?i)HELLO, a", given=TALK)

    assert done.text == '$.items[1].content.text\n    "Hello, Ana."\n'
    data = encode({"a": "x" * 100 + "needle" + "y" * 100, "b": ["needle"]})
    found = call("inspect", "-", "--grep", "needle", "--json", given=data).json
    assert found["matches"] == [
        {"path": "$.a", "is": f"…{'x' * 30}needle{'y' * 30}…"},
        {"path": "$.b[0]", "is": "needle"},
    ]
    part = call("inspect", "-", "--grep", "needle", "--path", "$.b", given=data)
    assert part.text == '$.b[0]\n    "needle"\n'
    assert call("inspect", "-", "--grep", "no", given=data).text == "nothing is found\n"


def test_pattern_that_backtracks_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern has a budget of time for the whole document."""
    monkeypatch.setattr("graphcodec.cli._search._PATIENCE", 0.2)

    done = call("inspect", "-", "--grep", "(a|aa)+$", given=encode("a" * 5_000 + "b"))

    assert done.code == 1
    assert "write one that backtracks less" in done.err


@pytest.mark.parametrize("pattern", ["(", "x" * 2_000])
def test_pattern_that_is_none(pattern: str) -> None:
    """A malformed pattern is a wrong call."""
    done = call("inspect", "-", "--grep", pattern, given=TALK)

    assert done.code == 2
    assert "'--grep'" in done.err


def test_one_search_at_a_time() -> None:
    """Tags and texts are not sought together."""
    done = call("inspect", "-", "--grep", "x", "--type", "y", given=TALK)

    assert done.code == 2
    assert "--type and --grep exclude each other" in done.err


def test_many_matches_are_folded() -> None:
    """The first ones are shown, and how many more there are."""
    done = call("inspect", "-", "--grep", "x", given=encode(["x"] * 250))

    assert done.text.splitlines()[-1] == "… 50 more"


def test_unknown_tag_says_which_there_are() -> None:
    """A typo is not taken for an answer."""
    done = call("inspect", "-", "--type", "Mesage", given=encode(talks.rich()))

    told = " ".join(done.text.split())
    assert told.startswith("nothing has this tag; there are Tokenizable, ")
    assert "Message, " in told


@pytest.mark.parametrize(
    "chat",
    [
        '[{"role": "user", "content": "Hi"}]',
        '{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}',
        '{"input": [{"role": "user", "content": "Hi"}]}',
        '[{"type": "human", "data": {"content": "Hi"}}]',
        '[{"lc": 1, "type": "constructor", "id": [], "kwargs": {}}]',
        '[{"kind": "request", "parts": []}]',
    ],
)
def test_conversation_of_others_says_how_to_take_it(chat: str) -> None:
    """It is what somebody new tries first."""
    done = call("inspect", "-", given=chat.encode())

    assert done.code == 1
    assert done.err == (
        "graphcodec: standard input: this looks like a conversation, and is no"
        " graphcodec document; graphcodec import makes one of it\n"
    )


# A conversation, as it was said


def test_no_time_is_shown_where_there_was_none() -> None:
    """Adapters put the beginning of 1970 where a format has no time."""
    document = encode(from_openai_chat([{"role": "user", "content": "Hi"}]))

    assert "[0] user" in call("inspect", "-", given=document).text.splitlines()


def test_conversation_is_shown_as_it_was_said() -> None:
    """Who said what, calls with what came of them, handles, sizes, what is shared."""
    data = encode(talks.rich())

    done = call("inspect", "-", given=data)

    assert widest(done.text) <= WIDTH
    head, *lines = done.text.splitlines()
    assert "5 handles" in head
    assert " ".join(map(str.strip, lines[:2])) == (
        "talk-1  2 user messages · 1 thought · 4 tool calls · 1 passage"
        " · 1 assistant message · 1 failed · 1 pending"
    )
    for line in (
        "[0] 12:30 Ana (user)",
        "    Why does it hang?",
        f"    Media  a.png  image/png  {len(talks.png())} bytes inline",
        "[1] 12:31 thought",
        '    → {"rows": [1]}',
        "    → SpooledArtifact  4,389 bytes inline",
        "    ✗ permission denied",
        "    pending",
        "[6] 12:36 passage  wiki/queues  third-party-public",
        "sizes",
        'Identity  identifier "u-42"  representation "Ana"  2 references',
        "  $.items[3].results.reader",
    ):
        assert line in lines
    assert any(line.startswith("[2] 12:32 query  {") for line in lines)


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    """Be it of letters that are two columns wide."""
    wide = "你好世界 " * 60 + "👨‍👩‍👧 " * 20
    graph = [
        Message(id="m-1", role="user", content=wide, **talks.when()),
        talks.call(1, "工具" * 50, wide),
    ]

    for args in ([], ["--depth", "3"]):
        done = call("inspect", "-", *args, given=encode(graph), width=width)
        assert max(map(cell_len, done.text.splitlines())) <= width


def test_attacks_on_the_terminal_are_shown_as_what_they_are() -> None:
    """Escapes and marks that turn texts around, wherever they stand; joiners stay."""
    evil = "\x1b[31m\x9b31m\u202e\u200d\xa0x"
    message = Message(
        id=evil,
        role="user",
        content=f"{evil}\n{evil}\r{evil}",
        identity=Identity(identifier=evil, representation=evil),
        **talks.when(),
    )
    passage = Retrievable(
        id=evil, content=evil, source=evil, trust_tier="first-party", **talks.when()
    )
    graph = Conversation(
        id=evil,
        items=[message, passage, talks.call(1, evil, evil)],
        instructions=[evil],
    )

    text = call("inspect", "-", given=encode(graph)).text

    assert not set("\x1b\x9b\u202e\r\xa0") & set(text)
    assert "    �[31m�31m�\u200d x" in text.splitlines()


def test_long_conversations_are_shown_from_both_ends() -> None:
    """As many items as are asked for."""
    graph = [
        Message(id=f"m-{n}", role="user", content=f"Question {n}.", **talks.when())
        for n in range(300)
    ]

    few = call("inspect", "-", "--most", "3", given=encode(graph)).text

    shown_ = [line for line in few.splitlines() if line.startswith("    Q")]
    assert shown_ == ["    Question 0.", "    Question 1.", "    Question 299."]
    assert "… 297 more items: --most, --path" in few
    assert call("inspect", "-", given=encode(graph)).text.count("    Q") == 100


def test_long_texts_are_cut() -> None:
    """After a dozen lines."""
    message = Message(id="m", role="user", content="line\n" * 20, **talks.when())

    text = call("inspect", "-", given=encode(message)).text

    assert text.count("    line") == 12
    assert "    … 8 more lines" in text


def test_conversation_of_a_stranger_is_shown() -> None:
    """Whatever its fields are."""
    ref: object = {"$type": "$ref", "n": 0}
    items: list[object] = [
        {"$type": "Message", "content": 5, "attachments": [1, {}], "identity": 3},
        {"$type": "ToolCall", "args": {"$dict": [1]}, "results": [None, ref]},
        {"$type": "Thought", "payload": 1, "created_at": "yesterday"},
        {"$type": "Retrievable", "content": {"$type": "Media", "reader": 4}},
        {"$type": "shop.Order"},
        None,
    ]
    root: object = {
        "$type": "Conversation",
        "items": items,
        "memories": [2],
        "tools": ref,
    }

    text = shown(document(root, [ref]))

    assert "[4] shop.Order" in text
    assert "[5] null" in text


def test_sealed_documents_are_shown_with_the_codec_that_opens_them() -> None:
    """And what they are bound to."""
    data = SEALED.encode(talks.rich(), context=b"ana")
    args = ["inspect", "-", "--codec", "tests.cli.codecs:SEALED"]

    done = call(*args, "--context", "ana", given=data)
    assert "Why does it hang?" in done.text
    assert "encrypted" in done.text.splitlines()[0]
    assert call(*args, given=data).code == 1
    assert call("inspect", "-", given=data).code == 1
