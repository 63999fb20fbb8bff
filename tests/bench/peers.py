"""Who takes part, each given the same conversation in the form it can hold.

`pickle`, `cloudpickle`, `jsonpickle` and langgraph get the very objects that graphcodec
gets. What can't hold them gets plain classes of the same shape (`graphs.plain`), and so
does pickle once more. A floor without identity, tags or checks is msgspec with Structs.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false
# pyright: reportUnknownLambdaType=false, reportMissingImports=false
# pyright: reportOptionalMemberAccess=false
# mypy: disable-error-code="import-not-found"

from __future__ import annotations

import pickle
import typing
from collections.abc import Callable
from functools import cache
from typing import Any, Union

import attrs
import msgspec

import graphcodec
from graphcodec.testing import same_graph
from tests.bench import graphs


@attrs.frozen(kw_only=True)
class Peer:
    """A codec and how it is used.

    Attributes:
        name: What it is called.
        form: Turns a conversation into what it takes.
        dumps: Writes that.
        loads: Reads it back.
        same: Says whether what came back is what was written.
        remark: What it leaves out, if anything.
        slow: Whether it is left out for large graphs, lest they take minutes.
    """

    name: str
    form: Callable[[graphcodec.Conversation], Any] = lambda graph: graph
    dumps: Callable[[Any], bytes]
    loads: Callable[[bytes], Any]
    same: Callable[[Any, Any], bool] = same_graph
    remark: str = ""
    slow: bool = False


def _equal(left: Any, right: Any) -> bool:
    return bool(left == right)


def _ours(name: str, codec: graphcodec.Codec) -> Peer:
    return Peer(name=name, dumps=codec.encode, loads=codec.decode)


def _json() -> Peer:
    return _ours("graphcodec JSON", graphcodec.Codec())


def _msgpack() -> Peer:
    return _ours("graphcodec MessagePack", graphcodec.Codec(format="msgpack"))


def _pickle() -> Peer:
    return Peer(
        name="pickle",
        dumps=lambda graph: pickle.dumps(graph, 5),
        loads=pickle.loads,
        same=_equal,
        remark="checks nothing; runs code",
    )


def _pickle_plain() -> Peer:
    return Peer(
        name="pickle, plain classes",
        form=graphs.plain,
        dumps=lambda graph: pickle.dumps(graph, 5),
        loads=pickle.loads,
        same=_equal,
        remark="checks nothing; runs code",
    )


def _cloudpickle() -> Peer:
    import cloudpickle  # noqa: PLC0415 - one that is missing is a row that says so

    return Peer(
        name="cloudpickle",
        dumps=lambda graph: cloudpickle.dumps(graph, 5),
        loads=pickle.loads,
        same=_equal,
        remark="checks nothing; runs code",
    )


def _cattrs() -> Peer:
    from cattrs.preconf.orjson import make_converter  # noqa: PLC0415
    from cattrs.strategies import configure_tagged_union  # noqa: PLC0415

    converter = make_converter()
    converter.register_structure_hook_func(
        lambda hint: hint is object, lambda value, _: value
    )
    union: Any = graphs.Said | graphs.Call
    configure_tagged_union(union, converter)
    return Peer(
        name="cattrs + orjson",
        form=graphs.plain,
        dumps=converter.dumps,
        loads=lambda data: converter.loads(data, graphs.Chat),
        same=_equal,
        remark="no identity",
    )


def _jsonpickle() -> Peer:
    import jsonpickle  # noqa: PLC0415

    return Peer(
        name="jsonpickle",
        dumps=lambda graph: jsonpickle.encode(graph, keys=True).encode(),
        loads=lambda data: jsonpickle.decode(data.decode(), keys=True),
        remark="checks nothing; runs code",
        slow=True,
    )


def _jsonpickle_plain() -> Peer:
    peer = _jsonpickle()
    return attrs.evolve(
        peer, name="jsonpickle, plain classes", form=graphs.plain, same=_equal
    )


@attrs.define
class LooseChat:
    """A `graphs.Chat` with the annotations that pyfory understands."""

    id: str
    items: tuple[object, ...]
    stash: graphs.Stash


def _loose(graph: graphcodec.Conversation) -> LooseChat:
    chat = graphs.plain(graph)
    return LooseChat(chat.id, chat.items, chat.stash)


def _pyfory() -> Peer:
    import pyfory  # noqa: PLC0415

    fory = pyfory.Fory(xlang=False, ref=True, strict=True)
    for cls in (*graphs.PLAIN[:-1], LooseChat, graphs.Tier, graphs.Hazard):
        fory.register(cls)
    return Peer(
        name="pyfory",
        form=_loose,
        dumps=fory.dumps,
        loads=fory.loads,
        same=_equal,
        remark="plain classes; checks nothing",
    )


def _langgraph() -> Peer:
    from langgraph.checkpoint.serde.jsonplus import (  # noqa: PLC0415
        JsonPlusSerializer,
    )

    # With pickle_fallback=True it pickles them.
    serde = JsonPlusSerializer()
    return Peer(
        name="langgraph JsonPlusSerializer",
        dumps=lambda graph: serde.dumps_typed(graph)[1],
        loads=lambda data: serde.loads_typed(("msgpack", data)),
    )


def _pydantic_ai() -> Peer:
    from pydantic_ai import messages  # noqa: PLC0415

    def form(graph: graphcodec.Conversation) -> list[Any]:
        return [_message(messages, item) for item in graph.items]

    adapter = messages.ModelMessagesTypeAdapter
    return Peer(
        name="pydantic-ai",
        form=form,
        dumps=adapter.dump_json,
        loads=adapter.validate_json,
        same=lambda left, right: adapter.dump_json(left) == adapter.dump_json(right),
        remark="its own messages; no identity",
    )


def _message(messages: Any, item: Any) -> Any:
    if isinstance(item, graphcodec.ToolCall):
        part = messages.ToolCallPart(item.tool, dict(item.args), item.id)
        return messages.ModelResponse([part], timestamp=item.created_at)
    content = item.content.text if item.content else ""
    files = [
        messages.BinaryContent(media.read(), media_type=media.mime_type)
        for media in item.attachments
    ]
    if item.role == "user":
        part = messages.UserPromptPart([content, *files], timestamp=item.created_at)
        return messages.ModelRequest([part])
    return messages.ModelResponse(
        [messages.TextPart(content)], timestamp=item.created_at
    )


@cache
def _structs() -> dict[type, type[msgspec.Struct]]:
    """Return a Struct for each plain class, tagged like it."""
    found: dict[Any, type[msgspec.Struct]] = {}
    for cls in graphs.PLAIN:
        hints = typing.get_type_hints(cls)
        fields = [(name, _replaced(hint, found)) for name, hint in hints.items()]
        found[cls] = msgspec.defstruct(cls.__name__, fields, tag=True)
    return found


def _replaced(hint: Any, structs: dict[Any, type[msgspec.Struct]]) -> Any:
    """Return an annotation with Structs in the place of the plain classes."""
    arguments = tuple(_replaced(arg, structs) for arg in typing.get_args(hint))
    if not arguments:
        return structs.get(hint, hint)
    if typing.get_origin(hint) is tuple:
        return tuple.__class_getitem__(arguments)
    if typing.get_origin(hint) is dict:
        return dict.__class_getitem__(arguments)
    return Union[arguments]  # noqa: UP007


def _structured(value: Any) -> Any:
    kind = _structs().get(type(value))
    if kind is not None:
        names = [f.name for f in attrs.fields(type(value))]
        return kind(*(_structured(getattr(value, name)) for name in names))
    return tuple(map(_structured, value)) if type(value) is tuple else value


def _msgspec() -> Peer:
    chat = _structs()[graphs.Chat]
    return Peer(
        name="msgspec Structs (floor)",
        form=lambda graph: _structured(graphs.plain(graph)),
        dumps=msgspec.json.Encoder().encode,
        loads=msgspec.json.Decoder(chat).decode,
        same=_equal,
        remark="no identity, none of our checks",
    )


MAKERS: tuple[tuple[str, Callable[[], Peer]], ...] = (
    ("graphcodec JSON", _json),
    ("graphcodec MessagePack", _msgpack),
    ("pickle", _pickle),
    ("pickle, plain classes", _pickle_plain),
    ("cloudpickle", _cloudpickle),
    ("pyfory", _pyfory),
    ("jsonpickle", _jsonpickle),
    ("jsonpickle, plain classes", _jsonpickle_plain),
    ("langgraph JsonPlusSerializer", _langgraph),
    ("pydantic-ai", _pydantic_ai),
    ("cattrs + orjson", _cattrs),
    ("msgspec Structs (floor)", _msgspec),
)
"""All of them by name, ours first; one that is not installed fails when it is made."""
