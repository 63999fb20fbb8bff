"""What must not be written, taken out of graphs before they are."""

from __future__ import annotations

import base64
import os
import pickle
import re
import subprocess
import sys
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

import attrs
import msgspec
import pydantic
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from graphcodec import (
    BytesReader,
    Codec,
    Conversation,
    Identity,
    Media,
    Message,
    OpaqueNode,
    Redaction,
    Registry,
    Seal,
    SpooledArtifact,
    Thought,
    Tokenizable,
    ToolCall,
    decode,
    encodable,
    encode,
    errors,
    extra,
    redact,
)
from graphcodec.log import MemoryDocumentStore, SessionLog, from_primitives, to_json
from graphcodec.queues import GraphQueue
from graphcodec.testing import same_graph, strategies
from graphcodec_resolvers import HttpReader
from tests.primitives.builders import make

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SECRET: Final = "hunter2-Zq9"  # noqa: S105 - of nobody
WORD: Final = Redaction("word", pattern=SECRET)
KEY: Final = b"0123456789abcdef"


@encodable("test.Card")
@attrs.frozen
class Card:
    """A class whose field takes short text alone, and which keeps unknown fields."""

    owner: str = attrs.field(validator=attrs.validators.max_len(20))
    limit: int = 0
    more: object = None
    rest: object = extra()


@encodable("test.Wrapped")
class Wrapped:
    """A class with functions of its own."""

    def __init__(self, text: object) -> None:
        self.text = text

    def __graphcodec_encode__(self) -> object:
        return self.text

    @classmethod
    def __graphcodec_decode__(cls, data: object) -> Wrapped:
        return cls(data)


class Plain:
    """A class that nothing can look into."""

    def __init__(self, text: str) -> None:
        self.text = text


class Model(pydantic.BaseModel):
    """A pydantic model."""

    name: str
    left: int = 3


class Row(msgspec.Struct):
    """A msgspec Struct."""

    name: str


