"""What happens to a graph in each codec, found out by trying."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

from tests.alternatives import shapes
from tests.alternatives.peers import Peer
from tests.alternatives.shapes import Link, Moved, Note, Person, Talk

_NOW: Final = datetime(2025, 6, 1, 12, tzinfo=UTC)
_LONG: Final = 10_000
_KINDS: Final = (
    ("tuple", (1, 2)),
    ("set", {1, 2}),
    ("bytes", b"\x00\xff"),
    ("datetime", _NOW),
    ("timedelta", timedelta(seconds=1.5)),
    ("UUID", UUID(int=7)),
    ("int keys", {3: "x"}),
    ("int of 100 bits", 1 << 100),
    ("nan", float("nan")),
    ("lone surrogate", "\ud800"),
    ("class", Person("ann")),
)


def _note(**facts: Any) -> Note:
    return replace(Note(author=Person("ann"), text="a", count=1, at=_NOW), **facts)


def _again(peer: Peer, obj: Any, cls: type) -> Any:
    return peer.loads(peer.dumps(obj, cls), cls)


def keeps_classes(peer: Peer) -> str:
    """Whether what comes back is equal, and of the same classes."""
    talk = Talk([_note()])
    return "yes" if _again(peer, talk, Talk) == talk else "no"


def keeps_identity(peer: Peer) -> str:
    """Whether an object that is met twice is one again."""
    ann = Person("ann")
    again = _again(peer, Talk([_note(author=ann), _note(author=ann)]), Talk)
    return "yes" if again.notes[0].author is again.notes[1].author else "no"


def keeps_cycles(peer: Peer) -> str:
    """Whether a ring of two comes back as one."""
    first = Link("a")
    first.next = Link("b", first)
    try:
        again = _again(peer, first, Link)
    except Exception:  # noqa: BLE001 - how it fails is the answer
        return "error"
    return "yes" if again.next.next is again else "no"


def goes_deep(peer: Peer) -> str:
    """Whether a chain of many objects comes back."""
    head = Link("end")
    for _ in range(_LONG):
        head = Link("link", head)
    try:
        again = _again(peer, head, Link)
        length = 0
        while (again := again.next) is not None:
            length += 1
    except Exception:  # noqa: BLE001 - how it fails is the answer
        return "error"
    return "yes" if length == _LONG else "no"


def keeps_values(peer: Peer) -> str:
    """How many kinds of values come back from a field that takes anything."""
    same = sum(_comes_back(peer, value) for _, value in _KINDS)
    return f"{same} of {len(_KINDS)}"


def _comes_back(peer: Peer, value: object) -> bool:
    try:
        again = _again(peer, _note(extra={"it": value}), Note).extra["it"]
    except Exception:  # noqa: BLE001 - refused is not kept
        return False
    return type(again) is type(value) and repr(again) == repr(value)


def checks_values(peer: Peer) -> str:
    """Whether a text in the place of a number is noticed."""
    try:
        again = _again(peer, _note(count="many"), Note)
    except Exception:  # noqa: BLE001 - being refused is the answer
        return "yes"
    return "no" if again.count == "many" else "changed"


def calls_nothing(peer: Peer) -> str:
    """Whether a document can make its reader call a function that it names."""
    shapes.SPRUNG.clear()
    if peer.bait is None:
        return "yes"
    with suppress(Exception):  # what counts is whether it was called
        peer.loads(peer.bait("tests.alternatives.shapes", "trap"), object)
    return "no" if shapes.SPRUNG else "yes"


def survives_a_move(peer: Peer) -> str:
    """Whether what was written before a class moved to another module is read."""
    data = peer.dumps(Moved("ann"), Moved)
    with _moved():
        try:
            again = peer.loads(data, Moved)
        except Exception:  # noqa: BLE001 - how it fails is the answer
            return "no"
    return "yes" if type(again) is Moved else "no"


@contextmanager
def _moved() -> Generator[None]:
    names = vars(sys.modules[Moved.__module__])
    del names["Moved"]
    try:
        yield
    finally:
        names["Moved"] = Moved


def says_where(peer: Peer) -> str:
    """What is said of a lock that somebody put deep into a graph."""
    lock = threading.Lock()
    try:
        again = _again(peer, Talk([_note(), _note(extra={"lock": lock})]), Talk)
    except Exception as exc:  # noqa: BLE001 - what it says is the answer
        said = str(exc)
        return "and where" if "notes[1]" in said and "lock" in said else "refused"
    return "lost" if again.notes[1].extra.get("lock") is not lock else "kept"


PROBES: Final = MappingProxyType[str, Callable[[Peer], str]](
    {
        "the same classes come back": keeps_classes,
        "a shared object is one again": keeps_identity,
        "cycles come back": keeps_cycles,
        "10,000 objects in a chain": goes_deep,
        "values in an untyped field": keeps_values,
        "values are checked on reading": checks_values,
        "calls nothing that data names": calls_nothing,
        "a class may move": survives_a_move,
        "a lock is refused": says_where,
    }
)
