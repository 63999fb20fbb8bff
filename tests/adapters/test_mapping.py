"""A function over stored documents, here and in a Dask cluster."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graphcodec import Codec, Limits, decode, encode, errors
from graphcodec.adapters.dask import Failure, Report, map_documents
from tests.adapters.dask_codecs import Slowly, shout

ROOT = Path(__file__).parents[2]


def stored(folder: Path, count: int) -> Path:
    """Store documents, the last of which have no text and are broken."""
    source = folder / "in"
    (source / "deep").mkdir(parents=True)
    for number in range(count - 2):
        text = encode({"text": f"talk {number}"})
        (source / ("deep" if number % 2 else "") / f"{number}.json").write_bytes(text)
    (source / "number.json").write_bytes(encode(1))
    (source / "broken.json").write_text("{")
    return source


def contents(folder: Path) -> dict[str, bytes]:
    """Return what is in a folder, but for what is hidden: half a file of the dead."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and not file.name.startswith(".")
    }


def test_here(tmp_path: Path) -> None:
    """Results have the names and places of their documents."""
    source, out = stored(tmp_path, 12), tmp_path / "out"

    report = map_documents(shout, f"{source}/**/*.json", out=str(out))

    assert (report.done, report.skipped, len(report.failures)) == (10, 0, 2)
    assert decode((out / "deep" / "1.json").read_bytes()) == {"text": "TALK 1"}
    assert set(contents(out)) == set(contents(source)) - {"number.json", "broken.json"}


def test_failures_are_told_and_tried_again(tmp_path: Path) -> None:
    """What failed is in the report with its error, and done when it can be."""
    source, out = stored(tmp_path, 4), tmp_path / "out"

    report = map_documents(shout, str(source), out=str(out))

    kinds = {Path(f.name).name: type(f.error) for f in report.failures}
    assert kinds == {
        "broken.json": errors.UndecodableValueError,
        "number.json": TypeError,
    }
    assert any("graph[" in failure.traceback for failure in report.failures)
    (source / "broken.json").write_bytes(encode({"text": "mended"}))
    again = map_documents(shout, str(source), out=str(out))
    assert (again.done, again.skipped, len(again.failures)) == (1, 2, 1)


def test_a_thousand_documents_in_two_processes(
    tmp_path: Path, dask_client: Any
) -> None:
    """A cluster gives the same results and the same report as this process."""
    source, here, there = stored(tmp_path, 1_000), tmp_path / "here", tmp_path / "there"
    told: list[tuple[int, int]] = []

    one = map_documents(shout, str(source), out=str(here))
    other = map_documents(
        shout,
        str(source),
        out=str(there),
        scheduler=dask_client,
        batch=50,
        progress=lambda done, total: told.append((done, total)),
    )

    assert len(contents(there)) == 998
    assert contents(here) == contents(there)
    assert one.done == other.done == 998
    assert {f.name for f in one.failures} == {f.name for f in other.failures}
    assert told[-1] == (1_000, 1_000)


def test_a_worker_is_killed(tmp_path: Path, dask_client: Any) -> None:
    """The job ends all the same; run again, it finds each document done, once."""
    source, out, notes = stored(tmp_path, 402), tmp_path / "out", tmp_path / "notes"
    (source / "number.json").unlink()
    (source / "broken.json").unlink()
    work = Slowly(notes, seconds=0.005)
    victims = list(dask_client.run(os.getpid).values())[:1]

    def kill(done: int, total: int) -> None:
        assert done <= total
        while victims:
            os.kill(victims.pop(), signal.SIGKILL)

    map_documents(
        work, str(source), out=str(out), scheduler=dask_client, batch=40, progress=kill
    )
    before = {name: (out / name).stat() for name in contents(out)}
    again = map_documents(work, str(source), out=str(out), scheduler=dask_client)

    assert len(before) == 400
    assert again == Report(skipped=400)
    assert {name: (out / name).stat().st_ino for name in contents(out)} == {
        name: stat.st_ino for name, stat in before.items()
    }
    # What the worker was doing when it was killed may have been begun twice.
    calls = notes.read_text().splitlines()
    assert set(calls) == {f"talk {number}" for number in range(400)}
    assert len(calls) <= 401


PROGRAM = """
import sys
from pathlib import Path
from graphcodec.adapters.dask import map_documents
from tests.adapters.dask_codecs import Slowly

source, out, notes = sys.argv[1:]
map_documents(
    Slowly(Path(notes), seconds=0.01),
    source,
    out=out,
    progress=lambda done, total: print(done, flush=True),
)
"""


