"""What came of a job over many documents."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

__all__ = ["Failure", "Report"]


@frozen(kw_only=True)
class Failure:
    """One document that is as it was, and why.

    Attributes:
        name: What the document is called.
        error: What was raised.
        traceback: Where, as text: the traceback of another process.
    """

    name: str
    error: Exception = field(eq=False)
    traceback: str = field(default="", repr=False, eq=False)

    def __str__(self) -> str:
        return f"{self.name}: {self.error}"


@frozen(kw_only=True)
class Report:
    """What a job over many documents has done.

    Attributes:
        done: How many documents were done now.
        skipped: How many were found done.
        failures: Those that could not be done, in no order.
        reasons: Why there was something to do, if the work says so, and for how many.
    """

    done: int = 0
    skipped: int = 0
    failures: tuple[Failure, ...] = ()
    reasons: Mapping[str, int] = field(factory=dict[str, int])

    @property
    def total(self) -> int:
        """How many documents there were."""
        return self.done + self.skipped + len(self.failures)
