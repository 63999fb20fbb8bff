"""Counts what comes over a connection, so that nothing unannounced stays in it.

The parser keeps bytes that follow a body, and takes them for the next answer. So
whoever makes a server send too much for one URL could answer for all the others there.
"""

from __future__ import annotations

import re
from typing import Final

_HEAD_ENDS: Final = re.compile(rb"\n\r?\n")
_LONGEST_END: Final = 3


class Tally:
    """How many bytes came behind the head of the answer to the last request."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._behind: int | None = None

    def sent(self) -> None:
        """Take note that a request, or a part of it, was sent."""
        self._head.clear()
        self._behind = None

    def came(self, data: bytes) -> None:
        """Take note of bytes that came.

        Args:
            data: The bytes.
        """
        if self._behind is not None:
            self._behind += len(data)
            return
        seen = max(0, len(self._head) - _LONGEST_END)
        self._head += data
        if (ends := _HEAD_ENDS.search(self._head, seen)) is not None:
            self._behind = len(self._head) - ends.end()
            self._head.clear()

    def is_exact(self, length: int) -> bool:
        """Say whether the body was all that came, so that the connection is clean.

        A body in chunks never is: what its framing takes is not counted.

        Args:
            length: How many bytes the body had.
        """
        return self._behind == length
