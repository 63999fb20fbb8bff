"""Tools on the wire: handlers by name, artifacts by tag, schemas as they are."""

from __future__ import annotations

import functools
import json
import multiprocessing
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor
from types import FunctionType, ModuleType
from typing import Any

import pytest
from attrs import frozen

from graphcodec import (
    ArtifactTool,
    BytesReader,
    BytesStore,
    Codec,
    Conversation,
    Limits,
    OpaqueNode,
    Registry,
    SpooledArtifact,
    Tokenizable,
    Tool,
    ToolRegistry,
    decode,
    encodable,
    encode,
    encode_text,
    persist,
)
from graphcodec.errors import (
    GraphCodecError,
    HandlerNotEncodableError,
    InvalidValueError,
    LimitExceededError,
    NoHandlerError,
    UndecodableValueError,
    UnencodableValueError,
)
from graphcodec.testing import same_graph
from tests.primitives import handlers
from tests.primitives.handlers import SCHEMA, Shop, answer, failing, search, tool

NAME = "tests.primitives.handlers:search"
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false
# What a lambda takes can't be annotated.

CODEC = Codec(handlers={"search": search, "fail": failing})


@encodable("shop.Table")
@frozen(eq=False, repr=False)
class Table(SpooledArtifact):
    """An artifact of a user."""


def wire(value: object, codec: Codec = CODEC) -> dict[str, Any]:
    """Return what stands at the root of the document of *value*."""
    root: dict[str, Any] = json.loads(codec.encode_text(value))["root"]
    return root


def document(**changes: object) -> str:
    """Return the document of a tool with some fields changed by hand."""
    return json.dumps({"graphcodec": 1, "root": {**wire(tool()), **changes}})


# As the upstream tests them


def test_tool_keeps_its_fields_and_its_schema() -> None:
    """18: what it is called, what it says, its flags, meta data and schema."""
    found = tool(
        trusted=True,
        ephemeral=True,
        on_collision="replace",
        meta=Registry({"cost": 2}),
        artifact=SpooledArtifact,
    )

    again = CODEC.decode(CODEC.encode(found), Tool)

    assert again == found
    assert again.describe() == found.describe()
    assert again.handler is search


def test_handler_runs_after_the_round_trip() -> None:
    """19: as it did before."""
    again = CODEC.decode(CODEC.encode(tool()), Tool)

    assert again.call({"q": "tea"}) == Tokenizable("found tea")


def test_closure_is_refused_before_it_could_fail() -> None:
    """20: the upstream's fails when it is called; ours when it is encoded."""
    kept = "tea"

    def handler(_: object) -> str:
        return kept

    with pytest.raises(HandlerNotEncodableError, match="handler closes over kept"):
        CODEC.encode(tool(handler))


def test_artifact_tool_comes_back_as_one() -> None:
    """21: and is a tool."""
    found = ArtifactTool("head", "Lines.", SCHEMA, search)

    again = CODEC.decode(CODEC.encode(found))

    assert type(again) is ArtifactTool
    assert isinstance(again, Tool)
    assert again == found


def test_registry_keeps_tools_and_what_is_hidden() -> None:
    """22: in order, with names that no tool has yet."""
    registry = ToolRegistry(
        [tool(name="b"), ArtifactTool("a", "Lines.", SCHEMA, None)],
        hidden=["a", "later"],
    )

    again = CODEC.decode(CODEC.encode(registry), ToolRegistry)

    assert again == registry
    assert [each.name for each in again.visible()] == ["b"]
    again.register(tool(name="later"))
    assert [each.name for each in again.hidden()] == ["a", "later"]


def test_decoded_tool_is_registered_and_encoded_again() -> None:
    """35, 36: it is like any other, and its document the same."""
    first = CODEC.encode(ToolRegistry([tool()]))
    (found,) = CODEC.decode(first, ToolRegistry)

    assert CODEC.encode(ToolRegistry([found])) == first


# The name of a handler


def test_key_of_the_handlers_is_the_name() -> None:
    """It goes before the name of the module."""
    assert wire(tool())["handler"] == "search"
    assert wire(tool(), Codec())["handler"] == NAME


def test_module_and_name_are_the_name_of_what_is_not_bound() -> None:
    """The reader binds a function to it; nothing is looked up."""
    data = encode(tool())

    with pytest.raises(NoHandlerError, match="no handler is bound to the name"):
        decode(data)
    assert Codec(handlers={NAME: search}).decode(data) == tool()
    assert Codec(handlers={NAME: failing}).decode(data) == tool(failing)


