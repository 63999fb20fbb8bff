"""Sealed chunks for another session: what was sealed for one is nothing in another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphcodec._cache._chunks import Address, Entry, pack, unpack

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphcodec._cache._documents import Documents


def resealed(
    chunks: Mapping[Address, bytes],
    roots: Mapping[str, bytes],
    old: Documents,
    new: Documents,
) -> tuple[dict[Address, bytes], dict[str, bytes]]:
    """Return chunks and roots as the other session has them.

    Args:
        chunks: The values of all chunks, children first.
        roots: The roots of the turns that lead to them.
        old: The documents of the session that they come from.
        new: The documents of the other one.
    """
    moved: dict[Address, bytes] = {}
    addresses: dict[Address, Address] = {}

    def again(value: bytes) -> bytes:
        chunk = unpack(value)
        entries = [
            Entry(tuple(map(addresses.__getitem__, entry.addresses)), entry.number)
            for entry in chunk.entries
        ]
        return pack(entries, new.stored(old.opened(chunk.document)))

    for address, value in chunks.items():
        there = again(value)
        addresses[address] = new.addresses.of(there)
        moved[addresses[address]] = there
    return moved, {field: again(value) for field, value in roots.items()}
