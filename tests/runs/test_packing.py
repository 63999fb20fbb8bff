"""Run files and event files that are compressed."""

from __future__ import annotations

import gzip
import subprocess
import sys
from typing import TYPE_CHECKING, Final, cast

import pytest
from backports import zstd

from graphcodec import Limits
from graphcodec.errors import (
    InvalidValueError,
    LimitExceededError,
    UndecodableValueError,
)
from graphcodec.runs import EventFile, JsonFile
from tests.runs.events import built, said, started, whole_run
from tests.runs.test_files import WRITER, started_python

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Changes = dict[str, Callable[[bytes], bytes]]

PACKED = ["gz", "zst"]
INFLATE: Final[Changes] = {
    "gz": gzip.decompress,
    "zst": zstd.decompress,
}
DEFLATE: Final[Changes] = {
    "gz": gzip.compress,
    "zst": zstd.compress,
}

WITHOUT = """
import sys
sys.modules["backports.zstd"] = sys.modules["compression.zstd"] = None
from graphcodec.errors import GraphCodecError
from graphcodec.runs import EventFile, JsonFile, RunData
for call in (
    lambda: JsonFile.write(sys.argv[1] + ".new.zst", RunData(run_id="r")),
    lambda: EventFile(sys.argv[1] + ".events.zst"),
    lambda: JsonFile.read(sys.argv[1]),
):
    try:
        call()
    except GraphCodecError as exc:
        print(type(exc).__name__, exc)
"""


# Whole runs


@pytest.mark.parametrize("suffix", PACKED)
def test_run_is_compressed_as_its_name_says(tmp_path: Path, suffix: str) -> None:
    """Any tool inflates it to what a plain file holds."""
    run = built(*whole_run())
    JsonFile.write(tmp_path / "run.json", run)
    JsonFile.write(tmp_path / f"run.json.{suffix}", run)

    stored = (tmp_path / f"run.json.{suffix}").read_bytes()

    assert INFLATE[suffix](stored) == (tmp_path / "run.json").read_bytes()
    assert JsonFile.read(tmp_path / f"run.json.{suffix}") == run


@pytest.mark.parametrize("suffix", PACKED)
def test_run_is_read_by_how_it_begins(tmp_path: Path, suffix: str) -> None:
    """A file that was renamed, or inflated on the way, is read all the same."""
    run = built(*whole_run())
    JsonFile.write(tmp_path / f"a.json.{suffix}", run)
    JsonFile.write(tmp_path / "b.json", run)
    (tmp_path / f"a.json.{suffix}").rename(tmp_path / "a.json")
    (tmp_path / "b.json").rename(tmp_path / f"b.json.{suffix}")

    assert JsonFile.read(tmp_path / "a.json") == run
    assert JsonFile.read(tmp_path / f"b.json.{suffix}") == run


@pytest.mark.parametrize("suffix", PACKED)
def test_run_that_is_cut_or_damaged_is_refused(tmp_path: Path, suffix: str) -> None:
    """Cut anywhere; one byte wrong; something behind it."""
    path = tmp_path / f"run.json.{suffix}"
    JsonFile.write(path, built(*whole_run()))
    whole = path.read_bytes()
    wrong = bytes([*whole[:300], whole[300] ^ 0x55, *whole[301:]])
    for data in (whole[:10], whole[:200], whole[:-1], wrong, whole + b"x"):
        path.write_bytes(data)
        with pytest.raises(UndecodableValueError, match=rf"run\.json\.{suffix} "):
            JsonFile.read(path)


@pytest.mark.parametrize("suffix", PACKED)
def test_inflating_is_bounded(tmp_path: Path, suffix: str) -> None:
    """A small file that would fill the memory is refused on the way."""
    bomb = DEFLATE[suffix](b" " * (64 << 20))
    path = tmp_path / f"run.json.{suffix}"
    path.write_bytes(bomb)
    limits = Limits(max_decompressed=1 << 20)

    assert len(bomb) < 100_000
    with pytest.raises(LimitExceededError, match="max_decompressed") as caught:
        JsonFile.read(path, limits=limits)
    assert cast("int", caught.value.value) <= (1 << 20) + (64 << 10)
    with pytest.raises(LimitExceededError, match="max_decompressed"):
        EventFile.rebuild(path, limits=limits)


