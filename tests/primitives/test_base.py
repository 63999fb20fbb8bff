from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from collections import OrderedDict, deque
from pathlib import Path
from typing import cast, get_type_hints

import attrs
import pytest
from attrs.exceptions import FrozenInstanceError

from graphcodec import errors, primitives
from graphcodec.errors import InvalidValueError
from graphcodec.primitives import (
    Conversation,
    Identity,
    Media,
    MediaStash,
    Message,
    Registry,
    Thought,
    Tokenizable,
)
from graphcodec.primitives._base import Primitive
from tests.primitives.builders import (
    NOW,
    PRIMITIVES,
    FixedReader,
    make,
    parts,
    unknown,
    with_unknown,
)

FROZEN = tuple(cls for cls in PRIMITIVES if cls not in (Registry, MediaStash))

DEPTH = 5_000


@pytest.mark.parametrize("cls", PRIMITIVES)
def test_tag_is_the_name_of_the_class(cls: type[Primitive]) -> None:
    """The tag is in the class itself, not inherited."""
    assert cls.__dict__["__graphcodec_tag__"] == cls.__name__


@pytest.mark.parametrize("cls", PRIMITIVES)
def test_primitives_have_slots(cls: type[Primitive]) -> None:
    """There is no __dict__ in which something could get lost."""
    assert not hasattr(make(cls), "__dict__")


@pytest.mark.parametrize("cls", PRIMITIVES)
def test_unknown_fields_have_a_place(cls: type[Primitive]) -> None:
    """It is empty and marked for the codec."""
    attribute = attrs.fields_dict(cls)["_unknown"]

    assert attribute.metadata == {"graphcodec": "extra"}
    assert not attribute.init
    assert unknown(make(cls)) is None


@pytest.mark.parametrize("cls", PRIMITIVES)
def test_annotations_can_be_resolved(cls: type[Primitive]) -> None:
    """The codec reads them, from a class that is known by its public path."""
    hints = get_type_hints(cls, include_extras=True)

    assert {field.name for field in attrs.fields(cls)} <= hints.keys()
    assert cls.__module__ == "graphcodec.primitives"


@pytest.mark.parametrize("cls", FROZEN)
def test_primitives_are_frozen(cls: type[Primitive]) -> None:
    """Nothing changes under whoever holds one."""
    name = attrs.fields(cls)[1].name

    with pytest.raises(FrozenInstanceError):
        setattr(make(cls), name, None)


@pytest.mark.parametrize("cls", PRIMITIVES)
def test_equal_parts_make_equal_primitives(cls: type[Primitive]) -> None:
    """Equality is by value."""
    assert make(cls) == make(cls)
    assert make(cls) != object()


@pytest.mark.parametrize("cls", FROZEN)
def test_equal_primitives_have_one_hash(cls: type[Primitive]) -> None:
    """They are one member of a set."""
    assert hash(make(cls)) == hash(make(cls))


@pytest.mark.parametrize("cls", PRIMITIVES)
def test_subclass_is_not_equal_to_its_base(cls: type[Primitive]) -> None:
    """What would be written under another tag is another value."""
    derived = type("Derived", (cls,), {"__slots__": ()})

    assert derived(**parts(cls)) != make(cls)


@pytest.mark.parametrize("cls", FROZEN)
def test_primitives_pickle(cls: type[Primitive]) -> None:
    """They come back equal, of the same class, with their unknown fields."""
    original = with_unknown(make(cls), {"new": 1})

    loaded = pickle.loads(pickle.dumps(original))

    assert loaded == original
    assert type(loaded) is cls
    assert unknown(loaded) == {"new": 1}


@pytest.mark.parametrize("cls", PRIMITIVES)
def test_primitives_copy(cls: type[Primitive]) -> None:
    """copy.copy and copy.deepcopy give equals."""
    original = make(cls)

    assert copy.copy(original) == original
    assert copy.deepcopy(original) == original


