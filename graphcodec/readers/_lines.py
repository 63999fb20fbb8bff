"""Lines of a reader's text, found without holding the text.

The problem: a tool's result may be a log of gigabytes in a store, of which a model asks
for the last ten lines, then for lines 5,000 to 5,100, then for those with an error.

The choice: remember how many newlines the first 64 KiB hold, the first 128 KiB, and so
on. The n-th line then begins in a block that a bisection finds, and one short range
read finds it there. Counting newlines is a search for one byte, so that building the
index runs as fast as the bytes come in; it stops at the line that is asked for and goes
on from there the next time, also after a failed read. When there are too many counts,
every other one is dropped, so the index stays below 128 KiB whatever the content.

Rejected: an offset per line, which costs a Python loop over all lines and memory that
grows with them; `str.splitlines`, which also splits at a dozen other characters.

Text is UTF-8 in which bytes that are not are kept as lone surrogates, as Python does
with file names: ``line.encode("utf-8", "surrogateescape")`` gives the bytes back.
"""

from __future__ import annotations

import threading
from array import array
from bisect import bisect_left
from contextlib import closing
from typing import TYPE_CHECKING

from graphcodec.errors import StaleHandleError
from graphcodec.readers._contracts import Reader, skip

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["ERRORS", "LineIndex", "decoded", "line_blocks"]

ERRORS = "surrogateescape"
"""What becomes of bytes that are not UTF-8: they come back when encoded likewise."""

BLOCK = 1 << 16
"""How many bytes are counted, or read to find something, at first."""

LARGEST_WINDOW = 1 << 20
"""The longest range read; who wants more than that gets a stream."""

STREAMED = 1 << 18
"""How many bytes of a stream are looked at at a time."""

MOST_COUNTS = 1 << 14
"""How many counts are kept; an even number."""


def decoded(line: bytes) -> str:
    """Return the text of *line*, from which the same bytes can be had again."""
    return line.decode("utf-8", ERRORS)


