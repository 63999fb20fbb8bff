"""Artifacts that are Markdown."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import ClassVar

import attrs
import pytest

from graphcodec import Codec, SpooledMarkdownArtifact, decode, encodable, encode, errors
from graphcodec.primitives.markdown import (
    MarkdownCodeBlock,
    MarkdownHeading,
    MarkdownImage,
    MarkdownLink,
    MarkdownSection,
)
from graphcodec.readers import BytesReader

TEXT = """\
---
title: Manual
tags: [a, b]
---
# The *manual* #

Read [the guide](https://example.org/guide "Guide") or
[the rest][rest], see ![a plan](plan.png), <https://example.org/>.

## Install

```sh
# not a heading
pip install it
```

Setext
------

> # quoted

| a | b |
|---|---|
| `x` | [y](javascript:y) |

~~~
no language
~~~

# Last

    indented

[rest]: /rest
"""

LINES = TEXT.split("\n")
END = len(LINES)


def spool(text: str | bytes) -> SpooledMarkdownArtifact:
    """Return an artifact over a text in memory."""
    data = text.encode() if isinstance(text, str) else text
    return SpooledMarkdownArtifact(BytesReader(data))


def at(start: str) -> int:
    """Return the number of the line that begins like that."""
    return next(n for n, line in enumerate(LINES) if line.startswith(start))


# Headings and sections


def test_headings_have_the_lines_of_their_sections() -> None:
    """Headings of both styles are found, but not in code, quotes or front matter."""
    last = at("# Last")

    assert spool(TEXT).md_headings() == [
        MarkdownHeading(1, "The manual", at("# The"), last),
        MarkdownHeading(2, "Install", at("## Install"), at("Setext")),
        MarkdownHeading(2, "Setext", at("Setext"), last),
        MarkdownHeading(1, "Last", last, END),
    ]
    assert [found.text for found in spool(TEXT).md_headings(2)] == ["Install", "Setext"]
    assert spool(TEXT).md_headings(3) == []


def test_sections_have_a_heading_and_a_body() -> None:
    """A section ends before the next heading of the same or a lower depth."""
    assert spool(TEXT).md_sections(2) == [
        MarkdownSection(
            2, "Install", at("## Install"), at("## Install") + 1, at("Setext")
        ),
        MarkdownSection(2, "Setext", at("Setext"), at("Setext") + 2, at("# Last")),
    ]
    assert len(spool(TEXT).md_sections()) == 4


def test_ranges_are_those_of_cat() -> None:
    """The lines of a section can be read with `cat`, as they are."""
    text = spool(TEXT)

    for found in text.md_headings():
        lines = text.cat(found.start_line, found.end_line)
        assert found.text.split()[0] in lines[0]
    last = text.md_sections()[-1]
    assert text.cat(last.body_start_line, last.body_end_line)[-2:] == [
        "[rest]: /rest",
        "",
    ]


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("", []),
        ("# a", [("a", 0, 1)]),
        ("# a\n", [("a", 0, 2)]),
        ("a\r\n=\r\n# b\r\n", [("a", 0, 2), ("b", 2, 4)]),
        ("\ufeff# a\n# b", [("a", 0, 1), ("b", 1, 2)]),
        ("x\r# no\n# a", [("a", 1, 2)]),
        ("x\x85# no\u2028# no\x0b# no\n# a", [("a", 1, 2)]),
        ("x\x00\n\n# a", [("a", 2, 3)]),
        ("# " + "w" * 300_000 + "\n# a", [("w" * 300_000, 0, 1), ("a", 1, 2)]),
        ("#\tone\n####### seven\n#two\n", [("one", 0, 4)]),
        ("```\n# a\n", []),
        ("---\na: 1\n\n# a\n", [("a", 3, 5)]),
        ("---\na: 1\n---\n# a\n", [("a", 3, 5)]),
        ("\n---\na\n---\n", [("a", 2, 5)]),
    ],
)
def test_lines_end_at_newlines_alone(
    text: str, headings: list[tuple[str, int, int]]
) -> None:
    """Line numbers are those of the base class, whatever else looks like a line end."""
    found = spool(text).md_headings()

    assert [(it.text, it.start_line, it.end_line) for it in found] == headings
    assert all(it.end_line <= spool(text).line_count() for it in found)


def test_bytes_that_are_not_utf_8_are_kept() -> None:
    """Bad bytes are lone surrogates here too."""
    text = spool(b"# a\xff\n\n[b\xfe](c\xfd)\n")

    assert text.md_headings()[0].text.encode("utf-8", "surrogateescape") == b"a\xff"
    link = text.md_links()[0]
    assert (link.text, link.url) == ("b\udcfe", "c\udcfd")
    assert text.md_text() == "a\udcff\nb\udcfe"


# Code, links, images, text


def test_code_blocks_are_fenced() -> None:
    """Fenced blocks are found with their language, by all or by one."""
    shell = MarkdownCodeBlock(
        "sh", "# not a heading\npip install it\n", at("```sh"), at("```sh") + 4
    )
    plain = MarkdownCodeBlock(None, "no language\n", at("~~~"), at("~~~") + 3)

    assert spool(TEXT).md_code_blocks() == [shell, plain]
    assert spool(TEXT).md_code_blocks("sh") == [shell]
    assert spool(TEXT).md_code_blocks("") == [plain]
    assert spool("````py title=x\n```\n").md_code_blocks("py")[0].code == "```\n"
    assert spool("- a\n  ```c\n  x\n  ```\n").md_code_blocks("c")[0].start_line == 1


def test_links_of_all_kinds_are_found() -> None:
    """Inline links, references and autolinks have the range of their block."""
    block = at("Read"), at("Read") + 2
    row = at("| `x`"), at("| `x`") + 1

    assert spool(TEXT).md_links() == [
        MarkdownLink("the guide", "https://example.org/guide", "Guide", *block),
        MarkdownLink("the rest", "/rest", None, *block),
        MarkdownLink("https://example.org/", "https://example.org/", None, *block),
        MarkdownLink("y", "javascript:y", None, *row),
    ]
    assert [it.url for it in spool(TEXT).md_links(row[0])] == ["javascript:y"]
    assert len(spool(TEXT).md_links(block[1] - 1, block[1])) == 3
    assert spool(TEXT).md_links(0, block[0]) == []


def test_images_are_found() -> None:
    """Images have their text and address."""
    block = at("Read"), at("Read") + 2

    assert spool(TEXT).md_images() == [
        MarkdownImage("a plan", "plan.png", None, *block)
    ]
    assert spool(TEXT).md_images(block[1]) == []
    assert spool("![*a* b][c]\n\n[c]: d 'e'").md_images() == [
        MarkdownImage("*a* b", "d", "e", 0, 1)
    ]


def test_text_is_without_markup() -> None:
    """The text of a range has no markup and no HTML, but code."""
    text = spool(TEXT)

    assert text.md_text(at("# The"), at("## Install")).split("\n") == [
        "The manual",
        "Read the guide or",
        "the rest, see a plan, https://example.org/.",
    ]
    assert text.md_text(at("| a")).split("\n")[:5] == [
        "a",
        "b",
        "x",
        "y",
        "no language",
    ]
    assert spool("a <b>c</b> ~~d~~ \\* &amp;\n\n<p>e</p>\n").md_text() == "a c d * &"


def test_the_tree_has_everything() -> None:
    """The tree's outermost blocks have lines, and their parts within."""
    nodes = spool("# a *b*\n\n- [c](d)\n").md_ast()

    assert [(it.type, it.start_line, it.end_line) for it in nodes] == [
        ("heading", 0, 1),
        ("bullet_list", 2, 3),
    ]
    inline = nodes[0].children[0]
    assert [it.type for it in inline.children] == ["text", "em"]
    assert inline.children[1].children[0].content == "b"
    link = nodes[1].children[0].children[0].children[0].children[0]
    assert (link.type, link.attrs, link.children[0].content) == (
        "link",
        {"href": "d"},
        "c",
    )
    assert [it.type for it in spool(TEXT).md_ast(at("~~~"), at("# Last"))] == ["fence"]


def test_event_loops_get_the_same() -> None:
    """Each method has a twin for event loops."""

    async def ask() -> list[object]:
        text = spool(TEXT)
        return [
            await text.amd_frontmatter(),
            await text.amd_headings(1),
            await text.amd_sections(1),
            await text.amd_code_blocks("sh"),
            await text.amd_links(20),
            await text.amd_images(),
            await text.amd_text(20),
            await text.amd_ast(20),
        ]

    text = spool(TEXT)
    assert asyncio.run(ask()) == [
        text.md_frontmatter(),
        text.md_headings(1),
        text.md_sections(1),
        text.md_code_blocks("sh"),
        text.md_links(20),
        text.md_images(),
        text.md_text(20),
        text.md_ast(20),
    ]


# Front matter


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (TEXT, {"title": "Manual", "tags": ["a", "b"]}),
        ("---\n---\n", {}),
        ("---\n\n# a comment\n---", {}),
        ("\ufeff---\r\na: 1\r\n---\r\n", {"a": 1}),
        ("---  \na: 1\n--- \n", {"a": 1}),
        ("", None),
        ("# a", None),
        ("\n---\na: 1\n---\n", None),
        ("---\na: 1\n", None),
        ("---\na: 1\n...\n", None),
        ("---\n- a\n---\n", None),
        ("---\n" + "\n" * 198 + "---\n", {}),
        ("---\n" + "\n" * 199 + "---\n", None),
        ("---\n# " + "x" * 20_000 + "\n---\n", None),
    ],
)
def test_front_matter_is_closed(text: str, found: object) -> None:
    """Front matter is a mapping, empty if the block is, and None if there is none."""
    assert spool(text).md_frontmatter() == found


