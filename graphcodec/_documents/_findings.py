"""What is wrong with a document: each thing with its place, and how bad it is."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from attrs import Factory, define, field, frozen

Severity: TypeAlias = Literal["error", "warning"]

MOST: Final = 100
"""How many findings are kept; somebody who has more needs another remedy."""


@frozen(kw_only=True)
class Finding:
    """One thing that is wrong with a document.

    Attributes:
        severity: ``error`` if a reader refuses the document for it, else ``warning``.
        kind: What sort of thing it is, in a word or two: ``unknown-tag``.
        message: What it is.
        path: Where, as errors say it; empty if it is about no part.
        offset: At which byte of the document; None if that is not known.
        hint: What to do about it; empty if there is nothing to say.
    """

    severity: Severity
    kind: str
    message: str
    path: str = ""
    offset: int | None = None
    hint: str = ""


@define
class Findings:
    """What was found so far, up to a number.

    Attributes:
        most: How many are kept.
        found: Those that are kept.
    """

    most: int = MOST
    found: list[Finding] = Factory(list[Finding])
    _known: set[tuple[str, str]] = field(factory=set[tuple[str, str]], init=False)

    def add(self, finding: Finding) -> None:
        """Keep a finding, unless it is known already or there is no room.

        Args:
            finding: What was found.
        """
        key = (finding.path, finding.message)
        if key not in self._known and not self.full:
            self._known.add(key)
            self.found.append(finding)

    @property
    def full(self) -> bool:
        """Whether nothing more is kept."""
        return len(self.found) >= self.most

    def error(
        self,
        kind: str,
        message: str,
        path: str = "",
        *,
        offset: int | None = None,
        hint: str = "",
    ) -> None:
        """Keep an error.

        Args:
            kind: Its kind.
            message: What it is.
            path: Where.
            offset: At which byte.
            hint: What to do about it.
        """
        self.add(
            Finding(
                severity="error",
                kind=kind,
                message=message,
                path=path,
                offset=offset,
                hint=hint,
            )
        )

    def warning(
        self,
        kind: str,
        message: str,
        path: str = "",
        *,
        offset: int | None = None,
        hint: str = "",
    ) -> None:
        """Keep a warning.

        Args:
            kind: Its kind.
            message: What it is.
            path: Where.
            offset: At which byte.
            hint: What to do about it.
        """
        self.add(
            Finding(
                severity="warning",
                kind=kind,
                message=message,
                path=path,
                offset=offset,
                hint=hint,
            )
        )

    def wrong(self, path: str) -> bool:
        """Say whether there is an error at a path, or in what stands there.

        Args:
            path: The path.
        """
        inside = (f"{path}.", f"{path}[")
        return any(
            known.severity == "error"
            and (known.path == path or known.path.startswith(inside))
            for known in self.found
        )
