from __future__ import annotations

import inspect
import traceback
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Annotated, cast
from zoneinfo import ZoneInfo

import attrs
import pytest
from attrs import Attribute, define
from hypothesis import given
from hypothesis import strategies as st

from graphcodec.errors import InvalidValueError
from graphcodec.primitives import (
    GateRecord,
    Identity,
    Media,
    MediaStash,
    Memory,
    Message,
    ModalityHazard,
    Registry,
    Retrievable,
    SpooledArtifact,
    Thought,
    Tokenizable,
    ToolCall,
    TrustTier,
)
from graphcodec.primitives._checks import checked, excerpt
from graphcodec.primitives._containers import is_dict
from tests.primitives.builders import NOW, PRIMITIVES, FixedReader, make, parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from graphcodec.primitives._base import Primitive


class Voice(Identity):
    """A subclass that may stand where an Identity is expected."""

    __slots__ = ()


class Label(Tokenizable):
    """A subclass that may stand where text is expected."""

    __slots__ = ()


class Name(str):
    """A subclass that may not stand where a str is expected."""

    __slots__ = ()


PASS = {"value": 1, "trust_tier": "first-party"}

ODDITIES: tuple[object, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2**70,
    0.5,
    1.5,
    float("nan"),
    float("inf"),
    "",
    "user",
    "image",
    "document",
    "first-party",
    "inert",
    Name("user"),
    b"bytes",
    object(),
    TrustTier.FIRST_PARTY,
    ModalityHazard.INERT,
    NOW,
    NOW.replace(fold=1),
    NOW.replace(tzinfo=None),
    NOW.replace(tzinfo=ZoneInfo("Europe/Paris")),
    NOW.isoformat(),
    Tokenizable(""),
    Tokenizable("x"),
    Label(""),
    Label("x"),
    make(Identity),
    Voice(identifier=1, representation="x"),
    make(Media),
    make(Memory),
    make(Message),
    make(Thought),
    make(ToolCall),
    make(Retrievable),
    make(GateRecord),
    SpooledArtifact(FixedReader()),
    FixedReader(),
    Registry(),
    MediaStash(),
    {},
    {"a": 1},
    {1: 2},
    {"ocr": PASS},
    {"ocr": {**PASS, "trust_tier": TrustTier.FIRST_PARTY}},
    {"ocr": {"value": 1}},
    set[int](),
)

ACCEPTED = ("", "")

odd_values = st.sampled_from(ODDITIES)
values_of_any_kind = (
    odd_values
    | st.text(max_size=3)
    | st.floats()
    | st.integers()
    | st.lists(odd_values, max_size=3)
    | st.lists(odd_values, max_size=3).map(tuple)
)


def _data_fields(cls: type[Primitive]) -> dict[str, Attribute[object]]:
    return {
        attribute.alias: attribute
        for attribute in attrs.fields(cls)
        if "graphcodec" not in attribute.metadata
    }


def _maker(cls: type[Primitive]) -> type[Primitive]:
    members = {"__slots__": (), "__setattr__": object.__setattr__}
    return type("Maker", (cls,), members)


_MAKERS = {cls: _maker(cls) for cls in PRIMITIVES}


def _direct(cls: type[Primitive], values: dict[str, object]) -> Primitive:
    """Make an instance as the codec does: without the constructor."""
    instance = object.__new__(_MAKERS[cls])
    for alias, attribute in _data_fields(cls).items():
        setattr(instance, attribute.name, values[alias])
    instance.__class__ = cls
    cls.__graphcodec_check__(instance)
    return instance


def _verdict(make_it: Callable[[], object]) -> tuple[str, str]:
    """Return the message and path of the refusal, empty if there is none."""
    try:
        make_it()
    except InvalidValueError as error:
        return error.message, error.path
    return ACCEPTED


def _is_accepted(cls: type[Primitive], values: dict[str, object]) -> bool:
    return _verdict(lambda: _direct(cls, values)) == ACCEPTED


def _is_kept(kept: object, value: object) -> bool:
    """Say whether a value went in as it was; of data, a registry keeps a copy."""
    return kept is value or (is_dict(value) and repr(kept) == repr(value))


def _final(attribute: Attribute[object], value: object) -> object:
    """Return what the constructor would store for *value*."""
    convert: Callable[[object], object] | None = getattr(attribute, "converter", None)
    return value if convert is None else convert(value)


def _complete(cls: type[Primitive]) -> dict[str, object]:
    """Return valid final values of all fields of *cls*, by alias."""
    instance = make(cls)
    fields = _data_fields(cls)
    return {alias: getattr(instance, field.name) for alias, field in fields.items()}


