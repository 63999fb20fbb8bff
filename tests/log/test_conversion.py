"""Session records of primitives, and the way back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphcodec as g
from graphcodec import log
from graphcodec._strategies import _primitives as strategies
from graphcodec.errors import JsonError
from graphcodec.testing import same_graph
from tests.log.records import assistant, called, failed, result, summary, user, working

NOW = datetime(2026, 5, 1, 12, 30, 15, 123456, tzinfo=UTC)
PARTS = st.one_of(
    strategies.messages(),
    strategies.tool_calls(),
    strategies.thoughts(),
    strategies.retrievables(),
    strategies.tokenizables(),
    strategies.memories(),
)
TIMES: dict[str, Any] = {"created_at": NOW, "updated_at": NOW}


def reread(records: list[log.SessionRecord]) -> list[log.SessionRecord]:
    """Return records after a way through JSON."""
    return [log.from_json(log.to_json(record)) for record in records]


def talk() -> g.Conversation:
    """Return a conversation with one of everything."""
    image = g.Media.user_attachment(
        kind="image",
        mime_type="image/png",
        filename="a.png",
        reader=g.BytesReader(b"x"),
    )
    return g.Conversation(
        id="c-1",
        instructions=["be brief"],
        items=[
            g.Message(
                id="m-1", role="user", content="hi", attachments=[image], **TIMES
            ),
            g.Thought(
                id="h-1",
                content="hm",
                payload={"k": b"\0"},
                replay_compatibility="x",
                **TIMES,
            ),
            g.ToolCall(
                id="t-1",
                tool="read",
                args={"at": NOW, "n": 1},
                is_complete=False,
                is_error=False,
                **TIMES,
            ),
            g.ToolCall(
                id="t-2",
                tool="read",
                args={"n": [1]},
                is_complete=True,
                is_error=True,
                results="gone",
                completed_at=NOW + timedelta(1),
                **TIMES,
            ),
            g.Retrievable(
                id="r-1",
                content="passage",
                trust_tier="third-party-public",
                score=0.5,
                **TIMES,
            ),
            g.Message(
                id="m-2",
                role="assistant",
                content="ok",
                stash=g.Registry(
                    {
                        "model": "claude-x",
                        "usage": {"prompt_tokens": 3, "completion_tokens": 4},
                    }
                ),
                **TIMES,
            ),
        ],
        memories=[
            g.Memory(
                id="y-1", content="likes tea", confidence=1, importance=0.5, **TIMES
            )
        ],
    )


def test_conversation_comes_back() -> None:
    """A conversation becomes records, and the records that conversation."""
    conversation = talk()
    records = reread(log.from_primitives(conversation))

    assert log.to_primitives(records, id="c-1") == conversation


@settings(deadline=None)
@given(PARTS)
def test_any_primitive_comes_back(primitive: Any) -> None:
    """Whatever a part of a conversation holds comes back."""
    again = log.to_primitives(reread(log.from_primitives([primitive])))

    found: list[Any] = [*again.items, *again.instructions, *again.memories]

    assert same_graph(found, [primitive])


def test_records_say_what_they_can() -> None:
    """The first logs' readers find text, calls, results and usage where they look."""
    records = log.from_primitives(talk())
    messages = [r.message for r in records if isinstance(r, log.Conversation)]
    *_, ask, answer, _, last = messages

    assert [type(message).__name__ for message in messages] == [
        "User", "User", "Assistant", "Assistant", "Assistant", "ToolResult", "User",
        "Assistant",
    ]  # fmt: skip
    assert [r.role for r in messages if isinstance(r, log.User)] == [
        "system",
        "user",
        "system",
    ]
    assert isinstance(ask, log.Assistant)
    assert isinstance(ask.content, log.ToolCall)
    assert ask.content.plain_arguments() == {"n": [1]}
    assert isinstance(answer, log.ToolResult)
    assert (answer.tool_call_id, answer.error_detail) == ("t-2", "gone")
    assert isinstance(last, log.Assistant)
    assert (last.model.name, last.usage.input, last.usage.output) == ("claude-x", 3, 4)
    assert isinstance(records[-1], log.WorkingMemory)


def test_nothing_is_said_twice_without_need() -> None:
    """A call that its record tells in full bears no document of its own."""
    call = g.ToolCall(
        id="t",
        tool="x",
        args={"a": 1},
        is_complete=True,
        is_error=False,
        results="y",
        completed_at=NOW,
        **TIMES,
    )

    assert "primitive" not in "".join(map(log.to_json, log.from_primitives([call])))


def test_ids_are_those_of_the_primitives() -> None:
    """Logging the same primitives again makes the same ids."""
    first, again = log.from_primitives(talk().items), log.from_primitives(talk().items)

    assert list(map(log.id_of, first)) == list(map(log.id_of, again))


def test_foreign_records_become_primitives() -> None:
    """A log that knew no primitives is read as a conversation."""
    image = log.ImageContent(b64="eA==", mime_type="ImagePng")
    records: list[log.SessionRecord] = [
        user("be brief", role="system"),
        user("hi", id=log.new_id()),
        log.Conversation(message=log.User(content=image)),
        assistant("", id="empty"),
        assistant(log.ThinkingContent(thinking="hm")),
        called("t1", path="a", n=3),
        result("t1", "text"),
        called("t2"),
        result("t3"),
        failed(),
        working("likes tea"),
        summary(),
    ]
    found = log.to_primitives(records)

    assert found.instructions == (g.Tokenizable("be brief"),)
    assert [type(item).__name__ for item in found.items] == [
        "Message", "Message", "Thought", "ToolCall", "ToolCall",
    ]  # fmt: skip
    hi, picture, thought, call, pending = found.items
    assert hi.created_at.year >= 2025
    assert isinstance(picture, g.Message)
    assert picture.attachments[0].mime_type == "image/png"
    assert picture.attachments[0].read() == b"x"
    assert thought.stash.get("model") == "claude-x"
    assert isinstance(call, g.ToolCall)
    assert (call.args, call.results) == ({"path": "a", "n": 3}, g.Tokenizable("text"))
    assert isinstance(pending, g.ToolCall)
    assert not pending.is_complete
    assert [memory.content.text for memory in found.memories] == ["likes tea"]


def test_only_primitives_come_out_of_records() -> None:
    """A document beside a message that holds anything else is refused."""
    record = user().replace(primitive={"graphcodec": 1, "root": [1]})

    with pytest.raises(JsonError, match="holds no primitive of a conversation"):
        log.to_primitives([record])


def test_bad_base64() -> None:
    """An image whose bytes can't be read is refused."""
    image = log.ImageContent(b64="!", mime_type=log.Custom("image/png"))

    with pytest.raises(JsonError, match="not in base64"):
        log.to_primitives([log.Conversation(message=log.User(content=image))])
