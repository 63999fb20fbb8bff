from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest

from graphcodec.errors import InvalidValueError
from graphcodec.primitives import Message, ToolCall
from tests.primitives.builders import NOW, make

PARIS = ZoneInfo("Europe/Paris")


class PlainDatetime(datetime):
    """A subclass as test clocks have it."""


class FineDatetime(datetime):
    """A subclass that is finer than microseconds."""

    nanosecond = 7


class Unplaced(tzinfo):
    """A time zone that does not know its offset."""

    def utcoffset(self, dt: datetime | None, /) -> None:
        """Say that it is not known."""

    def dst(self, dt: datetime | None, /) -> None:
        """Say that it is not known."""

    def tzname(self, dt: datetime | None, /) -> None:
        """Say that it is not known."""


def test_fixed_offset_is_kept() -> None:
    """A datetime that is final stays the same object."""
    moment = datetime(2026, 5, 1, tzinfo=timezone(timedelta(hours=5, minutes=30)))

    assert make(Message, created_at=moment).created_at is moment


@pytest.mark.parametrize("month", [1, 7])
def test_zone_becomes_its_offset_of_that_day(month: int) -> None:
    """Summer and winter time have offsets of their own; the instant is the same."""
    moment = datetime(2026, month, 1, 12, 0, 0, 5, tzinfo=PARIS)
    kept = make(Message, created_at=moment).created_at

    assert type(kept.tzinfo) is timezone
    assert kept == moment
    assert kept.isoformat() == moment.isoformat()


@pytest.mark.parametrize("fold", [0, 1])
def test_fold_goes_into_the_offset(fold: int) -> None:
    """The hour that is there twice keeps its place in time."""
    moment = datetime(2026, 10, 25, 2, 30, tzinfo=PARIS, fold=fold)
    kept = make(Message, created_at=moment).created_at

    assert kept.timestamp() == moment.timestamp()
    assert kept.fold == 0


def test_fold_of_a_fixed_offset_is_dropped() -> None:
    """It means nothing there."""
    kept = make(Message, created_at=NOW.replace(fold=1)).created_at

    assert (kept, kept.fold) == (NOW, 0)


def test_offset_of_zero_is_utc() -> None:
    """The time zone UTC becomes the offset of that name."""
    moment = datetime(2026, 1, 1, tzinfo=ZoneInfo("UTC"))

    assert make(Message, created_at=moment).created_at.tzinfo is UTC


def test_subclass_becomes_a_plain_datetime() -> None:
    """Clocks that tests put in place of the real one are welcome."""
    moment = PlainDatetime(2026, 1, 1, tzinfo=UTC)
    kept = make(Message, created_at=moment).created_at

    assert type(kept) is datetime
    assert kept == moment


def test_nanoseconds_are_not_dropped() -> None:
    """A datetime that can't be kept whole is refused."""
    with pytest.raises(InvalidValueError, match="must be an aware datetime") as caught:
        make(Message, created_at=FineDatetime(2026, 1, 1, tzinfo=UTC))
    assert "a plain datetime" in caught.value.hint


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (datetime(2026, 1, 1), "say which time zone it is in"),  # noqa: DTZ001
        (datetime(2026, 1, 1, tzinfo=Unplaced()), "say which time zone it is in"),
        ("2026-01-01T00:00:00Z", "datetime.fromisoformat(text)"),
        (1_700_000_000, ""),
    ],
    ids=["naive", "unplaced", "text", "epoch"],
)
def test_what_names_no_instant_is_refused(value: object, hint: str) -> None:
    """Nothing is parsed or placed silently, but the hint says how to."""
    with pytest.raises(
        InvalidValueError, match=r"Message\.updated_at must be an aware datetime"
    ) as caught:
        make(Message, updated_at=value)
    assert hint in caught.value.hint


def test_optional_moments_are_converted_alike() -> None:
    """A completed_at has the same rules, and may be None."""
    moment = datetime(2026, 1, 1, tzinfo=PARIS)
    call = make(ToolCall, completed_at=moment)

    assert call.completed_at == moment
    assert call.completed_at is not moment