def test_zstd_says_what_to_install(tmp_path: Path) -> None:
    """To write, to append, to read."""
    path = tmp_path / "run.json.zst"
    JsonFile.write(path, built(*whole_run()))
    done = subprocess.run(  # noqa: S603 - our own text
        [sys.executable, "-c", WITHOUT, str(path)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    kinds = [line.split()[0] for line in done.stdout.splitlines()]
    assert kinds == [
        InvalidValueError.__name__,
        InvalidValueError.__name__,
        UndecodableValueError.__name__,
    ]
    assert done.stdout.count("pip install 'graphcodec[zstd]'") == 3
    assert [file.name for file in tmp_path.iterdir()] == ["run.json.zst"]


# Events as they come


@pytest.mark.parametrize("suffix", PACKED)
def test_events_are_compressed_as_they_come(tmp_path: Path, suffix: str) -> None:
    """Each can be read at once; any tool inflates the file when it is closed."""
    path = tmp_path / f"run.events.{suffix}"
    with EventFile(path) as file:
        for number, event in enumerate(whole_run(), 1):
            file.write(event)
            assert list(EventFile.read(path)) == whole_run()[:number]
    with EventFile(tmp_path / "plain.events") as file:
        for event in whole_run():
            file.write(event)

    plain = (tmp_path / "plain.events").read_bytes()
    assert INFLATE[suffix](path.read_bytes()) == plain
    assert path.stat().st_size < len(plain) / 2


@pytest.mark.parametrize("suffix", PACKED)
def test_compressed_file_goes_on(tmp_path: Path, suffix: str) -> None:
    """Opened again, as often as one likes, also when nothing was written."""
    path = tmp_path / f"run.events.{suffix}"
    for number in range(1, 4):
        with EventFile(path) as file:
            file.write(said(number))
        with EventFile(path):
            pass

    assert list(EventFile.read(path)) == [said(1), said(2), said(3)]
    assert INFLATE[suffix](path.read_bytes()).count(b"\n") == 3


@pytest.mark.parametrize("suffix", PACKED)
def test_compressed_file_may_be_cut_anywhere(tmp_path: Path, suffix: str) -> None:
    """What was complete before is there, and it goes on after it."""
    path = tmp_path / f"run.events.{suffix}"
    with EventFile(path) as file:
        file.write(started())
        sizes = [path.stat().st_size]
        for number in range(1, 4):
            file.write(said(number))
            sizes.append(path.stat().st_size)
    whole = path.read_bytes()
    for end in range(1, len(whole)):
        path.write_bytes(whole[:end])
        complete = sum(size <= end for size in sizes)
        expected = [started(), said(1), said(2), said(3)][:complete]
        # Of the last block, a reader may have the whole line before its very end.
        before = list(EventFile.read(path))
        assert before[:complete] == expected
        if end % 5 == 0 and end > 20:
            with EventFile(path) as file:
                file.write(said(9))
            assert list(EventFile.read(path)) == [*before, said(9)]


@pytest.mark.parametrize("suffix", PACKED)
def test_killed_writer_leaves_a_compressed_file(tmp_path: Path, suffix: str) -> None:
    """A real process; all that it had written is there."""
    path = tmp_path / f"run.events.{suffix}"
    with started_python(WRITER, str(path)) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if int(line) == 100:
                writer.kill()
                break
        told = [100, *map(int, writer.stdout.read().split())][-1]

    events = list(EventFile.read(path))
    assert events[0] == started()
    assert len(events) >= told + 1
    assert EventFile.rebuild(path).anomalies == ()


@pytest.mark.parametrize("suffix", PACKED)
def test_damage_in_a_compressed_file_is_told(tmp_path: Path, suffix: str) -> None:
    """What stands before it is read; nobody appends to it."""
    path = tmp_path / f"run.events.{suffix}"
    with EventFile(path) as file:
        file.write(started())
        sizes = list[int]()
        for number in range(1, 100):
            file.write(said(number, f"text {number}"))
            sizes.append(path.stat().st_size)
    data = bytearray(path.read_bytes())
    data[sizes[49] : sizes[50]] = b"\xff" * (sizes[50] - sizes[49])
    path.write_bytes(data)

    run = EventFile.rebuild(path)

    talk = run.examples["e1"].conversation
    assert talk is not None
    assert 45 < len(talk.turns) <= 50
    (anomaly,) = run.anomalies
    assert anomaly.startswith(
        f"run.events.{suffix}: what follows line {len(talk.turns) + 1} can't be read: "
    )
    with pytest.raises(UndecodableValueError, match="what follows line"):
        list(EventFile.read(path))
    with pytest.raises(UndecodableValueError, match="data is damaged"):
        EventFile(path)


def test_other_content_is_not_appended_to(tmp_path: Path) -> None:
    """A plain file under the name of a compressed one."""
    path = tmp_path / "run.events.gz"
    path.write_bytes(b'{"graphcodec":1}\n')

    with pytest.raises(UndecodableValueError, match="is no gzip file; give another"):
        EventFile(path)
    assert path.read_bytes() == b'{"graphcodec":1}\n'
