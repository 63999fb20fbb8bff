"""Exceptions of tasks, kept whole by Celery's result backends.

Celery keeps the class and the arguments of an exception. Beside them, under a key of
our own, lie the facts of our errors, causes and notes; whoever does not know the key
reads what Celery wrote.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# pyright: reportUntypedBaseClass=false
# Celery has no annotations.

from __future__ import annotations

from typing import Any, Final, cast

from attrs import frozen
from celery.app.backends import by_url
from kombu.exceptions import DecodeError, EncodeError

from graphcodec import errors
from graphcodec.errors import GraphCodecError

__all__ = ["WholeBackend"]

_KEY: Final = "graphcodec"
_FACTS: Final = (
    "message",
    "path",
    "hint",
    "tag",
    "type_name",
    "limit",
    "value",
    "alias",
)
_MOST_CAUSES: Final = 16


@frozen
class WholeBackend:
    """Makes the result backend of an app, with exceptions that keep what they say.

    Attributes:
        given: The class or name that the app had for it; None for what its settings
            say.
    """

    given: object

    def __call__(self, app: Any, url: str | None = None) -> Any:
        """Make it.

        Args:
            app: The app.
            url: Where it is, if the app knows.
        """
        cls, found = by_url(self.given or app.conf.result_backend, app.loader)
        whole: Any = type(cls.__name__, (_WholeErrors, cls), {"__module__": __name__})
        return whole(app=app, url=found or url)


class _WholeErrors:
    """What a result backend does differently."""

    def prepare_exception(self, exc: BaseException, serializer: Any = None) -> Any:
        """Return what is kept of an exception."""
        return self._kept(_inner(exc), serializer, _MOST_CAUSES)

    def _kept(self, exc: BaseException, serializer: Any, causes: int) -> Any:
        theirs: Any = super()
        kept: Any = theirs.prepare_exception(exc, serializer)
        if not isinstance(kept, dict):
            return kept
        if isinstance(exc, OSError) and not isinstance(exc, GraphCodecError):
            # The file is no part of the arguments, and taken as one.
            kept["exc_message"] = self._sendable(tuple(exc.__reduce__()[1]))
        ours: dict[str, Any] = {}
        if isinstance(exc, GraphCodecError):
            ours["facts"] = {
                name: self._sendable(value)
                for name in _FACTS
                if (value := getattr(exc, name, None)) not in (None, "")
            }
        if exc.__cause__ is not None and causes:
            ours["cause"] = self._kept(_inner(exc.__cause__), serializer, causes - 1)
        if notes := getattr(exc, "__notes__", None):
            ours["notes"] = [str(note) for note in notes]
        return {**kept, _KEY: ours} if ours else kept

    def _sendable(self, value: object) -> object:
        theirs = cast("Any", self)
        try:
            theirs.encode(value)
        except EncodeError:
            return repr(value)
        return value

    def exception_to_python(self, exc: Any) -> Any:
        """Return the exception of which this was kept."""
        return self._made(exc, _MOST_CAUSES)

    def _made(self, exc: Any, causes: int) -> Any:
        theirs: Any = super()
        ours = exc.get(_KEY) if isinstance(exc, dict) else None
        if not isinstance(ours, dict):
            return theirs.exception_to_python(exc)
        made = _ours(exc, ours.get("facts")) or theirs.exception_to_python(exc)
        if isinstance(made, BaseException):
            if ours.get("cause") is not None and causes:
                made.__cause__ = self._made(ours["cause"], causes - 1)
            for note in ours.get("notes") or ():
                made.add_note(str(note))
        return made


def _inner(exc: BaseException) -> BaseException:
    """Return what went wrong; kombu wraps what its serializers raise."""
    if isinstance(exc, (EncodeError, DecodeError)) and exc.args:
        inner = exc.args[0]
        if isinstance(inner, GraphCodecError):
            return inner
    return exc


def _ours(exc: dict[str, Any], facts: Any) -> GraphCodecError | None:
    """Return an error of ours; None if it is of no class in `graphcodec.errors`."""
    name = exc.get("exc_type")
    ours = exc.get("exc_module") == errors.__name__ and name in errors.__all__
    if not ours or not isinstance(name, str) or not isinstance(facts, dict):
        return None
    cls: type[GraphCodecError] = getattr(errors, name)
    known = {key: facts[key] for key in _FACTS if key in facts}
    return cls(known.pop("message", ""), **known)
