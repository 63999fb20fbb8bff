"""What OpenAI's Responses API takes and gives becomes conversations, and comes back."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from openai.types.responses import Response, ResponseInputItemParam, ResponseOutputItem
from pydantic import TypeAdapter

from graphcodec import (
    Conversation,
    Message,
    Retrievable,
    SpooledArtifact,
    Thought,
    Tokenizable,
    ToolCall,
    decode,
    encode,
    errors,
)
from graphcodec.adapters import (
    from_openai_responses,
    kept_aside,
    to_openai_responses,
)
from graphcodec_resolvers import HttpReader
from tests.adapters.responses import conversations

PIXEL = "data:image/png;base64,iVBORw0KGgo="
NOW = datetime(2026, 5, 4, tzinfo=UTC)
INPUTS: TypeAdapter[Any] = TypeAdapter(list[ResponseInputItemParam])
OUTPUTS: TypeAdapter[Any] = TypeAdapter(list[ResponseOutputItem])


def read(*items: Any) -> Conversation:
    """Return the conversation of these items, which the library takes as input."""
    INPUTS.validate_python(list(items))
    return from_openai_responses(list(items))


def back(*items: Any) -> list[Any]:
    """Return items as they come back from the bytes of their conversation."""
    there = decode(encode(from_openai_responses(list(items))), Conversation)
    written: Any = to_openai_responses(there)["input"]
    return list(written)


def one(*items: Any) -> Any:
    """Return the only item of the conversation of these items, which come back."""
    assert json.dumps(back(*items)) == json.dumps(items)
    [found] = read(*items).items
    return found


def user(*parts: object) -> dict[str, object]:
    """Return a message of the user."""
    return {"role": "user", "content": list(parts)}


def asked(name: str, **more: object) -> dict[str, object]:
    """Return a call of the function ``look``."""
    call = {"type": "function_call", "call_id": name, "name": "look"}
    return {**call, "arguments": '{"a":1}', **more}


def answer(name: str, output: object) -> dict[str, object]:
    """Return the answer to a call."""
    return {"type": "function_call_output", "call_id": name, "output": output}


# There and back


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(conversations)
def test_anything_comes_back(data: dict[str, object]) -> None:
    """What is generated comes back with the same types and the same order of keys."""
    conversation = from_openai_responses(data)

    assert json.dumps(to_openai_responses(conversation)) == json.dumps(data)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(conversations)
def test_anything_comes_back_from_bytes(data: dict[str, object]) -> None:
    """Nothing is lost on the wire either."""
    there = decode(encode(from_openai_responses(data)), Conversation)

    assert json.dumps(to_openai_responses(there)) == json.dumps(data)


@pytest.mark.parametrize(
    "data",
    [
        {"model": "m", "input": "Hi", "instructions": "Be brief."},
        {"input": ""},
        {"instructions": "Be brief.", "previous_response_id": "r", "input": []},
        {"output": [], "instructions": None},
        {"input": [], "output": [{"role": "user", "content": "x"}]},
        {"output": [], "instructions": [user()]},
    ],
)
def test_requests_come_back(data: dict[str, object]) -> None:
    """The forms of a request or response are remembered."""
    assert json.dumps(to_openai_responses(from_openai_responses(data))) == (
        json.dumps(data)
    )


def test_a_text_is_a_message() -> None:
    """An input that is a text is what the user says; its prompt is an instruction."""
    found = from_openai_responses({"input": "Hi", "instructions": "Be brief."})
    [message] = found.items

    assert isinstance(message, Message)
    assert (message.role, message.content) == ("user", Tokenizable("Hi"))
    assert found.instructions == (Tokenizable("Be brief."),)


def test_times_and_names_are_those_of_the_response() -> None:
    """Everything was made when the response was, and is called as it was there."""
    text: dict[str, object] = {
        "type": "output_text",
        "text": "Hi",
        "annotations": [],
        "logprobs": [],
    }
    item: dict[str, object] = {"type": "message", "id": "msg_1", "content": [text]}
    item["role"] = "assistant"
    data: Any = {"id": "resp_1", "created_at": 1_777_852_800, "output": [item]}
    found = from_openai_responses(data)

    assert (found.id, found.items[0].id) == ("resp_1", "msg_1")
    assert found.items[0].created_at == NOW


# Where things go


def test_messages_of_the_developer_are_instructions() -> None:
    """They keep their place among the items."""
    items = [
        user({"type": "input_text", "text": "a"}),
        {"role": "system", "content": "b"},
    ]

    assert read(*items).instructions == (Tokenizable("b"),)
    assert back(*items) == items


def test_citations_stay_with_their_text() -> None:
    """Annotations of a text are in the stash of its message."""
    cited: dict[str, object] = {
        "type": "url_citation",
        "url": "https://example.org",
        "title": "t",
    }
    cited |= {"start_index": 0, "end_index": 2}
    text: dict[str, object] = {
        "type": "output_text",
        "text": "Hi",
        "annotations": [cited],
    }
    item: dict[str, object] = {"id": "m", "type": "message", "status": "completed"}
    item |= {"role": "assistant", "content": [text]}
    message = one(item)

    assert message.stash.get("openai_responses.parts.0.fields.annotations") == [cited]


def test_a_refusal_is_what_is_said() -> None:
    """It is the text of the message, and a refusal again."""
    part = {"type": "refusal", "refusal": "I can't."}
    item: dict[str, object] = {"id": "m", "type": "message", "status": "completed"}
    message = one({**item, "role": "assistant", "content": [part]})

    assert message.content == Tokenizable("I can't.")


def test_images_and_files_are_media() -> None:
    """Data URLs are bytes, addresses are handles, in the order of the parts."""
    url = "https://example.org/a.pdf"
    message = one(
        user(
            {"type": "input_text", "text": "look"},
            {"type": "input_image", "image_url": PIXEL, "detail": "low"},
            {"type": "input_file", "file_url": url},
            {"type": "input_file", "file_data": "aGk=", "filename": "b.csv"},
            {"type": "input_file", "file_data": "data:text/csv;base64,aGk="},
        )
    )
    image, remote, bare, file = message.attachments

    assert (image.mime_type, image.read()) == ("image/png", b"\x89PNG\r\n\x1a\n")
    assert (remote.reader, remote.filename) == (HttpReader(url), "a.pdf")
    assert (bare.mime_type, bare.read()) == ("text/csv", b"hi")
    assert (file.kind, file.filename) == ("document", "document.csv")


def test_sound_is_media() -> None:
    """Audio in base64 is a media, though not all versions of the API have it."""
    part = {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}}
    [message] = from_openai_responses([user(part)]).items

    assert isinstance(message, Message)
    assert message.attachments[0].kind == "audio"
    assert back(user(part)) == [user(part)]


@pytest.mark.parametrize(
    ("part", "why"),
    [
        ({"type": "input_image", "file_id": "f"}, "with the vendor"),
        ({"type": "input_file", "file_id": "f"}, "with the vendor"),
        ({"type": "input_file"}, "nowhere"),
        ({"type": "input_image", "image_url": "https://e.org/?sig=1"}, "signature"),
        ({"type": "input_file", "file_data": "?"}, "not base64"),
    ],
)
def test_what_is_no_media_is_kept_with_a_reason(part: Any, why: str) -> None:
    """A part whose bytes can't be had stays in the stash, and is listed."""
    items = [user({"type": "input_text", "text": "look"}, part)]
    [kept] = kept_aside(from_openai_responses(items))

    assert (kept.what, kept.source) == (part["type"], "$.input[0]")
    assert why in kept.why
    assert back(*items) == items