def test_the_job_is_killed(tmp_path: Path) -> None:
    """A job that was killed goes on where it was; no result is half a one."""
    source, out, notes = stored(tmp_path, 102), tmp_path / "out", tmp_path / "notes"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    job = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-c", PROGRAM, str(source), str(out), str(notes)],
        env=env,
        cwd=ROOT,
        stdout=subprocess.PIPE,
    )
    assert job.stdout is not None
    with job, job.stdout as lines:
        while b"20" not in lines.readline():
            pass
        job.kill()

    done = len(list(out.rglob("*.json")))
    report = map_documents(Slowly(notes), str(source), out=str(out))

    assert 20 <= done < 100
    assert (report.done, report.skipped) == (100 - done, done)
    calls = notes.read_text().splitlines()
    assert set(calls) == {f"talk {number}" for number in range(100)}
    assert len(calls) <= 101
    assert all(decode(data) for data in contents(out).values())


def test_formats_and_compressions_are_kept(tmp_path: Path) -> None:
    """A result has the format and the compression that its name says."""
    source, out = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    data = encode({"text": "hi"})
    (source / "a.json").write_bytes(data)
    (source / "b.json.gz").write_bytes(gzip.compress(data))
    (source / "c.msgpack").write_bytes(Codec(format="msgpack").encode({"text": "hi"}))
    (source / "d").write_bytes(data)

    report = map_documents(shout, str(source), out=str(out), codec=Codec)

    loud = {"text": "HI"}
    assert report.done == 4
    assert contents(out) == {
        "a.json": encode(loud),
        "b.json.gz": gzip.compress(encode(loud), mtime=0),
        "c.msgpack": Codec(format="msgpack").encode(loud),
        "d": encode(loud),
    }


def test_replace(tmp_path: Path) -> None:
    """Results that are there are made anew if that is asked for."""
    source, out = stored(tmp_path, 4), tmp_path / "out"
    out.mkdir()
    (out / "0.json").write_bytes(b"old")

    map_documents(shout, str(source), out=str(out))
    assert (out / "0.json").read_bytes() == b"old"
    map_documents(shout, str(source), out=str(out), replace=True)
    assert decode((out / "0.json").read_bytes()) == {"text": "TALK 0"}


def test_on_s3(tmp_path: Path, s3_server: Any) -> None:
    """Documents in a bucket become results in another; run again, all are found."""
    source, bucket = stored(tmp_path, 8), f"s3://{s3_server.bucket()}"
    options = s3_server.options()

    up, again = (
        map_documents(shout, str(source), out=f"{bucket}/a", out_options=options)
        for _ in range(2)
    )
    down = map_documents(
        shout, f"{bucket}/a/**/*.json", out=str(tmp_path / "out"), options=options
    )
    aside = map_documents(shout, f"{bucket}/a", out=f"{bucket}/b", options=options)

    assert (up.done, up.skipped, len(up.failures)) == (6, 0, 2)
    assert (again.done, again.skipped, len(again.failures)) == (0, 6, 2)
    assert down.done == aside.done == 6
    assert decode((tmp_path / "out/deep/1.json").read_bytes()) == {"text": "TALK 1"}


def test_limits_of_the_codec(tmp_path: Path) -> None:
    """A document that is too large is refused, and not read to its end."""
    source = stored(tmp_path, 3)
    (source / "0.json").write_bytes(encode({"text": "x" * 999}))

    report = map_documents(
        shout,
        str(source / "0.json"),
        out=str(tmp_path / "out"),
        codec=Codec(limits=Limits(max_bytes=500)),
    )

    assert report.failures == (
        Failure(name=str(source / "0.json"), error=ValueError()),
    )
    assert isinstance(report.failures[0].error, errors.LimitExceededError)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sources": "IN/*.txt"}, "there is no document at"),
        ({"sources": []}, "at least one place of documents"),
        ({"function": 3}, "map_documents needs a function"),
        ({"out": "IN"}, "would replace what is read"),
        ({"sources": ["IN/deep", "IN"]}, "would both become"),
        ({"batch": 0}, "batch must be a number"),
        ({"codec": "nonsense"}, "codec must be a Codec"),
    ],
)
def test_wrong_calls(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    """What makes no sense is told before a document is read."""
    source = stored(tmp_path, 6)
    (source / "deep" / "0.json").write_bytes(encode(1))
    given: Any = {"function": shout, "sources": "IN", "out": str(tmp_path / "out")}
    given |= change
    sources = given["sources"]
    places = [sources] if isinstance(sources, str) else sources
    given["sources"] = [place.replace("IN", str(source)) for place in places]
    given["out"] = given["out"].replace("IN", str(source))

    with pytest.raises(errors.InvalidValueError, match=words):
        map_documents(**given)
    assert not (tmp_path / "out").exists()
