"""Patterns that somebody sent: bounded, and equal to trying line by line."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import re
import subprocess
import sys
import time
from itertools import count

import pytest
import regex
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from graphcodec import errors
from graphcodec.readers import BytesReader, _patterns
from graphcodec.readers import _grep as grep_module
from graphcodec.readers._blockwise import for_blocks
from graphcodec.readers._grep import grep
from graphcodec.readers._lines import LineIndex

PARTS = [
    *("a", "b", "é", " ", ".", "-", r"\w", r"\d", r"\s", r"\S", r"\D", r"\W", r"\b"),
    *("^", "$", "[ab]", "[^a]", "[a-z0-9]", r"[^\w]", "[^ b]", "[]a]", "[[a]", "{"),
    *("(?:", "(", ")", "|", "*", "+", "?", "{2}", "{1,3}", "{2,}", r"\.", r"\n", r"\1"),
    *("(?=a)", "(?!a)", "(?<=a)", "(?<!a)", r"\A", r"\Z", r"\B", "(?i)", "(?s)"),
]
TEXT_PARTS = [
    "a",
    "b",
    "ab",
    "é",
    " ",
    "\n",
    "\t",
    "\r",
    ".",
    "-",
    "1",
    "\x85",
    "\u2028",
]

texts = st.lists(st.sampled_from(TEXT_PARTS), max_size=14).map("".join)
patterns = st.lists(st.sampled_from(PARTS), max_size=6).map("".join)


def find(data: bytes, pattern: str | re.Pattern[str], **options: object) -> list[str]:
    """Search *data*."""
    index = LineIndex(BytesReader(data))
    return grep(index, pattern, **options)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


@settings(max_examples=400)
@given(texts, patterns, st.sampled_from(["", "i", "s", "m", "imsu"]))
def test_same_as_line_by_line(text: str, pattern: str, flags: str) -> None:
    """Searching many lines at once finds what trying each line by itself finds."""
    bits = 0
    for letter in flags:
        bits |= getattr(regex, letter.upper())
    try:
        expected = regex.compile(pattern, bits)
    except regex.error:
        assume(False)  # noqa: FBT003 - hypothesis's way of saying it
        raise

    found = find(text.encode(), pattern, flags=flags)

    lines = text.split("\n") if text else []
    assert found == [line for line in lines if expected.search(line)]


@pytest.mark.parametrize(
    ("pattern", "rewritten"),
    [
        (r"a\s+b", r"a[^\S\n]+b"),
        (r"[^x]\W\D$", r"[^\nx][^\w\n][^\d\n]$"),
        (r"^(\d{4})-(?:\d{2})\.?", r"^(\d{4})-(?:\d{2})\.?"),
        (r"(a)\1", None),
        (r"a(?=b)", None),
        (r"\Aa", None),
        (r"(?i)a", None),
        ("[[:alpha:]]", None),
        ("[\t-z]", None),
        (r"[\s]", None),
    ],
)
def test_what_is_rewritten(pattern: str, rewritten: str | None) -> None:
    """Parts that could reach over a newline are mended, or nothing is rewritten."""
    assert for_blocks(pattern) == rewritten


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a|aa)+$", "a" * 60 + "b"),
        ("(?:a|aa)+(?!.)", "a" * 60 + "b"),
        ("(?b)(?:hello world){e}", "q" * 3000),
    ],
    ids=["in blocks", "line by line", "fuzzy"],
)
def test_backtracking_is_cut_short(pattern: str, text: str) -> None:
    """A pattern that backtracks for ever is stopped after the time it was given."""
    before = time.perf_counter()

    with pytest.raises(
        errors.LimitExceededError, match=r"more than 0\.2 sec"
    ) as caught:
        find(text.encode(), pattern, timeout=0.2)

    assert time.perf_counter() - before < 5
    assert (caught.value.limit, caught.value.value) == ("pattern_timeout", 0.2)


def test_the_time_is_for_the_whole_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many lines, none of which takes long, share one budget."""
    ticks = count(0.0, 0.3)
    monkeypatch.setattr(_patterns, "perf_counter", lambda: next(ticks))

    with pytest.raises(errors.LimitExceededError, match="took more than 1 seconds"):
        find(b"a\n" * 9, "a(?=b)", timeout=1.0)
    assert find(b"a\n" * 2, "a(?=b)", timeout=1.0) == []


