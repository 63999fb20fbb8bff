import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from graphcodec import Codec, errors
from graphcodec.errors import GraphCodecError, LimitExceededError
from graphcodec.primitives import Message, Tokenizable
from tests.codec.samples import CODEC, read, root
from tests.primitives.builders import make

CODES = {
    "GraphCodecError": ("E_GRAPHCODEC", Exception),
    "InvalidValueError": ("E_INVALID_VALUE", ValueError),
    "UnencodableValueError": ("E_UNENCODABLE_VALUE", TypeError),
    "GateNotEncodableError": ("E_GATE_NOT_ENCODABLE", TypeError),
    "HandlerNotEncodableError": ("E_HANDLER_NOT_ENCODABLE", TypeError),
    "NoPlaceError": ("E_NO_PLACE", TypeError),
    "ReaderNotDescribableError": ("E_READER_NOT_DESCRIBABLE", TypeError),
    "UndecodableValueError": ("E_UNDECODABLE_VALUE", ValueError),
    "NoReaderResolverError": ("E_NO_READER_RESOLVER", LookupError),
    "NoHandlerError": ("E_NO_HANDLER", ValueError),
    "HandleError": ("E_HANDLE", OSError),
    "StaleHandleError": ("E_STALE_HANDLE", OSError),
    "HandleNotFoundError": ("E_HANDLE_NOT_FOUND", FileNotFoundError),
    "ResolverDeniedError": ("E_RESOLVER_DENIED", PermissionError),
    "ProcessLocalHandleError": ("E_PROCESS_LOCAL_HANDLE", OSError),
    "CyclicGraphError": ("E_CYCLIC_GRAPH", ValueError),
    "LimitExceededError": ("E_LIMIT_EXCEEDED", ValueError),
    "VersionError": ("E_VERSION", ValueError),
    "SealError": ("E_SEAL", ValueError),
    "RoundTripError": ("E_ROUND_TRIP", ValueError),
    "DuplicateTagError": ("E_DUPLICATE_TAG", ValueError),
    "QueueClosedError": ("E_QUEUE_CLOSED", EOFError),
    "ConflictError": ("E_CONFLICT", GraphCodecError),
    "SnapshotNotFoundError": ("E_SNAPSHOT_NOT_FOUND", LookupError),
    "ToolArgsError": ("E_TOOL_ARGS", ValueError),
    "ToolError": ("E_TOOL", GraphCodecError),
    "GateTimeoutError": ("E_GATE_TIMEOUT", TimeoutError),
    "GateAbortedError": ("E_GATE_ABORTED", GraphCodecError),
    "JsonError": ("E_JSON", ValueError),
    "ArrowError": ("E_ARROW", ValueError),
    "StorageError": ("E_STORAGE", OSError),
}
"""Each error with its code and the builtin that a caller would expect."""

FACTS: dict[str, Any] = {
    "path": "$.items[3]",
    "hint": "do something else",
    "tag": "shop.Order",
    "type_name": "shop.Order",
    "limit": "max_bytes",
    "value": 7,
    "alias": "store",
}


def subclasses(cls: type[GraphCodecError]) -> Iterator[type[GraphCodecError]]:
    """Yield a class and all of its subclasses that errors.py has."""
    if cls.__module__ == errors.__name__:
        yield cls
    for child in cls.__subclasses__():
        yield from subclasses(child)


ALL = sorted({*subclasses(GraphCodecError)}, key=lambda cls: cls.__name__)


class Refuses(Exception):  # noqa: N818 - stands for any foreign one
    """A cause that can't be pickled."""

    def __init__(self, first: object, second: object) -> None:
        super().__init__(f"{first} {second}")


def test_every_error_is_in_the_table() -> None:
    """And in the list of public names."""
    assert {cls.__name__ for cls in ALL} == {*CODES} == {*errors.__all__}


