"""URLs: which of them carry a secret, and how one may be shown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_plus, urlsplit

if TYPE_CHECKING:
    import httpx

MAX_URL = 8192
"""The longest URL, in characters."""

_SHOWN = 120

_SECRETS: Final = frozenset(
    {
        "access_token",
        "accesstoken",
        "api-key",
        "api_key",
        "apikey",
        "auth",
        "auth_token",
        "authorization",
        "awsaccesskeyid",
        "client_secret",
        "credential",
        "googleaccessid",
        "hdnea",
        "hdnts",
        "hmac",
        "id_token",
        "jwt",
        "key-pair-id",
        "ossaccesskeyid",
        "passwd",
        "password",
        "policy",
        "private_token",
        "pwd",
        "q-ak",
        "refresh_token",
        "sas",
        "secret",
        "session",
        "session_token",
        "sessionid",
        "sig",
        "token",
        "x-api-key",
        "x-auth-token",
    }
)
_PREFIXES: Final = ("x-amz-", "x-goog-", "x-oss-", "x-cos-", "x-obs-")
_GOOGLE_KEY = re.compile(r"AIza[\w-]{20,}")


def carried_secret(url: str) -> str | None:
    """Say what in *url* lets everybody in who reads it, or None if nothing does.

    Args:
        url: Any text; what is no URL carries nothing.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if "@" in parts.netloc:
        return "a user name or password"
    for pair in re.split("[&;]", f"{parts.query}&{parts.fragment}"):
        name, _, value = pair.partition("=")
        if _is_secret(unquote_plus(name).strip().casefold(), value):
            return "a signature or token in its query"
    return None


def _is_secret(name: str, value: str) -> bool:
    return (
        name in _SECRETS
        or "signature" in name
        or name.startswith(_PREFIXES)
        or _GOOGLE_KEY.match(value) is not None
    )


def shown_url(url: str) -> str:
    """Return scheme, host and path of *url*: no user, no query, and not at length.

    Args:
        url: Any text.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return "an unreadable URL"
    host = parts.netloc.rpartition("@")[2]
    text = f"{parts.scheme}://{host}{parts.path}"
    text = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def origin_of(url: str) -> str:
    """Return scheme and host of *url*, in small letters; the port if it is not usual.

    Args:
        url: A URL that can be parsed.

    Raises:
        ValueError: If the port is no number.
    """
    parts = urlsplit(url)
    host = ascii_host(parts.hostname or "")
    host = f"[{host}]" if ":" in host else host
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    port = "" if parts.port in {None, usual} else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}"


def port_of(url: httpx.URL) -> int:
    """Return the port that *url* leads to.

    Args:
        url: A URL of http or https.
    """
    if url.port is not None:
        return url.port
    return 443 if url.scheme == "https" else 80


def ascii_host(host: str) -> str:
    """Return *host* as it goes over the network: small letters, no final dot.

    Args:
        host: A name, in any script, or an address.
    """
    name = host.casefold().removesuffix(".")
    if name.isascii():
        return name
    try:
        return name.encode("idna").decode("ascii")
    except UnicodeError:
        return name
