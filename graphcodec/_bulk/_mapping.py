"""A function over stored graphs: each document decoded, the result written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from attrs import evolve, frozen

from graphcodec._bulk._compressions import bare_name
from graphcodec._bulk._files import Document, Files, Rewrite
from graphcodec._bulk._report import Report
from graphcodec._bulk._running import BATCH, Cluster, Progress, run
from graphcodec._documents._names import name_parts
from graphcodec.codec import Codec
from graphcodec.errors import InvalidValueError
from graphcodec.queues._workers import CodecSource

if TYPE_CHECKING:
    from graphcodec._formats import Format
    from graphcodec.queues._workers import GivenCodec

__all__ = ["map_documents"]


def map_documents(
    function: Callable[[Any], object],
    sources: str | Iterable[str],
    *,
    out: str,
    codec: GivenCodec = None,
    scheduler: Cluster = None,
    replace: bool = False,
    batch: int = BATCH,
    progress: Progress | None = None,
    options: Mapping[str, object] | None = None,
    out_options: Mapping[str, object] | None = None,
) -> Report:
    """Call a function with the graph of each stored document, and store its results.

    A result gets the name of its document, below *out*, and appears there as a whole
    or not at all. So it is the record of what is done: called again after whatever
    broke it off, the job goes on with what has no result. A document that can't be
    read, or for which the function raises, stops no other; it is in the report, and
    tried again the next time. In a process, one document is in memory at a time.

    Args:
        function: Takes a graph and gives one. It is pickled on its way to a cluster; it
            may be called again for a document whose process was killed before its
            result was stored.
        sources: Where the documents are: files, folders, or patterns such as
            ``s3://bucket/talks/**/*.json``, as fsspec has them. Below a folder or a
            pattern's first part, places and names are kept; what is hidden there, by a
            name with a dot in front, is left out. Files named ``.gz``, ``.bz2``,
            ``.xz`` and ``.zst`` are compressed as a whole, and so are their results.
        out: The folder for the results, as fsspec has it.
        codec: What reads and writes: a codec; a function that makes one in each
            process; where to import either from, as ``package.module:name``; None for
            the built-in classes. A result called ``.json`` or ``.msgpack`` has that
            format, any other the codec's.
        scheduler: Where: a client of Dask, the address of a scheduler, ``local`` for a
            process on each core, or None for this process, without Dask.
        replace: Whether results that are there are made anew.
        batch: How many documents a process takes at once.
        progress: Is told how many of how many documents are over, of those that had no
            result at the beginning.
        options: What fsspec needs for *sources*: endpoints, credentials. They travel to
            the workers; the environment of the workers is the better place for secrets.
        out_options: The same for *out*; by default *options*, if both are on one file
            system.

    Returns:
        How many were done and skipped, and what failed and why.

    Raises:
        InvalidValueError: If an argument can't be used, nothing is there, or there is
            no such cluster.
        ModuleNotFoundError: If a scheduler is given and Dask is not installed.
    """
    wanted = [sources] if isinstance(sources, str) else list(sources)
    if not wanted or not callable(function):
        msg = "map_documents needs a function and at least one place of documents"
        raise InvalidValueError(msg)
    source = Files(wanted[0], options)
    same = source.is_like(out) and out_options is None
    target = Files(out, options if same else out_options)
    documents = _documents(source, wanted, target, out)
    there = set[str]() if replace or target.is_local else target.there(target.path(out))
    left = [document for document in documents if document.target not in there]
    mapped = Mapped(function, CodecSource(Codec if codec is None else codec))
    work = Rewrite(
        source=source,
        target=target,
        make=mapped,
        limits=mapped.source.get().limits,
        replace=replace,
    )
    report = run(work, left, cluster=scheduler, batch=batch, progress=progress)
    return evolve(report, skipped=report.skipped + len(documents) - len(left))


@frozen
class Mapped:
    """Makes the bytes of a result from those of a document.

    Attributes:
        function: Takes a graph and gives one.
        source: What makes the codec.
    """

    function: Callable[[Any], object]
    source: CodecSource

    def __call__(self, data: bytes, document: Document) -> bytes:
        """Return the bytes of the result."""
        codec = self.source.get()
        graph = self.function(codec.decode(data))
        return _of_format(codec, _format(document.target)).encode(graph)


# Codecs compare by identity; a worker has one, or two.
@lru_cache(maxsize=8)
def _of_format(codec: Codec, format_: Format | None) -> Codec:
    # What is written is what the next job can read.
    changes = {} if format_ is None else {"format": format_}
    return codec.replace(write_unregistered=False, **changes)


def _format(path: str) -> Format | None:
    _, format_, _ = name_parts(bare_name(path))
    return cast("Format | None", format_ or None)


def _documents(
    source: Files, wanted: list[str], target: Files, out: str
) -> list[Document]:
    """Return what there is to do: each document once."""
    folder = target.path(out)
    places: dict[str, str] = {}
    found: dict[str, Document] = {}
    for one in source.find(wanted):
        place = f"{folder}/{one.below}"
        if places.setdefault(place, one.path) != one.path:
            msg = f"{places[place]} and {one.path} would both become {place}"
            raise InvalidValueError(msg, hint="take them one after the other")
        found[one.path] = Document(one.name, one.path, place)
    if source.is_like(out) and not found.keys().isdisjoint(places):
        msg = f"out={out!r:.80} would replace what is read"
        raise InvalidValueError(msg, hint="choose another folder")
    return list(found.values())
