"""Resolvers for stores and servers: the part of graphcodec that touches the outside.

``FsspecStore``, ``FsspecResolver`` and ``FsspecReader`` keep and re-open bytes in local
folders, in memory and in whatever else fsspec reaches; ``HttpResolver`` and
``HttpReader`` re-open what a public https server serves. Importing this package loads
neither fsspec nor httpx: they are imported when a handle is opened for the first time.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphcodec_resolvers._collect import GcReport as GcReport
    from graphcodec_resolvers._fsspec import FsspecResolver as FsspecResolver
    from graphcodec_resolvers._fsspec import FsspecStore as FsspecStore
    from graphcodec_resolvers._http import HttpReader as HttpReader
    from graphcodec_resolvers._http import HttpResolver as HttpResolver
    from graphcodec_resolvers._stored import FsspecReader as FsspecReader

__all__ = [
    "FsspecReader",
    "FsspecResolver",
    "FsspecStore",
    "GcReport",
    "HttpReader",
    "HttpResolver",
]


_MODULES = {
    "FsspecReader": "_stored",
    "FsspecResolver": "_fsspec",
    "FsspecStore": "_fsspec",
    "GcReport": "_collect",
    "HttpReader": "_http",
    "HttpResolver": "_http",
}


def __getattr__(name: str) -> object:
    """Import the module of a public name on first use (PEP 562)."""
    if name not in _MODULES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)

    module = import_module(f"{__name__}.{_MODULES[name]}")
    value: object = getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
