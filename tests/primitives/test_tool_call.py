from __future__ import annotations

import hashlib

import pytest

from graphcodec.errors import InvalidValueError
from graphcodec.primitives import (
    Media,
    Registry,
    SpooledArtifact,
    Tokenizable,
    ToolCall,
)
from tests.primitives.builders import NOW, FixedReader, make

PENDING = {"is_complete": False, "results": None, "completed_at": None}


def _artifact() -> SpooledArtifact:
    return SpooledArtifact(FixedReader())


def test_defaults_of_a_pending_call() -> None:
    """A call that waits for its answer needs no results."""
    call = ToolCall(
        id="c",
        tool="t",
        args={},
        is_complete=False,
        is_error=False,
        created_at=NOW,
        updated_at=NOW,
    )

    assert (call.results, call.completed_at, call.checksum) == (None, None, None)
    assert (call.from_artifact_tool, call.inline) == (False, True)
    assert call.stash == Registry()


@pytest.mark.parametrize(
    ("changes", "field", "reason"),
    [
        ({"results": None}, "results", "is required once is_complete is true"),
        ({"completed_at": None}, "completed_at", "is required once is_complete"),
        ({"is_complete": False}, "results", "must be None while is_complete is false"),
        (
            {"is_complete": False, "results": None},
            "completed_at",
            "must be None while is_complete is false",
        ),
    ],
)
def test_complete_calls_have_results_and_pending_ones_do_not(
    changes: dict[str, object], field: str, reason: str
) -> None:
    """Results and their time are there exactly when the call is complete."""
    with pytest.raises(
        InvalidValueError, match=rf"^ToolCall\.{field} {reason}"
    ) as caught:
        make(ToolCall, **changes)
    assert caught.value.path == f"$.{field}"


def test_args_are_kept_as_they_are() -> None:
    """They are the caller's dict, neither copied nor frozen."""
    args = {"q": ["tea"]}

    assert make(ToolCall, args=args).args is args


@pytest.mark.parametrize(
    ("args", "reason", "hint"),
    [
        ('{"q": 1}', "not '{", "json.loads(text)"),
        (None, "not None", "a call without arguments has {}"),
        ([("q", 1)], "not a list", ""),
        ({"q": 1, 2: 3}, "not one with 2", ""),
    ],
)
def test_args_are_a_dict_with_str_keys(args: object, reason: str, hint: str) -> None:
    """Above all, no JSON text."""
    with pytest.raises(
        InvalidValueError, match=f"ToolCall.args must be a dict with str keys, {reason}"
    ) as caught:
        make(ToolCall, args=args)
    assert hint in caught.value.hint


@pytest.mark.parametrize("results", ["found", ""])
def test_str_results_become_text(results: str) -> None:
    """A tool may also have nothing to say."""
    assert make(ToolCall, results=results).results == Tokenizable(results)


@pytest.mark.parametrize(
    "results",
    [
        Tokenizable("x"),
        _artifact(),
        make(Media),
        (_artifact(), _artifact()),
        (make(Media),),
    ],
    ids=["text", "artifact", "media", "artifacts", "several media"],
)
def test_live_results_are_kept(results: object) -> None:
    """Instances, and tuples of them, stay the objects that they are."""
    assert make(ToolCall, results=results).results is results


@pytest.mark.parametrize("results", [[_artifact()], [make(Media), make(Media)]])
def test_list_of_results_becomes_a_tuple(results: list[object]) -> None:
    """Several artifacts or several media are kept as a tuple."""
    assert make(ToolCall, results=results).results == tuple(results)


@pytest.mark.parametrize("results", [(), []])
def test_results_are_not_an_empty_tuple(results: object) -> None:
    """Nothing is said by empty text."""
    with pytest.raises(
        InvalidValueError, match=r"ToolCall\.results must not be an empty tuple"
    ):
        make(ToolCall, results=results)


def test_results_are_not_mixed() -> None:
    """Either artifacts or media."""
    with pytest.raises(
        InvalidValueError, match=r"ToolCall\.results must be all artifacts or all media"
    ):
        make(ToolCall, results=[_artifact(), make(Media)])


