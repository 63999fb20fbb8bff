"""What rules do to texts."""

from __future__ import annotations

from decimal import Decimal
from pathlib import (
    PosixPath,
    PurePath,
    PurePosixPath,
    PureWindowsPath,
    WindowsPath,
)
from typing import TYPE_CHECKING, Final, TypeAlias, cast
from uuid import UUID

import msgspec
import regex

from graphcodec._graphs._rebuild import DROPPED
from graphcodec.errors import LimitExceededError
from graphcodec.primitives import Tokenizable
from graphcodec.readers._contracts import Reader, handle_of
from graphcodec.readers._memory import BytesReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from graphcodec._redaction._rules import Redaction
    from graphcodec.readers._patterns import Budget

Counts: TypeAlias = "dict[str, int]"
"""How many matches there were, by the names of the rules."""

_MOST_PASSES: Final = 10
_NUMBER: Final = r"\[#\d{1,6}\]"
"""What stands behind a key that became the same as another one."""

_WIDEST_INT: Final = 256
_PATHS: Final = frozenset(
    {PurePosixPath, PureWindowsPath, PosixPath, WindowsPath, PurePath}
)
TEXTS: Final = frozenset({str, bytes, bytearray, int, Decimal, UUID}) | _PATHS
"""The types of what has a text."""


def text_of(value: object) -> str | None:
    """Return what patterns are looked for in; None if there is nothing.

    Bytes that are not UTF-8 become characters that stand for just these bytes.

    Args:
        value: A scalar, or bytes.
    """
    kind = type(value)
    if kind is str:
        return cast("str", value)
    if kind is bytes or kind is bytearray:
        return cast("bytes", value).decode("utf-8", "surrogateescape")
    if kind is int:
        number = cast("int", value)
        # Decimal text of a huge int is slow, and no key or card is as long.
        return str(number) if number.bit_length() <= _WIDEST_INT else None
    return str(value) if kind in TEXTS else None


def formed(text: str, model: object) -> object:
    """Return a text in the form of what it replaces.

    Args:
        text: The text.
        model: A text, bytes, path, `Tokenizable` or reader; for anything else the text
            stays what it is.
    """
    kind = type(model)
    if kind is bytes or kind is bytearray:
        return kind(text.encode("utf-8", "surrogateescape"))
    if kind in _PATHS:
        return kind(text)
    if kind is Tokenizable:
        return Tokenizable(text)
    if isinstance(model, Reader):
        return BytesReader(text.encode("utf-8", "surrogateescape"))
    return text


class Texts:
    """Looks for what rules look for, as long as there is time.

    Args:
        rules: All rules, of which some apply to a text.
        budget: The time.
    """

    def __init__(self, rules: Sequence[Redaction], budget: Budget) -> None:
        self._budget = budget
        shields = [_NUMBER, *filter(None, (rule.shield() for rule in rules))]
        self._shield = regex.compile("|".join(shields))

    def cleaned(
        self, text: str, rules: Sequence[Redaction], counts: Counts
    ) -> str | None:
        """Return a text without what rules find in it; None if it is to go.

        Args:
            text: The text.
            rules: Rules with patterns.
            counts: Takes the number of matches.

        Raises:
            LimitExceededError: If it takes too long, or does not come to an end.
        """
        # What a rule puts there may complete what another one, or it itself, finds.
        for _ in range(_MOST_PASSES):
            before = text
            for rule in rules:
                text = self._replaced(text, rule, counts)
                if rule.action == "drop" and rule.name in counts:
                    return None
            if text == before:
                return text
        names = ", ".join(repr(rule.name) for rule in rules if rule.name in counts)
        msg = f"the rules {names} find something again in what they put into a text"
        hint = "let no pattern match a replacement and what may stand next to it"
        raise LimitExceededError(msg, hint=hint, limit="redaction_passes")

    def _replaced(self, text: str, rule: Redaction, counts: Counts) -> str:
        pattern = rule.pattern
        assert pattern is not None  # noqa: S101 - only those with one come here
        try:
            if self._budget.search(pattern, text) is None:
                return text
            return self._budget.sub(pattern, self._putting(text, rule, counts), text)
        except LimitExceededError as exc:
            exc.message = f"the rule {rule.name!r}: {exc.message}"
            raise

    def _putting(
        self, text: str, rule: Redaction, counts: Counts
    ) -> Callable[[regex.Match[str]], str]:
        """Return what gives each match of a rule, in their order, what replaces it."""
        shielded = self._shielded(text)

        def put(match: regex.Match[str]) -> str:
            found = match.group()
            if not found or (rule.check is not None and not rule.check(found)):
                return found
            if shielded(match):
                return found
            counts[rule.name] = counts.get(rule.name, 0) + 1
            return found if rule.action == "drop" else rule.stand_in(found)

        return put

    def _shielded(self, text: str) -> Callable[[regex.Match[str]], bool]:
        """Return what says of matches, in their order, if a rule has put them there."""
        spans = self._shield.finditer(text)
        span = next(spans, None)

        def is_shielded(match: regex.Match[str]) -> bool:
            nonlocal span
            while span is not None and span.end() < match.end():
                span = next(spans, None)
            return span is not None and span.start() <= match.start()

        return is_shielded


def cleaned_reader(reader: Reader, clean: Callable[[str], str | None]) -> object:
    """Return a reader without what is not to be written; itself if that is nothing.

    Args:
        reader: Any reader. The bytes of one in memory are looked at; of another one,
            the locator alone.
        clean: Returns a text without it, None if it is to go.
    """
    if isinstance(reader, BytesReader):
        text = reader.data.decode("utf-8", "surrogateescape")
        made = clean(text)
        if made is None:
            return DROPPED
        return reader if made == text else formed(made, reader)
    descriptor = handle_of(reader)
    if descriptor is None:
        return reader
    for text in _texts_in(descriptor.locator):
        made = clean(text)
        if made is None:
            return DROPPED
        if made != text:
            return formed(made, reader)
    return reader


def _texts_in(tree: object) -> Iterable[str]:
    """Yield the texts of a locator, which is plain JSON."""
    stack = [tree]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, (list, tuple)):
            stack += cast("Iterable[object]", item)
        elif hasattr(item, "items"):
            table = cast("dict[str, object]", item)
            stack += (*table.keys(), *table.values())


def handle_text(reader: Reader) -> str:
    """Return a text that tells a reader from others.

    Args:
        reader: Any reader.
    """
    if isinstance(reader, BytesReader):
        return reader.data.decode("utf-8", "surrogateescape")
    descriptor = handle_of(reader)
    if descriptor is None:
        return ""
    locator = msgspec.json.encode(dict(descriptor.locator), order="sorted")
    return f"{descriptor.scheme} {locator.decode()}"