@pytest.mark.parametrize(
    ("yaml", "reason"),
    [
        ('!!python/object/apply:os.system ["id"]', "could not determine a constructor"),
        ("a: !!python/name:os.system", "could not determine a constructor"),
        ("a: &a [1]\nb: *a", "uses an alias"),
        ("a: &a [*a]", "uses an alias"),
        ("a: &a {x: 1}\nb: {<<: *a}", "uses an alias"),
        ("a: b: c", "mapping values are not allowed"),
        ("a: 2024-99-99", "month must be"),
        ("{[a]: {}: b}", "can't be read"),
        ("a: \x01", "can't be read"),
        ("a: !!int x", "can't be read"),
        ("? {}\n: 1", "unhashable"),
        ("a: 1\n--- {}", "can't be read|expected"),
    ],
)
def test_front_matter_that_is_more_than_data_is_refused(yaml: str, reason: str) -> None:
    """Objects, aliases and what is no YAML are our error, and nothing runs."""
    text = spool(f"---\n{yaml}\n---\n# a\n")

    with pytest.raises(errors.UndecodableValueError, match=reason):
        text.md_frontmatter()
    assert [found.text for found in text.md_headings()] == ["a"]


@pytest.mark.parametrize("unit", ["[", "{a: ", "- ", "? "])
def test_deep_front_matter_is_refused(unit: str) -> None:
    """Depth ends in our error at once."""
    before = time.perf_counter()
    with pytest.raises(errors.LimitExceededError, match="deeper than 50 levels"):
        spool(f"---\n{unit * 3000}\n---\n").md_frontmatter()
    assert time.perf_counter() - before < 5