def test_reasoning_is_a_thought() -> None:
    """The summary is its text; what is encrypted is its payload."""
    item = {
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "a"}],
        "type": "reasoning",
        "encrypted_content": "gAAA",
    }
    thought = one(item)

    assert isinstance(thought, Thought)
    assert (thought.id, thought.content) == ("rs_1", Tokenizable("a"))
    assert thought.payload == {"encrypted_content": "gAAA"}
    assert thought.replay_compatibility == "openai-responses-reasoning-v1"


def test_reasoning_that_can_be_read() -> None:
    """Models that show their reasoning have it as the content."""
    text = {"type": "reasoning_text", "text": "hm"}
    thought = one({"type": "reasoning", "id": "r", "summary": [], "content": [text]})

    assert (thought.content, thought.payload) == (Tokenizable("hm"), None)


def test_calls_meet_their_answers() -> None:
    """A call is complete with its answer, and pending without."""
    done, pending = read(asked("a"), asked("b"), answer("a", "42")).items

    assert isinstance(done, ToolCall)
    assert isinstance(pending, ToolCall)
    assert (done.id, done.tool, done.args) == ("a", "look", {"a": 1})
    assert done.results == Tokenizable("42")
    assert not pending.is_complete


def test_answers_with_pictures_are_media() -> None:
    """Texts beside media are plain documents, since results are of one family."""
    output = [
        {"type": "input_text", "text": "the door"},
        {"type": "input_image", "image_url": PIXEL},
    ]
    call = one(asked("a"), answer("a", output))

    assert [each.mime_type for each in call.results] == ["text/plain", "image/png"]
    assert call.results[0].read() == b"the door"