def test_static_method_has_a_name() -> None:
    """It leads back through the class."""
    name = "tests.primitives.handlers:Shop.hours"

    assert wire(tool(Shop.hours))["handler"] == name


@pytest.mark.parametrize(
    "handler", [lambda _: "x", Shop().find, functools.partial(search), len, Shop()]
)
def test_whatever_has_a_key_can_be_encoded(handler: Any) -> None:
    """The user gave it a name, so both sides know what is meant."""
    codec = Codec(handlers={"own": handler})

    assert wire(tool(handler), codec)["handler"] == "own"
    assert codec.decode(codec.encode(tool(handler)), Tool).handler is handler


def test_bound_method_is_found_under_its_key() -> None:
    """Each look at it makes a new one; another object's is another method."""
    shop, other = Shop(), Shop()
    codec = Codec(handlers={"find": shop.find})

    codec.check(tool(shop.find))
    with pytest.raises(HandlerNotEncodableError, match="bound method find"):
        codec.encode(tool(other.find))


def closure() -> Any:
    """Return a function that keeps something."""
    kept = object()
    return lambda_free(kept)


def lambda_free(kept: object) -> Any:
    """Return a function that closes over its argument."""

    def inner(_: object) -> str:
        return repr(kept)

    return inner


def nested() -> Any:
    """Return a function that keeps nothing."""

    def inner(_: object) -> str:
        return "x"

    return inner


def in_module(name: str) -> Any:
    """Return a function that says that it is of another module."""
    return FunctionType(search.__code__, {"__name__": name}, "search")


REFUSED: dict[str, tuple[Any, str]] = {
    "lambda": (lambda _: "x", "a lambda has no name to find it by"),
    "closure": (closure(), "the function inner closes over kept"),
    "nested": (nested(), "the function inner is nested in another one"),
    "bound": (Shop().find, r"the bound method find holds a live .*Shop"),
    "partial": (functools.partial(search), r"a functools\.partial holds arguments"),
    "builtin": (len, "the native function len has no portable name"),
    "builtin method": ("x".join, "the native function join"),
    "slot": (str.upper, "the native function upper"),
    "object": (Shop(), r"an object of .*Shop holds state that has no name"),
    "class": (Shop, r"the class .*Shop is no function"),
    "cached": (functools.lru_cache(search), r"an object of functools\._lru_cache"),
    "main": (in_module("__main__"), "search is in the script that was started"),
    "child's main": (in_module("__mp_main__"), "is in the script that was started"),
    "replaced": (in_module(handlers.__name__), "is not the function of that name"),
    "not loaded": (
        in_module("no.such"),
        r"no\.such\.search is not the function",
    ),
}


