"""Numbers and texts for people."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from collections.abc import Mapping

_STEP = 1000
_JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"


def size(count: int) -> str:
    """Return a number of bytes as people write it: ``640 B``, ``12.3 kB``.

    Args:
        count: The number of bytes.
    """
    if count < _STEP:
        return f"{count} B"
    value = count / _STEP
    for unit in ("kB", "MB"):
        # 999.96 would be shown as 1000.0.
        if round(value, 1) < _STEP:
            return f"{value:.1f} {unit}"
        value /= _STEP
    return f"{value:,.1f} GB"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: ``1 node``, ``4,321 nodes``.

    Args:
        count: The number.
        noun: The noun in the singular; a ``y`` at its end becomes ``ies``.
    """
    if count != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("ty") else f"{noun}s"
    return f"{count:,} {noun}"


def tallied(counts: Mapping[str, int]) -> str:
    """Return several numbers with their nouns.

    Args:
        counts: The numbers by noun.
    """
    # Media is a plural already.
    return ", ".join(
        f"{count:,} {noun}" if noun == "Media" else counted(count, noun)
        for noun, count in counts.items()
    )


def cut(text: str, longest: int) -> str:
    """Return *text* on one line, cut with an ellipsis if it is too long.

    Args:
        text: Any text.
        longest: The most characters.
    """
    # What is cut off need not be looked at.
    line = "".join(_shown(c) for c in text[: longest + 1])
    return line if len(line) <= longest else f"{line[: max(0, longest - 1)]}…"


def _shown(character: str) -> str:
    """Return what can be printed: no control characters, no half surrogates."""
    if character.isspace():
        return " "
    # Families of emoji, and Persian, are written with joiners.
    is_shown = character.isprintable() or character in _JOINERS
    return character if is_shown else "\N{REPLACEMENT CHARACTER}"


def console() -> Console:
    """Return a console that neither guesses at markup nor colours words by itself."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        # Better a question mark in a tree than no tree on a terminal without Unicode.
        reconfigure(errors="replace")
    return Console(markup=False, highlight=False, emoji=False, soft_wrap=False)
