"""What may be opened over HTTP, how far, and what is sent to whom."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from attrs import field, frozen

from graphcodec.errors import InvalidValueError
from graphcodec_resolvers._urls import ascii_host, origin_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OURS = frozenset(
    {"accept-encoding", "connection", "host", "if-range", "range", "te", "upgrade"}
)


@frozen(kw_only=True)
class Policy:
    """The rules of one resolver.

    Attributes:
        hosts: The hosts that may be asked, as ``example.org`` or, with all below it,
            ``.example.org``; None for every public one.
        schemes: The schemes that may be used.
        allow_private: Whether addresses that are not public may be used.
        max_bytes: How many bytes one open or range may receive.
        timeout: How long one open or range may wait for the network, in seconds.
        headers: What is sent to an origin, by origin.

    Raises:
        InvalidValueError: If a number is out of range.
    """

    hosts: frozenset[str] | None
    schemes: frozenset[str]
    allow_private: bool
    max_bytes: int
    timeout: float
    headers: Mapping[str, Mapping[str, str]] = field(repr=False)

    def __attrs_post_init__(self) -> None:
        if self.max_bytes < 0:
            raise InvalidValueError("max_bytes: must be a number of bytes")
        if not self.timeout > 0:
            raise InvalidValueError("timeout: must be more than 0 seconds")

    def allows_host(self, host: str) -> bool:
        """Say whether a host is on the list, if there is one.

        Args:
            host: A name in small ASCII letters, or an address.
        """
        if self.hosts is None:
            return True
        name = host.removesuffix(".")
        parents = (name[at:] for at, letter in enumerate(name) if letter == ".")
        return name in self.hosts or any(parent in self.hosts for parent in parents)


def host_list(hosts: Iterable[str] | None) -> frozenset[str] | None:
    """Return *hosts* in the form in which they are compared.

    Args:
        hosts: Names and addresses; None for no list.

    Raises:
        InvalidValueError: If one is a URL or holds a port.
    """
    if hosts is None:
        return None
    if isinstance(hosts, str):
        raise InvalidValueError("hosts: must be several, such as ['example.org']")
    names = frozenset(ascii_host(host) for host in hosts)
    for name in names:
        if not name or any(mark in name for mark in "/@?#"):
            msg = f"hosts: {name[:40]!r} is not like 'example.org' or '.example.org'"
            raise InvalidValueError(msg)
    return names


def scheme_set(schemes: Iterable[str]) -> frozenset[str]:
    """Return *schemes* if they are some of those that there are.

    Args:
        schemes: ``http``, ``https`` or both.

    Raises:
        InvalidValueError: If one is another.
    """
    found = frozenset((schemes,) if isinstance(schemes, str) else schemes)
    if not found or not found <= {"http", "https"}:
        raise InvalidValueError("schemes: must be 'https', 'http' or both")
    return found


def by_origin(
    headers: Mapping[str, Mapping[str, str]],
) -> dict[str, dict[str, str]]:
    """Return *headers* under the normal form of their origins.

    Args:
        headers: For each origin, the headers for it.

    Raises:
        InvalidValueError: If an origin is none, or a header can't be sent. Values are
            not shown.
    """
    return {_origin(url): _checked(fields) for url, fields in headers.items()}


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
        origin = origin_of(url)
    except ValueError:
        parts, origin = urlsplit(""), ""
    bare = parts.path in {"", "/"} and not (parts.query or parts.fragment)
    if parts.scheme not in {"http", "https"} or "@" in parts.netloc or not bare:
        msg = "headers: a key must be an origin such as 'https://api.example.org'"
        raise InvalidValueError(msg)
    return origin


def _checked(fields: Mapping[str, str]) -> dict[str, str]:
    for name, value in fields.items():
        if not _NAME.fullmatch(name) or name.casefold() in _OURS:
            msg = f"headers: {name[:40]!r} is not a header that can be set"
            raise InvalidValueError(msg)
        if not value.isascii() or not value.isprintable() or value != value.strip():
            msg = f"headers: the value of {name[:40]!r} must be printable ASCII"
            msg += ", without spaces around it"
            raise InvalidValueError(msg)
    return dict(fields)
