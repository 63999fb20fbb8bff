"""One redaction of one graph.

First the state of every object is found: which rules hold on some way to it. Then the
graph is gone through in the order of the document, and what is to be changed is noted
place by place. Then all that holds a changed place is made again. All three take time
linear in the graph, and none recurses.
"""

from __future__ import annotations

import base64
import binascii
import enum
from typing import TYPE_CHECKING, Final, TypeVar, cast

import attrs

from graphcodec._callables import type_name
from graphcodec._classes._layouts import layout_of
from graphcodec._graphs._rebuild import DROPPED, Functions, Rewriting, rebuilt
from graphcodec._graphs._traverse import CONTAINERS, LEAVES, Edge, edges
from graphcodec._paths import excerpt, path_of
from graphcodec._redaction._reports import RedactedPlace, RedactionReport
from graphcodec._redaction._selecting import Selection
from graphcodec._redaction._texts import (
    TEXTS,
    Counts,
    Texts,
    cleaned_reader,
    formed,
    handle_text,
    text_of,
)
from graphcodec.errors import GraphCodecError, InvalidValueError
from graphcodec.primitives import Tokenizable
from graphcodec.primitives._containers import copy_containers
from graphcodec.readers._contracts import Reader
from graphcodec.readers._memory import BytesReader
from graphcodec.readers._patterns import Budget, check_timeout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from graphcodec._paths import Step, Trail
    from graphcodec._redaction._rules import Redaction
    from graphcodec._redaction._selecting import Compiled

    FunctionsOf = Callable[[type], Functions | None]

T = TypeVar("T")

TIMEOUT: Final = 30.0
"""How many seconds all matching of one redaction may take unless told otherwise."""

_MOST_PLACES: Final = 200
_LONGEST_WORD: Final = 100
_NOTHING: Final = frozenset[type]()
_SCALARS: Final = LEAVES | TEXTS
_BASE64: Final = ("$bytes", "$bytearray")
_COMPARED: Final = (str, bytes, bytearray, int, float, BytesReader, Tokenizable)


def redacted(
    graph: T,
    rules: Sequence[Redaction],
    *,
    timeout: float = TIMEOUT,
    functions: FunctionsOf | None = None,
) -> tuple[T, RedactionReport]:
    """Return a graph without what rules are about, and the report.

    Args:
        graph: Any graph; it is left as it is.
        rules: The rules.
        timeout: How many seconds all matching may take.
        functions: Returns the two functions that turn an instance of a class into a
            value and back, where there is no other way to look into it.
    """
    check_timeout(timeout)
    run = _Run(graph, rules, Budget(timeout), functions)
    made = run.result()
    return cast("T", made), run.report()


@attrs.define(eq=False)
class _Part:
    """An object, what it holds and the state of all ways to it."""

    obj: object
    edges: list[Edge]
    state: int = 0
    trail: Trail = None
    changes: dict[object, object] = attrs.field(factory=dict[object, object])
    rules: dict[str, None] = attrs.field(factory=dict[str, None])
    is_noted: bool = False