@pytest.mark.parametrize(("handler", "reason"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("format_", ["json", "msgpack"])
def test_nameless_handler_is_refused(handler: Any, reason: str, format_: Any) -> None:
    """Each with its own reason, the path and what to do."""
    graph = Conversation(id="c", items=[], tools=ToolRegistry([tool(handler)]))

    with pytest.raises(HandlerNotEncodableError, match=reason) as caught:
        CODEC.replace(format=format_).encode(graph)

    assert caught.value.path == "$.tools.tools[0].handler"
    assert "Codec(handlers={name: function})" in caught.value.hint


def test_no_module_is_asked_for_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even one that makes its names when they are asked for."""

    class Lazy(ModuleType):
        def __getattr__(self, name: str) -> object:
            pytest.fail(f"{name} was asked for")

    monkeypatch.setitem(sys.modules, "lazy", Lazy("lazy"))

    with pytest.raises(HandlerNotEncodableError, match=r"lazy\.search"):
        CODEC.encode(tool(in_module("lazy")))


def test_decorated_function_goes_by_its_name() -> None:
    """It is a closure, and what its name leads to all the same."""
    assert wire(tool(decorated))["handler"] == f"{__name__}:decorated"


def _logged(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any) -> object:
        return function(*args)

    return wrapper


@_logged
def decorated(_: object) -> str:
    """Be wrapped."""
    return "x"


# Reading


@pytest.mark.parametrize(
    ("handler", "reason"),
    [
        ("os:system", r"no handler is bound to the name 'os:system'"),
        ("builtins:eval", r"Codec\(handlers=\{'builtins:eval': function\}\)"),
        (NAME, "no handler is bound"),
        ("", "no handler is bound to the name ''"),
        ("x" * 1000, "no handler is bound to the name 'xxx"),
        (5, "a handler is said by its name, not by 5"),
        (True, "not by True"),
        ([], "not by <list>"),
        ({}, "not by <dict>"),
        ({"$source": "def f(args): ..."}, r"graphcodec\.unsafe\.SourceHandlers alone"),
        ({"$any": "search"}, "not by <dict>"),
        ({"$type": "$ref", "n": 0}, "not by <dict>"),
    ],
)
def test_handler_that_nobody_bound(handler: object, reason: str) -> None:
    """The error names the tool's place; nothing was imported or called."""
    before = set(sys.modules)

    with pytest.raises(NoHandlerError, match=reason) as caught:
        CODEC.decode(document(handler=handler))

    assert caught.value.path == "$.handler"
    assert caught.value.code == "E_NO_HANDLER"
    assert len(str(caught.value)) < 400
    assert set(sys.modules) == before


def test_path_of_a_handler_leads_through_nodes() -> None:
    """A tool that is shared stands among the nodes."""
    shared = tool()
    data = CODEC.encode({"a": [ToolRegistry([shared]), ToolRegistry([shared])]})

    with pytest.raises(NoHandlerError) as caught:
        decode(data)

    assert caught.value.path == "$.a[0].tools[0].handler"


def test_definition_needs_no_handler() -> None:
    """Null says that there is none, and any codec reads it."""
    known = tool(None)

    assert wire(known)["handler"] is None
    assert decode(encode(known)) == known


def test_handler_has_to_be_said() -> None:
    """A document without it is not a definition, but broken."""
    fields = wire(tool())
    del fields["handler"]
    text = json.dumps({"graphcodec": 1, "root": fields})

    with pytest.raises(UndecodableValueError, match="handler"):
        CODEC.decode(text)


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"name": ""}, "$.name"),
        ({"input_schema": {"type": "array"}}, "$.input_schema"),
        ({"input_schema": []}, "$.input_schema"),
        ({"artifact": "Message"}, "$.artifact"),
        ({"artifact": "no.such"}, "$.artifact"),
        ({"artifact": 5}, "$.artifact"),
        ({"artifact": {"$type": "SpooledArtifact"}}, "$.artifact"),
        ({"on_collision": "drop"}, "$.on_collision"),
        ({"trusted": 1}, "$.trusted"),
        ({"meta": {}}, "$.meta"),
    ],
)
def test_wrong_field_of_a_tool_is_refused(changes: Any, path: str) -> None:
    """With its place."""
    with pytest.raises(UndecodableValueError) as caught:
        CODEC.decode(document(**changes))

    assert caught.value.path == path


@pytest.mark.parametrize("tag", ["", "$any"])
def test_artifact_that_is_no_tag_is_refused(tag: str) -> None:
    """Also where tags that nobody knows are kept."""
    keeping = CODEC.replace(unknown_types="keep")

    assert type(keeping.decode(document(artifact="no.such"))) is OpaqueNode
    with pytest.raises(UndecodableValueError, match=r"is unknown to this codec"):
        keeping.decode(document(artifact=tag))


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": {}, "hidden": []},
        {"tools": [None], "hidden": []},
        {"tools": [], "hidden": [1]},
        {"tools": [], "hidden": "ab"},
        {"tools": "twice", "hidden": []},
    ],
)
def test_wrong_registry_is_refused(fields: Any) -> None:
    """Among them one that has a name twice."""
    if fields["tools"] == "twice":
        fields = {**fields, "tools": [wire(tool())] * 2}
    root = {"$type": "ToolRegistry", **fields}

    with pytest.raises(UndecodableValueError, match=r"\(at \$"):
        CODEC.decode(json.dumps({"graphcodec": 1, "root": root}))


def test_old_conversations_have_no_tools() -> None:
    """A document from before they could have some is read as it was meant."""
    talk = Conversation(id="c", items=[])
    fields = wire(talk)
    del fields["tools"]

    again = decode(json.dumps({"graphcodec": 1, "root": fields}), Conversation)

    assert again.tools is None
    assert again == talk


# Artifacts


