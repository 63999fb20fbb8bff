"""`graphcodec import` and `export` take conversations from, and to, other formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphcodec import Codec, Conversation, Registry, decode, encode
from tests.cli.calling import call

EXAMPLE = Path(__file__).parents[2] / "graphcodec" / "cli" / "example_chat.json"
SAID = {"messages": [{"role": "user", "content": "Hi", "mood": 1}]}


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """A file with one chat."""
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(SAID))
    return file


def lines(folder: Path, *entries: object) -> Path:
    """Return a file with one chat on each line."""
    file = folder / "train.jsonl"
    file.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries))
    return file


def taken(*args: object, given: bytes = b"") -> Any:
    """Return the graph of the document that an import writes to standard output."""
    done = call("import", "--from", "openai-chat", *args, given=given)
    assert done.code == 0, done.err
    return decode(done.out)


# There and back


def test_a_file_becomes_a_document_and_comes_back(tmp_path: Path) -> None:
    """What is exported is what was imported."""
    document = tmp_path / "document.json"

    there = call("import", "--from", "openai-chat", EXAMPLE, "-o", document)
    back = call("export", "--to", "openai-chat", document)

    assert (there.code, back.code) == (0, 0)
    assert back.json == json.loads(EXAMPLE.read_text())


def test_the_streams(chat: Path) -> None:
    """Both commands read the standard input and write the standard output."""
    there = call("import", "--from", "openai-chat", "-", given=chat.read_bytes())
    back = call("export", "--to", "openai-chat", "-", given=there.out)

    assert back.json == SAID


def test_lines_become_a_list_and_lines_again(tmp_path: Path) -> None:
    """A file for fine-tuning is one document, and the same lines again."""
    other: dict[str, object] = {"messages": [{"role": "user", "content": "Ho"}]}
    file = lines(tmp_path, SAID, other)
    document = tmp_path / "train.json"

    call("import", "--from", "openai-chat", file, "-o", document)
    back = call("export", "--to", "openai-chat", document)

    assert [json.loads(line) for line in back.text.splitlines()] == [SAID, other]


def test_one_line_by_its_name(tmp_path: Path) -> None:
    """One line in a file of lines is a list of one; without that name it is a chat."""
    file = lines(tmp_path, SAID)

    assert len(taken(file)) == 1
    assert isinstance(taken("-", given=file.read_bytes()), Conversation)


def test_lines_without_the_name() -> None:
    """Lines are known by the first one, and chats broken into lines by theirs."""
    text = json.dumps(SAID)

    assert len(taken("-", given=f"{text}\n\n{text}".encode())) == 2
    assert isinstance(
        taken("-", given=json.dumps(SAID, indent=1).encode()), Conversation
    )


def test_a_list_is_short_for_messages(tmp_path: Path) -> None:
    """A bare list of messages is a chat."""
    file = tmp_path / "list.json"
    file.write_text(json.dumps(SAID["messages"]))

    assert len(taken(file).items) == 1


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses", "anthropic"])
def test_a_list_comes_back_as_one(name: str) -> None:
    """What was a bare list is one again, of messages or of items."""
    text = json.dumps(SAID["messages"]).encode()
    there = call("import", "--from", name, "-", given=text)

    assert call("export", "--to", name, "-", given=there.out).json == SAID["messages"]


def test_the_suffix_says_what_to_write(chat: Path, tmp_path: Path) -> None:
    """A document may be packed and compressed, as its name says."""
    document = tmp_path / "chat.msgpack.gzip"

    call("import", "--from", "openai-chat", chat, "-o", document)

    graph = decode(document.read_bytes(), Conversation)
    wanted = Codec(format="msgpack", compression="gzip").encode(graph)
    assert document.read_bytes() == wanted


def test_several_files_go_to_a_folder(chat: Path, tmp_path: Path) -> None:
    """Results are called as the files were."""
    other = lines(tmp_path, SAID)
    folder = tmp_path / "out"
    folder.mkdir()

    done = call("import", "--from", "openai-chat", chat, other, "-o", folder)

    assert done.code == 0
    assert sorted(file.name for file in folder.iterdir()) == ["chat.json", "train.json"]


def test_dots_in_names_stay(tmp_path: Path) -> None:
    """Only what a name says of the content is taken from it."""
    files = [tmp_path / name for name in ("chat.2026-05.jsonl", "chat.2026-06.json")]
    folder = tmp_path / "out"
    folder.mkdir()
    for file in files:
        file.write_text(json.dumps(SAID))

    call("import", "--from", "openai-chat", *files, "-o", folder)

    found = sorted(file.name for file in folder.iterdir())
    assert found == ["chat.2026-05.json", "chat.2026-06.json"]


def test_bytes_beyond_a_document_need_a_store() -> None:
    """The error says how to name one here, and nothing of Python."""
    url = f"data:image/png;base64,{'aGVs' * 3_000_000}"
    part = {"type": "image_url", "image_url": {"url": url}}
    given = json.dumps([{"role": "user", "content": [part]}]).encode()

    done = call("import", "--from", "openai-chat", "-", given=given)

    assert done.code == 1
    assert done.err.endswith("name a store for them: --store ALIAS=ROOT\n")


def test_larger_bytes_go_to_a_store(tmp_path: Path) -> None:
    """With a store, the document holds handles; export reads them again."""
    url = "data:image/png;base64," + "aGVs" * 20_000
    part = {"type": "image_url", "image_url": {"url": url}}
    given = {"messages": [{"role": "user", "content": [part]}]}
    store, document = f"media={tmp_path / 'store'}", tmp_path / "d.json"
    text = json.dumps(given).encode()

    call(
        "import", "--from", "openai-chat", "-", "--store", store, "-o", document,
        given=text,
    )  # fmt: skip
    back = call("export", "--to", "openai-chat", document, "--store", store)

    assert document.stat().st_size < 2_000
    assert back.json == given


def test_pretty_has_lines(chat: Path, tmp_path: Path) -> None:
    """An exported conversation can be broken into lines."""
    document = tmp_path / "d.json"
    call("import", "--from", "openai-chat", chat, "-o", document)

    assert "\n  " in call("export", "--to", "openai-chat", document, "--pretty").text


def test_half_a_character_is_escaped() -> None:
    """What UTF-8 has no bytes for is escaped, as it came."""
    text = b'{"messages":[{"role":"user","content":"\\ud800"}]}'
    there = call("import", "--from", "openai-chat", "-", given=text)

    assert call("export", "--to", "openai-chat", "-", given=there.out).json == (
        json.loads(text)
    )


# What is told


def test_tells_what_is_kept_aside(chat: Path, tmp_path: Path) -> None:
    """The table names what no primitive has a place for, and where it lies."""
    document = tmp_path / "d.json"
    done = call("import", "--from", "openai-chat", chat, "-o", document, width=120)

    assert "1 conversation · 1 Message" in done.text
    assert "field mood" in done.text
    path = "$.items[0].stash.data.openai_chat.fields.mood"
    assert path in done.text
    assert call("inspect", document, "--path", path).code == 0


def test_places_of_what_is_kept_are_not_broken(chat: Path, tmp_path: Path) -> None:
    """On a narrow terminal they stand on a line of their own, and can be copied."""
    done = call(
        "import", "--from", "openai-chat", chat, "-o", tmp_path / "d.json", width=60
    )

    assert "kept aside in stashes, with its first place\n" in done.text
    lines = done.text.splitlines()
    assert "      $.items[0].stash.data.openai_chat.fields.mood" in lines


@pytest.mark.parametrize("name", ["openai-chat", "anthropic", "langchain", "auto"])
def test_document_is_no_conversation_to_import(name: str) -> None:
    """It is one already, which is said, whatever format was named."""
    done = call("import", "--from", name, "-", given=encode(["x"]))

    assert done.code == 1
    assert "standard input: this is a graphcodec document already" in done.err


def test_tells_aside_when_the_document_comes_out(chat: Path) -> None:
    """The standard output holds the document alone."""
    done = call("import", "--from", "openai-chat", chat)

    assert isinstance(decode(done.out), Conversation)
    assert "field mood" in done.err


def test_tells_scripts(tmp_path: Path) -> None:
    """With --json, each thing that is kept has its path, its source and its reason."""
    url = "https://example.org/a.png?sig=1"
    part = {"type": "image_url", "image_url": {"url": url}}
    file = lines(tmp_path, SAID, {"messages": [{"role": "user", "content": [part]}]})

    done = call(
        "import", "--from", "openai-chat", file, "--json", "-o", tmp_path / "d.json"
    )
    [report] = done.json["files"]

    assert (report["conversations"], report["items"]) == (2, {"Message": 1})
    assert [kept["what"] for kept in report["kept"]] == ["field mood", "user"]
    assert [kept["source"] for kept in report["kept"]] == ["$.messages[0]"] * 2
    assert report["kept"][1]["path"].startswith("$[1].stash.data.openai_chat.kept[0]")


# What is refused


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"{", "standard input: this is no JSON"),
        (b"[" * 200_000, "standard input: this is no JSON"),
        (b'{"a":1,"a":2}', "standard input: the key 'a' stands twice in one map"),
        (b'{"messages":[NaN]}', "standard input: JSON has no NaN"),
        (b"\xff", "standard input: this is no JSON"),
        (b"", "standard input: this is no JSON: there is nothing in it"),
        (b'{"a":', "this is no JSON: Expecting value at column 6"),
        (b'{\n"a":}', "this is no JSON: Expecting value at line 2, column 5"),
        (b'[]\n{"a":\n', "line 2: this is no JSON: Expecting value at column 6"),
        (b"data: {}\n\ndata: [DONE]\n", "a stream of events: put the pieces together"),
        (b'{"messages":[{"role":"bot"}]}', "tool, function, not 'bot' (at $.messages"),
        (b'[{"messages":[]}]', "write each on a line of its own"),
        (b'{"messages":[]}\n{"messages":3}', "standard input: line 2: messages must"),
        (b'[]\n{"messages":[1]}\n', "must be a dict, not int (at $.messages[0])"),
    ],
)
def test_refuses_what_is_no_chat(text: bytes, words: str) -> None:
    """The message names the file, the line and the place in the conversation."""
    done = call("import", "--from", "openai-chat", "-", given=text)

    assert (done.code, done.out) == (1, b"")
    assert words in done.err


def test_one_wrong_file_stops_no_other(chat: Path, tmp_path: Path) -> None:
    """The exit code is 1, and what is right is there."""
    wrong, folder = tmp_path / "wrong.json", tmp_path / "out"
    wrong.write_text("{}")
    folder.mkdir()

    done = call("import", "--from", "openai-chat", wrong, chat, "-o", folder)

    assert done.code == 1
    assert [file.name for file in folder.iterdir()] == ["chat.json"]


@pytest.mark.parametrize(
    ("graph", "words"),
    [
        (Registry(), "this is no Conversation, but a Registry (at $)"),
        ([1], "this is no Conversation, but an int (at $[0])"),
    ],
)
def test_refuses_to_export_other_things(graph: object, words: str) -> None:
    """Only conversations have a form in the formats of others."""
    done = call("export", "--to", "openai-chat", "-", given=encode(graph))

    assert (done.code, done.out) == (1, b"")
    assert words in done.err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["{chat}", "{chat}"], "several files need a folder"),
        (["-", "-", "-o", "{folder}"], "the standard input can be read once"),
        (["-", "-o", "{folder}"], "has no name to go by"),
        (["{chat}", "-o", "{chat}"], "is read and would be replaced"),
        (["{chat}", "--json"], "--json needs --output"),
        (["{chat}", "--store", "a=b", "--store", "c=d"], "bytes go to one store"),
        (["{chat}", "{folder}/chat.json"], "does not exist"),
    ],
)
def test_refuses_calls_that_make_no_sense(
    args: list[str], words: str, chat: Path, tmp_path: Path
) -> None:
    """A call that can't be meant ends with 2, before anything is read."""
    folder = tmp_path / "out"
    folder.mkdir()
    filled = [arg.format(chat=chat, folder=folder) for arg in args]

    done = call("import", "--from", "openai-chat", *filled)

    assert done.code == 2
    assert words in " ".join(done.err.split())


