"""`graphcodec convert` rewrites documents without knowing their classes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphcodec import Codec, Limits, Registry, decode, encode, errors
from graphcodec._documents._converting import convert
from graphcodec.testing import same_graph, strategies
from tests.cli import upgrading
from tests.cli.calling import call
from tests.cli.running import run
from tests.cli.test_tree import VALUES
from tests.wire_corpus.classes import CODEC
from tests.wire_corpus.corpus import DOCUMENTS

JSON = CODEC
PACKED = CODEC.replace(format="msgpack")
TALK = JSON.decode((DOCUMENTS / "conversation.json").read_bytes())


@settings(max_examples=60, deadline=None)
@given(graph=st.one_of(strategies.graphs(), strategies.values()))
def test_gives_what_encode_would(graph: object) -> None:
    """Both ways, the bytes are those of a codec of the other format."""
    text, data = JSON.encode(graph), PACKED.encode(graph)

    assert convert(text, format="msgpack") == data
    assert convert(data, format="json") == text
    assert convert(data, format="msgpack", compression="zstd") == PACKED.replace(
        compression="zstd"
    ).encode(graph)


@pytest.mark.parametrize("known", [CODEC, None], ids=["known", "unknown"])
@pytest.mark.parametrize(
    "name", sorted(file.stem for file in DOCUMENTS.glob("*.msgpack"))
)
def test_the_corpus_both_ways(name: str, known: Codec | None) -> None:
    """Documents of every shape become each other, whether classes are known or not."""
    text = (DOCUMENTS / f"{name}.json").read_bytes()
    data = (DOCUMENTS / f"{name}.msgpack").read_bytes()

    assert convert(text, format="msgpack", codec=known) == data
    assert convert(data, format="json", codec=known) == text


@settings(max_examples=100, deadline=None)
@given(root=VALUES, nodes=st.lists(VALUES, max_size=3), packs=st.booleans())
def test_never_makes_something_else(
    root: object, nodes: list[Any], *, packs: bool
) -> None:
    """Whatever a document holds, it is refused or means the same afterwards."""
    wire = {"graphcodec": 1, "nodes": nodes, "root": root}
    data = (
        msgspec.msgpack.encode(wire)
        if packs
        else msgspec.json.encode(wire, enc_hook=repr)
    )
    try:
        other = convert(data, format="json" if packs else "msgpack")
    except errors.GraphCodecError:
        return
    lenient = Codec(unknown_types="keep")
    try:
        graph = lenient.decode(data)
    except errors.GraphCodecError:
        with pytest.raises(errors.GraphCodecError):
            lenient.decode(other)
    else:
        assert same_graph(lenient.decode(other), graph)


def test_lookalikes_stay_data() -> None:
    """A map that somebody put into plain data is no bytes in either format."""
    document = (
        b'{"graphcodec":1,"root":{"$type":"Registry","data":{"a":{"$bytes":"aGk="}}}}'
    )

    packed = convert(document, format="msgpack")

    assert decode(packed) == decode(document) == Registry({"a": {"$bytes": "aGk="}})
    assert convert(packed, format="json") == document


def test_tags_need_not_be_known() -> None:
    """Bytes in fields of a stranger become what they are in the other format."""
    document = b'{"graphcodec":1,"root":{"$type":"x.Y","a":[{"$bytes":"aGk="}]}}'

    packed = convert(document, format="msgpack")

    assert msgspec.msgpack.decode(packed)["root"]["a"] == [b"hi"]
    assert convert(packed, format="json") == document


def test_same_format_keeps_every_byte() -> None:
    """White space and numbers stay as they were where nothing has to change."""
    document = b'{ "graphcodec" : 1,\n "root" : 1.50 }\n'

    assert convert(document) == document
    assert convert(convert(document, compression="gzip")) == document
    pretty = convert(encode([1, {"a": 2}]), pretty=True)
    assert pretty.count(b"\n") > 5
    assert decode(pretty) == [1, {"a": 2}]


@pytest.mark.parametrize(
    ("data", "to", "words"),
    [
        (b'{"graphcodec":1,"root":123456789012345678901}', "msgpack", "in 64 bits"),
        (
            msgspec.msgpack.encode({"graphcodec": 1, "root": 1e999}),
            "json",
            "has no inf",
        ),
        (
            msgspec.msgpack.encode({"graphcodec": 1, "root": [b""]}),
            "json",
            "plain slot",
        ),
        (b'{"graphcodec":1,"root":{"$any":{"$odd":1}}}', "msgpack", "marker '.odd'"),
        (b'{"graphcodec":1,"root":{"$type":"$ref","n":1}}', "json", "to node 1"),
        (b'{"graphcodec":1,"root":1} ?', "json", "trailing characters"),
        (b'{"graphcodec":2,"root":1}', "json", "wire version 2"),
    ],
)
def test_what_is_refused(data: bytes, to: Any, words: str) -> None:
    """Nothing is made of what is wrong, or can't be held."""
    with pytest.raises(errors.GraphCodecError, match=words):
        convert(data, format=to)


