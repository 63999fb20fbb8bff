"""A chat as a conversation, through another process and back: the facts of the demo."""

from __future__ import annotations

import json
import multiprocessing
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from attrs import frozen

from graphcodec import Codec, Conversation, Registry, TurnGate, _formats
from graphcodec._documents._survey import survey
from graphcodec._graphs._comparing import difference
from graphcodec._graphs._handles import handles
from graphcodec._graphs._persist import persist
from graphcodec.adapters import from_openai_chat, to_openai_chat
from graphcodec.cache import TurnCache
from graphcodec.cli._worker import serve
from graphcodec.errors import GraphCodecError, UnencodableValueError
from graphcodec_resolvers import FsspecResolver, FsspecStore

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from redis import Redis

ALIAS: Final = "demo"

_PATIENCE: Final = 60.0
_INLINE: Final = 256
"""How many bytes stay in the document; a store is shown better with more in it."""


@frozen(kw_only=True)
class Sent:
    """What went through the pipe, and what did not need to.

    Attributes:
        tags: How many objects of each kind the document holds.
        document_bytes: The size of the document.
        stored_bytes: The size of what lies in the store instead.
        handles: How many handles the graph has.
    """

    tags: dict[str, int]
    document_bytes: int
    stored_bytes: int
    handles: int


@frozen(kw_only=True)
class Back:
    """What came back.

    Attributes:
        equal: Whether it equals what was sent.
        same_graph: Whether types, values and sharing are the same.
        same_chat: Whether the chat that is rebuilt from it is the input.
    """

    equal: bool
    same_graph: bool
    same_chat: bool


@frozen(kw_only=True)
class Identities:
    """Who speaks, as references and as objects.

    Attributes:
        references: How many messages name somebody.
        objects: How many objects those are in what was sent.
        back: How many they are in what came back.
    """

    references: int
    objects: int
    back: int


@frozen(kw_only=True)
class Refusal:
    """How something live was refused.

    Attributes:
        error: The name of the class.
        code: The stable name.
        path: Where it was.
        text: The whole message.
    """

    error: str
    code: str
    path: str
    text: str


@frozen(kw_only=True)
class Cached:
    """What a cache made of the conversation, saved after each message.

    Attributes:
        turns: How many snapshots were saved.
        bytes_sent: How many bytes all saves sent together.
        bytes_whole: How many they would be if each had sent a whole document.
        equal: Whether every snapshot came back equal.
    """

    turns: int
    bytes_sent: int
    bytes_whole: int
    equal: bool


@frozen(kw_only=True)
class Trip:
    """What happened.

    Attributes:
        sent: What was sent.
        worker: What the worker reports: its pid, how many files it opened and when, and
            the last line of an artifact.
        back: What came back.
        identities: Who speaks.
        cached: What a cache made of it; None if there was none.
        refusal: What was refused; None if nothing was, which would be wrong.
        seconds: How long all of it took.
        document: What was sent, as bytes.
    """

    sent: Sent
    worker: dict[str, Any]
    back: Back
    identities: Identities
    cached: Cached | None
    refusal: Refusal | None
    seconds: float
    document: bytes

    @property
    def ok(self) -> bool:
        """Whether everything came back as it was."""
        back, who = self.back, self.identities
        kept = who.objects == who.back and self.refusal is not None
        kept = kept and (self.cached is None or self.cached.equal)
        return back.equal and back.same_graph and back.same_chat and kept


def travel(chat: object, root: str, redis: Redis | None = None) -> Trip:
    """Send a chat through another process and return what happened.

    Args:
        chat: The chat, as parsed JSON.
        root: Where its media and artifacts are stored: a folder or a URL.
        redis: A client of the Redis in which each turn is saved.

    Raises:
        GraphCodecError: If it is no chat, or can't make the trip.
    """
    start = time.perf_counter()
    conversation = from_openai_chat(chat)  # type: ignore[arg-type]  # says what it is not
    store = FsspecStore(root, alias=ALIAS)
    graph = persist(conversation, store, inline_limit=_INLINE)
    codec = Codec(resolvers=[FsspecResolver({ALIAS: store})])  # pyright: ignore[reportArgumentType]
    document = codec.encode(graph)
    returned, worker = through_worker(document, root)
    back = codec.decode(returned, Conversation)
    return Trip(
        sent=_sent(graph, document),
        worker=worker,
        back=Back(
            equal=back == graph,
            same_graph=difference(graph, back) is None,
            same_chat=_text(to_openai_chat(back)) == _text(chat),
        ),
        identities=_identities(graph, back),
        cached=None if redis is None else _cached(redis, codec, graph),
        refusal=_refusal(codec, graph),
        seconds=round(time.perf_counter() - start, 3),
        document=document,
    )


