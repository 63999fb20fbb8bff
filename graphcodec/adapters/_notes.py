"""What a primitive has no field for, noted so that the way back loses nothing.

A note is plain data in the stash of a primitive, under the name of the format. Of a map
that was taken apart it holds the ``fields`` that have no place of their own, the
``order`` of its keys where that is not the usual one, and the usual keys that it is
``without``. Notes travel with the graph, so the reading side treats one that makes no
sense as one that is not there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, cast

from graphcodec.errors import InvalidValueError
from graphcodec.primitives import Registry

Note: TypeAlias = dict[str, object]
Fields: TypeAlias = Mapping[str, object]


def noted(data: Fields, placed: Sequence[str]) -> Note:
    """Return what is left of *data* once the *placed* keys have been taken out.

    Args:
        data: The map.
        placed: The keys whose values the graph holds, in their usual order.
    """
    without = [key for key in placed if key not in data]
    fields = {key: value for key, value in data.items() if key not in placed}
    note: Note = {"fields": fields} if fields else {}
    if list(data) != [*(key for key in placed if key in data), *fields]:
        note["order"] = list(data)
    if without:
        note["without"] = without
    return note


def restored(note: Fields, placed: Fields) -> dict[str, object]:
    """Return the map that *note* was made of.

    Args:
        note: What `noted` gave, or nothing.
        placed: The values that the graph holds now, by key.
    """
    fields = fields_of(note, "fields")
    absent = [*list_of(note, "without"), *fields]
    whole = {key: value for key, value in placed.items() if key not in absent}
    whole.update(fields)
    order = [key for key in list_of(note, "order") if isinstance(key, str)]
    # What was added to the graph since then follows at the end.
    keys = dict.fromkeys([*order, *whole])
    return {key: whole[key] for key in keys if key in whole}


def stashed(name: str, note: Note) -> Registry:
    """Return a stash with *note*, empty if there is nothing to say.

    Args:
        name: The name of the format.
        note: The note.
    """
    return Registry({name: note}) if note else Registry()


def stash_note(stash: Registry, name: str) -> Fields:
    """Return the note that *stash* holds, an empty one if there is none.

    Args:
        stash: The stash of a primitive.
        name: The name of the format.
    """
    return as_fields(stash.get(name)) or {}


def fields_of(note: Fields, key: str) -> Fields:
    """Return the map that *note* has under *key*, an empty one if there is none.

    Args:
        note: Any note.
        key: What to look for.
    """
    return as_fields(note.get(key)) or {}


def list_of(note: Fields, key: str) -> list[object]:
    """Return the list that *note* has under *key*, an empty one if there is none.

    Args:
        note: Any note.
        key: What to look for.
    """
    return as_list(note.get(key)) or []


def count_of(note: Fields, key: str) -> int | None:
    """Return the number from 0 that *note* has under *key*, if it has one.

    Args:
        note: Any note.
        key: What to look for.
    """
    value = note.get(key)
    return value if type(value) is int and value >= 0 else None


def as_fields(value: object) -> Fields | None:
    """Return *value* if it is a mapping with str keys."""
    if not isinstance(value, Mapping):
        return None
    fields = cast("Mapping[object, object]", value)
    keyed = all(isinstance(key, str) for key in fields)
    return cast("Fields", fields) if keyed else None


def as_list(value: object) -> list[object] | None:
    """Return *value* if it is a list."""
    return cast("list[object]", value) if isinstance(value, list) else None


def as_name(value: object) -> str | None:
    """Return *value* if it is a str that is not empty."""
    return value if isinstance(value, str) and value else None


def refused(reason: str, value: object, path: str, hint: str = "") -> InvalidValueError:
    """Return the error for a conversation that is not as it should be.

    Args:
        reason: What should be.
        value: What is, of which only the type is shown.
        path: Where.
        hint: What to do about it.
    """
    found = type(value).__name__
    return InvalidValueError(f"{reason}, not {found}", path=path, hint=hint)
