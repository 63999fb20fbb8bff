r"""Rewrite a pattern for one line so that it finds matching lines in many at once.

Starting the engine costs more than searching a line of ordinary length, so that a log
is searched ten times faster in blocks of many lines. But ``a\s+b`` would then match
across lines, and ``^`` only at the beginning of the block.

Most patterns consist of parts for which that is easily mended: parts that never match a
newline, or can be kept from it, and ``^``, ``$`` and ``\b``, which see the newline
beside a line as they see the end of a text. A pattern of such parts alone matches at a
place in a block just where it matches in the line. Whatever else occurs in a pattern
(lookaround, backreferences, inline flags, set operations) leaves it to be tried line by
line.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["for_blocks"]

# Each escape that means something has its own entry; escaped letters that don't stand
# here, such as \1, \A or \n, are of the kind that is not rewritten.
_REWRITTEN: Final = {
    r"\s": r"[^\S\n]",
    r"\D": r"[^\d\n]",
    r"\W": r"[^\w\n]",
}

_PART: Final = re.compile(
    r"""
      \\[dwSb]                             # never a newline; \b sees one as an end
    | \\[sDW]                              # rewritten
    | \\[^\w\s]                            # an escaped sign stands for itself
    | [*+?] | \{\d+(?:,\d*)?\}             # repeats, also lazy and possessive ones
    | \((?:\?:|(?!\?)) | [)|.^$]           # groups, alternatives, anchors
    | \[\^?(?:\\[dw]|\\[^\w\s]|[^][\\\x00-\x1f&|~-]|(?<=\w)-(?=\w))+\]
    | [^][\\(){}*+?|.^$\x00-\x1f]          # everything else that stands for itself
    """,
    re.VERBOSE,
)


def for_blocks(pattern: str) -> str | None:
    r"""Return *pattern* for whole blocks, or None if it has to be tried on each line.

    The result is for ``MULTILINE`` and without ``DOTALL``. Neither makes a difference
    to *pattern* itself, since a line holds no newline.

    Args:
        pattern: A regular expression that has been compiled without an error.
    """
    parts: list[str] = []
    position = 0
    while position < len(pattern):
        match = _PART.match(pattern, position)
        if match is None:
            return None
        parts.append(_rewritten(match.group()))
        position = match.end()
    return "".join(parts)


def _rewritten(part: str) -> str:
    if part.startswith("[^"):
        return rf"[^\n{part[2:]}"
    return _REWRITTEN.get(part, part)
