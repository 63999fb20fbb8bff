"""What is to be redacted, and what stands in its place."""

from __future__ import annotations

import builtins
import hashlib
import hmac
import pickle
import re
from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, TypeAlias, cast

import attrs
import regex

from graphcodec._callables import type_name
from graphcodec._paths import excerpt
from graphcodec._redaction._places import Segment, glob_of, parsed_path
from graphcodec.errors import InvalidValueError

Action: TypeAlias = Literal["mask", "hash", "drop"]
Names: TypeAlias = "str | tuple[str, ...] | None"
AnyPattern: TypeAlias = "str | re.Pattern[str] | regex.Pattern[str] | None"

_ACTIONS: Final = ("mask", "hash", "drop")
_NAME: Final = re.compile(r"[A-Za-z0-9](?:[\w. -]{0,38}\w)?", re.ASCII)
_LEAST_KEY: Final = 16
_DIGITS: Final = 20
_FLAGS: Final = ("ASCII", "IGNORECASE", "MULTILINE", "DOTALL", "VERBOSE")


def _to_names(names: Names) -> tuple[str, ...] | None:
    return (names,) if isinstance(names, str) else names


def _to_pattern(pattern: AnyPattern) -> regex.Pattern[str] | None:
    """Return a pattern of the engine that can be stopped."""
    flags = 0
    if isinstance(pattern, re.Pattern):
        given = pattern.flags
        flags = sum(
            getattr(regex, name) for name in _FLAGS if given & getattr(re, name)
        )
        pattern = pattern.pattern
    if not isinstance(pattern, str):
        return pattern
    try:
        return regex.compile(pattern, flags)
    except regex.error as exc:
        msg = f"pattern must be a regular expression ({exc!s:.80})"
        raise InvalidValueError(msg, path="$.pattern") from None


def _same_pattern(pattern: regex.Pattern[str] | None) -> object:
    return None if pattern is None else (pattern.pattern, pattern.flags)


def _default_replacement(rule: Redaction) -> object:
    return f"[{rule.name}]"


@attrs.frozen(repr=False, kw_only=True)
class Redaction:
    r"""A rule: what must not be written, and what is written instead.

    It is about every value for which all of *path*, *type* and *field* hold that are
    given. Without *pattern*, each such value goes as a whole, whatever it is. With it,
    what the pattern finds goes, in all texts in these values at any depth; if nothing
    but the pattern is given, in the whole graph.

    Texts are also the keys of dicts, members of sets, bytes and the bytes of in-memory
    readers (as far as they are UTF-8 or ASCII), paths, UUIDs, and the decimal digits of
    an int or Decimal, which goes as a whole. A handle of which the locator holds what
    the pattern finds goes as a whole, too.

    Attributes:
        name: What reports and errors call it: up to 40 ASCII letters, digits, blanks,
            dots, hyphens and underscores.
        path: Where the value lies, as errors show it, with wildcards: ``*`` is any step
            or any part of a name, ``..`` any number of steps. What can be reached on
            several ways is there if one of them fits.
        type: The class of the object that holds the value in *field*; without a field,
            that of the value. Or a tuple of classes.
        field: The name of a field or key that holds the value, in upper or lower case,
            with ``*`` for any part of it. Or a tuple of names.
        pattern: A regular expression that never matches the empty text: text for the
            package ``regex``, or a compiled one. It is yours: it has no limit but time.
        check: Is asked whether a match is one, such as the checksum of a number.
        action: ``mask`` puts *replacement* there. ``hash`` puts a pseudonym there,
            equal for equal texts: HMAC-SHA256 under *key*, 80 bits of it. ``drop``
            takes the value away: an entry of a dict, list or set goes, a field gets its
            default or None; with a pattern, that is every text that holds a match.
        replacement: What ``mask`` puts there: text in the place of a match; for a whole
            value anything. Text takes the form of what it replaces, be it a
            `Tokenizable`, bytes or a reader. The name in square brackets by default.
        key: At least 16 secret random bytes. Never shown and never pickled.

    Raises:
        InvalidValueError: If an argument makes no sense.
    """

    name: str = attrs.field(kw_only=False)
    path: str | None = None
    type: builtins.type | tuple[builtins.type, ...] | None = None
    field: tuple[str, ...] | None = attrs.field(default=None, converter=_to_names)
    pattern: regex.Pattern[str] | None = attrs.field(
        default=None, converter=_to_pattern, eq=_same_pattern
    )
    check: Callable[[str], bool] | None = None
    action: Action = "mask"
    replacement: object = attrs.field(
        default=attrs.Factory(_default_replacement, takes_self=True)
    )
    key: bytes | None = None

    def __attrs_post_init__(self) -> None:
        for check in _CHECKS:
            check(self)

    def __repr__(self) -> str:
        shown = [
            f"{item.name}={getattr(self, item.name)!r:.60}"
            for item in attrs.fields(Redaction)
            if item.name in ("path", "type", "field", "action")
            and getattr(self, item.name) is not None
        ]
        return f"Redaction({', '.join([repr(self.name), *shown])})"

    def __getstate__(self) -> tuple[object, ...]:
        if self.key is not None:
            msg = "a Redaction with a key can't be pickled, since keys never are; pass"
            raise pickle.PicklingError(f"{msg} a factory of rules")
        return tuple(getattr(self, item.name) for item in attrs.fields(Redaction))

    def __setstate__(self, state: tuple[object, ...]) -> None:
        names = [item.name for item in attrs.fields(Redaction)]
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    # For the other modules of this package

    def segments(self) -> tuple[Segment, ...] | None:
        """Return the steps of the path, None if there is no path."""
        return None if self.path is None else parsed_path(self.path)

    def globs(self) -> tuple[re.Pattern[str], ...]:
        """Return what the name of the field must match one of."""
        found = (glob_of(name, case=False) for name in self.field or ())
        return tuple(glob for glob in found if glob is not None)

    def stand_in(self, text: str) -> str:
        """Return what stands in the place of a text, or of a match.

        Args:
            text: The text.
        """
        if self.action != "hash" or self.key is None:
            return str(self.replacement)
        data = f"{self.name}\0{text}".encode(errors="surrogatepass")
        digest = hmac.new(self.key, data, hashlib.sha256).hexdigest()
        return f"[{self.name}:{digest[:_DIGITS]}]"

    def has_made(self, text: str) -> bool:
        """Say whether a text is nothing but what this rule puts there.

        Args:
            text: The text.
        """
        shield = self.shield()
        return bool(shield) and re.fullmatch(shield, text) is not None

    def shield(self) -> str:
        """Return a pattern for what this rule puts into texts, if it does."""
        if self.action == "hash":
            return rf"\[{re.escape(self.name)}:[0-9a-f]{{{_DIGITS}}}\]"
        if self.action == "mask" and isinstance(self.replacement, str):
            return re.escape(self.replacement)
        return ""


