"""The functions behind tools: written by name, read from what the user bound."""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
# What a user gives, and a parsed document, is Any until it was looked at.

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType, MethodType
from typing import Any, TypeAlias

from graphcodec._callables import MAIN, name_of, type_name, why_nameless
from graphcodec._paths import excerpt
from graphcodec.errors import (
    HandlerNotEncodableError,
    InvalidValueError,
    NoHandlerError,
)

Handler: TypeAlias = Callable[..., object]

_BIND = "bind a function to the name: Codec(handlers={{{}: function}})"


class Handlers(Mapping[str, Handler]):
    """The handlers of one codec, by name.

    Args:
        functions: The functions; what is added to the mapping later is not seen.

    Raises:
        InvalidValueError: If a name is no text, or something can't be called.
    """

    def __init__(self, functions: Mapping[str, Handler] | None = None) -> None:
        self._functions = _checked(functions or {})
        self._names: dict[object, str] = {}
        for name, function in self._functions.items():
            self._names.setdefault(_identity(function), name)

    def name(self, handler: object) -> str | None:
        """Return the name under which this very function stands here, if it does.

        Args:
            handler: The function.
        """
        return self._names.get(_identity(handler))

    def write(self, handler: Any, *, closed: bool) -> object:
        """Return what a document says of a handler: its name.

        Args:
            handler: The function.
            closed: Whether only what can be read here may be written.

        Raises:
            HandlerNotEncodableError: If it has no name that others could bind, or that
                is bound here if it must be.
        """
        name = self.name(handler)
        if name is not None:
            return name
        if type(handler) is not FunctionType or handler.__module__ in MAIN:
            raise nameless(handler)
        if (name := name_of(handler)) is None:
            raise nameless(handler)
        if closed and self._functions.get(name) is not handler:
            msg = f"the handler {name} is not bound here, so it can't be read back"
            raise HandlerNotEncodableError(msg, hint=_BIND.format(excerpt(name)))
        return name

    def read(self, wire: Any) -> Handler:
        """Return the function that stands here under a name, and look nowhere else.

        Args:
            wire: What a document says of the handler.

        Raises:
            NoHandlerError: If none does.
        """
        found = self._functions.get(wire) if type(wire) is str else None
        if found is not None:
            return found
        if type(wire) is str:
            msg = f"no handler is bound to the name {excerpt(wire)}"
            hint = _BIND.format(excerpt(wire))
        else:
            msg = f"a handler is said by its name, not by {excerpt(wire)}"
            hint = "source text is read by graphcodec.unsafe.SourceHandlers alone"
        raise NoHandlerError(msg, hint=hint, value=excerpt(wire))

    def __getitem__(self, name: str) -> Handler:
        return self._functions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(<{len(self)} names>)"

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.pickled(),)

    def pickled(self) -> dict[str, Handler]:
        """Return the functions, each of which can be pickled.

        Raises:
            HandlerNotEncodableError: If one can't.
        """
        for name, function in self._functions.items():
            _require_pickles(name, function)
        return self._functions


def as_handlers(given: Mapping[str, Handler] | None) -> Handlers:
    """Return what is given for the option as handlers.

    Args:
        given: A mapping, None, or handlers already.

    Raises:
        InvalidValueError: If it is no mapping from names to functions.
    """
    return given if isinstance(given, Handlers) else Handlers(given)


def nameless(handler: object) -> HandlerNotEncodableError:
    """Return the error for a handler that has no name that others could bind.

    Args:
        handler: The function.
    """
    hint = (
        "give it a name, Codec(handlers={name: function}), or define it at the top of"
        " a module"
    )
    return HandlerNotEncodableError(
        why_nameless(handler), type_name=type_name(type(handler)), hint=hint
    )


def _identity(function: object) -> object:
    """Return what tells functions apart; a bound method is made anew at each look."""
    if isinstance(function, MethodType):
        return id(function.__self__), id(function.__func__)
    return id(function)


def _checked(functions: Any) -> dict[str, Handler]:
    if not isinstance(functions, Mapping):
        name = type_name(type(functions))
        msg = f"handlers must be a mapping from names to functions, not {name}"
        raise InvalidValueError(msg, hint="such as handlers={'search': search}")
    given: dict[Any, Any] = dict(functions)
    for name, function in given.items():
        if type(name) is not str or not name:
            msg = f"the name of a handler must be a non-empty str, not {excerpt(name)}"
            raise InvalidValueError(msg)
        if not callable(function):
            kind = type_name(type(function))
            msg = f"the handler {excerpt(name)} can't be called: it is a {kind}"
            raise InvalidValueError(msg, type_name=kind)
    return given


def _require_pickles(name: str, function: Handler) -> None:
    try:
        pickle.dumps(function)
    except Exception as exc:  # whatever a foreign object's pickling raises
        msg = f"the handler {excerpt(name)} can't be pickled: {why_nameless(function)}"
        hint = "let the other process make its own codec, by a factory"
        raise HandlerNotEncodableError(
            msg, type_name=type_name(type(function)), hint=hint
        ) from exc
