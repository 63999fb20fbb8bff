"""Spooled text that is Markdown, and answers queries."""

from typing import TYPE_CHECKING, ClassVar

from attrs import frozen

from graphcodec._extras import from_extra
from graphcodec.errors import LimitExceededError
from graphcodec.primitives._artifact import SpooledArtifact
from graphcodec.primitives._checks import checked
from graphcodec.primitives._front_matter import ENOUGH_BYTES, front_matter
from graphcodec.primitives.markdown import (
    MarkdownCodeBlock,
    MarkdownHeading,
    MarkdownImage,
    MarkdownLink,
    MarkdownNode,
    MarkdownSection,
)
from graphcodec.readers._lines import decoded
from graphcodec.readers._threads import in_thread

if TYPE_CHECKING:
    from graphcodec.primitives._markdown import MarkdownDocument

__all__ = ["SpooledMarkdownArtifact"]


@checked
@frozen(eq=False, repr=False)
class SpooledMarkdownArtifact(SpooledArtifact):
    """Spooled text that is Markdown.

    It is read as CommonMark with tables and strikethrough, setext headings and
    reference links among it. Lines are counted from 0, as by `cat`, and every range is
    without its end: ``cat(heading.start_line, heading.end_line)`` is the heading's
    section. What nests deeper than 100 levels is left out. Each query parses the text
    anew and keeps nothing.

    Front matter is a block of YAML between ``---`` on the first line and ``---`` on
    another, within 200 lines and 16,384 characters. The other queries pass over it.

    Attributes:
        reader: Where the bytes are.
        max_markdown_bytes: How many bytes of text are parsed. A subclass may set
            another number, and another `markdown_timeout`.
        markdown_timeout: How many seconds of computing parsing may take.
    """

    __graphcodec_tag__: ClassVar[str] = "SpooledMarkdownArtifact"

    max_markdown_bytes: ClassVar[int] = 1 << 20
    markdown_timeout: ClassVar[float] = 0.75

    def md_frontmatter(self) -> dict[object, object] | None:
        """Return what the front matter says, reading no more than its lines.

        YAML is read by PyYAML's safe loader; aliases are refused.

        Returns:
            The mapping; an empty one for an empty block; None if there is no block that
            is closed, or if it holds no mapping.

        Raises:
            LimitExceededError: If it nests too deep.
            UndecodableValueError: If it is not YAML, or more than plain data.
        """
        return front_matter(decoded(self._index().beginning(ENOUGH_BYTES)).split("\n"))

    def md_headings(self, depth: int | None = None) -> list[MarkdownHeading]:
        """Return the headings that stand in no quote and no list.

        Args:
            depth: From 1 to 6, for those of one depth; None for all.

        Raises:
            LimitExceededError: If the text is too large, or takes too long to parse.
        """
        return self._document().headings(depth)

    def md_sections(self, depth: int | None = None) -> list[MarkdownSection]:
        """Return the sections, each with the lines of its heading and its body.

        Args:
            depth: From 1 to 6, for those of one depth; None for all.

        Raises:
            LimitExceededError: If the text is too large, or takes too long to parse.
        """
        return self._document().sections(depth)

    def md_code_blocks(self, lang: str | None = None) -> list[MarkdownCodeBlock]:
        """Return the blocks of code between fences.

        Args:
            lang: For those in one language, as written; an empty str for those that
                name none; None for all.

        Raises:
            LimitExceededError: If the text is too large, or takes too long to parse.
        """
        return self._document().code_blocks(lang)

    def md_links(
        self, start_line: int = 0, end_line: int | None = None
    ) -> list[MarkdownLink]:
        """Return the links in the blocks that a range of lines touches.

        Args:
            start_line: The first line.
            end_line: The line behind the last one; None for all.

        Raises:
            LimitExceededError: If the text is too large, or takes too long to parse.
        """
        return self._document().links(start_line, end_line)

    def md_images(
        self, start_line: int = 0, end_line: int | None = None
    ) -> list[MarkdownImage]:
        """Return the images in the blocks that a range of lines touches.

        Args:
            start_line: The first line.
            end_line: The line behind the last one; None for all.

        Raises:
            LimitExceededError: If the text is too large, or takes too long to parse.
        """
        return self._document().images(start_line, end_line)

    def md_text(self, start_line: int = 0, end_line: int | None = None) -> str:
        """Return the text of the blocks that a range of lines touches, without markup.

        HTML is left out, code is not.

        Args:
            start_line: The first line.
            end_line: The line behind the last one; None for all.

        Raises:
            LimitExceededError: If the text is too large, or takes too long to parse.
        """
        return self._document().text(start_line, end_line)

    def md_ast(
        self, start_line: int = 0, end_line: int | None = None
    ) -> list[MarkdownNode]:
        """Return the outermost blocks that a range of lines touches, as trees.

        Args:
            start_line: The first line.
            end_line: The line behind the last one; None for all.

        Raises:
            LimitExceededError: If the text is too large, or takes too long to parse.
        """
        return self._document().ast(start_line, end_line)

    async def amd_frontmatter(self) -> dict[object, object] | None:
        """Do what `md_frontmatter` does without blocking the event loop."""
        return await in_thread(self.md_frontmatter)

    async def amd_headings(self, depth: int | None = None) -> list[MarkdownHeading]:
        """Do what `md_headings` does without blocking the event loop."""
        return await in_thread(self.md_headings, depth)

    async def amd_sections(self, depth: int | None = None) -> list[MarkdownSection]:
        """Do what `md_sections` does without blocking the event loop."""
        return await in_thread(self.md_sections, depth)

    async def amd_code_blocks(self, lang: str | None = None) -> list[MarkdownCodeBlock]:
        """Do what `md_code_blocks` does without blocking the event loop."""
        return await in_thread(self.md_code_blocks, lang)

    async def amd_links(
        self, start_line: int = 0, end_line: int | None = None
    ) -> list[MarkdownLink]:
        """Do what `md_links` does without blocking the event loop."""
        return await in_thread(self.md_links, start_line, end_line)

    async def amd_images(
        self, start_line: int = 0, end_line: int | None = None
    ) -> list[MarkdownImage]:
        """Do what `md_images` does without blocking the event loop."""
        return await in_thread(self.md_images, start_line, end_line)

    async def amd_text(self, start_line: int = 0, end_line: int | None = None) -> str:
        """Do what `md_text` does without blocking the event loop."""
        return await in_thread(self.md_text, start_line, end_line)

    async def amd_ast(
        self, start_line: int = 0, end_line: int | None = None
    ) -> list[MarkdownNode]:
        """Do what `md_ast` does without blocking the event loop."""
        return await in_thread(self.md_ast, start_line, end_line)

    def _document(self) -> "MarkdownDocument":
        with from_extra("artifacts", "Markdown needs markdown-it-py"):
            from graphcodec.primitives._markdown import (  # noqa: PLC0415 - optional
                MarkdownDocument,
            )
        return MarkdownDocument(self._text(), timeout=self.markdown_timeout)

    def _text(self) -> str:
        data = self._index().beginning(self.max_markdown_bytes + 1)
        if len(data) > self.max_markdown_bytes:
            raise LimitExceededError(
                f"the Markdown has more than {self.max_markdown_bytes:,} bytes",
                hint="read it with cat and grep, or allow more in a class of your own"
                " with another max_markdown_bytes",
                limit="max_markdown_bytes",
                value=self.max_markdown_bytes,
            )
        return decoded(data)
