"""Source text as handlers: only where it was asked for, and only what it can carry."""

from __future__ import annotations

import asyncio
import functools
import json
import linecache
import pickle
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from graphcodec import Codec, Tokenizable, Tool, encode
from graphcodec.errors import (
    HandlerNotEncodableError,
    InvalidValueError,
    NoHandlerError,
    UndecodableValueError,
)
from graphcodec.unsafe import SourceHandlers
from tests.codec import source_functions as functions
from tests.primitives.handlers import Shop, search, tool

# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# What a lambda takes can't be annotated.

WRITING = Codec(handlers=SourceHandlers())
TRUSTING = Codec(handlers=SourceHandlers(trusted=True))


def document(source: object) -> str:
    """Return the document of a tool whose handler is this."""
    root = json.loads(Codec().encode_text(tool(None)))["root"]
    return json.dumps({"graphcodec": 1, "root": {**root, "handler": source}})


def sent(handler: Any) -> Tool:
    """Return a tool that went out as text and came back."""
    return TRUSTING.decode(WRITING.encode(tool(handler)), Tool)


@pytest.mark.parametrize(
    ("handler", "expected"),
    [
        (functions.upper, "GREEN TEA CTX"),
        (functions.later, "later green tea"),
        (functions.countdown, "2 1 go"),
        (functions.decorated, "decorated green tea"),
    ],
)
def test_function_runs_after_its_text_was_sent(handler: Any, expected: str) -> None:
    """Plain, asynchronous, recursive, and without its decorator."""
    again = sent(handler)

    assert again.handler is not handler
    assert again.call({"q": "green tea"}, ctx="CTX") == Tokenizable(expected)
    awaited = asyncio.run(again.acall({"q": "green tea"}, ctx="CTX"))
    assert awaited == Tokenizable(expected)


def test_text_is_one_definition() -> None:
    """Without comments, decorators and the annotations of parameters."""
    text = json.loads(WRITING.encode_text(tool(functions.upper)))["root"]["handler"]

    assert list(text) == ["$source"]
    assert text["$source"].startswith("def upper(args, ctx=None):\n")
    assert "comment" not in text["$source"]


def test_nested_function_that_keeps_nothing_can_travel() -> None:
    """Where it was defined is no part of it."""

    def inner(args: Any) -> str:
        return f"inner {args['q']}"

    assert sent(inner).call({"q": "tea"}) == Tokenizable("inner tea")


def test_what_came_as_text_can_be_sent_on() -> None:
    """It has no file, but its text was kept; the document is the same."""
    data = WRITING.encode(tool(functions.upper))

    assert TRUSTING.encode(TRUSTING.decode(data)) == data


def test_bound_functions_go_by_name() -> None:
    """Also here; their text stays at home."""
    codec = Codec(handlers=SourceHandlers({"search": search}, trusted=True))

    assert json.loads(codec.encode_text(tool()))["root"]["handler"] == "search"
    codec.check(tool())


@pytest.mark.parametrize("format_", ["json", "msgpack"])
def test_both_formats_carry_text(format_: Any) -> None:
    """As one marker."""
    data = WRITING.replace(format=format_).encode(tool(functions.upper))

    again = TRUSTING.decode(data, Tool)
    assert again.call({"q": "x"}) == Tokenizable("X None")


def closure() -> Any:
    """Return a function that keeps something."""
    kept = "x"

    def inner(_: object) -> str:
        return kept

    return inner


@pytest.mark.parametrize(
    ("handler", "reason"),
    [
        (closure(), "the function inner closes over kept"),
        (Shop().find, "the bound method find"),
        (len, "the native function len"),
        (functools.partial(search), r"a functools\.partial"),
        (Shop(), "an object of"),
        (lambda _: "x", "a lambda has no name"),
        (functions.with_module, "with_module uses json of its module"),
        (functions.with_constant, "with_constant uses LIMIT of its module"),
        (functions.with_default, "with_default has a default that is no literal"),
    ],
)
def test_function_that_needs_more_than_its_text_is_refused(
    handler: Any, reason: str
) -> None:
    """When it is encoded, not when somebody calls it."""
    with pytest.raises(HandlerNotEncodableError, match=reason) as caught:
        WRITING.encode([tool(handler)])

    assert caught.value.path == "$[0].handler"


def test_function_without_a_file_is_refused() -> None:
    """There is no text to send."""
    space: dict[str, Any] = {}
    exec("def made(args): return 'x'", space)  # noqa: S102 - has no file, as wanted

    with pytest.raises(HandlerNotEncodableError, match="made has no source text"):
        WRITING.encode(tool(space["made"]))


