"""Files that hold either the old or the new content, and never half of it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from pathlib import Path


def replace_file(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Write a file beside *path*, then let it take its place.

    Args:
        path: The file, which need not be there.
        data: What it is to hold.
        mode: Its permissions; the usual ones if they are left out.

    Raises:
        OSError: If it can't be written; the old file is as it was.
    """
    with replacing(path, mode=mode) as stream:
        stream.write(data)


@contextmanager
def replacing(path: Path, *, mode: int | None = None) -> Generator[BinaryIO]:
    """Give a stream whose content takes the place of a file, if nothing is raised.

    Args:
        path: The file, which need not be there.
        mode: Its permissions; the usual ones if they are left out.

    Raises:
        OSError: If it can't be written; the old file is as it was.
    """
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with fresh.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            fresh.chmod(mode)
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
