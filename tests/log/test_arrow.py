"""Records as Arrow tables and Parquet files."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# Neither pyarrow nor duckdb has annotations.

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import fsspec
import polars as pl
import pyarrow as pa
import pytest

from graphcodec import log
from graphcodec.errors import ArrowError, InvalidValueError, JsonError, StorageError
from graphcodec.log import (
    Entry,
    MemoryDocumentStore,
    SessionLog,
    SessionRecordRow,
    SqliteDocumentStore,
    filter_by_type,
    from_record_batch,
    read_parquet,
    sum_input_tokens,
    sum_output_tokens,
    to_record_batch,
    to_table,
    write_parquet,
)
from tests.log.records import (
    MOMENT,
    SOURCE,
    assistant,
    called,
    failed,
    golden_lines,
    observation,
    one_of_each,
    reflection,
    result,
    summary,
    user,
    working,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

SUMS = """
    WITH answers AS (
        SELECT *, lag((role, input_tokens, output_tokens, cache_read, cache_write, cost,
                       model))
                  OVER (PARTITION BY session_id ORDER BY seq) AS before
        FROM read_parquet('{folder}/**/*.parquet')
    )
    SELECT sum(input_tokens)::BIGINT, sum(output_tokens)::BIGINT FROM answers
    WHERE role = 'assistant'
    AND (role, input_tokens, output_tokens, cache_read, cache_write, cost, model)
        IS DISTINCT FROM before