@pytest.mark.parametrize("cls", PRIMITIVES)
@given(data=st.data())
def test_both_ways_in_have_one_verdict(
    cls: type[Primitive], data: st.DataObject
) -> None:
    """The constructor, and slots that are set and checked, refuse the same values."""
    fields = _data_fields(cls)
    names = st.sampled_from(sorted(fields))
    changes = data.draw(
        st.dictionaries(names, values_of_any_kind, min_size=1, max_size=2)
    )
    values = {**_complete(cls), **changes}
    try:
        final = {alias: _final(fields[alias], value) for alias, value in values.items()}
    except InvalidValueError:
        # A part was refused before there was a whole, as a stash of a plain registry.
        assert _verdict(lambda: cls(**values)) != ACCEPTED
        return

    verdict = _verdict(lambda: cls(**values))

    assert _verdict(lambda: _direct(cls, final)) == verdict
    if verdict == ACCEPTED:
        assert _direct(cls, final) == cls(**final)


@pytest.mark.parametrize("cls", PRIMITIVES)
def test_what_a_converter_would_change_is_refused(cls: type[Primitive]) -> None:
    """In no field does a check accept what the constructor would not keep as it is."""
    complete = _complete(cls)
    values = [*ODDITIES, *((odd,) for odd in ODDITIES), *([odd] for odd in ODDITIES)]
    changed = [
        (alias, value)
        for alias, attribute in _data_fields(cls).items()
        for value in values
        if _is_accepted(cls, {**complete, alias: value})
        and not _is_kept(
            getattr(cls(**{**complete, alias: value}), attribute.name), value
        )
    ]

    assert changed == []


@pytest.mark.parametrize("cls", PRIMITIVES)
def test_valid_parts_pass_both_ways(cls: type[Primitive]) -> None:
    """What the builders give is good, so the other tests start from there."""
    assert _direct(cls, _complete(cls)) == cls(**parts(cls))


def test_check_is_called_on_the_class() -> None:
    """The codec calls it so, with the instance; a good one passes."""
    check = cast("Callable[[Message], None]", Message.__graphcodec_check__)

    check(make(Message))


def test_source_of_a_check_can_be_read() -> None:
    """The generated function has source like any other, so a debugger can step in."""
    source = inspect.getsource(Message.__graphcodec_check__)

    assert source.startswith("def __graphcodec_check__(self):")
    assert "    v = self.attachments" in source


def test_traceback_shows_the_line_that_refused() -> None:
    """It is a line of the generated source."""
    with pytest.raises(InvalidValueError, match="must be") as caught:
        make(Message, id="")

    frames = traceback.extract_tb(caught.value.__traceback__)
    assert frames[-1].line == "raise refuse('id', 'a non-empty str', v)"


def test_annotation_without_a_test_is_found_at_once() -> None:
    """A class that could not be verified can't be defined."""

    @define
    class Odd:
        wanted: frozenset[int]

    with pytest.raises(TypeError, match=r"Odd: no test for frozenset\[int\]"):
        checked(Odd)


def test_annotated_fields_are_tested_by_their_type() -> None:
    """What Annotated adds is for others to read."""

    @checked
    @define
    class Named:
        name: Annotated[str, "a note"]
        count: int

    check = cast("Callable[[Named], None]", vars(Named)["__graphcodec_check__"])
    check(Named(name="x", count=1))
    with pytest.raises(InvalidValueError, match=r"Named\.count must be a finite"):
        check(Named(name="x", count=True))


def test_registered_subclasses_stand_for_their_bases() -> None:
    """They are tested last, but they are welcome."""
    voice = Voice(identifier=1, representation=Label("x"))
    message = make(Message, identity=voice, content=Label("y"))

    assert message.identity is voice
    assert type(message.content) is Label


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "None"),
        (True, "True"),
        (1.5, "1.5"),
        ("it's", '"it\'s"'),
        ("x" * 1_000, "'" + "x" * 78 + "…"),
        (2**300, "an int of 301 bits"),
        (b"secret", "a bytes"),
        ([1], "a list"),
        (ValueError("secret"), "a ValueError"),
        (IndexError, "a type"),
        (TrustTier.FIRST_PARTY, "'first-party'"),
        (Tokenizable("secret"), "Tokenizable(<6 chars>)"),
        (datetime(2026, 1, 1, tzinfo=timezone.utc), None),  # noqa: UP017 - shown below
    ],
)
def test_excerpt_is_short_and_shallow(value: object, expected: str | None) -> None:
    """Scalars and primitives are shown, all else only by its type."""
    assert excerpt(value) == (expected or repr(value))


def test_excerpt_of_a_half_built_primitive_is_its_type() -> None:
    """Within a cycle, an error may meet an object that has no fields yet."""
    assert excerpt(object.__new__(Registry)) == "a Registry"
