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

from graphcodec.errors import UndecodableValueError

if TYPE_CHECKING:
    from collections.abc import Iterable

ADDRESS_SIZE: Final = 32
COUNT_SIZE: Final = 4
VERSION_DIGITS: Final = 16

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
    """Return the address of a stored value."""
    return hashlib.sha256(value).digest()


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


def verified(address: Address, value: bytes) -> bytes:
    """Return *value* if it belongs to *address*.

    Raises:
        UndecodableValueError: If it was changed.
    """
    if address_of(value) != address:
        msg = f"{shown(address)} in Redis was changed: its hash is another"
        raise UndecodableValueError(msg, hint=_HINT)
    return value


def pack_snapshot(value: bytes) -> bytes:
    """Return the root of a snapshot as it is stored, but for its version."""
    return address_of(value) + value


def unpack_snapshot(stored: bytes) -> Snapshot:
    """Return what a field of the hash of turns holds.

    Raises:
        UndecodableValueError: If it is no snapshot.
    """
    digits, rest = stored[:VERSION_DIGITS], stored[VERSION_DIGITS:]
    if not digits.isdigit() or len(rest) < ADDRESS_SIZE:
        msg = "a snapshot in Redis is cut short"
        raise UndecodableValueError(msg, hint=_HINT)
    address, value = rest[:ADDRESS_SIZE], rest[ADDRESS_SIZE:]
    return Snapshot(int(digits), verified(address, value))


_HINT: Final = "save the turn anew, from the log"
