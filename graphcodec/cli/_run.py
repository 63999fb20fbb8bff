"""``graphcodec run``: what agent tests recorded, shown, compared, brought together."""

from __future__ import annotations

import json
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import click
from rich import box
from rich.table import Table
from rich.text import Text

from graphcodec.cli import _diff
from graphcodec.cli._files import each, write_bytes
from graphcodec.cli._text import console, counted, cut
from graphcodec.errors import GraphCodecError
from graphcodec.runs import (
    TABLES,
    EventFile,
    ExampleData,
    JsonFile,
    MessageData,
    RunData,
    diff_runs,
    merge_runs,
    report_html,
    to_tables,
)
from graphcodec.runs._environment import environment_facts, environment_moves
from graphcodec.runs._files import is_event_file, json_of
from graphcodec.runs._packing import packed
from graphcodec.runs._readable import readable_map, readable_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

_RUN: Final = click.Path(exists=True, dir_okay=False)
_OUT: Final = click.Path(dir_okay=False, allow_dash=True)
_MILLISECONDS: Final = 1000
_STYLES: Final = {
    "passed": "green",
    "failed": "bold red",
    "pending": "yellow",
    "aborted": "magenta",
    "running": "blue",
}


@click.group(short_help="Look at runs of agent tests.")
def run() -> None:
    """Look at runs of agent tests, as `pytest --graphcodec-run` records them.

    A run is a JSON file, or the file of its events, whose name ends in ".events" or
    ".jsonl". Either may be compressed, as ".gz" or ".zst" at its end says.
    """


def _read(file: str) -> RunData:
    path = Path(file)
    try:
        if is_event_file(path):
            return EventFile.rebuild(path)
        return JsonFile.read(path)
    except GraphCodecError as exc:
        if path.name not in exc.message:
            exc.message = f"{path.name}: {exc.message}"
        raise


# show


@run.command()
@click.argument("file", type=_RUN)
@click.option("--example", metavar="TEXT", help="Show what was said in these examples.")
@click.option(
    "--status", multiple=True, type=click.Choice(list(_STYLES)), help="Only these."
)
@click.option("--groups", is_flag=True, help="Show files and classes instead.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON for a script.")
def show(
    file: str,
    example: str | None,
    status: tuple[str, ...],
    *,
    groups: bool,
    as_json: bool,
) -> None:
    """Show a run: its figures, its examples, and what was said in them.

    With --example, the conversations of all examples whose id holds the TEXT.
    """
    found = _read(file)
    chosen = [
        one
        for one in found.examples.values()
        if (not status or one.status in status) and (example or "") in one.id
    ]
    if as_json:
        facts = {
            **found.to_dict(),
            "summary": attrs.asdict(found.summary()),
            "examples": {one.id: one.to_dict() for one in chosen},
        }
        click.echo(json.dumps(facts))
        return
    out = console()
    _summary(out, found)
    if groups:
        out.print(_groups(found, chosen))
    elif example is None:
        out.print(_table(chosen))
    else:
        for one in chosen:
            _conversation(out, one)
    if not chosen:
        out.print("no such example", style="yellow")


def _summary(out: Console, found: RunData) -> None:
    counts = found.summary()
    head = Text(f"run {cut(found.run_id, 100)}", "bold")
    head.append(f"  {counted(counts.example_count, 'example')}", "not bold")
    for name in ("passed", "failed", "aborted", "pending"):
        count: int = getattr(counts, f"{name}_count")
        if count:
            head.append(f"  {count:,} {name}", f"not bold {_STYLES[name]}")
    out.print(head)
    facts = [
        f"{found.started_at:%Y-%m-%d %H:%M:%S}" if found.started_at else "",
        _duration(counts.total_duration_ms),
        "" if found.finished_at else _unfinished(found),
        f"seed {found.seed}" if found.seed is not None else "",
        f"commit {cut(found.git_commit, 10)}" if found.git_commit else "",
    ]
    out.print("  ".join(filter(None, facts)), style="dim")
    for line in _origins(found):
        out.print(line, style="dim")
    for anomaly in found.anomalies:
        out.print(f"odd: {cut(anomaly, 200)}", style="yellow")


