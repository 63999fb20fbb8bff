"""What is stored: a document that has been cut, and the links where it was.

A value in Redis is, one after the other,

* the number of links, four bytes, the highest first,
* the address of each, 32 bytes,
* in MessagePack, a list of what the links are for, and the document.

The addresses stand before everything else so that a script in Redis can follow them.

A reference in the document is the number of an entry of that list: a positive number n
stands for the next n addresses, whose contents belong in its place, one after the
other; a negative number for one address and the object in it that many readers share:
-k is its k-th object. Equal objects that are not one have one address; the first has
k = 1, the second k = 2. In a chunk of m objects that form a cycle, the copies have
1 to m, m + 1 to 2m, and so on. Below its own nodes a document counts the entries on.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec
from attrs import frozen

from graphcodec.errors import SealError, UndecodableValueError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from graphcodec._seal import Seal

ADDRESS_SIZE: Final = 32
COUNT_SIZE: Final = 4
VERSION_DIGITS: Final = 16

_LENGTH_SIZE: Final = 8

Address: TypeAlias = bytes

_pack: Final = msgspec.msgpack.Encoder().encode
_unpack: Final = msgspec.msgpack.Decoder(tuple[list[int], bytes]).decode


@frozen
class Entry:
    """What one reference of a chunk stands for.

    Attributes:
        addresses: Where its contents are; of a shared object, one.
        number: Which object of that address it is; 0 if the contents are nobody else's.
    """

    addresses: tuple[Address, ...]
    number: int = 0


@frozen
class Chunk:
    """A part of a snapshot, or its root.

    Attributes:
        entries: What the references in the document stand for.
        document: A document of the codec.
    """

    entries: list[Entry]
    document: bytes


@frozen
class Snapshot:
    """What is stored of one turn.

    Attributes:
        version: Which save it was.
        value: Its root, as chunks are stored.
    """

    version: int
    value: bytes


def pack(entries: Iterable[Entry], document: bytes) -> bytes:
    """Return a chunk as it is stored.

    Args:
        entries: What the references in the document stand for.
        document: The document.
    """
    entries = list(entries)
    addresses = [address for entry in entries for address in entry.addresses]
    meant = [-entry.number or len(entry.addresses) for entry in entries]
    count = len(addresses).to_bytes(COUNT_SIZE, "big")
    return b"".join([count, *addresses, _pack((meant, document))])


def address_of(value: bytes) -> Address:
    """Return the address of a stored value that is not sealed."""
    return hashlib.sha256(value).digest()


@frozen
class Addresses:
    """Gives the values of one session their addresses, and checks them.

    Without a seal they are hashes, with which damage is found. With one they are HMACs,
    so nobody without the key can make a value, move one to another session, or make
    something else the root of a turn.

    Attributes:
        seal: The seal.
        session: The id of the session.
    """

    seal: Seal | None = None
    session: bytes = b""

    def of(self, value: bytes, turn: str = "") -> Address:
        """Return the address of a stored value.

        Args:
            value: The value.
            turn: The turn of which it is the root; empty if it is a chunk.
        """
        if self.seal is None:
            return address_of(value)
        return self.seal.address(*self._sealed(value, turn))

    def verified(self, address: Address, value: bytes, turn: str = "") -> bytes:
        """Return *value* if it belongs to *address*.

        Args:
            address: Where it was found.
            value: What was found.
            turn: The turn of which it should be the root; empty for a chunk.

        Raises:
            UndecodableValueError: If it was changed; with a seal, `SealError`.
        """
        if self.seal is None:
            if address_of(value) != address:
                msg = f"{shown(address)} in Redis was changed: its hash is another"
                raise UndecodableValueError(msg, hint=_HINT_OR_SEAL)
        elif not self.seal.gave(address, *self._sealed(value, turn)):
            msg = f"{shown(address)} in Redis has not the seal of this turn and session"
            raise SealError(msg, hint=_HINT)
        return value

    def _sealed(self, value: bytes, turn: str) -> tuple[bytes, ...]:
        """Return what an address stands for, so that it has one meaning."""
        names = (self.session, turn.encode())
        lengths = [len(name).to_bytes(_LENGTH_SIZE, "big") for name in names]
        return (*lengths, *names, value)


def shown(address: Address) -> str:
    """Return what errors say of a chunk."""
    return f"chunk {address.hex()[:12]}"


def addresses_in(value: bytes) -> list[Address]:
    """Return the addresses of all links of a stored value.

    Raises:
        UndecodableValueError: If it is shorter than it says.
    """
    end = COUNT_SIZE + ADDRESS_SIZE * int.from_bytes(value[:COUNT_SIZE], "big")
    if len(value) < end:
        msg = "a chunk in Redis is cut short"
        raise UndecodableValueError(msg, hint=_HINT)
    return [
        value[at : at + ADDRESS_SIZE] for at in range(COUNT_SIZE, end, ADDRESS_SIZE)
    ]


def unpack(value: bytes) -> Chunk:
    """Return the chunk that is stored as *value*.

    Raises:
        UndecodableValueError: If there is none.
    """
    addresses = addresses_in(value)
    try:
        meant, document = _unpack(value[COUNT_SIZE + ADDRESS_SIZE * len(addresses) :])
    except (msgspec.DecodeError, RecursionError) as exc:
        msg = f"a value in Redis is no chunk: {exc}"
        raise UndecodableValueError(msg, hint=_HINT) from None
    entries: list[Entry] = []
    at = 0
    for number in meant:
        end = at + max(number, 1)
        entries.append(Entry(tuple(addresses[at:end]), max(-number, 0)))
        at = end
    if at != len(addresses) or 0 in meant:
        msg = "the links of a chunk in Redis are not as many as it says"
        raise UndecodableValueError(msg, hint=_HINT)
    return Chunk(entries, document)


def pack_snapshot(value: bytes, turn: str, addresses: Addresses) -> bytes:
    """Return the root of a snapshot as it is stored, but for its version.

    Args:
        value: The root.
        turn: The field of the turn.
        addresses: Gives it its address.
    """
    return addresses.of(value, turn) + value


def unpack_snapshot(stored: bytes, turn: str, addresses: Addresses) -> Snapshot:
    """Return what a field of the hash of turns holds.

    Args:
        stored: What it holds.
        turn: The field.
        addresses: Checks the address.

    Raises:
        UndecodableValueError: If it is no snapshot; with a seal, also `SealError`.
    """
    digits, rest = stored[:VERSION_DIGITS], stored[VERSION_DIGITS:]
    if not digits.isdigit() or len(rest) < ADDRESS_SIZE:
        msg = "a snapshot in Redis is cut short"
        raise UndecodableValueError(msg, hint=_HINT)
    address, value = rest[:ADDRESS_SIZE], rest[ADDRESS_SIZE:]
    return Snapshot(int(digits), addresses.verified(address, value, turn))


_HINT: Final = "save the turn anew, from the log"
_HINT_OR_SEAL: Final = f"{_HINT}; if it is sealed, give the cache a codec with its seal"