def test_long_answers_are_artifacts() -> None:
    """An answer above the threshold is spooled."""
    call = one(asked("a"), answer("a", "x" * 5_000))

    assert isinstance(call.results, SpooledArtifact)


def test_screenshots_are_media() -> None:
    """What a computer shows is an image."""
    action = {"type": "click", "button": "left", "x": 1, "y": 2}
    computer: dict[str, object] = {"type": "computer_call", "id": "cu", "call_id": "a"}
    computer |= {"action": action, "pending_safety_checks": [], "status": "completed"}
    shown = {"type": "computer_screenshot", "image_url": PIXEL}
    call = one(
        computer, {"type": "computer_call_output", "call_id": "a", "output": shown}
    )

    assert (call.tool, call.args) == ("computer", {"action": action})
    assert call.results.mime_type == "image/png"


def test_shells_answer_in_json() -> None:
    """What is neither text nor media is JSON, as a text."""
    call: dict[str, object] = {"type": "shell_call", "call_id": "a"}
    call |= {"action": {"commands": ["ls"]}}
    ran = {"stdout": "é\n", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}
    found = one(call, {"type": "shell_call_output", "call_id": "a", "output": [ran]})

    assert found.tool == "shell"
    assert json.loads(found.results.text) == [ran]


def test_a_local_shell_is_answered_by_id() -> None:
    """Its answer names the call in another key than all others."""
    call: dict[str, object] = {"type": "local_shell_call", "id": "l", "call_id": "a"}
    call |= {"status": "completed"}
    call |= {"action": {"type": "exec", "command": ["ls"], "env": {}}}
    found = one(call, {"type": "local_shell_call_output", "id": "a", "output": "x"})

    assert found.results == Tokenizable("x")


def test_searches_of_files_find_passages() -> None:
    """Each result is a passage behind the call, with its file and score."""
    result = {"file_id": "f", "filename": "a.md", "score": 0.5, "text": "found"}
    item: dict[str, object] = {"id": "fs", "type": "file_search_call"}
    item |= {"status": "completed", "queries": ["q"], "results": [result]}
    call, passage = read(item).items

    assert isinstance(call, ToolCall)
    assert isinstance(passage, Retrievable)
    assert (call.tool, call.args) == ("file_search", {"queries": ["q"]})
    assert (passage.content, passage.source, passage.score) == (
        Tokenizable("found"),
        "a.md",
        0.5,
    )
    assert back(item) == [item]


def test_made_images_are_media() -> None:
    """An image that was generated is the result of the call."""
    item = {"id": "ig", "type": "image_generation_call", "status": "completed"}
    call = one({**item, "result": "aGk=", "output_format": "webp"})

    assert (call.results.mime_type, call.results.read()) == ("image/webp", b"hi")


def test_code_that_ran() -> None:
    """What an interpreter printed is the result of the call."""
    item: dict[str, object] = {"id": "ci", "type": "code_interpreter_call"}
    item |= {"status": "completed", "code": "1", "container_id": "c"}
    call = one({**item, "outputs": [{"type": "logs", "logs": "1\n"}]})

    assert (call.args, call.results) == ({"code": "1"}, Tokenizable("1\n"))


