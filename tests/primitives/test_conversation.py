from __future__ import annotations

import pytest

from graphcodec.errors import InvalidValueError
from graphcodec.primitives import (
    Conversation,
    Memory,
    Message,
    Registry,
    Retrievable,
    Thought,
    Tokenizable,
    ToolCall,
)
from tests.primitives.builders import make


def test_defaults_of_a_conversation() -> None:
    """Only the id and the items are asked for."""
    conversation = Conversation(id="c", items=())

    assert conversation.instructions == ()
    assert conversation.memories == ()
    assert conversation.stash == Registry()


def test_items_keep_their_order_and_identity() -> None:
    """A list becomes a tuple of the same objects, of all four kinds."""
    items = [make(Message), make(ToolCall), make(Thought), make(Retrievable)]
    kept = make(Conversation, items=items).items

    assert type(kept) is tuple
    assert all(a is b for a, b in zip(kept, items, strict=True))


def test_lists_of_one_kind_type_check() -> None:
    """A list of messages is a list of items to type checkers too."""
    messages: list[Message] = [make(Message)]
    texts: list[str] = ["be brief"]

    conversation = Conversation(id="c", items=messages, instructions=texts)

    assert conversation.items == tuple(messages)


def test_instructions_become_text() -> None:
    """Each may be given as str, in a list or a tuple."""
    text = Tokenizable("a")

    assert make(Conversation, instructions=["a"]).instructions == (text,)
    assert make(Conversation, instructions=("a", text)).instructions == (text, text)


def test_final_instructions_are_kept() -> None:
    """A tuple of live text is not made again."""
    instructions = (Tokenizable("a"),)

    assert make(Conversation, instructions=instructions).instructions is instructions


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("id", "", r"id must be a non-empty str, not ''"),
        ("items", None, r"items must be a tuple of Message, ToolCall, Thought or Ret"),
        ("items", {}, r"items must be a tuple of Message"),
        ("items", [make(Memory)], r"items\[0\] must be a Message, a ToolCall, a Thou"),
        ("items", [{"role": "user"}], r"items\[0\] .* not a dict .*from_openai_chat"),
        ("instructions", "be brief", r"instructions must be a tuple of non-empty Tok"),
        ("instructions", [""], r"instructions\[0\] must be a non-empty Tokenizable"),
        ("instructions", ["x", 1], r"instructions\[1\] must be a non-empty Token"),
        ("memories", [make(Message)], r"memories\[0\] must be a Memory, not Message\("),
        ("stash", {}, r"stash must be a Registry"),
    ],
)
def test_wrong_field_of_a_conversation_is_named(
    field: str, value: object, reason: str
) -> None:
    """The error says the field, or the entry, and what belongs there."""
    with pytest.raises(InvalidValueError, match=rf"^Conversation\.{reason}"):
        make(Conversation, **{field: value})


def test_repr_counts_the_items() -> None:
    """What was said is not shown."""
    one = make(Conversation, items=[make(Message)])

    assert repr(make(Conversation)) == "Conversation(id='con-1', <0 items>)"
    assert repr(one) == "Conversation(id='con-1', <1 item>)"
