"""Primitives with arbitrary valid fields."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from hypothesis import strategies as st

from graphcodec._strategies._values import Value, fixed_offsets, named, texts, values
from graphcodec.primitives import (
    ArtifactTool,
    Conversation,
    GateRecord,
    Identity,
    Media,
    MediaStash,
    Memory,
    Message,
    ModalityHazard,
    Registry,
    Retrievable,
    SpooledArtifact,
    SpooledJsonArtifact,
    SpooledMarkdownArtifact,
    Thought,
    Tokenizable,
    Tool,
    ToolCall,
    ToolRegistry,
    TrustTier,
)
from graphcodec.readers import BytesReader, Reader

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hypothesis.strategies import SearchStrategy

_MEDIA_KINDS: Final = ("image", "audio", "video", "document")


@named
def names() -> SearchStrategy[str]:
    """Return a strategy for ids and other texts that may not be empty."""
    return texts(min_size=1)


@named
def moments() -> SearchStrategy[datetime]:
    """Return a strategy for what the times of a primitive may be."""
    return st.datetimes(timezones=fixed_offsets()).map(
        # A moment happens once, so it has no fold.
        lambda moment: moment.replace(fold=0)
    )


@named
def readers() -> SearchStrategy[Reader]:
    """Return a strategy for readers that can be described; none is opened."""
    return readers_of(http=find_spec("graphcodec_resolvers") is not None)


def readers_of(*, http: bool) -> SearchStrategy[Reader]:
    """Return a strategy for readers, with or without those of URLs.

    Args:
        http: Whether there are to be any.
    """
    inline = st.binary(max_size=40).map(BytesReader)
    return st.one_of(inline, _http_readers()) if http else inline


@named
def _http_readers() -> SearchStrategy[Reader]:
    from graphcodec_resolvers import HttpReader  # noqa: PLC0415 - optional here

    path = st.text("abcdefghijklmnopqrstuvwxyz0123456789/-.~", max_size=12)
    return st.builds(
        HttpReader,
        path.map("https://example.org/{}".format),
        size=st.none() | st.integers(0, 2**40),
        etag=st.none() | st.sampled_from(('"abc"', 'W/"1-2"')),
        sha256=st.none() | st.text("0123456789abcdef", min_size=64, max_size=64),
    )


def tokenizables(min_size: int = 1) -> SearchStrategy[Tokenizable]:
    """Return a strategy for texts that a model reads.

    Args:
        min_size: The fewest characters.
    """
    return texts(min_size).map(Tokenizable)


@named
def identities() -> SearchStrategy[Identity]:
    """Return a strategy for identities with keys of all three types."""
    finite = st.floats(allow_nan=False, allow_infinity=False)
    return st.builds(
        Identity,
        identifier=st.one_of(names(), st.integers(), finite),
        representation=tokenizables(),
    )


@named
def registries() -> SearchStrategy[Registry]:
    """Return a strategy for registries, mostly empty as in life."""
    data = st.dictionaries(texts(), values(), max_size=2)
    return st.one_of(st.builds(Registry), st.builds(Registry, data))


@named
def _stashes() -> SearchStrategy[MediaStash]:
    entry: SearchStrategy[dict[str, Value]] = st.fixed_dictionaries(
        {"value": values(), "trust_tier": st.sampled_from(TrustTier)},
        optional={"derived_from_media": names()},
    )
    data = st.dictionaries(texts(), entry, max_size=2)
    return st.one_of(st.builds(MediaStash), st.builds(MediaStash, data))


@named
def media() -> SearchStrategy[Media]:
    """Return a strategy for media."""
    return st.builds(
        Media,
        id=st.none() | names(),
        kind=st.sampled_from(_MEDIA_KINDS),
        mime_type=names(),
        filename=names(),
        reader=readers(),
        trust_tier=st.sampled_from(TrustTier),
        modality_hazard=st.sampled_from(ModalityHazard),
        source=st.none() | names(),
        stash=_stashes(),
    )


@named
def artifacts() -> SearchStrategy[SpooledArtifact]:
    """Return a strategy for spooled texts of every kind."""
    formats = st.none() | st.sampled_from(("json", "json5", "jsonl"))
    return st.one_of(
        st.builds(SpooledArtifact, readers()),
        st.builds(SpooledJsonArtifact, readers(), formats),
        st.builds(SpooledMarkdownArtifact, readers()),
    )


@named
def messages() -> SearchStrategy[Message]:
    """Return a strategy for messages with content, attachments or both."""
    build = partial(
        st.builds,
        Message,
        id=names(),
        role=st.sampled_from(("user", "assistant")),
        identity=identities(),
        created_at=moments(),
        updated_at=moments(),
        stash=registries(),
    )
    return st.one_of(
        build(content=tokenizables(), attachments=st.lists(media(), max_size=1)),
        build(attachments=st.lists(media(), min_size=1, max_size=2)),
    )


@named
def thoughts() -> SearchStrategy[Thought]:
    """Return a strategy for thoughts with text, a payload or both."""
    build = partial(
        st.builds,
        Thought,
        id=names(),
        identity=identities(),
        created_at=moments(),
        updated_at=moments(),
        stash=registries(),
    )
    return st.one_of(
        build(content=tokenizables(), replay_compatibility=st.none() | names()),
        build(
            content=tokenizables(min_size=0),
            payload=values().filter(lambda value: value is not None),
            replay_compatibility=names(),
        ),
    )


@named
def _results() -> SearchStrategy[
    Tokenizable | SpooledArtifact | Media | Sequence[SpooledArtifact] | Sequence[Media]
]:
    return st.one_of(
        tokenizables(min_size=0),
        artifacts(),
        media(),
        st.lists(artifacts(), min_size=1, max_size=2),
        st.lists(media(), min_size=1, max_size=2),
    )


@named
def tool_calls() -> SearchStrategy[ToolCall]:
    """Return a strategy for calls, pending and complete."""
    build = partial(
        st.builds,
        ToolCall,
        id=names(),
        tool=names(),
        args=st.dictionaries(texts(), values(), max_size=3),
        checksum=st.none() | names(),
        is_error=st.booleans(),
        from_artifact_tool=st.booleans(),
        inline=st.booleans(),
        created_at=moments(),
        updated_at=moments(),
        stash=registries(),
    )
    return st.one_of(
        build(is_complete=st.just(value=False)),
        build(
            is_complete=st.just(value=True), results=_results(), completed_at=moments()
        ),
    )


@named
def _shares() -> SearchStrategy[int | float]:
    return st.one_of(st.integers(0, 1), st.floats(0, 1))


@named
def memories() -> SearchStrategy[Memory]:
    """Return a strategy for memories."""
    return st.builds(
        Memory,
        id=names(),
        content=tokenizables(),
        confidence=_shares(),
        importance=_shares(),
        created_at=moments(),
        updated_at=moments(),
    )


@named
def retrievables() -> SearchStrategy[Retrievable]:
    """Return a strategy for passages, in place or spooled."""
    return st.builds(
        Retrievable,
        id=names(),
        content=st.one_of(tokenizables(), artifacts()),
        trust_tier=st.sampled_from(TrustTier),
        source=st.none() | names(),
        kind=st.none() | names(),
        score=st.none() | _shares(),
        created_at=moments(),
        updated_at=moments(),
        stash=registries(),
    )


@named
def gate_records() -> SearchStrategy[GateRecord]:
    """Return a strategy for what is written down of a gate."""
    return st.builds(
        GateRecord,
        id=names(),
        turn_id=names(),
        reason=names(),
        payload=values(),
        created_at=moments(),
    )


@named
def tools() -> SearchStrategy[Tool]:
    """Return a strategy for definitions of tools, which any codec can read."""
    build = partial(
        st.builds,
        name=names(),
        description=names(),
        input_schema=st.dictionaries(texts(), values(), max_size=2).map(
            lambda schema: {**schema, "type": "object"}
        ),
        handler=st.none(),
        meta=registries(),
        ephemeral=st.booleans(),
        trusted=st.booleans(),
        on_collision=st.sampled_from(("throw", "replace", "keep")),
    )
    artifact = st.none() | st.just(SpooledArtifact)
    return st.one_of(build(Tool, artifact=artifact), build(ArtifactTool))


@named
def tool_registries() -> SearchStrategy[ToolRegistry]:
    """Return a strategy for registries of a few tools, some of them hidden."""
    few = st.lists(tools(), max_size=2, unique_by=lambda tool: tool.name)
    return few.flatmap(
        lambda given: st.builds(
            ToolRegistry,
            st.just(given),
            hidden=st.sets(
                names() | st.sampled_from([tool.name for tool in given] or ["x"]),
                max_size=2,
            ),
        )
    )


@named
def conversations() -> SearchStrategy[Conversation]:
    """Return a strategy for short conversations of anything."""
    items = st.one_of(messages(), tool_calls(), thoughts(), retrievables())
    return st.builds(
        Conversation,
        id=names(),
        items=st.lists(items, max_size=2),
        instructions=st.lists(tokenizables(), max_size=2),
        memories=st.lists(memories(), max_size=1),
        tools=st.none() | tool_registries(),
        stash=registries(),
    )


@named
def primitives() -> SearchStrategy[object]:
    """Return a strategy for primitives of every class, every field arbitrary."""
    return st.one_of(
        tokenizables(min_size=0),
        identities(),
        registries(),
        _stashes(),
        media(),
        artifacts(),
        messages(),
        thoughts(),
        tool_calls(),
        memories(),
        retrievables(),
        gate_records(),
        tools(),
        tool_registries(),
        conversations(),
    )
