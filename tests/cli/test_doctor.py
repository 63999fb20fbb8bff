from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from graphcodec import Codec, SpooledArtifact, encode
from graphcodec.cli import main
from graphcodec.readers import BytesReader
from graphcodec_resolvers import FsspecStore, HttpReader
from tests.cli.running import run, widest
from tests.resolvers.servers import DATA, ETAG, FaultyServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.s3_server import S3Server

    Doctor = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    """A server on this machine with the fault that the path names."""
    with FaultyServer() as server:
        yield server


@pytest.fixture
def document(tmp_path: Path) -> Path:
    """A document with a handle of each state in a store, and one that is inlined."""
    store = FsspecStore(str(tmp_path / "root"), alias="media")
    contents = (b"alive" * 1000, b"stale", b"gone")
    alive, stale, gone = (store.write(content) for content in contents)
    for path in (tmp_path / "root").rglob("*"):
        if path.is_file() and path.read_bytes() == b"stale":
            path.write_bytes(b"other bytes")
    store.delete(gone)
    graph = {
        "log": SpooledArtifact(alive),
        "rest": [stale, gone, BytesReader(b"inline")],
    }
    file = tmp_path / "chat.json"
    file.write_bytes(encode(graph))
    return file


def facts(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return what was written for a script."""
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def states(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """Return the state of each handle by its path."""
    return {each["path"]: each["state"] for each in facts(done)["handles"]}


@pytest.fixture
def doctor(capsys: pytest.CaptureFixture[str]) -> Doctor:
    """Runs the command in this process: each new one takes half a second."""

    def call(*args: object) -> subprocess.CompletedProcess[str]:
        code = main(["doctor", *map(str, args)])
        out, err = capsys.readouterr()
        return subprocess.CompletedProcess("doctor", code, out, err)

    return call


def test_every_handle_is_diagnosed(
    doctor: Doctor, document: Path, tmp_path: Path
) -> None:
    """Alive, stale and gone, with sizes and times; one bad handle makes it fail."""
    store = f"media={tmp_path / 'root'}"

    done = doctor(str(document), "--resolve", "--json", "--store", store)

    assert done.returncode == 1
    assert states(done) == {
        "$.log.reader": "alive",
        "$.rest[0]": "stale",
        "$.rest[1]": "gone",
        "$.rest[2]": "alive",
    }
    found = facts(done)
    assert not found["ok"]
    assert found["counts"] == {"alive": 2, "stale": 1, "gone": 1}
    first, second = found["handles"][:2]
    assert (first["tag"], first["bytes"]) == ("spool:fsspec", 5000)
    assert first["where"].startswith("media:sha256/")
    assert first["seconds"] > 0
    assert "size was" in second["detail"]


def test_a_healthy_document_passes(doctor: Doctor, tmp_path: Path) -> None:
    """With the content read, too."""
    store = FsspecStore(str(tmp_path / "root"), alias="media")
    file = tmp_path / "chat.msgpack"
    file.write_bytes(
        Codec(format="msgpack", compression="gzip").encode([store.write(b"a")])
    )
    options = ("--resolve", "--content", "--store", f"media={tmp_path / 'root'}")

    done = doctor(str(file), *options)

    assert done.returncode == 0
    assert "1 handle · 1 alive" in done.stdout
    assert run("doctor", "-", *options, given=encode({"a": 1})).returncode == 0


def test_only_the_content_proves_a_hash(doctor: Doctor, tmp_path: Path) -> None:
    """Bytes that were exchanged for others of that size look alive from outside."""
    store = FsspecStore(str(tmp_path / "root"), alias="media")
    key = store.write(b"before").describe().locator["key"]
    (tmp_path / "root" / str(key)).write_bytes(b"after!")
    file = tmp_path / "chat.json"
    large = store.write(bytes(1 << 20))
    (tmp_path / "root" / str(large.describe().locator["key"])).write_bytes(
        bytes((1 << 20) - 1) + b"!"
    )
    file.write_bytes(encode(large))
    options = ("--resolve", "--store", f"media={tmp_path / 'root'}")

    assert doctor(str(file), *options).returncode == 0
    done = doctor(str(file), "--content", *options)
    assert done.returncode == 1
    assert "sha256" in " ".join(done.stdout.split())


def test_nothing_is_opened_unless_asked(
    doctor: Doctor, document: Path, server: FaultyServer
) -> None:
    """Handles are listed, with whether anybody here could open them."""
    document.write_bytes(
        encode([Codec().decode(encode(HttpReader(server.url("plain"), size=7)))])
    )

    done = doctor(str(document), "--json")

    assert done.returncode == 0
    (handle,) = facts(done)["handles"]
    assert (handle["state"], handle["bytes"], handle["seconds"]) == ("bound", 7, None)
    assert server.seen == []


def test_unbound_handles_are_named(doctor: Doctor, document: Path) -> None:
    """The alias is what to bind; opening them is not possible, which is a failure."""
    for options, code in (((), 0), (("--resolve",), 1)):
        done = doctor(str(document), "--json", *options)
        assert done.returncode == code
        assert states(done)["$.log.reader"] == "unbound"
        detail = facts(done)["handles"][0]["detail"]
        assert "knows the store 'media'; say where it is: --store media=ROOT" in detail


def test_the_codec_of_the_caller_opens_its_handles(
    doctor: Doctor, tmp_path: Path, server: FaultyServer
) -> None:
    """Its policy is what counts; a server that forbids is denied, not gone."""
    paths = ("plain", "status/403", "status/404", "hang-up")
    readers = [HttpReader(server.url(path)) for path in paths]
    readers.append(HttpReader(server.url("plain"), etag='"v0"'))
    readers.append(HttpReader(server.url("plain"), etag=ETAG, size=len(DATA)))
    file = tmp_path / "chat.json"
    file.write_bytes(encode(readers))

    done = doctor(str(file), "--resolve", "--json", "--codec", "tests.cli.codecs:local")

    wanted = ["alive", "denied", "gone", "failed", "stale", "alive"]
    assert list(states(done).values()) == wanted
    assert facts(done)["handles"][0]["bytes"] == len(DATA)
    strict = doctor(str(file), "--resolve", "--json")
    assert set(states(strict).values()) == {"denied"}


def test_a_bucket_is_opened_with_the_credentials_of_the_environment(
    doctor: Doctor,
    tmp_path: Path,
    s3_server: S3Server,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The command names the bucket, and nothing else."""
    options = s3_server.options()
    bucket = f"s3://{s3_server.bucket()}/prefix"
    store = FsspecStore(bucket, alias="media", options=options)
    kept, gone = store.write(b"kept"), store.write(b"gone")
    store.delete(gone)
    file = tmp_path / "chat.json"
    file.write_bytes(encode([kept, gone]))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", str(options["key"]))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", str(options["secret"]))
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", s3_server.endpoint)

    done = doctor(file, "--resolve", "--json", "--store", f"media={bucket}")

    assert list(states(done).values()) == ["alive", "gone"]


