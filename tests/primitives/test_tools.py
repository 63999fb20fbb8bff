"""Tools: what they hold, how they run, and what may come out."""

from __future__ import annotations

import asyncio
import copy
import functools
import multiprocessing
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest

from graphcodec import ToolEnded, ToolStarted
from graphcodec.errors import (
    HandlerNotEncodableError,
    InvalidValueError,
    NoHandlerError,
    ToolArgsError,
    ToolError,
)
from graphcodec.primitives import (
    ArtifactTool,
    Media,
    Registry,
    SpooledArtifact,
    Tokenizable,
    Tool,
    ToolCall,
)
from graphcodec.readers import BytesReader
from tests.primitives.builders import make
from tests.primitives.handlers import (
    SCHEMA,
    Shop,
    failing,
    giving,
    pickled_answer,
    search,
    search_later,
    tool,
)

Args = Mapping[str, Any]

# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false
# What a lambda takes can't be annotated.

# What a tool holds


def test_tool_takes_four_by_position() -> None:
    """Name, description, schema and handler; all else by name, with defaults."""
    found = Tool("search", "Searches the shop.", SCHEMA, search)

    assert found == tool()
    assert (found.artifact, found.meta, found.on_collision) == (
        None,
        Registry(),
        "throw",
    )
    assert (found.ephemeral, found.trusted) == (False, False)


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("name", "", "a non-empty str"),
        ("name", 1, "a non-empty str, not 1"),
        ("description", None, "a non-empty str"),
        ("input_schema", "{}", "a dict with str keys"),
        ("input_schema", {1: 2}, "a dict with str keys, not one with 1"),
        ("input_schema", {}, "must have the type 'object'"),
        ("input_schema", {"type": "array"}, "must have the type 'object'"),
        ("input_schema", {"type": ["object"]}, "must have the type 'object'"),
        ("handler", "search", "a callable or None"),
        ("artifact", lambda: SpooledArtifact, "the class SpooledArtifact or a sub"),
        ("artifact", SpooledArtifact(BytesReader(b"")), "the class SpooledArtifact"),
        ("artifact", Media, "the class SpooledArtifact or a subclass of it or None"),
        ("meta", {}, "a Registry"),
        ("ephemeral", 1, "a bool"),
        ("trusted", "yes", "a bool"),
        ("on_collision", "drop", "'throw', 'replace' or 'keep'"),
    ],
)
def test_wrong_field_of_a_tool_is_named(field: str, value: object, reason: str) -> None:
    """The error has the field, the rule and the path."""
    with pytest.raises(InvalidValueError, match=reason) as caught:
        tool(**{field: value})

    assert caught.value.path == f"$.{field}"


def test_artifact_tool_has_no_artifact() -> None:
    """What it gives is text."""
    with pytest.raises(InvalidValueError, match=r"ArtifactTool\.artifact must be None"):
        ArtifactTool("head", "Lines.", SCHEMA, search, artifact=SpooledArtifact)

    assert isinstance(ArtifactTool("head", "Lines.", SCHEMA, search), Tool)


def test_tools_are_equal_by_value() -> None:
    """Another handler, or another class, makes another tool."""
    assert tool() == tool()
    assert hash(tool()) == hash(tool())
    assert tool() != tool(failing)
    assert tool() != ArtifactTool("search", "Searches the shop.", SCHEMA, search)
    assert repr(tool()) == "Tool(name='search')"


def test_description_for_a_model() -> None:
    """The name, the text and a schema that may be changed without harm."""
    found = tool()
    told = found.describe()

    assert told == {
        "name": "search",
        "description": "Searches the shop.",
        "input_schema": SCHEMA,
    }
    told["input_schema"]["type"] = "array"  # type: ignore[index]
    assert found.input_schema["type"] == "object"


# Arguments


