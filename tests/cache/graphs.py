"""Conversations that grow, and what is looked at in Redis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphcodec._cache._arguments import Namespace
from graphcodec._cache._chunks import Addresses, addresses_in, unpack_snapshot
from tests.bench import graphs

if TYPE_CHECKING:
    from graphcodec import Conversation
    from tests.cache.servers import Client


def grown(turns: int) -> list[Conversation]:
    """Return one conversation as it was after each of its turns."""
    last = graphs.ours(turns)
    return [last.replace(items=last.items[: 3 * n]) for n in range(1, turns + 1)]


def chunk_key(session_id: str = "s", namespace: str = "graphcodec") -> str:
    """Return the key of the chunks of a session."""
    return Namespace(namespace).keys(session_id).chunks


def turn_key(session_id: str = "s", namespace: str = "graphcodec") -> str:
    """Return the key of the turns of a session."""
    return Namespace(namespace).keys(session_id).turns


def needed(client: Client) -> set[bytes]:
    """Return the addresses of all chunks that the turns of a session lead to."""
    stored: dict[bytes, Any] = client.hgetall(turn_key())
    values = [
        unpack_snapshot(raw, field.decode(), Addresses()).value
        for field, raw in stored.items()
        if field.isdigit()
    ]
    found: set[bytes] = set()
    while values:
        new = {address for value in values for address in addresses_in(value)} - found
        found |= new
        values = [client.hget(chunk_key(), address) for address in new]
    return found


def there(client: Client) -> set[bytes]:
    """Return the addresses of all chunks of a session."""
    return set(client.hkeys(chunk_key()))
