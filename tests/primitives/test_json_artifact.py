"""Artifacts that are JSON, JSON5 or lines of JSON."""

from __future__ import annotations

import asyncio
import io
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO, ClassVar, cast

import attrs
import pytest

from graphcodec import Codec, SpooledJsonArtifact, decode, encodable, encode, errors
from graphcodec.readers import BytesReader, Reader

PEOPLE = (
    b'[{"name": "Ada", "age": 36, "tags": ["x"]}, {"name": "Bob", "age": 12}, "odd"]'
)
LINES = (
    b'{"level": "info", "ms": 3}\r\n'
    b"\n"
    b'{"level": "error", "ms": 40, "user": {"id": 7}}\n'
    b'{"level": "error", "ms": 2}\n'
)


def spool(data: bytes, format: Any = None) -> SpooledJsonArtifact:  # noqa: A002 - the field's name
    """Return an artifact over bytes in memory."""
    return SpooledJsonArtifact(BytesReader(data), format)


# Records


def test_an_array_is_its_entries() -> None:
    """The records of a document that is an array are its entries."""
    people = spool(PEOPLE)

    assert people.json_length() == 3
    assert people.json_keys() == ["name", "age", "tags"]
    assert people.json_slice(1) == [{"name": "Bob", "age": 12}, "odd"]
    assert list(people.json_records()) == people.json_slice()


@pytest.mark.parametrize(
    ("data", "keys"), [(b'{"b": 1, "a": 2}', ["b", "a"]), (b'"text"', None)]
)
def test_any_other_document_is_one_record(data: bytes, keys: list[str] | None) -> None:
    """A document that is no array is one record; only an object has keys."""
    document = spool(data)

    assert document.json_length() == 1
    assert document.json_keys() == keys
    assert len(document.json_slice()) == 1


def test_lines_are_records() -> None:
    """Each line of JSON that is not blank is a record."""
    log = spool(LINES)

    assert log.json_length() == 3
    assert log.json_keys() == ["level", "ms", "user"]
    assert log.json_slice(1, 2) == [
        {"level": "error", "ms": 40, "user": {"id": 7}},
    ]
    assert [record["ms"] for record in log.json_records()] == [3, 40, 2]  # type: ignore[index]


@pytest.mark.parametrize(
    ("start", "end", "count"),
    [(0, None, 3), (-5, None, 3), (2, 9, 1), (2, 1, 0), (0, -1, 0), (9, None, 0)],
)
@pytest.mark.parametrize("data", [PEOPLE, LINES])
def test_slices_never_count_from_the_end(
    data: bytes, start: int, end: int | None, count: int
) -> None:
    """A slice is like that of `cat`: without its end, and without wrapping."""
    assert len(spool(data).json_slice(start, end)) == count


def test_lines_are_read_only_as_far_as_needed() -> None:
    """What comes behind the records that are asked for may be no JSON."""
    log = spool(b'{"a": 1}\n{"a": 2}\nbroken')

    assert log.json_slice(0, 2) == [{"a": 1}, {"a": 2}]
    assert log.json_filter("$.a", max_matches=2) == log.json_slice(0, 2)
    assert log.json_length() == 3


# Queries


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$[0].name", ["Ada"]),
        ("$[*].age", [36, 12]),
        ("$..tags[0]", ["x"]),
        ("$[?@.age > 18].name", ["Ada"]),
        ("$[?(@.age > 18)].name", ["Ada"]),
        ("$[?match(@.name, 'A.*')].age", [36]),
        ("$[-1]", ["odd"]),
        ("$[2][0:1]", []),
        ("$.nothing", []),
    ],
)
def test_paths_are_asked_of_the_document(path: str, found: list[object]) -> None:
    """In a document, the dollar sign is its root; plucking is the same."""
    assert spool(PEOPLE).json_get(path) == found
    assert spool(PEOPLE).json_pluck(path) == found


def test_paths_are_asked_of_each_line() -> None:
    """In lines of JSON, the dollar sign is each record in turn."""
    assert spool(LINES).json_get("$.ms") == [3, 40, 2]
    assert spool(LINES).json_get("$..id", max_matches=5) == [7]
    assert spool(LINES).json_get("$.ms", max_matches=2) == [3, 40]