@pytest.mark.parametrize(
    ("args", "path", "reason"),
    [
        ({"q": 1}, "$.q", r"\$\.q: 1 is not of the type 'string'"),
        ({"q": "x", "limit": "5"}, "$.limit", "'5' is not of the type 'integer'"),
        ({"q": "x", "limit": True}, "$.limit", "True is not of the type 'integer'"),
        ({}, "$", "'q' is a required property"),
        ({"q": "x", "r": 1}, "$", "Additional properties are not allowed"),
        ({"q": ("x",)}, "$.q", "is not of the type 'string'"),
        ({"q": b"x"}, "$", "the arguments hold what JSON has not"),
        ({"q": float("nan")}, "$", "the arguments hold what JSON has not"),
        ({1: "x"}, "$", "the arguments hold what JSON has not"),
        ('{"q": "x"}', "$", r"must be a dict, not '.*json\.loads"),
        (None, "$", "must be a dict, not None"),
    ],
)
def test_arguments_that_do_not_fit(args: Any, path: str, reason: str) -> None:
    """The path is that of the first bad one; nothing is converted."""
    with pytest.raises(ToolArgsError, match=reason) as caught:
        tool().validate(args)

    assert caught.value.path == path
    assert caught.value.code == "E_TOOL_ARGS"


def test_all_problems_are_told_shortly() -> None:
    """Each in one line with an excerpt, however long the value is."""
    with pytest.raises(ToolArgsError) as caught:
        tool().validate({"q": ["x" * 10_000], "limit": "y" * 10_000})

    assert caught.value.value == 2
    assert "$.q: <list> is not of" in str(caught.value)
    assert "$.limit: 'yyy" in str(caught.value)
    assert len(str(caught.value)) < 400


def test_arguments_that_fit() -> None:
    """Nothing is returned, and nothing changed."""
    args = {"q": "tea", "limit": 3}

    tool().validate(args)

    assert args == {"q": "tea", "limit": 3}


def test_handler_is_not_called_with_bad_arguments() -> None:
    """Nor is anything reported."""
    called: list[object] = []

    with pytest.raises(ToolArgsError):
        tool(called.append).call({"q": 1}, on_event=called.append)

    assert called == []


# Running


@pytest.mark.parametrize(
    ("handler", "expected"),
    [
        (lambda args: f"{args['q']}", "tea"),
        (lambda args, ctx: f"{args['q']} {ctx}", "tea CTX"),
        (lambda _args, ctx, meta: f"{ctx} {meta.get('cost')}", "CTX 2"),
        (lambda a, b, c: f"{a['q']} {b} {c.get('cost')}", "tea CTX 2"),
        (lambda _args, meta: str(meta.get("cost")), "2"),
        (lambda _args, ctx=None: str(ctx), "CTX"),
        (lambda _args, timeout=5: str(timeout), "5"),
        (lambda _args, timeout=5, ctx=None: f"{timeout} {ctx}", "5 None"),
        (lambda _args, *, ctx, depth=1: f"{ctx} {depth}", "CTX 1"),
        (lambda *args, **more: f"{len(args)} {more}", "1 {}"),
        (functools.partial(lambda ctx, args: f"{ctx} {args['q']}", "own"), "own tea"),
        (Shop().find, "found tea in Shop"),
        (Shop.hours, "open for tea"),
        (Shop(), "found tea in Shop"),
        (search, "found tea"),
        (search_later, "found tea later"),
    ],
)
def test_handler_gets_as_much_as_it_takes(
    handler: Callable[..., object], expected: str
) -> None:
    """Arguments first, context and meta data by name or place, defaults left alone."""
    found = tool(handler, meta=Registry({"cost": 2}))

    assert found.call({"q": "tea"}, ctx="CTX") == Tokenizable(expected)
    awaited = asyncio.run(found.acall({"q": "tea"}, ctx="CTX"))
    assert awaited == Tokenizable(expected)


def test_native_handler_gets_the_arguments() -> None:
    """Also where nobody can say what it takes."""
    assert tool(str).call({"q": "tea"}) == Tokenizable("{'q': 'tea'}")


def test_handler_can_not_change_the_record() -> None:
    """It gets a copy of the arguments, all the way down."""
    schema = {"type": "object"}
    args = {"list": [1]}

    def handler(args: Args) -> str:
        args["list"].append(2)
        return "done"

    tool(handler, input_schema=schema).call(args)

    assert args == {"list": [1]}


def test_error_of_a_handler_is_the_cause() -> None:
    """The tool is named, and the error's type and first line are."""
    message = "the handler of 'search' raised LookupError: no tea here"
    with pytest.raises(ToolError, match=message) as caught:
        tool(failing).call({"q": "tea"})

    assert isinstance(caught.value.__cause__, LookupError)
    assert caught.value.code == "E_TOOL"
    again = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(again.__cause__, LookupError)


