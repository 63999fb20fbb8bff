"""Conversations that the Responses API never saw, or that were changed since."""

from __future__ import annotations

from typing import Any

import pytest

from graphcodec import (
    BytesReader,
    Conversation,
    Media,
    Message,
    Registry,
    Retrievable,
    Thought,
    ToolCall,
    errors,
)
from graphcodec.adapters import (
    from_openai_responses,
    kept_aside,
    to_openai_responses,
)
from graphcodec_resolvers import HttpReader
from tests.adapters.test_openai_responses import INPUTS, NOW, answer, asked, user


def made(*items: Any, **changes: Any) -> Conversation:
    """Return a conversation that the API never saw."""
    return Conversation(id="made", items=items, **changes)


def said(words: str, role: Any = "user", **changes: Any) -> Message:
    """Return a message that the API never saw."""
    return Message(
        id="m", role=role, content=words, created_at=NOW, updated_at=NOW, **changes
    )


def thought(**changes: Any) -> Thought:
    """Return a thought that the API never saw."""
    return Thought(id="t", created_at=NOW, updated_at=NOW, **changes)


def called(**changes: Any) -> ToolCall:
    """Return a call that the API never saw."""
    fields: dict[str, Any] = {"id": "c", "tool": "look", "args": {"a": 1}}
    fields |= {"is_complete": True, "is_error": False, "completed_at": NOW, **changes}
    return ToolCall(created_at=NOW, updated_at=NOW, **fields)


def media(kind: Any, mime_type: str, reader: Any = None) -> Media:
    """Return a media that the API never saw."""
    return Media.user_attachment(
        kind=kind,
        mime_type=mime_type,
        filename="a",
        reader=reader or BytesReader(b"hi"),
    )


def test_writes_a_conversation_made_by_hand() -> None:
    """Without notes, everything is written in the usual way."""
    remote = media("document", "application/pdf", HttpReader("https://e.org/a.pdf"))
    files = [media("image", "image/png"), media("document", "text/csv"), remote]
    written = to_openai_responses(
        made(
            said("Hi", attachments=files),
            thought(content="hm"),
            said("Let me see.", role="assistant"),
            called(results="1"),
            called(id="d", results=[media("image", "image/png")]),
            instructions=["Be brief."],
        )
    )
    picture = {"type": "input_image", "detail": "auto"}
    picture["image_url"] = "data:image/png;base64,aGk="

    assert written["input"] == [
        {"role": "system", "content": "Be brief."},
        user(
            {"type": "input_text", "text": "Hi"},
            picture,
            {
                "type": "input_file",
                "filename": "a",
                "file_data": "data:text/csv;base64,aGk=",
            },
            {"type": "input_file", "file_url": "https://e.org/a.pdf"},
        ),
        {
            "id": "t",
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "hm"}],
        },
        {"role": "assistant", "content": "Let me see."},
        asked("c"),
        answer("c", "1"),
        asked("d"),
        answer("d", [picture]),
    ]
    INPUTS.validate_python(written["input"])


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (
            thought(payload={"signature": "x"}, replay_compatibility="y"),
            "another vendor",
        ),
        (said("x", attachments=[media("audio", "audio/wav")]), "place for an audio"),
        (
            Retrievable(
                id="r",
                content="x",
                trust_tier="first-party",
                created_at=NOW,
                updated_at=NOW,
            ),
            "place for a Retrievable",
        ),
    ],
)
def test_refuses_what_has_no_place(item: Any, words: str) -> None:
    """Nothing is left out silently on the way out."""
    with pytest.raises(errors.UnencodableValueError, match=words) as caught:
        to_openai_responses(made(item))

    assert caught.value.path.startswith("$.items[0]")


def test_a_response_becomes_the_input_of_the_next_request() -> None:
    """What was read from a response can follow what it answered."""
    text: dict[str, object] = {"type": "output_text", "text": "Ho", "annotations": []}
    item: dict[str, object] = {"id": "m", "type": "message", "status": "completed"}
    item |= {"role": "assistant", "content": [text]}
    request = from_openai_responses({"input": "Hi", "model": "m"})
    response = from_openai_responses({"output": [item]})
    both = request.replace(items=[*request.items, *response.items, said("More.")])

    assert to_openai_responses(both) == {
        "input": [
            {"role": "user", "content": "Hi"},
            item,
            {"role": "user", "content": "More."},
        ],
        "model": "m",
    }


def test_changed_json_must_be_json() -> None:
    """Results that were JSON are JSON again, or refused."""
    items = [asked("a"), answer("a", {"x": 1})]
    old = from_openai_responses(items)
    [call] = old.items
    good = old.replace(items=[call.replace(results='{"x":2}')])
    bad = old.replace(items=[call.replace(results="{")])

    assert to_openai_responses(good)["input"] == [asked("a"), answer("a", {"x": 2})]
    with pytest.raises(errors.UnencodableValueError, match="must be JSON"):
        to_openai_responses(bad)


def test_changed_arguments_of_built_in_tools() -> None:
    """A built-in tool takes its own arguments alone."""
    item: Any = {"id": "ws", "type": "web_search_call", "action": {}}
    old = from_openai_responses([item])
    new = old.items[0].replace(args={"action": {}, "more": 1})

    with pytest.raises(errors.UnencodableValueError, match="argument 'more'"):
        to_openai_responses(old.replace(items=[new]))


def test_an_image_that_went_to_an_address() -> None:
    """A file is written as what it is now."""
    old = from_openai_responses(
        [user({"type": "input_file", "file_data": "data:text/csv;base64,aGk="})]
    )
    item = old.items[0]
    assert isinstance(item, Message)
    url = "https://example.org/a.csv"
    moved = item.attachments[0].replace(reader=HttpReader(url))
    new = old.replace(items=[item.replace(attachments=[moved])])

    assert to_openai_responses(new)["input"] == [
        user({"type": "input_file", "file_url": url})
    ]


NOTES: list[object] = [
    3,
    {"at": "x", "fields": 3, "order": [[1], "content"], "without": 7, "parts": 5},
    {"at": -1, "type": "shell_call", "answer": 1, "key": 3, "result": 1},
    {"fields": {1: 2}, "instructions": {}, "kept": [1, {"kept": 3}], "text": True},
    {"type": "file_search_call", "answer": {"type": "x", "single": True}},
    {"answer": {"type": "program_output", "by": "id"}, "section": "?"},
]


@pytest.mark.parametrize("note", NOTES)
def test_notes_that_make_no_sense_do_no_harm(note: object) -> None:
    """A stash is data of a stranger: what is odd in it is as if it were not there."""
    stash = Registry({"openai_responses": note})
    odd = made(
        said("Hi", stash=stash),
        thought(content="x", stash=stash),
        called(results="x", stash=stash),
        instructions=["i"],
        stash=stash,
    )
    kept_aside(odd)
    written: Any = to_openai_responses(odd)["input"]

    assert any(item.get("content") == "Hi" for item in written)
