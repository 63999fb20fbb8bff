"""What a codec believes of the trust that a document claims."""

from __future__ import annotations

import pickle
from itertools import product
from typing import Any, Final

import pytest
from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from graphcodec import (
    ArtifactTool,
    BytesReader,
    Codec,
    Conversation,
    Media,
    OpaqueNode,
    Registry,
    Retrievable,
    Tool,
    ToolRegistry,
    TrustPolicy,
    TrustTier,
    encodable,
    encode,
    errors,
)
from graphcodec._graphs._traverse import Walk
from graphcodec.primitives import MediaStash
from graphcodec.testing import same_graph, strategies
from tests.primitives.builders import make

FIRST, PRIVATE, PUBLIC = (
    TrustTier.FIRST_PARTY,
    TrustTier.THIRD_PARTY_PRIVATE,
    TrustTier.THIRD_PARTY_PUBLIC,
)
ORDER: Final = (PUBLIC, PRIVATE, FIRST)
STRICT: Final = TrustPolicy(max_tier=PUBLIC, tools_trusted=False)


@encodable("test.Passage")
@frozen(kw_only=True, eq=False, repr=False)
class Passage(Retrievable):
    """A retrievable of a user."""

    page: int


def passage(tier: TrustTier = FIRST) -> Retrievable:
    """Return a retrieved passage."""
    return make(Retrievable, trust_tier=tier)


def media(tier: TrustTier = FIRST) -> Media:
    """Return a media with one entry in its stash, both of a tier."""
    entry = {"value": {"trust_tier": "first-party"}, "trust_tier": tier.value}
    return make(
        Media, reader=BytesReader(b"x"), trust_tier=tier, stash=Registry({"ocr": entry})
    )


def tool(cls: type[Tool] = Tool) -> Tool:
    """Return a trusted tool."""
    return cls(
        name="search",
        description="d",
        input_schema={"type": "object"},
        handler=None,
        trusted=True,
    )


def made_by_hook(_: object, __: type) -> Retrievable:
    """Return what a hook makes, whatever the document says."""
    return passage()


def claims(graph: object) -> list[tuple[str, object]]:
    """Return every claim of trust in a graph, and what it is a claim of."""
    found: list[tuple[str, object]] = []
    for _, obj in Walk(graph):
        match obj:
            case Media() | Retrievable():
                found.append(("tier", obj.trust_tier))
            case MediaStash():
                entries: Any = obj.all().values()
                found += [("tier", TrustTier(e["trust_tier"])) for e in entries]
            case Tool():
                found.append(("trusted", obj.trusted))
            case _:
                pass
    return found


@pytest.mark.parametrize(("claimed", "most"), list(product(ORDER, ORDER)))
def test_tiers_are_clamped(claimed: TrustTier, most: TrustTier) -> None:
    """No tier is above the policy's, and none below it is changed."""
    codec = Codec(trust=TrustPolicy(max_tier=most))
    wanted = min(claimed, most, key=ORDER.index)

    out: Any = codec.decode(encode([passage(claimed), media(claimed)]))

    assert [part.trust_tier for part in out] == [wanted, wanted]
    assert out[1].stash.get("ocr.trust_tier") == wanted.value
    assert out[1].stash.get("ocr.value.trust_tier") == "first-party"


@pytest.mark.parametrize("cls", [Tool, ArtifactTool])
def test_tools_are_not_trusted(cls: type[Tool]) -> None:
    """A tool from outside has no words of the developer, unless that is allowed."""
    document = encode(ToolRegistry([tool(cls)]))

    out: Any = Codec(trust=TrustPolicy(tools_trusted=False)).decode(document)

    assert [each.trusted for each in out] == [False]
    assert [each.trusted for each in Codec().decode(document, ToolRegistry)] == [True]


@settings(deadline=None)
@given(graph=strategies.graphs())
def test_default_changes_nothing(graph: object) -> None:
    """``TrustPolicy()`` believes everything."""
    codec = Codec(trust=TrustPolicy())

    assert same_graph(codec.decode(encode(graph)), graph)


def test_default_costs_nothing() -> None:
    """A codec that believes everything reads with the very functions it had."""
    codec = Codec()
    codec.decode(encode([media(), tool()]))

    assert codec._engine._programs.read.trust is None  # pyright: ignore[reportPrivateUsage]


@settings(deadline=None)
@given(
    graph=strategies.graphs(),
    most=st.sampled_from(ORDER),
    tools=st.booleans(),
)
def test_nothing_exceeds_the_policy(
    graph: object, most: TrustTier, *, tools: bool
) -> None:
    """Whatever the graph, no claim in it is above the policy, and none is invented."""
    given_ = [graph, media(), passage(), (tool(),)]
    codec = Codec(trust=TrustPolicy(max_tier=most, tools_trusted=tools))

    before, after = claims(given_), claims(codec.decode(encode(given_)))

    assert after == [
        (kind, min(claim, most, key=ORDER.index) if kind == "tier" else claim and tools)
        for kind, claim in before
    ]


