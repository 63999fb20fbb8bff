"""Data of any shape beside the typed fields, addressed by dotted paths."""

import re
from collections.abc import Iterator, Mapping
from typing import ClassVar, Final, Self, cast

from attrs import define, field, setters

from graphcodec.errors import InvalidValueError
from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import checked, excerpt, hinted
from graphcodec.primitives._containers import copy_containers, is_dict, is_list

__all__ = ["Registry", "copied", "segments"]

_MISSING: Final = object()
_LONGEST_INDEX: Final = 18


def copied(initial: Mapping[str, object]) -> Mapping[str, object]:
    """Return the data of a new registry, independent of what it was given."""
    if type(initial) is dict:
        # New registries are mostly empty, and many.
        return copy_containers(cast("dict[str, object]", initial)) if initial else {}
    # What is no mapping is left for the check to refuse.
    if isinstance(cast("object", initial), Mapping):
        return copy_containers(dict(initial))
    return initial


def _nothing() -> Mapping[str, object]:
    return {}


@checked
@define(eq=False, repr=False, on_setattr=setters.NO_OP)
class Registry(Primitive):
    r"""A mutable store of data of any shape, addressed by dotted paths.

    ``usage.input_tokens`` names the entry ``input_tokens`` of the mapping ``usage``. A
    dot that belongs to a name is written ``\.`` and a backslash ``\\``. A number is a
    name like any other, unless what stands before it is a list: there it is an index,
    counted from 0. Only dicts and lists are looked into.

    Builtin containers are copied when they go in and when they come out, with the
    sharing and the cycles among them. Everything else is kept as the object it is.

    Args:
        initial: A mapping with str keys to start from.
    """

    __graphcodec_tag__: ClassVar[str] = "Registry"

    _data: Mapping[str, object] = field(
        factory=_nothing,
        converter=copied,
        alias="initial",
        metadata={
            "graphcodec_key": "data",
            **hinted("what comes out of another registry is its all()"),
        },
    )

    def get(self, path: str, default: object = None) -> object:
        """Return a copy of what stands at *path*.

        Args:
            path: The dotted path.
            default: What to return if nothing stands there; None that was stored is
                something.

        Raises:
            InvalidValueError: If the path is no str, or leads into a mapping with keys
                that are no str.
        """
        found = self._find(path)
        return default if found is _MISSING else copy_containers(found)

    def has(self, path: str) -> bool:
        """Say whether something stands at *path*, be it None.

        Args:
            path: The dotted path.

        Raises:
            InvalidValueError: As for `get`.
        """
        return self._find(path) is not _MISSING

    def set(self, path: str, value: object) -> None:
        """Put a copy of *value* at *path*, with new mappings on the way to it.

        Args:
            path: The dotted path. The index behind the end of a list appends.
            value: Anything; see the class for what is copied.

        Raises:
            InvalidValueError: If the path is no str, or leads through something that is
                neither a mapping with str keys nor a list; nothing is changed then.
        """
        *above, last = segments(path)
        parent: object = self._data
        for segment in above:
            child = _child(parent, segment, path)
            if child is _MISSING:
                child = dict[str, object]()
                _put(parent, segment, child, path)
            parent = child
        _put(parent, last, copy_containers(value), path)

    def delete(self, path: str) -> bool:
        """Remove what stands at *path*, and say whether anything did.

        Args:
            path: The dotted path. What follows in a list moves up.

        Raises:
            InvalidValueError: As for `get`.
        """
        *above, last = segments(path)
        parent: object = self._data
        for segment in above:
            parent = _child(parent, segment, path)
        if _child(parent, last, path) is _MISSING:
            return False
        if is_list(parent):
            del parent[int(last)]
        else:
            del cast("dict[str, object]", parent)[last]
        return True

    def keys(self) -> list[str]:
        """Return the paths of all leaves, escaped so that `get` takes them.

        A leaf is everything but a mapping that holds something under str keys only; one
        that holds itself is a leaf where it comes round.
        """
        return list(_leaves(self._data))

    def all(self) -> dict[str, object]:
        """Return a copy of everything."""
        return dict(copy_containers(self._data))

    def __copy__(self) -> Self:
        return self.replace()

    def _find(self, path: str) -> object:
        found: object = self._data
        for segment in segments(path):
            found = _child(found, segment, path)
        return found

    def _summary(self) -> str:
        return f"<{len(self._data)} keys>"