@pytest.mark.parametrize("cls", ALL)
def test_error_has_its_code_and_its_builtin_base(cls: type[GraphCodecError]) -> None:
    """Codes are stable, and a caller may catch the builtin."""
    code, base = CODES[cls.__name__]

    assert cls.code == code
    assert issubclass(cls, base)
    assert issubclass(cls, GraphCodecError)


@pytest.mark.parametrize("cls", ALL)
def test_error_says_what_where_and_what_to_do(cls: type[GraphCodecError]) -> None:
    """The facts are attributes, too."""
    error = cls("it broke", **FACTS)

    assert str(error) == "it broke (at $.items[3]); do something else"
    assert {name: getattr(error, name) for name in FACTS} == FACTS
    assert str(cls("it broke")) == "it broke"


@pytest.mark.parametrize("cls", ALL)
def test_error_survives_pickling_with_its_cause(cls: type[GraphCodecError]) -> None:
    """A worker's error without it is half an error."""
    error = cls("it broke", **FACTS)
    error.__cause__ = LookupError("the reason")
    again = pickle.loads(pickle.dumps(error))

    assert type(again) is cls
    assert str(again) == str(error)
    assert again.args == ("it broke",)
    assert {name: getattr(again, name) for name in FACTS} == FACTS
    assert repr(again.__cause__) == "LookupError('the reason')"


def test_cause_that_can_not_be_pickled_leaves_its_repr() -> None:
    """At each level of a chain."""
    outer, inner = GraphCodecError("outer"), GraphCodecError("inner")
    inner.__cause__ = Refuses("a", lambda: 1)
    outer.__cause__ = inner
    again = pickle.loads(pickle.dumps(outer))

    assert str(again.__cause__) == "inner"
    assert "Refuses" in repr(again.__cause__.__cause__)


def test_notes_survive_pickling() -> None:
    """What a caller added on the way."""
    error = GraphCodecError("it broke")
    error.add_note("while saving")

    assert pickle.loads(pickle.dumps(error)).__notes__ == ["while saving"]


def test_path_is_set_once() -> None:
    """The innermost place wins."""
    error = GraphCodecError("it broke")

    error.at("$.a")
    error.at("$.b")

    assert error.path == "$.a"


def test_errors_of_a_codec_survive_pickling() -> None:
    """Whatever raised them."""
    works = (
        lambda: CODEC.encode([object()]),
        lambda: CODEC.decode(b""),
        lambda: read({"$type": "test.Bare", "x": "a"}),
        lambda: read({**root(make(Message)), "role": "nobody"}),
        lambda: Tokenizable(5),  # type: ignore[arg-type]
        lambda: Codec(types={"x": int}),
    )
    for work in works:
        with pytest.raises(GraphCodecError) as caught:
            work()
        again = pickle.loads(pickle.dumps(caught.value))

        assert str(again) == str(caught.value)
        assert again.path == caught.value.path


def test_refusal_of_a_constructor_has_the_path_in_the_document() -> None:
    """The field's path is added to that of the object."""
    wire = {"$any": [{**root(make(Message)), "role": "nobody"}]}

    with pytest.raises(GraphCodecError, match="user") as caught:
        read(wire)

    assert caught.value.path == "$[0].role"
    assert caught.value.code == "E_UNDECODABLE_VALUE"


def test_limit_is_a_fact() -> None:
    """With its name and what was met."""
    with pytest.raises(LimitExceededError) as caught:
        CODEC.decode(b"[" * 10_000)

    assert caught.value.limit == "nesting"


def test_odd_keys_are_quoted_in_paths() -> None:
    """A path can be read, whatever the keys are."""
    for key, shown in (
        ("odd key", "$['odd key']"),
        ("a.b", "$['a.b']"),
        ("", "$['']"),
        ("x" * 100, "$['xxx"),
        ("\ud800", "$["),
        ("new\nline", r"$['new\nline']"),
    ):
        with pytest.raises(GraphCodecError) as caught:
            CODEC.encode({key: object()})

        assert caught.value.path.startswith(shown) or caught.value.path.startswith(
            shown.replace("'", '"')
        )
        assert "\n" not in caught.value.path
        caught.value.path.encode()