@pytest.mark.parametrize(
    ("path", "places"),
    [
        ("$.user", [1]),
        ("$[?@.level == 'error']", [1, 2]),
        ("$[?@.level == 'error' && @.ms > 10]", [1]),
        ("$[?$.ms == 3]", [0]),
        ("$[?search(@.level, '^inf')]", [0]),
        ("$.nothing", []),
    ],
)
def test_records_are_filtered(path: str, places: list[int]) -> None:
    """A filter in front is asked of the records, any other path is within them."""
    log = spool(LINES)
    records = log.json_slice()

    assert log.json_filter(path) == [records[place] for place in places]
    assert list(log.json_filtered(path)) == log.json_filter(path)


def test_entries_of_an_array_are_filtered() -> None:
    """An array is filtered like lines are."""
    assert spool(PEOPLE).json_filter("$[?@.age > 18]") == spool(PEOPLE).json_slice(0, 1)
    assert spool(PEOPLE).json_filter("$.tags") == spool(PEOPLE).json_slice(0, 1)
    assert spool(b'{"a": 1}').json_filter("$[?@.a == 1]") == [{"a": 1}]


def test_event_loops_get_the_same() -> None:
    """Each method has a twin for event loops."""

    async def ask() -> list[object]:
        log = spool(LINES)
        return [
            await log.ajson_type(),
            await log.ajson_keys(),
            await log.ajson_length(),
            await log.ajson_get("$.ms"),
            await log.ajson_pluck("$.ms", max_matches=1),
            await log.ajson_filter("$.user"),
            await log.ajson_slice(2),
        ]

    log = spool(LINES)
    assert asyncio.run(ask()) == [
        "jsonl",
        ["level", "ms", "user"],
        3,
        [3, 40, 2],
        [3],
        log.json_slice(1, 2),
        log.json_slice(2),
    ]


# Formats


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (PEOPLE, "json"),
        (LINES, "jsonl"),
        (b'{"a": 1}', "json"),
        (b'{\n "a": 1\n}\n', "json"),
        (b"{a: 1, /* why */ 'b': [2,],}", "json5"),
        (b"\xef\xbb\xbf[1]", "json"),
        (b'\xef\xbb\xbf{"a": 1}\n{"a": 2}', "jsonl"),
        (b"\n\n1\n2", "jsonl"),
        (b"[" + b"1," * 50_000 + b"1]", "json"),
    ],
)
def test_formats_are_found_out(data: bytes, found: str) -> None:
    """An undeclared format follows from the text."""
    assert spool(data).json_type() == found
    assert spool(data).json_keys() == spool(data, found).json_keys()


def test_a_declared_format_is_taken_at_its_word() -> None:
    """What was declared is not looked up in the text."""
    assert spool(b"[1, 2]", "jsonl").json_slice() == [[1, 2]]
    assert spool(b"[1, 2]", "json").json_slice() == [1, 2]
    assert spool(b"", "jsonl").json_length() == 0
    assert spool(b"", "ndjson").format == "jsonl"


@pytest.mark.parametrize("wrong", ["xml", "JSON", "", 1, b"json"])
def test_other_formats_are_refused(wrong: Any) -> None:
    """The constructor takes the formats that there are."""
    with pytest.raises(errors.InvalidValueError, match=r"format must be 'json', "):
        spool(b"", wrong)


def test_only_a_declared_format_is_written() -> None:
    """A document is the same before and after the text was looked at."""
    log = spool(LINES)
    before = encode(log)

    assert log.json_type() == "jsonl"
    assert encode(log) == before
    assert decode(before, SpooledJsonArtifact).format is None


@pytest.mark.parametrize("declared", ["json", "json5", "jsonl", None])
def test_round_trip(declared: str | None) -> None:
    """An artifact comes back with its bytes and its format."""
    again = decode(encode(spool(PEOPLE, declared)), SpooledJsonArtifact)

    assert again == spool(PEOPLE, declared)
    assert again.json_length() == (1 if declared == "jsonl" else 3)
    assert again != spool(PEOPLE, "json5" if declared == "json" else "json")