# Limits


class Quick(SpooledMarkdownArtifact):
    """An artifact with limits of its own."""

    max_markdown_bytes: ClassVar[int] = 500_000
    markdown_timeout: ClassVar[float] = 0.2


ASKS: list[Callable[[SpooledMarkdownArtifact], object]] = [
    SpooledMarkdownArtifact.md_headings,
    SpooledMarkdownArtifact.md_links,
    SpooledMarkdownArtifact.md_text,
    SpooledMarkdownArtifact.md_ast,
]


@pytest.mark.parametrize(
    "text",
    [
        "[a](" * 100_000,
        "![" * 200_000,
        "[" * 400_000,
        "**a *b " * 60_000,
        "_a__" * 100_000,
        "x|y\n-|-\n" * 50_000,
        "- a\n" * 100_000,
        "".join("> " * depth + "a\n" for depth in range(600)),
        "`" * 400_000,
        "<" * 400_000,
        "[a]: b\n" * 60_000,
        "a\n=\n" * 100_000,
    ],
    ids=lambda text: text[:8],
)
def test_pathological_text_is_read_or_stopped(text: str) -> None:
    """What is made to take for ever ends with the time, or is read before."""
    before = time.perf_counter()
    with suppress(errors.LimitExceededError):
        Quick(BytesReader(text.encode())).md_links()
    assert time.perf_counter() - before < 10


