"""Arguments held against a JSON Schema that a stranger may have written.

`jsonschema` does the work. Three things are not left to it, for a schema comes from a
document, and the arguments from a model:

* it would fetch a ``$ref`` to another place; here, nothing but the schema itself and
  the published meta-schemas can be referred to;
* it matches patterns with `re`, which may backtrack for ever, and follows references
  that double the work at each step; here, all of a check has a quarter of a second;
* it hands a part that names another ``$schema`` to a stock validator, which knows
  neither bound; here, the dialect of the root is that of every part.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, cast

from attrs import define, field, fields, frozen

from graphcodec._extras import from_extra
from graphcodec._paths import excerpt, format_path
from graphcodec.errors import InvalidValueError, LimitExceededError
from graphcodec.primitives._containers import is_dict, unfolded
from graphcodec.readers._patterns import compiled

if TYPE_CHECKING:
    import regex
    from jsonschema.protocols import Validator

__all__ = ["ArgsSchema", "Problem"]

SECONDS: Final = 0.25
"""How much processor time one check may take; an error comes within a second."""

LARGEST: Final = 10_000
"""How many lists and dicts a schema may have; looking at these takes seconds."""

MOST_PROBLEMS: Final = 5
"""How many problems are told; the rest is not looked for."""

_LONGEST_PROBLEM: Final = 120

Keyword = Callable[["Validator", Any, Any, Any], Iterator[Any] | None]


@frozen
class Problem:
    """One thing that is wrong with the arguments.

    Attributes:
        path: Where, from the arguments on.
        text: What, in one short line.
    """

    path: str
    text: str


@define(eq=False)
class _Budget:
    """The time that one check has, and the patterns that it has compiled."""

    ends: float = field(factory=lambda: time.thread_time() + SECONDS)
    patterns: dict[str, regex.Pattern[str]] = field(
        factory=dict[str, "regex.Pattern[str]"]
    )

    def left(self) -> float:
        """Return the seconds that are left.

        Raises:
            LimitExceededError: If none are.
        """
        seconds = self.ends - time.thread_time()
        if seconds <= 0:
            raise _spent()
        return seconds

    def matches(self, pattern: object, text: str) -> bool:
        """Say whether *pattern* is found in *text*."""
        if not isinstance(pattern, str):
            raise _bad_schema(f"it has the pattern {excerpt(pattern)}")
        if pattern not in self.patterns:
            self.patterns[pattern] = compiled(pattern)
        try:
            found = self.patterns[pattern].search(text, timeout=self.left())
        except TimeoutError:
            raise _spent() from None
        return found is not None


_BUDGET: Final[ContextVar[_Budget]] = ContextVar("graphcodec_schema_budget")


def _spent() -> LimitExceededError:
    return LimitExceededError(
        f"holding the arguments against the schema took more than {SECONDS:g} seconds",
        hint="simplify patterns such as (a+)+ and references that lead to each other",
        limit="schema_timeout",
        value=SECONDS,
    )


def _bad_schema(reason: str, hint: str = "") -> InvalidValueError:
    return InvalidValueError(
        f"Tool.input_schema is no JSON Schema that can be used: {reason}",
        path="$.input_schema",
        hint=hint,
        type_name="Tool",
    )


@frozen(eq=False)
class ArgsSchema:
    """A schema, ready to be held against many arguments, from any thread.

    Attributes:
        validator: What `jsonschema` made of it.
    """

    validator: Any

    @classmethod
    def of(cls, schema: Mapping[str, object]) -> ArgsSchema:
        """Return a schema that was looked at itself.

        Args:
            schema: A JSON Schema; ``$schema`` says which dialect, 2020-12 if nothing.

        Raises:
            InvalidValueError: If it is none.
            ModuleNotFoundError: If `jsonschema` is not installed.
        """
        validators, registry = _library()
        named: object = schema.get("$schema")
        known: Mapping[str, object] = schema if isinstance(named, str) else {}
        stock = validators.validator_for(known, validators.Draft202012Validator)
        _check_schema(stock, schema)
        made = _bounded(stock)(schema, registry=registry)
        return cls(made)

    def problems(self, args: Mapping[str, object]) -> list[Problem]:
        """Return what is wrong with *args*, at most `MOST_PROBLEMS` things.

        Args:
            args: The arguments, of values that JSON has.

        Raises:
            InvalidValueError: If the schema can't be used.
            LimitExceededError: If it takes too long, or nests too deep.
        """
        token = _BUDGET.set(_Budget())
        try:
            found = islice(self.validator.iter_errors(args), MOST_PROBLEMS)
            return [_problem(error) for error in found]
        except RecursionError:
            msg = "the schema refers to itself, or nests, deeper than the stack goes"
            raise LimitExceededError(msg, limit="nesting") from None
        except Exception as exc:
            raise _translated(exc) from exc
        finally:
            _BUDGET.reset(token)


def _translated(exc: Exception) -> Exception:
    """Return the error of ours for one of the library's."""
    from referencing.exceptions import Unresolvable  # noqa: PLC0415 - as below

    if isinstance(exc, Unresolvable):
        ref: object = getattr(exc, "ref", "")
        hint = "nothing is fetched: copy what it refers to into $defs"
        return _bad_schema(f"it refers to {excerpt(ref)}, which is not in it", hint)
    if isinstance(exc, (InvalidValueError, LimitExceededError)):
        return exc
    return _bad_schema(f"{type(exc).__name__}: {_cut(str(exc))}")


