"""A document made for a page: its wire form, as plain JSON that holds no secret.

Nothing is decoded. The marks of the wire stay, so that the page can tell a tuple from a
list; each reader has a number in place of its locator, and the handles stand in a list.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from typing import Any, Final

from attrs import define, field, frozen

from graphcodec._documents._classless import READER, is_list, is_map, reference, tag_of
from graphcodec.view._locators import shown_part

_SAFE_INTEGER: Final = 2**53
"""Up to here, the numbers of a browser are exact."""
_DEEPEST: Final = 200
"""Writers nest 60 levels; nobody looks deeper."""
_TEXT: Final = "text/plain"
_SPOOL: Final = "spool"


@frozen(kw_only=True)
class Handle:
    """A handle in a document.

    Attributes:
        tag: Its family and scheme.
        locator: What its resolver needs.
        mime_type: What its owner says it is; nothing if no owner says that.
        filename: What its owner calls it; nothing if no owner says that.
    """

    tag: str
    locator: Mapping[str, Any]
    mime_type: str = ""
    filename: str = ""

    @property
    def inline(self) -> str | None:
        """The bytes in base64, if they are in the document."""
        text = self.locator.get("base64")
        is_inline = self.tag.partition(":")[2] == "in-memory" and type(text) is str
        return text if is_inline else None

    @property
    def size(self) -> int | None:
        """How many bytes there are, if the document says so."""
        if self.inline is not None:
            return len(self.inline) // 4 * 3 - self.inline[-2:].count("=")
        known = self.locator.get("size")
        return known if type(known) is int and 0 <= known <= _SAFE_INTEGER else None


@frozen
class Model:
    """What the page is made of.

    Attributes:
        root: The root, as plain JSON.
        nodes: What is referred to, as plain JSON.
        handles: All handles; in the JSON, a reader has the number of its handle.
    """

    root: Any
    nodes: list[Any]
    handles: list[Handle]


def model_of(wire: Mapping[str, Any]) -> Model:
    """Return what a page is made of.

    Args:
        wire: The outermost map of a document.
    """
    copier = _Copier()
    values = [wire["root"], *wire.get("nodes", [])]
    root, *nodes = [copier.copied(value) for value in values]
    return Model(root, nodes, _described(copier, nodes))


@define
class _Copier:
    """Copies values with a work list instead of recursion.

    Attributes:
        handles: The handles that were met.
        owners: The maps in which a reader, or a reference, is a field.
    """

    handles: list[Handle] = field(factory=list[Handle])
    owners: list[dict[str, Any]] = field(factory=list[dict[str, Any]])
    _todo: list[tuple[Any, Any, int]] = field(factory=list[tuple[Any, Any, int]])

    def copied(self, value: Any) -> Any:
        """Return the copy of *value*; handles are met in the order of the document."""
        result = self._copy(value, 0)
        while self._todo:
            original, copy, depth = self._todo.pop()
            before = len(self._todo)
            self._fill(original, copy, depth)
            self._todo[before:] = reversed(self._todo[before:])
        return result

    def _fill(self, original: Any, copy: Any, depth: int) -> None:
        if is_list(original):
            copy.extend([self._copy(item, depth) for item in original])
        elif tag_of(original) == READER:
            copy["handle"] = len(self.handles)
            locator = original.get("locator")
            fields: dict[str, Any] = locator if is_map(locator) else {}
            self.handles.append(Handle(tag=str(original.get("tag")), locator=fields))
        else:
            for key, item in original.items():
                copy[key] = self._copy(item, depth)
            if "reader" in copy:
                self.owners.append(copy)

    def _copy(self, value: Any, depth: int) -> Any:
        if not is_map(value) and not is_list(value):
            return _plain(value)
        if depth == _DEEPEST:
            return {"$deep": len(value)}
        if is_map(value) and not all(type(key) is str for key in value):
            # Only strangers write such maps.
            pairs: list[Any] = []
            self._todo.append(([[*pair] for pair in value.items()], pairs, depth + 1))
            return {"$dict": pairs}
        copy: Any = [] if is_list(value) else {}
        if tag_of(value) == READER:
            copy["$type"] = READER
        self._todo.append((value, copy, depth + 1))
        return copy


def _plain(value: Any) -> Any:
    """Return a scalar as JSON has it, without losing digits in a browser."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _SAFE_INTEGER else {"$int": str(value)}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": str(value)}
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode()}
    return {"$other": repr(value)[:200]}


def _described(copier: _Copier, nodes: list[Any]) -> list[Handle]:
    """Return the handles with what their owners say of them; the first one counts."""
    found: dict[int, Handle] = {}
    for owner in copier.owners:
        number = _handle_in(owner["reader"], nodes)
        if number is not None and number not in found:
            found[number] = _with_owner(copier.handles[number], owner)
    handles = [found.get(n, handle) for n, handle in enumerate(copier.handles)]
    return [_with_family(handle) for handle in handles]


def _handle_in(value: Any, nodes: list[Any]) -> int | None:
    number = reference(value)
    if number is not None:
        value = nodes[number] if 0 <= number < len(nodes) else None
    return value["handle"] if tag_of(value) == READER else None


def _with_owner(handle: Handle, owner: Mapping[str, Any]) -> Handle:
    said = {name: owner.get(name) for name in ("mime_type", "filename")}
    told: dict[str, str] = {k: v for k, v in said.items() if type(v) is str}
    return Handle(tag=handle.tag, locator=handle.locator, **told)


def _with_family(handle: Handle) -> Handle:
    """Return a handle of which is known that an artifact is text."""
    if handle.mime_type or handle.tag.partition(":")[0] != _SPOOL:
        return handle
    return Handle(tag=handle.tag, locator=handle.locator, mime_type=_TEXT)


def where(handle: Handle) -> str:
    """Return where a handle leads, without what may be secret.

    Args:
        handle: The handle.
    """
    match shown_part(dict(handle.locator)):
        case {"base64": str()}:
            return "in the document"
        case {"store": str(store), "key": str(key)}:
            return f"{store}:{key}"[:300]
        case {"url": str(url)}:
            return url[:300]
        case fields:
            return " ".join(f"{key}={str(fields[key])[:80]}" for key in fields)[:300]
