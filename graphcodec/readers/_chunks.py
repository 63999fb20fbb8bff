"""The bytes of what a store is to keep, whatever holds them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, cast

from graphcodec.errors import InvalidValueError
from graphcodec.readers._contracts import CHUNK_SIZE, Reader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def chunks_of(data: object) -> Iterator[bytes]:
    """Yield the content of *data* in pieces.

    Nothing but an empty piece of bytes ends a stream: what has no bytes at all, such as
    text, must not be kept as if it were empty, nor a stream that is not ready as if it
    were over.

    Args:
        data: Bytes, a binary file or a reader.

    Raises:
        InvalidValueError: If it is something else, or does not give bytes.
    """
    if isinstance(data, Reader):
        yield from _checked(data.iter_bytes(), data)
    elif isinstance(data, bytes | bytearray | memoryview):
        yield from _sliced(cast("bytes", data))
    else:
        yield from _checked(_read(data), data)


def _sliced(data: bytes) -> Iterator[bytes]:
    view = memoryview(data)
    view = view.cast("B") if view.c_contiguous else memoryview(view.tobytes())
    for start in range(0, len(view), CHUNK_SIZE):
        yield bytes(view[start : start + CHUNK_SIZE])


def _read(data: object) -> Iterator[object]:
    read = getattr(data, "read", None)
    if not callable(read) or inspect.iscoroutinefunction(read):
        kind = type(data).__name__
        msg = f"data: must be bytes, a binary file or a Reader, not {kind}"
        raise InvalidValueError(msg, type_name=kind)
    while (chunk := read(CHUNK_SIZE)) != b"":
        yield chunk


def _checked(chunks: Iterable[object], data: object) -> Iterator[bytes]:
    for chunk in chunks:
        if not isinstance(chunk, bytes):
            kind = type(data).__name__
            given = type(chunk).__name__
            raise InvalidValueError(
                f"data: the {kind} gave {given} instead of bytes",
                hint="pass a binary, blocking file",
                type_name=kind,
            )
        yield chunk
