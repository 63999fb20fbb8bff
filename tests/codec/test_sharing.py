import gc
import time
from collections import deque
from typing import Any

import pytest
from attrs import define, field, frozen

from graphcodec import Codec, encodable
from graphcodec.errors import CyclicGraphError, UndecodableValueError
from graphcodec.primitives import (
    Identity,
    Media,
    Message,
    Registry,
    SpooledArtifact,
    Tokenizable,
    ToolCall,
)
from graphcodec.readers import BytesReader
from graphcodec.testing import same_graph
from tests.codec.samples import (
    CODEC,
    Link,
    Node,
    in_args,
    read,
    round_trip,
    through_args,
    written,
)
from tests.primitives.builders import make


def doubled(levels: int) -> list[Any]:
    """Return a list that holds another one twice, and so on."""
    value: list[Any] = []
    for _ in range(levels):
        value = [value, value]
    return value


def in_registry(value: object) -> Registry:
    """Return a registry with one entry."""
    return Registry({"k": value})


@pytest.mark.parametrize("wrap", [in_args, in_registry])
def test_lists_doubled_at_each_level_stay_small(wrap: Any) -> None:
    """Twenty-two levels are a few kilobytes, written within moments."""
    before = time.process_time()
    data = CODEC.encode(wrap(doubled(22)))

    assert len(data) < 10_000
    assert time.process_time() - before < 5
    assert same_graph(CODEC.decode(data), wrap(doubled(22)))


def test_one_identity_in_many_messages_is_one_again() -> None:
    """It is written once."""
    ada = make(Identity)
    messages = [make(Message, identity=ada) for _ in range(5_000)]
    data = CODEC.encode(messages)
    again = CODEC.decode(data, list[Message])

    assert len({id(message.identity) for message in again}) == 1
    assert data.count(b'"Ada"') == 1


def test_equal_objects_stay_two() -> None:
    """Only identity is sharing."""
    again = round_trip([make(Identity), make(Identity)])

    assert again[0] == again[1]
    assert again[0] is not again[1]


def test_list_used_twice_is_one_list_again() -> None:
    """Within one slot, and without a complaint."""
    shared = [1]
    again = through_args([shared, {"k": shared}, (shared,)])

    assert again[0] is again[1]["k"] is again[2][0]


def test_list_used_in_two_slots_becomes_two() -> None:
    """Identity of containers is kept within a slot only."""
    shared = [1]
    calls = [make(ToolCall, args={"k": shared}), make(ToolCall, args={"k": shared})]
    again = CODEC.decode(CODEC.encode(calls), list[ToolCall])

    assert again == calls
    assert again[0].args["k"] is not again[1].args["k"]


def test_shared_set_and_deque_and_tuple_come_back_shared() -> None:
    """Every container keeps its aliasing."""
    for shared in ({1}, deque([1]), (1, 2), frozenset({1}), {1: 2}):
        again = through_args([shared, shared])

        assert again[0] is again[1]


def test_reader_met_twice_is_written_once() -> None:
    """An image attached twice is inlined once."""
    reader = BytesReader(b"x" * 100)
    document = written([reader, reader])

    assert len(document["nodes"]) == 1
    again = round_trip([reader, reader])
    assert again[0] is again[1]


def test_registry_that_holds_itself_comes_back() -> None:
    """Through its data."""
    registry = Registry()
    registry.set("me", registry)
    again = round_trip(registry)

    assert again.get("me") is again


def test_containers_that_hold_themselves_come_back() -> None:
    """A list, a dict, a deque, and one through another."""
    items: list[Any] = [1]
    table: dict[Any, Any] = {"items": items}
    queue: deque[Any] = deque([table], 5)
    items += [items, table, queue, (items,)]
    again = through_args(items)

    assert again[1] is again
    assert again[2]["items"] is again
    assert again[3][0] is again[2]
    assert again[4][0] is again


def test_dict_with_odd_keys_that_holds_itself_comes_back() -> None:
    """As a list of pairs it can be filled later, too."""
    table: dict[Any, Any] = {1: "a"}
    table[2] = table
    again = through_args(table)

    assert again[2] is again


def test_parent_and_child_of_a_mutable_class_come_back() -> None:
    """Through a typed field, a typed list and an untyped slot."""
    parent = Node()
    child = Node(next=parent, any={"up": (parent,)})
    parent.nodes = [child, parent]
    again = round_trip(parent)

    assert again.nodes[0].next is again
    assert again.nodes[0].any["up"][0] is again
    assert again.nodes[1] is again


def test_cycle_through_a_frozen_object_and_a_mutable_one_comes_back() -> None:
    """The mutable one waits for the frozen one."""
    node = Node()
    node.any = Link(next=node)
    again = round_trip(node)

    assert again.any.next is again


def test_cycle_is_entered_at_its_frozen_object() -> None:
    """Where the root is in the cycle makes no difference."""
    node = Node()
    link = Link(next=node)
    node.any = [link]
    again = round_trip(link)

    assert again.next.any[0] is again


def test_container_field_of_a_frozen_class_closes_a_cycle() -> None:
    """The instance holds that very list."""
    link = Link()
    link.items.append(link)
    again = round_trip(link)

    assert again.items[0] is again


def test_arguments_that_lead_back_to_their_call_come_back() -> None:
    """Args are neither copied nor frozen."""
    args: dict[str, Any] = {}
    call = make(ToolCall, args=args)
    args["call"] = call
    again = round_trip(call)

    assert again.args["call"] is again