@pytest.mark.parametrize("cls", PRIMITIVES)
def test_repr_fits_one_line(cls: type[Primitive]) -> None:
    """It begins with the name of the class and stays short."""
    shown = repr(make(cls))

    assert shown.startswith(f"{cls.__name__}(")
    assert len(shown) < 100


def test_class_without_a_summary_is_shown_by_its_name() -> None:
    """A class of the user's need not say anything."""

    class Bare(Primitive):
        __slots__ = ()

    assert repr(Bare()) == "Bare()"


def test_repr_cuts_long_ids() -> None:
    """An id may be anything; a log line may not."""
    assert len(repr(make(Message, id="x" * 10_000))) < 130


def test_replace_changes_what_is_named() -> None:
    """Everything else is shared with the original."""
    message = make(Message, content="old")
    newer = message.replace(content="new")

    assert newer.content == Tokenizable("new")
    assert message.content == Tokenizable("old")
    assert newer.identity is message.identity
    assert newer.stash is message.stash


def test_replace_keeps_unknown_fields() -> None:
    """What a newer version wrote is still written after a change."""
    message = with_unknown(make(Message), {"new": 1})

    assert unknown(message.replace(id="other")) == {"new": 1}


def test_replace_validates() -> None:
    """The rules of the constructor hold."""
    with pytest.raises(InvalidValueError, match=r"Message\.id must be"):
        make(Message).replace(id="")


def test_replace_knows_the_fields() -> None:
    """A misspelt name is an error."""
    with pytest.raises(TypeError, match="contents"):
        make(Message).replace(contents="x")


def test_unknown_fields_are_no_part_of_the_value() -> None:
    """Two messages are equal whatever a newer version had to add."""
    assert with_unknown(make(Message), {"new": 1}) == make(Message)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([1], (1,)),
        ([1], [1, 2]),
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"b": 1}),
        ({"a": 1}, {"a": 1, "b": 1}),
        ({1}, {2}),
        ({1}, {1, 2}),
        ({-1, -2}, {-1, -3}),
        (frozenset({1}), {2}),
        (deque([1]), deque([2])),
        (deque([1]), [1]),
        ("a", "b"),
        (make(Message), make(Message, id="other")),
        (make(Message), make(Thought)),
        (Tokenizable("a"), "a"),
        (FixedReader(b"a"), FixedReader(b"b")),
    ],
)
def test_different_data_is_unequal(left: object, right: object) -> None:
    """At any place, in both directions."""
    one, other = Registry({"a": [left]}), Registry({"a": [right]})

    assert one != other
    assert other != one


@pytest.mark.parametrize(
    "build",
    [
        lambda: [1, "a", None, 2.5, b"x"],
        lambda: {"a": {1: (2, {3})}},
        lambda: {-1, -2, "a"},
        lambda: {(1, (2,)): 1, frozenset({1, 2}): 2, -1: 3, -2: 4},
        lambda: deque([1, [2]]),
        lambda: [make(Conversation, items=[make(Message)])],
        lambda: {make(Message), make(Message, content="other")},
        lambda: FixedReader(b"a"),
        NOW.isoformat,
    ],
)
def test_same_data_is_equal(build: object) -> None:
    """Built twice, nothing in it is the same object."""
    make_data = cast("type[object]", build)

    assert Registry({"a": [make_data()]}) == Registry({"a": [make_data()]})


def test_ordered_dict_equals_a_dict_as_ever() -> None:
    """Where classes differ, Python's own comparison decides."""
    ordered = OrderedDict[str, int](x=1)

    assert Registry({"a": ordered}) == Registry({"a": {"x": 1}})
    assert Registry({"a": {"x": 2}}) != Registry({"a": ordered})


def test_object_is_equal_to_itself() -> None:
    """That needs no look into it."""
    message = make(Message, stash=Registry({"nan": float("nan")}))

    assert message == message  # noqa: PLR0124 - that is the fact