def test_definition_can_not_run() -> None:
    """It says how to give it a handler, and runs then."""
    known = tool(None)

    with pytest.raises(NoHandlerError, match=r"mere definition.*replace\(handler"):
        known.call({"q": "tea"})
    with pytest.raises(NoHandlerError, match="mere definition"):
        asyncio.run(known.acall({"q": "tea"}))
    assert known.replace(handler=search).call({"q": "x"}) == Tokenizable("found x")


def test_asynchronous_handler_is_awaited_in_a_loop() -> None:
    """`call` refuses to block a loop, and leaves no coroutine behind."""

    async def scenario() -> None:
        with pytest.raises(ToolError, match=r"loop runs here.*await tool\.acall"):
            tool(search_later).call({"q": "tea"})

    asyncio.run(scenario())


def test_plain_handler_does_not_block_the_loop() -> None:
    """It runs in a worker thread, so that others go on meanwhile."""

    async def scenario() -> object:
        loop, waiting = asyncio.get_running_loop(), asyncio.Event()

        def handler(_: Args) -> str:
            asyncio.run_coroutine_threadsafe(notify(), loop).result(timeout=10)
            return "went on"

        async def notify() -> None:
            waiting.set()

        return await tool(handler).acall({"q": "tea"})

    assert asyncio.run(scenario()) == Tokenizable("went on")


# Events


@pytest.mark.parametrize(("handler", "is_error"), [(search, False), (failing, True)])
def test_start_and_end_are_reported(
    handler: Callable[..., object], *, is_error: bool
) -> None:
    """Also where the handler fails; the call is named by its checksum."""
    events: list[Any] = []
    found, args = tool(handler), {"q": "tea"}
    before = datetime.now(UTC)
    if is_error:
        with pytest.raises(ToolError):
            found.call(args, turn_id="turn-1", on_event=events.append)
    else:
        found.call(args, turn_id="turn-1", on_event=events.append)

    started, ended = events
    assert (type(started), type(ended)) == (ToolStarted, ToolEnded)
    for event in events:
        assert (event.tool_name, event.turn_id) == ("search", "turn-1")
        assert event.call_id == ToolCall.compute_checksum("search", args)
        assert event.args == args
        assert event.started_at == started.started_at
        assert "tea" not in repr(event)
    assert before <= started.started_at <= ended.ended_at <= datetime.now(UTC)
    assert ended.duration >= 0
    assert ended.is_error is is_error


def test_result_that_is_none_is_an_error() -> None:
    """The end says so, too."""
    events: list[Any] = []

    with pytest.raises(ToolError, match="gave None, not text"):
        tool(giving(None)).call({"q": "x"}, on_event=events.append)

    assert [getattr(event, "is_error", None) for event in events] == [None, True]


def test_end_is_reported_when_a_task_is_cancelled() -> None:
    """A cancellation is no error of the handler, and comes out as it is."""
    events: list[Any] = []

    async def handler(_: Args) -> str:
        await asyncio.sleep(3600)
        return "never"

    async def scenario() -> None:
        running = tool(handler).acall({"q": "x"}, on_event=events.append)
        task = asyncio.create_task(running)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(scenario())
    assert [getattr(event, "is_error", None) for event in events] == [None, True]


# Results


def picture() -> Media:
    """Return a media."""
    return make(Media)


@pytest.mark.parametrize("several", [list, tuple])
def test_media_stay_media(several: Callable[[object], Any]) -> None:
    """One as it is, a list as a tuple, fit for the results of a call."""
    one = picture()

    assert tool(giving(one)).call({"q": "x"}) is one
    results = tool(giving(several([one, one]))).call({"q": "x"})
    assert results == (one, one)
    assert make(ToolCall, results=results).results == (one, one)


def test_text_becomes_text_or_an_artifact() -> None:
    """`artifact` says which; bytes are an artifact in any case."""
    text = tool(giving("a\nb")).call({"q": "x"})
    lines = tool(giving("a\nb"), artifact=SpooledArtifact).call({"q": "x"})
    raw = tool(giving(b"\xff\n")).call({"q": "x"})

    assert text == Tokenizable("a\nb")
    assert isinstance(lines, SpooledArtifact)
    assert lines.head(1) == ["a"]
    assert isinstance(raw, SpooledArtifact)
    assert raw.reader == BytesReader(b"\xff\n")


