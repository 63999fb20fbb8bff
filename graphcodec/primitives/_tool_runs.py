"""One run of a tool: its events, its handler, and what may come out of it."""

import inspect
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from time import perf_counter
from typing import Final, cast

from attrs import field, frozen

from graphcodec.errors import GraphCodecError, ToolError
from graphcodec.primitives._artifact import SpooledArtifact
from graphcodec.primitives._checks import excerpt
from graphcodec.primitives._containers import is_list
from graphcodec.primitives._media import Media
from graphcodec.primitives._registry import Registry
from graphcodec.primitives._tokenizable import Tokenizable
from graphcodec.readers._memory import BytesReader
from graphcodec.readers._threads import in_thread

__all__ = [
    "Handler",
    "OnEvent",
    "Results",
    "ToolEnded",
    "ToolStarted",
    "run",
    "run_async",
    "text_results",
    "to_results",
]

Handler = Callable[..., object]
Results = Tokenizable | SpooledArtifact | Media | tuple[SpooledArtifact | Media, ...]

_LONGEST_REASON: Final = 160
_OFFERED: Final = ("args", "ctx", "meta")


@frozen(kw_only=True)
class _Event:
    tool_name: str
    turn_id: str | None
    call_id: str
    args: Mapping[str, object] = field(repr=False)
    started_at: datetime


@frozen(kw_only=True)
class ToolStarted(_Event):
    """A tool is about to run; its arguments fit its schema.

    Attributes:
        tool_name: The name of the tool.
        turn_id: The turn that the caller said it belongs to.
        call_id: What `ToolCall.compute_checksum` gives for the tool and its arguments.
        args: The arguments.
        started_at: When.
    """


@frozen(kw_only=True)
class ToolEnded(_Event):
    """A tool has run.

    Attributes:
        tool_name: The name of the tool.
        turn_id: The turn that the caller said it belongs to.
        call_id: What `ToolCall.compute_checksum` gives for the tool and its arguments.
        args: The arguments.
        started_at: When it started.
        ended_at: When it ended.
        duration: How many seconds it took, by a clock that is never set.
        is_error: Whether the handler raised, or gave what no result can be.
    """

    ended_at: datetime
    duration: float
    is_error: bool


OnEvent = Callable[[ToolStarted | ToolEnded], object]


@contextmanager
def _reported(started: ToolStarted, on_event: OnEvent | None) -> Generator[None]:
    """Report the start and the end of a run."""
    if on_event is None:
        yield
        return
    on_event(started)
    before = perf_counter()
    is_error = True
    try:
        yield
        is_error = False
    finally:
        ended = ToolEnded(
            tool_name=started.tool_name,
            turn_id=started.turn_id,
            call_id=started.call_id,
            args=started.args,
            started_at=started.started_at,
            ended_at=datetime.now(UTC),
            duration=perf_counter() - before,
            is_error=is_error,
        )
        on_event(ended)


@contextmanager
def _blamed(tool: str) -> Generator[None]:
    """Turn whatever a handler raises into a `ToolError` with it as the cause."""
    try:
        yield
    except Exception as exc:
        reason = exc.message if isinstance(exc, GraphCodecError) else str(exc)
        line = reason.partition("\n")[0]
        msg = f"the handler of {excerpt(tool)} raised {type(exc).__name__}"
        shown = f": {line[:_LONGEST_REASON]}" if line else ""
        raise ToolError(msg + shown, type_name=type(exc).__name__) from exc


def run(
    handler: Handler,
    given: tuple[Mapping[str, object], object, Registry],
    started: ToolStarted,
    on_event: OnEvent | None,
    finish: Callable[[object], Results],
) -> Results:
    """Call a handler, wait for what it gives, and make a result of it.

    Args:
        handler: The function; it may be asynchronous if no event loop runs here.
        given: The arguments, the context and the meta data of the tool.
        started: What to report first.
        on_event: Whom to report to.
        finish: Makes a result of what the handler gave.

    Raises:
        ToolError: If the handler raises, or gives what can't be a result.
    """
    tool = started.tool_name
    with _reported(started, on_event):
        with _blamed(tool):
            value = _called(handler, given)
        if inspect.isawaitable(value):
            value = _awaited(cast("Awaitable[object]", value), tool)
        return finish(value)