def leaks(data: bytes, secret: str = SECRET) -> bool:
    """Say whether a document holds a secret, be it in base64."""
    wanted = secret.encode()
    packed = re.findall(rb"[A-Za-z0-9+/]{4,}={0,2}", data)
    return wanted in data or any(
        wanted in base64.b64decode(text[: len(text) // 4 * 4]) for text in packed
    )


def one(graph: object, **options: Any) -> Any:
    """Return a graph after one rule."""
    return redact(graph, [Redaction("rule", **options)])[0]


# Where it is looked for

PLACES: Final[dict[str, Callable[[str], object]]] = {
    "text": lambda s: f"a {s} b",
    "key": lambda s: {f"x{s}": 1},
    "key of bytes": lambda s: {s.encode(): 1},
    "key in a tuple": lambda s: {(1, (s,)): 1},
    "list": lambda s: [[s]],
    "tuple": lambda s: (1, (s,)),
    "deque": lambda s: deque([s], maxlen=3),
    "set": lambda s: {s, "b"},
    "frozenset": lambda s: frozenset({(s, 1)}),
    "bytes": lambda s: b"\xff\x00" + s.encode() + b"\xfe",
    "bytearray": lambda s: bytearray(s.encode()),
    "path": lambda s: PurePosixPath("/home") / s / "x",
    "args": lambda s: make(ToolCall, args={"q": {"deep": [s]}}),
    "results": lambda s: make(ToolCall, results=Tokenizable(s), is_complete=True),
    "result in a spool": lambda s: make(
        ToolCall, results=SpooledArtifact(BytesReader(s.encode())), is_complete=True
    ),
    "content": lambda s: make(Message, content=f"say {s}!"),
    "id": lambda s: make(Message, id=s),
    "identity": lambda s: Identity(identifier=1, representation=s),
    "stash": lambda s: make(Thought, stash=Registry({"a": {"b": s}})),
    "key of a registry": lambda s: Registry({s: {s: 1}}),
    "media": lambda s: make(Media, reader=BytesReader(b"\x89PNG" + s.encode())),
    "name of a file": lambda s: make(
        Media, filename=f"{s}.png", reader=BytesReader(b"x")
    ),
    "address": lambda s: make(Media, reader=HttpReader(f"https://example.org/{s}")),
    "own class": Card,
    "own functions": Wrapped,
    "own functions, deep": lambda s: Wrapped({"a": [s]}),
    "opaque": lambda s: OpaqueNode("x.Y", 1, {"a": [s], "b": {"$bytes": b64(s)}}),
    "unknown field": lambda s: codec().decode(
        encode(Card("x")).replace(b'"limit"', b'"new":["' + s.encode() + b'"],"limit"')
    ),
    "text after a surrogate": lambda s: f"\ud800{s}",
}


def b64(text: str) -> str:
    """Return text in base64."""
    return base64.b64encode(text.encode()).decode()


def codec(**options: Any) -> Codec:
    """Return a codec that knows the classes of this module."""
    return Codec(types=[Card, Wrapped], **options)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("form", ["json", "msgpack"])
def test_every_place(place: str, form: Any) -> None:
    """Wherever a secret stands, it is not written; without the rule, it is."""
    graph = PLACES[place](SECRET)

    assert leaks(codec(format=form).encode(graph))
    assert not leaks(codec(format=form, redact=[WORD]).encode(graph))


@pytest.mark.parametrize("place", PLACES)
def test_every_place_comes_back(place: str) -> None:
    """What is left is a graph like any other, and a second time changes nothing."""
    graph, report = redact(PLACES[place](SECRET), [WORD])
    again, second = redact(graph, [WORD])

    codec(unknown_types="keep").check(graph)
    assert again is graph
    assert report.counts["word"] > 0
    assert second.total == 0


@st.composite
def planted(draw: st.DrawFn) -> object:
    """Return a graph in which the secret lies at several places, shared and not."""
    names = draw(st.lists(st.sampled_from(sorted(PLACES)), min_size=1, max_size=4))
    parts = [PLACES[name](SECRET) for name in names]
    parts += [draw(strategies.graphs()), *parts[:1]]
    parts = draw(st.permutations(parts))
    match draw(st.integers(0, 3)):
        case 0:
            return parts
        case 1:
            return make(ToolCall, args={"parts": parts, "again": parts})
        case 2:
            knot: list[object] = [*parts]
            knot.append(knot)
            return {"knot": knot}
        case _:
            return Conversation(
                id=SECRET, items=[make(Message)], stash=Registry({"parts": parts})
            )


@settings(max_examples=60, deadline=None)
@given(graph=planted(), form=st.sampled_from(["json", "msgpack"]))
def test_any_graph(graph: object, form: Any) -> None:
    """Neither the document nor the report of a generated graph has the secret."""
    before = codec().content_hash(graph)
    writer = codec(format=form, redact=[WORD])
    _, report = writer.redacted(graph)

    assert not leaks(writer.encode(graph))
    assert SECRET not in repr(report)
    assert report.counts["word"] > 0
    assert codec().content_hash(graph) == before


@settings(max_examples=60, deadline=None)
@given(graph=strategies.graphs())
def test_nothing_found(graph: object) -> None:
    """A graph in which no rule finds anything is the very same graph."""
    made, report = redact(graph, [Redaction("word", pattern="\x01\x02absent")])

    assert made is graph
    assert report.unmatched == ("word",)


@settings(max_examples=60, deadline=None)
@given(graph=strategies.graphs())
def test_twice_is_once(graph: object) -> None:
    """A second redaction changes nothing, whatever the first one found."""
    rules = [
        Redaction("letters", pattern="[a-y]+"),
        Redaction("digits", pattern=r"\d+", action="hash", key=KEY),
    ]
    try:
        once, _ = redact(graph, rules)
    except errors.GraphCodecError:
        # A class may refuse other words than its own.
        return
    twice, report = redact(once, rules)

    assert twice is once
    assert report.total == 0


# The graph


def test_original_is_untouched() -> None:
    """The graph that is redacted stays as it was."""
    graph = {"a": [SECRET], "b": make(Message, content=SECRET)}
    copy = decode(encode(graph))

    redact(graph, [WORD])

    assert same_graph(graph, copy)


def test_sharing_and_cycles() -> None:
    """What was one object is one, a cycle is one, and what has nothing is the same."""
    reader = BytesReader(SECRET.encode())
    shared = make(Media, reader=reader)
    same = make(Message)
    knot: list[Any] = [shared, make(Media, reader=reader), same, SECRET]
    knot.append(knot)

    made, _ = redact(knot, [WORD])

    assert made[4] is made
    assert made[0].reader is made[1].reader
    assert made[2] is same
    assert made[3] == "[word]"


def test_deep() -> None:
    """Depth costs no stack."""
    graph: object = SECRET
    for _ in range(50_000):
        graph = [graph]

    made, report = redact(graph, [WORD, Redaction("deep", path="$..x")])

    assert report.counts == {"word": 1, "deep": 0}
    assert len(report.places[0].path) < 500
    assert not leaks(encode(made))


def test_many_ways_to_one_place() -> None:
    """Lists that share each other are looked at once each, with any path."""
    graph: list[Any] = [SECRET]
    for _ in range(60):
        graph = [graph, graph]

    _, report = redact(graph, [WORD, Redaction("last", path="$..[0][*]..[1]..[0]..x")])

    assert report.counts["word"] == 1


def test_frozen_cycle_is_refused() -> None:
    """A cycle of frozen objects can't be made again; the error does not show keys."""
    card = Card("x")
    object.__setattr__(card, "more", (card, SECRET))

    with pytest.raises(errors.CyclicGraphError, match="frozen") as caught:
        redact({SECRET: card}, [WORD])
    assert caught.value.path == "$['[word]'].more"


def test_two_keys_stay_two() -> None:
    """Keys that become equal are numbered, so that no entry is lost."""
    graph: dict[str, object] = {"a@x.org": 1, "b@x.org": 2, "[mail]": 3}

    made, _ = redact(graph, [Redaction("mail", pattern=r"\w@x\.org")])

    assert made == {"[mail][#2]": 1, "[mail][#3]": 2, "[mail]": 3}


def test_keys_that_cannot_be_numbered() -> None:
    """Other keys that become equal are an error, which does not show them."""
    graph = [{("a1",): 1, ("b2",): 2}]

    with pytest.raises(errors.InvalidValueError, match="turn out to be the same") as it:
        redact(graph, [Redaction("word", pattern=r"\w\d")])
    assert it.value.path == "$[0]"


# Selection


@pytest.mark.parametrize(
    ("path", "places"),
    [
        ("$", []),
        ("$.a", ["a"]),
        ("$['a']", ["a"]),
        ('$["a"]', ["a"]),
        ("$.b[*]", ["b0", "b1"]),
        ("$.b[1]", ["b1"]),
        ("$.b.*", ["b0", "b1"]),
        ("$.c.x", ["cx"]),
        ("$.c['odd key']", ["ck"]),
        ("$.*.x", ["cx"]),
        ("$..x", ["cx", "dx"]),
        ("$.d..x", ["dx"]),
        ("$.d[*][*].x", ["dx"]),
        ("$..[0]", ["b0", "d00"]),
        ("$.c.?", ["cx"]),
        ("$.c.o*", ["ck"]),
        ("$..c..x", ["cx"]),
        ("$.nothing", []),
    ],
)
def test_paths(path: str, places: list[str]) -> None:
    """A path selects what an error would say of it, with wildcards."""
    found = {
        "a": "a",
        "b": ["b0", "b1"],
        "c": {"x": "cx", "odd key": "ck"},
        "d": [["d00", {"x": "dx"}]],
    }
    made, report = redact(found, [Redaction("rule", path=path, pattern="^[a-z0-9]+$")])
    gone = [word for word in _words(found) if word not in _words(made)]

    if path == "$":
        assert len(gone) == 7
    elif path == "$..[0]":
        # The pattern looks at all that lies in what is selected.
        assert gone == ["b0", "d00", "dx"]
    else:
        assert gone == places
        assert report.total == len(places)


def _words(graph: object) -> Iterator[str]:
    if isinstance(graph, str):
        return iter([graph])
    table = isinstance(graph, dict)
    values: Any = cast("Any", graph).values() if table else graph
    return (word for value in values for word in _words(value))


@pytest.mark.parametrize(
    "path", ["", "a", "$a", "$.", "$[", "$[x]", "$.a b", "$['a]", "$....", 3, "$" * 2]
)
def test_no_path(path: Any) -> None:
    """What is no path is refused when the rule is made."""
    with pytest.raises(errors.InvalidValueError, match=r"path must be a path") as it:
        Redaction("rule", path=path)
    assert it.value.path == "$.path"


def test_path_of_an_error_selects() -> None:
    """The path that an error shows is one that a rule takes."""
    graph = {"odd key": [make(Message, stash=Registry({"a": threading.Lock()}))]}
    with pytest.raises(errors.GateNotEncodableError) as caught:
        encode(graph)

    made = one(graph, path=caught.value.path)

    assert decode(encode(made)) == {
        "odd key": [make(Message, stash=Registry({"a": "[rule]"}))]
    }


def test_type_and_field() -> None:
    """A field of a class is selected wherever instances lie, and in no other class."""
    graph = [make(Message, content="a"), {"x": make(Thought, content="b")}]

    made = one(graph, type=Message, field="content")

    assert made[0].content == Tokenizable("[rule]")
    assert made[1] is graph[1]


def test_field_of_anything() -> None:
    """Without a class, keys count as well, whatever their case."""
    made = one({"Api_Key": 1, "x": [{"old_api_key": None, "y": 2}]}, field="*api_key")

    assert made == {"Api_Key": "[rule]", "x": [{"old_api_key": None, "y": 2}]}


def test_type_alone() -> None:
    """Without a field, values of the class are selected."""
    talk = Conversation(id="c", items=[make(Message), make(Thought)])

    made = one(talk, type=Thought, action="drop")

    assert made.items == talk.items[:1]


def test_all_conditions_count() -> None:
    """A rule is about what fits its path, class and field."""
    graph = {"a": make(Message, content="x"), "b": make(Message, content="x")}

    made = one(graph, path="$.a.*", type=Message, field="content")

    assert made["a"].content.text == "[rule]"
    assert made["b"] is graph["b"]


def test_pattern_in_a_selection() -> None:
    """With a pattern, texts at any depth below the selected value are looked at."""
    graph = {"a": {"deep": [{SECRET: SECRET}]}, "b": SECRET}

    made = one(graph, path="$.a", pattern=SECRET)

    assert made == {"a": {"deep": [{"[rule]": "[rule]"}]}, "b": SECRET}


def test_shared_object_is_selected_by_any_way() -> None:
    """An object that several ways lead to is redacted if one of them is selected."""
    shared = {"x": "1"}

    made = one({"a": [shared], "b": shared}, path="$.b.x")

    assert made["a"][0] is made["b"]
    assert made["b"] == {"x": "[rule]"}


# Actions


@pytest.mark.parametrize(
    ("value", "made"),
    [
        ("text", "[rule]"),
        (b"x", b"[rule]"),
        (bytearray(b"x"), bytearray(b"[rule]")),
        (3, "[rule]"),
        (datetime(2025, 1, 1, tzinfo=UTC), "[rule]"),
        ({"a": [1]}, "[rule]"),
        (None, None),
        (Tokenizable("a"), Tokenizable("[rule]")),
        (BytesReader(b"a"), BytesReader(b"[rule]")),
        (HttpReader("https://example.org/a"), BytesReader(b"[rule]")),
        (PurePosixPath("/a"), PurePosixPath("[rule]")),
    ],
)
def test_mask_takes_the_form_of_what_it_replaces(value: object, made: object) -> None:
    """A value as a whole becomes the replacement, in its own form if it has one."""
    found = one({"x": value}, path="$.x")["x"]

    assert type(found) is type(made)
    assert found == made


@pytest.mark.parametrize("value", [None, 0, [1, [2]], {}])
def test_replacement_of_any_kind(value: object) -> None:
    """A replacement may be anything, and is a new one at each place."""
    made: Any = one([{"x": 1}, {"x": 2}], field="x", replacement=value)

    assert made == [{"x": value}, {"x": value}]
    assert made[0]["x"] is not made[1]["x"] or not isinstance(value, (list, dict))


@pytest.mark.parametrize(
    "number", [4111111111111111, Decimal(4111111111111111), UUID(int=0x4111 << 112)]
)
def test_numbers_have_texts(number: object) -> None:
    """A pattern finds the digits of a number, which becomes text."""
    made = one([number, True, 7, 10**400], pattern=r"4111[\d-]*")

    assert made == ["[rule]", True, 7, 10**400]


def test_pseudonyms() -> None:
    """Equal texts have equal pseudonyms, under one key and one rule alone."""
    rule = Redaction("who", pattern=r"\w+@x\.org", action="hash", key=KEY)
    (first, second, other), _ = redact(["a@x.org", "to a@x.org", "b@x.org"], [rule])
    (salted,), _ = redact(["a@x.org"], [attrs.evolve(rule, key=KEY[::-1])])

    assert re.fullmatch(r"\[who:[0-9a-f]{20}\]", first)
    assert second == f"to {first}"
    assert len({first, other, salted}) == 3


def test_pseudonym_of_a_whole_value() -> None:
    """A value as a whole has a pseudonym; one that is more than a text has none."""
    rule = {"path": "$.x", "action": "hash", "key": KEY}
    texts = [one({"x": v}, **rule)["x"] for v in ("a", 1, Tokenizable("a"))]

    assert texts[0] != texts[1]
    assert texts[2] == Tokenizable(texts[0])
    assert one({"x": texts[0]}, **rule)["x"] == texts[0]
    with pytest.raises(
        errors.InvalidValueError, match="'rule' can't hash a list"
    ) as it:
        one({"x": ["a"]}, **rule)
    assert it.value.path == "$.x"


def test_drop() -> None:
    """An entry goes; a field gets its default, or None."""
    call = make(ToolCall, args={"a": "1", "b": ["2", SECRET], "c": {"3", SECRET}})
    made = one([call, SECRET, 3], pattern=SECRET, action="drop")

    assert made[0].args == {"a": "1", "b": ["2"], "c": {"3"}}
    assert made[1:] == [3]
    assert one(make(Media, source="x"), field="source", action="drop").source is None
    assert one("x", path="$", action="drop") is None
    assert one(Model(name="a", left=9), field="left", action="drop").left == 3


def test_first_rule_about_a_whole_value_counts() -> None:
    """Of several rules about a value as a whole the first one is applied."""
    rules = [Redaction("one", path="$.x"), Redaction("two", path="$..x")]

    graph: dict[str, object] = {"x": 1}
    made, report = redact(graph, rules)

    assert made == {"x": "[one]"}
    assert report.counts == {"one": 1, "two": 0}


def test_patterns_follow_each_other() -> None:
    """Patterns are applied in turn, and leave alone what others have put there."""
    rules = [
        Redaction("digits", pattern=r"\d+"),
        Redaction("words", pattern=r"\w+"),
    ]

    assert redact("a 12 b", rules)[0] == "[words] [digits] [words]"


def _is_even(text: str) -> bool:
    return int(text) % 2 == 0


def test_check_of_a_match() -> None:
    """A function says which matches are ones."""
    made = one("11 12", pattern=r"\d+", check=_is_even)

    assert made == "11 [rule]"


@pytest.mark.parametrize(
    "pattern", [re.compile("SECRET", re.IGNORECASE), regex.compile("(?i)secret")]
)
def test_compiled_patterns(pattern: Any) -> None:
    """A compiled pattern keeps its flags."""
    assert one("a Secret", pattern=pattern) == "a [rule]"


# Refusals


@pytest.mark.parametrize(
    "graph",
    [Card("x"), Row("x"), Model(name="x")],
    ids=["attrs", "struct", "pydantic"],
)
def test_invalid_result(graph: Any) -> None:
    """A result that its class refuses is an error that names the rule and the path."""
    long = Redaction("long", field=("owner", "name"), replacement=["x"] * 21)

    with pytest.raises(
        errors.InvalidValueError, match="what 'long' puts there is refused by"
    ) as caught:
        redact({"a": [graph]}, [long])
    assert caught.value.path.startswith("$.a[0]")
    assert caught.value.hint.startswith("give the rule another replacement")


def test_error_of_a_primitive_says_the_field() -> None:
    """The path leads to the field that is refused."""
    with pytest.raises(errors.InvalidValueError, match="'rule'") as caught:
        one([make(Message)], field="created_at")
    assert caught.value.path == "$[0].created_at"


def test_errors_of_encode_show_redacted_keys() -> None:
    """What can't be written is told with the path as it would be written."""
    with pytest.raises(errors.GateNotEncodableError) as caught:
        codec(redact=[WORD]).encode({SECRET: {"a": threading.Lock()}})
    assert SECRET not in str(caught.value)


def test_time_is_bounded() -> None:
    """A pattern that backtracks for ever ends in an error that names the rule."""
    evil = Redaction("evil", pattern=r"(?:a|aa)+c|b(?!b)(?:x?){9}c")

    with pytest.raises(errors.LimitExceededError, match="the rule 'evil': ") as caught:
        redact({"x": ["a" * 5_000 + "b"]}, [evil], timeout=0.2)
    assert caught.value.path == "$.x[0]"
    assert caught.value.limit == "pattern_timeout"


def test_rules_that_feed_each_other() -> None:
    """Rules that complete what the other one looks for come to an end."""
    rules = [
        Redaction("one", pattern="ab", replacement="ba"),
        Redaction("two", pattern="x", replacement="y"),
    ]

    with pytest.raises(errors.LimitExceededError, match="find something again"):
        redact("ab" * 40, rules)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "at least one of path"),
        ({"pattern": "("}, "regular expression"),
        ({"pattern": "a*"}, "must not match the empty text"),
        ({"pattern": re.compile(b"a")}, "for text"),
        ({"pattern": 3}, "for text"),
        ({"pattern": "a", "action": "burn"}, "action must be"),
        ({"pattern": "a", "replacement": 3}, "replacement must be text"),
        ({"pattern": "a", "action": "hash"}, "come together"),
        ({"pattern": "a", "key": KEY}, "come together"),
        ({"pattern": "a", "action": "hash", "key": b"short"}, "at least 16 bytes"),
        ({"path": "$.a", "check": bool}, "there must be a pattern"),
        ({"pattern": "a", "check": 3}, "check must be a function"),
        ({"type": "Message"}, "type must be a class"),
        ({"type": (int, "x")}, "type must be a class"),
        ({"field": ()}, "field must be"),
        ({"field": 3}, "field must be"),
    ],
)
def test_wrong_rules(options: Any, words: str) -> None:
    """A rule that makes no sense is refused when it is made."""
    with pytest.raises(errors.InvalidValueError, match=words):
        Redaction("rule", **options)