@pytest.mark.parametrize("last", ["same", "other"])
def test_members_with_one_hash_are_told_apart(last: str) -> None:
    """Two versions of one message may be in one set; each needs its counterpart."""
    first, second, third = (make(Message, content=text) for text in ("a", "b", last))
    left = {first, second, third}
    right = {make(Message, content=text) for text in ("same", "b", "a")}

    assert (Registry({"a": left}) == Registry({"a": right})) is (last == "same")


def test_nan_is_equal_to_itself_only() -> None:
    """As in Python's containers, the same object counts as equal."""
    nan = float("nan")

    assert Registry({"a": nan}) == Registry({"a": nan})
    assert Registry({"a": nan}) != Registry({"a": float("nan")})


def _chain(length: int) -> Thought:
    thought = make(Thought)
    for _ in range(length):
        thought = thought.replace(payload=[thought], replay_compatibility="x")
    return thought


def test_long_chains_compare_without_recursion() -> None:
    """Primitives linked deeper than Python's stack are equal or not."""
    assert _chain(DEPTH) == _chain(DEPTH)
    assert _chain(DEPTH) != _chain(DEPTH + 1)


def test_deep_members_and_keys_compare_without_recursion() -> None:
    """Tuples nested in a set or as a key of a dict are no exception."""

    def deep() -> tuple[object, ...]:
        value: tuple[object, ...] = ()
        for _ in range(DEPTH):
            value = (value,)
        return value

    left, right = deep(), deep()

    assert Registry({"a": {left}}) == Registry({"a": {right}})
    assert Registry({"a": {left: 1}}) == Registry({"a": {right: 1}})


def test_shared_parts_are_compared_once() -> None:
    """Forty levels of pairs are forty comparisons, not a million millions."""

    def pairs() -> list[object]:
        value: list[object] = []
        for _ in range(40):
            value = [value, value]
        return value

    assert Registry({"a": pairs()}) == Registry({"a": pairs()})


def test_cycle_through_primitives_compares() -> None:
    """A message whose stash holds the message is equal to one built alike."""

    def loop(leaf: int) -> Message:
        message = make(Message)
        message.stash.set("again", [message, leaf])
        return message

    assert loop(1) == loop(1)
    assert loop(1) != loop(2)


def test_equality_of_a_subclass_is_honoured() -> None:
    """A class of the user's that compares in its own way does so anywhere."""

    class Loose(Identity):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Loose)

        def __hash__(self) -> int:
            return 0

    one = Loose(identifier=1, representation="a")
    other = Loose(identifier=2, representation="b")

    assert Registry({"a": one}) == Registry({"a": other})


def test_media_are_equal_by_their_descriptors() -> None:
    """Two readers of the same bytes are one place."""
    same = [make(Media, reader=FixedReader(b"x")) for _ in range(2)]

    assert same[0] == same[1]
    assert same[0] != make(Media, reader=FixedReader(b"y"))


def test_names_are_exported_with_their_public_path() -> None:
    """Everything in __all__ is there and says so in tracebacks."""
    exported = [getattr(primitives, name) for name in primitives.__all__]

    assert {item.__module__ for item in exported} == {"graphcodec.primitives"}
    assert {item.__name__ for item in exported} == set(primitives.__all__)


def test_importing_primitives_loads_attrs_and_no_codec() -> None:
    """A project can hold messages without paying for what writes them."""
    script = """
import sys, graphcodec.primitives
roots = {name.partition(".")[0] for name in sys.modules}
unwanted = roots & {"cattrs", "msgspec", "fsspec", "httpx", "tiktoken", "regex"}
codec = {name for name in sys.modules if name.startswith("graphcodec.")}
light = {"errors", "primitives", "readers"}
light |= {"_callables", "_extras", "_paths", "_portable"}
codec = {n for n in codec if n.split(".")[1] not in light}
print("attrs" in roots, sorted(unwanted), sorted(codec))
"""
    root = str(Path(errors.__file__).parents[1])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    done = subprocess.run(  # noqa: S603 - our own interpreter and script
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == "True [] []"
