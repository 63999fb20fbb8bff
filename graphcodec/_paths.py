"""Positions in a graph, as text: ``$.items[3].args["odd key"]``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

Step: TypeAlias = str | int
"""A field, attribute or key (str), or a position in a sequence (int)."""

Trail: TypeAlias = "tuple[Trail, Step] | None"
"""The way to a place, innermost step last: walks share what they have in common."""

_LONGEST_KEY = 40
_MOST_STEPS = 24
_WIDEST_INT = 128


def steps_of(trail: Trail) -> list[Step]:
    """Return the steps of a trail, outermost first.

    Args:
        trail: The way to a place.
    """
    steps: list[Step] = []
    while trail is not None:
        trail, step = trail
        steps.append(step)
    steps.reverse()
    return steps


def path_of(trail: Trail) -> str:
    """Return the path that a trail is.

    Args:
        trail: The way to a place.
    """
    return format_path(steps_of(trail))


def format_path(steps: Iterable[Step]) -> str:
    """Return *steps* as a JSONPath-like text that fits on a screen.

    Args:
        steps: The way from the root, outermost first.
    """
    parts = [_format_step(step) for step in steps]
    if len(parts) > _MOST_STEPS:
        half = _MOST_STEPS // 2
        left_out = len(parts) - 2 * half
        parts = [*parts[:half], f"…({left_out} more)…", *parts[-half:]]
    return "$" + "".join(parts)


def _format_step(step: Step) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if len(step) <= _LONGEST_KEY and step.isidentifier():
        return f".{step}"
    return f"[{excerpt(step, _LONGEST_KEY)}]"


def excerpt(value: object, longest: int = 60) -> str:
    """Return the repr of a builtin *value*, cut so that no error shows much data.

    Args:
        value: What to show. Only builtin scalars and text are shown; for everything
            else its type is.
        longest: The most characters.
    """
    if isinstance(value, (str, bytes)):
        cut = value[:longest]
        text = repr(cut)
        return text if len(cut) == len(value) else f"{text[: longest - 1]}…"
    if value is None or isinstance(value, (bool, float)):
        return repr(value)
    if isinstance(value, int):
        # Decimal text of a huge int is slow, and refused beyond 4,300 digits.
        bits = value.bit_length()
        return repr(value) if bits <= _WIDEST_INT else f"<{bits}-bit int>"
    return f"<{type(value).__name__}>"


def with_article(noun: str) -> str:
    """Return *noun* with "a" or "an" before it."""
    return f"an {noun}" if noun[:1].lower() in "aeiou" else f"a {noun}"