def test_limits_of_the_codec() -> None:
    """What comes in and what comes out keep to the limits."""
    document = encode(["word"] * 100)
    small = Codec(limits=Limits(max_bytes=200))

    with pytest.raises(errors.LimitExceededError, match="max_bytes is 200, and this"):
        convert(document, codec=small)
    packed = convert(document, compression="gzip")
    with pytest.raises(errors.LimitExceededError, match="max_bytes is 200, and this"):
        convert(packed, codec=small)
    assert convert(packed, compression="zstd", codec=small).startswith(b"\xc1GCF")


# The command


def test_to_standard_output() -> None:
    """Documents go through pipes."""
    packed = call("convert", "-", "-", "--to", "msgpack", given=JSON.encode(TALK))
    text = call("convert", "-", "-", "--to", "json", given=packed.out)

    assert packed.out == PACKED.encode(TALK)
    assert text.out == JSON.encode(TALK)


def test_suffix_says_what_to_write(tmp_path: Path) -> None:
    """Without options, the name of OUT decides; a document stays as it is otherwise."""
    source = tmp_path / "a.json"
    source.write_bytes(JSON.encode(TALK))
    packed, plain = tmp_path / "b.msgpack.zstd", tmp_path / "c"

    assert call("convert", source, packed).code == 0
    assert packed.read_bytes() == PACKED.replace(compression="zstd").encode(TALK)
    assert call("convert", packed, plain).code == 0
    assert plain.read_bytes() == packed.read_bytes()
    assert call("convert", packed, plain, "--compress", "none").code == 0
    assert plain.read_bytes() == PACKED.encode(TALK)


def test_folder_for_the_results(tmp_path: Path) -> None:
    """Several files go into a folder, under names that say what is in them."""
    for name in ("a.json", "b.json.gzip", "c"):
        compress = "gzip" if name.endswith("gzip") else None
        data = JSON.replace(compression=compress).encode([name])
        (tmp_path / name).write_bytes(data)
    out = tmp_path / "out"
    out.mkdir()
    files = sorted(file for file in tmp_path.iterdir() if file.is_file())

    done = call("convert", *files, "-o", out, "--to", "msgpack", "--compress", "zstd")

    assert (done.code, done.out, done.err) == (0, b"", "")
    assert sorted(file.name for file in out.iterdir()) == [
        "a.msgpack.zstd",
        "b.msgpack.zstd",
        "c.msgpack.zstd",
    ]
    assert decode((out / "b.msgpack.zstd").read_bytes()) == ["b.json.gzip"]


def test_one_bad_file_stops_no_other(tmp_path: Path) -> None:
    """What is wrong is told with its file, and the others are converted."""
    bad, good, out = tmp_path / "bad.json", tmp_path / "good.json", tmp_path / "out"
    bad.write_text("{")
    good.write_bytes(encode(1))
    out.mkdir()

    done = call("convert", bad, good, "-o", out)

    assert done.code == 1
    assert f"graphcodec: {bad}: this is no JSON document" in done.err
    assert [file.name for file in out.iterdir()] == ["good.json"]


def test_context_is_that_of_the_result_too(tmp_path: Path) -> None:
    """For one document, and by the names of many."""
    sealed, words = upgrading.sealed_new(), {"said": "hello"}
    options = ["--codec", "tests.cli.upgrading:sealed_new", "--to", "msgpack"]
    for name in ("a", "b"):
        data = sealed.encode(words, context=f"s {name}".encode())
        (tmp_path / f"{name}.json").write_bytes(data)
    (tmp_path / "out").mkdir()

    one, other = tmp_path / "a.json", tmp_path / "one"
    assert call("convert", one, other, *options, "--context", "s a").code == 0
    assert call("convert", one, other, *options).code == 1
    many = ["-o", tmp_path / "out", "--context", "s {name}"]
    assert call("convert", one, tmp_path / "b.json", *options, *many).code == 0

    assert sealed.decode(other.read_bytes(), context=b"s a") == words
    for name in ("a", "b"):
        data = (tmp_path / "out" / f"{name}.msgpack").read_bytes()
        assert sealed.decode(data, context=f"s {name}".encode()) == words


def test_in_place(tmp_path: Path) -> None:
    """The file that is read is replaced only if that is asked for, mode kept."""
    file = tmp_path / "a.json"
    file.write_bytes(encode([1]))
    file.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(file)

    refused = call("convert", file, link)
    assert refused.code == 2
    assert "is read and would be replaced; say --in-place" in refused.err
    assert call("convert", link, "--in-place", "--compress", "gzip").code == 0

    assert link.is_symlink()
    assert file.read_bytes() == Codec(compression="gzip").encode([1])
    assert file.stat().st_mode & 0o777 == 0o640
    assert sorted(tmp_path.iterdir()) == [file, link]


