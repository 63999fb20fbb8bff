"""Dask: graphs that move between workers, and functions over stored graphs.

`map_documents` works without Dask as well, in this process. All else needs the extra
``dask``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphcodec._bulk._mapping import map_documents
from graphcodec._bulk._report import Failure, Report
from graphcodec._extras import from_extra

if TYPE_CHECKING:
    import distributed

    from graphcodec.queues._workers import GivenCodec

__all__ = ["Failure", "Report", "connect", "map_documents", "register"]

# Tracebacks, pickles and docs should show the public path of a name.
for _name in ("Failure", "Report", "map_documents"):
    globals()[_name].__module__ = __name__


def connect(
    address: object = None, *, codec: GivenCodec = None, **options: Any
) -> distributed.Client:
    """Return a client that moves graphs as documents, and lets its workers do so, too.

    Results, and what is scattered, are encoded where they leave a process and decoded
    where they arrive; inlined bytes over 64 KiB travel beside the document, uncopied.
    What holds no object of the codec's classes goes Dask's usual ways. Dask sends the
    entries of a result that is a list, tuple or dict one by one: what two of them
    share, arrives twice. Functions and
    the arguments that are given with them are pickled by Dask as ever; handles in them
    open all the same.

    Args:
        address: What `distributed.Client` takes: the address of a scheduler or a
            cluster.
        codec: A codec; a function that makes one in each process; where to import
            either from, as ``package.module:name``; None for the built-in classes.
        **options: Further options of `distributed.Client`.

    Raises:
        InvalidValueError: If the codec is none of these.
        ModuleNotFoundError: If Dask is not installed.
    """
    family = _family()
    family.register(codec)
    client: distributed.Client = family.client(address, options)
    client.register_plugin(family.Plugin(codec))
    return client


def register(codec: GivenCodec = None, *, worker: object = None) -> None:
    """Let this process move graphs as documents; `connect` does it for its workers.

    It is for processes that no client of `connect` reaches: call it in the preload
    script of workers, as in ``def dask_setup(worker): register(codec, worker=worker)``.

    Args:
        codec: See `connect`.
        worker: The worker of this process, if it is one.

    Raises:
        InvalidValueError: If the codec can't be used.
        ModuleNotFoundError: If Dask is not installed.
    """
    _family().register(codec, worker=worker)


def _family() -> Any:
    # Loaded late: Dask takes a second to import, and `map_documents` may do without.
    with from_extra("dask", "moving graphs in a cluster needs dask and distributed"):
        from graphcodec.adapters import _dask_family  # noqa: PLC0415

    return _dask_family
