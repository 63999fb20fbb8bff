"""What the project promises about its own files, names and imports."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import graphcodec
import graphcodec_resolvers
from graphcodec import primitives

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

ROOT = Path(__file__).parents[1]
TOP_LEVEL = {
    "LICENSE",
    "README.md",
    "docs",
    "graphcodec",
    "pyproject.toml",
    "resolvers",
    "tests",
}
SETUP = "python3 -m venv .venv && .venv/bin/pip install "


def command_lines(path: str) -> list[str]:
    """Return the lines of a file that set up an environment and run something."""
    lines = (ROOT / path).read_text().splitlines()
    return [line.strip() for line in lines if line.strip().startswith(SETUP)]


def tracked_files() -> list[str]:
    """Return the files under version control; skip where there is none."""
    try:
        done = subprocess.run(
            ["git", "ls-files", "-z"],  # noqa: S607 - whichever git there is
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return [name for name in done.stdout.split("\0") if name]


def loaded_after(statement: str, *modules: str) -> list[str]:
    """Return which of *modules* a new interpreter has loaded after *statement*."""
    code = f"import sys; {statement}; print(*(set({modules!r}) & sys.modules.keys()))"
    done = subprocess.run(  # noqa: S603 - our own interpreter and text
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    return sorted(done.stdout.split())


# The commands


def test_ci_runs_the_test_command_of_the_readme() -> None:
    """The README's test command stands in .ci/run, to the letter."""
    (tests,) = [line for line in command_lines("README.md") if "pytest" in line]

    assert command_lines(".ci/run") == [tests]


def test_readme_has_two_commands() -> None:
    """One command runs the main job, one runs all tests."""
    demo, tests = command_lines("README.md")

    assert demo.endswith("'.[cli]' && .venv/bin/graphcodec demo")
    assert tests.endswith("'.[dev]' && .venv/bin/python -m pytest")


def test_ci_is_executable() -> None:
    """.ci/run can be called by itself."""
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


# The files


def test_top_level() -> None:
    """The top level holds what it must and nothing else but dot-files."""
    names = {name.split("/")[0] for name in tracked_files()}

    assert {name for name in names if not name.startswith(".")} == TOP_LEVEL


@pytest.mark.parametrize("folder", ["resolvers", "tests"])
def test_no_accidental_package(folder: str) -> None:
    """A file called __init__.py would make a folder claim a generic package name."""
    strays = [
        name
        for name in tracked_files()
        if name.startswith(f"{folder}/") and name.endswith("__init__.py")
    ]

    assert strays == (
        ["resolvers/graphcodec_resolvers/__init__.py"] if folder == "resolvers" else []
    )


@pytest.mark.parametrize("package", ["graphcodec", "resolvers/graphcodec_resolvers"])
def test_packages_are_typed(package: str) -> None:
    """Both packages tell type checkers that they have types."""
    assert (ROOT / package / "py.typed").is_file()


# The names


@pytest.mark.parametrize("package", [graphcodec, graphcodec_resolvers])
def test_every_public_name_is_there(package: ModuleType) -> None:
    """Each name in __all__ can be had, and is listed once."""
    names: list[str] = package.__all__

    assert len(set(names)) == len(names)
    assert [name for name in names if not hasattr(package, name)] == []


@pytest.mark.parametrize("package", [graphcodec, graphcodec_resolvers])
def test_type_checkers_see_what_is_exported(package: ModuleType) -> None:
    """Lazy names are declared for type checkers, neither more nor fewer."""
    declared: set[str] = set()
    for node in ast.walk(ast.parse(inspect.getsource(package))):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            imports = [part for part in node.body if isinstance(part, ast.ImportFrom)]
            declared |= {alias.asname or "" for part in imports for alias in part.names}

    assert declared == set(package.__all__)


@pytest.mark.parametrize("package", [graphcodec, graphcodec_resolvers])
def test_dir_lists_public_names(package: ModuleType) -> None:
    """Completion in a shell offers every public name, loaded or not."""
    assert set(package.__all__) <= set(dir(package))


