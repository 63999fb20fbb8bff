"""Text that is read line by line from where it lies."""

from __future__ import annotations

import asyncio
import copy
import io
import pickle
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, BinaryIO, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphcodec import errors
from graphcodec.primitives._artifact import SpooledArtifact
from graphcodec.readers import BytesReader, Reader, StreamReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from _typeshed import WriteableBuffer

KIB = 1024


class Counting(Reader):
    """Counts the bytes that are read of a text, and may fail once."""

    def __init__(self, data: bytes, *, known: bool = True) -> None:
        """Keep the content; *known* says whether the length is told."""
        self.data = data
        self.known = known
        self.read = 0
        self.fail_at: int | None = None

    def open(self) -> BinaryIO:
        """Return a stream whose reads are counted."""
        return io.BufferedReader(_Counted(self), 4096)

    def read_range(self, start: int, end: int) -> bytes:
        """Return a range, and count it."""
        if self.fail_at is not None and end > self.fail_at:
            self.fail_at = None
            raise ConnectionResetError("cut")
        data = self.data[start:end]
        self.read += len(data)
        return data

    def byte_length(self) -> int | None:
        """Return the length, if it is told."""
        return len(self.data) if self.known else None


class _Counted(io.RawIOBase):
    def __init__(self, reader: Counting) -> None:
        super().__init__()
        self._reader = reader
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        assert whence == io.SEEK_SET
        self._position = offset
        return offset

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        target = memoryview(buffer)
        end = self._position + len(target)
        data = self._reader.read_range(self._position, end)
        target[: len(data)] = data
        self._position += len(data)
        return len(data)


contents = st.lists(
    st.sampled_from([b"a", b"\n", b"\r", b"\xc3", b"\xa9", b"\xe2\x80\xa8", b"\xff"])
).map(b"".join)


def artifact(data: bytes) -> SpooledArtifact:
    """Return an artifact over *data*."""
    return SpooledArtifact(BytesReader(data))


def model(data: bytes) -> list[str]:
    """Return the lines of *data*, the simple way."""
    lines = data.split(b"\n") if data else []
    return [line.decode("utf-8", "surrogateescape") for line in lines]


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n", ["", ""]),
        (b"one", ["one"]),
        (b"one\ntwo", ["one", "two"]),
        (b"one\ntwo\n", ["one", "two", ""]),
        (b"one\r\ntwo\r\n", ["one\r", "two\r", ""]),
        (b"one\rtwo", ["one\rtwo"]),
        (b"\xef\xbb\xbfone\n", ["\ufeffone", ""]),
        (b"a\xc2\x85b\xe2\x80\xa8c\x0bd\x0ce\x1cf", ["a\x85b\u2028c\x0bd\x0ce\x1cf"]),
        (b"a\x00b\nc", ["a\x00b", "c"]),
        (b"\xff\xfe\n\x80", ["\udcff\udcfe", "\udc80"]),
        (b"cut \xe2\x80\nhere", ["cut \udce2\udc80", "here"]),
        (b"\xed\xa0\x80", ["\udced\udca0\udc80"]),
    ],
    ids=[
        "empty",
        "newline only",
        "no final newline",
        "two lines",
        "final newline",
        "CRLF",
        "CR",
        "BOM",
        "other separators",
        "NUL",
        "invalid UTF-8",
        "character cut by a newline",
        "encoded surrogate",
    ],
)
def test_lines_end_at_newlines_only(data: bytes, lines: list[str]) -> None:
    """A newline ends a line, nothing else does, and nothing is lost."""
    text = artifact(data)

    assert list(text.lines()) == lines
    assert text.head(99) == text.tail(99) == text.cat() == text.grep("") == lines
    assert text.line_count() == len(lines)
    assert text.byte_length() == len(data)
    assert text.text() == "\n".join(lines)
    assert text.text().encode("utf-8", "surrogateescape") == data


