"""Paths with wildcards: ``$.items[*].args.*_token``, ``$..password``."""

from __future__ import annotations

import re
from fnmatch import translate
from typing import TYPE_CHECKING, Final

from attrs import frozen

from graphcodec._paths import excerpt
from graphcodec.errors import InvalidValueError

if TYPE_CHECKING:
    from graphcodec._paths import Step

_LONGEST_PATH: Final = 1_000
_MOST_SEGMENTS: Final = 50

_SEGMENT: Final = re.compile(
    r"""(?P<deep>\.\.)? \.?
    (?: \[ (?P<index>\d{1,18}|\*) \]
      | \[ (?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*') \]
      | (?P<name>[\w*?-]+) )""",
    re.VERBOSE,
)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_HINT: Final = "paths look like $.items[*].content, $..password or $.args['odd key']"


@frozen
class Segment:
    """One step of a path.

    Attributes:
        wanted: The name or the position; None for any.
        glob: What the name must match, if it has wildcards.
        deep: Whether any steps may come before it.
    """

    wanted: str | int | None
    glob: re.Pattern[str] | None = None
    deep: bool = False

    def fits(self, step: Step) -> bool:
        """Say whether a step is this one.

        Args:
            step: A field, key or position.
        """
        if self.glob is not None:
            return type(step) is str and self.glob.match(step) is not None
        return self.wanted is None or (
            type(step) is type(self.wanted) and step == self.wanted
        )


def parsed_path(path: object) -> tuple[Segment, ...]:
    """Return the segments of a path; none for ``$``, which is the graph itself.

    Args:
        path: A path as errors show it, with ``*`` for any step or any part of a name
            and ``..`` for any number of steps.

    Raises:
        InvalidValueError: If it is none.
    """
    if type(path) is not str or path[:1] != "$" or len(path) > _LONGEST_PATH:
        raise _refused(path)
    segments: list[Segment] = []
    position = 1
    while position < len(path):
        match = _SEGMENT.match(path, position)
        if match is None or len(segments) == _MOST_SEGMENTS:
            raise _refused(path)
        if match["name"] is not None and path[position] != ".":
            raise _refused(path)
        segments.append(_segment(match))
        position = match.end()
    return tuple(segments)


def _segment(match: re.Match[str]) -> Segment:
    deep = match["deep"] is not None
    if match["quoted"] is not None:
        return Segment(_ESCAPED.sub(r"\1", match["quoted"][1:-1]), deep=deep)
    found = match["name"] or match["index"]
    if found == "*":
        return Segment(None, deep=deep)
    if match["index"] is not None:
        return Segment(int(found), deep=deep)
    return Segment(found, glob_of(found, case=True), deep)


def glob_of(name: str, *, case: bool) -> re.Pattern[str] | None:
    """Return what a name with wildcards must match; None if it has none.

    Args:
        name: The name.
        case: Whether upper and lower case differ. If not, every name has a pattern.
    """
    if case and not set("*?") & set(name):
        return None
    return re.compile(translate(name), 0 if case else re.IGNORECASE)


def _refused(path: object) -> InvalidValueError:
    msg = f"path must be a path such as $.items[*].content, not {excerpt(path)}"
    return InvalidValueError(msg, path="$.path", hint=_HINT)
