from __future__ import annotations

import pytest

from graphcodec.errors import InvalidValueError
from graphcodec.primitives import (
    Identity,
    Media,
    Message,
    Registry,
    Thought,
    Tokenizable,
)
from tests.primitives.builders import NOW, make


def test_defaults_of_a_message() -> None:
    """What is not given is empty, and the identity is named like the role."""
    message = make(Message)

    assert message.attachments == ()
    assert message.identity == Identity(identifier="user", representation="user")
    assert message.stash == Registry()
    assert (message.created_at, message.updated_at) == (NOW, NOW)


def test_each_message_has_a_stash_of_its_own() -> None:
    """The default is made anew."""
    assert make(Message).stash is not make(Message).stash


def test_str_content_becomes_text() -> None:
    """Content may be given as str."""
    assert make(Message, content="hi").content == Tokenizable("hi")


def test_live_parts_are_kept() -> None:
    """Instances are neither copied nor rebuilt."""
    text, ada, stash = Tokenizable("hi"), make(Identity), Registry()
    message = make(Message, content=text, identity=ada, stash=stash)

    assert message.content is text
    assert message.identity is ada
    assert message.stash is stash


def test_list_of_attachments_becomes_a_tuple() -> None:
    """The media in it stay the objects that they are."""
    media = make(Media)

    assert make(Message, attachments=[media]).attachments == (media,)
    assert make(Message, attachments=[media]).attachments[0] is media


def test_tuple_of_attachments_is_kept() -> None:
    """What is final is not made again."""
    media = (make(Media),)

    assert make(Message, attachments=media).attachments is media


def test_message_needs_no_content_if_it_has_attachments() -> None:
    """One of the two will do."""
    assert make(Message, content=None, attachments=[make(Media)]).content is None


def test_message_with_neither_is_refused() -> None:
    """A message says or shows something."""
    with pytest.raises(
        InvalidValueError, match="Message needs content or attachments"
    ) as caught:
        make(Message, content=None, attachments=())
    assert (caught.value.path, caught.value.type_name) == ("$.content", "Message")


def test_str_identity_becomes_an_identity() -> None:
    """A str is the key and the name."""
    identity = make(Message, identity="ada").identity

    assert identity == Identity(identifier="ada", representation="ada")


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_role_names_the_default_identity(role: str) -> None:
    """Somebody speaks in the role."""
    assert make(Message, role=role).identity.identifier == role


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("id", "", "a non-empty str, not ''"),
        ("id", 0, "a non-empty str, not 0"),
        ("id", None, "a non-empty str, not None"),
        ("role", "system", "'user' or 'assistant', not 'system'"),
        ("role", None, "'user' or 'assistant', not None"),
        ("role", ["user"], "'user' or 'assistant', not a list"),
        ("content", "", r"a non-empty Tokenizable or None, not Tokenizable\(<0 chars>"),
        ("content", Tokenizable(""), "a non-empty Tokenizable or None"),
        ("content", 5, "a non-empty Tokenizable or None, not 5"),
        ("attachments", None, "a tuple of Media, not None"),
        ("attachments", "ab", "a tuple of Media, not 'ab'"),
        ("identity", "", "an Identity, not ''"),
        ("identity", {"identifier": 1}, "an Identity, not a dict"),
        ("created_at", "2026-05-01", "an aware datetime, not '2026-05-01'"),
        ("updated_at", 0, "an aware datetime, not 0"),
        ("stash", {}, "a Registry, not a dict"),
        ("stash", None, "a Registry, not None"),
    ],
)
def test_wrong_field_of_a_message_is_named(
    field: str, value: object, reason: str
) -> None:
    """The error says the field, what belongs there and what was there."""
    with pytest.raises(
        InvalidValueError, match=rf"^Message\.{field} must be {reason}"
    ) as caught:
        make(Message, **{field: value})
    assert caught.value.path == f"$.{field}"


def test_wrong_attachment_is_numbered() -> None:
    """The path leads to the entry."""
    media = make(Media)

    with pytest.raises(
        InvalidValueError, match=r"Message\.attachments\[2\] must be a Media, not 'x'"
    ) as caught:
        make(Message, attachments=[media, media, "x"])
    assert caught.value.path == "$.attachments[2]"