@pytest.mark.parametrize("ask", ASKS)
def test_time_is_bounded(ask: Callable[[SpooledMarkdownArtifact], object]) -> None:
    """Every query that parses is stopped."""
    text = Quick(BytesReader(b"[a](" * 100_000))

    with pytest.raises(errors.LimitExceededError, match=r"0\.2 seconds") as caught:
        ask(text)
    assert (caught.value.limit, caught.value.value) == ("markdown_timeout", 0.2)


@pytest.mark.parametrize("ask", ASKS)
def test_size_is_bounded(ask: Callable[[SpooledMarkdownArtifact], object]) -> None:
    """Every query that parses refuses a text that is too large; the rest works."""
    text = Quick(BytesReader(b"---\na: 1\n---\n" + b"a\n" * 250_000))

    with pytest.raises(errors.LimitExceededError, match="500,000 bytes") as caught:
        ask(text)
    assert caught.value.limit == "max_markdown_bytes"
    assert text.md_frontmatter() == {"a": 1}
    assert text.head(1) == ["---"]


# On the wire


def test_round_trip() -> None:
    """An artifact comes back with its bytes, whatever was asked of it."""
    text = spool(TEXT)
    before = encode(text)
    text.md_headings()
    again = decode(before, SpooledMarkdownArtifact)

    assert encode(text) == before
    assert again == text
    assert again.md_headings() == text.md_headings()


def test_a_subclass_comes_back_as_itself() -> None:
    """A class of one's own is not reduced to its base."""

    @encodable("tests.Manual")
    @attrs.frozen(eq=False, repr=False)
    class Manual(SpooledMarkdownArtifact):
        pass

    codec = Codec(types=[Manual])
    manual = Manual(BytesReader(b"# a"))

    assert type(codec.decode(codec.encode(manual))) is Manual
    assert codec.decode(codec.encode(manual)) == manual


@pytest.mark.parametrize(
    ("package", "ask", "hint"),
    [
        ("markdown_it", "md_headings", "Markdown needs markdown-it-py"),
        ("yaml", "md_frontmatter", "reading front matter needs pyyaml"),
    ],
)
def test_a_missing_package_is_named(package: str, ask: str, hint: str) -> None:
    """Without an extra, the error says how to install it."""
    code = f"""
import sys
sys.modules[{package!r}] = None
from graphcodec import SpooledMarkdownArtifact, BytesReader
try:
    SpooledMarkdownArtifact(BytesReader(b"---\\n---\\n# a")).{ask}()
except ModuleNotFoundError as exc:
    print(exc)
"""
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout == f"{hint}: pip install 'graphcodec[artifacts]'\n"