def test_servers_of_tools() -> None:
    """Calls of MCP have their answer, or their error, in them."""
    item = {"id": "mcp", "type": "mcp_call", "name": "roll", "server_label": "dice"}
    call = one({**item, "arguments": "{}", "output": "4"})
    failed = one({**item, "arguments": "{}", "error": {"type": "x"}} | {"error": None})

    assert (call.tool, call.results) == ("roll", Tokenizable("4"))
    assert (call.is_error, failed.is_error) == (False, False)


@pytest.mark.parametrize(
    ("state", "is_complete", "is_error"),
    [("completed", True, False), ("failed", True, True), ("in_progress", False, False)],
)
def test_states_of_hosted_calls(
    state: str, *, is_complete: bool, is_error: bool
) -> None:
    """Calls that the vendor makes are done when their status says so."""
    action = {"type": "search", "query": "q"}
    item = {"id": "ws", "type": "web_search_call", "status": state, "action": action}
    call = one(item)

    assert (call.is_complete, call.is_error) == (is_complete, is_error)
    assert call.args == {"action": action}


def test_unknown_items_are_kept_and_listed() -> None:
    """What tomorrow brings comes back, and is told about."""
    items = [{"type": "item_reference", "id": "i"}, {"type": "dream", "of": "sheep"}]
    kept = kept_aside(from_openai_responses(items))

    assert [each.what for each in kept] == ["item_reference", "dream"]
    assert [each.source for each in kept] == ["$.input[0]", "$.input[1]"]
    assert back(*items) == items


def test_sources_in_responses() -> None:
    """What is kept of a response says that it was in its output."""
    [kept] = kept_aside(from_openai_responses({"output": [{"type": "dream"}]}))

    assert kept.source == "$.output[0]"


# What is refused


WRONG: list[tuple[object, str, str]] = [
    (3, "$", "it must be a request, a response or a list of items, not int"),
    ({}, "$.input", "input must be a list, not NoneType"),
    ({"messages": []}, "$.input", "this has messages: openai-chat or anthropic"),
    ({"input": "x", "output": []}, "$", "both input and output"),
    ({"output": "x"}, "$.output", "output must be a list, not str"),
    ([3], "$.input[0]", "an item must be a dict, not int"),
    ([{"role": "user", "content": 1}], "$.input[0].content", "not int"),
    ([{"type": "function_call"}], "$.input[0].name", "a tool needs a name"),
    ([asked("a"), answer("a", {"x": {1}})], "$", "plain JSON"),
]


@pytest.mark.parametrize(("data", "path", "words"), WRONG)
def test_refuses_what_is_none(data: Any, path: str, words: str) -> None:
    """The error says what should be, where, and what to do."""
    with pytest.raises(errors.InvalidValueError) as caught:
        from_openai_responses(data)

    assert caught.value.path == path
    assert words in str(caught.value)


@pytest.mark.parametrize("value", [{"x": {1}}, {1: 2}])
def test_refuses_answers_that_are_no_json(value: object) -> None:
    """An answer that would not come back is refused, also with an id of its own."""
    data = {"id": "r", "input": [asked("a"), answer("a", value)]}
    with pytest.raises(errors.InvalidValueError, match="plain JSON") as caught:
        from_openai_responses(data)

    assert caught.value.path == "$.input[1]"


def test_the_library_takes_what_comes_back() -> None:
    """A response goes through a conversation and is the same object to the library."""
    text: dict[str, object] = {"type": "output_text", "text": "Hi", "annotations": []}
    message: dict[str, object] = {"id": "m", "type": "message", "content": [text]}
    message["status"] = "completed"
    data: dict[str, object] = {
        "id": "resp_1",
        "object": "response",
        "created_at": 1_777_852_800.0,
        "model": "example-1",
        "output": [{**message, "role": "assistant"}],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 1,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 2,
        },
    }
    response = Response.model_validate(data)
    found = from_openai_responses(response.model_dump(mode="json", exclude_unset=True))

    assert Response.model_validate(to_openai_responses(found)) == response
    assert found.stash.get("openai_responses.fields.usage.total_tokens") == 2
