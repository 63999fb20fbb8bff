"""What a Markdown text consists of, by line numbers.

`markdown-it-py` reads it as CommonMark with the tables and the strikethrough of GitHub.
Most texts take it some milliseconds, but some few are made to take minutes; so its
rules, which are tried at each line and at each odd character, look at the clock.

Lines are those of `SpooledArtifact.cat`: they end at a newline and nowhere else, and
all ranges are without their end. What a block holds, such as a link, has the range of
the block.

This module needs the package; who imports it says so if it is missing.
"""

from __future__ import annotations

import re
from time import thread_time
from typing import TYPE_CHECKING, Final

from markdown_it import MarkdownIt

from graphcodec.errors import LimitExceededError
from graphcodec.primitives._front_matter import length_of_front_matter
from graphcodec.primitives.markdown import (
    MarkdownCodeBlock,
    MarkdownHeading,
    MarkdownImage,
    MarkdownLink,
    MarkdownNode,
    MarkdownSection,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.token import Token

__all__ = ["MarkdownDocument"]

DEEPEST: Final = 100
"""How deep quotes, lists and markup may nest; what is below is left out."""

_DEPTHS: Final = 6
_LONE_RETURN: Final = re.compile(r"\r(?!\n)")
_PLACES: Final = ["paragraph", "reference", "blockquote", "list"]


class MarkdownDocument:
    """A Markdown text that has been parsed.

    Args:
        text: The text.
        timeout: How many seconds of computing parsing may take.

    Raises:
        LimitExceededError: If it takes longer.
    """

    def __init__(self, text: str, *, timeout: float) -> None:
        lines = text.split("\n")
        self._count = len(lines) if text else 0
        fenced = length_of_front_matter(lines)
        body = "\n" * fenced + "\n".join(lines[fenced:])
        # CommonMark takes a lone carriage return for the end of a line.
        body = _LONE_RETURN.sub(" ", body.removeprefix("\ufeff"))
        self._tokens = _Parser(timeout).parse(body)

    def sections(self, depth: int | None = None) -> list[MarkdownSection]:
        """Return the sections, of one depth or of all."""
        found: list[MarkdownSection] = []
        ends = [self._count] * (_DEPTHS + 1)
        for level, text, line, body in reversed(list(self._heads())):
            if depth is None or level == depth:
                found.append(MarkdownSection(level, text, line, body, ends[level]))
            ends[level:] = [line] * (_DEPTHS + 1 - level)
        return found[::-1]

    def headings(self, depth: int | None = None) -> list[MarkdownHeading]:
        """Return the headings, of one depth or of all."""
        return [
            MarkdownHeading(it.depth, it.heading, it.heading_line, it.body_end_line)
            for it in self.sections(depth)
        ]

    def code_blocks(self, lang: str | None = None) -> list[MarkdownCodeBlock]:
        """Return the fenced blocks, of one language or of all."""
        found: list[MarkdownCodeBlock] = []
        for token in self._tokens:
            if token.type == "fence" and token.map:
                name = token.info.split(maxsplit=1)[0] if token.info.strip() else None
                if lang is None or lang == (name or ""):
                    found.append(MarkdownCodeBlock(name, token.content, *token.map))
        return found

    def links(self, start: int, end: int | None) -> list[MarkdownLink]:
        """Return the links in a range of lines."""
        found: list[MarkdownLink] = []
        for token, lines in self._inlines(start, end):
            children = token.children or []
            for place, child in enumerate(children):
                if child.type == "link_open":
                    text = "".join(_texts(_until_closed(children, place + 1)))
                    url, title = _attribute(child, "href"), _attribute(child, "title")
                    found.append(MarkdownLink(text, url, title or None, *lines))
        return found

    def images(self, start: int, end: int | None) -> list[MarkdownImage]:
        """Return the images in a range of lines."""
        return [
            MarkdownImage(
                child.content,
                _attribute(child, "src"),
                _attribute(child, "title") or None,
                *lines,
            )
            for token, lines in self._inlines(start, end)
            for child in token.children or []
            if child.type == "image"
        ]

    def text(self, start: int, end: int | None) -> str:
        """Return the text in a range of lines, without markup, block by block."""
        found: list[str] = []
        for token in self._within(start, end):
            if token.type in ("fence", "code_block"):
                found.append(token.content.rstrip("\n"))
            elif token.type == "inline":
                found.append("".join(_texts(token.children or [])))
        return "\n".join(found)

    def ast(self, start: int, end: int | None) -> list[MarkdownNode]:
        """Return the outermost blocks in a range of lines, with all they hold."""
        return [
            node
            for node in _nodes(self._tokens)
            if _touches((node.start_line or 0, node.end_line or 0), start, end)
        ]

    def _heads(self) -> Iterator[tuple[int, str, int, int]]:
        """Yield depth, text, line and first line behind each outermost heading."""
        for place, token in enumerate(self._tokens):
            if token.type == "heading_open" and not token.level and token.map:
                content = self._tokens[place + 1].children or []
                line, body = token.map
                yield int(token.tag[1:]), "".join(_texts(content)), line, body

    def _within(self, start: int, end: int | None) -> Iterator[Token]:
        for token in self._tokens:
            if token.map and _touches((token.map[0], token.map[1]), start, end):
                yield token

    def _inlines(
        self, start: int, end: int | None
    ) -> Iterator[tuple[Token, tuple[int, int]]]:
        for token in self._within(start, end):
            if token.type == "inline" and token.map:
                yield token, (token.map[0], token.map[1])


class _Parser(MarkdownIt):
    """A parser that reports URLs as they are written, within a time."""

    def __init__(self, timeout: float) -> None:
        super().__init__("commonmark", {"maxNesting": DEEPEST})
        self.enable(["table", "strikethrough"])
        self._timeout = timeout
        self._deadline = thread_time() + timeout
        self.block.ruler.before("table", "clock", self._look, {"alt": _PLACES})
        self.inline.ruler.before("text", "clock", self._look)

    def validateLink(self, url: str) -> bool:  # noqa: N802 - the name is the package's
        """Let every URL be: whoever follows one decides."""
        del url
        return True

    def normalizeLink(self, url: str) -> str:  # noqa: N802 - the name is the package's
        """Leave *url* as it is written."""
        return url

    def _look(self, *_: object) -> bool:
        """Look at the clock; as a rule, it never matches."""
        if thread_time() > self._deadline:
            raise LimitExceededError(
                f"parsing the Markdown took more than {self._timeout:g} seconds",
                hint="read it with cat and grep",
                limit="markdown_timeout",
                value=self._timeout,
            )
        return False


def _touches(lines: tuple[int, int], start: int, end: int | None) -> bool:
    return lines[1] > start and (end is None or lines[0] < end)


def _attribute(token: Token, name: str) -> str:
    return str(token.attrs.get(name, ""))


def _until_closed(tokens: list[Token], place: int) -> list[Token]:
    """Return the tokens from *place* up to the end of the link that they are in."""
    end = next(n for n in range(place, len(tokens)) if tokens[n].type == "link_close")
    return tokens[place:end]


def _texts(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in ("text", "code_inline", "image"):
            yield token.content
        elif token.type in ("softbreak", "hardbreak"):
            yield "\n"


def _nodes(tokens: list[Token]) -> list[MarkdownNode]:
    """Make a tree of tokens that open and close."""
    roots: list[MarkdownNode] = []
    within: list[list[MarkdownNode]] = [roots]
    for token in tokens:
        if token.nesting < 0:
            within.pop()
            continue
        node = _node(token)
        within[-1].append(node)
        if token.nesting > 0:
            within.append(node.children)
    return roots


def _node(token: Token) -> MarkdownNode:
    start, end = token.map or (None, None)
    return MarkdownNode(
        type=token.type.removesuffix("_open"),
        tag=token.tag,
        content="" if token.children else token.content,
        info=token.info,
        attrs={name: str(value) for name, value in token.attrs.items()},
        start_line=start,
        end_line=end,
        children=_nodes(token.children or []),
    )
