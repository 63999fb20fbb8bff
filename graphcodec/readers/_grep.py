"""Search a text line by line, with patterns that a model may have written.

A pattern from a model is data: it may backtrack for ever, or ask for a program of
gigabytes before it has looked at anything. It runs on an engine that can be stopped,
within a budget of time; its length and its repeats are bounded before it is compiled;
and a line of many megabytes is searched in pieces, since an engine may keep dozens of
bytes for each character. A pattern that the caller compiled is the caller's own.

Most patterns are plain words. Those are sought in the bytes, many lines at once; and
many more can be rewritten so that they search many lines at once, too.
"""

from __future__ import annotations

import re
import sys
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, Final, Protocol, cast

from graphcodec.readers._blockwise import for_blocks
from graphcodec.readers._lines import ERRORS, LineIndex, decoded
from graphcodec.readers._patterns import (
    Budget,
    check_size,
    check_timeout,
    refused,
    unchecked,
)

if TYPE_CHECKING:
    from collections.abc import Generator

    import regex

__all__ = ["grep"]

LONGEST_LINE: Final = 1 << 22
"""How many bytes of a line are searched at once."""

OVERLAP: Final = 1 << 16
"""How many bytes the pieces of a longer line have in common."""

FLAGS: Final = "imsu"

_FOR_EVER: Final = 1e6

_SPECIAL: Final = frozenset(r"\.^$*+?{}[]|()" + "\n")


class Matcher(Protocol):
    """Says which lines match."""

    longest: int
    """How many bytes of a line it may be given at once."""

    def lines(self, block: bytes) -> list[str]:
        """Return the lines of *block* that match."""
        ...

    def piece(self, piece: bytes, *, first: bool) -> bool:
        """Say whether something matches in *piece*.

        Args:
            piece: A line, or a part of one that is longer than `longest`.
            first: Whether the line begins with it.
        """
        ...


def grep(
    index: LineIndex,
    pattern: str | re.Pattern[str],
    *,
    flags: str = "",
    timeout: float | None = 0.75,
    max_matches: int | None = None,
    max_bytes: int | None = None,
) -> list[str]:
    """Return the lines in which *pattern* is found.

    Args:
        index: The text.
        pattern: A regular expression; a str is treated as a stranger's.
        flags: Letters of ``imsu``, for a str.
        timeout: How many seconds matching a str may take in all, without reading.
        max_matches: How many lines to return at most.
        max_bytes: After how many bytes of lines to stop, be it within a line.

    Raises:
        InvalidValueError: If *pattern*, *flags* or *timeout* makes no sense.
        LimitExceededError: If matching took longer than *timeout*.
    """
    if max_matches is not None and max_matches < 0:
        raise refused("max_matches can't be negative", max_matches)
    most = sys.maxsize if max_bytes is None else max_bytes
    matcher = _matcher(pattern, flags, timeout)
    with closing(_matches(index, matcher, most)) as lines:
        found = lines if max_bytes is None else _within(lines, max_bytes)
        return list(islice(found, max_matches))


def _within(lines: Generator[str], most: int) -> Generator[str]:
    """Yield lines up to a number of bytes, the last one cut."""
    for line in lines:
        data = line.encode("utf-8", ERRORS)
        yield line if len(data) <= most else decoded(data[:most])
        most -= len(data) + 1
        if most <= 0:
            return


def _matches(index: LineIndex, matcher: Matcher, most: int) -> Generator[str]:
    line = _Line(matcher, 0)
    offset = 0
    with closing(index.chunks()) as chunks:
        for chunk in chunks:
            first, last = chunk.find(b"\n"), chunk.rfind(b"\n")
            line.feed(chunk if first < 0 else chunk[:first])
            if first >= 0:
                yield from line.found(index, most)
                if last > first:
                    yield from matcher.lines(chunk[first + 1 : last])
                line = _Line(matcher, offset + last + 1)
                line.feed(chunk[last + 1 :])
            offset += len(chunk)
    if offset:
        yield from line.found(index, most)


class _Line:
    """A line that comes in pieces, of which only as many are kept as are searched."""

    __slots__ = ("_held", "_matched", "_matcher", "_pieces", "_size", "_start")

    def __init__(self, matcher: Matcher, start: int) -> None:
        self._matcher = matcher
        self._start = start
        self._pieces: list[bytes] = []
        self._held = 0
        self._size = 0
        self._matched = False

    def feed(self, piece: bytes) -> None:
        """Take the next piece, and search what is there if it is enough."""
        self._pieces.append(piece)
        self._held += len(piece)
        self._size += len(piece)
        if self._held > self._matcher.longest:
            kept = self._search()[-OVERLAP:]
            self._pieces, self._held = [kept], len(kept)

    def found(self, index: LineIndex, most: int) -> list[str]:
        """Return the line in a list, which is empty if nothing matches.

        Args:
            index: Where to find what was not kept.
            most: How many bytes of the line are enough.
        """
        line = self._search()
        if not self._matched:
            return []
        if len(line) < self._size:
            line = index.read(self._start, self._start + min(self._size, most))
        return [decoded(line)]

    def _search(self) -> bytes:
        piece = b"".join(self._pieces)
        if not self._matched:
            first = self._held == self._size
            self._matched = self._matcher.piece(piece, first=first)
        return piece


