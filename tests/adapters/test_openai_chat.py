"""Chats in the format of OpenAI become conversations, and come back to the letter."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphcodec import (
    BytesReader,
    Codec,
    Conversation,
    Identity,
    Media,
    Memory,
    Message,
    Registry,
    SpooledArtifact,
    Thought,
    Tokenizable,
    ToolCall,
    decode,
    encode,
    errors,
)
from graphcodec.adapters import from_openai_chat, kept_aside, to_openai_chat
from graphcodec_resolvers import HttpReader
from tests.adapters.chats import chats, messages

EXAMPLE = Path(__file__).parents[2] / "graphcodec" / "cli" / "example_chat.json"
PIXEL = "data:image/png;base64,iVBORw0KGgo="
NOW = datetime(2026, 5, 4, tzinfo=UTC)


def user(*parts: object) -> dict[str, object]:
    """Return a message of the user with these parts."""
    return {"role": "user", "content": list(parts)}


def image(url: str, **more: object) -> dict[str, object]:
    """Return the part for an image."""
    return {"type": "image_url", "image_url": {"url": url, **more}}


def text(words: str) -> dict[str, object]:
    """Return the part for a text."""
    return {"type": "text", "text": words}


def asked(name: str, arguments: object = "{}") -> dict[str, object]:
    """Return a call of the tool ``look``."""
    function = {"name": "look", "arguments": arguments}
    return {"id": name, "type": "function", "function": function}


def asking(*calls: object) -> dict[str, object]:
    """Return a message of the assistant that has only tool calls."""
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def answer(name: str, content: object) -> dict[str, object]:
    """Return the answer to a call."""
    return {"role": "tool", "tool_call_id": name, "content": content}


def read(*entries: object) -> Conversation:
    """Return the conversation of these messages."""
    return from_openai_chat(list(entries))


def same(chat: Any) -> bool:
    """Say whether a chat comes back, keys in order, also from bytes."""
    conversation = from_openai_chat(chat)
    there = decode(encode(conversation), Conversation)
    wanted = json.dumps(chat)
    return all(json.dumps(to_openai_chat(c)) == wanted for c in (conversation, there))


# There and back


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(chats)
def test_any_chat_comes_back(chat: dict[str, object]) -> None:
    """What is generated comes back with the same types and the same order of keys."""
    assert json.dumps(to_openai_chat(from_openai_chat(chat))) == json.dumps(chat)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(chats)
def test_any_chat_comes_back_from_bytes(chat: dict[str, object]) -> None:
    """Nothing is lost on the wire either, in both formats."""
    conversation = from_openai_chat(chat)

    for codec in (Codec(), Codec(format="msgpack")):
        there = codec.decode(codec.encode(conversation), Conversation)
        assert json.dumps(to_openai_chat(there)) == json.dumps(chat)


@settings(deadline=None)
@given(st.lists(messages, max_size=4))
def test_a_list_is_short_for_its_messages(entries: list[object]) -> None:
    """A list comes back as the mapping that it is short for."""
    assert to_openai_chat(from_openai_chat(entries)) == {"messages": entries}


def test_the_example_comes_back() -> None:
    """The chat that ships with the command line comes back."""
    assert same(json.loads(EXAMPLE.read_text()))


def response(**message: object) -> dict[str, object]:
    """Return an answer with one choice."""
    said = {"role": "assistant", **message}
    choice = {"index": 0, "message": said, "logprobs": None, "finish_reason": "stop"}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1748779200,
        "model": "m",
        "choices": [choice],
        "usage": {"total_tokens": 3},
    }


@pytest.mark.parametrize(
    "message",
    [
        {"content": "Hi", "refusal": None},
        {"content": None, "tool_calls": [asked("a"), asked("b")]},
        {"content": None, "refusal": "No."},
    ],
)
def test_an_answer_comes_back(message: dict[str, object]) -> None:
    """What has choices has them again, with usage, model and all else around them."""
    given = response(**message)
    taken = from_openai_chat(given)

    assert same(given)
    assert taken.id == "chatcmpl-1"
    assert taken.stash.get("openai_chat.choice.fields.finish_reason") == "stop"
    assert all(item.created_at.year == 2025 for item in taken.items)


def test_an_answer_follows_what_it_answers() -> None:
    """Behind a request, or with more behind it, an answer is one of the messages."""
    asks, answers = user(text("Hi")), from_openai_chat(response(content="Ho"))
    given = from_openai_chat({"model": "m", "messages": [asks]})
    both = given.replace(items=[*given.items, *answers.items])
    longer = answers.replace(items=[*answers.items, *given.items])

    said = {"role": "assistant", "content": "Ho"}
    assert to_openai_chat(both) == {"model": "m", "messages": [asks, said]}
    assert to_openai_chat(longer)["messages"] == [said, asks]


def test_reading_leaves_the_input_alone() -> None:
    """The conversation shares nothing mutable with what it was read from."""
    chat: Any = {"messages": [user(text("a"))], "tools": [{"x": 1}]}
    conversation = from_openai_chat(chat)
    chat["tools"][0]["x"] = 2
    chat["messages"][0]["content"][0]["text"] = "b"

    assert to_openai_chat(conversation) == {
        "messages": [user(text("a"))],
        "tools": [{"x": 1}],
    }


# Where things go


def test_messages_of_the_developer_become_instructions() -> None:
    """System and developer messages keep their place and their kind."""
    chat = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
        {"role": "system", "content": [text("Be"), text(""), text("kind.")]},
    ]
    conversation = read(*chat)

    assert conversation.instructions == (
        Tokenizable("Be brief."),
        Tokenizable("Be\nkind."),
    )
    assert len(conversation.items) == 1
    assert same({"messages": chat})


def test_a_message_has_text_and_media() -> None:
    """Texts are joined by newlines, media stand beside them."""
    [message] = read(user(text("a"), image(PIXEL), text("b"))).items

    assert isinstance(message, Message)
    assert message.content == Tokenizable("a\nb")
    assert message.attachments[0].read() == b"\x89PNG\r\n\x1a\n"
    assert message.attachments[0].mime_type == "image/png"
    assert message.attachments[0].filename == "image.png"


def test_ids_tell_the_place_and_times_the_creation() -> None:
    """Ids are made of positions; every moment is that of the file, or the epoch."""
    chat = {
        "created": 1_777_852_800,
        "messages": [user(image(PIXEL)), asking(asked("a"))],
    }
    message, call = from_openai_chat(chat).items

    assert isinstance(message, Message)
    assert (message.id, message.attachments[0].id) == ("msg-0", "msg-0-media-0")
    assert (message.created_at, call.updated_at) == (NOW, NOW)
    assert read(user(text("a"))).items[0].created_at == datetime(1970, 1, 1, tzinfo=UTC)


def test_a_conversation_has_the_id_of_its_content() -> None:
    """The same chat has the same id, another one another; one of its own is kept."""
    assert read(user(text("a"))).id == read(user(text("a"))).id
    assert read(user(text("a"))).id != read(user(text("b"))).id
    assert from_openai_chat({"id": "chatcmpl-1", "messages": []}).id == "chatcmpl-1"


def test_one_person_is_one_object() -> None:
    """Messages of the same role and name share an `Identity`."""
    ana = {"role": "user", "name": "ana", "content": "x"}
    first, second, third, bot = read(
        ana,
        ana,
        {"role": "user", "content": "y"},
        {"role": "assistant", "content": "z"},
    ).items

    assert isinstance(first, Message)
    assert isinstance(second, Message)
    assert isinstance(third, Message)
    assert isinstance(bot, Message)
    assert first.identity is second.identity
    assert first.identity == Identity(identifier="ana", representation="ana")
    assert third.identity.identifier == "user"
    assert bot.identity.identifier == "assistant"


def test_the_same_bytes_become_one_reader() -> None:
    """An image that is sent again with every turn is held once."""
    first, second = read(user(image(PIXEL)), user(image(PIXEL))).items

    assert isinstance(first, Message)
    assert isinstance(second, Message)
    assert first.attachments[0].reader is second.attachments[0].reader


def test_calls_meet_their_answers() -> None:
    """A call is complete with the answer by its id, and pending without."""
    done, pending = read(asking(asked("a"), asked("b")), answer("a", "42")).items

    assert isinstance(done, ToolCall)
    assert isinstance(pending, ToolCall)
    assert (done.is_complete, done.results) == (True, Tokenizable("42"))
    assert (pending.is_complete, pending.results) == (False, None)


def test_a_reused_id_answers_the_latest_call() -> None:
    """Servers that count calls anew in every turn are understood."""
    chat = [asking(asked("c")), answer("c", "1"), asking(asked("c")), answer("c", "2")]
    first, second = read(*chat).items

    assert isinstance(first, ToolCall)
    assert isinstance(second, ToolCall)
    assert (first.results, second.results) == (Tokenizable("1"), Tokenizable("2"))
    assert same({"messages": chat})


def test_long_answers_become_artifacts() -> None:
    """An answer above the threshold is spooled, to the byte; below it is a text."""
    chat = [
        asking(asked("a"), asked("b")),
        answer("a", "é" * 51),
        answer("b", "é" * 50),
    ]
    long, short = from_openai_chat(chat, spool_above=100).items

    assert isinstance(long, ToolCall)
    assert isinstance(short, ToolCall)
    assert isinstance(long.results, SpooledArtifact)
    assert long.results.text() == "é" * 51
    assert short.results == Tokenizable("é" * 50)


def test_half_a_character_is_no_artifact() -> None:
    """A lone surrogate has no bytes, so the text stays a text."""
    long = "x" * 5_000 + "\udcff"
    [call] = read(asking(asked("a")), answer("a", long)).items

    assert isinstance(call, ToolCall)
    assert call.results == Tokenizable(long)


@pytest.mark.parametrize(
    ("arguments", "args"),
    [
        ('{"a":1}', {"a": 1}),
        ('{"a": 1, "b": [2]}', {"a": 1, "b": [2]}),
        ('{"a":"\\u00e9"}', {"a": "é"}),
        ('{ "a" : 1e2 }', {"a": 100.0}),
        ('{"a":1,"a":2}', {"a": 2}),
        ("", {}),
        ("{oops", {}),
        ("[1]", {}),
        ('{"a":NaN}', {}),
        ("[" * 100_000, {}),
        ({"a": 1}, {"a": 1}),
        (None, {}),
    ],
)
def test_arguments_are_parsed_and_spelled_as_before(
    arguments: object, args: dict[str, object]
) -> None:
    """Arguments become a dict where they can, and their text comes back in any case."""
    chat = [asking(asked("a", arguments))]
    [call] = read(*chat).items

    assert isinstance(call, ToolCall)
    assert call.args == args
    assert same({"messages": chat})


@pytest.mark.parametrize("args", [{"input": "ls"}, {"input": None}, {}])
def test_custom_tools_take_text(args: dict[str, object]) -> None:
    """A call of a custom tool has its input as the one argument."""
    custom = {"id": "a", "type": "custom", "custom": {"name": "sh", **args}}
    [call] = read(asking(custom)).items

    assert isinstance(call, ToolCall)
    assert (call.tool, call.args) == ("sh", args)
    assert same({"messages": [asking(custom)]})


def test_calls_without_an_id_of_their_own_get_one() -> None:
    """Servers that leave ids empty are understood, and get them back empty."""
    chat = [asking(asked(""), asked("")), answer("", "1")]
    first, second = read(*chat).items

    assert (first.id, second.id) == ("msg-0-call-0", "msg-0-call-1")
    assert same({"messages": chat})


def test_remote_images_are_handles() -> None:
    """The URL of an image becomes a reader that opens when it is asked to."""
    url = "https://example.org/graphs/a.JPEG"
    [message] = read(user(image(url, detail="high"))).items

    assert isinstance(message, Message)
    assert message.attachments[0].reader == HttpReader(url)
    assert message.attachments[0].mime_type == "image/jpeg"
    assert message.attachments[0].filename == "a.JPEG"


@pytest.mark.parametrize(
    ("url", "why"),
    [
        (
            "https://example.org/a.png?X-Amz-Signature=abc",
            "the URL carries a signature",
        ),
        ("https://me:secret@example.org/a.png", "the URL carries a user name"),
        ("ftp://example.org/a.png", "neither a data URL nor one of http"),
        ("data:image/png;base64", "the data URL makes no sense"),
    ],
)
def test_what_is_no_handle_is_kept_with_a_reason(url: str, why: str) -> None:
    """A signed URL makes no handle: the part stays in the stash, with a note on why."""
    [message] = read(user(text("look"), image(url))).items

    assert isinstance(message, Message)
    assert message.attachments == ()
    assert why in str(message.stash.get("openai_chat.parts.1.why"))
    assert same({"messages": [user(text("look"), image(url))]})


def test_audio_and_files_are_media() -> None:
    """Audio in base64 and files in data URLs become media."""
    audio = {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}}
    file = {"file_data": "data:application/pdf;base64,aGk=", "filename": "a.pdf"}
    [message] = read(user(audio, {"type": "file", "file": file})).items

    assert isinstance(message, Message)
    sound, paper = message.attachments
    assert (sound.kind, sound.mime_type, sound.read()) == ("audio", "audio/wav", b"hi")
    assert (paper.kind, paper.filename, paper.read()) == ("document", "a.pdf", b"hi")


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": None}},
        {"type": "image_url", "image_url": PIXEL},
        {"type": "input_audio", "input_audio": {"data": "a", "format": "wav"}},
        {"type": "file", "file": {"file_data": "https://example.org/a.pdf"}},
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "text", "text": None},
        {},
    ],
)
def test_odd_parts_are_kept(part: dict[str, object]) -> None:
    """A part that is not as it should be stays in its place, beside the others."""
    [message] = read(user(part, text("look"), part)).items

    assert isinstance(message, Message)
    assert message.attachments == ()
    assert message.content == Tokenizable("look")
    assert same({"messages": [user(part, text("look"), part)]})


@pytest.mark.parametrize("content", ["", None, [], [text("")], [{"type": "odd"}]])
def test_empty_answers_are_answers(content: object) -> None:
    """A tool that had nothing to say has answered all the same."""
    chat = [asking(asked("a")), answer("a", content)]
    [call] = read(*chat).items

    assert isinstance(call, ToolCall)
    assert call.results == Tokenizable("")
    assert same({"messages": chat})


def test_what_no_primitive_holds_is_kept_whole() -> None:
    """Empty messages, answers to nothing and old function results lose nothing."""
    chat: list[object] = [
        {"role": "user", "content": ""},
        answer("nobody", "x"),
        {"role": "function", "name": "f", "content": "1"},
        {"role": "assistant", "content": None, "refusal": "I can't."},
        {"role": "assistant", "content": "", "tool_calls": []},
    ]
    conversation = read(*chat)

    assert conversation.items == ()
    assert same({"messages": chat})


CALLS = {"name": "look", "arguments": '{"a": 1}'}
SIDES = ("tool", "function")
SEES = {"role": "function", "name": "look", "content": "a cat"}


def test_a_function_call_is_a_call() -> None:
    """How calls were written before there were several is read and written, too."""
    chat: list[object] = [
        {"role": "assistant", "function_call": CALLS, "weight": 0},
        SEES,
        {"role": "assistant", "content": "Again.", "function_call": CALLS},
        {**SEES, "content": "no cat"},
        {"role": "assistant", "content": None, "function_call": CALLS},
    ]

    items = read(*chat).items

    assert same({"messages": chat})
    calls = [item for item in items if isinstance(item, ToolCall)]
    assert [call.id for call in calls] == [
        *("msg-0-call-0", "msg-2-call-0", "msg-4-call-0")
    ]
    assert [call.args for call in calls] == 3 * [{"a": 1}]
    assert [call.results for call in calls] == [
        *(Tokenizable("a cat"), Tokenizable("no cat"), None)
    ]


def test_functions_and_tools_do_not_answer_each_other() -> None:
    """An answer names an id or a function, and what it names is what it answers."""
    chat: list[object] = [
        {"role": "assistant", "function_call": CALLS},
        answer("look", "x"),
        asking(asked("look")),
        {**SEES, "name": "other"},
        SEES,
        answer("look", "y"),
        SEES,
    ]

    calls = read(*chat).items

    assert same({"messages": chat})
    assert [getattr(call, "results", None) for call in calls] == [
        *(Tokenizable("a cat"), Tokenizable("y"))
    ]
    kept = [each.source for each in kept_aside(read(*chat)) if each.what in SIDES]
    assert kept == ["$.messages[1]", "$.messages[3]", "$.messages[6]"]


@pytest.mark.parametrize("wrong", [None, 3, {}, {"name": ""}, {"arguments": "{}"}])
def test_a_function_call_that_calls_nothing(wrong: object) -> None:
    """It is kept as it stands, in a message that is kept for it."""
    said: dict[str, object] = {"role": "assistant", "function_call": wrong}

    assert read(said).items == ()
    assert same({"messages": [said]})
    assert same({"messages": [{**said, "content": "Hi"}]})


def test_a_function_call_that_was_changed() -> None:
    """A call that got its answer later, or another name, is written as it is now."""
    conversation = read({"role": "assistant", "content": None, "function_call": CALLS})
    (pending,) = conversation.items
    done = pending.replace(
        tool="find", is_complete=True, results="a dog", completed_at=NOW
    )
    more = call(id="new")

    assert to_openai_chat(conversation.replace(items=[done, more])) == {
        "messages": [
            {
                "role": "assistant",
                "content": None,
                "function_call": {"name": "find", "arguments": '{"a": 1}'},
            },
            {"role": "function", "name": "find", "content": "a dog"},
            asking(asked("new", '{"a":1}')),
        ]
    }


def test_tools_and_settings_are_in_the_stash() -> None:
    """What the file says beside the messages is found under ``openai_chat.fields``."""
    chat = {"model": "m", "messages": [], "tools": [{"type": "function"}]}

    stash = from_openai_chat(chat).stash

    assert stash.get("openai_chat.fields.model") == "m"
    assert stash.get("openai_chat.fields.tools.0.type") == "function"


# What is refused


NO_CHATS: list[tuple[object, str, str]] = [
    (3, "$", "a chat must be a mapping or a list of messages, not int"),
    ({}, "$.messages", "messages must be a list, not NoneType"),
    ({"messages": {}}, "$.messages", "not dict"),
    ({"role": "user"}, "$.messages", "this is one message"),
    ({"output": []}, "$.messages", "this is of the Responses API: openai-responses"),
    ({"response": {"body": {}}}, "$.messages", "take the body out of it"),
    ({"choices": None}, "$.choices", "choices must be a list, not NoneType"),
    ({"choices": []}, "$.choices", "has one choice, and here are 0"),
    ({"choices": [{}, {}]}, "$.choices", "here are 2"),
    ({"choices": [3]}, "$.choices[0]", "a choice must be a dict, not int"),
    ({"choices": [{}]}, "$.choices[0]", "a choice must have a message"),
    ({"choices": [{"delta": {}}]}, "$.choices[0]", "this is a piece of a stream"),
    ({"choices": [{"message": {}}]}, "$.choices[0].message.role", "role must be"),
    ([None], "$.messages[0]", "a message must be a dict, not NoneType"),
    ([{}], "$.messages[0].role", "role must be one of system, developer, user"),
    ([{"role": []}], "$.messages[0].role", "not list"),
    ([{"role": "user", "content": 1}], "$.messages[0].content", "not int"),
    ([user("x")], "$.messages[0].content[0]", "a part of content must be a dict"),
    ([asking(3)], "$.messages[0].tool_calls[0]", "a tool call must be a dict"),
    ([asking({})], "$.messages[0].tool_calls[0]", "a tool call needs the id"),
    (
        [asking({"id": "a", "type": "magic"})],
        "$.messages[0].tool_calls[0].function",
        "functions and custom tools are known",
    ),
    (
        [asking({"id": "a", "function": {"name": ""}})],
        "$.messages[0].tool_calls[0].function.name",
        "a tool needs a name",
    ),
    ([{"role": "user", "content": "a", "x": {1}}], "$", "plain JSON"),
]


@pytest.mark.parametrize(("chat", "path", "words"), NO_CHATS)
def test_refuses_what_is_no_chat(chat: Any, path: str, words: str) -> None:
    """The error says what should be, where, and what to do."""
    with pytest.raises(errors.InvalidValueError) as caught:
        from_openai_chat(chat)

    assert caught.value.path == path
    assert words in str(caught.value)


def message(words: str = "Hi", **changes: Any) -> Message:
    """Return a message that no chat had."""
    fields: dict[str, Any] = {"id": "m", "role": "user", "content": words, **changes}
    return Message(created_at=NOW, updated_at=NOW, **fields)


def call(**changes: Any) -> ToolCall:
    """Return a pending call that no chat had."""
    fields: dict[str, Any] = {"id": "c", "tool": "look", "args": {"a": 1}}
    fields |= {"is_complete": False, **changes}
    return ToolCall(created_at=NOW, updated_at=NOW, is_error=False, **fields)


def answered(results: Any, **changes: Any) -> ToolCall:
    """Return a call with an answer."""
    return call(is_complete=True, results=results, completed_at=NOW, **changes)


def conversation(*items: Any, **changes: Any) -> Conversation:
    """Return a conversation that no chat had."""
    return Conversation(id="made", items=items, **changes)


def picture(kind: Any = "image", mime_type: str = "image/png") -> Media:
    """Return a media that no chat had."""
    return Media.user_attachment(
        kind=kind, mime_type=mime_type, filename="a.png", reader=BytesReader(b"hi")
    )


@pytest.mark.parametrize(
    ("given", "path", "words"),
    [
        (
            conversation(Thought(id="t", content="hm", created_at=NOW, updated_at=NOW)),
            "$.items[0]",
            "no place for a Thought",
        ),
        (
            conversation(
                memories=(
                    Memory(
                        id="m",
                        content="x",
                        confidence=1,
                        importance=1,
                        created_at=NOW,
                        updated_at=NOW,
                    ),
                )
            ),
            "$.memories",
            "no place for a Memory",
        ),
        (
            conversation(answered(picture())),
            "$.items[0].results",
            "media that a tool gave back",
        ),
        (
            conversation(message(attachments=[picture("video", "video/mp4")])),
            "$.items[0].attachments[0]",
            "no place for a video",
        ),
        (conversation(call(args={"a": NOW})), "$.items[0]", "can't be written as JSON"),
    ],
)
def test_refuses_what_a_chat_has_no_place_for(
    given: Conversation, path: str, words: str
) -> None:
    """Nothing is left out silently on the way to a chat."""
    with pytest.raises(errors.UnencodableValueError, match=words) as caught:
        to_openai_chat(given)

    assert caught.value.path == path


# Conversations that did not come from a chat, or were changed


def test_writes_a_conversation_made_by_hand() -> None:
    """Without notes, everything is written in the usual way."""
    made = conversation(
        message("Hi", identity="ana", attachments=[picture()]),
        message("Let me see.", role="assistant"),
        answered("1"),
        call(id="d"),
        message("Well?"),
        call(id="e"),
        instructions=["Be brief."],
    )
    look = {"name": "look", "arguments": '{"a":1}'}

    assert to_openai_chat(made)["messages"] == [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [text("Hi"), image("data:image/png;base64,aGk=")],
            "name": "ana",
        },
        {
            "role": "assistant",
            "content": "Let me see.",
            "tool_calls": [
                {"id": "c", "type": "function", "function": look},
                {"id": "d", "type": "function", "function": look},
            ],
        },
        answer("c", "1"),
        {"role": "user", "content": "Well?"},
        asking({"id": "e", "type": "function", "function": look}),
    ]


def test_writes_audio_and_documents_made_by_hand() -> None:
    """Media are written as the parts of their kind, with the fields those need."""
    media = [picture("audio", "audio/mpeg"), picture("document", "application/pdf")]
    made = conversation(message(attachments=media, content=None))
    file = {"file_data": "data:application/pdf;base64,aGk=", "filename": "a.png"}

    assert to_openai_chat(made)["messages"] == [
        user(
            {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "mp3"}},
            {"type": "file", "file": file},
        )
    ]


def test_several_artifacts_are_one_answer() -> None:
    """Artifacts that a tool gave back together are joined by newlines."""
    made = conversation(
        answered(
            (SpooledArtifact(BytesReader(b"a")), SpooledArtifact(BytesReader(b"b")))
        )
    )

    assert to_openai_chat(made)["messages"][-1:] == [answer("c", "a\nb")]  # type: ignore[index]  # a list


def test_what_is_added_follows() -> None:
    """Items added to a conversation come behind those that it had."""
    chat = [user(text("a")), asking(asked("x")), answer("x", "1")]
    longer = read(*chat)
    longer = longer.replace(items=[*longer.items, message("b"), answered("2")])

    assert to_openai_chat(longer)["messages"] == [
        *chat,
        {"role": "user", "content": "b"},
        asking({**asked("c"), "function": {"name": "look", "arguments": '{"a":1}'}}),
        answer("c", "2"),
    ]


def test_two_chats_in_a_row() -> None:
    """The items of a second chat keep their order behind those of the first."""
    chat = [user(text("a")), asking(asked("x")), answer("x", "1")]
    both = read(*chat)
    both = both.replace(items=[*both.items, *both.items])

    assert to_openai_chat(both)["messages"] == chat + chat


def test_answers_stay_where_they_were() -> None:
    """An answer that came after other messages is put there again."""
    chat = [
        asking(asked("a"), asked("b")),
        {"role": "user", "content": "Still there?"},
        answer("b", "2"),
        {"role": "user", "content": "Hello?"},
        answer("a", "1"),
    ]

    assert same({"messages": chat})


def test_changed_text_is_written_whole() -> None:
    """A note on a text that was changed since does not cut the new one."""
    old = read(user(text("a"), image(PIXEL), {"type": "odd"}))
    new = old.items[0].replace(content="longer")

    changed = to_openai_chat(old.replace(items=[new]))

    assert changed["messages"] == [user(text("longer"), image(PIXEL), {"type": "odd"})]


def test_changed_media_are_written_anew() -> None:
    """The spelling of a URL serves only as long as it gives the bytes of the media."""
    url = "data:image/png;base64,aG k="
    old = read(user(image(url)))
    item = old.items[0]
    assert isinstance(item, Message)
    other = item.attachments[0].replace(reader=BytesReader(b"ho"))
    new = item.replace(attachments=[other])

    assert to_openai_chat(old)["messages"] == [user(image(url))]
    assert to_openai_chat(old.replace(items=[new]))["messages"] == [
        user(image("data:image/png;base64,aG8="))
    ]


def test_changed_arguments_are_written_anew() -> None:
    """The spelling of arguments serves only as long as it says what they say."""
    old = read(asking(asked("a", '{ "a":1}'), asked("b", '{"a": 1}')))
    items = [item.replace(args={"a": 2, "b": 3}) for item in old.items]

    assert to_openai_chat(old.replace(items=items))["messages"] == [
        asking(asked("a", '{"a":2,"b":3}'), asked("b", '{"a": 2, "b": 3}'))
    ]


def test_more_instructions_come_first() -> None:
    """Instructions that were added stand before all messages."""
    old = read({"role": "user", "content": "a"}, {"role": "system", "content": "b"})
    new = old.replace(instructions=[*old.instructions, Tokenizable("c")])

    assert to_openai_chat(new)["messages"] == [
        {"role": "system", "content": "c"},
        {"role": "user", "content": "a"},
        {"role": "system", "content": "b"},
    ]


NOTES: list[object] = [
    3,
    {"at": "x", "fields": 3, "order": [[1], "content"], "without": 7, "parts": 5},
    {"at": -1, "parts": [3, {"text": -1}], "call": [], "answer": 1, "message": 2},
    {"fields": {1: 2}, "instructions": {}, "kept": [1, {"message": 3}]},
    {"call": {"function": {"spelling": "?", "raw": 3}}, "kept": [{"message": {}}]},
    {"call": {"function": {"raw": "{", "spelling": []}}},
]


@pytest.mark.parametrize("note", NOTES)
def test_notes_that_make_no_sense_do_no_harm(note: object) -> None:
    """A stash is data of a stranger: what is odd in it is as if it were not there."""
    stash = Registry({"openai_chat": note})
    odd = conversation(
        message(stash=stash),
        message(role="assistant", stash=stash),
        answered("x", stash=stash),
        instructions=["i"],
        stash=stash,
    )

    written = to_openai_chat(odd)["messages"]

    assert isinstance(written, list)
    assert {"role": "user", "content": "Hi"} in written