def test_artifact_is_of_the_class_that_is_named() -> None:
    """A subclass wraps what its tool gives."""

    class Table(SpooledArtifact):
        pass

    results = tool(giving("a,b"), artifact=Table).call({"q": "x"})

    assert type(results) is Table


@pytest.mark.parametrize("value", [None, 5, {"a": 1}, [], ["text"], [1], object()])
def test_other_results_are_refused(value: object) -> None:
    """Nothing is turned into text behind one's back."""
    with pytest.raises(ToolError, match=r"gave .*, not text, bytes, a Media or a list"):
        tool(giving(value)).call({"q": "x"})


def test_text_that_is_no_text_is_refused_for_an_artifact() -> None:
    """An artifact has bytes, and half a character has none."""
    found = tool(giving("\ud800"), artifact=SpooledArtifact)

    with pytest.raises(ToolError, match=r"gave text with lone surrogates.*give bytes"):
        found.call({"q": "x"})
    assert tool(giving("\ud800")).call({"q": "x"}) == Tokenizable("\ud800")


def test_mixed_results_are_refused() -> None:
    """A call holds artifacts or media, not both."""
    mixed = [picture(), SpooledArtifact(BytesReader(b"x"))]

    with pytest.raises(ToolError, match="not text, bytes, a Media or a list"):
        tool(giving(mixed)).call({"q": "x"})


def test_artifact_tool_gives_text_only() -> None:
    """A search in the result of a search piles up no handles."""

    def results(value: object) -> object:
        found = ArtifactTool("head", "Lines.", SCHEMA, giving(value))
        return found.call({"q": "x"})

    assert results("line") == Tokenizable("line")
    assert results(Tokenizable("line")) == Tokenizable("line")
    for value in (b"line", picture(), None):
        with pytest.raises(ToolError, match="not text"):
            results(value)


# Copies


def test_tool_pickles_with_a_handler_that_has_a_name() -> None:
    """Also after it was called, and with a definition."""
    found = tool(meta=Registry({"a": 1}))
    found.validate({"q": "x"})

    assert pickle.loads(pickle.dumps(found)) == found
    assert pickle.loads(pickle.dumps(tool(Shop.hours))) == tool(Shop.hours)
    assert pickle.loads(pickle.dumps(tool(None))) == tool(None)


@pytest.mark.parametrize(
    ("handler", "reason"),
    [
        (lambda: "x", "a lambda has no name"),
        (Shop().find, "the bound method find holds a live"),
        (Shop(), "an object of .*Shop holds state"),
        (functools.partial(search), r"a functools\.partial holds arguments"),
    ],
)
def test_tool_without_a_named_handler_does_not_pickle(
    handler: object, reason: str
) -> None:
    """It says why, instead of what pickle says."""
    with pytest.raises(HandlerNotEncodableError, match=reason) as caught:
        pickle.dumps(tool(handler))

    assert caught.value.path == "$.handler"


def test_tool_runs_in_a_spawned_process() -> None:
    """It comes there by pickle, with its handler."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        assert pool.submit(pickled_answer, tool()).result(timeout=60) == "found tea"


def test_copies_of_a_tool_keep_its_handler() -> None:
    """A live one is no reason not to copy; what is mutable is copied when asked."""
    live = tool(Shop().find, meta=Registry({"a": 1}))
    deep = copy.deepcopy(live)

    assert copy.copy(live) == live
    assert deep == live
    assert deep.meta is not live.meta
    assert deep.input_schema is not live.input_schema


# Without jsonschema


def test_missing_jsonschema_is_told() -> None:
    """A tool can be held without it; to check arguments says what to install."""
    code = (
        "import sys; sys.modules['jsonschema'] = None\n"
        "from graphcodec import Tool\n"
        "tool = Tool('t', 'd', {'type': 'object'}, None)\n"
        "try: tool.validate({})\n"
        "except ModuleNotFoundError as exc: print(exc)"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter and script
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == (
        "checking arguments needs jsonschema: pip install 'graphcodec[tools]'"
    )
