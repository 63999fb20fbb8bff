"""The queries that a model may put to an artifact, each as a tool would say it."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, TypeAlias

from attrs import field, frozen

from graphcodec.primitives import (
    SpooledArtifact,
    SpooledJsonArtifact,
    SpooledMarkdownArtifact,
    Tokenizable,
)
from graphcodec.readers._lines import ERRORS

__all__ = ["QUERIES", "Query", "kind_of"]

MOST: Final = 1000
"""How many lines, matches or records a query gives at most."""

MOST_BYTES: Final = 1 << 22
"""How many bytes of lines a query holds at most; one line may be of any length."""

AT_ONCE: Final = 1 << 16
"""How many bytes are counted as tokens at a time."""

Args: TypeAlias = Mapping[str, Any]

_COUNT: Final = {"type": "integer", "minimum": 0}
_SHOWN: Final = {"type": "integer", "minimum": 1, "maximum": MOST}
_DEPTH: Final = {"type": "integer", "minimum": 1, "maximum": 6}
_PATH: Final = {"type": "string", "minLength": 1, "maxLength": 1000}
_RANGE: Final = {
    "start_line": {**_COUNT, "description": "The first line, from 0."},
    "end_line": {**_COUNT, "description": "The line behind the last one."},
}


@frozen(kw_only=True)
class Query:
    """What a model may ask.

    Attributes:
        name: What it is called as a tool.
        kind: The class of the artifacts that can answer.
        about: What a model is told.
        takes: The schemas of its own arguments.
        needs: Those of them that can't be left out.
        answer: Asks an artifact.
    """

    name: str
    kind: type[SpooledArtifact]
    about: str
    takes: Mapping[str, Mapping[str, object]] = field(factory=dict[str, Any])
    needs: tuple[str, ...] = ()
    answer: Callable[[Any, Args], object]


def kind_of(artifact: SpooledArtifact) -> str:
    """Return what an artifact is, for a model."""
    if isinstance(artifact, SpooledJsonArtifact):
        return "JSON"
    return "Markdown" if isinstance(artifact, SpooledMarkdownArtifact) else "text"


def _cat(artifact: SpooledArtifact, args: Args) -> list[str]:
    start = args.get("start", 0)
    end = min(args.get("end", start + MOST), start + MOST)
    return artifact.cat(start, end, max_bytes=MOST_BYTES)


def _grep(artifact: SpooledArtifact, args: Args) -> list[str]:
    flags = args.get("flags", "")
    return artifact.grep(
        args["pattern"], flags=flags, max_matches=MOST, max_bytes=MOST_BYTES
    )


def _estimate(artifact: SpooledArtifact, args: Args) -> int:
    encoding = args.get("encoding", "chars/4")
    return sum(
        Tokenizable(piece).estimate_tokens(encoding) for piece in _pieces(artifact)
    )


def _pieces(artifact: SpooledArtifact) -> Iterator[str]:
    decoder = getincrementaldecoder("utf-8")(ERRORS)
    for chunk in artifact.reader.iter_bytes(AT_ONCE):
        yield decoder.decode(chunk)
    yield decoder.decode(b"", final=True)


def _slice(artifact: SpooledJsonArtifact, args: Args) -> list[object]:
    start = args.get("start", 0)
    return artifact.json_slice(start, min(args.get("end", start + MOST), start + MOST))


def _blocks(artifact: SpooledMarkdownArtifact, args: Args) -> list[object]:
    # The code itself is for artifact_cat to show.
    return [
        {"lang": it.lang, "start_line": it.start_line, "end_line": it.end_line}
        for it in artifact.md_code_blocks(args.get("lang"))
    ]


def _first(found: list[Any]) -> list[Any]:
    return list(islice(found, MOST))


_TEXT: Final = (
    Query(
        name="artifact_head",
        kind=SpooledArtifact,
        about="Return the first lines of an artifact.",
        takes={"n": {**_SHOWN, "description": "How many lines; 10 if left out."}},
        answer=lambda artifact, args: artifact.head(
            args.get("n", 10), max_bytes=MOST_BYTES
        ),
    ),
    Query(
        name="artifact_tail",
        kind=SpooledArtifact,
        about="Return the last lines of an artifact.",
        takes={"n": {**_SHOWN, "description": "How many lines; 10 if left out."}},
        answer=lambda artifact, args: artifact.tail(
            args.get("n", 10), max_bytes=MOST_BYTES
        ),
    ),
    Query(
        name="artifact_grep",
        kind=SpooledArtifact,
        about="Return the lines of an artifact in which a regular expression is found,"
        f" at most {MOST:,}.",
        takes={
            "pattern": {
                "type": "string",
                "maxLength": 1000,
                "description": "The regular expression, tried on each line.",
            },
            "flags": {
                "type": "string",
                "pattern": "^[imsu]*$",
                "description": "i ignores case, m and s are about line ends and dots.",
            },
        },
        needs=("pattern",),
        answer=_grep,
    ),
    Query(
        name="artifact_cat",
        kind=SpooledArtifact,
        about=f"Return a range of lines of an artifact, at most {MOST:,}.",
        takes={
            "start": {**_COUNT, "description": "The first line, from 0."},
            "end": {**_COUNT, "description": "The line behind the last one."},
        },
        answer=_cat,
    ),
    Query(
        name="artifact_byte_length",
        kind=SpooledArtifact,
        about="Return the number of bytes of an artifact.",
        answer=lambda artifact, _: artifact.byte_length(),
    ),
    Query(
        name="artifact_line_count",
        kind=SpooledArtifact,
        about="Return the number of lines of an artifact.",
        answer=lambda artifact, _: artifact.line_count(),
    ),
    Query(
        name="artifact_estimate_tokens",
        kind=SpooledArtifact,
        about="Return about how many tokens an artifact would take.",
        takes={
            # Other encodings would make the program fetch their tables.
            "encoding": {
                "enum": ["chars/4", "claude"],
                "description": "How to count; chars/4 if left out.",
            }
        },
        answer=_estimate,
    ),
)

_JSON: Final = (
    Query(
        name="artifact_json_type",
        kind=SpooledJsonArtifact,
        about="Return the format of a JSON artifact: json, json5 or jsonl.",
        answer=lambda artifact, _: artifact.json_type(),
    ),
    Query(
        name="artifact_json_keys",
        kind=SpooledJsonArtifact,
        about="Return the keys of the objects among the records of a JSON artifact.",
        answer=lambda artifact, _: artifact.json_keys(),
    ),
    Query(
        name="artifact_json_length",
        kind=SpooledJsonArtifact,
        about="Return the number of records of a JSON artifact: the lines of jsonl, or"
        " the entries of an array; any other document is one.",
        answer=lambda artifact, _: artifact.json_length(),
    ),
    Query(
        name="artifact_json_get",
        kind=SpooledJsonArtifact,
        about="Return what a JSONPath finds in a JSON document, or in each line of"
        f" jsonl, at most {MOST:,} matches.",
        takes={"path": {**_PATH, "description": "JSONPath, such as $.user.name."}},
        needs=("path",),
        answer=lambda artifact, args: artifact.json_get(args["path"], max_matches=MOST),
    ),
    Query(
        name="artifact_json_filter",
        kind=SpooledJsonArtifact,
        about="Return the records of a JSON artifact in which a JSONPath finds"
        f" something, at most {MOST:,}.",
        takes={
            "path": {
                **_PATH,
                "description": "JSONPath, such as $[?@.age > 18] or $.error.",
            }
        },
        needs=("path",),
        answer=lambda artifact, args: artifact.json_filter(
            args["path"], max_matches=MOST
        ),
    ),
    Query(
        name="artifact_json_slice",
        kind=SpooledJsonArtifact,
        about=f"Return a range of records of a JSON artifact, at most {MOST:,}.",
        takes={
            "start": {**_COUNT, "description": "The first record, from 0."},
            "end": {**_COUNT, "description": "The record behind the last one."},
        },
        answer=_slice,
    ),
    Query(
        name="artifact_json_pluck",
        kind=SpooledJsonArtifact,
        about="Return all values that a JSONPath finds in a JSON artifact, in each line"
        f" of jsonl, at most {MOST:,}.",
        takes={"path": {**_PATH, "description": "JSONPath, such as $..name."}},
        needs=("path",),
        answer=lambda artifact, args: artifact.json_pluck(
            args["path"], max_matches=MOST
        ),
    ),
)

_MARKDOWN: Final = (
    Query(
        name="artifact_md_frontmatter",
        kind=SpooledMarkdownArtifact,
        about="Return the YAML front matter of a Markdown artifact.",
        answer=lambda artifact, _: artifact.md_frontmatter(),
    ),
    Query(
        name="artifact_md_headings",
        kind=SpooledMarkdownArtifact,
        about="Return the headings of a Markdown artifact, with the lines of their"
        " sections.",
        takes={"depth": {**_DEPTH, "description": "Of one depth only."}},
        answer=lambda artifact, args: _first(artifact.md_headings(args.get("depth"))),
    ),
    Query(
        name="artifact_md_code_blocks",
        kind=SpooledMarkdownArtifact,
        about="Return where the code blocks of a Markdown artifact are, by lines.",
        takes={
            "lang": {
                "type": "string",
                "description": "In one language only; empty for those without.",
            }
        },
        answer=lambda artifact, args: _first(_blocks(artifact, args)),
    ),
    Query(
        name="artifact_md_sections",
        kind=SpooledMarkdownArtifact,
        about="Return where the sections of a Markdown artifact are, by lines.",
        takes={"depth": {**_DEPTH, "description": "Of one depth only."}},
        answer=lambda artifact, args: _first(artifact.md_sections(args.get("depth"))),
    ),
    Query(
        name="artifact_md_links",
        kind=SpooledMarkdownArtifact,
        about="Return the links of a Markdown artifact.",
        takes=_RANGE,
        answer=lambda artifact, args: _first(artifact.md_links(**args)),
    ),
    Query(
        name="artifact_md_images",
        kind=SpooledMarkdownArtifact,
        about="Return the images of a Markdown artifact.",
        takes=_RANGE,
        answer=lambda artifact, args: _first(artifact.md_images(**args)),
    ),
    Query(
        name="artifact_md_text",
        kind=SpooledMarkdownArtifact,
        about="Return the text of a Markdown artifact without markup.",
        takes=_RANGE,
        answer=lambda artifact, args: artifact.md_text(**args),
    ),
    Query(
        name="artifact_md_ast",
        kind=SpooledMarkdownArtifact,
        about="Return the syntax tree of a Markdown artifact.",
        takes=_RANGE,
        answer=lambda artifact, args: artifact.md_ast(**args),
    ),
)

QUERIES: Final = (*_TEXT, *_JSON, *_MARKDOWN)
