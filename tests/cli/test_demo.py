"""`graphcodec demo` sends a chat through another process and says what came back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphcodec import Codec, Conversation
from graphcodec.adapters import to_openai_chat
from graphcodec_resolvers import FsspecResolver
from tests.cli.running import WIDTH, facts, run, widest

EXAMPLE = Path(__file__).parents[2] / "graphcodec" / "cli" / "example_chat.json"


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """What the demo says of the example."""
    return facts("demo")


def test_comes_back_as_it_was(found: dict[str, Any]) -> None:
    """Values, sharing and the chat itself survive the trip."""
    assert found["back"] == {"equal": True, "same_graph": True, "same_chat": True}


def test_counts_what_was_sent(found: dict[str, Any]) -> None:
    """The counts are those of the example, by primitive."""
    chat = json.loads(EXAMPLE.read_text())
    speaking = [
        message
        for message in chat["messages"]
        if message["role"] in {"user", "assistant"} and message["content"]
    ]

    assert found["sent"]["tags"]["Message"] == len(speaking)
    assert found["sent"]["tags"]["SpooledArtifact"] == 1
    assert found["sent"]["tags"]["Media"] == 2
    assert found["input"]["bytes"] == EXAMPLE.stat().st_size


def test_large_parts_stay_out_of_the_document(found: dict[str, Any]) -> None:
    """The log lies in the store, and the document is a small part of the input."""
    assert found["sent"]["stored_bytes"] > 100_000
    assert found["sent"]["document_bytes"] < found["input"]["bytes"] / 10


def test_worker_opens_only_what_it_reads(found: dict[str, Any]) -> None:
    """Decoding opens no handle; reading the log opens that one and no other."""
    worker = found["worker"]

    assert found["sent"]["handles"] == 3
    assert (worker["opened_by_decode"], worker["opened"]) == (0, 1)


def test_worker_reads_over_there(found: dict[str, Any]) -> None:
    """The worker finds lines in the log that it got as a handle."""
    quote = found["worker"]["quote"]

    assert quote["line"].endswith("run 8841 failed: 1 table failed, 4 skipped")
    assert quote["errors"] == 4
    assert quote["bytes"] > 100_000


def test_speakers_stay_the_objects_they_are(found: dict[str, Any]) -> None:
    """Nine messages of three people refer to three objects, before and after."""
    assert found["identities"] == {"references": 9, "objects": 3, "back": 3}


def test_something_live_is_refused(found: dict[str, Any]) -> None:
    """A gate in the graph is refused in words, with the place."""
    refusal = found["refusal"]

    assert refusal["code"] == "E_GATE_NOT_ENCODABLE"
    assert refusal["path"] == "$.stash.data.approval"
    assert "TurnGate" in refusal["text"]


def test_is_over_soon(found: dict[str, Any]) -> None:
    """A first look takes seconds, not minutes."""
    assert found["seconds"] < 30


def test_example_is_a_full_chat() -> None:
    """The example has what chats have: images, a log, tools, and a call left open."""
    chat = json.loads(EXAMPLE.read_text())
    text = EXAMPLE.read_text()
    asked = text.count('"type": "function",\n     "function": {\n      "name"')
    answers = [m for m in chat["messages"] if m["role"] == "tool"]

    assert len(answers[0]["content"].splitlines()) > 2_000
    assert '"url": "data:image/png;base64,' in text
    assert '"url": "https://' in text
    assert len(chat["tools"]) == 4
    assert asked > len(answers)


def test_table_fits_the_screen() -> None:
    """The table says the same in 80 columns."""
    done = run("demo")

    assert (done.returncode, done.stderr) == (0, "")
    assert widest(done.stdout) <= WIDTH
    assert "1 Conversation, 9 Messages, 4 ToolCalls, 2 Media" in done.stdout
    assert "✓ equal  ✓ the same sharing  ✓ the chat again" in done.stdout
    assert "9 references → 3 objects when sent, 3 when back" in done.stdout
    assert "3 sent, 0 opened by decoding, 1 when it was read from" in done.stdout


def test_keeps_document_and_store(tmp_path: Path) -> None:
    """With ``--keep``, the document can be inspected, decoded and opened later."""
    done = run("demo", "--keep", str(tmp_path / "new" / "kept"))
    folder = tmp_path / "new" / "kept"
    resolver = FsspecResolver({"demo": str(folder / "store")})
    codec = Codec(resolvers=[resolver])  # pyright: ignore[reportArgumentType]

    kept = codec.decode((folder / "conversation.json").read_bytes(), Conversation)

    assert f"graphcodec inspect {folder}/conversation.json" in done.stdout
    assert run("inspect", str(folder / "conversation.json")).returncode == 0
    assert to_openai_chat(kept) == json.loads(EXAMPLE.read_text())


def test_takes_a_chat_of_ones_own(tmp_path: Path) -> None:
    """Another chat makes the same trip; here one with nothing to store."""
    file = tmp_path / "chat.json"
    file.write_text(json.dumps([{"role": "user", "content": "Hi"}]))

    found = facts("demo", "--input", str(file))

    assert found["back"] == {"equal": True, "same_graph": True, "same_chat": True}
    assert found["worker"]["quote"] is None
    assert found["sent"]["stored_bytes"] == 0
    assert run("demo", "--input", str(file)).returncode == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "chat.json is no JSON"),
        ("[" * 100_000, "chat.json is no JSON"),
        ("3", "a chat must be a mapping or a list of messages, not int"),
        ('{"choices": []}', "a conversation has one choice, and here are 0"),
        ('[{"role": "robot"}]', "$.messages[0].role"),
    ],
)
def test_wrong_input_ends_with_1(tmp_path: Path, text: str, words: str) -> None:
    """What is no chat is refused in one line."""
    file = tmp_path / "chat.json"
    file.write_text(text)

    done = run("demo", "--input", str(file))

    assert (done.returncode, done.stdout) == (1, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
