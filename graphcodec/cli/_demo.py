"""``graphcodec demo``: a chat, through another process and back."""

from __future__ import annotations

import json
import tempfile
from contextlib import contextmanager, nullcontext
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import click
from rich import box
from rich.table import Table
from rich.text import Text

from graphcodec.cli._redis import connected
from graphcodec.cli._text import console, counted, cut, size, tallied
from graphcodec.cli._trip import Cached, Trip, travel
from graphcodec.errors import InvalidValueError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from contextlib import AbstractContextManager

    from redis import Redis
    from rich.console import Console

_EXAMPLE: Final = "example_chat.json"
_DOCUMENT: Final = "conversation.json"
_SHOWN: Final = (
    "Conversation",
    "Message",
    "ToolCall",
    "Media",
    "SpooledArtifact",
    "Identity",
)


@click.command()
@click.option(
    "--input",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A chat in the OpenAI format, instead of the example.",
)
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    help="A folder in which the document and the store remain.",
)
@click.option(
    "--store",
    metavar="URL",
    help="A folder or URL, such as s3://bucket/demo, for what is stored aside.",
)
@click.option("--redis", metavar="URL", help="A Redis in which each turn is saved.")
@click.option("--json", "as_json", is_flag=True, help="Write JSON for a script.")
def demo(
    file: Path | None,
    keep: Path | None,
    store: str | None,
    redis: str | None,
    *,
    as_json: bool,
) -> None:
    """Send a chat through another process and show what became of it.

    The chat becomes a Conversation, its media and artifacts go to a store, the document
    goes to a new process, which reads a line of an artifact, and comes back.
    Credentials for a store are taken from where its library looks for them.
    """
    name, data = _input(file)
    chat = _parsed(name, data)
    with _folder(keep) as folder, _client(redis) as client:
        trip = travel(chat, store or str(folder / "store"), client)
        if keep is not None:
            (folder / _DOCUMENT).write_bytes(trip.document)
        if as_json:
            click.echo(json.dumps(_facts(trip, name, len(data), keep)))
        else:
            _show(console(), trip, f"{name}, {size(len(data))} of JSON", keep)
    if not trip.ok:
        click.get_current_context().exit(1)


def _input(file: Path | None) -> tuple[str, bytes]:
    if file is not None:
        return file.name, file.read_bytes()
    example = resources.files("graphcodec.cli").joinpath(_EXAMPLE)
    return _EXAMPLE, example.read_bytes()


def _parsed(name: str, data: bytes) -> object:
    """Return the chat that *data* holds.

    Raises:
        InvalidValueError: If it is no JSON.
    """
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as exc:
        raise InvalidValueError(f"{name} is no JSON: {exc}") from exc


@contextmanager
def _folder(keep: Path | None) -> Generator[Path]:
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="graphcodec-") as name:
            yield Path(name)
        return
    try:
        keep.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise click.UsageError(f"can't make {keep}: {exc.strerror}") from exc
    yield keep


def _client(url: str | None) -> AbstractContextManager[Redis | None]:
    return nullcontext() if url is None else connected(url)


# For scripts


def _facts(trip: Trip, name: str, count: int, keep: Path | None) -> dict[str, Any]:
    facts = attrs.asdict(trip, filter=lambda attribute, _: attribute.name != "document")
    kept = None if keep is None else str(keep / _DOCUMENT)
    return {"input": {"name": name, "bytes": count}, **facts, "kept": kept}


# For people


def _show(out: Console, trip: Trip, source: str, keep: Path | None) -> None:
    table = Table(
        box=box.ROUNDED, show_header=False, show_lines=True, border_style="dim"
    )
    table.title = Text("a conversation, through another process and back", "bold")
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in _rows(trip, source):
        table.add_row(label, text)
    out.print(table)
    out.print(f"{trip.seconds:.1f} seconds", style="dim")
    if keep is not None:
        out.print(f"graphcodec inspect {keep / _DOCUMENT}", soft_wrap=True)


def _rows(trip: Trip, source: str) -> Iterator[tuple[str, Text]]:
    sent, who, worker = trip.sent, trip.identities, trip.worker
    shown: dict[str, int] = {tag: sent.tags[tag] for tag in _SHOWN if tag in sent.tags}
    yield "input", Text(source)
    yield "sent", Text(tallied(shown))
    stored = f"{size(sent.stored_bytes)} stored aside under their hash"
    yield "bytes", Text(f"{size(sent.document_bytes)} in the document, {stored}")
    yield "worker", _worker_text(worker)
    opened = f"{worker['opened_by_decode']} opened by decoding"
    read = f"{worker['opened']} when it was read from"
    yield "handles", Text(f"{sent.handles} sent, {opened}, {read}")
    yield "came back", _back_text(trip)
    references = counted(who.references, "reference")
    there = f"{references} → {counted(who.objects, 'object')} when sent"
    yield "identities", Text(f"{there}, {who.back} when back")
    if trip.cached is not None:
        yield "redis", _cached_text(trip.cached)
    if trip.refusal is not None:
        refused = Text("a TurnGate in the stash, because it is live:\n")
        refused.append(f"{trip.refusal.error}: ", "bold yellow")
        yield "refused", refused.append(trip.refusal.text, "yellow")


def _worker_text(worker: dict[str, Any]) -> Text:
    text = Text(f"process {worker['pid']}, which shares nothing with this one")
    quote = worker["quote"]
    if quote is not None:
        errors = counted(quote["errors"], "line")
        text.append(
            f"\nIn {size(quote['bytes'])} of text it found {errors} with ERROR;"
        )
        text.append(" the last line is\n").append(cut(quote["line"], 120), "green")
    return text


def _cached_text(cached: Cached) -> Text:
    text = Text(f"{counted(cached.turns, 'snapshot')} saved one by one: ")
    whole = size(cached.bytes_whole)
    text.append(f"{size(cached.bytes_sent)} sent; whole documents are {whole}\n")
    good = cached.equal
    mark = "✓ " if good else "✗ not "
    return text.append(f"{mark}all loaded equal", "green" if good else "red")


def _back_text(trip: Trip) -> Text:
    text = Text()
    for name, good in (
        ("equal", trip.back.equal),
        ("the same sharing", trip.back.same_graph),
        ("the chat again, to the letter", trip.back.same_chat),
    ):
        text.append("  " if text else "")
        text.append("✓ " if good else "✗ not ", "green" if good else "red").append(name)
    return text
