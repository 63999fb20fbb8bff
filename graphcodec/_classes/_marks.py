"""How a class says that it can be encoded: the marks on the class itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias, TypeVar

import attrs

from graphcodec.errors import InvalidValueError

C = TypeVar("C", bound=type)

FieldMap: TypeAlias = dict[str, object]
Upgrade: TypeAlias = Callable[[FieldMap], FieldMap]

EXTRA = "extra"
SKIP = "skip"
HANDLER: Final = "graphcodec-handler"
"""What the annotation of a field for a function is annotated with."""
JSON: Final = "graphcodec-json"
"""What that of a field for JSON of another format is annotated with."""

IN_DICT: Final = "__graphcodec_unknown__"
"""The key in ``__dict__`` under which an object without a better place keeps extras."""


@attrs.frozen(kw_only=True)
class Mark:
    """What a class is called on the wire, and how old documents of it are read.

    Attributes:
        tag: The name that is written.
        version: The version that is written, from 1.
        aliases: Further names that are read.
        upgrades: For each older version, the step to the next one.
    """

    tag: str
    version: int = 1
    aliases: tuple[str, ...] = ()
    upgrades: Mapping[int, Upgrade] = attrs.field(factory=dict[int, Upgrade])

    def __attrs_post_init__(self) -> None:
        for name in (self.tag, *self.aliases):
            if not _is_tag(name):
                wanted = "a non-empty, printable str without a leading '$'"
                raise InvalidValueError(f"a tag must be {wanted}, not {name!r:.80}")
        if type(self.version) is not int or self.version < 1:
            known = f"the version of {self.tag!r}"
            msg = f"{known} must be an int from 1, not {self.version!r}"
            raise InvalidValueError(msg, tag=self.tag)
        self._check_upgrades()

    def _check_upgrades(self) -> None:
        if not self.upgrades:
            return
        steps = range(min(self.upgrades), self.version)
        gaps = [step for step in steps if step not in self.upgrades]
        beyond = [step for step in self.upgrades if step not in steps]
        if gaps or beyond:
            what = f"lack the step from {gaps[0]}" if gaps else f"lead from {beyond[0]}"
            msg = f"the upgrades of {self.tag!r} {what} to version {self.version}"
            hint = (
                "give one function for each version from the oldest to the last but one"
            )
            raise InvalidValueError(msg, tag=self.tag, hint=hint)


def _is_tag(name: object) -> bool:
    # It stands in documents, in names of generated code and in messages of one line.
    if type(name) is not str or not name.isprintable():
        return False
    return name != "" and not name.startswith("$")


def encodable(
    tag: str,
    *,
    version: int = 1,
    aliases: Iterable[str] = (),
    upgrades: Mapping[int, Upgrade] | None = None,
) -> Callable[[C], C]:
    """Mark a class so that any codec can encode it; stands above ``@define``.

    To decode it, a codec must be told about the class: ``Codec(types=[Order])``.

    Args:
        tag: Its name on the wire. It contains a dot (``"shop.Order"``): the undotted
            names are graphcodec's own.
        version: The version of its fields, from 1.
        aliases: Earlier tags, still read.
        upgrades: For each older version, a function from that version's field map to
            the next one's.

    Raises:
        InvalidValueError: If the tag or the upgrades are malformed.
    """
    mark = Mark(
        tag=tag, version=version, aliases=tuple(aliases), upgrades=dict(upgrades or {})
    )
    require_dot(mark)

    def put(cls: C) -> C:
        # Not as cls.x = y: the type checkers are right that a class need not take it.
        type.__setattr__(cls, "__graphcodec_tag__", tag)
        type.__setattr__(cls, "__graphcodec_mark__", mark)
        return cls

    return put


def require_dot(mark: Mark) -> None:
    """Refuse the tag of a user's class if it could be one of ours.

    Raises:
        InvalidValueError: If it has no dot.
    """
    for name in (mark.tag, *mark.aliases):
        if "." not in name:
            msg = f"the tag {name!r} has no dot; undotted tags are graphcodec's own"
            hint = f"call it something like 'shop.{name}'"
            raise InvalidValueError(msg, tag=name, hint=hint)


def mark_of(cls: type) -> Mark | None:
    """Return what *cls* itself says about its encoding; a base's marks do not count."""
    own = vars(cls)
    mark = own.get("__graphcodec_mark__")
    if isinstance(mark, Mark):
        return mark
    tag = own.get("__graphcodec_tag__")
    return Mark(tag=tag) if isinstance(tag, str) else None


def extra() -> Any:
    """Declare the attrs field that keeps wire fields unknown to the class.

    The field is not written by itself: what it holds is written back beside the known
    fields. Use it as ``rest: dict[str, object] = graphcodec.extra()``.
    """
    return attrs.field(
        factory=dict[str, object],
        kw_only=True,
        repr=False,
        metadata={"graphcodec": EXTRA},
    )
