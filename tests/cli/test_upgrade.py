"""`graphcodec upgrade` rewrites a store of old documents, and loses none."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from graphcodec import Codec, decode, encode
from graphcodec._bulk import Document, Files
from graphcodec._bulk._upgrade import Renewal, Upgrade
from graphcodec._documents._outdated import outdated, same_form
from graphcodec._frames import names, parse
from graphcodec.errors import InvalidValueError, SealError
from graphcodec.queues._workers import CodecSource
from graphcodec.testing import same_graph, strategies
from tests.cli import upgrading
from tests.cli.calling import call
from tests.cli.running import environment
from tests.s3_server import S3Server
from tests.wire_corpus.classes import CODEC
from tests.wire_corpus.corpus import DOCUMENTS
from tests.wire_corpus.releases import RELEASES

TODAY = "tests.cli.upgrading:today"
NEWEST = "story_6_enum_changed"
WANTED = (DOCUMENTS / f"{NEWEST}.json").read_bytes()


def store(folder: Path) -> dict[str, bytes]:
    """Fill a folder with what each release wrote, in folders; return what it holds."""
    for name in RELEASES:
        target = folder / name.split("_")[1] / f"{name}.json"
        target.parent.mkdir(parents=True)
        target.write_bytes((DOCUMENTS / f"{name}.json").read_bytes())
    return contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def times(folder: Path) -> Mapping[str, int]:
    """Return when each file below a folder was written, in nanoseconds."""
    return {path.name: path.stat().st_mtime_ns for path in folder.rglob("*.json")}


# What needs it, and why


def test_reasons() -> None:
    """Each release says what has changed since."""
    told: dict[str, list[str]] = {}
    for name in RELEASES:
        wire = json.loads((DOCUMENTS / f"{name}.json").read_bytes())
        told[name] = outdated(wire, upgrading.today.shape_of)

    assert list(told.values()) == [
        [
            "alias: corpus.Cart, now corpus.Basket",
            "version: corpus.Basket 1, now 4",
            "alias: corpus.Dye, now corpus.Paint",
            "member: RED of corpus.Paint, now CRIMSON",
        ],
        ["version: corpus.Basket 1, now 4", *_PAINT],
        ["version: corpus.Basket 1, now 4", *_PAINT],
        ["version: corpus.Basket 2, now 4", *_PAINT],
        ["version: corpus.Basket 3, now 4", *_PAINT],
        [],
    ]


_PAINT = [
    "alias: corpus.Dye, now corpus.Paint",
    "member: RED of corpus.Paint, now CRIMSON",
]


@pytest.mark.parametrize(
    ("root", "reason"),
    [
        ('{"$type":"corpus.Note","text":"hi"}', "field: corpus.Note lacks 'by'"),
        ('{"$type":"corpus.Leaf","$v":1,"number":1}', "form: it is written in another"),
        ('{"$type":"corpus.Point","x":1,"y":2}', "form: it is written in another"),
        ('{"number":1,"$type":"corpus.Leaf"}', ""),
        ('{ "$type" : "corpus.Leaf", "number" : 1 }', ""),
        ('[{"$type":"corpus.Person"}]', "form: it is written in another"),
        ('{"name":"$type","data":[]}', ""),
    ],
)
def test_other_forms(root: str, reason: str) -> None:
    """Missing fields and other spellings count; white space and the order do not."""
    data = f'{{"graphcodec":1,"root":{root}}}'.encode()

    out, why = Renewal(codec=CodecSource(CODEC)).of(data)

    assert " ".join(why).startswith(reason)
    assert bool(why) is bool(reason)
    assert (out == data) is not bool(reason)
    assert same_graph(CODEC.decode(out), CODEC.decode(data))


@settings(max_examples=60, deadline=None)
@given(graph=strategies.graphs())
def test_what_is_written_today_needs_nothing(graph: object) -> None:
    """Also where another process would put the members of a set in another order."""
    data = encode(graph)

    assert Renewal().of(data) == (data, [])


@pytest.mark.parametrize("path", sorted(DOCUMENTS.glob("*.json")), ids=lambda p: p.stem)
def test_twice_is_once(path: Path) -> None:
    """What was upgraded needs nothing, and holds what it held."""
    renewal = Renewal(codec=CodecSource(CODEC))
    data = path.read_bytes()

    out, _ = renewal.of(data)

    assert renewal.of(out) == (out, [])
    assert same_graph(CODEC.decode(out), CODEC.decode(data))


def test_form_tells_types_apart() -> None:
    """Python's equality does not."""
    for one, other in [(1, 1.0), (1, True), (0.0, -0.0), ([1], {"1": 1}), ("1", 1)]:
        assert not same_form(one, other)
    assert same_form({"a": [1, 2], "b": {}}, {"b": {}, "a": [2, 1]})


