"""Makes the pictures of the documentation anew: ``python -m tests.pictures``.

What is on a terminal is drawn by rich, as SVG; the page by a browser without a window.
"""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import chdir
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from rich.console import Console
from rich.terminal_theme import MONOKAI

from graphcodec.cli import main
from graphcodec.view import ViewServer
from graphcodec_resolvers import FsspecResolver
from tests import browser

IMAGES: Final = Path(__file__).parents[1] / "docs" / "images"
_WIDTH: Final = 84
_LINES: Final = 46


def drawn(args: list[str], module: str, title: str, lines: int = _LINES) -> str:
    """Return what a command shows, as a drawing.

    Args:
        args: The command.
        module: The module that makes its console.
        title: What stands above it.
        lines: How many lines to show at most.
    """
    with Path(os.devnull).open("w") as nowhere:
        out = Console(
            record=True,
            width=_WIDTH,
            file=nowhere,
            force_terminal=True,
            color_system="truecolor",
            markup=False,
            highlight=False,
            emoji=False,
            legacy_windows=False,
        )
        with patch.object(import_module(module), "console", lambda: out):
            if code := main(args):
                msg = f"{title} ended with {code}"
                raise RuntimeError(msg)
    buffer: Any = out._record_buffer  # pyright: ignore[reportPrivateUsage]
    del buffer[_end(buffer, lines) :]
    svg = out.export_svg(title=title, theme=MONOKAI, unique_id="terminal")
    # No font is fetched: the drawing is shown as it is, wherever it is shown.
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


def _end(buffer: list[Any], lines: int) -> int:
    count = 0
    for index, segment in enumerate(buffer):
        count += segment.text.count("\n")
        if count >= lines:
            return index + 1
    return len(buffer)


def photographed(document: bytes, store: Path, target: Path) -> None:
    """Make a picture of the page of a document.

    Args:
        document: The document.
        store: Where its media are.
        target: Where the picture goes.
    """
    resolvers = [FsspecResolver({"demo": str(store)})]
    with (
        ViewServer(document, resolvers=resolvers, title="conversation.json") as server,
        tempfile.TemporaryDirectory() as cache,
        browser.opened(Path(cache)) as chromium,
    ):
        page = chromium.new_page(viewport={"width": 900, "height": 900})
        page.goto(server.url)
        page.wait_for_selector("body[data-ready]")
        page.locator("details.call summary").first.click()
        for _ in range(2):
            page.locator("button:text-is('Open')").first.click()
        browser.until(page, "document.querySelector('img')?.naturalWidth > 0")
        page.locator(".artifact pre").wait_for()
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=target)


def remake() -> None:
    """Make all pictures."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        demo = ["demo", "--keep", "kept"]
        drawing = drawn(demo, "graphcodec.cli._demo", "graphcodec demo")
        (IMAGES / "demo.svg").write_text(drawing)
        inspect = ["inspect", "kept/conversation.json"]
        title = f"graphcodec {' '.join(inspect)}"
        drawing = drawn(inspect, "graphcodec.cli._inspect", title)
        (IMAGES / "inspect.svg").write_text(drawing)
        document = Path("kept/conversation.json").read_bytes()
        photographed(document, Path("kept/store"), IMAGES / "view.png")


if __name__ == "__main__":
    remake()