def test_backtracking_in_a_long_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The budget also holds for a line that is searched in pieces."""
    monkeypatch.setattr(grep_module._Stranger, "longest", 100)

    with pytest.raises(errors.LimitExceededError, match="took more than"):
        find(b"a" * 90 + b"b" * 90, "(?:a|aa)+(?!.)$x", timeout=0.1)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "not a regular expression"),
        (r"\L<words>", "not a regular expression"),
        ("x" * 1001, "has 1001 characters, 1000 are allowed"),
        ("a{10001}", "repeat a part more than 10000 times"),
        ("a{99999999999999999999}", "repeat a part more than 10000 times"),
        ("((((a{99}){99}){99}){99}){99}", "repeat a part more than 10000 times"),
        ("(?x)a{9 9 9 9 9}", "verbose mode"),
        ("(?ix:a)", "verbose mode"),
        (r"\\(?x)a", "verbose mode"),
        ("(" * 490 + ")" * 490, "nests too deep"),
        (3, "must be a str or come from re.compile"),
        (re.compile(b"a"), "must be a str or come from re.compile"),
    ],
)
def test_bad_patterns(pattern: str, reason: str) -> None:
    """A pattern that can't or must not be compiled is refused in words."""
    with pytest.raises(errors.InvalidValueError, match=reason):
        find(b"a", pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}",
        r"(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})\.(\d{3,6})Z",
        r"(\d{1,3}\.){3}\d{1,3}",
        r"\(?xyz",
        "a{0}",
        "(?P<x>a)",
    ],
)
def test_honest_patterns_pass(pattern: str) -> None:
    """What people write to find dates, addresses and identifiers is within bounds."""
    assert find(b"", pattern) == []


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"flags": "ix"}, "flags are letters of 'imsu'"),
        ({"timeout": 0}, "timeout must be a finite number"),
        ({"timeout": float("nan")}, "timeout must be a finite number"),
        ({"timeout": float("inf")}, "timeout must be a finite number"),
        ({"max_matches": -1}, "can't be negative"),
    ],
)
def test_bad_options(options: dict[str, object], reason: str) -> None:
    """Options that make no sense are refused in words."""
    with pytest.raises(errors.InvalidValueError, match=reason):
        find(b"a", "a", **options)


def test_errors_show_only_an_excerpt() -> None:
    """The error for a huge pattern is short."""
    with pytest.raises(errors.InvalidValueError) as caught:
        find(b"a", "secret" * 100_000)

    assert len(str(caught.value)) < 300
    assert len(str(caught.value.value)) <= 80


def test_own_pattern_has_no_limits() -> None:
    """A compiled pattern is the caller's: verbose, long and with its own flags."""
    own = re.compile("(?x) A  # the first letter" + " " * 2000, re.IGNORECASE)

    assert find(b"xa\ny", own) == ["xa"]
    with pytest.raises(errors.InvalidValueError, match="has its own flags"):
        find(b"a", own, flags="i")


@pytest.mark.parametrize("pattern", ["needle", "ne+dle", "(?<!x)needle"])
def test_long_lines_are_searched_in_pieces(
    monkeypatch: pytest.MonkeyPatch, pattern: str
) -> None:
    """A match in a long line is found also where two pieces meet, and only there."""
    for matcher in (grep_module._Literal, grep_module._Stranger):
        monkeypatch.setattr(matcher, "longest", 4000)
    monkeypatch.setattr(grep_module, "OVERLAP", 100)
    needle = b"-" * 300_000 + b"needle" + b"-" * 4000
    lines = [b"x" * 20_000, needle, b"short", b"y" * 9000]

    for shift in range(0, 4000, 500):
        data = b"\n".join([b"s" * shift, *lines])
        assert find(data, pattern) == [needle.decode()]


def test_a_caret_does_not_match_inside_a_long_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A long line begins once, though it is searched in pieces."""
    monkeypatch.setattr(grep_module._Stranger, "longest", 4000)
    monkeypatch.setattr(grep_module, "OVERLAP", 100)

    assert find(b"a" + b"x" * 600_000, "^x") == []
    assert find(b"x" + b"a" * 600_000, "^x") != []
    assert find(b"a" * 600_000 + b"x", "x$") != []


def test_raw_bytes_can_be_sought() -> None:
    """A byte that is not UTF-8 is found as the surrogate that stands for it."""
    data = b"caf\xe9\ncaf\xc3\xa9\n"

    assert find(data, "\udce9") == ["caf\udce9"]
    assert find(data, "é") == ["café"]
    assert find(data, "caf[^f]$") == ["caf\udce9", "café"]


def test_max_matches() -> None:
    """No more lines are returned than asked for."""
    data = b"a1\na2\nb\na3"

    assert find(data, "a", max_matches=2) == ["a1", "a2"]
    assert find(data, "a", max_matches=0) == []
    assert find(data, "a", max_matches=None) == ["a1", "a2", "a3"]


def test_without_a_timeout() -> None:
    """None lets a pattern take its time."""
    assert find(b"aab\nc", "a+b", timeout=None) == ["aab"]


def test_the_engine_is_imported_on_use() -> None:
    """Neither importing the readers nor a plain word loads the regex package."""
    code = (
        "import sys; from graphcodec.readers import BytesReader;"
        " from graphcodec.readers._grep import grep;"
        " from graphcodec.readers._lines import LineIndex;"
        " index = LineIndex(BytesReader(b'a'));"
        " grep(index, 'a'); before = 'regex' in sys.modules;"
        " unwanted = {'asyncio', 'cattrs', 'msgspec', 'fsspec', 'httpx', 'tempfile'};"
        " heavy = sorted(unwanted & set(sys.modules));"
        " grep(index, 'a+'); print(before, heavy, 'regex' in sys.modules)"
    )

    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == ["False", "[]", "True"]
