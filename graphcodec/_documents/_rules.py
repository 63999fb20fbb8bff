"""The rules of the wire, checked on a parsed document without making its objects.

What needs the constructors of classes is left to `decode`. All else is found here, in
one pass over the document, and not only the first of it.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false
# A parsed document is Any until it was looked at.

from __future__ import annotations

import enum
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from graphcodec._classes._slots import Choice, Member, OneOf, Untyped
from graphcodec._coding._document import HARD_MARKERS, Document, Inside, Place
from graphcodec._coding._members import (
    find_member,
    is_literal,
    unknown,
    unknown_name,
)
from graphcodec._coding._pieces import longest_deque, require_plain, split_pairs
from graphcodec._documents._classless import READER, REFERENCE
from graphcodec._limits import NESTING
from graphcodec._paths import Trail, excerpt, path_of
from graphcodec._values import MARKERS, read_bytes, read_marker
from graphcodec.errors import UndecodableValueError

if TYPE_CHECKING:
    from graphcodec._classes._shapes import Shape
    from graphcodec._documents._findings import Findings

ShapeOf: TypeAlias = Callable[[str], "Shape | None"]

_OF_OBJECTS: Final = frozenset({"$type", "$v", "$value"})
_FAMILIES: Final = ("media", "spool")
_READER_KEYS: Final = frozenset({"$type", "tag", "locator"})


class Rules:
    """Checks one document.

    Args:
        wire: The outermost map.
        shape_of: Gives the shape of the class that is written under a tag.
        findings: Takes what is found.
        binary: Whether the document is MessagePack.
        allow_unknown: Whether unknown tags and versions are mere warnings.

    Attributes:
        reader_tags: The tags of all readers.
        objects: How many objects there are.
    """

    def __init__(
        self,
        wire: dict[str, Any],
        shape_of: ShapeOf,
        findings: Findings,
        *,
        binary: bool,
        allow_unknown: bool,
    ) -> None:
        self._document = Document(wire, shape_of)
        self._shape_of = shape_of
        self._findings = findings
        self._binary = binary
        self._note = findings.warning if allow_unknown else findings.error
        self._reached: set[int] = set()
        self.reader_tags: set[str] = set()
        self.objects = 0

    def check(self) -> None:
        """Look at every part of the document once, where the root first reaches it."""
        self._walk(self._document.root, Inside.ROOT, None)
        for number, node in enumerate(self._document.nodes):
            trail: Trail = ((None, "nodes"), number)
            if number not in self._reached:
                msg = f"nothing refers to node {number}"
                self._findings.warning("unused-node", msg, path_of(trail))
                self._reached.add(number)
                self._walk(node, Inside.ANY, trail)
            self._check_nesting(f"node {number}", node, trail)
        self._check_nesting("the root", self._document.root, None)

    def _check_nesting(self, name: str, value: Any, trail: Trail) -> None:
        nested = levels(value)
        if nested > NESTING:
            msg = f"{name} nests {nested} levels, and {NESTING} is the most"
            hint = "some readers refuse it"
            self._findings.warning("nesting", msg, path_of(trail), hint=hint)

    def _walk(self, value: Any, place: Place, trail: Trail) -> None:
        # Beside each part, whether it is of the version whose fields are known.
        stack: list[tuple[Any, Place, Trail, bool]] = [(value, place, trail, True)]
        while stack and not self._findings.full:
            value, place, trail, current = stack.pop()
            if _is_plain(value, place):
                dollars = isinstance(place, Untyped) and place.dollars
                self._check_untyped(value, trail, dollars=dollars)
            elif self._binary and type(value) not in (dict, list, bytes):
                self._tried("plain", partial(require_plain, value), trail)
            elif type(value) is dict and not self._check_map(value, place, trail):
                continue
            elif (number := self._followed(value)) is not None:
                node = self._document.nodes[number]
                stack.append((node, Inside.ANY, trail, True))
                continue
            if type(value) is dict and type(value.get("$type")) is str:
                current = self._is_current(value)
            for part in reversed(self._document.parts(value, place)):
                inner = trail if part.step is None else (trail, part.step)
                if current:
                    self._check_member(part.value, part.place, inner)
                if not self._binary and type(part.value) not in (dict, list):
                    # What JSON has beside maps and lists, breaks no other rule.
                    continue
                stack.append((part.value, part.place, inner, current))

    def _followed(self, value: Any) -> int | None:
        """Return the number of a node that is met for the first time."""
        if type(value) is not dict or value.get("$type") != REFERENCE:
            return None
        number: int = value["n"]
        if number in self._reached:
            return None
        self._reached.add(number)
        if _is_reference(self._document.nodes[number]):
            msg = f"node {number} is a reference itself"
            path = f"$.nodes[{number}]"
            self._findings.error("reference", msg, path)
            return None
        return number

    def _error(self, kind: str, message: str, trail: Trail, hint: str = "") -> bool:
        self._findings.error(kind, message, path_of(trail), hint=hint)
        return False

    def _tried(self, kind: str, check: Callable[[], object], trail: Trail) -> bool:
        """Say whether a check passes that raises if it does not."""
        try:
            check()
        except UndecodableValueError as exc:
            return self._error(kind, exc.message, trail)
        return True

    # Plain values

    def _check_untyped(self, value: Any, trail: Trail, *, dollars: bool) -> None:
        if type(value) is dict and "$any" in value:
            if len(value) > 1:
                other = next(key for key in value if key != "$any")
                msg = f"$any stands alone, and here {excerpt(other)} is beside it"
                self._error("marker", msg, trail)
            return
        if self._binary:
            self._tried("plain", lambda: require_plain(value), trail)
        if type(value) is dict and not dollars:
            self._check_data(value, trail)

    def _check_data(self, value: dict[Any, Any], trail: Trail) -> None:
        marked = next((k for k in value if type(k) is str and k[:1] == "$"), None)
        if marked is not None:
            msg = f"{excerpt(marked)} is a key of plain data here, and no markup"
            hint = 'what is markup stands in {"$any": ...}'
            self._findings.warning("plain", msg, path_of(trail), hint=hint)

    # Markup

    def _check_map(self, value: dict[Any, Any], place: Place, trail: Trail) -> bool:
        """Say whether what is in a map can be looked at."""
        for key in value:
            if type(key) is not str:
                msg = f"a map needs text keys, not {excerpt(key)}"
                return self._error("key", msg, trail)
        if "$type" in value:
            return self._check_object(value, trail)
        marker = next((key for key in value if key[:1] == "$"), None)
        if marker is None:
            return True
        if place is Inside.KEPT:
            if value.keys() != {"$bytes"}:
                return True
            return self._tried("marker", lambda: read_bytes(value["$bytes"]), trail)
        return self._check_marker(marker, value, trail)

    def _check_marker(self, marker: str, value: dict[str, Any], trail: Trail) -> bool:
        if marker in MARKERS:
            self._tried("marker", lambda: read_marker(marker, value), trail)
            return False
        if marker == "$any":
            return True
        if marker == "$dict":
            return self._alone(marker, value, trail) and self._tried(
                "marker", lambda: list(split_pairs(value["$dict"])), trail
            )
        if marker == "$deque":
            return self._tried("marker", lambda: longest_deque(value), trail)
        if marker == "$enum":
            self._check_enum(value, trail)
            return False
        if marker not in HARD_MARKERS:
            return self._error("marker", f"there is no marker {excerpt(marker)}", trail)
        if type(value[marker]) is not list:
            return self._error("marker", f"{marker} needs a list", trail)
        return self._alone(marker, value, trail)

    def _alone(self, marker: str, value: dict[str, Any], trail: Trail) -> bool:
        if len(value) == 1:
            return True
        return self._error("marker", f"{marker} stands alone", trail)

    def _check_enum(self, value: dict[str, Any], trail: Trail) -> None:
        tag = value["$enum"]
        if type(tag) is not str or value.keys() not in (
            {"$enum", "name"},
            {"$enum", "value"},
        ):
            self._error("marker", "$enum needs a tag, and a name or a value", trail)
        elif (shape := self._shape_of(tag)) is None:
            self._unknown(tag, trail)
        elif issubclass(shape.cls, enum.Enum):
            name = value.get("name")
            if "value" in value:
                self._check_member(value["value"], Member(shape.cls), trail)
            elif type(name) is str and name not in shape.cls.__members__:
                self._unknown_member(unknown_name(name, tag, shape.cls), trail)

    def _check_member(self, value: Any, place: Place, trail: Trail) -> None:
        """Look whether the member of an Enum, or value of a Literal, is known."""
        if isinstance(place, OneOf) and place.other is not None and value is not None:
            place = place.other
        # What can be none at all, decode refuses.
        with suppress(UndecodableValueError):
            if isinstance(place, Member):
                known = find_member(value, place) is not None
            elif isinstance(place, Choice):
                known = is_literal(value, place)
            else:
                return
            if not known:
                self._unknown_member(unknown(value, place), trail)

    def _unknown_member(self, error: UndecodableValueError, trail: Trail) -> None:
        path, hint = path_of(trail), "name the codec that knows it, or update it"
        self._note("value", error.message, path, hint=hint)

    def _is_current(self, value: dict[str, Any]) -> bool:
        shape = self._shape_of(value["$type"])
        return shape is None or value.get("$v", 1) == shape.mark.version

    # Objects

    def _unknown(self, tag: str, trail: Trail) -> None:
        msg = f"the tag {excerpt(tag)} is unknown"
        hint = "name the codec that knows it: --codec package.module:name"
        self._note("unknown-tag", msg, path_of(trail), hint=hint)

    def _check_object(self, value: dict[str, Any], trail: Trail) -> bool:
        tag = value["$type"]
        if type(tag) is not str or not tag:
            return self._error("shape", f"$type needs text, not {excerpt(tag)}", trail)
        if tag == REFERENCE:
            return self._check_reference(value, trail)
        if tag == READER:
            self._check_reader(value, trail)
            return False
        if tag[:1] == "$":
            return self._error("marker", f"there is no markup {excerpt(tag)}", trail)
        self.objects += 1
        for key in value:
            if key[:1] == "$" and key not in _OF_OBJECTS:
                self._error("shape", f"an object has no field {excerpt(key)}", trail)
        version = value.get("$v", 1)
        if type(version) is not int or version < 1:
            msg = f"$v needs an int from 1, not {excerpt(version)}"
            return self._error("version", msg, trail)
        self._check_class(tag, version, value, trail)
        return True

    def _check_class(
        self, tag: str, version: int, value: dict[str, Any], trail: Trail
    ) -> None:
        shape = self._shape_of(tag)
        if shape is None:
            self._unknown(tag, trail)
            return
        known = shape.mark.version
        if version > known:
            msg = f"{excerpt(tag)} is of version {version}, and {known} is known"
            self._note("version", msg, path_of(trail), hint="update the class")
        elif version == known and "$value" not in value:
            keys = {item.key for item in shape.fields}
            for key in value:
                if key not in keys and key[:1] != "$":
                    msg = f"{excerpt(tag)} has no field {excerpt(key)}"
                    hint = "it is kept, or refused if its class has no room for it"
                    self._findings.warning(
                        "unknown-field", msg, path_of((trail, key)), hint=hint
                    )

    def _check_reference(self, value: dict[str, Any], trail: Trail) -> bool:
        number, total = value.get("n"), len(self._document.nodes)
        if type(number) is not int or value.keys() != {"$type", "n"}:
            msg = f"a reference needs one int, n, and not {excerpt(number)}"
            return self._error("reference", msg, trail)
        if not 0 <= number < total:
            msg = f"a reference to node {excerpt(number)}, of which there are {total}"
            return self._error("reference", msg, trail)
        return True

    def _check_reader(self, value: dict[str, Any], trail: Trail) -> None:
        tag, locator = value.get("tag"), value.get("locator")
        if value.keys() != _READER_KEYS:
            self._error("reader", "a reader has $type, tag and locator", trail)
        elif type(tag) is not str or tag.partition(":")[0] not in _FAMILIES:
            msg = f"a reader's tag begins with media: or spool:, not {excerpt(tag)}"
            self._error("reader", msg, trail)
        elif type(locator) is not dict:
            self._error("reader", "a reader's locator is a map", trail)
        else:
            self.reader_tags.add(tag)
            if self._binary:
                self._tried("reader", lambda: require_plain(locator), trail)


def _is_plain(value: Any, place: Place) -> bool:
    """Say whether nothing is markup in a place, unless ``$any`` says so."""
    if place is Inside.ROOT:
        return type(value) is not dict or "$type" not in value
    return isinstance(place, Untyped)


def _is_reference(value: Any) -> bool:
    return type(value) is dict and value.get("$type") == REFERENCE


def levels(value: Any) -> int:
    """Return how many maps and lists lie in each other, without recursion.

    Args:
        value: A part of a document.
    """
    deepest = 0
    level = [value]
    while level := [item for item in level if type(item) in (dict, list)]:
        deepest += 1
        level = [
            part
            for item in level
            for part in (item.values() if type(item) is dict else item)
        ]
    return deepest
