"""What Anthropic's Messages API takes and gives becomes conversations, and back."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import anthropic.types
import pytest
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from hypothesis import HealthCheck, given, settings
from pydantic import TypeAdapter

from graphcodec import (
    BytesReader,
    Conversation,
    Media,
    Message,
    Registry,
    Retrievable,
    SpooledArtifact,
    Thought,
    Tokenizable,
    ToolCall,
    decode,
    encode,
    errors,
)
from graphcodec.adapters import from_anthropic, kept_aside, to_anthropic
from graphcodec_resolvers import HttpReader
from tests.adapters.blocks import conversations

NOW = datetime(2026, 5, 4, tzinfo=UTC)
REQUESTS: TypeAdapter[Any] = TypeAdapter(MessageCreateParamsNonStreaming)
PIXEL = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}


def text(words: str, **more: object) -> dict[str, object]:
    """Return a block of text."""
    return {"type": "text", "text": words, **more}


def user(*blocks: object) -> dict[str, object]:
    """Return a message of the user."""
    return {"role": "user", "content": list(blocks)}


def model(*blocks: object) -> dict[str, object]:
    """Return a message of the model."""
    return {"role": "assistant", "content": list(blocks)}


def asked(name: str) -> dict[str, object]:
    """Return a use of the tool ``look``."""
    return {"type": "tool_use", "id": name, "name": "look", "input": {"a": 1}}


def answer(name: str, content: object, **more: object) -> dict[str, object]:
    """Return the result of a use."""
    return {"type": "tool_result", "tool_use_id": name, "content": content, **more}


def read(*messages: Any, **more: Any) -> Conversation:
    """Return the conversation of a request that is valid and comes back."""
    data = {"model": "example-1", "max_tokens": 9, "messages": list(messages), **more}
    REQUESTS.validate_python(data)
    taken = from_anthropic(data)
    there = decode(encode(taken), Conversation)
    assert json.dumps(to_anthropic(there)) == json.dumps(data)
    return taken


def one(*messages: Any) -> Any:
    """Return the only item of the conversation of such a request."""
    [found] = read(*messages).items
    return found


# There and back


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(conversations)
def test_anything_comes_back(data: dict[str, object]) -> None:
    """What is generated comes back with the same types and the same order of keys."""
    assert json.dumps(to_anthropic(from_anthropic(data))) == json.dumps(data)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(conversations)
def test_anything_comes_back_from_bytes(data: dict[str, object]) -> None:
    """Nothing is lost on the wire either."""
    there = decode(encode(from_anthropic(data)), Conversation)

    assert json.dumps(to_anthropic(there)) == json.dumps(data)


def test_a_response_is_a_message() -> None:
    """The library takes back what it gave; usage and the rest are in the stash."""
    data: dict[str, object] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "example-1",
        "content": [text("Hi", citations=None)],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": 5},
    }
    response = anthropic.types.Message.model_validate(data)
    found = from_anthropic(response.model_dump(mode="json", exclude_unset=True))
    back = anthropic.types.Message.model_validate(to_anthropic(found))
    stash = found.items[0].stash

    assert back == response
    assert found.id == "msg_1"
    assert stash.get("anthropic.message.fields.stop_reason") == "end_turn"
    assert stash.get("anthropic.message.fields.usage.output_tokens") == 5


# Where things go


def test_prompts_are_instructions() -> None:
    """A prompt is one text, however many blocks it has."""
    hint = {"type": "ephemeral"}
    blocks = [text("Be brief."), text("Be kind.", cache_control=hint)]

    assert read(system="Be brief.").instructions == (Tokenizable("Be brief."),)
    assert read(system=blocks).instructions == (Tokenizable("Be brief.\nBe kind."),)
    assert read({"role": "system", "content": "x"}).instructions == (Tokenizable("x"),)


def test_texts_of_the_model_go_on() -> None:
    """Citations cut what a model says in pieces, which are one text."""
    cited = {"type": "char_location", "cited_text": "green", "document_index": 0}
    cited |= {"document_title": None, "start_char_index": 0, "end_char_index": 5}
    message = one(model(text("It is "), text("green", citations=[cited]), text(".")))

    assert message.content == Tokenizable("It is green.")
    assert message.stash.get("anthropic.parts.1.fields.citations") == [cited]


def test_texts_of_the_user_stand_apart() -> None:
    """Blocks of the user are texts of their own."""
    assert one(user(text("a"), text("b"))).content == Tokenizable("a\nb")


def test_images_and_documents_are_media() -> None:
    """Bytes in base64, texts, and addresses, in the order of the blocks."""
    url = "https://example.org/a.pdf"
    pdf = {"type": "base64", "media_type": "application/pdf", "data": "aGk="}
    plain = {"type": "text", "media_type": "text/plain", "data": "hé"}
    message = one(
        user(
            {"type": "image", "source": PIXEL},
            {"type": "document", "source": pdf, "title": "a.pdf"},
            {"type": "document", "source": plain, "context": "notes"},
            {"type": "document", "source": {"type": "url", "url": url}},
            text("Compare."),
        )
    )
    image, paper, notes, remote = message.attachments

    assert (image.mime_type, image.read()) == ("image/png", b"\x89PNG\r\n\x1a\n")
    assert (paper.kind, paper.filename, paper.read()) == ("document", "a.pdf", b"hi")
    assert (notes.mime_type, notes.read()) == ("text/plain", "hé".encode())
    assert remote.reader == HttpReader(url)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ({"type": "file", "file_id": "f"}, "with the vendor"),
        ({"type": "content", "content": "x"}, "made of blocks"),
        ({"type": "url", "url": "https://e.org/a?sig=1"}, "signature"),
        ({"type": "url", "url": "data:text/plain,x"}, "a data URL is no URL here"),
        ({"type": "base64", "media_type": "a/b", "data": "?"}, "not base64"),
        ({"type": "base64", "data": "aGk="}, "nowhere"),
    ],
)
def test_what_is_no_media_is_kept_with_a_reason(source: Any, why: str) -> None:
    """A block whose bytes can't be had stays in the stash, and is listed."""
    chat = {"messages": [user(text("look"), {"type": "document", "source": source})]}
    taken = from_anthropic(chat)
    [kept] = kept_aside(taken)

    assert (kept.what, kept.source) == ("document", "$.messages[0]")
    assert why in kept.why
    assert to_anthropic(taken) == chat


