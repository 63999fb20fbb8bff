"""What a store is made from: it may come from a file of settings, and is checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

from graphcodec.errors import InvalidValueError

Options: TypeAlias = "Mapping[str, object] | Callable[[], Mapping[str, object]]"


def alias_of(given: object) -> str:
    """Return an alias, if it is a name.

    Args:
        given: What was given as one.

    Raises:
        InvalidValueError: If it is none.
    """
    if isinstance(given, str) and given and given.isprintable():
        return given
    raise InvalidValueError("alias: must be a printable name", value=given)


def root_of(given: object) -> str | tuple[object, str]:
    """Return a URL or file system as it is, and a path as an absolute one.

    Args:
        given: What was given as the root of a store.

    Raises:
        InvalidValueError: If it is none of these.
    """
    if _is_located(given):
        return cast("tuple[object, str]", given)
    # An empty text is a setting that is missing, and not the current folder.
    if text := _path(given):
        return _absolute(text)
    msg = "root: must be a path, a URL, or a file system of fsspec with a path in it"
    raise InvalidValueError(msg, type_name=type(given).__name__)


def options_of(given: object) -> Options:
    """Return options, copied unless a function returns them.

    Args:
        given: What was given as options.

    Raises:
        InvalidValueError: If it is neither. What it is is not shown: it may be secret.
    """
    if given is None or isinstance(given, Mapping):
        return dict(cast("Mapping[str, object]", given or {}))
    if callable(given):
        return cast("Options", given)
    msg = f"options: must be a mapping or a function, not {type(given).__name__}"
    raise InvalidValueError(msg)


def _is_located(given: object) -> bool:
    if not isinstance(given, tuple):
        return False
    pair = cast("tuple[object, ...]", given)
    kinds = [isinstance(each, str) for each in pair]
    return kinds == [False, True] and hasattr(pair[0], "storage_options")


def _path(given: object) -> str:
    try:
        text = cast("object", os.fspath(cast("str", given)))
    except TypeError:
        return ""
    return text if isinstance(text, str) else ""


def _absolute(text: str) -> str:
    for prefix in ("file://", "local://"):
        text = text.removeprefix(prefix)
    if "://" in text:
        return text
    return os.path.abspath(os.path.expanduser(text))  # noqa: PTH100, PTH111 - of str
