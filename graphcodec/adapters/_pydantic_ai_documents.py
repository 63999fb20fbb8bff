"""What a store of conversations writes and reads: a document for each key."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, TypeVar

from pydantic_ai.conversation_store import ConversationEntry, ConversationRecord

from graphcodec._cache._arguments import digest_of, invalid
from graphcodec.adapters._pydantic_ai_types import TYPES
from graphcodec.errors import GraphCodecError, UndecodableValueError

if TYPE_CHECKING:
    from graphcodec._cache._arguments import Namespace
    from graphcodec.codec import Codec

T = TypeVar("T")


class Documents:
    """Writes and reads the records and entries of one store.

    Args:
        codec: What the user gave.
        names: The namespace of the keys.

    Attributes:
        prefix: What all keys begin with.

    Raises:
        DuplicateTagError: If the codec has given one of Pydantic AI's classes, or their
            tags, away.
    """

    def __init__(self, codec: Codec, names: Namespace) -> None:
        given = codec.replace(write_unregistered=False)
        for tag, cls in TYPES.items():
            given.register(cls, tag)
        self._redacting = given if given.redact else None
        # Rules are for what was said: an id that they changed would lead nowhere.
        self._codec = given.replace(redact=())
        # In braces, by which a cluster keeps all keys of a store in one slot.
        self.prefix = f"{{{names.prefix}:conversations}}:"

    def key(self, kind: str, name: str) -> str:
        """Return the key of a record, an entry, or the list of a scope.

        Args:
            kind: Which of them.
            name: Its id. It is hashed, so nothing in it can lead elsewhere.

        Raises:
            InvalidValueError: If it is no text.
        """
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise invalid("an id", "text", name)
        return f"{self.prefix}{kind}:{digest_of(name)}"

    def written(
        self, key: str, value: ConversationEntry | ConversationRecord, said: str
    ) -> bytes:
        """Return a document.

        Args:
            key: Where it will be.
            value: What it holds.
            said: The field that holds what was said.

        Raises:
            GraphCodecError: What `Codec.encode` raises.
        """
        if self._redacting is not None:
            redacted, _ = self._redacting.redacted(getattr(value, said))
            value = dataclasses.replace(value, **{said: redacted})
        return self._codec.encode(value, context=self._context(key))

    def record(self, key: str, document: bytes) -> ConversationRecord:
        """Return the record that a document holds.

        Args:
            key: Where it was.
            document: It.

        Raises:
            GraphCodecError: What `Codec.decode` raises.
        """
        record = self._opened(key, document, ConversationRecord)
        if self.key("record", record.conversation_id) != key:
            raise changed(key)
        return record

    def entry(self, key: str, document: bytes) -> ConversationEntry:
        """Return the entry that a document holds.

        Args:
            key: Where it was.
            document: It.

        Raises:
            GraphCodecError: What `Codec.decode` raises.
        """
        entry = self._opened(key, document, ConversationEntry)
        if self.key("entry", entry.id) != key:
            raise changed(key)
        return entry

    def _opened(self, key: str, document: bytes, cls: type[T]) -> T:
        try:
            return self._codec.decode(document, cls, context=self._context(key))
        except GraphCodecError as exc:
            exc.add_note(f"this is what Redis holds at {key}")
            raise

    def _context(self, key: str) -> bytes:
        """Return what a seal binds a document to: nobody can move it elsewhere."""
        return b"" if self._codec.seal is None else key.encode()


def changed(key: str) -> UndecodableValueError:
    """Return the error for what is whole, and not what should be there.

    Args:
        key: Where.
    """
    msg = f"{key} in Redis was changed: it holds what belongs elsewhere"
    return UndecodableValueError(msg, hint="somebody else writes there")