# In place


def test_in_place(tmp_path: Path) -> None:
    """Those that need it are replaced, the others are not touched."""
    old, backup = store(tmp_path), tmp_path.parent / f"{tmp_path.name}-old"
    before = times(tmp_path)

    done = call("upgrade", tmp_path, "--codec", TODAY, "--backup", backup)

    assert done.code == 0
    assert set(contents(tmp_path).values()) == {WANTED}
    assert times(tmp_path)[f"{NEWEST}.json"] == before[f"{NEWEST}.json"]
    assert contents(backup) == {
        name: data for name, data in old.items() if data != WANTED
    }
    assert "6 documents: 5 upgraded, 1 as they were" in done.text
    assert "version: corpus.Basket 1, now 4" in done.text


def test_again_changes_nothing(tmp_path: Path) -> None:
    """Each document is rewritten once."""
    store(tmp_path)
    call("upgrade", tmp_path, "--codec", TODAY, "--in-place")
    before = times(tmp_path)

    done = call("upgrade", tmp_path, "--codec", TODAY, "--json")

    assert done.json["upgraded"] == 0
    assert done.json["current"] == 6
    assert times(tmp_path) == before


def test_dry_run(tmp_path: Path) -> None:
    """It says how many and why, and writes nothing."""
    old = store(tmp_path)

    done = call("upgrade", tmp_path, "--codec", TODAY, "--dry-run", "--json")
    shown = call("upgrade", tmp_path, "--codec", TODAY, "--dry-run")

    assert done.code == 0
    assert done.json == {
        "documents": 6,
        "outdated": 5,
        "current": 1,
        "failed": 0,
        "dry_run": True,
        "reasons": {
            "alias: corpus.Dye, now corpus.Paint": 5,
            "member: RED of corpus.Paint, now CRIMSON": 5,
            "version: corpus.Basket 1, now 4": 3,
            "alias: corpus.Cart, now corpus.Basket": 1,
            "version: corpus.Basket 2, now 4": 1,
            "version: corpus.Basket 3, now 4": 1,
        },
        "failures": [],
    }
    assert "5 would be upgraded, 1 as they were" in shown.text
    assert contents(tmp_path) == old


# Elsewhere


def test_elsewhere(tmp_path: Path) -> None:
    """All are there then, upgraded or not, and the store is as it was."""
    source, out = tmp_path / "in", tmp_path / "new" / "out"
    old = store(source)

    done = call("upgrade", source, "--out", out, "--codec", TODAY)

    assert done.code == 0
    assert contents(source) == old
    assert contents(out) == dict.fromkeys(old, WANTED)


def test_elsewhere_goes_on(tmp_path: Path) -> None:
    """What is there was done."""
    source, out = tmp_path / "in", tmp_path / "out"
    store(source)
    out.mkdir()
    (out / "1").mkdir()
    (out / "1" / "story_1_first.json").write_bytes(b"done before")

    done = call("upgrade", source, "-o", out, "--codec", TODAY, "--json")

    assert done.json["upgraded"] == 4
    assert contents(out)["1/story_1_first.json"] == b"done before"


def test_urls(tmp_path: Path) -> None:
    """Wherever fsspec reaches, in place too; patterns choose."""
    url = f"memory://{tmp_path.name}"

    files = Files(url)
    for name, data in store(tmp_path / "in").items():
        files.write(f"{files.path(url)}/{name}", data)
    out = tmp_path / "out"

    done = call("upgrade", f"{url}/**/*.json", "--codec", TODAY, "--json")
    again = call("upgrade", url, "--codec", TODAY, "--json", "-o", out)

    assert (done.json["documents"], done.json["upgraded"]) == (6, 5)
    assert again.json["upgraded"] == 0
    assert set(contents(out).values()) == {WANTED}