def test_failure_leaves_the_old_file(tmp_path: Path) -> None:
    """What can't be converted, or written, changes nothing."""
    bad, old = tmp_path / "bad.json", tmp_path / "old.json"
    bad.write_text("[]")
    old.write_bytes(encode("old"))

    assert call("convert", bad, old).code == 1
    assert decode(old.read_bytes()) == "old"
    done = call("convert", old, tmp_path / "no" / "folder")
    assert (done.code, "No such file or directory" in done.err) == (1, True)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["FILE"], "give IN and OUT, or several files with --output"),
        (["FILE", "FILE", "FILE"], "give IN and OUT"),
        (["no-such-file", "out"], "does not exist"),
        (["FILE", "x", "--pretty", "--to", "msgpack"], "--pretty is for JSON"),
        (["FILE", "-o", ".", "--in-place"], "exclude each other"),
        (["FILE", "x", "--context", "s"], "--context needs a codec with a seal"),
        (["FILE", "FILE", "-o", "/"], "two files would become"),
        (["-", "-o", "/"], "the standard input can't be replaced, and has no name"),
        (["-", "--in-place"], "the standard input can't be replaced"),
        (["FILE", "x", "--to", "yaml"], "is not one of"),
    ],
)
def test_wrong_call(tmp_path: Path, args: list[str], words: str) -> None:
    """What makes no sense is told, and nothing is written."""
    file = tmp_path / "a.json"
    file.write_bytes(encode(1))

    done = call("convert", *(str(file) if arg == "FILE" else arg for arg in args))

    assert done.code == 2
    assert words in " ".join(done.err.split())


def test_as_a_process(tmp_path: Path) -> None:
    """The program does it, too."""
    done = run("convert", "-", str(tmp_path / "a.json"), "--pretty", given=encode([1]))

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert json.loads((tmp_path / "a.json").read_text())["root"] == [1]


# Many


def tree(folder: Path, count: int = 3) -> Path:
    """Fill a folder with documents, one of them wrong, and another folder."""
    source = folder / "in"
    (source / "deep").mkdir(parents=True)
    for number in range(count):
        (source / f"{number}.json").write_bytes(encode([number]))
    (source / "deep" / "0.json").write_bytes(encode("deep"))
    (source / "bad.json").write_text("{")
    return source


def contents(folder: Path) -> dict[str, bytes]:
    """Return what is in a folder."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def test_folders_and_patterns(tmp_path: Path) -> None:
    """All documents in a folder, or of a pattern, keep their places in it."""
    source, out = tree(tmp_path), tmp_path / "out"
    out.mkdir()

    assert call("convert", source / "*.json", "-o", out, "--to", "msgpack").code == 1
    assert set(contents(out)) == {"0.msgpack", "1.msgpack", "2.msgpack"}
    assert call("convert", source, "-o", out, "--to", "msgpack").code == 1
    assert decode(contents(out)["deep/0.msgpack"]) == "deep"


def test_resume(tmp_path: Path) -> None:
    """What has a result is left out, and what failed is tried again."""
    source, out = tree(tmp_path), tmp_path / "out"
    out.mkdir()
    assert call("convert", source, "-o", out).code == 1
    (out / "1.json").write_bytes(b"untouched")
    (source / "bad.json").write_bytes(encode("good"))

    assert call("convert", source, "-o", out, "--resume").code == 0

    assert contents(out)["1.json"] == b"untouched"
    assert decode(contents(out)["bad.json"]) == "good"


def test_urls(tmp_path: Path) -> None:
    """Documents are read and written wherever fsspec reaches."""
    source = tree(tmp_path)
    url = f"memory://{tmp_path.name}"

    assert call("convert", source, "-o", url, "--to", "msgpack").code == 1
    (tmp_path / "back").mkdir()
    assert call("convert", url, "-o", tmp_path / "back", "--to", "json").code == 0

    back = contents(tmp_path / "back")
    assert {**back, "bad.json": b"{"} == contents(source)


def test_with_dask_as_without(tmp_path: Path, dask_client: Any) -> None:
    """A cluster writes the same files and tells the same errors."""
    source, here, there = tree(tmp_path, 30), tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    wanted = ["--to", "msgpack", "--codec", "tests.cli.codecs:local"]
    address = dask_client.scheduler.address

    one = call("convert", source, "-o", here, *wanted)
    other = call("convert", source, "-o", there, *wanted, "--dask", address)

    assert contents(here) == contents(there)
    assert len(contents(there)) == 31
    assert (one.code, one.err) == (other.code, other.err)
    assert f"graphcodec: {source}/bad.json: this is no JSON document" in one.err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["FILE", "x", "--dask", "local"], "--resume and --dask are for --output"),
        (["FILE", "--in-place", "--resume"], "to convert in place again changes"),
        (["nothing/*.json", "-o", "."], "there is no document at 'nothing/*.json'"),
        (["odd://a", "-o", "."], "there is no file system for 'odd://a'"),
        (["FILE", "memory://a", "-o", "."], "is not of the file system of"),
        (["FILE", "-o", "nowhere"], "does not exist"),
        (["FILE", "-o", "."], "is read and would be replaced"),
    ],
)
def test_wrong_call_for_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], words: str
) -> None:
    """What makes no sense for many documents is told before one is read."""
    monkeypatch.chdir(tmp_path)
    Path("a.json").write_bytes(encode(1))

    done = call("convert", *("a.json" if arg == "FILE" else arg for arg in args))

    assert done.code == 2
    assert words in " ".join(done.err.split())
