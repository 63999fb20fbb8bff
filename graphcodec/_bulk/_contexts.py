"""What sealed documents in files are bound to."""

from __future__ import annotations

from graphcodec._bulk._compressions import bare_name
from graphcodec._documents._names import name_parts

__all__ = ["context_of"]


def context_of(words: str, path: str) -> bytes:
    """Return the context of a document in a file.

    Args:
        words: The context as text; ``{name}`` in it stands for the name of the file,
            without its folder and what says how it is written.
        path: Where the document is.
    """
    stem, _, _ = name_parts(bare_name(path))
    return words.replace("{name}", stem).encode()
