"""Messages of LangChain become conversations, and come back in the form they had."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from langchain_core import messages as lc
from langchain_core.documents import Document
from langchain_core.load import dumpd
from langchain_core.messages import content as blocks

from graphcodec import (
    Codec,
    Conversation,
    Media,
    Message,
    SpooledArtifact,
    Thought,
    Tokenizable,
    ToolCall,
    decode,
    encode,
    errors,
)
from graphcodec.adapters import from_langchain, kept_aside, langchain, to_langchain
from graphcodec.adapters.langchain import to_messages
from graphcodec_resolvers import HttpReader
from tests.adapters.instances import instances, texts, values

BYTES = base64.b64encode(b"\x89PNG").decode()
BLOCKS: list[Any] = [
    blocks.create_text_block("Look."),
    blocks.create_image_block(base64=BYTES, mime_type="image/png"),
    blocks.create_image_block(url="https://example.org/a.png", id="b"),
    blocks.create_image_block(file_id="file-1"),
    blocks.create_audio_block(base64=BYTES, mime_type="audio/wav"),
    blocks.create_video_block(url="https://example.org/a.mp4"),
    blocks.create_file_block(base64=BYTES, mime_type="application/pdf"),
    blocks.create_plaintext_block("plain"),
    blocks.create_reasoning_block("Hm."),
    blocks.create_non_standard_block({"x": 1}),
    blocks.create_citation(url="https://example.org"),
    blocks.create_tool_call("f", {"a": 1}, id="c"),
    "only text",
    {"type": "text", "text": ""},
    {"type": "image_url", "image_url": {"url": "https://example.org/b.png"}},
    {"type": "image_url", "image_url": f"data:image/png;base64,{BYTES}"},
    {"type": "image_url", "image_url": {"url": "no", "detail": "low"}},
    {"type": "image", "url": "https://example.org/a?X-Amz-Signature=s"},
    {"type": "image", "source_type": "base64", "data": BYTES, "mime_type": "image/png"},
    {"type": "image", "source_type": "url", "url": "https://example.org/c.png"},
    {"type": "image", "source_type": "id", "id": "i"},
    {"type": "image", "base64": "?", "mime_type": "image/png"},
    {"type": "image", "base64": BYTES},
    {"type": "thinking", "thinking": "Hm.", "signature": "s"},
    {"type": "thinking", "thinking": "", "signature": "s"},
    {"type": "reasoning", "summary": []},
    {"type": "tool_use", "id": "c", "name": "f", "input": {}},
    {"type": "bare-text", "text": "odd"},
]
CALL = {"name": "look", "args": {"at": [1]}, "id": "c-1", "type": "tool_call"}

contents = st.one_of(texts, st.lists(st.sampled_from(BLOCKS), max_size=5))
calls = st.fixed_dictionaries(
    {
        "name": texts,
        "args": st.dictionaries(texts, values, max_size=2),
        "id": st.sampled_from(["c-1", "c-2", None]),
        "type": st.just("tool_call"),
    }
)


def with_content(message: Any, content: Any) -> Any:
    """Return a message with another content."""
    return message.model_copy(update={"content": content})


def _messages() -> st.SearchStrategy[Any]:
    made = st.sampled_from(list(langchain.TYPES.values())).flatmap(instances)
    others = made.filter(lambda made: not isinstance(made, Document))
    asked = st.builds(
        lc.AIMessage, content=contents, tool_calls=st.lists(calls, max_size=3)
    )
    answers = st.builds(
        lc.ToolMessage,
        content=contents,
        tool_call_id=st.sampled_from(["c-1", "c-2"]),
        status=st.sampled_from(["success", "error"]),
        artifact=values,
    )
    said = st.builds(lc.HumanMessage, content=contents, name=texts, extra=values)
    mixed = st.builds(with_content, others, contents)
    return st.one_of(mixed, asked, answers, said)


histories = st.lists(_messages(), max_size=4)
generated = settings(
    max_examples=25,
    phases=[Phase.generate],
    suppress_health_check=tuple(HealthCheck),  # pyright: ignore[reportArgumentType]
    deadline=None,
)


def forms(messages: list[Any]) -> list[Any]:
    """Return messages in all forms in which they lie about."""
    dicts = lc.messages_to_dict(messages)
    bare = [message.model_dump() for message in messages]
    made = [dicts, dumpd(messages), bare, {"messages": dicts, "next": ["n"]}]
    return [json.loads(json.dumps(form)) for form in made]


def read(*messages: Any) -> Conversation:
    """Return the conversation of messages."""
    return from_langchain(list(messages))


@generated
@given(histories)
def test_any_json_comes_back(messages: list[Any]) -> None:
    """In each form, with the keys in their order, also from bytes."""
    for form in forms(messages):
        conversation = from_langchain(form)
        there = decode(encode(conversation), Conversation)
        wanted = json.dumps(form)
        assert json.dumps(to_langchain(conversation)) == wanted
        assert json.dumps(to_langchain(there)) == wanted


def is_stable(message: Any) -> bool:
    """Say whether LangChain makes a message again of what it says of it."""
    try:
        return bool(type(message)(**message.model_dump()) == message)
    except ValueError:
        # Its classes refuse some of what their schemas allow.
        return False


@generated
@given(histories)
def test_any_messages_come_back(messages: list[Any]) -> None:
    """Objects are equal, if LangChain's own validation leaves them as they are."""
    assume(all(map(is_stable, messages)))

    assert to_messages(from_langchain(messages)) == messages


