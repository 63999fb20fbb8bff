"""A conversation that came from one format, written in another one."""

from __future__ import annotations

from typing import Any

import pytest

from graphcodec import Conversation, Message, ToolCall
from graphcodec.adapters import from_openai_chat
from graphcodec.adapters._formats import FORMATS

formats = pytest.mark.parametrize("to", FORMATS)


def asks(name: str) -> dict[str, Any]:
    """Return a call of a tool."""
    function = {"name": "count", "arguments": "{}"}
    return {"id": name, "type": "function", "function": function}


def answer(name: str) -> dict[str, Any]:
    """Return what the tool gave back."""
    return {"role": "tool", "tool_call_id": name, "content": f"{name} of them"}


def order(conversation: Conversation) -> list[str]:
    """Return what was said and called, in order."""
    said: list[str] = []
    for item in conversation.items:
        match item:
            case Message(content=content) if content is not None:
                said.append(content.text)
            case ToolCall():
                said.append(f"call {item.id}")
            case _:
                said.append("?")
    return said


CHAT: list[dict[str, Any]] = [
    {"role": "user", "content": "How many?"},
    {"role": "assistant", "content": "I look.", "tool_calls": [asks("a"), asks("b")]},
    answer("a"),
    answer("b"),
    {"role": "assistant", "content": "I look again.", "tool_calls": [asks("c")]},
    answer("c"),
    {"role": "assistant", "content": "Three."},
    {"role": "user", "content": "Thanks."},
]


@formats
def test_what_follows_an_answer_stands_behind_it(to: str) -> None:
    """The order of what was said, called and answered is the same everywhere."""
    taken = from_openai_chat(CHAT)

    again = FORMATS[to].read(FORMATS[to].write(taken))

    assert order(again) == [
        *("How many?", "I look.", "call a", "call b"),
        *("I look again.", "call c", "Three.", "Thanks."),
    ]
    calls = [item for item in again.items if isinstance(item, ToolCall)]
    assert [call.is_complete for call in calls] == [True, True, True]


@pytest.mark.parametrize(
    ("to", "key", "asked", "told"),
    [
        ("anthropic", "role", "assistant", "user"),
        ("pydantic-ai", "kind", "response", "request"),
    ],
)
def test_answers_stand_right_behind_their_calls(
    to: str, key: str, asked: str, told: str
) -> None:
    """No message has both a call and what was said when it was answered."""
    taken = from_openai_chat(CHAT)
    data: Any = FORMATS[to].write(taken)
    entries: Any = data["messages"] if to == "anthropic" else data

    who = [entry[key] for entry in entries]
    assert who == [told, asked, told, asked, told, asked, told]
