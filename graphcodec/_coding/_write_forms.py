"""The maps of objects on their way out, as msgspec Structs.

A large graph becomes as many maps as it has objects, all alive until the last is
formatted, and Python's garbage collector looks at each dict among them again and again:
half of the time that 20,000 turns took. A Struct with ``gc=False`` it never looks at
(no map contains itself, so nothing is missed), one is made in half of the time that a
dict takes, and is formatted faster.

A form has one field for each key, ``$type`` first, so that any of them can be turned
into a reference where it stands. Passes over a document see dicts, by `maps`.
"""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false
# A Struct that is made from a list of keys has no attributes that checkers know.

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import UNSET

from graphcodec._values import Wire


def form(name: str, keys: list[str]) -> type[msgspec.Struct]:
    """Return the Struct that stands for maps with the given keys.

    Args:
        name: What it is called, for people.
        keys: The keys in the order of the arguments, ``$type`` first.
    """
    names = {f"key_{index}": key for index, key in enumerate(keys)}
    fields: list[Any] = [(own, Any) for own in names]
    if "n" not in keys:
        # What a reference has besides its type.
        fields.append(("n", Any, UNSET))
    return msgspec.defstruct(name, fields, rename=names, gc=False)


Wrapper: Final[type[Any]] = form("Wrapper", ["$any"])
"""The map around what an untyped slot holds that is not plain."""


def as_map(out: Any) -> Wire:
    """Return what a form stands for as a dict.

    Args:
        out: The form, or a dict already.
    """
    if type(out) is dict:
        return out
    pairs = zip(out.__struct_encode_fields__, out.__struct_fields__, strict=True)
    found = ((key, getattr(out, name)) for key, name in pairs)
    return {key: value for key, value in found if value is not UNSET}


def maps(wire: Any) -> Any:
    """Return a copy of a piece of a document that is made of dicts all through.

    Args:
        wire: The piece.
    """
    return msgspec.to_builtins(wire, builtin_types=(bytes,))


def move(out: Any) -> Any:
    """Return a copy of a map, and empty the map itself for `refer`.

    Args:
        out: The map, as a dict or a form.
    """
    if type(out) is dict:
        copy = out.copy()
        out.clear()
        return copy
    copy = out.__copy__()
    for name in out.__struct_fields__:
        setattr(out, name, UNSET)
    return copy


def refer(out: Any, number: int) -> None:
    """Turn an empty map into a reference, or let a reference name another node.

    Args:
        out: The map, as a dict or a form.
        number: The number of the node.
    """
    reference = {"$type": "$ref", "n": number}
    if type(out) is dict:
        out.update(reference)
        return
    pairs = zip(out.__struct_encode_fields__, out.__struct_fields__, strict=True)
    for key, name in pairs:
        if key in reference:
            setattr(out, name, reference[key])
