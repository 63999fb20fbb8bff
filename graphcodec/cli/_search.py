"""Objects and texts found in a document, with their paths."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from graphcodec._documents._classless import reference, steps, tag_of
from graphcodec._paths import Trail, path_of
from graphcodec.errors import InvalidValueError, LimitExceededError
from graphcodec.view._locators import shown_reader

if TYPE_CHECKING:
    import regex

_PATIENCE: Final = 20.0
_LONGEST_PATTERN: Final = 1_000
_AROUND: Final = 30


@frozen
class Match:
    """Something that was sought.

    Attributes:
        path: Where it is.
        value: What it is, as on the wire.
        excerpt: For a text, the part that matches with a little around it.
    """

    path: str
    value: Any
    excerpt: str = ""


def of_type(value: Any, nodes: list[Any], tag: str, trail: Trail) -> Iterator[Match]:
    """Yield the objects of a tag.

    Args:
        value: The part of the document to look into.
        nodes: The nodes of the document.
        tag: The tag.
        trail: Where the part is.
    """
    for item, where in _everything(value, nodes, trail):
        if tag_of(item) == tag:
            yield Match(path_of(where), item)


def matching(
    value: Any, nodes: list[Any], pattern: regex.Pattern[str], trail: Trail
) -> Iterator[Match]:
    """Yield the texts in which a pattern is found.

    Args:
        value: The part of the document to look into.
        nodes: The nodes of the document.
        pattern: The pattern.
        trail: Where the part is.

    Raises:
        LimitExceededError: If it takes too long.
    """
    end = monotonic() + _PATIENCE
    for item, where in _everything(value, nodes, trail):
        if type(item) is not str:
            continue
        try:
            found = pattern.search(item, timeout=max(0.001, end - monotonic()))
        except TimeoutError:
            msg = f"the pattern took more than {_PATIENCE:.0f} seconds"
            hint = "write one that backtracks less"
            raise LimitExceededError(
                msg, path=path_of(where), limit="time", hint=hint
            ) from None
        if found is not None:
            yield Match(path_of(where), item, _around(item, *found.span()))


def compiled(pattern: str) -> regex.Pattern[str]:
    """Return a pattern in a form that can be stopped.

    Args:
        pattern: A regular expression.

    Raises:
        InvalidValueError: If it is none.
    """
    import regex  # noqa: PLC0415 - only who searches needs it

    if len(pattern) > _LONGEST_PATTERN:
        msg = f"a pattern has at most {_LONGEST_PATTERN:,} characters"
        raise InvalidValueError(msg)
    try:
        return regex.compile(pattern)
    except regex.error as exc:
        msg = f"this is no regular expression: {exc}"
        raise InvalidValueError(msg) from None


def _around(text: str, start: int, end: int) -> str:
    first, last = max(0, start - _AROUND), end + _AROUND
    before, after = "…" * (first > 0), "…" * (last < len(text))
    return f"{before}{text[first:last]}{after}"


def _everything(
    value: Any, nodes: list[Any], trail: Trail
) -> Iterator[tuple[Any, Trail]]:
    """Yield all parts in the order of the document, each node once."""
    seen: set[int] = set()
    stack: list[tuple[Any, Trail]] = [(value, trail)]
    while stack:
        value, trail = stack.pop()
        value = shown_reader(value)
        number = reference(value)
        if number is not None:
            if number not in seen and 0 <= number < len(nodes):
                seen.add(number)
                stack.append((nodes[number], trail))
            continue
        yield value, trail
        inner = [
            (item, trail if step is None else (trail, step))
            for step, item in steps(value)
        ]
        stack.extend(reversed(inner))
