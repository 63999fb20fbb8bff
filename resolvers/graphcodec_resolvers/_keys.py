"""Keys: names of objects that can't lead out of the store that is asked for them."""

from __future__ import annotations

MAX_KEY_BYTES = 1024
"""The longest key, in bytes of UTF-8; what S3 takes."""

_SHOWN = 80


def key_problem(key: str) -> str | None:
    """Say why *key* can't be used in a store, or None if it can.

    A key is data for one file system that is already chosen: segments joined by ``/``
    under the root. Whatever some file system might read as more than that (another
    file system, a version, a place outside the root) is refused, not escaped.

    Args:
        key: The name of an object, relative to the root of its store.
    """
    try:
        length = len(key.encode())
    except UnicodeEncodeError:
        return "the key holds lone surrogates"
    if length > MAX_KEY_BYTES:
        return f"the key is {length} bytes long, more than {MAX_KEY_BYTES}"
    if any(character < " " or "\x7f" <= character <= "\x9f" for character in key):
        return "the key holds control characters"
    if bad := next((mark for mark in ("::", "?", "#", "\\") if mark in key), None):
        return f"the key holds {bad!r}, which file systems give a meaning of their own"
    if any(segment in {"", ".", ".."} for segment in key.split("/")):
        return "the key is absolute, or has an empty, '.' or '..' segment"
    return None


def content_key(sha256: str) -> str:
    """Return the key under which content with this hash is kept.

    Args:
        sha256: The hash, as 64 hexadecimal digits.
    """
    return f"sha256/{sha256[:2]}/{sha256}"


def shown(text: str) -> str:
    """Return *text* as an error may quote it: escaped, and not at length.

    Args:
        text: A key or name that somebody else chose.
    """
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
