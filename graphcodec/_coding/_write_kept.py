"""Fields and objects that this codec does not know, written back as they came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from graphcodec._coding._nodes import Key
from graphcodec._coding._plain import is_text
from graphcodec._coding._write_forms import as_map
from graphcodec._limits import NESTING, ROOM
from graphcodec._live import unreadable
from graphcodec._paths import excerpt
from graphcodec._unknown import Kept, OpaqueMember, OpaqueNode, Shared, Spooled
from graphcodec._values import Wire, write_int
from graphcodec.errors import UnencodableValueError
from graphcodec.readers._contracts import Reader

if TYPE_CHECKING:
    from graphcodec._coding._write_call import WriteCall

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# What was kept is Any.


class KeptWriter:
    """Writes what is unknown for one call.

    Args:
        call: The call.
    """

    def __init__(self, call: WriteCall) -> None:
        self._call = call

    def extras(self, owner: object, kept: Mapping[str, object], level: int) -> Wire:
        """Return a map with the fields added that its class does not know.

        Args:
            owner: The map of their owner.
            kept: The fields.
            level: The level at which their values stand.
        """
        out = as_map(owner)
        # What is kept may refer to its owner, even where a class has only scalars.
        self._call.tangled = True
        slot: dict[int, Key] = {}
        for key, value in self._call.pairs(dict(kept)):
            if not is_text(key):
                msg = f"the field name {excerpt(key)} is not text that JSON can hold"
                raise UnencodableValueError(msg)
            if key not in out:
                self._call.steps.append(key)
                if type(value) is Kept:
                    out[key] = self.tree(value.tree, level, out, key, slot)
                else:
                    out[key] = self._call.untyped(value, level)
                self._call.steps.pop()
        return out

    def opaque(self, node: OpaqueNode, level: int) -> Wire:
        """Return the map of an object whose class is not known.

        Args:
            node: What stands for it.
            level: The level at which the map stands.
        """
        if not self._call.program.registry.may_write_tag(node.tag):
            raise unreadable(node.tag, "OpaqueNode")
        key = id(node)
        if key in self._call.memo:
            return self._call.again(key, node, level)
        if level > NESTING - ROOM and not self._call.tree:
            return self._call.defer(key, node)
        self._call.memo[key] = None
        out: Wire = {"$type": node.tag}
        if node.version > 1:
            out["$v"] = node.version
        self.extras(out, node.fields, level + 1)
        self._call.memo[key] = out
        self._call.kept.append(node)
        return out

    def member(self, value: OpaqueMember) -> Wire:
        """Return the map of a member of an Enum that is not known.

        Args:
            value: What stands for it.
        """
        if self._call.program.registry.closed:
            raise unreadable(value.tag, "OpaqueMember")
        if type(value.member) is int:
            return {"$enum": value.tag, "value": write_int(value.member)}
        return {"$enum": value.tag, "name": value.member}

    def tree(
        self, value: Any, level: int, holder: Any, place: Any, slot: dict[int, Key]
    ) -> object:
        """Return a kept value: wire as it came, but objects in it written anew.

        Args:
            value: The value.
            level: The level at which its outermost map or list stands.
            holder: The map or list that the result is put into.
            place: The key or index it is put at.
            slot: The shared containers met in the fields of one object.
        """
        kind = type(value)
        if kind is dict:
            out: Wire = {}
            for key, item in value.items():
                out[key] = self.tree(item, level + 1, out, key, slot)
            return out
        if kind is list:
            items: list[object] = []
            for index, item in enumerate(value):
                items.append(self.tree(item, level + 1, items, index, slot))
            return items
        if kind is Shared:
            return self._call.shared(value.value, slot)
        if kind is Spooled:
            return self._call.reader(value.value, "spool", level)
        if kind is bytes:
            return self._call.as_bytes(value)
        if self._is_object(value):
            return self._call.walk(value, level, {}, holder, place)
        return value

    def _is_object(self, value: object) -> bool:
        known = self._call.program.writer(type(value)) is not None
        return known or isinstance(value, (Reader, OpaqueNode))
