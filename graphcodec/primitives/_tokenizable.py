"""Text that a model reads, and what it costs in tokens."""

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, Final, cast

from attrs import field, frozen

from graphcodec._extras import from_extra
from graphcodec.errors import InvalidValueError
from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import ALLOW_EMPTY, checked, excerpt

__all__ = ["Tokenizable", "to_optional_text", "to_text", "to_texts"]

Estimator = Callable[[str], int]

_TIKTOKEN: Final = (
    "gpt2",
    "r50k_base",
    "p50k_base",
    "p50k_edit",
    "cl100k_base",
    "o200k_base",
    "o200k_harmony",
)

_HEURISTICS: Final[Mapping[str, Estimator]] = MappingProxyType(
    {
        "claude": lambda text: math.ceil(len(text) / 3.5),
        "chars/4": lambda text: math.ceil(len(text) / 4),
    }
)


@checked
@frozen(eq=False, repr=False)
class Tokenizable(Primitive):
    """Text that a model reads.

    Attributes:
        text: The text; it may be empty here, but not wherever content is required.
    """

    __graphcodec_tag__: ClassVar[str] = "Tokenizable"
    __graphcodec_text__: ClassVar[str] = "text"

    text: str = field(metadata=ALLOW_EMPTY)

    def estimate_tokens(
        self, encoding: str, *, estimators: Mapping[str, Estimator] | None = None
    ) -> int:
        """Return how many tokens the text takes.

        Args:
            encoding: A name from *estimators*; ``claude`` or ``chars/4``, which divide
                the number of code points; or an encoding of tiktoken, which fetches its
                table on first use.
            estimators: Functions of your own from text to tokens, by name. They are
                asked first.

        Raises:
            InvalidValueError: If the encoding is not known.
            ModuleNotFoundError: If it is tiktoken's and tiktoken is not installed.
        """
        own = estimators or {}
        estimator = own.get(encoding) or _HEURISTICS.get(encoding)
        if estimator is not None:
            return estimator(self.text)
        if encoding in _TIKTOKEN:
            return _tiktoken_count(encoding, self.text)
        known = ", ".join(dict.fromkeys([*own, *_HEURISTICS, *_TIKTOKEN]))
        raise InvalidValueError(
            f"unknown encoding {excerpt(encoding)}",
            hint=f"known are {known}; pass others as estimators={{name: function}}",
            type_name="Tokenizable",
            value=excerpt(encoding),
        )

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tokenizable) or type(other) is not type(self):
            return NotImplemented
        return self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def _summary(self) -> str:
        return f"<{len(self.text)} chars>"


def _tiktoken_count(encoding: str, text: str) -> int:
    with from_extra("tokens", "counting needs tiktoken"):
        tiktoken = importlib.import_module("tiktoken")
    # In a conversation, the text of a special token is text like any other.
    ids = tiktoken.get_encoding(encoding).encode_ordinary(text)
    return len(cast("list[int]", ids))


def to_text(value: str | Tokenizable) -> Tokenizable:
    """Turn a str into a `Tokenizable`."""
    return Tokenizable(value) if type(value) is str else cast("Tokenizable", value)


def to_optional_text(value: str | Tokenizable | None) -> Tokenizable | None:
    """Do what `to_text` does, and leave None."""
    return None if value is None else to_text(value)


def to_texts(value: Sequence[str | Tokenizable]) -> tuple[Tokenizable, ...]:
    """Turn a list into a tuple, and each str in either into a `Tokenizable`."""
    kind = type(value)
    if kind is list or (kind is tuple and any(type(entry) is str for entry in value)):
        return tuple(to_text(entry) for entry in value)
    return cast("tuple[Tokenizable, ...]", value)
