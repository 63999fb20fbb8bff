"""What helps to test graphs, and whatever reads and writes them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from graphcodec._graphs._comparing import difference

if TYPE_CHECKING:
    from graphcodec import _strategies as strategies
    from graphcodec._suites._documents import DocumentStoreContract
    from graphcodec._suites._resolver import ResolverContract
    from graphcodec._suites._store import ByteStoreContract

__all__ = [
    "ByteStoreContract",
    "DocumentStoreContract",
    "ResolverContract",
    "same_graph",
    "strategies",
]

_SUITES = {
    "ByteStoreContract": "graphcodec._suites._store",
    "DocumentStoreContract": "graphcodec._suites._documents",
    "ResolverContract": "graphcodec._suites._resolver",
}


def same_graph(a: object, b: object) -> bool:
    """Say whether two graphs are the same: types, values and sharing.

    Unlike ``==`` it tells ``1`` from ``True`` and two equal objects from one object met
    twice, takes a NaN as equal to itself, and needs linear time. The sharing of lists
    and other containers counts within one field, as in a document.

    Args:
        a: A graph.
        b: Another one.
    """
    return difference(a, b) is None


def __getattr__(name: str) -> object:
    if name in _SUITES:
        found: object = getattr(import_module(_SUITES[name]), name)
    elif name == "strategies":
        found = _strategies()
    else:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    globals()[name] = found
    return found


def _strategies() -> object:
    try:
        import_module("hypothesis")
    except ModuleNotFoundError as exc:
        msg = "graphcodec.testing.strategies needs hypothesis: pip install hypothesis"
        raise ModuleNotFoundError(msg, name=exc.name) from exc
    return import_module("graphcodec._strategies")


def __dir__() -> list[str]:
    return sorted(__all__)
