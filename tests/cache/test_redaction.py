"""A cache whose codec redacts: no secret comes to Redis, and saves stay small."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphcodec import Codec, Conversation, Message, Redaction
from graphcodec.cache import TurnCache
from tests.cache.graphs import chunk_key, turn_key
from tests.primitives.builders import make

if TYPE_CHECKING:
    from tests.cache.servers import Client

WORD: Final = Redaction("word", pattern="hunter2")


def talk(turns: int) -> Conversation:
    """Return a conversation in which every fourth message has a secret."""
    return Conversation(
        id="c",
        items=[
            make(
                Message,
                id=f"m{n}",
                content=f"{n} " + ("hunter2 " if n % 4 == 0 else "") + "text " * 200,
            )
            for n in range(turns)
        ],
    )


def test_redacted_snapshots(client: Client) -> None:
    """What is stored is redacted, and a save sends no more than without rules."""
    with_rules = TurnCache(client, codec=Codec(redact=[WORD]))
    without = TurnCache(client, codec=Codec())
    sent: list[int] = []
    plain: list[int] = []
    for turn in range(1, 20):
        sent.append(with_rules.save("s", turn, talk(turn)).bytes_written)
        plain.append(without.save("t", turn, talk(turn)).bytes_written)

    stored = [*client.hvals(chunk_key("s")), *client.hvals(turn_key("s"))]

    assert not any(b"hunter2" in value for value in stored)
    assert any(b"hunter2" in value for value in client.hvals(chunk_key("t")))
    first = with_rules.load("s", cls=Conversation).items[0]
    assert isinstance(first, Message)
    assert first.content is not None
    assert first.content.text.startswith("0 [word] text")
    assert sum(sent) <= sum(plain)


def test_same_graph_grows(client: Client) -> None:
    """One graph that is changed between saves is redacted anew for each."""
    cache = TurnCache(client, codec=Codec(redact=[WORD]))
    graph = {"a": ["hunter2"]}

    for turn in range(4):
        graph["a"].append(f"hunter2 {turn}")
        cache.save("s", turn, graph)

        assert cache.load("s") == {
            "a": ["[word]", *(f"[word] {n}" for n in range(turn + 1))]
        }