@pytest.mark.parametrize("name", ["", "a]b", "a" * 41, "é", 3, "a\n"])
def test_wrong_names(name: Any) -> None:
    """The name of a rule stands in texts, so it is a short word."""
    with pytest.raises(errors.InvalidValueError, match="must be a short word"):
        Redaction(name, path="$")


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (WORD, "must be a list of Redaction"),
        (3, "must be a list of Redaction"),
        (["x"], "a rule must be a Redaction, not str"),
        ([WORD, WORD], "two rules have the name 'word'"),
    ],
)
def test_wrong_lists_of_rules(rules: Any, words: str) -> None:
    """Both ways in refuse what are no rules."""
    with pytest.raises(errors.InvalidValueError, match=words):
        redact("x", rules)
    with pytest.raises(errors.InvalidValueError, match=words):
        Codec(redact=rules)


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf")])
def test_wrong_timeouts(timeout: float) -> None:
    """The time must be a number of seconds."""
    with pytest.raises(errors.InvalidValueError, match="timeout must be"):
        redact("x", [WORD], timeout=timeout)


# The report


def test_report() -> None:
    """It says where each rule found how much, in the order of the document."""
    graph = {"a": f"{SECRET} {SECRET}", "b": [{SECRET: 1}]}
    rules = [WORD, Redaction("never", path="$.x")]

    _, report = redact(graph, rules)

    assert [(p.path, p.rule, p.count) for p in report.places] == [
        ("$.a", "word", 2),
        ("$.b[0]['[word]']", "word", 1),
    ]
    assert report.counts == {"word": 3, "never": 0}
    assert report.total == 3
    assert report.unmatched == ("never",)


