"""Graphs without secrets: `redact`, its rules and its report."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from graphcodec._redaction._reports import RedactedPlace, RedactionReport
from graphcodec._redaction._rules import Redaction, rules_of
from graphcodec._redaction._running import TIMEOUT, redacted
from graphcodec._redaction._secrets import PERSONAL, SECRETS

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "PERSONAL",
    "SECRETS",
    "RedactedPlace",
    "Redaction",
    "RedactionReport",
    "redact",
]

T = TypeVar("T")


def redact(
    graph: T, rules: Iterable[Redaction], *, timeout: float = TIMEOUT
) -> tuple[T, RedactionReport]:
    """Return a graph without what must not be written, and what was found.

    The original is left as it is. What holds something that changes, at any distance,
    is made anew by its constructor, with the sharing and the cycles; all else is the
    same object as before. Doing it again changes nothing more, unless a rule names
    positions and one drops entries before them.

    Args:
        graph: A primitive, or any value that a graph may be. Only builtin containers,
            attrs classes, dataclasses, pydantic models, msgspec Structs and classes
            with ``__graphcodec_encode__`` are looked into; the report names the others.
        rules: What to look for. Where several are about one value as a whole, the first
            one counts. Rules with patterns are applied one after the other.
        timeout: How many seconds all matching may take.

    Raises:
        InvalidValueError: If a class refuses what a rule puts into an object of it;
            names the rule and the path. Or if an argument makes no sense.
        CyclicGraphError: If something to be changed lies in a cycle through frozen
            objects alone.
        LimitExceededError: If the matching takes longer than *timeout*.
    """
    return redacted(graph, rules_of(rules), timeout=timeout)