def test_the_same_name_twice(chat: Path, tmp_path: Path) -> None:
    """Two files that would become one are refused."""
    there, folder = tmp_path / "there", tmp_path / "out"
    there.mkdir()
    folder.mkdir()
    other = there / "chat.jsonl"
    other.write_text(json.dumps(SAID))

    done = call("import", "--from", "openai-chat", chat, other, "-o", folder)

    assert done.code == 2
    assert "two files would become" in done.err


# Guessing the format


SIGNS: list[tuple[object, str]] = [
    ({"messages": [{"role": "system", "content": "x"}]}, "openai-chat"),
    ([{"role": "user", "content": "x"}, {"role": "tool"}], "openai-chat"),
    ([{"role": "assistant", "content": "x", "tool_calls": []}], "openai-chat"),
    ({"choices": [{"message": {"role": "assistant"}}]}, "openai-chat"),
    ({"input": "x"}, "openai-responses"),
    ({"output": []}, "openai-responses"),
    ([{"type": "reasoning"}], "openai-responses"),
    ({"messages": [], "system": "x"}, "anthropic"),
    ({"type": "message", "role": "assistant", "content": []}, "anthropic"),
    ([{"role": "user", "content": [{"type": "tool_result"}]}], "anthropic"),
    ([{"type": "human", "content": "x"}], "langchain"),
    ([{"type": "ai", "data": {"type": "ai", "content": "x"}}], "langchain"),
    ([{"lc": 1, "kwargs": {"type": "ai", "content": "x"}}], "langchain"),
    ([{"kind": "request", "parts": []}], "pydantic-ai"),
]