class _Literal:
    """Finds a plain text, by its bytes.

    That is exact: no character of UTF-8 begins or ends inside another one.
    """

    longest = LONGEST_LINE

    def __init__(self, text: bytes) -> None:
        self._text = text

    def lines(self, block: bytes) -> list[str]:
        found: list[str] = []
        end = -1
        # The search goes on behind the line's end, which may be the end of the block.
        while end < len(block) and (hit := block.find(self._text, end + 1)) >= 0:
            start = block.rfind(b"\n", 0, hit) + 1
            end = block.find(b"\n", hit)
            end = len(block) if end < 0 else end
            found.append(decoded(block[start:end]))
        return found

    def piece(self, piece: bytes, *, first: bool) -> bool:
        del first
        return self._text in piece


class _Own:
    """Searches with an expression that the caller compiled, without limits."""

    longest = sys.maxsize

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._search = pattern.search

    def lines(self, block: bytes) -> list[str]:
        return [line for line in decoded(block).split("\n") if self._search(line)]

    def piece(self, piece: bytes, *, first: bool) -> bool:
        del first
        return self._search(decoded(piece)) is not None


class _Stranger:
    """Searches with an expression that somebody sent, line by line."""

    longest = LONGEST_LINE

    def __init__(self, pattern: regex.Pattern[str], budget: Budget) -> None:
        self._pattern = pattern
        self._budget = budget

    def lines(self, block: bytes) -> list[str]:
        search, pattern = self._budget.search, self._pattern
        return [line for line in decoded(block).split("\n") if search(pattern, line)]

    def piece(self, piece: bytes, *, first: bool) -> bool:
        # A caret must not match where a line merely goes on.
        start = 0 if first else 1
        return self._budget.search(self._pattern, decoded(piece), start) is not None


class _BlockStranger(_Stranger):
    """Does the same with one that can search many lines at once."""

    def __init__(
        self,
        pattern: regex.Pattern[str],
        budget: Budget,
        for_block: regex.Pattern[str],
    ) -> None:
        super().__init__(pattern, budget)
        self._for_block = for_block

    def lines(self, block: bytes) -> list[str]:
        text = decoded(block)
        found: list[str] = []
        end = -1
        while end < len(text):
            match = self._budget.search(self._for_block, text, end + 1)
            if match is None:
                break
            start = text.rfind("\n", 0, match.start()) + 1
            end = text.find("\n", match.end())
            end = len(text) if end < 0 else end
            found.append(text[start:end])
        return found


def _matcher(pattern: object, flags: str, timeout: float | None) -> Matcher:
    if isinstance(pattern, str):
        return _matcher_of_text(pattern, flags, timeout)
    own = cast("re.Pattern[str] | None", pattern if _is_compiled(pattern) else None)
    if own is None:
        raise refused("the pattern must be a str or come from re.compile(str)", pattern)
    if flags:
        raise refused("a compiled pattern has its own flags", flags)
    return _Own(own)


def _is_compiled(pattern: object) -> bool:
    text = cast("object", getattr(pattern, "pattern", None))
    return isinstance(pattern, re.Pattern) and isinstance(text, str)


def _matcher_of_text(pattern: str, flags: str, timeout: float | None) -> Matcher:
    if unknown := set(flags) - set(FLAGS):
        raise refused(f"flags are letters of {FLAGS!r}", "".join(sorted(unknown)))
    check_timeout(timeout)
    check_size(pattern)
    if "i" not in flags and not _SPECIAL.intersection(pattern):
        try:
            return _Literal(pattern.encode())
        except UnicodeEncodeError:
            pass  # stands for bytes that are not UTF-8; the engine knows how
    return _stranger(pattern, flags, Budget(timeout or _FOR_EVER))


def _stranger(pattern: str, flags: str, budget: Budget) -> Matcher:
    whole = unchecked(pattern, flags)
    rewritten = for_blocks(pattern)
    if rewritten is None:
        return _Stranger(whole, budget)
    bits = "im" if "i" in flags else "m"
    return _BlockStranger(whole, budget, unchecked(rewritten, bits))
