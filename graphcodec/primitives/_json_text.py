r"""JSON, JSON5 and lines of JSON, read from a text of any size.

Lines are read one at a time, so a text of gigabytes costs the memory of its longest
line. A document can only be read whole, so its size is bounded. Both are strict: NaN,
trailing commas, bad UTF-8 and the like are refused, except for what JSON5 allows. A
byte order mark in front is passed over, and lines that hold nothing but blanks are no
records.
"""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING, Final, Literal

from graphcodec._extras import from_extra
from graphcodec.errors import LimitExceededError, UndecodableValueError
from graphcodec.readers._lines import line_blocks

if TYPE_CHECKING:
    from collections.abc import Generator

    from graphcodec.readers._lines import LineIndex

__all__ = [
    "JsonFormat",
    "count_records",
    "parsed_document",
    "parsed_line",
    "record_lines",
    "says_lines",
    "sized_lines",
    "whole",
]

JsonFormat = Literal["json", "json5", "jsonl"]

LARGEST_JSON5: Final = 1 << 18
"""How many bytes of JSON5 are read; its parser manages some 50,000 in a second."""

_BOM: Final = b"\xef\xbb\xbf"
_BLANK: Final = b" \t\r"


def record_lines(index: LineIndex, most: int) -> Generator[tuple[int, bytes]]:
    """Yield the number and the bytes of each line that is not blank.

    Args:
        index: The text.
        most: How many bytes a line may have.

    Raises:
        LimitExceededError: If one has more.
    """
    number = 0
    with closing(_blocks(index, most)) as blocks:
        for block in blocks:
            for line in block.split(b"\n"):
                if line.strip(_BLANK):
                    if len(line) > most:
                        raise _too_long(number, most)
                    yield number, line
                number += 1


def count_records(index: LineIndex, most: int) -> int:
    """Return the number of lines that are not blank, without parsing them.

    Args:
        index: The text.
        most: How many bytes a line may have.

    Raises:
        LimitExceededError: If one has far more.
    """
    count = 0
    with closing(_blocks(index, most)) as blocks:
        for block in blocks:
            count += sum(1 for line in block.split(b"\n") if line.strip(_BLANK))
    return count


def _blocks(index: LineIndex, most: int) -> Generator[bytes]:
    chunks = _bounded(_without_mark(index.chunks()), most)
    return line_blocks(chunks)


def _without_mark(chunks: Generator[bytes]) -> Generator[bytes]:
    with closing(chunks):
        # The first chunk is a range of many bytes, or all there are.
        for chunk in chunks:
            yield chunk.removeprefix(_BOM)
            break
        yield from chunks


def _bounded(chunks: Generator[bytes], most: int) -> Generator[bytes]:
    """Pass *chunks* on while no line is longer than *most* and a chunk."""
    held = number = 0
    with closing(chunks):
        for chunk in chunks:
            last = chunk.rfind(b"\n")
            held = held + len(chunk) if last < 0 else len(chunk) - last - 1
            number += chunk.count(b"\n")
            if held > most:
                raise _too_long(number, most)
            yield chunk


def _too_long(number: int, most: int) -> LimitExceededError:
    return LimitExceededError(
        f"line {number} has more than {most:,} bytes",
        hint="a class of your own with another max_json_bytes takes more",
        limit="max_json_bytes",
        value=most,
    )


def whole(index: LineIndex, most: int) -> bytes:
    """Return a document's bytes.

    Args:
        index: The text.
        most: How many bytes it may have.

    Raises:
        LimitExceededError: If it has more.
    """
    data = index.beginning(most + 1)
    if len(data) > most:
        raise LimitExceededError(
            f"the document has more than {most:,} bytes",
            hint="read it with cat and grep, write it as lines of JSON, or allow more"
            " in a class of your own with another max_json_bytes",
            limit="max_json_bytes",
            value=most,
        )
    return data.removeprefix(_BOM)


