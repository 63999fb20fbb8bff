"""Messages that several items of a conversation make up, on their way out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Final, Self, TypeVar

from attrs import define, field

from graphcodec.adapters._notes import Fields, count_of, fields_of, restored
from graphcodec.adapters._writer import Writer

if TYPE_CHECKING:
    from graphcodec.primitives import Conversation

_LAST: Final = float("inf")


@define
class Turn(ABC):
    """A message that is being written.

    Attributes:
        position: Where it stood.
        role: Who says it, or what kind of message it is.
        note: What was noted of it.
        pieces: What it is made of, by where that stood.
        answers: The message with the answers to calls that had none before.
        whole: The message, if it was kept as it was.
    """

    piece: ClassVar[str]
    """What notes call the place of a piece."""

    position: int
    role: str
    note: Fields = field(factory=dict[str, object])
    pieces: list[tuple[float, object]] = field(factory=list[tuple[float, object]])
    answers: Self | None = None
    whole: dict[str, object] | None = None

    def add(self, note: Fields, piece: object) -> None:
        """Add what stands at a place, or behind all else."""
        index = count_of(note, self.piece)
        self.pieces.append((_LAST if index is None else index, piece))
        self.note = self.note or fields_of(note, "message")

    def message(self) -> dict[str, object]:
        """Return the whole message."""
        if self.whole is not None:
            return self.whole
        pieces = [piece for _, piece in sorted(self.pieces, key=lambda each: each[0])]
        return restored(self.note, self._made_of(pieces))

    @abstractmethod
    def _made_of(self, pieces: list[object]) -> dict[str, object]:
        """Return the message without what was noted of it."""


T = TypeVar("T", bound=Turn)


class TurnWriter(Writer[T]):
    """Writes one conversation as messages.

    Args:
        conversation: The conversation.
    """

    turn: type[T]
    """How a message is made."""

    def __init__(self, conversation: Conversation) -> None:
        super().__init__(conversation)
        self._turns: dict[tuple[int, str], T] = {}
        self._current: T | None = None

    def _turn(self, position: int, role: str, *, is_noted: bool) -> T:
        """Return the message at a place, a new one if there is none."""
        found = self._turns.get((position, role)) if is_noted else self._current
        if found is None or (found.position, found.role) != (position, role):
            found = self._open(position, role)
            if is_noted:
                self._turns[position, role] = found
        self._current = found
        return found

    def _say_anew(self, note: Fields) -> None:
        """Begin a message if what is said next would stand before an answer to a call.

        Only calls that follow each other have their answers behind all of them.
        """
        current = self._current
        if "at" not in note and current is not None and current.answers is not None:
            self._current = None

    def _open(self, position: int, role: str) -> T:
        turn = self.turn(position, role)
        self._add(position, turn)
        return turn

    def _put(self, note: Fields, role: str, piece: object) -> T:
        """Add a piece to the message in which an item stood, or to the current one."""
        turn = self._turn(self._place(note), role, is_noted="at" in note)
        turn.add(note, piece)
        return turn