def test_in_a_bucket(
    tmp_path: Path, s3_server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In place on S3, with the old documents in another prefix."""
    options = s3_server.options()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", str(options["key"]))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", str(options["secret"]))
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", s3_server.endpoint)
    bucket = f"s3://{s3_server.bucket()}"
    files, old = Files(bucket), store(tmp_path)
    for name, data in old.items():
        files.write(f"{files.path(bucket)}/talks/{name}", data)
    given = ["upgrade", f"{bucket}/talks", "--backup", f"{bucket}/old", "--json"]

    done = call(*given, "--codec", TODAY)
    again = call(*given, "--codec", TODAY)

    assert (done.code, done.json["upgraded"]) == (0, 5)
    assert (again.code, again.json["current"]) == (0, 6)
    files.system.invalidate_cache()
    path = files.path(bucket)
    kept = {name: files.system.cat_file(name) for name in files.there(f"{path}/old")}
    assert kept == {
        f"{path}/old/{name}": data for name, data in old.items() if data != WANTED
    }
    for name in files.there(f"{path}/talks"):
        assert files.system.cat_file(name) == WANTED


# Redaction


def test_store_is_redacted(tmp_path: Path) -> None:
    """By the rules of the codec, which say why; once, and no second time."""
    told = {"a": "mail ada@example.org or call", "b": {"password": "hunter2"}}
    (tmp_path / "told.json").write_bytes(encode(told))
    (tmp_path / "other.json").write_bytes(encode({"a": "nothing"}))
    options = ["--codec", "tests.cli.upgrading:redacting", "--json"]

    first = call("upgrade", tmp_path, *options).json
    second = call("upgrade", tmp_path, *options).json

    assert (first["upgraded"], first["current"]) == (1, 1)
    assert first["reasons"] == {"redaction: email": 1, "redaction: password": 1}
    assert second["upgraded"] == 0
    assert decode((tmp_path / "told.json").read_bytes()) == {
        "a": "mail [email] or call",
        "b": {"password": "[password]"},
    }


# Forms, frames and seals


@pytest.mark.parametrize("compression", [None, "gzip", "zstd"])
@pytest.mark.parametrize("format_", ["json", "msgpack"])
def test_keeps_format_and_frame(format_: Any, compression: Any) -> None:
    """Whatever the codec writes by itself."""
    codec, wrote = RELEASES["story_1_first"]
    data = codec.replace(format=format_, compression=compression).encode(wrote)
    like = upgrading.today.replace(format=format_, compression=compression)

    out, why = Renewal(codec=CodecSource(upgrading.today)).of(data)

    assert why
    assert out == like.encode(upgrading.today.decode(WANTED))


def test_other_format_and_compression(tmp_path: Path) -> None:
    """If that is asked for, those that are otherwise of today change, too."""
    store(tmp_path)
    out = tmp_path.parent / f"{tmp_path.name}-out"
    wanted = ["--to", "msgpack", "--compress", "gzip", "-o", out]

    done = call("upgrade", tmp_path, *wanted, "--codec", TODAY, "--json")

    assert done.json["upgraded"] == 6
    assert done.json["reasons"]["format: json, now msgpack"] == 6
    assert done.json["reasons"]["compression: none, now gzip"] == 6
    name, data = next(iter(contents(out).items()))
    assert name == "1/story_1_first.msgpack.gzip"
    assert same_graph(upgrading.today.decode(data), upgrading.today.decode(WANTED))


def key_of(data: bytes) -> str:
    """Return the id of the key that encrypted a document."""
    return parse(data).layers[0].parameters[32:].decode()


def test_keeps_the_key_unless_asked(tmp_path: Path) -> None:
    """By --reseal the new key becomes that of all, of those of today as well."""
    codec, wrote = RELEASES["story_1_first"]
    old = codec.replace(seal=upgrading.sealed_old().seal, compression="gzip")
    (tmp_path / "a").write_bytes(old.encode(wrote))
    (tmp_path / "b").write_bytes(
        upgrading.sealed_old().encode(upgrading.today.decode(WANTED))
    )
    new = "tests.cli.upgrading:sealed_new"

    first = call("upgrade", tmp_path, "--codec", new, "--json").json
    kept = [key_of(data) for data in contents(tmp_path).values()]
    second = call("upgrade", tmp_path, "--codec", new, "--json", "--reseal").json
    third = call("upgrade", tmp_path, "--codec", new, "--json", "--reseal").json

    assert (first["upgraded"], kept) == (1, ["old", "old"])
    assert second["reasons"] == {"key: old, now new": 2}
    assert third["upgraded"] == 0
    for data in contents(tmp_path).values():
        assert key_of(data) == "new"
        assert upgrading.sealed_new().decode(data) == upgrading.today.decode(WANTED)
    assert names(parse((tmp_path / "a").read_bytes()).layers) == ("encrypted", "gzip")


def test_context_names_the_file(tmp_path: Path) -> None:
    """What opens a document also binds the one that is made of it; others stay."""
    codec, wrote = RELEASES["story_1_first"]
    old = codec.replace(seal=upgrading.sealed_old().seal)
    for name in ("s-1.json", "deep/s-2.json.gzip", "moved"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        session = Path(name).name.partition(".")[0].replace("moved", "s-3")
        (tmp_path / name).write_bytes(
            old.encode(wrote, context=f"s:{session}".encode())
        )
    before = (tmp_path / "moved").read_bytes()
    options = ["--codec", "tests.cli.upgrading:sealed_new", "--context", "s:{name}"]

    done = call("upgrade", tmp_path, *options, "--json", "--reseal")

    assert (done.code, done.json["upgraded"], done.json["failed"]) == (1, 2, 1)
    assert "moved" in done.json["failures"][0]["document"]
    assert done.json["failures"][0]["code"] == "E_SEAL"
    assert (tmp_path / "moved").read_bytes() == before
    new, wanted = upgrading.sealed_new(), upgrading.today.decode(WANTED)
    for name, context in (("s-1.json", b"s:s-1"), ("deep/s-2.json.gzip", b"s:s-2")):
        data = (tmp_path / name).read_bytes()
        assert key_of(data) == "new"
        assert new.decode(data, context=context) == wanted
        with pytest.raises(SealError):
            new.decode(data)


def test_what_is_not_sealed_is_not_taken(tmp_path: Path) -> None:
    """A codec with keys reads nothing else; it is reported and stays."""
    old = store(tmp_path)

    done = call("upgrade", tmp_path, "--codec", "tests.cli.upgrading:sealed_new")

    assert done.code == 1
    assert "the document is not sealed" in done.err
    assert contents(tmp_path) == old


# What can't be done


def test_failures_are_collected(tmp_path: Path) -> None:
    """Each is told with its document, the others are done, and the exit code is 1."""
    store(tmp_path)
    wrong = {
        "bad.json": b"{",
        "stranger.json": b'{"graphcodec":1,"root":{"$type":"no.Such"}}',
        "newer.json": b'{"graphcodec":1,"root":{"$type":"corpus.Basket","$v":9}}',
    }
    for name, data in wrong.items():
        (tmp_path / name).write_bytes(data)

    done = call("upgrade", tmp_path, "--codec", TODAY, "--json")

    assert done.code == 1
    assert (done.json["upgraded"], done.json["failed"]) == (5, 3)
    assert [Path(one["document"]).name for one in done.json["failures"]] == sorted(
        wrong
    )
    assert "'no.Such' is unknown" in done.err
    assert {name: contents(tmp_path)[name] for name in wrong} == wrong


def test_nothing_is_dropped_without_a_word(tmp_path: Path) -> None:
    """Where a codec ignores unknown fields, upgrading does not."""
    root = b'{"$type":"corpus.Basket","number":1,"name":"A","x":1}'
    field = b'{"graphcodec":1,"root":' + root + b"}"
    (tmp_path / "a.json").write_bytes(field)

    done = call("upgrade", tmp_path, "--codec", "tests.cli.upgrading:relay")

    assert done.code == 1
    assert "unknown field 'x'" in done.err
    assert contents(tmp_path) == {"a.json": field}


def test_unknown_types_come_along(tmp_path: Path) -> None:
    """With a codec that keeps them, beside what is upgraded."""
    stranger = b'{"$type":"no.Such","a":{"$bytes":"AA=="}}'
    old = b'{"$type":"corpus.Cart","number":7,"name":"Ada Lovelace"}'
    data = b'{"graphcodec":1,"root":{"$any":[' + stranger + b"," + old + b"]}}"
    (tmp_path / "a.json").write_bytes(data)

    done = call("upgrade", tmp_path, "--codec", "tests.cli.upgrading:relay")

    assert done.code == 0
    assert stranger in contents(tmp_path)["a.json"]
    assert b'"$type":"corpus.Basket","$v":4' in contents(tmp_path)["a.json"]


def test_somebody_else_writes_meanwhile(tmp_path: Path) -> None:
    """What they wrote stays."""
    path = tmp_path / "a.json"
    path.write_bytes((DOCUMENTS / "story_1_first.json").read_bytes())

    class Meddling(Files):
        reads = 0

        def read(self, path: str, limits: Any) -> bytes:
            data = super().read(path, limits)
            self.reads += 1
            if self.reads == 1:
                Path(path).write_bytes(b"theirs")
            return data

    work = Upgrade(
        source=Meddling(str(tmp_path)),
        renewal=Renewal(codec=CodecSource(upgrading.today)),
    )
    with pytest.raises(InvalidValueError, match="somebody else has changed it"):
        work(Document("a", str(path), str(path)))
    assert path.read_bytes() == b"theirs"


def test_backup_is_never_replaced(tmp_path: Path) -> None:
    """Another document of that name is there: the old one is not given up."""
    source, backup = tmp_path / "in", tmp_path / "backup"
    old = store(source)
    (backup / "1").mkdir(parents=True)
    (backup / "1" / "story_1_first.json").write_bytes(b"{}")

    done = call("upgrade", source, "--backup", backup, "--codec", TODAY)

    assert done.code == 1
    assert "there is another backup at" in done.err
    assert contents(backup)["1/story_1_first.json"] == b"{}"
    assert contents(source)["1/story_1_first.json"] == old["1/story_1_first.json"]
    assert contents(source)["2/story_2_tag_renamed.json"] == WANTED


def test_killed_run_goes_on(tmp_path: Path) -> None:
    """Each document is rewritten exactly once, and none is lost or half written."""
    folder, backup, note = tmp_path / "in", tmp_path / "old", tmp_path / "dies-at"
    folder.mkdir()
    for number in range(20):
        item = upgrading.Old(number, f"item {number}")
        (folder / f"{number:02}.json").write_bytes(upgrading.before.encode(item))
    old = contents(folder)
    command = [
        *(sys.executable, "-m", "graphcodec", "upgrade", str(folder)),
        *("--codec", "tests.cli.upgrading:dying", "--backup", str(backup), "--json"),
    ]
    env = {**environment(), "DIES_AT": str(note)}
    note.write_text("11")

    killed = subprocess.run(command, env=env, check=False, capture_output=True)  # noqa: S603
    before = times(folder)
    done_first = {n for n, data in contents(folder).items() if data != old[n]}
    note.unlink()
    second = subprocess.run(command, env=env, check=False, capture_output=True)  # noqa: S603

    assert killed.returncode == 9, killed.stderr
    assert len(done_first) == 11
    assert second.returncode == 0, second.stderr
    assert json.loads(second.stdout)["upgraded"] == 9
    assert {n: times(folder)[n] for n in done_first} == {
        n: before[n] for n in done_first
    }
    assert contents(backup) == old
    for number, data in enumerate(contents(folder).values()):
        assert b'"$v":2' in data
        assert f'"title":"item {number}"'.encode() in data
    assert {path.suffix for path in folder.iterdir()} == {".json"}


def test_with_dask_as_without(tmp_path: Path, dask_client: Any) -> None:
    """A cluster writes the same files, and counts the same reasons."""
    store(tmp_path / "a")
    store(tmp_path / "b")
    (tmp_path / "a" / "bad.json").write_bytes(b"{")
    (tmp_path / "b" / "bad.json").write_bytes(b"{")
    address = dask_client.scheduler.address

    one = call("upgrade", tmp_path / "a", "--codec", TODAY, "--json")
    other = call(
        *("upgrade", tmp_path / "b", "--codec", TODAY, "--json"),
        *("--dask", address, "--batch", 2),
    )

    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert one.code == other.code == 1
    for key in ("upgraded", "current", "failed", "reasons"):
        assert one.json[key] == other.json[key]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["FOLDER", "--out", "x", "--in-place"], "--out leaves the documents alone"),
        (["FOLDER", "--out", "x", "--backup", "y"], "--out leaves the documents alone"),
        (["FOLDER", "--reseal"], "--reseal needs a codec with a seal"),
        (["FOLDER", "--context", "x"], "--context needs a codec with a seal"),
        (["FOLDER", "--backup", "FOLDER/old"], "which is read; take another folder"),
        (["FOLDER", "--out", "FOLDER"], "is read and would be replaced"),
        (["nothing"], "does not exist"),
        (["-"], "the standard input can't be replaced"),
    ],
)
def test_wrong_call(tmp_path: Path, args: list[str], words: str) -> None:
    """It says what is wrong, and nothing was written."""
    store(tmp_path)
    args = [arg.replace("FOLDER", str(tmp_path)) for arg in args]

    done = call("upgrade", *args, width=300)

    assert done.code == 2
    assert words in " ".join(done.err.split())


def test_without_a_codec_the_built_in_classes_count(tmp_path: Path) -> None:
    """Their documents are those of today."""
    data = encode(["a", (1,)])
    (tmp_path / "a.json").write_bytes(data)

    done = call("upgrade", tmp_path, "--json")

    assert done.json["current"] == 1
    assert decode((tmp_path / "a.json").read_bytes()) == Codec().decode(data)
