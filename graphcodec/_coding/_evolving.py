"""Maps that have not exactly the fields of their class.

Another version wrote them, or another class of that name: fields are missing or new,
the version is older or newer, or the tag says nothing to this reader.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# A parsed document, and a user's object, is Any until it was looked at.

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from graphcodec._classes._making import make
from graphcodec._classes._marks import Mark
from graphcodec._classes._shapes import Shape
from graphcodec._classes._slots import ANYTHING, UNTYPED, Slot, Untyped
from graphcodec._coding._pieces import ATOMS, short
from graphcodec._coding._read_program import Again
from graphcodec._paths import excerpt
from graphcodec._unknown import Kept, OpaqueNode, Shared, Spooled
from graphcodec._values import Wire, malformed, read_marker
from graphcodec.errors import UndecodableValueError, VersionError
from graphcodec.readers._contracts import Reader

if TYPE_CHECKING:
    from graphcodec._coding._read_call import ReadCall


_PLACES: Final[Mapping[str, str]] = {
    "attrs": ", or declare a field with graphcodec.extra()",
    "dataclass": (
        ", or declare field(default_factory=dict, metadata={'graphcodec': 'extra'})"
    ),
    "pydantic": ", or let the model have extra='allow'",
}


class Evolving:
    """Reads unusual maps for one call.

    Args:
        call: The call.
        unknown_fields: ``keep``, ``ignore`` or ``raise``.
    """

    def __init__(self, call: ReadCall, unknown_fields: str) -> None:
        self._call = call
        self._unknown_fields = unknown_fields
        # The maps are held, so that their ids are not used again.
        self._made: dict[int, tuple[Wire, Any]] = {}

    def made(self, wire: Wire) -> Any:
        """Return what was made of this very map, None if nothing was.

        The owner of an opaque object, or of an old one, reads its fields a second time.
        Without this, an owner of owners would read them for ever: twice at each level.

        Args:
            wire: The map.
        """
        found = self._made.get(id(wire))
        return None if found is None else found[1]

    def _remember(self, wire: Wire, made: object) -> None:
        self._made[id(wire)] = wire, made

    def uneven(self, wire: Wire, shape: Shape, node: int | None = None) -> Any:
        """Return the object of a map that has not exactly the fields of its class.

        Args:
            wire: The map.
            shape: Its class.
            node: The number of the node that it is, if it is one.
        """
        mark = shape.mark
        _check_keys(wire)
        version = wire.get("$v", 1)
        if type(version) is not int or version < 1:
            malformed(f"the version of {mark.tag} must be an int from 1", version)
        if version > mark.version:
            return self._newer(wire, mark, version)
        if self._call.program.hooks.structure(shape) is not None:
            return malformed(f"{mark.tag} needs $value and nothing else")
        if "$value" in wire:
            msg = f"{mark.tag} was written by a hook that this codec lacks"
            hint = "register the hook that reads it back with codec.converter"
            raise UndecodableValueError(msg, tag=mark.tag, hint=hint)
        if version < mark.version:
            made = self.made(wire)
            if made is None:
                made = self._upgraded(wire, shape, version, node)
                self._remember(wire, made)
            return made
        given = {k: v for k, v in wire.items() if k not in ("$type", "$v")}
        return self._from_fields(given, shape, node)

    def _newer(self, wire: Wire, mark: Mark, version: int) -> OpaqueNode:
        if self._call.program.opaque:
            return self.opaque(wire)
        known = mark.version
        msg = f"{mark.tag} was written at version {version}; this codec reads {known}"
        hint = "update the reader, or use unknown_types='keep'"
        raise VersionError(msg, tag=mark.tag, value=version, hint=hint)

    def _upgraded(
        self, wire: Wire, shape: Shape, version: int, node: int | None
    ) -> Any:
        mark = shape.mark
        if version not in mark.upgrades:
            oldest = min(mark.upgrades, default=mark.version)
            written = f"{mark.tag} was written at version {version}"
            msg = f"{written}; this codec, at {mark.version}, reads them from {oldest}"
            hint = "give the class an upgrade for each older version"
            raise VersionError(msg, tag=mark.tag, value=version, hint=hint)
        if not self._call.program.careful:
            # Its fields are read twice, which the fast build does not allow for.
            raise Again
        given = {k: v for k, v in wire.items() if k not in ("$type", "$v")}
        untyped = {i.key for i in shape.fields if isinstance(i.slot, Untyped)}
        before = {
            key: self._call.untyped(value) if key in untyped else self._natural(value)
            for key, value in given.items()
        }
        fields = self._stepped(dict(before), shape, version)
        # What no step has touched is kept, if it is kept, in the form it came in.
        kept = {
            key: self.kept(given[key])
            for key, value in fields.items()
            if key in before and value is before[key]
        }
        self._call.settling += 1
        try:
            return self._from_fields(fields, shape, node, kept)
        finally:
            self._call.settling -= 1

    def _stepped(self, fields: Any, shape: Shape, version: int) -> dict[str, object]:
        """Run the upgrades from *version* to the current one."""
        mark = shape.mark
        for step in range(version, mark.version):
            try:
                fields = mark.upgrades[step](fields)
            except Exception as exc:  # a user's function may raise anything
                what = f"the upgrade of {mark.tag} from version {step}"
                msg = f"{what} failed: {type(exc).__name__}: {short(exc)}"
                raise UndecodableValueError(msg, tag=mark.tag) from exc
            if type(fields) is not dict or any(type(key) is not str for key in fields):
                msg = f"the upgrade of {mark.tag} from version {step} gave no field map"
                hint = "return a dict with text keys"
                raise UndecodableValueError(msg, tag=mark.tag, hint=hint)
        out: dict[str, object] = fields
        return out

    def _from_fields(
        self,
        given: dict[str, object],
        shape: Shape,
        node: int | None,
        kept: dict[str, object] | None = None,
    ) -> Any:
        """Make an object from the fields that are there.

        Args:
            given: The fields, as wire; after an upgrade, as values.
            shape: Its class.
            node: The number of the node that it is, if it is one.
            kept: After an upgrade, the kept form of what it left as it was.
        """
        values: dict[str, object] = {}
        for item in shape.fields:
            if item.key in given:
                read = self._call.program.place(item.slot, shape.family, soft=False)
                self._call.steps.append(item.key)
                values[item.name] = read(given[item.key], self._call)
                self._call.steps.pop()
            elif item.required:
                msg = f"{shape.mark.tag} lacks its field {item.key!r}"
                hint = "give the field a default, or an upgrade"
                raise UndecodableValueError(msg, tag=shape.mark.tag, hint=hint)
        known = {item.key for item in shape.fields}
        unknown = {k: v for k, v in given.items() if k not in known}
        # Before the object is made: what is kept may refer to it.
        extra = self._extra(unknown, shape, kept)
        shell = None if node is None else self._call.shells.pop(node, None)
        try:
            return make(shape.cls, shape.layout, values, kept=extra, shell=shell)
        except Exception as exc:  # a constructor may raise anything
            raise self._call.invalid(exc, shape.cls) from exc

    def _extra(
        self,
        unknown: dict[str, object],
        shape: Shape,
        kept: dict[str, object] | None,
    ) -> dict[str, object] | None:
        """Return what is kept of the unknown fields, if anything is."""
        if not unknown or self._unknown_fields == "ignore":
            return None
        name = next(iter(unknown))
        if self._unknown_fields == "raise" or shape.extra is None:
            why = "" if shape.extra else ", and its class has no place to keep one"
            msg = f"{shape.mark.tag} has the unknown field {excerpt(name)}{why}"
            hint = "use unknown_fields='ignore'"
            if shape.extra is None:
                hint += _PLACES.get(shape.kind, "")
            raise UndecodableValueError(msg, tag=shape.mark.tag, hint=hint)
        if kept is not None:
            return {key: kept.get(key, value) for key, value in unknown.items()}
        return {key: self._kept_at(key, value) for key, value in unknown.items()}

    def _kept_at(self, key: str, wire: object) -> object:
        self._call.steps.append(key)
        out = self.kept(wire)
        self._call.steps.pop()
        return out

    def opaque(self, wire: Wire, node: int | None = None) -> OpaqueNode:
        """Return the stand-in for an object whose class is not known.

        Args:
            wire: Its map.
            node: The number of the node that it is, if it is one.
        """
        made: OpaqueNode | None = self.made(wire)
        if made is None:
            made = self._opaque(wire, node)
            self._remember(wire, made)
        return made

    def _opaque(self, wire: Wire, node: int | None) -> OpaqueNode:
        tag, version = wire["$type"], wire.get("$v", 1)
        if type(tag) is not str or type(version) is not int:
            malformed("an object needs a tag and a version", version)
        _check_keys(wire)
        shape = self._call.program.registry.by_tag(tag)
        known = shape is not None and shape.mark.version == version
        slots = (
            {item.key: item.slot for item in shape.fields} if shape and known else {}
        )
        # What a function gave, whatever the class.
        slots = {**slots, "$value": UNTYPED}
        fields = {
            key: self._kept_in(slots.get(key), key, value)
            for key, value in wire.items()
            if key not in ("$type", "$v")
        }
        shell = None if node is None else self._call.shells.pop(node, None)
        if shell is None:
            shell = OpaqueNode(tag, version, fields)
        elif type(shell) is not OpaqueNode:
            malformed("an object of unknown type is part of a cycle", tag)
        else:
            OpaqueNode.__init__(shell, tag, version, fields)
        self._call.watched.append(shell)
        return shell

    def _kept_in(self, slot: Slot | None, key: str, wire: Any) -> object:
        """Return what is kept of a field of an opaque object."""
        if not isinstance(slot, Untyped):
            return self._kept_at(key, wire)
        # Where the class is known, what is plain in it is known to be plain.
        value = self._call.untyped(wire)
        return Kept(wire) if slot.dollars and value is wire else value

    def kept(self, wire: Any) -> object:
        """Return a value that can be written back as it came.

        Args:
            wire: The piece of wire.
        """
        if type(wire) is dict and "$any" in wire and len(wire) == 1:
            return self._call.walk(wire["$any"])
        tree = self._tree(wire)
        return tree if _is_plain(tree) else Kept(tree)

    def _tree(self, wire: Any) -> Any:
        """Return *wire* with its objects decoded; *wire* itself if it is plain."""
        if type(wire) is list:
            items = [self._tree(item) for item in wire]
            same = all(new is old for new, old in zip(items, wire, strict=True))
            return wire if same else items
        if type(wire) is not dict:
            if type(wire) not in ATOMS:
                malformed("MessagePack has only plain values here", wire)
            if type(wire) is float and not isfinite(wire):
                # How it is marked depends on the slot, which is not known.
                malformed(f"{wire} stands here without a marker, so it can't be kept")
            return wire
        if "$type" in wire:
            if type(wire["$type"]) is not str:
                malformed("an object needs a tag", wire["$type"])
            out = self._call.instance(wire, ANYTHING)
            if type(out) in (list, dict, tuple, set, frozenset, deque):
                return Shared(out)
            told = self._call.told_of(wire)
            if isinstance(out, Reader):
                return Spooled(out) if told["tag"].startswith("spool:") else out
            # A leaf has no identity; it may as well stand here.
            leaf = type(told) is not dict or "$type" not in told
            return self._tree(told) if leaf else out
        if wire.keys() == {"$bytes"}:
            # One form for both formats.
            return read_marker("$bytes", wire)
        table: Wire = {}
        for key, value in wire.items():
            if type(key) is not str:
                malformed("a map needs text keys", key)
            table[key] = self._tree(value)
        marked = any(key[:1] == "$" for key in table)
        same = not marked and all(table[key] is wire[key] for key in wire)
        return wire if same else table

    def _natural(self, wire: Any) -> object:
        """Return the value of a field whose slot is not known, for an upgrade."""
        if type(wire) is dict and any(k[:1] == "$" for k in wire if type(k) is str):
            return self._call.walk(wire.get("$any", wire))
        if type(wire) is list:
            return [self._natural(item) for item in wire]
        if type(wire) is dict:
            for key in wire:
                if type(key) is not str:
                    malformed("a map needs text keys", key)
            return {key: self._natural(value) for key, value in wire.items()}
        if type(wire) not in ATOMS:
            malformed("MessagePack has only plain values here", wire)
        return wire


def _check_keys(wire: Wire) -> None:
    for key in wire:
        if type(key) is not str:
            malformed("a map needs text keys", key)
        if key[:1] == "$" and key not in ("$type", "$v", "$value"):
            malformed(f"an object has no field {excerpt(key)}")


def _is_plain(tree: Any) -> bool:
    """Say whether a kept value says all there is to say of its form on the wire."""
    if type(tree) is list:
        return all(map(_is_plain, tree))
    if type(tree) is dict:
        if any(key[:1] == "$" for key in tree):
            return False
        return all(map(_is_plain, tree.values()))
    # Bytes are a marker in JSON.
    return type(tree) in ATOMS and type(tree) is not bytes