def test_a_handle_that_hangs_has_failed(
    doctor: Doctor, tmp_path: Path, server: FaultyServer
) -> None:
    """The others are told all the same."""
    file = tmp_path / "chat.json"
    file.write_bytes(encode([HttpReader(server.url("silent")), BytesReader(b"a")]))
    options = ("--resolve", "--timeout", "0.3", "--codec", "tests.cli.codecs:local")

    done = doctor(
        str(file),
        "--json",
        *options,
    )

    assert list(states(done).values()) == ["failed", "alive"]
    assert "within 0.3 seconds" in facts(done)["handles"][0]["detail"]


def test_signed_urls_of_others_are_not_shown(
    doctor: Doctor, tmp_path: Path, server: FaultyServer
) -> None:
    """Whoever wrote the document should not have, and we do not repeat it."""
    text = encode(HttpReader(server.url("status/404/SIGNED"))).decode()
    file = tmp_path / "chat.json"
    file.write_text(text.replace("/SIGNED", "?X-Amz-Signature=geheim"))
    options = ("--resolve", "--codec", "tests.cli.codecs:local")

    for form in ((), ("--json",)):
        done = doctor(
            str(file),
            *form,
            *options,
        )
        assert done.returncode == 1
        assert "geheim" not in done.stdout + done.stderr
        assert "status/404" in done.stdout


