"""What another format has no place for is named all at once, and can be left out."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime
from typing import Any

import pytest

from graphcodec import (
    BytesReader,
    Conversation,
    Media,
    Memory,
    Message,
    Thought,
    Tokenizable,
    ToolCall,
    errors,
)
from graphcodec.adapters import (
    LeftOut,
    fitted,
    from_openai_responses,
    to_anthropic,
    to_openai_chat,
)

NOW = datetime(2026, 5, 4, tzinfo=UTC)
TIMES: Any = {"created_at": NOW, "updated_at": NOW}


def media(kind: Any = "video", mime_type: str = "video/mp4") -> Media:
    """Return a media; a video has no place anywhere."""
    return Media.user_attachment(
        kind=kind, mime_type=mime_type, filename="a", reader=BytesReader(b"hi")
    )


def message(*attachments: Media, content: str | None = None) -> Message:
    """Return a message of the user."""
    return Message(
        id="m", role="user", content=content, attachments=attachments, **TIMES
    )


def answered(results: Any) -> ToolCall:
    """Return a call with an answer."""
    state: Any = {"is_complete": True, "is_error": False, "completed_at": NOW}
    return ToolCall(id="c", tool="t", args={}, results=results, **state, **TIMES)


def thought() -> Thought:
    """Return a thought that nobody sealed."""
    return Thought(id="t", content="hm", **TIMES)


def memory() -> Memory:
    """Return a memory."""
    return Memory(id="m", content="x", confidence=1, importance=1, **TIMES)


IMAGE = media("image", "image/png")


def test_the_error_names_everything() -> None:
    """The places are those of all things, and survive pickling."""
    items: list[Any] = [
        thought(),
        message(media(), IMAGE, media()),
        answered((IMAGE, IMAGE)),
    ]
    whole = Conversation(id="c", items=items, memories=(memory(),))

    with pytest.raises(errors.NoPlaceError) as caught:
        to_openai_chat(whole)

    assert str(caught.value).startswith(
        "the chat format has no place for a Memory, nor for 5 more that it holds (at $."
    )
    assert pickle.loads(pickle.dumps(caught.value)).places == (
        ("a Memory", "$.memories"),
        ("a Thought", "$.items[0]"),
        ("a video", "$.items[1].attachments[0]"),
        ("a video", "$.items[1].attachments[2]"),
        ("media that a tool gave back", "$.items[2].results[0]"),
        ("media that a tool gave back", "$.items[2].results[1]"),
    )


def test_what_fits_stays() -> None:
    """Texts and media beside what has no place are kept, in order."""
    items: list[Any] = [
        thought(),
        message(media(), IMAGE, content="Hi"),
        answered(IMAGE),
    ]
    whole = Conversation(id="c", items=items, memories=(memory(),))

    rest, left = fitted(whole, "openai-chat")

    assert [type(item) for item in rest.items] == [Message, ToolCall]
    assert rest.items[0].attachments == (IMAGE,)  # type: ignore[union-attr]
    assert rest.items[1].results == Tokenizable("")  # type: ignore[union-attr]
    assert len(left) == 4
    assert to_openai_chat(rest)["messages"]
    assert len(whole.items) == 3


def test_what_fits_whole_is_the_same() -> None:
    """Nothing is copied where nothing is left out."""
    whole = Conversation(id="c", items=[message(IMAGE)])

    assert fitted(whole, "anthropic") == (whole, ())


def test_a_message_of_nothing_else_goes() -> None:
    """A message can't be empty."""
    rest, left = fitted(Conversation(id="c", items=[message(media())]), "anthropic")

    assert rest.items == ()
    assert left == (LeftOut("a video", "$.items[0].attachments[0]"),)


def test_the_same_bytes_in_two_places() -> None:
    """Another media that is equal is found by itself, and one media twice at once."""
    one = media()
    items = [message(one, one, content="a"), message(media(), content="b")]

    _, left = fitted(Conversation(id="c", items=items), "anthropic")

    assert [each.path for each in left] == [
        "$.items[0].attachments[0]",
        "$.items[0].attachments[1]",
        "$.items[1].attachments[0]",
    ]


def test_texts_beside_media_of_a_tool_stay() -> None:
    """Of an answer the plain texts are written, without what is left out."""
    plain = media("document", "text/plain")
    whole = Conversation(id="c", items=[answered((plain, media()))])

    rest, _ = fitted(whole, "anthropic")

    assert to_anthropic(rest)["messages"][-1] == {  # type: ignore[index]
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c", "content": "hi"}],
    }


def failed(name: str = "c") -> ToolCall:
    """Return a call that failed."""
    return answered("no such sheep").replace(id=name, is_error=True)


@pytest.mark.parametrize("to", ["openai-chat", "openai-responses"])
def test_a_failure_that_a_format_can_not_tell(to: str) -> None:
    """What the tool said is written; that it failed is told, and no error."""
    whole = Conversation(
        id="c", items=[thought(), failed(), answered("x"), failed("d")]
    )

    rest, left = fitted(whole, to)

    told = [each for each in left if each.what == "that a call failed"]
    assert [each.path for each in told] == [
        "$.items[1].is_error",
        "$.items[3].is_error",
    ]
    calls = [item for item in rest.items if isinstance(item, ToolCall)]
    assert [call.is_error for call in calls] == [False, False, False]
    assert calls[0].results == Tokenizable("no such sheep")
    assert fitted(rest, to) == (rest, ())
    assert to_openai_chat(whole.replace(items=[failed()]))["messages"]


@pytest.mark.parametrize("to", ["anthropic", "langchain", "pydantic-ai"])
def test_a_failure_that_a_format_can_tell(to: str) -> None:
    """Where there is a word for it, nothing is left out."""
    whole = Conversation(id="c", items=[failed()])

    assert fitted(whole, to) == (whole, ())


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ({"type": "mcp_call", "id": "m", "error": "no such sheep"}, None),
        ({"type": "mcp_call", "id": "m", "status": "failed"}, None),
        (
            {"type": "shell_call", "call_id": "s", "action": {}},
            {"type": "shell_call_output", "call_id": "s", "status": "failed"},
        ),
    ],
)
def test_a_failure_that_came_from_the_format(
    said: dict[str, Any], answer: dict[str, Any] | None
) -> None:
    """What the Responses API says of a call of its own goes back, and is told."""
    given = [
        {"name": "count", "arguments": "{}", **said},
        *([answer] if answer else []),
    ]
    whole = from_openai_responses({"input": given})

    assert [getattr(item, "is_error", None) for item in whole.items] == [True]
    assert fitted(whole, "openai-responses") == (whole, ())
    assert fitted(whole, "openai-chat")[1] == (
        LeftOut("that a call failed", "$.items[0].is_error"),
    )


def test_other_errors_stay_errors() -> None:
    """What could not be written at all is no question of places."""
    call = answered("x").replace(args={"at": NOW})

    with pytest.raises(errors.UnencodableValueError, match="can't be written"):
        fitted(Conversation(id="c", items=[thought(), call]), "openai-chat")


def test_refuses_a_format_that_is_none() -> None:
    """The error says which there are."""
    with pytest.raises(
        errors.InvalidValueError, match=r"no format 'chat'; there are o"
    ):
        fitted(Conversation(id="c", items=[]), "chat")
