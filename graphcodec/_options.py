"""What a codec is told when it is made, checked in one place."""

# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, cast

import attrs

from graphcodec._compressing import Compression, check_compression
from graphcodec._formats import Format
from graphcodec._graphs._trust import TrustPolicy
from graphcodec._handlers import Handlers
from graphcodec._limits import Limits
from graphcodec._live import type_name
from graphcodec._seal import Seal
from graphcodec.errors import InvalidValueError
from graphcodec.readers._contracts import Resolver

if TYPE_CHECKING:
    from graphcodec._redaction._rules import Redaction

T = TypeVar("T")
Types: TypeAlias = Iterable[type] | Mapping[str, type]


@attrs.frozen(kw_only=True)
class Options:
    """How a codec was made, so that it can be made again."""

    types: Mapping[str, type] | tuple[type, ...] = ()
    resolvers: tuple[Resolver, ...] = ()
    handlers: Handlers = attrs.field(factory=Handlers)
    limits: Limits = attrs.field(factory=Limits)
    trust: TrustPolicy = attrs.field(factory=TrustPolicy)
    unknown_types: str = "raise"
    unknown_fields: str = "keep"
    references: str = "objects"
    format: Format = "json"
    compression: Compression | None = None
    seal: Seal | None = None
    builtin_resolvers: bool = True
    plugins: bool = False
    write_unregistered: bool = True
    redact: tuple[Redaction, ...] = ()


_CHOICES: Final[Mapping[str, tuple[str | None, ...]]] = {
    "unknown_types": ("raise", "keep"),
    "unknown_fields": ("keep", "ignore", "raise"),
    "references": ("objects", "none"),
    "format": ("json", "msgpack"),
    "compression": (None, "gzip", "zstd"),
}


def listed(given: Iterable[T], name: str) -> tuple[T, ...]:
    """Return what is given for an option that takes several.

    Args:
        given: The value of the option.
        name: Its name.

    Raises:
        InvalidValueError: If it is one thing.
    """
    several: object = given
    if isinstance(several, type) or not isinstance(several, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        msg = f"{name} must be a list, not {type_name(type(given))}"
        raise InvalidValueError(msg, hint=f"put it into one: {name}=[...]")
    return tuple(given)


def frozen_types(types: Types) -> Mapping[str, type] | tuple[type, ...]:
    """Return classes, or tags with classes, that nobody changes any more.

    Args:
        types: What was given for the option.
    """
    if isinstance(types, Mapping):
        return dict(cast("Mapping[str, type]", types))
    return listed(types, "types")


def as_rules(given: Iterable[Redaction]) -> tuple[Redaction, ...]:
    """Return the rules of a redaction, which are checked.

    Args:
        given: What was given for the option.

    Raises:
        InvalidValueError: If something is no rule, or two have one name.
    """
    if given == ():
        return ()
    # Whoever redacts nothing need not load it.
    from graphcodec._redaction._rules import rules_of  # noqa: PLC0415

    return rules_of(given)


def check_options(options: Options) -> None:
    """Refuse what is no value of an option.

    Args:
        options: All of them.

    Raises:
        InvalidValueError: If one can't be used.
    """
    for name, choices in _CHOICES.items():
        value = getattr(options, name)
        if value not in choices:
            wanted = " or ".join(map(repr, choices))
            msg = f"{name} must be {wanted}, not {value!r}"
            raise InvalidValueError(msg)
    check_compression(options.compression)
    seal: object = options.seal
    if seal is not None and not isinstance(seal, Seal):  # pyright: ignore[reportUnnecessaryIsInstance]
        # Not shown: it may be a key.
        msg = f"seal must be Seal(...), not a {type_name(type(seal))}"
        raise InvalidValueError(msg)
    trust: object = options.trust
    if not isinstance(trust, TrustPolicy):  # pyright: ignore[reportUnnecessaryIsInstance]
        msg = f"trust must be TrustPolicy(...), not {type_name(type(trust))}"
        raise InvalidValueError(msg)
    limits: object = options.limits
    if not isinstance(limits, Limits):  # pyright: ignore[reportUnnecessaryIsInstance]
        msg = f"limits must be Limits(...), not {type_name(type(limits))}"
        raise InvalidValueError(msg)