def test_malformed_handles_are_listed(doctor: Doctor, tmp_path: Path) -> None:
    """Whatever else is in the document, and whatever its tags are."""
    odd: list[tuple[object, object]] = [
        ("media:http", {"url": 5}),
        ("nonsense", {}),
        ("media:", []),
        (5, "text"),
        ("media:zip", {"a": 1}),
    ]
    parts = [{"$type": "$reader", "tag": tag, "locator": at} for tag, at in odd]
    wire = {"graphcodec": 1, "root": {"$type": "shop.Unknown", "parts": parts}}
    file = tmp_path / "odd.json"
    file.write_text(json.dumps(wire))

    assert set(states(doctor(file, "--json")).values()) == {"malformed", "unbound"}
    done = doctor(file, "--resolve")
    assert done.returncode == 1
    assert "5 handles" in done.stdout


def test_the_table_fits_a_terminal(document: Path, tmp_path: Path) -> None:
    """What is wrong comes first, in 80 columns."""
    store = f"media={tmp_path / 'root'}"

    done = run("doctor", str(document), "--resolve", "--store", store)

    assert widest(done.stdout) <= 80
    assert "4 handles · 2 alive · 1 stale · 1 gone" in done.stdout
    assert done.stdout.index("$.rest[0]") < done.stdout.index("$.log.reader")
    assert "5.0 kB" in done.stdout
    assert " ms" in done.stdout


def test_many_handles_are_cut_short_for_people(doctor: Doctor, tmp_path: Path) -> None:
    """A script gets all of them."""
    file = tmp_path / "many.json"
    urls = [f"https://example.org/{number}" for number in range(50)]
    file.write_bytes(encode([HttpReader(url) for url in urls]))

    assert "… 30 more handles" in doctor(str(file)).stdout
    assert len(facts(doctor(str(file), "--json"))["handles"]) == 50


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--store", "media"], "ALIAS=ROOT"),
        (["--store", "=x"], "ALIAS=ROOT"),
        (["--store", "a=x", "--store", "a=y"], "an alias has one root"),
        (["--codec", "nonsense"], "package.module:name"),
        (["--content"], "--content needs --resolve"),
        (["--timeout", "0"], "--timeout"),
    ],
)
def test_a_wrong_call_is_no_wrong_document(
    doctor: Doctor, document: Path, args: list[str], message: str
) -> None:
    """The exit code tells one from the other."""
    done = doctor(str(document), *args)

    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_what_is_no_document_is_wrong_input() -> None:
    """The error names it."""
    done = run("doctor", "-", "--resolve", given=b"[1, 2")

    assert done.returncode == 1
    assert "standard input" in done.stderr
    assert "Traceback" not in done.stderr


def test_one_reader_may_stand_for_many_handles(
    doctor: Doctor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A resolver that keeps its readers gives the same one again."""
    (tmp_path / "keeping.py").write_text(
        """
from graphcodec import Codec
from graphcodec.readers import BytesReader
class Keeping:
    tags = ("media:kept", "spool:kept")
    reader = BytesReader(b"kept")
    def resolve(self, descriptor):
        return self.reader
codec = Codec(resolvers=[Keeping()])
"""
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    file = tmp_path / "chat.json"
    handle = b'{"$type":"$reader","tag":"media:kept","locator":{}}'
    file.write_bytes(b'{"graphcodec":1,"root":{"$any":[%b,%b]}}' % (handle, handle))

    done = doctor(file, "--resolve", "--json", "--codec", "keeping:codec")

    assert done.returncode == 0, done.stderr
    assert [each["bytes"] for each in facts(done)["handles"]] == [4, 4]
