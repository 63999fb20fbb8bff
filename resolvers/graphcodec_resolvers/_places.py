"""Places: how errors name a handle, and how foreign errors become ours."""

from __future__ import annotations

from contextlib import contextmanager
from errno import ESTALE
from typing import TYPE_CHECKING, Final, TypeVar

from attrs import frozen

from graphcodec.errors import (
    GraphCodecError,
    HandleError,
    HandleNotFoundError,
    ResolverDeniedError,
    StaleHandleError,
)
from graphcodec_resolvers._backends import ErasedError

if TYPE_CHECKING:
    from collections.abc import Generator

E = TypeVar("E", bound=GraphCodecError)

_EXTRAS: Final = {"s3fs": "'graphcodec[s3]'"}
_STALE_HINT = "the bytes were changed since the handle was made: make a new handle"


@frozen
class Place:
    """Where a handle points, as far as an error or a log may say it.

    Attributes:
        alias: The alias of the store, or the origin of the server.
        text: The alias and the key, or the URL without its query.
    """

    alias: str
    text: str

    def error(
        self,
        kind: type[E],
        reason: str,
        *,
        hint: str = "",
        limit: str | None = None,
        value: object = None,
    ) -> E:
        """Return an error that says *reason* and this place.

        Args:
            kind: The class of the error.
            reason: What went wrong.
            hint: What to do about it.
            limit: The name of the limit that was broken, if one was.
            value: The number or excerpt that was refused, if one was.
        """
        msg = f"{reason} ({self.text})"
        return kind(msg, hint=hint, alias=self.alias, limit=limit, value=value)

    def stale(self, reason: str) -> StaleHandleError:
        """Return the error for bytes that are not those that were pinned.

        Args:
            reason: Which pin does not hold any more.
        """
        return self.error(StaleHandleError, reason, hint=_STALE_HINT)

    @contextmanager
    def mapped(self, failure: type[GraphCodecError] = HandleError) -> Generator[None]:
        """Turn what the system, fsspec or an import raises inside into our errors.

        The original is not chained: its text may hold paths, endpoints and signatures.

        Args:
            failure: The class for what has no better one.
        """
        try:
            yield
        except GraphCodecError:
            raise
        except ErasedError:
            reason = "the version that was pinned was erased"
            raise self.error(HandleNotFoundError, reason) from None
        except (FileNotFoundError, NotADirectoryError):
            raise self.error(HandleNotFoundError, "nothing is there") from None
        except (PermissionError, IsADirectoryError) as exc:
            raise self.error(ResolverDeniedError, _why(exc)) from None
        except ImportError as exc:
            hint = f"pip install {_installed(exc.name)}"
            raise self.error(failure, "a package is missing", hint=hint) from None
        except (OSError, EOFError, NotImplementedError) as exc:
            if getattr(exc, "errno", None) == ESTALE:
                raise self.stale(_why(exc)) from None
            raise self.error(failure, _why(exc)) from None


def _installed(missing: str | None) -> str:
    return _EXTRAS.get(missing or "", missing or "the package that reads it")


def _why(exc: BaseException) -> str:
    text = exc.strerror if isinstance(exc, OSError) else None
    return text or type(exc).__name__
