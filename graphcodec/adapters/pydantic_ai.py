"""Messages of Pydantic AI: their classes, for a codec that writes them as they are.

`graphcodec.adapters.from_pydantic_ai` and `graphcodec.adapters.to_pydantic_ai` make
conversations of them, and messages of conversations.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from graphcodec._extras import from_extra

with from_extra("pydantic-ai", "messages of Pydantic AI need pydantic-ai-slim"):
    from pydantic_ai import messages, usage

__all__ = ["TYPES"]

_BESIDE: Final = (
    # Narrower classes that stand where the union names a wider one.
    messages.BinaryAudio,
    messages.BinaryImage,
    usage.RunUsage,
)


def _reached(*annotations: object) -> dict[str, type]:
    """Return all dataclasses that annotations lead to, by name."""
    found: dict[str, type] = {}
    waiting = list(annotations)
    # By id, since not all can be hashed; held, so that no id is used again.
    done: dict[int, object] = {}
    while waiting:
        annotation = waiting.pop()
        if id(annotation) in done:
            continue
        done[id(annotation)] = annotation
        waiting += typing.get_args(annotation)
        waiting.append(getattr(annotation, "__value__", None))
        cls = typing.get_origin(annotation) or annotation
        if isinstance(cls, type) and dataclasses.is_dataclass(cls):
            found[cls.__name__] = cls
            waiting += typing.get_type_hints(cls, include_extras=True).values()
    return found


TYPES: Final[Mapping[str, type]] = MappingProxyType(
    {
        f"pydantic_ai.{name}": cls
        for name, cls in sorted(_reached(messages.ModelMessage, *_BESIDE).items())
    }
)
"""The messages of Pydantic AI and what they hold, by tag, for ``Codec(types=TYPES)``.

The classes are those that ``ModelMessage`` leads to in the version that is installed.
"""