@pytest.mark.parametrize(("data", "name"), SIGNS)
def test_guesses_what_is_clear(data: object, name: str, tmp_path: Path) -> None:
    """What one format alone has tells which it is, and the report says so."""
    document = tmp_path / "d.json"
    done = call(
        "import", "--from", "auto", "-", "-o", document, "--json",
        given=json.dumps(data).encode(),
    )  # fmt: skip

    assert done.json["files"][0]["format"] == name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b'[{"role":"user","content":"Hi"}]', "nothing tells it"),
        (b"3", "nothing tells it"),
        (b'{"input":"a"}\n{"messages":[],"system":"b"}', "anthropic and openai-resp"),
    ],
)
def test_guesses_nothing_that_is_not_clear(text: bytes, words: str) -> None:
    """What is valid in several formats, or contradicts itself, is refused."""
    done = call("import", "--from", "auto", "-", given=text)

    assert (done.code, done.out) == (1, b"")
    assert words in done.err
    assert "--from openai-chat" in done.err


def test_exports_to_another_format_and_tells_what_is_lost(tmp_path: Path) -> None:
    """What the first format kept in stashes is not written, and listed."""
    there, document = tmp_path / "there.json", tmp_path / "d.json"
    call(
        "import",
        "--from",
        "openai-chat",
        "-",
        "-o",
        document,
        given=b"""
        {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    """,
    )

    done = call("export", "--to", "anthropic", document, "-o", there, "--json")

    assert json.loads(there.read_text()) == {
        "messages": [{"role": "user", "content": "Hi"}]
    }
    assert [kept["what"] for kept in done.json["files"][0]["kept"]] == ["field model"]


THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
SAYS = {"type": "text", "text": "Hello!"}
THINKS = [
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": [THOUGHT, SAYS, THOUGHT]},
]


def test_leaves_out_what_has_no_place_and_lists_it(tmp_path: Path) -> None:
    """With --leave-out all else is written, and a script is told what is not."""
    there, document = tmp_path / "there.json", tmp_path / "d.json"
    given = json.dumps(THINKS).encode()
    call("import", "--from", "anthropic", "-", "-o", document, given=given)

    refused = call("export", "--to", "openai-chat", document)
    done = call(
        "export", "--to", "openai-chat", document, "-o", there, "--leave-out", "--json"
    )

    assert refused.code == 1
    assert "no place for a Thought, nor for 1 more that it holds" in refused.err
    assert "--leave-out" in refused.err
    assert done.code == 0
    assert json.loads(there.read_text())["messages"] == [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello!"},
    ]
    assert done.json["files"][0]["left_out"] == [
        {"what": "a Thought", "path": "$.items[1]"},
        {"what": "a Thought", "path": "$.items[3]"},
    ]


def test_tells_that_a_call_failed(tmp_path: Path) -> None:
    """A format that can't say so gets the rest, and the report says what is lost."""
    there, document = tmp_path / "there.json", tmp_path / "d.json"
    asked: dict[str, Any] = {
        "type": "tool_use",
        "id": "c",
        "name": "count",
        "input": {},
    }
    answer = {"type": "tool_result", "tool_use_id": "c", "content": "no such sheep"}
    given: list[Any] = [
        {"role": "assistant", "content": [asked]},
        {"role": "user", "content": [{**answer, "is_error": True}]},
    ]
    data = json.dumps(given).encode()
    call("import", "--from", "anthropic", "-", "-o", document, given=data)

    done = call("export", "--to", "openai-chat", document, "-o", there, "--json")

    assert done.code == 0
    assert json.loads(there.read_text())["messages"][-1]["content"] == "no such sheep"
    assert done.json["files"][0]["left_out"] == [
        {"what": "that a call failed", "path": "$.items[0].is_error"}
    ]


def test_tells_what_is_left_out_of_lines(tmp_path: Path) -> None:
    """The list goes to the standard error, with paths from the root of the document."""
    file, document = lines(tmp_path, THINKS[:1], THINKS), tmp_path / "d.json"
    call("import", "--from", "anthropic", file, "-o", document)

    done = call("export", "--to", "openai-chat", document, "--leave-out")

    assert done.code == 0
    assert len(done.text.splitlines()) == 2
    told = " ".join(done.err.split())
    assert "left out, with its first place 2 a Thought $[1].items[1]" in told
