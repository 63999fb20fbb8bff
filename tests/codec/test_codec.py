import enum
import pickle
import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import pytest
from attrs import define, field

import graphcodec
from graphcodec import Codec, Limits, OpaqueNode, encodable
from graphcodec.errors import (
    GraphCodecError,
    InvalidValueError,
    NoReaderResolverError,
    RoundTripError,
    UndecodableValueError,
    UnencodableValueError,
)
from graphcodec.primitives import (
    Conversation,
    Identity,
    Memory,
    Message,
    Registry,
    Thought,
    Tokenizable,
)
from tests.codec.samples import (
    CODEC,
    Named,
    NamedResolver,
    Node,
    document,
    full,
    root,
)
from tests.primitives.builders import NOW, make

HANDLE = {"$type": "$reader", "tag": "media:named", "locator": {"name": "x"}}


def test_functions_of_the_module_know_the_primitives() -> None:
    """Without any set-up."""
    message = make(Message)

    assert graphcodec.decode(graphcodec.encode(message)) == message
    assert graphcodec.decode(graphcodec.encode_text(message), Message) == message


def test_functions_of_the_module_know_nothing_else() -> None:
    """The error says that a marked class is loaded."""
    with pytest.raises(UndecodableValueError, match=r"types=\[Node\]"):
        graphcodec.decode(graphcodec.encode(Node()))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("unknown_types", "ignore"),
        ("unknown_fields", "drop"),
        ("references", "all"),
        ("format", "yaml"),
        ("format", None),
        ("references", True),
    ],
)
def test_option_that_does_not_exist_is_refused(option: str, value: Any) -> None:
    """When the codec is made."""
    with pytest.raises(InvalidValueError, match=option):
        Codec(**{option: value})


def test_replace_changes_options_and_keeps_the_rest() -> None:
    """Classes and resolvers, also those that were added later."""
    codec = Codec(limits=Limits(max_string=100))
    codec.register(Node)
    codec.register_resolver(NamedResolver())
    other = codec.replace(format="msgpack")

    assert other.encode(None)[0] == 0x82
    assert type(other.decode(codec.encode(Node()))) is Node
    assert other.decode(document(HANDLE)) == Named("x")
    with pytest.raises(GraphCodecError, match="max_string"):
        other.encode("x" * 101)


def test_replace_refuses_what_is_no_option() -> None:
    """A typing error is not silent."""
    with pytest.raises(TypeError, match="fromat"):
        CODEC.replace(fromat="json")


def test_changed_copy_does_not_change_the_original() -> None:
    """They share no registry."""
    codec = Codec()
    codec.replace(format="msgpack").register(Node)

    with pytest.raises(UndecodableValueError, match="unknown to this codec"):
        codec.decode(codec.encode(Node()))


def test_codec_survives_pickling() -> None:
    """With its options, classes and resolvers."""
    codec = Codec(types=[Node], format="msgpack", unknown_types="keep")
    codec.register(Named, "test.Named", encode=_name, decode=Named)
    codec.register_resolver(NamedResolver())
    again = pickle.loads(pickle.dumps(codec))

    assert again.encode(Node()) == codec.encode(Node())
    assert type(again.decode(codec.encode(Node()))) is Node
    assert again.decode(document(HANDLE)) == Named("x")


def _name(named: Named) -> str:
    return named.name


def test_codec_with_hooks_does_not_pickle() -> None:
    """It says what to do instead."""
    codec = Codec()
    codec.converter.register_unstructure_hook(Identity, lambda value: value.identifier)

    with pytest.raises(pickle.PicklingError, match="factory"):
        pickle.dumps(codec)


def test_resolver_that_is_none_is_refused() -> None:
    """When it is given, not when it is needed."""
    wrong: Any = object()

    with pytest.raises(InvalidValueError, match=r"no resolver.*a store needs one"):
        Codec(resolvers=[wrong])
    with pytest.raises(InvalidValueError, match=r"no resolver.*a store needs one"):
        Codec().register_resolver(wrong)


def test_handle_that_nobody_resolves_is_refused_with_its_path() -> None:
    """The tag is a fact of the error."""
    with pytest.raises(NoReaderResolverError, match="media:named") as caught:
        Codec().decode(document({"$any": [HANDLE]}))

    assert caught.value.path == "$[0]"
    assert caught.value.tag == "media:named"


