"""What each operation of a cache does, step by step, for a client of either kind.

A plan is a generator: it yields what it asks Redis and is sent the answer. Whoever runs
it decides whether asking blocks or is awaited.
"""

from __future__ import annotations

import os
from itertools import count
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from graphcodec import _formats, _frames
from graphcodec._cache import _scripts
from graphcodec._cache._arguments import (
    Keys,
    Namespace,
    as_bytes,
    conflict,
    field_of,
    invalid,
    milliseconds,
    not_found,
    turn_of,
)
from graphcodec._cache._chunks import (
    Address,
    Addresses,
    Chunk,
    addresses_in,
    pack_snapshot,
    shown,
    unpack,
    unpack_snapshot,
)
from graphcodec._cache._clients import Argument, Call, Words
from graphcodec._cache._cutting import Cut, Cutter, Memo
from graphcodec._cache._differing import Change, Side, differences
from graphcodec._cache._documents import Documents
from graphcodec._cache._joining import Joiner, children_first
from graphcodec._cache._memos import Memos
from graphcodec._cache._resealing import resealed
from graphcodec._cache._results import Freed, Saved, Session
from graphcodec._limits import exceeded
from graphcodec.codec import Codec
from graphcodec.errors import (
    LimitExceededError,
    StorageError,
    UndecodableValueError,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping
    from datetime import timedelta

T = TypeVar("T")

_MOST_ATTEMPTS: Final = 8
_WORTH_ASKING: Final = 16 << 10
"""How many bytes of chunks are better asked for than sent again."""

_BATCH_BYTES: Final = 1 << 20
_BATCH_FIELDS: Final = 256
_MOST_LEVELS: Final = 24
"""How many levels of links are followed one by one, each of which costs a round trip.

Lists and trees have a few, a chain of objects as many as it has objects.
"""

_MOST_STORED: Final = 8
"""How many times the bytes of a document its chunks may take."""


Plan: TypeAlias = "Generator[Words | Call, Any, T]"


class Plans:
    """The operations of one cache.

    Args:
        codec: What writes and reads.
        namespace: What the keys begin with.
        ttl: How long a session stays after its last save; None for ever.
    """

    def __init__(
        self, codec: Codec | None, namespace: str, ttl: float | timedelta | None
    ) -> None:
        given = Codec() if codec is None else codec
        if not isinstance(given, Codec):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise invalid("codec", "a Codec", given)
        # Chunks are sealed, and the document that they make is not again.
        self._codec = given.replace(write_unregistered=False, seal=None)
        self._seal = given.seal
        self._names = Namespace(namespace)
        self._ttl = milliseconds(ttl)
        self._memos = Memos()

    @property
    def pattern(self) -> str:
        """A pattern for the keys of the turns of all sessions."""
        return self._names.pattern

    def _documents(self, session_id: str) -> Documents:
        codec = self._codec
        form = codec.format, codec.compression, codec.limits
        return Documents(*form, self._seal, as_bytes(session_id))

    # Saving

    def save(
        self, session_id: str, turn: int, snapshot: object, expected: int | None
    ) -> Plan[Saved]:
        """Store a snapshot."""
        keys, field = self._names.keys(session_id), field_of(turn)
        if expected is not None and (type(expected) is not int or expected < 0):
            raise invalid("expected", "a version, an int from 0", expected)
        wanted = "" if expected is None else str(expected)
        token = os.urandom(16)
        documents = self._documents(session_id)
        for _ in range(_MOST_ATTEMPTS):
            memo = self._memos.get(keys)
            cut = self._cut(snapshot, Cutter(documents, memo or Memo()))
            sending = cut.chunks
            if memo is None or _size(sending) > _WORTH_ASKING:
                sending = yield from self._absent(keys, cut)
            roots = {field: pack_snapshot(cut.root, field, documents.addresses)}
            words = (wanted, as_bytes(session_id), token)
            answer = yield from self._store(keys, sending, roots, words)
            if answer is not None:
                self._memos.put(keys, cut.memo)
                size = _size(sending) + len(field) + len(roots[field])
                return Saved(turn, answer, size)
            # Something that was there is gone: look at everything.
            self._memos.put(keys, None)
        msg = "the chunks of this session vanish as fast as they are stored"
        hint = "look for what deletes them: a sweep without end, or eviction"
        raise StorageError(msg, hint=hint)

    def _cut(self, snapshot: object, cutter: Cutter) -> Cut:
        try:
            return self._codec.written(snapshot, cutter.cut)
        except RecursionError:
            msg = "the stack of the caller leaves no room to cut the document"
            hint = "call save from a frame that is not so deep"
            raise LimitExceededError(msg, limit="nesting", hint=hint) from None

    def _absent(self, keys: Keys, cut: Cut) -> Plan[Mapping[Address, bytes]]:
        """Return the chunks that are not there; where one is, all below it are."""
        absent: set[Address] = set()
        asked: set[Address] = set()
        found: list[Address] = []
        linked = set(addresses_in(cut.root))
        levels = count(1)
        while wanted := (cut.chunks.keys() & linked) - asked:
            if next(levels) > _MOST_LEVELS:
                wanted = cut.chunks.keys() - asked
            asked |= wanted
            found = yield Call(_scripts.ABSENT, keys, tuple(wanted))
            absent.update(found)
            linked = {a for address in found for a in addresses_in(cut.chunks[address])}
        return {a: value for a, value in cut.chunks.items() if a in absent}

    def _store(
        self,
        keys: Keys,
        chunks: Mapping[Address, bytes],
        roots: Mapping[str, bytes],
        terms: tuple[str, bytes, bytes],
    ) -> Plan[int | None]:
        """Write chunks, then the turns; return the version.

        None means that something which they link to is not there. The terms are the
        expected version, the id of the session, and a token by which a call that was
        sent twice is known.
        """
        batches = list(_batches(chunks))
        for number, batch in enumerate(batches, 1):
            turns = _flat(roots) if number == len(batches) else ()
            words = (*terms, self._ttl, len(batch) // 2, *batch, *turns)
            answer: list[Any] = yield Call(_scripts.STORE, keys, words)
            match answer[0]:
                case b"absent":
                    return None
                case b"conflict":
                    raise conflict(terms[0], int(answer[1]), int(answer[2]))
                case _ if number == len(batches):
                    return int(answer[1])
                case _:
                    pass
        return None

    # Loading

    def document(self, session_id: str, turn: int | None) -> Plan[bytes]:
        """Return the document that was saved, in one piece, sealed if chunks are."""
        document = yield from self._joined(session_id, turn)
        if self._seal is None:
            return document
        context = as_bytes(session_id)
        limits = self._codec.limits
        return _frames.framed(document, limits, seal=self._seal, context=context)

    def _joined(self, session_id: str, turn: int | None) -> Plan[bytes]:
        stored = yield from self._stored(session_id, turn)
        joiner = Joiner(*stored, self._documents(session_id))
        wire = joiner.wire()
        try:
            return _formats.write(wire, joiner.format)
        except (RecursionError, UnicodeEncodeError) as exc:
            msg = f"the chunks of the snapshot make no document: {exc}"
            raise UndecodableValueError(msg) from None

    def load(self, session_id: str, turn: int | None, cls: Any) -> Plan[Any]:
        """Return the graph that was saved."""
        document = yield from self._joined(session_id, turn)
        return self._codec.decode(document, cls)

    def _stored(
        self, session_id: str, turn: int | None
    ) -> Plan[tuple[Chunk, Mapping[Address, Chunk]]]:
        keys = self._names.keys(session_id)
        addresses = self._documents(session_id).addresses
        there = yield from self._turn(keys, session_id, turn)
        while True:
            field, raw = there
            snapshot = unpack_snapshot(raw, field, addresses)
            roots = addresses_in(snapshot.value)
            found = yield from self._reached(keys, roots, addresses)
            if not isinstance(found, bytes):
                chunks = {address: unpack(value) for address, value in found.items()}
                return unpack(snapshot.value), chunks
            # It may have been replaced, or pruned, since it was read.
            before, there = there, (yield from self._turn(keys, session_id, turn))
            if before == there:
                break
        msg = f"{shown(found)} of the snapshot is not in Redis"
        hint = "save the turn anew, from the log"
        raise UndecodableValueError(msg, hint=hint)

    def _turn(
        self, keys: Keys, session_id: str, turn: int | None
    ) -> Plan[tuple[str, bytes]]:
        """Return the field of a turn, and what it holds."""
        if turn is None:
            newest: list[bytes] | None = yield Call(_scripts.NEWEST, keys)
            if newest is not None:
                return newest[0].decode(), newest[1]
        else:
            field = field_of(turn)
            raw: bytes | None = yield ("HGET", keys.turns, field)
            if raw is not None:
                return field, raw
        raise not_found(session_id, turn)

    def _reached(
        self, keys: Keys, roots: Iterable[Address], addresses: Addresses
    ) -> Plan[dict[Address, bytes] | Address]:
        """Return all values that *roots* lead to, or an address that is not there."""
        found: dict[Address, bytes] = {}
        order, met = list[Address](), set[Address]()
        most = _MOST_STORED * self._codec.limits.max_bytes
        size = 0
        levels = count(1)
        _add_new(roots, order, met)
        while len(found) < len(order):
            left = order[len(found) :]
            if len(left) < _BATCH_FIELDS and next(levels) == _MOST_LEVELS:
                below: list[Address] = yield Call(_scripts.REACHED, keys, (*left,))
                _add_new(below, order, met)
            batch = order[len(found) :][:_BATCH_FIELDS]
            values: list[bytes | None] = yield ("HMGET", keys.chunks, *batch)
            for address, value in zip(batch, values, strict=True):
                if value is None:
                    return address
                found[address] = addresses.verified(address, value)
                size += len(value)
                _add_new(addresses_in(value), order, met)
            if size > most:
                raise exceeded("max_bytes", most // _MOST_STORED, size)
        return found

    # The rest

    def turns(self, session_id: str) -> Plan[list[int]]:
        """Return the numbers of the turns, in order."""
        fields: list[bytes] = yield ("HKEYS", self._names.keys(session_id).turns)
        return sorted(turn for turn in map(turn_of, fields) if turn is not None)

    def version(self, session_id: str) -> Plan[int]:
        """Return the version of the newest save, 0 if there is none."""
        digits: bytes | None = yield (
            "HGET",
            self._names.keys(session_id).turns,
            "version",
        )
        return int(digits) if digits and digits.isdigit() else 0

    def delete(self, session_id: str, turn: int | None) -> Plan[bool]:
        """Take a session away, or one turn of it."""
        keys = self._names.keys(session_id)
        if turn is not None:
            count = yield ("HDEL", keys.turns, field_of(turn))
        else:
            self._memos.put(keys, None)
            # The turns first: without them, chunks are nothing.
            count = yield ("DEL", keys.turns, keys.chunks)
        return bool(count)

    def sweep(self, session_id: str, keep: int | None) -> Plan[Freed]:
        """Take away all turns but the newest, and what nothing needs."""
        if keep is not None and (type(keep) is not int or keep < 0):
            raise invalid("keep", "how many turns stay, an int from 0", keep)
        args = (-1 if keep is None else keep,)
        freed = yield Call(_scripts.SWEEP, self._names.keys(session_id), args)
        return Freed(*map(int, freed))

    def fork(self, session_id: str, turn: int, new_session_id: str) -> Plan[int]:
        """Copy the turns up to one into a new session, and return how many."""
        source, target = self._names.keys(session_id), self._names.keys(new_session_id)
        field_of(turn)
        before = yield from self.turns(session_id)
        fields = [str(number) for number in before if number <= turn]
        if turn not in before:
            raise not_found(session_id, turn)
        stored: list[bytes | None] = yield ("HMGET", source.turns, *fields)
        old, new = self._documents(session_id), self._documents(new_session_id)
        values = {
            field: unpack_snapshot(raw, field, old.addresses).value
            for field, raw in zip(fields, stored, strict=True)
            if raw is not None
        }
        roots = [a for value in values.values() for a in addresses_in(value)]
        found = yield from self._reached(source, roots, old.addresses)
        if isinstance(found, bytes) or len(values) < len(fields):
            msg = "the session was changed while it was copied"
            raise StorageError(msg, hint="fork again")
        chunks = {address: unpack(value) for address, value in found.items()}
        sending = {a: found[a] for a in children_first(roots, chunks)}
        if self._seal is not None:
            sending, values = resealed(sending, values, old, new)
        sent = {
            field: pack_snapshot(value, field, new.addresses)
            for field, value in values.items()
        }
        terms = ("new", as_bytes(new_session_id), os.urandom(16))
        done = yield from self._store(target, sending, sent, terms)
        if done is None:
            msg = "the new session was swept while it was made"
            raise StorageError(msg, hint="fork again")
        return len(sent)

    def diff(self, session_id: str, a: int, b: int) -> Plan[tuple[Change, ...]]:
        """Return what differs between two turns."""
        old = Side(*(yield from self._stored(session_id, a)))
        new = Side(*(yield from self._stored(session_id, b)))
        return tuple(differences(old, new, self._documents(session_id)))

    def survey(self, turns_key: str) -> Plan[Session | None]:
        """Return what is stored of a session; None if it is gone, or is none."""
        keys = Keys(f"{turns_key.removesuffix('turns')}chunks", turns_key)
        name, version, turns, chunks, size, ttl = yield Call(_scripts.SURVEY, keys)
        session_id = self._names.session_of(keys, name)
        if session_id is None:
            return None
        return Session(
            id=session_id,
            version=version,
            turns=turns,
            chunks=chunks,
            bytes=size,
            ttl=None if ttl < 0 else ttl / 1000,
        )


def _add_new(
    addresses: Iterable[Address], order: list[Address], met: set[Address]
) -> None:
    """Add to *order* what was not met yet."""
    for address in addresses:
        if address not in met:
            met.add(address)
            order.append(address)


def _batches(chunks: Mapping[Address, bytes]) -> Iterable[Words]:
    """Yield addresses and values in turn, a bounded number of bytes at a time.

    The last batch, which may be empty, is sent together with the turns.
    """
    batch: list[Argument] = []
    size = 0
    for address, value in chunks.items():
        if batch and size + len(value) > _BATCH_BYTES:
            yield tuple(batch)
            batch, size = [], 0
        batch += (address, value)
        size += len(value)
    yield tuple(batch)


def _flat(table: Mapping[str, bytes]) -> Words:
    return tuple(word for pair in table.items() for word in pair)


def _size(table: Mapping[bytes, bytes]) -> int:
    return sum(len(name) + len(value) for name, value in table.items())
