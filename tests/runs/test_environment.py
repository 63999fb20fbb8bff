"""Where runs take place, and what is different about it."""

from __future__ import annotations

import platform
from importlib.metadata import version

from graphcodec.runs import describe_environment, merge_runs
from graphcodec.runs._environment import environment_facts, environment_moves
from tests.runs.events import built


def test_environment_says_python_platform_and_packages() -> None:
    """Of those that are asked for, and our own; None for what is not installed."""
    found = describe_environment(["pytest", "no-such-package-anywhere", ""])

    assert found["python"] == platform.python_version()
    assert found["platform"] == platform.platform()
    assert found["packages"] == {
        "": None,
        "graphcodec": version("graphcodec"),
        "no-such-package-anywhere": None,
        "pytest": version("pytest"),
    }


def test_moves_are_named() -> None:
    """Changed, added, removed, at any depth."""
    old = {"python": "3.11", "packages": {"a": "1", "b": "1"}, "gone": 1, "same": 1}
    new = {"python": "3.12", "packages": {"a": "2", "b": "1", "c": "1"}, "same": 1}

    assert environment_moves(old, new) == {
        "python": ("3.11", "3.12"),
        "packages.a": ("1", "2"),
        "gone": (1, None),
        "packages.c": (None, "1"),
    }
    assert environment_moves(old, old) == {}


def test_facts_are_for_people() -> None:
    """A package stands under its own name."""
    environment = {"python": "3.12", "packages": {"a": "1", "b": None}}

    assert environment_facts(environment) == ["python 3.12", "a 1", "b none"]


def test_shards_have_in_common_what_all_say() -> None:
    """At any depth; a map and no map have nothing in common."""
    one = {"python": "3.12", "host": "a", "x": {"a": 1}, "packages": {"p": 1, "q": 1}}
    two = {"python": "3.12", "host": "b", "x": 1, "packages": {"p": 1, "q": 2}}
    runs = [built().replace(environment=given) for given in (one, two)]

    merged = merge_runs(runs).environment

    assert merged == {"python": "3.12", "packages": {"p": 1}}
