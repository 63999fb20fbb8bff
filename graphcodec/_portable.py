"""Exceptions that another process can be given."""

from __future__ import annotations

import pickle
from typing import TypeVar

E = TypeVar("E", bound=BaseException)


def portable(error: E) -> E | RuntimeError:
    """Return *error*, or a stand-in with its repr if it can't be pickled whole.

    Args:
        error: What somebody's code raised.
    """
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    except Exception:  # noqa: BLE001 - whatever a foreign exception's pickling raises
        return RuntimeError(repr(error))
    return error
