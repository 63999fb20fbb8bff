"""``graphcodec validate``: everything that is wrong with documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click
from rich.table import Table
from rich.text import Text

from graphcodec._documents._validating import Report
from graphcodec._documents._validating import validate as examine
from graphcodec.cli._files import (
    DOCUMENT,
    busy,
    codec_option,
    each,
    once,
    read_bytes,
    title,
)
from graphcodec.cli._text import console, counted, cut, size

if TYPE_CHECKING:
    from rich.console import Console

    from graphcodec._documents._findings import Finding
    from graphcodec.codec import Codec

_FORMATS = {"json": "JSON", "msgpack": "MessagePack"}
_LONGEST = 400


@click.command()
@click.argument("files", nargs=-1, required=True, type=DOCUMENT, metavar="FILE...")
@codec_option
@click.option(
    "--allow-unknown",
    is_flag=True,
    help="Take unknown tags and newer versions for warnings.",
)
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="How many findings of a file to stop at.",
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON for a script.")
def validate(
    files: tuple[str, ...],
    codec: Codec | None,
    most: int,
    *,
    allow_unknown: bool,
    as_json: bool,
) -> int:
    """Find everything that is wrong with documents.

    Each FILE holds a document, compressed or not; "-" is the standard input. The exit
    code is 1 if there are errors; warnings alone are none. Without --codec only the
    built-in classes are known, and handles and the names of handlers are taken for
    good.
    """
    once(files)
    reports: list[tuple[str, Report]] = []
    for file in each(files, "validating"):
        data = read_bytes(file)
        with busy([data] if len(files) == 1 else [], "validating"):
            found = examine(data, codec, allow_unknown=allow_unknown, most=most)
        reports.append((file, found))
    if as_json:
        click.echo(json.dumps(_facts(reports)))
    else:
        _show(reports)
    return 1 if any(report.errors for _, report in reports) else 0


def _facts(reports: list[tuple[str, Report]]) -> dict[str, Any]:
    files = [
        {
            "file": title(file),
            **attrs.asdict(report),
            "errors": report.errors,
            "warnings": report.warnings,
        }
        for file, report in reports
    ]
    errors = sum(report.errors for _, report in reports)
    warnings = sum(report.warnings for _, report in reports)
    return {"files": files, "errors": errors, "warnings": warnings}


def _show(reports: list[tuple[str, Report]]) -> None:
    out = console()
    for number, (file, report) in enumerate(reports):
        if number and (report.findings or reports[number - 1][1].findings):
            out.print()
        _head(out, title(file), report)
        if report.findings:
            out.print(_table(report.findings))
        if report.more:
            out.print("… there may be more; --most shows them", style="dim")


def _head(out: Console, name: str, report: Report) -> None:
    facts = [_FORMATS.get(report.format, "unreadable"), *report.layers]
    if report.format:
        facts.append(counted(report.objects, "object"))
    facts.append(size(report.bytes))
    text = Text(cut(Path(name).name, out.width // 2), "bold")
    text.append(f"  {' · '.join(facts)}", "dim")
    if report.findings:
        counts = [
            counted(count, noun)
            for count, noun in ((report.errors, "error"), (report.warnings, "warning"))
            if count
        ]
        text.append(f"  {', '.join(counts)}", "red" if report.errors else "yellow")
    else:
        text.append("  valid", "green")
    out.print(text)


def _table(findings: tuple[Finding, ...]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold", ratio=2)
    table.add_column(overflow="fold", ratio=3)
    table.expand = True
    for finding in findings:
        style = "red" if finding.severity == "error" else "yellow"
        where = [cut(finding.path, _LONGEST)] if finding.path else []
        if finding.offset is not None:
            where.append(f"byte {finding.offset:,}")
        what = Text(cut(finding.message, _LONGEST))
        if finding.hint:
            what.append(f"; {cut(finding.hint, _LONGEST)}", "dim")
        table.add_row(
            Text(finding.severity, style), Text("\n".join(where), "cyan"), what
        )
    return table
