"""Messages of Pydantic AI become conversations, and come back exactly."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

import asyncio
import dataclasses
import datetime as dt
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from pydantic_ai import Agent, ModelRetry, ToolReturn
from pydantic_ai import messages as pa
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

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
from graphcodec.adapters import from_pydantic_ai, kept_aside, to_pydantic_ai
from graphcodec.adapters.pydantic_ai import from_messages, to_messages
from graphcodec_resolvers import HttpReader
from tests.adapters.instances import instances

pytestmark = [
    # Old histories have such parts, so generated ones do.
    pytest.mark.filterwarnings("ignore:`RetryPromptPart` is deprecated"),
    # What Hypothesis says of strategies for unions of many classes.
    pytest.mark.filterwarnings("ignore:Generating overly large repr"),
]

PNG = b"\x89PNG\xfb\xff"
NOW = dt.datetime(2026, 5, 4, 12, tzinfo=dt.UTC)

messages = st.one_of(instances(pa.ModelRequest), instances(pa.ModelResponse))
generated = settings(
    max_examples=25,
    phases=[Phase.generate],
    suppress_health_check=tuple(HealthCheck),  # pyright: ignore[reportArgumentType]
    deadline=None,
)


def as_json(history: list[Any]) -> Any:
    """Return messages as the library writes them, if it reads them again."""
    try:
        text = pa.ModelMessagesTypeAdapter.dump_json(history, warnings="error")
        pa.ModelMessagesTypeAdapter.validate_json(text)
        return json.loads(text)
    except ValueError:
        # A generated value that it does not allow, or that JSON has no form for.
        assume(condition=False)


def is_today(history: list[Any]) -> bool:
    """Say whether messages have no part that the library itself translates."""
    parts = [part for message in history for part in message.parts]
    return all(part.part_kind != "retry-prompt" for part in parts)


def read(*given: Any) -> Conversation:
    """Return the conversation of messages."""
    return from_messages(list(given))


@generated
@given(st.lists(messages, max_size=3))
def test_any_json_comes_back(history: list[Any]) -> None:
    """With the keys in their order, also from bytes."""
    form = as_json(history)
    conversation = from_pydantic_ai(form)
    there = decode(encode(conversation), Conversation)

    assert json.dumps(to_pydantic_ai(conversation)) == json.dumps(form)
    assert json.dumps(to_pydantic_ai(there)) == json.dumps(form)


@generated
@given(st.lists(messages, max_size=3))
def test_any_messages_come_back(history: list[Any]) -> None:
    """Objects are equal, as they are when the library itself reads what it wrote."""
    assume(is_today(history))
    text = json.dumps(as_json(history))
    # An id with a colon in it, for example, is another one there.
    assume(pa.ModelMessagesTypeAdapter.validate_json(text) == history)

    assert to_messages(from_messages(history)) == history


# Runs


def run(prompt: Any = "Hi") -> list[Any]:
    """Return the messages of a run with tools that answer in several ways."""
    agent = Agent(TestModel(), instructions="Be brief.", system_prompt="You help.")
    tries: list[str] = []

    @agent.tool_plain
    def look() -> ToolReturn[Any]:
        """Look out of the window."""
        image = pa.BinaryContent(PNG, media_type="image/png")
        return ToolReturn(return_value=image, content=["A view", image])

    @agent.tool_plain
    def count() -> dict[str, int]:
        """Count."""
        return {"sheep": 3}

    @agent.tool_plain
    def ask() -> str:
        """Ask again once."""
        tries.append("ask")
        if len(tries) == 1:
            msg = "once more"
            raise ModelRetry(msg)
        return "x" * 5_000

    assert {look, count, ask}
    return asyncio.run(agent.run(prompt)).all_messages()


def test_a_run_comes_back() -> None:
    """All messages of it, also as bytes of a codec that knows none of their classes."""
    history = run(["Look:", pa.BinaryImage(PNG, media_type="image/png")])
    there = decode(encode(from_messages(history)), Conversation)

    assert to_messages(there) == history
    assert as_json(to_messages(there)) == as_json(history)


def test_a_run_goes_on_with_what_came_back() -> None:
    """An agent takes the messages for a history."""
    seen: list[int] = []

    def model(history: list[Any], _: AgentInfo) -> pa.ModelResponse:
        seen.append(len(history))
        return pa.ModelResponse([pa.TextPart("Bye")])

    history = run()
    there = to_messages(decode(encode(from_messages(history)), Conversation))
    result = asyncio.run(Agent(FunctionModel(model)).run("And?", message_history=there))

    assert result.output == "Bye"
    assert seen == [len(history) + 1]


@dataclasses.dataclass
class Sheep:
    """What a tool gives back."""

    names: tuple[str, ...]


def test_objects_that_tools_gave_back_are_kept() -> None:
    """They come back as objects, and a codec that knows their class writes them."""
    call = pa.ToolCallPart("count", {}, "c")
    answer = pa.ToolReturnPart("count", Sheep(("Ann",)), "c", metadata={"at": NOW})
    history: list[Any] = [pa.ModelResponse([call]), pa.ModelRequest([answer])]
    conversation = from_messages(history)
    codec = Codec(types={"farm.Sheep": Sheep})

    assert to_messages(conversation) == history
    assert (
        to_messages(codec.decode(codec.encode(conversation), Conversation)) == history
    )
    with pytest.raises(errors.UnencodableValueError, match="Sheep"):
        encode(conversation)


def test_objects_do_not_stand_in_for_changed_results() -> None:
    """What was kept of an answer is not put back over another one."""
    call = pa.ToolCallPart("count", {}, "c")
    answer = pa.ToolReturnPart("count", Sheep(("Ann",)), "c")
    conversation = read(pa.ModelResponse([call]), pa.ModelRequest([answer]))
    (item,) = conversation.items
    changed = conversation.replace(items=(item.replace(results='{"names":[]}'),))
    part: Any = to_messages(changed)[1].parts[0]

    assert part.content == {"names": []}


# Where things go


def test_parts_become_primitives() -> None:
    """Each has its primitive, in order, with its time."""
    prompt = pa.UserPromptPart("Count.", timestamp=NOW)
    thought = pa.ThinkingPart("Hm.", signature="s", provider_name="p")
    response = pa.ModelResponse(
        [thought, pa.TextPart("So:"), pa.ToolCallPart("count", '{"to": 3}', "c-1")],
        timestamp=NOW + dt.timedelta(seconds=1),
    )
    failed = pa.ToolReturnPart("count", "no", "c-1", outcome="failed")
    conversation = read(
        pa.ModelRequest([pa.SystemPromptPart("Be."), prompt], instructions="Do."),
        response,
        pa.ModelRequest([failed], instructions="Do."),
    )
    asked, reasoned, said, call = conversation.items

    assert conversation.instructions == (Tokenizable("Do."), Tokenizable("Be."))
    assert isinstance(asked, Message)
    assert (asked.content, asked.created_at) == (Tokenizable("Count."), NOW)
    assert isinstance(reasoned, Thought)
    assert reasoned.payload == {"signature": "s"}
    assert isinstance(said, Message)
    assert said.created_at == NOW + dt.timedelta(seconds=1)
    assert isinstance(call, ToolCall)
    assert (call.args, call.results, call.is_error) == (
        {"to": 3},
        Tokenizable("no"),
        True,
    )


def test_files_become_media() -> None:
    """Bytes lie in memory, addresses are handles, and secrets stay in the stash."""
    signed = pa.ImageUrl("https://example.org/a.png?X-Amz-Signature=s")
    content: list[pa.UserContent] = [
        pa.BinaryContent(PNG, media_type="image/png"),
        pa.ImageUrl("https://example.org/a.png"),
        pa.AudioUrl("https://example.org/a", media_type="audio/wav"),
        pa.DocumentUrl("https://example.org/a.pdf"),
        pa.VideoUrl("https://example.org/a.mp4"),
        pa.UploadedFile("f-1", "openai"),
        signed,
    ]
    conversation = read(pa.ModelRequest([pa.UserPromptPart(content)]))
    (message,) = conversation.items
    assert isinstance(message, Message)
    media = message.attachments

    assert [m.kind for m in media] == ["image", "image", "audio", "document", "video"]
    assert media[0].read() == PNG
    assert media[1].reader == HttpReader("https://example.org/a.png")
    assert media[2].mime_type == "audio/wav"


def test_results_of_tools() -> None:
    """JSON is text, a long text an artifact, an image a media."""
    results = {
        item.tool: item.results
        for item in from_messages(run()).items
        if isinstance(item, ToolCall) and item.is_complete and not item.is_error
    }
    assert results["count"] == Tokenizable('{"sheep":3}')
    assert isinstance(results["look"], Media)
    assert isinstance(results["ask"], SpooledArtifact)


def test_what_has_no_place_is_reported() -> None:
    """Usage and parts of other kinds are listed, with the place they had."""
    response = pa.ModelResponse([pa.TextPart("Hi"), pa.CompactionPart("short")])
    kept = {(each.what, each.source) for each in kept_aside(read(response))}

    assert {("field usage", "$[0]"), ("compaction", "$[0]")} <= kept


# Back, after a change


def test_what_was_added_is_written_in_the_usual_way() -> None:
    """New items follow those before them, as the library takes them."""
    request = pa.ModelRequest([pa.UserPromptPart("Hi", timestamp=NOW)])
    conversation = read(request)
    times: Any = {"created_at": NOW, "updated_at": NOW}
    call = ToolCall(
        id="c",
        tool="look",
        args={"a": 1},
        is_complete=True,
        is_error=False,
        results="seen",
        completed_at=NOW,
        **times,
    )
    said = Message(id="m", role="assistant", content="Ho", **times)
    thought = Thought(id="t", content="Hm.", **times)
    longer = conversation.replace(items=(*conversation.items, thought, said, call))
    first, response, answer = to_messages(longer)

    assert first == request
    assert response.parts == [
        pa.ThinkingPart("Hm."),
        pa.TextPart("Ho"),
        pa.ToolCallPart("look", {"a": 1}, "c"),
    ]
    (part,) = answer.parts
    assert isinstance(part, pa.ToolReturnPart)
    assert (part.content, part.tool_call_id, part.outcome) == ("seen", "c", "success")


# What is refused


REFUSED: list[Any] = [
    ({}, "a list of messages, not dict", "$"),
    ([1], "a message must be a dict, not int", "$[0]"),
    ([{"parts": []}], "kind must be request or response", "$[0].kind"),
    ([{"kind": "request"}], "parts must be a list", "$[0].parts"),
    ([{"kind": "request", "parts": [1]}], "a part must be", "$[0].parts[0]"),
    (
        [{"kind": "request", "parts": [{"part_kind": "user-prompt"}, 1]}],
        "a part must be a dict",
        "$[0].parts[1]",
    ),
    (
        [
            {
                "kind": "request",
                "parts": [{"part_kind": "user-prompt", "content": 1}],
            }
        ],
        "content must be a str",
        "$[0].parts[0].content",
    ),
]


@pytest.mark.parametrize(("data", "reason", "path"), REFUSED)
def test_what_is_no_message_is_refused(data: Any, reason: str, path: str) -> None:
    """The error says what and where."""
    with pytest.raises(errors.InvalidValueError, match=reason) as caught:
        from_pydantic_ai(data)
    assert caught.value.path == path


def test_what_pydantic_ai_refuses_is_named() -> None:
    """JSON that only looks like a message comes back as JSON, and as no object."""
    odd = {"kind": "request", "parts": [{"part_kind": "odd"}]}
    conversation = from_pydantic_ai([{"kind": "request", "parts": []}, odd])

    assert to_pydantic_ai(conversation)[1] == odd
    with pytest.raises(errors.UnencodableValueError, match="refuses") as caught:
        to_messages(conversation)
    assert caught.value.path == "$[1]"


def test_what_pydantic_ai_can_not_write_is_named() -> None:
    """The error says which message, and what writes it as it is."""
    answer = pa.ToolReturnPart("f", object(), "c")

    with pytest.raises(errors.InvalidValueError, match="can't write") as caught:
        read(pa.ModelRequest([]), pa.ModelRequest([answer]))
    assert caught.value.path == "$[1]"