def test_all_forms_are_one_conversation() -> None:
    """The items have the same ids and contents, whatever the form."""
    messages = [lc.HumanMessage("Hi", id="1"), lc.AIMessage("Ho")]
    shown = {
        (item.id, item.content)
        for form in [messages, *forms(messages)]
        for item in from_langchain(form).items
        if isinstance(item, Message)
    }
    assert shown == {("msg-0", Tokenizable("Hi")), ("msg-1", Tokenizable("Ho"))}


def test_what_a_constructor_names_is_data() -> None:
    """A class that nobody has heard of is neither imported nor made."""
    odd = dumpd(lc.HumanMessage("Hi")) | {"id": ["os", "system"]}
    conversation = read(odd)

    assert to_langchain(conversation) == [odd]
    assert to_messages(conversation) == [lc.HumanMessage("Hi")]


# Where things go


def test_messages_thoughts_and_calls() -> None:
    """Each has its primitive, in order, and the answer completes its call."""
    conversation = read(
        lc.SystemMessage("Be kind."),
        lc.HumanMessage("Look.", name="ann"),
        lc.AIMessage(
            ["So:", {"type": "thinking", "thinking": "Hm.", "signature": "s"}, "Yes."],
            tool_calls=[CALL, {**CALL, "id": "c-2"}],
        ),
        lc.ToolMessage("no", tool_call_id="c-1", status="error"),
    )
    asked, first, thought, second, call, pending = conversation.items

    assert conversation.instructions == (Tokenizable("Be kind."),)
    assert isinstance(asked, Message)
    assert asked.identity.identifier == "ann"
    assert isinstance(first, Message)
    assert isinstance(second, Message)
    assert (first.content, second.content) == (Tokenizable("So:"), Tokenizable("Yes."))
    assert isinstance(thought, Thought)
    assert (thought.content.text, thought.payload) == ("Hm.", {"signature": "s"})
    assert isinstance(call, ToolCall)
    assert (call.args, call.results, call.is_error) == (
        {"at": [1]},
        Tokenizable("no"),
        True,
    )
    assert isinstance(pending, ToolCall)
    assert not pending.is_complete


def test_media_become_readers() -> None:
    """Bytes lie in memory, addresses are handles, and secrets stay in the stash."""
    (message,) = read(lc.HumanMessage(BLOCKS[:8] + BLOCKS[14:22])).items
    assert isinstance(message, Message)

    assert [media.kind for media in message.attachments] == [
        *("image", "image", "audio", "video", "document"),
        *("image", "image", "image", "image"),
    ]
    assert message.attachments[0].read() == b"\x89PNG"
    assert message.attachments[1].reader == HttpReader("https://example.org/a.png")


def test_results_of_tools() -> None:
    """A long text is an artifact; an image is a media."""
    image: Any = blocks.create_image_block(base64=BYTES, mime_type="image/png")
    long, seen = read(
        lc.AIMessage("", tool_calls=[CALL, {**CALL, "id": "c-2"}]),
        lc.ToolMessage("x" * 5_000, tool_call_id="c-1"),
        lc.ToolMessage([image], tool_call_id="c-2"),
    ).items
    assert isinstance(long, ToolCall)
    assert isinstance(seen, ToolCall)

    assert isinstance(long.results, SpooledArtifact)
    assert isinstance(seen.results, Media)