def test_a_subclass_comes_back_as_itself() -> None:
    """A class of one's own, with limits of its own, is not reduced to its base."""

    @encodable("tests.JsonLog")
    @attrs.frozen(eq=False, repr=False)
    class JsonLog(SpooledJsonArtifact):
        max_json_bytes: ClassVar[int] = 10

    codec = Codec(types=[JsonLog])
    log = JsonLog(BytesReader(b"[1, 2, 3, 4, 5]"), "json")
    again = codec.decode(codec.encode(log))

    assert type(again) is JsonLog
    assert again == log
    with pytest.raises(errors.LimitExceededError, match="more than 10 bytes"):
        again.json_length()


# What is no JSON


@pytest.mark.parametrize(
    ("data", "declared", "reason"),
    [
        (b"", None, "the text is empty"),
        (b" \n", "json", "the text is empty"),
        (b"NaN", "json", "not JSON"),
        (b"[1,]", "json", "not JSON"),
        (b'"\xff"', "json", "not JSON .*UTF-8"),
        (b"1e999", "json", "out of range"),
        (b"plain words", None, "neither JSON nor JSON5"),
        (b"{a: 1}\n{a: 2}", "json5", "Extra data .*near line 0"),
        (b"{a: '\xff'}", "json5", "neither JSON nor JSON5"),
        (b"{a: 1,\n\n b: ]", None, "JSON5 .Expected JSON5Value near line 2"),
        (b"[1, 'x'\n, ", "json5", "Unclosed array starting near line 0"),
        (b"'\\ud800'", "json5", "neither JSON nor JSON5"),
        (b'{"a": 1}\n\nNaN\n', "jsonl", r"line 2 is not JSON.*cat\(2, 3\)"),
        (b'{"a": 1}\n\nNaN\n', None, "line 2 is not JSON"),
        (b"1\x852", "jsonl", "line 0 is not JSON"),
        ("1\u20282".encode(), "jsonl", "line 0 is not JSON"),
        (b"1\r2", "jsonl", "line 0 is not JSON"),
    ],
)
def test_what_is_no_json_is_told(data: bytes, declared: Any, reason: str) -> None:
    """Bad text is our error, with the line if there are lines."""
    with pytest.raises(errors.UndecodableValueError, match=reason):
        list(spool(data, declared).json_records())


@pytest.mark.parametrize(
    ("data", "declared"),
    [
        (b"[" * 100_000 + b"]" * 100_000, "json"),
        (b"[" * 100_000, "jsonl"),
        (b"[" * 100_000, None),
        (b"[" * 5_000 + b"]" * 5_000, "json5"),
        (b"{a:" * 5_000, "json5"),
    ],
)
def test_deep_nesting_is_refused(data: bytes, declared: Any) -> None:
    """Depth ends in our error, never in a RecursionError."""
    with pytest.raises(errors.LimitExceededError, match="nests too deep"):
        spool(data, declared).json_keys()


def test_json5_may_be_as_large_as_json() -> None:
    """JSON5 has no limit of its own, and its parser is as quick as that of JSON."""
    data = b"[" + b"{n: .5, s: 'x',},\n" * 100_000 + b"]"

    assert spool(data, "json5").json_length() == 100_000
    assert spool(data).json_keys() == ["n", "s"]


# Limits


DIGITS = b"[" + b"1," * 60 + b"1]"
WORDS = b'"abcdef"\n' * 20
KEYS = b"".join(b'{"%08d": 1}\n' % number for number in range(20))


class Small(SpooledJsonArtifact):
    """An artifact with a small limit."""

    max_json_bytes: ClassVar[int] = 100


@pytest.mark.parametrize(
    ("data", "declared", "ask", "reason"),
    [
        (DIGITS, "json", Small.json_length, "document has more than 100 bytes"),
        (DIGITS, None, Small.json_type, "line 0 has more than 100 bytes"),
        (b"1\n" + b"1" * 101, None, Small.json_keys, "line 1 has more than 100"),
        (WORDS, "jsonl", Small.json_slice, "takes more than 100 bytes"),
        (WORDS, "jsonl", partial(Small.json_get, path="$"), "takes more than 100"),
        (WORDS, "jsonl", partial(Small.json_filter, path="$"), "takes more than 100"),
        (KEYS, "jsonl", Small.json_keys, "takes more than 100 bytes"),
    ],
)
def test_what_is_held_at_once_is_bounded(
    data: bytes, declared: Any, ask: Callable[[Small], object], reason: str
) -> None:
    """Documents, records and what is returned have the same limit."""
    with pytest.raises(errors.LimitExceededError, match=reason) as caught:
        ask(Small(BytesReader(data), declared))
    assert caught.value.limit == "max_json_bytes"


