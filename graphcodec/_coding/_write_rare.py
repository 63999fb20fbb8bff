"""Places that are rarer than the generated functions care for, on the way out."""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# A parsed document, and a user's object, is Any until it was looked at.

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphcodec._classes._slots import (
    ClassPlace,
    Row,
    Scalar,
    Sequence,
    Slot,
    Table,
    describe,
)
from graphcodec._coding._document import check_collisions
from graphcodec._coding._plain import NOT_PLAIN, is_bare_key, is_text, plain
from graphcodec._limits import NESTING
from graphcodec._live import refusal, type_name, unreadable
from graphcodec._paths import Step, excerpt, with_article
from graphcodec._values import Wire
from graphcodec.errors import UnencodableValueError

if TYPE_CHECKING:
    from graphcodec._coding._write_call import WriteCall


class RareWriter:
    """Writes typed containers for one call, and refuses what does not fit.

    Args:
        call: The call.
    """

    def __init__(self, call: WriteCall) -> None:
        self._call = call

    def attribute(self, obj: object, name: str) -> object:
        """Return an attribute, or raise an error of ours if it was never set."""
        try:
            return getattr(obj, name)
        except AttributeError:
            cls = type_name(type(obj))
            msg = f"{cls}.{name} has no value"
            hint = "set it, or give it a default"
            raise UnencodableValueError(msg, type_name=cls, hint=hint) from None

    def refuse(self, value: object, slot: Slot) -> Any:
        """Raise the error for a value that the annotation does not name."""
        error = refusal(value)
        if error.code == UnencodableValueError.code:
            name = type_name(type(value))
            msg = f"{with_article(name)} stands where {describe(slot)} belongs"
            hint = "the annotation must name exactly what the field holds"
            error = UnencodableValueError(msg, type_name=name, hint=hint)
        raise error

    def json(self, value: Any, level: int) -> object:
        """Return a mapping of another format, in which a ``$`` means nothing to us."""
        if type(value) is dict and "$any" not in value:
            room, careful = NESTING - level + 1, self._call.careful
            same = plain(value, room, None, careful, dollars=True)
            if same is not NOT_PLAIN:
                return same
        return self._call.untyped(value, level)

    def handler(self, value: Any) -> object:
        """Return what stands for a function: its name."""
        program = self._call.program
        return program.handlers.write(value, closed=program.registry.closed)

    def class_tag(self, value: Any, slot: ClassPlace) -> str:
        """Return the tag of a class."""
        if not (isinstance(value, type) and issubclass(value, slot.base)):
            self.refuse(value, slot)
        registry = self._call.program.registry
        shape, name = registry.shape(value), type_name(value)
        if shape is None:
            msg = f"the class {name} has no tag"
            hint = "mark it with @encodable, or give it to Codec(types=...)"
            raise UnencodableValueError(msg, type_name=name, hint=hint)
        if not registry.may_write(value):
            raise unreadable(shape.mark.tag, name)
        return shape.mark.tag

    def typed(self, value: Any, slot: Slot, family: str, level: int) -> object:
        """Return the wire form of a tuple of fixed length, a dict or a deque."""
        match slot:
            case Row(items=items):
                if type(value) is not tuple or len(value) != len(items):
                    self.refuse(value, slot)
                return [
                    self._placed(index, item, part, family, level + 1)
                    for index, (item, part) in enumerate(zip(items, value, strict=True))
                ]
            case Sequence(kind=kind, item=item):
                if type(value) is not kind:
                    self.refuse(value, slot)
                parts = [
                    self._placed(index, item, part, family, level + 2)
                    for index, part in enumerate(value)
                ]
                if value.maxlen is None:
                    return parts
                return {"$deque": parts, "maxlen": value.maxlen}
            case Table():
                if type(value) is not dict:
                    self.refuse(value, slot)
                return self._table(value, slot, family, level)
            case _:
                return self.refuse(value, slot)

    def _placed(
        self, step: Step, slot: Slot, value: object, family: str, level: int
    ) -> object:
        self._call.steps.append(step)
        out = self._call.program.place(slot, family)(value, self._call, level)
        self._call.steps.pop()
        return out

    def _table(
        self, value: dict[Any, Any], slot: Table, family: str, level: int
    ) -> Wire:
        # A copy: another thread may add a key after the keys were looked at.
        value = value.copy()
        pairs = self._call.pairs(value)
        bare = all(map(is_bare_key, value)) and slot.key == Scalar(str)
        if bare and (not self._call.careful or all(map(is_text, value))):
            return {
                key: self._placed(key, slot.value, item, family, level + 1)
                for key, item in pairs
            }
        check_collisions(value)
        listed: list[object] = []
        for key, item in pairs:
            step = key if type(key) is str else excerpt(key)
            written = self._placed(step, slot.key, key, family, level + 3)
            self._call.hashed.append(written)
            listed.append(
                [written, self._placed(step, slot.value, item, family, level + 3)]
            )
        return {"$dict": listed}
