"""The message classes of LangChain and Pydantic AI come back exactly."""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import asyncio
import dataclasses
import inspect
from typing import Any

import pydantic
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from langchain_core import messages as lc
from langchain_core.documents import Document
from pydantic_ai import (
    Agent,
    BinaryContent,
    Conversation,
    ImageUrl,
    ToolReturn,
)
from pydantic_ai import messages as pa
from pydantic_ai.conversation_store import ConversationEntry, ConversationRecord
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RequestUsage, RunUsage

from graphcodec import Codec
from graphcodec.adapters import langchain, pydantic_ai
from graphcodec.errors import RoundTripError, UndecodableValueError
from tests.adapters.instances import instances

LANGCHAIN = Codec(types=langchain.TYPES)
PYDANTIC_AI = Codec(types=pydantic_ai.TYPES)

generated = settings(
    max_examples=6,
    phases=[Phase.generate],
    suppress_health_check=tuple(HealthCheck),  # pyright: ignore[reportArgumentType]
    deadline=None,
)


def comes_back(codec: Codec, value: Any) -> None:
    """Verify that a value comes back in both formats."""
    for each in (codec, codec.replace(format="msgpack")):
        there = each.decode(each.encode(value))
        assert there == value
        assert type(there) is type(value)


# LangChain


def test_all_messages_of_langchain_are_known() -> None:
    """Each class that the library exports and one can make, and no other message."""
    exported = {getattr(lc, name) for name in lc.__all__}
    classes = {cls for cls in exported if inspect.isclass(cls)}
    made = {cls for cls in classes if issubclass(cls, lc.BaseMessage)}

    assert set(langchain.TYPES.values()) == {
        *(made - {lc.BaseMessage, lc.BaseMessageChunk}),
        Document,
    }


@pytest.mark.parametrize("tag", langchain.TYPES)
@generated
@given(st.data())
def test_messages_of_langchain_come_back(tag: str, data: st.DataObject) -> None:
    """Any message does that LangChain's own validation leaves as it is."""
    message = data.draw(instances(langchain.TYPES[tag]))
    again = type(message)(**message.model_dump())
    assume(again == message)

    comes_back(LANGCHAIN, message)


def test_fields_of_others_come_back() -> None:
    """Messages may have fields that their class does not know."""
    message = lc.HumanMessage("hi", example=True, tags=["a"])
    there: Any = LANGCHAIN.decode(LANGCHAIN.encode(message))

    assert there.model_dump() == message.model_dump()
    assert there.tags == ["a"]


def test_an_artifact_of_any_kind_comes_back() -> None:
    """Documents, bytes and what the user registered may stand in an artifact."""
    found = [Document(page_content="p", metadata={"a": {1}}, id="d"), b"raw"]
    comes_back(LANGCHAIN, lc.ToolMessage("r", tool_call_id="c", artifact=found))


def test_validation_that_changes_a_message_is_found() -> None:
    """LangChain parses calls again where they were taken out, and `check` says so."""
    raw = {"id": "1", "function": {"name": "f", "arguments": "{}"}}
    message = lc.AIMessage("", additional_kwargs={"tool_calls": [raw]})
    LANGCHAIN.check(message)
    message.tool_calls = []

    with pytest.raises(RoundTripError, match="does not come back"):
        LANGCHAIN.check(message)


def test_a_message_that_langchain_refuses_is_refused() -> None:
    """Its own validation runs on what a document says; the error names the place."""
    text = LANGCHAIN.encode_text([lc.HumanMessage("hi")]).replace('"human"', '"robot"')

    with pytest.raises(UndecodableValueError) as caught:
        LANGCHAIN.decode(text)
    assert caught.value.path.startswith("$[0]")


# Pydantic AI


NEVER_KEPT = {
    "BaseToolCallPart",
    "BaseToolReturnPart",
    "DeferredToolResults",
    "FileUrl",
    "ToolReturn",
}


def test_all_parts_of_pydantic_ai_are_known() -> None:
    """Each message and part that the library exports, and what they are kept in.

    Left out are what is abstract, streamed, or given to an agent and not kept by it.
    """
    exported = {
        cls
        for name, cls in vars(pa).items()
        if inspect.isclass(cls)
        and dataclasses.is_dataclass(cls)
        and not name.startswith("_")
        and not name.endswith(("Event", "Delta"))
        and name not in NEVER_KEPT
    }

    kept_in = {Conversation, ConversationEntry, ConversationRecord}
    usage = {RequestUsage, RunUsage}
    assert set(pydantic_ai.TYPES.values()) == exported | kept_in | usage


@pytest.mark.filterwarnings("ignore:`RetryPromptPart` is deprecated")
@pytest.mark.parametrize("tag", pydantic_ai.TYPES)
@generated
@given(st.data())
def test_parts_of_pydantic_ai_come_back(tag: str, data: st.DataObject) -> None:
    """Any instance of any of them does."""
    comes_back(PYDANTIC_AI, data.draw(instances(pydantic_ai.TYPES[tag])))


def test_what_equality_overlooks_comes_back() -> None:
    """A URL has an identifier and a media type that ``==`` leaves out."""
    url = ImageUrl("https://example.org/a", media_type="image/png", identifier="one")
    there: Any = PYDANTIC_AI.decode(PYDANTIC_AI.encode(url))

    assert (there.media_type, there.identifier) == ("image/png", "one")


class Weather(pydantic.BaseModel):
    """What a tool gives back."""

    degrees: float


def test_a_run_comes_back_with_its_objects() -> None:
    """All messages of a run, with objects and images that tools gave back."""
    agent = Agent(TestModel(), instructions="Be brief.", system_prompt="You help.")

    @agent.tool_plain
    def weather(city: str) -> Weather:
        """Tell the weather."""
        return Weather(degrees=float(len(city)))

    @agent.tool_plain
    def look() -> ToolReturn[Any]:
        """Look out of the window."""
        image = BinaryContent(b"\x89PNG", media_type="image/png")
        return ToolReturn(return_value={"seen": image}, content=["A view", image])

    prompt: list[pa.UserContent] = [
        "How is it?",
        BinaryContent(b"%PDF", media_type="application/pdf"),
    ]
    messages = asyncio.run(agent.run(prompt)).all_messages()
    codec = Codec(types={**pydantic_ai.TYPES, "shop.Weather": Weather})
    there: Any = codec.decode(codec.encode(messages))

    assert {weather, look}
    assert there == messages
    returned = [
        part.content for part in there[2].parts if part.part_kind == "tool-return"
    ]
    assert Weather(degrees=1.0) in returned
