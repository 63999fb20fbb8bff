"""The logs of many sessions, exported by several processes, a session at a time."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

from attrs import frozen

from graphcodec._bulk import Cluster, Progress, Report, run
from graphcodec.errors import InvalidValueError
from graphcodec.log._documents import DocumentStore
from graphcodec.log._json import to_json
from graphcodec.log._parquet import Exported, ParquetFolder
from graphcodec.log._postgres import PostgresDocumentStore
from graphcodec.log._reading import Entry, entry_of
from graphcodec.log._sqlite import SqliteDocumentStore

__all__ = ["entries", "export_lines", "export_parquet", "is_postgres", "opened"]


def is_postgres(address: str) -> bool:
    """Say whether the address of a log is that of a database server."""
    return address.startswith(("postgres://", "postgresql://"))


def opened(address: str) -> AbstractContextManager[DocumentStore]:
    """Open a log.

    Args:
        address: A SQLite file, or the address of a PostgreSQL database.
    """
    if is_postgres(address):
        return PostgresDocumentStore(address)
    return SqliteDocumentStore(address)


def entries(store: DocumentStore, sessions: Iterable[str]) -> Iterator[Entry]:
    """Yield the entries of sessions, one session after the other.

    Args:
        store: Where they are.
        sessions: Their ids.
    """
    for session in sessions:
        for document in store.scan(session):
            yield entry_of(session, document)


def export_parquet(
    address: str,
    sessions: Sequence[str],
    target: str,
    *,
    partition_by: Sequence[str],
    cluster: Cluster,
    progress: Progress | None = None,
) -> Exported:
    """Write what `write_parquet` would, by the processes of a cluster.

    Args:
        address: The log, which the processes open.
        sessions: The ids of the sessions.
        target: The folder.
        partition_by: See `write_parquet`; the session is among it, so that no two
            processes write into one folder.
        cluster: See `run`.
        progress: Is told how many of how many sessions are over.

    Raises:
        InvalidValueError: If the session is not among the partitions.
        StorageError: If the folder holds Parquet files already, or can't be written.
        JsonError: If a record can't be written.
    """
    if "session" not in partition_by:
        msg = "several processes export one folder for each session, or lines"
        raise InvalidValueError(msg, hint="say --partition-by session, or leave --dask")
    folder = ParquetFolder(target)
    folder.require_empty()
    work = _Parquet(_absolute(address), target, tuple(partition_by))
    report = run(work, _jobs(sessions), cluster=cluster, batch=1, progress=progress)
    if report.failures:
        # Half an export would be taken for a whole one.
        folder.empty()
        raise _first(report, sessions)
    with opened(address) as store:
        rows = sum(map(store.count, sessions))
    return Exported(rows=rows, files=tuple(folder.files()))


def export_lines(
    address: str,
    sessions: Sequence[str],
    out: BinaryIO,
    *,
    beside: Path | None,
    cluster: Cluster,
    progress: Progress | None = None,
) -> None:
    """Write one record on each line, by the processes of a cluster.

    The lines of each session are put into a folder beside, which all processes must
    reach, and then one after the other into the result.

    Args:
        address: The log, which the processes open.
        sessions: The ids of the sessions.
        out: What the lines are written to.
        beside: Where the folder is made; among temporary files by default.
        cluster: See `run`.
        progress: Is told how many of how many sessions are over.

    Raises:
        JsonError: If a record can't be written.
    """
    with tempfile.TemporaryDirectory(prefix=".graphcodec-", dir=beside) as folder:
        work = _Lines(_absolute(address), folder)
        report = run(work, _jobs(sessions), cluster=cluster, batch=1, progress=progress)
        if report.failures:
            raise _first(report, sessions)
        for number in range(len(sessions)):
            with (Path(folder) / str(number)).open("rb") as part:
                shutil.copyfileobj(part, out)


@frozen
class _Session:
    """A job: a session, and its place among them."""

    name: str
    number: int


@frozen
class _Parquet:
    """Writes the Parquet files of one session: a work."""

    address: str
    target: str
    partition_by: tuple[str, ...]

    def __call__(self, session: _Session) -> bool:
        """Do it. What another process had begun is written over."""
        with opened(self.address) as store:
            found = entries(store, [session.name])
            ParquetFolder(self.target).write(found, partition_by=self.partition_by)
        return True


@frozen
class _Lines:
    """Writes the lines of one session: a work."""

    address: str
    folder: str

    def __call__(self, session: _Session) -> bool:
        """Do it. What another process had begun is written over."""
        part = Path(self.folder) / str(session.number)
        with (
            opened(self.address) as store,
            part.open("w", encoding="utf-8", newline="\n") as out,
        ):
            for entry in entries(store, [session.name]):
                out.write(f"{to_json(entry.record)}\n")
        return True


def _jobs(sessions: Sequence[str]) -> list[_Session]:
    return [_Session(session, number) for number, session in enumerate(sessions)]


def _absolute(address: str) -> str:
    return address if is_postgres(address) else str(Path(address).resolve())


def _first(report: Report, sessions: Sequence[str]) -> Exception:
    """Return what would have ended an export in one process."""
    errors = {failure.name: failure.error for failure in report.failures}
    return next(errors[session] for session in sessions if session in errors)
