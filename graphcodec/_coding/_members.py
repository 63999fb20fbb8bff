"""Members of Enums and values of Literals, as they stand on the wire."""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false
# A parsed document is Any until it was looked at.

from __future__ import annotations

import enum
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final, cast

from graphcodec._classes._slots import Choice, Member, describe
from graphcodec._paths import excerpt
from graphcodec._values import malformed, read_marker
from graphcodec.errors import UndecodableValueError

_LITERALS: Final = (str, int, bool, type(None))
_MOST_SHOWN: Final = 12
"""How many members are named in an error."""


def find_member(value: Any, slot: Member) -> enum.Enum | None:
    """Return the member that a piece of wire stands for, None if there is none.

    Args:
        value: The piece.
        slot: Where it stands.

    Raises:
        UndecodableValueError: If it could be no member of any Enum.
    """
    if type(value) is dict and len(value) == 1:
        marker = next(iter(value))
        if marker in ("$int", "$str"):
            return find_member(read_marker(marker, value), slot)
    if issubclass(slot.cls, enum.Flag):
        return _flags(value, slot.cls, slot)
    if type(value) not in (str, int):
        malformed(f"{describe(slot)} belongs here", value)
    if not slot.by_value:
        return {**slot.cls.__members__}.get(cast("str", value))
    for member in slot.cls:
        if type(member.value) is type(value) and member.value == value:
            return member
    return None


def _flags(value: Any, cls: type[enum.Flag], slot: Member) -> enum.Flag | None:
    if type(value) is not int:
        malformed(f"{describe(slot)} belongs here", value)
    with suppress(ValueError):
        flags: object = cls(value)
        # Depending on its boundary, a class drops bits that no member has, or gives
        # an int instead.
        if type(flags) is cls and flags.value == value:
            return flags
    return None


def is_literal(value: Any, slot: Choice) -> bool:
    """Say whether a piece of wire is one of the values of a Literal.

    Args:
        value: The piece.
        slot: Where it stands.

    Raises:
        UndecodableValueError: If it could be no value of any Literal.
    """
    if type(value) not in _LITERALS:
        malformed(f"{describe(slot)} belongs here", value)
    return any(type(known) is type(value) and known == value for known in slot.values)


def unknown(value: Any, slot: Member | Choice) -> UndecodableValueError:
    """Return the error for what a newer writer may know and this reader does not.

    Args:
        value: The piece of wire.
        slot: Where it stands.
    """
    if isinstance(slot, Choice):
        what = f"one of {_shown(slot.values)} belongs here, not {excerpt(value)}"
        return _unknown(what, value)
    flags = issubclass(slot.cls, enum.Flag)
    known = (
        [member.value for member in slot.cls]
        if slot.by_value
        else [*slot.cls.__members__]
    )
    has = f"has the bits of {_shown(known)}" if flags else f"has {_shown(known)}"
    name = slot.cls.__name__
    what = f"a member of {name} belongs here, not {excerpt(value)}; {name} {has}"
    return _unknown(what, value)


def unknown_name(name: str, tag: str, cls: type[enum.Enum]) -> UndecodableValueError:
    """Return the error for the name of a member that this reader does not know.

    Args:
        name: The name.
        tag: The tag of the Enum.
        cls: The Enum.
    """
    what = f"{tag} has no member {excerpt(name)}; it has {_shown(cls.__members__)}"
    return _unknown(what, name)


def _shown(known: Iterable[object]) -> str:
    names = list(known)
    shown = ", ".join(excerpt(name, 24) for name in names[:_MOST_SHOWN])
    rest = len(names) - _MOST_SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown


def _unknown(what: str, value: object) -> UndecodableValueError:
    hint = "update the reader, or use unknown_types='keep'"
    return UndecodableValueError(what, value=excerpt(value), hint=hint)
