"""Pins: what was known about bytes when their handle was made."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, TypedDict, cast

from attrs import asdict, frozen

from graphcodec.errors import UndecodableValueError
from graphcodec_resolvers._keys import shown

if TYPE_CHECKING:
    from graphcodec.readers import JSON

_SHA256 = re.compile(r"[0-9a-f]{64}")
_MAX_TEXT = 1024


class _Facts(TypedDict, total=False):
    size: int
    etag: str
    version: str
    mtime_ns: int
    sha256: str


@frozen(kw_only=True)
class Pins:
    """Facts that the bytes behind a handle must still have.

    Attributes:
        size: How many bytes there are.
        etag: The server's name for this upload; says nothing about the content.
        version: The version of the object, in a store that keeps versions.
        mtime_ns: When a local file was changed last, in nanoseconds.
        sha256: The only proof of the content, as 64 hexadecimal digits.
    """

    size: int | None = None
    etag: str | None = None
    version: str | None = None
    mtime_ns: int | None = None
    sha256: str | None = None

    def fields(self) -> dict[str, JSON]:
        """Return what is pinned, as fields of a locator."""
        facts = cast("dict[str, JSON]", asdict(self))
        return {name: value for name, value in facts.items() if value is not None}

    def mismatch(self, found: Pins) -> str | None:
        """Say which cheap fact differs in *found*, or None if none does.

        The hash is not compared: what is found has not been read yet.

        Args:
            found: What the store or server says now.
        """
        for name in ("size", "etag", "version", "mtime_ns"):
            pinned, now = getattr(self, name), getattr(found, name)
            if pinned is not None and pinned != now:
                return difference(name, pinned, now)
        return None


def difference(name: str, pinned: object, now: object) -> str:
    """Return the reason for which a handle is stale.

    Args:
        name: The name of the pin.
        pinned: What it was.
        now: What it is; None if that can't be told.
    """
    if now is None:
        return f"the {name} that was pinned can't be told any more"
    return f"the {name} was {shown(str(pinned))}, and is {shown(str(now))}"


def is_count(value: object) -> bool:
    """Say whether *value* is a whole number of bytes or nanoseconds."""
    return type(value) is int and 0 <= value < 1 << 63


def is_text(value: object) -> bool:
    """Say whether *value* is a str of a sane length that can be sent in a header."""
    return (
        isinstance(value, str)
        and 0 < len(value) <= _MAX_TEXT
        and value.isascii()
        and value.isprintable()
    )


def is_sha256(value: object) -> bool:
    """Say whether *value* is a SHA-256 in lower-case hexadecimal digits."""
    return isinstance(value, str) and _SHA256.fullmatch(value) is not None


Check = Callable[[object], bool]

PIN_CHECKS: Final[Mapping[str, Check]] = {
    "size": is_count,
    "etag": is_text,
    "version": is_text,
    "mtime_ns": is_count,
    "sha256": is_sha256,
}
"""What a locator may say in each field that is a pin."""


def check_locator(
    scheme: str, locator: Mapping[str, JSON], checks: Mapping[str, Check]
) -> None:
    """Refuse a locator with fields that nobody knows, or with odd values.

    Args:
        scheme: The scheme of the descriptor, for the error.
        locator: The locator, as it came from the wire.
        checks: The fields it may have, each with the test for its value.

    Raises:
        UndecodableValueError: If it has another field or a value that fails.
    """
    for name, value in locator.items():
        if name not in checks:
            msg = f"a locator of scheme {scheme!r} has no field {shown(name)}"
            hint = f"it may hold {', '.join(checks)}"
            raise UndecodableValueError(msg, hint=hint, tag=scheme)
        if not checks[name](value):
            msg = f"{type(value).__name__} value of locator field {name!r} is invalid"
            raise UndecodableValueError(msg, tag=scheme)


def pins_of(locator: Mapping[str, JSON]) -> Pins:
    """Return the pins of a locator that `check_locator` has let pass.

    Args:
        locator: The locator, as it came from the wire.
    """
    facts = {name: locator[name] for name in PIN_CHECKS if name in locator}
    return Pins(**cast("_Facts", facts))
