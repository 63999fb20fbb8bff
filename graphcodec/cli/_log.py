"""``graphcodec log``: what is in the logs of sessions."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeVar

import click
from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table

from graphcodec._replacing import replacing
from graphcodec.cli._bulk import dask_option, watched
from graphcodec.cli._text import console, counted, cut
from graphcodec.errors import GraphCodecError, JsonError
from graphcodec.log import (
    Conversation,
    DocumentStore,
    Entry,
    Exported,
    ImageContent,
    SessionLog,
    SessionRecord,
    SessionRecordRow,
    TextContent,
    ThinkingContent,
    ToolCall,
    UnknownRecord,
    effective,
    from_json,
    orphans,
    to_json,
    write_parquet,
)
from graphcodec.log import tail as follow
from graphcodec.log._arrow import turn_tokens
from graphcodec.log._exporting import (
    entries,
    export_lines,
    export_parquet,
    is_postgres,
    opened,
)
from graphcodec.log._ids import derived_id
from graphcodec.log._reading import entry_of
from graphcodec.log._rows import titles_of
from graphcodec.log._session import document_of

T = TypeVar("T")

_LONGEST: Final = 40
_NARROW: Final = 26
_BATCH: Final = 1000


@click.group()
def log() -> None:
    """Look at the logs of sessions, move them and verify them.

    LOG is a SQLite file, or an address as postgresql://host/database. A password is
    better in PGPASSWORD or ~/.pgpass, since others see command lines.
    """


_log = click.argument("address", metavar="LOG")
_session = click.argument("session")
_json = click.option("--json", "as_json", is_flag=True, help="Write JSON for a script.")


@contextmanager
def _opened(address: str, *, make: bool = False) -> Generator[DocumentStore]:
    if not make and not is_postgres(address) and not Path(address).is_file():
        raise click.FileError(address, "there is no such file")
    with opened(address) as store:
        yield store


def _known(store: DocumentStore, session: str) -> None:
    """Refuse a session that has no records."""
    if not store.count(session):
        msg = f"the log has no session {session!r:.80}; see: graphcodec log ls"
        raise click.ClickException(msg)


def _watched(items: Iterable[T], doing: str, total: int) -> Iterable[T]:
    """Show on a terminal how far long work is."""
    errors = Console(stderr=True, markup=False, highlight=False, emoji=False)
    quiet = not sys.stderr.isatty()
    return track(items, doing, total, console=errors, transient=True, disable=quiet)


def _table(*columns: str, right: Iterable[str] = ()) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        justify: Any = "right" if name in right else "left"
        table.add_column(name, justify=justify, no_wrap=True, overflow="ellipsis")
    return table


def _time(milliseconds: int) -> str:
    if not milliseconds:
        return ""
    seconds = min(milliseconds / 1000, 253_402_300_799)
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


# What there is


@log.command()
@_log
@_json
def ls(address: str, *, as_json: bool) -> None:
    """List the sessions."""
    with _opened(address) as store:
        keys = list(store.keys())
        sessions = [_session_facts(store, key) for key in keys]
    if as_json:
        click.echo(json.dumps(sessions))
        return
    table = _table("session", "records", "last", right=["records"])
    for facts in sessions:
        name, records = cut(facts["session"], _LONGEST), f"{facts['records']:,}"
        table.add_row(name, records, _time(facts["last"]))
    out = console()
    if sessions:
        out.print(table)
    out.print(counted(len(sessions), "session"), style="dim")


def _session_facts(store: DocumentStore, key: str) -> dict[str, Any]:
    newest = next(store.scan(key, limit=1, newest_first=True), None)
    last = 0 if newest is None else entry_of(key, newest).created_at
    return {"session": key, "records": store.count(key), "last": last}


@log.command()
@_log
@_session
@click.option("--last", type=click.IntRange(0), help="Only the last so many.")
@click.option("--effective", "counting", is_flag=True, help="Apply retractions.")
@_json
def show(
    address: str, session: str, *, last: int | None, counting: bool, as_json: bool
) -> None:
    """Show the records of a session."""
    with _opened(address) as store, SessionLog(store, session) as opened:
        _known(store, session)
        found = opened.entries(limit=last, newest_first=last is not None)
        entries = list(found)[:: -1 if last is not None else 1]
    if counting:
        kept = {id(record) for record in effective(e.record for e in entries)}
        entries = [entry for entry in entries if id(entry.record) in kept]
    if as_json:
        for entry in entries:
            click.echo(_line(entry))
        return
    table = _table("seq", "time", "what", "text", right=["seq"])
    for entry in entries:
        table.add_row(*_cells(entry))
    out = console()
    out.print(table)
    out.print(counted(len(entries), "record"), style="dim")


def _line(entry: Entry) -> str:
    facts = {"seq": entry.seq, "id": entry.id, "created_at": entry.created_at}
    return f'{json.dumps(facts)[:-1]}, "record": {to_json(entry.record)}}}'


def _cells(entry: Entry) -> tuple[str, str, str, str]:
    row = SessionRecordRow.of(entry.record, id=entry.id)
    what = row.role or row.record_type
    return str(entry.seq), _time(row.created_at), cut(what, 16), cut(_text(entry), 200)


def _text(entry: Entry) -> str:
    record = entry.record
    if not isinstance(record, Conversation):
        return " · ".join(filter(None, titles_of(record)))
    content = record.message.content
    if isinstance(content, TextContent):
        return content.content
    if isinstance(content, ThinkingContent):
        return f"({content.thinking})"
    if isinstance(content, ToolCall):
        return f"{content.name} {json.dumps(content.plain_arguments())}"
    if isinstance(content, ImageContent):
        if content.handle is not None:
            return "<an image in a store>"
        return f"<{counted(len(content.b64), 'character')} of an image>"
    return f"<{content.dimensions} dimensions>"


@log.command()
@_log
@_session
@click.option("--since", type=click.IntRange(0), help="Begin behind this place.")
@click.option("--timeout", type=float, help="End after so many seconds of silence.")
@_json
def tail(
    address: str,
    session: str,
    *,
    since: int | None,
    timeout: float | None,
    as_json: bool,
) -> None:
    """Follow a session while it is written, until Ctrl-C."""
    with _opened(address) as store:
        for entry in follow(store, session, since=since, timeout=timeout):
            line = _line(entry) if as_json else "  ".join(_cells(entry))
            click.echo(line)


@log.command()
@_log
@click.argument("session", required=False)
@_json
def stats(address: str, session: str | None, *, as_json: bool) -> None:
    """Count records and tokens; each turn's once."""
    with _opened(address) as store:
        if session is not None:
            _known(store, session)
        keys = list(store.keys()) if session is None else [session]
        found = [_counts(store, key) for key in keys]
    if as_json:
        click.echo(json.dumps(found))
        return
    numbers = ("records", "turns", "input tokens", "output tokens")
    table = _table("session", *numbers, right=numbers)
    for facts in found:
        cells = [f"{facts[name.replace(' ', '_')]:,}" for name in numbers]
        table.add_row(cut(facts["session"], _NARROW), *cells)
    out = console()
    out.print(table)
    kinds: Counter[str] = Counter()
    for facts in found:
        kinds.update(facts["kinds"])
    told = ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common())
    out.print(told, style="dim")


