"""Files of examples for fine-tuning, as the guides of OpenAI and Azure have them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from graphcodec import Conversation, ToolCall, decode
from graphcodec.adapters import to_anthropic
from tests.cli.calling import call

if TYPE_CHECKING:
    from pathlib import Path

WEATHER: dict[str, Any] = {
    "name": "get_weather",
    "description": "Tell the weather of a place.",
    "parameters": {
        "type": "object",
        "properties": {"place": {"type": "string"}},
        "required": ["place"],
    },
}
TOOL = {"type": "function", "function": WEATHER}
FUNCTION = {"name": "get_weather", "arguments": '{"place": "Bonn, Germany"}'}
ASKS = {"id": "call_1", "type": "function", "function": FUNCTION}
ASKED = {"role": "user", "content": "What is the weather in Bonn?"}

EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "weights": [
        {
            "messages": [
                {"role": "system", "content": "You are dry."},
                {"role": "user", "content": "Where is Bonn?"},
                {"role": "assistant", "content": "In Germany", "weight": 0},
                {"role": "user", "content": "Drier."},
                {"role": "assistant", "content": "On a map.", "weight": 1},
            ]
        }
    ],
    "tools": [
        {
            "messages": [ASKED, {"role": "assistant", "tool_calls": [ASKS]}],
            "parallel_tool_calls": False,
            "tools": [TOOL],
        },
        {
            "messages": [
                ASKED,
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [ASKS, {**ASKS, "id": "call_2"}],
                    "weight": 1,
                },
                {"role": "tool", "tool_call_id": "call_1", "content": "21"},
                {"role": "tool", "tool_call_id": "call_2", "content": "21"},
                {"role": "assistant", "content": "21 degrees."},
            ],
            "tools": [TOOL],
            "parallel_tool_calls": True,
        },
    ],
    "functions": [
        {
            "messages": [ASKED, {"role": "assistant", "function_call": FUNCTION}],
            "functions": [WEATHER],
        },
        {
            "messages": [
                ASKED,
                {
                    "role": "assistant",
                    "content": None,
                    "weight": 0,
                    "function_call": FUNCTION,
                },
                {"role": "function", "name": "get_weather", "content": "21"},
                {"role": "assistant", "content": "21 degrees."},
            ],
            "functions": [WEATHER],
        },
    ],
    "pictures": [
        {
            "messages": [
                {"role": "user", "content": "What is this?"},
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "image_url",
                            "image_url": {"url": "https://example.org/a.jpg"},
                        },
                        {
                            "type": "image_url",
                            "image_url": {
                                "url": "data:image/png;base64,iVBORw0KGgo=",
                                "detail": "low",
                            },
                        },
                    ],
                },
                {"role": "assistant", "content": "Cheese"},
            ]
        }
    ],
    "reinforcement": [
        {
            "messages": [{"role": "developer", "content": "Add."}, ASKED],
            "reference_answer": {"sum": 3},
        }
    ],
}


def written(path: Path, examples: list[dict[str, Any]], *, azure: bool = False) -> Path:
    """Write a file of examples; for Azure, with a mark at its beginning."""
    lines = "".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in examples)
    if azure:
        path.write_bytes(b"\xef\xbb\xbf" + lines.replace("\n", "\r\n").encode())
    else:
        path.write_bytes(lines.encode())
    return path


@pytest.mark.parametrize("azure", [False, True])
@pytest.mark.parametrize("kind", EXAMPLES)
def test_examples_come_back(tmp_path: Path, kind: str, *, azure: bool) -> None:
    """All that there is in a line comes back, keys in order; each line is one talk."""
    file = written(tmp_path / "train.jsonl", EXAMPLES[kind], azure=azure)
    document, back = tmp_path / "train.gc", tmp_path / "back.jsonl"

    taken = call("import", "--from", "openai-chat", file, "-o", document, "--json")
    call("export", "--to", "openai-chat", document, "-o", back)

    assert taken.code == 0
    assert taken.json["files"][0]["conversations"] == len(EXAMPLES[kind])
    plain = written(tmp_path / "plain.jsonl", EXAMPLES[kind])
    assert back.read_bytes() == plain.read_bytes()


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("weights", ["field weight"]),
        (
            "tools",
            [
                *("field content", "field parallel_tool_calls", "field tools"),
                "field weight",
            ],
        ),
        ("functions", ["field content", "field functions", "field weight"]),
        ("pictures", ["field detail"]),
        ("reinforcement", ["field reference_answer"]),
    ],
)
def test_what_is_kept_aside_is_listed(
    tmp_path: Path, kind: str, expected: list[str]
) -> None:
    """The report has every field that no primitive has a place for."""
    file = written(tmp_path / "train.jsonl", EXAMPLES[kind])

    taken = call(
        *("import", "--from", "openai-chat", file, "-o", tmp_path / "d", "--json")
    )

    kept = taken.json["files"][0]["kept"]
    assert sorted({each["what"] for each in kept}) == expected


def test_functions_become_calls_elsewhere(tmp_path: Path) -> None:
    """An example in the old words can be exported to a format that has only tools."""
    file = written(tmp_path / "train.jsonl", EXAMPLES["functions"])
    call("import", "--from", "openai-chat", file, "-o", tmp_path / "d")

    _, talk = decode((tmp_path / "d").read_bytes(), list[Conversation])

    assert [type(item).__name__ for item in talk.items] == [
        *("Message", "ToolCall", "Message")
    ]
    asked = talk.items[1]
    assert isinstance(asked, ToolCall)
    assert asked.args == {"place": "Bonn, Germany"}
    assert to_anthropic(talk)["messages"][2] == {  # type: ignore[index]
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "msg-1-call-0", "content": "21"}
        ],
    }


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        (
            {
                "input": {"messages": [ASKED], "tools": []},
                "preferred_output": [{"role": "assistant", "content": "21."}],
                "non_preferred_output": [{"role": "assistant", "content": "Hm."}],
            },
            "a pair of answers: add one of them to the messages of its input",
        ),
        (
            {"conversations": [{"from": "human", "value": "Hi"}]},
            "other words: make messages with role and content of them",
        ),
        (
            {"custom_id": "1", "method": "POST", "body": {"messages": [ASKED]}},
            "a line of a batch: take the body out of it",
        ),
    ],
)
def test_other_files_of_lines_are_refused(
    tmp_path: Path, line: dict[str, Any], hint: str
) -> None:
    """The error says which line, what it is, and what to do."""
    file = written(tmp_path / "train.jsonl", [EXAMPLES["weights"][0], line])

    done = call("import", "--from", "openai-chat", file, "-o", tmp_path / "d")

    assert done.code == 1
    assert "line 2: messages must be a list" in done.err
    assert hint in " ".join(done.err.split())
    assert not (tmp_path / "d").exists()