"""


# Rows


def test_row_of_a_user_message() -> None:
    """A message has its role, and its time from its id."""
    row = SessionRecordRow.of(user("hi", id=SOURCE, role="critic"))

    assert (row.id, row.record_type, row.role) == (SOURCE, "conversation", "critic")
    assert row.created_at == log.SessionId(SOURCE).timestamp_ms
    assert log.from_json(row.content) == user("hi", id=SOURCE, role="critic")


def test_row_of_an_answer() -> None:
    """An answer promotes model, tokens, provider, stop reason, cost and error."""
    usage = log.UsageReport(
        input=12,
        output=5,
        cache_read=2,
        cache_write=1,
        cost=log.UsageCosting(input=0.5, output=0.25),
    )
    record = assistant("x", error_detail="late")
    record = record.replace(message=record.message.replace(usage=usage))
    row = SessionRecordRow.of(record, session_id="s", seq=7)

    assert (row.role, row.model, row.provider) == ("assistant", "claude-x", "ANTHROPIC")
    assert (row.input_tokens, row.output_tokens) == (12, 5)
    assert (row.cache_read, row.cache_write, row.cost) == (2, 1, 0.75)
    assert (row.stop_reason, row.error) == ("Stop", "late")
    assert (row.session_id, row.seq) == ("s", 7)


def test_row_of_every_kind() -> None:
    """Each kind has its type, title and summary; what is no message has no role."""
    rows = [
        SessionRecordRow.of(record)
        for record in (
            called(),
            result(error_detail="gone"),
            working("a", "b"),
            observation(),
            reflection("c"),
            failed("r"),
            summary(7),
            log.Retracted(reason="no"),
        )
    ]

    assert [(row.role, row.title, row.summary) for row in rows] == [
        ("assistant", "read", None),
        ("tool", None, None),
        (None, "2 fact(s)", "a"),
        (None, "0 observation(s)", None),
        (None, "1 reflection(s)", "c"),
        (None, "failed_action", "ToolCall: tool_name=x, reason=r"),
        (None, "summary (7 msgs)", None),
        (None, None, "no"),
    ]
    assert [row.error for row in rows[1:6:4]] == [
        "gone",
        "ToolCall: tool_name=x, reason=r",
    ]


def test_rows_have_ids_and_times() -> None:
    """Every kind has an id, and a time wherever something tells it."""
    record = working("a", id=SOURCE, timestamp=MOMENT)
    row, silent = SessionRecordRow.of(record), SessionRecordRow.of(summary())

    assert (row.id, row.created_at) == (SOURCE, 1_700_000_000_123)
    assert len(silent.id) == 25
    assert silent.id == SessionRecordRow.of(summary()).id
    old = log.Retracted(reason="x", timestamp=log.Timestamp(-1))
    assert SessionRecordRow.of(old).created_at == 0


@pytest.mark.parametrize(
    ("number", "count"),
    [(0.5, 1), (1.5, 2), (2.5, 3), (2.4999, 2), (-3.0, 0), (1e18, 2**32 - 1)],
)
def test_tokens_are_whole(number: float, count: int) -> None:
    """Tokens are rounded half away from zero, within 32 bits."""
    assert SessionRecordRow.of(assistant(got=number)).input_tokens == count


# Batches


def test_batch_comes_back() -> None:
    """Records of every kind come back from a batch equal, one row each."""
    records = [*map(log.from_json, golden_lines()), *one_of_each()]
    batch = to_record_batch(records)

    assert batch.num_rows == len(records)
    assert from_record_batch(batch) == records
    assert from_record_batch(to_table(records)) == records


def test_nothing_comes_back() -> None:
    """No records are a batch without rows, with all columns."""
    batch = to_record_batch([])

    assert (batch.num_rows, from_record_batch(batch)) == (0, [])
    assert to_table([]).schema == batch.schema


def test_schema() -> None:
    """The columns of the design come first, with their types."""
    schema = to_record_batch([user()]).schema

    assert [(field.name, str(field.type)) for field in schema] == [
        ("id", "string"),
        ("record_type", "string"),
        ("role", "string"),
        ("title", "string"),
        ("summary", "string"),
        ("model", "string"),
        ("input_tokens", "uint32"),
        ("output_tokens", "uint32"),
        ("created_at", "uint64"),
        ("content", "large_string"),
        ("session_id", "string"),
        ("seq", "uint64"),
        ("provider", "string"),
        ("stop_reason", "string"),
        ("cache_read", "uint32"),
        ("cache_write", "uint32"),
        ("cost", "double"),
        ("error", "string"),
    ]


def test_sessions_can_be_told_apart() -> None:
    """Entries of a log bring their session and place; records are told it."""
    session = SessionLog(MemoryDocumentStore(), "s-1")
    name = session.append(summary())
    batch = to_record_batch(session.entries())

    assert batch.column("session_id").to_pylist() == ["s-1"]
    assert batch.column("seq").to_pylist() == [1]
    assert batch.column("id").to_pylist() == [name]
    assert batch.column("created_at").to_pylist()[0] > 0
    given = to_record_batch([user()], session_id="s-2")
    assert given.column("session_id").to_pylist() == ["s-2"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "a dict is neither a record batch nor a table"),
        (pa.table({"x": [1]}), "there is no column 'content'"),
        (pa.table({"content": [1]}), "the row has no text in 'content'"),
        (pa.table({"content": pa.array([None], "string")}), "no text in 'content'"),
    ],
)
def test_other_tables_are_refused(table: Any, message: str) -> None:
    """A table that holds no session records is told so."""
    with pytest.raises(ArrowError, match=f"arrow serialization: .*{message}"):
        from_record_batch(table)


def test_broken_row() -> None:
    """A row that holds no record is an error of its JSON."""
    with pytest.raises(JsonError, match="json serialization: "):
        from_record_batch(pa.table({"content": ["{"]}))


# Sums


def turns() -> list[log.SessionRecord]:
    """Return records in which a turn has several messages and summaries add up."""
    turn = [assistant("hm", got=12, gave=5), assistant("x", got=12, gave=5)]
    return [
        user(),
        *turn,
        result(),
        assistant("y", got=12, gave=5),
        summary(got=24, gave=10),
        user(),
        assistant("z", got=5, gave=5),
        summary(got=29, gave=15),
    ]


def test_turns_are_counted_once() -> None:
    """Messages of one turn share a usage, and summaries repeat it: counted once."""
    rows = [SessionRecordRow.of(record) for record in turns()]
    batch = to_record_batch(turns())

    for table in (rows, batch, to_table(turns()), [batch]):
        assert (sum_input_tokens(table), sum_output_tokens(table)) == (29, 15)


def test_sums_of_two_answers() -> None:
    """Two different answers and a summary without tokens sum up to the answers'."""
    records: list[log.SessionRecord] = [
        user(),
        assistant(got=12),
        assistant(got=5),
        summary(got=0, gave=0),
    ]
    rows = [SessionRecordRow.of(record) for record in records]

    assert (sum_input_tokens(rows), sum_output_tokens(rows)) == (17, 10)