def says_lines(index: LineIndex, most: int) -> bool:
    """Say whether a text is lines of JSON, by its beginning.

    It is if its first line is JSON by itself and another one follows: a document would
    have ended there.

    Args:
        index: The text.
        most: How many bytes to look at, more or less.

    Raises:
        LimitExceededError: If a line is longer than that.
    """
    with closing(record_lines(index, most)) as lines:
        first = next(lines, None)
        if first is None or not _is_json(first[1]):
            return False
        return next(lines, None) is not None


def _is_json(line: bytes) -> bool:
    try:
        _strict(line)
    except (ValueError, RecursionError):
        return False
    return True


def parsed_line(number: int, line: bytes) -> object:
    """Return the value of a record.

    Args:
        number: Where the line is, from 0.
        line: Its bytes.

    Raises:
        LimitExceededError: If it nests too deep.
        UndecodableValueError: If it is not JSON.
    """
    try:
        return _strict(line)
    except RecursionError:
        raise _too_deep(f"line {number}") from None
    except ValueError as exc:
        raise UndecodableValueError(
            f"line {number} is not JSON ({exc!s:.80})",
            hint=f"lines count from 0: cat({number}, {number + 1}) shows it",
        ) from None


def parsed_document(
    data: bytes, declared: JsonFormat | None
) -> tuple[JsonFormat, object]:
    """Return the format and the value of a document.

    Args:
        data: All of it.
        declared: Its format; if None, JSON5 is tried where JSON fails.

    Raises:
        LimitExceededError: If it nests too deep, or is JSON5 and too large.
        UndecodableValueError: If it is not in that format.
    """
    if not data.strip():
        raise UndecodableValueError("the text is empty: no JSON")
    if declared == "json5":
        return "json5", _parsed_json5(data)
    try:
        return "json", _strict(data)
    except RecursionError:
        raise _too_deep("the document") from None
    except ValueError as exc:
        reason = f"{exc!s:.80}"
    if declared is None and len(data) <= LARGEST_JSON5:
        return "json5", _parsed_json5(data)
    raise UndecodableValueError(
        f"the text is not JSON ({reason})",
        hint="read it with cat and grep, or say what it is: format='json5' or 'jsonl'",
    )


def _strict(data: bytes) -> object:
    # Imported on first use: most artifacts are never asked for JSON.
    import msgspec  # noqa: PLC0415

    return msgspec.json.decode(data)


def _parsed_json5(data: bytes) -> object:
    if len(data) > LARGEST_JSON5:
        raise LimitExceededError(
            f"the JSON5 has {len(data):,} bytes, {LARGEST_JSON5:,} are read",
            hint="write it as JSON, or read it with cat and grep",
            limit="max_json5_bytes",
            value=LARGEST_JSON5,
        )
    with from_extra("artifacts", "reading JSON5 needs json5"):
        import json5  # noqa: PLC0415 - optional
    try:
        return json5.loads(data.decode())
    except RecursionError:
        raise _too_deep("the document") from None
    except ValueError as exc:
        raise UndecodableValueError(
            f"the text is neither JSON nor JSON5 ({_reason(exc):.80})",
            hint="read it with cat and grep",
        ) from None


def _reason(exc: ValueError) -> str:
    """Return what the parser says, with its line counted from 0 as elsewhere."""
    found = re.match(r"<string>:(\d+) (.*)", str(exc), re.DOTALL)
    return f"line {int(found[1]) - 1}: {found[2]}" if found else str(exc)


def _too_deep(what: str) -> LimitExceededError:
    return LimitExceededError(
        f"{what} nests too deep",
        hint="read it with cat and grep",
        limit="max_depth",
    )


def sized_lines(index: LineIndex, most: int) -> Generator[tuple[object, int]]:
    """Yield the value of each record, and how many bytes it had.

    Args:
        index: The text.
        most: How many bytes a line may have.

    Raises:
        LimitExceededError: If a line is longer, or nests too deep.
        UndecodableValueError: If one is not JSON.
    """
    with closing(record_lines(index, most)) as lines:
        for number, line in lines:
            yield parsed_line(number, line), len(line)
