"""Bounds that keep a hostile or runaway document from exhausting the process."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from attrs import Attribute, field, frozen

from graphcodec.errors import InvalidValueError, LimitExceededError

if TYPE_CHECKING:
    from typing import BinaryIO

NESTING: Final = 60
"""How many levels of maps and lists the root, and each node, may have on the wire."""

ROOM: Final = 8
"""Levels of a walked container and a leaf: ``{"$dict": [[key, {"$complex": …}]]}``."""


LARGEST_FILE: Final = 1 << 30
"""How many bytes of a file are held at once, whatever is to be made of it."""

_PIECE: Final = 1 << 20


def _positive(_: object, attribute: Attribute[int], value: int) -> None:
    if type(value) is not int or value < 1:
        msg = f"Limits.{attribute.name} must be a positive int, not {value!r}"
        raise InvalidValueError(msg, limit=attribute.name)


@frozen(kw_only=True)
class Limits:
    """What one document may cost. Both sides check the same bounds.

    By default a document may hold what `max_bytes` and `max_nodes` leave room for: a
    text is no longer than its document, and a node has at most 60 levels. A lower
    bound for depth, text or containers makes large documents pay for an exact look.

    Attributes:
        max_bytes: Size of a document in bytes, encoded.
        max_depth: How many levels the graph may have from the root to its innermost
            part, objects, containers and leaves alike, counted through references.
        max_nodes: How many entries ``nodes`` may have.
        max_string: Longest text outside plain slots, in characters.
        max_container: Most entries of one list or map outside plain slots.
        max_inline_bytes: Most bytes that one reader may carry inside the document.
        max_decompressed: Size of a compressed document when inflated, in bytes.
    """

    max_bytes: int = field(default=256 << 20, validator=_positive)
    max_depth: int = field(default=64_000_000, validator=_positive)
    max_nodes: int = field(default=1_000_000, validator=_positive)
    max_string: int = field(default=256 << 20, validator=_positive)
    max_container: int = field(default=256 << 20, validator=_positive)
    max_inline_bytes: int = field(default=8 << 20, validator=_positive)
    max_decompressed: int = field(default=512 << 20, validator=_positive)


def exceeded(limit: str, most: int, value: int, path: str = "") -> LimitExceededError:
    """Return the error for a broken limit.

    Args:
        limit: Its name.
        most: What is allowed.
        value: What was met.
        path: Where.
    """
    msg = f"{limit} is {most:,}, and this has {value:,}"
    hint = f"raise it with Limits({limit}=...) if the data is yours"
    return LimitExceededError(msg, path=path, hint=hint, limit=limit, value=value)


def read_bounded(stream: BinaryIO, most: int = LARGEST_FILE) -> bytes:
    """Return what is left in a stream, which may have no end.

    Args:
        stream: An open file, pipe or device.
        most: The most bytes.

    Raises:
        LimitExceededError: If there is more; the rest is not read.
    """
    # A pipe or device has no size, and a file may grow.
    too_large = _size(stream) > most
    pieces: list[bytes] = []
    left = most
    while not too_large and (piece := stream.read(_PIECE)):
        left -= len(piece)
        too_large = left < 0
        pieces.append(piece)
    if too_large:
        msg = f"at most {most:,} bytes are read, and here are more"
        hint = "split it, or read it in a program of your own"
        raise LimitExceededError(msg, hint=hint, limit="file_bytes", value=most)
    return b"".join(pieces)


def _size(stream: BinaryIO) -> int:
    try:
        return os.fstat(stream.fileno()).st_size
    except OSError:
        return 0
