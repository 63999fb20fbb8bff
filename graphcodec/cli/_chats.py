"""Files with conversations in the formats of others: read, written, told about."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias, TypeVar, cast

import attrs
import click
from attrs import frozen
from rich.text import Text

from graphcodec._paths import with_article
from graphcodec.adapters import Kept, LeftOut, kept_aside
from graphcodec.adapters._formats import FORMATS
from graphcodec.adapters._guess import guess
from graphcodec.adapters._homeless import written
from graphcodec.cli._files import STDIN, errors_console
from graphcodec.cli._text import console, counted, cut
from graphcodec.errors import GraphCodecError, InvalidValueError
from graphcodec.primitives import Conversation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import Console

    from graphcodec.adapters._formats import Format

NAMES: Final = tuple(FORMATS)
AUTO: Final = "auto"

_Row: TypeAlias = tuple[str, str, str, str]

T = TypeVar("T")
R = TypeVar("R")

_LINES: Final = (".jsonl", ".ndjson")
_EVENTS: Final = (b"data:", b"event:")
_LONGEST: Final = 200
_INDENT: Final = "\n      "


# Reading


@frozen
class Chats:
    """What a file holds.

    Attributes:
        conversations: The conversations, in order.
        in_lines: Whether each stood on a line of its own.
        format: The name of their format.
    """

    conversations: list[Conversation]
    in_lines: bool
    format: str

    @property
    def graph(self) -> object:
        """What the document of this file holds: a conversation, or a list of them."""
        return self.conversations if self.in_lines else self.conversations[0]


def read_chats(name: str, data: bytes, wanted: str) -> Chats:
    """Return the conversations in a file: one, or one a line.

    Args:
        name: The name of the file.
        data: What is in it.
        wanted: The name of the format, or `AUTO`.

    Raises:
        InvalidValueError: If it is no JSON, no conversation, or a document of ours;
            says where.
    """
    lines = _lines(name, data)
    if lines is None:
        value = _parsed(data)
        _refuse_document(value)
        format_ = _format(wanted, [value])
        return Chats([FORMATS[format_].read(value)], in_lines=False, format=format_)
    values = [_at_line(number, _parsed, line) for number, line in lines]
    format_ = _format(wanted, values)
    numbered = zip(lines, values, strict=True)
    read = FORMATS[format_].read
    found = [_at_line(number, read, value) for (number, _), value in numbered]
    return Chats(found, in_lines=True, format=format_)


def _refuse_document(value: object) -> None:
    if isinstance(value, dict) and {"graphcodec", "root"} <= value.keys():
        msg = "this is a graphcodec document already"
        hint = "graphcodec inspect shows it, graphcodec export takes it to a format"
        raise InvalidValueError(msg, hint=hint)


def _format(wanted: str, values: Sequence[object]) -> str:
    return guess(values) if wanted == AUTO else wanted


def _at_line(number: int, function: Callable[[T], R], value: T) -> R:
    """Return what a function makes of a line, whose number errors tell.

    Raises:
        GraphCodecError: What the function raises.
    """
    try:
        return function(value)
    except GraphCodecError as exc:
        exc.message = f"line {number}: {exc.message}"
        raise


def _lines(name: str, data: bytes) -> list[tuple[int, bytes]] | None:
    """Return the lines with their numbers if each holds JSON of its own, else None.

    Args:
        name: The name of the file; some say that it has lines.
        data: What is in it.
    """
    lines = [
        (number, line)
        for number, line in enumerate(data.split(b"\n"), 1)
        if line.strip()
    ]
    if name.lower().endswith(_LINES):
        return lines
    return lines if len(lines) > 1 and _is_whole(lines[0][1]) else None


def _is_whole(line: bytes) -> bool:
    """Say whether a first line is a map or list by itself, and not the begin of one."""
    try:
        return isinstance(_parsed(line), dict | list)
    except InvalidValueError:
        return False


def _parsed(data: bytes) -> object:
    """Return the JSON that *data* holds, of which nothing is lost.

    Raises:
        InvalidValueError: If it is none, or has what a dict could not hold.
    """
    try:
        return json.loads(
            data, object_pairs_hook=_pairs, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError) as exc:
        if isinstance(exc, InvalidValueError):
            raise
        raise _no_json(data, exc) from exc


def _no_json(data: bytes, exc: Exception) -> InvalidValueError:
    if not data.strip():
        return InvalidValueError("this is no JSON: there is nothing in it")
    hint = ""
    if data.lstrip().startswith(_EVENTS):
        hint = "this is a stream of events: put the pieces together first"
    told = str(exc)
    if isinstance(exc, json.JSONDecodeError):
        # Who splits a file into lines knows better which one it is.
        line = f"line {exc.lineno}, " if b"\n" in data.strip() else ""
        told = f"{exc.msg} at {line}column {exc.colno}"
    return InvalidValueError(f"this is no JSON: {told}", hint=hint)


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, count in counts.items() if count > 1)
        msg = f"the key {cut(repr(twice), _LONGEST)} stands twice in one map"
        raise InvalidValueError(msg)
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidValueError(f"JSON has no {name}")


# Writing


def written_chats(
    graph: object, format_: Format, *, pretty: bool, leave_out: bool
) -> tuple[bytes, tuple[LeftOut, ...]]:
    """Return a file with the conversations of a document, and what it is without.

    Args:
        graph: A conversation, or a list of them, which become one line each.
        format_: The format.
        pretty: Whether a single one is broken into lines.
        leave_out: Whether to go on without what the format has no place for.

    Raises:
        InvalidValueError: If there are other things in the document.
        UnencodableValueError: If the format has no place for something.
        HandleError: If bytes are gone, changed or out of reach.
    """
    found = conversations(graph)
    is_list = not isinstance(graph, Conversation)
    lines: list[bytes] = []
    left: list[LeftOut] = []
    for index, conversation in enumerate(found):
        at = f"$[{index}]" if is_list else "$"
        try:
            data, _, out = written(conversation, format_, leave_out=leave_out)
        except GraphCodecError as exc:
            exc.path = _moved(exc.path, at)
            raise
        lines.append(_text(data, pretty=pretty and not is_list))
        left += [attrs.evolve(each, path=_moved(each.path, at)) for each in out]
    return b"".join(lines), tuple(left)


def _moved(path: str, at: str) -> str:
    """Return a path in a conversation as one from the root of its document."""
    return f"{at}{path.removeprefix('$')}"


def conversations(graph: object) -> list[Conversation]:
    """Return the conversations that a document holds.

    Args:
        graph: What was decoded.

    Raises:
        InvalidValueError: If it holds something else.
    """
    found = [graph] if isinstance(graph, Conversation) else graph
    if not isinstance(found, list):
        raise _no_conversation(graph, "$")
    for index, entry in enumerate(cast("list[object]", found)):
        if not isinstance(entry, Conversation):
            raise _no_conversation(entry, f"$[{index}]")
    return cast("list[Conversation]", found)


def _no_conversation(value: object, path: str) -> InvalidValueError:
    msg = f"this is no Conversation, but {with_article(type(value).__name__)}"
    hint = "a document with one, or with a list of them, can be exported"
    return InvalidValueError(msg, path=path, hint=hint)


def _text(data: object, *, pretty: bool) -> bytes:
    indent = 2 if pretty else None
    text = json.dumps(data, ensure_ascii=False, indent=indent)
    try:
        return f"{text}\n".encode()
    except UnicodeEncodeError:
        # Half a character can be escaped only.
        return f"{json.dumps(data, indent=indent)}\n".encode()


# Telling


@frozen(kw_only=True)
class Told:
    """What became of a file.

    Attributes:
        file: Its name.
        output: Where the result is.
        format: The name of the format.
        conversations: How many there were.
        items: How many items they have, by class.
        kept: What is in stashes only.
        left_out: What the result is without, since its format has no place for it.
    """

    file: str
    output: str
    format: str
    conversations: int
    items: dict[str, int]
    kept: tuple[Kept, ...]
    left_out: tuple[LeftOut, ...]


def told(
    file: str,
    output: str,
    format_: str,
    found: Sequence[Conversation],
    kept: tuple[Kept, ...],
    *,
    left_out: tuple[LeftOut, ...] = (),
) -> Told:
    """Return what to tell about a file.

    Args:
        file: Its name.
        output: Where the result is.
        format_: The name of the format.
        found: The conversations.
        kept: What is worth a word of what is kept in their stashes.
        left_out: What the result is without.
    """
    items = Counter(type(item).__name__ for each in found for item in each.items)
    return Told(
        file=file,
        output=output,
        format=format_,
        conversations=len(found),
        items=dict(items),
        kept=kept,
        left_out=left_out,
    )


def all_kept(graph: object, found: Sequence[Conversation]) -> tuple[Kept, ...]:
    """Return what is kept in several conversations, with paths from their document.

    Args:
        graph: What the document holds.
        found: The conversations in it.
    """
    if isinstance(graph, Conversation):
        return kept_aside(graph)
    return tuple(
        attrs.evolve(kept, path=_moved(kept.path, f"$[{index}]"))
        for index, each in enumerate(found)
        for kept in kept_aside(each)
    )


def show(reports: Sequence[Told], *, kept: str, as_json: bool, aside: bool) -> None:
    """Tell what became of the files.

    Args:
        reports: A report on each.
        kept: What to call that which is in stashes only.
        as_json: Whether a script wants to know.
        aside: Whether the standard output is for something else.
    """
    if as_json:
        click.echo(json.dumps(_facts(reports)))
        return
    out = errors_console() if aside else console()
    for report in reports:
        if aside and not (report.left_out or report.kept):
            continue
        out.print(_head(report))
        _list(out, "left out, with its first place", [*_left_rows(report.left_out)])
        _list(out, f"{kept}, with its first place", [*_rows(report.kept)])


def _facts(reports: Sequence[Told]) -> dict[str, Any]:
    return {"files": [attrs.asdict(report) for report in reports]}


def _rows(kept: Sequence[Kept]) -> Iterator[_Row]:
    """Yield a row for each kind of thing: what, how many, the first place, why."""
    kinds: dict[tuple[str, str], list[Kept]] = {}
    for each in kept:
        kinds.setdefault((each.what, each.why), []).append(each)
    for (what, why), found in kinds.items():
        yield what, f"{len(found):,}", found[0].path, why


def _left_rows(left: Sequence[LeftOut]) -> Iterator[_Row]:
    """Yield a row for each kind of thing that is left out."""
    kinds: dict[str, list[LeftOut]] = {}
    for each in left:
        kinds.setdefault(each.what, []).append(each)
    for what, found in kinds.items():
        yield what, f"{len(found):,}", found[0].path, ""


def _list(out: Console, title: str, rows: Sequence[_Row]) -> None:
    """Print what is kept or left out; places are whole, to be given to ``inspect``."""
    if not rows:
        return
    out.print(Text(title, "bold"))
    for what, count, path, why in rows:
        text = Text(f"{count:>4}  ").append(cut(what, _LONGEST), "yellow")
        place = cut(path, _LONGEST)
        fits = text.cell_len + len(place) + 2 <= out.width
        text.append("  " if fits else _INDENT).append(place, "cyan")
        if why:
            text.append(f"{_INDENT}{cut(why, _LONGEST)}", "dim")
        out.print(text, no_wrap=True, overflow="ignore", crop=False)


def _head(report: Told) -> Text:
    """Return the line above a table."""
    text = Text(report.file, "bold")
    parts = [report.format, counted(report.conversations, "conversation")]
    parts += [counted(count, noun) for noun, count in report.items.items()]
    text.append(f"  {' · '.join(parts)}", "dim")
    text.append(f"  → {'standard output' if report.output == STDIN else report.output}")
    return text
