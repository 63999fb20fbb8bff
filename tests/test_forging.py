"""Tools with which a model looks into the artifacts of a conversation."""

from __future__ import annotations

import subprocess
import sys
import time
import tracemalloc
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, BinaryIO

import pytest

from graphcodec import (
    ArtifactTool,
    Conversation,
    Media,
    Retrievable,
    SpooledArtifact,
    SpooledJsonArtifact,
    SpooledMarkdownArtifact,
    Tokenizable,
    ToolCall,
    ToolRegistry,
    encode,
    errors,
    forge_tools,
)
from graphcodec.readers import BytesReader, Reader

NOW = datetime(2026, 1, 1, tzinfo=UTC)

LINES = [f"artifact_{name}" for name in ("head", "tail", "grep", "cat")] + [
    "artifact_byte_length",
    "artifact_line_count",
    "artifact_estimate_tokens",
]
JSON = [
    f"artifact_json_{name}"
    for name in ("type", "keys", "length", "get", "filter", "slice", "pluck")
]
MARKDOWN = [
    f"artifact_md_{name}"
    for name in (
        "frontmatter",
        "headings",
        "code_blocks",
        "sections",
        "links",
        "images",
        "text",
        "ast",
    )
]

LOG = SpooledArtifact(BytesReader(b"start\nERROR disk\nretry\n"))
RECORDS = SpooledJsonArtifact(
    BytesReader(b'{"age": 20, "name": "Ada"}\n{"age": 3, "name": "Bob"}\n')
)
MANUAL = SpooledMarkdownArtifact(
    BytesReader(b"---\na: 1\n---\n# One\n\n[x](y) ![p](q)\n\n```sh\nls\n```\n")
)


def call(call_id: str, results: Any, **changes: Any) -> ToolCall:
    """Return a call that has answered."""
    return ToolCall(
        id=call_id,
        tool="fetch",
        args={},
        is_complete=True,
        is_error=False,
        results=results,
        created_at=NOW,
        updated_at=NOW,
        completed_at=NOW,
        **changes,
    )


def talk(*items: Any) -> Conversation:
    """Return a conversation of these items."""
    return Conversation(id="talk", items=items)


def ask(items: Any, name: str, args: Mapping[str, object], **options: Any) -> str:
    """Return what a forged tool answers."""
    tool = forge_tools(talk(*items), **options).get(name)
    assert tool is not None
    answer = tool.call(args)
    assert isinstance(answer, Tokenizable)
    return answer.text


ITEMS = (call("c-log", LOG), call("c-json", RECORDS), call("c-md", MANUAL))


# Which tools there are


def test_each_kind_of_artifact_has_its_tools() -> None:
    """There are tools for lines, for JSON and for Markdown."""
    tools = forge_tools(talk(*ITEMS))

    assert isinstance(tools, ToolRegistry)
    assert [tool.name for tool in tools] == [*LINES, *JSON, *MARKDOWN]
    assert all(type(tool) is ArtifactTool for tool in tools)
    assert all(tool.ephemeral and not tool.trusted for tool in tools)
    assert {tool.on_collision for tool in tools} == {"replace"}


@pytest.mark.parametrize(
    ("artifact", "names"),
    [(LOG, LINES), (RECORDS, LINES + JSON), (MANUAL, LINES + MARKDOWN)],
)
def test_tools_are_there_if_something_can_answer(
    artifact: SpooledArtifact, names: list[str]
) -> None:
    """A tool that no artifact could answer is not made."""
    assert [tool.name for tool in forge_tools(talk(call("c", artifact)))] == names


def test_ids_are_those_that_can_answer() -> None:
    """The id is required, and one of those whose artifacts are of the right kind."""
    tools = {tool.name: tool.input_schema for tool in forge_tools(talk(*ITEMS))}

    def ids(name: str) -> object:
        schema: Any = tools[name]
        assert schema["required"][0] == "call_id"
        return schema["properties"]["call_id"]["enum"]

    assert ids("artifact_head") == ["c-log", "c-json", "c-md"]
    assert ids("artifact_json_get") == ["c-json"]
    assert ids("artifact_md_text") == ["c-md"]


def pending() -> ToolCall:
    """Return a call that has not answered."""
    return ToolCall(
        id="c",
        tool="fetch",
        args={},
        is_complete=False,
        is_error=False,
        created_at=NOW,
        updated_at=NOW,
    )


