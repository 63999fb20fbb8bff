"""What the last saves of a cache cut.

Nothing depends on it but time: a script in Redis looks whether what it promises is
there.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from graphcodec._cache._arguments import Keys
    from graphcodec._cache._cutting import Memo

_MOST_SESSIONS: Final = 1_000
_MOST_PIECES: Final = 100_000


class Memos:
    """The memos of as many sessions as there is room for; for all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._memos: OrderedDict[Keys, Memo] = OrderedDict()
        self._pieces = 0

    def get(self, keys: Keys) -> Memo | None:
        """Return the memo of a session, if there is one.

        Args:
            keys: The keys of the session.
        """
        with self._lock:
            return self._memos.get(keys)

    def put(self, keys: Keys, memo: Memo | None) -> None:
        """Remember the memo of a session, and forget the oldest ones.

        Args:
            keys: The keys of the session.
            memo: Its memo; None to forget it.
        """
        with self._lock:
            old = self._memos.pop(keys, None)
            self._pieces -= len(old.pieces) if old else 0
            if memo is not None:
                self._memos[keys] = memo
                self._pieces += len(memo.pieces)
            while len(self._memos) > _MOST_SESSIONS or self._pieces > _MOST_PIECES:
                _, oldest = self._memos.popitem(last=False)
                self._pieces -= len(oldest.pieces)
