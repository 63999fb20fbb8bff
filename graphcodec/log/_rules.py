"""The rules that fields of session records share, as metadata."""

from collections.abc import Mapping
from typing import Final

from graphcodec.primitives._checks import ALLOW_EMPTY

__all__ = [
    "ANY_TEXT",
    "CUSTOM",
    "ID",
    "JSON_DEFAULT",
    "OMIT_NONE",
    "U8",
    "U32",
    "U64",
    "key",
    "to_float",
    "to_optional_float",
]

ANY_TEXT: Final = ALLOW_EMPTY
"""Text of any length, none included."""


def _below(bits: int) -> Mapping[str, object]:
    noun = f"an int from 0 to 2**{bits}-1"
    return {"graphcodec_bounds": (f"0 <= v < {1 << bits}", noun)}


U8: Final = _below(8)
U32: Final = _below(32)
U64: Final = _below(64)
ID: Final[Mapping[str, object]] = {"log_id": True}
"""An id that old documents lack; whoever reads them knows which it is."""

OMIT_NONE: Final[Mapping[str, object]] = {"log_omit": True}
"""A field that is left out of the JSON form if it is None or empty."""

JSON_DEFAULT: Final[Mapping[str, object]] = {"log_default": True}
"""A field that old documents lack; its default is what they meant."""

CUSTOM: Final = "log_custom"
"""The key of the metadata that names the variant of a word of one's own."""


def key(name: str) -> Mapping[str, object]:
    """Return the metadata of a field that is called *name* in JSON."""
    return {"log_key": name}


def to_float(value: float) -> float:
    """Turn an int into the float that equals it."""
    if type(value) is int and abs(value) <= 1 << 53:
        return float(value)
    return value


def to_optional_float(value: float | None) -> float | None:
    """Do what `to_float` does, and leave None."""
    return value if value is None else to_float(value)
