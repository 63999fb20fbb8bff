"""Tools with which a model looks into the artifacts of a conversation.

An artifact is too long for a prompt, so a model is shown its id and these tools. Each
takes the id of the call or passage that holds the artifact, gives text, and gives text
too when it fails, for a model to read. What a model asks for costs bounded time and
gives bounded text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from attrs import asdict, frozen, has

from graphcodec._forged_queries import QUERIES, Query, kind_of
from graphcodec._paths import excerpt
from graphcodec.errors import GraphCodecError, InvalidValueError
from graphcodec.primitives import (
    ArtifactTool,
    Conversation,
    Retrievable,
    SpooledArtifact,
    Tokenizable,
    ToolCall,
    ToolRegistry,
)

__all__ = ["forge_tools"]

MOST_CHARS: Final = 1_000_000
"""How many characters an answer may have at most, which fit in `MOST_BYTES`."""

LONGEST_ID_LIST: Final = 20
"""How many ids are told with their kinds in a description."""

Held = Mapping[str, tuple[SpooledArtifact, ...]]


def forge_tools(conversation: Conversation, *, max_chars: int = 50_000) -> ToolRegistry:
    """Make the tools with which a model queries the artifacts of a conversation.

    There are seven for all artifacts, seven more if one is a `SpooledJsonArtifact`, and
    eight if one is a `SpooledMarkdownArtifact`. Each takes a ``call_id``: the id of a
    `ToolCall` whose results are artifacts, or of a `Retrievable` whose content is one;
    calls of such tools themselves don't count. They are for one turn: forge them again
    when the conversation has grown.

    Args:
        conversation: Where the artifacts are.
        max_chars: How many characters an answer may have, at most a million; the rest
            is cut off.

    Returns:
        A registry of `ArtifactTool`; an empty one if there is no artifact.

    Raises:
        InvalidValueError: If *max_chars* is no such number.
    """
    if type(max_chars) is not int or not 0 < max_chars <= MOST_CHARS:
        msg = f"max_chars must be an int from 1 to {MOST_CHARS:,}"
        raise InvalidValueError(msg, value=excerpt(max_chars))
    held = dict(_artifacts(conversation))
    return ToolRegistry(
        [
            tool
            for query in QUERIES
            if (tool := _tool(query, held, max_chars)) is not None
        ]
    )


def _artifacts(
    conversation: Conversation,
) -> Iterator[tuple[str, tuple[SpooledArtifact, ...]]]:
    for item in conversation.items:
        if isinstance(item, ToolCall) and not item.from_artifact_tool:
            results = item.results
            several = results if isinstance(results, tuple) else (results,)
            if isinstance(several[0], SpooledArtifact):
                yield item.id, cast("tuple[SpooledArtifact, ...]", several)
        elif isinstance(item, Retrievable):
            content = item.content
            if not isinstance(content, Tokenizable):
                yield item.id, (content,)


def _tool(query: Query, held: Held, max_chars: int) -> ArtifactTool | None:
    """Return the tool for a query, None if no artifact can answer it."""
    able = {
        call_id: several
        for call_id, several in held.items()
        if any(isinstance(artifact, query.kind) for artifact in several)
    }
    if not able:
        return None
    return ArtifactTool(
        query.name,
        query.about,
        _schema(query, able),
        _Handler(query, able, max_chars),
        ephemeral=True,
        on_collision="replace",
    )


def _schema(query: Query, able: Held) -> dict[str, object]:
    properties: dict[str, object] = {
        "call_id": {
            "enum": list(able),
            "description": f"The id of what holds the artifact: {_told(able)}.",
        }
    }
    most = max(map(len, able.values()))
    if most > 1:
        properties["index"] = {
            "type": "integer",
            "minimum": 0,
            "maximum": most - 1,
            "description": "Which of several artifacts under that id; 0 if left out.",
        }
    return {
        "type": "object",
        "properties": properties | {name: dict(it) for name, it in query.takes.items()},
        "required": ["call_id", *query.needs],
        "additionalProperties": False,
    }


def _told(able: Held) -> str:
    told = [
        f"{call_id} ({', '.join(map(kind_of, several))})"
        for call_id, several in list(able.items())[:LONGEST_ID_LIST]
    ]
    return ", ".join(told) + (", …" if len(able) > len(told) else "")


@frozen
class _Handler:
    """Answers one query, also when it fails."""

    query: Query
    held: Held
    max_chars: int

    def __call__(self, args: Mapping[str, object]) -> str:
        try:
            text = self._answer(dict(args))
        except (GraphCodecError, ModuleNotFoundError) as exc:
            text = f"Error: {exc}"
        except Exception as exc:  # noqa: BLE001 - a model reads what failed, whatever it is
            # The words of a store's own errors may name its addresses.
            text = f"Error: {type(exc).__name__}"
        return _without_surrogates(text)

    def _answer(self, args: dict[str, object]) -> str:
        call_id, index = args.pop("call_id", ""), cast("int", args.pop("index", 0))
        several = self.held.get(cast("str", call_id), ())
        if not 0 <= index < len(several):
            return f"Error: there is no artifact {index} under {call_id!r:.80}"
        artifact = several[index]
        if not isinstance(artifact, self.query.kind):
            return f"Error: artifact {index} there is {kind_of(artifact)}"
        return _rendered(self.query.answer(artifact, args), self.max_chars)


def _rendered(value: object, most: int) -> str:
    """Return the text that a model reads for an answer."""
    if value is None:
        return "(undefined)"
    if isinstance(value, str):
        return _cut([value], most)
    if not isinstance(value, list):
        return _cut(_json(value), most)
    entries = cast("list[object]", value)
    if not entries:
        return "(empty list)"
    if all(isinstance(entry, str) for entry in entries):
        return _cut(_joined(cast("list[str]", entries)), most)
    return _cut(_json(entries), most)


def _joined(lines: list[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"\n{line}" if number else line


def _json(value: object) -> Iterator[str]:
    encoder = json.JSONEncoder(ensure_ascii=False, indent=2, default=_plain)
    return encoder.iterencode(value)


def _plain(value: Any) -> object:
    """Return what JSON has for a value that it has not."""
    if has(cast("type[object]", type(value))):
        return asdict(value, recurse=False)
    return str(value)


def _cut(pieces: Any, most: int) -> str:
    """Join pieces up to a number of characters, and say so if there are more."""
    kept: list[str] = []
    left = most
    for piece in pieces:
        if len(piece) > left:
            kept.append(piece[:left])
            return "".join(kept) + f"\n… cut after {most:,} characters; ask for less"
        kept.append(piece)
        left -= len(piece)
    return "".join(kept)


def _without_surrogates(text: str) -> str:
    """Replace what stands for bytes that are not UTF-8: no model could be sent it."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
