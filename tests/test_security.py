"""Every promise of docs/security.md names a test, and every named test is there."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = (ROOT / "docs/security.md").read_text(encoding="utf-8")
NAMED: Final = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)))

_CVE: Final = r"CVE-\d{4}-\d{4,7}"
_GHSA: Final = r"GHSA(?:-[23456789cfghjmpqrvwx]{4}){3}"


@lru_cache
def functions_in(path: str) -> frozenset[str]:
    """Return the names of the tests that a file has."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(n.name for n in ast.walk(tree) if isinstance(n, functions))


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_named_test_is_there(path: str, name: str) -> None:
    """A test that the page names exists under that name."""
    assert (ROOT / path).is_file()
    if name:
        assert name in functions_in(path)


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table below a heading, without its first two lines."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.parametrize("row", rows("What is promised"), ids=lambda row: row[0][:40])
def test_every_promise_has_a_test(row: list[str]) -> None:
    """No promise stands without a test."""
    assert "`tests/" in row[-1]


@pytest.mark.parametrize(
    "row", rows("What happened elsewhere"), ids=lambda r: r[0][:40]
)
def test_every_advisory_has_a_number_and_a_test(row: list[str]) -> None:
    """Each kind of advisory names a public one, and a test."""
    assert re.search(rf"{_CVE}|{_GHSA}|CWE-\d+", row[1])
    assert "`tests/" in row[-1]


def test_numbers_are_well_formed() -> None:
    """Nothing looks like the number of an advisory and is none."""
    found = re.findall(r"\b(?:CVE|GHSA)-[\w-]+", PAGE)

    assert found
    assert all(re.fullmatch(rf"{_CVE}|{_GHSA}", number) for number in found)
