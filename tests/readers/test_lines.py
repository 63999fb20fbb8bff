"""The sparse index of lines, with small bounds so that small texts reach them."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import pickle
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphcodec import errors
from graphcodec.readers import BytesReader, Reader
from graphcodec.readers import _lines as lines_module
from graphcodec.readers._lines import LineIndex, line_blocks

TEXT = b"\n".join(b"line %d" % n for n in range(500))


class Shrunk(BytesReader):
    """A reader that promises more than there is."""

    def byte_length(self) -> int:
        """Promise ten bytes too many."""
        return len(self.data) + 10


class Fickle(BytesReader):
    """A reader whose ranges are not those of its stream."""

    def read_range(self, start: int, end: int) -> bytes:
        """Give bytes without any newline."""
        return bytes(len(self.data[start:end]))


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds of a few bytes and counts."""
    monkeypatch.setattr(lines_module, "BLOCK", 16)
    monkeypatch.setattr(lines_module, "LARGEST_WINDOW", 64)
    monkeypatch.setattr(lines_module, "STREAMED", 40)
    monkeypatch.setattr(lines_module, "MOST_COUNTS", 8)


@pytest.mark.usefixtures("_small")
@pytest.mark.parametrize("data", [TEXT, TEXT + b"\n", b"\n" * 300, b"x" * 1000, b""])
def test_every_line_is_found_by_number(data: bytes) -> None:
    """Whatever the index has dropped, each line is found at its place."""
    expected = data.decode().split("\n") if data else []

    for start in range(0, len(expected) + 2, 7):
        assert list(LineIndex(BytesReader(data)).lines(start)) == expected[start:]
    index = LineIndex(BytesReader(data))
    assert index.count() == len(expected)
    for start in range(len(expected) + 2):
        assert next(index.lines(start), None) == next(iter(expected[start:]), None)
    for count in range(1, len(expected) + 2, 7):
        assert index.tail(count) == expected[-count:]


@pytest.mark.usefixtures("_small")
def test_the_index_stays_small() -> None:
    """The number of counts is bounded, whatever the length of the text."""
    index = LineIndex(BytesReader(b"ab\n" * 10_000))

    index.count()

    assert len(index._counts) < 8
    assert list(index._counts) == sorted(index._counts)
    assert list(index.lines(9_998)) == ["ab", "ab", ""]


@pytest.mark.usefixtures("_small")
def test_counting_stops_where_it_may() -> None:
    """To find an early line, the rest of the text is not counted."""
    index = LineIndex(BytesReader(TEXT))

    assert next(index.lines(10)) == "line 10"
    assert index._size < 300


@given(st.binary(max_size=60), st.data())
def test_blocks_hold_whole_lines(data: bytes, draw: st.DataObject) -> None:
    """However the bytes are cut into chunks, the blocks together are the text."""
    cuts = draw.draw(st.lists(st.integers(0, len(data)), max_size=8).map(sorted))
    chunks = [data[a:b] for a, b in pairwise([0, *cuts, len(data)]) if a < b]

    blocks = list(line_blocks(chunk for chunk in chunks))

    assert b"\n".join(blocks) == data
    assert bool(blocks) == bool(data)


def test_too_short_for_its_length() -> None:
    """A text that ends before the end that its reader told is stale."""
    with pytest.raises(errors.StaleHandleError, match="not what it was") as caught:
        LineIndex(Shrunk(TEXT)).tail(3)

    assert caught.value.type_name == "Shrunk"


def test_changed_since_it_was_counted() -> None:
    """A block without the newline that was counted there is stale."""
    index = LineIndex(Fickle(TEXT))
    assert index.count() == 500

    with pytest.raises(errors.StaleHandleError, match="not what it was"):
        next(index.lines(5))


def test_pickles_without_its_counts() -> None:
    """An index travels as its reader and counts anew."""
    reader: Reader = BytesReader(TEXT)
    index = LineIndex(reader)
    index.count()

    arrived = pickle.loads(pickle.dumps(index))

    assert arrived._size == 0
    assert arrived.count() == 500
