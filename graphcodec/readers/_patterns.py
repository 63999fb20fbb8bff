"""Regular expressions that a stranger wrote, such as a model.

They are data: one may backtrack for ever, or ask for a program of gigabytes before it
has looked at anything. So their length and their repeats are bounded before they are
compiled, and they run on the `regex` engine, which can be stopped.
"""

from __future__ import annotations

import math
import re
from time import perf_counter
from typing import TYPE_CHECKING, Final

from graphcodec.errors import InvalidValueError, LimitExceededError

if TYPE_CHECKING:
    from collections.abc import Callable

    import regex


__all__ = ["Budget", "check_size", "check_timeout", "compiled", "refused", "unchecked"]

LONGEST_PATTERN: Final = 1000
"""How many characters a pattern may have."""

LARGEST_REPEAT: Final = 10_000
"""How often counted repeats, one inside the other, may repeat a part of a pattern."""

_OWN: Final = "a pattern that you trust can be passed as re.compile(pattern)"

_REPEAT: Final = re.compile(r"\{(\d*,?\d*)\}")
_VERBOSE: Final = re.compile(r"(?<!\\)(?:\\\\)*\(\?[A-Za-z0-9]*x")


class Budget:
    """The time that searches may still take."""

    __slots__ = ("_left", "_timeout")

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._left = timeout

    def search(
        self, pattern: regex.Pattern[str], text: str, start: int = 0
    ) -> regex.Match[str] | None:
        """Search *text* from *start* on, and take the time from the budget."""
        before = perf_counter()
        try:
            match = pattern.search(text, start, timeout=self._left)
        except TimeoutError:
            raise _spent(self._timeout) from None
        self._spend(before)
        return match

    def sub(
        self,
        pattern: regex.Pattern[str],
        put: Callable[[regex.Match[str]], str],
        text: str,
    ) -> str:
        """Return *text* with other matches, and take the time from the budget."""
        before = perf_counter()
        try:
            made = pattern.sub(put, text, timeout=self._left)
        except TimeoutError:
            raise _spent(self._timeout) from None
        self._spend(before)
        return made

    def _spend(self, before: float) -> None:
        self._left -= perf_counter() - before
        if self._left <= 0:
            raise _spent(self._timeout)


def _spent(timeout: float) -> LimitExceededError:
    """Return the error for matching that took longer than *timeout* seconds."""
    return LimitExceededError(
        f"matching the pattern took more than {timeout:g} seconds",
        hint="simplify nested repeats such as (a+)+, search for a plain word first,"
        " or give more timeout",
        limit="pattern_timeout",
        value=timeout,
    )


def check_timeout(timeout: float | None) -> None:
    """Refuse a time limit that is none.

    Args:
        timeout: A number of seconds; None for no limit.

    Raises:
        InvalidValueError: If it is not finite and above 0.
    """
    if timeout is not None and not 0 < timeout < math.inf:
        raise refused("timeout must be a finite number of seconds above 0", timeout)


def compiled(pattern: str) -> regex.Pattern[str]:
    """Return a stranger's pattern, compiled within bounds by an engine with a timeout.

    Args:
        pattern: A regular expression.

    Raises:
        InvalidValueError: If it is none, is too long or repeats too often.
    """
    check_size(pattern)
    return unchecked(pattern)


def unchecked(pattern: str, flags: str = "") -> regex.Pattern[str]:
    """Compile a stranger's pattern, which passed `check_size`.

    Args:
        pattern: The regular expression.
        flags: Letters of ``imsu``.

    Raises:
        InvalidValueError: If it is none.
    """
    # Imported on first use: most artifacts are never searched.
    import regex  # noqa: PLC0415

    bits = 0
    for letter in flags:
        bits |= getattr(regex, letter.upper())
    try:
        # What strangers send has no business in a cache that the process shares.
        return regex.compile(pattern, bits, cache_pattern=False)
    except (regex.error, ValueError, OverflowError) as exc:
        raise refused(f"not a regular expression ({exc!s:.80})", pattern) from None
    except RecursionError:
        raise refused("the pattern nests too deep", pattern) from None


def check_size(pattern: str) -> None:
    """Refuse a pattern that would be too large a program.

    Args:
        pattern: The regular expression.

    Raises:
        InvalidValueError: If it is too long, or repeats too often.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise refused(
            f"the pattern has {len(pattern)} characters, {LONGEST_PATTERN} are allowed",
            pattern,
            hint=_OWN,
        )

    if _VERBOSE.search(pattern):
        # There, blanks and comments may hide what a counted repeat says.
        raise refused("the pattern may not switch to verbose mode", pattern, hint=_OWN)

    # The engine unrolls counted repeats: four that nest fill the memory. Which of them
    # nest is for the parser to say, but not more of them than there are parentheses.
    found = re.findall(r"\d+", " ".join(_REPEAT.findall(pattern)))
    if any(len(digits) > len(str(LARGEST_REPEAT)) for digits in found):
        raise _repeats_too_often(pattern)
    largest = sorted((int(digits) for digits in found), reverse=True)
    if math.prod(n for n in largest[: pattern.count("(") + 1] if n) > LARGEST_REPEAT:
        raise _repeats_too_often(pattern)


def _repeats_too_often(pattern: str) -> InvalidValueError:
    reason = f"the pattern may repeat a part more than {LARGEST_REPEAT} times"
    return refused(reason, pattern, hint=_OWN)


def refused(reason: str, value: object, *, hint: str = "") -> InvalidValueError:
    """Return the error for an argument that makes no sense, with an excerpt of it."""
    shown = value[:80] if isinstance(value, str) else value
    return InvalidValueError(reason, hint=hint, value=f"{shown!r:.80}")