def test_report_is_bounded() -> None:
    """It lists the first places and counts all."""
    _, report = redact([SECRET] * 1_000, [WORD])

    assert len(report.places) == 200
    assert report.total == 1_000


def test_unseen() -> None:
    """It says what was not looked into: bytes elsewhere, and objects without a door."""
    reader = HttpReader("https://example.org/a")
    graph = [make(Media, reader=reader), reader, Plain(SECRET), BytesReader(b"x")]

    _, report = redact(graph, [WORD])

    assert sorted(report.unseen.values()) == [1, 1]
    assert {name.split(".")[-1] for name in report.unseen} == {"HttpReader", "Plain"}


# The codec


def test_all_ways_out() -> None:
    """Bytes, text, compressed and sealed documents hold no secret."""
    graph = {"a": SECRET}
    writer = codec(redact=[WORD])

    assert decode(writer.encode(graph)) == {"a": "[word]"}
    assert decode(writer.encode_text(graph)) == {"a": "[word]"}
    packed = writer.replace(compression="gzip")
    assert packed.decode(packed.encode(graph)) == {"a": "[word]"}
    sealing = writer.replace(seal=Seal({"a": os.urandom(32)}, current="a"))
    assert sealing.decode(sealing.encode(graph)) == {"a": "[word]"}