def test_what_is_kept_alone_has_its_reason_too() -> None:
    """A message without text is cut into what can be had and what can't."""
    file = {"type": "image", "source": {"type": "file", "file_id": "f"}}
    taken = from_anthropic([model(asked("a")), user(file, answer("a", "1"))])
    [kept] = kept_aside(taken)

    assert (kept.what, kept.source) == ("image", "$.messages[1]")
    assert "with the vendor" in kept.why


def test_thinking_is_a_thought() -> None:
    """The signature is the payload of what can be read; what is redacted is one."""
    readable = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    redacted = {"type": "redacted_thinking", "data": "ZGF0YQ=="}
    first, second, message = read(model(readable, redacted, text("42"))).items

    assert isinstance(first, Thought)
    assert isinstance(second, Thought)
    assert isinstance(message, Message)
    assert (first.content, first.payload) == (Tokenizable("hm"), {"signature": "c2ln"})
    assert (second.content, second.payload) == (Tokenizable(""), {"data": "ZGF0YQ=="})
    assert first.replay_compatibility == "anthropic-messages-thinking-v1"


def test_uses_meet_their_results() -> None:
    """A use is complete with its result, an error is one, and others are pending."""
    done, failed, pending = read(
        model(asked("a"), asked("b"), asked("c")),
        user(answer("b", "no", is_error=True), answer("a", "42", is_error=False)),
    ).items

    assert isinstance(done, ToolCall)
    assert isinstance(failed, ToolCall)
    assert isinstance(pending, ToolCall)
    assert (done.tool, done.args, done.results) == ("look", {"a": 1}, Tokenizable("42"))
    assert (done.is_error, failed.is_error) == (False, True)
    assert not pending.is_complete


def test_what_is_said_between_uses_keeps_its_place() -> None:
    """Items are in the order of the blocks."""
    found = read(model(text("a"), asked("a"), text("b"), asked("b"))).items

    assert [item.id for item in found] == ["msg-0", "a", "msg-0-text-2", "b"]


def test_results_with_pictures_are_media() -> None:
    """Texts beside media are plain documents, since results are of one family."""
    shown = [text("the door"), {"type": "image", "source": PIXEL}]
    call = one(model(asked("a")), user(answer("a", shown)))

    assert [each.mime_type for each in call.results] == ["text/plain", "image/png"]


@pytest.mark.parametrize("content", ["x" * 5_000, [text("x" * 5_000)]])
def test_long_results_are_artifacts(content: object) -> None:
    """A result above the threshold is spooled, also one in blocks."""
    call = one(model(asked("a")), user(answer("a", content)))

    assert isinstance(call.results, SpooledArtifact)
    assert call.results.byte_length() == 5_000