def _text(chat: object) -> str:
    """Return JSON in which a list of messages is what it is short for."""
    return json.dumps({"messages": chat} if isinstance(chat, list) else chat)


# The other process


def through_worker(document: bytes, root: str) -> tuple[bytes, dict[str, Any]]:
    """Return the document that a new process made of *document*, and its report.

    Raises:
        GraphCodecError: If that process failed.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    args = (there, {ALIAS: root})
    process = context.Process(target=serve, args=args, daemon=True)
    process.start()
    there.close()
    try:
        answer, report = _exchange(here, document)
    except (EOFError, OSError) as exc:
        raise GraphCodecError("the worker process died") from exc
    finally:
        here.close()
        process.terminate()
        process.join()
    if "error" in report:
        msg = f"the worker could not read the document: {report['error']}"
        raise GraphCodecError(msg)
    return answer, report


def _exchange(pipe: Connection, document: bytes) -> tuple[bytes, dict[str, Any]]:
    pipe.send_bytes(document)
    if not pipe.poll(_PATIENCE):
        raise GraphCodecError(f"the worker said nothing for {_PATIENCE:.0f} seconds")
    answer = pipe.recv_bytes()
    report: dict[str, Any] = json.loads(pipe.recv_bytes())
    return answer, report


# The cache


def _cached(redis: Redis, codec: Codec, graph: Conversation) -> Cached:
    """Save the conversation after each item, and load every snapshot again."""
    session_id = f"demo-{uuid4()}"
    snapshots = [
        graph.replace(items=graph.items[:count])
        for count in range(1, len(graph.items) + 1)
    ]
    cache = TurnCache(redis, codec=codec, ttl=_PATIENCE)
    saved = [
        cache.save(session_id, turn, snapshot)
        for turn, snapshot in enumerate(snapshots)
    ]
    loaded = [cache.load(session_id, turn) for turn in range(len(snapshots))]
    cache.delete(session_id)
    return Cached(
        turns=len(saved),
        bytes_sent=sum(save.bytes_written for save in saved),
        bytes_whole=sum(len(codec.encode(snapshot)) for snapshot in snapshots),
        equal=loaded == snapshots,
    )


# The facts


def _sent(graph: Conversation, document: bytes) -> Sent:
    found = list(handles(graph))
    stored = {
        str(handle.locator["key"]): handle.locator.get("size")
        for _, _, reader in found
        if (handle := reader.describe()) is not None and handle.scheme == "fsspec"
    }
    return Sent(
        tags=dict(survey(_formats.read(document)).tags),
        document_bytes=len(document),
        stored_bytes=sum(size for size in stored.values() if isinstance(size, int)),
        handles=len(found),
    )


def _identities(graph: Conversation, back: Conversation) -> Identities:
    sent, returned = _speakers(graph), _speakers(back)
    return Identities(references=sent.total(), objects=len(sent), back=len(returned))


def _speakers(graph: Conversation) -> Counter[int]:
    """Count how often each object speaks; the graph keeps them, and so their ids."""
    speakers = [getattr(item, "identity", None) for item in graph.items]
    return Counter(id(speaker) for speaker in speakers if speaker is not None)


def _refusal(codec: Codec, graph: Conversation) -> Refusal | None:
    """Try to encode something live, and return what the codec says to that."""
    stash = Registry(graph.stash.all())
    stash.set("approval", TurnGate("turn-7", "may the query be cancelled?"))
    try:
        codec.encode(graph.replace(stash=stash))
    except UnencodableValueError as exc:
        return Refusal(
            error=type(exc).__name__, code=exc.code, path=exc.path, text=str(exc)
        )
    return None
