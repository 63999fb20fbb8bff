"""Text too long for a prompt, read line by line from where it lies."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import ClassVar

from attrs import field, frozen

from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import checked, hinted
from graphcodec.readers._contracts import Reader
from graphcodec.readers._grep import grep
from graphcodec.readers._lines import LineIndex, decoded
from graphcodec.readers._patterns import refused
from graphcodec.readers._threads import in_thread

__all__ = ["SpooledArtifact"]


@checked
@frozen(eq=False, repr=False)
class SpooledArtifact(Primitive):
    r"""Lazy, line-oriented text over a reader.

    Nothing is read before it is asked for, and no more than it takes: `head` and `tail`
    read kilobytes from either end, `grep` and `line_count` stream. Memory is constant,
    save for the lines that are returned.

    Lines end at ``\n`` and nowhere else: a ``\r`` stays on its line. A text that ends
    with a newline has an empty last line; an empty text has no lines. Numbers count
    from 0, and negative ones never count from the end.

    The text is UTF-8, and a byte order mark is part of it. Bytes that are not UTF-8
    become lone surrogates, as with file names in Python, so that
    ``text().encode("utf-8", "surrogateescape")`` gives back every byte.

    Every method can be called from several threads, and again after it has failed.

    Attributes:
        reader: Where the bytes are.
    """

    __graphcodec_tag__: ClassVar[str] = "SpooledArtifact"
    __graphcodec_family__: ClassVar[str] = "spool"

    reader: Reader = field(metadata=hinted("wrap bytes: BytesReader(data)"))
    _lines: LineIndex | None = field(
        default=None,
        init=False,
        eq=False,
        repr=False,
        metadata={"graphcodec": "skip"},
    )

    def lines(self) -> Iterator[str]:
        """Yield the lines in order, as they are read."""
        return self._index().lines()

    def head(self, n: int = 10, *, max_bytes: int | None = None) -> list[str]:
        """Return the first lines.

        Args:
            n: How many; none if it is not above 0.
            max_bytes: See `cat`.
        """
        return self.cat(0, n, max_bytes=max_bytes)

    def tail(self, n: int = 10, *, max_bytes: int | None = None) -> list[str]:
        """Return the last lines, reading from the end if the reader knows where it is.

        Args:
            n: How many; none if it is not above 0.
            max_bytes: See `cat`; counted from the end, so that the first line is cut.
        """
        _check_bytes(max_bytes)
        return self._index().tail(n, most=max_bytes) if n > 0 else []

    def cat(
        self, start: int = 0, end: int | None = None, *, max_bytes: int | None = None
    ) -> list[str]:
        """Return the lines from number *start* up to, but without, *end*.

        Args:
            start: Number of the first line; a negative one is taken as 0.
            end: Number behind the last line; None for all, and none if negative.
            max_bytes: After how many bytes to stop, be it within a line: one line may
                be as long as the text. None for no limit.

        Raises:
            InvalidValueError: If *max_bytes* is not above 0.
        """
        _check_bytes(max_bytes)
        start = max(0, start)
        if end is not None and end <= start:
            return []
        count = None if end is None else end - start
        return list(islice(self._index().lines(start, most=max_bytes), count))

    def grep(
        self,
        pattern: str | re.Pattern[str],
        *,
        flags: str = "",
        timeout: float | None = 0.75,
        max_matches: int | None = None,
        max_bytes: int | None = None,
    ) -> list[str]:
        """Return the lines in which *pattern* is found.

        A str is treated as a stranger's, such as a model's: it is compiled and run by
        the `regex` package within bounds, and a line of more than 4 MiB is searched in
        pieces that have 64 KiB in common, so that a match longer than that may be
        missed there and a ``$`` be found between two pieces. A compiled pattern is the
        caller's own: it sees whole lines and runs without limits.

        Args:
            pattern: A regular expression, which is tried on each line by itself.
            flags: Letters of ``imsu``, for a str: ignore case, multiple lines, a dot
                matches all, Unicode (always on).
            timeout: How many seconds matching a str may take in all, not counting the
                time that reading takes; None for no limit.
            max_matches: How many lines to return at most; None for all.
            max_bytes: See `cat`; of the lines that are returned.

        Raises:
            InvalidValueError: If a str is no regular expression, is longer than 1,000
                characters or repeats too often, or if another argument makes no sense.
            LimitExceededError: With the limit ``pattern_timeout``, if matching took
                longer than *timeout*.
        """
        _check_bytes(max_bytes)
        return grep(
            self._index(),
            pattern,
            flags=flags,
            timeout=timeout,
            max_matches=max_matches,
            max_bytes=max_bytes,
        )

    def line_count(self) -> int:
        """Return the number of lines; the first call streams the whole text."""
        return self._index().count()

    def byte_length(self) -> int:
        """Return the number of bytes, by streaming them if the reader doesn't know."""
        return self._index().size()

    def text(self) -> str:
        """Return the whole text."""
        return decoded(b"".join(self.reader.iter_bytes()))

    async def ahead(self, n: int = 10, *, max_bytes: int | None = None) -> list[str]:
        """Do what `head` does without blocking the event loop."""
        return await in_thread(self.head, n, max_bytes=max_bytes)

    async def atail(self, n: int = 10, *, max_bytes: int | None = None) -> list[str]:
        """Do what `tail` does without blocking the event loop."""
        return await in_thread(self.tail, n, max_bytes=max_bytes)

    async def acat(
        self, start: int = 0, end: int | None = None, *, max_bytes: int | None = None
    ) -> list[str]:
        """Do what `cat` does without blocking the event loop."""
        return await in_thread(self.cat, start, end, max_bytes=max_bytes)

    async def agrep(
        self,
        pattern: str | re.Pattern[str],
        *,
        flags: str = "",
        timeout: float | None = 0.75,  # noqa: ASYNC109 - of matching, not of waiting
        max_matches: int | None = None,
        max_bytes: int | None = None,
    ) -> list[str]:
        """Do what `grep` does without blocking the event loop."""
        return await in_thread(
            self.grep,
            pattern,
            flags=flags,
            timeout=timeout,
            max_matches=max_matches,
            max_bytes=max_bytes,
        )

    async def aline_count(self) -> int:
        """Do what `line_count` does without blocking the event loop."""
        return await in_thread(self.line_count)

    async def abyte_length(self) -> int:
        """Do what `byte_length` does without blocking the event loop."""
        return await in_thread(self.byte_length)

    async def atext(self) -> str:
        """Do what `text` does without blocking the event loop."""
        return await in_thread(self.text)

    def __hash__(self) -> int:
        return hash(self.reader)

    def _summary(self) -> str:
        return repr(self.reader)

    def _index(self) -> LineIndex:
        index = self._lines
        if index is None:
            # Two threads may both make one; either will do.
            index = LineIndex(self.reader)
            object.__setattr__(self, "_lines", index)
        return index


def _check_bytes(most: int | None) -> None:
    if most is not None and most < 1:
        raise refused("max_bytes must be above 0", most)
