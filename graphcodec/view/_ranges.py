"""Parts of bytes, as browsers ask for them (RFC 9110, section 14)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_RANGE: Final = re.compile(r"bytes=(\d{1,18})?-(\d{1,18})?", re.ASCII)
_AT_ONCE: Final = 1 << 20
"""How many bytes are read if nobody knows how many there are."""


class Range(NamedTuple):
    """A part of bytes.

    Attributes:
        start: Offset of the first byte, from 0.
        end: Offset behind the last byte; not above *start* if there is no such part.
    """

    start: int
    end: int


def parse_range(header: str | None, size: int | None) -> Range | None:
    """Return the part that is asked for, None for all.

    A header that makes no sense, or asks for several parts, counts for none, as the RFC
    allows; so does one that counts from the end where nobody knows where that is.

    Args:
        header: What stands behind ``Range:``; None if nothing does.
        size: How many bytes there are; None if nobody knows.
    """
    found = _RANGE.fullmatch((header or "").strip())
    if found is None or found.groups() == (None, None):
        return None
    first, last = (None if text is None else int(text) for text in found.groups())
    if first is None:
        return None if size is None else Range(max(0, size - (last or 0)), size)
    if last is not None and last < first:
        return None
    if size is None:
        most = first + _AT_ONCE
        return Range(first, most if last is None else min(most, last + 1))
    return Range(first, size if last is None else min(size, last + 1))
