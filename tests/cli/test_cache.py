"""`graphcodec cache` shows what is in Redis, and frees what is not needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from graphcodec.cache import TurnCache
from tests.cache.graphs import grown
from tests.cache.servers import started
from tests.cli.running import WIDTH, facts, run, widest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A server with three sessions, of which one has what nobody needs."""
    server = started()
    with server.client() as client:
        cache = TurnCache(client)
        for number, graph in enumerate(grown(4), 1):
            cache.save("chat: 1", number, graph)
        cache.delete("chat: 1", 4)
        TurnCache(client, ttl=7_200).save("x" * 200 + "\n[red]", 7, ["hello"])
        TurnCache(client, namespace="other").save("\ud800", 1, None)
    yield server.url
    server.stop()


def listed(*args: str) -> list[Any]:
    """Return the list that a command writes with ``--json``."""
    return list(cast("Any", facts(*args)))


def test_ls(url: str) -> None:
    """Each session has a line with what it holds, also in 80 columns."""
    done = run("cache", "ls", "--redis", url)

    assert done.returncode == 0, done.stderr
    _, _, _, first, second, *_ = done.stdout.splitlines()
    assert first.split()[:4] == ["chat:", "1", "3", "4"]
    assert first.split()[-1] == "never"
    assert "1:59:" in second or "2:00:00" in second
    assert "2 sessions, " in done.stdout
    assert widest(done.stdout) <= WIDTH


def test_ls_for_scripts(url: str) -> None:
    """The same as JSON, of another namespace."""
    (one,) = listed("cache", "ls", "--redis", url, "--namespace", "other")

    assert one["id"] == "\ud800"
    assert (one["turns"], one["version"], one["ttl"]) == (1, 1, None)


def test_nothing_there(url: str) -> None:
    """An empty namespace is no error."""
    done = run("cache", "ls", "--redis", url, "--namespace", "none")

    assert (done.returncode, done.stdout) == (0, "0 sessions, 0 B\n")


def test_show(url: str) -> None:
    """A turn is shown as inspect shows a document."""
    done = run("cache", "show", "chat: 1", "2", "--redis", url, "--depth", "1")

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("chat: 1, turn 2  JSON · ")
    assert "├─ items 6 items" in done.stdout
    assert widest(done.stdout) <= WIDTH
    newest = facts("cache", "show", "chat: 1", "--redis", url)
    assert newest["tags"]["ToolCall"] == 3


def test_show_what_is_not_there(url: str) -> None:
    """A turn that is not there is told in one line."""
    done = run("cache", "show", "chat: 1", "9", "--redis", url)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("graphcodec: there is no turn 9 of the session")


def test_diff(url: str) -> None:
    """Two turns are compared by the addresses of their parts."""
    done = run("cache", "diff", "chat: 1", "2", "3", "--redis", url)

    assert done.returncode == 1
    assert done.stdout.splitlines() == [f"+ $.items[{n}]" for n in (6, 7, 8)]
    same = run("cache", "diff", "chat: 1", "2", "2", "--redis", url)
    assert (same.returncode, same.stdout) == (0, "no differences\n")


def test_gc(url: str) -> None:
    """What no turn needs is freed, once."""
    done = run("cache", "gc", "--all", GRAPHCODEC_REDIS=url)

    assert done.returncode == 0, done.stderr
    assert "chat: 1  3 chunks, 1." in done.stdout
    (again,) = listed("cache", "gc", "chat: 1", "--redis", url)
    assert again == {"session": "chat: 1", "turns": 0, "chunks": 0, "bytes": 0}


def test_gc_needs_to_know_of_what() -> None:
    """Without sessions nothing is freed by mistake."""
    done = run("cache", "gc", "--redis", "redis://127.0.0.1:1")

    assert done.returncode == 2
    assert "name sessions, or give --all" in done.stderr


@pytest.mark.parametrize(
    ("url", "code", "message"),
    [
        ("redis://:s3cret@127.0.0.1:1/0", 1, "Error: ConnectionError: "),
        ("s3cret", 2, "--redis is no URL of the form"),
        ("redis://:s3cret@host:s3cret", 2, "--redis is no URL of the form"),
        ("redis://127.0.0.1:1/0?key=s3cret", 2, "--redis is no URL of the form"),
        ("http://user:s3cret@127.0.0.1", 2, "--redis is no URL of the form"),
    ],
)
def test_trouble(url: str, code: int, message: str) -> None:
    """Trouble is told in a line, and a password never."""
    done = run("cache", "ls", "--redis", url)

    assert done.returncode == code
    assert message in done.stderr
    assert "s3cret" not in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
