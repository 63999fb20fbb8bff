"""``graphcodec doctor``: whether there is still something behind each handle."""

from __future__ import annotations

import json
import sys
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import click
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from graphcodec._documents._survey import Handle, survey
from graphcodec._graphs._handles import examined
from graphcodec.cli._files import (
    DOCUMENT,
    about,
    codec_option,
    read_bytes,
    stores_option,
    title,
)
from graphcodec.cli._text import console, counted, cut, size
from graphcodec.cli._tree import located
from graphcodec.codec import Codec
from graphcodec.errors import GraphCodecError, NoReaderResolverError
from graphcodec.readers import Reader
from graphcodec.view._binding import bound, opened, resolvers_of, store_resolvers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphcodec._graphs._handles import Verdict

_MOST_WRONG: Final = 200
_MOST_RIGHT: Final = 20
_TIMEOUT: Final = 10.0
_STYLES: Final[Mapping[str, str]] = {
    "alive": "green",
    "bound": "green",
    "stale": "yellow",
    "gone": "red",
    "denied": "magenta",
    "failed": "red",
    "unbound": "yellow",
    "malformed": "red",
}


@attrs.frozen(kw_only=True)
class _Diagnosis:
    """What is known about one handle.

    Attributes:
        path: Where in the document it is.
        tag: Its family and scheme.
        where: The alias and key, or the URL without its query.
        state: What became of it.
        detail: What is wrong with it.
        bytes: How many bytes there are, if that is known.
        seconds: How long it took to find out; None if nobody asked.
    """

    path: str
    tag: str
    where: str
    state: str
    detail: str = ""
    bytes: int | None = None
    seconds: float | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing is known to be wrong."""
        return self.state in {"alive", "bound"}


@click.command()
@click.argument("file", type=DOCUMENT)
@codec_option
@stores_option
@click.option("--resolve", is_flag=True, help="Open every handle.")
@click.option("--content", is_flag=True, help="Read everything, and prove the hashes.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=_TIMEOUT,
    show_default=True,
    help="How many seconds one handle may take.",
)
@click.option("--json", "as_json", is_flag=True, help="Write JSON for a script.")
def doctor(
    file: str,
    codec: Codec | None,
    stores: dict[str, str],
    timeout: float,
    *,
    resolve: bool,
    content: bool,
    as_json: bool,
) -> int:
    """Tell which handles of a document still lead to their bytes.

    FILE holds a document; "-" is the standard input. Without --resolve nothing is
    opened: the handles are listed, with whether anything here could open them. With it,
    eight at a time are opened and checked against what was pinned, and the exit code is
    1 if one of them is not alive.
    """
    if content and not resolve:
        raise click.UsageError("--content needs --resolve")
    codec = codec or Codec()
    handles = _handles(file, codec)
    resolvers = resolvers_of(codec, store_resolvers(stores))
    readers = [bound(each.tag, each.locator, resolvers) for each in handles]
    if resolve:
        found = _opened(handles, readers, content=content, timeout=timeout)
    else:
        found = [_listed(*pair) for pair in zip(handles, readers, strict=True)]
    if as_json:
        click.echo(json.dumps(_facts(file, found)))
    else:
        _show(file, found)
    return 1 if resolve and not all(each.ok for each in found) else 0


def _handles(file: str, codec: Codec) -> list[Handle]:
    """Return the handles in a document, whatever else is in it.

    Raises:
        UndecodableValueError: If it is none.
    """
    try:
        wire, _ = opened(read_bytes(file), codec)
    except GraphCodecError as exc:
        raise about(exc, file) from exc
    return survey(wire).handles


# What is bound


def _listed(handle: Handle, bound: Reader | GraphCodecError) -> _Diagnosis:
    known = handle.locator.get("size")
    pinned = known if type(known) is int else None
    if isinstance(bound, Reader):
        return _diagnosis(handle, "bound", bytes=pinned)
    if not isinstance(bound, NoReaderResolverError):
        return _diagnosis(handle, "malformed", detail=bound.message, bytes=pinned)
    where = f"; say where it is: --store {bound.alias}=ROOT" if bound.alias else ""
    return _diagnosis(handle, "unbound", detail=bound.message + where, bytes=pinned)


def _diagnosis(handle: Handle, state: str, **facts: Any) -> _Diagnosis:
    return _Diagnosis(
        path=handle.path,
        tag=handle.tag,
        where=located(handle.locator),
        state=state,
        **facts,
    )


# What can be opened


def _opened(
    handles: list[Handle], bound: list[Reader | GraphCodecError], **options: Any
) -> list[_Diagnosis]:
    """Open what is bound, and say of every handle what became of it."""
    readers = [each for each in bound if isinstance(each, Reader)]
    verdicts = iter(_examined(readers, options))
    return [
        _seen(handle, next(verdicts))
        if isinstance(each, Reader)
        else _listed(handle, each)
        for handle, each in zip(handles, bound, strict=True)
    ]


def _examined(readers: list[Reader], options: dict[str, Any]) -> list[Verdict]:
    """Open readers behind a progress bar."""
    bar = Progress(
        "opening",
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    with bar:
        task = bar.add_task("", total=len(readers))

        def progress(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        return examined(readers, progress=progress, **options)


def _seen(handle: Handle, verdict: Verdict) -> _Diagnosis:
    return _diagnosis(
        handle,
        verdict.state,
        detail="" if verdict.state == "alive" else verdict.detail,
        bytes=verdict.bytes,
        seconds=round(verdict.seconds, 4),
    )


# For scripts


def _facts(file: str, found: list[_Diagnosis]) -> dict[str, Any]:
    counts = Counter(each.state for each in found)
    return {
        "file": title(file),
        "handles": [attrs.asdict(each) for each in found],
        "counts": dict(counts),
        "ok": all(each.ok for each in found),
    }


# For people


def _show(file: str, found: list[_Diagnosis]) -> None:
    out = console()
    counts = Counter(each.state for each in found)
    text = Text(cut(Path(title(file)).name, out.width // 2), "bold")
    text.append(f"  {counted(len(found), 'handle')}", "dim")
    for state, style in _STYLES.items():
        if counts[state]:
            text.append(" · ", "dim").append(f"{counts[state]:,} {state}", style)
    out.print(text, no_wrap=True, overflow="ellipsis")
    wrong = [each for each in found if not each.ok]
    _rows(out, wrong, _MOST_WRONG)
    _rows(out, [each for each in found if each.ok], _MOST_RIGHT)


def _rows(out: Console, found: list[_Diagnosis], most: int) -> None:
    if not found:
        return
    table = Table(box=box.SIMPLE_HEAD, expand=True, padding=(0, 1), show_edge=False)
    table.add_column("", no_wrap=True)
    table.add_column("handle", ratio=1, overflow="fold")
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    for each in islice(found, most):
        about = Text(cut(each.where, 200))
        about.append(f"\n{each.tag}  {cut(each.path, 200)}", "dim")
        if each.detail:
            about.append(f"\n{cut(each.detail, 400)}", _STYLES[each.state])
        table.add_row(
            Text(each.state, _STYLES[each.state]),
            about,
            "" if each.bytes is None else size(each.bytes),
            "" if each.seconds is None else f"{each.seconds * 1000:,.0f} ms",
        )
    out.print()
    out.print(table)
    if len(found) > most:
        out.print(f"… {counted(len(found) - most, 'more handle')}", style="dim")
