"""What a session has spent, and what is left."""

from __future__ import annotations

import math
import threading

from graphcodec.errors import InvalidValueError
from graphcodec.log._usage import TokenSnapshot, UsageReport

__all__ = ["TokenLedger"]

_MICRO = 1_000_000


class TokenLedger:
    """Counts the tokens and the cost of a session; thread-safe.

    Args:
        budget: The most tokens that may be spent: None for no bound, 0 for none at all.

    Raises:
        InvalidValueError: If the budget is negative or no int.
    """

    def __init__(self, budget: int | None = None) -> None:
        if budget is not None and (type(budget) is not int or budget < 0):
            msg = f"budget must be an int from 0 or None, not {budget!r:.40}"
            raise InvalidValueError(msg)
        self._budget = budget
        self._lock = threading.Lock()
        self._input = 0
        self._output = 0
        self._cached = 0
        self._micro_cost = 0
        self._rolling = 0

    def record(self, usage: UsageReport) -> None:
        """Count what a turn took; once for a turn, whose messages bear one report.

        Args:
            usage: The report of the turn.
        """
        got, gave = _whole(usage.input), _whole(usage.output)
        cached = _whole(usage.cache_read) + _whole(usage.cache_write)
        with self._lock:
            self._input += got
            self._output += gave
            self._cached += cached
            self._rolling += got + gave
            self._micro_cost += _whole(usage.cost.total() * _MICRO)

    @property
    def total(self) -> int:
        """All tokens, those from and to the cache included."""
        with self._lock:
            return self._total()

    def _total(self) -> int:
        return self._input + self._output + self._cached

    @property
    def rolling(self) -> int:
        """The tokens since `reset_rolling`, those from and to the cache left out."""
        with self._lock:
            return self._rolling

    def reset_rolling(self) -> None:
        """Begin to count `rolling` anew."""
        with self._lock:
            self._rolling = 0

    @property
    def remaining(self) -> int | None:
        """What is left of the budget; None if there is none."""
        with self._lock:
            return self._remaining()

    def _remaining(self) -> int | None:
        return None if self._budget is None else max(self._budget - self._total(), 0)

    @property
    def is_exhausted(self) -> bool:
        """Whether nothing is left of the budget."""
        return self.remaining == 0

    def clamp(self, max_tokens: int) -> int:
        """Return the most tokens that a model may be asked for.

        Args:
            max_tokens: What one would like.
        """
        left = self.remaining
        return max_tokens if left is None else min(max_tokens, left)

    def snapshot(self) -> TokenSnapshot:
        """Return the present state as a record holds it."""
        with self._lock:
            return TokenSnapshot(
                total=self._total(),
                input=self._input,
                output=self._output,
                rolling=self._rolling,
                budget=self._budget,
                remaining=self._remaining(),
                cost=self._micro_cost / _MICRO,
            )


def _whole(number: float) -> int:
    """Round half away from zero; what is below zero counts as zero."""
    return max(math.floor(number + 0.5), 0)