def segments(path: str) -> list[str]:
    """Split a dotted path into names, with the escapes resolved.

    Args:
        path: The path. There is always at least one name, if an empty one.

    Raises:
        InvalidValueError: If it is no str.
    """
    if type(path) is not str:
        raise InvalidValueError(
            f"a path in a registry must be a str, not {excerpt(path)}",
            type_name="Registry",
            value=excerpt(path),
        )
    if "\\" not in path:
        return path.split(".")
    names = [""]
    for part in re.findall(r"\\[.\\]|.", path, re.DOTALL):
        if part == ".":
            names.append("")
        else:
            names[-1] += part[-1]
    return names


def _escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace(".", "\\.")


def _child(parent: object, name: str, path: str) -> object:
    """Return what *parent* holds under *name*, or `_MISSING`."""
    if is_dict(parent):
        found = parent.get(name, _MISSING)
        if found is _MISSING:
            _refuse_other_keys(parent, path)
        return found
    if is_list(parent):
        index = _index(name)
        if index is not None and index < len(parent):
            return parent[index]
    return _MISSING


def _put(parent: object, name: str, value: object, path: str) -> None:
    """Put *value* under *name* into *parent*."""
    if is_dict(parent):
        if name not in parent:
            _refuse_other_keys(parent, path)
        parent[name] = value
        return
    if not is_list(parent):
        reason = f"leads through {excerpt(parent)}, which holds nothing by name"
        raise _path_error(path, reason, "delete that first, or choose another path")
    index = _index(name)
    if index is None or index > len(parent):
        reason = f"has {excerpt(name)} for a list of {len(parent)}"
        raise _path_error(path, reason, f"an index is a number up to {len(parent)}")
    parent[index : index + 1] = [value]


def _index(name: str) -> int | None:
    """Return the index that *name* is, None if it is none."""
    if name.isascii() and name.isdigit() and len(name) <= _LONGEST_INDEX:
        return int(name)
    return None


def _refuse_other_keys(mapping: dict[object, object], path: str) -> None:
    other = next((key for key in mapping if type(key) is not str), _MISSING)
    if other is not _MISSING:
        reason = f"leads into a mapping that has the key {excerpt(other)}"
        raise _path_error(path, reason, "get the mapping itself; its keys are not str")


def _path_error(path: str, reason: str, hint: str) -> InvalidValueError:
    return InvalidValueError(
        f"the path {excerpt(path)} {reason}",
        hint=hint,
        type_name="Registry",
        value=excerpt(path),
    )


def _leaves(data: Mapping[str, object]) -> Iterator[str]:
    """Yield the paths of the leaves in order, with a stack of open mappings."""
    stack = [("", iter(data.items()), id(data))]
    open_ids = {id(data)}
    while stack:
        prefix, items, own_id = stack[-1]
        name, value = next(items, (None, None))
        if name is None:
            stack.pop()
            open_ids.discard(own_id)
        elif _is_branch(value) and id(value) not in open_ids:
            branch = cast("dict[str, object]", value)
            open_ids.add(id(branch))
            path = f"{prefix}{_escaped(name)}."
            stack.append((path, iter(branch.items()), id(branch)))
        else:
            yield prefix + _escaped(name)


def _is_branch(value: object) -> bool:
    if not is_dict(value) or not value:
        return False
    return all(type(key) is str for key in value)