def test_searches_of_the_server() -> None:
    """A use of the server has its result in the same message, as JSON."""
    use = {"type": "server_tool_use", "id": "s", "name": "web_search"}
    found = {"type": "web_search_result", "url": "https://e.org", "title": "t"}
    found |= {"encrypted_content": "eA=="}
    result = {"type": "web_search_tool_result", "tool_use_id": "s", "content": [found]}
    call = one(model({**use, "input": {"query": "q"}}, result))

    assert (call.tool, call.args) == ("web_search", {"query": "q"})
    assert json.loads(call.results.text) == [found]


def test_errors_of_the_server() -> None:
    """A result that is an error makes the call one."""
    use: Any = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    error = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
    result = {"type": "web_search_tool_result", "tool_use_id": "s", "content": error}

    assert one(model(use, result)).is_error


def test_search_results_are_passages() -> None:
    """A search result has its text, and where it was found."""
    result = {"type": "search_result", "source": "https://e.org", "title": "t"}
    passage = one(user({**result, "content": [text("a"), text("b")]}))

    assert isinstance(passage, Retrievable)
    assert (passage.content, passage.source) == (Tokenizable("a\nb"), "https://e.org")
    assert passage.trust_tier == "third-party-private"


def test_what_no_primitive_holds_is_kept() -> None:
    """Empty messages, answers to nothing and new blocks come back, and are listed."""
    chat = {
        "messages": [
            user(),
            {"role": "user", "content": ""},
            {"role": "assistant", "content": None},
            user(answer("nobody", "x")),
            model({"type": "dream"}, text("Hi")),
        ]
    }
    taken = from_anthropic(chat)

    assert to_anthropic(taken) == chat
    assert [kept.source for kept in kept_aside(taken)] == [
        f"$.messages[{index}]" for index in range(5)
    ]


# What is refused


WRONG: list[tuple[object, str, str]] = [
    (3, "$", "it must be a request, a message or a list of messages, not int"),
    ({}, "$.messages", "messages must be a list, not NoneType"),
    ([3], "$.messages[0]", "a message must be a dict, not int"),
    ([{"role": "tool"}], "$.messages[0].role", "of a request to OpenAI: openai-chat"),
    ({"role": []}, "$.role", "role must be one of user, assistant, system"),
    ([{"role": "user", "content": 1}], "$.messages[0].content", "not int"),
    ([user(3)], "$.messages[0].content[0]", "a block must be a dict, not int"),
    ({"system": 1, "messages": []}, "$.system", "not int"),
    (
        [model({"type": "tool_use"})],
        "$.messages[0].content[0].name",
        "a tool needs a name",
    ),
]


@pytest.mark.parametrize(("data", "path", "words"), WRONG)
def test_refuses_what_is_none(data: Any, path: str, words: str) -> None:
    """The error says what should be, where, and what to do."""
    with pytest.raises(errors.InvalidValueError) as caught:
        from_anthropic(data)

    assert caught.value.path == path
    assert words in str(caught.value)


# Conversations that did not come from there, or were changed


def made(*items: Any, **changes: Any) -> Conversation:
    """Return a conversation that the API never saw."""
    return Conversation(id="made", items=items, **changes)


def said(words: str | None, role: Any = "user", **changes: Any) -> Message:
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
    """Without notes, everything is written in the usual way, and is valid."""
    remote = media("image", "image/png", HttpReader("https://e.org/a.png"))
    files = [media("document", "text/plain"), media("document", "application/pdf")]
    signed = {"signature": "s"}, "anthropic-messages-thinking-v1"
    passage = Retrievable(
        id="r", content="x", trust_tier="first-party", created_at=NOW, updated_at=NOW
    )
    written = to_anthropic(
        made(
            passage,
            said("Hi", attachments=[*files, remote]),
            thought(content="hm", payload=signed[0], replay_compatibility=signed[1]),
            said("Let me see.", role="assistant"),
            called(results="1"),
            called(id="d", results="no", is_error=True),
            said("Well?"),
            instructions=["Be brief."],
        )
    )
    pdf = {"type": "base64", "media_type": "application/pdf", "data": "aGk="}
    plain = {"type": "text", "media_type": "text/plain", "data": "hi"}
    url = {"type": "url", "url": "https://e.org/a.png"}

    assert written == {
        "system": "Be brief.",
        "messages": [
            user(
                {"type": "search_result", "source": "r", "title": "r"}
                | {"content": [text("x")]}
            ),
            user(
                text("Hi"),
                {"type": "document", "source": plain, "title": "a"},
                {"type": "document", "source": pdf, "title": "a"},
                {"type": "image", "source": url},
            ),
            model(
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                text("Let me see."),
                asked("c"),
                {**asked("d")},
            ),
            user(answer("c", "1"), answer("d", "no", is_error=True)),
            {"role": "user", "content": "Well?"},
        ],
    }
    REQUESTS.validate_python({"model": "m", "max_tokens": 9, **written})


