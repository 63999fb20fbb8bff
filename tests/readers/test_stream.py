"""Readers over an open file that lives nowhere addressable."""

from __future__ import annotations

import copy
import gc
import io
import pickle
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, BinaryIO, cast

import pytest

from graphcodec import errors
from graphcodec.readers import StreamReader
from graphcodec.readers import _stream as stream_module

if TYPE_CHECKING:
    from pathlib import Path

CONTENT = bytes(range(256)) * 1000


class Pipe(io.RawIOBase):
    """A stream that can be read once; it may fail on the way."""

    def __init__(self, data: bytes, *, fail_at: int | None = None) -> None:
        """Keep the content."""
        super().__init__()
        self._inner = io.BytesIO(data)
        self.fail_at = fail_at

    def readable(self) -> bool:
        """Say yes."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """Give the next bytes, or fail once."""
        if self.fail_at is not None and self._inner.tell() >= self.fail_at:
            self.fail_at = None
            raise ConnectionResetError("cut")
        return self._inner.read(size)


class Upload:
    """What a web framework hands over: an async face over a file."""

    def __init__(self, data: bytes) -> None:
        """Keep the file."""
        self.file = io.BytesIO(data)

    async def read(self, size: int = -1) -> bytes:
        """Give bytes, but not at once."""
        return self.file.read(size)


def _seekable() -> BinaryIO:
    return io.BytesIO(CONTENT)


def _one_shot() -> BinaryIO:
    return cast("BinaryIO", Pipe(CONTENT))


@pytest.fixture(params=[_seekable, _one_shot], ids=["seekable", "one-shot"])
def reader(request: pytest.FixtureRequest) -> StreamReader:
    """A reader over each kind of stream."""
    return StreamReader(request.param())


def test_replayable(reader: StreamReader) -> None:
    """Each call of `open` gives a new stream over all the bytes."""
    assert reader.open().read() == CONTENT
    assert reader.open().read() == CONTENT
    assert b"".join(reader.iter_bytes()) == CONTENT
    assert reader.read_range(250, 260) == CONTENT[250:260]


def test_views_are_independent(reader: StreamReader) -> None:
    """Two streams of one reader don't move each other, and closing one is harmless."""
    one, other = reader.open(), reader.open()

    assert one.read(10) == CONTENT[:10]
    assert other.read(20) == CONTENT[:20]
    assert one.seek(-6, io.SEEK_END) == len(CONTENT) - 6
    one.close()
    assert other.seek(5, io.SEEK_CUR) == 25
    assert other.read() == CONTENT[25:]


def test_views_reject_negative_positions(reader: StreamReader) -> None:
    """Seeking to before the beginning is an error, as in any file."""
    with reader.open() as stream, pytest.raises(ValueError, match="negative seek"):
        stream.seek(-1, io.SEEK_CUR)


def test_threads_read_at_once(reader: StreamReader) -> None:
    """Threads that read in small steps each see the whole content."""

    def drain(size: int) -> bytes:
        return b"".join(reader.iter_bytes(size))

    with ThreadPoolExecutor(8) as pool:
        contents = list(pool.map(drain, [4999, 70_001] * 8))

    assert set(contents) == {CONTENT}


def test_starts_at_the_beginning() -> None:
    """A file that somebody has read from already is read from its first byte."""
    file = io.BytesIO(b"0123456789")
    file.read(7)

    assert StreamReader(file).open().read() == b"0123456789"


def test_length() -> None:
    """The length is known without reading, except for a one-shot stream."""
    one_shot = StreamReader(_one_shot())

    assert StreamReader(_seekable()).byte_length() == len(CONTENT)
    assert one_shot.byte_length() is None
    one_shot.open().close()
    assert one_shot.byte_length() == len(CONTENT)


def test_large_one_shot_goes_to_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long one-shot stream is copied to a file that cleans up after itself."""
    monkeypatch.setattr(stream_module, "SPOOL_IN_MEMORY", 1000)
    reader = StreamReader(_one_shot())
    view = reader.open()
    del reader
    gc.collect()

    # The view keeps the temporary file alive; no ResourceWarning comes afterwards.
    assert view.read() == CONTENT
    del view
    gc.collect()


def test_a_cut_stream_is_read_on() -> None:
    """After a failure in the middle, opening again loses none of the bytes."""
    reader = StreamReader(cast("BinaryIO", Pipe(CONTENT, fail_at=100_000)))

    with pytest.raises(ConnectionResetError):
        reader.open()

    assert reader.open().read() == CONTENT


def test_real_file(tmp_path: Path) -> None:
    """A file on disk and a spooled upload are read as they are."""
    (tmp_path / "a.bin").write_bytes(CONTENT)

    with (tmp_path / "a.bin").open("rb") as file:
        assert StreamReader(file).open().read() == CONTENT
    with tempfile.SpooledTemporaryFile() as spool:
        spool.write(CONTENT)
        reader = StreamReader(cast("BinaryIO", spool))
        assert reader.open().read() == CONTENT


def test_closed_file() -> None:
    """A file that was closed in the meantime is reported as gone, with the remedy."""
    file = io.BytesIO(CONTENT)
    reader = StreamReader(file)
    view = reader.open()
    file.close()

    with pytest.raises(errors.HandleNotFoundError, match=r"was closed.*persist"):
        reader.open()
    with pytest.raises(errors.HandleNotFoundError, match="was closed"):
        reader.byte_length()
    with pytest.raises(errors.HandleNotFoundError, match="was closed"):
        view.read()


@pytest.mark.parametrize(
    ("file", "hint"),
    [
        (io.StringIO("text"), "open it in binary mode"),
        (b"bytes", "BytesReader takes bytes"),
        (Upload(b"x"), "upload.file"),
        (None, "BytesReader takes bytes"),
    ],
)
def test_takes_binary_files_only(file: BinaryIO, hint: str) -> None:
    """What is no binary file is refused, with what to pass instead."""
    with pytest.raises(
        errors.InvalidValueError, match="must be a binary file"
    ) as caught:
        StreamReader(file)

    assert hint in caught.value.hint


def test_text_in_disguise() -> None:
    """A file whose reads give no bytes is found out when it is opened."""

    class Text:
        def read(self, size: int) -> str:
            return "x" * size

    reader = StreamReader(cast("BinaryIO", Text()))

    with pytest.raises(errors.InvalidValueError, match="gave str instead of bytes"):
        reader.open()


def test_has_no_handle() -> None:
    """A stream has no descriptor, equals only itself and does not pickle."""
    file = io.BytesIO(b"a")
    reader = StreamReader(file)

    assert reader.describe() is None
    assert reader != StreamReader(file)
    assert len({reader, StreamReader(file)}) == 2
    assert copy.deepcopy(reader) is reader
    with pytest.raises(errors.ReaderNotDescribableError) as caught:
        pickle.dumps(reader)
    assert "persist" in caught.value.hint


def test_repr_shows_the_kind_of_file() -> None:
    """The repr names the type of the file and nothing of its content."""
    assert repr(StreamReader(io.BytesIO(b"secret"))) == "StreamReader(<BytesIO>)"
