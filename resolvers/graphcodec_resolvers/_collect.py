"""Garbage: what a store keeps and no graph names any more."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Final, cast

from attrs import frozen

from graphcodec import _parallel
from graphcodec._graphs._handles import handles
from graphcodec._live import type_name
from graphcodec.errors import InvalidValueError
from graphcodec.readers import BytesReader, Reader, ReaderDescriptor
from graphcodec.readers._contracts import handle_of
from graphcodec_resolvers._keys import content_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphcodec_resolvers._backends import Backend, Kept

_AT_A_TIME = 256
_NO_GRAPHS: Final = (str, bytes, bytearray, memoryview, int, float)


@frozen(kw_only=True)
class GcReport:
    """What a collection did, or would do.

    Attributes:
        kept: How many contents stay: those that are named, and those that are young.
        freed: How many contents were removed.
        bytes: How many bytes those had.
        leftovers: How many unfinished writes were removed.
    """

    kept: int = 0
    freed: int = 0
    bytes: int = 0
    leftovers: int = 0


def live_keys(live: object) -> set[str]:
    """Return the keys that graphs name, in this store or any other.

    Another alias may stand for the same place, so what bears the same name is spared.

    Args:
        live: Graphs, readers or descriptors.

    Raises:
        InvalidValueError: If it is one graph instead of many, or one of them is none.
    """
    kind = type_name(type(live))
    if not isinstance(live, Iterable) or isinstance(live, Mapping | str | bytes):
        msg = f"live must be an iterable of graphs, not a {kind}"
        raise InvalidValueError(msg, hint="put a single graph in a list")
    return {
        str(descriptor.locator.get("key"))
        for graph in cast("Iterable[object]", live)
        for descriptor in _descriptors(graph)
    }


def _descriptors(graph: object) -> Iterator[ReaderDescriptor]:
    if _is_no_graph(graph):
        # Taken for a graph without handles, it would set free what it stands for.
        name = type_name(type(graph))
        msg = f"live holds a {name}, which is no graph"
        hint = "decode documents first, and leave out what has none"
        raise InvalidValueError(msg, hint=hint, type_name=name)
    if isinstance(graph, ReaderDescriptor):
        yield graph
        return
    for _, _, reader in handles(graph):
        if (found := _described(reader)) is not None:
            yield found


def _is_no_graph(value: object) -> bool:
    return value is None or isinstance(value, _NO_GRAPHS)


def _described(reader: Reader) -> ReaderDescriptor | None:
    if isinstance(reader, BytesReader):
        # Its descriptor would be a copy of all its bytes.
        return None
    return handle_of(reader)


def collect(
    backend: Backend, keys: set[str], *, grace: float, dry_run: bool
) -> GcReport:
    """Remove what a store wrote under other keys, if it is old enough.

    Args:
        backend: The store, in this process.
        keys: What stays.
        grace: How many seconds content stays although nobody names it.
        dry_run: Whether to count only.
    """
    if not isinstance(cast("object", grace), int | float) or not 0 <= grace < math.inf:
        msg = f"grace: must be a number of seconds, not {grace!r:.40}"
        raise InvalidValueError(msg)
    before = time.time() - grace
    total, freed, size = 0, 0, 0

    def discard(kept: Kept) -> bool:
        return dry_run or backend.discard(kept, before)

    def done(kept: Kept, gone: bool) -> None:  # noqa: FBT001 - called by run
        nonlocal freed, size
        freed += gone
        size += kept.size * gone

    found = backend.contents()
    while batch := list(islice(found, _AT_A_TIME)):
        total += len(batch)
        old = [kept for kept in batch if _is_garbage(kept, keys, before)]
        _parallel.run(old, discard, done)
    leftovers = backend.leftovers(before, dry_run=dry_run)
    kept = total - freed
    return GcReport(kept=kept, freed=freed, bytes=size, leftovers=leftovers)


def _is_garbage(kept: Kept, keys: set[str], before: float) -> bool:
    old = kept.modified is not None and kept.modified < before
    return old and content_key(kept.sha256) not in keys


# Pickles and tracebacks show the public path of a name.
for _public in (GcReport,):
    _public.__module__ = "graphcodec_resolvers"
