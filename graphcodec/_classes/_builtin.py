"""The classes that every codec knows."""

from __future__ import annotations

from functools import lru_cache

from graphcodec import primitives
from graphcodec._classes._marks import mark_of
from graphcodec._classes._registry import TypeRegistry


@lru_cache(maxsize=1)
def builtin_registry() -> TypeRegistry:
    """Return the registry of the primitives, of which each codec takes a copy."""
    registry = TypeRegistry()
    for name in primitives.__all__:
        cls = getattr(primitives, name)
        if isinstance(cls, type) and mark_of(cls) is not None:
            registry.add(cls, builtin=True)
    return registry
