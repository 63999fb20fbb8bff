"""What an S3 server, botocore and the network say, as errors of the builtins.

Their texts are never passed on: they hold endpoints, account names and request ids.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from errno import EACCES, ECONNABORTED, EIO, ENOENT
from typing import Final, cast

from graphcodec_resolvers._backends import ErasedError

_CODE = re.compile(r"[A-Za-z.]{1,64}")
_BUSY_STATUS = frozenset({429, 500, 502, 503, 504})
_BUSY = frozenset(
    {
        "InternalError",
        "RequestLimitExceeded",
        "RequestTimeout",
        "RequestTimeoutException",
        "ServiceUnavailable",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
    }
)
_EXPIRED = frozenset({"ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"})
_CHANGED = frozenset({409, 412})
_DENIED = frozenset({401, 403})
_GONE = frozenset({404, 410})
_VERSION_IS_GONE = frozenset({"NoSuchVersion", "MethodNotAllowed"})


class TransientError(OSError):
    """Something that may be over soon.

    Attributes:
        pause: How many seconds the server wants to be left alone, if it said so.
    """

    pause: float = 0.0


class ExpiredError(PermissionError):
    """The credentials were good once."""


class ConditionError(OSError):
    """What a write or read insisted on does not hold."""


class UnsupportedError(OSError):
    """The server does not know what it was asked for."""


class BeyondError(OSError):
    """A range begins behind the end."""


_OTHERS: Final[Mapping[int, type[OSError]]] = {416: BeyondError, 501: UnsupportedError}


def translated(error: Exception) -> Exception:
    """Return the builtin error that stands for *error*, or itself if it is a bug.

    Args:
        error: What s3fs, botocore or aiohttp raised.
    """
    for candidate in (error, error.__cause__):
        response = getattr(candidate, "response", None)
        if isinstance(response, Mapping):
            return _answered(cast("Mapping[str, Mapping[str, object]]", response))
    return _unanswered(error)


def _answered(response: Mapping[str, Mapping[str, object]]) -> OSError:
    meta = response.get("ResponseMetadata", {})
    status = meta.get("HTTPStatusCode")
    code = str(response.get("Error", {}).get("Code", ""))
    said = code if _CODE.fullmatch(code) else f"status {status}"
    text = f"the server answered with {said}"
    if status in _BUSY_STATUS or code in _BUSY:
        return _busy(text, meta)
    if code in _EXPIRED or (status == 400 and code == "400"):  # noqa: PLR2004 - HTTP
        # An answer to HEAD has no body, and so no code for what is wrong.
        return ExpiredError(EACCES, f"the credentials were not accepted ({said})")
    if code in _VERSION_IS_GONE:
        return ErasedError(ENOENT, text)
    if status in _GONE:
        return FileNotFoundError(ENOENT, text)
    if status in _DENIED:
        return PermissionError(EACCES, f"the server does not let us ({said})")
    if status in _CHANGED:
        return ConditionError(EIO, f"it was changed ({said})")
    return _OTHERS.get(cast("int", status), OSError)(EIO, text)


def _busy(text: str, meta: Mapping[str, object]) -> TransientError:
    error = TransientError(EIO, text)
    headers = cast("Mapping[str, str]", meta.get("HTTPHeaders", {}))
    seconds = headers.get("retry-after", "")
    if seconds.isascii() and seconds.isdigit():
        error.pause = float(seconds)
    return error


def _unanswered(error: Exception) -> Exception:
    boto = importlib.import_module("botocore.exceptions")
    if isinstance(error, boto.SSLError):
        return OSError(EIO, "the server has no certificate that we trust")
    if isinstance(error, boto.NoCredentialsError | boto.PartialCredentialsError):
        return PermissionError(EACCES, "no credentials were found")
    if isinstance(error, _broken()):
        return TransientError(ECONNABORTED, "the server can't be reached, or hung up")
    if isinstance(error, boto.BotoCoreError):
        return OSError(EIO, f"{type(error).__name__} of botocore")
    return error


def _broken() -> tuple[type[Exception], ...]:
    boto = importlib.import_module("botocore.exceptions")
    parsers = importlib.import_module("botocore.parsers")
    aiohttp = importlib.import_module("aiohttp")
    found = (
        *(boto.ConnectionError, boto.HTTPClientError, boto.IncompleteReadError),
        *(parsers.ResponseParserError, aiohttp.ClientError),
        *(ConnectionError, TimeoutError, EOFError),
    )
    return cast("tuple[type[Exception], ...]", found)
