"""The other side of the demo: a process that shares nothing with the first one.

It is started anew (not forked), so all that it has is this module, the document that
comes through a pipe, and the path of the store.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING, Any, Final

from graphcodec import Codec, SpooledArtifact
from graphcodec._graphs._handles import handles
from graphcodec.errors import GraphCodecError
from graphcodec_resolvers import FsspecResolver

if TYPE_CHECKING:
    from collections.abc import Mapping
    from multiprocessing.connection import Connection

_STORED: Final = re.compile("[0-9a-f]{64}")
_LAST: Final = 3


def serve(pipe: Connection, stores: Mapping[str, str]) -> None:
    """Take one document, read in an artifact of it, and send both back.

    Args:
        pipe: Where the document comes from; it goes back as bytes, followed by what was
            found out, as JSON.
        stores: Where the stores are, by alias.
    """
    opened = _watched()
    try:
        codec = Codec(resolvers=[FsspecResolver(stores)])  # pyright: ignore[reportArgumentType]
        graph = codec.decode(pipe.recv_bytes())
        report: dict[str, Any] = {"pid": os.getpid(), "opened_by_decode": len(opened)}
        report["quote"] = _quote(graph)
        report["opened"] = len(set(opened))
        answer = codec.encode(graph)
    except GraphCodecError as exc:
        answer, report = b"", {"error": str(exc)}
    pipe.send_bytes(answer)
    pipe.send_bytes(json.dumps(report).encode())


def _quote(graph: object) -> dict[str, Any] | None:
    """Return what the first artifact in a graph says; None if there is none."""
    for path, owner, _ in handles(graph):
        if isinstance(owner, SpooledArtifact):
            # A text that ends with a newline has an empty last line.
            lines = [line for line in owner.tail(_LAST) if line] or [""]
            size, errors = owner.byte_length(), len(owner.grep("ERROR"))
            return {"path": path, "line": lines[-1], "bytes": size, "errors": errors}
    return None


def _watched() -> list[str]:
    """Return a list that grows with each file of a store that this process opens."""
    opened: list[str] = []

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if event == "open" and _STORED.fullmatch(os.path.basename(str(args[0]))):  # noqa: PTH119 - no Path in a hook
            opened.append(str(args[0]))

    sys.addaudithook(watch)
    return opened