def _counts(store: DocumentStore, key: str) -> dict[str, Any]:
    kinds: Counter[str] = Counter()

    def rows() -> Iterator[SessionRecordRow]:
        documents = _watched(store.scan(key), "counting", store.count(key))
        for document in documents:
            row = SessionRecordRow.of(entry_of(key, document).record)
            kinds[row.record_type] += 1
            yield row

    turns = list(turn_tokens(rows()))
    return {
        "session": key,
        "records": kinds.total(),
        "turns": len(turns),
        "input_tokens": sum(got for got, _ in turns),
        "output_tokens": sum(gave for _, gave in turns),
        "kinds": dict(kinds.most_common()),
    }


# Out and in


@log.command()
@_log
@click.argument("target")
@click.option("--session", "chosen", multiple=True, help="Only this one; repeatable.")
@click.option(
    "--partition-by",
    type=click.Choice(["session", "date"]),
    multiple=True,
    default=["session"],
    show_default=True,
    help="What makes the folders of Parquet files; repeatable.",
)
@dask_option
def export(
    address: str,
    target: str,
    *,
    chosen: tuple[str, ...],
    partition_by: tuple[str, ...],
    dask: str | None,
) -> None:
    """Write records to TARGET.

    A name that ends in .jsonl, or - for the standard output, gets one record on each
    line. Any other is a folder, or a URL that fsspec knows, for Parquet files. A
    cluster works at several sessions at once; its processes open LOG and TARGET.
    """
    with _opened(address) as store:
        for session in chosen:
            _known(store, session)
        keys = chosen or tuple(store.keys())
        total = sum(store.count(key) for key in keys)
        here = dask is None or not keys
        done = _export_here(store, keys, target, total, partition_by) if here else None
    if dask is not None and not here:
        done = _export_there(address, keys, target, dask, partition_by)
    if done is None:
        return
    rows, files = counted(done.rows, "record"), counted(len(done.files), "file")
    click.echo(f"{rows} in {files}")