def test_builtin_resolvers_can_be_off() -> None:
    """Nothing is resolved, then."""
    data = CODEC.encode(full()[Conversation])

    with pytest.raises(NoReaderResolverError, match="in-memory"):
        Codec(builtin_resolvers=False).decode(data)


# What the codec itself could not read


class Closed(enum.Enum):
    """An Enum with a tag that no codec knows."""

    __graphcodec_tag__ = "test.Closed"

    ONE = 1


@encodable("test.Holder")
@define
class Holder:
    """A class with another in a typed field."""

    nodes: list[Node]


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (Node(), "$"),
        ({"a": [Node()]}, "$.a[0]"),
        (Holder(nodes=[Node()]), "$.nodes[0]"),
        (Closed.ONE, "$"),
        (OpaqueNode(tag="test.Gone", version=1, fields={}), "$"),
    ],
)
def test_closed_codec_writes_only_what_it_reads(value: object, path: str) -> None:
    """Marked or opaque: what is not registered is refused, with its path."""
    codec = Codec(types=[Holder], write_unregistered=False)

    with pytest.raises(UnencodableValueError, match="can't read back") as caught:
        codec.encode(value)

    assert caught.value.path == path
    assert Codec().encode(value)


def test_closed_codec_writes_what_is_registered_later() -> None:
    """Registering opens the way, also for a class that was refused before."""
    codec = Codec(types=[Holder], write_unregistered=False)
    with pytest.raises(UnencodableValueError, match="can't read back"):
        codec.encode(Holder(nodes=[Node()]))

    codec.register(Node)

    assert codec.encode(Holder(nodes=[Node()])) == CODEC.replace(types=[Holder]).encode(
        Holder(nodes=[Node()])
    )


def test_codec_that_keeps_unknown_types_reads_everything() -> None:
    """So it may write everything."""
    codec = Codec(unknown_types="keep", write_unregistered=False)

    assert codec.encode(Node()) == Codec().encode(Node())


# What must come out


@pytest.mark.parametrize(
    ("value", "cls"),
    [
        ([make(Message)], list[Message]),
        ([], list[Message]),
        ((make(Message), make(Thought)), tuple[Message | Thought, ...]),
        ((1, "a"), tuple[int, str]),
        ({"a": [make(Memory)]}, dict[str, list[Memory]]),
        (None, Message | None),
        (make(Thought), Message | Thought),
        ("x", bytes | str),
        (b"x", bytes | str),
        (NOW, datetime | str),
        ([b"x", "y"], list[bytes | str]),
        ([1], Sequence[int]),
        (None, list | None),
        ({"a": 1}, dict),
        (1, Any),
        (1, object),
        (1, int),
        (make(Message), Message),
        ({Tokenizable("x")}, set[Tokenizable]),
    ],
)
def test_value_of_the_class_asked_for_is_returned(value: object, cls: Any) -> None:
    """Any annotation of classes, containers and unions."""
    assert CODEC.decode(CODEC.encode(value), cls) == value


@pytest.mark.parametrize(
    ("value", "cls", "path"),
    [
        (make(Memory), Message, "$"),
        (make(Memory), Message | Thought, "$"),
        (None, Message, "$"),
        ([make(Message), 1], list[Message], "$[1]"),
        ([1], list[Message], "$[0]"),
        ((make(Message),), list[Message], "$"),
        ((1, 2), tuple[int, str], "$[1]"),
        ((1,), tuple[int, str], "$"),
        ({"a": [1]}, dict[str, list[Memory]], "$.a[0]"),
        ({1: 2}, dict[str, int], "$['1']"),
        (1, float, "$"),
        (True, int, "$"),
        (1, bytes | str, "$"),
        (1, datetime | str, "$"),
        ([1], list[bytes | str], "$[0]"),
        (1, list | None, "$"),
        ([1], dict, "$"),
        ({"a": 1}, list, "$"),
        (1, list[int] | str, "$"),
        (["x"], list[int] | str, "$"),
    ],
    ids=str,
)
def test_value_of_another_class_is_refused(value: object, cls: Any, path: str) -> None:
    """With what came and what was asked for."""
    with pytest.raises(UndecodableValueError, match="was asked for") as caught:
        CODEC.decode(CODEC.encode(value), cls)

    assert caught.value.path == path