class LineIndex:
    r"""Finds the lines of a text by number, and reads them.

    A line ends at ``\n`` and nowhere else; a text that ends with one has an empty last
    line, and an empty text has no lines. Thread-safe.

    Args:
        reader: Where the bytes are; its content must not change.
    """

    __slots__ = (
        "_complete",
        "_counts",
        "_lock",
        "_newlines",
        "_reader",
        "_size",
        "_step",
    )

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._lock = threading.Lock()
        self._counts = array("Q")  # newlines in the first step, two steps, three, ...
        self._step = BLOCK
        self._newlines = 0
        self._size = 0
        self._complete = False

    def __reduce__(self) -> tuple[object, ...]:
        # A copy elsewhere counts for itself; locks don't travel.
        return LineIndex, (self._reader,)

    def count(self) -> int:
        """Return the number of lines; the first time, all bytes are read."""
        with self._lock:
            self._extend(None)
            return self._newlines + 1 if self._size else 0

    def size(self) -> int:
        """Return the number of bytes, by reading them if the reader doesn't know."""
        size = self._reader.byte_length()
        if size is not None:
            return size
        with self._lock:
            self._extend(None)
            return self._size

    def lines(self, start: int = 0, *, most: int | None = None) -> Generator[str]:
        """Yield the lines from number *start* on.

        Args:
            start: How many lines to leave out, at least 0.
            most: After how many bytes to stop, be it within a line; None for the end.
        """
        offset = self._offset(start)
        if offset is None:
            return
        chunks = self.chunks(offset)
        if most is not None:
            chunks = _first(chunks, most)
        with closing(line_blocks(chunks, continued=offset > 0)) as blocks:
            for block in blocks:
                yield from decoded(block).split("\n")

    def tail(self, count: int, *, most: int | None = None) -> list[str]:
        """Return the last *count* lines, reading backwards from the end.

        Args:
            count: How many, at least 1.
            most: After how many bytes to stop, be it within a line; None for as many as
                there are.

        Raises:
            StaleHandleError: If the content is shorter than its reader said.
        """
        end = self.size()
        if not end:
            return []
        first = 0 if most is None else max(0, end - most)
        pieces: list[bytes] = []
        width = BLOCK
        while end > first:
            start = max(first, end - width)
            window = self.read(start, end)
            newlines = window.count(b"\n")
            if newlines >= count:
                pieces.append(window[_nth_last_newline(window, count) + 1 :])
                break
            pieces.append(window)
            count -= newlines
            end, width = start, min(2 * width, LARGEST_WINDOW)
        pieces.reverse()
        return decoded(b"".join(pieces)).split("\n")

    def chunks(self, offset: int = 0, *, all_of_it: bool = False) -> Generator[bytes]:
        """Yield the bytes from *offset* on.

        The beginning comes from short range reads that grow, since most callers soon
        have what they want; the rest comes from one stream, which is cheaper by far.

        Args:
            offset: How many bytes to leave out.
            all_of_it: Whether the caller is certain to read to the end.
        """
        width = BLOCK
        while not all_of_it and width <= LARGEST_WINDOW:
            window = self._reader.read_range(offset, offset + width)
            if window:
                yield window
            if len(window) < width:
                return
            offset, width = offset + width, 2 * width
        yield from self._stream(offset)

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes from *start* up to *end*, all of which must be there.

        Args:
            start: Offset of the first byte.
            end: Offset behind the last byte.

        Raises:
            StaleHandleError: If the content ends before.
        """
        window = self._reader.read_range(start, end)
        if len(window) != end - start:
            raise self._changed()
        return window

    def beginning(self, most: int) -> bytes:
        """Return the first bytes, reading little more than that.

        Args:
            most: How many, if there are so many.
        """
        with closing(_first(self.chunks(), most)) as chunks:
            return b"".join(chunks)

    def _stream(self, offset: int) -> Generator[bytes]:
        if not offset:
            yield from self._reader.iter_bytes(STREAMED)
            return
        with self._reader.open() as stream:
            skip(stream, offset)
            while chunk := stream.read(STREAMED):
                yield chunk

    def _offset(self, line: int) -> int | None:
        """Return where a line begins, or None if there are not so many lines."""
        if not line:
            return 0
        with self._lock:
            self._extend(line)
            if self._newlines < line:
                return None
            block = bisect_left(self._counts, line)
            before = self._counts[block - 1] if block else 0
            start, end = block * self._step, min((block + 1) * self._step, self._size)
        position = _nth_newline(self.read(start, end), line - before)
        if position < 0:
            raise self._changed()
        return start + position + 1

    def _extend(self, newlines: int | None) -> None:
        """Count on until *newlines* are known, or to the end.

        What was counted before a failure stays, so the next call goes on from there.
        """
        if self._complete or (newlines is not None and self._newlines >= newlines):
            return
        with closing(self.chunks(self._size, all_of_it=newlines is None)) as chunks:
            for chunk in chunks:
                self._add(chunk)
                if newlines is not None and self._newlines >= newlines:
                    return
        self._complete = True

    def _add(self, chunk: bytes) -> None:
        position = 0
        while position < len(chunk):
            checkpoint = (len(self._counts) + 1) * self._step
            stop = min(len(chunk), position + checkpoint - self._size)
            self._newlines += chunk.count(b"\n", position, stop)
            self._size += stop - position
            position = stop
            if self._size == checkpoint:
                self._remember()

    def _changed(self) -> StaleHandleError:
        return StaleHandleError(
            "the content is not what it was or was said to be",
            hint="the bytes changed while they were read; take a new handle",
            type_name=type(self._reader).__name__,
        )

    def _remember(self) -> None:
        self._counts.append(self._newlines)
        if len(self._counts) == MOST_COUNTS:
            self._counts = self._counts[1::2]
            self._step *= 2


def _first(chunks: Generator[bytes], most: int) -> Generator[bytes]:
    """Yield the first bytes of *chunks*, as many as *most*."""
    with closing(chunks):
        for chunk in chunks:
            yield chunk[:most]
            most -= len(chunk)
            if most <= 0:
                return


def line_blocks(
    chunks: Generator[bytes], *, continued: bool = False
) -> Generator[bytes]:
    """Cut *chunks* into runs of whole lines, each without its last newline.

    A line that is longer than a chunk comes alone, so that it costs its own size and
    not that of its neighbours too.

    Args:
        chunks: The bytes, in pieces of any size.
        continued: Whether a newline stands before the first chunk, so that there is a
            line even if no bytes follow.
    """
    pending: list[bytes] = [b""] if continued else []
    with closing(chunks):
        for chunk in chunks:
            first, last = chunk.find(b"\n"), chunk.rfind(b"\n")
            if first < 0:
                pending.append(chunk)
                continue
            pending.append(chunk[:first])
            line = b"".join(pending)
            pending = [chunk[last + 1 :]]
            yield line
            del line
            if last > first:
                yield chunk[first + 1 : last]
    if pending:
        yield b"".join(pending)


def _nth_newline(window: bytes, count: int) -> int:
    """Return where the newline with a number, counted from 1, is; -1 if it is not."""
    position = -1
    for _ in range(count):
        position = window.find(b"\n", position + 1)
        if position < 0:
            break
    return position


def _nth_last_newline(window: bytes, count: int) -> int:
    """Return where the newline with a number, counted from the end, is."""
    position = len(window)
    for _ in range(count):
        position = window.rfind(b"\n", 0, position)
    return position