def test_iterators_are_not_bounded() -> None:
    """What is yielded one by one may be as much as there is."""
    log = Small(BytesReader(b'"abcdef"\n' * 50), "jsonl")

    assert len(list(log.json_records())) == 50
    assert len(list(log.json_filtered("$"))) == 50
    assert len(log.json_filter("$", max_matches=9)) == 9


# Strangers' paths


@pytest.mark.parametrize(
    "path",
    [
        '$[?__import__("os").system("id")]',
        "$[?(@.constructor.constructor('return process')())]",
        "$[?@.name =~ /a/]",
        "$[(@.length-1)]",
        "name",
        "",
        "$[?@.a == 1e999]",
        "$[" + "9" * 500 + "]",
        "$.a | $.b",
        "$[?unknown(@)]",
        "$" + ".a" * 600,
        "$[?" + "!" * 900 + "@.a]",
        "$" + "[?@" * 200 + "]" * 200,
        5,
        None,
    ],
)
def test_what_is_no_path_is_refused(path: Any) -> None:
    """Code, foreign dialects and absurd lengths are refused before they run."""
    before = time.perf_counter()
    for ask in (spool(PEOPLE).json_get, spool(PEOPLE).json_filter):
        with pytest.raises(errors.InvalidValueError, match=r"path|JSONPath") as caught:
            ask(path)
        assert len(str(caught.value)) < 300
    assert time.perf_counter() - before < 5


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("$[?search(@.name, '(a|aa)+$')]", b'[{"name": "' + b"a" * 60 + b'b"}]'),
        ("$[?match(@.name, $[1])]", b'[{"name": "' + b"a" * 60 + b'b"}, "(a|aa)+"]'),
        ("$" + "[*,*,*,*]" * 20, b"[" * 30 + b"1" + b"]" * 30),
        ("$[?count(@" + "[*,*,*,*]" * 20 + ") > 1]", b"[" * 30 + b"1" + b"]" * 30),
        ("$" + "..[*,*]" * 30, b"[" * 40 + b"1" + b"]" * 40),
    ],
)
def test_a_path_that_takes_for_ever_is_stopped(path: str, data: bytes) -> None:
    """Backtracking and exponential paths end with the time they were given."""
    before = time.perf_counter()
    with pytest.raises(
        errors.LimitExceededError, match=r"more than 0\.2 sec"
    ) as caught:
        spool(data).json_get(path, timeout=0.2)
    assert time.perf_counter() - before < 5
    assert (caught.value.limit, caught.value.value) == ("path_timeout", 0.2)


def test_time_is_for_the_whole_call() -> None:
    """Lines that take long each don't get their time anew."""
    data = b'"%s"\n' % (b"a" * 22 + b"b") * 2000

    with pytest.raises(errors.LimitExceededError, match=r"more than 0\.2 sec"):
        spool(data, "jsonl").json_filter("$[?search(@, '(a|aa)+$')]", timeout=0.2)


def test_long_texts_get_no_more_time_than_short_ones() -> None:
    """Time is given by the number of values, so a long one is no way to more."""
    before = time.thread_time()
    with pytest.raises(errors.LimitExceededError, match=r"more than 0\.1 sec"):
        spool(b'["%s"]' % (b"a" * 1_000_000)).json_get(
            "$[?match(@, '(a|aa)+b')]", timeout=0.1
        )
    assert time.thread_time() - before < 0.3


def test_patterns_that_would_fill_the_memory_match_nothing() -> None:
    """A pattern, also one from the data, is bounded before it is compiled."""
    data = b'[{"name": "aaa", "p": "((a{900}){900}){900}"}]'

    assert spool(data).json_get("$[?search(@.name, @.p)]") == []
    assert spool(data).json_get("$[?search(@.name, '(')]") == []


def test_a_deep_value_is_refused() -> None:
    """A path that would descend too deep says so."""
    data = b"[" * 300 + b"]" * 300

    with pytest.raises(errors.LimitExceededError, match="too deep for this path"):
        spool(data).json_get("$..a")