@encodable("test.Copies")
@frozen
class Copies:
    """A frozen class that copies what it is given."""

    items: list[Any] = field(converter=list)


def test_frozen_class_that_copies_its_container_is_refused() -> None:
    """What it would hold is not what closes the cycle."""
    codec = Codec(types=[Copies])
    copies = Copies([])
    copies.items.append(copies)

    with pytest.raises((CyclicGraphError, UndecodableValueError), match="cycle"):
        codec.decode(codec.encode(copies))


def test_cycle_through_frozen_objects_alone_is_refused() -> None:
    """At encode, with the path of the cycle."""
    link = Link()
    object.__setattr__(link, "next", Link(next=link))

    with pytest.raises(CyclicGraphError, match=r"test\.Link contains itself") as caught:
        CODEC.encode({"k": [link]})

    assert caught.value.path.startswith("$.k[0]")
    assert caught.value.tag == "test.Link"


def test_cycle_through_tuples_alone_is_refused() -> None:
    """A tuple can't exist before what it holds, nor can a frozen object."""
    link = Link()
    object.__setattr__(link, "any", (link,))

    with pytest.raises(CyclicGraphError, match="contains itself"):
        CODEC.encode(link)


@encodable("test.Hashed")
@define(eq=False)
class Hashed:
    """A mutable object that can be a key."""

    any: Any = None


def test_cycle_through_a_set_member_or_a_key_is_refused() -> None:
    """What is hashed must be complete."""
    codec = Codec(types=[Hashed, Link])
    link = Link()
    for value in ({link}, frozenset({link}), {link: 1}):
        object.__setattr__(link, "any", value)

        with pytest.raises(CyclicGraphError, match="contains itself"):
            codec.encode(link)


def test_mutable_object_may_not_hold_a_set_with_itself() -> None:
    """A hash needs all of an object, so no cycle goes through a set member or key."""
    codec = Codec(types=[Hashed])
    hashed = Hashed()
    codec.check({hashed: 1})

    for value in ({hashed}, frozenset([(hashed,)]), {hashed: 1}, [{hashed}]):
        hashed.any = value
        with pytest.raises(CyclicGraphError, match="contains itself"):
            codec.encode(hashed)


class Fresh:
    """A class whose written form is made anew each time."""

    __graphcodec_tag__ = "test.Fresh"

    def __init__(self, number: int) -> None:
        self.number = number

    def __graphcodec_encode__(self) -> object:
        return [Tokenizable(str(self.number)), [self.number], {"n": (self.number,)}]

    @classmethod
    def __graphcodec_decode__(cls, data: Any) -> "Fresh":
        assert data[0].text == str(data[1][0]) == str(data[2]["n"][0])
        return cls(data[1][0])


def test_temporary_objects_are_never_taken_for_shared_ones() -> None:
    """A recycled id is not sharing."""
    codec = Codec(types=[Fresh])
    gc.collect()
    document = written([Fresh(n) for n in range(1_000)], codec)
    again: Any = codec.decode(codec.encode([Fresh(n) for n in range(1_000)]))

    assert "nodes" not in document
    assert [fresh.number for fresh in again] == list(range(1_000))


def test_unknown_field_that_refers_to_its_owner_comes_back() -> None:
    """The reference leads to the object itself, not to an empty one."""
    reference = {"$type": "$ref", "n": 0}
    node = {"$type": "test.Node", "any": 1, "foo": {"$any": reference}}
    again = read(reference, node)

    assert again.rest["foo"] is again


def test_references_can_be_off() -> None:
    """A tree is written, and sharing is lost on purpose."""
    codec = CODEC.replace(references="none")
    ada = make(Identity)
    again: Any = codec.decode(codec.encode([ada, ada]))

    assert b"$ref" not in codec.encode([ada, ada])
    assert again[0] == again[1] == ada


def test_shared_reader_keeps_its_family_without_references() -> None:
    """It is written again as the owner at hand needs it."""
    codec = CODEC.replace(references="none")
    reader = BytesReader(b"x")
    graph = [make(SpooledArtifact, reader=reader) for _ in range(2)]
    media = [make(Media, reader=reader), make(Media, reader=reader)]

    assert codec.decode(codec.encode([*graph, *media])) == [*graph, *media]


def test_cycle_without_references_is_refused() -> None:
    """There is no tree of it."""
    node = Node()
    node.next = node

    with pytest.raises(CyclicGraphError, match="references are off") as caught:
        CODEC.replace(references="none").encode([node])

    assert caught.value.path == "$[0].next"


@encodable("test.Typed")
@define
class TypedLists:
    """A class whose fields say what their containers hold."""

    rows: list[dict[str, object]] = field(factory=list[dict[str, object]])
    items: list[object] = field(factory=list[object])


def test_containers_in_typed_fields_are_values() -> None:
    """They are written one by one, and `check` does not hold that against them."""
    codec = Codec(types=[TypedLists])
    row: dict[str, object] = {"a": 1}
    codec.check(TypedLists(rows=[row, row], items=[row, row]))

    looped = TypedLists()
    looped.items.append(looped.items)
    codec.check(looped)


def test_reader_is_a_value() -> None:
    """One that serves both families comes back as two that open the same."""
    reader = BytesReader(b"text")
    CODEC.check([reader, SpooledArtifact(reader), reader])