def test_several_instructions_are_blocks() -> None:
    """A prompt has one block for each instruction."""
    written = to_anthropic(made(said("x"), instructions=["a", "b"]))

    assert written["system"] == [text("a"), text("b")]


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (thought(content="x"), "place for a Thought without a signature of its own"),
        (thought(payload={"a": 1}, replay_compatibility="y"), "without a signature"),
        (said("x", attachments=[media("audio", "audio/wav")]), "place for an audio"),
    ],
)
def test_refuses_what_has_no_place(item: Any, words: str) -> None:
    """Nothing is left out silently on the way out."""
    with pytest.raises(errors.UnencodableValueError, match=words) as caught:
        to_anthropic(made(item))

    assert caught.value.path.startswith("$.items[0]")


def test_a_response_goes_behind_its_request() -> None:
    """Messages of two conversations in a row keep their order, and more can follow."""
    response: dict[str, object] = {"type": "message", **model(text("Ho"))}
    first = from_anthropic([{"role": "user", "content": "Hi"}])
    second = from_anthropic(response)
    both = first.replace(items=[*first.items, *second.items, said("More.")])

    assert to_anthropic(both) == {
        "messages": [
            {"role": "user", "content": "Hi"},
            response,
            {"role": "user", "content": "More."},
        ]
    }


def test_a_document_that_went_to_an_address() -> None:
    """A block is written as what its media is now."""
    pdf = {"type": "base64", "media_type": "application/pdf", "data": "aGk="}
    item = one(user({"type": "document", "source": pdf, "title": "t"}))
    moved = item.attachments[0].replace(reader=HttpReader("https://e.org/a.pdf"))
    written: Any = to_anthropic(made(item.replace(attachments=[moved])))

    assert written["messages"][0]["content"] == [
        {
            "type": "document",
            "source": {"type": "url", "url": "https://e.org/a.pdf"},
            "title": "t",
        }
    ]


def test_plain_documents_in_results_stay_what_they_were() -> None:
    """A document among the results is told from a text beside it."""
    plain = {"type": "text", "media_type": "text/plain", "data": "hi"}
    document = {"type": "document", "source": plain}
    call = one(model(asked("a")), user(answer("a", [text("see"), document])))

    assert [each.read() for each in call.results] == [b"see", b"hi"]


def test_changed_results_are_written_anew() -> None:
    """Plain documents that a tool gave back are texts, all others are media."""
    files = [media("image", "image/png"), media("document", "text/plain")]
    written: Any = to_anthropic(made(called(results=files)))
    data = {"type": "base64", "media_type": "image/png", "data": "aGk="}

    assert written["messages"][1] == user(
        answer("c", [text("hi"), {"type": "image", "source": data}])
    )


def test_texts_of_tools_must_be_text() -> None:
    """Bytes that claim to be plain text and are not can't be written as one."""
    odd = media("document", "text/plain", BytesReader(b"\xff"))

    with pytest.raises(errors.UnencodableValueError, match="not in UTF-8"):
        to_anthropic(made(called(results=odd)))


NOTES: list[object] = [
    3,
    {"at": "x", "fields": 3, "order": [[1], "content"], "without": 7, "parts": 5},
    {"at": -1, "block": "x", "role": [], "message": 3, "answer": 1, "type": 3},
    {"fields": {1: 2}, "instructions": {}, "form": "message"},
    {"kept": [1, {"message": 3}, {"kept": {}, "role": "x"}, {"kept": 3}]},
]


@pytest.mark.parametrize("note", NOTES)
def test_notes_that_make_no_sense_do_no_harm(note: object) -> None:
    """A stash is data of a stranger: what is odd in it is as if it were not there."""
    stash = Registry({"anthropic": note})
    odd = made(
        said("Hi", stash=stash),
        called(results="x", stash=stash),
        instructions=["i"],
        stash=stash,
    )
    kept_aside(odd)
    written: Any = to_anthropic(odd)["messages"]

    assert {"role": "user", "content": "Hi"} in written
