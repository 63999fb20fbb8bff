import json
from datetime import UTC, datetime
from typing import Any

import cattrs
import cattrs.preconf.json
import pytest
from attrs import define, field

from graphcodec import Codec, configure_converter, encodable
from graphcodec.errors import (
    CyclicGraphError,
    GateNotEncodableError,
    UndecodableValueError,
    UnencodableValueError,
)
from graphcodec.primitives import (
    Conversation,
    Identity,
    Message,
    Registry,
    Thought,
    Tokenizable,
    ToolCall,
)
from graphcodec.testing import same_graph
from tests.codec.samples import FORMATS, full, root, written
from tests.primitives.builders import NOW, make

ADA = make(Identity)


def with_identity_hook() -> Codec:
    """Return a codec whose user writes identities in a way of their own."""
    codec = Codec()
    converter = codec.converter

    def unstructure(identity: Identity) -> object:
        words = converter.unstructure(identity.representation)
        return {"who": identity.identifier, "words": words}

    def structure(value: Any, _: object) -> Identity:
        words = converter.structure(value["words"], Tokenizable)
        return Identity(identifier=value["who"], representation=words)

    converter.register_unstructure_hook(Identity, unstructure)
    converter.register_structure_hook(Identity, structure)
    return codec


def test_hook_of_the_user_changes_the_wire() -> None:
    """What it returns stands under $value."""
    assert root(ADA, with_identity_hook()) == {
        "$type": "Identity",
        "$value": {
            "$any": {"who": "ada", "words": {"$type": "Tokenizable", "text": "Ada"}}
        },
    }


def test_hook_is_honoured_at_every_depth_with_sharing_kept() -> None:
    """In fields, in untyped slots, and its children are walked."""
    codec = with_identity_hook()
    words = ADA.representation
    graph = make(
        Conversation,
        items=[make(Message, identity=ADA), make(Thought, identity=ADA)],
        stash=Registry({"deep": [(ADA, words)]}),
    )
    document = written(graph, codec)
    again = codec.decode(codec.encode(graph), Conversation)

    assert same_graph(again, graph)
    assert json.dumps(document).count('"who"') == 1
    assert len(document["nodes"]) == 2


@pytest.mark.parametrize("name", FORMATS)
def test_hook_writes_either_format(name: Any) -> None:
    """MessagePack makes no difference."""
    codec = Codec(format=name)
    codec.converter.register_unstructure_hook(Identity, lambda _: b"\xff")
    codec.converter.register_structure_hook(Identity, lambda value, _: _named(value))

    assert codec.decode(codec.encode(ADA)) == _named(b"\xff")


def _named(value: bytes) -> Identity:
    return Identity(identifier=value.hex(), representation="x")


@encodable("test.Crate")
@define(eq=False)
class Crate:
    """A class whose hook calls the converter on a list."""

    kids: list[Any] = field(factory=list[Any])


def with_crate_hook() -> Codec:
    """Return a codec for crates."""
    codec = Codec(types=[Crate])
    converter = codec.converter
    converter.register_unstructure_hook(
        Crate, lambda crate: {"k": converter.unstructure(crate.kids)}
    )
    converter.register_structure_hook(
        Crate, lambda value, _: Crate(converter.structure(value["k"], list[Message]))
    )
    return codec


def test_hook_may_call_the_converter_on_a_list_of_children() -> None:
    """They come as they are, so sharing survives."""
    codec = with_crate_hook()
    message = make(Message)
    crate = Crate([message, message, make(Message, id="other")])
    again = codec.decode(codec.encode([crate, message]))

    assert same_graph(again, [crate, message])


def test_children_of_a_hook_nest_to_any_depth() -> None:
    """The walker goes on, not the recursion of hooks."""
    codec = with_crate_hook()
    codec.converter.register_structure_hook(Crate, lambda value, _: Crate(value["k"]))
    crate = Crate()
    for _ in range(3_000):
        crate = Crate([crate])

    assert same_graph(codec.decode(codec.encode(crate)), crate)


def test_cycle_through_a_hook_is_refused() -> None:
    """Its object can't exist before its value does."""
    codec = with_crate_hook()
    crate = Crate()
    crate.kids.append(crate)

    with pytest.raises(CyclicGraphError, match="contains itself"):
        codec.encode(crate)


def test_hook_for_times_is_honoured_in_typed_slots() -> None:
    """Here as seconds since 1970."""
    codec = Codec()
    codec.converter.register_unstructure_hook(datetime, lambda value: value.timestamp())
    codec.converter.register_structure_hook(
        datetime, lambda value, _: datetime.fromtimestamp(value, UTC)
    )
    message = make(Message)

    assert root(message, codec)["created_at"] == NOW.timestamp()
    assert codec.decode(codec.encode(message)) == message


def test_hook_registered_by_predicate_or_decorator_is_honoured() -> None:
    """However cattrs lets one register it."""
    codec = Codec()
    codec.encode(ADA)
    codec.converter.register_unstructure_hook_func(
        lambda cls: cls is Identity, lambda value: value.identifier
    )

    @codec.converter.register_structure_hook
    def structure(value: Any, _: object) -> Identity:
        return Identity(identifier=value, representation="Ada")

    assert structure("x", None).identifier == "x"
    assert root(ADA, codec) == {"$type": "Identity", "$value": "ada"}
    assert codec.decode(codec.encode(ADA)) == ADA


