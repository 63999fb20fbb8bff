"""Which rules are about what an object holds.

The paths of all rules are one automaton. Its state is a set of bits: for each rule how
far along its path one may be, and whether one is inside of what it is about. An object
has the state of all ways that lead to it, so each is looked at a bounded number of
times, whatever shares it and whatever cycles there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from attrs import frozen

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from graphcodec._graphs._traverse import Edge
    from graphcodec._paths import Step
    from graphcodec._redaction._places import Segment
    from graphcodec._redaction._rules import Redaction

_ANY_INDEX: Final = -1


@frozen
class Compiled:
    """A rule, and its bits.

    Attributes:
        rule: The rule.
        inside: The bit that says that one is inside of what it is about.
        first: The bit of the first step of its path.
        segments: The steps of its path, if it has one.
        globs: What the name of the field must match one of, if it matters.
    """

    rule: Redaction
    inside: int
    first: int
    segments: tuple[Segment, ...] | None
    globs: tuple[re.Pattern[str], ...]

    @property
    def is_whole(self) -> bool:
        """Whether it is about values and not about texts in them."""
        return self.rule.pattern is None

    @property
    def is_everywhere(self) -> bool:
        """Whether it is about the whole graph."""
        rule = self.rule
        return rule.path is None and rule.type is None and rule.field is None


class Selection:
    """All rules of one call.

    Args:
        rules: The rules.
    """

    def __init__(self, rules: Sequence[Redaction]) -> None:
        self.rules = tuple(_compiled(rules))
        self.inside = sum(item.inside for item in self.rules)
        self._has_index = any(
            type(segment.wanted) is int
            for item in self.rules
            for segment in item.segments or ()
        )
        self._steps: dict[tuple[int, Step], tuple[int, tuple[Compiled, ...]]] = {}

    def root(self, value: object) -> tuple[int, Compiled | None]:
        """Return the state of the graph itself, and the rule about it, if one is.

        Args:
            value: The graph.
        """
        state, reached = 0, list[Compiled]()
        for item in self.rules:
            if item.is_everywhere:
                state |= item.inside
            elif item.segments:
                state |= item.first
            elif not item.globs and _is_of(value, item.rule):
                reached.append(item)
        return self._chosen(state, reached)

    def step(
        self, state: int, holder: object, edge: Edge
    ) -> tuple[int, Compiled | None]:
        """Return the state of what an object holds, and the rule about it, if one is.

        Args:
            state: That of the object.
            holder: The object.
            edge: What it holds.
        """
        if edge.step is None:
            return state, None
        if edge.hashed and type(holder) is dict:
            # A key is named by nothing; its texts belong to the dict.
            return state & self.inside, None
        following, reached = self._stepped(state, edge.step)
        fitting = [
            item
            for item in reached
            if _is_of(holder if item.globs else edge.value, item.rule)
        ]
        return self._chosen(following, fitting)

    def _chosen(
        self, state: int, reached: list[Compiled]
    ) -> tuple[int, Compiled | None]:
        whole = None
        for item in reached:
            if item.is_whole:
                whole = whole or item
            else:
                state |= item.inside
        return state, whole

    def _stepped(self, state: int, step: Step) -> tuple[int, tuple[Compiled, ...]]:
        if type(step) is int and not self._has_index:
            step = _ANY_INDEX
        found = self._steps.get((state, step))
        if found is None:
            found = self._steps[state, step] = self._computed(state, step)
        return found

    def _computed(self, state: int, step: Step) -> tuple[int, tuple[Compiled, ...]]:
        following = state & self.inside
        reached: list[Compiled] = []
        for item in self.rules:
            if item.is_everywhere:
                continue
            arrived = item.segments is None
            for number, segment in enumerate(item.segments or ()):
                bit = item.first << number
                if not state & bit:
                    continue
                if segment.deep:
                    following |= bit
                if segment.fits(step):
                    last = number + 1 == len(item.segments or ())
                    following |= 0 if last else bit << 1
                    arrived = arrived or last
            if arrived and _is_named(step, item.globs):
                reached.append(item)
        return following, tuple(reached)


def _is_named(step: Step, globs: tuple[re.Pattern[str], ...]) -> bool:
    return not globs or (type(step) is str and any(glob.match(step) for glob in globs))


def _is_of(value: object, rule: Redaction) -> bool:
    return rule.type is None or isinstance(value, rule.type)


def _compiled(rules: Sequence[Redaction]) -> list[Compiled]:
    found: list[Compiled] = []
    bit = 1
    for rule in rules:
        segments = rule.segments()
        found.append(Compiled(rule, bit, bit << 1, segments, rule.globs()))
        bit <<= 1 + len(segments or ())
    return found