@pytest.mark.parametrize("entry", [Tokenizable("x"), "x", None, FixedReader()])
def test_results_are_no_tuple_of_anything_else(entry: object) -> None:
    """Several texts are not results."""
    with pytest.raises(
        InvalidValueError,
        match=r"ToolCall\.results\[1\] must be a SpooledArtifact or a Media, not",
    ) as caught:
        make(ToolCall, results=[_artifact(), entry])
    assert caught.value.path == "$.results[1]"


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("id", "", "a non-empty str"),
        ("tool", "", "a non-empty str"),
        ("checksum", "", "a non-empty str or None"),
        ("is_complete", 1, "a bool, not 1"),
        ("is_complete", "true", "a bool, not 'true'"),
        ("is_error", None, "a bool"),
        ("from_artifact_tool", 0, "a bool"),
        ("inline", "yes", "a bool"),
        ("results", 5, "a Tokenizable, a SpooledArtifact, a Media, None or a tuple of"),
        ("completed_at", "now", "an aware datetime or None"),
        ("created_at", None, "an aware datetime"),
        ("stash", {}, "a Registry"),
    ],
)
def test_wrong_field_of_a_call_is_named(field: str, value: object, reason: str) -> None:
    """The error says the field and what belongs there."""
    with pytest.raises(
        InvalidValueError, match=rf"^ToolCall\.{field} must be {reason}"
    ):
        make(ToolCall, **{field: value})


def test_checksum_is_over_canonical_json() -> None:
    """Keys are sorted at every depth, text is UTF-8, and nothing is spaced out."""
    text = '{"args":{"a":[{"x":null,"y":1.5}],"b":"é"},"tool":"search"}'
    args = {"b": "é", "a": [{"y": 1.5, "x": None}]}

    expected = hashlib.sha256(text.encode()).hexdigest()
    assert ToolCall.compute_checksum("search", args) == expected


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1, "1"),
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (1e16, "1e+16"),
        (0.1, "0.1"),
        (2**70, "1180591620717411303424"),
        (True, "true"),
    ],
)
def test_checksum_has_numbers_as_python_writes_them(number: object, text: str) -> None:
    """An int is not the float that equals it."""
    expected = hashlib.sha256(f'{{"args":{{"n":{text}}},"tool":"t"}}'.encode())

    assert ToolCall.compute_checksum("t", {"n": number}) == expected.hexdigest()


def test_checksum_is_verified_on_request() -> None:
    """It fits the call, fits another one, or is not there."""
    checksum = ToolCall.compute_checksum("search", {"q": "tea"})

    assert make(ToolCall, checksum=checksum).verify_checksum()
    assert not make(ToolCall, checksum=checksum, args={"q": "mate"}).verify_checksum()
    assert not make(ToolCall).verify_checksum()


def test_checksum_takes_lone_surrogates() -> None:
    """Text that is no valid UTF-8 still has a checksum."""
    assert len(ToolCall.compute_checksum("t", {"q": "\ud800"})) == 64


def _nested() -> list[object]:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    return value


def _doubling() -> object:
    """Return little that unfolds to more than fits anywhere."""
    value: object = []
    for _ in range(60):
        value = [value, value]
    return value


def _circular() -> object:
    value: dict[str, object] = {}
    value["again"] = value
    return value


@pytest.mark.parametrize(
    "value",
    [
        b"x",
        {1},
        float("nan"),
        Tokenizable("x"),
        {1: "x"},
        {None: 1},
        _nested(),
        _doubling(),
        _circular(),
    ],
    ids=[
        "bytes",
        "set",
        "nan",
        "primitive",
        "int key",
        "null key",
        "deep",
        "doubling",
        "circular",
    ],
)
def test_checksum_needs_plain_json(value: object) -> None:
    """What JSON can't hold has no canonical form."""
    with pytest.raises(
        InvalidValueError, match=r"ToolCall\.args can't be summed"
    ) as caught:
        ToolCall.compute_checksum("t", {"q": value})
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    ("changes", "state"),
    [({}, "complete"), ({"is_error": True}, "failed"), (PENDING, "pending")],
)
def test_repr_of_a_call_shows_its_state(changes: dict[str, object], state: str) -> None:
    """Neither arguments nor results are in it."""
    expected = f"ToolCall(id='call-1', tool='search', <{state}>)"

    assert repr(make(ToolCall, **changes)) == expected