class _Run(Rewriting):
    def __init__(
        self,
        graph: object,
        rules: Sequence[Redaction],
        budget: Budget,
        functions: FunctionsOf | None,
    ) -> None:
        super().__init__(graph)
        self._functions = functions
        self._graph = graph
        self._selection = Selection(rules)
        self._texts = Texts(rules, budget)
        self._counts = dict.fromkeys((rule.name for rule in rules), 0)
        self._places: list[RedactedPlace] = []
        self._unseen: dict[str, int] = {}
        # Hold what they are about, so that no id is used again.
        self._parts: dict[int, _Part] = {}
        self._readers: dict[tuple[int, int], tuple[Reader, object, Counts]] = {}
        self._words: dict[tuple[int, str], tuple[str | None, Counts]] = {}
        self._known: dict[int, object] = {}

    def result(self) -> object:
        box = _Part([self._graph], [Edge(None, self._graph, place=0)])
        state, whole = self._selection.root(self._graph)
        self._note(box, box.edges[0], (state, whole), None)
        if box.changes:
            made = box.changes[0]
            return None if made is DROPPED else made
        if not self._is_open(self._graph):
            return self._graph
        self._spread(state)
        self._go_through()
        return rebuilt(self._graph, self)

    def report(self) -> RedactionReport:
        return RedactionReport(self._counts, tuple(self._places), self._unseen)

    def _is_open(self, value: object) -> bool:
        """Say whether something may lie in a value."""
        kind = type(value)
        if kind in _SCALARS:
            return False
        if kind in CONTAINERS or layout_of(kind).kind != "leaf":
            return True
        return self.functions(kind) is not None

    # The states

    def _spread(self, state: int) -> None:
        """Give each object the states of all ways that lead to it."""
        todo = [self._arrived(self._graph, state)]
        while todo:
            part = todo.pop()
            if part is None:
                continue
            for edge in part.edges:
                if self._is_open(edge.value):
                    reached, whole = self._selection.step(part.state, part.obj, edge)
                    if whole is None:
                        todo.append(self._arrived(edge.value, reached))

    def _arrived(self, obj: object, state: int) -> _Part | None:
        """Return the part of an object if a way to it is new, None if none is."""
        part = self._parts.get(id(obj))
        if part is None:
            functions = self.functions(type(obj))
            held = (
                edges(obj, _NOTHING)
                if functions is None
                else [Edge(None, functions[0](obj))]
            )
            part = self._parts[id(obj)] = _Part(obj, held, state)
            return part
        if part.state | state == part.state:
            return None
        part.state |= state
        return part

    # The changes

    def _go_through(self) -> None:
        todo: list[tuple[object, Trail]] = [(self._graph, None)]
        while todo:
            obj, trail = todo.pop()
            part = self._parts[id(obj)]
            if not part.is_noted:
                part.is_noted, part.trail = True, trail
                todo += reversed(self._noted(part))

    def _noted(self, part: _Part) -> list[tuple[object, Trail]]:
        """Note what changes in an object; return what is to be looked at next."""
        is_dict = type(part.obj) is dict
        names = self._keys(part) if is_dict else {}
        kept: list[Edge] = []
        following: list[tuple[object, Trail]] = []
        for edge in part.edges:
            if is_dict and edge.hashed and not self._is_open(edge.value):
                continue
            step = names.get(edge.place, edge.step)
            trail = part.trail if step is None else (part.trail, step)
            found = self._selection.step(part.state, part.obj, edge)
            self._note(part, edge, found, trail)
            if edge.place not in part.changes and self._is_open(edge.value):
                kept.append(edge)
                following.append((edge.value, trail))
        part.edges = kept
        return following

    def _keys(self, part: _Part) -> dict[object, Step]:
        """Change the keys of a dict; return what paths say of those that change."""
        shown: dict[object, Step] = {}
        if not part.state & self._selection.inside:
            return shown
        keys = [edge for edge in part.edges if edge.hashed]
        renamed: list[Edge] = []
        for edge in keys:
            counts: Counts = {}
            made = edge.value
            if not self._is_open(made):
                made = self._in_leaf(None, made, part.state, part.trail, counts)
            if made is not edge.value:
                renamed.append(edge)
                part.changes[edge.place] = made
                self._count(part, counts, (part.trail, _shown(made)))
        taken = {edge.value for edge in keys if edge.place not in part.changes}
        numbers: dict[object, int] = {}
        for edge in renamed:
            made = _untaken(part.changes[edge.place], taken, numbers)
            part.changes[edge.place] = made
            shown[~cast("int", edge.place)] = _shown(made)
        return shown

    def _note(
        self,
        part: _Part,
        edge: Edge,
        found: tuple[int, Compiled | None],
        trail: Trail,
    ) -> None:
        """Note what becomes of one thing that an object holds."""
        state, whole = found
        value = edge.value
        counts: Counts = {}
        if whole is not None and value is not None:
            made = self._whole(value, whole.rule, trail)
            if made is not DROPPED and _is_same(made, value):
                return
            counts[whole.rule.name] = 1
        else:
            made = self._in_leaf(part.obj, value, state, trail, counts)
            if made is value:
                return
        part.changes[edge.place] = made
        self._count(part, counts, trail)

    def _in_leaf(
        self, holder: object, value: object, state: int, trail: Trail, counts: Counts
    ) -> object:
        """Return a value that nothing lies in, without what is not to be written."""
        if type(value) not in TEXTS:
            self._see(value)
            if not isinstance(value, Reader):
                return value
        inside = state & self._selection.inside
        if not inside:
            return value
        try:
            if isinstance(value, Reader):
                return self._in_reader(value, inside, counts)
            if type(value) is str and _is_base64(holder):
                return self._in_base64(value, inside, counts)
            return self._cleaned(value, inside, counts)
        except GraphCodecError as exc:
            exc.at(path_of(trail))
            raise

    def _cleaned(self, value: object, inside: int, counts: Counts) -> object:
        text = text_of(value)
        if text is None:
            return value
        made = self._clean(text, inside, counts)
        if made is None:
            return DROPPED
        return value if made == text else formed(made, value)

    def _clean(self, text: str, inside: int, counts: Counts) -> str | None:
        # Keys and words repeat; long texts do not.
        known = self._words.get((inside, text))
        if known is None:
            found: Counts = {}
            known = self._texts.cleaned(text, self._rules(inside), found), found
            if len(text) <= _LONGEST_WORD:
                self._words[inside, text] = known
        counts.update(known[1])
        return known[0]

    def _rules(self, inside: int) -> Sequence[Redaction]:
        return [
            item.rule
            for item in self._selection.rules
            if inside & item.inside and not item.is_whole
        ]

    def _in_base64(self, value: str, inside: int, counts: Counts) -> object:
        """Return the text of bytes in a field that was kept as it was on the wire."""
        try:
            data = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            return self._cleaned(value, inside, counts)
        made = self._cleaned(data, inside, counts)
        if made is DROPPED or made is data:
            return DROPPED if made is DROPPED else value
        return base64.b64encode(cast("bytes", made)).decode()

    def _in_reader(self, reader: Reader, inside: int, counts: Counts) -> object:
        # One reader in many places stays one.
        key = id(reader), inside
        if key not in self._readers:
            found: Counts = {}
            made = cleaned_reader(reader, lambda text: self._clean(text, inside, found))
            self._readers[key] = reader, made, found
        _, made, found = self._readers[key]
        counts.update(found)
        return made

    def _whole(self, value: object, rule: Redaction, trail: Trail) -> object:
        """Return what stands in the place of a value."""
        if rule.action == "drop":
            return DROPPED
        if rule.action == "mask" and type(rule.replacement) is not str:
            return copy_containers(rule.replacement)
        if rule.action == "mask":
            return formed(rule.stand_in(""), value)
        text = _whole_text(value)
        if text is None:
            name = type_name(type(value))
            msg = f"the rule {rule.name!r} can't hash a {name}"
            hint = "select the texts in it, or use action='mask'"
            raise InvalidValueError(msg, path=path_of(trail), hint=hint, type_name=name)
        if rule.has_made(text):
            return value
        return formed(rule.stand_in(text), value)

    # The report

    def _count(self, part: _Part, counts: Counts, trail: Trail) -> None:
        for name, count in counts.items():
            self._counts[name] += count
            part.rules[name] = None
            if len(self._places) < _MOST_PLACES:
                self._places.append(RedactedPlace(path_of(trail), name, count))

    def _see(self, value: object) -> None:
        """Count what can't be looked into."""
        kind = type(value)
        if kind in _SCALARS or kind is BytesReader or self._is_open(value):
            return
        if isinstance(value, enum.Enum) or callable(value) or id(value) in self._known:
            return
        self._known[id(value)] = value
        name = type_name(kind)
        self._unseen[name] = self._unseen.get(name, 0) + 1

    # For the rebuilding

    def functions(self, kind: type) -> Functions | None:
        if self._functions is None or layout_of(kind).kind != "leaf":
            return None
        return self._functions(kind)

    def edges(self, obj: object) -> list[Edge]:
        part = self._parts.get(id(obj))
        return [] if part is None else part.edges

    def changes(self, obj: object) -> Mapping[object, object]:
        part = self._parts.get(id(obj))
        return {} if part is None else part.changes

    def path(self, obj: object) -> str:
        return path_of(self._parts[id(obj)].trail)

    def told(self, obj: object, exc: Exception) -> Exception:
        names = ", ".join(map(repr, self._guilty(obj)))
        name = type_name(type(obj))
        reason = exc.message if isinstance(exc, GraphCodecError) else type(exc).__name__
        msg = f"what {names} puts there is refused by {name}: {reason}"
        inner = exc.path[1:] if isinstance(exc, GraphCodecError) else ""
        hint = "give the rule another replacement or action, or a narrower selection"
        return InvalidValueError(
            msg, path=self.path(obj) + inner, hint=hint, type_name=name
        )

    def _guilty(self, obj: object) -> Iterable[str]:
        """Return the names of the rules that changed an object, or any, if none did."""
        rules = self._parts[id(obj)].rules
        return rules or [name for name, count in self._counts.items() if count]


def _is_base64(holder: object) -> bool:
    if type(holder) is not dict:
        return False
    table = cast("dict[object, object]", holder)
    return len(table) == 1 and any(name in table for name in _BASE64)


def _is_same(made: object, value: object) -> bool:
    return type(made) is type(value) and isinstance(made, _COMPARED) and made == value


def _shown(key: object) -> Step:
    if key is DROPPED:
        return "…"
    return key if type(key) is str else excerpt(key)


def _untaken(key: object, taken: set[object], numbers: dict[object, int]) -> object:
    """Return a key, with a number behind it if there is such a key already."""
    text = None if key is DROPPED else text_of(key)
    if text is None:
        return key
    made = key
    while made in taken:
        numbers[key] = number = numbers.get(key, 1) + 1
        made = formed(f"{text}[#{number}]", key)
    taken.add(made)
    return made


def _whole_text(value: object) -> str | None:
    """Return a text that tells a value from others; None for what is more than one."""
    if isinstance(value, Reader):
        return handle_text(value)
    if type(value) is Tokenizable:
        return value.text
    if type(value) is int:
        return hex(value)
    if type(value) in _SCALARS and type(value) not in (bool, type(None)):
        return text_of(value) or str(value)
    return None
