"""``graphcodec view``: a document as a page for the browser."""

from __future__ import annotations

import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Final

import click
from attrs import frozen

from graphcodec.cli._files import (
    DOCUMENT,
    STDIN,
    about,
    codec_option,
    read_bytes,
    stores_option,
    title,
    write_bytes,
)
from graphcodec.cli._text import size
from graphcodec.codec import Codec
from graphcodec.errors import GraphCodecError
from graphcodec.readers import Resolver
from graphcodec.view import ViewServer, view_html
from graphcodec.view._binding import store_resolvers

_EMBED_LIMIT: Final = 10_000_000
_HIGHEST_PORT: Final = 65_535


@click.command(short_help="Make a page of a document for the browser.")
@click.argument("file", type=DOCUMENT)
@click.option(
    "-o",
    "--out",
    type=click.Path(dir_okay=False, allow_dash=True),
    help='The page; "-" to stdout. By default, the name of the document with .html, in'
    " this folder.",
)
@click.option("--open", "is_opened", is_flag=True, help="Show it in the browser.")
@click.option("--title", "name", default="", help="What the page is called.")
@click.option(
    "--embed", is_flag=True, help="Open handles now, and put what can be shown in it."
)
@click.option(
    "--embed-limit",
    type=click.IntRange(min=1),
    default=_EMBED_LIMIT,
    show_default=True,
    help="The most bytes that --embed puts in, all handles together.",
)
@click.option(
    "--serve",
    is_flag=True,
    help="Serve it on this machine and open a handle when it is clicked; Ctrl-C stops.",
)
@click.option(
    "--port",
    type=click.IntRange(0, _HIGHEST_PORT),
    default=0,
    help="Where --serve listens; by default, a port that is free.",
)
@click.option(
    "--context", default="", help="What a sealed document is bound to; UTF-8."
)
@codec_option
@stores_option
def view(
    file: str,
    *,
    out: str | None,
    name: str,
    embed_limit: int,
    port: int,
    context: str,
    codec: Codec | None,
    stores: dict[str, str],
    is_opened: bool,
    embed: bool,
    serve: bool,
) -> None:
    """Make a page of a document: a conversation as it was said, all else as a tree.

    FILE holds a document; "-" is the standard input. The page is one file, which loads
    nothing from anywhere. Nothing is decoded, and no handle is opened without --embed
    or --serve.
    """
    if serve and (out is not None or embed):
        msg = "--serve writes no page; leave out --out and --embed"
        raise click.UsageError(msg)
    try:
        options = _Options(
            data=read_bytes(file),
            codec=codec,
            context=context.encode(),
            resolvers=store_resolvers(stores),
            title=name or Path(title(file)).name,
        )
        if serve:
            _serve(options.server(port), is_opened=is_opened)
        else:
            page = options.page(embed_limit if embed else 0)
            _write(page, _target(file, out), is_opened=is_opened)
    except GraphCodecError as exc:
        raise about(exc, file) from exc


@frozen(kw_only=True)
class _Options:
    """What a page is made of, served or not."""

    data: bytes
    codec: Codec | None
    context: bytes
    resolvers: list[Resolver]
    title: str

    def page(self, limit: int) -> str:
        """Return the page, with up to *limit* bytes of handles."""
        return view_html(
            self.data,
            codec=self.codec,
            context=self.context,
            resolvers=self.resolvers,
            title=self.title,
            embed_limit=limit,
        )

    def server(self, port: int) -> ViewServer:
        """Return what serves the page.

        Raises:
            click.UsageError: If the port is taken.
        """
        try:
            return ViewServer(
                self.data,
                codec=self.codec,
                context=self.context,
                resolvers=self.resolvers,
                title=self.title,
                port=port,
            )
        except OSError as exc:
            msg = f"port {port}: {exc.strerror}"
            raise click.UsageError(msg) from exc


def _serve(server: ViewServer, *, is_opened: bool) -> None:
    with server, suppress(KeyboardInterrupt):
        click.echo(server.url)
        if is_opened:
            webbrowser.open(server.url)
        server.wait()


def _target(file: str, out: str | None) -> str:
    """Return where the page goes.

    Raises:
        click.UsageError: If that is not said and is not plain.
    """
    if out is not None:
        return out
    if file == STDIN:
        msg = "say where the page goes: -o page.html"
        raise click.UsageError(msg)
    target = Path(f"{Path(file).name.partition('.')[0] or 'document'}.html")
    if target.exists():
        msg = f"{target} is there already; say where the page goes: -o {target}"
        raise click.UsageError(msg)
    return str(target)


def _write(page: str, target: str, *, is_opened: bool) -> None:
    data = page.encode("utf-8", "replace")
    if target == STDIN and is_opened:
        msg = "--open needs a file: -o page.html"
        raise click.UsageError(msg)
    write_bytes(target, data)
    if target != STDIN:
        click.echo(f"{target}  {size(len(data))}")
    if is_opened:
        webbrowser.open(Path(target).resolve().as_uri())