@pytest.mark.parametrize("package", [graphcodec, graphcodec_resolvers])
def test_unknown_name(package: ModuleType) -> None:
    """A name that is not there is an AttributeError that says so."""
    with pytest.raises(AttributeError, match=f"'{package.__name__}'.*'nothing'"):
        _ = package.nothing


# The imports


def test_import_is_light() -> None:
    """Importing graphcodec loads none of what it needs later."""
    heavy = ("attrs", "cattrs", "msgspec", "fsspec", "httpx", "regex", "click")

    assert loaded_after("import graphcodec", *heavy) == []


def test_primitives_need_no_codec() -> None:
    """A project can hold a Message with attrs alone."""
    loaded = loaded_after(
        "import graphcodec.primitives",
        "attrs",
        "cattrs",
        "msgspec",
        "fsspec",
        "httpx",
        "graphcodec.codec",
    )

    assert loaded == ["attrs"]


def test_codec_needs_no_backend() -> None:
    """Encoding and decoding handles loads no client, only opening one does."""
    statement = (
        "import graphcodec as g, graphcodec_resolvers as r;"
        " g.decode(g.encode(r.HttpReader('https://example.org/a')))"
    )

    assert loaded_after(statement, "fsspec", "httpx", "click", "rich") == []


# The documentation


def pages() -> list[Path]:
    """Return every page that is written in Markdown."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_pages_read_well_unbuilt(page: Path) -> None:
    """What only Sphinx knows would be nothing, or noise, where Markdown is shown."""
    lines = page.read_text().splitlines()

    assert [line for line in lines if "[](" in line or line.startswith(": ")] == []


def told_fields(cell: str) -> set[str]:
    """Return the names that stand in backticks in a cell of a table."""
    return set(re.findall(r"`(\w+)`", cell))


def test_fields_of_the_primitives_are_told() -> None:
    """The table names each field of each primitive, and which must be given."""
    text = (ROOT / "docs" / "primitives.md").read_text().partition("## Fields\n")[2]
    rows = re.findall(r"^\| `(\w+)` \|(.*)\|(.*)\|$", text, re.MULTILINE)
    told = {name: (told_fields(must), told_fields(may)) for name, must, may in rows}
    actual: dict[str, tuple[set[str], set[str]]] = {}
    for name in set(primitives.__all__) - {"ModalityHazard", "TrustTier"}:
        given = inspect.signature(getattr(primitives, name)).parameters
        must = {key for key, field in given.items() if field.default is field.empty}
        actual[name] = must, set(given) - must

    assert told == actual


# The docstrings


def public_modules() -> Iterator[ModuleType]:
    """Yield every module of both packages."""
    for package in (graphcodec, graphcodec_resolvers):
        yield package
        prefix = f"{package.__name__}."
        for found in pkgutil.walk_packages(package.__path__, prefix):
            if not found.name.endswith("__main__"):
                yield importlib.import_module(found.name)


def undocumented(module: ModuleType) -> Iterator[str]:
    """Yield the public classes, functions and methods that have no docstring."""
    for name, value in vars(module).items():
        home = getattr(value, "__module__", None) or ""
        if name.startswith("_") or not home.startswith("graphcodec"):
            continue
        if inspect.isfunction(value) or inspect.isclass(value):
            where = f"{module.__name__}.{name}"
            if not inspect.getdoc(value):
                yield where
            if inspect.isclass(value):
                yield from undocumented_methods(value, where)


def undocumented_methods(cls: type, where: str) -> Iterator[str]:
    """Yield the public methods and properties of a class that have no docstring."""
    for name, value in vars(cls).items():
        if name.startswith("_"):
            continue
        method = inspect.unwrap(getattr(value, "__func__", value))
        told = inspect.isfunction(method) or isinstance(value, property)
        if told and not inspect.getdoc(getattr(cls, name)):
            yield f"{where}.{name}"


def test_everything_public_has_a_docstring() -> None:
    """Modules, classes, functions, methods and properties say what they are."""
    modules = list(public_modules())

    assert [module.__name__ for module in modules if not module.__doc__] == []
    assert [name for module in modules for name in undocumented(module)] == []