@pytest.mark.parametrize(
    "item",
    [
        pending(),
        call("c", "text"),
        call("c", LOG, from_artifact_tool=True),
        call(
            "c",
            [
                Media.tool_generated(
                    kind="image",
                    mime_type="image/png",
                    filename="a.png",
                    reader=BytesReader(b""),
                )
            ],
        ),
        Retrievable(
            id="r",
            content="text",
            trust_tier="first-party",
            created_at=NOW,
            updated_at=NOW,
        ),
    ],
    ids=["pending", "text", "of an artifact tool", "media", "passage"],
)
def test_without_artifacts_there_are_no_tools(item: Any) -> None:
    """What holds no artifact makes an empty registry."""
    assert len(forge_tools(talk(item))) == 0


def test_passages_are_asked_by_their_id() -> None:
    """An artifact may be the content of a passage."""
    passage = Retrievable(
        id="r-1",
        content=RECORDS,
        trust_tier="third-party-public",
        created_at=NOW,
        updated_at=NOW,
    )

    assert ask([passage], "artifact_json_length", {"call_id": "r-1"}) == "2"


def test_several_artifacts_are_told_apart() -> None:
    """A call with several artifacts takes the index of one."""
    items = [call("c", [LOG, RECORDS])]

    assert ask(items, "artifact_head", {"call_id": "c", "n": 1}) == "start"
    assert ask(items, "artifact_head", {"call_id": "c", "n": 1, "index": 1})[0] == "{"
    assert ask(items, "artifact_json_type", {"call_id": "c", "index": 1}) == "jsonl"
    assert ask(items, "artifact_json_type", {"call_id": "c"}) == (
        "Error: artifact 0 there is text"
    )
    mixed = [*items, call("d", LOG)]
    assert ask(mixed, "artifact_head", {"call_id": "d", "index": 1}) == (
        "Error: there is no artifact 1 under 'd'"
    )


# What they answer


@pytest.mark.parametrize(
    ("name", "args", "answer"),
    [
        ("artifact_head", {"n": 2}, "start\nERROR disk"),
        ("artifact_head", {}, "start\nERROR disk\nretry\n"),
        ("artifact_tail", {"n": 2}, "retry\n"),
        ("artifact_grep", {"pattern": "error", "flags": "i"}, "ERROR disk"),
        ("artifact_grep", {"pattern": "^e"}, "(empty list)"),
        ("artifact_cat", {"start": 1, "end": 3}, "ERROR disk\nretry"),
        ("artifact_cat", {}, "start\nERROR disk\nretry\n"),
        ("artifact_byte_length", {}, "23"),
        ("artifact_line_count", {}, "4"),
        ("artifact_estimate_tokens", {}, "6"),
        ("artifact_estimate_tokens", {"encoding": "claude"}, "7"),
    ],
)
def test_lines(name: str, args: dict[str, object], answer: str) -> None:
    """The tools for text answer with lines and numbers."""
    assert ask(ITEMS, name, {"call_id": "c-log", **args}) == answer


@pytest.mark.parametrize(
    ("name", "args", "answer"),
    [
        ("type", {}, "jsonl"),
        ("keys", {}, "age\nname"),
        ("length", {}, "2"),
        ("get", {"path": "$.name"}, "Ada\nBob"),
        ("get", {"path": "$.age"}, "[\n  20,\n  3\n]"),
        ("pluck", {"path": "$.x"}, "(empty list)"),
        (
            "filter",
            {"path": "$[?(@.age > 18)]"},
            '[\n  {\n    "age": 20,\n    "name": "Ada"\n  }\n]',
        ),
        ("slice", {"start": 1}, '[\n  {\n    "age": 3,\n    "name": "Bob"\n  }\n]'),
        ("slice", {"start": 5}, "(empty list)"),
    ],
)
def test_json(name: str, args: dict[str, object], answer: str) -> None:
    """The tools for JSON answer with text, or with JSON."""
    told = ask(ITEMS, f"artifact_json_{name}", {"call_id": "c-json", **args})
    assert told == answer


