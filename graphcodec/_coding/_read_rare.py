"""The places that are rarer, or hold something rarer than they usually do.

The generated functions read what most documents hold; for the rest they come here. So
does everything in the careful build.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# A parsed document, and a user's object, is Any until it was looked at.

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from graphcodec._classes._registry import unknown_tag
from graphcodec._classes._slots import (
    Choice,
    ClassPlace,
    Member,
    Objects,
    OneOf,
    Row,
    Scalar,
    Sequence,
    Slot,
    Table,
    describe,
)
from graphcodec._coding._document import check_collisions
from graphcodec._coding._members import find_member, is_literal, unknown, unknown_name
from graphcodec._coding._pieces import (
    admits,
    longest_deque,
    require_plain,
    short,
    split_pairs,
)
from graphcodec._coding._read_forms import ParsedReader, Reference
from graphcodec._coding._read_program import OpaqueOwner
from graphcodec._limits import exceeded
from graphcodec._paths import Step, excerpt
from graphcodec._unknown import OpaqueMember
from graphcodec._values import (
    MARKERS,
    Wire,
    malformed,
    read_bare_datetime,
    read_bare_decimal,
    read_bare_uuid,
    read_marker,
)
from graphcodec.errors import UndecodableValueError
from graphcodec.readers._contracts import Reader, ReaderDescriptor

if TYPE_CHECKING:
    from graphcodec._coding._read_call import ReadCall

_BARE: Final[dict[type, Callable[[object], object]]] = {
    datetime: read_bare_datetime,
    UUID: read_bare_uuid,
    Decimal: read_bare_decimal,
}
_ALIKE: Final = frozenset({str, int, float, bool, type(None), bytes})
_MARKS: Final = {int: "$int", float: "$float", str: "$str"}


class Times(dict[str, datetime]):
    """The times of one document by their text: few differ, so each is parsed once."""

    def __missing__(self, text: Any) -> datetime:
        try:
            usual = datetime.fromisoformat(text)
        except (ValueError, TypeError):
            usual = None
        # Our own spelling needs no pattern.
        if usual and usual.tzinfo and usual.isoformat("T", "microseconds") == text:
            self[text] = usual
            return usual
        out = read_bare(datetime, text)
        if type(out) is not datetime or type(text) is not str:
            malformed("a time belongs here", text)
        self[text] = out
        return out


class RareSlots:
    """Reads typed slots for one call.

    Args:
        call: The call.
    """

    def __init__(self, call: ReadCall) -> None:
        self._call = call

    def refuse(self, value: object, slot: Slot) -> Any:
        """Raise the error for something that does not belong into *slot*."""
        malformed(f"{describe(slot)} belongs here", value)

    def scalar(self, value: Any, slot: Scalar) -> object:
        """Return a scalar that is not of the usual form.

        Args:
            value: The piece of wire.
            slot: Where it stands.
        """
        cls = slot.cls
        if type(value) is cls and (self._call.settling or cls in _ALIKE):
            return value
        if cls is float and type(value) is int:
            with suppress(OverflowError):
                if float(value) == value:
                    return float(value)
        if type(value) is str and cls in _BARE:
            return self._call.times[value] if cls is datetime else read_bare(cls, value)
        if type(value) is dict:
            marker = next((k for k in value if type(k) is str and k[:1] == "$"), "")
            if marker in MARKERS and issubclass(cls, MARKERS[marker][0]):
                out = read_marker(marker, value)
                if type(out) is cls:
                    return out
        return self.refuse(value, slot)

    def member(self, value: Any, slot: Member) -> object:
        """Return an Enum member that is not among the named ones."""
        if type(value) is slot.cls and self._call.settling:
            return value
        found = find_member(value, slot)
        return self._unknown(value, slot) if found is None else found

    def literal(self, value: Any, slot: Choice) -> object:
        """Return a value of a Literal that is not of the usual form."""
        return value if is_literal(value, slot) else self._unknown(value, slot)

    def _unknown(self, value: object, slot: Member | Choice) -> Any:
        if self._call.program.opaque:
            raise OpaqueOwner
        raise unknown(value, slot)

    def marked_member(self, wire: Wire) -> object:
        """Return the member of an Enum that a marker stands for.

        Args:
            wire: The marker.
        """
        program = self._call.program
        tag = wire["$enum"]
        shape = program.registry.by_tag(tag) if type(tag) is str else None
        if shape is None or not issubclass(shape.cls, enum.Enum):
            if shape is None and type(tag) is str and program.opaque:
                return _unknown_member(wire)
            raise unknown_tag(tag)
        is_flag = issubclass(shape.cls, enum.Flag)
        match wire:
            case {"name": str(name)} if len(wire) == 2 and not is_flag:  # noqa: PLR2004
                if name in shape.cls.__members__:
                    return shape.cls[name]
                if program.opaque:
                    return _unknown_member(wire)
                raise unknown_name(name, shape.mark.tag, shape.cls)
            case {"value": value} if len(wire) == 2 and is_flag:  # noqa: PLR2004
                try:
                    return self.member(value, Member(shape.cls))
                except OpaqueOwner:
                    return _unknown_member(wire)
            case _:
                wanted = "the value of a Flag" if is_flag else "the name of a member"
                return malformed(f"$enum needs a tag, and {wanted}")

    def one_of(self, value: Any, slot: OneOf, family: str, soft: bool) -> object:
        """Return a value of a union that is not of the usual form."""
        kind = type(value)
        if kind in slot.scalars:
            return value
        if kind is int and float in slot.scalars:
            return self.scalar(value, Scalar(float))
        if kind is dict:
            for cls, marker in _MARKS.items():
                if cls in slot.scalars and marker in value:
                    return self.scalar(value, Scalar(cls))
        if slot.other is None or isinstance(slot.other, Objects):
            if self._call.settling and admits(slot, type(value)):
                return value
            return self.refuse(value, slot)
        return self._call.program.place(slot.other, family, soft=soft)(
            value, self._call
        )

    def reader(self, value: Any, family: str) -> Reader:
        """Return a reader, made by a resolver and not opened.

        Args:
            value: The piece of wire.
            family: ``media`` or ``spool``; empty where either may stand.
        """
        if self._call.settling and isinstance(value, Reader):
            return value
        kind = value.get("$type") if type(value) is dict else None
        if kind == "$ref":
            found = self._call.ref(value)
            if isinstance(found, Reader):
                return found
        elif kind == "$reader" and len(value) == 3:  # noqa: PLR2004
            tag, locator = value.get("tag"), value.get("locator")
            if type(tag) is str and type(locator) is dict:
                return self._resolve(tag, locator, family)
        return malformed("a reader belongs here", value)

    def parsed_reader(self, found: ParsedReader | Reference, family: str) -> Reader:
        """Do what `reader` does, for what was parsed into a form.

        Args:
            found: The form.
            family: As for `reader`.
        """
        if isinstance(found, ParsedReader):
            return self._resolve(found.tag, found.locator, family)
        return self.reader({"$type": "$ref", "n": found.n}, family)

    def handler(self, value: Any) -> object:
        """Return the function that is bound to a name; nothing is looked up elsewhere.

        Args:
            value: The piece of wire.
        """
        if self._call.settling and callable(value):
            return value
        return self._call.program.handlers.read(value)

    def class_of(self, value: Any, slot: ClassPlace) -> type:
        """Return the class that is registered under a tag.

        Args:
            value: The piece of wire.
            slot: Where it stands.
        """
        if self._call.settling and isinstance(value, type):
            return value
        shape = None
        if type(value) is str:
            shape = self._call.program.registry.by_tag(value)
            possible = value != "" and not value.startswith("$")
            if shape is None and possible and self._call.program.opaque:
                raise OpaqueOwner
            if shape is None:
                raise unknown_tag(value)
        if shape is None or not issubclass(shape.cls, slot.base):
            malformed(f"the tag of {describe(slot)} belongs here", value)
        return shape.cls

    def _resolve(self, tag: str, locator: Wire, family: str) -> Reader:
        own, colon, scheme = tag.partition(":")
        if not colon or own not in ("media", "spool") or (family and own != family):
            wanted = f"{family}:" if family else "media: or spool:"
            malformed(f"the tag of this reader must begin with {wanted}", tag)
        if self._call.binary:
            require_plain(locator)
        if scheme == "in-memory":
            self._check_inline(locator)
        descriptor = ReaderDescriptor(scheme, locator)  # type: ignore[arg-type]
        return self._call.resolvers.resolve(tag, descriptor)

    def _check_inline(self, locator: Wire) -> None:
        text = locator.get("base64")
        size = len(text) * 3 // 4 - text[-2:].count("=") if isinstance(text, str) else 0
        if size > self._call.limits.max_inline_bytes:
            raise exceeded("max_inline_bytes", self._call.limits.max_inline_bytes, size)

    def typed(self, value: Any, slot: Slot, family: str, soft: bool) -> object:
        """Return a container of a typed slot.

        Args:
            value: The piece of wire.
            slot: Where it stands.
            family: The family of the readers in it.
            soft: Whether it may be filled after its owner was made.
        """
        match slot:
            case Row(items=slots):
                items = self._listed(value, slot, len(slots))
                return tuple(
                    self._placed(index, part, item, family, soft=False)
                    for index, (part, item) in enumerate(zip(slots, items, strict=True))
                )
            case Sequence(kind=kind):
                return self._sequence(kind, value, slot, family, soft)
            case Table():
                return self._table(value, slot, family, soft)
            case _:
                return self.refuse(value, slot)

    def _listed(self, value: Any, slot: Slot, length: int | None = None) -> list[Any]:
        if self._call.settling and isinstance(value, (tuple, set, frozenset, deque)):
            value = list(value)
        if type(value) is not list or length not in (None, len(value)):
            self.refuse(value, slot)
        items: list[Any] = value
        return items

    def _placed(
        self, step: Step, slot: Slot, value: object, family: str, *, soft: bool
    ) -> object:
        read = self._call.program.place(slot, family, soft=soft)
        self._call.steps.append(step)
        out = read(value, self._call)
        self._call.steps.pop()
        return out

    def _sequence(
        self, kind: type, value: Any, slot: Sequence, family: str, soft: bool
    ) -> object:
        longest = None
        if kind is deque and type(value) is dict and "$deque" in value:
            longest, value = longest_deque(value), value["$deque"]
        items = self._listed(value, slot)
        late = soft and kind in (list, deque)

        def fill(out: Any) -> Any:
            for index, item in enumerate(items):
                out.append(self._placed(index, slot.item, item, family, soft=late))
            return out

        if late:
            late_out: Any = deque(maxlen=longest) if kind is deque else []
            return self._call.patiently(late_out, lambda _: fill(late_out), soft)
        if kind in (set, frozenset):
            self._call.check_sizes(items)
            return self._call.hashed(kind, fill([]))
        out = fill([])
        return deque(out, longest) if kind is deque else kind(out)

    def _table(self, value: Any, slot: Table, family: str, soft: bool) -> object:
        if type(value) is not dict:
            self.refuse(value, slot)
        # While settling it is a dict already, with keys of any kind.
        settling = self._call.settling > 0
        bare = settling or "$dict" not in value
        if not bare and len(value) != 1:
            malformed("$dict stands alone")
        if (
            bare
            and not settling
            and any(type(k) is not str or k[:1] == "$" for k in value)
        ):
            malformed("a dict in a typed slot has no bare keys that begin with $")

        def fill(out: Any) -> Any:
            pairs = list(value.items() if bare else split_pairs(value["$dict"]))
            keys: list[Any] = []
            for key, _ in pairs:
                self._call.check_sizes([key])
                step = key if type(key) is str else excerpt(key)
                name = self._placed(step, slot.key, key, family, soft=False)
                keys.append(self._call.hashable(name))
            check_collisions(keys)
            for name, (_, item) in zip(keys, pairs, strict=True):
                entry = self._placed(str(name), slot.value, item, family, soft=soft)
                self._call.guarded(out.__setitem__, name, entry)
            if len(out) != len(pairs):
                malformed("$dict needs distinct keys")
            return out

        table: dict[Any, Any] = {}
        return self._call.patiently(table, lambda _: fill(table), soft)


def _unknown_member(wire: Wire) -> OpaqueMember:
    """Return the stand-in for a member of an Enum that is not known."""
    match wire:
        case {"$enum": str(tag), "name": str(name)} if len(wire) == 2:  # noqa: PLR2004
            return OpaqueMember(tag, name)
        case {"$enum": str(tag), "value": value} if len(wire) == 2:  # noqa: PLR2004
            if type(value) is dict and value.keys() == {"$int"}:
                value = read_marker("$int", value)
            if type(value) is int:
                return OpaqueMember(tag, value)
        case _:
            pass
    return malformed("$enum needs a tag, and a name or an int as its value")


def read_bare(cls: type, value: object) -> object:
    """Return the scalar that text stands for in a slot of its type."""
    try:
        return _BARE[cls](value)
    except UndecodableValueError:
        raise
    except (ValueError, ArithmeticError) as exc:
        msg = f"{excerpt(value)} is no {cls.__name__}: {short(exc)}"
        raise UndecodableValueError(msg, type_name=cls.__name__) from exc
