"""`graphcodec view` makes pages, and serves them."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from graphcodec import BytesReader, encode, persist
from graphcodec_resolvers import FsspecStore
from tests.cli.calling import call
from tests.cli.codecs import SEALED
from tests.cli.running import environment
from tests.view import talks


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the command runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stored(folder: Path) -> bytes:
    """Return a document whose picture lies in a store."""
    store = FsspecStore(str(folder / "store"), alias="shop")
    talk = persist(talks.media(BytesReader(talks.png())), store, inline_limit=0)
    return encode(talk)


def test_page_has_the_name_of_the_document(here: Path) -> None:
    """Unless there is a file of that name already."""
    (here / "chat.json.zstd").write_bytes(encode(talks.rich()))

    done = call("view", "chat.json.zstd")

    assert (done.code, done.err) == (0, "")
    assert done.text.startswith("chat.html  ")
    assert "<title>chat.json.zstd</title>" in (here / "chat.html").read_text()
    again = call("view", "chat.json.zstd")
    assert again.code == 2
    assert "chat.html is there already" in again.err
    assert call("view", "chat.json.zstd", "-o", "chat.html").code == 0


def test_page_to_standard_output(here: Path) -> None:
    """The standard input has no name to give it."""
    data = encode(talks.rich())

    done = call("view", "-", "-o", "-", "--title", "Shop", given=data)

    assert done.text.startswith("<!doctype html>")
    assert "<title>Shop</title>" in done.text
    lost = call("view", "-", given=data)
    assert (lost.code, list(here.iterdir())) == (2, [])
    assert "say where the page goes: -o page.html" in lost.err


def test_handles_are_embedded_when_asked_for(here: Path) -> None:
    """From the stores of the call, within the limit."""
    (here / "chat.json").write_bytes(stored(here))
    args = ["view", "chat.json", "-o", "-", "--store", "shop=store"]

    assert b"iVBORw" not in call(*args).out
    assert b"iVBORw" in call(*args, "--embed").out
    few = call(*args, "--embed", "--embed-limit", "10").text
    assert "larger than what was to be embedded" in few
    unknown = call("view", "chat.json", "-o", "-", "--embed").text
    assert "no resolver for 'media:fsspec' knows the store 'shop'" in unknown


def test_sealed_document_needs_the_codec(here: Path) -> None:
    """And what it is bound to."""
    data = SEALED.encode(talks.rich(), context=b"ana")
    args = ["view", "-", "-o", "-", "--codec", "tests.cli.codecs:SEALED"]

    assert "Why does it hang?" in call(*args, "--context", "ana", given=data).text
    done = call(*args, given=data)
    assert done.code == 1
    assert done.err.startswith("graphcodec: standard input: ")
    assert list(here.iterdir()) == []


def test_opens_the_browser(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the page that was written."""
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)

    done = call("view", "-", "-o", "a b.html", "--open", given=encode(1))

    assert done.code == 0
    assert opened == [(here / "a b.html").as_uri()]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--serve", "-o", "x.html"], "--serve writes no page"),
        (["--serve", "--embed"], "--serve writes no page"),
        (["-o", "-", "--open"], "--open needs a file"),
        (["-o", "x", "--embed-limit", "0"], "0 is not in the range"),
        (["-o", "x", "--store", "a"], "it must be ALIAS=ROOT"),
        (["--serve", "--port", "70000"], "70000 is not in the range"),
    ],
)
def test_wrong_calls(args: list[str], words: str) -> None:
    """End with 2."""
    done = call("view", "-", *args, given=encode(1))

    assert done.code == 2
    assert words in " ".join(done.err.split())


def test_no_document_ends_with_1() -> None:
    """With one line."""
    done = call("view", "-", "-o", "-", given=b"[1]")

    assert (done.code, done.out) == (1, b"")
    assert "this is no graphcodec document" in done.err


def test_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    """Handles are opened from the stores of the call; Ctrl-C is no error."""
    (tmp_path / "chat.json").write_bytes(stored(tmp_path))
    args = ["view", "chat.json", "--serve", "--store", "shop=store"]
    with subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-u", "-m", "graphcodec", *args],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        with urllib.request.urlopen(f"{url}handle/0", timeout=20) as answer:  # noqa: S310
            assert answer.read() == talks.png()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, "", "")


def test_port_that_is_taken() -> None:
    """Is a wrong call."""
    from graphcodec.view import ViewServer  # noqa: PLC0415 - used here alone

    with ViewServer(encode(1)) as server:
        port = server.url.split(":")[2].split("/")[0]
        done = call("view", "-", "--serve", "--port", port, given=encode(1))
    assert done.code == 2
    assert f"port {port}: " in done.err
