"""What a redaction found, without showing it."""

from __future__ import annotations

from collections.abc import Mapping

import attrs


@attrs.frozen
class RedactedPlace:
    """A place that a rule changed.

    Attributes:
        path: Where it is, or was; keys are shown as they are after the redaction.
        rule: The name of the rule.
        count: How many matches it had there; 1 for a value as a whole.
    """

    path: str
    rule: str
    count: int


@attrs.frozen
class RedactionReport:
    """What a redaction changed, and what it did not look into.

    Attributes:
        counts: How many values and matches each rule replaced, by its name, in the
            order of the rules; 0 for one that found nothing.
        places: The first 200 places.
        unseen: How many readers there are with bytes elsewhere, and objects that
            cannot be looked into, by the name of their class.
    """

    counts: Mapping[str, int]
    places: tuple[RedactedPlace, ...]
    unseen: Mapping[str, int]

    @property
    def total(self) -> int:
        """How many values and matches were replaced."""
        return sum(self.counts.values())

    @property
    def unmatched(self) -> tuple[str, ...]:
        """The names of the rules that found nothing."""
        return tuple(name for name, count in self.counts.items() if not count)
