"""Everything that graphcodec raises on purpose.

::

    GraphCodecError
    ├── InvalidValueError            (ValueError)   a constructor refuses
    ├── UnencodableValueError        (TypeError)    no way to write this value
    │   ├── GateNotEncodableError                   live: a gate, future, lock, socket
    │   ├── HandlerNotEncodableError                a function that has no name to go by
    │   ├── NoPlaceError                            another format can't hold it
    │   └── ReaderNotDescribableError               bytes that live nowhere addressable
    ├── UndecodableValueError        (ValueError)   unknown tag, wrong shape, invalid
    │   └── NoHandlerError                          a tool whose handler nobody bound
    ├── NoReaderResolverError        (LookupError)  nobody can re-open this handle
    ├── HandleError                  (OSError)      opening a handle failed
    │   ├── StaleHandleError                        other bytes than those pinned
    │   ├── HandleNotFoundError      (FileNotFoundError)
    │   ├── ResolverDeniedError      (PermissionError)
    │   └── ProcessLocalHandleError                 the bytes live in another process
    ├── CyclicGraphError             (ValueError)   a cycle that nothing could rebuild
    ├── LimitExceededError           (ValueError)
    ├── VersionError                 (ValueError)   written by a newer class
    ├── SealError                    (ValueError)   unsealed, or not by a known key
    ├── RoundTripError               (ValueError)   Codec.check found a difference
    ├── DuplicateTagError            (ValueError)
    ├── ConflictError                               somebody else saved first
    ├── SnapshotNotFoundError        (LookupError)
    ├── QueueClosedError   (EOFError, ValueError)   nobody puts, or nobody takes
    ├── ToolArgsError                (ValueError)
    ├── ToolError                                   a tool's handler raised
    ├── GateTimeoutError             (TimeoutError)
    ├── GateAbortedError
    ├── JsonError                    (ValueError)
    ├── ArrowError                   (ValueError)
    └── StorageError                 (OSError)

Every error says what happened, where (``path``) and what to do (``hint``), carries
the facts as attributes, and survives pickling together with its cause.
"""

from __future__ import annotations

from typing import ClassVar

from graphcodec._portable import portable

__all__ = [
    "ArrowError",
    "ConflictError",
    "CyclicGraphError",
    "DuplicateTagError",
    "GateAbortedError",
    "GateNotEncodableError",
    "GateTimeoutError",
    "GraphCodecError",
    "HandleError",
    "HandleNotFoundError",
    "HandlerNotEncodableError",
    "InvalidValueError",
    "JsonError",
    "LimitExceededError",
    "NoHandlerError",
    "NoPlaceError",
    "NoReaderResolverError",
    "ProcessLocalHandleError",
    "QueueClosedError",
    "ReaderNotDescribableError",
    "ResolverDeniedError",
    "RoundTripError",
    "SealError",
    "SnapshotNotFoundError",
    "StaleHandleError",
    "StorageError",
    "ToolArgsError",
    "ToolError",
    "UndecodableValueError",
    "UnencodableValueError",
    "VersionError",
]


