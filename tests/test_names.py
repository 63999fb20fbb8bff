"""The names that ``docs/names.md`` says are here are here."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

_PAGE = Path(__file__).parents[1] / "docs" / "names.md"
_SECTIONS = {
    "The encoding of the ADK": ("graphcodec", "graphcodec_resolvers"),
    "The session logs of `foundation_ai`": ("graphcodec.log", "graphcodec"),
    "The events of `rspec-agents`": ("graphcodec.runs",),
}
_NAME = re.compile(r"`([A-Za-z_][\w.]*)(?:\(.*?\))?`")
# Methods and builtins that the page mentions without their class.
_LOOSE = {
    "__graphcodec_encode__",
    "__graphcodec_decode__",
    "datetime",
    "dict",
    "int",
}


def _rows() -> list[tuple[str, str]]:
    section, rows = "", list[tuple[str, str]]()
    for line in _PAGE.read_text("utf-8").splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif line.startswith("| ") and not line.startswith("| there"):
            there, here, _ = (cell.strip() for cell in line.strip("|").split(" | ", 2))
            names = _NAME.findall(there if here.startswith("the same") else here)
            rows += [(section, name) for name in names]
    return rows


def _found(name: str, modules: tuple[str, ...]) -> bool:
    for module in modules:
        target: object = importlib.import_module(module)
        for part in name.split("."):
            target = getattr(target, part, None)
        if target is not None:
            return True
    return False


@pytest.mark.parametrize(("section", "name"), _rows())
def test_name_is_here(section: str, name: str) -> None:
    """Each can be imported from where its section says."""
    assert name in _LOOSE or _found(name, _SECTIONS[section])


def test_page_has_its_names() -> None:
    """The rows were understood: a page that is laid out anew fails here."""
    assert {section for section, _ in _rows()} == set(_SECTIONS)
    assert len(_rows()) > 90