# check


def _next(value: int) -> int:
    return value + 1


@define
class Grows:
    """A converter that is not idempotent."""

    x: int = field(converter=_next)


@encodable("test.Forgets")
@define
class Forgets:
    """A constructor that drops what it is given."""

    items: list[int]

    def __attrs_post_init__(self) -> None:
        self.items = self.items[:1]


def test_check_accepts_what_comes_back() -> None:
    """Types, values, sharing."""
    for primitive in full().values():
        CODEC.check([primitive, primitive])


def test_check_finds_a_converter_that_is_not_idempotent() -> None:
    """With the path of the first difference."""
    codec = Codec(types={"test.Grows": Grows})

    with pytest.raises(RoundTripError, match="2 became 3") as caught:
        codec.check([Grows(1)])

    assert caught.value.path == "$[0].x"


def test_check_finds_what_a_constructor_drops() -> None:
    """In a list."""
    forgets = Forgets([1])
    forgets.items.append(2)

    with pytest.raises(RoundTripError, match="2 items became 1"):
        Codec(types=[Forgets]).check(forgets)


def test_check_finds_lost_sharing() -> None:
    """Where references are off."""
    ada = make(Identity)

    with pytest.raises(RoundTripError, match="references to one Identity"):
        CODEC.replace(references="none").check([ada, ada])


def test_check_raises_what_encode_raises() -> None:
    """There is nothing to compare, then."""
    with pytest.raises(UnencodableValueError):
        CODEC.check([object()])


# Threads


def in_threads(count: int, work: Callable[[int], None]) -> list[BaseException]:
    """Run *work* in threads that start together, and return what they raised."""
    failures: list[BaseException] = []
    barrier = threading.Barrier(count)

    def run(number: int) -> None:
        try:
            barrier.wait()
            work(number)
        except BaseException as exc:  # noqa: BLE001 - handed to the test
            failures.append(exc)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def test_codec_is_used_from_eight_threads() -> None:
    """Each gets what it asked for."""
    codec = Codec(types=[Node])
    graphs = [*full().values(), [Node(any=n) for n in range(50)]]
    expected = [codec.replace().encode(graph) for graph in graphs]

    def work(_: int) -> None:
        for _ in range(20):
            for graph, data in zip(graphs, expected, strict=True):
                assert codec.encode(graph) == data
                assert codec.encode(codec.decode(data)) == data

    assert in_threads(8, work) == []


def test_first_use_may_be_from_eight_threads() -> None:
    """While one compiles, the others wait or compile, too."""
    graph = list(full().values())
    expected = Codec().encode(graph)
    for _ in range(30):
        codec = Codec()

        def work(number: int, codec: Codec = codec) -> None:
            if number % 2:
                assert codec.encode(graph) == expected
            assert codec.encode(codec.decode(expected)) == expected

        assert in_threads(8, work) == []


def test_classes_are_registered_while_others_encode() -> None:
    """Neither side fails."""
    codec = Codec()
    data = codec.encode(make(Message))
    classes = [define(type(f"C{n}", (), {})) for n in range(40)]

    def work(number: int) -> None:
        for index, cls in enumerate(classes):
            if index % 8 == number:
                codec.register(cls, f"test.{cls.__name__}")
            assert codec.encode(codec.decode(data)) == data

    assert in_threads(8, work) == []
    assert all(type(codec.decode(codec.encode(cls()))) is cls for cls in classes)


def test_codec_is_used_inside_its_own_hooks() -> None:
    """A class may encode a part of itself."""
    codec = Codec()

    def encode(registry: Node) -> object:
        return codec.encode_text(registry.any)

    def decode(text: Any) -> Node:
        return Node(any=codec.decode(text))

    codec.register(Node, "test.Inner", replace=True, encode=encode, decode=decode)
    again: Any = codec.decode(codec.encode([Node(any=Node(any=(1,)))]))

    assert again[0].any.any == (1,)


def test_registry_root_and_its_wire() -> None:
    """The smallest graph that has data of a user."""
    assert root(Registry({"a": {"b": 1}})) == {
        "$type": "Registry",
        "data": {"a": {"b": 1}},
    }