@pytest.mark.parametrize(
    ("name", "args", "words"),
    [
        ("frontmatter", {}, '"a": 1'),
        ("headings", {}, '"text": "One",\n    "start_line": 3,\n    "end_line": 11'),
        ("headings", {"depth": 2}, "(empty list)"),
        ("sections", {"depth": 1}, '"body_start_line": 4'),
        ("code_blocks", {"lang": "sh"}, '"lang": "sh",\n    "start_line": 7'),
        ("links", {"start_line": 4, "end_line": 6}, '"url": "y"'),
        ("links", {"start_line": 6}, "(empty list)"),
        ("images", {}, '"alt": "p"'),
        ("text", {"end_line": 4}, "One"),
        ("ast", {"start_line": 6}, '"type": "fence"'),
    ],
)
def test_markdown(name: str, args: dict[str, object], words: str) -> None:
    """The tools for Markdown answer with JSON that has line numbers."""
    told = ask(ITEMS, f"artifact_md_{name}", {"call_id": "c-md", **args})
    assert words in told
    assert "ls" not in told or name == "ast"


def test_nothing_is_told_as_undefined() -> None:
    """What there is not is told in words."""
    items = [call("c", SpooledMarkdownArtifact(BytesReader(b"# a")))]

    assert ask(items, "artifact_md_frontmatter", {"call_id": "c"}) == "(undefined)"


ODD: dict[str, tuple[bytes, str]] = {
    "CRLF": (b"a\r\nb\r\n", "a\r\nb\r\n"),
    "no newline": (b"a\nb", "a\nb"),
    "mark": (b"\xef\xbb\xbfa", "\ufeffa"),
    "not UTF-8": (b"a\xffb\xed\xa0\x80", "a\ufffdb\ufffd\ufffd\ufffd"),
    "odd ends": ("a\x85b\u2028c\rd".encode(), "a\x85b\u2028c\rd"),
    "empty": (b"", "(empty list)"),
}


@pytest.mark.parametrize(("data", "told"), ODD.values(), ids=ODD)
def test_odd_text_is_told(data: bytes, told: str) -> None:
    """Whatever the bytes are, the answer can be sent on."""
    items = [call("c", SpooledArtifact(BytesReader(data)))]

    answer = ask(items, "artifact_cat", {"call_id": "c"})
    assert answer == told
    answer.encode()


def test_long_answers_are_cut() -> None:
    """An answer has no more characters than were allowed, and says so."""
    items = [call("c", SpooledArtifact(BytesReader(b"x" * 1000 + b"\ny")))]

    assert ask(items, "artifact_cat", {"call_id": "c"}, max_chars=10) == (
        "xxxxxxxxxx\n… cut after 10 characters; ask for less"
    )
    assert len(ask(items, "artifact_cat", {"call_id": "c"})) == 1002
    records = [call("c", SpooledJsonArtifact(BytesReader(b'{"a": [1, 2, 3]}')))]
    told = ask(records, "artifact_json_get", {"call_id": "c", "path": "$"}, max_chars=9)
    assert told.startswith("[\n  {\n   \n… cut")


@pytest.mark.parametrize("wrong", [0, -1, 1_000_001, True, "50", None])
def test_answers_have_a_length(wrong: Any) -> None:
    """A number of characters that makes no sense is refused before a model asks."""
    with pytest.raises(errors.InvalidValueError, match="from 1 to 1,000,000"):
        forge_tools(talk(), max_chars=wrong)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("artifact_head", {}),
        ("artifact_tail", {}),
        ("artifact_cat", {"end": 9}),
        ("artifact_grep", {"pattern": "x"}),
    ],
)
def test_no_more_is_held_of_an_enormous_line(name: str, args: dict[str, Any]) -> None:
    """However long a line is, a model gets some of it, and little is held for that."""
    items = [call("c", SpooledArtifact(BytesReader(b"x" * 20_000_000)))]
    ask(ITEMS, name, {"call_id": "c-log", **args})

    tracemalloc.start()
    try:
        text = ask(items, name, {"call_id": "c", **args})
        held = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert "cut after 50,000 characters" in text
    assert held < 20_000_000


