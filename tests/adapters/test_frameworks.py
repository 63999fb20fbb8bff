"""What adapters for agent frameworks load, and what they say where one is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

FRAMEWORKS = {"agents", "langchain_core", "langgraph", "pydantic_ai"}


def said(code: str) -> str:
    """Return what a new interpreter prints."""
    done = subprocess.run(  # noqa: S603 - our own interpreter and text
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_the_package_loads_no_framework() -> None:
    """Whoever has a chat in JSON pays for no framework."""
    code = f"""
import sys, graphcodec.adapters as adapters
for name in adapters.__all__:
    getattr(adapters, name)
print(sorted(sys.modules.keys() & {FRAMEWORKS!r}))
"""
    assert said(code) == "[]"


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [
        ("langchain", "langchain_core", "langchain"),
        ("langgraph", "langgraph", "langgraph"),
        ("openai_agents", "agents", "openai-agents"),
        ("pydantic_ai", "pydantic_ai", "pydantic-ai"),
    ],
)
def test_a_missing_framework_is_named(module: str, package: str, extra: str) -> None:
    """The error has the command that installs it."""
    code = f"""
import sys
sys.modules[{package!r}] = None
try:
    import graphcodec.adapters.{module}
except ModuleNotFoundError as exc:
    print(exc)
"""
    assert said(code).endswith(f": pip install 'graphcodec[{extra}]'")
