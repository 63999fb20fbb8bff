"""Logs as Parquet files, wherever fsspec reaches."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# Neither pyarrow nor fsspec has annotations.

from __future__ import annotations

import os
from collections import Counter, OrderedDict
from collections.abc import (
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, Final, Self
from urllib.parse import quote

from attrs import frozen

from graphcodec.errors import ArrowError, InvalidValueError, StorageError
from graphcodec.log._arrow import PREFIX, Exportable, arrow, batches_of, schema

__all__ = ["Exported", "read_parquet", "write_parquet"]

Progress = Callable[[int], object]

_OPEN: Final = 16
_LAST_SECOND: Final = 253_402_300_799
_PARTITIONS: Final = ("session", "date")


@frozen(kw_only=True)
class Exported:
    """What was written.

    Attributes:
        rows: How many rows.
        files: The files, as their file system calls them.
    """

    rows: int
    files: tuple[str, ...]


def write_parquet(
    records: Iterable[Exportable],
    path_or_url: str | os.PathLike[str],
    *,
    session_id: str | None = None,
    partition_by: Sequence[str] = ("session",),
    options: Mapping[str, object] | None = None,
    progress: Progress | None = None,
) -> Exported:
    """Write records as Parquet files into a new folder, in bounded memory.

    Each partition is a folder, named as Hive does it: ``session=.../date=.../``. The
    session is also a column of the files, ``session_id``.

    Args:
        records: Records, or entries of a log, which also know session and place.
        path_or_url: The folder: a path, or a URL for fsspec.
        session_id: The session of records that don't know it.
        partition_by: ``session`` and ``date`` (the day in UTC), in any order, or none.
        options: What fsspec needs for the URL: endpoints, credentials.
        progress: Is told how many rows were written, now and then.

    Raises:
        InvalidValueError: If a partition is not known.
        StorageError: If the folder holds Parquet files already, or can't be written.
        JsonError: If a record can't be written.
        ModuleNotFoundError: If pyarrow is not installed.
    """
    unknown = [name for name in partition_by if name not in _PARTITIONS]
    if unknown:
        msg = f"there is no partition {unknown[0]!r:.40}"
        raise InvalidValueError(msg, hint=f"known are {', '.join(_PARTITIONS)}")
    folder = ParquetFolder(path_or_url, options)
    folder.require_empty()
    return folder.write(
        records, session_id=session_id, partition_by=partition_by, progress=progress
    )


def read_parquet(
    path_or_url: str | os.PathLike[str],
    *,
    options: Mapping[str, object] | None = None,
    rows: int = 10_000,
) -> Iterator[Any]:
    """Yield the record batches of what `write_parquet` wrote, in bounded memory.

    Within a partition they come in the order in which they were written.

    Args:
        path_or_url: The folder, or a single file.
        options: What fsspec needs for the URL: endpoints, credentials.
        rows: The most rows of one.

    Raises:
        ArrowError: If a file is no Parquet file.
        StorageError: If there are no files, or they can't be read.
        ModuleNotFoundError: If pyarrow is not installed.
    """
    parquet, pa = arrow("pyarrow.parquet"), arrow()
    file_system, root = _located(path_or_url, options)
    try:
        for name in _some(_files(file_system, root)):
            with file_system.open(name, "rb") as file:
                yield from parquet.ParquetFile(file).iter_batches(rows)
    except pa.ArrowException as exc:
        raise ArrowError(f"{PREFIX}{exc}") from exc
    except StorageError:
        raise
    except OSError as exc:
        raise StorageError(f"could not read Parquet files: {exc}") from exc


def _located(
    path_or_url: str | os.PathLike[str], options: Mapping[str, object] | None
) -> tuple[Any, str]:
    core = import_module("fsspec.core")
    file_system, root = core.url_to_fs(os.fspath(path_or_url), **dict(options or {}))
    return file_system, str(root).rstrip("/")


def _files(file_system: Any, root: str) -> list[str]:
    if not file_system.exists(root):
        return []
    if file_system.isfile(root):
        return [root]
    return sorted(n for n in map(str, file_system.find(root)) if n.endswith(".parquet"))


def _refuse_files(names: list[str]) -> None:
    if names:
        msg = "the folder holds Parquet files already"
        raise StorageError(msg, hint="choose another one, or remove them")


def _some(names: list[str]) -> list[str]:
    if not names:
        raise StorageError("there are no Parquet files in the folder")
    return names


class ParquetFolder:
    """A folder of Parquet files, which several processes may write to.

    Args:
        path_or_url: The folder: a path, or a URL for fsspec.
        options: What fsspec needs for the URL: endpoints, credentials.
    """

    def __init__(
        self,
        path_or_url: str | os.PathLike[str],
        options: Mapping[str, object] | None = None,
    ) -> None:
        self._file_system, self._root = _located(path_or_url, options)

    def files(self) -> list[str]:
        """Return the files, as their file system calls them."""
        self._file_system.invalidate_cache()
        with _told_of_writing():
            return _files(self._file_system, self._root)

    def require_empty(self) -> None:
        """Refuse a folder with Parquet files.

        Raises:
            StorageError: If there are some.
        """
        _refuse_files(self.files())

    def empty(self) -> None:
        """Remove the Parquet files."""
        for name in self.files():
            with _told_of_writing():
                self._file_system.rm(name)

    def write(
        self,
        records: Iterable[Exportable],
        *,
        partition_by: Sequence[str],
        session_id: str | None = None,
        progress: Progress | None = None,
    ) -> Exported:
        """Write the files of some sessions, over those that are there.

        Args:
            records: See `write_parquet`.
            partition_by: Likewise.
            session_id: Likewise.
            progress: Likewise.
        """
        with _told_of_writing(), _Folder(self._file_system, self._root) as folder:
            for batch in batches_of(records, session_id=session_id):
                folder.write(batch, partition_by)
                if progress is not None:
                    progress(folder.rows)
        return Exported(rows=folder.rows, files=tuple(folder.files))


@contextmanager
def _told_of_writing() -> Generator[None]:
    try:
        yield
    except StorageError:
        raise
    except OSError as exc:
        raise StorageError(f"could not write Parquet files: {exc}") from exc


class _Folder:
    """Writes batches into the files of their partitions; few are open at a time."""

    def __init__(self, file_system: Any, root: str) -> None:
        self.rows = 0
        self.files: list[str] = []
        self._file_system = file_system
        self._root = root
        self._open: OrderedDict[str, tuple[Any, Any]] = OrderedDict()
        # By folder, so that a session has the same files whoever writes the others.
        self._numbers: Counter[str] = Counter()

    def write(self, batch: Any, partition_by: Sequence[str]) -> None:
        """Write the rows of a batch."""
        for place, part in _parted(batch, partition_by):
            self._writer(place).write_batch(part)
            self.rows += part.num_rows

    def _writer(self, place: str) -> Any:
        if place not in self._open:
            if len(self._open) >= _OPEN:
                _, (writer, file) = self._open.popitem(last=False)
                _close(writer, file)
            self._open[place] = self._new(place)
        self._open.move_to_end(place)
        return self._open[place][0]

    def _new(self, place: str) -> tuple[Any, Any]:
        folder = "/".join(filter(None, (self._root, place)))
        name = f"{folder}/part-{self._numbers[folder]:05}.parquet"
        self._numbers[folder] += 1
        self._file_system.makedirs(folder, exist_ok=True)
        file = self._file_system.open(name, "wb")
        self.files.append(name)
        parquet = arrow("pyarrow.parquet")
        return parquet.ParquetWriter(file, schema(), compression="zstd"), file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *exc_info: object) -> None:
        opened = list(self._open.values())
        self._open.clear()
        try:
            for writer, file in opened:
                _close(writer, file)
            if kind is None and not self.files:
                _close(*self._new(""))
        finally:
            # Half an export would be taken for a whole one.
            if kind is not None:
                for name in self.files:
                    self._file_system.rm(name)


def _close(writer: Any, file: Any) -> None:
    writer.close()
    file.close()


def _parted(batch: Any, partition_by: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield the rows of a batch by the folder that they belong into."""
    if not partition_by:
        yield "", batch
        return
    rows: dict[str, list[int]] = {}
    sessions = batch.column("session_id").to_pylist()
    moments = batch.column("created_at").to_pylist()
    for row, (session, moment) in enumerate(zip(sessions, moments, strict=True)):
        values = {"session": session or "none", "date": _day(moment)}
        place = "/".join(f"{n}={quote(values[n], safe='')}" for n in partition_by)
        rows.setdefault(place, []).append(row)
    for place, numbers in rows.items():
        yield place, batch if len(rows) == 1 else batch.take(arrow().array(numbers))


def _day(milliseconds: int) -> str:
    # An id may bear a time that no calendar has.
    seconds = min(milliseconds // 1000, _LAST_SECOND)
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()
