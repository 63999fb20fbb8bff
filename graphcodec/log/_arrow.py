"""Records as Arrow tables, and back."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# pyarrow is without annotations.

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import islice
from typing import Any, Final, TypeVar, cast

import attrs

from graphcodec._extras import from_extra
from graphcodec.errors import ArrowError
from graphcodec.log._json import from_json
from graphcodec.log._reading import Entry
from graphcodec.log._records import SessionRecord
from graphcodec.log._rows import SessionRecordRow

__all__ = [
    "Exportable",
    "arrow",
    "batches_of",
    "filter_by_type",
    "from_record_batch",
    "schema",
    "sum_input_tokens",
    "sum_output_tokens",
    "to_record_batch",
    "to_table",
    "turn_tokens",
]

T = TypeVar("T")
Exportable = SessionRecord | Entry

PREFIX: Final = "arrow serialization: "
"""What the message of an `ArrowError` begins with."""

_ROWS: Final = 10_000
_FIELDS: Final = tuple(field.name for field in attrs.fields(SessionRecordRow))
_TYPES: Final = {
    "input_tokens": "uint32",
    "output_tokens": "uint32",
    "created_at": "uint64",
    "content": "large_string",
    "seq": "uint64",
    "cache_read": "uint32",
    "cache_write": "uint32",
    "cost": "float64",
}
_REQUIRED: Final = ("id", "record_type", "created_at", "content")


def arrow(module: str = "pyarrow") -> Any:
    """Return pyarrow, or a module of it.

    Args:
        module: Which.

    Raises:
        ModuleNotFoundError: If it is not installed.
    """
    with from_extra("arrow", "Arrow tables need pyarrow"):
        return import_module(module)


def schema() -> Any:
    """Return the Arrow schema of the rows; see `SessionRecordRow`."""
    pa = arrow()
    fields = [
        pa.field(
            name,
            getattr(pa, _TYPES.get(name, "string"))(),
            nullable=name not in _REQUIRED,
        )
        for name in _FIELDS
    ]
    return pa.schema(fields, metadata={"graphcodec.log": "1"})


def to_record_batch(
    records: Iterable[Exportable], *, session_id: str | None = None
) -> Any:
    """Return a ``pyarrow.RecordBatch`` with one row for each record.

    Args:
        records: Records, or entries of a log, which also know session and place.
        session_id: The session of records that don't know it.

    Raises:
        JsonError: If a record can't be written.
        ModuleNotFoundError: If pyarrow is not installed.
    """
    rows = [_row(record, session_id) for record in records]
    columns = {name: [getattr(row, name) for row in rows] for name in _FIELDS}
    return arrow().RecordBatch.from_pydict(columns, schema=schema())


def _row(record: Exportable, session_id: str | None) -> SessionRecordRow:
    if isinstance(record, Entry):
        return SessionRecordRow.of(
            record.record, id=record.id, session_id=record.session_id, seq=record.seq
        )
    return SessionRecordRow.of(record, session_id=session_id)


def batches_of(
    records: Iterable[Exportable], *, session_id: str | None = None, rows: int = _ROWS
) -> Iterator[Any]:
    """Yield record batches of bounded size.

    Args:
        records: See `to_record_batch`.
        session_id: See `to_record_batch`.
        rows: The most rows of one.
    """
    left = iter(records)
    while chunk := list(islice(left, rows)):
        yield to_record_batch(chunk, session_id=session_id)


def to_table(records: Iterable[Exportable], *, session_id: str | None = None) -> Any:
    """Return a ``pyarrow.Table`` with one row for each record, in chunks.

    Args:
        records: See `to_record_batch`.
        session_id: See `to_record_batch`.

    Raises:
        JsonError: If a record can't be written.
        ModuleNotFoundError: If pyarrow is not installed.
    """
    batches = list(batches_of(records, session_id=session_id))
    return arrow().Table.from_batches(batches, schema=schema())


def from_record_batch(batch: Any) -> list[SessionRecord]:
    """Return the records of a record batch or table, as they were.

    Only the columns ``content`` and ``id`` are read.

    Args:
        batch: What `to_record_batch` or `to_table` gave, with other columns perhaps.

    Raises:
        ArrowError: If it does not hold session records.
        JsonError: If one of its rows holds none.
    """
    contents = _column(batch, "content")
    known = "id" in batch.schema.names
    names: list[Any] = _column(batch, "id") if known else [None] * len(contents)
    return [
        from_json(_text(content, row), id=name if isinstance(name, str) else None)
        for row, (content, name) in enumerate(zip(contents, names, strict=True))
    ]


def _text(content: object, row: int) -> str:
    if isinstance(content, str):
        return content
    msg = f"{PREFIX}the row has no text in 'content'"
    raise ArrowError(msg, path=f"$[{row}].content")


def _column(batch: Any, name: str) -> list[Any]:
    known = getattr(getattr(batch, "schema", None), "names", None)
    if known is None:
        msg = f"{PREFIX}a {type(batch).__name__} is neither a record batch nor a table"
        raise ArrowError(msg, type_name=type(batch).__name__)
    if name not in known:
        msg = f"{PREFIX}there is no column {name!r}"
        raise ArrowError(msg, hint="session records are what to_record_batch makes")
    return cast("list[Any]", batch.column(name).to_pylist())


# Sums


def sum_input_tokens(rows: Any) -> int:
    """Return how many tokens models read, each turn counted once.

    All messages of one turn bear the usage of the turn, and a summary that of the whole
    session: neither is added again. A turn is a run of assistant messages of one
    session with equal usage.

    Args:
        rows: Rows in the order of the log, a record batch, a table, or several batches.

    Raises:
        ArrowError: If a batch lacks a column.
    """
    return sum(turn[0] for turn in turn_tokens(rows))


def sum_output_tokens(rows: Any) -> int:
    """Return how many tokens models wrote, each turn counted once.

    Args:
        rows: See `sum_input_tokens`.

    Raises:
        ArrowError: If a batch lacks a column.
    """
    return sum(turn[1] for turn in turn_tokens(rows))


_USAGE: Final = (
    "input_tokens",
    "output_tokens",
    "cache_read",
    "cache_write",
    "cost",
    "model",
)


def turn_tokens(rows: Any) -> Iterator[tuple[int, int]]:
    """Yield the tokens of each turn."""
    last: dict[object, tuple[object, ...] | None] = {}
    for session, role, *usage in _usages(rows):
        found = tuple(usage) if role == "assistant" else None
        if found is not None and found != last.get(session):
            yield cast("int", found[0]) or 0, cast("int", found[1]) or 0
        last[session] = found


def _usages(rows: Any) -> Iterator[tuple[object, ...]]:
    names = ("session_id", "role", *_USAGE)
    tables = [rows] if hasattr(rows, "schema") else rows
    for part in tables:
        if isinstance(part, SessionRecordRow):
            yield tuple(getattr(part, name) for name in names)
        else:
            yield from zip(*(_column(part, name) for name in names), strict=True)


def filter_by_type(rows: T, record_type: str) -> T:
    """Return the rows of one kind, in order.

    Args:
        rows: A list of rows, a record batch or a table.
        record_type: The kind, such as ``observation``.

    Raises:
        ArrowError: If a batch lacks the column.
    """
    if isinstance(rows, list):
        return cast("T", [row for row in rows if row.record_type == record_type])
    kinds = _column(rows, "record_type")
    mask = arrow().array([kind == record_type for kind in kinds], "bool")
    return cast("T", cast("Any", rows).filter(mask))