def test_artifact_is_written_as_its_tag() -> None:
    """A user's class as its own, and any codec writes it."""
    assert wire(tool(artifact=SpooledArtifact))["artifact"] == "SpooledArtifact"
    data = CODEC.encode(tool(artifact=Table))

    with pytest.raises(UndecodableValueError, match=r"shop\.Table.*loaded") as caught:
        CODEC.decode(data)
    assert caught.value.path == "$.artifact"
    again = CODEC.replace(types=[Table]).decode(data, Tool)
    assert again.artifact is Table
    results = again.call({"q": "tea"})
    assert type(results) is Table
    assert results.text() == "found tea"


def test_artifact_without_a_tag_is_refused() -> None:
    """As an object of the class would be."""

    class Untagged(SpooledArtifact):
        pass

    with pytest.raises(UnencodableValueError, match="Untagged has no tag") as caught:
        CODEC.encode(tool(artifact=Untagged))

    assert caught.value.path == "$.artifact"


def test_unknown_artifact_makes_the_tool_opaque() -> None:
    """Who keeps unknown types passes the tool on as it came."""
    data = CODEC.encode(tool(artifact=Table))
    keeping = CODEC.replace(unknown_types="keep")

    kept = keeping.decode(data)

    assert isinstance(kept, OpaqueNode)
    assert keeping.encode(kept) == data


def test_closed_codec_writes_what_it_reads() -> None:
    """Neither a handler nor a class that it could not read back."""
    closed = Codec(write_unregistered=False)

    closed.check(tool(None))
    with pytest.raises(HandlerNotEncodableError, match="is not bound here"):
        closed.encode(tool())
    with pytest.raises(UnencodableValueError, match=r"shop\.Table.*can't read back"):
        closed.encode(tool(None, artifact=Table))
    closed.replace(handlers={NAME: search}, types=[Table]).check(tool(artifact=Table))


# Schemas


SCHEMAS: dict[str, dict[str, object]] = {
    "dollars": {
        "type": "object",
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"a": {"$ref": "#/$defs/a"}},
    },
    "look-alikes": {
        "type": "object",
        "properties": {
            "$type": {"$type": "$ref", "n": 0},
            "x": {"$any": {"$bytes": "AA=="}},
        },
    },
    "a key $any": {"type": "object", "$any": [{"$ref": "x"}]},
    "no JSON": {"type": "object", "default": (1, b"x"), "$defs": {}},
    "large": {"type": "object", "maximum": 2**70},
}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
@pytest.mark.parametrize("format_", ["json", "msgpack"])
def test_schema_comes_back_as_it_was(schema: Any, format_: Any) -> None:
    """Whatever its keys look like to us."""
    codec = CODEC.replace(format=format_)
    graph = [tool(input_schema=schema), ToolRegistry([tool(input_schema=schema)])]

    codec.check(graph)
    assert codec.decode(codec.encode(graph)) == graph


def test_schema_is_readable_on_the_wire() -> None:
    """``$defs`` and ``$ref`` are words of JSON Schema, not ours."""
    schema = SCHEMAS["dollars"]

    assert wire(tool(input_schema=schema))["input_schema"] == schema


def test_shared_parts_of_a_schema_stay_shared() -> None:
    """And what doubles at each level stays small."""
    part: dict[str, object] = {"type": "string"}
    for _ in range(30):
        part = {"anyOf": [part, part]}
    found = tool(None, input_schema={"type": "object", "properties": {"x": part}})

    assert len(encode(found)) < 10_000
    CODEC.check(found)


# Options of a codec


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ([search], "handlers must be a mapping"),
        ({1: search}, "the name of a handler must be a non-empty str, not 1"),
        ({"": search}, "the name of a handler must be a non-empty str, not ''"),
        ({"x": "search"}, "the handler 'x' can't be called: it is a str"),
    ],
)
def test_wrong_handlers_are_refused(given: Any, reason: str) -> None:
    """When the codec is made."""
    with pytest.raises(InvalidValueError, match=reason):
        Codec(handlers=given)


def test_handlers_are_those_of_the_codec() -> None:
    """What is added to the mapping later is not seen; a copy has them, too."""
    given = {"search": search}
    codec = Codec(handlers=given)
    given["fail"] = failing

    assert codec.replace(format="msgpack").decode(codec.encode(tool())) == tool()
    assert wire(tool(failing), codec)["handler"] == "tests.primitives.handlers:failing"
    with pytest.raises(NoHandlerError):
        codec.replace(handlers=None).decode(codec.encode(tool()))