def _unfinished(found: RunData) -> str:
    planned = found.suite.example_count if found.suite else None
    many = f", {planned:,} examples were planned" if planned else ""
    return f"never finished{many}"


def _origins(found: RunData) -> Iterator[str]:
    """Yield what the run is called, where it comes from, and where it ran."""
    facts = [
        f"part of {cut(found.parent_run_id, 100)}" if found.parent_run_id else "",
        f"tags {cut(', '.join(found.tags), 200)}" if found.tags else "",
    ]
    if line := "  ".join(filter(None, facts)):
        yield line
    if found.environment:
        facts = [cut(fact, 100) for fact in environment_facts(found.environment)]
        yield ", ".join(facts)


def _duration(milliseconds: int | None) -> str:
    if milliseconds is None:
        return ""
    seconds = milliseconds / _MILLISECONDS
    return f"{seconds:.1f} s" if seconds >= 1 else f"{milliseconds} ms"


def _status(one: ExampleData) -> Text:
    return Text(cut(one.status, 20), _STYLES.get(one.status, ""))


def _table(examples: Sequence[ExampleData]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("status", no_wrap=True)
    table.add_column("example", overflow="fold", ratio=1)
    table.add_column("turns", justify="right")
    table.add_column("time", justify="right", no_wrap=True)
    for one in examples:
        name = Text(cut(one.id, 200))
        failure = one.exception
        if failure is not None and failure.message:
            name.append(f"\n{cut(failure.message, 120)}", "dim")
        turns = one.conversation.turns if one.conversation else ()
        status = _status(one)
        table.add_row(status, name, str(len(turns)), _duration(one.duration_ms))
    return table


def _groups(found: RunData, examples: Sequence[ExampleData]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("group", overflow="fold", ratio=1)
    for name in ("examples", "passed", "failed", "time"):
        table.add_column(name, justify="right", no_wrap=True)
    for group in found.groups.values():
        within = [one for one in examples if one.metadata.get("group") == group.id]
        if not within:
            continue
        statuses = Counter(one.status for one in within)
        bad = statuses["failed"] + statuses["aborted"]
        table.add_row(
            cut(group.id, 200),
            str(len(within)),
            str(statuses["passed"]),
            Text(str(bad), _STYLES["failed"] if bad else ""),
            _duration(sum(one.duration_ms or 0 for one in within)),
        )
    return table


def _conversation(out: Console, one: ExampleData) -> None:
    out.print()
    title = _status(one)
    out.print(title.append(f"  {cut(one.id, 300)}", "not bold default"))
    for line in _lines(one):
        out.print(line, soft_wrap=False)


def _lines(one: ExampleData) -> Iterator[Text]:
    turns = one.conversation.turns if one.conversation else ()
    for turn in turns:
        topic = f"  {cut(turn.topic, 100)}" if turn.topic else ""
        yield Text(f"  turn {turn.number}{topic}", "dim")
        if turn.user_message:
            yield _said(turn.user_message, "cyan")
        for call in turn.tool_calls:
            text = Text(f"    {cut(call.name, 100)} ", "yellow")
            text.append(cut(_shown(call.arguments), 300), "dim")
            answer = f"✗ {call.error}" if call.error else _shown(call.result)
            yield text.append(f" → {cut(answer, 300)}")
        if turn.agent_response:
            yield _said(turn.agent_response, "green")
    for verdict in one.evaluations:
        mark, style = ("✓", "green") if verdict.passed else ("✗", "red")
        text = Text(f"  {mark} {cut(verdict.name, 200)}", style)
        yield text.append(f"  {cut(verdict.reasoning or '', 200)}", "dim")
    if one.exception is not None:
        text = Text(f"  {cut(one.exception.class_name, 200)}: ", "bold red")
        yield text.append(cut(one.exception.message or "", 2000), "not bold")


def _shown(value: object) -> str:
    return json.dumps(readable_value(value), ensure_ascii=False)


def _said(message: MessageData, style: str) -> Text:
    text = Text(f"    {cut(message.role, 20)}  ", f"bold {style}")
    return text.append(cut(message.content, 4000), "not bold default")


# report


@run.command()
@click.argument("file", type=_RUN)
@click.option("-o", "--out", type=_OUT, required=True, help='The page; "-" to stdout.')
@click.option("--title", default="", help="What the page is called.")
def report(file: str, out: str, title: str) -> None:
    """Write a run as one HTML page, which needs nothing but a browser."""
    page = report_html(_read(file), title=title)
    write_bytes(out, page.encode("utf-8", "replace"))


# diff


@run.command(short_help="Show what two runs differ in.")
@click.argument("old", type=_RUN)
@click.argument("new", type=_RUN)
@_diff.most_option
@click.option("--json", "as_json", is_flag=True, help="Write JSON for a script.")
def diff(old: str, new: str, most: int, *, as_json: bool) -> int:
    """Show what two runs differ in: examples, turns, arguments, verdicts.

    Times and workers are left out. Where the environments differ, that is told, but
    is no difference. The exit code is 0 if nothing differs and 1 if something does.
    """
    before, after = _read(old), _read(new)
    found = diff_runs(before, after)
    moves = _moves(before, after)
    changed = environment_moves(
        readable_map(before.environment), readable_map(after.environment)
    )
    if as_json:
        facts = {"statuses": moves, "environment": changed, **_diff.facts(found)}
        click.echo(json.dumps(facts))
        return 1 if found else 0
    if changed:
        console().print(_told(changed), style="dim")
    for name, (one, two) in moves.items():
        text = Text(f"{cut(one, 20)} → ", _STYLES.get(one, ""))
        text.append(cut(two, 20), _STYLES.get(two, "")).append(
            f"  {cut(name, 300)}", "default"
        )
        console().print(text)
    _diff.show(found, most)
    return 1 if found else 0


def _told(changed: dict[str, tuple[object, object]]) -> str:
    """Say in a line what is different about where two runs took place."""
    moves = (
        f"{cut(name.removeprefix('packages.'), 60)} "
        + " → ".join(cut("none" if one is None else str(one), 60) for one in both)
        for name, both in changed.items()
    )
    return f"environment: {', '.join(moves)}"


def _moves(before: RunData, after: RunData) -> dict[str, list[str]]:
    """Return the examples whose status changed, with the old and the new one."""
    return {
        name: [before.examples[name].status, one.status]
        for name, one in after.examples.items()
        if name in before.examples and before.examples[name].status != one.status
    }


# merge


@run.command()
@click.argument("files", nargs=-1, required=True, type=_RUN)
@click.option("-o", "--out", type=_OUT, required=True, help="The run that is made.")
def merge(files: tuple[str, ...], out: str) -> None:
    """Bring several runs together, such as the shards of a suite."""
    merged = merge_runs([_read(file) for file in each(files, "reading")])
    write_bytes(out, packed(json_of(merged), Path(out)))


# export


@run.command(short_help="Write runs as tables: Parquet, CSV or Arrow.")
@click.argument("files", nargs=-1, required=True, type=_RUN)
@click.option(
    "-o",
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="A folder, made if it is not there.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["parquet", "csv", "arrow"]),
    default="parquet",
    show_default=True,
    help="What the tables are written as.",
)
def export(files: tuple[str, ...], out: Path, form: str) -> None:
    """Write runs as tables, a file for each kind of row, for DuckDB, Polars, pandas."""
    tables = to_tables(*(_read(file) for file in each(files, "reading")))
    out.mkdir(parents=True, exist_ok=True)
    for name in TABLES:
        _write(tables[name], out / f"{name}.{form}", form)
    rows = {name: tables[name].num_rows for name in TABLES}
    console().print(", ".join(f"{count:,} {name}" for name, count in rows.items()))


def _write(table: Any, path: Path, form: str) -> None:
    # An extra, and slow to load.
    match form:
        case "parquet":
            import_module("pyarrow.parquet").write_table(table, path)
        case "csv":
            import_module("pyarrow.csv").write_csv(table, path)
        case _:
            import_module("pyarrow.feather").write_feather(table, path)
