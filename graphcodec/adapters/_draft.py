"""A conversation while it is read: what all readers of formats do alike."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, cast

from graphcodec.adapters._notes import Fields, Note, as_fields, as_name, stashed
from graphcodec.errors import InvalidValueError
from graphcodec.primitives import (
    Conversation,
    Identity,
    Message,
    Retrievable,
    Thought,
    Tokenizable,
    ToolCall,
    TrustTier,
)

if TYPE_CHECKING:
    from graphcodec.adapters._contents import Content
    from graphcodec.adapters._results import Results

Role: TypeAlias = Literal["user", "assistant"]


class OfTool(NamedTuple):
    """What an answer names that has no id of a call: the tool."""

    tool: str


class Draft:
    """What has been read so far.

    Attributes:
        id: The id of the conversation.
        moment: When what is read next was said.

    Args:
        key: What the notes are called in stashes.
        whole: All that is read.
        created: The key of the time at which it was made, in seconds since the Unix
            epoch; empty if the format has none.
    """

    def __init__(self, key: str, whole: Fields, created: str = "") -> None:
        self.id = as_name(whole.get("id")) or _digest(whole)
        self._key = key
        self.moment = _moment(whole.get(created))
        self._identities: dict[tuple[str, str], Identity] = {}
        self._items: list[Message | ToolCall | Thought | Retrievable] = []
        self._pending: dict[str | OfTool, list[int]] = {}
        self._instructions: list[str] = []
        self._instruction_notes: list[Note] = []
        self._kept: list[Note] = []

    def instruct(self, text: str, note: Note) -> None:
        """Add what the developer says.

        Args:
            text: The text.
            note: What else there was.
        """
        self._instructions.append(text)
        self._instruction_notes.append(note)

    def say(
        self, name: str, role: Role, content: Content, note: Note, speaker: str = ""
    ) -> None:
        """Add what somebody says.

        Args:
            name: The id of the message.
            role: Who says it.
            content: What is said; not nothing.
            note: What else there was.
            speaker: Who exactly says it, if that is known.
        """
        message = Message(
            id=name,
            role=role,
            content=content.text or None,
            attachments=content.media,
            identity=self._identity(role, speaker or role),
            created_at=self.moment,
            updated_at=self.moment,
            stash=stashed(self._key, note),
        )
        self._items.append(message)

    def think(
        self, name: str, text: str, note: Note, payload: Fields | None, shape: str
    ) -> None:
        """Add what a model reasoned.

        Args:
            name: The id of the thought.
            text: What can be read of it.
            note: What else there was.
            payload: What only its vendor can read; one of the two is there.
            shape: The wire shape of the payload.
        """
        thought = Thought(
            id=name,
            content=text,
            payload=None if payload is None else dict(payload),
            replay_compatibility=None if payload is None else shape,
            created_at=self.moment,
            updated_at=self.moment,
            stash=stashed(self._key, note),
        )
        self._items.append(thought)

    def look_up(self, name: str, text: str, note: Note, **more: object) -> None:
        """Add a passage.

        Args:
            name: What to tell it by from other ones of this conversation.
            text: The text; not nothing.
            note: What else there was.
            **more: Other fields of a `Retrievable`.
        """
        passage = Retrievable(
            # Nobody who writes a passage can guess the hash of the conversation.
            id=f"{self.id}-{name}",
            content=text,
            trust_tier=TrustTier.THIRD_PARTY_PRIVATE,
            created_at=self.moment,
            updated_at=self.moment,
            stash=stashed(self._key, note),
            **more,  # type: ignore[arg-type]  # checked by the constructor
        )
        self._items.append(passage)

    def ask(
        self,
        name: str,
        tool: str,
        args: dict[str, object],
        note: Note,
        answered_as: str | OfTool | None,
    ) -> None:
        """Add a call that is pending.

        Args:
            name: The id of the call.
            tool: The tool.
            args: The arguments.
            note: What else there was.
            answered_as: What its answer will name; None if there will be none.
        """
        if answered_as is not None:
            self._pending.setdefault(answered_as, []).append(len(self._items))
        call = ToolCall(
            id=name,
            tool=tool,
            args=args,
            is_complete=False,
            is_error=False,
            created_at=self.moment,
            updated_at=self.moment,
            stash=stashed(self._key, note),
        )
        self._items.append(call)

    def asked(self, given: object) -> ToolCall | None:
        """Return the call that an answer would complete.

        Args:
            given: What the answer names.
        """
        waiting = self._pending.get(given) if isinstance(given, str | OfTool) else None
        return cast("ToolCall", self._items[waiting[-1]]) if waiting else None

    def answer(
        self,
        given: str | OfTool,
        results: Results,
        note: Note,
        *,
        is_error: bool = False,
    ) -> None:
        """Complete the latest of the calls that wait for this answer.

        Args:
            given: What the answer names.
            results: The answer.
            note: What else there was.
            is_error: Whether the tool failed.
        """
        index = self._pending[given].pop()
        call = cast("ToolCall", self._items[index])
        whole = dict(as_fields(call.stash.get(self._key)) or {})
        if note:
            whole["answer"] = note
        self._items[index] = call.replace(
            is_complete=True,
            is_error=is_error,
            results=results,
            completed_at=self.moment,
            stash=stashed(self._key, whole),
        )

    def keep(self, at: int, **entry: object) -> None:
        """Keep something that no primitive can hold.

        Args:
            at: Where it stood.
            **entry: What it was.
        """
        self._kept.append({"at": at, **entry})

    def conversation(self, note: Note) -> Conversation:
        """Return what was read.

        Args:
            note: What else there was beside the messages.
        """
        if self._instruction_notes:
            note["instructions"] = self._instruction_notes
        if self._kept:
            note["kept"] = self._kept
        return Conversation(
            id=self.id,
            items=tuple(self._items),
            instructions=tuple(map(Tokenizable, self._instructions)),
            stash=stashed(self._key, note),
        )

    def _identity(self, role: str, name: str) -> Identity:
        """Return who speaks: one object for one person, however often they do."""
        identity = Identity(identifier=name, representation=name)
        return self._identities.setdefault((role, name), identity)


def _moment(seconds: object) -> datetime:
    if type(seconds) in (int, float):
        try:
            return datetime.fromtimestamp(cast("float", seconds), UTC)
        except (OverflowError, ValueError, OSError):
            # Kept among the fields, as everything is.
            pass
    return datetime.fromtimestamp(0, UTC)


def _digest(whole: Fields) -> str:
    """Return an id that the same conversation always has.

    Raises:
        InvalidValueError: If it holds what JSON has not.
    """
    try:
        text = json.dumps(dict(whole), sort_keys=True)
    except (TypeError, ValueError, RecursionError) as exc:
        msg = f"a conversation must be plain JSON: {exc}"
        raise InvalidValueError(msg, path="$") from exc
    return f"chat-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