def test_file_that_was_changed_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it says now is not what would run here."""
    file = tmp_path / "changing_functions.py"
    file.write_text("def changing(args):\n    return 'old'\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    changing: Any = import_module("changing_functions").changing
    try:
        WRITING.encode(tool(changing))
        file.write_text("def changing(args):\n    return 'other'\n")
        linecache.checkcache(str(file))
        with pytest.raises(HandlerNotEncodableError, match="not what its file says"):
            WRITING.encode(tool(changing))
    finally:
        del sys.modules["changing_functions"]


# Off unless asked for


def test_text_is_not_read_without_trust() -> None:
    """Neither by a codec of any other kind, nor by one that only writes it."""
    data = WRITING.encode(tool(functions.upper))

    for codec in (Codec(), Codec(handlers={"upper": functions.upper})):
        with pytest.raises(NoHandlerError, match="SourceHandlers alone") as caught:
            codec.decode(data)
        assert caught.value.path == "$.handler"
    with pytest.raises(NoHandlerError, match=r"not trusted here.*trusted=True"):
        WRITING.decode(data)


def test_nothing_runs_when_text_is_decoded() -> None:
    """Not its decorators, defaults, annotations or whatever stands beside it."""
    for text in (
        "import sys; sys.ran = True",
        "def f(args): ...\nimport sys; sys.ran = True",
        "def f(args, x=__import__('sys').__setattr__('ran', 1)): ...",
        "def f(args, *, x=[print()]): ...",
        "class f: pass",
        "f = lambda args: 'x'",
        "",
    ):
        with pytest.raises(UndecodableValueError, match="must be one definition"):
            TRUSTING.decode(document({"$source": text}))
    again = TRUSTING.decode(
        document(
            {
                "$source": "@__import__('sys').exit\n"
                "def f(args: exit(1), *more: exit(2)) -> exit(3):\n"
                "    return 'quiet'"
            }
        ),
        Tool,
    )
    assert again.call({"q": "x"}) == Tokenizable("quiet")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def f(:", "is no Python: SyntaxError"),
        ("\x00", "is no Python: "),
        ("def f(a, a): ...", "is no Python: SyntaxError"),
        ("def f(args):\n return " + "(" * 500 + ")" * 500, "is no Python"),
        ("def f(args):\n return " + "-" * 50_000 + "1", "is no Python"),
        (5, "is text, not 5"),
        ("def f(args):\n return '\\ud800'", None),
    ],
)
def test_text_that_is_no_definition(source: object, reason: str | None) -> None:
    """Ends in an error of ours, with the place."""
    if reason is None:
        TRUSTING.decode(document({"$source": source}))
        return
    with pytest.raises(UndecodableValueError, match=reason) as caught:
        TRUSTING.decode(document({"$source": source}))

    assert caught.value.path == "$.handler"


@pytest.mark.parametrize(
    "wire", [{"$source": "def f(a): ...", "more": 1}, {}, ["$source"], "$source", 5]
)
def test_other_forms_are_not_text(wire: object) -> None:
    """The marker stands alone."""
    with pytest.raises(NoHandlerError):
        TRUSTING.decode(document(wire))


def test_source_handlers_are_a_mapping() -> None:
    """Of those that go by name; a repr shows no function."""
    handlers = SourceHandlers({"search": search})

    assert dict(handlers) == {"search": search}
    assert len(handlers) == 1
    assert repr(handlers) == "SourceHandlers(<1 names>)"


@pytest.mark.parametrize("trusted", ["false", 1, None])
def test_trust_is_said_plainly(trusted: Any) -> None:
    """Nothing that merely looks true will do."""
    with pytest.raises(InvalidValueError, match="trusted must be a bool"):
        SourceHandlers(trusted=trusted)


def test_nothing_else_loads_the_module() -> None:
    """Decoding a document with text does not."""
    code = (
        "import sys, graphcodec as g\n"
        f"try: g.decode({WRITING.encode(tool(functions.upper))!r})\n"
        "except g.errors.NoHandlerError: print('graphcodec.unsafe' in sys.modules)"
    )
    done = subprocess.run(  # noqa: S603 - our own interpreter and script
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "False"


def test_closed_codec_writes_text_only_if_it_would_read_it() -> None:
    """Like any other handler."""
    with pytest.raises(HandlerNotEncodableError, match="not trusted here"):
        WRITING.replace(write_unregistered=False).encode(tool(functions.upper))
    TRUSTING.replace(write_unregistered=False).encode(tool(functions.upper))


def test_source_handlers_pickle_with_their_trust() -> None:
    """And with the functions that go by name."""
    codec = Codec(handlers=SourceHandlers({"search": search}, trusted=True))

    again = pickle.loads(pickle.dumps(codec))

    again.check(tool())
    again.decode(WRITING.encode(tool(functions.upper)))
    with pytest.raises(NoHandlerError, match="not trusted"):
        pickle.loads(pickle.dumps(WRITING)).decode(
            WRITING.encode(tool(functions.upper))
        )


def test_default_codec_never_writes_text() -> None:
    """A name, or an error."""
    assert b"$source" not in encode(tool(functions.upper))