@pytest.mark.parametrize(
    ("field", "value", "hint"),
    [
        ("role", "system", "Conversation.instructions"),
        ("content", "", "leave content out"),
        ("stash", {}, "Registry(mapping)"),
        ("attachments", [b"pixels"], "reader=BytesReader(data)"),
        ("attachments", ["a.png"], "reader=a reader"),
        ("attachments", make(Media), "put it into a tuple"),
    ],
)
def test_hint_says_what_to_do(field: str, value: object, hint: str) -> None:
    """Where there is a remedy, the error has it."""
    with pytest.raises(InvalidValueError, match="must be") as caught:
        make(Message, **{field: value})
    assert hint in caught.value.hint


def test_repr_of_a_message_has_no_content() -> None:
    """It shows who and how many, not what."""
    media = make(Media)

    assert repr(make(Message)) == "Message(id='msg-1', role='user')"
    assert repr(make(Message, attachments=[media])).endswith(", <1 attachment>)")
    assert repr(make(Message, attachments=[media] * 2)).endswith(", <2 attachments>)")


def test_defaults_of_a_thought() -> None:
    """It is the assistant's and has no payload."""
    thought = make(Thought)

    assert thought.identity == Identity(
        identifier="assistant", representation="assistant"
    )
    assert thought.payload is None
    assert thought.replay_compatibility is None
    assert thought.stash == Registry()


def test_thought_with_a_payload_needs_no_content() -> None:
    """Left out, the content is empty text, never None."""
    thought = Thought(
        id="t", payload=0, replay_compatibility="x-v1", created_at=NOW, updated_at=NOW
    )

    assert thought.content == Tokenizable("")


def test_each_empty_content_is_an_object_of_its_own() -> None:
    """Two thoughts without text do not share one."""
    parts = {"content": "", "payload": 1, "replay_compatibility": "x"}

    assert make(Thought, **parts).content is not make(Thought, **parts).content


@pytest.mark.parametrize("content", ["", Tokenizable("")])
def test_thought_without_payload_needs_content(content: object) -> None:
    """A payload of None is none."""
    with pytest.raises(
        InvalidValueError, match="Thought needs content or a payload"
    ) as caught:
        make(Thought, content=content, payload=None, replay_compatibility="x")
    assert caught.value.path == "$.content"


def test_payload_needs_a_wire_shape() -> None:
    """Without it, nobody knows where the payload may go."""
    with pytest.raises(
        InvalidValueError, match=r"Thought\.payload needs a replay_compatibility"
    ) as caught:
        make(Thought, payload={"signature": "x"})
    assert caught.value.path == "$.replay_compatibility"


def test_wire_shape_needs_no_payload() -> None:
    """The reverse is allowed."""
    assert make(Thought, replay_compatibility="plain-text").payload is None


def test_payload_is_passed_through() -> None:
    """It is the vendor's, and neither copied nor looked at."""
    payload = {"blocks": [object()]}

    assert make(Thought, payload=payload, replay_compatibility="x").payload is payload


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("id", "", "a non-empty str, not ''"),
        ("content", None, "a Tokenizable, not None"),
        ("identity", 1, "an Identity, not 1"),
        ("replay_compatibility", "", "a non-empty str or None, not ''"),
        ("created_at", None, "an aware datetime, not None"),
        ("stash", [], "a Registry, not a list"),
    ],
)
def test_wrong_field_of_a_thought_is_named(
    field: str, value: object, reason: str
) -> None:
    """The error says the field, what belongs there and what was there."""
    with pytest.raises(InvalidValueError, match=rf"^Thought\.{field} must be {reason}"):
        make(Thought, **{field: value})


def test_repr_of_a_thought_has_no_content() -> None:
    """It says whether there is a payload."""
    opaque = make(Thought, payload="secret", replay_compatibility="x")

    assert repr(make(Thought)) == "Thought(id='tho-1')"
    assert repr(opaque) == "Thought(id='tho-1', <payload>)"