@pytest.mark.parametrize(
    ("graph", "path"),
    [
        (passage(), "$.trust_tier"),
        ([1, {"a b": (passage(),)}], "$[1]['a b'][0].trust_tier"),
        (make(Conversation, items=[passage()]), "$.items[0].trust_tier"),
        ([tool()], "$[0].trusted"),
        (
            make(
                Media,
                reader=BytesReader(b"x"),
                stash=Registry({"a": {"value": 1, "trust_tier": FIRST}}),
            ),
            "$.stash.data.a.trust_tier",
        ),
    ],
    ids=["root", "containers", "conversation", "tool", "stash"],
)
def test_refusal_says_where(graph: object, path: str) -> None:
    """A refused document is an error with the path of the first claim."""
    policy = TrustPolicy(
        max_tier="third-party-private", tools_trusted=False, on_excess="refuse"
    )

    with pytest.raises(errors.UndecodableValueError, match="and this codec") as caught:
        Codec(trust=policy).decode(encode(graph))

    assert caught.value.path == path


def test_refusal_lets_the_rest_through() -> None:
    """What claims no more than is allowed is read as it stands."""
    policy = TrustPolicy(max_tier=PRIVATE, tools_trusted=False, on_excess="refuse")
    graph = [passage(PRIVATE), media(PUBLIC), tool().replace(trusted=False)]

    assert same_graph(Codec(trust=policy).decode(encode(graph)), graph)


def test_sharing_and_cycles_are_kept() -> None:
    """What is one object stays one, in sets and in cycles as well."""
    shared, ring = passage(), list[object]()
    ring += [ring, shared, {shared}]
    within = passage()
    within.stash.set("ring", ring)

    out: Any = Codec(trust=STRICT).decode(encode([within, shared]))

    again = out[0].stash._data["ring"]
    assert again[0] is again
    assert again[1] is out[1] or again[1].trust_tier is PUBLIC
    assert {part.trust_tier for part in (*out, *again[2], again[1])} == {PUBLIC}


def test_entries_of_a_stash_that_are_no_plain_values() -> None:
    """An entry counts wherever it lies on the wire: walked, and shared as a node."""
    entry: dict[str, object] = {"value": (1, b"x"), "trust_tier": "first-party"}
    found = make(
        Media,
        reader=BytesReader(b"x"),
        trust_tier=PUBLIC,
        stash=Registry({"a": entry, "b": entry}),
    )

    out: Any = Codec(trust=STRICT).decode(encode([found, found]))

    assert {out[0].stash.get(f"{k}.trust_tier") for k in "ab"} == {PUBLIC.value}


def test_classes_of_users() -> None:
    """A subclass claims no more than its base may."""
    plain = passage()
    given_ = Passage(
        page=1,
        id=plain.id,
        content=plain.content,
        trust_tier=FIRST,
        created_at=plain.created_at,
        updated_at=plain.updated_at,
    )
    codec = Codec(types=[Passage], trust=STRICT)

    assert codec.decode(codec.encode(given_), Passage).trust_tier is PUBLIC


def test_hooks_of_users() -> None:
    """What a hook makes, and what the converter is asked for, is looked at as well."""
    codec = Codec(trust=STRICT)
    tree = Codec().converter.unstructure(passage())
    assert codec.converter.structure(tree, Retrievable).trust_tier is PUBLIC

    codec.converter.register_unstructure_hook(Retrievable, lambda _: {})
    codec.converter.register_structure_hook(Retrievable, made_by_hook)
    assert codec.decode(codec.encode(passage()), Retrievable).trust_tier is PUBLIC


def test_unknown_types() -> None:
    """What is kept for a newer reader claims no more, plain data in it included."""
    document = (
        (
            b'{"graphcodec":1,"root":[{"$type":"Media","$v":9,"trust_tier":"first-party"},'
            b'{"$type":"new.Thing","trusted":true,"parts":[{"trust_tier":"first-party"}]}]}'
        )
        .replace(b'"root":[', b'"root":{"$any":[')
        .replace(b"]}]}", b"]}]}}")
    )
    codec = Codec(unknown_types="keep", trust=STRICT)

    first, second = codec.decode(document, list[OpaqueNode])

    assert first.fields["trust_tier"] == "third-party-public"
    assert second.fields["trusted"] is False
    assert b"first-party" not in codec.encode([first, second])
    with pytest.raises(errors.UndecodableValueError, match="the tier first-party"):
        Codec(
            unknown_types="keep",
            trust=TrustPolicy(max_tier=PRIVATE, on_excess="refuse"),
        ).decode(document)


def test_option_comes_along() -> None:
    """Copies, pickled ones too, believe what the original does."""
    codec = Codec(trust=STRICT)

    pickled: Codec = pickle.loads(pickle.dumps(codec))
    for copy in (codec.replace(format="msgpack"), pickled):
        assert copy.decode(encode(passage()), Retrievable).trust_tier is PUBLIC
    assert codec.replace(trust=TrustPolicy()).decode(encode(passage())) == passage()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_tier": "second-party"}, "max_tier must be 'first-party' or"),
        ({"max_tier": None}, "max_tier must be"),
        ({"tools_trusted": 1}, "tools_trusted must be True or False"),
        ({"on_excess": "ignore"}, "on_excess must be 'clamp' or 'refuse'"),
    ],
)
def test_wrong_policies(options: dict[str, Any], words: str) -> None:
    """Only what is documented is taken."""
    with pytest.raises(errors.InvalidValueError, match=words):
        TrustPolicy(**options)


def test_policy_is_one() -> None:
    """A codec takes nothing else for a policy."""
    with pytest.raises(errors.InvalidValueError, match="trust must be TrustPolicy"):
        Codec(trust="clamp")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