def test_many_lines_are_cut() -> None:
    """At most a thousand lines or records are given at once."""
    lines = [call("c", SpooledJsonArtifact(BytesReader(b"1\n" * 5000)))]

    asked: list[tuple[str, dict[str, object]]] = [
        ("artifact_cat", {"start": 10}),
        ("artifact_cat", {"start": 10, "end": 4000}),
        ("artifact_grep", {"pattern": "1"}),
        ("artifact_json_slice", {}),
        ("artifact_json_filter", {"path": "$"}),
        ("artifact_json_get", {"path": "$"}),
    ]
    for name, args in asked:
        assert ask(lines, name, {"call_id": "c", **args}).count("1") == 1000


# What goes wrong


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("artifact_head", {}),
        ("artifact_head", {"call_id": "other"}),
        ("artifact_head", {"call_id": "c-log", "n": 10**6}),
        ("artifact_tail", {"call_id": "c-log", "n": 0}),
        ("artifact_head", {"call_id": "c-log", "n": "2"}),
        ("artifact_head", {"call_id": "c-log", "more": 1}),
        ("artifact_grep", {"call_id": "c-log"}),
        ("artifact_grep", {"call_id": "c-log", "pattern": "a", "flags": "x"}),
        ("artifact_json_get", {"call_id": "c-log", "path": "$"}),
        ("artifact_md_headings", {"call_id": "c-md", "depth": 7}),
        ("artifact_estimate_tokens", {"call_id": "c-log", "encoding": "gpt2"}),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    name: str, args: dict[str, object]
) -> None:
    """The schema limits what a model can ask for."""
    with pytest.raises(errors.ToolArgsError, match="do not fit"):
        ask(ITEMS, name, args)


@pytest.mark.parametrize(
    ("name", "args", "words"),
    [
        ("artifact_grep", {"call_id": "c-log", "pattern": "("}, "not a regular expr"),
        (
            "artifact_json_get",
            {"call_id": "c-json", "path": "$[?__import__('os')]"},
            "not a JSONPath",
        ),
        ("artifact_json_get", {"call_id": "c-json", "path": "name"}, "not a JSONPath"),
    ],
)
def test_errors_are_told(name: str, args: dict[str, object], words: str) -> None:
    """A query that fails answers with the reason."""
    told = ask(ITEMS, name, args)
    assert told.startswith("Error: ")
    assert words in told


@pytest.mark.parametrize(
    ("artifact", "name", "args"),
    [
        (
            SpooledArtifact(BytesReader(b"a" * 60 + b"b")),
            "artifact_grep",
            {"pattern": "(a|aa)+$"},
        ),
        (
            SpooledJsonArtifact(BytesReader(b'["' + b"a" * 60 + b'b"]')),
            "artifact_json_filter",
            {"path": "$[?search(@, '(a|aa)+$')]"},
        ),
        (
            SpooledMarkdownArtifact(BytesReader(b"[a](" * 200_000)),
            "artifact_md_links",
            {},
        ),
    ],
)
def test_what_takes_for_ever_is_told(
    artifact: SpooledArtifact, name: str, args: dict[str, object]
) -> None:
    """A query that would take for ever answers after a second."""
    before = time.perf_counter()
    told = ask([call("c", artifact)], name, {"call_id": "c", **args})
    assert time.perf_counter() - before < 10
    assert "took more than 0.75 seconds" in told


def test_errors_of_stores_are_told_without_their_words() -> None:
    """What a store says may name its addresses, so only the kind of error is told."""

    class Broken(Reader):
        def open(self) -> BinaryIO:
            msg = "https://secret.example.org/?key=1"
            raise OSError(msg)

    told = ask(
        [call("c", SpooledArtifact(Broken()))], "artifact_tail", {"call_id": "c"}
    )
    assert told == "Error: OSError"


def test_forged_tools_stay_here() -> None:
    """The tools hold the artifacts, so they are not written; they are made anew."""
    tools = forge_tools(talk(*ITEMS))

    with pytest.raises(errors.HandlerNotEncodableError, match=r"\$\.tools\[0\]"):
        encode(tools)
    again = forge_tools(talk(*ITEMS))
    assert len(ToolRegistry.merge([tools, again])) == len(tools)


def test_nothing_is_loaded_before_it_is_needed() -> None:
    """Naming the function loads no package of an extra."""
    code = """
import sys
from graphcodec import forge_tools
print({"jsonpath", "markdown_it", "yaml", "json5", "jsonschema"} & set(sys.modules))
"""
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"