def _check_name(rule: Redaction) -> None:
    name: object = rule.name
    if type(name) is not str or not _NAME.fullmatch(name):
        msg = f"the name of a rule must be a short word, not {excerpt(name)}"
        raise InvalidValueError(msg, path="$.name")


def _check_selection(rule: Redaction) -> None:
    rule.segments()
    kinds: object = rule.type
    listed = kinds if isinstance(kinds, tuple) else (kinds,)
    if kinds is not None and not all(
        isinstance(kind, type) for kind in cast("tuple[object, ...]", listed)
    ):
        msg = "type must be a class, or a tuple of classes"
        raise InvalidValueError(msg, path="$.type")
    names: Any = rule.field
    if names is not None and not (
        isinstance(names, tuple) and names and all(type(n) is str and n for n in names)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    ):
        msg = "field must be the name of a field, or a tuple of names"
        raise InvalidValueError(msg, path="$.field")
    if rule.path is None and kinds is None and names is None and rule.pattern is None:
        msg = "a rule needs at least one of path, type, field and pattern"
        raise InvalidValueError(msg, path="$.path")


def _check_pattern(rule: Redaction) -> None:
    pattern: Any = rule.pattern
    if pattern is None:
        if rule.check is not None:
            msg = "check is asked about matches, so there must be a pattern"
            raise InvalidValueError(msg, path="$.check")
        return
    text: object = getattr(pattern, "pattern", None)
    if not isinstance(pattern, regex.Pattern) or not isinstance(text, str):
        msg = "pattern must be a regular expression for text"
        raise InvalidValueError(msg, path="$.pattern")
    if pattern.search("") is not None:
        msg = "pattern must not match the empty text"
        raise InvalidValueError(msg, path="$.pattern", hint="use + in place of *")
    if rule.check is not None and not callable(rule.check):
        msg = "check must be a function that takes a match"
        raise InvalidValueError(msg, path="$.check")


def _check_action(rule: Redaction) -> None:
    if rule.action not in _ACTIONS:
        wanted = " or ".join(map(repr, _ACTIONS))
        msg = f"action must be {wanted}, not {excerpt(rule.action)}"
        raise InvalidValueError(msg, path="$.action")
    if rule.pattern is not None and type(rule.replacement) is not str:
        msg = "replacement must be text, since it stands in the place of a match"
        raise InvalidValueError(msg, path="$.replacement")
    key: object = rule.key
    if (rule.action == "hash") is (key is None):
        msg = "action='hash' and key=... come together"
        hint = "a hash without a key can be undone by guessing"
        raise InvalidValueError(msg, path="$.key", hint=hint)
    if key is not None and (type(key) is not bytes or len(key) < _LEAST_KEY):
        msg = f"key must have at least {_LEAST_KEY} bytes"
        raise InvalidValueError(msg, path="$.key", hint="os.urandom(32) makes one")


_CHECKS: Final = (_check_name, _check_selection, _check_pattern, _check_action)


def rules_of(given: Iterable[Redaction]) -> tuple[Redaction, ...]:
    """Return rules as a tuple.

    Args:
        given: The rules.

    Raises:
        InvalidValueError: If one is no rule, or two have one name.
    """
    several: object = given
    if isinstance(several, Redaction) or not isinstance(several, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        msg = f"rules must be a list of Redaction, not {type_name(type(several))}"
        raise InvalidValueError(msg, hint="put it into one: [...]")
    rules = tuple(cast("Iterable[object]", several))
    for index, rule in enumerate(rules):
        if not isinstance(rule, Redaction):
            msg = f"a rule must be a Redaction, not {type_name(type(rule))}"
            raise InvalidValueError(msg, path=f"$[{index}]")
    found = cast("tuple[Redaction, ...]", rules)
    names = [rule.name for rule in found]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        msg = f"two rules have the name {twice!r}"
        raise InvalidValueError(msg, hint="a report could not tell them apart")
    return found