def test_codec_pickles_if_its_handlers_do() -> None:
    """Else it says which one can't, and why."""
    again = pickle.loads(pickle.dumps(CODEC))

    assert again.decode(CODEC.encode(tool())) == tool()
    with pytest.raises(HandlerNotEncodableError, match="'x' can't be pickled"):
        pickle.dumps(Codec(handlers={"x": lambda _: "x"}))


def test_tool_runs_in_a_spawned_process() -> None:
    """The other side binds the name, under a key or by module."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        for codec in (CODEC, Codec()):
            done = pool.submit(answer, codec.encode(tool()))
            assert done.result(timeout=60) == "found tea"


# With the rest of the codec


def graph() -> Conversation:
    """Return a conversation with shared tools, and one that holds its registry."""
    shared = tool(artifact=SpooledArtifact)
    registry = ToolRegistry([shared, tool(failing, name="b")], hidden=["b"])
    registry.register(tool(None, name="c", meta=Registry({"all": registry})))
    stash = Registry({"again": [shared, {"a", "b"}]})
    return Conversation(id="c", items=[], tools=registry, stash=stash)


@pytest.mark.parametrize("format_", ["json", "msgpack"])
def test_graph_with_tools_comes_back(format_: Any) -> None:
    """With sharing, and the cycle through the meta data of a tool."""
    codec = CODEC.replace(format=format_)

    codec.check(graph())
    again = codec.decode(codec.encode(graph()), Conversation)
    assert again == graph()
    assert again.tools is not None
    assert again.tools.get("search") is again.stash.get("again.0")


def test_tools_without_references() -> None:
    """A tree has them twice."""
    plain = CODEC.replace(references="none")
    shared = tool()

    again: Any = plain.decode(plain.encode([shared, shared]))

    assert again == [shared, shared]
    assert again[0] is not again[1]


def test_hash_of_a_tool() -> None:
    """By the name of its handler, whatever the format; another name, another hash."""
    first = CODEC.content_hash(graph())

    assert CODEC.replace(format="msgpack").content_hash(graph()) == first
    assert CODEC.content_hash(tool()) != CODEC.content_hash(tool(failing))
    assert CODEC.content_hash(tool()) != Codec().content_hash(tool())


def test_same_graph_looks_at_handlers() -> None:
    """By identity, as functions are."""
    assert same_graph(tool(), tool())
    assert not same_graph(tool(), tool(failing))
    assert not same_graph(tool(artifact=SpooledArtifact), tool(artifact=Table))


def test_converter_gives_and_takes_tools() -> None:
    """The same names stand in the tree."""
    converter = CODEC.converter
    registry = ToolRegistry([tool(artifact=SpooledArtifact)])

    tree = converter.unstructure(registry)

    assert tree["tools"][0]["handler"] == "search"
    assert tree["tools"][0]["artifact"] == "SpooledArtifact"
    assert converter.structure(tree, ToolRegistry) == registry


def test_unknown_fields_of_a_tool_are_kept() -> None:
    """A newer version's field comes back, with the handler beside it."""
    again = CODEC.decode(document(later=[1]), Tool)

    assert again.handler is search
    assert wire(again)["later"] == [1]


def test_limits_count_in_tools() -> None:
    """A description may be too long."""
    small = CODEC.replace(limits=Limits(max_string=100))

    with pytest.raises(LimitExceededError, match="max_string") as caught:
        small.encode(tool(description="x" * 101))

    assert caught.value.path == "$.description"


def test_readers_beside_tools_are_persisted() -> None:
    """Tools are left alone, or made again with their handler."""
    artifact = SpooledArtifact(BytesReader(b"x" * 100))
    talk = graph().replace(stash=Registry({"a": artifact}))
    kept = tool(meta=Registry({"log": artifact}))
    stored: list[Any] = persist([talk, kept], BytesStore(), inline_limit=10)

    assert stored[0].tools == talk.tools
    assert stored[1].handler is search
    assert isinstance(stored[1].meta.get("log"), SpooledArtifact)


def test_errors_of_tools_are_of_one_tree() -> None:
    """One except clause is enough."""
    for error in (HandlerNotEncodableError, NoHandlerError):
        assert issubclass(error, GraphCodecError)
    assert encode_text(tool(None)).startswith('{"graphcodec":1')