class GraphCodecError(Exception):
    """The base of every error that graphcodec raises on purpose.

    Attributes:
        code: A stable name for programs and dashboards.
        message: What happened, without the place and the remedy.
        path: Where, as ``$.items[3].attachments[0].reader``; empty if nowhere.
        hint: What to do about it; empty if there is nothing to say.
        tag: The tag concerned, if one is.
        type_name: The Python type concerned, if one is.
        limit: The name of the limit that was broken, if one was.
        value: The number, version or short excerpt that was refused, if one was.
        alias: The alias of the store concerned, if one is.
        data: The document that failed, if a queue carried it; never shown.
    """

    code: ClassVar[str] = "E_GRAPHCODEC"
    message: str
    path: str
    hint: str
    tag: str | None
    type_name: str | None
    limit: str | None
    value: object
    alias: str | None
    data: bytes | None = None

    def __init__(
        self,
        message: str = "",
        *,
        path: str = "",
        hint: str = "",
        tag: str | None = None,
        type_name: str | None = None,
        limit: str | None = None,
        value: object = None,
        alias: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.hint = hint
        self.tag = tag
        self.type_name = type_name
        self.limit = limit
        self.value = value
        self.alias = alias

    def __str__(self) -> str:
        where = f" (at {self.path})" if self.path else ""
        remedy = f"; {self.hint}" if self.hint else ""
        return f"{self.message}{where}{remedy}"

    def at(self, path: str) -> None:
        """Set the path if there is none yet.

        Args:
            path: Where the error happened, as ``$.items[3]``.
        """
        if not self.path:
            self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        # The attributes travel as the instance's state. Pickle drops the cause and
        # the notes; a worker's error without them is half an error.
        cause = self.__cause__
        state = {
            **self.__dict__,
            "__cause__": None if cause is None else portable(cause),
        }
        return _rebuild, (type(self), state)


def _rebuild(cls: type[GraphCodecError], state: dict[str, object]) -> GraphCodecError:
    error = cls.__new__(cls)
    cause = state.pop("__cause__")
    error.__dict__.update(state)
    error.args = (error.message,)
    error.__cause__ = cause if isinstance(cause, BaseException) else None
    # A pool puts the worker's traceback, as text, in place of the cause.
    error.__context__ = error.__cause__
    return error


class InvalidValueError(GraphCodecError, ValueError):
    """A primitive's constructor refuses a value; says the field and the reason."""

    code = "E_INVALID_VALUE"


class UnencodableValueError(GraphCodecError, TypeError):
    """There is no way to write this value without changing what it is."""

    code = "E_UNENCODABLE_VALUE"


class GateNotEncodableError(UnencodableValueError):
    """Something live: a gate, future, lock, socket, generator or open file."""

    code = "E_GATE_NOT_ENCODABLE"


class HandlerNotEncodableError(UnencodableValueError):
    """A function or method that another process could not find by name."""

    code = "E_HANDLER_NOT_ENCODABLE"


class NoPlaceError(UnencodableValueError):
    """Another format has no place for something in a conversation.

    Attributes:
        places: All that it has no place for: what it is, and its path.
    """

    code = "E_NO_PLACE"
    places: tuple[tuple[str, str], ...] = ()


class ReaderNotDescribableError(UnencodableValueError):
    """A reader over bytes that live nowhere another process could open."""

    code = "E_READER_NOT_DESCRIBABLE"


class UndecodableValueError(GraphCodecError, ValueError):
    """The document does not say something that this codec can rebuild."""

    code = "E_UNDECODABLE_VALUE"


class NoHandlerError(UndecodableValueError):
    """A tool whose handler nobody bound."""

    code = "E_NO_HANDLER"


class NoReaderResolverError(GraphCodecError, LookupError):
    """No resolver takes this handle, or none knows its alias."""

    code = "E_NO_READER_RESOLVER"


class HandleError(GraphCodecError, OSError):
    """Opening or reading a handle failed."""

    code = "E_HANDLE"


class StaleHandleError(HandleError):
    """The bytes behind a handle are not the ones that were pinned."""

    code = "E_STALE_HANDLE"


class HandleNotFoundError(HandleError, FileNotFoundError):
    """There is nothing behind a handle any more."""

    code = "E_HANDLE_NOT_FOUND"


class ResolverDeniedError(HandleError, PermissionError):
    """The resolver's policy, or the store, does not let this handle be opened."""

    code = "E_RESOLVER_DENIED"


class ProcessLocalHandleError(HandleError):
    """The bytes behind a handle live in the memory of another process."""

    code = "E_PROCESS_LOCAL_HANDLE"


class CyclicGraphError(GraphCodecError, ValueError):
    """A cycle through objects that can't exist before their own fields do."""

    code = "E_CYCLIC_GRAPH"


class LimitExceededError(GraphCodecError, ValueError):
    """A limit was broken; names the limit, its value and the place."""

    code = "E_LIMIT_EXCEEDED"


class VersionError(GraphCodecError, ValueError):
    """An object was written by a newer version of its class."""

    code = "E_VERSION"


class SealError(GraphCodecError, ValueError):
    """A document is not sealed, or not by a key that this codec knows."""

    code = "E_SEAL"


class RoundTripError(GraphCodecError, ValueError):
    """`Codec.check` found a graph that does not come back as it was."""

    code = "E_ROUND_TRIP"


class DuplicateTagError(GraphCodecError, ValueError):
    """A tag is taken by another class."""

    code = "E_DUPLICATE_TAG"


class ConflictError(GraphCodecError):
    """Somebody else saved a newer version first."""

    code = "E_CONFLICT"


class SnapshotNotFoundError(GraphCodecError, LookupError):
    """There is no snapshot of that session and turn."""

    code = "E_SNAPSHOT_NOT_FOUND"


class QueueClosedError(GraphCodecError, EOFError, ValueError):
    """Nothing will come out of a queue any more, or nothing can be put into it."""

    code = "E_QUEUE_CLOSED"


class ToolArgsError(GraphCodecError, ValueError):
    """The arguments of a tool call do not fit the tool's schema."""

    code = "E_TOOL_ARGS"


class ToolError(GraphCodecError):
    """A tool's handler raised."""

    code = "E_TOOL"


class GateTimeoutError(GraphCodecError, TimeoutError):
    """A gate was not settled in time."""

    code = "E_GATE_TIMEOUT"


class GateAbortedError(GraphCodecError):
    """A gate was aborted before it was settled."""

    code = "E_GATE_ABORTED"


class JsonError(GraphCodecError, ValueError):
    """A session record could not be read from or written as JSON."""

    code = "E_JSON"


class ArrowError(GraphCodecError, ValueError):
    """A table does not hold session records."""

    code = "E_ARROW"


class StorageError(GraphCodecError, OSError):
    """A document store could not do what was asked."""

    code = "E_STORAGE"
