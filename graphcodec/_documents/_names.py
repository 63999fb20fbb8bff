"""Names of files that say what is in them: ``talk.msgpack.zstd``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from graphcodec._compressing import Compression

FORMATS: Final = ("json", "msgpack")
COMPRESSIONS: Final[Mapping[str, Compression]] = MappingProxyType(
    {"gzip": "gzip", "zstd": "zstd"}
)


def name_parts(name: str) -> tuple[str, str, str]:
    """Return the stem of a file's name, and what it says of format and compression.

    Args:
        name: The name, without folders.
    """
    stem, format_, compression = name, "", ""
    if stem.rpartition(".")[2] in COMPRESSIONS:
        stem, _, compression = stem.rpartition(".")
    if stem.rpartition(".")[2] in FORMATS:
        stem, _, format_ = stem.rpartition(".")
    return stem, format_, compression
