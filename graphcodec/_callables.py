"""Functions by name: what one is called, and in words why one has no name."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Mapping
from typing import Final, cast

MAIN: Final = frozenset({"__main__", "__mp_main__"})
"""What the script that was started is called, in its own process and in a child's."""

_NATIVE: Final = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    types.ClassMethodDescriptorType,
)


def type_name(cls: type) -> str:
    """Return the name of *cls* as its users write it."""
    if cls.__module__ == "builtins":
        return cls.__qualname__
    return f"{cls.__module__}.{cls.__qualname__}"


def name_of(value: object) -> str | None:
    """Return ``module:qualname`` if that leads back to the very object, else None.

    Nothing is imported, and no code runs: only namespaces of modules and classes that
    are loaded are looked into.

    Args:
        value: A function, or anything else that knows its module and name.
    """
    module: object = getattr(value, "__module__", None)
    qualname: object = getattr(value, "__qualname__", None)
    if type(module) is not str or type(qualname) is not str:
        return None
    found: object = sys.modules.get(module)
    for part in qualname.split("."):
        found = _held(found, part)
    return f"{module}:{qualname}" if found is value else None


def _held(holder: object, name: str) -> object:
    if not isinstance(holder, (types.ModuleType, type)):
        return None
    found = cast("Mapping[str, object]", vars(holder)).get(name)
    return found.__func__ if isinstance(found, staticmethod) else found


def kind_of(value: object) -> str:
    """Say what kind of function *value* is, if it is one that can have no name.

    Args:
        value: Anything; nothing is said of a function at the top of a module, nor of
            an object whose class defines ``__call__``: that is data first.
    """
    if isinstance(value, functools.partial):
        return "a functools.partial holds arguments that have no name"
    if isinstance(value, types.MethodType):
        owner = type_name(type(value.__self__))
        return f"the bound method {value.__name__} holds a live {owner}"
    if isinstance(value, _NATIVE):
        return f"the native function {value.__name__} has no portable name"
    return _kind_of_function(value) if isinstance(value, types.FunctionType) else ""


def _kind_of_function(value: types.FunctionType) -> str:
    if value.__name__ == "<lambda>":
        return "a lambda has no name to find it by"
    if value.__closure__:
        names = ", ".join(value.__code__.co_freevars)
        return f"the function {value.__name__} closes over {names}"
    if "<locals>" in value.__qualname__:
        return f"the function {value.__name__} is nested in another one"
    return ""


def why_nameless(value: object) -> str:
    """Say why a handler can't be found by name; never empty.

    Args:
        value: Something that can be called.
    """
    kind = kind_of(value)
    if kind:
        return kind
    if isinstance(value, type):
        return f"the class {type_name(value)} is no function"
    if not isinstance(value, types.FunctionType):
        return f"an object of {type_name(type(value))} holds state that has no name"
    if value.__module__ in MAIN:
        return (
            f"the function {value.__name__} is in the script that was started, whose"
            f" module has another name in every other process"
        )
    return (
        f"{value.__module__}.{value.__qualname__} is not the function of that name,"
        f" or is in no module that is loaded"
    )