def _export_here(
    store: DocumentStore,
    keys: Sequence[str],
    target: str,
    total: int,
    partition_by: tuple[str, ...],
) -> Exported | None:
    found = _watched(entries(store, keys), "exporting", total)
    if not _is_lines(target):
        return write_parquet(found, target, partition_by=partition_by)
    with _lines_to(target) as out:
        for entry in found:
            out.write(f"{to_json(entry.record)}\n".encode())
    return None


def _export_there(
    address: str,
    keys: Sequence[str],
    target: str,
    dask: str,
    partition_by: tuple[str, ...],
) -> Exported | None:
    with watched(len(keys), "exporting") as progress:
        if not _is_lines(target):
            return export_parquet(
                address,
                keys,
                target,
                partition_by=partition_by,
                cluster=dask,
                progress=progress,
            )
        beside = None if target == "-" else Path(target).resolve().parent
        with _lines_to(target) as out:
            export_lines(
                address, keys, out, beside=beside, cluster=dask, progress=progress
            )
    return None


def _is_lines(target: str) -> bool:
    return target == "-" or target.endswith(".jsonl")


@contextmanager
def _lines_to(target: str) -> Generator[BinaryIO]:
    """Give what lines are written to: a file is replaced as a whole or not at all."""
    if target == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    try:
        with replacing(Path(target)) as out:
            yield out
    except GraphCodecError:
        # The log's own errors may be OSErrors, too.
        raise
    except OSError as exc:
        raise click.FileError(target, exc.strerror) from exc


@log.command("import")
@_log
@_session
@click.argument("file", type=click.File("r", encoding="utf-8"))
def import_(address: str, session: str, file: Iterable[str]) -> None:
    """Append the records of FILE, one on each line, to a session.

    To import a file again changes nothing.
    """
    count = new = 0
    with _opened(address, make=True) as store:
        batch: list[Any] = []
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            record, name = _read(line.rstrip("\r\n"), number)
            batch.append(document_of(record, name=name))
            count += 1
            if len(batch) == _BATCH:
                new += _new(store.append(session, batch))
                batch = []
        new += _new(store.append(session, batch))
    click.echo(f"{counted(count, 'record')}, {new:,} of them new")


def _read(line: str, number: int) -> tuple[SessionRecord, str]:
    name = derived_id(f"{number}:{line}".encode())
    try:
        return from_json(line, id=name), name
    except JsonError as exc:
        exc.message = f"line {number}: {exc.message}"
        raise


def _new(numbers: Iterable[int | None]) -> int:
    return sum(number is not None for number in numbers)


@log.command()
@_log
@click.argument("session", required=False)
@_json
def verify(address: str, session: str | None, *, as_json: bool) -> int:
    """Read every record; the exit code is 1 if one can't be read."""
    with _opened(address) as store:
        keys = list(store.keys()) if session is None else [session]
        reports = [_verified(store, key) for key in keys]
    broken = sum(len(report["broken"]) for report in reports)
    if as_json:
        click.echo(json.dumps(reports))
        return 1 if broken else 0
    for report in reports:
        for place, reason in report["broken"].items():
            click.echo(f"{cut(report['session'], _LONGEST)} at {place}: {reason}")
    records = sum(report["records"] for report in reports)
    unknown = sum(report["unknown"] for report in reports)
    lost = sum(report["orphans"] for report in reports)
    results = counted(lost, "tool result")
    odd = f"{broken:,} broken, {unknown:,} of unknown kinds, {results} without a call"
    click.echo(f"{counted(records, 'record')}, {odd}")
    return 1 if broken else 0


def _verified(store: DocumentStore, key: str) -> dict[str, Any]:
    broken: dict[int, str] = {}
    count = unknown = 0

    def readable() -> Iterator[SessionRecord]:
        nonlocal count, unknown
        for document in _watched(store.scan(key), "verifying", store.count(key)):
            count += 1
            try:
                record = entry_of(key, document).record
            except JsonError as exc:
                broken[document.seq] = f"{exc.message} (at {exc.path or '$'})"
                continue
            unknown += isinstance(record, UnknownRecord)
            yield record

    lost = orphans(readable())
    return {
        "session": key,
        "records": count,
        "broken": broken,
        "unknown": unknown,
        "orphans": len(lost),
    }
