"""What the demo does when the other process fails."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from graphcodec import encode, errors
from graphcodec.cli import _trip

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

CHAT = [{"role": "user", "content": "Hi"}]


def dies(pipe: Connection, _stores: dict[str, str]) -> None:
    """End without an answer."""
    pipe.recv_bytes()
    os._exit(3)


def stalls(pipe: Connection, _stores: dict[str, str]) -> None:
    """Never answer."""
    pipe.recv_bytes()
    pipe.poll(60)


def complains(pipe: Connection, _stores: dict[str, str]) -> None:
    """Answer that the document can't be read."""
    pipe.recv_bytes()
    pipe.send_bytes(b"")
    pipe.send_bytes(b'{"error": "no such tag"}')


def changes(pipe: Connection, _stores: dict[str, str]) -> None:
    """Send another conversation back."""
    data = pipe.recv_bytes()
    pipe.send_bytes(data.replace(b'"Hi"', b'"Ho"'))
    pipe.send_bytes(b"{}")


@pytest.mark.parametrize(
    ("worker", "words"),
    [
        (dies, "the worker process died"),
        (stalls, "the worker said nothing for 1 seconds"),
        (complains, "could not read the document: no such tag"),
    ],
)
def test_says_what_the_worker_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, worker: Any, words: str
) -> None:
    """A worker that dies, stalls or fails ends the demo with an error in words."""
    monkeypatch.setattr(_trip, "serve", worker)
    if worker is stalls:
        monkeypatch.setattr(_trip, "_PATIENCE", 1.0)

    with pytest.raises(errors.GraphCodecError, match=words):
        _trip.travel(CHAT, str(tmp_path))


def test_sees_a_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A graph that comes back changed is reported as such."""
    monkeypatch.setattr(_trip, "serve", changes)

    trip = _trip.travel(CHAT, str(tmp_path))

    assert not trip.ok
    assert trip.back == _trip.Back(equal=False, same_graph=False, same_chat=False)


def test_worker_reports_what_it_can_not_decode(tmp_path: Path) -> None:
    """The error of the codec travels back as text."""
    with pytest.raises(errors.GraphCodecError, match="this is no JSON document"):
        _trip.through_worker(b"no document", str(tmp_path))


def test_worker_sends_back_what_it_got(tmp_path: Path) -> None:
    """A graph without artifacts comes back with nothing read."""
    document, report = _trip.through_worker(encode([1]), str(tmp_path))

    assert document == encode([1])
    assert (report["quote"], report["opened"]) == (None, 0)
