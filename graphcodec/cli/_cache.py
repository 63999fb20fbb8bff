"""``graphcodec cache``: what is stored of sessions in Redis."""

from __future__ import annotations

import json
from contextlib import contextmanager
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import attrs
import click
from rich import box
from rich.table import Table
from rich.text import Text

from graphcodec.cli._inspect import facts, inspected
from graphcodec.cli._inspect import show as show_document
from graphcodec.cli._redis import connected
from graphcodec.cli._text import console, counted, cut, size
from graphcodec.cli._tree import Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from graphcodec.cache import Change, Freed, Session, TurnCache

_MOST_CHANGES: Final = 200
_LONGEST: Final = 40
_MARKS: Final[Mapping[str, tuple[str, str]]] = {
    "added": ("+", "green"),
    "removed": ("-", "red"),
    "changed": ("~", "yellow"),
}


@click.group(short_help="Look at the snapshots in Redis, and free what no turn needs.")
def cache() -> None:
    """Look at the snapshots of sessions in Redis, and free what is not needed."""


def _where(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say where the cache is."""
    url = click.option(
        "--redis",
        "url",
        required=True,
        envvar="GRAPHCODEC_REDIS",
        show_envvar=True,
        metavar="URL",
        help="The server: redis://host:port/database. A password is better in the"
        " variable, since others see command lines.",
    )
    namespace = click.option(
        "--namespace",
        default="graphcodec",
        show_default=True,
        help="What the keys of the cache begin with.",
    )
    return url(namespace(command))


_json = click.option("--json", "as_json", is_flag=True, help="Write JSON for a script.")


@contextmanager
def _opened(url: str, namespace: str) -> Generator[TurnCache]:
    from graphcodec.cache import TurnCache  # noqa: PLC0415 - not for --help

    with connected(url) as client:
        yield TurnCache(client, namespace=namespace)


# What there is


@cache.command()
@_where
@_json
def ls(url: str, namespace: str, *, as_json: bool) -> None:
    """List the sessions."""
    with _opened(url, namespace) as opened:
        sessions = sorted(opened.sessions(), key=lambda session: session.id)
    if as_json:
        click.echo(json.dumps([attrs.asdict(session) for session in sessions]))
    else:
        _list(sessions)


def _list(sessions: list[Session]) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("session", style="cyan", no_wrap=True, overflow="ellipsis")
    for name in ("turns", "version", "chunks", "size", "passes in"):
        table.add_column(name, justify="right", no_wrap=True)
    for session in sessions:
        passes = "never" if session.ttl is None else _time(session.ttl)
        numbers = (session.turns, session.version, session.chunks)
        cells = [*(f"{number:,}" for number in numbers), size(session.bytes), passes]
        table.add_row(cut(session.id, _LONGEST), *cells)
    total = size(sum(session.bytes for session in sessions))
    out = console()
    if sessions:
        out.print(table)
    out.print(f"{counted(len(sessions), 'session')}, {total}", style="dim")


def _time(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


@cache.command()
@click.argument("session")
@click.argument("turn", type=click.IntRange(min=0), required=False)
@_where
@click.option(
    "--depth",
    type=click.IntRange(min=0),
    default=2,
    show_default=True,
    help="How many levels to unfold.",
)
@_json
def show(
    session: str,
    turn: int | None,
    url: str,
    namespace: str,
    depth: int,
    *,
    as_json: bool,
) -> None:
    """Show a snapshot as a tree, without decoding it.

    TURN is the newest one if it is left out.
    """
    with _opened(url, namespace) as opened:
        document = opened.document(session, turn)
    which = "newest turn" if turn is None else f"turn {turn}"
    found = inspected(f"{session}, {which}", document)
    tree = Tree(found.nodes, depth=depth, binary=found.binary)
    if as_json:
        click.echo(json.dumps(facts(found, tree)))
    else:
        show_document(found, tree)


@cache.command()
@click.argument("session")
@click.argument("old", type=click.IntRange(min=0))
@click.argument("new", type=click.IntRange(min=0))
@_where
@_json
def diff(
    session: str, old: int, new: int, url: str, namespace: str, *, as_json: bool
) -> int:
    """Show where two turns differ, without decoding them.

    The exit code is 0 if nothing differs, and 1 if something does.
    """
    with _opened(url, namespace) as opened:
        changes = opened.diff(session, old, new)
    if as_json:
        click.echo(json.dumps([attrs.asdict(change) for change in changes]))
    else:
        _show_changes(changes)
    return 1 if changes else 0


def _show_changes(changes: tuple[Change, ...]) -> None:
    out = console()
    if not changes:
        out.print("no differences", style="green")
    for change in islice(changes, _MOST_CHANGES):
        mark, style = _MARKS[change.kind]
        line = Text(f"{mark} {cut(change.path, 400)}", style)
        line.truncate(out.width, overflow="ellipsis")
        out.print(line, no_wrap=True, overflow="ignore", crop=False)
    if len(changes) > _MOST_CHANGES:
        out.print(f"… {len(changes) - _MOST_CHANGES:,} more", style="dim")


# What is not needed


@cache.command()
@click.argument("sessions", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All sessions.")
@_where
@_json
def gc(
    sessions: tuple[str, ...],
    url: str,
    namespace: str,
    *,
    everything: bool,
    as_json: bool,
) -> None:
    """Free the chunks that no turn of the SESSIONS needs.

    Safe beside saves. The server does nothing else while it looks at one session.
    """
    if bool(sessions) is everything:
        msg = "name sessions, or give --all"
        raise click.UsageError(msg)
    with _opened(url, namespace) as opened:
        named = [one.id for one in opened.sessions()] if everything else sessions
        freed = {session: opened.gc(session) for session in sorted(named)}
    if as_json:
        told = [{"session": one, **attrs.asdict(what)} for one, what in freed.items()]
        click.echo(json.dumps(told))
    else:
        _show_freed(freed)


def _show_freed(freed: Mapping[str, Freed]) -> None:
    out = console()
    for session, what in freed.items():
        line = Text(cut(session, _LONGEST), "cyan")
        line.append(f"  {counted(what.chunks, 'chunk')}, {size(what.bytes)}")
        out.print(line, no_wrap=True, overflow="ellipsis")
    total = size(sum(what.bytes for what in freed.values()))
    out.print(f"{counted(len(freed), 'session')}, {total} freed", style="dim")
