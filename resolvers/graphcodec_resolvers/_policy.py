"""What may be opened over HTTP, how far, and what is sent to whom."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from typing import Final, cast
from urllib.parse import urlsplit

from attrs import field, frozen

from graphcodec.errors import InvalidValueError
from graphcodec_resolvers._urls import ascii_host, origin_of

_HOST: Final = re.compile(r"\.?[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?")
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OURS: Final = frozenset(
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
        InvalidValueError: If a number or a switch is none.
    """

    hosts: frozenset[str] | None
    schemes: frozenset[str]
    allow_private: bool
    max_bytes: int
    timeout: float
    headers: Mapping[str, Mapping[str, str]] = field(repr=False)

    def __attrs_post_init__(self) -> None:
        if type(self.max_bytes) is not int or self.max_bytes < 0:
            raise InvalidValueError("max_bytes: must be a number of bytes")
        if type(self.timeout) not in {int, float} or not self.timeout > 0:
            raise InvalidValueError("timeout: must be more than 0 seconds")
        # A setting such as "false" must not open the intranet.
        if type(self.allow_private) is not bool:
            raise InvalidValueError("allow_private: must be True or False")

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
        InvalidValueError: If one is no host: a URL, a pattern, or with a port.
    """
    if hosts is None:
        return None
    if isinstance(hosts, str) or not isinstance(cast("object", hosts), Iterable):
        raise InvalidValueError("hosts: must be several, such as ['example.org']")
    return frozenset(map(_host, hosts))


def _host(given: object) -> str:
    name = ascii_host(given) if isinstance(given, str) else ""
    if _HOST.fullmatch(name) or _is_address(name):
        return name
    # It would match nothing, and so deny what it was meant to allow.
    msg = f"hosts: {given!r:.40} is not like 'example.org' or '.example.org'"
    raise InvalidValueError(msg)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def scheme_set(schemes: Iterable[str]) -> frozenset[str]:
    """Return *schemes* if they are some of those that there are.

    Args:
        schemes: ``http``, ``https`` or both.

    Raises:
        InvalidValueError: If one is another.
    """
    several = isinstance(cast("object", schemes), Iterable)
    given = schemes if several and not isinstance(schemes, str) else (schemes,)
    found = frozenset(cast("Iterable[str]", given))
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
    if not isinstance(cast("object", headers), Mapping):
        raise InvalidValueError("headers: must map origins to headers")
    return {_origin(url): _checked(fields) for url, fields in headers.items()}


def _origin(url: str) -> str:
    try:
        url = url if isinstance(cast("object", url), str) else ""
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
    if not isinstance(cast("object", fields), Mapping):
        raise InvalidValueError("headers: each origin must have a mapping of headers")
    for name, value in fields.items():
        if not all(isinstance(cast("object", each), str) for each in (name, value)):
            raise InvalidValueError("headers: names and values must be texts")
        if not _NAME.fullmatch(name) or name.casefold() in _OURS:
            msg = f"headers: {name[:40]!r} is not a header that can be set"
            raise InvalidValueError(msg)
        if not value.isascii() or not value.isprintable() or value != value.strip():
            msg = f"headers: the value of {name[:40]!r} must be printable ASCII"
            msg += ", without spaces around it"
            raise InvalidValueError(msg)
    return dict(fields)