def test_hash_is_that_of_what_is_written() -> None:
    """The hash of a graph can't be guessed from: the secret has no part in it."""
    writer = codec(redact=[WORD])

    assert writer.content_hash([SECRET]) == codec().content_hash(["[word]"])


def test_check_compares_what_is_written() -> None:
    """`check` holds what the rules leave against what comes back."""
    codec(redact=[WORD]).check({"a": SECRET})


def test_codec_with_functions() -> None:
    """A class that was registered with functions is looked into by them."""
    writer = codec(redact=[WORD])
    writer.register(
        Plain, "test.Plain", encode=lambda obj: [obj.text], decode=lambda v: Plain(*v)
    )

    document = writer.encode({"a": Plain(SECRET), "b": Plain("x")})

    assert not leaks(document)
    assert cast("Any", writer.decode(document))["a"].text == "[word]"


def test_decoding_redacts_nothing() -> None:
    """What others wrote comes as they wrote it."""
    assert codec(redact=[WORD]).decode(encode([SECRET])) == [SECRET]


def test_replace_and_pickle() -> None:
    """The rules go where the codec goes, keys excepted."""
    writer = codec(redact=[WORD], format="msgpack")

    assert writer.replace(format="json").redact == (WORD,)
    assert not leaks(pickle.loads(pickle.dumps(writer)).encode([SECRET]))
    keyed = Redaction("who", pattern="x", action="hash", key=KEY)
    for thing in (keyed, codec(redact=[keyed])):
        with pytest.raises(pickle.PicklingError, match="keys never are"):
            pickle.dumps(thing)


