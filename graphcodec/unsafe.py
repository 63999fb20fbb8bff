"""What is dangerous and has to be asked for by name: functions as source text.

A document that carries code is a program of whoever wrote it. With this module a
function travels as the text of its definition, and a call of a decoded tool *runs what
the document says*, with all rights of the process. No check can make that safe. It is
for documents that never leave the hands of one owner, such as a job that one process
hands to another of the same program.

Nothing in graphcodec imports this module, and no document can turn it on: a codec knows
source text only if a `SourceHandlers` was passed to it, and reads it only if that one
was made with ``trusted=True``.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import dis
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import CodeType, FunctionType
from typing import Any, Final, TypeAlias, cast

from graphcodec._callables import type_name
from graphcodec._handlers import Handlers, nameless
from graphcodec._paths import excerpt
from graphcodec.errors import (
    HandlerNotEncodableError,
    InvalidValueError,
    NoHandlerError,
    UndecodableValueError,
)

__all__ = ["SourceHandlers"]

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_MARKER: Final = "$source"
_TEXT: Final = "__graphcodec_source__"
_LAZY: Final = __future__.annotations.compiler_flag
"""Annotations of functions inside the function are not evaluated."""


class SourceHandlers(Handlers):
    """Handlers that travel as source text, unless they stand here under a name.

    **Decoding with trusted=True hands the process over to whoever wrote the
    document**, as soon as a tool in it is called. Decoding alone runs no foreign code:
    the text must be one definition, without decorators, its defaults literals.

    A function can travel if its text says all there is to it: no closure, no bound
    method, no lambda, no native function, no name from its module. What it needs it
    imports itself. Comments, decorators and the annotations of its parameters stay
    behind. What comes out is another function, so a tool is not equal to the one that
    was encoded.

    Args:
        functions: Functions that go by name all the same.
        trusted: Whether to make functions of the text in documents.

    Raises:
        InvalidValueError: If *trusted* is no bool, or *functions* can't be used.
    """

    def __init__(
        self,
        functions: Mapping[str, Callable[..., object]] | None = None,
        *,
        trusted: bool = False,
    ) -> None:
        if type(trusted) is not bool:
            msg = f"trusted must be a bool, not {excerpt(trusted)}"
            raise InvalidValueError(msg, type_name="SourceHandlers")
        super().__init__(functions)
        self._trusted = trusted

    def write(self, handler: Any, *, closed: bool) -> object:
        """Return the name of a handler that has one here, else its text in a marker.

        Args:
            handler: The function.
            closed: Whether only what can be read here may be written.

        Raises:
            HandlerNotEncodableError: If its text does not say all there is to it, or
                could not be read here although it must be.
        """
        name = self.name(handler)
        if name is not None:
            return name
        if closed and not self._trusted:
            msg = "source text is not trusted here, so it can't be read back"
            raise HandlerNotEncodableError(msg, hint="give the handler a name")
        return {_MARKER: getattr(handler, _TEXT, None) or _text_of(handler)}

    def read(self, wire: Any) -> Callable[..., object]:
        """Return the function of that name or, if that is trusted, of that text.

        Args:
            wire: What a document says of the handler.

        Raises:
            NoHandlerError: If the name is not bound, or text is not trusted.
            UndecodableValueError: If the text is not one plain definition.
        """
        fields = cast("dict[str, Any]", wire if type(wire) is dict else {})
        if list(fields) != [_MARKER]:
            return super().read(wire)
        if not self._trusted:
            msg = "a handler comes as source text, which is not trusted here"
            hint = (
                "SourceHandlers(trusted=True) runs whatever the document says; do so"
                " only if nobody else could have written it"
            )
            raise NoHandlerError(msg, hint=hint)
        return _function_of(fields[_MARKER])

    def __reduce__(self) -> tuple[object, ...]:
        return partial(SourceHandlers, trusted=self._trusted), (self.pickled(),)


# Out


def _text_of(handler: object) -> str:
    """Return the definition of a function that needs nothing beside it."""
    if not isinstance(handler, FunctionType) or handler.__closure__:
        raise nameless(handler)
    if handler.__name__ == "<lambda>":
        raise nameless(handler)
    known = {*vars(builtins), "__name__", handler.__name__}
    foreign = sorted(set(_globals(handler.__code__)) - known)
    if foreign:
        reason = f"uses {', '.join(foreign)} of its module"
        raise _refused(handler, reason, "import and define inside of it what it needs")
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(handler)))
    except (OSError, TypeError, SyntaxError) as exc:
        raise _refused(handler, "has no source text that can be found") from exc
    definition = _plain_definition(tree)
    if definition is None:
        raise _refused(handler, "has a default that is no literal")
    text = ast.unparse(definition)
    lazy = handler.__code__.co_flags & _LAZY
    if not _same_code(_compiled(text, lazy), handler.__code__):
        raise _refused(handler, "is not what its file says now")
    return text


def _refused(
    handler: FunctionType, reason: str, hint: str = ""
) -> HandlerNotEncodableError:
    msg = f"the function {handler.__name__} {reason}"
    name = type_name(type(handler))
    return HandlerNotEncodableError(msg, type_name=name, hint=hint)


def _globals(code: CodeType) -> Iterator[str]:
    """Yield the names that a function looks for in its module."""
    for each in _codes(code):
        steps = list(dis.get_instructions(each))
        # The body of a class finds its own names first.
        own = {step.argval for step in steps if step.opname == "STORE_NAME"}
        for step in steps:
            if "GLOBAL" in step.opname or step.opname == "LOAD_NAME":
                yield from {str(step.argval)} - own


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _same_code(a: CodeType, b: CodeType) -> bool:
    """Say whether two functions do the same, wherever they stand in their files."""
    pairs = list(zip(_codes(a), _codes(b), strict=False))
    return len(pairs) == len(list(_codes(b))) and all(
        x.co_code == y.co_code
        and x.co_names == y.co_names
        and x.co_varnames == y.co_varnames
        and _constants(x) == _constants(y)
        for x, y in pairs
    )


def _constants(code: CodeType) -> list[tuple[type, str]]:
    # By their text: 1, 1.0 and True are equal, and NaN is not.
    return [(type(c), repr(c)) for c in code.co_consts if not isinstance(c, CodeType)]


# In


def _function_of(text: object) -> Callable[..., object]:
    """Return the function that a text defines; nothing but the definition is run."""
    if type(text) is not str:
        msg = f"the source of a handler is text, not {excerpt(text)}"
        raise UndecodableValueError(msg)
    try:
        definition = _plain_definition(ast.parse(text))
        if definition is None:
            msg = "the source of a handler must be one definition with literal defaults"
            raise UndecodableValueError(msg)
        plain = ast.unparse(definition)
        code = compile(plain, f"<handler {definition.name}>", "exec", _LAZY, True)  # noqa: FBT003 - by position only
    except (SyntaxError, ValueError, RecursionError, MemoryError) as exc:
        if isinstance(exc, UndecodableValueError):
            raise
        msg = f"the source of a handler is no Python: {type(exc).__name__}"
        raise UndecodableValueError(msg) from exc
    space: dict[str, Any] = {"__name__": __name__, "__builtins__": builtins}
    exec(code, space)  # noqa: S102 - what this module is for; asked for twice
    function = cast("FunctionType", space[definition.name])
    setattr(function, _TEXT, plain)
    return function


def _plain_definition(tree: ast.Module) -> Definition | None:
    """Return the only definition in *tree*, without what is evaluated around it.

    None if there are none or several, or a default is no literal.
    """
    if len(tree.body) != 1 or not isinstance(tree.body[0], Definition):
        return None
    found = tree.body[0]
    found.decorator_list = []
    found.returns = None
    parameters = found.args
    several = [*parameters.posonlyargs, *parameters.args, *parameters.kwonlyargs]
    for each in (*several, parameters.vararg, parameters.kwarg):
        if each is not None:
            each.annotation = None
    defaults = [*parameters.defaults, *filter(None, parameters.kw_defaults)]
    return found if all(map(_is_literal, defaults)) else None


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError):
        return False
    return True


def _compiled(text: str, flags: int) -> CodeType:
    module = compile(text, "<handler>", "exec", flags, True)  # noqa: FBT003 - likewise
    return next(c for c in module.co_consts if isinstance(c, CodeType))
