"""`graphcodec diff` shows what two documents differ in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve

from graphcodec import Codec, Message, Tokenizable, encode
from tests.cli.calling import Done, call
from tests.cli.running import WIDTH, run, widest
from tests.primitives.builders import make

LONG = "How are you today? " * 9


def said(name: str, text: str, role: str = "user") -> Message:
    """Return a message."""
    return make(Message, id=name, content=text, role=role)


OLD = [said("a", "Hi!"), said("b", LONG), said("c", "Bye.")]
NEW = [
    said("c", "Bye."),
    said("a", "Hi!", "assistant"),
    said("b", LONG[:80] + "Or tomorrow? " + LONG[80:]),
    said("d", "What?"),
]


def diff(tmp_path: Path, old: object, new: object, *args: str) -> Done:
    """Return how a comparison of two graphs ended."""
    one, two = tmp_path / "old.json", tmp_path / "new.msgpack.zstd"
    one.write_bytes(encode(old))
    two.write_bytes(Codec(format="msgpack", compression="zstd").encode(new))
    return call("diff", one, two, *args)


def test_nothing_differs(tmp_path: Path) -> None:
    """Equal graphs end with 0, whatever the format and the compression."""
    done = diff(tmp_path, OLD, OLD)

    assert (done.code, done.text, done.err) == (0, "no differences\n", "")


def test_shows_differences(tmp_path: Path) -> None:
    """Each is shown with its path and what it is, and the exit code is 1."""
    done = diff(tmp_path, OLD, NEW)

    assert done.code == 1
    lines = done.text.splitlines()
    assert lines[0] == "1 added · 4 changed · 1 moved"
    assert "> $[0]  from $[2]" in lines
    assert '~ $[1].role  was $[0].role  "user" → "assistant"' in lines
    assert "~ $[2].content.text  was $[1].content.text" in lines
    assert any("Or tomorrow?" in line and line.startswith("    →") for line in lines)
    assert any(line.startswith('    Message  id "d"') for line in lines)
    assert widest(done.text) <= WIDTH


def test_shows_what_is_gone_and_shared(tmp_path: Path) -> None:
    """Removed entries and changes of sharing have signs of their own."""
    text = Tokenizable("one text")
    one = [evolve(OLD[0], content=text), evolve(OLD[1], content=text), OLD[2]]
    two = [evolve(OLD[0], content=text), evolve(OLD[1], content=evolve(text))]

    assert "- $[2]" in diff(tmp_path, one, two).text
    assert "≠ $[1].content  was one with $[0].content" in diff(tmp_path, one, two).text
    assert "= $[1].content  one with $[0].content" in diff(tmp_path, two, one).text


def test_urls_of_handles_are_shown_without_their_secrets(tmp_path: Path) -> None:
    """A change of a signed URL is told without the user and the query of either."""
    paths: list[object] = []
    for name in ("one", "two"):
        url = f"https://ana:hunter2@example.org/{name}?sig=hunter2-{name}"
        reader = {"$type": "$reader", "tag": "media:http", "locator": {"url": url}}
        file = tmp_path / name
        file.write_text(json.dumps({"graphcodec": 1, "root": [reader, {"x": reader}]}))
        paths.append(file)
    empty = tmp_path / "empty"
    empty.write_text('{"graphcodec": 1, "root": []}')

    for args in ([*paths], [*paths, "--json"], [empty, paths[0], "--json"]):
        done = call("diff", *args)

        assert done.code == 1
        assert "hunter2" not in done.text
        assert "example.org/one?" in done.text


def test_folds_what_is_long(tmp_path: Path) -> None:
    """Only so many are shown, and how many more there are is said."""
    done = diff(tmp_path, {}, {str(n): n for n in range(30)}, "--most", "5")

    assert done.text.splitlines()[0] == "30 added"
    assert done.text.splitlines()[-1] == "… 25 more"


def test_json_for_scripts(tmp_path: Path) -> None:
    """``--json`` tells every difference with the values in full."""
    done = diff(tmp_path, {"a": LONG}, {"a": LONG + "x"}, "--json")

    assert done.code == 1
    assert done.json["equal"] is False
    assert done.json["counts"] == {"changed": 1}
    (found,) = done.json["differences"]
    assert found == {
        "change": "changed",
        "path": "$.a",
        "old_path": "",
        "other": "",
        "before": LONG,
        "after": LONG + "x",
    }
    assert diff(tmp_path, 1, 1, "--json").json["equal"] is True


@pytest.mark.parametrize("bad_one", [0, 1])
def test_trouble_ends_with_2(tmp_path: Path, bad_one: int) -> None:
    """What can't be compared is not called different, and the file is named."""
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file in files:
        file.write_bytes(encode(1))
    files[bad_one].write_text("[]")

    done = call("diff", *files)

    assert (done.code, done.text) == (2, "")
    assert done.err.startswith(f"graphcodec: {files[bad_one]}: this is no graphcodec")
    assert done.err.count("\n") == 1


def test_wrong_call(tmp_path: Path) -> None:
    """A file that is not there, and one stream for two documents, end with 2."""
    assert call("diff", "-", "-").code == 2
    assert call("diff", tmp_path / "no", "-").code == 2


def test_as_a_process(tmp_path: Path) -> None:
    """The program reads one of the two from its standard input."""
    file = tmp_path / "a.json"
    file.write_bytes(encode({"a": 1}))

    done = run("diff", str(file), "-", given=encode({"a": 2}))

    assert done.returncode == 1
    assert done.stdout == "1 changed\n~ $.a  1 → 2\n"