def test_sessions_are_counted_apart() -> None:
    """Answers of two sessions that alternate are turns of their own."""
    rows = [
        SessionRecordRow.of(assistant(), session_id=session)
        for session in ("a", "b", "a", "b")
    ]

    assert sum_input_tokens(rows) == 24


def test_filter_by_type() -> None:
    """Rows of one kind are picked in order; of an unknown kind there are none."""
    records: list[log.SessionRecord] = [user("a"), summary(), user("b")]
    rows = [SessionRecordRow.of(record) for record in records]
    batch = to_record_batch(records)

    for kind, count in {"conversation": 2, "summary": 1, "observation": 0}.items():
        assert len(filter_by_type(rows, kind)) == count
        assert filter_by_type(batch, kind).num_rows == count
    assert from_record_batch(filter_by_type(batch, "conversation")) == records[::2]


# Parquet


def logged(session_id: str, records: list[log.SessionRecord]) -> list[Entry]:
    """Return the entries of a log."""
    session = SessionLog(MemoryDocumentStore(), session_id)
    for record in records:
        session.append(record)
    return list(session.entries())


def restored(path: str | Path) -> list[log.SessionRecord]:
    """Return the records of Parquet files."""
    return [r for batch in read_parquet(path) for r in from_record_batch(batch)]


def test_files_come_back(tmp_path: Path) -> None:
    """What was exported comes back equal, sessions in folders of their own."""
    told: list[int] = []
    entries = logged("a", one_of_each()) + logged("b/é", turns())
    exported = write_parquet(entries, tmp_path / "out", progress=told.append)

    assert restored(tmp_path / "out") == [*(entry.record for entry in entries)]
    assert (exported.rows, told) == (len(entries), [len(entries)])
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "session=a",
        "session=b%2F%C3%A9",
    ]


def test_memory_file_system() -> None:
    """Whatever fsspec reaches can be written to and read from."""
    write_parquet(logged("a", turns()), "memory://exports/one", partition_by=())
    try:
        assert len(restored("memory://exports/one")) == 9
        assert fsspec.filesystem("memory").ls("/exports/one", detail=False) == [
            "/exports/one/part-00000.parquet"
        ]
    finally:
        fsspec.filesystem("memory").rm("/exports", recursive=True)


def test_dates_are_partitions(tmp_path: Path) -> None:
    """Days in UTC can be folders too."""
    records = [
        log.Retracted(reason="x", timestamp=log.Timestamp(day * 86_400 * 10**9))
        for day in (0, 0, 1)
    ]
    write_parquet(records, tmp_path, session_id="s", partition_by=("date", "session"))

    assert sorted(
        str(p.relative_to(tmp_path).parent) for p in tmp_path.rglob("*.parquet")
    ) == [
        "date=1970-01-01/session=s",
        "date=1970-01-02/session=s",
    ]
    assert sorted(map(log.to_json, restored(tmp_path))) == sorted(
        map(log.to_json, records)
    )


def test_many_sessions_need_few_files_open(tmp_path: Path) -> None:
    """A hundred sessions, record by record in turn, come back whole."""
    entries = [
        Entry(
            session_id=f"s{n % 100}",
            seq=n + 1,
            id=f"{n}",
            record=user(str(n), id=f"{n}"),
        )
        for n in range(1000)
    ]
    write_parquet(entries, tmp_path)

    assert sorted(log.id_of(r) or "" for r in restored(tmp_path)) == sorted(
        e.id for e in entries
    )


def test_empty_export(tmp_path: Path) -> None:
    """An export of nothing is a file without rows."""
    write_parquet([], tmp_path)

    assert restored(tmp_path) == []


def test_full_folder_is_refused(tmp_path: Path) -> None:
    """A second export does not mix with the first."""
    write_parquet([user()], tmp_path)
    with pytest.raises(StorageError, match="holds Parquet files already"):
        write_parquet([user()], tmp_path)


def test_failed_export_leaves_nothing(tmp_path: Path) -> None:
    """An export that breaks off does not look like a whole one."""
    records = [user(), user("\ud800")]
    with pytest.raises(JsonError, match="can't be written"):
        write_parquet(records, tmp_path)

    assert list(tmp_path.rglob("*.parquet")) == []


