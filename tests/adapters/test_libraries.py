"""Whatever the models of the client libraries can hold comes back, or is told about.

The examples are made of the schemas of the versions that are installed, so types that a
library brings tomorrow are tried as well.
"""

from __future__ import annotations

import json
from typing import Any

import anthropic.types
import openai.types.responses
import pytest
from anthropic.types import beta
from openai.types import chat
from pydantic import TypeAdapter

from graphcodec import Conversation, decode, encode
from graphcodec.adapters import (
    from_anthropic,
    from_openai_chat,
    from_openai_responses,
    kept_aside,
    to_anthropic,
    to_openai_chat,
    to_openai_responses,
)
from tests.adapters.schemas import example, members

BLOCKS = [
    *members(anthropic.types.ContentBlock),
    *members(anthropic.types.ContentBlockParam),
    *members(beta.BetaContentBlock),
    *members(beta.BetaContentBlockParam),
]
ITEMS = [
    *members(openai.types.responses.ResponseOutputItem),
    *members(openai.types.responses.ResponseInputItemParam),
]
MESSAGES = list(members(chat.ChatCompletionMessageParam))
FULL = pytest.mark.parametrize("full", [True, False], ids=["full", "bare"])


def label(model: Any) -> str:
    """Return what to call a class."""
    return f"{model.__module__.partition('.')[0]}-{model.__name__}"


def is_there(conversation: Conversation) -> bool:
    """Say whether an only entry became something, or is listed as kept."""
    said = conversation.items or conversation.instructions
    whole = [kept for kept in kept_aside(conversation) if "field" not in kept.what]
    return bool(said or whole)


@FULL
@pytest.mark.parametrize("model", ITEMS, ids=label)
def test_items_of_responses(model: Any, *, full: bool) -> None:
    """Each item of the Responses API is a primitive, or kept and listed."""
    item = example(model, full=full)
    TypeAdapter(model).validate_python(item)
    taken = from_openai_responses([item])
    there = decode(encode(taken), Conversation)

    assert json.dumps(to_openai_responses(there)) == json.dumps({"input": [item]})
    assert is_there(taken)


@FULL
@pytest.mark.parametrize("model", BLOCKS, ids=label)
def test_blocks_of_anthropic(model: Any, *, full: bool) -> None:
    """Each block of the Messages API is a primitive, or kept and listed."""
    block = example(model, full=full)
    TypeAdapter(model).validate_python(block)
    chat = {"messages": [{"role": "assistant", "content": [block]}]}
    taken = from_anthropic(chat)
    there = decode(encode(taken), Conversation)

    assert json.dumps(to_anthropic(there)) == json.dumps(chat)
    assert is_there(taken)


@FULL
@pytest.mark.parametrize("model", MESSAGES, ids=label)
def test_messages_of_chats(model: Any, *, full: bool) -> None:
    """Each message of the chat format is a primitive, or kept and listed."""
    message = example(model, full=full)
    TypeAdapter(model).validate_python(message)
    taken = from_openai_chat([message])
    there = decode(encode(taken), Conversation)

    assert json.dumps(to_openai_chat(there)) == json.dumps({"messages": [message]})
    assert is_there(taken)


@FULL
def test_a_whole_response(*, full: bool) -> None:
    """A response with one item of each type comes back from the library's own dump."""
    model = openai.types.responses.Response
    outputs = [
        example(item, full=full)
        for item in members(openai.types.responses.ResponseOutputItem)
    ]
    made = model.model_validate({**example(model, full=full), "output": outputs})
    data = made.model_dump(mode="json", exclude_unset=not full, by_alias=True)

    back = to_openai_responses(from_openai_responses(data))

    assert json.dumps(back) == json.dumps(data)
    assert model.model_validate(back) == made


@FULL
def test_a_whole_message(*, full: bool) -> None:
    """A message with one block of each type comes back from the library's own dump."""
    model = anthropic.types.Message
    blocks = [
        example(block, full=full) for block in members(anthropic.types.ContentBlock)
    ]
    made = model.model_validate({**example(model, full=full), "content": blocks})
    data = made.model_dump(mode="json", exclude_unset=not full)

    back = to_anthropic(from_anthropic(data))

    assert json.dumps(back) == json.dumps(data)
    assert model.model_validate(back) == made