def test_hook_that_gives_what_can_not_be_written_is_refused() -> None:
    """With the path of its object."""
    codec = with_identity_hook()
    codec.converter.register_unstructure_hook(Identity, lambda _: object())

    with pytest.raises(UnencodableValueError, match="object") as caught:
        codec.encode([make(Message)])

    assert caught.value.path.startswith("$[0].identity")


def test_hook_that_gives_another_class_is_refused() -> None:
    """With the path of its object."""
    codec = with_identity_hook()
    data = codec.encode([make(Message)])
    codec.converter.register_structure_hook(Identity, lambda _, __: 5)

    with pytest.raises(UndecodableValueError, match=r"Identity gave a") as caught:
        codec.decode(data)

    assert caught.value.path.startswith("$[0].identity")


def test_hook_that_raises_on_decode_is_the_cause() -> None:
    """Whatever it raises."""
    codec = with_identity_hook()
    data = codec.encode(make(Message))
    codec.converter.register_structure_hook(Identity, lambda value, _: value["nope"])

    with pytest.raises(UndecodableValueError, match="refuses its data") as caught:
        codec.decode(data)

    assert isinstance(caught.value.__cause__, KeyError)


def test_hooks_stay_when_an_option_is_replaced() -> None:
    """Another option changes no class."""
    other = with_identity_hook().replace(unknown_types="keep")

    assert "$value" in root(ADA, other)
    assert other.decode(other.encode(ADA)) == ADA


# Outside a codec call


def test_converter_gives_the_tagged_tree() -> None:
    """The same as the document's root, if nothing is shared."""
    codec = Codec()
    message = make(Message, stash=Registry({"k": (1, NOW)}))

    assert codec.converter.unstructure(message) == root(message, codec)


def test_converter_takes_the_tagged_tree_back() -> None:
    """For every primitive."""
    converter = Codec().converter
    for cls, primitive in full().items():
        tree = converter.unstructure(primitive)

        assert json.loads(json.dumps(tree)) == tree
        assert converter.structure(tree, cls) == primitive


def test_tree_has_no_references() -> None:
    """What is shared is written twice."""
    tree = Codec().converter.unstructure([ADA, ADA])

    assert tree[0] == tree[1] == root(ADA)


def test_cycle_has_no_tree() -> None:
    """It raises, with the path."""
    registry = Registry()
    registry.set("me", registry)
    items: list[Any] = []
    items.append(items)
    call = make(ToolCall, args={"k": items})

    for graph, path in ((registry, "$.data.me"), (call, "$.args.k[0]")):
        with pytest.raises(CyclicGraphError) as caught:
            Codec().converter.unstructure(graph)
        assert caught.value.path == path


def test_what_can_not_be_written_has_no_tree() -> None:
    """The same error as from encode."""
    with pytest.raises(GateNotEncodableError) as caught:
        Codec().converter.unstructure(make(ToolCall, args={"k": [iter([])]}))

    assert caught.value.path == "$.args.k[0]"


@define
class Own:
    """A class that is not registered, with primitives in it."""

    message: Message
    messages: list[Message]
    when: datetime
    either: Message | Thought | None = None
    table: dict[str, Message] = field(factory=dict[str, Message])


@pytest.mark.parametrize(
    "converter",
    [
        cattrs.Converter(),
        cattrs.Converter(detailed_validation=False),
        cattrs.preconf.json.make_converter(),
    ],
    ids=["usual", "terse", "json"],
)
def test_foreign_converter_can_be_configured(converter: cattrs.Converter) -> None:
    """Primitives in a class of its own are written and read."""
    assert configure_converter(converter) is converter
    message = make(Message)
    own = Own(message, [message], NOW, make(Thought), {"a": message})
    tree = converter.unstructure(own)

    assert tree["message"] == root(message)
    assert converter.structure(tree, Own) == own
    assert converter.structure(converter.unstructure(Own(message, [], NOW)), Own) == (
        Own(message, [], NOW)
    )


def test_foreign_converter_knows_the_classes_of_a_codec() -> None:
    """If one is given."""
    codec = Codec(types=[Crate])
    converter = configure_converter(cattrs.Converter(), codec=codec)
    tree = converter.unstructure(Crate([make(Message)]))

    assert tree == {"$type": "test.Crate", "kids": [{"$any": root(make(Message))}]}
    assert same_graph(converter.structure(tree, Crate), Crate([make(Message)]))


def test_tree_that_does_not_fit_is_refused() -> None:
    """With the path inside it."""
    converter = Codec().converter
    tree = converter.unstructure(make(Message))

    with pytest.raises(UndecodableValueError) as caught:
        converter.structure({**tree, "content": 5}, Message)
    assert caught.value.path == "$.content"
    others: list[Any] = [5, None, [], {}, {"$type": "Thought"}, tree["identity"]]
    for wrong in others:
        with pytest.raises(UndecodableValueError):
            converter.structure(wrong, Message)


def test_hook_of_the_user_is_honoured_in_the_tree() -> None:
    """The converter is one and the same."""
    codec = with_identity_hook()
    message = make(Message, identity=ADA)
    tree = codec.converter.unstructure(message)

    assert tree["identity"]["$value"]["$any"]["who"] == "ada"
    assert codec.converter.structure(tree, Message) == message
