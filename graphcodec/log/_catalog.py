"""The classes of session records that every codec reads, once a document names one."""

from typing import Final

from graphcodec._classes._marks import mark_of
from graphcodec.log import (
    _content,
    _failures,
    _moments,
    _records,
    _tools,
    _usage,
    _words,
)

__all__ = ["TYPES"]


def _marked() -> list[type]:
    modules = (_content, _failures, _moments, _records, _tools, _usage, _words)
    found = [vars(module)[name] for module in modules for name in module.__all__]
    return [cls for cls in found if isinstance(cls, type) and mark_of(cls) is not None]


TYPES: Final[tuple[type, ...]] = tuple(_marked())