def test_key_is_never_shown() -> None:
    """Neither a rule nor a codec shows a key."""
    keyed = Redaction("who", pattern="x", action="hash", key=KEY)

    assert KEY.decode() not in repr(keyed) + repr(codec(redact=[keyed]))
    assert repr(keyed) == "Redaction('who', action='hash')"


def test_threads() -> None:
    """Rules have no state: many threads redact with one codec."""
    writer = codec(redact=[WORD])

    with ThreadPoolExecutor(8) as pool:
        documents = set(pool.map(writer.encode, [{"a": [SECRET]}] * 200))

    assert documents == {encode({"a": ["[word]"]})}


def test_queue() -> None:
    """A queue carries what its codec writes."""
    queue = GraphQueue(codec=codec(redact=[WORD]))
    queue.put([SECRET])

    assert queue.get(timeout=10) == ["[word]"]
    queue.close()


def test_session_log() -> None:
    """A log redacts records with the rules of its codec, before anything is written."""
    store = MemoryDocumentStore()
    talk = make(Message, content=f"say {SECRET}", stash=Registry({"a": SECRET}))

    with SessionLog(store, "s", codec=codec(redact=[WORD])) as log:
        log.append(talk)

    assert SECRET not in repr(list(store.scan("s")))


def test_nothing_is_loaded_without_rules() -> None:
    """A codec without rules does not even load what redacts."""
    code = (
        "import sys, graphcodec; graphcodec.Codec().encode({'a': 1});"
        "assert not [m for m in sys.modules if 'redaction' in m or m == 'regex']"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - our own


def test_records_of_a_conversation() -> None:
    """The records that are made of primitives are redacted in all their fields."""
    talk = Conversation(id="c", items=[make(Message, content=SECRET)])

    records = from_primitives(talk, codec=codec(redact=[WORD]))

    assert SECRET not in "".join(map(to_json, records))