async def run_async(
    handler: Handler,
    given: tuple[Mapping[str, object], object, Registry],
    started: ToolStarted,
    on_event: OnEvent | None,
    finish: Callable[[object], Results],
) -> Results:
    """Do what `run` does in an event loop; a plain function runs in a worker thread.

    Args:
        handler: See `run`.
        given: See `run`.
        started: See `run`.
        on_event: See `run`.
        finish: See `run`.

    Raises:
        ToolError: See `run`.
    """
    with _reported(started, on_event):
        with _blamed(started.tool_name):
            if inspect.iscoroutinefunction(handler):
                value = _called(handler, given)
            else:
                value = await in_thread(_called, handler, given)
            if inspect.isawaitable(value):
                value = await value
        return finish(value)


def _awaited(value: Awaitable[object], tool: str) -> object:
    """Run an awaitable to its end."""
    import asyncio  # noqa: PLC0415 - most handlers are plain functions

    async def wait() -> object:
        return await value

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        with _blamed(tool):
            return asyncio.run(wait())
    if inspect.iscoroutine(value):
        value.close()
    msg = f"the handler of {excerpt(tool)} is asynchronous, and an event loop runs here"
    raise ToolError(msg, hint="await tool.acall(args)")


def _called(
    handler: Handler, given: tuple[Mapping[str, object], object, Registry]
) -> object:
    """Call a handler with as much of what is given as it takes.

    Arguments come first. A further parameter that is called ``ctx`` or ``meta`` gets
    what it is called, one without a default what is next, and any other its default.
    """
    offered: dict[str, object] = dict(zip(_OFFERED, given, strict=True))
    positional: list[object] = [given[0]]
    named: dict[str, object] = {}
    for index, parameter in enumerate(_parameters(handler)):
        value = offered.get(parameter.name)
        known = parameter.name in offered
        if parameter.kind is parameter.KEYWORD_ONLY:
            if known:
                named[parameter.name] = value
        elif 0 < index < len(given) and len(positional) == index:
            if known:
                positional.append(value)
            elif parameter.default is parameter.empty:
                positional.append(given[index])
    return handler(*positional, **named)


def _parameters(handler: Handler) -> list[inspect.Parameter]:
    """Return the parameters that can be given something, none if nobody knows."""
    try:
        parameters = inspect.signature(handler).parameters.values()
    except (TypeError, ValueError):
        return []
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [each for each in parameters if each.kind not in variadic]


def to_results(
    value: object, tool: str, artifact: type[SpooledArtifact] | None
) -> Results:
    """Return what a handler gave in the form in which a `ToolCall` holds it.

    Args:
        value: What it gave.
        tool: The name of the tool.
        artifact: What wraps text and bytes, if something does.

    Raises:
        ToolError: If it can't be a result.
    """
    if isinstance(value, str):
        if artifact is None:
            return Tokenizable(str(value))
        return artifact(BytesReader(_utf8(value, tool)))
    if isinstance(value, (bytes, bytearray)):
        return (artifact or SpooledArtifact)(BytesReader(bytes(value)))
    if isinstance(value, (Tokenizable, SpooledArtifact, Media)):
        return value
    several = _several(value)
    for kind in (Media, SpooledArtifact):
        if several and all(isinstance(each, kind) for each in several):
            return cast("tuple[Media, ...]", several)
    raise _no_result(value, tool, "text, bytes, a Media or a list of Media")


def _several(value: object) -> tuple[object, ...]:
    if is_list(value) or type(value) is tuple:
        return tuple(cast("list[object]", value))
    return ()


def text_results(value: object, tool: str) -> Tokenizable:
    """Return the text that the handler of an artifact's tool gave.

    Args:
        value: What it gave.
        tool: The name of the tool.

    Raises:
        ToolError: If it is no text.
    """
    if isinstance(value, str):
        return Tokenizable(str(value))
    if isinstance(value, Tokenizable):
        return value
    raise _no_result(value, tool, "text")


def _utf8(text: str, tool: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as exc:
        msg = f"the handler of {excerpt(tool)} gave text with lone surrogates"
        raise ToolError(msg, hint="give bytes") from exc


def _no_result(value: object, tool: str, wanted: str) -> ToolError:
    kind = type(value).__name__
    hint = "json.dumps(value) is text" if kind in ("dict", "list") else ""
    msg = f"the handler of {excerpt(tool)} gave {excerpt(value)}, not {wanted}"
    return ToolError(msg, hint=hint, type_name=kind)
