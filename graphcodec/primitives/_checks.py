"""One generated check function per class.

A primitive's fields are verified in two situations: its constructor ran, or the codec
has set the slots of an empty instance. Both need the same verdict, and decoding asks
for it once per object, so it has to be quick. A validator object per field would cost a
call per field. Instead, `checked` writes one straight function per class, from the
annotations and from the rules in the fields' metadata, in which exact types are tested
first and subclasses last. Its source is known to `linecache`, so a traceback shows the
line that refused.

A check sees *final* values: what a converter would still have to turn into something
else, such as a str where a `Tokenizable` belongs, is refused here.
"""

import linecache
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timezone
from enum import Enum
from types import NoneType, UnionType
from typing import (
    Final,
    Literal,
    NewType,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from attrs import AttrsInstance, field, fields, frozen

from graphcodec.errors import InvalidValueError

__all__ = [
    "ALLOW_EMPTY",
    "POSITIVE",
    "SHARE",
    "FilledText",
    "checked",
    "excerpt",
    "hinted",
]

C = TypeVar("C", bound=type[AttrsInstance])

Hint = Callable[[object], str]

ALLOW_EMPTY: Final[Mapping[str, object]] = {"graphcodec_allow_empty": True}
"""Metadata of a field whose text may be empty."""

SHARE: Final[Mapping[str, object]] = {
    "graphcodec_bounds": ("0 <= v <= 1", "a number from 0 to 1")
}
"""Metadata of a number from 0 to 1; NaN is outside."""

POSITIVE: Final[Mapping[str, object]] = {
    "graphcodec_bounds": ("0 < v < infinity", "a finite number above 0")
}
"""Metadata of a finite number above 0."""

FilledText = NewType("FilledText", str)
"""Text that is not empty."""

_FINITE: Final = ("-infinity < v < infinity", "a finite number")
_LONGEST_EXCERPT: Final = 80
_WIDEST_INT: Final = 256


def hinted(hint: str | Hint) -> Mapping[str, object]:
    """Return the metadata of a field whose refusal has a remedy.

    Args:
        hint: The remedy, or a function that finds it for the value that was refused.
    """
    return {"graphcodec_hint": hint}


def checked(cls: C) -> C:
    """Give an attrs class its ``__graphcodec_check__``; used as a decorator.

    A second function, ``__graphcodec_check_parsed__``, is the same without the tests
    that reading a document has passed already, if its parser was told what
    ``__graphcodec_parsed__`` says of fields. It is None if no test is left.

    A method ``_check_together`` of the class holds the rules that span several fields
    and runs last.

    Args:
        cls: The class, with its fields.

    Raises:
        TypeError: If there is no test for one of the annotations.
    """
    writer = _Writer(cls)
    cls.__graphcodec_check__ = writer.compile("__graphcodec_check__")  # type: ignore[attr-defined]
    cls.__graphcodec_parsed__ = writer.told  # type: ignore[attr-defined]
    cls.__graphcodec_check_parsed__ = writer.compile(  # type: ignore[attr-defined]
        "__graphcodec_check_parsed__", parsed=True
    )
    return cls


@frozen
class _Test:
    """How a value of one type is recognised.

    Attributes:
        exact: An expression over ``v`` that is true for a good value.
        noun: What a good value is, for the message.
        derived: The same for an instance of a subclass, if those are allowed.
        hint: Finds the remedy for a value that was refused.
        parsed: What a parser may be told to let through the same values: a Literal,
            `FilledText`, str, bool or the type of None.
    """

    exact: str
    noun: str
    derived: str = ""
    hint: str | Hint = ""
    parsed: object = None


@frozen
class _Refusal:
    """Builds the errors of one class."""

    owner: str
    hints: dict[str, str | Hint] = field(factory=dict[str, str | Hint])

    def refuse(self, name: str, noun: str, value: object) -> InvalidValueError:
        """Return the error for a field that is not *noun*."""
        hint = self.hints.get(name.partition("[")[0], "")
        shown = excerpt(value)
        return InvalidValueError(
            f"{self.owner}.{name} must be {noun}, not {shown}",
            path=f"$.{name}",
            hint=hint(value) if callable(hint) else hint,
            type_name=self.owner,
            value=shown,
        )

    def refuse_item(
        self, name: str, noun: str, item: object, items: tuple[object, ...]
    ) -> InvalidValueError:
        """Return the error for an entry of a tuple that is not *noun*."""
        index = next(n for n, other in enumerate(items) if other is item)
        return self.refuse(f"{name}[{index}]", noun, item)

    def refuse_key(self, name: str, key: object) -> InvalidValueError:
        """Return the error for a mapping that has a *key* which is no str."""
        shown = excerpt(key)
        return InvalidValueError(
            f"{self.owner}.{name} must be a dict with str keys, not one with {shown}",
            path=f"$.{name}",
            type_name=self.owner,
            value=shown,
        )


class _Writer:
    """Writes the check of one class, and collects the names that it uses."""

    def __init__(self, cls: type[AttrsInstance]) -> None:
        self.cls = cls
        self.refusal = _Refusal(cls.__name__)
        self.names: dict[str, object] = {
            "datetime": datetime,
            "timezone": timezone,
            "infinity": float("inf"),
            "refuse": self.refusal.refuse,
            "refuse_item": self.refusal.refuse_item,
            "refuse_key": self.refusal.refuse_key,
        }
        self.tested = list(_tested(cls))
        self.told = self.find_told()

    def compile(self, name: str, *, parsed: bool = False) -> object:
        """Return the function, its source known to `linecache`; None without a test.

        Args:
            name: What it is called.
            parsed: Leave out what reading a document has proven.
        """
        body = self.write(parsed=parsed)
        if not body and parsed:
            return None
        source = "\n".join([f"def {name}(self):", *body, "    return None", ""])
        cls = self.cls
        filename = f"<graphcodec {name} {cls.__module__}.{cls.__qualname__}>"
        # Without a modification time, linecache keeps the entry for good.
        lines = source.splitlines(keepends=True)
        linecache.cache[filename] = (len(source), None, lines, filename)
        exec(compile(source, filename, "exec"), self.names)  # noqa: S102 - our own source
        return self.names.pop(name)

    def write(self, *, parsed: bool) -> list[str]:
        """Return the lines of the whole function."""
        lines: list[str] = []
        for name, hint, rules in self.tested:
            if not (parsed and (name in self.told or self.is_proven(hint, rules))):
                lines += self.field(name, hint, rules)
        if hasattr(self.cls, "_check_together"):
            lines.append("    self._check_together()")
        return lines

    def find_told(self) -> dict[str, tuple[object, ...]]:
        """Return what a parser is to be told of the fields that it can test alone."""
        told: dict[str, tuple[object, ...]] = {}
        for name, hint, rules in self.tested:
            if any(get_origin(arm) is tuple for arm in _arms(hint)):
                continue
            types = [self.test(arm, rules).parsed for arm in _arms(hint)]
            if None not in types:
                told[name] = tuple(types)
        return told

    def is_proven(self, hint: object, rules: Mapping[str, object]) -> bool:
        """Say whether a value that was read for *hint* can't break a rule.

        That is so for objects, Enum members and times with an offset, and for tuples
        of them; not for text and numbers, whose value counts.
        """
        arms = [arm for arm in _arms(hint) if arm is not NoneType]
        if len(arms) == 1 and get_origin(arms[0]) is tuple:
            arms = list(_arms(get_args(arms[0])[0]))
        return all(
            isinstance(arm, type)
            and (arm is datetime or _scalar_test(arm, rules) is None)
            and " and v." not in self.test(arm, rules).exact
            for arm in arms
        )

    def field(
        self, attribute: str, hint: object, rules: Mapping[str, object]
    ) -> list[str]:
        """Return the lines that test one field."""
        name = str(rules.get("graphcodec_key", attribute))
        arms = _arms(hint)
        many = [arm for arm in arms if get_origin(arm) is tuple]
        tests = [self.test(arm, rules) for arm in arms if arm not in many]
        nouns = [test.noun for test in tests]
        lines = [f"    v = self.{attribute}"]
        if many:
            entries = [self.test(arm, rules) for arm in _arms(get_args(many[0])[0])]
            nouns.append(f"a tuple of {_either(_bare(test) for test in entries)}")
            one = _either(test.noun for test in entries)
            lines += [
                "    if type(v) is tuple:",
                "        for v in v:",
                f"            if not ({_condition(entries)}):",
                f"                raise refuse_item({name!r}, {one!r}, v, self.{attribute})",  # noqa: E501
            ]
        head = f"if not ({_condition(tests)})" if tests else "else"
        lines += [
            f"    {'el' if many and tests else ''}{head}:",
            f"        raise refuse({name!r}, {_either(nouns)!r}, v)",
        ]
        if get_origin(hint) in (Mapping, dict):
            lines += [
                "    for key in v:",
                "        if type(key) is not str:",
                f"            raise refuse_key({name!r}, key)",
            ]
        if get_origin(hint) is dict:
            values = [self.test(arm, rules) for arm in _arms(get_args(hint)[1])]
            one = _either(test.noun for test in values)
            lines += [
                "    for key, v in v.items():",
                f"        if not ({_condition(values)}):",
                f"            raise refuse(f'{name}[{{key!r:.80}}]', {one!r}, v)",
            ]
        own = cast("str | Hint", rules.get("graphcodec_hint", ""))
        by_type = next((test.hint for test in tests if test.hint), "")
        self.refusal.hints[name] = own or by_type
        return lines

    def test(self, arm: object, rules: Mapping[str, object]) -> _Test:
        """Return the test for one arm of an annotation.

        Raises:
            TypeError: If there is none.
        """
        if get_origin(arm) is Literal:
            choices = get_args(arm)
            noun = _either(repr(choice) for choice in choices)
            exact = f"type(v) is str and v in {choices!r}"
            return _Test(exact, noun, parsed=arm)
        if get_origin(arm) in (Mapping, dict):
            # Keys and values are looked at in lines of their own.
            return _Test("type(v) is dict", "a dict with str keys")
        if get_origin(arm) is Callable:
            return _Test("callable(v)", "a callable")
        if get_origin(arm) in (list, set):
            # What is in it, the class looks at itself.
            kind = cast("type", get_origin(arm)).__name__
            return _Test(f"type(v) is {kind}", f"a {kind}")
        if get_origin(arm) is type:
            return self.subclass_test(get_args(arm)[0])
        if not isinstance(arm, type):
            msg = f"{self.cls.__name__}: no test for {arm!r}"
            raise TypeError(msg)
        return _scalar_test(arm, rules) or self.class_test(arm, rules)

    def subclass_test(self, base: type) -> _Test:
        """Return the test for a class."""
        name = base.__name__
        self.names[name] = base
        return _Test(
            f"isinstance(v, type) and issubclass(v, {name})",
            f"the class {name} or a subclass of it",
        )

    def class_test(self, arm: type, rules: Mapping[str, object]) -> _Test:
        """Return the test for an instance of a class."""
        name = arm.__name__
        self.names[name] = arm
        if issubclass(arm, Enum):
            choices = _either(repr(member.value) for member in arm)
            return _Test(f"type(v) is {name}", choices)
        text: object = getattr(cast("object", arm), "__graphcodec_text__", None)
        full = (
            f" and v.{text}" if text and not rules.get("graphcodec_allow_empty") else ""
        )
        return _Test(
            f"type(v) is {name}{full}",
            f"a non-empty {name}" if full else f"{_article(name)} {name}",
            f"isinstance(v, {name}){full}",
        )


def _tested(
    cls: type[AttrsInstance],
) -> Iterator[tuple[str, object, Mapping[str, object]]]:
    """Yield the name, annotation and rules of each field that is tested."""
    hints = get_type_hints(cls)
    for attribute in fields(cls):
        hint = hints[attribute.name]
        if hint is not object and "graphcodec" not in attribute.metadata:
            yield attribute.name, hint, attribute.metadata


def _scalar_test(arm: type, rules: Mapping[str, object]) -> _Test | None:
    """Return the test for a builtin or a datetime, None for any other class."""
    if arm is str:
        if rules.get("graphcodec_allow_empty"):
            return _Test("type(v) is str", "a str", parsed=str)
        return _Test("type(v) is str and v", "a non-empty str", parsed=FilledText)
    if arm is int or arm is float:
        bounds, noun = _bounds(rules)
        return _Test(f"type(v) is {arm.__name__} and {bounds}", noun)
    if arm is datetime:
        return _Test(
            "type(v) is datetime and type(v.tzinfo) is timezone and not v.fold",
            "an aware datetime",
            hint=_datetime_hint,
        )
    if arm is NoneType:
        return _Test("v is None", "None", parsed=NoneType)
    return _Test("type(v) is bool", "a bool", parsed=bool) if arm is bool else None


def _bounds(rules: Mapping[str, object]) -> tuple[str, str]:
    return cast("tuple[str, str]", rules.get("graphcodec_bounds", _FINITE))


def _datetime_hint(value: object) -> str:
    if isinstance(value, str):
        return "parse it first: datetime.fromisoformat(text)"
    if isinstance(value, datetime) and value.utcoffset() is None:
        return "say which time zone it is in: datetime.now(timezone.utc)"
    if isinstance(value, datetime):
        return "make it a plain datetime with a fixed offset and fold=0"
    return ""


def _arms(hint: object) -> tuple[object, ...]:
    """Return the members of a union, or the annotation itself as the only one."""
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _bare(test: _Test) -> str:
    """Return what *test* recognises, without the article."""
    return test.noun.partition(" ")[2]


def _condition(tests: list[_Test]) -> str:
    """Join tests so that the common case is decided first."""
    exact = [test.exact for test in tests]
    return " or ".join(exact + [test.derived for test in tests if test.derived])


def _either(nouns: Iterable[str]) -> str:
    """Join nouns into prose, naming each once."""
    *first, last = dict.fromkeys(nouns)
    return f"{', '.join(first)} or {last}" if first else last


def excerpt(value: object) -> str:
    """Describe *value* in one short line, without walking into it.

    Args:
        value: Anything. Scalars and primitives are shown, all else by its type.
    """
    kind = type(value)
    name = f"{_article(kind.__name__)} {kind.__name__}"
    if isinstance(value, str):
        # Cut first: a repr of megabytes is slow and thrown away.
        return _cut(repr(str(value[: _LONGEST_EXCERPT + 1])))
    if isinstance(value, int) and value.bit_length() > _WIDEST_INT:
        return f"{name} of {value.bit_length()} bits"
    if not (isinstance(value, _SHOWN) or hasattr(kind, "__graphcodec_tag__")):
        return name
    try:
        return _cut(repr(value))
    except (AttributeError, TypeError):
        # Within a cycle, decoding may still owe this object its fields.
        return name


_SHOWN: Final = (bool, int, float, NoneType, datetime, Enum)


def _cut(text: str) -> str:
    if len(text) <= _LONGEST_EXCERPT:
        return text
    return f"{text[: _LONGEST_EXCERPT - 1]}…"


def _article(noun: str) -> str:
    return "an" if noun[:1].lower() in "aeiou" else "a"