def test_an_artifact_may_be_an_object() -> None:
    """It stays what it is, and a codec that knows its class writes it."""
    found = Document(page_content="p", id="d")
    messages = [
        lc.AIMessage("", tool_calls=[CALL]),
        lc.ToolMessage("r", tool_call_id="c-1", artifact=found),
    ]
    codec = Codec(types=langchain.TYPES)
    there = codec.decode(codec.encode(from_langchain(messages)), Conversation)

    assert to_messages(there) == messages
    with pytest.raises(errors.UnencodableValueError, match="Document"):
        encode(from_langchain(messages))


def test_what_has_no_place_is_reported() -> None:
    """Usage, invalid calls and messages of other types are listed."""
    invalid = {"name": "f", "args": "{", "id": "i", "error": "bad"}
    conversation = read(
        lc.AIMessage("Hi", invalid_tool_calls=[invalid]), lc.RemoveMessage(id="1")
    )
    kept = {(each.what, each.source) for each in kept_aside(conversation)}

    assert ("field invalid_tool_calls", "$.messages[0]") in kept
    assert ("remove", "$.messages[1]") in kept


# Back, after a change


def test_what_was_added_is_written_in_the_usual_way() -> None:
    """New items follow those before them, as objects that LangChain takes."""
    conversation = read(lc.HumanMessage("Hi", id="1"))
    moment = conversation.items[0].created_at
    times: Any = {"created_at": moment, "updated_at": moment}
    call = ToolCall(
        id="c",
        tool="look",
        args={"a": 1},
        is_complete=True,
        is_error=False,
        results="seen",
        completed_at=moment,
        **times,
    )
    said = Message(id="m", role="assistant", content="Ho", **times)
    longer = conversation.replace(items=(*conversation.items, said, call))

    assert to_messages(longer) == [
        lc.HumanMessage("Hi", id="1"),
        lc.AIMessage("Ho", tool_calls=[{"name": "look", "args": {"a": 1}, "id": "c"}]),
        lc.ToolMessage("seen", tool_call_id="c"),
    ]


def test_a_text_that_was_changed_is_written() -> None:
    """What was noted of the blocks before does not bring the old text back."""
    conversation = read(lc.HumanMessage(["a", "b"], id="1"))
    (message,) = conversation.items
    changed = conversation.replace(items=(message.replace(content="c"),))

    assert to_messages(changed) == [
        lc.HumanMessage([{"type": "text", "text": "c"}], id="1")
    ]


# What is refused


@pytest.mark.parametrize(
    ("data", "reason", "path"),
    [
        ("text", "a list of messages or a mapping", "$"),
        ({"message": []}, "messages must be a list", "$.messages"),
        ([1], "a dict or an object of LangChain, not int", "$.messages[0]"),
        ([{"content": "Hi"}], "a message needs a type", "$.messages[0]"),
        (
            [{"type": "human", "data": {"content": "Hi"}}],
            "a message needs a type",
            "$.messages[0].data",
        ),
        (
            [{"type": "human", "content": 1}],
            "content must be a str or a list of blocks",
            "$.messages[0].content",
        ),
        (
            [{"type": "human", "content": [1]}],
            "a block must be a str or a dict",
            "$.messages[0].content[0]",
        ),
    ],
)
def test_what_is_no_message_is_refused(data: Any, reason: str, path: str) -> None:
    """The error says what and where."""
    with pytest.raises(errors.InvalidValueError, match=reason) as caught:
        from_langchain(data)
    assert caught.value.path == path


def test_what_langchain_refuses_is_named() -> None:
    """JSON that only looks like a message comes back as JSON, and as no object."""
    human = {"type": "human", "content": "Hi"}
    odd = read(human, {"type": "robot", "content": "Hi"})
    bad = read(human, {**human, "name": 1})

    for conversation, reason in ((odd, "no message of type 'robot'"), (bad, "refuses")):
        with pytest.raises(errors.UnencodableValueError, match=reason) as caught:
            to_messages(conversation)
        assert caught.value.path == "$[1]"
