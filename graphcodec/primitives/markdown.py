"""What the queries of a Markdown artifact answer with; ranges are without their end."""

from attrs import field, frozen

__all__ = [
    "MarkdownCodeBlock",
    "MarkdownHeading",
    "MarkdownImage",
    "MarkdownLink",
    "MarkdownNode",
    "MarkdownSection",
]


@frozen
class MarkdownHeading:
    """A heading, with the lines of its section.

    Attributes:
        depth: From 1 to 6.
        text: Its text, without markup.
        start_line: The line on which it stands.
        end_line: The line behind its section, which ends before the next heading of the
            same or a lower depth.
    """

    depth: int
    text: str
    start_line: int
    end_line: int


@frozen
class MarkdownSection:
    """What follows a heading, up to the next one of the same or a lower depth.

    Attributes:
        depth: That of the heading, from 1 to 6.
        heading: Its text, without markup.
        heading_line: The line on which it stands.
        body_start_line: The line behind it.
        body_end_line: The line behind the section.
    """

    depth: int
    heading: str
    heading_line: int
    body_start_line: int
    body_end_line: int


@frozen
class MarkdownCodeBlock:
    """A block of code between fences.

    Attributes:
        lang: The first word behind the opening fence; None if there is none.
        code: What is between the fences.
        start_line: The line of the opening fence.
        end_line: The line behind the closing one.
    """

    lang: str | None
    code: str
    start_line: int
    end_line: int


@frozen
class MarkdownLink:
    """A link: inline, by reference or in angle brackets.

    Attributes:
        text: Its text, without markup.
        url: Where it leads, as written.
        title: Its title; None if there is none.
        start_line: The first line of the block that it is in.
        end_line: The line behind that block.
    """

    text: str
    url: str
    title: str | None
    start_line: int
    end_line: int


@frozen
class MarkdownImage:
    """An image: inline or by reference.

    Attributes:
        alt: What it shows, in words.
        url: Where it is, as written.
        title: Its title; None if there is none.
        start_line: The first line of the block that it is in.
        end_line: The line behind that block.
    """

    alt: str
    url: str
    title: str | None
    start_line: int
    end_line: int


@frozen
class MarkdownNode:
    """A node of the syntax tree, in the words of `markdown-it-py`.

    Attributes:
        type: Its kind, such as ``paragraph`` or ``text``.
        tag: The HTML element that it would become; often empty.
        content: Its text, if it has no children.
        info: What stands behind the opening fence of a code block.
        attrs: Its attributes, such as ``href``.
        start_line: Its first line; None within a block.
        end_line: The line behind it; None within a block.
        children: What it holds, in order.
    """

    type: str
    tag: str = ""
    content: str = ""
    info: str = ""
    attrs: dict[str, str] = field(factory=dict[str, str])
    start_line: int | None = None
    end_line: int | None = None
    children: list["MarkdownNode"] = field(factory=list["MarkdownNode"])
