"""What an adapter kept aside, since no primitive has a place for it.

All adapters note such things in the same words, so one walk over the stashes finds
them: ``fields`` of a map, and what is ``kept`` whole, with ``why`` if there is a reason
to give.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from attrs import frozen

from graphcodec._paths import Step, format_path
from graphcodec.adapters._formats import FORMATS, Format
from graphcodec.adapters._notes import (
    Fields,
    as_fields,
    as_list,
    as_name,
    count_of,
    stash_note,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphcodec.primitives import Conversation, Registry

_DEEPEST: Final = 8
"""Notes are shallow; what nests deeper in a stash was not put there by an adapter."""


@frozen(kw_only=True)
class Kept:
    """Something that stays in a stash, in its own words.

    Attributes:
        format: The format that it came from, such as ``openai-chat``.
        what: What it is: ``message``, ``part image_url``, ``field usage``.
        path: Where it is in the conversation, as `graphcodec inspect` takes it.
        source: Where it was in what was read; empty if that is not noted.
        why: What kept it from becoming a primitive; empty if there is no place for it.
    """

    format: str
    what: str
    path: str
    source: str = ""
    why: str = ""


def kept_aside(conversation: Conversation) -> tuple[Kept, ...]:
    """Return what adapters kept in the stashes of *conversation*, in order.

    It comes back on the way to the format that it is from; on the way to any other one,
    and for whoever reads only the primitives, it is not there.

    Args:
        conversation: What a function of an adapter returned.
    """
    return tuple(_kept(conversation))


def _kept(conversation: Conversation) -> Iterator[Kept]:
    for name, format_ in FORMATS.items():
        walk = _Walk(name, _source(conversation, format_))
        for steps, stash in _stashes(conversation):
            note = stash_note(stash, format_.key)
            yield from walk.note(note, (*steps, "stash", "data", format_.key))


def _source(conversation: Conversation, format_: Format) -> str:
    """Return the path of what the positions in notes count."""
    note = stash_note(conversation.stash, format_.key)
    if note.get("form") == "message":
        return ""
    section = as_name(note.get("section")) or format_.entries
    return f"$.{section}" if section else "$"


def _stashes(
    conversation: Conversation,
) -> Iterator[tuple[tuple[Step, ...], Registry]]:
    yield (), conversation.stash
    for index, item in enumerate(conversation.items):
        yield ("items", index), item.stash


@frozen
class _Walk:
    """A walk over one note.

    Attributes:
        name: The name of the format.
        source: The path of what positions count; empty if there is one thing alone.
    """

    name: str
    source: str

    def note(
        self, note: Fields, steps: tuple[Step, ...], at: int | None = None
    ) -> Iterator[Kept]:
        """Yield what a note, or a part of one, keeps.

        Args:
            note: The note.
            steps: Where it is.
            at: The position of what it is about, if that is known.
        """
        at = count_of(note, "at") if "at" in note else at
        for key, value in note.items():
            here = (*steps, key)
            if key == "fields":
                for field in as_fields(value) or ():
                    yield self._found(f"field {field}", (*here, field), at)
            elif key == "kept" and as_list(value) is None:
                why = as_name(note.get("why")) or ""
                yield self._found(_named(value), here, at, why)
            elif key == "message" and steps[-2:-1] == ("kept",):
                yield self._found(_named(value), here, at)
            else:
                yield from self._inside(value, here, at)

    def _inside(
        self, value: object, steps: tuple[Step, ...], at: int | None
    ) -> Iterator[Kept]:
        if len(steps) > _DEEPEST:
            return
        if (inner := as_fields(value)) is not None:
            yield from self.note(inner, steps, at)
        for index, entry in enumerate(as_list(value) or ()):
            yield from self._inside(entry, (*steps, index), at)

    def _found(
        self, what: str, steps: tuple[Step, ...], at: int | None, why: str = ""
    ) -> Kept:
        source = "" if at is None else f"{self.source}[{at}]" if self.source else "$"
        return Kept(
            format=self.name,
            what=what,
            path=format_path(steps),
            source=source,
            why=why,
        )


def _named(value: object) -> str:
    """Return what to call something that is kept whole."""
    fields = as_fields(value) or {}
    for key in ("type", "role", "part_kind", "kind"):
        if name := as_name(fields.get(key)):
            return name
    return "entry"
