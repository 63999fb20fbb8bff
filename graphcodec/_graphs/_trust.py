"""How much of the trust that a document claims for its contents is believed.

The functions that read the classes concerned note what they made, and when the graph
is complete it is looked at once: a stash may be filled long after it was made. A codec
whose policy changes nothing has functions that note nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, TypeAlias, cast

from attrs import Attribute, field, frozen

from graphcodec._graphs._traverse import path_to
from graphcodec._paths import excerpt, format_path
from graphcodec._unknown import Kept, OpaqueNode
from graphcodec.errors import InvalidValueError, UndecodableValueError
from graphcodec.primitives import Media, MediaStash, Retrievable, Tool, TrustTier

OnExcess: TypeAlias = Literal["clamp", "refuse"]

_TIER: Final = "trust_tier"
_TRUSTED: Final = "trusted"

WATCHED: Final = (Media, MediaStash, Retrievable, Tool)
"""What claims trust; subclasses of users, too."""

_CHOICES: Final[Mapping[str, tuple[object, ...]]] = {
    "tools_trusted": (True, False),
    "on_excess": ("clamp", "refuse"),
}
_RANKS: Final[Mapping[object, int]] = {
    tier.value: rank
    for rank, tier in enumerate(
        (
            TrustTier.THIRD_PARTY_PUBLIC,
            TrustTier.THIRD_PARTY_PRIVATE,
            TrustTier.FIRST_PARTY,
        )
    )
}


def _to_tier(value: TrustTier | str) -> TrustTier:
    try:
        return TrustTier(value)
    except ValueError:
        names = " or ".join(repr(tier.value) for tier in TrustTier)
        msg = f"TrustPolicy.max_tier must be {names}, not {excerpt(value)}"
        raise InvalidValueError(msg, path="$.max_tier") from None


def _check(_: object, attribute: Attribute[Any], value: object) -> None:
    choices = _CHOICES[attribute.name]
    if type(value) is not type(choices[0]) or value not in choices:
        names = " or ".join(map(repr, choices))
        msg = f"TrustPolicy.{attribute.name} must be {names}, not {excerpt(value)}"
        raise InvalidValueError(msg, path=f"$.{attribute.name}")


@frozen(kw_only=True)
class TrustPolicy:
    """What a codec believes of the trust that documents claim. By default all of it.

    From the most trusted to the least, tiers are ``first-party``,
    ``third-party-private`` and ``third-party-public``.

    Attributes:
        max_tier: The most trusted tier that a `Media`, an entry of its stash or a
            `Retrievable` may come with.
        tools_trusted: Whether a tool may come with ``trusted=True``.
        on_excess: What to do with more: ``clamp`` it to what is allowed, or ``refuse``
            the document.

    Raises:
        InvalidValueError: If a value is none of these.
    """

    max_tier: TrustTier = field(default=TrustTier.FIRST_PARTY, converter=_to_tier)
    tools_trusted: bool = field(default=True, validator=_check)
    on_excess: OnExcess = field(default="clamp", validator=_check)

    def limits_something(self) -> bool:
        """Say whether there is anything that this policy does not believe."""
        return not self.tools_trusted or self.max_tier is not TrustTier.FIRST_PARTY

    # For the other modules of this package

    def apply(self, watched: Iterable[object], root: object) -> None:
        """Clamp what was read, or refuse it.

        Args:
            watched: All objects that may claim trust.
            root: The graph in which they lie.

        Raises:
            UndecodableValueError: If one claims too much and the policy refuses that.
        """
        for obj in watched:
            for holder, steps, key, allowed in self._excesses(obj):
                if self.on_excess == "refuse":
                    raise self._refusal(holder, key, path_to(root, obj) + steps)
                if isinstance(holder, dict):
                    cast("dict[str, object]", holder)[key] = allowed
                else:
                    object.__setattr__(holder, key, allowed)
                    check = vars(type(holder)).get("__graphcodec_check__")
                    if check is not None:
                        check(holder)

    def _excesses(self, obj: object) -> list[tuple[object, str, str, object]]:
        """Return each holder of too much trust, with path, key and what is allowed."""
        match obj:
            case MediaStash():
                data = obj._data  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
                most = self.max_tier.value
                return [
                    (entry, format_path(["data", name, _TIER])[1:], _TIER, most)
                    for name, entry in data.items()
                    if isinstance(entry, dict)
                    and self._exceeds(cast("dict[str, object]", entry), _TIER)
                ]
            case Media() | Retrievable() if self._is_above(obj.trust_tier):
                return [(obj, f".{_TIER}", _TIER, self.max_tier)]
            case Tool() if obj.trusted and not self.tools_trusted:
                return [(obj, f".{_TRUSTED}", _TRUSTED, False)]
            case OpaqueNode():
                return list(self._unknown(obj))
            case _:
                return []

    def _unknown(self, obj: OpaqueNode) -> Iterable[tuple[object, str, str, object]]:
        """Yield what an object of unknown type claims, in its fields or plain data."""
        tier = obj.fields.get(_TIER)
        if isinstance(tier, str) and tier not in _RANKS:
            # A newer writer's tier may be above all; what is opaque here is read there.
            fields = cast("dict[str, object]", obj.fields)
            yield fields, f".{_TIER}", _TIER, self.max_tier.value
        stack: list[object] = [obj.fields]
        while stack:
            item = stack.pop()
            if isinstance(item, Kept):
                stack.append(item.tree)
            elif isinstance(item, dict):
                table = cast("dict[str, object]", item)
                if self._exceeds(table, _TIER):
                    yield table, "", _TIER, self.max_tier.value
                if self._exceeds(table, _TRUSTED):
                    yield table, "", _TRUSTED, False
                stack += table.values()
            elif isinstance(item, list):
                stack += cast("list[object]", item)

    def _exceeds(self, table: Mapping[str, object], key: str) -> bool:
        if key == _TRUSTED:
            return table.get(key) is True and not self.tools_trusted
        return self._is_above(table.get(key))

    def _is_above(self, tier: object) -> bool:
        rank = _RANKS.get(tier) if isinstance(tier, str) else None
        return rank is not None and rank > _RANKS[self.max_tier]

    def _refusal(self, holder: object, key: str, path: str) -> UndecodableValueError:
        if key == _TRUSTED:
            what = "a tool that is trusted, and this codec takes none from outside"
        else:
            claimed = (
                cast("dict[str, object]", holder)[key]
                if isinstance(holder, dict)
                else str(getattr(holder, key))
            )
            most = self.max_tier.value
            what = f"the tier {claimed!s}, and this codec takes {most} at most"
        hint = "who wrote it may not claim that; TrustPolicy says what to do instead"
        return UndecodableValueError(f"the document has {what}", path=path, hint=hint)
