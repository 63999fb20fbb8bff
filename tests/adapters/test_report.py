"""What adapters keep aside can be listed, with its place and its reason."""

from __future__ import annotations

import pytest

from graphcodec import Conversation, Registry
from graphcodec.adapters import Kept, from_openai_chat, kept_aside
from graphcodec.adapters._formats import FORMATS


def test_fields_and_entries_are_listed() -> None:
    """Fields without a place, and messages that no primitive holds, are told."""
    chat: dict[str, object] = {
        "model": "m",
        "messages": [
            {"role": "user", "content": "Hi", "mood": 1},
            {"role": "assistant", "content": None, "refusal": "No."},
        ],
    }

    assert kept_aside(from_openai_chat(chat)) == (
        Kept(
            format="openai-chat",
            what="field model",
            path="$.stash.data.openai_chat.fields.model",
        ),
        Kept(
            format="openai-chat",
            what="assistant",
            path="$.stash.data.openai_chat.kept[0].message",
            source="$.messages[1]",
        ),
        Kept(
            format="openai-chat",
            what="field mood",
            path="$.items[0].stash.data.openai_chat.fields.mood",
            source="$.messages[0]",
        ),
    )


def test_parts_have_a_reason() -> None:
    """A part that could have been a media says why it is none."""
    part = {"type": "image_url", "image_url": {"url": "https://example.org/?sig=1"}}
    text = {"type": "text", "text": "look"}
    [kept] = kept_aside(from_openai_chat([{"role": "user", "content": [text, part]}]))

    assert (kept.what, kept.source) == ("image_url", "$.messages[0]")
    assert kept.path == "$.items[0].stash.data.openai_chat.parts[1].kept"
    assert "signature" in kept.why


NOTES: list[object] = [3, {"kept": 1, "at": "x"}, {"a": {"b": [[{}]]}}]


@pytest.mark.parametrize("note", NOTES)
def test_odd_notes_do_no_harm(note: object) -> None:
    """A stash is data of a stranger."""
    odd = Conversation(id="c", items=(), stash=Registry({"openai_chat": note}))

    assert all(kept.format == "openai-chat" for kept in kept_aside(odd))


def test_deep_notes_are_not_followed() -> None:
    """What nests deeper than notes do is no note."""
    note: dict[str, object] = {"fields": {"x": 1}}
    for _ in range(20):
        note = {"a": note}
    deep = Conversation(id="c", items=(), stash=Registry({"openai_chat": note}))

    assert kept_aside(deep) == ()


@pytest.mark.parametrize("name", list(FORMATS))
def test_every_format_has_its_functions(name: str) -> None:
    """Each format of the table can read what it writes of nothing at all."""
    empty = Conversation(id="c", items=())

    assert FORMATS[name].read(FORMATS[name].write(empty)).items == ()
