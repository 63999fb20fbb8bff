"""Images and large outputs of tools that are not in the records themselves."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import graphcodec as g
from graphcodec import log
from graphcodec.errors import (
    GraphCodecError,
    InvalidValueError,
    JsonError,
    StorageError,
)
from graphcodec.log import MemoryDocumentStore, SessionLog
from graphcodec_resolvers import FsspecResolver, FsspecStore
from tests.log.records import assistant, one_of_each, result, user

NOW = datetime(2026, 5, 1, tzinfo=UTC)
PIXELS = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
LONG = "Zeile für Zeile 😀\n" * 5000


@pytest.fixture
def shelf(tmp_path: Path) -> FsspecStore:
    """A store of bytes."""
    return FsspecStore(str(tmp_path / "media"), alias="media")


@pytest.fixture
def codec(shelf: FsspecStore) -> g.Codec:
    """A codec that opens the handles of the store."""
    return g.Codec(resolvers=[FsspecResolver({"media": shelf})])


def image(data: bytes = PIXELS) -> log.ImageContent:
    """Return an image."""
    return log.ImageContent(b64=base64.b64encode(data).decode(), mime_type="ImagePng")


def shown(by: str, content: log.ImageContent) -> log.Conversation:
    """Return a message of each kind that shows an image."""
    if by == "User":
        return log.Conversation(message=log.User(content=content))
    if by == "Assistant":
        return assistant(content)
    return given(content)


def given(content: Any, **fields: Any) -> log.Conversation:
    """Return what a tool gave back."""
    message = log.ToolResult(tool_call_id="t", name="look", content=content, **fields)
    return log.Conversation(message=message)


def said(text: str = LONG, **fields: Any) -> log.Conversation:
    """Return text that a tool gave back."""
    return given(log.TextContent(content=text, signature="sig"), **fields)


@pytest.mark.parametrize("by", ["User", "Assistant", "ToolResult"])
def test_images_are_handles(shelf: FsspecStore, codec: g.Codec, by: str) -> None:
    """An image of any size leaves its record, whoever shows it, and comes back."""
    record = shown(by, image())
    text = log.to_json(log.offload(record, shelf))
    content = json.loads(text)["message"][by]["content"]["Image"]

    assert content["b64"] == ""
    assert content["mime_type"] == "ImagePng"
    assert content["handle"]["root"]["locator"]["size"] == len(PIXELS)
    assert log.inline(log.from_json(text), codec=codec) == record


def test_large_outputs_are_handles(shelf: FsspecStore, codec: g.Codec) -> None:
    """A large text of a tool leaves its beginning behind, and comes back."""
    record = said()
    text = log.to_json(log.offload(record, shelf))
    content = json.loads(text)["message"]["ToolResult"]["content"]["Text"]

    assert content["content"].startswith(LONG[:1000])
    assert content["content"].endswith("\n[89,000 more characters are in a store]")
    assert content["signature"] == "sig"
    assert log.inline(log.from_json(text), codec=codec) == record


def test_original_can_read_it(shelf: FsspecStore) -> None:
    """Without the handle, what stands there is a proper record of the first logs."""
    for record in (said(), shown("User", image())):
        tree = json.loads(log.to_json(log.offload(record, shelf)))
        (message,) = tree["message"].values()
        (content,) = message["content"].values()
        del content["handle"]
        again = log.from_json(json.dumps(tree))

        assert isinstance(again, log.Conversation)
        assert json.loads(log.to_json(again)) == tree


def test_error_that_repeats_the_output(shelf: FsspecStore, codec: g.Codec) -> None:
    """An error that is the text of its result is shortened and restored with it."""
    record = said(error_detail=LONG)
    moved = log.offload(record, shelf)

    assert len(log.to_json(moved)) < 4000
    assert log.inline(moved, codec=codec) == record


@pytest.mark.parametrize(
    "record",
    [
        said("x" * 32_768),
        said("\ud800" * 40_000),
        user(LONG),
        shown("User", log.ImageContent(b64="", mime_type="ImagePng")),
        shown("User", log.ImageContent(b64="no base64!", mime_type="ImagePng")),
        shown("User", log.ImageContent(b64="eHg=\n", mime_type="ImagePng")),
        *one_of_each(),
    ],
)
def test_what_stays(shelf: FsspecStore, record: log.SessionRecord) -> None:
    """Small text, other records and what would not come back equal stay as they are."""
    assert log.offload(record, shelf) is record
    assert log.inline(record) is record


def test_limit(shelf: FsspecStore, codec: g.Codec) -> None:
    """The limit is the most bytes of text that may stay; it is a size."""
    record = said("é")

    assert log.offload(record, shelf, inline_limit=2) is record
    moved = log.offload(record, shelf, inline_limit=1)
    assert log.inline(moved, codec=codec) == record
    with pytest.raises(InvalidValueError, match="inline_limit must be an int from 0"):
        log.offload(record, shelf, inline_limit=-1)


def test_twice_is_once(shelf: FsspecStore) -> None:
    """What is in the store already stays there, and equal bytes are there once."""
    moved = log.offload(shown("User", image()), shelf)

    assert log.offload(moved, shelf) is moved
    log.offload(shown("Assistant", image()), shelf)
    assert len(list(shelf.descriptors())) == 1


def test_log_with_media(shelf: FsspecStore, codec: g.Codec) -> None:
    """A log with a store for media holds handles; its records can be made whole."""
    records = [shown("User", image()), user("look"), said()]
    documents = MemoryDocumentStore()
    with SessionLog(documents, "s", codec=codec, media=shelf) as session:
        for record in records:
            session.append(record)
        found = session.all()

    assert max(len(d.content) for d in documents.scan("s")) < 4000
    assert [log.inline(record, codec=codec) for record in found] == records


def test_handles_become_primitives(shelf: FsspecStore, codec: g.Codec) -> None:
    """An image becomes media that are read when asked for, a text is whole again."""
    call = assistant(log.ToolCall(id="t", name="look"))
    records = [shown("User", image()), call, said(), result()]
    moved = [log.offload(record, shelf) for record in records]
    shows, calls = log.to_primitives(moved, codec=codec).items

    assert isinstance(shows, g.Message)
    assert shows.attachments[0].read() == PIXELS
    assert isinstance(calls, g.ToolCall)
    assert calls.results == g.Tokenizable(LONG)


@pytest.mark.parametrize("is_error", [False, True])
def test_primitives_with_large_text(
    shelf: FsspecStore,
    codec: g.Codec,
    is_error: bool,  # noqa: FBT001 - one of two
) -> None:
    """A primitive whose own document is large is in the store too, and comes back."""
    call = g.ToolCall(
        id="t",
        tool="look",
        args={},
        is_complete=True,
        is_error=is_error,
        results=LONG,
        stash=g.Registry({"note": 1}),
        created_at=NOW,
        updated_at=NOW,
        completed_at=NOW,
    )
    documents = MemoryDocumentStore()
    session = SessionLog(documents, "s", codec=codec, media=shelf)
    session.append(call)
    found = session.all()

    assert max(len(d.content) for d in documents.scan("s")) < 4000
    assert log.to_primitives(found, codec=codec).items == (call,)
    whole = [log.inline(record, codec=codec) for record in found]
    assert log.to_primitives(whole, codec=codec).items == (call,)


def test_unknown_store(shelf: FsspecStore) -> None:
    """Who has no resolver for the store can read the record, but not the rest."""
    moved = log.from_json(log.to_json(log.offload(said(), shelf)))

    with pytest.raises(GraphCodecError, match="no resolver for 'media:fsspec'"):
        log.inline(moved)
    with pytest.raises(GraphCodecError, match="no resolver for 'media:fsspec'"):
        log.to_primitives([assistant(log.ToolCall(id="t", name="look")), moved])


def handle(shelf: FsspecStore, codec: g.Codec, data: bytes) -> dict[str, Any]:
    """Return a handle of some bytes."""
    found: dict[str, Any] = json.loads(codec.encode_text(shelf.write(data)))
    return found


def test_other_documents_are_no_handles(shelf: FsspecStore, codec: g.Codec) -> None:
    """A handle that is or leads to anything else is refused."""
    other = json.loads(codec.encode_text("text"))
    text = log.TextContent(content="", handle=other)
    with pytest.raises(JsonError, match="stands for a handle is the document of"):
        log.inline(given(text), codec=codec)

    no_text = log.TextContent(content="", handle=handle(shelf, codec, b"\xff"))
    with pytest.raises(JsonError, match="leads to bytes that are no text"):
        log.inline(given(no_text), codec=codec)

    record = user().replace(primitive=handle(shelf, codec, b"[1]"))
    with pytest.raises(JsonError, match="primitive's document leads to something else"):
        log.inline(record, codec=codec)


def test_failing_store_appends_nothing(tmp_path: Path) -> None:
    """Who appends is told that the image could not be stored; nothing was logged."""
    (tmp_path / "media").write_text("no folder")
    shelf = FsspecStore(str(tmp_path / "media"), alias="media")
    session = SessionLog(MemoryDocumentStore(), "s", media=shelf)
    with pytest.raises(StorageError, match="File exists"):
        session.append(shown("User", image()))

    assert session.count() == 0


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("ImagePng", "image/png"),
        (log.Custom("image/x-icon"), "image/x-icon"),
        (log.Custom("a\r\nb"), "application/octet-stream"),
        ("Image", "application/octet-stream"),
    ],
)
def test_types_of_images(word: str | log.Custom, name: str) -> None:
    """A type that is no proper name of one stands as unknown bytes."""
    shows = log.User(content=log.ImageContent(b64="eHg=", mime_type=word))
    (message,) = log.to_primitives([log.Conversation(message=shows)]).items

    assert isinstance(message, g.Message)
    assert message.attachments[0].mime_type == name