def _library() -> tuple[Any, Any]:
    """Return the validators of `jsonschema`, and a registry that fetches nothing."""
    with from_extra("tools", "checking arguments needs jsonschema"):
        from jsonschema import validators  # noqa: PLC0415 - optional, and slow to load
        from referencing.jsonschema import EMPTY_REGISTRY  # noqa: PLC0415
    return validators, EMPTY_REGISTRY


def _check_schema(stock: Any, schema: Mapping[str, object]) -> None:
    from jsonschema import FormatChecker  # noqa: PLC0415 - as above
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415

    keys = _keys(schema)
    try:
        # No formats: a pattern is compiled by an engine with bounds, when it is used.
        stock.check_schema(schema, format_checker=FormatChecker(()))
    except SchemaError as exc:
        where = format_path(exc.absolute_path)[1:]
        error = _bad_schema(_told(exc))
        error.path += where
        raise error from None
    except RecursionError:
        raise _bad_schema("it nests too deep") from None
    if {"unevaluatedProperties", "patternProperties"} <= keys:
        reason = "it has both unevaluatedProperties and patternProperties"
        raise _bad_schema(reason, "say additionalProperties instead")


def _keys(schema: Mapping[str, object]) -> set[object]:
    """Return all keys of all dicts in *schema*."""
    found: set[object] = set()
    try:
        for item in unfolded(schema, LARGEST):
            found.update(item if is_dict(item) else ())
    except ValueError as exc:
        raise _bad_schema(f"it has {exc}") from None
    return found


def _bounded(stock: Any) -> Any:
    """Return the validator class of a dialect with the keywords that need bounds."""
    library, _ = _library()
    known: Mapping[str, Any] = stock.VALIDATORS
    own: dict[str, Keyword] = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "uniqueItems": _unique_items,
        "additionalProperties": _without_patterns(known["additionalProperties"]),
        **{
            name: _timed(known[name])
            for name in ("$ref", "$dynamicRef", "$recursiveRef")
            if name in known
        },
    }
    made: Any = library.extend(stock, own)
    made.evolve = _evolved
    return made


def _evolved(validator: Any, **changes: object) -> Any:
    """Return a validator of the very same class for a part of the schema."""
    cls = cast("Any", type(validator))
    attributes: Iterable[Any] = fields(cls)
    kept = {
        attribute.alias: getattr(validator, attribute.name)
        for attribute in attributes
        if attribute.init
    }
    return cls(**{**kept, **changes})


def _timed(keyword: Keyword) -> Keyword:
    def timed(validator: Validator, value: Any, instance: Any, schema: Any) -> Any:
        _BUDGET.get().left()
        return keyword(validator, value, instance, schema)

    return timed


def _error(text: str) -> Exception:
    from jsonschema import ValidationError  # noqa: PLC0415 - as above

    return ValidationError(text)


def _pattern(
    validator: Validator, pattern: Any, instance: Any, schema: Any
) -> Iterator[Any]:
    del schema
    if validator.is_type(instance, "string") and not _BUDGET.get().matches(
        pattern, instance
    ):
        yield _error(f"{excerpt(instance)} does not match {excerpt(pattern)}")


def _pattern_properties(
    validator: Any, patterns: Any, instance: Any, schema: Any
) -> Iterator[Any]:
    del schema
    if validator.is_type(instance, "object"):
        matches = _BUDGET.get().matches
        for pattern, part in patterns.items():
            for key, value in instance.items():
                if matches(pattern, key):
                    yield from validator.descend(
                        value, part, path=key, schema_path=pattern
                    )


def _without_patterns(keyword: Keyword) -> Keyword:
    """Return ``additionalProperties`` for a schema whose patterns we match."""

    def additional(validator: Validator, value: Any, instance: Any, schema: Any) -> Any:
        patterns = schema.get("patternProperties")
        if patterns and validator.is_type(instance, "object"):
            matches = _BUDGET.get().matches
            instance = {
                key: item
                for key, item in instance.items()
                if not any(matches(pattern, key) for pattern in patterns)
            }
            schema = {**schema, "patternProperties": {}}
        return keyword(validator, value, instance, schema)

    return additional


def _unique_items(
    validator: Validator, unique: Any, instance: Any, schema: Any
) -> Iterator[Any]:
    del schema
    if unique and validator.is_type(instance, "array"):
        seen = set(map(_hashable, instance))
        if len(seen) < len(instance):
            yield _error("the items are not all different")


def _hashable(value: Any) -> object:
    """Return what two values have in common exactly if JSON calls them equal."""
    if isinstance(value, bool):
        # Python holds that it equals a number.
        return "bool", value
    if isinstance(value, list):
        return "array", tuple(map(_hashable, cast("list[object]", value)))
    if isinstance(value, dict):
        items = cast("dict[str, object]", value).items()
        return "object", frozenset((key, _hashable(item)) for key, item in items)
    return value


def _problem(error: Any) -> Problem:
    return Problem(format_path(error.absolute_path), _told(error))


_SHOWN: Final[Mapping[str, str]] = {
    "type": "is not of the type {}",
    "enum": "is not one of {}",
    "const": "is not {}",
}
"""What the library would tell with all of the value in it."""


def _told(error: Any) -> str:
    """Return what is wrong, with no more than an excerpt of the value."""
    template = _SHOWN.get(error.validator)
    if template is None:
        return _cut(error.message)
    return _cut(
        f"{excerpt(error.instance)} {template.format(repr(error.validator_value))}"
    )


def _cut(text: str) -> str:
    line = text.partition("\n")[0]
    if len(line) <= _LONGEST_PROBLEM:
        return line
    return f"{line[: _LONGEST_PROBLEM - 1]}…"