@pytest.mark.parametrize(
    "arguments", [{"timeout": 0}, {"timeout": -1.0}, {"max_matches": -1}]
)
def test_odd_arguments_are_refused(arguments: dict[str, Any]) -> None:
    """A limit that makes no sense is our error."""
    with pytest.raises(errors.InvalidValueError, match=r"timeout must|can't be neg"):
        spool(PEOPLE).json_get("$", **arguments)


# Texts of any size


class Stream(io.RawIOBase):
    """A stream over what `read_range` gives."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.at = 0

    def seekable(self) -> bool:
        """Say yes."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to an offset from the start."""
        assert whence == 0
        self.at = offset
        return offset

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        data = self.reader.read_range(self.at, self.at + size)
        self.at += len(data)
        return data


class Log(Reader):
    """Lines of JSON that are made as they are read."""

    line = b'{"level": "info", "message": "' + b"x" * 60 + b'", "ms": 12}\n'
    rare = b'{"level": "error", "message": "' + b"y" * 46 + b'", "error": 12}\n'
    block = line * 999 + rare

    def __init__(self, size: int) -> None:
        self.blocks = max(1, size // len(self.block))

    def open(self) -> BinaryIO:
        """Return a stream."""
        return cast("BinaryIO", Stream(self))

    def read_range(self, start: int, end: int) -> bytes:
        """Return bytes, made anew."""
        size = len(self.block)
        end = min(end, size * self.blocks)
        several = self.block * (max(0, end - start) // size + 2)
        return several[start % size : start % size + end - start]


MEASURE = """
import resource, sys
from graphcodec import SpooledJsonArtifact
from tests.primitives.test_json_artifact import Log

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

def ask(size):
    log = SpooledJsonArtifact(Log(size))
    found = log.json_filter("$.error")
    count = log.json_length()
    assert len(found) * 1000 == count == log.reader.blocks * 1000
    assert len(log.json_slice(count - 2)) == 2

ask(1)
before = peak()
ask(int(sys.argv[1]))
print(peak() - before)
"""


def measured(size: int) -> int:
    """Return how many KiB more it takes to query that many bytes."""
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", MEASURE, str(size)],
        capture_output=True,
        text=True,
        check=True,
    )
    unit = 1024 if sys.platform == "darwin" else 1
    return int(done.stdout) // unit


def test_large_logs_take_constant_memory() -> None:
    """Filtering, counting and slicing 20 MB takes what 1 MB does."""
    assert measured(20_000_000) < 8_000


@pytest.mark.long
def test_huge_logs_take_constant_memory() -> None:
    """Filtering, counting and slicing 200 MB takes what 1 MB does."""
    assert measured(200_000_000) < 8_000


def test_an_endless_line_is_not_held() -> None:
    """A line longer than a record may be is refused before it has been read."""

    class Endless(Log):
        def read_range(self, start: int, end: int) -> bytes:
            """Return no newline."""
            return b"x" * (end - start)

    for ask in (SpooledJsonArtifact.json_length, SpooledJsonArtifact.json_keys):
        with pytest.raises(
            errors.LimitExceededError, match="line 0 has more than 33,5"
        ):
            ask(SpooledJsonArtifact(Endless(1), "jsonl"))


@pytest.mark.parametrize(
    ("package", "ask", "hint"),
    [
        ("pyjson5", "SpooledJsonArtifact(BytesReader(b'{a: 1}')).json_keys()", "JSON5"),
        ("jsonpath", "SpooledJsonArtifact(BytesReader(b'[]')).json_get('$')", "Path"),
    ],
)
def test_a_missing_package_is_named(package: str, ask: str, hint: str) -> None:
    """Without an extra, the error says how to install it; the rest works."""
    code = f"""
import sys
sys.modules[{package!r}] = None
from graphcodec import SpooledJsonArtifact, BytesReader
assert SpooledJsonArtifact(BytesReader(b"1\\n2")).json_length() == 2
try:
    {ask}
except ModuleNotFoundError as exc:
    print(exc)
"""
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert hint in done.stdout
    assert "pip install 'graphcodec[artifacts]'" in done.stdout