def test_what_can_not_be_read(tmp_path: Path) -> None:
    """A folder without files and a file of another kind are told apart."""
    with pytest.raises(StorageError, match="no Parquet files"):
        list(read_parquet(tmp_path))
    (tmp_path / "x.parquet").write_bytes(b"not one" * 10)
    with pytest.raises(ArrowError, match="arrow serialization: Parquet magic"):
        list(read_parquet(tmp_path))
    with pytest.raises(StorageError, match="could not write Parquet files"):
        write_parquet([user()], tmp_path / "x.parquet" / "below")


def test_unknown_partition(tmp_path: Path) -> None:
    """A partition that there is not is refused."""
    with pytest.raises(InvalidValueError, match="there is no partition 'model'"):
        write_parquet([user()], tmp_path, partition_by=("model",))


def test_duckdb_and_polars_read_the_files(tmp_path: Path) -> None:
    """Both read the files as they are, and sum up to the same."""
    entries = logged("a", turns()) + logged("b", turns())
    write_parquet(entries, tmp_path)
    with duckdb.connect() as connection:
        sums = connection.execute(SUMS.format(folder=tmp_path)).fetchone()
    frame = pl.scan_parquet(f"{tmp_path}/**/*.parquet").collect()

    assert sums == (58, 30)
    assert sum_input_tokens(read_parquet(tmp_path)) == 58
    assert frame.height == len(entries)
    assert frame["session_id"].unique().sort().to_list() == ["a", "b"]
    assert frame.filter(pl.col("record_type") == "summary").height == 4


# Size


def stream(count: int) -> Iterator[log.SessionRecord]:
    """Yield records as a long session has them."""
    for number in range(count // 4):
        yield user(f"question {number}")
        yield assistant(f"answer {number}", got=number % 97 + 1, gave=3)
        yield called(f"t{number}", path="a.txt")
        yield result(f"t{number}")


def export(folder: Path, count: int) -> dict[str, float]:
    """Append, export and read back, compare, and return seconds and peak memory."""
    figures: dict[str, float] = {}
    start = time.monotonic()

    def lap(name: str) -> None:
        nonlocal start
        figures[name], start = time.monotonic() - start, time.monotonic()

    with (
        SqliteDocumentStore(folder / "log.db") as store,
        SessionLog(store, "s", flush_at=1000) as session,
    ):
        for record in stream(count):
            session.append(record)
        session.flush()
        lap("append")
        assert len(session.recent(10)) == 10
        lap("recent(10)")
        write_parquet(session.entries(), folder / "out")
        lap("export")
        entries = session.entries()
        for batch in read_parquet(folder / "out"):
            for record in from_record_batch(batch):
                assert record == next(entries).record
        assert next(entries, None) is None
        lap("read back and compare")
    sums = (
        sum_input_tokens(read_parquet(folder / "out")),
        sum_output_tokens(read_parquet(folder / "out")),
    )
    lap("sum")
    # What DuckDB takes for its window function is its own.
    figures["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    with duckdb.connect() as connection:
        assert connection.execute(SUMS.format(folder=folder / "out")).fetchone() == sums
    return figures


def test_export_of_a_log(tmp_path: Path) -> None:
    """A long log is exported and comes back equal; its sums are those of DuckDB."""
    assert list(export(tmp_path, 4000)) == [
        "append",
        "recent(10)",
        "export",
        "read back and compare",
        "sum",
        "peak",
    ]


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="needs getrusage")
def test_export_of_a_million(tmp_path: Path) -> None:
    """A million records take no more memory than a tenth of them."""
    figures: dict[str, dict[str, float]] = {}
    for name, count in {"tenth": 100_000, "million": 1_000_000}.items():
        (tmp_path / name).mkdir()
        figures[name] = export(tmp_path / name, count)
    for name, value in figures["million"].items():
        unit = "MB" if name == "peak" else "s"
        sys.stdout.write(f"{name}: {value:.4f} {unit}\n")
    sys.stdout.write(f"peak of a tenth: {figures['tenth']['peak']:.0f} MB\n")

    assert figures["million"]["peak"] < figures["tenth"]["peak"] * 1.5
