"""What went wrong in other serializers, tried here; docs/security.md names advisories.

Where another module tests the same thing, it is not tested again.
"""

from __future__ import annotations

import ast
import inspect
import json
import pickle
import re
import sys
import time
from typing import Any, Final

import pytest

from graphcodec import Codec, Message, OpaqueNode, ToolCall, _ciphers, decode, errors
from tests.primitives.builders import make

CANARY: Final = "antigravity"
"""A module that nobody loads by chance, and that would open a browser."""


class Gadget:
    """What a pickle would run."""

    def __reduce__(self) -> tuple[Any, ...]:
        return __import__, (CANARY,)


def document(root: object, **more: object) -> bytes:
    """Return a JSON document with a root."""
    return json.dumps({"graphcodec": 1, **more, "root": root}).encode()


FOREIGN: Final[dict[str, bytes]] = {
    "pickle": pickle.dumps(Gadget()),
    "pickle, protocol 0": pickle.dumps(Gadget(), protocol=0),
    "YAML": f"!!python/object/apply:builtins.__import__ [{CANARY}]".encode(),
    "jsonpickle": json.dumps({"py/reduce": [{"py/type": CANARY}, []]}).encode(),
    "lc": json.dumps({"lc": 1, "type": "secret", "id": ["PATH"]}).encode(),
    "jackson": json.dumps(["org.springframework.context.X", "http://x/"]).encode(),
}

MARKERS: Final[list[dict[str, object]]] = [
    {"py/object": f"{CANARY}.X", "py/reduce": [{"py/function": "os.system"}, ["id"]]},
    {"lc": 1, "type": "secret", "id": ["PATH"]},
    {"lc": 1, "type": "constructor", "id": [CANARY, "X"], "kwargs": {"a": 1}},
    {"lc": 2, "type": "constructor", "id": ["builtins", "eval"], "args": ["1"]},
    {"@class": "com.sun.rowset.JdbcRowSetImpl", "dataSourceName": "rmi://x/"},
    {"@type": "java.lang.AutoCloseable"},
    {"__type__": "datetime", "__value__": "now"},
    {"__class__": CANARY, "__module__": CANARY, "__init__": {"__globals__": {}}},
    {"__proto__": {"admin": True}, "constructor": {"prototype": {"admin": True}}},
    {"!!python/name:os.system": ""},
    {"$type": "Message", "id": "x"},
    {"$reader": {"tag": "media:http", "locator": {"url": "http://169.254.169.254/"}}},
]

TAGS: Final = [
    *("os.system", "builtins.eval", f"{CANARY}", f"{CANARY}.geohash", f"{CANARY}:x"),
    *("__main__.X", "subprocess:Popen", "graphcodec.unsafe.SourceHandlers", "../x"),
    *("log:../../x", "run:os", "$any", "py/object", "__reduce__"),
]


@pytest.mark.parametrize("data", FOREIGN.values(), ids=FOREIGN)
def test_other_formats_are_refused(data: bytes) -> None:
    """There is no second way in: what others wrote is an error, and nothing runs."""
    with pytest.raises(errors.UndecodableValueError):
        decode(data)
    assert CANARY not in sys.modules


@pytest.mark.parametrize("marker", MARKERS, ids=lambda marker: next(iter(marker)))
@pytest.mark.parametrize("form", ["json", "msgpack"])
def test_markers_of_others_are_data(marker: dict[str, object], form: Any) -> None:
    """What others take for an order comes back as the dict that it is."""
    codec = Codec(format=form)
    args = {"a": marker, "b": [(marker,)]}

    again = codec.decode(codec.encode(make(ToolCall, args=args)), ToolCall)

    assert again.args == args
    assert type(again.args["a"]) is dict


@pytest.mark.parametrize("tag", TAGS)
def test_tags_import_nothing(tag: str) -> None:
    """A tag is looked up in the table of the codec, and nowhere else."""
    before = set(sys.modules)

    with pytest.raises(errors.UndecodableValueError):
        decode(document({"$type": tag, "args": ["id"]}))
    # The first tag of a log or a run loads the module of graphcodec for it.
    loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
    assert CANARY not in loaded
    if ":" not in tag or not tag.startswith(("log", "run")):
        assert not loaded


def test_unknown_tags_that_are_kept_are_data() -> None:
    """A codec that keeps what it does not know makes no object of it either."""
    found = Codec(unknown_types="keep").decode(document({"$type": "os.system", "a": 1}))

    assert isinstance(found, OpaqueNode)


@pytest.mark.parametrize(
    "name",
    ["__class__", "__dict__", "__init__", "__graphcodec_check__", "__globals__", "_x"],
)
def test_fields_reach_no_class(name: str) -> None:
    """A field that is called like an attribute of a class changes none."""
    codec = Codec()
    tree: Any = json.loads(codec.encode_text(make(Message)))
    tree["root"][name] = {"__globals__": {"x": 1}}
    before = dict(vars(Message))

    again = codec.decode(json.dumps(tree))

    assert type(again) is Message
    assert dict(vars(Message)) == before
    assert json.loads(codec.encode_text(again)) == tree


@pytest.mark.parametrize("form", ["{}", '{{"$any":{{"$int":"{}"}}}}'])
def test_long_integers(form: str) -> None:
    """A number of a million digits is refused, or read without quadratic work."""
    data = b'{"graphcodec":1,"root":' + form.format("9" * 1_000_000).encode() + b"}"

    start = time.process_time()
    with pytest.raises(errors.GraphCodecError):
        decode(data)
    # Decimal text of that length takes CPython half a minute without its own limit.
    assert time.process_time() - start < 5


def test_hexadecimal_integers_are_linear() -> None:
    """The form that huge ints are written in has no quadratic reading."""
    number = 7 << 8_000_000

    start = time.process_time()
    codec = Codec()
    assert codec.decode(codec.encode((number,))) == (number,)
    assert time.process_time() - start < 5


def test_environment_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in a document brings back a variable of the environment."""
    monkeypatch.setenv("CANARY_SECRET", "canary-value")
    marker = {"lc": 1, "type": "secret", "id": ["CANARY_SECRET"]}

    again = decode(document({"$any": {"$dict": [["a", marker], [1, 2]]}}))

    assert "canary-value" not in repr(again)


@pytest.mark.parametrize(
    "text",
    ["\x1b[2J\x1b]0;owned\x07", "a\r\nERROR forged line", "\x9b31m", "\u202egpj"],
)
def test_errors_hold_no_control_characters(text: str) -> None:
    """What a document says can't forge a line of a log or move a cursor."""
    roots: list[Any] = [
        {"$type": text},
        {"$type": "Message", text: 1, "id": text},
        {"$any": {text: 1, "$set": [[]]}},
        {"$any": {"$zoneinfo": text}},
        {"$any": {"$path": text, "kind": text}},
    ]
    for root in roots:
        with pytest.raises(errors.GraphCodecError) as caught:
            decode(document(root))
        shown = str(caught.value)
        assert re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e]", shown) is None, shown


def test_macs_are_compared_in_constant_time() -> None:
    """The tag of a document goes to the function of `cryptography` that is made so."""
    tree = ast.parse(inspect.getsource(_ciphers))
    compared = [node for node in ast.walk(tree) if isinstance(node, ast.Compare)]
    (verify,) = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name == "verify"
    ]

    assert not compared
    assert "mac.verify(expected)" in ast.unparse(verify)
