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
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from graphcodec._extras import from_extra
from graphcodec.errors import LimitExceededError, UndecodableValueError
from graphcodec.readers._lines import line_blocks

if TYPE_CHECKING:
    from collections.abc import Generator

    from graphcodec.readers._lines import LineIndex

__all__ = [
    "JsonFormat",
    "Sized",
    "cost_of",
    "count_records",
    "parsed_document",
    "parsed_line",
    "record_lines",
    "says_lines",
    "sized_lines",
    "whole",
]

JsonFormat = Literal["json", "json5", "jsonl"]

DEEPEST_JSON5: Final = 500
"""How deep JSON5 may nest; that of JSON is bounded by the stack alone."""

_BYTES_PER_VALUE: Final = 32
"""How many bytes of text cost as much as a value that is visited."""

_BOM: Final = b"\xef\xbb\xbf"
_BLANK: Final = b" \t\r"


class Sized(NamedTuple):
    """A value, and what to expect of it.

    Attributes:
        value: The value.
        size: How many bytes of text it was made from.
        cost: What `cost_of` says of these.
    """

    value: object
    size: int
    cost: float


def cost_of(data: bytes) -> float:
    """Return how much there is to visit in a text: its values, and its length.

    Args:
        data: JSON. What it has of commas and brackets is taken for how many values it
            has, which is as good and needs no second look at them.
    """
    count = data.count(b",") + data.count(b"[") + data.count(b"{")
    return 1 + count + len(data) / _BYTES_PER_VALUE


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
        LimitExceededError: If it nests too deep.
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
    if declared is None:
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
    with from_extra("artifacts", "reading JSON5 needs pyjson5"):
        import pyjson5  # noqa: PLC0415 - optional
    try:
        text = data.decode()
    except UnicodeDecodeError as exc:
        raise _no_json5(str(exc)) from None
    try:
        return pyjson5.decode(text, maxdepth=DEEPEST_JSON5)
    except (RecursionError, pyjson5.Json5NestingTooDeep):
        raise _too_deep("the document") from None
    except pyjson5.Json5DecoderException as exc:
        raise _no_json5(_reason(str(exc.args[0]), text)) from None


def _no_json5(reason: str) -> UndecodableValueError:
    return UndecodableValueError(
        f"the text is neither JSON nor JSON5 ({reason:.80})",
        hint="read it with cat and grep",
    )


def _reason(told: str, text: str) -> str:
    """Return what the parser says, with a line, counted from 0 as elsewhere."""
    told = re.sub(r"b'(\w+)'", r"\1", told)
    place = re.search(r" near (\d+)", told)
    if place is None:
        return told
    line = text.count("\n", 0, int(place[1]))
    return told.replace(place[0], f" near line {line}")


def _too_deep(what: str) -> LimitExceededError:
    return LimitExceededError(
        f"{what} nests too deep",
        hint="read it with cat and grep",
        limit="max_depth",
    )


def sized_lines(index: LineIndex, most: int) -> Generator[Sized]:
    """Yield the value of each record, and what to expect of it.

    Args:
        index: The text.
        most: How many bytes a line may have.

    Raises:
        LimitExceededError: If a line is longer, or nests too deep.
        UndecodableValueError: If one is not JSON.
    """
    with closing(record_lines(index, most)) as lines:
        for number, line in lines:
            yield Sized(parsed_line(number, line), len(line), cost_of(line))
