"""Why a value can't be written, in words."""

from __future__ import annotations

import asyncio
import concurrent.futures
import enum
import inspect
import io
import queue
import socket
import sys
import threading
import types
from collections.abc import AsyncIterator, Iterator
from typing import Final

from graphcodec._callables import kind_of
from graphcodec._callables import type_name as type_name  # noqa: PLC0414 - sought here
from graphcodec._paths import with_article
from graphcodec.errors import (
    GateNotEncodableError,
    HandlerNotEncodableError,
    UnencodableValueError,
)

_REGISTER: Final = "mark the class with @encodable, or give it to Codec(types=...)"
_CONVERT: Final = "convert it to a value that can be written, such as a list or text"

# The names of these types are not public; the objects are.
_LOCKS: Final = (
    type(threading.Lock()),
    type(threading.RLock()),
    threading.Condition,
    threading.Event,
    threading.Semaphore,
    threading.Barrier,
    asyncio.Lock,
    asyncio.Event,
    asyncio.Condition,
    asyncio.Semaphore,
)

# Whatever else these modules make is a lock, a loop, a pool or a connection.
_PROCESS: Final = frozenset(
    {
        "_sqlite3",
        "_ssl",
        "_thread",
        "asyncio",
        "concurrent",
        "multiprocessing",
        "selectors",
        "sqlite3",
        "ssl",
        "subprocess",
        "threading",
        "weakref",
    }
)

_LIVE: Final[tuple[tuple[tuple[type, ...], str, str], ...]] = (
    (
        (asyncio.Future, concurrent.futures.Future),
        "a {} is awaited in this process, and nowhere else",
        "encode its result once it is done",
    ),
    (
        _LOCKS,
        "a {} guards the memory of this process",
        "leave it out, and make a new one where the graph is decoded",
    ),
    (
        (socket.socket,),
        "a {} is a connection of this process",
        "encode the address, and connect again on the other side",
    ),
    (
        (types.GeneratorType, types.AsyncGeneratorType, types.CoroutineType),
        "a {} is in the middle of its own code",
        "encode what it yields or returns",
    ),
    (
        (io.IOBase,),
        "an open file ({}) is a position in a descriptor of this process",
        "wrap it in StreamReader and use persist, or encode its name",
    ),
    (
        (threading.Thread, threading.local, queue.Queue, queue.SimpleQueue),
        "a {} lives in this process",
        "leave it out, and make a new one where the graph is decoded",
    ),
    (
        (types.FrameType, types.TracebackType, types.ModuleType, types.CodeType),
        "a {} is part of the running interpreter",
        "encode what you need of it as text",
    ),
)


def refusal(value: object) -> UnencodableValueError:
    """Return the error that says why *value* can't be written.

    Args:
        value: Something that the codec has no way to write.
    """
    name = type_name(type(value))
    if getattr(type(value), "__graphcodec_live__", False):
        return _gate(value, name)
    for kinds, reason, hint in _LIVE:
        if isinstance(value, kinds):
            msg = reason.format(name)
            return GateNotEncodableError(msg, type_name=name, hint=hint)
    if type(value).__module__.partition(".")[0] in _PROCESS:
        msg = f"{with_article(name)} belongs to this process"
        hint = "leave it out, and make a new one where the graph is decoded"
        return GateNotEncodableError(msg, type_name=name, hint=hint)
    if isinstance(value, type):
        msg = f"the class {type_name(value)} is code, not data"
        return UnencodableValueError(msg, type_name=name, hint="encode its tag as text")
    if reason := kind_of(value) or _plain_function(value):
        hint = "name the function on both sides and encode the name"
        return HandlerNotEncodableError(reason, type_name=name, hint=hint)
    return _unregistered(value, name)


def _plain_function(value: object) -> str:
    if isinstance(value, types.FunctionType):
        return f"the function {value.__name__} is code, not data"
    return ""


def _gate(value: object, name: str) -> GateNotEncodableError:
    hint = str(getattr(type(value), "__graphcodec_hint__", ""))
    msg = f"{with_article(name)} is awaited in this process, and nowhere else"
    return GateNotEncodableError(msg, type_name=name, hint=hint)


def unreadable(tag: str, name: str) -> UnencodableValueError:
    """Return the error for what could be written and not be read again.

    Args:
        tag: Its tag.
        name: What it is.
    """
    msg = f"{name} has the tag {tag!r}, which this codec can't read back"
    hint = "register its class: Codec(types=[...])"
    return UnencodableValueError(msg, tag=tag, type_name=name, hint=hint)


def _unregistered(value: object, name: str) -> UnencodableValueError:
    cls = type(value)
    for base in cls.__mro__[1:-1]:
        if "__graphcodec_tag__" in vars(base):
            msg = f"{name} is a subclass of {base.__name__} that has no tag of its own"
            return UnencodableValueError(msg, type_name=name, hint=_REGISTER)
    builtin = next((b for b in cls.__mro__[1:-1] if b.__module__ == "builtins"), None)
    if isinstance(value, enum.Enum):
        msg = f"the Enum {name} has no tag"
    elif isinstance(value, BaseException):
        msg = f"an exception ({name}) has no wire form"
        hint = "encode its text, or give its class to Codec(types=...)"
        return UnencodableValueError(msg, type_name=name, hint=hint)
    elif inspect.isawaitable(value) or isinstance(value, (Iterator, AsyncIterator)):
        msg = f"{with_article(name)} is live: it can be consumed once, in this process"
        return GateNotEncodableError(msg, type_name=name, hint="encode what it yields")
    elif builtin is not None:
        msg = f"{name} is more than the {builtin.__name__} it derives from"
        return UnencodableValueError(
            msg,
            type_name=name,
            hint=f"convert it to a {builtin.__name__}, or {_REGISTER}",
        )
    else:
        msg = f"there is no way to write {with_article(name)}"
        if cls.__module__.partition(".")[0] in sys.stdlib_module_names:
            return UnencodableValueError(msg, type_name=name, hint=_CONVERT)
    return UnencodableValueError(msg, type_name=name, hint=_REGISTER)
