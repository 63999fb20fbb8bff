"""Points in time with nanoseconds, as session records bear them."""

import functools
import time
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Final, Self, cast

from attrs import field, frozen

from graphcodec.errors import InvalidValueError
from graphcodec.primitives._base import Primitive
from graphcodec.primitives._checks import checked, hinted

__all__ = ["Timestamp", "to_optional_timestamp", "to_timestamp"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST: Final = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
_LAST: Final = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
_BOUNDS: Final = {
    "graphcodec_bounds": (
        f"{-(10**9) << 63} <= v < {10**9 << 64}",
        "an int of nanoseconds, of at most 2**64 seconds",
    )
}


@checked
@functools.total_ordering
@frozen(eq=False, repr=False)
class Timestamp(Primitive):
    """A point in time, exact to the nanosecond, which a datetime is not.

    Attributes:
        nanoseconds: Since 1970 in UTC; negative before.
    """

    __graphcodec_tag__: ClassVar[str] = "log:Timestamp"

    nanoseconds: int = field(
        metadata={**_BOUNDS, **hinted("make one of a datetime: Timestamp.of(moment)")}
    )

    @classmethod
    def now(cls) -> Self:
        """Return the present."""
        return cls(time.time_ns())

    @classmethod
    def of(cls, moment: datetime) -> Self:
        """Return the point in time of an aware datetime.

        Args:
            moment: The datetime.

        Raises:
            InvalidValueError: If it does not say in which time zone it is.
        """
        if moment.utcoffset() is None:
            msg = "a timestamp can't be made of a naive datetime"
            hint = "say which time zone it is in: datetime.now(timezone.utc)"
            raise InvalidValueError(msg, hint=hint, type_name="Timestamp")
        return cls((moment - _EPOCH) // timedelta(microseconds=1) * 1000)

    @property
    def datetime(self) -> datetime:
        """The same in UTC, cut to microseconds; the nearest one if there is none."""
        microseconds = min(max(self.nanoseconds // 1000, _FIRST), _LAST)
        return _EPOCH + timedelta(microseconds=microseconds)

    @property
    def milliseconds(self) -> int:
        """The same in milliseconds since 1970, cut."""
        return self.nanoseconds // 1_000_000

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Timestamp):
            return NotImplemented
        return self.nanoseconds < other.nanoseconds

    def __hash__(self) -> int:
        return hash(self.nanoseconds)

    def _summary(self) -> str:
        return self.datetime.isoformat()


def to_timestamp(value: datetime | Timestamp) -> Timestamp:
    """Turn an aware datetime into a `Timestamp`."""
    if isinstance(value, datetime) and value.utcoffset() is not None:
        return Timestamp.of(value)
    return cast("Timestamp", value)


def to_optional_timestamp(value: datetime | Timestamp | None) -> Timestamp | None:
    """Do what `to_timestamp` does, and leave None."""
    return None if value is None else to_timestamp(value)