@given(
    contents,
    st.integers(-3, 12),
    st.one_of(st.none(), st.integers(-3, 12)),
    st.booleans(),
)
def test_agrees_with_a_list(
    data: bytes,
    start: int,
    end: int | None,
    known: bool,  # noqa: FBT001 - drawn
) -> None:
    """Every method gives what a list of the lines gives, without negative wrap."""
    lines = model(data)
    text = SpooledArtifact(Counting(data, known=known))

    assert (
        text.cat(start, end)
        == lines[max(0, start) : len(lines) if end is None else max(0, end)]
    )
    assert text.head(start) == lines[: max(0, start)]
    assert text.tail(start) == lines[max(0, len(lines) - max(0, start)) :]
    assert (
        text.grep("a") == text.grep(re.compile("a")) == [x for x in lines if "a" in x]
    )
    assert text.line_count() == len(lines)
    assert text.byte_length() == len(data)
    assert text.text().encode("utf-8", "surrogateescape") == data


@pytest.fixture(scope="module")
def log() -> bytes:
    """Sixteen megabytes of a log."""
    unit = b"".join(b"%07d an ordinary line of a log\n" % n for n in range(10_000))
    return unit * (16 * KIB * KIB // len(unit))


def _first_match(text: SpooledArtifact) -> list[str]:
    return text.grep("0000001 an", max_matches=1)


def _first(text: SpooledArtifact) -> str:
    return next(text.lines())


@pytest.mark.parametrize(
    ("method", "arguments", "most"),
    [
        (SpooledArtifact.head, (10,), 64),
        (SpooledArtifact.tail, (10,), 64),
        (SpooledArtifact.cat, (20, 30), 3 * 64),
        (_first_match, (), 64),
        (_first, (), 64),
        (SpooledArtifact.head, (0,), 0),
        (SpooledArtifact.cat, (5, 5), 0),
        (SpooledArtifact.byte_length, (), 0),
    ],
    ids=["head", "tail", "cat", "grep", "lines", "nothing", "empty range", "length"],
)
def test_reads_kilobytes(
    log: bytes, method: Callable[..., object], arguments: tuple[int, ...], most: int
) -> None:
    """What is near an end of a large text is had for a few kilobytes."""
    reader = Counting(log)

    method(SpooledArtifact(reader), *arguments)

    assert reader.read <= most * KIB


def test_a_second_look_is_cheap(log: bytes) -> None:
    """Once the lines are counted, a line in the middle is found with short reads."""
    reader = Counting(log)
    text = SpooledArtifact(reader)
    count = text.line_count()
    reader.read = 0

    assert text.cat(count // 2, count // 2 + 1)[0].endswith("an ordinary line of a log")
    assert reader.read <= 256 * KIB
    assert text.line_count() == count
    assert reader.read <= 256 * KIB


def test_tail_without_a_length(log: bytes) -> None:
    """A reader that doesn't tell its length is streamed once, and read at its end."""
    reader = Counting(log, known=False)
    text = SpooledArtifact(reader)

    assert text.tail(2) == [log.splitlines()[-1].decode(), ""]
    assert reader.read <= len(log) + 64 * KIB


def test_nothing_is_read_before_it_is_asked_for() -> None:
    """Making, comparing and showing an artifact reads nothing."""
    reader = Counting(b"text")
    text = SpooledArtifact(reader)

    assert text == SpooledArtifact(reader)
    assert hash(text) == hash(SpooledArtifact(reader))
    assert "text" not in repr(text)
    assert reader.read == 0


@pytest.mark.parametrize("known", [True, False])
def test_a_failed_load_can_be_retried(log: bytes, *, known: bool) -> None:
    """After a cut connection the same call goes on and gives the right result."""
    reader = Counting(log, known=known)
    text = SpooledArtifact(reader)
    expected = artifact(log).line_count()

    for method, result in [
        (text.line_count, expected),
        (lambda: text.cat(250_000, 250_001), artifact(log).cat(250_000, 250_001)),
        (lambda: text.grep("0000001 an"), artifact(log).grep("0000001 an")),
    ]:
        reader.fail_at = len(log) // 3
        with pytest.raises(ConnectionResetError):
            method()
        assert method() == result


def test_threads_share_an_artifact(log: bytes) -> None:
    """Threads that ask at once each get the right answer."""
    text = artifact(log)
    count = log.count(b"\n") + 1
    lines = [count * n // 9 for n in range(9)]
    expected = log.decode().split("\n")

    def line(number: int) -> str:
        return text.cat(number, number + 1)[0]

    with ThreadPoolExecutor(8) as pool:
        counts = [pool.submit(text.line_count) for _ in range(4)]
        found = list(pool.map(line, lines * 8))

    assert {future.result() for future in counts} == {count}
    assert found == [expected[n] for n in lines] * 8


@pytest.mark.parametrize(
    "call",
    [
        "assert text.head(1) == ['first']",
        "assert text.tail(1) == ['last']",
        "assert text.line_count() == 3",
        "assert text.grep('a[s]t') == ['last']",
        "assert text.grep('last') == ['last']",
        "assert text.cat(2) == ['last']",
        "assert text.grep('(x|y)*last') == ['last']",
        "assert text.cat(1, 2, max_bytes=9) == ['x' * 9]",
        "assert text.grep('x', max_bytes=9) == ['x' * 9]",
        "assert text.tail(2, max_bytes=9) == ['xxxx', 'last']",
    ],
)
def test_a_huge_line_costs_its_neighbours_nothing(call: str) -> None:
    """Beside one line of 100 MB, other lines are found in a few megabytes."""
    code = f"""
import io, resource
from graphcodec.primitives._artifact import SpooledArtifact
from graphcodec.readers import Reader

class Wide(Reader):
    size = 100_000_000
    def byte_length(self): return 6 + self.size + 5
    def read_range(self, start, end):
        end = min(end, self.byte_length())
        head, tail = b"first\\n"[start:end], b""
        if end > 6 + self.size:
            tail = b"\\nlast"[max(0, start - 6 - self.size):end - 6 - self.size]
        return head + b"x" * (max(0, end - start) - len(head) - len(tail)) + tail
    def iter_bytes(self, chunk_size=65536):
        for start in range(0, self.byte_length(), chunk_size):
            yield self.read_range(start, start + chunk_size)
    def open(self):
        outer = self
        class Stream(io.RawIOBase):
            at = 0
            def seekable(self): return True
            def seek(self, offset, whence=0): self.at = offset; return offset
            def read(self, size=-1):
                data = outer.read_range(self.at, self.at + size)
                self.at += len(data)
                return data
        return Stream()

text = SpooledArtifact(Wide())
import regex
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
{call}
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""

    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert int(done.stdout) < 48 * KIB


@given(contents, st.integers(0, 4), st.integers(1, 12))
def test_what_is_read_of_long_lines_can_be_bounded(
    data: bytes, number: int, most: int
) -> None:
    """With a number of bytes, the text is seen as if it ended, or began, there."""
    text = artifact(data)
    rest = data.split(b"\n", number)[number:]

    assert text.head(number, max_bytes=most) == model(data[:most])[:number]
    cut = rest[0][:most] if rest else b""
    seen = model(cut) if cut or not number else [""] * len(rest)
    assert text.cat(number, max_bytes=most) == seen
    tail = model(data[max(0, len(data) - most) :])
    assert text.tail(number + 1, max_bytes=most) == tail[-number - 1 :]
    found = "\n".join(text.grep("a", max_bytes=most)).encode("utf-8", "surrogateescape")
    whole = "\n".join(text.grep("a")).encode("utf-8", "surrogateescape")
    assert found == whole[:most].removesuffix(b"\n")


def test_a_bound_is_above_nothing() -> None:
    """A number of bytes that makes no sense is refused."""
    text = artifact(b"one")
    for ask in (text.head, text.tail, text.cat):
        with pytest.raises(errors.InvalidValueError, match="max_bytes must be above 0"):
            ask(1, max_bytes=0)
    with pytest.raises(errors.InvalidValueError, match="max_bytes must be above 0"):
        text.grep("o", max_bytes=-1)


def test_a_huge_line_can_be_returned() -> None:
    """A line of megabytes that matches is returned whole."""
    huge = "x" * 9_000_000 + "needle" + "y" * 100
    text = artifact(f"a\n{huge}\nb".encode())

    assert text.grep("needle") == text.grep("need.e") == text.cat(1, 2) == [huge]
    assert text.grep(re.compile("^x+needle")) == [huge]


def test_grep_stops_a_pattern_that_backtracks() -> None:
    """A model's pattern that backtracks for ever ends in our error after its time."""
    text = artifact(b"a" * 60 + b"b")

    with pytest.raises(errors.LimitExceededError) as caught:
        text.grep("(a|aa)+$", timeout=0.2)

    assert caught.value.limit == "pattern_timeout"


def test_grep_flags() -> None:
    """Letters after a pattern change how it matches, each line by itself."""
    text = artifact(b"One\ntwo\nONE TWO")

    assert text.grep("one", flags="i") == ["One", "ONE TWO"]
    assert text.grep("^two", flags="ms") == ["two"]
    assert text.grep("e.*\n") == []


def test_replayable_over_a_stream() -> None:
    """An artifact over an upload is read again and again."""
    text = SpooledArtifact(StreamReader(io.BytesIO(b"one\ntwo\n")))

    assert text.text() == text.text() == "one\ntwo\n"
    assert text.tail(2) == ["two", ""]
    assert text.head(1) == ["one"]


def test_async_faces() -> None:
    """Each method has an async one with the same result."""
    text = artifact(b"one\ntwo\nthree")

    async def all_of_it() -> list[object]:
        return [
            await text.ahead(1),
            await text.atail(1, max_bytes=4),
            await text.acat(1, 2, max_bytes=9),
            await text.agrep("T", flags="i", max_matches=1, max_bytes=9),
            await text.aline_count(),
            await text.abyte_length(),
            await text.atext(),
        ]

    assert asyncio.run(all_of_it()) == [
        *(["one"], ["hree"], ["two"], ["two"]),
        *(3, 13, "one\ntwo\nthree"),
    ]


def test_equality_is_that_of_the_reader() -> None:
    """Artifacts are equal if their readers are, whatever has been read of them."""
    one, same = artifact(b"a\nb"), artifact(b"a\nb")
    one.line_count()

    assert one == same
    assert hash(one) == hash(same)
    assert one != artifact(b"other")
    assert one != b"a\nb"


def test_pickles_and_copies() -> None:
    """An artifact pickles and copies, without what it has learnt of its text."""
    text = artifact(b"a\nb")
    text.line_count()

    for other in (pickle.loads(pickle.dumps(text)), copy.deepcopy(text)):
        assert other == text
        assert other.line_count() == 2


def test_a_stream_does_not_pickle() -> None:
    """An artifact over an upload says what to do before it can travel."""
    text = SpooledArtifact(StreamReader(io.BytesIO(b"a")))

    with pytest.raises(errors.ReaderNotDescribableError, match="persist"):
        pickle.dumps(text)


@pytest.mark.parametrize("reader", [b"text", "text", None, io.BytesIO(b"text")])
def test_takes_a_reader(reader: Reader) -> None:
    """Anything but a reader is refused, with field and class."""
    with pytest.raises(errors.InvalidValueError, match="reader must be a Reader"):
        SpooledArtifact(reader)


def test_check_of_a_finished_value() -> None:
    """The class verifies an instance that was made without its constructor."""
    good = artifact(b"a")
    bad = SpooledArtifact.__new__(SpooledArtifact)
    object.__setattr__(bad, "reader", 3)

    SpooledArtifact.__graphcodec_check__(good)
    with pytest.raises(errors.InvalidValueError, match="wrap bytes"):
        SpooledArtifact.__graphcodec_check__(bad)


def test_repr_shows_no_content() -> None:
    """The repr shows the reader, which shows its size."""
    assert repr(artifact(b"secret")) == "SpooledArtifact(BytesReader(<6 bytes>))"


def test_hints_resolve() -> None:
    """Annotations can be resolved at run time, as the codec does."""
    assert get_type_hints(SpooledArtifact)["reader"] is Reader


def test_lines_can_be_left_early(log: bytes) -> None:
    """An iteration that is given up leaves nothing open."""
    lines: Iterator[str] = artifact(log).lines()

    assert next(lines).startswith("0000000")
    del lines
